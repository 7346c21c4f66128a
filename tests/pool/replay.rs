//! Tests of command logs and of changed files. A replayed command log gives the same run as the live pool. Changed files are
//! applied together. If one of them is invalid, all are rejected, and the old documents stay in use.

use shoal_testing::assert_message;
use std::time::{Duration, Instant};

use crate::desk::{Pool, edit, set};
use serde_json::json;
use shoal::app::{CommandScript, SimulateOptions, simulate, watch_files};
use shoal::control::{Command, DeskEvent, EditorStep, Journal, PoolCommand, desk_queue};
use shoal::records::agents_line;
use shoal::runtime::{HangPolicy, StopFlag, Supervisor};
use shoal::simulation::SimulationParams;
use shoal::site::{Editor, FileWatcher};
use shoal::world::Snapshot;

#[test]
#[expect(clippy::too_many_lines, reason = "one run in chronological order")]
fn a_replayed_command_log_gives_the_same_run() {
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
        .replace("cruise_mps = 0.3 ", "cruise_mps = 0.2 ");
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
            130 => json!({"command": "add_species", "name": "zander", "like": "trout", "count": 3}),
            160 => set("scene:pool", "population.herring", json!(50)),
            200 => {
                json!({"command": "director", "event": {"event": "gather", "point_m": [0.0, -0.6, 0.0]}})
            }
            _ => json!({"command": "redo"}),
        };
        let rejected = pool.try_command(command).is_err();
        assert_eq!(
            rejected,
            tick == 21 || ![0, 20, 40, 60, 80, 81, 100, 120, 130, 160, 200].contains(&tick)
        );
        pool.step();
        pool.simulation.snapshot(&mut snapshot);
        live += &serde_json::to_string(&agents_line(&pool.simulation, &snapshot)).unwrap();
        live.push('\n');
    }
    pool.desk.close().unwrap();
    // Rejected commands are not in the log.
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 11);
    let editor = Editor::open(None, Some("pool")).unwrap();
    let out = folder.path().join("agents.jsonl");
    let again = folder.path().join("again.jsonl");
    let options = SimulateOptions {
        scene: editor.site().description(),
        simulation: SimulationParams {
            seed: 5,
            ..SimulationParams::default()
        },
        shadows: None,
        visitors: None,
        report: None,
        seconds: 4.0,
        every: 1,
        out: Some(out.clone()),
        why: false,
        save_state: None,
        load_state: None,
        commands: Some(CommandScript {
            editor,
            commands: log.clone(),
            log: Some(again.clone()),
        }),
    };
    simulate(&options, &StopFlag::default()).unwrap();
    assert!(
        std::fs::read_to_string(&out).unwrap() == live,
        "the replay differs from the live run"
    );
    assert_eq!(
        std::fs::read_to_string(again).unwrap(),
        std::fs::read_to_string(&log).unwrap()
    );
    // Without the commands the run differs. This shows that the comparison above depends on the commands.
    let without_commands = SimulateOptions {
        commands: None,
        out: Some(out.clone()),
        why: true,
        ..options
    };
    simulate(&without_commands, &StopFlag::default()).unwrap();
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

/// Polls the watcher until it returns documents, and returns the command that applies them. The first poll detects the change. A
/// later poll returns them, because the files have not changed again.
fn poll_change(watcher: &mut FileWatcher) -> Option<serde_json::Value> {
    // A change is reported only when the files are stable.
    assert!(watcher.poll().is_none());
    let changes = (0..20)
        .find_map(|_| watcher.poll())?
        .unwrap_or_else(|problems| panic!("{problems}"));
    let documents = changes.into_iter().flatten().collect();
    Some(serde_json::to_value(EditorStep::TakeOver { documents }).unwrap())
}

#[test]
fn changed_files_are_applied_or_rejected_completely() {
    let mut pool = Pool::new();
    let site = pool.site();
    let trout = site.with_file_name("species").join("trout.toml");
    let scene = site.with_file_name("scenes").join("pool.toml");
    let text = std::fs::read_to_string(&trout).unwrap();
    let mut watcher = FileWatcher::new(&site);
    // No file was changed.
    assert!(watcher.poll().is_none() && watcher.poll().is_none());
    // Simulates a text editor that writes a temporary file and renames it to the original name.
    let temporary = trout.with_extension("swp");
    std::fs::write(
        &temporary,
        text.replace("cruise_mps = 0.3 ", "cruise_mps = 0.2 "),
    )
    .unwrap();
    std::fs::rename(&temporary, &trout).unwrap();
    let take = poll_change(&mut watcher).unwrap();
    pool.command(take);
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
    // The document equals the file.
    assert_eq!(pool.desk.editor().unsaved(), []);
    // A change is reported once.
    assert!(watcher.poll().is_none() && watcher.poll().is_none());
    // Two files change, and one of them is incomplete. Neither is applied, and the old documents stay in use.
    std::fs::write(&trout, text.split_inclusive("length_m = ").next().unwrap()).unwrap();
    let scene_text = std::fs::read_to_string(&scene).unwrap();
    std::fs::write(&scene, scene_text.replace("herring = 40", "herring = 11")).unwrap();
    let half = poll_change(&mut watcher).unwrap();
    let problems = pool.try_command(half).unwrap_err();
    assert!(problems.to_string().contains("trout.toml"), "{problems}");
    let status = pool.desk.document_status(0);
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
    // After both files are complete, both are applied.
    std::fs::write(
        &trout,
        text.replace("cruise_mps = 0.3 ", "cruise_mps = 0.25 "),
    )
    .unwrap();
    pool.command(poll_change(&mut watcher).unwrap());
    pool.step();
    assert_eq!((cruise(&pool), pool.count("herring")), (0.25, 11));
    // A new species file is written, and the scene file replaces the species trout by it.
    std::fs::write(trout.with_file_name("zander.toml"), &text).unwrap();
    std::fs::write(&scene, scene_text.replace("trout = 6", "zander = 6")).unwrap();
    pool.command(poll_change(&mut watcher).unwrap());
    assert_eq!((pool.count("zander"), pool.count("trout")), (6, 0));
    std::fs::remove_file(trout.with_file_name("zander.toml")).unwrap();
    let removed = poll_change(&mut watcher).unwrap();
    let problems = pool.try_command(removed).unwrap_err();
    assert_message(
        &problems,
        &["zander.toml: was deleted, but the scene \"pool\" needs it"],
    );
    std::fs::write(&scene, &scene_text).unwrap();
    pool.command(poll_change(&mut watcher).unwrap());
    assert_eq!((pool.count("zander"), pool.count("trout")), (0, 6));
    // An unsaved edit stays when another file changes.
    pool.set("species:shark", "motion.cruise_mps", json!(0.21));
    std::fs::write(&trout, &text).unwrap();
    pool.command(poll_change(&mut watcher).unwrap());
    assert_eq!(pool.desk.editor().unsaved().len(), 1);
    // The files that the desk saves itself are not taken as changes by others.
    pool.command(json!({"command": "save"}));
    pool.command(poll_change(&mut watcher).unwrap());
    assert_eq!(pool.desk.editor().unsaved(), []);
    // A file that is not UTF-8 text is reported. The watcher reads it again after its next change.
    std::fs::write(&trout, b"\xff\xfe").unwrap();
    assert!(
        (0..20)
            .find_map(|_| watcher.poll())
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("UTF-8")
    );
    std::fs::write(&trout, &text).unwrap();
    assert!(poll_change(&mut watcher).is_some());
}

#[test]
fn the_watching_thread_sends_changed_files() {
    let pool = Pool::new();
    let site = pool.site();
    let (client, receiver, _) = desk_queue();
    let journal = Journal::default();
    let mut supervisor = Supervisor::new(StopFlag::default());
    let mut watcher = FileWatcher::new(&site);
    supervisor
        .start("disk-watch", HangPolicy::WaitAtEnd, move |heartbeat| {
            watch_files(&mut watcher, &client, &journal, heartbeat);
        })
        .unwrap();
    let text = std::fs::read_to_string(&site).unwrap();
    let changed = Instant::now();
    std::fs::write(&site, text.replace("seed = 1", "seed = 2")).unwrap();
    // The limit of 20 s is generous, because this test does not check the speed. It only prints the time.
    let event = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
    eprintln!("applied after {:.2} s", changed.elapsed().as_secs_f32());
    let DeskEvent::Request(incoming) = event else {
        panic!("{event:?} is no request");
    };
    let Command::Pool(PoolCommand::Editor(EditorStep::TakeOver { documents })) =
        &incoming.request.command
    else {
        panic!("the command is not TakeOver");
    };
    assert!(
        documents
            .iter()
            .any(|d| d.text.as_ref().is_some_and(|t| t.contains("seed = 2")))
    );
    drop(incoming);
    supervisor.shut_down().unwrap();
}

/// The log did not contain `save`, so a `revert` after it returned to other documents when the log was replayed.
#[test]
fn a_log_with_save_and_revert_replays() {
    let mut pool = Pool::new();
    let log = pool.folder.as_ref().unwrap().path().join("commands.jsonl");
    pool.desk.log_to(&log).unwrap();
    let cruise = |pool: &Pool| {
        let site = pool.desk.editor().site();
        let herring = site.species.iter().find(|s| s.name == "herring").unwrap();
        herring.file.motion.cruise_mps
    };
    pool.set("species:herring", "motion.cruise_mps", json!(0.9));
    pool.command(json!({"command": "save"}));
    pool.command(json!({"command": "save"}));
    pool.set("species:herring", "motion.cruise_mps", json!(0.2));
    pool.command(json!({"command": "revert"}));
    assert!((cruise(&pool) - 0.9).abs() < 1e-6);
    let texts = pool.texts();
    pool.desk.close().unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    // The second had nothing to save.
    assert_eq!(log.matches(r#""command":"save""#).count(), 1);
    let mut again = Pool::new();
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        again.command(line["command"].clone());
    }
    assert_eq!(again.texts(), texts);
    // A replay that must not write keeps the files.
    let mut again = Pool::new();
    let before =
        std::fs::read_to_string(again.site().with_file_name("species").join("herring.toml"));
    let mut editor = Editor::open(Some(&again.site()), None).unwrap();
    editor.replay_only();
    again.desk = shoal::app::Desk::new(editor);
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        again.command(line["command"].clone());
    }
    assert_eq!(again.texts(), texts);
    let after =
        std::fs::read_to_string(again.site().with_file_name("species").join("herring.toml"));
    assert_eq!(before.unwrap(), after.unwrap());
}
