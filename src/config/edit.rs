//! Changes of a document that keep its comments, its order and the look of everything they do not touch.
//!
//! In: a TOML text, the schema of its type, changes of values at paths, given as JSON. Out: the new text, or every change
//! that cannot be made. Must not: decide whether the new text is valid; [`super::parse`] does.

use serde_json::Value as Json;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::convert::{assign, item_of, value_of};
use super::lists::{List, insert_value, settle};
use super::path::{Path, Step};
use super::schema::{tag_of, variant_name};

/// What is to become of the value at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It gets this value; where there is none yet, it is written, with the tables above it.
    Set(Json),
    /// The list at the path gets one more item, before the one at `index`, or at its end.
    Insert {
        /// Place of the new item, counted from 0.
        index: Option<usize>,
        /// The item.
        value: Json,
    },
    /// It is taken out: its default counts again, or the list is one shorter.
    Remove,
    /// The item of a list at the path goes to another place, counted from 0 in the list without it.
    Move {
        /// Its new place.
        to: usize,
    },
}

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Path of the value.
    pub path: String,
    /// What is wrong, and how to mend it.
    pub message: String,
}

/// Makes all changes, in order, or none.
///
/// # Errors
/// Every change that cannot be made, such as one of an item that a list does not have. A text that is no TOML is one too.
pub fn edited(
    text: &str,
    schema: &Json,
    changes: &[(Path, Change)],
) -> Result<String, Vec<Refused>> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        vec![Refused {
            path: String::new(),
            message: format!("the text cannot be changed: {}", e.message()),
        }]
    })?;
    let mut refused = Vec::new();
    for (path, change) in changes {
        if let Err(message) = make(document.as_item_mut(), schema, path, change) {
            refused.push(Refused {
                path: path.to_string(),
                message,
            });
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let mut new = document.to_string();
    // The comment at the head belongs to the file, even where it stands before what was removed.
    let head = head_comment(text);
    if !new.starts_with(head) {
        new = format!("{head}\n{}", new.trim_start_matches('\n'));
    }
    Ok(new)
}

/// The lines of comment before the first empty line or value.
fn head_comment(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with('#') {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// A place in a document that can be gone on from.
enum Place<'a> {
    Item(&'a mut Item),
    Table(&'a mut Table),
    Value(&'a mut Value),
}

impl<'a> Place<'a> {
    fn table(&self) -> Option<&dyn TableLike> {
        match self {
            Self::Item(item) => item.as_table_like(),
            Self::Table(table) => Some(*table),
            Self::Value(value) => value.as_inline_table().map(|t| t as &dyn TableLike),
        }
    }

    fn into_table(self) -> Option<&'a mut dyn TableLike> {
        match self {
            Self::Item(item) => item.as_table_like_mut(),
            Self::Table(table) => Some(table),
            Self::Value(value) => value.as_inline_table_mut().map(|t| t as &mut dyn TableLike),
        }
    }

    /// Whether tables below it may have lines of their own.
    fn is_open(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Item(Item::Table(_)))
    }
}

fn make(root: &mut Item, schema: &Json, path: &Path, change: &Change) -> Result<(), String> {
    let Some((last, above)) = path.0.split_last() else {
        return Err("the path is empty".into());
    };
    let creates = matches!(change, Change::Set(_) | Change::Insert { .. });
    let mut place = Place::Item(root);
    let mut schema = Some(schema);
    for (depth, step) in above.iter().enumerate() {
        schema = schema_below(schema, place.table(), step);
        let shown = Path(path.0[..=depth].to_vec());
        place = down(place, step, creates).ok_or_else(|| format!("there is no {shown}"))?;
    }
    let inner = schema_below(schema, place.table(), last);
    match (change, last) {
        (Change::Set(json), Step::Key(key)) => set_key(place, key, json, inner),
        (Change::Set(json), Step::Item(index)) => set_item(place, *index, json, inner),
        (Change::Insert { index, value }, step) => insert(place, step, (*index, value), inner),
        (Change::Remove, Step::Key(key)) => {
            let table = place.into_table().ok_or("there is no table above it")?;
            let gone = table.remove(key);
            gone.map(drop)
                .ok_or_else(|| "nothing is written there, so nothing can be removed".into())
        }
        (Change::Remove, Step::Item(index)) => list(place)?.remove(*index),
        (Change::Move { to }, Step::Item(index)) => list(place)?.shift(*index, *to),
        (Change::Move { .. }, Step::Key(_)) => {
            Err("only the items of a list have an order; name one, such as needs[2]".into())
        }
    }
}

/// The schema of what a step leads to; of several variants that which the table's tag names.
fn schema_below<'s>(
    schema: Option<&'s Json>,
    table: Option<&dyn TableLike>,
    step: &Step,
) -> Option<&'s Json> {
    let mut schema = schema?;
    if let Some(variants) = schema.get("oneOf").and_then(Json::as_array) {
        let tag = tag_of(variants)?;
        let name = table?.get(tag)?.as_str()?;
        schema = variants
            .iter()
            .find(|v| variant_name(v, tag) == Some(name))?;
    }
    match step {
        Step::Item(_) => schema.get("items"),
        Step::Key(key) => {
            let named = schema.get("properties").and_then(|p| p.get(key));
            named.or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()))
        }
    }
}

fn down<'a>(place: Place<'a>, step: &Step, creates: bool) -> Option<Place<'a>> {
    match step {
        Step::Key(key) => {
            let is_open = place.is_open();
            let table = place.into_table()?;
            if creates && !table.contains_key(key) {
                let mut new = Table::new();
                // Its own line is needed only where it comes to hold values of its own; tables in it have their lines.
                new.set_implicit(true);
                let item = if is_open {
                    Item::Table(new)
                } else {
                    Item::Value(Value::InlineTable(toml_edit::InlineTable::new()))
                };
                table.insert(key, item);
            }
            table.get_mut(key).map(Place::Item)
        }
        Step::Item(index) => match place {
            Place::Item(Item::ArrayOfTables(tables)) => tables.get_mut(*index).map(Place::Table),
            Place::Item(Item::Value(Value::Array(items))) | Place::Value(Value::Array(items)) => {
                items.get_mut(*index).map(Place::Value)
            }
            _ => None,
        },
    }
}

fn set_key(place: Place<'_>, key: &str, json: &Json, schema: Option<&Json>) -> Result<(), String> {
    let is_open = place.is_open();
    let table = place
        .into_table()
        .ok_or("what stands above it is no table")?;
    match table.get_mut(key) {
        Some(item) => assign(item, json, schema, is_open),
        None => {
            let item = item_of(json, schema, is_open)?;
            let is_on_one_line = !is_open && !has_line_breaks(table);
            table.insert(key, item);
            if is_on_one_line {
                table.fmt();
            }
            Ok(())
        }
    }
}

/// Whether a table in braces goes over several lines.
fn has_line_breaks(table: &dyn TableLike) -> bool {
    table.iter().any(|(key, item)| {
        let breaks = |decor: &toml_edit::Decor| {
            let texts = [decor.prefix(), decor.suffix()];
            let mut texts = texts.into_iter().flatten().filter_map(|r| r.as_str());
            texts.any(|text| text.contains('\n'))
        };
        table.key(key).is_some_and(|k| breaks(k.leaf_decor()))
            || item.as_value().is_some_and(|v| breaks(v.decor()))
    })
}

fn set_item(
    place: Place<'_>,
    index: usize,
    json: &Json,
    schema: Option<&Json>,
) -> Result<(), String> {
    let mut list = list(place)?;
    list.has(index)?;
    match &mut list {
        List::Tables(tables) => {
            // A table of a list can only be looked into as an item, so it is one for a moment.
            let mut item = Item::Table(tables.get(index).cloned().unwrap_or_default());
            assign(&mut item, json, schema, true)?;
            if let (Item::Table(new), Some(old)) = (item, tables.get_mut(index)) {
                *old = new;
            }
            settle(tables);
            Ok(())
        }
        List::Values(values) => {
            let Some(value) = values.get_mut(index) else {
                return Ok(());
            };
            let mut item = Item::Value(value.clone());
            assign(&mut item, json, schema, false)?;
            if let Ok(new) = item.into_value() {
                *value = new;
            }
            Ok(())
        }
    }
}

fn insert(
    place: Place<'_>,
    step: &Step,
    (index, json): (Option<usize>, &Json),
    schema: Option<&Json>,
) -> Result<(), String> {
    let is_open = place.is_open();
    let items = schema.and_then(|s| s.get("items"));
    let place = match step {
        Step::Item(_) => down(place, step, true).ok_or("there is no such item")?,
        Step::Key(key) => {
            let table = place
                .into_table()
                .ok_or("what stands above it is no table")?;
            let is_empty = table.get(key).is_none_or(|item| {
                item.is_table_like() && item.as_table_like().is_some_and(TableLike::is_empty)
                    || item.as_array().is_some_and(toml_edit::Array::is_empty)
            });
            if is_empty {
                let new = if is_open && json.is_object() {
                    Item::ArrayOfTables(ArrayOfTables::new())
                } else {
                    Item::Value(Value::Array(toml_edit::Array::new()))
                };
                table.insert(key, new);
            }
            Place::Item(table.get_mut(key).ok_or("there is no such list")?)
        }
    };
    let mut list = list(place)?;
    let count = list.count();
    let index = index.unwrap_or(count);
    if index > count {
        return Err(format!(
            "the list has {count} items, so a new one can stand at 0 to {count}, not at {index}"
        ));
    }
    match &mut list {
        List::Tables(tables) => match item_of(json, items, true)? {
            Item::Table(table) => {
                tables.insert(index, table);
                settle(tables);
                Ok(())
            }
            _ => Err("the items of this list are tables; give an object".into()),
        },
        List::Values(values) => {
            let value = value_of(json, items)?;
            insert_value(values, index, value);
            Ok(())
        }
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "the list lives as long as what the place borrows"
)]
fn list(place: Place<'_>) -> Result<List<'_>, String> {
    match place {
        Place::Item(Item::ArrayOfTables(tables)) => Ok(List::Tables(tables)),
        Place::Item(Item::Value(Value::Array(values))) | Place::Value(Value::Array(values)) => {
            Ok(List::Values(values))
        }
        _ => Err("this is no list".into()),
    }
}

#[cfg(test)]
mod tests;
