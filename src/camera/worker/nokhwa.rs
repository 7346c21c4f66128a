//! Cameras through the crate nokhwa, which works on all systems. It reads color formats and JPEG.
//!
//! On Linux, the worker first sets the format through V4L2: nokhwa cannot open a camera that another program left in a format
//! or frame rate that nokhwa does not know. nokhwa also does not know current controls, and on Linux it does not detect damaged
//! or incomplete buffers.

use ::nokhwa::Camera;
#[cfg(not(target_os = "linux"))]
use ::nokhwa::utils::Resolution;
use ::nokhwa::utils::{
    CameraFormat, CameraIndex, FrameFormat, RequestedFormat, RequestedFormatType,
};

use super::CaptureRequest;
use super::luma::{FrameLayout, NOKHWA_FORMATS, PixelFormat, write_luma};
use super::serve::{Captured, serve};
use crate::camera::fault::{Fault, FaultKind};
use crate::camera::pipe::GrantedSettings;

/// Opens the camera and writes its frames until it fails.
pub(super) fn capture(request: &CaptureRequest) -> Fault {
    let (mut camera, granted) = match open(request) {
        Ok(opened) => opened,
        Err(fault) => return fault,
    };
    let format = camera.camera_format();
    let Some(pixel_format) = pixel_format(format.format()) else {
        let detail = format!(
            "nokhwa opened the camera in the format {}, which Shoal cannot read",
            format.format()
        );
        return Fault::new(FaultKind::OpenFailed, detail);
    };
    let layout = FrameLayout {
        format: pixel_format,
        width_px: format.width(),
        height_px: format.height(),
        stride_bytes: pixel_format.row_bytes(format.width()),
    };
    if let Err(cause) = camera.open_stream() {
        let detail = format!("{}: the stream cannot be started: {cause}", granted.device);
        return Fault::new(FaultKind::OpenFailed, detail);
    }
    // Dropping a disconnected camera panics. The process ends anyway, so the camera is never dropped.
    let mut camera = std::mem::ManuallyDrop::new(camera);
    let mut sequence = 0;
    serve(granted, layout, move |levels| {
        let buffer = camera.frame().map_err(|cause| {
            let detail = format!("no frame can be captured: {cause}");
            Fault::new(FaultKind::StreamError, detail)
        })?;
        sequence += 1;
        Ok(match write_luma(buffer.buffer(), layout, levels) {
            Ok(()) => Captured::Frame {
                sequence: sequence - 1,
                timestamp_ns: None,
            },
            Err(fault) => Captured::Unusable(fault),
        })
    })
}

/// Opens the camera, after V4L2 has set a format that nokhwa knows.
#[cfg(target_os = "linux")]
fn open(request: &CaptureRequest) -> Result<(Camera, GrantedSettings), Fault> {
    let whole_rate = CaptureRequest {
        // nokhwa supports whole frame rates only.
        fps: request.fps.map(f64::round),
        ..request.clone()
    };
    let configured = super::linux::configure(&whole_rate, &NOKHWA_FORMATS)?;
    let mut granted = configured.granted.clone();
    let number = configured.node.number;
    drop(configured);
    let open_failed = |detail: String| {
        Fault::new(
            FaultKind::OpenFailed,
            format!("{}: {detail}", granted.device),
        )
    };
    let number = number.ok_or_else(|| {
        open_failed("nokhwa opens only devices named /dev/videoN; use v4l2: instead".into())
    })?;
    let fps = granted.fps.unwrap_or(30.0);
    if fps.fract() != 0.0 {
        return Err(open_failed(format!(
            "nokhwa cannot open a camera with {fps} frames per second. Request a whole rate with ?fps=, or use v4l2: instead"
        )));
    }
    let format = PixelFormat::from_name(&granted.format).and_then(frame_format);
    let format = format.ok_or_else(|| {
        open_failed(format!(
            "nokhwa does not know the format {}",
            granted.format
        ))
    })?;
    let exact = CameraFormat::new_from(granted.width_px, granted.height_px, format, fps as u32);
    let requested = [format];
    let requested = RequestedFormat::with_formats(RequestedFormatType::Exact(exact), &requested);
    let camera = Camera::new(CameraIndex::Index(number), requested)
        .map_err(|cause| open_failed(format!("nokhwa cannot open it: {cause}")))?;
    granted.stable_source = granted.stable_source.replacen("v4l2:", "nokhwa:", 1);
    Ok((camera, granted))
}

/// Opens the camera in the format that is nearest to the request.
#[cfg(not(target_os = "linux"))]
fn open(request: &CaptureRequest) -> Result<(Camera, GrantedSettings), Fault> {
    let open_failed = |detail: String| Fault::new(FaultKind::OpenFailed, detail);
    let number: u32 = request.device.parse().map_err(|_| {
        open_failed(format!(
            "'{}' is not a number. On this system nokhwa: needs the number of the camera",
            request.device
        ))
    })?;
    let asked = match &request.format {
        Some(name) => PixelFormat::from_name(name)
            .and_then(frame_format)
            .ok_or_else(|| open_failed(format!("nokhwa cannot open the format {name}")))?,
        None => FrameFormat::YUYV,
    };
    let (width, height) = request.size_px.unwrap_or((640, 480));
    let fps = request.fps.unwrap_or(30.0).round() as u32;
    let closest = CameraFormat::new(Resolution::new(width, height), asked, fps);
    let formats: Vec<FrameFormat> = NOKHWA_FORMATS
        .iter()
        .copied()
        .filter_map(frame_format)
        .collect();
    let requested = RequestedFormat::with_formats(RequestedFormatType::Closest(closest), &formats);
    let camera = Camera::new(CameraIndex::Index(number), requested)
        .map_err(|cause| open_failed(format!("nokhwa:{number} cannot be opened: {cause}")))?;
    let actual = camera.camera_format();
    if request
        .size_px
        .is_some_and(|size| size != (actual.width(), actual.height()))
    {
        return Err(Fault::new(
            FaultKind::WrongSize,
            format!(
                "requested {width}x{height} px, nokhwa gives {}x{}",
                actual.width(),
                actual.height()
            ),
        ));
    }
    let controls =
        request
            .controls
            .iter()
            .map(|(name, requested)| crate::camera::pipe::AppliedControl {
                name: name.clone(),
                requested: *requested,
                actual: None,
                reason: Some("Shoal sets controls on Linux only".to_owned()),
            });
    let granted = GrantedSettings {
        device: number.to_string(),
        stable_source: format!("nokhwa:{number}"),
        card: camera.info().human_name(),
        format: actual.format().to_string(),
        width_px: actual.width(),
        height_px: actual.height(),
        fps: Some(f64::from(actual.frame_rate())),
        controls: controls.collect(),
        remarks: Vec::new(),
    };
    Ok((camera, granted))
}

/// Writes the name of each camera that nokhwa finds.
#[cfg(not(target_os = "linux"))]
pub(super) fn list() {
    let cameras = ::nokhwa::query(::nokhwa::utils::ApiBackend::Auto).unwrap_or_default();
    for camera in cameras {
        let source = format!("nokhwa:{}", camera.index());
        super::serve::send(&crate::camera::pipe::Message::Camera(Box::new(
            crate::camera::CameraDescription {
                nokhwa_source: Some(source.clone()),
                source,
                device: camera.index().to_string(),
                card: camera.human_name(),
                ..crate::camera::CameraDescription::default()
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
    NOKHWA_FORMATS
        .into_iter()
        .find(|f| frame_format(*f) == Some(format))
}
