//! `evade_shadow`: the agent flees from a visitor's shadow, and comes back when the visitor stands still.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::alert::Alert;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::geometry::Visitor;
use crate::steering::steer_along;
use crate::world::{ShadowAtDepth, circle_at_depth, outline_at_depth};

/// Flees from the nearest shadow. Can be executed if that shadow is nearer than its current flee distance, and then until it is
/// farther away by a quarter of `flee_distance_m`. The
/// distance is measured horizontally: each shadow is projected from the viewer's eye to the agent's depth.
/// **Source**: Jockel 2005, §4.2.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvadeShadow {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Flee distance from a moving shadow. Higher: a large empty circle around each moving visitor. Lower: fish stay until the
    /// shadow almost reaches them; below 0, until it is over them.
    #[schemars(range(min = -10.0, max = 50.0))]
    pub flee_distance_m: f32,
    /// Flee distance from a shadow that stands still. With a negative distance, agents may come under the edge of the shadow by
    /// that distance. Higher: fish stay away also from a patient visitor. Lower: they come close to the feet, below 0 also under
    /// the edge of the shadow.
    #[schemars(range(min = -10.0, max = 50.0))]
    pub still_flee_distance_m: f32,
    /// Time for which a shadow stands still before `still_flee_distance_m` applies. During this time the flee distance changes
    /// linearly. Higher: visitors must stand still for long before fish come. Lower: fish trust a visitor who has just stopped; 0:
    /// at once.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub calm_after_secs: f32,
    /// Increase of `flee_distance_m` and `boost_distance_m` for a visitor who stamps or waves on the spot, as a share of them. It
    /// grows with the agitation of the visitor up to 0.08 m/s. Higher: a stamp clears the floor far around. Lower: fish take little
    /// notice of it; 0: none.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub startle_share: f32,
    /// Time for which the agent predicts the movement of a shadow. The agent keeps the flee distance from the whole predicted path
    /// of the shadow. Higher: leaves the way of a walking visitor early and sideways. Lower: swims ahead of the visitor. 0: only
    /// the shadow's current position counts, as in Jockel 2005.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub lead_secs: f32,
    /// Shape of a shadow from which distances are measured.
    pub shadow_shape: ShadowShape,
    /// Whether the agent uses boost while a shadow is behind it and nearer than `boost_distance_m`.
    pub use_boost: bool,
    /// Distance from a shadow below which the agent uses boost. While a visitor stands still, this distance decreases together with
    /// the flee distance. Higher: sprints early and stays ahead of visitors who walk faster than its cruise speed. Lower: swims
    /// away calmly and is overtaken by them. 0: sprints only under the shadow, as in Jockel 2005.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub boost_distance_m: f32,
    /// Whether an agent under a shadow can turn in place. The limit of its turn rate does not apply then.
    pub can_turn_in_place: bool,
    /// Time in which the agent slows down from the full boost speed to the cruise speed. Higher: swims on fast for a while after
    /// the reason for its hurry is gone. Lower: is calm again almost at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
}

impl Default for EvadeShadow {
    fn default() -> Self {
        Self {
            weight: 1.0,
            flee_distance_m: 0.5,
            still_flee_distance_m: -0.1,
            calm_after_secs: 5.0,
            startle_share: 0.5,
            lead_secs: 0.0,
            shadow_shape: ShadowShape::Contour,
            use_boost: true,
            boost_distance_m: 0.0,
            can_turn_in_place: true,
            calm_secs: 1.5,
        }
    }
}

/// Shape of a shadow from which distances are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShadowShape {
    /// The nearest point of the shadow's outline.
    #[default]
    Contour,
    /// A circle with the area of the shadow.
    Circle,
}

/// Agitation on the spot from which a visitor startles agents as much as possible: that of a clear stamp.
const STARTLE_MPS: f32 = 0.08;

impl EvadeShadow {
    /// Returns the factor on distances for a shadow whose visitor has this restlessness.
    fn startle_factor(&self, shadow: &Visitor) -> f32 {
        let share = (shadow.restlessness_mps() / STARTLE_MPS).clamp(0.0, 1.0);
        1.0 + self.startle_share * share
    }

    /// Returns the flee distance from a shadow now.
    fn flee_distance_m(&self, shadow: &Visitor) -> f32 {
        let flee_m = self.flee_distance_now_m(shadow.still_secs as f32);
        flee_m.max(0.0) * self.startle_factor(shadow) + flee_m.min(0.0)
    }

    /// Returns the flee distance from a shadow that has stood still for `still_secs`.
    pub fn flee_distance_now_m(&self, still_secs: f32) -> f32 {
        let calm = if self.calm_after_secs > 0.0 {
            (still_secs / self.calm_after_secs).clamp(0.0, 1.0)
        } else {
            f32::from(still_secs > 0.0)
        };
        self.flee_distance_m + (self.still_flee_distance_m - self.flee_distance_m) * calm
    }

    /// Returns the nearest of all shadows that are nearer than their flee distance and the margin, now or predicted. `None` if
    /// there is no such shadow.
    fn nearest(&self, context: &ActionContext<'_>, margin_m: f32) -> Option<Threat> {
        let at = context.motion.position_m;
        let scale = context.world.water.scale(at.y);
        let visitors = &context.world.visitors;
        let startled = (1.0 + self.startle_share) * context.species.flight_factor();
        let widest_m = self
            .flee_distance_m
            .max(self.still_flee_distance_m)
            .max(0.0)
            * startled
            + margin_m;
        let mut least: Option<Threat> = None;
        let shadows = visitors.shadows.iter().zip(&visitors.bounding_radii_m);
        for (index, (shadow, &reach_m)) in shadows.enumerate() {
            let offset_m = Vec2::new(at.x, at.z) - shadow.centroid_m * scale;
            let way_m = shadow.velocity_mps * (self.lead_secs * scale);
            // Fast test without a square root, because most shadows are far away: no point of an outline is farther
            // from the shadow's center than its bounding radius `reach_m`.
            let near_m = reach_m * scale + context.hull.widest_m();
            let far_m = (widest_m + near_m + way_m.abs().element_sum()).max(0.0);
            if offset_m.length_squared() >= far_m * far_m {
                continue;
            }
            let flee_m = self.flee_distance_m(shadow);
            let flee_m = flee_m.max(0.0) * context.species.flight_factor() + flee_m.min(0.0);
            let limit = least.as_ref().map_or(flee_m + margin_m, |found| {
                found.distance_m.min(flee_m + margin_m)
            });
            let lead_m = nearest_along(way_m, offset_m);
            if offset_m.distance(lead_m) >= limit + near_m {
                continue;
            }
            let now = match self.shadow_shape {
                ShadowShape::Contour => context.world.shadow_at(index, context.index),
                ShadowShape::Circle => circle_at_depth(shadow, at, context.hull, scale),
            };
            // The outline can be nearest to the agent at another time than the shadow's center, so both positions are
            // measured.
            let then = if lead_m == Vec2::ZERO {
                now
            } else {
                self.at_depth(shadow, context, lead_m, scale)
            };
            let (distance_m, away) = if then.distance_m < now.distance_m {
                (then.distance_m, then.away)
            } else {
                (now.distance_m, now.away)
            };
            if distance_m < limit {
                least = Some(Threat {
                    flee_m,
                    distance_m,
                    away,
                    startle_factor: self.startle_factor(shadow),
                    is_over: now.distance_m < 0.0,
                });
            }
        }
        least
    }

    /// Returns the shadow at the agent's depth, as the agent sees it after the shadow has moved by `moved`.
    fn at_depth(
        &self,
        shadow: &Visitor,
        context: &ActionContext<'_>,
        moved: Vec2,
        scale: f32,
    ) -> ShadowAtDepth {
        let at = context.motion.position_m - Vec3::new(moved.x, 0.0, moved.y);
        match self.shadow_shape {
            ShadowShape::Contour => outline_at_depth(shadow, at, context.hull, scale),
            ShadowShape::Circle => circle_at_depth(shadow, at, context.hull, scale),
        }
    }
}

/// Returns the point nearest to `offset_m` on the straight line segment from the origin to `way_m`.
fn nearest_along(way_m: Vec2, offset_m: Vec2) -> Vec2 {
    let length_squared = way_m.length_squared();
    if length_squared <= 0.0 || !length_squared.is_finite() {
        return Vec2::ZERO;
    }
    way_m * (offset_m.dot(way_m) / length_squared).clamp(0.0, 1.0)
}

/// The shadow that the agent flees from.
struct Threat {
    /// Flee distance from this shadow.
    flee_m: f32,
    /// Smallest distance from this shadow, now or predicted.
    distance_m: f32,
    /// Horizontal unit vector away from this shadow; zero if the shadow is exactly above the agent.
    away: Vec3,
    /// Factor on the boost distance.
    startle_factor: f32,
    /// Whether the agent is under this shadow now.
    is_over: bool,
}

/// The last flight of an agent from a shadow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fright {
    /// When it was.
    alert: Alert,
    /// Unit vector away from the shadow.
    away: Vec3,
}

impl Action for EvadeShadow {
    type Memory = Fright;

    fn keeps_from_m(&self, visitor: &Visitor) -> Option<f32> {
        Some(self.flee_distance_m(visitor))
    }

    fn propose(&self, context: &ActionContext<'_>, fright: &mut Fright) -> Option<Proposal> {
        let margin_m = fright.alert.margin_m(context.world, self.flee_distance_m);
        let Some(threat) = self.nearest(context, margin_m) else {
            if !fright.alert.must_last(context) {
                return None;
            }
            fright.alert.react(context.world);
            return Some(Proposal {
                flees: true,
                ..Proposal::force(steer_along(
                    &context.motion,
                    fright.away,
                    context.speed_mps(None),
                )?)
            });
        };
        let calmed_m = (self.flee_distance_m - threat.flee_m).max(0.0);
        // Never negative, so an agent under a shadow is always close enough to use boost.
        let boost_distance_m = (self.boost_distance_m * threat.startle_factor - calmed_m).max(0.0);
        let ahead = context.motion.forward;
        let away = if threat.away == Vec3::ZERO {
            ahead
        } else {
            threat.away
        };
        fright.alert.react(context.world);
        fright.away = away;
        let is_close = threat.distance_m < boost_distance_m;
        let boosts = is_close && self.use_boost && ahead.dot(away) > 0.0;
        let boost = boosts.then_some(BoostRequest {
            scale: 1.0,
            hold_secs: 0.0,
            calm_secs: self.calm_secs,
        });
        let force = steer_along(&context.motion, away, context.speed_mps(boost))?;
        Some(Proposal {
            force,
            boost,
            flees: true,
            fright: f32::from(u8::from(is_close && self.use_boost)),
            turns_in_place: threat.is_over && self.can_turn_in_place,
            ..Proposal::default()
        })
    }
}
