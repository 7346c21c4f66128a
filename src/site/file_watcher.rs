//! Detects changes of a site's files on the disk, by polling and comparing their contents.
//!
//! In: the path of the site file; regular polls. Out: the documents on the disk, once after each completed
//! change of a document or of a file that a document refers to. Must not: validate the texts, ask a clock, start a thread.
//!
//! Time stamps and sizes do not show every change: FAT has two seconds, `rsync -t` keeps the stamp, and a container can swap a
//! whole folder. So documents are compared by their text, and the files that they refer to by a hash.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::library::{files_on_disk, folder_of};
use super::models::file_of_model;
use crate::config::{Problem, Problems, is_blank, read_text};
use crate::control::{DocumentName, DocumentText};
use crate::files::open_file;

/// Time between two polls. A change is reported after the files have been stable for one interval, that is, within two
/// intervals.
pub const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Number of polls for which a document must be stable if it looks as if another program is still writing it. Covers a program
/// that truncates a file, or removes it, and writes it later: 2 s.
const INCOMPLETE_POLLS: u32 = 8;

/// Number of polls for which a change waits until all files are stable: 5 s. Then the stable files are applied without those
/// that still change: a program that writes one file all the time must not block the others.
const BUSY_POLLS: u32 = 20;

/// Number of changes within [`INCOMPLETE_POLLS`] polls of each other from which a file counts as written all the time.
const BUSY_CHANGES: u32 = 4;

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

/// A watched file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WatchedFile {
    Document(DocumentName),
    Referred(PathBuf),
}

/// Recent changes of one file.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    /// Number of changes, each less than [`INCOMPLETE_POLLS`] polls after the one before.
    changes: u32,
    /// Number of polls since the last change.
    quiet_polls: u32,
}

/// Watches the files of one site.
#[derive(Debug)]
pub struct FileWatcher {
    site: PathBuf,
    /// Contents at the last poll.
    seen: Contents,
    /// Number of polls since the contents last changed.
    stable_polls: u32,
    /// Number of polls since the contents began to differ from the reported ones, or since the last report.
    waiting_polls: u32,
    /// Files that have changed in the last [`INCOMPLETE_POLLS`] polls.
    active: BTreeMap<WatchedFile, Activity>,
    /// Problems of the files that were left out of the last report because they change all the time.
    busy: Vec<Problem>,
    /// Last reported contents.
    reported: Contents,
    /// Last text of each document that did not look incomplete.
    complete: BTreeMap<DocumentName, String>,
    /// All documents that have been reported, except those whose deletion was applied.
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
            waiting_polls: 0,
            active: BTreeMap::new(),
            busy: Vec::new(),
            reported: Contents::default(),
            complete: BTreeMap::new(),
            known: BTreeSet::new(),
            stamps: BTreeMap::new(),
            next_read: 0,
        };
        watcher.seen = watcher.read();
        watcher.mark_reported(watcher.seen.clone());
        watcher
    }

    /// Makes the next polls report the files as they are, even if they do not change.
    pub fn report_all(&mut self) {
        self.reported = Contents::default();
    }

    /// Returns the documents to apply, so that the pool shows the current state of the files, if the contents of any file have changed and all were
    /// stable since the last poll; otherwise `None`. A file that looks incomplete must be stable for longer. Files that change all
    /// the time are left out after `BUSY_POLLS` polls, and [`Self::busy_files`] returns them.
    ///
    /// They are all documents, so a change that was rejected is tried again when any file has changed. Deletions are a second
    /// list to apply: a deletion of a document that a scene needs is rejected, and must not prevent the other changes.
    ///
    /// # Errors
    /// The files that cannot be read. They are returned once, until any file has changed.
    pub fn poll(&mut self) -> Option<Result<Vec<Vec<DocumentText>>, Problems>> {
        let contents = self.read();
        self.note_changes(&contents);
        let is_unchanged = contents == self.seen;
        self.seen = contents;
        self.stable_polls = if is_unchanged {
            self.stable_polls.saturating_add(1)
        } else {
            0
        };
        if self.seen == self.reported {
            self.waiting_polls = 0;
            // A file that changed all the time is again as it was reported, so its problem has ended.
            let has_ended = is_unchanged && !std::mem::take(&mut self.busy).is_empty();
            return has_ended.then(|| Ok(Vec::new()));
        }
        self.waiting_polls += 1;
        let is_settled =
            is_unchanged && (self.stable_polls >= INCOMPLETE_POLLS || !self.looks_incomplete());
        let contents = if is_settled {
            self.busy.clear();
            self.seen.clone()
        } else {
            let busy = self.find_busy();
            if self.waiting_polls < BUSY_POLLS || busy.is_empty() {
                return None;
            }
            self.busy = busy;
            self.quiet_contents()
        };
        if contents == self.reported {
            self.waiting_polls = 0;
            return Some(Ok(Vec::new()));
        }
        self.mark_reported(contents);
        let mut problems = self.reported.folder_problems.clone();
        problems.extend(
            self.reported
                .documents
                .values()
                .filter_map(|text| text.clone().err()),
        );
        if !problems.is_empty() {
            return Some(Err(Problems(problems)));
        }
        let text_of = |document: &DocumentName| DocumentText {
            document: document.clone(),
            text: (self.reported.documents.get(document))
                .and_then(|text| text.as_ref().ok())
                .cloned(),
        };
        let documents = self.known.iter().map(text_of);
        let (existing, deleted): (Vec<_>, Vec<_>) =
            documents.partition(|document| document.text.is_some());
        let mut lists = vec![existing];
        if !deleted.is_empty() {
            lists.push(deleted);
        }
        Some(Ok(lists))
    }

    /// Returns a problem for each file that was left out of the last report because it changes all the time.
    pub fn busy_files(&self) -> &[Problem] {
        &self.busy
    }

    /// Stops repeating the deletions of these documents, because they were applied.
    pub fn forget_deletions(&mut self, applied: &[DocumentText]) {
        for DocumentText { document, text } in applied {
            if text.is_none() && !self.reported.documents.contains_key(document) {
                self.known.remove(document);
                self.complete.remove(document);
            }
        }
    }

    /// Counts the changes of the files between the last poll and these contents.
    fn note_changes(&mut self, contents: &Contents) {
        self.active.retain(|_, activity| {
            activity.quiet_polls += 1;
            activity.quiet_polls < INCOMPLETE_POLLS
        });
        let documents = changed_keys(&self.seen.documents, &contents.documents);
        let referred = changed_keys(&self.seen.referred, &contents.referred);
        let documents = documents.cloned().map(WatchedFile::Document);
        let referred = referred.cloned().map(WatchedFile::Referred);
        for file in documents.chain(referred) {
            let activity = self.active.entry(file).or_default();
            activity.changes = activity.changes.saturating_add(1);
            activity.quiet_polls = 0;
        }
    }

    /// Returns a problem for each file that changes all the time.
    fn find_busy(&self) -> Vec<Problem> {
        let busy = self.active.iter();
        let busy = busy.filter(|(_, activity)| activity.changes >= BUSY_CHANGES);
        let problem = |(file, _): (&WatchedFile, &Activity)| {
            let path = match file {
                WatchedFile::Document(name) => path_of(name, &self.site),
                WatchedFile::Referred(path) => path.clone(),
            };
            Problem::of_file(
                path.display().to_string(),
                "changes all the time, so its changes are not applied; stop the program that writes it",
            )
        };
        busy.map(problem).collect()
    }

    /// Returns the current contents, with the reported content of each file that has changed in the last polls.
    fn quiet_contents(&self) -> Contents {
        let mut contents = self.seen.clone();
        for file in self.active.keys() {
            match file {
                WatchedFile::Document(name) => restore(
                    &mut contents.documents,
                    name,
                    self.reported.documents.get(name),
                ),
                WatchedFile::Referred(path) => restore(
                    &mut contents.referred,
                    path,
                    self.reported.referred.get(path),
                ),
            }
        }
        contents
    }

    fn mark_reported(&mut self, contents: Contents) {
        self.reported = contents;
        self.stable_polls = 0;
        self.waiting_polls = 0;
        for (name, text) in &self.reported.documents {
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

/// Returns the keys whose values differ between two maps, or that only one of the maps has.
fn changed_keys<'a, K: Ord, V: PartialEq>(
    before: &'a BTreeMap<K, V>,
    now: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = &'a K> {
    let changed = now
        .iter()
        .filter(|(key, value)| before.get(key) != Some(value));
    let removed = before.keys().filter(|key| !now.contains_key(*key));
    changed.map(|(key, _)| key).chain(removed)
}

/// Gives a key an earlier value, or removes the key if it had none.
fn restore<K: Ord + Clone, V: Clone>(map: &mut BTreeMap<K, V>, key: &K, earlier: Option<&V>) {
    match earlier {
        Some(value) => map.insert(key.clone(), value.clone()),
        None => map.remove(key),
    };
}

/// Returns the path of a document's file.
fn path_of(document: &DocumentName, site: &Path) -> PathBuf {
    match document {
        DocumentName::Site => site.to_path_buf(),
        other => folder_of(site).join(format!("{other}.toml")),
    }
}

/// Whether the end of a text is missing: it is shorter than the complete text, and ends with another line. A program that writes
/// a file in several pieces leaves such texts for a moment, and they can be valid.
fn is_cut_off(text: &str, complete: &str) -> bool {
    let last_line = |text: &'_ str| text.trim_end().lines().last().unwrap_or("").to_owned();
    text.len() < complete.len() && last_line(text) != last_line(complete)
}

/// Returns the files that the documents refer to: models of species, and the calibration of the site.
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
            DocumentName::Scene { .. } => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    fn species(name: &str) -> DocumentName {
        DocumentName::Species { name: name.into() }
    }

    /// A site in a temporary folder, its species `fish` and its watcher.
    fn watched() -> (tempfile::TempDir, FileWatcher) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("species")).unwrap();
        std::fs::write(folder.path().join("site.toml"), "scene = 'pool'\n").unwrap();
        std::fs::write(folder.path().join("species/fish.toml"), "groups = []\n").unwrap();
        let watcher = FileWatcher::new(&folder.path().join("site.toml"));
        (folder, watcher)
    }

    /// Polls until the watcher reports a change.
    fn changed(watcher: &mut FileWatcher) -> Vec<Vec<DocumentText>> {
        let polls = (0..2 * BUSY_POLLS).find_map(|_| watcher.poll());
        polls.unwrap().unwrap()
    }

    fn deleted(lists: &[Vec<DocumentText>]) -> Vec<DocumentName> {
        let documents = lists.iter().flatten();
        let deleted = documents.filter(|document| document.text.is_none());
        deleted.map(|document| document.document.clone()).collect()
    }

    /// A fixed bug: after a file came and went, every later save repeated its deletion.
    #[test]
    fn a_deletion_is_repeated_only_until_it_is_applied() {
        let (folder, mut watcher) = watched();
        let (site, fish) = (
            folder.path().join("site.toml"),
            folder.path().join("species/fish.toml"),
        );
        std::fs::remove_file(&fish).unwrap();
        assert_eq!(deleted(&changed(&mut watcher)), [species("fish")]);
        // The deletion was rejected, so the next change tries it again.
        std::fs::write(&site, "scene = 'reef'\n").unwrap();
        let repeated = changed(&mut watcher);
        assert_eq!(deleted(&repeated), [species("fish")]);
        for documents in &repeated {
            watcher.forget_deletions(documents);
        }
        std::fs::write(&site, "scene = 'koi'\n").unwrap();
        assert_eq!(changed(&mut watcher).len(), 1);
        // The file comes back and goes again.
        std::fs::write(&fish, "groups = []\n").unwrap();
        assert_eq!(deleted(&changed(&mut watcher)), []);
        std::fs::remove_file(&fish).unwrap();
        assert_eq!(deleted(&changed(&mut watcher)), [species("fish")]);
    }

    /// A fixed bug: while one file was written all the time, no change of another file was applied.
    #[test]
    fn a_file_that_changes_all_the_time_does_not_block_the_others() {
        let (folder, mut watcher) = watched();
        let busy = folder.path().join("species/busy.toml");
        std::fs::write(folder.path().join("site.toml"), "scene = 'reef'\n").unwrap();
        let mut report = None;
        for round in 0..2 * BUSY_POLLS {
            std::fs::write(&busy, format!("# {round}\n")).unwrap();
            if let Some(polled) = watcher.poll() {
                report = Some(polled.unwrap());
                break;
            }
        }
        let report = report.unwrap();
        let [documents] = report.as_slice() else {
            panic!("{report:?}");
        };
        let text = |name| {
            documents
                .iter()
                .find(|d| d.document == name)
                .and_then(|d| d.text.as_deref())
        };
        assert_eq!(text(DocumentName::Site), Some("scene = 'reef'\n"));
        assert_eq!(text(species("busy")), None);
        let problems = watcher.busy_files();
        assert!(
            problems[0].file.ends_with("busy.toml") && problems[0].message.contains("all the time")
        );
        assert_eq!(problems.len(), 1);
        // Alone, the busy file is reported again and again, with nothing to apply.
        let again = (0..2 * BUSY_POLLS).find_map(|round| {
            std::fs::write(&busy, format!("# again {round}\n")).unwrap();
            watcher.poll()
        });
        let again = again.unwrap().unwrap();
        assert!(again.is_empty(), "{again:?}");
        assert_eq!(watcher.busy_files().len(), 1);
        // When the program has ended, its file is applied too.
        assert_eq!(changed(&mut watcher).len(), 1);
        assert!(watcher.busy_files().is_empty());
    }
}
