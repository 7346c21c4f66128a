//! The rooms world, steering, navigation, behavior, simulation and life as one crate.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the bans of clippy.toml protect the running program"
    )
)]

use shoal_base::geometry;

pub mod behavior;
pub mod life;
pub mod navigation;
pub mod simulation;
pub mod steering;
pub mod world;
