//! Limits of connections: their number, their number per address, the time for which a client may take no data, and their protocol.
//!
//! Some places are kept for addresses from which a user has logged in, and only such an address may keep a connection for long. So
//! strangers cannot lock the users out.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum_server::accept::Accept;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::access::Attempt;
use super::params::is_loopback;
use super::proxies::Proxies;
use super::tally::Tally;
use crate::control::Journal;
use crate::runtime::Fault;

/// Largest number of connections. Each may have 16 KiB of headers and 64 KiB of a body; of a user who may send commands 1 MiB.
const CONNECTIONS_MAX: usize = 400;
/// Number of these that only addresses get from which a user has logged in.
const PLACES_OF_USERS: usize = 80;
/// Largest number of connections of one address, so that one device cannot take all places. Programs on this machine and trusted
/// proxies are not limited.
const CONNECTIONS_PER_ADDRESS: usize = 64;
/// Largest number of connections of one IPv6 network.
const CONNECTIONS_PER_NETWORK: usize = 200;
/// Largest number of addresses that are remembered because a user has logged in there.
const KNOWN_MAX: usize = 1024;
/// Longest time for which an address without a login may keep a connection.
const STRANGER_MAX: Duration = Duration::from_secs(120);
/// Longest time for which a client may take no data while some waits. Then the connection is closed.
const STALL_MAX: Duration = Duration::from_secs(15);
/// First bytes of a connection of HTTP/2, which is not served: one connection would have many answers at once, of which none has to be
/// read. The library serves it to each client that begins so. **Source**: RFC 9113, section 3.4.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";

/// The places for connections.
#[derive(Debug)]
pub(crate) struct Places {
    taken: Mutex<Taken>,
    proxies: Proxies,
    /// Raised when a connection was refused because all places were taken.
    full: Mutex<Fault>,
}

#[derive(Debug, Default)]
struct Taken {
    places: Tally<Attempt>,
    /// Addresses from which a user has logged in, the one that was used last at the end.
    known: VecDeque<IpAddr>,
}

impl Places {
    pub(crate) fn new(proxies: Proxies, journal: &Journal) -> Self {
        Self {
            taken: Mutex::default(),
            proxies,
            full: Mutex::new(journal.fault("panel.connections").lasting(STRANGER_MAX)),
        }
    }

    /// Notes that a request from this address had a valid session or token.
    pub(crate) fn note_known(&self, address: IpAddr) {
        let address = address.to_canonical();
        let known = &mut self.taken.lock().known;
        if known.back() == Some(&address) {
            return;
        }
        known.retain(|other| *other != address);
        if known.len() >= KNOWN_MAX {
            known.pop_front();
        }
        known.push_back(address);
    }

    fn is_known(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.taken.lock().known.contains(&address)
    }

    /// Ends the fault about missing places if there are some.
    pub(crate) fn check(&self) {
        if self.taken.lock().places.all() < CONNECTIONS_MAX - PLACES_OF_USERS {
            self.full.lock().clear();
        }
    }

    fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let is_unlimited = is_loopback(address) || self.proxies.has(address);
        let keys = Attempt::of_address(address);
        let mut taken = self.taken.lock();
        let most = |key: &Attempt| match key {
            Attempt::Network(_) => CONNECTIONS_PER_NETWORK,
            _ => CONNECTIONS_PER_ADDRESS,
        };
        if !is_unlimited && !taken.places.has_room(&keys, most) {
            return None;
        }
        let reserved = match taken.known.contains(&address.to_canonical()) {
            true => 0,
            false => PLACES_OF_USERS,
        };
        if taken.places.all() >= CONNECTIONS_MAX - reserved {
            let message = format!(
                "all {} places for connections without a login are taken; look for the device that holds them",
                CONNECTIONS_MAX - PLACES_OF_USERS
            );
            drop(taken);
            self.full.lock().raise(&message);
            return None;
        }
        taken.places.take(&keys);
        Some(Place {
            places: Arc::clone(self),
            address,
            since: Instant::now(),
            keys,
        })
    }
}

/// One of the places. Dropping it makes the place free.
#[derive(Debug)]
struct Place {
    places: Arc<Places>,
    address: IpAddr,
    since: Instant,
    keys: Vec<Attempt>,
}

impl Place {
    /// Whether the connection has lasted for too long without a login.
    fn is_over(&self) -> bool {
        self.since.elapsed() > STRANGER_MAX && !self.places.is_known(self.address)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.lock().places.give_back(&self.keys);
    }
}

/// Accepts connections that get a place, and refuses the others.
#[derive(Clone, Debug)]
pub(super) struct LimitedAcceptor<A> {
    pub(super) inner: A,
    pub(super) places: Arc<Places>,
}

/// A future of an accepted connection.
type Accepted<T, S> = Pin<Box<dyn Future<Output = io::Result<(Http1Stream<T>, S)>> + Send>>;

impl<A, S> Accept<TcpStream, S> for LimitedAcceptor<A>
where
    A: Accept<LimitedStream, S> + Clone + Send + 'static,
    A::Future: Send,
    S: Send + 'static,
{
    type Stream = Http1Stream<A::Stream>;
    type Service = A::Service;
    type Future = Accepted<A::Stream, A::Service>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let inner = self.inner.clone();
        let places = Arc::clone(&self.places);
        Box::pin(async move {
            let place = places.take(stream.peer_addr()?.ip());
            let Some(place) = place else {
                return Err(io::Error::other("too many connections"));
            };
            stream.set_nodelay(true)?;
            let stream = LimitedStream {
                stream,
                stall: None,
                place,
            };
            let (stream, service) = inner.accept(stream, service).await?;
            Ok((Http1Stream { stream, known: 0 }, service))
        })
    }
}

/// A connection that is closed if the client takes no data.
#[derive(Debug)]
pub(super) struct LimitedStream {
    stream: TcpStream,
    /// Runs while data waits for the client.
    stall: Option<Pin<Box<Sleep>>>,
    place: Place,
}

impl LimitedStream {
    /// Passes the result of a write on. Returns an error if the client has taken nothing for too long.
    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let stall = self
            .stall
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL_MAX)));
        ready!(stall.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.place.is_over() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.limit(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.limit(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

/// A connection whose client speaks HTTP/1: one that begins with HTTP/2 is closed.
#[derive(Debug)]
pub(super) struct Http1Stream<S> {
    stream: S,
    /// Number of bytes of [`HTTP2_PREFACE`] that have come; its length when another byte has come.
    known: usize,
}

impl<S> Http1Stream<S> {
    /// Looks at the next bytes. Returns false if the connection begins with HTTP/2.
    fn admits(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match HTTP2_PREFACE.get(self.known) {
                None => return true,
                Some(next) if next != byte => self.known = HTTP2_PREFACE.len(),
                Some(_) => {
                    self.known += 1;
                    if self.known == HTTP2_PREFACE.len() {
                        return false;
                    }
                }
            }
        }
        true
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Http1Stream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let bytes = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(match this.admits(bytes) {
            true => Ok(()),
            false => Err(io::Error::other("HTTP/2 is not served")),
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Http1Stream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> (Arc<Places>, Journal) {
        let journal = Journal::default();
        let proxies = Proxies::new(&["10.0.0.9".to_owned()]);
        (Arc::new(Places::new(proxies, &journal)), journal)
    }

    #[test]
    fn one_device_cannot_take_all_places() {
        let (places, _) = places();
        for (attacker, most) in [
            ("10.0.0.66", CONNECTIONS_PER_ADDRESS),
            ("fe80::66", CONNECTIONS_PER_ADDRESS),
        ] {
            let attacker: IpAddr = attacker.parse().unwrap();
            let mut held: Vec<Place> = (0..500).filter_map(|_| places.take(attacker)).collect();
            assert_eq!(held.len(), most);
            for other in ["10.0.0.1", "fe80::1"] {
                assert!(places.take(other.parse().unwrap()).is_some(), "{other}");
            }
            held.truncate(held.len() - 1);
            assert!(places.take(attacker).is_some());
        }
        let network = (0..400_u16).map(|n| format!("fe80::{n:x}").parse().unwrap());
        let held: Vec<Place> = network.filter_map(|host| places.take(host)).collect();
        assert_eq!(held.len(), CONNECTIONS_PER_NETWORK);
        drop(held);
        assert!(places.taken.lock().places.is_empty());
    }

    /// A fixed bug: strangers that kept all connections locked the users out, and nothing said so.
    #[test]
    fn strangers_leave_places_for_users_and_full_places_are_a_fault() {
        let (places, journal) = places();
        let [proxy, user] = ["10.0.0.9", "10.0.0.1"].map(|text| text.parse::<IpAddr>().unwrap());
        let mut held: Vec<Place> = (0..500).filter_map(|_| places.take(proxy)).collect();
        assert_eq!(held.len(), CONNECTIONS_MAX - PLACES_OF_USERS);
        assert!(places.take(user).is_none());
        assert_eq!(journal.faults()[0].name, "panel.connections");
        places.note_known(user);
        held.extend(places.take(user));
        assert_eq!(held.len(), CONNECTIONS_MAX - PLACES_OF_USERS + 1);
        for n in 0..2 * KNOWN_MAX as u32 {
            places.note_known(IpAddr::from(n.to_be_bytes()));
        }
        assert_eq!(places.taken.lock().known.len(), KNOWN_MAX);
    }
}
