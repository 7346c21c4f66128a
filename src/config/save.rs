//! Saves files so that after a power cut either the complete old file or the complete new file exists. Keeps old
//! versions.
//!
//! In: a path and its new contents. Out: the file, and beside it the folder `.generations` with its last ten old
//! versions (generations). `demo.toml.000041` is older than `demo.toml.000042`. To restore a generation, copy it over
//! the file. Must not: write into a file that another program may be reading.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::output::output_target;

/// Number of old versions that are kept of each file.
pub const GENERATIONS_KEPT: usize = 10;

/// Folder beside a file that holds its old versions.
pub const GENERATIONS_FOLDER: &str = ".generations";

/// One file system operation of a save. The power can fail between any two operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveOperation {
    /// The folder of the generations was created, or existed already.
    MakeFolder,
    /// The old contents were written to a temporary file in the folder of the generations.
    WriteOld,
    /// The old contents were flushed to the disk.
    SyncOld,
    /// The temporary file was renamed to its generation.
    RenameOld,
    /// The folder of the generations was flushed to the disk.
    SyncGenerations,
    /// The new contents were written to a temporary file beside the file.
    WriteNew,
    /// The new contents were flushed to the disk.
    SyncNew,
    /// The temporary file was renamed to the file.
    RenameNew,
    /// The file was moved to the generations as the newest one.
    Remove,
    /// The folder of the file was flushed to the disk.
    SyncFolder,
    /// The oldest surplus generation was removed.
    RemoveOldest,
}

/// Function that is called after each operation. If it returns `Break`, the save stops at once, like at a power cut.
pub type AfterOperation<'a> = &'a mut dyn FnMut(SaveOperation) -> ControlFlow<()>;

/// Replaces the file at `path`: writes a temporary file beside it, flushes it to the disk, and renames it over the old file. If
/// the path is a symbolic link, the file at its end is replaced.
///
/// # Errors Any error of the file system. In this case the old file is unchanged, and the temporary file is removed.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_stepwise(path, contents, NEW, &mut |_| ControlFlow::Continue(())).map(drop)
}

/// Replaces a file atomically and keeps its old contents as a generation. Does nothing if the contents are unchanged.
///
/// # Errors
/// Any error of the file system. The file then has its old contents.
pub fn save_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    save_file_stepwise(path, contents, &mut |_| ControlFlow::Continue(()))
}

/// Saves like [`save_file`], and can be stopped after each operation.
///
/// # Errors The same errors as [`save_file`]. A stop is not an error.
pub fn save_file_stepwise(
    path: &Path,
    contents: &[u8],
    after: AfterOperation<'_>,
) -> io::Result<()> {
    // A pipe or a device must not be read.
    output_target(path)?;
    match std::fs::read(path) {
        Ok(old) if old == contents => return Ok(()),
        Ok(old) => {
            if keep_generation(path, &old, after)?.is_break() {
                return Ok(());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if write_stepwise(path, contents, NEW, after)?.is_break() {
        return Ok(());
    }
    drop_oldest(path, after);
    Ok(())
}

/// Removes a file, but keeps it as its newest generation.
///
/// # Errors
/// Any error of the file system. The file then still exists.
pub fn remove_file(path: &Path) -> io::Result<()> {
    remove_file_stepwise(path, &mut |_| ControlFlow::Continue(()))
}

/// Removes like [`remove_file`], and can be stopped after each operation.
///
/// # Errors The same errors as [`remove_file`]. A stop is not an error.
pub fn remove_file_stepwise(path: &Path, after: AfterOperation<'_>) -> io::Result<()> {
    if !path.try_exists()? {
        return Ok(());
    }
    let folder = folder_of(path).join(GENERATIONS_FOLDER);
    std::fs::create_dir_all(&folder)?;
    if after(SaveOperation::MakeFolder).is_break() {
        return Ok(());
    }
    std::fs::rename(path, next_generation(path)?)?;
    if after(SaveOperation::Remove).is_break() {
        return Ok(());
    }
    sync_folder(&folder);
    sync_folder(folder_of(path));
    if after(SaveOperation::SyncFolder).is_continue() {
        drop_oldest(path, after);
    }
    Ok(())
}

/// Returns the paths of the generations of a file, oldest first; empty if the file has no generations.
///
/// # Errors
/// If the folder of the generations cannot be read.
pub fn file_generations(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = folder_of(path).join(GENERATIONS_FOLDER);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        if let Some(number) = number_of(path, &name) {
            found.push((number, folder.join(name)));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The four operations that replace a file: write, flush, rename, flush the folder.
type Sequence = [SaveOperation; 4];
const NEW: Sequence = [
    SaveOperation::WriteNew,
    SaveOperation::SyncNew,
    SaveOperation::RenameNew,
    SaveOperation::SyncFolder,
];
const OLD: Sequence = [
    SaveOperation::WriteOld,
    SaveOperation::SyncOld,
    SaveOperation::RenameOld,
    SaveOperation::SyncGenerations,
];

fn write_stepwise(
    path: &Path,
    contents: &[u8],
    operations: Sequence,
    after: AfterOperation<'_>,
) -> io::Result<ControlFlow<()>> {
    let path = output_target(path)?;
    let temporary = temporary_path(&path)?;
    let [write, sync, rename, sync_name] = operations;
    let written = (|| {
        let mut file = File::create(&temporary)?;
        file.write_all(contents)?;
        if after(write).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        file.sync_all()?;
        if after(sync).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        std::fs::rename(&temporary, &path)?;
        Ok(after(rename))
    })();
    match written {
        Ok(ControlFlow::Continue(())) => {}
        Ok(stop) => return Ok(stop),
        Err(error) => {
            // The first error is returned; an error while the temporary file is removed is ignored.
            let _ = std::fs::remove_file(&temporary);
            return Err(error);
        }
    }
    sync_folder(folder_of(&path));
    Ok(after(sync_name))
}

fn keep_generation(
    path: &Path,
    old: &[u8],
    after: AfterOperation<'_>,
) -> io::Result<ControlFlow<()>> {
    std::fs::create_dir_all(folder_of(path).join(GENERATIONS_FOLDER))?;
    if after(SaveOperation::MakeFolder).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    // If a power cut stopped an earlier save, these contents may already be the newest generation. One copy is
    // enough.
    if let Some(last) = file_generations(path)?.last()
        && std::fs::read(last).is_ok_and(|kept| kept == old)
    {
        return Ok(ControlFlow::Continue(()));
    }
    write_stepwise(&next_generation(path)?, old, OLD, after)
}

fn drop_oldest(path: &Path, after: AfterOperation<'_>) {
    let kept = file_generations(path).unwrap_or_default();
    let surplus = kept.len().saturating_sub(GENERATIONS_KEPT);
    for oldest in kept.iter().take(surplus) {
        // A surplus generation causes no problem. The next save tries again to remove it.
        let _ = std::fs::remove_file(oldest);
        if after(SaveOperation::RemoveOldest).is_break() {
            return;
        }
    }
}

fn next_generation(path: &Path) -> io::Result<PathBuf> {
    let last = file_generations(path)?;
    let last = last
        .last()
        .and_then(|last| number_of(path, last.file_name()?));
    let mut name = name_of(path)?.to_os_string();
    name.push(format!(".{:06}", last.unwrap_or(0).saturating_add(1)));
    Ok(folder_of(path).join(GENERATIONS_FOLDER).join(name))
}

/// Returns the number of a generation from its file name; `None` if the name is not that of a generation of this
/// file.
fn number_of(path: &Path, name: &std::ffi::OsStr) -> Option<u64> {
    let number = name
        .to_str()?
        .strip_prefix(path.file_name()?.to_str()?)?
        .strip_prefix('.')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    number.parse().ok()
}

fn name_of(path: &Path) -> io::Result<&std::ffi::OsStr> {
    path.file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the path of the temporary file. The path contains the process id, so that two programs do not write into
/// the same file.
pub(super) fn temporary_path(path: &Path) -> io::Result<PathBuf> {
    let mut name = OsString::from(".");
    name.push(name_of(path)?);
    name.push(format!(".{}.new", std::process::id()));
    Ok(folder_of(path).join(name))
}

/// Flushes a folder, so that a rename in it reaches the disk. On systems that cannot open folders, this function does
/// nothing.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_no_temporary_file_is_left() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("a.toml");
        write_atomically(&path, b"old").expect("the folder is writable");
        write_atomically(&path, b"new").expect("the folder is writable");
        assert_eq!(std::fs::read(&path).expect("it was written"), b"new");
        let names = std::fs::read_dir(folder.path())
            .expect("it is a folder")
            .count();
        assert_eq!(names, 1);
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        // A folder with this name cannot be replaced by a file.
        let path = folder.path().join("a.toml");
        std::fs::create_dir(&path).expect("the folder is writable");
        assert!(write_atomically(&path, b"new").is_err());
        assert!(save_file(&path, b"new").is_err());
        assert!(path.is_dir());
        let names = std::fs::read_dir(folder.path())
            .expect("it is a folder")
            .count();
        assert_eq!(names, 1);
        assert!(write_atomically(Path::new("/"), b"new").is_err());
    }

    #[test]
    fn ten_generations_are_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("a.toml");
        let other = folder.path().join("a.toml.x");
        save_file(&other, b"other").unwrap();
        save_file(&other, b"another").unwrap();
        for version in 0..15 {
            save_file(&path, format!("{version}").as_bytes()).unwrap();
            save_file(&path, format!("{version}").as_bytes()).unwrap();
        }
        let kept: Vec<String> = file_generations(&path)
            .unwrap()
            .iter()
            .map(|p| std::fs::read_to_string(p).unwrap())
            .collect();
        let wanted: Vec<String> = (4..14).map(|v| v.to_string()).collect();
        assert_eq!(kept, wanted);
        remove_file(&path).unwrap();
        assert!(!path.exists());
        let kept = file_generations(&path).unwrap();
        assert_eq!(kept.len(), 10);
        assert_eq!(std::fs::read_to_string(&kept[9]).unwrap(), "14");
        assert_eq!(file_generations(&other).unwrap().len(), 1);
        remove_file(&path).unwrap();
    }
}
