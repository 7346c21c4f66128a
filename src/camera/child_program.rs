//! A child program that writes y4m to its standard output. It connects network and industrial cameras to Shoal.
//!
//! The program is started without a shell and killed when its source is dropped. If it fails, the error contains the last
//! lines of its standard error.

use std::io;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::CameraError;
use super::stderr_tail::StderrTail;

/// Longest wait for the exit status and the last lines on standard error, once the program has closed its output. A program
/// that fails ends within a few milliseconds.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);
/// Time between two checks whether the program has ended.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A running child program.
pub(super) struct ChildProgram {
    child: Child,
    program: String,
    stderr: StderrTail,
}

impl ChildProgram {
    /// Starts the program and returns its standard output. `words` are its name and its arguments.
    pub(super) fn start(words: &[String]) -> Result<(Self, ChildStdout), CameraError> {
        let program = words.first().cloned().unwrap_or_default();
        let start = || -> io::Result<(Child, ChildStdout, StderrTail)> {
            let mut child = Command::new(&program)
                .args(words.iter().skip(1))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()?;
            let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
                return Err(io::Error::other("its output is not a pipe"));
            };
            match StderrTail::read(errors) {
                Ok(stderr) => Ok((child, output, stderr)),
                Err(cause) => {
                    end(&mut child);
                    Err(cause)
                }
            }
        };
        let (child, output, stderr) = start().map_err(|cause| CameraError::Start {
            program: program.clone(),
            cause,
        })?;
        let started = Self {
            child,
            program,
            stderr,
        };
        Ok((started, output))
    }

    /// Checks how the program ended. Call it when its standard output has ended, after `frames` frames.
    ///
    /// # Errors
    /// [`CameraError::Command`] when the exit status is not success.
    pub(super) fn finish(&mut self, frames: u64) -> Result<(), CameraError> {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        let mut status = None;
        while Instant::now() < deadline {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() && self.stderr.is_complete() {
                break;
            }
            std::thread::sleep(EXIT_POLL_INTERVAL);
        }
        match status {
            // The program closed its output but still runs: its frames are complete, and dropping the source ends it.
            None => Ok(()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(CameraError::Command {
                program: self.program.clone(),
                status: status.to_string(),
                frames,
                stderr_tail: self.stderr.text().unwrap_or_else(|| "none".to_owned()),
            }),
        }
    }
}

impl Drop for ChildProgram {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Kills a program and waits for it, so that it leaves the system's process table.
fn end(child: &mut Child) {
    // Killing fails only if the program has ended.
    if child.kill().is_ok() {
        let _status = child.wait();
    }
}
