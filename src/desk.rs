//! The rooms control, operation, panel and remote as one crate.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the bans of clippy.toml protect the running program"
    )
)]

use shoal_base::{files, geometry, runtime};

pub mod control;
pub mod operation;
pub mod panel;
pub mod remote;
