//! Tests of the program as its users see it: command line, configuration files, cameras and windows.

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

mod book;
mod camera;
mod cameras_live;
#[cfg(target_os = "linux")]
mod cameras_vm;
mod child_guard;
mod commands;
mod config;
#[cfg(unix)]
mod control_socket;
mod desk;
mod feeds;
#[cfg(all(unix, feature = "cluster"))]
mod hall;
#[cfg(unix)]
mod hall_keys;
#[cfg(unix)]
mod kept;
#[cfg(unix)]
mod operation;
#[cfg(unix)]
mod outputs;
#[cfg(unix)]
mod panel;
mod recorded;
mod save;
mod several_cameras;
#[cfg(unix)]
mod sound;
mod sources;
mod tune;
mod window;
