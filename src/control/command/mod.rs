//! The commands for a running pool, one type for each receiver. They come from the panel, `shoal ctl`, files, keys and the
//! schedule.
//!
//! Plain data that can be read from JSON. Must not: decide whether a command is valid; `site` validates commands, and
//! `simulation` applies their changes between two ticks.
//!
//! The command `edit` changes values of documents (the site file, a scene, a species) at a path, so that no parameter
//! needs a command of its own. The effect of a command that changes no document is temporary.

use schemars::{JsonSchema as _, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, from_value, json};

/// Gives the names of a receiver's commands, as in JSON.
macro_rules! named {
    ($commands:ident { $($variant:ident = $name:literal,)* }) => {
        impl $commands {
            /// Names of all these commands, as in JSON.
            pub const NAMES: &[&str] = &[$($name),*];

            /// Returns the name of the command, as in JSON.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                }
            }
        }
    };
}

mod calibration;
mod director;
mod documents;
mod keys;
mod pool;
mod running;
mod words;

pub use calibration::{
    AreaList, CalibrationStep, DrawnArea, MarkerPoint, PoleShadow, TouchMark, VisionCommand,
};
pub use director::{DirectorEvent, MindChoice};
pub use documents::{DocumentName, DocumentText, Edit, EditChange};
pub use pool::{CommandLine, EditorStep, IndividualCommand, PoolCommand, PoolEdit};
pub use running::{ShowCommand, UpkeepCommand};
pub use words::{NamesInUse, PHRASES};

/// Longest summary of a command, in characters. Limits the memory of the event log.
const SUMMARY_CHARS_MAX: usize = 200;
/// Number of list items that a summary names.
const SUMMARY_ITEMS: usize = 3;

/// A command for a running pool. It is applied completely, or rejected with all reasons.
///
/// In JSON, all commands are objects whose key `command` is the name of the command. The name decides about the receiver.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Command {
    /// For the documents and the fish.
    Pool(PoolCommand),
    /// For the vision stage.
    Vision(VisionCommand),
    /// For the operation of the show.
    Show(ShowCommand),
    /// For the upkeep of the stages.
    Upkeep(UpkeepCommand),
}

impl Command {
    /// Returns the name of the command, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pool(PoolCommand::Edit(command)) => command.name(),
            Self::Pool(PoolCommand::Individual(command)) => command.name(),
            Self::Pool(PoolCommand::Editor(command)) => command.name(),
            Self::Vision(command) => command.name(),
            Self::Show(command) => command.name(),
            Self::Upkeep(command) => command.name(),
        }
    }

    /// Returns in a line what the command changes, for events. Long texts and lists are left out.
    pub fn summary(&self) -> String {
        let text = match self {
            Self::Pool(PoolCommand::Edit(command)) => command.summary(),
            Self::Pool(PoolCommand::Individual(command)) => command.summary(),
            Self::Pool(PoolCommand::Editor(command)) => command.summary(),
            Self::Vision(command) => command.summary(),
            Self::Show(command) => command.summary(),
            Self::Upkeep(command) => command.summary(),
        };
        let is_shown = |c: &char| !c.is_control();
        text.chars()
            .filter(is_shown)
            .take(SUMMARY_CHARS_MAX)
            .collect()
    }
}

/// Reads a command of one receiver.
type ReadCommand = fn(Value) -> serde_json::Result<Command>;
/// Gives the JSON Schema of the commands of one receiver.
type CommandsSchema = fn(&mut SchemaGenerator) -> Schema;

/// The names of all commands with the type that they belong to.
const RECEIVERS: [(&[&str], ReadCommand, CommandsSchema); 6] = [
    (
        PoolEdit::NAMES,
        |json| Ok(Command::Pool(PoolCommand::Edit(from_value(json)?))),
        PoolEdit::json_schema,
    ),
    (
        IndividualCommand::NAMES,
        |json| Ok(Command::Pool(PoolCommand::Individual(from_value(json)?))),
        IndividualCommand::json_schema,
    ),
    (
        EditorStep::NAMES,
        |json| Ok(Command::Pool(PoolCommand::Editor(from_value(json)?))),
        EditorStep::json_schema,
    ),
    (
        VisionCommand::NAMES,
        |json| Ok(Command::Vision(from_value(json)?)),
        VisionCommand::json_schema,
    ),
    (
        ShowCommand::NAMES,
        |json| Ok(Command::Show(from_value(json)?)),
        ShowCommand::json_schema,
    ),
    (
        UpkeepCommand::NAMES,
        |json| Ok(Command::Upkeep(from_value(json)?)),
        UpkeepCommand::json_schema,
    ),
];

/// Returns the names of all commands, as in JSON.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    RECEIVERS
        .iter()
        .flat_map(|(names, ..)| names.iter().copied())
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        let name = json.get("command").and_then(Value::as_str);
        let name = name.ok_or_else(|| D::Error::missing_field("command"))?;
        let receiver = RECEIVERS.iter().find(|(names, ..)| names.contains(&name));
        let Some((_, read, _)) = receiver else {
            let names = command_names().collect::<Vec<_>>().join("`, `");
            let message = format!("unknown command `{name}`, expected one of `{names}`");
            return Err(D::Error::custom(message));
        };
        if let Some(key) = keys::unknown_key(&json) {
            let message = format!("the command `{name}` has no key `{}`", visible_part(&key));
            return Err(D::Error::custom(message));
        }
        read(json).map_err(D::Error::custom)
    }
}

impl TryFrom<Command> for PoolCommand {
    type Error = &'static str;

    fn try_from(command: Command) -> Result<Self, Self::Error> {
        match command {
            Command::Pool(command) => Ok(command),
            Command::Vision(_) | Command::Show(_) | Command::Upkeep(_) => {
                Err("only a running installation can do this; send this command to `shoal run`")
            }
        }
    }
}

/// Returns the JSON Schema of a command.
pub fn command_schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let schemas = RECEIVERS.map(|(.., schema)| schema(&mut generator).to_value());
    let variants = schemas
        .iter()
        .filter_map(|schema| schema["oneOf"].as_array());
    json!({
        "title": "Command",
        "oneOf": variants.flatten().collect::<Vec<_>>(),
        "$defs": generator.take_definitions(true),
    })
}

/// Returns the beginning of a text of a client, for a message.
fn visible_part(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
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
            json!({"command": "overlay", "show": ["why", "forces"], "fish": "herring", "secs": 60}),
            json!({"command": "overlay", "show": ["flock"], "fish": 17}),
            json!({"command": "overlay"}),
            json!({"command": "restart", "stage": "camera"}),
            json!({"command": "recording", "step": {"do": "record", "secs": 60.0}}),
            json!({"command": "recording", "step": {"do": "replay", "name": "a.y4m"}}),
            json!({"command": "recording", "step": {"do": "live"}}),
            json!({"command": "keep_incident"}),
            json!({"command": "test_alert"}),
            json!({"command": "override_mind", "id": 7, "mind": {"of": "species", "name": "herring"}, "secs": 2.5}),
            json!({"command": "override_mind", "id": 7, "secs": 20.0, "mind": {"of": "needs",
                "actions": {"be_caught": {"action": "pursue", "relations": ["enemy"]}},
                "needs": [{"name": "be_caught", "type": "default", "actions": ["be_caught"]}]}}),
            json!({"command": "end_override", "id": 7}),
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

    /// A fixed bug: keys without a meaning were accepted beside names that have no values.
    #[test]
    fn keys_without_a_meaning_are_refused_everywhere() {
        for text in [
            json!({"command": "save", "nonsense": 1}),
            json!({"command": "undo", "edits": []}),
            json!({"command": "test_alert", "x": null}),
            json!({"command": "director", "event": {"event": "calm", "nonsense": 1}}),
            json!({"command": "calibrate", "step": {"do": "accept", "x": 1}}),
            json!({"command": "schedule", "step": {"do": "resume", "x": 1}}),
            json!({"command": "recording", "step": {"do": "live", "x": 1}}),
            json!({"command": "edit", "edits": [
                {"document": {"kind": "site", "x": 1}, "path": "scene", "change": {"do": "remove"}}]}),
            json!({"command": "edit", "edits": [
                {"document": {"kind": "site"}, "path": "scene", "change": {"do": "remove", "x": 1}}]}),
            json!({"command": "batch", "commands": [{"command": "remove_species", "name": "a", "x": 1}]}),
        ] {
            assert!(
                serde_json::from_value::<Command>(text.clone()).is_err(),
                "{text}"
            );
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
        let pool = |edit| Command::Pool(PoolCommand::Edit(edit));
        let edits = pool(PoolEdit::Edit {
            edits: ["a", "b", "c", "d"].map(edit).to_vec(),
            joins_last: false,
        });
        assert_eq!(
            (edits.name(), edits.summary().as_str()),
            (
                "edit",
                "species/trout: a, species/trout: b, species/trout: c and 1 more"
            )
        );
        let long = pool(PoolEdit::SwitchScene {
            name: "\n".repeat(50) + &"x".repeat(5000),
        });
        assert_eq!(long.summary(), "x".repeat(SUMMARY_CHARS_MAX));
        for command in [Command::Upkeep(UpkeepCommand::KeepIncident), edits, long] {
            let name = serde_json::to_value(&command).unwrap()["command"].clone();
            assert_eq!(name, command.name());
        }
    }

    /// Every command by its name in JSON. Panel, `shoal ctl send` and the logs of sessions use these names.
    #[test]
    fn the_names_in_json_stay() {
        let names = [
            "edit",
            "replace_text",
            "add_species",
            "remove_species",
            "switch_scene",
            "add_individual",
            "director",
            "remove_individual",
            "override_mind",
            "end_override",
            "batch",
            "take_over",
            "undo",
            "redo",
            "save",
            "save_site",
            "revert",
            "calibrate",
            "choose_camera",
            "draw_area",
            "schedule",
            "pause",
            "test_picture",
            "overlay",
            "test_alert",
            "test_sound",
            "restart",
            "recording",
            "keep_incident",
            "restart_program",
        ];
        assert_eq!(command_names().collect::<Vec<_>>(), names);
        let schema = command_schema();
        let variants = schema["oneOf"].as_array().unwrap().iter();
        let described: Vec<_> = variants
            .map(|variant| variant["properties"]["command"]["const"].as_str().unwrap())
            .collect();
        assert_eq!(described, names, "the names of the types");
    }

    #[test]
    fn an_error_names_the_known_commands_or_the_wrong_value() {
        let error = |json| {
            serde_json::from_value::<Command>(json)
                .unwrap_err()
                .to_string()
        };
        let unknown = error(json!({"command": "explode"}));
        assert!(unknown.starts_with("unknown command `explode`, expected one of `edit`, "));
        assert_eq!(error(json!({"name": "pool"})), "missing field `command`");
        let wrong = error(json!({"command": "remove_individual", "id": -1}));
        assert!(wrong.contains("`-1`, expected u32"), "{wrong}");
    }

    #[test]
    fn a_batch_and_a_log_contain_only_what_they_can_apply() {
        for (name, command) in [
            ("undo", json!({"command": "undo"})),
            (
                "remove_individual",
                json!({"command": "remove_individual", "id": 1}),
            ),
            ("batch", json!({"command": "batch", "commands": []})),
            ("pause", json!({"command": "pause", "on": true})),
        ] {
            let scene = json!({"command": "switch_scene", "name": "pool"});
            let batch = json!({"command": "batch", "commands": [scene, command]});
            let error = serde_json::from_value::<Command>(batch)
                .unwrap_err()
                .to_string();
            let begin = format!("command 2 ({name}): this command cannot be part of a batch");
            assert!(error.starts_with(&begin), "{error}");
        }
        let pause = json!({"tick": 3, "command": {"command": "pause", "on": true}});
        let error = serde_json::from_value::<CommandLine>(pause)
            .unwrap_err()
            .to_string();
        assert!(error.contains("only a running installation"), "{error}");
    }

    #[test]
    fn invalid_commands_are_rejected() {
        for text in [
            json!({"command": "remove_species", "name": "koi", "now": true}),
            json!({"command": "edit", "edits": [{"document": {"kind": "page"}, "path": "a", "change": {"do": "remove"}}]}),
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
