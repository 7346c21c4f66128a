//! `hunt_prey`: the agent chases the nearest prey. If it sees many prey agents, it aims less exactly (confusion).

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, NeedEvent, Proposal};
use crate::steering::{predicted_target, seek};

/// Chases the nearest visible prey. The agent catches the prey when it touches it. **Source**: Jockel 2005, §4.2.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HuntPrey {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance within which prey is hunted. Higher: long chases through the pool. Lower: short attacks on prey that comes near.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub radius_m: f32,
    /// Radius around the target within which other prey confuses the hunter: the hunter then aims between the target and the mean
    /// position of all prey in this radius. Higher: a school protects its members: the hunter aims at its middle and often misses.
    /// Lower: hunts down a single fish; 0 switches the confusion off.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub confusion_radius_m: f32,
    /// Longest time for which the movement of the prey is predicted. Higher: cuts off the way of the prey. Lower: swims behind it;
    /// 0: aims at its current position.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub lead_secs: f32,
    /// Time for which the agent follows prey that is no longer visible. Higher: follows prey behind stones and out of view. Lower:
    /// gives up as soon as the prey is hidden.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub memory_secs: f32,
    /// Whether the agent uses boost.
    pub use_boost: bool,
    /// Time in which the agent slows down from the full boost speed to the cruise speed. Higher: swims on fast for a while after
    /// the reason for its hurry is gone. Lower: is calm again almost at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
    /// Whether the agent can turn in place. The limit of its turn rate does not apply then.
    pub can_turn_in_place: bool,
}

impl Default for HuntPrey {
    fn default() -> Self {
        Self {
            weight: 1.0,
            radius_m: 2.0,
            confusion_radius_m: 0.0,
            lead_secs: 0.5,
            memory_secs: 2.0,
            use_boost: true,
            calm_secs: 0.5,
            can_turn_in_place: true,
        }
    }
}

/// Weights in the aim of a confused hunter: of the mean position of all nearby prey, and of the chased prey.
/// **Source**: Jockel 2005, §4.2.5.
const CONFUSION_WEIGHTS: (f32, f32) = (3.0, 2.0);

impl HuntPrey {
    /// Returns the point at which a hunter aims if it sees other prey near the target. The target is at `target_m`;
    /// its predicted position is `led_m`.
    fn confused_aim(&self, context: &ActionContext<'_>, target_m: Vec3, led_m: Vec3) -> Vec3 {
        if self.confusion_radius_m <= 0.0 {
            return led_m;
        }
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for prey in context.neighbors {
            let at = context.motion.position_m + prey.offset_m;
            if prey.name_bits & context.species.relations.prey != 0
                && at.distance(target_m) <= self.confusion_radius_m
                && context.is_visible(prey)
            {
                sum += at;
                count += 1.0;
            }
        }
        if count == 0.0 {
            return led_m;
        }
        let (mean, own) = CONFUSION_WEIGHTS;
        (sum / count * mean + led_m * own) / (mean + own)
    }
}

impl Action for HuntPrey {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        hunts: true,
        ..Capabilities::NONE
    };

    fn built_in_relation(&self) -> Option<&'static str> {
        Some("prey")
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let boost = self.use_boost.then_some(BoostRequest {
            scale: 1.0,
            hold_secs: 0.0,
            calm_secs: self.calm_secs,
        });
        let speed = context.speed_mps(boost);
        let me = context.motion.position_m;
        let prey = &context.remembered.prey;
        let mut catch = None;
        let aim = if let Some(seen) = prey.visible() {
            let distance_m = seen.position_m.distance(me);
            if distance_m > self.radius_m {
                return None;
            }
            if distance_m < context.radius_m + seen.radius_m {
                catch = seen.agent;
            }
            let led = predicted_target(
                me,
                seen.position_m,
                seen.velocity_mps,
                speed,
                self.lead_secs,
            );
            self.confused_aim(context, seen.position_m, led)
        } else {
            prey.predicted_m(self.memory_secs)?
        };
        Some(Proposal {
            boost,
            turns_in_place: self.can_turn_in_place,
            catch,
            event: catch.map(|_| NeedEvent::Catch),
            ..Proposal::to(aim, seek(&context.motion, aim, speed).unwrap_or_default())
        })
    }
}
