//! The rooms camera, vision and calibration as one crate.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the bans of clippy.toml protect the running program"
    )
)]

use shoal_base::{config, files, geometry, runtime};

pub mod calibration;
pub mod camera;
pub mod vision;
