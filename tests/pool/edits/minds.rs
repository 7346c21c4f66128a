//! Tests of edits of needs, actions, relations and species parameters in a running pool.

use glam::Vec3;
use serde_json::json;

use super::{alone, check_edit, check_value, herring_and_visitor};
use crate::desk::{Pool, document, edit, set};

#[test]
fn a_parameter_applies_at_the_next_tick() {
    let (mut pool, _) = herring_and_visitor();
    let change = set(
        "species:herring",
        "actions.evade_shadow.flee_distance_m",
        json!(-5),
    );
    check_value(
        &mut pool,
        change,
        |p| p.does(alone(p), "evade_shadow"),
        [true, false],
    );
}

#[test]
fn a_weight_of_zero_switches_an_action_off() {
    let (mut pool, _) = herring_and_visitor();
    let change = set("species:herring", "actions.evade_shadow.weight", json!(0));
    check_value(
        &mut pool,
        change,
        |p| p.does(alone(p), "evade_shadow"),
        [true, false],
    );
}

#[test]
fn needs_are_added_reordered_and_removed() {
    let (mut pool, _) = herring_and_visitor();
    let need_is =
        |name: &'static str| move |p: &mut Pool| p.simulation.active_need(alone(p)) == name;
    let dream = json!({"name": "dream", "type": "default", "actions": ["wander"]});
    let add = edit(
        "species:herring",
        "needs",
        json!({"do": "insert", "index": 0, "value": dream}),
    );
    check_edit(&mut pool, add, need_is("survive"), need_is("dream"));
    let needs = pool.desk.editor().site().species[0].file.needs.len();
    let last = format!("needs[{}]", needs - 1);
    let roam_first = edit("species:herring", &last, json!({"do": "move", "to": 0}));
    check_edit(&mut pool, roam_first, need_is("survive"), need_is("roam"));
    let without = edit("species:herring", "needs[0]", json!({"do": "remove"}));
    check_edit(&mut pool, without, need_is("survive"), |p| {
        p.simulation.active_need(alone(p)) != "survive"
    });
}

#[test]
fn actions_are_added_named_in_a_need_and_removed() {
    let (mut pool, _) = herring_and_visitor();
    let add = json!({"command": "edit", "edits": [
        {"document": document("species:herring"), "path": "actions.stroll",
         "change": {"do": "set", "value": {"action": "wander", "weight": 2}}},
        {"document": document("species:herring"), "path": "needs[0].actions",
         "change": {"do": "insert", "index": 0, "value": "stroll"}}]});
    check_edit(
        &mut pool,
        add,
        |p| p.does(alone(p), "evade_shadow"),
        |p| p.does(alone(p), "stroll"),
    );
    let swap = edit(
        "species:herring",
        "needs[0].actions[0]",
        json!({"do": "remove"}),
    );
    check_value(
        &mut pool,
        swap,
        |p| p.does(alone(p), "evade_shadow"),
        [true, false],
    );
}

#[test]
fn relations_change_which_agents_are_fled_from() {
    let mut pool = Pool::new();
    pool.set(
        "scene:pool",
        "population",
        json!({"herring": 1, "salmon": 1}),
    );
    // A flight has no shortest time, so that each change shows at the next tick.
    pool.set("species:herring", "needs[0].minimum_secs", json!(0));
    pool.set("scene:pool", "obstacles", json!([]));
    let meet = |p: &mut Pool| {
        let (herring, salmon) = (p.all("herring")[0], p.all("salmon")[0]);
        p.place(herring, Vec3::new(0.0, -0.7, 0.0));
        // A salmon never hunts, so the herring fears it less than a hunter.
        p.place(salmon, Vec3::new(0.18, -0.7, 0.0));
        p.step();
        p.does(herring, "flee_enemy")
    };
    let enemies = pool.desk.editor().site().species[0].file.relations["enemy"].len();
    let add = edit(
        "species:herring",
        "relations.enemy",
        json!({"do": "insert", "value": "salmon"}),
    );
    check_edit(&mut pool, add.clone(), |p| !meet(p), meet);
    // The relation is removed while the herring flees.
    pool.command(add);
    assert!(meet(&mut pool));
    let remove = edit(
        "species:herring",
        &format!("relations.enemy[{enemies}]"),
        json!({"do": "remove"}),
    );
    check_edit(&mut pool, remove, meet, |p| !meet(p));
    pool.set("species:herring", "relations", json!({}));
    // The agent seen last is no longer an enemy.
    assert!(!meet(&mut pool));
}

#[test]
fn species_parameters_apply_at_the_next_tick() {
    let mut pool = Pool::new();
    let index = pool.all("shark")[0];
    let id = pool.id(index);
    let change = set(
        "species:shark",
        "motion",
        json!({"cruise_mps": 0.05, "boost_mps": 0.05, "min_speed_mps": 0.0}),
    );
    let speed = move |p: &mut Pool| {
        let index = p.index(id).unwrap();
        let body = &p.simulation.world().agents.bodies[index];
        body.velocity_mps.length()
    };
    check_edit(
        &mut pool,
        change,
        |p| {
            p.run(120);
            speed(p) > 0.1
        },
        |p| {
            // The shark brakes with its own force.
            p.run(30);
            speed(p) <= 0.0501
        },
    );
    let radius = pool.simulation.world().agents.radii_m[index];
    let thick = set("species:shark", "body.radius_m", json!(0.5));
    check_edit(
        &mut pool,
        thick,
        |p| p.simulation.world().agents.radii_m[p.index(id).unwrap()] == radius,
        |p| p.simulation.world().agents.radii_m[p.index(id).unwrap()] > 0.4,
    );
}

#[test]
fn the_mind_of_one_individual_can_be_overridden() {
    let (mut pool, id) = herring_and_visitor();
    // The override has a need that the herring does not have.
    let brave = json!({"command": "override_mind", "id": id, "secs": 0.5, "mind": {"of": "needs", "needs": [
        {"name": "dream", "type": "default", "actions": ["wander"]}]}});
    let dreams = move |p: &mut Pool| p.simulation.active_need(p.index(id).unwrap()) == "dream";
    check_edit(&mut pool, brave.clone(), move |p| !dreams(p), dreams);
    pool.command(brave);
    pool.run(30);
    assert!(dreams(&mut pool), "half a second is thirty ticks");
    pool.step();
    // After it, the individual has its own mind again.
    assert!(!dreams(&mut pool));
    pool.command(json!({"command": "override_mind", "id": id, "secs": 5, "mind": {"of": "species", "name": "shark"}}));
    pool.step();
    // An edit of the individual's species does not end the override.
    pool.set("species:herring", "actions.wander.weight", json!(4));
    pool.set("scene:pool", "population.trout", json!(2));
    pool.run(2);
    let need = (pool.simulation.active_need(pool.index(id).unwrap())).to_owned();
    let mut species = pool.desk.editor().site().species.iter();
    assert!(species.all(|s| s.name != "shark"));
    pool.command(json!({"command": "remove_individual", "id": id}));
    pool.run(400);
    assert!(!need.is_empty());
}

#[test]
fn an_edit_keeps_the_memory_of_agents() {
    let mut pool = Pool::new();
    pool.command(json!({"command": "director", "event": {"event": "hunting", "species": "shark", "on": true}}));
    pool.step();
    let hunts = |p: &Pool| p.simulation.active_need(p.all("shark")[0]) == "hunt";
    assert!(hunts(&pool));
    pool.set("species:shark", "actions.wander.weight", json!(2.5));
    pool.set(
        "species:shark",
        "actions.another",
        json!({"action": "wander"}),
    );
    pool.step();
    // An edit elsewhere does not switch hunting off.
    assert!(hunts(&pool));
}

#[test]
fn factors_for_the_room_change_all_fish_at_once() {
    let mut pool = Pool::new();
    let kinds = ["shark", "herring", "trout"].map(|name| (name, pool.all(name)[0]));
    let of = |p: &mut Pool| {
        let world = p.simulation.world();
        kinds.map(|(_, index)| {
            let species = &world.species[usize::from(world.agents.species[index])];
            let motion = &species.motion;
            [
                world.agents.radii_m[index],
                species.body.length_m,
                motion.boost_mps,
                motion.max_turn_rate_dps,
            ]
        })
    };
    let before = of(&mut pool);
    let factors = json!({"size": 2.0, "speed": 0.5, "agility": 4.0});
    let after = before
        .map(|[radius, length, boost, turn]| [2.0 * radius, 2.0 * length, 0.5 * boost, 4.0 * turn]);
    check_value(&mut pool, set("site", "fish", factors), of, [before, after]);
    let look = &pool.desk.editor().site().species[0].file.look;
    let drawn_m = look.length_m;
    pool.command(set("site", "fish.size", json!(2.0)));
    let look = &pool.desk.editor().site().species[0].file.look;
    assert_eq!(look.length_m, 2.0 * drawn_m);
}
