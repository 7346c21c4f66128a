//! Reading of the texts of a schedule: dates, days of every year, and times of the clock.
//!
//! In: texts of the site file. Out: dates and minutes, or what is wrong with a text, and what was probably meant.

use jiff::civil::Date;

use crate::runtime::{numbers_of, parse_date};

/// Pairs of path and message.
pub(super) type Problems = Vec<(String, String)>;
/// Minutes of a day of 24 hours.
pub(super) const DAY_MINUTES: u16 = 24 * 60;
/// Largest number of items of a list. More are probably a mistake.
pub(super) const ITEMS_MAX: usize = 400;

/// Reports a list that is too long.
pub(super) fn limit(count: usize, list: &str, problems: &mut Problems) {
    if count > ITEMS_MAX {
        problems.push((
            list.to_owned(),
            format!("{count} items are too many; at most {ITEMS_MAX} are allowed, remove old ones"),
        ));
    }
}

/// Reads a text. Reports what is wrong with it.
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
pub(super) fn full_date(text: &str) -> Result<Date, String> {
    parse_date(text).map_err(|message| match month_day(text) {
        Ok(_) => message + "; a day that returns every year belongs into [[schedule.yearly]]",
        Err(_) => message,
    })
}

/// Year of the dates that [`month_day`] returns. A leap year, so that it has every day.
pub(super) const LEAP_YEAR: i16 = 2024;

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
