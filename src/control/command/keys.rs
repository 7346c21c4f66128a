//! Finds keys of a command that have no meaning. The reader of JSON finds most of them, but not beside a name without further values,
//! as in `{"command":"save","now":true}`.
//!
//! In: a command as JSON. Out: a key that the schema of the commands does not know. Must not: check values.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::command_schema;

static SCHEMA: LazyLock<Value> = LazyLock::new(command_schema);

/// Returns a key in a command that has no meaning; `None` if there is none.
pub(super) fn unknown_key(command: &Value) -> Option<String> {
    find(&SCHEMA, command)
}

fn find(schema: &Value, value: &Value) -> Option<String> {
    let schema = resolved(schema);
    match value {
        Value::Object(object) => find_in_object(schema, object),
        Value::Array(items) => {
            let of_item = schema.get("items")?;
            items.iter().find_map(|item| find(of_item, item))
        }
        _ => None,
    }
}

fn find_in_object(schema: &Value, object: &Map<String, Value>) -> Option<String> {
    let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key));
    if let Some(alternatives) = alternatives.and_then(Value::as_array) {
        let fits = |alternative: &&Value| {
            let known = resolved(alternative).get("properties");
            let known = known.and_then(Value::as_object);
            let names = known
                .into_iter()
                .flatten()
                .filter(|(_, of)| of.get("const").is_some());
            let mut names = names.peekable();
            names.peek().is_some() && names.all(|(key, of)| object.get(key) == of.get("const"))
        };
        // An unknown name is another problem.
        return find(
            alternatives.iter().find(fits)?,
            &Value::Object(object.clone()),
        );
    }
    let known = schema.get("properties").and_then(Value::as_object)?;
    object.iter().find_map(|(key, value)| match known.get(key) {
        Some(schema) => find(schema, value),
        None => Some(key.clone()),
    })
}

/// Returns the schema that a reference leads to.
fn resolved(schema: &Value) -> &Value {
    let name = schema.get("$ref").and_then(Value::as_str);
    let path = name.and_then(|name| name.strip_prefix('#'));
    path.and_then(|path| SCHEMA.pointer(path)).unwrap_or(schema)
}
