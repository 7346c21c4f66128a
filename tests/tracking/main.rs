//! Tests of vision and calibration, from camera frames to tracks and calibrations. The frames come from drawn floors with a
//! known truth, from rendered rooms and from recordings.

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

mod calibration;
mod crossings;
mod disturbances;
mod frame_rates;
mod gray_code;
mod halls;
mod hota;
mod ids;
mod mirror;
mod recordings;
mod rendered;
mod rooms;
mod several_cameras;
mod stamping;
mod touch;
mod tracks;
mod verify_vision;
mod vision;
mod visitor_counts;
