//! `startle`: the agent flees because a mate that it sees begins to flee.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::steering::steer_along;
use crate::world::RandomStream;

/// Flees when a mate begins to flee with a fast start: an agent of its own species or in one of the relations, within the field of
/// view. A fright so runs through a school from fish to fish, faster than any fish swims. It weakens from fish to fish and dies out.
/// **Source**: Chicoli & Paley 2016.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Startle {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations whose agents are mates, in addition to agents of the same species.
    pub relations: Vec<String>,
    /// Distance of a mate up to which its start can frighten the agent. Higher: a fright jumps over wide gaps between mates. Lower:
    /// it spreads only in a dense school.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub range_m: f32,
    /// Probability that the start of a mate directly beside the agent frightens it. It falls to zero at `range_m`. Higher: one
    /// start frightens the whole school. Lower: only a few mates flee; 0: none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub chance: f32,
    /// Strength of the fright as a share of that of the mate. The probability and the boost fall with it. Higher: the fright runs
    /// through the whole school with full force. Lower: it dies out after a few fish.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub passed_share: f32,
    /// Mean time from the start of the mate to that of the agent. Higher: the fright runs through the school as a visible wave.
    /// Lower: the whole school starts almost at once.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub delay_secs: f32,
    /// Duration of the flight. Higher: the school scatters widely. Lower: a short twitch.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub flight_secs: f32,
    /// Time in which the agent slows down from the full boost speed to the cruise speed. Higher: swims on fast for a while after
    /// the reason for its hurry is gone. Lower: is calm again almost at once.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub calm_secs: f32,
}

impl Default for Startle {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: vec!["friend".into()],
            range_m: 0.5,
            chance: 0.5,
            passed_share: 0.8,
            delay_secs: 0.06,
            flight_secs: 0.5,
            calm_secs: 1.0,
        }
    }
}

/// Largest random difference of a delay from the mean, as a share of it.
const DELAY_SPREAD: f32 = 0.5;

/// Share of the direction away from the mate in the direction of the flight. The rest is the new heading of the mate.
const APART_SHARE: f32 = 0.4;

/// A fright of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scare {
    /// Tick in which the flight begins.
    begins: u64,
    /// Tick in which it ends; 0: there was none.
    ends: u64,
    /// Strength, 0 to 1.
    strength: f32,
    /// Unit vector of the flight.
    away: Vec3,
}

impl Action for Startle {
    type Memory = Scare;

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn propose(&self, context: &ActionContext<'_>, scare: &mut Scare) -> Option<Proposal> {
        let tick = context.world.random.tick;
        if tick >= scare.ends {
            *scare = self.scare(context)?;
        }
        if tick < scare.begins {
            return None;
        }
        let boost = Some(BoostRequest {
            scale: scare.strength,
            hold_secs: 0.0,
            calm_secs: self.calm_secs,
        });
        Some(Proposal {
            force: steer_along(&context.motion, scare.away, context.speed_mps(boost))?,
            boost,
            flees: true,
            fright: scare.strength,
            ..Proposal::default()
        })
    }
}

impl Startle {
    /// Returns the fright by the first mate whose start frightens the agent in this tick. `None` if there is no such mate.
    fn scare(&self, context: &ActionContext<'_>) -> Option<Scare> {
        let world = context.world;
        let own = &world.agents.bodies[context.index];
        if world.starters.is_empty() || own.start.rest_secs > 0.0 {
            return None;
        }
        let names = context.species.species_bit | context.related;
        let ticks = |secs: f32| (secs / world.dt_secs).round() as u64;
        for &starter in world.starters {
            let seen = context.neighbors.iter().find(|other| {
                other.agent == starter && !other.is_shadow && other.name_bits & names != 0
            });
            let Some(mate) = seen else { continue };
            let nearness = 1.0 - mate.distance_m / self.range_m.max(1e-3);
            let body = &world.agents.bodies[starter as usize];
            let chance = self.chance * body.start.fright * nearness;
            let draw = |draw| {
                let random = &world.random;
                let mate = world.agents.ids[starter as usize];
                random.unit(
                    context.id(),
                    RandomStream::Startle,
                    mate.wrapping_mul(2) + draw,
                )
            };
            if draw(0) >= chance || !context.is_visible(mate) {
                continue;
            }
            // The mate has hardly turned yet: its new heading is the one to which it bends.
            let ahead = glam::Quat::from_axis_angle(body.up, body.start.bend_rad) * body.forward;
            let apart = -mate.offset_m / mate.distance_m;
            let away = ahead.lerp(apart, APART_SHARE);
            let delay_secs = self.delay_secs * (1.0 + DELAY_SPREAD * (2.0 * draw(1) - 1.0));
            let begins = world.random.tick + ticks(delay_secs);
            return Some(Scare {
                begins,
                ends: begins + ticks(self.flight_secs),
                strength: body.start.fright * self.passed_share,
                away: away.normalize_or(ahead),
            });
        }
        None
    }
}
