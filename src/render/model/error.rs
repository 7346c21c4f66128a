//! Errors of loading a model.

/// The reason why a file cannot be used as a model.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("model {file}: {problem}")]
pub struct ModelError {
    /// Name of the file as passed by the caller.
    pub file: String,
    /// The problem, with a remedy.
    pub problem: ModelProblem,
}

/// A problem of a model, with its remedy.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelProblem {
    /// The file is not a readable glTF file.
    #[error("not a binary glTF 2.0 file ({0}); export as 'glTF Binary (.glb)'")]
    Broken(String),
    /// The file needs a feature that is not supported.
    #[error("uses {feature}, which is not supported; {remedy}")]
    Unsupported {
        /// The feature.
        feature: String,
        /// Action that avoids the feature.
        remedy: &'static str,
    },
    /// The file has no triangles.
    #[error("has no mesh with triangles; export the object, not only its skeleton or camera")]
    NoMesh,
    /// All vertices are at almost the same position.
    #[error(
        "has no extent: all its vertices are at one position; check its scale and export it again"
    )]
    NoExtent,
    /// The model is flat across the swimming direction.
    #[error("has no length: it is flat along z; turn it so that its nose points along +z")]
    NoLength,
    /// The model exceeds a limit.
    #[error("has {count} {what}, at most {most} are allowed; simplify it before exporting")]
    TooLarge {
        /// Name of the limited quantity.
        what: &'static str,
        /// Number in the file.
        count: usize,
        /// Largest allowed number.
        most: usize,
    },
    /// The content of the file is inconsistent.
    #[error("is damaged: {0}; export it again")]
    Damaged(String),
}

impl ModelProblem {
    /// Returns the problem of a file that refers to data in other files.
    pub(super) fn outside_data() -> Self {
        Self::Unsupported {
            feature: "data in a uri instead of its binary part".to_owned(),
            remedy: "export everything into one file, 'glTF Binary (.glb)'",
        }
    }

    /// Returns the problem of a file that cannot be drawn without an unsupported extension.
    pub(super) fn unsupported_extension(name: &str) -> Self {
        Self::Unsupported {
            feature: name.to_owned(),
            remedy: match name {
                "KHR_draco_mesh_compression" => "export with Draco compression off",
                "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
                    "do not compress it with gltfpack -c"
                }
                "KHR_texture_basisu" | "EXT_texture_webp" | "EXT_texture_avif" => {
                    "export its textures as PNG or JPEG"
                }
                _ => "export without this extension",
            },
        }
    }
}

/// Returns an error if a count is above its limit.
pub(super) fn at_most(what: &'static str, count: usize, most: usize) -> Result<(), ModelProblem> {
    if count > most {
        return Err(ModelProblem::TooLarge { what, count, most });
    }
    Ok(())
}
