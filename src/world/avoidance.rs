//! The methods by which a species can avoid collisions with agents and obstacles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Method of collision avoidance, used by the actions `avoid_obstacles` and `follow_flow_field`.
/// **Source**: Karpowicz 2011, §2.3, §2.4, §4.3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Avoidance {
    /// Steers around the most dangerous agent or obstacle ahead (Reynolds 1999). Smooth for few fish; causes collisions in
    /// crowds.
    Reynolds,
    /// Follows only the flow fields around agents and obstacles. Keeps distance, but brakes before an obstacle and
    /// accelerates behind it.
    Flow,
    /// Follows the flow fields of agents, and steers around all obstacles ahead.
    #[default]
    Hybrid,
    /// Avoids agents by optimal reciprocal collision avoidance (ORCA) in the horizontal plane, obstacles as `hybrid` does.
    /// Serves as a reference and costs much computing time.
    Orca,
}
