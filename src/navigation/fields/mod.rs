//! Flow fields: anything that gives a force at a position. Fields add up.
//!
//! In: the parameters of a scene's fields, its solids, and the grids that were read for them. Out: [`Fields`], asked for the
//! force at single places; a whole field is only drawn. Must not: know who follows it, read files while a pool runs.
//!
//! **Source**: Karpowicz 2011, 'Flow Fields zur Kollisionsvermeidung in Spielen', 2.4, 3.2 and 3.4.1; 5-navigation.md A.

pub mod file;
pub mod generate;
pub mod grid;
pub mod harmonic;
pub mod moving;
pub mod params;
pub mod radial;

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};

pub use file::FieldFileError;
pub use grid::VectorGrid;
pub use moving::{Foresight, brake};
pub use params::{FieldParams, FieldShape};
pub use radial::{Falloff, Repulsion};

use crate::geometry::Solid;
use harmonic::Potential;

/// The grids that were read from files, by the names that the fields give them.
pub type FieldGrids = BTreeMap<String, Arc<VectorGrid>>;

/// All fields of a scene, ready to be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(Vec<Field>);

/// One field.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    frame: Frame,
    /// Lowest and highest y that it acts at.
    band_m: (f32, f32),
    strength_n: f32,
    /// Names that it acts on; all bits: everybody.
    acts_on: u64,
    shape: Shape,
}

/// Where a field's own space lies in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Frame {
    center_m: Vec3,
    /// The field's own x axis in world x and z, a unit vector.
    axis: Vec2,
    /// World meters for each of the field's own.
    scale: f32,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Radial(Repulsion),
    Grid(Arc<VectorGrid>),
    Harmonic(Arc<Potential>),
}

impl Fields {
    /// Compiles fields. `acts_on` gives for each field the names that it acts on.
    ///
    /// What `FieldParams::problems` finds fault with is left out: it was told before. Harmonic fields are solved here,
    /// which takes up to some tenths of a second.
    pub fn compile(
        params: &[FieldParams],
        solids: &[Solid],
        grids: &FieldGrids,
        acts_on: impl Fn(&FieldParams) -> u64,
    ) -> Self {
        let fields = params.iter().filter_map(|one| {
            let frame = frame(one, solids)?;
            Some(Field {
                band_m: (-one.bottom_depth_m, -one.top_depth_m),
                strength_n: one.strength_n,
                acts_on: acts_on(one),
                shape: shape(one, &frame, solids, grids)?,
                frame,
            })
        });
        Self(fields.collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sum of all fields at a place, in newtons, for one who bears these names; zero beyond all of them.
    pub fn force_at(&self, position_m: Vec3, names: u64) -> Vec3 {
        self.0
            .iter()
            .filter(|field| field.acts_on & names != 0)
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
        let own = self.frame.own_from_world(position_m);
        let force = match &self.shape {
            Shape::Radial(repulsion) => repulsion.at(own),
            Shape::Grid(grid) => grid.at(own),
            Shape::Harmonic(potential) => potential.at(own),
        };
        self.frame.world_from_own_direction(force) * self.strength_n
    }
}

impl Frame {
    fn own_from_world(&self, point: Vec3) -> Vec3 {
        let offset = (point - self.center_m) / self.scale;
        let axis = self.axis;
        Vec3::new(
            offset.x * axis.x + offset.z * axis.y,
            offset.y,
            offset.z * axis.x - offset.x * axis.y,
        )
    }

    fn world_from_own_direction(&self, own: Vec3) -> Vec3 {
        let axis = self.axis;
        Vec3::new(
            own.x * axis.x - own.z * axis.y,
            own.y,
            own.z * axis.x + own.x * axis.y,
        )
    }
}

/// Where a field lies: with its obstacle, moved, turned and scaled as that is; `None` where there is no such obstacle.
fn frame(params: &FieldParams, solids: &[Solid]) -> Option<Frame> {
    let (sin, cos) = params.yaw_deg.to_radians().sin_cos();
    let own_axis = Vec2::new(cos, -sin);
    let offset = Vec3::from(params.center_m);
    let Some(place) = params.obstacle else {
        return Some(Frame {
            center_m: offset,
            axis: own_axis,
            scale: 1.0,
        });
    };
    let solid = solids.get(usize::try_from(place).ok()?)?;
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
    let owner = Frame {
        center_m: solid.center_m(),
        axis,
        scale,
    };
    Some(Frame {
        center_m: solid.center_m() + owner.world_from_own_direction(offset) * scale,
        axis: axis.rotate(own_axis),
        scale,
    })
}

fn shape(
    params: &FieldParams,
    frame: &Frame,
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
            let is_solid = |own: Vec3| {
                let turned = frame.world_from_own_direction(own) * frame.scale;
                let at = frame.center_m + turned;
                solids
                    .iter()
                    .any(|solid| solid.signed_distance_m(at) < p.clearance_m)
            };
            Shape::Harmonic(Arc::new(Potential::solve(p, is_solid)?))
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

    fn compile(params: &[FieldParams], solids: &[Solid]) -> Fields {
        Fields::compile(params, solids, &FieldGrids::new(), |_| u64::MAX)
    }

    #[test]
    fn fields_add_up_and_act_on_whom_they_are_meant_for() {
        let field = |x: f32| FieldParams {
            center_m: [x, 0.0, 0.0],
            shape: radial(2.0, 0.0),
            ..FieldParams::default()
        };
        let fields = Fields::compile(
            &[field(-1.0), field(1.0)],
            &[],
            &FieldGrids::new(),
            |params| if params.center_m[0] < 0.0 { 1 } else { 2 },
        );
        assert_eq!(fields.force_at(Vec3::ZERO, 3), Vec3::ZERO, "they cancel");
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
        // Twice as large as what the field was made for, its x axis turned to world z.
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
    fn a_field_acts_within_its_depths_only() {
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
    fn a_field_of_an_obstacle_that_is_not_there_is_left_out() {
        let lost = FieldParams {
            obstacle: Some(3),
            ..FieldParams::default()
        };
        assert!(compile(&[lost], &[]).is_empty());
    }
}
