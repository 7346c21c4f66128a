//! What a designer may set about the picture: the look of a scene and of a species.
//!
//! Plain parameter structs, one per TOML table; `site` puts them together. Nothing here touches the GPU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Table `[look]` of a scene: light, water and ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SceneLook {
    /// Overall brightness before the tone curve: 1 is tuned for a mean luminance of about a third. More washes out, less sinks into the projector's gray.
    #[schemars(range(min = 0.1, max = 4.0))]
    pub exposure: f32,
    /// Angle of the sun off the vertical. More moves the fish's shadows farther from them, which shows depth.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub sun_tilt_deg: f32,
    /// Where the light comes from in the picture, clockwise from its upper edge; 315 is the upper left.
    #[schemars(range(min = 0.0, max = 360.0))]
    pub sun_heading_deg: f32,
    /// Strength of the sun against the sky. More gives harder contrast and stronger shadows.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub sun_strength: f32,
    /// Warmth of the sun's light: 0 is white noon, 1 a golden evening.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sun_warmth: f32,
    /// Strength of the light that comes from everywhere. More fills the shadows.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub sky_strength: f32,
    /// Color of that light: pale blue by day, deep blue at night.
    pub sky: Tint,
    /// How strongly the water's waves focus the sun into a net of light on the ground; 0 has none.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub caustics: f32,
    /// Height of the swell that keeps still water alive; 1 moves what lies below by 2 to 4 pixels at full HD.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub swell: f32,
    /// How strongly visitors' movements stir the water.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub stir: f32,
    /// Way through the water that halves red light, down and up again; blue goes four times as far. Less is murkier and bluer.
    #[schemars(range(min = 0.1, max = 50.0))]
    pub clarity_m: f32,
    /// Brightness and small reflections of the sky on the surface.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub reflection: f32,
    /// Foam where a foot breaks the surface; 0 has none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub foam: f32,
    /// Sheets of sunlight in the water, on walls and ceilings; 0 has none.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub shafts: f32,
    /// Drifting specks in the water; 1 is a cloud of them.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub dust: f32,
    /// Light that the specks give off themselves: glowing plankton at night.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub glow: f32,
    /// Plants that sway, most of them towards the rim; 1 is a thicket.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub plants: f32,
    /// Color of the sand.
    pub sand: Tint,
    /// Share of the ground under pebbles.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pebbles: f32,
    /// Which of the endless grounds: another number moves every pebble.
    #[schemars(range(min = 0, max = 65535))]
    pub ground_seed: u32,
}

impl Default for SceneLook {
    fn default() -> Self {
        Self {
            exposure: 1.0,
            sun_tilt_deg: 35.0,
            sun_heading_deg: 315.0,
            sun_strength: 1.0,
            sun_warmth: 0.55,
            sky_strength: 1.0,
            sky: Tint {
                red: 0.40,
                green: 0.47,
                blue: 0.55,
            },
            caustics: 1.0,
            swell: 1.0,
            stir: 1.0,
            clarity_m: 4.0,
            reflection: 1.0,
            foam: 0.4,
            shafts: 1.0,
            dust: 0.25,
            glow: 0.0,
            plants: 0.4,
            sand: Tint::default(),
            pebbles: 0.35,
            ground_seed: 1,
        }
    }
}

/// A color as shares of reflected light, linear (not the numbers of a paint program).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tint {
    /// Share of red light.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub red: f32,
    /// Share of green light.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub green: f32,
    /// Share of blue light.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub blue: f32,
}

impl Default for Tint {
    /// Pale, slightly warm sand.
    fn default() -> Self {
        Self {
            red: 0.575,
            green: 0.445,
            blue: 0.30,
        }
    }
}

/// Table `[look]` of a species: its model and how individuals differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeciesLook {
    /// Name of the model: one that is shipped (`shark`, `salmon`, `trout`, `herring`, `copepod`, `molecule`) or the path of a `.glb` beside the site file.
    pub model: String,
    /// Length of a typical individual from nose to tail.
    #[schemars(range(min = 0.01, max = 20.0))]
    pub length_m: f32,
    /// Largest difference of an individual's length from the typical one, as a share of it.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub length_variation: f32,
    /// Turns the model's colors around the color wheel.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub hue_shift_deg: f32,
    /// Largest difference of an individual's hue from the typical one.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub hue_variation_deg: f32,
    /// Brightness of the model's colors.
    #[schemars(range(min = 0.1, max = 4.0))]
    pub brightness: f32,
    /// How much the flanks mirror the light; a herring much, a shark little.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub shine: f32,
    /// Body lengths swum with one beat of the tail. Less beats faster.
    #[schemars(range(min = 0.1, max = 5.0))]
    pub stride_lengths: f32,
    /// Fastest beat of the tail.
    #[schemars(range(min = 0.1, max = 20.0))]
    pub max_beat_hz: f32,
    /// How far the body bends into a turn; 0 stays straight.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub bend: f32,
}

impl Default for SpeciesLook {
    fn default() -> Self {
        Self {
            model: "salmon".to_owned(),
            length_m: 0.45,
            length_variation: 0.12,
            hue_shift_deg: 0.0,
            hue_variation_deg: 6.0,
            brightness: 1.0,
            shine: 0.5,
            stride_lengths: 0.7,
            max_beat_hz: 6.0,
            bend: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_survive_a_round_trip_and_unknown_keys_do_not() {
        let text = toml::to_string(&SceneLook::default()).unwrap();
        assert_eq!(
            toml::from_str::<SceneLook>(&text).unwrap(),
            SceneLook::default()
        );
        assert!(toml::from_str::<SceneLook>("exposur = 1.0").is_err());
        assert_eq!(
            toml::from_str::<SpeciesLook>("").unwrap(),
            SpeciesLook::default()
        );
    }
}
