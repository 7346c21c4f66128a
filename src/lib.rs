#![doc = include_str!("ARCHITECTURE.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the bans of clippy.toml protect the running program"
    )
)]

pub mod app;
pub mod records;
pub mod screen;
pub mod site;
pub mod tuning;

pub use shoal_base::{config, files, geometry, runtime};
pub use shoal_cluster::cluster;
pub use shoal_desk::{control, operation, panel, remote};
pub use shoal_eye::{calibration, camera, vision};
pub use shoal_pool::{behavior, life, navigation, simulation, steering, world};
pub use shoal_render::render;
pub use shoal_sound::sound;
