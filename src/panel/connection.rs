//! Limits of connections: their number, their number per address, and the time for which a client may take no data.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum_server::accept::Accept;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::access::Attempt;
use super::params::is_loopback;

/// Largest number of connections. Each may have 16 KiB of headers and 1 MiB of a body.
const CONNECTIONS_MAX: usize = 400;
/// Largest number of connections of one address, so that one device cannot take all places. Programs on this machine are not
/// limited.
const CONNECTIONS_PER_ADDRESS: usize = 64;
/// Longest time for which a client may take no data while some waits. Then the connection is closed.
const STALL_MAX: Duration = Duration::from_secs(15);

/// The places for connections.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_address: HashMap<Attempt, usize>,
}

impl Places {
    fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let key = Attempt::of_address(address);
        let mut taken = self.taken.lock();
        let own = taken.by_address.get(&key).copied().unwrap_or(0);
        let is_full = own >= CONNECTIONS_PER_ADDRESS && !is_loopback(address);
        if taken.all >= CONNECTIONS_MAX || is_full {
            return None;
        }
        taken.all += 1;
        taken.by_address.insert(key.clone(), own + 1);
        Some(Place {
            places: Arc::clone(self),
            key,
        })
    }
}

/// One of the places. Dropping it makes the place free.
#[derive(Debug)]
struct Place {
    places: Arc<Places>,
    key: Attempt,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        taken.all -= 1;
        if let Some(own) = taken.by_address.get_mut(&self.key) {
            *own -= 1;
            if *own == 0 {
                taken.by_address.remove(&self.key);
            }
        }
    }
}

/// Accepts connections that get a place, and refuses the others.
#[derive(Clone, Debug)]
pub(super) struct LimitedAcceptor<A> {
    pub(super) inner: A,
    pub(super) places: Arc<Places>,
}

/// A future of an accepted connection.
type Accepted<T, S> = Pin<Box<dyn Future<Output = io::Result<(T, S)>> + Send>>;

impl<A, S> Accept<TcpStream, S> for LimitedAcceptor<A>
where
    A: Accept<LimitedStream, S> + Clone + Send + 'static,
    A::Future: Send,
    S: Send + 'static,
{
    type Stream = A::Stream;
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
                _place: place,
            };
            inner.accept(stream, service).await
        })
    }
}

/// A connection that is closed if the client takes no data.
#[derive(Debug)]
pub(super) struct LimitedStream {
    stream: TcpStream,
    /// Runs while data waits for the client.
    stall: Option<Pin<Box<Sleep>>>,
    _place: Place,
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
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_device_cannot_take_all_places() {
        let places: Arc<Places> = Arc::default();
        let attacker = IpAddr::from([10, 0, 0, 66]);
        let mut held: Vec<Place> = (0..500).filter_map(|_| places.take(attacker)).collect();
        assert_eq!(held.len(), CONNECTIONS_PER_ADDRESS);
        assert!(places.take(IpAddr::from([10, 0, 0, 1])).is_some());
        held.truncate(held.len() - 1);
        assert!(places.take(attacker).is_some());
        let local = IpAddr::from([127, 0, 0, 1]);
        held.extend((0..500).filter_map(|_| places.take(local)));
        assert_eq!(held.len(), CONNECTIONS_MAX);
        drop(held);
        assert_eq!(places.taken.lock().by_address.len(), 0);
    }
}
