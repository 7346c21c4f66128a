//! The values of the site file that name a program: whoever may change one can run what they like as the user of Shoal. They can also
//! contain passwords, so only administrators see them.
//!
//! In: a site file. Out: these values. Must not: run a program.

use serde_json::Value;

use super::files::SiteFile;

/// Beginning of a camera source that is a program.
const CAMERA_PROGRAM: &str = "command:";
/// What precedes and follows the address in the source of a camera in the network, as the panel builds it.
const NETWORK_CAMERA: [&str; 2] = [
    "command:ffmpeg -nostdin -loglevel error -rtsp_transport tcp -i '",
    "' -an -vf scale=640:-2,format=gray -strict -1 -f yuv4mpegpipe -",
];
/// What others see instead of a value.
const HIDDEN: &str = "***";

/// Whether a source only reads the stream of a camera in the network. Its program is always the same, so an address names no program.
fn is_network_camera(source: &str) -> bool {
    let [before, after] = NETWORK_CAMERA;
    let inside = source.strip_prefix(before);
    inside
        .and_then(|rest| rest.strip_suffix(after))
        .is_some_and(|address| {
            let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '\'' | '"' | '\\');
            let is_stream = address.starts_with("rtsp://") || address.starts_with("rtsps://");
            is_stream && address.chars().all(is_plain)
        })
}

/// Returns the values that name a program or decide who may change one, each with its path.
pub fn programs(site: &SiteFile) -> [(&'static str, String); 4] {
    let source = site.camera.source.trim_start();
    let camera = if source.starts_with(CAMERA_PROGRAM) && !is_network_camera(source) {
        source
    } else {
        ""
    };
    let right = site.panel.may_name_programs;
    [
        ("camera.source", camera.to_owned()),
        ("alerts.command", site.alerts.command.clone()),
        (
            "schedule.projectors.command",
            site.schedule.projectors.command.clone(),
        ),
        (
            "panel.may_name_programs",
            right.map_or_else(String::new, |right| right.to_string()),
        ),
    ]
}

/// Returns the path of the first of these values that differs.
pub(super) fn changed_program(after: &SiteFile, before: &SiteFile) -> String {
    let mut pairs = programs(after).into_iter().zip(programs(before));
    let changed = pairs.find(|(after, before)| after != before);
    changed.map_or_else(String::new, |((path, _), _)| path.to_owned())
}

/// Replaces the values in a site as JSON that only administrators see: the camera (an address can contain a password), the programs,
/// and the table of the panel.
pub(super) fn hide_programs(site: &mut Value) {
    for path in [
        "/camera/source",
        "/alerts/command",
        "/schedule/projectors/command",
    ] {
        if let Some(value) = site.pointer_mut(path)
            && value
                .as_str()
                .is_some_and(|text| !text.is_empty() && is_secret(path, text))
        {
            *value = HIDDEN.into();
        }
    }
    if let Some(panel) = site.pointer_mut("/panel") {
        *panel = serde_json::json!({});
    }
}

fn is_secret(path: &str, text: &str) -> bool {
    path != "/camera/source"
        || text.trim_start().starts_with(CAMERA_PROGRAM)
        || text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_network_camera_names_no_program() {
        let of = |source: &str| {
            let mut site = SiteFile::default();
            site.camera.source = source.to_owned();
            programs(&site)[0].1.clone()
        };
        let [before, after] = NETWORK_CAMERA;
        let camera = |address: &str| format!("{before}{address}{after}");
        assert_eq!(
            of(&camera("rtsp://ada:p%40ss@192.168.1.64:554/stream1")),
            ""
        );
        assert_eq!(of("v4l2:0"), "");
        for other in [
            camera("rtsp://host/' -f null /etc/passwd '"),
            camera("rtsp://host/\" "),
            camera("file:///etc/passwd"),
            camera("concat:a|b"),
            format!("{} ; rm x", camera("rtsp://host/a")),
            "command:sh -c true".to_owned(),
        ] {
            assert_eq!(of(&other), other.trim());
        }
    }
}
