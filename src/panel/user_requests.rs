//! The requests and streams of each user and token that are going on, which are limited: one user with many connections, for example
//! through a proxy, leaves connections to the others.

use std::sync::Arc;

use parking_lot::Mutex;

use super::access::Identity;
use super::error::ApiError;
use super::tally::Tally;

/// Largest number of requests and streams of one user or token at the same time. A page has one stream and at most six requests.
const PER_USER: usize = 48;

/// All requests and streams that are going on.
#[derive(Debug, Default)]
pub(crate) struct UserRequests(Mutex<Tally<String>>);

/// A request or stream of a user. Dropping it ends the count.
#[derive(Debug)]
pub(crate) struct UserRequest {
    all: Arc<UserRequests>,
    user: String,
}

impl UserRequests {
    /// Counts a request.
    ///
    /// # Errors
    /// When too many of this user are going on.
    pub(crate) fn begin(self: &Arc<Self>, identity: &Identity) -> Result<UserRequest, ApiError> {
        let user = identity.shown();
        let mut tally = self.0.lock();
        let keys = std::slice::from_ref(&user);
        if !tally.has_room(keys, |_| PER_USER) {
            return Err(ApiError::busy(format!(
                "{PER_USER} requests and streams of this user are going on; close some of its pages"
            )));
        }
        tally.take(keys);
        drop(tally);
        Ok(UserRequest {
            all: Arc::clone(self),
            user,
        })
    }
}

impl Drop for UserRequest {
    fn drop(&mut self) {
        self.all
            .0
            .lock()
            .give_back(std::slice::from_ref(&self.user));
    }
}
