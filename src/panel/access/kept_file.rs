//! A file of the access in the state folder of the site: the accounts, or the sessions. Only its owner can read it.
//!
//! A content that cannot be written is a fault until a later one is written, and [`KeptFile::is_behind`] says that a write is due.
//! The writer refuses what the reader would refuse. A second file beside it keeps space on the disk: on a full disk it gives way, so that
//! a token that was removed, or a session that was ended, does not come back with the next start.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
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
/// Ending of the file that keeps space for the next write.
const RESERVE_ENDING: &str = "reserve";
/// Smallest size of that file, in bytes. It has twice the size of the content.
const RESERVE_BYTES_MIN: usize = 32 << 10;
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
        let Some(path) = &self.path else {
            return Ok(None);
        };
        // A file that cannot be seen, for example in a folder of another user, is not the same as no file.
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.at_place(&error.to_string())),
            Ok(_) => {}
        }
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
            Some(path) => write_reserved(path, text, write_private),
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

/// Writes a content. If the disk is full, writes it into the space of the reserve.
///
/// # Errors
/// When the disk refuses it.
fn write_reserved(
    path: &Path,
    text: &[u8],
    write: impl Fn(&Path, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let reserve = path.with_extension(RESERVE_ENDING);
    let is_full = |error: &io::Error| {
        let kind = error.kind();
        matches!(
            kind,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    };
    match write(path, text) {
        Err(error) if is_full(&error) && std::fs::remove_file(&reserve).is_ok() => {
            write(path, text)?;
        }
        written => written?,
    }
    let wanted = RESERVE_BYTES_MIN.max(2 * text.len());
    let kept = std::fs::metadata(&reserve).map_or(0, |reserve| reserve.len());
    if kept < text.len().max(RESERVE_BYTES_MIN) as u64 {
        // Without space for it, the next write tries again.
        let _unreserved = write(&reserve, &vec![0; wanted]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // The file and its reserve.
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 2);
        assert!(
            KeptFile::of_accounts(Some(state), &journal)
                .read_accounts()
                .is_ok()
        );
    }

    /// A fixed bug: users that Shoal could not see counted as no users, so anybody could set the first password.
    #[cfg(unix)]
    #[test]
    fn users_that_cannot_be_seen_are_not_the_same_as_no_users() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::default();
        let state = folder.path().join("state");
        std::fs::write(&state, "a file").unwrap();
        let kept = KeptFile::of_accounts(Some(state.clone()), &journal);
        assert!(kept.read_accounts().is_err());
        std::fs::remove_file(&state).unwrap();
        std::fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink("nowhere", state.join(ACCOUNTS_FILE)).unwrap();
        assert!(kept.read_accounts().is_err());
        std::fs::remove_file(state.join(ACCOUNTS_FILE)).unwrap();
        assert!(kept.read_accounts().is_ok());
    }

    /// A fixed bug: a token that was removed while the disk was full was there again after a kill.
    #[test]
    fn on_a_full_disk_the_reserve_gives_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ACCOUNTS_FILE);
        let reserve = path.with_extension(RESERVE_ENDING);
        // A disk that has only the space of the reserve.
        let full = |at: &Path, text: &[u8]| match reserve.exists() {
            true => Err(io::ErrorKind::StorageFull.into()),
            false if at == reserve => Err(io::ErrorKind::StorageFull.into()),
            false => write_private(at, text),
        };
        write_reserved(&path, b"before", write_private).unwrap();
        assert!(std::fs::metadata(&reserve).unwrap().len() >= RESERVE_BYTES_MIN as u64);
        write_reserved(&path, b"after", full).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        assert!(!reserve.exists());
        let refused = |_: &Path, _: &[u8]| Err(io::ErrorKind::StorageFull.into());
        assert!(write_reserved(&path, b"later", refused).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        // There is space again.
        write_reserved(&path, b"later", write_private).unwrap();
        assert!(reserve.exists());
        let large = vec![b'x'; 3 * RESERVE_BYTES_MIN];
        write_reserved(&path, &large, write_private).unwrap();
        assert!(std::fs::metadata(&reserve).unwrap().len() >= large.len() as u64);
        let broken = |_: &Path, _: &[u8]| Err(io::ErrorKind::PermissionDenied.into());
        assert!(write_reserved(&path, b"x", broken).is_err() && reserve.exists());
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
