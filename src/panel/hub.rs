//! The newest values for all clients of the stream, each encoded once.
//!
//! A task looks for new values some times a second, and only for those that a client waits for. Clients read through channels in
//! which the newest value wins, so a slow client misses values and costs neither memory nor the time of a stage.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use super::links::{LiveViews, MindSlot, PanelLinks, RawPicture};
use super::live_slot::LiveSlot;
use super::topic::{Topic, TopicReader};
use crate::control::{Event, EventLog, Status};

/// Number of events that wait for a slow client. A client that misses more reads them again.
const EVENTS_WAITING: usize = 256;

/// What a text message of the stream contains.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StreamText<'a> {
    /// The status.
    Status {
        /// The status.
        status: &'a Status,
    },
    /// An event.
    Event {
        /// The event.
        event: &'a Event,
    },
    /// Events are no longer kept.
    Lost {
        /// Their number.
        count: u64,
    },
    /// A message of the client was not understood.
    Error {
        /// Description of the problem.
        message: &'a str,
    },
}

impl StreamText<'_> {
    /// Returns the message as JSON.
    pub(crate) fn text(&self) -> Utf8Bytes {
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// An encoded event and its number.
pub(crate) type EncodedEvent = (u64, Utf8Bytes);

/// The events that the desk keeps, encoded once for all clients.
#[derive(Default)]
pub(crate) struct EncodedEvents(Mutex<VecDeque<EncodedEvent>>);

impl EncodedEvents {
    /// Adds the next event.
    pub(crate) fn push(&self, event: EncodedEvent) {
        let mut kept = self.0.lock();
        if kept.len() >= EventLog::KEPT {
            kept.pop_front();
        }
        kept.push_back(event);
    }

    /// Returns the first `most` events after a number, and how many after it are no longer kept.
    pub(crate) fn after(&self, number: u64, most: usize) -> (Vec<EncodedEvent>, u64) {
        let kept = self.0.lock();
        let first = kept.partition_point(|(own, _)| *own <= number);
        let oldest = kept.front().map_or(0, |(oldest, _)| *oldest);
        let lost = oldest.saturating_sub(number.saturating_add(1));
        (kept.iter().skip(first).take(most).cloned().collect(), lost)
    }
}

/// A picture that can be watched.
pub(crate) struct PictureChannel {
    pub(crate) slot: Arc<LiveSlot<RawPicture>>,
    /// First bytes of each binary message: kind and number of the picture. Its step and the number of its frame follow.
    pub(crate) head: [u8; 2],
    /// The newest message.
    pub(crate) newest: Topic<Option<PictureMessage>>,
}

/// A message with a picture, and the time at which the picture was made.
pub(crate) type PictureMessage = (Instant, Bytes);

impl PictureChannel {
    /// Number of bytes before the JPEG.
    pub(crate) const HEAD: usize = 4;

    /// Returns the number of source pixels per pixel of the picture in a message; `None` if the message does not say it.
    pub(crate) fn step_of(message: &[u8]) -> Option<u8> {
        message.get(2).copied().filter(|step| *step > 0)
    }

    fn new(slot: &Arc<LiveSlot<RawPicture>>, kind: u8, number: usize) -> Arc<Self> {
        Arc::new(Self {
            slot: Arc::clone(slot),
            head: [kind, u8::try_from(number).unwrap_or(u8::MAX)],
            newest: Topic::default(),
        })
    }
}

/// The mind of one fish for all clients that watch it.
pub(crate) struct MindChannel {
    /// The slot that the simulation fills.
    pub(crate) slot: Arc<MindSlot>,
    /// Newest value as JSON.
    pub(crate) newest: Topic<Utf8Bytes>,
}

impl MindChannel {
    fn new(slot: &Arc<MindSlot>) -> Self {
        Self {
            slot: Arc::clone(slot),
            newest: Topic::default(),
        }
    }
}

/// The channels.
pub(crate) struct Hub {
    /// Newest status.
    pub(crate) status: watch::Sender<Utf8Bytes>,
    /// New events.
    pub(crate) events: broadcast::Sender<EncodedEvent>,
    /// All events that are kept.
    pub(crate) kept_events: EncodedEvents,
    /// Newest agents.
    pub(crate) agents: Topic<Utf8Bytes>,
    /// The minds of the fish that clients watch.
    pub(crate) minds: Vec<MindChannel>,
    /// Held while a client chooses a channel of [`Self::minds`].
    choosing_mind: Mutex<()>,
    /// Newest tracks.
    pub(crate) tracks: Topic<Utf8Bytes>,
    /// Newest outlines of the visitors in the picture of the camera.
    pub(crate) outlines: Topic<Utf8Bytes>,
    /// The picture of the camera.
    pub(crate) camera: Arc<PictureChannel>,
    /// The foreground mask.
    pub(crate) mask: Arc<PictureChannel>,
    /// The pictures of the outputs.
    pub(crate) outputs: Vec<Arc<PictureChannel>>,
}

impl Hub {
    /// Returns a reader of the mind of a fish; `None` if clients watch too many other fish.
    pub(crate) fn mind(&self, id: u32) -> Option<TopicReader<Utf8Bytes>> {
        let _alone = self.choosing_mind.lock();
        let watched =
            (self.minds.iter()).find(|mind| mind.newest.has_readers() && mind.slot.id() == id);
        let free = || self.minds.iter().find(|mind| !mind.newest.has_readers());
        let mind = watched.or_else(free)?;
        mind.slot.watch(id);
        Some(mind.newest.reader())
    }

    pub(crate) fn new(links: &PanelLinks) -> Self {
        let LiveViews {
            camera,
            mask,
            outputs,
            minds,
            ..
        } = &links.views;
        let outputs = outputs.iter().enumerate();
        Self {
            status: watch::Sender::default(),
            events: broadcast::Sender::new(EVENTS_WAITING),
            kept_events: EncodedEvents::default(),
            agents: Topic::default(),
            choosing_mind: Mutex::default(),
            minds: minds.iter().map(MindChannel::new).collect(),
            tracks: Topic::default(),
            outlines: Topic::default(),
            camera: PictureChannel::new(camera, 1, 0),
            mask: PictureChannel::new(mask, 3, 0),
            outputs: outputs
                .map(|(number, slot)| PictureChannel::new(slot, 2, number))
                .collect(),
        }
    }
}
