//! Everyday commands in words, for a terminal, cron and buttons: `scene reef`, `dark 10min`.
//!
//! Must not: know whether a scene or an event exists.

use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as NameError, StrDeserializer};
use serde::{Deserialize, Serialize};

use super::super::overlay::{OverlayFish, OverlayPart};
use super::super::schedule::{HandEnd, ScheduleStep, ShowState};
use super::super::stage::StageChoice;
use super::{
    Command, DirectorEvent, DocumentName, Edit, EditChange, EditorStep, PoolCommand, PoolEdit,
    ShowCommand, UpkeepCommand,
};

/// The commands that can be written in plain words, each with its effect. `[TIME]` is `90s`, `10min`, `2h`, `tomorrow` (the first planned
/// opening after midnight) or `forever` (until somebody ends it); without it, the state lasts until the next change of the opening hours.
pub const PHRASES: [(&str, &str); 18] = [
    ("scene NAME", "show this scene"),
    (
        "event NAME",
        "start this event of the scene; if it is going on, from its begin",
    ),
    (
        "stop NAME",
        "end this event of the scene, with all that follows it",
    ),
    ("calm", "let all fish swim at cruise speed again"),
    (
        "open [TIME]",
        "show the pool, whatever the opening hours say",
    ),
    ("attract [TIME]", "show the pool, with events more often"),
    ("dark [TIME]", "show a black picture"),
    (
        "closed [TIME]",
        "as after the opening hours: black, the pool rests, projectors off",
    ),
    ("plan", "do again what the opening hours say"),
    ("pause [TIME]", "let the whole pool stand still"),
    ("resume", "let it go on"),
    (
        "sound DB | sound mute | sound unmute | sound test [NAME]",
        "volume in decibels from -60 to 0, silence, a tone from a loudspeaker",
    ),
    (
        "overlay PARTS [FISH]",
        "draw over the pool for 5 minutes why the fish act: why, forces, flock, sight, shelter, vectors, shadows, fields, \
         ways, mesh (several with commas), or off; FISH is an id, or the name of a species, a group or a fish",
    ),
    ("undo | redo", "take the last change back, or make it again"),
    ("save", "write changed scenes and species to their files"),
    (
        "restart STAGE",
        "start again: camera, vision, simulation, render, all or program",
    ),
    ("keep", "write the kept last minutes into a folder"),
    (
        "test-alert",
        "send a test message on the way of the messages about faults",
    ),
];

/// Longest time of a state that is set by hand.
const HAND_SECS_MAX: u32 = 7 * 24 * 3600;

impl Command {
    /// Returns the command that is meant by words: one of [`PHRASES`].
    ///
    /// # Errors
    /// When they mean none. The error says which words are known, or what is wrong with the rest.
    pub fn from_words(words: &[&str]) -> Result<Self, String> {
        let show = |command| Ok(Self::Show(command));
        let pool = |command: PoolCommand| Ok(Self::Pool(command));
        let director = |event| pool(PoolEdit::Director { event }.into());
        match words {
            ["scene", name] => pool(
                PoolEdit::SwitchScene {
                    name: (*name).to_owned(),
                }
                .into(),
            ),
            ["event", rule] => director(DirectorEvent::Start {
                rule: (*rule).to_owned(),
            }),
            ["stop", rule] => director(DirectorEvent::Stop {
                rule: (*rule).to_owned(),
            }),
            ["calm"] => director(DirectorEvent::Calm),
            ["plan"] => show(ShowCommand::Schedule {
                step: ScheduleStep::Resume,
            }),
            ["pause", time @ ..] => show(ShowCommand::Pause {
                on: true,
                until: end_of(time)?,
            }),
            ["resume"] => show(ShowCommand::Pause {
                on: false,
                until: HandEnd::default(),
            }),
            ["sound", what @ ..] => sound(what),
            ["overlay", parts] => show(overlay(parts, None)?),
            ["overlay", parts, fish] => show(overlay(parts, Some(fish))?),
            ["undo"] => pool(EditorStep::UNDO.into()),
            ["redo"] => pool(EditorStep::REDO.into()),
            ["save"] => pool(EditorStep::Save.into()),
            ["restart", "program"] => Ok(Self::Upkeep(UpkeepCommand::RestartProgram)),
            ["restart", stage] => {
                let stage = named::<StageChoice>(stage)
                    .map_err(|error| format!("{error}, or `program`"))?;
                Ok(Self::Upkeep(UpkeepCommand::Restart { stage }))
            }
            ["keep"] => Ok(Self::Upkeep(UpkeepCommand::KeepIncident)),
            ["test-alert"] => show(ShowCommand::TestAlert),
            [state, time @ ..] if named::<ShowState>(state).is_ok() => {
                let step = ScheduleStep::ByHand {
                    state: named(state)?,
                    until: end_of(time)?,
                };
                show(ShowCommand::Schedule { step })
            }
            _ => Err(unknown(words)),
        }
    }
}

/// Returns the command that is meant by what follows `sound`.
fn sound(what: &[&str]) -> Result<Command, String> {
    let set = |path: &str, value: serde_json::Value| {
        let edit = Edit {
            document: DocumentName::Site,
            path: path.to_owned(),
            change: EditChange::Set { value },
        };
        let edits = PoolEdit::Edit {
            edits: vec![edit],
            joins_last: false,
        };
        Ok(Command::Pool(edits.into()))
    };
    match what {
        ["mute"] => set("sound.mute", true.into()),
        ["unmute"] => set("sound.mute", false.into()),
        ["test", name @ ..] => Ok(Command::Show(ShowCommand::TestSound {
            speaker: (!name.is_empty()).then(|| name.join(" ")),
        })),
        [volume] => {
            let number = volume.trim_end_matches("dB").parse::<f32>().ok();
            match number.filter(|db| (-60.0..=0.0).contains(db)) {
                Some(db) => set("sound.volume_db", db.into()),
                None => Err(unknown(&["sound", volume])),
            }
        }
        _ => Err(unknown(&["sound"])),
    }
}

/// Says what could be meant instead of words without a meaning.
fn unknown(words: &[&str]) -> String {
    let first = words.first().copied().unwrap_or_default();
    let usages = PHRASES.map(|(usage, _)| usage);
    let begins = |usage: &&&str| usage.split([' ', '|']).any(|word| word == first);
    match usages.iter().find(begins) {
        Some(usage) if !first.is_empty() => format!(
            "`{}`: write `{usage}`",
            super::visible_part(&words.join(" "))
        ),
        _ => format!(
            "`{}` is no command; the commands are `{}`",
            super::visible_part(first),
            usages.join("`, `")
        ),
    }
}

/// Returns the value of an enumeration that a word names.
fn named<'a, T: Deserialize<'a>>(word: &'a str) -> Result<T, String> {
    let word: StrDeserializer<'_, NameError> = word.into_deserializer();
    T::deserialize(word).map_err(|error| error.to_string())
}

/// Returns the command for an overlay of some parts, separated by commas.
fn overlay(parts: &str, fish: Option<&str>) -> Result<ShowCommand, String> {
    let show = match parts {
        "off" => Vec::new(),
        parts => parts
            .split(',')
            .map(named::<OverlayPart>)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("{error}, or `off`"))?,
    };
    let fish = fish.map(|fish| match fish.parse() {
        Ok(id) => OverlayFish::Id(id),
        Err(_) => OverlayFish::Name(fish.to_owned()),
    });
    Ok(ShowCommand::Overlay {
        show,
        fish,
        secs: None,
    })
}

/// Returns the end of a state that is set by hand.
fn end_of(words: &[&str]) -> Result<HandEnd, String> {
    let text = words.concat();
    match text.as_str() {
        "" => return Ok(HandEnd::default()),
        "tomorrow" => return Ok(HandEnd::Tomorrow),
        "forever" => return Ok(HandEnd::Never),
        _ => {}
    }
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit_secs = match unit {
        "s" => 1,
        "min" => 60,
        "h" => 3600,
        _ => 0,
    };
    let secs = number
        .parse::<u32>()
        .ok()
        .and_then(|number| number.checked_mul(unit_secs));
    match secs {
        Some(secs @ 1..=HAND_SECS_MAX) => Ok(HandEnd::Secs(secs)),
        _ => Err(format!(
            "`{}` is no time: write `90s`, `10min` or `2h` (at most 168h), `tomorrow` or `forever`",
            super::visible_part(&text)
        )),
    }
}

/// The names that everyday commands can use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamesInUse {
    /// The scenes.
    pub scenes: Vec<String>,
    /// The events of the scene that is shown.
    pub events: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parsed(text: &str) -> Result<Value, String> {
        let words: Vec<_> = text.split_whitespace().collect();
        Command::from_words(&words).map(|command| serde_json::to_value(command).unwrap())
    }

    #[test]
    fn words_are_commands() {
        for (text, command) in [
            (
                "scene reef",
                json!({"command": "switch_scene", "name": "reef"}),
            ),
            (
                "event shark",
                json!({"command": "director", "event": {"event": "start", "rule": "shark"}}),
            ),
            (
                "stop shark",
                json!({"command": "director", "event": {"event": "stop", "rule": "shark"}}),
            ),
            (
                "calm",
                json!({"command": "director", "event": {"event": "calm"}}),
            ),
            (
                "dark",
                json!({"command": "schedule", "step": {"do": "by_hand", "state": "dark"}}),
            ),
            (
                "dark 10min",
                json!({"command": "schedule", "step": {"do": "by_hand", "state": "dark", "until": {"secs": 600}}}),
            ),
            (
                "closed 10 min",
                json!({"command": "schedule", "step": {"do": "by_hand", "state": "closed", "until": {"secs": 600}}}),
            ),
            (
                "open tomorrow",
                json!({"command": "schedule", "step": {"do": "by_hand", "state": "open", "until": "tomorrow"}}),
            ),
            (
                "plan",
                json!({"command": "schedule", "step": {"do": "resume"}}),
            ),
            (
                "pause forever",
                json!({"command": "pause", "on": true, "until": "never"}),
            ),
            ("resume", json!({"command": "pause", "on": false})),
            ("undo", json!({"command": "undo"})),
            ("save", json!({"command": "save"})),
            (
                "restart camera",
                json!({"command": "restart", "stage": "camera"}),
            ),
            ("restart program", json!({"command": "restart_program"})),
            (
                "overlay why,flock herring",
                json!({"command": "overlay", "show": ["why", "flock"], "fish": "herring"}),
            ),
            (
                "overlay forces 17",
                json!({"command": "overlay", "show": ["forces"], "fish": 17}),
            ),
            ("overlay off", json!({"command": "overlay"})),
            ("keep", json!({"command": "keep_incident"})),
            (
                "sound -18dB",
                json!({"command": "edit", "edits": [{"document": {"kind": "site"}, "path": "sound.volume_db",
                    "change": {"do": "set", "value": -18.0}}]}),
            ),
            (
                "sound mute",
                json!({"command": "edit", "edits": [{"document": {"kind": "site"}, "path": "sound.mute",
                    "change": {"do": "set", "value": true}}]}),
            ),
            ("sound test", json!({"command": "test_sound"})),
            (
                "sound test front left",
                json!({"command": "test_sound", "speaker": "front left"}),
            ),
            ("test-alert", json!({"command": "test_alert"})),
        ] {
            assert_eq!(parsed(text), Ok(command), "{text}");
        }
    }

    #[test]
    fn words_without_a_meaning_are_answered_with_what_is_known() {
        for (text, part) in [
            ("", "the commands are `scene NAME`, "),
            (
                "scen reef",
                "`scen` is no command; the commands are `scene NAME`, ",
            ),
            ("scene", "`scene`: write `scene NAME`"),
            ("scene a b", "`scene a b`: write `scene NAME`"),
            (
                "overlay whi",
                "unknown variant `whi`, expected one of `why`",
            ),
            ("redo twice", "`redo twice`: write `undo | redo`"),
            (
                "restart fish",
                "unknown variant `fish`, expected one of `camera`",
            ),
            ("sound loud", "`sound loud`: write `sound DB | sound mute"),
            ("dark 10", "`10` is no time: write `90s`"),
            ("dark 0s", "`0s` is no time"),
            ("dark 169h", "(at most 168h)"),
            ("dark 9999999999h", "is no time"),
            ("dark -1h", "is no time"),
            ("pause 5m", "`5m` is no time"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn every_phrase_begins_with_a_known_word() {
        for (usage, _) in PHRASES {
            for alternative in usage.split(" | ") {
                let filled = alternative
                    .replace(" [TIME]", "")
                    .replace("NAME", "a")
                    .replace("STAGE", "all")
                    .replace("DB", "-12")
                    .replace(" [FISH]", "")
                    .replace("PARTS", "off");
                assert!(parsed(&filled).is_ok(), "{filled}");
            }
        }
    }
}
