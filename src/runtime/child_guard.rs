//! The guard of a program that must not outlive Shoal, such as the program of a `command:` source: a process between Shoal and the
//! program. When the standard input of the guard closes, the guard ends the program and every process that the program started. The
//! standard input closes when Shoal closes it, and also when Shoal crashes or is killed. A signal that asks the guard to end does the
//! same. If the guard itself is killed, the system kills the program.
//!
//! The guard writes nothing to standard output, because the program writes its frames there. The guard exits with the status of
//! the program. It must be the only task of its process.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
#[cfg(unix)]
use {
    rustix::io::Errno,
    rustix::process::{Pid, Signal, WaitOptions, WaitStatus},
    std::os::unix::net::UnixStream,
    std::os::unix::process::CommandExt as _,
};

use super::child::foreign_program;
#[cfg(target_os = "linux")]
use super::parent_process::end_with_parent;

/// Runs a program as its guard. `words` are the name and the arguments of the program. On success, the function ends the
/// process and never returns. If the program cannot be started, it returns the error.
#[cfg(unix)]
pub fn run_child_guard(words: &[OsString]) -> io::Error {
    // If a descendant of the guard loses its parent, it becomes a child of the guard, so the guard can find and kill it.
    #[cfg(target_os = "linux")]
    let _unsupported = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let started = || {
        let signals = end_signals()?;
        let mut command = program_command(words)?;
        command.stdin(Stdio::null()).process_group(0);
        let program = Pid::from_child(&command.spawn()?);
        Ok((program, signals))
    };
    match started() {
        Ok((program, signals)) => guard(program, signals),
        Err(cause) => cause,
    }
}

/// Starts the program in place of this process, which `guard` has started. If the guard dies, the system kills the program. Returns
/// only if the program cannot be started.
#[cfg(target_os = "linux")]
pub fn become_guarded_program(guard: u32, words: &[OsString]) -> io::Error {
    match end_with_parent(guard) {
        Ok(true) => {}
        Ok(false) => return io::Error::other("its guard has ended"),
        Err(cause) => return cause,
    }
    match plain_command(words) {
        Ok(mut command) => command.exec(),
        Err(cause) => cause,
    }
}

/// Returns the command that starts the program.
fn plain_command(words: &[OsString]) -> io::Result<Command> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::Error::other("the name of the program is missing"));
    };
    let mut command = foreign_program(program);
    command.args(arguments);
    Ok(command)
}

/// Returns the command that starts the program through [`become_guarded_program`]. `/proc/self/exe` is this binary, even if an
/// update has replaced its file.
#[cfg(target_os = "linux")]
fn program_command(words: &[OsString]) -> io::Result<Command> {
    let own = std::path::Path::new("/proc/self/exe");
    if !own.exists() {
        return plain_command(words);
    }
    let mut command = foreign_program(own);
    let guard = std::process::id().to_string();
    command
        .args(["child-guard", "--guard", &guard, "--"])
        .args(words);
    Ok(command)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn program_command(words: &[OsString]) -> io::Result<Command> {
    plain_command(words)
}

/// Returns a stream that gets a byte when a signal asks the guard to end.
#[cfg(unix)]
fn end_signals() -> io::Result<UnixStream> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let (receiver, sender) = UnixStream::pair()?;
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    Ok(receiver)
}

#[cfg(unix)]
fn guard(program: Pid, signals: UnixStream) -> ! {
    let status: Arc<Mutex<Option<WaitStatus>>> = Arc::default();
    // Set before the guard kills the program, so that the end of the program is not taken for its own.
    let is_killed: Arc<AtomicBool> = Arc::default();
    // Without both threads the program could outlive Shoal.
    let watch = |name: &str, mut stream: Box<dyn Read + Send>, signal: Option<i32>| {
        let (known, is_killed) = (Arc::clone(&status), Arc::clone(&is_killed));
        let watch = move || {
            let mut bytes = [0; 256];
            // Only a signal writes to `signals`; what arrives on standard input is ignored.
            while !matches!(stream.read(&mut bytes), Ok(0) | Err(_)) && signal.is_none() {}
            let known = *known.lock();
            is_killed.store(known.is_none(), Ordering::Release);
            // After the exit of the program, the system may give its process id to another process.
            kill_all(known.is_none().then_some(program));
            exit_like(known, signal);
        };
        let thread = std::thread::Builder::new().name(name.to_owned());
        if thread.spawn(watch).is_err() {
            kill_all(Some(program));
            std::process::exit(1);
        }
    };
    watch("guard-stdin", Box::new(io::stdin()), None);
    watch(
        "guard-signals",
        Box::new(signals),
        Some(signal_hook::consts::SIGTERM),
    );
    let ended = wait_for(program);
    *status.lock() = ended;
    while is_killed.load(Ordering::Acquire) {
        // The thread that killed the program ends this process.
        std::thread::park();
    }
    wait_for_writers();
    exit_like(ended, None);
}

/// Waits until the program has ended. Also removes all other children that have ended from the system's process table: processes
/// that lost their parent are children of the guard.
#[cfg(unix)]
fn wait_for(program: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((child, status))) if child == program => return Some(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Exits with the status of the program. If the guard killed the program, exits by `signal`, or with success if the guard got
/// none, because then the source was closed.
#[cfg(unix)]
fn exit_like(status: Option<WaitStatus>, signal: Option<i32>) -> ! {
    let signal = status.map_or(signal, WaitStatus::terminating_signal);
    if let Some(number) = signal {
        // The memory of the guard is of no interest.
        let no_core = rustix::process::Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _unlimited = rustix::process::setrlimit(rustix::process::Resource::Core, no_core);
        // The same signal ends the guard, so that the parent sees the same status.
        let _returned = signal_hook::low_level::emulate_default_handler(number);
        std::process::exit(128 + number);
    }
    std::process::exit(status.map_or(0, |status| status.exit_status().unwrap_or(1)));
}

/// Runs a program and exits with its status. Other systems have no process groups.
#[cfg(not(unix))]
pub fn run_child_guard(words: &[OsString]) -> io::Error {
    let run = || plain_command(words)?.stdin(Stdio::null()).status();
    match run() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(cause) => cause,
    }
}

/// Waits until every process that the program left behind and that can still write to the program's output has ended. Kills the
/// other processes that the program left behind.
#[cfg(unix)]
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
            while matches!(rustix::process::wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        }
        kill_all(None);
    }
}

/// Time between two checks whether processes that the program left behind still run.
#[cfg(target_os = "linux")]
const WRITERS_POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(50);

/// Kills the process group of the program, and all processes that it started, even those that left the group.
#[cfg(unix)]
fn kill_all(program: Option<Pid>) {
    use rustix::process::{kill_process, kill_process_group};
    if let Some(group) = program {
        let _gone = kill_process_group(group, Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    for _round in 0..MAX_KILL_ROUNDS {
        let descendants = descendants_of(std::process::id());
        if descendants.is_empty() {
            return;
        }
        for process in descendants {
            let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
            let _gone = pid.map(|pid| kill_process(pid, Signal::KILL));
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
        // A process that has ended has no such file.
        let stat = std::fs::read(entry.path().join("stat")).unwrap_or_default();
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
/// name, in parentheses, may contain any byte.
#[cfg(target_os = "linux")]
fn parse_stat(stat: &[u8]) -> Option<(u32, bool)> {
    let name_end = stat.windows(2).rposition(|two| two == b") ")?;
    let fields = std::str::from_utf8(&stat[name_end + 2..]).ok()?;
    let mut fields = fields.split(' ');
    let has_ended = matches!(fields.next()?, "Z" | "X");
    Some((fields.next()?.parse().ok()?, has_ended))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_with_a_strange_name_is_found() {
        assert_eq!(parse_stat(b"12 (sleep) S 7 12 12 0"), Some((7, false)));
        assert_eq!(parse_stat(b"12 (a) S 1 (b)) Z 7 12"), Some((7, true)));
        // A fixed bug: a process whose name is not UTF-8 was not found, so it outlived Shoal.
        assert_eq!(parse_stat(b"12 (\xff\n\xfe) S 7 12"), Some((7, false)));
        assert_eq!(parse_stat(b"12 (sleep"), None);
        assert_eq!(parse_stat(b""), None);
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
