//! What one individual perceives in one step: one query of the neighbor index, on which everything later works.
//!
//! **Source**: 2-behavior.md section 1, 'Perception'. Blind behind, prey seen farther, larger ones earlier, and nobody
//! seen through an obstacle. Schooling alone also feels whom it does not see, as fish do with the lateral line: the
//! repairs of `flock` look all round.

use glam::{Vec2, Vec3};

use crate::geometry::Solid;
use crate::navigation::fields::Fields;
use crate::steering::{FlockRules, Motion};
use crate::world::relations::KNOWN_BIT;
use crate::world::{Chance, Gathering, Purpose, Slots, Species, World};

use super::action::BoostRequest;
use super::perception_memory::{PerceptionMemory, SeenAgent};

/// Another agent within the sight radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Its index among the living agents; for shadows counted on from there.
    pub agent: u32,
    /// Whether it is a visitor's shadow, carried down to the own depth.
    pub is_shadow: bool,
    /// Whether it is within the field of view.
    pub in_view: bool,
    /// Bits of its names, and of `known` where that relation was added to it.
    pub bits: u64,
    /// Its center, seen from the own. Never zero.
    pub offset_m: Vec3,
    /// Length of the offset.
    pub distance_m: f32,
    /// Its radius.
    pub radius_m: f32,
    /// Unit vector to its nose; along its velocity for shadows.
    pub forward: Vec3,
}

/// Everything that an action may know.
#[derive(Clone, Copy, Debug)]
pub struct ActionContext<'a> {
    /// The state before the step.
    pub world: &'a World,
    /// The scene's flow fields.
    pub fields: &'a Fields,
    /// Own index among the living agents.
    pub index: usize,
    /// Own motion.
    pub motion: Motion,
    /// Own species.
    pub species: &'a Species,
    /// Own neighborhoods for schooling.
    pub flock: &'a FlockRules,
    /// Own radius.
    pub radius_m: f32,
    /// Others within the sight radius, in a fixed order.
    pub neighbors: &'a [Neighbor],
    /// Places of the solids nearby in the world's list.
    pub nearby: &'a [u32],
    /// Enemy and prey, seen or remembered.
    pub remembered: &'a PerceptionMemory,
    /// Where the active need steers to, for those who help it; zero before it has decided.
    pub wish: Vec3,
    /// The place that the active need steers to, where it steers to one; `None` before it has decided.
    pub goal_m: Option<Vec3>,
    /// Names that the relations of the asked action go to.
    pub related: u64,
}

impl<'a> ActionContext<'a> {
    /// Cruise speed.
    pub fn cruise_mps(&self) -> f32 {
        self.species.motion.cruise_mps
    }

    /// Own mass.
    pub fn mass_kg(&self) -> f32 {
        self.species.body.mass_kg * self.world.agents.sizes[self.index].powi(3)
    }

    /// Speed to strive for: what a boost would allow, or what is allowed already.
    pub fn speed_mps(&self, boost: Option<BoostRequest>) -> f32 {
        let motion = &self.species.motion;
        let scale = boost.map_or(0.0, |request| request.scale);
        let asked = motion.cruise_mps + scale * (motion.boost_mps - motion.cruise_mps).max(0.0);
        let allowed = self.world.agents.bodies[self.index].boost.allowed_mps;
        asked.max(allowed)
    }

    /// The solids nearby with their places in the world's list.
    pub fn near_solids(&self) -> impl Iterator<Item = (usize, &'a Solid)> + Clone {
        let solids = &self.world.solids;
        self.nearby
            .iter()
            .map(move |&place| (place as usize, &solids[place as usize]))
    }

    /// How another moves.
    pub fn velocity_mps(&self, other: &Neighbor) -> Vec3 {
        velocity_mps(self.world, self.motion.position_m, other)
    }

    /// Whether another is in the field of view and not hidden by a solid.
    pub fn is_visible(&self, other: &Neighbor) -> bool {
        other.in_view && !is_hidden(self.motion.position_m, other, self.near_solids())
    }

    /// The nearest visible one who bears one of these names.
    pub fn nearest_visible(&self, names: u64) -> Option<&'a Neighbor> {
        nearest_visible(self.motion.position_m, self.neighbors, names, || {
            self.near_solids()
        })
    }

    /// Own id.
    pub fn id(&self) -> u32 {
        self.world.agents.ids[self.index]
    }

    /// Where the director wants it to gather.
    pub fn gathering(&self) -> Option<Gathering> {
        self.world
            .director
            .gathering(self.world.agents.species[self.index])
    }

    /// What tells another from all others, shadows included, for as long as it is there.
    pub fn key_of(&self, other: &Neighbor) -> u32 {
        key_of(self.world, other)
    }

    /// A number in −1..1 of this individual's own that never changes.
    pub fn own_draw(&self, draw: u32) -> f32 {
        let chance = Chance {
            tick: 0,
            ..self.world.chance
        };
        chance.signed(self.id(), Purpose::Companion, draw)
    }

    /// A number in 0..1 of this agent's own for this purpose and tick.
    pub fn chance(&self, purpose: Purpose) -> f32 {
        let id = self.world.agents.ids[self.index];
        self.world.chance.unit(id, purpose, 0)
    }
}

/// How far at least solids are looked for, however short the sight.
pub const SOLID_SEARCH_RADIUS_MIN_M: f32 = 2.0;

/// Keys of shadows have this bit, those of agents have not.
const SHADOW_KEY: u32 = 1 << 30;

fn key_of(world: &World, other: &Neighbor) -> u32 {
    let place = other.agent as usize;
    match world.agents.ids.get(place) {
        Some(id) => *id & (SHADOW_KEY - 1),
        None => {
            let shadow = world.visitors.shadows.get(place - world.agents.len());
            SHADOW_KEY | shadow.map_or(0, |s| s.id & (SHADOW_KEY - 1))
        }
    }
}

/// Room for one individual's perception, used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Perception {
    /// Others within the sight radius.
    pub neighbors: Vec<Neighbor>,
    /// Solids nearby.
    pub nearby: Vec<u32>,
    /// Slots of the neighbor index within reach.
    slots: Slots,
}

impl Perception {
    /// Makes room for so many neighbors.
    pub(super) fn make_room_for(&mut self, neighbors: usize) {
        self.slots.make_room_for(neighbors);
    }

    /// Looks around for one agent, with the eye of its species, and brings what it recalls up to date.
    pub fn look(
        &mut self,
        world: &World,
        index: usize,
        sight: FieldOfView,
        remembered: &mut PerceptionMemory,
    ) {
        let species = &world.species[usize::from(world.agents.species[index])];
        let at = world.agents.bodies[index].position_m;
        let reach = query_radius_m(
            species,
            largest_radius_m(world),
            world.agents.radii_m[index],
        );
        self.nearby.clear();
        let solids_reach = reach.max(SOLID_SEARCH_RADIUS_MIN_M);
        let listed = world
            .seen_solids
            .places_near(at)
            .iter()
            .zip(world.seen_solids.near(at));
        for (&place, solid) in listed {
            let limit = solids_reach + solid.bounding_radius_m();
            if solid.center_m().distance_squared(at) < limit * limit {
                self.nearby.push(place);
            }
        }
        self.neighbors.clear();
        let eye = Observer::new(world, index, sight);
        self.find_agents(world, index, reach, &eye);
        self.find_shadows(world, index, &eye);
        self.recognize(world, remembered);
        let solids = || {
            self.nearby
                .iter()
                .map(|&place| (place as usize, &world.solids[place as usize]))
        };
        let relations = &species.relations;
        for (seen, names) in [
            (&mut remembered.enemy, relations.enemy),
            (&mut remembered.prey, relations.prey),
            (&mut remembered.food, relations.food),
        ] {
            if names == 0 {
                // The relation may have been taken away while one of them was seen.
                *seen = SeenAgent::default();
                continue;
            }
            match nearest_visible(at, &self.neighbors, names, solids) {
                Some(other) => {
                    *seen = SeenAgent {
                        position_m: at + other.offset_m,
                        velocity_mps: velocity_mps(world, at, other),
                        radius_m: other.radius_m,
                        agent: (!other.is_shadow).then_some(other.agent),
                        age_secs: 0.0,
                    };
                }
                None => seen.age_secs += world.dt_secs,
            }
        }
    }

    /// Marks those to whom it has added the relation `known`.
    fn recognize(&mut self, world: &World, remembered: &PerceptionMemory) {
        let known = remembered
            .known
            .iter()
            .filter(|known| known.left_secs > 0.0);
        if known.clone().next().is_none() {
            return;
        }
        for other in &mut self.neighbors {
            let key = key_of(world, other);
            if known.clone().any(|known| known.key == key) {
                other.bits |= KNOWN_BIT;
            }
        }
    }

    fn find_agents(&mut self, world: &World, index: usize, reach_m: f32, eye: &Observer) {
        let agents = &world.agents;
        let grid = &world.grid;
        grid.within(eye.at, reach_m, &mut self.slots);
        for slot in self.slots.iter() {
            let agent = grid.agents[slot];
            let other = agent as usize;
            if other == index {
                continue;
            }
            let offset_m = Vec3::new(grid.x_m[slot], grid.y_m[slot], grid.z_m[slot]) - eye.at;
            let distance_m = offset_m.length();
            let (bits, radius_m) = (agents.bits[other], agents.radii_m[other]);
            if distance_m > eye.reach_m(bits, radius_m) {
                continue;
            }
            let seen = Neighbor {
                agent,
                is_shadow: false,
                in_view: true,
                bits,
                offset_m,
                distance_m,
                radius_m,
                forward: Vec3::new(
                    grid.forward_x[slot],
                    grid.forward_y[slot],
                    grid.forward_z[slot],
                ),
            };
            self.neighbors.push(eye.judge(seen, index));
        }
    }

    fn find_shadows(&mut self, world: &World, index: usize, eye: &Observer) {
        let scale = world.water.scale(eye.at.y);
        for (place, shadow) in world.visitors.shadows.iter().enumerate() {
            let middle = shadow.centroid_m * scale - Vec2::new(eye.at.x, eye.at.z);
            let radius_m = shadow.radius_m * scale;
            let bits = world.visitor_bits;
            if middle.length_squared() > eye.reach_m(bits, radius_m).powi(2) {
                continue;
            }
            let velocity = shadow.velocity_mps * scale;
            let seen = Neighbor {
                agent: (world.agents.len() + place) as u32,
                is_shadow: true,
                in_view: true,
                bits,
                offset_m: Vec3::new(middle.x, 0.0, middle.y),
                distance_m: middle.length(),
                radius_m,
                forward: Vec3::new(velocity.x, 0.0, velocity.y).normalize_or(Vec3::X),
            };
            self.neighbors.push(eye.judge(seen, index));
        }
    }
}

/// The radius of the query of the neighbor index: the farthest that anybody could be seen.
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

fn largest_radius_m(world: &World) -> f32 {
    let sizes = world
        .species
        .iter()
        .map(|s| s.body.radius_m * (1.0 + s.body.size_spread));
    sizes.fold(0.0, f32::max)
}

/// How another moves, seen from a place; a shadow as it moves at the depth of that place.
fn velocity_mps(world: &World, at_m: Vec3, other: &Neighbor) -> Vec3 {
    let place = other.agent as usize;
    if let Some(body) = world.agents.bodies.get(place) {
        return body.velocity_mps;
    }
    let shadow = world.visitors.shadows.get(place - world.agents.len());
    let velocity = shadow.map_or(Vec2::ZERO, |s| s.velocity_mps * world.water.scale(at_m.y));
    Vec3::new(velocity.x, 0.0, velocity.y)
}

/// The field of view of a species.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldOfView {
    /// Cosine of the angle from straight ahead to each side.
    cos_limit: f32,
}

impl FieldOfView {
    /// A field of view of so many degrees; all round from 360.
    pub fn new(field_of_view_deg: f32) -> Self {
        Self {
            cos_limit: if field_of_view_deg >= 360.0 {
                -2.0
            } else {
                (field_of_view_deg / 2.0).to_radians().cos()
            },
        }
    }
}

/// One individual's eye.
struct Observer {
    at: Vec3,
    forward: Vec3,
    per_own_radius: f32,
    prey: u64,
    sight_m: f32,
    prey_sight_m: f32,
    size_gain: f32,
    cos_limit: f32,
}

impl Observer {
    fn new(world: &World, index: usize, sight: FieldOfView) -> Self {
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
            cos_limit: sight.cos_limit,
        }
    }

    /// How far it would see one of these names and this radius.
    fn reach_m(&self, bits: u64, radius_m: f32) -> f32 {
        let radius = if bits & self.prey == 0 {
            self.sight_m
        } else {
            self.prey_sight_m
        };
        let times = radius_m * self.per_own_radius - 1.0;
        radius * (1.0 + self.size_gain * times.max(0.0))
    }

    /// Whether it is in view. Two at the very same place see each other on opposite sides.
    fn judge(&self, mut other: Neighbor, index: usize) -> Neighbor {
        if other.distance_m < 1e-5 {
            let sign = if (other.agent as usize) < index {
                1.0
            } else {
                -1.0
            };
            other.offset_m = Vec3::X * (sign * 1e-4);
            other.distance_m = 1e-4;
        }
        other.in_view = other.offset_m.dot(self.forward) >= self.cos_limit * other.distance_m;
        other
    }
}

fn is_hidden<'s>(
    eye: Vec3,
    other: &Neighbor,
    mut solids: impl Iterator<Item = (usize, &'s Solid)>,
) -> bool {
    let at = eye + other.offset_m;
    solids.any(|(_, solid)| solid.hides(eye, at, other.radius_m))
}

fn nearest_visible<'n, 's, I: Iterator<Item = (usize, &'s Solid)>>(
    eye: Vec3,
    neighbors: &'n [Neighbor],
    names: u64,
    solids: impl Fn() -> I,
) -> Option<&'n Neighbor> {
    let mut nearest: Option<&Neighbor> = None;
    for other in neighbors {
        if other.bits & names != 0
            && other.in_view
            && nearest.is_none_or(|n| other.distance_m < n.distance_m)
            && !is_hidden(eye, other, solids())
        {
            nearest = Some(other);
        }
    }
    nearest
}
