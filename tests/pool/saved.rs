//! A pool that is saved and loaded in the middle of a run goes on bit for bit; what does not fit is refused and says why.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may"
)]

use crate::pools;
use std::hash::{DefaultHasher, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use glam::Vec2;
use proptest::prelude::*;
use serde_json::{Value, json};
use shoal::app::{SimulateOptions, simulate};
use shoal::behavior::{Effect, HuntingEffect};
use shoal::simulation::{Change, SceneDescription, Simulation, SimulationParams};
use shoal::site::load;
use shoal::world::{Observation, Shadow, Snapshot};

fn visitors(tick: u64) -> Observation {
    let secs = tick as f32 / 60.0;
    let shadow = |id, centroid_m, still_secs| Shadow {
        id,
        centroid_m,
        foot_m: centroid_m,
        radius_m: 0.25,
        velocity_mps: Vec2::X * 0.5,
        area_m2: 0.2,
        age_secs: secs,
        still_secs,
        outline_m: vec![],
    };
    let walker = shadow(1, Vec2::new((secs * 0.7).sin() * 1.8, 0.2), 0.0);
    Observation {
        time_secs: f64::from(secs),
        shadows: vec![walker, shadow(2, Vec2::new(-0.9, -0.8), secs)],
    }
}

/// The state of every tick of a run, saved and loaded after the tick `saved_at`.
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
            let text = pool.save();
            pool = Simulation::load(scene, &pools::run(99, threads), &text).unwrap();
            assert_eq!(pool.save(), text, "what was loaded is what was saved");
        }
        pool.run_tick(&visitors(tick));
        pools::hash_state(&pool, &mut snapshot, &mut hasher);
    }
    hasher.finish()
}

#[test]
fn a_run_that_is_saved_and_loaded_in_the_middle_goes_on_as_it_would_have() {
    for name in ["pool", "lagoon", "nursery", "plankton", "molecules"] {
        let scene = with_ways(name);
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
            "{name} loaded with two threads"
        );
        assert_ne!(
            hash_of_run(&scene, 419, None, 1),
            whole,
            "the comparison can fail"
        );
    }
}

/// The U reef of the tests, or a built-in scene.
fn with_ways(name: &str) -> SceneDescription {
    match name {
        "u_reef" => pools::u_reef(),
        name => load(None, Some(name)).unwrap().description(),
    }
}

/// Ticks between two savings.
const EACH: u64 = 50;

/// Ways on grids and over terraces, flights and splashes; searches that take many ticks.
#[test]
fn ways_and_flights_go_on_as_they_would_have() {
    for (name, budget) in [
        ("u_reef", 5000),
        ("u_reef", 9),
        ("cascade", 5000),
        ("cascade", 2),
    ] {
        let scene = with_ways(name);
        let params = SimulationParams {
            search_budget: budget,
            ..pools::run(11, 1)
        };
        let mut pool = Simulation::new(&scene, &params).unwrap();
        let (mut texts, mut splashes) = (vec![pool.save()], 0);
        let go = |pool: &mut Simulation, from: u64| {
            (from..from + EACH).for_each(|tick| pool.run_tick(&visitors(tick)));
        };
        for from in (0..1500).step_by(EACH as usize) {
            go(&mut pool, from);
            texts.push(pool.save());
            splashes += pool.splashes().len();
        }
        // From wherever it was saved it comes to the next: by induction to the end.
        for (place, pair) in texts.windows(2).enumerate() {
            let mut pool = Simulation::load(&scene, &params, &pair[0]).unwrap();
            assert!(pool.save() == pair[0], "what was loaded is what was saved");
            go(&mut pool, place as u64 * EACH);
            assert!(pool.save() == pair[1], "{name}, budget {budget}: {place}");
        }
        let with = |word: &str| texts.iter().filter(|text| text.contains(word)).count();
        let searching = with("\"is_running\":true") + with("\"phase\":\"searching\"");
        let flying = with("\"air\":{");
        println!(
            "{name}, budget {budget}: {searching} searching, {flying} flying, {splashes} splashes"
        );
        assert!(name != "cascade" || (flying > 0 && splashes > 0));
        assert!(budget > 9 || searching > 0, "no search was under way");
    }
}

#[test]
fn the_command_goes_on_from_a_saved_state() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let options = |out: &str, seconds: f64| SimulateOptions {
        scene: load(None, None).unwrap().description(),
        simulation: pools::run(5, 1),
        shadows: None,
        seconds,
        every: 1,
        out: file(out),
        why: false,
        save_state: None,
        load_state: None,
        commands: None,
    };
    let go = |options: &SimulateOptions| {
        simulate(options, &AtomicBool::new(false)).unwrap();
        std::fs::read_to_string(&options.out).unwrap()
    };
    let whole = go(&options("whole.jsonl", 4.0));
    let first = go(&SimulateOptions {
        save_state: Some(file("state.json")),
        ..options("first.jsonl", 1.5)
    });
    let second = go(&SimulateOptions {
        load_state: Some(file("state.json")),
        ..options("second.jsonl", 2.5)
    });
    assert!(first + &second == whole, "two halves are the whole");
    let absent = SimulateOptions {
        load_state: Some(file("absent.json")),
        ..options("x.jsonl", 1.0)
    };
    let error = simulate(&absent, &AtomicBool::new(false)).unwrap_err();
    assert!(format!("{error:#}").contains("absent.json"), "{error:#}");
}

fn saved() -> (SceneDescription, Value) {
    let scene = load(None, None).unwrap().description();
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    for tick in 0..20 {
        pool.run_tick(&visitors(tick));
    }
    // Another mind of the same needs and actions as its own.
    let mind = Box::new(scene.species[0].mind.clone());
    pool.apply(Change::OverrideMind {
        id: 7,
        mind,
        secs: 5.0,
    });
    (scene, serde_json::from_str(&pool.save()).unwrap())
}

#[test]
fn what_does_not_fit_is_refused_with_its_reason() {
    let (scene, good) = saved();
    let refused = |change: &dyn Fn(&mut Value), wanted: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let error = Simulation::load(&scene, &pools::run(1, 1), &bad.to_string())
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "wanted '{wanted}', got '{error}'");
    };
    refused(
        &|v| v["format"] = json!("zip"),
        "its format is no 'shoal pool'",
    );
    refused(
        &|v| v["version"] = json!(1),
        "saved as version 1, this program reads version 3",
    );
    refused(&|v| v["extra"] = json!(2), "unknown field `extra`");
    refused(
        &|v| v["tick_hz"] = json!(30.0),
        "tick_hz is 30, but 60 here",
    );
    refused(
        &|v| v["kinds"][0]["species"] = json!("koi"),
        "species 0 with its needs and actions",
    );
    refused(
        &|v| v["kinds"][3]["needs"][1] = json!("sleep"),
        "species 3 with its needs and actions",
    );
    refused(
        &|v| v["rules"] = json!([]),
        "the number of the director's rules is 0, but 6 here",
    );
    refused(
        &|v| v["agents"][1]["id"] = json!(0),
        "the id 0 is not above the one before",
    );
    refused(&|v| v["next_id"] = json!(3), "not below the next one");
    refused(
        &|v| v["agents"][4]["kind"] = json!(77),
        "agent 4 is of species 77",
    );
    refused(
        &|v| v["agents"][4]["body"]["position_m"][1] = json!(null),
        "invalid type: null",
    );
    refused(
        &|v| v["agents"][4]["body"]["position_m"][1] = json!(1e39),
        "agent 4 has a place",
    );
    refused(
        &|v| v["agents"][4]["body"]["forward"] = json!([0, 0, 0]),
        "agent 4 has a place, velocity or direction",
    );
    refused(
        &|v| v["agents"][4]["mind"]["memories"] = json!([]),
        "the mind of agent 4 has other needs or actions",
    );
    refused(
        &|v| v["agents"][4]["mind"]["drives"]["hunger"] = json!(9),
        "the mind of agent 4",
    );
    refused(
        &|v| v["overrides"][0]["id"] = json!(4000),
        "the saved pool is damaged: the ",
    );
    let scene_of_others = load(None, Some("lagoon")).unwrap().description();
    let error =
        Simulation::load(&scene_of_others, &pools::run(1, 1), &good.to_string()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("load it with the scene and site that it was saved with"),
        "{error}"
    );
    for text in ["", "{", "[]", "null", "{\"format\":\"shoal pool\"}"] {
        let error = Simulation::load(&scene, &pools::run(1, 1), text)
            .unwrap_err()
            .to_string();
        assert!(error.contains("this is no saved pool"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever number is changed to whatever: it is refused, or the pool lives on soundly.
    #[test]
    fn a_damaged_state_is_refused_or_lives(places in prop::collection::vec((any::<u32>(), -1e30f64..1e30), 1..4)) {
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

/// Scenes with ways, flights and searches under way, and their state after a while.
static FINDERS: LazyLock<Vec<(SceneDescription, Value)>> = LazyLock::new(|| {
    let each = [
        ("u_reef", 9, 20),
        ("cascade", 2, 500),
        ("cascade", 5000, 700),
    ];
    each.map(|(name, search_budget, ticks)| {
        let scene = with_ways(name);
        let params = SimulationParams {
            search_budget,
            ..pools::run(11, 1)
        };
        let mut pool = Simulation::new(&scene, &params).unwrap();
        (0..ticks).for_each(|tick| pool.run_tick(&visitors(tick)));
        (scene, serde_json::from_str(&pool.save()).unwrap())
    })
    .into()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_ways_are_refused_or_lived_with(
        scene in 0usize..3, of_terraces: bool, place: u32, whole in -2i64..5000, number in -1e30f64..1e30, is_whole: bool,
    ) {
        let (scene, state) = &FINDERS[scene];
        let mut state = state.clone();
        let part = &mut state[if of_terraces { "terraces" } else { "ways" }];
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

fn count(value: &Value) -> usize {
    match value {
        Value::Number(_) => 1,
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Sets the number at a place, counted through the whole value.
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
