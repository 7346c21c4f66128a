//! Parameters of the tick: the `[simulation]` table of a site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationParams {
    /// Steps a second. Fixed: the same seed, configuration and shadows give the same run. More is smoother and costs more.
    #[schemars(range(min = 5.0, max = 1000.0))]
    pub tick_hz: f32,
    /// Where all chance comes from.
    #[schemars(range(min = 0.0, max = 9007199254740992.0))]
    pub seed: u64,
    /// Threads that think and move; the result is the same for any number.
    #[schemars(range(min = 1, max = 64))]
    pub threads: u16,
    /// Cells and polygons that all searches for ways together may look at in one tick. More finds long ways sooner and costs more.
    #[schemars(range(min = 1, max = 10000000))]
    pub search_budget: u32,
}

impl Default for SimulationParams {
    fn default() -> Self {
        Self {
            tick_hz: 60.0,
            seed: 1,
            threads: 1,
            search_budget: 5000,
        }
    }
}
