//! The faults of a source, one for each kind. A single damaged frame is counted but is not a fault, because most cameras send one
//! occasionally. Many damaged frames are a fault.

use std::time::{Duration, Instant};

use super::health::{ActiveFault, CameraHealth};
use crate::camera::{FaultKind, hide_passwords};
use crate::runtime::{FailureLimit, Fault, FaultLedger};

/// Longest description of a fault, in characters. Limits text from drivers and workers, which is not trusted.
const MAX_DETAIL_CHARS: usize = 600;

/// Minimum number of unusable frames within [`FRAME_FAULT_WINDOW`] that are a fault. Fewer are normal: if a USB bus or network
/// is briefly busy, one or two frames in a row are lost.
const MIN_UNUSABLE_FRAMES: usize = 5;
/// Time in which unusable frames are counted. Five frames in this time are about 2 % at 25 frames per second.
const FRAME_FAULT_WINDOW: Duration = Duration::from_secs(10);

/// The faults of one source.
#[derive(Debug)]
pub(super) struct FaultLog {
    settle_time: Duration,
    records: [FaultRecord; FaultKind::ALL.len()],
}

/// One kind of fault.
#[derive(Debug)]
struct FaultRecord {
    fault: Fault,
    /// Number of occurrences since the start.
    total: u64,
    /// Time of the last occurrence.
    last: Option<Instant>,
    /// Limit of unusable frames from which they are a fault.
    unusable: FailureLimit,
}

impl FaultLog {
    /// Creates inactive faults of `ledger`. See [`FeedTiming::settle_time`](super::FeedTiming::settle_time).
    pub(super) fn new(ledger: &FaultLedger, settle_time: Duration) -> Self {
        let record = |kind: FaultKind| {
            let fault = Fault::new(format!("camera.{}", kind.name()), ledger).settling(settle_time);
            FaultRecord {
                fault: match kind {
                    // The first frame of a frozen camera that was started again differs from the frame before, so it proves nothing.
                    FaultKind::Frozen => fault.lasting(settle_time),
                    _ => fault,
                },
                total: 0,
                last: None,
                unusable: FailureLimit::new(MIN_UNUSABLE_FRAMES, FRAME_FAULT_WINDOW),
            }
        };
        Self {
            settle_time,
            records: FaultKind::ALL.map(record),
        }
    }

    /// Records an occurrence of a fault. Unusable frames become a fault when there are many, see [`MIN_UNUSABLE_FRAMES`].
    pub(super) fn raise(&mut self, kind: FaultKind, detail: &str, now: Instant) {
        // A program that reads a camera in the network says the address that it could not open, with the password.
        let detail: String = hide_passwords(detail)
            .chars()
            .take(MAX_DETAIL_CHARS)
            .collect();
        let record = &mut self.records[kind as usize];
        record.total += 1;
        record.last = Some(now);
        let is_many = record.unusable.record(now);
        if discards_frame(kind) && !is_many && record.fault.count() == 0 {
            tracing::debug!(fault = kind.name(), "unusable frame: {detail}");
            return;
        }
        record.fault.raise_at(&detail, now);
    }

    /// Records that a fault is not present. It ends when it has stayed away long enough.
    pub(super) fn clear(&mut self, kind: FaultKind, now: Instant) {
        self.records[kind as usize].fault.clear_at(now);
    }

    /// Records a good frame. With it the faults of the connection are not present. A fault of single frames is not present if its
    /// last occurrence is more than the settle time ago.
    pub(super) fn good_frame(&mut self, now: Instant) {
        for kind in FaultKind::ALL {
            let last = self.records[kind as usize].last;
            let is_long_ago = last.is_some_and(|last| now.duration_since(last) > self.settle_time);
            if kind.ends_connection() || (kind.concerns_single_frames() && is_long_ago) {
                self.clear(kind, now);
            }
        }
    }

    /// Whether a fault is present.
    pub(super) fn has(&self, kind: FaultKind) -> bool {
        self.records[kind as usize].fault.is_present()
    }

    /// Whether no fault is present.
    pub(super) fn is_empty(&self) -> bool {
        !self.records.iter().any(|record| record.fault.is_present())
    }

    /// Whether an active fault has occurred more than once.
    pub(super) fn is_repeating(&self) -> bool {
        self.records.iter().any(|record| record.fault.count() > 1)
    }

    /// Adds the faults to a health report.
    pub(super) fn write(&self, health: &mut CameraHealth, now: Instant) {
        for kind in FaultKind::ALL {
            let record = &self.records[kind as usize];
            if record.total > 0 {
                health.fault_counts.push((kind, record.total));
            }
            if let Some(status) = record.fault.status(now) {
                health.faults.push(ActiveFault {
                    kind,
                    detail: status.detail,
                    active_secs: status.for_secs,
                    count: status.count,
                });
            }
        }
    }
}

/// Whether an occurrence of the fault is one frame that is discarded; the next frame may be good.
fn discards_frame(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::ShortFrames | FaultKind::DamagedFrames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_records() {
        for (i, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn single_damaged_frames_are_counted_and_many_are_a_fault() {
        let start = Instant::now();
        let mut log = FaultLog::new(&FaultLedger::default(), Duration::from_secs(5));
        let raise = |log: &mut FaultLog, secs: u64| {
            let now = start + Duration::from_secs(secs);
            log.raise(FaultKind::DamagedFrames, "damaged", now);
            log.has(FaultKind::DamagedFrames)
        };
        // One frame every 3 s is no fault, however long it lasts.
        assert!((0..40).all(|i| !raise(&mut log, i * 3)));
        let burst: Vec<bool> = (0..5).map(|_| raise(&mut log, 200)).collect();
        assert_eq!(burst, [false, false, false, false, true]);
        let mut health = CameraHealth::default();
        log.write(&mut health, start + Duration::from_secs(200));
        assert_eq!(health.count(FaultKind::DamagedFrames), 45);
    }

    #[test]
    fn faults_are_counted_and_end() {
        let (start, settle_time) = (Instant::now(), Duration::from_secs(5));
        let mut log = FaultLog::new(&FaultLedger::default(), settle_time);
        log.raise(FaultKind::Stalled, "first", start);
        log.raise(FaultKind::Stalled, "second", start + settle_time);
        for _ in 0..MIN_UNUSABLE_FRAMES {
            log.raise(FaultKind::ShortFrames, "short", start + settle_time);
        }
        log.raise(FaultKind::Black, "dark", start + settle_time);
        let report = |log: &FaultLog, at| {
            let mut health = CameraHealth::default();
            log.write(&mut health, at);
            health
        };
        let health = report(&log, start + settle_time);
        assert!(health.has(FaultKind::Stalled) && !health.has(FaultKind::Absent));
        assert_eq!(health.faults[0].detail, "second");
        assert_eq!(
            (health.faults[0].count, health.faults[0].active_secs),
            (2, 5.0)
        );
        log.good_frame(start + settle_time);
        let health = report(&log, start + settle_time);
        assert!(!health.has(FaultKind::Stalled) && health.count(FaultKind::Stalled) == 2);
        // The last short frame was less than the settle time ago, so its fault stays.
        assert!(health.has(FaultKind::ShortFrames));
        log.good_frame(start + settle_time * 3);
        let health = report(&log, start + settle_time * 3);
        assert!(!health.has(FaultKind::ShortFrames) && health.has(FaultKind::Black));
        log.clear(FaultKind::Black, start + settle_time * 3);
        assert!(log.is_empty());
    }

    /// A fixed bug: a frozen camera is started again, and its first frame ended the fault, which began again seconds later. The log
    /// of a camera that stayed frozen grew by several megabytes a day.
    #[test]
    fn a_fault_that_comes_back_after_each_restart_is_one_fault() {
        let start = Instant::now();
        let at = |secs: u64| start + Duration::from_secs(secs);
        let mut log = FaultLog::new(&FaultLedger::default(), Duration::from_secs(5));
        let mut begins = 0;
        // Frozen after 3 s of every 30 s, for an hour; for the other 27 s no frame arrives.
        for restart in 0..120 {
            for secs in 0..3 {
                log.clear(FaultKind::Frozen, at(restart * 30 + secs));
                log.good_frame(at(restart * 30 + secs));
            }
            begins += u64::from(log.records[FaultKind::Frozen as usize].fault.count() == 0);
            log.raise(FaultKind::Frozen, "frozen", at(restart * 30 + 3));
            assert!(log.has(FaultKind::Frozen) && !log.is_empty());
        }
        assert_eq!(begins, 1);
        assert!(log.is_repeating());
        log.clear(FaultKind::Frozen, at(3600));
        assert!(log.is_empty(), "the camera works");
        let mut health = CameraHealth::default();
        log.write(&mut health, at(3601));
        assert_eq!(health.faults[0].count, 120);
        assert_eq!(health.faults[0].detail, "frozen");
        log.clear(FaultKind::Frozen, at(3700));
        log.raise(FaultKind::Frozen, "frozen", at(5000));
        log.clear(FaultKind::Frozen, at(5001));
        log.clear(FaultKind::Frozen, at(5007));
        let count = log.records[FaultKind::Frozen as usize].fault.count();
        assert_eq!(count, 0, "it did not come back soon");
    }
}
