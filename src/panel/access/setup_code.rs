//! The one-time code with which the first password is set. It stands in the terminal and on the floor.
//! Must not: read a clock.

use std::time::{Duration, Instant};

use super::secrets::{NoSecret, is_equal, random_code};

/// Time after which an unused code is replaced by another one.
pub(crate) const CODE_VALID: Duration = Duration::from_secs(30 * 60);

/// The current code.
#[derive(Debug, Default)]
pub(crate) struct SetupCode {
    current: Option<(String, Instant)>,
}

impl SetupCode {
    /// Returns the code, and whether it is a new one.
    ///
    /// # Errors
    /// When the machine has no randomness.
    pub(crate) fn current(&mut self, now: Instant) -> Result<(&str, bool), NoSecret> {
        let is_over = |made: &Instant| now.saturating_duration_since(*made) >= CODE_VALID;
        let is_new = self.current.as_ref().is_none_or(|(_, made)| is_over(made));
        if is_new {
            self.current = Some((random_code()?, now));
        }
        let code = self.current.as_ref().map(|(code, _)| code.as_str());
        Ok((code.ok_or(NoSecret)?, is_new))
    }

    /// Whether a text is the code. Letters may be small, and spaces or the hyphen may be missing.
    pub(crate) fn is_code(&self, text: &str, now: Instant) -> bool {
        let plain = |text: &str| -> String {
            let letters = text.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|c| c.to_ascii_uppercase()).collect()
        };
        self.current.as_ref().is_some_and(|(code, made)| {
            now.saturating_duration_since(*made) < CODE_VALID
                && is_equal(&plain(code), &plain(text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_replaced_after_half_an_hour() {
        let mut code = SetupCode::default();
        let start = Instant::now();
        assert!(!code.is_code("", start));
        let (first, is_new) = code.current(start).unwrap();
        let first = first.to_owned();
        assert!(is_new);
        assert!(code.is_code(&first.to_lowercase().replace('-', " "), start));
        assert!(!code.is_code(&first[1..], start));
        let almost = start + CODE_VALID - Duration::from_secs(1);
        assert_eq!(code.current(almost).unwrap(), (first.as_str(), false));
        let late = start + CODE_VALID;
        assert!(!code.is_code(&first, late), "an old code is no code");
        let (second, is_new) = code.current(late).unwrap();
        assert!(is_new && second != first);
    }
}
