//! Attractions: what draws an agent to a standing visitor or to another agent, and what makes it leave again.
//!
//! In: the guests of the last tick and the temperament of the agent. Out: whether the agent attends a target. Every action
//! that attracts uses this: an attraction has a limited number of guests, each guest loses interest after a time and then
//! rests, and individuals differ. So company comes, changes and never becomes a crowd. Must not: steer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::ActionContext;
use crate::world::{RandomStream, Temperament};

/// Table `attraction` of an action: how many agents it attracts at a time, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AttractionParams {
    /// Largest share of the species that attends attractions of any kind at a time; at least one agent. Higher: a crowd of guests.
    /// Lower: few guests, the others swim on.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
    /// Distance between two places around a target. The number of places along the edge of the target limits the number of its
    /// guests. Higher: few guests, far apart. Lower: many, close together. 0: no such limit.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub place_m: f32,
    /// Mean time until an agent within reach comes, if there are no guests yet. The fewer places are free, the longer it takes.
    /// Higher: guests come one by one. Lower: they come soon. 0: at once.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub hesitate_secs: f32,
    /// Time for which an agent is not attracted again after it has lost interest. Higher: other agents get their turn, and a
    /// visitor is alone more often. Lower: the same agent comes back soon.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub rest_secs: f32,
    /// Strength of personal differences. 1: the most patient agents stay four times as long as the least patient ones, the most
    /// curious agents come four times as often as the least curious ones, and the most timid agents wait three times as long as the
    /// bravest. Higher: some agents are known as regular guests, others never come. Lower: agents come and leave alike; 0: no
    /// difference.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub spread: f32,
}

impl Default for AttractionParams {
    fn default() -> Self {
        Self {
            share: 0.25,
            place_m: 0.12,
            hesitate_secs: 5.0,
            rest_secs: 30.0,
            spread: 1.0,
        }
    }
}

/// What an agent attends, and since when. The memory of an action that attracts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attention {
    /// Key of the attended agent or shadow; `None` if there is none.
    pub target: Option<u32>,
    /// Interest that is used up so far, in seconds of an attraction without free places.
    pub used_secs: f32,
    /// Time on the way since the agent was near the target last.
    pub way_secs: f32,
    /// First tick in which the agent can be attracted again.
    pub rested_tick: u64,
    /// Tick in which the agent attended the target last.
    pub last_tick: u64,
}

/// Interest is used up by at least this share of the time, even if hardly any place is taken. So the last guests stay longer
/// than guests in a crowd, and a visitor is rarely left alone. Tuned in `tests/pool/attraction.rs`.
const ALONE_SHARE: f32 = 0.3;

/// Time after which an agent gives up a target that it cannot reach, or forgets one that it had to leave.
const LONGEST_WAY_SECS: f32 = 12.0;

impl Attention {
    /// Whether the agent attends nothing and rests.
    pub(super) fn rests(&self, context: &ActionContext<'_>) -> bool {
        self.target.is_none() && context.world.random.tick < self.rested_tick
    }

    /// Removes the target if the agent has not attended it for a long time, because other needs were more important.
    fn forget(&mut self, context: &ActionContext<'_>) {
        let ticks = (LONGEST_WAY_SECS / context.world.dt_secs.max(1e-6)) as u64;
        if context.world.random.tick > self.last_tick.saturating_add(ticks) {
            self.target = None;
        }
    }
}

/// An attraction as one agent sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attraction<'p> {
    pub(super) params: &'p AttractionParams,
    temperament: Temperament,
}

impl AttractionParams {
    /// An attraction that attracts every agent at once, without a limit and without rest.
    pub(super) const UNLIMITED: Self = Self {
        share: 1.0,
        place_m: 0.0,
        hesitate_secs: 0.0,
        rest_secs: 0.0,
        spread: 0.0,
    };
}

impl<'p> Attraction<'p> {
    pub(super) fn new(params: &'p AttractionParams, context: &ActionContext<'_>) -> Self {
        Self {
            params,
            temperament: Temperament::of(context.world.random.seed, context.id())
                .with_courage(context.species.boldness),
        }
    }

    /// Factor on the time for which a target must have been harmless before this agent dares to come: 1 for the bravest, 3
    /// for the most timid.
    pub(super) fn caution(&self) -> f32 {
        1.0 + 2.0 * self.params.spread * (1.0 - self.temperament.courage)
    }

    /// Time for which this agent stays, if agents of average patience stay for `secs`.
    pub(super) fn patience_secs(&self, secs: f32) -> f32 {
        secs * Temperament::factor(self.temperament.patience, self.params.spread)
    }

    /// Whether the number of guests is limited.
    fn is_limited(&self) -> bool {
        self.params.share < 1.0 || self.params.place_m > 0.0
    }

    /// Returns the taken share of the places, from 0 to 1 or above: of those of the species, or of those around the target,
    /// whichever is fuller. `edge_m` is the length of the edge of the target.
    fn fullness(&self, context: &ActionContext<'_>, key: u32, edge_m: f32) -> f32 {
        let guests = context.world.guests;
        let (agents, attending) = guests.of_species(context.species.base_species);
        let allowed = (agents as f32 * self.params.share).round().max(1.0);
        let by_species = attending as f32 / allowed;
        if self.params.place_m <= 0.0 {
            return by_species;
        }
        let places = (edge_m / self.params.place_m).floor().max(1.0);
        by_species.max(guests.of_target(key) as f32 / places)
    }

    /// Returns the share of the places that is free; 0 or less if all places are taken.
    fn free_share(&self, context: &ActionContext<'_>, key: u32, edge_m: f32) -> f32 {
        if self.is_limited() {
            1.0 - self.fullness(context, key, edge_m)
        } else {
            1.0
        }
    }

    /// Whether the agent attends the target with this key from now on: it already does, or it is attracted in this tick.
    pub(super) fn attends(
        &self,
        context: &ActionContext<'_>,
        attention: &mut Attention,
        key: u32,
        edge_m: f32,
    ) -> bool {
        attention.forget(context);
        let intent = context.world.agents.bodies[context.index].intent;
        if attention.target == Some(key) {
            // A guest that was interrupted, for example by an enemy, returns only if its place is still free.
            if intent.attends == Some(key) || self.free_share(context, key, edge_m) > 0.0 {
                attention.last_tick = context.world.random.tick;
                return true;
            }
            attention.target = None;
        }
        // An agent attends one thing at a time, also if several of its actions attract it.
        let attends_other = attention.target.is_none() && intent.attends.is_some();
        if attends_other || context.world.random.tick < attention.rested_tick {
            return false;
        }
        let free = self.free_share(context, key, edge_m);
        if free <= 0.0 {
            return false;
        }
        if self.params.hesitate_secs > 0.0 {
            let curious = Temperament::factor(self.temperament.curiosity, self.params.spread);
            let rate_per_sec = curious * free / self.params.hesitate_secs;
            let chance = 1.0 - (-rate_per_sec * context.world.dt_secs).exp();
            let random = context.world.random;
            if random.unit(context.id(), RandomStream::Attraction, key) >= chance {
                return false;
            }
        }
        *attention = Attention {
            target: Some(key),
            last_tick: context.world.random.tick,
            ..Attention::default()
        };
        true
    }

    /// Counts time in which the attended target is not to be seen. The agent gives it up after a while, or at once if it has
    /// lost interest. `stay_secs` is the time for which the agent stays.
    pub(super) fn misses(
        &self,
        context: &ActionContext<'_>,
        attention: &mut Attention,
        stay_secs: f32,
    ) {
        attention.way_secs += context.world.dt_secs;
        let used_share = attention.used_secs / stay_secs.max(1e-3);
        if used_share >= 1.0 || attention.way_secs >= LONGEST_WAY_SECS {
            self.leave(context, attention, used_share);
        }
    }

    /// Counts the time with the attended target. Returns whether the agent, which stays for `stay_secs`, has lost interest.
    pub(super) fn loses_interest(
        &self,
        context: &ActionContext<'_>,
        attention: &mut Attention,
        (is_near, edge_m, stay_secs): (bool, f32, f32),
    ) -> bool {
        let dt = context.world.dt_secs;
        if is_near {
            let key = attention.target.unwrap_or_default();
            let fullness = if self.is_limited() {
                self.fullness(context, key, edge_m).clamp(ALONE_SHARE, 1.0)
            } else {
                1.0
            };
            attention.used_secs += dt * fullness;
            attention.way_secs = 0.0;
        } else {
            attention.way_secs += dt;
        }
        attention.used_secs >= stay_secs || attention.way_secs >= LONGEST_WAY_SECS
    }

    /// Ends the attention. The agent rests for the whole resting time if it has lost interest, and for a share of it if it
    /// was interrupted.
    pub(super) fn leave(
        &self,
        context: &ActionContext<'_>,
        attention: &mut Attention,
        used_share: f32,
    ) {
        let curious = Temperament::factor(self.temperament.curiosity, self.params.spread);
        let rest_secs = self.params.rest_secs * used_share.clamp(0.0, 1.0) / curious;
        let ticks = (rest_secs / context.world.dt_secs.max(1e-6)).round() as u64;
        *attention = Attention {
            rested_tick: context.world.random.tick + ticks,
            ..Attention::default()
        };
    }
}
