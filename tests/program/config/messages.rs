//! Tests of the messages for every kind of mistake in a site, scene or species file. A message says what is wrong, where, and what
//! to do.
//!
//! The cases are texts in the folder `messages`. A line that begins with `==` begins a case, `-- FILE` begins a file of the site,
//! and `~~ FILE` takes a shipped file and replaces the text behind `-` by the one behind `+`. The report must contain the texts
//! behind `>>`; without any, it must be empty. If the case has no mistakes, these are all of its warnings.

use shoal_testing::assert_message;

use super::{SiteFolder, shipped};
use shoal::config::Problem;

/// One case.
#[derive(Default)]
struct Case {
    /// File and line, and the text behind `==`.
    place: String,
    /// Name and text of each file.
    files: Vec<(String, String)>,
    /// Parts of the report.
    expected: Vec<String>,
}

impl Case {
    /// Returns what is wrong with the report; `None` if it is as expected. The site also has the files `common`.
    fn failure(&self, common: &[(&str, &str)]) -> Option<String> {
        let mut files: Vec<(&str, &str)> = (self.files.iter())
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        files.extend(common);
        if !files.iter().any(|(name, _)| *name == "site.toml") {
            files.push(("site.toml", "# defaults"));
        }
        let mut report = SiteFolder::new(&files).report();
        // A case about a species needs no scene with it, if it is not about this message.
        let without_fish = "is in no [population]";
        if !self.expected.iter().any(|part| part.contains(without_fish)) {
            report
                .warnings
                .retain(|warning| !warning.message.contains(without_fish));
        }
        let text = report.to_string();
        let missing = (self.expected.iter()).find(|message| !text.contains(*message));
        let count = self.expected.len();
        if let Some(missing) = missing {
            return Some(format!("expected \"{missing}\", got:\n{text}"));
        }
        // A case that expects a warning must not be hidden by a mistake in its own files.
        let is_complete = match report.problems.is_empty() {
            true => report.warnings.len() == count,
            // A warning that follows from a problem is not wanted.
            false => {
                let is_expected = |warning: &Problem| {
                    let warning = warning.to_string();
                    self.expected.iter().any(|part| warning.contains(part))
                };
                count > 0
                    && !self.place.starts_with("warnings")
                    && report.warnings.iter().all(is_expected)
            }
        };
        (!is_complete).then(|| format!("expected {count} messages, got:\n{text}"))
    }
}

/// Reads the cases of a text with this name.
fn cases(name: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    // What the next line with `+` replaces in a shipped file.
    let mut replaced = None;
    for (line, number) in text.lines().zip(1..) {
        if let Some(title) = line.strip_prefix("==") {
            cases.push(Case {
                place: format!("{name}.txt:{number}:{title}"),
                ..Case::default()
            });
            continue;
        }
        let case = cases.last_mut().unwrap();
        if let Some(message) = line.strip_prefix(">> ") {
            case.expected.push(message.to_owned());
        } else if let Some(file) = line.strip_prefix("-- ") {
            case.files.push((file.to_owned(), String::new()));
        } else if let Some(file) = line.strip_prefix("~~ ") {
            case.files.push((file.to_owned(), shipped(file)));
        } else if let Some(old) = line.strip_prefix('-') {
            replaced = Some(old);
        } else if let Some(new) = line.strip_prefix('+') {
            let (_, text) = case.files.last_mut().unwrap();
            let old = replaced.take().unwrap();
            assert!(text.contains(old), "{name}.txt:{number}: no such line");
            *text = text.replacen(old, &new.replace("\\n", "\n"), 1);
        } else {
            let (_, text) = case.files.last_mut().unwrap();
            text.push_str(line);
            text.push('\n');
        }
    }
    cases
}

/// Checks all cases of a text. Their sites also have the files `common`.
pub(super) fn check(name: &str, text: &str, common: &[(&str, &str)]) {
    let cases = cases(name, text);
    assert!(!cases.is_empty());
    let failures = cases.iter().filter_map(|case| {
        let failure = case.failure(common)?;
        Some(format!("{}\n{failure}\n", case.place))
    });
    assert_eq!(failures.collect::<String>(), "");
}

#[test]
fn mistakes_in_site_files() {
    check("sites", include_str!("messages/sites.txt"), &[]);
}

#[test]
fn mistakes_in_scenes() {
    check("scenes", include_str!("messages/scenes.txt"), &[]);
}

#[test]
fn mistakes_in_species() {
    check("species", include_str!("messages/species.txt"), &[]);
}

#[test]
fn warnings_about_what_is_valid_but_has_no_effect() {
    check("warnings", include_str!("messages/warnings.txt"), &[]);
}

#[test]
fn a_missing_site_file_and_lists_beyond_their_limits() {
    let lists = |entry: fn(usize) -> String| (0..65).map(entry).collect::<String>();
    let needs = lists(|i| format!("[[needs]]\nname = 'n{i}'\nactions = ['go']\n"));
    let actions = lists(|i| format!("[actions.a{i}]\naction = 'wander'\n"));
    let rules = lists(|i| {
        format!(
            "[[director]]\nname = 'r{i}'\nwhen = {{ condition = 'always' }}\nthen = {{ effect = 'calm' }}\n"
        )
    });
    let eel = "species/eel.toml";
    for (file, text, expected) in [
        (eel, needs, "needs: has 65 items; allowed: at most 64"),
        (eel, actions, "actions: 65 actions are too many; a mind"),
        ("scenes/sea.toml", rules, "65 rules are too many; a scene"),
    ] {
        let report = SiteFolder::new(&[("site.toml", "# defaults"), (file, &text)]).report();
        assert_message(&report, &[expected, "at most 64"]);
    }
    let report = SiteFolder::new(&[]).report();
    assert_message(&report, &["site.toml: cannot be opened"]);
}

#[test]
fn no_fish_are_said_to_cover_a_surface_with_a_mistake() {
    for height in ["0", "-3.0", "0.01"] {
        let text = format!("scene = 'koi'\n[surface]\nheight_m = {height}\n");
        let report = SiteFolder::new(&[("site.toml", &text)]).report();
        assert_eq!(report.problems.len(), 1, "{report}");
    }
}
