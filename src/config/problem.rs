//! Problems of configuration files. Each has a position and a message that names the problem and its fix.
//!
//! In: findings of the parser, of the validator and of other rooms (top-level modules). Out: messages for people.
//! Must not: check anything.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::shown::{visible, without_middle};

/// Maximum number of problems listed for one file. Further problems are only counted.
const PROBLEMS_MAX: usize = 100;

/// Longest message and longest path of a problem, in characters. Both can contain a text of the user.
const MESSAGE_CHARS_MAX: usize = 900;
const PATH_CHARS_MAX: usize = 200;

/// Most characters of a line that are shown on each side of a problem.
const EXCERPT_CHARS: usize = 60;

/// One problem in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// Line, counted from 1; 0 for a problem of the whole file.
    pub line: usize,
    /// Column in characters, counted from 1; 0 for a problem of the whole file.
    pub column: usize,
    /// Path of the value, such as `needs[0].name`; empty for a problem of the whole file.
    pub path: String,
    /// Message that names the value, the problem and its fix.
    pub message: String,
}

impl Problem {
    /// Makes a problem of a whole file.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(file, (0, 0), "", message)
    }

    /// Makes a problem at a line and column. The message and the path are shortened, and the message has escapes for invisible
    /// characters.
    pub(super) fn at(
        file: impl Into<String>,
        (line, column): (usize, usize),
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let message = without_middle(message.into(), MESSAGE_CHARS_MAX);
        Self {
            file: file.into(),
            line,
            column,
            path: without_middle(path.into(), PATH_CHARS_MAX),
            message: visible(&message).into_owned(),
        }
    }
}

impl Problem {
    /// Returns the line of the problem and a mark below its column, for a terminal. `None` if the text has no such position.
    pub fn excerpt(&self, text: &str) -> Option<String> {
        let line = text.lines().nth(self.line.checked_sub(1)?)?;
        let column = self.column.checked_sub(1)?;
        let start = column.saturating_sub(EXCERPT_CHARS);
        let part = |from: usize, to: usize| -> String {
            let chars = line.chars().skip(from).take(to - from);
            chars.map(|c| if c == '\t' { ' ' } else { c }).collect()
        };
        let before = part(start, column);
        let (before, after) = (visible(&before), part(column, column + EXCERPT_CHARS));
        let is_cut = line.chars().nth(column + EXCERPT_CHARS).is_some();
        let more = if is_cut { "…" } else { "" };
        let number = self.line.to_string();
        let (margin, indent) = (" ".repeat(number.len()), before.chars().count());
        Some(format!(
            "  {number} | {before}{}{more}\n  {margin} | {:indent$}^",
            visible(&after),
            ""
        ))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file))?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.file.is_empty() || self.line > 0 {
            f.write_str(": ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", visible(&self.path))?;
        }
        f.write_str(&self.message)
    }
}

/// A list of problems. It is never empty when it is returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Sorts the problems of each file by position. The order of the files does not change.
    pub fn sort(&mut self) {
        let mut files: Vec<String> = Vec::new();
        for problem in &self.0 {
            if !files.contains(&problem.file) {
                files.push(problem.file.clone());
            }
        }
        self.0.sort_by_key(|p| {
            let file = files.iter().position(|f| *f == p.file);
            (file, p.line, p.column)
        });
    }

    /// Keeps the first `PROBLEMS_MAX` problems with a position of each file, and replaces the others by their number. `what`
    /// names them. Problems of a whole file are kept, so a list can be limited again after others were added.
    pub fn limit(&mut self, what: &str) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.0.retain(|problem| {
            if problem.line == 0 {
                return true;
            }
            match counts.get_mut(&problem.file) {
                Some(count) => {
                    *count += 1;
                    *count <= PROBLEMS_MAX
                }
                None => counts.insert(problem.file.clone(), 1).is_none(),
            }
        });
        for (file, count) in counts {
            if count > PROBLEMS_MAX {
                let message = format!("and {} more {what}", count - PROBLEMS_MAX);
                let last = self.0.iter().rposition(|problem| problem.file == file);
                let at = last.map_or(self.0.len(), |last| last + 1);
                self.0.insert(at, Problem::of_file(file, message));
            }
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: names of files and texts of the user reached the terminal with their control characters, and a message
    /// repeated a text of 900 KB.
    #[test]
    fn texts_of_the_user_are_safe_and_short() {
        let problem = Problem::at(
            "scenes/esc\u{1b}[31m\nerror: x.toml",
            (1, 2),
            "a\u{7}".repeat(900),
            format!("\"{}\" is unknown; remove it", "x\n".repeat(450_000)),
        );
        let shown = problem.to_string();
        assert!(shown.chars().all(|c| !c.is_control()), "{shown}");
        assert!(
            shown.starts_with("scenes/esc\\u{1b}[31m\\nerror: x.toml:1:2: a\\u{7}"),
            "{shown}"
        );
        assert!(shown.ends_with("is unknown; remove it"), "{shown}");
        assert!(shown.len() < 3000, "{}", shown.len());
        assert_eq!(
            Problem::of_file("", "there is nothing to undo").to_string(),
            "there is nothing to undo"
        );
    }

    #[test]
    fn an_excerpt_marks_the_column() {
        let at = |line, column| Problem::at("koi.toml", (line, column), "", "wrong");
        let text = "count = 3\n\tweight = 0,5\u{7}\n";
        assert_eq!(
            at(2, 12).excerpt(text).unwrap(),
            "  2 |  weight = 0,5\\u{7}\n    |            ^"
        );
        // Escapes before the column move the mark, and a long line is cut on both sides.
        assert!(
            at(1, 3)
                .excerpt("\u{7}\u{7}x")
                .unwrap()
                .ends_with("\n    |           ^")
        );
        let long = at(1, 5000).excerpt(&"é".repeat(9000)).unwrap();
        assert_eq!(
            long.lines().next().map(|l| l.chars().count()),
            Some(6 + 120 + 1)
        );
        // The file may have changed since, and a problem may concern the whole file.
        for problem in [at(4, 1), at(0, 0), Problem::of_file("koi.toml", "wrong")] {
            assert_eq!(problem.excerpt(text), None);
        }
    }

    #[test]
    fn the_problems_of_each_file_are_limited() {
        let of = |file: &str, count: usize| vec![Problem::at(file, (1, 1), "", "wrong"); count];
        let mut problems = Problems([of("a", 130), of("b", 100), of("c", 1)].concat());
        problems.limit("warnings");
        assert_eq!(problems.0.len(), 202);
        assert_eq!(problems.0[100].to_string(), "a: and 30 more warnings");
        assert_eq!(problems.0[201].to_string(), "c:1:1: wrong");
        let limited = problems.clone();
        problems.limit("warnings");
        assert_eq!(problems, limited);
    }

    #[test]
    fn problems_are_sorted_and_show_their_position() {
        let at = |file: &str, line, message: &str| Problem {
            file: file.into(),
            line,
            column: 3,
            path: "a.b".into(),
            message: message.into(),
        };
        let mut problems = Problems(vec![
            at("z.toml", 9, "late"),
            Problem::of_file("a.toml", "cannot be read"),
            at("z.toml", 2, "early"),
        ]);
        problems.sort();
        assert_eq!(
            problems.to_string(),
            "z.toml:2:3: a.b: early\nz.toml:9:3: a.b: late\na.toml: cannot be read"
        );
    }
}
