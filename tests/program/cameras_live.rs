//! Tests of the supervision of capture workers. Simulated workers stall, exit or violate the protocol. The tests need python3,
//! but no camera.

use shoal_testing::assert_message;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::feeds::{self, SHOAL, is_running, next, wait, wait_for};
use shoal::camera::{
    FaultKind, Feed, FeedSetup, Frame, Luma, ReadOutcome, WorkerCommand, list_cameras,
};

/// A simulated worker (tests/program/workers/worker.py) and the file in which it records its starts.
struct FakeWorker {
    command: WorkerCommand,
    starts_file: PathBuf,
    _folder: tempfile::TempDir,
}

impl FakeWorker {
    /// Prepares a worker that behaves as `mode` describes.
    fn new(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let starts_file = folder.path().join("starts");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/workers/worker.py");
        Self {
            command: WorkerCommand {
                program: "python3".into(),
                arguments: vec![script.into(), mode.into(), starts_file.clone().into()],
            },
            starts_file,
            _folder: folder,
        }
    }

    fn setup(&self, source: &str) -> FeedSetup {
        let mut setup = feeds::setup(source, self.command.clone());
        setup.timing.open_timeout = Duration::from_millis(8000);
        setup
    }

    fn open(&self) -> Feed {
        Feed::open(self.setup("v4l2:0"), None).unwrap()
    }

    /// Returns the process id, the time in seconds and the further arguments of each start.
    fn starts(&self) -> Vec<(u32, f64, String)> {
        let text = std::fs::read_to_string(&self.starts_file).unwrap_or_default();
        let starts = text.lines().filter_map(|line| {
            let (process, line) = line.split_once(' ')?;
            let (secs, arguments) = line.split_once(' ')?;
            Some((process.parse().ok()?, secs.parse().ok()?, arguments.into()))
        });
        starts.collect()
    }
}

/// Returns whether python3, which runs the simulated worker, is missing. Prints a message then.
fn is_skipped() -> bool {
    let python = Command::new("python3").arg("--version").output();
    let is_missing = !python.is_ok_and(|output| output.status.success());
    if is_missing {
        eprintln!("SKIPPED: python3 is missing, which runs the simulated worker");
    }
    is_missing
}

/// Opens a camera with a worker that behaves as `mode` describes.
fn open(mode: &str) -> (FakeWorker, Feed) {
    let worker = FakeWorker::new(mode);
    let feed = worker.open();
    (worker, feed)
}

fn assert_ends(process: u32) {
    wait("the end of a worker", || !is_running(process));
}

#[test]
fn the_newest_frame_is_handed_out_once() {
    if is_skipped() {
        return;
    }
    let (worker, camera) = open("good");
    let first = next(&camera);
    let size = (first.width_px, first.height_px, first.luma.len());
    assert_eq!(size, (8, 4, 32));
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
    assert_eq!((&*health.faults, &*health.fault_counts), (&[][..], &[][..]));
    assert_eq!((health.dropped, health.restarts), (0, 0));
    assert!(health.mean_level > 0.2 && health.age_secs.is_some_and(|age| age < 5.0));
    let process = worker.starts()[0].0;
    assert!(is_running(process));
    drop(camera);
    assert_ends(process);
}

#[test]
fn frames_of_12_bits_keep_their_levels_and_gaps_are_counted() {
    if is_skipped() {
        return;
    }
    let worker = FakeWorker::new("twelve_bits");
    let frame = next(&worker.open());
    assert!(matches!(frame.luma, Luma::U16 { bits: 12, ref levels } if levels[0] >= 40 * 16));
    let (_worker, camera) = open("gaps");
    let health = wait_for(&camera, "ten frames", |h| h.frames >= 10);
    assert_eq!(health.dropped, 9 * 4);
}

#[test]
fn a_stalled_worker_is_killed_and_started_again() {
    if is_skipped() {
        return;
    }
    let (worker, camera) = open("stall");
    let before = next(&camera);
    wait_for(&camera, "the stall", |h| h.has(FaultKind::Stalled));
    let health = wait_for(&camera, "frames again", |h| {
        h.frames > 10 && h.faults.is_empty()
    });
    assert_eq!((health.count(FaultKind::Stalled), health.restarts), (1, 1));
    let starts = worker.starts();
    assert_ends(starts[0].0);
    assert_eq!(starts[0].2, "--source v4l2:0");
    // The restart uses the stable name and the size of the first start.
    assert_eq!(starts[1].2, "--source v4l2:bus card --size 8x4");
    let after = next(&camera);
    assert!(after.sequence > before.sequence && after.time_secs > before.time_secs);
}

#[test]
fn a_worker_that_never_opens_is_killed() {
    if is_skipped() {
        return;
    }
    let worker = FakeWorker::new("silent");
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
    if is_skipped() {
        return;
    }
    let (worker, camera) = open("exit");
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
    if is_skipped() {
        return;
    }
    for (mode, expected) in [
        ("garbage", "found 'hello, I'"),
        ("huge", "not accepted"),
        ("huge_message", "at most"),
        ("frame_before_ready", "before the message that"),
    ] {
        let (worker, camera) = open(mode);
        let health = wait_for(&camera, mode, |h| h.has(FaultKind::ProtocolError));
        assert_message(&health.faults[0].detail, &[expected]);
        wait_for(&camera, "its restart", |h| h.restarts >= 1);
        if mode == "garbage" {
            wait_for(&camera, "frames of the second worker", |h| {
                h.frames > 3 && h.faults.is_empty()
            });
        } else {
            assert_eq!(camera.health().frames, 0, "{mode}");
        }
        assert_ends(worker.starts()[0].0);
    }
}

#[test]
fn an_incomplete_frame_is_discarded() {
    if is_skipped() {
        return;
    }
    let (_worker, camera) = open("incomplete");
    let health = wait_for(&camera, "two exits", |h| {
        h.count(FaultKind::ProgramDied) >= 2
    });
    assert_eq!(health.frames, 0);
}

#[test]
fn frames_of_another_size_are_a_fault() {
    if is_skipped() {
        return;
    }
    let worker = FakeWorker::new("good");
    let camera = Feed::open(worker.setup("v4l2:0?size=16x8"), None).unwrap();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::WrongSize));
    assert_message(&health.faults[0].detail, &["8x4 px, requested were 16x8"]);
    let (_worker, camera) = open("other_size");
    wait_for(&camera, "the fault", |h| h.count(FaultKind::WrongSize) >= 1);
    assert_eq!(next(&camera).luma.len(), 32);
    let (_worker, camera) = open("smaller_next_time");
    let health = wait_for(&camera, "the third start", |h| {
        h.frames > 3 && h.faults.is_empty()
    });
    // Later workers must have the size of the first one.
    assert_eq!(health.count(FaultKind::WrongSize), 1);
}

#[test]
fn short_frames_are_counted_while_good_frames_continue() {
    if is_skipped() {
        return;
    }
    let (_worker, camera) = open("short");
    wait_for(&camera, "the fault", |h| h.has(FaultKind::ShortFrames));
    let health = wait_for(&camera, "the end of the fault", |h| h.faults.is_empty());
    let counts = (health.count(FaultKind::ShortFrames), health.restarts);
    assert_eq!(counts, (5, 0));
}

#[test]
fn frozen_frames_are_a_fault_that_a_restart_fixes() {
    if is_skipped() {
        return;
    }
    let (_worker, camera) = open("frozen");
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
    if is_skipped() {
        return;
    }
    let (_worker, camera) = open("black");
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::Black));
    assert!(!health.has(FaultKind::Frozen) && health.faults[0].detail.contains("the light is on"));
    next(&camera);
}

#[test]
fn an_absent_camera_is_opened_later_and_its_controls_are_reported() {
    if is_skipped() {
        return;
    }
    let (_worker, camera) = open("absent");
    wait_for(&camera, "the fault", |h| h.has(FaultKind::Absent));
    let health = wait_for(&camera, "the camera", |h| {
        h.frames > 0 && h.faults.is_empty()
    });
    assert_eq!(health.fault_counts, [(FaultKind::Absent, 2)]);
    let controls = health.granted.unwrap().controls;
    let applied = controls.iter().map(|c| (&*c.name, c.is_applied()));
    assert_eq!(
        applied.collect::<Vec<_>>(),
        [("gain", true), ("exposure", false)]
    );
}

#[test]
fn the_request_reaches_the_worker() {
    if is_skipped() {
        return;
    }
    let worker = FakeWorker::new("exit");
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
    let worker = WorkerCommand::new("/no/such/program");
    let camera = Feed::open(feeds::setup("v4l2:0", worker), None).unwrap();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::OpenFailed));
    assert_message(
        &health.faults[0].detail,
        &["/no/such/program cannot be started"],
    );
}

#[test]
fn a_list_ends_if_a_driver_hangs() {
    if is_skipped() {
        return;
    }
    let worker = FakeWorker::new("list");
    let listing = list_cameras(&worker.command, Duration::from_millis(1500)).unwrap();
    assert_eq!(listing.cameras.len(), 1);
    assert_eq!(listing.cameras[0].source, "v4l2:a b");
    assert_message(&listing.problems[0], &["/dev/video1 did not answer"]);
    assert_ends(worker.starts()[0].0);
}

#[test]
fn the_real_worker_reports_an_absent_camera() {
    let mut setup = feeds::setup("v4l2:No Such Camera", WorkerCommand::new(SHOAL));
    setup.timing.open_timeout = Duration::from_secs(8);
    let camera = Feed::open(setup, None).unwrap();
    let health = wait_for(&camera, "an answer", |h| !h.faults.is_empty());
    assert!(health.has(FaultKind::Absent), "{health:#?}");
    assert_message(&health.faults[0].detail, &["'No Such Camera'"]);
}
