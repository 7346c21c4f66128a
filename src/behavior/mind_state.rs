//! The state of one agent's mind (memories, variables of needs, drives), and its changes by events and by the
//! director.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::navigation::PathMemory;
use crate::world::{Random, RandomStream};

use super::actions::Memory;
use super::drives::Drives;
use super::escape::Escape;
use super::mind::Mind;
use super::need::{Need, NeedState};
use super::params::{LimitOf, LimitSide};
use super::perception_memory::PerceptionMemory;
use super::proposal::NeedEvent;

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
}

impl MindState {
    /// Returns the drives: hunger, fear and libido.
    pub fn drives(&self) -> &Drives {
        &self.drives
    }

    /// Returns the path memories of the actions that need a path.
    pub fn path_memories_mut(&mut self) -> impl Iterator<Item = &mut PathMemory> {
        self.memories.iter_mut().filter_map(Memory::path_memory_mut)
    }

    /// Clears the recorded forces of the last tick and frees their memory.
    pub fn clear_forces(&mut self) {
        self.forces = Vec::new();
    }
}

impl Mind {
    /// Returns the initial state of one agent.
    pub fn state(&self, random: Random, id: u32) -> MindState {
        let start = |(index, need): (usize, &Need)| {
            let variable = need.params.limit.as_ref().map_or(0.0, |limit| {
                let draw = random.unit(id, RandomStream::Need, index as u32);
                limit.start + (limit.value - limit.start) * limit.start_spread * draw
            });
            NeedState {
                variable,
                ..NeedState::default()
            }
        };
        MindState {
            memories: self
                .actions
                .iter()
                .map(|action| action.params.memory())
                .collect(),
            needs: self.needs.iter().enumerate().map(start).collect(),
            drives: self.drives.start(random.unit(id, RandomStream::Drive, 0)),
            ..MindState::default()
        }
    }

    /// Returns the recorded forces of an agent's last tick, each with the name of its action.
    pub fn forces(&self, state: &MindState) -> impl Iterator<Item = (&str, Vec3)> {
        state.forces.iter().filter_map(|(action, force)| {
            let action = self.actions.get(usize::from(*action))?;
            Some((action.name.as_str(), *force))
        })
    }

    /// Whether a state fits this mind: it has the same kinds of memories, the same number of needs, finite variables,
    /// and drives from 0 to 1.
    pub fn fits(&self, state: &MindState) -> bool {
        let mut each = self.actions.iter().zip(&state.memories);
        let kinds = each.all(|(action, memory)| {
            std::mem::discriminant(&action.params.memory()) == std::mem::discriminant(memory)
        });
        let drives = &state.drives;
        let numbers = [drives.hunger, drives.fear, drives.libido, drives.readiness];
        kinds
            && state.memories.len() == self.actions.len()
            && state.needs.len() == self.needs.len()
            && state.needs.iter().all(|need| need.variable.is_finite())
            && numbers.iter().all(|number| (0.0..=1.0).contains(number))
    }

    /// Applies an event to the drives of an agent and to the variables of its needs.
    pub fn apply_event(&self, state: &mut MindState, event: NeedEvent) {
        match event {
            NeedEvent::Catch | NeedEvent::Meal => state.drives.fed(),
            NeedEvent::Courted => state.drives.courted(),
            NeedEvent::Nothing => return,
        }
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            if let Some(limit) = &need.params.limit
                && (limit.reset_by == event
                    // A catch is also a meal.
                    || limit.reset_by == NeedEvent::Meal && event == NeedEvent::Catch)
            {
                state.variable = limit.reset_to;
            }
        }
    }

    /// Sets the variable of an agent's need, or the drive that the need reads. Returns false if the mind has no need with
    /// this name and a limit.
    pub fn set_variable(&self, state: &mut MindState, need: &str, value: f32) -> bool {
        let mut found = false;
        let drives = &mut state.drives;
        for (own, state) in self.needs.iter().zip(&mut state.needs) {
            if let Some(limit) = &own.params.limit
                && own.params.name == need
            {
                match limit.of {
                    LimitOf::Own => state.variable = value,
                    LimitOf::Hunger => drives.hunger = value.clamp(0.0, 1.0),
                    LimitOf::Fear => drives.fear = value.clamp(0.0, 1.0),
                    LimitOf::Libido => drives.readiness = value.clamp(0.0, 1.0),
                }
                found = true;
            }
        }
        found
    }

    /// Switches hunting on or off for an agent.
    ///
    /// This changes the variable of each need that has a hunting action and a limit. On: the variable is set beyond
    /// the limit. Off: it is set to `reset_to`, as after a catch.
    pub fn switch_hunting(&self, state: &mut MindState, on: bool) {
        let drives = &mut state.drives;
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            let hunts = |&action: &usize| self.actions[action].capabilities.hunts;
            if let Some(limit) = &need.params.limit
                && need.actions.iter().any(hunts)
            {
                let beyond = match limit.side {
                    LimitSide::Upper => 1.0,
                    LimitSide::Lower => -1.0,
                };
                state.variable = if on {
                    limit.value + beyond
                } else {
                    limit.reset_to
                };
                if limit.of == LimitOf::Hunger {
                    drives.hunger = f32::from(u8::from(on));
                }
            }
        }
    }
}
