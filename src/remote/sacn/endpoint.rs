//! The thread that receives the channels.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::super::commands::{CommandLimit, check_operator, command_of, result_of};
use super::super::datagram::{is_allowed, receive_burst};
use super::super::params::SacnParams;
use super::codec::{BYTES_MAX, Sources, data_of};
use super::fixture::{CHANNELS, Fixture};
use crate::control::{DeskClient, Outcome, Request, ShowControlStatus, Source, SourceKind, Trust};
use crate::runtime::{Fault, Heartbeat};

/// Longest wait for a datagram. A channel settles within two of them.
const RECEIVE_WAIT: Duration = Duration::from_millis(50);
/// Pause before the address is tried again.
const BIND_PAUSE: Duration = Duration::from_secs(2);

/// Commands by sACN, from the start of the program to its end.
pub struct SacnEndpoint {
    listen: SocketAddr,
    from: Vec<IpAddr>,
    universe: u16,
    /// Index of the first channel.
    first: usize,
    fixture: Fixture,
    sources: Sources,
    client: DeskClient,
    status: Arc<Mutex<ShowControlStatus>>,
    fault: Fault,
    limit: CommandLimit,
}

impl SacnEndpoint {
    /// Returns the endpoint of a site; `None` if the site does not receive. `fault` is active while the address cannot be used.
    pub fn new(
        params: &SacnParams,
        client: DeskClient,
        status: Arc<Mutex<ShowControlStatus>>,
        fault: Fault,
    ) -> Option<Self> {
        let listen: SocketAddr = params.listen.as_deref()?.parse().ok()?;
        status.lock().listen = listen.to_string();
        let parsed = |text: &String| text.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
        Some(Self {
            listen,
            from: params.from.iter().filter_map(parsed).collect(),
            universe: params.universe,
            first: usize::from(params.channel.saturating_sub(1)),
            fixture: Fixture::new(params),
            sources: Sources::default(),
            client,
            status,
            fault,
            limit: CommandLimit::default(),
        })
    }

    /// Works until the program ends. An address that cannot be used is a fault and is tried again.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        let mut buffer = [0; BYTES_MAX + 1];
        while heartbeat.keep_running() {
            match self.bind() {
                Ok(socket) => {
                    self.fault.clear();
                    while heartbeat.keep_running() {
                        let pause = receive_burst(&socket, &mut buffer, |datagram, peer| {
                            self.take(datagram, peer);
                        });
                        heartbeat.sleep(pause);
                        self.obey();
                    }
                }
                Err(error) => {
                    self.fault.raise(&format_args!(
                        "sACN: {} cannot be used ({error}); close the other program that uses it, or correct remote.sacn.listen",
                        self.listen
                    ));
                    heartbeat.sleep(BIND_PAUSE);
                }
            }
        }
    }

    /// Desks send to a multicast address, which only a socket without an address of its own receives.
    fn bind(&self) -> io::Result<UdpSocket> {
        let socket = match self.listen {
            SocketAddr::V4(listen) if !listen.ip().is_loopback() => {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, listen.port()))?;
                let [high, low] = self.universe.to_be_bytes();
                socket.join_multicast_v4(&Ipv4Addr::new(239, 255, high, low), listen.ip())?;
                socket
            }
            listen => UdpSocket::bind(listen)?,
        };
        socket.set_read_timeout(Some(RECEIVE_WAIT))?;
        Ok(socket)
    }

    fn take(&mut self, datagram: &[u8], peer: SocketAddr) {
        self.status.lock().received += 1;
        if let Err(problem) = self.apply(datagram, peer) {
            self.status.lock().refuse(peer, problem);
        }
    }

    fn apply(&mut self, datagram: &[u8], peer: SocketAddr) -> Result<(), &'static str> {
        if !is_allowed(&self.from, peer) {
            return Err("this machine is not in remote.sacn.from");
        }
        let Some(data) = data_of(datagram)? else {
            return Ok(());
        };
        if data.universe != self.universe {
            return Ok(());
        }
        let now = Instant::now();
        if self.sources.take(&data, now)? {
            let channels = data
                .channels
                .get(self.first..)
                .and_then(<[u8]>::first_chunk);
            let channels: &[u8; CHANNELS] =
                channels.ok_or("fewer channels than the fixture has")?;
            self.fixture.set(*channels, now);
            self.status.lock().last_peer = peer.to_string();
        }
        Ok(())
    }

    /// Sends the commands of settled channels to the desk.
    fn obey(&mut self) {
        for words in self.fixture.commands(Instant::now()) {
            let said = words.join(" ");
            if let Err(problem) = self.send(&words) {
                self.status.lock().refuse(said, &problem);
            }
        }
    }

    fn send(&mut self, words: &[String]) -> Result<(), String> {
        let command = command_of(words)?;
        check_operator(&command, words)?;
        self.limit.take()?;
        let request = Request {
            id: 0,
            source: Source {
                kind: SourceKind::Remote,
                name: "sACN".to_owned(),
            },
            command,
            trust: Trust::Role,
        };
        let (status, said) = (Arc::clone(&self.status), words.join(" "));
        let sent = self.client.send(request, move |reply| {
            if !matches!(reply.result, Outcome::Applied { .. }) {
                status.lock().refuse(said, &result_of(&reply));
            }
        });
        sent.map_err(|undelivered| undelivered.to_string())?;
        self.status.lock().commands += 1;
        Ok(())
    }
}
