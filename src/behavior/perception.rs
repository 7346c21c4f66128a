//! Perception of one agent in one tick: its neighbors and the nearby obstacles.
//!
//! In: the world before the tick. Out: neighbors, each with its visibility, and the updated memory of enemy, prey and
//! food. The neighbor index is queried once per agent and tick; all actions use the result.
//!
//! An agent sees nothing outside its field of view and nothing behind obstacles. It can see prey and larger agents at
//! a greater distance than other agents. Flocking also uses neighbors outside the field of view, because fish feel
//! the movement of neighbors with the lateral line organ. **Source**: Jockel 2005, §4.2.1; Tu 1996.

use glam::{Vec2, Vec3};

use crate::geometry::Solid;
use crate::world::{GridHits, KNOWN_BIT, Species, World, agent_key, shadow_key};

use super::perception_memory::{PerceptionMemory, SeenAgent, apparent_m};

/// Another agent, or a visitor's shadow, within sight of the perceiving agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Index in the world's list of agents. The indices of shadows follow after the last agent.
    pub agent: u32,
    /// Whether the neighbor is a visitor's shadow. A shadow is projected to the depth of the perceiving agent.
    pub is_shadow: bool,
    /// Whether the neighbor is within the field of view of the perceiving agent.
    pub in_view: bool,
    /// Bits of the neighbor's names, plus the bit of the relation `known` if the perceiving agent knows the neighbor.
    pub name_bits: u64,
    /// Offset of the neighbor's center from the center of the perceiving agent. Never zero.
    pub offset_m: Vec3,
    /// Length of the offset.
    pub distance_m: f32,
    /// Radius of the neighbor; for a wide one, half of its extent towards the perceiving agent.
    pub radius_m: f32,
    /// Unit vector of the neighbor's heading. For a shadow, the direction of its velocity.
    pub forward: Vec3,
}

/// Minimum radius within which obstacles are searched. It applies if the sight radius is shorter.
pub const SOLID_SEARCH_RADIUS_MIN_M: f32 = 2.0;

/// Returns a key that identifies a neighbor (agent or shadow) for as long as that neighbor exists.
pub(super) fn identity_key(world: &World<'_>, neighbor: &Neighbor) -> u32 {
    let index = neighbor.agent as usize;
    match world.agents.ids.get(index) {
        Some(id) => agent_key(*id),
        None => {
            let shadow = world.visitors.shadows.get(index - world.agents.len());
            shadow_key(shadow.map_or(0, |s| s.id))
        }
    }
}

/// Result of one agent's perception. Its buffers are reused for the next agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Perception {
    /// Other agents and shadows within sight.
    pub(super) neighbors: Vec<Neighbor>,
    /// Indices of nearby obstacles in the world's list of solids.
    pub(super) near_solids: Vec<u32>,
    /// Entries of the neighbor index found by the last query.
    hits: GridHits,
}

impl Perception {
    /// Reserves memory, so that perception in a pool with this many agents and obstacles rarely has to allocate.
    pub(super) fn reserve_for(&mut self, neighbors: usize, solids: usize) {
        self.neighbors.clear();
        self.neighbors.reserve(neighbors);
        self.near_solids.clear();
        self.near_solids.reserve(solids);
        self.hits.reserve(neighbors);
    }

    /// Finds the neighbors and obstacles around one agent, and updates its memory of enemy, prey and food.
    pub(super) fn update(
        &mut self,
        world: &World<'_>,
        index: usize,
        field_of_view: FieldOfView,
        remembered: &mut PerceptionMemory,
    ) {
        let species = &world.species[usize::from(world.agents.species[index])];
        let at = world.agents.bodies[index].position_m;
        // Only an agent that sees larger agents from farther away needs the largest one.
        let largest_m = if species.perception.size_gain > 0.0 {
            largest_radius_m(world)
        } else {
            0.0
        };
        let own_m = world.agents.radii_m[index];
        let query_radius_m =
            query_radius_m(species, largest_m, own_m) + widest_overhang_m(world.species);
        self.near_solids.clear();
        let own_overhang_m = world.agents.half_widths_m[index] - own_m;
        let search_radius_m = query_radius_m.max(SOLID_SEARCH_RADIUS_MIN_M) + own_overhang_m;
        let listed = world
            .sight_solids
            .indices_near(at)
            .iter()
            .zip(world.sight_solids.near(at));
        for (&index, solid) in listed {
            let limit = search_radius_m + solid.bounding_radius_m();
            if solid.center_m().distance_squared(at) < limit * limit {
                self.near_solids.push(index);
            }
        }
        self.neighbors.clear();
        let observer = Observer::new(world, index, field_of_view);
        self.find_agents(world, index, query_radius_m, &observer);
        self.find_shadows(world, index, &observer);
        self.mark_known(world, remembered);
        let solids = || {
            self.near_solids
                .iter()
                .map(|&index| (index as usize, &world.solids[index as usize]))
        };
        let relations = &species.relations;
        let calm_share = species.perception.calm_enemy_share;
        for (seen, names, calm_share) in [
            (&mut remembered.enemy, relations.enemy, calm_share),
            (&mut remembered.prey, relations.prey, 1.0),
            (&mut remembered.food, relations.food, 1.0),
        ] {
            if names == 0 {
                // An edit may have removed the relation while the agent remembered an enemy, prey or food.
                *seen = SeenAgent::default();
                continue;
            }
            let caution =
                |neighbor: &Neighbor| match world.agents.bodies.get(neighbor.agent as usize) {
                    Some(body) if calm_share < 1.0 && !body.intent.hunts => calm_share,
                    _ => 1.0,
                };
            let appears = |neighbor: &Neighbor| apparent_m(neighbor.distance_m, caution(neighbor));
            match first_visible(at, &self.neighbors, names, appears, solids) {
                Some(neighbor) => {
                    *seen = SeenAgent {
                        position_m: at + neighbor.offset_m,
                        velocity_mps: neighbor_velocity_mps(world, at, neighbor),
                        radius_m: neighbor.radius_m,
                        agent: (!neighbor.is_shadow).then_some(neighbor.agent),
                        caution: caution(neighbor),
                        age_secs: 0.0,
                    };
                }
                None => seen.age_secs += world.dt_secs,
            }
        }
    }

    /// Sets the bit of the relation `known` on neighbors that the agent knows.
    fn mark_known(&mut self, world: &World<'_>, remembered: &PerceptionMemory) {
        let known = remembered
            .known
            .iter()
            .filter(|known| known.left_secs > 0.0);
        if known.clone().next().is_none() {
            return;
        }
        for neighbor in &mut self.neighbors {
            let key = identity_key(world, neighbor);
            if known.clone().any(|known| known.key == key) {
                neighbor.name_bits |= KNOWN_BIT;
            }
        }
    }

    fn find_agents(
        &mut self,
        world: &World<'_>,
        index: usize,
        query_radius_m: f32,
        observer: &Observer,
    ) {
        let agents = &world.agents;
        let grid = &world.grid;
        grid.within(observer.at, query_radius_m, &mut self.hits);
        for slot in self.hits.iter() {
            let agent = grid.agents[slot];
            let other = agent as usize;
            if other == index {
                continue;
            }
            let offset_m = Vec3::new(grid.x_m[slot], grid.y_m[slot], grid.z_m[slot]) - observer.at;
            let distance_m = offset_m.length();
            let (bits, radius_m) = (agents.name_bits[other], agents.radii_m[other]);
            let overhang_m = agents.half_widths_m[other] - radius_m;
            if distance_m > observer.sight_radius_m(bits, radius_m) + overhang_m {
                continue;
            }
            let radius_m = if overhang_m > 0.0 {
                agents.hull(other).reach_m(offset_m.normalize_or_zero())
            } else {
                radius_m
            };
            let neighbor = Neighbor {
                agent,
                is_shadow: false,
                in_view: true,
                name_bits: bits,
                offset_m,
                distance_m,
                radius_m,
                forward: Vec3::new(
                    grid.forward_x[slot],
                    grid.forward_y[slot],
                    grid.forward_z[slot],
                ),
            };
            self.neighbors
                .push(observer.with_visibility(neighbor, index));
        }
    }

    fn find_shadows(&mut self, world: &World<'_>, index: usize, observer: &Observer) {
        let scale = world.water.scale(observer.at.y);
        for (shadow_index, shadow) in world.visitors.shadows.iter().enumerate() {
            let center = shadow.centroid_m * scale - Vec2::new(observer.at.x, observer.at.z);
            let radius_m = shadow.radius_m * scale;
            let bits = world.visitor_name_bits;
            if center.length_squared() > observer.sight_radius_m(bits, radius_m).powi(2) {
                continue;
            }
            let velocity = shadow.velocity_mps * scale;
            let neighbor = Neighbor {
                agent: (world.agents.len() + shadow_index) as u32,
                is_shadow: true,
                in_view: true,
                name_bits: bits,
                offset_m: Vec3::new(center.x, 0.0, center.y),
                distance_m: center.length(),
                radius_m,
                forward: Vec3::new(velocity.x, 0.0, velocity.y).normalize_or(Vec3::X),
            };
            self.neighbors
                .push(observer.with_visibility(neighbor, index));
        }
    }
}

/// Returns the agents that an agent perceives now, the nearest first, without the index of neighbors: for explanations, which are
/// also made between a change of the pool and the next tick.
pub(super) fn perceived_agents(
    world: &World<'_>,
    index: usize,
    field_of_view: FieldOfView,
) -> Vec<Neighbor> {
    let observer = Observer::new(world, index, field_of_view);
    let agents = world.agents;
    let perceive = |(other, body): (usize, &crate::world::Body)| {
        let offset_m = body.position_m - observer.at;
        let (bits, radius_m) = (agents.name_bits[other], agents.radii_m[other]);
        let distance_m = offset_m.length();
        let overhang_m = agents.half_widths_m[other] - radius_m;
        let sight_m = observer.sight_radius_m(bits, radius_m) + overhang_m;
        let is_perceived = other != index && distance_m <= sight_m;
        let radius_m = agents.hull(other).reach_m(offset_m.normalize_or_zero());
        let neighbor = Neighbor {
            agent: other as u32,
            is_shadow: false,
            in_view: true,
            name_bits: bits,
            offset_m,
            distance_m,
            radius_m,
            forward: body.forward,
        };
        is_perceived.then(|| observer.with_visibility(neighbor, index))
    };
    let mut found: Vec<_> = (agents.bodies.iter().enumerate())
        .filter_map(perceive)
        .collect();
    found.sort_by(|a, b| a.distance_m.total_cmp(&b.distance_m));
    found
}

/// Returns the radius of the neighbor query: the largest distance at which an agent of this species can see another
/// agent.
///
/// `largest_m` is the radius of the largest agent in the pool, `own_m` the radius of the perceiving agent.
pub fn query_radius_m(species: &Species, largest_m: f32, own_m: f32) -> f32 {
    let perception = &species.perception;
    let radius = if species.relations.prey == 0 {
        perception.sight_radius_m
    } else {
        perception
            .sight_radius_m
            .max(perception.prey_sight_radius_m)
    };
    radius * (1.0 + perception.size_gain * (largest_m / own_m.max(1e-3) - 1.0).max(0.0))
}

/// Returns how far the widest body reaches beyond its sphere: another agent perceives it although its center is farther than it
/// can see.
pub fn widest_overhang_m(species: &[Species]) -> f32 {
    let overhangs = species
        .iter()
        .map(|s| (s.body.half_width_m() - s.body.radius_m) * (1.0 + s.body.size_spread));
    overhangs.fold(0.0, f32::max)
}

fn largest_radius_m(world: &World<'_>) -> f32 {
    let sizes = world
        .species
        .iter()
        .map(|s| s.body.radius_m * (1.0 + s.body.size_spread));
    sizes.fold(0.0, f32::max)
}

/// Returns the velocity of a neighbor. The velocity of a shadow is scaled to the depth of the perceiving agent, which
/// is at `at_m`.
pub(super) fn neighbor_velocity_mps(world: &World<'_>, at_m: Vec3, neighbor: &Neighbor) -> Vec3 {
    let index = neighbor.agent as usize;
    if let Some(body) = world.agents.bodies.get(index) {
        return body.velocity_mps;
    }
    let shadow = world.visitors.shadows.get(index - world.agents.len());
    let velocity = shadow.map_or(Vec2::ZERO, |s| s.velocity_mps * world.water.scale(at_m.y));
    Vec3::new(velocity.x, 0.0, velocity.y)
}

/// Field of view of a species.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FieldOfView {
    /// Cosine of the angle from straight ahead to each side.
    cos_limit: f32,
}

impl FieldOfView {
    /// Makes a field of view from its full angle, in degrees. With 360° or more, an agent sees in all directions.
    pub(super) fn new(field_of_view_deg: f32) -> Self {
        Self {
            cos_limit: if field_of_view_deg >= 360.0 {
                -2.0
            } else {
                (field_of_view_deg / 2.0).to_radians().cos()
            },
        }
    }
}

/// Values of the perceiving agent that determine its visible neighbors.
struct Observer {
    at: Vec3,
    forward: Vec3,
    /// 1 / radius of the perceiving agent, in 1/m.
    per_own_radius: f32,
    /// Mask of the names of the perceiving agent's prey.
    prey: u64,
    sight_m: f32,
    prey_sight_m: f32,
    size_gain: f32,
    cos_limit: f32,
}

impl Observer {
    fn new(world: &World<'_>, index: usize, field_of_view: FieldOfView) -> Self {
        let species = &world.species[usize::from(world.agents.species[index])];
        let body = &world.agents.bodies[index];
        Self {
            at: body.position_m,
            forward: body.forward,
            per_own_radius: 1.0 / world.agents.radii_m[index].max(1e-3),
            prey: species.relations.prey,
            sight_m: species.perception.sight_radius_m,
            prey_sight_m: species.perception.prey_sight_radius_m,
            size_gain: species.perception.size_gain,
            cos_limit: field_of_view.cos_limit,
        }
    }

    /// Returns the distance up to which the perceiving agent sees an agent with these names and this radius.
    fn sight_radius_m(&self, bits: u64, radius_m: f32) -> f32 {
        let radius = if bits & self.prey == 0 {
            self.sight_m
        } else {
            self.prey_sight_m
        };
        let times = radius_m * self.per_own_radius - 1.0;
        radius * (1.0 + self.size_gain * times.max(0.0))
    }

    /// Returns the neighbor with its value of `in_view` set.
    ///
    /// Two agents at the same position have no direction to each other: each perceives the other 0.1 mm away, on
    /// opposite sides, so that they separate.
    fn with_visibility(&self, mut neighbor: Neighbor, index: usize) -> Neighbor {
        if neighbor.distance_m < 1e-5 {
            let sign = if (neighbor.agent as usize) < index {
                1.0
            } else {
                -1.0
            };
            neighbor.offset_m = Vec3::X * (sign * 1e-4);
            neighbor.distance_m = 1e-4;
        }
        neighbor.in_view =
            neighbor.offset_m.dot(self.forward) >= self.cos_limit * neighbor.distance_m;
        neighbor
    }
}

/// Whether an obstacle hides a neighbor from an observer at `observer_m`.
pub(super) fn is_occluded<'s>(
    observer_m: Vec3,
    neighbor: &Neighbor,
    mut solids: impl Iterator<Item = (usize, &'s Solid)>,
) -> bool {
    let at = observer_m + neighbor.offset_m;
    solids.any(|(_, solid)| solid.hides(observer_m, at, neighbor.radius_m))
}

/// Returns the nearest neighbor that has one of these names, is within the field of view and is not occluded. `None`
/// if there is no such neighbor.
pub(super) fn nearest_visible<'n, 's, I: Iterator<Item = (usize, &'s Solid)>>(
    observer_m: Vec3,
    neighbors: &'n [Neighbor],
    names: u64,
    solids: impl Fn() -> I,
) -> Option<&'n Neighbor> {
    let distance_m = |neighbor: &Neighbor| neighbor.distance_m;
    first_visible(observer_m, neighbors, names, distance_m, solids)
}

/// Returns the neighbor with the least value of `rank` that has one of these names, is within the field of view and is not
/// occluded. `None` if there is no such neighbor.
#[inline]
fn first_visible<'n, 's, I: Iterator<Item = (usize, &'s Solid)>>(
    observer_m: Vec3,
    neighbors: &'n [Neighbor],
    names: u64,
    rank: impl Fn(&Neighbor) -> f32,
    solids: impl Fn() -> I,
) -> Option<&'n Neighbor> {
    let mut first: Option<(f32, &Neighbor)> = None;
    for neighbor in neighbors {
        if neighbor.name_bits & names == 0 || !neighbor.in_view {
            continue;
        }
        let own = rank(neighbor);
        if first.is_none_or(|(least, _)| own < least)
            && !is_occluded(observer_m, neighbor, solids())
        {
            first = Some((own, neighbor));
        }
    }
    first.map(|(_, neighbor)| neighbor)
}
