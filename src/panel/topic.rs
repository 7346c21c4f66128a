//! A channel with the newest value of one kind. It knows whether a client waits for the next value, so that a stage makes no value
//! that only clients would get that still take an earlier one.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use tokio::sync::watch;

/// Holds the newest value, and knows whether a client waits for the next one.
#[derive(Debug)]
pub(crate) struct Topic<T> {
    newest: watch::Sender<T>,
    waiting: Arc<AtomicUsize>,
}

impl<T: Default> Default for Topic<T> {
    fn default() -> Self {
        Self {
            newest: watch::Sender::default(),
            waiting: Arc::default(),
        }
    }
}

impl<T> Topic<T> {
    /// Whether a client waits for the next value.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether a client reads the topic.
    pub(crate) fn has_readers(&self) -> bool {
        self.newest.receiver_count() > 0
    }

    /// Replaces the newest value.
    pub(crate) fn send(&self, value: T) {
        self.newest.send_replace(value);
    }

    /// Returns a reader that has seen the present value.
    pub(crate) fn reader(&self) -> TopicReader<T> {
        TopicReader {
            newest: self.newest.subscribe(),
            waiting: Arc::clone(&self.waiting),
        }
    }
}

/// Reads the values of a topic for one client.
#[derive(Debug)]
pub(crate) struct TopicReader<T> {
    newest: watch::Receiver<T>,
    waiting: Arc<AtomicUsize>,
}

impl<T: Clone> TopicReader<T> {
    /// Waits for the next value. Can be dropped at any time without losing it.
    pub(crate) async fn next(&mut self) -> T {
        let _waiting = WaitingClient::new(&self.waiting);
        if self.newest.changed().await.is_err() {
            return pending().await;
        }
        self.newest.borrow_and_update().clone()
    }

    /// Waits for the next value of any reader. Can be dropped at any time without losing it.
    pub(crate) async fn next_of_any(readers: &mut [Self]) -> T {
        let waiting = readers.iter();
        let _waiting: Vec<_> = waiting
            .map(|reader| WaitingClient::new(&reader.waiting))
            .collect();
        // A future of `changed` must live until it is ready: when it is dropped, nothing wakes this task any more.
        let mut changes: Vec<_> = readers
            .iter_mut()
            .map(|reader| Some(Box::pin(reader.newest.changed())))
            .collect();
        let changed = poll_fn(|context| {
            for (index, change) in changes.iter_mut().enumerate() {
                match change.as_mut().map(|one| one.as_mut().poll(context)) {
                    Some(Poll::Ready(Ok(()))) => return Poll::Ready(index),
                    Some(Poll::Ready(Err(_))) => *change = None,
                    Some(Poll::Pending) | None => {}
                }
            }
            Poll::Pending
        })
        .await;
        drop(changes);
        readers[changed].newest.borrow_and_update().clone()
    }

    /// Waits for a value with a property, which can be the present one; `None` if the topic ends.
    pub(crate) async fn wait_for(&mut self, is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let _waiting = WaitingClient::new(&self.waiting);
        let found = self.newest.wait_for(is_wanted).await;
        found.ok().map(|value| value.clone())
    }
}

/// A client that waits. It no longer waits when this is dropped.
struct WaitingClient(Arc<AtomicUsize>);

impl WaitingClient {
    fn new(waiting: &Arc<AtomicUsize>) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(waiting))
    }
}

impl Drop for WaitingClient {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Wake, Waker};

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A client that got only pictures was not woken by them, but once a second by the check of its session.
    #[test]
    fn a_client_that_waits_for_several_topics_is_woken_by_each() {
        let topics: [Topic<u32>; 2] = Default::default();
        for (value, topic) in (1_u32..).zip(&topics) {
            let mut readers: Vec<_> = topics.iter().map(Topic::reader).collect();
            let wakes: Arc<Wakes> = Arc::default();
            let waker = Waker::from(Arc::clone(&wakes));
            let mut context = Context::from_waker(&waker);
            let mut next = Box::pin(TopicReader::next_of_any(&mut readers));
            assert!(next.as_mut().poll(&mut context).is_pending());
            assert!(topics.iter().all(Topic::is_awaited));
            topic.send(value);
            assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
            assert_eq!(next.as_mut().poll(&mut context), Poll::Ready(value));
            drop(next);
            assert!(!topics.iter().any(Topic::is_awaited));
        }
    }
}
