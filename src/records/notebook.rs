//! The maintenance notebook: what persons did to the installation, and when.
//!
//! In: persons and notes. Out: a file of JSON lines in the state folder, which is part of a backup. Must not: grow without limit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::files::{read_file, write_private};
use crate::panel::{NOTEBOOK_NAME, Notebook, NotebookEntry};
use crate::runtime::now_iso;

/// Largest number of entries. The oldest ones are dropped.
const ENTRIES_MAX: usize = 2000;
/// Longest name of a person, in characters.
const PERSON_CHARS_MAX: usize = 60;
/// Longest note, in characters.
const NOTE_CHARS_MAX: usize = 2000;
/// Largest file, in bytes: all entries of the greatest length, each character four bytes.
const FILE_BYTES_MAX: u64 = 20 << 20;

/// The notebook.
#[derive(Debug)]
pub(super) struct NotebookFile {
    path: PathBuf,
    /// Held while the file is changed.
    writing: Mutex<()>,
}

impl NotebookFile {
    /// Returns the notebook in a state folder. It is created with the first entry.
    pub(super) fn new(state_folder: &Path) -> Self {
        Self {
            path: state_folder.join(NOTEBOOK_NAME),
            writing: Mutex::default(),
        }
    }

    /// Returns all entries, the oldest first. A damaged line is left out.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn read(&self) -> Result<Vec<NotebookEntry>, String> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let content = read_file(&self.path, FILE_BYTES_MAX, "the notebook");
        let content = content.map_err(|problem| format!("{}: {problem}", self.path.display()))?;
        Ok(entries_of(&content))
    }

    /// Adds an entry with the current time.
    ///
    /// # Errors
    /// When a text is empty or too long, or the file cannot be written.
    pub(super) fn add(&self, person: &str, note: &str) -> Result<(), String> {
        let entry = NotebookEntry {
            time: now_iso(),
            person: checked("the person", person, PERSON_CHARS_MAX)?,
            note: checked("the note", note, NOTE_CHARS_MAX)?,
        };
        let _alone = self.writing.lock();
        let mut entries = self.read()?;
        entries.push(entry);
        self.write(entries)
    }

    /// Adds the entries of a backup that this notebook does not contain.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(super) fn merge(&self, backup: &[u8]) -> Result<(), String> {
        let _alone = self.writing.lock();
        let mut entries = self.read()?;
        for entry in entries_of(backup) {
            let is_valid = checked("", &entry.person, PERSON_CHARS_MAX).is_ok()
                && checked("", &entry.note, NOTE_CHARS_MAX).is_ok();
            if is_valid && !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        // Times of one format sort like texts.
        entries.sort_by(|a, b| a.time.cmp(&b.time));
        self.write(entries)
    }

    fn write(&self, mut entries: Vec<NotebookEntry>) -> Result<(), String> {
        let excess = entries.len().saturating_sub(ENTRIES_MAX);
        if excess > 0 {
            tracing::warn!("the notebook is full; its {excess} oldest entries are dropped");
        }
        entries.drain(..excess);
        let mut text = String::new();
        for entry in &entries {
            let line = serde_json::to_string(entry).map_err(|error| error.to_string())?;
            text.push_str(&line);
            text.push('\n');
        }
        write_private(&self.path, text.as_bytes())
            .map_err(|error| format!("{}: cannot be written: {error}", self.path.display()))
    }
}

/// Returns the notebook in a state folder, for the panel.
pub fn notebook(state_folder: &Path) -> Notebook {
    let written = Arc::new(NotebookFile::new(state_folder));
    let read = Arc::clone(&written);
    Notebook {
        read: Box::new(move || read.read()),
        add: Box::new(move |person, note| written.add(person, note)),
    }
}

/// Returns the entries in the lines of a file.
fn entries_of(content: &[u8]) -> Vec<NotebookEntry> {
    let lines = content.split(|byte| *byte == b'\n');
    let entries = lines.filter_map(|line| serde_json::from_slice(line).ok());
    entries.take(ENTRIES_MAX).collect()
}

fn checked(what: &str, text: &str, chars_max: usize) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("{what} is missing"));
    }
    if text.chars().count() > chars_max {
        return Err(format!("{what} has more than {chars_max} characters"));
    }
    let is_shown = |c: &char| !c.is_control() || *c == '\n';
    Ok(text.chars().filter(is_shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_in_order_and_bounded() {
        let state = tempfile::tempdir().unwrap();
        let notebook = NotebookFile::new(&state.path().join("new"));
        assert_eq!(notebook.read().unwrap(), []);
        notebook
            .add(" Ada ", "lamp replaced\nby a new one\u{7}")
            .unwrap();
        notebook.add("Bob", "\"filter\" cleaned").unwrap();
        let entries = notebook.read().unwrap();
        let shown = entries.iter().map(|e| (e.person.as_str(), e.note.as_str()));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                ("Ada", "lamp replaced\nby a new one"),
                ("Bob", "\"filter\" cleaned")
            ]
        );
        for (person, note) in [("", "x"), ("x", " \n"), ("x", &"y".repeat(2001))] {
            assert!(notebook.add(person, note).is_err());
        }
        assert_eq!(notebook.read().unwrap(), entries);
        let many = vec![entries[0].clone(); ENTRIES_MAX];
        notebook.write(many).unwrap();
        notebook.add("Eve", "last").unwrap();
        let kept = notebook.read().unwrap();
        assert_eq!(
            (kept.len(), kept[ENTRIES_MAX - 1].person.as_str()),
            (ENTRIES_MAX, "Eve")
        );
    }

    #[test]
    fn a_backup_adds_what_is_missing_and_a_damaged_line_costs_only_itself() {
        let state = tempfile::tempdir().unwrap();
        let notebook = NotebookFile::new(state.path());
        notebook.add("Ada", "now").unwrap();
        let old = r#"{"time":"2020-01-01T00:00:00Z","person":"Bob","note":"installed"}"#;
        let backup = format!("{old}\nnonsense\n{old}\n\n");
        notebook.merge(backup.as_bytes()).unwrap();
        notebook.merge(backup.as_bytes()).unwrap();
        let entries = notebook.read().unwrap();
        let persons: Vec<_> = entries.iter().map(|entry| entry.person.as_str()).collect();
        assert_eq!(persons, ["Bob", "Ada"]);
    }
}
