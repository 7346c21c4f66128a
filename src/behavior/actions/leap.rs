//! `leap`: go from terrace to terrace, up by leaping where one can, down by dropping.
//!
//! The action says where it wants to be; the simulation plans the way over the terraces and lets it fly.
//! **Source**: 5-navigation.md part C; 004.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, BoostRequest, Proposal};
use crate::behavior::context::ActionContext;
use crate::navigation::mesh::Step;
use crate::steering::seek;
use crate::world::TerraceParams;

/// Go from terrace to terrace. Not possible without terraces, where one is already, or where no way leads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Leap {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Where it wants to be.
    pub target: LeapTarget,
    /// How long it does other things where it has come to, before it sets out again.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub rest_secs: f32,
    /// Time from the speed of the run-up back to cruising.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
}

impl Default for Leap {
    fn default() -> Self {
        Self {
            weight: 1.0,
            target: LeapTarget::Tour,
            rest_secs: 10.0,
            calm_secs: 1.0,
        }
    }
}

/// Where it wants to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeapTarget {
    /// Up and down by turns; who cannot come up goes down alone.
    #[default]
    Tour,
    /// The highest terrace.
    Top,
    /// The lowest terrace.
    Bottom,
}

/// A way over terraces that is called for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClimbRequest {
    /// The terrace, as the scene counts them.
    pub terrace: u16,
    /// Where on it, (x, z).
    pub at_m: Vec2,
}

/// What an individual remembers of its way over terraces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClimbMemory {
    /// What was called for in this tick.
    #[serde(skip)]
    pub request: Option<ClimbRequest>,
    /// What was answered last.
    pub answer: Option<ClimbAnswer>,
    /// Whether it wants down, on a tour.
    descends: bool,
    /// How long it has still to rest.
    rest_secs: f32,
}

/// What a swimmer was told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClimbAnswer {
    /// What to do.
    pub step: Step,
    /// Height at which to swim.
    pub y_m: f32,
}

/// Place of the terrace whose water is highest, or lowest.
fn extreme(terraces: &[TerraceParams], lowest: bool) -> Option<usize> {
    let depth = |place: &usize| terraces[*place].surface_depth_m;
    let places = 0..terraces.len();
    if lowest {
        places.max_by(|a, b| depth(a).total_cmp(&depth(b)))
    } else {
        places.min_by(|a, b| depth(a).total_cmp(&depth(b)))
    }
}

impl Action for Leap {
    type Memory = ClimbMemory;

    fn propose(&self, context: &ActionContext<'_>, climbing: &mut ClimbMemory) -> Option<Proposal> {
        let terraces = &context.world.water.params.terraces;
        climbing.rest_secs -= context.world.dt_secs;
        let answer = climbing.answer.take();
        if matches!(
            answer.map(|answer| answer.step),
            Some(Step::There | Step::NoWay)
        ) {
            climbing.descends = !climbing.descends;
            climbing.rest_secs = self.rest_secs;
        }
        if climbing.rest_secs > 0.0 {
            return None;
        }
        let lowest = match self.target {
            LeapTarget::Tour => climbing.descends,
            LeapTarget::Top => false,
            LeapTarget::Bottom => true,
        };
        let terrace = extreme(terraces, lowest)?;
        climbing.request = Some(ClimbRequest {
            terrace: terrace as u16,
            at_m: terraces[terrace].middle_m(),
        });
        let answer = answer?;
        let (to, boost) = match answer.step {
            Step::Swim(to) => (to, None),
            Step::RunUp(to) | Step::TakeOff(_, to) => {
                let boost = BoostRequest {
                    scale: 1.0,
                    hold_secs: 0.0,
                    calm_secs: self.calm_secs,
                };
                (to, Some(boost))
            }
            Step::There | Step::NoWay | Step::NotNow => return None,
        };
        let target = Vec3::new(to.x, answer.y_m, to.y);
        Some(Proposal {
            force: seek(&context.motion, target, context.speed_mps(boost)).unwrap_or_default(),
            boost,
            ..Proposal::default()
        })
    }
}
