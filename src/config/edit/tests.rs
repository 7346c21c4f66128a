//! Tests of text changes: which parts of a text change and which stay.

use super::*;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shoal_testing::assert_message;
use std::collections::BTreeMap;

const TEXT: &str = "\
# The head of the file.
# Two lines of it.

title = \"pond\"  # what it is called
at_m = [0.5, -1.0]   # where
names = [
    \"a\",  # the first
    \"b\",
]

# About the water.
[water]
depth_m = 0.30    # shallow

# All the stones.
[[stones]]
shape = \"round\"
radius_m = 1.0   # large

[stones.moss]
green = 3

# The second.
[[stones]]
shape = \"flat\"

[reeds.tall]
height_m = 2.0
";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Pond {
    title: String,
    at_m: Vec<f64>,
    names: Vec<String>,
    water: Water,
    stones: Vec<Stone>,
    ducks: u8,
    reeds: BTreeMap<String, Reed>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Water {
    depth_m: f64,
    salt: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Stone {
    Round(Round),
    Flat(Water),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Round {
    radius_m: f64,
    moss: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Reed {
    height_m: f64,
}

fn after(changes: &[(&str, TextChange)]) -> String {
    try_after(TEXT, changes).unwrap_or_else(|e| panic!("{e:?}"))
}

fn try_after(text: &str, changes: &[(&str, TextChange)]) -> Result<String, Vec<RejectedChange>> {
    let changes: Vec<_> = changes
        .iter()
        .map(|(path, change)| (ValuePath::parse(path).unwrap(), change.clone()))
        .collect();
    apply_changes(text, super::super::schema_of::<Pond>(), &changes)
}

fn pond(text: &str) -> Pond {
    toml::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn set(value: Json) -> TextChange {
    TextChange::Set(value)
}

fn insert(index: usize, value: Json) -> TextChange {
    TextChange::Insert {
        index: Some(index),
        value,
    }
}

#[test]
fn a_number_changes_and_nothing_else() {
    let new = after(&[("water.depth_m", set(json!(2)))]);
    assert_eq!(new, TEXT.replace("0.30", "2.0"));
    let new = after(&[("at_m[1]", set(json!(0.1)))]);
    assert_eq!(new, TEXT.replace("-1.0", "0.1"));
    let new = after(&[("stones[0].radius_m", set(json!(3)))]);
    assert_eq!(new, TEXT.replace("radius_m = 1.0", "radius_m = 3.0"));
    // If the new value equals the old one, the text keeps its spelling.
    assert_eq!(after(&[("water.depth_m", set(json!(0.3)))]), TEXT);
    assert_eq!(after(&[("title", set(json!("pond")))]), TEXT);
    let new = after(&[("title", set(json!("a \"b\"\n")))]);
    assert_eq!(pond(&new).title, "a \"b\"\n");
}

#[test]
fn missing_keys_and_tables_are_added() {
    let new = after(&[("water.salt", set(json!(3.0))), ("ducks", set(json!(4)))]);
    assert_message(&new, &["depth_m = 0.30    # shallow\nsalt = 3\n"]);
    assert_eq!(pond(&new).ducks, 4);
    let new = after(&[("reeds.short.height_m", set(json!(1)))]);
    // A new table comes after its sibling tables.
    assert_eq!(new, format!("{TEXT}\n[reeds.short]\nheight_m = 1.0\n"));
    let new = after(&[("reeds.short", set(json!({"height_m": 1})))]);
    assert_eq!(new, format!("{TEXT}\n[reeds.short]\nheight_m = 1.0\n"));
    let new = after(&[("stones[1].salt", set(json!(7)))]);
    assert_eq!(
        new,
        TEXT.replace("shape = \"flat\"\n", "shape = \"flat\"\nsalt = 7\n")
    );
}

#[test]
fn items_of_value_lists_are_inserted_removed_and_moved() {
    let new = after(&[("at_m", insert(0, json!(9)))]);
    assert_eq!(new, TEXT.replace("[0.5, -1.0]   #", "[9.0, 0.5, -1.0]   #"));
    let new = after(&[("at_m[0]", TextChange::Remove)]);
    assert_eq!(new, TEXT.replace("[0.5, -1.0]", "[-1.0]"));
    let new = after(&[("at_m[0]", TextChange::Move { to: 1 })]);
    assert_eq!(new, TEXT.replace("[0.5, -1.0]", "[-1.0, 0.5]"));
    let new = after(&[("names", insert(1, json!("c")))]);
    assert_eq!(pond(&new).names, ["a", "c", "b"]);
    assert!(new.contains("# the first"), "{new}");
    let new = after(&[(
        "names",
        TextChange::Insert {
            index: None,
            value: json!("c"),
        },
    )]);
    assert!(new.contains("    \"b\",\n    \"c\",\n]"), "{new}");
}

#[test]
fn tables_of_a_list_keep_their_comments_and_subtables() {
    let new = after(&[("stones[1]", TextChange::Move { to: 0 })]);
    let text = "\
# The second.
[[stones]]
shape = \"flat\"

# All the stones.
[[stones]]
shape = \"round\"
radius_m = 1.0   # large

[stones.moss]
green = 3

[reeds.tall]";
    assert!(new.contains(text), "{new}");
    let new = after(&[("stones[0]", TextChange::Remove)]);
    assert_message(&new, &["\n# The second.\n[[stones]]\nshape = \"flat\"\n"]);
    assert!(!new.contains("moss"));
    let new = after(&[(
        "stones",
        insert(1, json!({"radius_m": 2, "shape": "round"})),
    )]);
    assert_message(
        &new,
        &["green = 3\n\n[[stones]]\nshape = \"round\"\nradius_m = 2.0\n\n# The second."],
    );
    let new = after(&[
        ("stones[0]", TextChange::Remove),
        ("stones[0]", TextChange::Remove),
        ("stones", insert(0, json!({"shape": "flat", "salt": 1}))),
    ]);
    assert_eq!(pond(&new).stones.len(), 1);
    assert_message(&new, &["[[stones]]\nshape = \"flat\"\nsalt = 1\n"]);
}

#[test]
fn whole_tables_and_lists_change_only_where_they_differ() {
    let new = after(&[("water", set(json!({"depth_m": 0.3, "salt": 2})))]);
    assert_message(&new, &["depth_m = 0.30    # shallow\nsalt = 2\n"]);
    let stones = json!([{"shape": "round", "radius_m": 5, "moss": {"green": 3}}]);
    let new = after(&[("stones", set(stones))]);
    assert!(new.contains("# All the stones."), "{new}");
    assert!(new.contains("radius_m = 5.0   # large"), "{new}");
    assert_eq!(pond(&new).stones.len(), 1);
    let new = after(&[("stones[0]", set(json!({"shape": "flat"})))]);
    assert_message(&new, &["# All the stones.\n[[stones]]\nshape = \"flat\"\n"]);
}

#[test]
fn the_top_comment_stays_when_the_first_key_is_removed() {
    let new = after(&[("title", TextChange::Remove)]);
    assert!(
        new.starts_with("# The head of the file.\n# Two lines of it.\n\n"),
        "{new}"
    );
    assert_eq!(pond(&new).title, "");
}

#[test]
fn all_impossible_changes_are_reported_and_none_is_applied() {
    let rejected = try_after(
        TEXT,
        &[
            ("ducks", set(json!(4))),
            ("stones[7].radius_m", set(json!(4))),
            ("title[0]", TextChange::Remove),
            ("nothing", TextChange::Remove),
            ("at_m", insert(5, json!(1))),
            ("title", set(Json::Null)),
            ("water", TextChange::Move { to: 0 }),
            ("at_m[0]", TextChange::Move { to: 2 }),
        ],
    )
    .unwrap_err();
    let paths: Vec<&str> = rejected.iter().map(|r| r.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "stones[7].radius_m",
            "title[0]",
            "nothing",
            "at_m",
            "title",
            "water",
            "at_m[0]"
        ]
    );
    assert!(rejected[3].message.contains("has 2 items"), "{rejected:?}");
}

#[test]
fn inline_tables_stay_inline() {
    let text = "water = { depth_m = 1.0 } # w\nstones = [{ shape = \"flat\" }]\nreeds = {}\n";
    let new = try_after(
        text,
        &[
            ("water.salt", set(json!(2))),
            ("stones", insert(0, json!({"shape": "round"}))),
            ("reeds.a.height_m", set(json!(1))),
        ],
    )
    .unwrap();
    assert_eq!(
        new,
        "water = { depth_m = 1.0, salt = 2 } # w\n\
         stones = [{ shape = \"round\" }, { shape = \"flat\" }]\n\
         reeds = { a = { height_m = 1.0 } }\n"
    );
    // When the first table is inserted into an empty list, the list is rewritten as tables with heading lines.
    let new = try_after(
        "stones = []\n",
        &[("stones", insert(0, json!({"shape": "flat"})))],
    );
    assert_eq!(new.unwrap().trim(), "[[stones]]\nshape = \"flat\"");
}

fn any_change() -> impl Strategy<Value = (&'static str, TextChange)> {
    let paths = [
        "title",
        "at_m",
        "at_m[0]",
        "names[1]",
        "water",
        "water.salt",
        "water.x.y[0]",
        "stones",
        "stones[0]",
        "stones[1]",
        "stones[0].moss.green",
        "stones[0].moss",
        "reeds",
        "reeds.tall",
        "reeds.b.height_m",
        "reeds.b",
        "names",
        "stones[0].a[1].b",
    ];
    let values = prop_oneof![
        Just(json!(1)),
        Just(json!(1.5)),
        Just(json!("x")),
        Just(json!(null)),
        Just(json!([])),
        Just(json!({})),
        Just(json!({"shape": "flat"})),
        Just(json!([{"shape": "round", "moss": {"a": 1}}, {}])),
        Just(json!([1, [2], {"a": []}])),
        Just(json!({"tall": {"height_m": 3}, "": 1})),
    ];
    let change = prop_oneof![
        values.clone().prop_map(TextChange::Set),
        (proptest::option::of(0usize..3), values)
            .prop_map(|(index, value)| TextChange::Insert { index, value }),
        Just(TextChange::Remove),
        (0usize..3).prop_map(|to| TextChange::Move { to }),
    ];
    (proptest::sample::select(paths.to_vec()), change)
}

proptest! {
    /// After any changes the text is valid TOML and keeps its comment at the top.
    #[test]
    fn any_changes_leave_valid_toml(changes in proptest::collection::vec(any_change(), 1..12)) {
        let mut text = TEXT.to_owned();
        for (path, change) in changes {
            if let Ok(new) = try_after(&text, &[(path, change)]) {
                let read: Result<toml::Table, _> = new.parse();
                prop_assert!(read.is_ok(), "{}\n{new}", path);
                prop_assert!(new.starts_with("# The head of the file.\n"));
                text = new;
            }
        }
    }
}
