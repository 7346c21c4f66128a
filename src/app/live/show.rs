//! The render stage: keeps a picture on the screen whatever happens to screen and device.
//!
//! In: the newest moment of the pool. Out: pictures, one tick back, between the two states around. What is lost is made
//! anew from what the CPU knows, at once the first time and with growing pauses after that; the pool itself never waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::control::PictureStatus;
use crate::render::{Acquired, FlashState, Governor, Presenter};

use super::clock::{Backoff, Budget, Pacer};
use super::living::Moment;
use super::meter::Meter;
use super::slot::Slot;
use super::supervise::{Pulse, Trouble};

/// Pauses between attempts to make the screen anew.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// So many losses of a screen that had been made ...
const MOST_LOSSES: usize = 30;
/// ... within this time end the program: the driver needs more than a new device.
const LOSSES_WITHIN: Duration = Duration::from_secs(300);
/// Outdated so often in a row, the surface is made anew.
const MOST_OUTDATED: u32 = 10;
/// How long to leave a screen alone that nobody can see, and one that does not exist yet.
const UNSEEN_PAUSE: Duration = Duration::from_millis(100);

/// Makes the screen: `None` where there is no display to make it on yet, which is nobody's failure.
pub type Opener = Box<dyn FnMut() -> anyhow::Result<Option<Box<dyn Presenter>>> + Send>;

/// What the stage has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Pictures shown.
    pub pictures: u64,
    /// Pictures left out, because the screen had no room in time or nobody could see it.
    pub skipped: u64,
    /// How often the screen was made.
    pub opened: u64,
    /// How often it was configured anew.
    pub configured: u64,
    /// How often it was lost.
    pub lost: u64,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is room for a picture.
    Draw,
    /// Come back after a while.
    Wait(Duration),
}

/// The screen and what becomes of its failures. Asks no clock.
pub struct Show<'a> {
    open: &'a mut Opener,
    screen: Option<Box<dyn Presenter>>,
    backoff: Backoff,
    trouble: Trouble,
    losses: Budget,
    outdated: u32,
    suboptimal: bool,
    shown: Shown,
    governor: Governor,
    /// What the flash limiters of the last screen knew: another screen is no excuse for a flash.
    seen: Vec<FlashState>,
}

impl<'a> Show<'a> {
    /// Without a screen yet.
    pub fn new(open: &'a mut Opener) -> Self {
        Self {
            open,
            screen: None,
            backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE),
            trouble: Trouble::new("picture"),
            losses: Budget::new(MOST_LOSSES, LOSSES_WITHIN),
            outdated: 0,
            suboptimal: false,
            shown: Shown::default(),
            governor: Governor::default(),
            seen: Vec::new(),
        }
    }

    /// How pictures are drawn now.
    pub fn status(&self) -> PictureStatus {
        let quality = self.governor.quality();
        PictureStatus {
            scale: quality.scale,
            is_plain: quality.is_reduced,
            dimmed: self
                .screen
                .as_ref()
                .map_or(0, |screen| screen.flash_limit_count()),
        }
    }

    /// What has been done so far.
    pub fn shown(&self) -> Shown {
        self.shown
    }

    /// The screen, if there is one.
    pub fn screen(&mut self) -> Option<&mut (dyn Presenter + 'static)> {
        self.screen.as_deref_mut()
    }

    /// Makes room for the next picture.
    ///
    /// # Errors
    /// When screens are lost so often that the program is to be started afresh.
    pub fn prepare(&mut self, now: Instant) -> anyhow::Result<Next> {
        let Some(screen) = &mut self.screen else {
            return Ok(self.make(now));
        };
        let acquired = match screen.acquire() {
            Ok(acquired) => acquired,
            Err(error) => return self.lose(now, &error),
        };
        if acquired != Acquired::Outdated {
            self.outdated = 0;
        }
        match acquired {
            Acquired::Ready => Ok(Next::Draw),
            Acquired::Suboptimal => {
                self.suboptimal = true;
                Ok(Next::Draw)
            }
            Acquired::Timeout => {
                self.shown.skipped += 1;
                Ok(Next::Wait(FIRST_PAUSE / 10))
            }
            Acquired::Occluded => {
                self.shown.skipped += 1;
                Ok(Next::Wait(UNSEEN_PAUSE))
            }
            Acquired::WindowsChanged => {
                self.renew();
                Ok(Next::Wait(Duration::ZERO))
            }
            Acquired::Outdated => {
                self.outdated += 1;
                if self.outdated > MOST_OUTDATED {
                    self.outdated = 0;
                    return self.lose(now, &"the surface stays outdated");
                }
                self.configure(now)
            }
            Acquired::Lost => self.lose(now, &"the surface is lost"),
            Acquired::Validation => self.lose(now, &"the driver refused the surface"),
        }
    }

    /// Draws into the room that [`Self::prepare`] made.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn draw(&mut self, moment: &Moment, now: Instant) -> anyhow::Result<bool> {
        let Some(screen) = &mut self.screen else {
            return Ok(false);
        };
        if let Err(error) = screen.show(&moment.before, &moment.after, moment.alpha(now)) {
            self.lose(now, &error)?;
            return Ok(false);
        }
        self.shown.pictures += 1;
        self.trouble.over();
        self.backoff.well(now);
        if std::mem::take(&mut self.suboptimal) {
            self.configure(now)?;
        }
        Ok(true)
    }

    /// Waits until the picture is drawn; `false` when there is none.
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

    /// Takes what the last picture took, and the time there was for it, and draws the next ones accordingly.
    pub fn govern(&mut self, took: Duration, interval: Duration) {
        if !self
            .governor
            .record(took.as_secs_f64(), interval.as_secs_f64())
        {
            return;
        }
        let quality = self.governor.quality();
        tracing::info!(
            scale = quality.scale,
            plain = quality.is_reduced,
            "the picture is drawn more or less finely, to be in time"
        );
        if let Some(screen) = &mut self.screen {
            screen.set_quality(quality);
        }
    }

    /// Gives the screen up, to be made anew with another picture. What it shows stays until then.
    pub fn renew(&mut self) {
        self.give_up();
        self.suboptimal = false;
    }

    fn make(&mut self, now: Instant) -> Next {
        let wait = self.backoff.wait(now);
        if !wait.is_zero() {
            return Next::Wait(wait);
        }
        match (self.open)() {
            Ok(Some(screen)) => {
                self.shown.opened += 1;
                tracing::info!(picture = screen.describe(), "the screen is open");
                let screen = self.screen.insert(screen);
                screen.set_quality(self.governor.quality());
                screen.resume_flash_states(&self.seen);
                Next::Wait(Duration::ZERO)
            }
            Ok(None) => Next::Wait(UNSEEN_PAUSE),
            Err(error) => {
                self.trouble.happened(&format!(
                    "{error:#}; the pool goes on without a picture, and the screen is tried again"
                ));
                self.backoff.fail(now);
                Next::Wait(self.backoff.wait(now))
            }
        }
    }

    fn give_up(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.flash_states(&mut self.seen);
        }
    }

    fn configure(&mut self, now: Instant) -> anyhow::Result<Next> {
        let Some(screen) = &mut self.screen else {
            return Ok(Next::Wait(Duration::ZERO));
        };
        self.shown.configured += 1;
        match screen.configure() {
            Ok(()) => Ok(Next::Wait(Duration::ZERO)),
            Err(error) => self.lose(now, &error),
        }
    }

    fn lose(&mut self, now: Instant, why: &dyn std::fmt::Display) -> anyhow::Result<Next> {
        self.give_up();
        self.suboptimal = false;
        self.shown.lost += 1;
        self.trouble
            .happened(&format!("{why}; the screen is made anew"));
        self.backoff.fail(now);
        if self.losses.spend(now) {
            bail!(
                "the screen was lost {MOST_LOSSES} times within {} s, the last time because {why}",
                LOSSES_WITHIN.as_secs()
            );
        }
        Ok(Next::Wait(self.backoff.wait(now)))
    }
}

/// What the render stage is made of.
pub struct Showing {
    /// Makes the screen.
    pub open: Opener,
    /// Where moments come from.
    pub moments: Arc<Slot<Moment>>,
    /// Shortest time between two pictures, as it is now.
    pub interval: Box<dyn Fn() -> Duration + Send>,
    /// From a frame's arrival to the first picture handed to the GPU that shows what came of it.
    pub submitted: Arc<Meter>,
    /// Time that making and handing over a picture took, without waiting for room.
    pub drawn: Arc<Meter>,
    /// Lose the device after so many pictures, once. For tests.
    pub lose_device_after: Option<u64>,
    /// How pictures are drawn.
    pub status: Arc<Mutex<PictureStatus>>,
    /// Version of the picture that the opened screen shows (see [`super::editing::Pictures`]).
    pub opened: Arc<AtomicU64>,
}

impl Showing {
    /// Shows until the program ends.
    ///
    /// # Errors
    /// When screens are lost so often that the program is to be started afresh.
    pub fn run(&mut self, pulse: &Pulse) -> anyhow::Result<()> {
        let mut show = Show::new(&mut self.open);
        let (mut moment, mut newer) = (Moment::default(), Moment::default());
        let mut is_other = false;
        let mut pacer = Pacer::default();
        let mut last_arrived = None;
        let mut status = PictureStatus::default();
        // Nothing is shown before the pool has begun.
        while pulse.goes_on() && !self.moments.take(&mut moment, UNSEEN_PAUSE) {}
        while pulse.goes_on() {
            if std::mem::take(&mut is_other) {
                std::mem::swap(&mut moment, &mut newer);
            }
            if show.screen().is_some() {
                match moment.version.cmp(&self.opened.load(Ordering::Acquire)) {
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Greater => show.renew(),
                    std::cmp::Ordering::Less => {
                        self.moments.take(&mut moment, UNSEEN_PAUSE);
                        continue;
                    }
                }
            }
            if let Next::Wait(wait) = show.prepare(Instant::now())? {
                pulse.sleep(wait);
                continue;
            }
            if self.moments.take(&mut newer, Duration::ZERO) {
                is_other = newer.version != moment.version;
                if !is_other {
                    std::mem::swap(&mut moment, &mut newer);
                }
            }
            let begun = Instant::now();
            if show.draw(&moment, begun)? {
                self.drawn.note(begun.elapsed());
                if moment.arrived != last_arrived {
                    last_arrived = moment.arrived;
                    if let Some(arrived) = moment.arrived {
                        self.submitted.note(arrived.elapsed());
                    }
                }
                if self.lose_device_after == Some(show.shown().pictures) {
                    self.lose_device_after = None;
                    if let Some(screen) = show.screen() {
                        screen.lose_device();
                    }
                }
            }
            let interval = (self.interval)();
            if show.finish(Instant::now())? {
                show.govern(begun.elapsed(), interval);
            }
            let now_status = show.status();
            if now_status.dimmed > status.dimmed {
                let count = now_status.dimmed;
                tracing::warn!(
                    count,
                    "the picture would have flashed; it follows slowly for a while"
                );
            }
            if now_status != status {
                status = now_status;
                *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
            }
            let pause = pacer.pause(Instant::now(), interval);
            std::thread::sleep(pause);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
