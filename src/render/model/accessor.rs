//! Reads glTF accessors as rows of floats. Every size is checked, and the total size of the decoded data is limited before
//! memory is allocated for it.

use std::cell::Cell;

use super::document::{Accessor, Document, Shape};
use super::error::ModelProblem;

/// Largest number of rows of an accessor.
const MAX_ROWS: usize = 262_144;
/// Largest total size of the data that is decoded from one file. A file of the largest size stays below this limit if its
/// numbers are all single bytes and are read once. A small file that refers to the same bytes a thousand times exceeds it.
const MAX_DECODED_BYTES: usize = 128 << 20;

/// A document with its binary data.
pub(super) struct Source<'a> {
    pub(super) document: &'a Document,
    bin: &'a [u8],
    /// Number of bytes decoded so far.
    decoded: Cell<usize>,
}

impl<'a> Source<'a> {
    /// Creates a source of which nothing is decoded yet.
    pub(super) fn new(document: &'a Document, bin: &'a [u8]) -> Self {
        Self {
            document,
            bin,
            decoded: Cell::new(0),
        }
    }

    /// Returns the accessor with an index.
    pub(super) fn accessor(&self, index: usize) -> Result<&'a Accessor, ModelProblem> {
        self.document.accessors.get(index).ok_or_else(|| {
            ModelProblem::Damaged(format!(
                "it refers to accessor {index}, which does not exist"
            ))
        })
    }

    /// Returns the rows of an accessor as floats. Integers are normalized if the file requires it.
    ///
    /// # Errors
    /// If the rows do not have `N` numbers, the accessor reaches beyond the end of the file, or too many bytes are decoded.
    pub(super) fn rows<const N: usize>(&self, index: usize) -> Result<Vec<[f32; N]>, ModelProblem> {
        self.read(index, None)
    }

    /// Returns some rows of an accessor, in the order of `wanted`. Several meshes can share one large accessor, so rows that are
    /// not wanted are not decoded. A row that does not exist consists of zeros.
    ///
    /// # Errors
    /// Those of [`Self::rows`].
    pub(super) fn rows_at<const N: usize>(
        &self,
        index: usize,
        wanted: &[usize],
    ) -> Result<Vec<[f32; N]>, ModelProblem> {
        self.read(index, Some(wanted))
    }

    /// Returns all rows of an accessor, or the wanted ones.
    fn read<const N: usize>(
        &self,
        index: usize,
        wanted: Option<&[usize]>,
    ) -> Result<Vec<[f32; N]>, ModelProblem> {
        let accessor = self.accessor(index)?;
        let damaged = |what: &str| ModelProblem::Damaged(format!("accessor {index}: {what}"));
        if accessor.sparse.is_some() {
            return Err(ModelProblem::Unsupported {
                feature: "sparse accessors".to_owned(),
                remedy: "apply its shape keys before exporting",
            });
        }
        let width = match accessor.shape {
            Shape::Scalar => 1,
            Shape::Vec2 => 2,
            Shape::Vec3 => 3,
            Shape::Vec4 | Shape::Mat2 => 4,
            Shape::Mat3 => 9,
            Shape::Mat4 => 16,
        };
        if width != N {
            return Err(damaged(&format!(
                "each of its elements has {width} components instead of {N}"
            )));
        }
        let kind = Kind::new(accessor.component_type).ok_or_else(|| {
            let number = accessor.component_type;
            damaged(&format!("its component type is {number}"))
        })?;
        let count = accessor.count;
        let read_count = wanted.map_or(count, <[usize]>::len);
        self.charge(read_count, size_of::<[f32; N]>())?;
        let number = |bytes: &[u8]| kind.number(accessor.normalized, bytes);
        let Some(view) = accessor.buffer_view else {
            // An accessor without data consists of zeros.
            return Ok(vec![[0.0; N]; read_count]);
        };
        let elements = self.elements(view, accessor.byte_offset, count, kind.size() * N)?;
        let row = |i| decoded(elements.get(i), kind, number);
        Ok(match wanted {
            Some(wanted) => wanted.iter().copied().map(row).collect(),
            None => (0..count).map(row).collect(),
        })
    }

    /// Adds `count` elements of `size` bytes to the total of decoded bytes before they are decoded. Fails if the total exceeds
    /// its limit.
    fn charge(&self, count: usize, size: usize) -> Result<(), ModelProblem> {
        if count > MAX_ROWS {
            return Err(ModelProblem::TooLarge {
                what: "rows in an accessor",
                count,
                most: MAX_ROWS,
            });
        }
        let decoded = self
            .decoded
            .get()
            .saturating_add(count.saturating_mul(size));
        if decoded > MAX_DECODED_BYTES {
            return Err(ModelProblem::TooLarge {
                what: "bytes of decoded numbers",
                count: decoded,
                most: MAX_DECODED_BYTES,
            });
        }
        self.decoded.set(decoded);
        Ok(())
    }

    /// Returns the elements of a buffer view, each of `size` bytes.
    fn elements(
        &self,
        view: usize,
        offset: usize,
        count: usize,
        size: usize,
    ) -> Result<Elements<'a>, ModelProblem> {
        let short = || {
            ModelProblem::Damaged(format!(
                "an accessor reaches beyond the end of buffer view {view}"
            ))
        };
        let bytes = self.view(view)?.get(offset..).ok_or_else(short)?;
        let stride = self.document.buffer_views.get(view);
        let stride = stride.and_then(|view| view.byte_stride).unwrap_or(size);
        let end = match count.checked_sub(1) {
            None => 0,
            Some(last) => last
                .checked_mul(stride)
                .and_then(|at| at.checked_add(size))
                .ok_or_else(short)?,
        };
        if end > bytes.len() || stride < size {
            return Err(short());
        }
        Ok(Elements {
            bytes,
            stride,
            size,
            count,
        })
    }

    /// Returns the bytes of a buffer view.
    ///
    /// # Errors
    /// If some or all of the bytes are not in this file.
    pub(super) fn view(&self, index: usize) -> Result<&'a [u8], ModelProblem> {
        let damaged = |what: &str| ModelProblem::Damaged(format!("buffer view {index} {what}"));
        let view = self.document.buffer_views.get(index);
        let view = view.ok_or_else(|| damaged("does not exist"))?;
        let buffer = self.document.buffers.get(view.buffer);
        let buffer = buffer.ok_or_else(|| damaged("is in a buffer that does not exist"))?;
        if buffer.uri.is_some() {
            return Err(ModelProblem::outside_data());
        }
        if view.buffer != 0 {
            if view.extensions.meshopt.is_some() {
                return Err(ModelProblem::unsupported_extension(
                    "EXT_meshopt_compression",
                ));
            }
            return Err(damaged("is in a buffer without data"));
        }
        let end = view.byte_offset.checked_add(view.byte_length);
        end.and_then(|end| self.bin.get(view.byte_offset..end))
            .ok_or_else(|| damaged("reaches beyond the end of its buffer"))
    }
}

/// The elements of a buffer view.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
    size: usize,
    count: usize,
}

impl<'a> Elements<'a> {
    /// Returns the bytes of an element; no bytes for an element that does not exist.
    fn get(&self, i: usize) -> &'a [u8] {
        let at = Some(i).filter(|&i| i < self.count);
        let bytes = at.and_then(|i| self.bytes.get(i.checked_mul(self.stride)?..));
        bytes.and_then(|b| b.get(..self.size)).unwrap_or(&[])
    }
}

fn decoded<const N: usize>(row: &[u8], kind: Kind, number: impl Fn(&[u8]) -> f32) -> [f32; N] {
    let mut values = [0.0; N];
    for (value, bytes) in values.iter_mut().zip(row.chunks_exact(kind.size())) {
        *value = number(bytes);
    }
    values
}

/// The type of the numbers of an accessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Kind {
    /// Returns the type for a glTF component type; `None` if the number is unknown.
    fn new(number: u64) -> Option<Self> {
        Some(match number {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Size of one number, in bytes.
    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Reads one number from its bytes.
    fn number(self, normalized: bool, bytes: &[u8]) -> f32 {
        let b = |i: usize| bytes.get(i).copied().unwrap_or(0);
        let scaled = |value: f32, most: f32| {
            if normalized {
                (value / most).max(-1.0)
            } else {
                value
            }
        };
        match self {
            Self::I8 => scaled(f32::from(b(0) as i8), 127.0),
            Self::U8 => scaled(f32::from(b(0)), 255.0),
            Self::I16 => scaled(f32::from(i16::from_le_bytes([b(0), b(1)])), 32767.0),
            Self::U16 => scaled(f32::from(u16::from_le_bytes([b(0), b(1)])), 65535.0),
            Self::U32 => u32::from_le_bytes([b(0), b(1), b(2), b(3)]) as f32,
            Self::F32 => f32::from_le_bytes([b(0), b(1), b(2), b(3)]),
        }
    }
}
