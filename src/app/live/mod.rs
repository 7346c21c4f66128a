//! The running pool: each stage runs on a thread of its own. Between the stages are slots in which the latest value wins.
//!
//! ```text
//! feed ──frame──► vision ──observation──► simulation ──snapshots──► render ──► window
//!   │                └──calibration pattern───────────────────────────▲
//!   └──frames──► recorder (only with --record)             main thread: events of the windows
//! ```
//!
//! The feed is the supervised camera source ([`crate::camera::Feed`]). In: a [`LiveConfig`]. Out: the running threads, and the
//! measured latencies. Each stage owns its state, and builds it again when it is restarted after a panic. No stage waits for
//! the work of another stage.

mod desk_stage;
mod display;
mod drift_monitor;
mod duration_meter;
mod fault_reporter;
mod keys;
mod latest_slot;
mod live_calibration;
mod monitors;
mod recorder;
mod render_stage;
mod screen_supervisor;
mod simulation_stage;
mod supervisor;
mod timing;
mod vision_stage;
mod windows;

pub use desk_stage::{SetupBuilder, SetupHandoff};
pub use duration_meter::{DurationMeter, DurationSummary};
pub use live_calibration::{CALIBRATION_COMMANDS_MAX, CalibrationCommand, LiveCalibration};
pub use screen_supervisor::ScreenOpener;
pub use supervisor::{HangPolicy, Heartbeat, StopFlag, Supervisor};

pub(super) use display::{check_reachable, is_x11};
pub(super) use drift_monitor::DriftMonitor;
pub(super) use keys::calibration_step_for_key;
pub(super) use monitors::{list_monitors, watch_monitors};
pub(super) use timing::{Backoff, FailureLimit};
pub(super) use windows::{SharedWindows, WindowSettings, run_windows};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use parking_lot::Mutex;

use super::desk::Desk;
use crate::calibration::Calibration;
use crate::camera::{
    AtEnd, CameraParams, Feed, FeedSetup, FrameTap, Recording, SourceSpec, WorkerCommand,
};
use crate::control::{CalibrationStatus, Command, PictureStatus};
use crate::geometry::Surface;
use crate::render::CalibrationPattern;
use crate::simulation::{SceneDescription, SimulationParams};
use crate::site::Editor;
use crate::vision::VisionParams;
use crate::world::OverlayLayers;

use desk_stage::{DeskStage, PoolChange, PoolStart};
use latest_slot::LatestSlot;
use recorder::recorder;
use render_stage::RenderStage;
use simulation_stage::{SimulationStage, SnapshotPair};
use vision_stage::{TimedObservation, VisionStage};

/// Frame rate in the header of a recording if the source does not report a rate, in frames per second.
const RECORDING_FPS: f64 = 30.0;

/// Configuration of camera source, vision and simulation.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// Camera source.
    pub camera: SourceSpec,
    /// Settings of a live camera, and the frame rate of a recording that does not contain one.
    pub camera_params: CameraParams,
    /// What happens at the end of a recording.
    pub at_end: AtEnd,
    /// Recording of the camera's frames; `None` if they are not recorded.
    pub record: Option<RecordConfig>,
    /// Parameters of detection and tracking.
    pub vision: VisionParams,
    /// Calibration of the camera. With `None` the whole picture is mapped onto the surface.
    pub calibration: Option<Calibration>,
    /// The projected surface.
    pub surface: Surface,
    /// Overlay layers that the snapshots contain.
    pub layers: OverlayLayers,
    /// Description of the pool.
    pub scene: SceneDescription,
    /// Parameters of the tick.
    pub simulation: SimulationParams,
}

/// A recording of the camera's frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordConfig {
    /// The y4m file.
    pub path: PathBuf,
    /// Longest duration of the recording, in seconds.
    pub secs: f64,
}

/// A running pool.
pub struct LivePool {
    /// The supervisor of the threads.
    pub supervisor: Supervisor,
    /// Time from the arrival of a frame until its observation is passed to the simulation.
    pub observation_latency: Arc<DurationMeter>,
    /// Time from the arrival of a frame until the first picture that shows its effect is passed to the GPU.
    pub picture_latency: Arc<DurationMeter>,
    /// Time to prepare one picture and pass it to the GPU.
    pub draw_time: Arc<DurationMeter>,
    /// Picture quality.
    pub picture_status: Arc<Mutex<PictureStatus>>,
    /// Version of the render setup on the screen, set by [`SetupHandoff::take`].
    pub shown_version: Arc<AtomicU64>,
    /// Status of the camera calibration.
    pub calibration_status: Arc<Mutex<CalibrationStatus>>,
    calibration_commands: SyncSender<CalibrationCommand>,
    accepted: Option<Receiver<Box<Calibration>>>,
    feed: Arc<Feed>,
    snapshots: Arc<LatestSlot<SnapshotPair>>,
    pattern: Arc<Mutex<Option<CalibrationPattern>>>,
    changes: SyncSender<PoolChange>,
    pool_start: Arc<Mutex<PoolStart>>,
}

impl LivePool {
    /// Opens the camera source, and starts vision and simulation. They end when `stop` is set.
    ///
    /// # Errors
    /// When the recording cannot be created, or a thread cannot be started.
    pub fn start(config: LiveConfig, stop: StopFlag) -> anyhow::Result<Self> {
        let mut supervisor = Supervisor::new(stop);
        let observations: Arc<LatestSlot<TimedObservation>> = Arc::default();
        let snapshots: Arc<LatestSlot<SnapshotPair>> = Arc::default();
        let pattern: Arc<Mutex<Option<CalibrationPattern>>> = Arc::default();
        let observation_latency: Arc<DurationMeter> = Arc::default();

        let mut tap: Option<FrameTap> = None;
        if let Some(record) = &config.record {
            let fps = config.camera.fps.or(config.camera_params.fps);
            let recording =
                Recording::create(&record.path, record.secs, fps.unwrap_or(RECORDING_FPS))?;
            let (mut input, mut recorder) = recorder(recording);
            let stop = Arc::clone(supervisor.stop_flag());
            tap = Some(Box::new(move |frame| {
                // At the end of the program the recorder finishes its file. Frames that arrive after that are not sent to it.
                if !stop.load(Ordering::Relaxed) {
                    input.send(frame);
                }
            }));
            supervisor.start("recorder", HangPolicy::WaitAtEnd, move |heartbeat| {
                recorder.run(heartbeat);
                Ok(())
            })?;
        }
        let (changes, received_changes) = sync_channel(desk_stage::WAITING_MAX);
        let pool_start = Arc::new(Mutex::new(PoolStart {
            setup_version: 0,
            scene: config.scene,
        }));
        let mut simulation = SimulationStage {
            start: Arc::clone(&pool_start),
            changes: received_changes,
            params: config.simulation,
            layers: config.layers,
            observations: Arc::clone(&observations),
            snapshots: Arc::clone(&snapshots),
        };
        supervisor.start("simulation", HangPolicy::EndProgram, move |heartbeat| {
            simulation.run(heartbeat)
        })?;
        let worker = WorkerCommand::own()?;
        let setup = FeedSetup {
            at_end: config.at_end,
            ..FeedSetup::new(config.camera, &config.camera_params, worker)
        };
        let feed = Arc::new(Feed::open(setup, tap)?);
        let (calibration_commands, received_commands) =
            sync_channel(live_calibration::CALIBRATION_COMMANDS_MAX);
        let (accept, accepted) = sync_channel(live_calibration::CALIBRATION_COMMANDS_MAX);
        let calibration_status: Arc<Mutex<CalibrationStatus>> = Arc::default();
        let mut vision = VisionStage {
            calibration: LiveCalibration::new(
                received_commands,
                accept,
                Arc::clone(&calibration_status),
                (config.vision.clone(), config.surface.clone()),
                config.calibration,
            ),
            params: config.vision,
            surface: config.surface,
            latency_secs: config.camera_params.latency_ms / 1000.0,
            feed: Arc::clone(&feed),
            observations,
            pattern: Arc::clone(&pattern),
            observation_latency: Arc::clone(&observation_latency),
        };
        supervisor.start("vision", HangPolicy::EndProgram, move |heartbeat| {
            vision.run(heartbeat);
            Ok(())
        })?;
        Ok(Self {
            supervisor,
            observation_latency,
            picture_latency: Arc::default(),
            draw_time: Arc::default(),
            picture_status: Arc::default(),
            shown_version: Arc::default(),
            calibration_status,
            calibration_commands,
            accepted: Some(accepted),
            feed,
            snapshots,
            pattern,
            changes,
            pool_start,
        })
    }

    /// Starts the desk, which applies commands to the documents, the pool and the render setup. It saves accepted calibrations
    /// in `folder`, the folder of the site file.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_desk(
        &mut self,
        editor: Editor,
        commands: Receiver<Command>,
        folder: Option<PathBuf>,
        setups: Option<(Arc<SetupHandoff>, SetupBuilder)>,
    ) -> anyhow::Result<()> {
        let mut desk = DeskStage {
            desk: Desk::new(editor),
            commands,
            changes: self.changes.clone(),
            start: Arc::clone(&self.pool_start),
            calibration_commands: self.calibration_commands.clone(),
            accepted: self.accepted.take(),
            folder,
            setups,
        };
        self.supervisor
            .start("desk", HangPolicy::WaitAtEnd, move |heartbeat| {
                desk.run(heartbeat);
                Ok(())
            })
    }

    /// Starts the render stage. It draws on the screen that `open_screen` opens. The time between two pictures is at least the
    /// time that `min_interval` returns. If `lose_device_after` is set, the graphics device is lost once after this number of
    /// pictures, for tests.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_render(
        &mut self,
        open_screen: ScreenOpener,
        min_interval: impl Fn() -> Duration + Send + 'static,
        lose_device_after: Option<u64>,
    ) -> anyhow::Result<()> {
        let mut render = RenderStage {
            open_screen,
            snapshots: Arc::clone(&self.snapshots),
            pattern: Arc::clone(&self.pattern),
            min_interval: Box::new(min_interval),
            picture_latency: Arc::clone(&self.picture_latency),
            draw_time: Arc::clone(&self.draw_time),
            lose_device_after,
            status: Arc::clone(&self.picture_status),
            shown_version: Arc::clone(&self.shown_version),
        };
        self.supervisor
            .start("render", HangPolicy::EndProgram, move |heartbeat| {
                render.run(heartbeat)
            })
    }

    /// Returns the number of frames that the vision stage did not take in time.
    pub fn frames_skipped(&self) -> u64 {
        self.feed.health().skipped
    }
}
