//! Checks the raw tree of a TOML text against the schema of a type and reports every difference.
//!
//! In: the tree with positions, a schema that uses only the allowed keywords, the texts (for quotes in messages). Out:
//! findings. Must not: stop at the first finding, know any parameter.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::schema::{tag_of, variant_name};
use super::shown::shown;
use super::spans::Spans;
use super::suggest::{nearest_name, suggestion};

/// One difference between tree and schema, at a byte range of the text.
pub(super) struct Finding {
    pub(super) span: Range<usize>,
    pub(super) path: String,
    pub(super) message: String,
    pub(super) kind: FindingKind,
}

/// Kind of a difference between tree and schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingKind {
    /// A value is missing.
    Absent,
    /// The table has no such key.
    UnknownKey,
    /// A list or table has more entries than its limit.
    Oversized,
    /// A value is wrong in another way.
    Wrong,
}

/// Returns all differences between a tree and a schema, in the order of the keys.
pub(super) fn validate(tree: &DeTable<'_>, schema: &Value, texts: &Spans) -> Vec<Finding> {
    let mut check = Check {
        texts,
        whole: schema,
        found: Vec::new(),
        unknown_keys: 0,
    };
    check.table(tree, 0..0, schema, "");
    check.found
}

struct Check<'t> {
    texts: &'t Spans,
    /// Schema of the whole text.
    whole: &'t Value,
    found: Vec<Finding>,
    /// Number of keys that are not known.
    unknown_keys: usize,
}

/// Largest number of unknown keys for which the most similar key is searched.
const EXPLAINED_MAX: usize = 200;

impl Check<'_> {
    fn find(&mut self, span: Range<usize>, path: &str, message: String) {
        self.find_kind(FindingKind::Wrong, span, path, message);
    }

    fn find_kind(&mut self, kind: FindingKind, span: Range<usize>, path: &str, message: String) {
        self.found.push(Finding {
            span,
            path: path.into(),
            message,
            kind,
        });
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &Value, path: &str) {
        let span = value.span();
        let kind = schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("object");
        match (kind, value.get_ref()) {
            ("object", DeValue::Table(table)) => self.table(table, span, schema, path),
            ("array", DeValue::Array(items)) => {
                if !self.length(items, span, schema, path) {
                    return;
                }
                for (i, item) in items.iter().enumerate() {
                    // Items have the unit of the list's field.
                    if let Some(inner) = schema.get("items") {
                        let inner = with_unit_of(inner, schema);
                        self.value(item, &inner, &format!("{path}[{i}]"));
                    }
                }
            }
            ("string", DeValue::String(word)) => self.word(word, span, schema, path),
            ("boolean", DeValue::Boolean(_)) => {}
            ("number", DeValue::Float(number)) => {
                self.number(number.as_str().parse().ok(), span, schema, path);
            }
            ("number" | "integer", DeValue::Integer(number)) => {
                let exact = i64::from_str_radix(number.as_str(), number.radix()).ok();
                match exact {
                    Some(exact) => self.number(Some(exact as f64), span, schema, path),
                    None => self.number(None, span, schema, path),
                }
            }
            ("object", DeValue::Array(_)) if self.texts.text_at(&span).starts_with("[[") => {
                let name = without_places(path);
                let message = format!("this is one table; write [{name}] with one bracket");
                self.find(span, path, message);
            }
            // The heading of a list of tables has two brackets.
            ("array", DeValue::Table(table)) if is_list_of_tables(schema) => {
                let name = without_places(path);
                let message = match self.texts.text_at(&span).starts_with('{') {
                    true => "a table; expected a list of tables; put it in [ ]".to_owned(),
                    false => {
                        format!("this is a list of tables; write [[{name}]] with two brackets")
                    }
                };
                self.find(span.clone(), path, message);
                if let Some(inner) = schema.get("items") {
                    self.table(table, span, inner, &format!("{path}[0]"));
                }
            }
            (_, found) => {
                let message = self.wrong_type(found, &span, schema);
                self.find(span, path, message);
            }
        }
    }

    fn table(&mut self, table: &DeTable<'_>, span: Range<usize>, schema: &Value, path: &str) {
        if let Some(variants) = schema.get("oneOf").and_then(Value::as_array) {
            if let Some(variant) = self.variant(table, span.clone(), variants, path) {
                self.table(table, span, variant, path);
            }
            return;
        }
        let most = schema.get("maxProperties").and_then(Value::as_u64);
        if let Some(most) = most.filter(|&most| table.len() as u64 > most) {
            let message = format!("has {} entries; allowed: at most {most}", table.len());
            self.find_kind(FindingKind::Oversized, span, path, message);
            return;
        }
        let none = Map::new();
        let known = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        for (key, value) in table {
            let name: &str = key.get_ref();
            let inner = if path.is_empty() {
                name.to_string()
            } else {
                format!("{path}.{name}")
            };
            match (known.get(name), schema.get("additionalProperties")) {
                // This key is the tag. It was checked when the variant was chosen.
                (Some(schema), _) if schema.get("const").is_some() => {}
                (Some(schema), _) => self.value(value, schema, &inner),
                (None, Some(Value::Bool(false)) | None) => {
                    let message = match self.unknown_keys < EXPLAINED_MAX {
                        true => self.unknown_key(name, known),
                        false => "unknown key".to_owned(),
                    };
                    self.unknown_keys += 1;
                    self.find_kind(FindingKind::UnknownKey, key.span(), &inner, message);
                }
                (None, Some(schema)) => {
                    self.check_line(name, &key.span(), &Value::Null, &inner);
                    self.value(value, schema, &inner);
                }
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(name) {
                let expected = known
                    .get(name)
                    .map_or(String::new(), |s| format!("; expected {}", expected(s)));
                let message = format!("\"{name}\" is missing{expected}");
                self.find_kind(FindingKind::Absent, span.clone(), path, message);
            }
        }
    }

    /// Returns the variant that the table's tag names. If the tag is missing or unknown, adds a finding and returns
    /// `None`.
    fn variant<'s>(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
        variants: &'s [Value],
        path: &str,
    ) -> Option<&'s Value> {
        let tag = tag_of(variants)?;
        let names: Vec<&str> = variants
            .iter()
            .filter_map(|v| variant_name(v, tag))
            .collect();
        let Some(written) = table.get(tag) else {
            let message = format!(
                "\"{tag}\" is missing; it selects the kind: one of {}",
                names.join(", ")
            );
            self.find_kind(FindingKind::Absent, span, path, message);
            return None;
        };
        let DeValue::String(word) = written.get_ref() else {
            let quoted = self.quote(&written.span());
            let message = format!(
                "{quoted} is not a text; expected one of {}",
                names.join(", ")
            );
            self.find(written.span(), &format!("{path}.{tag}"), message);
            return None;
        };
        let found = variants.iter().find(|v| variant_name(v, tag) == Some(word));
        if found.is_none() {
            let message = unknown_name(word, &names);
            self.find(written.span(), &format!("{path}.{tag}"), message);
        }
        found
    }

    /// Checks the length of a list. Returns whether its items are to be checked.
    fn length(
        &mut self,
        items: &DeArray<'_>,
        span: Range<usize>,
        schema: &Value,
        path: &str,
    ) -> bool {
        let length = items.len();
        let min = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let max = schema
            .get("maxItems")
            .and_then(Value::as_u64)
            .unwrap_or(u64::MAX);
        if (min..=max).contains(&(length as u64)) {
            return true;
        }
        let allowed = match (min, max) {
            (min, max) if min == max => format!("exactly {min}"),
            (min, u64::MAX) => format!("at least {min}"),
            (0, max) => format!("at most {max}"),
            (min, max) => format!("{min} to {max}"),
        };
        let is_oversized = length as u64 > max;
        let kind = match is_oversized {
            true => FindingKind::Oversized,
            false => FindingKind::Wrong,
        };
        let is_whole = |item: &Spanned<DeValue<'_>>| matches!(item.get_ref(), DeValue::Integer(_));
        let hint = match max.checked_mul(2) == Some(length as u64) && items.iter().all(is_whole) {
            true => "; a number has a decimal point, not a comma",
            false => "",
        };
        let names = match schema.get("items") {
            Some(items) if (min, max) == (3, 3) && unit(&with_unit_of(items, schema)) == " m" => {
                ": x, y (up) and z, in m"
            }
            _ => "",
        };
        let message = format!("has {length} items; allowed: {allowed}{names}{hint}");
        self.find_kind(kind, span, path, message);
        !is_oversized
    }

    fn word(&mut self, word: &str, span: Range<usize>, schema: &Value, path: &str) {
        if word.contains('\0') {
            let message =
                "contains the character NUL, which no name and no path can have; remove it";
            self.find(span, path, message.into());
            return;
        }
        self.check_line(word, &span, schema, path);
        let Some(names) = schema.get("enum").and_then(Value::as_array) else {
            return;
        };
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        if !names.contains(&word) {
            self.find(span, path, unknown_name(word, &names));
        }
    }

    /// Checks that a text is one line without control characters: it can be a part of a line in a terminal, a log or a table.
    fn check_line(&mut self, text: &str, span: &Range<usize>, schema: &Value, path: &str) {
        if text.chars().any(char::is_control) {
            let named = match is_secret(schema) {
                true => "this".to_owned(),
                false => format!("\"{}\"", shown(text)),
            };
            let message = format!(
                "{named} contains a line break, a tab or another control character; write a text in one line"
            );
            self.find(span.clone(), path, message);
        }
    }

    fn number(&mut self, number: Option<f64>, span: Range<usize>, schema: &Value, path: &str) {
        let quoted = self.quote(&span);
        let message = match number {
            Some(n) if n.is_finite() => {
                let low = bound(schema, "minimum").is_some_and(|min| n < min);
                let high = bound(schema, "maximum").is_some_and(|max| n > max);
                if !low && !high {
                    return;
                }
                let unit = unit(schema);
                let other = if high {
                    other_unit(n, schema)
                } else {
                    String::new()
                };
                // A number in another unit is already explained.
                let usual = if other.is_empty() {
                    usual(schema)
                } else {
                    other
                };
                format!(
                    "{quoted}{unit} is too {}; allowed: {}{usual}",
                    if low { "small" } else { "large" },
                    allowed(schema),
                )
            }
            Some(_) => format!(
                "{quoted} is not a finite number; allowed: {}",
                allowed(schema)
            ),
            None => format!("{quoted} is too large; allowed: {}", allowed(schema)),
        };
        self.find(span, path, message);
    }

    fn wrong_type(&self, found: &DeValue<'_>, span: &Range<usize>, schema: &Value) -> String {
        let found_type = match found {
            DeValue::Table(_) | DeValue::Array(_) => type_name(found).to_owned(),
            _ if is_secret(schema) => {
                format!("this is {}", type_name(found))
            }
            _ => format!("{} is {}", self.quote(span), type_name(found)),
        };
        let hint = match (schema.get("type").and_then(Value::as_str), found) {
            (Some("number" | "integer"), DeValue::String(_)) => {
                "; write the number without quotation marks and without a unit, the key names the unit"
            }
            (
                Some("string"),
                DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_),
            ) => "; put it in quotation marks",
            (Some("boolean"), DeValue::String(_)) => "; write it without quotation marks",
            (Some("array"), _) if !is_list_of_tables(schema) => "; put it in [ ]",
            _ => "",
        };
        format!("{found_type}; expected {}{hint}", expected(schema))
    }

    /// Returns the message about a key that a table does not have: the most similar key of the table, and the tables that have it.
    fn unknown_key(&self, name: &str, known: &Map<String, Value>) -> String {
        let mut places = Vec::new();
        tables_with(self.whole, name, "", &mut places);
        let name = shown(name);
        let near = suggestion(&name, known.keys().map(String::as_str));
        let near = near + &unit_of_meant(&name, known);
        let place = match places.as_slice() {
            [] => String::new(),
            [place, ..] if place.is_empty() => {
                "; move this line to the top of the file, above the first heading [ ]".into()
            }
            [_, _, _, _, ..] => String::new(),
            few => format!("; \"{name}\" belongs below {}", few.join(" or ")),
        };
        if !near.is_empty() || !place.is_empty() {
            return format!("unknown key \"{name}\"{near}{place}");
        }
        if known.is_empty() {
            return format!("unknown key \"{name}\"; no key is allowed here");
        }
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        format!("unknown key \"{name}\"; allowed here: {}", names.join(", "))
    }

    /// Returns a part of the user's text on one line, shortened.
    fn quote(&self, span: &Range<usize>) -> String {
        shown(self.texts.text_at(span).trim())
    }
}

/// Returns the schema of a list's items, with the unit of the list if the items have none.
fn with_unit_of(items: &Value, list: &Value) -> Value {
    let mut items = items.clone();
    if let (Some(unit), Value::Object(map)) = (list.get("x-unit"), &mut items) {
        map.entry("x-unit").or_insert_with(|| unit.clone());
    }
    items
}

/// Whether a message must not repeat the value: messages are in the log and in events, which more people see than the file.
fn is_secret(schema: &Value) -> bool {
    schema.get("x-secret").is_some()
}

fn bound(schema: &Value, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

fn unit(schema: &Value) -> String {
    schema
        .get("x-unit")
        .and_then(Value::as_str)
        .map_or(String::new(), |u| format!(" {u}"))
}

/// Returns the end of a message about a number that is too large: the number in the unit of the key, if it seems to be in another one.
fn other_unit(number: f64, schema: &Value) -> String {
    let fits = |n: f64| {
        bound(schema, "minimum").is_none_or(|min| n >= min)
            && bound(schema, "maximum").is_some_and(|max| n <= max)
    };
    let is_whole = schema.get("type").and_then(Value::as_str) == Some("integer");
    let unit = unit(schema);
    let (parts, other) = match unit.as_str() {
        _ if is_whole => return String::new(),
        " m" if number < 1000.0 => (100.0, "cm"),
        " m" => (1000.0, "mm"),
        // A share of the whole.
        "" if bound(schema, "maximum").is_some_and(|max| max <= 1.0) => (100.0, "%"),
        _ => return String::new(),
    };
    // Smaller numbers are rarely written in the smaller unit.
    if number < parts / 10.0 || !fits(number / parts) {
        return String::new();
    }
    let converted = (number / parts * 1e4).round() / 1e4;
    format!("; {number} {other} are {converted}{unit}")
}

/// Returns the end of a message about a number out of range: the default, so that nobody has to guess.
fn usual(schema: &Value) -> String {
    let default = schema.get("default").filter(|default| default.is_number());
    default.map_or_else(String::new, |default| {
        format!("; the default is {}{}", plain(default), unit(schema))
    })
}

/// Returns the allowed range of a number in words, with its unit.
fn allowed(schema: &Value) -> String {
    let unit = unit(schema);
    let whole = if schema.get("type").and_then(Value::as_str) == Some("integer") {
        "a whole number"
    } else {
        "a number"
    };
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(min), Some(max)) => format!("{} to {}{unit}", plain(min), plain(max)),
        (Some(min), None) => format!("{whole} from {}{unit}", plain(min)),
        (None, Some(max)) => format!("{whole} up to {}{unit}", plain(max)),
        (None, None) => format!("{whole}{unit}"),
    }
}

/// Returns a number as text, without an unnecessary decimal part: 4 instead of 4.0.
fn plain(number: &Value) -> String {
    match number.as_f64() {
        Some(n) if !number.is_i64() && !number.is_u64() => n.to_string(),
        _ => number.to_string(),
    }
}

/// Returns the expected type in words, with the allowed range of a number.
fn expected(schema: &Value) -> String {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", names.join(", "));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("number") => format!("a number ({})", allowed(schema)),
        Some("integer") => format!("a whole number ({})", allowed(schema)),
        Some("string") => "a text".into(),
        Some("boolean") => "true or false".into(),
        Some("array") => match schema.get("items") {
            Some(items) if is_list_of_tables(schema) && !sample(items).is_empty() => {
                format!("a list of tables, like [{}]", sample(items))
            }
            _ => "a list".into(),
        },
        _ => match sample(schema).as_str() {
            "" => "a table".into(),
            sample => format!("a table, like {sample}"),
        },
    }
}

/// Returns how a table is written, with the keys that it must have: `{ from = …, to = … }`; empty if it must have none.
fn sample(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let names: Vec<String> = (required.into_iter().flatten())
        .filter_map(|name| Some(format!("{} = …", name.as_str()?)))
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("{{ {} }}", names.join(", ")),
    }
}

/// Returns the type of a value in words.
fn type_name(found: &DeValue<'_>) -> &'static str {
    match found {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn is_list_of_tables(schema: &Value) -> bool {
    let items = schema.get("items");
    items.is_some_and(|items| items.get("type").is_none_or(|kind| kind == "object"))
}

/// Returns a path without the places in lists, as the heading of a table has it.
fn without_places(path: &str) -> String {
    let names = path
        .split('[')
        .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    names.collect()
}

/// Collects the headings of all tables that have a key; an empty one for the top of the file. Tables with names of the user are left out.
fn tables_with(schema: &Value, key: &str, heading: &str, found: &mut Vec<String>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    if properties.contains_key(key) {
        found.push(heading.to_owned());
    }
    for (name, inner) in properties {
        let name = match heading.trim_matches(['[', ']']) {
            "" => name.clone(),
            outer => format!("{outer}.{name}"),
        };
        match inner.get("items") {
            Some(items) if is_list_of_tables(inner) => {
                tables_with(items, key, &format!("[[{name}]]"), found);
            }
            _ => tables_with(inner, key, &format!("[{name}]"), found),
        }
    }
}

/// Returns the unit of the key that is probably meant, if the unknown key names another one: `guide_cm` for `guide_m`.
fn unit_of_meant(name: &str, known: &Map<String, Value>) -> String {
    let stem = |name: &str| name.rsplit_once('_').map(|(stem, _)| stem.to_owned());
    let Some((meant, schema)) = nearest_name(name, known.keys().map(String::as_str))
        .and_then(|meant| Some((meant, known.get(meant)?)))
    else {
        return String::new();
    };
    match unit(schema).as_str() {
        "" => String::new(),
        unit if stem(name).is_some() && stem(name) == stem(meant) => {
            format!(" Its unit is{unit}: change the number too.")
        }
        _ => String::new(),
    }
}

/// Number of names from which a list of them is sorted, so that a name is found.
const SORTED_MIN: usize = 13;

fn unknown_name(word: &str, names: &[&str]) -> String {
    let word = shown(word);
    let meant = suggestion(&word, names.iter().copied());
    let mut names = names.to_vec();
    if names.len() >= SORTED_MIN {
        names.sort_unstable();
    }
    format!("\"{word}\" is not one of {}{meant}", names.join(", "))
}
