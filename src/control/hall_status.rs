//! The status of a hall, as one of its nodes sees it.

use serde::{Deserialize, Serialize};

/// The hall, as this node sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HallStatus {
    /// Name of the hall.
    pub hall: String,
    /// Name of this node.
    pub node: String,
    /// `leads`, `follows` or `alone`.
    pub stand: String,
    /// Name of the leader; empty if no node leads.
    pub leader: String,
    /// Number of the leadership. Each further leader has a higher one.
    pub epoch: u64,
    /// Whether the fish of this node swim on their own because the ticks of the leader do not arrive.
    pub is_adrift: bool,
    /// The newest tick after which the pool was compared.
    pub hash_tick: u64,
    /// Hash of the pool after that tick, hexadecimal.
    pub hash: String,
    /// Whether the leader has the same hash.
    pub is_equal: bool,
    /// Number of times that this node took the state of a leader.
    pub loads: u64,
    /// Time by which this node runs behind the leader, in milliseconds.
    pub delay_ms: u32,
    /// Clock of the leader minus own clock, in milliseconds; `None` on the leader.
    pub offset_ms: Option<f64>,
    /// Bound of the error of the offset, in milliseconds.
    pub error_ms: Option<f64>,
    /// By how much the clock of the leader is faster, in parts per million.
    pub rate_ppm: Option<f64>,
    /// Number of bytes that this node has published.
    pub sent_bytes: u64,
    /// All nodes, in the order of the site file.
    pub nodes: Vec<HallNodeStatus>,
}

/// A node of a hall.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HallNodeStatus {
    /// Name of the node.
    pub name: String,
    /// What it does.
    pub roles: Vec<String>,
    /// Version of its program; empty if it was not heard yet.
    pub version: String,
    /// Whether it was heard within the last second.
    pub is_living: bool,
    /// Whether it leads.
    pub leads: bool,
    /// Its newest tick.
    pub tick: u64,
}
