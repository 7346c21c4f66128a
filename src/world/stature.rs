//! Factors on all fish of a site or of a scene: how large, how fast and how agile they are there. **Source**: Jockel 2005, §1.2.3.
//!
//! In: parameters of a species. Out: the same parameters for the room and the scene. Must not: change what a fish decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::{BodyParams, FlockParams, MotionParams};

/// Table `[fish]` of a site: factors on all species, for a room that is larger, smaller, livelier or calmer than the one for which the
/// scenes were made. Table `[fish.NAME]` of a scene: factors on one species there. They change no species file, and those of the site
/// and of the scene are multiplied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FishParams {
    /// Factor on the size of the fish and on the distances in their schools. Higher: large fish that are seen from far away. Lower:
    /// small fish, as in a wide lake.
    #[schemars(range(min = 0.25, max = 4.0))]
    pub size: f32,
    /// Factor on all speeds. Higher: a lively pool. Lower: a calm one.
    #[schemars(range(min = 0.25, max = 4.0))]
    pub speed: f32,
    /// Factor on forces and turn rates. Higher: fish that start, stop and turn quickly. Lower: wide, slow curves.
    #[schemars(range(min = 0.25, max = 4.0))]
    pub agility: f32,
}

impl Default for FishParams {
    fn default() -> Self {
        Self {
            size: 1.0,
            speed: 1.0,
            agility: 1.0,
        }
    }
}

impl FishParams {
    /// Returns the factors of a site and one of its scenes together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            size: self.size * other.size,
            speed: self.speed * other.speed,
            agility: self.agility * other.agility,
        }
    }

    /// Applies the factors to a species.
    pub fn apply(&self, body: &mut BodyParams, motion: &mut MotionParams, flock: &mut FlockParams) {
        body.scale(self.size);
        flock.radius_m *= self.size;
        let radii = [
            &mut flock.always_radius_m,
            &mut flock.separation.radius_m,
            &mut flock.alignment.radius_m,
            &mut flock.cohesion.radius_m,
        ];
        for radius_m in radii.into_iter().flatten() {
            *radius_m *= self.size;
        }
        motion.hurry(self.speed);
        motion.max_force_n *= self.agility;
        motion.max_turn_rate_dps *= self.agility;
        let cruise = &mut motion.cruise;
        for limit in [&mut cruise.max_force_n, &mut cruise.max_turn_rate_dps] {
            *limit = limit.map(|value| value * self.agility);
        }
    }
}
