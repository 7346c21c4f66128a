//! The capture stage: reads a camera source and hands the newest frame over. A source that fails is tried again for ever;
//! the pool goes on without it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::camera::{
    CameraError, CameraParams, Frame, LiveSetup, Playback, ReadOutcome, Source, SourceKind,
    SourceSpec, WorkerCommand,
};

use super::clock::Backoff;
use super::recorder::Tap;
use super::slot::Slot;
use super::supervise::{Pulse, Trouble};

/// Pauses between attempts to open a source again.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long a live camera is waited for before signs of life are given. It looks after its own faults.
const WAIT: Duration = Duration::from_millis(100);

/// A frame and when it came.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The frame. Its time stamps never go back, also where a recording begins again.
    pub frame: Frame,
    /// When it was taken by a live camera, or read from any other source.
    pub at: Instant,
}

impl Default for Arrival {
    fn default() -> Self {
        Self {
            frame: Frame::default(),
            at: Instant::now(),
        }
    }
}

/// What happens when a recording is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// It begins again.
    Repeat,
    /// It is a fault, and the pool goes on without visitors.
    Stay,
}

/// The capture stage's own state.
pub struct Capture {
    spec: SourceSpec,
    params: CameraParams,
    at_end: AtEnd,
    tap: Option<Tap>,
    frames: Arc<Slot<Arrival>>,
    trouble: Trouble,
    backoff: Backoff,
    /// Where the next playing of the source begins on our clock, and with which number.
    offset_secs: f64,
    offset: u64,
    /// Time between two frames.
    step: Duration,
}

/// Why a playing of the source ended.
enum Ended {
    /// It is at its end, after so many frames.
    Here(u64),
    /// The program ends.
    Stopped,
}

impl Capture {
    /// A stage that has not opened its source yet.
    pub fn new(
        spec: SourceSpec,
        params: CameraParams,
        at_end: AtEnd,
        tap: Option<Tap>,
        frames: Arc<Slot<Arrival>>,
    ) -> Self {
        Self {
            spec,
            params,
            at_end,
            tap,
            frames,
            trouble: Trouble::new("camera"),
            backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE),
            offset_secs: 0.0,
            offset: 0,
            step: Duration::ZERO,
        }
    }

    /// Reads until the program ends.
    pub fn run(&mut self, pulse: &Pulse) {
        // A program that writes frames stands for a camera; a file that is over stays so.
        let can_come_back = matches!(self.spec.kind, SourceKind::Command(_));
        while pulse.goes_on() {
            match self.play(pulse) {
                Ok(Ended::Stopped) => return,
                Ok(Ended::Here(frames)) if self.at_end == AtEnd::Repeat && frames > 0 => {
                    // The last frame is shown as long as the others; a recording of one frame is no busy circle.
                    if !pulse.sleep(self.step) {
                        return;
                    }
                    continue;
                }
                Ok(Ended::Here(frames)) => {
                    let sentence = format!(
                        "the camera's source is at its end after {frames} frames; the pool goes on without visitors"
                    );
                    self.trouble.happened(&sentence);
                    if !can_come_back && self.at_end == AtEnd::Stay {
                        while pulse.sleep(Duration::from_secs(1)) {}
                        return;
                    }
                }
                Err(error) => {
                    self.trouble.happened(&format!(
                        "{error:#}; the pool goes on without visitors, and the camera is tried again"
                    ));
                }
            }
            self.backoff.fail(Instant::now());
            // The first pause is none: also a program that ends at once must not be started in a circle.
            let pause = self.backoff.wait(Instant::now()).max(FIRST_PAUSE);
            if !pulse.sleep(pause) {
                return;
            }
        }
    }

    fn open(&self) -> Result<Source, CameraError> {
        if let SourceKind::Live { .. } = self.spec.kind {
            let worker = WorkerCommand::own()?;
            return Source::live(LiveSetup::new(self.spec.clone(), &self.params, worker));
        }
        let playback = Playback {
            fps: self.params.fps,
            fast: false,
        };
        Source::open(&self.spec, playback)
    }

    fn play(&mut self, pulse: &Pulse) -> anyhow::Result<Ended> {
        let mut source = self.open()?;
        // Sources say rates of a frame in a thousand seconds up to ten thousand a second.
        self.step = Duration::from_secs_f64((1.0 / source.fps()).clamp(1e-4, 1e3));
        let mut arrival = Arrival::default();
        let (mut count, mut last_secs, mut last) = (0, self.offset_secs, self.offset);
        let ended = loop {
            if !pulse.goes_on() {
                break Ok(Ended::Stopped);
            }
            match source.read_within(&mut arrival.frame, WAIT) {
                Ok(ReadOutcome::Frame) => {}
                Ok(ReadOutcome::Timeout) => continue,
                Ok(ReadOutcome::End) => break Ok(Ended::Here(count)),
                Err(error) => break Err(error.into()),
            }
            // A live camera knows when a frame was taken; of any other source, reading it is its arrival.
            let age_secs = source
                .live_camera()
                .map_or(0.0, |camera| camera.now_secs() - arrival.frame.time_secs);
            let age = Duration::from_secs_f64(age_secs.clamp(0.0, 10.0));
            let now = Instant::now();
            arrival.at = now.checked_sub(age).unwrap_or(now);
            arrival.frame.time_secs += self.offset_secs;
            arrival.frame.sequence += self.offset;
            (last_secs, last) = (arrival.frame.time_secs, arrival.frame.sequence);
            count += 1;
            if let Some(tap) = &mut self.tap {
                tap.keep(&arrival.frame);
            }
            self.frames.put(&mut arrival);
            self.trouble.over();
            self.backoff.well(Instant::now());
        };
        while let Some(warning) = source.take_warning() {
            tracing::warn!("{warning}");
        }
        if count > 0 {
            (self.offset_secs, self.offset) = (last_secs + self.step.as_secs_f64(), last + 1);
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::super::supervise::{Crew, Stop, Watch};
    use super::*;
    use crate::camera::{Luma, Recording};

    /// Frames that a capture of three recorded ones hands over, until the fifth.
    fn captured(at_end: AtEnd, count: usize) -> Vec<(u64, f64)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.y4m");
        let mut recording = Recording::create(&path, 60.0, 50.0).unwrap();
        for n in 0..3_u64 {
            let frame = Frame {
                sequence: n,
                time_secs: n as f64 / 50.0,
                width_px: 2,
                height_px: 1,
                luma: Luma::U8(vec![n as u8; 2]),
            };
            assert!(recording.write(&frame).unwrap());
        }
        recording.finish().unwrap();
        let spec = SourceSpec::parse(&format!("file:{}", path.display())).unwrap();
        let frames: Arc<Slot<Arrival>> = Arc::default();
        let params = CameraParams::default();
        let mut capture = Capture::new(spec, params, at_end, None, Arc::clone(&frames));
        let mut crew = Crew::new(Stop::default());
        crew.start("capture", Watch::MayWait, move |pulse| {
            capture.run(pulse);
            Ok(())
        })
        .unwrap();
        let (mut arrival, mut seen) = (Arrival::default(), Vec::new());
        while seen.len() < count && frames.take(&mut arrival, Duration::from_secs(5)) {
            seen.push((arrival.frame.sequence, arrival.frame.time_secs));
        }
        crew.end().unwrap();
        seen
    }

    #[test]
    fn a_repeated_recording_goes_on_in_number_and_time() {
        let seen = captured(AtEnd::Repeat, 5);
        assert_eq!(seen.len(), 5);
        for pair in seen.windows(2) {
            // On a busy machine a frame may have been replaced by the next one.
            assert!(pair[1].0 > pair[0].0, "{seen:?}");
            let steps = (pair[1].0 - pair[0].0) as f64;
            let secs = pair[1].1 - pair[0].1;
            assert!((secs - steps / 50.0).abs() < 1e-9, "{seen:?}");
        }
    }

    #[test]
    fn a_recording_that_is_over_stays_so() {
        let seen = captured(AtEnd::Stay, 4);
        assert!(!seen.is_empty() && seen.len() <= 3, "{seen:?}");
    }
}
