//! Notices that files of a site were changed on the disk, whoever changed them and however.
//!
//! In: the site file's path; to be asked now and then. Out: all documents as they are on the disk, once for each change of
//! them or of a field's file that a scene names, when it is over. Must not: judge them, ask a clock, start a thread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::library::{files_on_disk, folder_of};
use crate::config::{Problems, read_text};
use crate::control::{DocumentName, DocumentText};

/// How often to ask: a change is told after it has stood for one interval, so within two.
pub const POLL_SECS: f32 = 0.25;

/// What a file looked like from outside.
type Stamp = (Option<SystemTime>, u64);

/// The files of one site.
#[derive(Debug)]
pub struct DiskWatch {
    site: PathBuf,
    /// As of the last poll.
    seen: BTreeMap<PathBuf, Stamp>,
    /// As they were when they were last told; `None` where they could not be read.
    told: BTreeMap<DocumentName, Option<String>>,
    /// The files that scenes read fields from, as they were then.
    fields: BTreeMap<PathBuf, Option<Stamp>>,
    /// Whether `seen` differs from what was told.
    is_changing: bool,
}

impl DiskWatch {
    /// Watches a site file with the scenes and species beside it, from what they are now.
    pub fn new(site: &Path) -> Self {
        let mut watch = Self {
            site: site.to_path_buf(),
            seen: BTreeMap::new(),
            told: BTreeMap::new(),
            fields: BTreeMap::new(),
            is_changing: false,
        };
        // What cannot be read now is told when it can be.
        watch.told = watch.read().0;
        watch.fields = watch.fields_of(&watch.told);
        watch.seen = watch.stamps();
        watch
    }

    /// All documents, when some of them were changed and all have stood still since the last poll; `None` otherwise.
    ///
    /// # Errors
    /// The files that cannot be read, once; they are tried again when they change.
    pub fn poll(&mut self) -> Option<Result<Vec<DocumentText>, Problems>> {
        let stamps = self.stamps();
        if stamps != self.seen {
            self.seen = stamps;
            self.is_changing = true;
            return None;
        }
        if !std::mem::take(&mut self.is_changing) {
            return None;
        }
        let (texts, problems) = self.read();
        let fields = self.fields_of(&texts);
        if texts == self.told && fields == self.fields {
            return None;
        }
        self.fields = fields;
        let gone: Vec<DocumentName> = self
            .told
            .keys()
            .filter(|name| !texts.contains_key(name))
            .cloned()
            .collect();
        self.told.clone_from(&texts);
        if !problems.0.is_empty() {
            return Some(Err(problems));
        }
        let there = texts.into_iter();
        let gone = gone.into_iter().map(|name| (name, None));
        Some(Ok(there
            .chain(gone)
            .map(|(document, text)| DocumentText { document, text })
            .collect()))
    }

    fn stamps(&self) -> BTreeMap<PathBuf, Stamp> {
        // A folder that cannot be read now is a change that is told by `read`.
        let files = files_on_disk(&self.site, &mut Vec::new());
        let documents = files.into_iter().map(|(_, path)| path);
        documents
            .chain(self.fields.keys().cloned())
            .filter_map(|path| Some((path.clone(), stamp(&path)?)))
            .collect()
    }

    /// The files that scenes read fields from; those of a text that cannot be parsed are not known.
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
