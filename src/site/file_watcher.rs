//! Detects changes of a site's files on the disk, by polling.
//!
//! In: the path of the site file; regular polls. Out: the texts of all documents, once after each completed change of
//! a document or of a field file that a scene uses. Must not: validate the texts, ask a clock, start a thread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::library::{files_on_disk, folder_of};
use crate::config::{Problems, read_text};
use crate::control::{DocumentName, DocumentText};

/// Interval between polls, in seconds. A change is reported after the files have been stable for one interval, that
/// is, within two intervals.
pub const POLL_SECS: f32 = 0.25;

/// Modification time and size of a file: if both are equal, the file counts as unchanged.
type Stamp = (Option<SystemTime>, u64);

/// Watches the files of one site.
#[derive(Debug)]
pub struct FileWatcher {
    site: PathBuf,
    /// Stamps at the last poll.
    stamps: BTreeMap<PathBuf, Stamp>,
    /// Last reported text of each document; `None` if the document could not be read.
    reported: BTreeMap<DocumentName, Option<String>>,
    /// Field files of the scenes, with their stamps at the last report.
    fields: BTreeMap<PathBuf, Option<Stamp>>,
    /// Whether the stamps have changed since the last report.
    is_changing: bool,
}

impl FileWatcher {
    /// Watches a site file with the scenes and species beside it, starting from their current texts.
    pub fn new(site: &Path) -> Self {
        let mut watcher = Self {
            site: site.to_path_buf(),
            stamps: BTreeMap::new(),
            reported: BTreeMap::new(),
            fields: BTreeMap::new(),
            is_changing: false,
        };
        // Read errors are ignored here. A file that cannot be read now is reported when it can be read.
        watcher.reported = watcher.read().0;
        watcher.fields = watcher.fields_of(&watcher.reported);
        watcher.stamps = watcher.read_stamps();
        watcher
    }

    /// Returns all documents if any has changed and all were stable since the last poll; otherwise `None`.
    ///
    /// # Errors The files that cannot be read. Each error is returned once; the files are read again when they
    /// change.
    pub fn poll(&mut self) -> Option<Result<Vec<DocumentText>, Problems>> {
        let stamps = self.read_stamps();
        if stamps != self.stamps {
            self.stamps = stamps;
            self.is_changing = true;
            return None;
        }
        if !std::mem::take(&mut self.is_changing) {
            return None;
        }
        let (texts, problems) = self.read();
        let fields = self.fields_of(&texts);
        if texts == self.reported && fields == self.fields {
            return None;
        }
        self.fields = fields;
        let removed: Vec<DocumentName> = self
            .reported
            .keys()
            .filter(|name| !texts.contains_key(name))
            .cloned()
            .collect();
        self.reported.clone_from(&texts);
        if !problems.0.is_empty() {
            return Some(Err(problems));
        }
        let existing = texts.into_iter();
        let removed = removed.into_iter().map(|name| (name, None));
        Some(Ok(existing
            .chain(removed)
            .map(|(document, text)| DocumentText { document, text })
            .collect()))
    }

    fn read_stamps(&self) -> BTreeMap<PathBuf, Stamp> {
        // Problems are ignored here: `read` reports a folder that cannot be read.
        let files = files_on_disk(&self.site, &mut Vec::new());
        let documents = files.into_iter().map(|(_, path)| path);
        documents
            .chain(self.fields.keys().cloned())
            .filter_map(|path| Some((path.clone(), stamp(&path)?)))
            .collect()
    }

    /// Returns the field files of the scenes, with their stamps. Scenes that cannot be parsed are skipped.
    fn fields_of(
        &self,
        texts: &BTreeMap<DocumentName, Option<String>>,
    ) -> BTreeMap<PathBuf, Option<Stamp>> {
        let scenes = texts
            .iter()
            .filter(|(name, _)| matches!(name, DocumentName::Scene { .. }));
        let mut found = BTreeMap::new();
        for text in scenes.filter_map(|(_, text)| text.as_deref()) {
            let Ok(table) = text.parse::<toml::Table>() else {
                continue;
            };
            let fields = table.get("fields").and_then(toml::Value::as_array);
            for field in fields.into_iter().flatten() {
                let file = field.get("shape").and_then(|shape| shape.get("file"));
                if let Some(file) = file.and_then(toml::Value::as_str) {
                    let path = folder_of(&self.site).join(file);
                    found.insert(path.clone(), stamp(&path));
                }
            }
        }
        found
    }

    fn read(&self) -> (BTreeMap<DocumentName, Option<String>>, Problems) {
        let mut problems = Vec::new();
        let files = files_on_disk(&self.site, &mut problems);
        let mut texts = BTreeMap::new();
        for (name, path) in files {
            match read_text(&path) {
                Ok(text) => texts.insert(name, Some(text)),
                Err(problem) => {
                    problems.push(problem);
                    texts.insert(name, None)
                }
            };
        }
        (texts, Problems(problems))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok(), metadata.len()))
}
