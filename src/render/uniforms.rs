//! The numbers that every shader reads: light, water and scales of a scene, the moment, and one projector's own.
//!
//! In: looks, surface, outputs. Out: structs as the GPU reads them, whose layouts a test holds against the shaders'.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::look::SceneLook;
use super::output_params::OutputParams;
use super::scenery::{OVERSCAN, Scenery};
use super::water::drifting_secs;
use crate::geometry::{Surface, SurfaceKind};

/// What every shader knows of a frame; twin of `SceneUniforms` in `shaders/scene.wgsl`, which says what the numbers are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct SceneUniforms {
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

/// Names and offsets of [`SceneUniforms`]'s members, for the test that compares them with the shaders'.
pub(super) fn scene_uniform_offsets() -> [(&'static str, usize); 14] {
    use std::mem::offset_of;
    [
        ("surface", offset_of!(SceneUniforms, surface)),
        ("field", offset_of!(SceneUniforms, field)),
        ("ground", offset_of!(SceneUniforms, ground)),
        ("sun", offset_of!(SceneUniforms, sun)),
        ("sun_color", offset_of!(SceneUniforms, sun_color)),
        ("sky_color", offset_of!(SceneUniforms, sky_color)),
        ("absorption", offset_of!(SceneUniforms, absorption)),
        ("sand", offset_of!(SceneUniforms, sand)),
        ("time", offset_of!(SceneUniforms, time)),
        ("maps", offset_of!(SceneUniforms, maps)),
        ("up", offset_of!(SceneUniforms, up)),
        ("to_sun", offset_of!(SceneUniforms, to_sun)),
        ("haze", offset_of!(SceneUniforms, haze)),
        ("scene", offset_of!(SceneUniforms, scene)),
    ]
}

/// Numbers of one projector; twin of `Output` in `shaders/output.wgsl`, which says what they are.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct OutputUniforms {
    gain: [f32; 4],
    ramps: [f32; 4],
    blend: [f32; 4],
}

impl OutputUniforms {
    /// The numbers of an output.
    pub(super) fn new(output: &OutputParams) -> Self {
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

impl SceneUniforms {
    /// The values of a scene at time 0 and full quality.
    pub(super) fn new(look: &SceneLook, surface: &Surface, scenery: &Scenery) -> Self {
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
        Self {
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

    /// Sets the part of the body and ground light textures that is drawn to, as a share of their sides.
    pub(super) fn set_target_scale(&mut self, scale: f32) {
        self.ground[2] = scale;
    }

    /// Sets the factor on the light before the tone curve.
    pub(super) fn set_exposure(&mut self, exposure: f32) {
        self.absorption[3] = exposure;
    }

    /// Sets the time of the picture.
    pub(super) fn set_time(&mut self, time_secs: f64) {
        self.time[0] = drifting_secs(time_secs);
    }
}
