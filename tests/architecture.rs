//! Holds the table of rooms in `src/ARCHITECTURE.md` against the code: which rooms there are, and who uses whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../src/ARCHITECTURE.md");

/// Room → rooms it may use, as the page says.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    PAGE.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(
                cells.len(),
                4,
                "a row of the table of rooms has four cells: {line}"
            );
            let allowed = cells[2].split(',').map(str::trim).filter(|c| *c != "–");
            (
                cells[0].trim_matches('`').to_owned(),
                allowed.map(str::to_owned).collect(),
            )
        })
        .collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The first names after `crate::` in code (comments left out), groups `crate::{a, b::c}` included.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let code: String = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let first_name = |text: &str| -> String {
        let end = text
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len());
        text[..end].to_owned()
    };
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(first_name(rest));
            continue;
        };
        let (mut depth, mut start) = (1, 0);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if (c == ',' && depth == 1) || depth == 0 {
                names.insert(first_name(group[start..i].trim_start()));
                start = i + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    names.remove("");
    names
}

#[test]
fn every_room_stands_in_the_table_and_every_row_is_a_room() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rooms: BTreeSet<String> = fs::read_dir(&src)
        .expect("src can be read")
        .map(|entry| entry.expect("src can be read").path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|n| n != "lib.rs" && n != "main.rs")
        })
        .filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    assert_eq!(rooms, table().into_keys().collect());
}

#[test]
fn rooms_use_only_what_the_table_allows() {
    let table = table();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut forbidden = Vec::new();
    for (room, allowed) in &table {
        let files = rust_files(&src.join(room));
        assert!(!files.is_empty(), "the room {room} has no files");
        for file in files {
            let code = fs::read_to_string(&file).expect("a source file is text");
            for used in crate_paths(&code) {
                if used != *room && table.contains_key(&used) && !allowed.contains(&used) {
                    forbidden.push(format!("{} uses {used}", file.display()));
                }
            }
            for other in table.keys().filter(|other| *other != room) {
                if code.contains(&format!("super::super::{other}::")) {
                    forbidden.push(format!("{} reaches {other} through super", file.display()));
                }
            }
        }
    }
    assert!(
        forbidden.is_empty(),
        "not allowed by src/ARCHITECTURE.md:\n{}",
        forbidden.join("\n")
    );
}

#[test]
fn nobody_is_allowed_a_room_that_is_allowed_them() {
    let table = table();
    let mut settled: BTreeSet<&String> = BTreeSet::new();
    while settled.len() < table.len() {
        let before = settled.len();
        for (room, allowed) in &table {
            if allowed.iter().all(|a| settled.contains(a)) {
                settled.insert(room);
            }
        }
        assert!(
            settled.len() > before,
            "the table of rooms has a circle among {:?}",
            table
                .keys()
                .filter(|r| !settled.contains(r))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn the_page_stays_short() {
    assert!(
        PAGE.lines().count() <= 150,
        "src/ARCHITECTURE.md is longer than 150 lines"
    );
}

#[test]
fn paths_are_found_in_groups_and_not_in_comments() {
    let found = crate_paths(
        "use crate::{camera::{Frame, y4m}, geometry::Surface};\n// crate::world\nlet x = crate::config::parse();",
    );
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        ["camera", "config", "geometry"]
    );
}
