//! A child program that writes y4m to its standard output, so that network and industrial cameras work.
//!
//! It is started without a shell. What it writes to standard error is kept, the last lines only, and told when it
//! fails. It is killed when the source is dropped, and waited for only afterwards.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::CameraError;

const KEPT_LINES: usize = 8;
const LINE_BYTES: u64 = 400;
/// How long to wait for the child's last words once its output has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A running child.
pub(super) struct Worker {
    child: Child,
    program: String,
    last_words: Arc<Mutex<VecDeque<String>>>,
    listener: Option<std::thread::JoinHandle<()>>,
}

impl Worker {
    /// Starts the program and hands out its standard output.
    pub(super) fn start(words: &[String]) -> Result<(Self, ChildStdout), CameraError> {
        let program = words.first().cloned().unwrap_or_default();
        let failed = |cause| CameraError::Start {
            program: program.clone(),
            cause,
        };
        let mut child = Command::new(&program)
            .args(words.iter().skip(1))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(std::io::Error::other("its output is no pipe")));
        };
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&last_words);
        let listener = std::thread::Builder::new()
            .name("camera-command-stderr".to_owned())
            .spawn(move || listen(errors, &kept));
        let mut worker = Self {
            child,
            program: program.clone(),
            last_words,
            listener: None,
        };
        worker.listener = Some(listener.map_err(failed)?);
        Ok((worker, output))
    }

    /// Says how the child ended, once its output has: an error unless it ended well.
    pub(super) fn finish(&mut self, frames: u64) -> Result<(), CameraError> {
        let deadline = Instant::now() + LAST_WORDS;
        let mut status = None;
        while Instant::now() < deadline {
            status = self.child.try_wait().ok().flatten();
            let heard = self
                .listener
                .as_ref()
                .is_none_or(std::thread::JoinHandle::is_finished);
            if status.is_some() && heard {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        match status {
            // A child that closed its output but lives on has nothing more to tell; it ends with the source.
            None => Ok(()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(CameraError::Command {
                program: self.program.clone(),
                status: status.to_string(),
                frames,
                last_words: self.last_words(),
            }),
        }
    }

    fn last_words(&self) -> String {
        let lines = self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return "none".to_owned();
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.join(" | ")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Killing fails only when the child has ended already; waiting then takes it off the system's table.
        if self.child.kill().is_ok() {
            let _status = self.child.wait();
        }
    }
}

/// Keeps the last lines of a stream, cut to a sane length, until it ends.
pub(super) fn listen(errors: ChildStderr, kept: &Mutex<VecDeque<String>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match errors
            .by_ref()
            .take(LINE_BYTES)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if text.is_empty() {
                    continue;
                }
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == KEPT_LINES {
                    kept.pop_front();
                }
                kept.push_back(text);
            }
        }
    }
}
