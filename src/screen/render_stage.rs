//! The render stage: draws pictures between the two newest snapshots, one tick late, until the program ends.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::fade::{Fade, SceneFade};
use super::notice::NoticeBoard;
use super::pass_meters::PassMeters;
use super::screen_supervisor::{Readiness, ScreenOpener, ScreenSupervisor, UNSEEN_PAUSE};
use super::setup_handoff::SetupHandoff;
use super::snapshot_pair::SnapshotPair;
use crate::control::{Journal, PictureStatus, TestPicture};
use crate::render::CalibrationPattern;
use crate::runtime::{DurationMeter, FramePacer, Heartbeat, Latest};

/// Inputs and outputs of the render stage.
pub struct RenderStage {
    /// Opens the screen.
    pub open_screen: ScreenOpener,
    /// The newest render setup; `None` if the setup never changes.
    pub handoff: Option<Arc<SetupHandoff>>,
    /// Snapshots from the simulation stage.
    pub snapshots: Arc<Latest<SnapshotPair>>,
    /// Calibration pattern from the vision stage.
    pub pattern: Arc<Mutex<Option<CalibrationPattern>>>,
    /// Texts on the floor.
    pub notices: NoticeBoard,
    /// Returns the shortest time between two pictures, which depends on the monitors.
    pub min_interval: Box<dyn Fn() -> Duration + Send>,
    /// Time from the arrival of a camera frame until the first picture that shows its effect is passed to the GPU.
    pub picture_latency: Arc<DurationMeter>,
    /// Time to prepare one picture and pass it to the GPU, without the wait for the display.
    pub draw_time: Arc<DurationMeter>,
    /// Times of the graphics device.
    pub pass_times: Arc<PassMeters>,
    /// Number of pictures after which the graphics device is lost once, for tests; `None`: it is not lost.
    pub lose_device_after: Option<u64>,
    /// Picture quality, for the status.
    pub status: Arc<Mutex<PictureStatus>>,
    /// Time from one picture to the next.
    pub picture_interval: Arc<DurationMeter>,
    /// Returns the picture for adjusting the projectors.
    pub test_picture: Box<dyn Fn(Instant) -> Option<TestPicture> + Send>,
    /// Returns whether the picture is lit.
    pub is_lit: Box<dyn Fn() -> bool + Send>,
    /// Sleeps until the next picture while the pool rests; returns at once otherwise. Returns whether it slept.
    pub rest: Box<dyn Fn(&Heartbeat) -> bool + Send>,
    /// Faults of this stage.
    pub journal: Journal,
    /// Copies small pictures of the outputs for the operator's panel, after a picture was drawn.
    pub copy_outputs: Box<dyn FnMut(&mut ScreenSupervisor<'_>) + Send>,
}

impl RenderStage {
    /// Draws until the program ends.
    ///
    /// # Errors
    /// When screens are lost so often that the program has to be restarted.
    pub fn run(&mut self, heartbeat: &Heartbeat) -> anyhow::Result<()> {
        let mut supervisor = ScreenSupervisor::new(&mut self.open_screen, &self.journal);
        let (mut pair, mut newer) = (SnapshotPair::default(), SnapshotPair::default());
        let mut needs_other_setup = false;
        let mut scene_version = 0;
        let mut pacer = FramePacer::default();
        let mut fade = Fade::default();
        let mut scene_fade = SceneFade::default();
        let mut last_frame_at = None;
        let mut last_picture_at: Option<Instant> = None;
        let mut status = PictureStatus::default();
        // There is nothing to draw before the first tick.
        while heartbeat.keep_running() && !self.snapshots.take(&mut pair, UNSEEN_PAUSE) {}
        while heartbeat.keep_running() {
            if std::mem::take(&mut needs_other_setup) {
                std::mem::swap(&mut pair, &mut newer);
            }
            if supervisor.screen().is_some()
                && let Some(handoff) = &self.handoff
            {
                match pair.setup_version.cmp(&handoff.shown_version()) {
                    Ordering::Equal => {}
                    Ordering::Greater => {
                        let newest = handoff.take_numbered();
                        let shown = std::mem::replace(&mut scene_version, newest.scene_version);
                        let (scene, fade_secs) =
                            (newest.setup.scene.clone(), newest.setup.fade_secs);
                        supervisor.change_setup(newest.setup, shown == newest.scene_version);
                        // The crossfade begins when the new scene can be drawn.
                        scene_fade.show(&scene, fade_secs, Instant::now());
                        // The newest setup may belong to a later snapshot.
                        continue;
                    }
                    Ordering::Less => {
                        self.snapshots.take(&mut pair, UNSEEN_PAUSE);
                        continue;
                    }
                }
            }
            if let Readiness::Wait(wait) = supervisor.prepare(Instant::now())? {
                heartbeat.sleep(wait);
                continue;
            }
            if self.snapshots.take(&mut newer, Duration::ZERO) {
                needs_other_setup = newer.setup_version != pair.setup_version;
                if !needs_other_setup {
                    std::mem::swap(&mut pair, &mut newer);
                }
            }
            let begun = Instant::now();
            let pattern = *self.pattern.lock();
            supervisor.set_test_picture((self.test_picture)(begun));
            supervisor.set_notice(self.notices.current(begun));
            supervisor.set_old_share(scene_fade.old_share(begun));
            supervisor.set_level(fade.advance((self.is_lit)(), begun));
            if supervisor.draw(&pair, pattern, begun)? {
                self.draw_time.record(begun.elapsed());
                if let Some(before) = last_picture_at.replace(begun) {
                    self.picture_interval.record(begun.duration_since(before));
                }
                if pair.frame_at != last_frame_at {
                    last_frame_at = pair.frame_at;
                    if let Some(frame_at) = pair.frame_at {
                        self.picture_latency.record(frame_at.elapsed());
                    }
                }
                if self.lose_device_after == Some(supervisor.counts().pictures) {
                    self.lose_device_after = None;
                    if let Some(screen) = supervisor.screen() {
                        screen.lose_device();
                    }
                }
            }
            let interval = (self.min_interval)();
            if supervisor.finish(Instant::now())? {
                supervisor.adapt_quality(begun.elapsed(), interval);
                if let Some(times) = supervisor.take_pass_times() {
                    self.pass_times.record(&times);
                }
                (self.copy_outputs)(&mut supervisor);
            }
            let new_status = supervisor.status();
            if new_status.dimmed > status.dimmed {
                tracing::warn!(
                    count = new_status.dimmed,
                    "the picture would have flashed; its brightness changes slowly for a while"
                );
            }
            if new_status != status {
                status = new_status;
                *self.status.lock() = status;
            }
            if (self.rest)(heartbeat) {
                // The rate of a resting pool says nothing about the screen.
                last_picture_at = None;
            }
            std::thread::sleep(pacer.pause(Instant::now(), interval));
        }
        Ok(())
    }
}
