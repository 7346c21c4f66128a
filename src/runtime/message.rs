//! Messages for the user on standard error.

use std::io::Write as _;

/// Prints a message to standard error. Does not fail if the terminal is closed.
pub fn print_message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
