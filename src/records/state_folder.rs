//! The folder for what a running installation keeps itself: users of the panel, counts of visitors.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::create_private_folder;
use crate::site::Site;

/// Folder beside the site file for what Shoal keeps itself. Under systemd, `StateDirectory=` replaces it.
const STATE_FOLDER: &str = ".shoal";
/// Name of the file with the counts if the site names none.
const COUNTS_FILE: &str = "visitors.sqlite";

/// Longest wait for an instance that is just ending.
const ENDING_SECS: Duration = Duration::from_secs(3);
/// Pause between two attempts.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);

/// The state folder of this instance. While it is held, no other instance may write into it: each would replace the users and
/// tokens of the other one by its own, and count the same visitors once more.
#[derive(Debug)]
pub struct StateLock {
    _folder: Option<File>,
}

/// Locks a state folder. `None` if another instance holds it. A folder that cannot be created or locked needs no lock: nothing can be
/// written there.
pub fn lock_state(folder: &Path) -> Option<StateLock> {
    // Without the folder it cannot be opened below.
    let _made = create_private_folder(folder);
    let Ok(file) = File::open(folder) else {
        return Some(StateLock { _folder: None });
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() >= ENDING_SECS => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(ATTEMPT_PAUSE),
            Err(TryLockError::Error(_)) => return Some(StateLock { _folder: None }),
            Ok(()) => {
                let _folder = Some(file);
                return Some(StateLock { _folder });
            }
        }
    }
}

/// Returns the file with the counts of visitors.
pub fn counts_file(site: &Site) -> PathBuf {
    match site.file.counting.file.as_str() {
        "" => state_folder(&site.folder).join(COUNTS_FILE),
        file => site.folder.join(file),
    }
}

/// Returns the folder that systemd gives the service, or the one beside the site file.
pub fn state_folder(site_folder: &Path) -> PathBuf {
    let of_service = std::env::var("STATE_DIRECTORY").ok();
    let first = of_service
        .as_deref()
        .and_then(|folders| folders.split(':').next());
    match first
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
    {
        Some(folder) => folder,
        None => site_folder.join(STATE_FOLDER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: a second instance on the same folder brought removed users back.
    #[test]
    fn only_one_instance_holds_a_state_folder() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join(".shoal");
        let first = lock_state(&state).unwrap();
        assert!(lock_state(&state).is_none());
        drop(first);
        assert!(lock_state(&state).is_some());
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(lock_state(&folder.path().join("file/below")).is_some());
    }
}
