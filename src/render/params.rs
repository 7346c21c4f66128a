//! What a designer may set about the picture: the look of a scene and of a species.
//!
//! Plain parameter structs, one per TOML table; `site` puts them together. Nothing here touches the GPU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::light::{Light, Lighting, Season};

/// Table `[look]` of a scene: light, water and ground. What `light` and `season` set can be said otherwise, field by
/// field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SceneLook {
    /// The hour, which sets exposure, sun, sky, caustics, clarity, haze, reflection and glow where they are left out.
    pub light: Light,
    /// The season, which sets litter where it is left out, the plants' rust, and whether salmon wear pink.
    pub season: Season,
    /// Overall brightness before the tone curve: 1 is tuned for a mean luminance of about a third. More washes out, less sinks into the projector's gray. Absent: as the light says (day 1, morning 1, noon 0.9, dusk 1.05, night 1.35).
    #[schemars(range(min = 0.1, max = 4.0))]
    pub exposure: Option<f32>,
    /// Angle of the sun off the vertical. More moves the fish's shadows farther from them, which shows depth. Absent: as the light says (day 35, morning 48, noon 14, dusk 58, night 25).
    #[schemars(range(min = 0.0, max = 60.0))]
    pub sun_tilt_deg: Option<f32>,
    /// Where the light comes from in the picture, clockwise from its upper edge; 315 is the upper left. Absent: as the light says (day 315, morning 290, noon 315, dusk 285, night 315).
    #[schemars(range(min = 0.0, max = 360.0))]
    pub sun_heading_deg: Option<f32>,
    /// Strength of the sun against the sky. More gives harder contrast and stronger shadows. Absent: as the light says (day 1, morning 0.55, noon 1.1, dusk 0.62, night 0.1).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub sun_strength: Option<f32>,
    /// Warmth of the sun's light: 0 is white noon, 1 a golden evening. Absent: as the light says (day 0.55, morning 0.45, noon 0.12, dusk 1, night 0).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sun_warmth: Option<f32>,
    /// Strength of the light that comes from everywhere. More fills the shadows. Absent: as the light says (day 1, morning 1.35, noon 0.8, dusk 0.85, night 0.9).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub sky_strength: Option<f32>,
    /// Color of that light. Absent: as the light says (pale blue by day, violet at dusk, deep blue at night).
    pub sky: Option<Tint>,
    /// How strongly the water's waves focus the sun into a net of light on the ground; 0 has none. Absent: as the light says (day 1, morning 0.55, noon 0.95, dusk 0.8, night 0.6).
    #[schemars(range(min = 0.0, max = 3.0))]
    pub caustics: Option<f32>,
    /// Height of the swell that keeps still water alive; 1 moves what lies below by 2 to 4 pixels at full HD.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub swell: f32,
    /// How strongly visitors' movements stir the water.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub stir: f32,
    /// Way through the water that halves red light, down and up again; blue goes four times as far. Less is murkier and bluer. Absent: as the light says (day 5.5, morning 3.2, noon 7, dusk 5.5, night 4).
    #[schemars(range(min = 0.1, max = 50.0))]
    pub clarity_m: Option<f32>,
    /// Light that the water itself scatters, against a clear pool's; more is a mist that grows with depth. Absent: as the light says (day 1, morning 4, noon 1, dusk 1, night 1).
    #[schemars(range(min = 0.0, max = 20.0))]
    pub haze: Option<f32>,
    /// Brightness and small reflections of the sky on the surface. Absent: as the light says (day 1, morning 1.6, noon 1, dusk 1.3, night 0.5).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub reflection: Option<f32>,
    /// Foam where a foot breaks the surface; 0 has none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub foam: f32,
    /// Sheets of sunlight in the water, on walls and ceilings; 0 has none.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub shafts: f32,
    /// Drifting specks in the water; 1 is a cloud of them.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub dust: f32,
    /// Light that the specks give off themselves: glowing plankton at night. Absent: as the light says (night 1.3, else 0).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub glow: Option<f32>,
    /// Plants that sway, most of them towards the rim; 1 is a thicket.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub plants: f32,
    /// Corals on stones and between them; 1 is a living reef.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub corals: f32,
    /// Color of the sand.
    pub sand: Tint,
    /// Bars, ripples and patches of the sand; 0 is an even ground.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub relief: f32,
    /// Share of the ground under pebbles.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pebbles: f32,
    /// Fallen leaves and twigs on the ground, most of them towards the rim. Absent: as the season says (summer 0.15, autumn 1, run 0.6).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub litter: Option<f32>,
    /// Which of the endless grounds: another number moves every pebble.
    #[schemars(range(min = 0, max = 65535))]
    pub ground_seed: u32,
}

impl Default for SceneLook {
    fn default() -> Self {
        Self {
            light: Light::default(),
            season: Season::default(),
            exposure: None,
            sun_tilt_deg: None,
            sun_heading_deg: None,
            sun_strength: None,
            sun_warmth: None,
            sky_strength: None,
            sky: None,
            caustics: None,
            swell: 1.0,
            stir: 1.0,
            clarity_m: None,
            haze: None,
            reflection: None,
            foam: 0.4,
            shafts: 1.0,
            dust: 0.1,
            glow: None,
            plants: 0.4,
            corals: 0.0,
            sand: Tint::default(),
            relief: 1.0,
            pebbles: 0.35,
            litter: None,
            ground_seed: 1,
        }
    }
}

impl SceneLook {
    /// Light and water: what is said here, and what the hour says of the rest.
    pub fn lighting(&self) -> Lighting {
        let hour = Lighting::of(self.light);
        Lighting {
            exposure: self.exposure.unwrap_or(hour.exposure),
            sun_tilt_deg: self.sun_tilt_deg.unwrap_or(hour.sun_tilt_deg),
            sun_heading_deg: self.sun_heading_deg.unwrap_or(hour.sun_heading_deg),
            sun_strength: self.sun_strength.unwrap_or(hour.sun_strength),
            sun_warmth: self.sun_warmth.unwrap_or(hour.sun_warmth),
            sky_strength: self.sky_strength.unwrap_or(hour.sky_strength),
            sky: self.sky.clone().unwrap_or(hour.sky),
            caustics: self.caustics.unwrap_or(hour.caustics),
            clarity_m: self.clarity_m.unwrap_or(hour.clarity_m),
            haze: self.haze.unwrap_or(hour.haze),
            reflection: self.reflection.unwrap_or(hour.reflection),
            glow: self.glow.unwrap_or(hour.glow),
        }
    }

    /// Share of fallen leaves: as said here, or by the season.
    pub fn litter(&self) -> f32 {
        self.litter.unwrap_or_else(|| self.season.litter())
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

impl Tint {
    /// A color of these shares.
    pub const fn new(red: f32, green: f32, blue: f32) -> Self {
        Self { red, green, blue }
    }
}

impl Default for Tint {
    /// Pale, slightly warm sand.
    fn default() -> Self {
        Self {
            red: 0.60,
            green: 0.46,
            blue: 0.315,
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
    /// Light that it gives off itself, in its own color: glowing plankton, figures of light. What glows does not mirror.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub glow: f32,
    /// How much of its flanks turns pink in the season `run`; 0 keeps its colors.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub run_pink: f32,
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
            glow: 0.0,
            run_pink: 0.0,
            stride_lengths: 0.7,
            max_beat_hz: 6.0,
            bend: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the help of every field promises are those that the hours set.
    #[test]
    fn the_help_says_what_every_hour_sets() {
        let schema = serde_json::to_value(schemars::schema_for!(SceneLook)).unwrap();
        let hours = [
            ("day", Light::Day),
            ("morning", Light::Morning),
            ("noon", Light::Noon),
            ("dusk", Light::Dusk),
            ("night", Light::Night),
        ];
        type Of = fn(&Lighting) -> f32;
        let fields: [(&str, Of); 10] = [
            ("exposure", |l| l.exposure),
            ("sun_tilt_deg", |l| l.sun_tilt_deg),
            ("sun_heading_deg", |l| l.sun_heading_deg),
            ("sun_strength", |l| l.sun_strength),
            ("sun_warmth", |l| l.sun_warmth),
            ("sky_strength", |l| l.sky_strength),
            ("caustics", |l| l.caustics),
            ("clarity_m", |l| l.clarity_m),
            ("haze", |l| l.haze),
            ("reflection", |l| l.reflection),
        ];
        for (field, of) in fields {
            let help = schema["properties"][field]["description"].as_str().unwrap();
            let said = hours.map(|(name, light)| format!("{name} {}", of(&Lighting::of(light))));
            assert!(help.contains(&said.join(", ")), "{field}: {said:?}");
        }
    }

    #[test]
    fn what_a_scene_says_goes_before_its_hour_and_season() {
        let look: SceneLook = toml::from_str(
            "light = \"night\"\nseason = \"autumn\"\nsun_warmth = 0.5\nlitter = 0.1",
        )
        .unwrap();
        let night = Lighting::of(Light::Night);
        let meant = Lighting {
            sun_warmth: 0.5,
            ..night
        };
        assert_eq!((look.lighting(), look.litter()), (meant, 0.1));
    }

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
