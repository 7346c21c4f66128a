//! Starts the operator's panel of the running pool, and connects it with the other stages.

use std::path::{Path, PathBuf};

use super::live::{HangPolicy, LivePool};
use super::print_message;
use crate::calibration::Language;
use crate::panel::{LiveViews, PanelLinks, PanelOptions, PanelParams, PanelServer, SetupNotice};
use crate::site;

/// Folder beside the site file for what Shoal keeps itself. Under systemd, `StateDirectory=` replaces it.
const STATE_FOLDER: &str = ".shoal";

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
        state_folder: site_folder.as_deref().map(state_folder),
        site_folder: site_folder.unwrap_or_default(),
    }
}

fn state_folder(site_folder: &Path) -> PathBuf {
    let of_service = std::env::var("STATE_DIRECTORY").ok();
    let first = of_service
        .as_deref()
        .and_then(|folders| folders.split(':').next());
    match first
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
    {
        Some(folder) => folder,
        None => site_folder.join(STATE_FOLDER),
    }
}

/// Starts the panel. The pool also runs without it, so a used port or a damaged file is only a warning.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn start_panel(live: &mut LivePool, options: &PanelOptions) -> anyhow::Result<()> {
    let notices = live.notices.clone();
    let links = PanelLinks {
        client: live.client.clone(),
        views: LiveViews::default(),
        schema: Box::new(|| site::schemas().to_string()),
        on_setup: Box::new(show_setup),
        language: Box::new(move || match notices.language() {
            Language::En => "en",
            Language::De => "de",
        }),
    };
    let server = match PanelServer::bind(options, links) {
        Ok(Some(server)) => server,
        Ok(None) => return Ok(()),
        Err(problem) => {
            print_message(&format!("warning: the panel is not served: {problem}"));
            return Ok(());
        }
    };
    print_message(&format!("panel: {}", server.url()));
    for warning in server.warnings() {
        print_message(warning);
    }
    live.supervisor
        .start("panel", HangPolicy::WaitAtEnd, move |heartbeat| {
            let served = server.run(|| heartbeat.keep_running());
            served.map_err(anyhow::Error::msg)
        })
}

/// Shows the setup code until a password is set.
fn show_setup(notice: Option<&SetupNotice>) {
    if let Some(notice) = notice {
        print_message(&format!("setup code: {}", notice.code));
    }
}
