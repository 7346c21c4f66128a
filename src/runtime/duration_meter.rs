//! Measures durations, such as the latency of a frame, and summarizes the latest ones.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use serde::{Deserialize, Serialize};

/// Number of durations that are kept. At 120 frames per second this is more than a minute.
const KEPT: usize = 8192;
/// Period of [`DurationMeter::last_minute`], in milliseconds.
const MINUTE_MS: u64 = 60_000;

/// The latest durations of one kind.
#[derive(Debug)]
pub struct DurationMeter {
    started: Instant,
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    secs: Vec<f32>,
    /// Time at which each duration was recorded, in milliseconds since the start of the meter.
    at_ms: Vec<u64>,
    next: usize,
    count: u64,
}

impl Default for DurationMeter {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            ring: Mutex::default(),
        }
    }
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

/// Durations of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DurationStatus {
    /// Number of measured durations.
    pub count: u64,
    /// Median.
    pub p50_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

impl DurationMeter {
    /// Records one duration.
    pub fn record(&self, duration: Duration) {
        let secs = duration.as_secs_f32();
        let now_ms = self.now_ms();
        let mut ring = self.ring.lock();
        let at = ring.next;
        match ring.secs.get_mut(at) {
            Some(old) => *old = secs,
            None => ring.secs.push(secs),
        }
        match ring.at_ms.get_mut(at) {
            Some(old) => *old = now_ms,
            None => ring.at_ms.push(now_ms),
        }
        ring.next = (at + 1) % KEPT;
        ring.count += 1;
    }

    /// Returns the median and the 99th percentile (nearest rank) of the kept durations.
    pub fn summary(&self) -> DurationSummary {
        let (secs, count) = {
            let ring = self.ring.lock();
            (ring.secs.clone(), ring.count)
        };
        let (p50_secs, p99_secs) = percentiles(secs);
        DurationSummary {
            count,
            p50_secs,
            p99_secs,
        }
    }

    /// Returns the durations that were recorded within the last minute.
    pub fn last_minute(&self) -> DurationStatus {
        let from_ms = self.now_ms().saturating_sub(MINUTE_MS);
        let secs: Vec<f32> = {
            let ring = self.ring.lock();
            let recorded = ring.secs.iter().zip(&ring.at_ms);
            let recent = recorded.filter(|(_, at_ms)| **at_ms >= from_ms);
            recent.map(|(secs, _)| *secs).collect()
        };
        let count = secs.len() as u64;
        let (p50_secs, p99_secs) = percentiles(secs);
        DurationStatus {
            count,
            p50_ms: p50_secs * 1e3,
            p99_ms: p99_secs * 1e3,
        }
    }

    /// Returns the number of durations per second, averaged over the last minute.
    pub fn rate_hz(&self) -> f64 {
        let now_ms = self.now_ms();
        let from_ms = now_ms.saturating_sub(MINUTE_MS);
        let ring = self.ring.lock();
        let recent = ring.at_ms.iter().filter(|at_ms| **at_ms >= from_ms);
        let first_ms = recent.clone().min().copied().unwrap_or(now_ms);
        let secs = now_ms.saturating_sub(first_ms) as f64 / 1e3;
        recent.count() as f64 / secs.max(1.0)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Returns the median and the 99th percentile (nearest rank).
fn percentiles(mut secs: Vec<f32>) -> (f64, f64) {
    secs.sort_by(f32::total_cmp);
    let at = |percent: usize| {
        let rank = (secs.len() * percent).div_ceil(100).max(1);
        secs.get(rank - 1).map_or(0.0, |&s| f64::from(s))
    };
    (at(50), at(99))
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
        let minute = meter.last_minute();
        assert_eq!(minute.count, 200);
        assert!((minute.p99_ms - 198.0).abs() < 1e-3);
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
