//! The last valid documents of a site, kept in the state folder. If the files of the site are broken at a start, the pool runs
//! with these documents, so that the panel opens and shows the errors.
//!
//! In: the documents after each start and each save. Out: the documents of the last time at which all files were valid. Must not:
//! change a file of the site.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::state_folder::state_folder;
use crate::files::{read_file, write_private};
use crate::site::{Editor, EditorState};

/// Name of the file in the state folder.
const FILE: &str = "last-valid-site.json";
/// Largest size of the file, in bytes: more than all documents of a large site, each once as it runs and once as it is on the disk.
const BYTES_MAX: u64 = 64 << 20;

/// The file with the last valid documents.
#[derive(Debug)]
pub struct LastValidSite {
    site: PathBuf,
    file: PathBuf,
    /// Content of the file, as far as it is known; empty before the first write.
    written: String,
}

impl LastValidSite {
    /// Returns the file of a site. Does not touch the disk.
    pub fn of_site(site: &Path) -> Self {
        let folder = site.parent().unwrap_or(Path::new(""));
        Self {
            site: site.to_path_buf(),
            file: state_folder(folder).join(FILE),
            written: String::new(),
        }
    }

    /// Keeps the documents if all of them are saved. If the disk refuses, this is only logged: the pool does not need the file.
    pub fn keep(&mut self, editor: &Editor) {
        if !editor.unsaved().is_empty() || editor.has_broken_files() {
            return;
        }
        if let Err(error) = self.write(editor) {
            tracing::warn!(
                "{}: the last valid site cannot be kept: {error:#}",
                self.file.display()
            );
        }
    }

    fn write(&mut self, editor: &Editor) -> anyhow::Result<()> {
        let text = serde_json::to_string(&editor.state())?;
        if text == self.written {
            return Ok(());
        }
        // What could not be read at the next start is not written.
        anyhow::ensure!(
            text.len() as u64 <= BYTES_MAX,
            "all documents together have more than {} MiB",
            BYTES_MAX >> 20
        );
        write_private(&self.file, text.as_bytes())?;
        self.written = text;
        Ok(())
    }

    /// Opens the last valid documents; `None` if there are none.
    ///
    /// # Errors
    /// When the kept documents are damaged, or no longer valid for this version of Shoal.
    pub fn open(&self) -> anyhow::Result<Option<Editor>> {
        if !self.file.exists() {
            return Ok(None);
        }
        let file = self.file.display();
        let text = read_file(&self.file, BYTES_MAX, "the last valid site")
            .map_err(|problem| anyhow::anyhow!("{file}: {problem}"))?;
        let state: EditorState =
            serde_json::from_slice(&text).with_context(|| format!("{file}: damaged; remove it"))?;
        let editor = Editor::restore(Some(&self.site), &state);
        editor.map(Some).map_err(|problems| {
            anyhow::anyhow!("{file}: the last valid site is no longer valid: {problems}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{DocumentName, DocumentText, EditorStep};

    fn kept(folder: &tempfile::TempDir) -> LastValidSite {
        LastValidSite {
            site: folder.path().join("site.toml"),
            file: folder.path().join("state").join(FILE),
            written: String::new(),
        }
    }

    #[test]
    fn the_last_valid_site_is_opened_while_its_file_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let mut last = kept(&folder);
        assert!(last.open().unwrap().is_none());
        let good = "[surface]\nwidth_m = 5.5 # measured\n";
        std::fs::write(&last.site, good).unwrap();
        last.keep(&Editor::open(Some(&last.site), None).unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let state = std::fs::metadata(folder.path().join("state")).unwrap();
            assert_eq!(state.permissions().mode() & 0o777, 0o700);
        }

        let bad = "[surface]\nwidth_m = \"wide\"\n";
        std::fs::write(&last.site, bad).unwrap();
        assert!(Editor::open(Some(&last.site), None).is_err());
        let mut editor = last.open().unwrap().unwrap();
        assert_eq!(editor.text(&DocumentName::Site), Some(good));
        // What the watcher of the files reports.
        let broken = EditorStep::TakeOver {
            documents: vec![DocumentText {
                document: DocumentName::Site,
                text: Some(bad.to_owned()),
            }],
        };
        editor.apply(&broken.into(), &|_| None).unwrap_err();
        let page: serde_json::Value = serde_json::from_str(
            &editor
                .documents_view()
                .json(1, crate::control::DocumentsReader::Admin),
        )
        .unwrap();
        let site = &page["documents"][0];
        assert_eq!(site["broken_text"], bad);
        assert_eq!(site["problems"][0]["line"], 2, "{site}");
        // A site with a broken file is not kept as valid.
        let before = std::fs::read_to_string(&last.file).unwrap();
        last.keep(&editor);
        assert_eq!(std::fs::read_to_string(&last.file).unwrap(), before);
        assert_eq!(std::fs::read_to_string(&last.site).unwrap(), bad);
    }

    /// A fixed bug: a site of more than half a mebibyte was kept, and could not be opened.
    #[test]
    fn a_large_site_is_kept_and_opened() {
        let folder = tempfile::tempdir().unwrap();
        let mut last = kept(&folder);
        let text = format!("scene = \"pool\"\n{}", "# a long remark\n".repeat(50_000));
        std::fs::write(&last.site, text).unwrap();
        last.keep(&Editor::open(Some(&last.site), None).unwrap());
        assert!(std::fs::metadata(&last.file).unwrap().len() > 1 << 20);
        assert!(last.open().unwrap().is_some());
    }

    #[test]
    fn unsaved_changes_are_not_kept_and_a_damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut last = kept(&folder);
        std::fs::write(&last.site, "scene = \"pool\"\n").unwrap();
        // The scene of the command line counts as an unsaved edit.
        last.keep(&Editor::open(Some(&last.site), Some("reef")).unwrap());
        assert!(!last.file.exists());
        last.keep(&Editor::open(Some(&last.site), None).unwrap());
        std::fs::write(&last.file, "{").unwrap();
        let error = format!("{:#}", last.open().unwrap_err());
        assert!(
            error.contains(FILE) && error.contains("remove it"),
            "{error}"
        );
    }
}
