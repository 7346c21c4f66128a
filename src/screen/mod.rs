//! The screen: a window for each output on its monitor, keys, texts on the floor, and the render stage, which draws a picture between
//! the two newest snapshots and opens the screen again after any failure.
//!
//! In: snapshots, render setups, and the light of the picture. Out: pictures, keys, and the state of the screen for the status.
//! The main thread handles the windows ([`run_windows`]); the render stage draws on a thread of its own. Must not: make the simulation
//! wait.

mod board;
mod display;
mod fade;
mod keys;
mod monitors;
mod notice;
mod pass_meters;
mod render_stage;
mod screen_supervisor;
mod setup_handoff;
mod shared_windows;
mod snapshot_pair;
mod test_pattern;
mod windows;

pub use board::ScreenBoard;
pub use display::{check_reachable, is_x11, wait_for_display};
pub use keys::command_for_key;
pub use monitors::{Monitor, ask_for_monitors, list_monitors, watch_monitors};
pub use notice::NoticeBoard;
pub use pass_meters::PassMeters;
pub use render_stage::RenderStage;
pub use screen_supervisor::{ScreenOpener, ScreenSupervisor, screen_opener};
pub use setup_handoff::SetupHandoff;
pub use shared_windows::{SharedWindows, WindowSettings};
pub use snapshot_pair::SnapshotPair;
pub use test_pattern::overlay_options;
pub use windows::run_windows;
