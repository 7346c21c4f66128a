//! The table `[counting]` of the site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Anonymous counts of visitors. They come from tracks only, never from pictures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CountingParams {
    /// Whether visitors are counted.
    pub on: bool,
    /// File with the counts. Empty: `visitors.sqlite` in the state folder of the service (`$STATE_DIRECTORY`), or in the folder
    /// `.shoal` beside the site file.
    pub file: String,
    /// Number of days after which counts are deleted.
    #[schemars(range(min = 1, max = 4000))]
    pub keep_days: u32,
    /// Exports show a number of visitors below this one as `<5` (with this number), so that no single visitor can be recognized in a
    /// quiet quarter of an hour. 0 or 1: every number is shown.
    #[schemars(range(min = 0, max = 100))]
    pub hide_below: u32,
}

impl Default for CountingParams {
    fn default() -> Self {
        Self {
            on: false,
            file: String::new(),
            keep_days: 400,
            hide_below: 0,
        }
    }
}
