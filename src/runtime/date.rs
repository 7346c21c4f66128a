//! The current date and time, and texts of dates in the order of other countries.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::Date;

/// First and last time that [`now`] returns, in seconds since 1970: the years 1970 to 9000. Beyond, calculations with dates fail.
const RANGE_SECS: [i64; 2] = [0, 221_845_392_000];

/// Returns the current time. If the clock of the machine shows a time outside the years 1970 to 9000, returns the nearest one in them.
pub fn now() -> Timestamp {
    in_range(SystemTime::now())
}

fn in_range(time: SystemTime) -> Timestamp {
    let [first, last] = RANGE_SECS.map(|secs| Timestamp::from_second(secs).unwrap_or_default());
    match Timestamp::try_from(time) {
        Ok(time) => time.clamp(first, last),
        Err(_) if time < SystemTime::UNIX_EPOCH => first,
        Err(_) => last,
    }
}

/// Returns the current date and time in UTC, as ISO 8601.
pub fn now_iso() -> String {
    iso_from_time(SystemTime::now())
}

/// Returns the current date and time in UTC to the millisecond, as ISO 8601.
pub fn now_iso_millis() -> String {
    let time = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Returns a time in UTC to the second, as ISO 8601.
pub fn iso_from_time(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Reads a date with its year, such as `2026-12-24`.
///
/// # Errors
/// What to write instead.
pub fn parse_date(text: &str) -> Result<Date, String> {
    let is_iso = text.len() == 10 && text.split('-').map(str::len).eq([4, 2, 2]);
    let date = text.parse::<Date>().ok().filter(|_| is_iso);
    date.ok_or_else(|| {
        let meant: Vec<String> = (other_orders(text).iter())
            .map(|date| format!("\"{date}\""))
            .collect();
        let meant = match meant.as_slice() {
            [] => String::new(),
            _ => format!("; did you mean {}?", meant.join(" or ")),
        };
        format!(
            "\"{text}\" is no date; write year, month and day, for example \"2026-12-24\"{meant}"
        )
    })
}

/// Returns the dates that a text in the order of another country can mean: `24.12.2026`, `12/24/2026`, `2026/12/24`, `20261224`.
fn other_orders(text: &str) -> Vec<Date> {
    let parts = numbers_of(text);
    let parts: Vec<&str> = match parts.as_slice() {
        [all] if all.len() == 8 => vec![&all[..4], &all[4..6], &all[6..]],
        _ => parts,
    };
    let read = |part: &str| part.parse::<i16>().ok();
    let [Some(first), Some(second), Some(third)] =
        *parts.iter().map(|part| read(part)).collect::<Vec<_>>()
    else {
        return Vec::new();
    };
    let date = |year: i16, month: i16, day: i16| {
        let century = if year < 100 { 2000 } else { 0 };
        Date::new(
            year + century,
            i8::try_from(month).ok()?,
            i8::try_from(day).ok()?,
        )
        .ok()
    };
    let found = match (parts[0].len(), text.contains('.')) {
        (4, _) => vec![date(first, second, third)],
        (_, true) => vec![date(third, second, first)],
        // The day is first in Britain, and the month in the United States.
        _ => vec![date(third, second, first), date(third, first, second)],
    };
    let mut found: Vec<Date> = found.into_iter().flatten().collect();
    found.dedup();
    found
}

/// Returns the digits of each number in a text that has nothing else but separators.
pub fn numbers_of(text: &str) -> Vec<&str> {
    let parts = text.trim().split(|c: char| !c.is_ascii_digit());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let is_plain = text.len() < 20 && !text.contains(char::is_alphabetic);
    if is_plain { parts } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::rows;
    use std::time::{Duration, UNIX_EPOCH};

    /// A fixed bug: with a clock before 1970 or after 9999 the program ended with a panic.
    #[test]
    fn a_clock_that_is_far_off_gives_a_time_to_calculate_with() {
        let far = Duration::from_secs(1 << 50);
        assert_eq!(
            in_range(UNIX_EPOCH - Duration::from_secs(1)),
            Timestamp::UNIX_EPOCH
        );
        assert_eq!(in_range(UNIX_EPOCH - far), Timestamp::UNIX_EPOCH);
        assert_eq!(in_range(UNIX_EPOCH + far).as_second(), RANGE_SECS[1]);
        let time = UNIX_EPOCH + Duration::from_secs(951_782_400);
        assert_eq!(in_range(time).as_second(), 951_782_400);
        assert!(in_range(UNIX_EPOCH + far).to_string().starts_with("9000-"));
    }

    #[test]
    fn a_time_is_written_to_the_second() {
        let time = UNIX_EPOCH + Duration::from_millis(951_782_400_999);
        assert_eq!(iso_from_time(time), "2000-02-29T00:00:00Z");
    }

    #[test]
    fn a_date_in_the_order_of_another_country_gets_a_suggestion() {
        let table = r#"
            24.12.2026 | ; did you mean "2026-12-24"?
            3.4.26 | ; did you mean "2026-04-03"?
            12/24/2026 | ; did you mean "2026-12-24"?
            5/12/2026 | ; did you mean "2026-12-05" or "2026-05-12"?
            24-12-2026 | ; did you mean "2026-12-24"?
            2026/12/24 | ; did you mean "2026-12-24"?
            2026-1-5 | ; did you mean "2026-01-05"?
            20261224 | ; did you mean "2026-12-24"?
            31.02.2026 |
            2026-02-31 |
            12-18 |
            tomorrow |
            |"#;
        for [text, meant] in rows(table) {
            let wanted = format!(
                "\"{text}\" is no date; write year, month and day, for example \"2026-12-24\"{meant}"
            );
            assert_eq!(parse_date(&text), Err(wanted));
        }
        assert_eq!(
            parse_date("2026-12-24").map(|date| date.to_string()),
            Ok("2026-12-24".into())
        );
    }
}
