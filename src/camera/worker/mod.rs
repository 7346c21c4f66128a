//! The inside of a capture worker: one camera in a process of its own, written to a pipe.
//!
//! Drivers and the crates over them may hang, panic or leak; here they may, because the parent ([`super::live`]) owns
//! the time-out, kills and restarts. In: what is wanted of which camera. Out: messages and frames on standard output, as
//! `camera::pipe` lays them out. Ends when standard input closes, so that no worker outlives its parent. Must not: be
//! called in a process that does anything else.

mod description;
#[cfg(target_os = "linux")]
mod linux;
mod luma;
mod nokhwa;

use std::collections::BTreeMap;
use std::io::{Read, Write};

pub use description::{CameraDescription, ControlDescription, FormatDescription, SizeDescription};
use luma::PixelFormat;

use super::clock::monotonic_ns;
use super::live::FaultKind;
use super::pipe::{self, FrameHead, Granted, Message};
use super::spec::Backend;

/// Which camera is wanted, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureRequest {
    /// Through which crate.
    pub backend: Backend,
    /// Number, path of the node, or stable name.
    pub device: String,
    /// Pixel format, a V4L2 four character code; `None`: the best that the camera has.
    pub format: Option<String>,
    /// Width and height in pixels; `None`: the camera's nearest to 640x480.
    pub size_px: Option<(u32, u32)>,
    /// Frames a second; `None`: the camera's nearest to 30.
    pub fps: Option<f64>,
    /// Controls by name, see `camera.controls`.
    pub controls: BTreeMap<String, i64>,
    /// Leave automatic exposure, gain, white balance and focus as they are, instead of switching them off.
    pub auto_functions: bool,
}

/// Why a camera cannot go on.
#[derive(Clone, Debug, PartialEq)]
struct Trouble {
    kind: FaultKind,
    detail: String,
}

impl Trouble {
    fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

/// What the driver gave.
enum Taken {
    /// A whole picture, its levels in the buffer that was handed over.
    Frame {
        /// The driver's number.
        sequence: u64,
        /// When it was taken; `None` where the driver does not tell it on the monotonic clock.
        stamp_ns: Option<u64>,
    },
    /// A picture that is none: damaged, or cut short. The next one may be well.
    Bad(Trouble),
}

/// A picture as it lies in the driver's buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Layout {
    format: PixelFormat,
    width_px: u32,
    height_px: u32,
    /// Bytes from one row to the next.
    stride_bytes: usize,
}

/// Opens the camera and writes its frames until it fails; returns what it failed with, already told on the pipe.
///
/// Ends the whole process when standard input closes or nobody reads standard output any more.
pub fn capture(request: &CaptureRequest) -> String {
    end_with_standard_input();
    let trouble = match request.backend {
        #[cfg(target_os = "linux")]
        Backend::V4l2 => linux::capture(request),
        #[cfg(not(target_os = "linux"))]
        Backend::V4l2 => Trouble::new(
            FaultKind::OpenFailed,
            "v4l2: works on Linux only; nokhwa: is the portable way",
        ),
        Backend::Nokhwa => nokhwa::capture(request),
    };
    let detail = trouble.detail.clone();
    tell(&Message::Trouble {
        kind: trouble.kind,
        detail: trouble.detail,
    });
    detail
}

/// Writes a description of every camera of this machine.
pub fn list() {
    end_with_standard_input();
    #[cfg(target_os = "linux")]
    linux::list();
    #[cfg(not(target_os = "linux"))]
    nokhwa::list();
    tell(&Message::Listed);
}

/// Writes frames as `next` takes them, after `granted` was told.
fn serve(
    granted: Granted,
    layout: Layout,
    mut next: impl FnMut(&mut Vec<u8>) -> Result<Taken, Trouble>,
) -> Trouble {
    tell(&Message::Ready(granted));
    let mut levels = Vec::new();
    loop {
        match next(&mut levels) {
            Ok(Taken::Frame { sequence, stamp_ns }) => {
                let head = FrameHead {
                    sequence,
                    stamp_ns: stamp_ns.unwrap_or_else(monotonic_ns),
                    width_px: layout.width_px,
                    height_px: layout.height_px,
                    bits: layout.format.bits(),
                };
                if pipe::write_frame(&mut std::io::stdout().lock(), &head, &levels).is_err() {
                    std::process::exit(0);
                }
            }
            Ok(Taken::Bad(trouble)) => tell(&Message::Trouble {
                kind: trouble.kind,
                detail: trouble.detail,
            }),
            Err(trouble) => return trouble,
        }
    }
}

/// Writes a message; without a reader there is nothing left to do.
fn tell(message: &Message) {
    let mut out = std::io::stdout().lock();
    let told = pipe::write_message(&mut out, message).and_then(|()| out.flush());
    if told.is_err() {
        std::process::exit(0);
    }
}

/// Ends this process as soon as its standard input closes, whatever else hangs.
fn end_with_standard_input() {
    let watch = || {
        let mut bytes = [0; 256];
        let mut input = std::io::stdin().lock();
        while !matches!(input.read(&mut bytes), Ok(0) | Err(_)) {}
        std::process::exit(0);
    };
    let watcher = std::thread::Builder::new().name("worker-stdin".to_owned());
    if watcher.spawn(watch).is_err() {
        // A worker that nobody could end must not start.
        std::process::exit(1);
    }
}
