//! Tests with recorded input and expected output. Each folder `recorded/STAGE/CASE` contains the input files and the command
//! line in `arguments`. It also contains the expected output in `expected.jsonl` or `expected.toml`, or else `rejected.txt`:
//! then the exit code must be 1, and each line of `rejected.txt` must occur in the message. `{out}` in the arguments is
//! replaced by the path of a file in a temporary folder.
//!
//! To add a case, add a folder. `SHOAL_RECORD=1` replaces the expected outputs. Commit them in a separate commit and state the
//! reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Largest allowed difference between two numbers. It is relative for numbers above 1 and absolute for others. It allows for
/// the different rounding on other machines.
const TOLERANCE: f64 = 1e-3;

/// Largest share of frames in which the ids of the tracks may differ from the recorded ones: a track can start or end a few frames
/// earlier or later.
const OTHER_IDS_SHARE: f64 = 0.04;
/// Largest mean distance of the foot points from the recorded ones, in meters.
const FOOT_MEAN_M: f64 = 0.02;
/// Largest distance of a foot point from the recorded one, in meters.
const FOOT_MAX_M: f64 = 0.15;
/// Largest relative difference of the mean area from the recorded one.
const AREA_SHARE: f64 = 0.05;

/// Compares tracks with recorded ones: ids, foot points and areas over the whole recording. Single numbers may differ, because each
/// change of vision moves them slightly.
fn tracks_differ(expected: &[Value], got: &[Value]) -> Option<String> {
    let shadows = |line: &Value| line["shadows"].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let (mut other_ids, mut off_m, mut areas_m2) = (0, Vec::new(), [0.0, 0.0]);
    for (expected, got) in expected.iter().zip(got) {
        let same_time = difference("", &expected["time_secs"], &got["time_secs"]).is_none();
        let (expected, got) = (shadows(expected), shadows(got));
        let ids = |shadows: &[Value]| shadows.iter().map(|s| s["id"].clone()).collect::<Vec<_>>();
        if !same_time || ids(&expected) != ids(&got) {
            other_ids += 1;
            continue;
        }
        for (expected, got) in expected.iter().zip(&got) {
            let apart =
                |axis: usize| number(&expected["foot_m"][axis]) - number(&got["foot_m"][axis]);
            off_m.push(apart(0).hypot(apart(1)));
            areas_m2[0] += number(&expected["area_m2"]);
            areas_m2[1] += number(&got["area_m2"]);
        }
    }
    let mean_m = off_m.iter().sum::<f64>() / off_m.len() as f64;
    let most_m = off_m.iter().copied().fold(0.0, f64::max);
    let other_share = f64::from(other_ids) / expected.len() as f64;
    let area_share = (areas_m2[1] / areas_m2[0] - 1.0).abs();
    let is_same = other_share <= OTHER_IDS_SHARE
        && mean_m <= FOOT_MEAN_M
        && most_m <= FOOT_MAX_M
        && area_share <= AREA_SHARE;
    (!is_same).then(|| {
        format!(
            "other ids in {other_ids} frames; foot points differ by {mean_m:.3} m, at most {most_m:.3} m; areas by {:.1} %",
            100.0 * area_share
        )
    })
}

/// Returns the path of the first difference between two values, with both values. Returns `None` if they are equal.
fn difference(at: &str, expected: &Value, got: &Value) -> Option<String> {
    match (expected, got) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64()?, b.as_f64()?);
            ((a - b).abs() > TOLERANCE * a.abs().max(1.0))
                .then(|| format!("{at}: expected {a}, got {b}"))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| difference(&format!("{at}[{i}]"), a, b)),
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a
            .iter()
            .find_map(|(key, a)| difference(&format!("{at}.{key}"), a, &b[key])),
        _ => (expected != got).then(|| format!("{at}: expected {expected}, got {got}")),
    }
}

/// Parses JSON lines, or a TOML document without the date on which it was written.
fn values(text: &str, is_toml: bool) -> Vec<Value> {
    if is_toml {
        let mut value: Value = toml::from_str(text).unwrap();
        if let Some(object) = value.as_object_mut() {
            object.remove("date");
        }
        return vec![value];
    }
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn run(case: &Path) {
    let name = case.display();
    let arguments = fs::read_to_string(case.join("arguments")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let done = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .current_dir(case)
        .args(
            arguments
                .split_whitespace()
                .map(|word| word.replace("{out}", &out.display().to_string())),
        )
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&done.stderr);
    if let Ok(words) = fs::read_to_string(case.join("rejected.txt")) {
        assert_eq!(done.status.code(), Some(1), "{name}: {messages}");
        for line in words.lines() {
            assert!(
                messages.contains(line),
                "{name}: no {line:?} in the message:\n{messages}"
            );
        }
        assert!(!out.exists(), "{name}: a rejected run wrote its output");
        return;
    }
    assert!(done.status.success(), "{name} failed:\n{messages}");
    let is_toml = case.join("expected.toml").exists();
    let file = case.join(if is_toml {
        "expected.toml"
    } else {
        "expected.jsonl"
    });
    let got = if out.exists() {
        fs::read_to_string(out).unwrap()
    } else {
        String::from_utf8(done.stdout).unwrap()
    };
    if std::env::var_os("SHOAL_RECORD").is_some() {
        fs::write(&file, got).unwrap();
        return;
    }
    let expected = fs::read_to_string(&file).unwrap();
    let (expected, got) = (values(&expected, is_toml), values(&got, is_toml));
    assert_eq!(expected.len(), got.len(), "{name}: number of lines");
    if arguments.starts_with("track ") {
        assert_eq!(tracks_differ(&expected, &got), None, "{name}");
        return;
    }
    for (number, (expected, got)) in expected.iter().zip(&got).enumerate() {
        if let Some(what) = difference("", expected, got) {
            panic!("{name}: line {}: {what}", number + 1);
        }
    }
}

fn run_all(stage: &str, at_least: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/program/recorded")
        .join(stage);
    let mut cases: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(cases.len() >= at_least, "{} cases of {stage}", cases.len());
    for case in cases {
        run(&case);
    }
}

#[test]
fn recorded_frames_give_the_expected_tracks() {
    run_all("track", 2);
}

#[test]
fn recorded_shadows_give_the_expected_fish() {
    run_all("simulate", 1);
}

#[test]
fn recorded_points_give_the_expected_calibration_or_rejection() {
    run_all("calibrate", 2);
}

#[test]
fn other_tracks_are_found_and_rounding_is_not() {
    let line = |id: u32, x_m: f64| serde_json::json!({"time_secs": 1.0, "shadows": [{"id": id, "foot_m": [x_m, 0.0], "area_m2": 0.4}]});
    let expected = vec![line(1, 0.5); 50];
    assert_eq!(tracks_differ(&expected, &vec![line(1, 0.515); 50]), None);
    assert!(tracks_differ(&expected, &vec![line(1, 0.53); 50]).is_some());
    for (other, is_found) in [(line(2, 0.5), false), (line(1, 0.7), true)] {
        let mut got = expected.clone();
        got[7] = other.clone();
        assert_eq!(tracks_differ(&expected, &got).is_some(), is_found);
        got[8..11].fill(other);
        assert!(tracks_differ(&expected, &got).is_some());
    }
}

#[test]
fn a_difference_is_found_at_its_place() {
    let expected = serde_json::json!({"shadows": [{"id": 1, "x_m": 0.5}]});
    let near = serde_json::json!({"shadows": [{"id": 1, "x_m": 0.5004}]});
    let far = serde_json::json!({"shadows": [{"id": 1, "x_m": 0.52}]});
    let other = serde_json::json!({"shadows": []});
    assert_eq!(difference("", &expected, &near), None);
    assert_eq!(
        difference("", &expected, &far).as_deref(),
        Some(".shadows[0].x_m: expected 0.5, got 0.52")
    );
    assert!(difference("", &expected, &other).is_some());
}
