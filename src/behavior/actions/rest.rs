//! `rest`: the agent stops and stays at its place.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::geometry::SurfaceKind;
use crate::steering::steer_along;

/// Distance above the ground at which an agent lies on it, as a share of its radius.
const LYING_SHARE: f32 = 0.2;
/// Speed at which an agent swims down to the ground, as a share of its cruise speed.
const DESCENT_SHARE: f32 = 0.6;
/// Time in which an agent stops.
const STOP_SECS: f32 = 0.6;

/// Stops, and stays until another need acts. Can always be executed. The agent stands still only if `motion.min_speed_mps` is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rest {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// stops the agent faster, up to its largest force. Lower: gives way to other actions, and the agent stops slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Whether the agent swims down and lies on the ground, like a crab. Otherwise it stays where it is, like a pike.
    pub on_ground: bool,
}

impl Default for Rest {
    fn default() -> Self {
        Self {
            weight: 1.0,
            on_ground: false,
        }
    }
}

/// Returns the height of an agent above the lowest place where it can be.
fn above_ground_m(context: &ActionContext<'_>) -> f32 {
    let water = context.world.water;
    let (at_m, margin_m) = (context.motion.position_m, context.species.margin_m);
    match context.world.terrace(context.index) {
        Some(terrace) if water.surface.kind == SurfaceKind::Floor => {
            at_m.y - terrace.y_range_m(context.radius_m).0
        }
        _ => water.above_ground_m(at_m, context.radius_m, margin_m),
    }
}

impl Action for Rest {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        rests: true,
        stops: true,
        ..Capabilities::NONE
    };

    fn is_always_executable(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let motion = &context.motion;
        let gap_m = above_ground_m(context);
        let swims_down = self.on_ground && !context.species.motion.walks();
        let force = if swims_down && gap_m > context.radius_m * LYING_SHARE {
            let water = context.world.water;
            let ahead = water.level_from_world(motion.forward).with_y(0.0);
            let slope_rad = context.species.motion.max_climb_deg.to_radians();
            let (down, along) = slope_rad.sin_cos();
            let course = ahead.normalize_or(Vec3::X) * along - Vec3::Y * down;
            let speed_mps = context.species.motion.cruise_mps * DESCENT_SHARE;
            steer_along(motion, water.world_from_level(course), speed_mps)?
        } else {
            -motion.velocity_mps * (context.mass_kg() / STOP_SECS)
        };
        Some(Proposal {
            rests: true,
            lies: self.on_ground,
            ..Proposal::force(force)
        })
    }
}
