//! The text of an explanation.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::example::example;
use super::tree::{Node, Step, Use, inside};

/// Width of a line in characters.
const WIDTH: usize = 100;

/// Most users of a key that are named.
const USERS_MAX: usize = 12;

/// Nodes that mean the same at several places: an action of a species is also one of an individual.
pub(super) struct Meaning<'a> {
    pub(super) places: Vec<&'a Node<'a>>,
}

impl<'a> Meaning<'a> {
    pub(super) fn new(node: &'a Node<'a>) -> Self {
        Self { places: vec![node] }
    }

    /// Whether a node means the same.
    pub(super) fn is_like(&self, node: &Node<'_>) -> bool {
        let is_same = |own: &&Node<'_>| own.schema() == node.schema() && own.name() == node.name();
        self.places.first().is_some_and(is_same)
    }

    fn schema(&self) -> &'a Value {
        self.places
            .first()
            .map_or(&Value::Null, |node| node.schema())
    }

    /// The whole explanation.
    pub(super) fn text(&self, uses: &BTreeMap<String, Vec<Use>>) -> String {
        let Some(first) = self.places.first() else {
            return String::new();
        };
        let schema = self.schema();
        let mut text = first.name().to_owned();
        let limits = limits(schema);
        if !limits.is_empty() {
            let _ = write!(text, "   {limits}");
        }
        text.push('\n');
        for node in &self.places {
            text.push_str(&wrapped(&format!("in {}", place(node)), 2));
        }
        text.push('\n');
        for paragraph in paragraphs(description(schema)) {
            let lines = paragraph.replace(" Higher: ", "\nHigher: ");
            for line in lines.replace(" Lower: ", "\nLower: ").lines() {
                text.push_str(&wrapped(line, 2));
            }
        }
        let keys = keys_of(schema);
        if !keys.is_empty() {
            text.push('\n');
            for (name, schema) in keys {
                let _ = writeln!(text, "    {name}   {}", limits_of_key(schema));
                text.push_str(&wrapped(&first_sentence(description(schema)), 8));
            }
        }
        let users = self.users(uses);
        text.push('\n');
        text.push_str(&wrapped(&users, 2));
        if let Some(example) = example(first, uses) {
            let _ = writeln!(text, "  Example of a {} file:", first.kind);
            for line in example.lines() {
                let line = format!("    {line}");
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        text
    }

    pub(super) fn users(&self, uses: &BTreeMap<String, Vec<Use>>) -> String {
        let mut users: Vec<String> = Vec::new();
        for node in &self.places {
            for found in uses.get(&node.path()).into_iter().flatten() {
                let user = match (&found.value, &found.table) {
                    (Value::Object(_), Some(table)) if table != node.name() => {
                        format!("{} ({table})", found.file)
                    }
                    (Value::Object(_), _) => found.file.to_owned(),
                    (Value::Array(items), _) if items.iter().any(Value::is_object) => {
                        found.file.to_owned()
                    }
                    (value, _) => format!("{} ({})", found.file, short(value)),
                };
                if !users.contains(&user) {
                    users.push(user);
                }
            }
        }
        let more = users.len().saturating_sub(USERS_MAX);
        users.truncate(USERS_MAX);
        match (users.is_empty(), more) {
            (true, _) => "No shipped file sets it.".to_owned(),
            (false, 0) => format!("Used by: {}.", users.join(", ")),
            (false, more) => format!("Used by: {} and {more} more.", users.join(", ")),
        }
    }
}

/// Where a node is written: `species: [actions.NAME] with action = "evade_shadow"`.
pub(super) fn place(node: &Node<'_>) -> String {
    let mut header = Vec::new();
    let mut is_item = false;
    let mut kinds = Vec::new();
    let mut key = None;
    for (i, (step, schema)) in node.steps.iter().enumerate() {
        let is_last = i + 1 == node.steps.len();
        match step {
            Step::Key(name) if is_last && !is_table(schema) => key = Some(*name),
            Step::Key(name) => {
                header.push(*name);
                is_item = schema.get("items").is_some();
            }
            Step::Chosen => {
                header.push("NAME");
                is_item = false;
            }
            Step::Item => {}
            Step::Variant(tag, name) => kinds.push(format!("{tag} = \"{name}\"")),
        }
    }
    let mut text = match (header.is_empty(), is_item) {
        (true, _) => format!("{} files, at the top", node.kind),
        (false, true) => format!("{} files: [[{}]]", node.kind, header.join(".")),
        (false, false) => format!("{} files: [{}]", node.kind, header.join(".")),
    };
    if !kinds.is_empty() {
        let _ = write!(text, " with {}", kinds.join(", "));
    }
    if let (Some(key), false) = (key, kinds.is_empty() && header.is_empty()) {
        let _ = write!(text, ", key {key}");
    }
    text
}

/// Whether a key is written as a table or a list of tables.
pub(super) fn is_table(schema: &Value) -> bool {
    let is = |schema: &Value| schema.get("properties").is_some() || schema.get("oneOf").is_some();
    is(schema)
        || schema
            .get("additionalProperties")
            .is_some_and(Value::is_object)
        || schema.get("items").is_some_and(is)
}

/// The keys of a table, or the variants of a list or map of tables.
pub(super) fn keys_of(schema: &Value) -> Vec<(&str, &Value)> {
    let mut keys = Vec::new();
    for (step, inner) in inside(schema) {
        match step {
            Step::Key(name) | Step::Variant(_, name) if inner.get("const").is_none() => {
                keys.push((name, inner));
            }
            Step::Item | Step::Chosen => keys.extend(keys_of(inner)),
            _ => {}
        }
    }
    keys
}

/// Unit, range and default, as far as the schema has them.
pub(super) fn limits(schema: &Value) -> String {
    let mut parts = Vec::new();
    let items = schema.get("items").unwrap_or(&Value::Null);
    let get = |key: &str| schema.get(key).or_else(|| items.get(key));
    if let Some(unit) = schema.get("x-unit").and_then(Value::as_str) {
        parts.push(unit.to_owned());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        parts.push(names.join(" | "));
    }
    if let Some(kinds) = schema.get("oneOf").and_then(Value::as_array) {
        parts.push(format!("table, one of {} kinds", kinds.len()));
    }
    if let (Some(low), Some(high)) = (get("minimum"), get("maximum")) {
        parts.push(format!("{} to {}", short(low), short(high)));
    } else if let Some(word) = schema.get("type").and_then(Value::as_str)
        && parts.is_empty()
    {
        let word = match word {
            "array" if is_table(schema) => "list of tables",
            "array" => "list",
            "object" => "table",
            "boolean" => "true | false",
            "string" => "text",
            other => other,
        };
        parts.push(word.to_owned());
    }
    if let Some(default) = schema.get("default").filter(|_| !is_table(schema)) {
        parts.push(format!("default {}", short(default)));
    }
    parts.join(", ")
}

/// A value as text; `600` instead of `600.0`.
fn short(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => number.to_string(),
        None => value.to_string(),
    }
}

/// Like [`limits`]; empty for a variant.
fn limits_of_key(schema: &Value) -> String {
    match schema.get("title") {
        Some(_) => limits(schema),
        None => String::new(),
    }
}

pub(super) fn description(schema: &Value) -> &str {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default()
}

/// The paragraphs of a description, without marks for bold text. A line break inside a paragraph is a space; an item of a list stays a line of its own.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim().replace("**", "");
        let begins = !is_open || line.starts_with("- ");
        is_open = !line.is_empty();
        match all.last_mut().filter(|_| !begins) {
            Some(last) if is_open => {
                last.push(' ');
                last.push_str(&line);
            }
            _ if is_open => all.push(line),
            _ => {}
        }
    }
    all
}

pub(super) fn first_sentence(text: &str) -> String {
    let whole = paragraphs(text).into_iter().next().unwrap_or_default();
    match whole.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => whole,
    }
}

/// A text in lines of at most [`WIDTH`] characters, each with this many spaces before it.
fn wrapped(text: &str, spaces: usize) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            lines.push('\n');
            width = 0;
        }
        if width == 0 {
            lines.push_str(&" ".repeat(spaces));
            width = spaces;
        } else {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    if width > 0 {
        lines.push('\n');
    }
    lines
}

/// A name with many meanings: where it occurs, with the first sentence of each meaning.
pub(super) fn list(name: &str, meanings: &[Meaning<'_>]) -> String {
    let mut text = format!("{name} has {} meanings:\n", meanings.len());
    for meaning in meanings {
        let Some(first) = meaning.places.first() else {
            continue;
        };
        let _ = writeln!(text, "  {}   {}", first.path(), limits(meaning.schema()));
        text.push_str(&wrapped(&first_sentence(description(meaning.schema())), 6));
    }
    let example = meanings.first().and_then(|m| m.places.first());
    if let Some(node) = example {
        let _ = writeln!(text, "For one of them: shoal explain {}", node.path());
    }
    text
}

/// What can be explained: the parts of each kind of file, and the kinds of tables that one of their keys can have.
pub(super) fn contents(nodes: &[Node<'_>]) -> String {
    let mut text =
        String::from("shoal explain NAME explains a key or a kind of table. The names:\n");
    let mut kind = "";
    for node in nodes.iter().filter(|node| node.steps.len() == 1) {
        if node.kind != kind {
            kind = node.kind;
            let _ = writeln!(text, "\n{kind} files:");
        }
        let line = format!(
            "{}: {}",
            node.name(),
            first_sentence(description(node.schema()))
        );
        text.push_str(&wrapped(&line, 2));
    }
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        if let Some((Step::Variant(tag, name), _)) = node.steps.last() {
            let names = lists.entry(tag).or_default();
            if !names.contains(name) {
                names.push(name);
            }
        }
    }
    for (tag, names) in lists {
        let _ = writeln!(text, "\n{tag}:");
        text.push_str(&wrapped(&names.join(", "), 2));
    }
    text
}
