//! Detects changes of a site's files on the disk, by polling and comparing their contents.
//!
//! In: the path of the site file; regular polls. Out: commands that apply the documents on the disk, once after each completed
//! change of a document or of a file that a document refers to. Must not: validate the texts, ask a clock, start a thread.
//!
//! Time stamps and sizes do not show every change: FAT has two seconds, `rsync -t` keeps the stamp, and a container can swap a
//! whole folder. So documents are compared by their text, and the files that they refer to by a hash.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::library::{files_on_disk, folder_of};
use super::models::file_of_model;
use crate::config::{Problem, Problems, is_blank, open_file, read_text};
use crate::control::{Command, DocumentName, DocumentText};

/// Interval between polls, in seconds. A change is reported after the files have been stable for one interval, that
/// is, within two intervals.
pub const POLL_SECS: f32 = 0.25;

/// Number of polls for which a document must be stable if it looks as if another program is still writing it. Covers a program
/// that truncates a file, or removes it, and writes it later: 2 s.
const INCOMPLETE_POLLS: u32 = 8;

/// Size of the pieces in which a file is read to compute its hash, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Modification time and size of a file. A file whose stamp has changed is read at the next poll.
type Stamp = (Option<SystemTime>, u64);

/// Contents of the watched files at one poll.
#[derive(Debug, Default, Clone, PartialEq)]
struct Contents {
    documents: BTreeMap<DocumentName, Result<String, Problem>>,
    /// Folders that cannot be read.
    folder_problems: Vec<Problem>,
    /// Hash of each file that a document refers to; `None` for a file that cannot be read.
    referred: BTreeMap<PathBuf, Option<u64>>,
}

/// Watches the files of one site.
#[derive(Debug)]
pub struct FileWatcher {
    site: PathBuf,
    /// Contents at the last poll.
    seen: Contents,
    /// Number of polls since the contents last changed.
    stable_polls: u32,
    /// Last reported contents.
    reported: Contents,
    /// Last text of each document that did not look incomplete.
    complete: BTreeMap<DocumentName, String>,
    /// All documents that have ever been reported.
    known: BTreeSet<DocumentName>,
    /// Stamps of the referred files when they were last read.
    stamps: BTreeMap<PathBuf, Option<Stamp>>,
    /// Number of the referred file that is read at the next poll even if its stamp is unchanged.
    next_read: usize,
}

impl FileWatcher {
    /// Watches a site file with the scenes and species beside it, starting from their current contents. It must be created
    /// before the site is loaded, so that a change between the two is reported.
    pub fn new(site: &Path) -> Self {
        let mut watcher = Self {
            site: site.to_path_buf(),
            seen: Contents::default(),
            stable_polls: 0,
            reported: Contents::default(),
            complete: BTreeMap::new(),
            known: BTreeSet::new(),
            stamps: BTreeMap::new(),
            next_read: 0,
        };
        watcher.seen = watcher.read();
        watcher.mark_reported();
        watcher
    }

    /// Makes the next polls report the files as they are, even if they do not change.
    pub fn report_all(&mut self) {
        self.reported = Contents::default();
    }

    /// Returns the commands that apply the current state of the files, if the contents of any file have changed and all were
    /// stable since the last poll; otherwise `None`. A file that looks incomplete must be stable for longer.
    ///
    /// The commands contain all documents, so a change that was rejected is tried again when any file has changed. Deletions
    /// are a command of their own: a deletion of a document that a scene needs is rejected, and must not prevent the other
    /// changes.
    ///
    /// # Errors The files that cannot be read. They are returned once, until any file has changed.
    pub fn poll(&mut self) -> Option<Result<Vec<Command>, Problems>> {
        let contents = self.read();
        if contents != self.seen {
            self.seen = contents;
            self.stable_polls = 0;
            return None;
        }
        self.stable_polls = self.stable_polls.saturating_add(1);
        let is_stable = self.stable_polls >= INCOMPLETE_POLLS || !self.looks_incomplete();
        if self.seen == self.reported || !is_stable {
            return None;
        }
        self.mark_reported();
        let mut problems = self.seen.folder_problems.clone();
        problems.extend(
            self.seen
                .documents
                .values()
                .filter_map(|text| text.clone().err()),
        );
        if !problems.is_empty() {
            return Some(Err(Problems(problems)));
        }
        let text_of = |document: &DocumentName| DocumentText {
            document: document.clone(),
            text: (self.seen.documents.get(document))
                .and_then(|text| text.as_ref().ok())
                .cloned(),
        };
        let documents = self.known.iter().map(text_of);
        let (existing, deleted): (Vec<_>, Vec<_>) =
            documents.partition(|document| document.text.is_some());
        let mut commands = vec![Command::TakeOver {
            documents: existing,
        }];
        if !deleted.is_empty() {
            commands.push(Command::TakeOver { documents: deleted });
        }
        Some(Ok(commands))
    }

    fn mark_reported(&mut self) {
        self.reported = self.seen.clone();
        self.stable_polls = 0;
        for (name, text) in &self.seen.documents {
            self.known.insert(name.clone());
            if let Ok(text) = text
                && !is_blank(text)
            {
                self.complete.insert(name.clone(), text.clone());
            }
        }
    }

    /// Whether another program seems to be writing a document: the document has disappeared, cannot be read, is empty, or its
    /// end is missing.
    fn looks_incomplete(&self) -> bool {
        let (now, before) = (&self.seen.documents, &self.reported.documents);
        let changed = self
            .known
            .iter()
            .chain(now.keys())
            .filter(|name| now.get(name) != before.get(name));
        let mut changed = changed.map(|name| match now.get(name) {
            Some(Ok(text)) if !is_blank(text) => {
                let complete = self.complete.get(name);
                complete.is_some_and(|complete| is_cut_off(text, complete))
            }
            _ => true,
        });
        changed.any(|is_incomplete| is_incomplete)
            || self.seen.folder_problems != self.reported.folder_problems
    }

    fn read(&mut self) -> Contents {
        let mut folder_problems = Vec::new();
        let files = files_on_disk(&self.site, &mut folder_problems);
        let documents: BTreeMap<_, _> = files
            .into_iter()
            .map(|(name, path)| (name, read_text(&path)))
            .collect();
        let files: BTreeSet<PathBuf> = if documents == self.seen.documents {
            self.seen.referred.keys().cloned().collect()
        } else {
            referred_files(&documents, folder_of(&self.site))
        };
        let referred = self.read_referred(files);
        Contents {
            documents,
            folder_problems,
            referred,
        }
    }

    /// Returns the hashes of the referred files. They can be large, so a poll reads only the files with a new stamp, and one
    /// other file in turn.
    fn read_referred(&mut self, files: BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Option<u64>> {
        let turn = self.next_read.checked_rem(files.len()).unwrap_or(0);
        self.next_read = turn + 1;
        let mut stamps = BTreeMap::new();
        let mut hashes = BTreeMap::new();
        for (number, path) in files.into_iter().enumerate() {
            let stamp = stamp(&path);
            let known = self.seen.referred.get(&path);
            let is_unchanged = self.stamps.get(&path) == Some(&stamp);
            let hash = match known {
                Some(known) if is_unchanged && number != turn => *known,
                _ => hash_of_file(&path),
            };
            stamps.insert(path.clone(), stamp);
            hashes.insert(path, hash);
        }
        self.stamps = stamps;
        hashes
    }
}

/// Whether the end of a text is missing: it is shorter than the complete text, and ends with another line. A program that writes
/// a file in several pieces leaves such texts for a moment, and they can be valid.
fn is_cut_off(text: &str, complete: &str) -> bool {
    let last_line = |text: &'_ str| text.trim_end().lines().last().unwrap_or("").to_owned();
    text.len() < complete.len() && last_line(text) != last_line(complete)
}

/// Returns the files that the documents refer to: flow fields of scenes, models of species, and the calibration of the site.
/// Documents that cannot be parsed are skipped.
fn referred_files(
    documents: &BTreeMap<DocumentName, Result<String, Problem>>,
    folder: &Path,
) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for (name, text) in documents {
        let Ok(document) = text.as_deref().unwrap_or("").parse::<toml::Table>() else {
            continue;
        };
        let text_in = |table: &str, key: &str| document.get(table)?.get(key)?.as_str();
        match name {
            DocumentName::Site => {
                let file = text_in("calibration", "file");
                found.extend(file.map(|file| folder.join(file)));
            }
            DocumentName::Species { .. } => {
                let model = text_in("look", "model");
                found.extend(model.and_then(|model| file_of_model(model, folder)));
            }
            DocumentName::Scene { .. } => {
                let fields = document.get("fields").and_then(toml::Value::as_array);
                let files = fields.into_iter().flatten().filter_map(|field| {
                    let file = field.get("shape")?.get("file")?.as_str()?;
                    Some(folder.join(file))
                });
                found.extend(files);
            }
        }
    }
    found
}

fn hash_of_file(path: &Path) -> Option<u64> {
    let mut file = open_file(path).ok()?;
    let mut hasher = DefaultHasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(hasher.finish()),
            count => hasher.write(&piece[..count]),
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok(), metadata.len()))
}
