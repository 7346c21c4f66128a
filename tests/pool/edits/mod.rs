//! Tests of edits in a running pool. Each kind of change affects the fish at the next tick. Undo restores the configuration
//! of the pool and the documents.

mod batch;
mod director;
mod minds;
mod population;

use crate::desk::{Pool, document, edit, set};
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use shoal_testing::assert_message;

/// Applies a change, undoes it, redoes it and undoes it again. Checks the pool and the documents after each of these steps.
fn check_edit(
    pool: &mut Pool,
    change: Value,
    before: impl Fn(&mut Pool) -> bool,
    after: impl Fn(&mut Pool) -> bool,
) {
    let (texts, configured) = (pool.texts(), pool.configured());
    let unsaved = pool.desk.editor().unsaved();
    pool.step();
    assert!(before(pool), "before: {change}");
    pool.command(change.clone());
    pool.step();
    assert!(after(pool), "after: {change}");
    let changed = pool.texts();
    pool.command(json!({"command": "undo"}));
    assert_eq!(pool.texts(), texts, "documents after undo: {change}");
    let undone = pool.configured();
    assert_eq!(undone, configured, "the pool after undo: {change}");
    assert_eq!(pool.desk.editor().unsaved(), unsaved);
    pool.step();
    assert!(before(pool), "undone: {change}");
    pool.command(json!({"command": "redo"}));
    assert_eq!(pool.texts(), changed, "documents after redo: {change}");
    pool.step();
    assert!(after(pool), "redone: {change}");
    pool.command(json!({"command": "undo"}));
    assert_eq!(pool.texts(), texts);
    assert_eq!(pool.configured(), configured);
}

/// Checks an edit that changes a value of the pool from `before` to `after`, as [`check_edit`] does.
fn check_value<T: PartialEq>(
    pool: &mut Pool,
    change: Value,
    value: impl Fn(&mut Pool) -> T,
    [before, after]: [T; 2],
) {
    check_edit(pool, change, |p| value(p) == before, |p| value(p) == after);
}

/// Returns a pool whose only fish is a herring, 0.6 m from a visitor, and the id of the herring. A flight has no shortest time, so
/// that each change shows at the next tick.
fn herring_and_visitor() -> (Pool, u32) {
    let mut pool = Pool::new();
    pool.set("scene:pool", "population", json!({"herring": 1}));
    pool.set("species:herring", "needs[0].minimum_secs", json!(0));
    let herring = pool.all("herring")[0];
    pool.place(herring, Vec3::new(0.3, -0.7, 0.0));
    pool.visitor(Vec2::new(-0.3, 0.0), 0.0);
    let id = pool.id(herring);
    (pool, id)
}

/// Returns the index of the only herring.
fn alone(pool: &Pool) -> usize {
    pool.all("herring")[0]
}

#[test]
fn a_rejected_command_reports_all_problems_and_changes_nothing() {
    let mut pool = Pool::new();
    let (texts, configured) = (pool.texts(), pool.configured());
    let many = json!({"command": "edit", "edits": [
        {"document": document("species:trout"), "path": "motion.cruise_mps", "change": {"do": "set", "value": 99}},
        {"document": document("species:trout"), "path": "body.wheels", "change": {"do": "set", "value": 4}},
        {"document": document("scene:pool"), "path": "population.unicorn", "change": {"do": "set", "value": 1}},
        {"document": document("scene:pool"), "path": "title", "change": {"do": "set", "value": "fine"}}]});
    let problems = pool.try_command(many).unwrap_err();
    let text = problems.to_string();
    assert_eq!(problems.0.len(), 3, "{text}");
    assert_message(
        &text,
        &["motion.cruise_mps: 99.0 m/s is too large; allowed: 0 to 50 m/s"],
    );
    assert!(text.contains("unknown key \"wheels\""), "{text}");
    assert!(text.contains("there is no species \"unicorn\""), "{text}");
    assert_eq!(pool.texts(), texts);
    let status = pool.desk.document_status(0);
    let rejection = status.rejection.unwrap();
    assert_eq!(rejection.problems.len(), 3);
    assert!(
        rejection
            .problems
            .iter()
            .any(|r| r.path == "motion.cruise_mps" && r.line > 0)
    );
    for command in [
        json!({"command": "undo"}),
        json!({"command": "redo"}),
        json!({"command": "switch_scene", "name": "nowhere"}),
        json!({"command": "add_species", "name": "../../etc/passwd"}),
        json!({"command": "add_species", "name": "trout"}),
        json!({"command": "add_species", "name": "visitor"}),
        json!({"command": "add_species", "name": "a", "text": "[body]\nlength_m = -1\n"}),
        json!({"command": "remove_species", "name": "unicorn"}),
        json!({"command": "add_individual", "species": "unicorn"}),
        json!({"command": "add_individual", "species": "trout", "position_m": [1e9, 0.0, 0.0]}),
        json!({"command": "remove_individual", "id": 99999}),
        json!({"command": "override_mind", "id": 99999, "mind": {"of": "species", "name": "trout"}, "secs": 1}),
        json!({"command": "override_mind", "id": 0, "mind": {"of": "species", "name": "unicorn"}, "secs": 1}),
        json!({"command": "override_mind", "id": 0, "mind": {"of": "species", "name": "trout"}, "secs": -1}),
        json!({"command": "override_mind", "id": 0, "mind": {"of": "needs", "needs": [{"name": "x", "actions": ["fly"]}]}, "secs": 1}),
        json!({"command": "director", "event": {"event": "set_need", "species": "trout", "need": "fly", "value": 1}}),
        json!({"command": "director", "event": {"event": "hunting", "species": "unicorn", "on": true}}),
        json!({"command": "director", "event": {"event": "gather", "point_m": [0, -0.5, 0], "weight": -1}}),
        set("species:trout", "needs[0].actions", json!([])),
        edit("species:trout", "actions.lurk", json!({"do": "remove"})),
        edit("species:unicorn", "body", json!({"do": "remove"})),
        set("scene:pool", "population.herring", json!(4_000_000)),
        edit("scene:pool", "population..herring", json!({"do": "remove"})),
    ] {
        let problems = pool
            .try_command(command.clone())
            .expect_err(&command.to_string());
        assert!(!problems.0.is_empty());
        assert!(
            problems.0.iter().all(|p| p.message.len() > 10),
            "{problems}"
        );
        assert_eq!(pool.texts(), texts, "{command}");
        assert_eq!(pool.configured(), configured, "{command}");
    }
    assert_eq!(pool.desk.editor().undo_depths(), (0, 0));
}

#[test]
fn values_that_need_a_restart_are_reported_and_not_applied() {
    let mut pool = Pool::new();
    let tick = pool.simulation.dt_secs();
    pool.set("site", "simulation.tick_hz", json!(30));
    pool.set("site", "surface.width_m", json!(6));
    let status = pool.desk.document_status(0);
    assert_eq!(status.restart_needed, ["simulation.tick_hz"]);
    pool.set("scene:pool", "pool.margin_m", json!(0.2));
    pool.step();
    assert_eq!(pool.simulation.dt_secs(), tick);
    // A new surface applies at once, to the fish and to the picture.
    assert_eq!(pool.simulation.world().water.surface.width_m, 6.0);
    pool.command(json!({"command": "undo"}));
    pool.command(json!({"command": "undo"}));
    pool.command(json!({"command": "undo"}));
    assert_eq!(
        pool.desk.document_status(0).restart_needed,
        Vec::<String>::new()
    );
}

#[test]
fn saving_writes_changed_documents_and_keeps_comments() {
    let mut pool = Pool::new();
    let site = pool.site();
    let file = |name: &str| std::fs::read_to_string(site.with_file_name(name)).unwrap();
    let (trout, scene) = (file("species/trout.toml"), file("scenes/pool.toml"));
    pool.set("species:trout", "motion.cruise_mps", json!(0.25));
    pool.command(json!({"command": "add_species", "name": "zander", "like": "trout", "count": 2}));
    assert_eq!(pool.desk.document_status(0).unsaved.len(), 3);
    // Nothing is written before the save.
    assert_eq!(file("species/trout.toml"), trout);
    pool.command(json!({"command": "save"}));
    assert_eq!(pool.desk.document_status(0).unsaved, []);
    assert_eq!(
        file("species/trout.toml"),
        trout.replace("cruise_mps = 0.3 ", "cruise_mps = 0.25 ")
    );
    assert_ne!(file("species/trout.toml"), trout);
    assert_eq!(
        file("scenes/pool.toml"),
        scene.replace("trout = 6\n", "trout = 6\nzander = 2\n")
    );
    // The old version is kept.
    assert_eq!(file("species/.generations/trout.toml.000001"), trout);
    // After undo and another save, the files on disk have their first content again.
    pool.command(json!({"command": "undo"}));
    pool.command(json!({"command": "undo"}));
    pool.command(json!({"command": "save"}));
    assert_eq!(file("species/trout.toml"), trout);
    assert_eq!(file("scenes/pool.toml"), scene);
    assert!(!site.with_file_name("species/zander.toml").exists());
    assert!(
        site.with_file_name("species/.generations/zander.toml.000001")
            .exists()
    );
    // Revert replaces the edited documents by the files on disk. It can be undone.
    pool.set("species:trout", "motion.cruise_mps", json!(0.2));
    pool.command(json!({"command": "revert"}));
    assert_eq!(pool.desk.editor().unsaved(), []);
    pool.command(json!({"command": "undo"}));
    assert_eq!(pool.desk.editor().unsaved().len(), 1);
    // The built-in demo has no site file, so it cannot be saved.
    let mut demo = Pool::open(None, 1);
    demo.set("species:trout", "motion.cruise_mps", json!(0.2));
    let problems = demo.try_command(json!({"command": "save"})).unwrap_err();
    assert!(problems.to_string().contains("site file"), "{problems}");
}

#[test]
fn ticks_after_an_edit_do_not_allocate() {
    let mut pool = Pool::new();
    pool.visitor(Vec2::new(0.3, 0.2), 0.0);
    pool.set("species:herring", "motion.cruise_mps", json!(0.3));
    pool.command(json!({"command": "add_individual", "species": "trout"}));
    pool.command(json!({"command": "override_mind", "id": 3, "secs": 600, "mind": {"of": "species", "name": "trout"}}));
    pool.run(240);
    let counted = allocation_counter::measure(|| pool.run(240));
    assert_eq!(counted.count_total, 0, "allocations in 240 ticks");
}

#[test]
fn forces_are_explained_only_on_request() {
    use shoal::world::{
        OverlayItem, OverlayLayer, OverlayLayers, OverlayRequest, OverlayShape, Snapshot,
    };
    let (mut pool, id) = herring_and_visitor();
    pool.step();
    let index = pool.index(id).unwrap();
    assert_eq!(pool.simulation.forces(index).count(), 0);
    pool.simulation.record_forces(true);
    pool.step();
    let forces: Vec<(String, Vec3)> = pool
        .simulation
        .forces(index)
        .map(|(name, force)| (name.to_owned(), force))
        .collect();
    assert!(
        forces.iter().any(|(name, _)| name == "evade_shadow"),
        "{forces:?}"
    );
    let sum: Vec3 = forces.iter().map(|(_, force)| *force).sum();
    let decided = pool.simulation.decision(index).proposal.force;
    assert!(
        sum.distance(decided) < 1e-4 * decided.length().max(1.0),
        "{sum} {decided}"
    );
    let drawn = |pool: &Pool, layers: OverlayLayers| {
        let mut snapshot = Snapshot::default();
        let request = OverlayRequest::all(layers);
        pool.simulation.fill_overlay(&request, &mut snapshot);
        snapshot.overlay
    };
    assert!(drawn(&pool, OverlayLayers::NONE).is_empty());
    let marks = drawn(&pool, OverlayLayers::NONE.with(OverlayLayer::Force));
    let is_arrow = |mark: &OverlayItem| matches!(mark.shape, OverlayShape::Arrow { .. });
    assert!(!marks.is_empty() && marks.iter().all(is_arrow));
    let has_name = |mark: &OverlayItem| mark.text.starts_with("evade_shadow ");
    assert!(marks.iter().any(has_name), "{marks:?}");
    let marks = drawn(&pool, OverlayLayers::NONE.with(OverlayLayer::Mind));
    assert_eq!(marks.len(), 1);
    assert!(
        marks[0].text.starts_with("survive: ") && marks[0].text.contains("evade_shadow"),
        "{}",
        marks[0].text
    );
    pool.simulation.record_forces(false);
    pool.run(2);
    let counted = allocation_counter::measure(|| pool.run(10));
    assert_eq!(counted.count_total, 0);
    assert_eq!(pool.simulation.forces(index).count(), 0);
}
