//! The terraces of a plan: their outlines, the navigation mesh, and the links over which agents can leap or drop to another
//! terrace.
//!
//! In: a scene, its solids and species. Out: data that does not change until the next plan. Must not: depend on agents.

use glam::{Vec2, Vec3};

use super::flight::CLEARANCE_M;
use crate::geometry::{Solid, nearest_on_polygon, polygon_contains};
use crate::navigation::{
    Abilities, Footprints, LeapInput, MeshLinks, NavGraph, NavMesh, TerraceInput, build_mesh,
    find_links,
};
use crate::simulation::{SceneDescription, SimulationError};
use crate::world::{RandomStream, Species, TerraceParams, World, far_edge};

/// Maximum horizontal length of a leap or drop between two terraces. Tuned by eye, 2026-11-21.
const REACH_M: f32 = 1.2;
/// Maximum angle between the heading of an agent and its flight. Tuned by eye, 2026-11-21.
const HEADING_RAD: f32 = 0.7;
/// Smallest size of a polygon of the mesh: about half a flee distance, so that a way can lead around a visitor.
const PIECE_M: f32 = 0.6;
/// Largest number of polygons along a side of a terrace.
const PIECES: f32 = 12.0;
/// Depth of water over a solid in which a body swims over it, in body radii: its diameter and a gap.
const OVER_RADII: f32 = 2.2;
/// Species whose largest individuals differ in radius by at most this factor use the same mesh. The mesh keeps the distance of
/// the largest of them.
const CLASS_RATIO: f32 = 1.25;

/// The compiled terraces of a scene; empty if it has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::simulation) struct TerracePlan {
    pub(super) terraces: Vec<TerraceParams>,
    /// Outline of each terrace.
    pub(super) outlines: Vec<Vec<Vec2>>,
    /// One mesh for each class of body sizes, smallest first.
    pub(super) classes: Vec<BodyClass>,
    /// Index of the class of each species.
    class_of: Vec<u16>,
    spring: Option<Spring>,
}

/// The place where the water comes from: the edge of the highest terrace that is farthest from all other terraces.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spring {
    /// Index of the highest terrace.
    terrace: usize,
    edge: (Vec2, Vec2),
    /// Unit vector from the edge into the terrace.
    inward: Vec2,
}

/// Largest number of places at the spring that are tried.
const SPRING_PLACES: u32 = 16;

/// The water that bodies up to a radius can reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::simulation) struct BodyClass {
    /// The mesh. It keeps the radius away from obstacles and edges.
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
        let (radii_m, class_of) = body_classes(species);
        let mut classes = Vec::with_capacity(radii_m.len());
        for (class, &radius_m) in radii_m.iter().enumerate() {
            let mut swimmers: Vec<Abilities> = Vec::new();
            for (species, of) in species.iter().zip(&class_of) {
                let abilities = abilities(species);
                if usize::from(*of) == class && !swimmers.contains(&abilities) {
                    swimmers.push(abilities);
                }
            }
            classes.push(BodyClass::compile(terraces, solids, radius_m, &swimmers)?);
        }
        Ok(Self {
            terraces: terraces.clone(),
            outlines: terraces.iter().map(TerraceParams::corners).collect(),
            classes,
            class_of,
            spring: Spring::of(terraces),
        })
    }

    /// Returns a random place at the spring for a body of this radius, and the heading from there into the terrace. `None` if the
    /// scene has no terraces.
    pub(in crate::simulation) fn spring_pose(
        &self,
        world: &World<'_>,
        radius_m: f32,
        agent: u32,
    ) -> Option<(Vec3, Vec3)> {
        let spring = self.spring?;
        let (low, high) = self.terraces[spring.terrace].y_range_m(radius_m);
        let (from, to) = spring.edge;
        let place = |number: u32| {
            let draw = |n| {
                let draw = number * 2 + n;
                world.random.unit(agent, RandomStream::Place, draw)
            };
            let flat = from.lerp(to, 0.1 + 0.8 * draw(0)) + spring.inward * (radius_m * 1.1);
            Vec3::new(flat.x, low + (high - low) * draw(1), flat.y)
        };
        let is_free = |at: &Vec3| {
            let mut solids = world.solids.iter();
            solids.all(|solid| solid.signed_distance_m(*at) > radius_m)
        };
        let found = (0..SPRING_PLACES).map(place).find(is_free);
        let heading = Vec3::new(spring.inward.x, 0.0, spring.inward.y);
        Some((found.unwrap_or_else(|| place(0)), heading))
    }

    /// Whether the scene has no terraces.
    pub(in crate::simulation) fn is_empty(&self) -> bool {
        self.terraces.is_empty()
    }

    /// Returns the mesh and links for a species of a scene with terraces.
    pub(super) fn graph(&self, species: u16) -> NavGraph<'_> {
        let class = self.class_of.get(usize::from(species)).copied();
        let class = &self.classes[usize::from(class.unwrap_or(0))];
        NavGraph {
            mesh: &class.mesh,
            links: &class.links,
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

impl Spring {
    fn of(terraces: &[TerraceParams]) -> Option<Self> {
        let depth = |index: &usize| terraces[*index].surface_depth_m;
        let highest = (0..terraces.len()).min_by(|a, b| depth(a).total_cmp(&depth(b)))?;
        let edge = far_edge(terraces, highest)?;
        let along = (edge.1 - edge.0).try_normalize()?;
        let outline = terraces[highest].corners();
        let beside = (edge.0 + edge.1) / 2.0 + along.perp() * 1e-3;
        let side = if polygon_contains(&outline, beside) {
            1.0
        } else {
            -1.0
        };
        Some(Self {
            terrace: highest,
            edge,
            inward: along.perp() * side,
        })
    }
}

impl BodyClass {
    fn compile(
        terraces: &[TerraceParams],
        solids: &[Solid],
        radius_m: f32,
        swimmers: &[Abilities],
    ) -> Result<Self, SimulationError> {
        let outlines: Vec<Vec<Vec2>> = terraces.iter().map(TerraceParams::corners).collect();
        let footprints: Vec<Footprints> = terraces
            .iter()
            .map(|terrace| {
                let mut prints = Footprints::default();
                // A solid that leaves room for a body below the surface can be swum over.
                let low_y = -terrace.surface_depth_m - OVER_RADII * radius_m;
                let low_y = low_y.max(-terrace.ground_depth_m);
                prints.push_solids(solids, low_y, -terrace.surface_depth_m);
                // A body does not touch the edges of its water either.
                terrace.edges().for_each(|(a, b)| prints.push(&[a, b], 0.0));
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
                piece_m: piece_m(outline_m),
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
        let links = find_links(&mesh, &input, swimmers);
        Ok(Self { mesh, links })
    }
}

/// Returns the size of the polygons of a terrace.
fn piece_m(outline_m: &[Vec2]) -> f32 {
    let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    for &at in outline_m {
        (low, high) = (low.min(at), high.max(at));
    }
    ((high - low).max_element() / PIECES).max(PIECE_M)
}

/// Divides the species into classes of body sizes. Returns the largest radius of each class in ascending order, and the index
/// of the class of each species.
fn body_classes(species: &[Species]) -> (Vec<f32>, Vec<u16>) {
    let mut radii_m: Vec<f32> = species.iter().map(largest_radius_m).collect();
    radii_m.sort_by(f32::total_cmp);
    let mut classes: Vec<f32> = Vec::new();
    let mut smallest_m = 0.0;
    for radius_m in radii_m {
        match classes.last_mut() {
            Some(largest_m) if radius_m <= smallest_m * CLASS_RATIO => *largest_m = radius_m,
            _ => {
                classes.push(radius_m);
                smallest_m = radius_m;
            }
        }
    }
    let class_of = |species: &Species| {
        classes.partition_point(|&largest_m| largest_m < largest_radius_m(species)) as u16
    };
    let class_of = species.iter().map(class_of).collect();
    (classes, class_of)
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
    species.body.half_width_m() * (1.0 + species.body.size_spread)
}
