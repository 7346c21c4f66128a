//! Alerts: which faults are reported to the people who look after the installation, and when.
//!
//! In: the active faults, again and again. Out: messages: a fault lasts, a fault is over. Must not: ask a clock, send a message.

mod keeper;
mod params;

pub use keeper::{ActiveFault, Alert, AlertKeeper, AlertKind};
pub use params::{AlertParams, QuietHours};
