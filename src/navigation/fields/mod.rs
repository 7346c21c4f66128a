//! Flow fields: forces that depend on the position of an agent. The forces of several fields add up.
//!
//! In: field parameters of a scene and its solids. Out: [`FlowFields`], which returns the force at a position. Must not:
//! know which agent follows a field.
//!
//! **Source**: Karpowicz 2011, §2.4, §3.2 and §3.4.1.

mod generate;
mod grid;
mod harmonic;
mod params;
mod predictive;
mod radial;

use std::sync::Arc;

use glam::Vec3;

pub use params::{FieldParams, FieldShape};
pub use predictive::{PredictiveRepulsion, braking_force};
pub use radial::{Falloff, Repulsion};

use crate::geometry::Solid;
use grid::VectorGrid;
use harmonic::HarmonicPotential;

/// All flow fields of a scene, compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowFields(Vec<Field>);

/// A compiled flow field.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    /// Center of the field in the world.
    center_m: Vec3,
    /// Lowest and highest y at which the field acts, in meters.
    band_m: (f32, f32),
    strength_n: f32,
    /// One bit for each species and group that the field acts on. If all bits are set, the field acts on every agent.
    acts_on: u64,
    shape: Shape,
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
        acts_on: impl Fn(&FieldParams) -> u64,
    ) -> Self {
        let fields = params.iter().filter_map(|one| {
            let center_m = center(one, solids)?;
            Some(Field {
                band_m: (-one.bottom_depth_m, -one.top_depth_m),
                strength_n: one.strength_n,
                acts_on: acts_on(one),
                shape: shape(&one.shape, center_m, solids)?,
                center_m,
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
        let local = position_m - self.center_m;
        let force = match &self.shape {
            Shape::Radial(repulsion) => repulsion.force_at(local),
            Shape::Grid(grid) => grid.vector_at(local),
            Shape::Harmonic(potential) => potential.direction_at(local),
        };
        force * self.strength_n
    }
}

/// Returns the center of a field in the world. `None` if its obstacle does not exist.
fn center(params: &FieldParams, solids: &[Solid]) -> Option<Vec3> {
    let offset_m = Vec3::from(params.center_m);
    let Some(index) = params.obstacle else {
        return Some(offset_m);
    };
    let owner = solids.get(usize::try_from(index).ok()?)?;
    Some(owner.center_m() + offset_m)
}

/// Compiles the shape of a field. `None` if the parameters describe none.
fn shape(params: &FieldShape, center_m: Vec3, solids: &[Solid]) -> Option<Shape> {
    Some(match params {
        FieldShape::Radial(p) => Shape::Radial(Repulsion {
            falloff: p.falloff,
            range_m: p.range_m,
            inner_radius_m: p.inner_radius_m,
            swirl: p.swirl,
        }),
        FieldShape::Uniform(p) => Shape::Grid(Arc::new(generate::uniform(p)?)),
        FieldShape::Vortex(p) => Shape::Grid(Arc::new(generate::vortex(p)?)),
        FieldShape::Harmonic(p) => {
            let is_solid = |local: Vec3| {
                let mut gaps_m = solids.iter().map(|s| s.signed_distance_m(center_m + local));
                gaps_m.any(|gap_m| gap_m < p.clearance_m)
            };
            Shape::Harmonic(Arc::new(HarmonicPotential::solve(p, is_solid)?))
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
        FlowFields::compile(params, solids, |_| u64::MAX)
    }

    #[test]
    fn fields_add_up_and_act_only_on_their_species() {
        let field = |x: f32| FieldParams {
            center_m: [x, 0.0, 0.0],
            shape: radial(2.0, 0.0),
            ..FieldParams::default()
        };
        let fields = FlowFields::compile(&[field(-1.0), field(1.0)], &[], |params| {
            if params.center_m[0] < 0.0 { 1 } else { 2 }
        });
        // The forces cancel.
        assert_eq!(fields.force_at(Vec3::ZERO, 3), Vec3::ZERO);
        assert_eq!(fields.force_at(Vec3::ZERO, 1), Vec3::new(0.5, 0.0, 0.0));
        assert_eq!(fields.force_at(Vec3::ZERO, 2), Vec3::new(-0.5, 0.0, 0.0));
        assert_eq!(fields.force_at(Vec3::ZERO, 4), Vec3::ZERO);
    }

    #[test]
    fn a_field_is_moved_with_its_obstacle() {
        let current = FieldParams {
            obstacle: Some(0),
            center_m: [2.0, 0.0, 0.0],
            shape: FieldShape::Uniform(UniformParams {
                size_m: [1.0, 1.0],
                direction: [1.0, 0.0, 0.0],
            }),
            ..FieldParams::default()
        };
        let rock = Solid::Sphere {
            center_m: Vec3::new(5.0, -0.5, 3.0),
            radius_m: 1.0,
        };
        let fields = compile(&[current], &[rock]);
        let middle = Vec3::new(7.0, -0.5, 3.0);
        assert!(fields.force_at(middle, 1).distance(Vec3::X) < 1e-5);
        let beside = middle + Vec3::X * 0.45;
        assert!(fields.force_at(beside, 1).distance(Vec3::X) < 1e-5);
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
