//! Presets for the time of day and the season: the values of a scene for the fields that its file does not set.
//!
//! All numbers are tuned by eye.

use glam::Vec3;
use image::RgbaImage;

use super::color::Tint;
use super::model::Model;
use crate::world::{Light, Season, SeasonShares};

/// What a season does to plants and leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Foliage {
    /// Amount of fallen leaves on the ground, 0..1.
    pub litter: f32,
    /// Share of maple leaves among the leaves that float on the water; the others are petals.
    pub floating_leaves: f32,
    /// Share of rust-colored plants, 0..1.
    pub rust: f32,
}

impl Foliage {
    /// The values of a season.
    pub(super) fn of(season: Season) -> Self {
        let (litter, floating_leaves, rust) = match season {
            Season::Summer => (0.15, 0.15, 0.0),
            Season::Autumn => (1.0, 0.95, 1.0),
            Season::Run => (0.6, 0.8, 0.5),
        };
        Self {
            litter,
            floating_leaves,
            rust,
        }
    }

    /// The values of a season with shares of others. The leaves on the ground are painted once, so they stay.
    pub(super) fn mixed(season: Season, shares: SeasonShares) -> Self {
        let own = Self::of(season);
        let sum: f32 = shares.iter().sum();
        if sum <= 0.0 {
            return own;
        }
        let scale = sum.max(1.0).recip();
        let mix = |of: fn(&Self) -> f32| {
            let others = Season::ALL.iter().zip(shares);
            let others = others.map(|(&other, share)| of(&Self::of(other)) * share * scale);
            of(&own) * (1.0 - sum * scale) + others.sum::<f32>()
        };
        Self {
            floating_leaves: mix(|of| of.floating_leaves),
            rust: mix(|of| of.rust),
            ..own
        }
    }
}

/// Light and water of a time of day. Units and ranges are those of the fields of the same names in [`super::SceneLook`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lighting {
    pub exposure: f32,
    pub sun_tilt_deg: f32,
    pub sun_heading_deg: f32,
    pub sun_strength: f32,
    pub sun_warmth: f32,
    pub sky_strength: f32,
    pub sky: Tint,
    pub caustics: f32,
    pub clarity_m: f32,
    pub haze: f32,
    pub reflection: f32,
    pub glow: f32,
}

impl Lighting {
    /// The values of a time of day.
    pub(super) fn of(light: Light) -> Self {
        let day = Self {
            exposure: 1.0,
            sun_tilt_deg: 26.0,
            sun_heading_deg: 315.0,
            sun_strength: 1.0,
            sun_warmth: 0.55,
            sky_strength: 1.0,
            sky: Tint::new(0.40, 0.47, 0.55),
            caustics: 1.0,
            clarity_m: 5.5,
            haze: 1.0,
            reflection: 1.0,
            glow: 0.0,
        };
        match light {
            Light::Day => day,
            Light::Morning => Self {
                sun_tilt_deg: 48.0,
                sun_heading_deg: 290.0,
                sun_strength: 0.55,
                sun_warmth: 0.45,
                sky_strength: 1.35,
                sky: Tint::new(0.46, 0.49, 0.52),
                caustics: 0.55,
                clarity_m: 3.2,
                haze: 4.0,
                reflection: 1.6,
                ..day
            },
            Light::Noon => Self {
                exposure: 0.9,
                sun_tilt_deg: 14.0,
                sun_strength: 1.1,
                sun_warmth: 0.12,
                sky_strength: 0.8,
                caustics: 0.95,
                clarity_m: 7.0,
                ..day
            },
            Light::Dusk => Self {
                exposure: 1.05,
                sun_tilt_deg: 58.0,
                sun_heading_deg: 285.0,
                sun_strength: 0.62,
                sun_warmth: 1.0,
                sky_strength: 0.85,
                sky: Tint::new(0.34, 0.31, 0.50),
                caustics: 0.8,
                reflection: 1.3,
                ..day
            },
            Light::Night => Self {
                exposure: 1.35,
                sun_tilt_deg: 25.0,
                sun_strength: 0.3,
                sun_warmth: 0.0,
                sky_strength: 0.55,
                sky: Tint::new(0.045, 0.13, 0.34),
                caustics: 1.0,
                clarity_m: 4.0,
                reflection: 0.5,
                glow: 1.3,
                ..day
            },
        }
    }
}

/// Colors a model for the season `run`. Colors of the body turn red by `share`; the darkest ones (the top of the head and the middle of the
/// back) turn olive.
pub(super) fn apply_run_color(model: &mut Model, share: f32) {
    if share <= 0.0 {
        return;
    }
    if let Some(skin) = &mut model.skin {
        apply_to_skin(skin, share);
    }
    for vertex in &mut model.vertices {
        if model.skin.is_none() {
            let [red, green, blue, alpha] = vertex.color;
            let [red, green, blue] = run_color([red, green, blue], share);
            vertex.color = [red, green, blue, alpha];
        }
    }
}

fn apply_to_skin(skin: &mut RgbaImage, share: f32) {
    for pixel in skin.pixels_mut() {
        let [red, green, blue, alpha] = pixel.0;
        let [red, green, blue] = run_color([red, green, blue], share);
        pixel.0 = [red, green, blue, alpha];
    }
}

/// Mixes a color with the colors of a spawning salmon: skin turns crimson up to the back, the darkest skin (the head) olive.
fn run_color(color: [u8; 3], share: f32) -> [u8; 3] {
    let [red, green, blue] = color.map(f32::from);
    let brightness = 0.3 * red + 0.55 * green + 0.15 * blue;
    let light = ((brightness - 44.0) / 24.0).clamp(0.0, 1.0);
    let (olive, crimson) = (Vec3::new(0.62, 0.70, 0.42), Vec3::new(1.18, 0.22, 0.17));
    let to = olive.lerp(crimson, light) * brightness;
    let mixed = Vec3::new(red, green, blue).lerp(to, share);
    mixed
        .to_array()
        .map(|channel| channel.round().clamp(0.0, 255.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_another_season_mixes_plants_and_floating_leaves_but_not_the_ground() {
        let summer = Foliage::of(Season::Summer);
        assert_eq!(Foliage::mixed(Season::Summer, [0.0; 3]), summer);
        let half = Foliage::mixed(Season::Summer, [0.0, 0.5, 0.0]);
        assert!((half.rust - 0.5).abs() < 1e-6 && (half.floating_leaves - 0.55).abs() < 1e-6);
        assert_eq!(half.litter, summer.litter);
        // From autumn to the run, the shares of both can be more than 1 for a moment.
        let both = Foliage::mixed(Season::Summer, [0.0, 1.0, 1.0]);
        assert!((both.rust - 0.75).abs() < 1e-6);
    }

    #[test]
    fn body_turns_red_and_head_olive_and_share_0_changes_nothing() {
        let redness = |c: [u8; 3]| f32::from(c[0]) / (f32::from(c[1]) + 1.0);
        let (head, back, flank) = ([40, 45, 38], [74, 80, 70], [186, 200, 205]);
        assert!(redness(run_color(head, 1.0)) < 1.1);
        for body in [back, flank] {
            assert!(redness(run_color(body, 1.0)) > 3.0);
        }
        assert_eq!(run_color(flank, 0.0), flank);
    }
}
