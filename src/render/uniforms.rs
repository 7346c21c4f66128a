//! The uniform buffers: one with the values that all shaders read, and one with the values of an output.
//!
//! In: looks, surface, scenery, output parameters. Out: structs as the GPU reads them. A test compares their layouts with
//! those of the shaders.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::drift::drifting_secs;
use super::light::Foliage;
use super::look::SceneLook;
use super::output_params::OutputParams;
use super::scenery::{OVERSCAN, Scenery};
use crate::geometry::{Surface, SurfaceKind};
use crate::world::LightShares;

/// Smallest share of light that is left after `clarity_m` of water; less would be black. The logarithm of 0 is infinite.
const LEAST_LEFT: Vec3 = Vec3::splat(1e-3);

/// Values that all shaders read; same layout as `SceneUniforms` in `shaders/scene.wgsl`, which documents the fields.
///
/// WGSL aligns a field of three floats to 16 bytes, so each such field is followed by a single float.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct SceneUniforms {
    pub(super) surface_half_m: Vec2,
    pub(super) eye_height_m: f32,
    pub(super) ground_depth_m: f32,
    pub(super) water_half_m: Vec2,
    pub(super) overscan: f32,
    pub(super) target_scale: f32,
    pub(super) ground_half_m: Vec2,
    pub(super) sun_shift: Vec2,
    pub(super) sun_color: Vec3,
    pub(super) sun_strength: f32,
    pub(super) sky_color: Vec3,
    pub(super) reflection: f32,
    pub(super) absorption_per_m: Vec3,
    pub(super) exposure: f32,
    pub(super) sand_color: Vec3,
    pub(super) pebble_share: f32,
    pub(super) up: Vec3,
    pub(super) water_level_m: f32,
    pub(super) to_sun: Vec3,
    pub(super) facing_scale: f32,
    pub(super) haze_color: Vec3,
    pub(super) haze_per_m: f32,
    pub(super) body_uv_per_m: Vec2,
    pub(super) ground_uv_per_m: Vec2,
    pub(super) time_secs: f32,
    pub(super) sun_cosine: f32,
    pub(super) caustics: f32,
    pub(super) foam: f32,
    pub(super) shafts: f32,
    pub(super) glow: f32,
    pub(super) litter: f32,
    pub(super) rust_share: f32,
    pub(super) relief: f32,
    pub(super) ground_seed: f32,
    pub(super) gravel: f32,
    pub(super) canopy: f32,
    pub(super) crust: f32,
    pub(super) clearing: f32,
    pub(super) wake_glow: f32,
    pub(super) silt: f32,
    pub(super) prints: f32,
    pub(super) bloom: f32,
    pub(super) has_traces: u32,
    pub(super) padding: f32,
}

impl SceneUniforms {
    /// Creates the values of a scene at time 0 and full quality.
    pub(super) fn new(look: &SceneLook, surface: &Surface, scenery: &Scenery) -> Self {
        let light = look.lighting();
        let half = surface.half_extent_m();
        let shift = scenery.sun_shift;
        let depth_m = scenery.depth_m;
        let cosine = 1.0 / (1.0 + shift.length_squared()).sqrt();
        // Color of the sun: white at warmth 0, golden at warmth 1. Its luminance stays about the same.
        let warm = light.sun_warmth;
        let sun = Vec3::new(1.0, 1.0, 1.0).lerp(Vec3::new(1.22, 0.98, 0.66), warm) * 1.12;
        let sky = Vec3::new(light.sky.red, light.sky.green, light.sky.blue) * light.sky_strength;
        let water = Vec3::new(look.water.red, look.water.green, look.water.blue);
        let absorption_per_m = -water.max(LEAST_LEFT).map(f32::ln) / light.clarity_m;
        let (up, water_level_m, to_sun) = match surface.kind {
            SurfaceKind::Floor => (Vec3::Y, 0.0, Vec3::new(-shift.x, 1.0, -shift.y)),
            // A little sunlight comes through the glass, otherwise the flanks of fish would be dark.
            SurfaceKind::Wall => (Vec3::NEG_Z, half.y, Vec3::new(-shift.x, 0.28, -1.0)),
            SurfaceKind::Ceiling => (Vec3::NEG_Y, depth_m, Vec3::new(-shift.x, -1.0, -shift.y)),
        };
        let to_sun = to_sun.normalize_or(up);
        let (haze, haze_per_m) = match surface.kind {
            SurfaceKind::Floor => (Vec3::new(0.018, 0.050, 0.058), 0.45),
            SurfaceKind::Wall => (Vec3::new(0.030, 0.205, 0.280), 0.42),
            SurfaceKind::Ceiling => (Vec3::new(0.035, 0.190, 0.240), 0.30),
        };
        let scale = surface.scale_at_depth(depth_m);
        Self {
            surface_half_m: half,
            eye_height_m: surface.eye_height_m,
            ground_depth_m: depth_m,
            water_half_m: scenery.grid.half_m,
            overscan: OVERSCAN,
            target_scale: 1.0,
            ground_half_m: scenery.ground_half_m,
            sun_shift: shift,
            sun_color: sun,
            sun_strength: light.sun_strength,
            sky_color: sky,
            reflection: light.reflection,
            absorption_per_m,
            exposure: light.exposure,
            sand_color: Vec3::new(look.sand.red, look.sand.green, look.sand.blue),
            pebble_share: look.pebbles,
            up,
            water_level_m,
            to_sun,
            facing_scale: to_sun.dot(up).max(0.2).recip(),
            haze_color: haze * light.haze,
            haze_per_m,
            body_uv_per_m: (2.0 * half * OVERSCAN).recip(),
            ground_uv_per_m: scale / (2.0 * scenery.ground_half_m),
            time_secs: 0.0,
            sun_cosine: cosine,
            caustics: light.caustics,
            foam: look.foam,
            shafts: look.shafts,
            glow: light.glow,
            litter: look.litter(),
            rust_share: Foliage::of(look.season).rust,
            relief: look.relief,
            ground_seed: look.ground_seed as f32,
            gravel: look.gravel,
            canopy: look.canopy,
            crust: look.crust,
            clearing: look.clearing,
            wake_glow: look.wake_glow,
            silt: look.silt,
            prints: look.prints,
            bloom: look.bloom,
            has_traces: 0,
            padding: 0.0,
        }
    }

    /// Returns these values with shares of the light of others. The direction of the sunlight stays.
    pub(super) fn lit(&self, others: &[Self], shares: LightShares) -> Self {
        let sum: f32 = shares.iter().sum();
        if sum <= 0.0 {
            return *self;
        }
        let scale = sum.max(1.0).recip();
        let own = 1.0 - sum * scale;
        let parts = || others.iter().zip(shares.map(|share| share * scale));
        let number = |of: fn(&Self) -> f32| {
            let others = parts().map(|(other, share)| of(other) * share);
            of(self) * own + others.sum::<f32>()
        };
        let color = |of: fn(&Self) -> Vec3| {
            let others = parts().map(|(other, share)| of(other) * share);
            of(self) * own + others.sum::<Vec3>()
        };
        Self {
            sun_color: color(|of| of.sun_color),
            sun_strength: number(|of| of.sun_strength),
            sky_color: color(|of| of.sky_color),
            reflection: number(|of| of.reflection),
            exposure: number(|of| of.exposure),
            caustics: number(|of| of.caustics),
            glow: number(|of| of.glow),
            ..*self
        }
    }

    /// Sets the time of the picture.
    pub(super) fn set_time(&mut self, time_secs: f64) {
        self.time_secs = drifting_secs(time_secs);
    }
}

/// Values of one output; same layout as `OutputUniforms` in `shaders/output.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct OutputUniforms {
    pub(super) gain: Vec3,
    pub(super) gamma: f32,
    pub(super) ramp_widths: [f32; 4],
    pub(super) ramp_gamma: f32,
    pub(super) black_lift: f32,
    pub(super) padding: [f32; 2],
}

impl OutputUniforms {
    /// Creates the values of an output.
    pub(super) fn new(output: &OutputParams) -> Self {
        let (gain, blend) = (&output.gain, &output.blend);
        Self {
            gain: Vec3::new(gain.red, gain.green, gain.blue) * output.brightness,
            gamma: output.gamma,
            ramp_widths: [blend.left, blend.top, blend.right, blend.bottom],
            ramp_gamma: blend.gamma,
            black_lift: blend.black_lift,
            padding: [0.0; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::color::Tint;
    use crate::world::Light;

    fn absorption(water: Tint, clarity_m: f32) -> Vec3 {
        let look = SceneLook {
            water,
            clarity_m: Some(clarity_m),
            ..SceneLook::default()
        };
        let surface = Surface::default();
        let scenery = Scenery::new(&look, &surface, [64, 64], 1.2);
        SceneUniforms::new(&look, &surface, &scenery).absorption_per_m
    }

    #[test]
    fn the_light_of_another_time_of_day_has_its_share_and_water_and_shadows_stay() {
        let surface = Surface::default();
        let look = SceneLook {
            exposure: Some(2.0),
            sun_strength: Some(1.5),
            haze: Some(3.0),
            ..SceneLook::default()
        };
        let scenery = Scenery::new(&look, &surface, [64, 64], 1.2);
        let day = SceneUniforms::new(&look, &surface, &scenery);
        let lights =
            Light::ALL.map(|light| SceneUniforms::new(&look.in_light(light), &surface, &scenery));
        let night = |share| day.lit(&lights, [0.0, 0.0, 0.0, 0.0, share]);
        assert_eq!(night(0.0), day);
        let half = night(0.5);
        // The exposure of the scene counts: night has 1.35 times that of the day.
        assert!(
            (half.exposure - 2.0 * 1.175).abs() < 1e-5,
            "{}",
            half.exposure
        );
        assert!(
            (half.sun_strength - 0.9).abs() < 1e-5,
            "{}",
            half.sun_strength
        );
        assert!((night(1.0).glow - 1.3).abs() < 1e-5);
        assert_eq!(night(1.0).sun_shift, day.sun_shift);
        assert_eq!(night(1.0).haze_color, day.haze_color);
        // Two lights that change over never add up to more than one.
        let both = day.lit(&lights, [0.0, 0.0, 0.0, 1.0, 1.0]);
        assert!(
            (both.sun_strength - 0.46).abs() < 1e-5,
            "{}",
            both.sun_strength
        );
    }

    #[test]
    fn water_leaves_its_share_of_light_after_the_clarity() {
        let left = (-2.0 * absorption(Tint::new(0.5, 0.7, 0.4), 2.0)).map(f32::exp);
        assert!(left.abs_diff_eq(Vec3::new(0.5, 0.7, 0.4), 1e-5), "{left}");
    }

    /// The logarithm of 0 is infinite, and infinity times a distance of 0 is not a number.
    #[test]
    fn water_that_leaves_no_light_has_a_finite_absorption() {
        let dark = absorption(Tint::new(0.0, 0.5, 1.0), 0.1);
        assert!(dark.is_finite() && dark.min_element() >= 0.0, "{dark}");
    }
}
