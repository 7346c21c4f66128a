//! Measures durations, such as the latency of a frame, and summarizes the latest ones.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Number of durations that are kept. At 120 frames per second this is more than a minute.
const KEPT: usize = 8192;
/// Period of [`DurationMeter::last_minute`].
const MINUTE: Duration = Duration::from_secs(60);

/// The latest durations of one kind.
#[derive(Debug, Default)]
pub struct DurationMeter(Mutex<Durations>);

#[derive(Debug, Default)]
struct Durations {
    /// The latest durations in seconds, each with the time at which it was recorded, oldest first.
    kept: VecDeque<(Instant, f32)>,
    count: u64,
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

impl DurationStatus {
    /// Returns the median and the 99th percentile (nearest rank).
    fn new(count: u64, mut secs: Vec<f32>) -> Self {
        secs.sort_by(f32::total_cmp);
        let at_ms = |percent: usize| {
            let rank = (secs.len() * percent).div_ceil(100).max(1);
            secs.get(rank - 1).map_or(0.0, |s| f64::from(*s) * 1e3)
        };
        Self {
            count,
            p50_ms: at_ms(50),
            p99_ms: at_ms(99),
        }
    }
}

impl DurationMeter {
    /// Records one duration.
    pub fn record(&self, duration: Duration) {
        let mut durations = self.0.lock();
        if durations.kept.len() == KEPT {
            durations.kept.pop_front();
        }
        let recorded = (Instant::now(), duration.as_secs_f32());
        durations.kept.push_back(recorded);
        durations.count += 1;
    }

    /// Returns the time at which the last duration was recorded; `None` before the first.
    pub fn last_at(&self) -> Option<Instant> {
        self.0.lock().kept.back().map(|(at, _)| *at)
    }

    /// Summarizes the kept durations. Counts those too that are no longer kept.
    pub fn summary(&self) -> DurationStatus {
        let (secs, count) = {
            let durations = self.0.lock();
            let secs = durations.kept.iter().map(|(_, secs)| *secs);
            (secs.collect(), durations.count)
        };
        DurationStatus::new(count, secs)
    }

    /// Summarizes the durations that were recorded within the last minute.
    pub fn last_minute(&self) -> DurationStatus {
        let now = Instant::now();
        let secs: Vec<f32> = {
            let durations = self.0.lock();
            let newest_first = durations.kept.iter().rev();
            let recent = newest_first.take_while(|(at, _)| now.duration_since(*at) <= MINUTE);
            recent.map(|(_, secs)| *secs).collect()
        };
        DurationStatus::new(secs.len() as u64, secs)
    }

    /// Returns the number of durations per second, averaged over the last minute.
    pub fn rate_hz(&self) -> f64 {
        let now = Instant::now();
        let durations = self.0.lock();
        let ages = durations
            .kept
            .iter()
            .rev()
            .map(|(at, _)| now.duration_since(*at));
        let (count, oldest) = ages
            .take_while(|age| *age <= MINUTE)
            .fold((0_u32, Duration::ZERO), |(count, _), age| (count + 1, age));
        f64::from(count) / oldest.as_secs_f64().max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let meter = DurationMeter::default();
        assert_eq!(meter.summary(), DurationStatus::default());
        for ms in (1..=200).rev() {
            meter.record(Duration::from_millis(ms));
        }
        for status in [meter.summary(), meter.last_minute()] {
            assert_eq!(status.count, 200);
            assert!((status.p50_ms - 100.0).abs() < 1e-3);
            assert!((status.p99_ms - 198.0).abs() < 1e-3);
        }
        assert!((meter.rate_hz() - 200.0).abs() < 1e-9);
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
        assert!(summary.p99_ms < 10.0);
    }
}
