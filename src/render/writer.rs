//! Writes finished pictures: numbered PNG files in a folder, one PNG file with the last picture, or one y4m video.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};

use super::error::RenderError;
use crate::files::{OutputKind, check_output, create_stream, output_target};

/// The file format of written pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureFormat {
    /// Numbered PNG files in a folder, from `00000.png`.
    Folder,
    /// One PNG file with the last picture.
    Png,
    /// One y4m file with the color space C420jpeg.
    Y4m,
}

impl PictureFormat {
    /// Returns the format for a path: by its extension, `y4m` or `png`, otherwise a folder of PNG files.
    pub(super) fn of(path: &Path) -> Self {
        let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match extension.as_deref().and_then(|e| e.to_str()) {
            Some("y4m") => Self::Y4m,
            Some("png") if !path.is_dir() => Self::Png,
            _ => Self::Folder,
        }
    }
}

/// Endings of pictures and films that are not written. A folder with such a name would be a surprise.
const OTHER_ENDINGS: [&str; 14] = [
    "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff", "avif", "mp4", "mkv", "avi", "mov", "webm",
    "pdf",
];

/// Returns the error of a path that names a picture or a film of another format.
fn other_format(path: &Path) -> Option<std::io::Error> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_other = OTHER_ENDINGS.contains(&ending.as_str()) && !path.is_dir();
    is_other.then(|| {
        std::io::Error::other(format!(
            ".{ending} files are not written; use FILE.png for a picture, FILE.y4m for a film, or a folder, and convert it with another \
             program such as ffmpeg"
        ))
    })
}

/// Writes pictures of one size.
#[derive(Debug)]
pub struct PictureWriter {
    path: PathBuf,
    size_px: [u32; 2],
    count: u64,
    video: Option<BufWriter<File>>,
    /// Color planes of the picture that is being written; the buffer is reused.
    planes: Vec<u8>,
    /// Red, green and blue bytes of the picture that is being written, without alpha; the buffer is reused.
    rgb: Vec<u8>,
}

impl PictureWriter {
    /// Checks whether [`Self::create`] can write to a path, before the work begins. Creates nothing.
    ///
    /// # Errors
    /// [`RenderError::Write`] if there is something else than a folder or a video at the path.
    pub fn check(path: &Path) -> Result<(), RenderError> {
        let kind = match PictureFormat::of(path) {
            PictureFormat::Folder => OutputKind::Folder,
            PictureFormat::Png | PictureFormat::Y4m => OutputKind::Stream,
        };
        if let Some(source) = other_format(path) {
            return Err(RenderError::Write {
                path: path.to_owned(),
                source,
            });
        }
        check_output(path, kind).map_err(|source| RenderError::Write {
            path: path.to_owned(),
            source,
        })
    }

    /// Creates the folder or file.
    ///
    /// # Errors
    /// [`RenderError::Write`] if the folder or file cannot be created.
    pub fn create(path: &Path, size_px: [u32; 2], fps: f64) -> Result<Self, RenderError> {
        let failed = |source| RenderError::Write {
            path: path.to_owned(),
            source,
        };
        let video = match PictureFormat::of(path) {
            PictureFormat::Png => None,
            PictureFormat::Folder => {
                std::fs::create_dir_all(path).map_err(failed)?;
                None
            }
            PictureFormat::Y4m => {
                let mut file = BufWriter::new(create_stream(path).map_err(failed)?);
                let [width, height] = size_px;
                let rate = (fps * 1000.0).round() as u64;
                writeln!(
                    file,
                    "YUV4MPEG2 W{width} H{height} F{rate}:1000 Ip A1:1 C420jpeg XCOLORRANGE=FULL"
                )
                .map_err(failed)?;
                Some(file)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            size_px,
            count: 0,
            video,
            planes: Vec::new(),
            rgb: Vec::new(),
        })
    }

    /// Number of pictures written so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Writes one picture: rows from the top, 4 bytes per pixel, sRGB.
    ///
    /// # Errors
    /// [`RenderError::Write`] or [`RenderError::Png`] with the path of the file.
    pub fn write(&mut self, rgba: &[u8]) -> Result<(), RenderError> {
        match &mut self.video {
            Some(file) => {
                yuv420_from_rgba(rgba, self.size_px, &mut self.planes);
                let written = file
                    .write_all(b"FRAME\n")
                    .and_then(|()| file.write_all(&self.planes));
                written.map_err(|source| RenderError::Write {
                    path: self.path.clone(),
                    source,
                })?;
            }
            None => {
                let path = match PictureFormat::of(&self.path) {
                    PictureFormat::Png => self.path.clone(),
                    _ => self.path.join(format!("{:05}.png", self.count)),
                };
                self.rgb.clear();
                self.rgb
                    .extend(rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]));
                write_png(&path, &self.rgb, self.size_px)?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Writes all buffered data. Returns the number of written pictures.
    ///
    /// # Errors
    /// [`RenderError::Write`] if the data cannot be written, for example because the disk is full.
    pub fn finish(mut self) -> Result<u64, RenderError> {
        if let Some(file) = &mut self.video {
            file.flush().map_err(|source| RenderError::Write {
                path: self.path.clone(),
                source,
            })?;
        }
        Ok(self.count)
    }
}

fn write_png(path: &Path, rgb: &[u8], [width, height]: [u32; 2]) -> Result<(), RenderError> {
    let failed = |source| RenderError::Write {
        path: path.to_owned(),
        source,
    };
    let target = output_target(path).map_err(failed)?;
    let mut file = BufWriter::new(File::create(target).map_err(failed)?);
    PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive)
        .write_image(rgb, width, height, ExtendedColorType::Rgb8)
        .map_err(|source| RenderError::Png {
            path: path.to_owned(),
            source,
        })?;
    file.flush().map_err(failed)
}

/// Converts a picture to a luma plane followed by two chroma planes of half size (each chroma value is the mean of up to four
/// pixels), full range.
///
/// **Source**: ITU-R BT.601-7 §2.5.1 coefficients; full range and chroma siting as in JFIF 1.02 (C420jpeg).
pub(super) fn yuv420_from_rgba(rgba: &[u8], [width, height]: [u32; 2], planes: &mut Vec<u8>) {
    planes.clear();
    let byte = |value: f32| (value + 0.5).clamp(0.0, 255.0) as u8;
    let pixels = rgba
        .chunks_exact(4)
        .map(|p| [f32::from(p[0]), f32::from(p[1]), f32::from(p[2])]);
    planes.extend(pixels.map(|[r, g, b]| byte(0.299 * r + 0.587 * g + 0.114 * b)));
    let (width, height) = (width as usize, height as usize);
    for [for_r, for_g, for_b] in [[-0.168_736, -0.331_264, 0.5], [0.5, -0.418_688, -0.081_312]] {
        for y in (0..height).step_by(2) {
            for x in (0..width).step_by(2) {
                let mut sum = [0.0f32; 3];
                let mut count = 0.0;
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let at = ((y + dy) * width + x + dx) * 4;
                    if let (true, true, Some(p)) =
                        (x + dx < width, y + dy < height, rgba.get(at..at + 3))
                    {
                        for (sum, &value) in sum.iter_mut().zip(p) {
                            *sum += f32::from(value);
                        }
                        count += 1.0;
                    }
                }
                let [r, g, b] = sum.map(|s| s / f32::max(count, 1.0));
                planes.push(byte(128.0 + for_r * r + for_g * g + for_b * b));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_color(color: [u8; 3], size: [u32; 2]) -> Vec<u8> {
        let mut planes = Vec::new();
        let rgba: Vec<u8> = (0..size[0] * size[1])
            .flat_map(|_| [color[0], color[1], color[2], 255])
            .collect();
        yuv420_from_rgba(&rgba, size, &mut planes);
        planes
    }

    #[test]
    fn colors_are_converted_with_full_range_bt601() {
        assert_eq!(
            one_color([255, 255, 255], [2, 2]),
            [255, 255, 255, 255, 128, 128]
        );
        assert_eq!(one_color([0, 0, 0], [2, 2]), [0, 0, 0, 0, 128, 128]);
        // Known full-range BT.601 values of pure red and blue.
        assert_eq!(one_color([255, 0, 0], [2, 2])[3..], [76, 85, 255]);
        assert_eq!(one_color([0, 0, 255], [2, 2])[3..], [29, 255, 107]);
    }

    #[test]
    fn odd_sizes_include_their_last_row_and_column() {
        assert_eq!(one_color([10, 200, 30], [3, 5]).len(), 15 + 2 * 2 * 3);
    }

    #[test]
    fn pictures_are_written_to_the_given_path() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = folder.path().join("a/b");
        let mut writer = PictureWriter::create(&pictures, [2, 2], 30.0).unwrap();
        writer.write(&[9; 16]).unwrap();
        writer.write(&[7; 16]).unwrap();
        assert_eq!(writer.finish().unwrap(), 2);
        let second = image::open(pictures.join("00001.png")).unwrap().into_rgb8();
        assert_eq!(second.as_raw(), &[7; 12]);
        let video = folder.path().join("v.y4m");
        let mut writer = PictureWriter::create(&video, [2, 2], 25.0).unwrap();
        writer.write(&[9; 16]).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&video).unwrap();
        assert!(bytes.starts_with(b"YUV4MPEG2 W2 H2 F25000:1000 Ip A1:1 C420jpeg"));
        assert!(bytes.ends_with(b"FRAME\n\x09\x09\x09\x09\x80\x80"));
        let error = PictureWriter::create(&video.join("x"), [2, 2], 25.0)
            .unwrap_err()
            .to_string();
        assert!(error.contains("v.y4m"), "{error}");
    }
}
