//! The current date and time as text.

use std::time::SystemTime;

use jiff::Timestamp;

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

/// Returns a time in UTC to the second, as ISO 8601.
pub fn iso_from_time(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
