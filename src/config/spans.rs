//! Positions (line and column) of all values in one TOML text, and in the texts that it extends.
//!
//! In: the texts and their combined raw tree. Out: line and column for a path. Must not: check a value.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::extend::LEVEL_BYTES;
use super::problem::Problem;

/// The positions of all values in one text, so that a later check can report the line of a value.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The text, followed by the texts that it extends.
    sources: Vec<Source>,
    /// Byte range of each value, by path. All segments of the path are separated by points, also list indices:
    /// `needs.0.name`.
    ranges: BTreeMap<String, Range<usize>>,
}

/// One text with the name of its file.
#[derive(Clone, Debug, Default)]
struct Source {
    file: String,
    /// Byte offset of the start of each line.
    lines: Vec<usize>,
    /// Number of characters that begin before each whole number of [`CHUNK_BYTES`].
    characters: Vec<usize>,
    text: String,
}

/// Distance of the offsets whose number of characters is known, so that a column in a long line is found without reading the line.
const CHUNK_BYTES: usize = 1024;

/// Returns the number of characters that begin in these bytes.
fn characters_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

impl Source {
    fn new(text: &str, file: &str) -> Self {
        let starts = text.match_indices('\n').map(|(i, _)| i + 1);
        Self {
            file: file.into(),
            lines: std::iter::once(0).chain(starts).collect(),
            characters: std::iter::once(0)
                .chain(text.as_bytes().chunks(CHUNK_BYTES).scan(0, |sum, chunk| {
                    *sum += characters_in(chunk);
                    Some(*sum)
                }))
                .collect(),
            text: text.into(),
        }
    }

    /// Returns the number of characters that begin before an offset.
    fn characters_before(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let chunk = byte / CHUNK_BYTES;
        let known = self.characters.get(chunk).copied().unwrap_or(0);
        let rest = self.text.as_bytes().get(chunk * CHUNK_BYTES..byte);
        known + characters_in(rest.unwrap_or_default())
    }

    fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= byte).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(byte) - self.characters_before(start) + 1;
        (line, column)
    }
}

impl Spans {
    /// Creates an empty list of positions for a text and the texts that it extends, as (text, file).
    pub(super) fn new(text: &str, file: &str, bases: &[(&str, &str)]) -> Self {
        let own = std::iter::once(Source::new(text, file));
        let inherited = bases.iter().map(|(text, file)| Source::new(text, file));
        Self {
            sources: own.chain(inherited).collect(),
            ranges: BTreeMap::new(),
        }
    }

    /// Returns the name of the file, as the user gave it.
    pub fn file(&self) -> &str {
        self.sources.first().map_or("", |source| &source.file)
    }

    /// Returns the names of the file and of the files that it extends.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.file.as_str())
    }

    /// Returns the whole text, without the texts that it extends.
    pub fn text(&self) -> &str {
        self.sources.first().map_or("", |source| &source.text)
    }

    /// Returns the part of a text at a byte range of the combined tree.
    pub(super) fn text_at(&self, span: &Range<usize>) -> &str {
        let level = span.start / LEVEL_BYTES;
        let by = level * LEVEL_BYTES;
        let source = self.sources.get(level);
        source
            .and_then(|source| {
                source
                    .text
                    .get(span.start - by..span.end.saturating_sub(by))
            })
            .unwrap_or("")
    }

    /// Whether a byte range of the combined tree belongs to a text that this text extends.
    pub(super) fn is_inherited(span: &Range<usize>) -> bool {
        span.start >= LEVEL_BYTES
    }

    /// Whether the value at a path, or its nearest parent that is in a text, is in a text that this text extends.
    pub fn is_inherited_at(&self, path: &str) -> bool {
        self.nearest(path).is_some_and(Self::is_inherited)
    }

    /// Returns the byte range of the value at a path, or of its nearest parent that is in a text.
    fn nearest(&self, path: &str) -> Option<&Range<usize>> {
        let path = path.replace('[', ".").replace(']', "");
        let mut path = path.as_str();
        loop {
            if let Some(span) = self.ranges.get(path) {
                return Some(span);
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    /// Returns file, line and column of a byte range in the combined tree.
    fn place(&self, span: Option<&Range<usize>>) -> (&str, usize, usize) {
        let byte = span.map_or(0, |span| span.start);
        let level = byte / LEVEL_BYTES;
        let Some(source) = self.sources.get(level) else {
            return (self.file(), 1, 1);
        };
        let (line, column) = source.line_and_column(byte - level * LEVEL_BYTES);
        (&source.file, line, column)
    }

    /// Whether the text contains the value at a path. If not, the value is a default.
    pub fn is_written(&self, path: &str) -> bool {
        self.ranges
            .contains_key(&path.replace('[', ".").replace(']', ""))
    }

    /// Creates a problem with the position of the value at a path (`needs[0].name` or `needs.0.name`). If the value is not in the
    /// text, the position is that of its nearest parent in the text, or (1, 1) if there is none.
    pub fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        let (file, line, column) = self.place(self.nearest(path));
        Problem::at(file, (line, column), path, message)
    }

    pub(super) fn problem_at(
        &self,
        span: Option<&Range<usize>>,
        path: String,
        message: String,
    ) -> Problem {
        let (file, line, column) = self.place(span);
        Problem::at(file, (line, column), path, message)
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
