//! The queue of what waits for the desk: requests of all sources, and reports of stages.
//!
//! Each source has few places of its own, and the sources take turns, so no source makes another one wait for longer than one of its
//! commands. Pause, opening hours and restarts have places of their own and take turns with all other commands. A request whose client is
//! gone leaves the queue. Must not: decide about a command.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::command::Command;
use super::request::{Outcome, Reply, Request, Source, SourceKind};

/// Largest number of requests of one source that may wait. Further ones are rejected.
const OF_SOURCE_MAX: usize = 16;
/// Largest number of requests of one kind of source that may wait, so that many users of the panel leave places to `shoal ctl`, the keys
/// and the opening hours.
const OF_KIND_MAX: usize = 64;
/// Largest number of reports that may wait.
const REPORTS_MAX: usize = 64;

/// The reason why a request did not reach the desk, or why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// Too many requests are waiting.
    #[error("too many commands are waiting already; try again in a moment")]
    Busy,
    /// The desk has ended.
    #[error("the pool is ending and takes no more commands")]
    Gone,
    /// The desk did not answer in time. The command may still be applied.
    #[error("the desk did not answer in time; the command may still be applied")]
    Late,
}

/// What the desk waits for.
#[derive(Debug)]
pub enum DeskEvent {
    /// A client sent a request.
    Request(Incoming),
    /// A stage reports something.
    Report(StageReport),
}

/// What a stage reports to the desk.
#[derive(Debug)]
pub enum StageReport {
    /// A vision stage uses a new calibration, which has to be saved.
    CalibrationAccepted {
        /// Index of the camera.
        camera: usize,
        /// The text of its file.
        text: String,
    },
    /// The simulation stage has applied changes, so the status can contain their effect.
    PoolChanged,
}

/// What takes the reply.
pub(super) type OnReply = Box<dyn FnOnce(Reply) + Send>;

/// A request that the desk has received. It is answered exactly once: by [`Self::answer`], or when it is dropped.
pub struct Incoming {
    /// The request.
    pub request: Request,
    /// Time at which it was sent.
    pub sent: Instant,
    /// Gone when no client waits for the reply; `None` if the command is to be applied also then.
    wanted: Option<Weak<()>>,
    on_reply: Option<OnReply>,
}

impl Incoming {
    pub(super) fn new(request: Request, wanted: Option<Weak<()>>, on_reply: OnReply) -> Self {
        Self {
            request,
            sent: Instant::now(),
            wanted,
            on_reply: Some(on_reply),
        }
    }

    /// Answers the request. `revision` is the number of applied commands.
    pub fn answer(mut self, revision: u64, result: Outcome) {
        self.reply(revision, result);
    }

    /// Whether it is to be applied.
    fn is_wanted(&self) -> bool {
        (self.wanted.as_ref()).is_none_or(|wanted| wanted.strong_count() > 0)
    }

    /// Drops the request without an answer: its client gets an error instead.
    fn forget(mut self) {
        self.on_reply = None;
    }

    fn reply(&mut self, revision: u64, result: Outcome) {
        if let Some(on_reply) = self.on_reply.take() {
            on_reply(Reply {
                id: self.request.id,
                revision,
                result,
            });
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let message = "the desk failed while it applied this command; read the status before you send it again";
        self.reply(0, Outcome::rejected(message));
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.request.fmt(f)
    }
}

/// The waiting requests of one source.
#[derive(Debug)]
struct Line {
    source: Source,
    requests: VecDeque<Incoming>,
}

/// Lines of sources that take turns: the first one is the next.
#[derive(Debug, Default)]
struct Lines(VecDeque<Line>);

impl Lines {
    fn has_room(&self, source: &Source) -> bool {
        let line = self.0.iter().find(|line| line.source == *source);
        line.is_none_or(|line| line.requests.len() < OF_SOURCE_MAX)
            && self.of_kind(source.kind) < OF_KIND_MAX
    }

    fn push(&mut self, incoming: Incoming) {
        let source = &incoming.request.source;
        match self.0.iter_mut().find(|line| line.source == *source) {
            Some(line) => line.requests.push_back(incoming),
            None => self.0.push_back(Line {
                source: source.clone(),
                requests: VecDeque::from([incoming]),
            }),
        }
    }

    fn of_kind(&self, kind: SourceKind) -> usize {
        let lines = self.0.iter().filter(|line| line.source.kind == kind);
        lines.map(|line| line.requests.len()).sum()
    }

    fn pop(&mut self) -> Option<Incoming> {
        let mut line = self.0.pop_front()?;
        let next = line.requests.pop_front();
        if !line.requests.is_empty() {
            self.0.push_back(line);
        }
        next
    }

    /// Takes out the requests whose client is gone.
    fn take_unwanted(&mut self) -> Vec<Incoming> {
        let mut unwanted = Vec::new();
        for line in &mut self.0 {
            let all = std::mem::take(&mut line.requests);
            let (kept, gone): (_, VecDeque<_>) = all.into_iter().partition(Incoming::is_wanted);
            line.requests = kept;
            unwanted.extend(gone);
        }
        self.0.retain(|line| !line.requests.is_empty());
        unwanted
    }
}

#[derive(Debug, Default)]
struct Waiting {
    reports: VecDeque<StageReport>,
    /// Pause, opening hours and restarts.
    urgent: Lines,
    others: Lines,
    /// Whether the last request was an urgent one.
    was_urgent: bool,
    /// Whether all clients are gone.
    has_no_clients: bool,
    /// Whether the desk is gone.
    has_no_desk: bool,
}

impl Waiting {
    /// Returns the lines for a command.
    fn lines(&mut self, command: &Command) -> &mut Lines {
        match command {
            Command::Show(_) | Command::Upkeep(_) => &mut self.urgent,
            Command::Pool(_) | Command::Vision(_) => &mut self.others,
        }
    }

    fn has_room(&mut self, event: &DeskEvent) -> bool {
        match event {
            DeskEvent::Report(_) => self.reports.len() < REPORTS_MAX,
            DeskEvent::Request(incoming) => {
                let Request {
                    source, command, ..
                } = &incoming.request;
                self.lines(command).has_room(source)
            }
        }
    }

    fn push(&mut self, event: DeskEvent) {
        match event {
            DeskEvent::Report(report) => self.reports.push_back(report),
            DeskEvent::Request(incoming) => self.lines(&incoming.request.command).push(incoming),
        }
    }

    fn pop(&mut self) -> Option<DeskEvent> {
        if let Some(report) = self.reports.pop_front() {
            return Some(DeskEvent::Report(report));
        }
        // An urgent one goes first, but not two before another one.
        let next = match self.was_urgent {
            true => self.others.pop().map(|next| (next, false)),
            false => self.urgent.pop().map(|next| (next, true)),
        };
        let next = next.or_else(|| Some((self.urgent.pop()?, true)));
        let (next, is_urgent) = next.or_else(|| Some((self.others.pop()?, false)))?;
        self.was_urgent = is_urgent;
        Some(DeskEvent::Request(next))
    }

    fn take_unwanted(&mut self) -> Vec<Incoming> {
        let mut unwanted = self.urgent.take_unwanted();
        unwanted.extend(self.others.take_unwanted());
        unwanted
    }
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    has_new: Condvar,
}

/// The end of the clients.
#[derive(Debug)]
pub(super) struct DeskEntry(Arc<Shared>);

impl DeskEntry {
    /// Adds an event. Never waits.
    pub(super) fn deliver(&self, event: DeskEvent) -> Result<(), Undelivered> {
        let mut waiting = self.0.waiting.lock();
        // These are answered when the lock is free, because an answer is code of a client.
        let unwanted = waiting.take_unwanted();
        if !unwanted.is_empty() {
            MutexGuard::unlocked(&mut waiting, || drop(unwanted));
        }
        let undelivered = if waiting.has_no_desk {
            Some(Undelivered::Gone)
        } else {
            (!waiting.has_room(&event)).then_some(Undelivered::Busy)
        };
        let Some(undelivered) = undelivered else {
            waiting.push(event);
            drop(waiting);
            self.0.has_new.notify_one();
            return Ok(());
        };
        drop(waiting);
        if let DeskEvent::Request(incoming) = event {
            incoming.forget();
        }
        Err(undelivered)
    }
}

impl Drop for DeskEntry {
    fn drop(&mut self) {
        self.0.waiting.lock().has_no_clients = true;
        self.0.has_new.notify_one();
    }
}

/// The end of the desk.
#[derive(Debug)]
pub struct DeskEvents(Arc<Shared>);

impl DeskEvents {
    /// Waits for the next event.
    ///
    /// # Errors
    /// When there was none in this time, or all clients are gone.
    pub fn recv_timeout(&self, wait: Duration) -> Result<DeskEvent, RecvTimeoutError> {
        let end = Instant::now() + wait;
        let mut waiting = self.0.waiting.lock();
        loop {
            let unwanted = waiting.take_unwanted();
            if !unwanted.is_empty() {
                MutexGuard::unlocked(&mut waiting, || drop(unwanted));
            }
            if let Some(event) = waiting.pop() {
                return Ok(event);
            }
            if waiting.has_no_clients {
                return Err(RecvTimeoutError::Disconnected);
            }
            if self.0.has_new.wait_until(&mut waiting, end).timed_out() {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    /// Returns the next event if there is one.
    ///
    /// # Errors
    /// When there is none.
    pub fn try_recv(&self) -> Result<DeskEvent, TryRecvError> {
        let event = self.recv_timeout(Duration::ZERO);
        event.map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }
}

impl Drop for DeskEvents {
    fn drop(&mut self) {
        let left = {
            let mut waiting = self.0.waiting.lock();
            waiting.has_no_desk = true;
            (
                std::mem::take(&mut waiting.urgent),
                std::mem::take(&mut waiting.others),
            )
        };
        drop(left);
    }
}

/// Returns both ends of an empty queue.
pub(super) fn desk_events() -> (DeskEntry, DeskEvents) {
    let shared: Arc<Shared> = Arc::default();
    (DeskEntry(Arc::clone(&shared)), DeskEvents(shared))
}
