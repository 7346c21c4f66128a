//! Counts visitors: arrivals, times of stay, and where on the surface they are, per quarter of an hour.
//!
//! In: visitors (ids and foot points, never a picture) and a time. Out: the number of visitors, sums in one SQLite file, and
//! queries of them. Must not: keep anything of a single visitor after the visit. Only the stage reads a clock.

mod counter;
mod csv;
mod params;
mod stage;
mod store;
mod writer;

pub use counter::{CountSums, DWELL_LIMITS_SECS, INTERVAL_SECS, VisitorCounter};
pub use csv::{CsvOptions, write_counts_csv};
pub use params::CountingParams;
pub use stage::{CountingLinks, CountingStage, VisitorBoard};
pub use store::{CellTotal, CountInterval, CountStore, CountStoreError, group_intervals};
pub use writer::CountFile;
