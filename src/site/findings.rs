//! What the check of a site finds.
//!
//! In: problems and warnings of the rooms and of the other checks. Out: lists with positions. Must not: check anything.

use std::collections::BTreeSet;

use super::source::Entry;
use crate::config::{Problem, suggestion};

/// Results of the check.
#[derive(Debug)]
pub(super) struct Findings {
    /// Problems. If there is at least one, the site cannot run.
    pub(super) problems: Vec<Problem>,
    /// Warnings: values that are allowed, but probably a mistake.
    pub(super) warnings: Vec<Problem>,
    /// Files that already have problems from parsing. Rules between their values are not checked.
    invalid_files: BTreeSet<String>,
    /// Findings at values that a file inherits from another file.
    inherited: Vec<InheritedFinding>,
}

/// A finding at a value that a file inherits. The other file usually has the same finding itself.
#[derive(Debug)]
struct InheritedFinding {
    finding: Problem,
    /// Name of the file that inherits the value.
    by: String,
    is_warning: bool,
}

impl Findings {
    /// Starts with the problems that were found while each file was parsed.
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self {
            invalid_files: problems
                .iter()
                .map(|problem| problem.file.clone())
                .collect(),
            problems,
            warnings: Vec::new(),
            inherited: Vec::new(),
        }
    }

    pub(super) fn problem<T>(&mut self, entry: &Entry<T>, path: &str, message: String) {
        self.add(entry, path, message, false);
    }

    pub(super) fn warning<T>(&mut self, entry: &Entry<T>, path: &str, message: String) {
        self.add(entry, path, message, true);
    }

    fn add<T>(&mut self, entry: &Entry<T>, path: &str, message: String, is_warning: bool) {
        let finding = entry.spans.problem(path, message);
        if finding.file != entry.spans.file() {
            // A species may leave an inherited action unused.
            let is_whole_action = path.starts_with("actions.") && path.matches('.').count() == 1;
            if is_warning && is_whole_action {
                return;
            }
            self.inherited.push(InheritedFinding {
                finding,
                by: entry.spans.file().to_owned(),
                is_warning,
            });
        } else if is_warning {
            self.warnings.push(finding);
        } else {
            self.problems.push(finding);
        }
    }

    /// Adds the findings at inherited values that the file with the value does not have itself.
    pub(super) fn add_inherited(&mut self) {
        for inherited in std::mem::take(&mut self.inherited) {
            let list = if inherited.is_warning {
                &mut self.warnings
            } else {
                &mut self.problems
            };
            if !list.contains(&inherited.finding) {
                let message = format!(
                    "{} (found in {}, which inherits this value)",
                    inherited.finding.message, inherited.by
                );
                list.push(Problem {
                    message,
                    ..inherited.finding
                });
            }
        }
    }

    /// Whether the file already has problems from parsing. The rules between its values are then not checked, because
    /// their problems would only be consequences.
    pub(super) fn is_invalid<T>(&self, entry: &Entry<T>) -> bool {
        entry
            .spans
            .files()
            .any(|file| self.invalid_files.contains(file))
    }

    /// Adds the problems that a room found in its struct; `table` is the path of the struct in the file.
    pub(super) fn problems_of<T>(
        &mut self,
        entry: &Entry<T>,
        table: &str,
        found: Vec<(String, String)>,
    ) {
        if !self.is_invalid(entry) {
            for (path, message) in found {
                self.problem(entry, &join(table, &path), message);
            }
        }
    }

    /// Adds the warnings that a room found in its struct; `table` is the path of the struct in the file.
    pub(super) fn warnings_of<T>(
        &mut self,
        entry: &Entry<T>,
        table: &str,
        found: Vec<(String, String)>,
    ) {
        if !self.is_invalid(entry) {
            for (path, message) in found {
                self.warning(entry, &join(table, &path), message);
            }
        }
    }
}

/// Joins two paths, either of which can be empty.
fn join(table: &str, path: &str) -> String {
    match (table, path) {
        ("", path) => path.to_owned(),
        (table, "") => table.to_owned(),
        (table, path) => format!("{table}.{path}"),
    }
}

/// Warns of names that a file leaves out of what it extends, although its base does not have them.
pub(super) fn warn_left_out<T>(
    (entry, key, what): (&Entry<T>, &str, &str),
    left_out: &[String],
    inherited: &[&str],
    findings: &mut Findings,
) {
    for (index, name) in left_out.iter().enumerate() {
        if !inherited.contains(&name.as_str()) {
            findings.warning(
                entry,
                &format!("{key}[{index}]"),
                format!(
                    "{}; there is nothing to leave out",
                    unknown(&format!("inherited {what}"), name, inherited.iter())
                ),
            );
        }
    }
}

/// Returns a message about an unknown name. It lists the known names and suggests the most similar name.
pub(super) fn unknown<S: AsRef<str>>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = S>,
) -> String {
    let known: Vec<S> = known.collect();
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let meant = suggestion(name, known.iter().copied());
    // The place follows the name: there is no species "elder" in this scene.
    let (what, place) = what.find(" in ").map_or((what, ""), |at| what.split_at(at));
    format!(
        "there is no {what} \"{name}\"{place}; existing: {}{meant}",
        known.join(", ")
    )
}
