//! `navigate`: the agent finds a path to a target around obstacles.
//!
//! The action requests a path and steers to the point in the last answer. In each tick, after all agents have decided
//! and before they move, the simulation advances all searches. In a pool with terraces, the path leads over the mesh of the
//! terraces, with leaps and drops. **Source**: Dahlberg & Viktorsson 2002; Lischka 2014.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::climb::{Climb, ClimbRequest};
use crate::behavior::context::ActionContext;
use crate::behavior::perception_memory::SeenAgent;
use crate::behavior::proposal::{BoostRequest, NeedEvent, Proposal};
use crate::behavior::visiting::gathering_goal_m;
use crate::navigation::{
    FloorRect, Guidance, PathGoal, PathMemory, PathRequest, PathStatus, SearchParams, WaypointKind,
};
use crate::steering::{arrive, seek};
use crate::world::IN_THE_AIR;

/// Finds a path to a target around obstacles and, by leaps and drops, in other terraces. Cannot be executed without a target,
/// or if no path leads there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Navigate {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Target that the agent swims to.
    pub target: NavigateTarget,
    /// Target point in world space, `[x, y, z]`. Used if `target` is `point`.
    pub point_m: [f32; 3],
    /// Relations of the agents to swim to. Used if `target` is `agent`: the nearest visible agent in one of these
    /// relations is the target.
    pub relations: Vec<String>,
    /// Time for which the agent continues to the position where it saw prey last.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub memory_secs: f32,
    /// Whether the agent uses boost.
    pub use_boost: bool,
    /// Time in which the agent slows down from the full boost speed to the cruise speed.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
    /// Distance from a standing target within which the agent slows down.
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

/// Paths of an agent that navigates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voyage {
    /// Path on a grid, in a pool without terraces.
    pub path: PathMemory,
    /// Route over terraces.
    pub climb: Climb,
}

impl Navigate {
    fn goal(&self, context: &ActionContext<'_>) -> Option<PathGoal> {
        let fixed = |position_m: Vec3| PathGoal {
            position_m,
            is_seen: true,
            ..PathGoal::default()
        };
        match self.target {
            NavigateTarget::Point => Some(fixed(self.point_m.into())),
            NavigateTarget::Director => Some(fixed(gathering_goal_m(context)?)),
            NavigateTarget::Agent => {
                let nearest = context.nearest_visible(context.related)?;
                Some(PathGoal {
                    position_m: context.motion.position_m + nearest.offset_m,
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
        let is_seen = prey.visible().is_some();
        let was_there =
            prey.position_m.distance(context.motion.position_m) < 2.0 * context.radius_m;
        if !is_seen && (prey.age_secs > self.memory_secs || was_there) {
            return None;
        }
        Some(PathGoal {
            position_m: prey.position_m,
            velocity_mps: if is_seen {
                prey.velocity_mps
            } else {
                Vec3::ZERO
            },
            is_moving: is_seen,
            is_seen,
        })
    }

    /// Returns the terrace of the target; `None` if the target is in no terrace.
    fn terrace(&self, context: &ActionContext<'_>, goal: &PathGoal) -> Option<u16> {
        let world = context.world;
        let agent = match self.target {
            NavigateTarget::Agent => {
                let nearest = context.nearest_visible(context.related);
                nearest.map(|other| other.agent)
            }
            NavigateTarget::Prey => context
                .remembered
                .prey
                .visible()
                .and_then(|seen| seen.agent),
            NavigateTarget::Point | NavigateTarget::Director => None,
        };
        let of_agent = agent.and_then(|agent| world.terraces.get(agent as usize).copied());
        of_agent
            .filter(|&terrace| terrace != IN_THE_AIR)
            .or_else(|| world.water.terrace_at(goal.position_m))
    }

    /// Requests a route over the terraces and follows the last answer. `None` if the agent cannot get to its goal.
    fn travel(
        &self,
        context: &ActionContext<'_>,
        climb: &mut Climb,
        goal: &PathGoal,
    ) -> Option<Proposal> {
        let answer = climb.answer.take();
        let wanted = self.terrace(context, goal);
        climb.request = Some(ClimbRequest {
            terrace: wanted,
            at_m: Vec2::new(goal.position_m.x, goal.position_m.z),
        });
        let answer = answer?;
        let me = context.motion.position_m;
        let boost = |is_on: bool| {
            is_on.then_some(BoostRequest {
                scale: 1.0,
                hold_secs: 0.0,
                calm_secs: self.calm_secs,
            })
        };
        let own = *context.world.terraces.get(context.index)?;
        let is_same = own == answer.goal.terrace;
        let (low, high) = context
            .world
            .terrace(context.index)?
            .y_range_m(context.radius_m);
        let depth_m = if is_same { goal.position_m.y } else { me.y };
        let level = |to: Vec2| Vec3::new(to.x, depth_m.clamp(low, high), to.y);
        let is_near = goal.is_moving
            && goal.is_seen
            && wanted == Some(own)
            && goal.position_m.distance(me) <= self.search.pursue_distance_m;
        if is_near {
            let boost = boost(self.use_boost);
            return Some(Proposal {
                boost,
                force: seek(&context.motion, goal.position_m, context.speed_mps(boost))
                    .unwrap_or_default(),
                follows_route: true,
                ..Proposal::default()
            });
        }
        let (target_m, boost) = match answer.step {
            Guidance::Swim(to) => (level(to), boost(self.use_boost)),
            Guidance::RunUp(to) | Guidance::TakeOff(_, to) => {
                (Vec3::new(to.x, answer.y_m, to.y), boost(true))
            }
            Guidance::Arrived => {
                let end_m = level(answer.goal.at_m);
                let speed = context.speed_mps(None);
                let force = arrive(&context.motion, end_m, speed, self.slowing_m.max(1e-3));
                return Some(Proposal {
                    rests: true,
                    follows_route: true,
                    ..Proposal::to(end_m, force.unwrap_or_default())
                });
            }
            Guidance::NoPath | Guidance::NotYet => return None,
        };
        Some(Proposal {
            force: seek(&context.motion, target_m, context.speed_mps(boost)).unwrap_or_default(),
            boost,
            follows_route: true,
            ..Proposal::default()
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

    fn request(&self, context: &ActionContext<'_>, goal: PathGoal, speed_mps: f32) -> PathRequest {
        let at_m = context.motion.position_m;
        let water = &context.world.water;
        // The visible area is wider at greater depth. The path stays within the visible area at the shallower of its
        // two ends.
        let half = water.edge_half_m(at_m.y.max(goal.position_m.y));
        let far = Vec2::new(at_m.x, at_m.z);
        let edge = FloorRect {
            low_m: (-half).min(far),
            high_m: half.max(far),
        };
        PathRequest {
            id: u64::from(context.id()),
            at_m,
            speed_mps,
            radius_m: context.radius_m,
            goal,
            bounds: edge,
            params: self.search,
        }
    }
}

impl Action for Navigate {
    type Memory = Box<Voyage>;

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

    fn path_memory_mut(memory: &mut Box<Voyage>) -> Option<&mut PathMemory> {
        Some(&mut memory.path)
    }

    fn climb_mut(memory: &mut Box<Voyage>) -> Option<&mut Climb> {
        Some(&mut memory.climb)
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

    fn propose(&self, context: &ActionContext<'_>, memory: &mut Box<Voyage>) -> Option<Proposal> {
        let Some(goal) = self.goal(context) else {
            **memory = Voyage::default();
            return None;
        };
        let catch = self.touched(context);
        let proposal = if context.world.terraces.is_empty() {
            self.swim(context, &mut memory.path, &goal)
        } else {
            self.travel(context, &mut memory.climb, &goal)
        };
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
    /// Requests a path on a grid and follows the last answer. `None` if all searches have failed.
    fn swim(
        &self,
        context: &ActionContext<'_>,
        memory: &mut PathMemory,
        goal: &PathGoal,
    ) -> Option<Proposal> {
        let boost = self.use_boost.then_some(BoostRequest {
            scale: 1.0,
            hold_secs: 0.0,
            calm_secs: self.calm_secs,
        });
        let speed = context.speed_mps(boost);
        memory.request = Some(self.request(context, *goal, speed));
        let answer = memory.answer.unwrap_or_default();
        if answer.status == PathStatus::Unreachable {
            return None;
        }
        let target_m = match memory.answer {
            Some(answer) => answer.target_m,
            None => goal.position_m,
        };
        let stops = answer.waypoint != WaypointKind::Corner && !goal.is_moving;
        let force = if stops {
            arrive(&context.motion, target_m, speed, self.slowing_m.max(1e-3))
        } else {
            seek(&context.motion, target_m, speed)
        };
        Some(Proposal {
            force: force.unwrap_or_default(),
            goal_m: stops.then_some(target_m),
            boost,
            ..Proposal::default()
        })
    }
}
