//! The request to a capture worker.

use std::collections::BTreeMap;

use crate::camera::Backend;

/// The requested camera and its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureRequest {
    /// Library that opens the camera.
    pub backend: Backend,
    /// Number, path of the device node, or stable name.
    pub device: String,
    /// Pixel format as a V4L2 four-character code. `None` means the best format of the camera.
    pub format: Option<String>,
    /// Width and height in pixels. `None` means the size of the camera that is nearest to 640x480.
    pub size_px: Option<(u32, u32)>,
    /// Frame rate in frames per second. `None` means the rate of the camera that is nearest to 30.
    pub fps: Option<f64>,
    /// Values of controls by name, see [`CameraParams::controls`](crate::camera::CameraParams::controls).
    pub controls: BTreeMap<String, i64>,
    /// Whether automatic exposure, gain, white balance and focus stay as they are; otherwise they are switched off.
    pub auto_functions: bool,
}
