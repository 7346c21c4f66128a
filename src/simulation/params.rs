//! Parameters of the tick: the `[simulation]` table of a site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationParams {
    /// Ticks per second of simulated time. Higher is smoother and costs more computing time. The same seed, configuration and
    /// shadows always give the same run.
    #[schemars(range(min = 5.0, max = 1000.0))]
    pub tick_hz: f32,
    /// Seed of all random numbers.
    #[schemars(range(min = 0.0, max = 9007199254740992.0))]
    pub seed: u64,
    /// Number of threads that compute a tick. The result is the same for any number.
    #[schemars(range(min = 1, max = 64))]
    pub threads: u16,
    /// Maximum number of cells and polygons that all path searches together expand in one tick. Higher finds long paths sooner
    /// and costs more computing time.
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
