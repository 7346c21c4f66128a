//! The link over zenoh.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use zenoh::qos::CongestionControl;
use zenoh::sample::{Locality, Sample};
use zenoh::{Session, Wait as _};

use super::link::{Link, LinkError, LinkPlace, LinkSecurity, Receive};
use super::zenoh_settings::zenoh_settings;

/// A link to the other nodes of a hall: a zenoh session that only members can use.
pub struct ZenohLink {
    place: LinkPlace,
    /// `None` while it is opened again, and after a failure of that.
    session: RwLock<Option<Session>>,
    /// The subscriptions, for the next session: key and receiver.
    subscriptions: Mutex<Vec<(String, Arc<Receive>)>>,
}

impl ZenohLink {
    /// Opens the link.
    ///
    /// # Errors
    /// If the own address cannot be used, or the keys are damaged.
    pub fn open(place: LinkPlace, security: &LinkSecurity) -> Result<Self, LinkError> {
        let session = open(&place, security)?;
        Ok(Self {
            place,
            session: RwLock::new(Some(session)),
            subscriptions: Mutex::default(),
        })
    }

    fn key(&self, key: &str) -> String {
        format!("shoal/{}/{key}", self.place.hall)
    }

    /// Runs `send` with the session.
    fn with_session(
        &self,
        send: impl FnOnce(&Session) -> zenoh::Result<()>,
    ) -> Result<(), LinkError> {
        // A copy, so that no lock is held while receivers run.
        let session = self.session.read().clone();
        match session {
            Some(session) => send(&session).map_err(|error| LinkError::Send(error.to_string())),
            None => Err(LinkError::Send("the link is closed".to_owned())),
        }
    }
}

fn open(place: &LinkPlace, security: &LinkSecurity) -> Result<Session, LinkError> {
    let settings = zenoh_settings(place, security)?;
    let session = zenoh::open(settings).wait();
    session.map_err(|error| LinkError::Open(format!("{}: {error}", place.listen)))
}

/// Returns the part of a key after the name of the hall.
fn within_hall(key: &str) -> &str {
    key.splitn(3, '/').nth(2).unwrap_or_default()
}

fn subscribe(session: &Session, key: &str, receive: &Arc<Receive>) -> zenoh::Result<()> {
    let receive = Arc::clone(receive);
    let note = move |sample: Sample| {
        let payload = sample.payload().to_bytes();
        receive(within_hall(sample.key_expr().as_str()), &payload);
    };
    let subscriber = session.declare_subscriber(key).callback(note);
    // A node knows what it publishes.
    let subscriber = subscriber.allowed_origin(Locality::Remote);
    subscriber.background().wait()
}

impl Link for ZenohLink {
    fn publish(&self, key: &str, payload: &[u8]) -> Result<(), LinkError> {
        self.with_session(|session| {
            // A node that reads slowly loses messages, and makes no other node wait.
            let put = session.put(self.key(key), payload);
            let put = put.congestion_control(CongestionControl::Drop);
            put.express(true).wait()
        })
    }

    fn subscribe(&self, pattern: &str, receive: Receive) -> Result<(), LinkError> {
        let (key, receive) = (self.key(pattern), Arc::new(receive));
        // Held until both are done, so that `renew` misses no subscription.
        let mut subscriptions = self.subscriptions.lock();
        self.with_session(|session| subscribe(session, &key, &receive))?;
        subscriptions.push((key, receive));
        Ok(())
    }

    fn renew(&self, security: &LinkSecurity) -> Result<(), LinkError> {
        let subscriptions = self.subscriptions.lock();
        let old = self.session.write().take();
        if let Some(Err(error)) = old.map(|old| old.close().wait()) {
            tracing::debug!("hall: the old session was not closed: {error}");
        }
        let session = open(&self.place, security)?;
        for (key, receive) in subscriptions.iter() {
            let subscribed = subscribe(&session, key, receive);
            subscribed.map_err(|error| LinkError::Open(error.to_string()))?;
        }
        *self.session.write() = Some(session);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
