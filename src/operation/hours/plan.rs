//! Compiles the table `[schedule]`: parses dates and times, and finds the hours of a date.
//!
//! In: the parameters. Out: a plan, or all problems with their paths. Must not: ask a clock. Only the database of time zones is
//! read.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::params::{DayName, DayParams, HoursParams, ScheduleParams};
use super::reading::{
    DAY_MINUTES, ITEMS_MAX, LEAP_YEAR, Problems, full_date, limit, minutes_of_day, month_day, parse,
};
use super::timed_rules::TimedRule;
use crate::control::{PlanSource, ShowState};

/// Largest number of dates in a row in one item.
const DATES_MAX: i32 = 400;
/// Largest number of days in each list: ten years.
const DAYS_MAX: usize = 4000;
/// Longest name of a date, in characters.
const NAME_CHARS_MAX: usize = 200;

/// A compiled plan.
#[derive(Clone, Debug)]
pub struct SchedulePlan {
    pub(super) zone: TimeZone,
    pub(super) otherwise: ShowState,
    pub(super) on_before_secs: u32,
    pub(super) off_after_secs: u32,
    /// Hours of each weekday, from Monday; `None` if the weekday is not planned.
    pub(super) weekly: [Option<Vec<Hours>>; 7],
    /// Hours of days that return every year, by their dates in the [`LEAP_YEAR`].
    pub(super) yearly: NamedDays,
    pub(super) dates: NamedDays,
    /// Rules that start at a time of the clock.
    pub(super) events: Vec<TimedRule>,
}

/// A part of a day with one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hours {
    /// Begin, in minutes of the clock since midnight.
    pub(super) from_minutes: u16,
    /// End, in minutes of the clock since the same midnight; above 24 hours on the next day.
    pub(super) to_minutes: u16,
    pub(super) state: ShowState,
    pub(super) scene: Option<String>,
}

/// Hours by date. The dates of an item share its hours.
pub(super) type NamedDays = BTreeMap<Date, Arc<NamedHours>>;

/// The hours of an item with its name.
#[derive(Debug)]
pub(super) struct NamedHours {
    name: String,
    pub(super) hours: Vec<Hours>,
    /// Path of the item, for messages.
    pub(super) path: String,
}

/// The hours of a date, and the part of the plan that they are from.
#[derive(Clone, Copy, Debug)]
pub(super) struct DayPlan<'a> {
    pub(super) source: PlanSource,
    pub(super) name: &'a str,
    pub(super) hours: &'a [Hours],
}

impl ScheduleParams {
    /// Returns all problems, as pairs of path and message.
    pub fn problems(&self) -> Vec<(String, String)> {
        SchedulePlan::compile(self).err().unwrap_or_default()
    }

    /// Returns all scenes that the plan shows, as pairs of path and name.
    pub fn scenes(&self) -> Vec<(String, &str)> {
        let lists = [
            (
                "weekly",
                self.weekly.iter().map(|d| &d.hours).collect::<Vec<_>>(),
            ),
            ("dates", self.dates.iter().map(|d| &d.hours).collect()),
            ("yearly", self.yearly.iter().map(|d| &d.hours).collect()),
        ];
        let mut scenes = Vec::new();
        for (list, days) in lists {
            for (day, hours) in days.into_iter().enumerate() {
                for (item, scene) in hours.iter().enumerate() {
                    if let Some(scene) = &scene.scene {
                        scenes.push((format!("{list}[{day}].hours[{item}].scene"), scene.as_str()));
                    }
                }
            }
        }
        scenes
    }
}

impl SchedulePlan {
    /// Compiles the table.
    ///
    /// # Errors
    /// All problems, as pairs of path and message.
    pub fn compile(params: &ScheduleParams) -> Result<Self, Vec<(String, String)>> {
        let mut problems = Problems::new();
        let zone = zone(&params.time_zone, &mut problems);
        let plan = Self {
            zone: zone.unwrap_or(TimeZone::UTC),
            otherwise: params.otherwise,
            on_before_secs: params.projectors.on_before_secs,
            off_after_secs: params.projectors.off_after_secs,
            weekly: weekly(params, &mut problems),
            yearly: YEARLY.compile(&params.yearly, &mut problems),
            dates: DATES.compile(&params.dates, &mut problems),
            events: TimedRule::compile(&params.events, &mut problems),
        };
        match problems.is_empty() {
            true => Ok(plan),
            false => Err(problems),
        }
    }

    /// Whether any hours are planned. If not, the pool is open around the clock.
    pub fn is_planned(&self) -> bool {
        self.has_weekly() || !self.yearly.is_empty() || !self.dates.is_empty()
    }

    /// Whether any weekday is planned.
    pub(super) fn has_weekly(&self) -> bool {
        self.weekly.iter().any(Option::is_some)
    }

    /// Returns the time zone.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns the name of the time zone.
    pub fn zone_name(&self) -> String {
        let name = self.zone.iana_name().map(str::to_owned);
        name.unwrap_or_else(|| "of the machine".to_owned())
    }

    /// Returns the hours that begin on a date. A date beats a day of every year, and that beats the weekday.
    pub(super) fn day(&self, date: Date) -> DayPlan<'_> {
        if let Some(found) = self.dates.get(&date) {
            return found.day(PlanSource::Date);
        }
        let in_leap_year = Date::new(LEAP_YEAR, date.month(), date.day()).ok();
        if let Some(found) = in_leap_year.and_then(|date| self.yearly.get(&date)) {
            return found.day(PlanSource::Yearly);
        }
        let index = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or_default();
        match self.weekly.get(index).and_then(Option::as_ref) {
            Some(hours) => DayPlan {
                source: PlanSource::Weekly,
                name: "",
                hours,
            },
            None => DayPlan {
                source: PlanSource::None,
                name: "",
                hours: &[],
            },
        }
    }
}

impl NamedHours {
    fn day(&self, source: PlanSource) -> DayPlan<'_> {
        DayPlan {
            source,
            name: &self.name,
            hours: &self.hours,
        }
    }
}

fn zone(name: &str, problems: &mut Problems) -> Option<TimeZone> {
    if name.is_empty() {
        return Some(TimeZone::system());
    }
    TimeZone::get(name)
        .map_err(|_| {
            problems.push((
                "time_zone".to_owned(),
                format!(
                    "\"{name}\" is no time zone of this machine; write a name such as \"Europe/Berlin\" (`timedatectl list-timezones` \
                     lists them; the package tzdata contains them)"
                ),
            ));
        })
        .ok()
}

fn weekly(params: &ScheduleParams, problems: &mut Problems) -> [Option<Vec<Hours>>; 7] {
    let mut week: [Option<Vec<Hours>>; 7] = Default::default();
    limit(params.weekly.len(), "weekly", problems);
    for (index, item) in params.weekly.iter().enumerate().take(ITEMS_MAX) {
        let path = format!("weekly[{index}]");
        let hours = hours(&item.hours, &path, problems);
        if item.days.is_empty() {
            problems.push((
                format!("{path}.days"),
                "no weekday is listed; write for example days = [\"tuesday\"]".to_owned(),
            ));
        }
        for (at, day) in item.days.iter().enumerate() {
            let slot = DayName::ALL.iter().position(|known| known == day);
            match slot.and_then(|slot| week.get_mut(slot)) {
                Some(slot @ None) => *slot = Some(hours.clone()),
                _ => problems.push((
                    format!("{path}.days[{at}]"),
                    format!(
                        "{} is listed twice in the weekly plan; put all hours of a weekday into one item",
                        day.name()
                    ),
                )),
            }
        }
    }
    week
}

/// How the days of a list are written.
struct Calendar {
    /// Name of the list.
    list: &'static str,
    /// Reads a day.
    read: fn(&str) -> Result<Date, String>,
    /// Format of a day in messages.
    format: &'static str,
    /// Whether the days return every year. Then all of them are in the [`LEAP_YEAR`].
    is_yearly: bool,
}

/// Calendar of the list `dates`.
const DATES: Calendar = Calendar {
    list: "dates",
    read: full_date,
    format: "%Y-%m-%d",
    is_yearly: false,
};

/// Calendar of the list `yearly`.
const YEARLY: Calendar = Calendar {
    list: "yearly",
    read: month_day,
    format: "%m-%d",
    is_yearly: true,
};

impl Calendar {
    /// Compiles a list of days.
    fn compile(&self, items: &[DayParams], problems: &mut Problems) -> NamedDays {
        let mut days = NamedDays::new();
        limit(items.len(), self.list, problems);
        for (index, item) in items.iter().enumerate().take(ITEMS_MAX) {
            let path = format!("{}[{index}]", self.list);
            let is_short = item.name.chars().count() <= NAME_CHARS_MAX;
            if !is_short {
                problems.push((
                    format!("{path}.name"),
                    format!("a name has at most {NAME_CHARS_MAX} characters"),
                ));
            }
            let named = Arc::new(NamedHours {
                name: item.name.chars().take(NAME_CHARS_MAX).collect(),
                hours: hours(&item.hours, &path, problems),
                path: path.clone(),
            });
            let first = parse(&item.date, &format!("{path}.date"), self.read, problems);
            let last = match &item.last {
                Some(last) => parse(last, &format!("{path}.last"), self.read, problems),
                None => first,
            };
            let (Some(first), Some(last)) = (first, last) else {
                continue;
            };
            let longest = first.saturating_add((DATES_MAX - 1).days());
            if !self.is_yearly && !(first..=longest).contains(&last) {
                problems.push((
                    format!("{path}.last"),
                    format!(
                        "{last} must be at or after {first}, and at most {DATES_MAX} days later; correct one of the two dates"
                    ),
                ));
                continue;
            }
            for date in self.days(first, last) {
                if let Some(other) = days.get(&date) {
                    let (shown, other) = (date.strftime(self.format), &other.path);
                    problems.push((
                        format!("{path}.date"),
                        format!(
                            "{shown} is already in {other}; put all hours of a day into one item"
                        ),
                    ));
                    break;
                }
                if days.len() >= DAYS_MAX {
                    problems.push((
                        format!("{path}.last"),
                        format!(
                            "more than {DAYS_MAX} days are planned; remove those that are over"
                        ),
                    ));
                    return days;
                }
                days.insert(date, Arc::clone(&named));
            }
        }
        days
    }

    /// Returns the days from the first to the last one. In a yearly list, a last day before the first one is in the next year.
    fn days(&self, first: Date, last: Date) -> impl Iterator<Item = Date> {
        let next = move |date: &Date| {
            let next = date.tomorrow().ok();
            let is_over = next.is_none_or(|next| next.year() > LEAP_YEAR);
            match self.is_yearly && is_over {
                true => Some(date.first_of_year()),
                false => next,
            }
        };
        std::iter::successors(Some(first), move |date| {
            (*date != last).then(|| next(date)).flatten()
        })
    }
}

/// Reads the hours of a day, sorted by time.
fn hours(items: &[HoursParams], path: &str, problems: &mut Problems) -> Vec<Hours> {
    limit(items.len(), &format!("{path}.hours"), problems);
    let mut found: Vec<(usize, Hours)> = Vec::new();
    for (index, item) in items.iter().enumerate().take(ITEMS_MAX) {
        let path = format!("{path}.hours[{index}]");
        let from = parse(
            &item.from,
            &format!("{path}.from"),
            minutes_of_day,
            problems,
        );
        let to = parse(&item.to, &format!("{path}.to"), minutes_of_day, problems);
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        if from == to || from == DAY_MINUTES {
            problems.push((
                format!("{path}.from"),
                format!(
                    "these hours from {} to {} are empty; for a whole day write from = \"00:00\", to = \"24:00\"",
                    item.from, item.to
                ),
            ));
            continue;
        }
        let hours = Hours {
            from_minutes: from,
            to_minutes: if to < from { to + DAY_MINUTES } else { to },
            state: item.state,
            scene: item.scene.clone(),
        };
        found.push((index, hours));
    }
    found.sort_by_key(|(_, hours)| hours.from_minutes);
    for pair in found.windows(2) {
        let [(_, before), (index, after)] = pair else {
            continue;
        };
        if after.from_minutes < before.to_minutes {
            problems.push((
                format!("{path}.hours[{index}].from"),
                "these hours begin before other hours of the same day end; hours of a day must not overlap".to_owned(),
            ));
        }
    }
    found.into_iter().map(|(_, hours)| hours).collect()
}
