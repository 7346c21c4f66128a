//! The camera source of the running pool. It is opened again if a change of the site or an operator needs it, also to
//! replay a recording instead; the other stages run on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::camera::{
    AtEnd, CameraHealth, CameraParams, Feed, FeedSetup, SourceKind, SourceSpec, TrackerKind,
    WorkerCommand,
};
use crate::control::{CameraKind, ExposureAdvice, ExposureStatus, TrackerStatus};
use crate::records::RecordingDeck;
use crate::remote::{OscVisitors, TrackReceiver, TrackerProtocol};
use crate::runtime::{FaultLedger, print_message};
use crate::vision::{self, Lighting};

/// Time between two checks whether the old source is closed.
const CLOSE_PAUSE: Duration = Duration::from_millis(5);

/// What a camera shares with the rest of the program.
pub(crate) struct LinkContext {
    /// Receives the frames, and the index of the camera there; `None` for a camera that is not recorded.
    pub(crate) recorder: Option<(Arc<RecordingDeck>, usize)>,
    /// How a tracker is read that speaks OSC in its own way.
    pub(crate) mapping: OscVisitors,
    pub(crate) faults: FaultLedger,
    /// Whether the camera stays closed: the node of a hall does not track.
    pub(crate) is_off: bool,
}

/// The open camera source, and what is needed to open another one.
pub(crate) struct CameraLink {
    feed: Mutex<Option<Arc<Feed>>>,
    /// The tracker that is listened to instead of a feed. Only the vision stage uses it, and holds it while it waits.
    tracker: Mutex<Option<TrackReceiver>>,
    tracker_status: Arc<Mutex<TrackerStatus>>,
    /// Time on the clock of the frames at which the last source was closed. The next one continues from there.
    reached_secs: Mutex<f64>,
    /// The setup of `feed`.
    opened: Mutex<FeedSetup>,
    /// The camera of the site.
    camera: Mutex<FeedSetup>,
    /// The recording that is replayed instead of the camera.
    replayed: Mutex<Option<PathBuf>>,
    /// Folder to which the source in the site file refers; `None` if the source comes from the command line and stays.
    folder: Option<PathBuf>,
    at_end: AtEnd,
    worker: WorkerCommand,
    context: LinkContext,
    /// Whether an operator wants the source to be opened again.
    must_reopen: AtomicBool,
    /// How the surface is lit, as vision reports it.
    exposure: Mutex<Option<ExposureStatus>>,
}

impl CameraLink {
    /// Opens the source.
    ///
    /// # Errors
    /// When no thread can be started. A missing camera is a fault, not an error.
    pub(crate) fn open(
        (spec, params): (SourceSpec, &CameraParams),
        folder: Option<PathBuf>,
        at_end: AtEnd,
        context: LinkContext,
    ) -> anyhow::Result<Self> {
        let worker = WorkerCommand::own()?;
        let setup = FeedSetup {
            at_end,
            ..FeedSetup::new(spec, params, worker.clone())
        };
        let link = Self {
            feed: Mutex::default(),
            tracker: Mutex::default(),
            tracker_status: Arc::default(),
            reached_secs: Mutex::default(),
            opened: Mutex::new(setup.clone()),
            camera: Mutex::new(setup.clone()),
            replayed: Mutex::default(),
            folder,
            at_end,
            worker,
            context,
            must_reopen: AtomicBool::new(false),
            exposure: Mutex::default(),
        };
        if !link.context.is_off {
            link.start(setup)?;
        }
        Ok(link)
    }

    /// Lets the vision stage open the source again, see [`Self::reopen_if_requested`].
    pub(crate) fn request_reopen(&self) {
        self.must_reopen.store(true, Ordering::Relaxed);
    }

    /// Replays a recording instead of the camera; `None` uses the camera. The vision stage opens the source.
    pub(crate) fn set_replayed(&self, recording: Option<PathBuf>) {
        let mut replayed = self.replayed.lock();
        if *replayed != recording {
            *replayed = recording;
            self.request_reopen();
        }
    }

    /// Returns the setup of the source that is to be open.
    fn wanted(&self) -> FeedSetup {
        let camera = self.camera.lock().clone();
        match &*self.replayed.lock() {
            Some(recording) => FeedSetup {
                spec: SourceSpec::of_file(recording.clone()),
                at_end: AtEnd::Repeat,
                ..camera
            },
            None => camera,
        }
    }

    /// Opens the source again if an operator asked for it. Returns whether it did.
    ///
    /// # Errors
    /// When no thread can be started. Then there is no source.
    pub(crate) fn reopen_if_requested(&self) -> anyhow::Result<bool> {
        if !self.must_reopen.swap(false, Ordering::Relaxed) {
            return Ok(false);
        }
        self.open_again(self.wanted())?;
        Ok(true)
    }

    /// Whether a recording is open instead of the camera.
    pub(crate) fn is_replay(&self) -> bool {
        self.opened.lock().spec != self.camera.lock().spec
    }

    /// Returns the open source; `None` while it is being opened again.
    pub(crate) fn feed(&self) -> Option<Arc<Feed>> {
        self.feed.lock().clone()
    }

    /// Returns the tracker that is listened to, for the vision stage; `None` if the source has frames.
    pub(crate) fn tracker(&self) -> MutexGuard<'_, Option<TrackReceiver>> {
        self.tracker.lock()
    }

    /// Returns what is known of the tracker; `None` if the source has frames.
    pub(crate) fn tracker_status(&self) -> Option<TrackerStatus> {
        let is_tracker = self.kind() == CameraKind::Tracker;
        is_tracker.then(|| self.tracker_status.lock().clone())
    }

    /// Returns what the frames are from.
    pub(crate) fn kind(&self) -> CameraKind {
        let kind = self.opened.lock().spec.kind.clone();
        if !matches!(kind, SourceKind::Tracker(_)) && self.feed.lock().is_none() {
            return CameraKind::Unknown;
        }
        match kind {
            SourceKind::Synthetic { .. } => CameraKind::Simulated,
            SourceKind::File(_) => CameraKind::Recording,
            SourceKind::Command(_) | SourceKind::StandardInput | SourceKind::Live { .. } => {
                CameraKind::Live
            }
            SourceKind::Tracker(_) => CameraKind::Tracker,
        }
    }

    /// Returns name and health of the source.
    pub(crate) fn health(&self) -> (String, CameraHealth) {
        if let Some(tracker) = self.tracker_status() {
            let health = CameraHealth {
                fps: tracker.rate_hz,
                ..CameraHealth::default()
            };
            return (self.opened.lock().spec.to_string(), health);
        }
        match self.feed() {
            Some(feed) => (feed.name().to_owned(), feed.health()),
            None => (String::new(), CameraHealth::default()),
        }
    }

    /// Publishes how the surface is lit.
    pub(crate) fn set_lighting(&self, lighting: Option<&Lighting>) {
        *self.exposure.lock() = lighting.map(|lighting| ExposureStatus {
            advice: match lighting.advice {
                vision::ExposureAdvice::Good => ExposureAdvice::Good,
                vision::ExposureAdvice::Lower => ExposureAdvice::Lower,
                vision::ExposureAdvice::Raise => ExposureAdvice::Raise,
                vision::ExposureAdvice::Even => ExposureAdvice::Even,
            },
            factor: lighting.exposure.factor,
            dark_share: lighting.exposure.dark_share,
            saturated_share: lighting.exposure.saturated_share,
            histogram: lighting.histogram,
            contrast: lighting.contrast,
            needed_contrast: lighting.needed_contrast,
        });
    }

    /// Returns how the surface is lit; `None` if it is not known.
    pub(crate) fn exposure(&self) -> Option<ExposureStatus> {
        self.exposure.lock().clone()
    }

    /// Uses other parameters. Opens the source again only if they concern it. Returns whether it did.
    ///
    /// # Errors
    /// When the source is invalid, or no thread can be started. Then the old source stays open, or there is none.
    pub(crate) fn change(&self, params: &CameraParams) -> anyhow::Result<bool> {
        let spec = match &self.folder {
            Some(folder) => SourceSpec::parse(&params.source)?.relative_to(folder),
            None => self.camera.lock().spec.clone(),
        };
        let setup = FeedSetup {
            at_end: self.at_end,
            ..FeedSetup::new(spec, params, self.worker.clone())
        };
        *self.camera.lock() = setup;
        let wanted = self.wanted();
        if *self.opened.lock() == wanted {
            return Ok(false);
        }
        self.open_again(wanted)?;
        Ok(true)
    }

    fn open_again(&self, setup: FeedSetup) -> anyhow::Result<()> {
        // The old source is closed first, because two programs cannot read a camera at the same time.
        let old = self.feed.lock().take();
        if let Some(old) = old {
            // The desk holds the source for the moment in which it reads its health.
            while Arc::strong_count(&old) > 1 {
                std::thread::sleep(CLOSE_PAUSE);
            }
            // Frames may arrive until it is closed.
            let (reached_secs, asked_at) = (old.reached_secs(), Instant::now());
            drop(old);
            *self.reached_secs.lock() = reached_secs + asked_at.elapsed().as_secs_f64();
        }
        // Its address is free again before the next one uses it.
        *self.tracker.lock() = None;
        let name = setup.spec.to_string();
        self.start(setup)?;
        print_message(&format!("camera: {name} is opened again"));
        Ok(())
    }

    /// Opens a source while none is open.
    fn start(&self, setup: FeedSetup) -> anyhow::Result<()> {
        if let SourceKind::Tracker(tracker) = &setup.spec.kind {
            let protocol = match tracker.kind {
                TrackerKind::Tuio => TrackerProtocol::Tuio,
                TrackerKind::Augmenta => TrackerProtocol::Augmenta,
                TrackerKind::Osc => TrackerProtocol::Osc(self.context.mapping.clone()),
            };
            let status = Arc::clone(&self.tracker_status);
            let receiver = TrackReceiver::new(protocol, tracker.listen, &tracker.from, status);
            *self.tracker.lock() = Some(receiver);
        } else {
            let recorder = self.context.recorder.as_ref();
            let tap = recorder.map(|(deck, camera)| deck.tap(*camera));
            let begin_secs = *self.reached_secs.lock();
            let feed =
                Feed::open_with_ledger(setup.clone(), tap, &self.context.faults, begin_secs)?;
            *self.feed.lock() = Some(Arc::new(feed));
        }
        *self.opened.lock() = setup;
        Ok(())
    }
}

#[cfg(test)]
impl LinkContext {
    /// Returns the context of a camera in a test.
    pub(crate) fn alone() -> Self {
        Self {
            recorder: None,
            mapping: OscVisitors::default(),
            faults: FaultLedger::default(),
            is_off: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(params: &CameraParams) -> CameraLink {
        let spec = SourceSpec::parse(&params.source).unwrap();
        let folder = Some(PathBuf::new());
        let context = LinkContext::alone();
        CameraLink::open((spec, params), folder, AtEnd::Repeat, context).unwrap()
    }

    #[test]
    fn only_a_change_that_concerns_the_source_opens_it_again() {
        let params = CameraParams::default();
        let link = link(&params);
        let latency = CameraParams {
            latency_ms: 20.0,
            ..params.clone()
        };
        assert!(!link.change(&latency).unwrap());
        let opened = link.feed().unwrap();
        link.reopen_if_requested().unwrap();
        // Nobody asked for it.
        assert!(Arc::ptr_eq(&opened, &link.feed().unwrap()));
        let opened = Arc::downgrade(&{ opened });
        link.request_reopen();
        link.reopen_if_requested().unwrap();
        assert!(opened.upgrade().is_none(), "a new source");
        let other = CameraParams {
            source: "synthetic:2".to_owned(),
            ..params
        };
        assert!(link.change(&other).unwrap());
        assert_eq!(link.health().0, "synthetic:2");
    }

    /// A fixed bug: after a rehearsal, the time of the frames began again at 0, so whatever waited for a later time waited for as
    /// long as the rehearsal had lasted.
    #[test]
    fn the_time_of_the_frames_continues_when_the_source_is_opened_again() {
        let link = link(&CameraParams {
            source: "synthetic:1".to_owned(),
            ..CameraParams::default()
        });
        let mut frame = crate::camera::Frame::default();
        let mut frames_until = |secs: f64| {
            let feed = link.feed().unwrap();
            loop {
                feed.take(&mut frame, Duration::from_secs(10)).unwrap();
                if frame.time_secs >= secs {
                    return frame.time_secs;
                }
            }
        };
        let mut reached_secs = frames_until(0.4);
        for _ in 0..2 {
            link.request_reopen();
            assert!(link.reopen_if_requested().unwrap());
            let first_secs = frames_until(0.0);
            assert!(
                first_secs >= reached_secs,
                "{first_secs} after {reached_secs}"
            );
            reached_secs = frames_until(first_secs + 0.2);
        }
    }

    #[test]
    fn a_recording_is_replayed_until_the_camera_is_wanted_again() {
        let params = CameraParams {
            source: "synthetic:1".to_owned(),
            ..CameraParams::default()
        };
        let link = link(&params);
        let name = || {
            link.reopen_if_requested().unwrap();
            link.health().0
        };
        link.set_replayed(Some(PathBuf::from("/nowhere/a.y4m")));
        assert!(name().ends_with("/nowhere/a.y4m"));
        // The site can change meanwhile; its camera is opened at the end.
        let other = CameraParams {
            source: "synthetic:3".to_owned(),
            ..params
        };
        link.change(&other).unwrap();
        assert!(name().ends_with("/nowhere/a.y4m"));
        link.set_replayed(None);
        assert_eq!(name(), "synthetic:3");
    }
}
