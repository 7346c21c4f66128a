//! The terraces of a plan: their outlines, the mesh over them, and who can leap where.
//!
//! In: a scene, its solids and species. Out: what does not change until the next edit. Must not: know who is where.

use glam::Vec2;

use super::CLEARANCE_M;
use crate::geometry::{Solid, nearest_on_polygon, polygon_contains};
use crate::navigation::{
    Abilities, Footprints, LeapInput, MeshLinks, NavGraph, NavMesh, TerraceInput, build_mesh,
    find_links,
};
use crate::simulation::{SceneDescription, SimulationError};
use crate::world::{Species, TerraceParams};

/// Widest flight. Tuned by eye, 2026-11-21.
const REACH_M: f32 = 1.2;
/// Largest angle between a swimmer's heading and the flight's. Tuned by eye, 2026-11-21.
const HEADING_RAD: f32 = 0.7;

/// The terraces of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::simulation) struct TerraceMap {
    pub(super) terraces: Vec<TerraceParams>,
    pub(super) outlines: Vec<Vec<Vec2>>,
    pub(super) mesh: NavMesh,
    pub(super) links: MeshLinks,
}

impl TerraceMap {
    /// Compiles a scene's terraces; empty where there are none.
    pub(in crate::simulation) fn compile(
        scene: &SceneDescription,
        solids: &[Solid],
        species: &[Species],
    ) -> Result<Self, SimulationError> {
        let terraces = &scene.pool.terraces;
        if terraces.is_empty() {
            return Ok(Self::default());
        }
        let outlines: Vec<Vec<Vec2>> = terraces.iter().map(TerraceParams::corners).collect();
        // One mesh for all: what the largest of those who leap needs, or the largest of all where nobody does.
        let leapers = species.iter().filter(|s| s.motion.leap.height_m > 0.0);
        let largest = leapers.map(largest_m).fold(0.0, f32::max);
        let radius_m = if largest > 0.0 {
            largest
        } else {
            species.iter().map(largest_m).fold(0.05, f32::max)
        };
        let footprints: Vec<Footprints> = terraces
            .iter()
            .map(|terrace| {
                let mut prints = Footprints::default();
                prints.push_solids(solids, -terrace.ground_depth_m, -terrace.surface_depth_m);
                prints
            })
            .collect();
        let inputs: Vec<TerraceInput<'_>> = outlines
            .iter()
            .zip(&footprints)
            .map(|(outline_m, obstacles)| TerraceInput {
                outline_m,
                obstacles,
                grow_m: radius_m,
            })
            .collect();
        let mesh = build_mesh(&inputs).map_err(|error| SimulationError::BrokenTerraces {
            reason: error.to_string(),
        })?;
        let heights: Vec<f32> = terraces.iter().map(|t| -t.surface_depth_m).collect();
        let input = LeapInput {
            heights_m: &heights,
            solids,
            clearance_m: CLEARANCE_M,
            reach_m: REACH_M,
            heading_rad: HEADING_RAD,
        };
        let mut swimmers: Vec<Abilities> = Vec::new();
        for abilities in species.iter().map(abilities) {
            if !swimmers.contains(&abilities) {
                swimmers.push(abilities);
            }
        }
        let links = find_links(&mesh, &input, &swimmers);
        Ok(Self {
            terraces: terraces.clone(),
            outlines,
            mesh,
            links,
        })
    }

    pub(super) fn graph(&self) -> NavGraph<'_> {
        NavGraph {
            mesh: &self.mesh,
            links: &self.links,
        }
    }

    /// The terrace that a place lies over, or the nearest.
    pub(super) fn terrace_at(&self, at: Vec2) -> u16 {
        let inside = self
            .outlines
            .iter()
            .position(|outline| polygon_contains(outline, at));
        let off = |place: &usize| {
            let nearest = nearest_on_polygon(&self.outlines[*place], at);
            nearest.map_or(f32::INFINITY, |nearest| nearest.distance(at))
        };
        let nearest = || (0..self.outlines.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
        inside.or_else(nearest).unwrap_or(0) as u16
    }
}

pub(super) fn abilities(species: &Species) -> Abilities {
    let leap = &species.motion.leap;
    Abilities {
        leap_height_m: leap.height_m,
        leap_speed_mps: if leap.height_m > 0.0 {
            leap.take_off_mps
        } else {
            0.0
        },
        leap_cooldown_secs: leap.cooldown_secs,
        radius_m: largest_m(species),
    }
}

/// Radius of the largest of a species.
fn largest_m(species: &Species) -> f32 {
    species.body.radius_m * (1.0 + species.body.size_spread)
}
