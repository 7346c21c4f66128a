//! Tests of live cameras with the real drivers vivid and v4l2loopback, in a virtual machine that the script `rig/camera-vm`
//! starts.
//!
//! Each test runs twice. On the host, the test only starts the virtual machine. The virtual machine loads the driver and runs
//! the same test as root with `SHOAL_IN_CAMERA_VM` set; this second run checks Shoal. The machine is emulated and slow, so the
//! tests use small frames and check behavior, not speed. Without the script or root rights, a test prints a message and is
//! skipped.

use shoal_testing::assert_message;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use shoal::camera::{
    CameraHealth, CameraParams, FaultKind, Feed, FeedSetup, FeedTiming, Frame, Luma, ReadOutcome,
    SourceSpec, WorkerCommand,
};

/// Environment variable that is set in the virtual machine.
const IN_VM: &str = "SHOAL_IN_CAMERA_VM";
/// Path of the shoal binary.
const SHOAL: &str = env!("CARGO_BIN_EXE_shoal");
/// Environment variable with the folder of the files that the host prepared. The virtual machine can read the folders of the
/// host.
const FILES: &str = "SHOAL_VM_FILES";
/// Longest wait for an expected state. It is long because the emulated machine is slow.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Text that selects the camera of the driver vivid as a source.
const VIVID: &str = "v4l2:platform:vivid-000 vivid";

/// Runs `checks` if this process is in the virtual machine. Else starts a virtual machine with `driver`, which runs `test`.
fn in_vm_with(driver: &str, test: &str, files: &Path, checks: fn()) {
    if std::env::var_os(IN_VM).is_some() {
        return checks();
    }
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let data = std::env::var("SHOAL_TEST_DATA").unwrap_or_else(|_| "../shared".to_owned());
    let rig = PathBuf::from(data).join("rig/camera-vm");
    if !rig.is_file() || !root {
        eprintln!(
            "SKIPPED: {test} needs root and {} (set SHOAL_TEST_DATA); no camera driver was tested",
            rig.display()
        );
        return;
    }
    let test_binary = std::env::current_exe().unwrap();
    let command = format!(
        "{IN_VM}=1 {FILES}='{}' '{}' --exact cameras_vm::{test} --nocapture --test-threads=1 2>&1",
        files.display(),
        test_binary.display()
    );
    let done = Command::new(&rig)
        .args(["--driver", driver, "--timeout", "240", "--", &command])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&done.stdout);
    println!("{output}");
    if done.status.code() == Some(3) {
        eprintln!("SKIPPED: {test}: the virtual machine could not be started (see above)");
        return;
    }
    assert!(
        done.status.success(),
        "the test failed in the virtual machine: {:?}",
        done.status
    );
    assert_message(&output, &["test result: ok. 1 passed"]);
}

fn step(what: &str) {
    println!("--- {what}");
}

/// Runs a program until it ends. Returns its output and whether it succeeded.
fn run(program: &str, arguments: &[&str]) -> (String, bool) {
    let done = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    (
        text + &String::from_utf8_lossy(&done.stderr),
        done.status.success(),
    )
}

fn control(name_and_value: &str) {
    let (output, is_ok) = run("v4l2-ctl", &["-d0", "-c", name_and_value]);
    assert!(is_ok, "{name_and_value}: {output}");
}

fn vivid(bind_or_unbind: &str) {
    std::fs::write(
        format!("/sys/bus/platform/drivers/vivid/{bind_or_unbind}"),
        "vivid.0",
    )
    .unwrap();
}

fn setup(source: &str) -> FeedSetup {
    let ms = Duration::from_millis;
    FeedSetup {
        // The times are shorter than the defaults. The pauses and timeouts themselves are tested in cameras_live.rs.
        timing: FeedTiming {
            stall_timeout: ms(2000),
            first_pause: ms(300),
            longest_pause: ms(2000),
            settle_time: ms(1000),
            ..FeedTiming::default()
        },
        ..FeedSetup::new(
            SourceSpec::parse(source).unwrap(),
            &CameraParams::default(),
            WorkerCommand::new(SHOAL),
        )
    }
}

fn open(source: &str) -> Feed {
    Feed::open(setup(source), None).unwrap()
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
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until new frames arrive and no fault is active.
fn wait_healthy(camera: &Feed) -> CameraHealth {
    let before = camera.health().frames;
    wait_for(camera, "frames without a fault", |h| {
        h.frames > before + 2 && h.faults.is_empty()
    })
}

fn next(camera: &Feed) -> Frame {
    let mut frame = Frame::default();
    assert!(
        camera.take(&mut frame, TIMEOUT).unwrap() == ReadOutcome::Frame,
        "no frame: {:#?}",
        camera.health()
    );
    frame
}

#[test]
fn every_format_of_vivid_has_the_levels_that_v4l2_ctl_reads() {
    in_vm_with(
        "vivid",
        "every_format_of_vivid_has_the_levels_that_v4l2_ctl_reads",
        Path::new(""),
        || {
            step("shoal cameras");
            let (table, is_ok) = run(SHOAL, &["cameras"]);
            assert!(is_ok && table.starts_with(&format!("{VIVID}\n")), "{table}");
            for expected in [
                "/dev/video0",
                "nokhwa:0",
                "GREY",
                "Y16",
                "320x180     60 50",
                "brightness",
                "test_pattern",
            ] {
                assert!(table.contains(expected), "{expected} in\n{table}");
            }
            let (json, _) = run(SHOAL, &["cameras", "--json"]);
            let listing: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(listing["cameras"][0]["card"], "vivid");

            // Selects a test pattern without a clock, so that all frames are equal.
            control("test_pattern=20,osd_text_mode=2");
            for (kind, code, wanted_bits) in [
                ("v4l2", "GREY", 8),
                ("v4l2", "YUYV", 8),
                ("v4l2", "UYVY", 8),
                ("v4l2", "NV12", 8),
                ("v4l2", "Y10", 10),
                ("v4l2", "Y12", 12),
                ("v4l2", "Y16", 16),
                // The step before this one leaves the camera in the format GREY. nokhwa cannot open a camera in this format.
                ("nokhwa", "YUYV", 8),
            ] {
                step(&format!("{kind} {code}"));
                let frame = {
                    let camera = open(&format!("{kind}:0?format={code}&size=320x180&fps=10"));
                    let frame = next(&camera);
                    let granted = camera.health().granted.unwrap();
                    assert_eq!((granted.format.as_str(), granted.fps), (code, Some(10.0)));
                    assert_eq!(
                        (granted.card.as_str(), granted.device.as_str()),
                        ("vivid", "/dev/video0")
                    );
                    assert_eq!(granted.stable_source, VIVID.replace("v4l2", kind));
                    frame
                };
                let (levels, bits) = match &frame.luma {
                    Luma::U8(levels) => {
                        (levels.iter().map(|v| u16::from(*v)).collect::<Vec<_>>(), 8)
                    }
                    Luma::U16 { bits, levels } => (levels.clone(), *bits),
                };
                assert_eq!((levels.len(), bits), (320 * 180, wanted_bits));
                let expected = levels_of_v4l2_ctl(code);
                assert_eq!(levels, expected, "{code}: the levels that v4l2-ctl reads");
                let (darkest, brightest) =
                    (levels.iter().min().unwrap(), levels.iter().max().unwrap());
                assert!(f64::from(brightest - darkest) > 0.5 * f64::from((1u32 << bits) - 1));
            }

            step("a format and a size that the camera does not have");
            let camera = open("v4l2:0?format=MJPG");
            let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::OpenFailed));
            assert_message(&health.faults[0].detail, &["it has GREY"]);
            let camera = open("v4l2:0?format=GREY&size=321x181");
            wait_for(&camera, "the fault", |h| h.has(FaultKind::WrongSize));
            let camera = open("nokhwa:0?format=GREY");
            let health = wait_for(&camera, "the fault", |h| h.has(FaultKind::OpenFailed));
            assert_message(&health.faults[0].detail, &["GREY cannot be read"]);
        },
    );
}

/// Returns the gray levels of a frame that the tool v4l2-ctl captures. This function decodes the pixel format itself, without
/// Shoal's decoder.
fn levels_of_v4l2_ctl(code: &str) -> Vec<u16> {
    let file = "/tmp/independent.raw";
    let code = format!("{code:4}");
    let format = format!("--set-fmt-video=width=320,height=180,pixelformat={code}");
    let to = format!("--stream-to={file}");
    let (output, is_ok) = run(
        "v4l2-ctl",
        &["-d0", &format, "--stream-mmap", "--stream-count=1", &to],
    );
    assert!(is_ok, "{output}");
    let raw = std::fs::read(file).unwrap();
    let pixels = 320 * 180;
    let every = |first: usize, step: usize| raw.iter().skip(first).step_by(step).take(pixels);
    match code.trim_end() {
        "GREY" | "NV12" => every(0, 1).map(|v| u16::from(*v)).collect(),
        "YUYV" => every(0, 2).map(|v| u16::from(*v)).collect(),
        "UYVY" => every(1, 2).map(|v| u16::from(*v)).collect(),
        _ => every(0, 2)
            .zip(every(1, 2))
            .map(|(low, high)| u16::from_le_bytes([*low, *high]))
            .collect(),
    }
}

#[test]
fn controls_are_set_and_read_back() {
    in_vm_with(
        "vivid",
        "controls_are_set_and_read_back",
        Path::new(""),
        || {
            let wanted = [
                ("brightness", 77),
                ("contrast", 300),
                ("gain", 50),
                ("focus", 5),
                ("test_pattern", 21),
            ];
            let wanted: BTreeMap<String, i64> =
                wanted.map(|(name, value)| (name.to_owned(), value)).into();
            let setup = FeedSetup {
                controls: wanted,
                ..setup("v4l2:0?format=GREY&size=320x180")
            };
            let camera = Feed::open(setup, None).unwrap();
            next(&camera);
            let controls = camera.health().granted.unwrap().controls;
            let reading = |name: &str| controls.iter().find(|c| c.name == name).unwrap().clone();
            for (name, actual, is_applied) in [
                ("gain_automatic", Some(0), true),
                ("brightness", Some(77), true),
                ("test_pattern", Some(21), true),
                ("gain", Some(50), true),
                // The driver limits the requested value to its own range.
                ("contrast", Some(255), false),
                ("focus", None, false),
            ] {
                let reading = reading(name);
                assert_eq!(
                    (reading.actual, reading.is_applied()),
                    (actual, is_applied),
                    "{reading:?}"
                );
            }
            assert_message(
                reading("focus").reason.unwrap(),
                &["it has brightness, contrast"],
            );
            let (seen, _) = run("v4l2-ctl", &["-d0", "-C", "brightness,gain_automatic,gain"]);
            // V4l2-ctl reads the same values.
            assert_eq!(seen, "brightness: 77\ngain_automatic: 0\ngain: 50\n");

            step("the command line warns about a frame rate that the driver did not accept");
            drop(camera);
            let (output, _) = run(
                SHOAL,
                &[
                    "--log",
                    "warn",
                    "track",
                    "--camera",
                    "v4l2:0?size=320x180&fps=7.3",
                    "--seconds",
                    "2",
                    "--out",
                    "/dev/null",
                ],
            );
            assert_message(
                &output,
                &["requested 7.3 frames per second, the driver gives"],
            );
        },
    );
}

#[test]
fn faults_of_a_real_driver_are_named_and_recovered() {
    in_vm_with(
        "vivid",
        "faults_of_a_real_driver_are_named_and_recovered",
        Path::new(""),
        || {
            step("absent at the start, then connected");
            vivid("unbind");
            let (output, is_ok) = run(SHOAL, &["cameras"]);
            assert!(!is_ok && output.contains("No camera found"), "{output}");
            let camera = open("v4l2:0?format=GREY&size=320x180&fps=25");
            wait_for(&camera, "the fault", |h| h.has(FaultKind::Absent));
            vivid("bind");
            let health = wait_healthy(&camera);
            assert!(health.restarts >= 1 && health.granted.unwrap().stable_source == VIVID);

            step("damaged buffers are counted, good frames continue");
            let before = camera.health();
            while !camera.health().has(FaultKind::DamagedFrames) {
                control("inject_v4l2_buf_flag_error=1");
                std::thread::sleep(Duration::from_millis(200));
            }
            let health = wait_healthy(&camera);
            assert!(
                health.count(FaultKind::DamagedFrames) >= 1 && health.restarts == before.restarts
            );

            step("a fatal error of the stream");
            control("inject_fatal_streaming_error=1");
            wait_for(&camera, "the fault", |h| {
                h.count(FaultKind::StreamError) >= 1
            });
            wait_healthy(&camera);

            step("the driver disconnects");
            control("disconnect=1");
            wait_for(&camera, "the fault", |h| h.count(FaultKind::Unplugged) >= 1);
            wait_healthy(&camera);

            step("disconnected and connected again, found by its stable name");
            let before = next(&camera);
            vivid("unbind");
            wait_for(&camera, "the faults", |h| {
                h.count(FaultKind::Unplugged) >= 2 && h.has(FaultKind::Absent)
            });
            vivid("bind");
            wait_healthy(&camera);
            let after = next(&camera);
            assert!(after.time_secs > before.time_secs && after.sequence > before.sequence);

            step("frozen frames, then black frames, then saturated frames, then good frames");
            control("osd_text_mode=2");
            wait_for(&camera, "the fault", |h| h.has(FaultKind::Frozen));
            control("test_pattern=5");
            wait_for(&camera, "the fault", |h| {
                h.has(FaultKind::Black) && !h.has(FaultKind::Frozen)
            });
            control("test_pattern=6");
            wait_for(&camera, "the fault", |h| {
                h.has(FaultKind::Saturated) && !h.has(FaultKind::Black)
            });
            control("test_pattern=21");
            let health = wait_healthy(&camera);
            println!("{health:#?}");

            step("a worker ends with its parent");
            let process = workers().pop().unwrap();
            drop(camera);
            assert!(!Path::new(&format!("/proc/{process}")).exists());
            let mut orphan = Command::new(SHOAL)
                .args(["capture-worker", "--source", "v4l2:0"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_secs(1));
            // The worker runs while its standard input is open.
            assert!(orphan.try_wait().unwrap().is_none());
            drop(orphan.stdin.take());
            wait_for_end(&mut orphan);
        },
    );
}

/// Returns the process ids of the capture workers.
fn workers() -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            line.contains("capture-worker").then_some(process)
        })
        .collect()
}

fn wait_for_end(child: &mut Child) {
    let until = Instant::now() + TIMEOUT;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "the process has not ended");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Converts 200 frames of an infrared recording to 256 × 192 pixels. If this is not possible, prints a message and returns
/// false.
fn convert_recording(test: &str, encoding: &[&str], to: &Path) -> bool {
    let data = std::env::var("SHOAL_TEST_DATA").unwrap_or_else(|_| "../shared".to_owned());
    let movie = PathBuf::from(data).join("data/ir/fingers_shadow.mov");
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(&movie)
        .args(["-vf", "scale=256:192", "-frames:v", "200"])
        .args(encoding)
        .arg(to)
        .status();
    let made = made.is_ok_and(|status| status.success());
    if !made {
        eprintln!(
            "SKIPPED: {test} needs ffmpeg and {}; no loopback camera was tested",
            movie.display()
        );
    }
    made
}

#[test]
fn motion_jpeg_is_read_through_v4l2_and_nokhwa() {
    let test = "motion_jpeg_is_read_through_v4l2_and_nokhwa";
    if std::env::var_os(IN_VM).is_some() {
        return check_motion_jpeg();
    }
    let folder = tempfile::tempdir().unwrap();
    let movie = folder.path().join("frames.avi");
    let encoding = [
        "-pix_fmt", "yuvj420p", "-r", "10", "-c:v", "mjpeg", "-q:v", "3",
    ];
    if convert_recording(test, &encoding, &movie) {
        in_vm_with("loopback", test, &movie, check_motion_jpeg);
    }
}

fn check_motion_jpeg() {
    let movie = std::env::var(FILES).unwrap();
    let mut feeder = Command::new("ffmpeg")
        .args(["-v", "error", "-re", "-stream_loop", "-1", "-i", &movie])
        .args(["-c", "copy", "-f", "v4l2", "/dev/video0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (gray, is_ok) = run(
        "ffmpeg",
        &[
            "-v",
            "error",
            "-i",
            &movie,
            "-pix_fmt",
            "gray",
            "-f",
            "rawvideo",
            "-y",
            "/tmp/gray.raw",
        ],
    );
    assert!(is_ok, "{gray}");
    let gray = std::fs::read("/tmp/gray.raw").unwrap();
    for kind in ["v4l2", "nokhwa"] {
        step(kind);
        // The camera exists only while ffmpeg feeds it, so it may be absent at first.
        let camera = open(&format!("{kind}:0?format=MJPG"));
        wait_for(&camera, "frames", |h| h.frames > 3);
        assert_eq!(camera.health().granted.unwrap().format, "MJPG");
        let Luma::U8(levels) = next(&camera).luma else {
            panic!("JPEG has 8 bits")
        };
        // The frames of the recording were decoded by ffmpeg. Finds the mean difference from the most similar of them.
        let difference = |frame: &[u8]| -> u64 {
            let pairs = frame.iter().zip(&levels);
            pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        };
        let nearest = gray.chunks_exact(256 * 192).map(difference).min().unwrap();
        let nearest = nearest as f64 / (256.0 * 192.0);
        println!("{nearest:.2} levels from the frame of ffmpeg");
        assert!(nearest < 2.0);
    }
    feeder.kill().unwrap();
    wait_for_end(&mut feeder);
}

#[test]
fn frames_of_a_loopback_camera_arrive_and_stall() {
    let test = "frames_of_a_loopback_camera_arrive_and_stall";
    if std::env::var_os(IN_VM).is_some() {
        return check_loopback();
    }
    let folder = tempfile::tempdir().unwrap();
    // A frame of 256 × 192 pixels fills whole memory pages. v4l2-ctl writes whole buffers, so the contents of frames of another
    // size would be shifted.
    let frames = folder.path().join("frames.raw");
    if !convert_recording(test, &["-pix_fmt", "gray", "-f", "rawvideo"], &frames) {
        return;
    }
    in_vm_with("loopback", test, &frames, check_loopback);
}

fn check_loopback() {
    step("the frames of a recording arrive from a loopback camera");
    let frames = std::env::var(FILES).unwrap();
    let mut feeder = Command::new("v4l2-ctl")
        .args([
            "-d0",
            "--set-fmt-video-out=width=256,height=192,pixelformat=GREY,field=none",
            "--stream-out-mmap",
            "--stream-loop",
        ])
        .arg(format!("--stream-from={frames}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let camera = open("v4l2:loopback?format=GREY");
    let health = wait_healthy(&camera);
    let granted = health.granted.unwrap();
    assert_eq!(
        (granted.card.as_str(), granted.width_px, granted.height_px),
        ("loopback", 256, 192)
    );
    let recorded = std::fs::read(frames).unwrap();
    // The loopback driver can overwrite a buffer while it is read, so a frame may contain rows of two frames. Most rows must
    // match the recording.
    let known: BTreeSet<(usize, &[u8])> = recorded
        .chunks_exact(256)
        .enumerate()
        .map(|(i, row)| (i % 192, row))
        .collect();
    for _ in 0..5 {
        let Luma::U8(levels) = next(&camera).luma else {
            panic!("GREY has 8 bits")
        };
        let rows = levels.chunks_exact(256).enumerate();
        let matching = rows.filter(|row| known.contains(row)).count();
        assert!(
            matching >= 144,
            "{matching} of 192 rows are in the recording"
        );
    }

    step("v4l2-ctl pauses: the camera stalls");
    signal(&feeder, "STOP");
    let health = wait_for(&camera, "the stall", |h| h.has(FaultKind::Stalled));
    assert!(
        health.age_secs.unwrap() >= 2.0 && health.fps < 1.0,
        "{health:#?}"
    );
    step("v4l2-ctl continues");
    signal(&feeder, "CONT");
    wait_healthy(&camera);
    drop(camera);

    step("shoal track with this camera");
    // The number of frames depends on the speed of the machine. If a short run has too few frames, longer runs follow.
    let lines_in = |seconds: &str| {
        let camera = ["--camera", "v4l2:loopback?format=GREY"];
        let length = ["--seconds", seconds, "--out", "/tmp/tracks.jsonl"];
        let (output, is_ok) = run(SHOAL, &[&["track"][..], &camera, &length].concat());
        assert!(is_ok, "{output}");
        let written = std::fs::read_to_string("/tmp/tracks.jsonl").unwrap();
        let lines = written.lines().count();
        println!("{output}{lines} lines");
        lines
    };
    assert!(
        ["4", "15", "60"]
            .into_iter()
            .any(|seconds| lines_in(seconds) > 5)
    );
    feeder.kill().unwrap();
    wait_for_end(&mut feeder);
}

fn signal(child: &Child, name: &str) {
    let (output, is_ok) = run("kill", &["-s", name, &child.id().to_string()]);
    assert!(is_ok, "{output}");
}
