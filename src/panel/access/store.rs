//! The files of accounts and of sessions in the state folder of the site. Only their owner can read them.

use std::io;
use std::path::PathBuf;

use parking_lot::Mutex;

use super::accounts::Accounts;
use crate::files::{read_file, write_private};

/// Name of the file of accounts.
const ACCOUNTS_FILE: &str = "accounts.json";
/// Name of the file of sessions.
const SESSIONS_FILE: &str = "sessions.json";
/// Largest file that is read, in bytes. The limits of the accounts keep it far below.
const ACCOUNTS_BYTES_MAX: u64 = 1 << 20;

/// The file of accounts. Without a folder, accounts are kept until the program ends.
#[derive(Debug)]
pub(crate) struct Store {
    folder: Option<PathBuf>,
    /// Number of the newest content that was written.
    written: Mutex<u64>,
}

impl Store {
    /// Opens the file, and returns the accounts in it.
    ///
    /// # Errors
    /// When there is a file that cannot be read or is damaged. Then no access is possible, not even with a new password.
    pub(crate) fn open(folder: Option<PathBuf>) -> Result<(Self, Accounts), String> {
        let new = || Accounts::new().map_err(|error| error.to_string());
        let path = folder.as_ref().map(|folder| folder.join(ACCOUNTS_FILE));
        let accounts = match &path {
            Some(path) if path.exists() => {
                let place = |problem: String| {
                    format!(
                        "{}: the users cannot be read: {problem}; restore the file, or remove it and set a new password",
                        path.display()
                    )
                };
                let text =
                    read_file(path, ACCOUNTS_BYTES_MAX, "the file of users").map_err(place)?;
                Accounts::read(&text).map_err(place)?
            }
            _ => new()?,
        };
        let store = Self {
            folder,
            written: Mutex::new(0),
        };
        Ok((store, accounts))
    }

    /// Writes a content, if no newer one was written before. Takes as long as the disk needs.
    ///
    /// # Errors
    /// When the disk refuses. The accounts then hold until the program ends.
    pub(crate) fn write(&self, number: u64, text: &[u8]) -> io::Result<()> {
        let mut written = self.written.lock();
        if number <= *written {
            return Ok(());
        }
        if let Some(folder) = &self.folder {
            write_private(&folder.join(ACCOUNTS_FILE), text)?;
        }
        *written = number;
        Ok(())
    }
}

/// The file of sessions. Without a folder, sessions are kept until the program ends.
#[derive(Clone, Debug)]
pub(crate) struct SessionFile {
    folder: Option<PathBuf>,
}

impl SessionFile {
    /// Returns the file in a folder. Does not touch the disk.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Returns the content; `None` if there is no file, or it cannot be read. Then all users log in again.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let path = self.folder.as_ref()?.join(SESSIONS_FILE);
        if !path.exists() {
            return None;
        }
        let read = read_file(&path, ACCOUNTS_BYTES_MAX, "the file of sessions");
        read.inspect_err(|problem| tracing::warn!("panel: {}: {problem}", path.display()))
            .ok()
    }

    /// Replaces the content.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) fn write(&self, content: &[u8]) -> io::Result<()> {
        match &self.folder {
            Some(folder) => write_private(&folder.join(SESSIONS_FILE), content),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;
    use std::path::Path;

    #[test]
    fn accounts_are_kept_in_a_file_that_only_the_owner_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let (store, accounts) = Store::open(Some(state.clone())).unwrap();
        // Nothing is written before there are accounts.
        assert!(!state.exists());
        store.write(2, &accounts.text()).unwrap();
        store.write(1, b"older").unwrap();
        let path = state.join(ACCOUNTS_FILE);
        assert_eq!(std::fs::read(&path).unwrap(), accounts.text());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(&state)), (0o600, 0o700));
        }
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
        assert!(Store::open(Some(state)).is_ok());
    }

    #[test]
    fn a_damaged_file_gives_nobody_access() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(ACCOUNTS_FILE), b"{").unwrap();
        let message = Store::open(Some(folder.path().to_path_buf())).unwrap_err();
        assert_message(&message, &["accounts.json: the users cannot be read"]);
    }
}
