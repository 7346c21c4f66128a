//! Alerts: which faults are reported to the people who look after the installation, and when.
//!
//! In: the active faults, again and again. Out: messages: a fault lasts, a fault is over, the report of a day. Only the stage reads a clock and sends
//! a message.

mod keeper;
mod params;
mod report;
mod stage;
mod ways;

pub use params::{AlertParams, QuietHours};
pub use stage::{AlertBoard, AlertStage};
