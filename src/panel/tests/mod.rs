//! Tests of the server as clients meet it: real connections to a real server, with a desk that answers every command.

mod analytics;
mod attacks;
mod client;
mod files;
mod hostile;
mod limits;
mod login;
mod route_walk;
mod streams;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;

use super::{
    Devices, FileVersion, LiveViews, PanelLinks, PanelOptions, PanelParams, PanelServer,
    SetupNotice, SiteFileContent, SiteFiles, VisitorCounts,
};
use crate::control::{
    Board, Command, DeskEvent, DocumentName, DocumentsPage, Edit, EventKind, Incoming, Journal,
    Outcome, OutputStatus, PoolCommand, PoolEdit, Reason, Status, Trust, desk_queue,
};
use client::Client;

/// Password of the administrator.
const PASSWORD: &str = "four easy words";

/// A server on a free port, with its desk.
struct TestServer {
    address: String,
    board: Arc<Board>,
    journal: Journal,
    views: LiveViews,
    /// Held to let the schema wait.
    schema: Arc<Mutex<()>>,
    /// The newest setup notice.
    notice: Arc<Mutex<Option<SetupNotice>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// Folder of the users.
    folder: tempfile::TempDir,
}

impl TestServer {
    fn start() -> Self {
        Self::start_with(PanelParams::default(), tempfile::tempdir().unwrap())
    }

    fn start_with(params: PanelParams, folder: tempfile::TempDir) -> Self {
        let (client, requests, board) = desk_queue();
        board.publish(status());
        let views = LiveViews {
            outputs: vec![Arc::default()],
            ..LiveViews::default()
        };
        let journal = Journal::new(Arc::clone(&board));
        let notice: Arc<Mutex<Option<SetupNotice>>> = Arc::default();
        let shown = Arc::clone(&notice);
        let schema: Arc<Mutex<()>> = Arc::default();
        let awaited = Arc::clone(&schema);
        let links = PanelLinks {
            client,
            journal: journal.clone(),
            views: views.clone(),
            schema: Box::new(move || {
                drop(awaited.lock());
                json!({"site": {}}).to_string()
            }),
            devices: Devices {
                cameras: Box::new(|| {
                    Ok(json!({"cameras": [{"source": "v4l2:0"}], "problems": []}))
                }),
                monitors: Box::new(|| Err("there is no display".to_owned())),
            },
            counts: Some(VisitorCounts {
                file: folder.path().join("visitors.sqlite"),
                hide_below: 5,
            }),
            archive: Some(archive(folder.path())),
            recordings: Some(files::recordings(folder.path())),
            notebook: Some(files::notebook()),
            on_setup: Box::new(move |notice| *shown.lock() = notice.cloned()),
            log: Box::leak(Box::default()),
            language: Box::new(|| "en"),
        };
        let options = PanelOptions {
            params: PanelParams {
                listen: "127.0.0.1:0".to_owned(),
                ..params
            },
            site: None,
            site_folder: folder.path().to_path_buf(),
            state_folder: Some(folder.path().to_path_buf()),
        };
        let server = PanelServer::bind(&options, links).unwrap().unwrap();
        // Only this machine can reach the panel.
        assert_eq!(server.service(), None);
        let address = server.url().split_once("://").unwrap().1.to_owned();
        let stop: Arc<AtomicBool> = Arc::default();
        let serving = Arc::clone(&stop);
        let deciding = Arc::clone(&stop);
        let desk_board = Arc::clone(&board);
        let threads = vec![
            std::thread::spawn(move || server.run(|| !serving.load(Ordering::Relaxed)).unwrap()),
            std::thread::spawn(move || {
                while !deciding.load(Ordering::Relaxed) {
                    let event = requests.recv_timeout(Duration::from_millis(20));
                    if let Ok(DeskEvent::Request(incoming)) = event {
                        decide(incoming, &desk_board);
                    }
                }
            }),
        ];
        Self {
            address,
            board,
            journal,
            views,
            schema,
            notice,
            stop,
            threads,
            folder,
        }
    }

    /// Lets camera and output show pictures until the server ends.
    fn show_pictures(&mut self) {
        let views = &self.views;
        let slots = [(&views.camera, 1), (&views.mask, 1), (&views.outputs[0], 3)];
        for (slot, bytes) in slots {
            let (slot, stop) = (Arc::clone(slot), Arc::clone(&self.stop));
            let show = move || streams::show_pictures(&slot, bytes, &stop);
            self.threads.push(std::thread::spawn(show));
        }
    }

    /// Ends the server, and starts another one with the same users.
    fn restart(mut self) -> Self {
        self.end();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        Self::start_with(PanelParams::default(), folder)
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }

    /// Returns a client that has not logged in.
    fn client(&self) -> Client {
        Client::new(&self.address)
    }

    /// Returns the current setup code.
    fn code(&self) -> String {
        client::wait_until("a setup code", || self.notice.lock().clone()).code
    }

    /// Sets the password, and returns the client of the administrator.
    fn admin(&self) -> Client {
        let mut client = self.client();
        let answer = client.post(
            "/api/v1/setup",
            json!({"code": self.code(), "password": PASSWORD}),
        );
        assert_eq!(answer.status, 200, "{answer:?}");
        client
    }

    /// Creates a user and returns a client that has logged in.
    fn user(&self, admin: &mut Client, name: &str, role: &str) -> Client {
        let user = json!({"name": name, "role": role, "password": PASSWORD});
        assert_eq!(admin.post("/api/v1/users", user).status, 200);
        let mut client = self.client();
        assert_eq!(client.login(name, PASSWORD).status, 200);
        client
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Backup of a site that is one file.
fn archive(folder: &Path) -> SiteFiles {
    let (read, written) = (folder.join("site.toml"), folder.join("site.toml"));
    std::fs::write(&read, "scene = \"pool\"\n").unwrap();
    SiteFiles {
        read: Box::new(move || {
            Ok(vec![SiteFileContent {
                name: "site.toml".to_owned(),
                content: std::fs::read(&read).unwrap(),
            }])
        }),
        versions: Box::new(|document| match document {
            DocumentName::Site => Ok(vec![FileVersion {
                file: "site.toml.000001".to_owned(),
                replaced: "2026-01-01T00:00:00Z".to_owned(),
                text: "scene = \"reef\"\n".to_owned(),
            }]),
            _ => Err("no file".to_owned()),
        }),
        restore: Box::new(move |files, _| match files {
            [file] if file.content.starts_with(b"scene") => {
                std::fs::write(&written, &file.content).unwrap();
                Ok(())
            }
            _ => Err(vec![Reason::default()]),
        }),
        add_model: Box::new(|name, bytes| match bytes {
            b"glTF" => Ok(format!("models/{name}.glb")),
            _ => Err("no model".to_owned()),
        }),
    }
}

/// Status of a pool with one output.
fn status() -> Status {
    Status {
        outputs: vec![OutputStatus::default()],
        ..Status::default()
    }
}

/// Answers a command as the desk does: a species named "none" is unknown, the table of the panel needs the password, everything else
/// is applied.
fn decide(incoming: Incoming, board: &Board) {
    static REVISION: AtomicU64 = AtomicU64::new(0);
    if matches!(&incoming.request.command, Command::Pool(PoolCommand::Edit(PoolEdit::RemoveSpecies { name })) if name == "none")
    {
        incoming.answer(0, Outcome::rejected("there is no species \"none\""));
        return;
    }
    let is_of_panel = |edit: &Edit| edit.path.starts_with("panel");
    if matches!(&incoming.request.command, Command::Pool(PoolCommand::Edit(PoolEdit::Edit { edits, .. })) if edits.iter().any(is_of_panel))
        && incoming.request.trust < Trust::Confirmed
    {
        incoming.answer(0, Outcome::rejected(Trust::Confirmed.refusal()));
        return;
    }
    let revision = REVISION.fetch_add(1, Ordering::Relaxed) + 1;
    let kind = EventKind::CommandApplied {
        revision,
        source: incoming.request.source.clone(),
        command: incoming.request.command.name().to_owned(),
        summary: incoming.request.command.summary(),
    };
    board.events.push(kind, String::new(), 0.0);
    board.publish(Status {
        revision,
        ..status()
    });
    let notes = Vec::new();
    let unsaved = None;
    incoming.answer(
        revision,
        Outcome::Applied {
            tick: 1,
            notes,
            unsaved,
        },
    );
}

#[test]
fn a_command_reaches_the_desk_with_the_name_of_its_user() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let answer = admin.post("/api/v1/commands", json!({"command": "undo"}));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json["result"]["outcome"], "applied");
    assert!(answer.json["revision"].as_u64().unwrap() > 0);
    let events = admin.get("/api/v1/events?after=0").json;
    let source = json!({"kind": "panel", "name": "admin"});
    assert_eq!(events["events"][0]["source"], source, "{events}");

    let answer = admin.post(
        "/api/v1/commands",
        json!({"command": "remove_species", "name": "none"}),
    );
    assert_eq!((answer.status, answer.code()), (422, "rejected"));
    assert_eq!(
        answer.json["error"]["problems"].as_array().unwrap().len(),
        1
    );
    for (command, status) in [
        (json!({"command": "explode"}), 400),
        (json!({"command": "take_over", "documents": []}), 403),
        (
            json!([{"command": "director", "event": {"event": "calm"}}]),
            200,
        ),
        (json!([{"command": "explode"}]), 400),
        (json!("undo"), 400),
    ] {
        let answer = admin.post("/api/v1/commands", command.clone());
        assert_eq!(answer.status, status, "{command} {answer:?}");
    }
}

#[test]
fn the_role_of_a_command_is_needed() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut operator = server.user(&mut admin, "desk", "operate");
    let calm = json!({"command": "director", "event": {"event": "calm"}});
    let switch = json!({"command": "switch_scene", "name": "reef"});
    let undo = json!({"command": "undo"});
    let edit = |document: &str, path: &str| {
        let document = match document {
            "site" => json!({"kind": "site"}),
            name => json!({"kind": "scene", "name": name}),
        };
        json!({"command": "edit", "edits": [{"document": document, "path": path, "change": {"do": "remove"}}]})
    };
    for (command, status) in [
        (calm.clone(), 200),
        (switch.clone(), 200),
        (undo.clone(), 403),
        (json!([calm, switch]), 200),
        (json!({"command": "save"}), 200),
        (edit("site", "schedule.weekly[0]"), 200),
        (edit("site", "schedule.otherwise"), 200),
        (edit("site", "schedule"), 403),
        (edit("site", "schedule.projectors.command"), 403),
        (edit("site", "schedule_of_others"), 403),
        (edit("site", "panel.listen"), 403),
        (edit("pool", "schedule.weekly[0]"), 403),
        // A batch contains edits of the pool only.
        (json!([calm, undo]), 400),
        (
            json!({"command": "batch", "commands": [{"command": "batch", "commands": [undo]}]}),
            400,
        ),
    ] {
        let answer = operator.post("/api/v1/commands", command.clone());
        assert_eq!(answer.status, status, "{command}");
    }
}

#[test]
fn words_in_the_address_are_a_command_with_its_role() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut operator = server.user(&mut admin, "desk", "operate");
    for (words, status) in [
        ("scene/reef", 200),
        ("dark/10min", 200),
        ("event/the%20shark", 200),
        ("undo", 403),
        ("restart/camera", 403),
        ("dark/10", 400),
        ("explode", 400),
        ("", 404),
    ] {
        let answer = operator.post(&format!("/api/v1/do/{words}"), json!(null));
        assert_eq!(answer.status, status, "{words}: {answer:?}");
    }
    let events = admin.get("/api/v1/events?after=0").json.to_string();
    assert!(events.contains("the shark"), "{events}");
}

#[test]
fn documents_and_schemas_are_json() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let page = DocumentsPage::new(|_| json!({"revision": 3, "documents": []}).to_string());
    server.board.publish_documents(page);
    assert_eq!(admin.get("/api/v1/documents").json["revision"], 3);
    assert!(admin.get("/api/v1/schema").json["site"].is_object());
    let schema = admin.get("/api/v1/commands/schema").json;
    let variants = schema["oneOf"].as_array().unwrap();
    let with_roles: Vec<&str> = variants
        .iter()
        .filter(|variant| variant["x-role"].is_string())
        .filter_map(|variant| variant["properties"]["command"]["const"].as_str())
        .collect();
    assert!(with_roles.contains(&"director") && with_roles.contains(&"replace_text"));
    // Every command has a role, except those of the watcher of the files and of the desk itself.
    assert_eq!(with_roles.len() + 2, variants.len(), "{with_roles:?}");
}

#[test]
fn a_site_is_backed_up_and_restored_by_an_administrator() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let backup = admin.get("/api/v1/backup");
    assert_eq!(
        (backup.status, backup.header("content-type")),
        (200, Some("application/x-tar"))
    );
    let path = server.folder.path().join("site.toml");
    std::fs::write(&path, "scene = \"reef\"\n").unwrap();
    let tar = [("Content-Type", "application/x-tar")];
    let mut restore = |body: &[u8]| admin.send("POST", "/api/v1/restore", &tar, body).status;
    assert_eq!(restore(b"no archive"), 422);
    assert_eq!(restore(&backup.body[..700]), 422);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "scene = \"reef\"\n");
    assert_eq!(restore(&backup.body), 200);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "scene = \"pool\"\n");
    let versions = admin.get("/api/v1/versions?kind=site").json;
    assert_eq!(versions["versions"][0]["text"], "scene = \"reef\"\n");
    for query in ["", "?kind=scene", "?kind=scene&name=reef"] {
        let answer = admin.get(&format!("/api/v1/versions{query}"));
        assert_eq!(
            (answer.status, answer.code()),
            (400, "bad_request"),
            "{query}"
        );
    }
    let glb = [("Content-Type", "model/gltf-binary")];
    let mut add = |body: &[u8]| admin.send("POST", "/api/v1/models?name=koi", &glb, body);
    assert_eq!(add(b"glTF").json["model"], "models/koi.glb");
    assert_eq!(add(b"virus").status, 422);
}

#[test]
fn the_page_is_served_with_strict_headers() {
    let server = TestServer::start();
    let mut client = server.client();
    for path in ["/", "/assets/index.html"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 200);
        assert!(
            answer
                .header("content-type")
                .unwrap()
                .starts_with("text/html")
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        let tag = answer.header("etag").unwrap().to_owned();
        let again = client.send("GET", path, &[("If-None-Match", &tag)], b"");
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
    let status = client.get("/api/v1/session");
    assert_eq!(status.header("cache-control"), Some("no-store"));
    for path in [
        "/assets/../mod.rs",
        "/assets/%2e%2e/mod.rs",
        "/assets/",
        "/nothing",
    ] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.code()), (404, "not_found"), "{path}");
    }
    let health = client.get("/healthz");
    assert_eq!(health.body, br#"{"status":"degraded"}"#);
}

#[test]
fn commands_of_eight_clients_at_once_are_answered_once_each() {
    let server = TestServer::start();
    let admin = server.admin();
    let mut clients = Vec::new();
    for n in 0..8 {
        let mut admin = admin.clone();
        clients.push(std::thread::spawn(move || -> Vec<u64> {
            let one = json!({"command": "switch_scene", "name": format!("scene{n}")});
            let many = json!([one, {"command": "director", "event": {"event": "calm"}}]);
            let commands = (0..40).map(|i| {
                if i % 3 == 0 {
                    many.clone()
                } else {
                    one.clone()
                }
            });
            commands
                .map(|command| {
                    let answer = admin.post("/api/v1/commands", command);
                    assert_eq!(answer.status, 200, "{answer:?}");
                    answer.json["revision"].as_u64().unwrap()
                })
                .collect()
        }));
    }
    let mut all = Vec::new();
    for client in clients {
        let revisions = client.join().unwrap();
        assert!(revisions.is_sorted_by(|a, b| a < b), "{revisions:?}");
        all.extend(revisions);
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8 * 40, "a revision was given twice");
    let events = admin.clone().get("/api/v1/events?after=0").json;
    let newest = events["newest"].as_u64().unwrap();
    assert_eq!(newest, 8 * 40, "a command was applied twice or not at all");
}
