//! JSON Schema of a parameter struct, reduced to a small set of keywords from which an editor page can be generated.
//!
//! In: a type with `#[derive(JsonSchema)]`. Out: plain JSON. Must not: know any parameter.
//!
//! The keywords after [`schema_of`]: `type` (object, array, string, boolean, number, integer), `properties`,
//! `required`, `additionalProperties` (`false`, or the schema of a map's values), `items`, `minItems`, `maxItems`,
//! `maxProperties`, `enum` of strings, `oneOf` (tables that are distinguished by a `const` string), `minimum`, `maximum`, `title`,
//! `description`, `default`, `x-unit` (from the field name's suffix) and `x-restart`. A test rejects all other keywords.

use std::borrow::Cow;
use std::collections::BTreeMap;

use parking_lot::Mutex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Unit for each suffix of a field name. The first matching suffix applies, so `_per_m` comes before `_m`.
const UNITS: [(&str, &str); 31] = [
    ("_per_sec", "1/s"),
    ("_per_m2", "1/m²"),
    ("_per_m3", "1/m³"),
    ("_per_m", "1/m"),
    ("_mps2", "m/s²"),
    ("_mps", "m/s"),
    ("_m2ps3", "m²/s³"),
    ("_m2", "m²"),
    ("_px2", "px²"),
    ("_secs", "s"),
    ("_mins", "min"),
    ("_hours", "h"),
    ("_ms", "ms"),
    ("_mm", "mm"),
    ("_m", "m"),
    ("_radps", "rad/s"),
    ("_rad", "rad"),
    ("_dps", "°/s"),
    ("_deg", "°"),
    ("_rps", "rad/s"),
    ("_px", "px"),
    ("_hz", "Hz"),
    ("_db", "dB"),
    ("_fps", "1/s"),
    ("_kg", "kg"),
    ("_c", "°C"),
    ("_newtons", "N"),
    ("_n", "N"),
    ("_lengths", "lengths"),
    ("_percent", "%"),
    ("_bytes", "B"),
];

/// Returns the unit for the suffix of a field name; `None` for a name without a unit.
pub fn unit_of_field(name: &str) -> Option<&'static str> {
    UNITS
        .iter()
        .find(|(suffix, _)| name.ends_with(suffix))
        .map(|(_, unit)| *unit)
}

/// Returns the complete schema of a type, without references. It uses only the allowed keywords, as far as the type
/// permits.
///
/// The schema of a scene takes longer to build than a scene takes to parse, and every document needs the schema of its kind. So
/// the schema of each type is built once and kept until the program ends.
pub fn schema_of<T: JsonSchema>() -> &'static Value {
    static SCHEMAS: Mutex<BTreeMap<Cow<'static, str>, &'static Value>> =
        Mutex::new(BTreeMap::new());
    let mut schemas = SCHEMAS.lock();
    let entry = schemas.entry(T::schema_id());
    let &mut schema = entry.or_insert_with(|| Box::leak(Box::new(build::<T>())));
    schema
}

fn build<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    simplify(&mut schema, None);
    schema
}

/// Returns the name of the tag: the property that is a constant string in every variant. `None` if there is no such
/// property.
pub fn tag_of(variants: &[Value]) -> Option<&str> {
    let first = variants.first()?.get("properties")?.as_object()?;
    first
        .keys()
        .map(String::as_str)
        .find(|tag| variants.iter().all(|v| variant_name(v, tag).is_some()))
}

/// Returns the value of the tag in this variant; `None` if the variant does not have this tag.
pub fn variant_name<'a>(variant: &'a Value, tag: &str) -> Option<&'a str> {
    variant.get("properties")?.get(tag)?.get("const")?.as_str()
}

/// Reduces the schema of the field `name`, and all schemas inside it, to the allowed keywords.
fn simplify(schema: &mut Value, name: Option<&str>) {
    let Value::Object(map) = schema else { return };
    drop_null(map);
    merge_constants(map);
    let format = map.remove("format");
    bound(map, format.as_ref().and_then(Value::as_str));
    for key in ["$schema", "examples", "deprecated", "readOnly", "writeOnly"] {
        map.remove(key);
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(default) = map.get_mut("default") {
        shorten(default);
    }
    if let Some(name) = name {
        if let Some(unit) = unit_of_field(name).filter(|_| holds_numbers(map)) {
            map.insert("x-unit".into(), unit.into());
        }
        map.entry("title").or_insert_with(|| label(name).into());
    }
    for (name, inner) in map
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        if inner.get("const").is_none() {
            simplify(inner, Some(name));
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key).filter(|v| v.is_object()) {
            simplify(inner, None);
        }
    }
    for variant in map
        .get_mut("oneOf")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        simplify(variant, None);
    }
}

/// Removes `null` from the schema of an optional value: TOML has no null, an absent key means `None`.
fn drop_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    let Some(Value::Array(any)) = map.get_mut("anyOf") else {
        return;
    };
    any.retain(|v| v.get("type").and_then(Value::as_str) != Some("null"));
    if let [Value::Object(only)] = any.as_slice() {
        let only = only.clone();
        map.remove("anyOf");
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
    }
}

/// Turns a list of documented constants into an `enum`. The descriptions of the constants are appended to the
/// description of the `enum`.
fn merge_constants(map: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = map.get("oneOf") else {
        return;
    };
    let mut names = Vec::new();
    let mut help = String::new();
    for variant in variants {
        let listed = variant.get("enum").and_then(Value::as_array);
        let known = match (variant.get("const"), listed) {
            (Some(name @ Value::String(_)), _) => vec![name.clone()],
            (None, Some(listed)) => listed.clone(),
            _ => return,
        };
        if let (Some(text), [Value::String(name)]) = (
            variant.get("description").and_then(Value::as_str),
            known.as_slice(),
        ) {
            help.push_str(&format!("\n- {name}: {text}"));
        }
        names.extend(known);
    }
    map.remove("oneOf");
    map.insert("type".into(), "string".into());
    map.insert("enum".into(), names.into());
    if !help.is_empty() {
        let text = map
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        map.insert(
            "description".into(),
            format!("{text}{help}").trim_start().into(),
        );
    }
}

/// Adds the range of the Rust type if no range is given. Floats get ±1e6, because no reasonable parameter is larger;
/// large f64 values would become infinite as f32.
fn bound(map: &mut Map<String, Value>, format: Option<&str>) {
    let bounds = match format {
        Some("uint8") => json!([0, u8::MAX]),
        Some("uint16") => json!([0, u16::MAX]),
        Some("uint32") => json!([0, u32::MAX]),
        // The largest integer of TOML is that of i64.
        Some("uint64" | "uint") => json!([0, i64::MAX]),
        Some("int8") => json!([i8::MIN, i8::MAX]),
        Some("int16") => json!([i16::MIN, i16::MAX]),
        Some("int32") => json!([i32::MIN, i32::MAX]),
        Some("int64" | "int") => json!([i64::MIN, i64::MAX]),
        Some("float" | "double") => json!([-1e6, 1e6]),
        _ => return,
    };
    map.entry("minimum").or_insert_with(|| bounds[0].clone());
    map.entry("maximum").or_insert_with(|| bounds[1].clone());
}

/// Shortens a default that was an f32: 0.1 instead of 0.10000000149011612.
fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let Some(wide) = number.as_f64().filter(|_| number.is_f64()) else {
                return;
            };
            let narrow = wide as f32;
            if f64::from(narrow) == wide
                && let Ok(short) = narrow.to_string().parse::<f64>()
            {
                *value = short.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(map) => map.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn holds_numbers(map: &Map<String, Value>) -> bool {
    match map.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => true,
        Some("array") => map
            .get("items")
            .and_then(Value::as_object)
            .is_some_and(holds_numbers),
        _ => false,
    }
}

/// Returns the label of a field name: `flee_distance_m` becomes "Flee distance". The unit is not part of the label.
fn label(name: &str) -> String {
    let bare = UNITS
        .iter()
        .find_map(|(suffix, _)| name.strip_suffix(suffix))
        .filter(|bare| !bare.is_empty())
        .unwrap_or(name);
    let mut letters = bare.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + &letters.as_str().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    #[derive(Default)]
    struct Sample {
        /// How far.
        #[schemars(range(min = 0.1, max = 5.0))]
        reach_m: f32,
        /// How many.
        #[schemars(range(max = 7))]
        count: u32,
        /// Where, if anywhere.
        #[schemars(inner(range(min = -1.0, max = 1.0)))]
        at_m: Option<[f32; 3]>,
        /// Which.
        side: Option<Side>,
        /// By name.
        shapes: BTreeMap<String, Shape>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Side {
        /// Towards the wall.
        Left,
        /// Towards the door.
        Right,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
    enum Shape {
        /// Round.
        Ball {
            /// Size.
            #[schemars(range(min = 0.0, max = 1.0))]
            radius_m: f32,
        },
        /// Nothing.
        Point,
    }

    #[test]
    fn a_schema_is_reduced_to_the_keywords_of_an_editor() {
        let schema = schema_of::<Sample>();
        let of = |name: &str| schema["properties"][name].clone();
        assert_eq!(of("reach_m")["x-unit"], "m");
        assert_eq!(of("reach_m")["title"], "Reach");
        assert_eq!(of("reach_m")["description"], "How far.");
        assert_eq!(of("count")["maximum"], 7);
        assert_eq!(of("count")["minimum"], 0);
        assert_eq!(of("at_m")["type"], "array");
        assert_eq!(of("at_m")["minItems"], 3);
        assert_eq!(of("at_m")["x-unit"], "m");
        assert_eq!(of("side")["enum"], json!(["left", "right"]));
        assert!(
            of("side")["description"]
                .as_str()
                .is_some_and(|d| d.contains("- left: Towards the wall."))
        );
        let variants = of("shapes")["additionalProperties"]["oneOf"].clone();
        let variants = variants.as_array().cloned().unwrap_or_default();
        assert_eq!(tag_of(&variants), Some("kind"));
        assert_eq!(variant_name(&variants[0], "kind"), Some("ball"));
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Open {
        /// Size.
        size: f32,
    }

    /// The schema of a scene was built for every scene and twice for every file, a third of the time until a site was loaded.
    #[test]
    fn the_schema_of_a_type_is_built_once() {
        assert!(std::ptr::eq(schema_of::<Sample>(), schema_of::<Sample>()));
        assert_ne!(schema_of::<Sample>(), schema_of::<Open>());
    }

    #[test]
    fn units_and_labels() {
        assert_eq!(unit_of_field("cruise_mps"), Some("m/s"));
        assert_eq!(unit_of_field("idle_per_sec"), Some("1/s"));
        assert_eq!(unit_of_field("weight"), None);
        assert_eq!(label("still_flee_distance_m"), "Still flee distance");
        assert_eq!(label("depth_m"), "Depth");
    }

    #[test]
    fn defaults_are_shortened() {
        let mut value = json!([f64::from(0.1_f32), 0.1, 3]);
        shorten(&mut value);
        assert_eq!(value, json!([0.1, 0.1, 3]));
    }
}
