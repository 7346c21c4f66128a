//! Writes JSON values as TOML values of the type that the schema defines, and keeps the spelling of unchanged values.
//!
//! In: a JSON value, and the schema for its path. Out: items of a document. Must not: reject a value because of its
//! range or type; the validator does that later, with line and column.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, ArrayOfTables, Decor, InlineTable, Item, Table, TableLike, Value};

use super::schema::{tag_of, variant_name};

/// Returns the schema of the variant that the tag in the JSON names, and the key of the tag. If the schema has no
/// variants, returns the schema itself and no tag.
fn variant_of<'s>(schema: Option<&'s Json>, json: &Json) -> (Option<&'s Json>, Option<&'s str>) {
    let Some(variants) = schema.and_then(|s| s.get("oneOf")?.as_array()) else {
        return (schema, None);
    };
    let tag = tag_of(variants);
    let name = tag.and_then(|tag| json.get(tag)?.as_str());
    let found = tag.and_then(|tag| variants.iter().find(|v| variant_name(v, tag) == name));
    (found, tag)
}

fn property<'s>(schema: Option<&'s Json>, key: &str) -> Option<&'s Json> {
    let schema = schema?;
    let named = schema.get("properties").and_then(|p| p.get(key));
    named.or_else(|| schema.get("additionalProperties").filter(|s| s.is_object()))
}

/// Returns the entries of an object. The tag comes first; if there is no tag, the entry `name` comes first.
fn entries<'j>(
    map: &'j Map<String, Json>,
    tag: Option<&str>,
) -> impl Iterator<Item = (&'j String, &'j Json)> {
    let is_tag = move |key: &str| Some(key) == tag || (tag.is_none() && key == "name");
    let owned: Vec<_> = map.iter().collect();
    let (mut first, rest): (Vec<_>, Vec<_>) = owned.into_iter().partition(|(key, _)| is_tag(key));
    first.extend(rest);
    first.into_iter()
}

/// Converts JSON to a value that is written on one line.
pub(super) fn value_of(json: &Json, schema: Option<&Json>) -> Result<Value, String> {
    match json {
        Json::Null => Err("null is not a value; remove the key instead to get its default".into()),
        Json::Bool(flag) => Ok((*flag).into()),
        Json::String(text) => Ok(text.as_str().into()),
        Json::Number(number) => number_of(number, schema),
        Json::Array(items) => {
            let inner = schema.and_then(|s| s.get("items"));
            let mut array = Array::new();
            for item in items {
                array.push(value_of(item, inner)?);
            }
            Ok(Value::Array(array))
        }
        Json::Object(map) => {
            let (schema, tag) = variant_of(schema, json);
            let mut table = InlineTable::new();
            for (key, inner) in entries(map, tag) {
                table.insert(key, value_of(inner, property(schema, key))?);
            }
            Ok(Value::InlineTable(table))
        }
    }
}

fn number_of(number: &serde_json::Number, schema: Option<&Json>) -> Result<Value, String> {
    let wanted = schema.and_then(|s| s.get("type")?.as_str());
    let exact = number.as_i64();
    let Some(near) = number.as_f64().filter(|n| n.is_finite()) else {
        return Err(format!(
            "{number} cannot be represented; give a smaller number"
        ));
    };
    let near = short(near);
    Ok(match (wanted, exact) {
        (Some("number"), _) => near.into(),
        (_, Some(exact)) => exact.into(),
        // JavaScript has no integer type, so a JavaScript client may send 3 as 3.0. Above 2^53 the conversion would
        // not be exact.
        (Some("integer"), None) if near.fract() == 0.0 && near.abs() <= 9_007_199_254_740_992.0 => {
            (near as i64).into()
        }
        _ => near.into(),
    })
}

/// Shortens a number that was an f32: 0.1 instead of 0.10000000149011612. Both are the same f32.
fn short(wide: f64) -> f64 {
    let narrow = wide as f32;
    if f64::from(narrow) == wide {
        narrow.to_string().parse().unwrap_or(wide)
    } else {
        wide
    }
}

/// Converts JSON to a value or a table. With `is_open`, the parent table has a heading line, so tables inside it also
/// get heading lines.
pub(super) fn item_of(json: &Json, schema: Option<&Json>, is_open: bool) -> Result<Item, String> {
    match json {
        Json::Object(map) if is_open => {
            let (schema, tag) = variant_of(schema, json);
            let mut table = Table::new();
            for (key, inner) in entries(map, tag) {
                table.insert(key, item_of(inner, property(schema, key), true)?);
            }
            Ok(Item::Table(table))
        }
        Json::Array(items) if is_open && !items.is_empty() && items.iter().all(Json::is_object) => {
            let inner = schema.and_then(|s| s.get("items"));
            let mut tables = ArrayOfTables::new();
            for item in items {
                if let Item::Table(table) = item_of(item, inner, true)? {
                    tables.push(table);
                }
            }
            Ok(Item::ArrayOfTables(tables))
        }
        _ => value_of(json, schema).map(Item::Value),
    }
}

/// Assigns a new value to an item and changes only the parts of the text that differ.
pub(super) fn assign(
    item: &mut Item,
    json: &Json,
    schema: Option<&Json>,
    is_open: bool,
) -> Result<(), String> {
    match (&mut *item, json) {
        (Item::Value(Value::Array(array)), Json::Array(items)) => {
            return assign_array(array, items, schema);
        }
        (Item::ArrayOfTables(tables), Json::Array(items))
            if !items.is_empty() && items.iter().all(Json::is_object) =>
        {
            return assign_tables(tables, items, schema);
        }
        (Item::Value(Value::InlineTable(table)), Json::Object(map)) => {
            return assign_table(table, (map, json), schema, false);
        }
        (Item::Table(table), Json::Object(map)) => {
            // An implicit table has no heading line. If it has values of its own, it needs a heading line.
            table.set_implicit(false);
            return assign_table(table, (map, json), schema, true);
        }
        _ => {}
    }
    let new = item_of(json, schema, is_open)?;
    match (item.as_value(), new) {
        (Some(old), Item::Value(new)) if is_same(old, &new) => {}
        (Some(old), Item::Value(mut new)) => {
            let decor: Decor = old.decor().clone();
            *new.decor_mut() = decor;
            *item = Item::Value(new);
        }
        (_, new) => *item = new,
    }
    Ok(())
}

/// Whether two single values are equal, so that the spelling of the first one can stay.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        (Value::Float(a), Value::Float(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Float(b)) => *a.value() as f64 == *b.value(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        _ => false,
    }
}

fn assign_table(
    table: &mut dyn TableLike,
    (map, json): (&Map<String, Json>, &Json),
    schema: Option<&Json>,
    is_open: bool,
) -> Result<(), String> {
    let (schema, tag) = variant_of(schema, json);
    let removed: Vec<String> = table
        .iter()
        .map(|(key, _)| key.to_owned())
        .filter(|key| !map.contains_key(key))
        .collect();
    for key in removed {
        table.remove(&key);
    }
    for (key, inner) in entries(map, tag) {
        let schema = property(schema, key);
        match table.get_mut(key) {
            Some(item) => assign(item, inner, schema, is_open)?,
            None => {
                table.insert(key, item_of(inner, schema, is_open)?);
            }
        }
    }
    Ok(())
}

fn assign_array(array: &mut Array, items: &[Json], schema: Option<&Json>) -> Result<(), String> {
    let inner = schema.and_then(|s| s.get("items"));
    while array.len() > items.len() {
        array.remove(array.len() - 1);
    }
    for (index, json) in items.iter().enumerate() {
        match array.get_mut(index) {
            Some(value) => {
                let mut item = Item::Value(value.clone());
                assign(&mut item, json, inner, false)?;
                if let Ok(new) = item.into_value() {
                    *value = new;
                }
            }
            None => array.push(value_of(json, inner)?),
        }
    }
    Ok(())
}

fn assign_tables(
    tables: &mut ArrayOfTables,
    items: &[Json],
    schema: Option<&Json>,
) -> Result<(), String> {
    let inner = schema.and_then(|s| s.get("items"));
    while tables.len() > items.len() {
        tables.remove(tables.len() - 1);
    }
    for (index, json) in items.iter().enumerate() {
        let old = tables.get(index).cloned();
        let is_new = old.is_none();
        let mut item = Item::Table(old.unwrap_or_default());
        assign(&mut item, json, inner, true)?;
        let Item::Table(table) = item else { continue };
        match tables.get_mut(index) {
            Some(place) if !is_new => *place = table,
            _ => tables.push(table),
        }
    }
    Ok(())
}
