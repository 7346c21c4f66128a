//! What is in use after the program was killed: everything that operators set, and no draft.

use std::time::Duration;

use serde_json::{Value, json};

use super::operation::{Running, text, wait_for};

const SITE: &str = "scene = \"pool\"\n[surface]\nwidth_m = 4.0 # measured\n";

fn start() -> Running {
    Running::start(SITE, |_, _| {})
}

fn ready(running: &Running) -> Value {
    wait_for("a status", || {
        running
            .status()
            .filter(|status| status["tick"].as_u64() > Some(0))
    })
}

fn send(running: &Running, command: &Value) {
    let output = running.ctl(&["send", &command.to_string()]);
    assert!(output.status.success(), "{command}: {}", text(&output));
}

fn set(document: &Value, path: &str, value: &Value) -> Value {
    let change = json!({"do": "set", "value": value});
    json!({"command": "edit", "edits": [{"document": document, "path": path, "change": change}]})
}

fn site_text(running: &Running) -> String {
    std::fs::read_to_string(running.file("site.toml")).unwrap()
}

/// A fixed bug: what was set in the panel was lost with the power unless *Save* was pressed, which no page asked for.
#[test]
fn what_operators_set_is_on_the_disk_when_the_command_is_answered() {
    let mut running = start();
    ready(&running);
    let site = json!({"kind": "site"});
    let weekly = json!([{"days": ["monday"], "hours": [{"from": "10:00", "to": "18:00"}]}]);
    let steps = [
        (set(&site, "surface.width_m", &json!(5.25)), "5.25"),
        (
            set(&site, "camera.source", &json!("synthetic:2")),
            "synthetic:2",
        ),
        (set(&site, "language", &json!("de")), "language = \"de\""),
        (set(&site, "schedule.weekly", &weekly), "monday"),
        (
            json!({"command": "switch_scene", "name": "reef"}),
            "scene = \"reef\"",
        ),
        (set(&site, "counting.on", &json!(true)), "on = true"),
    ];
    for (command, written) in steps {
        send(&running, &command);
        // No time passes between the answer and the power cut.
        running.kill_and_start();
        let site = site_text(&running);
        assert!(site.contains(written), "{command}: {site}");
        assert!(site.contains("# measured"), "comments stay: {site}");
        let status = ready(&running);
        assert_eq!(status["unsaved"], json!([]), "{command}");
    }
    assert_eq!(ready(&running)["scene"], "reef");
    // Undo is a change too.
    send(&running, &set(&site, "surface.width_m", &json!(6.5)));
    send(&running, &json!({"command": "undo"}));
    running.kill_and_start();
    assert!(site_text(&running).contains("width_m = 5.25"));
}

#[test]
fn a_scene_stays_a_draft_until_it_is_saved() {
    let mut running = start();
    ready(&running);
    let scene = json!({"kind": "scene", "name": "pool"});
    send(&running, &set(&scene, "population.herring", &json!(3)));
    // What the operator sets meanwhile is kept, and the draft is still none of the files.
    send(
        &running,
        &set(&json!({"kind": "site"}), "surface.width_m", &json!(4.5)),
    );
    let draft = json!([{"kind": "scene", "name": "pool"}]);
    wait_for("the draft in the status", || {
        running.status().filter(|status| status["unsaved"] == draft)
    });
    running.kill_and_start();
    let status = wait_for("the scene on the disk", || {
        let many = |status: &Value| status["species"]["herring"]["count"].as_u64() > Some(3);
        running.status().filter(many)
    });
    assert_eq!(status["unsaved"], json!([]));
    assert!(site_text(&running).contains("width_m = 4.5"));
    send(&running, &set(&scene, "population.herring", &json!(3)));
    send(&running, &json!({"command": "save"}));
    running.kill_and_start();
    wait_for("the saved scene", || {
        running
            .status()
            .filter(|status| status["species"]["herring"]["count"] == 3)
    });
}

/// The site would be broken if it named a scene that exists only as a draft.
#[test]
fn a_site_that_needs_a_draft_is_written_with_it() {
    let mut running = start();
    ready(&running);
    let scene = json!({"kind": "scene", "name": "mine"});
    let text_of = "[population]\nherring = 2\n";
    send(
        &running,
        &json!({"command": "replace_text", "document": scene, "text": text_of}),
    );
    let output = running.ctl(&[
        "send",
        &json!({"command": "switch_scene", "name": "mine"}).to_string(),
    ]);
    assert!(text(&output).contains("not saved yet"), "{}", text(&output));
    assert!(site_text(&running).contains("scene = \"pool\""));
    send(&running, &json!({"command": "save"}));
    running.kill_and_start();
    assert_eq!(ready(&running)["scene"], "mine");
}

/// A drag changes a value many times a second. Whenever the power fails, the file is whole, and what the status calls saved is kept.
#[test]
fn a_power_cut_during_a_drag_leaves_a_whole_file() {
    let mut running = start();
    for delay_ms in [0_u16, 5, 30, 200, 1500] {
        ready(&running);
        let site = json!({"kind": "site"});
        let steps: Vec<String> = (1..=20)
            .map(|i| {
                set(
                    &site,
                    "surface.height_m",
                    &json!(3.0 + f64::from(i) / 100.0 + f64::from(delay_ms) / 1e4),
                )
                .to_string()
            })
            .collect();
        let script = running.file("drag.jsonl");
        std::fs::write(&script, steps.join("\n")).unwrap();
        assert!(
            running
                .ctl(&["send", &script.display().to_string()])
                .status
                .success()
        );
        std::thread::sleep(Duration::from_millis(delay_ms.into()));
        let is_saved = running
            .status()
            .is_some_and(|status| status["unsaved"] == json!([]));
        running.kill_and_start();
        let written = site_text(&running);
        let last = format!("height_m = {}", 3.2 + f64::from(delay_ms) / 1e4);
        assert!(
            !is_saved || written.contains(&last),
            "{delay_ms} ms: {last}: {written}"
        );
        let checked = super::operation::shoal()
            .arg("check")
            .arg(running.file("site.toml"))
            .output()
            .unwrap();
        assert!(checked.status.success(), "{}", text(&checked));
    }
}

/// A fixed bug: after every save an event said that somebody had edited all files.
#[test]
fn an_own_save_is_no_edited_file() {
    let running = start();
    ready(&running);
    send(
        &running,
        &set(&json!({"kind": "site"}), "surface.width_m", &json!(4.5)),
    );
    // The watcher of the files looks several times a second; the edit by hand comes after the save.
    std::thread::sleep(Duration::from_secs(3));
    let site = site_text(&running).replace("4.5", "4.75");
    std::fs::write(running.file("site.toml"), site).unwrap();
    let edited = wait_for("the edit by hand", || {
        let events = text(&running.ctl(&["events"]));
        let lines = events.lines().filter(|line| line.contains("take_over"));
        let edited: Vec<String> = lines.map(str::to_owned).collect();
        (!edited.is_empty()).then_some(edited)
    });
    assert_eq!(edited.len(), 1, "{edited:?}");
    assert!(edited[0].contains(r#""summary":"site""#), "{edited:?}");
}
