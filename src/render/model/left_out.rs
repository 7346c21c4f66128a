//! Collects descriptions of those parts of a model file that are not drawn.

/// Largest number of messages about one model, so that an unusual file does not flood the log.
const MAX_MESSAGES: usize = 16;

/// Content of a file that is not drawn: noun phrases, each at most once.
#[derive(Debug, Default)]
pub(super) struct LeftOut(Vec<String>);

impl LeftOut {
    /// Adds an entry unless an equal entry exists.
    pub(super) fn add(&mut self, what: &str) {
        if self.0.len() < MAX_MESSAGES && self.0.iter().all(|known| known != what) {
            self.0.push(what.to_owned());
        }
    }

    /// Returns a clause about each entry, in the order in which they were added.
    pub(super) fn into_notes(self) -> Vec<String> {
        let note = |what: &String| format!("is drawn without {what}");
        self.0.iter().map(note).collect()
    }
}
