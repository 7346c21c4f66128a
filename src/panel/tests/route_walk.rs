//! Every route with every kind of sender.

use serde_json::json;

use super::super::access::Role;
use super::super::caller::Need;
use super::super::routes::ROUTES;
use super::client::{Client, StreamClient};
use super::*;

/// Returns method and path of a route, with a path that exists where it has a part in braces.
fn method_and_path(name: &str) -> (&str, String) {
    let (method, path) = name.split_once(' ').unwrap();
    let path = path
        .replace("{*path}", "index.html")
        .replace("{file}", "0.jpg")
        .replace("{recording}", "a.y4m");
    (method, path)
}

/// Sends a request with an unfinished body, so that it changes nothing, or opens the stream. Returns the status and the name of
/// the error.
fn try_route(client: &mut Client, name: &str, others: &[(&str, &str)]) -> (u16, String) {
    let (method, path) = method_and_path(name);
    if path.ends_with("/stream") {
        return match StreamClient::open(client, others) {
            Ok(_) => (101, String::new()),
            Err(answer) => (answer.status, answer.code().to_owned()),
        };
    }
    let body: &[u8] = if method == "POST" { b"[" } else { b"" };
    let mut copy = client.clone();
    let answer = copy.send(method, &path, others, body);
    (answer.status, answer.code().to_owned())
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// Whether a route let the request pass its checks. What follows finds its body wrong.
fn is_let_in((status, code): &(u16, String)) -> bool {
    !matches!(status, 401 | 403 | 421) || code == "wrong_credentials"
}

#[test]
fn every_route_needs_its_role_and_nothing_else_exists() {
    let mut server = TestServer::start();
    server.show_pictures();
    for route in ROUTES {
        let got = try_route(&mut server.client(), route.name, &[]);
        match route.need {
            Need::Open => assert!(is_let_in(&got), "{}: {got:?}", route.name),
            Need::Role(_) => assert_eq!(got, refused(403, "setup_needed"), "{}", route.name),
        }
    }
    let mut admin = server.admin();
    let viewer = server.user(&mut admin, "viewer", "view");
    let operator = server.user(&mut admin, "operator", "operate");
    let mut ended = server.user(&mut admin, "ended", "admin");
    assert_eq!(ended.clone().post("/api/v1/logout", json!({})).status, 200);
    ended.csrf = Some("x".repeat(64));
    let mut token = server.client();
    let made = admin.post(
        "/api/v1/tokens",
        json!({"label": "show", "role": "operate"}),
    );
    token.token = Some(made.json["token"].as_str().unwrap().to_owned());
    let mut wrong_token = server.client();
    wrong_token.token = Some(format!("shoal_{}", "0".repeat(64)));
    // A wrong token is not forgiven because of a session.
    let mut wrong_token_with_session = admin.clone();
    wrong_token_with_session
        .token
        .clone_from(&wrong_token.token);
    let mut guessed = server.client();
    guessed.session = Some("0".repeat(64));

    let senders: [(&str, &Client, Option<Role>); 8] = [
        ("none", &server.client(), None),
        ("ended", &ended, None),
        ("guessed", &guessed, None),
        ("wrong token", &wrong_token, None),
        ("wrong token with session", &wrong_token_with_session, None),
        ("view", &viewer, Some(Role::View)),
        ("operate", &operator, Some(Role::Operate)),
        ("token", &token, Some(Role::Operate)),
    ];
    for route in ROUTES {
        for (who, client, own) in senders {
            let got = try_route(&mut client.clone(), route.name, &[]);
            let wanted = match (route.need, own) {
                (Need::Open, _) => None,
                (Need::Role(_), None) => Some(refused(401, "not_logged_in")),
                (Need::Role(role), Some(own)) if own < role => Some(refused(403, "forbidden")),
                (Need::Role(_), Some(_)) => None,
            };
            match wanted {
                Some(wanted) => assert_eq!(got, wanted, "{} as {who}", route.name),
                // A token has no password that it could change.
                None if who == "token" && route.name.ends_with("/password") => {}
                None => assert!(is_let_in(&got), "{} as {who}: {got:?}", route.name),
            }
        }
        let got = try_route(&mut admin, route.name, &[]);
        assert!(is_let_in(&got), "{} as admin: {got:?}", route.name);
    }
    for other in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"] {
        let got = admin
            .clone()
            .send(other, "/api/v1/status", &[("Content-Length", "0")], b"");
        assert!(matches!(got.status, 400 | 405), "{other} {got:?}");
    }
    for path in [
        "/api/v1",
        "/api/v1/",
        "/api/v2/status",
        "/api/v1/status/",
        "//api/v1/status",
    ] {
        assert_eq!(admin.get(path).status, 404, "{path}");
    }
}

#[test]
fn other_hosts_origins_and_changes_without_the_secret_are_refused() {
    let mut server = TestServer::start();
    server.show_pictures();
    let mut admin = server.admin();
    let own_origin = format!("http://{}", server.address);
    for route in ROUTES {
        let name = route.name;
        for host in [
            "evil.example",
            "evil.example:8017",
            "",
            "127.0.0.1.evil.example",
        ] {
            let got = try_route(&mut admin, name, &[("Host", host)]);
            let is_bad = got == refused(421, "bad_host") || (host.is_empty() && got.0 == 400);
            assert!(is_bad, "{name} with host {host}: {got:?}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "http://127.0.0.1:1",
            "file://",
            "x",
        ] {
            let got = try_route(&mut admin, name, &[("Origin", origin)]);
            assert_eq!(
                got,
                refused(403, "bad_origin"),
                "{name} with origin {origin}"
            );
        }
        let got = try_route(&mut admin, name, &[("Origin", &own_origin)]);
        assert!(is_let_in(&got), "{name}: {got:?}");
        let is_change = name.starts_with("POST") && route.need != Need::Open;
        for secret in ["", "0", &"0".repeat(64)] {
            let got = try_route(&mut admin, name, &[("X-CSRF-Token", secret)]);
            if is_change {
                assert_eq!(got, refused(403, "csrf"), "{name} with secret {secret}");
            } else {
                assert!(is_let_in(&got), "{name}: {got:?}");
            }
        }
        // This one reads no body. Of a session it needs the secret, as above.
        let has_no_body = name == "POST /api/v1/do/{*words}";
        if name.starts_with("POST") && !has_no_body {
            // What a form of another site can send.
            for kind in [
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data",
                "",
            ] {
                let got = try_route(&mut admin, name, &[("Content-Type", kind)]);
                assert_eq!(got, refused(415, "unsupported_media"), "{name} as {kind}");
            }
        }
    }
    let got = try_route(&mut admin, "GET /api/v1/stream", &[("Origin", "")]);
    assert_eq!(got, refused(403, "bad_origin"), "a stream without origin");
}
