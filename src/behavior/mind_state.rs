//! The state of one agent's mind (memories, variables of needs, drives), and its changes by events and by the
//! director.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::navigation::PathMemory;

use super::actions::Memory;
use super::drives::Drives;
use super::escape::Escape;
use super::need::NeedState;
use super::perception_memory::PerceptionMemory;

/// State of one agent's mind from tick to tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MindState {
    /// Memories of the actions, in the order of the actions.
    pub(super) memories: Vec<Memory>,
    /// States of the needs, in the order of the needs.
    pub(super) needs: Vec<NeedState>,
    pub(super) standard: NeedState,
    pub(super) remembered: PerceptionMemory,
    pub(super) drives: Drives,
    /// Index of the need that was active in the last tick, plus one; 0 for none.
    pub(super) active_need: usize,
    /// Time for which that need has been active.
    pub(super) active_secs: f32,
    pub(super) escape: Escape,
    /// Index and force of each action executed in the last tick. Empty if forces are not recorded.
    #[serde(skip)]
    pub(super) forces: Vec<(u8, Vec3)>,
    /// Actions that were asked in the last tick, and those of them that could be executed, with a bit for each action. Zero if
    /// forces are not recorded.
    #[serde(skip)]
    pub(super) asked: Asked,
}

/// The answers of a mind's actions in one tick, with a bit for each action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// The actions that were asked whether they can be executed.
    pub(super) actions: u64,
    /// Those that can.
    pub(super) executable: u64,
}

impl MindState {
    /// Returns the drives: hunger, fear and libido.
    pub fn drives(&self) -> &Drives {
        &self.drives
    }

    /// Returns what the agent remembers of others.
    pub fn remembered(&self) -> &PerceptionMemory {
        &self.remembered
    }

    /// Returns the time for which the active need, or none, has been active.
    pub fn active_secs(&self) -> f32 {
        self.active_secs
    }

    /// Returns the path memories of the actions that need a path. `pathing` has a bit for each of these actions, as
    /// [`Mind::pathing`](super::Mind::pathing) returns them; the memories of other actions are not read.
    pub fn path_memories_mut(&mut self, pathing: u64) -> impl Iterator<Item = &mut PathMemory> {
        let memories = self.memories.iter_mut().enumerate();
        memories
            .filter(move |(index, _)| pathing >> index & 1 == 1)
            .filter_map(|(_, memory)| memory.path_memory_mut())
    }

    /// Clears the recorded forces of the last tick and frees their memory.
    pub fn clear_forces(&mut self) {
        self.forces = Vec::new();
        self.asked = Asked::default();
    }
}
