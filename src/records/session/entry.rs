//! What a session consists of: its start, and the entries of its log.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::control::PoolCommand;
use crate::runtime::now_iso;
use crate::simulation::SimulationParams;
use crate::site::{Editor, EditorState};
use crate::world::{Observation, Snapshot};

/// Version of the format.
pub(super) const VERSION: u32 = 1;
/// Name of the file with the start of a session.
pub(super) const START_FILE: &str = "session.json";
/// Name of the file with the entries of a session.
pub(super) const LOG_FILE: &str = "log.jsonl";

/// The start of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionStart {
    /// Version of the format.
    pub version: u32,
    /// Version of Shoal that wrote the session.
    pub shoal: String,
    /// Date and time of the start, ISO 8601.
    pub date: String,
    /// The site file, to which models and field files refer; `None` for the built-in demo.
    pub site: Option<PathBuf>,
    /// Parameters of the tick.
    pub simulation: SimulationParams,
    /// The documents.
    pub documents: EditorState,
}

impl SessionStart {
    /// Describes a run that starts now. `site` is the path of the site file.
    pub fn new(site: Option<&Path>, simulation: &SimulationParams, editor: &Editor) -> Self {
        Self {
            version: VERSION,
            shoal: env!("CARGO_PKG_VERSION").to_owned(),
            date: now_iso(),
            // The replay may start in another folder.
            site: site.map(|path| std::path::absolute(path).unwrap_or(path.to_path_buf())),
            simulation: simulation.clone(),
            documents: editor.state(),
        }
    }
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionEntry {
    /// The pool starts, with the commands up to `revision`.
    Start {
        /// Number of the newest command that the pool contains.
        revision: u64,
        /// Factor on the frequency at which rules of the director begin.
        pace: f32,
    },
    /// The desk applied a command.
    Command {
        /// Number of the command.
        revision: u64,
        /// The command.
        command: Box<PoolCommand>,
        /// Species of the individual that the command names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        species: Option<String>,
    },
    /// The pool applied the commands up to `revision` before the tick `tick`.
    Applied {
        /// Number of the tick, counted from 1.
        tick: u64,
        /// Number of the newest applied command.
        revision: u64,
    },
    /// From the tick `tick` on, the pool reacts to these shadows.
    Observed {
        /// Number of the tick, counted from 1.
        tick: u64,
        /// The observation.
        observation: Observation,
    },
    /// The whole pool after a tick, from which a replay can begin.
    State {
        /// Number of the tick.
        tick: u64,
        /// Number of the newest applied command.
        revision: u64,
        /// The pool, as `simulate --save-state` writes it.
        state: String,
    },
    /// The state of the pool after a tick.
    Hash {
        /// Number of the tick, counted from 1.
        tick: u64,
        /// The hash, see [`pool_hash`].
        hash: u64,
    },
    /// The session ends after this tick.
    End {
        /// Number of the last tick.
        tick: u64,
        /// Reason for the end.
        reason: String,
    },
}

/// Returns a hash of all poses, bit by bit (FNV-1a).
pub fn pool_hash(snapshot: &Snapshot) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |word: u32| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for agent in &snapshot.agents {
        add(agent.id);
        add(u32::from(agent.species));
        for vector in [
            agent.position_m,
            agent.velocity_mps,
            agent.forward,
            agent.up,
        ] {
            vector.to_array().into_iter().for_each(|v| add(v.to_bits()));
        }
        add(agent.boost.to_bits());
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Visitor;
    use glam::Vec2;

    #[test]
    fn an_observation_is_read_back_bit_by_bit() {
        let shadow = Visitor {
            id: 3,
            centroid_m: Vec2::new(0.1, -1.0 / 3.0),
            radius_m: f32::MIN_POSITIVE,
            outline_m: vec![Vec2::new(1e-7, 123.456_79), Vec2::new(-0.0, 0.3)],
            ..Visitor::default()
        };
        let entry = SessionEntry::Observed {
            tick: 7,
            observation: Observation {
                time_secs: 0.25,
                shadows: vec![shadow],
            },
        };
        let text = serde_json::to_string(&entry).unwrap();
        let read: SessionEntry = serde_json::from_str(&text).unwrap();
        assert_eq!(format!("{read:?}"), format!("{entry:?}"));
    }
}
