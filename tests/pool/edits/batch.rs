//! Batches of commands: all or none, and one undo.

use super::*;

fn set_population(count: u32) -> Value {
    set("scene:pool", "population.herring", json!(count))
}

#[test]
fn a_batch_is_one_change() {
    let mut pool = Pool::new();
    let change = json!({"command": "batch", "commands": [
        set_population(3),
        {"command": "add_species", "name": "perch", "like": "trout", "count": 2},
        set("species:perch", "motion.cruise_mps", json!(0.3)),
        {"command": "director", "event": {"event": "hunting", "on": true}},
        {"command": "add_individual", "species": "perch", "position_m": [0.5, -0.5, 0.5]},
    ]});
    let counts = |pool: &mut Pool| (pool.count("herring"), pool.count("perch"));
    let depth = pool.desk.editor().undo_depths().0;
    check_edit(
        &mut pool,
        change.clone(),
        |pool| counts(pool) == (40, 0),
        |pool| counts(pool) == (3, 3),
    );
    pool.command(change);
    assert_eq!(pool.desk.editor().undo_depths().0, depth + 1, "one step");
}

#[test]
fn a_batch_with_an_impossible_command_changes_nothing() {
    let mut pool = Pool::new();
    pool.command(set_population(4));
    pool.command(set_population(5));
    pool.command(json!({"command": "undo"}));
    let (texts, configured) = (pool.texts(), pool.configured());
    let depths = pool.desk.editor().undo_depths();
    for (bad, reason) in [
        (
            json!({"command": "remove_species", "name": "unicorn"}),
            "unicorn",
        ),
        (
            set("scene:pool", "population.herring", json!(-1)),
            "population",
        ),
    ] {
        let batch = json!({"command": "batch", "commands": [
            {"command": "add_species", "name": "perch", "like": "trout"},
            {"command": "director", "event": {"event": "hunting", "on": true}},
            set_population(9),
            bad,
        ]});
        let problems = pool.try_command(batch).unwrap_err().to_string();
        assert!(problems.contains("command 4 ("), "{problems}");
        assert!(problems.contains(reason), "{problems}");
        assert_eq!(pool.texts(), texts);
        assert_eq!(pool.configured(), configured);
        // Undo and redo are kept.
        assert_eq!(pool.desk.editor().undo_depths(), depths);
    }
    for commands in [json!([]), json!(vec![set_population(1); 101])] {
        let batch = json!({"command": "batch", "commands": commands});
        let problems = pool.try_command(batch).unwrap_err().to_string();
        assert!(problems.contains("1 to 100 commands"), "{problems}");
    }
}

#[test]
fn a_replaced_text_is_checked_like_an_edit() {
    let mut pool = Pool::new();
    let text = "# Few.\ntitle = \"Few\"\n\n[population]\nherring = 2\n";
    let replace = |text: &str| json!({"command": "replace_text", "document": document("scene:bare"), "text": text});
    pool.command(json!({"command": "switch_scene", "name": "bare"}));
    check_edit(
        &mut pool,
        replace(text),
        |pool| pool.count("herring") == 5,
        |pool| pool.count("herring") == 2,
    );
    for bad in ["", "  \n", "title = ", "[population]\nunicorn = 1\n"] {
        assert!(pool.try_command(replace(bad)).is_err(), "{bad:?}");
    }
}
