//! `stay_with_mother`: the agent keeps a position beside its mother.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::steering::{OtherVehicle, arrive, offset_pursue};

/// Keeps a position beside the nearest agent in the relation `mother`. Can be executed while a mother is in sight or
/// remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StayWithMother {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Position relative to the mother, in meters, as `[aside, above, ahead]`. Agents with odd ids swim on the mother's other side.
    /// Higher: farther beside, above or ahead of the mother. Lower: nearer to her; below 0, under or behind her.
    pub offset_m: [f32; 3],
    /// Largest random offset of each child from this position, so that the children do not crowd. Higher: a loose group around the
    /// mother. Lower: all children swim at one place and crowd.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub spread_m: f32,
    /// Distance from its position beside the mother within which the agent slows down. Higher: brakes early and drifts softly into
    /// its place. Lower: comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
    /// Distance from the mother beyond which the agent uses boost. Higher: a child that falls behind takes its time. Lower: it
    /// sprints after its mother at once.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub hurry_m: f32,
    /// Time for which the agent swims to the position where it saw its mother last. Higher: searches for a lost mother for long.
    /// Lower: soon swims its own way.
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

/// Memory of the mother.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mother {
    /// Whether the agent has ever seen its mother.
    pub is_known: bool,
    /// Position where the agent saw the mother last.
    pub position_m: Vec3,
    /// Time since the agent saw the mother last.
    pub age_secs: f32,
}

impl Action for StayWithMother {
    type Memory = Mother;

    fn built_in_relation(&self) -> Option<&'static str> {
        Some("mother")
    }

    fn propose(&self, context: &ActionContext<'_>, memory: &mut Mother) -> Option<Proposal> {
        let names = context.species.relations.mother;
        let me = context.motion.position_m;
        let mothers = context
            .neighbors
            .iter()
            .filter(|n| n.name_bits & names != 0 && !n.is_shadow);
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
        let leader = OtherVehicle {
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
