//! Tests of the README and of the book in `docs`: links, chapters, examples, faults, and the generated reference.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use shoal::config::parse_lenient;
use shoal::control::FAULT_NAMES;
use shoal::site::{SceneFile, SiteFile, SpeciesFile, check_report};
use shoal::tuning::TuningFile;

/// Pages outside of `docs`.
const OTHER_PAGES: [&str; 3] = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];
/// Folder of the generated pages.
const REFERENCE: &str = "docs/reference/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, ending: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, ending, found);
        } else if path.extension().is_some_and(|own| own == ending) {
            let path = path.strip_prefix(root()).unwrap();
            found.push(path.to_str().unwrap().to_owned());
        }
    }
}

/// Returns the pages of the book by their path from the root.
fn chapters() -> BTreeMap<String, String> {
    let mut paths = Vec::new();
    collect(&root().join("docs"), "md", &mut paths);
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn pages() -> BTreeMap<String, String> {
    let mut pages = chapters();
    for path in OTHER_PAGES {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        pages.insert(path.to_owned(), text);
    }
    pages
}

/// Returns the lines outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the blocks of code of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let parts = text.split("```").skip(1).step_by(2);
    let named = parts.filter_map(|part| part.strip_prefix(&begin[3..]));
    named.collect()
}

/// Returns the targets of all links and pictures of a page.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // Parts between backticks are no links.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in plain.split("](").skip(1) {
            found.extend(rest.split(')').next().map(str::to_owned));
        }
    }
    found
}

/// Returns the anchors of the headings of a page, as a browser of the repository and mdBook form them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Returns the path from the root that a link of a page leads to, without `..`.
fn resolved(page: &str, target: &str) -> String {
    let mut path = PathBuf::new();
    for part in Path::new(page).with_file_name(target).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{page}: {target}"),
            part => path.push(part),
        }
    }
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_link_and_anchor_of_the_book_resolves() {
    let pages = pages();
    let (mut count, mut broken) = (0, Vec::new());
    for (page, text) in &pages {
        for link in links(text) {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            count += 1;
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = match target {
                "" => page.clone(),
                target => resolved(page, target),
            };
            let is_there = root().join(&path).exists();
            // mdBook copies only what is in its folder.
            let leaves = page.starts_with("docs/") && !path.starts_with("docs/");
            let is_anchor = anchor.is_empty()
                || pages
                    .get(&path)
                    .is_some_and(|text| anchors(text).contains(anchor));
            if !is_there || leaves || !is_anchor {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(count > 100, "{count}");
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn every_chapter_is_in_the_summary_once() {
    let chapters = chapters();
    let mut listed: Vec<String> = links(&chapters["docs/SUMMARY.md"])
        .iter()
        .map(|link| resolved("docs/SUMMARY.md", link))
        .collect();
    listed.sort();
    let all: Vec<String> = chapters.into_keys().collect();
    let all: Vec<String> = all.into_iter().filter(|p| p != "docs/SUMMARY.md").collect();
    assert_eq!(listed, all);
}

/// Every TOML example is a site, a scene, a species or a file for tuning, as far as a part of a file can be one.
#[test]
fn every_toml_example_of_the_book_parses() {
    let mut count = 0;
    for (page, text) in pages() {
        for example in blocks(&text, "toml") {
            count += 1;
            let problems = [
                parse_lenient::<SiteFile>(example, &page).1,
                parse_lenient::<SceneFile>(example, &page).1,
                parse_lenient::<SpeciesFile>(example, &page).1,
                parse_lenient::<TuningFile>(example, &page).1,
            ];
            let best = problems.iter().min_by_key(|problems| problems.0.len());
            let best = best.unwrap();
            assert!(best.0.is_empty(), "{best}\n{example}");
        }
    }
    assert!(count > 60, "{count}");
}

/// Every fault has a row with its name and, if the panel has one, the sentence of the panel.
#[test]
fn every_fault_is_in_the_page_about_troubleshooting() {
    let page = &chapters()["docs/troubleshoot.md"];
    let sentences = std::fs::read_to_string(root().join("src/panel/assets/messages/en.js"));
    let sentences = sentences.unwrap();
    let mut missing = Vec::new();
    for name in FAULT_NAMES {
        let said = sentences.split(&format!("\n  \"fault.{name}\": \"")).nth(1);
        let said = said.and_then(|rest| rest.split("\",\n").next());
        let row = format!("\n| `{name}` | {} | ", said.unwrap_or("–"));
        if !page.contains(&row) {
            missing.push(row);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    let (_, rows) = page.split_once("\n## By fault\n").unwrap();
    let count = rows.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(count, FAULT_NAMES.len(), "rows of faults that do not exist");
}

/// The pages of the reference are those that the program writes.
#[test]
fn the_reference_is_what_the_program_writes() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args(["generate", "--reference"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let chapters = chapters();
    let mut names = BTreeSet::from([format!("{REFERENCE}README.md")]);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = format!("{REFERENCE}{name}");
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(
            chapters.get(&name) == Some(&written),
            "{name} is not that of this version: `cargo run -- generate --reference docs/reference` writes it"
        );
        names.insert(name);
    }
    let committed = chapters.into_keys().filter(|p| p.starts_with(REFERENCE));
    assert_eq!(committed.collect::<BTreeSet<_>>(), names);
}

/// Every site in `config/examples` is valid without a warning, and has a place in the book.
#[test]
fn the_example_sites_are_valid() {
    let page = &chapters()["docs/examples.md"];
    let mut files = Vec::new();
    collect(&root().join("config/examples"), "toml", &mut files);
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(root().join(&file)).unwrap();
        if text.starts_with("# Created by `shoal calibrate`") {
            continue;
        }
        count += 1;
        let report = check_report(Some(&root().join(&file)));
        assert!(report.is_good() && report.warnings.is_empty(), "{report}");
        let name = file.rsplit('/').next().unwrap();
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    assert_eq!(count, 6);
}
