//! Keeps the camera's frames on a thread of its own, so that a slow disk delays nobody. A frame that the disk does not
//! keep up with is left out and counted.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::camera::{Frame, Luma, Recording};

use super::super::tell;
use super::supervise::{Pulse, Trouble};

/// Frames that may wait for the disk: a second or two of a camera.
const WAITING: usize = 48;

/// Where the capture thread hands its frames to.
pub struct Tap {
    frames: SyncSender<Frame>,
    /// Frames that are written, to be filled again.
    empty: Receiver<Frame>,
    late: Trouble,
    open: bool,
}

/// The recorder's side.
pub struct Recorder {
    recording: Option<Recording>,
    ends: Option<(Receiver<Frame>, SyncSender<Frame>)>,
}

/// Both ends of a recording that has been begun.
pub fn recorder(recording: Recording) -> (Tap, Recorder) {
    let (frames, to_write) = sync_channel(WAITING);
    let (written, empty) = sync_channel(WAITING);
    let tap = Tap {
        frames,
        empty,
        late: Trouble::new("recording_late"),
        open: true,
    };
    let recorder = Recorder {
        recording: Some(recording),
        ends: Some((to_write, written)),
    };
    (tap, recorder)
}

impl Tap {
    /// Hands a copy of a frame over; never waits.
    pub fn keep(&mut self, frame: &Frame) {
        if !self.open {
            return;
        }
        let mut copy = self.empty.try_recv().unwrap_or_default();
        copy_frame(&mut copy, frame);
        match self.frames.try_send(copy) {
            Ok(()) => self.late.calm(),
            Err(TrySendError::Full(_)) => {
                let sentence = "the disk is too slow for the recording: frames are left out";
                self.late.happened(&sentence);
            }
            Err(TrySendError::Disconnected(_)) => self.open = false,
        }
    }
}

impl Recorder {
    /// Writes until the recording is full, the disk is, the tap is gone or the program ends. Then the file is whole.
    pub fn run(&mut self, pulse: &Pulse) {
        let (Some(mut recording), Some((frames, empty))) =
            (self.recording.take(), self.ends.take())
        else {
            return;
        };
        loop {
            let frame = match frames.recv_timeout(Duration::from_millis(100)) {
                Ok(frame) => frame,
                Err(RecvTimeoutError::Timeout) if pulse.goes_on() => continue,
                // At the end, what waited has been written by now.
                Err(_) => break,
            };
            match recording.write(&frame) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!("{error}; the show goes on without recording");
                    break;
                }
            }
            // Where nobody takes it back there is nothing to keep.
            let _full = empty.try_send(frame);
        }
        match recording.finish() {
            Ok(done) => tell(&format!(
                "recorded {} frames, {:.1} s: {}",
                done.frames,
                done.secs,
                done.path.display()
            )),
            Err(error) => tracing::warn!("{error}"),
        }
    }
}

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
    use super::super::supervise::{Crew, Stop, Watch};
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn frames_handed_over_before_the_end_are_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let recording = Recording::create(&path, 60.0, 30.0).unwrap();
        let (mut tap, mut writer) = recorder(recording);
        let stop = Stop::default();
        let mut crew = Crew::new(Stop::clone(&stop));
        for n in 0..20 {
            tap.keep(&Frame {
                sequence: n,
                time_secs: n as f64 / 30.0,
                width_px: 2,
                height_px: 1,
                luma: Luma::U8(vec![n as u8; 2]),
            });
        }
        stop.store(true, Ordering::Relaxed);
        crew.start("recorder", Watch::MayWait, move |pulse| {
            writer.run(pulse);
            Ok(())
        })
        .unwrap();
        while crew.any_alive() {
            std::thread::sleep(Duration::from_millis(5));
        }
        crew.end().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.windows(5).filter(|w| w == b"FRAME").count(), 20);
        tap.keep(&Frame::default());
        assert!(!tap.open, "nobody writes any more");
    }
}
