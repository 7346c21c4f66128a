//! Barriers of a scene: invisible obstacles that agents turn away from, but that do not stop them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An invisible barrier. Species with the action `avoid_barriers` turn away from it. **Source**: Jockel 2005, §5.1; OpenSteer,
/// obstacles and `seenFrom`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierParams {
    /// Shape of the barrier.
    pub shape: BarrierShape,
    /// Sides from which agents turn away.
    pub seen_from: BarrierSide,
}

/// Sides from which agents turn away from a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BarrierSide {
    /// From outside, like a rock. The outside of a plane or rectangle is the side of its normal.
    #[default]
    Outside,
    /// From inside, like the wall of a tank.
    Inside,
    /// From both sides, like a net.
    Both,
}

/// Shape of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BarrierShape {
    /// A sphere.
    Sphere(BarrierSphere),
    /// A cuboid parallel to the axes.
    Box(BarrierBox),
    /// An infinite plane.
    Plane(BarrierPlane),
    /// A rectangle that stands upright or lies.
    Rectangle(BarrierRectangle),
    /// A cylinder with hemispherical ends.
    Capsule(BarrierCapsule),
}

impl Default for BarrierShape {
    fn default() -> Self {
        Self::Plane(BarrierPlane::default())
    }
}

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierSphere {
    /// Center in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Radius. Higher: agents turn away from a larger region. Lower: from a smaller one.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub radius_m: f32,
}

impl Default for BarrierSphere {
    fn default() -> Self {
        Self {
            center_m: [0.0, -0.7, 0.0],
            radius_m: 0.5,
        }
    }
}

/// A cuboid parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierBox {
    /// Center in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Half of the extents along x, y and z. Higher: agents turn away from a larger region. Lower: from a smaller one.
    #[schemars(inner(range(min = 0.001, max = 100.0)))]
    pub half_extents_m: [f32; 3],
}

impl Default for BarrierBox {
    fn default() -> Self {
        Self {
            center_m: [0.0, -0.7, 0.0],
            half_extents_m: [0.5, 0.5, 0.5],
        }
    }
}

/// An infinite plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierPlane {
    /// Any point on the plane, `[x, y, z]`.
    pub point_m: [f32; 3],
    /// Direction of the outside, `[x, y, z]`; its length does not matter.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub normal: [f32; 3],
}

impl Default for BarrierPlane {
    fn default() -> Self {
        Self {
            point_m: [0.0, -0.7, 0.0],
            normal: [1.0, 0.0, 0.0],
        }
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierRectangle {
    /// Center in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Direction of the outside, `[x, y, z]`; its length does not matter.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub normal: [f32; 3],
    /// Half of the horizontal width, and half of the other side. Higher: blocks a wider way. Lower: agents swim past its edges.
    #[schemars(inner(range(min = 0.001, max = 100.0)))]
    pub half_extents_m: [f32; 2],
}

impl Default for BarrierRectangle {
    fn default() -> Self {
        Self {
            center_m: [0.0, -0.7, 0.0],
            normal: [1.0, 0.0, 0.0],
            half_extents_m: [0.5, 0.5],
        }
    }
}

/// A cylinder with hemispherical ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierCapsule {
    /// Start of the axis in world space, `[x, y, z]`.
    pub from_m: [f32; 3],
    /// End of the axis in world space, `[x, y, z]`.
    pub to_m: [f32; 3],
    /// Radius. Higher: agents turn away from a larger region. Lower: from a smaller one.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub radius_m: f32,
}

impl Default for BarrierCapsule {
    fn default() -> Self {
        Self {
            from_m: [-0.5, -0.7, 0.0],
            to_m: [0.5, -0.7, 0.0],
            radius_m: 0.2,
        }
    }
}

impl BarrierParams {
    /// Returns the violated rules, each as (path inside the table of the barrier, message).
    pub fn problems(&self) -> Vec<(String, String)> {
        let normal = match self.shape {
            BarrierShape::Plane(plane) => plane.normal,
            BarrierShape::Rectangle(rectangle) => rectangle.normal,
            _ => return Vec::new(),
        };
        if glam::Vec3::from(normal).try_normalize().is_some() {
            return Vec::new();
        }
        vec![(
            "shape.normal".into(),
            "the normal has no direction; give a vector that is not zero".into(),
        )]
    }
}
