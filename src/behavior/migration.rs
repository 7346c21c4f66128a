//! Migration of an agent's state to another mind. It is necessary after an edit of the species, and when an override
//! of the agent's mind begins or ends.
//!
//! In: both minds and the state. Out: the state for the new mind. Must not: move an agent or decide anything.

use crate::world::Random;

use super::mind::Mind;
use super::mind_state::MindState;
use super::need::{Need, NeedState};

impl Mind {
    /// Converts the state of an agent that had another mind.
    ///
    /// Needs and actions with the same name in both minds keep their state. All others get their initial state.
    pub fn migrate_state(
        &self,
        old: &Self,
        state: &MindState,
        random: Random,
        id: u32,
    ) -> MindState {
        let mut new = self.state(random, id);
        new.remembered = state.remembered;
        new.drives = state.drives;
        for (action, memory) in self.actions.iter().zip(&mut new.memories) {
            let index = old.actions.iter().position(|a| a.name == action.name);
            if let Some(kept) = index.and_then(|index| state.memories.get(index))
                && std::mem::discriminant(kept) == std::mem::discriminant(memory)
            {
                memory.clone_from(kept);
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
}

impl MindState {
    /// Returns this state with the perception memory of another state.
    #[must_use]
    pub fn with_perception_memory_of(mut self, other: &Self) -> Self {
        self.remembered = other.remembered;
        self
    }
}
