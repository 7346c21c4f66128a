//! Commands for a running pool, and what they can do: steps, ways of calibration, instructions to the fish.

use std::collections::BTreeSet;

use serde_json::Value;

use super::texts;

/// Names that the program itself sends, with the sender.
const SENT: [(&str, &str); 2] = [
    ("keep_incident", "`shoal ctl keep`"),
    ("batch", "the panel, for a list of commands"),
];

/// Adds the names in a schema: constants, and words of which one is chosen.
fn add_names<'s>(schema: &'s Value, names: &mut BTreeSet<&'s str>) {
    match schema {
        Value::Object(entries) => {
            names.extend(entries.get("const").and_then(Value::as_str));
            let words = entries.get("enum").and_then(Value::as_array);
            names.extend(words.into_iter().flatten().filter_map(Value::as_str));
            for entry in entries.values() {
                add_names(entry, names);
            }
        }
        Value::Array(items) => {
            for item in items {
                add_names(item, names);
            }
        }
        _ => {}
    }
}

fn without_user_in(schema: &Value, text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    add_names(schema, &mut names);
    let is_sent = |name: &str| SENT.iter().any(|(sent, _)| *sent == name);
    let is_quoted = |name: &str| {
        ['"', '\'']
            .iter()
            .any(|quote| text.contains(&format!("{quote}{name}{quote}")))
    };
    let left = names
        .into_iter()
        .filter(|name| !is_quoted(name) && !is_sent(name));
    left.map(|name| format!("command {name}")).collect()
}

pub(super) fn without_user() -> BTreeSet<String> {
    let text = texts::pages() + &texts::code_of(&texts::documents());
    without_user_in(&shoal::control::command_schema(), &text)
}

#[test]
fn a_made_up_command_is_found() {
    let mut schema = shoal::control::command_schema();
    let variants = schema["oneOf"].as_array_mut().unwrap();
    variants.push(serde_json::json!({"properties": {"command": {"const": "made_up"}, "step": {"enum": ["go", "undo"]}}}));
    let found = without_user_in(&schema, r#"{"do": "undo"}"#);
    assert!(found.contains("command made_up") && found.contains("command go"));
    assert!(!found.contains("command undo"));
}
