//! The guard of a camera program: a process between Shoal and the program of a `command:` source. When the standard input of
//! the guard closes, the guard ends the program and every process that the program started. The standard input closes when
//! Shoal closes the source, and also when Shoal crashes or is killed.
//!
//! The guard writes nothing to standard output, because the program writes its frames there. The guard exits with the status of
//! the program. It must be the only task of its process.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;

/// Runs a program as its guard. `words` are the name and the arguments of the program. On success, the function ends the
/// process and never returns. If the program cannot be started, it returns the error.
pub fn run_child_guard(words: &[OsString]) -> io::Error {
    let Some((program, arguments)) = words.split_first() else {
        return io::Error::other("the name of the program is missing");
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // If a descendant of the guard loses its parent, it becomes a child of the guard, so the guard can find and kill it.
    #[cfg(target_os = "linux")]
    let _unsupported = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    match command.spawn() {
        Ok(child) => guard(child),
        Err(cause) => cause,
    }
}

fn guard(mut child: Child) -> ! {
    let number = child.id();
    let status: Arc<Mutex<Option<ExitStatus>>> = Arc::default();
    let known = Arc::clone(&status);
    let watch = move || {
        let mut bytes = [0; 256];
        let mut input = io::stdin().lock();
        while !matches!(input.read(&mut bytes), Ok(0) | Err(_)) {}
        let known = *known.lock();
        // After the exit of the program, the system may give its process id to another process.
        kill_all(known.is_none().then_some(number));
        exit_like(known);
    };
    let watcher = std::thread::Builder::new().name("guard-stdin".to_owned());
    if watcher.spawn(watch).is_err() {
        // Without this thread the program could outlive Shoal.
        kill_all(Some(number));
        std::process::exit(1);
    }
    let ended = child.wait().ok();
    *status.lock() = ended;
    wait_for_writers();
    exit_like(ended);
}

/// Exits with the status of the program, or with success if the guard killed the program because the source was closed.
fn exit_like(status: Option<ExitStatus>) -> ! {
    let Some(status) = status else {
        std::process::exit(0);
    };
    #[cfg(unix)]
    if let Some(number) = std::os::unix::process::ExitStatusExt::signal(&status) {
        if let Some(signal) = rustix::process::Signal::from_named_raw(number) {
            // The same signal ends the guard, so that the parent sees the same status.
            let _sent = rustix::process::kill_process(rustix::process::getpid(), signal);
        }
        std::process::exit(128 + number);
    }
    std::process::exit(status.code().unwrap_or(1));
}

/// Waits until every process that the program left behind and that can still write to the program's output has ended. Kills the
/// other processes that the program left behind.
fn wait_for_writers() {
    #[cfg(target_os = "linux")]
    if let Ok(output) = std::fs::read_link("/proc/self/fd/1") {
        let can_write = |process: u32| {
            let files = std::fs::read_dir(format!("/proc/{process}/fd"));
            let mut files = files.into_iter().flatten().flatten();
            files.any(|file| std::fs::read_link(file.path()).is_ok_and(|link| link == output))
        };
        while descendants_of(std::process::id())
            .into_iter()
            .any(can_write)
        {
            std::thread::sleep(WRITERS_POLL_INTERVAL);
        }
        kill_all(None);
    }
}

/// Time between two checks whether processes that the program left behind still run.
#[cfg(target_os = "linux")]
const WRITERS_POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(50);

/// Kills the process group of the program, and all processes that it started, even those that left the group.
#[cfg_attr(
    not(unix),
    allow(unused_variables, reason = "other systems have no process groups")
)]
fn kill_all(program: Option<u32>) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let pid = |number: u32| i32::try_from(number).ok().and_then(Pid::from_raw);
        if let Some(group) = program.and_then(pid) {
            let _gone = kill_process_group(group, Signal::KILL);
        }
        #[cfg(target_os = "linux")]
        for _round in 0..MAX_KILL_ROUNDS {
            let descendants = descendants_of(std::process::id());
            if descendants.is_empty() {
                return;
            }
            for process in descendants.into_iter().filter_map(pid) {
                let _gone = kill_process(process, Signal::KILL);
            }
        }
    }
}

/// Largest number of searches for descendants. Each search finds the processes that were started during the previous search.
#[cfg(target_os = "linux")]
const MAX_KILL_ROUNDS: usize = 8;

/// Returns the running processes that `ancestor` started, directly or through other processes.
#[cfg(target_os = "linux")]
fn descendants_of(ancestor: u32) -> Vec<u32> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some((parent, has_ended)) = parse_stat(&stat) {
            processes.push((process, parent, has_ended));
        }
    }
    let mut found: Vec<(u32, bool)> = vec![(ancestor, true)];
    let mut next = 0;
    while let Some((parent, _)) = found.get(next).copied() {
        let children = processes.iter().filter(|(_, p, _)| *p == parent);
        found.extend(children.map(|(process, _, has_ended)| (*process, *has_ended)));
        next += 1;
    }
    let alive = found.into_iter().filter(|(_, has_ended)| !has_ended);
    alive.map(|(process, _)| process).collect()
}

/// Parses the content of `/proc/PID/stat`. Returns the parent of the process, and whether the process has ended. The process
/// name, in parentheses, may contain any character.
#[cfg(target_os = "linux")]
fn parse_stat(stat: &str) -> Option<(u32, bool)> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let has_ended = matches!(fields.next()?, "Z" | "X");
    Some((fields.next()?.parse().ok()?, has_ended))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_with_a_strange_name_is_found() {
        assert_eq!(parse_stat("12 (sleep) S 7 12 12 0"), Some((7, false)));
        assert_eq!(parse_stat("12 (a) S 1 (b)) Z 7 12"), Some((7, true)));
        assert_eq!(parse_stat("12 (sleep"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn descendants_are_found_through_their_parents() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 30 & wait"])
            .spawn()
            .unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let found = loop {
            let found = descendants_of(shell.id());
            if !found.is_empty() || std::time::Instant::now() > until {
                break found;
            }
        };
        assert_eq!(found.len(), 1, "the sleep");
        for process in found {
            let process = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
            rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
    }
}
