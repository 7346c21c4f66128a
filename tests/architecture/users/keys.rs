//! Keys of the configuration, their values that are words, and the variants of actions, conditions, effects and shapes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{files, root, texts};

/// A key, value or variant. The same name with the same description is the same thing, wherever it stands.
type Thing = String;

/// The things of the schemas, and those that have a user.
#[derive(Default)]
struct Things {
    /// Where each thing is found first.
    places: BTreeMap<Thing, String>,
    used: BTreeSet<Thing>,
}

/// A part of a schema: how it is reached, and the key that it describes.
#[derive(Clone)]
struct Place {
    path: String,
    key: Thing,
}

impl Place {
    fn at(&self, path: &str) -> Self {
        Self {
            path: format!("{}{path}", self.path),
            key: self.key.clone(),
        }
    }
}

fn thing(name: &str, schema: &Value) -> Thing {
    format!(
        "{name}|{}",
        schema["description"].as_str().unwrap_or_default()
    )
}

fn value_of(key: &Thing, value: &str) -> Thing {
    format!("{key}={value}")
}

/// Returns the name of a variant, such as `seek` for an action; `None` for another schema.
fn variant_name(schema: &Value) -> Option<(&str, &str)> {
    let properties = schema["properties"].as_object()?.iter();
    let mut tags =
        properties.filter_map(|(key, property)| Some((key.as_str(), property["const"].as_str()?)));
    tags.next()
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |key: &str| schema[key].as_array().into_iter().flatten();
    of("oneOf").chain(of("anyOf"))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let all = schema["properties"].as_object().into_iter().flatten();
    all.filter(|(_, property)| property["const"].is_null())
}

impl Things {
    fn note(&mut self, thing: Thing, path: String) {
        self.places.entry(thing).or_insert(path);
    }

    /// Notes all things of a schema.
    fn note_schema(&mut self, schema: &Value, place: &Place) {
        for (name, property) in properties(schema) {
            let key = thing(name, property);
            let path = format!("{}.{name}", place.path);
            self.note(key.clone(), path.clone());
            if let Some(default) = property["default"].as_str() {
                self.used.insert(value_of(&key, default));
            }
            self.note_schema(property, &Place { path, key });
        }
        for (part, path) in [("additionalProperties", ".*"), ("items", "[]")] {
            if schema[part].is_object() {
                self.note_schema(&schema[part], &place.at(path));
            }
        }
        let values = schema["enum"].as_array().into_iter().flatten();
        let values = values.chain(alternatives(schema).map(|one| &one["const"]));
        for value in values.filter_map(Value::as_str) {
            self.note(
                value_of(&place.key, value),
                format!("{} = {value}", place.path),
            );
        }
        for one in alternatives(schema) {
            match variant_name(one) {
                Some((_, name)) => {
                    let at = place.at(&format!(".{name}"));
                    self.note(thing(&format!("({name})"), one), at.path.clone());
                    self.note_schema(one, &at);
                }
                None => self.note_schema(one, place),
            }
        }
    }

    /// Marks the things that a document uses.
    fn use_in(&mut self, document: &Value, schema: &Value, key: &Thing) {
        match document {
            Value::Object(entries) => {
                for (name, entry) in entries {
                    let property = properties(schema).find(|(own, _)| *own == name);
                    if let Some((_, property)) = property {
                        let key = thing(name, property);
                        self.used.insert(key.clone());
                        self.use_in(entry, property, &key);
                    } else if schema["additionalProperties"].is_object() {
                        self.use_in(entry, &schema["additionalProperties"], key);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.use_in(item, &schema["items"], key);
                }
            }
            Value::String(text) => {
                self.used.insert(value_of(key, text));
            }
            _ => {}
        }
        for one in alternatives(schema) {
            match variant_name(one) {
                Some((tag, name)) if document[tag] == *name => {
                    self.used.insert(thing(&format!("({name})"), one));
                    self.use_in(document, one, key);
                }
                Some(_) => {}
                None => self.use_in(document, one, key),
            }
        }
    }

    /// Returns where the things without a user are. A key or a value is also used by its name in `words`; a variant is not.
    fn without_user(&self, words: &BTreeSet<&str>) -> BTreeSet<String> {
        let is_named = |place: &str| {
            words.contains(
                place
                    .rsplit(['.', ' '])
                    .next()
                    .unwrap_or_default()
                    .trim_end_matches("[]"),
            )
        };
        let left = self.places.iter().filter(|(thing, place)| {
            let is_variant = thing.starts_with('(');
            !self.used.contains(*thing) && (is_variant || !is_named(place))
        });
        left.map(|(_, place)| format!("key {place}")).collect()
    }
}

const KINDS: [&str; 3] = ["site", "species", "scene"];

fn things_of(schemas: &Value) -> Things {
    let mut things = Things::default();
    for kind in KINDS {
        let place = Place {
            path: kind.to_owned(),
            key: Thing::new(),
        };
        things.note_schema(&schemas[kind], &place);
    }
    things
}

fn parsed(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap();
    serde_json::to_value(table).unwrap()
}

/// Returns the content of a shipped file, with what a species inherits: an action names its kind only in the base.
fn content(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    let own = parsed(&text);
    let Some(base) = own["extends"].as_str() else {
        return own;
    };
    let beside = path.with_file_name(format!("{base}.toml"));
    let built_in = root().join(format!("config/species/{base}.toml"));
    let mut whole = content(if beside.exists() { &beside } else { &built_in });
    overlay(&mut whole, own);
    whole
}

/// Replaces the values of a table by those of another one.
fn overlay(table: &mut Value, other: Value) {
    match (table, other) {
        (Value::Object(entries), Value::Object(others)) => {
            for (name, value) in others {
                overlay(entries.entry(name).or_insert(Value::Null), value);
            }
        }
        (table, other) => *table = other,
    }
}

pub(super) fn without_user() -> BTreeSet<String> {
    let schemas = shoal::site::schemas();
    let mut things = things_of(&schemas);
    let mut paths = files(&root().join("config"), &[".toml"]);
    paths.extend(files(&root().join("docs"), &[".toml"]));
    for path in paths {
        let folder = path.parent().and_then(|folder| folder.file_name());
        let kind = match folder.and_then(|name| name.to_str()) {
            Some("scenes") => "scene",
            Some("species") => "species",
            _ => "site",
        };
        things.use_in(&content(&path), &schemas[kind], &Thing::new());
    }
    let documents = texts::documents();
    for example in texts::toml_examples(&documents) {
        let example = parsed(&example);
        for schema in KINDS.map(|kind| &schemas[kind]) {
            let mut keys = example.as_object().into_iter().flatten();
            if keys.all(|(key, _)| !schema["properties"][key].is_null()) {
                things.use_in(&example, schema, &Thing::new());
            }
        }
    }
    let (pages, scripts) = (texts::pages(), texts::scripts());
    let code = texts::code_of(&documents);
    let mut words = texts::words(&pages);
    words.extend(texts::words(&scripts));
    words.extend(texts::words(&code));
    things.without_user(&words)
}

#[test]
fn a_made_up_action_key_and_value_are_found() {
    let mut schemas = shoal::site::schemas();
    schemas["site"]["properties"]["made_up_m"] =
        serde_json::json!({"description": "Made up.", "type": "number"});
    schemas["scene"]["properties"]["made_up"] = serde_json::json!({"description": "Made up.", "oneOf": [
        {"const": "used_word"}, {"const": "unused_word"},
        {"properties": {"kind": {"const": "used_kind"}}}, {"properties": {"kind": {"const": "unused_kind"}}}]});
    let mut things = things_of(&schemas);
    for value in [
        serde_json::json!("used_word"),
        serde_json::json!({"kind": "used_kind"}),
    ] {
        let scene = serde_json::json!({"made_up": value});
        things.use_in(&scene, &schemas["scene"], &Thing::new());
    }
    let found = things.without_user(&BTreeSet::new());
    let made_up: Vec<&str> = found
        .iter()
        .map(String::as_str)
        .filter(|name| name.contains("made_up"))
        .collect();
    assert_eq!(
        made_up,
        [
            "key scene.made_up = unused_word",
            "key scene.made_up.unused_kind",
            "key site.made_up_m"
        ]
    );
    let named = things.without_user(&BTreeSet::from(["made_up_m", "unused_kind"]));
    assert!(!named.contains("key site.made_up_m"));
    assert!(
        named.contains("key scene.made_up.unused_kind"),
        "a variant needs an example"
    );
}
