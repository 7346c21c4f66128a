//! Recordings for tests. Some come from other projects and are in the folder `$SHOAL_TEST_DATA` (default `../shared`). Others
//! are scenes that the tool `ir-scene` in that folder renders. Rendered scenes are cached in `target/ir-scenes`. Their names
//! are a hash of the tool and its arguments.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use glam::DVec3;
use shoal::app::{TrackOptions, TrackSummary, TrackerConfig, track};
use shoal::calibration::{CalibrationParams, CalibrationSetup, calibrate, read_points};
use shoal::geometry::Surface;
use shoal::vision::VisionParams;

/// Returns the path of a file or folder in the test data. If it does not exist, prints a message and returns `None`.
pub(crate) fn test_data(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data =
        std::env::var_os("SHOAL_TEST_DATA").map_or_else(|| root.join("../shared"), PathBuf::from);
    let path = data.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!(
        "SKIPPED: {} does not exist; set SHOAL_TEST_DATA to the folder of the test data",
        path.display()
    );
    None
}

/// Returns a Python interpreter that has numpy and scipy. If there is none, prints a message and returns `None`.
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

/// Returns whether a program is installed. If it is not, prints a message.
pub(crate) fn has_program(name: &str) -> bool {
    let found = Command::new(name).arg("-version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}

/// Renders a scene with `ir-scene` and these arguments, or takes it from the cache. Returns the folder of the scene. If the
/// scene cannot be rendered, prints a message and returns `None`.
pub(crate) fn scene(arguments: &str) -> Option<PathBuf> {
    let tool = test_data("tools/ir-scene")?;
    let python = python()?;
    let mut key = std::fs::read(&tool).unwrap();
    key.push(b'\n');
    key.extend_from_slice(arguments.as_bytes());
    let name = format!("{:016x}", fnv1a(&key));
    let scenes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../ir-scenes");
    let folder = scenes.join(&name);
    if folder.exists() {
        return Some(folder);
    }
    // Renders into a temporary folder and renames it when the scene is complete. An interrupted run therefore leaves no partial
    // scene, and two tests that need the same scene do not overwrite each other's files.
    static RENDERED: AtomicU32 = AtomicU32::new(0);
    let number = RENDERED.fetch_add(1, Ordering::Relaxed);
    let unfinished = scenes.join(format!("{name}.{}.{number}", std::process::id()));
    std::fs::create_dir_all(&scenes).unwrap();
    eprintln!("rendering ir-scene {arguments} …");
    let done = Command::new(python)
        .arg(&tool)
        .arg(&unfinished)
        .args(arguments.split_whitespace())
        .env("OMP_NUM_THREADS", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "ir-scene {arguments}: {errors}");
    if std::fs::rename(&unfinished, &folder).is_err() {
        // Another test has rendered the same scene in the meantime, so this copy is not needed.
        let _left = std::fs::remove_dir_all(&unfinished);
    }
    Some(folder)
}

/// Writes a file with the paths of every `n`-th person in `recording`, and returns its path. A person is included if the
/// person's number has the same remainder as `first` when divided by `n`. Each line contains the number of a person, a frame
/// and a position.
pub(crate) fn every_nth(recording: &Path, n: u32, first: u32) -> PathBuf {
    let all = std::fs::read_to_string(recording).unwrap();
    let is_kept = |line: &&str| {
        let number = line.split_whitespace().next();
        let number = number.and_then(|number| number.parse::<f64>().ok());
        number.is_some_and(|number| number as u32 % n == first % n)
    };
    let kept: Vec<&str> = all.lines().filter(is_kept).collect();
    assert!(
        !kept.is_empty(),
        "{} has no path with this remainder",
        recording.display()
    );
    let name = recording.file_stem().unwrap();
    let name = format!("{}-{}-of-{n}.txt", name.to_string_lossy(), first % n);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, kept.join("\n")).unwrap();
    path
}

/// Compares the tracks in the file `tracks` with the truth of a scene. Returns the result of the tool `score-tracks`, or `None`
/// if the tool or Python is missing.
pub(crate) fn score(scene: &Path, tracks: &Path, surface: &str) -> Option<serde_json::Value> {
    let tool = test_data("tools/score-tracks")?;
    let output = Command::new(python()?)
        .arg(tool)
        .args([&scene.join("truth.jsonl"), tracks])
        .args(["--surface", surface, "--json"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "score-tracks: {errors}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Returns the FNV-1a hash (Fowler, Noll and Vo) of the bytes.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The figures from the tool `score-tracks` that the tests check.
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
    /// Smallest area of a standing visitor, as a share of the initial area; NaN if no visitor stood still.
    pub(crate) still_area_kept: f64,
    /// Time at which Shoal reported a camera movement, in seconds. `None` if it reported none.
    pub(crate) moved_secs: Option<f64>,
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "HOTA {:.3}, IDF1 {:.3}, recall {:.3}, precision {:.3}, foot {:.0} / {:.0} mm, {:.1} switches per minute, \
             false {:.2} s, lost {:.2} s, on an object {:.2} s",
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
            Some(secs) => write!(f, ", camera movement reported at {secs:.1} s"),
            None => Ok(()),
        }
    }
}

/// Renders a scene or takes it from the cache, calibrates the camera with the scene's markers, tracks the visitors and scores
/// the tracks. If the machine lacks a required program, prints a message and returns `None`.
pub(crate) fn track_scene(arguments: &str) -> Option<Score> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tracks.jsonl");
    let (scene, surface, tracked) = tracks_of_scene(arguments, &out)?;
    let report = score(&scene, &out, &surface)?;
    let number = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
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

/// Renders a scene or takes it from the cache, calibrates the camera with the scene's markers, and writes the tracks of the visitors
/// to `out`. Returns the folder of the scene, the size of the surface, and the summary.
pub(crate) fn tracks_of_scene(
    arguments: &str,
    out: &Path,
) -> Option<(PathBuf, String, TrackSummary)> {
    let scene = scene(arguments)?;
    let read = |name: &str| std::fs::read_to_string(scene.join(name)).unwrap();
    let room: serde_json::Value = serde_json::from_str(&read("scene.json")).unwrap();
    let text = |key: &str| room[key].as_str().unwrap().to_owned();
    let numbers =
        |text: &str, by: char| -> Vec<f64> { text.split(by).map(|v| v.parse().unwrap()).collect() };
    let size = numbers(&text("size"), 'x');
    let surface_m = numbers(&text("surface"), 'x');
    let setup = CalibrationSetup {
        frame_px: (size[0] as u32, size[1] as u32),
        surface_m: (surface_m[0], surface_m[1]),
        lamp_m: Some(DVec3::from_slice(&numbers(&text("lamp"), ','))),
        camera_m: None,
        date: "2026-11-20".to_owned(),
    };
    let points = read_points(&read("markers.csv")).unwrap();
    let (calibration, _) = calibrate(&points, &setup, &CalibrationParams::default())
        .unwrap_or_else(|error| panic!("{arguments}: the calibration was rejected: {error}"));
    let options = TrackOptions {
        source: format!("file:{}", scene.join("walk.y4m").display()),
        folder: PathBuf::new(),
        fast: true,
        fps: None,
        camera: shoal::camera::CameraParams::default(),
        program: Some(env!("CARGO_BIN_EXE_shoal").into()),
        seconds: None,
        tracker: TrackerConfig {
            vision: VisionParams::default(),
            calibration: Some(calibration),
            surface: Surface {
                width_m: surface_m[0] as f32,
                height_m: surface_m[1] as f32,
                ..Surface::default()
            },
        },
        drift_max_m: 0.03,
        out: out.to_owned(),
        why: false,
        debug: None,
    };
    let tracked = track(&options, &AtomicBool::new(false)).unwrap();
    Some((scene, text("surface"), tracked))
}

/// Prints one figure in the format that `scripts/verify` collects in its table. Returns the printed line if the figure misses
/// its limit, else `None`.
pub(crate) fn report_figure(name: &str, got: f64, limit: f64, at_least: bool) -> Option<String> {
    let met = if at_least { got >= limit } else { got <= limit };
    let sign = if at_least { "≥" } else { "≤" };
    let verdict = if met { "ok" } else { "short" };
    let line = format!("verify: {name} | wanted {sign} {limit} | got {got:.3} | {verdict}");
    println!("{line}");
    (!met).then_some(line)
}
