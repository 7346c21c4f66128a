//! Notices that the program did not run for some seconds: it was stopped, or its virtual machine was paused.
//!
//! What clients sent in that time is read at once when the program runs again. A press of that time must not take effect then: the page
//! has said long ago that Shoal does not answer.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::runtime::AwakeClock;

/// If the program did not run for at least this time, requests that were sent in that time are not carried out. The page says after five
/// seconds that Shoal does not answer.
const STOP_MIN: Duration = Duration::from_secs(4);
/// Time after a stop in which requests of before may still be read.
const OLD_REQUESTS: Duration = Duration::from_secs(2);

/// Watches whether the program runs. Somebody has to ask it several times a second.
pub(crate) struct StopWatch(Mutex<(AwakeClock, Option<Instant>)>);

impl StopWatch {
    pub(crate) fn start_at(now: Instant) -> Self {
        Self(Mutex::new((AwakeClock::start_at(now), None)))
    }

    /// Whether a request that is read at the time `now` may be from before a stop.
    pub(crate) fn is_after_stop(&self, now: Instant) -> bool {
        let (clock, ended) = &mut *self.0.lock();
        // The clock counts up to a second of each gap.
        if clock.advance(now) + Duration::from_secs(1) >= STOP_MIN {
            *ended = Some(now);
        }
        ended.is_some_and(|ended| now.saturating_duration_since(ended) < OLD_REQUESTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: a press while the program was stopped closed the pool half a minute later, after the page had said that Shoal does not
    /// answer.
    #[test]
    fn a_request_of_before_a_stop_is_told_from_a_later_one() {
        let begin = Instant::now();
        let watch = StopWatch::start_at(begin);
        let at = |ms: u64| watch.is_after_stop(begin + Duration::from_millis(ms));
        assert!((0..20).all(|step| !at(step * 250)), "it runs");
        assert!(!at(7_000), "a busy machine");
        assert!(at(40_000), "the first thing that runs after the stop");
        assert!(at(40_100) && at(41_900));
        assert!(!at(42_100));
    }
}
