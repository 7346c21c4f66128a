//! The thread that receives commands and sends what happens.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rosc::{OscMessage, OscPacket, encoder};

use super::super::commands::{CommandLimit, result_of};
use super::super::datagram::{is_allowed, messages_of, receive_burst};
use super::super::params::OscParams;
use super::report::{event_message, reply_message, state_messages};
use super::words::{SUBSCRIBE, Wish, wish_of};
use crate::control::{DeskClient, Request, ShowControlStatus, Source, SourceKind, Trust};
use crate::runtime::{Fault, Heartbeat};

/// Longest datagram, in bytes: what fits into an Ethernet frame.
pub(super) const BYTES_MAX: usize = 1472;
/// Largest number of messages in a bundle.
pub(super) const MESSAGES_MAX: usize = 64;
/// Longest wait for a datagram. Events are sent so often.
const RECEIVE_WAIT: Duration = Duration::from_millis(50);
/// Time between two reports of the whole state. A change is reported at once.
const STATE_INTERVAL: Duration = Duration::from_secs(5);
/// Pause before the address is tried again.
const BIND_PAUSE: Duration = Duration::from_secs(2);
/// Largest number of answers that wait for the thread. Further ones are lost, as datagrams can be.
const REPLIES_MAX: usize = 64;

/// Time of a subscription, and the largest number of them.
const SUBSCRIPTION_TIME: Duration = Duration::from_secs(60);
const SUBSCRIBERS_MAX: usize = 16;

/// An answer for a machine.
type Answer = (SocketAddr, OscMessage);

/// Show control by OSC, from the start of the program to its end.
pub struct OscEndpoint {
    listen: Option<SocketAddr>,
    from: Vec<IpAddr>,
    send_to: Vec<SocketAddr>,
    /// Machines that asked for messages, with the end of their subscriptions.
    subscribers: Vec<(SocketAddr, Instant)>,
    client: DeskClient,
    status: Arc<Mutex<ShowControlStatus>>,
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
        status: Arc<Mutex<ShowControlStatus>>,
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
            subscribers: Vec::new(),
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
            let pause = match self.listen {
                None => RECEIVE_WAIT,
                Some(_) => receive_burst(socket, &mut buffer, |datagram, peer| {
                    self.take(datagram, peer);
                }),
            };
            heartbeat.sleep(pause);
            self.report(socket);
        }
    }

    fn take(&mut self, datagram: &[u8], peer: SocketAddr) {
        self.status.lock().received += 1;
        if !is_allowed(&self.from, peer) {
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
            Ok(Wish::Subscribe(port)) => return self.subscribe(peer, port),
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

    fn subscribe(&mut self, peer: SocketAddr, port: Option<u16>) {
        let to = SocketAddr::new(peer.ip(), port.unwrap_or(peer.port()));
        let until = Instant::now() + SUBSCRIPTION_TIME;
        let is_new = self.subscribers.iter().all(|(known, _)| *known != to);
        if is_new && self.subscribers.len() == SUBSCRIBERS_MAX {
            self.answer(peer, SUBSCRIBE, "too many machines subscribe");
            return self.refuse(peer, "too many machines subscribe");
        }
        if is_new {
            self.state_sent = None;
        }
        self.subscribers.retain(|(known, _)| *known != to);
        self.subscribers.push((to, until));
        self.answer(peer, SUBSCRIBE, "applied");
    }

    fn refuse(&self, peer: SocketAddr, problem: &str) {
        self.status.lock().refuse(peer, problem);
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
        let now = Instant::now();
        self.subscribers.retain(|(_, until)| *until > now);
        let subscribers = self.subscribers.iter().map(|(to, _)| *to);
        let receivers: Vec<_> = self.send_to.iter().copied().chain(subscribers).collect();
        let page = self.client.events_after(self.event, Duration::ZERO);
        for event in page.events {
            self.event = event.number;
            if let Some(message) = event_message(&event.kind) {
                self.send(socket, &message, &receivers);
            }
        }
        if receivers.is_empty() {
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
            self.send(socket, message, &receivers);
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
