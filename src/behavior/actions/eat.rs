//! `eat`: the agent swims to food and eats it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{NeedEvent, Proposal};
use crate::steering::seek;

/// Swims to the nearest visible agent in the relation `food` and eats it by touching it. A meal resets hunger. Eaten
/// food enters the pool again at another position, out of sight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Eat {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance within which food is noticed. Higher: comes to food from far away. Lower: eats only what it meets on its way.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Time for which the agent swims to food that is no longer visible. Higher: swims on to food behind a stone or behind its
    /// back. Lower: forgets it at once and turns to other things.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub memory_secs: f32,
    /// Distance between both hulls within which the agent eats the food. Higher: food disappears before the mouth is at it, and is
    /// rarely missed. Lower: must touch the food, and often swims past it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bite_m: f32,
}

impl Default for Eat {
    fn default() -> Self {
        Self {
            weight: 1.0,
            reach_m: 1.0,
            memory_secs: 1.0,
            bite_m: 0.02,
        }
    }
}

impl Action for Eat {
    type Memory = ();

    fn built_in_relation(&self) -> Option<&'static str> {
        Some("food")
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let food = &context.remembered.food;
        let me = context.motion.position_m;
        let (target, bite) = match food.visible() {
            Some(seen) => {
                let distance_m = seen.position_m.distance(me);
                if distance_m > self.reach_m {
                    return None;
                }
                let touches = distance_m < context.radius_m + seen.radius_m + self.bite_m;
                (seen.position_m, seen.agent.filter(|_| touches))
            }
            None => (food.predicted_m(self.memory_secs)?, None),
        };
        Some(Proposal {
            catch: bite,
            event: bite.map(|_| NeedEvent::Meal),
            ..Proposal::to(
                target,
                seek(&context.motion, target, context.cruise_mps()).unwrap_or_default(),
            )
        })
    }
}
