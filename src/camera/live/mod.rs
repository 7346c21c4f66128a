//! Live cameras, in the process that uses them: the newest frame and the health of the camera.
//!
//! Each camera runs in a worker process ([`super::worker`]); a thread reads the pipe of the worker. Input: a source and
//! the requested settings. Output: the newest [`Frame`](super::Frame) and a [`CameraHealth`]. Nothing here blocks on a
//! camera: a camera that is absent, hangs or fails has a named fault, and Shoal opens it again under its stable name, after
//! pauses of 1 to 30 s, without end.

mod camera;
mod fault_log;
mod health;
mod list;
mod quality;
mod reader;
mod setup;
mod slot;
mod supervisor;
mod worker_process;

pub use self::camera::LiveCamera;
pub use self::health::{ActiveFault, CameraHealth};
pub use self::list::{CameraList, list_cameras};
pub use self::setup::{LiveSetup, LiveTiming};
pub use self::worker_process::WorkerCommand;
