//! The WebSocket: status, events, agents, tracks, outlines and pictures, as the client subscribes to them.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use serde::Deserialize;
use tokio::sync::{broadcast, watch};

use super::access::Identity;
use super::caller::Caller;
use super::error::ApiError;
use super::hub::{EncodedEvent, Hub, PictureMessage, StreamText};
use super::state::Panel;
use super::topic::TopicReader;
use super::user_requests::UserRequest;

/// Largest message of a client, in bytes.
const MESSAGE_BYTES_MAX: usize = 16 << 10;
/// Time between two checks whether the session still holds.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Number of checks between two pings. They keep the connection open on its way, and find clients that are gone.
const CHECKS_PER_PING: u32 = 20;
/// Longest time for which a message waits for a slow client. Then the connection is closed.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Close code when the session has ended.
const CLOSE_NOT_LOGGED_IN: u16 = 4401;
/// Largest number of subscriptions of a client.
const SUBSCRIPTIONS_MAX: usize = 32;
/// Time between two texts of a client that are read. A page subscribes when its user turns to another one.
const TEXT_INTERVAL: Duration = Duration::from_millis(200);
/// Number of events that are sent before other clients have a turn.
const EVENTS_AT_ONCE: usize = 64;

/// A message of the client.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscribe {
    /// What the client watches, instead of what it watched before.
    subscribe: Vec<String>,
    /// Number of the last event that the client knows. Later ones are sent at once.
    #[serde(default)]
    after: Option<u64>,
}

/// What a client watches.
#[derive(Default)]
struct Watched {
    status: Option<watch::Receiver<Utf8Bytes>>,
    events: Option<broadcast::Receiver<EncodedEvent>>,
    agents: Option<TopicReader<Utf8Bytes>>,
    mind: Option<TopicReader<Utf8Bytes>>,
    tracks: Option<TopicReader<Utf8Bytes>>,
    outlines: Option<TopicReader<Utf8Bytes>>,
    pictures: Vec<TopicReader<Option<PictureMessage>>>,
    /// Number of the last event that was sent.
    last_event: u64,
}

impl Watched {
    fn new(hub: &Hub, names: &[String], last_event: u64) -> Result<Self, String> {
        let mut watched = Self {
            last_event,
            ..Self::default()
        };
        if names.len() > SUBSCRIPTIONS_MAX {
            return Err(format!("{SUBSCRIPTIONS_MAX} subscriptions are the most"));
        }
        for (index, name) in names.iter().enumerate() {
            // The same picture twice would only be sent twice.
            if names.iter().take(index).any(|before| before == name) {
                continue;
            }
            match name.as_str() {
                "status" => watched.status = Some(hub.status.subscribe()),
                "events" => watched.events = Some(hub.events.subscribe()),
                "agents" => watched.agents = Some(hub.agents.reader()),
                "tracks" => watched.tracks = Some(hub.tracks.reader()),
                "outlines" => watched.outlines = Some(hub.outlines.reader()),
                "camera" => watched.pictures.push(hub.camera.newest.reader()),
                "mask" => watched.pictures.push(hub.mask.newest.reader()),
                name if name.starts_with("mind/") => {
                    let id = name.strip_prefix("mind/").and_then(|id| id.parse().ok());
                    let id = id.ok_or("mind/ID needs the id of a fish")?;
                    let mind = hub.mind(id);
                    watched.mind = Some(mind.ok_or("clients watch too many other fish")?);
                }
                name => {
                    let number = name
                        .strip_prefix("output/")
                        .and_then(|n| n.parse::<usize>().ok());
                    match number.and_then(|number| hub.outputs.get(number)) {
                        Some(channel) => watched.pictures.push(channel.newest.reader()),
                        None => {
                            return Err(
                                "allowed: status, events, agents, mind/ID, tracks, outlines, camera, mask, output/NUMBER"
                                    .into(),
                            );
                        }
                    }
                }
            }
        }
        Ok(watched)
    }

    /// Waits for the next message. Can be dropped at any time without losing one.
    async fn next(&mut self) -> Next {
        tokio::select! {
            biased;
            event = next_event(&mut self.events) => event,
            text = next_status(&mut self.status) => Next::Text(text),
            text = next_text(&mut self.agents) => Next::Text(text),
            text = next_text(&mut self.mind) => Next::Text(text),
            text = next_text(&mut self.tracks) => Next::Text(text),
            text = next_text(&mut self.outlines) => Next::Text(text),
            picture = next_picture(&mut self.pictures) => Next::Picture(picture),
        }
    }
}

enum Next {
    Text(Utf8Bytes),
    Event(EncodedEvent),
    /// The client was too slow, and events have to be read again.
    Missed,
    Picture(Bytes),
}

async fn next_text(topic: &mut Option<TopicReader<Utf8Bytes>>) -> Utf8Bytes {
    match topic {
        Some(topic) => topic.next().await,
        None => pending().await,
    }
}

async fn next_status(channel: &mut Option<watch::Receiver<Utf8Bytes>>) -> Utf8Bytes {
    let Some(channel) = channel else {
        return pending().await;
    };
    if channel.changed().await.is_err() {
        return pending().await;
    }
    channel.borrow_and_update().clone()
}

async fn next_event(channel: &mut Option<broadcast::Receiver<EncodedEvent>>) -> Next {
    let Some(channel) = channel else {
        return pending().await;
    };
    match channel.recv().await {
        Ok(event) => Next::Event(event),
        Err(broadcast::error::RecvError::Lagged(_)) => Next::Missed,
        Err(broadcast::error::RecvError::Closed) => pending().await,
    }
}

async fn next_picture(topics: &mut [TopicReader<Option<PictureMessage>>]) -> Bytes {
    loop {
        if let Some((_, picture)) = TopicReader::next_of_any(topics).await {
            return picture;
        }
    }
}

/// Waits for a message of the client that comes after a time. Can be dropped at any time without losing one.
async fn next_message(
    socket: &mut WebSocket,
    due: tokio::time::Instant,
) -> Option<Result<Message, axum::Error>> {
    tokio::time::sleep_until(due).await;
    socket.recv().await
}

/// `GET /api/v1/stream`.
pub(crate) async fn stream(
    State(panel): State<Arc<Panel>>,
    Extension(caller): Extension<Caller>,
    Extension(going_on): Extension<Arc<UserRequest>>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| ApiError::bad_request("this address is a WebSocket"))?;
    let name = caller.identity()?.clone();
    let stream = panel.requests.stream(&name)?;
    Ok(upgrade
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| async move {
            // The stream counts for its user until its end.
            let _going_on = (going_on, stream);
            let mut client = StreamClient {
                panel,
                caller,
                identity: name,
                socket,
                watched: Watched::default(),
                subscribed: None,
                text_due: tokio::time::Instant::now(),
            };
            // An error means that the client is gone or too slow.
            let _gone = client.serve().await;
        }))
}

/// The client is gone or too slow.
struct Gone;

struct StreamClient {
    panel: Arc<Panel>,
    caller: Caller,
    identity: Identity,
    socket: WebSocket,
    watched: Watched,
    /// The last subscription.
    subscribed: Option<Subscribe>,
    /// Time before which the client is not read again, so that it cannot let the server encode and send without an end.
    text_due: tokio::time::Instant,
}

impl StreamClient {
    async fn serve(&mut self) -> Result<(), Gone> {
        let mut checks = tokio::time::interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut count: u32 = 0;
        loop {
            tokio::select! {
                message = next_message(&mut self.socket, self.text_due) => match message {
                    Some(Ok(Message::Text(text))) => {
                        self.text_due = tokio::time::Instant::now() + TEXT_INTERVAL;
                        self.subscribe(&text).await?;
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Gone),
                    Some(Ok(_)) => {}
                },
                next = self.watched.next() => self.send_next(next).await?,
                _ = checks.tick() => {
                    if !self.is_logged_in() {
                        return self.close().await;
                    }
                    count = count.wrapping_add(1);
                    if count.is_multiple_of(CHECKS_PER_PING) {
                        self.send(Message::Ping(Bytes::new())).await?;
                    }
                }
            }
        }
    }

    /// Whether the session or token of the client still holds. Watching is no use that keeps a session alive.
    fn is_logged_in(&self) -> bool {
        let (token, session) = (self.caller.token.as_deref(), self.caller.session.as_deref());
        let mut access = self.panel.access.lock();
        let identity = access.identify(token, session, false, Instant::now());
        identity.is_some_and(|identity| identity == self.identity)
    }

    async fn close(&mut self) -> Result<(), Gone> {
        let frame = CloseFrame {
            code: CLOSE_NOT_LOGGED_IN,
            reason: Utf8Bytes::from_static("the session has ended"),
        };
        self.send(Message::Close(Some(frame))).await
    }

    /// Replaces what the client watches. The same subscription once more changes nothing.
    async fn subscribe(&mut self, text: &str) -> Result<(), Gone> {
        let client = &self.panel.links.client;
        let wanted = match serde_json::from_str::<Subscribe>(text) {
            Ok(wanted) if self.subscribed.as_ref() == Some(&wanted) => return Ok(()),
            Ok(wanted) => wanted,
            Err(error) => return self.send_error(&error.to_string()).await,
        };
        let newest = client.events_after(u64::MAX, Duration::ZERO).newest;
        // A number from before a restart is larger than all numbers now.
        let last_event = wanted.after.unwrap_or(newest).min(newest);
        let mut watched = match Watched::new(&self.panel.hub, &wanted.subscribe, last_event) {
            Ok(watched) => watched,
            Err(message) => return self.send_error(&message).await,
        };
        if let Some(status) = &mut watched.status {
            status.mark_unchanged();
            let status = client.status();
            let text = StreamText::Status { status: &status }.text();
            self.send(Message::Text(text)).await?;
        }
        self.watched = watched;
        self.subscribed = Some(wanted);
        if self.watched.events.is_some() {
            self.send_missed_events().await?;
        }
        Ok(())
    }

    async fn send_error(&mut self, message: &str) -> Result<(), Gone> {
        let text = StreamText::Error { message }.text();
        self.send(Message::Text(text)).await
    }

    async fn send_next(&mut self, next: Next) -> Result<(), Gone> {
        match next {
            Next::Text(text) => self.send(Message::Text(text)).await,
            Next::Picture(picture) => self.send(Message::Binary(picture)).await,
            Next::Missed => self.send_missed_events().await,
            // A missed event that was sent already comes once more.
            Next::Event((number, _)) if number <= self.watched.last_event => Ok(()),
            Next::Event((number, text)) => {
                self.watched.last_event = number;
                self.send(Message::Text(text)).await
            }
        }
    }

    /// Sends the kept events after the last one that was sent. An event that is not encoded yet comes later by itself.
    async fn send_missed_events(&mut self) -> Result<(), Gone> {
        loop {
            let after = self.watched.last_event;
            let (events, lost) = self.panel.hub.kept_events.after(after, EVENTS_AT_ONCE);
            if lost > 0 {
                let text = StreamText::Lost { count: lost }.text();
                self.send(Message::Text(text)).await?;
            }
            if events.is_empty() {
                return Ok(());
            }
            for (number, text) in events {
                self.watched.last_event = number;
                self.send(Message::Text(text)).await?;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        match tokio::time::timeout(SEND_TIMEOUT, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}
