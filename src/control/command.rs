//! The commands for a running pool. They come from files, keys and standard input.
//!
//! Plain data that can be read from JSON. Must not: decide whether a command is valid; `site` validates commands, and
//! `simulation` applies their changes between two ticks.
//!
//! Most commands edit values of documents (the site file, a scene, a species), named by a path. So every parameter can be
//! edited without a command of its own. Effects of commands that change no document are temporary.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command for a running pool. It is applied completely, or rejected with all reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Changes values of documents: all of them, or none if one change is invalid.
    Edit {
        /// The changes, applied in this order.
        edits: Vec<Edit>,
    },
    /// Adds a species to the library and to the current scene.
    AddSpecies {
        /// Name of the species; its document becomes `species/NAME.toml`.
        name: String,
        /// Content of the document, TOML. If absent, `like` is copied, or all values are defaults.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Species to copy.
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
        /// Start position in world space. If absent, the individual starts outside the visible area.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position_m: Option<[f32; 3]>,
    },
    /// Removes one individual, and lowers the number of its species by one.
    RemoveIndividual {
        /// Id of the individual.
        id: u32,
    },
    /// A temporary instruction to the fish.
    Director {
        /// The instruction.
        event: DirectorEvent,
    },
    /// Replaces the mind of one individual for some time.
    OverrideMind {
        /// Id of the individual.
        id: u32,
        /// The temporary mind.
        mind: MindChoice,
        /// Duration in seconds.
        secs: f32,
    },
    /// A step of the camera calibration. A simulation without camera rejects it.
    Calibrate {
        /// The step.
        step: CalibrationStep,
    },
    /// Reads changed documents from the disk.
    TakeOver {
        /// The documents that changed since they were last read.
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

/// A step of the camera calibration. Lengths are in meters, with the origin in the center of the surface. In pixel
/// coordinates, whole numbers are the centers of pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Starts a calibration with Gray-code stripes, for a camera that sees visible light. It needs no marks and takes 80
    /// seconds.
    GrayCode,
    /// Shows the previous target again.
    Back,
    /// Skips the shown target.
    Skip,
    /// Measures a target again.
    Repeat {
        /// Number of the target, counted from 1. If absent, the shown target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<usize>,
    },
    /// Cancels the calibration. The old calibration stays in use.
    Cancel,
    /// Puts the proven calibration in use and saves it.
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
    /// Computes the position of the lamp from the shadows of an upright pole at three or more places.
    Poles {
        /// Height of the pole.
        height_m: f64,
        /// The pole at each place, in the camera's picture.
        poles: Vec<PoleShadow>,
    },
}

fn default_targets() -> u8 {
    4
}

/// The object that the technician puts on each touch target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TouchMark {
    /// A flat dark disc.
    #[default]
    Disc,
    /// An upright dark pole.
    Pole,
}

/// A point that is known both in the camera's picture and on the floor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkerPoint {
    /// Position in the picture, `[x, y]`.
    pub camera_px: [f64; 2],
    /// Position on the floor, `[x, z]`.
    pub floor_m: [f64; 2],
}

/// A pole and its shadow in the camera's picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoleShadow {
    /// Foot of the pole, `[x, y]`.
    pub foot_px: [f64; 2],
    /// Tip of the shadow, `[x, y]`.
    pub tip_px: [f64; 2],
}

/// One change of one value in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The document.
    pub document: DocumentName,
    /// Path of the value: `actions.evade_shadow.flee_distance_m`, `needs[2].actions[0]`.
    pub path: String,
    /// The change of the value.
    pub change: EditChange,
}

/// A change of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditChange {
    /// Sets the value, or adds it if it is missing.
    Set {
        /// The new value.
        value: Value,
    },
    /// Inserts an item into the list at the path.
    Insert {
        /// Index of the new item, counted from 0. If absent, it becomes the last item.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// The item.
        value: Value,
    },
    /// Removes the value: an item disappears from its list, any other value becomes its default.
    Remove,
    /// Moves an item of a list.
    Move {
        /// New index, counted from 0.
        to: usize,
    },
}

/// Name of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentText {
    /// Name of the document.
    pub document: DocumentName,
    /// Text of the file; absent if the file was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A temporary instruction to the fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum DirectorEvent {
    /// Sets the variable of a `limit_based` need once, for all individuals of a species. Afterwards the variable changes by
    /// its own rate, so this cannot be undone.
    SetNeed {
        /// Name of the species.
        species: String,
        /// Name of the need.
        need: String,
        /// Value of the variable.
        value: f32,
    },
    /// Switches hunting on or off: sets the variable of all hunting needs above its limit, or to its value after a catch.
    Hunting {
        /// Name of the species. If absent, all species.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        species: Option<String>,
        /// Whether they hunt.
        on: bool,
    },
    /// Lets all fish with an action `seek` whose target is the director gather at a point.
    Gather {
        /// The point in world space.
        point_m: [f32; 3],
        /// Weight of the action while they gather, if its own weight is less.
        #[serde(default = "gather_weight")]
        weight: f32,
    },
    /// Starts a rule of the scene's director without its condition, for example 'send the shark'. Temporary, so there is
    /// nothing to undo.
    Start {
        /// Name of the rule.
        rule: String,
    },
    /// Ends the gathering.
    StopGathering,
    /// Lets all fish swim at cruise speed again after a scare. Temporary, so there is nothing to undo.
    Calm,
}

fn gather_weight() -> f32 {
    2.0
}

/// A temporary mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// Number of ticks done before the command was applied.
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
