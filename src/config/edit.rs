//! Applies changes to a TOML text and keeps its comments, its order and the formatting of all untouched parts.
//!
//! In: a TOML text, the schema of its type, changes of values at paths, given as JSON. Out: the new text, or every change
//! that cannot be applied. Must not: decide whether the new text is valid; [`super::parse`] does.

use serde_json::Value as Json;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::convert::{assign, item_of, value_of};
use super::lists::{List, align_positions, insert_value};
use super::path::{PathSegment, ValuePath};
use super::schema::{tag_of, variant_name};

/// A change of the value at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum TextChange {
    /// Sets the value. If the text does not contain the key yet, the key is added, together with missing parent
    /// tables.
    Set(Json),
    /// Inserts an item into the list at the path: before the item at `index`, or at the end if `index` is `None`.
    Insert {
        /// Index of the new item, counted from 0.
        index: Option<usize>,
        /// The new item.
        value: Json,
    },
    /// Removes the key, so that its default applies again, or removes the item from its list.
    Remove,
    /// Moves the list item at the path to another index.
    Move {
        /// New index of the item, counted from 0 in the list without this item.
        to: usize,
    },
}

/// A change that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedChange {
    /// Path of the value.
    pub path: String,
    /// The problem and its fix.
    pub message: String,
}

/// Applies all changes in order, or none of them.
///
/// # Errors Every change that cannot be applied, for example a change of a missing list item. One error if the text
/// is not valid TOML.
pub fn apply_changes(
    text: &str,
    schema: &Json,
    changes: &[(ValuePath, TextChange)],
) -> Result<String, Vec<RejectedChange>> {
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        vec![RejectedChange {
            path: String::new(),
            message: format!(
                "the text is not valid TOML, so it cannot be changed: {}",
                e.message()
            ),
        }]
    })?;
    let mut rejected = Vec::new();
    for (path, change) in changes {
        if let Err(message) = apply_change(document.as_item_mut(), schema, path, change) {
            rejected.push(RejectedChange {
                path: path.to_string(),
                message,
            });
        }
    }
    if !rejected.is_empty() {
        return Err(rejected);
    }
    let mut new = document.to_string();
    // The comment at the top belongs to the file, even if the key below it was removed.
    let head = head_comment(text);
    if !new.starts_with(head) {
        new = format!("{head}\n{}", new.trim_start_matches('\n'));
    }
    Ok(new)
}

/// Returns the comment lines at the top of the file, up to the first line that is not a comment.
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

/// A mutable node of a document, from which the next path segment leads one level down.
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

    /// Whether tables inside this node can have heading lines of their own. Tables inside braces cannot.
    fn is_open(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Item(Item::Table(_)))
    }
}

fn apply_change(
    root: &mut Item,
    schema: &Json,
    path: &ValuePath,
    change: &TextChange,
) -> Result<(), String> {
    let Some((last, above)) = path.0.split_last() else {
        return Err("the path is empty".into());
    };
    let creates = matches!(change, TextChange::Set(_) | TextChange::Insert { .. });
    let mut place = Place::Item(root);
    let mut schema = Some(schema);
    for (depth, step) in above.iter().enumerate() {
        schema = schema_below(schema, place.table(), step);
        let shown = ValuePath(path.0[..=depth].to_vec());
        place =
            down(place, step, creates).ok_or_else(|| format!("there is no value at {shown}"))?;
    }
    let inner = schema_below(schema, place.table(), last);
    match (change, last) {
        (TextChange::Set(json), PathSegment::Key(key)) => set_key(place, key, json, inner),
        (TextChange::Set(json), PathSegment::Item(index)) => set_item(place, *index, json, inner),
        (TextChange::Insert { index, value }, step) => insert(place, step, (*index, value), inner),
        (TextChange::Remove, PathSegment::Key(key)) => {
            let table = place.into_table().ok_or("the parent is not a table")?;
            let gone = table.remove(key);
            gone.map(drop)
                .ok_or_else(|| "the key is not in the text, so it cannot be removed".into())
        }
        (TextChange::Remove, PathSegment::Item(index)) => list(place)?.remove(*index),
        (TextChange::Move { to }, PathSegment::Item(index)) => list(place)?.shift(*index, *to),
        (TextChange::Move { .. }, PathSegment::Key(_)) => {
            Err("only list items can be moved; give the path of one, such as needs[2]".into())
        }
    }
}

/// Returns the schema of the value that a path segment leads to; `None` if it is unknown. If the schema has several
/// variants, the tag in the table selects one.
fn schema_below<'s>(
    schema: Option<&'s Json>,
    table: Option<&dyn TableLike>,
    step: &PathSegment,
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
        PathSegment::Item(_) => schema.get("items"),
        PathSegment::Key(key) => {
            let named = schema.get("properties").and_then(|p| p.get(key));
            named.or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()))
        }
    }
}

/// Returns the node that one path segment leads to; `None` if it does not exist. With `creates`, a missing key is
/// created as an empty table.
fn down<'a>(place: Place<'a>, step: &PathSegment, creates: bool) -> Option<Place<'a>> {
    match step {
        PathSegment::Key(key) => {
            let is_open = place.is_open();
            let table = place.into_table()?;
            if creates && !table.contains_key(key) {
                let mut new = Table::new();
                // An implicit table has no heading line. It gets a heading line when it receives values of its own.
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
        PathSegment::Item(index) => match place {
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
    let table = place.into_table().ok_or("the parent is not a table")?;
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

/// Whether a table in braces is written over several lines.
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
    list.check_index(index)?;
    match &mut list {
        List::Tables(tables) => {
            // `assign` needs an `Item`, so a copy of the table is wrapped in an `Item` and then put back.
            let mut item = Item::Table(tables.get(index).cloned().unwrap_or_default());
            assign(&mut item, json, schema, true)?;
            if let (Item::Table(new), Some(old)) = (item, tables.get_mut(index)) {
                *old = new;
            }
            align_positions(tables);
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
    step: &PathSegment,
    (index, json): (Option<usize>, &Json),
    schema: Option<&Json>,
) -> Result<(), String> {
    let is_open = place.is_open();
    let items = schema.and_then(|s| s.get("items"));
    let place = match step {
        PathSegment::Item(_) => {
            down(place, step, true).ok_or("there is no item with this index")?
        }
        PathSegment::Key(key) => {
            let table = place.into_table().ok_or("the parent is not a table")?;
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
            Place::Item(table.get_mut(key).ok_or("there is no list at this path")?)
        }
    };
    let mut list = list(place)?;
    let count = list.count();
    let index = index.unwrap_or(count);
    if index > count {
        return Err(format!(
            "the list has {count} items; the index of a new one can be 0 to {count}, not {index}"
        ));
    }
    match &mut list {
        List::Tables(tables) => match item_of(json, items, true)? {
            Item::Table(table) => {
                tables.insert(index, table);
                align_positions(tables);
                Ok(())
            }
            _ => Err("the items of this list are tables; give a JSON object".into()),
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
    reason = "the list borrows what the place borrows"
)]
fn list(place: Place<'_>) -> Result<List<'_>, String> {
    match place {
        Place::Item(Item::ArrayOfTables(tables)) => Ok(List::Tables(tables)),
        Place::Item(Item::Value(Value::Array(values))) | Place::Value(Value::Array(values)) => {
            Ok(List::Values(values))
        }
        _ => Err("the value is not a list".into()),
    }
}

#[cfg(test)]
mod tests;
