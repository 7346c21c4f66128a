//! Tests of live cameras with the real drivers vivid and v4l2loopback, in a virtual machine that the script `rig/camera-vm`
//! starts.
//!
//! Each test runs twice. On the host, the test only starts the virtual machine. The virtual machine loads the driver and runs
//! the same test as root with `SHOAL_IN_CAMERA_VM` set; this second run checks Shoal. The machine is emulated and slow, so the
//! tests use small frames and check behavior, not speed. Without the script or root rights, a test prints a message and is
//! skipped.

mod loopback;

use shoal_testing::assert_message;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use shoal::camera::{CameraHealth, FaultKind, Feed, FeedSetup, FeedTiming, Luma, WorkerCommand};

use crate::feeds::{self, SHOAL, next, wait_for, wait_for_end};

/// Environment variable that is set in the virtual machine.
const IN_VM: &str = "SHOAL_IN_CAMERA_VM";
/// Environment variable with the folder of the files that the host prepared. The virtual machine can read the folders of the
/// host.
const FILES: &str = "SHOAL_VM_FILES";
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
    assert!(done.status.success(), "in the machine: {:?}", done.status);
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
    let driver = Path::new("/sys/bus/platform/drivers/vivid");
    std::fs::write(driver.join(bind_or_unbind), "vivid.0").unwrap();
}

/// Returns the setup of a source. The pauses and timeouts themselves are tested in cameras_live.rs.
fn setup(source: &str) -> FeedSetup {
    let ms = Duration::from_millis;
    let mut setup = feeds::setup(source, WorkerCommand::new(SHOAL));
    setup.timing = FeedTiming {
        stall_timeout: ms(2000),
        first_pause: ms(300),
        longest_pause: ms(2000),
        settle_time: ms(1000),
        ..FeedTiming::default()
    };
    setup
}

fn open(source: &str) -> Feed {
    Feed::open(setup(source), None).unwrap()
}

/// Waits until new frames arrive and no fault is active.
fn wait_healthy(camera: &Feed) -> CameraHealth {
    let before = camera.health().frames;
    wait_for(camera, "frames without a fault", |h| {
        h.frames > before + 2 && h.faults.is_empty()
    })
}

#[test]
fn every_format_of_vivid_has_the_levels_that_v4l2_ctl_reads() {
    let test = "every_format_of_vivid_has_the_levels_that_v4l2_ctl_reads";
    in_vm_with("vivid", test, Path::new(""), check_formats);
}

fn check_formats() {
    step("shoal cameras");
    let (table, is_ok) = run(SHOAL, &["cameras"]);
    assert!(is_ok && table.starts_with(&format!("{VIVID}\n")), "{table}");
    assert_message(
        &table,
        &[
            "/dev/video0",
            "nokhwa:0",
            "GREY",
            "Y16",
            "320x180     60 50",
            "brightness",
            "test_pattern",
        ],
    );
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
            Luma::U8(levels) => (levels.iter().map(|v| u16::from(*v)).collect::<Vec<_>>(), 8),
            Luma::U16 { bits, levels } => (levels.clone(), *bits),
        };
        assert_eq!((levels.len(), bits), (320 * 180, wanted_bits));
        let expected = levels_of_v4l2_ctl(code);
        assert_eq!(levels, expected, "{code}: the levels that v4l2-ctl reads");
        let span = levels.iter().max().unwrap() - levels.iter().min().unwrap();
        assert!(f64::from(span) > 0.5 * f64::from((1u32 << bits) - 1));
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
    let test = "controls_are_set_and_read_back";
    in_vm_with("vivid", test, Path::new(""), check_controls);
}

fn check_controls() {
    let wanted = [
        ("brightness", 77),
        ("contrast", 300),
        ("gain", 50),
        ("focus", 5),
        ("test_pattern", 21),
    ];
    let wanted: BTreeMap<String, i64> = wanted.map(|(name, value)| (name.to_owned(), value)).into();
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
    let arguments =
        "--log warn track --camera v4l2:0?size=320x180&fps=7.3 --seconds 2 --out /dev/null";
    let (output, _) = run(SHOAL, &arguments.split(' ').collect::<Vec<_>>());
    assert_message(
        &output,
        &["requested 7.3 frames per second, the driver gives"],
    );
}

#[test]
fn faults_of_a_real_driver_are_named_and_recovered() {
    let test = "faults_of_a_real_driver_are_named_and_recovered";
    in_vm_with("vivid", test, Path::new(""), check_faults);
}

fn check_faults() {
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
    assert!(health.count(FaultKind::DamagedFrames) >= 1 && health.restarts == before.restarts);

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
