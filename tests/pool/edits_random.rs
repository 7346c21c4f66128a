//! Tests with random commands in random order. No command causes a panic or an invalid pool, and undoing all commands restores
//! the initial state.

use std::cell::Cell;

use crate::desk::{Pool, document, edit};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

fn path() -> impl Strategy<Value = (&'static str, &'static str)> {
    proptest::sample::select(vec![
        ("species:trout", "motion.cruise_mps"),
        ("species:trout", "motion"),
        ("species:trout", "needs"),
        ("species:trout", "needs[0]"),
        ("species:trout", "needs[2].actions"),
        ("species:trout", "needs[1].limit.value"),
        ("species:trout", "actions.wander"),
        ("species:trout", "actions.stroll"),
        ("species:trout", "actions.evade_shadow.weight"),
        ("species:trout", "relations.enemy"),
        ("species:herring", "relations.prey"),
        ("species:herring", "groups"),
        ("species:herring", "flock.radius_m"),
        ("species:herring", "body.radius_m"),
        ("species:herring", "body.size_spread"),
        ("species:shark", "standard.combine"),
        ("species:shark", "combine"),
        ("species:shark", "perception.sight_radius_m"),
        ("species:nobody", "body"),
        ("scene:pool", "obstacles"),
        ("scene:pool", "obstacles[0]"),
        ("scene:pool", "obstacles[1].center_m[0]"),
        ("scene:pool", "population.herring"),
        ("scene:pool", "population.trout"),
        ("scene:pool", "population"),
        ("scene:pool", "individuals"),
        ("scene:pool", "individuals[0]"),
        ("scene:pool", "pool.edge"),
        ("scene:pool", "pool.ground_depth_m"),
        ("scene:pool", "title"),
        ("scene:bare", "population.salmon"),
        ("site", "scene"),
        ("site", "surface.width_m"),
        ("site", "simulation.seed"),
        ("site", "outputs"),
    ])
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-2.0f64..12.0).prop_map(|n| json!(n)),
        (0i64..12).prop_map(|n| json!(n)),
        proptest::sample::select(vec![
            json!(null),
            json!(true),
            json!("bare"),
            json!("pool"),
            json!("wrap"),
            json!("reinsert"),
            json!("budget"),
            json!("first"),
            json!("herring"),
            json!("wander"),
            json!([]),
            json!(["shark", "visitor"]),
            json!({}),
            json!({"herring": 3, "trout": 2}),
            json!({"action": "wander", "weight": 1}),
            json!({"action": "seek", "target": "point", "point_m": [0, -0.5, 0]}),
            json!({"action": "hunt_prey"}),
            json!({"name": "extra", "type": "default", "actions": ["wander"]}),
            json!({"name": "drive", "type": "limit_based", "actions": ["wander"], "limit": {"rate_per_sec": 0.5}}),
            json!({"shape": "sphere", "center_m": [0.2, -0.6, 0.1], "radius_m": 0.4}),
            json!({"shape": "box", "center_m": [-0.2, -0.6, 0.1], "half_extents_m": [0.3, 0.2, 0.3]}),
            json!([{"shape": "capsule"}]),
            json!({"shape": "polygon", "outline_m": [[0, 0], [0.5, 0.1], [0.2, 0.6]]}),
            json!({"shape": "polygon", "outline_m": [[0, 0], [0.5, 0.1], [0.1, 0.1], [0.2, 0.6]]}),
            json!({"name": "Nemo", "species": "herring"}),
            json!([{"name": "Nemo", "species": "trout"}, {"name": "Ruby", "species": "trout"}]),
        ]),
    ]
}

fn change() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => value().prop_map(|value| json!({"do": "set", "value": value})),
        2 => (proptest::option::of(0usize..4), value()).prop_map(|(index, value)| match index {
            Some(index) => json!({"do": "insert", "index": index, "value": value}),
            None => json!({"do": "insert", "value": value}),
        }),
        1 => Just(json!({"do": "remove"})),
        1 => (0usize..4).prop_map(|to| json!({"do": "move", "to": to})),
    ]
}

fn an_edit() -> impl Strategy<Value = Value> {
    (path(), change()).prop_map(|((name, path), change)| {
        json!({"document": document(name), "path": path, "change": change})
    })
}

fn command() -> impl Strategy<Value = Value> {
    let name = || {
        proptest::sample::select(vec![
            "trout", "herring", "zander", "shark", "nobody", "../x",
        ])
    };
    let place = || proptest::option::of(prop::array::uniform3(-3.0f32..3.0));
    prop_oneof![
        8 => (path(), change()).prop_map(|((name, path), change)| edit(name, path, change)),
        3 => prop::collection::vec(an_edit(), 0..4).prop_map(|edits| json!({"command": "edit", "edits": edits})),
        1 => (name(), name(), 0u32..5).prop_map(|(name, like, count)| {
            json!({"command": "add_species", "name": name, "like": like, "count": count})
        }),
        1 => name().prop_map(|name| json!({"command": "remove_species", "name": name})),
        1 => proptest::sample::select(vec!["pool", "bare", "nowhere"])
            .prop_map(|name| json!({"command": "switch_scene", "name": name})),
        2 => (name(), place()).prop_map(|(species, at)| match at {
            Some(at) => json!({"command": "add_individual", "species": species, "position_m": at}),
            None => json!({"command": "add_individual", "species": species}),
        }),
        2 => (0u32..80).prop_map(|id| json!({"command": "remove_individual", "id": id})),
        2 => (0u32..80, name(), 0.0f32..0.2).prop_map(|(id, name, secs)| {
            json!({"command": "override_mind", "id": id, "mind": {"of": "species", "name": name}, "secs": secs})
        }),
        1 => (0u32..80, value()).prop_map(|(id, need)| {
            json!({"command": "override_mind", "id": id, "mind": {"of": "needs", "needs": [need]}, "secs": 1})
        }),
        1 => (name(), any::<bool>()).prop_map(|(species, on)| {
            json!({"command": "director", "event": {"event": "hunting", "species": species, "on": on}})
        }),
        1 => prop::array::uniform3(-3.0f32..3.0).prop_map(|at| {
            json!({"command": "director", "event": {"event": "gather", "point_m": at}})
        }),
        1 => proptest::sample::select(vec!["stop_gathering", "calm"])
            .prop_map(|event| json!({"command": "director", "event": {"event": event}})),
        1 => (name(), -9.0f32..9.0).prop_map(|(species, value)| {
            json!({"command": "director", "event": {"event": "set_need", "species": species, "need": "hunt", "value": value}})
        }),
        1 => proptest::sample::select(vec![
            "title = 'Taken over'\n[population]\ntrout = 9\n",
            "[pool]\nground_depth_m = 0.1\n",
            "[population\ntrout = 9\n",
            "",
        ]).prop_map(|text| json!({"command": "take_over", "documents": [
            {"document": document("scene:pool"), "text": text}, {"document": document("scene:bare")}]})),
        4 => Just(json!({"command": "undo"})),
        2 => Just(json!({"command": "redo"})),
        1 => Just(json!({"command": "save"})),
        1 => Just(json!({"command": "revert"})),
    ]
}

fn check(pool: &Pool, after: &Value) {
    let world = pool.simulation.world();
    for (index, body) in world.agents.bodies.iter().enumerate() {
        assert!(body.is_finite(), "agent {index} after {after}");
        assert!(
            body.quarantine_count == 0,
            "agent {index} was not finite after {after}"
        );
    }
    let ids = &world.agents.ids;
    assert!(ids.is_sorted_by(|a, b| a < b), "ids after {after}");
    let site = pool.desk.editor().site();
    for species in &site.species {
        assert_eq!(
            pool.count(&species.name),
            species.count as usize,
            "{} after {after}",
            species.name
        );
    }
    let living: u32 = site.species.iter().map(|s| s.count).sum();
    assert_eq!(ids.len(), living as usize, "after {after}");
}

/// Sends all commands, then undoes everything. Returns the number of accepted commands.
fn run_and_undo(commands: &[Value]) -> usize {
    let mut pool = Pool::new();
    pool.visitor(glam::Vec2::new(0.5, 0.2), 0.0);
    let (texts, configured) = (pool.texts(), pool.configured());
    let mut accepted = 0;
    for command in commands {
        let (before, was) = (pool.texts(), pool.configured());
        match pool.try_command(command.clone()) {
            Ok(()) => accepted += 1,
            Err(problems) => {
                assert!(!problems.0.is_empty());
                assert_eq!(
                    pool.texts(),
                    before,
                    "the command was rejected, but a document changed: {command}"
                );
                assert_eq!(
                    pool.configured(),
                    was,
                    "the command was rejected, but the pool changed: {command}"
                );
            }
        }
        check(&pool, command);
        pool.run(2);
        check(&pool, command);
    }
    while pool.try_command(json!({"command": "undo"})).is_ok() {
        check(&pool, &json!("undo"));
        pool.step();
    }
    assert_eq!(
        pool.desk.editor().undo_depths().0,
        0,
        "not everything could be undone"
    );
    assert_eq!(pool.texts(), texts);
    assert_eq!(pool.configured(), configured);
    accepted
}

#[test]
fn random_commands_keep_the_pool_valid_and_can_be_undone() {
    let config = ProptestConfig::default();
    let is_given = std::env::var_os("PROPTEST_CASES").is_some();
    let config = ProptestConfig {
        cases: if is_given { config.cases } else { 48 },
        ..config
    };
    let (sent, accepted) = (Cell::new(0), Cell::new(0));
    TestRunner::new(config)
        .run(&prop::collection::vec(command(), 1..40), |commands| {
            sent.set(sent.get() + commands.len());
            accepted.set(accepted.get() + run_and_undo(&commands));
            Ok(())
        })
        .unwrap();
    let (sent, accepted) = (sent.get(), accepted.get());
    eprintln!("{accepted} of {sent} commands were accepted");
    assert!(
        accepted * 4 > sent,
        "only {accepted} of {sent} commands were accepted, too few to test edits"
    );
    assert!(accepted < sent, "no command was rejected");
}
