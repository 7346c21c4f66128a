//! Live cameras against real drivers: vivid and v4l2loopback, in a virtual machine that `rig/camera-vm` boots.
//!
//! Each test runs twice: outside it boots the machine and has itself run in there, as root, beside the driver; inside
//! (`SHOAL_IN_CAMERA_VM`) it checks. The machine is emulated and slow: small frames, behavior, no speed. Where rig or root
//! is missing the tests are skipped and say so.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test says what it skips and ends where it fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use shoal::camera::live::{FaultKind, Health, LiveSetup, LiveTiming, WorkerCommand};
use shoal::camera::{CameraParams, Frame, LiveCamera, Luma, SourceSpec};

const INSIDE: &str = "SHOAL_IN_CAMERA_VM";
const SHOAL: &str = env!("CARGO_BIN_EXE_shoal");
/// Where inside takes files from that outside made; both see the same folders.
const FILES: &str = "SHOAL_VM_FILES";
/// An emulated machine takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
const VIVID: &str = "v4l2:platform:vivid-000 vivid";

/// Runs `checks` beside a driver.
fn beside(driver: &str, test: &str, files: &Path, checks: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        return checks();
    }
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let data = std::env::var("SHOAL_TEST_DATA").unwrap_or_else(|_| "../shared".to_owned());
    let rig = PathBuf::from(data).join("rig/camera-vm");
    if !rig.is_file() || !root {
        eprintln!(
            "SKIPPED: {test} needs root and {} (set SHOAL_TEST_DATA); no camera driver was tried",
            rig.display()
        );
        return;
    }
    let me = std::env::current_exe().unwrap();
    let inside = format!(
        "{INSIDE}=1 {FILES}='{}' '{}' --exact cameras_vm::{test} --nocapture --test-threads=1 2>&1",
        files.display(),
        me.display()
    );
    let done = Command::new(&rig)
        .args(["--driver", driver, "--timeout", "240", "--", &inside])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    println!("{told}");
    if done.status.code() == Some(3) {
        eprintln!("SKIPPED: {test}: the machine could not be made here (see above)");
        return;
    }
    assert!(
        done.status.success(),
        "inside the machine it failed: {:?}",
        done.status
    );
    assert!(
        told.contains("test result: ok. 1 passed"),
        "nothing was run inside"
    );
}

fn step(what: &str) {
    println!("--- {what}");
}

/// Runs a program to its end and returns what it printed.
fn ran(program: &str, arguments: &[&str]) -> (String, bool) {
    let done = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    (
        text + &String::from_utf8_lossy(&done.stderr),
        done.status.success(),
    )
}

fn control(name_and_value: &str) {
    let (told, well) = ran("v4l2-ctl", &["-d0", "-c", name_and_value]);
    assert!(well, "{name_and_value}: {told}");
}

fn vivid(bind_or_unbind: &str) {
    std::fs::write(
        format!("/sys/bus/platform/drivers/vivid/{bind_or_unbind}"),
        "vivid.0",
    )
    .unwrap();
}

fn setup(source: &str) -> LiveSetup {
    let ms = Duration::from_millis;
    LiveSetup {
        // As ever, but quicker: cameras_live.rs holds pauses and time-outs against what they should be.
        timing: LiveTiming {
            stall: ms(2000),
            first_pause: ms(300),
            longest_pause: ms(2000),
            settled: ms(1000),
            ..LiveTiming::default()
        },
        ..LiveSetup::new(
            SourceSpec::parse(source).unwrap(),
            &CameraParams::default(),
            WorkerCommand::new(SHOAL),
        )
    }
}

fn open(source: &str) -> LiveCamera {
    LiveCamera::open(setup(source)).unwrap()
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
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until new frames come and nothing is wrong.
fn wait_well(camera: &LiveCamera) -> Health {
    let before = camera.health().frames;
    wait_for(camera, "frames without a fault", |h| {
        h.frames > before + 2 && h.faults.is_empty()
    })
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
fn vivid_gives_every_format_as_an_independent_program_sees_it() {
    beside(
        "vivid",
        "vivid_gives_every_format_as_an_independent_program_sees_it",
        Path::new(""),
        || {
            step("shoal cameras");
            let (table, well) = ran(SHOAL, &["cameras"]);
            assert!(well && table.starts_with(&format!("{VIVID}\n")), "{table}");
            for told in [
                "/dev/video0",
                "nokhwa:0",
                "GREY",
                "Y16",
                "320x180     60 50",
                "brightness",
                "test_pattern",
            ] {
                assert!(table.contains(told), "{told} in\n{table}");
            }
            let (json, _) = ran(SHOAL, &["cameras", "--json"]);
            let listing: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(listing["cameras"][0]["card"], "vivid");

            // A picture without a clock in it is the same for everybody.
            control("test_pattern=20,osd_text_mode=2");
            for (kind, code, wanted_bits) in [
                ("v4l2", "GREY", 8),
                ("v4l2", "YUYV", 8),
                ("v4l2", "UYVY", 8),
                ("v4l2", "NV12", 8),
                ("v4l2", "Y10", 10),
                ("v4l2", "Y12", 12),
                ("v4l2", "Y16", 16),
                // After GREY, which nokhwa cannot open a camera in.
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
                    Luma::Eight(levels) => {
                        (levels.iter().map(|v| u16::from(*v)).collect::<Vec<_>>(), 8)
                    }
                    Luma::Sixteen { bits, levels } => (levels.clone(), *bits),
                };
                assert_eq!((levels.len(), bits), (320 * 180, wanted_bits));
                let independent = taken_by_v4l2_ctl(code);
                assert_eq!(levels, independent, "{code}: brightness as v4l2-ctl has it");
                let (darkest, brightest) =
                    (levels.iter().min().unwrap(), levels.iter().max().unwrap());
                assert!(f64::from(brightest - darkest) > 0.5 * f64::from((1u32 << bits) - 1));
            }

            step("a format and a size that the camera does not have");
            let camera = open("v4l2:0?format=MJPG");
            let health = wait_for(&camera, "a refusal", |h| h.has(FaultKind::OpenFailed));
            assert!(
                health.faults[0].detail.contains("it has GREY"),
                "{health:#?}"
            );
            let camera = open("v4l2:0?format=GREY&size=321x181");
            wait_for(&camera, "a refusal", |h| h.has(FaultKind::WrongSize));
            let camera = open("nokhwa:0?format=GREY");
            let health = wait_for(&camera, "a refusal", |h| h.has(FaultKind::OpenFailed));
            assert!(
                health.faults[0].detail.contains("GREY cannot be read here"),
                "{health:#?}"
            );
        },
    );
}

/// Brightness of a frame that v4l2-ctl took, by what the format's description says.
fn taken_by_v4l2_ctl(code: &str) -> Vec<u16> {
    let file = "/tmp/independent.raw";
    let code = format!("{code:4}");
    let format = format!("--set-fmt-video=width=320,height=180,pixelformat={code}");
    let to = format!("--stream-to={file}");
    let (told, well) = ran(
        "v4l2-ctl",
        &["-d0", &format, "--stream-mmap", "--stream-count=1", &to],
    );
    assert!(well, "{told}");
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
    beside(
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
            let setup = LiveSetup {
                controls: wanted,
                ..setup("v4l2:0?format=GREY&size=320x180")
            };
            let camera = LiveCamera::open(setup).unwrap();
            next(&camera);
            let controls = camera.health().granted.unwrap().controls;
            let reading = |name: &str| controls.iter().find(|c| c.name == name).unwrap().clone();
            for (name, got, took) in [
                ("gain_automatic", Some(0), true),
                ("brightness", Some(77), true),
                ("test_pattern", Some(21), true),
                ("gain", Some(50), true),
                // The driver cuts to its range.
                ("contrast", Some(255), false),
                ("focus", None, false),
            ] {
                let reading = reading(name);
                assert_eq!((reading.got, reading.took()), (got, took), "{reading:?}");
            }
            assert!(
                reading("focus")
                    .reason
                    .unwrap()
                    .contains("it has brightness, contrast")
            );
            let (seen, _) = ran("v4l2-ctl", &["-d0", "-C", "brightness,gain_automatic,gain"]);
            assert_eq!(
                seen, "brightness: 77\ngain_automatic: 0\ngain: 50\n",
                "an independent program sees them too"
            );

            step("a control that did not take is a warning on the command line, by name");
            drop(camera);
            let (told, _) = ran(
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
            assert!(
                told.contains("asked for 7.3 frames a second, the driver gives"),
                "{told}"
            );
        },
    );
}

#[test]
fn faults_of_a_real_driver_are_named_and_overcome() {
    beside(
        "vivid",
        "faults_of_a_real_driver_are_named_and_overcome",
        Path::new(""),
        || {
            step("absent at the start, then plugged in");
            vivid("unbind");
            let (told, well) = ran(SHOAL, &["cameras"]);
            assert!(!well && told.contains("No camera found"), "{told}");
            let camera = open("v4l2:0?format=GREY&size=320x180&fps=25");
            wait_for(&camera, "the fault", |h| h.has(FaultKind::Absent));
            vivid("bind");
            let health = wait_well(&camera);
            assert!(health.restarts >= 1 && health.granted.unwrap().stable_source == VIVID);

            step("damaged buffers are counted, the others go on");
            let before = camera.health();
            while !camera.health().has(FaultKind::DamagedFrames) {
                control("inject_v4l2_buf_flag_error=1");
                std::thread::sleep(Duration::from_millis(200));
            }
            let health = wait_well(&camera);
            assert!(
                health.count(FaultKind::DamagedFrames) >= 1 && health.restarts == before.restarts
            );

            step("a fatal error of the stream");
            control("inject_fatal_streaming_error=1");
            wait_for(&camera, "the fault", |h| {
                h.count(FaultKind::StreamError) >= 1
            });
            wait_well(&camera);

            step("the driver disconnects");
            control("disconnect=1");
            wait_for(&camera, "the fault", |h| h.count(FaultKind::Unplugged) >= 1);
            wait_well(&camera);

            step("unplugged and plugged in again, found by name");
            let before = next(&camera);
            vivid("unbind");
            wait_for(&camera, "the faults", |h| {
                h.count(FaultKind::Unplugged) >= 2 && h.has(FaultKind::Absent)
            });
            vivid("bind");
            wait_well(&camera);
            let after = next(&camera);
            assert!(after.time_secs > before.time_secs && after.sequence > before.sequence);

            step("the picture stands still, then is black, then well again");
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
            let health = wait_well(&camera);
            println!("{health:#?}");

            step("a worker ends with its parent");
            let process = workers().pop().expect("a worker runs");
            drop(camera);
            assert!(!Path::new(&format!("/proc/{process}")).exists());
            let mut orphan = Command::new(SHOAL)
                .args(["capture-worker", "--source", "v4l2:0"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_secs(1));
            assert!(
                orphan.try_wait().unwrap().is_none(),
                "it runs as long as its standard input is open"
            );
            drop(orphan.stdin.take());
            ends(&mut orphan);
        },
    );
}

/// Process ids of the capture workers.
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

fn ends(child: &mut Child) {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it should have ended");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Writes 200 frames of an infrared recording, 256x192; false, said loudly, where that is not possible.
fn recorded(test: &str, how: &[&str], to: &Path) -> bool {
    let data = std::env::var("SHOAL_TEST_DATA").unwrap_or_else(|_| "../shared".to_owned());
    let movie = PathBuf::from(data).join("data/ir/fingers_shadow.mov");
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(&movie)
        .args(["-vf", "scale=256:192", "-frames:v", "200"])
        .args(how)
        .arg(to)
        .status();
    let made = made.is_ok_and(|status| status.success());
    if !made {
        eprintln!(
            "SKIPPED: {test} needs ffmpeg and {}; no loopback camera was tried",
            movie.display()
        );
    }
    made
}

#[test]
fn motion_jpeg_is_read_through_v4l2_and_nokhwa() {
    let test = "motion_jpeg_is_read_through_v4l2_and_nokhwa";
    if std::env::var_os(INSIDE).is_some() {
        return with_jpeg();
    }
    let folder = tempfile::tempdir().unwrap();
    let movie = folder.path().join("frames.avi");
    let how = [
        "-pix_fmt", "yuvj420p", "-r", "10", "-c:v", "mjpeg", "-q:v", "3",
    ];
    if recorded(test, &how, &movie) {
        beside("loopback", test, &movie, with_jpeg);
    }
}

fn with_jpeg() {
    let movie = std::env::var(FILES).unwrap();
    let mut feeder = Command::new("ffmpeg")
        .args(["-v", "error", "-re", "-stream_loop", "-1", "-i", &movie])
        .args(["-c", "copy", "-f", "v4l2", "/dev/video0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (gray, well) = ran(
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
    assert!(well, "{gray}");
    let gray = std::fs::read("/tmp/gray.raw").unwrap();
    for kind in ["v4l2", "nokhwa"] {
        step(kind);
        // The feeder makes the camera, so it may be absent at first.
        let camera = open(&format!("{kind}:0?format=MJPG"));
        wait_for(&camera, "frames", |h| h.frames > 3);
        assert_eq!(camera.health().granted.unwrap().format, "MJPG");
        let Luma::Eight(levels) = next(&camera).luma else {
            panic!("JPEG has eight bits")
        };
        // Another decoder's brightness of the nearest frame of the recording, on average over all pixels.
        let away = |frame: &[u8]| -> u64 {
            let pairs = frame.iter().zip(&levels);
            pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        };
        let nearest = gray.chunks_exact(256 * 192).map(away).min().unwrap();
        let nearest = nearest as f64 / (256.0 * 192.0);
        println!("{nearest:.2} levels away from ffmpeg's frame");
        assert!(nearest < 2.0);
    }
    feeder.kill().unwrap();
    ends(&mut feeder);
}

#[test]
fn a_recording_arrives_as_a_camera_and_stalls() {
    let test = "a_recording_arrives_as_a_camera_and_stalls";
    if std::env::var_os(INSIDE).is_some() {
        return with_a_feeder();
    }
    let folder = tempfile::tempdir().unwrap();
    // A frame of 256x192 fills whole pages: v4l2-ctl writes buffers, and would shift frames of any other size.
    let frames = folder.path().join("frames.raw");
    if !recorded(test, &["-pix_fmt", "gray", "-f", "rawvideo"], &frames) {
        return;
    }
    beside("loopback", test, &frames, with_a_feeder);
}

fn with_a_feeder() {
    step("a recording arrives as a camera");
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
    let health = wait_well(&camera);
    let granted = health.granted.unwrap();
    assert_eq!(
        (granted.card.as_str(), granted.width_px, granted.height_px),
        ("loopback", 256, 192)
    );
    let recorded = std::fs::read(frames).unwrap();
    // The loopback driver overwrites buffers while they are read, so a frame may be torn; most of its rows are whole.
    let known: BTreeSet<(usize, &[u8])> = recorded
        .chunks_exact(256)
        .enumerate()
        .map(|(i, row)| (i % 192, row))
        .collect();
    for _ in 0..5 {
        let Luma::Eight(levels) = next(&camera).luma else {
            panic!("GREY has eight bits")
        };
        let rows = levels.chunks_exact(256).enumerate();
        let of_the_recording = rows.filter(|row| known.contains(row)).count();
        assert!(
            of_the_recording >= 144,
            "{of_the_recording} of 192 rows are the recording's"
        );
    }

    step("the feeder stops: a stall, again and again");
    signal(&feeder, "STOP");
    let health = wait_for(&camera, "the stall", |h| h.has(FaultKind::Stalled));
    assert!(
        health.age_secs.unwrap() >= 2.0 && health.fps < 1.0,
        "{health:#?}"
    );
    step("and goes on");
    signal(&feeder, "CONT");
    wait_well(&camera);
    drop(camera);

    step("shoal track, end to end");
    // How many frames come in a while is the machine's affair.
    let lines_in = |seconds: &str| {
        let camera = ["--camera", "v4l2:loopback?format=GREY"];
        let length = ["--seconds", seconds, "--out", "/tmp/tracks.jsonl"];
        let (told, well) = ran(SHOAL, &[&["track"][..], &camera, &length].concat());
        assert!(well, "{told}");
        let written = std::fs::read_to_string("/tmp/tracks.jsonl").unwrap();
        let lines = written.lines().count();
        println!("{told}{lines} lines");
        lines
    };
    assert!(
        ["4", "15", "60"]
            .into_iter()
            .any(|seconds| lines_in(seconds) > 5)
    );
    feeder.kill().unwrap();
    ends(&mut feeder);
}

fn signal(child: &Child, name: &str) {
    let (told, well) = ran("kill", &["-s", name, &child.id().to_string()]);
    assert!(well, "{told}");
}
