//! Problems of configuration files. Each has a position and a message that names the problem and its fix.
//!
//! In: findings of the parser, of the validator and of other rooms (top-level modules). Out: messages for people.
//! Must not: check anything.

use std::fmt;

use serde::Serialize;

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
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            path: String::new(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        f.write_str(": ")?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
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
