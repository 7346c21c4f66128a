//! Converts the pixel formats of cameras to gray levels.
//!
//! Input: the buffer of a driver and its layout. Output: one byte per pixel, or two (little endian) for levels of more than
//! 8 bits. A buffer that does not contain a complete frame is an error.
//!
//! **Source**: the pixel formats in the V4L2 documentation of the Linux kernel.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::camera::fault::{Fault, FaultKind};
use crate::camera::jpeg::{JpegError, complete_jpeg};
use crate::camera::limits::MAX_SIDE_PX;

/// The pixel formats that Shoal can read, in order of preference for an infrared camera, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PixelFormat {
    Grey,
    Y16,
    Y12,
    Y10,
    Nv12,
    Yuyv,
    Uyvy,
    /// Two interleaved images of a stereo camera; the left image is used.
    Y8i,
    Rgb,
    Bgr,
    Mjpeg,
}

/// All formats with their V4L2 four-character codes, in order of preference, best first.
const ALL: [(PixelFormat, [u8; 4]); 11] = [
    (PixelFormat::Grey, *b"GREY"),
    (PixelFormat::Y16, *b"Y16 "),
    (PixelFormat::Y12, *b"Y12 "),
    (PixelFormat::Y10, *b"Y10 "),
    (PixelFormat::Nv12, *b"NV12"),
    (PixelFormat::Yuyv, *b"YUYV"),
    (PixelFormat::Uyvy, *b"UYVY"),
    (PixelFormat::Y8i, *b"Y8I "),
    (PixelFormat::Rgb, *b"RGB3"),
    (PixelFormat::Bgr, *b"BGR3"),
    (PixelFormat::Mjpeg, *b"MJPG"),
];

/// Formats that nokhwa can open on this system, in order of preference, best first.
pub(super) const NOKHWA_FORMATS: [PixelFormat; 5] = [
    PixelFormat::Nv12,
    PixelFormat::Yuyv,
    PixelFormat::Rgb,
    PixelFormat::Bgr,
    PixelFormat::Mjpeg,
];

impl PixelFormat {
    /// All formats, best first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|(format, _)| *format)
    }

    /// Returns the format with a four-character code; `None` if Shoal cannot read it.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn from_code(code: [u8; 4]) -> Option<Self> {
        let found = ALL.iter().find(|(_, known)| *known == code);
        found.map(|(format, _)| *format)
    }

    /// Returns the format that a user calls `name`; `None` if it is unknown. `name` is the code without trailing spaces, in
    /// upper or lower case, or a common name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let name = match name.to_ascii_uppercase().as_str() {
            "GRAY" | "Y8" => "GREY".to_owned(),
            "MJPEG" | "JPEG" => "MJPG".to_owned(),
            "YUY2" => "YUYV".to_owned(),
            "RGB" => "RGB3".to_owned(),
            "BGR" => "BGR3".to_owned(),
            other => other.to_owned(),
        };
        Self::all().find(|format| format.name() == name)
    }

    /// Returns the four-character code.
    pub(super) fn code(self) -> [u8; 4] {
        let found = ALL.iter().find(|(format, _)| *format == self);
        found.map_or(*b"    ", |(_, code)| *code)
    }

    /// Returns the four-character code without trailing spaces.
    pub(super) fn name(self) -> String {
        self.code().escape_ascii().to_string().trim_end().to_owned()
    }

    /// Returns the number of bits of a level.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Y16 => 16,
            Self::Y12 => 12,
            Self::Y10 => 10,
            _ => 8,
        }
    }

    /// Returns the number of bytes in a row that contain gray levels; 0 for compressed formats.
    pub(super) fn row_bytes(self, width_px: u32) -> usize {
        let width = width_px as usize;
        match self {
            Self::Grey | Self::Nv12 => width,
            Self::Y16 | Self::Y12 | Self::Y10 | Self::Yuyv | Self::Uyvy | Self::Y8i => width * 2,
            Self::Rgb | Self::Bgr => width * 3,
            Self::Mjpeg => 0,
        }
    }
}

/// Layout of a frame in the buffer of the driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FrameLayout {
    pub(super) format: PixelFormat,
    pub(super) width_px: u32,
    pub(super) height_px: u32,
    /// Number of bytes from the start of one row to the next.
    pub(super) stride_bytes: usize,
}

/// Writes the levels of all pixels into `to`, whose memory is reused.
///
/// # Errors
/// When the frame is incomplete, damaged or of another size.
pub(super) fn write_luma(
    buffer: &[u8],
    layout: FrameLayout,
    to: &mut Vec<u8>,
) -> Result<(), Fault> {
    to.clear();
    if layout.format == PixelFormat::Mjpeg {
        return write_jpeg_luma(buffer, layout, to);
    }
    let row_bytes = layout.format.row_bytes(layout.width_px);
    let height = layout.height_px as usize;
    let stride = layout.stride_bytes.max(row_bytes);
    let needed = stride * height.saturating_sub(1) + row_bytes;
    if buffer.len() < needed {
        return Err(Fault::new(
            FaultKind::ShortFrames,
            format!(
                "a frame has {} bytes, expected {needed} for {}x{} px in {}",
                buffer.len(),
                layout.width_px,
                layout.height_px,
                layout.format.name()
            ),
        ));
    }
    for row in buffer.chunks(stride).take(height) {
        let row = &row[..row_bytes];
        match layout.format {
            PixelFormat::Grey | PixelFormat::Nv12 | PixelFormat::Y16 => to.extend_from_slice(row),
            PixelFormat::Y12 | PixelFormat::Y10 => {
                let top = (1 << layout.format.bits()) - 1;
                to.extend(row.chunks_exact(2).flat_map(|pair| {
                    let level = u16::from_le_bytes([pair[0], pair[1]]);
                    level.min(top).to_le_bytes()
                }));
            }
            PixelFormat::Yuyv | PixelFormat::Y8i => to.extend(row.iter().step_by(2)),
            PixelFormat::Uyvy => to.extend(row.iter().skip(1).step_by(2)),
            PixelFormat::Rgb => to.extend(row.chunks_exact(3).map(|p| luma(p[0], p[1], p[2]))),
            PixelFormat::Bgr => to.extend(row.chunks_exact(3).map(|p| luma(p[2], p[1], p[0]))),
            PixelFormat::Mjpeg => {}
        }
    }
    Ok(())
}

/// Returns the gray level of a color. **Source**: luma coefficients of ITU-R BT.601, in 1/256.
fn luma(red: u8, green: u8, blue: u8) -> u8 {
    ((77 * u32::from(red) + 150 * u32::from(green) + 29 * u32::from(blue)) >> 8) as u8
}

/// Decodes the luma of a JPEG. The image must be complete: most decoders fill a missing part with gray.
fn write_jpeg_luma(buffer: &[u8], layout: FrameLayout, to: &mut Vec<u8>) -> Result<(), Fault> {
    let mut whole = Vec::with_capacity(buffer.len());
    let size_px = complete_jpeg(buffer, &mut whole).map_err(|error| match error {
        JpegError::Incomplete(_) => Fault::new(FaultKind::ShortFrames, error.to_string()),
        JpegError::Unsupported(_) => {
            let detail = format!("{error}. Choose another format with ?format=");
            Fault::new(FaultKind::DamagedFrames, detail)
        }
        // A camera does not send images of such a size: the header of this frame is damaged. That is no reason to restart the
        // camera.
        JpegError::Damaged(_) | JpegError::TooLarge { .. } => {
            Fault::new(FaultKind::DamagedFrames, error.to_string())
        }
    })?;
    if size_px != (layout.width_px, layout.height_px) {
        return Err(Fault::new(
            FaultKind::WrongSize,
            format!(
                "a JPEG has {}x{} px, the driver had accepted {}x{}",
                size_px.0, size_px.1, layout.width_px, layout.height_px
            ),
        ));
    }
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(MAX_SIDE_PX as usize)
        .set_max_height(MAX_SIDE_PX as usize)
        .jpeg_set_out_colorspace(ColorSpace::Luma);
    to.resize(layout.width_px as usize * layout.height_px as usize, 0);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&whole), options);
    decoder.decode_into(to).map_err(|cause| {
        to.clear();
        Fault::new(
            FaultKind::DamagedFrames,
            format!("a JPEG cannot be decoded: {cause:?}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::jpeg::samples;
    use shoal_testing::assert_message;

    fn layout(
        format: PixelFormat,
        width_px: u32,
        height_px: u32,
        stride_bytes: usize,
    ) -> FrameLayout {
        FrameLayout {
            format,
            width_px,
            height_px,
            stride_bytes,
        }
    }

    fn levels_of(format: PixelFormat, stride: usize, buffer: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut to = vec![99; 3];
        write_luma(buffer, layout(format, 2, 2, stride), &mut to).map(|()| to)
    }

    #[test]
    fn every_format_gives_its_levels() {
        use PixelFormat::*;
        let cases: [(PixelFormat, usize, &[u8], &[u8]); 10] = [
            (Grey, 3, &[1, 2, 9, 3, 4], &[1, 2, 3, 4]),
            (Nv12, 2, &[1, 2, 3, 4, 9, 9], &[1, 2, 3, 4]),
            (Yuyv, 4, &[1, 9, 2, 9, 3, 9, 4, 9], &[1, 2, 3, 4]),
            (Uyvy, 4, &[9, 1, 9, 2, 9, 3, 9, 4], &[1, 2, 3, 4]),
            (Y8i, 4, &[1, 9, 2, 9, 3, 9, 4, 9], &[1, 2, 3, 4]),
            (Y16, 4, &[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 5, 6, 7, 8]),
            (
                Y10,
                5,
                &[1, 2, 0, 4, 9, 255, 255, 1, 1],
                &[1, 2, 255, 3, 255, 3, 1, 1],
            ),
            (
                Y12,
                4,
                &[1, 2, 0, 16, 0, 15, 1, 1],
                &[1, 2, 255, 15, 0, 15, 1, 1],
            ),
            (
                Rgb,
                6,
                &[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255],
                &[76, 149, 28, 255],
            ),
            (
                Bgr,
                6,
                &[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255],
                &[28, 149, 76, 255],
            ),
        ];
        for (format, stride, buffer, expected) in cases {
            assert_eq!(
                levels_of(format, stride, buffer).unwrap(),
                expected,
                "{format:?}"
            );
            let short = levels_of(format, stride, &buffer[..buffer.len().min(3)]).unwrap_err();
            assert_eq!(short.kind, FaultKind::ShortFrames, "{format:?}");
        }
    }

    #[test]
    fn a_stride_below_the_row_length_is_ignored() {
        assert_eq!(
            levels_of(PixelFormat::Grey, 0, &[1, 2, 3, 4]).unwrap(),
            [1, 2, 3, 4]
        );
    }

    fn jpeg_levels(bytes: &[u8], width_px: u32, height_px: u32) -> Result<Vec<u8>, Fault> {
        let mut to = vec![99; 3];
        let layout = layout(PixelFormat::Mjpeg, width_px, height_px, 0);
        write_luma(bytes, layout, &mut to).map(|()| to)
    }

    #[test]
    fn jpeg_gives_luma_with_every_sampling() {
        let (width, height) = samples::SIZE_PX;
        for sample in samples::ALL {
            let levels = jpeg_levels(sample, width, height).unwrap();
            assert_eq!(levels.len() as u32, width * height);
            for (i, level) in (0..).zip(levels) {
                let expected = samples::level(i % width, i / width);
                assert!(
                    level.abs_diff(expected) <= 2,
                    "{i}: {level}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn jpeg_without_tables_or_end_gives_the_same_levels() {
        let (width, height) = samples::SIZE_PX;
        let expected = jpeg_levels(samples::COLOR, width, height).unwrap();
        let mut bytes = samples::without(samples::COLOR, 0xc4);
        bytes.truncate(bytes.len() - 2);
        assert_eq!(jpeg_levels(&bytes, width, height).unwrap(), expected);
        bytes.extend([0; 500]);
        assert_eq!(jpeg_levels(&bytes, width, height).unwrap(), expected);
    }

    #[test]
    fn unusable_jpeg_is_a_fault_of_its_kind() {
        let jpeg = samples::COLOR;
        let fault =
            |bytes: &[u8], width| jpeg_levels(bytes, width, samples::SIZE_PX.1).unwrap_err();
        let kind = |bytes: &[u8]| fault(bytes, samples::SIZE_PX.0).kind;
        let half = &jpeg[..jpeg.len() - 200];
        assert_eq!(kind(half), FaultKind::ShortFrames);
        assert_eq!(
            kind(&[half, &[0xff, 0xd9]].concat()),
            FaultKind::ShortFrames
        );
        assert_eq!(kind(&[]), FaultKind::ShortFrames);
        assert_eq!(kind(&[0; 99]), FaultKind::ShortFrames);
        assert_eq!(kind(&[7, 8, 0xff, 0xd9]), FaultKind::DamagedFrames);
        assert_eq!(fault(jpeg, 64).kind, FaultKind::WrongSize);
        for (size, expected) in [
            ([0xea, 0x60, 0xea, 0x60], FaultKind::DamagedFrames),
            ([0, 41, 0, 52], FaultKind::ShortFrames),
            ([0, 8, 0, 52], FaultKind::DamagedFrames),
        ] {
            let changed = samples::changed(jpeg, 0xc0, 1, &size);
            assert_eq!(kind(&changed), expected, "{size:?}");
        }
        let dense = samples::changed(jpeg, 0xc0, 10, &[0x41]);
        let detail = fault(&dense, samples::SIZE_PX.0).detail;
        assert_message(&detail, &["more densely", "?format="]);
    }

    #[test]
    fn formats_are_found_by_name() {
        for format in PixelFormat::all() {
            assert_eq!(PixelFormat::from_name(&format.name()), Some(format));
            assert_eq!(PixelFormat::from_code(format.code()), Some(format));
        }
        assert_eq!(PixelFormat::from_name("y16"), Some(PixelFormat::Y16));
        assert_eq!(PixelFormat::from_name("mjpeg"), Some(PixelFormat::Mjpeg));
        assert_eq!(PixelFormat::from_name("H264"), None);
    }
}
