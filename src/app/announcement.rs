//! Announces the panel in the local network, so that other devices list it and reach it by name.
//!
//! In: what the panel serves. Out: a DNS-SD service that exists as long as the value of [`Announcement`]. Avahi's program
//! `avahi-publish` keeps it, under the guard that also runs camera programs, so it never outlives Shoal. Avahi answers the network in
//! a process of its own; nothing that a device sends reaches Shoal. Must not: delay the panel, or end it. Without Avahi the panel is
//! not announced, which is one line in the log.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::panel::AnnouncedService;
use crate::runtime::print_message;

/// The program that keeps the service.
const PROGRAM: &str = "avahi-publish";
/// Start of the line with which the program says that the network knows the service.
const ESTABLISHED: &str = "Established under name";
/// Longest line of the program that is read at once, in bytes.
const LINE_BYTES_MAX: u64 = 1000;

/// An announced service. It ends with this value.
pub(super) struct Announcement {
    /// The program ends when this closes.
    _input: Option<ChildStdin>,
    is_ending: Arc<AtomicBool>,
}

impl Announcement {
    /// Announces a service.
    pub(super) fn start(service: &AnnouncedService) -> Self {
        let is_ending: Arc<AtomicBool> = Arc::default();
        let watched = Arc::clone(&is_ending);
        let started = start_program(service).and_then(|mut child| {
            let (input, messages) = (child.stdin.take(), child.stderr.take());
            let watch = move || watch(child, messages, &watched);
            std::thread::Builder::new()
                .name("announcement".to_owned())
                .spawn(watch)?;
            Ok(input)
        });
        let input = started.unwrap_or_else(|error| {
            report_missing(&error.to_string());
            None
        });
        Self {
            _input: input,
            is_ending,
        }
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }
}

fn start_program(service: &AnnouncedService) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["child-guard", "--", PROGRAM])
        // Avahi may start later than Shoal, and may be restarted.
        .args(["--no-fail", "--service", &service.name, service.kind])
        .args([&service.port.to_string(), "path=/"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

/// Logs what the program says, until it ends.
fn watch(mut child: Child, messages: Option<ChildStderr>, is_ending: &AtomicBool) {
    let mut last = String::new();
    if let Some(messages) = messages {
        let mut messages = BufReader::new(messages);
        let mut line = Vec::new();
        while (&mut messages)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
            .is_ok_and(|length| length > 0)
        {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if let Some(name) = text.strip_prefix(ESTABLISHED) {
                let name = name.trim().trim_matches('\'');
                print_message(&format!("panel: announced in the network as \"{name}\""));
            } else if !text.is_empty() {
                text.clone_into(&mut last);
            }
            line.clear();
        }
    }
    // The guard has closed its messages, so it has ended or ends now.
    let _status = child.wait();
    if !is_ending.load(Ordering::Relaxed) {
        report_missing(&last);
    }
}

fn report_missing(cause: &str) {
    print_message(&format!(
        "panel: not announced in the network: {cause}; install avahi-daemon and avahi-utils, or set panel.announce = false"
    ));
}
