//! `navigate`: the agent finds a path to a target around obstacles.
//!
//! The action requests a path and steers to the position in the last answer. In each tick, after all agents have decided
//! and before they move, the simulation advances all searches: on grids or, in a pool with terraces, on their mesh, with
//! leaps and drops. **Source**: Dahlberg & Viktorsson 2002; Lischka 2014.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::perception_memory::SeenAgent;
use crate::behavior::proposal::{BoostRequest, NeedEvent, Proposal};
use crate::behavior::visiting::gathering_goal_m;
use crate::navigation::{PathAnswer, PathGoal, PathMemory, PathRequest, SearchParams};
use crate::steering::{arrive, seek};
use crate::world::IN_THE_AIR;

/// Finds a path to a target around obstacles and, by leaps and drops, in other terraces. Cannot be executed without a target,
/// or if no path leads there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Navigate {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Target that the agent swims to.
    pub target: NavigateTarget,
    /// Target point in world space, `[x, y, z]`. Used if `target` is `point`.
    pub point_m: [f32; 3],
    /// Relations of the agents to swim to. Used if `target` is `agent`: the nearest visible agent in one of these
    /// relations is the target.
    pub relations: Vec<String>,
    /// Time for which the agent continues to the position where it saw prey last. Higher: searches for prey that hid long ago.
    /// Lower: gives up a hunt soon.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub memory_secs: f32,
    /// Whether the agent uses boost.
    pub use_boost: bool,
    /// Time in which the agent slows down from the full boost speed to the cruise speed. Higher: swims on fast for a while after
    /// the reason for its hurry is gone. Lower: is calm again almost at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
    /// Distance from a standing target within which the agent slows down. Higher: brakes early and drifts softly into its place.
    /// Lower: comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub slowing_m: f32,
    /// Parameters of the path search.
    pub search: SearchParams,
}

impl Default for Navigate {
    fn default() -> Self {
        Self {
            weight: 1.0,
            target: NavigateTarget::Prey,
            point_m: [0.0, -0.7, 0.0],
            relations: vec!["mother".into()],
            memory_secs: 20.0,
            use_boost: false,
            calm_secs: 0.5,
            slowing_m: 0.3,
            search: SearchParams::default(),
        }
    }
}

/// Target that the agent swims to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NavigateTarget {
    /// The nearest visible prey. The agent catches the prey when it touches it. If no prey is visible, the target is
    /// the position where prey was seen last.
    #[default]
    Prey,
    /// The point `point_m`.
    Point,
    /// The nearest visible agent in one of the relations.
    Agent,
    /// The point where the director lets the species gather. Without such a point the action cannot be executed.
    Director,
}

impl Navigate {
    fn goal(&self, context: &ActionContext<'_>) -> Option<PathGoal> {
        let fixed = |position_m: Vec3| PathGoal {
            position_m,
            terrace: terrace_of(context, None, position_m),
            is_seen: true,
            ..PathGoal::default()
        };
        match self.target {
            NavigateTarget::Point => Some(fixed(self.point_m.into())),
            NavigateTarget::Director => Some(fixed(gathering_goal_m(context)?)),
            NavigateTarget::Agent => {
                let nearest = context.nearest_visible(context.related)?;
                let position_m = context.motion.position_m + nearest.offset_m;
                Some(PathGoal {
                    position_m,
                    terrace: terrace_of(context, Some(nearest.agent), position_m),
                    velocity_mps: context.velocity_mps(nearest),
                    is_moving: true,
                    is_seen: true,
                })
            }
            NavigateTarget::Prey => self.prey_goal(context, &context.remembered.prey),
        }
    }

    /// Returns the goal of a hunt. The position of prey behind an obstacle is unknown: the hunter swims to the
    /// position where it saw the prey last, and no further. `None` if the hunter has forgotten the prey or has
    /// reached that position. **Source**: Dahlberg & Viktorsson 2002, §6.1.7.
    fn prey_goal(&self, context: &ActionContext<'_>, prey: &SeenAgent) -> Option<PathGoal> {
        let visible = prey.visible();
        let is_seen = visible.is_some();
        let was_there =
            prey.position_m.distance(context.motion.position_m) < 2.0 * context.radius_m;
        if !is_seen && (prey.age_secs > self.memory_secs || was_there) {
            return None;
        }
        Some(PathGoal {
            position_m: prey.position_m,
            terrace: terrace_of(
                context,
                visible.and_then(|seen| seen.agent),
                prey.position_m,
            ),
            velocity_mps: if is_seen {
                prey.velocity_mps
            } else {
                Vec3::ZERO
            },
            is_moving: is_seen,
            is_seen,
        })
    }

    /// Returns the prey that the agent touches.
    fn touched(&self, context: &ActionContext<'_>) -> Option<u32> {
        let prey = context.remembered.prey.visible();
        let touched = prey.filter(|seen| {
            let reach_m = context.radius_m + seen.radius_m;
            self.target == NavigateTarget::Prey
                && seen.position_m.distance(context.motion.position_m) < reach_m
        });
        touched.and_then(|seen| seen.agent)
    }
}

/// Returns the terrace of an agent or, without an agent, of a position. `None` if it is in no terrace.
fn terrace_of(context: &ActionContext<'_>, agent: Option<u32>, at: Vec3) -> Option<u16> {
    let world = context.world;
    let of_agent = agent.and_then(|agent| world.terraces.get(agent as usize).copied());
    of_agent
        .filter(|&terrace| terrace != IN_THE_AIR)
        .or_else(|| world.water.terrace_at(at))
}

impl Action for Navigate {
    type Memory = Box<PathMemory>;

    const CAPABILITIES: Capabilities = Capabilities {
        needs_paths: true,
        ..Capabilities::NONE
    };

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            hunts: self.target == NavigateTarget::Prey,
            ..Self::CAPABILITIES
        }
    }

    fn path_memory_mut(path: &mut Box<PathMemory>) -> Option<&mut PathMemory> {
        Some(path)
    }

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        self.target == NavigateTarget::Agent
    }

    fn built_in_relation(&self) -> Option<&'static str> {
        (self.target == NavigateTarget::Prey).then_some("prey")
    }

    fn follows_director(&self) -> bool {
        self.target == NavigateTarget::Director
    }

    fn propose(&self, context: &ActionContext<'_>, path: &mut Box<PathMemory>) -> Option<Proposal> {
        let Some(goal) = self.goal(context) else {
            **path = PathMemory::default();
            return None;
        };
        let catch = self.touched(context);
        let proposal = self.follow(context, path, goal);
        // An agent that touches its prey catches it, also if it knows no path.
        let proposal = proposal.or_else(|| catch.map(|_| Proposal::default()))?;
        Some(Proposal {
            catch,
            event: catch.map(|_| NeedEvent::Catch),
            ..proposal
        })
    }
}

impl Navigate {
    /// Requests a path and follows the last answer. Until the first answer, the agent steers straight at the goal. `None` if no
    /// path leads there, or if a take-off was refused.
    fn follow(
        &self,
        context: &ActionContext<'_>,
        path: &mut PathMemory,
        goal: PathGoal,
    ) -> Option<Proposal> {
        let full_boost = BoostRequest {
            scale: 1.0,
            hold_secs: 0.0,
            calm_secs: self.calm_secs,
        };
        let boost = self.use_boost.then_some(full_boost);
        let answer = path.answer.take();
        path.request = Some(PathRequest {
            goal,
            speed_mps: context.speed_mps(boost),
            params: self.search,
        });
        let (target_m, boost) = match answer.unwrap_or(PathAnswer::SwimToEnd(goal.position_m)) {
            PathAnswer::NoPath | PathAnswer::NotYet | PathAnswer::Refused(_) => return None,
            PathAnswer::Swim(to) | PathAnswer::SwimToEnd(to) => (to, boost),
            PathAnswer::RunUp(to) | PathAnswer::TakeOff(_, to) => (to, Some(full_boost)),
            PathAnswer::Arrived(at) | PathAnswer::Wait(at) => (at, None),
        };
        let rests = matches!(answer, Some(PathAnswer::Arrived(_) | PathAnswer::Wait(_)));
        let is_end = matches!(answer, None | Some(PathAnswer::SwimToEnd(_)));
        let stops = rests || (is_end && !goal.is_moving);
        let speed_mps = context.speed_mps(boost);
        let force = if stops {
            arrive(
                &context.motion,
                target_m,
                speed_mps,
                self.slowing_m.max(1e-3),
            )
        } else {
            seek(&context.motion, target_m, speed_mps)
        };
        Some(Proposal {
            force: force.unwrap_or_default(),
            goal_m: stops.then_some(target_m),
            boost,
            rests,
            follows_route: true,
            ..Proposal::default()
        })
    }
}
