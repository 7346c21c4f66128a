//! The folder for what a running installation keeps itself: users of the panel, counts of visitors.

use std::path::{Path, PathBuf};

use crate::site::Site;

/// Folder beside the site file for what Shoal keeps itself. Under systemd, `StateDirectory=` replaces it.
const STATE_FOLDER: &str = ".shoal";
/// Name of the file with the counts if the site names none.
const COUNTS_FILE: &str = "visitors.sqlite";

/// Returns the file with the counts of visitors.
pub fn counts_file(site: &Site) -> PathBuf {
    match site.file.counting.file.as_str() {
        "" => state_folder(&site.folder).join(COUNTS_FILE),
        file => site.folder.join(file),
    }
}

/// Returns the folder that systemd gives the service, or the one beside the site file.
pub fn state_folder(site_folder: &Path) -> PathBuf {
    let of_service = std::env::var("STATE_DIRECTORY").ok();
    let first = of_service
        .as_deref()
        .and_then(|folders| folders.split(':').next());
    match first
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
    {
        Some(folder) => folder,
        None => site_folder.join(STATE_FOLDER),
    }
}
