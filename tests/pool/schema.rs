//! Tests of the schema. It has everything that an editor page needs for each field, and edit commands accept the values that
//! it allows.

use crate::desk::{Pool, set};
use serde_json::{Value, json};
use shoal::behavior::ActionParams;
use shoal::config::unit_of_field;
use shoal::site::schemas;

/// One field in the schema of a configuration file, at any depth.
struct Field {
    path: String,
    name: String,
    schema: Value,
    is_required: bool,
}

/// Returns whether two JSON values are equal. Numbers at any depth may differ by rounding errors.
fn is_near(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() < 1e-6 * b.abs().max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_near(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |key: &String| matches!((a.get(key), b.get(key)), (Some(a), Some(b)) if is_near(a, b));
            a.len() == b.len() && a.keys().all(same)
        }
        _ => a == b,
    }
}

/// Collects all fields of a schema, including those of list items, map values and variants.
fn fields(schema: &Value, path: &str, found: &mut Vec<Field>) {
    let required: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    let none = serde_json::Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, inner) in properties.unwrap_or(&none) {
        let path = format!("{path}.{name}");
        fields(inner, &path, found);
        if inner.get("const").is_none() {
            found.push(Field {
                path,
                name: name.clone(),
                schema: inner.clone(),
                is_required: required.contains(&name.as_str()),
            });
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key) {
            fields(inner, &format!("{path}.*"), found);
        }
    }
    for variant in schema
        .get("oneOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        fields(variant, path, found);
    }
}

fn all_fields() -> Vec<Field> {
    let mut found = Vec::new();
    for (name, schema) in schemas().as_object().unwrap() {
        fields(schema, name, &mut found);
    }
    assert!(found.len() > 150, "only {} fields", found.len());
    found
}

#[test]
fn every_field_has_what_an_editor_page_needs() {
    let mut lacking = Vec::new();
    for field in all_fields() {
        let text = |key: &str| {
            field
                .schema
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        if text("title").is_empty() || text("description").is_empty() {
            lacking.push(format!("{}: no title or no description", field.path));
        }
        let is_number = |s: &Value| matches!(s["type"].as_str(), Some("number" | "integer"));
        let holds_numbers = is_number(&field.schema) || is_number(&field.schema["items"]);
        if holds_numbers
            && unit_of_field(&field.name) != field.schema.get("x-unit").and_then(Value::as_str)
        {
            lacking.push(format!(
                "{}: its name has a unit, but its schema has none",
                field.path
            ));
        }
        // An optional field without a default must have a description that explains the meaning of its absence.
        let is_optional = field.schema.get("default").is_none() && !field.is_required;
        if is_optional && field.schema.get("oneOf").is_none() && text("description").len() < 12 {
            lacking.push(format!(
                "{}: neither a default nor an explanation of its absence",
                field.path
            ));
        }
    }
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn fields_that_need_a_restart_are_marked() {
    let marked: Vec<String> = all_fields()
        .into_iter()
        .filter(|f| f.schema.get("x-restart") == Some(&Value::Bool(true)))
        .map(|f| f.path)
        .collect();
    let of_site: Vec<&str> = marked
        .iter()
        .filter_map(|p| p.strip_prefix("site."))
        .collect();
    // Everything else applies at once.
    assert_eq!(
        of_site,
        ["cluster", "counting", "panel", "remote", "simulation"]
    );
    assert_eq!(
        of_site.len(),
        marked.len(),
        "scenes and species need no restart: {marked:?}"
    );
}

/// Every registered action must be known to the configuration, the schema, the documentation and the edit commands.
#[test]
fn every_parameter_of_every_action_can_be_edited() {
    let schemas = schemas();
    let variants = schemas["species"]["properties"]["actions"]["additionalProperties"]["oneOf"]
        .as_array()
        .unwrap();
    assert_eq!(variants.len(), ActionParams::KINDS.len());
    let mut pool = Pool::open(None, 1);
    for kind in ActionParams::KINDS {
        let variant = variants
            .iter()
            .find(|v| v["properties"]["action"]["const"] == *kind)
            .unwrap_or_else(|| panic!("{kind} is not in the schema"));
        assert!(
            variant["description"].as_str().unwrap().len() > 10,
            "{kind} has no description"
        );
        pool.set("species:trout", "actions.probe", json!({"action": kind}));
        pool.edit(
            "species:trout",
            "needs[0].actions",
            json!({"do": "insert", "value": "probe"}),
        );
        for (name, field) in variant["properties"].as_object().unwrap() {
            let path = format!("actions.probe.{name}");
            if name == "action" {
                continue;
            }
            // Chooses a value that usually differs from the default, for example the smallest allowed number.
            let value = match field["type"].as_str().unwrap() {
                "number" | "integer" => field["minimum"].clone(),
                "boolean" => json!(field["default"] == json!(false)),
                "string" if field["enum"].is_null() => json!("another name"),
                "string" => field["enum"][0].clone(),
                _ => field["default"].clone(),
            };
            pool.set("species:trout", &path, value.clone());
            let site = pool.desk.editor().site();
            let trout = site.species.iter().find(|s| s.name == "trout").unwrap();
            let written = serde_json::to_value(&trout.file.actions["probe"]).unwrap();
            let (written, value) = (written[name].clone(), value);
            let is_same = is_near(&written, &value);
            assert!(is_same, "{kind}.{name}: {written} is not {value}");
            if let Some(max) = field["maximum"].as_f64().filter(|max| *max < 1e9) {
                let beyond = set("species:trout", &path, json!(max * 2.0 + 1.0));
                let problems = pool.try_command(beyond).unwrap_err();
                assert!(problems.to_string().contains(name.as_str()), "{problems}");
            }
        }
        pool.visitor(glam::Vec2::new(0.2, 0.1), 0.0);
        pool.run(3);
        pool.edit(
            "species:trout",
            "needs[0].actions[4]",
            json!({"do": "remove"}),
        );
        pool.edit("species:trout", "actions.probe", json!({"do": "remove"}));
    }
}
