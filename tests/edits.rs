//! Everything can be changed while the pool lives: each kind of change is seen in what the fish do at the next tick, is
//! taken back, and leaves configuration and documents as before.

#![allow(
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests may"
)]

mod desk;

use desk::{Pool, document, edit};
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use shoal::control::DocumentName;

/// Makes a change, looks, takes it back, looks again, makes it again, takes it back again.
fn shown(
    pool: &mut Pool,
    change: Value,
    before: impl Fn(&mut Pool) -> bool,
    after: impl Fn(&mut Pool) -> bool,
) {
    let (texts, configured) = (pool.texts(), pool.configured());
    let unsaved = pool.desk.editor().unsaved();
    pool.step();
    assert!(before(pool), "before: {change}");
    pool.tell(change.clone());
    pool.step();
    assert!(after(pool), "after: {change}");
    let changed = pool.texts();
    pool.tell(json!({"command": "undo"}));
    assert_eq!(pool.texts(), texts, "documents after undo: {change}");
    assert_eq!(
        pool.configured(),
        configured,
        "the pool after undo: {change}"
    );
    assert_eq!(pool.desk.editor().unsaved(), unsaved);
    pool.step();
    assert!(before(pool), "undone: {change}");
    pool.tell(json!({"command": "redo"}));
    assert_eq!(pool.texts(), changed, "documents after redo: {change}");
    pool.step();
    assert!(after(pool), "redone: {change}");
    pool.tell(json!({"command": "undo"}));
    assert_eq!(pool.texts(), texts);
    assert_eq!(pool.configured(), configured);
}

/// A pool with one herring right before a visitor who moves, far from every shark.
fn herring_and_visitor() -> (Pool, u32) {
    let mut pool = Pool::new();
    pool.set("scene:pool", "population", json!({"herring": 1}));
    let herring = pool.all("herring")[0];
    pool.place(herring, Vec3::new(0.3, -0.7, 0.0));
    pool.visitor(Vec2::new(-0.3, 0.0), 0.0);
    let id = pool.id(herring);
    (pool, id)
}

fn alone(pool: &Pool) -> usize {
    pool.all("herring")[0]
}

#[test]
fn a_parameter_counts_at_the_next_tick() {
    let (mut pool, _) = herring_and_visitor();
    let set = edit(
        "species:herring",
        "actions.evade_shadow.flee_distance_m",
        json!({"do": "set", "value": -5}),
    );
    shown(
        &mut pool,
        set,
        |p| p.does(alone(p), "evade_shadow"),
        |p| !p.does(alone(p), "evade_shadow"),
    );
}

#[test]
fn a_weight_of_zero_switches_an_action_off() {
    let (mut pool, _) = herring_and_visitor();
    let set = edit(
        "species:herring",
        "actions.evade_shadow.weight",
        json!({"do": "set", "value": 0}),
    );
    shown(
        &mut pool,
        set,
        |p| p.does(alone(p), "evade_shadow"),
        |p| !p.does(alone(p), "evade_shadow"),
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
    shown(&mut pool, add, need_is("survive"), need_is("dream"));
    let needs = pool.desk.editor().site().species[0].file.needs.len();
    let last = format!("needs[{}]", needs - 1);
    let roam_first = edit("species:herring", &last, json!({"do": "move", "to": 0}));
    shown(&mut pool, roam_first, need_is("survive"), need_is("roam"));
    let without = edit("species:herring", "needs[0]", json!({"do": "remove"}));
    shown(&mut pool, without, need_is("survive"), |p| {
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
    shown(
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
    shown(
        &mut pool,
        swap,
        |p| p.does(alone(p), "evade_shadow"),
        |p| !p.does(alone(p), "evade_shadow"),
    );
}

#[test]
fn relations_change_who_is_fled_from() {
    let mut pool = Pool::new();
    pool.set(
        "scene:pool",
        "population",
        json!({"herring": 1, "salmon": 1}),
    );
    pool.set("scene:pool", "obstacles", json!([]));
    let meet = |p: &mut Pool| {
        let (herring, salmon) = (p.all("herring")[0], p.all("salmon")[0]);
        p.place(herring, Vec3::new(0.0, -0.7, 0.0));
        p.place(salmon, Vec3::new(0.4, -0.7, 0.0));
        p.step();
        p.does(herring, "flee_enemy")
    };
    let enemies = pool.desk.editor().site().species[0].file.relations["enemy"].len();
    let add = edit(
        "species:herring",
        "relations.enemy",
        json!({"do": "insert", "value": "salmon"}),
    );
    shown(&mut pool, add.clone(), |p| !meet(p), meet);
    // And away again while it is being fled from.
    pool.tell(add);
    assert!(meet(&mut pool));
    let remove = edit(
        "species:herring",
        &format!("relations.enemy[{enemies}]"),
        json!({"do": "remove"}),
    );
    shown(&mut pool, remove, meet, |p| !meet(p));
    pool.set("species:herring", "relations", json!({}));
    assert!(!meet(&mut pool), "whom it saw last is no enemy any more");
}

#[test]
fn species_numbers_count_at_the_next_tick() {
    let mut pool = Pool::new();
    let index = pool.all("shark")[0];
    let id = pool.id(index);
    let set = edit(
        "species:shark",
        "motion",
        json!({"do": "set", "value": {"cruise_mps": 0.05, "boost_mps": 0.05, "min_speed_mps": 0.0}}),
    );
    let speed = move |p: &mut Pool| {
        let index = p.index(id).unwrap();
        p.simulation.world().agents.bodies[index]
            .velocity_mps
            .length()
    };
    shown(
        &mut pool,
        set,
        |p| {
            p.run(120);
            speed(p) > 0.1
        },
        |p| speed(p) <= 0.0501,
    );
    let radius = pool.simulation.world().agents.radii_m[index];
    let thick = edit(
        "species:shark",
        "body.radius_m",
        json!({"do": "set", "value": 0.5}),
    );
    shown(
        &mut pool,
        thick,
        |p| p.simulation.world().agents.radii_m[p.index(id).unwrap()] == radius,
        |p| p.simulation.world().agents.radii_m[p.index(id).unwrap()] > 0.4,
    );
}

#[test]
fn quantities_and_individuals() {
    let mut pool = Pool::new();
    pool.run(5);
    let ids = pool.simulation.world().agents.ids.clone();
    let more = edit(
        "scene:pool",
        "population.herring",
        json!({"do": "set", "value": 45}),
    );
    shown(
        &mut pool,
        more,
        |p| p.count("herring") == 40,
        |p| p.count("herring") == 45,
    );
    let fewer = edit(
        "scene:pool",
        "population.herring",
        json!({"do": "set", "value": 3}),
    );
    pool.tell(fewer);
    pool.step();
    assert_eq!(pool.count("herring"), 3);
    pool.tell(json!({"command": "undo"}));
    assert_eq!(pool.count("herring"), 40, "as many as before");
    let others = |p: &Pool| {
        let herrings: Vec<u32> = p.all("herring").iter().map(|&i| p.id(i)).collect();
        let mut ids = p.simulation.world().agents.ids.clone();
        ids.retain(|id| !herrings.contains(id));
        ids
    };
    let kept: Vec<u32> = others(&pool);
    assert!(
        kept.iter().all(|id| ids.contains(id)),
        "the others stay who they are"
    );
    let at = json!([0.1, -0.6, 0.2]);
    let add = json!({"command": "add_individual", "species": "trout", "position_m": at});
    let next = pool.simulation.world().agents.ids.iter().max().unwrap() + 1;
    shown(
        &mut pool,
        add,
        |p| p.count("trout") == 6,
        |p| p.count("trout") == 7,
    );
    assert!(
        pool.index(next).is_none(),
        "who was added is taken out again"
    );
    pool.tell(json!({"command": "add_individual", "species": "trout", "position_m": at}));
    let newest = *pool.simulation.world().agents.ids.iter().max().unwrap();
    assert!(newest > next, "an id is never given twice");
    let body = &pool.simulation.world().agents.bodies[pool.index(newest).unwrap()];
    assert!(body.position_m.distance(Vec3::new(0.1, -0.6, 0.2)) < 1e-5);
    let first = pool.id(pool.all("salmon")[0]);
    pool.tell(json!({"command": "remove_individual", "id": first}));
    assert!(pool.index(first).is_none());
    assert_eq!(pool.count("salmon"), 11);
    pool.tell(json!({"command": "undo"}));
    assert_eq!(pool.count("salmon"), 12);
}

#[test]
fn who_comes_while_the_pool_lives_comes_from_out_of_sight() {
    let mut pool = Pool::new();
    pool.run(2);
    let before = pool.simulation.world().agents.ids.clone();
    pool.set("scene:pool", "population.herring", json!(60));
    let world = pool.simulation.world();
    for (id, body) in world.agents.ids.iter().zip(&world.agents.bodies) {
        if !before.contains(id) {
            assert!(
                !world.water.is_in_sight(body.position_m, 0.0),
                "{:?}",
                body.position_m
            );
            assert!(body.teleported);
        }
    }
}

#[test]
fn who_is_given_a_name_is_there_already_and_stays_when_it_is_taken_away() {
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
    let places: Vec<Vec3> = pool
        .simulation
        .world()
        .agents
        .bodies
        .iter()
        .map(|b| b.position_m)
        .collect();
    let name = edit(
        "scene:pool",
        "individuals",
        json!({"do": "set", "value": [{"name": "Nemo", "species": "herring"}]}),
    );
    pool.tell(name);
    assert_eq!(living(&pool), before, "nobody came and nobody went");
    let nemo = named(&pool).expect("one bears the name");
    assert_eq!(
        pool.simulation.world().agents.bodies[nemo].position_m,
        places[nemo]
    );
    assert!(!pool.simulation.world().agents.bodies[nemo].teleported);
    pool.run(2);
    pool.tell(json!({"command": "undo"}));
    assert_eq!(living(&pool), before, "all are nameless again");
    assert_eq!(named(&pool), None);
}

#[test]
fn species_come_and_go() {
    let mut pool = Pool::new();
    let add = json!({"command": "add_species", "name": "koi", "like": "trout", "count": 4});
    shown(
        &mut pool,
        add.clone(),
        |p| p.count("koi") == 0,
        |p| p.count("koi") == 4,
    );
    pool.tell(add);
    pool.run(3);
    pool.set("species:koi", "body.radius_m", json!(0.2));
    let text = pool
        .desk
        .editor()
        .text(&DocumentName::Species { name: "koi".into() })
        .unwrap();
    assert!(
        text.contains("# Lives among the rocks"),
        "a copy with its comments"
    );
    let remove = json!({"command": "remove_species", "name": "koi"});
    shown(
        &mut pool,
        remove,
        |p| p.count("koi") == 4,
        |p| p.count("koi") == 0,
    );
    let trout = json!({"command": "remove_species", "name": "trout"});
    shown(
        &mut pool,
        trout,
        |p| p.count("trout") == 6,
        |p| p.count("trout") == 0,
    );
}

#[test]
fn obstacles_come_move_and_go() {
    let mut pool = Pool::new();
    let rocks = pool.simulation.world().solids.len();
    let shark = pool.all("shark")[0];
    let rock_at = |at: Vec3| json!({"shape": "sphere", "center_m": at.to_array(), "radius_m": 0.3});
    // Right on the shark, which then has to swim out.
    pool.place(shark, Vec3::new(0.0, -0.7, 0.0));
    let add = edit(
        "scene:pool",
        "obstacles",
        json!({"do": "insert", "value": rock_at(Vec3::new(0.1, -0.7, 0.0))}),
    );
    let nobody_inside = |p: &mut Pool| {
        let world = p.simulation.world();
        let mut bodies = world.agents.bodies.iter();
        bodies.all(|b| {
            world
                .solids
                .iter()
                .all(|s| s.signed_distance_m(b.position_m) > -1e-4)
        })
    };
    shown(
        &mut pool,
        add,
        |p| p.simulation.world().solids.len() == rocks,
        |p| {
            p.run(600);
            p.simulation.world().solids.len() == rocks + 1 && nobody_inside(p)
        },
    );
    let center = |p: &Pool| p.simulation.world().solids[0].center_m();
    let shift = edit(
        "scene:pool",
        "obstacles[0].center_m[0]",
        json!({"do": "set", "value": 1.0}),
    );
    shown(
        &mut pool,
        shift,
        move |p| center(p).x < 0.0,
        move |p| center(p).x == 1.0,
    );
    let remove = edit("scene:pool", "obstacles[0]", json!({"do": "remove"}));
    shown(
        &mut pool,
        remove,
        |p| p.simulation.world().solids.len() == rocks,
        |p| p.simulation.world().solids.len() == rocks - 1,
    );
    let shallow = edit(
        "scene:pool",
        "pool.ground_depth_m",
        json!({"do": "set", "value": 0.7}),
    );
    shown(
        &mut pool,
        shallow,
        |p| p.simulation.world().water.params.ground_depth_m == 1.2,
        |p| {
            p.run(200);
            p.simulation
                .world()
                .agents
                .bodies
                .iter()
                .all(|b| b.position_m.y > -0.71)
        },
    );
}

#[test]
fn scenes_are_switched() {
    let mut pool = Pool::new();
    let first = pool.id(pool.all("herring")[0]);
    let switch = json!({"command": "switch_scene", "name": "bare"});
    shown(
        &mut pool,
        switch,
        |p| p.count("shark") == 1 && p.count("herring") == 40,
        |p| {
            p.count("shark") == 0
                && p.count("herring") == 5
                && p.simulation.world().solids.is_empty()
        },
    );
    assert!(
        pool.index(first).is_some(),
        "who lives in both scenes stays"
    );
    assert_eq!(pool.desk.status(&pool.simulation).scene, "pool");
}

#[test]
fn the_director_calls_and_lets_go() {
    let mut pool = Pool::new();
    let gather = json!({"command": "director", "event": {"event": "gather", "point_m": [0.5, -0.6, 0.0], "weight": 3.0}});
    shown(
        &mut pool,
        gather,
        |p| p.doing("herring", "seek") == 0,
        |p| p.doing("herring", "seek") > 0,
    );
    let hunt = json!({"command": "director", "event": {"event": "hunting", "species": "shark", "on": true}});
    let hunts = |p: &mut Pool| p.simulation.active_need(p.all("shark")[0]) == "hunt";
    shown(&mut pool, hunt, |p| !hunts(p), hunts);
    let set = json!({"command": "director", "event": {"event": "set_need", "species": "shark", "need": "hunt", "value": 5.0}});
    let depths = pool.desk.editor().depths();
    pool.tell(set);
    pool.step();
    assert!(hunts(&mut pool));
    assert_eq!(
        pool.desk.editor().depths(),
        depths,
        "what is over cannot be undone"
    );
    // A scare, and calm.
    pool.visitor(Vec2::ZERO, 0.0);
    pool.run(30);
    let fastest = |p: &Pool| {
        let world = p.simulation.world();
        world
            .agents
            .bodies
            .iter()
            .zip(&world.agents.species)
            .map(|(b, k)| b.boost.allowed_mps / world.species[usize::from(*k)].motion.cruise_mps)
            .fold(0.0, f32::max)
    };
    assert!(fastest(&pool) > 1.2);
    pool.visitors.shadows.clear();
    pool.tell(json!({"command": "director", "event": {"event": "hunting", "on": false}}));
    pool.tell(json!({"command": "director", "event": {"event": "calm"}}));
    assert!(fastest(&pool) < 1.001);
}

#[test]
fn one_individual_has_another_mind_for_a_while() {
    let (mut pool, id) = herring_and_visitor();
    // The shark fears no shadow that is that far away; whatever it does, it is not the herring's need.
    let brave = json!({"command": "override_mind", "id": id, "secs": 0.5, "mind": {"of": "needs", "needs": [
        {"name": "dream", "type": "default", "actions": ["wander"]}]}});
    let dreams = move |p: &mut Pool| p.simulation.active_need(p.index(id).unwrap()) == "dream";
    shown(&mut pool, brave.clone(), move |p| !dreams(p), dreams);
    pool.tell(brave);
    pool.run(30);
    assert!(dreams(&mut pool), "half a second is thirty ticks");
    pool.step();
    assert!(!dreams(&mut pool), "and it has its own mind again");
    pool.tell(json!({"command": "override_mind", "id": id, "secs": 5, "mind": {"of": "species", "name": "shark"}}));
    pool.step();
    // An edit of its species meanwhile does not end it.
    pool.set("species:herring", "actions.wander.weight", json!(4));
    pool.set("scene:pool", "population.trout", json!(2));
    pool.run(2);
    let need = pool
        .simulation
        .active_need(pool.index(id).unwrap())
        .to_owned();
    assert!(
        pool.desk
            .editor()
            .site()
            .species
            .iter()
            .all(|s| s.name != "shark")
    );
    pool.tell(json!({"command": "remove_individual", "id": id}));
    pool.run(400);
    assert!(!need.is_empty());
}

#[test]
fn memory_outlasts_an_edit() {
    let mut pool = Pool::new();
    pool.tell(json!({"command": "director", "event": {"event": "hunting", "species": "shark", "on": true}}));
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
    assert!(
        hunts(&pool),
        "an edit elsewhere does not switch hunting off"
    );
}

#[test]
fn a_refused_command_says_everything_and_changes_nothing() {
    let mut pool = Pool::new();
    let (texts, configured) = (pool.texts(), pool.configured());
    let many = json!({"command": "edit", "edits": [
        {"document": document("species:trout"), "path": "motion.cruise_mps", "change": {"do": "set", "value": 99}},
        {"document": document("species:trout"), "path": "body.wheels", "change": {"do": "set", "value": 4}},
        {"document": document("scene:pool"), "path": "population.unicorn", "change": {"do": "set", "value": 1}},
        {"document": document("scene:pool"), "path": "title", "change": {"do": "set", "value": "fine"}}]});
    let problems = pool.try_tell(many).expect_err("three of four are wrong");
    let text = problems.to_string();
    assert_eq!(problems.0.len(), 3, "{text}");
    assert!(
        text.contains("motion.cruise_mps: 99.0 m/s is too large; allowed is 0 to 50 m/s"),
        "{text}"
    );
    assert!(text.contains("unknown key 'wheels'"), "{text}");
    assert!(text.contains("there is no species 'unicorn'"), "{text}");
    assert_eq!(pool.texts(), texts);
    let status = pool.desk.status(&pool.simulation);
    let refused = status.refused.unwrap();
    assert_eq!(refused.problems.len(), 3);
    assert!(
        refused
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
        edit(
            "species:trout",
            "needs[0].actions",
            json!({"do": "set", "value": []}),
        ),
        edit("species:trout", "actions.wander", json!({"do": "remove"})),
        edit("species:unicorn", "body", json!({"do": "remove"})),
        edit(
            "scene:pool",
            "population.herring",
            json!({"do": "set", "value": 4_000_000}),
        ),
        edit("scene:pool", "population..herring", json!({"do": "remove"})),
    ] {
        let problems = pool
            .try_tell(command.clone())
            .expect_err(&command.to_string());
        assert!(!problems.0.is_empty());
        assert!(
            problems.0.iter().all(|p| p.message.len() > 10),
            "{problems}"
        );
        assert_eq!(pool.texts(), texts, "{command}");
        assert_eq!(pool.configured(), configured, "{command}");
    }
    assert_eq!(pool.desk.editor().depths(), (0, 0));
}

#[test]
fn what_needs_a_restart_is_told_and_waits() {
    let mut pool = Pool::new();
    let tick = pool.simulation.dt_secs();
    pool.set("site", "simulation.tick_hz", json!(30));
    pool.set("site", "surface.width_m", json!(6));
    let status = pool.desk.status(&pool.simulation);
    assert_eq!(
        status.restart_needed,
        ["simulation.tick_hz", "surface.width_m"]
    );
    pool.set("scene:pool", "pool.margin_m", json!(0.2));
    pool.step();
    assert_eq!(pool.simulation.dt_secs(), tick);
    assert_eq!(
        pool.simulation.world().water.surface.width_m,
        4.0,
        "picture and fish keep one surface"
    );
    pool.tell(json!({"command": "undo"}));
    pool.tell(json!({"command": "undo"}));
    pool.tell(json!({"command": "undo"}));
    assert_eq!(
        pool.desk.status(&pool.simulation).restart_needed,
        Vec::<String>::new()
    );
}

#[test]
fn saving_writes_what_changed_and_keeps_comments() {
    let mut pool = Pool::new();
    let site = pool.site();
    let file = |name: &str| std::fs::read_to_string(site.with_file_name(name)).unwrap();
    let (trout, scene) = (file("species/trout.toml"), file("scenes/pool.toml"));
    pool.set("species:trout", "motion.cruise_mps", json!(0.25));
    pool.tell(json!({"command": "add_species", "name": "koi", "like": "trout", "count": 2}));
    assert_eq!(pool.desk.status(&pool.simulation).unsaved.len(), 3);
    assert_eq!(
        file("species/trout.toml"),
        trout,
        "nothing is written before"
    );
    pool.tell(json!({"command": "save"}));
    assert_eq!(pool.desk.status(&pool.simulation).unsaved, []);
    assert_eq!(
        file("species/trout.toml"),
        trout.replace("cruise_mps = 0.3\n", "cruise_mps = 0.25\n")
    );
    assert_ne!(file("species/trout.toml"), trout);
    assert_eq!(
        file("scenes/pool.toml"),
        scene.replace("trout = 6\n", "trout = 6\nkoi = 2\n")
    );
    assert_eq!(
        file("species/.generations/trout.toml.000001"),
        trout,
        "the old one is kept"
    );
    // Taken back and saved again: everything on the disk is as before.
    pool.tell(json!({"command": "undo"}));
    pool.tell(json!({"command": "undo"}));
    pool.tell(json!({"command": "save"}));
    assert_eq!(file("species/trout.toml"), trout);
    assert_eq!(file("scenes/pool.toml"), scene);
    assert!(!site.with_file_name("species/koi.toml").exists());
    assert!(
        site.with_file_name("species/.generations/koi.toml.000001")
            .exists()
    );
    // Revert goes back to the disk, and can be taken back.
    pool.set("species:trout", "motion.cruise_mps", json!(0.2));
    pool.tell(json!({"command": "revert"}));
    assert_eq!(pool.desk.editor().unsaved(), []);
    pool.tell(json!({"command": "undo"}));
    assert_eq!(pool.desk.editor().unsaved().len(), 1);
    // The built-in demo has no file.
    let mut demo = Pool::open(None, 1);
    demo.set("species:trout", "motion.cruise_mps", json!(0.2));
    let problems = demo
        .try_tell(json!({"command": "save"}))
        .expect_err("there is no file");
    assert!(problems.to_string().contains("site file"), "{problems}");
}

#[test]
fn the_tick_after_an_edit_allocates_nothing_once_it_has_room() {
    let mut pool = Pool::new();
    pool.visitor(Vec2::new(0.3, 0.2), 0.0);
    pool.set("species:herring", "motion.cruise_mps", json!(0.3));
    pool.tell(json!({"command": "add_individual", "species": "trout"}));
    pool.tell(json!({"command": "override_mind", "id": 3, "secs": 600, "mind": {"of": "species", "name": "trout"}}));
    pool.run(240);
    let counted = allocation_counter::measure(|| pool.run(240));
    assert_eq!(counted.count_total, 0, "allocations in 240 ticks");
}

#[test]
fn why_is_told_only_to_who_asks() {
    use shoal::world::annotation::{Layer, Layers, Shape};
    let (mut pool, id) = herring_and_visitor();
    pool.step();
    let index = pool.index(id).unwrap();
    assert_eq!(pool.simulation.forces(index).count(), 0);
    pool.simulation.explain(true);
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
    let decided = pool.simulation.decision(index).force;
    assert!(
        sum.distance(decided) < 1e-4 * decided.length().max(1.0),
        "{sum} {decided}"
    );
    let mut marks = Vec::new();
    pool.simulation.annotate(Layers::NONE, &mut marks);
    assert!(marks.is_empty());
    pool.simulation
        .annotate(Layers::NONE.with(Layer::Force), &mut marks);
    assert_eq!(marks.len(), forces.len());
    assert!(matches!(marks[0].shape, Shape::Arrow { .. }));
    marks.clear();
    pool.simulation
        .annotate(Layers::NONE.with(Layer::Mind), &mut marks);
    assert_eq!(marks.len(), 1);
    assert!(
        marks[0].text.starts_with("survive: ") && marks[0].text.contains("evade_shadow"),
        "{}",
        marks[0].text
    );
    pool.simulation.explain(false);
    pool.run(2);
    let counted = allocation_counter::measure(|| pool.run(10));
    assert_eq!(counted.count_total, 0);
    assert_eq!(pool.simulation.forces(index).count(), 0);
}
