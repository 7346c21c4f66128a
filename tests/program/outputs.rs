//! Tests of what the program writes: only files are replaced, everything else is rejected before the work begins, and standard
//! output is possible where it makes sense. Also tests that a signal ends a command that waits for its input.

use shoal_testing::assert_message;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use shoal::calibration::Calibration;

/// A folder with one of each kind of path that a file must not replace.
struct Paths(tempfile::TempDir);

impl Paths {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("folder")).expect("a folder can be created");
        std::fs::create_dir(at("folder.y4m")).expect("a folder can be created");
        std::fs::write(at("file"), "old").expect("a file can be written");
        for (target, link) in [("/dev/null", "device"), ("missing", "dangling")] {
            std::os::unix::fs::symlink(target, at(link)).expect("a link can be created");
        }
        let made = Command::new("mkfifo").arg(at("pipe")).status();
        // Mkfifo makes a pipe.
        assert!(made.is_ok_and(|status| status.success()));
        Self(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn shoal(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_shoal"))
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .expect("the program starts")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a table of points that a camera of 640 × 480 px at 0.6, 4, 1.4 m sees on a surface of 4 × 3 m. `flip` changes the
/// pixels.
fn points(flip: fn([f64; 2]) -> [f64; 2]) -> String {
    let eye = glam::DVec3::new(0.6, 4.0, 1.4);
    let ahead = -eye.normalize();
    let right = ahead.cross(glam::DVec3::NEG_Z).normalize();
    let mut table = "camera_x_px,camera_y_px,floor_x_m,floor_z_m\n".to_owned();
    for i in 0..16 {
        let (x, z) = (1.2 * f64::from(i % 4) - 1.8, 0.9 * f64::from(i / 4) - 1.35);
        let to = glam::DVec3::new(x, 0.0, z) - eye;
        let seen = [right, ahead.cross(right)].map(|axis| 450.0 * to.dot(axis) / to.dot(ahead));
        let [u, v] = flip([319.5 + seen[0], 239.5 + seen[1]]);
        table += &format!("{u:.3},{v:.3},{x},{z}\n");
    }
    table
}

const CALIBRATE: [&str; 6] = [
    "calibrate",
    "points.csv",
    "--camera-size",
    "640x480",
    "--surface",
    "4x3",
];

#[test]
fn nothing_but_files_is_replaced() {
    let paths = Paths::new();
    std::fs::write(paths.at("points.csv"), points(|p| p)).expect("a file can be written");
    let kinds = |names: &[&str]| -> Vec<_> {
        let kind = |name: &&str| std::fs::symlink_metadata(paths.at(name)).map(|m| m.file_type());
        names.iter().map(kind).map(Result::ok).collect()
    };
    let all = ["folder", "folder.y4m", "file", "device", "dangling", "pipe"];
    let before = kinds(&all);
    let calibrate = [&CALIBRATE[..], &["--out"]].concat();
    let simulate = ["simulate", "--seconds", "0.1", "--out", "a.jsonl"];
    let save = [&simulate[..], &["--save-state"]].concat();
    let record = ["run", "--headless", "--seconds", "1", "--record"].to_vec();
    let render = ["render", "--seconds", "0.1", "--out"].to_vec();
    let track = ["track", "--camera", "synthetic", "--seconds", "1", "--out"].to_vec();
    let debug = [&track[..], &["t.jsonl", "--debug"]].concat();
    for (command, outputs) in [
        (
            &calibrate,
            &["folder", "device", "dangling", "pipe", "no/file"][..],
        ),
        (
            &save,
            &["folder", "device", "dangling", "pipe", "no/file", "-"],
        ),
        (
            &record,
            &["folder", "device", "dangling", "pipe", "no/file", "-"],
        ),
        (&render, &["folder.y4m", "file", "device", "pipe", "-"]),
        (&track, &["folder"]),
        (&debug, &["file", "device", "pipe"]),
    ] {
        for output in outputs {
            let begun = Instant::now();
            let ended = paths.shoal(&[&command[..], &[output]].concat());
            let errors = text(&ended.stderr);
            assert_eq!(
                ended.status.code(),
                Some(1),
                "{command:?} {output}: {errors}"
            );
            assert!(errors.contains(output), "{command:?} {output}: {errors}");
            assert!(!errors.contains("panicked"), "{errors}");
            assert!(begun.elapsed() < Duration::from_secs(20), "{errors}");
        }
    }
    assert_eq!(kinds(&all), before);
    assert_eq!(
        std::fs::read(paths.at("file")).ok().as_deref(),
        Some(&b"old"[..])
    );
    for name in ["a.jsonl", "t.jsonl", "-", "folder.unfinished", "00000.png"] {
        assert!(!paths.at(name).exists(), "{name} was created");
    }
}

/// `shoal calibrate p.csv … --out p.csv` replaced the measured points, and `--record` the recording that it played.
#[test]
fn no_command_replaces_a_file_that_it_reads() {
    let paths = Paths::new();
    let calibrate = [&CALIBRATE[..], &["--out"]].concat();
    let contents = [
        ("points.csv", points(|p| p)),
        ("t.jsonl", String::new()),
        (
            "walk.y4m",
            "YUV4MPEG2 W2 H2 F25:1 Cmono\nFRAME\n0000".to_owned(),
        ),
        ("site.toml", "scene = \"pool\"\n".to_owned()),
    ];
    for (name, content) in &contents {
        std::fs::write(paths.at(name), content).unwrap();
    }
    let simulate = ["simulate", "--seconds", "0.1", "--shadows", "t.jsonl"];
    let record = [
        "run",
        "--headless",
        "--seconds",
        "1",
        "--camera",
        "file:walk.y4m",
    ];
    for command in [
        [&calibrate[..], &["points.csv"]].concat(),
        [&calibrate[..], &["site.toml"]].concat(),
        [&simulate[..], &["--out", "t.jsonl"]].concat(),
        [
            &simulate[..],
            &["--out", "a.jsonl", "--save-state", "t.jsonl"],
        ]
        .concat(),
        [&simulate[..], &["--out", "site.toml", "site.toml"]].concat(),
        ["track", "--camera", "file:walk.y4m", "--out", "walk.y4m"].to_vec(),
        [&record[..], &["--record", "walk.y4m"]].concat(),
        [&record[..], &["--record", "site.toml", "site.toml"]].concat(),
    ] {
        let ended = paths.shoal(&command);
        let errors = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{command:?}: {errors}");
        assert!(
            errors.contains("give another name"),
            "{command:?}: {errors}"
        );
    }
    for (name, content) in &contents {
        assert_eq!(
            std::fs::read_to_string(paths.at(name)).unwrap(),
            *content,
            "{name}"
        );
    }
    assert!(!paths.at("a.jsonl").exists());
}

#[test]
fn a_calibration_can_be_written_to_standard_output() {
    let paths = Paths::new();
    std::fs::write(paths.at("points.csv"), points(|p| p)).expect("a file can be written");
    for name in ["-", "/dev/stdout"] {
        let ended = paths.shoal(&[&CALIBRATE[..], &["--out", name]].concat());
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let calibration = Calibration::parse(&text(&ended.stdout), "-");
        assert_eq!(calibration.map(|c| c.points.len()), Ok(16));
        assert!(text(&ended.stderr).contains("accepted"));
    }
    assert!(!paths.at("-").exists());
    // Standard output that is appended to a file is not cut off.
    let log = std::fs::File::options().append(true).open(paths.at("file"));
    let ended = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args([&CALIBRATE[..], &["--out", "/dev/stdout"]].concat())
        .current_dir(paths.0.path())
        .stdout(log.expect("the file can be opened"))
        .status();
    assert!(ended.is_ok_and(|status| status.success()));
    let written = std::fs::read_to_string(paths.at("file")).expect("the file can be read");
    assert!(written.starts_with("old# Created by"), "{written}");
}

#[test]
fn impossible_positions_of_lamp_and_camera_are_rejected() {
    let paths = Paths::new();
    std::fs::write(paths.at("points.csv"), points(|p| p)).expect("a file can be written");
    for (option, position, wanted) in [
        (
            "--lamp",
            "0.2,-4.2,-0.3",
            "the lamp cannot be at 0.2, -4.2, -0.3",
        ),
        ("--lamp", "0,0,0", "its height above the surface"),
        ("--lamp", "0,1000,0", "at most 100 m"),
        (
            "--camera",
            "0.6,-4,1.4",
            "the camera cannot be at 0.6, -4, 1.4",
        ),
        ("--camera", "0.6,40,1.4", "the points show that it is near"),
        ("--camera", "0.6,900,1.4", "at most 100 m"),
    ] {
        let ended = paths.shoal(&[&CALIBRATE[..], &["--out", "c.toml", option, position]].concat());
        let errors = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{errors}");
        assert_message(&errors, &[wanted]);
        assert!(!paths.at("c.toml").exists());
    }
    let right = [
        "--out",
        "c.toml",
        "--lamp",
        "0.2,4.2,-0.3",
        "--camera",
        "0.7,4.1,1.5",
    ];
    let ended = paths.shoal(&[&CALIBRATE[..], &right].concat());
    assert!(ended.status.success(), "{}", text(&ended.stderr));
}

#[test]
fn a_mirrored_table_is_accepted_and_reported() {
    let paths = Paths::new();
    for (flip, reported) in [
        ((|p| p) as fn([f64; 2]) -> [f64; 2], false),
        (|[u, v]| [639.0 - u, 479.0 - v], false),
        (|[u, v]| [639.0 - u, v], true),
        (|[u, v]| [u, 479.0 - v], true),
    ] {
        std::fs::write(paths.at("points.csv"), points(flip)).expect("a file can be written");
        let ended = paths.shoal(&[&CALIBRATE[..], &["--out", "c.toml"]].concat());
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let report = text(&ended.stdout);
        assert_eq!(report.contains("picture is mirrored"), reported, "{report}");
        let position = report
            .lines()
            .find(|line| line.starts_with("camera at 0.6"));
        assert!(position.is_some(), "{report}");
    }
}

/// A command that waits for tracks or frames, and the signal that ends it.
#[test]
fn the_first_signal_ends_a_command_that_waits_for_standard_input() {
    let paths = Paths::new();
    let simulate = ["simulate", "--seconds", "9", "--out", "a.jsonl"];
    let waiting_for = |option| [&simulate[..], &[option, "-"]].concat();
    let pipe = [&simulate[..], &["--shadows", "pipe"]].concat();
    let track = ["track", "--camera", "-", "--out", "t.jsonl"].to_vec();
    let (hup, int, term) = (1, 2, 15);
    for (command, signal) in [
        (waiting_for("--shadows"), term),
        (waiting_for("--shadows"), int),
        (waiting_for("--shadows"), hup),
        (waiting_for("--commands"), term),
        (pipe, term),
        (track, term),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_shoal"))
            .args(&command)
            .current_dir(paths.0.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        wait_for_signal_handler(child.id(), signal);
        let killed = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(killed.is_ok_and(|status| status.success()));
        let until = Instant::now() + Duration::from_secs(20);
        let ended = loop {
            match child.try_wait().expect("the program was started") {
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                ended => break ended,
            }
        };
        let _gone = child.kill();
        let status = ended.expect("one signal ends the program");
        assert!(
            status.code().is_some(),
            "{command:?}, signal {signal}: {status}"
        );
    }
}

/// Waits until the program has installed its handler of this signal.
fn wait_for_signal_handler(process: u32, signal: u32) {
    let until = Instant::now() + Duration::from_secs(20);
    let path = format!("/proc/{process}/status");
    let catches = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    };
    while !std::fs::read_to_string(Path::new(&path)).is_ok_and(|status| catches(&status)) {
        assert!(
            Instant::now() < until,
            "the program installs no handler of signal {signal}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
