//! One animal of a site, or a model file, without a scene around it.

use std::path::Path;
use std::sync::Arc;

use super::files::SpeciesFile;
use super::library::Library;
use super::models::Models;
use crate::config::suggestion;
use crate::render::Model;

/// An animal that is looked at alone.
#[derive(Clone, Debug)]
pub struct Animal {
    /// Name of the species, or the file of the model.
    pub name: String,
    /// The species file; the default one for a model file.
    pub file: SpeciesFile,
    /// The model.
    pub model: Arc<Model>,
}

/// Reads an animal: a species of a site (`None`: of the built-in ones), or a model file, relative to the working folder.
///
/// # Errors
/// A message with all problems of the site, or one that says which species there are.
pub fn animal(site: Option<&Path>, name: &str) -> Result<Animal, String> {
    let mut models = Models::default();
    let is_model = Path::new(name).extension().is_some_and(|extension| {
        ["glb", "gltf"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
    });
    let (file, folder) = if is_model {
        let mut file = SpeciesFile::default();
        name.clone_into(&mut file.look.model);
        (file, std::path::PathBuf::new())
    } else {
        species(site, name)?
    };
    models.read(&file.look.model, &folder)?;
    let model = models.get(&file.look.model).map(Arc::clone);
    Ok(Animal {
        name: name.to_owned(),
        model: model.ok_or("the model was not read")?,
        file,
    })
}

/// Returns a species and the folder of its model.
fn species(site: Option<&Path>, name: &str) -> Result<(SpeciesFile, std::path::PathBuf), String> {
    let mut problems = Vec::new();
    let library = Library::read(site, &mut problems);
    match library.species.get(name) {
        Some(Some(entry)) => Ok((entry.value.clone(), library.folder())),
        Some(None) => Err(crate::config::Problems(problems).to_string()),
        None => {
            let known: Vec<&str> = library.species.keys().map(String::as_str).collect();
            let meant = suggestion(name, known.iter().copied());
            Err(format!(
                "there is no species \"{name}\"; name one of {}, or a .glb file{meant}",
                known.join(", ")
            ))
        }
    }
}
