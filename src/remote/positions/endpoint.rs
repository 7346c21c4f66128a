//! The thread that sends the positions of the visitors.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::params::{PositionParams, RemoteParams};
use super::place::{Place, VISITORS_MAX, picture_m};
use super::tuio::Profile;
use super::{augmenta, psn};
use crate::control::DeliveryStatus;
use crate::geometry::{Surface, Visitor};
use crate::runtime::{Heartbeat, Latest};

/// Longest time between two frames. Datagrams can be lost, so all visitors are sent again.
const REPEAT_INTERVAL: Duration = Duration::from_millis(500);
/// Shortest time between two frames.
const FRAME_INTERVAL: Duration = Duration::from_millis(8);
/// Time without a frame of a camera after which there are no visitors.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// Time between two descriptions that do not change: the names of PosiStageNet, the size of Augmenta.
const DESCRIPTION_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
enum Protocol {
    Tuio,
    PosiStageNet,
    Augmenta,
}

/// The receivers of one protocol. Its number is that of its status.
struct Output {
    protocol: Protocol,
    send_to: Vec<SocketAddr>,
    delivered_at: Option<Instant>,
}

/// Sends the visitors, from the start of the program to its end.
pub struct PositionSender {
    outputs: Vec<Output>,
    surface: Surface,
    visitors: Arc<Latest<Vec<Visitor>>>,
    status: Arc<Mutex<Vec<DeliveryStatus>>>,
    begun: Instant,
    /// Number of the last frame.
    frame: i32,
    /// The places of the last frame, and their time.
    sent: Vec<Place>,
    sent_at: Option<Instant>,
    described_at: Option<Instant>,
    /// Reused memory.
    seen: Vec<Visitor>,
}

impl PositionSender {
    /// Returns the sender of a site; `None` if the site names no receiver. `visitors` gets the visitors of each frame of a camera.
    pub fn new(
        params: &RemoteParams,
        surface: &Surface,
        visitors: Arc<Latest<Vec<Visitor>>>,
        status: Arc<Mutex<Vec<DeliveryStatus>>>,
    ) -> Option<Self> {
        let (mut outputs, mut known) = (Vec::new(), Vec::new());
        let mut add = |protocol, way: &str, PositionParams { send_to }: &PositionParams| {
            if !send_to.is_empty() {
                known.push(DeliveryStatus {
                    way: format!("remote.{way}"),
                    target: send_to.join(", "),
                    ..DeliveryStatus::default()
                });
                let send_to = send_to.iter().filter_map(|text| text.parse().ok());
                let send_to = send_to.collect();
                outputs.push(Output {
                    protocol,
                    send_to,
                    delivered_at: None,
                });
            }
        };
        add(Protocol::Tuio, "tuio", &params.tuio);
        add(Protocol::PosiStageNet, "psn", &params.psn);
        add(Protocol::Augmenta, "augmenta", &params.augmenta);
        if outputs.is_empty() {
            return None;
        }
        *status.lock() = known;
        Some(Self {
            outputs,
            surface: surface.clone(),
            visitors,
            status,
            begun: Instant::now(),
            frame: 0,
            sent: Vec::new(),
            sent_at: None,
            described_at: None,
            seen: Vec::new(),
        })
    }

    /// Works until the program ends.
    ///
    /// # Errors
    /// When the machine gives no socket.
    pub fn run(&mut self, heartbeat: &Heartbeat) -> io::Result<()> {
        let sockets = [
            UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
            // A machine without IPv6 has none of these.
            UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))
                .or_else(|_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?,
        ];
        for socket in &sockets {
            socket.set_write_timeout(Some(REPEAT_INTERVAL))?;
        }
        let mut seen_at = Instant::now();
        while heartbeat.keep_running() {
            if self.visitors.take(&mut self.seen, REPEAT_INTERVAL) {
                seen_at = Instant::now();
            } else if seen_at.elapsed() > SILENCE_MAX {
                self.seen.clear();
            }
            self.send(&sockets, Instant::now());
            if !heartbeat.sleep(FRAME_INTERVAL) {
                break;
            }
        }
        Ok(())
    }

    fn send(&mut self, sockets: &[UdpSocket; 2], now: Instant) {
        let places = self.places(now);
        self.frame = self.frame.checked_add(1).unwrap_or(1);
        let is_due = |at: Instant| now.saturating_duration_since(at) >= DESCRIPTION_INTERVAL;
        let is_described = self.described_at.is_none_or(is_due);
        if is_described {
            self.described_at = Some(now);
        }
        for index in 0..self.outputs.len() {
            let datagrams = self.datagrams(self.outputs[index].protocol, &places, is_described);
            let output = &mut self.outputs[index];
            let (count, problem) = output.send(sockets, &datagrams);
            if count > 0 {
                output.delivered_at = Some(now);
            }
            if let Some(status) = self.status.lock().get_mut(index) {
                status.delivered += count;
                status.failed += u64::from(problem.is_some());
                let secs_since = |at: Instant| now.saturating_duration_since(at).as_secs();
                status.delivered_secs_ago = output.delivered_at.map(secs_since);
                status.last_problem = problem.unwrap_or_default();
            }
        }
        (self.sent, self.sent_at) = (places, Some(now));
    }

    fn datagrams(&self, protocol: Protocol, places: &[Place], is_described: bool) -> Vec<Vec<u8>> {
        let (picture_m, frame) = (picture_m(&self.surface), self.frame);
        match protocol {
            Protocol::Tuio => [Profile::Cursor, Profile::Blob]
                .iter()
                .flat_map(|profile| profile.datagrams(places, picture_m, frame))
                .collect(),
            Protocol::PosiStageNet => {
                let header = psn::Header {
                    time_us: self.begun.elapsed().as_micros() as u64,
                    frame: frame as u8,
                };
                let mut packets = psn::data(places, header);
                if is_described {
                    packets.extend(psn::info(places, header));
                }
                packets
            }
            Protocol::Augmenta => {
                let mut bundles = augmenta::frame(places, picture_m, frame);
                if is_described {
                    bundles.extend(augmenta::scene(picture_m));
                }
                bundles
            }
        }
    }

    /// Returns the places of this frame, with the velocities in the last one.
    pub(super) fn places(&self, now: Instant) -> Vec<Place> {
        let secs = self.sent_at.map_or(0.0, |sent| {
            now.saturating_duration_since(sent).as_secs_f32()
        });
        let places = (self.seen.iter()).filter_map(|visitor| Place::of(visitor, &self.surface));
        let mut places: Vec<_> = places.take(VISITORS_MAX).collect();
        for place in &mut places {
            let before = self.sent.iter().find(|sent| sent.id == place.id);
            let before = before.filter(|_| secs > 0.0);
            place.before = before.map(|before| (before.velocity_mps, secs));
        }
        places
    }
}

impl Output {
    /// Returns the number of datagrams that were sent, and the last problem.
    fn send(&self, [v4, v6]: &[UdpSocket; 2], datagrams: &[Vec<u8>]) -> (u64, Option<String>) {
        let (mut count, mut problem) = (0, None);
        for (datagram, to) in
            (datagrams.iter()).flat_map(|bytes| self.send_to.iter().map(move |to| (bytes, to)))
        {
            let socket = if to.is_ipv4() { v4 } else { v6 };
            match socket.send_to(datagram, to) {
                Ok(_) => count += 1,
                // Nothing listens there at the moment.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => problem = Some(format!("{to}: {error}")),
            }
        }
        (count, problem)
    }
}
