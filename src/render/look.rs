//! Parameters of the picture: the look of a scene and the look of a species.
//!
//! Plain parameter structs, one per TOML table. `site` combines them with the parameter structs of other modules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::color::Tint;
use super::light::{Foliage, Lighting};
use crate::world::{Light, Season};

/// Table `[look]` of a scene: light, water and ground. `light` and `season` are presets; each field that is set explicitly
/// overrides them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SceneLook {
    /// Preset for the time of day. It sets exposure, sun, sky, caustics, clarity, haze, reflection and glow where they are left out.
    pub light: Light,
    /// Preset for the season. It sets the litter where it is left out, the share of rust-colored plants, and whether species with `run_pink` turn pink.
    pub season: Season,
    /// Overall brightness before the tone curve; 1 gives a mean luminance of about a third. Higher: bright areas wash out. Lower:
    /// dark areas disappear in the projector's black level.
    /// Default: by `light` (day 1, morning 1, noon 0.9, dusk 1.05, night 1.35).
    #[schemars(range(min = 0.1, max = 4.0))]
    pub exposure: Option<f32>,
    /// Angle between the sun and the vertical. Higher: shadows lie farther away from the fish, which makes their depth visible.
    /// Lower: shadows lie under the fish.
    /// Default: by `light` (day 26, morning 48, noon 14, dusk 58, night 25).
    #[schemars(range(min = 0.0, max = 60.0))]
    pub sun_tilt_deg: Option<f32>,
    /// Direction in the picture that the sunlight comes from, clockwise from the upper edge; 315 is the upper left. Higher: the
    /// light turns clockwise, and all shadows with it. Lower: counterclockwise.
    /// Default: by `light` (day 315, morning 290, noon 315, dusk 285, night 315).
    #[schemars(range(min = 0.0, max = 360.0))]
    pub sun_heading_deg: Option<f32>,
    /// Strength of the sunlight. Higher: more contrast and stronger shadows. Lower: a flat, dull light.
    /// Default: by `light` (day 1, morning 0.55, noon 1.1, dusk 0.62, night 0.3).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub sun_strength: Option<f32>,
    /// Color of the sunlight. Higher: golden, 1 as in the evening. Lower: white, 0 as at noon.
    /// Default: by `light` (day 0.55, morning 0.45, noon 0.12, dusk 1, night 0).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sun_warmth: Option<f32>,
    /// Strength of the light from the sky, which comes from all directions. Higher: bright, soft shadows. Lower: dark, hard ones.
    /// Default: by `light` (day 1, morning 1.35, noon 0.8, dusk 0.85, night 0.55).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub sky_strength: Option<f32>,
    /// Color of the light from the sky. Default: by `light` (pale blue by day, violet at dusk, deep blue at night).
    pub sky: Option<Tint>,
    /// Strength of the caustics, the pattern of light that waves focus on the ground. Higher: bright nets of light dance on the
    /// ground. Lower: a faint shimmer; 0: none.
    /// Default: by `light` (day 1, morning 0.55, noon 0.95, dusk 0.8, night 1).
    #[schemars(range(min = 0.0, max = 3.0))]
    pub caustics: Option<f32>,
    /// Height of the swell. At 1, the swell shifts the view of objects below the surface by 2 to 4 pixels at full HD. Higher:
    /// everything under the water sways. Lower: calm water; 0: the view is still, apart from the waves of visitors and fish.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub swell: f32,
    /// Strength of the waves that visitors make. Higher: each step makes large rings of waves. Lower: hardly visible ones; 0: none.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub stir: f32,
    /// Distance in water after which half of the red light is left; `water` sets the shares of green and blue light. Higher: clear
    /// water. Lower: murky water, with a dark ground.
    /// Default: by `light` (day 5.5, morning 3.2, noon 7, dusk 5.5, night 4).
    #[schemars(range(min = 0.1, max = 50.0))]
    pub clarity_m: Option<f32>,
    /// Share of red, green and blue light that is left after `clarity_m` of water. The default (0.5, 0.758, 0.841) is clear water, which turns blue with depth. Smaller shares of green and blue are the water of a pond: 0.5, 0.55, 0.42 is olive. The deep ground becomes dark, while fish near the surface stay bright.
    pub water: Tint,
    /// Amount of light that the water scatters, relative to a clear pool. Higher: a mist that increases with depth. Lower: clear,
    /// deep colors; 0: no mist.
    /// Default: by `light` (day 1, morning 4, noon 1, dusk 1, night 1).
    #[schemars(range(min = 0.0, max = 20.0))]
    pub haze: Option<f32>,
    /// Strength of the reflections of the sky on the water surface. Higher: a shining surface that covers what is below. Lower: a
    /// free view of the fish; 0: no reflections.
    /// Default: by `light` (day 1, morning 1.6, noon 1, dusk 1.3, night 0.5).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub reflection: Option<f32>,
    /// Amount of foam where waves are so steep that they break, as around visitors. Higher: white foam around walking visitors.
    /// Lower: hardly any; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub foam: f32,
    /// Strength of the visible shafts of sunlight in the water, on walls and ceilings only. Higher: clear beams from above. Lower:
    /// faint ones; 0: none.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub shafts: f32,
    /// Amount of drifting specks in the water; 1 is the maximum. Higher: water full of drifting points. Lower: clean water; 0: no
    /// specks.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub dust: f32,
    /// Light that the specks emit, like glowing plankton. Higher: bright points, like stars in the water. Lower: faint ones; 0: no
    /// light of their own.
    /// Default: by `light` (night 1.3, otherwise 0).
    #[schemars(range(min = 0.0, max = 4.0))]
    pub glow: Option<f32>,
    /// Amount of plants, most of them near the rim; 1 is the maximum. Higher: an overgrown pool. Lower: a bare one; 0: no plants.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub plants: f32,
    /// Amount of corals on and between stones; 1 is the maximum. On floors only. Higher: a dense reef. Lower: single corals; 0:
    /// none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub corals: f32,
    /// Amount of stones along the edge of the picture, at the water surface, on floors only; 1 is a closed rim. Higher: stones in a
    /// closed row. Lower: single stones with gaps; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rim: f32,
    /// Amount of water lilies near the edge of the picture, on floors only; 1 is the maximum. Fish swim under them. Higher: many
    /// groups of leaves, which hide the fish below. Lower: an open surface; 0: no lilies.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub lilies: f32,
    /// Amount of petals and leaves that float on the water, on floors only; 1 is the maximum. Visitors swirl them, and fish near
    /// the surface push them. `season` sets the share of leaves (summer 0.15, autumn 0.95, run 0.8). Higher: a surface full of
    /// them. Lower: single ones; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub petals: f32,
    /// Light of the traces that visitors leave in the water, as of plankton that glows where it is moved. Where somebody stands for
    /// some seconds, single points of light gather. Higher: bright trails in dark water. Lower: a faint shimmer; 0: none.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub wake_glow: f32,
    /// Amount of silt that visitors stir up from the bed, on floors only; 1 is the maximum. It drifts with a slow current and
    /// settles. Higher: steps raise clouds that hide the bed. Lower: a thin veil; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub silt: f32,
    /// Depth of the footprints that walking visitors leave in the bed, on floors only; 1 is the maximum. Stones and leaves that lie
    /// at the surface become wet and dry again. Higher: dark, clear prints. Lower: faint ones; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub prints: f32,
    /// Amount of blossoms that open on the water around a visitor who stands, on floors and ceilings; 1 is the maximum. When the
    /// visitor has left, they float off and close. Higher: a wreath of blossoms. Lower: single ones; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub blossoms: f32,
    /// Time after which the traces of visitors have disappeared. Higher: the floor remembers many visitors at once. Lower: only
    /// the last steps are visible.
    #[schemars(range(min = 2.0, max = 120.0))]
    pub trace_secs: f32,
    /// Strength of the halo around bright bodies, such as glowing plankton. Higher: light that fills the water around them. Lower:
    /// sharp points; 0: none.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub bloom: f32,
    /// Color of the sand.
    pub sand: Tint,
    /// Strength of bars, ripples and patches in the sand. Higher: clear ripples with light and shade. Lower: plain sand; 0: an even
    /// ground.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub relief: f32,
    /// Share of the ground that is covered by pebbles. Higher: a stony ground. Lower: mostly sand; 0: only sand.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pebbles: f32,
    /// Share of the ground that packed gravel covers: stones of all sizes on stones, with dark gaps. Its brightness follows `sand`.
    /// Higher: a river bed of stones. Lower: patches of gravel in the sand; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gravel: f32,
    /// Share of the ground that a crust of coral covers: heads and knobs from ochre to brown, with pockets of sand. Higher: a
    /// closed reef. Lower: single heads in the sand; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub crust: f32,
    /// Strength of the trees around the water of a floor; 0: none. Higher: patches of sun and shade on ground and fish, up to 0.6; dark
    /// trees and bright gaps of sky are reflected where the ground is dark. Lower: even light and a plain surface.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub canopy: f32,
    /// Strength of the shade of trees and weeds around a sunlit clearing in the middle of the picture, on floors only; the plants stand
    /// around it. Higher: a bright pocket in a dark pool. Lower: about the same light everywhere; 0: no shade.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub clearing: f32,
    /// Amount of fallen leaves and twigs on the ground, most of them near the rim. Higher: a ground full of leaves. Lower: a swept
    /// one; 0: none.
    /// Default: by `season` (summer 0.15, autumn 1, run 0.6).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub litter: Option<f32>,
    /// Seed of the ground: each number gives another arrangement of sand and pebbles.
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
            water: Tint::new(0.5, 0.758, 0.841),
            haze: None,
            reflection: None,
            foam: 0.4,
            shafts: 1.0,
            dust: 0.1,
            glow: None,
            plants: 0.4,
            corals: 0.0,
            rim: 0.0,
            lilies: 0.0,
            petals: 0.0,
            wake_glow: 0.0,
            silt: 0.0,
            prints: 0.0,
            blossoms: 0.0,
            trace_secs: 10.0,
            bloom: 0.0,
            sand: Tint::default(),
            relief: 1.0,
            pebbles: 0.35,
            gravel: 0.0,
            crust: 0.0,
            canopy: 0.0,
            clearing: 0.0,
            litter: None,
            ground_seed: 1,
        }
    }
}

impl SceneLook {
    /// Returns the look in the light of another time of day. The water, the direction of the sun and the ratio of the exposure to that of
    /// its own time of day stay.
    pub(super) fn in_light(&self, light: Light) -> Self {
        let (now, own, other) = (
            self.lighting(),
            Lighting::of(self.light),
            Lighting::of(light),
        );
        Self {
            light,
            exposure: Some(now.exposure * other.exposure / own.exposure),
            sun_tilt_deg: Some(now.sun_tilt_deg),
            sun_heading_deg: Some(now.sun_heading_deg),
            clarity_m: Some(now.clarity_m),
            haze: Some(now.haze),
            sun_strength: None,
            sun_warmth: None,
            sky_strength: None,
            sky: None,
            caustics: None,
            reflection: None,
            glow: None,
            ..self.clone()
        }
    }

    /// Returns light and water: each field that is set, and the preset of `light` for every other field.
    pub(super) fn lighting(&self) -> Lighting {
        let preset = Lighting::of(self.light);
        Lighting {
            exposure: self.exposure.unwrap_or(preset.exposure),
            sun_tilt_deg: self.sun_tilt_deg.unwrap_or(preset.sun_tilt_deg),
            sun_heading_deg: self.sun_heading_deg.unwrap_or(preset.sun_heading_deg),
            sun_strength: self.sun_strength.unwrap_or(preset.sun_strength),
            sun_warmth: self.sun_warmth.unwrap_or(preset.sun_warmth),
            sky_strength: self.sky_strength.unwrap_or(preset.sky_strength),
            sky: self.sky.clone().unwrap_or(preset.sky),
            caustics: self.caustics.unwrap_or(preset.caustics),
            clarity_m: self.clarity_m.unwrap_or(preset.clarity_m),
            haze: self.haze.unwrap_or(preset.haze),
            reflection: self.reflection.unwrap_or(preset.reflection),
            glow: self.glow.unwrap_or(preset.glow),
        }
    }

    /// Returns the amount of fallen leaves: the field if it is set, otherwise the preset of `season`.
    pub(super) fn litter(&self) -> f32 {
        self.litter
            .unwrap_or_else(|| Foliage::of(self.season).litter)
    }
}

/// A color variety of koi. The numbers are equal to the constants in `shaders/bodies.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum Variety {
    /// White with red patches.
    Kohaku = 1,
    /// White with red patches and small black spots.
    Sanke = 2,
    /// Black with red and white patches.
    Showa = 3,
    /// Metallic gold or platinum without a pattern.
    Ogon = 4,
    /// Blue-gray back with a net of scales, red flanks.
    Asagi = 5,
}

/// Table `[look.markings]` of a species: marks that each individual grows at places of its own, on a model with the skin layout of
/// the built-in fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Markings {
    /// Share of the possible places at which a mark grows. Each individual has up to a third more or less. Higher: a body full of
    /// marks. Lower: few marks; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub amount: f32,
    /// Color of the marks.
    pub color: Tint,
    /// Number of possible places along the body. Higher: more and smaller marks. Lower: fewer and larger ones.
    #[schemars(range(min = 1.0, max = 60.0))]
    pub per_length: f32,
    /// Radius of the largest mark, relative to the distance between two places. Higher: marks that almost touch each other. Lower:
    /// small dots with wide gaps.
    #[schemars(range(min = 0.05, max = 0.5))]
    pub size: f32,
    /// Height of a mark relative to its length. Higher: bars across the body, from about 3 on. Lower: round spots at 1, stripes
    /// along the body below 1.
    #[schemars(range(min = 0.5, max = 8.0))]
    pub stretch: f32,
    /// Lowest part of the sides with marks: 0 is the back, 1 is the belly. Towards it, marks become rare. Higher: marks down to the
    /// belly. Lower: marks on the back only.
    #[schemars(range(min = 0.05, max = 1.0))]
    pub reach: f32,
    /// Strength of cloudy lighter and darker patches on back and flanks, in the quality `high` only. Higher: clear patches. Lower:
    /// an even skin; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mottling: f32,
}

impl Default for Markings {
    fn default() -> Self {
        Self {
            amount: 0.0,
            color: Tint::new(0.015, 0.017, 0.014),
            per_length: 24.0,
            size: 0.32,
            stretch: 1.0,
            reach: 0.6,
            mottling: 0.0,
        }
    }
}

impl Markings {
    /// Whether individuals differ in their marks.
    pub(super) fn is_set(&self) -> bool {
        self.amount > 0.0 || self.mottling > 0.0
    }
}

/// Table `[look]` of a species: its model and how individuals differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SpeciesLook {
    /// The model: the name of a built-in one (`shark`, `salmon`, `trout`, `herring`, `pike`, `koi`, `butterfly_koi`, `fry`, `manta`, `crab`, `copepod`, `molecule`) or the path of a `.glb` file, relative to the site file.
    pub model: String,
    /// Color varieties of koi. Each individual draws one of them at random and grows its own pattern; a variety that is listed twice is twice as frequent. Empty: all individuals have the colors of the model.
    #[schemars(length(max = 16))]
    pub varieties: Vec<Variety>,
    /// Marks that each individual grows at places of its own.
    pub markings: Markings,
    /// Length of a typical individual from nose to tail. Higher: large animals in the picture. Lower: small ones. The simulation
    /// uses `body.length_m`; make both about equal.
    #[schemars(range(min = 0.01, max = 20.0))]
    pub length_m: f32,
    /// Largest deviation of an individual's length from `length_m`, as a share of `length_m`. Higher: large and small animals in
    /// one school. Lower: all have the same size.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub length_variation: f32,
    /// Largest deviation of an individual's width and height from those of the model, as a share. Higher: thick and thin animals.
    /// Lower: all have the shape of the model.
    #[schemars(range(min = 0.0, max = 0.3))]
    pub girth_variation: f32,
    /// Rotation of the model's colors on the color wheel. Higher: red turns towards yellow, then green. Lower: red turns towards
    /// violet, then blue. 0 keeps the colors.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub hue_shift_deg: f32,
    /// Largest deviation of an individual's hue from `hue_shift_deg`. Higher: animals of different colors in one school. Lower: all
    /// have the same color.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub hue_variation_deg: f32,
    /// Factor on the saturation of the model's colors. Higher: bright, strong colors. Lower: pale colors; 0 is gray.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub saturation: f32,
    /// Factor on the brightness of the model's colors. Higher: light animals that stand out on a dark ground. Lower: dark ones that
    /// hide there.
    #[schemars(range(min = 0.1, max = 4.0))]
    pub brightness: f32,
    /// Largest deviation of an individual's brightness and saturation, as a share. Higher: light and dark, strong and pale animals
    /// in one school. Lower: all look alike.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub tone_variation: f32,
    /// Strength of the reflections on the flanks. Higher: silver like a herring; from 0.3 on, the fish rolls briefly now and then,
    /// so that its flank flashes. Lower: dull like a shark.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub shine: f32,
    /// Light that the animal emits in its own color, like glowing plankton. A species with `glow` above 0 has no reflections
    /// (`shine`). Higher: a bright light in dark water. Lower: a faint one; 0: none.
    #[schemars(range(min = 0.0, max = 4.0))]
    pub glow: f32,
    /// Strength of the pink on the flanks in the season `run`. Higher: crimson flanks and olive backs. Lower: a hint of pink; 0
    /// keeps the colors of the model.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub run_pink: f32,
    /// Distance per tail beat, in body lengths. Higher: slow tail beats at the same speed. Lower: fast, busy ones.
    #[schemars(range(min = 0.1, max = 5.0))]
    pub stride_lengths: f32,
    /// Highest frequency of the tail beat. Higher: the tail flickers in a sprint. Lower: it beats calmly even in a sprint.
    #[schemars(range(min = 0.1, max = 20.0))]
    pub max_beat_hz: f32,
    /// Strength of the bend of the body in a turn. Higher: a supple body that curls into turns. Lower: a stiff one; 0 keeps the
    /// body straight.
    #[schemars(range(min = 0.0, max = 3.0))]
    pub bend: f32,
    /// Number from which the pattern of all individuals grows; `None` if each has its own.
    #[serde(skip)]
    #[schemars(skip)]
    pub pattern: Option<f32>,
}

impl Default for SpeciesLook {
    fn default() -> Self {
        Self {
            model: "salmon".to_owned(),
            varieties: Vec::new(),
            markings: Markings::default(),
            length_m: 0.45,
            length_variation: 0.12,
            girth_variation: 0.06,
            hue_shift_deg: 0.0,
            hue_variation_deg: 6.0,
            saturation: 1.0,
            brightness: 1.0,
            tone_variation: 0.12,
            shine: 0.5,
            glow: 0.0,
            run_pink: 0.0,
            stride_lengths: 0.7,
            max_beat_hz: 6.0,
            bend: 1.0,
            pattern: None,
        }
    }
}

/// Table `[individuals.look]` of a scene: what a named individual has of its own, so that visitors recognize it. For each absent value,
/// that of its species applies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndividualLook {
    /// The model: the name of a built-in one or the path of a `.glb` file, relative to the site file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Color variety of a koi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variety: Option<Variety>,
    /// Number from which the pattern of its variety grows. Higher: another pattern. Lower: another one, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pattern: Option<f32>,
    /// Rotation of the colors on the color wheel. Higher: red turns towards yellow, then green. Lower: red turns towards violet, then
    /// blue. 0 keeps the colors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -180.0, max = 180.0))]
    pub hue_shift_deg: Option<f32>,
    /// Factor on the saturation of the colors. Higher: strong colors. Lower: pale colors; 0 is gray.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 3.0))]
    pub saturation: Option<f32>,
    /// Factor on the brightness of the colors. Higher: stands out on a dark ground. Lower: hides there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 4.0))]
    pub brightness: Option<f32>,
    /// Strength of the reflections on the flanks. Higher: silver. Lower: dull.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub shine: Option<f32>,
    /// Light that it emits in its own color. Higher: a bright light in dark water. Lower: a faint one; 0: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 4.0))]
    pub glow: Option<f32>,
}

impl IndividualLook {
    /// Returns the look of an individual of a species. `size` is its factor on the size of the species, if it has one.
    pub fn of(&self, species: &SpeciesLook, size: Option<f32>) -> SpeciesLook {
        let mut look = species.clone();
        if let Some(size) = size {
            look.length_m *= size;
            look.length_variation = 0.0;
        }
        if let Some(model) = &self.model {
            look.model.clone_from(model);
        }
        if let Some(variety) = self.variety {
            look.varieties = vec![variety];
        }
        if self.hue_shift_deg.is_some() {
            look.hue_variation_deg = 0.0;
        }
        if self.saturation.is_some() || self.brightness.is_some() {
            look.tone_variation = 0.0;
        }
        for (own, value) in [
            (self.hue_shift_deg, &mut look.hue_shift_deg),
            (self.saturation, &mut look.saturation),
            (self.brightness, &mut look.brightness),
            (self.shine, &mut look.shine),
            (self.glow, &mut look.glow),
        ] {
            *value = own.unwrap_or(*value);
        }
        look.pattern = self.pattern.or(look.pattern);
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documentation of each field lists the values of all presets.
    #[test]
    fn field_documentation_lists_the_presets() {
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
            let listed = hours.map(|(name, light)| format!("{name} {}", of(&Lighting::of(light))));
            assert!(help.contains(&listed.join(", ")), "{field}: {listed:?}");
        }
    }

    #[test]
    fn fields_override_the_presets_of_light_and_season() {
        let look: SceneLook = toml::from_str(
            "light = \"night\"\nseason = \"autumn\"\nsun_warmth = 0.5\nlitter = 0.1",
        )
        .unwrap();
        let night = Lighting::of(Light::Night);
        let expected = Lighting {
            sun_warmth: 0.5,
            ..night
        };
        assert_eq!((look.lighting(), look.litter()), (expected, 0.1));
    }

    #[test]
    fn defaults_round_trip_and_unknown_keys_are_rejected() {
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
