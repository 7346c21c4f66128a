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

mod camera_link;
mod command_log;
mod desk_stage;
mod drawn_areas;
mod drift_monitor;
mod hall;
mod hall_start;
mod happenings;
mod live_calibration;
mod mind_line;
mod panel_views;
mod picture_faults;
mod picture_watch;
mod pool_queue;
mod pool_report;
mod remote_start;
mod rig;
mod rig_start;
mod service_stage;
mod simulation_stage;
mod sound_stage;
mod stage_control;
mod status_builder;
mod tracker_follower;
mod vision_stage;

pub use hall_start::HallConfig;
pub use live_calibration::{
    CALIBRATION_COMMANDS_MAX, CalibrationCommand, LiveCalibration, StepAnswer,
};
pub use rig::LiveCamera;
pub use status_builder::Meters;

pub(super) use drift_monitor::DriftMonitor;
pub(super) use picture_faults::PictureFaults;
pub(super) use rig::DISAGREE_M;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::desk::Desk;
use crate::camera::AtEnd;
use crate::control::{
    Board, CalibrationStatus, DeskClient, DeskEvents, Journal, OverlayChoice, PictureStatus,
    Source, SourceKind, TestPicture, desk_queue,
};
use crate::geometry::{Surface, Visitor};
use crate::operation::{
    AlertBoard, AlertStage, CountFile, CountingLinks, CountingStage, ScheduleBoard, ScheduleLinks,
    ScheduleStage, ShowControl, ShowFile, VisitorBoard,
};
use crate::panel::LiveViews;
use crate::records::{
    DocumentsCopy, RecordConfig, RecordingDeck, RecordingsFolder, SessionConfig, SessionEnds,
    SessionLog, counts_file, show_file, start_deck, start_session, state_folder,
};
use crate::remote::OscVisitors;
use crate::render::{CalibrationPattern, RenderSetup};
use crate::runtime::{
    Fault, HangPolicy, Latest, Pulse, SETTLE_TIME, StopFlag, Supervisor, print_message,
};
use crate::screen::{
    NoticeBoard, RenderStage, ScreenBoard, ScreenOpener, SetupHandoff, SnapshotPair,
};
use crate::simulation::{SceneDescription, SimulationParams};
use crate::site::{Editor, Site};
use crate::sound::{SoundEvent, device_output};

use desk_stage::{DeskLinks, DeskStage};
use hall_start::{HallParts, HallShare, start_hall};
use panel_views::{live_views, show_outputs};
use pool_queue::PoolQueue;
use pool_report::{Living, PoolSummary};
use rig::{Outlet, Rig, TimedObservation};
use rig_start::RigStart;
use service_stage::ServiceStage;
use simulation_stage::SimulationStage;
use sound_stage::{SoundBoard, SoundLinks, SoundStage, WantedSound, sound_queue};
use stage_control::{ProgramEnd, StageControl};
use status_builder::{StatusBuilder, StatusSources};

/// Configuration of camera source, vision and simulation.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// The cameras, at least one.
    pub cameras: Vec<LiveCamera>,
    /// What happens at the end of a recording.
    pub at_end: AtEnd,
    /// How a tracker is read that speaks OSC in its own way.
    pub mapping: OscVisitors,
    /// Recording of the first camera's frames; `None` if they are not recorded.
    pub record: Option<RecordConfig>,
    /// The projected surface.
    pub surface: Surface,
    /// Digest of the geometry of the outputs, see [`Site::projection_digest`].
    pub projection: String,
    /// Description of the pool.
    pub scene: SceneDescription,
    /// Parameters of the tick.
    pub simulation: SimulationParams,
    /// The node of a hall that this program is; `None` on a single machine.
    pub hall: Option<HallConfig>,
}

/// Builds the render setup of a site.
pub type SetupBuilder = Box<dyn Fn(Site) -> RenderSetup + Send>;

/// Starts the log of a session if it is wanted.
fn session_ends(
    supervisor: &mut Supervisor,
    session: Option<&SessionConfig>,
    links: (&DeskClient, &Journal),
) -> anyhow::Result<SessionEnds> {
    session.map_or_else(
        || Ok(SessionEnds::default()),
        |session| start_session(supervisor, session, links),
    )
}

/// Returns where the visitors of all cameras meet.
fn outlet(
    config: &LiveConfig,
    journal: &Journal,
    observations: Arc<Latest<TimedObservation>>,
    visitors: [&Arc<Latest<Vec<Visitor>>>; 2],
) -> Arc<Outlet> {
    let names = config.cameras.iter().map(|camera| camera.name.clone());
    let visitors = visitors.map(Arc::clone);
    let outlet = Outlet::new(
        names.collect(),
        &config.surface,
        journal,
        observations,
        visitors,
    );
    Arc::new(outlet)
}

/// A running pool.
pub struct LivePool {
    /// The supervisor of the threads.
    pub supervisor: Supervisor,
    /// Measured durations.
    pub meters: Meters,
    /// Picture quality.
    pub picture_status: Arc<Mutex<PictureStatus>>,
    /// The client of the desk. Commands wait until [`Self::start_desk`] is called.
    pub client: DeskClient,
    /// Faults and events of all stages.
    pub journal: Journal,
    /// Texts on the floor.
    pub notices: NoticeBoard,
    /// What the stages show to the operator's panel.
    pub views: LiveViews,
    /// The screen, for the status.
    pub screen: Arc<ScreenBoard>,
    show: ShowControl,
    deck: Arc<RecordingDeck>,
    /// Whether counts and recordings may be written.
    keeps_state: bool,
    program: ProgramEnd,
    /// Faults that last until the program ends.
    lasting: Vec<Fault>,
    /// The visitors on the surface, from the vision stage to the counting stage.
    visitors: Arc<Latest<Vec<Visitor>>>,
    /// The visitors on the surface, from the vision stage to other machines.
    shared: Arc<Latest<Vec<Visitor>>>,
    desk: Option<DeskEnds>,
    handoff: Option<Arc<SetupHandoff>>,
    rig: Arc<Rig>,
    snapshots: Arc<Latest<SnapshotPair>>,
    pattern: Arc<Mutex<Option<CalibrationPattern>>>,
}

/// What the desk stage gets when it starts.
struct DeskEnds {
    events: DeskEvents,
    board: Arc<Board>,
    queue: Arc<PoolQueue>,
    living: Arc<Latest<Living>>,
    summaries: Arc<Latest<PoolSummary>>,
    session: Option<SessionLog>,
    documents: Option<Arc<DocumentsCopy>>,
    hall: HallParts,
    sound: Arc<SoundBoard>,
    sound_events: Receiver<SoundEvent>,
}

impl LivePool {
    /// Opens the camera source, and starts vision and simulation. They end when `stop` is set.
    ///
    /// # Errors
    /// When the recording cannot be created, or a thread cannot be started.
    pub fn start(config: LiveConfig, stop: StopFlag) -> anyhow::Result<Self> {
        Self::start_logged(config, None, stop)
    }

    /// Does the same as [`Self::start`], and logs the session if `session` is given.
    ///
    /// # Errors
    /// As [`Self::start`], and when the folder of the session cannot be created.
    pub fn start_logged(
        mut config: LiveConfig,
        session: Option<&SessionConfig>,
        stop: StopFlag,
    ) -> anyhow::Result<Self> {
        let mut supervisor = Supervisor::new(stop);
        let observations: Arc<Latest<TimedObservation>> = Arc::default();
        let snapshots: Arc<Latest<SnapshotPair>> = Arc::default();
        let pattern: Arc<Mutex<Option<CalibrationPattern>>> = Arc::default();
        let meters = Meters::default();
        let (client, events, board) = desk_queue();
        let journal = Journal::new(Arc::clone(&board));
        let session = session_ends(&mut supervisor, session, (&client, &journal))?;
        let notices = NoticeBoard::default();
        let views = live_views();
        let show = ShowControl::default();
        let visitors: Arc<Latest<Vec<Visitor>>> = Arc::default();
        let shared: Arc<Latest<Vec<Visitor>>> = Arc::default();

        let tracks = HallConfig::tracks(config.hall.as_ref());
        let share = HallShare {
            simulation: &config.simulation,
            show: &show,
            client: &client,
            journal: &journal,
        };
        let mut hall = start_hall(&mut supervisor, config.hall.take(), &share)?;
        let first = config.cameras.first();
        let fps = first.and_then(|first| first.source.fps.or(first.params.fps));
        let deck = start_deck(&mut supervisor, config.record.as_ref(), fps, &journal)?;
        let visits = [&visitors, &shared];
        let outlet = outlet(&config, &journal, Arc::clone(&observations), visits);
        let queue = Arc::new(PoolQueue::new(config.scene));
        let living: Arc<Latest<Living>> = Arc::default();
        let summaries: Arc<Latest<PoolSummary>> = Arc::default();
        let sound = Arc::<SoundBoard>::default();
        let (sound_sender, sound_events) = sound_queue(&sound);
        let mut simulation = SimulationStage {
            sound: sound_sender,
            queue: Arc::clone(&queue),
            params: config.simulation,
            observations,
            snapshots: Arc::clone(&snapshots),
            living: Arc::clone(&living),
            summaries: Arc::clone(&summaries),
            meters: meters.clone(),
            session: session.simulation,
            show: show.clone(),
            desk: client.clone(),
            journal: journal.clone(),
            views: views.clone(),
            hall: hall.ticks.take(),
        };
        supervisor.start("simulation", HangPolicy::EndProgram, move |heartbeat| {
            simulation.run(heartbeat)
        })?;
        let start = RigStart {
            surface: config.surface,
            projection: config.projection,
            at_end: config.at_end,
            mapping: config.mapping,
            deck: Arc::clone(&deck),
            client: client.clone(),
            journal: journal.clone(),
            notices: notices.clone(),
            views: views.clone(),
            pattern: Arc::clone(&pattern),
            observation_latency: Arc::clone(&meters.frame_to_observation),
            outlet,
            tracks,
        };
        let rig = start.cameras(config.cameras, &mut supervisor)?;
        Ok(Self {
            program: ProgramEnd::new(Arc::clone(supervisor.stop_flag())),
            supervisor,
            meters,
            picture_status: Arc::default(),
            client,
            journal,
            notices,
            views,
            screen: Arc::default(),
            show,
            deck,
            keeps_state: true,
            lasting: Vec::new(),
            visitors,
            shared,
            desk: Some(DeskEnds {
                events,
                board,
                queue,
                living,
                summaries,
                session: session.desk,
                documents: session.documents,
                hall,
                sound,
                sound_events,
            }),
            handoff: None,
            rig,
            snapshots,
            pattern,
        })
    }

    /// Writes no counts and no recordings, because another instance uses their folder.
    pub fn keep_nothing(&mut self) {
        self.keeps_state = false;
    }

    /// Starts the desk, which applies commands to the documents, the pool and the render setup, and publishes the status. It
    /// saves accepted calibrations beside the site file `site`. Does nothing if the desk is already running.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_desk(
        &mut self,
        editor: Editor,
        site: Option<&Path>,
        setups: Option<(Arc<SetupHandoff>, SetupBuilder)>,
    ) -> anyhow::Result<()> {
        let Some(ends) = self.desk.take() else {
            return Ok(());
        };
        let schedule = Arc::new(ScheduleBoard::new(editor.site().file.schedule.clone()));
        self.start_schedule(
            &schedule,
            &ends.board,
            site.filter(|_| self.keeps_state).map(show_file),
        )?;
        let visitors = self.start_counting(editor.site(), &schedule)?;
        let alerts = Arc::new(AlertBoard::new(editor.site().file.alerts.clone()));
        self.start_alerts(&alerts, &schedule, &ends.board)?;
        let remote = self.start_remote(&editor.site().file)?;
        let sound = Arc::clone(&ends.sound);
        self.start_sound(editor.site(), &sound, ends.sound_events)?;
        let status = StatusBuilder::new(StatusSources {
            site: site.map(Path::to_path_buf),
            stages: self.supervisor.board(),
            rig: Arc::clone(&self.rig),
            meters: self.meters.clone(),
            picture: Arc::clone(&self.picture_status),
            screen: Arc::clone(&self.screen),
            summaries: ends.summaries,
            schedule: Arc::clone(&schedule),
            visitors,
            show: self.show.clone(),
            deck: Arc::clone(&self.deck),
            remote,
            alerts: Arc::clone(&alerts),
            sound: Arc::clone(&sound),
            hall: ends.hall.board,
            journal: self.journal.clone(),
        });
        if let Some(site) = site.filter(|_| self.keeps_state) {
            let folder = state_folder(site.parent().unwrap_or(Path::new("")));
            self.deck.set_folder(RecordingsFolder::new(&folder));
        }
        self.notices.set_language(editor.site().file.language);
        self.handoff = setups.as_ref().map(|(handoff, _)| Arc::clone(handoff));
        let links = DeskLinks {
            schedule,
            alerts,
            sound,
            control: StageControl {
                stages: self.supervisor.board(),
                rig: Arc::clone(&self.rig),
                show: self.show.clone(),
                deck: Arc::clone(&self.deck),
                program: self.program.clone(),
            },
            notices: self.notices.clone(),
            session: ends.session,
            documents: ends.documents,
            hall: ends.hall.desk,
            events: ends.events,
            board: ends.board,
            journal: self.journal.clone(),
            queue: ends.queue,
            living: ends.living,
            setups,
        };
        let mut desk = DeskStage::new(Desk::new(editor), links, status, site);
        self.supervisor
            .start("desk", HangPolicy::WaitAtEnd, move |heartbeat| {
                desk.run(heartbeat);
            })
    }

    /// Starts the messages about faults.
    fn start_alerts(
        &mut self,
        alerts: &Arc<AlertBoard>,
        schedule: &Arc<ScheduleBoard>,
        board: &Arc<Board>,
    ) -> anyhow::Result<()> {
        let (alerts, schedule) = (Arc::clone(alerts), Arc::clone(schedule));
        let mut stage = AlertStage::new(alerts, schedule, Arc::clone(board), &self.journal);
        self.supervisor
            .start("alerts", HangPolicy::WaitAtEnd, move |heartbeat| {
                stage.run(heartbeat);
            })
    }

    /// Starts the sound. A second instance leaves the device to the first.
    fn start_sound(
        &mut self,
        site: &Site,
        board: &Arc<SoundBoard>,
        events: Receiver<SoundEvent>,
    ) -> anyhow::Result<()> {
        if !self.keeps_state {
            return Ok(());
        }
        board.want(WantedSound::of(site));
        let mut stage = SoundStage::new(SoundLinks {
            board: Arc::clone(board),
            events,
            show: self.show.clone(),
            fault: self.journal.fault("sound").settling(SETTLE_TIME),
            output: device_output(),
        });
        self.supervisor
            .start("sound", HangPolicy::Abandon, move |heartbeat| {
                stage.run(heartbeat);
            })
    }

    /// Starts the reports to systemd: from now on Shoal counts as ready.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start_service(&mut self) -> anyhow::Result<()> {
        let mut stage = ServiceStage::new(
            Pulse::of(&self.supervisor, "simulation"),
            self.client.clone(),
        );
        self.supervisor
            .start("service", HangPolicy::WaitAtEnd, move |heartbeat| {
                stage.run(heartbeat);
            })
    }

    /// Starts the count of visitors, which is stored if the site wants it. Returns where the status finds it.
    fn start_counting(
        &mut self,
        site: &Site,
        schedule: &Arc<ScheduleBoard>,
    ) -> anyhow::Result<Arc<VisitorBoard>> {
        let file = (site.file.counting.on && self.keeps_state).then(|| CountFile {
            path: counts_file(site),
            keep_days: site.file.counting.keep_days,
        });
        if let Some(file) = &file {
            print_message(&format!("counting: {}", file.path.display()));
        }
        let board: Arc<VisitorBoard> = Arc::default();
        let links = CountingLinks {
            visitors: Arc::clone(&self.visitors),
            board: Arc::clone(&board),
            show: self.show.clone(),
            schedule: Arc::clone(schedule),
            journal: self.journal.clone(),
        };
        let mut stage = CountingStage::new(links, file);
        self.supervisor
            .start("counting", HangPolicy::WaitAtEnd, move |heartbeat| {
                stage.run(heartbeat);
            })?;
        Ok(board)
    }

    /// Starts the schedule. The first state applies before this function returns, so that no picture of another state is shown.
    fn start_schedule(
        &mut self,
        schedule: &Arc<ScheduleBoard>,
        board: &Arc<Board>,
        kept: Option<ShowFile>,
    ) -> anyhow::Result<()> {
        let mut stage = ScheduleStage::new(ScheduleLinks {
            schedule: Arc::clone(schedule),
            board: Arc::clone(board),
            show: self.show.clone(),
            commands: self.client.sender(Source::of(SourceKind::Schedule)),
            journal: self.journal.clone(),
            kept,
        });
        stage.step();
        self.supervisor
            .start("schedule", HangPolicy::WaitAtEnd, move |heartbeat| {
                stage.run(heartbeat);
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
        let (lit, resting, test) = (self.show.clone(), self.show.clone(), self.show.clone());
        let views = self.views.clone();
        let mut render = RenderStage {
            open_screen,
            handoff: self.handoff.clone(),
            snapshots: Arc::clone(&self.snapshots),
            pattern: Arc::clone(&self.pattern),
            notices: self.notices.clone(),
            min_interval: Box::new(min_interval),
            picture_latency: Arc::clone(&self.meters.frame_to_picture),
            draw_time: Arc::clone(&self.meters.draw),
            pass_times: Arc::clone(&self.meters.gpu),
            lose_device_after,
            status: Arc::clone(&self.picture_status),
            picture_interval: Arc::clone(&self.meters.picture_interval),
            test_picture: Box::new(move |now| test.test_picture(now)),
            is_lit: Box::new(move || lit.is_lit()),
            rest: Box::new(move |heartbeat| resting.rest(heartbeat, || false)),
            journal: self.journal.clone(),
            copy_outputs: Box::new(move |screen| show_outputs(&views, screen, Instant::now())),
        };
        self.supervisor
            .start("render", HangPolicy::EndProgram, move |heartbeat| {
                render.run(heartbeat)
            })
    }

    /// Shows a picture for adjusting the projectors, or draws something over the pool, from the start.
    pub(super) fn start_with(&self, picture: Option<TestPicture>, overlay: OverlayChoice) {
        self.show.start_with_test_picture(picture);
        self.show.start_with_overlay(overlay);
    }

    /// Returns what is drawn over the pool, whenever it is asked.
    pub(super) fn overlay(&self) -> impl Fn() -> Option<Arc<OverlayChoice>> + use<> {
        let show = self.show.clone();
        move || show.overlay(Instant::now())
    }

    /// Returns the recording that is replayed instead of the camera, whenever it is asked.
    pub(super) fn rehearsal(&self) -> impl Fn() -> Option<PathBuf> + Send + Sync + use<> {
        let show = self.show.clone();
        move || show.rehearsal()
    }

    /// Reports a fault that lasts until the program ends.
    pub fn report_lasting(&mut self, name: &str, detail: &str) {
        let mut fault = self.journal.fault(name);
        fault.raise(&detail);
        self.lasting.push(fault);
    }

    /// Whether the program ends because an operator starts it again.
    pub fn is_restart(&self) -> bool {
        self.program.is_restart()
    }

    /// Returns the status of the calibration of the chosen camera, whenever it is asked.
    pub(super) fn calibration_status(&self) -> impl Fn() -> CalibrationStatus + use<> {
        let rig = Arc::clone(&self.rig);
        move || rig.chosen().calibration.lock().clone()
    }

    /// Returns the number of frames that the vision stages did not take in time.
    pub fn frames_skipped(&self) -> u64 {
        let links = self.rig.cameras.iter().map(|camera| &camera.link);
        links.map(|link| link.health().1.skipped).sum()
    }
}
