//! The shadows that stand still as the agents near them see them, measured once per tick: several actions of an agent, and the
//! actions of its neighbors, ask for the same distance. A walking shadow keeps agents away, and only few ask for it.
//!
//! In: the visitors and the agents before the tick. Out: the values of [`outline_at_depth`], never others. Must not: depend on the
//! order of agents.

use super::agents::Agents;
use super::visitors::{ShadowAtDepth, Visitors, outline_at_depth};
use super::water::Water;

/// An agent nearer than this to the circle around a shadow is measured. Most actions ask only for agents this near; a longer
/// distance would measure agents for which no action asks.
const NEAR_M: f32 = 0.5;
/// Number of shadows that are measured; further ones are measured by each action itself. Limits the memory.
const SHADOWS_MAX: usize = 16;
/// Number of pairs of an agent and a shadow that are measured, as a multiple of the number of agents.
const PAIRS_PER_AGENT: usize = 2;
/// Entry of a pair that is not measured.
const NOT_MEASURED: u32 = u32::MAX;

/// The measured shadows.
#[derive(Clone, Debug, Default)]
pub struct ShadowEdges {
    agents: usize,
    /// Index in `seen` for each shadow and agent, shadow by shadow, or [`NOT_MEASURED`].
    slots: Vec<u32>,
    seen: Vec<ShadowAtDepth>,
}

impl ShadowEdges {
    /// Reserves memory for this number of agents, so that [`Self::measure`] does not allocate.
    pub fn reserve(&mut self, agents: usize) {
        self.slots.clear();
        self.slots.reserve(agents * SHADOWS_MAX);
        self.seen.clear();
        self.seen.reserve(agents * PAIRS_PER_AGENT);
    }

    /// Measures the shadows that stand still for all agents near them.
    pub fn measure(&mut self, visitors: &Visitors, agents: &Agents, water: &Water) {
        self.agents = agents.len();
        self.slots.clear();
        self.seen.clear();
        let pairs_max = agents.len() * PAIRS_PER_AGENT;
        for (index, shadow) in visitors.shadows.iter().enumerate().take(SHADOWS_MAX) {
            if shadow.still_secs <= 0.0 {
                self.slots
                    .resize(self.slots.len() + agents.len(), NOT_MEASURED);
                continue;
            }
            for (agent, body) in agents.bodies.iter().enumerate() {
                let at = body.position_m;
                let scale = water.scale(at.y);
                let hull = agents.hull(agent);
                let is_near =
                    visitors.least_distance_m(index, at, hull.widest_m(), scale) <= NEAR_M;
                if !is_near || self.seen.len() >= pairs_max {
                    self.slots.push(NOT_MEASURED);
                    continue;
                }
                self.slots.push(self.seen.len() as u32);
                self.seen.push(outline_at_depth(shadow, at, hull, scale));
            }
        }
    }

    /// Returns a shadow as an agent sees it; `None` if that is not measured.
    #[inline]
    pub(super) fn get(&self, shadow: usize, agent: usize) -> Option<ShadowAtDepth> {
        let slot = *self.slots.get(shadow * self.agents + agent)?;
        self.seen.get(slot as usize).copied()
    }
}
