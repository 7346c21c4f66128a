//! Parameters of the pool itself: how deep it is, what happens at its edge, and what lies in it.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::terrace::TerraceParams;
use crate::geometry::{PRISM_CORNERS_MAX, Prism, Solid};

/// The water.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoolParams {
    /// Depth of the highest place where a fish may be.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub surface_depth_m: f32,
    /// Depth of the ground.
    #[schemars(range(min = 0.05, max = 50.0))]
    pub ground_depth_m: f32,
    /// What happens to a fish that leaves the picture.
    pub edge: EdgeMode,
    /// How far outside the picture the edge lies. Larger lets them vanish for longer; negative keeps them inside.
    #[schemars(range(min = -5.0, max = 50.0))]
    pub margin_m: f32,
    /// How far before the edge a fish begins to turn, where guides lead it back.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub guide_m: f32,
    /// Light and warmth, for those with habits. Changes nothing in the picture.
    pub climate: ClimateParams,
    /// Waters at different heights, within the depths above. None: one water everywhere.
    pub terraces: Vec<TerraceParams>,
}

impl Default for PoolParams {
    fn default() -> Self {
        Self {
            surface_depth_m: 0.3,
            ground_depth_m: 1.2,
            edge: EdgeMode::Guide,
            margin_m: 0.3,
            guide_m: 0.7,
            climate: ClimateParams::default(),
            terraces: Vec::new(),
        }
    }
}

impl PoolParams {
    /// Rules between fields, as (path inside this table, sentence).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (place, terrace) in self.terraces.iter().enumerate() {
            let inside = terrace.problems().into_iter();
            found.extend(inside.map(|(path, text)| (format!("terraces[{place}].{path}"), text)));
        }
        if self.ground_depth_m > self.surface_depth_m {
            return found;
        }
        found.push((
            "ground_depth_m".into(),
            format!(
                "ground_depth_m = {} is not below surface_depth_m = {}; make the pool deeper",
                self.ground_depth_m, self.surface_depth_m
            ),
        ));
        found
    }
}

/// Light and warmth in the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClimateParams {
    /// Depth at which a third (1/e) of the light at the surface is left. **Source**: Beer's law.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub light_depth_m: f32,
    /// Temperature in the middle of the surface.
    #[schemars(range(min = -5.0, max = 60.0))]
    pub warmth_c: f32,
    /// How much warmer it is a meter farther along x, y (upwards) and z.
    #[schemars(inner(range(min = -20.0, max = 20.0)))]
    pub warmer_per_m: [f32; 3],
}

impl Default for ClimateParams {
    fn default() -> Self {
        Self {
            light_depth_m: 2.0,
            warmth_c: 16.0,
            warmer_per_m: [0.0, 0.0, 0.0],
        }
    }
}

impl ClimateParams {
    /// Light at a place as a share of that at the surface.
    pub fn light(&self, at_m: Vec3) -> f32 {
        (at_m.y.min(0.0) / self.light_depth_m.max(1e-3)).exp()
    }

    /// Temperature at a place.
    pub fn warmth_c(&self, at_m: Vec3) -> f32 {
        self.warmth_c + at_m.dot(self.warmer())
    }

    /// Where it becomes warmer, per meter.
    pub fn warmer(&self) -> Vec3 {
        Vec3::from(self.warmer_per_m)
    }
}

/// What happens to a fish that leaves the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeMode {
    /// Invisible guides lead it back.
    #[default]
    Guide,
    /// It comes back in at another place out of sight.
    Reinsert,
    /// It comes back in on the opposite side.
    Wrap,
}

/// A solid thing in the pool. All shapes are convex; their depths are negative y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum ObstacleParams {
    /// A ball.
    Sphere(SphereParams),
    /// A cuboid, turned about the vertical.
    Box(BoxParams),
    /// A rod with round ends.
    Capsule(CapsuleParams),
    /// An upright block with an outline of its own.
    Polygon(PolygonParams),
}

impl ObstacleParams {
    /// Rules between fields, as (path inside this table, sentence).
    pub fn problems(&self) -> Vec<(String, String)> {
        match self {
            Self::Polygon(polygon) => polygon.problems(),
            Self::Sphere(_) | Self::Box(_) | Self::Capsule(_) => Vec::new(),
        }
    }

    /// The solid that these numbers describe; `None` when one of them is not finite, or they describe none.
    pub fn solid(&self) -> Option<Solid> {
        let (solid, numbers) = match self {
            Self::Sphere(p) => {
                let center_m = Vec3::from(p.center_m);
                let solid = Solid::Sphere {
                    center_m,
                    radius_m: p.radius_m,
                };
                (solid, center_m + p.radius_m)
            }
            Self::Box(p) => {
                let (center_m, half_m) =
                    (Vec3::from(p.center_m), Vec3::from(p.half_extents_m).abs());
                let (sin, cos) = p.yaw_deg.to_radians().sin_cos();
                let solid = Solid::Box {
                    center_m,
                    half_m,
                    axis: Vec2::new(cos, -sin),
                };
                (solid, center_m + half_m + sin)
            }
            Self::Capsule(p) => {
                let (from_m, to_m) = (Vec3::from(p.from_m), Vec3::from(p.to_m));
                let solid = Solid::Capsule {
                    from_m,
                    to_m,
                    radius_m: p.radius_m,
                };
                (solid, from_m + to_m + p.radius_m)
            }
            Self::Polygon(p) => {
                let prism = Prism::new(&p.corners(), p.bottom_m, p.top_m)?;
                (Solid::Prism(prism), prism.center_m())
            }
        };
        numbers.is_finite().then_some(solid)
    }
}

/// A ball, such as a round rock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SphereParams {
    /// Middle in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Radius.
    #[schemars(range(min = 0.001, max = 50.0))]
    pub radius_m: f32,
}

impl Default for SphereParams {
    fn default() -> Self {
        Self {
            center_m: [0.0, -1.0, 0.0],
            radius_m: 0.3,
        }
    }
}

/// A cuboid, such as a wall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoxParams {
    /// Middle in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Half of its extents along its own axes.
    pub half_extents_m: [f32; 3],
    /// Turn about the vertical, from x towards −z.
    #[schemars(range(min = -360.0, max = 360.0))]
    pub yaw_deg: f32,
}

impl Default for BoxParams {
    fn default() -> Self {
        Self {
            center_m: [0.0, -1.0, 0.0],
            half_extents_m: [0.3, 0.3, 0.3],
            yaw_deg: 0.0,
        }
    }
}

/// A rod with round ends, such as a trunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CapsuleParams {
    /// One end of its axis in world space, `[x, y, z]`.
    pub from_m: [f32; 3],
    /// The other end of its axis.
    pub to_m: [f32; 3],
    /// Radius.
    #[schemars(range(min = 0.001, max = 50.0))]
    pub radius_m: f32,
}

impl Default for CapsuleParams {
    fn default() -> Self {
        Self {
            from_m: [0.0, -1.2, 0.0],
            to_m: [0.0, -0.6, 0.0],
            radius_m: 0.1,
        }
    }
}

/// An upright block with an outline of its own, such as a wall's corner or a broken slab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolygonParams {
    /// Corners of its outline in order, `[x, z]` each: three to eight, bending nowhere inwards. A dented shape is put together
    /// from several.
    #[schemars(inner(inner(range(min = -100.0, max = 100.0))))]
    pub outline_m: Vec<[f32; 2]>,
    /// Height y of its underside; negative, like all that is in the water.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub bottom_m: f32,
    /// Height y of its upper side.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub top_m: f32,
}

impl Default for PolygonParams {
    fn default() -> Self {
        Self {
            outline_m: vec![[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]],
            bottom_m: -1.2,
            top_m: -0.6,
        }
    }
}

impl PolygonParams {
    /// Corners of its outline in floor meters.
    pub fn corners(&self) -> Vec<Vec2> {
        self.outline_m.iter().map(|&at| at.into()).collect()
    }

    /// Rules between fields, as (path inside this table, sentence).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.top_m <= self.bottom_m {
            found.push((
                "top_m".into(),
                format!(
                    "top_m = {} is not above bottom_m = {}; make the block higher",
                    self.top_m, self.bottom_m
                ),
            ));
        }
        let count = self.outline_m.len();
        if !(3..=PRISM_CORNERS_MAX).contains(&count) {
            found.push((
                "outline_m".into(),
                format!(
                    "outline_m has {count} corners; give 3 to {}, or put the shape together from several obstacles",
                    PRISM_CORNERS_MAX
                ),
            ));
        } else if Prism::new(&self.corners(), 0.0, 1.0).is_none() {
            found.push((
                "outline_m".into(),
                "outline_m bends inwards, crosses itself or encloses nothing; give the corners of a convex outline in order, or put \
                 the shape together from several obstacles"
                    .into(),
            ));
        }
        found
    }
}
