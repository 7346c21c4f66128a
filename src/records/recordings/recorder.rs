//! Records the camera's frames on a thread of its own, so that a slow disk does not delay the other stages. Frames that
//! the disk cannot write in time are dropped and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::camera::{Frame, Luma, Recording};

use crate::control::Journal;
use crate::runtime::{Fault, Heartbeat, print_message};

/// Frame rate in the header of a recording if the rate of the camera is not known, in frames per second.
pub(super) const USUAL_FPS: f64 = 30.0;
/// Time without another lateness after which the fault ends.
const LATE_FAULT_TIME: Duration = Duration::from_secs(60);
/// Largest number of frames that may wait for the disk: one to two seconds at 25 to 48 frames per second.
const WAITING_MAX: usize = 48;
/// Longest wait for a frame before the next heartbeat.
const FRAME_WAIT: Duration = Duration::from_millis(100);

/// Time after which written frames are on the disk, so that a power cut costs no more.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The sending end of the recorder, which the camera source uses.
pub(super) struct RecorderInput {
    frames: SyncSender<Frame>,
    /// Frames that the recorder has written and returns, so that their memory is reused.
    written: Receiver<Frame>,
    late: Fault,
    /// The fault that the recording has ended early. Held here too, because the recorder thread ends with the recording.
    _failed: Arc<Mutex<Fault>>,
    is_open: bool,
}

/// The receiving end of the recorder, which runs on the recorder thread.
pub(super) struct Recorder {
    recording: Option<Recording>,
    /// Size of the file, in bytes.
    bytes: Arc<AtomicU64>,
    failed: Arc<Mutex<Fault>>,
    channels: Option<(Receiver<Frame>, SyncSender<Frame>)>,
}

/// Returns the two ends of a recorder that writes to `recording`.
pub(super) fn recorder(recording: Recording, journal: &Journal) -> (RecorderInput, Recorder) {
    let (frames, to_write) = sync_channel(WAITING_MAX);
    let (give_back, written) = sync_channel(WAITING_MAX);
    let failed = journal.fault("recording_failed");
    let failed = Arc::new(Mutex::new(failed));
    let input = RecorderInput {
        frames,
        written,
        late: journal.fault("recording_late").lasting(LATE_FAULT_TIME),
        _failed: Arc::clone(&failed),
        is_open: true,
    };
    let recorder = Recorder {
        recording: Some(recording),
        bytes: Arc::default(),
        failed,
        channels: Some((to_write, give_back)),
    };
    (input, recorder)
}

impl RecorderInput {
    /// Sends a copy of a frame to the recorder. Never waits: if too many frames are already waiting, the frame is dropped.
    pub(super) fn send(&mut self, frame: &Frame) {
        if !self.is_open {
            return;
        }
        let mut copy = self.written.try_recv().unwrap_or_default();
        copy_frame(&mut copy, frame);
        match self.frames.try_send(copy) {
            Ok(()) => self.late.clear(),
            Err(TrySendError::Full(_)) => {
                self.late
                    .raise(&"the disk is too slow for the recording; frames are dropped");
            }
            Err(TrySendError::Disconnected(_)) => self.is_open = false,
        }
    }
}

impl Recorder {
    /// Returns the size of the file in bytes, which grows while [`Self::run`] writes.
    pub(super) fn bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// Writes frames until the recording has its full length, the disk is full, or the program ends. Then finishes the file.
    pub(super) fn run(&mut self, heartbeat: &Heartbeat) {
        let (Some(mut recording), Some((frames, give_back))) =
            (self.recording.take(), self.channels.take())
        else {
            return;
        };
        let mut synced = Instant::now();
        loop {
            // When the program ends, the frames that wait are written. The camera may still send, so this does not wait for more.
            let wait = if heartbeat.keep_running() {
                FRAME_WAIT
            } else {
                Duration::ZERO
            };
            let frame = match frames.recv_timeout(wait) {
                Ok(frame) => frame,
                Err(RecvTimeoutError::Timeout) if !wait.is_zero() => continue,
                Err(_) => break,
            };
            let is_due = synced.elapsed() >= SYNC_INTERVAL;
            let written = recording.write(&frame).and_then(|is_written| {
                if is_due {
                    synced = Instant::now();
                    recording.sync()?;
                }
                Ok(is_written)
            });
            match written {
                Ok(true) => self.bytes.store(recording.bytes().0, Ordering::Relaxed),
                Ok(false) => break,
                Err(error) => {
                    let detail = format!("{error}; the recording ends here");
                    self.failed.lock().raise(&detail);
                    break;
                }
            }
            // If the channel is full, the memory of the frame is freed instead of reused.
            let _full = give_back.try_send(frame);
        }
        match recording.finish() {
            Ok(done) => print_message(&format!(
                "recorded {} frames, {:.1} s: {}",
                done.frames,
                done.secs,
                done.path.display()
            )),
            Err(error) => {
                self.failed.lock().raise(&error);
            }
        }
    }
}

/// Copies a frame into an existing frame, whose memory is reused.
fn copy_frame(to: &mut Frame, from: &Frame) {
    to.sequence = from.sequence;
    to.time_secs = from.time_secs;
    to.width_px = from.width_px;
    to.height_px = from.height_px;
    match (&mut to.luma, &from.luma) {
        (Luma::U8(to), Luma::U8(from)) => to.clone_from(from),
        (
            Luma::U16 { bits, levels },
            Luma::U16 {
                bits: from_bits,
                levels: from,
            },
        ) => {
            *bits = *from_bits;
            levels.clone_from(from);
        }
        (to, from) => *to = from.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Board;
    use crate::runtime::{HangPolicy, StopFlag, Supervisor};
    use shoal_testing::assert_message;

    /// A fixed bug: a recording that failed was only a line in the log.
    #[test]
    fn a_recording_that_failed_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let journal = Journal::new(Arc::new(Board::default()));
        let recording = Recording::create(&path, 60.0, 30.0).unwrap();
        let (mut input, mut recorder) = recorder(recording, &journal);
        for width_px in [1, 2] {
            input.send(&Frame {
                width_px,
                height_px: 1,
                luma: Luma::U8(vec![0; width_px as usize]),
                ..Frame::default()
            });
        }
        let mut supervisor = Supervisor::new(StopFlag::default());
        supervisor
            .start("recorder", HangPolicy::WaitAtEnd, move |heartbeat| {
                recorder.run(heartbeat);
            })
            .unwrap();
        while supervisor.is_any_running() {
            std::thread::sleep(Duration::from_millis(5));
        }
        supervisor.shut_down().unwrap();
        let faults = journal.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].name, "recording_failed");
        assert_message(&faults[0].detail, &["changed after 1 frames"]);
        drop(input);
    }

    #[test]
    fn frames_sent_before_the_end_are_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let recording = Recording::create(&path, 60.0, 30.0).unwrap();
        let (mut input, mut recorder) = recorder(recording, &Journal::default());
        let stop = StopFlag::default();
        let mut supervisor = Supervisor::new(StopFlag::clone(&stop));
        for n in 0..20 {
            input.send(&Frame {
                sequence: n,
                time_secs: n as f64 / 30.0,
                width_px: 2,
                height_px: 1,
                luma: Luma::U8(vec![n as u8; 2]),
            });
        }
        stop.store(true, Ordering::Relaxed);
        supervisor
            .start("recorder", HangPolicy::WaitAtEnd, move |heartbeat| {
                recorder.run(heartbeat);
            })
            .unwrap();
        while supervisor.is_any_running() {
            std::thread::sleep(Duration::from_millis(5));
        }
        supervisor.shut_down().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.windows(5).filter(|w| w == b"FRAME").count(), 20);
        input.send(&Frame::default());
        assert!(!input.is_open, "the recorder has ended");
    }
}
