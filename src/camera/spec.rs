//! Parses and validates the text of a source, `KIND:REST?fps=30&size=320x240`. Does not open the source.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::CameraError;
use crate::config::nearest_name;

/// The parsed text of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// Kind of the source.
    pub kind: SourceKind,
    /// Frame rate in frames per second; replaces the rate of the source.
    pub fps: Option<f64>,
    /// Width and height in pixels. A synthetic source draws frames of this size; a recording of another size is an error.
    pub size_px: Option<(u32, u32)>,
    /// Pixel format of a live camera. Recordings ignore it, because their header contains the format.
    pub format: Option<String>,
}

/// The kind of a source.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// A y4m file, or a folder of images.
    File(PathBuf),
    /// A y4m stream on standard input.
    StandardInput,
    /// A child program that writes y4m to its standard output: its name and arguments.
    Command(Vec<String>),
    /// Synthetic visitors, drawn by Shoal.
    Synthetic {
        /// Seed of the visitors and of the floor. Each seed gives another scene.
        seed: u64,
    },
    /// A live camera of this machine.
    Live {
        /// The library that opens the camera.
        backend: Backend,
        /// Number, path of the device node, or stable name.
        device: String,
    },
    /// A tracker outside of Shoal. It reports visitors and has no frames.
    Tracker(TrackerSpec),
}

/// Where visitors are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackerSpec {
    /// What the tracker speaks.
    pub kind: TrackerKind,
    /// Address and port that the tracker sends to.
    pub listen: SocketAddr,
    /// IP addresses of the machines whose reports are taken. If the list is empty: only those of this machine.
    pub from: Vec<IpAddr>,
}

/// What a tracker speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerKind {
    /// TUIO 1.1 and 2.0.
    Tuio,
    /// Augmenta 2 and 3 over OSC.
    Augmenta,
    /// OSC by a mapping of the site.
    Osc,
}

/// The library that opens a live camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Video4Linux: all gray-level formats, detection of damaged frames, controls by name. Linux only.
    V4l2,
    /// The crate nokhwa: YUYV, NV12, RGB and JPEG on all systems.
    Nokhwa,
}

impl SourceKind {
    fn live(backend: Backend, device: &str) -> Self {
        Self::Live {
            backend,
            device: device.to_owned(),
        }
    }
}

/// Writes the source text without options, which is the name of the source in logs.
impl std::fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            SourceKind::File(path) => write!(f, "file:{}", path.display()),
            SourceKind::StandardInput => f.write_str("-"),
            SourceKind::Command(words) => write!(f, "command:{}", without_arguments(words)),
            SourceKind::Synthetic { seed } => write!(f, "synthetic:{seed}"),
            SourceKind::Live { backend, device } => match backend {
                Backend::V4l2 => write!(f, "v4l2:{device}"),
                Backend::Nokhwa => write!(f, "nokhwa:{device}"),
            },
            SourceKind::Tracker(tracker) => match tracker.kind {
                TrackerKind::Tuio => write!(f, "tuio:{}", tracker.listen),
                TrackerKind::Augmenta => write!(f, "augmenta:{}", tracker.listen),
                TrackerKind::Osc => write!(f, "osc:{}", tracker.listen),
            },
        }
    }
}

/// The program of a command line and the addresses in it. Any other argument can be a secret.
fn without_arguments(words: &[String]) -> String {
    let mut shown = shell_words::join(words.get(..1).unwrap_or_default());
    let mut is_left_out = false;
    for word in words.get(1..).unwrap_or_default() {
        is_left_out |= !word.contains("://");
        if word.contains("://") {
            shown.push(' ');
            shown.push_str(&hide_passwords(word));
        }
    }
    if is_left_out {
        shown.push_str(" …");
    }
    shown
}

/// The text of a source that is none, without what can be a secret: of a text in several words that is no file, the first word.
fn without_words(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    match text.starts_with("file:") || first.len() == text.trim().len() {
        true => hide_passwords(text),
        false => format!("{} …", hide_passwords(first)),
    }
}

/// Replaces what can be a secret in every address of a text: the password in `scheme://name:password@host`, also if it contains
/// signs that an address should not, and the values in `key=value`, in the path as well as behind `?`.
pub fn hide_passwords(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let is_behind = |c: char| c.is_whitespace() || matches!(c, '\'' | '"');
        let (address, behind) = after.split_at(after.find(is_behind).unwrap_or(after.len()));
        let login = address.rsplit_once('@');
        let named = login.and_then(|(login, place)| Some((login.split_once(':')?.0, place)));
        let place = match named {
            Some((name, place)) if !name.contains(['/', '?', '=']) => {
                shown.push_str(name);
                shown.push_str(":•••@");
                place
            }
            _ => match login_without_host(address) {
                Some(name) => {
                    shown.push_str(name);
                    shown.push_str(":•••");
                    ""
                }
                None => address,
            },
        };
        push_without_values(&mut shown, place);
        rest = behind;
    }
    shown.push_str(rest);
    shown
}

/// Returns the name in `name:start of a password`, an address that is cut off before its host; `None` for a host with a port.
fn login_without_host(address: &str) -> Option<&str> {
    let (name, behind) = address.split_once(':')?;
    let port = behind.split(['/', '?']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (!is_port && !name.contains(['/', '?', '=', '['])).then_some(name)
}

fn push_without_values(shown: &mut String, place: &str) {
    let (mut is_value, mut is_query) = (false, false);
    for c in place.chars() {
        is_query |= c == '?';
        is_value &= match c {
            '&' | ';' => false,
            // A value behind `?` can be an address itself.
            '/' | '?' => is_query && c == '/',
            _ => true,
        };
        if is_value {
            continue;
        }
        shown.push(c);
        if c == '=' {
            shown.push_str("•••");
            is_value = true;
        }
    }
}

/// Keys of the options after the `?` of a source text.
const OPTIONS: [&str; 3] = ["fps", "size", "format"];
/// Largest number of machines of a tracker.
const FROM_MAX: usize = 16;

impl SourceSpec {
    /// Parses the text of a source.
    ///
    /// A `?` can also be part of a command or a path. If a key after the `?` is unknown, `command:` treats the `?` and the text
    /// after it as part of the command. `file:` treats them as part of the path if that file exists.
    ///
    /// # Errors
    /// When the kind or an option is unknown or malformed.
    pub fn parse(text: &str) -> Result<Self, CameraError> {
        // Rejections are in the log, in events and in the status, which more people see than the site file.
        let problem = |problem: String| CameraError::Spec {
            given: without_words(text),
            problem: hide_passwords(&problem),
        };
        let (body, options) = split_options(text);
        let (kind, rest) = body.split_once(':').unwrap_or((body, ""));
        let kind = match kind {
            "-" if rest.is_empty() => SourceKind::StandardInput,
            "file" if rest.is_empty() => {
                return Err(problem("the name of the file is missing".into()));
            }
            "file" => SourceKind::File(PathBuf::from(rest)),
            "command" => SourceKind::Command(command_words(rest).map_err(problem)?),
            "synthetic" => SourceKind::Synthetic {
                seed: rest.parse().map_err(|_| {
                    problem(format!(
                        "the seed '{rest}' is not a whole number, 0 or more"
                    ))
                })?,
            },
            "v4l2" | "nokhwa" if rest.is_empty() => {
                return Err(problem(format!(
                    "the number or name of the camera is missing; 'shoal cameras' lists the cameras, {kind}:0 is the first one"
                )));
            }
            "v4l2" => SourceKind::live(Backend::V4l2, rest),
            "nokhwa" => SourceKind::live(Backend::Nokhwa, rest),
            "tuio" => tracker_of(TrackerKind::Tuio, rest).map_err(problem)?,
            "augmenta" => tracker_of(TrackerKind::Augmenta, rest).map_err(problem)?,
            "osc" => tracker_of(TrackerKind::Osc, rest).map_err(problem)?,
            _ => return Err(problem(unknown_kind(body, kind))),
        };
        let mut spec = Self {
            kind,
            fps: None,
            size_px: None,
            format: None,
        };
        for option in options.split('&').filter(|o| !o.is_empty()) {
            spec.take_option(option).map_err(problem)?;
        }
        Ok(spec)
    }

    /// Whether the messages of the source are described in the site file.
    pub fn is_mapped(&self) -> bool {
        matches!(&self.kind, SourceKind::Tracker(tracker) if tracker.kind == TrackerKind::Osc)
    }

    /// Returns a recording as a source.
    pub fn of_file(path: PathBuf) -> Self {
        Self {
            kind: SourceKind::File(path),
            fps: None,
            size_px: None,
            format: None,
        }
    }

    /// Returns the same source, with a relative path resolved against `folder`.
    #[must_use]
    pub fn relative_to(mut self, folder: &Path) -> Self {
        if let SourceKind::File(path) = &mut self.kind
            && path.is_relative()
        {
            *path = folder.join(&*path);
        }
        self
    }

    fn take_option(&mut self, option: &str) -> Result<(), String> {
        let (key, value) = option
            .split_once('=')
            .ok_or_else(|| format!("the option '{option}' has no value"))?;
        if let SourceKind::Tracker(tracker) = &mut self.kind {
            return tracker.take_option(key, value);
        }
        match key {
            "fps" => {
                let fps = value
                    .parse::<f64>()
                    .ok()
                    .filter(|f| (0.1..=1000.0).contains(f));
                self.fps =
                    Some(fps.ok_or_else(|| {
                        format!("fps '{value}' is not a number from 0.1 to 1000")
                    })?);
            }
            "size" => {
                let size = value
                    .split_once('x')
                    .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)))
                    .filter(|&(w, h)| {
                        super::frame::check_size("", u64::from(w), u64::from(h)).is_ok()
                    });
                self.size_px = Some(size.ok_or_else(|| {
                    format!("size '{value}' is not a valid size of a frame, such as 320x240")
                })?);
            }
            "format" => self.format = Some(value.to_owned()),
            _ => {
                return Err(format!(
                    "the option '{key}' is unknown; known options are {}",
                    OPTIONS.join(", ")
                ));
            }
        }
        Ok(())
    }
}

impl TrackerSpec {
    fn take_option(&mut self, key: &str, value: &str) -> Result<(), String> {
        if key != "from" {
            return Err(format!(
                "a tracker has no option '{key}'; its only option is from, the machines that may send, such as from=192.168.1.20"
            ));
        }
        let addresses = value.split(',').map(|text| {
            text.parse().map_err(|_| {
                format!("'{text}' is not the IP address of a machine, such as 192.168.1.20")
            })
        });
        self.from = addresses.collect::<Result<_, _>>()?;
        match self.from.len() {
            0..=FROM_MAX => Ok(()),
            _ => Err(format!("from names over {FROM_MAX} machines")),
        }
    }
}

/// Returns the tracker that sends to an address: `0.0.0.0:3333`, or a port alone for trackers on this machine.
fn tracker_of(kind: TrackerKind, text: &str) -> Result<SourceKind, String> {
    let port = text.parse::<u16>().ok();
    let local = port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let listen = local.or_else(|| text.parse().ok());
    let listen = listen.filter(|address| address.port() != 0).ok_or_else(|| {
        format!(
            "'{text}' is not a port, such as 3333 for a tracker on this machine, or an address of this machine with a port, \
             such as 0.0.0.0:3333 for trackers in the network"
        )
    })?;
    Ok(SourceKind::Tracker(TrackerSpec {
        kind,
        listen,
        from: Vec::new(),
    }))
}

/// Returns the problem of a text that is no source, with the source that is probably meant.
fn unknown_kind(body: &str, kind: &str) -> String {
    let word = kind.split_whitespace().next().unwrap_or_default();
    let lower = body.to_lowercase();
    let is_number = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_digit());
    let is_video = [".y4m", ".png", ".jpg", ".tif"]
        .iter()
        .any(|end| lower.ends_with(end));
    let kinds = [
        "v4l2",
        "nokhwa",
        "file",
        "command",
        "synthetic",
        "tuio",
        "augmenta",
        "osc",
    ];
    let near = nearest_name(kind, kinds);
    let meant = if is_number || lower.starts_with("/dev/") {
        format!("v4l2:{word}")
    } else if lower.starts_with("video") && body.len() == 6 {
        format!("v4l2:/dev/{body}")
    } else if ["rtsp", "rtsps", "http", "https", "udp", "rtp", "srt"]
        .contains(&kind.to_lowercase().as_str())
    {
        format!("command:ffmpeg -i {body} -pix_fmt gray -f yuv4mpegpipe -")
    } else if let (Some(near), true) = (near, body.len() > kind.len()) {
        let rest = &body[kind.len()..];
        // The arguments of a program can be secrets.
        format!("{near}{}", if near == "command" { ":…" } else { rest })
    } else if is_video || Path::new(body).exists() {
        format!("file:{body}")
    } else {
        return format!("the kind '{word}' is unknown");
    };
    format!("the kind '{word}' is unknown (did you mean \"{meant}\"?)")
}

/// Splits the text of a source into its body and its options.
fn split_options(text: &str) -> (&str, &str) {
    let Some((body, tail)) = text.rsplit_once('?') else {
        return (text, "");
    };
    let mut keys = tail.split('&').map(|o| o.split('=').next().unwrap_or(""));
    let belongs_to_body = match text.split_once(':') {
        Some(("command", _)) => !keys.all(|k| OPTIONS.contains(&k)),
        Some(("file", path)) => Path::new(path).exists(),
        // The name of a camera may contain any character, but an option always contains `=`.
        Some(("v4l2" | "nokhwa", _)) => !tail.contains('='),
        _ => false,
    };
    if belongs_to_body {
        (text, "")
    } else {
        (body, tail)
    }
}

fn command_words(text: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(text)
        .map_err(|e| format!("the command cannot be split into words: {e}"))?;
    if words.is_empty() {
        return Err("the name of the program is missing".into());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_source_has_no_password() {
        let name = |source: &str| SourceSpec::parse(source).unwrap().to_string();
        let source = "command:ffmpeg -i 'rtsp://ada:s3cret%40@10.0.0.7:554/a' -f yuv4mpegpipe -";
        let shown = name(source);
        assert!(!shown.contains("s3cret"), "{shown}");
        assert_eq!(shown, "command:ffmpeg rtsp://ada:•••@10.0.0.7:554/a …");
        for plain in [
            "command:ffmpeg rtsp://10.0.0.7/a",
            "command:ffmpeg rtsp://ada@10.0.0.7/a@b",
            "command:grab",
        ] {
            assert_eq!(name(plain), plain);
        }
        // A fixed bug: passwords in other arguments, and in a command line with a mistake, were in the log and in events.
        for source in [
            "command:curl -u ada:s3cret http://10.0.0.7/a",
            "command:grab --password=s3cret",
        ] {
            assert!(!name(source).contains("s3cret"), "{source}");
        }
        for source in [
            "command:grab --password=s3cret '",
            "comand:grab --password s3cret",
            "grab -p s3cret",
            "/dev/video0 s3cret",
        ] {
            let error = SourceSpec::parse(source).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    fn kind(text: &str) -> SourceKind {
        SourceSpec::parse(text).unwrap().kind
    }

    #[test]
    fn a_tracker_has_an_address_and_the_machines_that_may_send() {
        let tracker = |text: &str| match kind(text) {
            SourceKind::Tracker(tracker) => tracker,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            tracker("tuio:3333").listen,
            "127.0.0.1:3333".parse().unwrap()
        );
        let found = tracker("augmenta:0.0.0.0:12000?from=192.168.1.20,::1");
        assert_eq!(found.kind, TrackerKind::Augmenta);
        assert_eq!(
            found.from,
            ["192.168.1.20", "::1"].map(|ip| ip.parse::<IpAddr>().unwrap())
        );
        assert_eq!(tracker("tuio:[::]:3333").listen.port(), 3333);
        for (text, part) in [
            ("tuio:", "'' is not a port"),
            ("tuio:0", "'0' is not a port"),
            ("tuio:kiosk:3333", "is not a port"),
            ("tuio:3333?from=kiosk", "'kiosk' is not the IP address"),
            ("tuio:3333?size=320x240", "a tracker has no option 'size'"),
            ("v4l2:0?from=10.0.0.1", "the option 'from' is unknown"),
            ("tuoi:3333", "did you mean \"tuio:3333\""),
        ] {
            let error = SourceSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn every_kind_is_parsed() {
        assert_eq!(kind("file:a/b.y4m"), SourceKind::File("a/b.y4m".into()));
        assert_eq!(kind("-"), SourceKind::StandardInput);
        assert_eq!(kind("synthetic:7"), SourceKind::Synthetic { seed: 7 });
        assert_eq!(
            kind("command:ffmpeg -i 'a b.mov' -"),
            SourceKind::Command(vec![
                "ffmpeg".into(),
                "-i".into(),
                "a b.mov".into(),
                "-".into()
            ])
        );
    }

    #[test]
    fn cameras_are_named_by_number_path_or_name() {
        for (text, backend, device) in [
            ("v4l2:0", Backend::V4l2, "0"),
            (
                "v4l2:/dev/v4l/by-id/usb-x",
                Backend::V4l2,
                "/dev/v4l/by-id/usb-x",
            ),
            (
                "v4l2:platform:vivid-000 vivid",
                Backend::V4l2,
                "platform:vivid-000 vivid",
            ),
            ("v4l2:usb-1 What? Cam", Backend::V4l2, "usb-1 What? Cam"),
            ("nokhwa:1", Backend::Nokhwa, "1"),
        ] {
            let spec =
                SourceSpec::parse(&format!("{text}?format=GREY&size=320x180&fps=7.5")).unwrap();
            assert_eq!(spec.kind, SourceKind::live(backend, device));
            assert_eq!((spec.fps, spec.size_px), (Some(7.5), Some((320, 180))));
            assert_eq!(spec.to_string(), text);
            assert_eq!(kind(text), spec.kind);
        }
    }

    #[test]
    fn options_follow_a_question_mark() {
        let spec = SourceSpec::parse("file:x.y4m?format=GREY&size=320x180&fps=12.5").unwrap();
        assert_eq!(spec.fps, Some(12.5));
        assert_eq!(spec.size_px, Some((320, 180)));
        assert_eq!(spec.format.as_deref(), Some("GREY"));
        assert_eq!(SourceSpec::parse("-?fps=10").unwrap().fps, Some(10.0));
        let command = SourceSpec::parse("command:curl http://h/?a=1?fps=5").unwrap();
        assert_eq!(command.fps, Some(5.0));
        assert_eq!(
            kind("command:curl http://h/?a=1"),
            SourceKind::Command(vec!["curl".into(), "http://h/?a=1".into()])
        );
    }

    #[test]
    fn a_text_that_names_a_camera_in_another_way_gets_a_suggestion() {
        let table = r#"
            /dev/video0 | "v4l2:/dev/video0"
            0 | "v4l2:0"
            video1 | "v4l2:/dev/video1"
            V4L2:0 | "v4l2:0"
            v412:0 | "v4l2:0"
            flie:walk.y4m | "file:walk.y4m"
            rtsp://10.0.0.5/stream | "command:ffmpeg -i rtsp://10.0.0.5/stream -pix_fmt gray -f yuv4mpegpipe -"
            walk.y4m | "file:walk.y4m""#;
        for [text, wanted] in shoal_testing::rows(table) {
            let error = SourceSpec::parse(&text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("did you mean {wanted}?")),
                "{error}"
            );
        }
    }

    #[test]
    fn errors_name_the_wrong_part() {
        for (text, expected) in [
            ("walk.y4m", "kind 'walk.y4m' is unknown"),
            ("", "kind '' is unknown"),
            ("file:", "name of the file is missing"),
            (
                "file:x?speed=3",
                "'speed' is unknown; known options are fps, size, format",
            ),
            ("file:x?fps=fast", "fps 'fast'"),
            ("file:x?fps=NaN", "fps 'NaN'"),
            ("synthetic:1?size=999999999x1", "size '999999999x1'"),
            ("synthetic:x", "seed 'x'"),
            ("command:", "name of the program is missing"),
            ("command:a 'b", "split into words"),
            ("v4l2:0?sped=3", "'sped' is unknown"),
            ("v4l2:", "number or name of the camera is missing"),
            ("nokhwa:?fps=5", "number or name of the camera is missing"),
        ] {
            let error = SourceSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    /// A fixed bug: the reason why an address was no camera source said its password to everybody who reads events.
    #[test]
    fn what_is_wrong_with_a_source_says_no_password() {
        for (text, shown) in [
            ("rtsp://ada:geheim@10.0.0.7/a", "rtsp://ada:•••@10.0.0.7/a"),
            (
                "http://10.0.0.7/a?user=ada&pwd=geheim&raw",
                "http://10.0.0.7/a?user=•••&pwd=•••&raw",
            ),
            (
                "http://10.0.0.7?u=http://ada:geheim@b/ c",
                "http://10.0.0.7?u=••• …",
            ),
            ("command:a 'rtsp://ada:geheim@b/", "command:a …"),
            ("rtsp://ada:/geheim?geheim@b/c", "rtsp://ada:•••@b/c"),
            ("rtsp://ada:geheim@geheim@b/c", "rtsp://ada:•••@b/c"),
            (
                "rtsp://b/user=ada&password=geheim&channel=1/c",
                "rtsp://b/user=•••&password=•••&channel=•••/c",
            ),
        ] {
            let error = SourceSpec::parse(text).unwrap_err().to_string();
            assert!(
                error.contains(shown) && !error.contains("geheim"),
                "{error}"
            );
        }
        assert_eq!(
            hide_passwords("ffmpeg -i 'rtsp://a/b?x=1' -y http://c:d@e/?f=g"),
            "ffmpeg -i 'rtsp://a/b?x=•••' -y http://c:•••@e/?f=•••"
        );
    }

    #[test]
    fn relative_paths_are_resolved_against_the_folder() {
        let spec = SourceSpec::parse("file:a.y4m").unwrap();
        assert_eq!(
            spec.relative_to(Path::new("/site")).kind,
            SourceKind::File("/site/a.y4m".into())
        );
    }
}
