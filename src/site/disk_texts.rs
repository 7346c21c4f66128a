//! The last known texts of the documents' files, and saving of the documents.
//!
//! In: the documents, and what the watcher of the files has read. Out: which documents differ from their files; saved files. Must
//! not: change a document.

use std::collections::{BTreeMap, BTreeSet};

use super::documents::BrokenFile;
use super::library::Library;
use crate::config::{Problem, Problems, read_text};
use crate::control::{DocumentName, DocumentText};
use crate::files::{remove_file, save_file, save_file_again};

/// Known state of the files on the disk.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskTexts {
    /// Text of each file. Built-in documents have no entry.
    texts: BTreeMap<DocumentName, String>,
    /// Files whose content was rejected.
    broken: BTreeMap<DocumentName, BrokenFile>,
    /// The text that [`Self::save_site`] wrote last.
    own_site: Option<String>,
    /// Broken files whose text a command has replaced. They have to be saved, even if the text is the last valid one.
    repaired: BTreeSet<DocumentName>,
}

impl DiskTexts {
    /// Creates the state of files with these texts.
    pub(super) fn new(texts: BTreeMap<DocumentName, String>) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }

    /// Returns the text of each file.
    pub(super) fn texts(&self) -> &BTreeMap<DocumentName, String> {
        &self.texts
    }

    /// Returns the files whose content was rejected.
    pub(super) fn broken(&self) -> &BTreeMap<DocumentName, BrokenFile> {
        &self.broken
    }

    /// Returns the names of the documents that differ from their files.
    pub(super) fn unsaved(&self, library: &Library) -> Vec<DocumentName> {
        let mut names = library.names();
        names.extend(self.texts.keys().cloned());
        names.sort();
        names.dedup();
        names.retain(|name| {
            let known = self.texts.get(name).map(String::as_str);
            library.own_text(name) != known || self.repaired.contains(name)
        });
        names
    }

    /// Whether the file of a document had another text before.
    pub(super) fn differs(&self, read: &DocumentText) -> bool {
        read.text.as_ref() != self.texts.get(&read.document)
    }

    /// Remembers the text of a file; `None` if the file does not exist.
    pub(super) fn set(&mut self, name: &DocumentName, text: Option<&str>) {
        match text {
            Some(text) => self.texts.insert(name.clone(), text.to_owned()),
            None => self.texts.remove(name),
        };
    }

    /// Remembers that a command has replaced the text of a document.
    pub(super) fn note_replaced(&mut self, name: &DocumentName) {
        if self.broken.contains_key(name) {
            self.repaired.insert(name.clone());
        }
    }

    /// Remembers which of the read files have a content that was rejected.
    pub(super) fn note_broken(
        &mut self,
        library: &Library,
        read: &[DocumentText],
        rejected: Option<&Problems>,
    ) {
        for DocumentText { document, text } in read {
            let file = library.file_of(document);
            let file = file.map_or_else(String::new, |file| file.display().to_string());
            let own: Vec<Problem> = rejected.map_or_else(Vec::new, |problems| {
                let is_own = |problem: &&Problem| problem.file == file;
                problems.0.iter().filter(is_own).cloned().collect()
            });
            match text {
                Some(text) if !own.is_empty() => {
                    let broken = BrokenFile {
                        text: text.clone(),
                        problems: own,
                    };
                    self.broken.insert(document.clone(), broken);
                }
                _ => {
                    self.broken.remove(document);
                }
            }
            self.repaired.remove(document);
        }
    }

    /// Returns what the watcher of the files has read, without the documents whose file is again as it is known here. The watcher
    /// read those before the last save, so their texts must replace neither what was saved nor an edit after it.
    pub(super) fn without_outdated(
        &self,
        library: &Library,
        read: &[DocumentText],
    ) -> Vec<DocumentText> {
        let is_outdated = |read: &DocumentText| {
            let known = self.texts.get(&read.document);
            let now = text_now(library, &read.document);
            self.differs(read) && now.is_some_and(|now| now.as_ref() == known)
        };
        read.iter().filter(|d| !is_outdated(d)).cloned().collect()
    }

    /// Saves every document that differs from its file: first species, then scenes, last the site, so that no file refers to a
    /// missing file. Then the files of removed documents are removed in the opposite order. With `is_replay`, the files stay as
    /// they are. Returns whether any document differed.
    ///
    /// # Errors
    /// A problem for each file that cannot be saved.
    pub(super) fn save(&mut self, library: &Library, is_replay: bool) -> Result<bool, Problems> {
        let mut names = self.unsaved(library);
        names.reverse();
        let (written, removed): (Vec<_>, Vec<_>) = names
            .into_iter()
            .partition(|name| library.own_text(name).is_some());
        let names: Vec<_> = written
            .into_iter()
            .chain(removed.into_iter().rev())
            .collect();
        let saved = names.iter().filter(|_| !is_replay);
        let problems: Vec<Problem> = saved
            .filter_map(|name| save_document(library, name, None).err())
            .collect();
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        for name in &names {
            self.note_saved(library, name);
        }
        Ok(!names.is_empty())
    }

    /// Saves the site file alone, if it differs from its document. It is written after every change, so that its old versions are
    /// thinned out. Returns whether it differed.
    ///
    /// # Errors
    /// The problem if it cannot be saved.
    pub(super) fn save_site(
        &mut self,
        library: &Library,
        is_replay: bool,
    ) -> Result<bool, Problems> {
        let name = DocumentName::Site;
        if !self.unsaved(library).contains(&name) {
            return Ok(false);
        }
        if !is_replay {
            let own = self.own_site.as_deref();
            save_document(library, &name, own).map_err(|problem| Problems(vec![problem]))?;
            self.own_site = library.own_text(&name).map(str::to_owned);
        }
        self.note_saved(library, &name);
        Ok(true)
    }

    fn note_saved(&mut self, library: &Library, name: &DocumentName) {
        self.broken.remove(name);
        self.repaired.remove(name);
        self.set(name, library.own_text(name));
    }
}

/// Reads the text of a document's file: `Some(None)` if there is no file, `None` if it cannot be read.
fn text_now(library: &Library, name: &DocumentName) -> Option<Option<String>> {
    let path = library.file_of(name)?;
    if !path.exists() {
        return Some(None);
    }
    read_text(&path).ok().map(Some)
}

/// Saves a document, or removes its file. `own` is the text that was written last if the file is written after every change.
fn save_document(library: &Library, name: &DocumentName, own: Option<&str>) -> Result<(), Problem> {
    let Some(path) = library.file_of(name) else {
        return Err(Problem::of_file(
            name.to_string(),
            "the built-in demo has no file, so it cannot be saved; start Shoal with a site file",
        ));
    };
    let save_error = |error: std::io::Error| {
        Problem::of_file(
            path.display().to_string(),
            format!("cannot be saved: {error}; the old file is unchanged"),
        )
    };
    match library.own_text(name) {
        Some(text) => {
            if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).map_err(save_error)?;
            }
            match own {
                Some(own) => save_file_again(&path, text.as_bytes(), own.as_bytes()),
                None => save_file(&path, text.as_bytes()),
            }
            .map_err(save_error)
        }
        None => remove_file(&path).map_err(save_error),
    }
}
