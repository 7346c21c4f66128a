//! Decides when a projector is called, and which of its states is a fault.

use std::time::{Duration, Instant};

use crate::control::{ProjectorPower, ProjectorStatus};

/// Time between two calls while nothing changes.
const POLL_INTERVAL: Duration = Duration::from_secs(300);
/// Time until the next call after an order, or while the projector warms up or cools down. Some do not answer for 40 s.
const ORDER_PAUSE: Duration = Duration::from_secs(60);
/// Time until the next call after a wrong password. Some lock themselves after several attempts.
const PASSWORD_PAUSE: Duration = Duration::from_secs(600);
/// Time for which a projector may differ from what is wanted, or be silent.
const APART_MAX: Duration = Duration::from_secs(600);

/// What a machine does that has the address, but does not speak PJLink.
pub(super) const REFUSES_CONNECTION: &str =
    "it refuses the connection; is the address right, and PJLink switched on in its menu?";

/// What a call learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It answered. `was_ordered`: it was told to switch.
    Answered {
        power: ProjectorPower,
        was_ordered: bool,
    },
    /// It refuses the password.
    PasswordRefused,
    /// It did not answer, or nonsense.
    Silent,
    /// It refuses the connection: a machine has the address and is on, but does not speak PJLink.
    NoPjlink,
}

/// What is known of one projector.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeper {
    wanted: Option<bool>,
    next_call: Option<Instant>,
    /// Start of the time in which it was never seen as it is wanted.
    apart_since: Option<Instant>,
    is_password_refused: bool,
    is_silent: bool,
    refuses_connection: bool,
}

/// Whether the power is as it is wanted.
pub(super) fn is_as_wanted(power: ProjectorPower, wants_on: bool) -> bool {
    match power {
        ProjectorPower::On => wants_on,
        // A projector that cools down goes off by itself.
        ProjectorPower::Off | ProjectorPower::Cooling => !wants_on,
        ProjectorPower::Warming | ProjectorPower::Unknown => false,
    }
}

/// Whether an order is due. A projector that warms up or cools down takes none.
pub(super) fn needs_order(power: ProjectorPower, wants_on: bool) -> bool {
    match power {
        ProjectorPower::On => !wants_on,
        ProjectorPower::Off => wants_on,
        ProjectorPower::Warming | ProjectorPower::Cooling | ProjectorPower::Unknown => false,
    }
}

impl Keeper {
    /// Whether the projector is called now.
    pub(super) fn is_due(&mut self, wants_on: bool, now: Instant) -> bool {
        if self.wanted != Some(wants_on) {
            self.wanted = Some(wants_on);
            self.apart_since = Some(now);
            // A wrong password stays wrong.
            if !self.is_password_refused {
                self.next_call = None;
            }
        }
        self.next_call.is_none_or(|next| now >= next)
    }

    /// Takes the result of a call.
    pub(super) fn take(&mut self, seen: &Seen, now: Instant) {
        self.is_password_refused = *seen == Seen::PasswordRefused;
        self.is_silent = *seen == Seen::Silent;
        self.refuses_connection = *seen == Seen::NoPjlink;
        let wants_on = self.wanted.unwrap_or_default();
        let (pause, is_well) = match *seen {
            Seen::PasswordRefused => (PASSWORD_PAUSE, false),
            Seen::Silent | Seen::NoPjlink => (ORDER_PAUSE, false),
            Seen::Answered {
                power,
                was_ordered: false,
            } if is_as_wanted(power, wants_on) => (POLL_INTERVAL, true),
            Seen::Answered { .. } => (ORDER_PAUSE, false),
        };
        self.next_call = Some(now + pause);
        self.apart_since = match is_well {
            true => None,
            false => self.apart_since.or(Some(now)),
        };
    }

    /// Returns what is wrong and what to do; `None` if all is well, or not long enough.
    pub(super) fn problem(&self, status: &ProjectorStatus, now: Instant) -> Option<String> {
        let ProjectorStatus { name, address, .. } = status;
        let of = |problem: &str| Some(format!("{name} ({address}): {problem}"));
        if self.is_password_refused {
            return of(
                "it refuses the password; correct the password of PJLink in remote.projectors",
            );
        }
        let apart = now.saturating_duration_since(self.apart_since?);
        if apart < APART_MAX {
            return None;
        }
        let minutes = apart.as_secs() / 60;
        if self.refuses_connection {
            let may_be_on = match self.wanted? {
                true => "",
                false => " It may still be on: switch it off by hand.",
            };
            return of(&format!("{REFUSES_CONNECTION}{may_be_on}"));
        }
        match (self.is_silent, self.wanted?) {
            (true, true) => of(&format!(
                "it has not answered for {minutes} min; check its mains and its network cable"
            )),
            // Museums switch the mains off at night.
            (true, false) => None,
            (false, true) => of(&format!(
                "it has not come on for {minutes} min; switch it on by hand and look for its warning lights"
            )),
            (false, false) => of(&format!(
                "it has not gone off for {minutes} min; switch it off by hand"
            )),
        }
    }
}

/// Returns the parts that report an error and what to do; `None` if there are none.
pub(super) fn damage(status: &ProjectorStatus) -> Option<String> {
    let ProjectorStatus { name, address, .. } = status;
    let errors = status.errors.join(", ");
    (!errors.is_empty()).then(|| {
        format!("{name} ({address}): it reports errors ({errors}); its manual says what to do")
    })
}
