//! Recordings and the notebook.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;

use super::super::{Notebook, NotebookEntry, RecordingFile, RecordingList, Recordings};
use super::TestServer;

/// Size of the recording: several chunks and a part of one.
const BYTES: usize = 1_000_000;

/// One recording, which is called a.y4m.
pub(super) fn recordings(folder: &Path) -> Recordings {
    let path = folder.join("a.y4m");
    let content: Vec<u8> = (0..BYTES).map(|i| (i % 251) as u8).collect();
    std::fs::write(&path, content).unwrap();
    let path_of = |path: &PathBuf, name: &str| (name == "a.y4m").then(|| path.clone());
    let (listed, opened) = (path.clone(), path.clone());
    Recordings {
        list: Box::new(move || {
            let file = |bytes| RecordingFile {
                name: "a.y4m".to_owned(),
                bytes,
                time: "2026-01-01T00:00:00Z".to_owned(),
            };
            let metadata = std::fs::metadata(&listed).ok();
            Ok(RecordingList {
                recordings: (metadata.map(|found| file(found.len())))
                    .into_iter()
                    .collect(),
                left_bytes: 5,
            })
        }),
        open: Box::new(move |name| File::open(path_of(&opened, name)?).ok()),
        remove: Box::new(move |name| match path_of(&path, name) {
            Some(path) => std::fs::remove_file(path).map_err(|error| error.to_string()),
            None => Err("there is no such recording".to_owned()),
        }),
    }
}

/// A notebook in memory.
pub(super) fn notebook() -> Notebook {
    let entries: Arc<Mutex<Vec<NotebookEntry>>> = Arc::default();
    let added = Arc::clone(&entries);
    Notebook {
        read: Box::new(move || Ok(entries.lock().clone())),
        add: Box::new(move |person, note| {
            if note.is_empty() {
                return Err("the note is missing".to_owned());
            }
            added.lock().push(NotebookEntry {
                time: "2026-01-01T00:00:00Z".to_owned(),
                person: person.to_owned(),
                note: note.to_owned(),
            });
            Ok(())
        }),
    }
}

#[test]
fn recordings_are_listed_downloaded_and_deleted() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let listed = admin.get("/api/v1/recordings");
    assert_eq!(listed.json["recordings"][0]["bytes"], BYTES);
    assert_eq!(listed.json["left_bytes"], 5);
    for name in ["b.y4m", "..%2Faccounts.json", "%00"] {
        let answer = admin.get(&format!("/api/v1/recordings/{name}"));
        assert!(matches!(answer.status, 400 | 404), "{name}: {answer:?}");
    }
    let answer = admin.get("/api/v1/recordings/a.y4m");
    assert_eq!(answer.status, 200);
    let named = answer.header("content-disposition");
    assert_eq!(named, Some("attachment; filename=\"a.y4m\""));
    assert_eq!(answer.body.len(), BYTES);
    assert!((answer.body.iter().enumerate()).all(|(i, byte)| *byte == (i % 251) as u8));
    let wrong = admin.post("/api/v1/recordings", json!({"remove": "b.y4m"}));
    assert_eq!((wrong.status, wrong.code()), (422, "rejected"));
    let left = admin.post("/api/v1/recordings", json!({"remove": "a.y4m"}));
    assert_eq!((left.status, &left.json["recordings"]), (200, &json!([])));
    assert_eq!(admin.get("/api/v1/recordings/a.y4m").status, 404);
}

#[test]
fn notes_are_added_and_read() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let empty = admin.get("/api/v1/notebook");
    assert_eq!(empty.json["entries"], json!([]));
    let note = json!({"person": "Ada", "note": "lamp replaced"});
    let added = admin.post("/api/v1/notebook", note);
    assert_eq!(added.json["entries"][0]["note"], "lamp replaced");
    let wrong = admin.post("/api/v1/notebook", json!({"person": "Ada", "note": ""}));
    assert_eq!(wrong.code(), "rejected");
    assert_eq!(admin.get("/api/v1/notebook").json, added.json);
}
