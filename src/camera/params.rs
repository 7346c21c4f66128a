//! The `[camera]` table of a site.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where frames come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CameraParams {
    /// The source: `v4l2:NAME` or `nokhwa:NUMBER` (a camera, as `shoal cameras` lists it), `file:VIDEO.y4m`,
    /// `file:FOLDER`, `-`, `command:PROGRAM ARGUMENTS` or `synthetic:SEED`, each with
    /// `?format=GREY&size=320x240&fps=30` behind it where that is wanted.
    pub source: String,
    /// Frames a second of a folder, or instead of a recording's own rate. Absent: the recording's own, 30 for folders.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub fps: Option<f64>,
    /// Play recordings as fast as they are digested instead of at their own rate.
    pub fast: bool,
    /// Controls of a live camera by name: exposure, gain, white_balance, focus, and those that `shoal cameras` lists.
    /// They are set when the camera is opened and read back; one that does not take is a warning.
    #[schemars(extend("additionalProperties" = {"type": "integer", "minimum": -2147483648i64, "maximum": 2147483647i64}))]
    pub controls: BTreeMap<String, i64>,
    /// Leave a live camera's automatic exposure, gain, white balance and focus as they are. They are switched off
    /// otherwise: a camera that adapts to visitors makes their shadows vanish.
    pub auto_functions: bool,
    /// From light on the floor to the picture that answers it, milliseconds: `shoal run` tells the fish where visitors
    /// will be so much later.
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
    use crate::config::schema;

    #[test]
    fn controls_are_numbers_with_a_range_in_the_schema() {
        let schema = schema::schema_of::<CameraParams>();
        assert_eq!(schema::foreign(&schema), Vec::<String>::new());
        let controls = &schema["properties"]["controls"]["additionalProperties"];
        assert_eq!(controls["type"], "integer");
        assert_eq!(controls["maximum"], i32::MAX);
    }
}
