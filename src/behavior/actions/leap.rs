//! `leap`: the agent travels between terraces: it leaps up where it can, and drops down. What cannot leap up may leave the picture with
//! the water.
//!
//! The action requests a terrace; the simulation plans the route over the terraces and moves the agent through the
//! air. **Source**: Lischka 2014.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::climb::{Climb, ClimbRequest};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::navigation::Guidance;
use crate::steering::seek;
use crate::world::{RandomStream, TerraceParams, far_edge};

/// Travels from terrace to terrace. Cannot be executed if there are no terraces, if the agent is already on the
/// wanted terrace, or if no route leads there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Leap {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Terrace that the agent travels to.
    pub target: LeapTarget,
    /// Mean time after the arrival for which the action cannot be executed, so that the agent does other things. Each rest is
    /// random, from half to one and a half of it, so that a school does not take off at one moment.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub rest_secs: f32,
    /// Whether an agent on a tour that finds no way up swims to the outlet and leaves the picture there. After some seconds it
    /// enters again at the spring. The outlet is the edge of the lowest terrace that is farthest from the other terraces, the
    /// spring that of the highest one. Without this, a species that cannot leap stays in the lowest terrace for good.
    pub leaves: bool,
    /// Time in which the agent slows down from the speed of the run-up to the cruise speed.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
}

impl Default for Leap {
    fn default() -> Self {
        Self {
            weight: 1.0,
            target: LeapTarget::Tour,
            rest_secs: 10.0,
            leaves: false,
            calm_secs: 1.0,
        }
    }
}

/// Terrace that the agent travels to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeapTarget {
    /// Alternates between the highest and the lowest terrace. An agent that finds no route in one direction continues
    /// in the other direction.
    #[default]
    Tour,
    /// The highest terrace.
    Top,
    /// The lowest terrace.
    Bottom,
}

/// State of an agent that travels between terraces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journey {
    /// Request to the simulation and its answer.
    climb: Climb,
    /// During a tour: whether the agent is on its way down.
    descends: bool,
    /// Time left until the agent travels again.
    rest_secs: f32,
    /// Point at the outlet where the agent is going to leave the picture.
    outlet_m: Option<Vec2>,
}

/// Returns the index of the terrace with the highest or, if `lowest`, the lowest water surface. `None` if there are
/// no terraces.
fn extreme_terrace(terraces: &[TerraceParams], lowest: bool) -> Option<usize> {
    let depth = |index: &usize| terraces[*index].surface_depth_m;
    let indices = 0..terraces.len();
    if lowest {
        indices.max_by(|a, b| depth(a).total_cmp(&depth(b)))
    } else {
        indices.min_by(|a, b| depth(a).total_cmp(&depth(b)))
    }
}

/// Returns a point at the outlet. `share` is its place along the edge.
fn outlet_m(terraces: &[TerraceParams], share: f32) -> Option<Vec2> {
    let (from, to) = far_edge(terraces, extreme_terrace(terraces, true)?)?;
    Some(from.lerp(to, 0.1 + 0.8 * share))
}

impl Action for Leap {
    type Memory = Journey;

    fn climb_mut(journey: &mut Journey) -> Option<&mut Climb> {
        Some(&mut journey.climb)
    }

    fn propose(&self, context: &ActionContext<'_>, journey: &mut Journey) -> Option<Proposal> {
        let terraces = &context.world.water.params.terraces;
        journey.rest_secs -= context.world.dt_secs;
        let answer = journey.climb.answer.take();
        let step = answer.map(|answer| answer.step);
        if step == Some(Guidance::Arrived) && journey.outlet_m.is_some() {
            *journey = Journey::default();
            return Some(Proposal {
                leaves: true,
                ..Proposal::default()
            });
        }
        if matches!(step, Some(Guidance::Arrived | Guidance::NoPath)) {
            let draw = context.random(RandomStream::Rest);
            journey.rest_secs = self.rest_secs * (0.5 + draw);
            let finds_no_way_up = step == Some(Guidance::NoPath) && !journey.descends;
            journey.outlet_m = (self.leaves && self.target == LeapTarget::Tour && finds_no_way_up)
                .then(|| outlet_m(terraces, draw))
                .flatten();
            journey.descends = !journey.descends;
        }
        if journey.rest_secs > 0.0 {
            return None;
        }
        let lowest = match self.target {
            LeapTarget::Tour => journey.descends,
            LeapTarget::Top => false,
            LeapTarget::Bottom => true,
        };
        let terrace = extreme_terrace(terraces, lowest)?;
        journey.climb.request = Some(ClimbRequest {
            terrace: Some(terrace as u16),
            at_m: journey
                .outlet_m
                .unwrap_or_else(|| terraces[terrace].middle_m()),
        });
        let answer = answer?;
        let (to, boost) = match answer.step {
            Guidance::Swim(to) => (to, None),
            Guidance::RunUp(to) | Guidance::TakeOff(_, to) => {
                let boost = BoostRequest {
                    scale: 1.0,
                    hold_secs: 0.0,
                    calm_secs: self.calm_secs,
                };
                (to, Some(boost))
            }
            Guidance::Arrived | Guidance::NoPath | Guidance::NotYet => return None,
        };
        let target = Vec3::new(to.x, answer.y_m, to.y);
        Some(Proposal {
            force: seek(&context.motion, target, context.speed_mps(boost)).unwrap_or_default(),
            boost,
            follows_route: true,
            ..Proposal::default()
        })
    }
}
