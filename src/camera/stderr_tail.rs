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

/// Returns a line without control characters, which could change the colors or the content of a terminal. Parts of a line that a
/// program overwrites with carriage returns are separated by spaces.
fn plain_text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain.trim().to_owned()
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
                let text = plain_text(&line);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: a program could write control sequences to the terminal through Shoal's messages.
    #[test]
    fn control_characters_of_a_program_never_reach_the_terminal() {
        assert_eq!(
            plain_text(b"no \x1b[31mcamera\x1b[0m\x07\n"),
            "no  [31mcamera [0m"
        );
        assert_eq!(plain_text(b"frame=1\rframe=2\r\n"), "frame=1 frame=2");
        assert_eq!(plain_text("\u{9b}2J \u{e4}".as_bytes()), "2J \u{e4}");
        assert_eq!(plain_text(b"\x1b\n"), "");
    }
}
