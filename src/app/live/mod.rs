//! The pool as it runs: stages on threads of their own, joined by slots in which the latest wins.
//!
//! ```text
//! capture ──frame──► vision ──sighting──► simulation ──moment──► render ──► window
//!     └──frames──► recorder (only with --record)                    main thread: the window's events
//! ```
//!
//! In: a [`Plan`]. Out: a running crew, and how long frames take on their way. Each stage owns its state and makes it
//! anew when it starts again after a panic; none waits for another's work.

pub mod calibrating;
pub mod capture;
pub mod clock;
pub mod display;
pub mod drifting;
pub mod editing;
pub mod keys;
pub mod living;
pub mod meter;
pub mod monitors;
pub mod recorder;
pub mod show;
pub mod slot;
pub mod supervise;
pub mod watch;
pub mod window;

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::desk::Desk;
use crate::calibration::Calibration;
use crate::camera::{CameraParams, Recording, SourceSpec};
use crate::control::{CalibrationStatus, Command, PictureStatus};
use crate::geometry::Surface;
use crate::simulation::{SceneDescription, SimulationParams};
use crate::site::Editor;
use crate::vision::VisionParams;
use crate::world::OverlayLayers;

use editing::{Beginning, Edited, Editing, Painter, Pictures};

use calibrating::{Calibrating, Wish};
use capture::{Arrival, AtEnd, Capture};
use living::{Living, Moment};
use meter::Meter;
use recorder::recorder;
use show::{Opener, Showing};
use slot::Slot;
use supervise::{Crew, Stop, Watch};
use watch::{Sighting, Watching};

/// Header rate of recordings whose source does not say its own.
const RECORDING_FPS: f64 = 30.0;

/// What runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The camera's source.
    pub camera: SourceSpec,
    /// What a live camera is set to, and the rate of a recording that does not say its own.
    pub camera_params: CameraParams,
    /// What happens when it is over.
    pub at_end: AtEnd,
    /// Keep its frames.
    pub record: Option<RecordPlan>,
    /// How shadows are found.
    pub vision: VisionParams,
    /// How the camera sees the floor; without it the whole picture is the surface.
    pub calibration: Option<Calibration>,
    /// The projected surface.
    pub surface: Surface,
    /// Marks that the pool is to fill.
    pub layers: OverlayLayers,
    /// The pool.
    pub scene: SceneDescription,
    /// The tick.
    pub simulation: SimulationParams,
}

/// What is kept of the camera's frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordPlan {
    /// The y4m file.
    pub path: PathBuf,
    /// No longer than this.
    pub secs: f64,
}

/// A pool that runs.
pub struct Live {
    /// The threads.
    pub crew: Crew,
    /// From a frame's arrival to the observation's hand-over.
    pub observed: Arc<Meter>,
    /// From a frame's arrival to the first picture handed to the GPU that shows what came of it.
    pub submitted: Arc<Meter>,
    /// Time that making and handing over a picture took.
    pub drawn: Arc<Meter>,
    /// How pictures are drawn.
    pub picture: Arc<Mutex<PictureStatus>>,
    /// Version of the picture on the screen; whoever opens one with [`Pictures`] sets it.
    pub opened: Arc<AtomicU64>,
    /// How the camera is calibrated.
    pub calibration: Arc<Mutex<CalibrationStatus>>,
    wishes: SyncSender<Wish>,
    accepted: Option<Receiver<Box<Calibration>>>,
    frames: Arc<Slot<Arrival>>,
    moments: Arc<Slot<Moment>>,
    edited: SyncSender<Edited>,
    beginning: Arc<Mutex<Beginning>>,
}

impl Live {
    /// Starts capture, vision and simulation; `stop` ends them.
    ///
    /// # Errors
    /// When the recording cannot be begun, or the system gives no threads.
    pub fn start(plan: Plan, stop: Stop) -> anyhow::Result<Self> {
        let mut crew = Crew::new(stop);
        let frames: Arc<Slot<Arrival>> = Arc::default();
        let sightings: Arc<Slot<Sighting>> = Arc::default();
        let moments: Arc<Slot<Moment>> = Arc::default();
        let observed: Arc<Meter> = Arc::default();

        let mut tap = None;
        if let Some(record) = &plan.record {
            let fps = plan.camera.fps.or(plan.camera_params.fps);
            let recording =
                Recording::create(&record.path, record.secs, fps.unwrap_or(RECORDING_FPS))?;
            let (given, mut writer) = recorder(recording);
            tap = Some(given);
            crew.start("recorder", Watch::MayWait, move |pulse| {
                writer.run(pulse);
                Ok(())
            })?;
        }
        let (edited, changes) = sync_channel(editing::WAITING_MAX);
        let beginning = Arc::new(Mutex::new(Beginning {
            version: 0,
            scene: plan.scene,
        }));
        let mut living = Living {
            beginning: Arc::clone(&beginning),
            edited: changes,
            params: plan.simulation,
            layers: plan.layers,
            sightings: Arc::clone(&sightings),
            moments: Arc::clone(&moments),
        };
        crew.start("simulation", Watch::Pulse, move |pulse| living.run(pulse))?;
        let (wishes, wished) = sync_channel(calibrating::WAITING_MAX);
        let (handed_over, accepted) = sync_channel(calibrating::WAITING_MAX);
        let calibration: Arc<Mutex<CalibrationStatus>> = Arc::default();
        let mut watching = Watching {
            calibrating: Calibrating::new(
                wished,
                handed_over,
                Arc::clone(&calibration),
                (plan.vision.clone(), plan.surface.clone()),
                plan.calibration,
            ),
            params: plan.vision,
            surface: plan.surface,
            latency_secs: plan.camera_params.latency_ms / 1000.0,
            frames: Arc::clone(&frames),
            sightings,
            observed: Arc::clone(&observed),
        };
        crew.start("vision", Watch::Pulse, move |pulse| {
            watching.run(pulse);
            Ok(())
        })?;
        let (camera, params, at_end) = (plan.camera, plan.camera_params, plan.at_end);
        let mut capture = Capture::new(camera, params, at_end, tap, Arc::clone(&frames));
        crew.start("capture", Watch::MayWait, move |pulse| {
            capture.run(pulse);
            Ok(())
        })?;
        Ok(Self {
            crew,
            observed,
            submitted: Arc::default(),
            drawn: Arc::default(),
            picture: Arc::default(),
            opened: Arc::default(),
            calibration,
            wishes,
            accepted: Some(accepted),
            frames,
            moments,
            edited,
            beginning,
        })
    }

    /// Starts a thread that obeys commands: pool, camera and, where there are pictures, screen follow. What is calibrated
    /// is saved in `folder`, the site's.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn edit(
        &mut self,
        editor: Editor,
        commands: Receiver<Command>,
        folder: Option<PathBuf>,
        pictures: Option<(Arc<Pictures>, Painter)>,
    ) -> anyhow::Result<()> {
        let mut editing = Editing {
            wishes: self.wishes.clone(),
            accepted: self.accepted.take(),
            folder,
            desk: Desk::new(editor),
            commands,
            edited: self.edited.clone(),
            beginning: Arc::clone(&self.beginning),
            pictures,
        };
        self.crew.start("desk", Watch::MayWait, move |pulse| {
            editing.run(pulse);
            Ok(())
        })
    }

    /// Starts a render thread, which shows the pool on whatever `open` makes, no faster than `interval` says.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn show(
        &mut self,
        open: Opener,
        interval: impl Fn() -> Duration + Send + 'static,
        lose_device_after: Option<u64>,
    ) -> anyhow::Result<()> {
        let mut showing = Showing {
            open,
            moments: Arc::clone(&self.moments),
            interval: Box::new(interval),
            submitted: Arc::clone(&self.submitted),
            drawn: Arc::clone(&self.drawn),
            lose_device_after,
            status: Arc::clone(&self.picture),
            opened: Arc::clone(&self.opened),
        };
        self.crew
            .start("render", Watch::Pulse, move |pulse| showing.run(pulse))
    }

    /// Frames that vision did not take in time.
    pub fn frames_skipped(&self) -> u64 {
        self.frames.replaced()
    }
}
