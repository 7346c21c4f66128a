//! What the tests of camera programs, capture workers and real drivers share: a feed with short times, and waiting for it.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use shoal::camera::{
    CameraHealth, CameraParams, Feed, FeedSetup, FeedTiming, Frame, ReadOutcome, SourceSpec,
    WorkerCommand,
};

/// Path of the shoal binary.
pub(crate) const SHOAL: &str = env!("CARGO_BIN_EXE_shoal");
/// Longest wait for an expected state. It usually takes milliseconds, but a busy or emulated machine may need longer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the setup of a source with shorter times than the defaults.
pub(crate) fn setup(source: &str, worker: WorkerCommand) -> FeedSetup {
    let ms = Duration::from_millis;
    let spec = SourceSpec::parse(source).unwrap();
    FeedSetup {
        timing: FeedTiming {
            stall_timeout: ms(500),
            open_timeout: ms(2000),
            first_pause: ms(20),
            longest_pause: ms(160),
            settle_time: ms(300),
        },
        ..FeedSetup::new(spec, &CameraParams::default(), worker)
    }
}

/// Waits until the health of a feed is as expected, and returns it.
#[track_caller]
pub(crate) fn wait_for(
    feed: &Feed,
    what: &str,
    mut is_so: impl FnMut(&CameraHealth) -> bool,
) -> CameraHealth {
    let mut health = feed.health();
    let until = Instant::now() + TIMEOUT;
    while !is_so(&health) {
        assert!(Instant::now() < until, "timeout: {what}: {health:#?}");
        std::thread::sleep(Duration::from_millis(5));
        health = feed.health();
    }
    health
}

#[track_caller]
pub(crate) fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "timeout while waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Takes the next frame.
#[track_caller]
pub(crate) fn next(feed: &Feed) -> Frame {
    let mut frame = Frame::default();
    let outcome = feed.take(&mut frame, TIMEOUT).unwrap();
    assert_eq!(outcome, ReadOutcome::Frame, "{:#?}", feed.health());
    frame
}

/// Returns whether a process runs. A zombie has exited, but is still in the process table.
pub(crate) fn is_running(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

/// Sends a signal, for example `TERM`.
pub(crate) fn send(process: &Child, signal: &str) {
    let number = process.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &number]).status();
    assert!(sent.unwrap().success());
}

#[track_caller]
pub(crate) fn wait_for_end(process: &mut Child) -> ExitStatus {
    let mut status = None;
    wait("the end of a process", || {
        status = process.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}
