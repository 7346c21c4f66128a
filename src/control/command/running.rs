//! Commands that only a running installation can carry out: for the operation of the show, and for the upkeep of its stages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::overlay::{OverlayChoice, OverlayFish, OverlayPart};
use super::super::recording::RecordingStep;
use super::super::schedule::{HandEnd, ScheduleStep};
use super::super::stage::StageChoice;
use super::super::test_picture::{MarkedCorner, TestPattern};

/// A command for the operation: opening hours, pause, messages about faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum ShowCommand {
    /// A step of the schedule: another state until the next planned change, or back to the plan.
    Schedule {
        /// The step.
        step: ScheduleStep,
    },
    /// Lets the whole pool stand still for some time, or go on. The picture stays.
    Pause {
        /// Whether the pool stands still.
        on: bool,
        /// When the pool goes on by itself.
        #[serde(default, skip_serializing_if = "HandEnd::is_default")]
        until: HandEnd,
    },
    /// Shows a pattern for adjusting the projectors instead of the pool, or the pool again. A calibration of the camera, the next
    /// change of the opening hours, or half an hour end it.
    TestPicture {
        /// The pattern. If absent, the pool is shown again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<TestPattern>,
        /// A corner that the pattern marks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corner: Option<MarkedCorner>,
    },
    /// Draws over the pool why the fish do what they do, for some minutes. Another overlay replaces it; the next change of the
    /// opening hours, a calibration of the camera, or an overlay without parts end it. It is never saved.
    Overlay {
        /// The parts. If absent or empty, the overlay ends.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        show: Vec<OverlayPart>,
        /// The fish that are explained: an id, or the name of a species, a group or an individual. If absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fish: Option<OverlayFish>,
        /// Time after which it ends, at most an hour; 5 minutes if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secs: Option<u32>,
    },
    /// Sends a test message on the way of the messages about faults.
    TestAlert,
    /// Plays a test tone on a loudspeaker, or on all of them one after the other.
    TestSound {
        /// Name of the loudspeaker. If absent, all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speaker: Option<String>,
    },
}

named!(ShowCommand {
    Schedule = "schedule",
    Pause = "pause",
    TestPicture = "test_picture",
    Overlay = "overlay",
    TestAlert = "test_alert",
    TestSound = "test_sound",
});

impl ShowCommand {
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Schedule { step } => serde_json::to_string(step).unwrap_or_default(),
            Self::Pause { on, .. } => if *on { "on" } else { "off" }.to_owned(),
            Self::TestPicture { pattern, .. } => {
                pattern.map_or("off", TestPattern::name).to_owned()
            }
            Self::Overlay { show, fish, .. } => OverlayChoice {
                show: show.clone(),
                fish: fish.clone(),
            }
            .summary(),
            Self::TestAlert => String::new(),
            Self::TestSound { speaker } => speaker.as_deref().unwrap_or("all").to_owned(),
        }
    }
}

/// A command for the stages: restart, recordings, incidents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum UpkeepCommand {
    /// Starts a stage again, for example after a cable was changed. Documents and calibration stay.
    Restart {
        /// The stage.
        stage: StageChoice,
    },
    /// A step of recording the camera, or of replaying a recording instead of the camera.
    Recording {
        /// The step.
        step: RecordingStep,
    },
    /// Writes the kept last minutes into a folder, as if a fault had begun.
    KeepIncident,
    /// Ends the program and starts it again, for the values of the site file that need it.
    RestartProgram,
}

named!(UpkeepCommand {
    Restart = "restart",
    Recording = "recording",
    KeepIncident = "keep_incident",
    RestartProgram = "restart_program",
});

impl UpkeepCommand {
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Restart { stage } => stage.name().to_owned(),
            Self::Recording { step } => match step {
                RecordingStep::Record { secs } => format!("record {secs} s"),
                RecordingStep::Stop => "stop".to_owned(),
                RecordingStep::Replay { name, .. } => name.clone(),
                RecordingStep::Live => "live".to_owned(),
            },
            Self::KeepIncident | Self::RestartProgram => String::new(),
        }
    }
}
