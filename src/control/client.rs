//! The way from a client to the desk and back. A client sends commands and gets a reply for each, reads the newest status, and
//! reads the events after a number.
//!
//! The desk waits for one queue of events (`desk_events.rs`), which is bounded and rejects when it is full. Nothing here makes the desk or a stage wait for a client: a reply
//! goes through a function that must not block, and status and events are copied out. Must not: decide about a command.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::command::{Command, NamesInUse};
use super::desk_events::{
    DeskEntry, DeskEvent, DeskEvents, Incoming, OnReply, StageReport, Undelivered, desk_events,
};
use super::diagnosis::{STALE_SECS, make_stale};
use super::event::{EventLog, EventPage};
use super::request::{Reply, Request, Source, Trust};
use super::schedule::PreviewDay;
use super::status::Status;

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
    events: Arc<DeskEntry>,
    board: Arc<Board>,
}

impl DeskClient {
    /// Sends a request. Never waits. `on_reply` is called once, on another thread, so it must not block.
    ///
    /// # Errors
    /// When too many requests are waiting, or the desk has ended. Then `on_reply` is not called.
    pub fn send(
        &self,
        request: Request,
        on_reply: impl FnOnce(Reply) + Send + 'static,
    ) -> Result<(), Undelivered> {
        self.deliver(request, None, Box::new(on_reply))
    }

    /// Sends a request like [`Self::send`]. If `wanted` is gone before the desk begins with it, it is not applied.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    pub fn send_while(
        &self,
        wanted: &Arc<()>,
        request: Request,
        on_reply: impl FnOnce(Reply) + Send + 'static,
    ) -> Result<(), Undelivered> {
        let wanted = Arc::downgrade(wanted);
        self.deliver(request, Some(wanted), Box::new(on_reply))
    }

    /// Reports something to the desk. Never waits.
    ///
    /// # Errors
    /// When too many events are waiting, or the desk has ended.
    pub fn report(&self, report: StageReport) -> Result<(), Undelivered> {
        self.events.deliver(DeskEvent::Report(report))
    }

    fn deliver(
        &self,
        request: Request,
        wanted: Option<Weak<()>>,
        on_reply: OnReply,
    ) -> Result<(), Undelivered> {
        let incoming = Incoming::new(request, wanted, on_reply);
        self.events.deliver(DeskEvent::Request(incoming))
    }

    /// Sends a command and waits for its reply, at most for `wait`.
    ///
    /// # Errors
    /// When too many requests are waiting, the desk has ended, or it does not answer in time.
    pub fn request(&self, request: Request, wait: Duration) -> Result<Reply, Undelivered> {
        let (sender, replies) = sync_channel(1);
        // Until the end of the wait.
        let wanted = Arc::default();
        self.send_while(&wanted, request, move |reply| {
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

    /// Returns the names that commands can use.
    pub fn names(&self) -> NamesInUse {
        let documents = self.documents();
        let json = documents.json(DocumentsReader::Other);
        let page: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
        let documents = page["documents"].as_array();
        let scene_of = |document: &serde_json::Value| {
            let document = &document["document"];
            let name = document["name"].as_str();
            name.filter(|_| document["kind"] == "scene")
                .map(str::to_owned)
        };
        let scenes = documents.into_iter().flatten().filter_map(scene_of);
        let status = self.status();
        let events = status.director.iter().map(|rule| rule.name.clone());
        NamesInUse {
            scenes: scenes.collect(),
            events: events.collect(),
        }
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

/// Creates the queue of events. Returns the client, the receiving end for the desk, and the board that both share.
pub fn desk_queue() -> (DeskClient, DeskEvents, Arc<Board>) {
    let (events, received) = desk_events();
    let board: Arc<Board> = Arc::default();
    let client = DeskClient {
        events: Arc::new(events),
        board: Arc::clone(&board),
    };
    (client, received, board)
}

#[cfg(test)]
mod tests {
    use super::super::command::EditorStep;
    use super::super::request::{Outcome, SourceKind};
    use super::*;

    fn next(received: &DeskEvents) -> Incoming {
        match received.recv_timeout(Duration::from_secs(60)).unwrap() {
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
        next(&received);
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

    fn of(source: &str, command: Command) -> Request {
        let source = Source {
            name: source.to_owned(),
            ..Source::of(SourceKind::Panel)
        };
        Request {
            source,
            command,
            ..undo(0)
        }
    }

    fn pause() -> Command {
        serde_json::from_str(r#"{"command":"pause","on":true}"#).unwrap()
    }

    fn step() -> Command {
        Command::Pool(EditorStep::UNDO.into())
    }

    /// A fixed bug: all sources shared one line, so one user could let the commands of all others wait, or be rejected, for minutes.
    #[test]
    fn no_source_makes_another_one_wait_for_longer_than_one_of_its_commands() {
        let (client, received, _) = desk_queue();
        let mut waiting = 0;
        for user in 0..10 {
            while client
                .send(of(&format!("op{user}"), step()), |_| {})
                .is_ok()
            {
                waiting += 1;
                assert!(waiting < 1000);
            }
        }
        assert!(waiting >= 32, "{waiting}");
        // Other kinds of clients still have places.
        client.send(undo(7), |_| {}).unwrap();
        let schedule = client.sender(Source::of(SourceKind::Schedule));
        schedule.send(pause()).unwrap();
        let order: Vec<String> = (0..8)
            .map(|_| next(&received).request.source.to_string())
            .collect();
        assert_eq!(order[0], "schedule");
        let ctl = order.iter().position(|source| source == "ctl").unwrap();
        let before = &order[1..ctl];
        assert!((1..=4).contains(&before.len()), "{order:?}");
        assert!(
            before
                .iter()
                .enumerate()
                .all(|(i, own)| !before[..i].contains(own))
        );
    }

    #[test]
    fn a_pause_passes_the_other_commands_of_its_own_source_and_starves_none() {
        let (client, received, _) = desk_queue();
        while client.send(of("op", step()), |_| {}).is_ok() {}
        for _ in 0..3 {
            client.send(of("op", pause()), |_| {}).unwrap();
        }
        let is_pause: Vec<bool> = (0..6)
            .map(|_| next(&received).request.command == pause())
            .collect();
        assert_eq!(is_pause, [true, false, true, false, true, false]);
    }

    /// A fixed bug: the desk worked for minutes on commands whose clients had hung up.
    #[test]
    fn a_command_whose_client_is_gone_is_not_applied_and_frees_its_place() {
        let (client, received, _) = desk_queue();
        let (sender, replies) = sync_channel(8);
        for _ in 0..3 {
            let wanted = Arc::default();
            let mut sent = 0;
            loop {
                let (sender, is_first) = (sender.clone(), sent == 0);
                let on_reply = move |reply| {
                    if is_first {
                        sender.try_send(reply).unwrap();
                    }
                };
                if client
                    .send_while(&wanted, of("op", step()), on_reply)
                    .is_err()
                {
                    break;
                }
                sent += 1;
            }
            assert!(sent >= 8, "{sent}");
        }
        client.send(of("op", pause()), |_| {}).unwrap();
        assert_eq!(next(&received).request.command, pause());
        assert!(received.try_recv().is_err());
        // Each was answered nevertheless, so that what waits for the answer ends.
        assert_eq!(replies.try_iter().count(), 3);
    }
}
