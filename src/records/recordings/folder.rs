//! The recordings that operators made: their folder, their names, and the space that they may take.
//!
//! In: names from clients. Out: paths inside the folder only. Must not: replace a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::files::create_private_folder;
use crate::panel::{RecordingFile, RecordingList, Recordings};
use crate::runtime::{free_bytes, iso_from_time};

/// Folder in the state folder.
const FOLDER: &str = "recordings";
/// Largest number of recordings.
const FILES_MAX: usize = 20;
/// Largest size of all recordings, in bytes.
const ALL_BYTES_MAX: u64 = 8 << 30;
/// Space that a recording leaves free on the disk, in bytes.
const DISK_RESERVE_BYTES: u64 = 1 << 30;
/// Longest name, in bytes.
const NAME_BYTES_MAX: usize = 60;
/// Extension of a recording.
const EXTENSION: &str = ".y4m";
/// Number of recordings of the same second.
const SAME_SECOND_MAX: u32 = 100;

/// The folder.
#[derive(Clone, Debug)]
pub struct RecordingsFolder {
    path: PathBuf,
    /// Returns the free bytes of the disk of a folder; `None` if it is not known.
    disk_free_bytes: fn(&Path) -> Option<u64>,
}

impl RecordingsFolder {
    /// Returns the folder in a state folder. It is created with the first recording.
    pub fn new(state_folder: &Path) -> Self {
        Self::on_disk(state_folder, free_bytes)
    }

    /// Returns the folder on a disk whose free bytes a function returns.
    pub(super) fn on_disk(state_folder: &Path, disk_free_bytes: fn(&Path) -> Option<u64>) -> Self {
        Self {
            path: state_folder.join(FOLDER),
            disk_free_bytes,
        }
    }

    /// Returns the finished recordings, the newest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(super) fn list(&self) -> Result<Vec<RecordingFile>, String> {
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(format!("{}: {error}", self.path.display())),
        };
        let file = |entry: std::fs::DirEntry| {
            let name = entry.file_name().to_str()?.to_owned();
            let metadata = entry.metadata().ok()?;
            let is_recording = is_name(&name) && metadata.is_file();
            is_recording.then(|| RecordingFile {
                name,
                bytes: metadata.len(),
                time: metadata.modified().map(iso_from_time).unwrap_or_default(),
            })
        };
        let mut files: Vec<_> = entries.flatten().filter_map(file).collect();
        files.sort_by(|a, b| b.time.cmp(&a.time).then(b.name.cmp(&a.name)));
        Ok(files)
    }

    /// Returns the finished recordings, and the space for another one.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(super) fn list_with_space(&self) -> Result<RecordingList, String> {
        let recordings = self.list()?;
        let left_bytes = match recordings.len() {
            FILES_MAX.. => 0,
            _ => self.left_bytes(&recordings),
        };
        Ok(RecordingList {
            recordings,
            left_bytes,
        })
    }

    /// Returns the size that another recording beside these can have, in bytes.
    fn left_bytes(&self, files: &[RecordingFile]) -> u64 {
        let used: u64 = files.iter().map(|file| file.bytes).sum();
        let left = ALL_BYTES_MAX.saturating_sub(used);
        // Before the first recording there is no folder.
        let free = (self.disk_free_bytes)(&self.path)
            .or_else(|| (self.disk_free_bytes)(self.path.parent()?));
        free.map_or(left, |free| {
            left.min(free.saturating_sub(DISK_RESERVE_BYTES))
        })
    }

    /// Returns the path of a recording; `None` if there is none with this name.
    pub fn path_of(&self, name: &str) -> Option<PathBuf> {
        let path = is_name(name).then(|| self.path.join(name))?;
        let metadata = std::fs::symlink_metadata(&path).ok()?;
        metadata.is_file().then_some(path)
    }

    /// Deletes a recording.
    ///
    /// # Errors
    /// When there is none with this name, or it cannot be deleted.
    pub(super) fn remove(&self, name: &str) -> Result<(), String> {
        let path = self.path_of(name).ok_or("there is no such recording")?;
        std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Creates the folder, and returns the path of a new recording and the bytes that it may have.
    ///
    /// # Errors
    /// When there is no room for another recording, or the folder cannot be created.
    pub(super) fn new_recording(&self) -> Result<(PathBuf, u64), String> {
        let files = self.list()?;
        if files.len() >= FILES_MAX {
            return Err(format!(
                "there are {FILES_MAX} recordings already; delete one first"
            ));
        }
        create_private_folder(&self.path)
            .map_err(|error| format!("{}: {error}", self.path.display()))?;
        let left = self.left_bytes(&files);
        if left == 0 {
            return Err(
                "there is no space for another recording; delete one first, or make room on the disk"
                    .to_owned(),
            );
        }
        let time: String = iso_from_time(SystemTime::now())
            .chars()
            .filter_map(|c| match c {
                'T' => Some('_'),
                ':' => Some('-'),
                'Z' => None,
                c => Some(c),
            })
            .collect();
        let first = std::iter::once(format!("{time}{EXTENSION}"));
        let others = (2..=SAME_SECOND_MAX).map(|n| format!("{time}_{n}{EXTENSION}"));
        let mut paths = first.chain(others).map(|name| self.path.join(name));
        let path = paths.find(|path| std::fs::symlink_metadata(path).is_err());
        path.map(|path| (path, left))
            .ok_or_else(|| "there are too many recordings of this second".to_owned())
    }
}

/// Returns the recordings in a state folder. `rehearsal` returns the one that is replayed, which cannot be deleted.
pub fn recordings(
    state_folder: &Path,
    rehearsal: impl Fn() -> Option<PathBuf> + Send + Sync + 'static,
) -> Recordings {
    let folder = RecordingsFolder::new(state_folder);
    let (listed, opened) = (folder.clone(), folder.clone());
    Recordings {
        list: Box::new(move || listed.list_with_space()),
        open: Box::new(move |name| File::open(opened.path_of(name)?).ok()),
        remove: Box::new(move |name| {
            if rehearsal().is_some_and(|replayed| folder.path_of(name) == Some(replayed)) {
                return Err(
                    "this recording is replayed; return to the camera before you delete it"
                        .to_owned(),
                );
            }
            folder.remove(name)
        }),
    }
}

/// Whether a recording can have this name. Nothing in it leads to another folder.
fn is_name(name: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
    let stem = name.strip_suffix(EXTENSION);
    name.len() <= NAME_BYTES_MAX
        && stem.is_some_and(|stem| !stem.is_empty() && stem.bytes().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_have_new_names_and_are_listed_and_deleted() {
        let state = tempfile::tempdir().unwrap();
        let folder = RecordingsFolder::on_disk(state.path(), |_| Some(2 * ALL_BYTES_MAX));
        assert_eq!(folder.list().unwrap(), []);
        let before = folder.list_with_space().unwrap().left_bytes;
        let (first, left) = folder.new_recording().unwrap();
        assert_eq!((before, left), (ALL_BYTES_MAX, ALL_BYTES_MAX));
        std::fs::write(&first, b"123").unwrap();
        std::fs::write(state.path().join("recordings/a.y4m.unfinished"), b"x").unwrap();
        let (second, _) = folder.new_recording().unwrap();
        assert_ne!(first, second);
        let listed = folder.list().unwrap();
        assert_eq!((listed.len(), listed[0].bytes), (1, 3));
        assert_eq!(folder.path_of(&listed[0].name), Some(first));
        folder.remove(&listed[0].name).unwrap();
        assert_eq!(folder.list().unwrap(), []);
        for number in 0..FILES_MAX {
            std::fs::write(state.path().join(format!("recordings/{number}.y4m")), b"").unwrap();
        }
        assert_eq!(folder.list_with_space().unwrap().left_bytes, 0);
        let problem = folder.new_recording().unwrap_err();
        assert!(problem.contains("delete one first"), "{problem}");
    }

    #[test]
    fn a_recording_leaves_a_reserve_on_the_disk() {
        let state = tempfile::tempdir().unwrap();
        let room = RecordingsFolder::on_disk(state.path(), |_| Some(DISK_RESERVE_BYTES + 5));
        assert_eq!(room.new_recording().unwrap().1, 5);
        let full = RecordingsFolder::on_disk(state.path(), |_| Some(DISK_RESERVE_BYTES));
        let problem = full.new_recording().unwrap_err();
        assert!(problem.contains("make room on the disk"), "{problem}");
        let unknown = RecordingsFolder::on_disk(state.path(), |_| None);
        assert_eq!(unknown.new_recording().unwrap().1, ALL_BYTES_MAX);
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let state = tempfile::tempdir().unwrap();
        let folder = RecordingsFolder::new(state.path());
        std::fs::create_dir(state.path().join("recordings")).unwrap();
        std::fs::write(state.path().join("secret.y4m"), b"x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(
            state.path().join("secret.y4m"),
            state.path().join("recordings/link.y4m"),
        )
        .unwrap();
        for name in [
            "../secret.y4m",
            "/etc/passwd",
            "link.y4m",
            ".y4m",
            "",
            "a/b.y4m",
            "a\\b.y4m",
            "a.y4m.unfinished",
            "..y4m",
        ] {
            assert_eq!(folder.path_of(name), None, "{name}");
            assert!(folder.remove(name).is_err(), "{name}");
        }
        assert!(state.path().join("secret.y4m").exists());
    }
}
