//! The methods by which a species can avoid collisions with agents and obstacles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Method of collision avoidance, used by the actions `avoid_obstacles` and `follow_flow_field`.
/// **Source**: Karpowicz 2011, §2.3, §2.4, §4.3.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Avoidance {
    /// Steers around the most dangerous agent or obstacle ahead (Reynolds 1999). The motion is smooth with few fish; in crowds,
    /// fish collide.
    Reynolds,
    /// Follows only the flow fields around agents and obstacles. The fish keeps its distance, but it brakes in front of an
    /// obstacle and accelerates behind the obstacle.
    Flow,
    /// Follows the flow fields of agents, and steers around all obstacles ahead.
    #[default]
    Hybrid,
    /// Avoids agents by optimal reciprocal collision avoidance (ORCA) in the horizontal plane. Avoids obstacles with the same
    /// method as `hybrid`. Needs much computing time; intended as a reference for comparison.
    Orca,
}
