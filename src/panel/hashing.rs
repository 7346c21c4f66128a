//! The queue for slow hashes. Each needs 19 MiB and a core for some 30 ms, so they are computed one after the other, and few may wait.
//!
//! Each address, each user's devices and each user's sessions have a share of the places, and strangers together have half of them. So
//! no client keeps the others from logging in. Must not: know what is hashed.

use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::access::{Attempt, NoSecret, SecretHash, account_key};
use super::error::ApiError;
use super::tally::Tally;

/// Number of hashes at the same time.
const AT_ONCE: usize = 1;
/// Number of places, with those of the hashes that are being computed.
const PLACES: usize = 24;
/// Number of these that clients may take from which no user has logged in before.
const PLACES_OF_STRANGERS: usize = 10;

/// What a client shares its places with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Share {
    /// All clients from which no user has logged in before.
    Strangers,
    /// The same address, or the same IPv6 network.
    Place(Attempt),
    /// The known devices of a user.
    DevicesOf(String),
    /// The sessions of a user.
    SessionsOf(String),
    /// The same session.
    Session(SecretHash),
}

impl Share {
    /// Largest number of places.
    fn most(&self) -> usize {
        match self {
            Self::Strangers => PLACES_OF_STRANGERS,
            Self::Place(Attempt::Network(_)) => 6,
            Self::Place(_) | Self::DevicesOf(_) => 3,
            Self::SessionsOf(_) => 4,
            Self::Session(_) => 2,
        }
    }
}

/// A client that waits for a hash.
#[derive(Clone, Debug)]
pub(crate) struct HashClient(Vec<Share>);

impl HashClient {
    /// A client from which no user has logged in before.
    pub(crate) fn stranger(address: IpAddr) -> Self {
        let places = Attempt::of_address(address).into_iter().map(Share::Place);
        Self(places.chain([Share::Strangers]).collect())
    }

    /// A device on which this user has logged in before.
    pub(crate) fn device_of(user: &str) -> Self {
        Self(vec![Share::DevicesOf(account_key(user))])
    }

    /// A session of this user.
    pub(crate) fn session_of(user: &str, session: SecretHash) -> Self {
        let user = Share::SessionsOf(account_key(user));
        Self(vec![user, Share::Session(session)])
    }
}

/// The queue.
#[derive(Debug)]
pub(crate) struct HashQueue {
    turn: Arc<Semaphore>,
    taken: Mutex<Tally<Share>>,
}

/// A place in the queue. Dropping it makes the place free.
struct Place<'q> {
    queue: &'q HashQueue,
    shares: Vec<Share>,
}

impl Default for HashQueue {
    fn default() -> Self {
        Self {
            turn: Arc::new(Semaphore::new(AT_ONCE)),
            taken: Mutex::default(),
        }
    }
}

impl HashQueue {
    /// Computes a slow hash beside the other requests.
    ///
    /// # Errors
    /// When too many wait already.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        client: HashClient,
        hash: impl FnOnce() -> Result<T, NoSecret> + Send + 'static,
    ) -> Result<T, ApiError> {
        let busy = || ApiError::busy("too many logins at once; try again in a moment");
        let _place = self.place(client).ok_or_else(busy)?;
        let turn = Arc::clone(&self.turn).acquire_owned().await;
        let turn = turn.map_err(|_| busy())?;
        let computed = tokio::task::spawn_blocking(move || {
            // A client that is gone does not end the hash, so the next one waits for it.
            let _turn = turn;
            hash()
        });
        Ok(computed.await.map_err(|_| NoSecret)??)
    }

    fn place(&self, client: HashClient) -> Option<Place<'_>> {
        let mut taken = self.taken.lock();
        if taken.all() >= PLACES || !taken.has_room(&client.0, Share::most) {
            return None;
        }
        taken.take(&client.0);
        Some(Place {
            queue: self,
            shares: client.0,
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.queue.taken.lock().give_back(&self.shares);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger(address: &str) -> HashClient {
        HashClient::stranger(address.parse().unwrap())
    }

    /// A fixed bug: one client that logged in again and again took all places, so that others could not log in.
    #[test]
    fn no_client_takes_the_places_of_the_others() {
        let queue = HashQueue::default();
        let mut places = Vec::new();
        let mut fill = |client: &HashClient| {
            let own = std::iter::from_fn(|| queue.place(client.clone()));
            let own: Vec<_> = own.collect();
            let count = own.len();
            places.extend(own);
            count
        };
        assert_eq!(fill(&stranger("10.0.0.66")), 3);
        // A whole IPv6 network is one neighbor.
        let network = (0..50).map(|n| fill(&stranger(&format!("fd00::{n:x}"))));
        assert_eq!(network.sum::<usize>(), 6);
        let others = (0..50).map(|n| fill(&stranger(&format!("10.0.1.{n}"))));
        assert_eq!(others.sum::<usize>(), 1, "strangers leave places to users");
        for user in ["eve", "mallory"] {
            assert_eq!(fill(&HashClient::device_of(user)), 3);
            let sessions = (0..20).map(|n| fill(&HashClient::session_of(user, [n; 32])));
            assert_eq!(sessions.sum::<usize>(), 4);
        }
        drop(places);
        assert!(queue.taken.lock().is_empty());
        let queue = HashQueue::default();
        let _many: Vec<_> = (0..50)
            .filter_map(|n| queue.place(stranger(&format!("10.0.1.{n}"))))
            .collect();
        assert!(queue.place(HashClient::device_of("ada")).is_some());
        assert!(
            queue
                .place(HashClient::session_of("ada", [7; 32]))
                .is_some()
        );
    }
}
