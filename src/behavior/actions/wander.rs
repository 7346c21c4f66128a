//! `wander`: roam about without a goal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::ActionContext;
use crate::steering::wander;
use crate::world::Purpose;

/// Roam about without a goal, with pauses. Always possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wander {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// How far the wish may deviate from straight ahead: the wander circle's radius, its distance ahead being 1.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub spread: f32,
    /// How fast the wish moves along the circle. Slow gives wide curves, fast a nervous course.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub drift_per_sec: f32,
    /// How much of the deviation goes up and down instead of sideways.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub climb_share: f32,
    /// Speed that it roams at, as a share of the cruise speed.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub speed_share: f32,
    /// Rate at which pauses begin, in which it only glides.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub idle_per_sec: f32,
    /// How long a pause lasts.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub idle_secs: f32,
}

impl Default for Wander {
    fn default() -> Self {
        Self {
            weight: 1.0,
            spread: 0.8,
            drift_per_sec: 2.0,
            climb_share: 0.25,
            speed_share: 0.8,
            idle_per_sec: 0.1,
            idle_secs: 0.8,
        }
    }
}

/// Where on its course a wanderer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Angle of the wish on its circle.
    pub angle_rad: f32,
    /// What is left of a pause.
    pub idle_secs: f32,
}

impl Action for Wander {
    type Memory = Course;

    fn propose(&self, context: &ActionContext<'_>, course: &mut Course) -> Option<Proposal> {
        let dt = context.world.dt_secs;
        // A random walk: its spread over a second is the same for any time step.
        let step = context.chance(Purpose::Wander) * 2.0 - 1.0;
        course.angle_rad = (course.angle_rad + step * self.drift_per_sec * (3.0 * dt).sqrt())
            .rem_euclid(std::f32::consts::TAU);
        if course.idle_secs > 0.0 {
            course.idle_secs -= dt;
            return Some(Proposal::default());
        }
        if context.chance(Purpose::Idle) < 1.0 - (-self.idle_per_sec * dt).exp() {
            course.idle_secs = self.idle_secs;
        }
        let speed = context.species.motion.cruise_mps * self.speed_share;
        wander(
            &context.motion,
            course.angle_rad,
            self.spread,
            self.climb_share,
            speed,
        )
        .map(Proposal::force)
    }
}
