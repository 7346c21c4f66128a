//! The way from a client to the desk and back. A client sends commands and gets a reply for each, reads the newest status, and
//! reads the events after a number.
//!
//! The desk waits for one queue of events, which is bounded and rejects when it is full. Nothing here makes the desk or a stage wait for a client: a reply
//! goes through a function that must not block, and status and events are copied out. Must not: decide about a command.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::command::Command;
use super::diagnosis::{STALE_SECS, make_stale};
use super::event::{EventLog, EventPage};
use super::request::{Outcome, Reply, Request, Source, Trust};
use super::schedule::PreviewDay;
use super::status::Status;

/// Largest number of events that may wait for the desk. Further requests are rejected.
const WAITING_MAX: usize = 64;

/// The reason why a request did not reach the desk, or why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// Too many requests are waiting.
    #[error("{WAITING_MAX} commands are waiting already; try again in a moment")]
    Busy,
    /// The desk has ended.
    #[error("the pool is ending and takes no more commands")]
    Gone,
    /// The desk did not answer in time. The command may still be applied.
    #[error("the desk did not answer in time; the command may still be applied")]
    Late,
}

/// A reader of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentsReader {
    /// Sees everything.
    Admin,
    /// Sees no text of the site file and no value that names a program, because both can contain passwords.
    Other,
}

/// All documents at one revision, as JSON. The JSON is made when a client first reads it, and once for all clients of a kind.
pub struct DocumentsPage {
    make: Box<dyn Fn(DocumentsReader) -> String + Send + Sync>,
    json: [OnceLock<String>; 2],
}

impl DocumentsPage {
    /// Returns a page whose JSON `make` returns. It is called at most once for each kind of reader, on the thread of a client.
    pub fn new(make: impl Fn(DocumentsReader) -> String + Send + Sync + 'static) -> Self {
        Self {
            make: Box::new(make),
            json: Default::default(),
        }
    }

    /// Returns the JSON. The first call takes some milliseconds.
    pub fn json(&self, reader: DocumentsReader) -> &str {
        let [admin, other] = &self.json;
        let json = match reader {
            DocumentsReader::Admin => admin,
            DocumentsReader::Other => other,
        };
        json.get_or_init(|| (self.make)(reader))
    }
}

impl Default for DocumentsPage {
    fn default() -> Self {
        Self::new(|_| r#"{"revision":0,"documents":[]}"#.to_owned())
    }
}

impl std::fmt::Debug for DocumentsPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DocumentsPage")
    }
}

/// What all clients read: the newest status, the documents and the events.
#[derive(Debug)]
pub struct Board {
    /// The newest status, and the time at which the desk published it.
    status: Mutex<(Arc<Status>, Instant)>,
    documents: Mutex<Arc<DocumentsPage>>,
    schedule_preview: Mutex<Arc<Vec<PreviewDay>>>,
    /// The events of all stages.
    pub events: EventLog,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            status: Mutex::new((Arc::default(), Instant::now())),
            documents: Mutex::default(),
            schedule_preview: Mutex::default(),
            events: EventLog::default(),
        }
    }
}

impl Board {
    /// Returns the newest status. If the desk has not published one for some seconds, this is a fault in it.
    pub fn status(&self) -> Arc<Status> {
        let (status, published) = self.status.lock().clone();
        let age_secs = published.elapsed().as_secs_f64();
        if age_secs < STALE_SECS {
            return status;
        }
        let mut old = Status::clone(&status);
        make_stale(&mut old, age_secs);
        Arc::new(old)
    }

    /// Replaces the documents.
    pub fn publish_documents(&self, documents: DocumentsPage) {
        *self.documents.lock() = Arc::new(documents);
    }

    /// Returns the preview of the schedule.
    pub fn schedule_preview(&self) -> Arc<Vec<PreviewDay>> {
        Arc::clone(&self.schedule_preview.lock())
    }

    /// Replaces the preview of the schedule.
    pub fn publish_preview(&self, days: Vec<PreviewDay>) {
        *self.schedule_preview.lock() = Arc::new(days);
    }

    /// Replaces the status.
    pub fn publish(&self, status: Status) {
        *self.status.lock() = (Arc::new(status), Instant::now());
    }
}

/// A client of the desk. It can be copied to other threads.
#[derive(Clone, Debug)]
pub struct DeskClient {
    events: SyncSender<DeskEvent>,
    board: Arc<Board>,
}

impl DeskClient {
    /// Sends a request. Never waits. `on_reply` is called once, on the thread of the desk, so it must not block.
    ///
    /// # Errors
    /// When too many requests are waiting, or the desk has ended. Then `on_reply` is not called.
    pub fn send(
        &self,
        request: Request,
        on_reply: impl FnOnce(Reply) + Send + 'static,
    ) -> Result<(), Undelivered> {
        let incoming = Incoming {
            request,
            sent: Instant::now(),
            on_reply: Some(Box::new(on_reply)),
        };
        self.deliver(DeskEvent::Request(incoming))
    }

    /// Reports something to the desk. Never waits.
    ///
    /// # Errors
    /// When too many events are waiting, or the desk has ended.
    pub fn report(&self, report: StageReport) -> Result<(), Undelivered> {
        self.deliver(DeskEvent::Report(report))
    }

    fn deliver(&self, event: DeskEvent) -> Result<(), Undelivered> {
        self.events.try_send(event).map_err(|error| {
            let (undelivered, event) = match error {
                TrySendError::Full(event) => (Undelivered::Busy, event),
                TrySendError::Disconnected(event) => (Undelivered::Gone, event),
            };
            if let DeskEvent::Request(mut incoming) = event {
                incoming.on_reply = None;
            }
            undelivered
        })
    }

    /// Sends a command and waits for its reply, at most for `wait`.
    ///
    /// # Errors
    /// When too many requests are waiting, the desk has ended, or it does not answer in time.
    pub fn request(&self, request: Request, wait: Duration) -> Result<Reply, Undelivered> {
        let (sender, replies) = sync_channel(1);
        self.send(request, move |reply| {
            // The channel has room for the only reply. It is closed if the client has stopped waiting.
            let _late = sender.try_send(reply);
        })?;
        replies.recv_timeout(wait).map_err(|error| match error {
            RecvTimeoutError::Timeout => Undelivered::Late,
            RecvTimeoutError::Disconnected => Undelivered::Gone,
        })
    }

    /// Returns the newest status.
    pub fn status(&self) -> Arc<Status> {
        self.board.status()
    }

    /// Returns the documents. After the reply to a command they contain its effect.
    pub fn documents(&self) -> Arc<DocumentsPage> {
        Arc::clone(&self.board.documents.lock())
    }

    /// Returns the preview of the schedule, from today on.
    pub fn schedule_preview(&self) -> Arc<Vec<PreviewDay>> {
        self.board.schedule_preview()
    }

    /// Returns the events after a number. If there is none, waits at most `wait` for one.
    pub fn events_after(&self, number: u64, wait: Duration) -> EventPage {
        self.board.events.after(number, wait)
    }

    /// Returns a sender of commands that needs no replies.
    pub fn sender(&self, source: Source) -> CommandSender {
        CommandSender {
            client: self.clone(),
            source,
        }
    }
}

/// Sends the commands of one source and ignores the replies. A rejection is in the log and in the events.
#[derive(Clone, Debug)]
pub struct CommandSender {
    client: DeskClient,
    source: Source,
}

impl CommandSender {
    /// Sends a command. Never waits.
    ///
    /// # Errors
    /// When too many commands are waiting, or the desk has ended.
    pub fn send(&self, command: Command) -> Result<(), Undelivered> {
        let request = Request {
            id: 0,
            source: self.source.clone(),
            command,
            trust: Trust::Programs,
        };
        self.client.send(request, |_| {})
    }
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

/// A request that the desk has received. It is answered exactly once: by [`Self::answer`], or when it is dropped.
pub struct Incoming {
    /// The request.
    pub request: Request,
    /// Time at which it was sent.
    pub sent: Instant,
    on_reply: Option<Box<dyn FnOnce(Reply) + Send>>,
}

impl Incoming {
    /// Answers the request. `revision` is the number of applied commands.
    pub fn answer(mut self, revision: u64, result: Outcome) {
        self.reply(revision, result);
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

/// Creates the queue of events. Returns the client, the receiving end for the desk, and the board that both share.
pub fn desk_queue() -> (DeskClient, Receiver<DeskEvent>, Arc<Board>) {
    let (events, received) = sync_channel(WAITING_MAX);
    let board: Arc<Board> = Arc::default();
    let client = DeskClient {
        events,
        board: Arc::clone(&board),
    };
    (client, received, board)
}

#[cfg(test)]
mod tests {
    use super::super::command::EditorStep;
    use super::super::request::SourceKind;
    use super::*;

    fn next(received: &Receiver<DeskEvent>) -> Incoming {
        match received.recv().unwrap() {
            DeskEvent::Request(incoming) => incoming,
            DeskEvent::Report(report) => panic!("{report:?}"),
        }
    }

    fn undo(id: u64) -> Request {
        Request {
            id,
            source: Source::of(SourceKind::Ctl),
            command: Command::Pool(EditorStep::UNDO.into()),
            trust: Trust::Programs,
        }
    }

    #[test]
    fn every_received_request_is_answered_once() {
        let (client, received, _) = desk_queue();
        let (sender, replies) = sync_channel(8);
        for id in 1..=2 {
            let sender = sender.clone();
            client
                .send(undo(id), move |reply| sender.try_send(reply).unwrap())
                .unwrap();
        }
        let applied = Outcome::Applied {
            tick: 9,
            notes: Vec::new(),
            unsaved: None,
        };
        next(&received).answer(5, applied.clone());
        drop(next(&received));
        let answered = replies.recv().unwrap();
        assert_eq!((answered.id, answered.revision), (1, 5));
        assert_eq!(answered.result, applied);
        let dropped = replies.recv().unwrap();
        assert_eq!(dropped.id, 2);
        assert!(!dropped.result.is_applied());
        drop(sender);
        assert!(replies.try_recv().is_err(), "a request was answered twice");
    }

    #[test]
    fn a_full_queue_rejects_at_once_and_a_late_desk_is_reported() {
        let (client, received, _) = desk_queue();
        let mut accepted = 0;
        while client.send(undo(accepted), |_| {}).is_ok() {
            accepted += 1;
            assert!(accepted < 10_000);
        }
        assert_eq!(
            client.request(undo(0), Duration::from_secs(60)),
            Err(Undelivered::Busy)
        );
        received.recv().unwrap();
        assert_eq!(
            client.request(undo(0), Duration::from_millis(1)),
            Err(Undelivered::Late)
        );
        drop(received);
        assert_eq!(
            client.request(undo(0), Duration::from_secs(60)),
            Err(Undelivered::Gone)
        );
    }
}
