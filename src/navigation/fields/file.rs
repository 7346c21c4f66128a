//! Flow fields from files: images and lists of vectors.
//!
//! In: bytes of a file. Out: a vector grid, or an error. Must not: trust a size that the file states.
//!
//! Encoding of images: the red channel is the x component of a vector, the green channel is the z component. The value
//! 128 stands for 0.

use std::io::Cursor;
use std::path::Path;

use glam::{UVec3, Vec3};
use image::ImageFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::grid::{VECTORS_MAX, VectorGrid, vector_count};
use crate::config::{self, Problems};
use crate::files::read_file;

/// Largest file size that is read, in bytes.
const BYTES_MAX: u64 = 64 << 20;
/// Largest width and height of an image, in pixels.
const SIDE_MAX: u32 = 1024;

/// Reason why a file cannot be used as a flow field.
#[derive(Debug, Error)]
pub enum FieldFileError {
    /// The file cannot be read.
    #[error("{file}: {reason}; put the file beside the site file or correct the path")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Description of the problem.
        reason: String,
    },
    /// The file name ends neither in .png nor in .toml.
    #[error("{file}: unknown kind of flow field; save it as .png or .toml")]
    UnknownKind {
        /// Path of the file.
        file: String,
    },
    /// The image is damaged or too large.
    #[error("{file}: {reason}; draw the field as a PNG of at most {SIDE_MAX} x {SIDE_MAX} pixels")]
    BrokenPicture {
        /// Path of the file.
        file: String,
        /// Description of the damage.
        reason: String,
    },
    /// The numbers do not describe a grid.
    #[error("{file}: {reason}")]
    BrokenGrid {
        /// Path of the file.
        file: String,
        /// Description of the inconsistency and of valid numbers.
        reason: String,
    },
    /// The TOML text does not match `FieldFile`.
    #[error("{}", .0.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Toml(Problems),
}

/// A flow field as TOML: the size of the grid and its vectors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FieldFile {
    /// Number of vectors along each axis: `[nx, nz]` for a plane field, `[nx, ny, nz]` for a field with layers.
    pub dims: Vec<u32>,
    /// All vectors: `[x, z]` each in a plane field, `[x, y, z]` each in a field with layers. Ordered by x first, then
    /// z, then y, lowest layer first. Length 1 is the full strength of the field.
    pub vectors: Vec<Vec<f32>>,
}

/// Reads a flow field from a file.
///
/// # Errors
/// If the file cannot be read, is too large, or is not a flow field.
pub fn read_field_file(path: &Path) -> Result<VectorGrid, FieldFileError> {
    let file = path.display().to_string();
    let unreadable = |error: &dyn std::fmt::Display| FieldFileError::Unreadable {
        file: file.clone(),
        reason: error.to_string(),
    };
    let bytes = read_file(path, BYTES_MAX, "a flow field").map_err(|e| unreadable(&e))?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "png" => from_png(&bytes, &file),
        "toml" => {
            let text = String::from_utf8(bytes)
                .map_err(|e| unreadable(&format!("is not UTF-8 text: {e}")))?;
            from_toml(&text, &file)
        }
        _ => Err(FieldFileError::UnknownKind { file }),
    }
}

/// Reads a plane field from a PNG image. Each pixel is one vector. The upper edge of the image is the edge of the field
/// with the smallest z.
///
/// # Errors
/// If the bytes are not a PNG image, or the image is too large.
fn from_png(bytes: &[u8], file: &str) -> Result<VectorGrid, FieldFileError> {
    let broken = |reason: String| FieldFileError::BrokenPicture {
        file: file.to_owned(),
        reason,
    };
    let mut reader = image::ImageReader::with_format(Cursor::new(bytes), ImageFormat::Png);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    limits.max_alloc = Some(64 << 20);
    reader.limits(limits);
    let picture = reader
        .decode()
        .map_err(|error| broken(error.to_string()))?
        .to_rgb8();
    let channel = |value: u8| ((f32::from(value) - 128.0) / 127.0).max(-1.0);
    let vectors = picture
        .pixels()
        .map(|pixel| Vec3::new(channel(pixel.0[0]), 0.0, channel(pixel.0[1])))
        .collect();
    let dims = UVec3::new(picture.width(), 1, picture.height());
    VectorGrid::new(dims, Vec3::ONE, vectors)
        .ok_or_else(|| broken("the image has fewer than 2 x 2 pixels".into()))
}

/// Reads a field from TOML text that lists its vectors.
///
/// # Errors
/// If the text does not match `FieldFile`, or its numbers are inconsistent.
fn from_toml(text: &str, file: &str) -> Result<VectorGrid, FieldFileError> {
    let (read, _) = config::parse::<FieldFile>(text, file).map_err(FieldFileError::Toml)?;
    let broken = |reason: String| FieldFileError::BrokenGrid {
        file: file.to_owned(),
        reason,
    };
    let dims = match *read.dims.as_slice() {
        [nx, nz] => UVec3::new(nx, 1, nz),
        [nx, ny, nz] => UVec3::new(nx, ny, nz),
        _ => {
            return Err(broken(format!(
                "dims has {} numbers; give [nx, nz] for a plane field or [nx, ny, nz] for a field with layers",
                read.dims.len()
            )));
        }
    };
    let Some(expected) = vector_count(dims) else {
        return Err(broken(format!(
            "dims = {:?} is out of range; give at least 2 along x and z, and at most {VECTORS_MAX} vectors in total",
            read.dims
        )));
    };
    if read.vectors.len() != expected {
        return Err(broken(format!(
            "there are {} vectors, but dims = {:?} requires {expected}; add or remove vectors",
            read.vectors.len(),
            read.dims
        )));
    }
    let mut vectors = Vec::with_capacity(read.vectors.len());
    for (index, vector) in read.vectors.iter().enumerate() {
        vectors.push(match (read.dims.len(), vector.as_slice()) {
            (2, &[x, z]) => Vec3::new(x, 0.0, z),
            (3, &[x, y, z]) => Vec3::new(x, y, z),
            (axes, other) => {
                return Err(broken(format!(
                    "vectors[{index}] has {} numbers, but the field has {axes} axes; give {axes} numbers",
                    other.len()
                )));
            }
        });
    }
    if let Some(index) = vectors
        .iter()
        .position(|v| !v.is_finite() || v.abs().max_element() > 1e6)
    {
        return Err(broken(format!(
            "vectors[{index}] is not finite or too large; give numbers up to 1000000"
        )));
    }
    VectorGrid::new(dims, Vec3::ONE, vectors)
        .ok_or_else(|| broken("the numbers describe no grid".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
        let picture = image::RgbImage::from_fn(width, height, |x, y| image::Rgb(pixel(x, y)));
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn red_is_x_and_green_is_z_in_an_image() {
        let bytes = png(2, 2, |x, y| match (x, y) {
            (0, 0) => [255, 128, 7],
            (1, 0) => [1, 128, 7],
            (0, 1) => [128, 255, 7],
            _ => [0, 0, 7],
        });
        let grid = from_png(&bytes, "a.png")
            .unwrap()
            .stretched(Vec3::new(2.0, 0.0, 4.0));
        let corner = |x: f32, z: f32| grid.vector_at(Vec3::new(x, 0.0, z));
        assert_eq!(corner(-1.0, -2.0), Vec3::X);
        assert_eq!(corner(1.0, -2.0), Vec3::NEG_X);
        assert_eq!(corner(-1.0, 2.0), Vec3::Z);
        assert_eq!(corner(1.0, 2.0), Vec3::new(-1.0, 0.0, -1.0));
    }

    #[test]
    fn a_list_describes_a_plane_field_or_a_field_with_layers() {
        let plane = "dims = [2, 2]\nvectors = [[1.0, 0.5], [0.0, -1.0], [0.0, 0.0], [2.0, 3.0]]";
        let plane = from_toml(plane, "a").unwrap();
        assert_eq!(plane.dims(), UVec3::new(2, 1, 2));
        assert_eq!(
            plane.vector_at(Vec3::new(0.5, 9.0, 0.5)),
            Vec3::new(2.0, 0.0, 3.0)
        );
        let (low, high) = ("[1.0, 0.5, 2.0],".repeat(4), "[0.0, -1.0, 0.0],".repeat(4));
        let layers = format!("dims = [2, 2, 2]\nvectors = [{low}{high}]");
        let layers = from_toml(&layers, "a").unwrap();
        assert_eq!(layers.vector_at(Vec3::new(0.0, 0.5, 0.0)), Vec3::NEG_Y);
        assert_eq!(
            layers.vector_at(Vec3::new(0.0, -0.5, 0.0)),
            Vec3::new(1.0, 0.5, 2.0)
        );
    }

    #[test]
    fn invalid_files_are_rejected_with_a_reason() {
        let toml = |text: &str| from_toml(text, "flow.toml").unwrap_err().to_string();
        for (text, reason) in [
            ("dims = [2]\nvectors = []", "dims has 1 numbers"),
            ("dims = [0, 2]\nvectors = []", "at least 2 along x"),
            (
                "dims = [4294967295, 4294967295, 9]\nvectors = []",
                "at most 1048576",
            ),
            ("dims = [2, 2]\nvectors = [[1.0, 1.0]]", "requires 4"),
            (
                "dims = [2, 2]\nvectors = [[1.0, 1.0, 1.0], [], [], []]",
                "vectors[0] has 3 numbers",
            ),
            (
                "dims = [2, 2]\nvectors = [[nan, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]",
                "vectors[0]",
            ),
            (
                "dims = [2, 2]\nvectors = [[1e30, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]",
                "vectors[0]",
            ),
            ("dims = 'many'", "dims"),
            ("size = 3", "size"),
            ("dims = [", "flow.toml"),
        ] {
            let message = toml(text);
            assert!(message.contains(reason), "{text}: {message}");
            assert!(message.contains("flow.toml"), "{message}");
        }
        let picture = |bytes: &[u8]| from_png(bytes, "flow.png").unwrap_err().to_string();
        let good = png(4, 4, |_, _| [1, 2, 3]);
        assert!(picture(&good[..good.len() / 2]).contains("flow.png"));
        assert!(picture(b"GIF89a").contains("PNG"));
        assert!(picture(&[]).contains("flow.png"));
        assert!(picture(&png(SIDE_MAX + 1, 1, |_, _| [0; 3])).contains("1024"));
    }

    #[test]
    fn unreadable_files_and_unknown_extensions_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let read_named = |name: &str| {
            read_field_file(&folder.path().join(name))
                .unwrap_err()
                .to_string()
        };
        assert!(read_named("lost.png").contains("cannot be opened"));
        std::fs::write(folder.path().join("flow.bmp"), "BM").unwrap();
        assert!(read_named("flow.bmp").contains(".png or .toml"));
        std::fs::create_dir(folder.path().join("folder.png")).unwrap();
        assert!(read_named("folder.png").contains("it is a folder"));
        std::fs::write(folder.path().join("flow.toml"), [0xff, 0xfe]).unwrap();
        assert!(read_named("flow.toml").contains("is not UTF-8 text"));
    }
}
