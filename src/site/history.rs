//! The changes that can be undone and redone.
//!
//! In: applied changes. Out: the step to undo or redo. Must not: apply a step.

use std::collections::BTreeMap;

use crate::control::{ChangeNote, DocumentName};
use crate::simulation::Change;
use crate::world::CommandedDirection;

/// Maximum number of changes that can be undone. Older changes are dropped.
const UNDO_MAX: usize = 2000;
/// Largest size of all texts in the history, in bytes. Older changes are dropped; the last one stays.
const BYTES_MAX: usize = 16 << 20;

/// The state before or after a change, with all data that is needed to restore it.
#[derive(Clone, Debug)]
pub(super) struct EditState {
    pub(super) texts: BTreeMap<DocumentName, Option<String>>,
    pub(super) director: CommandedDirection,
    pub(super) changes: Vec<Change>,
    pub(super) added: Vec<(String, glam::Vec3)>,
}

/// A change that can be undone and redone.
#[derive(Clone, Debug)]
pub(super) struct HistoryStep {
    pub(super) before: EditState,
    pub(super) after: EditState,
    /// What it is, for people.
    pub(super) note: ChangeNote,
}

impl EditState {
    fn bytes(&self) -> usize {
        let texts = self.texts.values().flatten().map(String::len);
        // A director and its changes are a few hundred bytes.
        texts.sum::<usize>() + 512
    }
}

impl HistoryStep {
    fn bytes(&self) -> usize {
        self.before.bytes() + self.after.bytes()
    }

    /// Whether the change concerns the documents.
    pub(super) fn changes_texts(&self) -> bool {
        self.before.texts != self.after.texts
    }

    /// Returns the change that consists of all these changes, in this order; `None` if there is none.
    fn merged(steps: Vec<Self>) -> Option<Self> {
        let mut steps = steps.into_iter();
        let mut all = steps.next()?;
        for step in steps {
            for (name, text) in step.before.texts {
                all.before.texts.entry(name).or_insert(text);
            }
            // The last change is undone first.
            let mut undone = step.before.changes;
            undone.append(&mut all.before.changes);
            all.before.changes = undone;
            all.note = step.note;
            all.after.texts.extend(step.after.texts);
            all.after.director = step.after.director;
            all.after.changes.extend(step.after.changes);
            all.after.added.extend(step.after.added);
        }
        Some(all)
    }
}

/// A direction in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the state before the last change.
    Undo,
    /// To the state after the change that was undone last.
    Redo,
}

/// The history of changes.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    undo: Vec<HistoryStep>,
    redo: Vec<HistoryStep>,
    /// Number of the newest change.
    newest: u64,
}

impl History {
    /// Returns the number of changes that can be undone, and the number of changes that can be redone.
    pub(super) fn depths(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    /// Adds a change. The undone changes can no longer be redone.
    pub(super) fn push(&mut self, mut step: HistoryStep) {
        self.newest += 1;
        step.note.number = self.newest;
        self.redo.clear();
        self.undo.push(step);
        let mut bytes = 0;
        let kept = self.undo.iter().rev().take_while(|step| {
            bytes += step.bytes();
            bytes <= BYTES_MAX
        });
        let kept = kept.count().clamp(1, UNDO_MAX);
        let surplus = self.undo.len().saturating_sub(kept);
        self.undo.drain(..surplus);
    }

    /// Adds all changes of another history as one change.
    pub(super) fn push_merged(&mut self, other: Self, note: ChangeNote) {
        if let Some(step) = HistoryStep::merged(other.undo) {
            self.push(HistoryStep { note, ..step });
        }
    }

    /// Makes the last two changes one step to undo, if they changed the same documents.
    pub(super) fn join_last(&mut self) {
        if let [.., before, last] = self.undo.as_slice()
            && before.after.texts.keys().eq(last.after.texts.keys())
        {
            let steps = self.undo.split_off(self.undo.len() - 2);
            self.undo.extend(HistoryStep::merged(steps));
        }
    }

    /// Returns what the next step in a direction is; `None` if there is none.
    pub(super) fn note(&self, direction: Direction) -> Option<&ChangeNote> {
        let steps = match direction {
            Direction::Undo => &self.undo,
            Direction::Redo => &self.redo,
        };
        steps.last().map(|step| &step.note)
    }

    /// Removes and returns the next step in a direction.
    pub(super) fn take(&mut self, direction: Direction) -> Option<HistoryStep> {
        match direction {
            Direction::Undo => self.undo.pop(),
            Direction::Redo => self.redo.pop(),
        }
    }

    /// Adds a step that is the next one in a direction.
    pub(super) fn put(&mut self, direction: Direction, step: HistoryStep) {
        match direction {
            Direction::Undo => self.undo.push(step),
            Direction::Redo => self.redo.push(step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Edit, EditChange, EditorStep, PoolEdit, Source, SourceKind};
    use crate::site::Editor;

    /// A fixed bug: 2,000 changes of a long text took gigabytes.
    #[test]
    fn the_history_is_bounded_by_its_size() {
        let state = |text: &str| EditState {
            texts: [(DocumentName::Site, Some(text.to_owned()))].into(),
            director: CommandedDirection::default(),
            changes: Vec::new(),
            added: Vec::new(),
        };
        let mut history = History::default();
        let long = "x".repeat(900_000);
        for _ in 0..50 {
            history.push(HistoryStep {
                before: state(&long),
                after: state("short"),
                note: ChangeNote::default(),
            });
        }
        assert_eq!(history.depths(), (BYTES_MAX / 901_100, 0));
        history.push(HistoryStep {
            before: state(&"x".repeat(BYTES_MAX)),
            after: state("short"),
            note: ChangeNote::default(),
        });
        // The last change can always be undone.
        assert_eq!(history.depths(), (1, 0));
        for _ in 0..UNDO_MAX + 10 {
            history.push(HistoryStep {
                before: state("a"),
                after: state("b"),
                note: ChangeNote::default(),
            });
        }
        assert_eq!(history.depths(), (UNDO_MAX, 0));
    }

    /// A fixed bug: undo took back what another person had saved, and did not say what or whose it was.
    #[test]
    fn the_next_step_names_its_author_and_only_the_change_that_is_meant_is_undone() {
        let mut editor = Editor::open(None, None).unwrap();
        let set = |editor: &mut Editor, name: &str, width_m: f64| {
            editor.set_author(Source {
                kind: SourceKind::Panel,
                name: name.to_owned(),
            });
            let edits = vec![Edit {
                document: DocumentName::Site,
                path: "surface.width_m".to_owned(),
                change: EditChange::Set {
                    value: width_m.into(),
                },
            }];
            let joins_last = false;
            let edit = PoolEdit::Edit { edits, joins_last };
            editor.apply(&edit.into(), &|_| None).unwrap();
        };
        set(&mut editor, "ada", 5.0);
        let seen = editor.next_steps().0.unwrap();
        assert_eq!(seen.line(), "edit site: surface.width_m (panel ada)");
        set(&mut editor, "ben", 5.5);
        let undo = |change: u64| EditorStep::Undo {
            change: Some(change),
        };
        let refused = editor.apply(&undo(seen.number).into(), &|_| None);
        assert!(refused.unwrap_err().to_string().contains("meanwhile"));
        let next = editor.next_steps().0.unwrap();
        assert_eq!(next.author.unwrap().name, "ben");
        let applied = editor.apply(&undo(next.number).into(), &|_| None).unwrap();
        // A replay has other numbers.
        assert_eq!(applied.command, Some(EditorStep::UNDO.into()));
        let (undo, redo) = editor.next_steps();
        assert_eq!((undo.unwrap(), redo.unwrap().number), (seen, next.number));
    }
}
