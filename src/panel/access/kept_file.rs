//! A file of the access in the state folder of the site: the accounts, or the sessions. Only its owner can read it.
//!
//! A content that cannot be written is a fault until a later one is written, and [`KeptFile::is_behind`] says that a write is due.
//! The writer refuses what the reader would refuse.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::accounts::Accounts;
use crate::control::Journal;
use crate::files::{read_file, write_private};
use crate::runtime::{Backoff, Fault};

/// Name of the file of accounts.
const ACCOUNTS_FILE: &str = "accounts.json";
/// Name of the file of sessions.
const SESSIONS_FILE: &str = "sessions.json";
/// Largest file that is read and written, in bytes. The limits of accounts and sessions keep both far below.
pub(super) const FILE_BYTES_MAX: u64 = 4 << 20;
/// First and longest pause before a content that could not be written is tried again.
const RETRY: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];

/// A file with the newest content of the access.
#[derive(Debug)]
pub(crate) struct KeptFile {
    /// `None` keeps the content until the program ends.
    path: Option<PathBuf>,
    what: &'static str,
    state: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    /// Number of the newest content that was written.
    number: u64,
    fault: Fault,
    retry: Backoff,
}

impl KeptFile {
    /// Returns the file of accounts in a folder. Does not touch the disk.
    pub(crate) fn of_accounts(folder: Option<PathBuf>, journal: &Journal) -> Self {
        let path = folder.map(|folder| folder.join(ACCOUNTS_FILE));
        Self::new(path, ("users", "panel.users"), journal)
    }

    /// Returns the file of sessions in a folder. Does not touch the disk.
    pub(crate) fn of_sessions(folder: Option<PathBuf>, journal: &Journal) -> Self {
        let path = folder.map(|folder| folder.join(SESSIONS_FILE));
        Self::new(path, ("sessions", "panel.sessions"), journal)
    }

    fn new(path: Option<PathBuf>, (what, fault): (&'static str, &str), journal: &Journal) -> Self {
        Self {
            path,
            what,
            state: Mutex::new(Written {
                number: 0,
                fault: journal.fault(fault),
                retry: Backoff::new(RETRY[0], RETRY[1]),
            }),
        }
    }

    /// Returns the content; `None` if there is no file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, String> {
        let Some(path) = self.path.as_ref().filter(|path| path.exists()) else {
            return Ok(None);
        };
        let read = read_file(path, FILE_BYTES_MAX, "this file");
        read.map(Some).map_err(|problem| self.at_place(&problem))
    }

    fn at_place(&self, problem: &str) -> String {
        let path = self.path.as_deref().unwrap_or(std::path::Path::new(""));
        format!(
            "{}: the {} cannot be read: {problem}",
            path.display(),
            self.what
        )
    }

    /// Returns the accounts in the file, or new ones if there is no file.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged. Then no access is possible, not even with a new password.
    pub(crate) fn read_accounts(&self) -> Result<Accounts, String> {
        let remedy = |problem: String| {
            format!("{problem}; restore the file, or remove it and set a new password")
        };
        match self.read().map_err(remedy)? {
            Some(text) => Accounts::read(&text).map_err(|damage| remedy(self.at_place(&damage))),
            None => Accounts::new().map_err(|error| error.to_string()),
        }
    }

    /// Whether the content with this number, or a newer one, was not written although it is time to do it.
    pub(crate) fn is_behind(&self, number: u64, now: Instant) -> bool {
        // While another thread writes, nothing is due.
        let state = self.state.try_lock();
        state.is_some_and(|state| number > state.number && state.retry.remaining(now).is_zero())
    }

    /// Writes a content, if no newer one was written before. Takes as long as the disk needs.
    ///
    /// # Errors
    /// When the disk refuses. The content then holds until the program ends or a later write succeeds, and a fault says so.
    pub(crate) fn write(&self, number: u64, text: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        if number <= state.number {
            return Ok(());
        }
        let written = match &self.path {
            Some(_) if text.len() as u64 > FILE_BYTES_MAX => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it would have more than {} MiB", FILE_BYTES_MAX >> 20),
            )),
            Some(path) => write_private(path, text),
            None => Ok(()),
        };
        match &written {
            Ok(()) => {
                state.number = number;
                state.fault.clear();
                state.retry = Backoff::new(RETRY[0], RETRY[1]);
            }
            Err(error) => {
                let message = format!(
                    "the {} cannot be saved: {error}. The change holds until Shoal ends, and it is tried again",
                    self.what
                );
                state.fault.raise(&message);
                state.retry.record_failure(Instant::now());
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn accounts_are_kept_in_a_file_that_only_the_owner_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let journal = Journal::default();
        let kept = KeptFile::of_accounts(Some(state.clone()), &journal);
        let accounts = kept.read_accounts().unwrap();
        assert!(
            !state.exists(),
            "nothing is written before there are accounts"
        );
        kept.write(2, &accounts.text()).unwrap();
        kept.write(1, b"older").unwrap();
        let path = state.join(ACCOUNTS_FILE);
        assert_eq!(std::fs::read(&path).unwrap(), accounts.text());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(&state)), (0o600, 0o700));
        }
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
        assert!(
            KeptFile::of_accounts(Some(state), &journal)
                .read_accounts()
                .is_ok()
        );
    }

    #[test]
    fn a_damaged_file_gives_nobody_access() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(ACCOUNTS_FILE), b"{").unwrap();
        let journal = Journal::default();
        let kept = KeptFile::of_accounts(Some(folder.path().to_path_buf()), &journal);
        let message = kept.read_accounts().unwrap_err();
        assert!(
            message.contains("accounts.json: the users cannot be read"),
            "{message}"
        );
    }

    #[test]
    fn a_content_that_no_reader_would_take_is_not_written_and_the_former_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::default();
        let kept = KeptFile::of_sessions(Some(folder.path().to_path_buf()), &journal);
        kept.write(1, b"good").unwrap();
        let huge = vec![b' '; FILE_BYTES_MAX as usize + 1];
        assert!(kept.write(2, &huge).is_err());
        assert_eq!(kept.read().unwrap().as_deref(), Some(&b"good"[..]));
        assert_eq!(journal.faults()[0].name, "panel.sessions");
        let now = Instant::now();
        assert!(!kept.is_behind(2, now), "not at once");
        assert!(kept.is_behind(2, now + RETRY[1]));
        kept.write(3, b"better").unwrap();
        assert_eq!(journal.faults(), []);
        assert!(!kept.is_behind(3, now + RETRY[1]));
    }
}
