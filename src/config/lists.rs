//! Lists of a document in both spellings, values in brackets and tables with headings: items come, go and change places,
//! and keep their comments.
//!
//! In: a list of a document. Out: the list, changed. Must not: know what its items mean.

use toml_edit::{Array, ArrayOfTables, Item, Table, Value};

/// A list in one of its two spellings.
pub(super) enum List<'a> {
    Tables(&'a mut ArrayOfTables),
    Values(&'a mut Array),
}

impl List<'_> {
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Tables(tables) => tables.len(),
            Self::Values(values) => values.len(),
        }
    }

    pub(super) fn has(&self, index: usize) -> Result<(), String> {
        let count = self.count();
        match index < count {
            true => Ok(()),
            false => Err(format!(
                "the list has {count} items, counted from 0; there is no {index}"
            )),
        }
    }

    pub(super) fn remove(&mut self, index: usize) -> Result<(), String> {
        self.has(index)?;
        match self {
            Self::Tables(tables) => {
                settle(tables);
                let gone = tables.remove(index);
                // What is said above the first of a list is often said of the list.
                if let (0, Some(next)) = (index, tables.get_mut(0))
                    && !comment(next).contains('#')
                {
                    let prefix = comment(&gone).to_owned();
                    next.decor_mut().set_prefix(prefix);
                }
            }
            Self::Values(values) => {
                values.remove(index);
                tidy(values);
            }
        }
        Ok(())
    }

    pub(super) fn shift(&mut self, from: usize, to: usize) -> Result<(), String> {
        self.has(from)?;
        self.has(to)?;
        match self {
            Self::Tables(tables) => {
                let table = tables.remove(from);
                tables.insert(to, table);
                settle(tables);
            }
            Self::Values(values) => {
                let value = values.remove(from);
                values.insert_formatted(to, value);
                tidy(values);
            }
        }
        Ok(())
    }
}

fn comment(table: &Table) -> &str {
    let prefix = table.decor().prefix();
    prefix.and_then(|raw| raw.as_str()).unwrap_or("")
}

/// Lets the tables of a list, with those in them, stand in the list's order: tables are written by the places they had
/// in the text, and those of one place in the order of the tree.
pub(super) fn settle(tables: &mut ArrayOfTables) {
    let first = tables.iter().filter_map(Table::position).min();
    for table in tables.iter_mut() {
        place_at(table, first);
    }
}

fn place_at(table: &mut Table, position: Option<isize>) {
    table.set_position(position);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => place_at(inner, position),
            Item::ArrayOfTables(inner) => inner.iter_mut().for_each(|t| place_at(t, position)),
            Item::None | Item::Value(_) => {}
        }
    }
}

/// Whether every item is on the list's own line.
fn is_on_one_line(values: &Array) -> bool {
    let is_broken = |raw: Option<&toml_edit::RawString>| {
        raw.and_then(|r| r.as_str())
            .is_some_and(|text| text.contains('\n'))
    };
    !values
        .iter()
        .any(|v| is_broken(v.decor().prefix()) || is_broken(v.decor().suffix()))
        && !is_broken(Some(values.trailing()))
}

/// One space after each comma of a list on one line. A list on several lines stays as it is.
fn tidy(values: &mut Array) {
    if is_on_one_line(values) {
        values.fmt();
    }
}

pub(super) fn insert_value(values: &mut Array, index: usize, value: Value) {
    if is_on_one_line(values) {
        values.insert(index, value);
        values.fmt();
        return;
    }
    // A line of its own, indented as its neighbor.
    let near = values.get(index.min(values.len().saturating_sub(1)));
    let prefix = near.and_then(|v| v.decor().prefix()?.as_str());
    let indent = prefix
        .and_then(|p| p.rsplit('\n').next())
        .unwrap_or("    ")
        .to_owned();
    values.insert_formatted(index, value.decorated(format!("\n{indent}"), ""));
}
