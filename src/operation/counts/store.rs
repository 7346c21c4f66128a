//! The SQLite file with the counts.
//!
//! In: sums that are not stored yet. Out: rows, one per interval and one per cell of the occupancy map. Every write is one
//! transaction in a write-ahead log, so the file is whole after a power cut. A file that is no database is kept under another name
//! and replaced.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};

use super::counter::{CountSums, DWELL_CLASSES};

/// Version of the tables, in `user_version` of the file.
const VERSION: i64 = 1;
/// Longest wait for another program that writes the file.
const BUSY_TIME: Duration = Duration::from_secs(2);

const TABLES: &str = "
    CREATE TABLE intervals (
        start_unix_secs INTEGER PRIMARY KEY,
        arrivals INTEGER NOT NULL, departures INTEGER NOT NULL, dwell_secs REAL NOT NULL,
        peak INTEGER NOT NULL, visitor_secs REAL NOT NULL,
        dwell_0 INTEGER NOT NULL, dwell_5 INTEGER NOT NULL, dwell_15 INTEGER NOT NULL, dwell_30 INTEGER NOT NULL,
        dwell_60 INTEGER NOT NULL, dwell_120 INTEGER NOT NULL, dwell_300 INTEGER NOT NULL, dwell_600 INTEGER NOT NULL,
        dwell_1200 INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE cells (
        start_unix_secs INTEGER NOT NULL, x_dm INTEGER NOT NULL, z_dm INTEGER NOT NULL, ms INTEGER NOT NULL,
        PRIMARY KEY (start_unix_secs, x_dm, z_dm)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 1;";

const ADD_INTERVAL: &str = "
    INSERT INTO intervals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
    ON CONFLICT (start_unix_secs) DO UPDATE SET
        arrivals = arrivals + excluded.arrivals, departures = departures + excluded.departures,
        dwell_secs = dwell_secs + excluded.dwell_secs, peak = max(peak, excluded.peak),
        visitor_secs = visitor_secs + excluded.visitor_secs,
        dwell_0 = dwell_0 + excluded.dwell_0, dwell_5 = dwell_5 + excluded.dwell_5,
        dwell_15 = dwell_15 + excluded.dwell_15, dwell_30 = dwell_30 + excluded.dwell_30,
        dwell_60 = dwell_60 + excluded.dwell_60, dwell_120 = dwell_120 + excluded.dwell_120,
        dwell_300 = dwell_300 + excluded.dwell_300, dwell_600 = dwell_600 + excluded.dwell_600,
        dwell_1200 = dwell_1200 + excluded.dwell_1200";

const ADD_CELL: &str = "
    INSERT INTO cells VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (start_unix_secs, x_dm, z_dm) DO UPDATE SET ms = ms + excluded.ms";

/// Reason why the counts cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CountStoreError {
    /// The folder of the file cannot be created, or a damaged file cannot be renamed.
    #[error("{path}: {cause}; check the permissions and the free space of the folder")]
    File {
        /// The file.
        path: String,
        /// The cause.
        cause: std::io::Error,
    },
    /// SQLite reports an error.
    #[error("{path}: {cause}; check the permissions and the free space of the folder")]
    Database {
        /// The file.
        path: String,
        /// The cause.
        cause: rusqlite::Error,
    },
    /// The file has no tables yet.
    #[error("{path}: nothing was counted yet")]
    Empty {
        /// The file.
        path: String,
    },
    /// A later version of Shoal wrote the file.
    #[error(
        "{path}: the counts have version {version}, this program reads version {VERSION}; install the newer Shoal again"
    )]
    OtherVersion {
        /// The file.
        path: String,
        /// Version of the file.
        version: i64,
    },
}

/// Sums of one stored interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountInterval {
    /// Start of the interval, in seconds since 1970.
    pub start_unix_secs: i64,
    /// The sums; without the occupancy map.
    pub sums: CountSums,
}

/// Adds up neighboring intervals with the same key, for example all quarters of a day. The result begins with its first interval.
pub fn group_intervals<K: PartialEq>(
    intervals: &[CountInterval],
    key: impl Fn(i64) -> K,
) -> Vec<CountInterval> {
    let mut groups: Vec<CountInterval> = Vec::new();
    let mut last = None;
    for interval in intervals {
        let own = key(interval.start_unix_secs);
        match groups.last_mut().filter(|_| last.as_ref() == Some(&own)) {
            Some(group) => group.sums.add(&interval.sums),
            None => groups.push(interval.clone()),
        }
        last = Some(own);
    }
    groups
}

/// Total time of one cell of the occupancy map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellTotal {
    /// Index of the cell along x, counted in decimeters from the middle of the surface.
    pub x_dm: i32,
    /// Index of the cell along z.
    pub z_dm: i32,
    /// Time that visitors spent in the cell.
    pub secs: f64,
}

/// The open file.
#[derive(Debug)]
pub struct CountStore {
    connection: Connection,
    path: PathBuf,
}

impl CountStore {
    /// Opens the file for writing, or creates it. A file that is no database is renamed to `NAME.damaged` and replaced.
    ///
    /// # Errors
    /// When the file cannot be created or opened, or a later version wrote it.
    pub fn open(path: &Path) -> Result<Self, CountStoreError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|cause| file_error(path, cause))?;
        }
        match Self::open_once(path) {
            Err(CountStoreError::Database { cause, .. }) if is_damaged(&cause) => {
                set_aside(path)?;
                Self::open_once(path)
            }
            result => result,
        }
    }

    fn open_once(path: &Path) -> Result<Self, CountStoreError> {
        let connection = Connection::open(path).map_err(|cause| error(path, cause))?;
        let store = Self {
            connection,
            path: path.to_path_buf(),
        };
        store.prepare().map_err(|cause| error(path, cause))?;
        let version = store.version()?;
        match version {
            0 => store
                .connection
                .execute_batch(&format!("BEGIN; {TABLES} COMMIT;"))
                .map_err(|cause| error(path, cause))?,
            VERSION => {}
            version => {
                return Err(CountStoreError::OtherVersion {
                    path: path.display().to_string(),
                    version,
                });
            }
        }
        Ok(store)
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(BUSY_TIME)?;
        // Every transaction is on the disk before it counts as written.
        self.connection.pragma_update(None, "journal_mode", "WAL")?;
        self.connection.pragma_update(None, "synchronous", "FULL")
    }

    /// Opens the file for reading.
    ///
    /// # Errors
    /// When the file does not exist, is no database, or a later version wrote it.
    pub fn open_to_read(path: &Path) -> Result<Self, CountStoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|cause| error(path, cause))?;
        let store = Self {
            connection,
            path: path.to_path_buf(),
        };
        store
            .connection
            .busy_timeout(BUSY_TIME)
            .map_err(|cause| error(path, cause))?;
        match store.version()? {
            VERSION => Ok(store),
            // The writer has created the file, but was stopped before its first transaction.
            0 => Err(CountStoreError::Empty {
                path: path.display().to_string(),
            }),
            version => Err(CountStoreError::OtherVersion {
                path: path.display().to_string(),
                version,
            }),
        }
    }

    fn version(&self) -> Result<i64, CountStoreError> {
        self.connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|cause| error(&self.path, cause))
    }

    /// Adds sums to the stored ones, in one transaction.
    ///
    /// # Errors
    /// When the file cannot be written. Then nothing was added.
    pub fn add(&mut self, pending: &BTreeMap<i64, CountSums>) -> Result<(), CountStoreError> {
        let path = self.path.clone();
        self.add_all(pending).map_err(|cause| error(&path, cause))
    }

    fn add_all(&mut self, pending: &BTreeMap<i64, CountSums>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut interval = transaction.prepare(ADD_INTERVAL)?;
            let mut cell = transaction.prepare(ADD_CELL)?;
            for (start, sums) in pending {
                let [d0, d5, d15, d30, d60, d120, d300, d600, d1200] = sums.dwell;
                interval.execute(params![
                    start,
                    sums.arrivals,
                    sums.departures,
                    sums.dwell_secs,
                    sums.peak,
                    sums.visitor_secs,
                    d0,
                    d5,
                    d15,
                    d30,
                    d60,
                    d120,
                    d300,
                    d600,
                    d1200
                ])?;
                for ((x, z), secs) in &sums.cells {
                    cell.execute(params![start, x, z, (secs * 1000.0).round() as i64])?;
                }
            }
        }
        transaction.commit()
    }

    /// Deletes everything before a time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn delete_before(&mut self, unix_secs: i64) -> Result<(), CountStoreError> {
        let path = self.path.clone();
        let delete = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            for table in ["intervals", "cells"] {
                let sql = format!("DELETE FROM {table} WHERE start_unix_secs < ?1");
                transaction.execute(&sql, [unix_secs])?;
            }
            transaction.commit()
        };
        delete(&mut self.connection).map_err(|cause| error(&path, cause))
    }

    /// Returns the intervals that begin from `from` to before `to`, in order.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn intervals(&self, from: i64, to: i64) -> Result<Vec<CountInterval>, CountStoreError> {
        let read = || -> rusqlite::Result<Vec<CountInterval>> {
            let sql = "SELECT * FROM intervals WHERE start_unix_secs >= ?1 AND start_unix_secs < ?2 ORDER BY start_unix_secs";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([from, to], interval_of)?;
            rows.collect()
        };
        read().map_err(|cause| error(&self.path, cause))
    }

    /// Returns the occupancy map of the intervals that begin from `from` to before `to`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn cells(&self, from: i64, to: i64) -> Result<Vec<CellTotal>, CountStoreError> {
        let read = || -> rusqlite::Result<Vec<CellTotal>> {
            let sql = "SELECT x_dm, z_dm, SUM(ms) FROM cells WHERE start_unix_secs >= ?1 AND start_unix_secs < ?2 \
                       GROUP BY x_dm, z_dm ORDER BY z_dm, x_dm";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([from, to], |row| {
                Ok(CellTotal {
                    x_dm: row.get(0)?,
                    z_dm: row.get(1)?,
                    secs: row.get::<_, i64>(2)? as f64 / 1000.0,
                })
            })?;
            rows.collect()
        };
        read().map_err(|cause| error(&self.path, cause))
    }
}

fn interval_of(row: &Row<'_>) -> rusqlite::Result<CountInterval> {
    let mut dwell = [0; DWELL_CLASSES];
    for (class, count) in dwell.iter_mut().enumerate() {
        *count = row.get(6 + class)?;
    }
    Ok(CountInterval {
        start_unix_secs: row.get(0)?,
        sums: CountSums {
            arrivals: row.get(1)?,
            departures: row.get(2)?,
            dwell_secs: row.get(3)?,
            peak: row.get(4)?,
            visitor_secs: row.get(5)?,
            dwell,
            cells: BTreeMap::new(),
        },
    })
}

fn is_damaged(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
    )
}

/// Renames a damaged file, and its log, which would be applied to the new file.
fn set_aside(path: &Path) -> Result<(), CountStoreError> {
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    tracing::error!(
        "{}: the file with the counts is damaged; it is kept as {} and a new one is begun",
        path.display(),
        with(".damaged").display()
    );
    std::fs::rename(path, with(".damaged")).map_err(|cause| file_error(path, cause))?;
    for ending in ["-wal", "-shm"] {
        let _absent = std::fs::remove_file(with(ending));
    }
    Ok(())
}

fn error(path: &Path, cause: rusqlite::Error) -> CountStoreError {
    CountStoreError::Database {
        path: path.display().to_string(),
        cause,
    }
}

fn file_error(path: &Path, cause: std::io::Error) -> CountStoreError {
    CountStoreError::File {
        path: path.display().to_string(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;

    fn sums(arrivals: u32) -> CountSums {
        CountSums {
            arrivals,
            departures: 1,
            dwell_secs: 12.5,
            dwell: [0, 1, 0, 0, 0, 0, 0, 0, 0],
            peak: arrivals,
            visitor_secs: 20.25,
            cells: BTreeMap::from([((3, -1), 1.5), ((-4, 2), 0.25)]),
        }
    }

    /// A fixed bug: a program that was killed while it created the file left one that `shoal visitors` took for a file of a newer
    /// version.
    #[test]
    fn a_file_without_tables_was_not_counted_in_yet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visitors.sqlite");
        std::fs::write(&path, b"").unwrap();
        let error = CountStore::open_to_read(&path).unwrap_err().to_string();
        assert!(error.ends_with("nothing was counted yet"), "{error}");
        drop(CountStore::open(&path).unwrap());
        assert!(CountStore::open_to_read(&path).is_ok());
    }

    #[test]
    fn sums_are_added_read_back_and_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/visitors.sqlite");
        let mut store = CountStore::open(&path).unwrap();
        store
            .add(&BTreeMap::from([(900, sums(2)), (1800, sums(3))]))
            .unwrap();
        store.add(&BTreeMap::from([(900, sums(1))])).unwrap();
        drop(store);
        let store = CountStore::open_to_read(&path).unwrap();
        let intervals = store.intervals(0, 10_000).unwrap();
        assert_eq!(intervals.len(), 2);
        let first = &intervals[0].sums;
        assert_eq!((first.arrivals, first.peak, first.departures), (3, 2, 2));
        assert!((first.dwell_secs - 25.0).abs() < 1e-9);
        assert_eq!(first.dwell[1], 2);
        assert_eq!(store.intervals(901, 1801).unwrap().len(), 1);
        let cells = store.cells(0, 10_000).unwrap();
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].x_dm, cells[0].z_dm), (3, -1));
        assert!((cells[0].secs - 4.5).abs() < 1e-9);
        let mut store = CountStore::open(&path).unwrap();
        store.delete_before(1800).unwrap();
        assert_eq!(store.intervals(0, 10_000).unwrap().len(), 1);
        assert!((store.cells(0, 10_000).unwrap()[0].secs - 1.5).abs() < 1e-9);
    }

    #[test]
    fn a_damaged_file_is_kept_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visitors.sqlite");
        std::fs::write(
            &path,
            "this is no database, but long enough to have a header of one",
        )
        .unwrap();
        let mut store = CountStore::open(&path).unwrap();
        store.add(&BTreeMap::from([(900, sums(2))])).unwrap();
        assert!(folder.path().join("visitors.sqlite.damaged").is_file());
        assert_eq!(store.intervals(0, 1000).unwrap().len(), 1);
    }

    #[test]
    fn a_newer_file_and_a_missing_folder_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visitors.sqlite");
        let store = CountStore::open(&path).unwrap();
        store
            .connection
            .pragma_update(None, "user_version", 9)
            .unwrap();
        drop(store);
        let message = CountStore::open(&path).unwrap_err().to_string();
        assert!(message.contains("version 9"), "{message}");
        std::fs::write(folder.path().join("file"), "").unwrap();
        let message = CountStore::open(&folder.path().join("file/visitors.sqlite")).unwrap_err();
        assert_message(&message, &["check the permissions"]);
    }

    /// Whatever the moment of a power cut, the copy of the files holds a whole number of transactions.
    #[test]
    fn a_copy_of_the_files_after_any_transaction_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visitors.sqlite");
        let mut store = CountStore::open(&path).unwrap();
        for count in 1..=20_u32 {
            store.add(&BTreeMap::from([(900, sums(1))])).unwrap();
            let copies = tempfile::tempdir().unwrap();
            let copy = copies.path().join("visitors.sqlite");
            std::fs::copy(&path, &copy).unwrap();
            let log = std::fs::read(folder.path().join("visitors.sqlite-wal")).unwrap();
            // The log is cut in the middle of its last write.
            for cut in [0, 1, 777] {
                let kept = log.len().saturating_sub(cut);
                std::fs::write(copies.path().join("visitors.sqlite-wal"), &log[..kept]).unwrap();
                let _absent = std::fs::remove_file(copies.path().join("visitors.sqlite-shm"));
                let read = CountStore::open(&copy).unwrap();
                let arrivals = read
                    .intervals(0, 1000)
                    .unwrap()
                    .first()
                    .map_or(0, |i| i.sums.arrivals);
                assert!(
                    arrivals == count || (cut > 0 && arrivals == count - 1),
                    "{cut}: {arrivals} of {count}"
                );
                drop(read);
                std::fs::copy(&path, &copy).unwrap();
            }
        }
    }
}
