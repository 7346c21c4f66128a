//! Reads files that may be anything: only regular files, with a limit of their size.
//!
//! In: a path. Out: an open file, or its bytes. Must not: wait for a pipe, touch a device, read more than the limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens a regular file for reading. Symbolic links are followed.
///
/// # Errors
/// If the file cannot be opened. If it is a folder, a pipe, a device or a socket, it is not opened at all: a pipe would wait for
/// a writer, and opening a device can have effects.
pub fn open_file(path: &Path) -> io::Result<File> {
    let not_regular =
        |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}"));
    let metadata = std::fs::metadata(path).map_err(|error| match std::fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("it is a link to {}, which does not exist", target.display());
            io::Error::new(io::ErrorKind::NotFound, message)
        }
        _ => error,
    })?;
    if let Some(what) = special_kind(metadata.file_type()) {
        return Err(not_regular(what));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // Between the check above and this call, another file can take the place of this one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    match special_kind(file.metadata()?.file_type()) {
        Some(what) => Err(not_regular(what)),
        None => Ok(file),
    }
}

/// Returns the file of a program: a path, or a name in the folders of the variable PATH; `None` if there is none.
pub fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|path| path.is_file())
}

/// Reads a regular file of at most `bytes_max` bytes. `what` names this kind of file in the message about its size.
///
/// # Errors
/// A message without the path: the file cannot be opened or read, is not a regular file, or is too large.
pub fn read_file(path: &Path, bytes_max: u64, what: &str) -> Result<Vec<u8>, String> {
    let file = open_file(path).map_err(|error| match error.raw_os_error() {
        // The reason of the system alone: a message about a link is already in words.
        Some(_) if error.kind() == io::ErrorKind::NotFound => {
            "cannot be opened: there is no such file".to_owned()
        }
        _ => format!("cannot be opened: {error}"),
    })?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    // A file can grow after its size was read, so the read itself has a limit too.
    if size <= bytes_max {
        file.take(bytes_max.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| format!("cannot be read: {error}"))?;
    }
    if size.max(bytes.len() as u64) > bytes_max {
        let limit = match bytes_max >> 20 {
            0 => format!("{bytes_max} bytes"),
            mib => format!("{mib} MiB"),
        };
        return Err(format!("is larger than {limit}, the limit for {what}"));
    }
    Ok(bytes)
}

/// Returns what a file is that is not regular; `None` for a regular file.
fn special_kind(kind: std::fs::FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("a folder, not a file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a named pipe (FIFO), not a regular file");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device, not a regular file");
        }
        if kind.is_socket() {
            return Some("a socket, not a regular file");
        }
    }
    Some("not a regular file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| read_file(&folder.path().join(name), 4, "a test");
        assert!(read("gone").unwrap_err().starts_with("cannot be opened: "));
        std::fs::write(folder.path().join("four"), b"four").unwrap();
        assert_eq!(read("four").unwrap(), b"four");
        std::fs::write(folder.path().join("five"), b"five5").unwrap();
        assert_eq!(
            read("five").unwrap_err(),
            "is larger than 4 bytes, the limit for a test"
        );
        assert_eq!(
            read("").unwrap_err(),
            "cannot be opened: it is a folder, not a file"
        );
        #[cfg(unix)]
        {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            let at = |name: &str| folder.path().join(name);
            mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
            assert!(read("pipe").unwrap_err().contains("a named pipe (FIFO)"));
            let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
            assert!(read("socket").unwrap_err().contains("a socket"));
            std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
            assert_message(
                read("link").unwrap_err(),
                &["a link to nowhere, which does not exist"],
            );
            std::os::unix::fs::symlink("four", at("good")).unwrap();
            assert_eq!(read("good").unwrap(), b"four");
            std::os::unix::fs::symlink("loop", at("loop")).unwrap();
            assert!(read("loop").is_err());
            let device = read_file(Path::new("/dev/zero"), 4, "a test");
            assert!(device.unwrap_err().contains("a device"));
        }
    }
}
