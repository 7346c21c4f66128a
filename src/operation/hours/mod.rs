//! The schedule: which state and scene the installation shows at a point in time.
//!
//! In: the table `[schedule]` of the site file, and a time. Out: the state, the next change, a preview of days, all problems of
//! the table. Must not: ask a clock, apply a state.

mod keeper;
mod params;
mod plan;
mod timeline;

pub use keeper::{ByHand, ScheduleDecision, ScheduleKeeper};
pub use params::{
    ClockTrust, DateParams, DayName, HoursParams, ProjectorParams, ScheduleParams, WeeklyParams,
    YearlyParams,
};
pub use plan::{SchedulePlan, minutes_of_day};
pub use timeline::{Period, PlanNow};
