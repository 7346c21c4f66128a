//! Cameras through V4L2, the camera interface of Linux. Supports all gray-level formats, detects damaged buffers, and sets
//! controls by name.
//!
//! The worker waits for buffers without a timeout, because after one timeout the `v4l` crate fails on every further call. The
//! parent, which reads the pipe, has a timeout instead. Streams are never dropped: if a disconnected camera is stopped, that
//! crate panics, and the process ends anyway.

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

use super::CaptureRequest;
use super::luma::{FrameLayout, PixelFormat, write_luma};
use super::serve::{Captured, serve};
use crate::camera::fault::{Fault, FaultKind};
use crate::camera::pipe::GrantedSettings;

/// Number of buffers that the driver fills in turn.
const BUFFERS: u32 = 4;
/// Preferred width and height in pixels if no size is requested; the camera uses its nearest size.
const DEFAULT_SIZE_PX: (u64, u64) = (640, 480);
/// Preferred frame rate if no rate is requested, in frames per second.
const DEFAULT_FPS: f64 = 30.0;
/// Linux error: no such file.
const ENOENT: i32 = 2;
/// Linux error: no such device or address.
const ENXIO: i32 = 6;
/// Linux error: permission denied.
const EACCES: i32 = 13;
/// Linux error: device is busy.
const EBUSY: i32 = 16;
/// Linux error: no such device.
const ENODEV: i32 = 19;

/// An open camera with the requested settings. It does not stream yet.
pub(super) struct ConfiguredCamera {
    pub(super) device: Device,
    pub(super) node: Node,
    pub(super) granted: GrantedSettings,
    layout: FrameLayout,
}

/// Opens the camera and writes its frames until it fails.
pub(super) fn capture(request: &CaptureRequest) -> Fault {
    let formats: Vec<PixelFormat> = PixelFormat::all().collect();
    let configured = match configure(request, &formats) {
        Ok(configured) => configured,
        Err(fault) => return fault,
    };
    let layout = configured.layout;
    let stream = MmapStream::with_buffers(&configured.device, Type::VideoCapture, BUFFERS);
    let mut stream = match stream {
        Ok(stream) => ManuallyDrop::new(stream),
        Err(cause) => {
            return fault_from_io(
                &cause,
                "the driver provides no buffers",
                FaultKind::OpenFailed,
            );
        }
    };
    serve(configured.granted, layout, |levels| {
        let (buffer, meta) = CaptureStream::next(&mut *stream).map_err(|cause| {
            fault_from_io(&cause, "no frame can be captured", FaultKind::StreamError)
        })?;
        let number = meta.sequence;
        if meta.flags.contains(Flags::ERROR) {
            let detail = format!("the driver marked frame {number} as damaged");
            return Ok(Captured::Unusable(Fault::new(
                FaultKind::DamagedFrames,
                detail,
            )));
        }
        // A used length of 0 means that the driver filled the whole buffer. The length of a compressed frame varies, so for a
        // compressed format 0 means that there is no data and the buffer contains an old frame.
        let used = match meta.bytesused as usize {
            0 if layout.format != PixelFormat::Mjpeg => buffer.len(),
            used => used.min(buffer.len()),
        };
        if let Err(fault) = write_luma(&buffer[..used], layout, levels) {
            return Ok(Captured::Unusable(fault));
        }
        let (secs, micros) = (meta.timestamp.sec, meta.timestamp.usec);
        let monotonic = meta.flags & Flags::TIMESTAMP_MASK == Flags::TIMESTAMP_MONOTONIC;
        let timestamp_ns = (monotonic && secs >= 0 && (0..1_000_000).contains(&micros))
            .then(|| secs as u64 * 1_000_000_000 + micros as u64 * 1000);
        Ok(Captured::Frame {
            sequence: u64::from(number),
            timestamp_ns,
        })
    })
}

/// Finds the camera and sets its format, size, frame rate and controls. `formats` are the allowed formats, best first.
pub(super) fn configure(
    request: &CaptureRequest,
    formats: &[PixelFormat],
) -> Result<ConfiguredCamera, Fault> {
    let node = nodes::find(&request.device)?;
    let device = open(&node)?;
    let with_path = |what: &str| format!("{}: {what}", node.path.display());
    let failed =
        |cause: &io::Error, what| fault_from_io(cause, &with_path(what), FaultKind::OpenFailed);
    let caps = device
        .query_caps()
        .map_err(|e| failed(&e, "the driver does not report its capabilities"))?;
    let needed = Capabilities::VIDEO_CAPTURE | Capabilities::STREAMING;
    if !caps.capabilities.contains(needed) {
        let detail =
            with_path("this device does not stream frames; 'shoal cameras' lists the cameras");
        return Err(Fault::new(FaultKind::OpenFailed, detail));
    }
    let format = choose_format(&device, request, formats, &node)?;
    let now = device
        .format()
        .map_err(|e| failed(&e, "the driver does not report the format"))?;
    let (width, height) = match request.size_px {
        Some(size) => size,
        None => default_size(&device, format).unwrap_or((now.width, now.height)),
    };
    let requested = Format::new(width, height, FourCC::new(&format.code()));
    let got = device
        .set_format(&requested)
        .map_err(|e| failed(&e, "the format cannot be set"))?;
    if got.fourcc.repr != format.code() {
        let detail = with_path(&format!(
            "requested {}, the driver gives {}",
            format.name(),
            got.fourcc.repr.escape_ascii()
        ));
        return Err(Fault::new(FaultKind::OpenFailed, detail));
    }
    if request
        .size_px
        .is_some_and(|size| size != (got.width, got.height))
    {
        let detail = with_path(&format!(
            "requested {width}x{height} px, the driver gives {}x{}; 'shoal cameras' lists the sizes of each format",
            got.width, got.height
        ));
        return Err(Fault::new(FaultKind::WrongSize, detail));
    }
    let mut remarks = Vec::new();
    let fps = set_rate(&device, request.fps, &mut remarks);
    let controls = controls::apply(&device, request);
    let granted = GrantedSettings {
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
    let layout = FrameLayout {
        format,
        width_px: got.width,
        height_px: got.height,
        stride_bytes: got.stride as usize,
    };
    Ok(ConfiguredCamera {
        device,
        node,
        granted,
        layout,
    })
}

/// Opens a device node. Distinguishes an absent camera from a camera that cannot be opened.
fn open(node: &Node) -> Result<Device, Fault> {
    Device::with_path(&node.path).map_err(|cause| {
        let what = format!("{}: cannot be opened", node.path.display());
        match cause.raw_os_error() {
            Some(ENOENT | ENXIO | ENODEV) => {
                Fault::new(FaultKind::Absent, format!("{what}: {cause}"))
            }
            _ => fault_from_io(&cause, &what, FaultKind::OpenFailed),
        }
    })
}

/// Returns the requested format, or the best format that supports the requested size.
fn choose_format(
    device: &Device,
    request: &CaptureRequest,
    formats: &[PixelFormat],
    node: &Node,
) -> Result<PixelFormat, Fault> {
    let offered = device.enum_formats().unwrap_or_default();
    let has = |format: &PixelFormat| offered.iter().any(|d| d.fourcc.repr == format.code());
    let usable: Vec<PixelFormat> = formats.iter().copied().filter(has).collect();
    let names = |formats: &[PixelFormat]| {
        let names: Vec<String> = formats.iter().map(|f| f.name()).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    let open_failed = |detail: String| {
        let detail = format!("{}: {detail}", node.path.display());
        Err(Fault::new(FaultKind::OpenFailed, detail))
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
            None => open_failed(format!(
                "the camera has no format that Shoal can read. Shoal reads {}, the camera has {}",
                names(formats),
                offered
                    .iter()
                    .map(|d| d.fourcc.repr.escape_ascii().to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        };
    };
    match PixelFormat::from_name(asked) {
        Some(format) if usable.contains(&format) => Ok(format),
        Some(format) if formats.contains(&format) => open_failed(format!(
            "the camera does not have the format {asked}; of the formats that Shoal reads, it has {}",
            names(&usable)
        )),
        _ => open_failed(format!(
            "the format {asked} cannot be read; readable formats are {}",
            names(formats)
        )),
    }
}

/// Returns the size of the camera nearest to [`DEFAULT_SIZE_PX`], so that the size does not depend on the program that used
/// the camera before.
fn default_size(device: &Device, format: PixelFormat) -> Option<(u32, u32)> {
    let sizes = describe::sizes(device, format);
    let sizes = sizes.iter().map(|s| (s.width_px, s.height_px));
    sizes.min_by_key(|(width, height)| {
        let (default_width, default_height) = DEFAULT_SIZE_PX;
        (u64::from(*width) * u64::from(*height)).abs_diff(default_width * default_height)
    })
}

/// Sets the frame rate and returns the rate that the driver accepted. Adds a remark only if a requested rate was not accepted.
fn set_rate(device: &Device, asked: Option<f64>, remarks: &mut Vec<String>) -> Option<f64> {
    let rate = |parameters: Parameters| {
        let Fraction {
            numerator,
            denominator,
        } = parameters.interval;
        (numerator > 0 && denominator > 0).then(|| f64::from(denominator) / f64::from(numerator))
    };
    let rate_fps = asked.unwrap_or(DEFAULT_FPS);
    // An interval in 1/1000 represents rates such as 7.5 and 29.97.
    let interval = Fraction::new(1000, (rate_fps * 1000.0).round() as u32);
    let interval = if rate_fps.fract() == 0.0 {
        Fraction::new(1, rate_fps as u32)
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
                "requested {asked} frames per second, the driver gives {fps:.2}"
            ));
        }
        (Some(asked), None) => remarks.push(format!(
            "requested {asked} frames per second, the driver does not report its rate"
        )),
    }
    got
}

/// Returns the fault that an error of the operating system means for a camera, or `otherwise` if the error is not specific.
pub(super) fn fault_from_io(cause: &io::Error, what: &str, otherwise: FaultKind) -> Fault {
    match cause.raw_os_error() {
        Some(ENODEV) => Fault::new(
            FaultKind::Unplugged,
            format!("{what}: the camera was disconnected"),
        ),
        Some(EBUSY) => Fault::new(
            otherwise,
            format!(
                "{what}: another program uses the camera; 'fuser -v /dev/video*' shows which one"
            ),
        ),
        Some(EACCES) => Fault::new(
            otherwise,
            format!("{what}: no permission; the user must be in the group 'video'"),
        ),
        _ => Fault::new(otherwise, format!("{what}: {cause}")),
    }
}
