//! Recordings of the camera: one that the command line asks for, and those that operators make while the pool runs.

mod deck;
mod folder;
mod recorder;

pub use deck::RecordingDeck;
pub use folder::{RecordingsFolder, recordings};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use crate::camera::{FrameTap, Recording};
use crate::control::Journal;
use crate::runtime::{HangPolicy, Supervisor};

use recorder::{USUAL_FPS, recorder};

/// A recording of the camera's frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordConfig {
    /// The y4m file.
    pub path: PathBuf,
    /// Longest duration of the recording, in seconds.
    pub secs: f64,
}

/// Makes a tap for each opened camera; `None` if its frames are not recorded.
pub type TapMaker = Box<dyn Fn() -> Option<FrameTap> + Send + Sync>;

/// Starts the thread that records the camera's frames, if they are recorded. `fps` is the frame rate of the camera, if it is known.
/// Returns a function that makes a tap for each opened camera.
///
/// # Errors
/// When the file cannot be created, or the thread cannot be started.
pub fn start_recorder(
    supervisor: &mut Supervisor,
    record: Option<&RecordConfig>,
    fps: Option<f64>,
    journal: &Journal,
) -> anyhow::Result<TapMaker> {
    let Some(record) = record else {
        return Ok(Box::new(|| None));
    };
    let recording = Recording::create(&record.path, record.secs, fps.unwrap_or(USUAL_FPS))?;
    let (input, mut recorder) = recorder(recording, journal);
    let stop = Arc::clone(supervisor.stop_flag());
    let input = Arc::new(Mutex::new(input));
    supervisor.start("recorder", HangPolicy::WaitAtEnd, move |heartbeat| {
        recorder.run(heartbeat);
        Ok(())
    })?;
    Ok(Box::new(move || {
        let (input, stop) = (Arc::clone(&input), Arc::clone(&stop));
        let tap: FrameTap = Box::new(move |frame| {
            // At the end of the program the recorder finishes its file. Frames that arrive after that are not sent.
            if !stop.load(Ordering::Relaxed) {
                input.lock().send(frame);
            }
        });
        Some(tap)
    }))
}

/// Returns a maker of taps that also give every frame to the recorder that operators start.
pub fn with_deck(make_tap: TapMaker, deck: &Arc<RecordingDeck>) -> TapMaker {
    let deck = Arc::clone(deck);
    Box::new(move || {
        let (mut first, deck) = (make_tap(), Arc::clone(&deck));
        let tap: FrameTap = Box::new(move |frame| {
            if let Some(first) = &mut first {
                first(frame);
            }
            deck.send(frame);
        });
        Some(tap)
    })
}

/// Starts the recorder that operators start and stop.
///
/// # Errors
/// When the thread cannot be started.
pub fn start_deck(
    supervisor: &mut Supervisor,
    journal: &Journal,
) -> anyhow::Result<Arc<RecordingDeck>> {
    let deck = Arc::new(RecordingDeck::new(journal));
    let own = Arc::clone(&deck);
    supervisor.start("recordings", HangPolicy::WaitAtEnd, move |heartbeat| {
        own.run(heartbeat);
        Ok(())
    })?;
    Ok(deck)
}
