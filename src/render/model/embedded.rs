//! Decodes data that a glTF file contains as text: the `data:` URIs of its buffers and images.
//!
//! **Source**: RFC 2397 "The data URL scheme"; Khronos glTF 2.0, section 3.6.1.1.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::document::Document;
use super::error::ModelProblem;

/// The decoded data of a document. The limit of the JSON text also limits its size.
#[derive(Debug, Default)]
pub(super) struct Embedded {
    /// For every buffer, its data if it has a `data:` URI.
    pub(super) buffers: Vec<Option<Vec<u8>>>,
    /// For every image, its data if it has a `data:` URI.
    pub(super) images: Vec<Option<Vec<u8>>>,
}

impl Embedded {
    /// Decodes the URIs of a document.
    ///
    /// # Errors
    /// If a `data:` URI is not valid. Other URIs are ignored.
    pub(super) fn new(document: &Document) -> Result<Self, ModelProblem> {
        let buffers = document.buffers.iter().map(|buffer| &buffer.uri);
        let images = document.images.iter().map(|image| &image.uri);
        Ok(Self {
            buffers: buffers.map(decoded).collect::<Result<_, _>>()?,
            images: images.map(decoded).collect::<Result<_, _>>()?,
        })
    }
}

/// Returns the data of a `data:` URI; `None` for another URI.
fn decoded(uri: &Option<String>) -> Result<Option<Vec<u8>>, ModelProblem> {
    let is_data = |uri: &&String| {
        let scheme = uri.get(..5);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
    };
    let Some(uri) = uri.as_ref().filter(is_data) else {
        return Ok(None);
    };
    let damaged = |what: &str| ModelProblem::Damaged(format!("data that it embeds as text {what}"));
    let (head, text) = uri
        .split_once(',')
        .ok_or_else(|| damaged("has no comma before the data"))?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Err(damaged("is not in base64"));
    }
    let data = STANDARD.decode(text);
    let data = data.map_err(|error| damaged(&format!("is not valid base64 ({error})")))?;
    Ok(Some(data))
}
