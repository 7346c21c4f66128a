//! `flee_enemy`: the agent flees from the nearest enemy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::alert::Alert;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::steering::flee;

/// Flees from the nearest visible enemy. Can be executed if that enemy is nearer than the flee distance, and then until it is a
/// quarter farther away; for an enemy that does
/// not hunt, the distance is multiplied by `perception.calm_enemy_share`.
/// **Source**: Jockel 2005, §4.2.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FleeEnemy {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance below which the agent flees. Absent: the sight radius. Higher: flees from far enemies, so that predators swim in
    /// empty water. Lower: lets enemies come close before it sprints away.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub flee_distance_m: Option<f32>,
    /// Whether the agent uses boost. The boost continues for 1 s after the enemy has left the flee distance.
    pub use_boost: bool,
    /// Time in which the agent slows down from the full boost speed to the cruise speed. Higher: swims on fast for a while after
    /// the reason for its hurry is gone. Lower: is calm again almost at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
    /// Whether the agent can turn in place. The limit of its turn rate does not apply then.
    pub can_turn_in_place: bool,
}

impl Default for FleeEnemy {
    fn default() -> Self {
        Self {
            weight: 1.0,
            flee_distance_m: None,
            use_boost: true,
            calm_secs: 1.5,
            can_turn_in_place: false,
        }
    }
}

/// Time for which the boost continues after the enemy is out of the flee distance. **Source**: Jockel 2005, §4.2.5.
const BOOST_HOLD_SECS: f32 = 1.0;

impl Action for FleeEnemy {
    type Memory = Alert;

    fn built_in_relation(&self) -> Option<&'static str> {
        Some("enemy")
    }

    fn flee_distance_m(&self, sight_radius_m: f32) -> Option<f32> {
        Some(self.flee_distance_m.unwrap_or(sight_radius_m))
    }

    fn propose(&self, context: &ActionContext<'_>, alert: &mut Alert) -> Option<Proposal> {
        let enemy = &context.remembered.enemy;
        let sight_m = context.species.perception.sight_radius_m;
        let flee_m = self.flee_distance_m.unwrap_or(sight_m);
        let limit_m = flee_m + alert.margin_m(context.world, flee_m);
        let is_near =
            enemy.visible().is_some() && enemy.apparent_m(context.motion.position_m) < limit_m;
        let is_fresh = enemy.age_secs <= context.least_secs;
        if !(is_near || is_fresh && alert.must_last(context)) {
            return None;
        }
        alert.react(context.world);
        let boost = self.use_boost.then_some(BoostRequest {
            scale: 1.0,
            hold_secs: BOOST_HOLD_SECS,
            calm_secs: self.calm_secs,
        });
        Some(Proposal {
            force: flee(&context.motion, enemy.position_m, context.speed_mps(boost))?,
            boost,
            flees: true,
            fright: f32::from(u8::from(self.use_boost)),
            turns_in_place: self.can_turn_in_place,
            ..Proposal::default()
        })
    }
}
