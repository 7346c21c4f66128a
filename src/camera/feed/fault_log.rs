//! The active and past faults of a source. Each fault is logged when it begins and when it ends; further occurrences in between
//! are counted. A fault that comes back soon after its end is reported as one fault, with more occurrences, until it stays away. A
//! single damaged frame is counted but is not a fault, because most cameras send one occasionally. Many damaged
//! frames are a fault.

use std::time::{Duration, Instant};

use super::health::{ActiveFault, CameraHealth};
use crate::camera::FaultKind;

/// Longest description of a fault, in characters. Limits text from drivers and workers, which is not trusted.
const MAX_DETAIL_CHARS: usize = 600;

/// Minimum number of unusable frames within [`FRAME_FAULT_WINDOW`] that are a fault. Fewer are normal: if a USB bus or network
/// is briefly busy, one or two frames in a row are lost.
const MIN_UNUSABLE_FRAMES: usize = 5;
/// Time in which unusable frames are counted. Five frames in this time are about 2 % at 25 frames per second.
const FRAME_FAULT_WINDOW: Duration = Duration::from_secs(10);
/// Longest time between the end of a fault and its return, in settle times, after which both are reported as one fault. With the
/// settle time of 5 s this is two minutes: a fault that returns less often writes less than 1 MB a day into the log.
const MAX_GAP: u32 = 24;

/// The active and past faults of one source.
#[derive(Debug, Default)]
pub(super) struct FaultLog {
    camera: String,
    settle_time: Duration,
    records: [FaultRecord; FaultKind::ALL.len()],
}

/// The history of one kind of fault.
#[derive(Debug, Default)]
struct FaultRecord {
    /// The current occurrence; `None` if the fault is not active.
    active: Option<Occurrence>,
    /// Number of occurrences since the start.
    total: u64,
    /// Times of the occurrences before the newest one, oldest first; `None` where there were fewer.
    earlier: [Option<Instant>; MIN_UNUSABLE_FRAMES - 1],
    /// Time for which the active fault must stay away before it ends: twice the longest pause between its occurrences.
    quiet: Duration,
    /// Time of the last end.
    ended: Option<Instant>,
}

/// An active fault: its description, the times of its first and last occurrence, and its count.
#[derive(Debug)]
struct Occurrence {
    detail: String,
    since: Instant,
    last: Instant,
    count: u64,
    /// Time since which the fault has stayed away; `None` while it is present.
    away_since: Option<Instant>,
}

impl FaultLog {
    /// Creates a log without faults. See [`FeedTiming::settle_time`](super::FeedTiming::settle_time).
    pub(super) fn new(camera: String, settle_time: Duration) -> Self {
        Self {
            camera,
            settle_time,
            ..Self::default()
        }
    }

    /// Records an occurrence of a fault. Logs a warning if the fault was not active before. Unusable frames become a fault
    /// when there are many, see [`MIN_UNUSABLE_FRAMES`].
    pub(super) fn raise(&mut self, kind: FaultKind, detail: &str, now: Instant) {
        let detail: String = detail.chars().take(MAX_DETAIL_CHARS).collect();
        let settle_time = self.settle_time;
        // The first frame of a frozen camera that was started again differs from the frame before, so it proves nothing.
        let shortest = match kind {
            FaultKind::Frozen => settle_time,
            _ => Duration::ZERO,
        };
        let quiet_after = |gap: Duration| match gap <= settle_time * MAX_GAP {
            true => (gap * 2).max(settle_time),
            false => shortest,
        };
        let record = &mut self.records[kind as usize];
        record.total += 1;
        let is_many =
            record.earlier[0].is_some_and(|t| now.duration_since(t) <= FRAME_FAULT_WINDOW);
        record.earlier.rotate_left(1);
        record.earlier[MIN_UNUSABLE_FRAMES - 2] = Some(now);
        if record.active.is_none() && discards_frame(kind) && !is_many {
            tracing::debug!(camera = %self.camera, fault = kind.name(), detail = %detail, "unusable frame");
            return;
        }
        match &mut record.active {
            Some(active) => {
                if let Some(away) = active.away_since.take() {
                    let gap = now.duration_since(away);
                    record.quiet = record.quiet.max(quiet_after(gap));
                }
                active.count += 1;
                active.last = now;
                active.detail = detail;
                tracing::debug!(camera = %self.camera, fault = kind.name(), count = active.count, detail = %active.detail, "camera fault occurred again");
            }
            None => {
                tracing::warn!(camera = %self.camera, fault = kind.name(), detail = %detail, "camera fault");
                let gap = record.ended.map(|ended| now.duration_since(ended));
                record.quiet = gap.map_or(shortest, quiet_after);
                record.active = Some(Occurrence {
                    detail,
                    since: now,
                    last: now,
                    count: 1,
                    away_since: None,
                });
            }
        }
    }

    /// Records that a fault is not present. It ends when it has stayed away long enough.
    pub(super) fn clear(&mut self, kind: FaultKind, now: Instant) {
        let record = &mut self.records[kind as usize];
        let Some(active) = &mut record.active else {
            return;
        };
        let away = *active.away_since.get_or_insert(now);
        if now.duration_since(away) < record.quiet {
            return;
        }
        record.ended = Some(now);
        if let Some(ended) = record.active.take() {
            let secs = now.duration_since(ended.since).as_secs_f64();
            tracing::info!(camera = %self.camera, fault = kind.name(), count = ended.count, secs, "camera fault ended");
        }
    }

    /// Records a good frame. With it the faults of the connection are not present. A fault of single frames is not present if its
    /// last occurrence is more than the settle time ago.
    pub(super) fn good_frame(&mut self, now: Instant) {
        let settle_time = self.settle_time;
        for kind in FaultKind::ALL {
            let has_ended = kind.ends_connection()
                || (kind.concerns_single_frames()
                    && self.records[kind as usize]
                        .active
                        .as_ref()
                        .is_some_and(|p| now.duration_since(p.last) > settle_time));
            if has_ended {
                self.clear(kind, now);
            }
        }
    }

    /// Whether a fault is present.
    pub(super) fn has(&self, kind: FaultKind) -> bool {
        self.records[kind as usize].is_present()
    }

    /// Whether no fault is present.
    pub(super) fn is_empty(&self) -> bool {
        !self.records.iter().any(FaultRecord::is_present)
    }

    /// Whether an active fault has occurred more than once.
    pub(super) fn is_repeating(&self) -> bool {
        let active = self.records.iter().filter_map(|r| r.active.as_ref());
        active.into_iter().any(|active| active.count > 1)
    }

    /// Adds the faults to a health report.
    pub(super) fn write(&self, health: &mut CameraHealth, now: Instant) {
        for kind in FaultKind::ALL {
            let record = &self.records[kind as usize];
            if record.total > 0 {
                health.fault_counts.push((kind, record.total));
            }
            if let Some(active) = &record.active {
                let detail = match active.away_since {
                    None => active.detail.clone(),
                    Some(_) => format!(
                        "{} (it comes and goes; it is over when it has stayed away for {:.0} s)",
                        active.detail,
                        record.quiet.as_secs_f64()
                    ),
                };
                health.faults.push(ActiveFault {
                    kind,
                    detail,
                    active_secs: now.duration_since(active.since).as_secs_f64(),
                    count: active.count,
                });
            }
        }
    }
}

impl FaultRecord {
    fn is_present(&self) -> bool {
        let active = self.active.as_ref();
        active.is_some_and(|active| active.away_since.is_none())
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
        let mut log = FaultLog::new("v4l2:0".into(), Duration::from_secs(5));
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
        let mut log = FaultLog::new("v4l2:0".into(), settle_time);
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
        assert!(
            health.has(FaultKind::ShortFrames),
            "the settle time has not passed"
        );
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
        let mut log = FaultLog::new("v4l2:0".into(), Duration::from_secs(5));
        let mut begins = 0;
        // Frozen after 3 s of every 30 s, for an hour; for the other 27 s no frame arrives.
        for restart in 0..120 {
            for secs in 0..3 {
                log.clear(FaultKind::Frozen, at(restart * 30 + secs));
                log.good_frame(at(restart * 30 + secs));
            }
            begins += u64::from(log.records[FaultKind::Frozen as usize].active.is_none());
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
        assert!(health.faults[0].detail.contains("comes and goes"));
        log.clear(FaultKind::Frozen, at(3700));
        log.raise(FaultKind::Frozen, "frozen", at(5000));
        log.clear(FaultKind::Frozen, at(5001));
        log.clear(FaultKind::Frozen, at(5007));
        let active = &log.records[FaultKind::Frozen as usize].active;
        assert!(active.is_none(), "it did not come back soon");
    }
}
