//! Reads the pipe of a worker on a thread of its own, so that the worker never waits for a slow consumer of frames.

use std::io::Read;
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use super::slot::{Arrival, FrameSlot};
use crate::camera::fault::{Fault, FaultKind};
use crate::camera::pipe::{self, FrameHeader, GrantedSettings, Incoming, Message, PipeError};
use crate::camera::{Frame, Luma};
use crate::runtime::monotonic_ns;

/// Largest valid age of a timestamp when its frame arrives, in nanoseconds. A timestamp that is older does not come from the
/// clock of this machine.
const MAX_TIMESTAMP_AGE_NS: u64 = 5_000_000_000;

/// An event for the supervisor. The channel of events closes when the pipe ends.
#[derive(Debug)]
pub(super) enum ReaderEvent {
    /// The camera is open with these settings.
    Ready(Box<GrantedSettings>),
    /// The camera or the worker has a fault.
    Fault(Fault),
}

/// The reader of one worker.
pub(super) struct PipeReader {
    /// Number of the reader, see [`FrameSlot`].
    pub(super) generation: u64,
    pub(super) slot: Arc<FrameSlot>,
    /// Time when the feed was opened, in nanoseconds on the monotonic clock.
    pub(super) opened_ns: u64,
    /// Required size of the frames; `None` before the first start.
    pub(super) size_px: Option<(u32, u32)>,
    pub(super) events: SyncSender<ReaderEvent>,
}

impl PipeReader {
    /// Reads until the pipe ends, the data violates the protocol, or the supervisor has given up the worker.
    pub(super) fn run(&self, mut pipe: ChildStdout) {
        self.slot.set_waiting(self.generation, true);
        if let Err(PipeError::Protocol(detail)) = self.read_all(&mut pipe) {
            self.notify(ReaderEvent::Fault(Fault::new(
                FaultKind::ProtocolError,
                detail,
            )));
        }
    }

    fn read_all(&self, pipe: &mut impl Read) -> Result<(), PipeError> {
        let mut frame = Frame::default();
        let mut size_px = None;
        loop {
            match pipe::read_next(pipe)? {
                Incoming::Message(Message::Ready(granted)) => {
                    let got = (granted.width_px, granted.height_px);
                    if let Some((width, height)) = self.size_px.filter(|required| *required != got)
                    {
                        let detail = format!(
                            "{}: the camera gives {}x{} px, requested were {width}x{height}",
                            granted.device, got.0, got.1
                        );
                        self.notify(ReaderEvent::Fault(Fault::new(FaultKind::WrongSize, detail)));
                        return Ok(());
                    }
                    size_px = Some(got);
                    // The settings are stored before the first frame is published, so that they are known for every frame.
                    if !self.slot.grant(self.generation, &granted) {
                        return Ok(());
                    }
                    self.notify(ReaderEvent::Ready(Box::new(granted)));
                }
                Incoming::Message(Message::Fault(fault)) => {
                    self.notify(ReaderEvent::Fault(fault));
                }
                Incoming::Message(other) => {
                    let detail = format!("unexpected message while capturing: {other:?}");
                    return Err(PipeError::Protocol(detail));
                }
                Incoming::Frame(head) => {
                    let Some(size) = size_px else {
                        let detail =
                            "a frame arrived before the message that the camera is open".to_owned();
                        return Err(PipeError::Protocol(detail));
                    };
                    if size != (head.width_px, head.height_px) {
                        let detail = format!(
                            "a frame has {}x{} px, the driver had accepted {}x{}",
                            head.width_px, head.height_px, size.0, size.1
                        );
                        self.notify(ReaderEvent::Fault(Fault::new(FaultKind::WrongSize, detail)));
                        return Ok(());
                    }
                    read_levels(pipe, &head, &mut frame)?;
                    if !self.publish(&head, &mut frame) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Publishes a frame. Returns false if the supervisor has abandoned this worker.
    fn publish(&self, head: &FrameHeader, frame: &mut Frame) -> bool {
        let now_ns = monotonic_ns();
        let is_valid =
            head.timestamp_ns <= now_ns && now_ns - head.timestamp_ns < MAX_TIMESTAMP_AGE_NS;
        let captured_ns = if is_valid { head.timestamp_ns } else { now_ns };
        let secs = captured_ns.saturating_sub(self.opened_ns) as f64 / 1e9;
        let arrival = Arrival {
            now: Instant::now(),
            generation: self.generation,
            sequence: head.sequence,
            captured_ns,
            secs,
            quality: self.slot.check_quality(&frame.luma, secs),
        };
        self.slot.publish(frame, arrival)
    }

    /// Sends an event to the supervisor. If the channel is full, the event is dropped, so that the reader never waits.
    fn notify(&self, event: ReaderEvent) {
        let _full = self.events.try_send(event);
    }
}

/// Reads the levels of a frame into `frame`.
fn read_levels(
    pipe: &mut impl Read,
    head: &FrameHeader,
    frame: &mut Frame,
) -> Result<(), PipeError> {
    frame.width_px = head.width_px;
    frame.height_px = head.height_px;
    if head.bits > 8 {
        let mut levels = frame.luma.take_u16(head.pixels());
        let read = pipe.read_exact(bytemuck::cast_slice_mut(&mut levels));
        for level in &mut levels {
            *level = u16::from_le(*level);
        }
        let bits = head.bits;
        frame.luma = Luma::U16 { bits, levels };
        read?;
    } else {
        let mut levels = frame.luma.take_u8(head.pixels());
        let read = pipe.read_exact(&mut levels);
        frame.luma = Luma::U8(levels);
        read?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::super::setup::FeedSetup;
    use super::super::slot::ReadOutcome;
    use super::*;
    use crate::camera::{CameraParams, SourceSpec, WorkerCommand};
    use crate::runtime::FaultLedger;

    /// Returns the data of a pipe with `frames` frames.
    fn pipe_with(frames: u64) -> Vec<u8> {
        let mut pipe = Vec::new();
        let granted = GrantedSettings {
            width_px: 64,
            height_px: 48,
            ..GrantedSettings::default()
        };
        pipe::write_message(&mut pipe, &Message::Ready(granted)).unwrap();
        for sequence in 0..frames {
            let head = FrameHeader {
                sequence,
                timestamp_ns: 0,
                width_px: 64,
                height_px: 48,
                bits: 8,
            };
            let levels = vec![40 + (sequence % 100) as u8; 64 * 48];
            pipe::write_frame(&mut pipe, &head, &levels).unwrap();
        }
        pipe
    }

    #[test]
    fn reading_allocates_no_memory_in_the_steady_state() {
        let allocations = |frames: u64| {
            let pipe = pipe_with(frames);
            let spec = SourceSpec::parse("v4l2:0").unwrap();
            let worker = WorkerCommand::new("shoal");
            let setup = FeedSetup::new(spec, &CameraParams::default(), worker);
            let slot = Arc::new(FrameSlot::new(&setup, None, &FaultLedger::default(), 0.0));
            let (events, _receiver) = sync_channel(4);
            let reader = PipeReader {
                generation: 0,
                slot: Arc::clone(&slot),
                opened_ns: 0,
                size_px: None,
                events,
            };
            let counted = allocation_counter::measure(|| {
                let ended = reader.read_all(&mut pipe.as_slice());
                assert!(matches!(ended, Err(PipeError::Ended)));
            });
            let mut newest = Frame::default();
            let outcome = slot.take(&mut newest, Duration::ZERO).unwrap();
            assert_eq!(outcome, ReadOutcome::Frame);
            assert_eq!(newest.sequence, frames - 1);
            counted.count_total
        };
        assert_eq!(allocations(10), allocations(300));
    }
}
