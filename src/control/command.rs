//! The commands for a running pool. They come from files, keys and standard input.
//!
//! Plain data that can be read from JSON. Must not: decide whether a command is valid; `site` validates commands, and
//! `simulation` applies their changes between two ticks.
//!
//! The command `edit` changes values of documents (the site file, a scene, a species) at a path, so that no parameter
//! needs a command of its own. The effect of a command that changes no document is temporary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recording::RecordingStep;
use super::schedule::ScheduleStep;
use super::stage::StageChoice;

/// Longest summary of a command, in characters. Limits the memory of the event log.
const SUMMARY_CHARS_MAX: usize = 200;
/// Number of list items that a summary names.
const SUMMARY_ITEMS: usize = 3;

/// A command for a running pool. It is applied completely, or rejected with all reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Changes values of documents. If one change is invalid, none is applied.
    Edit {
        /// The changes, applied in this order.
        edits: Vec<Edit>,
        /// Whether the change is a further step of the last one, for example while a corner is dragged. Both are undone together.
        /// A running pool decides this itself: if the same client changes the same values again within a second.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        joins_last: bool,
    },
    /// Replaces the whole text of a document, or adds a scene or a species with this text.
    ReplaceText {
        /// The document.
        document: DocumentName,
        /// Its new text, as TOML.
        text: String,
    },
    /// Adds a species to the library and to the current scene.
    AddSpecies {
        /// Name of the species; its document becomes `species/NAME.toml`.
        name: String,
        /// Content of the document, as TOML. If absent, the species `like` is copied; without `like`, all values are
        /// defaults.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Name of the species to copy. Must be absent if `text` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        like: Option<String>,
        /// Number of individuals in the current scene.
        #[serde(default)]
        count: u32,
    },
    /// Removes a species from every scene and from the library. A built-in species is only removed from the scenes.
    RemoveSpecies {
        /// Name of the species.
        name: String,
    },
    /// Switches to another scene.
    SwitchScene {
        /// Name of the scene.
        name: String,
    },
    /// Adds one individual to a species of the current scene.
    AddIndividual {
        /// Name of the species.
        species: String,
        /// Initial position in world space. If absent, the individual enters from outside the visible area.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position_m: Option<[f32; 3]>,
    },
    /// Removes one individual, and lowers the number of individuals of its species by one.
    RemoveIndividual {
        /// Id of the individual.
        id: u32,
    },
    /// A temporary instruction to the fish.
    Director {
        /// The instruction.
        event: DirectorEvent,
    },
    /// Replaces the mind of one individual for `secs` seconds.
    OverrideMind {
        /// Id of the individual.
        id: u32,
        /// The temporary mind.
        mind: MindChoice,
        /// Duration in seconds.
        secs: f32,
    },
    /// A step of the camera calibration. A simulation without camera rejects this command.
    Calibrate {
        /// The step.
        step: CalibrationStep,
    },
    /// Applies several commands, or none of them. One undo undoes all. Allowed are commands that change documents, and
    /// instructions to the fish.
    Batch {
        /// The commands, applied in this order.
        commands: Vec<Command>,
    },
    /// A step of the schedule: another state until the next planned change, or back to the plan.
    Schedule {
        /// The step.
        step: ScheduleStep,
    },
    /// Lets the whole pool stand still, or go on. The picture stays. The next change of the opening hours ends a pause.
    Pause {
        /// Whether the pool stands still.
        on: bool,
    },
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
    /// Sends a test message on the way of the messages about faults.
    TestAlert,
    /// Applies the texts of documents that have changed on the disk.
    TakeOver {
        /// The documents that changed since they were last read, with their texts.
        documents: Vec<DocumentText>,
    },
    /// Undoes the last change.
    Undo,
    /// Applies the last undone change again.
    Redo,
    /// Writes all changed documents to the disk.
    Save,
    /// Replaces all documents by the files on the disk. Can be undone.
    Revert,
}

impl Command {
    /// Returns the name of the command, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Edit { .. } => "edit",
            Self::ReplaceText { .. } => "replace_text",
            Self::AddSpecies { .. } => "add_species",
            Self::RemoveSpecies { .. } => "remove_species",
            Self::SwitchScene { .. } => "switch_scene",
            Self::AddIndividual { .. } => "add_individual",
            Self::RemoveIndividual { .. } => "remove_individual",
            Self::Director { .. } => "director",
            Self::OverrideMind { .. } => "override_mind",
            Self::Calibrate { .. } => "calibrate",
            Self::Batch { .. } => "batch",
            Self::Schedule { .. } => "schedule",
            Self::Pause { .. } => "pause",
            Self::Restart { .. } => "restart",
            Self::Recording { .. } => "recording",
            Self::KeepIncident => "keep_incident",
            Self::TestAlert => "test_alert",
            Self::TakeOver { .. } => "take_over",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Save => "save",
            Self::Revert => "revert",
        }
    }

    /// Returns in a line what the command changes, for events. Long texts and lists are left out.
    pub fn summary(&self) -> String {
        let text = match self {
            Self::Edit { edits, .. } => {
                let edit = |e: &Edit| format!("{}: {}", e.document, e.path);
                listed(edits.iter().map(edit))
            }
            Self::ReplaceText { document, .. } => document.to_string(),
            Self::AddSpecies { name, count, .. } => format!("{count} {name}"),
            Self::RemoveSpecies { name } | Self::SwitchScene { name } => name.clone(),
            Self::AddIndividual { species, .. } => species.clone(),
            Self::RemoveIndividual { id } => format!("id {id}"),
            Self::OverrideMind { id, secs, .. } => format!("id {id} for {secs} s"),
            Self::Director { event } => serde_json::to_string(event).unwrap_or_default(),
            Self::Calibrate { step } => match step {
                CalibrationStep::Markers { points } => format!("{} markers", points.len()),
                CalibrationStep::Table { .. } => "table".to_owned(),
                step => serde_json::to_string(step).unwrap_or_default(),
            },
            Self::Batch { commands } => {
                let command = |c: &Self| format!("{} {}", c.name(), c.summary());
                listed(commands.iter().map(command))
            }
            Self::Schedule { step } => serde_json::to_string(step).unwrap_or_default(),
            Self::Pause { on } => if *on { "on" } else { "off" }.to_owned(),
            Self::Restart { stage } => stage.name().to_owned(),
            Self::Recording { step } => match step {
                RecordingStep::Record { secs } => format!("record {secs} s"),
                RecordingStep::Stop => "stop".to_owned(),
                RecordingStep::Replay { name } => name.clone(),
                RecordingStep::Live => "live".to_owned(),
            },
            Self::TakeOver { documents } => {
                listed(documents.iter().map(|d| d.document.to_string()))
            }
            Self::KeepIncident
            | Self::TestAlert
            | Self::Undo
            | Self::Redo
            | Self::Save
            | Self::Revert => String::new(),
        };
        let is_shown = |c: &char| !c.is_control();
        text.chars()
            .filter(is_shown)
            .take(SUMMARY_CHARS_MAX)
            .collect()
    }
}

/// Returns the JSON Schema of a command.
pub fn command_schema() -> Value {
    schemars::schema_for!(Command).to_value()
}

/// Joins the first items of a list, and says how many are left out.
fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let left_out = items.len().saturating_sub(SUMMARY_ITEMS);
    let mut text = items.take(SUMMARY_ITEMS).collect::<Vec<_>>().join(", ");
    if left_out > 0 {
        text.push_str(&format!(" and {left_out} more"));
    }
    text
}

/// A step of the camera calibration. Lengths are in meters, with the origin in the center of the surface. In pixel
/// coordinates, whole numbers are the centers of pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum CalibrationStep {
    /// Starts a calibration with touch targets: crosses are shown one by one, and the mark on each cross is measured.
    Start {
        /// Number of targets along the width of the surface, 3 to 5.
        #[serde(default = "default_targets")]
        columns: u8,
        /// Number of targets along the height of the surface, 3 to 5.
        #[serde(default = "default_targets")]
        rows: u8,
        /// The mark that the technician puts on the crosses.
        #[serde(default)]
        mark: TouchMark,
    },
    /// Starts a calibration with Gray-code stripes, for a camera that sees visible light. This calibration needs no
    /// marks and takes 80 seconds.
    GrayCode,
    /// Shows the previous target again.
    Back,
    /// Skips the shown target.
    Skip,
    /// Measures a target again.
    Repeat {
        /// Number of the target, counted from 1. If absent, the shown target is measured again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<usize>,
    },
    /// Cancels the calibration. The old calibration stays in use.
    Cancel,
    /// Applies the proven calibration (measured, with an error below the limits) and saves it.
    Accept,
    /// Fits a calibration to points whose position in the camera's picture is known.
    Markers {
        /// The points.
        points: Vec<MarkerPoint>,
    },
    /// Fits a calibration to a table of points, in the format of `shoal calibrate`.
    Table {
        /// Text of the table.
        text: String,
    },
    /// Sets the position of the infrared lamp.
    Lamp {
        /// Position in world space.
        position_m: [f64; 3],
    },
    /// Computes the position of the lamp from the shadows of an upright pole that stood at three or more positions.
    Poles {
        /// Height of the pole.
        height_m: f64,
        /// Foot and shadow of the pole at each position, in the camera image.
        poles: Vec<PoleShadow>,
    },
}

fn default_targets() -> u8 {
    4
}

/// The object that the technician puts on each touch target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TouchMark {
    /// A flat dark disc.
    #[default]
    Disc,
    /// An upright dark pole.
    Pole,
}

/// A point that is known both in the camera's picture and on the floor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerPoint {
    /// Position in the picture, `[x, y]`.
    pub camera_px: [f64; 2],
    /// Position on the floor, `[x, z]`.
    pub floor_m: [f64; 2],
}

/// A pole and its shadow in the camera's picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoleShadow {
    /// Foot of the pole, `[x, y]`.
    pub foot_px: [f64; 2],
    /// Tip of the shadow, `[x, y]`.
    pub tip_px: [f64; 2],
}

/// One change of one value in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The document.
    pub document: DocumentName,
    /// Path of the value, such as `actions.evade_shadow.flee_distance_m` or `needs[2].actions[0]`.
    pub path: String,
    /// The change of the value.
    pub change: EditChange,
}

/// A change of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditChange {
    /// Sets the value, or adds it if it is missing.
    Set {
        /// The new value.
        value: Value,
    },
    /// Inserts an item into the list at the path.
    Insert {
        /// Index of the new item, counted from 0. If absent, the new item becomes the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// The item.
        value: Value,
    },
    /// Removes the value. A list item is deleted from its list; for any other value, the default applies again.
    Remove,
    /// Moves an item of a list.
    Move {
        /// New index, counted from 0.
        to: usize,
    },
}

/// Name of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DocumentName {
    /// The site file.
    Site,
    /// A scene.
    Scene {
        /// Name of the file without `.toml`.
        name: String,
    },
    /// A species.
    Species {
        /// Name of the file without `.toml`.
        name: String,
    },
}

impl std::fmt::Display for DocumentName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Site => f.write_str("site"),
            Self::Scene { name } => write!(f, "scenes/{name}"),
            Self::Species { name } => write!(f, "species/{name}"),
        }
    }
}

/// The content of a document on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentText {
    /// Name of the document.
    pub document: DocumentName,
    /// Text of the file; absent if the file was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A temporary instruction to the fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum DirectorEvent {
    /// Sets the variable of a `limit_based` need once, for all individuals of a species. Afterwards the variable
    /// changes at its own rate, so this command cannot be undone.
    SetNeed {
        /// Name of the species.
        species: String,
        /// Name of the need.
        need: String,
        /// Value of the variable.
        value: f32,
    },
    /// Switches hunting on or off. On: the variable of each hunting need is set beyond its limit. Off: the variable
    /// is set to its value after a catch.
    Hunting {
        /// Name of the species. If absent, the command applies to all species.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        species: Option<String>,
        /// Whether the species hunts.
        on: bool,
    },
    /// Lets fish gather at a point. Only fish with an action `seek` or `navigate` whose target is `director` react.
    Gather {
        /// The point in world space.
        point_m: [f32; 3],
        /// Lowest weight of the action `seek` while the fish gather.
        #[serde(default = "gather_weight")]
        weight: f32,
    },
    /// Starts a rule of the scene's director, for example 'send the shark', even if its condition does not hold. The
    /// effect is temporary, so it cannot be undone.
    Start {
        /// Name of the rule.
        rule: String,
    },
    /// Changes how often the director's rules begin. The rules of chance begin, and the pauses of all rules pass, this many times
    /// as fast. The effect is temporary, so it cannot be undone.
    Pace {
        /// The factor, 0.1 to 20; 1 is the pace of the scene.
        factor: f32,
    },
    /// Ends the gathering.
    StopGathering,
    /// Lets all fish swim at cruise speed again after a scare. The effect is temporary, so it cannot be undone.
    Calm,
}

fn gather_weight() -> f32 {
    2.0
}

/// A temporary mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum MindChoice {
    /// The mind of another species.
    Species {
        /// Name of the species.
        name: String,
    },
    /// The individual's own actions with other needs.
    Needs {
        /// The needs, as in `[[needs]]` of a species file.
        needs: Vec<Value>,
    },
}

/// One line of a command log: an applied command and its tick. The lines are sorted by tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// Number of ticks completed before the command was applied.
    pub tick: u64,
    /// The command.
    pub command: Command,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_are_read_and_written_as_json() {
        let texts = [
            json!({"command": "edit", "edits": [{"document": {"kind": "species", "name": "trout"},
                "path": "actions.evade_shadow.flee_distance_m", "change": {"do": "set", "value": 1.5}}]}),
            json!({"command": "edit", "edits": [
                {"document": {"kind": "site"}, "path": "outputs", "change": {"do": "insert", "value": {}}},
                {"document": {"kind": "scene", "name": "pool"}, "path": "obstacles[0]", "change": {"do": "move", "to": 2}},
                {"document": {"kind": "scene", "name": "pool"}, "path": "obstacles[1]", "change": {"do": "remove"}}]}),
            json!({"command": "add_species", "name": "koi", "like": "trout", "count": 3}),
            json!({"command": "remove_species", "name": "koi"}),
            json!({"command": "switch_scene", "name": "pool"}),
            json!({"command": "add_individual", "species": "trout", "position_m": [0.5, -0.5, 1.0]}),
            json!({"command": "remove_individual", "id": 7}),
            json!({"command": "director", "event": {"event": "hunting", "on": true}}),
            json!({"command": "director", "event": {"event": "calm"}}),
            json!({"command": "director", "event": {"event": "pace", "factor": 4.0}}),
            json!({"command": "schedule", "step": {"do": "by_hand", "state": "dark"}}),
            json!({"command": "schedule", "step": {"do": "resume"}}),
            json!({"command": "pause", "on": true}),
            json!({"command": "restart", "stage": "camera"}),
            json!({"command": "recording", "step": {"do": "record", "secs": 60.0}}),
            json!({"command": "recording", "step": {"do": "replay", "name": "a.y4m"}}),
            json!({"command": "recording", "step": {"do": "live"}}),
            json!({"command": "keep_incident"}),
            json!({"command": "test_alert"}),
            json!({"command": "override_mind", "id": 7, "mind": {"of": "species", "name": "herring"}, "secs": 2.5}),
            json!({"command": "calibrate", "step": {"do": "start", "columns": 4, "rows": 3, "mark": "pole"}}),
            json!({"command": "calibrate", "step": {"do": "gray_code"}}),
            json!({"command": "calibrate", "step": {"do": "repeat", "target": 4}}),
            json!({"command": "calibrate", "step": {"do": "accept"}}),
            json!({"command": "calibrate", "step": {"do": "markers", "points": [
                {"camera_px": [320.5, 100.0], "floor_m": [1.5, -0.25]}]}}),
            json!({"command": "calibrate", "step": {"do": "poles", "height_m": 1.2, "poles": [
                {"foot_px": [320.5, 100.0], "tip_px": [300.0, 90.0]}]}}),
            json!({"command": "undo"}),
        ];
        for text in texts {
            let command: Command = serde_json::from_value(text.clone()).unwrap();
            assert_eq!(serde_json::to_value(&command).unwrap(), text);
        }
    }

    #[test]
    fn names_and_summaries_say_what_a_command_changes() {
        let edit = |path: &str| Edit {
            document: DocumentName::Species {
                name: "trout".into(),
            },
            path: path.into(),
            change: EditChange::Remove,
        };
        let edits = Command::Edit {
            edits: ["a", "b", "c", "d"].map(edit).to_vec(),
            joins_last: false,
        };
        assert_eq!(
            (edits.name(), edits.summary().as_str()),
            (
                "edit",
                "species/trout: a, species/trout: b, species/trout: c and 1 more"
            )
        );
        let long = Command::SwitchScene {
            name: "\n".repeat(50) + &"x".repeat(5000),
        };
        assert_eq!(long.summary(), "x".repeat(SUMMARY_CHARS_MAX));
        for command in [Command::Undo, edits, long] {
            let name = serde_json::to_value(&command).unwrap()["command"].clone();
            assert_eq!(name, command.name());
        }
    }

    #[test]
    fn invalid_commands_are_rejected() {
        for text in [
            json!({"command": "explode"}),
            json!({"command": "remove_species", "name": "koi", "now": true}),
            json!({"command": "edit", "edits": [{"document": {"kind": "page"}, "path": "a", "change": {"do": "remove"}}]}),
            json!({"command": "remove_individual", "id": -1}),
            json!({"command": "calibrate", "step": {"do": "start", "columns": 300}}),
            json!({"command": "calibrate", "step": {"do": "markers", "points": [{"camera_px": [1.0], "floor_m": [1.0, 2.0]}]}}),
        ] {
            assert!(
                serde_json::from_value::<Command>(text.clone()).is_err(),
                "{text}"
            );
        }
    }
}
