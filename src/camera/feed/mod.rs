//! Sources of every kind, supervised in one way: their frames, and their health.
//!
//! A live camera runs in a worker process ([`super::worker`]), a camera program under a guard ([`crate::runtime::run_child_guard`]), and
//! other sources are read in this process. In each case one thread reads the source, and another one supervises it. Input: a
//! source and the requested settings. Output: [`Frame`](super::Frame)s and a [`CameraHealth`]. No function here blocks the
//! caller for longer than the wait that the caller passes. If a source is absent, hangs or fails, the feed reports a named
//! fault, and Shoal opens the source again, indefinitely, with pauses of 1 to 30 s.

mod fault_log;
mod feed_clock;
mod handle;
mod health;
mod list;
mod quality;
mod reader;
mod setup;
mod slot;
mod source_reader;
mod supervisor;

pub use self::handle::Feed;
pub use self::health::{ActiveFault, CameraHealth};
pub use self::list::{CameraList, list_cameras};
pub use self::setup::{AtEnd, FeedMode, FeedSetup, FeedTiming};
pub use self::slot::{FrameTap, ReadOutcome};
