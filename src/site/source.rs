//! The text of a document, and the parsed document.
//!
//! Plain data. Must not: read or parse a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::Spans;

/// The text of a document, with the name of its file.
#[derive(Clone, Debug)]
pub(super) struct SourceText {
    pub(super) text: String,
    pub(super) file: String,
    /// Whether the text is built into the program.
    pub(super) is_built_in: bool,
}

impl SourceText {
    /// Returns a text that is built into the program.
    pub(super) fn built_in(text: &str, file: String) -> Self {
        Self {
            text: text.to_owned(),
            file,
            is_built_in: true,
        }
    }

    /// Returns the text of a file that cannot be read or is empty.
    pub(super) fn unusable(file: String) -> Self {
        Self {
            text: String::new(),
            file,
            is_built_in: false,
        }
    }

    /// Whether the file cannot be read or is empty. The problem has been reported.
    pub(super) fn is_unusable(&self) -> bool {
        self.text.is_empty()
    }
}

/// A parsed file. If the file has problems, its value is used only to check other files against it.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) value: T,
    pub(super) spans: Spans,
    /// Whether the file is built into the program.
    pub(super) is_built_in: bool,
}

/// Files by name. `None`: the file exists, but could not be parsed. Its problems are in the list of problems.
pub(super) type Entries<T> = BTreeMap<String, Option<Arc<Entry<T>>>>;
