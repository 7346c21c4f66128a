//! A site with several cameras: one list of visitors, and the state of each camera.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use shoal::app::{LiveCamera, LiveConfig, LivePool};
use shoal::camera::{AtEnd, SourceSpec};
use shoal::control::{
    CameraKind, Command as DeskCommand, Outcome, Request, Source, SourceKind, Status, TrackStatus,
    Trust,
};
use shoal::runtime::StopFlag;
use shoal::site::Editor;

/// Longest wait for anything. A slow machine needs seconds for a debug build.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes a site whose cameras have these sources.
fn site(folder: &Path, sources: &[(&str, &str)]) -> PathBuf {
    let camera = |(name, source): &(&str, &str)| {
        format!("[[cameras]]\nname = \"{name}\"\nsource = \"{source}\"\n")
    };
    let text: String = sources.iter().map(camera).collect();
    let path = folder.join("site.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn start(path: &Path) -> LivePool {
    let editor = Editor::open(Some(path), Some("pool")).unwrap();
    let site = Arc::clone(editor.site());
    let camera = |camera: shoal::site::CameraEntry| LiveCamera {
        source: SourceSpec::parse(&camera.source).unwrap(),
        folder: None,
        params: camera.params(),
        vision: camera.vision(&site.file.vision),
        calibration: None,
        name: camera.name,
    };
    let config = LiveConfig {
        mapping: Default::default(),
        cameras: site.file.all_cameras().into_iter().map(camera).collect(),
        at_end: AtEnd::Repeat,
        record: None,
        surface: site.file.surface.clone(),
        projection: site.projection_digest(),
        scene: site.description(),
        simulation: site.file.simulation.clone(),
        hall: None,
    };
    let mut pool = LivePool::start(config, StopFlag::default()).unwrap();
    pool.start_desk(editor, Some(path), None).unwrap();
    pool
}

fn wait_for(pool: &LivePool, what: &str, is_met: impl Fn(&Status) -> bool) -> Arc<Status> {
    let begun = Instant::now();
    loop {
        let status = pool.client.status();
        if is_met(&status) {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: {status:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn choose(pool: &LivePool, name: &str) -> Outcome {
    let command: DeskCommand =
        serde_json::from_value(serde_json::json!({"command": "choose_camera", "name": name}))
            .unwrap();
    let request = Request {
        id: 1,
        source: Source {
            kind: SourceKind::Panel,
            name: "test".to_owned(),
        },
        command,
        trust: Trust::Programs,
    };
    pool.client.request(request, PATIENCE).unwrap().result
}

#[test]
fn a_lost_camera_is_a_fault_with_its_name_and_the_other_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let gone = "file:/nonexistent/walk.y4m";
    let path = site(folder.path(), &[("left", "synthetic:1"), ("right", gone)]);
    let pool = start(&path);
    let status = wait_for(&pool, "visitors and a fault", |status| {
        !status.tracks.is_empty() && !status.faults.is_empty()
    });
    let names: Vec<&str> = status.cameras.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["left", "right"]);
    let fault = &status.faults[0];
    assert!(
        fault.name.starts_with("camera.") && fault.detail.starts_with("camera \"right\": "),
        "{fault:?}"
    );
    assert!(status.cameras[0].faults.is_empty() && !status.cameras[1].faults.is_empty());
    let vision = status.stages.iter().filter(|stage| stage.name == "vision");
    assert_eq!(vision.count(), 1, "one stage, however many cameras");
    assert_eq!(status.camera.name, "left");
    assert!(matches!(choose(&pool, "right"), Outcome::Applied { .. }));
    wait_for(&pool, "the chosen camera", |status| {
        status.camera.name == "right"
    });
    assert!(matches!(choose(&pool, "top"), Outcome::Rejected { .. }));
    pool.supervisor.shut_down().unwrap();
}

/// Returns the shadows of each frame of `shoal track` with these arguments.
fn track(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args(["track", "--fast", "--seconds", "8", "--out", "-"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let shadows = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["shadows"].clone()
    });
    shadows.collect()
}

/// Writes a recording of 200 noisy frames of a floor, 25 per second, with a dark disc that moves to the right if `has_visitor`.
/// From frame `last` on, it repeats this frame.
fn record(path: &Path, has_visitor: bool, last: usize) {
    const SIZE: (usize, usize) = (160, 120);
    let mut random = 1u32;
    let mut bytes = b"YUV4MPEG2 W160 H120 F25:1 Cmono\n".to_vec();
    let mut levels = vec![0u8; SIZE.0 * SIZE.1];
    for number in 0..200 {
        let middle = (0.8 * number.min(last) as f32 - 10.0, 60.0);
        for (pixel, level) in levels.iter_mut().enumerate().filter(|_| number <= last) {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let offset = (
                (pixel % SIZE.0) as f32 - middle.0,
                (pixel / SIZE.0) as f32 - middle.1,
            );
            let is_dark = has_visitor && offset.0.hypot(offset.1) < 9.0;
            *level = if is_dark { 40 } else { 170 } + (random >> 30) as u8;
        }
        bytes.extend_from_slice(b"FRAME\n");
        bytes.extend_from_slice(&levels);
    }
    std::fs::write(path, bytes).unwrap();
}

/// A fixed bug: `track` held the visitors of a camera that had stopped for as long as its last frame was repeated.
#[test]
fn the_visitors_of_a_camera_that_repeats_its_last_frame_are_gone_after_a_second() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder.path().join("left.y4m"), false, 199);
    record(&folder.path().join("right.y4m"), true, 100);
    let sources = [("left", "file:left.y4m"), ("right", "file:right.y4m")];
    let path = site(folder.path(), &sources);
    let shadows = track(&[path.to_str().unwrap()]);
    let count = |frame: usize| shadows[frame].as_array().unwrap().len();
    assert_eq!(shadows.len(), 200);
    assert!((60..=124).all(|frame| count(frame) == 1));
    assert!((128..200).all(|frame| count(frame) == 0));
}

#[test]
fn two_cameras_that_see_the_same_track_each_visitor_once() {
    let folder = tempfile::tempdir().unwrap();
    let source = "synthetic:3?size=320x240&fps=25";
    let path = site(folder.path(), &[("left", source), ("right", source)]);
    let one = track(&["--camera", source]);
    let two = track(&[path.to_str().unwrap()]);
    assert_eq!(one.len(), two.len());
    for (one, two) in one.iter().zip(&two) {
        let feet = |shadows: &Value| -> Vec<Value> {
            let list = shadows.as_array().unwrap().iter();
            list.map(|shadow| shadow["foot_m"].clone()).collect()
        };
        assert_eq!(feet(one).len(), feet(two).len());
    }
}

#[test]
fn the_example_with_two_cameras_is_valid() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/config/examples/two-cameras.toml"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_shoal"))
        .args(["check", example])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.ends_with("no problems, no warnings\n"), "{text}");
}

/// Returns a port that no program uses at this moment.
fn free_port() -> u16 {
    let socket = std::net::UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket.local_addr().unwrap().port()
}

#[test]
fn a_pool_follows_the_visitors_that_another_one_reports_by_tuio() {
    follow("tuio");
}

#[test]
fn a_pool_follows_the_visitors_that_another_one_reports_by_augmenta() {
    follow("augmenta");
}

/// Runs two pools: the second one follows what the first one sends by a protocol.
fn follow(way: &str) {
    let port = free_port();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [reported, followed] = [
        format!(
            "[camera]\nsource = \"synthetic:1\"\n[remote.{way}]\nsend_to = [\"127.0.0.1:{port}\"]\n"
        ),
        format!("[camera]\nsource = \"{way}:{port}\"\n"),
    ];
    let [from, to] = [(&folders[0], reported), (&folders[1], followed)].map(|(folder, text)| {
        let path = folder.path().join("site.toml");
        std::fs::write(&path, text).unwrap();
        start(&path)
    });
    let status = wait_for(&to, "visitors", |status| !status.tracks.is_empty());
    assert_eq!(status.camera.kind, CameraKind::Tracker);
    let tracker = status.camera.tracker.as_ref().unwrap();
    assert_eq!(tracker.last_peer, "127.0.0.1");
    assert_eq!(tracker.refused, 0, "{}", tracker.last_problem);
    // Ids of the same visitors, and places that differ by what they walk in between.
    wait_for(&to, "the same visitors", |status| {
        let there = from.client.status();
        let near = |track: &TrackStatus| {
            let is_same = |other: &TrackStatus| {
                (0..2).all(|i| (other.foot_m[i] - track.foot_m[i]).abs() < 0.3)
            };
            there.tracks.iter().any(is_same)
        };
        there.tracks.len() == status.tracks.len() && status.tracks.iter().all(near)
    });
    let start = serde_json::json!({"command": "calibrate", "step": {"do": "gray_code"}});
    let request = Request {
        id: 2,
        source: Source::of(SourceKind::Panel),
        command: serde_json::from_value(start).unwrap(),
        trust: Trust::Programs,
    };
    let Outcome::Rejected { problems } = to.client.request(request, PATIENCE).unwrap().result
    else {
        panic!("a tracker was calibrated");
    };
    assert!(problems[0].message.contains("nothing to calibrate"));
    // The tracker ends: nobody is left behind, and soon it is a fault.
    from.supervisor.shut_down().unwrap();
    wait_for(&to, "an empty pool", |status| status.tracks.is_empty());
    wait_for(&to, "a fault", |status| {
        status
            .faults
            .iter()
            .any(|fault| fault.name == "tracker_silent")
    });
    to.supervisor.shut_down().unwrap();
}
