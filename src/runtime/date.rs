//! The current date and time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current date and time in UTC, as ISO 8601.
pub fn now_iso() -> String {
    iso_from_time(SystemTime::now())
}

/// Returns a time in UTC, as ISO 8601. **Source**: Hinnant 2013, "chrono-Compatible Low-Level Date Algorithms",
/// `civil_from_days`.
pub fn iso_from_time(time: SystemTime) -> String {
    let secs = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, rest) = (secs / 86_400, secs % 86_400);
    // Days since 0000-03-01. A year that starts in March has its leap day at its end.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_converted_correctly() {
        for (secs, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_186_799, "2026-11-20T14:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(
                iso_from_time(UNIX_EPOCH + Duration::from_secs(secs)),
                date,
                "{secs}"
            );
        }
    }
}
