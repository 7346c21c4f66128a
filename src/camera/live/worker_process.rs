//! The worker process as its parent sees it: started, read, and killed. The parent never waits long for it.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::camera::CameraError;
use crate::camera::stderr_tail::StderrTail;

/// Longest wait for the exit of a worker. A worker that hangs in its driver may never exit, so nothing waits longer.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);
/// Time between two checks whether a worker has exited.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The command that starts a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerCommand {
    /// The program: Shoal's own binary.
    pub program: PathBuf,
    /// Arguments before those that name the camera.
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// The command `PROGRAM capture-worker`, where `program` is Shoal's own binary.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: vec!["capture-worker".into()],
        }
    }

    /// The command `capture-worker` of the running program, which must be `shoal`.
    ///
    /// # Errors
    /// When the system does not report the path of the running program.
    pub fn own() -> Result<Self, CameraError> {
        let program = std::env::current_exe().map_err(|cause| CameraError::Start {
            program: "shoal".to_owned(),
            cause,
        })?;
        Ok(Self::new(program))
    }
}

/// A worker process that runs, or that was killed and has not exited yet.
pub(super) struct WorkerProcess {
    child: Child,
    /// Standard input of the worker; the worker exits when it is closed.
    input: Option<ChildStdin>,
    stderr: StderrTail,
}

impl WorkerProcess {
    /// Starts a worker and returns its standard output.
    pub(super) fn start(
        command: &WorkerCommand,
        arguments: &[OsString],
    ) -> io::Result<(Self, ChildStdout)> {
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("its output is not a pipe"));
        };
        match StderrTail::read(errors) {
            Ok(stderr) => Ok((
                Self {
                    child,
                    input,
                    stderr,
                },
                output,
            )),
            Err(cause) => {
                // Fails only if the worker has ended.
                let _ended = child.kill();
                Err(cause)
            }
        }
    }

    /// Kills the worker, without waiting for it.
    pub(super) fn kill(&mut self) {
        self.input = None;
        // Fails only if the worker has ended.
        let _ended = self.child.kill();
    }

    /// Whether the worker has exited and has left the system's process table.
    pub(super) fn has_exited(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Describes how a worker that closed its pipe ended: exit status and last lines on standard error. Waits at most
    /// [`EXIT_TIMEOUT`].
    pub(super) fn describe_exit(&mut self) -> String {
        self.input = None;
        let deadline = Instant::now() + EXIT_TIMEOUT;
        let mut status = None;
        while status.is_none() && Instant::now() < deadline {
            status = self.child.try_wait().ok().flatten();
            std::thread::sleep(EXIT_POLL_INTERVAL);
        }
        let status = status.map_or("it closed its pipe".to_owned(), |s| s.to_string());
        match self.stderr.text() {
            None => status,
            Some(lines) => format!("{status}; its last lines on standard error: {lines}"),
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while !self.has_exited() && Instant::now() < deadline {
            std::thread::sleep(EXIT_POLL_INTERVAL);
        }
    }
}

/// Workers that were killed. Some may hang in their drivers and not exit.
#[derive(Default)]
pub(super) struct KilledWorkers {
    workers: Vec<WorkerProcess>,
}

impl KilledWorkers {
    /// Kills a worker and keeps it until it has exited.
    pub(super) fn kill(&mut self, mut worker: WorkerProcess) {
        worker.kill();
        self.workers.push(worker);
        self.count_running();
    }

    /// Number of workers that have not exited. Removes the others.
    pub(super) fn count_running(&mut self) -> usize {
        self.workers.retain_mut(|worker| !worker.has_exited());
        self.workers.len()
    }
}
