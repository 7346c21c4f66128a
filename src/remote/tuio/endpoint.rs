//! The thread that sends the visitors.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::Vec2;
use parking_lot::Mutex;

use super::super::params::TuioParams;
use super::codec::{Cursor, Profile, VISITORS_MAX};
use crate::control::DeliveryStatus;
use crate::geometry::{Surface, Visitor};
use crate::runtime::{Heartbeat, Latest};

/// Longest time between two frames. Datagrams can be lost, so all visitors are sent again.
const REPEAT_INTERVAL: Duration = Duration::from_millis(500);
/// Shortest time between two frames.
const FRAME_INTERVAL: Duration = Duration::from_millis(8);
/// Time without a frame of a camera after which there are no visitors.
const SILENCE_MAX: Duration = Duration::from_secs(2);

/// Sends the visitors as TUIO 1.1, from the start of the program to its end.
pub struct TuioSender {
    send_to: Vec<SocketAddr>,
    picture_m: Vec2,
    visitors: Arc<Latest<Vec<Visitor>>>,
    status: Arc<Mutex<Option<DeliveryStatus>>>,
    /// Number of the last frame.
    frame: i32,
    /// The visitors of the last frame, and their time.
    sent: Vec<Cursor>,
    sent_at: Option<Instant>,
    /// Reused memory.
    seen: Vec<Visitor>,
}

impl TuioSender {
    /// Returns the sender of a site; `None` if the site names no receiver. `visitors` gets the visitors of each frame of a camera.
    pub fn new(
        params: &TuioParams,
        surface: &Surface,
        visitors: Arc<Latest<Vec<Visitor>>>,
        status: Arc<Mutex<Option<DeliveryStatus>>>,
    ) -> Option<Self> {
        let send_to: Vec<SocketAddr> = (params.send_to.iter())
            .filter_map(|text| text.parse().ok())
            .collect();
        if send_to.is_empty() {
            return None;
        }
        *status.lock() = Some(DeliveryStatus {
            way: "remote.tuio".to_owned(),
            target: params.send_to.join(", "),
            ..DeliveryStatus::default()
        });
        Some(Self {
            send_to,
            picture_m: Vec2::new(surface.width_m, surface.height_m),
            visitors,
            status,
            frame: 0,
            sent: Vec::new(),
            sent_at: None,
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

    fn send(&mut self, [v4, v6]: &[UdpSocket; 2], now: Instant) {
        let cursors = self.cursors(now);
        self.frame = self.frame.checked_add(1).unwrap_or(1);
        let mut problem = None;
        let mut count = 0;
        for profile in [Profile::Cursor, Profile::Blob] {
            for datagram in profile.datagrams(&cursors, self.frame) {
                for to in &self.send_to {
                    let socket = if to.is_ipv4() { v4 } else { v6 };
                    match socket.send_to(&datagram, to) {
                        Ok(_) => count += 1,
                        // Nothing listens there at the moment.
                        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                        Err(error) => problem = Some(format!("{to}: {error}")),
                    }
                }
            }
        }
        (self.sent, self.sent_at) = (cursors, Some(now));
        if let Some(status) = self.status.lock().as_mut() {
            status.delivered += count;
            status.failed += u64::from(problem.is_some());
            if count > 0 {
                status.delivered_secs_ago = Some(0);
            }
            status.last_problem = problem.unwrap_or_default();
        }
    }

    /// Returns the visitors of this frame, with the change of their speeds since the last one.
    pub(super) fn cursors(&self, now: Instant) -> Vec<Cursor> {
        let secs = self.sent_at.map_or(0.0, |sent| {
            now.saturating_duration_since(sent).as_secs_f32()
        });
        let cursors = (self.seen.iter()).filter_map(|visitor| Cursor::of(visitor, self.picture_m));
        let mut cursors: Vec<_> = cursors.take(VISITORS_MAX).collect();
        for cursor in &mut cursors {
            let before = self.sent.iter().find(|sent| sent.id == cursor.id);
            if let Some(before) = before.filter(|_| secs > 0.0) {
                let change = cursor.velocity.length() - before.velocity.length();
                cursor.acceleration = change / secs;
            }
        }
        cursors
    }
}
