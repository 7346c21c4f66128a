//! `seek`: the agent swims to a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::attraction::{Attention, Attraction, AttractionParams};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::behavior::visiting::{GATHERING_OUTSIDE_M, edge_length_m, place_at_edge};
use crate::steering::seek;
use crate::world::{GatheringVisitor, outline_at_depth, shadow_key};

/// Swims to a target. Can be executed whenever there is a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Seek {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Target that the agent swims to.
    pub target: SeekTarget,
    /// Target point in world space, `[x, y, z]`. Used if `target` is `point`.
    pub point_m: [f32; 3],
    /// Relations of the agents to swim to. Used if `target` is `agent`: the nearest visible agent in one of these
    /// relations is the target.
    pub relations: Vec<String>,
    /// Rest of an agent that has gathered around a visitor, and its personal differences. Used if `target` is `director`.
    pub attraction: AttractionParams,
}

impl Default for Seek {
    fn default() -> Self {
        Self {
            weight: 1.0,
            target: SeekTarget::Director,
            point_m: [0.0, -0.7, 0.0],
            relations: vec!["mother".into()],
            attraction: AttractionParams {
                hesitate_secs: 2.0,
                ..AttractionParams::default()
            },
        }
    }
}

/// Target that the agent swims to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeekTarget {
    /// The point `point_m`.
    Point,
    /// The nearest visible agent in one of the relations.
    Agent,
    /// The point where the director lets the species gather. Without such a point the action cannot be executed. With
    /// such a point, the action has at least the weight that the director gives. Around a visitor, only some agents gather
    /// at a time, outside the shadow.
    #[default]
    Director,
}

/// Time for which an agent of average patience stays with a visitor around whom the director lets it gather.
const STAY_SECS: f32 = 20.0;

/// Distance from its place within which a gathered agent uses up its interest.
const NEAR_M: f32 = 0.5;

impl Seek {
    /// Returns the proposal of an agent that gathers around a visitor. `None` if the visitor is gone, enough agents gather
    /// already, or this agent is not interested.
    fn gather_around(
        &self,
        context: &ActionContext<'_>,
        visitor: GatheringVisitor,
        attention: &mut Attention,
    ) -> Option<Proposal> {
        let shadows = &context.world.visitors.shadows;
        let shadow = shadows.iter().find(|shadow| shadow.id == visitor.id)?;
        let params = AttractionParams {
            share: visitor.share,
            ..self.attraction
        };
        let attraction = Attraction::new(&params, context);
        let key = shadow_key(shadow.id);
        if attention.target.is_some_and(|target| target != key) {
            attention.target = None;
        }
        let edge_m = edge_length_m(context, shadow);
        if !attraction.attends(context, attention, key, edge_m) {
            return None;
        }
        let at = context.motion.position_m;
        let seen = outline_at_depth(shadow, at, context.hull, context.world.water.scale(at.y));
        let place = place_at_edge(context, &attraction, (key, &seen), GATHERING_OUTSIDE_M);
        let stay_secs = attraction.patience_secs(STAY_SECS);
        let is_near = place.way_m < NEAR_M;
        if attraction.loses_interest(context, attention, (is_near, edge_m, stay_secs)) {
            attraction.leave(context, attention, 1.0);
            return None;
        }
        let force = seek(&context.motion, place.at_m, context.cruise_mps());
        Some(Proposal {
            attends: Some(key),
            ..Proposal::to(place.at_m, force.unwrap_or_default())
        })
    }
}

impl Action for Seek {
    type Memory = Attention;

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        self.target == SeekTarget::Agent
    }

    fn is_always_executable(&self) -> bool {
        self.target == SeekTarget::Point
    }

    fn follows_director(&self) -> bool {
        self.target == SeekTarget::Director
    }

    fn min_weight(&self, context: &ActionContext<'_>) -> f32 {
        let gathering = context.gathering();
        match (self.target, gathering) {
            (SeekTarget::Director, Some(gathering)) => gathering.weight,
            _ => 0.0,
        }
    }

    fn propose(&self, context: &ActionContext<'_>, attention: &mut Attention) -> Option<Proposal> {
        let target = match self.target {
            SeekTarget::Point => self.point_m.into(),
            SeekTarget::Agent => {
                let nearest = context.nearest_visible(context.related)?;
                context.motion.position_m + nearest.offset_m
            }
            SeekTarget::Director => {
                let gathering = context.gathering()?;
                if let Some(visitor) = gathering.visitor {
                    return self.gather_around(context, visitor, attention);
                }
                gathering.point_m
            }
        };
        let speed = context.cruise_mps();
        // If the agent is exactly on the target, there is no direction to the target. The action still counts as
        // executable.
        let force = seek(&context.motion, target, speed).unwrap_or_default();
        Some(Proposal::to(target, force))
    }
}
