//! The link over zenoh.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::query::Query;
use zenoh::sample::{Locality, Sample};
use zenoh::{Session, Wait as _};

use super::link::{Answer, Link, LinkError, LinkPlace, LinkSecurity, Receive};
use super::zenoh_settings::zenoh_settings;

/// Longest wait for an answer of another node.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

/// A link to the other nodes of a hall: a zenoh session that only members can use.
pub struct ZenohLink {
    place: LinkPlace,
    /// `None` while it is opened again, and after a failure of that.
    session: RwLock<Option<Session>>,
    /// What was subscribed and answered, for the next session.
    receivers: Mutex<Receivers>,
}

#[derive(Default)]
struct Receivers {
    subscriptions: Vec<(String, Arc<Receive>)>,
    answers: Vec<(String, Arc<Answer>)>,
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
            receivers: Mutex::default(),
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

fn answer(session: &Session, key: &str, answer: &Arc<Answer>) -> zenoh::Result<()> {
    let answer = Arc::clone(answer);
    let reply = move |query: Query| {
        let question = query.payload().map(|payload| payload.to_bytes());
        let key = query.key_expr().clone();
        let reply = answer(within_hall(key.as_str()), &question.unwrap_or_default());
        if let Err(error) = query.reply(key, reply).wait() {
            tracing::debug!("hall: an answer was not sent: {error}");
        }
    };
    let queryable = session.declare_queryable(key).callback(reply);
    queryable.background().wait()
}

impl Link for ZenohLink {
    fn publish(&self, key: &str, payload: &[u8]) -> Result<(), LinkError> {
        self.with_session(|session| {
            // The stream of ticks finds gaps, so a slow node must not hold up the sender.
            let put = session.put(self.key(key), payload);
            let put = put.congestion_control(CongestionControl::Drop);
            put.priority(Priority::RealTime).express(true).wait()
        })
    }

    fn subscribe(&self, pattern: &str, receive: Receive) -> Result<(), LinkError> {
        let (key, receive) = (self.key(pattern), Arc::new(receive));
        // Held until both are done, so that `renew` misses no subscription.
        let mut receivers = self.receivers.lock();
        self.with_session(|session| subscribe(session, &key, &receive))?;
        receivers.subscriptions.push((key, receive));
        Ok(())
    }

    fn ask(&self, key: &str, payload: &[u8], receive: Receive) -> Result<(), LinkError> {
        self.with_session(|session| {
            let note = move |reply: zenoh::query::Reply| {
                if let Ok(sample) = reply.result() {
                    let key = within_hall(sample.key_expr().as_str());
                    receive(key, &sample.payload().to_bytes());
                }
            };
            let get = session.get(self.key(key)).payload(payload);
            let get = get.allowed_destination(Locality::Remote);
            get.timeout(ANSWER_WAIT).callback(note).wait()
        })
    }

    fn answer(&self, pattern: &str, reply: Answer) -> Result<(), LinkError> {
        let (key, reply) = (self.key(pattern), Arc::new(reply));
        let mut receivers = self.receivers.lock();
        self.with_session(|session| answer(session, &key, &reply))?;
        receivers.answers.push((key, reply));
        Ok(())
    }

    fn renew(&self, security: &LinkSecurity) -> Result<(), LinkError> {
        let receivers = self.receivers.lock();
        let old = self.session.write().take();
        if let Some(Err(error)) = old.map(|old| old.close().wait()) {
            tracing::debug!("hall: the old session was not closed: {error}");
        }
        let session = open(&self.place, security)?;
        let declared = || {
            for (key, receive) in &receivers.subscriptions {
                subscribe(&session, key, receive)?;
            }
            for (key, reply) in &receivers.answers {
                answer(&session, key, reply)?;
            }
            Ok::<_, zenoh::Error>(())
        };
        declared().map_err(|error| LinkError::Open(error.to_string()))?;
        *self.session.write() = Some(session);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
