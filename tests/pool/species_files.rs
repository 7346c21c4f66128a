//! Tests of the shipped species files: they are valid and free of contradictions, and each species has the properties that
//! its description promises.

use crate::pools::sphere;
use std::collections::{BTreeMap, BTreeSet};

use crate::pools;
use glam::Vec3;
use shoal::behavior::{ActionParams, LimitOf, MindParams};
use shoal::simulation::{Simulation, SimulationParams, SpeciesDescription};
use shoal::site::load;
use shoal::world::Observation;

const SCENES: [&str; 10] = [
    "aquarium",
    "cascade",
    "koi",
    "lagoon",
    "molecules",
    "nursery",
    "plankton",
    "pool",
    "reef",
    "simple_school",
];

/// Returns all species of the shipped scenes, by name.
fn shipped() -> BTreeMap<String, SpeciesDescription> {
    let scenes = SCENES.iter().map(|name| load(None, Some(name)).unwrap());
    let species = scenes.flat_map(|site| site.description().species);
    species
        .map(|species| (species.name.clone(), species))
        .collect()
}

fn limits(mind: &MindParams) -> BTreeSet<&'static str> {
    let limits = mind.needs.iter().filter_map(|need| need.limit.as_ref());
    limits
        .filter_map(|limit| match limit.of {
            LimitOf::Own => None,
            LimitOf::Hunger => Some("hunger"),
            LimitOf::Fear => Some("fear"),
            LimitOf::Libido => Some("libido"),
        })
        .collect()
}

/// A lower tick rate than in operation, so that minutes pass quickly.
const HZ: u32 = 10;

/// Returns a running scene.
fn start(scene: &str, seed: u64) -> Simulation {
    let params = SimulationParams {
        tick_hz: HZ as f32,
        ..pools::run(seed, 1)
    };
    Simulation::new(&load(None, Some(scene)).unwrap().description(), &params).unwrap()
}

/// Runs a scene and returns the share of the time in which agents of a species execute an action.
fn share_of_action(scene: &str, species: &str, action: &str, secs: u32) -> f32 {
    let mut simulation = start(scene, 1);
    let (mut executed, mut samples) = (0, 0);
    for _ in 0..secs * HZ {
        simulation.run_tick(&Observation::default());
        let world = simulation.world();
        for index in 0..world.agents.len() {
            if world.species[usize::from(world.agents.species[index])].name == species {
                executed +=
                    usize::from(simulation.active_actions(index).any(|name| name == action));
                samples += 1;
            }
        }
    }
    executed as f32 / samples as f32
}

/// A fixed bug: the fear of the grazer was a drive that no need read.
#[test]
fn every_drive_of_a_shipped_species_is_read_by_a_need() {
    for (name, species) in shipped() {
        let drives = &species.mind.drives;
        let read = limits(&species.mind);
        for (drive, is_on) in [
            ("hunger", drives.hungry_after_secs > 0.0),
            ("fear", drives.fear_distance_m > 0.0),
            ("libido", drives.courts_after_secs > 0.0),
        ] {
            assert!(
                !is_on || read.contains(drive),
                "{name}: no need reads {drive}"
            );
        }
    }
    let fearful = share_of_action("plankton", "grazer", "huddle", 60);
    println!("grazers huddle {:.1} % of the time", fearful * 100.0);
    assert!(fearful > 0.001, "no grazer is ever afraid");
}

/// A fixed gap: no shipped species showed these abilities.
#[test]
fn shipped_species_show_courtship_size_dependent_sight_combined_and_random_actions() {
    let all = shipped();
    let is_shown = |of: &dyn Fn(&SpeciesDescription) -> bool| all.values().any(of);
    assert!(is_shown(
        &|s| limits(&s.mind).contains("libido") && s.relations.contains_key("partner")
    ));
    assert!(is_shown(&|s| s.perception.size_gain > 0.0));
    assert!(is_shown(&|s| s
        .mind
        .actions
        .values()
        .any(|a| matches!(a, ActionParams::Combined(_)))));
    assert!(is_shown(&|s| s
        .mind
        .needs
        .iter()
        .any(|n| n.stochastic && n.actions.len() > 1)));
    let courts = share_of_action("reef", "damsel", "court", 60);
    println!("damsels court {:.1} % of the time", courts * 100.0);
    assert!(
        (0.001..0.2).contains(&courts),
        "damsels court {courts} of the time"
    );
}

/// A fixed gap: some scenes had no event, and some nothing that staff could start.
#[test]
fn every_scene_has_events_two_of_them_by_hand_and_says_which_surface_it_suits() {
    for name in SCENES {
        let site = load(None, Some(name)).unwrap();
        let by_hand = site
            .scene
            .director
            .iter()
            .filter(|rule| rule.when.is_by_hand());
        let (all, by_hand) = (site.scene.director.len(), by_hand.count());
        assert!(
            by_hand >= 2 && all - by_hand >= 2,
            "{name}: {by_hand} of {all}"
        );
        assert_eq!(site.scene.fit, shoal::site::Fit::Scale, "{name}");
        assert!(!site.scene.surfaces.is_empty(), "{name}");
    }
}

/// A species that extends another one is short.
#[test]
fn most_shipped_species_differ_from_the_fish_in_a_few_lines() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("config/species");
    for name in ["damsel", "fry", "herring", "pike"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(lines <= 50, "{name}: {lines} lines");
    }
}

/// A fixed bug: the hunting shark was the slowest fish in the pool. **Source**: Jockel 2005, §5.3.
#[test]
fn the_shark_is_faster_but_less_agile_than_its_prey() {
    let all = shipped();
    let shark = &all["shark"];
    for prey in &shark.relations["prey"] {
        let prey = &all[prey];
        assert!(
            shark.motion.boost_mps > prey.motion.boost_mps,
            "{}",
            prey.name
        );
        assert!(shark.motion.max_turn_rate_dps < prey.motion.max_turn_rate_dps);
        // It cruises slowly.
        assert!(shark.motion.cruise_mps <= prey.motion.cruise_mps * 1.1);
    }
}

/// A fixed bug: trout hunted only in one scene, and only when its director let them.
#[test]
fn trout_hunt_wherever_their_prey_lives() {
    for scene in ["pool", "reef", "lagoon", "aquarium", "plankton"] {
        let hunts = share_of_action(scene, "trout", "hunt_prey", 45);
        println!("trout hunt {:.1} % of the time in {scene}", hunts * 100.0);
        assert!(
            (0.002..0.3).contains(&hunts),
            "{scene}: {hunts} of the time"
        );
    }
}

/// A fixed bug: herring spent 40 % of the time circling another species of the scene.
#[test]
fn herring_are_curious_about_another_school_for_a_short_time_only() {
    let share = share_of_action("simple_school", "herring", "investigate", 120);
    println!("herring are curious {:.1} % of the time", share * 100.0);
    assert!((0.005..0.15).contains(&share), "{share} of the time");
}

/// A fixed bug: herring never hid. **Source**: Jockel 2005, §5.3: the hiding weight is zero for salmon only.
#[test]
fn herring_hide_from_the_shark_behind_a_rock() {
    let mut scene = pools::pool_with(vec![
        pools::species("herring", 12),
        pools::species("shark", 1),
    ]);
    scene.obstacles = vec![sphere([0.0, -0.9, 0.0], 0.35)];
    // The shark does not hunt here, so herring must fear it as one that does.
    scene.species[0].perception.calm_enemy_share = 1.0;
    let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    for index in 0..12u8 {
        let at = Vec3::new(-0.5, -0.8, f32::from(index) * 0.05 - 0.3);
        simulation.place(index.into(), at, Vec3::X);
    }
    // The shark follows the middle of the school at a distance at which herring do not flee yet.
    let mut hiding = 0;
    for _ in 0..120 {
        let school = &simulation.world().agents.bodies[..12];
        let middle = school.iter().map(|body| body.position_m).sum::<Vec3>() / 12.0;
        simulation.place(12, middle - Vec3::X * 0.55, Vec3::X);
        simulation.run_tick(&Observation::default());
        let hides = |&index: &usize| {
            simulation
                .active_actions(index)
                .any(|a| a == "hide_from_enemy")
        };
        hiding += (0..12).filter(hides).count();
    }
    let share = hiding as f32 / (12.0 * 120.0);
    assert!(share > 0.2, "herring hide {share} of the time");
}

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
        ["needs[0].actions[4]", "needs[1].limit", "needs[3].actions"]
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
