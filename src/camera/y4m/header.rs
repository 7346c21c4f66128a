//! Parses the header line of a y4m stream: size, frame rate and color layout.

use crate::camera::CameraError;
use crate::camera::frame::check_size;

/// Frame rates of cameras, in frames per second. Another one is the unit of a clock.
const RATES_FPS: std::ops::Range<f64> = 0.001..1000.0;

/// The header of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::camera) struct Y4mHeader {
    pub(in crate::camera) width_px: u32,
    pub(in crate::camera) height_px: u32,
    /// Frame rate in frames per second; `None` if the header does not define it.
    pub(in crate::camera) fps: Option<f64>,
    /// Number of bits of a level, 8 to 16.
    pub(super) bits: u32,
    /// Number of chroma and alpha samples after the luma plane of each frame; the reader skips them.
    pub(super) chroma_samples: u64,
}

impl Y4mHeader {
    /// Parses the parameters after the first word. `name` is the name of the stream in errors; `problem` makes an error of a
    /// description.
    pub(super) fn parse(
        parameters: &str,
        name: &str,
        problem: impl Fn(String) -> CameraError,
    ) -> Result<Self, CameraError> {
        let (mut width, mut height, mut fps, mut color) = (None, None, None, "420jpeg");
        for parameter in parameters.split(' ').filter(|p| !p.is_empty()) {
            let mut characters = parameter.chars();
            let key = characters.next();
            let value = characters.as_str();
            match key {
                Some('W') => width = Some(size(parameter, value).map_err(&problem)?),
                Some('H') => height = Some(size(parameter, value).map_err(&problem)?),
                Some('F') => fps = frame_rate(parameter, value).map_err(&problem)?,
                Some('C') => color = value,
                // Interlacing, aspect ratio and comments do not change the luma.
                _ => {}
            }
        }
        let (Some(width), Some(height)) = (width, height) else {
            return Err(problem(
                "the header has no width (W…) or no height (H…)".into(),
            ));
        };
        check_size(name, width, height)?;
        let (bits, chroma_samples) = color_layout(color, width, height).ok_or_else(|| {
            problem(format!(
                "the color layout 'C{}' is unknown; known layouts are mono, mono9 to mono16, 420, 411, 422, 440, 444, \
                 444alpha, with p9 to p16 for more bits",
                color.escape_debug()
            ))
        })?;
        Ok(Self {
            width_px: width as u32,
            height_px: height as u32,
            fps,
            bits,
            chroma_samples,
        })
    }
}

/// Parses a width or height.
fn size(parameter: &str, value: &str) -> Result<u64, String> {
    // `parse` accepts a plus sign, which is not valid here.
    let digits = Some(value).filter(|v| v.starts_with(|c: char| c.is_ascii_digit()));
    let size = digits.and_then(|v| v.parse::<u32>().ok()).map(u64::from);
    size.ok_or_else(|| format!("'{}' in the header is not a size", parameter.escape_debug()))
}

/// Parses a frame rate; `None` if the header leaves it undefined.
fn frame_rate(parameter: &str, value: &str) -> Result<Option<f64>, String> {
    let parameter = parameter.escape_debug();
    let ratio = value
        .split_once(':')
        .and_then(|(n, d)| Some((n.parse::<u64>().ok()?, d.parse::<u64>().ok()?)));
    match ratio {
        Some((0, _) | (_, 0)) => Ok(None),
        // ffmpeg writes the unit of its clock (90000:1, 1000000:1) for a camera whose rate it does not know.
        Some((n, d)) => {
            let fps = n as f64 / d as f64;
            Ok(RATES_FPS.contains(&fps).then_some(fps))
        }
        None => Err(format!(
            "'{parameter}' in the header is not a frame rate such as F30:1"
        )),
    }
}

/// Returns the number of bits of a sample, and the number of samples after the luma plane; `None` for an unknown layout.
fn color_layout(color: &str, width: u64, height: u64) -> Option<(u32, u64)> {
    let deep = |bits: &str| bits.parse::<u32>().ok().filter(|b| (9..=16).contains(b));
    if let Some(bits) = color.strip_prefix("mono") {
        return Some((if bits.is_empty() { 8 } else { deep(bits)? }, 0));
    }
    if color == "444alpha" {
        return Some((8, 3 * width * height));
    }
    let (layout, rest) = color.split_at_checked(3)?;
    let chroma = match layout {
        "420" => 2 * width.div_ceil(2) * height.div_ceil(2),
        "422" => 2 * width.div_ceil(2) * height,
        "411" => 2 * width.div_ceil(4) * height,
        "440" => 2 * width * height.div_ceil(2),
        "444" => 2 * width * height,
        _ => return None,
    };
    let bits = match rest {
        "" | "jpeg" | "mpeg2" | "paldv" => 8,
        _ => deep(rest.strip_prefix('p')?)?,
    };
    Some((bits, chroma))
}
