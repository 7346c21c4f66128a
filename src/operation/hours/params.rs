//! The table `[schedule]` of the site file.
//!
//! Three lists of hours, so that a plan for every Tuesday and a plan for one date cannot be confused: `weekly` has `days`, `dates` has a
//! `date` with a year, `yearly` has a `date` without a year. Must not: ask a clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::ShowState;

/// Opening hours: what the installation shows at which time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleParams {
    /// Time zone of all hours, for example `Europe/Berlin`. Empty: the time zone of the machine.
    pub time_zone: String,
    /// State outside of all hours. Without a weekly plan, days without a plan of their own are open around the clock.
    pub otherwise: ShowState,
    /// The clock that the schedule trusts. Until it does, no event starts, and if hours are planned, the state is `attract`.
    pub clock: ClockTrust,
    /// Hours of every week.
    pub weekly: Vec<WeeklyParams>,
    /// Hours of single dates. They replace the hours of `yearly` and `weekly` on these dates.
    pub dates: Vec<DayParams>,
    /// Hours of days that return every year, such as holidays. They replace the hours of `weekly` on these days.
    pub yearly: Vec<DayParams>,
    /// Rules of the director that start at a time of the clock, while the pool is visible.
    pub events: Vec<TimedRuleParams>,
    /// Power of the projectors.
    pub projectors: ProjectorParams,
}

impl Default for ScheduleParams {
    fn default() -> Self {
        Self {
            time_zone: String::new(),
            otherwise: ShowState::Closed,
            clock: ClockTrust::default(),
            weekly: Vec::new(),
            dates: Vec::new(),
            yearly: Vec::new(),
            events: Vec::new(),
            projectors: ProjectorParams::default(),
        }
    }
}

/// The clock that the schedule trusts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockTrust {
    /// A clock that the network has synchronized since the start of the machine.
    #[default]
    Synchronized,
    /// The clock of the machine, for a machine without a network. It needs a battery that keeps the time.
    Machine,
}

/// Hours of every week on some weekdays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeeklyParams {
    /// The weekdays.
    pub days: Vec<DayName>,
    /// The hours of each of these days. Empty: no hours.
    #[serde(default)]
    pub hours: Vec<HoursParams>,
}

/// Hours of a day, or of several days in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DayParams {
    /// In `dates` the date with its year, for example `2026-12-24`; in `yearly` month and day, for example `12-25`.
    pub date: String,
    /// Last day if the hours apply to several days in a row. In `yearly` it may be in the next year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Name in the preview, for example `Long night`.
    #[serde(default)]
    pub name: String,
    /// The hours of each of these days. Empty: no hours.
    #[serde(default)]
    pub hours: Vec<HoursParams>,
}

/// A part of a day with one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoursParams {
    /// Begin, for example `09:30`.
    pub from: String,
    /// End, for example `18:00`. `24:00` is midnight. An end before the start is on the next day.
    pub to: String,
    /// The state.
    #[serde(default)]
    pub state: ShowState,
    /// Scene that is shown from the start on. Without it, the scene does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
}

/// A rule of the director that starts at a time of the clock, as if a person started it: also if its condition does not hold. What a
/// stopped program, a clock that is not set or a dark picture misses is not caught up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimedRuleParams {
    /// Name of the rule, in the director of a scene. If the scene that is shown has no such rule, nothing starts.
    pub rule: String,
    /// Times of the day, for example `["12:00", "15:30"]`.
    pub at: Vec<String>,
    /// The weekdays. Empty: all.
    #[serde(default)]
    pub days: Vec<DayName>,
    /// Only on this date: with its year, for example `2026-12-24`, or without a year for a day of every year, for example `12-24`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A weekday.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DayName {
    /// Monday.
    #[default]
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

impl DayName {
    /// The weekdays in order.
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// Returns the name, as in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monday => "monday",
            Self::Tuesday => "tuesday",
            Self::Wednesday => "wednesday",
            Self::Thursday => "thursday",
            Self::Friday => "friday",
            Self::Saturday => "saturday",
            Self::Sunday => "sunday",
        }
    }

    /// Returns the weekday of a date.
    pub(super) fn of(date: jiff::civil::Date) -> Self {
        let index = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or_default();
        Self::ALL.get(index).copied().unwrap_or_default()
    }
}

/// Power of the projectors. They are on except in the state `closed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectorParams {
    /// Program that switches all projectors. It gets the additional argument `on` or `off`. Empty: none.
    pub command: String,
    /// Time before the end of the state `closed` at which the projectors are switched on, so that their lamps are warm.
    #[schemars(range(min = 0, max = 3600))]
    pub on_before_secs: u32,
    /// Time after the start of the state `closed` at which the projectors are switched off.
    #[schemars(range(min = 0, max = 3600))]
    pub off_after_secs: u32,
}

impl Default for ProjectorParams {
    fn default() -> Self {
        Self {
            command: String::new(),
            on_before_secs: 120,
            off_after_secs: 300,
        }
    }
}
