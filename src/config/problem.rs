//! What is wrong, where, and how to mend it.
//!
//! In: findings of the parser, the validator and the rooms. Out: sentences for people. Must not: decide what is wrong.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// Line, counted from 1; 0 where the whole file is meant.
    pub line: usize,
    /// Column in characters, counted from 1; 0 where the whole file is meant.
    pub column: usize,
    /// Dotted path of the value, `needs[0].name`; empty where the whole file is meant.
    pub path: String,
    /// The value, what is wrong with it, and how to mend it.
    pub message: String,
}

impl Problem {
    /// A problem of a whole file.
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

/// Everything that is wrong, by file and then by place in it. Never empty where it is returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Sorts by place within each file; files stay in the order in which they came.
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
    fn problems_say_where_and_come_in_order() {
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
