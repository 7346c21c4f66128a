//! Commands given to a living pool, logged, and replayed with the same shadows give the same run; files that change on the
//! disk are taken over, or refused whole while the old ones run on.

#![allow(
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests may"
)]

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::desk::{Pool, edit};
use serde_json::json;
use shoal::app::{
    CommandScript, HangPolicy, SimulateOptions, StopFlag, Supervisor, Undelivered, agents_line,
    command_queue, simulate, watch_files,
};
use shoal::control::Command;
use shoal::simulation::SimulationParams;
use shoal::site::{Editor, FileWatcher};
use shoal::world::Snapshot;

#[test]
#[expect(clippy::too_many_lines, reason = "one run, told in order")]
fn a_log_of_commands_gives_the_same_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("commands.jsonl");
    let mut pool = Pool::open(None, 5);
    pool.desk.log_to(&log).unwrap();
    let trout = pool
        .desk
        .editor()
        .text(&shoal::control::DocumentName::Species {
            name: "trout".into(),
        });
    let trout = trout
        .unwrap()
        .replace("cruise_mps = 0.3\n", "cruise_mps = 0.2\n");
    let mut live = String::new();
    let mut snapshot = Snapshot::default();
    for tick in 0..240u32 {
        let command = match tick {
            0 => {
                json!({"command": "override_mind", "id": 3, "secs": 1.0, "mind": {"of": "species", "name": "shark"}})
            }
            20 => edit(
                "species:herring",
                "needs[0]",
                json!({"do": "move", "to": 2}),
            ),
            21 => edit(
                "species:herring",
                "needs[0]",
                json!({"do": "move", "to": 99}),
            ),
            40 => {
                json!({"command": "add_individual", "species": "trout", "position_m": [0.1, -0.5, 0.2]})
            }
            60 => json!({"command": "director", "event": {"event": "hunting", "on": true}}),
            80 => json!({"command": "undo"}),
            81 => json!({"command": "redo"}),
            100 => json!({"command": "remove_individual", "id": 7}),
            120 => json!({"command": "take_over", "documents": [
                {"document": {"kind": "species", "name": "trout"}, "text": trout}]}),
            130 => json!({"command": "add_species", "name": "koi", "like": "trout", "count": 3}),
            160 => edit(
                "scene:pool",
                "population.herring",
                json!({"do": "set", "value": 50}),
            ),
            200 => {
                json!({"command": "director", "event": {"event": "gather", "point_m": [0.0, -0.6, 0.0]}})
            }
            _ => json!({"command": "redo"}),
        };
        let refused = pool.try_tell(command).is_err();
        assert_eq!(
            refused,
            tick == 21 || ![0, 20, 40, 60, 80, 81, 100, 120, 130, 160, 200].contains(&tick)
        );
        pool.step();
        pool.simulation.snapshot(&mut snapshot);
        live += &serde_json::to_string(&agents_line(&pool.simulation, &snapshot)).unwrap();
        live.push('\n');
    }
    pool.desk.close().unwrap();
    assert_eq!(
        std::fs::read_to_string(&log).unwrap().lines().count(),
        11,
        "what was refused is not in the log"
    );
    let editor = Editor::open(None, None).unwrap();
    let out = folder.path().join("agents.jsonl");
    let again = folder.path().join("again.jsonl");
    let options = SimulateOptions {
        scene: editor.site().description(),
        simulation: SimulationParams {
            seed: 5,
            ..SimulationParams::default()
        },
        shadows: None,
        seconds: 4.0,
        every: 1,
        out: out.clone(),
        why: false,
        save_state: None,
        load_state: None,
        commands: Some(CommandScript {
            editor,
            commands: log.clone(),
            log: Some(again.clone()),
        }),
    };
    simulate(&options, &AtomicBool::new(false)).unwrap();
    assert!(
        std::fs::read_to_string(&out).unwrap() == live,
        "the replay is another run"
    );
    assert_eq!(
        std::fs::read_to_string(again).unwrap(),
        std::fs::read_to_string(&log).unwrap()
    );
    // Without the commands it is another run: the comparison can fail.
    let untold = SimulateOptions {
        commands: None,
        out: out.clone(),
        why: true,
        ..options
    };
    simulate(&untold, &AtomicBool::new(false)).unwrap();
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text != live);
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(100).unwrap()).unwrap();
    let forces = line["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["forces"].as_object().unwrap());
    assert!(
        forces
            .flatten()
            .all(|(name, force)| !name.is_empty() && force.as_array().unwrap().len() == 3)
    );
}

/// Polls until a change has stood still.
fn polled(watch: &mut FileWatcher) -> Option<serde_json::Value> {
    assert!(
        watch.poll().is_none(),
        "a change is told when it stands still"
    );
    let documents = watch
        .poll()?
        .unwrap_or_else(|problems| panic!("{problems}"));
    Some(serde_json::to_value(Command::TakeOver { documents }).unwrap())
}

/// A field of one vector along x everywhere, as a file.
fn field_of(along_x: f32) -> String {
    let vector = format!("[{along_x}, 0.0, 0.0]");
    format!("dims = [2, 1, 2]\nvectors = [{vector}, {vector}, {vector}, {vector}]\n")
}

#[test]
fn a_field_drawn_anew_is_taken_over_and_a_broken_one_refused() {
    let mut pool = Pool::new();
    let site = pool.site();
    let scene = site.with_file_name("scenes").join("pool.toml");
    let (flow, text) = (
        site.with_file_name("flow.toml"),
        std::fs::read_to_string(&scene).unwrap(),
    );
    std::fs::write(&flow, field_of(0.5)).unwrap();
    let mut watch = FileWatcher::new(&site);
    let field = "\n[[fields]]\nshape = { kind = \"file\", file = \"flow.toml\" }\n";
    std::fs::write(&scene, text + field).unwrap();
    pool.tell(polled(&mut watch).expect("the scene was changed"));
    let force = |pool: &mut Pool| {
        pool.step();
        let grids = &pool.desk.editor().site().field_grids;
        grids["flow.toml"].vector_at(glam::Vec3::ZERO).x
    };
    assert_eq!(force(&mut pool), 0.5);
    while watch.poll().is_some() || watch.poll().is_some() {}
    let revision = pool.simulation.revision();
    // Another length too: a file system may not tell two writings of one moment apart.
    std::fs::write(&flow, field_of(-0.25)).unwrap();
    pool.tell(polled(&mut watch).expect("the field was changed"));
    assert_eq!(force(&mut pool), -0.25);
    assert_eq!(pool.simulation.revision(), revision + 1);
    assert_eq!(pool.desk.editor().unsaved(), []);
    std::fs::write(&flow, "dims = [2, 1").unwrap();
    let problems = pool.try_tell(polled(&mut watch).unwrap()).unwrap_err();
    assert!(problems.to_string().contains("flow.toml"), "{problems}");
    assert_eq!(force(&mut pool), -0.25);
    // Touched, but the same again: nothing is told to the pool.
    std::fs::write(&flow, field_of(-0.25)).unwrap();
    pool.tell(polled(&mut watch).unwrap());
    assert_eq!(force(&mut pool), -0.25);
    assert_eq!(pool.simulation.revision(), revision + 1);
}

#[test]
fn changed_files_are_taken_over_or_refused_whole() {
    let mut pool = Pool::new();
    let site = pool.site();
    let trout = site.with_file_name("species").join("trout.toml");
    let scene = site.with_file_name("scenes").join("pool.toml");
    let text = std::fs::read_to_string(&trout).unwrap();
    let mut watch = FileWatcher::new(&site);
    assert!(
        watch.poll().is_none() && watch.poll().is_none(),
        "nothing was changed"
    );
    // An editor that replaces the file by rename.
    let beside = trout.with_extension("swp");
    std::fs::write(
        &beside,
        text.replace("cruise_mps = 0.3\n", "cruise_mps = 0.2\n"),
    )
    .unwrap();
    std::fs::rename(&beside, &trout).unwrap();
    let take = polled(&mut watch).expect("the file was changed");
    pool.tell(take);
    let cruise = |p: &Pool| {
        let world = p.simulation.world();
        world
            .species
            .iter()
            .find(|s| s.name == "trout")
            .unwrap()
            .motion
            .cruise_mps
    };
    assert_eq!(cruise(&pool), 0.2);
    assert_eq!(
        pool.desk.editor().unsaved(),
        [],
        "it is as it is on the disk"
    );
    assert!(
        watch.poll().is_none() && watch.poll().is_none(),
        "it is told once"
    );
    // Two files, one of them half written: neither is taken, the old ones run on.
    std::fs::write(&trout, &text[..text.len() / 2 + 3]).unwrap();
    let scene_text = std::fs::read_to_string(&scene).unwrap();
    std::fs::write(&scene, scene_text.replace("herring = 40", "herring = 11")).unwrap();
    let half = polled(&mut watch).expect("the files were changed");
    let problems = pool.try_tell(half).expect_err("half a file is no file");
    assert!(problems.to_string().contains("trout.toml"), "{problems}");
    let status = pool.desk.status(&pool.simulation);
    assert!(
        status
            .rejection
            .unwrap()
            .problems
            .iter()
            .any(|r| r.file.ends_with("trout.toml"))
    );
    pool.step();
    assert_eq!((cruise(&pool), pool.count("herring")), (0.2, 40));
    // Whole again: both are taken.
    std::fs::write(
        &trout,
        text.replace("cruise_mps = 0.3\n", "cruise_mps = 0.25\n"),
    )
    .unwrap();
    pool.tell(polled(&mut watch).expect("the file was changed"));
    pool.step();
    assert_eq!((cruise(&pool), pool.count("herring")), (0.25, 11));
    // A new species and one that goes, both as files.
    std::fs::write(trout.with_file_name("koi.toml"), &text).unwrap();
    std::fs::write(&scene, scene_text.replace("trout = 6", "koi = 6")).unwrap();
    pool.tell(polled(&mut watch).unwrap());
    assert_eq!((pool.count("koi"), pool.count("trout")), (6, 0));
    std::fs::remove_file(trout.with_file_name("koi.toml")).unwrap();
    let gone = polled(&mut watch).unwrap();
    let problems = pool.try_tell(gone).expect_err("the scene still names it");
    assert!(
        problems.to_string().contains("there is no species 'koi'"),
        "{problems}"
    );
    std::fs::write(&scene, &scene_text).unwrap();
    pool.tell(polled(&mut watch).unwrap());
    assert_eq!((pool.count("koi"), pool.count("trout")), (0, 6));
    // An edit that is not saved stays when another file changes.
    pool.set("species:shark", "motion.cruise_mps", json!(0.21));
    std::fs::write(&trout, &text).unwrap();
    pool.tell(polled(&mut watch).unwrap());
    assert_eq!(pool.desk.editor().unsaved().len(), 1);
    // What is saved from here is nothing new.
    pool.tell(json!({"command": "save"}));
    pool.tell(polled(&mut watch).unwrap());
    assert_eq!(pool.desk.editor().unsaved(), []);
    // What is no text is told, and tried again.
    std::fs::write(&trout, b"\xff\xfe").unwrap();
    assert!(watch.poll().is_none());
    assert!(
        watch
            .poll()
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("UTF-8")
    );
    std::fs::write(&trout, &text).unwrap();
    assert!(polled(&mut watch).is_some());
}

#[test]
fn the_watching_thread_sends_what_changed() {
    let pool = Pool::new();
    let site = pool.site();
    let (sender, receiver) = command_queue();
    let mut supervisor = Supervisor::new(StopFlag::default());
    let watched = site.clone();
    supervisor
        .start("disk-watch", HangPolicy::WaitAtEnd, move |heartbeat| {
            watch_files(&watched, &sender, heartbeat);
            Ok(())
        })
        .unwrap();
    let text = std::fs::read_to_string(&site).unwrap();
    let changed = Instant::now();
    std::fs::write(&site, text.replace("seed = 1", "seed = 2")).unwrap();
    // Generous: this is not about speed. What it took is printed.
    let command = receiver
        .recv_timeout(Duration::from_secs(20))
        .expect("a command arrives");
    eprintln!("taken over after {:.2} s", changed.elapsed().as_secs_f32());
    let Command::TakeOver { documents } = command else {
        panic!("a change on the disk is taken over");
    };
    assert!(
        documents
            .iter()
            .any(|d| d.text.as_ref().is_some_and(|t| t.contains("seed = 2")))
    );
    supervisor.shut_down().unwrap();
}

#[test]
fn a_full_queue_says_no() {
    let (sender, receiver) = command_queue();
    let mut taken = 0;
    while sender.send(Command::Undo).is_ok() {
        taken += 1;
        assert!(taken < 10_000);
    }
    assert_eq!(sender.send(Command::Undo), Err(Undelivered::Busy));
    receiver.recv().unwrap();
    assert_eq!(sender.send(Command::Undo), Ok(()));
    drop(receiver);
    assert_eq!(sender.send(Command::Undo), Err(Undelivered::Gone));
}
