//! Checks the table of rooms in `src/ARCHITECTURE.md` against the code: which rooms exist, which rooms each may use, and
//! that other rooms use a room's face only. Checks that the files of a room do not import each other in a circle.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod dependencies;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../src/ARCHITECTURE.md");

/// Modules inside a room that are public on purpose: names in them make sense only with the module's name.
const SUB_FACES: [(&str, &str); 1] = [("behavior", "actions")];

/// Room → rooms that it may use, as the page says.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    PAGE.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            (cells, line)
        })
        .filter(|(cells, _)| cells[0].trim_matches('`').chars().all(char::is_alphabetic))
        .map(|(cells, line)| {
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

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Code without line comments.
fn without_comments(code: &str) -> String {
    code.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every path after `crate::`, groups expanded: `crate::{a, b::{c, d}}` gives `a`, `b::c` and `b::d`.
fn crate_paths(code: &str) -> BTreeSet<String> {
    let code = without_comments(code);
    let mut paths = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            expand(&code[at + "crate::".len()..], "", &mut paths);
        }
    }
    paths
}

/// Adds the path or the `{…}` group at the start of `text` to `paths`, with `prefix` before each path. Returns the rest of
/// the text.
fn expand<'a>(text: &'a str, prefix: &str, paths: &mut BTreeSet<String>) -> &'a str {
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            if let Some(behind) = rest.strip_prefix('}') {
                return behind;
            }
            let before = rest.len();
            rest = expand(rest, prefix, paths);
            // Skip text that is not part of a path, for example a rename (` as b`), up to the next `,` or `}`.
            rest = rest.trim_start_matches(|c: char| !matches!(c, ',' | '}'));
            if rest.len() == before {
                return rest;
            }
        }
    }
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        paths.insert(prefix.trim_end_matches("::").to_owned());
        return rest;
    }
    match rest.strip_prefix("::") {
        Some(deeper) if !deeper.starts_with('<') => {
            expand(deeper, &format!("{prefix}{name}::"), paths)
        }
        _ => {
            paths.insert(format!("{prefix}{name}"));
            rest
        }
    }
}

/// Whether a path names something behind a room's face: a file or folder of the room in the middle of the path.
fn reaches_past_the_face(path: &str, is_module: impl Fn(&str, &str) -> bool) -> bool {
    let names: Vec<_> = path.split("::").collect();
    names.len() > 2 && is_module(names[0], names[1]) && !SUB_FACES.contains(&(names[0], names[1]))
}

#[test]
fn the_table_lists_exactly_the_rooms_of_src() {
    let rooms: BTreeSet<String> = fs::read_dir(src())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    assert_eq!(rooms, table().into_keys().collect());
}

#[test]
fn rooms_use_only_what_the_table_allows_and_only_the_face() {
    let table = table();
    let is_module = |room: &str, name: &str| {
        let path = src().join(room).join(name);
        path.is_dir() || path.with_extension("rs").is_file()
    };
    let mut forbidden = Vec::new();
    for (room, allowed) in &table {
        let files = rust_files(&src().join(room));
        assert!(!files.is_empty(), "the room {room} has no files");
        for file in files {
            let code = fs::read_to_string(&file).unwrap();
            for path in crate_paths(&code) {
                let used = path.split("::").next().unwrap_or_default();
                if used == room || !table.contains_key(used) {
                    continue;
                }
                if !allowed.contains(used) {
                    forbidden.push(format!("{} uses {used}: not in its row", file.display()));
                }
                if reaches_past_the_face(&path, is_module) {
                    forbidden.push(format!(
                        "{} uses {path}: not on the face of {used}",
                        file.display()
                    ));
                }
            }
            let depth = file
                .strip_prefix(src())
                .map_or(0, |path| path.iter().count());
            let up = "super::".repeat(depth);
            for other in table.keys().filter(|other| *other != room) {
                if code.contains(&format!("{up}{other}::")) {
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
fn files_inside_a_room_are_private_modules() {
    let mut open = Vec::new();
    for room in table().keys() {
        let code = fs::read_to_string(src().join(room).join("mod.rs")).unwrap();
        for line in without_comments(&code).lines() {
            let Some((visibility, name)) = line.trim().split_once("mod ") else {
                continue;
            };
            let name = name.trim_end_matches([';', '{', ' ']);
            if visibility.starts_with("pub") && !SUB_FACES.contains(&(room, name)) {
                open.push(format!("{room}: {}", line.trim()));
            }
        }
    }
    assert!(
        open.is_empty(),
        "make these private and re-export what other rooms use:\n{}",
        open.join("\n")
    );
}

#[test]
fn the_table_has_no_circle() {
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

/// Modules of a room, by their path from the room, and what each imports.
#[derive(Default)]
struct Modules(BTreeMap<Vec<String>, Imports>);

/// Imports of one file, with paths from the root of the crate.
#[derive(Default)]
struct Imports {
    /// Every path that the file uses outside its tests.
    uses: BTreeSet<Vec<String>>,
    /// Name → the path from which a `use` line takes it.
    names: BTreeMap<String, Vec<String>>,
}

impl Modules {
    fn of_room(room: &str) -> Self {
        let mut modules = Self::default();
        for file in rust_files(&src().join(room)) {
            let path = file.strip_prefix(src()).unwrap();
            if path
                .iter()
                .any(|part| part == "tests" || part == "tests.rs")
            {
                continue;
            }
            let code = fs::read_to_string(&file).unwrap();
            let mut module: Vec<String> = path
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            module.pop_if(|last| last == "mod");
            modules.add(module, &code);
        }
        modules
    }

    /// Adds the module with the path `module` (its first name is the room) and the source text `code`.
    fn add(&mut self, module: Vec<String>, code: &str) {
        let code = without_comments(
            code.split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or(code),
        );
        let mut imports = Imports::default();
        for (start, base) in starts_of_paths(&code, &module) {
            let mut found = BTreeSet::new();
            expand(&code[start..], "", &mut found);
            for path in found {
                let names = path.split("::").filter(|n| *n != "self" && !n.is_empty());
                let mut whole = base.clone();
                whole.extend(names.map(str::to_owned));
                if let Some(name) = whole.last() {
                    imports.names.entry(name.clone()).or_insert(whole.clone());
                }
                imports.uses.insert(whole);
            }
        }
        self.0.insert(module, imports);
    }

    /// Returns the module in which the item at `path` is defined: re-exports are followed.
    fn home(&self, path: &[String], depth: usize) -> Option<Vec<String>> {
        let known = (1..=path.len())
            .rev()
            .find(|n| self.0.contains_key(&path[..*n]))?;
        let (module, rest) = path.split_at(known);
        let from = rest.first().and_then(|name| self.0[module].names.get(name));
        match from {
            Some(from) if depth < 8 && from != path => self.home(from, depth + 1),
            _ => Some(module.to_vec()),
        }
    }

    /// Returns each circle of imports among modules that have the same parent. A module may use items of its parents,
    /// and a parent uses its children.
    fn circles(&self) -> Vec<String> {
        let mut arrows: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        for (module, imports) in &self.0 {
            for used in imports.uses.iter().filter_map(|path| self.home(path, 0)) {
                let common = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
                if common < module.len() && common < used.len() {
                    let from = module[..=common].to_vec();
                    arrows
                        .entry(from)
                        .or_default()
                        .insert(used[..=common].to_vec());
                }
            }
        }
        let mut circles = BTreeSet::new();
        for start in arrows.keys() {
            let mut reached: BTreeSet<&Vec<String>> = BTreeSet::new();
            let mut open: Vec<_> = arrows[start].iter().collect();
            while let Some(module) = open.pop() {
                if reached.insert(module) {
                    open.extend(arrows.get(module).into_iter().flatten());
                }
            }
            let back = |module: &Vec<String>| {
                let mut seen = BTreeSet::from([module]);
                let mut open = vec![module];
                while let Some(next) = open.pop() {
                    if next == start {
                        return true;
                    }
                    open.extend(
                        arrows
                            .get(next)
                            .into_iter()
                            .flatten()
                            .filter(|m| seen.insert(m)),
                    );
                }
                false
            };
            let circle: BTreeSet<_> = reached
                .into_iter()
                .filter(|m| back(m))
                .map(|m| m.join("::"))
                .collect();
            if !circle.is_empty() {
                circles.insert(circle.into_iter().collect::<Vec<_>>().join(", "));
            }
        }
        circles.into_iter().collect()
    }
}

/// Returns for each path in `code` the position behind its `crate::`, `super::` or `self::`, and the module from which it
/// continues. A `use` line of a child (`use child::Name`) starts at the module itself.
fn starts_of_paths(code: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut starts = Vec::new();
    let begins =
        |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    for (at, _) in code.match_indices("crate::").filter(|(at, _)| begins(*at)) {
        starts.push((at + "crate::".len(), Vec::new()));
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| begins(*at)) {
        let mut behind = at;
        let mut base = module.to_vec();
        while code[behind..].starts_with("super::") {
            behind += "super::".len();
            base.pop();
        }
        starts.push((behind, base));
    }
    for (at, _) in code.match_indices("use ").filter(|(at, _)| begins(*at)) {
        let behind = at + "use ".len();
        let relative = code[behind..]
            .strip_prefix("self::")
            .map_or(behind, |rest| code.len() - rest.len());
        if !["crate::", "super::"]
            .iter()
            .any(|p| code[behind..].starts_with(p))
        {
            starts.push((relative, module.to_vec()));
        }
    }
    starts
}

#[test]
fn the_files_of_a_room_import_each_other_in_no_circle() {
    let mut circles = Vec::new();
    for room in table().keys() {
        for circle in Modules::of_room(room).circles() {
            circles.push(format!("{room}: {circle}"));
        }
    }
    assert!(
        circles.is_empty(),
        "these modules import each other; move what they share into one of them or below both:\n{}",
        circles.join("\n")
    );
}

#[test]
fn a_circle_of_files_is_found_through_re_exports() {
    let module = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
    let mut modules = Modules::default();
    modules.add(
        module("pond"),
        "mod fish;\nmod water;\npub use water::{Depth, Ripple};\npub struct Size;",
    );
    modules.add(
        module("pond::fish"),
        "use crate::pond::{Ripple, Size};\npub struct Fish;",
    );
    modules.add(
        module("pond::water"),
        "use super::Size;\npub struct Ripple;\n// use super::fish::Fish;",
    );
    assert_eq!(modules.circles(), [""; 0]);

    modules.add(
        module("pond::water"),
        "pub struct Ripple(super::fish::Fish);",
    );
    assert_eq!(modules.circles(), ["pond::fish, pond::water"]);
}

#[test]
fn the_page_stays_short() {
    assert!(
        PAGE.lines().count() <= 160,
        "src/ARCHITECTURE.md is longer than 160 lines"
    );
}

#[test]
fn paths_are_found_in_groups_and_not_in_comments() {
    let found = crate_paths(
        "use crate::{camera::{Frame, y4m as raw}, geometry::Surface};\n// crate::world\nlet x = crate::config::parse(); \
         crate::world::Names::default(); use crate::vision::{self, params::VisionParams};",
    );
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        [
            "camera::Frame",
            "camera::y4m",
            "config::parse",
            "geometry::Surface",
            "vision::params::VisionParams",
            "vision::self",
            "world::Names::default"
        ]
    );
}

#[test]
fn a_path_through_a_file_of_another_room_is_past_its_face() {
    let is_module = |_: &str, name: &str| name == "params" || name == "actions";
    assert!(reaches_past_the_face(
        "vision::params::VisionParams",
        is_module
    ));
    assert!(!reaches_past_the_face("vision::VisionParams", is_module));
    assert!(!reaches_past_the_face(
        "vision::VisionParams::default",
        is_module
    ));
    assert!(!reaches_past_the_face("behavior::actions::Seek", is_module));
}
