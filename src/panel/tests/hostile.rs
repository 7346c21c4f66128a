//! Clients that are slow, silent or much too loud. Others are still served.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use super::client::{connect, request};
use super::*;

/// Asserts that another client is served.
fn assert_served(server: &TestServer, during: &str) {
    assert_eq!(server.client().get("/healthz").status, 200, "{during}");
}

#[test]
fn large_headers_and_bodies_are_refused() {
    let server = TestServer::start();
    let admin = server.admin();
    let huge = "x".repeat(1 << 20);
    let target = (server.address.as_str(), "GET", "/api/v1/status");
    // The server may close the connection before it has read everything.
    let answer = request(&admin.headers(), target, &[("X-Huge", &huge)], b"");
    // A header of 1 MB.
    assert!(answer.is_err() || answer.is_ok_and(|a| a.status == 431));
    let many: Vec<(String, String)> = (0..500).map(|n| (format!("X-{n}"), "x".into())).collect();
    let others: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let answer = request(&admin.headers(), target, &others, b"").unwrap();
    assert_eq!(answer.status, 431, "500 headers");
    let path = format!("/{huge}");
    let answer = request(&admin.headers(), (&server.address, "GET", &path), &[], b"");
    // A path of 1 MB.
    assert!(answer.is_err() || answer.is_ok_and(|a| a.status >= 400));

    for path in ["/api/v1/commands", "/api/v1/login", "/api/v1/users"] {
        let target = (server.address.as_str(), "POST", path);
        // Only announced: the answer comes before the body.
        let answer = request(
            &admin.headers(),
            target,
            &[("Content-Length", "1073741824")],
            b"{",
        );
        let answer = answer.unwrap();
        assert_eq!((answer.status, answer.code()), (413, "too_large"), "{path}");
    }
    // Without an announced length: the server stops to read after its limit.
    let mut stream = connect(&server.address);
    let csrf = admin.csrf.clone().unwrap();
    let session = admin.session.clone().unwrap();
    let head = format!(
        "POST /api/v1/commands HTTP/1.1\r\nHost: {}\r\nCookie: shoal_session={session}\r\nX-CSRF-Token: {csrf}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let sent = (0..1000)
        .take_while(|_| stream.write_all(chunk.as_bytes()).is_ok())
        .count();
    assert!(sent < 1000, "64 MB of a body were taken");
    assert_served(&server, "after large requests");
}

#[test]
fn broken_requests_are_answered_or_closed() {
    let server = TestServer::start();
    for text in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\u{16}\u{3}\u{1}",
    ] {
        let mut stream = connect(&server.address);
        stream.write_all(text.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _closed = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_page = answer.starts_with("HTTP/1.1 200") && !text.contains("http://evil");
        assert!(!is_page, "{text:?} got {answer}");
    }
    assert_served(&server, "after broken requests");
}

/// A fixed bug: a client that began with HTTP/2 was served, although the handshake offers only HTTP/1, and could leave many answers in
/// one connection unread.
#[test]
fn a_client_that_begins_with_http_2_gets_nothing() {
    let server = TestServer::start();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    // An empty SETTINGS frame, as every client sends it.
    let hello = [&preface[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
    for pieces in [vec![&hello[..]], hello.chunks(5).collect()] {
        let mut stream = connect(&server.address);
        for piece in pieces {
            let _closed = stream.write_all(piece);
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut answer = Vec::new();
        let _closed = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"");
    }
    assert_served(&server, "after HTTP/2");
}

#[test]
fn silent_and_slow_clients_hold_no_one_up() {
    let server = TestServer::start();
    let mut silent = Vec::new();
    for n in 0..150 {
        let mut stream = connect(&server.address);
        match n % 3 {
            0 => {}
            1 => stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap(),
            _ => stream
                .write_all(
                    b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
                )
                .unwrap(),
        }
        silent.push(stream);
    }
    for _ in 0..5 {
        assert_served(&server, "beside silent clients");
        for stream in &mut silent {
            let _slow = stream.write_all(b" ");
        }
    }
    drop(silent);
}

#[test]
fn a_tls_client_that_says_nothing_holds_no_one_up() {
    let folder = tempfile::tempdir().unwrap();
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("c.pem"), own.cert.pem()).unwrap();
    std::fs::write(folder.path().join("k.pem"), own.signing_key.serialize_pem()).unwrap();
    let params = PanelParams {
        certificate: Some("c.pem".to_owned()),
        key: Some("k.pem".to_owned()),
        ..PanelParams::default()
    };
    let server = TestServer::start_with(params, folder);
    let silent: Vec<_> = (0..20).map(|_| connect(&server.address)).collect();
    // The beginning of a TLS handshake is answered with the server's part: handshake messages, type 22.
    let hello = client_hello();
    let mut stream = connect(&server.address);
    stream.write_all(&hello).unwrap();
    let mut answer = [0; 6];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!((answer[0], answer[5]), (22, 2), "a ServerHello");
    // Plain HTTP gets nothing.
    let mut plain = connect(&server.address);
    plain
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    let _closed = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    drop(silent);
}

/// Returns a TLS 1.2 ClientHello with two suites and two groups that every server knows.
fn client_hello() -> Vec<u8> {
    let mut extensions: Vec<u8> = Vec::new();
    for (kind, content) in [
        (10_u16, &[0, 4, 0, 0x17, 0, 0x1d][..]),
        (11, &[1, 0]),
        (13, &[0, 6, 4, 3, 8, 4, 8, 7]),
        (23, &[]),
        (0xff01, &[0]),
    ] {
        extensions.extend(kind.to_be_bytes());
        extensions.extend((content.len() as u16).to_be_bytes());
        extensions.extend(content);
    }
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend([0, 4, 0xc0, 0x2b, 0xc0, 0x2f]);
    body.extend([1, 0]);
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let mut message = vec![1, 0];
    message.extend((body.len() as u16).to_be_bytes());
    message.extend(body);
    let mut record = vec![22, 3, 1];
    record.extend((message.len() as u16).to_be_bytes());
    record.extend(message);
    record
}
