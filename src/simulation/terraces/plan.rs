//! The terraces of a plan: their outlines, the navigation mesh, and the links over which agents can leap or drop to another
//! terrace.
//!
//! In: a scene, its solids and species. Out: data that does not change until the next plan. Must not: depend on agents.

use glam::Vec2;

use super::CLEARANCE_M;
use crate::geometry::{Solid, nearest_on_polygon, polygon_contains};
use crate::navigation::{
    Abilities, Footprints, LeapInput, MeshLinks, NavGraph, NavMesh, TerraceInput, build_mesh,
    find_links,
};
use crate::simulation::{SceneDescription, SimulationError};
use crate::world::{Species, TerraceParams};

/// Maximum horizontal length of a flight. Tuned by eye, 2026-11-21.
const REACH_M: f32 = 1.2;
/// Maximum angle between the heading of an agent and its flight. Tuned by eye, 2026-11-21.
const HEADING_RAD: f32 = 0.7;
/// Minimum body radius for which the mesh is built if no species can leap. It keeps the mesh away from walls even if all bodies
/// are smaller.
const MIN_RADIUS_M: f32 = 0.05;

/// The compiled terraces of a scene; empty if it has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::simulation) struct TerracePlan {
    pub(super) terraces: Vec<TerraceParams>,
    /// Outline of each terrace.
    pub(super) outlines: Vec<Vec<Vec2>>,
    pub(super) mesh: NavMesh,
    pub(super) links: MeshLinks,
}

impl TerracePlan {
    /// Compiles the terraces of a scene.
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
        // All species use the same mesh. It keeps a distance from walls for the largest agent that can leap. If no species can
        // leap, it keeps a distance for the largest agent.
        let leapers = species.iter().filter(|s| s.motion.leap.height_m > 0.0);
        let largest = leapers.map(largest_radius_m).fold(0.0, f32::max);
        let radius_m = if largest > 0.0 {
            largest
        } else {
            let radii = species.iter().map(largest_radius_m);
            radii.fold(MIN_RADIUS_M, f32::max)
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
        let mesh = build_mesh(&inputs).map_err(|error| SimulationError::InvalidTerraces {
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
        let mut distinct: Vec<Abilities> = Vec::new();
        for abilities in species.iter().map(abilities) {
            if !distinct.contains(&abilities) {
                distinct.push(abilities);
            }
        }
        let links = find_links(&mesh, &input, &distinct);
        Ok(Self {
            terraces: terraces.clone(),
            outlines,
            mesh,
            links,
        })
    }

    /// Whether the scene has no terraces.
    pub(super) fn is_empty(&self) -> bool {
        self.terraces.is_empty()
    }

    pub(super) fn graph(&self) -> NavGraph<'_> {
        NavGraph {
            mesh: &self.mesh,
            links: &self.links,
        }
    }

    /// Returns the index of the terrace that contains a horizontal position; if there is none, of the nearest terrace.
    pub(super) fn terrace_at(&self, at: Vec2) -> u16 {
        let inside = self
            .outlines
            .iter()
            .position(|outline| polygon_contains(outline, at));
        let distance = |index: &usize| {
            let nearest = nearest_on_polygon(&self.outlines[*index], at);
            nearest.map_or(f32::INFINITY, |nearest| nearest.distance(at))
        };
        let nearest =
            || (0..self.outlines.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        inside.or_else(nearest).unwrap_or(0) as u16
    }
}

/// Returns the limits within which agents of a species can move between terraces.
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
        radius_m: largest_radius_m(species),
    }
}

/// Radius of the largest individual that a species can have.
fn largest_radius_m(species: &Species) -> f32 {
    species.body.radius_m * (1.0 + species.body.size_spread)
}
