//! The file system operations of a save, as plain data. The power can fail between any two of them, and during each of them.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Read access to a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Those of another file; the usual ones of this process (its `umask`) if there is no such file.
    Of(PathBuf),
    /// Only the owner of the file.
    Owner,
}

/// One file system operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation<'a> {
    /// Creates a folder, unless it exists.
    CreateFolder(PathBuf),
    /// Writes a temporary file and flushes it to the disk.
    Write {
        /// Path of the temporary file. A file that an interrupted save left there is replaced.
        temporary: PathBuf,
        /// Contents of the file.
        contents: &'a [u8],
        /// Read access to the file.
        readers: Readers,
    },
    /// Renames a file; a file with the new name is replaced at once.
    Rename(PathBuf, PathBuf),
    /// Flushes a folder, so that a rename in it reaches the disk. Does nothing on a system that cannot open folders.
    SyncFolder(PathBuf),
    /// Removes a surplus file. A failure is no problem: the next save tries again.
    Remove(PathBuf),
}

impl Operation<'_> {
    pub(super) fn perform(&self) -> io::Result<()> {
        match self {
            Self::CreateFolder(folder) => std::fs::create_dir_all(folder)?,
            Self::Write {
                temporary,
                contents,
                readers,
            } => {
                let mut file = create_new(temporary, readers)?;
                file.write_all(contents)?;
                file.sync_all()?;
            }
            Self::Rename(from, to) => std::fs::rename(from, to)?,
            Self::SyncFolder(folder) => {
                let _flushed = File::open(folder).and_then(|folder| folder.sync_all());
            }
            Self::Remove(path) => {
                let _removed = std::fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// Performs all operations in order. After an error, removes the temporary files.
///
/// # Errors
/// The error of the first operation that failed. The operations behind it are not performed.
pub(super) fn perform_all(operations: &[Operation<'_>]) -> io::Result<()> {
    let performed = operations.iter().try_for_each(Operation::perform);
    if performed.is_err() {
        for operation in operations {
            if let Operation::Write { temporary, .. } = operation {
                // The first error is returned; an error while a temporary file is removed is ignored.
                let _removed = std::fs::remove_file(temporary);
            }
        }
    }
    performed
}

fn create_new(path: &Path, readers: &Readers) -> io::Result<File> {
    let _leftover = std::fs::remove_file(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{
            MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
        };
        let model = match readers {
            Readers::Of(model) => std::fs::metadata(model).ok(),
            Readers::Owner => None,
        };
        if model.is_some() || *readers == Readers::Owner {
            options.mode(0o600);
        }
        let file = options.open(path)?;
        if let Some(model) = model {
            // A file of a group that this process may not give a file to is closed to the other group that it gets.
            let has_group = file.metadata()?.gid() == model.gid()
                || fchown(&file, None, Some(model.gid())).is_ok();
            let mode = model.mode() & if has_group { 0o777 } else { 0o707 };
            file.set_permissions(std::fs::Permissions::from_mode(mode | 0o200))?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    {
        let _ = readers;
        options.open(path)
    }
}
