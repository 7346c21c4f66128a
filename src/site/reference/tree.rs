//! The schemas as a list of nodes, one for each key and each variant of a table, and the values of the shipped files by node.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config::{tag_of, variant_name};
use crate::site::builtin;

/// One step from a schema to a schema inside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step<'a> {
    /// A key of a table.
    Key(&'a str),
    /// An item of a list.
    Item,
    /// A key that the author of the file chooses.
    Chosen,
    /// One of several kinds of tables: the key that says which, and its value.
    Variant(&'a str, &'a str),
}

/// A key or a variant of a table.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    /// Kind of file: `species`.
    pub(super) kind: &'a str,
    /// Schema of the whole file.
    pub(super) root: &'a Value,
    /// The steps from the root, each with the schema that it leads to.
    pub(super) steps: Vec<(Step<'a>, &'a Value)>,
}

impl<'a> Node<'a> {
    /// The schema of the node itself.
    pub(super) fn schema(&self) -> &'a Value {
        self.steps.last().map_or(self.root, |(_, schema)| schema)
    }

    /// The names of the keys and variants on the way, without lists and chosen keys.
    pub(super) fn names(&self) -> impl DoubleEndedIterator<Item = &'a str> {
        self.steps.iter().filter_map(|(step, _)| match step {
            Step::Key(name) | Step::Variant(_, name) => Some(*name),
            Step::Item | Step::Chosen => None,
        })
    }

    /// The name of the node itself.
    pub(super) fn name(&self) -> &'a str {
        self.names().next_back().unwrap_or(self.kind)
    }

    /// The way as text, the key of [`shipped_uses`].
    pub(super) fn path(&self) -> String {
        let names: Vec<&str> = [self.kind].into_iter().chain(self.names()).collect();
        names.join(".")
    }

    /// Whether the last names of the way are these words. The first word may be the kind of file.
    pub(super) fn is_named(&self, words: &[&str]) -> bool {
        let mut names = [self.kind].into_iter().chain(self.names()).rev();
        !words.is_empty() && words.iter().rev().all(|word| names.next() == Some(word))
    }

    /// Whether the node has the last of these words as its name, and the others are on its way in this order. A way to a key of a table
    /// that has a kind, such as an action, need not name the kind; `NAME` stands for a name that the author of a file chooses.
    pub(super) fn is_below(&self, words: &[&str]) -> bool {
        let mut names = [self.kind].into_iter().chain(self.names()).rev();
        let mut words = words.iter().rev().filter(|word| **word != "NAME");
        let own = words.next();
        own.copied() == names.next() && words.all(|word| names.any(|name| name == *word))
    }

    /// Whether the node is a key with a fixed set of values, and this word is one of them.
    pub(super) fn accepts(&self, word: &str) -> bool {
        let values = self.schema().get("enum").and_then(Value::as_array);
        values.is_some_and(|values| values.iter().any(|value| value.as_str() == Some(word)))
    }
}

/// Returns all nodes of the schemas, in their order.
pub(super) fn nodes(schemas: &Value) -> Vec<Node<'_>> {
    let mut all = Vec::new();
    for (kind, root) in schemas.as_object().into_iter().flatten() {
        let mut node = Node {
            kind,
            root,
            steps: Vec::new(),
        };
        collect(&mut node, root, &mut all);
    }
    all
}

fn collect<'a>(node: &mut Node<'a>, schema: &'a Value, all: &mut Vec<Node<'a>>) {
    for (step, inner) in inside(schema) {
        node.steps.push((step, inner));
        let is_tag = inner.get("const").is_some();
        if matches!(step, Step::Key(_) | Step::Variant(..)) && !is_tag {
            all.push(node.clone());
        }
        collect(node, inner, all);
        node.steps.pop();
    }
}

/// Returns the steps from a schema to the schemas inside it.
pub(super) fn inside(schema: &Value) -> Vec<(Step<'_>, &Value)> {
    let mut steps = Vec::new();
    let keys = schema.get("properties").and_then(Value::as_object);
    steps.extend(keys.into_iter().flatten().map(|(k, s)| (Step::Key(k), s)));
    let chosen = schema.get("additionalProperties").filter(|s| s.is_object());
    steps.extend(chosen.map(|s| (Step::Chosen, s)));
    steps.extend(schema.get("items").map(|s| (Step::Item, s)));
    let variants = schema.get("oneOf").and_then(Value::as_array);
    if let Some((variants, tag)) = variants.and_then(|v| Some((v, tag_of(v)?))) {
        let named = |v| Some((Step::Variant(tag, variant_name(v, tag)?), v));
        steps.extend(variants.iter().filter_map(named));
    }
    steps
}

/// A value of a shipped file.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// Name of the file without its extension: `koi`.
    pub(super) file: &'static str,
    /// Name of the table, if the author of the file chose it.
    pub(super) table: Option<String>,
    /// The value.
    pub(super) value: Value,
}

/// The values of the shipped files by [`Node::path`]. Inherited values count only for the file that writes them.
pub(super) fn shipped_uses(schemas: &Value) -> BTreeMap<String, Vec<Use>> {
    let mut uses = BTreeMap::new();
    let built_in = |kind, files: &'static [(&'static str, &'static str)]| {
        files.iter().map(move |&(file, text)| (kind, file, text))
    };
    let files = built_in("site", &[("demo", builtin::SITE)])
        .chain(built_in("scene", builtin::SCENES))
        .chain(built_in("species", builtin::SPECIES))
        .chain(builtin::EXAMPLES.iter().copied());
    for (kind, file, text) in files {
        let Some(schema) = schemas.get(kind) else {
            continue;
        };
        let value = toml::from_str::<toml::Table>(text).ok();
        if let Some(value) = value.and_then(|table| serde_json::to_value(table).ok()) {
            let mut reader = Reader {
                file,
                table: None,
                uses: &mut uses,
            };
            reader.read(schema, &value, kind);
        }
    }
    uses
}

struct Reader<'u> {
    file: &'static str,
    table: Option<String>,
    uses: &'u mut BTreeMap<String, Vec<Use>>,
}

impl Reader<'_> {
    fn read(&mut self, schema: &Value, value: &Value, path: &str) {
        for (step, inner) in inside(schema) {
            match (step, value) {
                (Step::Key(name), Value::Object(map)) => {
                    if let Some(value) = map.get(name) {
                        self.note(inner, value, &format!("{path}.{name}"));
                    }
                }
                (Step::Variant(tag, name), Value::Object(map))
                    if map.get(tag).and_then(Value::as_str) == Some(name) =>
                {
                    self.note(inner, value, &format!("{path}.{name}"));
                }
                (Step::Item, Value::Array(items)) => {
                    for item in items {
                        self.read(inner, item, path);
                    }
                }
                (Step::Chosen, Value::Object(map)) => {
                    for (name, value) in map {
                        let outer = self.table.replace(name.clone());
                        self.read(inner, value, path);
                        self.table = outer;
                    }
                }
                _ => {}
            }
        }
    }

    fn note(&mut self, schema: &Value, value: &Value, path: &str) {
        let uses = self.uses.entry(path.to_owned()).or_default();
        uses.push(Use {
            file: self.file,
            table: self.table.clone(),
            value: value.clone(),
        });
        self.read(schema, value, path);
    }
}
