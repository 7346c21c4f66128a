//! Parameters of the pool: its depth, its edge, its climate, its terraces and its obstacles.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::terrace::TerraceParams;
use crate::geometry::{PRISM_CORNERS_MAX, Prism, Solid, edges_contain, signed_area};

/// The pool's water: the `[pool]` table of a scene file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoolParams {
    /// Minimum depth of the fish. Higher: all fish swim deep, and look smaller and bluer. Lower: they come up to the surface.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub surface_depth_m: f32,
    /// Depth of the ground. Higher: a deep pool with a dark, far ground. Lower: fish swim in one layer, close above a bright
    /// ground.
    #[schemars(range(min = 0.05, max = 50.0))]
    pub ground_depth_m: f32,
    /// Treatment of a fish that leaves the picture.
    pub edge: EdgeMode,
    /// Distance from the edge of the picture outwards to the edge of the pool. Higher: fish stay out of sight longer. Lower: they
    /// come back soon; below 0, with `edge` `guide`, they stay inside the picture. With the other edges, a fish always leaves the
    /// picture completely.
    #[schemars(range(min = -5.0, max = 50.0))]
    pub margin_m: f32,
    /// Distances from the edge of the picture outwards up to which single species swim, instead of `margin_m`, by the names of the
    /// species. With enough room to swim out and turn, the fish leave the picture and come back: the picture shows a part of a larger
    /// world. `shoal check` names the least margin of a species that is to leave. In a picture on a wall they leave to the left and right only. Acts if `edge` is `guide`. Higher: they are out of
    /// sight for longer. Lower: only a part of them leaves the picture.
    #[schemars(extend("maxProperties" = 64), extend("additionalProperties" = { "type": "number", "format": "float", "minimum": -5.0, "maximum": 50.0 }))]
    pub margins_m: BTreeMap<String, f32>,
    /// Distance from the edge at which a fish starts to turn back, if `edge` is `guide`. Higher: turns back in a wide curve, and
    /// the edge stays empty. Lower: swims up to the edge and turns sharply.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub guide_m: f32,
    /// Light and temperature in the pool, which the action `keep_habits` uses. They do not change the picture.
    pub climate: ClimateParams,
    /// Terraces: basins at different heights between the minimum depth of the fish and the ground. If empty, the pool is one
    /// basin.
    #[schemars(length(max = 32))]
    pub terraces: Vec<TerraceParams>,
    /// Areas of the floor: places that rules name, and that fish like or avoid when they plan a way.
    #[schemars(length(max = 32))]
    pub areas: Vec<AreaParams>,
}

/// An area of the floor: a place that rules of the director name, and that agents like or avoid when they plan a way, with the actions
/// `navigate` and `leap`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AreaParams {
    /// Name of the area, for the condition `visitor_at` of a rule. It may be empty.
    pub name: String,
    /// Corners of the area in order, `[x, z]` each.
    #[schemars(inner(inner(range(min = -100.0, max = 100.0))))]
    pub outline_m: Vec<[f32; 2]>,
    /// Change of the cost of a meter in the area, in meters of calm water. Higher: fish take a longer way around it. Lower: they swim
    /// through it; below 0, they take a longer way to swim through it.
    #[schemars(range(min = -0.5, max = 14.0))]
    pub cost: f32,
}

impl Default for AreaParams {
    fn default() -> Self {
        Self {
            name: String::new(),
            outline_m: vec![[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]],
            cost: 0.0,
        }
    }
}

impl AreaParams {
    /// Whether a point of the floor is in the area.
    pub fn contains(&self, point_m: Vec2) -> bool {
        let next = self.outline_m.iter().cycle().skip(1);
        let edges = self.outline_m.iter().zip(next);
        edges_contain(edges.map(|(&a, &b)| (a.into(), b.into())), point_m)
    }

    /// Returns the corners of the area, in floor meters.
    pub fn corners(&self) -> Vec<Vec2> {
        self.outline_m.iter().map(|&at| at.into()).collect()
    }
}

impl Default for PoolParams {
    fn default() -> Self {
        Self {
            surface_depth_m: 0.3,
            ground_depth_m: 1.2,
            edge: EdgeMode::Guide,
            margin_m: 0.3,
            margins_m: BTreeMap::new(),
            guide_m: 0.7,
            climate: ClimateParams::default(),
            terraces: Vec::new(),
            areas: Vec::new(),
        }
    }
}

impl PoolParams {
    /// Returns the margin with which a body of this length leaves the picture: it is out of sight half a length beyond the edge, and turns
    /// back within `guide_m`.
    pub fn leaving_margin_m(&self, length_m: f32) -> f32 {
        length_m / 2.0 + self.guide_m / 2.0
    }

    /// Returns the violated rules, each as (path inside this table, message).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (index, terrace) in self.terraces.iter().enumerate() {
            let inside = terrace.problems().into_iter();
            found.extend(inside.map(|(path, text)| (format!("terraces[{index}].{path}"), text)));
        }
        for (index, area) in self.areas.iter().enumerate() {
            let square_m2 = signed_area(&area.corners()).abs();
            if area.outline_m.len() < 3 || square_m2.is_nan() || square_m2 < 1e-3 {
                found.push((
                    format!("areas[{index}].outline_m"),
                    "outline_m has no area; give at least three corners that are not in one line"
                        .into(),
                ));
            }
        }
        if self.ground_depth_m > self.surface_depth_m {
            return found;
        }
        found.push((
            "ground_depth_m".into(),
            format!(
                "ground_depth_m = {} must be greater than surface_depth_m = {}; make the pool deeper",
                self.ground_depth_m, self.surface_depth_m
            ),
        ));
        found
    }
}

/// Light and temperature in the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClimateParams {
    /// Depth at which 1/e (37 %) of the light at the surface remains. **Source**: Beer's law. Higher: clear water, in which fish
    /// find their preferred light at a greater depth. Lower: they swim nearer to the surface.
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub light_depth_m: f32,
    /// Temperature at the center of the surface. Higher: fish of cold water gather where it is coldest. Lower: fish of warm water
    /// gather where it is warmest. No effect if `warmer_per_m` is 0.
    #[schemars(range(min = -5.0, max = 60.0))]
    pub warmth_c: f32,
    /// Increase of the temperature per meter along x, y (upwards) and z. Higher: each species keeps to a narrow part of the pool on
    /// its side. Lower: the parts are wide; 0: temperature does not matter; below 0, the warm side is the opposite one.
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
    /// Returns the light at a position as a share of the light at the surface.
    pub fn light(&self, at_m: Vec3) -> f32 {
        (at_m.y.min(0.0) / self.light_depth_m.max(1e-3)).exp()
    }

    /// Returns the temperature at a position, in °C.
    pub fn warmth_c(&self, at_m: Vec3) -> f32 {
        self.warmth_c + at_m.dot(self.warmth_gradient())
    }

    /// Returns the gradient of the temperature, in °C per meter.
    pub fn warmth_gradient(&self) -> Vec3 {
        Vec3::from(self.warmer_per_m)
    }
}

/// Treatment of a fish that leaves the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeMode {
    /// An invisible wall at the edge makes the fish turn back.
    #[default]
    Guide,
    /// The fish enters the pool again at a random position outside the picture.
    Reinsert,
    /// The fish enters the pool again on the opposite side.
    Wrap,
}

/// An obstacle in the pool. All shapes are convex. Positions in the water have a negative y.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum ObstacleParams {
    /// A sphere.
    Sphere(SphereParams),
    /// A cuboid, rotated about the vertical axis.
    Box(BoxParams),
    /// A cylinder with hemispherical ends.
    Capsule(CapsuleParams),
    /// A vertical prism over a convex polygon.
    Polygon(PolygonParams),
}

impl ObstacleParams {
    /// Returns the violated rules, each as (path inside the table of the obstacle, message).
    pub fn problems(&self) -> Vec<(String, String)> {
        match self {
            Self::Polygon(polygon) => polygon.problems(),
            Self::Sphere(_) | Self::Box(_) | Self::Capsule(_) => Vec::new(),
        }
    }

    /// Whether the obstacle is drawn.
    pub fn is_visible(&self) -> bool {
        match self {
            Self::Sphere(p) => p.visible,
            Self::Box(p) => p.visible,
            Self::Capsule(p) => p.visible,
            Self::Polygon(p) => p.visible,
        }
    }

    /// Returns the solid that these parameters describe; `None` if a number is not finite or the outline is not convex.
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
                let (center_m, half_m) = (Vec3::from(p.center_m), Vec3::from(p.half_extents_m));
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

/// A sphere, such as a round rock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SphereParams {
    /// Center in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Radius. Higher: a larger stone, which fish swim around and hide behind. Lower: a smaller one.
    #[schemars(range(min = 0.001, max = 50.0))]
    pub radius_m: f32,
    /// Whether the obstacle is drawn. Fish treat an invisible obstacle like any other. **Source**: Jockel 2005, §5.1.
    pub visible: bool,
}

impl Default for SphereParams {
    fn default() -> Self {
        Self {
            center_m: [0.0, -1.0, 0.0],
            radius_m: 0.3,
            visible: true,
        }
    }
}

/// A cuboid, such as a wall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoxParams {
    /// Center in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Half of the extents along the cuboid's own axes. Higher: a larger block. Lower: a smaller one.
    #[schemars(inner(range(min = 0.001, max = 100.0)))]
    pub half_extents_m: [f32; 3],
    /// Rotation about the vertical axis; positive turns x towards −z. Higher: turned further counterclockwise, seen from above.
    /// Lower: clockwise.
    #[schemars(range(min = -360.0, max = 360.0))]
    pub yaw_deg: f32,
    /// Whether the obstacle is drawn. Fish treat an invisible obstacle like any other. **Source**: Jockel 2005, §5.1.
    pub visible: bool,
}

impl Default for BoxParams {
    fn default() -> Self {
        Self {
            center_m: [0.0, -1.0, 0.0],
            half_extents_m: [0.3, 0.3, 0.3],
            yaw_deg: 0.0,
            visible: true,
        }
    }
}

/// A cylinder with hemispherical ends, such as a tree trunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CapsuleParams {
    /// Start of the axis in world space, `[x, y, z]`.
    pub from_m: [f32; 3],
    /// End of the axis in world space, `[x, y, z]`.
    pub to_m: [f32; 3],
    /// Radius. Higher: a thicker trunk. Lower: a thinner one.
    #[schemars(range(min = 0.001, max = 50.0))]
    pub radius_m: f32,
    /// Whether the obstacle is drawn. Fish treat an invisible obstacle like any other. **Source**: Jockel 2005, §5.1.
    pub visible: bool,
}

impl Default for CapsuleParams {
    fn default() -> Self {
        Self {
            from_m: [0.0, -1.2, 0.0],
            to_m: [0.0, -0.6, 0.0],
            radius_m: 0.1,
            visible: true,
        }
    }
}

/// A vertical prism over a convex polygon, such as a corner of a wall or a broken slab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolygonParams {
    /// Corners of the outline in order, `[x, z]` each: three to eight corners of a convex polygon. A concave shape must be
    /// built from several obstacles.
    #[schemars(inner(inner(range(min = -100.0, max = 100.0))))]
    pub outline_m: Vec<[f32; 2]>,
    /// Height y of the bottom; negative in the water. Higher: floats above the ground, and fish swim under it. Lower: reaches down
    /// to the ground or into it.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub bottom_m: f32,
    /// Height y of the top. Higher: reaches up to the surface and cannot be crossed. Lower: fish swim over it.
    #[schemars(range(min = -50.0, max = 50.0))]
    pub top_m: f32,
    /// Whether the obstacle is drawn. Fish treat an invisible obstacle like any other. **Source**: Jockel 2005, §5.1.
    pub visible: bool,
}

impl Default for PolygonParams {
    fn default() -> Self {
        Self {
            outline_m: vec![[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]],
            bottom_m: -1.2,
            top_m: -0.6,
            visible: true,
        }
    }
}

impl PolygonParams {
    /// Returns the corners of the outline, in floor meters.
    pub fn corners(&self) -> Vec<Vec2> {
        self.outline_m.iter().map(|&at| at.into()).collect()
    }

    /// Returns the violated rules, each as (path inside the table of the obstacle, message).
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
                    "outline_m has {count} corners; give 3 to {PRISM_CORNERS_MAX}, or build the shape from several obstacles"
                ),
            ));
        } else if Prism::new(&self.corners(), 0.0, 1.0).is_none() {
            found.push((
                "outline_m".into(),
                "outline_m is not a convex polygon, crosses itself or has no area; give the corners of a convex outline in order, or \
                 build the shape from several obstacles"
                    .into(),
            ));
        }
        found
    }
}
