//! Decodes one image file of a frame folder: PNG, JPEG or TIFF, 8 or 16 bits.
//!
//! Input: the path of the file. Output: the image, rotated upright according to its orientation tag, or an error that names the
//! file, the problem and the remedy. The size of the image is checked before memory is allocated for it. An incomplete image is
//! an error. The module reads gray levels, colors, palettes, 1-bit images and CMYK. It rejects images with transparent pixels,
//! and images whose samples are not unsigned integers of at most 16 bits.

use std::io::{Cursor, Read as _};
use std::path::Path;

use image::codecs::{jpeg::JpegDecoder, png::PngDecoder, tiff::TiffDecoder};
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, Limits};
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
/// Largest number of bytes before the start marker of a JPEG file.
const MAX_JPEG_OFFSET_BYTES: usize = 1024;
/// Remedy for an image that Shoal cannot read: the way to convert it.
const CONVERT: &str = "Convert all images of the folder, for example with ImageMagick: \
                       magick mogrify -format png -depth 8 -colorspace gray -alpha off *";

/// Reads the image in a file. `frame` is its number in the folder, for errors.
pub(super) fn decode_image(path: &Path, frame: u64) -> Result<DynamicImage, CameraError> {
    let file = ImageFile { path, frame };
    let bytes = file.read()?;
    let format = format_of(&bytes).ok_or_else(|| {
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
            let decoder =
                PngDecoder::with_limits(Cursor::new(&bytes), limits()).map_err(damaged)?;
            if decoder.is_apng().map_err(damaged)? {
                return Err(file.unsupported("this PNG is an animation of several images", SPLIT));
            }
            file.decode(decoder, limits())?
        }
        ImageFormat::Jpeg => {
            let mut whole = Vec::with_capacity(bytes.len());
            let info =
                complete_jpeg(&bytes, &mut whole).map_err(|error| file.jpeg_error(&error))?;
            if let Some(problem) = info.image_problem {
                return Err(file.jpeg_error(&JpegError::Unsupported(problem.to_owned())));
            }
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

/// Returns the format of an image by its first bytes.
fn format_of(bytes: &[u8]) -> Option<ImageFormat> {
    // A BigTIFF has the number 43 instead of 42.
    if bytes.starts_with(b"II\x2b\0") || bytes.starts_with(b"MM\0\x2b") {
        return Some(ImageFormat::Tiff);
    }
    if let Ok(format) = image::guess_format(bytes) {
        return Some(format);
    }
    // Some cameras write a header of their own before the JPEG.
    let first = &bytes[..bytes.len().min(MAX_JPEG_OFFSET_BYTES)];
    let is_jpeg = first.windows(3).any(|w| w == [0xff, 0xd8, 0xff]);
    is_jpeg.then_some(ImageFormat::Jpeg)
}

/// Remedy for a file with several images.
const SPLIT: &str =
    "Save each image as a file of its own, for example with ImageMagick: magick IN frame-%04d.png";

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

    /// Rejects a TIFF whose pixels are not gray levels or colors of 8 or 16 bits. The error names the kind of TIFF.
    fn check_tiff(self, bytes: &[u8]) -> Result<(), CameraError> {
        let damaged = |cause: tiff::TiffError| CameraError::DamagedImage {
            path: self.path.to_owned(),
            frame: self.frame,
            problem: cause.to_string(),
        };
        let mut tags = TiffTags::new(Cursor::new(bytes)).map_err(damaged)?;
        let (width, height) = tags.dimensions().map_err(damaged)?;
        self.check_size(width, height)?;
        let mut number = |tag, otherwise: u16| {
            let values = tags.find_tag_unsigned_vec::<u16>(tag).map_err(damaged)?;
            Ok(values.and_then(|v| v.first().copied()).unwrap_or(otherwise))
        };
        let bits = number(Tag::BitsPerSample, 1)?;
        let samples = number(Tag::SamplesPerPixel, 1)?;
        let color = match number(Tag::PhotometricInterpretation, 1)? {
            0 | 1 => "gray",
            2 => "RGB",
            3 => "palette",
            4 => "mask",
            5 => "CMYK",
            6 => "YCbCr",
            8..=10 => "Lab",
            32803 => "color filter array",
            _ => "unknown",
        };
        let kind = match number(Tag::SampleFormat, 1)? {
            1 | 4 => "",
            2 => "signed ",
            3 => "floating-point ",
            5 | 6 => "complex ",
            _ => "unknown ",
        };
        let is_read = kind.is_empty()
            && match color {
                "gray" => matches!(bits, 1 | 8 | 16) && samples == 1,
                "RGB" | "CMYK" => matches!(bits, 8 | 16),
                _ => false,
            };
        if !is_read {
            let more = if color == "gray" && samples > 1 {
                format!(" with {samples} channels")
            } else {
                String::new()
            };
            let problem = format!(
                "this TIFF has {bits}-bit {kind}{color} pixels{more}, which Shoal does not read"
            );
            return Err(self.unsupported(&problem, CONVERT));
        }
        // The decoder does not reverse the bits. **Source**: TIFF 6.0, FillOrder.
        if number(Tag::FillOrder, 1)? != 1 {
            return Err(self.unsupported(
                "this TIFF has the bits of each byte in reverse order (FillOrder 2), which Shoal does not read",
                CONVERT,
            ));
        }
        while tags.more_images() {
            tags.next_image().map_err(damaged)?;
            // Bit 0 means that this image is a small preview of another image. **Source**: TIFF 6.0, NewSubfileType.
            let subfile = tags
                .find_tag_unsigned::<u32>(Tag::NewSubfileType)
                .map_err(damaged)?;
            if subfile.unwrap_or(0) & 1 == 0 {
                return Err(self.unsupported("this TIFF contains several images", SPLIT));
            }
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
    match image {
        DynamicImage::ImageLumaA8(image) => image.pixels().any(|p| p.0[1] < u8::MAX),
        DynamicImage::ImageRgba8(image) => image.pixels().any(|p| p.0[3] < u8::MAX),
        DynamicImage::ImageLumaA16(image) => image.pixels().any(|p| p.0[1] < u16::MAX),
        DynamicImage::ImageRgba16(image) => image.pixels().any(|p| p.0[3] < u16::MAX),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
