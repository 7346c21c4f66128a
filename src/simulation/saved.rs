//! Saves the state of a pool as text and loads it. A run that is saved and loaded gives exactly the same results as a run
//! without interruption.
//!
//! To save: in: a pool between two ticks; out: JSON with a version. To load: in: this JSON and the scene description of the
//! saved pool; out: the pool. The plan is not saved; it is compiled from the description. Must not: trust a text. A text that
//! does not fit the description is rejected with a reason.

use std::borrow::Cow;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Simulation;
use super::catches::Caught;
use super::description::{MAX_AGENTS, SceneDescription, SimulationError};
use super::params::SimulationParams;
use super::plan::PoolPlan;
use super::state::PoolState;
use crate::navigation::{CostLayer, Environment};
use crate::world::{Body, Catch};

/// Name of the format. Every saved text contains it.
const FORMAT: &str = "shoal pool";

/// Version of the format. Must be increased when fields of the state or their meaning change.
const VERSION: u32 = 11;

/// Largest tick of a saved state. A pool with 60 ticks per second needs millions of years to reach it.
const TICK_MAX: u64 = 1 << 53;

/// Maximum length of a text that is loaded. The text of a pool with 200,000 agents is shorter.
const MAX_TEXT_BYTES: usize = 1 << 30;

/// Maximum distance of a loaded agent from the center of the pool, along each axis. No pool is this large, and coordinates
/// above this value would lose precision.
const MAX_COORDINATE_M: f32 = 1e5;

/// Maximum difference between the length of a saved direction and 1. Rounding causes far smaller differences.
const UNIT_TOLERANCE: f32 = 1e-3;

/// Reason why a pool cannot be saved.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The state cannot be written as JSON.
    #[error("cannot write the state of the pool as JSON: {0}; this is a defect of the program")]
    Json(#[from] serde_json::Error),
}

/// Reason why a saved pool cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The text is not a saved pool.
    #[error("this is not a saved pool: {reason}; give a file that was written with --save-state")]
    Unreadable {
        /// Description of the first problem in the text.
        reason: String,
    },
    /// The pool was saved in another version of the format.
    #[error(
        "the pool was saved in version {version} of the format, this program reads version {VERSION}; start a new pool"
    )]
    OtherVersion {
        /// Version of the text.
        version: u32,
    },
    /// The saved pool does not fit the scene or the site.
    #[error(
        "the saved pool does not fit: {what} is {saved}, but {described} in this scene or site; \
         load it with the scene and site that it was saved with"
    )]
    OtherPool {
        /// Name of the value that differs.
        what: String,
        /// Saved value.
        saved: String,
        /// Value in the description.
        described: String,
    },
    /// A saved value is invalid.
    #[error("the saved pool is damaged: {reason}; start a new pool")]
    Damaged {
        /// Description of the invalid value.
        reason: String,
    },
    /// The pool cannot be created from its description.
    #[error(transparent)]
    Pool(#[from] SimulationError),
}

/// A saved pool.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedPool<'a> {
    format: String,
    version: u32,
    tick_hz: f32,
    species: Vec<SavedSpecies>,
    state: Cow<'a, PoolState>,
}

/// Names in one species or named individual. If they differ from those of the description, the pool was saved from another
/// description.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSpecies {
    name: String,
    individual: Option<String>,
    needs: Vec<String>,
    actions: Vec<String>,
}

/// Format and version of a text. They are checked before the rest of the text is read.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

impl Simulation {
    /// Returns the state as text. Call it between ticks.
    ///
    /// # Errors
    /// If the state cannot be written as JSON.
    pub fn save(&self) -> Result<String, SaveError> {
        let saved = SavedPool {
            format: FORMAT.into(),
            version: VERSION,
            tick_hz: self.tick_hz,
            species: saved_species(&self.plan),
            state: Cow::Borrowed(&self.state),
        };
        Ok(serde_json::to_string(&saved)?)
    }

    /// Creates a pool from its description and the saved state in `text`.
    ///
    /// # Errors
    /// If the text is not a saved pool, is damaged, or was saved from another pool.
    pub fn load(
        scene: &SceneDescription,
        params: &SimulationParams,
        text: &str,
    ) -> Result<Self, LoadError> {
        let saved = read(text)?;
        let plan = PoolPlan::compile(scene)?;
        check_plan(&saved, &plan, params)?;
        let mut state = saved.state.into_owned();
        let damaged = |reason| LoadError::Damaged { reason };
        check_tick(&state).map_err(damaged)?;
        check_director(&state, &plan).map_err(damaged)?;
        check_agents(&state, &plan).map_err(damaged)?;
        check_overrides(&state, &plan).map_err(damaged)?;
        check_caught(&state).map_err(damaged)?;
        derive_agents(&mut state, &plan);
        let species = plan.world.species.len();
        state.world.director.reserve(plan.rules.len(), species);
        if !state.costs.iter().all(CostLayer::is_sound) {
            return Err(damaged("the costs of the water are inconsistent".into()));
        }
        state.terraces.resume(&plan.terraces).map_err(damaged)?;
        let mut simulation = Self::from_parts(plan, state, params)?;
        simulation.hide_caught();
        simulation.resume_planner().map_err(damaged)?;
        simulation.direct_species();
        simulation.state.reserve_catches();
        simulation
            .workspace
            .prepare(&simulation.plan, &simulation.state);
        Ok(simulation)
    }

    fn resume_planner(&mut self) -> Result<(), String> {
        self.state.planner.resume(&Environment {
            solids: &self.plan.world.solids,
            revision: self.state.revision,
            costs: &self.state.costs,
            dt_secs: self.workspace.input.dt_secs,
        })
    }
}

fn read(text: &str) -> Result<SavedPool<'static>, LoadError> {
    let unreadable = |reason: String| LoadError::Unreadable { reason };
    if text.len() > MAX_TEXT_BYTES {
        return Err(unreadable(format!(
            "it is longer than {} MiB",
            MAX_TEXT_BYTES >> 20
        )));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let header: Header = serde_json::from_str(text).map_err(|e| unreadable(e.to_string()))?;
    if header.format != FORMAT {
        return Err(unreadable(format!("its format is not '{FORMAT}'")));
    }
    if header.version != VERSION {
        return Err(LoadError::OtherVersion {
            version: header.version,
        });
    }
    serde_json::from_str(text).map_err(|e| unreadable(e.to_string()))
}

fn saved_species(plan: &PoolPlan) -> Vec<SavedSpecies> {
    let species = plan.world.species.iter().zip(&plan.minds);
    species
        .map(|(species, mind)| SavedSpecies {
            name: species.name.clone(),
            individual: species.individual.clone(),
            needs: mind.need_names().map(str::to_owned).collect(),
            actions: mind.action_names(u64::MAX).map(str::to_owned).collect(),
        })
        .collect()
}

/// Rejects a state that was saved from another pool.
fn check_plan(
    saved: &SavedPool<'_>,
    plan: &PoolPlan,
    params: &SimulationParams,
) -> Result<(), LoadError> {
    let other = |what: &str, saved: String, described: String| LoadError::OtherPool {
        what: what.into(),
        saved,
        described,
    };
    if saved.tick_hz != params.tick_hz {
        return Err(other(
            "tick_hz",
            saved.tick_hz.to_string(),
            params.tick_hz.to_string(),
        ));
    }
    let species = saved_species(plan);
    for (index, described) in species.iter().enumerate() {
        let was = saved.species.get(index);
        if was != Some(described) {
            return Err(other(
                &format!("species {index} with its needs and actions"),
                was.map_or("absent".into(), |was| format!("{was:?}")),
                format!("{described:?}"),
            ));
        }
    }
    let state = &saved.state;
    let counts = [
        ("the number of species", saved.species.len(), species.len()),
        (
            "the number of director rules",
            state.rules.len(),
            plan.rules.len(),
        ),
        (
            "the number of gathering points",
            state.world.director.by_rules.len(),
            species.len(),
        ),
    ];
    for (what, was, is) in counts {
        if was != is {
            return Err(other(what, was.to_string(), is.to_string()));
        }
    }
    Ok(())
}

/// Checks that the tick is one that a pool can reach, so that later ticks can be counted.
fn check_tick(state: &PoolState) -> Result<(), String> {
    let tick = state.world.random.tick;
    if tick > TICK_MAX {
        return Err(format!("tick {tick} is not possible"));
    }
    Ok(())
}

/// Checks the pace of the director, and that the requests of rules refer to rules and species of the plan.
fn check_director(state: &PoolState, plan: &PoolPlan) -> Result<(), String> {
    let pace = state.world.director.pace;
    if !(pace.is_finite() && pace > 0.0) {
        return Err(format!(
            "the pace of the director is {pace}; it must be a positive number"
        ));
    }
    let mut entrances = state.world.director.entrances.iter();
    if entrances.any(|entrance| entrance.rule >= plan.rules.len()) {
        return Err("an agent enters by a rule that does not exist".into());
    }
    for request in &state.world.director.requests {
        let gathers = plan
            .rules
            .get(request.rule)
            .is_some_and(|r| r.then.gathers());
        if !gathers || request.species >= plan.world.species.len() {
            return Err(format!(
                "a gathering point refers to rule {} and species {}, which do not fit the scene",
                request.rule, request.species
            ));
        }
    }
    Ok(())
}

/// Checks that the saved agents are valid members of the plan's species.
fn check_agents(state: &PoolState, plan: &PoolPlan) -> Result<(), String> {
    let agents = &state.world.agents;
    let count = agents.ids.len();
    if count as u64 > MAX_AGENTS {
        return Err(format!("{count} agents are more than {MAX_AGENTS}"));
    }
    let lists = [
        ("species", agents.species.len()),
        ("bodies", agents.bodies.len()),
        ("minds", state.minds.len()),
    ];
    if let Some((name, len)) = lists.iter().find(|(_, len)| *len != count) {
        return Err(format!("there are {count} ids, but {len} {name}"));
    }
    let mut last = None;
    for (index, &id) in agents.ids.iter().enumerate() {
        if last.is_some_and(|last| id <= last) || id >= state.next_id {
            return Err(format!(
                "the id {id} is not larger than the one before, or not smaller than next_id"
            ));
        }
        last = Some(id);
        let species_index = agents.species[index];
        let Some(mind) = plan.minds.get(usize::from(species_index)) else {
            return Err(format!(
                "agent {id} is of species {species_index}, which does not exist"
            ));
        };
        if !is_valid(&agents.bodies[index]) {
            return Err(format!(
                "the position, velocity or direction of agent {id} is invalid"
            ));
        }
        let is_overridden = state.overrides.iter().any(|one| one.id == id);
        if !is_overridden && !mind.fits(&state.minds[index]) {
            return Err(format!(
                "the mind of agent {id} has other needs or actions than its species"
            ));
        }
    }
    Ok(())
}

fn is_valid(body: &Body) -> bool {
    let is_unit = |v: Vec3| (v.length() - 1.0).abs() < UNIT_TOLERANCE;
    let is_near = body.position_m.abs().max_element() < MAX_COORDINATE_M;
    body.is_finite() && is_unit(body.forward) && is_unit(body.up) && is_near
}

/// Checks that every override belongs to an agent and fits the mind of this agent. Must be called after [`check_agents`].
fn check_overrides(state: &PoolState, plan: &PoolPlan) -> Result<(), String> {
    let agents = &state.world.agents;
    for one in &state.overrides {
        let index = agents.index_of(one.id);
        let mind = index.map(|index| &plan.minds[usize::from(agents.species[index])]);
        let is_valid =
            one.params.problems().is_empty() && mind.is_some_and(|mind| mind.fits(&one.own_state));
        if !is_valid {
            return Err(format!(
                "the mind override of agent {} does not fit",
                one.id
            ));
        }
    }
    Ok(())
}

/// Checks that the numbers of caught agents and catches are finite, and that no agent is caught twice.
fn check_caught(state: &PoolState) -> Result<(), String> {
    let is_valid = |catch: &Catch| {
        let numbers = [catch.prey_length_m, catch.age_secs];
        catch.at_m.is_finite() && numbers.iter().all(|number| number.is_finite())
    };
    let caught = &state.caught;
    let is_twice =
        |(index, one): (usize, &Caught)| caught[..index].iter().any(|other| other.prey == one.prey);
    let is_sound = state.swallowed.iter().all(is_valid) && caught.iter().all(Caught::is_finite);
    if !is_sound || caught.iter().enumerate().any(is_twice) {
        return Err("a catch is not finite, or an agent is caught twice".into());
    }
    Ok(())
}

/// Computes the values of agents that are not saved because they follow from the species: name bits, size and radius.
fn derive_agents(state: &mut PoolState, plan: &PoolPlan) {
    let seed = state.world.random.seed;
    let agents = &mut state.world.agents;
    agents.name_bits.resize(agents.ids.len(), 0);
    agents.size_factors.resize(agents.ids.len(), 0.0);
    agents.radii_m.resize(agents.ids.len(), 0.0);
    agents.half_widths_m.resize(agents.ids.len(), 0.0);
    for index in 0..agents.ids.len() {
        let species = &plan.world.species[usize::from(agents.species[index])];
        agents.derive(index, species, seed);
    }
}
