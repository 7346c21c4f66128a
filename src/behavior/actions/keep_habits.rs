//! `keep_habits`: the agent swims to where light and water temperature suit its species.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::steer_along;

/// Swims towards preferred light and water temperature. The pool's `climate` defines both at each position. Can be
/// executed while the light or the temperature differs from the preferred value by more than its tolerance.
/// **Source**: Tu 1996, habits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KeepHabits {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Preferred light. 1 is the light at the surface, 0 is darkness. Higher: swims near the surface. Lower: swims deep.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub light: f32,
    /// Largest difference from the preferred light that the agent tolerates. Higher: roams through all depths. Lower: stays in a
    /// thin layer.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub light_tolerance: f32,
    /// Preferred water temperature. Higher: swims to the warm part of the pool. Lower: to the cold part. No effect in water of one
    /// temperature.
    #[schemars(range(min = -5.0, max = 60.0))]
    pub warmth_c: f32,
    /// Largest difference from the preferred temperature that the agent tolerates. Higher: roams through the whole pool. Lower:
    /// stays in one part of it.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub warmth_tolerance_c: f32,
}

impl Default for KeepHabits {
    fn default() -> Self {
        Self {
            weight: 1.0,
            light: 0.7,
            light_tolerance: 0.2,
            warmth_c: 16.0,
            warmth_tolerance_c: 3.0,
        }
    }
}

impl Action for KeepHabits {
    type Memory = ();

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let climate = &context.world.water.params.climate;
        let at = context.motion.position_m;
        let beyond = |off: f32, tolerance: f32| {
            let over = (off.abs() - tolerance).max(0.0);
            over.copysign(off) / tolerance.max(1e-3)
        };
        let brighter = beyond(self.light - climate.light(at), self.light_tolerance);
        let warmer = beyond(
            self.warmth_c - climate.warmth_c(at),
            self.warmth_tolerance_c,
        );
        // Light increases upwards; temperature increases along its own gradient.
        let wanted = Vec3::Y * brighter + climate.warmth_gradient().normalize_or_zero() * warmer;
        let direction = wanted.try_normalize()?;
        steer_along(&context.motion, direction, context.cruise_mps()).map(Proposal::force)
    }
}
