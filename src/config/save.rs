//! Writing a file so that a power cut leaves the old one or the new one, never half of one, and keeping the old ones.
//!
//! In: a path and its new contents. Out: the file, and in the folder `.generations` beside it the ten contents that it had
//! before, `demo.toml.000041` being older than `demo.toml.000042`: to go back, copy one over the file. Must not: write
//! into a file that somebody may read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Contents of before that are kept of each file.
pub const GENERATIONS_KEPT: usize = 10;

/// The folder beside a file that holds what the file was before.
pub const GENERATIONS_FOLDER: &str = ".generations";

/// One operation of the file system on the way of saving. Between any two of them the power may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The folder of generations was made, or was there.
    MakeFolder,
    /// The old contents were written beside their place among the generations.
    WriteOld,
    /// They were flushed to the disk.
    SyncOld,
    /// They got their name among the generations.
    RenameOld,
    /// The folder of generations was flushed.
    SyncGenerations,
    /// The new contents were written beside the file.
    WriteNew,
    /// They were flushed to the disk.
    SyncNew,
    /// They took the file's name.
    RenameNew,
    /// The file was moved to the generations, as its last one.
    Remove,
    /// The file's folder was flushed.
    SyncFolder,
    /// One generation too many was removed.
    RemoveOldest,
}

/// Told after each operation; `Break` leaves everything as it is then, as a power cut would.
pub type AfterOperation<'a> = &'a mut dyn FnMut(Operation) -> ControlFlow<()>;

/// Replaces `path` by a file that holds `contents`: written beside it, flushed to the disk, then renamed over it.
///
/// # Errors
/// Whatever the file system says; the old file is then untouched, and what was written beside it is removed.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_stepwise(path, contents, NEW, &mut |_| ControlFlow::Continue(())).map(drop)
}

/// Replaces a file atomically, and keeps what it was among its generations. Contents that the file has already are not
/// written again.
///
/// # Errors
/// Whatever the file system says, with what was being done; the file then has its old contents.
pub fn save(path: &Path, contents: &[u8]) -> io::Result<()> {
    save_stepwise(path, contents, &mut |_| ControlFlow::Continue(()))
}

/// [`save`], stoppable after each operation.
///
/// # Errors
/// As [`save`]; being stopped is none.
pub fn save_stepwise(path: &Path, contents: &[u8], after: AfterOperation<'_>) -> io::Result<()> {
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

/// Takes a file away; it stays as its last generation.
///
/// # Errors
/// Whatever the file system says; the file is then still there.
pub fn remove(path: &Path) -> io::Result<()> {
    remove_stepwise(path, &mut |_| ControlFlow::Continue(()))
}

/// [`remove`], stoppable after each operation.
///
/// # Errors
/// As [`remove`]; being stopped is none.
pub fn remove_stepwise(path: &Path, after: AfterOperation<'_>) -> io::Result<()> {
    if !path.try_exists()? {
        return Ok(());
    }
    let folder = folder_of(path).join(GENERATIONS_FOLDER);
    std::fs::create_dir_all(&folder)?;
    if after(Operation::MakeFolder).is_break() {
        return Ok(());
    }
    std::fs::rename(path, next_generation(path)?)?;
    if after(Operation::Remove).is_break() {
        return Ok(());
    }
    sync_folder(&folder);
    sync_folder(folder_of(path));
    if after(Operation::SyncFolder).is_continue() {
        drop_oldest(path, after);
    }
    Ok(())
}

/// The generations of a file, oldest first.
///
/// # Errors
/// When their folder cannot be read; a file without generations has none.
pub fn generations(path: &Path) -> io::Result<Vec<PathBuf>> {
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

/// The three operations that bring contents under a name.
type Sequence = [Operation; 4];
const NEW: Sequence = [
    Operation::WriteNew,
    Operation::SyncNew,
    Operation::RenameNew,
    Operation::SyncFolder,
];
const OLD: Sequence = [
    Operation::WriteOld,
    Operation::SyncOld,
    Operation::RenameOld,
    Operation::SyncGenerations,
];

fn write_stepwise(
    path: &Path,
    contents: &[u8],
    operations: Sequence,
    after: AfterOperation<'_>,
) -> io::Result<ControlFlow<()>> {
    let beside = beside(path)?;
    let [write, sync, rename, sync_name] = operations;
    let written = (|| {
        let mut file = File::create(&beside)?;
        file.write_all(contents)?;
        if after(write).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        file.sync_all()?;
        if after(sync).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        std::fs::rename(&beside, path)?;
        Ok(after(rename))
    })();
    match written {
        Ok(ControlFlow::Continue(())) => {}
        Ok(stop) => return Ok(stop),
        Err(error) => {
            // A failure to tidy up says nothing new: the first error is the one that matters.
            let _ = std::fs::remove_file(&beside);
            return Err(error);
        }
    }
    sync_folder(folder_of(path));
    Ok(after(sync_name))
}

fn keep_generation(
    path: &Path,
    old: &[u8],
    after: AfterOperation<'_>,
) -> io::Result<ControlFlow<()>> {
    std::fs::create_dir_all(folder_of(path).join(GENERATIONS_FOLDER))?;
    if after(Operation::MakeFolder).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    // A power cut after this had been done once leaves the very same contents: one copy is enough.
    if let Some(last) = generations(path)?.last()
        && std::fs::read(last).is_ok_and(|kept| kept == old)
    {
        return Ok(ControlFlow::Continue(()));
    }
    write_stepwise(&next_generation(path)?, old, OLD, after)
}

fn drop_oldest(path: &Path, after: AfterOperation<'_>) {
    let kept = generations(path).unwrap_or_default();
    let surplus = kept.len().saturating_sub(GENERATIONS_KEPT);
    for oldest in kept.iter().take(surplus) {
        // One generation too many does no harm; the next save tries again.
        let _ = std::fs::remove_file(oldest);
        if after(Operation::RemoveOldest).is_break() {
            return;
        }
    }
}

fn next_generation(path: &Path) -> io::Result<PathBuf> {
    let last = generations(path)?;
    let last = last
        .last()
        .and_then(|last| number_of(path, last.file_name()?));
    let mut name = name_of(path)?.to_os_string();
    name.push(format!(".{:06}", last.unwrap_or(0).saturating_add(1)));
    Ok(folder_of(path).join(GENERATIONS_FOLDER).join(name))
}

/// The number of a generation of this file by its name; `None` for any other name.
fn number_of(path: &Path, name: &std::ffi::OsStr) -> Option<u64> {
    let number = name
        .to_str()?
        .strip_prefix(path.file_name()?.to_str()?)?
        .strip_prefix('.')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    number.parse().ok()
}

fn name_of(path: &Path) -> io::Result<&std::ffi::OsStr> {
    path.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names no file to write",
        )
    })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The process id keeps two programs that save at once from writing into each other's file.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut beside = OsString::from(".");
    beside.push(name_of(path)?);
    beside.push(format!(".{}.new", std::process::id()));
    Ok(folder_of(path).join(beside))
}

/// A rename itself must reach the disk. Systems where a folder cannot be opened do it on their own terms.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_and_leaves_nothing_beside() {
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
    fn a_failure_leaves_the_old_one() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        // A folder in the way cannot be replaced by a file.
        let path = folder.path().join("a.toml");
        std::fs::create_dir(&path).expect("the folder is writable");
        assert!(write_atomically(&path, b"new").is_err());
        assert!(save(&path, b"new").is_err());
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
        save(&other, b"other").unwrap();
        save(&other, b"another").unwrap();
        for version in 0..15 {
            save(&path, format!("{version}").as_bytes()).unwrap();
            save(&path, format!("{version}").as_bytes()).unwrap();
        }
        let kept: Vec<String> = generations(&path)
            .unwrap()
            .iter()
            .map(|p| std::fs::read_to_string(p).unwrap())
            .collect();
        let wanted: Vec<String> = (4..14).map(|v| v.to_string()).collect();
        assert_eq!(kept, wanted);
        remove(&path).unwrap();
        assert!(!path.exists());
        let kept = generations(&path).unwrap();
        assert_eq!(kept.len(), 10);
        assert_eq!(std::fs::read_to_string(&kept[9]).unwrap(), "14");
        assert_eq!(generations(&other).unwrap().len(), 1);
        remove(&path).unwrap();
    }
}
