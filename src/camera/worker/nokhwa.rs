//! Cameras through nokhwa, the portable way: color formats and JPEG of whatever the system opens.
//!
//! On Linux the format is set beforehand through V4L2: nokhwa refuses a camera that another program left in a format or
//! rate that it does not know, and knows no controls of today. It sees neither damaged nor short buffers there.

use ::nokhwa::Camera;
#[cfg(not(target_os = "linux"))]
use ::nokhwa::utils::Resolution;
use ::nokhwa::utils::{
    CameraFormat, CameraIndex, FrameFormat, RequestedFormat, RequestedFormatType,
};

use super::luma::{PixelFormat, write_luma};
use super::{CaptureRequest, Layout, Taken, Trouble, serve};
use crate::camera::live::FaultKind;
use crate::camera::pipe::Granted;

/// Formats that nokhwa can open on this system, best first.
pub(super) const FORMATS: [PixelFormat; 5] = [
    PixelFormat::Nv12,
    PixelFormat::Yuyv,
    PixelFormat::Rgb,
    PixelFormat::Bgr,
    PixelFormat::Mjpeg,
];

/// Opens the camera and serves its frames until it fails.
pub(super) fn capture(request: &CaptureRequest) -> Trouble {
    let (mut camera, granted) = match open(request) {
        Ok(opened) => opened,
        Err(trouble) => return trouble,
    };
    let format = camera.camera_format();
    let Some(pixel_format) = pixel_format(format.format()) else {
        let told = format!("nokhwa gives {}, which cannot be read", format.format());
        return Trouble::new(FaultKind::OpenFailed, told);
    };
    let layout = Layout {
        format: pixel_format,
        width_px: format.width(),
        height_px: format.height(),
        stride_bytes: pixel_format.row_bytes(format.width()),
    };
    if let Err(cause) = camera.open_stream() {
        let told = format!("{}: the stream cannot be opened: {cause}", granted.device);
        return Trouble::new(FaultKind::OpenFailed, told);
    }
    // Stopping a camera that is gone panics in Drop, and the process ends anyway.
    let mut camera = std::mem::ManuallyDrop::new(camera);
    let mut sequence = 0;
    serve(granted, layout, move |levels| {
        let buffer = camera.frame().map_err(|cause| {
            let told = format!("no frame can be taken: {cause}");
            Trouble::new(FaultKind::StreamError, told)
        })?;
        sequence += 1;
        Ok(match write_luma(buffer.buffer(), layout, levels) {
            Ok(()) => Taken::Frame {
                sequence: sequence - 1,
                stamp_ns: None,
            },
            Err(trouble) => Taken::Bad(trouble),
        })
    })
}

/// The camera, set through V4L2 first, as nokhwa takes it only in a format that it knows.
#[cfg(target_os = "linux")]
fn open(request: &CaptureRequest) -> Result<(Camera, Granted), Trouble> {
    let whole_rate = CaptureRequest {
        // Other rates than whole ones cannot be chosen in nokhwa.
        fps: request.fps.map(f64::round),
        ..request.clone()
    };
    let prepared = super::linux::prepare(&whole_rate, &FORMATS)?;
    let mut granted = prepared.granted.clone();
    let number = prepared.node.number;
    drop(prepared);
    let refused =
        |told: String| Trouble::new(FaultKind::OpenFailed, format!("{}: {told}", granted.device));
    let number =
        number.ok_or_else(|| refused("nokhwa opens /dev/videoN only; use v4l2:".into()))?;
    let fps = granted.fps.unwrap_or(30.0);
    if fps.fract() != 0.0 {
        return Err(refused(format!(
            "nokhwa cannot open a camera that gives {fps} frames a second; ask for a whole rate with ?fps=, or use v4l2:"
        )));
    }
    let format = PixelFormat::from_name(&granted.format).and_then(frame_format);
    let format =
        format.ok_or_else(|| refused(format!("nokhwa does not know {}", granted.format)))?;
    let exact = CameraFormat::new_from(granted.width_px, granted.height_px, format, fps as u32);
    let wanted = [format];
    let wanted = RequestedFormat::with_formats(RequestedFormatType::Exact(exact), &wanted);
    let camera = Camera::new(CameraIndex::Index(number), wanted)
        .map_err(|cause| refused(format!("nokhwa cannot open it: {cause}")))?;
    granted.stable_source = granted.stable_source.replacen("v4l2:", "nokhwa:", 1);
    Ok((camera, granted))
}

/// The camera in the format nearest to what was asked for.
#[cfg(not(target_os = "linux"))]
fn open(request: &CaptureRequest) -> Result<(Camera, Granted), Trouble> {
    let refused = |told: String| Trouble::new(FaultKind::OpenFailed, told);
    let number: u32 = request.device.parse().map_err(|_| {
        refused(format!(
            "'{}' is no number; nokhwa: takes the camera's number here",
            request.device
        ))
    })?;
    let asked = match &request.format {
        Some(name) => PixelFormat::from_name(name)
            .and_then(frame_format)
            .ok_or_else(|| refused(format!("nokhwa cannot open the format {name}")))?,
        None => FrameFormat::YUYV,
    };
    let (width, height) = request.size_px.unwrap_or((640, 480));
    let fps = request.fps.unwrap_or(30.0).round() as u32;
    let closest = CameraFormat::new(Resolution::new(width, height), asked, fps);
    let formats: Vec<FrameFormat> = FORMATS.iter().copied().filter_map(frame_format).collect();
    let wanted = RequestedFormat::with_formats(RequestedFormatType::Closest(closest), &formats);
    let camera = Camera::new(CameraIndex::Index(number), wanted)
        .map_err(|cause| refused(format!("nokhwa:{number} cannot be opened: {cause}")))?;
    let got = camera.camera_format();
    if request
        .size_px
        .is_some_and(|size| size != (got.width(), got.height()))
    {
        return Err(Trouble::new(
            FaultKind::WrongSize,
            format!(
                "asked for {width}x{height} px, nokhwa gives {}x{}",
                got.width(),
                got.height()
            ),
        ));
    }
    let controls =
        request
            .controls
            .iter()
            .map(|(name, wanted)| crate::camera::pipe::ControlReading {
                name: name.clone(),
                wanted: *wanted,
                got: None,
                reason: Some("controls are set on Linux only".to_owned()),
            });
    let granted = Granted {
        device: number.to_string(),
        stable_source: format!("nokhwa:{number}"),
        card: camera.info().human_name(),
        format: got.format().to_string(),
        width_px: got.width(),
        height_px: got.height(),
        fps: Some(f64::from(got.frame_rate())),
        controls: controls.collect(),
        remarks: Vec::new(),
    };
    Ok((camera, granted))
}

/// Tells every camera that nokhwa knows, by name only.
#[cfg(not(target_os = "linux"))]
pub(super) fn list() {
    let cameras = ::nokhwa::query(::nokhwa::utils::ApiBackend::Auto).unwrap_or_default();
    for camera in cameras {
        let source = format!("nokhwa:{}", camera.index());
        super::tell(&crate::camera::pipe::Message::Camera(Box::new(
            super::CameraDescription {
                nokhwa_source: Some(source.clone()),
                source,
                device: camera.index().to_string(),
                card: camera.human_name(),
                ..super::CameraDescription::default()
            },
        )));
    }
}

fn frame_format(format: PixelFormat) -> Option<FrameFormat> {
    match format {
        PixelFormat::Nv12 => Some(FrameFormat::NV12),
        PixelFormat::Yuyv => Some(FrameFormat::YUYV),
        PixelFormat::Rgb => Some(FrameFormat::RAWRGB),
        PixelFormat::Bgr => Some(FrameFormat::RAWBGR),
        PixelFormat::Mjpeg => Some(FrameFormat::MJPEG),
        _ => None,
    }
}

fn pixel_format(format: FrameFormat) -> Option<PixelFormat> {
    FORMATS
        .into_iter()
        .find(|f| frame_format(*f) == Some(format))
}
