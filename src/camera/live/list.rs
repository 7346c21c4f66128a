//! Lists cameras through a worker process, so that a driver that hangs does not hang the one who asks.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::child::{WorkerCommand, WorkerProcess};
use crate::camera::CameraError;
use crate::camera::pipe::{self, Head, Message};
use crate::camera::worker::CameraDescription;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Listing {
    /// The cameras that answered, in the order of their numbers.
    pub cameras: Vec<CameraDescription>,
    /// What could not be asked, in words.
    pub problems: Vec<String>,
}

/// Asks a worker for all cameras; one that does not answer within `patience` ends the list, and is told.
///
/// # Errors
/// When no worker or thread can be started.
pub fn list(worker: &WorkerCommand, patience: Duration) -> Result<Listing, CameraError> {
    let failed = |cause| CameraError::Start {
        program: worker.program.display().to_string(),
        cause,
    };
    let (mut process, mut output) =
        WorkerProcess::start(worker, &["--list".into()]).map_err(failed)?;
    let (sender, messages) = sync_channel(16);
    let read = move || {
        while let Ok(Head::Message(message)) = pipe::read_head(&mut output) {
            if sender.send(message).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("camera-list".to_owned())
        .spawn(read)
        .map_err(failed)?;
    let mut listing = Listing::default();
    let mut probing = "the first device".to_owned();
    loop {
        let until = Instant::now() + patience;
        match messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Message::Listed) => return Ok(listing),
            Ok(Message::Probing { device }) => probing = device,
            Ok(Message::Camera(camera)) => listing.cameras.push(*camera),
            Ok(Message::Trouble { detail, .. }) => listing.problems.push(detail),
            Ok(Message::Ready(_)) => {}
            Err(RecvTimeoutError::Timeout) => {
                let secs = patience.as_secs_f64();
                listing.problems.push(format!(
                    "{probing} did not answer within {secs:.0} s; it and those after it are not listed. Unplug it, or restart the machine"
                ));
                return Ok(listing);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ending = process.ending();
                listing.problems.push(format!(
                    "the list is not complete, the worker ended while it asked {probing}: {ending}"
                ));
                return Ok(listing);
            }
        }
    }
}
