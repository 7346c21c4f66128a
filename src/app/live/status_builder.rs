//! Builds the status of the running pool, and finds the events that no stage reports itself: steps of the calibration, restarts of
//! stages.
//!
//! In: what the stages publish. Out: a [`Status`], and events in the journal. Must not: wait for a stage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::hall::{HallBoard, hall_status};
use super::picture_watch::{PictureFacts, PictureWatch};
use super::pool_report::{Living, PoolSummary};
use super::rig::{Rig, RigCamera};
use super::sound_stage::SoundBoard;
use crate::control::{
    CalibrationStatus, CameraStatus, DeliveryStatus, DocumentName, EventKind, Journal,
    OutputStatus, PictureStatus, RuleStatus, SpeciesStatus, Status, TimingStatus, VersionStatus,
    complete,
};
use crate::operation::{AlertBoard, ScheduleBoard, ShowControl, VisitorBoard};
use crate::records::{RecordingDeck, state_folder};
use crate::remote::RemoteStatus;
use crate::runtime::{
    DurationMeter, Fault, Latest, MachineStatus, MessageFlow, StageBoard, kernel_release,
    machine_status, message_flow, now_iso,
};
use crate::screen::{PassMeters, ScreenBoard};

/// Time between two readings of memory and disk.
const MACHINE_INTERVAL: Duration = Duration::from_secs(5);
/// Time without another reset of an agent's state after which the fault of such agents ends.
const QUARANTINE_FAULT_TIME: Duration = Duration::from_secs(60);

/// The durations that the status shows.
#[derive(Clone, Debug, Default)]
pub struct Meters {
    /// Computation of a tick.
    pub tick: Arc<DurationMeter>,
    /// Drawing of a picture.
    pub draw: Arc<DurationMeter>,
    /// Passes of a picture on the graphics device.
    pub gpu: Arc<PassMeters>,
    /// From one picture to the next.
    pub picture_interval: Arc<DurationMeter>,
    /// From the arrival of a frame until the simulation has its observation.
    pub frame_to_observation: Arc<DurationMeter>,
    /// From the arrival of a frame until its effect is passed to the graphics device.
    pub frame_to_picture: Arc<DurationMeter>,
    /// From the sending of a command until its reply.
    pub command_to_reply: Arc<DurationMeter>,
    /// From the sending of a command until the snapshot that contains its effect.
    pub command_to_snapshot: Arc<DurationMeter>,
}

/// Time without progress from which the reader of the log counts as gone.
const LOG_STUCK_TIME: Duration = Duration::from_secs(10);
/// Time without a further dropped line after which the fault of the log ends.
const LOG_FAULT_TIME: Duration = Duration::from_secs(60);

/// What the stages publish.
pub(crate) struct StatusSources {
    /// Path of the site file; `None` for the built-in demo.
    pub(crate) site: Option<PathBuf>,
    /// The threads.
    pub(crate) stages: StageBoard,
    /// The cameras.
    pub(crate) rig: Arc<Rig>,
    /// Durations.
    pub(crate) meters: Meters,
    /// Picture quality.
    pub(crate) picture: Arc<Mutex<PictureStatus>>,
    /// The screen.
    pub(crate) screen: Arc<ScreenBoard>,
    /// Summaries of the pool.
    pub(crate) summaries: Arc<Latest<PoolSummary>>,
    /// The schedule.
    pub(crate) schedule: Arc<ScheduleBoard>,
    /// The visitors and their number.
    pub(crate) visitors: Arc<VisitorBoard>,
    /// Pause and rehearsal.
    pub(crate) show: ShowControl,
    /// The recorder that operators start.
    pub(crate) deck: Arc<RecordingDeck>,
    /// Other machines.
    pub(crate) remote: RemoteStatus,
    /// What became of the messages about faults.
    pub(crate) alerts: Arc<AlertBoard>,
    /// The sound.
    pub(crate) sound: Arc<SoundBoard>,
    /// The hall; `None` on a single machine.
    pub(crate) hall: Option<Arc<HallBoard>>,
    /// Faults and events.
    pub(crate) journal: Journal,
}

/// Builds the status again and again.
pub(crate) struct StatusBuilder {
    sources: StatusSources,
    summary: PoolSummary,
    machine: MachineStatus,
    machine_read: Option<Instant>,
    kernel: String,
    /// Restarts of each stage that are already reported.
    restarts: BTreeMap<String, u64>,
    calibration: CalibrationStatus,
    /// Index of the camera whose calibration this is.
    chosen: usize,
    /// Number of agents whose state was reset, as far as it is reported.
    quarantined: u64,
    not_finite: Fault,
    /// Lines of the log that were dropped, as far as it is reported.
    dropped: u64,
    log: Fault,
    picture_watch: PictureWatch,
}

impl StatusBuilder {
    pub(crate) fn new(sources: StatusSources) -> Self {
        let not_finite = sources.journal.fault("simulation.not_finite");
        Self {
            not_finite: not_finite.lasting(QUARANTINE_FAULT_TIME),
            dropped: 0,
            log: sources.journal.fault("log").lasting(LOG_FAULT_TIME),
            picture_watch: PictureWatch::new(&sources.journal, Instant::now()),
            sources,
            summary: PoolSummary::default(),
            machine: MachineStatus::default(),
            machine_read: None,
            kernel: kernel_release(),
            restarts: BTreeMap::new(),
            calibration: CalibrationStatus::default(),
            chosen: 0,
            quarantined: 0,
        }
    }

    /// Records the time from the sending of a command until its reply.
    pub(crate) fn record_reply(&self, time: Duration) {
        self.sources.meters.command_to_reply.record(time);
    }

    /// Completes a status that already contains the documents.
    pub(crate) fn build(&mut self, documents: Status, living: &Living, revision: u64) -> Status {
        let time = now_iso();
        self.sources
            .summaries
            .take(&mut self.summary, Duration::ZERO);
        let schedule = self.sources.schedule.status();
        self.update_calibration();
        self.update_machine();
        let stages = self.sources.stages.statuses();
        for stage in &stages {
            let reported = self.restarts.entry(stage.name.clone()).or_default();
            if stage.restarts > *reported {
                *reported = stage.restarts;
                let stage = stage.name.clone();
                self.sources
                    .journal
                    .add(EventKind::StageRestarted { stage });
            }
        }
        self.update_quarantine();
        self.update_picture();
        self.update_log();
        let calibration = CalibrationStatus {
            is_saved: is_saved(&self.calibration, &documents),
            ..self.calibration.clone()
        };
        let faults = self.sources.journal.faults();
        let sources = &self.sources;
        let (tracks, visitors) = sources.visitors.read();
        let screen = sources.screen.description.lock().clone();
        let mut status = Status {
            time,
            uptime_secs: sources.journal.uptime_secs(),
            site: shown_path(sources.site.as_deref()),
            tick: living.tick,
            revision,
            stages,
            faults,
            camera: camera_status(sources.rig.chosen()),
            cameras: cameras_status(&sources.rig),
            agreements: sources.rig.agreements(),
            tracks,
            visitors,
            species: self.species(),
            timing: self.timing(),
            gpu: sources.meters.gpu.last_minute(sources.screen.wanted_fps()),
            outputs: self.outputs(),
            picture: self.picture(),
            calibration,
            schedule,
            paused_secs: (sources.show.paused_since()).map(|since| since.elapsed().as_secs_f64()),
            test_picture: sources.show.test_picture(Instant::now()),
            overlay: sources.show.overlay_status(Instant::now()),
            recording: sources.deck.status(),
            rehearsal: (sources.show.rehearsal()).and_then(|path| file_name(&path)),
            osc: sources.remote.osc.lock().clone(),
            sacn: sources.remote.sacn.lock().clone(),
            projectors: sources.remote.projectors.lock().clone(),
            deliveries: self.deliveries(),
            sound: sources.sound.status(),
            hall: hall_status(sources.hall.as_ref()),
            director: self.rules(),
            versions: VersionStatus {
                shoal: env!("CARGO_PKG_VERSION").to_owned(),
                kernel: self.kernel.clone(),
                picture: screen,
            },
            machine: self.machine.clone(),
            ..documents
        };
        complete(&mut status);
        status
    }

    /// What became of messages about faults, and of events for other machines.
    fn deliveries(&self) -> Vec<DeliveryStatus> {
        let mut deliveries = self.sources.alerts.deliveries();
        deliveries.extend(self.sources.remote.mqtt.lock().clone());
        deliveries.extend(self.sources.remote.positions.lock().iter().cloned());
        deliveries.extend(self.sources.remote.webhooks.lock().iter().cloned());
        deliveries
    }

    fn update_calibration(&mut self) {
        let now = self.sources.rig.chosen().calibration.lock().clone();
        let before = &self.calibration;
        let chosen = self.sources.rig.chosen_index();
        let is_same = std::mem::replace(&mut self.chosen, chosen) == chosen;
        let is_step = (now.is_running, now.taken, now.is_proven)
            != (before.is_running, before.taken, before.is_proven)
            || (now.sentence != before.sentence && !now.sentence.is_empty());
        if is_step && is_same {
            self.sources.journal.add(EventKind::CalibrationStep {
                is_running: now.is_running,
                taken: now.taken,
                targets: now.targets,
                sentence: now.sentence.clone(),
            });
        }
        self.calibration = now;
    }

    fn update_machine(&mut self) {
        let is_due = |read: Instant| read.elapsed() >= MACHINE_INTERVAL;
        if self.machine_read.is_none_or(is_due) {
            self.machine_read = Some(Instant::now());
            let folder = self.sources.site.as_deref().and_then(Path::parent);
            // The disk on which Shoal keeps counts, users and recordings may be another one than that of the site file.
            let state = folder.map(state_folder);
            let kept = state.as_deref().filter(|state| state.is_dir());
            self.machine = machine_status(kept.or(folder));
        }
    }

    fn update_quarantine(&mut self) {
        let count = self.summary.quarantined;
        if count > self.quarantined {
            self.not_finite.raise(&format!(
                "{count} times the state of an agent was not finite and was reset"
            ));
        } else {
            self.not_finite.clear();
        }
        self.quarantined = count;
    }

    fn update_log(&mut self) {
        let MessageFlow { dropped, stuck } = message_flow();
        let is_dropping = dropped > std::mem::replace(&mut self.dropped, dropped);
        if !is_dropping && stuck < LOG_STUCK_TIME {
            return self.log.clear();
        }
        if is_dropping || !self.log.is_present() {
            self.log.raise(&format!(
                "nothing reads the log (a paused terminal, a full pipe, a log collector that hangs), so {dropped} lines were \
                 dropped, and more will be"
            ));
        }
    }

    fn picture(&self) -> PictureStatus {
        PictureStatus {
            wanted_fps: self.sources.screen.wanted_fps(),
            is_by_processor: self.sources.screen.is_by_processor(),
            ..*self.sources.picture.lock()
        }
    }

    fn update_picture(&mut self) {
        let picture = self.picture();
        let sources = &self.sources;
        let facts = PictureFacts {
            is_wanted: sources.screen.is_wanted() && sources.show.is_lit(),
            last_picture: sources.meters.draw.last_at(),
            fps: sources.meters.picture_interval.rate_hz(),
            wanted_fps: picture.wanted_fps,
            is_by_processor: picture.is_by_processor,
            missing: sources.screen.missing(),
            other_fault: (sources.journal.faults().iter()).any(|fault| fault.name == "picture"),
        };
        self.picture_watch.observe(&facts, Instant::now());
    }

    fn species(&self) -> BTreeMap<String, SpeciesStatus> {
        let mut species: BTreeMap<String, SpeciesStatus> = BTreeMap::new();
        for need in self.summary.needs() {
            let status = species.entry(need.species.clone()).or_default();
            status.count += need.count;
            *status.needs.entry(need.need.clone()).or_default() += need.count;
        }
        species
    }

    fn rules(&self) -> Vec<RuleStatus> {
        let rule = |(name, is_active): &(String, bool)| RuleStatus {
            name: name.clone(),
            is_active: *is_active,
        };
        self.summary.rules.iter().map(rule).collect()
    }

    fn timing(&self) -> TimingStatus {
        let meters = &self.sources.meters;
        TimingStatus {
            tick: meters.tick.last_minute(),
            draw: meters.draw.last_minute(),
            picture_interval: meters.picture_interval.last_minute(),
            frame_to_observation: meters.frame_to_observation.last_minute(),
            frame_to_picture: meters.frame_to_picture.last_minute(),
            command_to_reply: meters.command_to_reply.last_minute(),
            command_to_snapshot: meters.command_to_snapshot.last_minute(),
        }
    }

    fn outputs(&self) -> Vec<OutputStatus> {
        let mut outputs = self.sources.screen.outputs.lock().clone();
        let fps = self.sources.meters.picture_interval.rate_hz();
        for output in outputs.iter_mut().filter(|output| output.size_px != [0, 0]) {
            output.fps = fps;
        }
        outputs
    }
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
}

fn shown_path(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| path.display().to_string())
}

/// Returns the status of every camera of a site with several.
fn cameras_status(rig: &Rig) -> Vec<CameraStatus> {
    match rig.cameras.as_slice() {
        [_] => Vec::new(),
        cameras => cameras.iter().map(camera_status).collect(),
    }
}

fn camera_status(camera: &RigCamera) -> CameraStatus {
    let (source, health) = camera.link.health();
    let tracker = camera.link.tracker_status();
    let seen = camera.seen.lock().clone();
    let (size_px, areas) = seen.map_or_else(Default::default, |seen| (seen.size_px, seen.areas));
    let faults = health.faults.iter();
    CameraStatus {
        name: camera.name.clone(),
        kind: camera.link.kind(),
        source,
        // A tracker reports places on the floor.
        is_calibrated: tracker.is_some() || camera.calibration.lock().current.is_some(),
        faults: faults.map(|fault| fault.kind.name().to_owned()).collect(),
        fps: health.fps,
        frames: health.frames,
        dropped: health.dropped,
        skipped: health.skipped,
        restarts: health.restarts,
        age_secs: health.age_secs,
        mean_level: health.mean_level,
        saturated_share: health.saturated_share,
        exposure: camera.link.exposure(),
        size_px,
        areas,
        tracker,
    }
}

/// Whether the calibration in use is the one that the saved site names.
fn is_saved(in_use: &CalibrationStatus, documents: &Status) -> bool {
    // The lamp can be set again, without another calibration.
    let what = |status: &CalibrationStatus| {
        let known = status.current.as_ref();
        known.map(|known| (known.date.clone(), known.lamp_m))
    };
    what(in_use) == what(&documents.calibration) && !documents.unsaved.contains(&DocumentName::Site)
}
