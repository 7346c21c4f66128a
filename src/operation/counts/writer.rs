//! Writes sums into the file with the counts, which it opens again after a failure.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::counter::VisitorCounter;
use super::store::{CountStore, CountStoreError};
use crate::control::Journal;
use crate::runtime::Fault;

/// Time from the start or end of a visit until it is stored: what a power cut can cost.
const STORE_EVENTS: Duration = Duration::from_secs(1);
/// Time between two writes without such events. Limits the wear of the disk.
const STORE_MAPS: Duration = Duration::from_secs(10);
/// Time between two deletions of old counts.
const DELETE_INTERVAL: Duration = Duration::from_secs(6 * 3600);

/// The file with the counts.
#[derive(Clone, Debug)]
pub struct CountFile {
    /// Its path.
    pub path: PathBuf,
    /// Number of days after which counts are deleted.
    pub keep_days: u32,
}

/// Writes the file.
pub(super) struct CountWriter {
    file: CountFile,
    store: Option<CountStore>,
    written: Instant,
    deleted: Option<Instant>,
    fault: Fault,
}

impl CountWriter {
    pub(super) fn new(file: CountFile, journal: &Journal) -> Self {
        Self {
            file,
            store: None,
            written: Instant::now(),
            deleted: None,
            fault: journal.fault("counting"),
        }
    }

    /// Returns the number of stored arrivals from a time on; 0 if the file cannot be read, as before the first count.
    pub(super) fn arrivals_since(&self, unix_secs: i64) -> u32 {
        let read = || -> Result<u32, CountStoreError> {
            let intervals =
                CountStore::open_to_read(&self.file.path)?.intervals(unix_secs, i64::MAX)?;
            Ok(intervals.iter().map(|i| i.sums.arrivals).sum())
        };
        read().unwrap_or_else(|error| {
            tracing::debug!("arrivals of today: {error}");
            0
        })
    }

    /// Writes the sums if it is time, and deletes old ones.
    pub(super) fn write_if_due(
        &mut self,
        counter: &mut VisitorCounter,
        unix_secs: i64,
        now: Instant,
    ) {
        let pause = match counter.has_unstored_visits() && !self.fault.is_present() {
            true => STORE_EVENTS,
            false => STORE_MAPS,
        };
        if now.saturating_duration_since(self.written) < pause {
            return;
        }
        self.written = now;
        self.write(counter);
        let is_due = |deleted: Instant| now.saturating_duration_since(deleted) >= DELETE_INTERVAL;
        if self.deleted.is_none_or(is_due)
            && let Some(store) = &mut self.store
        {
            self.deleted = Some(now);
            let oldest = unix_secs - i64::from(self.file.keep_days) * 86_400;
            if let Err(error) = store.delete_before(oldest) {
                tracing::warn!("old counts are not deleted: {error}");
            }
        }
    }

    /// Writes the sums, if there are any.
    pub(super) fn write(&mut self, counter: &mut VisitorCounter) {
        if counter.pending().is_empty() {
            return;
        }
        let store = match self.store.take() {
            Some(store) => Ok(store),
            None => CountStore::open(&self.file.path),
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
    use crate::geometry::Visitor;
    use crate::operation::hours::EARLIEST_SECS;

    #[test]
    fn counts_that_cannot_be_stored_are_stored_later() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("state");
        std::fs::write(&blocked, "a file where the folder should be").unwrap();
        let path = blocked.join("visitors.sqlite");
        let journal = Journal::default();
        let file = CountFile {
            path: path.clone(),
            keep_days: 400,
        };
        let mut writer = CountWriter::new(file, &journal);
        let mut counter = VisitorCounter::default();
        let begin = Instant::now();
        let mut step = |secs: u64, visitors: &[Visitor]| {
            let unix_secs = EARLIEST_SECS + secs as i64;
            counter.observe(secs as f64, unix_secs, visitors);
            writer.write_if_due(&mut counter, unix_secs, begin + Duration::from_secs(secs));
        };
        (0..60).for_each(|secs| step(secs, &[Visitor::default()]));
        assert_eq!(journal.faults().len(), 1);
        std::fs::remove_file(&blocked).unwrap();
        (60..90).for_each(|secs| step(secs, &[]));
        assert_eq!(journal.faults(), []);
        let store = CountStore::open_to_read(&path).unwrap();
        let sums = &store.intervals(0, i64::MAX).unwrap()[0].sums;
        assert_eq!((sums.arrivals, sums.departures), (1, 1));
        assert!((sums.dwell_secs - 59.0).abs() < 1e-6, "{}", sums.dwell_secs);
    }
}
