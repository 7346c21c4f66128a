//! `stay_with_mother`: keep one's place beside the mother.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, BoostRequest, Proposal};
use crate::behavior::context::ActionContext;
use crate::steering::{Quarry, arrive, offset_pursue};

/// Keep a place beside the nearest of those to whom the relation `mother` goes. Possible while one is near, or remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StayWithMother {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Where its place is, in the mother's own frame: aside (every other child on the other side), above, ahead.
    pub offset_m: [f32; 3],
    /// How much children's places differ, so that they do not crowd.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub spread_m: f32,
    /// Distance from its place within which it slows down.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
    /// Distance beyond which it hurries.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub hurry_m: f32,
    /// How long it seeks a mother whom it has lost where it saw her last.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub memory_secs: f32,
}

impl Default for StayWithMother {
    fn default() -> Self {
        Self {
            weight: 1.0,
            offset_m: [0.3, 0.0, -0.2],
            spread_m: 0.15,
            slowing_m: 0.3,
            hurry_m: 0.6,
            memory_secs: 10.0,
        }
    }
}

/// Where the mother was last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mother {
    /// Whether there was one.
    pub is_known: bool,
    /// Where she was.
    pub position_m: Vec3,
    /// How long ago.
    pub age_secs: f32,
}

impl Action for StayWithMother {
    type Memory = Mother;

    fn propose(&self, context: &ActionContext<'_>, memory: &mut Mother) -> Option<Proposal> {
        let names = context.species.relations.mother;
        let me = context.motion.position_m;
        let mothers = context
            .neighbors
            .iter()
            .filter(|n| n.bits & names != 0 && !n.is_shadow);
        let nearest = mothers.min_by(|a, b| a.distance_m.total_cmp(&b.distance_m));
        let Some(mother) = nearest else {
            memory.age_secs += context.world.dt_secs;
            if !memory.is_known || memory.age_secs > self.memory_secs {
                return None;
            }
            let force = arrive(
                &context.motion,
                memory.position_m,
                context.cruise_mps(),
                self.slowing_m,
            )?;
            return Some(Proposal::force(force));
        };
        let leader = Quarry {
            position_m: me + mother.offset_m,
            velocity_mps: context.velocity_mps(mother),
            forward: mother.forward,
        };
        *memory = Mother {
            is_known: true,
            position_m: leader.position_m,
            age_secs: 0.0,
        };
        let draw = |axis| context.own_draw(axis) * self.spread_m;
        let side = if context.id().is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        let [aside, above, ahead] = self.offset_m;
        let offset = Vec3::new(
            side * aside + draw(0),
            above + draw(1) * 0.5,
            ahead + draw(2),
        );
        let boost = (mother.distance_m > self.hurry_m).then_some(BoostRequest {
            scale: 0.5,
            hold_secs: 0.0,
            calm_secs: 0.8,
        });
        let speed = context.speed_mps(boost);
        Some(Proposal {
            boost,
            ..Proposal::force(offset_pursue(
                &context.motion,
                &leader,
                offset,
                speed,
                self.slowing_m,
            )?)
        })
    }
}
