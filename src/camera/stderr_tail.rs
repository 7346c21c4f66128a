//! The last lines that a child process writes to its standard error, kept for error messages.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::ChildStderr;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;

/// Number of lines that are kept; enough for the usual error message of a command-line program.
const MAX_LINES: usize = 8;
/// Length of a line in bytes; longer lines are split, so that a child that writes no line feed uses little memory.
const MAX_LINE_BYTES: u64 = 400;

/// The last lines of a child's standard error, read on a thread of its own until the stream ends.
pub(super) struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    reader: JoinHandle<()>,
}

impl StderrTail {
    /// Starts to read `stderr`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn read(stderr: ChildStderr) -> io::Result<Self> {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&lines);
        let reader = std::thread::Builder::new()
            .name("camera-stderr".to_owned())
            .spawn(move || keep_last_lines(stderr, &shared))?;
        Ok(Self { lines, reader })
    }

    /// Whether the stream has ended, so that no further line will come.
    pub(super) fn is_complete(&self) -> bool {
        self.reader.is_finished()
    }

    /// Returns the lines read so far, joined by " | "; `None` if there are none.
    pub(super) fn text(&self) -> Option<String> {
        let lines = self.lines.lock();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join(" | "))
    }
}

/// Stores the last lines of a stream in `kept` until the stream ends.
fn keep_last_lines(stderr: ChildStderr, kept: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stderr
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if text.is_empty() {
                    continue;
                }
                let mut kept = kept.lock();
                if kept.len() == MAX_LINES {
                    kept.pop_front();
                }
                kept.push_back(text);
            }
        }
    }
}
