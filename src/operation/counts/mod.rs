//! Counts visitors: arrivals, times of stay, and where on the surface they are, per quarter of an hour.
//!
//! In: tracks (numbers and foot points, never a picture) and a time. Out: sums in one SQLite file, and queries of them. Must not:
//! keep anything of a single visitor after the visit, ask a clock.

mod counter;
mod csv;
mod params;
mod store;

pub use counter::{CountSums, DWELL_LIMITS_SECS, INTERVAL_SECS, VisitorCounter};
pub use csv::{CsvOptions, write_counts_csv};
pub use params::CountingParams;
pub use store::{CellTotal, CountInterval, CountStore, CountStoreError, group_intervals};
