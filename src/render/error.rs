//! What can go wrong with the picture.

use std::path::PathBuf;

use super::model::ModelError;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No graphics adapter at all.
    #[error(
        "no graphics adapter found ({0}); install a Vulkan driver for the graphics card, or on a machine without one the software driver: apt install mesa-vulkan-drivers libvulkan1"
    )]
    NoAdapter(String),
    /// The adapter gave no device.
    #[error("the graphics adapter {adapter} gave no device: {reason}; update its driver")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// What the driver said.
        reason: String,
    },
    /// The window cannot be drawn on.
    #[error("the window cannot be drawn on: {0}; is a Vulkan driver for this display installed?")]
    Surface(String),
    /// Too large for the device.
    #[error(
        "a picture of {width_px} × {height_px} pixels is beyond this graphics device's limit of {most_px}; choose a smaller size"
    )]
    Size {
        /// Wanted.
        width_px: u32,
        /// Wanted.
        height_px: u32,
        /// Largest side.
        most_px: u32,
    },
    /// What an output's parameters describe cannot be shown.
    #[error("the output cannot be shown: {0}")]
    Output(String),
    /// A model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The device reported an error of ours, or is lost.
    #[error("the graphics device failed: {0}")]
    Device(String),
    /// A frame could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A frame could not be packed as PNG.
    #[error("cannot write {path}: {source}")]
    Png {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: image::ImageError,
    },
}
