//! The end of the hall in the simulation stage.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::board::HallBoard;
use super::hand_over::{FollowedTick, HallEvent, HallSender};
use crate::geometry::Visitor;
use crate::records::{SessionEntry, pool_hash};
use crate::simulation::Simulation;
use crate::world::{Observation, Snapshot};

/// The end of the hall in the simulation stage.
pub(crate) struct HallTicks {
    followed: Receiver<FollowedTick>,
    sender: HallSender,
    /// Shared values.
    pub(crate) board: Arc<HallBoard>,
}

/// The pool after a tick of this node.
pub(crate) struct OwnTick<'a> {
    pub(crate) simulation: &'a Simulation,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) due: Instant,
    /// Number of the newest command that the pool contains.
    pub(crate) revision: u64,
    /// What the pool sees.
    pub(crate) observation: &'a Observation,
}

impl HallTicks {
    pub(super) fn new(
        followed: Receiver<FollowedTick>,
        sender: HallSender,
        board: Arc<HallBoard>,
    ) -> Self {
        Self {
            followed,
            sender,
            board,
        }
    }

    /// Waits a moment for the next tick of the leader.
    pub(crate) fn next(&self, wait: Duration) -> Option<FollowedTick> {
        self.followed.recv_timeout(wait).ok()
    }

    /// Publishes that the pool applied commands before its next tick.
    pub(crate) fn applied(&self, tick: u64, revision: u64) {
        self.sender.entry(SessionEntry::Applied { tick, revision });
    }

    /// Publishes what the pool sees from its next tick on.
    pub(crate) fn observed(&self, tick: u64, from: &Observation) {
        let observation = written(from);
        self.sender
            .entry(SessionEntry::Observed { tick, observation });
    }

    /// Publishes a tick of this node, and its pool if another node needs it.
    pub(crate) fn ticked(&self, own: &OwnTick<'_>) {
        let tick = own.simulation.tick();
        let hash = is_hash_tick(own.simulation).then(|| pool_hash(own.snapshot));
        self.board.see(|seen| {
            (seen.tick, seen.is_adrift) = (tick, false);
            if let Some(hash) = hash {
                (seen.hash_tick, seen.hash, seen.is_equal) = (tick, hash, true);
            }
        });
        let due = own.due;
        self.sender.event(HallEvent::Tick { tick, due, hash });
        if self.board.take_wants_state()
            && let Ok(state) = own.simulation.save()
        {
            self.sender.event(HallEvent::State {
                tick,
                revision: own.revision,
                state,
                observation: written(own.observation),
            });
        }
    }
}

/// Returns a copy without visitors that have numbers that are not finite: they cannot be written, and the pool ignores them.
fn written(from: &Observation) -> Observation {
    let mut observation = Observation {
        time_secs: from.time_secs,
        ..Observation::default()
    };
    let shadows = from.shadows.iter().filter(|visitor| visitor.is_finite());
    Visitor::copy_all(&mut observation.shadows, shadows);
    observation
}

/// Whether the hash of the pool is compared after this tick: once per second.
pub(crate) fn is_hash_tick(simulation: &Simulation) -> bool {
    let ticks_per_hash = (1.0 / simulation.dt_secs()).round().max(1.0) as u64;
    simulation.tick().is_multiple_of(ticks_per_hash)
}
