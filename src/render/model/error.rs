//! Errors of loading a model.

/// The reason why a file cannot be used as a model.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("model {file}: {problem}")]
pub struct ModelError {
    /// Name of the file as passed by the caller.
    pub file: String,
    /// The problem with its remedy.
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
        /// How to avoid it.
        remedy: &'static str,
    },
    /// The file has no triangles.
    #[error("has no mesh with triangles; export the object, not only its skeleton or camera")]
    NoMesh,
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
