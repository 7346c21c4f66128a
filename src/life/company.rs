//! Measures the company of a visitor who stands still: which agents are near the visitor, how many at a time, and for how long.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::geometry::Visitor;
use crate::simulation::Simulation;
use crate::world::{World, outline_at_depth};

/// An agent is near a visitor if its distance from the edge of the shadow is below this.
pub(super) const NEAR_M: f32 = 0.3;
/// Time for which a visitor must have stood before the company counts. Fish need some time to come.
pub(super) const COUNTS_AFTER_SECS: f64 = 60.0;
/// Time within which a still visitor should have company.
pub(super) const COMPANY_WITHIN_SECS: f64 = 30.0;
/// Duration of the windows over which the share of a species near the visitor is averaged.
const WINDOW_SECS: f64 = 10.0;

/// Mean shares of a species near a place, for windows of [`WINDOW_SECS`].
#[derive(Clone, Debug, Default)]
struct Windows {
    shares: Vec<f64>,
    sum: f64,
    samples: f64,
}

impl Windows {
    fn sample(&mut self, share: f64, sample_secs: f64) {
        self.sum += share;
        self.samples += 1.0;
        if self.samples * sample_secs >= WINDOW_SECS {
            self.shares.push(self.sum / self.samples);
            (self.sum, self.samples) = (0.0, 0.0);
        }
    }

    /// Returns the share of the windows that fulfil a condition; 0 without a window.
    fn share_of(&self, is: impl Fn(f64) -> bool) -> f64 {
        let count = self.shares.iter().filter(|&&share| is(share)).count();
        count as f64 / self.shares.len().max(1) as f64
    }

    fn mean(&self) -> f64 {
        self.shares.iter().sum::<f64>() / self.shares.len().max(1) as f64
    }
}

/// Agents of a species near a visitor who has stood still for at least a minute. All shares are means over 10 s.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Company {
    /// Time that is judged.
    pub judged_secs: f64,
    /// Mean share of the species near the visitor.
    pub mean_share: f64,
    /// Smallest share.
    pub min_share: f64,
    /// Largest share.
    pub max_share: f64,
    /// Share of the time with more than [`Self::MAX_SHARE`] of the species.
    pub crowded: f64,
    /// Share of the time with less than [`Self::MIN_SHARE`] of the species.
    pub deserted: f64,
    /// Mean share of the species at the same place while the pool has no visitor; 0 if it always has one.
    pub mean_share_by_chance: f64,
    /// Share of the time with more than [`Self::MAX_SHARE`] of the species at the same place while the pool has no visitor.
    pub crowded_by_chance: f64,
    /// Number of different agents that came near.
    pub members: usize,
    /// Longest time for which the same agent stayed near.
    pub longest_stay_secs: f64,
}

impl Company {
    /// Smallest share of a species that should be near a still visitor.
    pub const MIN_SHARE: f64 = 0.03;
    /// Largest share of a species that should be near a still visitor.
    pub const MAX_SHARE: f64 = 0.40;
}

/// The company of one species.
#[derive(Clone, Debug, Default)]
pub(super) struct SpeciesCompany {
    /// While a visitor stands.
    present: Windows,
    /// At the same place without any visitor.
    absent: Windows,
    members: BTreeSet<u32>,
    longest_stay_secs: f64,
    /// Waits of the visitors for the first agent of the species, as in [`CompanyWatch::waits_secs`].
    pub(super) waits_secs: Vec<f64>,
}

impl SpeciesCompany {
    /// Returns the summary; `None` if no visitor stood long enough.
    pub(super) fn summary(&self) -> Option<Company> {
        let present = &self.present;
        let shares = || present.shares.iter().copied();
        let is_crowd = |share: f64| share > Company::MAX_SHARE;
        (!present.shares.is_empty()).then(|| Company {
            judged_secs: present.shares.len() as f64 * WINDOW_SECS,
            mean_share: present.mean(),
            min_share: shares().fold(f64::MAX, f64::min),
            max_share: shares().fold(0.0, f64::max),
            crowded: present.share_of(is_crowd),
            deserted: present.share_of(|share| share < Company::MIN_SHARE),
            mean_share_by_chance: self.absent.mean(),
            crowded_by_chance: self.absent.share_of(is_crowd),
            members: self.members.len(),
            longest_stay_secs: self.longest_stay_secs,
        })
    }
}

/// The visitor who has stood longest, and the agents near this visitor.
#[derive(Clone, Debug, Default)]
pub(super) struct CompanyWatch {
    visitor: Option<u32>,
    /// Time since each agent, by index, came near the visitor; `None` for agents that are not near.
    near_secs: Vec<Option<f64>>,
    /// Whether the wait of the visitor for company is known, or cannot be measured.
    is_judged: bool,
    /// The same for each species: one bit per entry.
    judged_species: u64,
    /// Time until the first agent came near that was not near when the visitor stopped, for each visitor who was watched from then on.
    pub(super) waits_secs: Vec<f64>,
    /// Shadow of the visitor who was judged last. While the pool has no visitor, the agents near this place are counted too: they
    /// are there by chance, for example because a school passes.
    place: Option<Visitor>,
}

impl CompanyWatch {
    /// Forgets which agents are near. Must be called when the indices of agents change.
    pub(super) fn reset(&mut self, agents: usize) {
        self.near_secs.clear();
        self.near_secs.resize(agents, None);
        self.visitor = None;
    }

    /// Samples the company. `species_of` is the index into `species` for each agent.
    pub(super) fn sample(
        &mut self,
        simulation: &Simulation,
        species_of: &[usize],
        species: &mut [(SpeciesCompany, f64)],
        sample_secs: f64,
    ) {
        let world = simulation.world();
        let shadows = world.visitors.shadows.iter().filter(|s| s.still_secs > 0.0);
        let stillest = shadows.max_by(|a, b| a.still_secs.total_cmp(&b.still_secs));
        let Some(shadow) = stillest else {
            if self.visitor.is_some() {
                self.reset(self.near_secs.len());
            }
            if let Some(place) = self
                .place
                .as_ref()
                .filter(|_| world.visitors.shadows.is_empty())
            {
                let mut near = [0.0; SPECIES_MAX];
                for index in 0..world.agents.len() {
                    if is_near(&world, place, index) {
                        near[species_of[index].min(SPECIES_MAX - 1)] += 1.0;
                    }
                }
                for ((company, count), near) in species.iter_mut().zip(near) {
                    company.absent.sample(near / count.max(1.0), sample_secs);
                }
            }
            return;
        };
        let mut is_new = false;
        if self.visitor != Some(shadow.id) {
            self.reset(self.near_secs.len());
            self.visitor = Some(shadow.id);
            self.is_judged = shadow.still_secs > 2.0 * sample_secs;
            self.judged_species = if self.is_judged { u64::MAX } else { 0 };
            is_new = true;
        }
        let counts = shadow.still_secs >= COUNTS_AFTER_SECS;
        let mut near = [0.0; SPECIES_MAX];
        for (index, &kind) in species_of.iter().enumerate() {
            let stay = &mut self.near_secs[index];
            if !is_near(&world, shadow, index) {
                *stay = None;
                continue;
            }
            let comes = stay.is_none() && !is_new;
            let stay_secs = stay.map_or(0.0, |secs| secs + sample_secs);
            *stay = Some(stay_secs);
            if comes && !self.is_judged {
                self.waits_secs.push(shadow.still_secs);
                self.is_judged = true;
            }
            let bit = 1 << kind.min(SPECIES_MAX - 1);
            if comes && self.judged_species & bit == 0 {
                species[kind].0.waits_secs.push(shadow.still_secs);
                self.judged_species |= bit;
            }
            if counts {
                let company = &mut species[kind].0;
                company.members.insert(world.agents.ids[index]);
                company.longest_stay_secs = company.longest_stay_secs.max(stay_secs);
                near[kind.min(SPECIES_MAX - 1)] += 1.0;
            }
        }
        if !self.is_judged && shadow.still_secs > COMPANY_WITHIN_SECS {
            // Agents that were near from the beginning and stayed are company without a wait.
            let has_company = self.near_secs.iter().any(Option::is_some);
            (self.waits_secs).push(if has_company { 0.0 } else { f64::INFINITY });
            self.is_judged = true;
        }
        if self.judged_species != u64::MAX && shadow.still_secs > COMPANY_WITHIN_SECS {
            for (kind, (company, _)) in species.iter_mut().enumerate() {
                if self.judged_species & (1 << kind.min(SPECIES_MAX - 1)) == 0 {
                    let mut near = species_of.iter().zip(&self.near_secs);
                    let has_company = near.any(|(&own, stay)| own == kind && stay.is_some());
                    (company.waits_secs).push(if has_company { 0.0 } else { f64::INFINITY });
                }
            }
            self.judged_species = u64::MAX;
        }
        if counts {
            self.place.get_or_insert_default().clone_from(shadow);
            for ((company, count), near) in species.iter_mut().zip(near) {
                company.present.sample(near / count.max(1.0), sample_secs);
            }
        }
    }
}

/// Whether an agent is near the edge of a shadow.
fn is_near(world: &World<'_>, shadow: &Visitor, agent: usize) -> bool {
    let at = world.agents.bodies[agent].position_m;
    let scale = world.water.scale(at.y);
    outline_at_depth(shadow, at, world.agents.hull(agent), scale).distance_m <= NEAR_M
}

/// Most species whose company is measured; a pool has at most 63 names.
const SPECIES_MAX: usize = 64;
