//! A camera source as text, `KIND:REST?fps=30&size=320x240`, taken apart and checked. Opens nothing.

use std::path::{Path, PathBuf};

use super::CameraError;

/// What a source's text says.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// Where the frames come from.
    pub kind: SourceKind,
    /// Frames a second, instead of what the source itself says.
    pub fps: Option<f64>,
    /// Width and height in pixels: what a synthetic source draws; a recording that differs is refused.
    pub size_px: Option<(u32, u32)>,
    /// Pixel format of a camera. Kept for live cameras; recordings say theirs themselves.
    pub format: Option<String>,
}

/// Where frames come from.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// A y4m file, or a folder of pictures.
    File(PathBuf),
    /// y4m on standard input.
    StandardInput,
    /// A child program that writes y4m to its standard output: its name and arguments.
    Command(Vec<String>),
    /// Drawn visitors.
    Synthetic {
        /// Other seeds, other visitors.
        seed: u64,
    },
    /// A camera of this machine.
    Live {
        /// What opens it.
        backend: Backend,
        /// Its number, the path of its node, or its stable name.
        device: String,
    },
}

/// What opens a live camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Video4Linux: every brightness format, damaged frames seen, controls by name.
    V4l2,
    /// The crate nokhwa: YUYV, NV12, RGB and JPEG on every system.
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

/// The source as it is written, without options; what logs call it.
impl std::fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            SourceKind::File(path) => write!(f, "file:{}", path.display()),
            SourceKind::StandardInput => f.write_str("-"),
            SourceKind::Command(words) => write!(f, "command:{}", shell_words::join(words)),
            SourceKind::Synthetic { seed } => write!(f, "synthetic:{seed}"),
            SourceKind::Live { backend, device } => match backend {
                Backend::V4l2 => write!(f, "v4l2:{device}"),
                Backend::Nokhwa => write!(f, "nokhwa:{device}"),
            },
        }
    }
}

const OPTIONS: [&str; 3] = ["fps", "size", "format"];

impl SourceSpec {
    /// Takes a source's text apart.
    ///
    /// A `?` is part of a command or a path when what follows are no options: `command:` keeps a tail whose keys are
    /// unknown, `file:` keeps one that exists on disk.
    ///
    /// # Errors
    /// When the kind or an option is unknown or malformed, or the kind is not in this version.
    pub fn parse(text: &str) -> Result<Self, CameraError> {
        let problem = |problem: String| CameraError::Spec {
            given: text.to_owned(),
            problem,
        };
        let (body, options) = split_options(text);
        let (kind, rest) = body.split_once(':').unwrap_or((body, ""));
        let kind = match kind {
            "-" if rest.is_empty() => SourceKind::StandardInput,
            "file" if rest.is_empty() => return Err(problem("the file's name is missing".into())),
            "file" => SourceKind::File(PathBuf::from(rest)),
            "command" => SourceKind::Command(command_words(rest).map_err(problem)?),
            "synthetic" => SourceKind::Synthetic {
                seed: rest.parse().map_err(|_| {
                    problem(format!("the seed '{rest}' is no whole number from 0 up"))
                })?,
            },
            "v4l2" | "nokhwa" if rest.is_empty() => {
                return Err(problem(format!(
                    "the camera's number or name is missing; 'shoal cameras' lists them, {kind}:0 is the first"
                )));
            }
            "v4l2" => SourceKind::live(Backend::V4l2, rest),
            "nokhwa" => SourceKind::live(Backend::Nokhwa, rest),
            "tuio" => {
                return Err(CameraError::NotYet {
                    given: text.to_owned(),
                    kind: kind.to_owned(),
                });
            }
            _ => return Err(problem(format!("the kind '{kind}' is unknown"))),
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

    /// The same source with a relative path taken from `folder`.
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
        match key {
            "fps" => {
                let fps = value
                    .parse::<f64>()
                    .ok()
                    .filter(|f| (0.1..=1000.0).contains(f));
                self.fps = Some(
                    fps.ok_or_else(|| format!("fps '{value}' is no number from 0.1 to 1000"))?,
                );
            }
            "size" => {
                let size = value
                    .split_once('x')
                    .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)))
                    .filter(|&(w, h)| {
                        super::frame::check_size("", u64::from(w), u64::from(h)).is_ok()
                    });
                self.size_px = Some(size.ok_or_else(|| {
                    format!("size '{value}' is none that a picture can have, like 320x240")
                })?);
            }
            "format" => self.format = Some(value.to_owned()),
            _ => {
                return Err(format!(
                    "the option '{key}' is unknown, known are {}",
                    OPTIONS.join(", ")
                ));
            }
        }
        Ok(())
    }
}

/// Body and options of a source's text.
fn split_options(text: &str) -> (&str, &str) {
    let Some((body, tail)) = text.rsplit_once('?') else {
        return (text, "");
    };
    let mut keys = tail.split('&').map(|o| o.split('=').next().unwrap_or(""));
    let belongs_to_body = match text.split_once(':') {
        Some(("command", _)) => !keys.all(|k| OPTIONS.contains(&k)),
        Some(("file", path)) => Path::new(path).exists(),
        // A camera's name may hold anything; options have values.
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
        return Err("the program's name is missing".into());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> SourceKind {
        SourceSpec::parse(text).unwrap().kind
    }

    #[test]
    fn every_kind_is_understood() {
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
    fn options_stand_behind_a_question_mark() {
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
    fn what_is_wrong_is_said() {
        for (text, told) in [
            ("walk.y4m", "kind 'walk.y4m' is unknown"),
            ("", "kind '' is unknown"),
            ("file:", "name is missing"),
            (
                "file:x?speed=3",
                "'speed' is unknown, known are fps, size, format",
            ),
            ("file:x?fps=fast", "fps 'fast'"),
            ("file:x?fps=NaN", "fps 'NaN'"),
            ("synthetic:1?size=999999999x1", "size '999999999x1'"),
            ("synthetic:x", "seed 'x'"),
            ("command:", "program's name is missing"),
            ("command:a 'b", "split into words"),
            ("v4l2:0?sped=3", "'sped' is unknown"),
            ("v4l2:", "number or name is missing"),
            ("nokhwa:?fps=5", "number or name is missing"),
            ("tuio:3333", "not in this version yet"),
        ] {
            let error = SourceSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn relative_paths_start_at_the_site() {
        let spec = SourceSpec::parse("file:a.y4m").unwrap();
        assert_eq!(
            spec.relative_to(Path::new("/site")).kind,
            SourceKind::File("/site/a.y4m".into())
        );
    }
}
