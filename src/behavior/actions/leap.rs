//! `leap`: the agent travels between terraces: it leaps up where it can, and drops down. An agent that finds no way up can leave the
//! picture with the water.
//!
//! The action requests a terrace; the simulation plans the route over the terraces and moves the agent through the
//! air. **Source**: Lischka 2014.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::navigation::{PathAnswer, PathGoal, PathMemory, PathRequest, SearchParams};
use crate::steering::{arrive, seek};
use crate::world::{RandomStream, TerraceParams, far_edge};

/// Tours the terraces: alternates between the highest and the lowest one. Each journey ends at a random place of the terrace,
/// so that not all agents take the same way. An agent that finds no route in one direction continues in the other direction.
/// Cannot be executed if there are no terraces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Leap {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Mean time after the arrival for which the action cannot be executed, so that the agent does other things. Each rest is
    /// random, from half to one and a half of it, so that a school does not take off at one moment. Higher: leaps are rare. Lower:
    /// the agent travels up and down almost without a pause.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub rest_secs: f32,
    /// Whether an agent that finds no way up swims to the outlet and leaves the picture there. After some seconds it
    /// enters again at the spring. The outlet is the edge of the lowest terrace that is farthest from the other terraces, the
    /// spring that of the highest one. Without this, a species that cannot leap stays in the lowest terrace for good.
    pub leaves: bool,
    /// Time in which the agent slows down from the speed of the run-up to the cruise speed. Higher: swims on fast after a leap.
    /// Lower: is calm again soon after it.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
}

impl Default for Leap {
    fn default() -> Self {
        Self {
            weight: 1.0,
            rest_secs: 10.0,
            leaves: false,
            calm_secs: 1.0,
        }
    }
}

/// Distance of the place where it waits for its next leap within which an agent slows down.
const SLOWING_M: f32 = 0.3;

/// State of an agent that travels between terraces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journey {
    /// Request to the simulation and its answer.
    path: PathMemory,
    /// Whether the agent is on its way down.
    descends: bool,
    /// Time left until the agent travels again.
    rest_secs: f32,
    /// Where this journey ends, (x, z); `None` until it begins.
    goal_m: Option<Vec2>,
    /// Whether the agent leaves the picture at the end of this journey.
    leaves: bool,
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

/// Returns a place in a terrace: a point of the outline, moved towards the middle. `draws` are two random numbers from 0 to 1. In a
/// terrace that is not convex, the place may lie outside; the route then ends at the nearest point that the agent can reach.
fn place_in(terrace: &TerraceParams, draws: Vec2) -> Vec2 {
    let along = draws.x * terrace.outline_m.len() as f32;
    let edge = terrace.edges().nth(along as usize);
    let middle = terrace.middle_m();
    let outer = edge.map_or(middle, |(from, to)| from.lerp(to, along.fract()));
    middle.lerp(outer, draws.y.sqrt())
}

impl Action for Leap {
    type Memory = Box<Journey>;

    const CAPABILITIES: Capabilities = Capabilities {
        needs_paths: true,
        ..Capabilities::NONE
    };

    fn path_memory_mut(journey: &mut Box<Journey>) -> Option<&mut PathMemory> {
        Some(&mut journey.path)
    }

    fn propose(&self, context: &ActionContext<'_>, journey: &mut Box<Journey>) -> Option<Proposal> {
        let terraces = &context.world.water.params.terraces;
        journey.rest_secs -= context.world.dt_secs;
        let answer = journey.path.answer.take();
        let has_arrived = matches!(answer, Some(PathAnswer::Arrived(_)));
        let finds_no_path = answer == Some(PathAnswer::NoPath);
        if has_arrived && journey.leaves {
            **journey = Journey::default();
            return Some(Proposal {
                leaves: true,
                ..Proposal::default()
            });
        }
        if has_arrived || finds_no_path {
            journey.rest_secs = self.rest_secs * (0.5 + context.random(RandomStream::Rest));
            journey.leaves = self.leaves && finds_no_path && !journey.descends;
            journey.descends = !journey.descends;
            journey.goal_m = None;
        }
        if journey.rest_secs > 0.0 {
            return None;
        }
        let terrace = extreme_terrace(terraces, journey.descends)?;
        let leaves = journey.leaves;
        let at_m = *journey.goal_m.get_or_insert_with(|| {
            let draws = Vec2::new(
                context.random(RandomStream::Place),
                context.random(RandomStream::Goal),
            );
            let outlet = leaves.then(|| far_edge(terraces, terrace)).flatten();
            match outlet {
                Some((from, to)) => from.lerp(to, 0.1 + 0.8 * draws.x),
                None => place_in(&terraces[terrace], draws),
            }
        });
        journey.path.request = Some(PathRequest {
            goal: PathGoal {
                // The agent swims at the surface, from which it takes off.
                position_m: Vec3::new(at_m.x, f32::MAX, at_m.y),
                terrace: Some(terrace as u16),
                ..PathGoal::default()
            },
            speed_mps: context.cruise_mps(),
            params: SearchParams::default(),
        });
        let (to, boost) = match answer? {
            PathAnswer::Swim(to) | PathAnswer::SwimToEnd(to) => (to, None),
            PathAnswer::RunUp(to) | PathAnswer::TakeOff(_, to) => {
                let boost = BoostRequest {
                    scale: 1.0,
                    hold_secs: 0.0,
                    calm_secs: self.calm_secs,
                };
                (to, Some(boost))
            }
            PathAnswer::Wait(at) => {
                let force = arrive(&context.motion, at, context.speed_mps(None), SLOWING_M);
                return Some(Proposal {
                    force: force.unwrap_or_default(),
                    goal_m: Some(at),
                    follows_route: true,
                    ..Proposal::default()
                });
            }
            PathAnswer::Arrived(_)
            | PathAnswer::NoPath
            | PathAnswer::NotYet
            | PathAnswer::Refused(_) => return None,
        };
        Some(Proposal {
            force: seek(&context.motion, to, context.speed_mps(boost)).unwrap_or_default(),
            boost,
            follows_route: true,
            ..Proposal::default()
        })
    }
}
