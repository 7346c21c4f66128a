//! Opening hours: which state and scene the installation shows at a point in time.
//!
//! In: the table `[schedule]` of the site file, and a time. Out: the state, the next change, a preview of days, all problems of
//! the table. Only the stage reads a clock and applies a state.

mod board;
mod clock_trust;
mod doubtful;
mod due_rules;
mod keeper;
mod kept;
mod params;
mod plan;
mod reading;
mod stage;
mod timed_rules;
mod timeline;

pub use board::ScheduleBoard;
pub(super) use clock_trust::EARLIEST_SECS;
pub use kept::ShowFile;
pub use params::{
    ClockTrust, DayName, DayParams, HoursParams, ProjectorParams, ScheduleParams, TimedRuleParams,
    WeeklyParams,
};
pub use plan::SchedulePlan;
pub use reading::minutes_of_day;
pub use stage::{ScheduleLinks, ScheduleStage};
pub use timeline::{Period, PlanNow};
