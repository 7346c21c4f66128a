//! What the rooms (top-level modules) at the edges of the program know of a running pool: its commands, replies, status and
//! events, the client through which they reach the desk, and the JSON lines that `track`, `simulate` and `render` exchange.
//! Decides nothing: `app` converts between these types and the types of other rooms, and `site` validates commands.

mod client;
mod command;
mod desk_events;
mod diagnosis;
mod event;
mod fault_names;
mod hall_status;
mod health;
mod journal;
mod lines;
mod mind_line;
mod overlay;
mod recording;
mod remote_status;
mod request;
mod schedule;
mod sound_status;
mod stage;
mod status;
mod test_picture;

pub use client::{Board, CommandSender, DeskClient, DocumentsPage, DocumentsReader, desk_queue};

pub use command::{
    AreaList, CalibrationStep, Command, CommandLine, DirectorEvent, DocumentName, DocumentText,
    DrawnArea, Edit, EditChange, EditorStep, IndividualCommand, MarkerPoint, MindChoice,
    NamesInUse, PHRASES, PoleShadow, PoolCommand, PoolEdit, ShowCommand, TouchMark, UpkeepCommand,
    VisionCommand, command_names, command_schema,
};
pub use desk_events::{DeskEvent, DeskEvents, Incoming, StageReport, Undelivered};
pub use diagnosis::complete;
pub use event::{Event, EventKind, EventLog, EventPage, FloorPlace};
pub use fault_names::{FAULT_NAMES, names_fault};
pub use hall_status::{HallNodeStatus, HallStatus};
pub use health::{Finding, HealthLevel, HealthStatus};
pub use journal::Journal;
pub use lines::{AgentLine, AgentsLine, TrackEventLine, TrackLine, VisitorLine, rounded};
pub use mind_line::{
    ActionLine, DriveLine, LimitLine, MemoryLine, MindLine, NeedLine, NeedStanding, NeighborLine,
};
pub use overlay::{
    OVERLAY_SECS, OVERLAY_SECS_MAX, OverlayChoice, OverlayFish, OverlayPart, OverlayStatus,
};
pub use recording::{COMMANDED_SECS_MAX, RecordingStatus, RecordingStep};
pub use remote_status::{
    DeliveryStatus, ProjectorPower, ProjectorStatus, ShowControlStatus, TrackerStatus,
};
pub use request::{
    ChangeNote, Outcome, Reason, Reply, Request, Source, SourceKind, Trust, reason_code,
};
pub use schedule::{
    ByHandStatus, HandEnd, NextShow, PlanSource, PreviewDay, PreviewPeriod, PreviewRule,
    ScheduleStatus, ScheduleStep, ShowState,
};
pub use sound_status::SoundStatus;
pub use stage::StageChoice;
pub use status::{
    AgreementStatus, AreaStatus, CalibrationEnd, CalibrationKnown, CalibrationPhase,
    CalibrationRejection, CalibrationResult, CalibrationStatus, CalibrationWait, CameraKind,
    CameraStatus, DriftStatus, ExposureAdvice, ExposureStatus, GpuStatus, OutputStatus, PassStatus,
    PictureStatus, Rejection, RuleStatus, SpeciesStatus, Status, TargetResult, TimingStatus,
    TrackStatus, VersionStatus, VisitorStatus,
};
pub use test_picture::{CornerName, MarkedCorner, TestPattern, TestPicture};
