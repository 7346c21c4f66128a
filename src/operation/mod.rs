//! The operation of an installation: opening hours, messages about faults, and anonymous counts of visitors.
//!
//! In: tables of the site file, times, tracks, active faults. Out: the state that the pool shows, messages, counts in one SQLite
//! file. Must not: ask a clock, keep anything of a single visitor after the visit.

mod alerts;
mod counts;
mod hours;

pub use alerts::{ActiveFault, Alert, AlertKeeper, AlertKind, AlertParams, QuietHours};
pub use counts::{
    CellTotal, CountInterval, CountStore, CountStoreError, CountSums, CountingParams, CsvOptions,
    DWELL_LIMITS_SECS, INTERVAL_SECS, VisitorCounter, group_intervals, write_counts_csv,
};
pub use hours::{
    ByHand, ClockTrust, DateParams, DayName, HoursParams, Period, PlanNow, ProjectorParams,
    ScheduleDecision, ScheduleKeeper, ScheduleParams, SchedulePlan, WeeklyParams, YearlyParams,
    minutes_of_day,
};
