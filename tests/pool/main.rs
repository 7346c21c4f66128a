//! Tests of the simulated pool: steering, navigation, behavior, the director, edits and saved states. They need no camera
//! and draw no image.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test prints what it measures and skips, and fails by panicking"
)]

mod attraction;
mod avoidance;
mod behavior;
mod boids;
mod crowds;
mod desk;
mod determinism;
mod director;
mod disk;
mod edits;
mod edits_random;
mod fields;
mod fright;
mod ground;
mod inertia;
mod insight;
mod life;
mod long_run;
mod meshes;
mod motion;
mod movingai;
mod navigation;
mod navigation_example;
mod opensteer;
mod plans;
mod pools;
mod properties;
mod replay;
mod saved;
mod scenes;
mod schema;
mod show_example;
mod simple_school;
mod simulate;
mod species_files;
mod stamping;
mod steering_example;
mod trackers;
mod waters;
