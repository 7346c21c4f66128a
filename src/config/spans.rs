//! Positions (line and column) of all values in one TOML text.
//!
//! In: the text and its raw tree. Out: line and column for a path. Must not: check a value.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::problem::Problem;

/// The positions of all values in one text, so that a later check can report the line of a value.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    file: String,
    /// Byte offset of the start of each line.
    lines: Vec<usize>,
    text: String,
    /// Byte range of each value, by path. All segments of the path are separated by points, also list indices:
    /// `needs.0.name`.
    ranges: BTreeMap<String, Range<usize>>,
}

impl Spans {
    pub(super) fn new(text: &str, file: &str) -> Self {
        let starts = text.match_indices('\n').map(|(i, _)| i + 1);
        Self {
            file: file.into(),
            lines: std::iter::once(0).chain(starts).collect(),
            text: text.into(),
            ranges: BTreeMap::new(),
        }
    }

    /// Returns the name of the file, as the user gave it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns line and column, counted from 1, of the value at a path (`needs[0].name` or `needs.0.name`). If the
    /// value is not in the text, returns the position of its nearest parent in the text, or (1, 1) if there is none.
    pub fn locate(&self, path: &str) -> (usize, usize) {
        let path = path.replace('[', ".").replace(']', "");
        let mut path = path.as_str();
        loop {
            if let Some(span) = self.ranges.get(path) {
                return self.line_and_column(span.start);
            }
            match path.rsplit_once('.') {
                Some((parent, _)) => path = parent,
                None => return (1, 1),
            }
        }
    }

    /// Whether the text contains the value at a path. If not, the value is a default.
    pub fn is_written(&self, path: &str) -> bool {
        self.ranges
            .contains_key(&path.replace('[', ".").replace(']', ""))
    }

    /// Creates a problem with the position of the value at a path.
    pub fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        let (line, column) = self.locate(path);
        Problem {
            file: self.file.clone(),
            line,
            column,
            path: path.into(),
            message: message.into(),
        }
    }

    pub(super) fn problem_at(
        &self,
        span: Option<Range<usize>>,
        path: String,
        message: String,
    ) -> Problem {
        let (line, column) = self.line_and_column(span.map_or(0, |s| s.start));
        Problem {
            file: self.file.clone(),
            line,
            column,
            path,
            message,
        }
    }

    fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= byte).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let before = self
            .text
            .get(start..byte.min(self.text.len()))
            .unwrap_or("");
        (line, before.chars().count() + 1)
    }

    pub(super) fn record(&mut self, table: &DeTable<'_>, path: &str) {
        for (key, value) in table {
            let inner = join(path, key.get_ref());
            // The range of a table covers all its lines, so the range of its key is used instead.
            let range = match value.get_ref() {
                DeValue::Table(_) => key.span(),
                _ => value.span(),
            };
            self.ranges.insert(inner.clone(), range);
            self.record_value(value.get_ref(), &inner);
        }
    }

    fn record_value(&mut self, value: &DeValue<'_>, path: &str) {
        match value {
            DeValue::Table(table) => self.record(table, path),
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let inner = join(path, &i.to_string());
                    self.ranges.insert(inner.clone(), item.span());
                    self.record_value(item.get_ref(), &inner);
                }
            }
            _ => {}
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.into()
    } else {
        format!("{path}.{key}")
    }
}
