//! What a site file names outside of the site: recordings of the camera, and programs. They can be added later, and their absence is
//! a fault while the pool runs, so it is a warning.
//!
//! In: the site file. Out: warnings. Must not: open a file, start a program.

use std::path::Path;

use super::files::SiteFile;
use super::findings::Findings;
use super::source::Entry;
use crate::camera::{SourceKind, SourceSpec};
use crate::files::find_program;

/// Warns about recordings and programs that do not exist.
pub(super) fn warn_missing(entry: &Entry<SiteFile>, folder: &Path, findings: &mut Findings) {
    let site = &entry.value;
    let mut programs = vec![
        (
            "alerts.command".to_owned(),
            shell_words::split(&site.alerts.command).ok(),
        ),
        (
            "schedule.projectors.command".to_owned(),
            shell_words::split(&site.schedule.projectors.command).ok(),
        ),
    ];
    for (i, camera) in site.all_cameras().iter().enumerate() {
        let at = site.source_path(i);
        let camera = SourceSpec::parse(&camera.source);
        match camera.map(|camera| camera.relative_to(folder).kind) {
            Ok(SourceKind::File(path)) if !path.exists() => {
                let message = format!(
                    "{} does not exist; copy the recording there, or correct the path",
                    path.display()
                );
                findings.warning(entry, &at, message);
            }
            Ok(SourceKind::Command(words)) => programs.push((at, Some(words))),
            _ => {}
        }
    }
    for (path, words) in programs {
        if let Some(program) = words.unwrap_or_default().first()
            && find_program(program).is_none()
        {
            let message = format!(
                "there is no program \"{program}\" on this machine; install it, or correct its path"
            );
            findings.warning(entry, &path, message);
        }
    }
}
