//! Backup of a site: reads all of its files, and replaces them by the files of a backup if those are a valid site.

use std::path::{Path, PathBuf};

use crate::config::{Problems, read_text};
use crate::control::{DocumentName, Reason, Trust};
use crate::files::{file_generations, read_file, save_file, save_files, write_atomically};
use crate::panel::{
    ARCHIVE_FILES_MAX, FileVersion, NOTEBOOK_NAME, SiteFileContent, SiteFiles, is_archive_name,
};
use crate::render::Model;
use crate::site::{self, GuardedValues, reasons};

use super::notebook::NotebookFile;
use crate::runtime::iso_from_time;

/// Name of the site file in a backup, whatever its name on the disk.
const SITE_NAME: &str = "site.toml";
/// Largest file that is part of a backup, in bytes.
const FILE_BYTES_MAX: u64 = 32 << 20;
/// Largest backup, in bytes. With its headers it is smaller than the largest archive that the panel restores.
const ALL_BYTES_MAX: usize = 60 << 20;
/// Folder in the state folder with the files of a restore that are complete and checked.
const READY_FOLDER: &str = "restore-ready";
/// Folder of added models.
const MODELS_FOLDER: &str = "models";
/// Longest name of an added model, in characters.
const NAME_CHARS_MAX: usize = 40;
/// Largest number of models of the same name, which differ by a number.
const MODELS_OF_A_NAME: usize = 100;
/// Depth of folders below the site's folder.
const DEPTH_MAX: usize = 2;

/// Returns the files of a site, for the panel. `state` is the state folder.
pub fn site_files(site: PathBuf, state: PathBuf) -> SiteFiles {
    let kept = state.clone();
    let (restored, extended, versioned) = (site.clone(), site.clone(), site.clone());
    SiteFiles {
        read: Box::new(move || read_site_files(&site, &kept)),
        versions: Box::new(move |document| read_versions(&versioned, document)),
        restore: Box::new(move |files, trust| restore_site_files(&restored, &state, files, trust)),
        add_model: Box::new(move |name, bytes| add_model(&extended, name, bytes)),
    }
}

/// Returns the files of a site: the site file, all files below its folder that may belong to it, and the maintenance notebook in
/// the state folder.
///
/// # Errors
/// When a file cannot be read, or the files are too large.
fn read_site_files(site: &Path, state_folder: &Path) -> Result<Vec<SiteFileContent>, String> {
    let folder = site.parent().unwrap_or(Path::new(""));
    let mut names = Vec::new();
    list(&here(folder), "", DEPTH_MAX, &mut names);
    names.sort();
    let own_name = site
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(SITE_NAME);
    names.retain(|name| name != own_name && name != SITE_NAME && name != NOTEBOOK_NAME);
    if names.len() + 2 > ARCHIVE_FILES_MAX {
        return Err(format!(
            "the site has more than {ARCHIVE_FILES_MAX} files; move those away that it does not use"
        ));
    }
    let mut files = vec![read(site, SITE_NAME)?];
    let mut size = files[0].content.len();
    for name in names {
        let file = read(&folder.join(&name), &name)?;
        size += file.content.len();
        if size > ALL_BYTES_MAX {
            return Err(format!(
                "the site has more than {} MiB of files",
                ALL_BYTES_MAX >> 20
            ));
        }
        files.push(file);
    }
    let notebook = state_folder.join(NOTEBOOK_NAME);
    if notebook.exists() {
        files.push(read(&notebook, NOTEBOOK_NAME)?);
    }
    Ok(files)
}

/// Returns the earlier texts of a document, the newest first. A text that cannot be read is left out.
///
/// # Errors
/// When the folder of the versions cannot be read.
fn read_versions(site: &Path, document: &DocumentName) -> Result<Vec<FileVersion>, String> {
    let file = site::document_file(site, document);
    let file = file.ok_or_else(|| format!("{document}: no file can have this name"))?;
    let paths = file_generations(&file)
        .map_err(|error| format!("{}: its versions cannot be read: {error}", file.display()))?;
    let version = |path: &PathBuf| {
        let modified = std::fs::metadata(path).and_then(|file| file.modified());
        Some(FileVersion {
            file: path.file_name()?.to_str()?.to_owned(),
            replaced: iso_from_time(modified.ok()?),
            text: read_text(path).ok()?,
        })
    };
    Ok(paths.iter().rev().filter_map(version).collect())
}

/// Returns the folder, which has no name if it is the working folder.
fn here(folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        folder.to_path_buf()
    }
}

fn read(path: &Path, name: &str) -> Result<SiteFileContent, String> {
    let content = read_file(path, FILE_BYTES_MAX, "a file of a backup");
    let content = content.map_err(|problem| format!("{}: {problem}", path.display()))?;
    Ok(SiteFileContent {
        name: name.to_owned(),
        content,
    })
}

/// Lists the files of a folder that may be part of a backup. Links are left out.
fn list(folder: &Path, above: &str, depth: usize, names: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Some(name) = entry
            .file_name()
            .to_str()
            .map(|name| format!("{above}{name}"))
        else {
            continue;
        };
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if kind.is_dir() && depth > 0 && !is_hidden {
            list(&entry.path(), &format!("{name}/"), depth - 1, names);
        } else if kind.is_file() && is_archive_name(&name) {
            names.push(name);
        }
    }
}

/// Replaces the files of a site by those of a backup, all of them or none. The old contents stay as generations. The watcher of the
/// files applies them. The backup is checked in the state folder first, and stays there until all files are replaced: if the program
/// ends before, [`finish_restore`] goes on at the next start. The entries of its notebook are added to the notebook there.
///
/// # Errors
/// When the backup is no valid site, changes what needs more trust, is too large for the next backup, or cannot be
/// written. Then nothing is changed.
fn restore_site_files(
    site: &Path,
    state_folder: &Path,
    files: &[SiteFileContent],
    trust: Trust,
) -> Result<(), Vec<Reason>> {
    if !files.iter().any(|file| file.name == SITE_NAME) {
        return Err(failed(format!("the backup contains no {SITE_NAME}")));
    }
    check_targets(site, files).map_err(failed)?;
    check_size(site, files).map_err(failed)?;
    let tried = state_folder.join(format!("restore-{}", std::process::id()));
    let checked = check(&tried, files, |restored| {
        // A site that cannot be read names nothing that may stay.
        let before = GuardedValues::read(site).unwrap_or_default();
        GuardedValues::read(restored)?.check(&before, trust)
    });
    let ready = state_folder.join(READY_FOLDER);
    let checked = checked.and_then(|()| {
        let _leftover = std::fs::remove_dir_all(&ready);
        std::fs::rename(&tried, &ready).map_err(|error| failed(error.to_string()))
    });
    // The next restore replaces a leftover.
    let _leftover = std::fs::remove_dir_all(&tried);
    checked?;
    let replaced = replace_files(site, state_folder, files);
    let _leftover = std::fs::remove_dir_all(&ready);
    replaced.map_err(failed)
}

fn failed(message: String) -> Vec<Reason> {
    vec![Reason {
        message,
        ..Reason::default()
    }]
}

/// Finishes a restore that a power cut or a kill has interrupted. Does nothing without one.
pub fn finish_restore(site: &Path, state_folder: &Path) {
    let ready = state_folder.join(READY_FOLDER);
    if !ready.is_dir() {
        return;
    }
    let mut names = Vec::new();
    list(&ready, "", DEPTH_MAX, &mut names);
    let files: Result<Vec<_>, String> = names
        .iter()
        .map(|name| read(&ready.join(name), name))
        .collect();
    match files.and_then(|files| replace_files(site, state_folder, &files)) {
        Ok(()) => tracing::info!("the restore of a backup is finished"),
        Err(problem) => tracing::error!("the restore of a backup cannot be finished: {problem}"),
    }
    let _leftover = std::fs::remove_dir_all(&ready);
}

fn replace_files(
    site: &Path,
    state_folder: &Path,
    files: &[SiteFileContent],
) -> Result<(), String> {
    let folder = here(site.parent().unwrap_or(Path::new("")));
    let mut replaced: Vec<(PathBuf, &[u8])> = Vec::new();
    let mut notes = None;
    for file in files {
        match file.name.as_str() {
            NOTEBOOK_NAME => notes = Some(&file.content),
            SITE_NAME => replaced.push((site.to_path_buf(), &file.content)),
            name => replaced.push((folder.join(name), &file.content)),
        }
    }
    let notebook = state_folder.join(NOTEBOOK_NAME);
    let old_notes = std::fs::read(&notebook).ok();
    if let Some(notes) = notes {
        NotebookFile::new(state_folder).merge(notes)?;
    }
    save_files(&replaced).map_err(|(path, error)| {
        if notes.is_some() {
            let _restored = match old_notes {
                Some(old) => write_atomically(&notebook, &old),
                None => std::fs::remove_file(&notebook),
            };
        }
        format!(
            "{}: cannot be restored, so nothing was changed: {error}",
            path.display()
        )
    })
}

/// Checks that each file has a place of its own: the site file is in a backup under one name only, whatever its name on the disk is.
fn check_targets(site: &Path, files: &[SiteFileContent]) -> Result<(), String> {
    let own_name = site.file_name().and_then(|name| name.to_str());
    let is_alias = |file: &&SiteFileContent| {
        file.name != SITE_NAME && own_name.is_some_and(|own| own.eq_ignore_ascii_case(&file.name))
    };
    match files.iter().find(is_alias) {
        Some(file) => Err(format!(
            "{}: is the site file a second time, beside {SITE_NAME}; the backup is not from Shoal",
            file.name
        )),
        None => Ok(()),
    }
}

/// Checks that the site with these files is no larger than what a backup may have.
fn check_size(site: &Path, files: &[SiteFileContent]) -> Result<(), String> {
    let folder = here(site.parent().unwrap_or(Path::new("")));
    let mut names = Vec::new();
    list(&folder, "", DEPTH_MAX, &mut names);
    let own_name = site.file_name().and_then(|name| name.to_str());
    let is_kept = |name: &&String| {
        name.as_str() != SITE_NAME
            && Some(name.as_str()) != own_name
            && name.as_str() != NOTEBOOK_NAME
            && !files.iter().any(|file| file.name == **name)
    };
    let kept: Vec<u64> = (names.iter().filter(is_kept))
        .filter_map(|name| Some(std::fs::metadata(folder.join(name)).ok()?.len()))
        .collect();
    let largest = files.iter().max_by_key(|file| file.content.len());
    if let Some(file) = largest.filter(|file| file.content.len() as u64 > FILE_BYTES_MAX) {
        let most = FILE_BYTES_MAX >> 20;
        return Err(format!("{}: is larger than {most} MiB", file.name));
    }
    let bytes =
        kept.iter().sum::<u64>() + files.iter().map(|f| f.content.len() as u64).sum::<u64>();
    if bytes > ALL_BYTES_MAX as u64 {
        return Err(format!(
            "the site would have more than {} MiB of files, so it could not be backed up; remove models that it does not use",
            ALL_BYTES_MAX >> 20
        ));
    }
    if kept.len() + files.len() + 1 > ARCHIVE_FILES_MAX {
        return Err(format!(
            "the site would have more than {ARCHIVE_FILES_MAX} files, so it could not be backed up"
        ));
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(here(folder))?;
    }
    save_file(path, content)
}

/// Adds a model to a site. Returns its path relative to the site file, as species name it.
///
/// # Errors
/// A reason if the model is not valid or cannot be saved.
fn add_model(site: &Path, wished: &str, bytes: &[u8]) -> Result<String, String> {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain: String = wished
        .chars()
        .filter(is_plain)
        .take(NAME_CHARS_MAX)
        .collect();
    let plain = match plain.to_ascii_lowercase() {
        empty if empty.is_empty() => "model".to_owned(),
        plain => plain,
    };
    Model::from_glb(&plain, bytes).map_err(|error| error.to_string())?;
    let folder = site.parent().unwrap_or(Path::new(""));
    let names = std::iter::once(plain.clone()).chain((2..).map(|n| format!("{plain}_{n}")));
    for name in names.take(MODELS_OF_A_NAME) {
        let name = format!("{MODELS_FOLDER}/{name}.glb");
        let path = folder.join(&name);
        let known = path
            .exists()
            .then(|| read_file(&path, FILE_BYTES_MAX, "a model"));
        match known {
            // The same model was added before.
            Some(Ok(known)) if known == bytes => return Ok(name),
            Some(_) => {}
            None => {
                let added = SiteFileContent {
                    name: name.clone(),
                    content: bytes.to_vec(),
                };
                check_size(site, &[added])?;
                let failed = |error| format!("{}: cannot be saved: {error}", path.display());
                write(&path, bytes).map_err(failed)?;
                return Ok(name);
            }
        }
    }
    Err("there are too many models of this name; choose another one".to_owned())
}

/// Writes the files into a folder and loads the site there, if it may be loaded: problems quote what is in the files that it names.
fn check(
    folder: &Path,
    files: &[SiteFileContent],
    may_load: impl FnOnce(&Path) -> Result<(), Problems>,
) -> Result<(), Vec<Reason>> {
    let _leftover = std::fs::remove_dir_all(folder);
    for file in files {
        let written = write(&folder.join(&file.name), &file.content);
        written.map_err(|error| {
            vec![Reason {
                file: file.name.clone(),
                message: format!("cannot be checked: {error}"),
                ..Reason::default()
            }]
        })?;
    }
    let site = folder.join(SITE_NAME);
    let loaded = may_load(&site).and_then(|()| site::load(Some(&site), None));
    let shown = format!("{}/", folder.display());
    loaded.map(|_| ()).map_err(|problems| {
        let mut reasons = reasons(&problems);
        for reason in &mut reasons {
            reason.file = reason.file.replace(&shown, "");
            reason.message = reason.message.replace(&shown, "");
        }
        reasons
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_of_a_file_are_its_earlier_texts() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.toml");
        let texts = |name: &DocumentName| -> Vec<String> {
            let versions = read_versions(&site, name).unwrap();
            versions.into_iter().map(|version| version.text).collect()
        };
        assert!(texts(&DocumentName::Site).is_empty());
        for text in ["# one\n", "# two\n", "# three\n"] {
            save_file(&site, text.as_bytes()).unwrap();
        }
        assert_eq!(texts(&DocumentName::Site), ["# two\n", "# one\n"]);
        let other = DocumentName::Scene {
            name: "site".to_owned(),
        };
        assert!(texts(&other).is_empty(), "another file");
        let outside = DocumentName::Species {
            name: "../site".to_owned(),
        };
        assert!(read_versions(&site, &outside).is_err());
    }
    use crate::render::SHIPPED_MODELS;

    fn write_all(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            write(&folder.join(name), text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn a_backup_holds_the_site_without_secrets_and_can_be_restored() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("museum.toml");
        let scene = "title = \"Own\"\n\n[population]\nherring = 3\n";
        let note = "{\"time\":\"2026-01-01T00:00:00Z\",\"person\":\"Ada\",\"note\":\"lamp\"}\n";
        write_all(
            folder.path(),
            &[
                ("museum.toml", "scene = \"own\"\n"),
                ("scenes/own.toml", scene),
                (".shoal/accounts.json", "{}"),
                (".shoal/panel-key.pem", "secret"),
                (".shoal/notebook.jsonl", note),
                ("notebook.jsonl", "another file of this name"),
                ("key.pem", "secret"),
                ("notes.txt", "x"),
            ],
        );
        let scratch = folder.path().join(".shoal");
        let files = read_site_files(&site, &scratch).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["site.toml", "scenes/own.toml", "notebook.jsonl"]);

        write_all(
            folder.path(),
            &[
                ("museum.toml", "scene = \"pool\"\n"),
                ("scenes/own.toml", "title = \"Other\"\n"),
            ],
        );
        std::fs::remove_file(scratch.join(NOTEBOOK_NAME)).unwrap();
        restore_site_files(&site, &scratch, &files, Trust::Confirmed).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            (
                read("museum.toml").as_str(),
                read("scenes/own.toml").as_str()
            ),
            ("scene = \"own\"\n", scene)
        );
        assert_eq!(read(".shoal/notebook.jsonl"), note);
        assert_eq!(read("notebook.jsonl"), "another file of this name");
        // Nothing is left.
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 3);
    }

    fn file(name: &str, text: &str) -> SiteFileContent {
        SiteFileContent {
            name: name.to_owned(),
            content: text.as_bytes().to_vec(),
        }
    }

    /// A fixed bug: a folder in the place of a file was found after other files had been replaced.
    #[test]
    fn a_restore_that_cannot_be_written_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.toml");
        let scratch = folder.path().join(".shoal");
        let note = "{\"time\":\"2026-01-01T00:00:00Z\",\"person\":\"Ada\",\"note\":\"lamp\"}\n";
        write_all(
            folder.path(),
            &[
                ("site.toml", "scene = \"pool\"\n"),
                ("scenes/aa.toml", "title = \"Old\"\n"),
            ],
        );
        std::fs::create_dir(folder.path().join("scenes/zz.toml")).unwrap();
        let files = [
            file("site.toml", "scene = \"aa\"\n"),
            file(
                "scenes/aa.toml",
                "title = \"New\"\n[population]\nherring = 3\n",
            ),
            file(
                "scenes/zz.toml",
                "title = \"New\"\n[population]\nherring = 3\n",
            ),
            file(NOTEBOOK_NAME, note),
        ];
        let reasons = restore_site_files(&site, &scratch, &files, Trust::Programs).unwrap_err();
        assert!(
            reasons[0].message.contains("zz.toml")
                && reasons[0].message.contains("nothing was changed")
        );
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            (read("site.toml").as_str(), read("scenes/aa.toml").as_str()),
            ("scene = \"pool\"\n", "title = \"Old\"\n")
        );
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
        // With the folder out of the way, a restore that was interrupted after its check is finished at the next start.
        std::fs::remove_dir(folder.path().join("scenes/zz.toml")).unwrap();
        for file in &files {
            write(&scratch.join(READY_FOLDER).join(&file.name), &file.content).unwrap();
        }
        finish_restore(&site, &scratch);
        assert!(read("scenes/zz.toml").contains("New") && read("site.toml").contains("aa"));
        assert_eq!(read(".shoal/notebook.jsonl"), note);
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 1);
    }

    /// A fixed bug: a restore took files that made every later backup fail.
    #[test]
    fn what_is_restored_or_added_can_be_backed_up() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.toml");
        let scratch = folder.path().join(".shoal");
        write_all(folder.path(), &[("site.toml", "scene = \"pool\"\n")]);
        let large = |name: &str, bytes: u64| SiteFileContent {
            name: name.to_owned(),
            content: vec![0; usize::try_from(bytes).unwrap()],
        };
        let own = file("site.toml", "scene = \"pool\"\n");
        let one = [own.clone(), large("models/a.bin", FILE_BYTES_MAX + 1)];
        assert!(restore_site_files(&site, &scratch, &one, Trust::Programs).is_err());
        for name in ["models/a.bin", "models/b.bin"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::File::create(path)
                .unwrap()
                .set_len(29 << 20)
                .unwrap();
        }
        let third = [own, large("models/c.bin", 5 << 20)];
        let reasons = restore_site_files(&site, &scratch, &third, Trust::Programs).unwrap_err();
        assert!(reasons[0].message.contains("could not be backed up"));
        assert!(read_site_files(&site, &scratch).is_ok());
    }

    #[test]
    fn a_restore_names_no_programs_without_the_right() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.toml");
        let scratch = folder.path().join(".shoal");
        let with = |command: &str| format!("scene = \"pool\"\n[alerts]\ncommand = \"{command}\"\n");
        write_all(folder.path(), &[("site.toml", &with("mail"))]);
        let same = [file("site.toml", &format!("# restored\n{}", with("mail")))];
        let other = [file("site.toml", &with("sh -c id"))];
        assert!(restore_site_files(&site, &scratch, &other, Trust::Confirmed).is_err());
        assert!(std::fs::read_to_string(&site).unwrap().contains("mail"));
        restore_site_files(&site, &scratch, &same, Trust::Confirmed).unwrap();
        restore_site_files(&site, &scratch, &other, Trust::Programs).unwrap();
    }

    #[test]
    fn a_restore_holds_the_site_file_under_one_name_only() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("demo.toml");
        let scratch = folder.path().join(".shoal");
        write_all(folder.path(), &[("demo.toml", "scene = \"pool\"\n")]);
        let harmless = "scene = \"pool\"\n";
        for alias in ["demo.toml", "Demo.toml"] {
            let other = "[alerts]\ncommand = \"sh -c id\"\n";
            let files = [file("site.toml", harmless), file(alias, other)];
            for trust in [Trust::Confirmed, Trust::Programs] {
                let refused = restore_site_files(&site, &scratch, &files, trust);
                assert!(refused.unwrap_err()[0].message.contains("second time"));
            }
        }
        assert_eq!(std::fs::read_to_string(&site).unwrap(), harmless);
    }

    #[test]
    fn only_valid_models_are_added_and_never_replace_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.toml");
        let [first, second] = [SHIPPED_MODELS[0].1, SHIPPED_MODELS[1].1];
        assert!(add_model(&site, "koi", b"no model").is_err());
        assert!(!folder.path().join("models").exists());
        assert_eq!(
            add_model(&site, "../My Koi!", first).unwrap(),
            "models/mykoi.glb"
        );
        assert_eq!(
            add_model(&site, "mykoi", first).unwrap(),
            "models/mykoi.glb"
        );
        assert_eq!(
            add_model(&site, "MyKoi", second).unwrap(),
            "models/mykoi_2.glb"
        );
        assert_eq!(add_model(&site, "", first).unwrap(), "models/model.glb");
        let kept = std::fs::read(folder.path().join("models/mykoi.glb")).unwrap();
        assert_eq!(kept, first);
    }

    #[test]
    fn a_backup_that_is_no_valid_site_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site.toml");
        write_all(folder.path(), &[("site.toml", "scene = \"pool\"\n")]);
        let scratch = folder.path().join(".shoal");
        for files in [
            vec![],
            vec![file("scenes/own.toml", "title = \"x\"\n")],
            vec![file("site.toml", "scene = \"own\"\n")],
            vec![
                file("site.toml", "scene = \"pool\"\n"),
                file("scenes/own.toml", "title = 3\n"),
            ],
        ] {
            let reasons = restore_site_files(&site, &scratch, &files, Trust::Programs).unwrap_err();
            assert!(!reasons.is_empty());
            let shown = reasons.iter().map(ToString::to_string).collect::<String>();
            assert!(!shown.contains("restore-"), "{shown}");
            assert_eq!(
                std::fs::read_to_string(&site).unwrap(),
                "scene = \"pool\"\n"
            );
            assert!(!folder.path().join("scenes").exists());
        }
    }
}
