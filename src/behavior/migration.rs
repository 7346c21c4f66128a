//! Migration of an agent's state to another mind: after an edit of the species, or while its mind is overridden.
//!
//! In: both minds and the state. Out: the state for the new mind. Must not: move an agent or decide anything.

use crate::world::Chance;

use super::actions::ActionParams;
use super::mind::{Mind, MindState};
use super::need::{Need, NeedState};
use super::params::{LimitOf, LimitSide};

impl Mind {
    /// Converts the state of an agent that had another mind.
    ///
    /// Needs and actions that both minds have, by name, keep their state. All others start with their initial state.
    pub fn migrate_state(
        &self,
        old: &Self,
        state: &MindState,
        chance: Chance,
        id: u32,
    ) -> MindState {
        let mut new = self.state(chance, id);
        new.remembered = state.remembered;
        new.drives = state.drives;
        for (action, memory) in self.actions.iter().zip(&mut new.memories) {
            let index = old.actions.iter().position(|a| a.name == action.name);
            if let Some(kept) = index.and_then(|index| state.memories.get(index))
                && std::mem::discriminant(kept) == std::mem::discriminant(memory)
            {
                *memory = *kept;
            }
        }
        for (need, new) in self.needs.iter().zip(&mut new.needs) {
            let index = old
                .needs
                .iter()
                .position(|n| n.params.name == need.params.name);
            if let Some((old_need, kept)) =
                index.and_then(|index| old.needs.get(index).zip(state.needs.get(index)))
            {
                let has_limits = need.params.limit.is_some() && old_need.params.limit.is_some();
                new.variable = if has_limits {
                    kept.variable
                } else {
                    new.variable
                };
                self.migrate_choice(need, new, old, old_need, kept);
            }
        }
        self.migrate_choice(
            &self.standard,
            &mut new.standard,
            old,
            &old.standard,
            &state.standard,
        );
        new
    }

    /// Keeps the randomly chosen action of a need, if the need still has an action with its name.
    fn migrate_choice(
        &self,
        need: &Need,
        new: &mut NeedState,
        old: &Self,
        old_need: &Need,
        kept: &NeedState,
    ) {
        let name_of =
            |mind: &Self, action: &usize| mind.actions.get(*action).map(|a| a.name.clone());
        let chosen = kept
            .choice
            .checked_sub(1)
            .and_then(|position| old_need.actions.get(position));
        let chosen = chosen.and_then(|action| name_of(old, action));
        let position = need
            .actions
            .iter()
            .position(|action| chosen.is_some() && name_of(self, action) == chosen);
        new.choice = position.map_or(0, |position| position + 1);
        new.held_secs = position.map_or(0.0, |_| kept.held_secs);
    }

    /// Switches hunting on or off for an agent.
    ///
    /// Each need with a hunting action and a limit gets a variable beyond its limit (on), or the value to which a catch
    /// resets it (off).
    pub fn switch_hunting(&self, state: &mut MindState, on: bool) {
        let drives = &mut state.drives;
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            let hunts =
                |&action: &usize| matches!(self.actions[action].params, ActionParams::HuntPrey(_));
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

impl MindState {
    /// This state with the perception memory of another state.
    #[must_use]
    pub fn with_perception_memory_of(mut self, other: &Self) -> Self {
        self.remembered = other.remembered;
        self
    }
}
