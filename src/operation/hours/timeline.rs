//! Finds the state at a point in time, the next change, and the preview of days.
//!
//! Times of the clock are converted with these rules: a time that a zone skips (a gap) is the end of the gap, and a time that
//! occurs twice (a fold) is the first of the two. So a wall clock that shows the time has always reached the change. Hours that
//! lie in a gap completely do not happen. Where the hours of two days overlap, those that begin later apply.

use jiff::civil::Date;
use jiff::tz::AmbiguousOffset;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::params::DayName;
use super::plan::SchedulePlan;
use crate::control::{HandEnd, PlanSource, PreviewDay, PreviewPeriod, ShowState};

/// Longest look ahead for the next change, in days.
pub(super) const AHEAD_DAYS: i32 = 400;
/// Days of one step of the look ahead, and of the look back for the start of a state.
const STEP_DAYS: i32 = 8;
/// Number of days of a year, in which every day of every year comes once.
const YEAR_DAYS: i32 = 365;
/// Largest number of days of a preview.
const PREVIEW_DAYS_MAX: u16 = 400;

/// A time with one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// Begin.
    pub from: Timestamp,
    /// End.
    pub to: Timestamp,
    /// The state.
    pub state: ShowState,
    /// Scene that the plan shows; `None` if the plan names none.
    pub scene: Option<String>,
    /// The part of the plan that the state is from.
    pub source: PlanSource,
    /// Name of the date in the plan; empty without one.
    pub name: String,
}

impl Period {
    fn has_same_show(&self, other: &Self) -> bool {
        self.state == other.state && self.scene == other.scene
    }
}

/// The plan at a point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanNow {
    /// The state.
    pub state: ShowState,
    /// Scene that the plan shows; `None` if the plan names none.
    pub scene: Option<String>,
    /// Reason for the state.
    pub reason: String,
    /// Start of the state; `None` if it began more than a week ago.
    pub since: Option<Timestamp>,
    /// Time of the next change and the state after it; `None` if there is none within 400 days.
    pub next: Option<(Timestamp, ShowState)>,
}

/// Start of a day without planned hours, in minutes since midnight.
const MORNING_MINUTES: u16 = 6 * 60;
/// Number of planned changes among which the next opening is searched.
const CHANGES_MAX: usize = 9;

/// Hours as points in time.
struct Interval<'a> {
    from: Timestamp,
    to: Timestamp,
    state: ShowState,
    scene: Option<&'a String>,
    source: PlanSource,
    name: &'a str,
}

impl SchedulePlan {
    /// Returns the state at a point in time, and the next change.
    pub fn at(&self, time: Timestamp) -> PlanNow {
        let today = self.date_of(time);
        let mut periods = self.periods_of_days(today, -STEP_DAYS, STEP_DAYS);
        let index = periods
            .iter()
            .position(|p| p.from <= time && time < p.to)
            .unwrap_or_default();
        let Some(current) = periods.get(index).cloned() else {
            return self.always();
        };
        let since = periods
            .iter()
            .take(index)
            .rposition(|p| !p.has_same_show(&current));
        let since = since.and_then(|at| periods.get(at)).map(|p| p.to);
        let mut next = None;
        for step in 1..=AHEAD_DAYS / STEP_DAYS {
            let later = periods.iter().filter(|p| p.from > time);
            next = later
                .clone()
                .find(|p| !p.has_same_show(&current))
                .map(|p| (p.from, p.state));
            if next.is_some() || !self.is_planned() {
                break;
            }
            periods = self.periods_of_days(today, step * STEP_DAYS - 1, (step + 1) * STEP_DAYS);
        }
        PlanNow {
            reason: self.reason(&current),
            state: current.state,
            scene: current.scene,
            since,
            next,
        }
    }

    /// Returns the time for which an end of something set by hand at `time` stands; `None` if somebody has to end it. A duration begins
    /// when it is set, so it has no time here.
    pub fn end_of(&self, ends: HandEnd, time: Timestamp) -> Option<Timestamp> {
        match ends {
            HandEnd::NextChange => self.at(time).next.map(|(at, _)| at),
            HandEnd::Tomorrow => Some(self.tomorrow(time).0),
            HandEnd::Secs(_) | HandEnd::Never => None,
        }
    }

    /// Returns the first planned opening after midnight, and `true`. If the pool is lit at midnight and in the morning, or if no
    /// opening is planned: `MORNING_MINUTES`, and `false`.
    pub fn tomorrow(&self, time: Timestamp) -> (Timestamp, bool) {
        let date = self.date_of(time).saturating_add(1.days());
        let midnight = self.instant(date, 0);
        let morning = self.instant(date, MORNING_MINUTES);
        let is_lit = self.at(midnight).state.is_lit();
        let from = if is_lit { morning } else { midnight };
        let lit = self.lit_from(from);
        (lit.unwrap_or(morning), lit.is_some_and(|lit| lit > from))
    }

    /// Returns the first time from `time` on at which the plan lets the pool be visible; `None` if it does not within the next
    /// changes.
    pub(super) fn lit_from(&self, time: Timestamp) -> Option<Timestamp> {
        let mut from = time;
        for _ in 0..CHANGES_MAX {
            let now = self.at(from);
            if now.state.is_lit() {
                return Some(from);
            }
            from = now.next?.0;
        }
        None
    }

    fn always(&self) -> PlanNow {
        PlanNow {
            state: self.state_without_hours(PlanSource::None),
            scene: None,
            reason: PlanSource::None.name().to_owned(),
            since: None,
            next: None,
        }
    }

    fn reason(&self, period: &Period) -> String {
        if !self.is_planned() {
            return "no hours are planned".to_owned();
        }
        match period.name.as_str() {
            "" => period.source.name().to_owned(),
            name => format!("{} \"{name}\"", period.source.name()),
        }
    }

    /// Returns the state outside of all hours of a day. Without a weekly plan, a day without a plan of its own is open: a single
    /// date that is closed must not close all other days.
    fn state_without_hours(&self, source: PlanSource) -> ShowState {
        match source == PlanSource::None && !self.has_weekly() {
            true => ShowState::Open,
            false => self.otherwise,
        }
    }

    /// Whether the projectors are to be on: in every state but `closed`, from some time before it until some time after it.
    pub fn wants_power(&self, time: Timestamp) -> bool {
        let secs = |secs: u32| SignedDuration::from_secs(i64::from(secs));
        let from = time.saturating_sub(secs(self.off_after_secs));
        let to = time.saturating_add(secs(self.on_before_secs));
        let (Ok(from), Ok(to)) = (from, to) else {
            return true;
        };
        let periods = self.periods_of_days(self.date_of(time), -2, 2);
        periods
            .iter()
            .any(|p| p.state != ShowState::Closed && p.from <= to && p.to > from)
    }

    /// Returns the days from the date of `time` on, with their states.
    pub fn preview(&self, time: Timestamp, days: u16) -> Vec<PreviewDay> {
        let today = self.date_of(time);
        let days = days.min(PREVIEW_DAYS_MAX);
        let periods = self.periods_of_days(today, 0, i32::from(days));
        let date = |offset: u16| today.checked_add(i32::from(offset).days()).ok();
        (0..days)
            .filter_map(date)
            .map(|date| self.preview_day(date, &periods))
            .collect()
    }

    /// Returns the days with a plan or a rule of their own, from this number of days after the date of `time`, within `YEAR_DAYS`.
    pub(super) fn special_days(&self, time: Timestamp, from: u16) -> Vec<PreviewDay> {
        let today = self.date_of(time);
        let date = |offset: i32| today.checked_add(offset.days()).ok();
        let is_special = |date: &Date| {
            let source = self.day(*date).source;
            matches!(source, PlanSource::Date | PlanSource::Yearly) || self.has_dated_rule(*date)
        };
        (i32::from(from)..YEAR_DAYS)
            .filter_map(date)
            .filter(is_special)
            .flat_map(|date| self.preview(self.instant(date, 0), 1))
            .collect()
    }

    fn preview_day(&self, date: Date, periods: &[Period]) -> PreviewDay {
        let plan = self.day(date);
        let (begin, end) = (self.instant(date, 0), self.instant(date, 24 * 60));
        let in_day = periods.iter().filter(|p| p.from < end && p.to > begin);
        let shown = |p: &Period| PreviewPeriod {
            from: self.local(p.from.max(begin)),
            to: self.local(p.to.min(end)),
            state: p.state,
            scene: p.scene.clone(),
        };
        let mut shown: Vec<PreviewPeriod> = in_day.map(shown).collect();
        shown.dedup_by(|after, before| {
            let is_same = after.state == before.state && after.scene == before.scene;
            if is_same {
                before.to = std::mem::take(&mut after.to);
            }
            is_same
        });
        PreviewDay {
            date: date.to_string(),
            weekday: DayName::of(date).name().to_owned(),
            source: plan.source,
            name: plan.name.to_owned(),
            periods: shown,
            rules: self.preview_rules(date),
            note: length_note(begin.duration_until(end)),
        }
    }

    /// Returns a time as local time with its offset, ISO 8601.
    pub fn local(&self, time: Timestamp) -> String {
        let local = time.to_zoned_datetime(self.zone.clone());
        local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// Returns the local date of a time.
    pub fn date_of(&self, time: Timestamp) -> Date {
        self.zone.to_datetime(time).date()
    }

    /// Returns noon of a date, for a preview that begins on this date; `None` if the date is too far away.
    pub fn noon_of(&self, date: Date) -> Option<Timestamp> {
        let noon = self.instant(date, 12 * 60);
        (noon < Timestamp::MAX).then_some(noon)
    }

    /// Returns the states of the days from `today + from` to before `today + to`, in order and without gaps.
    pub(super) fn periods_of_days(&self, today: Date, from: i32, to: i32) -> Vec<Period> {
        let day = |offset: i32| today.saturating_add(offset.days());
        let (begin, end) = (self.instant(day(from), 0), self.instant(day(to), 0));
        let intervals: Vec<Interval<'_>> = (from - 2..=to)
            .flat_map(|offset| self.intervals_of(day(offset)))
            .collect();
        let edges = intervals.iter().flat_map(|i| [i.from, i.to]);
        let midnights = (from..=to).map(|offset| self.instant(day(offset), 0));
        let mut edges: Vec<Timestamp> = edges.chain(midnights).collect();
        edges.retain(|edge| (begin..=end).contains(edge));
        edges.sort_unstable();
        edges.dedup();
        let mut periods: Vec<Period> = Vec::new();
        for pair in edges.windows(2) {
            let [from, to] = pair else { continue };
            // The intervals are in the order of their days, so of several that begin at once the last one applies.
            let active = intervals.iter().filter(|i| i.from <= *from && *from < i.to);
            let period = match active.max_by_key(|i| i.from) {
                Some(active) => Period {
                    from: *from,
                    to: *to,
                    state: active.state,
                    scene: active.scene.cloned(),
                    source: active.source,
                    name: active.name.to_owned(),
                },
                None => self.without_hours(*from, *to),
            };
            match periods.last_mut() {
                Some(last)
                    if last.has_same_show(&period)
                        && last.source == period.source
                        && last.name == period.name =>
                {
                    last.to = period.to;
                }
                _ => periods.push(period),
            }
        }
        periods
    }

    fn without_hours(&self, from: Timestamp, to: Timestamp) -> Period {
        let day = self.day(self.date_of(from));
        Period {
            from,
            to,
            state: self.state_without_hours(day.source),
            scene: None,
            source: day.source,
            name: day.name.to_owned(),
        }
    }

    fn intervals_of(&self, date: Date) -> impl Iterator<Item = Interval<'_>> {
        let plan = self.day(date);
        // Nothing begins on a day that the zone skips.
        let is_skipped = self.instant(date, 0) == self.instant(date, 24 * 60);
        plan.hours.iter().filter_map(move |hours| {
            let from = self.instant(date, hours.from_minutes);
            let to = self.instant(date, hours.to_minutes);
            (from < to && !is_skipped).then_some(Interval {
                from,
                to,
                state: hours.state,
                scene: hours.scene.as_ref(),
                source: plan.source,
                name: plan.name,
            })
        })
    }

    /// Returns the first time at which the clock shows, or has passed, this many minutes after midnight of a date.
    pub(super) fn instant(&self, date: Date, minutes: u16) -> Timestamp {
        let (days, minutes) = (minutes / (24 * 60), minutes % (24 * 60));
        let date = date.saturating_add(i32::from(days).days());
        let (hour, minute) = ((minutes / 60) as i8, (minutes % 60) as i8);
        let clock = date.at(hour, minute, 0, 0);
        let ambiguous = self.zone.to_ambiguous_timestamp(clock);
        let is_gap = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let Ok(earlier) = ambiguous.earlier() else {
            return Timestamp::MAX;
        };
        if is_gap {
            let change = self.zone.following(earlier).next();
            return change.map_or(earlier, |change| change.timestamp());
        }
        earlier
    }
}

/// Says how long a day is, if it has not 24 hours.
fn length_note(length: SignedDuration) -> String {
    let minutes = length.as_mins();
    match minutes {
        1440 => String::new(),
        ..=0 => "the time zone skips this day".to_owned(),
        _ if minutes % 60 == 0 => format!("the clocks change; this day has {} hours", minutes / 60),
        _ => format!(
            "the clocks change; this day has {} h {} min",
            minutes / 60,
            minutes % 60
        ),
    }
}

#[cfg(test)]
mod tests;
