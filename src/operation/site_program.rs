//! A program that a site names: it switches the projectors, or delivers messages.

use std::time::Duration;

use crate::runtime::run_command;

/// Longest time that the program may take.
const RUN_TIME: Duration = Duration::from_secs(30);

/// Runs a program with an additional argument and a line on its standard input. An empty line is not sent.
///
/// # Errors
/// When the program fails, the reason.
pub(super) fn run(command: &str, argument: Option<&str>, line: &str) -> Result<(), String> {
    let input = (!line.is_empty()).then_some(line);
    run_command(command, argument.as_slice(), input, RUN_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_an_argument_and_a_line() {
        assert_eq!(run("test on =", Some("on"), ""), Ok(()));
        assert!(run("test on =", Some("off"), "").is_err());
        assert_eq!(run("grep -q fault", None, "a fault"), Ok(()));
        assert!(run("grep -q fault", None, "").is_err());
        assert!(run("/no/such/program", None, "").is_err());
        assert!(run("", None, "").is_err());
    }
}
