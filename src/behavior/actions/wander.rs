//! `wander`: the agent roams without a goal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::wander;
use crate::world::RandomStream;

/// Roams without a goal, with pauses. Can always be executed. **Source**: Reynolds 1999, "Wander".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wander {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Largest deviation from straight ahead: the radius of the wander circle, as a multiple of its distance ahead of the agent.
    /// Higher: turns sharply, in tight loops. Lower: swims almost straight; 0: straight on.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub spread: f32,
    /// Standard deviation of the random movement of the wanted direction along the wander circle, in radians after 1 s. Higher: a
    /// nervous course. Lower: long, even curves; it may circle to one side.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub drift_per_sec: f32,
    /// Height of the wander circle, as a share of its width: how much the agent turns up and down compared with sideways. Higher:
    /// climbs and dives often. Lower: stays at its depth; 0: always.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub climb_share: f32,
    /// Speed while roaming, as a share of the cruise speed. Higher: roams briskly. Lower: drifts slowly.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub speed_share: f32,
    /// Average number of pauses that begin per second. During a pause the agent only glides. Higher: pauses often. Lower: swims on
    /// for long; 0: always.
    #[schemars(title = "Pauses per second", range(min = 0.0, max = 60.0))]
    pub idle_per_sec: f32,
    /// Duration of a pause. Higher: long glides, almost to rest. Lower: hardly visible breaks.
    #[schemars(title = "Pause", range(min = 0.0, max = 600.0))]
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

/// State of a wandering agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Angle of the wanted direction on the wander circle.
    pub angle_rad: f32,
    /// Time left in the current pause.
    pub idle_secs: f32,
}

impl Action for Wander {
    type Memory = Course;

    fn is_always_executable(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, course: &mut Course) -> Option<Proposal> {
        let dt = context.world.dt_secs;
        // This is a random walk. Its spread after one second does not depend on the length of the time step.
        let step = context.random(RandomStream::Wander) * 2.0 - 1.0;
        course.angle_rad = (course.angle_rad + step * self.drift_per_sec * (3.0 * dt).sqrt())
            .rem_euclid(std::f32::consts::TAU);
        if course.idle_secs > 0.0 {
            course.idle_secs -= dt;
            return Some(Proposal::default());
        }
        if context.random(RandomStream::Idle) < 1.0 - (-self.idle_per_sec * dt).exp() {
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
