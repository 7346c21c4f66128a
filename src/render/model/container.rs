//! Splits a binary glTF file into its chunks.
//!
//! **Source**: Khronos glTF 2.0, section 4.4 "Binary glTF layout".

use super::error::ModelProblem;
use super::left_out::LeftOut;

/// Size of the file header.
const HEADER_BYTES: usize = 12;
/// Size of a chunk header.
const CHUNK_HEADER_BYTES: usize = 8;

/// The chunks of a binary glTF file.
pub(super) struct Chunks<'a> {
    /// Text of the document.
    pub(super) json: &'a [u8],
    /// Binary data; empty if the file has none.
    pub(super) bin: &'a [u8],
}

/// Splits the bytes of a file. Chunks of unknown types are left out.
///
/// # Errors
/// If the header is not that of binary glTF 2, a chunk reaches beyond the end, or the first chunk is not JSON.
pub(super) fn split<'a>(
    bytes: &'a [u8],
    left_out: &mut LeftOut,
) -> Result<Chunks<'a>, ModelProblem> {
    let broken = |what: &str| ModelProblem::Broken(what.to_owned());
    let number = |bytes: &[u8], at: usize| -> Option<usize> {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    if bytes.get(..4) != Some(b"glTF".as_slice()) {
        return Err(broken("it does not begin with \"glTF\""));
    }
    let cut = || broken("it ends too early");
    let version = number(bytes, 4).ok_or_else(cut)?;
    if version != 2 {
        return Err(broken(&format!("its version is {version}")));
    }
    let length = number(bytes, 8).ok_or_else(cut)?;
    let mut rest = bytes.get(HEADER_BYTES..length).ok_or_else(cut)?;
    let mut chunks = Chunks {
        json: &[],
        bin: &[],
    };
    let mut index = 0;
    // Fewer bytes than a chunk header can only be padding.
    while rest.len() >= CHUNK_HEADER_BYTES {
        let length = number(rest, 0).ok_or_else(cut)?;
        let (kind, after) = (rest.get(4..8), rest.get(CHUNK_HEADER_BYTES..));
        let after = after.ok_or_else(cut)?;
        let data = after.get(..length).ok_or_else(cut)?;
        match (index, kind) {
            (0, Some(b"JSON")) => chunks.json = data,
            (0, _) => return Err(broken("its first chunk is not JSON")),
            (1, Some(b"BIN\0")) => chunks.bin = data,
            // An unknown chunk may come before the binary chunk.
            (_, Some(b"BIN\0")) if chunks.bin.is_empty() => chunks.bin = data,
            _ => left_out.add("a chunk of unknown type"),
        }
        rest = after.get(length..).unwrap_or(&[]);
        index += 1;
    }
    if index == 0 {
        return Err(cut());
    }
    Ok(chunks)
}
