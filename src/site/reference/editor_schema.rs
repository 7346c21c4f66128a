//! The schema of one kind of file for text editors (Taplo, VS Code, …): valid JSON Schema, also for a file that `extends` another.

use serde_json::{Value, json};

/// Version of JSON Schema. Editors understand draft 7 best.
const DIALECT: &str = "http://json-schema.org/draft-07/schema#";

/// Returns the schema of a kind of file: `site`, `scene`, `species` or `calibration`. `None` if there is no such kind.
///
/// A file that extends another only contains what differs. So in kinds that have the key `extends`, no key is required, and a
/// table may leave out the key that says of which kind it is: it must then fit at least one kind.
pub fn editor_schema(kind: &str) -> Option<Value> {
    let mut schema = crate::site::schemas().get(kind)?.clone();
    let extends = schema["properties"].get("extends").is_some();
    complete(&mut schema, extends);
    let table = schema.as_object_mut()?;
    table.insert("$schema".into(), DIALECT.into());
    table.insert("title".into(), json!(format!("Shoal: {kind} file")));
    Some(schema)
}

fn complete(schema: &mut Value, extends: bool) {
    let Some(table) = schema.as_object_mut() else {
        return;
    };
    if extends {
        table.remove("required");
        if let Some(variants) = table.remove("oneOf") {
            table.insert("anyOf".into(), variants);
        }
    }
    for key in [
        "properties",
        "items",
        "additionalProperties",
        "oneOf",
        "anyOf",
    ] {
        match table.get_mut(key) {
            Some(Value::Object(inner)) if key == "properties" => {
                inner.values_mut().for_each(|s| complete(s, extends));
            }
            Some(Value::Array(inner)) => inner.iter_mut().for_each(|s| complete(s, extends)),
            Some(inner) => complete(inner, extends),
            None => {}
        }
    }
}
