//! Errors of the renderer.

use std::path::PathBuf;

use super::model::ModelError;

/// The reason why no picture can be drawn or written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The machine has no usable graphics adapter.
    #[error(
        "no graphics adapter found ({0}); install a Vulkan driver for the graphics card, or on a machine without one the software driver: apt install mesa-vulkan-drivers libvulkan1"
    )]
    NoAdapter(String),
    /// The adapter refused to open a device.
    #[error("the graphics adapter {adapter} could not be opened: {reason}; update its driver")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// Reason given by the driver.
        reason: String,
    },
    /// The window does not support drawing.
    #[error(
        "cannot draw on the window: {0}; install a Vulkan driver for the graphics card of this display"
    )]
    Surface(String),
    /// The picture exceeds the limits of the device.
    #[error(
        "a picture of {width_px} × {height_px} pixels exceeds the limits of this graphics device (1 to {most_px} pixels per side); choose another size"
    )]
    Size {
        /// Requested width.
        width_px: u32,
        /// Requested height.
        height_px: u32,
        /// Largest supported side.
        most_px: u32,
    },
    /// The parameters of an output describe no valid picture, or the output does not exist.
    #[error("invalid output: {0}")]
    Output(String),
    /// A model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The device reported an error or is lost.
    #[error("the graphics device failed: {0}")]
    Device(String),
    /// A picture could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A picture could not be encoded as PNG.
    #[error("cannot write {path}: {source}")]
    Png {
        /// The file or folder.
        path: PathBuf,
        /// Error of the image encoder.
        source: image::ImageError,
    },
}
