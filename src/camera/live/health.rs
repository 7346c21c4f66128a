//! What can be wrong with a live camera, and how it is told: logged once, then counted, until it is over.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Granted;

/// A fault of a live camera. The list is closed: each has a name, and something that is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// No such camera is plugged in.
    Absent,
    /// The camera went away while it ran.
    Unplugged,
    /// The camera is there, but cannot be opened as it is wanted.
    OpenFailed,
    /// The camera gives another picture size than asked for, or than before.
    WrongSize,
    /// No new frame came for too long.
    Stalled,
    /// The driver failed while frames were taken.
    StreamError,
    /// The worker process ended without saying why.
    WorkerDied,
    /// The worker wrote what no worker writes.
    Garbage,
    /// Frames come, but all are the same.
    Frozen,
    /// Frames are black: a lens cap, no light, no exposure.
    Black,
    /// Most of the picture is as bright as it can be.
    Saturated,
    /// Frames end too early; they are not used.
    ShortFrames,
    /// Frames that the driver marks as damaged, or that cannot be decoded; they are not used.
    DamagedFrames,
}

impl FaultKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::Absent,
        Self::Unplugged,
        Self::OpenFailed,
        Self::WrongSize,
        Self::Stalled,
        Self::StreamError,
        Self::WorkerDied,
        Self::Garbage,
        Self::Frozen,
        Self::Black,
        Self::Saturated,
        Self::ShortFrames,
        Self::DamagedFrames,
    ];

    /// Its name, for logs, metrics and panels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Unplugged => "unplugged",
            Self::OpenFailed => "open_failed",
            Self::WrongSize => "wrong_size",
            Self::Stalled => "stalled",
            Self::StreamError => "stream_error",
            Self::WorkerDied => "worker_died",
            Self::Garbage => "garbage",
            Self::Frozen => "frozen",
            Self::Black => "black",
            Self::Saturated => "saturated",
            Self::ShortFrames => "short_frames",
            Self::DamagedFrames => "damaged_frames",
        }
    }

    /// Whether it is about the connection: the worker is over, and a good frame proves that all is well.
    pub(super) fn ends_worker(self) -> bool {
        !matches!(
            self,
            Self::Frozen | Self::Black | Self::Saturated | Self::ShortFrames | Self::DamagedFrames
        )
    }

    /// Whether opening the camera anew may mend it, although frames come.
    pub(super) fn calls_for_restart(self) -> bool {
        matches!(self, Self::Frozen | Self::Black)
    }
}

/// How a live camera is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Present faults, most serious first.
    pub faults: Vec<Fault>,
    /// Every kind of fault → how often it happened since the start; kinds that never did are left out.
    pub fault_counts: Vec<(FaultKind, u64)>,
    /// Time since the newest frame was taken; `None` before the first.
    pub age_secs: Option<f64>,
    /// Measured frames a second; 0 when none come.
    pub fps: f64,
    /// Frames that came.
    pub frames: u64,
    /// Frames that the driver took, but that never came (gaps in its numbers).
    pub dropped: u64,
    /// Frames that were replaced by a newer one before anybody read them.
    pub skipped: u64,
    /// How often the worker was started again.
    pub restarts: u64,
    /// Mean brightness of the newest frame, 0 to 1.
    pub mean: f32,
    /// Share of its pixels that are as bright as they can be, 0 to 1.
    pub saturated: f32,
    /// What the driver granted at the last opening.
    pub granted: Option<Granted>,
}

impl Health {
    /// Whether a fault is present.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind)
    }

    /// How often a fault happened since the start.
    pub fn count(&self, kind: FaultKind) -> u64 {
        let found = self.fault_counts.iter().find(|(other, _)| *other == kind);
        found.map_or(0, |(_, count)| *count)
    }
}

/// A fault that is present.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which.
    pub kind: FaultKind,
    /// In words, of the last time: what, where, how to mend it.
    pub detail: String,
    /// How long it has been present.
    pub for_secs: f64,
    /// How often it came up since it is present.
    pub count: u64,
}

/// Longest text of a fault; it comes from drivers and workers.
const MAX_DETAIL_CHARS: usize = 600;

/// The faults of one camera, present and past.
#[derive(Debug, Default)]
pub(super) struct FaultLog {
    camera: String,
    slots: [Slot; FaultKind::ALL.len()],
}

#[derive(Debug, Default)]
struct Slot {
    present: Option<Present>,
    total: u64,
}

#[derive(Debug)]
struct Present {
    detail: String,
    since: Instant,
    last: Instant,
    count: u64,
}

impl FaultLog {
    pub(super) fn new(camera: String) -> Self {
        Self {
            camera,
            ..Self::default()
        }
    }

    /// Notes that a fault happened. It is logged when it was not present before.
    pub(super) fn raise(&mut self, kind: FaultKind, detail: &str, now: Instant) {
        let detail: String = detail.chars().take(MAX_DETAIL_CHARS).collect();
        let slot = &mut self.slots[kind as usize];
        slot.total += 1;
        match &mut slot.present {
            Some(present) => {
                present.count += 1;
                present.last = now;
                present.detail = detail;
                tracing::debug!(camera = %self.camera, fault = kind.name(), count = present.count, detail = %present.detail, "camera fault again");
            }
            None => {
                tracing::warn!(camera = %self.camera, fault = kind.name(), detail = %detail, "camera fault");
                slot.present = Some(Present {
                    detail,
                    since: now,
                    last: now,
                    count: 1,
                });
            }
        }
    }

    /// Notes that a fault is over.
    pub(super) fn clear(&mut self, kind: FaultKind, now: Instant) {
        if let Some(over) = self.slots[kind as usize].present.take() {
            let secs = now.duration_since(over.since).as_secs_f64();
            tracing::info!(camera = %self.camera, fault = kind.name(), count = over.count, secs, "camera fault is over");
        }
    }

    /// Notes a good frame: the connection's faults are over, and those of single frames after some quiet time.
    pub(super) fn good_frame(&mut self, now: Instant, quiet: Duration) {
        for kind in FaultKind::ALL {
            let over = kind.ends_worker()
                || (matches!(kind, FaultKind::ShortFrames | FaultKind::DamagedFrames)
                    && self.slots[kind as usize]
                        .present
                        .as_ref()
                        .is_some_and(|p| now.duration_since(p.last) > quiet));
            if over {
                self.clear(kind, now);
            }
        }
    }

    /// Whether a fault is present.
    pub(super) fn has(&self, kind: FaultKind) -> bool {
        self.slots[kind as usize].present.is_some()
    }

    /// Whether nothing is wrong.
    pub(super) fn is_quiet(&self) -> bool {
        self.slots.iter().all(|slot| slot.present.is_none())
    }

    /// Writes the faults into a report.
    pub(super) fn write(&self, health: &mut Health, now: Instant) {
        for kind in FaultKind::ALL {
            let slot = &self.slots[kind as usize];
            if slot.total > 0 {
                health.fault_counts.push((kind, slot.total));
            }
            if let Some(present) = &slot.present {
                health.faults.push(Fault {
                    kind,
                    detail: present.detail.clone(),
                    for_secs: now.duration_since(present.since).as_secs_f64(),
                    count: present.count,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_slots() {
        for (i, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }

    #[test]
    fn faults_are_counted_and_end() {
        let (start, quiet) = (Instant::now(), Duration::from_secs(5));
        let mut log = FaultLog::new("v4l2:0".into());
        log.raise(FaultKind::Stalled, "first", start);
        log.raise(FaultKind::Stalled, "second", start + quiet);
        log.raise(FaultKind::ShortFrames, "short", start + quiet);
        log.raise(FaultKind::Black, "dark", start + quiet);
        let report = |log: &FaultLog, at| {
            let mut health = Health::default();
            log.write(&mut health, at);
            health
        };
        let health = report(&log, start + quiet);
        assert!(health.has(FaultKind::Stalled) && !health.has(FaultKind::Absent));
        assert_eq!(health.faults[0].detail, "second");
        assert_eq!(
            (health.faults[0].count, health.faults[0].for_secs),
            (2, 5.0)
        );
        log.good_frame(start + quiet, quiet);
        let health = report(&log, start + quiet);
        assert!(!health.has(FaultKind::Stalled) && health.count(FaultKind::Stalled) == 2);
        assert!(health.has(FaultKind::ShortFrames), "too early to forget it");
        log.good_frame(start + quiet * 3, quiet);
        let health = report(&log, start + quiet * 3);
        assert!(!health.has(FaultKind::ShortFrames) && health.has(FaultKind::Black));
        log.clear(FaultKind::Black, start + quiet * 3);
        assert!(log.is_quiet());
    }
}
