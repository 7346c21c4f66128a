//! Lists the cameras of this machine through a worker process, so that a driver that hangs does not block the caller.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::camera::pipe::{self, Incoming, Message};
use crate::camera::{CameraDescription, CameraError, WorkerCommand};

/// The cameras of this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CameraList {
    /// Cameras that answered, in the order of their numbers.
    pub cameras: Vec<CameraDescription>,
    /// Messages about the devices that did not answer, in whole sentences.
    pub problems: Vec<String>,
}

/// Lists all cameras through a worker. If a device does not answer within `timeout`, the list ends at that device, and
/// [`CameraList::problems`] names it.
///
/// # Errors
/// When no worker or thread can be started.
pub fn list_cameras(worker: &WorkerCommand, timeout: Duration) -> Result<CameraList, CameraError> {
    let failed = |cause| CameraError::Start {
        program: worker.program.display().to_string(),
        cause,
    };
    let (mut process, mut output) = worker.start_worker(&["--list".into()]).map_err(failed)?;
    let (sender, messages) = sync_channel(16);
    let read = move || {
        while let Ok(Incoming::Message(message)) = pipe::read_next(&mut output) {
            if sender.send(message).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new()
        .name("camera-list".to_owned())
        .spawn(read)
        .map_err(failed)?;
    let mut list = CameraList::default();
    let mut probing = "the first device".to_owned();
    loop {
        let until = Instant::now() + timeout;
        match messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Message::ListEnd) => return Ok(list),
            Ok(Message::Probing { device }) => probing = device,
            Ok(Message::Camera(camera)) => list.cameras.push(*camera),
            Ok(Message::Fault(fault)) => list.problems.push(fault.detail),
            Ok(Message::Ready(_)) => {}
            Err(RecvTimeoutError::Timeout) => {
                let secs = timeout.as_secs_f64();
                list.problems.push(format!(
                    "{probing} did not answer within {secs:.0} s; this device and the devices after it are not listed. Disconnect it, or restart the machine"
                ));
                return Ok(list);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ending = process.describe_exit();
                list.problems.push(format!(
                    "the list is incomplete, the worker ended while it queried {probing}: {ending}"
                ));
                return Ok(list);
            }
        }
    }
}
