//! Everything that can be told to a running pool, whoever tells it: panel, files, show control, keys, a log.
//!
//! In: JSON. Out: plain data. Must not: know what is valid; `site` validates and refuses, `simulation` obeys between ticks.
//!
//! Most commands are edits of documents (the site file, a scene, a species) at paths, so that whatever a room makes a
//! parameter of can be edited without a command of its own. What is not in a document is only of the moment.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing told to a running pool: done whole, or refused with all reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Changes values of documents, all or none of them.
    Edit {
        /// The changes, in order.
        edits: Vec<Edit>,
    },
    /// Adds a species to the library and to the scene that is shown.
    AddSpecies {
        /// Its name; its document will be `species/NAME.toml`.
        name: String,
        /// Its document, TOML; absent: a copy of `like`, or all defaults.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The species that it is a copy of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        like: Option<String>,
        /// How many live in the scene that is shown.
        #[serde(default)]
        count: u32,
    },
    /// Takes a species out of every scene and out of the library; a built-in one only out of the scenes.
    RemoveSpecies {
        /// Its name.
        name: String,
    },
    /// Shows another scene.
    SwitchScene {
        /// Its name.
        name: String,
    },
    /// Adds one to a species of the scene that is shown.
    AddIndividual {
        /// The species' name.
        species: String,
        /// Where it starts, world space; absent: out of sight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position_m: Option<[f32; 3]>,
    },
    /// Takes one individual out, and lowers its species' number by one.
    RemoveIndividual {
        /// Its id.
        id: u32,
    },
    /// What the director wants of the fish now.
    Director {
        /// What happens.
        event: DirectorEvent,
    },
    /// Replaces one individual's mind for a while.
    OverrideMind {
        /// The individual's id.
        id: u32,
        /// The mind that it has meanwhile.
        mind: MindChoice,
        /// How long.
        secs: f32,
    },
    /// A step of calibrating the camera; a pool without a camera refuses it.
    Calibrate {
        /// Which.
        step: CalibrationStep,
    },
    /// Takes documents over as they are on the disk now.
    TakeOver {
        /// Those that differ from what was known of the disk.
        documents: Vec<DocumentText>,
    },
    /// Takes the last change back.
    Undo,
    /// Makes the last change that was taken back again.
    Redo,
    /// Writes all changed documents to the disk.
    Save,
    /// Goes back to what is on the disk; can be undone.
    Revert,
}

/// A step of calibrating the camera. Lengths in meters on the surface, origin in its middle; pixel centers are whole numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum CalibrationStep {
    /// Begins with touch targets: crosses are shown one by one, and what is put on them is taken.
    Start {
        /// Targets along the surface's width, 3 to 5.
        #[serde(default = "usual_targets")]
        columns: u8,
        /// Targets along its height, 3 to 5.
        #[serde(default = "usual_targets")]
        rows: u8,
        /// What is put on them.
        #[serde(default)]
        mark: TouchMark,
    },
    /// Shows stripes one after the other, for a camera that sees visible light: nothing is laid down. Takes 80
    /// seconds.
    GrayCode,
    /// Shows the target before again.
    Back,
    /// Leaves the target that is shown out.
    Skip,
    /// Shows a target again.
    Repeat {
        /// Its number, from 1; absent: the one that is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<usize>,
    },
    /// Ends it; what was calibrated before stays.
    Cancel,
    /// Takes over what is proven, and saves it.
    Accept,
    /// Fits to markers that were dragged onto the camera's picture instead of targets.
    Markers {
        /// The markers.
        points: Vec<MarkerPoint>,
    },
    /// Fits to a table of points, as `shoal calibrate` reads it.
    Table {
        /// The table's text.
        text: String,
    },
    /// Says where the infrared lamp hangs.
    Lamp {
        /// World space.
        position_m: [f64; 3],
    },
    /// Finds the lamp from the shadows of an upright pole that stood at three places or more.
    Poles {
        /// Its height.
        height_m: f64,
        /// Where it stood.
        poles: Vec<PoleShadow>,
    },
}

fn usual_targets() -> u8 {
    4
}

/// What is put on a touch target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TouchMark {
    /// A flat dark disc.
    #[default]
    Disc,
    /// An upright dark pole.
    Pole,
}

/// A marker on the camera's picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkerPoint {
    /// Where it is in the picture, `[x, y]`.
    pub camera_px: [f64; 2],
    /// Which point of the floor is seen there, `[x, z]`.
    pub floor_m: [f64; 2],
}

/// A pole's shadow in the camera's picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoleShadow {
    /// The pole's foot, `[x, y]`.
    pub foot_px: [f64; 2],
    /// The tip of its shadow, `[x, y]`.
    pub tip_px: [f64; 2],
}

/// One change of one value of one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The document.
    pub document: DocumentName,
    /// Where in it: `actions.evade_shadow.flee_distance_m`, `needs[2].actions[0]`.
    pub path: String,
    /// What becomes of the value there.
    pub change: EditChange,
}

/// What becomes of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum EditChange {
    /// It gets a value; where there is none yet, it is written.
    Set {
        /// The value.
        value: Value,
    },
    /// The list at the path gets one more item.
    Insert {
        /// Before which item, counted from 0; absent: at the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<usize>,
        /// The item.
        value: Value,
    },
    /// It is taken out: a list is one shorter, for anything else its default counts.
    Remove,
    /// The item of a list goes to another place.
    Move {
        /// Its new place, counted from 0.
        to: usize,
    },
}

/// Which document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DocumentName {
    /// The site file.
    Site,
    /// A scene.
    Scene {
        /// Its name: the file's, without `.toml`.
        name: String,
    },
    /// A species.
    Species {
        /// Its name: the file's, without `.toml`.
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

/// A document as it is on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentText {
    /// Which.
    pub document: DocumentName,
    /// Its text; absent where there is no such file any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What the director wants of the fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum DirectorEvent {
    /// Sets the variable of a `limit_based` need of all individuals of a species, once. It goes on by its own rate from
    /// there, so this cannot be undone.
    SetNeed {
        /// The species' name.
        species: String,
        /// The need's name.
        need: String,
        /// The variable's value.
        value: f32,
    },
    /// Switches the needs that hunt on, beyond their limit, or off, to where a catch sets them.
    Hunting {
        /// The species' name; absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        species: Option<String>,
        /// Whether they hunt.
        on: bool,
    },
    /// All who have an action `seek` with the director as its target gather at a point.
    Gather {
        /// World space.
        point_m: [f32; 3],
        /// Weight of the action while it lasts, where its own is less.
        #[serde(default = "gather_weight")]
        weight: f32,
    },
    /// Starts a rule of the scene's director, whatever its condition: 'send the shark', 'feeding time'. Of the moment, so there
    /// is nothing to undo.
    Start {
        /// The rule's name.
        rule: String,
    },
    /// They go their ways again.
    StopGathering,
    /// Everybody falls back to cruising after a scare; of the moment, so there is nothing to undo.
    Calm,
}

fn gather_weight() -> f32 {
    2.0
}

/// A mind to be had for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum MindChoice {
    /// That of another species.
    Species {
        /// The species' name.
        name: String,
    },
    /// The own actions under other needs.
    Needs {
        /// The needs, as `[[needs]]` of a species file.
        needs: Vec<Value>,
    },
}

/// One line of a log of commands: what was done, and when. Lines are in order of their ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandLine {
    /// How many ticks the pool had done; the command came before the next one.
    pub tick: u64,
    /// What was done.
    pub command: Command,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_are_lines_that_people_can_write() {
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
    fn what_is_no_command_is_refused() {
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
