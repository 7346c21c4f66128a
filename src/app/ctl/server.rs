//! Serves the control socket: one thread accepts, one thread per client answers.

use std::fs::DirBuilder;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::protocol::{CtlAnswer, CtlRequest};
use super::socket::remove_if_stale;
use crate::control::{DeskClient, Request, Source, SourceKind, Trust};
use crate::runtime::{Heartbeat, StopFlag};

/// Largest number of clients at the same time. Further clients get an error and are disconnected.
const CLIENTS_MAX: usize = 32;
/// Longest line of a client, in bytes. A command may contain a document or a table of points.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Longest name of a user, in characters.
const NAME_CHARS_MAX: usize = 64;
/// Longest time from the connection, or from the last answer, until a line of the client is complete.
const LINE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for a client to take an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for the reply of the desk.
const REPLY_TIMEOUT: Duration = Duration::from_secs(35);
/// Time between two checks for the end of the program, and for a client that has gone.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Pause after a client could not be accepted, for example because the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time between two checks that the socket still has its file.
const FILE_INTERVAL: Duration = Duration::from_secs(1);

/// The control socket of this instance. Dropping it removes the file.
pub struct CtlServer {
    listener: UnixListener,
    path: PathBuf,
    client: DeskClient,
    clients: Arc<AtomicUsize>,
    stop: StopFlag,
}

impl CtlServer {
    /// Creates the socket with mode 0600. A socket of an instance that has ended is replaced.
    ///
    /// # Errors
    /// When another instance or another file has this path, or the socket cannot be created.
    pub fn bind(path: &Path, client: DeskClient, stop: StopFlag) -> anyhow::Result<Self> {
        Ok(Self {
            listener: bind(path)?,
            path: path.to_path_buf(),
            client,
            clients: Arc::default(),
            stop,
        })
    }

    /// Accepts clients until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        let mut checked = Instant::now();
        while heartbeat.keep_running() {
            if checked.elapsed() >= FILE_INTERVAL {
                checked = Instant::now();
                self.restore_file();
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.start(stream),
                Err(error) if is_timeout(&error) => self.wait_for_client(),
                Err(_) => {
                    heartbeat.sleep(ACCEPT_PAUSE);
                }
            }
        }
    }

    /// Waits for a client, at most until the next check for the end of the program.
    fn wait_for_client(&self) {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: CHECK_INTERVAL.subsec_nanos().into(),
        };
        let mut waiting = [PollFd::new(&self.listener, PollFlags::IN)];
        // After an error the next check comes early.
        let _woken = poll(&mut waiting, Some(&timeout));
    }

    /// Creates the socket again if its file was removed, as programs do that clean `/tmp`. A file that has its path is left alone.
    fn restore_file(&mut self) {
        if !is_missing(&self.path) {
            return;
        }
        // The folder was removed too. One of another user is not used: its owner could replace the socket.
        if let Some(folder) = self.path.parent() {
            let _exists = DirBuilder::new().mode(0o700).create(folder);
            let own = rustix::process::getuid().as_raw();
            let owner = std::fs::symlink_metadata(folder).map(|folder| folder.uid());
            if !owner.is_ok_and(|owner| owner == own || owner == 0) {
                return;
            }
        }
        match bind(&self.path) {
            Ok(listener) => {
                self.listener = listener;
                let path = self.path.display();
                tracing::warn!("{path}: the control socket was removed, and is created again");
            }
            Err(error) => tracing::debug!("{error:#}"),
        }
    }

    fn start(&self, stream: UnixStream) {
        let place = Place::take(&self.clients);
        let mut connection = Connection {
            stream,
            client: self.client.clone(),
            stop: Arc::clone(&self.stop),
            received: Vec::new(),
        };
        let Some(place) = place else {
            let message = format!("{CLIENTS_MAX} clients are connected already; try again later");
            let _ = connection.stream.set_nonblocking(true);
            let _ = connection.answer_within(&CtlAnswer::Error(message), Duration::ZERO);
            return;
        };
        let thread = std::thread::Builder::new().name("ctl".to_owned());
        let started = thread.spawn(move || {
            let _place = place;
            // An error means that the client has gone or is too slow. That is no matter for the log.
            let _ended = connection.serve();
        });
        if let Err(error) = started {
            tracing::warn!("a client of the control socket cannot be served: {error}");
        }
    }
}

/// Creates a socket with mode 0600.
fn bind(path: &Path) -> anyhow::Result<UnixListener> {
    let shown = path.display();
    if !remove_if_stale(path) {
        bail!("{shown}: another instance or another file has this path");
    }
    // The socket gets its name when only its owner can open it.
    let unnamed = path.with_extension(format!("new-{}", std::process::id()));
    let _leftover = std::fs::remove_file(&unnamed);
    let bind = || -> io::Result<UnixListener> {
        let listener = UnixListener::bind(&unnamed)?;
        std::fs::set_permissions(&unnamed, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        std::fs::rename(&unnamed, path)?;
        Ok(listener)
    };
    bind().with_context(|| format!("{shown}: the control socket cannot be created"))
}

fn is_missing(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

impl Drop for CtlServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// One of the [`CLIENTS_MAX`] places. Dropping it makes the place free.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(clients: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(clients));
        let taken = clients.fetch_add(1, Ordering::AcqRel);
        (taken < CLIENTS_MAX).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The connection to a client.
struct Connection {
    stream: UnixStream,
    client: DeskClient,
    stop: StopFlag,
    /// Bytes that were received and are not part of an answered line.
    received: Vec<u8>,
}

impl Connection {
    fn serve(&mut self) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_read_timeout(Some(CHECK_INTERVAL))?;
        self.stream.set_write_timeout(Some(CHECK_INTERVAL))?;
        while let Some(line) = self.next_line()? {
            match serde_json::from_slice(&line) {
                Ok(CtlRequest::Status) => {
                    let status = Box::new((*self.client.status()).clone());
                    self.answer(&CtlAnswer::Status(status))?;
                }
                Ok(CtlRequest::Names) => {
                    let names = self.client.names();
                    self.answer(&CtlAnswer::Names(names))?;
                }
                Ok(CtlRequest::Send { id, name, command }) => {
                    let name = name.chars().filter(|c| !c.is_control());
                    let source = Source {
                        kind: SourceKind::Ctl,
                        name: name.take(NAME_CHARS_MAX).collect(),
                    };
                    let request = Request {
                        id,
                        source,
                        command,
                        trust: Trust::Programs,
                    };
                    let answer = match self.client.request(request, REPLY_TIMEOUT) {
                        Ok(reply) => CtlAnswer::Reply(reply),
                        Err(undelivered) => CtlAnswer::Error(undelivered.to_string()),
                    };
                    self.answer(&answer)?;
                }
                Ok(CtlRequest::Events { after, follow }) => self.send_events(after, follow)?,
                Err(error) => {
                    let message = format!("this line is no request: {error}");
                    self.answer(&CtlAnswer::Error(message))?;
                }
            }
        }
        Ok(())
    }

    /// Sends the events after a number. With `follows`, sends later events too, until the client has gone.
    fn send_events(&mut self, mut after: u64, follows: bool) -> io::Result<()> {
        loop {
            let wait = if follows {
                CHECK_INTERVAL
            } else {
                Duration::ZERO
            };
            let page = self.client.events_after(after, wait);
            if page.lost > 0 {
                self.answer(&CtlAnswer::Lost(page.lost))?;
            }
            let is_last = page.events.is_empty();
            for event in page.events {
                after = event.number;
                self.answer(&CtlAnswer::Event(Box::new(event)))?;
            }
            if is_last && !follows {
                return self.answer(&CtlAnswer::End(page.newest));
            }
            if follows && is_last && (self.is_ending() || self.has_gone()) {
                return Ok(());
            }
        }
    }

    fn is_ending(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the client has closed the connection.
    fn has_gone(&mut self) -> bool {
        let mut buffer = [0; 64];
        match self.stream.read(&mut buffer) {
            Ok(count) => count == 0,
            Err(error) => !is_timeout(&error),
        }
    }

    /// Returns the next line without its line feed; `None` if the client has closed the connection, is too slow, or the program
    /// ends.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let begun = Instant::now();
        let mut searched = 0;
        let mut buffer = [0; 4096];
        loop {
            let unsearched = self.received.get(searched..).unwrap_or_default();
            if let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.received.drain(..=searched + end).collect();
                line.pop();
                return Ok(Some(line));
            }
            searched = self.received.len();
            if searched > LINE_BYTES_MAX {
                let message = format!("the line is longer than {LINE_BYTES_MAX} bytes");
                self.answer(&CtlAnswer::Error(message))?;
                return Ok(None);
            }
            if begun.elapsed() > LINE_TIMEOUT || self.is_ending() {
                return Ok(None);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => {
                    let read = buffer.get(..count).unwrap_or_default();
                    self.received.extend_from_slice(read);
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn answer(&mut self, answer: &CtlAnswer) -> io::Result<()> {
        self.answer_within(answer, ANSWER_TIMEOUT)
    }

    /// Writes an answer. Gives up if the client has not taken it after `timeout`.
    fn answer_within(&mut self, answer: &CtlAnswer, timeout: Duration) -> io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        let begun = Instant::now();
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error),
            }
            if !rest.is_empty() && (begun.elapsed() >= timeout || self.is_ending()) {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
