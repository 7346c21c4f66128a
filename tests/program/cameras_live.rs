//! Tests of the supervision of capture workers. Simulated workers stall, exit or violate the protocol. The tests need python3,
//! but no camera.

use shoal_testing::assert_message;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use shoal::camera::{
    CameraHealth, CameraParams, FaultKind, Feed, FeedSetup, FeedTiming, Frame, Luma, ReadOutcome,
    SourceSpec, WorkerCommand, list_cameras,
};

/// Longest wait for an expected state. It usually takes milliseconds, but a busy machine may need longer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A simulated worker (tests/program/workers/worker.py) and the file in which it records its starts.
struct FakeWorker {
    command: WorkerCommand,
    starts_file: PathBuf,
    _folder: tempfile::TempDir,
}

impl FakeWorker {
    /// Prepares a worker that behaves as `mode` describes. If python3 is missing, prints a message and returns `None`.
    fn new(mode: &str) -> Option<Self> {
        if !Command::new("python3")
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
        {
            eprintln!("SKIPPED: python3 is missing, which runs the simulated worker");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let starts_file = folder.path().join("starts");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/workers/worker.py");
        Some(Self {
            command: WorkerCommand {
                program: "python3".into(),
                arguments: vec![script.into(), mode.into(), starts_file.clone().into()],
            },
            starts_file,
            _folder: folder,
        })
    }

    fn setup(&self, source: &str) -> FeedSetup {
        let ms = Duration::from_millis;
        FeedSetup {
            timing: FeedTiming {
                stall_timeout: ms(400),
                open_timeout: ms(8000),
                first_pause: ms(20),
                longest_pause: ms(160),
                settle_time: ms(300),
            },
            ..FeedSetup::new(
                SourceSpec::parse(source).unwrap(),
                &CameraParams::default(),
                self.command.clone(),
            )
        }
    }

    fn open(&self) -> Feed {
        Feed::open(self.setup("v4l2:0"), None).unwrap()
    }

    /// Returns the process id, the time in seconds and the further arguments of each start.
    fn starts(&self) -> Vec<(u32, f64, String)> {
        let text = std::fs::read_to_string(&self.starts_file).unwrap_or_default();
        let starts = text.lines().filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            Some((
                words.next()?.parse().ok()?,
                words.next()?.parse().ok()?,
                words.next()?.to_owned(),
            ))
        });
        starts.collect()
    }
}

fn is_running(process: u32) -> bool {
    // A zombie has exited, but is still in the process table.
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

/// Waits until a process that was killed has ended. Returns false if it is still running after `TIMEOUT`.
fn ends(process: u32) -> bool {
    let until = Instant::now() + TIMEOUT;
    while is_running(process) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    !is_running(process)
}

fn wait_for(
    camera: &Feed,
    what: &str,
    mut is_so: impl FnMut(&CameraHealth) -> bool,
) -> CameraHealth {
    let until = Instant::now() + TIMEOUT;
    loop {
        let health = camera.health();
        if is_so(&health) {
            return health;
        }
        assert!(
            Instant::now() < until,
            "timeout while waiting for {what}: {health:#?}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn next(camera: &Feed) -> Frame {
    let mut frame = Frame::default();
    assert!(
        matches!(camera.take(&mut frame, TIMEOUT), Ok(ReadOutcome::Frame)),
        "no frame: {:#?}",
        camera.health()
    );
    frame
}

#[test]
fn the_newest_frame_is_handed_out_once() {
    let Some(worker) = FakeWorker::new("good") else {
        return;
    };
    let camera = worker.open();
    let first = next(&camera);
    assert_eq!(
        (first.width_px, first.height_px, first.luma.len()),
        (8, 4, 32)
    );
    wait_for(&camera, "frames that are not taken", |h| h.skipped >= 10);
    let second = next(&camera);
    assert!(second.sequence >= first.sequence + 10 && second.time_secs > first.time_secs);
    assert!((0.0..5.0).contains(&(camera.now_secs() - second.time_secs)));
    let Luma::U8(levels) = &second.luma else {
        panic!("the worker sent 8 bits")
    };
    // The levels belong to the sequence number.
    assert_eq!(u64::from(levels[0]), 40 + second.sequence % 150);
    let health = wait_for(&camera, "a frame rate", |h| h.fps > 0.0 && h.frames > 40);
    assert!(
        health.faults.is_empty() && health.fault_counts.is_empty(),
        "{health:#?}"
    );
    assert_eq!((health.dropped, health.restarts), (0, 0));
    assert!(health.mean_level > 0.2 && health.age_secs.is_some_and(|age| age < 5.0));
    let process = worker.starts()[0].0;
    assert!(is_running(process));
    drop(camera);
    assert!(ends(process), "a closed camera ends its worker");
}

#[test]
fn frames_of_12_bits_keep_their_levels_and_gaps_are_counted() {
    let Some(worker) = FakeWorker::new("twelve_bits") else {
        return;
    };
    let frame = next(&worker.open());
    assert!(matches!(frame.luma, Luma::U16 { bits: 12, ref levels } if levels[0] >= 40 * 16));
    let Some(worker) = FakeWorker::new("gaps") else {
        return;
    };
    let camera = worker.open();
    let health = wait_for(&camera, "ten frames", |h| h.frames >= 10);
    assert_eq!(health.dropped, 9 * 4);
}

#[test]
fn a_stalled_worker_is_killed_and_started_again() {
    let Some(worker) = FakeWorker::new("stall") else {
        return;
    };
    let camera = worker.open();
    let before = next(&camera);
    wait_for(&camera, "the stall", |h| h.has(FaultKind::Stalled));
    let health = wait_for(&camera, "frames again", |h| {
        h.frames > 10 && h.faults.is_empty()
    });
    assert_eq!((health.count(FaultKind::Stalled), health.restarts), (1, 1));
    let starts = worker.starts();
    assert!(ends(starts[0].0), "the stalled worker has ended");
    assert_eq!(starts[0].2, "--source v4l2:0");
    // The restart uses the stable name and the size of the first start.
    assert_eq!(starts[1].2, "--source v4l2:bus card --size 8x4");
    let after = next(&camera);
    assert!(after.sequence > before.sequence && after.time_secs > before.time_secs);
}

#[test]
fn a_worker_that_never_opens_is_killed() {
    let Some(worker) = FakeWorker::new("silent") else {
        return;
    };
    let mut setup = worker.setup("v4l2:0");
    setup.timing.open_timeout = Duration::from_millis(300);
    let camera = Feed::open(setup, None).unwrap();
    let health = wait_for(&camera, "two attempts", |h| {
        h.count(FaultKind::Stalled) >= 2
    });
    assert_message(&health.faults[0].detail, &["did not open"]);
}

#[test]
fn restarts_continue_with_growing_pauses() {
    let Some(worker) = FakeWorker::new("exit") else {
        return;
    };
    let camera = worker.open();
    let health = wait_for(&camera, "eight exits", |h| {
        h.count(FaultKind::ProgramDied) >= 8
    });
    let died = &health.faults[0];
    assert!(died.detail.contains("no luck today"), "{}", died.detail);
    assert_eq!(health.fault_counts, [(FaultKind::ProgramDied, died.count)]);
    let starts = worker.starts();
    for (i, pair) in starts.windows(2).take(7).enumerate() {
        // A pause may be longer than required, but never shorter.
        let pause = [0.02, 0.04, 0.08, 0.16][i.min(3)];
        assert!(pair[1].1 - pair[0].1 >= pause, "pause {i}: {starts:?}");
    }
    let mut frame = Frame::default();
    let outcome = camera.take(&mut frame, Duration::ZERO).unwrap();
    assert_eq!(outcome, ReadOutcome::Timeout);
}

#[test]
fn data_outside_the_protocol_is_a_fault() {
    for (mode, expected) in [
        ("garbage", "found 'hello, I'"),
        ("huge", "not accepted"),
        ("huge_message", "at most"),
        (
            "frame_before_ready",
            "before the message that the camera is open",
        ),
    ] {
        let Some(worker) = FakeWorker::new(mode) else {
            return;
        };
        let camera = worker.open();
        let health = wait_for(&camera, mode, |h| h.has(FaultKind::ProtocolError));
        assert!(
            health.faults[0].detail.contains(expected),
            "{mode}: {health:#?}"
        );
        wait_for(&camera, "its restart", |h| h.restarts >= 1);
        if mode == "garbage" {
            wait_for(&camera, "frames of the second worker", |h| {
                h.frames > 3 && h.faults.is_empty()
            });
        } else {
            assert_eq!(camera.health().frames, 0, "{mode}");
        }
        assert!(ends(worker.starts()[0].0));
    }
}

#[test]
fn an_incomplete_frame_is_discarded() {
    let Some(worker) = FakeWorker::new("incomplete") else {
        return;
    };
    let camera = worker.open();
    let health = wait_for(&camera, "two exits", |h| {
        h.count(FaultKind::ProgramDied) >= 2
    });
    assert_eq!(health.frames, 0);
}

#[test]
fn frames_of_another_size_are_a_fault() {
    let Some(worker) = FakeWorker::new("good") else {
        return;
    };
    let camera = Feed::open(worker.setup("v4l2:0?size=16x8"), None).unwrap();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::WrongSize));
    assert_message(&health.faults[0].detail, &["8x4 px, requested were 16x8"]);
    let Some(worker) = FakeWorker::new("other_size") else {
        return;
    };
    let camera = worker.open();
    wait_for(&camera, "the fault", |h| h.count(FaultKind::WrongSize) >= 1);
    assert_eq!(next(&camera).luma.len(), 32);
    let Some(worker) = FakeWorker::new("smaller_next_time") else {
        return;
    };
    let camera = worker.open();
    let health = wait_for(&camera, "the third start", |h| {
        h.frames > 3 && h.faults.is_empty()
    });
    // Later workers must have the size of the first one.
    assert_eq!(health.count(FaultKind::WrongSize), 1);
}

#[test]
fn short_frames_are_counted_while_good_frames_continue() {
    let Some(worker) = FakeWorker::new("short") else {
        return;
    };
    let camera = worker.open();
    wait_for(&camera, "the fault", |h| h.has(FaultKind::ShortFrames));
    let health = wait_for(&camera, "the end of the fault", |h| h.faults.is_empty());
    assert_eq!(
        (health.count(FaultKind::ShortFrames), health.restarts),
        (5, 0)
    );
}

#[test]
fn frozen_frames_are_a_fault_that_a_restart_fixes() {
    let Some(worker) = FakeWorker::new("frozen") else {
        return;
    };
    let camera = worker.open();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::Frozen));
    assert!(health.frames > 10, "frames still arrive");
    let health = wait_for(&camera, "the third start", |h| {
        h.restarts == 2 && h.faults.is_empty()
    });
    // Two restarts, but one fault.
    assert_eq!(health.fault_counts, [(FaultKind::Frozen, 1)]);
}

#[test]
fn black_frames_are_a_fault_and_are_still_returned() {
    let Some(worker) = FakeWorker::new("black") else {
        return;
    };
    let camera = worker.open();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::Black));
    assert!(!health.has(FaultKind::Frozen) && health.faults[0].detail.contains("the light is on"));
    next(&camera);
}

#[test]
fn an_absent_camera_is_opened_later_and_its_controls_are_reported() {
    let Some(worker) = FakeWorker::new("absent") else {
        return;
    };
    let camera = worker.open();
    wait_for(&camera, "the fault", |h| h.has(FaultKind::Absent));
    let health = wait_for(&camera, "the camera", |h| {
        h.frames > 0 && h.faults.is_empty()
    });
    assert_eq!(health.fault_counts, [(FaultKind::Absent, 2)]);
    let controls = health.granted.unwrap().controls;
    let applied: Vec<(&str, bool)> = controls
        .iter()
        .map(|c| (c.name.as_str(), c.is_applied()))
        .collect();
    assert_eq!(applied, [("gain", true), ("exposure", false)]);
}

#[test]
fn the_request_reaches_the_worker() {
    let Some(worker) = FakeWorker::new("exit") else {
        return;
    };
    let mut setup = worker.setup("v4l2:usb-1 My Eye?format=Y16&size=320x180&fps=7.5");
    setup.controls = [("exposure".to_owned(), 156), ("gain".to_owned(), -3)].into();
    setup.auto_functions = true;
    let camera = Feed::open(setup, None).unwrap();
    wait_for(&camera, "a start", |h| h.count(FaultKind::ProgramDied) > 0);
    assert_eq!(
        worker.starts()[0].2,
        "--source v4l2:usb-1 My Eye --format Y16 --fps 7.5 --size 320x180 --control exposure=156 --control gain=-3 --auto-functions"
    );
}

#[test]
fn a_missing_worker_program_is_a_fault() {
    let spec = SourceSpec::parse("v4l2:0").unwrap();
    let worker = WorkerCommand::new("/no/such/program");
    let camera = Feed::open(FeedSetup::new(spec, &CameraParams::default(), worker), None).unwrap();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::OpenFailed));
    assert_message(
        &health.faults[0].detail,
        &["/no/such/program cannot be started"],
    );
}

#[test]
fn a_list_ends_if_a_driver_hangs() {
    let Some(worker) = FakeWorker::new("list") else {
        return;
    };
    let listing = list_cameras(&worker.command, Duration::from_millis(1500)).unwrap();
    assert_eq!(listing.cameras.len(), 1);
    assert_eq!(listing.cameras[0].source, "v4l2:a b");
    assert!(
        listing.problems[0].starts_with("/dev/video1 did not answer"),
        "{listing:#?}"
    );
    assert!(ends(worker.starts()[0].0));
}

#[test]
fn the_real_worker_reports_an_absent_camera() {
    let worker = WorkerCommand::new(env!("CARGO_BIN_EXE_shoal"));
    let spec = SourceSpec::parse("v4l2:No Such Camera").unwrap();
    let setup = FeedSetup::new(spec, &CameraParams::default(), worker);
    let camera = Feed::open(setup, None).unwrap();
    let health = wait_for(&camera, "an answer", |h| !h.faults.is_empty());
    assert!(health.has(FaultKind::Absent), "{health:#?}");
    assert_message(&health.faults[0].detail, &["'No Such Camera'"]);
}
