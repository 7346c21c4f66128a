//! The requests and streams of each user and token that are going on, which are limited: one user with many connections, for example
//! through a proxy, leaves connections to the others.

use std::sync::Arc;

use parking_lot::Mutex;

use super::access::Identity;
use super::error::ApiError;
use super::tally::Tally;

/// Largest number of requests and streams of one user or token at the same time. A page has one stream and at most six requests.
const PER_USER: usize = 48;
/// Largest number of streams among them. Each is encoded and sent to on the one thread of the server.
const STREAMS_PER_USER: usize = 20;

/// What is counted of a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Counted {
    /// Requests and streams.
    Request(String),
    /// Streams.
    Stream(String),
}

impl Counted {
    fn most(&self) -> usize {
        match self {
            Self::Request(_) => PER_USER,
            Self::Stream(_) => STREAMS_PER_USER,
        }
    }
}

/// All requests and streams that are going on.
#[derive(Debug, Default)]
pub(crate) struct UserRequests(Mutex<Tally<Counted>>);

/// A request or stream of a user. Dropping it ends the count.
#[derive(Debug)]
pub(crate) struct UserRequest {
    all: Arc<UserRequests>,
    key: Counted,
}

impl UserRequests {
    /// Counts a request.
    ///
    /// # Errors
    /// When too many of this user are going on.
    pub(crate) fn begin(self: &Arc<Self>, identity: &Identity) -> Result<UserRequest, ApiError> {
        self.take(Counted::Request(identity.shown()))
    }

    /// Counts a stream, beside its request.
    ///
    /// # Errors
    /// When too many of this user are going on.
    pub(crate) fn stream(self: &Arc<Self>, identity: &Identity) -> Result<UserRequest, ApiError> {
        self.take(Counted::Stream(identity.shown()))
    }

    fn take(self: &Arc<Self>, key: Counted) -> Result<UserRequest, ApiError> {
        let mut tally = self.0.lock();
        let keys = std::slice::from_ref(&key);
        if !tally.has_room(keys, Counted::most) {
            let what = match key {
                Counted::Request(_) => "requests and streams",
                Counted::Stream(_) => "streams",
            };
            let most = key.most();
            return Err(ApiError::busy(format!(
                "{most} {what} of this user are going on; close some of its pages"
            )));
        }
        tally.take(keys);
        drop(tally);
        let all = Arc::clone(self);
        Ok(UserRequest { all, key })
    }
}

impl Drop for UserRequest {
    fn drop(&mut self) {
        self.all.0.lock().give_back(std::slice::from_ref(&self.key));
    }
}
