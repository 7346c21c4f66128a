//! What the desk and its clients exchange about the schedule: states of the show, status, preview, commands.
//!
//! Plain data that can be written as JSON. Must not: know a plan or a clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the installation shows.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ShowState {
    /// The pool as usual.
    #[default]
    Open,
    /// The pool is shown, and the director's rules begin more often, to attract visitors.
    Attract,
    /// The picture is black. The projectors stay on.
    Dark,
    /// The picture is black, and the pool rests. The projectors are off.
    Closed,
}

impl ShowState {
    /// Returns the name, as in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Attract => "attract",
            Self::Dark => "dark",
            Self::Closed => "closed",
        }
    }

    /// Whether the pool is visible.
    pub fn is_lit(self) -> bool {
        matches!(self, Self::Open | Self::Attract)
    }
}

/// When something that was set by hand ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandEnd {
    /// At the next planned change; if none is planned, somebody has to end it.
    #[default]
    NextChange,
    /// After this time in seconds.
    Secs(u32),
    /// At the first planned opening after midnight; if none is planned, or if the pool is open by then, at 06:00.
    Tomorrow,
    /// Somebody has to end it.
    Never,
}

impl HandEnd {
    /// Whether it is the end that applies if none is given.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A step of the schedule, sent as a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScheduleStep {
    /// Replaces the planned state for some time.
    ByHand {
        /// The state.
        state: ShowState,
        /// When it ends. After a duration, the state that was set by hand before applies again if its own end has not come;
        /// otherwise the plan.
        #[serde(default, skip_serializing_if = "HandEnd::is_default")]
        until: HandEnd,
    },
    /// Ends the state that was set last. The one that was set by hand before it applies again, or the plan.
    End,
    /// Returns to the plan.
    Resume,
}

/// The schedule. Times are local times with their offset, ISO 8601.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScheduleStatus {
    /// What the installation shows.
    pub state: ShowState,
    /// Reason for the state, for example `weekly plan`.
    pub reason: String,
    /// Scene that the plan shows now; `None` if the plan names none.
    pub scene: Option<String>,
    /// Time at which the planned state began; `None` if it began more than a week ago.
    pub since: Option<String>,
    /// Time of the next planned change; `None` if there is none within 400 days.
    pub until: Option<String>,
    /// State after the next planned change.
    pub next: Option<ShowState>,
    /// Name of the time zone.
    pub time_zone: String,
    /// Local time of this status.
    pub local_time: String,
    /// Whether the site plans any hours. If not, the pool is open around the clock.
    pub is_planned: bool,
    /// The next rule that the plan starts while the pool is visible; `None` if there is none within 400 days. While the clock cannot be
    /// trusted, it does not start.
    pub next_event: Option<PreviewRule>,
    /// Whether the clock can be trusted. If not, the plan does not apply: no rule starts, and if hours are planned, the state is `attract`.
    pub is_clock_trusted: bool,
    /// Why the clock is trusted or not, in words.
    pub clock: String,
    /// State set by hand; `None` if the plan applies.
    pub by_hand: Option<ByHandStatus>,
    /// Time from which the picture is visible again by itself; `None` if it is visible, or if somebody has to end this.
    pub lit_again: Option<String>,
    /// Time at which a paused pool goes on by itself; `None` if it moves, or if somebody has to end the pause.
    pub paused_until: Option<String>,
    /// Time at which the camera is used again after a replay; `None` if it is used, or if somebody has to end the replay.
    pub rehearsal_until: Option<String>,
    /// Whether a restart would lose the state, the pause or the rehearsal that was set by hand, because the disk refuses it.
    pub is_unkept: bool,
    /// Time for which [`HandEnd::Tomorrow`] stands now, also by a clock that is not set; empty if the clock is certainly wrong.
    pub tomorrow: String,
    /// Whether the plan opens the pool at that time.
    pub tomorrow_opens: bool,
    /// Whether the projectors are to be on.
    pub projectors_on: bool,
}

/// A state that was set by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByHandStatus {
    /// The state.
    pub state: ShowState,
    /// Time at which it ends; `None` if somebody has to end it.
    pub until: Option<String>,
    /// What applies then; `None` if somebody has to end the state.
    #[serde(default)]
    pub then: Option<NextShow>,
}

/// What applies after a state that was set by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextShow {
    /// The state.
    pub state: ShowState,
    /// Whether it was set by hand before. If not, it is the one of the plan.
    pub is_by_hand: bool,
    /// If it was set by hand, the time at which it ends; `None` if somebody has to end it.
    pub until: Option<String>,
}

/// One day of the preview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewDay {
    /// The date, ISO 8601.
    pub date: String,
    /// The weekday, in lower case.
    pub weekday: String,
    /// The part of the plan that applies to the day.
    pub source: PlanSource,
    /// Name of the date in the plan; empty without one.
    pub name: String,
    /// The states of the day, in order and without gaps. Empty if the time zone skips the day.
    pub periods: Vec<PreviewPeriod>,
    /// The rules of the director that start on the day, in the order of their times.
    #[serde(default)]
    pub rules: Vec<PreviewRule>,
    /// A remark, for example that the clocks change on this day; empty without one.
    pub note: String,
}

/// A time with one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewPeriod {
    /// Begin, local time with offset.
    pub from: String,
    /// End, local time with offset.
    pub to: String,
    /// The state.
    pub state: ShowState,
    /// The scene; `None` if the plan names none.
    pub scene: Option<String>,
}

/// A rule of the director that starts at a time of the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewRule {
    /// Local time with offset.
    pub at: String,
    /// Name of the rule.
    pub rule: String,
    /// Whether the plan lets the pool be visible at this time. If not, the rule does not start.
    pub is_lit: bool,
}

/// The part of the plan that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSource {
    /// Nothing is planned for the day.
    #[default]
    None,
    /// The plan of every week.
    Weekly,
    /// A day of every year.
    Yearly,
    /// A single date.
    Date,
}

impl PlanSource {
    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "nothing planned",
            Self::Weekly => "weekly plan",
            Self::Yearly => "day of every year",
            Self::Date => "date",
        }
    }
}
