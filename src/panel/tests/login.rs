//! Logging in and out.

use super::client::{Received, StreamClient};
use super::*;

#[test]
fn the_first_password_needs_the_code_and_can_be_set_once() {
    let server = TestServer::start();
    let mut client = server.client();
    let session = client.get("/api/v1/session").json;
    assert_eq!(session["setup_needed"], true);
    let code = server.code();
    for body in [
        json!({"code": "AAAA-AAAA", "password": PASSWORD}),
        json!({"code": "", "password": PASSWORD}),
        json!({"code": code, "password": "short"}),
        json!({"code": code, "password": PASSWORD, "user": "<admin>"}),
        json!({"code": code, "password": "shoalshoal"}),
        json!({"code": code}),
    ] {
        let answer = client.post("/api/v1/setup", body.clone());
        assert!(matches!(answer.status, 400 | 401), "{body} {answer:?}");
    }
    let small = code.to_lowercase().replace('-', "");
    let answer = client.post(
        "/api/v1/setup",
        json!({"code": small, "password": PASSWORD, "user": "Ada"}),
    );
    assert_eq!(
        (answer.status, &answer.json["role"]),
        (200, &json!("admin")),
        "{answer:?}"
    );
    assert_eq!(
        *server.notice.lock(),
        None,
        "the floor still shows the code"
    );
    let again = client.post(
        "/api/v1/setup",
        json!({"code": code, "password": "another password"}),
    );
    assert_eq!((again.status, again.code()), (409, "already_set_up"));
    assert_eq!(client.get("/api/v1/status").status, 200);
    assert_eq!(server.client().login("ada", PASSWORD).status, 200);
}

#[test]
fn a_login_gives_a_new_session_and_ends_the_one_that_was_sent() {
    let server = TestServer::start();
    let admin = server.admin();
    // A session that an attacker has planted in the browser of a victim does not become the session of the victim.
    let mut victim = server.client();
    victim.session = Some("f".repeat(64));
    assert_eq!(victim.login("admin", PASSWORD).status, 200);
    assert_ne!(victim.session, Some("f".repeat(64)));
    // A second login on the same device replaces the session.
    let mut again = victim.clone();
    assert_eq!(again.login("admin", PASSWORD).status, 200);
    assert_ne!(
        (&again.session, &again.csrf),
        (&victim.session, &victim.csrf)
    );
    assert_eq!(
        victim.get("/api/v1/status").status,
        401,
        "the old session still works"
    );
    assert_eq!(again.get("/api/v1/status").status, 200);
    // Another device.
    assert_eq!(admin.clone().get("/api/v1/status").status, 200);
    let used = again.clone();
    assert_eq!(
        again.post("/api/v1/logout", json!({})).json["user"],
        json!(null)
    );
    assert_eq!(used.clone().get("/api/v1/status").status, 401);
}

#[test]
fn a_changed_password_ends_all_sessions_of_its_user() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let mut viewer = server.user(&mut admin, "Vera", "view");
    let mut elsewhere = server.client();
    assert_eq!(elsewhere.login("vera", PASSWORD).status, 200);
    let mut stream = StreamClient::open(&elsewhere, &[]).unwrap();
    let change = json!({"old": "a wrong password", "new": "another password"});
    assert_eq!(
        viewer.post("/api/v1/password", change).code(),
        "wrong_credentials"
    );
    let change = json!({"old": PASSWORD, "new": "another password"});
    assert_eq!(viewer.post("/api/v1/password", change).status, 200);
    assert_eq!(viewer.get("/api/v1/status").status, 200);
    assert_eq!(elsewhere.get("/api/v1/status").status, 401);
    let closed = std::iter::from_fn(|| stream.next()).last();
    assert!(matches!(closed, Some(Received::Close(4401))), "{closed:?}");
    assert_eq!(server.client().login("vera", PASSWORD).status, 401);
    assert_eq!(admin.get("/api/v1/status").status, 200, "another user");
    // An administrator who sets a password, changes a role or removes a user ends their sessions, too.
    let role = json!({"name": "vera", "role": "operate"});
    assert_eq!(admin.post("/api/v1/users", role).status, 200);
    assert_eq!(viewer.get("/api/v1/status").status, 401);
}

#[test]
fn users_and_sessions_survive_a_restart() {
    let server = TestServer::start();
    let mut admin = server.admin();
    let made = admin.post("/api/v1/tokens", json!({"label": "show", "role": "view"}));
    let mut ended = server.user(&mut admin, "ended", "admin");
    assert_eq!(ended.post("/api/v1/logout", json!({})).status, 200);
    let mut server = server.restart();
    for client in [&mut admin, &mut ended] {
        client.address.clone_from(&server.address);
    }
    assert_eq!(ended.get("/api/v1/status").status, 401, "logged out before");
    assert_eq!(admin.get("/api/v1/status").status, 200);
    // The secret for changes is a new one.
    let undo = json!({"command": "undo"});
    assert_eq!(admin.post("/api/v1/commands", undo.clone()).status, 403);
    admin.csrf = admin.get("/api/v1/session").json["csrf"]
        .as_str()
        .map(str::to_owned);
    assert_eq!(admin.post("/api/v1/commands", undo).status, 200);
    let mut show = server.client();
    show.token = made.json["token"].as_str().map(str::to_owned);
    assert_eq!(show.get("/api/v1/status").status, 200);
    let confirmed = admin.post("/api/v1/confirm", json!({"password": PASSWORD}));
    assert_eq!(confirmed.status, 200);
    let tokens = admin.get("/api/v1/tokens").json;
    assert!(!tokens.to_string().contains("shoal_"), "{tokens}");
    let id = tokens["tokens"][0]["id"].clone();
    assert_eq!(
        admin.post("/api/v1/tokens", json!({"remove": id})).status,
        200
    );
    assert_eq!(show.get("/api/v1/status").status, 401);
    server.end();
}

#[test]
fn a_pin_works_only_on_a_remembered_device() {
    let server = TestServer::start();
    let mut admin = server.admin();
    for (pin, status) in [("123", 400), ("12a4", 400), ("4711", 200)] {
        let user = json!({"name": "desk", "role": "operate", "pin": pin});
        assert_eq!(admin.post("/api/v1/users", user).status, status, "{pin}");
    }
    let mut tablet = server.client();
    assert_eq!(
        tablet.post("/api/v1/login", json!({"pin": "4711"})).code(),
        "wrong_credentials"
    );
    let remember = json!({"user": "admin", "password": PASSWORD, "remember": true});
    assert_eq!(
        tablet.post("/api/v1/login", remember).json["can_use_pin"],
        true
    );
    assert_eq!(
        tablet.post("/api/v1/logout", json!({})).json["can_use_pin"],
        true
    );
    assert_eq!(
        tablet.post("/api/v1/login", json!({"pin": "4712"})).code(),
        "wrong_credentials"
    );
    let session = tablet.post("/api/v1/login", json!({"pin": "4711"})).json;
    assert_eq!(
        (&session["user"], &session["role"]),
        (&json!("desk"), &json!("operate"))
    );
    // The device is not a secret that replaces the PIN.
    let mut stolen = server.client();
    stolen.device.clone_from(&tablet.device);
    assert_eq!(stolen.get("/api/v1/status").status, 401);
    // A new PIN ends the sessions of the old one.
    assert_eq!(tablet.get("/api/v1/status").status, 200);
    let new_pin = json!({"name": "desk", "pin": "8642"});
    assert_eq!(admin.post("/api/v1/users", new_pin).status, 200);
    assert_eq!(tablet.get("/api/v1/status").status, 401);
}

#[test]
fn wrong_passwords_are_slowed_down_without_locking_the_owner_out() {
    let server = TestServer::start();
    let owner = server.admin();
    let mut attacker = server.client();
    let mut answers = Vec::new();
    // On a slow machine a further attempt becomes free now and then.
    let refused = (0..100).find_map(|n| {
        // Unknown users answer as known ones.
        let user = if n % 2 == 0 { "admin" } else { "nobody" };
        let answer = attacker.login(user, "a wrong password");
        let is_refused = answer.status == 429;
        answers.push((answer.status, answer.json.to_string()));
        is_refused.then_some(answer)
    });
    let refused = refused.unwrap();
    let wait = refused.header("retry-after").unwrap();
    assert!(wait.parse::<u64>().unwrap() > 0);
    answers.pop();
    assert!(answers.len() >= 10, "{answers:?}");
    let is_same = |answer: &(u16, String)| *answer == answers[0];
    assert!(
        answers[0].0 == 401 && answers.iter().all(is_same),
        "{answers:?}"
    );
    // The address has no attempts left, even with the right password.
    assert_eq!(attacker.login("admin", PASSWORD).status, 429);
    // Sessions go on.
    assert_eq!(owner.clone().get("/api/v1/status").status, 200);
}
