//! The operation of an installation: opening hours, messages about faults, and anonymous counts of visitors, each a pure decider
//! and the stage that feeds it and applies what it decides.
//!
//! In: tables of the site file, visitors, active faults, steps of operators. Out: the state that the installation shows, messages,
//! the number of visitors, counts in one SQLite file. Must not: decide with a clock (only a stage reads one), keep anything of a
//! single visitor after the visit.

mod alerts;
mod counts;
mod hold;
mod hours;
mod retries;
mod show;
mod site_program;

pub use alerts::{AlertBoard, AlertParams, AlertStage, QuietHours};
pub use counts::{
    CellTotal, CountFile, CountInterval, CountStore, CountStoreError, CountSums, CountingLinks,
    CountingParams, CountingStage, CsvOptions, DWELL_LIMITS_SECS, INTERVAL_SECS, VisitorBoard,
    VisitorCounter, group_intervals, write_counts_csv,
};
pub use hours::{
    ClockTrust, DayName, DayParams, HoursParams, Period, PlanNow, ProjectorParams, ScheduleBoard,
    ScheduleLinks, ScheduleParams, SchedulePlan, ScheduleStage, ShowFile, TimedRuleParams,
    WeeklyParams, minutes_of_day,
};
pub use show::ShowControl;
