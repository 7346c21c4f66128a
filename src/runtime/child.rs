//! Runs programs and waits for child processes, for a limited time.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::clock::AwakeClock;

/// Time between two checks whether a child has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Returns the command of a program that Shoal runs and that is no part of it. It does not know the socket of systemd, so that it
/// cannot report anything in the name of the service: `timedatectl` reports its own errors there.
pub fn foreign_program(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("NOTIFY_SOCKET");
    command
}

/// Waits until a child ends, at most for `limit`, and only while `keep_waiting` returns true. Returns its status; `None` if it still
/// runs. Time in which this program itself did not run does not count.
///
/// # Errors
/// When the system does not report the state of the child.
pub fn wait_for_exit(
    child: &mut Child,
    limit: Duration,
    keep_waiting: &dyn Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let mut waited = AwakeClock::start();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || waited.elapsed() >= limit || !keep_waiting() {
            return Ok(status);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Kills a child and waits for its end.
pub fn kill(child: &mut Child) {
    // Both calls fail only if the child has ended.
    let _ended = child.kill().and_then(|()| child.wait());
}

/// Runs a command that a site names (a program and its arguments, as in a shell), with further arguments and with `input` as a line
/// on its standard input. Waits for its end at most for `limit`; then it is killed.
///
/// # Errors
/// If the program cannot be started, fails or takes too long, the reason as a sentence.
pub fn run_command(
    command: &str,
    arguments: &[&str],
    input: Option<&str>,
    limit: Duration,
) -> Result<(), String> {
    let words = shell_words::split(command).map_err(|error| error.to_string())?;
    let (program, own_arguments) = words.split_first().ok_or("the command is empty")?;
    let mut child = foreign_program(program)
        .args(own_arguments)
        .args(arguments)
        .stdin(input.map_or_else(Stdio::null, |_| Stdio::piped()))
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program} cannot be started: {error}"))?;
    if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
        // The text is shorter than the buffer of a pipe, so this never blocks. A program that does not read it decides by its exit code.
        let _unread = writeln!(stdin, "{text}");
    }
    match wait_for_exit(&mut child, limit, &|| true) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("{program} failed: {status}")),
        _ => {
            kill(&mut child);
            let secs = limit.as_secs();
            Err(format!(
                "{program} did not end within {secs} s and was ended"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_ended() {
        let reason = run_command("sleep", &["600"], None, Duration::from_millis(50)).unwrap_err();
        assert!(reason.contains("sleep did not end"), "{reason}");
    }

    #[test]
    fn a_command_gets_its_input_and_reports_its_failure() {
        let run = |text| run_command("grep -q", &["fish"], Some(text), Duration::from_secs(60));
        run("a fish").unwrap();
        assert!(run("a bird").unwrap_err().contains("grep failed"));
    }

    #[test]
    fn a_wait_ends_when_it_is_no_longer_wanted() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let ended = wait_for_exit(&mut child, Duration::from_secs(600), &|| false);
        assert!(ended.unwrap().is_none());
        kill(&mut child);
    }
}
