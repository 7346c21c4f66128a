//! The state of a pool as a text, and back: a run that is saved and loaded in the middle goes on bit for bit as if it had not
//! been.
//!
//! In: a pool between two ticks; or a text and the description that the pool was made from. Out: JSON with a version; or the
//! pool. What follows from the description is not saved; grids are drawn, and searches under way done, once more.
//! Must not: trust a text; one that does not fit is refused, and says why.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::change::{Override, size};
use super::description::{MAX_AGENTS, SceneDescription, SimulationError};
use super::params::SimulationParams;
use super::terraces::Terraces;
use super::tick::Simulation;
use crate::behavior::{MindState, RuleState};
use crate::navigation::{Environment, GridPlanner};
use crate::world::{Agents, Body, Gathering};

/// What the text says it is.
const FORMAT: &str = "shoal pool";

/// Counts up when what is saved changes its meaning.
const VERSION: u32 = 3;

/// Longest text that is read.
const TEXT_BYTES_MAX: usize = 1 << 30;

/// Why a saved pool cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It is no saved pool.
    #[error("this is no saved pool: {reason}; give a file that was written with --save-state")]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// It was written by another version.
    #[error(
        "the pool was saved as version {version}, this program reads version {VERSION}; let the pool begin anew"
    )]
    OtherVersion {
        /// Its version.
        version: u32,
    },
    /// It does not fit the scene or the site.
    #[error(
        "the saved pool does not fit: {what} is {saved}, but {described} here; load it with the scene and site that it was saved with"
    )]
    OtherPool {
        /// What differs.
        what: String,
        /// What was saved.
        saved: String,
        /// What the description says.
        described: String,
    },
    /// A value cannot be.
    #[error("the saved pool is damaged: {reason}; let the pool begin anew")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// The pool cannot be made at all.
    #[error(transparent)]
    Pool(#[from] SimulationError),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<'a> {
    format: String,
    version: u32,
    tick_hz: f32,
    seed: u64,
    tick: u64,
    revision: u64,
    next_id: u32,
    catches: u64,
    meals: u64,
    kinds: Vec<Kind>,
    agents: Vec<Agent>,
    overrides: Vec<Override>,
    rules: Vec<RuleState>,
    by_hand: Option<Gathering>,
    by_rules: Vec<Option<Gathering>>,
    ways: Cow<'a, GridPlanner>,
    terraces: Cow<'a, Terraces>,
}

/// One species, or one individual with a name: enough to notice that a description is another one.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    species: String,
    individual: Option<String>,
    needs: Vec<String>,
    actions: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    id: u32,
    kind: u16,
    body: Body,
    mind: MindState,
}

/// The version alone, so that another one is told before what it holds.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl Simulation {
    /// The state as a text. Call it between ticks.
    pub fn save(&self) -> String {
        let agents = &self.world.agents;
        let saved = Saved {
            format: FORMAT.into(),
            version: VERSION,
            tick_hz: self.tick_hz,
            seed: self.world.random.seed,
            tick: self.world.random.tick,
            revision: self.revision,
            next_id: self.next_id,
            catches: self.catches,
            meals: self.meals,
            kinds: self.kinds(),
            agents: (0..agents.len())
                .map(|index| Agent {
                    id: agents.ids[index],
                    kind: agents.species[index],
                    body: agents.bodies[index],
                    mind: self.states[index].clone(),
                })
                .collect(),
            overrides: self.overrides.clone(),
            rules: self.rule_states.clone(),
            by_hand: self.world.director.by_hand,
            by_rules: self.world.director.by_rules.clone(),
            ways: Cow::Borrowed(&self.planner),
            terraces: Cow::Borrowed(&self.terraces),
        };
        // Numbers, names and lists are always JSON; the one thing that is not, a number that is not finite, is `null` and
        // refused on loading.
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// A pool made from a description, in the state that a text says.
    ///
    /// # Errors
    /// When the text is no saved pool, is damaged, or was saved from another pool.
    pub fn load(
        scene: &SceneDescription,
        params: &SimulationParams,
        text: &str,
    ) -> Result<Self, LoadError> {
        let saved = read(text)?;
        let params = SimulationParams {
            seed: saved.seed,
            ..params.clone()
        };
        let mut simulation = Self::new(scene, &params)?;
        simulation.compare(&saved)?;
        simulation.check_agents(&saved)?;
        simulation
            .apply_saved(saved)
            .map_err(|reason| LoadError::Damaged { reason })?;
        Ok(simulation)
    }

    fn kinds(&self) -> Vec<Kind> {
        let each = self.world.species.iter().zip(&self.minds);
        each.map(|(species, mind)| Kind {
            species: species.name.clone(),
            individual: species.individual.clone(),
            needs: mind.need_names().map(str::to_owned).collect(),
            actions: mind.action_names(u64::MAX).map(str::to_owned).collect(),
        })
        .collect()
    }

    /// Refuses what was saved from another pool.
    fn compare(&self, saved: &Saved<'_>) -> Result<(), LoadError> {
        let other = |what: &str, saved: String, described: String| LoadError::OtherPool {
            what: what.into(),
            saved,
            described,
        };
        if saved.tick_hz != self.tick_hz {
            return Err(other(
                "tick_hz",
                saved.tick_hz.to_string(),
                self.tick_hz.to_string(),
            ));
        }
        let kinds = self.kinds();
        for (place, kind) in kinds.iter().enumerate() {
            if saved.kinds.get(place) != Some(kind) {
                let was = saved.kinds.get(place);
                return Err(other(
                    &format!("species {place} with its needs and actions"),
                    was.map_or("absent".into(), |was| format!("{was:?}")),
                    format!("{kind:?}"),
                ));
            }
        }
        let counts = [
            ("the number of species", saved.kinds.len(), kinds.len()),
            (
                "the number of the director's rules",
                saved.rules.len(),
                self.rules.len(),
            ),
            (
                "the number of gatherings",
                saved.by_rules.len(),
                kinds.len(),
            ),
        ];
        for (what, was, is) in counts {
            if was != is {
                return Err(other(what, was.to_string(), is.to_string()));
            }
        }
        Ok(())
    }

    fn check_agents(&self, saved: &Saved<'_>) -> Result<(), LoadError> {
        let damaged = |reason: String| Err(LoadError::Damaged { reason });
        if saved.agents.len() as u64 > MAX_AGENTS {
            return damaged(format!(
                "{} agents are more than {MAX_AGENTS}",
                saved.agents.len()
            ));
        }
        let mut last = None;
        for agent in &saved.agents {
            let id = agent.id;
            if last.is_some_and(|last| id <= last) || id >= saved.next_id {
                return damaged(format!(
                    "the id {id} is not above the one before, or not below the next one"
                ));
            }
            last = Some(id);
            let Some(mind) = self.minds.get(usize::from(agent.kind)) else {
                return damaged(format!(
                    "agent {id} is of species {}, which there is not",
                    agent.kind
                ));
            };
            let body = &agent.body;
            let is_unit = |v: glam::Vec3| (v.length() - 1.0).abs() < 1e-3;
            let is_near = body.position_m.abs().max_element() < 1e5;
            if !(body.is_finite() && is_unit(body.forward) && is_unit(body.up) && is_near) {
                return damaged(format!(
                    "agent {id} has a place, velocity or direction that cannot be"
                ));
            }
            let is_overridden = saved.overrides.iter().any(|over| over.id == id);
            if !is_overridden && !mind.fits(&agent.mind) {
                return damaged(format!(
                    "the mind of agent {id} has other needs or actions than its species"
                ));
            }
        }
        for over in &saved.overrides {
            let agent = saved.agents.iter().find(|agent| agent.id == over.id);
            let mind = agent.and_then(|agent| self.minds.get(usize::from(agent.kind)));
            let is_sound =
                over.params.problems().is_empty() && mind.is_some_and(|mind| mind.fits(&over.own));
            if !is_sound {
                return damaged(format!("the other mind of agent {} does not fit", over.id));
            }
        }
        Ok(())
    }

    /// Takes a state over whose agents were checked.
    fn apply_saved(&mut self, saved: Saved<'_>) -> Result<(), String> {
        self.world.random.tick = saved.tick;
        self.revision = saved.revision;
        self.next_id = saved.next_id;
        (self.catches, self.meals) = (saved.catches, saved.meals);
        self.rule_states = saved.rules;
        self.world.director.by_hand = saved.by_hand;
        self.world.director.by_rules = saved.by_rules;
        let mut agents = Agents::default();
        self.states.clear();
        self.decisions.clear();
        for agent in saved.agents {
            let species = &self.world.species[usize::from(agent.kind)];
            let size = size(species.body.size_spread, saved.seed, agent.id);
            agents.ids.push(agent.id);
            agents.species.push(agent.kind);
            agents.name_bits.push(species.name_bits);
            agents.size_factors.push(size);
            agents.radii_m.push(species.body.radius_m * size);
            agents.bodies.push(agent.body);
            self.states.push(agent.mind);
        }
        self.world.agents = agents;
        self.make_room();
        for over in saved.overrides {
            self.take_over_override(over);
        }
        self.assign_minds();
        self.terraces.resume(saved.terraces.into_owned())?;
        self.planner = saved.ways.into_owned();
        self.planner.resume(&Environment {
            solids: &self.world.solids,
            revision: self.revision,
            dt_secs: self.world.dt_secs,
        })
    }
}

fn read(text: &str) -> Result<Saved<'static>, LoadError> {
    let unreadable = |reason: String| LoadError::Unreadable { reason };
    if text.len() > TEXT_BYTES_MAX {
        return Err(unreadable(format!(
            "it is longer than {} MiB",
            TEXT_BYTES_MAX >> 20
        )));
    }
    let head: Head = serde_json::from_str(text).map_err(|e| unreadable(e.to_string()))?;
    if head.format != FORMAT {
        return Err(unreadable(format!("its format is no '{FORMAT}'")));
    }
    if head.version != VERSION {
        return Err(LoadError::OtherVersion {
            version: head.version,
        });
    }
    serde_json::from_str(text).map_err(|e| unreadable(e.to_string()))
}
