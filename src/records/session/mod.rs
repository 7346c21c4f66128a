//! Sessions: runs that can be repeated tick for tick, as a whole or as the minutes before a fault.

mod entry;
mod incident;
mod log;
mod replay;
mod writer;

pub use entry::{SessionEntry, SessionStart, pool_hash};
pub use incident::DocumentsCopy;
pub use log::{SessionLog, TickLog};
pub use replay::{ReplayOptions, ReplaySummary, replay};

use std::path::PathBuf;
use std::sync::Arc;

use crate::control::{DeskClient, Journal};
use crate::runtime::{HangPolicy, Supervisor};

/// The log of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The new folder, or the folder for incidents.
    pub folder: PathBuf,
    /// Whether only the minutes before a fault are kept.
    pub is_incidents: bool,
    /// The start of the session.
    pub start: SessionStart,
}

/// The ends of the log of a session; empty if the session is not logged.
#[derive(Default)]
pub struct SessionEnds {
    /// The end for commands.
    pub desk: Option<SessionLog>,
    /// The end for ticks.
    pub simulation: Option<TickLog>,
    /// Copies of the documents for incidents.
    pub documents: Option<Arc<DocumentsCopy>>,
}

/// Starts the thread that writes the log of a session, or keeps the minutes before a fault.
///
/// # Errors
/// When the folder cannot be created, or the thread cannot be started.
pub fn start_session(
    supervisor: &mut Supervisor,
    session: &SessionConfig,
    (client, journal): (&DeskClient, &Journal),
) -> anyhow::Result<SessionEnds> {
    if session.is_incidents {
        let (log, ticks, mut writer, documents) =
            incident::create_incidents(&session.folder, session.start.clone())?;
        let (client, journal) = (client.clone(), journal.clone());
        supervisor.start("incidents", HangPolicy::WaitAtEnd, move |heartbeat| {
            writer.run(heartbeat, &client, &journal);
            Ok(())
        })?;
        return Ok(SessionEnds {
            desk: Some(log),
            simulation: Some(ticks),
            documents: Some(documents),
        });
    }
    let (log, ticks, mut writer) = writer::create_session(&session.folder, &session.start)?;
    supervisor.start("session", HangPolicy::WaitAtEnd, move |heartbeat| {
        writer.run(heartbeat);
        Ok(())
    })?;
    Ok(SessionEnds {
        desk: Some(log),
        simulation: Some(ticks),
        documents: None,
    })
}
