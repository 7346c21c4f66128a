//! Writes frames and messages to standard output, and ends the process when its parent has ended.

use std::io::{Read, Write};

use super::luma::FrameLayout;
use crate::camera::fault::Fault;
use crate::camera::pipe::{self, FrameHeader, GrantedSettings, Message};
use crate::runtime::monotonic_ns;

/// The result of one capture.
pub(super) enum Captured {
    /// A complete frame; its levels are in the buffer of the caller.
    Frame {
        /// Frame number of the driver.
        sequence: u64,
        /// Time of capture on the monotonic clock; `None` if the driver does not report it.
        timestamp_ns: Option<u64>,
    },
    /// A damaged or incomplete frame. The next frame may be good.
    Unusable(Fault),
}

/// Writes `granted`, then the frames that `next` captures, until `next` returns a fault.
pub(super) fn serve(
    granted: GrantedSettings,
    layout: FrameLayout,
    mut next: impl FnMut(&mut Vec<u8>) -> Result<Captured, Fault>,
) -> Fault {
    send(&Message::Ready(granted));
    let mut levels = Vec::new();
    loop {
        match next(&mut levels) {
            Ok(Captured::Frame {
                sequence,
                timestamp_ns,
            }) => {
                let header = FrameHeader {
                    sequence,
                    timestamp_ns: timestamp_ns.unwrap_or_else(monotonic_ns),
                    width_px: layout.width_px,
                    height_px: layout.height_px,
                    bits: layout.format.bits(),
                };
                if pipe::write_frame(&mut std::io::stdout().lock(), &header, &levels).is_err() {
                    std::process::exit(0);
                }
            }
            Ok(Captured::Unusable(fault)) => send(&Message::Fault(fault)),
            Err(fault) => return fault,
        }
    }
}

/// Writes a message. If standard output is closed, the parent has ended, so this process ends too.
pub(super) fn send(message: &Message) {
    let mut out = std::io::stdout().lock();
    let written = pipe::write_message(&mut out, message).and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(0);
    }
}

/// Ends this process as soon as its standard input closes, even if another thread hangs.
pub(super) fn end_with_standard_input() {
    let watch = || {
        let mut bytes = [0; 256];
        let mut input = std::io::stdin().lock();
        while !matches!(input.read(&mut bytes), Ok(0) | Err(_)) {}
        std::process::exit(0);
    };
    let watcher = std::thread::Builder::new().name("worker-stdin".to_owned());
    if watcher.spawn(watch).is_err() {
        // Without this thread the worker could outlive its parent.
        std::process::exit(1);
    }
}
