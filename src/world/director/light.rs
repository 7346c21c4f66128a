//! The light and the season of the picture that rules of the director ask for.
//!
//! In: what an active rule wants. Out: how much of the light of each time of day, and of each season, the picture has. Must not: know
//! how it is drawn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of day. Sets the fields of a look that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Light {
    /// Late afternoon: a warm sun from the upper left, a cool sky.
    #[default]
    Day,
    /// A hazy morning: soft pale light from the left, faint caustics, milky water.
    Morning,
    /// Noon: a high white sun, strong caustics, clear water.
    Noon,
    /// Dusk: a low red sun, long shadows, a violet sky.
    Dusk,
    /// Night: moonlight from a deep blue sky; specks glow.
    Night,
}

impl Light {
    /// All times of day, in the order of [`LightShares`].
    pub const ALL: [Self; 5] = [
        Self::Day,
        Self::Morning,
        Self::Noon,
        Self::Dusk,
        Self::Night,
    ];
}

/// The light that the picture gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LightEffect {
    /// The time of day.
    pub to: Light,
    /// Share of this light in the picture. Higher: as at this time of day. Lower: a touch of it; 0: no effect.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
    /// Time in which the share of this light goes from 0 to 1, and after the effect back. Higher: a slow dusk. Lower: a cloud that passes.
    #[schemars(range(min = 1.0, max = 3600.0))]
    pub fade_secs: f32,
}

impl Default for LightEffect {
    fn default() -> Self {
        Self {
            to: Light::Night,
            share: 1.0,
            fade_secs: 10.0,
        }
    }
}

/// The season.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Season {
    /// Green plants, few fallen leaves.
    #[default]
    Summer,
    /// Many fallen leaves, rust on the plants.
    Autumn,
    /// The time when salmon run: leaves as in early autumn, and species with `run_pink` have pink flanks.
    Run,
}

impl Season {
    /// All seasons, in the order of [`SeasonShares`].
    pub const ALL: [Self; 3] = [Self::Summer, Self::Autumn, Self::Run];
}

/// The season that plants and water get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SeasonEffect {
    /// The season.
    pub to: Season,
    /// Share of this season in the picture. Higher: as in this season. Lower: its first signs; 0: no effect.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
    /// Time in which the share of this season goes from 0 to 1, and after the effect back. Higher: plants and leaves change so slowly
    /// that nobody sees it happen. Lower: a visible wave of color.
    #[schemars(range(min = 1.0, max = 3600.0))]
    pub fade_secs: f32,
}

impl Default for SeasonEffect {
    fn default() -> Self {
        Self {
            to: Season::Autumn,
            share: 1.0,
            fade_secs: 30.0,
        }
    }
}

/// Longest time in which the light of a rule goes when the scene was changed.
const LEAVE_SECS: f32 = 4.0;

/// Share of the light of each time of day in the picture, from 0 to 1, in the order of [`Light::ALL`]. The rest is the light of the
/// scene.
pub type LightShares = [f32; 5];

/// Share of each season in the picture, from 0 to 1, in the order of [`Season::ALL`]. The rest is the season of the scene.
pub type SeasonShares = [f32; 3];

/// Moves shares, each with the time in which it goes from 0 to 1, for one tick. `wanted` is the share that rises, as its index, its
/// target and its time; all others fall.
fn fade(
    shares: &mut [f32],
    fade_secs: &mut [f32],
    wanted: Option<(usize, f32, f32)>,
    dt_secs: f32,
) {
    for (index, (share, fade_secs)) in shares.iter_mut().zip(fade_secs).enumerate() {
        let wanted = wanted.filter(|(of, ..)| *of == index);
        if let Some((_, _, secs)) = wanted {
            *fade_secs = secs;
        }
        let target = wanted.map_or(0.0, |(_, target, _)| target);
        let step = dt_secs / fade_secs.max(dt_secs);
        *share += (target - *share).clamp(-step, step);
    }
}

/// The season of the picture on its way to the season that a rule wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureSeason {
    shares: SeasonShares,
    fade_secs: SeasonShares,
}

impl PictureSeason {
    /// Moves the shares for one tick. `wanted` is the effect that applies; `None` if no rule wants a season.
    pub fn advance(&mut self, wanted: Option<&SeasonEffect>, dt_secs: f32) {
        let wanted = wanted.map(|effect| (effect.to as usize, effect.share, effect.fade_secs));
        fade(&mut self.shares, &mut self.fade_secs, wanted, dt_secs);
    }

    /// Lets the season of the scene come back soon, because no rule of the present scene can ask for another one.
    pub fn leave(&mut self) {
        for fade_secs in &mut self.fade_secs {
            *fade_secs = fade_secs.min(LEAVE_SECS);
        }
    }

    /// The shares now.
    pub fn shares(&self) -> SeasonShares {
        self.shares
    }

    /// Whether the picture has the season of the scene only.
    pub fn is_of_scene(&self) -> bool {
        self.shares.iter().all(|share| *share <= 0.0)
    }
}

/// The light of the picture on its way to the light that a rule wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureLight {
    shares: LightShares,
    /// Time in which each share goes from 0 to 1.
    fade_secs: LightShares,
}

impl PictureLight {
    /// Moves the shares for one tick. `wanted` is the effect that applies; `None` if no rule wants a light.
    pub fn advance(&mut self, wanted: Option<&LightEffect>, dt_secs: f32) {
        let wanted = wanted.map(|effect| (effect.to as usize, effect.share, effect.fade_secs));
        fade(&mut self.shares, &mut self.fade_secs, wanted, dt_secs);
    }

    /// Lets the light of the scene come back soon, because no rule of the present scene can ask for another one.
    pub fn leave(&mut self) {
        for fade_secs in &mut self.fade_secs {
            *fade_secs = fade_secs.min(LEAVE_SECS);
        }
    }

    /// The shares now.
    pub fn shares(&self) -> LightShares {
        self.shares
    }

    /// Whether the picture has the light of the scene only.
    pub fn is_of_scene(&self) -> bool {
        self.shares.iter().all(|share| *share <= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_comes_and_goes_like_the_light() {
        let autumn = SeasonEffect {
            fade_secs: 2.0,
            ..SeasonEffect::default()
        };
        let mut season = PictureSeason::default();
        season.advance(Some(&autumn), 1.0);
        assert_eq!(season.shares(), [0.0, 0.5, 0.0]);
        season.advance(Some(&autumn), 5.0);
        assert_eq!(season.shares(), [0.0, 1.0, 0.0]);
        season.advance(None, 1.0);
        assert_eq!(season.shares(), [0.0, 0.5, 0.0]);
        season.advance(None, 1.0);
        assert!(season.is_of_scene());
    }

    #[test]
    fn light_fades_in_changes_over_and_fades_out_without_a_jump() {
        let effect = |to, share, fade_secs| LightEffect {
            to,
            share,
            fade_secs,
        };
        let (night, dusk) = (
            effect(Light::Night, 1.0, 4.0),
            effect(Light::Dusk, 0.5, 2.0),
        );
        let mut light = PictureLight::default();
        let mut last = light.shares();
        let mut seen = Vec::new();
        for tick in 0..1200 {
            let wanted = match tick {
                0..300 => Some(&night),
                300..600 => Some(&dusk),
                _ => None,
            };
            light.advance(wanted, 1.0 / 60.0);
            let now = light.shares();
            let jump = now.iter().zip(&last).map(|(a, b)| (a - b).abs());
            assert!(jump.fold(0.0, f32::max) <= 1.0 / 120.0 + 1e-6, "{tick}");
            last = now;
            if [120, 299, 420, 599, 659, 1199].contains(&tick) {
                seen.push([now[3], now[4]].map(|share| (share * 100.0).round() as u32));
            }
        }
        assert_eq!(seen, [[0, 50], [0, 100], [50, 50], [50, 0], [0, 0], [0, 0]]);
        assert!(light.is_of_scene());
        // Another scene does not keep the slow night of the one before.
        light.advance(Some(&effect(Light::Night, 1.0, 1.0)), 1.0);
        light.advance(Some(&effect(Light::Night, 1.0, 3600.0)), 1.0);
        light.leave();
        light.advance(None, LEAVE_SECS);
        assert!(light.is_of_scene());
    }
}
