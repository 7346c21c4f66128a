//! How long a frame takes on its way: from its arrival to the pool's knowing of it, and to the picture that shows what
//! came of it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Durations that are kept: a minute and more of a fast camera.
const KEPT: usize = 8192;

/// The last durations of one kind, in a ring.
#[derive(Debug, Default)]
pub struct Meter {
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    secs: Vec<f32>,
    next: usize,
    count: u64,
}

/// What a meter says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// How many were measured, those that are no longer kept included.
    pub count: u64,
    /// Half are shorter.
    pub p50_secs: f64,
    /// 99 of 100 are shorter.
    pub p99_secs: f64,
}

impl Meter {
    /// Notes one duration.
    pub fn note(&self, duration: Duration) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let secs = duration.as_secs_f32();
        let at = ring.next;
        match ring.secs.get_mut(at) {
            Some(old) => *old = secs,
            None => ring.secs.push(secs),
        }
        ring.next = (at + 1) % KEPT;
        ring.count += 1;
    }

    /// Median and 99th percentile (nearest rank) of what is kept.
    pub fn quantiles(&self) -> Quantiles {
        let (mut secs, count) = {
            let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
            (ring.secs.clone(), ring.count)
        };
        secs.sort_by(f32::total_cmp);
        let at = |percent: usize| {
            let rank = (secs.len() * percent).div_ceil(100).max(1);
            secs.get(rank - 1).map_or(0.0, |&s| f64::from(s))
        };
        Quantiles {
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
    fn quantiles_by_nearest_rank() {
        let meter = Meter::default();
        assert_eq!(meter.quantiles(), Quantiles::default());
        for ms in (1..=200).rev() {
            meter.note(Duration::from_millis(ms));
        }
        let said = meter.quantiles();
        assert_eq!(said.count, 200);
        assert!((said.p50_secs - 0.100).abs() < 1e-6);
        assert!((said.p99_secs - 0.198).abs() < 1e-6);
    }

    #[test]
    fn old_durations_are_forgotten() {
        let meter = Meter::default();
        meter.note(Duration::from_secs(100));
        for _ in 0..KEPT {
            meter.note(Duration::from_millis(1));
        }
        let said = meter.quantiles();
        assert_eq!(said.count, KEPT as u64 + 1);
        assert!(said.p99_secs < 0.01);
    }
}
