//! Reads a glTF accessor as rows of floats and checks every size. The readers of the `gltf` crate trust the file instead.

use gltf::accessor::{DataType, Dimensions};

use super::error::ModelProblem;

/// Largest number of rows of an accessor.
const MAX_ROWS: usize = 262_144;

/// The rows of an accessor as floats; integers are normalized if the file requires it.
///
/// # Errors
/// If its rows do not have `N` numbers, it is sparse, or it reaches beyond the end of the file.
pub(super) fn rows<const N: usize>(
    accessor: &gltf::Accessor<'_>,
    bin: &[u8],
) -> Result<Vec<[f32; N]>, ModelProblem> {
    let damaged =
        |what: &str| ModelProblem::Damaged(format!("accessor {}: {what}", accessor.index()));
    if accessor.sparse().is_some() {
        return Err(ModelProblem::Unsupported {
            feature: "sparse accessors".to_owned(),
            remedy: "export without sparse data",
        });
    }
    let width = match accessor.dimensions() {
        Dimensions::Scalar => 1,
        Dimensions::Vec2 => 2,
        Dimensions::Vec3 => 3,
        Dimensions::Vec4 | Dimensions::Mat2 => 4,
        Dimensions::Mat3 => 9,
        Dimensions::Mat4 => 16,
    };
    let count = accessor.count();
    if width != N {
        return Err(damaged(&format!(
            "it has rows of {width} numbers instead of {N}"
        )));
    }
    if count > MAX_ROWS {
        return Err(ModelProblem::TooLarge {
            what: "rows in an accessor",
            count,
            most: MAX_ROWS,
        });
    }
    let view = accessor
        .view()
        .ok_or_else(|| damaged("it has no buffer view"))?;
    let size = match accessor.data_type() {
        DataType::I8 | DataType::U8 => 1,
        DataType::I16 | DataType::U16 => 2,
        DataType::U32 | DataType::F32 => 4,
    };
    let stride = view.stride().unwrap_or(size * N);
    let bytes = slice(bin, view.offset(), view.length())
        .and_then(|view| view.get(accessor.offset()..))
        .ok_or_else(|| damaged("it reaches beyond the end of the file"))?;
    let mut rows = Vec::with_capacity(count);
    for row in 0..count {
        let at = row
            .checked_mul(stride)
            .ok_or_else(|| damaged("its size overflows"))?;
        let row = slice(bytes, at, size * N)
            .ok_or_else(|| damaged("it reaches beyond the end of its buffer view"))?;
        let mut values = [0.0; N];
        for (value, bytes) in values.iter_mut().zip(row.chunks_exact(size)) {
            *value = number(accessor.data_type(), accessor.normalized(), bytes);
        }
        rows.push(values);
    }
    Ok(rows)
}

/// The bytes of a buffer view; `None` if they are not all there.
pub(super) fn slice(bytes: &[u8], offset: usize, length: usize) -> Option<&[u8]> {
    bytes.get(offset..offset.checked_add(length)?)
}

/// One number of an accessor.
fn number(kind: DataType, normalized: bool, bytes: &[u8]) -> f32 {
    let b = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let scaled = |value: f32, most: f32| {
        if normalized {
            (value / most).max(-1.0)
        } else {
            value
        }
    };
    match kind {
        DataType::I8 => scaled(f32::from(b(0) as i8), 127.0),
        DataType::U8 => scaled(f32::from(b(0)), 255.0),
        DataType::I16 => scaled(f32::from(i16::from_le_bytes([b(0), b(1)])), 32767.0),
        DataType::U16 => scaled(f32::from(u16::from_le_bytes([b(0), b(1)])), 65535.0),
        DataType::U32 => u32::from_le_bytes([b(0), b(1), b(2), b(3)]) as f32,
        DataType::F32 => f32::from_le_bytes([b(0), b(1), b(2), b(3)]),
    }
}
