//! Cameras through V4L2, the way Linux knows them: every brightness format, damaged buffers seen, controls by name.
//!
//! Buffers are taken without a time-out (a second try after one fails for ever in the `v4l` crate); whoever reads the
//! pipe has one. Streams are never dropped: stopping a camera that is gone panics in that crate, and the process ends
//! anyway.

pub(super) mod controls;
mod describe;
pub(super) mod nodes;

use std::io;
use std::mem::ManuallyDrop;

use v4l::buffer::{Flags, Type};
use v4l::capability::Flags as Capabilities;
use v4l::io::traits::CaptureStream;
use v4l::prelude::MmapStream;
use v4l::video::Capture;
use v4l::video::capture::Parameters;
use v4l::{Device, Format, FourCC, Fraction};

pub(super) use describe::list;
use nodes::Node;

use super::luma::{PixelFormat, write_luma};
use super::{CaptureRequest, Layout, Taken, Trouble, serve};
use crate::camera::live::FaultKind;
use crate::camera::pipe::Granted;

const BUFFERS: u32 = 4;
/// What is taken where nothing was asked for.
const USUAL_SIZE_PX: (u64, u64) = (640, 480);
const USUAL_FPS: f64 = 30.0;
const ENOENT: i32 = 2;
const ENXIO: i32 = 6;
const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const ENODEV: i32 = 19;

/// A camera that is set as wanted, but not streaming.
pub(super) struct Prepared {
    pub(super) device: Device,
    pub(super) node: Node,
    pub(super) granted: Granted,
    layout: Layout,
}

/// Opens the camera and serves its frames until it fails.
pub(super) fn capture(request: &CaptureRequest) -> Trouble {
    let formats: Vec<PixelFormat> = PixelFormat::all().collect();
    let prepared = match prepare(request, &formats) {
        Ok(prepared) => prepared,
        Err(trouble) => return trouble,
    };
    let layout = prepared.layout;
    let stream = MmapStream::with_buffers(&prepared.device, Type::VideoCapture, BUFFERS);
    let mut stream = match stream {
        Ok(stream) => ManuallyDrop::new(stream),
        Err(cause) => return trouble_of(&cause, "buffers cannot be had", FaultKind::OpenFailed),
    };
    serve(prepared.granted, layout, |levels| {
        let (buffer, meta) = CaptureStream::next(&mut *stream)
            .map_err(|cause| trouble_of(&cause, "no frame can be taken", FaultKind::StreamError))?;
        let number = meta.sequence;
        if meta.flags.contains(Flags::ERROR) {
            let told = format!("the driver marks frame {number} as damaged");
            return Ok(Taken::Bad(Trouble::new(FaultKind::DamagedFrames, told)));
        }
        // Drivers that leave the used length at 0 fill the whole buffer.
        let used = match meta.bytesused as usize {
            0 => buffer.len(),
            used => used.min(buffer.len()),
        };
        if let Err(trouble) = write_luma(&buffer[..used], layout, levels) {
            return Ok(Taken::Bad(trouble));
        }
        let (secs, micros) = (meta.timestamp.sec, meta.timestamp.usec);
        let monotonic = meta.flags & Flags::TIMESTAMP_MASK == Flags::TIMESTAMP_MONOTONIC;
        let stamp_ns = (monotonic && secs >= 0 && (0..1_000_000).contains(&micros))
            .then(|| secs as u64 * 1_000_000_000 + micros as u64 * 1000);
        Ok(Taken::Frame {
            sequence: u64::from(number),
            stamp_ns,
        })
    })
}

/// Finds the camera and sets format, size, rate and controls. `formats` are those that may be chosen, best first.
pub(super) fn prepare(
    request: &CaptureRequest,
    formats: &[PixelFormat],
) -> Result<Prepared, Trouble> {
    let node = nodes::find(&request.device)?;
    let device = open(&node)?;
    let named = |what: &str| format!("{}: {what}", node.path.display());
    let failed = |cause: &io::Error, what| trouble_of(cause, &named(what), FaultKind::OpenFailed);
    let caps = device
        .query_caps()
        .map_err(|e| failed(&e, "does not say what it can do"))?;
    let streams = Capabilities::VIDEO_CAPTURE | Capabilities::STREAMING;
    if !caps.capabilities.contains(streams) {
        let told = named("is no camera that streams pictures; 'shoal cameras' lists those that do");
        return Err(Trouble::new(FaultKind::OpenFailed, told));
    }
    let format = choose_format(&device, request, formats, &node)?;
    let now = device
        .format()
        .map_err(|e| failed(&e, "does not say its format"))?;
    let (width, height) = match request.size_px {
        Some(size) => size,
        None => usual_size(&device, format).unwrap_or((now.width, now.height)),
    };
    let wanted = Format::new(width, height, FourCC::new(&format.code()));
    let got = device
        .set_format(&wanted)
        .map_err(|e| failed(&e, "cannot be set to its format"))?;
    if got.fourcc.repr != format.code() {
        let told = named(&format!(
            "asked for {}, the driver gives {}",
            format.name(),
            got.fourcc.repr.escape_ascii()
        ));
        return Err(Trouble::new(FaultKind::OpenFailed, told));
    }
    if request
        .size_px
        .is_some_and(|size| size != (got.width, got.height))
    {
        let told = named(&format!(
            "asked for {width}x{height} px, the driver gives {}x{}; 'shoal cameras' lists the sizes of each format",
            got.width, got.height
        ));
        return Err(Trouble::new(FaultKind::WrongSize, told));
    }
    let mut remarks = Vec::new();
    let fps = set_rate(&device, request.fps, &mut remarks);
    let controls = controls::apply(&device, request);
    let granted = Granted {
        device: node.path.display().to_string(),
        stable_source: format!("v4l2:{}", node.stable_name()),
        card: node.card.clone(),
        format: format.name(),
        width_px: got.width,
        height_px: got.height,
        fps,
        controls,
        remarks,
    };
    let layout = Layout {
        format,
        width_px: got.width,
        height_px: got.height,
        stride_bytes: got.stride as usize,
    };
    Ok(Prepared {
        device,
        node,
        granted,
        layout,
    })
}

/// Opens a node; a camera that is not there is told apart from one that cannot be had.
fn open(node: &Node) -> Result<Device, Trouble> {
    Device::with_path(&node.path).map_err(|cause| {
        let what = format!("{}: cannot be opened", node.path.display());
        match cause.raw_os_error() {
            Some(ENOENT | ENXIO | ENODEV) => {
                Trouble::new(FaultKind::Absent, format!("{what}: {cause}"))
            }
            _ => trouble_of(&cause, &what, FaultKind::OpenFailed),
        }
    })
}

/// The format that was asked for, or the best one that has the size that was asked for.
fn choose_format(
    device: &Device,
    request: &CaptureRequest,
    formats: &[PixelFormat],
    node: &Node,
) -> Result<PixelFormat, Trouble> {
    let there = device.enum_formats().unwrap_or_default();
    let has = |format: &PixelFormat| there.iter().any(|d| d.fourcc.repr == format.code());
    let usable: Vec<PixelFormat> = formats.iter().copied().filter(has).collect();
    let names = |formats: &[PixelFormat]| {
        let names: Vec<String> = formats.iter().map(|f| f.name()).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    let refused = |told: String| {
        let told = format!("{}: {told}", node.path.display());
        Err(Trouble::new(FaultKind::OpenFailed, told))
    };
    let Some(asked) = &request.format else {
        let fits = |format: &&PixelFormat| {
            request.size_px.is_none_or(|(width, height)| {
                let sizes = describe::sizes(device, **format);
                sizes.is_empty()
                    || sizes
                        .iter()
                        .any(|s| (s.width_px, s.height_px) == (width, height))
            })
        };
        return match usable.iter().find(fits).or(usable.first()) {
            Some(format) => Ok(*format),
            None => refused(format!(
                "no format that can be read; known are {}, the camera has {}",
                names(formats),
                there
                    .iter()
                    .map(|d| d.fourcc.repr.escape_ascii().to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        };
    };
    match PixelFormat::from_name(asked) {
        Some(format) if usable.contains(&format) => Ok(format),
        Some(format) if formats.contains(&format) => refused(format!(
            "the camera has no {asked}; of those that can be read it has {}",
            names(&usable)
        )),
        _ => refused(format!(
            "the format {asked} cannot be read here; known are {}",
            names(formats)
        )),
    }
}

/// The size nearest to the usual one, so that a camera does not start in whatever another program left it in.
fn usual_size(device: &Device, format: PixelFormat) -> Option<(u32, u32)> {
    let sizes = describe::sizes(device, format);
    let sizes = sizes.iter().map(|s| (s.width_px, s.height_px));
    sizes.min_by_key(|(width, height)| {
        let (usual_width, usual_height) = USUAL_SIZE_PX;
        (u64::from(*width) * u64::from(*height)).abs_diff(usual_width * usual_height)
    })
}

/// Sets the frame rate and says what it is. That a camera has not the usual one is no matter to tell.
fn set_rate(device: &Device, asked: Option<f64>, remarks: &mut Vec<String>) -> Option<f64> {
    let rate = |parameters: Parameters| {
        let Fraction {
            numerator,
            denominator,
        } = parameters.interval;
        (numerator > 0 && denominator > 0).then(|| f64::from(denominator) / f64::from(numerator))
    };
    let wanted = asked.unwrap_or(USUAL_FPS);
    // Thousandths hold 7.5 and 29.97 alike.
    let interval = Fraction::new(1000, (wanted * 1000.0).round() as u32);
    let interval = if wanted.fract() == 0.0 {
        Fraction::new(1, wanted as u32)
    } else {
        interval
    };
    let got = device.set_params(&Parameters::new(interval));
    let got = got.or_else(|_| device.params()).ok().and_then(rate);
    match (asked, got) {
        (None, _) => {}
        (Some(asked), Some(fps)) if (fps - asked).abs() <= asked * 0.01 => {}
        (Some(asked), Some(fps)) => {
            remarks.push(format!(
                "asked for {asked} frames a second, the driver gives {fps:.2}"
            ));
        }
        (Some(asked), None) => remarks.push(format!(
            "asked for {asked} frames a second, the driver does not say what it gives"
        )),
    }
    got
}

/// What an error of the system means for a camera.
pub(super) fn trouble_of(cause: &io::Error, what: &str, otherwise: FaultKind) -> Trouble {
    match cause.raw_os_error() {
        Some(ENODEV) => Trouble::new(FaultKind::Unplugged, format!("{what}: the camera is gone")),
        Some(EBUSY) => Trouble::new(
            otherwise,
            format!("{what}: another program uses the camera; 'fuser -v /dev/video*' tells which"),
        ),
        Some(EACCES) => Trouble::new(
            otherwise,
            format!("{what}: no permission; the user must be in the group 'video'"),
        ),
        _ => Trouble::new(otherwise, format!("{what}: {cause}")),
    }
}
