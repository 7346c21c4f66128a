//! Tests of the shipped species files: they are valid and free of contradictions, and each species has the properties that
//! its description promises.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may"
)]

use crate::pools;
use shoal::behavior::ActionParams;

#[test]
fn shipped_species_have_no_problems() {
    for name in ["shark", "salmon", "herring", "trout"] {
        let species = pools::species(name, 1);
        assert_eq!(species.mind.problems(), vec![], "{name}");
        assert_eq!(species.motion.problems(), vec![], "{name}");
        assert_eq!(species.perception.problems(), vec![], "{name}");
        let sight = species.perception.sight_radius_m;
        assert_eq!(species.mind.warnings(sight), vec![], "{name}");
        assert_eq!(species.flock.warnings(sight), vec![], "{name}");
    }
    assert_eq!(pools::pool().pool.problems(), vec![]);
}

#[test]
fn trout_hides_at_more_than_twice_its_flee_distance() {
    let trout = pools::species("trout", 1);
    let ActionParams::FleeEnemy(flee) = &trout.mind.actions["flee_enemy"] else {
        panic!("the action flee_enemy has another kind");
    };
    let ActionParams::HideFromEnemy(hide) = &trout.mind.actions["hide_from_enemy"] else {
        panic!("the action hide_from_enemy has another kind");
    };
    assert!(flee.flee_distance_m.unwrap() < 0.5 * hide.flee_distance_m);
}

#[test]
fn all_contradictions_of_a_mind_are_reported() {
    let mut mind = pools::species("trout", 1).mind;
    mind.needs[0].actions.push("swim_home".into());
    mind.needs[1].limit = None;
    mind.needs[3].actions.clear();
    let problems = mind.problems();
    let paths: Vec<&str> = problems.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        ["needs[0].actions[3]", "needs[1].limit", "needs[3].actions"]
    );
    assert!(problems[0].1.contains("swim_home"));
    if let Some(ActionParams::FleeEnemy(flee)) = mind.actions.get_mut("flee_enemy") {
        flee.flee_distance_m = Some(9.0);
    }
    let warnings = mind.warnings(2.4);
    assert!(
        warnings
            .iter()
            .any(|(path, _)| path == "actions.hide_from_enemy.flee_distance_m"),
        "{warnings:?}"
    );
}
