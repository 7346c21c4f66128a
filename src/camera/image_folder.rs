//! A folder of image files as a source: PNG, JPEG or TIFF, 8 or 16 bits, in natural order of their names (2 before 10).

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageReader, Limits};

use super::CameraError;
use super::frame::{Frame, Luma, check_size};
use super::limits::MAX_SIDE_PX;

/// File name extensions of the images that are read; other files are ignored.
const EXTENSIONS: [&str; 5] = ["png", "jpg", "jpeg", "tif", "tiff"];
/// Largest memory that an image decoder may allocate, in bytes. A damaged file cannot claim more.
const MAX_DECODER_BYTES: u64 = 512 << 20;

/// An open image folder.
pub(super) struct ImageFolder {
    images: Vec<PathBuf>,
    next: usize,
    size_px: Option<(u32, u32)>,
}

impl ImageFolder {
    /// Opens a folder and lists its images.
    pub(super) fn open(path: &Path) -> Result<Self, CameraError> {
        let read = |cause| CameraError::Read {
            path: path.to_owned(),
            frames: 0,
            cause,
        };
        let mut images = Vec::new();
        for entry in std::fs::read_dir(path).map_err(read)? {
            let file = entry.map_err(read)?.path();
            let extension = file
                .extension()
                .map(|e| e.to_string_lossy().to_ascii_lowercase());
            if extension.is_some_and(|e| EXTENSIONS.contains(&e.as_str())) && file.is_file() {
                images.push(file);
            }
        }
        if images.is_empty() {
            return Err(CameraError::NoImages {
                path: path.to_owned(),
            });
        }
        images.sort_by(|a, b| natural_order(&a.to_string_lossy(), &b.to_string_lossy()));
        Ok(Self {
            images,
            next: 0,
            size_px: None,
        })
    }

    /// Reads the next image into `frame`; false after the last one.
    pub(super) fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        let Some(path) = self.images.get(self.next) else {
            return Ok(false);
        };
        let number = self.next as u64;
        let image = decode(path, number)?;
        let (width, height) = (image.width(), image.height());
        check_size(&path.to_string_lossy(), u64::from(width), u64::from(height))?;
        let (expected_width_px, expected_height_px) = *self.size_px.get_or_insert((width, height));
        if (width, height) != (expected_width_px, expected_height_px) {
            return Err(CameraError::SizeChanged {
                source_name: path.to_string_lossy().into_owned(),
                frame: number,
                width_px: width,
                height_px: height,
                expected_width_px,
                expected_height_px,
                why: "the size of the first image in the folder",
            });
        }
        let pixels = width as usize * height as usize;
        let channels = u16::from(image.color().channel_count());
        let deep = image.color().bits_per_pixel() / channels > 8;
        if deep {
            let mut levels = frame.luma.take_u16(pixels);
            match &image {
                DynamicImage::ImageLuma16(gray) => levels.copy_from_slice(gray.as_raw()),
                color => levels.copy_from_slice(color.to_luma16().as_raw()),
            }
            frame.luma = Luma::U16 { bits: 16, levels };
        } else {
            let mut levels = frame.luma.take_u8(pixels);
            match &image {
                DynamicImage::ImageLuma8(gray) => levels.copy_from_slice(gray.as_raw()),
                color => levels.copy_from_slice(color.to_luma8().as_raw()),
            }
            frame.luma = Luma::U8(levels);
        }
        frame.width_px = width;
        frame.height_px = height;
        self.next += 1;
        Ok(true)
    }
}

fn decode(path: &Path, frame: u64) -> Result<DynamicImage, CameraError> {
    let mut reader = ImageReader::open(path)
        .and_then(ImageReader::with_guessed_format)
        .map_err(|cause| CameraError::Read {
            path: path.to_owned(),
            frames: frame,
            cause,
        })?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE_PX);
    limits.max_image_height = Some(MAX_SIDE_PX);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    reader.decode().map_err(|cause| CameraError::Image {
        path: path.to_owned(),
        frame,
        cause: Box::new(cause),
    })
}

/// Compares two names. Runs of digits are compared as numbers; names with equal numbers are compared as plain text.
fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a, b);
    while !x.is_empty() && !y.is_empty() {
        let (x_part, x_rest) = split_run(x);
        let (y_part, y_rest) = split_run(y);
        let digits = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
        let order = if digits(x_part) && digits(y_part) {
            let (m, n) = (
                x_part.trim_start_matches('0'),
                y_part.trim_start_matches('0'),
            );
            m.len().cmp(&n.len()).then_with(|| m.cmp(n))
        } else {
            x_part.cmp(y_part)
        };
        if order != Ordering::Equal {
            return order;
        }
        (x, y) = (x_rest, y_rest);
    }
    x.len().cmp(&y.len()).then_with(|| a.cmp(b))
}

/// Splits a text after its leading run of digits, or of other characters.
fn split_run(text: &str) -> (&str, &str) {
    let first = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text
        .find(|c: char| c.is_ascii_digit() != first)
        .unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_names_are_compared_as_numbers() {
        let mut names = ["f10.png", "f2.png", "f02.png", "f1.png", "g1.png", "f.png"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(
            names,
            ["f1.png", "f02.png", "f2.png", "f10.png", "f.png", "g1.png"]
        );
    }
}
