//! The thread that receives commands and sends what happens.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rosc::{OscMessage, OscPacket, encoder};

use super::super::commands::{CommandLimit, result_of};
use super::super::datagram::messages_of;
use super::super::params::OscParams;
use super::report::{event_message, reply_message, state_messages};
use super::words::{Wish, wish_of};
use crate::control::{DeskClient, OscStatus, Request, Source, SourceKind, Trust};
use crate::runtime::{Fault, Heartbeat, is_hidden};

/// Longest datagram, in bytes: what fits into an Ethernet frame.
pub(super) const BYTES_MAX: usize = 1472;
/// Largest number of messages in a bundle.
pub(super) const MESSAGES_MAX: usize = 64;
/// Longest wait for a datagram. Events are sent so often.
const RECEIVE_WAIT: Duration = Duration::from_millis(50);
/// Largest number of datagrams that are read before events are sent again. A flood is read at this rate and no faster, and the
/// system drops the rest.
const BURST: usize = 32;
/// Pause after a full burst.
const FLOOD_PAUSE: Duration = Duration::from_millis(20);
/// Time between two reports of the whole state. A change is reported at once.
const STATE_INTERVAL: Duration = Duration::from_secs(5);
/// Pause before the address is tried again.
const BIND_PAUSE: Duration = Duration::from_secs(2);
/// Largest number of answers that wait for the thread. Further ones are lost, as datagrams can be.
const REPLIES_MAX: usize = 64;

/// An answer for a machine.
type Answer = (SocketAddr, OscMessage);

/// Show control by OSC, from the start of the program to its end.
pub struct OscEndpoint {
    listen: Option<SocketAddr>,
    from: Vec<IpAddr>,
    send_to: Vec<SocketAddr>,
    client: DeskClient,
    status: Arc<Mutex<OscStatus>>,
    fault: Fault,
    answers: (SyncSender<Answer>, Receiver<Answer>),
    /// Number of the last event that was sent.
    event: u64,
    /// The reported state, and the time of the last whole report.
    state: Vec<OscMessage>,
    state_sent: Option<Instant>,
    limit: CommandLimit,
}

impl OscEndpoint {
    /// Returns the endpoint of a site; `None` if the site neither receives nor sends. `fault` is active while the address cannot be
    /// used.
    pub fn new(
        params: &OscParams,
        client: DeskClient,
        status: Arc<Mutex<OscStatus>>,
        fault: Fault,
    ) -> Option<Self> {
        let listen: Option<SocketAddr> =
            params.listen.as_deref().and_then(|text| text.parse().ok());
        let parsed = |text: &String| text.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
        let send_to: Vec<_> = params
            .send_to
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect();
        if listen.is_none() && send_to.is_empty() {
            return None;
        }
        status.lock().listen = listen
            .map(|address| address.to_string())
            .unwrap_or_default();
        Some(Self {
            listen,
            from: params.from.iter().filter_map(parsed).collect(),
            send_to,
            event: client.events_after(0, Duration::ZERO).newest,
            client,
            status,
            fault,
            answers: sync_channel(REPLIES_MAX),
            state: Vec::new(),
            state_sent: None,
            limit: CommandLimit::default(),
        })
    }

    /// Works until the program ends. An address that cannot be used is a fault and is tried again.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.keep_running() {
            match self.bind() {
                Ok(socket) => {
                    self.fault.clear();
                    self.serve(&socket, heartbeat);
                }
                Err(error) => {
                    let listen = self
                        .listen
                        .map(|address| address.to_string())
                        .unwrap_or_default();
                    self.fault.raise(&format_args!(
                        "OSC: {listen} cannot be used ({error}); close the other program that uses it, or correct remote.osc.listen"
                    ));
                    heartbeat.sleep(BIND_PAUSE);
                }
            }
        }
    }

    fn bind(&self) -> io::Result<UdpSocket> {
        let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let socket = UdpSocket::bind(self.listen.unwrap_or(any))?;
        socket.set_read_timeout(Some(RECEIVE_WAIT))?;
        socket.set_write_timeout(Some(RECEIVE_WAIT))?;
        Ok(socket)
    }

    fn serve(&mut self, socket: &UdpSocket, heartbeat: &Heartbeat) {
        let mut buffer = [0; BYTES_MAX + 1];
        while heartbeat.keep_running() {
            if self.listen.is_none() {
                heartbeat.sleep(RECEIVE_WAIT);
            } else if !self.receive(socket, &mut buffer) {
                heartbeat.sleep(FLOOD_PAUSE);
            }
            self.report(socket);
        }
    }

    /// Takes the waiting datagrams. Returns false if there may be more.
    fn receive(&mut self, socket: &UdpSocket, buffer: &mut [u8]) -> bool {
        for _ in 0..BURST {
            match socket.recv_from(buffer) {
                Ok((length, peer)) => {
                    let datagram = buffer.get(..length).unwrap_or_default();
                    self.take(datagram, peer);
                }
                // An error that an earlier answer caused, for example because nobody listens there.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(_) => return true,
            }
        }
        false
    }

    fn take(&mut self, datagram: &[u8], peer: SocketAddr) {
        self.status.lock().received += 1;
        let ip = peer.ip().to_canonical();
        let is_known = match self.from.as_slice() {
            [] => ip.is_loopback(),
            from => from.contains(&ip),
        };
        if !is_known {
            return self.refuse(peer, "this machine is not in remote.osc.from");
        }
        match messages_of(datagram, BYTES_MAX, MESSAGES_MAX) {
            Ok(messages) => messages.iter().for_each(|message| self.obey(message, peer)),
            Err(problem) => self.refuse(peer, &problem),
        }
    }

    /// Sends the command of a message to the desk. The reply goes back to the machine.
    fn obey(&mut self, message: &OscMessage, peer: SocketAddr) {
        let (command, words) = match wish_of(message) {
            Ok(Wish::Nothing) => return,
            Ok(Wish::Command(command, words)) => (*command, words),
            Err(problem) => {
                self.answer(peer, &message.addr, &problem);
                return self.refuse(peer, &problem);
            }
        };
        if let Err(problem) = self.limit.take() {
            self.answer(peer, &words, problem);
            return self.refuse(peer, problem);
        }
        let source = Source {
            kind: SourceKind::Remote,
            name: format!("OSC {}", peer.ip().to_canonical()),
        };
        let request = Request {
            id: 0,
            source,
            command,
            trust: Trust::Role,
        };
        let answers = self.answers.0.clone();
        let said = words.clone();
        let sent = self.client.send(request, move |reply| {
            let _full = answers.try_send((peer, reply_message(&said, &result_of(&reply))));
        });
        match sent {
            Ok(()) => {
                let mut status = self.status.lock();
                status.commands += 1;
                status.last_peer = peer.to_string();
            }
            Err(undelivered) => {
                self.answer(peer, &words, &undelivered.to_string());
                self.refuse(peer, &undelivered.to_string());
            }
        }
    }

    fn refuse(&self, peer: SocketAddr, problem: &str) {
        let mut status = self.status.lock();
        status.refused += 1;
        status.last_problem = format!("{peer}: {problem}")
            .chars()
            .filter(|c| !is_hidden(*c))
            .take(200)
            .collect();
    }

    fn answer(&self, peer: SocketAddr, words: &str, result: &str) {
        let _full = self
            .answers
            .0
            .try_send((peer, reply_message(words, result)));
    }

    /// Sends answers, events and the state.
    fn report(&mut self, socket: &UdpSocket) {
        while let Ok((peer, message)) = self.answers.1.try_recv() {
            self.send(socket, &message, &[peer]);
        }
        let page = self.client.events_after(self.event, Duration::ZERO);
        for event in page.events {
            self.event = event.number;
            if let Some(message) = event_message(&event.kind) {
                self.send(socket, &message, &self.send_to);
            }
        }
        if self.send_to.is_empty() {
            return;
        }
        let state = state_messages(&self.client.status());
        let is_due = self
            .state_sent
            .is_none_or(|sent| sent.elapsed() >= STATE_INTERVAL);
        for message in state
            .iter()
            .filter(|message| is_due || !self.state.contains(message))
        {
            self.send(socket, message, &self.send_to);
        }
        if is_due {
            self.state_sent = Some(Instant::now());
        }
        self.state = state;
    }

    fn send(&self, socket: &UdpSocket, message: &OscMessage, receivers: &[SocketAddr]) {
        let Ok(bytes) = encoder::encode(&OscPacket::Message(message.clone())) else {
            return;
        };
        for receiver in receivers {
            match socket.send_to(&bytes, receiver) {
                Ok(_) => self.status.lock().sent += 1,
                // Nobody listens there now. The state comes again in some seconds.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => self.status.lock().last_problem = format!("{receiver}: {error}"),
            }
        }
    }
}
