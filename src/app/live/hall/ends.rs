//! The ends of the hall in its own stage, in the desk and in the simulation.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::board::HallBoard;
use super::hand_over::{DeskTask, FollowedTick, HallEvent, HallSender};
use super::tick_end::HallTicks;

/// Largest number of events that wait for the hall stage: some seconds.
const EVENTS_MAX: usize = 1024;
/// Largest number of ticks that wait for the simulation. The delay of the picture is at most a second.
const TICKS_MAX: usize = 512;
/// Largest number of tasks that wait for the desk.
const TASKS_MAX: usize = 64;

/// The end of the desk.
pub(crate) struct HallDesk {
    /// What is to be done.
    pub(crate) tasks: Receiver<DeskTask>,
    /// Receives applied commands.
    pub(crate) sender: HallSender,
    /// Shared values.
    pub(crate) board: Arc<HallBoard>,
}

/// The end of the hall stage.
pub(crate) struct HallEnds {
    pub(super) events: Receiver<HallEvent>,
    pub(super) messages: HallSender,
    pub(super) ticks: SyncSender<FollowedTick>,
    pub(super) desk: SyncSender<DeskTask>,
    pub(super) board: Arc<HallBoard>,
}

/// Creates the ends of hall stage, desk and simulation.
pub(crate) fn hall_ends() -> (HallEnds, HallDesk, HallTicks) {
    let (events, received) = sync_channel(EVENTS_MAX);
    let (ticks, followed) = sync_channel(TICKS_MAX);
    let (desk, tasks) = sync_channel(TASKS_MAX);
    let sender = HallSender::new(events);
    let board: Arc<HallBoard> = Arc::default();
    let ends = HallEnds {
        events: received,
        messages: sender.clone(),
        ticks,
        desk,
        board: Arc::clone(&board),
    };
    let desk = HallDesk {
        tasks,
        sender: sender.clone(),
        board: Arc::clone(&board),
    };
    (ends, desk, HallTicks::new(followed, sender, board))
}
