use serde_json::Value;
use shoal_testing::assert_message;

use super::tree::{Step, nodes, shipped_uses};
use super::{editor_schema, explain};
use crate::config::parse_lenient;
use crate::site::{SceneFile, SiteFile, SpeciesFile, builtin, schemas};

#[test]
fn an_action_is_explained_with_keys_users_and_an_example() {
    let text = explain(Some("evade_shadow")).unwrap();
    for part in [
        "in species files: [actions.NAME] with action = \"evade_shadow\"",
        "in scene files: [individuals.actions.NAME]",
        "    calm_after_secs   s, 0 to 600",
        "Used by: ",
        "    action = \"evade_shadow\"",
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

#[test]
fn a_key_is_explained_with_unit_range_and_default() {
    let text = explain(Some("species.actions.evade_shadow.calm_after_secs")).unwrap();
    assert!(
        text.starts_with("calm_after_secs   s, 0 to 600, default "),
        "{text}"
    );
    assert!(
        text.contains(
            "in species files: [actions.NAME] with action = \"evade_shadow\", key calm_after_secs"
        ),
        "{text}"
    );
    for line in [
        "\n  Higher: visitors must stand still",
        "\n  Lower: fish trust",
    ] {
        assert!(text.contains(line), "{line} is missing in:\n{text}");
    }
    // A part of the way is enough, and a value leads to its key.
    assert!(explain(Some("evade_shadow.calm_after_secs")).is_ok());
    assert!(explain(Some("limit_based")).unwrap().starts_with("type   "));
}

#[test]
fn a_name_with_many_meanings_is_listed() {
    let text = explain(Some("weight")).unwrap();
    assert!(text.contains("weight has "), "{text}");
    assert!(
        text.lines()
            .any(|line| line.starts_with("For one of them: shoal explain ")),
        "{text}"
    );
}

#[test]
fn without_a_name_everything_is_listed() {
    let text = explain(None).unwrap();
    for name in ["evade_shadow", "director", "panel", "perception", "calm"] {
        assert!(text.contains(name), "{name} is missing in:\n{text}");
    }
}

#[test]
fn a_way_without_the_kind_of_its_tables_is_understood() {
    let text = explain(Some("director.when.still_secs")).unwrap();
    assert_message(&text, &["condition = \"still_visitor\""]);
    assert!(!text.contains("[actions"), "{text}");
    assert!(explain(Some("actions.NAME.attraction.hesitate_secs")).is_ok());
    assert!(explain(Some("director.then.still_secs")).is_err());
}

#[test]
fn an_example_of_a_text_is_the_one_that_its_meaning_names() {
    let text = explain(Some("alerts.quiet.to")).unwrap();
    assert_message(&text, &["to = \"07:00\""]);
    let text = explain(Some("remote.augmenta.send_to")).unwrap();
    assert_message(&text, &["send_to = [\"192.168.1.20:3333\"]"]);
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    let message = explain(Some("evade_shadows")).unwrap_err();
    assert_message(
        &message,
        &["evade_shadows", "did you mean \"evade_shadow\"?"],
    );
    let message = explain(Some("flee")).unwrap_err();
    assert_message(&message, &["names that contain it: ", "flee_enemy"]);
    for word in ["", ".", "..", "[", "\u{1b}[2J", "a.b.c.d"] {
        assert!(explain(Some(word)).is_err(), "{word:?}");
    }
}

/// The examples are what a designer copies: each is accepted by the reader of its kind of file.
#[test]
fn every_example_is_valid() {
    let schemas = schemas();
    let uses = shipped_uses(&schemas);
    let nodes = nodes(&schemas);
    let mut wrong = Vec::new();
    for node in &nodes {
        let Some(text) = super::example::example(node, &uses) else {
            wrong.push(format!("{}: no example", node.path()));
            continue;
        };
        let file = node.path();
        let problems = match node.kind {
            "site" => parse_lenient::<SiteFile>(&text, &file).1,
            "scene" => parse_lenient::<SceneFile>(&text, &file).1,
            "species" => parse_lenient::<SpeciesFile>(&text, &file).1,
            _ => parse_lenient::<crate::calibration::Calibration>(&text, &file).1,
        };
        wrong.extend(
            problems
                .0
                .iter()
                .map(|problem| format!("{problem}\n{text}")),
        );
    }
    assert!(nodes.len() > 900, "{}", nodes.len());
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        nodes.len(),
        wrong.join("\n")
    );
}

/// Every action, condition and effect that a shipped file can name is found by its name.
#[test]
fn every_kind_of_table_is_explained() {
    let schemas = schemas();
    for node in nodes(&schemas) {
        if let Some((Step::Variant(_, name), _)) = node.steps.last() {
            let text = explain(Some(name)).unwrap();
            assert!(text.contains("Example of a"), "{name}:\n{text}");
        }
    }
}

/// Checks a value against the keywords of a schema that an editor uses.
fn fits(schema: &Value, value: &Value) -> bool {
    let all = |key: &str| schema.get(key).and_then(Value::as_array);
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    let inner = |name: &str| schema.get("properties").and_then(|p| p.get(name));
    let others = schema.get("additionalProperties");
    all("oneOf").is_none_or(|v| v.iter().filter(|s| fits(s, value)).count() == 1)
        && all("anyOf").is_none_or(|v| v.iter().any(|s| fits(s, value)))
        && schema.get("const").is_none_or(|c| c == value)
        && all("enum").is_none_or(|v| v.contains(value))
        && schema.get("type").and_then(Value::as_str).is_none_or(is)
        && all("required").is_none_or(|names| {
            names
                .iter()
                .all(|name| name.as_str().is_some_and(|name| value.get(name).is_some()))
        })
        && value.as_object().is_none_or(|map| {
            map.iter().all(|(name, value)| match (inner(name), others) {
                (Some(schema), _) => fits(schema, value),
                (None, Some(Value::Bool(allowed))) => *allowed,
                (None, Some(schema)) => fits(schema, value),
                (None, None) => true,
            })
        })
        && value.as_array().is_none_or(|items| {
            schema
                .get("items")
                .is_none_or(|schema| items.iter().all(|item| fits(schema, item)))
        })
}

/// A shipped species that extends another leaves out what it inherits, also the kind of an action.
#[test]
fn the_schemas_for_editors_accept_the_shipped_files() {
    let files = [
        ("site", vec![("demo", builtin::SITE)]),
        ("scene", builtin::SCENES.to_vec()),
        ("species", builtin::SPECIES.to_vec()),
    ];
    for (kind, files) in files {
        let schema = editor_schema(kind).unwrap();
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
        for (name, text) in files {
            let table: toml::Table = toml::from_str(text).unwrap();
            assert!(
                fits(&schema, &serde_json::to_value(table).unwrap()),
                "{name}"
            );
        }
        let wrong: toml::Table = toml::from_str("colour = 1").unwrap();
        assert!(
            !fits(&schema, &serde_json::to_value(wrong).unwrap()),
            "{kind}"
        );
    }
    let partial: toml::Table =
        toml::from_str("extends = \"koi\"\n[actions.evade]\ncalm_after_secs = 2.0").unwrap();
    let species = editor_schema("species").unwrap();
    assert!(fits(&species, &serde_json::to_value(partial).unwrap()));
    assert!(editor_schema("fish").is_none());
}

/// Keys without a higher and a lower value. A name with a dot is the end of the way to the key.
const WITHOUT_MORE_OR_LESS: [(&str, &str); 17] = [
    ("at_m", "a position"),
    ("center_m", "a position"),
    ("from_m", "a position"),
    ("to_m", "a position"),
    ("goal_m", "a position"),
    ("goals_m", "positions"),
    ("point_m", "a position"),
    ("points_m", "positions"),
    ("individuals.position_m", "a position"),
    ("outline_m", "positions"),
    ("uniform.direction", "a direction"),
    ("normal", "a direction"),
    ("red", "a channel of a color"),
    ("green", "a channel of a color"),
    ("blue", "a channel of a color"),
    ("look.ground_seed", "a seed"),
    ("fields.obstacle", "an index"),
];

/// Whether a value is a number, or a list or map of numbers.
fn is_number(schema: &Value) -> bool {
    let is = |name: &str| match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|kind| kind == name),
        kind => kind.is_some_and(|kind| kind == name),
    };
    let inner = ["items", "additionalProperties"].map(|key| schema.get(key));
    is("number") || is("integer") || inner.into_iter().flatten().any(is_number)
}

#[test]
fn every_number_of_a_designer_says_what_higher_and_lower_do() {
    let schemas = schemas();
    let mut is_used = [false; WITHOUT_MORE_OR_LESS.len()];
    let mut lacking = Vec::new();
    let mut count = 0;
    for node in nodes(&schemas) {
        let is_key = matches!(node.steps.last(), Some((Step::Key(_), _)));
        if !["scene", "species"].contains(&node.kind) || !is_key || !is_number(node.schema()) {
            continue;
        }
        count += 1;
        let is_exempt = |(name, _): &(&str, &str)| {
            let words: Vec<&str> = name.split('.').collect();
            node.is_named(&words)
        };
        if let Some(index) = WITHOUT_MORE_OR_LESS.iter().position(is_exempt) {
            is_used[index] = true;
            continue;
        }
        let description = node.schema()["description"].as_str().unwrap_or_default();
        if !(description.contains("Higher:") && description.contains("Lower:")) {
            lacking.push(format!("{}: {description}", node.path()));
        }
    }
    assert!(count > 400, "{count}");
    assert!(
        lacking.is_empty(),
        "{} of {count}:\n{}",
        lacking.len(),
        lacking.join("\n")
    );
    assert_eq!(is_used, [true; WITHOUT_MORE_OR_LESS.len()]);
}

/// A fixed bug: `explain` said that no shipped file sets a key that only the examples in `docs` set.
#[test]
fn the_examples_in_docs_count_as_users_of_a_key() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut found = Vec::new();
    for page in ["hall", "navigation", "shows", "steering"] {
        for (kind, folder) in [("site", ""), ("scene", "scenes"), ("species", "species")] {
            let folder = root.join(page).join(folder);
            let entries = std::fs::read_dir(&folder).into_iter().flatten();
            for entry in entries {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|ending| ending == "toml") {
                    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                    found.push((kind, format!("docs/{page}/{name}")));
                }
            }
        }
    }
    let listed = builtin::EXAMPLES.iter();
    let mut listed: Vec<_> = listed
        .map(|(kind, name, _)| (*kind, (*name).to_owned()))
        .collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
    let text = explain(Some("rest")).unwrap();
    assert_message(&text, &["docs/steering/rester"]);
}
