//! The values of the site file that name a program: whoever may change one can run what they like as the user of Shoal. They can also
//! contain passwords, so only administrators see them.
//!
//! In: values of a site file. Out: what they name, and what others see of them. Must not: run a program.

use serde_json::Value;

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

/// Returns the source of the camera if it names a program, else an empty text.
pub(super) fn camera_program(source: &str) -> &str {
    let source = source.trim_start();
    if source.starts_with(CAMERA_PROGRAM) && !is_network_camera(source) {
        source
    } else {
        ""
    }
}

/// Replaces the values in a site as JSON that only administrators see: the camera (an address can contain a password), the programs, passwords
/// of projectors,
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
    let projectors = site.pointer_mut("/remote/projectors");
    let projectors = projectors.and_then(Value::as_array_mut);
    for projector in projectors.into_iter().flatten() {
        if let Some(password) = projector.get_mut("password")
            && password.is_string()
        {
            *password = HIDDEN.into();
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
        let of = |source: &str| camera_program(source).to_owned();
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
