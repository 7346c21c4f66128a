//! The sound stage: plays what the pool sounds like on a sound device.
//!
//! In: sound events from the simulation stage, the table of the site, the state of the opening hours, requested test tones. Out: orders
//! to the thread of the device, the status. A device that is missing is tried again; one that is lost is a fault until it is back. The
//! pool never waits for this stage: events that it does not take in time are rejected.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::app::listener::waters;
use crate::control::{ShowState, SoundStatus};
use crate::operation::ShowControl;
use crate::runtime::{Backoff, Fault, Heartbeat, print_message};
use crate::site::Site;
use crate::sound::{
    Engine, Levels, OpenOutput, Order, Orders, OutputError, SoundEvent, SoundOutput, SoundParams,
    SpeakerParams, WantedOutput, Waters, db_from_gain, sound_link,
};

/// Time between two looks at device, levels and requests.
const STEP_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two attempts to open a device on a machine that had none so far.
const MISSING_INTERVAL: Duration = Duration::from_secs(60);
/// First and longest time between two attempts to open a device that was lost.
const LOST_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(15)];
/// Time without a frame from which a device hangs.
const STALLED_AFTER: Duration = Duration::from_secs(3);
/// Time between the begins of two test tones.
const TEST_INTERVAL: Duration = Duration::from_millis(2000);
/// Largest number of events that wait for the stage.
const EVENTS_MAX: usize = 128;
/// Share of the shown peak that is left after a step: 18 dB per second.
const PEAK_KEEP: f32 = 0.9;
/// Seed of the synthesis. Another one gives other drops.
const SEED: u32 = 1;

/// What the site wants to be heard.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WantedSound {
    params: SoundParams,
    speakers: Vec<SpeakerParams>,
    waters: Waters,
}

impl WantedSound {
    pub(crate) fn of(site: &Site) -> Self {
        let params = site.file.sound.clone();
        let half_m = site.file.surface.half_extent_m().to_array();
        Self {
            speakers: params.all_speakers(half_m),
            waters: waters(site),
            params,
        }
    }

    fn output(&self) -> WantedOutput {
        WantedOutput {
            device: self.params.device.clone(),
            channels: self.speakers.len(),
        }
    }
}

/// What desk, simulation and sound stage exchange.
#[derive(Debug, Default)]
pub(crate) struct SoundBoard {
    wanted: Mutex<Option<Arc<WantedSound>>>,
    /// Channels on which test tones were requested.
    tests: Mutex<VecDeque<usize>>,
    status: Mutex<SoundStatus>,
    rejected: AtomicU64,
}

impl SoundBoard {
    /// Replaces what the site wants to be heard.
    pub(crate) fn want(&self, wanted: WantedSound) {
        *self.wanted.lock() = Some(Arc::new(wanted));
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> SoundStatus {
        SoundStatus {
            rejected: self.rejected.load(Ordering::Relaxed),
            ..self.status.lock().clone()
        }
    }

    /// Requests a test tone on the loudspeaker with a name, or on all.
    ///
    /// # Errors
    /// When it would not be heard, the reason.
    pub(crate) fn request_test(&self, speaker: Option<&str>) -> Result<(), String> {
        let status = self.status.lock();
        if !status.is_on {
            return Err("the site wants no sound; set sound.on = true".to_owned());
        }
        if status.device.is_empty() {
            return Err(format!("no sound device plays: {}", status.problem));
        }
        if status.is_muted {
            return Err("sound is switched off; set sound.mute = false first".to_owned());
        }
        let names = &status.speakers;
        let channels = match speaker {
            None => (0..names.len()).collect(),
            Some(name) => match names.iter().position(|own| own == name) {
                Some(channel) => VecDeque::from([channel]),
                None => {
                    let known = names.join("`, `");
                    return Err(format!(
                        "there is no loudspeaker `{name}`; there are `{known}`"
                    ));
                }
            },
        };
        *self.tests.lock() = channels;
        Ok(())
    }
}

/// The end of the simulation stage.
#[derive(Clone, Debug)]
pub(crate) struct SoundSender {
    queue: SyncSender<SoundEvent>,
    board: Arc<SoundBoard>,
}

impl SoundSender {
    /// Passes an event on, or rejects it if too many wait.
    pub(crate) fn send(&self, event: SoundEvent) {
        if self.queue.try_send(event).is_err() {
            self.board.rejected.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Creates the queue from the simulation stage to the sound stage.
pub(crate) fn sound_queue(board: &Arc<SoundBoard>) -> (SoundSender, Receiver<SoundEvent>) {
    let (queue, events) = sync_channel(EVENTS_MAX);
    let board = Arc::clone(board);
    (SoundSender { queue, board }, events)
}

/// What the sound stage needs.
pub(crate) struct SoundLinks {
    pub(crate) board: Arc<SoundBoard>,
    pub(crate) events: Receiver<SoundEvent>,
    pub(crate) show: ShowControl,
    pub(crate) fault: Fault,
    pub(crate) output: Box<dyn SoundOutput>,
}

/// The sound stage.
pub(crate) struct SoundStage {
    links: SoundLinks,
    /// Whether it was already reported that there is no device.
    is_reported: bool,
    /// Whether a device has played since the start.
    has_played: bool,
}

/// A device that plays.
struct Playing {
    device: Box<dyn OpenOutput>,
    orders: Orders,
    wanted: WantedOutput,
    speakers: Vec<SpeakerParams>,
    levels: Option<Levels>,
    waters: Option<Waters>,
    /// Frames at the last look at which there were new ones, and the time of that look.
    frames: (u64, Instant),
    tested: Option<Instant>,
    peak: f32,
}

impl SoundStage {
    pub(crate) fn new(links: SoundLinks) -> Self {
        Self {
            links,
            is_reported: false,
            has_played: false,
        }
    }

    /// Plays until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        let mut run = Run::new(self.has_played);
        let mut due = Instant::now();
        while heartbeat.keep_running() {
            let wait = due.saturating_duration_since(Instant::now());
            match self.links.events.recv_timeout(wait) {
                Ok(event) => run.begin(event, &self.links.board),
                Err(RecvTimeoutError::Timeout) => {}
                // The simulation has ended.
                Err(RecvTimeoutError::Disconnected) => {
                    heartbeat.sleep(wait);
                }
            }
            let now = Instant::now();
            if now >= due {
                due = now + STEP_INTERVAL;
                self.step(&mut run, now);
            }
        }
    }

    /// Looks at wishes and device.
    fn step(&mut self, run: &mut Run, now: Instant) {
        let Some(wanted) = self.links.board.wanted.lock().clone() else {
            return;
        };
        if !wanted.params.on {
            run.playing = None;
            run.problem.clear();
            run.retry = Run::new(self.has_played).retry;
            self.links.fault.clear();
        } else {
            self.watch_device(run, &wanted, now);
            if run.playing.is_none() && run.retry.remaining(now).is_zero() {
                self.open(run, &wanted, now);
            }
        }
        let is_heard = self.is_heard(now);
        if let Some(playing) = &mut run.playing {
            let state = self.links.show.state();
            let change_db = match state {
                ShowState::Attract => wanted.params.attract_db,
                _ => 0.0,
            };
            playing.order(&wanted, wanted.params.levels(is_heard, change_db));
            playing.test(&self.links.board, now);
            run.retry.record_state(true, now);
            self.links.fault.clear();
        }
        *self.links.board.status.lock() = run.status(&wanted, is_heard);
    }

    fn is_heard(&self, now: Instant) -> bool {
        let show = &self.links.show;
        show.is_lit() && show.paused_since().is_none() && show.test_picture(now).is_none()
    }

    /// Closes a device that does not play any more, or is not wanted any more.
    fn watch_device(&mut self, run: &mut Run, wanted: &WantedSound, now: Instant) {
        let Some(playing) = &mut run.playing else {
            return;
        };
        if playing.wanted != wanted.output() || playing.speakers != wanted.speakers {
            run.playing = None;
            return;
        }
        if let Some(problem) = playing.problem(now) {
            let name = playing.device.name();
            let detail = format!(
                "the sound device {name} does not play any more ({problem}), so the pool is silent; check its plug and its power; it is tried \
                 again every {} s",
                LOST_INTERVALS[1].as_secs()
            );
            self.links.fault.raise(&detail);
            run.playing = None;
            run.problem = problem;
            run.retry.record_failure(now);
        }
    }

    /// Tries to open the device.
    fn open(&mut self, run: &mut Run, wanted: &WantedSound, now: Instant) {
        let places: Vec<_> = wanted.speakers.iter().map(|speaker| speaker.at_m).collect();
        let mut orders = None;
        let opened = self.links.output.open(&wanted.output(), &mut |rate_hz| {
            let (sender, player) = sound_link(Engine::new(rate_hz, &places, SEED));
            orders = Some(sender);
            player
        });
        match (opened, orders) {
            (Ok(device), Some(orders)) => {
                let count = places.len();
                print_message(&format!("sound: {}, {count} loudspeakers", device.name()));
                if !self.has_played {
                    self.has_played = true;
                    run.retry = Run::new(true).retry;
                }
                run.problem.clear();
                run.playing = Some(Playing {
                    device,
                    orders,
                    wanted: wanted.output(),
                    speakers: wanted.speakers.clone(),
                    levels: None,
                    waters: None,
                    frames: (0, now),
                    tested: None,
                    peak: 0.0,
                });
            }
            (Ok(_), None) => run.problem = "the device asked for no player".to_owned(),
            (Err(error), _) => self.report(run, wanted, &error, now),
        }
    }

    /// Reports that no device could be opened: one line at the start, and a fault if the site demands sound or had it.
    fn report(&mut self, run: &mut Run, wanted: &WantedSound, error: &OutputError, now: Instant) {
        run.retry.record_failure(now);
        run.problem = error.to_string();
        let is_fault = wanted.params.required || self.has_played;
        if is_fault {
            self.links.fault.raise(&format!(
                "{error}, so the pool is silent; connect a sound device, or name it in sound.device as `aplay -L` prints it"
            ));
        }
        if !std::mem::replace(&mut self.is_reported, true) && !is_fault {
            print_message(&format!(
                "sound: none ({error}); it is tried again every {} s",
                MISSING_INTERVAL.as_secs()
            ));
        }
    }
}

/// What the stage builds again after a panic.
struct Run {
    playing: Option<Playing>,
    retry: Backoff,
    /// Why no device plays.
    problem: String,
}

impl Run {
    fn new(has_played: bool) -> Self {
        let [first, longest] = match has_played {
            true => LOST_INTERVALS,
            false => [MISSING_INTERVAL; 2],
        };
        Self {
            playing: None,
            retry: Backoff::new(first, longest),
            problem: String::new(),
        }
    }

    /// Passes an event to the device.
    fn begin(&mut self, event: SoundEvent, board: &SoundBoard) {
        let Some(playing) = &mut self.playing else {
            return;
        };
        if !playing.orders.send(Order::Begin(event)) {
            board.rejected.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn status(&mut self, wanted: &WantedSound, is_heard: bool) -> SoundStatus {
        let params = &wanted.params;
        let names = wanted.speakers.iter().map(|speaker| speaker.name.clone());
        let (device, peak) = match &mut self.playing {
            Some(playing) => {
                let peak = playing.orders.meter().take_peak();
                playing.peak = peak.max(playing.peak * PEAK_KEEP);
                (playing.device.name().to_owned(), playing.peak)
            }
            None => (String::new(), 0.0),
        };
        SoundStatus {
            is_on: params.on,
            is_muted: params.mute,
            is_heard: is_heard && !device.is_empty() && !params.mute,
            volume_db: params.volume_db,
            device,
            problem: self.problem.clone(),
            peak_db: db_from_gain(peak),
            speakers: names.collect(),
            rejected: 0,
        }
    }
}

impl Playing {
    /// Returns why the device does not play.
    fn problem(&mut self, now: Instant) -> Option<String> {
        let frames = self.orders.meter().frames();
        if frames != self.frames.0 {
            self.frames = (frames, now);
        }
        let stalled = now.saturating_duration_since(self.frames.1);
        let is_stalled = stalled >= STALLED_AFTER;
        let reason = self.device.problem();
        reason.or_else(|| is_stalled.then(|| "it takes no samples".to_owned()))
    }

    /// Orders what has changed. What the queue has no room for is ordered in the next step.
    fn order(&mut self, wanted: &WantedSound, levels: Levels) {
        if self.levels != Some(levels) && self.orders.send(Order::Levels(levels)) {
            self.levels = Some(levels);
        }
        let waters = wanted.waters;
        if self.waters != Some(waters) && self.orders.send(Order::Waters(waters)) {
            self.waters = Some(waters);
        }
    }

    /// Begins the next requested test tone when the last one is over.
    fn test(&mut self, board: &SoundBoard, now: Instant) {
        let is_free = |tested: Instant| now.saturating_duration_since(tested) >= TEST_INTERVAL;
        if !self.tested.is_none_or(is_free) {
            return;
        }
        let next = board.tests.lock().pop_front();
        if let Some(channel) = next
            && self.orders.send(Order::Test(channel))
        {
            self.tested = Some(now);
        }
    }
}

#[cfg(test)]
mod tests;
