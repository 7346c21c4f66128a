//! Frames and where they come from: live cameras, recordings, folders, child programs, synthetic visitors.
//!
//! In goes a source as text (`file:walk.y4m?fps=25`), out come [`Frame`]s with the source's own time stamps, one after
//! the other, in buffers that are used again; of live cameras ([`live`]) always the newest, with the camera's health.
//! Knows nothing of shadows, and never hands out half a frame.

mod clock;
mod command;
pub mod error;
mod folder;
pub mod frame;
pub mod live;
pub mod params;
mod pipe;
pub mod record;
pub mod source;
pub mod spec;
mod synthetic;
pub mod worker;
mod y4m;

pub use error::CameraError;
pub use frame::{Frame, Luma, UsedBits};
pub use live::LiveCamera;
pub use params::CameraParams;
pub use record::{RecordError, Recorded, Recording};
pub use source::{Playback, Reading, Source};
pub use spec::{Backend, SourceKind, SourceSpec};
