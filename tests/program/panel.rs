//! The operator's panel of the real program.

use shoal_testing::assert_message;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for the program.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program without a picture.
struct Running {
    child: Child,
    lines: BufReader<ChildStderr>,
    folder: Option<tempfile::TempDir>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

impl Running {
    fn start(folder: tempfile::TempDir) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::start_at(folder, "127.0.0.1:0", &path)
    }

    /// Starts the program with this address of the panel, and these folders of programs.
    fn start_at(folder: tempfile::TempDir, listen: &str, path: &OsStr) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_shoal"))
            .arg("run")
            .arg(folder.path().join("site.toml"))
            .args(["--headless", "--panel", listen, "--control-socket"])
            .arg(folder.path().join("pool.sock"))
            .env_remove("STATE_DIRECTORY")
            .env("PATH", path)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            lines,
            folder: Some(folder),
        }
    }

    /// Returns the rest of the next line that begins with `start`.
    fn line(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            let length = self.lines.read_line(&mut line).unwrap();
            assert!(length > 0, "the program ended before it printed {start}");
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Waits until the program has written a file of its state.
    fn wait_for_state(&self, name: &str) {
        let folder = self.folder.as_ref().unwrap().path();
        let begun = Instant::now();
        while !folder.join(".shoal").join(name).exists() {
            assert!(begun.elapsed() < PATIENCE, "{name} was not written");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the program, and returns its folder.
    fn end(mut self) -> tempfile::TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.folder.take().unwrap()
    }
}

/// Sends a request. Returns the status, the cookie of the session, and the body.
fn ask(url: &str, request: &str, headers: &str, body: &Value) -> (u16, String, Value) {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let text = format!(
        "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         {headers}\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let cookie = head
        .split_once("shoal_session=")
        .and_then(|(_, rest)| rest.split(';').next());
    let cookie = cookie.unwrap_or_default().to_owned();
    (
        status,
        cookie,
        serde_json::from_str(body).unwrap_or_default(),
    )
}

fn files_below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> = entries.map(|e| name(e).into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_scene_is_edited_saved_and_kept_through_the_panel() {
    let folder = tempfile::tempdir().unwrap();
    let site = "# My pool.\nscene = \"pool\"\n\n[camera]\nsource = \"synthetic:1\"\n";
    std::fs::write(folder.path().join("site.toml"), site).unwrap();
    let mut running = Running::start(folder);
    let url = running.line("panel: ");
    let code = running.line("setup code: ");
    assert_eq!(ask(&url, "GET /healthz", "", &Value::Null).0, 200);
    assert_eq!(ask(&url, "GET /api/v1/status", "", &Value::Null).0, 403);
    let setup = json!({"code": code, "password": "four easy words"});
    let (status, cookie, session) = ask(&url, "POST /api/v1/setup", "", &setup);
    assert_eq!(status, 200, "{session}");
    let headers = format!(
        "Cookie: shoal_session={cookie}\r\nX-CSRF-Token: {}\r\n",
        session["csrf"].as_str().unwrap()
    );
    let get = |path: &str| ask(&url, &format!("GET {path}"), &headers, &Value::Null).2;
    assert_eq!(get("/api/v1/status")["scene"], "pool");
    assert_eq!(get("/api/v1/schema")["site"]["type"], "object");
    let edit = json!({"command": "edit", "edits": [
        {"document": {"kind": "site"}, "path": "camera.latency_ms", "change": {"do": "set", "value": 30.1}}]});
    let save = json!({"command": "save"});
    for command in [
        json!([edit, {"command": "switch_scene", "name": "reef"}]),
        save,
    ] {
        let (status, _, reply) = ask(&url, "POST /api/v1/commands", &headers, &command);
        assert_eq!(status, 200, "{reply}");
        // The documents contain the effect of every command that was answered.
        assert_eq!(get("/api/v1/documents")["revision"], reply["revision"]);
    }
    let documents = get("/api/v1/documents");
    let site = &documents["documents"][0];
    // As short as it was sent.
    assert_eq!(site["effective"]["camera"]["latency_ms"], 30.1);
    let text = site["text"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with("# My pool.") && text.contains("scene = \"reef\""),
        "{text}"
    );
    let (status, _, picture) = ask(&url, "GET /api/v1/output/0.jpg", &headers, &Value::Null);
    assert_eq!(
        (status, picture["error"]["code"].as_str()),
        (404, Some("not_found")),
        "headless"
    );

    // The session survives even if the program is killed.
    running.wait_for_state("sessions.json");
    let folder = running.end();
    assert_eq!(
        std::fs::read_to_string(folder.path().join("site.toml")).unwrap(),
        text
    );
    assert_eq!(
        files_below(&folder.path().join(".shoal")),
        [
            "accounts.json",
            "accounts.reserve",
            "audit-changes.jsonl",
            "audit-logins.jsonl",
            "audit-operation.jsonl",
            "last-valid-site.json",
            "sessions.json",
            "sessions.reserve"
        ]
    );
    let mut running = Running::start(folder);
    let url = running.line("panel: ");
    assert_eq!(
        ask(&url, "GET /api/v1/status", &headers, &Value::Null).0,
        200
    );
    let login = json!({"user": "admin", "password": "four easy words"});
    let (status, _, session) = ask(&url, "POST /api/v1/login", "", &login);
    assert_eq!(
        (status, &session["role"]),
        (200, &json!("admin")),
        "{session}"
    );
    drop(running);
}

/// A site in a new folder.
fn small_site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let site = "[camera]\nsource = \"synthetic:1\"\n";
    std::fs::write(folder.path().join("site.toml"), site).unwrap();
    folder
}

#[test]
#[cfg(target_os = "linux")]
fn a_panel_for_the_network_is_announced_until_the_program_ends() {
    use std::os::unix::fs::PermissionsExt;
    let programs = tempfile::tempdir().unwrap();
    let program = programs.path().join("avahi-publish");
    let script = "#!/bin/sh\necho \"$$ $*\" >\"$(dirname \"$0\")/started\"\n\
                  echo \"Established under name 'Shoal on hall'\" >&2\nexec sleep 600\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let mut path = programs.path().as_os_str().to_owned();
    path.push(":");
    path.push(&inherited);
    let mut running = Running::start_at(small_site(), "0.0.0.0:0", &path);
    let url = running.line("panel: ");
    let name = running.line("panel: announced in the network as ");
    assert_eq!(name, "\"Shoal on hall\"");
    let started = std::fs::read_to_string(programs.path().join("started")).unwrap();
    let (process, words) = started.trim().split_once(' ').unwrap();
    let port = url.rsplit(':').next().unwrap();
    assert!(
        words.starts_with("--no-fail --service Shoal on "),
        "{words}"
    );
    assert!(
        words.ends_with(&format!(" _https._tcp {port} path=/")),
        "{words} {url}"
    );
    // Even if the program is killed, the service ends with it.
    drop(running.end());
    let begun = Instant::now();
    while Path::new("/proc").join(process).exists() {
        assert!(begun.elapsed() < PATIENCE, "the service is still announced");
        std::thread::sleep(Duration::from_millis(20));
    }

    let empty = tempfile::tempdir().unwrap();
    let mut running = Running::start_at(small_site(), "0.0.0.0:0", empty.path().as_os_str());
    let problem = running.line("panel: not announced in the network: ");
    assert_message(&problem, &["'avahi-publish' cannot be started"]);
    assert!(problem.contains("install avahi-daemon"), "{problem}");
}
