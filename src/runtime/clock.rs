//! The machine's monotonic clock, in a form that two processes can compare, and a clock for time limits. Only the modules
//! `camera` and `app` read a clock.

use std::time::{Duration, Instant};

/// Longest time between two readings of an [`AwakeClock`] that counts in full. Much longer than the pauses of a busy machine
/// between two checks of a time limit, and much shorter than every time limit.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// A clock that advances only while its owner reads it regularly, at least once per second. Time limits use it, so that they do
/// not expire because the program did not run: it was stopped (SIGSTOP, a debugger), or its virtual machine was paused.
///
/// The monotonic clock alone is not enough. On Linux it stops while the machine is suspended (CLOCK_BOOTTIME would advance), but
/// it advances while a program or a virtual machine is stopped.
#[derive(Clone, Copy, Debug)]
pub struct AwakeClock {
    last: Instant,
    awake: Duration,
}

impl AwakeClock {
    /// Starts the clock at 0.
    pub fn start() -> Self {
        Self::start_at(Instant::now())
    }

    /// Starts the clock at 0 at the time `now`.
    pub fn start_at(now: Instant) -> Self {
        Self {
            last: now,
            awake: Duration::ZERO,
        }
    }

    /// Reads the clock at the time `now`. Returns the time since the last reading in which the program did not run; zero if the
    /// clock was read regularly.
    pub fn advance(&mut self, now: Instant) -> Duration {
        let gap = now.saturating_duration_since(self.last);
        let counted = gap.min(LONGEST_GAP);
        self.last = now;
        self.awake += counted;
        gap - counted
    }

    /// Time on the clock at the last reading.
    pub fn awake(&self) -> Duration {
        self.awake
    }

    /// Reads the clock and returns its time.
    pub fn elapsed(&mut self) -> Duration {
        self.advance(Instant::now());
        self.awake
    }
}

/// Returns the time for which processors worked for this process, all threads together. `None` where the system does not say.
pub fn processor_secs() -> Option<f64> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
    }
    #[cfg(not(unix))]
    None
}

/// Returns the time of the system's monotonic clock, in nanoseconds. A change of the date or time of day does not affect this
/// clock. Drivers use the same clock for the timestamps of frames.
#[cfg(unix)]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns the time since the first call in this process, in nanoseconds. On this system, safe Rust cannot read a clock that
/// two processes share. The receiver therefore rejects the timestamps of another process and uses the time of arrival instead.
#[cfg(not(unix))]
pub fn monotonic_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START
        .get_or_init(std::time::Instant::now)
        .elapsed()
        .as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_clock_is_not_read_counts_at_most_one_second() {
        let mut now = Instant::now();
        let mut clock = AwakeClock::start_at(now);
        for _ in 0..100 {
            now += Duration::from_millis(50);
            assert_eq!(clock.advance(now), Duration::ZERO);
        }
        assert_eq!(clock.awake(), Duration::from_secs(5));
        now += Duration::from_secs(66);
        assert_eq!(clock.advance(now), Duration::from_secs(65));
        assert_eq!(clock.awake(), Duration::from_secs(6));
        let earlier = now - Duration::from_secs(1);
        // A clock never goes back.
        assert_eq!(clock.advance(earlier), Duration::ZERO);
        assert_eq!(clock.awake(), Duration::from_secs(6));
    }
}
