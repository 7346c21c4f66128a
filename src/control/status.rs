//! The status of a running pool.
//!
//! Plain data that can be written as JSON. Must not: contain data that only one consumer of the status understands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::command::{AreaList, DocumentName, TouchMark};
use super::hall_status::HallStatus;
use super::health::HealthStatus;
use super::overlay::OverlayStatus;
use super::recording::RecordingStatus;
use super::remote_status::{DeliveryStatus, ProjectorStatus, ShowControlStatus, TrackerStatus};
use super::request::{ChangeNote, Reason};
use super::schedule::ScheduleStatus;
use super::sound_status::SoundStatus;
use super::test_picture::TestPicture;
use crate::geometry::Visitor;
use crate::runtime::{DurationStatus, FaultStatus, MachineStatus, StageStatus};

/// Status of a running pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// One sentence: all is well, or what is wrong since when. See [`HealthStatus::sentence`].
    pub sentence: String,
    /// What differs from a usual open pool, with colours.
    pub health: HealthStatus,
    /// Whether no fault is active and every stage is running.
    pub is_healthy: bool,
    /// Date and time of this status in UTC, ISO 8601.
    pub time: String,
    /// Time since the start of the program.
    pub uptime_secs: f64,
    /// Path of the site file; empty for the built-in demo.
    pub site: String,
    /// Name of the current scene.
    pub scene: String,
    /// Number of ticks since the start.
    pub tick: u64,
    /// Number of commands that the desk has applied since the start.
    pub revision: u64,
    /// The stages, each with its health.
    pub stages: Vec<StageStatus>,
    /// Active faults, the newest last.
    pub faults: Vec<FaultStatus>,
    /// The camera; of several the one whose picture and calibration are shown.
    pub camera: CameraStatus,
    /// All cameras of a site with several; empty for one.
    pub cameras: Vec<CameraStatus>,
    /// How well several cameras agree about the places of visitors.
    pub agreements: Vec<AgreementStatus>,
    /// The visitors on the surface.
    pub tracks: Vec<TrackStatus>,
    /// Number of visitors.
    pub visitors: VisitorStatus,
    /// The species of the pool, by name.
    pub species: BTreeMap<String, SpeciesStatus>,
    /// Measured durations of the last minute.
    pub timing: TimingStatus,
    /// Time of the graphics device for a picture.
    pub gpu: GpuStatus,
    /// The outputs, in the order of the site file.
    pub outputs: Vec<OutputStatus>,
    /// Quality of the picture.
    pub picture: PictureStatus,
    /// Calibration of the camera.
    pub calibration: CalibrationStatus,
    /// The schedule.
    pub schedule: ScheduleStatus,
    /// Time for which an operator has let the pool stand still; `None` if it moves.
    pub paused_secs: Option<f64>,
    /// The picture for adjusting the projectors that is shown instead of the pool; `None` if the pool is shown.
    pub test_picture: Option<TestPicture>,
    /// What is drawn over the pool to explain its fish; `None` if nothing is.
    pub overlay: Option<OverlayStatus>,
    /// The recording that is being made; `None` if there is none.
    pub recording: Option<RecordingStatus>,
    /// Name of the recording that is replayed instead of the camera; `None` if the camera is used.
    pub rehearsal: Option<String>,
    /// Show control by OSC.
    pub osc: ShowControlStatus,
    /// Show control by sACN.
    pub sacn: ShowControlStatus,
    /// The projectors that are switched over the network.
    pub projectors: Vec<ProjectorStatus>,
    /// What became of messages to people and to other machines, for each way that the site names.
    pub deliveries: Vec<DeliveryStatus>,
    /// The sound of the pool.
    pub sound: SoundStatus,
    /// The nodes of the hall; `None` on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hall: Option<HallStatus>,
    /// The rules of the scene's director.
    pub director: Vec<RuleStatus>,
    /// The change that `undo` takes back; `None` if there is none.
    pub undo: Option<ChangeNote>,
    /// The change that `redo` makes again; `None` if there is none.
    pub redo: Option<ChangeNote>,
    /// Number of changes that can be undone.
    pub undo_depth: usize,
    /// Number of undone changes that can be redone.
    pub redo_depth: usize,
    /// Documents that differ from the files on the disk.
    pub unsaved: Vec<DocumentName>,
    /// Paths of changed values in the site file that become effective after a restart.
    pub restart_needed: Vec<String>,
    /// Rejection of the last command; `None` if it was applied.
    pub rejection: Option<Rejection>,
    /// Versions of the program and of what it runs on.
    pub versions: VersionStatus,
    /// The machine.
    pub machine: MachineStatus,
}

/// What the frames are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CameraKind {
    /// No source is open.
    #[default]
    Unknown,
    /// A camera, or a program that reads one.
    Live,
    /// Computed frames with simulated visitors.
    Simulated,
    /// A file with recorded frames.
    Recording,
    /// No frames: a tracker outside of Shoal reports the visitors.
    Tracker,
}

impl Status {
    /// Returns all cameras, also of a site with one.
    pub fn all_cameras(&self) -> &[CameraStatus] {
        match self.cameras.as_slice() {
            [] => std::slice::from_ref(&self.camera),
            cameras => cameras,
        }
    }
}

/// The camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CameraStatus {
    /// Name of the camera; empty if the site has only one.
    pub name: String,
    /// What the frames are from.
    pub kind: CameraKind,
    /// Name of the source.
    pub source: String,
    /// Whether the camera is calibrated.
    pub is_calibrated: bool,
    /// Names of its active faults, such as `unplugged`.
    pub faults: Vec<String>,
    /// Measured frame rate in frames per second; 0 if no frames arrive.
    pub fps: f64,
    /// Number of frames that arrived.
    pub frames: u64,
    /// Number of frames that the driver captured, but that never arrived.
    pub dropped: u64,
    /// Number of frames that vision did not take in time.
    pub skipped: u64,
    /// Number of restarts of the source.
    pub restarts: u64,
    /// Age of the newest frame; `None` before the first frame.
    pub age_secs: Option<f64>,
    /// Mean level of the newest frame, 0 to 1.
    pub mean_level: f32,
    /// Share of pixels of the newest frame at the maximum level, 0 to 1.
    pub saturated_share: f32,
    /// How the surface is lit in the picture of now; `None` while that is measured, and if visitors are not darker than the floor.
    pub exposure: Option<ExposureStatus>,
    /// Width and height of its picture; 0 before the first frame.
    pub size_px: [u32; 2],
    /// Areas in which it detects nobody, or outside of which it detects nobody, as vision uses them.
    pub areas: Vec<AreaStatus>,
    /// The tracker that reports the visitors; `None` for a source of frames.
    pub tracker: Option<TrackerStatus>,
}

/// An area of a camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AreaStatus {
    /// The list to which the area belongs.
    pub list: AreaList,
    /// Index in the list, counted from 0.
    pub index: usize,
    /// Whether it is kept in meters on the floor, and not in pixels of the picture.
    pub is_on_floor: bool,
    /// Corners in the picture; empty if it reaches behind the camera.
    pub corners_px: Vec<[f32; 2]>,
}

/// How the surface appears in the camera's pictures without visitors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExposureStatus {
    /// What to do about it.
    pub advice: ExposureAdvice,
    /// Factor by which exposure time or gain should be multiplied.
    pub factor: f32,
    /// Share of the surface that is too dark for shadows, 0 to 1.
    pub dark_share: f32,
    /// Share of the surface at the maximum level, 0 to 1.
    pub saturated_share: f32,
    /// Share of the surface in each of 32 equal ranges of levels, from black to white.
    pub histogram: [f32; 32],
    /// Contrast of the lit floor in thirds of the surface, rows along z: mean level as a multiple of its noise; 0 for a part that the
    /// camera does not see, or whose noise cannot be measured because it is saturated.
    pub contrast: [[f32; 3]; 3],
    /// Contrast below which noise decides which shadows are found.
    pub needed_contrast: f32,
}

/// What to do about the exposure of the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExposureAdvice {
    /// Nothing.
    Good,
    /// Reduce exposure time or gain, because a part of the surface is saturated.
    Lower,
    /// Increase exposure time or gain, or add infrared light.
    Raise,
    /// Light the surface more evenly: parts of it are too dark or too noisy.
    Even,
}

/// How well two cameras agree about the visitors that both see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgreementStatus {
    /// Names of the cameras.
    pub cameras: [String; 2],
    /// Median distance between the places that they find, in millimeters.
    pub distance_mm: f32,
    /// Length of the median offset, in millimeters: what remains if the noise is averaged.
    pub offset_mm: f32,
    /// Number of places that were compared within the last minute.
    pub samples: usize,
}

/// A visitor on the surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackStatus {
    /// Id of the visitor.
    pub id: u32,
    /// Foot point on the surface, `[x, z]`.
    pub foot_m: [f32; 2],
    /// Velocity, `[x, z]`.
    pub velocity_mps: [f32; 2],
    /// Time since the visitor was first seen.
    pub age_secs: f32,
    /// Time since the visitor last moved.
    pub still_secs: f32,
    /// Agitation: mean speed at which the outline moves.
    pub agitation_mps: f32,
}

impl From<&Visitor> for TrackStatus {
    fn from(visitor: &Visitor) -> Self {
        Self {
            id: visitor.id,
            foot_m: visitor.foot_m.to_array(),
            velocity_mps: visitor.velocity_mps.to_array(),
            age_secs: visitor.age_secs as f32,
            still_secs: visitor.still_secs as f32,
            agitation_mps: visitor.agitation_mps,
        }
    }
}

/// Number of visitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VisitorStatus {
    /// Visitors on the surface now who have been there for at least a second.
    pub now: u32,
    /// Visitors who arrived since midnight in the time zone of the schedule. If visitors are not counted in a file, the number
    /// begins again with the program.
    pub today: u32,
}

/// A species of the pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpeciesStatus {
    /// Number of individuals.
    pub count: u32,
    /// Number of individuals for which each need is active. The empty name stands for the standard need alone.
    pub needs: BTreeMap<String, u32>,
}

/// Measured durations of the last minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimingStatus {
    /// Computation of a tick.
    pub tick: DurationStatus,
    /// Drawing of a picture, without the wait for the display.
    pub draw: DurationStatus,
    /// From one picture to the next.
    pub picture_interval: DurationStatus,
    /// From the arrival of a frame until the simulation has its observation.
    pub frame_to_observation: DurationStatus,
    /// From the arrival of a frame until its effect is passed to the graphics device.
    pub frame_to_picture: DurationStatus,
    /// From the sending of a command until its reply.
    pub command_to_reply: DurationStatus,
    /// From the sending of a command until the snapshot that contains its effect.
    pub command_to_snapshot: DurationStatus,
}

/// Time of the graphics device for a picture, in the last minute. Nothing is measured before the first picture, while the pool
/// rests, or on a device without timestamps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuStatus {
    /// The medians in one line; empty if nothing is measured.
    pub sentence: String,
    /// From the first to the last pass of a picture.
    pub picture: DurationStatus,
    /// The groups of passes in the order in which they are drawn.
    pub passes: Vec<PassStatus>,
}

/// Time of the graphics device for a group of passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PassStatus {
    /// Name of the group.
    pub name: String,
    /// Time of the group in each picture.
    pub time: DurationStatus,
}

impl GpuStatus {
    /// Combines the times of pictures and of their groups of passes. `wanted_fps` is the rate of pictures that the monitors can
    /// show; 0 if it is not known.
    #[must_use]
    pub fn new(picture: DurationStatus, passes: Vec<PassStatus>, wanted_fps: f64) -> Self {
        if picture.count == 0 {
            return Self::default();
        }
        let of = if wanted_fps > 0.0 {
            format!(" of {:.1}", 1e3 / wanted_fps)
        } else {
            String::new()
        };
        let each = passes
            .iter()
            .map(|pass| format!("{} {:.1}", pass.name, pass.time.p50_ms));
        let each = each.collect::<Vec<_>>().join(", ");
        Self {
            sentence: format!("picture {:.1}{of} ms: {each}", picture.p50_ms),
            picture,
            passes,
        }
    }
}

/// An output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputStatus {
    /// Name of the monitor that shows it; empty if none does.
    pub monitor: String,
    /// Width and height of the window in pixels; `[0, 0]` without a window.
    pub size_px: [u32; 2],
    /// Pictures per second, averaged over the last minute; 0 without a window.
    pub fps: f64,
}

/// A rule of the director.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleStatus {
    /// Name of the rule.
    pub name: String,
    /// Whether the rule is active.
    pub is_active: bool,
}

/// Versions of the program and of what it runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VersionStatus {
    /// Version of Shoal.
    pub shoal: String,
    /// Release of the operating system's kernel; empty if unknown.
    pub kernel: String,
    /// Outputs, graphics adapter and driver in one line; empty without a picture.
    pub picture: String,
}

/// Quality of the picture. Rendering adapts this quality to the speed of the graphics device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PictureStatus {
    /// Pictures per second that the monitors can show; 0 without a picture.
    pub wanted_fps: f64,
    /// Whether the processor draws the picture, because there is no graphics driver.
    pub is_by_processor: bool,
    /// Resolution of the layer below the water as a share of the full width and height. Below 1 if full resolution would take
    /// too long; 0 before the first picture.
    pub scale: f32,
    /// Whether details are left out, in addition to the lower resolution.
    pub is_plain: bool,
    /// Number of times that the flash limiter slowed down a change of brightness.
    pub dimmed: u64,
}

/// Phase of the calibration procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationPhase {
    /// No procedure is running.
    #[default]
    Idle,
    /// A procedure waits for the first picture of the camera.
    Starting,
    /// Touch targets are shown one after the other.
    Touch,
    /// Gray-code stripes are shown.
    Stripes,
    /// A proven calibration waits until it is accepted.
    Proven,
    /// All targets are measured, and the result is rejected. Targets can be repeated.
    Rejected,
}

/// The way in which the last procedure ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationEnd {
    /// The new calibration is in use.
    Accepted,
    /// It was cancelled. The old calibration stays in use.
    Cancelled,
    /// It failed. The old calibration stays in use.
    Failed,
}

/// What a running procedure waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationWait {
    /// The picture of the camera.
    Camera,
    /// The empty floor is being learned. Nobody may stand in the light.
    Floor,
    /// The light changes.
    Light,
    /// The camera, which has stopped to send pictures.
    CameraLost,
    /// The camera, whose picture is black.
    CameraBlack,
    /// The camera, whose picture is far too bright.
    CameraSaturated,
    /// The camera, whose picture does not change.
    CameraFrozen,
    /// The mark on the shown target.
    Mark,
    /// The mark, which the camera has not seen for a while. It is probably not dark in the camera's picture.
    Unseen,
    /// The mark has to be lifted first: it was there before the target appeared.
    Removal,
    /// The mark must not move for a moment.
    Stillness,
    /// Several dark spots are still, but only the mark may be dark.
    SingleSpot,
    /// The edge of the camera frame cuts the spot off.
    CutOff,
    /// The spot is too large for the mark.
    TooLarge,
    /// The spot is not a disc.
    NotDisc,
    /// The pole cannot be distinguished from its shadow.
    PoleStripe,
    /// The stripes. Nobody may stand on the surface.
    Stripes,
    /// The technician, who accepts the calibration or cancels.
    Decision,
    /// The technician, who repeats a target or cancels.
    Repetition,
    /// The technician, who starts again: single targets were repeated in vain.
    NewStart,
}

/// Why a calibration or a step of it was rejected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CalibrationRejection {
    /// Kind of the rejection, for programs: `impossible_point`, `too_few_points`, `points_on_line`, `no_map`, `misplaced_point`,
    /// `swapped_columns`, `inaccurate`, `impossible_position`, `stripes` (the camera does not see them), `picture_size` (it
    /// changed), or `step` (the step is not possible now).
    pub code: String,
    /// All reasons, for people.
    pub text: String,
    /// Numbers of the targets that have to be measured again.
    pub repeat: Vec<usize>,
}

/// Result of a calibration that waits until it is accepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CalibrationResult {
    /// Number of measured points.
    pub points: usize,
    /// Predicted error of floor points (root mean square over the surface).
    pub predicted_rms_m: f64,
    /// Largest predicted error on the surface.
    pub predicted_worst_m: f64,
    /// Whether the camera's picture is mirrored. The calibration takes this into account.
    pub is_mirrored: bool,
    /// Error of each touch target; empty for other methods.
    pub targets: Vec<TargetResult>,
}

/// Error of a touch target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetResult {
    /// Number of the target, counted from 1.
    pub number: usize,
    /// Distance between the measured position and the one that all other targets predict.
    pub error_m: f64,
}

/// Calibration of the camera, and the running procedure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationStatus {
    /// Phase of the procedure.
    pub phase: CalibrationPhase,
    /// What the procedure waits for; `None` if none is running.
    pub waits_for: Option<CalibrationWait>,
    /// The last rejection; `None` if the last measurement or step was not rejected.
    pub rejection: Option<CalibrationRejection>,
    /// The result that waits until it is accepted; `None` if there is none.
    pub result: Option<CalibrationResult>,
    /// The way in which the last procedure ended; `None` before the first.
    pub end: Option<CalibrationEnd>,
    /// Whether a procedure is running.
    pub is_running: bool,
    /// The mark that is put on the targets; `None` if no targets are measured.
    #[serde(default)]
    pub mark: Option<TouchMark>,
    /// Number of the shown target, counted from 1; `None` if no target is shown.
    pub target: Option<usize>,
    /// Total number of targets, or of Gray-code patterns.
    pub targets: usize,
    /// Number of measured targets, or of finished patterns.
    pub taken: usize,
    /// Whether a proven calibration (measured, with an error below the limits) can be accepted.
    pub is_proven: bool,
    /// Message for the technician: what happened, and what to do next.
    pub sentence: String,
    /// The calibration in use; `None` if there is none and the whole camera image is mapped onto the surface.
    pub current: Option<CalibrationKnown>,
    /// Whether the calibration in use is on the disk, so that it is in use after a restart too.
    #[serde(default)]
    pub is_saved: bool,
    /// Shift of the camera since the calibration; `None` if unknown.
    pub drift: Option<DriftStatus>,
    /// Names of the active faults because of which the calibrations in use do not hold any more.
    #[serde(default)]
    pub doubts: Vec<String>,
}

/// Properties of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationKnown {
    /// Date and time of the calibration, ISO 8601.
    pub date: String,
    /// Predicted error of floor points (root mean square over the surface).
    pub predicted_rms_m: f64,
    /// Largest predicted error on the surface.
    pub predicted_worst_m: f64,
    /// Whether the calibration contains the position of the lamp. Without it, the centroid of a shadow is used as the foot point.
    pub knows_lamp: bool,
    /// Position of the lamp in world space; `None` if it is not known.
    #[serde(default)]
    pub lamp_m: Option<[f64; 3]>,
    /// Width and height of the surface that the calibration is for.
    #[serde(default)]
    pub surface_m: [f64; 2],
}

/// Shift of the camera since it was calibrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriftStatus {
    /// Shift of points on the floor.
    pub shift_m: f64,
    /// Shift in the camera image.
    pub shift_px: f64,
    /// Whether the shift is above the limit, so that the camera has to be calibrated again.
    pub is_alarm: bool,
}

/// A rejected command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// Number of ticks completed when the command arrived.
    pub tick: u64,
    /// All reasons for the rejection.
    pub problems: Vec<Reason>,
}
