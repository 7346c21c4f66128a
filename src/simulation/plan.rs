//! A pool ready to be taken over between two ticks: everything compiled beforehand, off the thread that ticks.
//!
//! In: a description. Out: numbers, masks and minds. Must not: touch a living pool.

use super::description::{
    IndividualDescription, MAX_AGENTS, SceneDescription, SimulationError, SpeciesDescription,
};
use super::terraces::TerraceMap;
use crate::behavior::{Mind, MindParams, RuleParams};
use glam::Vec3;

use crate::geometry::Solid;
use crate::navigation::FlowFields;
use crate::world::{NameTable, Relations, Species, VISITOR_SPECIES, Water};

/// A compiled pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolPlan {
    pub(super) water: Water,
    pub(super) solids: Vec<Solid>,
    pub(super) fields: FlowFields,
    pub(super) terraces: TerraceMap,
    pub(super) species: Vec<Species>,
    pub(super) minds: Vec<Mind>,
    /// What the minds were compiled from.
    pub(super) thinking: Vec<MindParams>,
    pub(super) counts: Vec<u32>,
    pub(super) visitor_name_bits: u64,
    /// Where those with names start.
    pub(super) places_m: Vec<Option<Vec3>>,
    pub(super) rules: Vec<RuleParams>,
}

impl PoolPlan {
    /// Compiles a description.
    ///
    /// # Errors
    /// When names, agents or obstacles are more or other than can be held.
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
        for (place, description) in scene.species.iter().enumerate() {
            let one = compiled(description, place, &mut names)
                .ok_or_else(|| too_many(&description.name))?;
            species.push(one);
        }
        let mut thinking: Vec<MindParams> = scene.species.iter().map(|s| s.mind.clone()).collect();
        let mut counts: Vec<u32> = scene.species.iter().map(|s| s.count).collect();
        let mut places_m = vec![None; counts.len()];
        // Those with names are species of one, behind the species that a picture knows.
        for (base, description) in scene.species.iter().enumerate() {
            for individual in description
                .individuals
                .iter()
                .take(description.count as usize)
            {
                let one = compiled_individual(&species[base], base, individual, &mut names)
                    .ok_or_else(|| too_many(&description.name))?;
                species.push(one);
                thinking.push(individual.mind.clone());
                places_m.push(individual.position_m.map(Vec3::from));
                counts[base] -= 1;
                counts.push(1);
            }
        }
        let each = thinking.iter().zip(&species);
        let minds = each
            .map(|(mind, species)| Mind::compile(mind, species))
            .collect();
        let solids = solids(scene)?;
        let terraces = TerraceMap::compile(scene, &solids, &species)?;
        Ok(Self {
            fields: fields(scene, &solids, &names),
            water: Water {
                surface: scene.surface.clone(),
                params: scene.pool.clone(),
            },
            solids,
            terraces,
            species,
            minds,
            thinking,
            counts,
            visitor_name_bits,
            places_m,
            rules: scene.director.clone(),
        })
    }
}

fn compiled(
    description: &SpeciesDescription,
    place: usize,
    names: &mut NameTable,
) -> Option<Species> {
    let species_bit = names.intern(&description.name)?;
    let mut bits = species_bit;
    for group in &description.groups {
        bits |= names.intern(group)?;
    }
    Some(Species {
        name: description.name.clone(),
        individual: None,
        base_species: u16::try_from(place).ok()?,
        species_bit,
        name_bits: bits,
        body: description.body.clone(),
        motion: description.motion.clone(),
        perception: description.perception.clone(),
        flock: description.flock.clone(),
        relations: Relations::resolve(&description.relations, names)?,
        avoidance: description.avoidance,
    })
}

fn fields(scene: &SceneDescription, solids: &[Solid], names: &NameTable) -> FlowFields {
    FlowFields::compile(&scene.fields, solids, &scene.field_grids, |field| {
        if field.acts_on.is_empty() {
            return u64::MAX;
        }
        // Who is not in the pool bears no name here.
        let bits = field.acts_on.iter().filter_map(|name| names.find(name));
        bits.fold(0, |all, bit| all | bit)
    })
}

fn compiled_individual(
    species: &Species,
    base: usize,
    individual: &IndividualDescription,
    names: &mut NameTable,
) -> Option<Species> {
    let mut bits = species.name_bits | names.intern(&individual.name)?;
    for group in &individual.groups {
        bits |= names.intern(group)?;
    }
    Some(Species {
        individual: Some(individual.name.clone()),
        base_species: u16::try_from(base).ok()?,
        name_bits: bits,
        relations: Relations::resolve(&individual.relations, names)?,
        ..species.clone()
    })
}

fn solids(scene: &SceneDescription) -> Result<Vec<Solid>, SimulationError> {
    let broken = |index| SimulationError::BrokenObstacle { index };
    let each = scene.obstacles.iter().enumerate();
    each.map(|(index, params)| params.solid().ok_or_else(|| broken(index)))
        .collect()
}
