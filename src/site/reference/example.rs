//! A short example for a node: a part of a file with the node and what the tables around it need.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::tree::{Node, Step, Use};

/// Name of a table whose name the author of a file chooses.
const NAME: &str = "my_name";

/// Returns a text in TOML that contains the node; `None` if it cannot be written.
pub(super) fn example(node: &Node<'_>, uses: &BTreeMap<String, Vec<Use>>) -> Option<String> {
    let shipped = uses.get(&node.path()).and_then(|uses| uses.first());
    let mut value = match shipped {
        Some(shipped) => needed(node.schema(), &shipped.value),
        None => sample(node.schema()),
    };
    for (i, (step, _)) in node.steps.iter().enumerate().rev() {
        let around = i.checked_sub(1).map_or(node.root, |i| node.steps[i].1);
        value = match step {
            Step::Key(name) => {
                let mut table = required(around);
                table.insert((*name).to_owned(), value);
                Value::Object(table)
            }
            Step::Item => json!([value]),
            Step::Chosen => json!({ name_of(node, i, shipped): value }),
            Step::Variant(tag, name) => {
                let mut table = value.as_object().cloned().unwrap_or_default();
                table.insert((*tag).to_owned(), json!(name));
                Value::Object(table)
            }
        };
    }
    toml::to_string(&value).ok()
}

/// The name that a shipped file chose, or the name of the variant.
fn name_of(node: &Node<'_>, i: usize, shipped: Option<&Use>) -> String {
    if let Some(table) = shipped.and_then(|shipped| shipped.table.clone()) {
        return table;
    }
    match node.steps.get(i + 1) {
        Some((Step::Variant(_, name), _)) => (*name).to_owned(),
        _ => NAME.to_owned(),
    }
}

/// A shipped value. Of a list of tables, only the first table; of a table, only the keys that it must have and the simple ones; tables inside it would hide what matters.
fn needed(schema: &Value, value: &Value) -> Value {
    let map = match value {
        Value::Object(map) => map,
        Value::Array(items) => {
            let first = items.first().filter(|item| item.is_object());
            return match (schema.get("items"), first) {
                (Some(schema), Some(first)) => json!([needed(schema, first)]),
                _ => value.clone(),
            };
        }
        other => return other.clone(),
    };
    let must = required(schema);
    let is_simple = |value: &Value| match value {
        Value::Object(_) => false,
        Value::Array(items) => !items.iter().any(Value::is_object),
        _ => true,
    };
    let kept = map
        .iter()
        .filter(|(k, v)| must.contains_key(*k) || is_simple(v));
    Value::Object(kept.map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// Returns the text that the description of a key names as an example.
fn described(schema: &Value) -> Option<Value> {
    let text = schema.get("description").and_then(Value::as_str)?;
    let (_, after) = text.split_once("for example `")?;
    let (example, _) = after.split_once('`')?;
    let is_text = |schema: &Value| {
        schema.get("type") == Some(&json!("string")) && schema.get("enum").is_none()
    };
    if is_text(schema) {
        return Some(json!(example));
    }
    let is_list = schema.get("items").is_some_and(is_text) && !example.starts_with('[');
    is_list.then(|| json!([example]))
}

/// Whether a value says nothing: an empty text or list.
fn is_empty(value: &Value) -> bool {
    value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// A valid value for a schema.
fn sample(schema: &Value) -> Value {
    let is_open = schema.get("default").is_none_or(is_empty);
    if let Some(example) = is_open.then(|| described(schema)).flatten() {
        return example;
    }
    if let Some(value) = schema.get("const").or_else(|| schema.get("default")) {
        return without_null(value);
    }
    let first = |key: &str| schema.get(key).and_then(|list| list.get(0));
    if let Some(value) = first("enum") {
        return value.clone();
    }
    if let Some(variant) = first("oneOf") {
        return sample(variant);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => Value::Object(required(schema)),
        Some("array") => {
            let number = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let item = schema.get("items").map_or(Value::Null, sample);
            (0..number).map(|_| item.clone()).collect()
        }
        Some("boolean") => json!(true),
        Some("number" | "integer") => number_in(schema),
        _ => json!(NAME),
    }
}

/// The value without the keys of tables that have no value: TOML has no null.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(k, v)| (k.clone(), without_null(v))).collect())
        }
        Value::Array(items) => items.iter().map(without_null).collect(),
        other => other.clone(),
    }
}

/// The number of a range that is nearest to 1.
fn number_in(schema: &Value) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (low, high) = (bound("minimum"), bound("maximum"));
    let number = 1.0_f64.max(low.unwrap_or(1.0)).min(high.unwrap_or(1.0));
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => json!(number as i64),
        _ => json!(number),
    }
}

/// The keys that a table must have, with values.
fn required(schema: &Value) -> Map<String, Value> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let of = |name: &str| schema.get("properties").and_then(|all| all.get(name));
    names
        .filter_map(|name| Some((name.to_owned(), sample(of(name)?))))
        .collect()
}
