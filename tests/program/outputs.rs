//! Tests of what the program writes: only files are replaced, everything else is rejected before the work begins, and standard
//! output is possible where it makes sense. Also tests that a signal ends a command that waits for its input.

use shoal_testing::{assert_message, rows};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use shoal::calibration::Calibration;

/// A folder with one of each kind of path that a file must not replace.
struct Paths(tempfile::TempDir);

impl Paths {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("folder")).unwrap();
        std::fs::create_dir(at("folder.y4m")).unwrap();
        std::fs::write(at("file"), "old").unwrap();
        for (target, link) in [("/dev/null", "device"), ("missing", "dangling")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let made = Command::new("mkfifo").arg(at("pipe")).status();
        // Mkfifo makes a pipe.
        assert!(made.is_ok_and(|status| status.success()));
        Self(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
        command.args(arguments.split(' ')).current_dir(&self.0);
        command
    }

    fn shoal(&self, arguments: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Writes a table of points for a calibration.
    fn write_points(&self, flip: fn([f64; 2]) -> [f64; 2]) {
        std::fs::write(self.at("points.csv"), points(flip)).unwrap();
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

const CALIBRATE: &str = "calibrate points.csv --camera-size 640x480 --surface 4x3";

#[test]
fn nothing_but_files_is_replaced() {
    let paths = Paths::new();
    paths.write_points(|p| p);
    let kinds = |names: &[&str]| -> Vec<_> {
        let kind = |name: &&str| std::fs::symlink_metadata(paths.at(name)).map(|m| m.file_type());
        names.iter().map(kind).map(Result::ok).collect()
    };
    let all = ["folder", "folder.y4m", "file", "device", "dangling", "pipe"];
    let before = kinds(&all);
    let table = "
        CALIBRATE --out | folder device dangling pipe no/file
        simulate --seconds 0.1 --out a.jsonl --save-state | folder device dangling pipe no/file -
        run --headless --seconds 1 --record | folder device dangling pipe no/file -
        render --seconds 0.1 --out | folder.y4m file device pipe -
        track --camera synthetic --seconds 1 --out | folder
        track --camera synthetic --seconds 1 --out t.jsonl --debug | file device pipe";
    for [command, outputs] in rows(table) {
        for output in outputs.split(' ') {
            let begun = Instant::now();
            let command = command.replace("CALIBRATE", CALIBRATE);
            let ended = paths.shoal(&format!("{command} {output}"));
            let errors = text(&ended.stderr);
            assert_eq!(ended.status.code(), Some(1), "{command} {output}: {errors}");
            assert!(errors.contains(output), "{command} {output}: {errors}");
            assert!(!errors.contains("panicked"), "{errors}");
            assert!(begun.elapsed() < Duration::from_secs(20), "{errors}");
        }
    }
    assert_eq!(kinds(&all), before);
    assert_eq!(std::fs::read(paths.at("file")).unwrap(), b"old");
    for name in ["a.jsonl", "t.jsonl", "-", "folder.unfinished", "00000.png"] {
        assert!(!paths.at(name).exists(), "{name} was created");
    }
}

/// `shoal calibrate p.csv … --out p.csv` replaced the measured points, and `--record` the recording that it played.
#[test]
fn no_command_replaces_a_file_that_it_reads() {
    let paths = Paths::new();
    let video = "YUV4MPEG2 W2 H2 F25:1 Cmono\nFRAME\n0000";
    let contents = [
        ("points.csv", points(|p| p)),
        ("t.jsonl", String::new()),
        ("walk.y4m", video.to_owned()),
        ("site.toml", "scene = \"pool\"\n".to_owned()),
    ];
    for (name, content) in &contents {
        std::fs::write(paths.at(name), content).unwrap();
    }
    for command in [
        "CALIBRATE --out points.csv",
        "CALIBRATE --out site.toml",
        "SIMULATE --out t.jsonl",
        "SIMULATE --out a.jsonl --save-state t.jsonl",
        "SIMULATE --out site.toml site.toml",
        "track --camera file:walk.y4m --out walk.y4m",
        "RECORD walk.y4m",
        "RECORD site.toml site.toml",
    ] {
        let simulate = "simulate --seconds 0.1 --shadows t.jsonl";
        let record = "run --headless --seconds 1 --camera file:walk.y4m --record";
        let command = command.replace("CALIBRATE", CALIBRATE);
        let command = command.replace("SIMULATE", simulate);
        let ended = paths.shoal(&command.replace("RECORD", record));
        assert_eq!(ended.status.code(), Some(1), "{command}");
        assert_message(text(&ended.stderr), &["give another name"]);
    }
    for (name, content) in &contents {
        let found = std::fs::read_to_string(paths.at(name)).unwrap();
        assert_eq!(found, *content, "{name}");
    }
    assert!(!paths.at("a.jsonl").exists());
}

#[test]
fn a_calibration_can_be_written_to_standard_output() {
    let paths = Paths::new();
    paths.write_points(|p| p);
    for name in ["-", "/dev/stdout"] {
        let ended = paths.shoal(&format!("{CALIBRATE} --out {name}"));
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let calibration = Calibration::parse(&text(&ended.stdout), "-");
        assert_eq!(calibration.map(|c| c.points.len()), Ok(16));
        assert!(text(&ended.stderr).contains("accepted"));
    }
    assert!(!paths.at("-").exists());
    // Standard output that is appended to a file is not cut off.
    let log = std::fs::File::options().append(true).open(paths.at("file"));
    let mut calibrate = paths.command(&format!("{CALIBRATE} --out /dev/stdout"));
    let ended = calibrate.stdout(log.unwrap()).status();
    assert!(ended.is_ok_and(|status| status.success()));
    let written = std::fs::read_to_string(paths.at("file")).unwrap();
    assert!(written.starts_with("old# Created by"), "{written}");
}

#[test]
fn impossible_positions_of_lamp_and_camera_are_rejected() {
    let paths = Paths::new();
    paths.write_points(|p| p);
    let table = "
        --lamp 0.2,-4.2,-0.3 | the lamp cannot be at 0.2, -4.2, -0.3
        --lamp 0,0,0 | its height above the surface
        --lamp 0,1000,0 | at most 100 m
        --camera 0.6,-4,1.4 | the camera cannot be at 0.6, -4, 1.4
        --camera 0.6,40,1.4 | the points show that it is near
        --camera 0.6,900,1.4 | at most 100 m";
    for [position, wanted] in rows(table) {
        let ended = paths.shoal(&format!("{CALIBRATE} --out c.toml {position}"));
        let errors = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{errors}");
        assert_message(&errors, &[&wanted]);
        assert!(!paths.at("c.toml").exists());
    }
    let right = "--out c.toml --lamp 0.2,4.2,-0.3 --camera 0.7,4.1,1.5";
    let ended = paths.shoal(&format!("{CALIBRATE} {right}"));
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
        paths.write_points(flip);
        let ended = paths.shoal(&format!("{CALIBRATE} --out c.toml"));
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let report = text(&ended.stdout);
        assert_eq!(report.contains("picture is mirrored"), reported, "{report}");
        assert_message(report, &["\ncamera at 0.6"]);
    }
}

/// A command that waits for tracks or frames, and the signal that ends it.
#[test]
fn the_first_signal_ends_a_command_that_waits_for_standard_input() {
    let paths = Paths::new();
    let (hup, int, term) = (1, 2, 15);
    let simulate = "simulate --seconds 9 --out a.jsonl";
    for (command, signal) in [
        (format!("{simulate} --shadows -"), term),
        (format!("{simulate} --shadows -"), int),
        (format!("{simulate} --shadows -"), hup),
        (format!("{simulate} --commands -"), term),
        (format!("{simulate} --shadows pipe"), term),
        ("track --camera - --out t.jsonl".to_owned(), term),
    ] {
        let mut child = (paths.command(&command))
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for_signal_handler(child.id(), signal);
        let killed = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(killed.is_ok_and(|status| status.success()));
        let until = Instant::now() + Duration::from_secs(20);
        let ended = loop {
            match child.try_wait().unwrap() {
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                ended => break ended,
            }
        };
        let _gone = child.kill();
        assert!(ended.unwrap().code().is_some(), "{command}: {signal}");
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
        assert!(Instant::now() < until, "no handler of signal {signal}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns how much the pixels in the middle of a part of a picture differ, as their standard deviation.
fn contrast(picture: &image::RgbImage, [left, top, right, bottom]: [f32; 4]) -> f32 {
    let size = glam::Vec2::new(picture.width() as f32, picture.height() as f32);
    let (low, high) = (
        glam::Vec2::new(left, top) * size,
        glam::Vec2::new(right, bottom) * size,
    );
    let mut lumas = Vec::new();
    for (x, y, pixel) in picture.enumerate_pixels() {
        let at = glam::Vec2::new(x as f32, y as f32);
        if at.cmpge(low).all() && at.cmplt(high).all() {
            lumas.push(pixel.0.iter().map(|&c| f32::from(c)).sum::<f32>() / 3.0);
        }
    }
    let mean = lumas.iter().sum::<f32>() / lumas.len() as f32;
    let squares: f32 = lumas.iter().map(|l| (l - mean).powi(2)).sum();
    (squares / lumas.len() as f32).sqrt()
}

#[test]
fn a_preview_shows_the_animal_in_every_tile() {
    let paths = Paths::new();
    let made = paths.shoal("preview salmon --seconds 0.1 --out sheet.png");
    let said = text(&made.stdout);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert_message(
        &said,
        &["model \"salmon\"", "triangles:", "clips:", "cruise"],
    );
    let sheet = image::open(paths.at("sheet.png")).unwrap().into_rgb8();
    for tile in 0..10u8 {
        let [column, row] = [tile % 5, tile / 5].map(f32::from);
        let middle = [
            (column + 0.3) / 5.0,
            (row + 0.35) / 2.0,
            (column + 0.7) / 5.0,
            (row + 0.65) / 2.0,
        ];
        let found = contrast(&sheet, middle);
        assert!(found > 15.0, "tile {tile}: {found}");
    }
    let corner = [0.82, 0.9, 0.98, 0.99];
    let ground = contrast(&sheet, corner);
    assert!(ground < 8.0, "the ground beside the last tile: {ground}");
}

#[test]
fn a_preview_of_nothing_says_what_there_is() {
    let paths = Paths::new();
    let table = "
        samlon | did you mean \"salmon\"?
        no.glb | no.glb
        no.gltf | glTF Binary (.glb)";
    for [name, message] in rows(table) {
        let ended = paths.shoal(&format!("preview {name} --out sheet.png"));
        assert_eq!(ended.status.code(), Some(1));
        assert_message(text(&ended.stderr), &[message.as_ref()]);
    }
    assert!(!paths.at("sheet.png").exists());
}
