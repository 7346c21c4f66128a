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

/// Replaces the values in a site as JSON that only administrators see: the cameras (an address can contain a password), the programs,
/// the passwords of projectors and of messages, and the table of the panel.
pub(super) fn hide_programs(site: &mut Value) {
    for path in ["/alerts/command", "/schedule/projectors/command"] {
        hide(site.pointer_mut(path), |text| !text.is_empty());
    }
    for path in [
        "/alerts/webhook/url",
        "/alerts/webhook/token",
        "/alerts/mail/password",
    ] {
        hide(site.pointer_mut(path), |text| !text.is_empty());
    }
    hide(site.pointer_mut("/camera/source"), is_secret_source);
    for camera in items(site, "/cameras") {
        hide(camera.get_mut("source"), is_secret_source);
    }
    for webhook in items(site, "/remote/webhooks") {
        hide(webhook.get_mut("url"), |_| true);
        hide(webhook.get_mut("token"), |_| true);
    }
    for projector in items(site, "/remote/projectors") {
        hide(projector.get_mut("password"), |_| true);
    }
    if let Some(panel) = site.pointer_mut("/panel") {
        *panel = serde_json::json!({});
    }
}

/// Returns the items of a list, none if there is no list.
fn items<'v>(site: &'v mut Value, path: &str) -> impl Iterator<Item = &'v mut Value> {
    let list = site.pointer_mut(path).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

fn hide(value: Option<&mut Value>, is_secret: impl Fn(&str) -> bool) {
    if let Some(value) = value
        && value.as_str().is_some_and(is_secret)
    {
        *value = HIDDEN.into();
    }
}

fn is_secret_source(text: &str) -> bool {
    text.trim_start().starts_with(CAMERA_PROGRAM) || text.contains("://")
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

    /// A fixed bug: the addresses of several cameras, with their passwords, were shown to every role.
    #[test]
    fn only_administrators_see_the_addresses_of_all_cameras() {
        let address = "command:ffmpeg -i rtsp://ada:geheim@10.0.0.7/a";
        let mut site = serde_json::json!({
            "camera": {"source": address},
            "cameras": [{"source": address}, {"source": "v4l2:Eye"}],
            "alerts": {"command": "mail geheim", "webhook": {"url": "https://a/geheim", "token": "geheim"},
                "mail": {"user": "ada", "password": "geheim"}},
            "schedule": {"projectors": {"command": ""}},
            "remote": {"projectors": [{"password": "geheim"}, {"name": "left"}],
                "webhooks": [{"url": "https://a/geheim", "token": "geheim"}]},
            "panel": {"key": "geheim.pem"},
        });
        hide_programs(&mut site);
        assert!(!site.to_string().contains("geheim"), "{site}");
        assert_eq!(site["cameras"][1]["source"], "v4l2:Eye");
        assert_eq!(site["schedule"]["projectors"]["command"], "");
        assert_eq!(site["remote"]["projectors"][1]["name"], "left");
        assert_eq!(site["alerts"]["mail"]["user"], "ada");
    }
}
