//! Long tests of vision on rendered scenes with a known truth, with several seeds, lamps and cameras. They calibrate with the
//! markers of a scene, track the visitors and score the tracks. The first rendering takes minutes, so these tests run only with
//! `SHOAL_VERIFY=1`. One short scene in `vision.rs` is tested in every run.
//!
//! `SHOAL_SEEDS` sets the number of seeds per scene. `SHOAL_ROWS` selects the rows whose name contains its value.

use glam::DVec3;
use shoal::camera::{Frame, Source, SourceSpec};
use shoal::geometry::{FloorFromCamera, Surface};
use shoal::vision::{FloorView, Vision, VisionParams};
use shoal::world::Observation;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::recordings::{Score, every_nth, report_figure, test_data, track_scene};
use crate::rendered::{Quantity, ROWS, Row, Wanted, random_room};

/// One scene: the index of its row in the table, and the arguments of `ir-scene`.
struct Scene {
    row: usize,
    arguments: String,
}

#[test]
fn rendered_scenes() {
    if std::env::var_os("SHOAL_VERIFY").is_none() {
        eprintln!(
            "SKIPPED: rendered scenes are scored only with SHOAL_VERIFY=1 (rendering takes minutes the first time)"
        );
        return;
    }
    let Some(data) = test_data(".") else { return };
    let data = data.canonicalize().unwrap();
    let seeds: Option<u32> = std::env::var("SHOAL_SEEDS")
        .ok()
        .map(|n| n.parse().unwrap());
    let only = std::env::var("SHOAL_ROWS").unwrap_or_default();
    let scenes: Vec<Scene> = (0..ROWS.len())
        .filter(|&row| ROWS[row].name.contains(&only))
        .flat_map(|row| scenes_of(row, seeds, &data.to_string_lossy()))
        .collect();
    assert!(!scenes.is_empty(), "no row name contains '{only}'");
    let Some(scores) = scores(&scenes) else {
        // A required program is missing. A message about it has already been printed.
        return;
    };
    let mut misses = Vec::new();
    for (index, row) in ROWS.iter().enumerate() {
        let of_row: Vec<(&Scene, &Score)> = scenes
            .iter()
            .zip(&scores)
            .filter(|(scene, _)| scene.row == index)
            .collect();
        if !of_row.is_empty() {
            misses.extend(judge(row, &of_row));
        }
    }
    misses.extend(judge_false_alarms(&scenes, &scores));
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

fn scenes_of(row: usize, seeds: Option<u32>, data: &str) -> Vec<Scene> {
    let Row {
        scenes,
        seeds: default,
        ..
    } = ROWS[row];
    let scene = |first: u32, arguments: &str, seed: u32| {
        let number = first + seed;
        let arguments = arguments
            .replace("{data}", data)
            .replace("{random room}", &random_room(number));
        Scene {
            row,
            arguments: format!("--seed {number} {}", with_paths(&arguments, data, seed)),
        }
    };
    let all = scenes.iter().flat_map(|&(first, arguments)| {
        (0..seeds.unwrap_or(default)).map(move |seed| scene(first, arguments, seed))
    });
    // Removes duplicates: with more seeds than the default, the seed ranges of two scenes can overlap.
    let mut each: Vec<Scene> = Vec::new();
    for scene in all {
        if each.iter().all(|other| other.arguments != scene.arguments) {
            each.push(scene);
        }
    }
    each
}

/// Replaces `{one of N of FILE}` in the arguments by a file with the paths of some people. Different seeds select different
/// people.
fn with_paths(arguments: &str, data: &str, seed: u32) -> String {
    let Some((before, rest)) = arguments.split_once("{one of ") else {
        return arguments.to_owned();
    };
    let (wanted, after) = rest.split_once('}').unwrap();
    let (n, file) = wanted
        .split_once(" of ")
        .expect("expected {one of N of FILE}");
    let n = n.parse().unwrap();
    let paths = every_nth(&Path::new(data).join(file), n, seed);
    format!("{before}{}{after}", paths.display())
}

/// Returns the scores of all scenes. Processes two scenes at the same time. Returns `None` if the machine lacks a required
/// program.
fn scores(scenes: &[Scene]) -> Option<Vec<Score>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let scores = Mutex::new(vec![None; scenes.len()]);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(scene) = scenes.get(index) else {
                        return;
                    };
                    let Some(score) = track_scene(&scene.arguments) else {
                        return;
                    };
                    println!(
                        "{} of {}, {}: {}: {score}",
                        done.fetch_add(1, Ordering::Relaxed) + 1,
                        scenes.len(),
                        ROWS[scene.row].name,
                        scene.arguments
                    );
                    scores.lock().unwrap()[index] = Some(score);
                }
            });
        }
    });
    scores.into_inner().unwrap().into_iter().collect()
}

/// Prints one line per figure of a row with limit, mean and worst value. Returns the lines of figures that miss their limit.
fn judge(row: &Row, scores: &[(&Scene, &Score)]) -> Vec<String> {
    let figure = |wanted: &Wanted| {
        let figures = scores
            .iter()
            .map(|(scene, score)| measured(wanted.quantity, scene, score));
        let figures: Vec<f64> = figures.collect();
        let mean = figures.iter().sum::<f64>() / figures.len() as f64;
        // A value of NaN (unknown) counts as the worst.
        let badness = |v: &f64| match (v.is_nan(), wanted.is_least) {
            (true, _) => f64::INFINITY,
            (_, true) => -v,
            (_, false) => *v,
        };
        let worst = figures
            .iter()
            .copied()
            .max_by(|a, b| badness(a).total_cmp(&badness(b)))
            .unwrap_or(f64::NAN);
        let (got, beside) = if wanted.of_mean {
            let error = error_of_mean(&figures, mean);
            let error = error.map_or(String::new(), |error| format!(" ± {error:.3}"));
            (mean, format!("mean{error}; worst {worst:.3}"))
        } else {
            (worst, format!("worst; mean {mean:.3}"))
        };
        let name = format!(
            "{}: {:?} ({beside} of {} scenes)",
            row.name,
            wanted.quantity,
            figures.len()
        );
        report_figure(&name, got, wanted.limit, wanted.is_least)
    };
    row.wanted.iter().filter_map(figure).collect()
}

/// Returns the standard error of the mean over the scenes, or `None` for a single scene.
fn error_of_mean(figures: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
    let count = figures.len() as f64;
    (count > 1.0).then(|| (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn the_standard_error_matches_its_closed_form_and_needs_two_scenes() {
    assert_eq!(error_of_mean(&[1.0], 1.0), None);
    assert_eq!(error_of_mean(&[1.0, 3.0], 2.0), Some(1.0));
    assert_eq!(error_of_mean(&[2.0; 4], 2.0), Some(0.0));
    let of_five = error_of_mean(&[1.0, 1.0, 2.0, 3.0, 3.0], 2.0);
    assert!(of_five.is_some_and(|error| (error - 0.2_f64.sqrt()).abs() < 1e-12));
}

fn measured(quantity: Quantity, scene: &Scene, score: &Score) -> f64 {
    match quantity {
        Quantity::Hota => score.hota,
        Quantity::Idf1 => score.idf1,
        Quantity::SwitchesPerMin => score.switches_per_min,
        Quantity::Recall => score.recall,
        Quantity::Precision => score.precision,
        Quantity::FootMedianMm => score.median_mm,
        Quantity::FootP95Mm => score.p95_mm,
        Quantity::LongestFalseSecs => score.longest_false_secs,
        Quantity::LongestLostSecs => score.longest_lost_secs,
        Quantity::LongestOnThingSecs => score.longest_on_thing_secs,
        Quantity::StillAreaKept => score.still_area_kept,
        Quantity::BumpReportSecs => match (bump_secs(&scene.arguments), score.moved_secs) {
            (Some(bumped), Some(reported)) if reported >= bumped => reported - bumped,
            _ => f64::NAN,
        },
    }
}

/// Checks that Shoal reports no camera movement before the camera is bumped.
fn judge_false_alarms(scenes: &[Scene], scores: &[Score]) -> Option<String> {
    let is_false = |(scene, score): &(&Scene, &Score)| {
        let bumped = bump_secs(&scene.arguments).unwrap_or(f64::INFINITY);
        score.moved_secs.is_some_and(|reported| reported < bumped)
    };
    let false_alarms: Vec<_> = scenes.iter().zip(scores).filter(is_false).collect();
    for (scene, score) in &false_alarms {
        println!(
            "false report at {:?} s: {}",
            score.moved_secs, scene.arguments
        );
    }
    let name = format!(
        "false reports of a moved camera (in {} scenes)",
        scenes.len()
    );
    report_figure(&name, false_alarms.len() as f64, 0.0, false)
}

/// Returns the time in seconds at which the camera is bumped in a scene, or `None` if it is not bumped.
fn bump_secs(arguments: &str) -> Option<f64> {
    let (_, after) = arguments.split_once("bump@")?;
    after.split([':', ' ']).next()?.parse().ok()
}

/// Compares the allocated bytes after 50,000 and after 100,000 frames with visitors who enter and leave. The largest crowd and
/// the longest outline occur within the first 50,000 frames, so memory must not grow after them.
#[test]
fn memory_does_not_grow() {
    if std::env::var_os("SHOAL_VERIFY").is_none() {
        eprintln!("SKIPPED: memory over 100,000 frames is measured only with SHOAL_VERIFY=1");
        return;
    }
    let spec = SourceSpec::parse("synthetic:3?fps=30&size=160x120").unwrap();
    let surface = Surface::default();
    let view = FloorView {
        map: FloorFromCamera::whole_frame(160, 120, &surface),
        lamp_m: Some(DVec3::new(0.1, 4.0, -0.2)),
        camera_m: Some(DVec3::new(0.0, 5.0, 1.0)),
        surface,
    };
    let mut allocated = Vec::with_capacity(2);
    let mut seen = 0;
    let mut highest_id = 0;
    for frames in [50_000, 100_000] {
        let counted = allocation_counter::measure(|| {
            let mut source = Source::open(&spec).unwrap();
            let mut vision = Vision::new(&VisionParams::default(), view.clone());
            let (mut frame, mut observation) = (Frame::default(), Observation::default());
            for _ in 0..frames {
                source.read(&mut frame).unwrap();
                let tracks = vision.observe(&frame);
                seen += tracks.len();
                highest_id = tracks.iter().map(|t| t.id).fold(highest_id, u32::max);
                observation.update(frame.time_secs, tracks);
            }
            // Keeps the values allocated until the end of the measurement, so that their memory counts.
            std::mem::forget((source, vision, frame, observation));
        });
        println!("memory after {frames} frames: {counted:?}");
        allocated.push(counted.bytes_current);
    }
    assert!(seen > 50_000 && highest_id > 100, "{seen} {highest_id}");
    let grown = (allocated[1] - allocated[0]) as f64;
    assert_eq!(
        report_figure(
            "memory: bytes allocated after 100,000 frames more than after 50,000",
            grown,
            4096.0,
            false
        ),
        None
    );
}
