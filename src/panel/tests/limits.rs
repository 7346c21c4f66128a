//! What one user, or a client without a login, may take from the others.

use super::client::{StreamClient, wait_until};
use super::*;

/// A fixed bug: reads took all helper threads, also for clients that were gone, so that a user of the role `view` kept the others from
/// logging in and users from being saved.
#[test]
fn slow_reads_of_one_user_keep_nobody_from_logging_in_and_saving() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let vera = server.user(&mut admin, "vera", "view");
    let waiting = server.schema.lock();
    let reads: Vec<_> = (0..20)
        .map(|_| {
            let mut client = vera.clone();
            std::thread::spawn(move || client.get("/api/v1/schema").status)
        })
        .collect();
    // Some of these have begun.
    std::thread::sleep(Duration::from_millis(300));
    let user = json!({"name": "otto", "role": "view", "password": PASSWORD});
    let saved = admin.post("/api/v1/users", user);
    assert_eq!((saved.status, &saved.json["unsaved"]), (200, &json!(null)));
    assert_eq!(server.client().login("otto", PASSWORD).status, 200);
    drop(waiting);
    assert!(reads.into_iter().all(|read| read.join().unwrap() == 200));
}

/// A fixed bug: one user of the role `view` took all connections with streams, through a proxy or on this machine.
#[test]
fn streams_of_one_user_leave_connections_to_others() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut vera = server.user(&mut admin, "vera", "view");
    let mut streams = Vec::new();
    let refused = loop {
        match StreamClient::open(&vera, &[]) {
            Ok(stream) => streams.push(stream),
            Err(answer) => break answer,
        }
    };
    assert_eq!((refused.status, refused.code()), (503, "busy"));
    assert!((20..100).contains(&streams.len()), "{}", streams.len());
    // Only streams are full.
    assert_eq!(vera.get("/api/v1/status").status, 200);
    assert_eq!(admin.get("/api/v1/status").status, 200);
    assert_eq!(vera.post("/api/v1/logout", json!({})).status, 200);
    assert_eq!(vera.login("vera", PASSWORD).status, 200);
    drop(streams);
    wait_until("a stream of vera", || StreamClient::open(&vera, &[]).ok());
}

/// A fixed bug: a client without a login sent bodies of a megabyte, which kept the thread of the panel busy for seconds.
#[test]
fn only_commands_have_large_bodies() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let large = json!(["x".repeat(100_000)]);
    for path in [
        "login", "logout", "setup", "users", "notebook", "confirm", "devices",
    ] {
        let answer = admin.post(&format!("/api/v1/{path}"), large.clone());
        assert_eq!((answer.status, answer.code()), (413, "too_large"), "{path}");
    }
    let document = json!({"kind": "scene", "name": "pool"});
    let text = "#".repeat(500_000);
    let replaced = json!({"command": "replace_text", "document": document, "text": text});
    assert_eq!(admin.post("/api/v1/commands", replaced).status, 200);
}

/// A fixed bug: every session that a user ended was an entry of its own among the changes of administrators, and pushed those out.
#[test]
fn a_user_that_ends_its_sessions_adds_one_entry_a_minute() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut vera = server.user(&mut admin, "vera", "view");
    for _ in 0..6 {
        let mut other = server.client();
        assert_eq!(other.login("vera", PASSWORD).status, 200);
        let listed = vera.get("/api/v1/devices").json;
        let sessions = listed["sessions"].as_array().unwrap();
        let ended = sessions.iter().find(|s| s["is_this"] == false).unwrap();
        let end = json!({"end_session": ended["id"]});
        assert_eq!(vera.post("/api/v1/devices", end).status, 200);
        let devices = listed["devices"].as_array().unwrap();
        let forget = json!({"forget_device": devices.last().unwrap()["id"]});
        assert_eq!(vera.post("/api/v1/devices", forget).status, 200);
    }
    let file = server.folder.path().join("audit-changes.jsonl");
    let written = std::fs::read_to_string(file).unwrap();
    for event in ["session_ended", "device_forgotten"] {
        let of_event = written.lines().filter(|line| line.contains(event));
        assert_eq!(of_event.count(), 1, "{written}");
        let entries = admin.get("/api/v1/audit").json["entries"].clone();
        let entries = entries.as_array().unwrap().clone();
        let is_count = |entry: &&serde_json::Value| entry["event"] == event && entry["more"] == 5;
        let counted = entries.iter().find(is_count).unwrap();
        assert_eq!(
            (&counted["who"], &counted["detail"]),
            (&json!("vera"), &json!("vera"))
        );
    }
}

/// A fixed bug: what an operator did, whose device a wrong PIN came from and which token was removed were not in the audit trail.
#[test]
fn the_audit_trail_says_what_operators_did_and_whose_device_and_token_it_was() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut otto = server.user(&mut admin, "otto", "operate");
    let scene = |n: u32| json!({"command": "switch_scene", "name": format!("scene{n}")});
    for n in 0..50 {
        assert_eq!(otto.post("/api/v1/commands", scene(n)).status, 200);
    }
    // A fixed bug: what was tried and rejected was in no list, or as a change.
    let none = json!({"command": "remove_species", "name": "none"});
    assert_eq!(admin.post("/api/v1/commands", none).status, 422);
    let pia = json!({"name": "pia", "role": "view", "password": PASSWORD, "pin": "4826"});
    assert_eq!(admin.post("/api/v1/users", pia).status, 200);
    let remember = json!({"user": "otto", "password": PASSWORD, "remember": true});
    assert_eq!(otto.post("/api/v1/login", remember).status, 200);
    assert_eq!(
        otto.post("/api/v1/login", json!({"pin": "7391"})).status,
        401
    );
    let made = admin.post("/api/v1/tokens", json!({"label": "show", "role": "view"}));
    let id = made.json["tokens"][0]["id"].clone();
    assert_eq!(
        admin.post("/api/v1/tokens", json!({"remove": id})).status,
        200
    );
    let entries = admin.get("/api/v1/audit").json["entries"].clone();
    let of = |event: &str| -> Vec<serde_json::Value> {
        let entries = entries.as_array().unwrap().iter();
        entries
            .filter(|entry| entry["event"] == event)
            .cloned()
            .collect()
    };
    let operated = of("operated");
    let is_first = |entry: &serde_json::Value| {
        entry["who"] == "otto" && entry["detail"] == "switch_scene scene0"
    };
    assert!(operated.iter().any(is_first), "{operated:?}");
    // Many of a minute are one entry.
    assert!((10..40).contains(&operated.len()), "{}", operated.len());
    let rejected = of("rejected");
    let why = "remove_species none: there is no species \"none\"";
    assert_eq!(rejected[0]["detail"], why, "{rejected:?}");
    let is_of_none = |entry: &serde_json::Value| entry["detail"].to_string().contains("none");
    assert!(!of("command").iter().any(is_of_none));
    assert_eq!(of("login_failed")[0]["who"], "PIN on a device of otto");
    assert_eq!(of("token_removed")[0]["detail"], "show: view");
}

/// A fixed bug: a list of a hundred commands of an operator kept the desk busy for seconds.
#[test]
fn a_list_of_an_operator_is_short() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut otto = server.user(&mut admin, "otto", "operate");
    let list = |n: usize| json!(vec![json!({"command": "switch_scene", "name": "reef"}); n]);
    assert_eq!(otto.post("/api/v1/commands", list(10)).status, 200);
    assert_eq!(otto.post("/api/v1/commands", list(11)).status, 400);
    assert_eq!(admin.post("/api/v1/commands", list(100)).status, 200);
}
