//! Receives the datagrams of trackers. It has no thread: the vision stage asks it, as it asks a camera for a frame.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::datagram::{is_allowed, messages_of};
use super::report::{EXPIRY, LATE, Table};
use super::{OscVisitors, augmenta, tuio};
use crate::control::TrackerStatus;
use crate::geometry::{Sighting, Surface};
use crate::runtime::is_hidden;

/// Longest datagram. Trackers on the same machine send all visitors in one.
const BYTES_MAX: usize = 16_384;
/// Largest number of messages in a datagram.
const MESSAGES_MAX: usize = 400;
/// Largest number of datagrams that are read before the visitors are passed on.
const BURST: usize = 32;
/// Pause after a full burst. A flood is read at this rate, and the system drops the rest.
const FLOOD_PAUSE: Duration = Duration::from_millis(5);
/// Time over which the rate is measured.
const RATE_TIME: Duration = Duration::from_secs(1);

/// What a tracker speaks.
#[derive(Clone, Debug, PartialEq)]
pub enum TrackerProtocol {
    /// TUIO 1.1 and 2.0.
    Tuio,
    /// Augmenta 2 and 3 over OSC.
    Augmenta,
    /// OSC by a mapping.
    Osc(OscVisitors),
}

/// Receives visitors from trackers.
pub struct TrackReceiver {
    protocol: TrackerProtocol,
    listen: SocketAddr,
    from: Vec<IpAddr>,
    socket: Option<UdpSocket>,
    buffer: Vec<u8>,
    table: Table,
    status: Arc<Mutex<TrackerStatus>>,
    /// Time of the last report, or of the beginning.
    heard_at: Instant,
    /// Start of the measurement of the rate, and the reports since then.
    rate: (Instant, u32),
}

impl TrackReceiver {
    /// Returns a receiver. The address is used with the first [`Self::receive`]. With an empty list `from`, only trackers of this machine
    /// are taken.
    pub fn new(
        protocol: TrackerProtocol,
        listen: SocketAddr,
        from: &[IpAddr],
        status: Arc<Mutex<TrackerStatus>>,
    ) -> Self {
        *status.lock() = TrackerStatus::default();
        Self {
            protocol,
            listen,
            from: from.iter().map(IpAddr::to_canonical).collect(),
            socket: None,
            buffer: vec![0; BYTES_MAX + 1],
            table: Table::default(),
            status,
            heard_at: Instant::now(),
            rate: (Instant::now(), 0),
        }
    }

    /// Takes the waiting datagrams, or waits for the next one.
    ///
    /// # Errors
    /// When the address cannot be used, for example because another program uses it. The next call tries again.
    pub fn receive(&mut self, wait: Duration) -> io::Result<()> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => UdpSocket::bind(self.listen)?,
        };
        socket.set_read_timeout(Some(wait))?;
        for count in 1..=BURST {
            match socket.recv_from(&mut self.buffer) {
                Ok((length, peer)) => self.take(length, peer),
                Err(error) if is_over(&error) => break,
                // An unreachable machine is told to the socket that once sent to it; this one never sends.
                Err(error) => return Err(error),
            }
            if count == 1 {
                socket.set_nonblocking(true)?;
            }
            if count == BURST {
                std::thread::sleep(FLOOD_PAUSE);
            }
        }
        socket.set_nonblocking(false)?;
        self.socket = Some(socket);
        self.measure_rate(Instant::now());
        Ok(())
    }

    /// Writes the visitors that are there to `to`.
    pub fn write(&mut self, surface: &Surface, to: &mut Vec<Sighting>) {
        self.table.write(surface, Instant::now(), to);
    }

    /// Returns for how long no tracker has reported.
    pub fn silent_for(&self) -> Duration {
        self.heard_at.elapsed()
    }

    /// Whether no tracker has reported for so long that its visitors are gone.
    pub fn is_silent(&self) -> bool {
        self.silent_for() >= EXPIRY
    }

    /// Says why there may be no reports, and what to do.
    pub fn advice(&self) -> String {
        let status = self.status.lock();
        let problem = &status.last_problem;
        if status.refused > 0 && status.last_peer.is_empty() {
            return format!(
                "messages arrive, but none reports visitors ({problem}); choose the kind of source that the tracker sends (tuio:, augmenta: \
                 or osc:), and name its address (?from=ADDRESS)"
            );
        }
        if self.listen.ip().is_loopback() {
            return format!(
                "no tracker reports visitors; this source listens on this machine only ({}), so for a tracker in the network write \
                 0.0.0.0:{} and ?from=ADDRESS in camera.source",
                self.listen,
                self.listen.port()
            );
        }
        "no tracker reports visitors; start it, let it send to this machine, and name its address in camera.source (?from=ADDRESS)"
            .to_owned()
    }

    fn take(&mut self, length: usize, peer: SocketAddr) {
        self.status.lock().received += 1;
        match self.apply(length, peer) {
            Ok(()) => {
                self.rate.1 += 1;
                self.heard_at = Instant::now();
                let mut status = self.status.lock();
                status.last_peer = peer.ip().to_string();
            }
            Err(problem) => {
                let mut status = self.status.lock();
                if problem == LATE {
                    status.late += 1;
                } else {
                    status.refused += 1;
                    let text = format!("{}: {problem}", peer.ip());
                    let shown = text.chars().filter(|c| !is_hidden(*c));
                    status.last_problem = shown.take(200).collect();
                }
            }
        }
    }

    /// Applies the reports of a datagram.
    fn apply(&mut self, length: usize, peer: SocketAddr) -> Result<(), String> {
        if !is_allowed(&self.from, peer) {
            return Err("this machine is not named in the source (?from=ADDRESS)".to_owned());
        }
        let datagram = self.buffer.get(..length).unwrap_or_default();
        let messages = messages_of(datagram, BYTES_MAX, MESSAGES_MAX)?;
        let reports = match &self.protocol {
            TrackerProtocol::Tuio => tuio::reports_of(&messages)?,
            TrackerProtocol::Augmenta => augmenta::reports_of(&messages)?,
            TrackerProtocol::Osc(mapping) => vec![mapping.report_of(&messages)?],
        };
        let now = Instant::now();
        for report in reports {
            self.table.apply(peer.ip().to_canonical(), &report, now)?;
        }
        Ok(())
    }

    fn measure_rate(&mut self, now: Instant) {
        let (begun, count) = self.rate;
        let time = now.saturating_duration_since(begun);
        if time >= RATE_TIME {
            self.rate = (now, 0);
            let mut status = self.status.lock();
            status.rate_hz = f64::from(count) / time.as_secs_f64();
        }
    }
}

/// Whether no further datagram waits.
fn is_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
