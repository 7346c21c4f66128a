//! Checks the paths to which the program writes. Every output of the program uses these functions.
//!
//! In: a path from the command line or of a document. Out: the path to write to, or the reason why nothing can be written
//! there. Must not: replace or remove anything that is not a regular file.

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The way in which an output is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A file that is replaced as a whole, by a rename. Only a regular file or a new name is possible.
    File,
    /// Data that are written one after the other. A pipe or a terminal is possible too.
    Stream,
    /// A folder with files.
    Folder,
}

/// Checks before the work begins whether an output can be written at its end. Creates nothing that stays.
///
/// # Errors
/// When the path is something else than its kind allows. For [`OutputKind::File`], also when its folder does not exist or
/// cannot be written.
pub fn check_output(path: &Path, kind: OutputKind) -> io::Result<()> {
    if path == Path::new("-") && kind != OutputKind::Stream {
        let why = "standard output is not possible here; give a name";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    match kind {
        OutputKind::File => {
            let temporary = temporary_path(&output_target(path)?)?;
            File::create(&temporary)?;
            std::fs::remove_file(&temporary)
        }
        OutputKind::Stream => match std::fs::metadata(path) {
            Ok(found) if is_stream(found.file_type()) => Ok(()),
            Ok(found) => Err(unsuitable(found.file_type(), kind)),
            // A new name. Creating the file shows whether that is possible.
            Err(_) => Ok(()),
        },
        OutputKind::Folder => match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(found) => Err(unsuitable(found.file_type(), kind)),
            Err(_) => Ok(()),
        },
    }
}

/// Checks that writing an output destroys none of the files that are read. A hard or symbolic link to an input counts as the
/// input.
///
/// # Errors
/// When the output is one of the inputs.
pub fn check_not_input<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> io::Result<()> {
    let Some(written) = regular_file(output) else {
        return Ok(());
    };
    for input in inputs {
        if regular_file(input).is_some_and(|read| read == written) {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "it is also read ({}), and would be lost; give another name",
                    input.display()
                ),
            ));
        }
    }
    Ok(())
}

/// Returns what identifies the regular file at this path; `None` if there is none.
#[cfg(unix)]
fn regular_file(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path).ok()?;
    found.is_file().then(|| (found.dev(), found.ino()))
}

/// Returns what identifies the regular file at this path; `None` if there is none.
#[cfg(not(unix))]
fn regular_file(path: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(path).ok()?;
    path.is_file().then_some(path)
}

/// Creates the file of a stream, or opens a pipe or terminal.
///
/// # Errors
/// When the path is a folder, a socket or a disk, or cannot be written.
pub fn create_stream(path: &Path) -> io::Result<File> {
    check_output(path, OutputKind::Stream)?;
    File::create(path)
}

/// Returns the path of the regular file that a write to `path` replaces: the end of its symbolic links, so that links stay. The
/// file need not exist.
///
/// # Errors
/// When the path is not a regular file and not a new name, or when it is a symbolic link to nothing.
pub fn output_target(path: &Path) -> io::Result<PathBuf> {
    let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(unsuitable(found.file_type(), OutputKind::File)),
        Ok(_) if is_link => std::fs::canonicalize(path),
        Err(error) if is_link && error.kind() == ErrorKind::NotFound => Err(io::Error::new(
            ErrorKind::NotFound,
            "it is a symbolic link to a file that does not exist; remove the link, or create the file",
        )),
        Err(error) if error.kind() == ErrorKind::NotFound && !folder_of(path).is_dir() => {
            let folder = folder_of(path).display();
            Err(io::Error::new(
                ErrorKind::NotFound,
                format!("the folder {folder} does not exist; create it first"),
            ))
        }
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(path.to_owned()),
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

pub(super) fn name_of(path: &Path) -> io::Result<&OsStr> {
    path.file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))
}

/// Returns the path of the temporary file. The path contains the process id, so that two programs do not write into
/// the same file.
pub(super) fn temporary_path(path: &Path) -> io::Result<PathBuf> {
    let mut name = OsString::from(".");
    name.push(name_of(path)?);
    name.push(format!(".{}.new", std::process::id()));
    Ok(folder_of(path).join(name))
}

/// Returns the number of the process that a temporary file belongs to; `None` for other files.
pub(super) fn temporary_process(name: &str) -> Option<u32> {
    let stem = name.strip_prefix('.')?.strip_suffix(".new")?;
    let (_, process) = stem.rsplit_once('.')?;
    let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| process.parse().ok()).flatten()
}

/// Whether data can be written one after the other to something of this type.
fn is_stream(found: FileType) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if found.is_char_device() || found.is_fifo() {
            return true;
        }
    }
    found.is_file()
}

fn unsuitable(found: FileType, kind: OutputKind) -> io::Error {
    let wanted = match kind {
        OutputKind::File | OutputKind::Stream => "give the name of a file",
        OutputKind::Folder => "give the name of a folder",
    };
    let found_kind = match kind_name(found) {
        "a folder" => ErrorKind::IsADirectory,
        _ => ErrorKind::InvalidInput,
    };
    io::Error::new(found_kind, format!("it is {}; {wanted}", kind_name(found)))
}

/// Returns the name of a file type, for messages.
fn kind_name(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if found.is_block_device() || found.is_char_device() {
            return "a device";
        }
        if found.is_fifo() {
            return "a named pipe";
        }
        if found.is_socket() {
            return "a socket";
        }
    }
    if found.is_dir() { "a folder" } else { "a file" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use OutputKind::{File as Replaced, Folder, Stream};

    #[test]
    fn each_kind_of_output_accepts_only_what_it_can_write() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "old").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/null", at("link-to-device")).unwrap();
        std::os::unix::fs::symlink("nothing", at("link-to-nothing")).unwrap();
        std::os::unix::fs::symlink("file", at("link-to-file")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(at("fifo"))
            .status();
        assert!(made.unwrap().success());
        for (name, accepted) in [
            ("new", &[Replaced, Stream, Folder][..]),
            ("file", &[Replaced, Stream]),
            ("link-to-file", &[Replaced, Stream]),
            ("folder", &[Folder]),
            ("socket", &[]),
            ("fifo", &[Stream]),
            ("link-to-device", &[Stream]),
            ("link-to-nothing", &[Stream, Folder]),
        ] {
            for kind in [Replaced, Stream, Folder] {
                let checked = check_output(&at(name), kind);
                assert_eq!(
                    checked.is_ok(),
                    accepted.contains(&kind),
                    "{name} as {kind:?}: {checked:?}"
                );
            }
        }
        let missing = check_output(&at("no/such/file"), Replaced).unwrap_err();
        assert!(missing.to_string().contains("does not exist"), "{missing}");
        assert!(check_output(Path::new("/dev/full"), Replaced).is_err());
        assert!(check_output(Path::new("-"), Replaced).is_err());
        assert!(check_output(Path::new("-"), Folder).is_err());
        assert!(check_output(Path::new(""), Replaced).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 7);
    }

    #[test]
    fn an_input_is_no_output_under_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("input"), "old").unwrap();
        std::fs::write(at("other"), "old").unwrap();
        std::os::unix::fs::symlink("input", at("link")).unwrap();
        std::fs::hard_link(at("input"), at("hard")).unwrap();
        let input = at("input");
        let check = |output: &Path| check_not_input(output, [input.as_path()]);
        for name in ["input", "./input", "link", "hard"] {
            let error = check(&at(name)).unwrap_err().to_string();
            assert!(error.contains("give another name"), "{name}: {error}");
        }
        for output in [at("other"), at("new"), "-".into(), "/dev/null".into()] {
            check(&output).unwrap();
        }
        check_not_input(Path::new("/dev/null"), [Path::new("/dev/null")]).unwrap();
    }
}
