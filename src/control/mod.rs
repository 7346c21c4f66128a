//! Plain data at the edges of the program: the commands for a running pool, its status, and the JSON lines that
//! `track`, `simulate` and `render` exchange. Contains no behavior: `app` converts between these types and the types
//! of other rooms (top-level modules), and `site` validates commands.

mod command;
mod lines;
mod status;

pub use command::{
    CalibrationStep, Command, CommandLine, DirectorEvent, DocumentName, DocumentText, Edit,
    EditChange, MarkerPoint, MindChoice, PoleShadow, TouchMark,
};
pub use lines::{AgentLine, AgentsLine, ShadowLine, TrackLine};
pub use status::{
    CalibrationKnown, CalibrationStatus, DriftStatus, PictureStatus, Reason, Rejection, Status,
};
