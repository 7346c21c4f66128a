//! The table `[cluster]` of the site file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One pool on several machines ("nodes"): who they are, and how far behind the leader's clock they draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterParams {
    /// Name of the hall: letters, digits and hyphens. Nodes with another name do not hear each other. Empty: no hall, everything
    /// runs on this machine.
    #[schemars(length(max = 40))]
    pub hall: String,
    /// Time in milliseconds by which every node draws behind the clock of the leading simulation. Higher: the picture stays
    /// smooth in a network with delays. Lower: fish answer visitors sooner.
    #[schemars(range(min = 20, max = 1000))]
    pub delay_ms: u32,
    /// Whether nodes look for each other by multicast, apart from the addresses below. Off: only the addresses are used.
    pub discovery: bool,
    /// The nodes. The first living one with the role `simulate` leads; the others stand by in this order.
    #[schemars(length(max = 32))]
    pub nodes: Vec<NodeParams>,
}

impl Default for ClusterParams {
    fn default() -> Self {
        Self {
            hall: String::new(),
            delay_ms: 120,
            discovery: false,
            nodes: Vec::new(),
        }
    }
}

/// A machine of the hall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeParams {
    /// Name of the node: letters, digits and hyphens. `shoal run --node NAME` names the node that a machine is.
    #[schemars(length(min = 1, max = 40))]
    pub name: String,
    /// What the node does. Empty: everything.
    pub roles: Vec<Role>,
    /// Address and port at which other nodes reach this one, for example `10.0.0.11:7447`.
    pub address: String,
}

impl NodeParams {
    /// Whether the node does what `role` says.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }
}

/// What a node of a hall does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Follows the visitors with its cameras.
    Track,
    /// Runs the pool and leads, or stands by.
    Simulate,
    /// Draws the outputs that name it.
    Render,
}
