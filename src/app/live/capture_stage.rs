//! The capture stage: reads the camera source and hands the newest frame to the vision stage. A source that fails is
//! opened again and again; meanwhile the pool runs without visitors.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::camera::{
    CameraError, CameraParams, Frame, LiveSetup, Playback, ReadOutcome, Source, SourceKind,
    SourceSpec, WorkerCommand,
};

use super::fault_reporter::FaultReporter;
use super::latest_slot::LatestSlot;
use super::recorder::RecorderInput;
use super::supervisor::Heartbeat;
use super::timing::Backoff;

/// First pause between two attempts to open the source.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause between two attempts to open the source.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Longest wait for a frame before the next heartbeat. A live camera detects its own faults.
const FRAME_WAIT: Duration = Duration::from_millis(100);

/// A frame, and when it was taken.
#[derive(Clone, Debug)]
pub(crate) struct CapturedFrame {
    /// The frame. Its time stamp always grows, also when a recording starts again.
    pub(crate) frame: Frame,
    /// Time at which a live camera took the frame, or at which it was read from another source.
    pub(crate) taken_at: Instant,
}

impl Default for CapturedFrame {
    fn default() -> Self {
        Self {
            frame: Frame::default(),
            taken_at: Instant::now(),
        }
    }
}

/// What happens at the end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// The recording starts again.
    Repeat,
    /// The end is a fault, and the pool runs without visitors.
    Stay,
}

/// The capture stage. It keeps its state when it is restarted after a panic.
pub(crate) struct CaptureStage {
    spec: SourceSpec,
    params: CameraParams,
    at_end: AtEnd,
    recorder: Option<RecorderInput>,
    frames: Arc<LatestSlot<CapturedFrame>>,
    fault: FaultReporter,
    backoff: Backoff,
    /// Time stamp at which the next playback of the source starts.
    offset_secs: f64,
    /// Frame number at which the next playback of the source starts.
    offset: u64,
    /// Time between two frames of the source.
    frame_interval: Duration,
}

/// Why a playback of the source ended.
enum PlaybackEnd {
    /// The source has no more frames after this number of frames.
    SourceEnd(u64),
    /// The program ends.
    Stopped,
}

impl CaptureStage {
    /// A stage that has not opened its source yet.
    pub(crate) fn new(
        spec: SourceSpec,
        params: CameraParams,
        at_end: AtEnd,
        recorder: Option<RecorderInput>,
        frames: Arc<LatestSlot<CapturedFrame>>,
    ) -> Self {
        Self {
            spec,
            params,
            at_end,
            recorder,
            frames,
            fault: FaultReporter::new("camera"),
            backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE),
            offset_secs: 0.0,
            offset: 0,
            frame_interval: Duration::ZERO,
        }
    }

    /// Reads frames until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        // A program that writes frames is started again after its end, like a camera. A file that ended stays at its end.
        let can_come_back = matches!(self.spec.kind, SourceKind::Command(_));
        while heartbeat.keep_running() {
            match self.play(heartbeat) {
                Ok(PlaybackEnd::Stopped) => return,
                Ok(PlaybackEnd::SourceEnd(frames))
                    if self.at_end == AtEnd::Repeat && frames > 0 =>
                {
                    // The last frame is shown for one interval too, and a recording of one frame does not loop at full speed.
                    if !heartbeat.sleep(self.frame_interval) {
                        return;
                    }
                    continue;
                }
                Ok(PlaybackEnd::SourceEnd(frames)) => {
                    self.fault.raise(&format!(
                        "the camera source ended after {frames} frames; the pool runs without visitors"
                    ));
                    if !can_come_back && self.at_end == AtEnd::Stay {
                        while heartbeat.sleep(Duration::from_secs(1)) {}
                        return;
                    }
                }
                Err(error) => {
                    self.fault.raise(&format!(
                        "{error:#}; the pool runs without visitors, and the camera is opened again"
                    ));
                }
            }
            self.backoff.record_failure(Instant::now());
            // At least the first pause, also for the first failure: a program that ends at once must not be started in a loop.
            let pause = self.backoff.remaining(Instant::now()).max(FIRST_PAUSE);
            if !heartbeat.sleep(pause) {
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

    /// Opens the source and hands on its frames until it ends.
    fn play(&mut self, heartbeat: &Heartbeat) -> anyhow::Result<PlaybackEnd> {
        let mut source = self.open()?;
        // Clamped to what a duration can hold: from 10,000 frames per second to one frame in 1,000 seconds.
        self.frame_interval = Duration::from_secs_f64((1.0 / source.fps()).clamp(1e-4, 1e3));
        let mut captured = CapturedFrame::default();
        let (mut count, mut last_secs, mut last) = (0, self.offset_secs, self.offset);
        let ended = loop {
            if !heartbeat.keep_running() {
                break Ok(PlaybackEnd::Stopped);
            }
            match source.read_within(&mut captured.frame, FRAME_WAIT) {
                Ok(ReadOutcome::Frame) => {}
                Ok(ReadOutcome::Timeout) => continue,
                Ok(ReadOutcome::End) => break Ok(PlaybackEnd::SourceEnd(count)),
                Err(error) => break Err(error.into()),
            }
            // A live camera reports when the frame was taken. A frame of any other source is taken when it is read.
            let age_secs = source
                .live_camera()
                .map_or(0.0, |camera| camera.now_secs() - captured.frame.time_secs);
            let age = Duration::from_secs_f64(age_secs.clamp(0.0, 10.0));
            let now = Instant::now();
            captured.taken_at = now.checked_sub(age).unwrap_or(now);
            captured.frame.time_secs += self.offset_secs;
            captured.frame.sequence += self.offset;
            (last_secs, last) = (captured.frame.time_secs, captured.frame.sequence);
            count += 1;
            if let Some(recorder) = &mut self.recorder {
                recorder.send(&captured.frame);
            }
            self.frames.put(&mut captured);
            self.fault.clear();
            self.backoff.record_success(Instant::now());
        };
        while let Some(warning) = source.take_warning() {
            tracing::warn!("{warning}");
        }
        if count > 0 {
            let next_secs = last_secs + self.frame_interval.as_secs_f64();
            (self.offset_secs, self.offset) = (next_secs, last + 1);
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::super::supervisor::{HangPolicy, StopFlag, Supervisor};
    use super::*;
    use crate::camera::{Luma, Recording};

    /// Numbers and times of the first `count` frames captured from a recording of three frames.
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
        let frames: Arc<LatestSlot<CapturedFrame>> = Arc::default();
        let params = CameraParams::default();
        let mut stage = CaptureStage::new(spec, params, at_end, None, Arc::clone(&frames));
        let mut supervisor = Supervisor::new(StopFlag::default());
        supervisor
            .start("capture", HangPolicy::WaitAtEnd, move |heartbeat| {
                stage.run(heartbeat);
                Ok(())
            })
            .unwrap();
        let (mut captured, mut seen) = (CapturedFrame::default(), Vec::new());
        while seen.len() < count && frames.take(&mut captured, Duration::from_secs(5)) {
            seen.push((captured.frame.sequence, captured.frame.time_secs));
        }
        supervisor.shut_down().unwrap();
        seen
    }

    #[test]
    fn numbers_and_times_go_on_when_a_recording_repeats() {
        let seen = captured(AtEnd::Repeat, 5);
        assert_eq!(seen.len(), 5);
        for pair in seen.windows(2) {
            // On a busy machine a frame may have been replaced by the next one.
            assert!(pair[1].0 > pair[0].0, "{seen:?}");
            let frames = (pair[1].0 - pair[0].0) as f64;
            let secs = pair[1].1 - pair[0].1;
            assert!((secs - frames / 50.0).abs() < 1e-9, "{seen:?}");
        }
    }

    #[test]
    fn a_recording_that_ended_stays_at_its_end() {
        let seen = captured(AtEnd::Stay, 4);
        assert!(!seen.is_empty() && seen.len() <= 3, "{seen:?}");
    }
}
