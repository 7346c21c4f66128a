//! Saves files so that after a power cut either the complete old file or the complete new file exists. Keeps old
//! versions.
//!
//! In: a path and its new contents. Out: the file, and beside it the folder `.generations` with its last ten old
//! versions (generations). `demo.toml.000041` is older than `demo.toml.000042`. To restore a generation, copy it over
//! the file. Must not: write into a file that another program may be reading.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::operation::{Operation, Readers, perform_all};
use super::output::{folder_of, name_of, output_target, temporary_path};

/// Number of old versions that are kept of each file.
const GENERATIONS_KEPT: usize = 10;

/// Shortest time between two generations of a file that is written after every change.
const GENERATION_INTERVAL: Duration = Duration::from_secs(600);

/// Folder beside a file that holds its old versions.
const GENERATIONS_FOLDER: &str = ".generations";

/// Replaces the file at `path`: writes a temporary file beside it, flushes it to the disk, and renames it over the old file. If
/// the path is a symbolic link, the file at its end is replaced. The new file has the readers and writers of the old one.
///
/// # Errors Any error of the file system. In this case the old file is unchanged, and the temporary file is removed.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let target = output_target(path)?;
    perform_all(&replacement(
        &target,
        contents,
        Readers::Of(target.clone()),
    )?)
}

/// Replaces a file like [`write_atomically`], such that only its owner can read it. Creates its folder.
///
/// # Errors The same errors as [`write_atomically`], or the folder cannot be created.
pub fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    create_private_folder(folder_of(path))?;
    perform_all(&replacement(
        &output_target(path)?,
        contents,
        Readers::Owner,
    )?)
}

/// Creates a folder that only its owner can read, unless it exists.
///
/// # Errors
/// Any error of the file system.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file for adding at its end, such that only its owner can read it. Creates it and its folder.
///
/// # Errors
/// Any error of the file system, or the path is something else than a regular file.
pub fn append_private(path: &Path) -> io::Result<File> {
    create_private_folder(folder_of(path))?;
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(output_target(path)?)
}

/// Replaces a file atomically and keeps its old contents as a generation. Does nothing if the contents are unchanged.
///
/// # Errors
/// Any error of the file system. The file then has its old contents.
pub fn save_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    // A pipe or a device must not be read.
    let target = output_target(path)?;
    let old = match std::fs::read(path) {
        Ok(old) if old == contents => return Ok(()),
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    perform_all(&save_operations(path, &target, old.as_deref(), contents)?)
}

/// Saves several files like [`save_file`], all of them or none: everything that can fail for want of space, rights or a place happens
/// before the first file is replaced, and if a replacement fails, the files before it get their old contents again.
///
/// # Errors
/// The path that could not be saved, and why. All files then have their old contents.
pub fn save_files(files: &[(PathBuf, &[u8])]) -> Result<(), (PathBuf, io::Error)> {
    let mut prepared: Vec<Prepared> = Vec::new();
    let mut folders = Vec::new();
    let mut saved = Ok(());
    for (path, contents) in files {
        let next = create_folders(folder_of(path), &mut folders)
            .and_then(|()| Prepared::new(path, contents));
        match next {
            Ok(next) => prepared.extend(next),
            Err(error) => {
                saved = Err((path.clone(), error));
                break;
            }
        }
    }
    let mut replaced = 0;
    if saved.is_ok() {
        for file in &prepared {
            if let Err(error) = std::fs::rename(&file.temporary, &file.target) {
                saved = Err((file.path.clone(), error));
                break;
            }
            replaced += 1;
        }
    }
    if saved.is_err() {
        let (done, waiting) = prepared.split_at(replaced);
        for file in done.iter().rev() {
            let undone = match &file.old {
                Some(old) => write_atomically(&file.target, old),
                None => std::fs::remove_file(&file.target),
            };
            if let Err(error) = undone {
                let place = file.target.display();
                tracing::error!("{place}: the old contents cannot be restored: {error}");
            }
        }
        for file in waiting {
            let _removed = std::fs::remove_file(&file.temporary);
        }
        // Only those that are still empty.
        for folder in folders.iter().rev() {
            let _removed = std::fs::remove_dir(folder);
        }
        return saved;
    }
    for file in &prepared {
        // A failure is no problem: the next save tries again.
        let _performed = Operation::SyncFolder(folder_of(&file.target).to_owned()).perform();
        if let Ok(kept) = file_generations(&file.path) {
            let surplus: Vec<_> = removal_of_surplus(kept).collect();
            let _removed = perform_all(&surplus);
        }
    }
    saved
}

/// A file that only has to be renamed.
struct Prepared {
    path: PathBuf,
    target: PathBuf,
    temporary: PathBuf,
    /// `None` if there was no file.
    old: Option<Vec<u8>>,
}

impl Prepared {
    /// Writes the temporary file, and the old contents as a generation. `None` if the contents are unchanged.
    fn new(path: &Path, contents: &[u8]) -> io::Result<Option<Self>> {
        let target = output_target(path)?;
        let old = match std::fs::read(&target) {
            Ok(old) if old == contents => return Ok(None),
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut operations = save_operations(path, &target, old.as_deref(), contents)?;
        // The rename of the file itself, and what comes after it, wait for the other files.
        let rename = operations
            .iter()
            .position(|operation| matches!(operation, Operation::Rename(_, to) if *to == target));
        operations.truncate(rename.unwrap_or(operations.len()));
        perform_all(&operations)?;
        let temporary = temporary_path(&target)?;
        Ok(Some(Self {
            path: path.to_owned(),
            target,
            temporary,
            old,
        }))
    }
}

/// Creates a folder and those above it, and adds the ones that are new to `made`.
fn create_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
    {
        create_folders(above, made)?;
    }
    std::fs::create_dir(folder)?;
    made.push(folder.to_owned());
    Ok(())
}

/// Replaces a file like [`save_file`]. For a file that is written after every change: if its contents are `own`, which this program
/// has written, they are kept as a generation only if the newest generation is older than `GENERATION_INTERVAL`. Otherwise
/// ten steps of an evening would replace all generations.
///
/// # Errors The same errors as [`save_file`].
pub fn save_file_again(path: &Path, contents: &[u8], own: &[u8]) -> io::Result<()> {
    let is_recent = |kept: &PathBuf| {
        let written = std::fs::metadata(kept).and_then(|metadata| metadata.modified());
        written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < GENERATION_INTERVAL))
    };
    let is_own = std::fs::read(path).is_ok_and(|old| old == own);
    match is_own && file_generations(path)?.last().is_some_and(is_recent) {
        true => write_atomically(path, contents),
        false => save_file(path, contents),
    }
}

/// Removes a file, but keeps it as its newest generation.
///
/// # Errors
/// Any error of the file system. The file then still exists.
pub fn remove_file(path: &Path) -> io::Result<()> {
    if !path.try_exists()? {
        return Ok(());
    }
    perform_all(&removal_operations(path)?)
}

/// Returns the paths of the generations of a file, oldest first; empty if the file has no generations.
///
/// # Errors
/// If the folder of the generations cannot be read.
pub fn file_generations(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = generations_folder(path);
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

/// Returns the operations that replace one file.
fn replacement<'a>(
    path: &Path,
    contents: &'a [u8],
    readers: Readers,
) -> io::Result<[Operation<'a>; 3]> {
    let temporary = temporary_path(path)?;
    Ok([
        Operation::Write {
            temporary: temporary.clone(),
            contents,
            readers,
        },
        Operation::Rename(temporary, path.to_owned()),
        Operation::SyncFolder(folder_of(path).to_owned()),
    ])
}

/// Returns the operations that keep the old contents as a generation, and then replace the file at `target`, the end of the
/// symbolic links of `path`.
fn save_operations<'a>(
    path: &Path,
    target: &Path,
    old: Option<&'a [u8]>,
    contents: &'a [u8],
) -> io::Result<Vec<Operation<'a>>> {
    let mut operations = Vec::new();
    let mut kept = Vec::new();
    if let Some(old) = old {
        operations.push(Operation::CreateFolder(generations_folder(path)));
        kept = file_generations(path)?;
        // If a power cut stopped an earlier save, these contents may already be the newest generation. One copy is
        // enough.
        let last = kept.last().and_then(|last| std::fs::read(last).ok());
        if last.is_none_or(|last| last != old) {
            let generation = next_generation(path, &kept)?;
            operations.extend(replacement(&generation, old, Readers::Of(target.into()))?);
            kept.push(generation);
        }
    }
    operations.extend(replacement(target, contents, Readers::Of(target.into()))?);
    operations.extend(removal_of_surplus(kept));
    Ok(operations)
}

fn removal_operations(path: &Path) -> io::Result<Vec<Operation<'static>>> {
    let mut kept = file_generations(path)?;
    let generation = next_generation(path, &kept)?;
    let mut operations = vec![
        Operation::CreateFolder(generations_folder(path)),
        Operation::Rename(path.to_owned(), generation.clone()),
        Operation::SyncFolder(generations_folder(path)),
        Operation::SyncFolder(folder_of(path).to_owned()),
    ];
    kept.push(generation);
    operations.extend(removal_of_surplus(kept));
    Ok(operations)
}

fn removal_of_surplus<'a>(kept: Vec<PathBuf>) -> impl Iterator<Item = Operation<'a>> {
    let surplus = kept.len().saturating_sub(GENERATIONS_KEPT);
    kept.into_iter().take(surplus).map(Operation::Remove)
}

fn next_generation(path: &Path, kept: &[PathBuf]) -> io::Result<PathBuf> {
    let last = kept.last().and_then(|last| last.file_name());
    let last = last.and_then(|name| number_of(path, name));
    let mut name = name_of(path)?.to_os_string();
    name.push(format!(".{:06}", last.unwrap_or(0).saturating_add(1)));
    Ok(generations_folder(path).join(name))
}

/// Returns the number of a generation from its file name; `None` if the name is not that of a generation of this
/// file.
fn number_of(path: &Path, name: &OsStr) -> Option<u64> {
    let number = name
        .to_str()?
        .strip_prefix(path.file_name()?.to_str()?)?
        .strip_prefix('.')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    number.parse().ok()
}

fn generations_folder(path: &Path) -> PathBuf {
    folder_of(path).join(GENERATIONS_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[u8] = b"# the old version\nwidth_m = 4.0\n";
    const NEW: &[u8] = b"# the new version\nwidth_m = 5.0\n";

    #[test]
    fn a_file_is_replaced_and_no_temporary_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn a_save_through_a_link_keeps_the_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        // A folder with this name cannot be replaced by a file.
        let path = folder.path().join("a.toml");
        std::fs::create_dir(&path).unwrap();
        assert!(write_atomically(&path, b"new").is_err());
        assert!(save_file(&path, b"new").is_err());
        assert!(path.is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomically(Path::new("/"), b"new").is_err());
    }

    /// A fixed bug: a restore replaced the first files and then found a folder in the place of a later one.
    #[test]
    fn several_files_are_saved_all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.toml"), OLD).unwrap();
        std::fs::create_dir_all(at("scenes/zz.toml")).unwrap();
        for place in ["scenes/zz.toml", "a.toml/below.toml"] {
            let files = [
                (at("a.toml"), NEW),
                (at("new/b.toml"), NEW),
                (at(place), NEW),
            ];
            let (path, _) = save_files(&files).unwrap_err();
            assert_eq!(path, at(place));
            assert_eq!(std::fs::read(at("a.toml")).unwrap(), OLD);
            assert!(!at("new").exists());
            let left = |folder: &Path| -> Vec<String> {
                let entries = std::fs::read_dir(folder).unwrap().flatten();
                let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
                names.filter(|name| name.ends_with(".new")).collect()
            };
            assert!(left(folder.path()).is_empty() && left(&at("scenes")).is_empty());
        }
        let files = [(at("a.toml"), NEW), (at("new/b.toml"), OLD)];
        save_files(&files).unwrap();
        assert_eq!(std::fs::read(at("a.toml")).unwrap(), NEW);
        assert_eq!(std::fs::read(at("new/b.toml")).unwrap(), OLD);
        let kept = file_generations(&at("a.toml")).unwrap();
        assert_eq!(std::fs::read(kept.last().unwrap()).unwrap(), OLD);
        save_files(&files).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_private_file_and_its_folder_are_readable_by_their_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/secret");
        write_private(&path, b"1").unwrap();
        write_private(&path, b"2").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
        assert_eq!((mode(&path), mode(folder_of(&path))), (0o600, 0o700));
    }

    /// A fixed bug: a site that only its owner could read, with passwords of cameras, was readable for all users of the machine after
    /// the first save, and so were its old versions.
    #[test]
    #[cfg(unix)]
    fn a_saved_file_and_its_old_versions_keep_their_readers() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for wanted in [0o600, 0o640, 0o644] {
            std::fs::write(&path, format!("old {wanted}")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(wanted)).unwrap();
            write_atomically(&path, format!("{wanted}").as_bytes()).unwrap();
            assert_eq!(mode(&path), wanted);
            save_file(&path, NEW).unwrap();
            assert_eq!(mode(&path), wanted);
            let kept = file_generations(&path).unwrap();
            assert_eq!(mode(kept.last().unwrap()), wanted);
            save_files(&[(path.clone(), OLD)])
                .map_err(|(_, error)| error)
                .unwrap();
            assert_eq!(mode(&path), wanted);
        }
    }

    #[test]
    fn ten_generations_are_kept() {
        let folder = tempfile::tempdir().unwrap();
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

    /// Creates a file with the largest number of generations, so that the next save performs every kind of operation.
    fn prepared(folder: &Path) -> PathBuf {
        let path = folder.join("site.toml");
        for version in 0..GENERATIONS_KEPT {
            save_file(&path, format!("# version {version}\n").as_bytes()).unwrap();
        }
        save_file(&path, OLD).unwrap();
        path
    }

    /// Does what is left of the operations if the power fails during operation number `cut`: those before it, and of a file that is
    /// being written `written` bytes.
    fn perform_until(operations: &[Operation<'_>], cut: usize, written: usize) {
        operations[..cut].iter().for_each(|o| o.perform().unwrap());
        if let Some(Operation::Write {
            temporary,
            contents,
            ..
        }) = operations.get(cut)
        {
            std::fs::write(temporary, &contents[..written.min(contents.len())]).unwrap();
        }
    }

    #[test]
    fn a_power_cut_during_a_save_leaves_a_complete_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = prepared(folder.path());
        let operations = save_operations(&path, &path, Some(OLD), NEW).unwrap();
        let count = operations.len();
        assert_eq!(
            count, 8,
            "folder, generation, file, surplus: {operations:?}"
        );
        for (cut, written) in (0..=count).flat_map(|cut| [(cut, 0), (cut, 9), (cut, 99)]) {
            let folder = tempfile::tempdir().unwrap();
            let path = prepared(folder.path());
            let operations = save_operations(&path, &path, Some(OLD), NEW).unwrap();
            perform_until(&operations, cut, written);
            let stopped = format!("{written} bytes of {:?}", operations.get(cut));
            let read = |path: &Path| std::fs::read(path).unwrap();
            let is_new = read(&path) == NEW;
            assert!(is_new || read(&path) == OLD, "{stopped}");
            let kept = file_generations(&path).unwrap();
            for kept in &kept {
                let text = std::fs::read_to_string(kept).unwrap();
                let is_version = text.starts_with("# version ") && text.ends_with('\n');
                assert!(is_version || text.as_bytes() == OLD, "{stopped}: {text:?}");
            }
            assert!(!is_new || read(kept.last().unwrap()) == OLD, "{stopped}");
            // The next saves succeed although files are left, and the number of generations stays limited.
            save_file(&path, b"# version 10\n").unwrap();
            save_file(&path, OLD).unwrap();
            assert_eq!(read(&path), OLD, "{stopped}");
            assert_eq!(file_generations(&path).unwrap().len(), GENERATIONS_KEPT);
        }
    }

    #[test]
    fn a_power_cut_during_a_removal_keeps_the_file_or_its_generation() {
        for cut in 0..=5 {
            let folder = tempfile::tempdir().unwrap();
            let path = prepared(folder.path());
            let operations = removal_operations(&path).unwrap();
            assert_eq!(operations.len(), 5);
            perform_until(&operations, cut, 0);
            let last = || std::fs::read(file_generations(&path).unwrap().last().unwrap());
            let text = std::fs::read(&path).or_else(|_| last()).unwrap();
            assert_eq!(text, OLD, "stopped at operation {cut}");
        }
    }
}
