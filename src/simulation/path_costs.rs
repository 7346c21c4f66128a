//! The cost layers of a running pool: what makes water dangerous, crowded or attractive for the path searches of each species.
//!
//! In: shadows, agents, areas of the scene. Out: one layer for each species that searches paths. **Source**: Lischka 2014, §7.5.

use glam::{Vec2, Vec3};

use super::Simulation;
use crate::behavior::Mind;
use crate::geometry::{Visitor, nearest_on_edge, polygon_contains};
use crate::navigation::CostLayer;
use crate::world::{IN_THE_AIR, Species, Temperament, World, outline_at_depth};

/// Number of ticks between two updates. Visitors and enemies do not move far in this time.
const COST_TICKS: u64 = 15;
/// Time for which the motion of a shadow is predicted.
const LEAD_SECS: f32 = 1.0;
/// Additional cost of a meter that is nearer to a shadow than the agent bears.
const SHADOW_COST: f32 = 8.0;
/// Distance beyond that within which the cost falls to 0, so that a way does not lead along the limit.
const SHADOW_FADE_M: f32 = 0.25;
/// Allowance for rounding of a distance.
const ROUNDING_M: f32 = 1e-3;
/// Additional cost of a meter beside an enemy. It falls to 0 at `ENEMY_REACH_M`. Tuned by eye, 2026-11-21.
const ENEMY_COST: f32 = 4.0;
/// Distance of an enemy from which on it costs nothing.
const ENEMY_REACH_M: f32 = 0.8;
/// Change of the cost of a meter beside a friend. It falls to 0 at `FRIEND_REACH_M`.
const FRIEND_COST: f32 = -0.15;
/// Distance of a friend from which on it attracts no more.
const FRIEND_REACH_M: f32 = 0.5;
/// Additional cost of a meter through another agent: several of them in a narrow passage make a detour better.
const CROWD_COST: f32 = 0.5;

/// Returns the factor on the costs of dangerous water for an individual: 2 for the shyest, 1/2 for the boldest.
pub(super) fn caution(seed: u64, id: u32, species: &Species) -> f32 {
    let temperament = Temperament::of(seed, id);
    Temperament::factor(
        1.0 - temperament.with_courage(species.boldness).courage,
        1.0,
    )
}

impl Simulation {
    /// Updates the cost layers of the species whose agents search paths, every [`COST_TICKS`] ticks.
    pub(super) fn update_costs(&mut self) {
        let species = self.plan.world.species.len();
        let costs = &mut self.state.costs;
        let is_new = costs.len() != species;
        if !is_new && !self.state.world.random.tick.is_multiple_of(COST_TICKS) {
            return;
        }
        costs.resize_with(species, CostLayer::default);
        let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
        let minds = self.plan.minds.iter().zip(costs).enumerate();
        for (index, (mind, layer)) in minds.filter(|(_, (mind, _))| mind.pathing() != 0) {
            fill(&world, (index, mind), layer);
        }
    }
}

/// Writes the costs of the water for one species.
fn fill(world: &World<'_>, (species, mind): (usize, &Mind), layer: &mut CostLayer) {
    let of = &world.species[species];
    let water = world.water;
    let (low_y, high_y) = water.y_range_m(0.0);
    let half = water.edge_half_m(low_y, of.margin_m);
    layer.reset(-half, half);
    for area in &water.params.areas {
        let corners = &area.corners();
        let (low, high) = corners.iter().fold((half, -half), |(low, high), &at| {
            (low.min(at), high.max(at))
        });
        layer.add((low, high), 0.0, |at| {
            if polygon_contains(corners, at) {
                area.cost
            } else {
                0.0
            }
        });
    }
    // Terraces lie at different depths; a shadow grows by some percent from one to the next.
    let y = (low_y + high_y) / 2.0;
    let radius_m = of.body.radius_m;
    let visitors = world.visitors;
    for (shadow, &reach_m) in visitors.shadows.iter().zip(&visitors.bounding_radii_m) {
        let scale = water.scale(y);
        let bears_m = mind.keeps_from_m(shadow);
        let center_m = shadow.centroid_m * scale;
        let way_m = shadow.velocity_mps * (LEAD_SECS * scale);
        let reach_m = reach_m * scale + radius_m + bears_m.max(0.0) + SHADOW_FADE_M;
        let mut measured: Option<(Vec2, f32)> = None;
        layer.add((center_m, center_m + way_m), reach_m, |at| {
            // The distance changes by at most the way from one place to another, so most cells need no measurement: they are
            // farther than the cost reaches, or nearer than where it begins to fall.
            if let Some((there, distance_m)) = measured {
                let apart_m = at.distance(there) + ROUNDING_M;
                if distance_m - apart_m >= bears_m + SHADOW_FADE_M {
                    return 0.0;
                }
                if distance_m + apart_m <= bears_m {
                    return SHADOW_COST;
                }
            }
            let distance_m =
                least_distance_m(shadow, (at, y), (way_m, center_m), (radius_m, scale));
            measured = Some((at, distance_m));
            let beyond_m = (distance_m - bears_m).max(0.0);
            SHADOW_COST * (1.0 - beyond_m / SHADOW_FADE_M).max(0.0)
        });
    }
    let agents = world.agents;
    for (index, body) in agents.bodies.iter().enumerate() {
        let names = agents.name_bits[index];
        if names == 0 || world.terraces.get(index) == Some(&IN_THE_AIR) {
            continue;
        }
        let at_m = Vec2::new(body.position_m.x, body.position_m.z);
        let (cost, reach_m) = if names & of.relations.enemy != 0 {
            (ENEMY_COST, ENEMY_REACH_M)
        } else if names & of.relations.friend != 0 {
            (FRIEND_COST, FRIEND_REACH_M)
        } else {
            (CROWD_COST, radius_m + agents.radii_m[index])
        };
        layer.add((at_m, at_m), reach_m, |at| {
            cost * (1.0 - at.distance(at_m) / reach_m).max(0.0)
        });
    }
}

/// Returns the distance of a body at a place from a shadow, now or when the shadow is nearest on its predicted way.
fn least_distance_m(
    shadow: &Visitor,
    (at, y): (Vec2, f32),
    (way_m, center_m): (Vec2, Vec2),
    (radius_m, scale): (f32, f32),
) -> f32 {
    let when = |moved: Vec2| {
        let at = at - moved;
        outline_at_depth(shadow, Vec3::new(at.x, y, at.y), radius_m, scale).distance_m
    };
    let now_m = when(Vec2::ZERO);
    if way_m == Vec2::ZERO {
        return now_m;
    }
    now_m.min(when(nearest_on_edge(Vec2::ZERO, way_m, at - center_m)))
}
