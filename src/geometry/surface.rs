//! The projected surface: its size, what it is, and the eye that the picture is drawn for.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The projected surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Surface {
    /// Width of the projected picture on the surface.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub width_m: f32,
    /// Height of the projected picture on the surface.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub height_m: f32,
    /// What the picture lies on.
    pub kind: SurfaceKind,
    /// Height above the surface of the eye that the picture is drawn for; not the infrared camera's.
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

/// What the picture lies on. World space stays the same; only what is drawn, and what 'up' means for a fish, turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceKind {
    /// The pool is seen from above.
    #[default]
    Floor,
    /// The pool is seen from the side.
    Wall,
    /// The pool is seen from below.
    Ceiling,
}

impl Surface {
    /// Half of width and height: the extent of floor space from the origin.
    pub fn half_extent_m(&self) -> Vec2 {
        Vec2::new(self.width_m, self.height_m) / 2.0
    }

    /// Whether a floor point lies on the projected picture.
    pub fn contains(&self, floor: Vec2) -> bool {
        floor.abs().cmple(self.half_extent_m()).all()
    }

    /// How much larger things on the surface are at depth `depth_m`, along the rays from the eye: (c + d) / c.
    pub fn scale_at_depth(&self, depth_m: f32) -> f32 {
        (self.eye_height_m + depth_m.max(0.0)) / self.eye_height_m
    }

    /// Where the ray from the eye through a world point meets the surface.
    pub fn floor_from_world(&self, world: Vec3) -> Vec2 {
        Vec2::new(world.x, world.z) / self.scale_at_depth(-world.y)
    }
}
