//! The room `render` as a crate.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the bans of clippy.toml protect the running program"
    )
)]

use shoal_base::{files, geometry};
use shoal_pool::world;

pub mod render;
