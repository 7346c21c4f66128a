//! Rules of the director that start at a time of the clock: the list `events` of the schedule.
//!
//! In: the list. Out: for a date, whether a rule starts on it, and at which minutes. Must not: know the opening hours.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::params::{DayName, TimedRuleParams};
use super::reading::{ITEMS_MAX, Problems, limit, minutes_of_day, month_day, parse};
use crate::runtime::parse_date;

/// A Monday, from which four weeks are looked at to find out whether the pool is ever lit at a time.
const SAMPLE_WEEKS: (i16, i8, i8) = (2001, 3, 5);
/// Number of days of these weeks.
const SAMPLE_DAYS: i32 = 28;

/// A rule with its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimedRule {
    pub(super) rule: String,
    /// Minutes of the clock since midnight, in order.
    pub(super) minutes: Vec<u16>,
    /// Weekdays; empty: all.
    days: Vec<DayName>,
    pub(super) date: Option<RuleDate>,
}

/// The date of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleDate {
    Once(Date),
    /// Month and day.
    Yearly(i8, i8),
}

impl TimedRule {
    /// Compiles a list.
    pub(super) fn compile(items: &[TimedRuleParams], problems: &mut Problems) -> Vec<Self> {
        limit(items.len(), "events", problems);
        let items = items.iter().enumerate().take(ITEMS_MAX);
        items
            .map(|(index, item)| Self::compile_one(item, &format!("events[{index}]"), problems))
            .collect()
    }

    fn compile_one(item: &TimedRuleParams, path: &str, problems: &mut Problems) -> Self {
        if item.rule.is_empty() {
            let message = "no rule is named; write the name of a rule of a scene's director";
            problems.push((format!("{path}.rule"), message.to_owned()));
        }
        if item.at.is_empty() {
            let message = "no time is listed; write for example at = [\"12:00\"]";
            problems.push((format!("{path}.at"), message.to_owned()));
        }
        limit(item.at.len(), &format!("{path}.at"), problems);
        let mut minutes = Vec::new();
        for (at, text) in item.at.iter().enumerate().take(ITEMS_MAX) {
            let path = format!("{path}.at[{at}]");
            let Some(found) = parse(text, &path, minutes_of_day, problems) else {
                continue;
            };
            if minutes.contains(&found) {
                problems.push((path, format!("{text} is listed twice; remove one")));
            }
            minutes.push(found);
        }
        minutes.sort_unstable();
        let date = (item.date.as_ref())
            .and_then(|date| parse(date, &format!("{path}.date"), RuleDate::read, problems));
        Self {
            rule: item.rule.clone(),
            minutes,
            days: item.days.clone(),
            date,
        }
    }

    /// Whether the rule starts on a date.
    pub(super) fn is_on(&self, date: Date) -> bool {
        let is_weekday = self.days.is_empty() || self.days.contains(&DayName::of(date));
        let is_date = match self.date {
            None => true,
            Some(RuleDate::Once(once)) => once == date,
            Some(RuleDate::Yearly(month, day)) => (month, day) == (date.month(), date.day()),
        };
        is_weekday && is_date
    }
}

impl RuleDate {
    fn read(text: &str) -> Result<Self, String> {
        match text.matches('-').count() {
            2 => parse_date(text).map(Self::Once),
            _ => month_day(text).map(|date| Self::Yearly(date.month(), date.day())),
        }
    }
}

impl TimedRule {
    /// Returns dates that stand for all dates of the rule.
    pub(super) fn sample_dates(&self) -> Box<dyn Iterator<Item = Date> + '_> {
        let (year, month, day) = SAMPLE_WEEKS;
        match self.date {
            Some(RuleDate::Once(date)) => Box::new(std::iter::once(date)),
            Some(RuleDate::Yearly(month, day)) => {
                // Every weekday comes within this time, also for the 29 February.
                let years = (2001..2030).filter_map(move |year| Date::new(year, month, day).ok());
                Box::new(years.filter(|date| self.is_on(*date)))
            }
            None => {
                let first = Date::new(year, month, day).unwrap_or_default();
                let days = (0..SAMPLE_DAYS).map(move |offset| first.saturating_add(offset.days()));
                Box::new(days.filter(|date| self.is_on(*date)))
            }
        }
    }
}
