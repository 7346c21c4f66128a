//! Reads 3D models by name: built-in models, and glTF files in the folder of the site file.

use std::io::Read;
use std::path::Path;

use crate::config::nearest_name;
use crate::render::{Model, SHIPPED_MODELS};

/// Largest model file, in bytes.
const MODEL_BYTES_MAX: u64 = 64 << 20;

/// Reads a model: a built-in name, or the path of a `.glb` file, relative to `folder`.
///
/// # Errors
/// A message that says what is wrong and what to do.
pub(super) fn read_model(name: &str, folder: &Path) -> Result<Model, String> {
    if let Some((_, bytes)) = SHIPPED_MODELS.iter().find(|(n, _)| *n == name) {
        return Model::from_glb(name, bytes).map_err(|e| e.to_string());
    }
    if !Path::new(name)
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("glb"))
    {
        let known: Vec<&str> = SHIPPED_MODELS.iter().map(|(n, _)| *n).collect();
        let suggestion = nearest_name(name, known.iter().copied())
            .map_or(String::new(), |n| format!("; did you mean \"{n}\"?"));
        return Err(format!(
            "there is no model \"{name}\"; give a built-in name ({}) or the path of a .glb file{suggestion}",
            known.join(", ")
        ));
    }
    let path = folder.join(name);
    let file = std::fs::File::open(&path)
        .map_err(|e| format!("the model {} cannot be opened: {e}", path.display()))?;
    if !file.metadata().is_ok_and(|m| m.is_file()) {
        return Err(format!(
            "the model {} is not a regular file",
            path.display()
        ));
    }
    let mut bytes = Vec::new();
    file.take(MODEL_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| format!("the model {} cannot be read: {e}", path.display()))?;
    if bytes.len() as u64 > MODEL_BYTES_MAX {
        return Err(format!(
            "the model {} is larger than {} MiB, the limit for a model",
            path.display(),
            MODEL_BYTES_MAX >> 20
        ));
    }
    Model::from_glb(&path.display().to_string(), &bytes).map_err(|e| e.to_string())
}
