//! The current date and time as text.

use std::time::SystemTime;

use jiff::Timestamp;

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

    #[test]
    fn a_time_is_written_to_the_second() {
        let time = UNIX_EPOCH + Duration::from_millis(951_782_400_999);
        assert_eq!(iso_from_time(time), "2000-02-29T00:00:00Z");
    }
}
