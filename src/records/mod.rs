//! What a run writes down and reads again: lines of tracks and agents, sessions that can be replayed, incidents, recordings of the
//! camera, the maintenance notebook, backups of a site, the last valid site.
//!
//! In: observations, commands, frames, documents. Out: files in the state folder or where the user wants them. Must not: decide
//! about a command, make a stage wait.

mod last_valid_site;
mod lines;
mod notebook;
mod recordings;
mod session;
mod show_file;
mod site_archive;
mod state_folder;

pub use last_valid_site::LastValidSite;
pub use lines::{
    JsonLinesReader, JsonLinesWriter, TracksFile, add_forces, agents_line, is_standard_output,
    is_standard_stream,
};
pub use notebook::notebook;
pub use recordings::{RecordConfig, RecordingDeck, RecordingsFolder, recordings, start_deck};
pub use session::{
    DocumentsCopy, ReplayOptions, ReplaySummary, SessionConfig, SessionEnds, SessionEntry,
    SessionLog, SessionStart, TickLog, pool_hash, replay, start_session,
};
pub use show_file::show_file;
pub use site_archive::{finish_restore, site_files};
pub use state_folder::{StateLock, counts_file, lock_state, state_folder};
