//! The `[camera]` table of a site.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The camera: the source of frames and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CameraParams {
    /// The source: `v4l2:NAME` or `nokhwa:NUMBER` (a camera, as `shoal cameras` lists it), `file:VIDEO.y4m`,
    /// `file:FOLDER`, `-`, `command:PROGRAM ARGUMENTS` or `synthetic:SEED`, optionally followed by
    /// `?format=GREY&size=320x240&fps=30`; or a tracker that reports visitors and has no frames: `tuio:PORT`, `augmenta:PORT` or `osc:PORT`
    /// on this machine, `tuio:0.0.0.0:PORT?from=IP,IP` in the network.
    pub source: String,
    /// Frame rate in frames per second; replaces the rate of a recording. If absent: the rate of the recording, or 30 for
    /// folders.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub fps: Option<f64>,
    /// Play recordings as fast as frames can be processed, instead of at their frame rate.
    pub fast: bool,
    /// Controls of a live camera by name: exposure, gain, white_balance, focus, and those that `shoal cameras` lists.
    /// Shoal sets them when it opens the camera, reads them back, and logs a warning for each control with another value.
    #[schemars(extend("additionalProperties" = {"type": "integer", "minimum": -2147483648i64, "maximum": 2147483647i64}))]
    pub controls: BTreeMap<String, i64>,
    /// Leave a live camera's automatic exposure, gain, white balance and focus unchanged. By default Shoal switches them off,
    /// because a camera that adapts to visitors makes their shadows disappear.
    pub auto_functions: bool,
    /// Delay from a movement on the floor to the projected reaction, in milliseconds. `shoal run` predicts the positions of
    /// visitors this far ahead in time.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub latency_ms: f32,
}

impl Default for CameraParams {
    fn default() -> Self {
        Self {
            source: "synthetic:1".to_owned(),
            fps: None,
            fast: false,
            controls: BTreeMap::new(),
            auto_functions: false,
            latency_ms: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema_of;

    #[test]
    fn controls_are_numbers_with_a_range_in_the_schema() {
        let schema = schema_of::<CameraParams>();
        let controls = &schema["properties"]["controls"]["additionalProperties"];
        assert_eq!(controls["type"], "integer");
        assert_eq!(controls["maximum"], i32::MAX);
    }
}
