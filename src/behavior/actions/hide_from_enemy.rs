//! `hide_from_enemy`: the agent swims behind an obstacle, and moves around the obstacle when the enemy moves.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities, FleeingAction, ParamFinding};
use crate::behavior::alert::Alert;
use crate::behavior::context::ActionContext;
use crate::behavior::perception::SOLID_SEARCH_RADIUS_MIN_M;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::geometry::Solid;
use crate::steering::arrive;

/// Swims behind the nearest suitable obstacle while an enemy is near or remembered. A visitor is an enemy only of a species with
/// `enemy = ["visitor"]` in `[relations]`.
///
/// Within a need, list this action after `flee_enemy`. It then acts only while the enemy is farther away than the
/// flee distance of `flee_enemy`. **Source**: Jockel 2005, §4.2.5 and §5.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HideFromEnemy {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance of the enemy below which the agent hides; for an enemy that does not hunt, it is multiplied by
    /// `perception.calm_enemy_share`. An agent that hides goes on until the enemy is a quarter farther away. It hides only behind
    /// obstacles within this distance. Higher: hides from far enemies, and swims to far obstacles. Lower: hides only from near
    /// enemies, behind near obstacles.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub flee_distance_m: f32,
    /// Time for which an enemy that is no longer visible is remembered. Higher: stays hidden long after the enemy has passed.
    /// Lower: comes out as soon as it no longer sees the enemy.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub memory_secs: f32,
    /// Whether the agent uses boost on its way to the obstacle.
    pub use_boost: bool,
    /// Time in which the agent slows down from the full boost speed to the cruise speed. Higher: swims on fast for a while after
    /// the reason for its hurry is gone. Lower: is calm again almost at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
    /// Whether the agent can turn in place. The limit of its turn rate does not apply then.
    pub can_turn_in_place: bool,
}

impl Default for HideFromEnemy {
    fn default() -> Self {
        Self {
            weight: 1.0,
            flee_distance_m: 1.5,
            memory_secs: 4.0,
            use_boost: true,
            calm_secs: 1.0,
            can_turn_in_place: false,
        }
    }
}

/// An obstacle nearer than this share of the enemy's distance is suitable in every direction. A farther one must be
/// on the side away from the enemy. **Source**: Jockel 2005, §4.2.5.
const NEARER_SHARE: f32 = 0.75;

/// Largest number of steps of the search for the position behind a solid.
const BEHIND_STEPS: usize = 16;

/// Gap between body and solid at which that search ends.
const BEHIND_GAP_M: f32 = 0.005;

impl HideFromEnemy {
    /// Returns the position behind the nearest suitable obstacle, as seen from the enemy. `body` is the agent's radius
    /// and the range of its y. `None` if there is no suitable obstacle.
    fn hiding_place_m<'s>(
        &self,
        me: Vec3,
        body: (f32, (f32, f32)),
        enemy: Vec3,
        solids: impl Iterator<Item = &'s Solid>,
    ) -> Option<Vec3> {
        let solid = solids
            .filter(|solid| {
                let (to_solid, from_enemy) = (solid.center_m() - me, me - enemy);
                let distance = to_solid.length();
                distance <= self.flee_distance_m
                    && (from_enemy.dot(to_solid) > 0.0
                        || distance < NEARER_SHARE * from_enemy.length())
            })
            .min_by(|a, b| {
                let distance = |solid: &Solid| solid.center_m().distance_squared(me);
                distance(a).total_cmp(&distance(b))
            })?;
        Some(behind_m(solid, body, enemy, me))
    }
}

/// Returns the position directly behind a solid, as seen from the enemy, at which a body of this radius touches the solid. It is
/// at the height of the solid's center: an enemy above does not send the agent into the ground.
///
/// **Source**: Jockel 2005, §4.2.5, who uses the bounding sphere. Behind a log that would be half a meter off the log.
fn behind_m(solid: &Solid, body: (f32, (f32, f32)), enemy: Vec3, me: Vec3) -> Vec3 {
    let (radius_m, (low, high)) = body;
    let flat = |way: Vec3| way.with_y(0.0).try_normalize();
    let center_m = solid.center_m();
    let direction = flat(center_m - enemy)
        .or_else(|| flat(me - enemy))
        .unwrap_or(Vec3::X);
    let start_m = center_m.with_y(center_m.y.clamp(low, high));
    let mut way_m = solid.bounding_radius_m() + radius_m;
    // From outside towards the solid: a step as long as the gap never enters it. If the line passes above the solid, the
    // search ends over its center.
    for _ in 0..BEHIND_STEPS {
        let gap_m = solid.signed_distance_m(start_m + direction * way_m) - radius_m;
        if gap_m < BEHIND_GAP_M || way_m <= 0.0 {
            break;
        }
        way_m -= gap_m;
    }
    start_m + direction * way_m.max(0.0)
}

/// The last hiding of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hiding {
    /// When it was.
    alert: Alert,
    /// Position of the hiding place.
    place_m: Vec3,
}

impl Action for HideFromEnemy {
    type Memory = Hiding;

    const CAPABILITIES: Capabilities = Capabilities {
        rests: true,
        ..Capabilities::NONE
    };

    fn built_in_relation(&self) -> Option<&'static str> {
        Some("enemy")
    }

    fn warnings_after(&self, name: &str, earlier: &FleeingAction<'_>) -> Option<ParamFinding> {
        (earlier.flee_distance_m >= self.flee_distance_m).then(|| ParamFinding {
            key: "flee_distance_m",
            message: format!(
                "'{name}' comes after '{}', which already flees at {} m, so the agent never hides within {} m; lower the \
                 flee distance of '{}' or raise this one",
                earlier.name, earlier.flee_distance_m, self.flee_distance_m, earlier.name
            ),
        })
    }

    fn propose(&self, context: &ActionContext<'_>, hiding: &mut Hiding) -> Option<Proposal> {
        let me = context.motion.position_m;
        let remembered = &context.remembered.enemy;
        let margin_m = hiding.alert.margin_m(context.world, self.flee_distance_m);
        let reach_m = self.flee_distance_m + margin_m;
        let feared_m = match remembered.visible() {
            Some(seen) => (seen.apparent_m(me) <= reach_m).then_some(seen.position_m),
            None => remembered.feared_m(me, reach_m, self.memory_secs),
        };
        let band = context.world.water.y_range_m(context.radius_m);
        let body = (context.radius_m, band);
        // The list of nearby obstacles is complete up to this distance.
        let searched_m = SOLID_SEARCH_RADIUS_MIN_M.max(context.species.perception.sight_radius_m);
        let found_m = feared_m.and_then(|enemy| {
            if self.flee_distance_m <= searched_m {
                let near = context.near_solids().map(|(_, solid)| solid);
                self.hiding_place_m(me, body, enemy, near)
            } else {
                let all = context.world.solids.iter();
                self.hiding_place_m(me, body, enemy, all)
            }
        });
        let must_last = hiding.alert.must_last(context);
        let place = found_m.or(must_last.then_some(hiding.place_m))?;
        hiding.alert.react(context.world);
        hiding.place_m = place;
        let boost = self.use_boost.then_some(BoostRequest {
            scale: 1.0,
            hold_secs: 0.0,
            calm_secs: self.calm_secs,
        });
        // Uses `arrive` instead of `seek` as in Jockel 2005, so that the agent stops at its hiding place instead of
        // swimming past it.
        let slowing_m = context.radius_m * 4.0;
        let rests = place.distance(me) < context.radius_m * 1.5;
        let force = if rests {
            -context.motion.velocity_mps
        } else {
            arrive(&context.motion, place, context.speed_mps(boost), slowing_m)?
        };
        Some(Proposal {
            boost,
            flees: !rests,
            turns_in_place: self.can_turn_in_place,
            rests,
            ..Proposal::to(place, force)
        })
    }
}
