//! What becomes of an individual's state when its mind is another one than before: after an edit, or for a while.
//!
//! In: both minds and the state. Out: the state in the new mind. Must not: move or decide anything.

use crate::world::Chance;

use super::actions::ActionParams;
use super::mind::{Mind, MindState};
use super::need::{Need, NeedState};
use super::params::{LimitOf, LimitSide};

impl Mind {
    /// The state of an individual whose mind was another one before: needs and actions that both have, by name, keep what
    /// they remember; the others start fresh.
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
        for (slot, memory) in self.slots.iter().zip(&mut new.memories) {
            let place = old.slots.iter().position(|s| s.name == slot.name);
            if let Some(kept) = place.and_then(|place| state.memories.get(place))
                && std::mem::discriminant(kept) == std::mem::discriminant(memory)
            {
                *memory = *kept;
            }
        }
        for (need, new) in self.needs.iter().zip(&mut new.needs) {
            let place = old
                .needs
                .iter()
                .position(|n| n.params.name == need.params.name);
            if let Some((old_need, kept)) =
                place.and_then(|p| old.needs.get(p).zip(state.needs.get(p)))
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

    /// Keeps the choice of before where the need still has that action.
    fn migrate_choice(
        &self,
        need: &Need,
        new: &mut NeedState,
        old: &Self,
        old_need: &Need,
        kept: &NeedState,
    ) {
        let name_of = |mind: &Self, slot: &usize| mind.slots.get(*slot).map(|s| s.name.clone());
        let chosen = kept
            .choice
            .checked_sub(1)
            .and_then(|place| old_need.slots.get(place));
        let chosen = chosen.and_then(|slot| name_of(old, slot));
        let place = need
            .slots
            .iter()
            .position(|slot| chosen.is_some() && name_of(self, slot) == chosen);
        new.choice = place.map_or(0, |place| place + 1);
        new.held_secs = place.map_or(0.0, |_| kept.held_secs);
    }

    /// Switches every need that hunts on, beyond its limit, or off, to where a catch sets it.
    pub fn switch_hunting(&self, state: &mut MindState, on: bool) {
        let drives = &mut state.drives;
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            let is_hunt =
                |&slot: &usize| matches!(self.slots[slot].params, ActionParams::HuntPrey(_));
            if let Some(limit) = &need.params.limit
                && need.slots.iter().any(is_hunt)
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
    /// This state, with what another one has seen of others.
    #[must_use]
    pub fn with_perception_memory_of(mut self, other: &Self) -> Self {
        self.remembered = other.remembered;
        self
    }
}
