//! Parameters of a scene's fields: the `[[fields]]` tables of a scene file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generate::dims;
use super::grid::VECTORS_MAX;
use super::radial::Falloff;

/// A force that depends on the place, followed by whoever has the action `follow_flow_field`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FieldParams {
    /// What it is called in the panel.
    pub name: String,
    /// Number of the obstacle that owns it, counted from 0: it moves and turns with that. Absent: it lies in the world.
    pub obstacle: Option<u32>,
    /// Its middle: in the world `[x, y, z]`, or from the middle of its obstacle.
    pub center_m: [f32; 3],
    /// Turn about the vertical, from x towards −z.
    #[schemars(range(min = -360.0, max = 360.0))]
    pub yaw_deg: f32,
    /// Radius of the obstacle that the field's lengths were made for: for a larger one it grows. Absent: it never does.
    #[schemars(range(min = 0.001, max = 50.0))]
    pub made_for_radius_m: Option<f32>,
    /// It acts from this depth …
    #[schemars(range(min = -50.0, max = 50.0))]
    pub top_depth_m: f32,
    /// … down to this one.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub bottom_depth_m: f32,
    /// Force where it is strongest; negative attracts.
    #[schemars(range(min = -10000.0, max = 10000.0))]
    pub strength_n: f32,
    /// Names of species or groups that it acts on; empty: everybody.
    pub acts_on: Vec<String>,
    /// What it looks like.
    pub shape: FieldShape,
}

impl Default for FieldParams {
    fn default() -> Self {
        Self {
            name: String::new(),
            obstacle: None,
            center_m: [0.0, 0.0, 0.0],
            yaw_deg: 0.0,
            made_for_radius_m: None,
            top_depth_m: -50.0,
            bottom_depth_m: 50.0,
            strength_n: 1.0,
            acts_on: Vec::new(),
            shape: FieldShape::default(),
        }
    }
}

/// What a field looks like in its own space, of strength one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldShape {
    /// Away from its middle.
    Radial(RadialParams),
    /// A current: the same everywhere.
    Uniform(UniformParams),
    /// Round and round.
    Vortex(VortexParams),
    /// Small random forces: the classic way out of places where all others cancel.
    Noise(NoiseParams),
    /// To a place, round all obstacles and out of every dead end.
    Harmonic(HarmonicParams),
    /// Drawn by somebody: from a file.
    File(FileParams),
}

impl Default for FieldShape {
    fn default() -> Self {
        Self::Radial(RadialParams::default())
    }
}

/// Away from its middle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RadialParams {
    /// How it weakens outwards.
    pub falloff: Falloff,
    /// Where it ends, from its middle.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub range_m: f32,
    /// Within this it has its full strength; about the radius of a large obstacle.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub inner_radius_m: f32,
    /// Sideways share: 0 straight away, 1 half to the left of that (seen from above), −1 half to the right.
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

/// A current.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformParams {
    /// Where it acts, around its middle: along x, y, z. At any height where y is 0.
    pub size_m: [f32; 3],
    /// Distance of two vectors; beyond its edge it fades within that.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub cell_m: f32,
    /// Where it flows to; its length counts as 1.
    pub direction: [f32; 3],
}

impl Default for UniformParams {
    fn default() -> Self {
        Self {
            size_m: [4.0, 0.0, 3.0],
            cell_m: 0.25,
            direction: [1.0, 0.0, 0.0],
        }
    }
}

/// Round and round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VortexParams {
    /// Where it acts, around its middle: along x, y, z. At any height where y is 0.
    pub size_m: [f32; 3],
    /// Distance of two vectors.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub cell_m: f32,
    /// Where it is strongest, from its middle; further out it weakens with the distance.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub core_m: f32,
    /// Pull to the middle as a share of the turning; negative drives apart.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub inward: f32,
    /// Whether it turns to the right, seen from above.
    pub clockwise: bool,
}

impl Default for VortexParams {
    fn default() -> Self {
        Self {
            size_m: [3.0, 0.0, 3.0],
            cell_m: 0.125,
            core_m: 0.5,
            inward: 0.0,
            clockwise: false,
        }
    }
}

/// Small random forces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoiseParams {
    /// Where it acts, around its middle: along x, y, z. At any height where y is 0.
    pub size_m: [f32; 3],
    /// Distance of two random vectors; between them the force changes smoothly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub cell_m: f32,
    /// Which random vectors.
    #[schemars(range(min = 0, max = 4294967295_u64))]
    pub seed: u32,
}

impl Default for NoiseParams {
    fn default() -> Self {
        Self {
            size_m: [4.0, 0.0, 3.0],
            cell_m: 0.3,
            seed: 1,
        }
    }
}

/// To a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HarmonicParams {
    /// Where it acts, around its middle: along x and z. Its outline counts as an obstacle.
    pub size_m: [f32; 2],
    /// Distance of two nodes; a gap narrower than three of them may count as closed.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub cell_m: f32,
    /// Where it leads to, from its middle: x and z.
    pub goal_m: [f32; 2],
    /// Within this distance of the goal it fades.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub arrive_m: f32,
    /// How far around an obstacle counts as obstacle; about a body's radius.
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

/// From a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileParams {
    /// A .png beside the site file (red: along x, green: along z, 128 is none) or a .toml with `dims` and `vectors`.
    pub file: String,
    /// From its first vector to its last: along x, y, z. y counts for a file with layers only.
    pub size_m: [f32; 3],
}

impl Default for FileParams {
    fn default() -> Self {
        Self {
            file: String::new(),
            size_m: [4.0, 0.0, 3.0],
        }
    }
}

/// Most nodes of a harmonic field, so that an edit is not kept waiting.
const HARMONIC_NODES_MAX: usize = 128 * 128;

impl FieldParams {
    /// The file that it is read from, where it is.
    pub fn file(&self) -> Option<&str> {
        match &self.shape {
            FieldShape::File(params) => Some(&params.file),
            _ => None,
        }
    }

    /// Rules between fields, as (path inside this table, sentence). `obstacles` is how many the scene has.
    pub fn problems(&self, obstacles: usize) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if let Some(place) = self.obstacle
            && place as usize >= obstacles
        {
            found.push((
                "obstacle".into(),
                format!(
                    "there is no obstacle {place}: the scene has {obstacles}, counted from 0; give another number or remove this line"
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
                "the middle is too far away; give numbers up to 10000 m".into(),
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
                    let sentence = "the current flows nowhere; give a direction such as [1, 0, 0]";
                    return Some(("direction".into(), sentence.into()));
                }
                size_problem(p.size_m, Some(p.cell_m), VECTORS_MAX)
            }
            Self::Vortex(p) => size_problem(p.size_m, Some(p.cell_m), VECTORS_MAX),
            Self::Noise(p) => size_problem(p.size_m, Some(p.cell_m), VECTORS_MAX),
            Self::Harmonic(p) => {
                let [x, z] = p.size_m;
                if let Some(problem) = size_problem([x, 0.0, z], Some(p.cell_m), HARMONIC_NODES_MAX)
                {
                    return Some(problem);
                }
                let is_inside = p.goal_m[0].abs() < x / 2.0 && p.goal_m[1].abs() < z / 2.0;
                (!is_inside).then(|| {
                    (
                        "goal_m".into(),
                        format!(
                            "the goal [{}, {}] lies outside the field, which reaches {} and {} m to each side; move it or make the field larger",
                            p.goal_m[0], p.goal_m[1], x / 2.0, z / 2.0
                        ),
                    )
                })
            }
            Self::File(p) => {
                if p.file.is_empty() {
                    let sentence =
                        "no file is named; give the path of a .png or .toml beside the site file";
                    return Some(("file".into(), sentence.into()));
                }
                size_problem(p.size_m, None, VECTORS_MAX)
            }
        }
    }
}

/// What is wrong with a size in cells of a length, of which there may be so many.
fn size_problem(size_m: [f32; 3], cell_m: Option<f32>, most: usize) -> Option<(String, String)> {
    let is_good = |v: f32| (0.0..=1000.0).contains(&v);
    if !size_m.into_iter().all(is_good) || size_m[0] <= 0.0 || size_m[2] <= 0.0 {
        return Some((
            "size_m".into(),
            "a field's size is more than 0 along x and z, and at most 1000 m; mend the numbers"
                .into(),
        ));
    }
    let cell_m = cell_m?;
    let count = dims(size_m, cell_m).map(|d| d.to_array().map(|n| n as usize).iter().product());
    match count {
        Some(0..) if count.is_some_and(|count: usize| count <= most) => None,
        _ => Some((
            "cell_m".into(),
            format!(
                "cells of {cell_m} m in a field of {size_m:?} m are more than {most}; make the cells larger or the field smaller"
            ),
        )),
    }
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
    fn what_cannot_be_meant_is_told_with_its_place() {
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
        let fine = NoiseParams {
            size_m: [1000.0, 1000.0, 1000.0],
            cell_m: 0.01,
            ..NoiseParams::default()
        };
        assert_eq!(paths(&with(FieldShape::Noise(fine))), ["shape.cell_m"]);
        let flat = VortexParams {
            size_m: [0.0, 0.0, 1.0],
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
        let none = FileParams::default();
        assert_eq!(paths(&with(FieldShape::File(none))), ["shape.file"]);
    }
}
