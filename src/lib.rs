#![doc = include_str!("ARCHITECTURE.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the bans of clippy.toml protect the running program"
    )
)]

pub mod alerts;
pub mod analytics;
pub mod app;
pub mod behavior;
pub mod calibration;
pub mod camera;
pub mod config;
pub mod control;
pub mod geometry;
pub mod life;
pub mod navigation;
pub mod panel;
pub mod render;
pub mod runtime;
pub mod schedule;
pub mod simulation;
pub mod site;
pub mod steering;
pub mod vision;
pub mod world;
