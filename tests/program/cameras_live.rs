//! The parent's side of a live camera, against workers that stall, die, lie and chatter. No camera is needed, but python3.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test says what it skips and ends where it fails"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use shoal::camera::live::{FaultKind, Health, LiveSetup, LiveTiming, WorkerCommand, list};
use shoal::camera::{CameraParams, Frame, LiveCamera, Luma, Reading, Source, SourceSpec};

/// Nothing here takes long; a machine that is busy may.
const PATIENCE: Duration = Duration::from_secs(30);

/// A worker of tests/program/workers/worker.py and what it noted about its starts.
struct Bad {
    worker: WorkerCommand,
    state: PathBuf,
    _folder: tempfile::TempDir,
}

impl Bad {
    /// `None`, said loudly, where there is no python3.
    fn new(mode: &str) -> Option<Self> {
        if !Command::new("python3")
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
        {
            eprintln!("SKIPPED: no python3 here to play a bad worker");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("starts");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/workers/worker.py");
        Some(Self {
            worker: WorkerCommand {
                program: "python3".into(),
                arguments: vec![script.into(), mode.into(), state.clone().into()],
            },
            state,
            _folder: folder,
        })
    }

    fn setup(&self, source: &str) -> LiveSetup {
        let ms = Duration::from_millis;
        LiveSetup {
            timing: LiveTiming {
                stall: ms(400),
                open: ms(8000),
                first_pause: ms(20),
                longest_pause: ms(160),
                settled: ms(300),
            },
            ..LiveSetup::new(
                SourceSpec::parse(source).unwrap(),
                &CameraParams::default(),
                self.worker.clone(),
            )
        }
    }

    fn open(&self) -> LiveCamera {
        LiveCamera::open(self.setup("v4l2:0")).unwrap()
    }

    /// Process id, time and further arguments of every start.
    fn starts(&self) -> Vec<(u32, f64, String)> {
        let text = std::fs::read_to_string(&self.state).unwrap_or_default();
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
    // A zombie has been killed; it is only not off the table yet.
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

/// Whether a process ends. It has been killed before this is asked, but a busy machine takes its time to end it.
fn ends(process: u32) -> bool {
    let until = Instant::now() + PATIENCE;
    while is_running(process) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    !is_running(process)
}

fn wait_for(camera: &LiveCamera, what: &str, mut is_so: impl FnMut(&Health) -> bool) -> Health {
    let until = Instant::now() + PATIENCE;
    loop {
        let health = camera.health();
        if is_so(&health) {
            return health;
        }
        assert!(
            Instant::now() < until,
            "waited in vain for {what}: {health:#?}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn next(camera: &LiveCamera) -> Frame {
    let mut frame = Frame::default();
    assert!(
        camera.newest(&mut frame, PATIENCE),
        "no frame: {:#?}",
        camera.health()
    );
    frame
}

#[test]
fn the_newest_frame_is_handed_out_once() {
    let Some(bad) = Bad::new("well") else { return };
    let camera = bad.open();
    let first = next(&camera);
    assert_eq!(
        (first.width_px, first.height_px, first.luma.len()),
        (8, 4, 32)
    );
    wait_for(&camera, "frames that nobody takes", |h| h.skipped >= 10);
    let second = next(&camera);
    assert!(second.sequence >= first.sequence + 10 && second.time_secs > first.time_secs);
    assert!((0.0..5.0).contains(&(camera.now_secs() - second.time_secs)));
    let Luma::Eight(levels) = &second.luma else {
        panic!("eight bits were sent")
    };
    assert_eq!(
        u64::from(levels[0]),
        40 + second.sequence % 150,
        "levels belong to their number"
    );
    let health = wait_for(&camera, "a frame rate", |h| h.fps > 0.0 && h.frames > 40);
    assert!(
        health.faults.is_empty() && health.fault_counts.is_empty(),
        "{health:#?}"
    );
    assert_eq!((health.dropped, health.restarts), (0, 0));
    assert!(health.mean > 0.2 && health.age_secs.is_some_and(|age| age < 5.0));
    let process = bad.starts()[0].0;
    assert!(is_running(process));
    drop(camera);
    assert!(ends(process), "a closed camera leaves no worker");
}

#[test]
fn deep_frames_keep_their_bits_and_gaps_are_counted() {
    let Some(bad) = Bad::new("deep") else { return };
    let frame = next(&bad.open());
    assert!(matches!(frame.luma, Luma::Sixteen { bits: 12, ref levels } if levels[0] >= 40 * 16));
    let Some(bad) = Bad::new("gaps") else { return };
    let camera = bad.open();
    let health = wait_for(&camera, "ten frames", |h| h.frames >= 10);
    assert_eq!(health.dropped, 9 * 4);
}

#[test]
fn a_stalled_worker_is_killed_and_started_again() {
    let Some(bad) = Bad::new("stall") else { return };
    let camera = bad.open();
    let before = next(&camera);
    wait_for(&camera, "the stall", |h| h.has(FaultKind::Stalled));
    let health = wait_for(&camera, "frames again", |h| {
        h.frames > 10 && h.faults.is_empty()
    });
    assert_eq!((health.count(FaultKind::Stalled), health.restarts), (1, 1));
    let starts = bad.starts();
    assert!(ends(starts[0].0), "the stalled one is dead");
    assert_eq!(starts[0].2, "--source v4l2:0");
    assert_eq!(
        starts[1].2, "--source v4l2:bus card --size 8x4",
        "it is found again by its stable name, and must have its size"
    );
    let after = next(&camera);
    assert!(after.sequence > before.sequence && after.time_secs > before.time_secs);
}

#[test]
fn a_worker_that_never_opens_is_killed() {
    let Some(bad) = Bad::new("mute") else { return };
    let mut setup = bad.setup("v4l2:0");
    setup.timing.open = Duration::from_millis(300);
    let camera = LiveCamera::open(setup).unwrap();
    let health = wait_for(&camera, "two tries", |h| h.count(FaultKind::Stalled) >= 2);
    assert!(
        health.faults[0].detail.contains("did not open"),
        "{health:#?}"
    );
}

#[test]
fn starts_come_after_growing_pauses_for_ever() {
    let Some(bad) = Bad::new("die") else { return };
    let camera = bad.open();
    let health = wait_for(&camera, "eight deaths", |h| {
        h.count(FaultKind::WorkerDied) >= 8
    });
    let died = &health.faults[0];
    assert!(died.detail.contains("no luck today"), "{}", died.detail);
    assert_eq!(health.fault_counts, [(FaultKind::WorkerDied, died.count)]);
    let starts = bad.starts();
    for (i, pair) in starts.windows(2).take(7).enumerate() {
        // A pause may be longer than it should, never shorter.
        let pause = [0.02, 0.04, 0.08, 0.16][i.min(3)];
        assert!(pair[1].1 - pair[0].1 >= pause, "pause {i}: {starts:?}");
    }
    let mut frame = Frame::default();
    assert!(!camera.newest(&mut frame, Duration::ZERO));
}

#[test]
fn garbage_and_absurd_lengths_are_refused() {
    for (mode, told) in [
        ("garbage", "found 'hello, I'"),
        ("huge", "refused"),
        ("huge_message", "at most"),
        ("early", "before the camera was told to be open"),
    ] {
        let Some(bad) = Bad::new(mode) else { return };
        let camera = bad.open();
        let health = wait_for(&camera, mode, |h| h.has(FaultKind::Garbage));
        assert!(
            health.faults[0].detail.contains(told),
            "{mode}: {health:#?}"
        );
        wait_for(&camera, "its restart", |h| h.restarts >= 1);
        if mode == "garbage" {
            wait_for(&camera, "frames of the second one", |h| {
                h.frames > 3 && h.faults.is_empty()
            });
        } else {
            assert_eq!(camera.health().frames, 0, "{mode}");
        }
        assert!(ends(bad.starts()[0].0));
    }
}

#[test]
fn half_a_frame_is_none() {
    let Some(bad) = Bad::new("cut") else { return };
    let camera = bad.open();
    let health = wait_for(&camera, "two deaths", |h| {
        h.count(FaultKind::WorkerDied) >= 2
    });
    assert_eq!(health.frames, 0);
}

#[test]
fn another_size_is_a_fault() {
    let Some(bad) = Bad::new("well") else { return };
    let camera = LiveCamera::open(bad.setup("v4l2:0?size=16x8")).unwrap();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::WrongSize));
    assert!(
        health.faults[0].detail.contains("8x4 px, wanted are 16x8"),
        "{health:#?}"
    );
    let Some(bad) = Bad::new("other_size") else {
        return;
    };
    let camera = bad.open();
    wait_for(&camera, "the fault", |h| h.count(FaultKind::WrongSize) >= 1);
    assert_eq!(next(&camera).luma.len(), 32);
    let Some(bad) = Bad::new("smaller_next_time") else {
        return;
    };
    let camera = bad.open();
    let health = wait_for(&camera, "the third start", |h| {
        h.frames > 3 && h.faults.is_empty()
    });
    assert_eq!(
        health.count(FaultKind::WrongSize),
        1,
        "the size of the first start is kept"
    );
}

#[test]
fn short_frames_are_counted_while_the_others_go_on() {
    let Some(bad) = Bad::new("short") else { return };
    let camera = bad.open();
    wait_for(&camera, "the fault", |h| h.has(FaultKind::ShortFrames));
    let health = wait_for(&camera, "its end", |h| h.faults.is_empty());
    assert_eq!(
        (health.count(FaultKind::ShortFrames), health.restarts),
        (5, 0)
    );
}

#[test]
fn a_frozen_picture_is_a_fault_and_mended_by_a_restart() {
    let Some(bad) = Bad::new("frozen") else {
        return;
    };
    let camera = bad.open();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::Frozen));
    assert!(health.frames > 10, "frames go on");
    let health = wait_for(&camera, "the third start", |h| {
        h.restarts == 2 && h.faults.is_empty()
    });
    assert_eq!(
        health.fault_counts,
        [(FaultKind::Frozen, 1)],
        "one fault, however many restarts"
    );
}

#[test]
fn black_pictures_are_told_and_still_handed_out() {
    let Some(bad) = Bad::new("black") else { return };
    let camera = bad.open();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::Black));
    assert!(!health.has(FaultKind::Frozen) && health.faults[0].detail.contains("is there light"));
    next(&camera);
}

#[test]
fn a_camera_may_come_later_and_controls_that_did_not_take_are_known() {
    let Some(bad) = Bad::new("absent") else {
        return;
    };
    let camera = bad.open();
    wait_for(&camera, "the fault", |h| h.has(FaultKind::Absent));
    let health = wait_for(&camera, "the camera", |h| {
        h.frames > 0 && h.faults.is_empty()
    });
    assert_eq!(health.fault_counts, [(FaultKind::Absent, 2)]);
    let controls = health.granted.unwrap().controls;
    let took: Vec<(&str, bool)> = controls
        .iter()
        .map(|c| (c.name.as_str(), c.took()))
        .collect();
    assert_eq!(took, [("gain", true), ("exposure", false)]);
}

#[test]
fn what_is_wanted_reaches_the_worker() {
    let Some(bad) = Bad::new("die") else { return };
    let mut setup = bad.setup("v4l2:usb-1 My Eye?format=Y16&size=320x180&fps=7.5");
    setup.controls = [("exposure".to_owned(), 156), ("gain".to_owned(), -3)].into();
    setup.auto_functions = true;
    let camera = LiveCamera::open(setup).unwrap();
    wait_for(&camera, "a start", |h| h.count(FaultKind::WorkerDied) > 0);
    assert_eq!(
        bad.starts()[0].2,
        "--source v4l2:usb-1 My Eye --format Y16 --fps 7.5 --size 320x180 --control exposure=156 --control gain=-3 --auto-functions"
    );
}

#[test]
fn a_program_that_is_not_there_is_a_fault() {
    let spec = SourceSpec::parse("v4l2:0").unwrap();
    let worker = WorkerCommand::new("/no/such/program");
    let camera = LiveCamera::open(LiveSetup::new(spec, &CameraParams::default(), worker)).unwrap();
    let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::OpenFailed));
    assert!(
        health.faults[0]
            .detail
            .contains("/no/such/program cannot be started")
    );
}

#[test]
fn a_source_can_be_a_live_camera() {
    let Some(bad) = Bad::new("stall") else { return };
    let mut source = Source::live(bad.setup("nokhwa:0")).unwrap();
    assert_eq!(source.name(), "nokhwa:0");
    let mut frame = Frame::default();
    assert!(source.read(&mut frame).unwrap());
    let nothing = source.read_within(&mut frame, Duration::ZERO).unwrap();
    assert!(nothing != Reading::End);
    assert!(source.live_camera().is_some());
}

#[test]
fn a_list_ends_when_a_driver_hangs() {
    let Some(bad) = Bad::new("list") else { return };
    let listing = list(&bad.worker, Duration::from_millis(1500)).unwrap();
    assert_eq!(listing.cameras.len(), 1);
    assert_eq!(listing.cameras[0].source, "v4l2:a b");
    assert!(
        listing.problems[0].starts_with("/dev/video1 did not answer"),
        "{listing:#?}"
    );
    assert!(ends(bad.starts()[0].0));
}

#[test]
fn our_own_worker_says_what_is_missing() {
    let worker = WorkerCommand::new(env!("CARGO_BIN_EXE_shoal"));
    let spec = SourceSpec::parse("v4l2:No Such Camera").unwrap();
    let setup = LiveSetup::new(spec, &CameraParams::default(), worker);
    let camera = LiveCamera::open(setup).unwrap();
    let health = wait_for(&camera, "an answer", |h| !h.faults.is_empty());
    assert!(health.has(FaultKind::Absent), "{health:#?}");
    assert!(
        health.faults[0].detail.contains("'No Such Camera'"),
        "{health:#?}"
    );
}
