//! A pool that is saved and loaded in the middle of a run goes on bit for bit; what does not fit is refused and says why.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may"
)]

mod pools;

use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::AtomicBool;

use glam::Vec2;
use proptest::prelude::*;
use serde_json::{Value, json};
use shoal::app::simulate::{SimulateOptions, simulate};
use shoal::simulation::{Change, SceneDescription, Simulation};
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
            pool.apply(Change::Hunting {
                species: None,
                on: true,
            });
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
        pool.step(&visitors(tick));
        pools::hash_state(&pool, &mut snapshot, &mut hasher);
    }
    hasher.finish()
}

#[test]
fn a_run_that_is_saved_and_loaded_in_the_middle_goes_on_as_it_would_have() {
    for name in ["pool", "lagoon", "nursery", "plankton", "molecules"] {
        let scene = load(None, Some(name)).unwrap().description();
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
        told: None,
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
        pool.step(&visitors(tick));
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
        &|v| v["version"] = json!(2),
        "saved as version 2, this program reads version 1",
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
            change(&mut state, &mut left, number);
        }
        if let Ok(mut pool) = Simulation::load(&scene, &pools::run(1, 1), &state.to_string()) {
            for tick in 0..10 {
                pool.step(&visitors(tick));
            }
            for body in &pool.world().agents.bodies {
                prop_assert!(body.is_finite());
                prop_assert!(pool.world().solids.iter().all(|s| s.signed_distance_m(body.position_m) >= -1.0));
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

/// Sets the number at a place, counted through the whole state.
fn change(value: &mut Value, left: &mut usize, number: f64) -> bool {
    match value {
        Value::Number(_) if *left == 0 => {
            *value = json!(number);
            true
        }
        Value::Number(_) => {
            *left -= 1;
            false
        }
        Value::Array(items) => items.iter_mut().any(|item| change(item, left, number)),
        Value::Object(fields) => fields.values_mut().any(|item| change(item, left, number)),
        _ => false,
    }
}
