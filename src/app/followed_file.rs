//! A file that is read while other programs append to it or replace it.
//!
//! The end of the file is not final: a later read returns what was appended. If the file no longer contains what was read,
//! [`FollowedFile::is_replaced`] says so, and the reader opens the path again. A pipe is only read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Largest number of bytes that are remembered and compared with the file. A larger file that is written again in place, with
/// the same bytes before the reading position, is recognized by its time stamp only.
const REMEMBERED_BYTES: usize = 64 << 10;

/// An open file and what was read from it.
#[derive(Debug)]
pub(super) struct FollowedFile {
    path: PathBuf,
    file: File,
    /// Device and number of the open file, where the system has them.
    identity: Option<(u64, u64)>,
    /// Whether this is a regular file. What was read from a pipe is gone, so a pipe cannot be compared or replaced.
    is_regular: bool,
    /// State of the file when its content was last known.
    known: FileState,
    /// Number of bytes that were read.
    read_bytes: u64,
    /// The last bytes that were read.
    recent: Vec<u8>,
    /// State with a new time stamp, but without new content, that the last read found at the end of the file.
    touched: Option<FileState>,
    is_replaced: bool,
}

/// The state of the file with this path.
#[derive(Clone, Debug, PartialEq)]
struct FileState {
    identity: Option<(u64, u64)>,
    modified: Option<SystemTime>,
    len: u64,
}

impl FollowedFile {
    /// Opens the file.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let known = FileState::of(&metadata);
        Ok(Self {
            path: path.to_path_buf(),
            file,
            identity: known.identity,
            is_regular: metadata.is_file(),
            known,
            read_bytes: 0,
            recent: Vec::new(),
            touched: None,
            is_replaced: false,
        })
    }

    /// Whether a read found that another file has this path, or that the file was written again from its start. All bytes that
    /// the replaced file still had were returned before.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced
    }

    /// Whether the open file was written again from its start, given its present state. A file that was only appended to still
    /// contains all bytes that were read.
    fn was_rewritten(&mut self, now: &FileState) -> std::io::Result<bool> {
        if now.len < self.read_bytes {
            return Ok(true);
        }
        // The time stamp and the length can be the same after a quick change, so the content decides. While a long file is
        // read, an unchanged state is enough: the content is compared at its end.
        let at_end = now.len == self.read_bytes;
        if (at_end || *now != self.known) && self.has_other_content()? {
            return Ok(true);
        }
        // The same text was written again if only the time stamp is another one. The system sets the time stamp before it
        // writes, so one look is not enough: what was appended may not be there yet.
        let is_touched = at_end && now.modified != self.known.modified;
        let is_rewritten = is_touched && self.touched.as_ref() == Some(now);
        self.touched = is_touched.then(|| now.clone());
        Ok(is_rewritten)
    }

    /// Whether the bytes before the reading position are no longer those that were read.
    fn has_other_content(&mut self) -> std::io::Result<bool> {
        let start = self.read_bytes - self.recent.len() as u64;
        self.file.seek(SeekFrom::Start(start))?;
        let mut present = Vec::with_capacity(self.recent.len());
        (&mut self.file)
            .take(self.recent.len() as u64)
            .read_to_end(&mut present)?;
        self.file.seek(SeekFrom::Start(self.read_bytes))?;
        Ok(present != self.recent)
    }

    fn remember(&mut self, read: &[u8]) {
        self.read_bytes += read.len() as u64;
        self.recent.extend_from_slice(read);
        let excess = self.recent.len().saturating_sub(REMEMBERED_BYTES);
        self.recent.drain(..excess);
    }
}

impl Read for FollowedFile {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if !self.is_regular {
            return self.file.read(to);
        }
        if self.is_replaced {
            return Ok(0);
        }
        // The state is noted before the read, so that a change during or after the read is found by the next one. A file that
        // has no name at the moment is about to be replaced; what it still contains is read.
        let now = std::fs::metadata(&self.path).map(|file| FileState::of(&file));
        let now = now.ok();
        let has_other_name = now
            .as_ref()
            .is_some_and(|now| now.identity != self.identity);
        if let Some(now) = now.filter(|_| !has_other_name) {
            if self.was_rewritten(&now)? {
                self.is_replaced = true;
                return Ok(0);
            }
            if self.touched.is_none() {
                self.known = now;
            }
        }
        let length = self.file.read(to)?;
        self.remember(&to[..length]);
        if length > 0 && !has_other_name {
            // The file may have grown after its state was noted. Then the bytes that were read belong to the state after it.
            self.known = FileState::of(&self.file.metadata()?);
        }
        self.is_replaced = has_other_name && length == 0;
        Ok(length)
    }
}

impl FileState {
    fn of(file: &std::fs::Metadata) -> Self {
        Self {
            identity: identity(file),
            modified: file.modified().ok(),
            len: file.len(),
        }
    }
}

#[cfg(unix)]
fn identity(file: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;
    use std::time::Duration;

    /// A file whose time stamp changes only when a test wants it, as on a file system with coarse time stamps.
    struct Fixture {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl Fixture {
        fn new(text: &str) -> (Self, FollowedFile) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("commands.jsonl");
            let fixture = Self {
                _folder: folder,
                path,
            };
            fixture.write(text, 0);
            let followed = FollowedFile::open(&fixture.path).unwrap();
            (fixture, followed)
        }

        fn stamp(&self, secs: u64) {
            let file = File::options().write(true).open(&self.path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(secs))
                .unwrap();
        }

        /// Writes the file again in place, with a time stamp.
        fn write(&self, text: &str, secs: u64) {
            fs::write(&self.path, text).unwrap();
            self.stamp(secs);
        }

        fn append(&self, text: &str) {
            let mut file = File::options().append(true).open(&self.path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        /// Replaces the file by another one, with a time stamp.
        fn replace(&self, text: &str, secs: u64) {
            let other = self.path.with_extension("new");
            fs::write(&other, text).unwrap();
            fs::rename(&other, &self.path).unwrap();
            self.stamp(secs);
        }
    }

    /// Reads to the present end of the file.
    fn rest(followed: &mut FollowedFile) -> String {
        let mut text = String::new();
        followed.read_to_string(&mut text).unwrap();
        text
    }

    /// Returns one read of at most `bytes` bytes.
    fn part(followed: &mut FollowedFile, bytes: usize) -> String {
        let mut buffer = vec![0; bytes];
        let length = followed.read(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn appended_text_is_read_and_nothing_is_read_twice() {
        let (file, mut followed) = Fixture::new("undo\n");
        assert_eq!(rest(&mut followed), "undo\n");
        assert_eq!(rest(&mut followed), "");
        for (count, text) in ["redo\n", "sa", "ve\n"].iter().enumerate() {
            file.append(text);
            file.stamp(count as u64 % 2);
            assert_eq!(rest(&mut followed), *text);
            assert_eq!(rest(&mut followed), "");
        }
        assert!(!followed.is_replaced());
    }

    /// The state of the file was noted only after it was read, so a change before that was taken for the state that was read.
    #[test]
    fn a_file_replaced_right_after_it_was_read_is_noticed() {
        for (text, secs) in [
            ("redo\n", 0), // same length, same time stamp
            ("redo\n", 1),
            ("undo\n", 1), // the same command once more
            ("no\n", 0),
            ("", 0), // truncated, its new text follows
            ("redo\nredo\n", 0),
        ] {
            // Both without and with a read of the end before the change.
            for reads in 1..=2 {
                let (file, mut followed) = Fixture::new("undo\n");
                for _ in 0..reads {
                    part(&mut followed, 100);
                }
                file.write(text, secs);
                // Text that is the same must keep its new time stamp for a second read.
                for _ in 0..2 {
                    assert_eq!(rest(&mut followed), "", "{text:?} {secs} {reads}");
                }
                assert!(followed.is_replaced(), "{text:?} {secs} {reads}");
            }
        }
        for text in ["redo\n", "undo\n", ""] {
            let (file, mut followed) = Fixture::new("undo\n");
            part(&mut followed, 100);
            file.replace(text, 0);
            assert_eq!(rest(&mut followed), "");
            assert!(followed.is_replaced(), "{text:?}");
        }
    }

    /// The time stamp of a file changes before the appended text is in it. The file was then read from its start again.
    #[test]
    fn a_time_stamp_that_is_newer_than_the_content_is_no_replacement() {
        let (file, mut followed) = Fixture::new("undo\n");
        assert_eq!(rest(&mut followed), "undo\n");
        file.stamp(1);
        assert_eq!(rest(&mut followed), "");
        file.append("redo\n");
        file.stamp(1);
        assert_eq!(rest(&mut followed), "redo\n");
        assert_eq!(rest(&mut followed), "");
        assert!(!followed.is_replaced());
    }

    #[test]
    fn the_rest_of_a_renamed_file_is_read_before_its_successor() {
        let (file, mut followed) = Fixture::new("undo\nredo\n");
        assert_eq!(part(&mut followed, 5), "undo\n");
        file.replace("save\n", 0);
        assert!(!followed.is_replaced());
        assert_eq!(rest(&mut followed), "redo\n");
        assert!(followed.is_replaced());
        assert_eq!(rest(&mut FollowedFile::open(&file.path).unwrap()), "save\n");
    }

    #[test]
    fn text_written_in_place_between_two_reads_is_not_read_from_its_middle() {
        let (file, mut followed) = Fixture::new("undo\nredo\n");
        assert_eq!(part(&mut followed, 5), "undo\n");
        file.write("save\nundo\nredo\n", 1);
        assert_eq!(rest(&mut followed), "");
        assert!(followed.is_replaced());
    }

    #[test]
    fn a_file_without_a_name_is_waited_for() {
        let (file, mut followed) = Fixture::new("undo\n");
        assert_eq!(rest(&mut followed), "undo\n");
        fs::remove_file(&file.path).unwrap();
        assert_eq!(rest(&mut followed), "");
        assert!(!followed.is_replaced());
        file.replace("undo\n", 0);
        assert_eq!(rest(&mut followed), "");
        assert!(followed.is_replaced());
    }

    #[test]
    fn long_files_are_compared_before_the_reading_position() {
        let line = "undo\n";
        let long = line.repeat(REMEMBERED_BYTES / line.len() + 1000);
        let (file, mut followed) = Fixture::new(&long);
        assert_eq!(rest(&mut followed), long);
        assert!(followed.recent.len() <= REMEMBERED_BYTES);
        file.write(&format!("{}redo\n", &long[..long.len() - line.len()]), 0);
        assert_eq!(rest(&mut followed), "");
        assert!(followed.is_replaced());
    }
}
