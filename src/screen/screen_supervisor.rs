//! Keeps a picture on the screen if the screen or the graphics device fails. A lost screen is opened again from data in main
//! memory: the first time at once, then after increasing pauses. The simulation never waits for the screen.
//!
//! In: snapshots, and the current time. Out: pictures. Must not: read a clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::setup_handoff::SetupHandoff;
use super::shared_windows::SharedWindows;
use super::snapshot_pair::SnapshotPair;
use super::test_pattern::drawn;
use crate::control::{Journal, PictureStatus, TestPicture};
use crate::render::{
    Acquired, CalibrationPattern, FlashState, FloorNotice, Governor, GpuPresenter, PassTimes,
    Presenter, RenderSetup, ThumbnailPixels,
};
use crate::runtime::{Backoff, FailureLimit, Fault, SETTLE_TIME, print_message};

/// First pause between two attempts to open the screen.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Longest pause between two attempts to open the screen.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Pause after the display did not accept a picture in time.
const TIMEOUT_PAUSE: Duration = Duration::from_millis(5);
/// Number of lost screens within [`LOSS_WINDOW`] that ends the program. After so many losses a new device does not help, so the
/// process has to be restarted.
const MAX_LOSSES: usize = 30;
/// Period over which lost screens are counted.
const LOSS_WINDOW: Duration = Duration::from_secs(300);
/// Number of consecutive times that the surface may be outdated. After more, the screen is opened again.
const MAX_OUTDATED: u32 = 10;
/// Pause between two checks while no window is visible or no display exists yet.
pub(super) const UNSEEN_PAUSE: Duration = Duration::from_millis(100);

/// Opens the screen. Returns `None` while there is no display. That is not a failure.
pub type ScreenOpener = Box<dyn FnMut() -> anyhow::Result<Option<Box<dyn Presenter>>> + Send>;

/// Returns the opener of a screen that draws the newest render setup of `handoff` on the open windows.
pub fn screen_opener(windows: &Arc<SharedWindows>, handoff: Arc<SetupHandoff>) -> ScreenOpener {
    let windows = Arc::clone(windows);
    Box::new(move || {
        let Some(targets) = windows.targets() else {
            return Ok(None);
        };
        let screen = GpuPresenter::open(targets, handoff.take())?;
        let description = screen.describe();
        print_message(&format!("picture: {description}"));
        windows.describe_screen(description, screen.is_by_processor());
        Ok(Some(Box::new(screen)))
    })
}

/// Counters of the events of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScreenCounts {
    /// Number of pictures that were shown.
    pub pictures: u64,
    /// Number of pictures that were skipped because the display did not accept them in time, or because no window was visible.
    pub skipped: u64,
    /// Number of times the screen was opened.
    pub opened: u64,
    /// Number of times the open screen got another render setup.
    pub changed: u64,
    /// Number of times the surface was configured again.
    pub configured: u64,
    /// Number of times the screen was lost.
    pub lost: u64,
}

/// Whether a picture can be drawn at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// A picture can be drawn.
    Draw,
    /// No picture can be drawn; try again after this time.
    Wait(Duration),
}

/// The open screen, and the state that handles its failures.
pub struct ScreenSupervisor<'a> {
    open_screen: &'a mut ScreenOpener,
    screen: Option<Box<dyn Presenter>>,
    backoff: Backoff,
    fault: Fault,
    losses: FailureLimit,
    /// Number of consecutive times that the surface was outdated.
    outdated: u32,
    is_suboptimal: bool,
    counts: ScreenCounts,
    governor: Governor,
    /// State of the last screen's flash limiters. The next screen continues from it, so that opening a screen causes no
    /// flash.
    flash_state: Vec<FlashState>,
}

impl<'a> ScreenSupervisor<'a> {
    /// Returns a supervisor that has not opened a screen yet.
    pub fn new(open_screen: &'a mut ScreenOpener, journal: &Journal) -> Self {
        Self {
            open_screen,
            screen: None,
            backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE).immediate_at_first(),
            fault: journal.fault("picture").settling(SETTLE_TIME),
            losses: FailureLimit::new(MAX_LOSSES, LOSS_WINDOW),
            outdated: 0,
            is_suboptimal: false,
            counts: ScreenCounts::default(),
            governor: Governor::default(),
            flash_state: Vec::new(),
        }
    }

    /// Returns the current picture quality.
    pub fn status(&self) -> PictureStatus {
        let quality = self.governor.quality();
        PictureStatus {
            scale: quality.scale,
            is_plain: quality.is_reduced,
            // The status reads these from the screen.
            wanted_fps: 0.0,
            is_by_processor: false,
            dimmed: self
                .screen
                .as_ref()
                .map_or(0, |screen| screen.flash_limit_count()),
        }
    }

    /// Returns the counts since the start.
    pub fn counts(&self) -> ScreenCounts {
        self.counts
    }

    /// Returns the screen; `None` if none is open.
    pub fn screen(&mut self) -> Option<&mut (dyn Presenter + 'static)> {
        self.screen.as_deref_mut()
    }

    /// Prepares the screen for the next picture: opens the screen, or acquires the next picture of every window.
    ///
    /// # Errors
    /// When screens are lost so often that the program has to be restarted.
    pub fn prepare(&mut self, now: Instant) -> anyhow::Result<Readiness> {
        let Some(screen) = &mut self.screen else {
            return Ok(self.open(now));
        };
        let acquired = match screen.acquire() {
            Ok(acquired) => acquired,
            Err(error) => return self.lose(now, &error),
        };
        if acquired != Acquired::Outdated {
            self.outdated = 0;
        }
        match acquired {
            Acquired::Ready => Ok(Readiness::Draw),
            Acquired::Suboptimal => {
                self.is_suboptimal = true;
                Ok(Readiness::Draw)
            }
            Acquired::Timeout => {
                self.counts.skipped += 1;
                Ok(Readiness::Wait(TIMEOUT_PAUSE))
            }
            Acquired::Occluded => {
                self.counts.skipped += 1;
                Ok(Readiness::Wait(UNSEEN_PAUSE))
            }
            Acquired::WindowsChanged => {
                self.reopen();
                Ok(Readiness::Wait(Duration::ZERO))
            }
            Acquired::Outdated => {
                self.outdated += 1;
                if self.outdated > MAX_OUTDATED {
                    self.outdated = 0;
                    return self.lose(now, &"the surface stays outdated");
                }
                self.configure(now)
            }
            Acquired::Lost => self.lose(now, &"the surface is lost"),
            Acquired::Validation => self.lose(now, &"the driver rejected the surface"),
        }
    }

    /// Draws a picture, with `pattern` if the camera is being calibrated. [`Self::prepare`] must have returned
    /// `Readiness::Draw` before. Returns false if no picture was drawn.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn draw(
        &mut self,
        pair: &SnapshotPair,
        pattern: Option<CalibrationPattern>,
        now: Instant,
    ) -> anyhow::Result<bool> {
        let Some(screen) = &mut self.screen else {
            return Ok(false);
        };
        screen.set_calibration_pattern(pattern);
        if let Err(error) = screen.show(&pair.before, &pair.after, pair.alpha(now)) {
            self.lose(now, &error)?;
            return Ok(false);
        }
        self.counts.pictures += 1;
        self.fault.clear();
        self.backoff.record_state(true, now);
        if std::mem::take(&mut self.is_suboptimal) {
            self.configure(now)?;
        }
        Ok(true)
    }

    /// Waits until the GPU has drawn the picture. Returns false if there is no picture.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn finish(&mut self, now: Instant) -> anyhow::Result<bool> {
        let Some(screen) = &mut self.screen else {
            return Ok(false);
        };
        if let Err(error) = screen.finish() {
            self.lose(now, &error)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Adapts the picture quality. `took` is the time for the last picture, and `available` is the time that was available for
    /// it.
    pub fn adapt_quality(&mut self, took: Duration, available: Duration) {
        if !self
            .governor
            .record(took.as_secs_f64(), available.as_secs_f64())
        {
            return;
        }
        let quality = self.governor.quality();
        tracing::info!(
            "the picture quality is adapted to the speed of the graphics device: scale {:.2}, {} details",
            quality.scale,
            if quality.is_reduced { "fewer" } else { "all" }
        );
        if let Some(screen) = &mut self.screen {
            screen.set_quality(quality);
        }
    }

    /// Takes the times of a picture on the graphics device, see [`Presenter::take_pass_times`].
    pub fn take_pass_times(&mut self) -> Option<PassTimes> {
        self.screen.as_mut()?.take_pass_times()
    }

    /// Makes small copies of pictures without waiting for them, see [`Presenter::copy_thumbnails`].
    pub fn copy_thumbnails(
        &mut self,
        is_wanted: &mut dyn FnMut(usize) -> bool,
        put: &mut dyn FnMut(usize, ThumbnailPixels<'_>),
    ) {
        if let Some(screen) = &mut self.screen {
            screen.copy_thumbnails(is_wanted, put);
        }
    }

    /// Sets the light of the picture from the next one on, from 0 (black) to 1.
    pub fn set_level(&mut self, level: f32) {
        if let Some(screen) = &mut self.screen {
            screen.set_level(level);
        }
    }

    /// Sets the weight of the last picture of the old scene from the next picture on, from 1 to 0.
    pub fn set_old_share(&mut self, share: f32) {
        if let Some(screen) = &mut self.screen {
            screen.set_old_share(share);
        }
    }

    /// Draws a picture for adjusting the projectors instead of the pool from the next picture on, or the pool again.
    pub fn set_test_picture(&mut self, picture: Option<TestPicture>) {
        if let Some(screen) = &mut self.screen {
            let (pattern, corner) = drawn(picture);
            screen.set_test_pattern(pattern, corner);
        }
    }

    /// Draws a text at an edge of the surface from the next picture on.
    pub fn set_notice(&mut self, notice: Option<Arc<FloorNotice>>) {
        if let Some(screen) = &mut self.screen {
            screen.set_notice(notice);
        }
    }

    /// Draws another render setup from the next picture on. If the open screen cannot do that, it is opened again.
    pub fn change_setup(&mut self, setup: RenderSetup, is_same_scene: bool) {
        let Some(screen) = &mut self.screen else {
            return;
        };
        match screen.change_setup(setup, is_same_scene) {
            Ok(true) => self.counts.changed += 1,
            Ok(false) => self.reopen(),
            Err(error) => {
                tracing::warn!("{error}; the screen is opened again with the changed scene");
                self.reopen();
            }
        }
    }

    /// Closes the screen, so that it is opened again with the newest render setup. Until then the display keeps the last
    /// picture.
    pub fn reopen(&mut self) {
        self.close();
        self.is_suboptimal = false;
    }

    fn open(&mut self, now: Instant) -> Readiness {
        let wait = self.backoff.remaining(now);
        if !wait.is_zero() {
            return Readiness::Wait(wait);
        }
        match (self.open_screen)() {
            Ok(Some(screen)) => {
                self.counts.opened += 1;
                tracing::info!(screen = screen.describe(), "the screen is open");
                let screen = self.screen.insert(screen);
                screen.set_quality(self.governor.quality());
                screen.resume_flash_states(&self.flash_state);
                Readiness::Wait(Duration::ZERO)
            }
            Ok(None) => Readiness::Wait(UNSEEN_PAUSE),
            Err(error) => {
                self.fault.raise(&format!(
                    "{error:#}; the pool runs without a picture, and the screen is opened again"
                ));
                Readiness::Wait(self.backoff.record_failure(now))
            }
        }
    }

    fn close(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.flash_states(&mut self.flash_state);
        }
    }

    fn configure(&mut self, now: Instant) -> anyhow::Result<Readiness> {
        let Some(screen) = &mut self.screen else {
            return Ok(Readiness::Wait(Duration::ZERO));
        };
        self.counts.configured += 1;
        match screen.configure() {
            Ok(()) => Ok(Readiness::Wait(Duration::ZERO)),
            Err(error) => self.lose(now, &error),
        }
    }

    fn lose(&mut self, now: Instant, reason: &dyn std::fmt::Display) -> anyhow::Result<Readiness> {
        self.close();
        self.is_suboptimal = false;
        self.counts.lost += 1;
        self.fault
            .raise(&format!("{reason}; the screen is opened again"));
        let pause = self.backoff.record_failure(now);
        if self.losses.record(now) {
            bail!(
                "the screen was lost {MAX_LOSSES} times within {} s, the last time because {reason}",
                LOSS_WINDOW.as_secs()
            );
        }
        Ok(Readiness::Wait(pause))
    }
}

#[cfg(test)]
mod tests;
