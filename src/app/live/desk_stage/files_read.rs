//! What the watcher of the files has read, for the events: only what differs from the known files. After a change of one file it
//! reads all of them, also after a save of Shoal itself.

use std::sync::Arc;

use crate::control::{Command, DocumentName, EditorStep, PoolCommand};
use crate::site::{Editor, Site};

/// Documents that were read from the disk.
pub(super) struct FilesRead {
    changed: Vec<DocumentName>,
    site: Arc<Site>,
}

impl FilesRead {
    /// Returns what a command has read; `None` for a command that reads no files. `editor` has not applied the command yet.
    pub(super) fn of(command: &Command, editor: &Editor) -> Option<Self> {
        let Command::Pool(PoolCommand::Editor(EditorStep::TakeOver { documents })) = command else {
            return None;
        };
        Some(Self {
            changed: editor.changed_on_disk(documents),
            site: Arc::clone(editor.site()),
        })
    }

    /// Whether nothing was new: no document, and no file that a document names. `editor` has applied the command.
    pub(super) fn is_nothing(&self, editor: &Editor) -> bool {
        self.changed.is_empty() && Arc::ptr_eq(&self.site, editor.site())
    }

    /// Returns the names of the changed documents for an event.
    pub(super) fn summary(&self) -> String {
        let names: Vec<String> = self.changed.iter().map(ToString::to_string).collect();
        match names.as_slice() {
            [] => "a model or the calibration".to_owned(),
            [a, b, c, _, ..] => format!("{a}, {b}, {c} and {} more", names.len() - 3),
            names => names.join(", "),
        }
    }
}
