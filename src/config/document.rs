//! Reads one TOML text with a size limit, parses it, checks it against the schema, and converts it to a value.
//!
//! In: text and the name of its file. Out: a value with [`Spans`], or all [`Problems`]. Must not: know any parameter.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::extend::{ExtendRules, at_level, extend, name_of};
use super::problem::{Problem, Problems};
use super::schema::schema_of;
use super::spans::Spans;
use super::suggest::nearest_name;
use super::syntax::explain;
use super::validate::{FindingKind, validate};
use crate::files::read_file;

/// Maximum size of a configuration file, in bytes. Files written by hand are far smaller.
pub const TEXT_BYTES_MAX: u64 = 1 << 20;

/// Reads a text file of at most [`TEXT_BYTES_MAX`].
///
/// # Errors One problem of the whole file: the file cannot be opened, is not a regular file, is too large, or is not
/// UTF-8.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    let reject = |message: String| Problem::of_file(path.display().to_string(), message);
    let bytes = read_file(path, TEXT_BYTES_MAX, "a configuration file").map_err(reject)?;
    String::from_utf8(bytes).map_err(|e| {
        reject(format!(
            "is not UTF-8 text (byte {}); save it as UTF-8",
            e.utf8_error().valid_up_to()
        ))
    })
}

/// Parses a text as a value of type `T`.
///
/// # Errors
/// All problems of the text, by line: syntax, duplicate and unknown keys, wrong types, numbers that are not finite or
/// out of range, unknown names, missing values.
pub fn parse<T: JsonSchema + DeserializeOwned>(
    text: &str,
    file: &str,
) -> Result<(T, Spans), Problems> {
    let (value, problems) = parse_lenient(text, file);
    match value {
        Some(value) if problems.0.is_empty() => Ok(value),
        _ => Err(problems),
    }
}

/// Parses a text like [`parse`], but also returns the value of a faulty text, so that other files can be checked
/// against this value. Unknown keys are ignored, and numbers may be out of range. If there are problems, the program
/// must not run with the value.
pub fn parse_lenient<T: JsonSchema + DeserializeOwned>(
    text: &str,
    file: &str,
) -> (Option<(T, Spans)>, Problems) {
    parse_extending(text, file, &[], &ExtendRules::default())
}

/// Makes a problem with the position of the value at a path, also in a text that cannot be parsed as its type.
pub fn problem_in(text: &str, file: &str, path: &str, message: impl Into<String>) -> Problem {
    let mut spans = Spans::new(text, file, &[]);
    spans.record(DeTable::parse_recoverable(text).0.get_ref(), "");
    spans.problem(path, message)
}

/// Parses a text like [`parse_lenient`] that extends other texts: `bases` are the text that it extends, the text that this one
/// extends, and so on, as (text, file). Problems inside the bases are not reported; they are found when the bases are parsed.
pub fn parse_extending<T: JsonSchema + DeserializeOwned>(
    text: &str,
    file: &str,
    bases: &[(&str, &str)],
    rules: &ExtendRules,
) -> (Option<(T, Spans)>, Problems) {
    if text.len() as u64 > TEXT_BYTES_MAX {
        let message =
            format!("is larger than {TEXT_BYTES_MAX} bytes, the limit for a configuration file");
        return (None, Problems(vec![Problem::of_file(file, message)]));
    }
    let mut spans = Spans::new(text, file, bases);
    let (mut tree, syntax) = DeTable::parse_recoverable(text);
    let inherited = combined_bases(bases, rules);
    if !bases.is_empty() {
        let mut whole = inherited.clone();
        extend(&mut whole, tree.get_ref().clone(), rules);
        tree = Spanned::new(tree.span(), whole);
    }
    spans.record(tree.get_ref(), "");
    let mut problems: Vec<Problem> = (explain(text, &syntax).into_iter())
        .map(|(span, message)| spans.problem_at(Some(&span), String::new(), message))
        .collect();
    let broken: Vec<usize> = problems.iter().map(|p| p.line).collect();
    let findings = validate(tree.get_ref(), schema_of::<T>(), &spans);
    // A list beyond its limit is not used for further checks, which compare its entries with each other.
    let is_oversized = (findings.iter()).any(|finding| finding.kind == FindingKind::Oversized);
    let unknown = (findings.iter()).filter(|finding| finding.kind == FindingKind::UnknownKey);
    let unknown: HashSet<Range<usize>> = unknown.map(|finding| finding.span.clone()).collect();
    for finding in findings {
        // A finding on the line of a syntax error is only a consequence of that error. A value can also be missing
        // because of a syntax error.
        let is_consequence = finding.kind == FindingKind::Absent && !broken.is_empty();
        if Spans::is_inherited(&finding.span) {
            continue;
        }
        let meant = match finding.kind {
            FindingKind::Absent => {
                inherited_meant(&finding.path, tree.get_ref(), &inherited, rules)
            }
            _ => None,
        };
        let message = finding.message + &meant.unwrap_or_default();
        let problem = spans.problem_at(Some(&finding.span), finding.path, message);
        if !is_consequence && !broken.contains(&problem.line) {
            problems.push(problem);
        }
    }
    let mut value = None;
    if broken.is_empty() {
        remove_keys(tree.get_mut(), &unknown);
        match T::deserialize(toml::de::Deserializer::from(tree)) {
            Ok(read) => value = Some((read, spans)),
            // The findings already report the reason.
            Err(_) if !problems.is_empty() => {}
            Err(e) => problems.push(spans.problem_at(
                e.span().as_ref(),
                String::new(),
                e.message().into(),
            )),
        }
    }
    let mut problems = Problems(problems);
    problems.sort();
    problems.limit("problems");
    (value.filter(|_| !is_oversized), problems)
}

/// Whether a text has no content: nothing but white space, zero bytes and a byte order mark. After a power cut, a file can
/// consist of zero bytes.
pub fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || c == '\0' || c == '\u{feff}')
}

/// Returns the tree of a text that extends `bases`.
fn combine<'t>(own: &DeTable<'t>, bases: &[(&'t str, &str)], rules: &ExtendRules) -> DeTable<'t> {
    let mut whole = combined_bases(bases, rules);
    extend(&mut whole, own.clone(), rules);
    whole
}

/// Returns the tree of all texts that a text extends.
fn combined_bases<'t>(bases: &[(&'t str, &str)], rules: &ExtendRules) -> DeTable<'t> {
    let mut whole = DeTable::new();
    for (number, (text, _)) in bases.iter().enumerate().rev() {
        let (base, _) = DeTable::parse_recoverable(text);
        extend(&mut whole, at_level(base.get_ref(), number + 1), rules);
    }
    whole
}

/// Returns the end of a message about a table in which a value is missing: the inherited table that it probably means to change. `None`
/// if there is none with a similar name.
fn inherited_meant(
    path: &str,
    whole: &DeTable<'_>,
    inherited: &DeTable<'_>,
    rules: &ExtendRules,
) -> Option<String> {
    let (name, known) = match path.strip_suffix(']') {
        Some(item) => {
            let (list, index) = item.split_once('[')?;
            let keyed = rules.keyed_lists.iter().find(|keyed| keyed.list == list)?;
            let names = |table: &DeTable<'_>| match table.get(list).map(Spanned::get_ref) {
                Some(DeValue::Array(items)) => {
                    items.iter().map(|item| name_of(item, keyed.key)).collect()
                }
                _ => Vec::new(),
            };
            let name = names(whole).into_iter().nth(index.parse().ok()?)??;
            (name, names(inherited).into_iter().flatten().collect())
        }
        None => {
            let (parent, name) = path.rsplit_once('.')?;
            let table = parent.split('.').try_fold(inherited, |table, key| {
                match table.get(key)?.get_ref() {
                    DeValue::Table(inner) => Some(inner),
                    _ => None,
                }
            })?;
            let known: Vec<String> = table.keys().map(|key| key.get_ref().to_string()).collect();
            (name.to_owned(), known)
        }
    };
    let near = nearest_name(&name, known.iter().map(String::as_str))?;
    (near != name).then(|| format!("; to change what is inherited: did you mean \"{near}\"?"))
}

/// Returns the table of a text that extends `bases`; `None` if it is not valid TOML.
pub fn whole_table(text: &str, bases: &[(&str, &str)], rules: &ExtendRules) -> Option<toml::Table> {
    let (tree, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        return None;
    }
    let whole = Spanned::new(tree.span(), combine(tree.get_ref(), bases, rules));
    toml::Table::deserialize(toml::de::Deserializer::from(whole)).ok()
}

/// Returns the text at a key of the top level of a TOML text; `None` if there is none.
pub fn top_level_text(text: &str, key: &str) -> Option<String> {
    let (tree, _) = DeTable::parse_recoverable(text);
    match tree.get_ref().get(key)?.get_ref() {
        DeValue::String(word) => Some(word.to_string()),
        _ => None,
    }
}

/// Whether a text is valid TOML.
pub fn is_toml(text: &str) -> bool {
    text.len() as u64 <= TEXT_BYTES_MAX && DeTable::parse_recoverable(text).1.is_empty()
}

/// Removes the keys at these byte ranges, also from nested tables.
fn remove_keys(table: &mut DeTable<'_>, keys: &HashSet<Range<usize>>) {
    fn inside(value: &mut DeValue<'_>, keys: &HashSet<Range<usize>>) {
        match value {
            DeValue::Table(table) => remove_keys(table, keys),
            DeValue::Array(array) => {
                for value in array.iter_mut() {
                    inside(value.get_mut(), keys);
                }
            }
            _ => {}
        }
    }
    if keys.is_empty() {
        return;
    }
    for (_, value) in table.iter_mut() {
        inside(value.get_mut(), keys);
    }
    let removed = table.keys().filter(|key| keys.contains(&key.span()));
    let removed: Vec<String> = removed.map(|key| key.get_ref().to_string()).collect();
    for name in removed {
        table.remove(name.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};
    use shoal_testing::{assert_message, rows};
    use std::collections::BTreeMap;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Pond {
        title: String,
        deep: bool,
        water: Water,
        #[schemars(range(max = 9))]
        ducks: u8,
        #[schemars(inner(range(min = -1.0, max = 1.0)))]
        at_m: [f32; 2],
        reeds: BTreeMap<String, Reed>,
        #[schemars(inner(range(max = 5)), extend("maxProperties" = 2))]
        rocks: BTreeMap<String, u8>,
        stones: Vec<Stone>,
        kind: Kind,
    }

    impl Default for Pond {
        fn default() -> Self {
            Self {
                title: "pond".into(),
                deep: true,
                water: Water::default(),
                ducks: 3,
                at_m: [0.0; 2],
                reeds: BTreeMap::new(),
                rocks: BTreeMap::new(),
                stones: Vec::new(),
                kind: Kind::Still,
            }
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Water {
        #[schemars(range(min = 0.1, max = 5.0))]
        depth_m: f32,
    }

    impl Default for Water {
        fn default() -> Self {
            Self { depth_m: 1.0 }
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Reed {
        #[schemars(range(min = 0.0, max = 3.0))]
        height_m: f64,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Still,
        Running,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
    enum Stone {
        Round {
            #[schemars(range(min = 0.0, max = 1.0))]
            radius_m: f32,
        },
        Flat,
    }

    fn pond(text: &str) -> Result<(Pond, Spans), Problems> {
        parse(text, "pond.toml")
    }

    #[test]
    fn a_valid_text_gives_a_value() {
        let text = "title = 'x'\nducks = 0x4\nat_m = [1, -0.5]\n[water]\ndepth_m = 2\n[reeds.a]\nheight_m = 1.5\n\
                    [[stones]]\nshape = 'round'\nradius_m = 1\n[[stones]]\nshape = 'flat'\n";
        let (value, spans) = pond(text).unwrap();
        assert_eq!(value.water.depth_m, 2.0);
        assert_eq!(value.ducks, 4);
        assert_eq!(value.stones, [Stone::Round { radius_m: 1.0 }, Stone::Flat]);
        let place = |path| {
            let problem = spans.problem(path, "");
            (problem.line, problem.column)
        };
        assert_eq!(place("water.depth_m"), (5, 11));
        assert_eq!(place("water.absent"), (4, 2));
        assert_eq!(place("stones[0].radius_m"), (10, 12));
        assert_eq!(place("stones.1.shape"), (12, 9));
        assert_eq!(place("stones[1]").0, 11);
        assert_eq!(place("at_m[1]"), (3, 12));
        assert_eq!(place("nothing"), (1, 1));
        assert!(spans.is_written("ducks") && !spans.is_written("deep"));
        assert_eq!(pond("").unwrap().0, Pond::default());
    }

    /// Each kind of mistake with its complete message.
    #[test]
    fn every_mistake_has_its_message() {
        let table = r#"
            [water]\ndepht_m = 2 | 2:1: water.depht_m: unknown key "depht_m"; did you mean "depth_m"?
            [water]\nfish = 2 | 2:1: water.fish: unknown key "fish"; allowed here: depth_m
            [water]\ndepth_m = 50 | 2:11: water.depth_m: 50 m is too large; allowed: 0.1 to 5 m; 50 cm are 0.5 m
            [water]\ndepth_m = 1800.0 | 2:11: water.depth_m: 1800.0 m is too large; allowed: 0.1 to 5 m; 1800 mm are 1.8 m
            [water]\ndepth_m = -1.5 | 2:11: water.depth_m: -1.5 m is too small; allowed: 0.1 to 5 m; the default is 1 m
            [water]\ndepth_m = nan | 2:11: water.depth_m: nan is not a finite number; allowed: 0.1 to 5 m
            [water]\ndepth_m = -inf | 2:11: water.depth_m: -inf is not a finite number; allowed: 0.1 to 5 m
            [water]\ndepth_m = '2 m' | 2:11: water.depth_m: '2 m' is a text; expected a number (0.1 to 5 m); write the number without quotation marks and without a unit, the key names the unit
            ducks = 2.5 | 1:9: ducks: 2.5 is a decimal number; expected a whole number (0 to 9)
            ducks = 10 | 1:9: ducks: 10 is too large; allowed: 0 to 9; the default is 3
            ducks = 99999999999999999999 | 1:9: ducks: 99999999999999999999 is too large; allowed: 0 to 9
            deep = 'true' | 1:8: deep: 'true' is a text; expected true or false; write it without quotation marks
            title = 3 | 1:9: title: 3 is a whole number; expected a text; put it in quotation marks
            title = 1979-05-27 | 1:9: title: 1979-05-27 is a date; expected a text; put it in quotation marks
            water = 3 | 1:9: water: 3 is a whole number; expected a table
            at_m = [0, 0, 0] | 1:8: at_m: has 3 items; allowed: exactly 2
            at_m = [1, 2] | 1:12: at_m[1]: 2 m is too large; allowed: -1 to 1 m
            at_m = 1 | 1:8: at_m: 1 is a whole number; expected a list; put it in [ ]
            kind = 'stil' | 1:8: kind: "stil" is not one of still, running; did you mean "still"?
            [reeds.a]\n | 1:1: reeds.a: "height_m" is missing; expected a number (0 to 3 m)
            [[stones]]\n | 1:1: stones[0]: "shape" is missing; it selects the kind: one of round, flat
            [[stones]]\nshape = 'rund' | 2:9: stones[0].shape: "rund" is not one of round, flat; did you mean "round"?
            [[stones]]\nshape = 'flat'\nradius_m = 1 | 3:1: stones[0].radius_m: unknown key "radius_m"; allowed here: shape
            ducks = 1\nducks = 2 | 2:1: duplicate key: ducks is already on line 1; remove one of them"#;
        for [text, wanted] in rows(table) {
            let problems = pond(&text).unwrap_err();
            assert_eq!(
                problems.to_string(),
                format!("pond.toml:{wanted}"),
                "{text}"
            );
        }
    }

    /// A fixed bug: the time for many unknown keys in one long line grew with the square of their number, and all commands waited
    /// for it: 30 s for 60,000 keys.
    #[test]
    fn many_unknown_keys_in_one_line_are_found_at_once() {
        let keys: Vec<String> = (0..40_000).map(|key| format!("\"é{key}\" = 1")).collect();
        let text = format!("water = {{ {} }}", keys.join(", "));
        let problems = pond(&text).unwrap_err();
        assert_eq!(problems.0.len(), 101);
        assert_eq!((problems.0[1].line, problems.0[1].column), (1, 21));
    }

    #[test]
    fn blank_texts_are_recognized() {
        for text in ["", " \t\r\n\n", "\u{feff}", "\0\0\0", "\u{feff}\n"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["#", "a = 1", "\n\n# all defaults\n"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn all_problems_come_at_once_and_in_order() {
        let text = "# é\ntitle = 3\ndeep = \nducks = 10\nducks = 1\nkind = 'stil'\n[water]\ndepth_m = nan\nx = 1\n";
        let problems = pond(text).unwrap_err();
        let lines: Vec<usize> = problems.0.iter().map(|p| p.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 8, 9], "{problems}");
    }

    #[test]
    fn a_syntax_error_has_no_follow_up_problems() {
        let problems = pond("[reeds.a]\nheight_m = 1..5\n").unwrap_err();
        assert_eq!(problems.0.len(), 1, "{problems}");
        assert_eq!(problems.0[0].line, 2);
    }

    #[test]
    fn columns_count_characters() {
        let problems = pond("title = 'ééé'  \nkind = 'é' # x\nat_m = ['é', 1]").unwrap_err();
        let place = (problems.0[1].line, problems.0[1].column);
        assert_eq!(place, (3, 9), "{problems}");
    }

    #[test]
    fn large_files_are_rejected_and_long_lists_of_problems_cut() {
        let problems = pond(&"#".repeat(2 << 20)).unwrap_err();
        assert_message(&problems, &["is larger than"]);
        let many: String = (0..1000).map(|i| format!("key{i} = 1\n")).collect();
        let problems = pond(&many).unwrap_err();
        assert_eq!(problems.0.len(), 101);
        assert!(problems.to_string().ends_with("and 900 more problems"));
    }

    #[test]
    fn an_invisible_character_in_a_syntax_error_is_named() {
        for (text, wanted) in [
            (
                "ducks\u{a0}= 1",
                "column 6 of this line is an invisible character (U+00A0, non-breaking space)",
            ),
            (
                "deep = true\nducks = \u{200b}1",
                "(U+200B, zero-width space)",
            ),
            ("ducks =\u{c} 1", "(U+000C, form feed)"),
            ("ducks = 1\0", "(U+0000, NUL)"),
        ] {
            let problems = pond(text).unwrap_err().to_string();
            assert_message(&problems, &[wanted]);
        }
    }

    /// A fixed bug: a text with NUL was accepted as a path, and failed only when the file was opened.
    #[test]
    fn a_text_with_nul_is_refused() {
        let problems = pond("title = \"a\\u0000b\"").unwrap_err();
        assert_message(&problems, &["pond.toml:1:9: title: ", "NUL"]);
    }

    /// A fixed bug: a file with thousands of entries was checked for minutes, because each entry was compared with all others.
    #[test]
    fn a_list_or_table_with_too_many_entries_has_no_value() {
        let table = "
            at_m = [9, 9, 9] | pond.toml:1:8: at_m: has 3 items; allowed: exactly 2
            [rocks]\\na = 9\\nb = 9\\nc = 9 | pond.toml:1:1: rocks: has 3 entries; allowed: at most 2";
        for [text, wanted] in rows(table) {
            let (value, problems) = parse_lenient::<Pond>(&text, "pond.toml");
            assert!(value.is_none());
            assert_eq!(problems.to_string(), wanted);
        }
    }

    #[test]
    fn unreadable_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let message = |path: &Path| read_text(path).unwrap_err().message;
        assert!(message(&path).starts_with("cannot be opened"));
        assert_eq!(
            message(folder.path()),
            "cannot be opened: it is a folder, not a file"
        );
        std::fs::write(&path, b"a = '\xff'").unwrap();
        assert_eq!(
            message(&path),
            "is not UTF-8 text (byte 5); save it as UTF-8"
        );
        std::fs::write(&path, vec![b'#'; 2 << 20]).unwrap();
        assert!(message(&path).starts_with("is larger than"));
        std::fs::write(&path, "a = 1").unwrap();
        assert_eq!(read_text(&path).unwrap(), "a = 1");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = pond(&String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn arbitrary_lines_do_not_panic(lines in proptest::collection::vec(
            "(\\[{0,2}(water|stones|reeds\\.a|x)?\\]{0,2})|((title|ducks|at_m|kind|shape|depth_m|water|stones\\.a) ?= ?(1|-0|1e999|nan|'é|\"x\"|\\[1,|\\]|\\{a=|\\}|true|0xff|1979-05-27|\"\"\"))", 0..12)) {
            let text = lines.join("\n");
            if let Err(problems) = pond(&text) {
                prop_assert!(!problems.0.is_empty());
                prop_assert!(problems.0.iter().all(|p| p.line >= 1 && p.column >= 1));
            }
        }
    }

    #[test]
    fn deep_nesting_is_rejected() {
        let text = format!("title = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(pond(&text).is_err());
        let text = format!("{}x = 1", "a.".repeat(100_000));
        assert!(pond(&text).is_err());
        let text = format!("[{}x]", "a.".repeat(100_000));
        assert!(pond(&text).is_err());
    }
}
