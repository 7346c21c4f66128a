//! The numbers that every shader reads: light, water and scales of a scene, the moment, and one projector's own.
//!
//! In: looks, surface, outputs. Out: structs as the GPU reads them, whose layouts a test holds against the shaders'.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::draw::OVERSCAN;
use super::params::SceneLook;
use super::projector::OutputParams;
use super::water::{Grid, drifting_secs};
use crate::geometry::{Surface, SurfaceKind, polygon};
use crate::world::TerraceParams;

/// What every shader knows of a frame; twin of `Frame` in `shaders/frame.wgsl`, which says what the numbers are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Frame {
    pub(super) surface: [f32; 4],
    pub(super) field: [f32; 4],
    pub(super) ground: [f32; 4],
    pub(super) sun: [f32; 4],
    pub(super) sun_color: [f32; 4],
    pub(super) sky_color: [f32; 4],
    pub(super) absorption: [f32; 4],
    pub(super) sand: [f32; 4],
    pub(super) time: [f32; 4],
    pub(super) maps: [f32; 4],
    pub(super) up: [f32; 4],
    pub(super) to_sun: [f32; 4],
    pub(super) haze: [f32; 4],
    pub(super) scene: [f32; 4],
}

/// Names and offsets of [`Frame`]'s members, for the test that compares them with the shaders'.
pub fn frame_offsets() -> [(&'static str, usize); 14] {
    use std::mem::offset_of;
    [
        ("surface", offset_of!(Frame, surface)),
        ("field", offset_of!(Frame, field)),
        ("ground", offset_of!(Frame, ground)),
        ("sun", offset_of!(Frame, sun)),
        ("sun_color", offset_of!(Frame, sun_color)),
        ("sky_color", offset_of!(Frame, sky_color)),
        ("absorption", offset_of!(Frame, absorption)),
        ("sand", offset_of!(Frame, sand)),
        ("time", offset_of!(Frame, time)),
        ("maps", offset_of!(Frame, maps)),
        ("up", offset_of!(Frame, up)),
        ("to_sun", offset_of!(Frame, to_sun)),
        ("haze", offset_of!(Frame, haze)),
        ("scene", offset_of!(Frame, scene)),
    ]
}

/// Light and water of a scene, worked out once.
#[derive(Clone, Debug)]
pub struct Scenery {
    /// Depth of the ground.
    pub depth_m: f32,
    /// Shift of sunlight per meter of depth.
    pub sun_shift: Vec2,
    /// Half extent of the ground's picture.
    pub ground_half_m: Vec2,
    /// The height field's grid.
    pub grid: Grid,
    /// Pixels of the picture to a meter on the surface.
    pub pixels_per_m: f32,
    /// Where the ground is not `depth_m` deep.
    levels: Vec<Level>,
    kind: SurfaceKind,
    half_m: Vec2,
}

/// A terrace's ground.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) outline: Vec<Vec2>,
    /// Depth of its ground.
    pub(super) depth_m: f32,
    /// From its ground to the ground's picture, which lies at the scenery's depth.
    pub(super) scale: f32,
}

impl Scenery {
    /// Works out where light goes.
    ///
    /// **Source** of the sun's angle in water: Snell's law, refractive index 1.33.
    pub fn new(look: &SceneLook, surface: &Surface, picture_px: [u32; 2], depth_m: f32) -> Self {
        let look = look.lighting();
        let tilt_in_water = (look.sun_tilt_deg.to_radians().sin() / 1.33).asin();
        let heading = look.sun_heading_deg.to_radians();
        // Heading is clockwise from the upper edge (−z); light goes the other way.
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
            grid: Grid::new(surface, depth_m, sun_shift),
            levels: Vec::new(),
            kind: surface.kind,
            half_m: surface.half_extent_m(),
        }
    }

    /// With grounds at depths of their own.
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

    /// Grounds at depths of their own.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// How high a point is over its ground, and where on the ground's picture straight below it is.
    ///
    /// A wall's ground lies along its lower edge; there the picture's second axis leads away from the glass.
    pub(super) fn over_ground(&self, at: Vec3) -> (f32, Vec2) {
        if self.kind == SurfaceKind::Wall {
            return (self.half_m.y - at.z, Vec2::new(at.x, -at.y));
        }
        let place = Vec2::new(at.x, at.z);
        let (depth_m, scale) = self.ground_at(place);
        (at.y + depth_m, place * scale)
    }

    /// Depth of the ground at a place, and the scale from there to the ground's picture.
    pub(super) fn ground_at(&self, place: Vec2) -> (f32, f32) {
        let is_here = |level: &&Level| polygon::contains(&level.outline, place);
        let level = self.levels.iter().find(is_here);
        level.map_or((self.depth_m, 1.0), |level| (level.depth_m, level.scale))
    }

    /// The second axis of the ground's picture, and what is up.
    pub(super) fn ground_axes(&self) -> [Vec3; 2] {
        match self.kind {
            SurfaceKind::Wall => [Vec3::NEG_Y, Vec3::NEG_Z],
            SurfaceKind::Floor | SurfaceKind::Ceiling => [Vec3::Z, Vec3::Y],
        }
    }

    /// Where on the ground's picture the sun throws a point's shadow, and how high the point is over the ground.
    pub(super) fn shadow_of(&self, at: Vec3) -> (f32, Vec2) {
        let (over, below) = self.over_ground(at);
        let over = over.max(0.0);
        (over, below + self.sun_shift * over)
    }
}

/// Numbers of one projector; twin of `Output` in `shaders/show.wgsl`, which says what they are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct OutputFrame {
    gain: [f32; 4],
    ramps: [f32; 4],
    blend: [f32; 4],
}

impl OutputFrame {
    /// The numbers of an output.
    pub fn new(output: &OutputParams) -> Self {
        let (gain, blend) = (&output.gain, &output.blend);
        let bright = output.brightness;
        Self {
            gain: [
                gain.red * bright,
                gain.green * bright,
                gain.blue * bright,
                output.gamma,
            ],
            ramps: [blend.left, blend.top, blend.right, blend.bottom],
            blend: [blend.gamma, blend.black_lift, 0.0, 0.0],
        }
    }
}

/// The numbers every shader reads, but for time, waves and steps.
pub fn still_frame(look: &SceneLook, surface: &Surface, scenery: &Scenery) -> Frame {
    let light = look.lighting();
    let half = surface.half_extent_m();
    let shift = scenery.sun_shift;
    let depth_m = scenery.depth_m;
    let cosine = 1.0 / (1.0 + shift.length_squared()).sqrt();
    // White noon to golden evening, of about the same brightness.
    let warm = light.sun_warmth;
    let sun = Vec3::new(1.0, 1.0, 1.0).lerp(Vec3::new(1.22, 0.98, 0.66), warm) * 1.12;
    let sky = Vec3::new(light.sky.red, light.sky.green, light.sky.blue) * light.sky_strength;
    // Red is halved in `clarity_m`, green in twice and a half, blue in four times that.
    let red = std::f32::consts::LN_2 / light.clarity_m;
    let (up, surface_at_m, to_sun) = match surface.kind {
        SurfaceKind::Floor => (Vec3::Y, 0.0, Vec3::new(-shift.x, 1.0, -shift.y)),
        // A little of the sun falls in through the glass, or nobody would see a flank.
        SurfaceKind::Wall => (Vec3::NEG_Z, half.y, Vec3::new(-shift.x, 0.28, -1.0)),
        SurfaceKind::Ceiling => (Vec3::NEG_Y, depth_m, Vec3::new(-shift.x, -1.0, -shift.y)),
    };
    let to_sun = to_sun.normalize_or(up);
    let (water, haze) = match surface.kind {
        SurfaceKind::Floor => (Vec3::new(0.018, 0.050, 0.058), 0.45),
        SurfaceKind::Wall => (Vec3::new(0.030, 0.205, 0.280), 0.42),
        SurfaceKind::Ceiling => (Vec3::new(0.035, 0.190, 0.240), 0.30),
    };
    let scale = surface.scale_at_depth(depth_m);
    let bodies = (2.0 * half * OVERSCAN).recip();
    let ground = scale / (2.0 * scenery.ground_half_m);
    Frame {
        surface: [half.x, half.y, surface.eye_height_m, depth_m],
        field: [scenery.grid.half_m.x, scenery.grid.half_m.y, OVERSCAN, 0.0],
        ground: [
            scenery.ground_half_m.x,
            scenery.ground_half_m.y,
            1.0,
            light.glow,
        ],
        sun: [shift.x, shift.y, cosine, light.sun_strength],
        sun_color: sun.extend(light.caustics).to_array(),
        sky_color: sky.extend(light.reflection).to_array(),
        absorption: [red, red / 2.5, red / 4.0, light.exposure],
        sand: [look.sand.red, look.sand.green, look.sand.blue, look.pebbles],
        time: [0.0, look.ground_seed as f32, look.foam, look.shafts],
        maps: [bodies.x, bodies.y, ground.x, ground.y],
        up: up.extend(surface_at_m).to_array(),
        to_sun: to_sun.extend(to_sun.dot(up).max(0.2).recip()).to_array(),
        haze: (water * light.haze).extend(haze).to_array(),
        scene: [look.litter(), look.season.rust(), look.relief, 0.0],
    }
}

impl Frame {
    /// Side of the pictures of bodies and of light on the ground, as a share of their room.
    pub(super) fn set_scale(&mut self, scale: f32) {
        self.ground[2] = scale;
    }

    /// Brightness before the tone curve.
    pub(super) fn set_exposure(&mut self, exposure: f32) {
        self.absorption[3] = exposure;
    }
}

/// Writes the moment into a frame's numbers.
pub fn set_time(frame: &mut Frame, time_secs: f64) {
    frame.time[0] = drifting_secs(time_secs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sun_from_the_upper_left_throws_shadows_to_the_lower_right() {
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
