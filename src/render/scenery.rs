//! Light and water of a scene, and the position of its ground. They are computed once and used for everything that is placed in
//! the scene.

use glam::{Vec2, Vec3};

use super::look::SceneLook;
use super::water::WaterGrid;
use crate::geometry::{Surface, SurfaceKind, polygon_contains};
use crate::world::TerraceParams;

/// Size of the body texture relative to the picture. The texture is larger, because refraction at the edges of the picture
/// shows points outside of the picture.
pub(super) const OVERSCAN: f32 = 1.04;

/// Light, water and ground of a scene.
#[derive(Clone, Debug)]
pub struct Scenery {
    /// Depth of the ground outside of terraces.
    pub depth_m: f32,
    /// Horizontal shift of sunlight per meter of depth, in meters.
    pub sun_shift: Vec2,
    /// Half extent of the ground texture, at the depth of the ground.
    pub ground_half_m: Vec2,
    /// Grid of the height field.
    pub grid: WaterGrid,
    /// Pixels of the picture per meter on the surface.
    pub pixels_per_m: f32,
    /// Grounds of the terraces.
    levels: Vec<Level>,
    kind: SurfaceKind,
    half_m: Vec2,
}

/// The ground of a terrace.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) outline: Vec<Vec2>,
    /// Depth of the ground of the terrace.
    pub(super) depth_m: f32,
    /// Factor that converts a position on this ground to a position on the ground texture, which is at the depth of the
    /// scenery.
    pub(super) scale: f32,
}

impl Scenery {
    /// Creates the scenery of a scene without terraces. The angle of the sun in the water follows Snell's law with a refractive
    /// index of 1.33.
    pub fn new(look: &SceneLook, surface: &Surface, picture_px: [u32; 2], depth_m: f32) -> Self {
        let look = look.lighting();
        let tilt_in_water = (look.sun_tilt_deg.to_radians().sin() / 1.33).asin();
        let heading = look.sun_heading_deg.to_radians();
        // The heading is the direction to the source of the light, clockwise from the upper edge (−z).
        let from = Vec2::new(heading.sin(), -heading.cos());
        let sun_shift = -from * tilt_in_water.tan();
        Self {
            depth_m,
            sun_shift,
            pixels_per_m: picture_px[0] as f32 / surface.width_m,
            ground_half_m: surface.half_extent_m()
                * surface.scale_at_depth(depth_m)
                * OVERSCAN
                * 1.02,
            grid: WaterGrid::new(surface, depth_m, sun_shift),
            levels: Vec::new(),
            kind: surface.kind,
            half_m: surface.half_extent_m(),
        }
    }

    /// Adds the grounds of terraces.
    #[must_use]
    pub fn with_terraces(mut self, terraces: &[TerraceParams], surface: &Surface) -> Self {
        let scale = |depth_m| surface.scale_at_depth(depth_m);
        let sound = terraces
            .iter()
            .filter(|terrace| terrace.outline_m.len() >= 3);
        let level = |terrace: &TerraceParams| Level {
            outline: terrace.corners(),
            depth_m: terrace.ground_depth_m,
            scale: scale(self.depth_m) / scale(terrace.ground_depth_m),
        };
        self.levels = sound.map(level).collect();
        self
    }

    /// The grounds of the terraces.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the height of a point above the ground, and the position on the ground texture straight below the point.
    ///
    /// On a wall, the ground is along the lower edge; there the second axis of the ground texture points away from the glass.
    pub(super) fn over_ground(&self, at: Vec3) -> (f32, Vec2) {
        if self.kind == SurfaceKind::Wall {
            return (self.half_m.y - at.z, Vec2::new(at.x, -at.y));
        }
        let place = Vec2::new(at.x, at.z);
        let (depth_m, scale) = self.ground_at(place);
        (at.y + depth_m, place * scale)
    }

    /// Returns the depth of the ground at a place, and the factor that converts a position there to one on the ground texture.
    pub(super) fn ground_at(&self, place: Vec2) -> (f32, f32) {
        let is_here = |level: &&Level| polygon_contains(&level.outline, place);
        let level = self.levels.iter().find(is_here);
        level.map_or((self.depth_m, 1.0), |level| (level.depth_m, level.scale))
    }

    /// Returns the second axis of the ground texture and the direction up, both in world space.
    pub(super) fn ground_axes(&self) -> [Vec3; 2] {
        match self.kind {
            SurfaceKind::Wall => [Vec3::NEG_Y, Vec3::NEG_Z],
            SurfaceKind::Floor | SurfaceKind::Ceiling => [Vec3::Z, Vec3::Y],
        }
    }

    /// Returns the height of a point above the ground, and the position of the point's shadow on the ground texture.
    pub(super) fn shadow_of(&self, at: Vec3) -> (f32, Vec2) {
        let (height_m, below) = self.over_ground(at);
        let height_m = height_m.max(0.0);
        (height_m, below + self.sun_shift * height_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_fall_away_from_the_sun() {
        let of = |look: &SceneLook| Scenery::new(look, &Surface::default(), [640, 480], 1.0);
        let scenery = of(&SceneLook::default());
        assert!(
            scenery.sun_shift.x > 0.1 && scenery.sun_shift.y > 0.1,
            "{}",
            scenery.sun_shift
        );
        let noon = SceneLook {
            sun_tilt_deg: Some(0.0),
            ..SceneLook::default()
        };
        assert!(of(&noon).sun_shift.length() < 1e-6);
    }
}
