//! The newest lines of the log, for the panel.

use std::collections::VecDeque;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Number of lines that are kept.
const LINES_MAX: usize = 2000;
/// Longest message that is kept, in characters.
const MESSAGE_CHARS_MAX: usize = 1000;
/// Largest number of lines of one page.
const PAGE: usize = 500;

/// Severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Something does not work.
    Error,
    /// Something needs attention.
    Warn,
    /// Something happened.
    Info,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// Number of the line, counted from 1 since the start of the program.
    pub number: u64,
    /// Date and time in UTC, ISO 8601.
    pub time: String,
    /// Severity.
    pub level: LogLevel,
    /// Part of the program that wrote the line.
    pub target: String,
    /// The message, with its values.
    pub message: String,
}

/// Lines after a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LogPage {
    /// The lines, oldest first.
    pub(crate) lines: Vec<LogLine>,
    /// Number up to which the page is complete. The next page begins after it.
    pub(crate) newest: u64,
}

/// The newest lines.
#[derive(Debug, Default)]
pub struct LogRing(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<LogLine>,
    newest: u64,
}

impl LogRing {
    /// Returns a log without lines.
    pub const fn new() -> Self {
        Self(Mutex::new(Kept {
            lines: VecDeque::new(),
            newest: 0,
        }))
    }

    /// Adds a line.
    pub fn push(&self, level: LogLevel, target: &str, message: &str, time: String) {
        let mut kept = self.0.lock();
        kept.newest += 1;
        let line = LogLine {
            number: kept.newest,
            time,
            level,
            target: target.to_owned(),
            message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
        };
        if kept.lines.len() >= LINES_MAX {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
    }

    /// Returns the lines after a number that are at least as severe as `level`, oldest first.
    pub(crate) fn after(&self, number: u64, level: LogLevel) -> LogPage {
        let kept = self.0.lock();
        let mut page = LogPage {
            lines: Vec::new(),
            newest: kept.newest,
        };
        for line in kept.lines.iter().filter(|line| line.number > number) {
            if line.level > level {
                continue;
            }
            if page.lines.len() == PAGE {
                page.newest = page.lines.last().map_or(0, |last| last.number);
                break;
            }
            page.lines.push(line.clone());
        }
        page
    }

    /// Returns all lines as text.
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock();
        let line = |line: &LogLine| {
            let level = match line.level {
                LogLevel::Error => "ERROR",
                LogLevel::Warn => "WARN",
                LogLevel::Info => "INFO",
            };
            let (time, target, message) = (&line.time, &line.target, &line.message);
            format!("{time} {level:5} {target}: {message}\n")
        };
        kept.lines.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_bounded_and_filtered_and_lose_no_line() {
        let ring = LogRing::new();
        for n in 0..LINES_MAX + 100 {
            let level = if n % 4 == 0 {
                LogLevel::Warn
            } else {
                LogLevel::Info
            };
            ring.push(level, "shoal", &n.to_string(), String::new());
        }
        let (mut after, mut seen) = (0, Vec::new());
        loop {
            let page = ring.after(after, LogLevel::Info);
            assert!(page.lines.len() <= PAGE);
            seen.extend(page.lines.iter().map(|line| line.number));
            if page.lines.is_empty() {
                break;
            }
            after = page.newest;
        }
        let wanted: Vec<u64> = (101..=LINES_MAX as u64 + 100).collect();
        assert_eq!(seen, wanted);
        let warnings = ring.after(0, LogLevel::Warn);
        assert_eq!(warnings.lines.len(), PAGE);
        assert!(
            warnings
                .lines
                .iter()
                .all(|line| line.level == LogLevel::Warn)
        );
        assert_eq!(ring.after(0, LogLevel::Error).lines, []);
        assert_eq!(ring.text().lines().count(), LINES_MAX);
    }
}
