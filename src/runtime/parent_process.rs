//! The parent process of `shoal run`: runs the pool in a child process, and restarts the child when it crashes.
//!
//! The X11 library ends its process when the X server ends, and a faulty graphics driver can crash its process. The process
//! itself cannot prevent that. The parent uses neither, so it continues to run. The restarted child runs the pool and waits for
//! the display. The parent also forwards the signals that end the program. Must not: do anything else.

use std::ffi::OsString;
use std::process::{Child, Command, ExitCode};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::child::{kill, wait_for_exit};
use super::clock::AwakeClock;
use super::heartbeat::StopFlag;
use super::message::print_message;

/// Exit code of a child that has already printed its error and must not be restarted.
pub const EXIT_REPORTED: u8 = 3;
/// Exit code of a child that could not open a window and has to be restarted, because the windowing library can be started
/// only once per process.
pub const EXIT_NO_WINDOW: u8 = 4;
/// Time between two checks of the child.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Longest time that the child may take to end. This is slightly more than the time that the child gives its own threads.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1800);
/// Number of crashes in sequence, each after a short life, that ends the program, so that the service manager decides what to
/// do.
const MAX_SHORT_LIVES: u32 = 5;
/// Life of a child, in seconds, below which a crash counts. A child that ran for longer has shown a picture, so it ended because
/// the display ended: a technician restarted the X server, or it restarts every night. That is no reason to end, however often
/// it happens. A child that cannot work crashes earlier: starting the display and the graphics device takes 1 to 2 s.
const SHORT_LIFE: Duration = Duration::from_secs(3);
/// Variables of the GNU C library for the memory of the child, unless they are set already. Without them, each of the many threads
/// that build a scene keeps an arena with what is left of the old scene, and large blocks of it are not returned to the system.
const ALLOCATOR: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "2"),
    ("MALLOC_MMAP_THRESHOLD_", "131072"),
    ("MALLOC_TRIM_THRESHOLD_", "131072"),
];
/// Pause before the child is restarted.
const RESTART_PAUSE: Duration = Duration::from_millis(200);

/// Decides after a crash whether the child is started again.
#[derive(Clone, Copy, Debug, Default)]
struct CrashCounter {
    /// Number of crashes in sequence, each after a short life.
    short_lives: u32,
}

impl CrashCounter {
    /// Records a crash after a life of this length. Returns false if the child must not be started again.
    fn may_restart(&mut self, life: Duration) -> bool {
        self.short_lives = if life < SHORT_LIFE {
            self.short_lives + 1
        } else {
            0
        };
        self.short_lives < MAX_SHORT_LIVES
    }
}

/// Runs `program` with these arguments as a child process until the child ends without a crash, or `stop` is set. Adds
/// `--child-restarts N` and `--parent-process NUMBER` to the arguments.
///
/// # Errors
/// When the child cannot be started, or crashes too often.
pub fn run_child(
    program: &std::path::Path,
    arguments: &[OsString],
    stop: &StopFlag,
) -> anyhow::Result<ExitCode> {
    let mut crashes = CrashCounter::default();
    for restarts in 0_u64.. {
        let mut life = AwakeClock::start();
        let mut child = start(program, arguments, restarts)
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(end_child(&mut child));
            }
            std::thread::sleep(CHECK_INTERVAL);
            life.advance(Instant::now());
        };
        match status.code() {
            Some(0) => return Ok(ExitCode::SUCCESS),
            Some(code) if code == i32::from(EXIT_REPORTED) => return Ok(ExitCode::from(1)),
            // Restart at once: before the child exits with this code, it has already waited for a window.
            Some(code) if code == i32::from(EXIT_NO_WINDOW) => continue,
            _ => {}
        }
        let how = status.to_string();
        anyhow::ensure!(
            crashes.may_restart(life.elapsed()),
            "the process crashed {MAX_SHORT_LIVES} times in sequence within {} s after its start, the last time with {how}",
            SHORT_LIFE.as_secs()
        );
        print_message(&format!(
            "the display or the graphics driver ended the process ({how}); it is restarted"
        ));
        std::thread::sleep(RESTART_PAUSE);
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
        .args(["--child-restarts", &restarts.to_string()])
        .args(["--parent-process", &std::process::id().to_string()]);
    let unset = |(name, _): &(&str, &str)| std::env::var_os(name).is_none();
    command.envs(ALLOCATOR.into_iter().filter(unset));
    // With a process group of its own, the child does not receive Ctrl-C from the terminal. The parent forwards Ctrl-C once; a
    // second signal would end the child immediately.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Asks the child to end. Kills it if it does not end in time.
fn end_child(child: &mut Child) -> ExitCode {
    ask_to_end(child);
    match wait_for_exit(child, SHUTDOWN_TIMEOUT, &|| true) {
        Ok(Some(status)) => ExitCode::from(u8::from(!status.success())),
        Ok(None) => {
            tracing::error!("the child process does not end and is killed");
            kill(child);
            ExitCode::from(1)
        }
        Err(_) => ExitCode::from(1),
    }
}

#[cfg(unix)]
fn ask_to_end(child: &Child) {
    // The call fails only if the child has already ended.
    let _asked = rustix::process::kill_process(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::TERM,
    );
}

#[cfg(not(unix))]
fn ask_to_end(child: &mut Child) {
    let _gone = child.kill();
}

/// Makes this process end when its parent is killed. Called in the child; `parent` is the process id of the parent. Returns
/// false if the parent has already ended.
///
/// # Errors
/// When the system does not offer this. Then the process would outlive its parent.
#[cfg(target_os = "linux")]
pub fn end_with_parent(parent: u32) -> std::io::Result<bool> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the parent ended before the line above, there is no signal. The child then has another parent process.
    let actual = getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    Ok(actual == Some(parent))
}

/// Does nothing and returns true, because other systems have no signal for the end of a parent.
#[cfg(not(target_os = "linux"))]
pub fn end_with_parent(_: u32) -> std::io::Result<bool> {
    Ok(true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    fn run_script(script: &str, stop: &StopFlag) -> anyhow::Result<ExitCode> {
        run_child(Path::new("/bin/sh"), &["-c".into(), script.into()], stop)
    }

    #[test]
    fn success_and_a_reported_error_are_passed_on() {
        let stop = StopFlag::default();
        assert_eq!(run_script("exit 0", &stop).unwrap(), ExitCode::SUCCESS);
        assert_eq!(run_script("exit 3", &stop).unwrap(), ExitCode::from(1));
    }

    #[test]
    fn a_crash_restarts_the_child_with_the_number_of_restarts() {
        // `sh -c SCRIPT --child-restarts N`: $0 is the option, $1 the number. It crashes twice, then succeeds.
        let script = r#"[ "$0" = --child-restarts ] || exit 3; case $1 in 0) exit 1;; 1) kill -SEGV $$;; 2) exit 0;; *) exit 3;; esac"#;
        assert_eq!(
            run_script(script, &StopFlag::default()).unwrap(),
            ExitCode::SUCCESS
        );
    }

    #[test]
    fn the_child_shares_its_memory_between_threads() {
        let script = r#"[ "$MALLOC_ARENA_MAX" = 2 ] || exit 3; exit 0"#;
        let code = run_script(script, &StopFlag::default()).unwrap();
        assert_eq!(code, ExitCode::SUCCESS);
    }

    #[test]
    fn a_missing_window_is_tried_again_without_limit() {
        let script = r#"case $1 in 9) exit 0;; *) exit 4;; esac"#;
        assert_eq!(
            run_script(script, &StopFlag::default()).unwrap(),
            ExitCode::SUCCESS
        );
    }

    #[test]
    fn repeated_crashes_end_the_program() {
        let error = run_script("exit 1", &StopFlag::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("5 times in sequence"), "{error}");
    }

    #[test]
    fn only_short_lives_in_sequence_end_the_program() {
        // The lives of the child in seconds, and the number of the crash after which the program ends.
        for (lives, ends_after) in [
            (&[0.1, 0.1, 0.1, 0.1, 0.1, 0.1][..], Some(5)),
            (&[2.9, 0.1, 2.9, 1.0, 2.9], Some(5)),
            // A technician restarts the X server six times, every few seconds.
            (&[8.0, 6.0, 5.0, 7.0, 4.0, 5.0], None),
            // A server that is restarted every day.
            (&[86_400.0; 30], None),
            // One start in five succeeds.
            (
                &[0.1, 0.1, 0.1, 0.1, 60.0, 0.1, 0.1, 0.1, 0.1, 60.0, 0.1],
                None,
            ),
            // The driver is broken after a long run.
            (&[3600.0, 0.5, 0.5, 0.5, 0.5, 0.5], Some(6)),
        ] {
            let mut crashes = CrashCounter::default();
            let ended = lives
                .iter()
                .position(|life| !crashes.may_restart(Duration::from_secs_f64(*life)));
            assert_eq!(ended.map(|index| index + 1), ends_after, "{lives:?}");
        }
    }

    #[test]
    fn the_stop_flag_ends_the_child() {
        let stop = StopFlag::default();
        stop.store(true, Ordering::Relaxed);
        let script =
            "trap 'exit 0' TERM; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done; exit 3";
        // If the shell has not set its trap yet, the signal ends it with another code. The test is that this call returns
        // without restarting the child.
        let _code = run_script(script, &stop).unwrap();
    }
}
