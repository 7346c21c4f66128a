#![doc = include_str!("ARCHITECTURE.md")]

pub mod app;
pub mod behavior;
pub mod calibration;
pub mod camera;
pub mod config;
pub mod control;
pub mod geometry;
pub mod navigation;
pub mod render;
pub mod simulation;
pub mod site;
pub mod steering;
pub mod vision;
pub mod world;
