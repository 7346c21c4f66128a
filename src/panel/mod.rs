//! The operator's panel: a page, and the HTTP interface that it uses.
//!
//! In: requests of browsers and of programs with a token. Out: the page; status, events and pictures; commands to the desk.
//! The panel knows the pool only through the [`control::DeskClient`](crate::control::DeskClient) and the slots of
//! [`LiveViews`]. Must not: know the world, decide about a command, make a stage wait.
//!
//! A request passes the check of its host and origin (`guard.rs`), then the check of its route: `routes` is one table with
//! the role that each route needs, and everything else is refused. The server has a thread of low priority with its own
//! runtime, bounded connections, sizes and times. Hashes, JPEG pictures and writes to the disk run on helper threads.

mod access;
mod answer;
mod archive;
mod assets;
mod audit;
mod body;
mod broadcast;
mod caller;
mod certificate;
mod connection;
mod cookies;
mod error;
mod guard;
mod hashing;
mod host_names;
mod hub;
mod links;
mod live_slot;
mod log_ring;
mod network;
mod params;
mod proxies;
mod routes;
mod server;
mod state;
mod stop_watch;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod topic;
mod user_requests;

pub use access::Role;
pub use archive::{ARCHIVE_FILES_MAX, NOTEBOOK_NAME, SiteFileContent, is_archive_name};
pub use links::{
    AddModel, AddNote, Devices, FileVersion, ListDevices, ListRecordings, LiveViews, MindSlot,
    Notebook, NotebookEntry, OpenRecording, PanelLinks, RawPicture, ReadFiles, ReadNotebook,
    ReadVersions, RecordingFile, RecordingList, Recordings, RemoveRecording, RestoreFiles,
    SetupNotice, ShowSetup, SiteFiles, VisitorCounts, VisitorOutline, VisitorOutlines,
};
pub use live_slot::LiveSlot;
pub use log_ring::{LogLevel, LogLine, LogRing};
pub use network::AnnouncedService;
pub use params::{DEFAULT_PORT, Listen, PanelParams};
pub use routes::command_schema_with_roles;
pub use server::{PanelOptions, PanelServer};
