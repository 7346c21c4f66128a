//! Other machines: show control, lighting and sound desks.
//!
//! In: datagrams of configured machines, the status and the events of the pool. Out: everyday commands to the desk
//! ([`crate::control::Command::from_words`]), and messages. Every input is hostile: its size, rate and nesting are limited before it is
//! decoded. Must not: make a stage wait, let a machine do more than an operator may.

mod osc;
mod params;

pub use osc::OscEndpoint;
pub use params::{OscParams, RemoteParams};
