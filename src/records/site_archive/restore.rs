//! Replaces the files of a site by those of a backup, all of them or none.
//!
//! In: the files of a backup. Out: the site's files, or every reason why not. Must not: leave a part of a backup behind, also after
//! a power cut.

use std::path::{Path, PathBuf};

use super::super::notebook::NotebookFile;
use super::{DEPTH_MAX, SITE_NAME, check_size, here, list, read, write};
use crate::config::Problems;
use crate::control::{Reason, Trust};
use crate::files::{save_files, write_private};
use crate::panel::{NOTEBOOK_NAME, SiteFileContent};
use crate::site::{self, GuardedValues, reasons};

/// Folder in the state folder with the files of a restore that are complete and checked.
pub(super) const READY_FOLDER: &str = "restore-ready";

/// Replaces the files of a site by those of a backup, all of them or none. The old contents stay as generations. The watcher of the
/// files applies them. The backup is checked in the state folder first, and stays there until all files are replaced: if the program
/// ends before, [`finish_restore`] goes on at the next start. The entries of its notebook are added to the notebook there.
///
/// # Errors
/// When the backup is no valid site, changes what needs more trust, is too large for the next backup, or cannot be
/// written. Then nothing is changed.
pub(super) fn restore_site_files(
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
                Some(old) => write_private(&notebook, &old),
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
