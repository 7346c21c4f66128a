//! Reads a worker's pipe on a thread of its own, always, so that the worker never waits for anybody slow.

use std::io::Read;
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use super::slot::{Arrival, Slot};
use super::{FaultKind, Granted};
use crate::camera::clock::monotonic_ns;
use crate::camera::pipe::{self, FrameHead, Head, Message, PipeError};
use crate::camera::{Frame, Luma};

/// A stamp that is older than this is none of this machine's clock.
const OLDEST_STAMP_NS: u64 = 5_000_000_000;

/// What the reader tells the supervisor. The channel's end is the pipe's end.
#[derive(Debug)]
pub(super) enum Event {
    /// The camera is open.
    Ready(Box<Granted>),
    /// Something is wrong.
    Trouble(FaultKind, String),
}

/// What a reader needs beside the pipe.
pub(super) struct Reader {
    pub(super) generation: u64,
    pub(super) slot: Arc<Slot>,
    /// When the camera was opened by us, on the monotonic clock.
    pub(super) opened_ns: u64,
    pub(super) quiet: Duration,
    /// The size that pictures must have.
    pub(super) size_px: Option<(u32, u32)>,
    pub(super) events: SyncSender<Event>,
}

impl Reader {
    /// Reads until the pipe ends, carries garbage, or the worker was given up.
    pub(super) fn run(self, mut pipe: ChildStdout) {
        if let Err(PipeError::Garbage(told)) = self.read_all(&mut pipe) {
            self.tell(Event::Trouble(FaultKind::Garbage, told));
        }
    }

    fn read_all(&self, pipe: &mut impl Read) -> Result<(), PipeError> {
        let mut frame = Frame::default();
        let mut size_px = None;
        loop {
            match pipe::read_head(pipe)? {
                Head::Message(Message::Ready(granted)) => {
                    let got = (granted.width_px, granted.height_px);
                    if let Some((width, height)) = self.size_px.filter(|wanted| *wanted != got) {
                        let told = format!(
                            "{}: gives {}x{} px, wanted are {width}x{height}",
                            granted.device, got.0, got.1
                        );
                        self.tell(Event::Trouble(FaultKind::WrongSize, told));
                        return Ok(());
                    }
                    size_px = Some(got);
                    // Before the first frame, so that nobody has one without knowing what it is.
                    if !self.slot.grant(self.generation, &granted) {
                        return Ok(());
                    }
                    self.tell(Event::Ready(Box::new(granted)));
                }
                Head::Message(Message::Trouble { kind, detail }) => {
                    self.tell(Event::Trouble(kind, detail));
                }
                Head::Message(other) => {
                    let told = format!("a message that belongs to a list: {other:?}");
                    return Err(PipeError::Garbage(told));
                }
                Head::Frame(head) => {
                    let Some(size) = size_px else {
                        let told = "a frame before the camera was told to be open".to_owned();
                        return Err(PipeError::Garbage(told));
                    };
                    if size != (head.width_px, head.height_px) {
                        let told = format!(
                            "a frame has {}x{} px, granted were {}x{}",
                            head.width_px, head.height_px, size.0, size.1
                        );
                        self.tell(Event::Trouble(FaultKind::WrongSize, told));
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

    /// Hands a frame on; false when nobody wants frames of this worker any more.
    fn publish(&self, head: &FrameHead, frame: &mut Frame) -> bool {
        let now_ns = monotonic_ns();
        let believable = head.stamp_ns <= now_ns && now_ns - head.stamp_ns < OLDEST_STAMP_NS;
        let taken_ns = if believable { head.stamp_ns } else { now_ns };
        let secs = taken_ns.saturating_sub(self.opened_ns) as f64 / 1e9;
        let arrival = Arrival {
            now: Instant::now(),
            generation: self.generation,
            sequence: head.sequence,
            taken_ns,
            secs,
            look: self.slot.look(&frame.luma, secs),
        };
        self.slot.publish(frame, arrival, self.quiet)
    }

    /// Tells the supervisor; what finds no room is left out, so that reading never waits.
    fn tell(&self, event: Event) {
        let _full = self.events.try_send(event);
    }
}

/// Reads the levels of a frame into its memory.
fn read_levels(pipe: &mut impl Read, head: &FrameHead, frame: &mut Frame) -> Result<(), PipeError> {
    frame.width_px = head.width_px;
    frame.height_px = head.height_px;
    if head.bits > 8 {
        let mut levels = frame.luma.take_sixteen(head.pixels());
        let read = pipe.read_exact(bytemuck::cast_slice_mut(&mut levels));
        for level in &mut levels {
            *level = u16::from_le(*level);
        }
        let bits = head.bits;
        frame.luma = Luma::Sixteen { bits, levels };
        read?;
    } else {
        let mut levels = frame.luma.take_eight(head.pixels());
        let read = pipe.read_exact(&mut levels);
        frame.luma = Luma::Eight(levels);
        read?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    /// A pipe that has carried so many frames.
    fn pipe_with(frames: u64) -> Vec<u8> {
        let mut pipe = Vec::new();
        let granted = Granted {
            width_px: 64,
            height_px: 48,
            ..Granted::default()
        };
        pipe::write_message(&mut pipe, &Message::Ready(granted)).unwrap();
        for sequence in 0..frames {
            let head = FrameHead {
                sequence,
                stamp_ns: 0,
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
    fn reading_takes_no_memory_in_the_steady_state() {
        let allocations = |frames: u64| {
            let pipe = pipe_with(frames);
            let slot = Arc::new(Slot::new("test", Duration::from_secs(3)));
            let (events, _heard) = sync_channel(4);
            let reader = Reader {
                generation: 0,
                slot: Arc::clone(&slot),
                opened_ns: 0,
                quiet: Duration::from_secs(1),
                size_px: None,
                events,
            };
            let counted = allocation_counter::measure(|| {
                let ended = reader.read_all(&mut pipe.as_slice());
                assert!(matches!(ended, Err(PipeError::Ended)));
            });
            let mut newest = Frame::default();
            assert!(slot.take(&mut newest, Duration::ZERO));
            assert_eq!(newest.sequence, frames - 1);
            counted.count_total
        };
        assert_eq!(allocations(10), allocations(300));
    }
}
