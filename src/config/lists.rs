//! Inserts, removes and moves list items and keeps their comments. Supports both forms of a TOML list: values in
//! brackets (`[1, 2]`), and tables with heading lines (`[[name]]`).
//!
//! In: a list of a document. Out: the changed list. Must not: know the meaning of the items.

use toml_edit::{Array, ArrayOfTables, Item, Table, Value};

/// A list in one of its two forms.
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

    pub(super) fn check_index(&self, index: usize) -> Result<(), String> {
        let count = self.count();
        match index < count {
            true => Ok(()),
            false => Err(format!(
                "the list has {count} items, counted from 0; there is no item {index}"
            )),
        }
    }

    pub(super) fn remove(&mut self, index: usize) -> Result<(), String> {
        self.check_index(index)?;
        match self {
            Self::Tables(tables) => {
                align_positions(tables);
                let removed = tables.remove(index);
                // A comment above the first item often describes the whole list, so the next item gets this comment
                // if it has none.
                if let (0, Some(next)) = (index, tables.get_mut(0))
                    && !comment(next).contains('#')
                {
                    let prefix = comment(&removed).to_owned();
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
        self.check_index(from)?;
        self.check_index(to)?;
        match self {
            Self::Tables(tables) => {
                let table = tables.remove(from);
                tables.insert(to, table);
                align_positions(tables);
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

/// Gives all tables of a list, with their subtables, the same position, so that they are printed in the order of the
/// list. `toml_edit` prints tables by their position in the old text, and tables with the same position in the order
/// of the tree.
pub(super) fn align_positions(tables: &mut ArrayOfTables) {
    let first = tables.iter().filter_map(Table::position).min();
    for table in tables.iter_mut() {
        set_positions(table, first);
    }
}

fn set_positions(table: &mut Table, position: Option<isize>) {
    table.set_position(position);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => set_positions(inner, position),
            Item::ArrayOfTables(inner) => inner.iter_mut().for_each(|t| set_positions(t, position)),
            Item::None | Item::Value(_) => {}
        }
    }
}

/// Whether the whole list is on one line.
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

/// Puts one space after each comma of a one-line list. A list on several lines stays unchanged.
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
    // The new item gets its own line, with the indentation of its neighbor.
    let near = values.get(index.min(values.len().saturating_sub(1)));
    let prefix = near.and_then(|v| v.decor().prefix()?.as_str());
    let indent = prefix
        .and_then(|p| p.rsplit('\n').next())
        .unwrap_or("    ")
        .to_owned();
    values.insert_formatted(index, value.decorated(format!("\n{indent}"), ""));
}
