//! Names in configuration files that were renamed. A text with old names is accepted with a warning: its old names are replaced
//! by the new ones before it is checked, so everything that edits or saves the text writes the new names.
//!
//! In: a text and its schema. Out: the text with the new names, and the warnings. Must not: accept an old name beside the new
//! one.

use std::borrow::Cow;

use serde_json::Value;
use toml::de::DeTable;

use super::document::combine;
use super::extend::ExtendRules;
use super::problem::Problem;
use super::spans::Spans;
use super::validate::validate;

/// Greatest depth of renamed tables inside renamed tables. The schema has fewer levels.
const DEPTH_MAX: usize = 16;

/// Renamed keys and values of configuration files: old name, new name.
///
/// A row applies only where the new name is allowed. The same old name can therefore have several rows, one for each
/// table in which it was renamed differently.
const RENAMED: &[(&str, &str)] = &[
    // behavior
    ("use_hulk", "can_turn_in_place"),
    // calibration

    // camera

    // navigation, simulation

    // render

    // site

    // vision

    // world, steering

    // Entries for the unit tests of this module.
    #[cfg(test)]
    ("deepness_m", "depth_m"),
    #[cfg(test)]
    ("deepness_m", "height_m"),
    #[cfg(test)]
    ("calm", "still"),
];

/// Returns the new name of `old` if it is one of the allowed names; `None` if `old` was not renamed to one of these
/// names.
pub(super) fn new_name<'n>(
    old: &str,
    allowed: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    allowed
        .into_iter()
        .find(|new| RENAMED.contains(&(old, *new)))
}

/// Returns a text in which every old name is replaced by its new name, with a warning for each. A text with syntax errors stays
/// as it is. Lines stay the same; the columns behind a new name on its line shift.
pub fn with_new_names<'t>(
    text: &'t str,
    schema: &Value,
    file: &str,
) -> (Cow<'t, str>, Vec<Problem>) {
    with_new_names_extending(text, schema, file, &[], &ExtendRules::default())
}

/// Replaces old names like [`with_new_names`] in a text that extends other texts. The kind of a table, which says what its keys
/// mean, can be inherited. `bases` are the texts that the text extends, the nearest first, as (text, file); they stay as they are.
pub fn with_new_names_extending<'t>(
    text: &'t str,
    schema: &Value,
    file: &str,
    bases: &[(&str, &str)],
    rules: &ExtendRules,
) -> (Cow<'t, str>, Vec<Problem>) {
    let mut text = Cow::Borrowed(text);
    let mut warnings = Vec::new();
    if !RENAMED.iter().any(|(old, _)| text.contains(old)) {
        return (text, warnings);
    }
    // The schema of a renamed table is known only after the table has its new name.
    for _ in 0..DEPTH_MAX {
        let mut renames: Vec<_> = {
            let (tree, syntax) = DeTable::parse_recoverable(&text);
            if !syntax.is_empty() {
                break;
            }
            let spans = Spans::new(&text, file, bases);
            let whole = (!bases.is_empty()).then(|| combine(tree.get_ref(), bases, rules));
            let found = validate(whole.as_ref().unwrap_or(tree.get_ref()), schema, &spans);
            let own = found.into_iter();
            let own = own.filter(|finding| !Spans::is_inherited(&finding.span));
            own.filter_map(|finding| Some((finding.span, finding.path, finding.new_name?)))
                .collect()
        };
        if renames.is_empty() {
            break;
        }
        renames.sort_by_key(|(span, ..)| std::cmp::Reverse(span.start));
        let spans = Spans::new(&text, file, &[]);
        let mut new = text.to_string();
        for (span, path, name) in renames {
            let old = text
                .get(span.clone())
                .unwrap_or("")
                .trim_matches(['"', '\'']);
            let message = format!(
                "\"{old}\" was renamed; it is still read, but write \"{}\"",
                name.trim_matches('"')
            );
            warnings.push(spans.problem_at(Some(&span), path, message));
            new.replace_range(span, &name);
        }
        text = Cow::Owned(new);
    }
    (text, warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_applies_only_where_its_new_name_is_allowed() {
        assert_eq!(
            new_name("deepness_m", ["title", "depth_m"]),
            Some("depth_m")
        );
        assert_eq!(new_name("deepness_m", ["height_m"]), Some("height_m"));
        assert_eq!(new_name("deepness_m", ["title"]), None);
        assert_eq!(new_name("title", ["depth_m"]), None);
    }

    #[test]
    fn no_name_is_renamed_twice() {
        for (old, new) in RENAMED {
            assert_ne!(old, new);
            assert!(
                RENAMED.iter().all(|(other, _)| other != new),
                "\"{old}\" must lead to the newest name, not to \"{new}\""
            );
        }
    }
}
