//! Finds changed values of the site file that apply only after a restart.
//!
//! In: the schema, in which `x-restart` marks such values (with "length": only the length of a list), and the contents of the file at the start and now. Out:
//! paths. Must not: know a field by name.

use serde_json::Value;

/// Returns the paths of the values that differ and apply only after a restart. If everything in a table needs a
/// restart, only the path of the changed field in that table is returned, not the paths inside the field.
pub(super) fn restart_needed(schema: &Value, started: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(schema, (started, now), "", &mut found);
    found
}

fn compare(schema: &Value, (started, now): (&Value, &Value), path: &str, found: &mut Vec<String>) {
    if started == now {
        return;
    }
    let fields = schema.get("properties").and_then(Value::as_object);
    let Some(fields) = fields.filter(|_| started.is_object() && now.is_object()) else {
        let length = |list: &Value| list.as_array().map_or(0, Vec::len);
        let needs_restart = match schema.get("x-restart") {
            Some(Value::String(part)) if part == "length" => length(started) != length(now),
            mark => mark == Some(&Value::Bool(true)),
        };
        if needs_restart {
            found.push(path.to_owned());
        }
        return;
    };
    let needs_restart = schema.get("x-restart") == Some(&Value::Bool(true));
    for (name, field) in fields {
        let inner = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        let none = Value::Null;
        let values = (
            started.get(name).unwrap_or(&none),
            now.get(name).unwrap_or(&none),
        );
        if needs_restart && values.0 != values.1 {
            found.push(inner);
        } else {
            compare(field, values, &inner, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changed_values_that_need_a_restart_are_found() {
        let schema = json!({"properties": {
            "scene": {"type": "string"},
            "camera": {"type": "object", "x-restart": true, "properties": {"source": {"type": "string"}}},
            "calibration": {"properties": {"file": {"type": "string", "x-restart": true}, "limit": {}}},
            "outputs": {"type": "array", "x-restart": true},
            "cameras": {"type": "array", "x-restart": "length"}}});
        let started = json!({"scene": "a", "camera": {"source": "b"}, "calibration": {"file": null, "limit": 1}, "outputs": [], "cameras": [1, 2]});
        let now = json!({"scene": "c", "camera": {"source": "d"}, "calibration": {"file": "e", "limit": 2}, "outputs": [1], "cameras": [1, 3]});
        assert_eq!(
            restart_needed(&schema, &started, &now),
            ["calibration.file", "camera.source", "outputs"]
        );
        let fewer = json!({"cameras": [1]});
        assert!(restart_needed(&schema, &started, &fewer).contains(&"cameras".to_owned()));
        assert_eq!(
            restart_needed(&schema, &started, &started),
            Vec::<String>::new()
        );
    }
}
