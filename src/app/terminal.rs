//! Standard error: messages for the user, and the log.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::visible;
use crate::panel::{LogLevel, LogRing};
use crate::runtime::{MessageWriter, now_iso};

/// The newest lines of the log, for the operator's panel.
pub(super) static LOG: LogRing = LogRing::new();

/// Sets up the log on standard error. Log entries of libraries are written only at level debug or trace, because they are for
/// developers. There are no color codes if standard error is not a terminal.
pub(super) fn init_logging(level: tracing::Level) {
    let libraries = if level >= tracing::Level::DEBUG {
        LevelFilter::from(level)
    } else {
        LevelFilter::OFF
    };
    let levels = Targets::new()
        .with_target("shoal", level)
        .with_default(libraries);
    let written = tracing_subscriber::fmt::layer()
        .with_writer(|| LogWriter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_filter(levels);
    let kept = Targets::new()
        .with_target("shoal", LevelFilter::INFO)
        .with_default(LevelFilter::OFF);
    tracing_subscriber::registry()
        .with(written)
        .with(KeepLines.with_filter(kept))
        .init();
}

/// Writes each entry as one line: a line break in it would look like another entry.
struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        MessageWriter.write_all(log_line(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns an entry as one line. Color codes stay: the library escapes those of a message.
fn log_line(entry: &str) -> String {
    let entry = entry.strip_suffix('\n').unwrap_or(entry);
    let parts: Vec<_> = entry.split('\u{1b}').map(visible).collect();
    parts.join("\u{1b}") + "\n"
}

/// Keeps the newest lines of the log, whatever is written to standard error.
struct KeepLines;

impl<S: tracing::Subscriber> Layer<S> for KeepLines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let level = match *metadata.level() {
            tracing::Level::ERROR => LogLevel::Error,
            tracing::Level::WARN => LogLevel::Warn,
            _ => LogLevel::Info,
        };
        let mut text = MessageText::default();
        event.record(&mut text);
        LOG.push(level, metadata.target(), &visible(&text.0), now_iso());
    }
}

/// Message and values of an event as text.
#[derive(Default)]
struct MessageText(String);

impl tracing::field::Visit for MessageText {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match (field.name(), self.0.is_empty()) {
            ("message", true) => write!(self.0, "{value:?}"),
            ("message", false) => {
                let values = std::mem::take(&mut self.0);
                write!(self.0, "{value:?} {values}")
            }
            (name, true) => write!(self.0, "{name}={value:?}"),
            (name, false) => write!(self.0, " {name}={value:?}"),
        };
    }
}

/// Whether an error means that the program that reads the output has ended, as in `shoal schema | head`.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| match cause
        .downcast_ref::<serde_json::Error>()
    {
        Some(json) => json.io_error_kind(),
        None => cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind),
    };
    error
        .chain()
        .filter_map(kind)
        .any(|kind| kind == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed bug: a line break in the name of a recording that a client asked for began a line that looked like another entry.
    #[test]
    fn an_entry_of_the_log_is_one_line() {
        let entry =
            "\u{1b}[2m12:00\u{1b}[0m WARN shoal: \"x\n12:01 INFO shoal: all is well\u{202e}\"\n";
        let line =
            "\u{1b}[2m12:00\u{1b}[0m WARN shoal: \"x\\n12:01 INFO shoal: all is well\\u{202e}\"\n";
        assert_eq!(log_line(entry), line);
    }
}
