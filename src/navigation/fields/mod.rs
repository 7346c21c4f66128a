//! Flow fields: forces that depend on the position of an agent. The forces of several fields add up.
//!
//! In: field parameters of a scene, its solids, and vector grids read from files. Out: [`FlowFields`], which returns
//! the force at a position. Must not: know which agent follows a field, read files while a pool runs.
//!
//! **Source**: Karpowicz 2011, §2.4, §3.2 and §3.4.1.

mod file;
mod generate;
mod grid;
mod harmonic;
mod params;
mod predictive;
mod radial;

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};

pub use file::{FieldFileError, read_field_file};
pub use grid::VectorGrid;
pub use params::{FieldParams, FieldShape};
pub use predictive::{PredictiveRepulsion, braking_force};
pub use radial::{Falloff, Repulsion};

use crate::geometry::Solid;
use harmonic::HarmonicPotential;

/// Vector grids read from files. The key is the file name in the field parameters.
pub type FieldGrids = BTreeMap<String, Arc<VectorGrid>>;

/// All flow fields of a scene, compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowFields(Vec<Field>);

/// A compiled flow field.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    placement: Placement,
    /// Lowest and highest y at which the field acts, in meters.
    band_m: (f32, f32),
    strength_n: f32,
    /// One bit for each species and group that the field acts on. If all bits are set, the field acts on every agent.
    acts_on: u64,
    shape: Shape,
}

/// Transform from the local space of a field to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Placement {
    center_m: Vec3,
    /// Direction of the field's own x axis: a unit vector (x, z) in world space.
    axis: Vec2,
    /// Length of a local meter in world meters.
    scale: f32,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Radial(Repulsion),
    Grid(Arc<VectorGrid>),
    Harmonic(Arc<HarmonicPotential>),
}

impl FlowFields {
    /// Compiles the fields of a scene. `acts_on` returns the bits of the species and groups that a field acts on.
    ///
    /// Fields with problems according to `FieldParams::problems` are omitted, because they were already reported. This
    /// function also solves the harmonic fields, which can take some tenths of a second.
    pub fn compile(
        params: &[FieldParams],
        solids: &[Solid],
        grids: &FieldGrids,
        acts_on: impl Fn(&FieldParams) -> u64,
    ) -> Self {
        let fields = params.iter().filter_map(|one| {
            let placement = placement(one, solids)?;
            Some(Field {
                band_m: (-one.bottom_depth_m, -one.top_depth_m),
                strength_n: one.strength_n,
                acts_on: acts_on(one),
                shape: shape(one, &placement, solids, grids)?,
                placement,
            })
        });
        Self(fields.collect())
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sum of all forces at a position, in newtons, for an agent with these species and group bits.
    pub fn force_at(&self, position_m: Vec3, name_bits: u64) -> Vec3 {
        self.0
            .iter()
            .filter(|field| field.acts_on & name_bits != 0)
            .map(|field| field.force_at(position_m))
            .sum()
    }
}

impl Field {
    fn force_at(&self, position_m: Vec3) -> Vec3 {
        let (low, high) = self.band_m;
        if position_m.y < low || position_m.y > high {
            return Vec3::ZERO;
        }
        let local = self.placement.local_from_world(position_m);
        let force = match &self.shape {
            Shape::Radial(repulsion) => repulsion.force_at(local),
            Shape::Grid(grid) => grid.vector_at(local),
            Shape::Harmonic(potential) => potential.direction_at(local),
        };
        self.placement.world_from_local_direction(force) * self.strength_n
    }
}

impl Placement {
    fn local_from_world(&self, point: Vec3) -> Vec3 {
        let offset = (point - self.center_m) / self.scale;
        let axis = self.axis;
        Vec3::new(
            offset.x * axis.x + offset.z * axis.y,
            offset.y,
            offset.z * axis.x - offset.x * axis.y,
        )
    }

    fn world_from_local_direction(&self, local: Vec3) -> Vec3 {
        let axis = self.axis;
        Vec3::new(
            local.x * axis.x - local.z * axis.y,
            local.y,
            local.z * axis.x + local.x * axis.y,
        )
    }
}

/// Returns the placement of a field. A field without an obstacle is fixed in the world; otherwise it is moved, turned
/// and scaled with its obstacle. Returns `None` if that obstacle does not exist.
fn placement(params: &FieldParams, solids: &[Solid]) -> Option<Placement> {
    let (sin, cos) = params.yaw_deg.to_radians().sin_cos();
    let local_axis = Vec2::new(cos, -sin);
    let offset = Vec3::from(params.center_m);
    let Some(index) = params.obstacle else {
        return Some(Placement {
            center_m: offset,
            axis: local_axis,
            scale: 1.0,
        });
    };
    let solid = solids.get(usize::try_from(index).ok()?)?;
    let axis = match *solid {
        Solid::Sphere { .. } | Solid::Prism(_) => Vec2::X,
        Solid::Box { axis, .. } => axis,
        Solid::Capsule { from_m, to_m, .. } => {
            let along = to_m - from_m;
            Vec2::new(along.x, along.z).normalize_or(Vec2::X)
        }
    };
    let scale = params
        .made_for_radius_m
        .map_or(1.0, |radius| solid.bounding_radius_m() / radius.max(1e-3));
    let owner = Placement {
        center_m: solid.center_m(),
        axis,
        scale,
    };
    Some(Placement {
        center_m: solid.center_m() + owner.world_from_local_direction(offset) * scale,
        axis: axis.rotate(local_axis),
        scale,
    })
}

fn shape(
    params: &FieldParams,
    placement: &Placement,
    solids: &[Solid],
    grids: &FieldGrids,
) -> Option<Shape> {
    Some(match &params.shape {
        FieldShape::Radial(p) => Shape::Radial(Repulsion {
            falloff: p.falloff,
            range_m: p.range_m,
            inner_radius_m: p.inner_radius_m,
            swirl: p.swirl,
        }),
        FieldShape::Uniform(p) => Shape::Grid(Arc::new(generate::uniform(p)?)),
        FieldShape::Vortex(p) => Shape::Grid(Arc::new(generate::vortex(p)?)),
        FieldShape::Noise(p) => Shape::Grid(Arc::new(generate::noise(p)?)),
        FieldShape::Harmonic(p) => {
            let is_solid = |local: Vec3| {
                let turned = placement.world_from_local_direction(local) * placement.scale;
                let at = placement.center_m + turned;
                solids
                    .iter()
                    .any(|solid| solid.signed_distance_m(at) < p.clearance_m)
            };
            Shape::Harmonic(Arc::new(HarmonicPotential::solve(p, is_solid)?))
        }
        FieldShape::File(p) => {
            let read = grids.get(&p.file)?;
            Shape::Grid(Arc::new(read.stretched(p.size_m.into())))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::params::{RadialParams, UniformParams};
    use super::*;

    fn radial(range_m: f32, inner_radius_m: f32) -> FieldShape {
        FieldShape::Radial(RadialParams {
            falloff: Falloff::Linear,
            range_m,
            inner_radius_m,
            swirl: 0.0,
        })
    }

    fn compile(params: &[FieldParams], solids: &[Solid]) -> FlowFields {
        FlowFields::compile(params, solids, &FieldGrids::new(), |_| u64::MAX)
    }

    #[test]
    fn fields_add_up_and_act_only_on_their_species() {
        let field = |x: f32| FieldParams {
            center_m: [x, 0.0, 0.0],
            shape: radial(2.0, 0.0),
            ..FieldParams::default()
        };
        let fields = FlowFields::compile(
            &[field(-1.0), field(1.0)],
            &[],
            &FieldGrids::new(),
            |params| if params.center_m[0] < 0.0 { 1 } else { 2 },
        );
        assert_eq!(
            fields.force_at(Vec3::ZERO, 3),
            Vec3::ZERO,
            "the forces cancel"
        );
        assert_eq!(fields.force_at(Vec3::ZERO, 1), Vec3::new(0.5, 0.0, 0.0));
        assert_eq!(fields.force_at(Vec3::ZERO, 2), Vec3::new(-0.5, 0.0, 0.0));
        assert_eq!(fields.force_at(Vec3::ZERO, 4), Vec3::ZERO);
    }

    #[test]
    fn a_field_is_moved_turned_and_scaled_with_its_obstacle() {
        let current = FieldParams {
            obstacle: Some(0),
            center_m: [2.0, 0.0, 0.0],
            made_for_radius_m: Some(1.0),
            shape: FieldShape::Uniform(UniformParams {
                size_m: [1.0, 0.0, 1.0],
                cell_m: 0.25,
                direction: [1.0, 0.0, 0.0],
            }),
            ..FieldParams::default()
        };
        let half = Vec3::splat(2.0 / 3.0f32.sqrt());
        // The box has twice the size for which the field was made, and its own x axis is the z axis of the world.
        let wall = Solid::Box {
            center_m: Vec3::new(5.0, -0.5, 3.0),
            half_m: half,
            axis: Vec2::Y,
        };
        let fields = compile(&[current], &[wall]);
        let middle = Vec3::new(5.0, -0.5, 7.0);
        assert!(fields.force_at(middle, 1).distance(Vec3::Z) < 1e-5);
        let beside = middle + Vec3::X * 0.9;
        assert!(fields.force_at(beside, 1).distance(Vec3::Z) < 1e-5);
        let beyond = middle + Vec3::X * 2.0;
        assert_eq!(fields.force_at(beyond, 1), Vec3::ZERO);
    }

    #[test]
    fn a_field_acts_only_within_its_depths() {
        let band = FieldParams {
            top_depth_m: 0.5,
            bottom_depth_m: 1.0,
            shape: radial(9.0, 9.0),
            ..FieldParams::default()
        };
        let fields = compile(&[band], &[]);
        let at = |y: f32| fields.force_at(Vec3::new(1.0, y, 0.0), 1).length();
        assert_eq!(at(-0.4), 0.0);
        assert!((at(-0.7) - 1.0).abs() < 1e-5);
        assert_eq!(at(-1.1), 0.0);
    }

    #[test]
    fn a_field_of_a_missing_obstacle_is_omitted() {
        let lost = FieldParams {
            obstacle: Some(3),
            ..FieldParams::default()
        };
        assert!(compile(&[lost], &[]).is_empty());
    }
}
