//! Lists cameras with their formats, sizes, rates and controls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use v4l::frameinterval::FrameIntervalEnum;
use v4l::framesize::FrameSizeEnum;
use v4l::video::Capture;
use v4l::{Device, FourCC, Fraction};

use super::controls;
use super::nodes::{self, Node};
use crate::camera::pipe::Message;
use crate::camera::worker::luma::{NOKHWA_FORMATS, PixelFormat};
use crate::camera::worker::serve::send;
use crate::camera::{CameraDescription, FormatDescription, SizeDescription};

/// Sizes that are listed for a camera that supports a range of sizes.
const COMMON_SIZES_PX: [(u32, u32); 8] = [
    (160, 120),
    (320, 240),
    (640, 360),
    (640, 480),
    (800, 600),
    (1280, 720),
    (1280, 1024),
    (1920, 1080),
];
/// Largest number of sizes, or of frame rates of a size, that are read from a driver.
const MAX_ENTRIES: usize = 200;

/// Writes a description of each camera as soon as it is complete. If a camera hangs, the cameras before it are already listed.
pub(in crate::camera::worker) fn list() {
    let probing = |path: &Path| {
        send(&Message::Probing {
            device: path.display().to_string(),
        });
    };
    for node in nodes::all(probing) {
        probing(&node.path);
        let described = catch_unwind(AssertUnwindSafe(|| describe(&node)));
        let described = described.unwrap_or_else(|_| CameraDescription {
            problem: Some("the driver gave an answer that cannot be parsed".to_owned()),
            ..known(&node)
        });
        send(&Message::Camera(Box::new(described)));
    }
}

/// Returns the part of a description that is known without opening the camera.
fn known(node: &Node) -> CameraDescription {
    CameraDescription {
        source: format!("v4l2:{}", node.stable_name()),
        device: node.path.display().to_string(),
        card: node.card.clone(),
        bus: node.bus.clone(),
        driver: node.driver.clone(),
        ..CameraDescription::default()
    }
}

fn describe(node: &Node) -> CameraDescription {
    let device = match Device::with_path(&node.path) {
        Ok(device) => device,
        Err(cause) => {
            return CameraDescription {
                problem: Some(format!("cannot be opened: {cause}")),
                ..known(node)
            };
        }
    };
    let formats = device.enum_formats().unwrap_or_default();
    let formats = formats.iter().map(|description| {
        let code = description.fourcc.repr;
        let format = PixelFormat::from_code(code);
        FormatDescription {
            format: code.escape_ascii().to_string().trim_end().to_owned(),
            readable: format.is_some(),
            sizes: format.map(|f| sizes(&device, f)).unwrap_or_default(),
        }
    });
    let formats: Vec<FormatDescription> = formats.collect();
    let opens = |f: &FormatDescription| {
        PixelFormat::from_name(&f.format).is_some_and(|f| NOKHWA_FORMATS.contains(&f))
    };
    CameraDescription {
        nokhwa_source: node
            .number
            .filter(|_| formats.iter().any(opens))
            .map(|number| format!("nokhwa:{number}")),
        formats,
        controls: controls::describe(&device),
        ..known(node)
    }
}

/// Returns the sizes of a format with their frame rates. If the camera supports a range of sizes, returns those of
/// [`COMMON_SIZES_PX`] that are in the range.
pub(super) fn sizes(device: &Device, format: PixelFormat) -> Vec<SizeDescription> {
    let code = FourCC::new(&format.code());
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for size in device
        .enum_framesizes(code)
        .unwrap_or_default()
        .iter()
        .take(MAX_ENTRIES)
    {
        match &size.size {
            FrameSizeEnum::Discrete(size) => pairs.push((size.width, size.height)),
            FrameSizeEnum::Stepwise(steps) => {
                let fits = |value: u32, min: u32, max: u32, step: u32| {
                    (min..=max).contains(&value) && (value - min).is_multiple_of(step.max(1))
                };
                pairs.extend(COMMON_SIZES_PX.into_iter().filter(|(width, height)| {
                    fits(*width, steps.min_width, steps.max_width, steps.step_width)
                        && fits(
                            *height,
                            steps.min_height,
                            steps.max_height,
                            steps.step_height,
                        )
                }));
            }
        }
    }
    let described = pairs
        .into_iter()
        .map(|(width_px, height_px)| SizeDescription {
            width_px,
            height_px,
            rates_fps: rates_fps(device, code, width_px, height_px),
        });
    described.collect()
}

/// Returns the frame rates for a frame size, in frames per second, highest first.
fn rates_fps(device: &Device, code: FourCC, width_px: u32, height_px: u32) -> Vec<f64> {
    let rate = |interval: &Fraction| {
        let whole = interval.numerator > 0 && interval.denominator > 0;
        whole.then(|| f64::from(interval.denominator) / f64::from(interval.numerator))
    };
    let intervals = device.enum_frameintervals(code, width_px, height_px);
    let mut rates: Vec<f64> = Vec::new();
    for entry in intervals.unwrap_or_default().iter().take(MAX_ENTRIES) {
        match &entry.interval {
            FrameIntervalEnum::Discrete(interval) => rates.extend(rate(interval)),
            FrameIntervalEnum::Stepwise(steps) => {
                rates.extend(rate(&steps.min).into_iter().chain(rate(&steps.max)));
            }
        }
    }
    // Rounded, so that 30000/1001 is shown as 29.97.
    for rate in &mut rates {
        *rate = (*rate * 100.0).round() / 100.0;
    }
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.dedup();
    rates
}
