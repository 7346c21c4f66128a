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
use super::timed_rules::TimedRule;
use crate::control::{PlanSource, ShowState};
use crate::runtime::{numbers_of, parse_date};

/// Minutes of a day of 24 hours.
const DAY_MINUTES: u16 = 24 * 60;
/// Largest number of hours of one day, and of days in each list. More are probably a mistake.
const ITEMS_MAX: usize = 400;
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

/// Pairs of path and message.
pub(super) type Problems = Vec<(String, String)>;

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

pub(super) fn limit(count: usize, list: &str, problems: &mut Problems) {
    if count > ITEMS_MAX {
        problems.push((
            list.to_owned(),
            format!("{count} items are too many; at most {ITEMS_MAX} are allowed, remove old ones"),
        ));
    }
}

pub(super) fn parse<T>(
    text: &str,
    path: &str,
    read: impl Fn(&str) -> Result<T, String>,
    problems: &mut Problems,
) -> Option<T> {
    read(text)
        .map_err(|message| problems.push((path.to_owned(), message)))
        .ok()
}

/// Reads a date with its year.
fn full_date(text: &str) -> Result<Date, String> {
    parse_date(text).map_err(|message| match month_day(text) {
        Ok(_) => message + "; a day that returns every year belongs into [[schedule.yearly]]",
        Err(_) => message,
    })
}

/// Year of the dates that [`month_day`] returns. A leap year, so that it has every day.
const LEAP_YEAR: i16 = 2024;

/// Reads a month and a day.
pub(super) fn month_day(text: &str) -> Result<Date, String> {
    let wrong = || {
        let hint = match numbers::<3>(text, '-', [4, 2, 2]) {
            Some(_) => "; a date of one year belongs into [[schedule.dates]]",
            None => "",
        };
        // The order of other countries: `24.12.`, `24-12`
        let meant = match numbers_of(text).as_slice() {
            [day, month] if text.contains('.') => day_meant(month, day),
            [first, second] => match day_meant(first, second) {
                none if none.is_empty() => day_meant(second, first),
                meant => meant,
            },
            _ => String::new(),
        };
        format!(
            "\"{text}\" is no day of every year; write month and day, for example \"12-25\"{meant}{hint}"
        )
    };
    let [month, day] = numbers::<2>(text, '-', [2, 2]).ok_or_else(wrong)?;
    Date::new(LEAP_YEAR, i8_of(month), i8_of(day)).map_err(|_| wrong())
}

/// Returns the end of a message about a rejected day of every year: the day with two digits each; empty if no year has it.
fn day_meant(month: &str, day: &str) -> String {
    let date = (month.parse().ok().zip(day.parse().ok()))
        .and_then(|(month, day)| Date::new(LEAP_YEAR, month, day).ok());
    date.map_or_else(String::new, |date| {
        format!("; did you mean \"{:02}-{:02}\"?", date.month(), date.day())
    })
}

/// Returns the end of a message about a rejected pair of numbers: the pair with two digits each; empty if a number is too large.
fn pair_meant(first: &str, second: &str, separator: char, first_max: u8, second_max: u8) -> String {
    let read = |text: &str, max: u8| text.parse::<u8>().ok().filter(|number| *number <= max);
    match (read(first, first_max), read(second, second_max)) {
        (Some(first), Some(second)) => {
            format!("; did you mean \"{first:02}{separator}{second:02}\"?")
        }
        _ => String::new(),
    }
}

/// Reads numbers with a fixed count of digits.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[i16; N]> {
    let mut found = [0; N];
    let mut parts = text.split(separator);
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(found)
}

fn i8_of(number: i16) -> i8 {
    i8::try_from(number).unwrap_or(i8::MAX)
}

/// Reads a time of the clock, such as `09:30`. Returns minutes since midnight, at most 24 hours.
///
/// # Errors
/// If the text is no time, what is wrong with it.
pub fn minutes_of_day(text: &str) -> Result<u16, String> {
    let wrong = || {
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || " .".contains(c));
        let digits = digits.replace(['h', 'H'], ":");
        let is_text = text.to_lowercase().ends_with("pm");
        let meant = match numbers_of(&digits).as_slice() {
            [hour] if is_text => match hour.parse::<u8>() {
                Ok(hour @ 1..=11) => format!("; did you mean \"{}:00\"?", hour + 12),
                _ => String::new(),
            },
            _ if is_text => String::new(),
            [hour, minute] if matches!(hour.parse::<u8>(), Ok(25..=36)) => {
                "; hours over midnight end at a time of the next day, for example \"02:00\"".into()
            }
            [hour] if hour.len() <= 2 => pair_meant(hour, "00", ':', 24, 59),
            [both] if both.len() <= 4 => {
                let (hour, minute) = both.split_at(both.len() - 2);
                pair_meant(hour, minute, ':', 24, 59)
            }
            [hour, minute] | [hour, minute, "00"] => pair_meant(hour, minute, ':', 24, 59),
            _ => String::new(),
        };
        format!("\"{text}\" is no time; write hours and minutes, for example \"09:30\"{meant}")
    };
    let [hour, minute] = numbers::<2>(text, ':', [2, 2]).ok_or_else(wrong)?;
    let total = u16::try_from(hour * 60 + minute).map_err(|_| wrong())?;
    match minute < 60 && total <= DAY_MINUTES {
        true => Ok(total),
        false => Err(wrong()),
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

#[cfg(test)]
mod tests {
    use super::month_day;

    #[test]
    fn a_day_that_no_year_has_is_not_suggested() {
        for text in ["02-30", "13-32", "30.02."] {
            let message = month_day(text).unwrap_err();
            assert!(!message.contains("did you mean"), "{message}");
        }
    }
}
