//! Checks schemas: only keywords from which an editor page can be generated, and a range for every number.

use serde_json::Value;
use shoal_testing::assert_message;

/// The keywords that a schema may contain.
const KEYWORDS: [&str; 19] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "maxProperties",
    "enum",
    "oneOf",
    "const",
    "minimum",
    "maximum",
    "title",
    "description",
    "default",
    "x-unit",
    "x-restart",
    "x-secret",
];

/// Returns all parts of a schema that are incomplete or use other keywords than the allowed ones, each with its path.
pub(super) fn schema_problems(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    find_problems(schema, "", &mut found);
    found
}

fn find_problems(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(map) = schema else {
        found.push(format!(
            "{path}: a schema must be a table, but this is {schema}"
        ));
        return;
    };
    for key in map.keys() {
        if !KEYWORDS.contains(&key.as_str()) {
            found.push(format!("{path}: \"{key}\" is not an allowed keyword"));
        }
    }
    if let Some(Value::Array(variants)) = map.get("oneOf") {
        if !has_tag(variants) {
            found.push(format!(
                "{path}: oneOf without a const property that distinguishes its tables"
            ));
        }
        for (i, variant) in variants.iter().enumerate() {
            find_problems(variant, &format!("{path}/oneOf/{i}"), found);
        }
        return;
    }
    match map.get("type").and_then(Value::as_str) {
        Some("object") => {
            for (name, inner) in map
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                find_problems(inner, &format!("{path}/{name}"), found);
            }
            match map.get("additionalProperties") {
                Some(Value::Bool(false)) => {}
                Some(inner @ Value::Object(_)) => find_problems(inner, &format!("{path}/*"), found),
                _ => found.push(format!(
                    "{path}: a table that accepts any key (deny_unknown_fields is missing)"
                )),
            }
        }
        Some("array") => match map.get("items") {
            Some(inner) => find_problems(inner, &format!("{path}/items"), found),
            None => found.push(format!("{path}: an array without a type for its items")),
        },
        Some("number" | "integer") => {
            if map.get("minimum").and_then(Value::as_f64).is_none()
                || map.get("maximum").and_then(Value::as_f64).is_none()
            {
                found.push(format!("{path}: a number without minimum and maximum (for list items, use `inner(range(…))`)"));
            }
        }
        Some("string" | "boolean") => {}
        other => found.push(format!("{path}: type {other:?} is not allowed")),
    }
}

/// Whether the variants have a property that is a constant string in each of them.
fn has_tag(variants: &[Value]) -> bool {
    let is_tag = |(name, _): (&String, &Value)| {
        let tag = |variant: &Value| variant["properties"][name]["const"].is_string();
        variants.iter().all(tag)
    };
    let first = variants.first().and_then(|v| v["properties"].as_object());
    first.is_some_and(|first| first.iter().any(is_tag))
}

#[test]
fn other_keywords_are_reported() {
    let open = serde_json::json!({"type": "object", "properties": {"pair": {"type": "array", "prefixItems": []}}});
    let found = schema_problems(&open).join("\n");
    assert_message(&found, &["any key", "prefixItems"]);
}
