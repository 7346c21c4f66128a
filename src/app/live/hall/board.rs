//! What the stages of a node share about the hall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::control::HallStatus;
use crate::records::DocumentsCopy;

/// What the own simulation last did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The newest tick.
    pub(crate) tick: u64,
    /// The newest tick with a hash.
    pub(crate) hash_tick: u64,
    /// Hash of the pool after that tick.
    pub(crate) hash: u64,
    /// Whether the hash was the same as that of the leader.
    pub(crate) is_equal: bool,
    /// Whether the pool swims on its own because the ticks of the leader do not arrive.
    pub(crate) is_adrift: bool,
}

/// The shared values.
#[derive(Debug)]
pub(crate) struct HallBoard {
    follows: AtomicBool,
    wants_state: AtomicBool,
    is_lost: AtomicBool,
    leader_is_still: AtomicBool,
    /// The documents, for nodes that join.
    pub(crate) documents: DocumentsCopy,
    seen: Mutex<Seen>,
    status: Mutex<HallStatus>,
}

impl Default for HallBoard {
    fn default() -> Self {
        Self {
            follows: AtomicBool::new(false),
            wants_state: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            leader_is_still: AtomicBool::new(false),
            documents: DocumentsCopy::default(),
            seen: Mutex::new(Seen {
                tick: 0,
                hash_tick: 0,
                hash: 0,
                is_equal: true,
                is_adrift: false,
            }),
            status: Mutex::default(),
        }
    }
}

impl HallBoard {
    /// Whether the simulation follows another node.
    pub(crate) fn follows(&self) -> bool {
        self.follows.load(Ordering::Acquire)
    }

    pub(super) fn set_follows(&self, follows: bool) {
        self.follows.store(follows, Ordering::Release);
    }

    /// Whether the pool of the leader stands still on purpose.
    pub(crate) fn leader_is_still(&self) -> bool {
        self.leader_is_still.load(Ordering::Relaxed)
    }

    pub(super) fn set_leader_is_still(&self, is_still: bool) {
        self.leader_is_still.store(is_still, Ordering::Relaxed);
    }

    pub(super) fn want_state(&self) {
        self.wants_state.store(true, Ordering::Relaxed);
    }

    /// Whether the pool is to be saved after this tick.
    pub(super) fn take_wants_state(&self) -> bool {
        self.wants_state.swap(false, Ordering::Relaxed)
    }

    /// The own pool is not that of the leader, so its state is needed.
    pub(crate) fn set_lost(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    pub(super) fn take_lost(&self) -> bool {
        self.is_lost.swap(false, Ordering::Relaxed)
    }

    /// Returns what the own simulation last did.
    pub(crate) fn seen(&self) -> Seen {
        *self.seen.lock()
    }

    /// Changes what the own simulation last did.
    pub(crate) fn see(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock());
    }

    pub(super) fn set_status(&self, status: HallStatus) {
        *self.status.lock() = status;
    }

    /// Returns name and leader of the hall in words: why a follower rejects a change.
    pub(crate) fn refusal(&self) -> String {
        let status = self.status.lock();
        let leader = match status.leader.as_str() {
            "" => "another node",
            leader => leader,
        };
        format!("this node follows {leader}; change the pool in the panel of that node")
    }
}

/// Returns the status of the hall; `None` outside of a hall.
pub(crate) fn hall_status(board: Option<&Arc<HallBoard>>) -> Option<HallStatus> {
    board.map(|board| board.status.lock().clone())
}
