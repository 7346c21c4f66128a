//! Starts the operator's panel of the running pool, and connects it with the other stages.

use std::path::Path;
use std::time::Duration;

use qrcode::{Color, EcLevel, QrCode};
use serde_json::{Value, json};

use super::announcement::Announcement;
use super::live::LivePool;
use super::terminal::LOG;
use crate::camera::{WorkerCommand, list_cameras};
use crate::panel::{
    Devices, Listen, PanelLinks, PanelOptions, PanelParams, PanelServer, SetupNotice, VisitorCounts,
};
use crate::records::{counts_file, notebook, recordings, site_files, state_folder};
use crate::render::{FloorNotice, QrModules};
use crate::runtime::{HangPolicy, print_message};
use crate::screen::ask_for_monitors;
use crate::site::{self, Language, Site};

/// Returns the options of the panel of a site. `listen` comes from the command line and replaces the value of the site.
pub(super) fn panel_options(
    params: &PanelParams,
    listen: Option<String>,
    site: Option<&Path>,
) -> PanelOptions {
    let mut params = params.clone();
    params.listen = listen.unwrap_or(params.listen);
    let site_folder = site.and_then(Path::parent).map(Path::to_path_buf);
    PanelOptions {
        params,
        site: site.map(Path::to_path_buf),
        state_folder: site_folder.as_deref().map(state_folder),
        site_folder: site_folder.unwrap_or_default(),
    }
}

/// Longest time that a camera may take to answer when the panel lists the cameras.
const CAMERA_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns where the visitors of a site are counted; `None` if they are not counted.
pub(super) fn visitor_counts(site: &Site) -> Option<VisitorCounts> {
    let counting = &site.file.counting;
    counting.on.then(|| VisitorCounts {
        file: counts_file(site),
        hide_below: counting.hide_below,
    })
}

/// Starts the panel. The pool also runs without it, so a used port or a damaged file is only a warning.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn start_panel(
    live: &mut LivePool,
    options: &PanelOptions,
    counts: Option<VisitorCounts>,
) -> anyhow::Result<()> {
    let notices = live.notices.clone();
    let is_remote = Listen::parse(&options.params.listen).is_ok_and(Listen::is_remote);
    // An address that only this computer can open says nothing to visitors, and a phone cannot open it.
    let floor = is_remote.then(|| live.notices.clone());
    let links = PanelLinks {
        client: live.client.clone(),
        journal: live.journal.clone(),
        views: live.views.clone(),
        schema: Box::new(|| site::schemas().to_string()),
        devices: devices(),
        counts,
        recordings: (options.state_folder.as_deref())
            .map(|folder| recordings(folder, live.rehearsal())),
        notebook: options.state_folder.as_deref().map(notebook),
        archive: options
            .site
            .clone()
            .map(|site| site_files(site, options.state_folder.clone().unwrap_or_default())),
        on_setup: Box::new(move |notice| {
            if let Some(notice) = notice {
                print_message(&format!("setup code: {}", notice.code));
            }
            if let Some(floor) = &floor {
                let language = floor.language();
                floor.show_setup(notice.map(|notice| floor_notice(notice, language)));
            }
        }),
        log: &LOG,
        language: Box::new(move || match notices.language() {
            Language::En => "en",
            Language::De => "de",
        }),
    };
    let server = match PanelServer::bind(options, links) {
        Ok(Some(server)) => server,
        Ok(None) => return Ok(()),
        Err(problem) => {
            let detail = format!("the panel is not served: {problem}");
            print_message(&format!("warning: {detail}"));
            live.report_lasting("panel", &detail);
            return Ok(());
        }
    };
    print_message(&format!("panel: {}", server.url()));
    for warning in server.warnings() {
        print_message(warning);
    }
    live.supervisor
        .start("panel", HangPolicy::WaitAtEnd, move |heartbeat| {
            let _announcement = server.service().map(Announcement::start);
            let served = server.run(|| heartbeat.keep_running());
            served.map_err(anyhow::Error::msg)
        })
}

fn devices() -> Devices {
    let cameras = || -> anyhow::Result<Value> {
        let listed = list_cameras(&WorkerCommand::own()?, CAMERA_TIMEOUT)?;
        Ok(serde_json::to_value(listed)?)
    };
    let monitors = || -> anyhow::Result<Value> { Ok(json!({ "monitors": ask_for_monitors()? })) };
    Devices {
        cameras: Box::new(move || cameras().map_err(|error| format!("{error:#}"))),
        monitors: Box::new(move || monitors().map_err(|error| format!("{error:#}"))),
    }
}

/// Returns what the floor shows until a password is set.
fn floor_notice(notice: &SetupNotice, language: Language) -> FloorNotice {
    let open = language.choose("Set up Shoal:", "Shoal einrichten:");
    FloorNotice {
        text: match notice.fingerprint.as_str() {
            "" => format!("{open} {} Code: {}", notice.url, notice.code),
            // The beginning and the end are enough to compare: an attacker cannot choose them.
            full => format!(
                "{open} {} Code: {} SHA-256: {}",
                notice.url,
                notice.code,
                shortened(full)
            ),
        },
        code: qr_modules(&notice.link()),
        ..FloorNotice::default()
    }
}

/// Returns the first and the last eight bytes of a fingerprint.
fn shortened(fingerprint: &str) -> String {
    const CHARS: usize = 8 * 3 - 1;
    match (
        fingerprint.get(..CHARS),
        fingerprint
            .len()
            .checked_sub(CHARS)
            .and_then(|at| fingerprint.get(at..)),
    ) {
        (Some(first), Some(last)) => format!("{first} … {last}"),
        _ => fingerprint.to_owned(),
    }
}

fn qr_modules(text: &str) -> Option<QrModules> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    Some(QrModules {
        width: code.width(),
        dark: code
            .to_colors()
            .iter()
            .map(|color| *color == Color::Dark)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_shows_address_code_and_qr_code() {
        let notice = SetupNotice {
            url: "https://192.168.1.20:8017".to_owned(),
            code: "K7QM-2XHB".to_owned(),
            fingerprint: ["AB"; 32].join(":"),
        };
        let shown = floor_notice(&notice, Language::De);
        assert!(shown.text.contains(&notice.url) && shown.text.contains(&notice.code));
        assert!(
            shown.text.contains("SHA-256: AB:AB") && shown.text.len() < 150,
            "{}",
            shown.text
        );
        let code = shown.code.unwrap();
        assert_eq!(code.dark.len(), code.width * code.width);
        // The corner of a finder pattern: a dark ring, a bright one, a dark square.
        let row: Vec<bool> = code.dark[3 * code.width..3 * code.width + 8].to_vec();
        assert_eq!(row, [true, false, true, true, true, false, true, false]);
    }
}
