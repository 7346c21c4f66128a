//! Tests of saving and loading. A pool that is saved and loaded in the middle of a run continues exactly like one that is not.
//! A saved state that is damaged or does not fit the scene is rejected with a reason.

use crate::pools;
use shoal_testing::assert_message;
use std::hash::{DefaultHasher, Hasher};
use std::sync::LazyLock;

use glam::Vec2;
use proptest::prelude::*;
use serde_json::{Value, json};
use shoal::app::{SimulateOptions, simulate};
use shoal::geometry::Visitor;
use shoal::runtime::StopFlag;
use shoal::simulation::{Change, SceneDescription, Simulation, SimulationParams};
use shoal::site::load;
use shoal::world::{Effect, HuntingEffect, Observation, Snapshot};

fn visitors(tick: u64) -> Observation {
    let secs = tick as f32 / 60.0;
    let shadow = |id, centroid_m, still_secs| Visitor {
        id,
        centroid_m,
        foot_m: centroid_m,
        radius_m: 0.25,
        velocity_mps: Vec2::X * 0.5,
        area_m2: 0.2,
        age_secs: f64::from(secs),
        still_secs: f64::from(still_secs),
        ..Visitor::default()
    };
    let walker = shadow(1, Vec2::new((secs * 0.7).sin() * 1.8, 0.2), 0.0);
    Observation {
        time_secs: f64::from(secs),
        shadows: vec![walker, shadow(2, Vec2::new(-0.9, -0.8), secs)],
    }
}

/// Returns a hash of all snapshots of a run. If `saved_at` is given, the pool is saved and loaded before this tick.
fn hash_of_run(scene: &SceneDescription, ticks: u64, saved_at: Option<u64>, threads: u16) -> u64 {
    let mut pool = Simulation::new(scene, &pools::run(11, 1)).unwrap();
    let mut hasher = DefaultHasher::new();
    let mut snapshot = Snapshot::default();
    for tick in 0..ticks {
        if tick == 30 {
            let mind = scene.species[0].mind.clone();
            let mind = Box::new(mind);
            pool.apply(Change::OverrideMind {
                id: 3,
                mind,
                secs: 6.0,
            });
            pool.apply(Change::Effect(Effect::Hunting(HuntingEffect {
                species: vec![],
                on: true,
            })));
            if let Some(rule) = scene.director.last() {
                pool.apply(Change::StartRule {
                    name: rule.name.clone(),
                });
            }
        }
        if saved_at == Some(tick) {
            let text = pool.save().unwrap();
            pool = Simulation::load(scene, &pools::run(99, threads), &text).unwrap();
            assert_eq!(
                pool.save().unwrap(),
                text,
                "the loaded state differs from the saved state"
            );
        }
        pool.run_tick(&visitors(tick));
        pools::hash_state(&pool, &mut snapshot, &mut hasher);
    }
    hasher.finish()
}

#[test]
fn a_run_that_is_saved_and_loaded_equals_an_uninterrupted_run() {
    for name in ["pool", "lagoon", "nursery", "plankton", "molecules"] {
        let scene = scene(name);
        let whole = hash_of_run(&scene, 420, None, 1);
        for saved_at in [0, 29, 200, 391] {
            assert_eq!(
                hash_of_run(&scene, 420, Some(saved_at), 1),
                whole,
                "{name} saved at {saved_at}"
            );
        }
        assert_eq!(
            hash_of_run(&scene, 420, Some(200), 2),
            whole,
            "{name} saved at 200 and loaded with two threads"
        );
        assert_ne!(
            hash_of_run(&scene, 419, None, 1),
            whole,
            "{name}: runs of different length have the same hash"
        );
    }
}

/// Returns the scene `u_reef` from the test folder, or a built-in scene.
fn scene(name: &str) -> SceneDescription {
    match name {
        "u_reef" => pools::u_reef(),
        name => load(None, Some(name)).unwrap().description(),
    }
}

/// Number of ticks between two saved states.
const SAVE_TICKS: u64 = 50;

/// The scenes have paths on grids and over terraces, jumps between terraces, splashes, and path searches over many ticks.
#[test]
fn paths_and_flights_continue_after_loading() {
    for (name, budget) in [
        ("u_reef", 5000),
        ("u_reef", 2),
        ("cascade", 5000),
        ("cascade", 2),
    ] {
        let scene = scene(name);
        let params = SimulationParams {
            search_budget: budget,
            ..pools::run(11, 1)
        };
        let mut pool = Simulation::new(&scene, &params).unwrap();
        let (mut texts, mut splashes) = (vec![pool.save().unwrap()], 0);
        let run = |pool: &mut Simulation, from: u64| {
            (from..from + SAVE_TICKS).for_each(|tick| pool.run_tick(&visitors(tick)));
        };
        for from in (0..1500).step_by(SAVE_TICKS as usize) {
            run(&mut pool, from);
            texts.push(pool.save().unwrap());
            splashes += pool.splashes().len();
        }
        // If a loaded run leads from each saved state exactly to the next, a run from any saved state has the same end.
        for (number, pair) in texts.windows(2).enumerate() {
            let mut pool = Simulation::load(&scene, &params, &pair[0]).unwrap();
            assert!(
                pool.save().unwrap() == pair[0],
                "{name}, budget {budget}: state {number} differs after loading"
            );
            run(&mut pool, number as u64 * SAVE_TICKS);
            assert!(
                pool.save().unwrap() == pair[1],
                "{name}, budget {budget}: the run from state {number} differs"
            );
        }
        let with = |word: &str| texts.iter().filter(|text| text.contains(word)).count();
        let searching = with("\"is_running\":true") + with("\"phase\":\"searching\"");
        let flying = with("\"air\":{");
        println!(
            "{name}, budget {budget}: {searching} states with a running search, {flying} with a flight, {splashes} splashes"
        );
        assert!(
            name != "cascade" || (flying > 0 && splashes > 0),
            "{name}, budget {budget}: no flight was saved"
        );
        assert!(
            budget > 9 || searching > 0,
            "{name}, budget {budget}: no running search was saved"
        );
    }
}

#[test]
fn the_simulate_command_continues_a_saved_state() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let options = |out: &str, seconds: f64| SimulateOptions {
        scene: load(None, Some("pool")).unwrap().description(),
        simulation: pools::run(5, 1),
        shadows: None,
        visitors: None,
        report: None,
        seconds,
        every: 1,
        out: Some(file(out)),
        why: false,
        save_state: None,
        load_state: None,
        commands: None,
    };
    let output = |options: &SimulateOptions| {
        simulate(options, &StopFlag::default()).unwrap();
        std::fs::read_to_string(options.out.as_ref().unwrap()).unwrap()
    };
    let whole = output(&options("whole.jsonl", 4.0));
    let first = output(&SimulateOptions {
        save_state: Some(file("state.json")),
        ..options("first.jsonl", 1.5)
    });
    let second = output(&SimulateOptions {
        load_state: Some(file("state.json")),
        ..options("second.jsonl", 2.5)
    });
    assert!(
        first + &second == whole,
        "two parts of a run differ from the whole run"
    );
    let absent = SimulateOptions {
        load_state: Some(file("absent.json")),
        ..options("x.jsonl", 1.0)
    };
    let error = simulate(&absent, &StopFlag::default()).unwrap_err();
    assert!(format!("{error:#}").contains("absent.json"), "{error:#}");
}

fn saved() -> (SceneDescription, Value) {
    let scene = load(None, Some("pool")).unwrap().description();
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    for tick in 0..20 {
        pool.run_tick(&visitors(tick));
    }
    // An override with the same needs and actions as the agent's own mind.
    let mind = Box::new(scene.species[0].mind.clone());
    pool.apply(Change::OverrideMind {
        id: 7,
        mind,
        secs: 5.0,
    });
    let text = pool.save().unwrap();
    (scene, serde_json::from_str(&text).unwrap())
}

/// Returns the array `name` of the agents in a saved state.
fn agents<'a>(saved: &'a mut Value, name: &str) -> &'a mut Value {
    &mut saved["state"]["world"]["agents"][name]
}

#[test]
fn a_text_that_does_not_fit_is_rejected_with_a_reason() {
    let (scene, good) = saved();
    let rejected = |change: &dyn Fn(&mut Value), wanted: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let error = Simulation::load(&scene, &pools::run(1, 1), &bad.to_string())
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "expected '{wanted}', got '{error}'");
    };
    rejected(
        &|v| v["format"] = json!("zip"),
        "its format is not 'shoal pool'",
    );
    rejected(
        &|v| v["version"] = json!(1),
        "saved in version 1 of the format, this program reads version 11",
    );
    rejected(&|v| v["extra"] = json!(2), "unknown field `extra`");
    rejected(
        &|v| v["tick_hz"] = json!(30.0),
        "tick_hz is 30, but 60 in this scene or site",
    );
    rejected(
        &|v| v["species"][0]["name"] = json!("koi"),
        "species 0 with its needs and actions",
    );
    rejected(
        &|v| v["species"][3]["needs"][1] = json!("sleep"),
        "species 3 with its needs and actions",
    );
    rejected(
        &|v| v["state"]["rules"] = json!([]),
        "the number of director rules is 0, but ",
    );
    rejected(
        &|v| agents(v, "ids")[1] = json!(0),
        "the id 0 is not larger than the one before",
    );
    rejected(
        &|v| v["state"]["next_id"] = json!(3),
        "not smaller than next_id",
    );
    rejected(
        &|v| *agents(v, "species") = json!([0]),
        "ids, but 1 species",
    );
    rejected(
        &|v| agents(v, "species")[4] = json!(77),
        "agent 4 is of species 77",
    );
    rejected(
        &|v| agents(v, "bodies")[4]["position_m"][1] = json!(null),
        "invalid type: null",
    );
    rejected(
        &|v| agents(v, "bodies")[4]["position_m"][1] = json!(1e39),
        "number out of range",
    );
    rejected(
        &|v| agents(v, "bodies")[4]["forward"] = json!([0, 0, 0]),
        "the position, velocity or direction of agent 4 is invalid",
    );
    rejected(
        &|v| v["state"]["minds"][4]["memories"] = json!([]),
        "the mind of agent 4 has other needs or actions",
    );
    rejected(
        &|v| v["state"]["minds"][4]["drives"]["hunger"] = json!(9),
        "the mind of agent 4",
    );
    // Such ticks overflowed when the next tick was counted.
    rejected(
        &|v| v["state"]["world"]["random"]["tick"] = json!(u64::MAX),
        "tick 18446744073709551615 is not possible",
    );
    rejected(
        &|v| v["state"]["planner"]["tick"] = json!(u64::MAX),
        "the path searches are at tick 18446744073709551615",
    );
    rejected(
        &|v| v["state"]["overrides"][0]["id"] = json!(4000),
        "the mind override of agent 4000 does not fit",
    );
    let scene_of_others = load(None, Some("lagoon")).unwrap().description();
    let error =
        Simulation::load(&scene_of_others, &pools::run(1, 1), &good.to_string()).unwrap_err();
    assert_message(
        &error,
        &["load it with the scene and site that it was saved with"],
    );
    for text in ["", "{", "[]", "null", "{\"format\":\"shoal pool\"}"] {
        let error = Simulation::load(&scene, &pools::run(1, 1), text)
            .unwrap_err()
            .to_string();
        assert!(error.contains("this is not a saved pool"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Replaces 1 to 3 numbers of a saved state. The state must then be rejected, or the loaded pool must stay valid.
    #[test]
    fn a_damaged_state_is_rejected_or_stays_valid(places in prop::collection::vec((any::<u32>(), -1e30f64..1e30), 1..4)) {
        let (scene, mut state) = saved();
        for (place, number) in places {
            let mut left = place as usize % count(&state);
            set(&mut state, &mut left, &json!(number));
        }
        if let Ok(mut pool) = Simulation::load(&scene, &pools::run(1, 1), &state.to_string()) {
            for tick in 0..10 {
                pool.run_tick(&visitors(tick));
            }
            for body in &pool.world().agents.bodies {
                prop_assert!(body.is_finite());
                prop_assert!(pool.world().solids.iter().all(|s| s.signed_distance_m(body.position_m) >= -1.0));
            }
        }
    }
}

/// Scenes with paths, jumps between terraces and running path searches, each with a saved state.
static PATH_FINDERS: LazyLock<Vec<(SceneDescription, Value)>> = LazyLock::new(|| {
    let each = [
        ("u_reef", 9, 20),
        ("cascade", 2, 500),
        ("cascade", 5000, 700),
    ];
    each.map(|(name, search_budget, ticks)| {
        let scene = scene(name);
        let params = SimulationParams {
            search_budget,
            ..pools::run(11, 1)
        };
        let mut pool = Simulation::new(&scene, &params).unwrap();
        (0..ticks).for_each(|tick| pool.run_tick(&visitors(tick)));
        let text = pool.save().unwrap();
        (scene, serde_json::from_str(&text).unwrap())
    })
    .into()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_paths_are_rejected_or_stay_valid(
        scene in 0usize..3, of_terraces: bool, place: u32, whole in -2i64..5000, number in -1e30f64..1e30, is_whole: bool,
    ) {
        let (scene, state) = &PATH_FINDERS[scene];
        let mut state = state.clone();
        let part = &mut state["state"][if of_terraces { "terraces" } else { "planner" }];
        let mut left = place as usize % count(part).max(1);
        let number = if is_whole { json!(whole) } else { json!(number) };
        set(part, &mut left, &number);
        if let Ok(mut pool) = Simulation::load(scene, &pools::run(1, 1), &state.to_string()) {
            (0..20).for_each(|tick| pool.run_tick(&visitors(tick)));
            for body in &pool.world().agents.bodies {
                prop_assert!(body.is_finite());
            }
        }
    }
}

/// Returns how many numbers a JSON value contains, at any depth.
fn count(value: &Value) -> usize {
    match value {
        Value::Number(_) => 1,
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the number that comes after `left` other numbers in a JSON value. Returns whether there was such a number.
fn set(value: &mut Value, left: &mut usize, number: &Value) -> bool {
    match value {
        Value::Number(_) if *left == 0 => {
            *value = number.clone();
            true
        }
        Value::Number(_) => {
            *left -= 1;
            false
        }
        Value::Array(items) => items.iter_mut().any(|item| set(item, left, number)),
        Value::Object(fields) => fields.values_mut().any(|item| set(item, left, number)),
        _ => false,
    }
}
