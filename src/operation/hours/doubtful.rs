//! Finds what is allowed in a plan, but is probably a mistake.
//!
//! In: a plan. Out: warnings with their paths. Must not: ask a clock.

use std::sync::Arc;

use jiff::civil::Date;

use super::params::ScheduleParams;
use super::plan::{Hours, NamedDays, NamedHours, SchedulePlan};

/// Number of days from which an entry without any opening is probably a mistake.
const CLOSED_DAYS: usize = 60;
/// Number of days from which an entry covers most of the year, which is what the weekly plan is for.
const MOST_DAYS: usize = 183;
/// Number of days that a yearly list can have.
const ALL_DAYS: usize = 366;

impl ScheduleParams {
    /// Returns what is probably a mistake, as pairs of path and message.
    pub fn warnings(&self) -> Vec<(String, String)> {
        SchedulePlan::compile(self).map_or_else(|_| Vec::new(), |plan| plan.warnings())
    }
}

impl SchedulePlan {
    fn warnings(&self) -> Vec<(String, String)> {
        let mut warnings = Vec::new();
        self.warn_of_long_items(self.dates.values().collect(), &mut warnings);
        // A usual year has no 29 February.
        let is_usual = |date: &Date| (date.month(), date.day()) != (2, 29);
        let yearly = self.yearly.iter().filter(|(date, _)| is_usual(date));
        self.warn_of_long_items(yearly.map(|(_, item)| item).collect(), &mut warnings);
        let is_usually_open = match self.weekly.iter().flatten().count() {
            0 => true,
            _ => self.weekly.iter().flatten().any(|hours| self.opens(hours)),
        };
        let opens = |days: &NamedDays| days.values().any(|day| self.opens(&day.hours));
        let is_open_on_a_day = is_usually_open && self.yearly.len() < ALL_DAYS;
        if self.is_planned() && !is_open_on_a_day && !opens(&self.yearly) {
            let message = match opens(&self.dates) {
                true => {
                    "the pool is open only on the days of `dates`; add hours to the weekly plan"
                }
                false => "the pool is never open; add hours, or remove the days that close it",
            };
            warnings.push((String::new(), message.to_owned()));
        } else {
            warnings.extend(self.dark_rules());
        }
        warnings
    }

    /// Warns of the items of a list of days that are too long. `rest` has the item of each day.
    fn warn_of_long_items(
        &self,
        mut rest: Vec<&Arc<NamedHours>>,
        warnings: &mut Vec<(String, String)>,
    ) {
        while let Some(item) = rest.last().copied() {
            let before = rest.len();
            rest.retain(|other| !Arc::ptr_eq(item, other));
            let count = before - rest.len();
            let what = match self.opens(&item.hours) {
                false if count > CLOSED_DAYS => "and the pool is closed on all of them",
                true if count > MOST_DAYS => "most of the year, which is what `weekly` is for",
                _ => continue,
            };
            warnings.push((
                format!("{}.last", item.path),
                format!("the entry covers {count} days, {what}; correct the first or the last day"),
            ));
        }
    }

    /// Whether the pool is visible on a day with these hours.
    fn opens(&self, hours: &[Hours]) -> bool {
        self.otherwise.is_lit() || hours.iter().any(|hours| hours.state.is_lit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{DayName, DayParams, HoursParams, WeeklyParams};

    fn day(date: &str, last: &str, hours: Vec<HoursParams>) -> DayParams {
        DayParams {
            date: date.to_owned(),
            last: (!last.is_empty()).then(|| last.to_owned()),
            hours,
            ..DayParams::default()
        }
    }

    fn weekly(hours: Vec<HoursParams>) -> Vec<WeeklyParams> {
        let days = DayName::ALL.to_vec();
        vec![WeeklyParams { days, hours }]
    }

    fn open() -> Vec<HoursParams> {
        vec![HoursParams {
            from: "10:00".to_owned(),
            to: "18:00".to_owned(),
            ..HoursParams::default()
        }]
    }

    /// A fixed bug: from 12-26 to 12-24 closed the pool on 364 days without a word.
    #[test]
    fn an_entry_that_closes_most_of_the_year_and_a_plan_that_never_opens_are_named() {
        let warned = |params: ScheduleParams| -> Vec<String> {
            assert_eq!(params.problems(), []);
            let warnings = params.warnings().into_iter();
            warnings
                .map(|(path, text)| format!("{path}: {text}"))
                .collect()
        };
        let plan = |yearly, dates, weekly| ScheduleParams {
            yearly,
            dates,
            weekly,
            ..ScheduleParams::default()
        };
        let swapped = plan(vec![day("12-26", "12-24", vec![])], vec![], weekly(open()));
        let said = warned(swapped);
        assert_eq!(said.len(), 1);
        assert!(
            said[0]
                .starts_with("yearly[0].last: the entry covers 364 days, and the pool is closed"),
            "{said:?}"
        );
        for fine in [
            plan(vec![day("12-24", "01-06", vec![])], vec![], weekly(open())),
            plan(vec![day("06-01", "08-31", open())], vec![], weekly(open())),
            plan(
                vec![],
                vec![day("2026-07-01", "2026-08-15", vec![])],
                weekly(open()),
            ),
            plan(vec![day("12-24", "", vec![])], vec![], vec![]),
            ScheduleParams::default(),
        ] {
            assert_eq!(warned(fine), Vec::<String>::new());
        }
        let most = warned(plan(
            vec![day("12-26", "12-24", open())],
            vec![],
            weekly(vec![]),
        ));
        assert!(most[0].contains("most of the year"), "{most:?}");
        let long = warned(plan(
            vec![],
            vec![day("2026-01-01", "2026-12-31", vec![])],
            weekly(open()),
        ));
        assert!(
            long[0].starts_with("dates[0].last: the entry covers 365 days"),
            "{long:?}"
        );
        let never = warned(plan(
            vec![day("01-01", "12-31", vec![])],
            vec![],
            weekly(open()),
        ));
        assert!(
            never.contains(
                &": the pool is never open; add hours, or remove the days that close it".to_owned()
            ),
            "{never:?}"
        );
        let never = warned(plan(vec![], vec![], weekly(vec![])));
        assert_eq!(never.len(), 1);
        let dates = warned(plan(
            vec![],
            vec![day("2026-07-01", "", open())],
            weekly(vec![]),
        ));
        assert!(
            dates[0].contains("only on the days of `dates`"),
            "{dates:?}"
        );
    }
}
