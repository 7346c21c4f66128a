//! Frames and their sources: live cameras, recordings, image folders, child programs and synthetic visitors.
//!
//! Input: the text of a source, for example `file:walk.y4m?fps=25`. Output: [`Frame`]s in order, with the source's own
//! timestamps, in reused buffers. A [`Feed`] supervises a source of any kind and reports its health.
//! This module does not depend on the use of the frames, and it never returns an incomplete frame.

mod child_group;
mod command;
mod description;
mod error;
mod fault;
mod feed;
mod frame;
mod image_file;
mod image_folder;
mod jpeg;
mod limits;
mod params;
mod pipe;
mod recording;
mod source;
mod spec;
mod stderr_tail;
mod synthetic;
mod worker;
mod y4m;

pub use self::command::WorkerCommand;
pub use self::description::{
    CameraDescription, ControlDescription, FormatDescription, SizeDescription,
};
pub use self::error::CameraError;
pub use self::fault::FaultKind;
pub use self::feed::{
    ActiveFault, AtEnd, CameraHealth, CameraList, Feed, FeedMode, FeedSetup, FeedTiming, FrameTap,
    ReadOutcome, list_cameras,
};
pub use self::frame::{Frame, Luma, UsedBits};
pub use self::params::CameraParams;
pub use self::pipe::{AppliedControl, GrantedSettings};
pub use self::recording::{FinishedRecording, MAX_RECORDING_SECS, RecordError, Recording};
pub use self::source::Source;
pub use self::spec::{Backend, SourceKind, SourceSpec, TrackerKind, TrackerSpec, hide_passwords};
pub use self::worker::{CaptureRequest, run_capture_worker, run_list_worker};
