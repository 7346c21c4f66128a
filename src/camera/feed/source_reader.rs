//! Reads a source that needs no worker (a file, a folder, a program, standard input, a synthetic source) on a thread of its
//! own. Waits until each frame is due, then publishes it.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use super::feed_clock::Stamp;
use super::reader::ReaderEvent;
use super::setup::FeedMode;
use super::slot::{Arrival, FrameSlot};
use crate::camera::fault::{Fault, FaultKind};
use crate::camera::pipe::GrantedSettings;
use crate::camera::{CameraError, Frame, Luma, Source};
use crate::runtime::monotonic_ns;

/// Longest sleep between two checks while a frame is not due yet. Limits how long a reader runs after the supervisor has
/// abandoned it.
const PACING_STEP: Duration = Duration::from_millis(50);

/// The reason why a reader has ended.
#[derive(Debug)]
pub(super) enum ReaderEnd {
    /// The pipe of a worker ended. Earlier events contain the reason.
    Pipe,
    /// The source has no further frame. Contains the number of frames that this start has read.
    End(u64),
    /// The source cannot be read.
    Failed(CameraError),
    /// The supervisor has abandoned this reader.
    Abandoned,
}

/// Opens a source and reads its frames. Each start of the source has its own reader.
pub(super) struct SourceReader {
    /// Number of the reader, see [`FrameSlot`].
    pub(super) generation: u64,
    pub(super) slot: Arc<FrameSlot>,
    pub(super) mode: FeedMode,
    /// Time when the feed was opened, in nanoseconds on the monotonic clock.
    pub(super) opened_ns: u64,
    /// Required size of the frames; `None` before the first start.
    pub(super) size_px: Option<(u32, u32)>,
    pub(super) events: SyncSender<ReaderEvent>,
}

impl SourceReader {
    /// Opens the source and reads it until it ends or fails, or the supervisor abandons this reader.
    pub(super) fn run(&self, open: impl FnOnce() -> Result<Source, CameraError>) -> ReaderEnd {
        self.slot.set_waiting(self.generation, true);
        let mut source = match open() {
            Ok(source) => source,
            Err(error) => return ReaderEnd::Failed(error),
        };
        self.warn(&mut source);
        let end = self.read_all(&mut source);
        // If Shoal itself has ended a program, the incomplete last frame is no problem of the program.
        if self.slot.is_current(self.generation) {
            self.warn(&mut source);
        }
        end
    }

    fn warn(&self, source: &mut Source) {
        while let Some(warning) = source.take_warning() {
            self.slot.warn(warning);
        }
    }

    fn read_all(&self, source: &mut Source) -> ReaderEnd {
        let mut frame = Frame::default();
        let mut frames = 0;
        loop {
            match source.read(&mut frame) {
                Ok(true) => {}
                Ok(false) => return ReaderEnd::End(frames),
                Err(error) if self.can_skip(source, &error, frames) => {
                    let fault = Fault::new(FaultKind::DamagedFrames, error.to_string());
                    self.notify(ReaderEvent::Fault(fault));
                    if self.slot.is_current(self.generation) {
                        continue;
                    }
                    return ReaderEnd::Abandoned;
                }
                Err(error) => return ReaderEnd::Failed(error),
            }
            self.slot.set_waiting(self.generation, false);
            if frames == 0
                && let Err(error) = self.check_first(source, &frame)
            {
                return ReaderEnd::Failed(error);
            }
            frames += 1;
            if !self.publish(source, &mut frame) {
                return ReaderEnd::Abandoned;
            }
        }
    }

    /// Whether one image of a folder is skipped, because it cannot be read or has another size than the images before it.
    fn can_skip(&self, source: &Source, error: &CameraError, frames: u64) -> bool {
        let is_wrong_source = frames == 0 && matches!(error, CameraError::SizeChanged { .. });
        self.mode == FeedMode::Live && source.continues_after_errors() && !is_wrong_source
    }

    /// Checks the size of the first frame, and reports the settings of the source.
    fn check_first(&self, source: &Source, frame: &Frame) -> Result<(), CameraError> {
        let size_px = (frame.width_px, frame.height_px);
        if let Some((expected_width_px, expected_height_px)) = self.size_px
            && self.size_px != Some(size_px)
        {
            return Err(CameraError::SizeChanged {
                source_name: source.name().to_owned(),
                frame: 0,
                width_px: frame.width_px,
                height_px: frame.height_px,
                expected_width_px,
                expected_height_px,
                why: "the size before the source was started again",
            });
        }
        let format = match &frame.luma {
            Luma::U8(_) => "gray, 8 bits".to_owned(),
            Luma::U16 { bits, .. } => format!("gray, {bits} bits"),
        };
        let granted = GrantedSettings {
            device: source.name().to_owned(),
            format,
            width_px: frame.width_px,
            height_px: frame.height_px,
            fps: Some(source.fps()),
            ..GrantedSettings::default()
        };
        if self.slot.grant(self.generation, &granted) {
            self.notify(ReaderEvent::Ready(Box::new(granted)));
        }
        Ok(())
    }

    /// Waits until the frame is due and publishes it. Returns false if the supervisor has abandoned this reader.
    fn publish(&self, source: &Source, frame: &mut Frame) -> bool {
        let given = source.timestamp_secs();
        let stamp = Stamp {
            secs: frame.time_secs,
            is_given: given.is_some(),
            interval_secs: 1.0 / source.fps(),
        };
        let now_secs = monotonic_ns().saturating_sub(self.opened_ns) as f64 / 1e9;
        let Some(placed) = self.slot.place(self.generation, stamp, now_secs) else {
            return false;
        };
        if let Some(jump_secs) = placed.jump_secs {
            let detail = format!(
                "{}: the timestamp of frame {} is {jump_secs:.1} s later than the one before; the time continues without this jump",
                source.name(),
                frame.sequence
            );
            let fault = Fault::new(FaultKind::TimestampJump, detail);
            self.notify(ReaderEvent::Fault(fault));
        }
        let is_fast = self.mode == FeedMode::EveryFrame { fast: true };
        if !is_fast && !self.sleep(Duration::from_secs_f64(placed.wait_secs)) {
            return false;
        }
        let arrival = Arrival {
            now: Instant::now(),
            generation: self.generation,
            sequence: frame.sequence,
            captured_ns: monotonic_ns(),
            secs: placed.secs,
            quality: self.slot.check_quality(&frame.luma, placed.secs),
        };
        self.slot.publish(frame, arrival)
    }

    /// Sleeps for `pause`. Returns false if the supervisor has abandoned this reader in the meantime.
    fn sleep(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(PACING_STEP));
            if !self.slot.is_current(self.generation) {
                return false;
            }
        }
    }

    /// Sends an event to the supervisor. If the channel is full, the event is dropped, so that the reader never waits.
    fn notify(&self, event: ReaderEvent) {
        let _full = self.events.try_send(event);
    }
}
