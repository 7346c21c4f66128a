//! What an operator does to the running stages: restarts one or all of them, pauses the pool, records the camera, and replays a
//! recording instead of it.
//!
//! In: commands, from the desk. Out: requests, which the stages and the supervisor carry out. Must not: wait for a stage.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::rig::Rig;
use crate::control::{HandEnd, RecordingStep, StageChoice, TestPicture};
use crate::operation::ShowControl;
use crate::records::RecordingDeck;
use crate::runtime::{StageBoard, StopFlag};

/// The means to control the stages.
pub(crate) struct StageControl {
    /// The health of the threads of all stages, through which a stage is restarted.
    pub(crate) stages: StageBoard,
    /// The cameras, whose sources the vision stages open.
    pub(crate) rig: Arc<Rig>,
    /// Pause and rehearsal.
    pub(crate) show: ShowControl,
    /// The recorder.
    pub(crate) deck: Arc<RecordingDeck>,
    /// Ends the program so that it starts again.
    pub(crate) program: ProgramEnd,
}

/// Time between the reply to a request for a restart and the end of the program, so that the reply arrives.
const REPLY_TIME: Duration = Duration::from_millis(300);

/// Ends the program so that it starts again. Copies share their content.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramEnd {
    requested: Arc<Mutex<Option<Instant>>>,
    stop: StopFlag,
}

impl ProgramEnd {
    pub(crate) fn new(stop: StopFlag) -> Self {
        Self {
            requested: Arc::default(),
            stop,
        }
    }

    fn request(&self) {
        self.requested.lock().get_or_insert_with(Instant::now);
    }

    /// Ends the program if a restart was requested.
    pub(crate) fn follow(&self) {
        let requested = *self.requested.lock();
        if requested.is_some_and(|at| at.elapsed() >= REPLY_TIME) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the program ends for a new start.
    pub(crate) fn is_restart(&self) -> bool {
        self.requested.lock().is_some()
    }
}

impl StageControl {
    /// Restarts a stage, or all of them. Such a restart is no panic.
    ///
    /// # Errors
    /// When the stage does not run, the reason.
    pub(crate) fn restart(&self, stage: StageChoice) -> Result<(), &'static str> {
        let is_all = stage == StageChoice::All;
        if is_all || stage == StageChoice::Camera {
            for camera in &self.rig.cameras {
                camera.link.request_reopen();
            }
        }
        for one in [
            StageChoice::Vision,
            StageChoice::Simulation,
            StageChoice::Render,
        ] {
            let is_running = (is_all || stage == one) && self.stages.restart(one.name());
            if stage == one && !is_running {
                return Err(match one {
                    StageChoice::Render => "the pool runs without a picture",
                    _ => "this stage does not run",
                });
            }
        }
        Ok(())
    }

    /// Lets the pool stand still until an end, or go on with `None`.
    ///
    /// # Errors
    /// When nothing is shown that could stand still, the reason.
    pub(crate) fn pause(&self, until: Option<HandEnd>) -> Result<(), &'static str> {
        self.show.pause(until, Instant::now())
    }

    /// Ends the program for a new start.
    pub(crate) fn restart_program(&self) {
        self.program.request();
    }

    /// Shows a picture for adjusting the projectors, or the pool again.
    pub(crate) fn show_test_picture(&self, picture: Option<TestPicture>) {
        self.show.set_test_picture(picture, Instant::now());
    }

    /// Carries out a step of recording or replaying.
    ///
    /// # Errors
    /// When the step is impossible now, the reason.
    pub(crate) fn record(&self, step: &RecordingStep) -> Result<(), String> {
        let is_rehearsal = self.show.rehearsal().is_some();
        match step {
            RecordingStep::Record { .. } if is_rehearsal => {
                return Err("a recording is replayed; return to the camera first".to_owned());
            }
            RecordingStep::Record { secs } => {
                let fps = self.rig.chosen().link.health().1.fps;
                self.deck.start(self.rig.chosen_index(), *secs, fps)?;
            }
            RecordingStep::Stop => self.deck.stop()?,
            RecordingStep::Replay { .. } if self.rig.cameras.len() > 1 => {
                return Err("a recording holds the frames of one camera, and this site has several; replay it with shoal run \
                            and a site with one camera"
                    .to_owned());
            }
            RecordingStep::Replay { .. } if self.deck.status().is_some() => {
                return Err("the camera is recorded; stop this first".to_owned());
            }
            RecordingStep::Replay { name, until } => {
                let path = self.deck.folder()?.path_of(name);
                let path = path.ok_or_else(|| format!("there is no recording \"{name}\""))?;
                let now = Instant::now();
                self.show.set_rehearsal(Some((path, *until)), now);
            }
            RecordingStep::Live if !is_rehearsal => {
                return Err("the camera is used already".to_owned());
            }
            RecordingStep::Live => self.show.set_rehearsal(None, Instant::now()),
        }
        self.follow_rehearsal();
        Ok(())
    }

    /// Uses the camera or the recording, as operators and the opening hours want it.
    pub(crate) fn follow_rehearsal(&self) {
        self.rig.cameras[0].link.set_replayed(self.show.rehearsal());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::runtime::{HangPolicy, Heartbeat, Supervisor};

    #[test]
    fn several_cameras_replay_no_recording() {
        let control = StageControl {
            stages: StageBoard::default(),
            rig: Arc::new(Rig::synthetic(2)),
            show: ShowControl::default(),
            deck: Arc::default(),
            program: ProgramEnd::default(),
        };
        let replay = RecordingStep::Replay {
            name: "a.y4m".to_owned(),
            until: HandEnd::default(),
        };
        let reason = control.record(&replay).unwrap_err();
        assert!(reason.contains("one camera"), "{reason}");
    }

    #[test]
    fn each_stage_is_restarted_alone_and_all_together() {
        let mut supervisor = Supervisor::new(StopFlag::default());
        let starts: [Arc<AtomicU64>; 2] = Default::default();
        for (name, count) in ["vision", "simulation"].into_iter().zip(&starts) {
            let count = Arc::clone(count);
            let run = move |heartbeat: &Heartbeat| {
                count.fetch_add(1, Ordering::Relaxed);
                while heartbeat.sleep(Duration::from_millis(5)) {}
            };
            supervisor.start(name, HangPolicy::EndProgram, run).unwrap();
        }
        let wait_for = |wanted: [u64; 2]| {
            let deadline = Instant::now() + Duration::from_secs(60);
            while starts.each_ref().map(|n| n.load(Ordering::Relaxed)) != wanted {
                assert!(Instant::now() < deadline, "never {wanted:?} starts");
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        let control = StageControl {
            stages: supervisor.board(),
            rig: Arc::new(Rig::synthetic(1)),
            show: ShowControl::default(),
            deck: Arc::default(),
            program: ProgramEnd::default(),
        };
        wait_for([1, 1]);
        control.restart(StageChoice::Vision).unwrap();
        wait_for([2, 1]);
        control.restart(StageChoice::Simulation).unwrap();
        wait_for([2, 2]);
        control.restart(StageChoice::Camera).unwrap();
        control.restart(StageChoice::All).unwrap();
        wait_for([3, 3]);
        let reason = control.restart(StageChoice::Render).unwrap_err();
        assert_eq!(reason, "the pool runs without a picture");
        supervisor.shut_down().unwrap();
    }
}
