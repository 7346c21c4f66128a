//! Plain data at the edges of the program: the commands that a running pool is given, the status that it tells, and the
//! JSON lines that `track`, `simulate` and `render` exchange. Owns no behavior; converting from and to the rooms' own
//! types is `app`'s business, validating is `site`'s.

pub mod command;
pub mod lines;
pub mod status;

pub use command::{
    CalibrationStep, Command, CommandLine, DirectorEvent, DocumentName, DocumentText, Edit,
    EditChange, MarkerPoint, MindChoice, PoleShadow, TouchMark,
};
pub use status::{
    CalibrationKnown, CalibrationStatus, DriftStatus, PictureStatus, Reason, Refusal, Status,
};
