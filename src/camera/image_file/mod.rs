//! Decodes one image file of a frame folder: PNG, JPEG or TIFF, 8 or 16 bits.
//!
//! Input: the path of the file. Output: the image, rotated upright according to its orientation tag, or an error that names the
//! file, the problem and the remedy. The size of the image is checked before memory is allocated for it. An incomplete image is
//! an error. The crate `image` decodes, and rejects what it does not know. This module also rejects the images that the crate
//! would decode wrongly without an error: transparent pixels, TIFF files with several images or reversed bits, damaged JPEG.

use std::io::{Cursor, Read as _};
use std::path::Path;

use image::codecs::{jpeg::JpegDecoder, png::PngDecoder, tiff::TiffDecoder};
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, Limits};
use tiff::decoder::Decoder as TiffTags;
use tiff::tags::Tag;

use super::CameraError;
use super::frame::check_size;
use super::jpeg::{JpegError, complete_jpeg};
use crate::files::open_file;

/// Largest memory that an image decoder may allocate, in bytes. Limits what a damaged file can claim.
const MAX_DECODER_BYTES: u64 = 512 << 20;
/// Largest image file that is read, in bytes. An uncompressed image of the largest accepted size is smaller.
const MAX_FILE_BYTES: u64 = 512 << 20;
/// Remedy for an image that Shoal cannot read: the way to convert it.
const CONVERT: &str = "Convert all images of the folder, for example with ImageMagick: \
                       magick mogrify -format png -depth 8 -colorspace gray -alpha off *";

/// Remedy for a file with several images.
const SPLIT: &str =
    "Save each image as a file of its own, for example with ImageMagick: magick IN frame-%04d.png";

/// Reads the image in a file. `frame` is its number in the folder, for errors.
pub(super) fn decode_image(path: &Path, frame: u64) -> Result<DynamicImage, CameraError> {
    let file = ImageFile { path, frame };
    let bytes = file.read()?;
    let format = image::guess_format(&bytes).map_err(|_| {
        file.unsupported(
            "the file contains no PNG, JPEG or TIFF image",
            "Remove the file",
        )
    })?;
    let limits = || {
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(MAX_DECODER_BYTES);
        limits
    };
    let damaged = |cause| file.damaged(cause);
    let image = match format {
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(Cursor::new(&bytes), limits());
            file.decode(decoder.map_err(damaged)?, limits())?
        }
        ImageFormat::Jpeg => {
            let mut whole = Vec::with_capacity(bytes.len());
            complete_jpeg(&bytes, &mut whole).map_err(|error| file.jpeg_error(&error))?;
            let decoder = JpegDecoder::new(Cursor::new(&whole)).map_err(damaged)?;
            file.decode(decoder, limits())?
        }
        ImageFormat::Tiff => {
            file.check_tiff(&bytes)?;
            let decoder = TiffDecoder::new(Cursor::new(&bytes)).map_err(damaged)?;
            file.decode(decoder, limits())?
        }
        other => {
            let problem = format!("the file contains a {other:?} image, which Shoal does not read");
            return Err(file.unsupported(&problem, CONVERT));
        }
    };
    if has_transparent_pixels(&image) {
        return Err(file.unsupported(
            "the image has transparent pixels, which have no gray level",
            "Remove the transparency, for example with ImageMagick: magick mogrify -background black -alpha remove -alpha off *",
        ));
    }
    Ok(image)
}

/// The path and number of a file, for error messages.
#[derive(Clone, Copy)]
struct ImageFile<'a> {
    path: &'a Path,
    frame: u64,
}

impl ImageFile<'_> {
    fn read(self) -> Result<Vec<u8>, CameraError> {
        let read_error = |cause| CameraError::Read {
            path: self.path.to_owned(),
            frames: self.frame,
            cause,
        };
        let mut bytes = Vec::new();
        let file = open_file(self.path).map_err(read_error)?;
        let mut file = file.take(MAX_FILE_BYTES + 1);
        file.read_to_end(&mut bytes).map_err(read_error)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let problem = format!("the file is larger than {} MiB", MAX_FILE_BYTES >> 20);
            return Err(self.unsupported(&problem, CONVERT));
        }
        Ok(bytes)
    }

    /// Checks the size of the image, decodes it, and rotates it upright.
    fn decode(
        self,
        mut decoder: impl ImageDecoder,
        limits: Limits,
    ) -> Result<DynamicImage, CameraError> {
        let (width, height) = decoder.dimensions();
        self.check_size(width, height)?;
        let damaged = |cause| self.damaged(cause);
        if matches!(decoder.color_type(), ColorType::Rgb32F | ColorType::Rgba32F) {
            return Err(self.unsupported("its samples are floating-point numbers", CONVERT));
        }
        decoder.set_limits(limits).map_err(damaged)?;
        let orientation = decoder.orientation().map_err(damaged)?;
        let mut image = DynamicImage::from_decoder(decoder).map_err(damaged)?;
        image.apply_orientation(orientation);
        Ok(image)
    }

    fn check_size(self, width_px: u32, height_px: u32) -> Result<(), CameraError> {
        let name = self.path.to_string_lossy();
        check_size(&name, u64::from(width_px), u64::from(height_px))
    }

    /// Rejects the kinds of TIFF that the crate `image` decodes wrongly: of several images it returns the first, and it ignores
    /// the order of the bits. **Source**: TIFF 6.0, FillOrder.
    fn check_tiff(self, bytes: &[u8]) -> Result<(), CameraError> {
        let damaged = |cause: tiff::TiffError| CameraError::DamagedImage {
            path: self.path.to_owned(),
            frame: self.frame,
            problem: cause.to_string(),
        };
        let mut tags = TiffTags::new(Cursor::new(bytes)).map_err(damaged)?;
        if tags.more_images() {
            return Err(self.unsupported("this TIFF contains several images", SPLIT));
        }
        let order = tags.find_tag_unsigned::<u16>(Tag::FillOrder);
        if order.map_err(damaged)?.is_some_and(|order| order != 1) {
            return Err(self.unsupported(
                "this TIFF has the bits of each byte in reverse order (FillOrder 2), which Shoal does not read",
                CONVERT,
            ));
        }
        Ok(())
    }

    fn jpeg_error(self, error: &JpegError) -> CameraError {
        match error {
            JpegError::Unsupported(_) => self.unsupported(&error.to_string(), CONVERT),
            JpegError::TooLarge {
                width_px,
                height_px,
            } => CameraError::Size {
                source_name: self.path.to_string_lossy().into_owned(),
                width_px: u64::from(*width_px),
                height_px: u64::from(*height_px),
            },
            JpegError::Incomplete(_) | JpegError::Damaged(_) => CameraError::DamagedImage {
                path: self.path.to_owned(),
                frame: self.frame,
                problem: error.to_string(),
            },
        }
    }

    /// Converts a failure of the decoder to an error.
    fn damaged(self, cause: ImageError) -> CameraError {
        match cause {
            ImageError::Unsupported(what) => self.unsupported(&what.to_string(), CONVERT),
            cause => CameraError::DamagedImage {
                path: self.path.to_owned(),
                frame: self.frame,
                problem: cause.to_string(),
            },
        }
    }

    fn unsupported(self, problem: &str, remedy: &'static str) -> CameraError {
        CameraError::UnsupportedImage {
            path: self.path.to_owned(),
            frame: self.frame,
            problem: problem.to_owned(),
            remedy,
        }
    }
}

/// Whether any pixel is not fully opaque.
fn has_transparent_pixels(image: &DynamicImage) -> bool {
    image.color().has_alpha() && image.to_rgba16().pixels().any(|p| p.0[3] < u16::MAX)
}

#[cfg(test)]
mod tests;
