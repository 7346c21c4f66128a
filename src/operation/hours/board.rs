//! What the schedule stage and others exchange.
//!
//! In: tables and steps, from the desk; the status, from the stage. Out: the same to the other side. Must not: decide about a state.

use jiff::tz::TimeZone;
use parking_lot::Mutex;

use super::params::ScheduleParams;
use crate::control::{ScheduleStatus, ScheduleStep};

/// Largest number of steps that wait.
const STEPS_MAX: usize = 64;

/// What the schedule stage and others exchange: the desk sends tables and steps, the status and the counts read.
#[derive(Debug)]
pub struct ScheduleBoard {
    inbox: Mutex<Inbox>,
    status: Mutex<ScheduleStatus>,
    zone: Mutex<TimeZone>,
}

impl Default for ScheduleBoard {
    fn default() -> Self {
        Self {
            inbox: Mutex::default(),
            status: Mutex::default(),
            zone: Mutex::new(TimeZone::UTC),
        }
    }
}

/// What the stage has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) params: Option<ScheduleParams>,
    /// Steps in the order in which they were requested.
    pub(super) steps: Vec<ScheduleStep>,
}

impl ScheduleBoard {
    /// Creates a board with the table of the site.
    pub fn new(params: ScheduleParams) -> Self {
        let board = Self::default();
        board.set_params(params);
        board
    }

    /// Replaces the table.
    pub fn set_params(&self, params: ScheduleParams) {
        self.inbox.lock().params = Some(params);
    }

    /// Requests a step. Those that the stage has not taken yet are done one after the other.
    ///
    /// # Errors
    /// If the step is impossible now, or too many wait, the reason.
    pub fn request(&self, step: ScheduleStep) -> Result<(), &'static str> {
        let mut inbox = self.inbox.lock();
        let is_by_hand = match inbox.steps.last() {
            Some(ScheduleStep::Resume) => false,
            Some(ScheduleStep::ByHand { .. } | ScheduleStep::End) => true,
            None => self.status.lock().by_hand.is_some(),
        };
        if matches!(step, ScheduleStep::Resume | ScheduleStep::End) && !is_by_hand {
            return Err("no state is set by hand, so the plan applies already");
        }
        if inbox.steps.len() == STEPS_MAX {
            return Err("too many changes of what is shown are waiting; try again in a moment");
        }
        inbox.steps.push(step);
        Ok(())
    }

    /// Returns the status.
    pub fn status(&self) -> ScheduleStatus {
        self.status.lock().clone()
    }

    /// Returns the time zone of the hours; UTC before the first step.
    pub fn zone(&self) -> TimeZone {
        self.zone.lock().clone()
    }

    /// Takes what was sent since the last step.
    pub(super) fn take(&self) -> Inbox {
        std::mem::take(&mut *self.inbox.lock())
    }

    /// Publishes the status and the zone of the hours.
    pub(super) fn publish(&self, status: ScheduleStatus, zone: &TimeZone) {
        *self.status.lock() = status;
        *self.zone.lock() = zone.clone();
    }
}
