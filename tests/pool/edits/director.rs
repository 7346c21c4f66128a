//! Tests of edits of the director's rules and of single individuals in a running pool.

use glam::Vec2;
use serde_json::json;
use shoal::world::Body;
use shoal_testing::assert_message;

use super::check_edit;
use crate::desk::{Pool, set};

fn named(pool: &Pool) -> Vec<(u32, String)> {
    let world = pool.simulation.world();
    let kinds = world.agents.ids.iter().zip(&world.agents.species);
    kinds
        .filter_map(|(id, kind)| Some((*id, world.species[usize::from(*kind)].individual.clone()?)))
        .collect()
}

#[test]
fn rules_can_be_edited_started_and_undone() {
    let mut pool = Pool::new();
    let names = |pool: &Pool| -> Vec<String> {
        pool.simulation
            .rules()
            .map(|(rule, _)| rule.name.clone())
            .collect()
    };
    let before = names(&pool);
    assert!(before.contains(&"send the shark".to_owned()), "{before:?}");
    pool.edit("scene:pool", "director", json!({"do": "insert", "value": {
        "name": "to the left", "when": {"condition": "by_hand"}, "hold_secs": 5.0,
        "then": {"effect": "gather", "species": ["salmon"], "point_m": [-1.5, -0.7, 0.0], "weight": 9.0}}}));
    pool.step();
    assert_eq!(names(&pool).last().unwrap(), "to the left");
    pool.command(
        json!({"command": "director", "event": {"event": "start", "rule": "to the left"}}),
    );
    pool.run(2);
    let wanted = |pool: &Pool| -> usize {
        pool.simulation
            .world()
            .director
            .by_rules
            .iter()
            .flatten()
            .count()
    };
    assert_eq!(wanted(&pool), 1);
    pool.set("scene:pool", "director[0].for_secs", json!(33.0));
    pool.run(2);
    assert_eq!(pool.simulation.rules().next().unwrap().0.for_secs, 33.0);
    assert_eq!(wanted(&pool), 1, "an unchanged rule keeps running");
    let rejected =
        pool.try_command(json!({"command": "director", "event": {"event": "start", "rule": "x"}}));
    assert_message(
        rejected.unwrap_err(),
        &["there is no rule \"x\"; existing: "],
    );
    let rejected = pool.try_command(set(
        "scene:pool",
        "director[0].then.effect",
        json!("explode"),
    ));
    assert!(rejected.is_err());
    pool.command(json!({"command": "undo"}));
    pool.command(json!({"command": "undo"}));
    pool.step();
    assert_eq!(names(&pool), before);
    assert_eq!(wanted(&pool), 0, "its rule was removed");
}

#[test]
fn individuals_can_be_named_and_unnamed() {
    let mut pool = Pool::new();
    let count = pool.count("trout");
    assert_eq!(named(&pool), []);
    pool.edit("scene:pool", "individuals", json!({"do": "insert", "value": {
        "name": "Ida", "species": "trout", "relations": {"enemy": []}, "position_m": [0.5, -0.6, 0.2]}}));
    pool.run(3);
    let ida = named(&pool);
    assert_eq!(ida.len(), 1);
    // The named individual counts in the population.
    assert_eq!(pool.count("trout"), count);
    pool.set("scene:pool", "individuals[0].groups", json!(["elders"]));
    pool.run(3);
    assert_eq!(named(&pool), ida, "the individual keeps its id");
    pool.set("scene:pool", "population.trout", json!(0));
    pool.run(3);
    assert_eq!((pool.count("trout"), named(&pool).len()), (0, 0));
    for _ in 0..3 {
        pool.command(json!({"command": "undo"}));
        pool.run(2);
    }
    assert_eq!((pool.count("trout"), named(&pool).len()), (count, 0));
}

#[test]
fn director_events_apply_and_end() {
    let mut pool = Pool::new();
    let gather = json!({"command": "director", "event": {"event": "gather", "point_m": [0.5, -0.6, 0.0], "weight": 3.0}});
    check_edit(
        &mut pool,
        gather,
        |p| p.doing("herring", "seek") == 0,
        |p| p.doing("herring", "seek") > 0,
    );
    let hunt = json!({"command": "director", "event": {"event": "hunting", "species": "shark", "on": true}});
    let hunts = |p: &mut Pool| p.simulation.active_need(p.all("shark")[0]) == "hunt";
    check_edit(&mut pool, hunt, |p| !hunts(p), hunts);
    let set = json!({"command": "director", "event": {"event": "set_need", "species": "shark", "need": "hunt", "value": 5.0}});
    let depths = pool.desk.editor().undo_depths();
    pool.command(set);
    pool.step();
    assert!(hunts(&mut pool));
    // A momentary event cannot be undone.
    assert_eq!(pool.desk.editor().undo_depths(), depths);
    // A scare raises the allowed speed of the fish, and the event `calm` lets it fall to the cruise speed.
    pool.visitor(Vec2::ZERO, 0.0);
    pool.run(30);
    let hurried = |p: &Pool| {
        let world = p.simulation.world();
        let bodies = world.agents.bodies.iter().zip(&world.agents.species);
        let is_fast = |(body, kind): &(&Body, &u16)| {
            body.boost.flees
                && body.boost.allowed_mps
                    > world.species[usize::from(**kind)].motion.cruise_mps * 1.2
        };
        bodies.filter(is_fast).count()
    };
    let hurried_before = hurried(&pool);
    assert!(hurried_before > 0);
    pool.visitors.shadows.clear();
    pool.command(json!({"command": "director", "event": {"event": "hunting", "on": false}}));
    pool.command(json!({"command": "director", "event": {"event": "calm"}}));
    pool.run(120);
    let left = hurried(&pool);
    assert!(left * 3 <= hurried_before, "{left} of {hurried_before}");
}
