//! Tests of the guard of a camera program as a process: signals, exit statuses and orphans.

#![cfg(target_os = "linux")]

use shoal_testing::assert_message;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for an expected state. It usually takes milliseconds, but a busy machine may need longer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Starts a guard with a shell script as its program. Returns the guard and its standard input, which keeps it running.
fn start(script: &str) -> (Child, ChildStdin) {
    start_program(&["sh", "-c", script])
}

fn start_program(words: &[&str]) -> (Child, ChildStdin) {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args(["child-guard", "--"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = guard.stdin.take().unwrap();
    (guard, input)
}

/// Returns the process ids that the program writes to a file, when there are `count`.
fn pids(file: &Path, count: usize) -> Vec<u32> {
    let mut found = Vec::new();
    wait("the processes", || {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        found = text.lines().filter_map(|line| line.parse().ok()).collect();
        found.len() >= count
    });
    found
}

fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "timeout while waiting for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_running(process: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let is_zombie = stat.windows(4).any(|w| w == b") Z ");
    !stat.is_empty() && !is_zombie
}

fn send(process: u32, signal: &str) {
    let number = process.to_string();
    let sent = Command::new("kill").args(["-s", signal, &number]).status();
    assert!(sent.unwrap().success());
}

/// A fixed bug: the guard never removed the processes that it inherited from the process table.
#[test]
fn processes_that_lost_their_parent_leave_no_zombies() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let orphan = format!("(sh -c 'echo $$ >> {}' &)", file.display());
    let script = format!("for i in 1 2 3 4 5 6 7 8; do {orphan}; done; exec sleep 600");
    let (mut guard, input) = start(&script);
    let orphans = pids(&file, 8);
    wait("the end of the orphans", || {
        orphans
            .iter()
            .all(|o| !Path::new(&format!("/proc/{o}")).exists())
    });
    drop(input);
    assert!(guard.wait().unwrap().success());
}

/// A fixed bug: if a signal ended the guard, the program ran on.
#[test]
fn the_program_ends_with_its_guard_for_every_signal() {
    for signal in ["TERM", "INT", "HUP", "QUIT", "KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let script = format!(
            "trap '' TERM INT HUP QUIT; echo $$ >> {}; while :; do sleep 0.1; done",
            file.display()
        );
        let (mut guard, _input) = start(&script);
        let program = pids(&file, 1)[0];
        send(guard.id(), signal);
        let status = guard.wait().unwrap();
        let expected = if signal == "KILL" { 9 } else { 15 };
        assert_eq!(status.signal(), Some(expected), "{signal}: {status}");
        wait("the end of the program", || !is_running(program));
    }
}

/// A fixed bug: a guard whose program was ended by a signal that Rust handles exited with a status instead.
#[test]
fn a_guard_ends_like_its_program() {
    for (script, signal, code) in [
        ("kill -s SEGV $$", Some(11), None),
        ("kill -s PIPE $$", Some(13), None),
        ("kill -s ABRT $$", Some(6), None),
        ("kill -s TERM $$", Some(15), None),
        ("kill -s KILL $$", Some(9), None),
        ("exit 3", None, Some(3)),
        ("exit 0", None, Some(0)),
    ] {
        let (mut guard, _input) = start(script);
        let status = guard.wait().unwrap();
        assert_eq!((status.signal(), status.code()), (signal, code), "{script}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_an_error() {
    let (mut guard, _input) = start_program(&["/no/such/program"]);
    assert!(!guard.wait().unwrap().success());
    let mut errors = String::new();
    guard
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_message(&errors, &["'/no/such/program' cannot be started"]);
}
