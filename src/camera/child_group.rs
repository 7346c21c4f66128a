//! A child process of a source: a capture worker, the guard of a camera program, or the program itself. The parent never waits
//! longer for a child than `EXIT_TIMEOUT`.
//!
//! Each child runs in a process group of its own, so a Ctrl-C in the terminal does not reach the child. When the parent ends a
//! child by a signal, it also kills the processes that the child started. A worker and a guard also end by themselves when
//! their standard input closes, which happens even if Shoal is killed.

use std::io;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::CameraError;
use super::stderr_tail::StderrTail;
use crate::runtime::{AwakeClock, wait_for_exit};

/// Longest wait for the exit of a child. A child that fails exits within a few milliseconds, but a worker that hangs in its
/// driver may never exit.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);
/// Time after which a guard that was asked to end is killed. It usually needs some milliseconds to end every process of its
/// program.
const GUARD_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between two checks whether a child has exited.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The way in which the parent ends a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndBy {
    /// Its process group is killed.
    Kill,
    /// Its standard input is closed. A guard then kills its program and exits, see [`crate::runtime::run_child_guard`].
    ClosedInput,
}

/// A child process. It may be running, it may have been told to exit or been killed, or it may have exited.
pub(super) struct ChildGroup {
    child: Child,
    /// Name of the program in error messages.
    name: String,
    end_by: EndBy,
    /// Standard input of the child; a worker or guard exits when it is closed.
    input: Option<ChildStdin>,
    stderr: StderrTail,
    has_exited: bool,
    /// Time since a guard was asked to end; `None` before that.
    ending: Option<AwakeClock>,
}

impl ChildGroup {
    /// Starts a child in a new process group and returns its standard output.
    pub(super) fn start(
        mut command: Command,
        name: &str,
        end_by: EndBy,
    ) -> io::Result<(Self, ChildStdout)> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("its output is not a pipe"));
        };
        match StderrTail::read(errors) {
            Ok(stderr) => Ok((
                Self {
                    child,
                    name: name.to_owned(),
                    end_by,
                    input,
                    stderr,
                    has_exited: false,
                    ending: None,
                },
                output,
            )),
            Err(cause) => {
                // `kill` fails only if the child has exited.
                let _ended = child.kill();
                Err(cause)
            }
        }
    }

    /// Closes the standard input of the child. Used for a program that runs without a guard, so that the program gets no input.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Ends the child and its process group, without waiting.
    pub(super) fn kill(&mut self) {
        self.input = None;
        if self.has_exited {
            return;
        }
        if self.end_by == EndBy::ClosedInput {
            self.ending.get_or_insert_with(AwakeClock::start);
            // A guard that was stopped cannot end its program. The call fails only if the guard has exited.
            #[cfg(unix)]
            let _continued = rustix::process::kill_process(
                rustix::process::Pid::from_child(&self.child),
                rustix::process::Signal::CONT,
            );
            return;
        }
        self.kill_group();
    }

    fn kill_group(&mut self) {
        // Both calls fail only if the child has exited. Its exit status was not read yet, so the system has not reused its
        // process id.
        #[cfg(unix)]
        let _group = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ended = self.child.kill();
    }

    /// Whether the child has exited and has left the system's process table.
    pub(super) fn has_exited(&mut self) -> bool {
        self.has_exited |= !matches!(self.child.try_wait(), Ok(None));
        let waited = self.ending.as_mut().map(AwakeClock::elapsed);
        if !self.has_exited && waited.is_some_and(|waited| waited > GUARD_TIMEOUT) {
            self.kill_group();
        }
        self.has_exited
    }

    /// Returns a description of how a worker ended after it closed its pipe: its exit status and its last lines on standard
    /// error. Waits at most `EXIT_TIMEOUT`.
    pub(super) fn describe_exit(&mut self) -> String {
        self.input = None;
        let status = self.wait_for_exit();
        let status = status.map_or("it closed its pipe".to_owned(), |s| s.to_string());
        match self.stderr.text() {
            None => status,
            Some(lines) => format!("{status}; its last lines on standard error: {lines}"),
        }
    }

    /// Checks how a camera program ended. Call this function when the standard output of the program has ended; `frames` is the
    /// number of frames that were read. Waits at most `EXIT_TIMEOUT`.
    ///
    /// # Errors
    /// [`CameraError::Command`] when the exit status is not success.
    pub(super) fn finish(&mut self, frames: u64) -> Result<(), CameraError> {
        match self.wait_for_exit() {
            // The program closed its output but still runs. Its frames are complete, so this is a success. Dropping the child
            // ends the program.
            None => Ok(()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.error(status, frames)),
        }
    }

    /// Returns the cause of an error of the program's output: its exit if the output is empty, else `error` itself. When Shoal
    /// stops reading because of an error, the program fails too, because its output is not read. That failure is no cause.
    pub(super) fn cause_of(&mut self, error: CameraError) -> CameraError {
        if !error.is_empty_stream() {
            return error;
        }
        match self.wait_for_exit() {
            Some(status) => self.error(status, 0),
            None => error,
        }
    }

    /// Waits at most `EXIT_TIMEOUT` for the exit status and the complete standard error. Returns `None` if the child still runs.
    fn wait_for_exit(&mut self) -> Option<ExitStatus> {
        let mut waited = AwakeClock::start();
        let status = wait_for_exit(&mut self.child, EXIT_TIMEOUT, &|| true);
        let status = status.ok().flatten();
        while status.is_some() && !self.stderr.is_complete() && waited.elapsed() < EXIT_TIMEOUT {
            std::thread::sleep(EXIT_POLL_INTERVAL);
        }
        self.has_exited |= status.is_some();
        status
    }

    fn error(&self, status: ExitStatus, frames: u64) -> CameraError {
        CameraError::Command {
            program: self.name.clone(),
            status: status.to_string(),
            frames,
            stderr_tail: self.stderr.text().unwrap_or_else(|| "none".to_owned()),
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        self.kill();
        let mut waited = AwakeClock::start();
        while !self.has_exited() && waited.elapsed() < EXIT_TIMEOUT {
            std::thread::sleep(EXIT_POLL_INTERVAL);
        }
    }
}
