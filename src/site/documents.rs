//! All documents as JSON, for clients that show and edit them.
//!
//! In: a copy of the documents. Out: their texts and values. Numbers are written as short as they are in the files: 0.1, not
//! 0.10000000149011612. Must not: make the desk wait; [`DocumentsView::json`] can run on another thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::files::{SceneFile, SiteFile, SpeciesFile};
use super::library::Library;
use super::programs::hide_programs;
use super::source::Entry;
use crate::config::Problem;
use crate::control::{DocumentName, DocumentsReader, Reason};

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
    /// "effective", "broken_text", "problems"}]}`. For a reader who is no administrator, the site file has no text, and values that
    /// can contain passwords are hidden.
    pub fn json(&self, revision: u64, reader: DocumentsReader) -> String {
        let names = self.library.names().into_iter();
        let page = Page {
            revision,
            documents: names.filter_map(|name| self.view(name)).collect(),
        };
        if reader == DocumentsReader::Admin {
            return serde_json::to_string(&page).unwrap_or_default();
        }
        // Through a text, so that numbers stay as short as they are in the files.
        let text = serde_json::to_string(&page).unwrap_or_default();
        let mut page: Value = serde_json::from_str(&text).unwrap_or_default();
        let documents = page.pointer_mut("/documents").and_then(Value::as_array_mut);
        let is_site = |document: &&mut Value| document["document"]["kind"] == "site";
        for site in documents.into_iter().flatten().filter(is_site) {
            hide(site);
        }
        page.to_string()
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

/// Hides what only administrators see of the site file: its texts, whose comments can contain anything, and secret values.
fn hide(site: &mut Value) {
    for text in ["text", "broken_text"] {
        if let Some(text) = site.get_mut(text) {
            *text = "".into();
        }
    }
    for values in ["values", "effective"] {
        site.get_mut(values).into_iter().for_each(hide_programs);
    }
    // A message can repeat a value.
    let problems = site.get_mut("problems").and_then(Value::as_array_mut);
    for problem in problems.into_iter().flatten() {
        problem["message"] = "an administrator sees what is wrong here".into();
    }
}

fn reason(problem: &Problem) -> Reason {
    Reason {
        file: problem.file.clone(),
        line: problem.line,
        path: problem.path.clone(),
        message: problem.message.clone(),
        code: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Editor;
    use super::*;
    use crate::control::{
        DocumentText, Edit, EditChange, EditorStep, PoolCommand, PoolEdit, Trust,
    };
    use serde_json::json;

    fn documents(editor: &Editor) -> Vec<Value> {
        let page: Value =
            serde_json::from_str(&editor.documents_view().json(7, DocumentsReader::Admin)).unwrap();
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

    /// A fixed bug: every user saw the password in the line of the camera program.
    #[test]
    fn only_administrators_see_program_lines_and_the_text_of_the_site() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        let site = "scene = \"pool\" # key: TOPSECRET\n[camera]\nsource = \"command:ffmpeg -i rtsp://cam:TOPSECRET@x\"\n\
                    [alerts]\ncommand = \"curl -H TOPSECRET\"\n[schedule.projectors]\ncommand = \"beamer TOPSECRET\"\n\
                    [panel]\nnames = [\"topsecret.example\"]\n\
                    [[remote.projectors]]\nname = \"left\"\naddress = \"127.0.0.1\"\npassword = \"TOPSECRET\"\n";
        std::fs::write(&path, site).unwrap();
        let mut editor = Editor::open(Some(&path), None).unwrap();
        let broken = PoolCommand::Editor(EditorStep::TakeOver {
            documents: vec![DocumentText {
                document: DocumentName::Site,
                text: Some(format!("{site}[camera2]\nTOPSECRET = 1\n")),
            }],
        });
        assert!(editor.apply(&broken, &|_| None).is_err());
        let seen = |reader| editor.documents_view().json(1, reader).to_lowercase();
        assert!(seen(DocumentsReader::Admin).matches("topsecret").count() > 5);
        let other = seen(DocumentsReader::Other);
        assert!(!other.contains("topsecret"), "{other}");
        assert!(other.contains("\"source\":\"***\"") && other.contains("\"weekly\""));
    }

    /// A fixed bug: whoever was administrator in the panel could run any program.
    #[test]
    fn without_the_right_no_command_changes_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.toml");
        let site =
            "scene = \"pool\"\n[camera]\nsource = \"v4l2:0\"\n[alerts]\ncommand = \"mail\"\n";
        std::fs::write(&path, site).unwrap();
        let mut editor = Editor::open(Some(&path), None).unwrap();
        editor.set_trust(Trust::Confirmed);
        let set = |path: &str, value: Value| Edit {
            document: DocumentName::Site,
            path: path.into(),
            change: EditChange::Set { value },
        };
        let edit = |edits: Vec<Edit>| PoolEdit::Edit {
            edits,
            joins_last: false,
        };
        let text = |text: &str| PoolEdit::ReplaceText {
            document: DocumentName::Site,
            text: text.to_owned(),
        };
        for command in [
            edit(vec![set("camera.source", json!("command:sh -c id"))]),
            edit(vec![set("camera.source", json!(" command:sh -c id"))]),
            edit(vec![set("alerts.command", json!("sh -c id"))]),
            edit(vec![set("alerts", json!({"command": "sh -c id"}))]),
            edit(vec![set("schedule.projectors", json!({"command": "sh"}))]),
            edit(vec![set("panel.may_name_programs", json!(true))]),
            edit(vec![
                set("scene", json!("reef")),
                set("alerts.command", json!("")),
            ]),
            text(&site.replace("mail", "sh -c id")),
        ] {
            let before = editor.text(&DocumentName::Site).unwrap().to_owned();
            let batch = EditorStep::Batch {
                commands: vec![command.clone()],
            };
            for command in [command.into(), batch.into()] {
                let problems = editor.apply(&command, &|_| None).unwrap_err();
                assert!(!problems.0.is_empty());
            }
            assert_eq!(editor.text(&DocumentName::Site), Some(before.as_str()));
        }
        let other: PoolCommand = edit(vec![set("camera.source", json!("v4l2:1"))]).into();
        editor.apply(&other, &|_| None).unwrap();
        // What another client may do cannot be undone without the right.
        editor.set_trust(Trust::Programs);
        let command: PoolCommand = edit(vec![set("alerts.command", json!("other"))]).into();
        editor.apply(&command, &|_| None).unwrap();
        editor.set_trust(Trust::Confirmed);
        assert!(editor.apply(&EditorStep::UNDO.into(), &|_| None).is_err());
        assert_eq!(editor.site().file.alerts.command, "other");
        editor.set_trust(Trust::Programs);
        editor.apply(&EditorStep::UNDO.into(), &|_| None).unwrap();
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
