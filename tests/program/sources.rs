//! Tests of camera programs (`command:`), standard input and files as sources: their faults and their supervision. Live
//! cameras have the same faults and are tested in `cameras_live.rs`.

#![cfg(unix)]

use shoal_testing::{assert_message, rows};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::feeds::{self, SHOAL, TIMEOUT, is_running, next, send, wait, wait_for, wait_for_end};
use shoal::camera::{
    AtEnd, FaultKind, Feed, FeedMode, FeedSetup, Frame, ReadOutcome, WorkerCommand,
};

/// Shell code with three functions: `header` writes the header of a video, `frame` writes a frame that differs from the frame
/// before, and `film N` writes N frames at 50 frames per second.
const CAMERA: &str = r#"n=0
header() { printf 'YUV4MPEG2 W8 H4 F50:1 Cmono\n'; }
frame() { printf 'FRAME\n%032d' $n; n=$((n + 1)); }
film() { i=0; while [ $i -lt $1 ]; do frame; i=$((i + 1)); sleep 0.02; done; }
"#;

/// A camera program. It is a shell script in its own temporary folder.
struct Program {
    folder: tempfile::TempDir,
    script: PathBuf,
}

impl Program {
    /// Creates a program that runs this shell code. The program first writes its process id to the file `pids`.
    fn new(code: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("camera.sh");
        let pids = folder.path().join("pids");
        let start = format!("echo $$ >> {0}\npids={0}\n", pids.display());
        std::fs::write(&script, format!("{start}{CAMERA}{code}\n")).unwrap();
        Self { folder, script }
    }

    fn source(&self) -> String {
        format!("command:sh {}", self.script.display())
    }

    /// Opens the program as `shoal run` does, but with shorter timeouts.
    fn open(&self) -> Feed {
        open(&self.source())
    }

    /// Returns the ids of all processes that have written their id to the file `pids`.
    fn pids(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Waits until all processes in the file `pids` have ended. Fails if one of them does not end.
    fn assert_gone(&self) {
        assert!(!self.pids().is_empty(), "the program was never started");
        wait("the end of all processes", || {
            !self.pids().into_iter().any(is_running)
        });
    }
}

fn setup(source: &str) -> FeedSetup {
    feeds::setup(source, WorkerCommand::new(SHOAL))
}

fn open(source: &str) -> Feed {
    Feed::open(setup(source), None).unwrap()
}

/// Fault, a part of its detail, and the program that fails.
const FAILURES: &str = r"
    Stalled | no new frame | header; film 10; exec sleep 600
    Stalled | did not deliver its first frame | exec sleep 600
    Stalled | first frame | header; exec sleep 600
    Stalled | no new frame | header; film 5; while :; do printf F; sleep 0.1; done
    Stalled | no new frame | header; film 5; printf 'FRAME\n0123'; exec sleep 600
    Frozen | do not change | header; while :; do n=7; frame; sleep 0.02; done
    Black | black | header; while :; do printf 'FRAME\n'; head -c 32 /dev/zero; sleep 0.02; done
    ProtocolError | expected 'FRAME' | header; film 5; echo this is no frame at all; exec sleep 600
    ProtocolError | expected 'YUV4MPEG2 | echo hello; exec sleep 600
    # A fixed bug: the failure of a program that nobody reads any more replaced the reason.
    ProtocolError | expected 'YUV4MPEG2 | echo hello; sleep 0.1; echo broken pipe >&2; exit 1
    ProtocolError | layout 'Crgb24' is unknown | printf 'YUV4MPEG2 W8 H4 F50:1 Crgb24\n'; sleep 0.1; exit 1
    ProgramDied | exit status: 0 after 0 frames | exit 0
    Ended | ended after 5 frames | header; film 5; exit 0
    ProgramDied | the cable is loose | header; film 5; echo the cable is loose >&2; exit 3
    ProgramDied | no such camera | echo no such camera >&2; exit 4
    ProgramDied | signal: 9 | header; film 5; kill -9 $$
    WrongSize | 4x4 px, expected 8x4 | if [ $(wc -l < $pids) = 1 ]; then header; film 5; else printf 'YUV4MPEG2 W4 H4 F50:1 Cmono\nFRAME\n0123456789abcdef'; fi
";

/// After every failure, the feed reports a named fault and starts the program again.
#[test]
fn a_camera_program_that_fails_has_a_named_fault_and_is_started_again() {
    let cases = rows(FAILURES);
    std::thread::scope(|scope| {
        for [fault, detail, code] in &cases {
            scope.spawn(move || fails_with(code, fault, detail));
        }
    });
}

/// Runs a program until the feed has reported this fault and has started the program three times.
fn fails_with(code: &str, fault: &str, detail: &str) {
    let program = Program::new(code);
    let feed = program.open();
    let health = wait_for(&feed, code, |h| {
        (h.faults.iter()).any(|f| format!("{:?}", f.kind) == fault && f.detail.contains(detail))
    });
    let counted = |(kind, count): &(FaultKind, u64)| format!("{kind:?}") == fault && *count > 0;
    assert!(health.fault_counts.iter().any(counted), "{code}");
    wait("a restart", || program.pids().len() >= 3);
    drop(feed);
    program.assert_gone();
}

#[test]
fn good_frames_end_the_faults_of_a_camera_program() {
    let program = Program::new(
        "if [ $(wc -l < $pids) = 1 ]; then exit 1; fi; header; while :; do film 100; done",
    );
    let feed = program.open();
    let died = FaultKind::ProgramDied;
    wait_for(&feed, "the failure", |h| h.count(died) == 1);
    let health = wait_for(&feed, "good frames", |h| {
        h.frames > 20 && h.faults.is_empty()
    });
    assert_eq!(health.restarts, 1);
    let times: Vec<f64> = (0..10).map(|_| next(&feed).time_secs).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    assert!(feed.now_secs() - times[9] < 5.0);
}

#[test]
fn a_program_that_cannot_be_started_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("camera");
    let feed = open(&format!("command:{}", path.display()));
    let health = wait_for(&feed, "the fault", |h| h.count(FaultKind::OpenFailed) > 2);
    assert_message(&health.faults[0].detail, &["cannot be started"]);
    let code = format!("#!/bin/sh\n{CAMERA}header; while :; do film 100; done\n");
    let prepared = folder.path().join("prepared");
    std::fs::write(&prepared, code).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&prepared, mode).unwrap();
    std::fs::rename(&prepared, &path).unwrap();
    wait_for(&feed, "frames", |h| h.frames > 3 && h.faults.is_empty());
}

/// All processes that a program starts end with the feed, even if the program detaches them.
#[test]
fn all_processes_of_a_camera_program_end_with_the_feed() {
    let record = "sh -c 'echo $$ >> '$pids'; exec sleep 600'";
    for code in [
        format!("{record} & header; film 5; wait"),
        format!("header; film 5; {record}; echo done"),
        format!("{record} >/dev/null 2>&1 & header; film 5; exec sleep 600"),
        // The program ends, but a process that it started still holds its output open.
        format!("header; film 5; {record} &"),
        format!("header; film 5; setsid {record} & wait"),
        format!("header; film 5; (setsid {record} &); exec sleep 600"),
        "trap '' TERM HUP INT; header; film 5; while :; do sleep 1; done".to_owned(),
    ] {
        let program = Program::new(&code);
        let feed = program.open();
        wait_for(&feed, &code, |h| h.frames >= 5);
        if code.contains("echo $$") {
            wait("the further process", || program.pids().len() >= 2);
        }
        drop(feed);
        program.assert_gone();
    }
}

/// When a signal ends `run` or `track`, all processes of the program end too.
#[test]
fn all_processes_of_a_camera_program_end_with_shoal() {
    let code = "sh -c 'echo $$ >> '$pids'; exec sleep 600' & header; film 5; exec sleep 600";
    for (command, signal) in [
        (&["run", "--headless"][..], "TERM"),
        (&["run", "--headless"][..], "HUP"),
        (&["run", "--headless"][..], "KILL"),
        (&["track", "--out", "/dev/null"][..], "TERM"),
        (&["track", "--fast", "--out", "/dev/null"][..], "KILL"),
    ] {
        let program = Program::new(code);
        let null = Path::new("/dev/null");
        let mut shoal = start(command, &program.source(), Stdio::null(), null);
        wait("the program", || program.pids().len() == 2);
        send(&shoal, signal);
        let status = wait_for_end(&mut shoal);
        assert_eq!(status.success(), signal != "KILL", "{command:?}: {status}");
        program.assert_gone();
    }
}

/// A fixed bug: the first signal had no effect while the source was blocked.
#[test]
fn one_signal_ends_track_while_its_source_blocks() {
    let silent = Program::new("exec sleep 600");
    let mute = Program::new("header; film 5; exec sleep 600");
    for (source, fast) in [
        (silent.source(), false),
        (mute.source(), false),
        (mute.source(), true),
        ("-".to_owned(), false),
    ] {
        let fast = if fast { &["--fast"][..] } else { &[] };
        let arguments = [&["track", "--out", "/dev/null"][..], fast].concat();
        let mut shoal = start(&arguments, &source, Stdio::piped(), Path::new("/dev/null"));
        std::thread::sleep(Duration::from_millis(700));
        send(&shoal, "TERM");
        wait_for_end(&mut shoal);
    }
}

#[test]
fn standard_input_that_goes_silent_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let go = folder.path().join("go");
    let waiting = format!("until [ -e {} ]; do sleep 0.1; done", go.display());
    let camera = Program::new(&format!("header; film 20; {waiting}; film 100000"));
    let mut writer = Command::new("sh")
        .arg(&camera.script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = Stdio::from(writer.stdout.take().unwrap());
    let mut shoal = start(&["run", "--headless", "--log", "info"], "-", input, &log);
    let reads = |text: &str| std::fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
    wait("the fault", || reads("stalled"));
    std::fs::write(&go, "").unwrap();
    wait("its end", || reads("the fault is over"));
    writer.kill().unwrap();
    writer.wait().unwrap();
    wait("the end", || reads("standard input ended after"));
    send(&shoal, "TERM");
    assert!(wait_for_end(&mut shoal).success());
}

/// A fixed bug: playback waited for years if a time stamp jumped by years.
#[test]
fn time_stamps_that_jump_are_a_fault_and_the_clock_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jump.y4m");
    let mut text = String::from("YUV4MPEG2 W8 H4 F50:1 Cmono\n");
    for n in 0..40 {
        let jump = if n < 10 { 0.0 } else { 1e8 };
        let secs = f64::from(n) / 50.0 + jump;
        text += &format!("FRAME XTS={secs}\n{n:032}");
    }
    std::fs::write(&path, text).unwrap();
    for source in [
        format!("file:{}", path.display()),
        format!("command:cat {}", path.display()),
    ] {
        let feed = open(&source);
        let health = wait_for(&feed, &source, |h| {
            h.frames >= 40 && h.count(FaultKind::TimestampJump) > 0
        });
        // The program does not wait between its frames, so it may have been started again.
        let jumps = health.count(FaultKind::TimestampJump);
        assert!(jumps <= health.restarts + 1, "{health:#?}");
        let mut frame = next(&feed);
        assert!(frame.time_secs < 60.0, "the time followed the jump");
        let every = setup(&source).with_mode(FeedMode::EveryFrame { fast: false });
        let feed = Feed::open(every, None).unwrap();
        let mut frames = 0;
        while feed.take(&mut frame, TIMEOUT).unwrap() == ReadOutcome::Frame {
            frames += 1;
        }
        assert_eq!(frames, 40);
        assert_eq!(feed.health().count(FaultKind::TimestampJump), 1);
    }
}

#[test]
fn every_frame_is_read_with_the_time_stamps_of_the_source() {
    let program = Program::new("header; i=0; while [ $i -lt 300 ]; do frame; i=$((i+1)); done");
    let every = setup(&program.source()).with_mode(FeedMode::EveryFrame { fast: true });
    let feed = Feed::open(every, None).unwrap();
    for n in 0..300 {
        if n == 100 {
            std::thread::sleep(Duration::from_millis(300));
        }
        let frame = next(&feed);
        assert_eq!((frame.sequence, frame.time_secs), (n, n as f64 / 50.0));
    }
    let mut frame = Frame::default();
    assert_eq!(feed.take(&mut frame, TIMEOUT).unwrap(), ReadOutcome::End);
    let health = feed.health();
    assert_eq!((health.skipped, health.restarts), (0, 0));
}

#[test]
fn a_file_that_comes_back_is_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.y4m");
    let source = format!("file:{}", path.display());
    let mut repeated = setup(&source);
    repeated.at_end = AtEnd::Repeat;
    let feed = Feed::open(repeated, None).unwrap();
    wait_for(&feed, "the missing file", |h| h.has(FaultKind::OpenFailed));
    let film = |from: u32| -> String {
        let frames: String = (from..from + 10)
            .map(|n| format!("FRAME\n{n:032}"))
            .collect();
        format!("YUV4MPEG2 W8 H4 F50:1 Cmono\n{frames}")
    };
    let put = |text: &str| {
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &path).unwrap();
    };
    put(&film(0));
    wait_for(&feed, "frames", |h| h.frames > 25 && h.faults.is_empty());
    std::fs::remove_file(&path).unwrap();
    wait_for(&feed, "the fault", |h| h.has(FaultKind::OpenFailed));
    put(&film(10));
    wait_for(&feed, "frames again", |h| h.faults.is_empty());
}

#[test]
fn only_regular_files_are_played() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.y4m");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [&*pipe, "/dev/zero".as_ref(), "/dev/null".as_ref()] {
        let feed = open(&format!("file:{}", path.display()));
        let health = wait_for(&feed, "the fault", |h| h.has(FaultKind::OpenFailed));
        assert_message(&health.faults[0].detail, &["not a regular file"]);
    }
}

#[test]
fn damaged_images_of_a_folder_are_skipped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let png = |name: &str, level: u8| {
        let picture = image::GrayImage::from_pixel(8, 4, image::Luma([level]));
        picture.save(folder.path().join(name)).unwrap();
    };
    png("1.png", 100);
    std::fs::write(folder.path().join("2.png"), "no image").unwrap();
    png("3.png", 120);
    // A fixed bug: the images before one of another size were repeated without end.
    let large = image::GrayImage::from_pixel(9, 4, image::Luma([9]));
    large.save(folder.path().join("4.png")).unwrap();
    png("5.png", 130);
    let feed = open(&format!("file:{}", folder.path().display()));
    let health = wait_for(&feed, "the end", |h| h.has(FaultKind::Ended));
    let counts = (health.frames, health.count(FaultKind::DamagedFrames));
    assert_eq!(counts, (3, 2));
    assert_eq!((health.restarts, health.faults.len()), (0, 1));
}

/// A fixed bug: the frames before the damage were repeated without end.
#[test]
fn a_recording_that_is_damaged_in_its_middle_waits_for_a_repair() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.y4m");
    let film = |damaged: u32| -> String {
        let frames = (0..10).map(|n| match n == damaged {
            true => format!("FRAMX\n{n:032}"),
            false => format!("FRAME\n{n:032}"),
        });
        let frames: String = frames.collect();
        format!("YUV4MPEG2 W8 H4 F50:1 Cmono\n{frames}")
    };
    std::fs::write(&path, film(5)).unwrap();
    let mut repeated = setup(&format!("file:{}", path.display()));
    repeated.at_end = AtEnd::Repeat;
    let feed = Feed::open(repeated, None).unwrap();
    wait_for(&feed, "the fault", |h| h.has(FaultKind::ProtocolError));
    // Much longer than the pauses between restarts.
    std::thread::sleep(Duration::from_millis(500));
    let health = feed.health();
    let counts = (health.frames, health.count(FaultKind::ProtocolError));
    assert_eq!(counts, (5, 1));
    assert!(health.faults[0].detail.contains("frame 5"), "{health:#?}");
    std::fs::write(folder.path().join("new"), film(99) + "FRAME\n").unwrap();
    std::fs::rename(folder.path().join("new"), &path).unwrap();
    wait_for(&feed, "its end", |h| h.frames > 20 && h.faults.is_empty());
}

/// A fixed bug: a program whose first frame came later than the time limit was ended again and again.
#[test]
fn a_program_whose_first_frame_comes_late_gets_more_time() {
    let program = Program::new("sleep 1; header; while :; do film 100; done");
    let mut patient = setup(&program.source());
    patient.timing.open_timeout = Duration::from_millis(300);
    let feed = Feed::open(patient, None).unwrap();
    wait_for(&feed, "frames", |h| h.frames > 3);
    assert!(feed.health().count(FaultKind::Stalled) >= 1);
}

/// A terminal that closes sends SIGHUP, several times. A program that was started with `nohup` ignores this signal. A fixed bug:
/// SIGQUIT (Ctrl-\) ended the program at once and left an unfinished recording.
#[test]
fn a_hangup_or_quit_finishes_the_recording_unless_it_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let reads = |text: &str| std::fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
    for signals in [&["HUP", "HUP"][..], &["QUIT"]] {
        let kept = folder.path().join(signals[0]);
        let arguments = ["run", "--headless", "--record", kept.to_str().unwrap()];
        let mut shoal = start(&arguments, "synthetic:1", Stdio::null(), &log);
        wait("the start", || reads("recording:"));
        std::thread::sleep(Duration::from_secs(1));
        for signal in signals {
            send(&shoal, signal);
        }
        assert!(wait_for_end(&mut shoal).success(), "{signals:?}");
        assert!(reads("recorded "), "the recording was not finished");
        assert!(kept.exists());
    }

    let mut shoal = Command::new("nohup")
        .args([SHOAL, "run", "--headless", "--camera", "synthetic:1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait("the start", || reads("picture: none"));
    send(&shoal, "HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        shoal.try_wait().unwrap().is_none(),
        "nohup was not respected"
    );
    send(&shoal, "TERM");
    assert!(wait_for_end(&mut shoal).success());
}

/// A fixed bug: a child process did not end if its parent was killed immediately after it had started the child.
#[test]
fn a_child_process_without_its_parent_ends() {
    let arguments = "run --windowed --child-restarts 0 --parent-process 1";
    let mut shoal = Command::new(SHOAL)
        .args(arguments.split(' '))
        .env("XDG_RUNTIME_DIR", "/nonexistent")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(!wait_for_end(&mut shoal).success());
}

fn start(arguments: &[&str], camera: &str, input: Stdio, log: &Path) -> Child {
    Command::new(SHOAL)
        .args(arguments)
        .args(["--camera", camera])
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(log).unwrap())
        .spawn()
        .unwrap()
}
