//! The worker process as its parent sees it: started, listened to, killed, and never waited for.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::camera::CameraError;
use crate::camera::command::listen;

/// How long the last words of a worker that ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// How a worker is started.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerCommand {
    /// The program: our own binary.
    pub program: PathBuf,
    /// Its arguments before those that name the camera.
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// `PROGRAM capture-worker`, with our own binary as program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: vec!["capture-worker".into()],
        }
    }

    /// `capture-worker` of the program that runs, which must be `shoal`.
    ///
    /// # Errors
    /// When the system does not say which program that is.
    pub fn own() -> Result<Self, CameraError> {
        let program = std::env::current_exe().map_err(|cause| CameraError::Start {
            program: "shoal".to_owned(),
            cause,
        })?;
        Ok(Self::new(program))
    }
}

/// A worker that runs, or has been killed but not taken off the system's table yet.
pub(super) struct WorkerProcess {
    child: Child,
    /// Its closing ends the worker.
    input: Option<ChildStdin>,
    last_words: Arc<Mutex<VecDeque<String>>>,
}

impl WorkerProcess {
    /// Starts a worker and hands out what it writes.
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
            return Err(io::Error::other("its output is no pipe"));
        };
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&last_words);
        let listener = std::thread::Builder::new()
            .name("camera-words".to_owned())
            .spawn(move || listen(errors, &kept));
        let mut worker = Self {
            child,
            input,
            last_words,
        };
        if let Err(cause) = listener {
            worker.kill();
            return Err(cause);
        }
        Ok((worker, output))
    }

    /// Kills the worker, without waiting for it.
    pub(super) fn kill(&mut self) {
        self.input = None;
        // Fails only for a worker that has ended.
        let _ended = self.child.kill();
    }

    /// Whether the worker is gone, and off the system's table.
    pub(super) fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// How a worker that closed its pipe ended, and its last words. Waits for a moment only.
    pub(super) fn ending(&mut self) -> String {
        self.input = None;
        let deadline = Instant::now() + LAST_WORDS;
        let mut status = None;
        while status.is_none() && Instant::now() < deadline {
            status = self.child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(5));
        }
        let status = status.map_or("it closed its pipe".to_owned(), |s| s.to_string());
        let words = self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words.is_empty() {
            return status;
        }
        format!("{status}; its last words: {}", words.join(" | "))
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
        // A worker that hangs in its driver cannot be waited for; it is tried for a moment.
        let deadline = Instant::now() + LAST_WORDS;
        while !self.is_gone() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Workers that were killed and may still hang in their drivers.
#[derive(Default)]
pub(super) struct Graveyard {
    dying: Vec<WorkerProcess>,
}

impl Graveyard {
    /// Kills a worker and keeps it until it is gone.
    pub(super) fn bury(&mut self, mut worker: WorkerProcess) {
        worker.kill();
        self.dying.push(worker);
        self.count();
    }

    /// How many are not gone yet.
    pub(super) fn count(&mut self) -> usize {
        self.dying.retain_mut(|worker| !worker.is_gone());
        self.dying.len()
    }
}
