//! The counting stage: feeds the tracks of the pool to [`crate::operation`], and stores the sums.
//!
//! In: the newest tracks, four times per second. Out: the file with the counts. The simulation never waits for this stage: tracks
//! that come while the disk is slow are replaced by newer ones, and sums that cannot be stored are kept for two days.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::show_control::ShowControl;
use crate::control::{FaultReporter, Journal};
use crate::geometry::Visitor;
use crate::operation::{CountStore, VisitorCounter};
use crate::runtime::{Heartbeat, Latest};

/// Longest wait for tracks before the next heartbeat.
const TRACKS_WAIT: Duration = Duration::from_millis(250);
/// Time from the begin or end of a visit until it is stored: what a power cut can cost.
const STORE_EVENTS: Duration = Duration::from_secs(1);
/// Time between two writes without such events. Limits the wear of the disk.
const STORE_MAPS: Duration = Duration::from_secs(10);
/// Time between two deletions of old counts.
const DELETE_INTERVAL: Duration = Duration::from_secs(6 * 3600);
/// A clock that shows an earlier time is not set yet, so nothing is stored. 2026-01-01.
const EARLIEST_UNIX_SECS: i64 = 1_767_225_600;

/// Inputs and outputs of the counting stage.
pub(crate) struct CountingStage {
    /// The file.
    pub(crate) path: PathBuf,
    /// Number of days after which counts are deleted.
    pub(crate) keep_days: u32,
    /// Tracks from the simulation stage.
    pub(crate) tracks: Arc<Latest<Vec<Visitor>>>,
    /// State of the show. Visitors are not counted while it is closed or a recording is replayed.
    pub(crate) show: ShowControl,
    /// Faults of this stage.
    pub(crate) journal: Journal,
}

impl CountingStage {
    /// Counts until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        let started = Instant::now();
        let mut counter = VisitorCounter::default();
        let mut writer = Writer::new(self);
        let mut tracks = Vec::new();
        while heartbeat.keep_running() {
            let is_new = self.tracks.take(&mut tracks, TRACKS_WAIT);
            let now = Instant::now();
            let unix_secs = unix_secs();
            if unix_secs < EARLIEST_UNIX_SECS {
                continue;
            }
            if is_new {
                // While visitors are not counted, the stays end.
                let seen: &[Visitor] = match self.show.counts_visitors() {
                    true => &tracks,
                    false => &[],
                };
                let secs = now.duration_since(started).as_secs_f64();
                counter.observe(secs, unix_secs, seen);
            }
            writer.write_if_due(&mut counter, unix_secs, now);
        }
        counter.end_all(unix_secs());
        writer.write(&mut counter);
    }
}

fn unix_secs() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

/// Writes sums into the file, which it opens again after a failure.
struct Writer {
    path: PathBuf,
    keep_days: u32,
    store: Option<CountStore>,
    written: Instant,
    deleted: Option<Instant>,
    fault: FaultReporter,
}

impl Writer {
    fn new(stage: &CountingStage) -> Self {
        Self {
            path: stage.path.clone(),
            keep_days: stage.keep_days,
            store: None,
            written: Instant::now(),
            deleted: None,
            fault: FaultReporter::new("counting", &stage.journal),
        }
    }

    fn write_if_due(&mut self, counter: &mut VisitorCounter, unix_secs: i64, now: Instant) {
        let pause = match counter.has_events() && !self.fault.is_active() {
            true => STORE_EVENTS,
            false => STORE_MAPS,
        };
        if now.saturating_duration_since(self.written) < pause {
            return;
        }
        self.written = now;
        if !counter.pending().is_empty() {
            self.write(counter);
        }
        let is_due = |deleted: Instant| now.saturating_duration_since(deleted) >= DELETE_INTERVAL;
        if self.deleted.is_none_or(is_due)
            && let Some(store) = &mut self.store
        {
            self.deleted = Some(now);
            let oldest = unix_secs - i64::from(self.keep_days) * 86_400;
            if let Err(error) = store.delete_before(oldest) {
                tracing::warn!("old counts are not deleted: {error}");
            }
        }
    }

    fn write(&mut self, counter: &mut VisitorCounter) {
        let store = match self.store.take() {
            Some(store) => Ok(store),
            None => CountStore::open(&self.path),
        };
        let written = store.and_then(|mut store| {
            store.add(counter.pending())?;
            Ok(store)
        });
        match written {
            Ok(store) => {
                self.store = Some(store);
                counter.clear_pending();
                self.fault.clear();
            }
            Err(error) => {
                self.fault.raise(&format!(
                    "{error}; the counts of the last two days are kept until they can be stored"
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_cannot_be_stored_are_stored_later() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("state");
        std::fs::write(&blocked, "a file where the folder should be").unwrap();
        let stage = CountingStage {
            path: blocked.join("visitors.sqlite"),
            keep_days: 400,
            tracks: Arc::default(),
            show: ShowControl::default(),
            journal: Journal::default(),
        };
        let mut writer = Writer::new(&stage);
        let mut counter = VisitorCounter::default();
        let begin = Instant::now();
        let unix = |secs: u64| EARLIEST_UNIX_SECS + secs as i64;
        for secs in 0..60_u64 {
            counter.observe(secs as f64, unix(secs), &[Visitor::default()]);
            writer.write_if_due(&mut counter, unix(secs), begin + Duration::from_secs(secs));
        }
        assert_eq!(stage.journal.faults().len(), 1);
        std::fs::remove_file(&blocked).unwrap();
        for secs in 60..90_u64 {
            counter.observe(secs as f64, unix(secs), &[]);
            writer.write_if_due(&mut counter, unix(secs), begin + Duration::from_secs(secs));
        }
        assert_eq!(stage.journal.faults(), []);
        let store = CountStore::open_to_read(&stage.path).unwrap();
        let sums = &store.intervals(0, i64::MAX).unwrap()[0].sums;
        assert_eq!((sums.arrivals, sums.departures), (1, 1));
        assert!((sums.dwell_secs - 59.0).abs() < 1e-6, "{}", sums.dwell_secs);
    }
}
