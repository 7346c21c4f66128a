//! Drives of an agent: hunger, fear and libido, each from 0 to 1. Needs can read them.
//!
//! In: the distance of the nearest enemy and whether a partner is in sight. Out: the updated drives. Must not: decide
//! anything. **Source**: Tu 1996, "Mental state variables", made independent of the time step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Table `[drives]` of a species: parameters of the growth and the fading of its drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrivesParams {
    /// Time from a meal or a catch to full hunger. Higher: eats or hunts rarely. Lower: is hungry again soon. 0 switches hunger
    /// off.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub hungry_after_secs: f32,
    /// Distance of the nearest visible enemy at which fear is full (1). At twice this distance, fear is 0.5. Higher: is afraid of
    /// far enemies. Lower: only of near ones. 0 switches fear off.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub fear_distance_m: f32,
    /// Time in which full fear fades. Higher: stays frightened long after the enemy is gone. Lower: is calm again at once.
    #[schemars(range(min = 0.01, max = 3600.0))]
    pub fear_fades_secs: f32,
    /// Time from one courtship to full readiness for the next one. Libido is above 0 only while an agent in the relation `partner`
    /// is in sight. Higher: courts rarely. Lower: courts again soon. 0 switches libido off.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub courts_after_secs: f32,
    /// Whether agents start with different, random values of hunger and libido.
    pub is_spread: bool,
}

impl Default for DrivesParams {
    fn default() -> Self {
        Self {
            hungry_after_secs: 0.0,
            fear_distance_m: 0.0,
            fear_fades_secs: 4.0,
            courts_after_secs: 0.0,
            is_spread: true,
        }
    }
}

/// Drives of one agent, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drives {
    /// Time since the last meal, as a share of the time to full hunger.
    pub hunger: f32,
    /// Nearness of the nearest visible enemy. Fear fades after the enemy is no longer visible.
    pub fear: f32,
    /// Wish to court: readiness × (1 − hunger) while a partner is in sight; else 0.
    pub libido: f32,
    /// Time since the last courtship, as a share of the time to full readiness.
    pub readiness: f32,
}

impl DrivesParams {
    /// Whether at least one drive is switched on.
    pub fn is_any_on(&self) -> bool {
        self.hungry_after_secs > 0.0 || self.fear_distance_m > 0.0 || self.courts_after_secs > 0.0
    }

    /// Returns the initial drives. `draw` is a random number from 0 to 1.
    pub fn start(&self, draw: f32) -> Drives {
        let share = if self.is_spread { draw } else { 0.0 };
        let of = |secs: f32| if secs > 0.0 { share } else { 0.0 };
        Drives {
            hunger: of(self.hungry_after_secs),
            readiness: of(self.courts_after_secs),
            ..Drives::default()
        }
    }
}

impl Drives {
    /// Advances the drives by one tick. `enemy_m` is the distance of the nearest visible enemy, `has_partner` whether
    /// a partner is in sight.
    pub fn advance(
        &mut self,
        params: &DrivesParams,
        enemy_m: Option<f32>,
        has_partner: bool,
        dt: f32,
    ) {
        let grown = |value: f32, secs: f32| {
            if secs > 0.0 {
                (value + dt / secs).min(1.0)
            } else {
                0.0
            }
        };
        self.hunger = grown(self.hunger, params.hungry_after_secs);
        self.readiness = grown(self.readiness, params.courts_after_secs);
        let near = enemy_m.map_or(0.0, |distance| {
            if params.fear_distance_m > 0.0 {
                (params.fear_distance_m / distance.max(1e-3)).min(1.0)
            } else {
                0.0
            }
        });
        let faded = self.fear - dt / params.fear_fades_secs.max(1e-3);
        self.fear = near.max(faded).clamp(0.0, 1.0);
        self.libido = if has_partner {
            self.readiness * (1.0 - self.hunger)
        } else {
            0.0
        };
    }

    /// Resets hunger after a meal.
    pub fn fed(&mut self) {
        self.hunger = 0.0;
    }

    /// Resets libido after a courtship.
    pub fn courted(&mut self) {
        (self.readiness, self.libido) = (0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: DrivesParams = DrivesParams {
        hungry_after_secs: 10.0,
        fear_distance_m: 0.5,
        fear_fades_secs: 2.0,
        courts_after_secs: 5.0,
        is_spread: true,
    };

    #[test]
    fn hunger_grows_with_time_since_the_last_meal() {
        let mut drives = PARAMS.start(0.0);
        for _ in 0..50 {
            drives.advance(&PARAMS, None, false, 0.1);
        }
        assert!((drives.hunger - 0.5).abs() < 1e-4);
        drives.fed();
        assert_eq!(drives.hunger, 0.0);
        assert_eq!(PARAMS.start(0.7).hunger, 0.7);
    }

    #[test]
    fn fear_rises_as_the_enemy_comes_closer_and_fades_afterwards() {
        let mut drives = Drives::default();
        for (distance, fear) in [(2.0, 0.25), (1.0, 0.5), (0.5, 1.0), (0.1, 1.0)] {
            drives.advance(&PARAMS, Some(distance), false, 0.1);
            assert!(
                (drives.fear - fear).abs() < 1e-6,
                "at {distance} m: {}",
                drives.fear
            );
        }
        drives.advance(&PARAMS, None, false, 1.0);
        assert!((drives.fear - 0.5).abs() < 1e-6);
        drives.advance(&PARAMS, None, false, 5.0);
        assert_eq!(drives.fear, 0.0);
    }

    #[test]
    fn libido_needs_time_a_partner_and_no_hunger() {
        let mut drives = Drives::default();
        for _ in 0..100 {
            drives.advance(&PARAMS, None, false, 0.1);
        }
        assert_eq!(drives.libido, 0.0, "no partner in sight");
        drives.advance(&PARAMS, None, true, 0.1);
        assert!(drives.libido < 0.01, "too hungry");
        drives.fed();
        drives.advance(&PARAMS, None, true, 0.1);
        assert!(drives.libido > 0.9);
        drives.courted();
        assert_eq!((drives.libido, drives.readiness), (0.0, 0.0));
    }

    #[test]
    fn drives_that_are_switched_off_stay_zero() {
        let mut drives = DrivesParams::default().start(0.9);
        drives.advance(&DrivesParams::default(), Some(0.0), true, 1.0);
        assert_eq!(drives, Drives::default());
    }
}
