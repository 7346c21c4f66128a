//! Reads 3D models by name: built-in models, and glTF files in the folder of the site file. Keeps them, so that an edit does not
//! read them again.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::suggestion;
use crate::files::read_file;
use crate::render::{Model, ModelError, SHIPPED_MODELS, shipped_static_models};

/// Largest model file, in bytes.
const MODEL_BYTES_MAX: u64 = 64 << 20;

/// Models that have been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Models {
    fish: BTreeMap<String, CachedModel>,
    stones: Option<Arc<[Model]>>,
}

#[derive(Clone, Debug)]
struct CachedModel {
    model: Arc<Model>,
    /// Hash of the contents of the file; `None` for a built-in model.
    contents: Option<u64>,
    /// Whether the file has to be read again, because it may have changed.
    is_outdated: bool,
}

impl Models {
    /// Returns the models of stones.
    ///
    /// # Errors
    /// If a built-in model is invalid.
    pub(super) fn stones(&mut self) -> Result<Arc<[Model]>, ModelError> {
        if let Some(stones) = &self.stones {
            return Ok(Arc::clone(stones));
        }
        let stones: Arc<[Model]> = shipped_static_models()?.into();
        self.stones = Some(Arc::clone(&stones));
        Ok(stones)
    }

    /// Returns a model that [`Self::read`] has read; `None` if it has not.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Model>> {
        let found = self.fish.get(name).filter(|found| !found.is_outdated);
        found.map(|found| &found.model)
    }

    /// Reads a model if it has not been read: a built-in name, or the path of a `.glb` file, relative to `folder`.
    ///
    /// # Errors
    /// A message that says what is wrong and what to do.
    pub(super) fn read(&mut self, name: &str, folder: &Path) -> Result<(), String> {
        if self.get(name).is_some() {
            return Ok(());
        }
        let (bytes, file) = match built_in(name) {
            Some(bytes) => (std::borrow::Cow::Borrowed(bytes), None),
            None => {
                let path = model_file(name, folder)?;
                let bytes = read_file(&path, MODEL_BYTES_MAX, "a model")
                    .map_err(|message| format!("the model {} {message}", path.display()))?;
                (bytes.into(), Some(path))
            }
        };
        let contents = file.is_some().then(|| hash(&bytes));
        if let Some(known) = self.fish.get_mut(name)
            && known.contents == contents
        {
            known.is_outdated = false;
            return Ok(());
        }
        let shown = file.map_or_else(|| name.to_owned(), |path| path.display().to_string());
        let model = Model::from_glb(&shown, &bytes).map_err(|error| error.to_string())?;
        let model = CachedModel {
            model: Arc::new(model),
            contents,
            is_outdated: false,
        };
        self.fish.insert(name.to_owned(), model);
        Ok(())
    }

    /// Makes [`Self::read`] read all files again. A model whose file has the same contents stays the same object.
    pub(super) fn forget_files(&mut self) {
        for model in self.fish.values_mut() {
            model.is_outdated = model.contents.is_some();
        }
    }
}

/// Returns the file of a model; `None` for a built-in model and for a name that is no file name.
pub(super) fn file_of_model(name: &str, folder: &Path) -> Option<PathBuf> {
    model_file(name, folder)
        .ok()
        .filter(|_| built_in(name).is_none())
}

fn built_in(name: &str) -> Option<&'static [u8]> {
    let mut shipped = SHIPPED_MODELS.iter();
    shipped
        .find(|(n, _)| *n == name)
        .map(|(_, bytes)| bytes as &[u8])
}

fn model_file(name: &str, folder: &Path) -> Result<PathBuf, String> {
    let extension = Path::new(name).extension();
    if extension.is_some_and(|e| e.eq_ignore_ascii_case("glb")) {
        return Ok(folder.join(name));
    }
    if extension.is_some_and(|e| e.eq_ignore_ascii_case("gltf")) {
        return Err(format!(
            "\"{name}\" is a glTF file whose data lie in other files; export everything into one file, 'glTF Binary (.glb)'"
        ));
    }
    // A file of another kind: no name of a built-in model is meant.
    if let Some(extension) = extension.and_then(|e| e.to_str()) {
        return Err(format!(
            "\"{name}\" is a .{extension} file, but a model is a .glb file with meshes, textures and clips; export the animal as 'glTF \
             Binary (.glb)': docs/models.md says how; a picture alone is no model"
        ));
    }
    let known: Vec<&str> = SHIPPED_MODELS.iter().map(|(n, _)| *n).collect();
    let meant = suggestion(name, known.iter().copied());
    Err(format!(
        "there is no model \"{name}\"; give a built-in name ({}) or the path of a .glb file{meant}",
        known.join(", ")
    ))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
