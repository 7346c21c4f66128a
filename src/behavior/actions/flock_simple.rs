//! `flock_simple`: the agent schools by simple rules, on its way to a goal, with or without a leader.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, ParamFinding};
use crate::behavior::context::ActionContext;
use crate::behavior::perception::Neighbor;
use crate::behavior::proposal::Proposal;
use crate::steering::{Schoolmate, SimpleSchoolRules, steer_along};
use crate::world::{Intent, Random, RandomStream};

/// Schools by simple rules: the agent swims to its goal. If the center of the school is too far away, it swims back
/// to the center. If the nearest mate is too near, it turns away from the mate. Otherwise it takes the average of the
/// headings that nearby mates want. Can always be executed. **Source**: Flocking tutorial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlockSimple {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Goals in world space, `[x, y, z]`, visited in turn. Agents begin with different goals, so the school splits into
    /// smaller schools with different goals. If there is only one goal, the agent stops there. Without a goal
    /// it swims straight on.
    pub goals_m: Vec<[f32; 3]>,
    /// Value of the leader (its goal or its position) that replaces the agent's own goals.
    pub leader: Leader,
    /// Relations of leaders: the nearest agent in one of these relations is the leader. Leaders are flock mates, like
    /// agents of the same species.
    pub relations: Vec<String>,
    /// The flock mates whose mean position is the center of the school.
    pub centroid: Centroid,
    /// Distance from the center of the school beyond which the agent turns back to it. Higher: a wide, loose school. Lower: a tight
    /// one that turns back to its center often.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub cohesion_m: f32,
    /// Radius within which mates count for the center if `centroid` is `individual`. Use more than `cohesion_m`; otherwise the
    /// agent is never too far from the center. Higher: the whole pool draws together to one school. Lower: several small schools,
    /// each with a center of its own.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub centroid_radius_m: f32,
    /// Distance to the nearest mate below which the agent turns away from it. Higher: large gaps between mates. Lower: a dense
    /// school in which bodies may touch.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub separation_m: f32,
    /// Distance of the point to which the agent steers when it turns away from a mate, as a multiple of the distance of the mate.
    /// Higher: swims on when a mate is very near. Lower: an agent that almost touches a mate stops, because that point is within
    /// `stop_m`.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub separation_reach: f32,
    /// Radius within which the wanted headings of mates are averaged with the agent's own wanted heading. Higher: far mates turn
    /// together. Lower: each swims its own way; 0: no mate counts.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub alignment_radius_m: f32,
    /// Cosine of the angle between heading and wanted heading above which the agent swims straight on. Higher: corrects its course
    /// all the time, in smooth curves. Lower: swims straight on for long, then turns by a large angle; 0.95 is 18 degrees.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub aligned_cos: f32,
    /// Distance from the goal at which the agent stops, or continues to the next goal. Higher: turns to the next goal far from the
    /// current one. Lower: must meet the goal closely, and may circle around it.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub stop_m: f32,
}

/// Value of the leader that replaces an agent's own goals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Leader {
    /// None. Every agent has its own goals.
    #[default]
    Nobody,
    /// The leader's goal.
    Goal,
    /// The leader's position.
    Position,
}

/// The flock mates whose mean position is the center of the school.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Centroid {
    /// Mates within `centroid_radius_m`.
    #[default]
    Individual,
    /// All mates in sight.
    Common,
}

impl Default for FlockSimple {
    /// **Source**: Flocking tutorial. The tutorial gives squared distances (100, 20, 10, 0.3). Here one unit of its
    /// length is 0.1 m. `centroid_radius_m` is 2 m instead of the tutorial's 0.5 m: the center of mates within 0.5 m
    /// can never be 1 m away.
    fn default() -> Self {
        Self {
            weight: 1.0,
            goals_m: Vec::new(),
            leader: Leader::Nobody,
            relations: vec!["leader".into()],
            centroid: Centroid::Individual,
            cohesion_m: 1.0,
            centroid_radius_m: 2.0,
            separation_m: 0.447,
            separation_reach: 50.0,
            alignment_radius_m: 0.316,
            aligned_cos: 0.95,
            stop_m: 0.055,
        }
    }
}

/// Progress along the list of goals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Number of goals that the agent has reached.
    pub goal: u32,
}

impl Action for FlockSimple {
    type Memory = Progress;

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn warnings(&self, name: &str) -> Option<ParamFinding> {
        let is_useless =
            self.centroid == Centroid::Individual && self.centroid_radius_m <= self.cohesion_m;
        is_useless.then(|| ParamFinding {
            key: "centroid_radius_m",
            message: format!(
                "the center of mates within {} m is never {} m away, so '{name}' does not keep the school together; raise \
                 this value or lower cohesion_m",
                self.centroid_radius_m, self.cohesion_m
            ),
        })
    }

    fn propose(&self, context: &ActionContext<'_>, progress: &mut Progress) -> Option<Proposal> {
        let motion = &context.motion;
        let at = motion.position_m;
        let speed = context.cruise_mps();
        let led_to = self.led_to(context);
        let own = led_to.or_else(|| self.own_goal(context, progress));
        // Without a goal the agent aims at a point straight ahead that it never reaches.
        let goal = own.unwrap_or(at + motion.forward * (speed + 2.0 * self.stop_m));
        let rules = SimpleSchoolRules {
            cohesion_m: self.cohesion_m,
            centroid_radius_m: match self.centroid {
                Centroid::Individual => self.centroid_radius_m,
                Centroid::Common => f32::INFINITY,
            },
            separation_m: self.separation_m,
            separation_reach: self.separation_reach,
            alignment_radius_m: self.alignment_radius_m,
            aligned_cos: self.aligned_cos,
            stop_m: self.stop_m,
        };
        let bodies = &context.world.agents.bodies;
        let mates = mates(context).filter_map(|other| {
            let intent = bodies.get(other.agent as usize)?.intent;
            Some(Schoolmate {
                offset_m: other.offset_m,
                heading: intent.heading,
                // Mates with another goal belong to another part of the school.
                is_in_school: led_to.is_some() || intent.goal_m.is_none() || intent.goal_m == own,
            })
        });
        let wish = rules.apply(motion.forward, goal - at, mates);
        let speed = if wish.stops { 0.0 } else { speed };
        Some(Proposal {
            intent: Some(Intent {
                heading: wish.heading,
                goal_m: own,
                attends: None,
                hunts: false,
            }),
            ..Proposal::force(steer_along(motion, wish.course, speed)?)
        })
    }
}

impl FlockSimple {
    /// Returns the goal that the leader gives. `None` if no leader is in sight, or if the agent follows no leader.
    fn led_to(&self, context: &ActionContext<'_>) -> Option<Vec3> {
        if self.leader == Leader::Nobody {
            return None;
        }
        let leader = context
            .neighbors
            .iter()
            .filter(|other| other.name_bits & context.related != 0 && !other.is_shadow)
            .min_by(|a, b| a.distance_m.total_cmp(&b.distance_m))?;
        let position = context.motion.position_m + leader.offset_m;
        let goal = context.world.agents.bodies.get(leader.agent as usize);
        match self.leader {
            Leader::Goal => goal.and_then(|body| body.intent.goal_m).or(Some(position)),
            _ => Some(position),
        }
    }

    /// If the agent has reached its current goal, makes the next one current. Then returns the current goal; `None` if there
    /// are no goals.
    fn own_goal(&self, context: &ActionContext<'_>, progress: &mut Progress) -> Option<Vec3> {
        let count = self.goals_m.len() as u32;
        if count == 0 {
            return None;
        }
        // Members choose in turn, from a random goal on, so that the parts of a school are equally large.
        let random = Random {
            tick: 0,
            ..context.world.random
        };
        let draw = random.unit(0, RandomStream::Goal, 0);
        let first = ((draw * count as f32) as u32 + context.id() % count) % count;
        let goal = |reached: u32| Vec3::from(self.goals_m[((first + reached) % count) as usize]);
        if goal(progress.goal).distance(context.motion.position_m) < self.stop_m {
            progress.goal = (progress.goal + 1) % count;
        }
        Some(goal(progress.goal))
    }
}

/// Returns the flock mates in sight: agents of the same species, and leaders.
fn mates<'v>(context: &'v ActionContext<'v>) -> impl Iterator<Item = &'v Neighbor> + Clone {
    let names = context.species.species_bit | context.related;
    context
        .neighbors
        .iter()
        .filter(move |other| other.name_bits & names != 0 && !other.is_shadow)
        .filter(|other| context.shares_water(other))
}
