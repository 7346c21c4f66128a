//! Keeps `shoal run` alive through the loss of its display: what runs does so in a child process.
//!
//! The X11 library ends the process when the X server goes away, and a graphics driver may crash it; neither can be
//! prevented from inside. So a parent that touches neither starts the child again, which then waits for the display
//! while the pool lives. Forwards the signals that end the program. Must not: do anything else.

use std::ffi::OsString;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::live::clock::Budget;
use super::live::supervise::Stop;
use super::tell;

/// Exit code with which the child says that it has told its error, and that starting it again is of no use here.
pub(super) const TOLD: u8 = 3;
/// Exit code with which the child says that it got no window and is to be started again, in which the windowing library
/// may be tried once more.
pub(super) const NO_WINDOW: u8 = 4;
/// How often the child is looked after.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long the child may take to end; its own threads have less.
const LAST_WAIT: Duration = Duration::from_millis(1800);
/// So many crashes ...
const MOST_CRASHES: usize = 5;
/// ... within this time are for the service manager to judge.
const CRASHES_WITHIN: Duration = Duration::from_secs(300);
/// Pause before the child is started again.
const RESTART_AFTER: Duration = Duration::from_millis(200);

/// Runs `program` with these arguments as a child until it ends in good order or `stop` is set.
/// `--kept RESTARTS` is added to its arguments.
///
/// # Errors
/// When the child cannot be started, or crashes again and again.
pub(super) fn keep(
    program: &std::path::Path,
    arguments: &[OsString],
    stop: &Stop,
) -> anyhow::Result<ExitCode> {
    let mut crashes = Budget::new(MOST_CRASHES, CRASHES_WITHIN);
    for restarts in 0_u64.. {
        let mut child = start(program, arguments, restarts)
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(end(&mut child));
            }
            std::thread::sleep(LOOK_EVERY);
        };
        match status.code() {
            Some(0) => return Ok(ExitCode::SUCCESS),
            Some(code) if code == i32::from(TOLD) => return Ok(ExitCode::from(1)),
            // It has waited long enough for a picture itself.
            Some(code) if code == i32::from(NO_WINDOW) => continue,
            _ => {}
        }
        let how = describe(status);
        anyhow::ensure!(
            !crashes.spend(Instant::now()),
            "the picture's process was lost {MOST_CRASHES} times within {} s, the last time with {how}",
            CRASHES_WITHIN.as_secs()
        );
        tell(&format!(
            "the display or its driver took the program down ({how}); it is started again"
        ));
        std::thread::sleep(RESTART_AFTER);
    }
    Ok(ExitCode::SUCCESS)
}

fn start(
    program: &std::path::Path,
    arguments: &[OsString],
    restarts: u64,
) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args(["--kept", &restarts.to_string()]);
    // Ctrl-C at a terminal reaches the parent alone, which passes it on once: a second signal would end the child at once.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Asks the child to end, and ends it when it does not.
fn end(child: &mut Child) -> ExitCode {
    let deadline = Instant::now() + LAST_WAIT;
    ask_to_end(child);
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return ExitCode::SUCCESS,
            Ok(Some(_)) | Err(_) => return ExitCode::from(1),
            Ok(None) => std::thread::sleep(LOOK_EVERY),
        }
    }
    tracing::error!("the program does not end and is killed");
    let _gone = child.kill().and_then(|()| child.wait());
    ExitCode::from(1)
}

#[cfg(unix)]
fn ask_to_end(child: &Child) {
    // One that has ended already is as good.
    let _asked = rustix::process::kill_process(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::TERM,
    );
}

#[cfg(not(unix))]
fn ask_to_end(child: &mut Child) {
    let _gone = child.kill();
}

/// Makes the child end when its parent is killed.
pub(super) fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
    {
        tracing::debug!(%error, "the program would outlive its parent");
    }
}

fn describe(status: ExitStatus) -> String {
    status.to_string()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    fn kept(script: &str, stop: &Stop) -> anyhow::Result<ExitCode> {
        keep(Path::new("/bin/sh"), &["-c".into(), script.into()], stop)
    }

    #[test]
    fn a_good_end_and_a_told_error_are_passed_on() {
        let stop = Stop::default();
        assert_eq!(kept("exit 0", &stop).unwrap(), ExitCode::SUCCESS);
        assert_eq!(kept("exit 3", &stop).unwrap(), ExitCode::from(1));
    }

    #[test]
    fn a_crash_starts_it_again_with_its_count() {
        // `sh -c SCRIPT --kept N`: $0 is --kept, $1 the count. Crashes twice, then ends well.
        let script = r#"[ "$0" = --kept ] || exit 3; case $1 in 0) exit 1;; 1) kill -SEGV $$;; 2) exit 0;; *) exit 3;; esac"#;
        assert_eq!(kept(script, &Stop::default()).unwrap(), ExitCode::SUCCESS);
    }

    #[test]
    fn a_window_that_does_not_come_is_tried_for_ever() {
        let script = r#"case $1 in 9) exit 0;; *) exit 4;; esac"#;
        assert_eq!(kept(script, &Stop::default()).unwrap(), ExitCode::SUCCESS);
    }

    #[test]
    fn crashes_without_end_are_given_up() {
        let error = kept("exit 1", &Stop::default()).unwrap_err().to_string();
        assert!(error.contains("5 times"), "{error}");
    }

    #[test]
    fn the_end_is_passed_on() {
        let stop = Stop::default();
        stop.store(true, Ordering::Relaxed);
        let script =
            "trap 'exit 0' TERM; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done; exit 3";
        // The shell may not have set its trap yet, and then the signal ends it: not in good order, but at once.
        // That it comes back at all, without starting the child again, is what counts.
        let _code = kept(script, &stop).unwrap();
    }
}
