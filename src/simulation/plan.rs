//! The plan of a pool: everything that is compiled from a scene description. Compiled outside the thread that runs the ticks.
//!
//! In: a scene description. Out: numbers, bit sets and minds. Must not: touch a running simulation.

use glam::Vec3;

use super::description::{
    IndividualDescription, MAX_AGENTS, SceneDescription, SimulationError, SpeciesDescription,
};
use super::terraces::TerracePlan;
use crate::behavior::{
    Mind, MindParams, SOLID_SEARCH_RADIUS_MIN_M, query_radius_m, widest_overhang_m,
};
use crate::geometry::Solid;
use crate::navigation::FlowFields;
use crate::world::{
    BodyParams, Effect, NameTable, Relations, RuleParams, ScenePath, SolidIndex, Species,
    VISITOR_SPECIES, Water, WorldPlan,
};

/// Search margin of `WorldPlan::contact_solids`. A body whose motion in one tick plus radius is shorter than this is checked
/// only against those solids. A faster body is checked against all solids.
const CONTACT_MARGIN_M: f32 = 0.5;

/// A compiled pool. A change of the pool replaces the whole plan. The running simulation reads the plan, and changes only the species
/// that rules of the director change for a time: `PoolPlan::direct`.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolPlan {
    pub(super) world: WorldPlan,
    pub(super) fields: FlowFields,
    pub(super) terraces: TerracePlan,
    /// Mind of each species and named individual.
    pub(super) minds: Vec<Mind>,
    /// Parameters of these minds.
    pub(super) mind_params: Vec<MindParams>,
    /// The species and named individuals as described, without what rules change.
    described: Vec<Species>,
    /// Number of agents of each species and named individual.
    pub(super) counts: Vec<u32>,
    /// Start position of each named individual that has one; `None` for species.
    pub(super) start_positions_m: Vec<Option<Vec3>>,
    /// Rules of the director.
    pub(super) rules: Vec<RuleParams>,
    /// Names of species, groups, individuals and relations.
    names: NameTable,
}

impl PoolPlan {
    /// Compiles a scene description.
    ///
    /// # Errors
    /// If there are too many names or agents, or if an obstacle or the terraces are invalid.
    pub fn compile(scene: &SceneDescription) -> Result<Self, SimulationError> {
        let count: u64 = scene.species.iter().map(|s| u64::from(s.count)).sum();
        if count > MAX_AGENTS {
            return Err(SimulationError::TooManyAgents { count });
        }
        let mut names = NameTable::default();
        let too_many = |species: &str| SimulationError::TooManyNames {
            species: species.to_owned(),
        };
        let visitor_name_bits = names
            .intern(VISITOR_SPECIES)
            .ok_or_else(|| too_many(VISITOR_SPECIES))?;
        let mut species = Vec::with_capacity(scene.species.len());
        let water = Water {
            surface: scene.surface.clone(),
            params: scene.pool.clone(),
        };
        for (index, description) in scene.species.iter().enumerate() {
            let margin_m = water.margin_of_m(&description.name);
            let compiled = compile_species(description, (index, margin_m), &mut names)
                .ok_or_else(|| too_many(&description.name))?;
            species.push(compiled);
        }
        let mut mind_params: Vec<_> = scene.species.iter().map(|s| &s.mind).collect();
        let mut counts: Vec<u32> = scene.species.iter().map(|s| s.count).collect();
        let mut start_positions_m = vec![None; counts.len()];
        // Each named individual is a species with one agent. It is added behind the real species, so that the indices of the
        // real species, which snapshots use, do not change.
        for (base, description) in scene.species.iter().enumerate() {
            let named = description.individuals.iter();
            for individual in named.take(description.count as usize) {
                let compiled = compile_individual(&species[base], base, individual, &mut names)
                    .ok_or_else(|| too_many(&description.name))?;
                species.push(compiled);
                mind_params.push(&individual.mind);
                start_positions_m.push(individual.position_m.map(Vec3::from));
                counts[base] -= 1;
                counts.push(1);
            }
        }
        let minds = mind_params
            .iter()
            .zip(&species)
            .map(|(params, species)| Mind::compile(params, species))
            .collect();
        let solids = compile_solids(scene)?;
        let terraces = TerracePlan::compile(scene, &solids, &species)?;
        Ok(Self {
            mind_params: mind_params.into_iter().cloned().collect(),
            described: species.clone(),
            fields: compile_fields(scene, &solids, &names),
            world: WorldPlan {
                water,
                contact_solids: SolidIndex::new(&solids, CONTACT_MARGIN_M),
                sight_solids: SolidIndex::new(&solids, sight_margin_m(&species, &scene.director)),
                solids,
                paths: scene.paths.iter().map(ScenePath::new).collect(),
                barriers: scene.barriers.clone(),
                species,
                visitor_name_bits,
            },
            terraces,
            minds,
            counts,
            start_positions_m,
            rules: scene.director.clone(),
            names,
        })
    }

    /// Returns the bit of the name of a species, a group or an individual; `None` if there is none with this name.
    pub(super) fn name_bit(&self, name: &str) -> Option<u64> {
        self.names.find(name)
    }

    /// Changes the species as the rules with these indices demand, and no longer as earlier ones did.
    pub(super) fn direct(&mut self, active: impl Iterator<Item = usize>) {
        let mut species = self.described.clone();
        for effect in active.filter_map(|rule| self.rules.get(rule).map(|rule| &rule.then)) {
            let targets = species.iter_mut().filter(|one| self.is_target(effect, one));
            match effect {
                Effect::Speed(change) => targets.for_each(|one| one.motion.hurry(change.factor)),
                Effect::Relation(change) => {
                    let names = change.to.iter().filter_map(|name| self.name_bit(name));
                    let names = names.fold(0, |all, bit| all | bit);
                    targets.for_each(|one| one.relations.set(&change.relation, names, change.on));
                }
                _ => {}
            }
        }
        let described = self.mind_params.iter().zip(&species);
        self.minds = described
            .map(|(params, species)| Mind::compile(params, species))
            .collect();
        self.world.species = species;
    }

    /// Returns the mind of a species by its name; `None` if it is not in the pool.
    pub(super) fn mind_of(&self, species: &str) -> Option<&MindParams> {
        let mut own = self.described.iter().zip(&self.mind_params);
        own.find(|(one, _)| one.individual.is_none() && one.name == species)
            .map(|(_, params)| params)
    }

    /// Whether an effect of the director applies to a species or named individual.
    pub(super) fn is_target(&self, effect: &Effect, species: &Species) -> bool {
        let mut targets = effect
            .species()
            .iter()
            .filter_map(|name| self.name_bit(name));
        effect.species().is_empty() || targets.any(|bit| species.name_bits & bit != 0)
    }
}

/// Compiles a species; `None` if there are too many names.
fn compile_species(
    description: &SpeciesDescription,
    (index, margin_m): (usize, f32),
    names: &mut NameTable,
) -> Option<Species> {
    let species_bit = names.intern(&description.name)?;
    let mut name_bits = species_bit;
    for group in &description.groups {
        name_bits |= names.intern(group)?;
    }
    Some(Species {
        name: description.name.clone(),
        individual: None,
        base_species: u16::try_from(index).ok()?,
        species_bit,
        name_bits,
        groups: description.groups.clone(),
        boldness: None,
        look: u16::try_from(index).ok()?,
        margin_m,
        body: description.body.clone(),
        motion: description.motion.clone(),
        perception: description.perception.clone(),
        flock: description.flock.clone(),
        relations: Relations::resolve(&description.relations, names)?,
    })
}

/// Compiles a named individual of a species; `None` if there are too many names.
fn compile_individual(
    species: &Species,
    base: usize,
    individual: &IndividualDescription,
    names: &mut NameTable,
) -> Option<Species> {
    let mut name_bits = species.name_bits | names.intern(&individual.name)?;
    for group in &individual.groups {
        name_bits |= names.intern(group)?;
    }
    let own = individual.groups.iter();
    let own = own.filter(|group| !species.groups.contains(group)).cloned();
    let size = individual.size.unwrap_or(1.0);
    let body = &species.body;
    let mut body = BodyParams {
        size_spread: individual.size.map_or(body.size_spread, |_| 0.0),
        ..body.clone()
    };
    body.scale(size);
    Some(Species {
        body,
        boldness: individual.boldness,
        look: individual.look.unwrap_or(species.look),
        groups: species.groups.iter().cloned().chain(own).collect(),
        individual: Some(individual.name.clone()),
        base_species: u16::try_from(base).ok()?,
        name_bits,
        relations: Relations::resolve(&individual.relations, names)?,
        ..species.clone()
    })
}

fn compile_fields(scene: &SceneDescription, solids: &[Solid], names: &NameTable) -> FlowFields {
    FlowFields::compile(&scene.fields, solids, |field| {
        if field.acts_on.is_empty() {
            return u64::MAX;
        }
        // Names of species that do not live in this pool are not in the table.
        let bits = field.acts_on.iter().filter_map(|name| names.find(name));
        bits.fold(0, |all, bit| all | bit)
    })
}

fn compile_solids(scene: &SceneDescription) -> Result<Vec<Solid>, SimulationError> {
    let invalid = |index| SimulationError::InvalidObstacle { index };
    let obstacles = scene.obstacles.iter().enumerate();
    obstacles
        .map(|(index, params)| params.solid().ok_or_else(|| invalid(index)))
        .collect()
}

/// Returns the largest distance at which an agent of any species perceives solids. A rule can make any species a hunter, which sees
/// its prey from farther away.
fn sight_margin_m(species: &[Species], rules: &[RuleParams]) -> f32 {
    let can_become_hunters = rules
        .iter()
        .any(|rule| matches!(rule.then, Effect::Relation(_)));
    let largest = species
        .iter()
        .map(|s| s.body.radius_m * (1.0 + s.body.size_spread))
        .fold(0.0, f32::max);
    let smallest = |s: &Species| s.body.radius_m * (1.0 - s.body.size_spread);
    let reaches = species.iter().map(|s| {
        let mut s = s.clone();
        if can_become_hunters {
            s.perception.sight_radius_m = s
                .perception
                .sight_radius_m
                .max(s.perception.prey_sight_radius_m);
        }
        query_radius_m(&s, largest, smallest(&s))
    });
    let overhang_m = widest_overhang_m(species);
    reaches.fold(SOLID_SEARCH_RADIUS_MIN_M, f32::max) + 2.0 * overhang_m
}
