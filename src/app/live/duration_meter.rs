//! Measures durations, such as the latency of a frame, and summarizes the latest ones.

use std::time::Duration;

use parking_lot::Mutex;

/// Number of durations that are kept. At 120 frames per second this is more than a minute.
const KEPT: usize = 8192;

/// The latest durations of one kind.
#[derive(Debug, Default)]
pub struct DurationMeter {
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    secs: Vec<f32>,
    next: usize,
    count: u64,
}

/// Summary of a [`DurationMeter`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DurationSummary {
    /// Number of durations that were recorded since the start, including those that were removed from the memory.
    pub count: u64,
    /// Median of the kept durations.
    pub p50_secs: f64,
    /// 99th percentile of the kept durations.
    pub p99_secs: f64,
}

impl DurationMeter {
    /// Records one duration.
    pub fn record(&self, duration: Duration) {
        let mut ring = self.ring.lock();
        let secs = duration.as_secs_f32();
        let at = ring.next;
        match ring.secs.get_mut(at) {
            Some(old) => *old = secs,
            None => ring.secs.push(secs),
        }
        ring.next = (at + 1) % KEPT;
        ring.count += 1;
    }

    /// Returns the median and the 99th percentile (nearest rank) of the kept durations.
    pub fn summary(&self) -> DurationSummary {
        let (mut secs, count) = {
            let ring = self.ring.lock();
            (ring.secs.clone(), ring.count)
        };
        secs.sort_by(f32::total_cmp);
        let at = |percent: usize| {
            let rank = (secs.len() * percent).div_ceil(100).max(1);
            secs.get(rank - 1).map_or(0.0, |&s| f64::from(s))
        };
        DurationSummary {
            count,
            p50_secs: at(50),
            p99_secs: at(99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let meter = DurationMeter::default();
        assert_eq!(meter.summary(), DurationSummary::default());
        for ms in (1..=200).rev() {
            meter.record(Duration::from_millis(ms));
        }
        let summary = meter.summary();
        assert_eq!(summary.count, 200);
        assert!((summary.p50_secs - 0.100).abs() < 1e-6);
        assert!((summary.p99_secs - 0.198).abs() < 1e-6);
    }

    #[test]
    fn old_durations_are_dropped() {
        let meter = DurationMeter::default();
        meter.record(Duration::from_secs(100));
        for _ in 0..KEPT {
            meter.record(Duration::from_millis(1));
        }
        let summary = meter.summary();
        assert_eq!(summary.count, KEPT as u64 + 1);
        assert!(summary.p99_secs < 0.01);
    }
}
