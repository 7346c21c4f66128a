//! The speed limit of an agent: boosts, and the way back to cruise speed. **Source**: Jockel 2005, §4.2.1.

use crate::behavior::{BoostRequest, Proposal};
use crate::world::{BoostState, MotionParams};

/// Motion of a body in the tick in which its speed limit changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Speed before the tick.
    pub(super) speed_mps: f32,
    /// Largest loss of speed in the tick, by the largest force of the species.
    pub(super) brake_mps: f32,
    /// Length of the tick.
    pub(super) dt_secs: f32,
}

/// Returns the boost state after the tick, with the new speed limit.
///
/// The stronger of the new request and the boost that is still held sets the limit. If there is neither, the limit falls from
/// the actual speed of the body by (boost speed − cruise speed) / `calm_secs` per second. While the limit falls from a stronger
/// boost, a weaker request does not lower it further. The limit never falls faster than the body can brake, whatever an effect or
/// an edit of the species changes.
pub(super) fn next_boost(
    state: &BoostState,
    proposal: &Proposal,
    motion: &MotionParams,
    pace: Pace,
) -> BoostState {
    let next = requested(state, proposal.boost, motion, pace);
    let allowed_mps = next.allowed_mps.max(pace.speed_mps - pace.brake_mps);
    BoostState {
        allowed_mps,
        flees: proposal.flees || (state.flees && allowed_mps > motion.cruise_mps),
        ..next
    }
}

fn requested(
    state: &BoostState,
    request: Option<BoostRequest>,
    motion: &MotionParams,
    pace: Pace,
) -> BoostState {
    let dt = pace.dt_secs;
    let range = (motion.boost_mps - motion.cruise_mps).max(0.0);
    let speed_at = |scale: f32| motion.cruise_mps + scale.clamp(0.0, 1.0) * range;
    let calmed = if state.calm_secs > 0.0 {
        let fallen = state.allowed_mps.min(pace.speed_mps) - range / state.calm_secs * dt;
        fallen.max(motion.cruise_mps)
    } else {
        motion.cruise_mps
    };
    let holds = state.hold_secs > dt * 0.5;
    let held = holds.then_some(BoostRequest {
        scale: state.scale,
        hold_secs: state.hold_secs - dt,
        calm_secs: state.calm_secs,
    });
    let asked = match (request, held) {
        (Some(new), Some(old)) => new.stronger(old),
        (Some(new), None) => new,
        (None, Some(old)) => old,
        (None, None) => {
            return BoostState {
                allowed_mps: calmed,
                scale: 0.0,
                hold_secs: 0.0,
                ..*state
            };
        }
    };
    let allowed = speed_at(asked.scale);
    BoostState {
        allowed_mps: allowed.max(calmed),
        scale: asked.scale,
        hold_secs: asked.hold_secs.max(0.0),
        calm_secs: if calmed > allowed {
            state.calm_secs
        } else {
            asked.calm_secs
        },
        ..*state
    }
}
