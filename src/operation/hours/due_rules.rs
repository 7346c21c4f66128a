//! The rules of the director that a plan starts: those between two times, and those of a day.
//!
//! In: a plan and times. Out: names of rules with their times. Must not: ask a clock, start a rule.

use jiff::Timestamp;
use jiff::civil::Date;

use super::plan::SchedulePlan;
use super::timeline::AHEAD_DAYS;
use crate::control::{PreviewRule, ShowState};

/// Years that stand for all years: in seven years in a row, a day falls on different weekdays, and one is a leap year.
const YEARS: std::ops::Range<i16> = 2024..2031;

impl SchedulePlan {
    /// Returns the rules that start after one time and at or before another one, in the order of their times.
    pub(super) fn rules_between(&self, after: Timestamp, until: Timestamp) -> Vec<&str> {
        let (mut date, last) = (self.date_of(after), self.date_of(until));
        let mut due = Vec::new();
        while date <= last && !self.events.is_empty() {
            due.extend(self.rules_of(date));
            let Ok(next) = date.tomorrow() else { break };
            date = next;
        }
        due.retain(|(at, _)| after < *at && *at <= until);
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, rule)| rule).collect()
    }

    /// Returns the rules that start on a date, each with its time.
    fn rules_of(&self, date: Date) -> impl Iterator<Item = (Timestamp, &str)> {
        // Nothing begins on a day that the zone skips.
        let is_skipped = self.instant(date, 0) == self.instant(date, 24 * 60);
        let rules = self.events.iter();
        let on_date = rules.filter(move |event| !is_skipped && event.is_on(date));
        on_date.flat_map(move |event| {
            let times = event.minutes.iter();
            times.map(move |&minutes| (self.instant(date, minutes), event.rule.as_str()))
        })
    }

    /// Whether the plan depends on the clock.
    pub(super) fn needs_clock(&self) -> bool {
        self.is_planned() || !self.events.is_empty()
    }

    /// Returns the first rule after a time that starts while the pool is visible.
    pub(super) fn next_rule(&self, after: Timestamp) -> Option<PreviewRule> {
        let mut date = self.date_of(after);
        for _ in 0..AHEAD_DAYS {
            if self.events.iter().any(|event| event.is_on(date)) {
                let is_shown = |at: Timestamp| self.state_on(self.date_of(at), at).is_lit();
                let rules = self.rules_of(date);
                let starting = rules.filter(|(at, _)| *at > after && is_shown(*at));
                if let Some((at, rule)) = starting.min_by_key(|(at, _)| *at) {
                    return Some(PreviewRule {
                        at: self.local(at),
                        rule: rule.to_owned(),
                        is_lit: true,
                    });
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// Whether a rule starts on this date, and not every week.
    pub(super) fn has_dated_rule(&self, date: Date) -> bool {
        let mut rules = self.events.iter();
        rules.any(|event| event.date.is_some() && event.is_on(date))
    }

    /// Returns the rules of a day for the preview, in the order of their times.
    pub(super) fn preview_rules(&self, date: Date) -> Vec<PreviewRule> {
        let mut rules: Vec<(Timestamp, &str)> = self.rules_of(date).collect();
        rules.sort_by_key(|(at, _)| *at);
        let shown = |(at, rule): (Timestamp, &str)| PreviewRule {
            at: self.local(at),
            rule: rule.to_owned(),
            is_lit: self.state_on(self.date_of(at), at).is_lit(),
        };
        rules.into_iter().map(shown).collect()
    }

    /// Returns the times at which a rule never starts, because the pool is never lit then, as pairs of path and message.
    pub(super) fn dark_rules(&self) -> Vec<(String, String)> {
        let special = self.special_dates();
        let mut found = Vec::new();
        for (index, event) in self.events.iter().enumerate() {
            let special = || special.iter().copied().filter(|date| event.is_on(*date));
            for (at, &minutes) in event.minutes.iter().enumerate() {
                let is_lit = |date: Date| {
                    let time = self.instant(date, minutes);
                    self.state_on(self.date_of(time), time).is_lit()
                };
                if !event.sample_dates().chain(special()).any(is_lit) {
                    found.push((
                        format!("events[{index}].at[{at}]"),
                        format!(
                            "at {:02}:{:02} the pool is never visible, so \"{}\" does not start then; choose a time within the \
                             opening hours",
                            minutes / 60,
                            minutes % 60,
                            event.rule
                        ),
                    ));
                }
            }
        }
        found
    }

    /// Returns the dates with hours of their own, and the days after them, on which a long night ends; days of every year in some years.
    fn special_dates(&self) -> Vec<Date> {
        let in_years = |day: &Date| {
            let (month, day) = (day.month(), day.day());
            YEARS.filter_map(move |year| Date::new(year, month, day).ok())
        };
        let dates = self.dates.keys().copied();
        let dates = dates.chain(self.yearly.keys().flat_map(in_years));
        dates
            .flat_map(|date| [Some(date), date.tomorrow().ok()])
            .flatten()
            .collect()
    }

    /// Returns the state at a time on a date.
    fn state_on(&self, date: Date, time: Timestamp) -> ShowState {
        let periods = self.periods_of_days(date, 0, 1);
        let now = periods.iter().find(|p| p.from <= time && time < p.to);
        now.map_or(self.otherwise, |period| period.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ScheduleParams;

    fn plan(text: &str) -> SchedulePlan {
        let params: ScheduleParams = toml::from_str(text).unwrap();
        SchedulePlan::compile(&params).unwrap()
    }

    /// Returns the rules that a plan starts in some days, looked at every ten minutes, each with its local time.
    fn started(plan: &SchedulePlan, from: &str, days: i32) -> Vec<String> {
        let begin: Timestamp = from.parse().unwrap();
        let step = jiff::SignedDuration::from_mins(10);
        let mut found = Vec::new();
        let mut last = begin.checked_sub(step).unwrap();
        for _ in 0..days * 144 {
            let now = last.checked_add(step).unwrap();
            for rule in plan.rules_between(last, now) {
                found.push(format!("{} {rule}", &plan.local(now)[5..16]));
            }
            last = now;
        }
        found
    }

    #[test]
    fn rules_start_at_times_of_weekdays_dates_and_days_of_every_year() {
        let plan = plan(
            "time_zone = \"UTC\"\n[[events]]\nrule = \"noon\"\nat = [\"15:30\", \"12:00\"]\ndays = [\"saturday\", \"sunday\"]\n\
             [[events]]\nrule = \"feast\"\nat = [\"18:00\"]\ndate = \"12-24\"\n\
             [[events]]\nrule = \"opening\"\nat = [\"12:00\"]\ndate = \"2026-12-25\"\n",
        );
        // 2026-12-24 is a Thursday.
        assert_eq!(
            started(&plan, "2026-12-24T00:00:00Z", 4),
            [
                "12-24T18:00 feast",
                "12-25T12:00 opening",
                "12-26T12:00 noon",
                "12-26T15:30 noon",
                "12-27T12:00 noon",
                "12-27T15:30 noon"
            ]
        );
        assert_eq!(
            started(&plan, "2027-12-24T00:00:00Z", 2),
            ["12-24T18:00 feast", "12-25T12:00 noon", "12-25T15:30 noon"]
        );
        assert!(started(&plan, "2026-12-28T00:00:00Z", 4).is_empty());
    }

    #[test]
    fn when_the_clocks_change_a_rule_starts_once() {
        let plan =
            plan("time_zone = \"Europe/Berlin\"\n[[events]]\nrule = \"night\"\nat = [\"02:30\"]\n");
        // The clocks go forward on 29 March 2026, and back on 25 October.
        assert_eq!(
            started(&plan, "2026-03-28T12:00:00Z", 1),
            ["03-29T03:00 night"]
        );
        assert_eq!(
            started(&plan, "2026-10-24T12:00:00Z", 1),
            ["10-25T02:30 night"]
        );
    }

    #[test]
    fn the_preview_has_the_rules_of_a_day_and_those_of_dates_far_away() {
        let plan = plan(
            "time_zone = \"UTC\"\n[[weekly]]\ndays = [\"monday\"]\nhours = [{ from = \"10:00\", to = \"18:00\" }]\n\
             [[events]]\nrule = \"show\"\nat = [\"12:00\", \"20:00\"]\n\
             [[events]]\nrule = \"feast\"\nat = [\"12:00\"]\ndate = \"12-24\"\n",
        );
        let monday: Timestamp = "2026-06-01T09:00:00Z".parse().unwrap();
        let rules = &plan.preview(monday, 1)[0].rules;
        let shown = |rule: &PreviewRule| (rule.at.clone(), rule.is_lit);
        assert_eq!(
            rules.iter().map(shown).collect::<Vec<_>>(),
            [
                ("2026-06-01T12:00:00+00:00".to_owned(), true),
                ("2026-06-01T20:00:00+00:00".to_owned(), false)
            ]
        );
        let special = plan.special_days(monday, 21);
        assert_eq!(special.len(), 1);
        assert_eq!(special[0].date, "2026-12-24");
    }

    #[test]
    fn wrong_times_and_dates_are_problems_and_times_when_the_pool_is_dark_are_warnings() {
        let read = |text: &str| -> ScheduleParams { toml::from_str(text).unwrap() };
        let wrong = read(
            "[[events]]\nrule = \"\"\nat = []\n[[events]]\nrule = \"a\"\nat = [\"25:00\", \"12:00\", \"12:00\"]\ndate = \"24.12.\"\n\
             [[events]]\nrule = \"a\"\nat = [\"12:00\"]\ndate = \"2026-02-30\"\n",
        );
        let problems = wrong.problems();
        let paths: Vec<&str> = problems.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "events[0].rule",
                "events[0].at",
                "events[1].at[0]",
                "events[1].at[2]",
                "events[1].date",
                "events[2].date"
            ],
            "{problems:?}"
        );
        let closed = read(
            "time_zone = \"UTC\"\n[[weekly]]\ndays = [\"monday\"]\nhours = [{ from = \"10:00\", to = \"18:00\" }]\n\
             [[events]]\nrule = \"a\"\nat = [\"12:00\", \"18:00\"]\n[[events]]\nrule = \"b\"\nat = [\"12:00\"]\ndays = [\"sunday\"]\n",
        );
        let warnings = closed.warnings();
        let paths: Vec<&str> = warnings.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            ["events[0].at[1]", "events[1].at[0]"],
            "{warnings:?}"
        );
        let long_night = read(
            "time_zone = \"UTC\"\n[[weekly]]\ndays = [\"monday\"]\nhours = [{ from = \"10:00\", to = \"18:00\" }]\n\
             [[dates]]\ndate = \"2026-11-14\"\nhours = [{ from = \"18:00\", to = \"02:00\" }]\n\
             [[yearly]]\ndate = \"12-24\"\nhours = [{ from = \"19:00\", to = \"20:00\" }]\n\
             [[events]]\nrule = \"a\"\nat = [\"20:00\", \"01:00\", \"24:00\", \"19:30\"]\n",
        );
        assert_eq!(long_night.warnings(), []);
        let plan = SchedulePlan::compile(&long_night).unwrap();
        let evening: Timestamp = "2026-11-14T12:00:00Z".parse().unwrap();
        let rules = &plan.preview(evening, 1)[0].rules;
        assert!(
            rules
                .iter()
                .any(|rule| rule.at.starts_with("2026-11-15T00:00") && rule.is_lit),
            "{rules:?}"
        );
        let lit = read("time_zone = \"UTC\"\n[[events]]\nrule = \"a\"\nat = [\"03:00\"]\n");
        assert_eq!(lit.warnings(), []);
    }
}
