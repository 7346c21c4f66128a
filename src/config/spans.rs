//! Where everything stands in one TOML text.
//!
//! In: the text and its raw tree. Out: lines and columns of dotted paths. Must not: judge a value.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::problem::Problem;

/// Where every value of one text stands, so that a later finding can name its line.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    file: String,
    /// First byte of every line.
    lines: Vec<usize>,
    text: String,
    /// By dotted path, list items as numbers: `needs.0.name`.
    places: BTreeMap<String, Range<usize>>,
}

impl Spans {
    pub(super) fn new(text: &str, file: &str) -> Self {
        let starts = text.match_indices('\n').map(|(i, _)| i + 1);
        Self {
            file: file.into(),
            lines: std::iter::once(0).chain(starts).collect(),
            text: text.into(),
            places: BTreeMap::new(),
        }
    }

    /// The file's name as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column, from 1, of the value at a dotted path (`needs[0].name` or `needs.0.name`), or of the nearest
    /// table above it that is written in the text; line 1 where there is none.
    pub fn locate(&self, path: &str) -> (usize, usize) {
        let path = path.replace('[', ".").replace(']', "");
        let mut path = path.as_str();
        loop {
            if let Some(span) = self.places.get(path) {
                return self.line_and_column(span.start);
            }
            match path.rsplit_once('.') {
                Some((above, _)) => path = above,
                None => return (1, 1),
            }
        }
    }

    /// Whether the value at a path is written in the text, rather than its default.
    pub fn is_written(&self, path: &str) -> bool {
        self.places
            .contains_key(&path.replace('[', ".").replace(']', ""))
    }

    /// A finding of the rooms about the value at a path.
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

    pub(super) fn note(&mut self, table: &DeTable<'_>, path: &str) {
        for (key, value) in table {
            let inner = join(path, key.get_ref());
            // A value is pointed at where it stands; a table by its name, for its own span is all its lines.
            let place = match value.get_ref() {
                DeValue::Table(_) => key.span(),
                _ => value.span(),
            };
            self.places.insert(inner.clone(), place);
            self.note_value(value.get_ref(), &inner);
        }
    }

    fn note_value(&mut self, value: &DeValue<'_>, path: &str) {
        match value {
            DeValue::Table(table) => self.note(table, path),
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let inner = join(path, &i.to_string());
                    self.places.insert(inner.clone(), item.span());
                    self.note_value(item.get_ref(), &inner);
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
