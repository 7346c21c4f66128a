//! Tests of edits of the population, the obstacles and the scene in a running pool.

use glam::Vec3;
use serde_json::json;
use shoal::control::DocumentName;
use shoal::world::Body;

use super::{check_edit, check_value};
use crate::desk::{Pool, edit, set};

#[test]
fn quantities_and_individuals() {
    let mut pool = Pool::new();
    pool.run(5);
    let ids = pool.simulation.world().agents.ids.clone();
    let more = set("scene:pool", "population.herring", json!(45));
    check_value(&mut pool, more, |p| p.count("herring"), [40, 45]);
    let fewer = set("scene:pool", "population.herring", json!(3));
    pool.command(fewer);
    pool.step();
    assert_eq!(pool.count("herring"), 3);
    pool.command(json!({"command": "undo"}));
    assert_eq!(pool.count("herring"), 40, "undo restores the population");
    let others = |p: &Pool| {
        let herrings: Vec<u32> = p.all("herring").iter().map(|&i| p.id(i)).collect();
        let mut ids = p.simulation.world().agents.ids.clone();
        ids.retain(|id| !herrings.contains(id));
        ids
    };
    let kept: Vec<u32> = others(&pool);
    // The other individuals keep their ids.
    assert!(kept.iter().all(|id| ids.contains(id)));
    let at = json!([0.1, -0.6, 0.2]);
    let add = json!({"command": "add_individual", "species": "trout", "position_m": at});
    let next = pool.simulation.world().agents.ids.iter().max().unwrap() + 1;
    check_value(&mut pool, add, |p| p.count("trout"), [6, 7]);
    // Undo removes the added individual.
    assert!(pool.index(next).is_none());
    pool.command(json!({"command": "add_individual", "species": "trout", "position_m": at}));
    let newest = *pool.simulation.world().agents.ids.iter().max().unwrap();
    assert!(newest > next, "an id is never used twice");
    let body = &pool.simulation.world().agents.bodies[pool.index(newest).unwrap()];
    assert!(body.position_m.distance(Vec3::new(0.1, -0.6, 0.2)) < 1e-5);
    let first = pool.id(pool.all("salmon")[0]);
    pool.command(json!({"command": "remove_individual", "id": first}));
    assert!(pool.index(first).is_none());
    assert_eq!(pool.count("salmon"), 11);
    pool.command(json!({"command": "undo"}));
    assert_eq!(pool.count("salmon"), 12);
}

#[test]
fn new_individuals_appear_outside_the_visible_area() {
    let mut pool = Pool::new();
    pool.run(2);
    let before = pool.simulation.world().agents.ids.clone();
    pool.set("scene:pool", "population.herring", json!(60));
    let world = pool.simulation.world();
    for (id, body) in world.agents.ids.iter().zip(&world.agents.bodies) {
        if !before.contains(id) {
            let is_seen = world.water.is_visible(body.position_m, 0.0);
            assert!(!is_seen && body.teleported, "{body:?}");
        }
    }
}

#[test]
fn naming_an_individual_does_not_replace_it() {
    let mut pool = Pool::new();
    pool.run(30);
    let living = |p: &Pool| p.simulation.world().agents.ids.clone();
    let named = |p: &Pool| {
        let world = p.simulation.world();
        let kinds = &world.agents.species;
        let is_nemo =
            |kind: &u16| world.species[usize::from(*kind)].individual.as_deref() == Some("Nemo");
        kinds.iter().position(is_nemo)
    };
    let before = living(&pool);
    let bodies = pool.simulation.world().agents.bodies.clone();
    let name = set(
        "scene:pool",
        "individuals",
        json!([{"name": "Nemo", "species": "herring"}]),
    );
    pool.command(name);
    assert_eq!(living(&pool), before, "no individual was added or removed");
    let nemo = named(&pool).unwrap();
    let body = &pool.simulation.world().agents.bodies[nemo];
    assert_eq!(body.position_m, bodies[nemo].position_m);
    assert!(!body.teleported);
    pool.run(2);
    pool.command(json!({"command": "undo"}));
    // Undo removes the name, not the individual.
    assert_eq!(living(&pool), before);
    assert_eq!(named(&pool), None);
}

#[test]
fn species_can_be_added_and_removed() {
    let mut pool = Pool::new();
    let add = json!({"command": "add_species", "name": "zander", "like": "trout", "count": 4});
    check_value(&mut pool, add.clone(), |p| p.count("zander"), [0, 4]);
    pool.command(add);
    pool.run(3);
    pool.set("species:zander", "body.radius_m", json!(0.2));
    let name = "zander".into();
    let text = pool.desk.editor().text(&DocumentName::Species { name });
    // The copy keeps the comments.
    assert!(text.unwrap().contains("# Trout: lives among rocks"));
    let remove = json!({"command": "remove_species", "name": "zander"});
    check_value(&mut pool, remove, |p| p.count("zander"), [4, 0]);
    let trout = json!({"command": "remove_species", "name": "trout"});
    check_value(&mut pool, trout, |p| p.count("trout"), [6, 0]);
}

#[test]
fn obstacles_can_be_added_moved_and_removed() {
    let mut pool = Pool::new();
    let rocks = pool.simulation.world().solids.len();
    let shark = pool.all("shark")[0];
    let rock_at = |at: Vec3| json!({"shape": "sphere", "center_m": at.to_array(), "radius_m": 0.3});
    // The new obstacle covers the shark. The shark has to swim out of it.
    pool.place(shark, Vec3::new(0.0, -0.7, 0.0));
    let add = edit(
        "scene:pool",
        "obstacles",
        json!({"do": "insert", "value": rock_at(Vec3::new(0.1, -0.7, 0.0))}),
    );
    let all_outside = |p: &mut Pool| {
        let world = p.simulation.world();
        let mut bodies = world.agents.bodies.iter();
        let is_outside = |b: &Body| {
            let mut solids = world.solids.iter();
            solids.all(|s| s.signed_distance_m(b.position_m) > -1e-4)
        };
        bodies.all(is_outside)
    };
    check_edit(
        &mut pool,
        add,
        |p| p.simulation.world().solids.len() == rocks,
        |p| {
            p.run(600);
            p.simulation.world().solids.len() == rocks + 1 && all_outside(p)
        },
    );
    let center = |p: &Pool| p.simulation.world().solids[0].center_m();
    let shift = set("scene:pool", "obstacles[0].center_m[0]", json!(1.0));
    check_edit(
        &mut pool,
        shift,
        move |p| center(p).x < 0.0,
        move |p| center(p).x == 1.0,
    );
    let remove = edit("scene:pool", "obstacles[0]", json!({"do": "remove"}));
    check_value(
        &mut pool,
        remove,
        |p| p.simulation.world().solids.len(),
        [rocks, rocks - 1],
    );
    let shallow = set("scene:pool", "pool.ground_depth_m", json!(0.7));
    check_edit(
        &mut pool,
        shallow,
        |p| p.simulation.world().water.params.ground_depth_m == 1.2,
        |p| {
            p.run(600);
            let mut bodies = p.simulation.world().agents.bodies.iter();
            bodies.all(|b| b.position_m.y > -0.71)
        },
    );
}

#[test]
fn scenes_are_switched() {
    let mut pool = Pool::new();
    let first = pool.id(pool.all("herring")[0]);
    let switch = json!({"command": "switch_scene", "name": "bare"});
    check_edit(
        &mut pool,
        switch,
        |p| p.count("shark") == 1 && p.count("herring") == 40,
        |p| {
            let counts = (p.count("shark"), p.count("herring"));
            counts == (0, 5) && p.simulation.world().solids.is_empty()
        },
    );
    // Individuals of species in both scenes stay.
    assert!(pool.index(first).is_some());
    assert_eq!(pool.desk.document_status(0).scene, "pool");
}
