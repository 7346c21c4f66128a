//! Recordings of the camera: one that the command line asks for, and those that operators make while the pool runs.

mod deck;
mod folder;
mod recorder;

pub use deck::RecordingDeck;
pub use folder::{RecordingsFolder, recordings};

use std::path::PathBuf;
use std::sync::Arc;

use crate::camera::Recording;
use crate::control::Journal;
use crate::runtime::{HangPolicy, Supervisor};

use recorder::USUAL_FPS;

/// A recording of the camera's frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordConfig {
    /// The y4m file.
    pub path: PathBuf,
    /// Longest duration of the recording, in seconds.
    pub secs: f64,
}

/// Starts the recorder, with the recording of the command line if there is one. `fps` is the frame rate of the camera, if it is known.
///
/// # Errors
/// When the file cannot be created, or the thread cannot be started.
pub fn start_deck(
    supervisor: &mut Supervisor,
    record: Option<&RecordConfig>,
    fps: Option<f64>,
    journal: &Journal,
) -> anyhow::Result<Arc<RecordingDeck>> {
    let deck = Arc::new(RecordingDeck::new(journal));
    if let Some(RecordConfig { path, secs }) = record {
        let recording = Recording::create(path, *secs, fps.unwrap_or(USUAL_FPS))?;
        deck.start_file(path, recording, *secs);
    }
    let own = Arc::clone(&deck);
    supervisor.start("recordings", HangPolicy::WaitAtEnd, move |heartbeat| {
        own.run(heartbeat);
    })?;
    Ok(deck)
}
