//! Recordings that tests are held against: those of others in `$SHOAL_TEST_DATA` (default `../shared`), and scenes that
//! its `ir-scene` renders, kept under `target/ir-scenes` by a hash of tool and arguments.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test says what it skips and what it measured, and ends where it fails"
)]
#![allow(dead_code, reason = "every test binary uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use glam::DVec3;
use shoal::app::track::{TrackOptions, track};
use shoal::calibration::{CalibrationParams, Setup, calibrate, read_points};
use shoal::geometry::Surface;
use shoal::vision::VisionParams;

/// A file or folder of the test data; says loudly when it is not there.
pub(crate) fn test_data(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data =
        std::env::var_os("SHOAL_TEST_DATA").map_or_else(|| root.join("../shared"), PathBuf::from);
    let path = data.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!(
        "SKIPPED: {} is not there; set SHOAL_TEST_DATA",
        path.display()
    );
    None
}

/// A python with numpy and scipy, or none, and then says so loudly.
pub(crate) fn python() -> Option<&'static str> {
    let usable = |python: &&'static str| {
        Command::new(python)
            .args(["-c", "import numpy, scipy"])
            .output()
            .is_ok_and(|o| o.status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(usable);
    if found.is_none() {
        eprintln!("SKIPPED: no python3 with numpy and scipy");
    }
    found
}

/// Whether a program can be started; says loudly when not.
pub(crate) fn has_program(name: &str) -> bool {
    let found = Command::new(name).arg("-version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}

/// Folder of a scene rendered by ir-scene with these arguments; `None`, and said, where it cannot be rendered.
pub(crate) fn scene(arguments: &str) -> Option<PathBuf> {
    let tool = test_data("tools/ir-scene")?;
    let python = python()?;
    let mut key = std::fs::read(&tool).expect("ir-scene can be read");
    key.push(b'\n');
    key.extend_from_slice(arguments.as_bytes());
    let name = format!("{:016x}", fnv1a(&key));
    let scenes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../ir-scenes");
    let folder = scenes.join(&name);
    if folder.exists() {
        return Some(folder);
    }
    // Rendered beside its place, each in a folder of its own, and moved there whole: an interrupted run leaves nothing half
    // done, and two who want the same scene do not write into each other's.
    static RENDERED: AtomicU32 = AtomicU32::new(0);
    let number = RENDERED.fetch_add(1, Ordering::Relaxed);
    let unfinished = scenes.join(format!("{name}.{}.{number}", std::process::id()));
    std::fs::create_dir_all(&scenes).expect("target can be written");
    eprintln!("rendering ir-scene {arguments} …");
    let done = Command::new(python)
        .arg(&tool)
        .arg(&unfinished)
        .args(arguments.split_whitespace())
        .env("OMP_NUM_THREADS", "1")
        .output()
        .expect("python starts");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "ir-scene {arguments}: {errors}");
    if std::fs::rename(&unfinished, &folder).is_err() {
        // Another test was faster.
        let _left = std::fs::remove_dir_all(&unfinished);
    }
    Some(folder)
}

/// A file with the paths of every `n`-th of those people in `recording` whose number leaves the same rest as `first`.
/// A line of it is a person's number, frame and place.
pub(crate) fn every_nth(recording: &Path, n: u32, first: u32) -> PathBuf {
    let all = std::fs::read_to_string(recording).expect("the paths can be read");
    let is_kept = |line: &&str| {
        let number = line.split_whitespace().next();
        let number = number.and_then(|number| number.parse::<f64>().ok());
        number.is_some_and(|number| number as u32 % n == first % n)
    };
    let kept: Vec<&str> = all.lines().filter(is_kept).collect();
    assert!(
        !kept.is_empty(),
        "nobody is left of {}",
        recording.display()
    );
    let name = recording.file_stem().expect("it is a file");
    let name = format!("{}-{}-of-{n}.txt", name.to_string_lossy(), first % n);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, kept.join("\n")).expect("target can be written");
    path
}

/// What score-tracks says of the tracks in `tracks` for a scene's folder.
pub(crate) fn score(scene: &Path, tracks: &Path, surface: &str) -> Option<serde_json::Value> {
    let tool = test_data("tools/score-tracks")?;
    let said = Command::new(python()?)
        .arg(tool)
        .args([&scene.join("truth.jsonl"), tracks])
        .args(["--surface", surface, "--json"])
        .output()
        .expect("python starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "score-tracks: {errors}");
    Some(serde_json::from_slice(&said.stdout).expect("score-tracks writes JSON"))
}

/// FNV-1a, to name things by what they were made from.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What score-tracks found, as far as it is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    pub(crate) hota: f64,
    pub(crate) idf1: f64,
    pub(crate) recall: f64,
    pub(crate) precision: f64,
    pub(crate) median_mm: f64,
    pub(crate) p95_mm: f64,
    pub(crate) switches_per_min: f64,
    pub(crate) longest_false_secs: f64,
    pub(crate) longest_lost_secs: f64,
    pub(crate) longest_on_thing_secs: f64,
    /// Least share of area left of somebody who stood still; not a number where nobody did.
    pub(crate) still_area_kept: f64,
    /// When it was told that the camera had moved.
    pub(crate) moved_secs: Option<f64>,
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "HOTA {:.3}, IDF1 {:.3}, recall {:.3}, precision {:.3}, foot {:.0} / {:.0} mm, {:.1} switches a minute, \
             false {:.2} s, lost {:.2} s, on a thing {:.2} s",
            self.hota,
            self.idf1,
            self.recall,
            self.precision,
            self.median_mm,
            self.p95_mm,
            self.switches_per_min,
            self.longest_false_secs,
            self.longest_lost_secs,
            self.longest_on_thing_secs
        )?;
        match self.moved_secs {
            Some(secs) => write!(f, ", camera moved as told at {secs:.1} s"),
            None => Ok(()),
        }
    }
}

/// Renders a scene (or takes it from the cache), calibrates on its markers, tracks it and scores the tracks.
/// `None`, and said why, where the machine lacks what that needs.
pub(crate) fn track_scene(arguments: &str) -> Option<Score> {
    let scene = scene(arguments)?;
    let read = |name: &str| std::fs::read_to_string(scene.join(name)).expect("the scene is whole");
    let room: serde_json::Value = serde_json::from_str(&read("scene.json")).expect("JSON");
    let text = |key: &str| {
        room[key]
            .as_str()
            .expect("ir-scene writes it as text")
            .to_owned()
    };
    let numbers = |text: &str, by: char| -> Vec<f64> {
        text.split(by)
            .map(|v| v.parse().expect("a number"))
            .collect()
    };
    let size = numbers(&text("size"), 'x');
    let surface_m = numbers(&text("surface"), 'x');
    let setup = Setup {
        picture_px: (size[0] as u32, size[1] as u32),
        surface_m: (surface_m[0], surface_m[1]),
        lamp_m: Some(DVec3::from_slice(&numbers(&text("lamp"), ','))),
        camera_m: None,
        date: "2026-11-20".to_owned(),
    };
    let points = read_points(&read("markers.csv")).expect("markers are well formed");
    let (calibration, _) = calibrate(&points, &setup, &CalibrationParams::default())
        .unwrap_or_else(|refused| panic!("{arguments}: the markers are refused: {refused}"));
    let folder = tempfile::tempdir().expect("a folder for the tracks");
    let out = folder.path().join("tracks.jsonl");
    let options = TrackOptions {
        source: format!("file:{}", scene.join("walk.y4m").display()),
        folder: PathBuf::new(),
        fast: true,
        fps: None,
        camera: shoal::camera::CameraParams::default(),
        seconds: None,
        calibration: Some(calibration),
        surface: Surface {
            width_m: surface_m[0] as f32,
            height_m: surface_m[1] as f32,
            ..Surface::default()
        },
        vision: VisionParams::default(),
        drift_max_m: 0.03,
        out: out.clone(),
        debug: None,
    };
    let tracked = track(&options, &AtomicBool::new(false)).expect("the scene can be tracked");
    let said = score(&scene, &out, &text("surface"))?;
    let number = |key: &str| said[key].as_f64().unwrap_or(f64::NAN);
    Some(Score {
        hota: number("HOTA"),
        idf1: number("IDF1"),
        recall: number("recall"),
        precision: number("precision"),
        median_mm: number("foot_median_mm"),
        p95_mm: number("foot_p95_mm"),
        switches_per_min: number("switches_per_min"),
        longest_false_secs: number("longest_false_secs"),
        longest_lost_secs: number("longest_lost_secs"),
        longest_on_thing_secs: number("longest_on_thing_secs"),
        still_area_kept: number("still_area_kept"),
        moved_secs: tracked.moved_secs,
    })
}

/// Prints one figure in the form that `scripts/verify` makes its table from; the same line again when it falls short.
pub(crate) fn tell(name: &str, got: f64, limit: f64, at_least: bool) -> Option<String> {
    let met = if at_least { got >= limit } else { got <= limit };
    let sign = if at_least { "≥" } else { "≤" };
    let verdict = if met { "ok" } else { "short" };
    let line = format!("verify: {name} | wanted {sign} {limit} | got {got:.3} | {verdict}");
    println!("{line}");
    (!met).then_some(line)
}
