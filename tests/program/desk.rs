//! Tests of the control desk in a running pool: replies, revisions, individuals, status and events.

use shoal_testing::assert_message;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shoal::app::{LiveCamera, LiveConfig, LivePool};
use shoal::camera::{AtEnd, SourceSpec};
use shoal::control::{
    DeskClient, EventKind, Outcome, Reply, Request, Source, SourceKind, Status, Trust,
};
use shoal::records::{ReplayOptions, SessionConfig, SessionStart, replay};
use shoal::runtime::StopFlag;
use shoal::site::Editor;

/// Longest wait for anything. A slow machine needs seconds for a debug build.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a pool of the built-in site without a picture. With `session`, it is logged into this folder.
pub(crate) fn start(camera: &str, session: Option<&Path>) -> LivePool {
    start_site(camera, None, session)
}

fn start_site(camera: &str, path: Option<&Path>, session: Option<&Path>) -> LivePool {
    let editor = Editor::open(path, Some("pool")).unwrap();
    let site = Arc::clone(editor.site());
    let config = LiveConfig {
        mapping: Default::default(),
        cameras: vec![LiveCamera {
            name: String::new(),
            source: SourceSpec::parse(camera).unwrap(),
            folder: None,
            params: site.file.camera.clone(),
            vision: site.file.vision.clone(),
            calibration: None,
        }],
        at_end: AtEnd::Repeat,
        record: None,
        surface: site.file.surface.clone(),
        projection: site.projection_digest(),
        scene: site.description(),
        simulation: site.file.simulation.clone(),
        hall: None,
    };
    let session = session.map(|folder| SessionConfig {
        folder: folder.to_owned(),
        is_incidents: false,
        start: SessionStart::new(None, &config.simulation, &editor),
    });
    let mut pool = LivePool::start_logged(config, session.as_ref(), StopFlag::default()).unwrap();
    pool.start_desk(editor, path, None).unwrap();
    pool
}

pub(crate) fn no_camera() -> LivePool {
    start("file:/nonexistent/walk.y4m", None)
}

fn request(client: &DeskClient, id: u64, command: &Value) -> Reply {
    let request = Request {
        id,
        source: Source {
            kind: SourceKind::Panel,
            name: "test".into(),
        },
        command: serde_json::from_value(command.clone()).unwrap(),
        trust: Trust::Programs,
    };
    let begun = Instant::now();
    loop {
        match client.request(request.clone(), PATIENCE) {
            Ok(reply) => return reply,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn apply(client: &DeskClient, command: Value) -> Outcome {
    request(client, 1, &command).result
}

fn wait_for_status(
    client: &DeskClient,
    what: &str,
    is_met: impl Fn(&Status) -> bool,
) -> Arc<Status> {
    let begun = Instant::now();
    loop {
        let status = client.status();
        if is_met(&status) {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: {status:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command from a small set of valid and invalid ones. `random` returns a number below its argument.
fn random_command(random: &mut impl FnMut(u32) -> u32) -> Value {
    let species = ["herring", "trout", "salmon", "shark", "whale"][random(5) as usize];
    let set = |kind: &str, name: &str, path: &str, value: Value| {
        json!({"command": "edit", "edits": [{"document": {"kind": kind, "name": name}, "path": path,
            "change": {"do": "set", "value": value}}]})
    };
    match random(10) {
        0..3 => set(
            "species",
            species,
            "motion.cruise_mps",
            json!(0.1 * f64::from(random(12))),
        ),
        3 => set(
            "scene",
            "pool",
            "population",
            json!({"herring": random(20), "trout": random(4)}),
        ),
        4 => set(
            "scene",
            "pool",
            "pool.ground_depth_m",
            json!(0.5 + 0.1 * f64::from(random(9))),
        ),
        5 => json!({"command": "add_individual", "species": species}),
        6 => json!({"command": "remove_individual", "id": random(60)}),
        7 => json!({"command": "director", "event": {"event": "hunting", "on": random(2) == 0}}),
        8 => json!({"command": "undo"}),
        _ => json!({"command": "redo"}),
    }
}

/// `SHOAL_VERIFY=1` sends the 1,000 commands of the specification; otherwise a tenth of them.
#[test]
fn random_commands_from_eight_clients_are_answered_once_and_can_be_undone() {
    let per_client = if std::env::var_os("SHOAL_VERIFY").is_some() {
        125
    } else {
        12
    };
    let pool = no_camera();
    let before = Editor::open(None, Some("pool")).unwrap();
    let threads: Vec<_> = (0..8u64)
        .map(|number| {
            let client = pool.client.clone();
            std::thread::spawn(move || {
                let mut state = number + 1;
                let mut random = |below: u32| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    ((state >> 33) as u32) % below
                };
                let mut replies = Vec::new();
                for n in 0..per_client {
                    let id = number * 1000 + n;
                    let reply = request(&client, id, &random_command(&mut random));
                    assert_eq!(reply.id, id);
                    replies.push(reply);
                }
                replies
            })
        })
        .collect();
    let replies: Vec<Vec<Reply>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let mut revisions = BTreeSet::new();
    let mut rejected = 0;
    for of_client in &replies {
        assert!(of_client.is_sorted_by_key(|reply| reply.revision));
        for reply in of_client {
            match &reply.result {
                Outcome::Applied { .. } => assert!(revisions.insert(reply.revision), "{reply:?}"),
                Outcome::Rejected { problems } => {
                    assert!(!problems.is_empty(), "{reply:?}");
                    rejected += 1;
                }
            }
        }
    }
    let applied = revisions.len() as u64;
    assert_eq!(applied + rejected, 8 * per_client);
    assert_eq!(revisions.last(), Some(&applied), "revisions have no gaps");
    assert!(
        applied > 8 && rejected > 0,
        "{applied} applied, {rejected} rejected"
    );
    let mut undone = 0;
    while apply(&pool.client, json!({"command": "undo"})).is_applied() {
        undone += 1;
    }
    let status = wait_for_status(&pool.client, "undone", |s| {
        s.revision == applied + undone && s.undo_depth == 0
    });
    // Undoing all gives the documents of the start.
    assert_eq!(status.unsaved, before.unsaved());
    let fish: u32 = before.site().species.iter().map(|s| s.count).sum();
    wait_for_status(&pool.client, "the fish of the start", |s| {
        s.species.values().map(|species| species.count).sum::<u32>() == fish
    });
    println!(
        "{} commands from 8 clients: {applied} applied, {rejected} rejected, {undone} undone; reply p50 {:.2} ms, p99 {:.2} ms; effect p50 {:.2} ms, p99 {:.2} ms",
        8 * per_client,
        status.timing.command_to_reply.p50_ms,
        status.timing.command_to_reply.p99_ms,
        status.timing.command_to_snapshot.p50_ms,
        status.timing.command_to_snapshot.p99_ms,
    );
    pool.supervisor.shut_down().unwrap();
}

/// Commands that name an individual were always rejected in a running pool.
#[test]
fn an_individual_of_a_running_pool_is_reached_by_its_id() {
    let pool = no_camera();
    let client = &pool.client;
    let status = wait_for_status(client, "ticks", |s| s.tick > 0 && !s.species.is_empty());
    let fish: u32 = status.species.values().map(|species| species.count).sum();
    let mind = json!({"of": "species", "name": "herring"});
    let id = (0..200)
        .find(|id| {
            let mind = json!({"command": "override_mind", "id": id, "mind": mind, "secs": 1.0});
            apply(client, mind).is_applied()
        })
        .unwrap();
    let remove = json!({"command": "remove_individual", "id": id});
    assert!(apply(client, remove.clone()).is_applied());
    // At once, before a tick has removed it: it must not take another individual with it.
    assert!(!apply(client, remove.clone()).is_applied());
    wait_for_status(client, "one fish less", |s| {
        s.species.values().map(|species| species.count).sum::<u32>() == fish - 1
    });
    assert!(!apply(client, remove).is_applied());
    pool.supervisor.shut_down().unwrap();
}

#[test]
fn a_lost_camera_a_command_and_a_scene_are_in_status_and_events() {
    let pool = no_camera();
    let client = &pool.client;
    let status = wait_for_status(client, "a fault of the camera", |s| {
        s.faults
            .iter()
            .any(|fault| fault.name.starts_with("camera."))
    });
    assert!(!status.is_healthy);
    assert!(status.sentence.contains("walk.y4m"), "{}", status.sentence);
    assert!(
        status.stages.iter().all(|stage| stage.is_well),
        "{:?}",
        status.stages
    );
    let switch = json!({"command": "switch_scene", "name": "reef"});
    assert!(apply(client, switch).is_applied());
    let unknown = json!({"command": "switch_scene", "name": "moon"});
    let Outcome::Rejected { problems } = apply(client, unknown) else {
        panic!("the scene does not exist");
    };
    assert!(problems[0].message.contains("moon"), "{problems:?}");
    let status = wait_for_status(client, "the scene", |s| {
        s.scene == "reef" && s.revision == 1
    });
    assert!(status.rejection.is_some());
    let events = client.events_after(0, Duration::ZERO).events;
    let has = |is: &dyn Fn(&EventKind) -> bool| events.iter().any(|event| is(&event.kind));
    assert!(has(
        &|e| matches!(e, EventKind::FaultBegan { fault, .. } if fault.starts_with("camera."))
    ));
    assert!(has(
        &|e| matches!(e, EventKind::SceneChanged { scene } if scene == "reef")
    ));
    assert!(has(
        &|e| matches!(e, EventKind::CommandApplied { revision: 1, source, .. } if source.name == "test")
    ));
    assert!(has(
        &|e| matches!(e, EventKind::CommandRejected { summary, .. } if summary == "moon")
    ));
    let numbers: Vec<u64> = events.iter().map(|event| event.number).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    pool.supervisor.shut_down().unwrap();
}

/// Commands were applied in a running pool at ticks that no log contained, so no run could be repeated.
#[test]
fn a_logged_session_replays_tick_for_tick() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session");
    let pool = start("synthetic:1", Some(&session));
    let client = &pool.client;
    wait_for_status(client, "a visitor", |s| s.tick > 20 && !s.tracks.is_empty());
    let set = |path: &str, value: Value| {
        json!({"command": "edit", "edits": [{"document": {"kind": "species", "name": "herring"}, "path": path,
            "change": {"do": "set", "value": value}}]})
    };
    let mut applied = 0;
    let mut send = |command: Value| {
        let is_applied = apply(client, command).is_applied();
        applied += u64::from(is_applied);
        is_applied
    };
    assert!(send(set("motion.cruise_mps", json!(0.3))));
    // A busy machine could apply all commands in one tick, and then the changed speed had no effect.
    let tick = client.status().tick;
    wait_for_status(client, "a hash with this speed", |s| s.tick > tick + 70);
    let mind = json!({"of": "species", "name": "trout"});
    let mut reached = 0;
    for id in 0..200 {
        let change = match reached % 2 {
            0 => json!({"command": "remove_individual", "id": id}),
            _ => json!({"command": "override_mind", "id": id, "mind": mind, "secs": 0.5}),
        };
        reached += u64::from(send(change));
        if reached == 6 {
            break;
        }
    }
    assert_eq!(reached, 6);
    assert!(send(
        json!({"command": "director", "event": {"event": "gather", "point_m": [0.5, -0.5, 0.2]}})
    ));
    assert!(send(json!({"command": "switch_scene", "name": "reef"})));
    assert!(send(
        json!({"command": "add_individual", "species": "herring", "position_m": [0.0, -0.4, 0.0]})
    ));
    assert!(send(json!({"command": "undo"})));
    assert!(send(set("motion.cruise_mps", json!(0.5))));
    assert!(send(json!({"command": "revert"})));
    let tick = client.status().tick;
    wait_for_status(client, "two more hashes", |s| s.tick > tick + 130);
    pool.supervisor.shut_down().unwrap();
    let options = ReplayOptions {
        session: session.clone(),
        out: None,
        every: 1,
        why: false,
    };
    let summary = replay(&options, &AtomicBool::new(false)).unwrap();
    println!("{summary:?}");
    assert!(summary.hashes >= 2, "{summary:?}");
    assert_eq!(summary.commands, applied);
    // A changed command gives another run, and the replay says where.
    let log = session.join("log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replace("\"value\":0.3", "\"value\":0.31")).unwrap();
    let error = format!(
        "{:#}",
        replay(&options, &AtomicBool::new(false)).unwrap_err()
    );
    assert_message(&error, &["log.jsonl:", "differs from the run"]);
}

/// A pause and restarts are no part of the life of the fish, so a replay does not need them.
#[test]
fn a_session_with_a_pause_and_restarts_replays_tick_for_tick() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session");
    let pool = start("synthetic:1", Some(&session));
    let client = &pool.client;
    let speed = |value: f64| {
        json!({"command": "edit", "edits": [{"document": {"kind": "species", "name": "herring"}, "path": "motion.cruise_mps",
            "change": {"do": "set", "value": value}}]})
    };
    let pause = |on: bool| json!({"command": "pause", "on": on});
    wait_for_status(client, "a visitor", |s| s.tick > 70 && !s.tracks.is_empty());
    assert!(apply(client, pause(true)).is_applied());
    let held = wait_for_status(client, "a pause", |s| s.paused_secs.is_some());
    std::thread::sleep(Duration::from_millis(300));
    let tick = client.status().tick;
    // A change during the pause is in the pool at once.
    let add = json!({"command": "add_individual", "species": "herring"});
    assert!(apply(client, add).is_applied() && apply(client, speed(0.3)).is_applied());
    let count = held.species["herring"].count;
    let is_added = |s: &Status| s.species["herring"].count == count + 1;
    let still = wait_for_status(client, "one more herring", is_added);
    assert_eq!(still.tick, tick, "no tick during the pause");
    // No fault of a stage.
    assert!(still.stages.iter().all(|s| s.is_well));
    assert!(apply(client, pause(false)).is_applied());
    wait_for_status(client, "more ticks", |s| s.tick > tick + 70);

    let before = client.status();
    let restart = |stage: &str| json!({"command": "restart", "stage": stage});
    assert!(apply(client, restart("all")).is_applied());
    wait_for_status(client, "a new start", |s| s.tick < before.tick);
    let after = wait_for_status(client, "more ticks", |s| s.tick > 70);
    assert_eq!(after.species["herring"].count, count + 1);
    assert!(after.stages.iter().all(|stage| stage.restarts == 0));
    let no_picture = request(client, 2, &restart("render")).result;
    assert!(matches!(no_picture, Outcome::Rejected { .. }));
    // Any number of restarts is no reason to end the program.
    for _ in 0..4 {
        assert!(apply(client, restart("vision")).is_applied());
        std::thread::sleep(Duration::from_millis(50));
    }
    wait_for_status(client, "two more hashes", |s| s.tick > after.tick + 130);
    pool.supervisor.shut_down().unwrap();
    let options = ReplayOptions {
        session,
        out: None,
        every: 1,
        why: false,
    };
    let summary = replay(&options, &AtomicBool::new(false)).unwrap();
    println!("{summary:?}");
    assert!(summary.hashes >= 4, "{summary:?}");
    assert_eq!(summary.commands, 2);
}

/// Calibrates the camera with a table of points, and accepts the result.
fn calibrate(client: &DeskClient) {
    let mut table = "camera_x_px,camera_y_px,floor_x_m,floor_z_m\n".to_owned();
    for i in 0..16 {
        let (x, z) = (f64::from(i % 4), f64::from(i / 4));
        let (u, v) = (40.0 + 80.0 * x + 30.0 * x * z / 9.0, 30.0 + 60.0 * z);
        table += &format!("{u:.1},{v:.1},{:.2},{:.2}\n", 1.2 * x - 1.8, 0.86 * z - 1.3);
    }
    let table = json!({"command": "calibrate", "step": {"do": "table", "text": table}});
    let accept = json!({"command": "calibrate", "step": {"do": "accept"}});
    wait_for_status(client, "frames", |s| s.camera.frames > 0);
    assert!(apply(client, table).is_applied());
    wait_for_status(client, "a calibration", |s| s.calibration.is_proven);
    assert!(apply(client, accept).is_applied());
}

/// A calibration that could not be saved was reported as saved, and was lost at the next start.
#[test]
fn a_calibration_that_cannot_be_saved_is_a_fault_and_is_saved_later() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    std::fs::write(&site, "scene = \"pool\"\n").unwrap();
    let calibration = folder.path().join("calibration.toml");
    std::fs::create_dir(&calibration).unwrap();
    let pool = start_site("synthetic:1", Some(&site), None);
    let client = &pool.client;
    calibrate(client);
    let is_unsaved = |s: &Status| s.faults.iter().any(|f| f.name == "site_unsaved");
    wait_for_status(client, "a fault", is_unsaved);
    let saved = apply(client, json!({"command": "save"}));
    let text = format!("{saved:?}");
    assert!(
        !saved.is_applied() && text.contains("calibration"),
        "{text}"
    );
    std::fs::remove_dir(&calibration).unwrap();
    wait_for_status(client, "a saved calibration", |s| !is_unsaved(s));
    assert!(calibration.is_file());
    assert_message(
        std::fs::read_to_string(&site).unwrap(),
        &["calibration.toml"],
    );
    pool.supervisor.shut_down().unwrap();
}

/// A fixed bug: a calibration stayed good although the corners through which its crosses were projected had been moved since.
#[test]
fn corners_that_were_moved_after_the_calibration_are_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site.toml");
    std::fs::write(&site, "scene = \"pool\"\n[[outputs]]\nwidth_px = 640\n").unwrap();
    let corner = |x: f64| {
        json!({"command": "edit", "edits": [{"document": {"kind": "site"}, "path": "outputs[0].corners.top_left",
            "change": {"do": "set", "value": {"x": x, "y": 0.0}}}]})
    };
    let doubt = ["calibration_projection".to_owned()];
    let pool = start_site("synthetic:1", Some(&site), None);
    let client = &pool.client;
    assert!(apply(client, corner(0.02)).is_applied());
    calibrate(client);
    wait_for_status(client, "a saved calibration", |s| s.calibration.is_saved);
    let is_well = |s: &Status| s.calibration.doubts.is_empty();
    wait_for_status(client, "no doubt", is_well);
    assert!(apply(client, corner(0.05)).is_applied());
    wait_for_status(client, "a doubt", |s| s.calibration.doubts == doubt);
    assert!(apply(client, corner(0.02)).is_applied());
    wait_for_status(client, "the same corners", is_well);
    assert!(apply(client, corner(0.05)).is_applied());
    wait_for_status(client, "a doubt", |s| s.calibration.doubts == doubt);
    pool.supervisor.shut_down().unwrap();
    let pool = start_site("synthetic:1", Some(&site), None);
    wait_for_status(&pool.client, "a doubt after a restart", |s| {
        s.calibration.doubts == doubt
    });
    calibrate(&pool.client);
    wait_for_status(&pool.client, "a new calibration", is_well);
    pool.supervisor.shut_down().unwrap();
}
