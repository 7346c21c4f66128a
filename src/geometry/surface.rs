//! The projected surface: its size, its kind, and the eye point for which the pool is rendered.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The projected surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Surface {
    /// Width of the projected image on the surface.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub width_m: f32,
    /// Height of the projected image on the surface.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub height_m: f32,
    /// Kind of the surface.
    pub kind: SurfaceKind,
    /// Height of the eye point above the surface. The pool is rendered for a viewer at this point. It is not the height of the
    /// infrared camera.
    #[schemars(range(min = 0.5, max = 50.0))]
    pub eye_height_m: f32,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            width_m: 4.0,
            height_m: 3.0,
            kind: SurfaceKind::Floor,
            eye_height_m: 4.0,
        }
    }
}

/// Kind of the projected surface. World space does not depend on the kind; only the rendering and the upward direction of the
/// fish do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceKind {
    /// A floor: visitors look at the pool from above.
    #[default]
    Floor,
    /// A wall: visitors look at the pool from the side.
    Wall,
    /// A ceiling: visitors look at the pool from below.
    Ceiling,
}

impl SurfaceKind {
    /// Name of the kind, as in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Wall => "wall",
            Self::Ceiling => "ceiling",
        }
    }
}

impl Surface {
    /// Half of the width and half of the height, in meters.
    pub fn half_extent_m(&self) -> Vec2 {
        Vec2::new(self.width_m, self.height_m) / 2.0
    }

    /// Whether a floor point is on the projected surface.
    pub fn contains(&self, floor: Vec2) -> bool {
        floor.abs().cmple(self.half_extent_m()).all()
    }

    /// Returns the factor by which lengths grow from the surface to the depth d = `depth_m`, along the rays from the eye at
    /// height c: (c + d) / c.
    pub fn scale_at_depth(&self, depth_m: f32) -> f32 {
        (self.eye_height_m + depth_m.max(0.0)) / self.eye_height_m
    }

    /// Returns the floor point where the ray from the eye to a world point meets the surface.
    pub fn floor_from_world(&self, world: Vec3) -> Vec2 {
        Vec2::new(world.x, world.z) / self.scale_at_depth(-world.y)
    }
}
