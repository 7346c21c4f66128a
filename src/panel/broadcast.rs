//! Fills the channels of the hub with the newest values.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use image::ExtendedColorType;
use image::codecs::jpeg::JpegEncoder;
use serde::Serialize;

use super::hub::{PictureChannel, StreamText};
use super::links::RawPicture;
use super::live_slot::LiveSlot;
use super::state::Panel;
use super::topic::Topic;
use crate::control::Status;

/// Time between two looks for new values.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two checks of the setup code.
const CODE_INTERVAL: Duration = Duration::from_secs(1);
/// JPEG quality of pictures. Outlines of visitors stay clear; a picture of 640 × 480 has some 30 kB.
const JPEG_QUALITY: u8 = 70;

/// Fills the channels until the server ends.
pub(crate) async fn fill_channels(panel: Arc<Panel>) {
    let hub = &panel.hub;
    let client = &panel.links.client;
    let mut last_event = 0;
    let mut last_status: Option<Arc<Status>> = None;
    let (mut last_agents, mut last_tracks, mut last_outlines) = (0, 0, 0);
    let mut last_minds = vec![0; hub.minds.len()];
    let mut pictures: Vec<PictureTask> = [&hub.camera, &hub.mask]
        .into_iter()
        .chain(&hub.outputs)
        .map(|channel| PictureTask::new(Arc::clone(channel)))
        .collect();
    let mut code_due = Instant::now();
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let now = Instant::now();
        if now >= code_due {
            code_due = now + CODE_INTERVAL;
            panel.update_setup_code(now);
        }
        let page = client.events_after(last_event, Duration::ZERO);
        for event in &page.events {
            last_event = event.number;
            let encoded = (event.number, StreamText::Event { event }.text());
            hub.kept_events.push(encoded.clone());
            let _nobody = hub.events.send(encoded);
        }
        if hub.status.receiver_count() > 0 {
            let status = client.status();
            if !last_status
                .as_ref()
                .is_some_and(|last| Arc::ptr_eq(last, &status))
            {
                let text = StreamText::Status { status: &status }.text();
                hub.status.send_replace(text);
                last_status = Some(status);
            }
        }
        let views = &panel.links.views;
        send_newest(&views.agents, &hub.agents, "agents", &mut last_agents);
        for (mind, last) in hub.minds.iter().zip(&mut last_minds) {
            send_newest(&mind.slot.line, &mind.newest, "mind", last);
        }
        send_newest(&views.tracks, &hub.tracks, "tracks", &mut last_tracks);
        let last = &mut last_outlines;
        send_newest(&views.outlines, &hub.outlines, "outlines", last);
        for picture in &mut pictures {
            picture.update(now).await;
        }
    }
}

/// Sends the newest value of a slot if a client waits for it and it is new.
fn send_newest<T: Serialize>(
    slot: &LiveSlot<T>,
    topic: &Topic<Utf8Bytes>,
    kind: &'static str,
    last: &mut u64,
) {
    #[derive(Serialize)]
    struct Typed<'a, T> {
        r#type: &'static str,
        #[serde(flatten)]
        value: &'a T,
    }
    if !topic.is_awaited() {
        return;
    }
    slot.want(Instant::now());
    let (number, _) = slot.newest();
    if std::mem::replace(last, number) == number {
        return;
    }
    let text = serde_json::to_string(&Typed {
        r#type: kind,
        value: &*slot.read(),
    });
    topic.send(text.unwrap_or_default().into());
}

/// Encodes one picture after the other of a channel, beside the other work.
struct PictureTask {
    channel: Arc<PictureChannel>,
    last: u64,
    running: Option<tokio::task::JoinHandle<()>>,
}

impl PictureTask {
    fn new(channel: Arc<PictureChannel>) -> Self {
        Self {
            channel,
            last: 0,
            running: None,
        }
    }

    async fn update(&mut self, now: Instant) {
        let channel = &self.channel;
        if !channel.newest.is_awaited() {
            return;
        }
        channel.slot.want(now);
        if self
            .running
            .as_ref()
            .is_some_and(|running| !running.is_finished())
        {
            return;
        }
        if let Some(running) = self.running.take() {
            // It has finished, so this does not wait. A failure leaves this picture out.
            let _ended = running.await;
        }
        let (number, at) = channel.slot.newest();
        let Some(at) = at.filter(|_| number != self.last) else {
            return;
        };
        self.last = number;
        let channel = Arc::clone(channel);
        self.running = Some(tokio::task::spawn_blocking(move || {
            let picture = channel.slot.read().clone();
            if let Some(message) = encode(channel.head, &picture) {
                channel.newest.send(Some((at, message)));
            }
        }));
    }
}

/// Returns a binary message with a picture; `None` if the picture is empty or its size is wrong.
fn encode([kind, number]: [u8; 2], picture: &RawPicture) -> Option<Bytes> {
    let (width, height) = (picture.width_px, picture.height_px);
    let area = width as usize * height as usize;
    let color = match picture.pixels.len() {
        0 => return None,
        length if length == area => ExtendedColorType::L8,
        length if length == 3 * area => ExtendedColorType::Rgb8,
        _ => return None,
    };
    let head: [u8; PictureChannel::HEAD] = [kind, number, picture.step, picture.frame];
    let mut message = head.to_vec();
    JpegEncoder::new_with_quality(&mut message, JPEG_QUALITY)
        .encode(&picture.pixels, width, height, color)
        .ok()?;
    Some(message.into())
}
