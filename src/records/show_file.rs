//! The file with what operators set by hand: a state of the show, a pause, a rehearsal. It is kept over a power cut.

use std::path::Path;

use super::state_folder::state_folder;
use crate::config::read_text;
use crate::files::write_private;
use crate::operation::ShowFile;

/// Name of the file in the state folder.
const FILE: &str = "show.json";

/// Returns the file of a site.
pub fn show_file(site: &Path) -> ShowFile {
    let path = state_folder(site.parent().unwrap_or(Path::new(""))).join(FILE);
    let text = path.exists().then(|| read_text(&path));
    let text = text.and_then(|read| {
        let logged = read.inspect_err(|problem| tracing::warn!("{problem}"));
        logged.ok()
    });
    ShowFile {
        text,
        write: Box::new(move |text| {
            let written = write_private(&path, text.as_bytes());
            written.map_err(|error| format!("{}: {error}", path.display()))
        }),
    }
}
