//! What the nodes of a hall say to each other, as JSON.

use serde::{Deserialize, Serialize};

use crate::cluster::{Beat, Role};
use crate::records::SessionEntry;
use crate::simulation::SimulationParams;
use crate::site::EditorState;
use crate::world::Observation;

/// Ten times a second: [`BeatMessage`].
pub(super) const BEAT: &str = "beat";
/// Every tick of the leader.
pub(super) const TICK: &str = "tick";
/// A question for the time: [`PingMessage`].
pub(super) const PING: &str = "ping";
/// The time: [`PongMessage`].
pub(super) const PONG: &str = "pong";
/// A request for the state: [`AskMessage`].
pub(super) const ASK: &str = "ask";
/// The state: [`StateMessage`].
pub(super) const STATE: &str = "state";

/// All keys.
pub(super) const KEYS: [&str; 6] = [BEAT, TICK, PING, PONG, ASK, STATE];

/// A node that lives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BeatMessage {
    /// For the election.
    pub(super) beat: Beat,
    /// Name of the node.
    pub(super) name: String,
    /// Version of its program.
    pub(super) version: String,
    /// What it does.
    pub(super) roles: Vec<Role>,
    /// Whether its pool rests or is paused.
    pub(super) is_still: bool,
    /// Its newest tick.
    pub(super) tick: u64,
}

/// Asks a node for the time on its clock.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PingMessage {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) sent_secs: f64,
}

/// The time on the clock of a node.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PongMessage {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Copied from the ping.
    pub(super) sent_secs: f64,
    pub(super) leader_secs: f64,
}

/// Asks the leader for its state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskMessage {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Documents and pool of the leader.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StateMessage {
    pub(super) epoch: u64,
    /// The nodes that asked.
    pub(super) to: Vec<usize>,
    /// Number of the tick after which the pool was saved.
    pub(crate) tick: u64,
    /// Number of the newest command that the pool contains.
    pub(crate) revision: u64,
    /// Number of the newest command that the documents contain.
    pub(crate) documents_revision: u64,
    /// The documents.
    pub(crate) documents: EditorState,
    /// The commands after the documents, up to `revision`.
    pub(crate) commands: Vec<SessionEntry>,
    /// Parameters of the tick.
    pub(crate) simulation: SimulationParams,
    /// The pool, as `simulate --save-state` writes it.
    pub(crate) state: String,
    /// What the pool sees until another observation follows.
    pub(crate) observation: Observation,
}
