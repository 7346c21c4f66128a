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
    folders.push(PathBuf::from(format!("/tmp/shoal-{user}")));
    folders.push(PathBuf::from(SERVICE_FOLDER));
    folders
}

/// Returns the path for the socket of this process. Creates its folder, and removes the sockets of instances that have ended.
///
/// # Errors
/// When the folder cannot be created, or others can enter it.
pub(crate) fn new_socket_path() -> io::Result<PathBuf> {
    let folder = folders().into_iter().next().unwrap_or_default();
    match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(&folder)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::getuid().as_raw();
    if !is_own || found.mode() & 0o022 != 0 {
        let message = format!(
            "{}: this folder is not only ours; remove it, or name a socket with --control-socket",
            folder.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    for path in sockets_in(&folder) {
        remove_if_stale(&path);
    }
    Ok(folder.join(format!("shoal-{}.sock", std::process::id())))
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
    let mut found: Vec<PathBuf> = folders().iter().flat_map(|f| sockets_in(f)).collect();
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
