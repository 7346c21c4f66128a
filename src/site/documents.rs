//! All documents as JSON, for clients that show and edit them.
//!
//! In: a copy of the documents. Out: their texts and values. Numbers are written as short as they are in the files: 0.1, not
//! 0.10000000149011612. Must not: make the desk wait; [`DocumentsView::json`] can run on another thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::files::{SceneFile, SiteFile, SpeciesFile};
use super::library::Library;
use super::source::Entry;
use crate::config::Problem;
use crate::control::{DocumentName, Reason};

/// A file whose content was rejected. The pool keeps the last valid content.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BrokenFile {
    /// The text on the disk.
    pub(super) text: String,
    /// What is wrong with it.
    pub(super) problems: Vec<Problem>,
}

/// A copy of all documents at one moment.
#[derive(Clone, Debug)]
pub struct DocumentsView {
    pub(super) library: Library,
    pub(super) unsaved: Vec<DocumentName>,
    pub(super) broken: BTreeMap<DocumentName, BrokenFile>,
}

#[derive(Serialize)]
struct Page<'a> {
    revision: u64,
    documents: Vec<View<'a>>,
}

#[derive(Serialize)]
struct View<'a> {
    document: DocumentName,
    text: &'a str,
    is_built_in: bool,
    is_unsaved: bool,
    /// What the text contains.
    values: toml::Table,
    /// The values with everything that is inherited, and all defaults.
    effective: Effective<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_text: Option<&'a str>,
    problems: Vec<Reason>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Effective<'a> {
    Site(&'a SiteFile),
    Scene(&'a SceneFile),
    Species(&'a SpeciesFile),
}

impl DocumentsView {
    /// Returns the documents as JSON: `{"revision", "documents": [{"document", "text", "is_built_in", "is_unsaved", "values",
    /// "effective", "broken_text", "problems"}]}`.
    pub fn json(&self, revision: u64) -> String {
        let names = self.library.names().into_iter();
        let page = Page {
            revision,
            documents: names.filter_map(|name| self.view(name)).collect(),
        };
        serde_json::to_string(&page).unwrap_or_default()
    }

    fn view(&self, document: DocumentName) -> Option<View<'_>> {
        fn of<'a, T>(
            entry: Option<&'a Arc<Entry<T>>>,
            effective: fn(&'a T) -> Effective<'a>,
        ) -> Option<(&'a str, bool, Effective<'a>)> {
            let entry = entry?;
            let effective = effective(&entry.value);
            Some((entry.spans.text(), entry.is_built_in, effective))
        }
        let library = &self.library;
        let (text, is_built_in, effective) = match &document {
            DocumentName::Site => of(library.site.as_ref(), Effective::Site),
            DocumentName::Scene { name } => {
                of(library.scenes.get(name)?.as_ref(), Effective::Scene)
            }
            DocumentName::Species { name } => {
                of(library.species.get(name)?.as_ref(), Effective::Species)
            }
        }?;
        let broken = self.broken.get(&document);
        let problems = broken.map_or(&[][..], |broken| &broken.problems);
        Some(View {
            is_unsaved: self.unsaved.contains(&document),
            values: toml::from_str(text).unwrap_or_default(),
            broken_text: broken.map(|broken| broken.text.as_str()),
            problems: problems.iter().map(reason).collect(),
            document,
            text,
            is_built_in,
            effective,
        })
    }
}

fn reason(problem: &Problem) -> Reason {
    Reason {
        file: problem.file.clone(),
        line: problem.line,
        path: problem.path.clone(),
        message: problem.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Editor;
    use super::*;
    use crate::control::{DocumentText, Edit, EditChange, EditorStep, PoolCommand, PoolEdit};
    use serde_json::{Value, json};

    fn documents(editor: &Editor) -> Vec<Value> {
        let page: Value = serde_json::from_str(&editor.documents_view().json(7)).unwrap();
        assert_eq!(page["revision"], 7);
        page["documents"].as_array().unwrap().clone()
    }

    fn find(editor: &Editor, name: &Value) -> Value {
        let documents = documents(editor);
        let found = documents.into_iter().find(|d| d["document"] == *name);
        found.unwrap_or_else(|| panic!("no document {name}"))
    }

    #[test]
    fn every_document_has_its_text_and_its_values() {
        let mut editor = Editor::open(None, None).unwrap();
        assert_eq!(documents(&editor).len(), editor.documents().len());
        let site = find(&editor, &json!({"kind": "site"}));
        assert!(site["text"].as_str().unwrap().contains("scene"));
        assert_eq!(site["effective"]["panel"]["listen"], "local", "a default");
        let koi = json!({"kind": "species", "name": "koi"});
        let command = PoolEdit::Edit {
            edits: vec![Edit {
                document: DocumentName::Species { name: "koi".into() },
                path: "motion.cruise_mps".into(),
                change: EditChange::Set { value: 0.1.into() },
            }],
            joins_last: false,
        };
        editor.apply(&command.into(), &|_| None).unwrap();
        let after = find(&editor, &koi);
        // What the text contains.
        assert_eq!(after["values"]["motion"]["cruise_mps"], 0.1);
        // An f32 as short as in the file.
        assert_eq!(after["effective"]["motion"]["cruise_mps"], 0.1);
        assert_eq!(
            (&after["is_built_in"], &after["is_unsaved"]),
            (&json!(false), &json!(true))
        );
    }

    #[test]
    fn a_broken_file_is_shown_with_its_problems_and_can_be_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        let good = "scene = \"pool\"\n";
        std::fs::write(&path, good).unwrap();
        let mut editor = Editor::open(Some(&path), None).unwrap();
        let bad = "scene = \"pool\"\nlanguage = \"xx\"\n";
        std::fs::write(&path, bad).unwrap();
        let take_over = |text: &str| {
            PoolCommand::Editor(EditorStep::TakeOver {
                documents: vec![DocumentText {
                    document: DocumentName::Site,
                    text: Some(text.to_owned()),
                }],
            })
        };
        assert!(editor.apply(&take_over(bad), &|_| None).is_err());
        let site = find(&editor, &json!({"kind": "site"}));
        assert_eq!(
            (&site["text"], &site["broken_text"]),
            (&json!(good), &json!(bad))
        );
        assert_eq!(site["problems"][0]["line"], 2, "{site}");
        assert_eq!(editor.unsaved(), []);

        let replace = |text: &str| PoolEdit::ReplaceText {
            document: DocumentName::Site,
            text: text.to_owned(),
        };
        let with_bad = replace(bad).into();
        assert!(editor.apply(&with_bad, &|_| None).is_err());
        // A fixed bug: after a batch that was rejected, the broken file counted as repaired, and a save replaced it.
        let rejected = EditorStep::Batch {
            commands: vec![replace(good), replace(bad)],
        };
        assert!(editor.apply(&rejected.into(), &|_| None).is_err());
        assert_eq!(editor.unsaved(), []);
        // The repaired text is the one that is in use anyway. It still has to be saved.
        editor.apply(&replace(good).into(), &|_| None).unwrap();
        assert_eq!(editor.unsaved(), [DocumentName::Site]);
        editor.apply(&EditorStep::Save.into(), &|_| None).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), good);
        let site = find(&editor, &json!({"kind": "site"}));
        assert_eq!(
            (&site["broken_text"], &site["is_unsaved"]),
            (&json!(null), &json!(false))
        );
    }
}
