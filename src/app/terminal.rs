//! Standard error: messages for the user, and the log.

use std::io::{IsTerminal, Write};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Prints a message to standard error. Does not fail if the terminal is closed.
pub(super) fn print_message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

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
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .finish()
        .with(levels)
        .init();
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
