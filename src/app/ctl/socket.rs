//! Where the control sockets are: one file per instance, in a folder that only its owner can enter.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Folder in which a service of systemd with `RuntimeDirectory=shoal` has its sockets.
const SERVICE_FOLDER: &str = "/run/shoal";
/// Largest number of files of the folder that are looked at.
const FILES_MAX: usize = 256;

/// Returns the folders in which instances may have their sockets, the preferred one first.
fn folders() -> Vec<PathBuf> {
    let variable = |name| {
        let value = std::env::var_os(name)?;
        let first = value.to_str()?.split(':').next()?.to_owned();
        let path = PathBuf::from(first);
        path.is_absolute().then_some(path)
    };
    let mut folders = Vec::new();
    folders.extend(variable("RUNTIME_DIRECTORY"));
    let of_user = variable("XDG_RUNTIME_DIR").filter(|path| path.is_dir());
    folders.extend(of_user.map(|path| path.join("shoal")));
    let user = rustix::process::getuid().as_raw();
    let of_login = PathBuf::from(format!("/run/user/{user}"));
    if of_login.is_dir() {
        folders.push(of_login.join("shoal"));
    }
    folders.push(PathBuf::from(format!("/tmp/shoal-{user}")));
    // If another user has taken the name in /tmp.
    folders.extend(variable("HOME").map(|home| home.join(".shoal-sockets")));
    folders
}

/// Returns an error if others than this user can change the files of a folder.
fn check_own(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::getuid().as_raw();
    if is_own && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let message = format!(
        "{}: this folder is not only ours; remove it, or name a socket with --control-socket",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Whether the sockets in a folder belong to this user, or to the service: only root can create its folder. Another user could
/// answer anything on a socket of its own.
fn is_trusted(folder: &Path) -> bool {
    folder == Path::new(SERVICE_FOLDER) || check_own(folder).is_ok()
}

/// Returns the path for the socket of this process. Creates its folder, and removes the sockets of instances that have ended.
///
/// # Errors
/// When the folder cannot be created, or others can enter it.
pub(crate) fn new_socket_path() -> io::Result<PathBuf> {
    let mut problem = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders() {
        match own_folder(&folder) {
            Ok(()) => {
                for path in sockets_in(&folder) {
                    remove_if_stale(&path);
                }
                return Ok(folder.join(format!("shoal-{}.sock", std::process::id())));
            }
            Err(error) => {
                tracing::warn!("{error}");
                problem = error;
            }
        }
    }
    Err(problem)
}

/// Creates a folder that only this user can enter, unless it exists.
fn own_folder(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => check_own(folder),
    }
}

/// Removes the socket of an instance that has ended. Returns whether there is no file at this path afterwards.
pub(super) fn remove_if_stale(path: &Path) -> bool {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return true;
    };
    if !found.file_type().is_socket() {
        return false;
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).is_ok()
        }
        _ => false,
    }
}

/// Returns the sockets of all instances that answer.
pub(super) fn running_instances() -> Vec<PathBuf> {
    let mut folders = folders();
    folders.push(PathBuf::from(SERVICE_FOLDER));
    folders.retain(|folder| is_trusted(folder));
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|f| sockets_in(f)).collect();
    found.sort();
    found.dedup();
    found.retain(|path| UnixStream::connect(path).is_ok());
    found
}

fn sockets_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries
        .take(FILES_MAX)
        .filter_map(|entry| Some(entry.ok()?.path()));
    let is_socket = |path: &PathBuf| path.extension().is_some_and(|e| e == "sock");
    paths.filter(is_socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// A fixed bug: `shoal ctl` asked the sockets in a folder of another user, who could answer anything.
    #[test]
    fn only_own_folders_are_trusted() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("shoal");
        own_folder(&own).unwrap();
        assert!(is_trusted(&own));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(!is_trusted(&link) && own_folder(&link).is_err());
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_trusted(&own) && own_folder(&own).is_err());
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(
            !is_trusted(&folder.path().join("file")) && !is_trusted(&folder.path().join("gone"))
        );
    }

    #[test]
    fn only_sockets_that_nobody_serves_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        assert!(remove_if_stale(&path), "there is no file");
        let listener = UnixListener::bind(&path).unwrap();
        assert!(!remove_if_stale(&path), "an instance answers");
        drop(listener);
        assert!(remove_if_stale(&path) && !path.exists());
        std::fs::write(&path, "text").unwrap();
        // A file of somebody.
        assert!(!remove_if_stale(&path) && path.exists());
    }
}
