//! Tests of the control socket with friendly and hostile clients.

use shoal_testing::assert_message;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use shoal::app::{CtlServer, LivePool};
use shoal::runtime::HangPolicy;

use crate::desk::no_camera;

struct Served {
    pool: LivePool,
    folder: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut pool = no_camera();
        let stop = Arc::clone(pool.supervisor.stop_flag());
        let path = folder.path().join("pool.sock");
        let mut server = CtlServer::bind(&path, pool.client.clone(), stop).unwrap();
        pool.supervisor
            .start("control", HangPolicy::WaitAtEnd, move |heartbeat| {
                server.run(heartbeat);
            })
            .unwrap();
        Self { pool, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("pool.sock")
    }

    fn connect(&self) -> (UnixStream, BufReader<UnixStream>) {
        let stream = UnixStream::connect(self.path()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        (stream, lines)
    }

    fn ask(&self, line: &str) -> Value {
        let (mut stream, mut lines) = self.connect();
        stream.write_all(line.as_bytes()).unwrap();
        stream.write_all(b"\n").unwrap();
        read(&mut lines)
    }

    fn ctl(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_shoal"))
            .args(["ctl", "--socket", self.path().to_str().unwrap()])
            .args(arguments)
            .output()
            .unwrap()
    }
}

fn read(lines: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn a_running_instance_answers_status_commands_and_events() {
    let served = Served::start();
    let mode = std::fs::metadata(served.path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let begun = Instant::now();
    while served.pool.client.status().faults.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = served.ctl(&["status"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(3),
        "the camera is missing: {text}"
    );
    assert_message(&text, &["walk.y4m", "scene pool"]);
    let output = served.ctl(&["status", "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["scene"], "pool");
    let output = served.ctl(&["send", r#"{"command":"switch_scene","name":"reef"}"#]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = served.ctl(&["send", r#"{"command":"switch_scene","name":"moon"}"#]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("moon"),
        "{output:?}"
    );
    let output = served.ctl(&["send", "{\"command\":\"explode\"}"]);
    assert_eq!(output.status.code(), Some(1));
    let output = served.ctl(&["list"]);
    let names = String::from_utf8(output.stdout).unwrap();
    for line in ["scene pool", "scene reef"] {
        assert!(names.lines().any(|found| found == line), "{names}");
    }
    for line in names.lines().filter(|line| line.starts_with("event")) {
        let (verb, name) = line.split_once(' ').unwrap();
        let output = served.ctl(&[verb, name.trim_matches('\'')]);
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    }
    let output = served.ctl(&["scene", "pool"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = served.ctl(&["scene", "moon"]);
    assert_eq!(output.status.code(), Some(1));
    let output = served.ctl(&["events"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_message(&text, &[r#""event":"scene_changed","scene":"reef""#]);
    assert!(text.contains(r#""event":"command_rejected""#), "{text}");
    let path = served.path();
    served.pool.supervisor.shut_down().unwrap();
    let begun = Instant::now();
    while path.exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "the socket stays behind"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = ctl_without_instance(&path);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no instance answers"), "{text}");
}

fn ctl_without_instance(path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args(["ctl", "--socket", path.to_str().unwrap(), "status"])
        .output()
        .unwrap()
}

#[test]
fn the_socket_of_an_ended_instance_is_replaced_and_that_of_a_running_one_is_not() {
    let served = Served::start();
    let stop = Arc::clone(served.pool.supervisor.stop_flag());
    let bind = |path: &Path| CtlServer::bind(path, served.pool.client.clone(), Arc::clone(&stop));
    assert!(bind(&served.path()).is_err());
    let stale = served.folder.path().join("stale.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    assert!(bind(&stale).is_ok());
    let file = served.folder.path().join("file.sock");
    std::fs::write(&file, "text").unwrap();
    assert!(bind(&file).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
    served.pool.supervisor.shut_down().unwrap();
}

/// A fixed bug: when the file of the socket was removed, as programs do that clean `/tmp`, the instance could not be reached until
/// its next start.
#[test]
fn a_socket_that_was_removed_is_created_again() {
    let served = Served::start();
    let begun = Instant::now();
    std::fs::remove_file(served.path()).unwrap();
    while UnixStream::connect(served.path()).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(served.ask(r#"{"do":"status"}"#).get("status").is_some());
    // A file of another program is not replaced.
    std::fs::remove_file(served.path()).unwrap();
    std::fs::write(served.path(), "text").unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(std::fs::read_to_string(served.path()).unwrap(), "text");
}

/// A fixed bug: `ctl` waited 40 s for an instance that was stopped.
#[test]
fn an_instance_that_does_not_answer_is_named_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stopped.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    for words in [&["status"][..], &["send", r#"{"command":"save"}"#]] {
        let begun = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_shoal"))
            .args(["ctl", "--socket", path.to_str().unwrap()])
            .args(words)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("does not answer in time"), "{text}");
        assert_eq!(output.status.code(), Some(1));
        // Generous: the machine of a test can be busy.
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn hostile_clients_are_bounded_and_others_are_served() {
    let served = Served::start();
    // Lines that are no requests get an answer, and the connection stays open.
    let (mut stream, mut lines) = served.connect();
    stream
        .write_all(b"\x00\xff\n{}\n{\"do\":\"status\"}\n")
        .unwrap();
    assert!(read(&mut lines)["error"].is_string());
    assert!(read(&mut lines)["error"].is_string());
    assert!(read(&mut lines)["status"]["revision"].is_number());
    // An endless line is cut off.
    let (mut stream, mut lines) = served.connect();
    let block = vec![b'x'; 1 << 16];
    while stream.write_all(&block).is_ok() {}
    let mut rest = Vec::new();
    // The server may close the connection before this end has read the error.
    let _closed = lines.read_to_end(&mut rest);
    assert!(served.ask(r#"{"do":"status"}"#)["status"].is_object());
    // Clients beyond the limit get an error. After the other clients have left, new clients are accepted again.
    let silent: Vec<UnixStream> = (0..200)
        .filter_map(|_| UnixStream::connect(served.path()).ok())
        .collect();
    assert!(silent.len() > 40);
    let begun = Instant::now();
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    while threads() < 20 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(threads() < 32 + 60, "{} threads", threads());
    drop(silent);
    let begun = Instant::now();
    loop {
        let answer = served.ask(r#"{"do":"send","command":{"command":"undo"}}"#);
        if answer["reply"].is_object() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
    served.pool.supervisor.shut_down().unwrap();
}
