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
    /// Keys that say of which kind a table is. A table of another kind replaces the table of the base.
    pub kind_keys: &'static [&'static str],
    /// Keys that set others.
    pub presets: &'static [Preset],
}

/// A key that sets others where they are left out. If the extending text has it, they are not inherited.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name of the table.
    pub table: &'static str,
    /// The key that sets others.
    pub key: &'static str,
    /// The keys that it sets.
    pub sets: &'static [&'static str],
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
    /// Key beside the list, with the names of the items of the base that are left out.
    pub without: &'static str,
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
    let (replaced, lists): (Vec<&KeyedList>, Vec<&KeyedList>) =
        rules.keyed_lists.iter().partition(|keyed| replaces(keyed));
    for keyed in replaced {
        base.remove(keyed.list);
    }
    for preset in rules.presets {
        let table = |of: &DeTable<'t>| match of.get(preset.table).map(Spanned::get_ref) {
            Some(DeValue::Table(table)) => table.contains_key(preset.key),
            _ => false,
        };
        if table(&own) {
            leave_out(base, preset);
        }
    }
    for keyed in &lists {
        let names = names_in(&own, keyed.without);
        if let Some(DeValue::Array(items)) = base.get_mut(keyed.list).map(Spanned::get_mut) {
            let kept: Vec<_> = (items.iter())
                .filter(|item| name_of(item, keyed.key).is_none_or(|name| !names.contains(&name)))
                .cloned()
                .collect();
            *items = kept.into_iter().collect();
        }
        base.remove(keyed.without);
    }
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

/// Removes the keys that a preset sets.
fn leave_out(base: &mut DeTable<'_>, preset: &Preset) {
    if let Some(DeValue::Table(table)) = base.get_mut(preset.table).map(Spanned::get_mut) {
        for key in preset.sets {
            table.remove(*key);
        }
    }
}

/// Returns the texts of a list.
fn names_in(table: &DeTable<'_>, list: &str) -> Vec<String> {
    let Some(DeValue::Array(items)) = table.get(list).map(Spanned::get_ref) else {
        return Vec::new();
    };
    let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

/// Whether two tables are of the same kind. A table without a kind is of the kind of its base.
fn is_same_kind(old: &DeTable<'_>, own: &DeTable<'_>, rules: &ExtendRules) -> bool {
    let kind = |table: &DeTable<'_>| {
        let mut keys = rules.kind_keys.iter();
        keys.find_map(|key| text_of(table, key))
    };
    kind(own).is_none_or(|kind_of_own| kind(old).is_none_or(|of_old| of_old == kind_of_own))
}

fn text_of(table: &DeTable<'_>, key: &str) -> Option<String> {
    match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

pub(super) fn name_of(item: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
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
    // Two items of one text with the same name are a mistake, which is found when both are in the list.
    let mut changed = Vec::new();
    // From the last item to the first, so that a new item finds its successor already in the list.
    let mut successor = items.len();
    for item in own.iter().rev() {
        let name = name_of(item, key).filter(|name| !changed.contains(name));
        changed.extend(name_of(item, key));
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
            without: "without_needs",
        }],
        kind_keys: &["action"],
        presets: &[Preset {
            table: "look",
            key: "light",
            sets: &["sun", "sky"],
        }],
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
    fn items_of_the_base_can_be_left_out() {
        let base = "needs = [{name = 'a', x = 1}, {name = 'b', x = 1}]";
        let own = "without_needs = ['a']\nneeds = [{name = 'c'}]";
        let wanted = "without_needs = ['a']\nneeds = [{name = 'b', x = 1}, {name = 'c'}]";
        assert_eq!(combined(base, own), wanted.parse().unwrap());
        // A text that extends this one inherits the list, but not the names that were left out.
        let left = "without_needs = ['z']\nneeds = [{name = 'a', x = 1}]";
        let wanted = "needs = [{name = 'a', x = 2}]";
        assert_eq!(combined(left, wanted), wanted.parse().unwrap());
    }

    /// `light = "night"` of a variant had no effect, because the numbers of the base said otherwise.
    /// `own_needs = true` without a list left all inherited needs.
    #[test]
    fn a_text_can_replace_a_list_by_none() {
        let base = "needs = [{name = 'a', x = 1}]";
        let own = "own_needs = true";
        assert_eq!(combined(base, own), own.parse().unwrap());
    }

    /// Two items with one name were combined, and one of them was lost.
    #[test]
    fn two_items_of_one_text_with_the_same_name_stay_two() {
        let base = "needs = [{name = 'a', x = 1}]";
        let new = "needs = [{name = 'b', y = 1}, {name = 'b', y = 2}]";
        let wanted = "needs = [{name = 'a', x = 1}, {name = 'b', y = 1}, {name = 'b', y = 2}]";
        assert_eq!(combined(base, new), wanted.parse().unwrap());
        let twice = "needs = [{name = 'a', y = 1}, {name = 'a', y = 2}]";
        assert_eq!(
            combined(base, twice)
                .get("needs")
                .unwrap()
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn a_preset_replaces_the_numbers_of_the_base_but_not_those_beside_it() {
        let base = "[look]\nlight = 'day'\nsun = 2\nsky = 3\nsand = 4";
        let own = "[look]\nlight = 'night'\nsky = 1";
        let wanted = "[look]\nlight = 'night'\nsky = 1\nsand = 4";
        assert_eq!(combined(base, own), wanted.parse().unwrap());
        let other = "[look]\nsand = 5";
        let wanted = "[look]\nlight = 'day'\nsun = 2\nsky = 3\nsand = 5";
        assert_eq!(combined(base, other), wanted.parse().unwrap());
    }

    #[test]
    fn a_list_replaces_the_list_of_the_base_if_the_text_says_so() {
        let base = "needs = [{name = 'a', x = 1}, {name = 'b', x = 1}]";
        let own = "own_needs = true\nneeds = [{name = 'b', y = 2}]";
        assert_eq!(combined(base, own), own.parse().unwrap());
    }
}
