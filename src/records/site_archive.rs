//! Backup of a site: reads all of its files, and replaces them by the files of a backup if those are a valid site.

mod restore;

use std::path::{Path, PathBuf};

pub use restore::finish_restore;

use crate::config::read_text;
use crate::control::DocumentName;
use crate::files::{file_generations, read_file, save_file};
use crate::panel::{
    ARCHIVE_FILES_MAX, FileVersion, NOTEBOOK_NAME, SiteFileContent, SiteFiles, is_archive_name,
};
use crate::render::Model;
use crate::runtime::iso_from_time;
use crate::site;

/// Name of the site file in a backup, whatever its name on the disk.
const SITE_NAME: &str = "site.toml";
/// Largest file that is part of a backup, in bytes.
const FILE_BYTES_MAX: u64 = 32 << 20;
/// Largest backup, in bytes. With its headers it is smaller than the largest archive that the panel restores.
const ALL_BYTES_MAX: usize = 60 << 20;
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
        restore: Box::new(move |files, trust| {
            restore::restore_site_files(&restored, &state, files, trust)
        }),
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

#[cfg(test)]
mod tests;
