//! `flock_simple`: a school by simple rules, on its way to a goal, with or without a leader.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::{ActionContext, Neighbor};
use crate::steering::{Mate, SimpleRules, head};
use crate::world::Intent;

/// School by simple rules: to a goal, to the middle of the school where that is far, away from the nearest where that is
/// near; turn as the near ones want to. Always possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlockSimple {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Goals in world space, `[x, y, z]`, visited in turn; at a single one it stops. None: it swims on as it is.
    pub goals_m: Vec<[f32; 3]>,
    /// What it takes from its leader instead of goals of its own.
    pub leader: Leader,
    /// The nearest in one of these relations is its leader. They belong to the school like those of the own species.
    pub relations: Vec<String>,
    /// Whose middle keeps the school together.
    pub centroid: Centroid,
    /// Farther than this from the middle it turns back to it.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub cohesion_m: f32,
    /// Others within this count for an individual middle; more than `cohesion_m`, or nobody is ever too far from it.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub centroid_radius_m: f32,
    /// Nearer than this to the nearest it turns away from it.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub separation_m: f32,
    /// How many times that distance it then wants to go off.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub separation_reach: f32,
    /// Wanted headings of others within this are averaged with its own.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub alignment_radius_m: f32,
    /// Cosine of the angle to the wanted heading from which on it swims straight on.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub aligned_cos: f32,
    /// Within this of its goal it stops, or takes the next.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub stop_m: f32,
}

/// What a leader gives to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Leader {
    /// Nothing: everybody has goals of its own.
    #[default]
    Nobody,
    /// Its goal.
    Goal,
    /// Its position.
    Position,
}

/// Whose middle keeps a school together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Centroid {
    /// That of the near.
    #[default]
    Individual,
    /// That of all in sight.
    Common,
}

impl Default for FlockSimple {
    /// **Source**: the numbers of seed 002, which are squares (100, 20, 10, 0.3), at 0.1 m for its unit of length; the
    /// individual middle is taken over 2 m instead of its 0.5 m, within which it cannot be 1 m away.
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

/// Which of its goals one is on the way to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Place in the list.
    pub goal: u32,
}

impl Action for FlockSimple {
    type Memory = Progress;

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn propose(&self, context: &ActionContext<'_>, progress: &mut Progress) -> Option<Proposal> {
        let motion = &context.motion;
        let at = motion.position_m;
        let speed = context.cruise_mps();
        let led_to = self.led_to(context);
        let own = led_to.or_else(|| self.own_goal(at, progress));
        // Without a goal it is always on its way to somewhere ahead.
        let goal = own.unwrap_or(at + motion.forward * (speed + 2.0 * self.stop_m));
        let rules = SimpleRules {
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
            Some(Mate {
                offset_m: other.offset_m,
                heading: bodies.get(other.agent as usize)?.intent.heading,
            })
        });
        let wish = rules.apply(motion.forward, goal - at, mates);
        let speed = if wish.stops { 0.0 } else { speed };
        Some(Proposal {
            intent: Some(Intent {
                heading: wish.heading,
                goal_m: own,
            }),
            ..Proposal::force(head(motion, wish.course, speed)?)
        })
    }
}

impl FlockSimple {
    /// Where the leader sends it; `None` without a leader in sight.
    fn led_to(&self, context: &ActionContext<'_>) -> Option<Vec3> {
        if self.leader == Leader::Nobody {
            return None;
        }
        let leader = context
            .neighbors
            .iter()
            .filter(|other| other.bits & context.related != 0 && !other.is_shadow)
            .min_by(|a, b| a.distance_m.total_cmp(&b.distance_m))?;
        let position = context.motion.position_m + leader.offset_m;
        let goal = context.world.agents.bodies.get(leader.agent as usize);
        match self.leader {
            Leader::Goal => goal.and_then(|body| body.intent.goal_m).or(Some(position)),
            _ => Some(position),
        }
    }

    /// Its own goal of now; the next one where it is there.
    fn own_goal(&self, at: Vec3, progress: &mut Progress) -> Option<Vec3> {
        let goal = |place: u32| {
            let count = self.goals_m.len();
            (count > 0).then(|| Vec3::from(self.goals_m[place as usize % count]))
        };
        if goal(progress.goal)?.distance(at) < self.stop_m {
            progress.goal = (progress.goal + 1) % self.goals_m.len() as u32;
        }
        goal(progress.goal)
    }
}

/// Its school: its own species and those it has for leaders.
fn mates<'v>(context: &ActionContext<'v>) -> impl Iterator<Item = &'v Neighbor> + Clone {
    let names = context.species.own_bit | context.related;
    context
        .neighbors
        .iter()
        .filter(move |other| other.bits & names != 0 && !other.is_shadow)
}
