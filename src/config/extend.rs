//! Combines the tree of a text with the tree of a text that it extends: the extending text only contains what differs.
//!
//! In: two raw trees. Out: one tree, in which the byte range of each value says from which text it comes. Must not: know any
//! parameter.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Distance between the byte ranges of two texts in one combined tree; greater than the size of any text. The ranges of the
/// extending text stay as they are, those of its base begin here, those of the base of its base at twice this value.
pub(super) const LEVEL_BYTES: usize = 1 << 24;

/// Rules by which an extending text changes its base. Tables are combined key by key, and other values are replaced, except for
/// these.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtendRules {
    /// Lists of tables whose items are combined.
    pub keyed_lists: &'static [KeyedList],
    /// Key that says of which kind a table is. A table of another kind replaces the table of the base.
    pub kind_key: &'static str,
}

/// A list of tables. Items with the same value of a key are combined. A new item is inserted before the item that follows it in
/// the extending text, or at the end.
#[derive(Clone, Copy, Debug)]
pub struct KeyedList {
    /// Name of the list.
    pub list: &'static str,
    /// Key that identifies an item.
    pub key: &'static str,
    /// Key beside the list. If it is true, the list replaces the list of the base.
    pub replaces: &'static str,
}

/// A tree, and the number of texts between it and the extending text.
pub(super) fn at_level<'t>(tree: &DeTable<'t>, level: usize) -> DeTable<'t> {
    shifted_table(tree, level * LEVEL_BYTES)
}

fn shifted_table<'t>(table: &DeTable<'t>, by: usize) -> DeTable<'t> {
    let mut new = DeTable::new();
    for (key, value) in table {
        let key = Spanned::new(shifted(key.span(), by), key.get_ref().clone());
        new.insert(key, shifted_value(value, by));
    }
    new
}

fn shifted_value<'t>(value: &Spanned<DeValue<'t>>, by: usize) -> Spanned<DeValue<'t>> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => DeValue::Table(shifted_table(table, by)),
        DeValue::Array(items) => {
            let mut new = DeArray::new();
            items
                .iter()
                .for_each(|item| new.push(shifted_value(item, by)));
            DeValue::Array(new)
        }
        other => other.clone(),
    };
    Spanned::new(shifted(value.span(), by), inner)
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// Changes `base` as the extending text says.
pub(super) fn extend<'t>(base: &mut DeTable<'t>, own: DeTable<'t>, rules: &ExtendRules) {
    let replaces = |keyed: &KeyedList| {
        let flag = own.get(keyed.replaces).map(Spanned::get_ref);
        matches!(flag, Some(DeValue::Boolean(true)))
    };
    let lists: Vec<_> = rules
        .keyed_lists
        .iter()
        .filter(|keyed| !replaces(keyed))
        .collect();
    for (key, value) in own {
        let span = value.span();
        let keyed = lists.iter().find(|keyed| keyed.list == &**key.get_ref());
        let new = match (base.remove(&**key.get_ref()), value.into_inner()) {
            (Some(old), DeValue::Table(own)) => match old.into_inner() {
                DeValue::Table(mut old) if is_same_kind(&old, &own, rules) => {
                    extend(&mut old, own, rules);
                    DeValue::Table(old)
                }
                _ => DeValue::Table(own),
            },
            (Some(old), DeValue::Array(own)) => match (old.into_inner(), keyed) {
                (DeValue::Array(old), Some(keyed)) => {
                    DeValue::Array(extend_list(&old, &own, keyed.key, rules))
                }
                _ => DeValue::Array(own),
            },
            (_, own) => own,
        };
        base.insert(key, Spanned::new(span, new));
    }
}

/// Whether two tables are of the same kind. A table without a kind is of the kind of its base.
fn is_same_kind(old: &DeTable<'_>, own: &DeTable<'_>, rules: &ExtendRules) -> bool {
    let kind = |table: &DeTable<'_>| text_of(table, rules.kind_key);
    kind(own).is_none_or(|kind_of_own| kind(old).is_none_or(|of_old| of_old == kind_of_own))
}

fn text_of(table: &DeTable<'_>, key: &str) -> Option<String> {
    match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn name_of(item: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
    match item.get_ref() {
        DeValue::Table(table) => text_of(table, key),
        _ => None,
    }
}

/// Combines two lists of tables. Items with the same value of `key` are combined at the place in the base.
fn extend_list<'t>(
    base: &DeArray<'t>,
    own: &DeArray<'t>,
    key: &str,
    rules: &ExtendRules,
) -> DeArray<'t> {
    let mut items: Vec<Spanned<DeValue<'t>>> = base.iter().cloned().collect();
    // From the last item to the first, so that a new item finds its successor already in the list.
    let mut successor = items.len();
    for item in own.iter().rev() {
        let name = name_of(item, key);
        let place = name.as_ref().and_then(|name| {
            items
                .iter()
                .position(|other| name_of(other, key).as_ref() == Some(name))
        });
        match (place, item.get_ref()) {
            (Some(place), DeValue::Table(changes)) => {
                let mut table = match items[place].get_ref() {
                    DeValue::Table(table) => table.clone(),
                    _ => DeTable::new(),
                };
                extend(&mut table, changes.clone(), rules);
                items[place] = Spanned::new(item.span(), DeValue::Table(table));
                successor = place;
            }
            _ => items.insert(successor, item.clone()),
        }
    }
    let mut list = DeArray::new();
    items.into_iter().for_each(|item| list.push(item));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ExtendRules = ExtendRules {
        keyed_lists: &[KeyedList {
            list: "needs",
            key: "name",
            replaces: "own_needs",
        }],
        kind_key: "action",
    };

    fn combined(base: &str, own: &str) -> toml::Table {
        let base = DeTable::parse(base).unwrap().into_inner();
        let own = DeTable::parse(own).unwrap().into_inner();
        let mut tree = at_level(&base, 1);
        extend(&mut tree, own, &RULES);
        serde::Deserialize::deserialize(toml::de::Deserializer::from(Spanned::new(0..0, tree)))
            .unwrap()
    }

    #[test]
    fn tables_are_combined_and_values_and_plain_lists_are_replaced() {
        let base = "a = 1\nlist = [1, 2]\n[t]\nx = 1\ny = 2\n[t.u]\nz = 3";
        let own = "list = [3]\n[t]\ny = 5\n[t.u]\nw = 4";
        let wanted = "a = 1\nlist = [3]\n[t]\nx = 1\ny = 5\n[t.u]\nz = 3\nw = 4";
        assert_eq!(combined(base, own), wanted.parse().unwrap());
    }

    #[test]
    fn a_table_of_another_kind_is_replaced_as_a_whole() {
        let base = "[actions.go]\naction = 'wander'\nspread = 1";
        let own = "[actions.go]\naction = 'seek'\n";
        assert_eq!(combined(base, own), own.parse().unwrap());
        let same = "[actions.go]\nweight = 2";
        let wanted = "[actions.go]\naction = 'wander'\nspread = 1\nweight = 2";
        assert_eq!(combined(base, same), wanted.parse().unwrap());
    }

    #[test]
    fn needs_with_the_same_name_are_combined_in_place_and_new_ones_stand_before_their_successor() {
        let base = "needs = [{name = 'a', x = 1}, {name = 'b', x = 1}, {name = 'c', x = 1}]";
        let own = "needs = [{name = 'new', x = 7}, {name = 'b', y = 2}, {name = 'last'}]";
        let wanted = "needs = [{name = 'a', x = 1}, {name = 'new', x = 7}, {name = 'b', x = 1, y = 2}, {name = 'c', x = 1}, {name = 'last'}]";
        assert_eq!(combined(base, own), wanted.parse().unwrap());
    }

    #[test]
    fn a_list_replaces_the_list_of_the_base_if_the_text_says_so() {
        let base = "needs = [{name = 'a', x = 1}, {name = 'b', x = 1}]";
        let own = "own_needs = true\nneeds = [{name = 'b', y = 2}]";
        assert_eq!(combined(base, own), own.parse().unwrap());
    }
}
