//! Counts of visitors on rendered scenes, against the truth of the scenes.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use shoal::control::TrackLine;
use shoal::geometry::Visitor;
use shoal::operation::{CountSums, VisitorCounter};

use crate::recordings::{report_figure, tracks_of_scene};

/// Arguments of the scenes, apart from the seeds 1 to 5. They are scenes of the table in `rendered`, so they are rendered once.
const SCENES: [&str; 3] = [
    "--seconds 30 --size 320x240 --visitors 1",
    "--seconds 30 --size 320x240 --visitors 3",
    "--seconds 30 --size 320x240 --visitors 5",
];
/// Scenes in which a visitor stands still for one or two minutes.
const STILL_SCENES: [&str; 4] = [
    "--seed 1 --seconds 70 --size 320x240 --still 60",
    "--seed 3 --seconds 70 --size 320x240 --still 60",
    "--seed 4 --seconds 70 --size 320x240 --still 60",
    "--seed 1 --seconds 130 --size 320x240 --visitors 1 --still 120",
];
/// Time between two samples of the tracks, as in `shoal run`.
const SAMPLE_SECS: f64 = 0.25;
/// Visits that are closer together are one visit, and shorter visits do not count, as in `operation`.
const GONE_SECS: f64 = 10.0;
const STAY_MIN_SECS: f64 = 1.0;

/// Number of visits, and their total time.
#[derive(Clone, Copy, Debug, Default)]
struct Visits {
    count: f64,
    secs: f64,
}

/// Returns the visits of the truth: the times that a visitor spent on the surface.
fn true_visits(truth: &Path) -> Visits {
    let text = std::fs::read_to_string(truth).unwrap();
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for line in text.lines() {
        let frame: Value = serde_json::from_str(line).unwrap();
        let time_secs = frame["time_secs"].as_f64().unwrap();
        for visitor in frame["visitors"].as_array().unwrap() {
            if visitor["on_surface"] == true {
                let id = visitor["id"].as_u64().unwrap();
                times.entry(id).or_default().push(time_secs);
            }
        }
    }
    let mut visits = Visits::default();
    let mut add = |first: f64, last: f64| {
        if last - first >= STAY_MIN_SECS {
            visits.count += 1.0;
            visits.secs += last - first;
        }
    };
    for times in times.values() {
        let (mut first, mut last) = (times[0], times[0]);
        for &time in times {
            if time - last > GONE_SECS {
                add(first, last);
                first = time;
            }
            last = time;
        }
        add(first, last);
    }
    visits
}

/// Counts the tracks of a scene as `shoal run` does.
fn counted_visits(tracks: &Path) -> Visits {
    let text = std::fs::read_to_string(tracks).unwrap();
    let mut counter = VisitorCounter::default();
    let mut due_secs = 0.0;
    for line in text.lines() {
        let line: TrackLine = serde_json::from_str(line).unwrap();
        if line.time_secs < due_secs {
            continue;
        }
        due_secs = line.time_secs + SAMPLE_SECS - 0.01;
        let on_surface = line.shadows.iter().filter(|shadow| shadow.on_surface);
        let visitors: Vec<Visitor> = on_surface.map(Visitor::from).collect();
        counter.observe(
            line.time_secs,
            1_800_000_000 + line.time_secs as i64,
            &visitors,
        );
    }
    counter.end_all(1_800_000_000);
    let sum = |of: fn(&CountSums) -> f64| counter.pending().values().map(of).sum();
    Visits {
        count: sum(|sums| f64::from(sums.arrivals)),
        secs: sum(|sums| sums.dwell_secs),
    }
}

#[test]
fn verify_counts_of_visitors() {
    if std::env::var_os("SHOAL_VERIFY").is_none() {
        eprintln!("SKIPPED: counts are compared with rendered scenes only with SHOAL_VERIFY=1");
        return;
    }
    let (mut truth, mut counted) = (Visits::default(), Visits::default());
    let walking = SCENES
        .iter()
        .flat_map(|scene| (1..=5).map(move |seed| format!("--seed {seed} {scene}")));
    let still = STILL_SCENES.iter().map(|scene| (*scene).to_owned());
    for arguments in walking.chain(still) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("tracks.jsonl");
        let Some((scene, ..)) = tracks_of_scene(&arguments, &out) else {
            return;
        };
        let (is, got) = (
            true_visits(&scene.join("truth.jsonl")),
            counted_visits(&out),
        );
        println!("{arguments}: truth {is:?}, counted {got:?}");
        for (sum, one) in [(&mut truth, is), (&mut counted, got)] {
            sum.count += one.count;
            sum.secs += one.secs;
        }
    }
    let error = |of: fn(&Visits) -> f64| (of(&counted) / of(&truth) - 1.0).abs() * 100.0;
    let mean: fn(&Visits) -> f64 = |visits| visits.secs / visits.count.max(1.0);
    let misses = [
        report_figure(
            "counting: error of the number of visits in %",
            error(|v| v.count),
            5.0,
            false,
        ),
        report_figure(
            "counting: error of the mean time of stay in %",
            error(mean),
            10.0,
            false,
        ),
    ];
    assert_eq!(misses, [None, None]);
}
