//! Builds the status of the running pool, and finds the events that no stage reports itself: steps of the calibration, restarts of
//! stages.
//!
//! In: what the stages publish. Out: a [`Status`], and events in the journal. Must not: wait for a stage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::camera_link::CameraLink;
use super::pool_report::{Living, PoolSummary};
use crate::camera::CameraHealth;
use crate::control::{
    CalibrationStatus, CameraStatus, EventKind, Journal, OutputStatus, PictureStatus, RuleStatus,
    SpeciesStatus, Status, TimingStatus, VersionStatus,
};
use crate::operation::{ScheduleBoard, ShowControl, VisitorBoard};
use crate::records::RecordingDeck;
use crate::runtime::{
    DurationMeter, Fault, Latest, MachineStatus, StageBoard, kernel_release, machine_status,
    now_iso,
};
use crate::screen::ScreenBoard;

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

/// What the stages publish.
pub(crate) struct StatusSources {
    /// Path of the site file; `None` for the built-in demo.
    pub(crate) site: Option<PathBuf>,
    /// The threads.
    pub(crate) stages: StageBoard,
    /// The camera source.
    pub(crate) camera: Arc<CameraLink>,
    /// Durations.
    pub(crate) meters: Meters,
    /// Calibration of the camera.
    pub(crate) calibration: Arc<Mutex<CalibrationStatus>>,
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
    /// Number of agents whose state was reset, as far as it is reported.
    quarantined: u64,
    not_finite: Fault,
}

impl StatusBuilder {
    pub(crate) fn new(sources: StatusSources) -> Self {
        let not_finite = sources.journal.fault("simulation.not_finite");
        Self {
            not_finite: not_finite.lasting(QUARANTINE_FAULT_TIME),
            sources,
            summary: PoolSummary::default(),
            machine: MachineStatus::default(),
            machine_read: None,
            kernel: kernel_release(),
            restarts: BTreeMap::new(),
            calibration: CalibrationStatus::default(),
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
        let (camera, health) = self.sources.camera.health();
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
            camera: camera_status(camera, &health),
            tracks,
            visitors,
            species: self.species(),
            timing: self.timing(),
            outputs: self.outputs(),
            picture: *sources.picture.lock(),
            calibration: self.calibration.clone(),
            schedule,
            paused_secs: (sources.show.paused_since()).map(|since| since.elapsed().as_secs_f64()),
            recording: sources.deck.status(),
            rehearsal: (sources.show.rehearsal()).and_then(|path| file_name(&path)),
            director: self.rules(),
            versions: VersionStatus {
                shoal: env!("CARGO_PKG_VERSION").to_owned(),
                kernel: self.kernel.clone(),
                picture: screen,
            },
            machine: self.machine.clone(),
            ..documents
        };
        let is_unwell = |stage: &&crate::runtime::StageStatus| !stage.is_well;
        let unwell = status.stages.iter().filter(is_unwell).count();
        status.is_healthy = status.faults.is_empty() && unwell == 0;
        status.sentence = sentence(&status);
        status
    }

    fn update_calibration(&mut self) {
        let now = self.sources.calibration.lock().clone();
        let before = &self.calibration;
        let is_step = (now.is_running, now.taken, now.is_proven)
            != (before.is_running, before.taken, before.is_proven)
            || (now.sentence != before.sentence && !now.sentence.is_empty());
        if is_step {
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
            self.machine = machine_status(folder);
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

fn camera_status(source: String, health: &CameraHealth) -> CameraStatus {
    CameraStatus {
        source,
        fps: health.fps,
        frames: health.frames,
        dropped: health.dropped,
        skipped: health.skipped,
        restarts: health.restarts,
        age_secs: health.age_secs,
        mean_level: health.mean_level,
        saturated_share: health.saturated_share,
    }
}

/// Says in a sentence whether all is well, or what is wrong since when.
fn sentence(status: &Status) -> String {
    let stages = status.stages.iter().filter(|stage| !stage.is_well);
    let problems: Vec<String> = stages
        .map(|stage| {
            let secs = stage.for_secs;
            format!("stage {}: {} for {secs:.0} s", stage.name, stage.state)
        })
        .chain(status.faults.iter().map(|fault| {
            let since = match fault.since.as_str() {
                "" => String::new(),
                since => format!(" since {since}"),
            };
            format!("{}{since}: {}", fault.name, fault.detail)
        }))
        .collect();
    match problems.as_slice() {
        [] => match (status.paused_secs, &status.rehearsal) {
            (Some(secs), _) => format!("All is well. The pool has been paused for {secs:.0} s."),
            (None, Some(_)) => {
                "All is well. A recording is replayed instead of the camera.".to_owned()
            }
            (None, None) => "All is well.".to_owned(),
        },
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{FaultStatus, StageStatus};

    #[test]
    fn the_sentence_names_the_first_problem_and_counts_the_others() {
        let mut status = Status::default();
        assert_eq!(sentence(&status), "All is well.");
        status.paused_secs = Some(61.2);
        let paused = "All is well. The pool has been paused for 61 s.";
        assert_eq!(sentence(&status), paused);
        status.faults.push(FaultStatus {
            name: "camera.unplugged".into(),
            detail: "plug it in".into(),
            since: "2026-01-01T00:00:00Z".into(),
            ..FaultStatus::default()
        });
        assert_eq!(
            sentence(&status),
            "camera.unplugged since 2026-01-01T00:00:00Z: plug it in"
        );
        status.stages.push(StageStatus {
            name: "vision".into(),
            state: "does not answer".into(),
            for_secs: 7.2,
            ..StageStatus::default()
        });
        assert_eq!(
            sentence(&status),
            "stage vision: does not answer for 7 s (and 1 more)"
        );
    }
}
