//! `shoal run`, and `shoal demo` where there is a display: the pool live, in a window on each projector.
//!
//! The main thread opens the windows and passes on what the display says; everything else has threads of its own (see
//! [`super::live`]). Without a display the pool goes on unseen, and the display is looked for until it is there.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::render::{GpuPresenter, Presenter, RenderSetup};
use crate::site::Editor;

use super::desk::{CommandSender, command_queue};
use super::live::clock::Backoff;
use super::live::display;
use super::live::editing::{Painter, Pictures, lock};
use super::live::keys::step_of_key;
use super::live::meter::Meter;
use super::live::monitors;
use super::live::show::Opener;
use super::live::supervise::{Crew, Stop, Watch};
use super::live::window::{self, WindowWish, Windows};
use super::live::{Live, Plan};
use super::{tell, told, watch};
use crate::control::{Command, PictureStatus};

/// How often the main thread looks after the crew where no window does.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Pauses between looks for a display.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a run writes into the log how it goes.
const JOURNAL_EVERY: Duration = Duration::from_secs(600);
/// The longest time without a window where a display answered but gave none.
const LONGEST_WITHOUT_WINDOW: Duration = Duration::from_secs(60);

/// What runs, and how it is shown.
pub struct RunOptions {
    /// Camera, vision and pool.
    pub plan: Plan,
    /// What is shown; nothing without it.
    pub picture: Option<PictureOptions>,
    /// End after this time.
    pub seconds: Option<f64>,
    /// What can be changed while it runs; nothing without it.
    pub documents: Option<Documents>,
    /// A file of commands, `-` for standard input.
    pub commands: Option<PathBuf>,
    /// How often this process was started again by its parent, where it has one that would do so once more.
    pub restarts: Option<u64>,
}

/// The files of a site, which are taken over when they are changed.
pub struct Documents {
    /// What they say now.
    pub editor: Editor,
    /// The site file; the built-in site has none, and nothing to watch.
    pub site: Option<PathBuf>,
    /// Makes the picture of a changed site.
    pub painter: Painter,
}

/// A pool's pictures in windows.
pub struct PictureOptions {
    /// What is drawn.
    pub setup: RenderSetup,
    /// Where each of its outputs is shown.
    pub wishes: Vec<WindowWish>,
    /// Lose the graphics device after so many pictures, once. For tests.
    pub lose_device_after: Option<u64>,
}

/// How a run ended in good order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to, or its time was over.
    Asked,
    /// There was no window; in a process of its own the next run may get one.
    WithoutWindow,
}

/// Runs until `stop` is set, the window is closed or the time is over.
///
/// # Errors
/// When a recording cannot be begun, or the program has to end for the service manager to start it afresh: too many
/// panics, a thread that hangs, a graphics driver that does not come back. A lack of camera or display is no error.
pub fn run(options: RunOptions, stop: Stop) -> anyhow::Result<Ended> {
    if let Some(record) = &options.plan.record {
        let path = record.path.display();
        tell(&format!("recording: {path}, at most {} s", record.secs));
    }
    let mut live = Live::start(options.plan, stop)?;
    let journal = Journal::of(&live);
    let kept = journal.clone();
    live.crew.start("journal", Watch::Pulse, move |pulse| {
        while pulse.sleep(JOURNAL_EVERY) {
            kept.write();
        }
        Ok(())
    })?;
    if let Some(seconds) = options.seconds {
        let seconds = Duration::from_secs_f64(seconds);
        live.crew.start("timer", Watch::Pulse, move |pulse| {
            pulse.sleep(seconds);
            pulse.stop().store(true, Ordering::Relaxed);
            Ok(())
        })?;
    }
    let (setup, window) = match options.picture {
        Some(picture) => (
            Some(picture.setup),
            Some((picture.wishes, picture.lose_device_after)),
        ),
        None => (None, None),
    };
    let pictures = setup.map(|setup| Arc::new(Pictures::new(setup, Arc::clone(&live.opened))));
    let sender = match options.documents {
        Some(documents) => Some(watched(&mut live, documents, pictures.clone())?),
        None => None,
    };
    if let Some((commands, sender)) = options.commands.zip(sender.clone()) {
        told::listen(&commands, sender, Arc::clone(live.crew.stop()))?;
    }
    let mut ended = Ended::Asked;
    match pictures.zip(window) {
        Some((pictures, (wishes, lose_device_after))) => {
            ended = shown(&mut live, pictures, wishes, (lose_device_after, sender))?;
            if ended == Ended::WithoutWindow {
                live_without_window(&live.crew, options.restarts);
            }
        }
        None => {
            tell("picture: none (--headless)");
            while live.crew.watch() {
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
    let asked = live.crew.stop().load(Ordering::Relaxed);
    live.crew.end()?;
    journal.write();
    Ok(if asked { Ended::Asked } else { ended })
}

/// The pool lives on unseen until it is worth asking for a window again, which takes a new process: the windowing library
/// cannot be started twice in one. A process that is nobody's child goes on for ever.
fn live_without_window(crew: &Crew, restarts: Option<u64>) {
    let pause = restarts.map(|restarts| {
        let doublings = u32::try_from(restarts).unwrap_or(u32::MAX).min(7);
        (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_WITHOUT_WINDOW)
    });
    let begun = Instant::now();
    while crew.watch() && pause.is_none_or(|pause| begun.elapsed() < pause) {
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Takes changed files over while the pool runs; whoever else wants something changed is given a sender.
fn watched(
    live: &mut Live,
    documents: Documents,
    pictures: Option<Arc<Pictures>>,
) -> anyhow::Result<CommandSender> {
    let (sender, commands) = command_queue();
    let painted = pictures.map(|pictures| (pictures, documents.painter));
    let folder = documents
        .site
        .as_deref()
        .map(|site| site.parent().map(Path::to_path_buf).unwrap_or_default());
    live.edit(documents.editor, commands, folder, painted)?;
    if let Some(site) = documents.site {
        tell(&format!(
            "files: changes beside {} are taken over",
            site.display()
        ));
        // It ends with the stop flag, as the crew does.
        let _ = watch::watch(&site, sender.clone(), Arc::clone(live.crew.stop()))?;
    }
    Ok(sender)
}

fn shown(
    live: &mut Live,
    pictures: Arc<Pictures>,
    wishes: Vec<WindowWish>,
    (lose_device_after, sender): (Option<u64>, Option<CommandSender>),
) -> anyhow::Result<Ended> {
    let windows = Windows::new(wishes.len());
    let drawn_on = Arc::clone(&windows);
    let open: Opener = Box::new(move || {
        let Some(targets) = drawn_on.targets() else {
            return Ok(None);
        };
        let screen = GpuPresenter::open(targets, pictures.open())?;
        tell(&format!("picture: {}", screen.describe()));
        Ok(Some(Box::new(screen)))
    });
    let paced = Arc::clone(&windows);
    live.show(open, move || paced.interval(), lose_device_after)?;

    wait_for_display(&live.crew);
    if !live.crew.watch() {
        return Ok(Ended::Asked);
    }
    if display::is_x11() {
        let looked_for = Arc::clone(&windows);
        live.crew.start("monitors", Watch::MayWait, move |pulse| {
            monitors::watch(&looked_for.monitors, pulse)
        })?;
    }
    let calibration = Arc::clone(&live.calibration);
    let mut on_key = |key: &_| {
        let Some(sender) = &sender else { return false };
        let step = step_of_key(key, &lock(&calibration));
        step.is_some_and(|step| {
            let sent = sender.send(Command::Calibrate { step });
            sent.inspect_err(|error| tracing::warn!("{error}")).is_ok()
        })
    };
    let Err(error) = window::run(wishes, &windows, &live.crew, &mut on_key) else {
        return Ok(Ended::Asked);
    };
    tell(&format!(
        "display: there is no window: {error:#}; the pool goes on without a picture"
    ));
    Ok(Ended::WithoutWindow)
}

/// Returns when there is a display, or the program ends.
fn wait_for_display(crew: &Crew) {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    let mut missing = false;
    while crew.watch() {
        if backoff.wait(Instant::now()).is_zero() {
            match display::reachable() {
                Ok(()) => {
                    if missing {
                        tell("display: it is there now");
                    }
                    return;
                }
                Err(reason) => {
                    if !std::mem::replace(&mut missing, true) {
                        tell(&format!(
                            "display: {reason}; the pool runs without a picture until there is one (--headless wants none)"
                        ));
                    }
                    backoff.fail(Instant::now());
                }
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// What the log is told now and then, and at the end.
#[derive(Clone)]
struct Journal {
    observed: Arc<Meter>,
    submitted: Arc<Meter>,
    drawn: Arc<Meter>,
    picture: Arc<Mutex<PictureStatus>>,
}

impl Journal {
    fn of(live: &Live) -> Self {
        Self {
            observed: Arc::clone(&live.observed),
            submitted: Arc::clone(&live.submitted),
            drawn: Arc::clone(&live.drawn),
            picture: Arc::clone(&live.picture),
        }
    }

    fn write(&self) {
        summarize("frame to observation", &self.observed);
        summarize("frame to picture", &self.submitted);
        summarize("drawing a picture", &self.drawn);
        let PictureStatus {
            scale,
            is_plain,
            dimmed,
        } = *lock(&self.picture);
        if scale > 0.0 {
            tracing::info!(scale, plain = is_plain, dimmed, "fineness of the picture");
        }
    }
}

fn summarize(what: &str, meter: &Meter) {
    let said = meter.quantiles();
    if said.count > 0 {
        let (p50_ms, p99_ms) = (said.p50_secs * 1e3, said.p99_secs * 1e3);
        tracing::info!(count = said.count, p50_ms, p99_ms, "{what}");
    }
}
