//! The light of the picture that rules of the director ask for.
//!
//! In: the light that an active rule wants. Out: how much of the light of each time of day the picture has. Must not: know how it is drawn.

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

/// Longest time in which the light of a rule goes when the scene was changed.
const LEAVE_SECS: f32 = 4.0;

/// Share of the light of each time of day in the picture, from 0 to 1, in the order of [`Light::ALL`]. The rest is the light of the
/// scene.
pub type LightShares = [f32; 5];

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
        let fades = self.shares.iter_mut().zip(&mut self.fade_secs);
        for ((share, fade_secs), light) in fades.zip(Light::ALL) {
            let wanted = wanted.filter(|effect| effect.to == light);
            if let Some(effect) = wanted {
                *fade_secs = effect.fade_secs;
            }
            let target = wanted.map_or(0.0, |effect| effect.share);
            let step = dt_secs / fade_secs.max(dt_secs);
            *share += (target - *share).clamp(-step, step);
        }
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
