//! The ways in which a species keeps clear of others and of obstacles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a species avoids, with its actions `avoid_obstacles` and `follow_flow_field`. **Source**: Karpowicz 2011, 2.3, 2.4,
/// 4.3.2; 5-navigation.md A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Avoidance {
    /// Steers round the single most dangerous thing ahead, agent or obstacle. Elegant alone, a muddle in crowds.
    Reynolds,
    /// By the fields around agents and obstacles alone. Keeps distance, but brakes before obstacles and surges after.
    Flow,
    /// Agents by their fields, obstacles by steering round all that lie ahead.
    #[default]
    Hybrid,
    /// Agents by optimal reciprocal collision avoidance, level only; obstacles as `hybrid`. The reference, and dear.
    Orca,
}
