//! A folder of image files as a source, in natural order of their names (2 before 10).
//!
//! Hidden, temporary and backup files of editors, systems and sync tools are ignored ([`crate::files::is_leftover_name`]). Empty files are ignored too, because
//! another program may be about to write them. [`super::image_file`] decodes the files.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use image::DynamicImage;

use super::CameraError;
use super::frame::{Frame, Luma};
use super::image_file::decode_image;
use crate::files::{is_conflict_copy, is_leftover_name};

/// File name extensions of the images that are read; other files are ignored.
const EXTENSIONS: [&str; 5] = ["png", "jpg", "jpeg", "tif", "tiff"];

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
        let (mut empty_files, mut conflict_copies) = (0, 0);
        for entry in std::fs::read_dir(path).map_err(read)? {
            let entry = entry.map_err(read)?;
            let file = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // `metadata` follows symbolic links. A link without a target is ignored.
            match std::fs::metadata(&file) {
                Ok(data) if data.is_file() && is_frame_name(&name) => {
                    if is_conflict_copy(&name) {
                        conflict_copies += 1;
                    } else if data.len() == 0 {
                        empty_files += 1;
                    } else {
                        images.push(file);
                    }
                }
                _ => {}
            }
        }
        if empty_files > 0 {
            tracing::warn!(folder = %path.display(), count = empty_files, "empty image files are ignored");
        }
        if conflict_copies > 0 {
            tracing::warn!(
                folder = %path.display(),
                count = conflict_copies,
                "images that a sync program made after a conflict are ignored; remove them"
            );
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

    /// Reads the next image into `frame`. Returns false after the last one.
    pub(super) fn read(&mut self, frame: &mut Frame) -> Result<bool, CameraError> {
        let Some(path) = self.images.get(self.next) else {
            return Ok(false);
        };
        let number = self.next as u64;
        // After an error the next call reads the next image.
        self.next += 1;
        let image = decode_image(path, number)?;
        let (width, height) = (image.width(), image.height());
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
        Ok(true)
    }
}

/// Whether a file with this name is a frame. The name must have the extension of an image. It must not be the name of a hidden,
/// lock, temporary or backup file.
fn is_frame_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_image = lower
        .rsplit_once('.')
        .is_some_and(|(_, extension)| EXTENSIONS.contains(&extension));
    is_image && !is_leftover_name(name)
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

/// Splits a text after its first run of digits, or after its first run of other characters.
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
    fn hidden_temporary_and_backup_files_are_no_frames() {
        for name in [
            "1.png",
            "a b.JPG",
            "x.y.jpeg",
            "frame~1.tif",
            "tmp.tiff",
            "bild-ä.png",
        ] {
            assert!(is_frame_name(name), "{name}");
        }
        for name in [
            ".x.png",
            "._x.png",
            "x.png~",
            "#x.png#",
            ".#x.png",
            "~$x.png",
            "x.png.tmp",
            "x.png.part",
            "Thumbs.db",
            ".DS_Store",
            "desktop.ini",
            "x.png.bak",
            ".x.png.Ab3dEf",
            "~syncthing~x.png",
            "png",
            ".png",
            "x",
            "x.png.crdownload",
            "x.png.swp",
            "",
        ] {
            assert!(!is_frame_name(name), "{name}");
        }
    }

    #[test]
    fn empty_files_and_broken_links_are_no_frames() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("1.png"), b"").unwrap();
        let open = || ImageFolder::open(folder.path());
        assert!(matches!(open(), Err(CameraError::NoImages { .. })));
        let image = image::GrayImage::from_pixel(2, 2, image::Luma([7]));
        image.save(at("2.png")).unwrap();
        std::fs::write(at("._2.png"), b"\0\x05\x16\x07").unwrap();
        for copy in [
            "2.sync-conflict-1-A.png",
            "2 (Anna's conflicted copy 2026-01-02).png",
            "2_conflict-20260102-101112.png",
        ] {
            image.save(at(copy)).unwrap();
        }
        std::fs::create_dir(at("3.png")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", at("4.png")).unwrap();
        let mut opened = open().unwrap();
        let mut frame = Frame::default();
        assert!(opened.read(&mut frame).unwrap());
        assert_eq!(frame.luma, Luma::U8(vec![7; 4]));
        assert!(!opened.read(&mut frame).unwrap());
    }

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
