//! Parameters of flow fields: the `[[fields]]` tables of a scene file.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grid::{UNIFORM_CELL_M, VECTORS_MAX, VORTEX_CELL_M, dims};
use super::radial::Falloff;

/// A flow field: a force that depends on position. It acts on species with the action `follow_flow_field`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FieldParams {
    /// Name shown in the panel.
    pub name: String,
    /// Index of the obstacle that owns the field, counted from 0. The field moves with this obstacle. Absent: the field is
    /// fixed in the world.
    pub obstacle: Option<u32>,
    /// Center of the field, `[x, y, z]`: in world space, or relative to the center of the obstacle that owns the field.
    pub center_m: [f32; 3],
    /// Depth of the upper edge of the layer in which the field acts. Higher: fish near the surface do not feel the field. Lower:
    /// the layer reaches farther up.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub top_depth_m: f32,
    /// Depth of the lower edge of the layer in which the field acts. Higher: the layer reaches farther down. Lower: fish near the
    /// ground do not feel the field.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub bottom_depth_m: f32,
    /// Force at the strongest point of the field. A negative value reverses all forces: a radial field then attracts. Higher: fish
    /// cannot swim against it. Lower: they drift a little; 0: no effect.
    #[schemars(range(min = -10000.0, max = 10000.0))]
    pub strength_n: f32,
    /// Names of species or groups that the field acts on. Empty: all.
    pub acts_on: Vec<String>,
    /// Shape of the field.
    pub shape: FieldShape,
}

impl Default for FieldParams {
    fn default() -> Self {
        Self {
            name: String::new(),
            obstacle: None,
            center_m: [0.0, 0.0, 0.0],
            top_depth_m: -50.0,
            bottom_depth_m: 50.0,
            strength_n: 1.0,
            acts_on: Vec::new(),
            shape: FieldShape::default(),
        }
    }
}

/// Shape of a field in its local space, at strength 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldShape {
    /// Force away from the center.
    Radial(RadialParams),
    /// The same force everywhere: a current.
    Uniform(UniformParams),
    /// Force along circles around the center.
    Vortex(VortexParams),
    /// Force towards a goal, around all obstacles at the height of the field's center and out of every dead end.
    Harmonic(HarmonicParams),
}

impl Default for FieldShape {
    fn default() -> Self {
        Self::Radial(RadialParams::default())
    }
}

/// A radial field: away from the center.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RadialParams {
    /// Function by which the force decreases with the distance.
    pub falloff: Falloff,
    /// Radius of the field. Higher: keeps fish away from a large region. Lower: only from its middle.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub range_m: f32,
    /// Within this radius the field has its full strength. A typical value is the radius of a large obstacle. Higher: a hard core
    /// that no fish enters. Lower: fish come close before they turn away.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub inner_radius_m: f32,
    /// Sideways share of the force: 0 is straight away from the center, 1 turns it by 45 degrees to the left (seen from above), −1
    /// to the right. Higher: fish circle around the center. Lower: they are pushed straight out; below 0, they circle the other
    /// way.
    #[schemars(range(min = -100.0, max = 100.0))]
    pub swirl: f32,
}

impl Default for RadialParams {
    fn default() -> Self {
        Self {
            falloff: Falloff::Linear,
            range_m: 0.8,
            inner_radius_m: 0.3,
            swirl: 0.0,
        }
    }
}

/// A uniform field: a current.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformParams {
    /// Size of the field around its center, along x and z. Higher: the current fills a larger part of the pool. Lower: a small
    /// stream.
    pub size_m: [f32; 2],
    /// Direction of the current; its length does not matter.
    pub direction: [f32; 3],
}

impl Default for UniformParams {
    fn default() -> Self {
        Self {
            size_m: [4.0, 3.0],
            direction: [1.0, 0.0, 0.0],
        }
    }
}

/// A vortex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VortexParams {
    /// Size of the field around its center, along x and z. Higher: fish far from the center circle, too. Lower: only those near it.
    pub size_m: [f32; 2],
    /// Distance from the center at which the vortex is strongest; farther out it gets weaker. Higher: a wide ring with calm water
    /// in its middle. Lower: a tight whirl around the center.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub core_m: f32,
    /// Force towards the center, as a share of the force along the rotation. A negative value pushes outwards. Higher: draws fish
    /// into the middle. Lower: they circle at their distance; below 0, they are thrown out.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub inward: f32,
    /// Whether the vortex rotates clockwise, seen from above.
    pub clockwise: bool,
}

impl Default for VortexParams {
    fn default() -> Self {
        Self {
            size_m: [3.0, 3.0],
            core_m: 0.5,
            inward: 0.0,
            clockwise: false,
        }
    }
}

/// A harmonic field: towards a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HarmonicParams {
    /// Size of the field around its center, along x and z. Its outline counts as an obstacle. Higher: fish find the goal from
    /// farther away. Lower: only those near it.
    pub size_m: [f32; 2],
    /// Distance between grid nodes. A gap narrower than three times this distance may count as closed. Higher: narrow gaps close,
    /// and the scene loads faster. Lower: fish find ways through narrow gaps, and loading takes longer.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub cell_m: f32,
    /// Goal relative to the center, x and z.
    pub goal_m: [f32; 2],
    /// Distance from the goal within which the force decreases to zero. Higher: fish slow down early and stop around the goal.
    /// Lower: they swim into it at full force and past it.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub arrive_m: f32,
    /// Distance by which obstacles are enlarged. A typical value is the body radius of the agents. Higher: wide curves around
    /// obstacles, narrow gaps close. Lower: fish swim closely along obstacles and may touch them.
    #[schemars(range(min = -1.0, max = 10.0))]
    pub clearance_m: f32,
}

impl Default for HarmonicParams {
    fn default() -> Self {
        Self {
            size_m: [4.0, 3.0],
            cell_m: 0.08,
            goal_m: [0.0, 0.0],
            arrive_m: 0.2,
            clearance_m: 0.05,
        }
    }
}

/// Largest number of nodes in a harmonic field. It limits the time in which a changed scene is applied.
const HARMONIC_NODES_MAX: usize = 128 * 128;

impl FieldParams {
    /// Stretches the field horizontally, along x and z. A field that an obstacle owns stays at the obstacle and keeps its size.
    /// A round field stays round: it is scaled by the smaller ratio.
    pub fn stretch(&mut self, ratio: Vec2) {
        if self.obstacle.is_some() {
            return;
        }
        self.center_m = (Vec3::from(self.center_m) * Vec3::new(ratio.x, 1.0, ratio.y)).into();
        let stretch = |size_m: &mut [f32; 2]| *size_m = (Vec2::from(*size_m) * ratio).into();
        match &mut self.shape {
            FieldShape::Radial(radial) => {
                radial.range_m *= ratio.min_element();
                radial.inner_radius_m *= ratio.min_element();
            }
            FieldShape::Uniform(field) => stretch(&mut field.size_m),
            FieldShape::Vortex(field) => stretch(&mut field.size_m),
            FieldShape::Harmonic(field) => {
                stretch(&mut field.size_m);
                stretch(&mut field.goal_m);
            }
        }
    }

    /// Returns the problems that the allowed ranges of single values cannot express, as (path inside this table,
    /// message). `obstacles` is the number of obstacles in the scene.
    pub fn problems(&self, obstacles: usize) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if let Some(index) = self.obstacle
            && index as usize >= obstacles
        {
            found.push((
                "obstacle".into(),
                format!(
                    "there is no obstacle {index}: the scene has {obstacles}, counted from 0; give another number or remove this line"
                ),
            ));
        }
        if self.top_depth_m >= self.bottom_depth_m {
            found.push((
                "bottom_depth_m".into(),
                format!(
                    "bottom_depth_m = {} is not below top_depth_m = {}; make it larger",
                    self.bottom_depth_m, self.top_depth_m
                ),
            ));
        }
        if self
            .center_m
            .iter()
            .any(|v| !v.is_finite() || v.abs() > 1e4)
        {
            found.push((
                "center_m".into(),
                "the center is too far away; give numbers up to 10000 m".into(),
            ));
        }
        found.extend(
            self.shape
                .problems()
                .map(|(path, sentence)| (format!("shape.{path}"), sentence)),
        );
        found
    }
}

impl FieldShape {
    fn problems(&self) -> Option<(String, String)> {
        match self {
            Self::Radial(p) => (p.inner_radius_m > p.range_m).then(|| {
                (
                    "inner_radius_m".into(),
                    format!(
                        "inner_radius_m = {} is beyond range_m = {}; lower it or raise the range",
                        p.inner_radius_m, p.range_m
                    ),
                )
            }),
            Self::Uniform(p) => {
                let length = p.direction.iter().map(|v| v * v).sum::<f32>();
                if !(length > 1e-12 && length.is_finite()) {
                    let sentence =
                        "the direction of the current is zero; give a direction such as [1, 0, 0]";
                    return Some(("direction".into(), sentence.into()));
                }
                size_problem(p.size_m, "size_m", UNIFORM_CELL_M, VECTORS_MAX)
            }
            Self::Vortex(p) => size_problem(p.size_m, "size_m", VORTEX_CELL_M, VECTORS_MAX),
            Self::Harmonic(p) => {
                let problem = size_problem(p.size_m, "cell_m", p.cell_m, HARMONIC_NODES_MAX);
                if problem.is_some() {
                    return problem;
                }
                let [x, z] = p.size_m;
                let is_inside = p.goal_m[0].abs() < x / 2.0 && p.goal_m[1].abs() < z / 2.0;
                (!is_inside).then(|| {
                    (
                        "goal_m".into(),
                        format!(
                            "the goal [{}, {}] is outside the field, which extends {} and {} m from its center; move the goal or make the field larger",
                            p.goal_m[0], p.goal_m[1], x / 2.0, z / 2.0
                        ),
                    )
                })
            }
        }
    }
}

/// Returns the problem with a size and a cell length as (parameter, message), if there is one. `max_count` is the
/// largest number of cells; `key` is the parameter to change if there are more.
fn size_problem(
    size_m: [f32; 2],
    key: &str,
    cell_m: f32,
    max_count: usize,
) -> Option<(String, String)> {
    let is_good = |v: f32| v > 0.0 && v <= 1000.0;
    if !size_m.into_iter().all(is_good) {
        return Some((
            "size_m".into(),
            "the size of a field must be more than 0 along x and z, and at most 1000 m; correct the numbers"
                .into(),
        ));
    }
    let count = dims(size_m, cell_m).map(|dims| dims.x as usize * dims.y as usize);
    count.is_none_or(|count| count > max_count).then(|| {
        (
            key.into(),
            format!(
                "cells of {cell_m} m in a field of {size_m:?} m are more than {max_count} cells; make the cells larger or the field smaller"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(params: &FieldParams) -> Vec<String> {
        params
            .problems(2)
            .into_iter()
            .map(|(path, _)| path)
            .collect()
    }

    #[test]
    fn invalid_parameters_are_reported_with_their_path() {
        assert_eq!(paths(&FieldParams::default()), Vec::<String>::new());
        let with = |shape| FieldParams {
            shape,
            ..FieldParams::default()
        };
        let lost = FieldParams {
            obstacle: Some(2),
            top_depth_m: 3.0,
            bottom_depth_m: 1.0,
            center_m: [f32::NAN, 0.0, 0.0],
            ..FieldParams::default()
        };
        assert_eq!(paths(&lost), ["obstacle", "bottom_depth_m", "center_m"]);
        let radial = RadialParams {
            inner_radius_m: 2.0,
            range_m: 1.0,
            ..RadialParams::default()
        };
        assert_eq!(
            paths(&with(FieldShape::Radial(radial))),
            ["shape.inner_radius_m"]
        );
        let still = UniformParams {
            direction: [0.0; 3],
            ..UniformParams::default()
        };
        assert_eq!(
            paths(&with(FieldShape::Uniform(still))),
            ["shape.direction"]
        );
        let fine = UniformParams {
            size_m: [1000.0, 1000.0],
            ..UniformParams::default()
        };
        assert_eq!(paths(&with(FieldShape::Uniform(fine))), ["shape.size_m"]);
        let flat = VortexParams {
            size_m: [0.0, 1.0],
            ..VortexParams::default()
        };
        assert_eq!(paths(&with(FieldShape::Vortex(flat))), ["shape.size_m"]);
        let outside = HarmonicParams {
            goal_m: [9.0, 0.0],
            ..HarmonicParams::default()
        };
        assert_eq!(
            paths(&with(FieldShape::Harmonic(outside))),
            ["shape.goal_m"]
        );
    }
}
