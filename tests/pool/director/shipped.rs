//! Tests of the director's rules in every shipped scene.

use glam::{Vec2, Vec3};
use shoal::simulation::Simulation;
use shoal::site::load;
use shoal::world::Observation;

use super::{run, start, visitors};
use crate::pools;

/// A fixed bug: the rule for a scare waited longer than a scare lasts, so that it never began.
#[test]
fn every_rule_of_every_shipped_scene_can_begin() {
    let shipped =
        "molecules nursery plankton pool lagoon reef aquarium cascade koi simple_school sky";
    for name in shipped.split(' ') {
        let mut scene = load(None, Some(name)).unwrap().description();
        for rule in &mut scene.director {
            // Rare rules, and rules for patient visitors, would make this test long.
            match &mut rule.when {
                shoal::world::Condition::Chance(chance) => {
                    chance.rate_per_sec = chance.rate_per_sec.max(0.1);
                }
                shoal::world::Condition::StillVisitor(still) => {
                    still.still_secs = still.still_secs.min(8.0);
                }
                shoal::world::Condition::VisitorsTogether(_) => rule.for_secs = 0.5,
                _ => {}
            }
            rule.pause_secs = rule.pause_secs.min(5.0);
            rule.for_secs = rule.for_secs.min(25.0);
        }
        let mut params = pools::run(1, 1);
        params.tick_hz = 10.0;
        let mut pool = Simulation::new(&scene, &params).unwrap();
        let mut began = vec![false; scene.director.len()];
        let mut step = |pool: &mut Simulation, seen: &Observation| {
            pool.run_tick(seen);
            for (began, (_, state)) in began.iter_mut().zip(pool.rules()) {
                *began |= state.is_on;
            }
        };
        for rule in &scene.director {
            if matches!(rule.when, shoal::world::Condition::ByHand(_)) {
                assert!(pool.start_rule(&rule.name));
            }
        }
        for _ in 0..30 * 10 {
            step(&mut pool, &visitors(0, 0.0));
        }
        for tick in 0..12 * 10 {
            step(&mut pool, &visitors(1, tick as f32 / 10.0));
        }
        // Then this visitor stamps.
        for _ in 0..10 {
            let mut seen = visitors(1, 0.0);
            seen.shadows[0].agitation_mps = 0.06;
            step(&mut pool, &seen);
        }
        // Seven visitors run in circles all over the pool and leave. Later they scare the fish once more for a moment.
        for (count, secs) in [(7, 6), (0, 2), (7, 1), (0, 6)] {
            for tick in 0..secs * 10 {
                let mut seen = visitors(count, 0.0);
                for shadow in &mut seen.shadows {
                    let id = shadow.id as f32;
                    let swing = Vec2::from_angle(tick as f32 * 0.5 + id) * 0.4;
                    let middle = Vec2::new(id % 4.0 - 1.5, ((id / 4.0).floor() - 0.5) * 1.2);
                    shadow.centroid_m = middle + swing;
                    shadow.velocity_mps = swing.perp() * 5.0;
                }
                step(&mut pool, &seen);
            }
        }
        for (began, rule) in began.iter().zip(&scene.director) {
            assert!(began, "{name}: the rule '{}' never began", rule.name);
        }
    }
}

#[test]
fn the_shipped_shark_hunts_only_when_the_director_switches_hunting_on() {
    let site = load(None, Some("pool")).unwrap();
    let mut pool = start(&site.description());
    let shark = |pool: &Simulation| {
        let world = pool.world();
        let is_shark =
            |&i: &usize| world.species[usize::from(world.agents.species[i])].name == "shark";
        (0..world.agents.len()).find(is_shark).unwrap()
    };
    let hunts = |pool: &Simulation| pool.active_need(shark(pool)) == "hunt";
    run(&mut pool, 19.0, &visitors(0, 0.0));
    // Without the director the shark does not hunt.
    assert!(!hunts(&pool));
    run(&mut pool, 3.0, &visitors(0, 0.0));
    assert!(hunts(&pool) || pool.catches() > 0);
    run(&mut pool, 4.0, &visitors(5, 0.0));
    // It does not hunt while five visitors are present.
    assert!(!hunts(&pool));
}

#[test]
fn every_shipped_scene_runs_without_faults() {
    for name in "molecules nursery plankton pool lagoon reef cascade".split(' ') {
        let site = load(None, Some(name)).unwrap_or_else(|problems| panic!("{name}: {problems}"));
        assert_eq!(site.warnings, [], "{name}");
        let scene = site.description();
        assert!(!scene.director.is_empty(), "{name} has no director rules");
        let mut pool = start(&scene);
        for second in 0..40 {
            let seen = visitors(u32::from(second > 10 && second < 20) * 3, 0.0);
            run(&mut pool, 1.0, &seen);
            let world = pool.world();
            for body in &world.agents.bodies {
                let mut solids = world.solids.iter();
                let is_outside = solids.all(|s| s.signed_distance_m(body.position_m) >= 0.0);
                assert!(is_outside, "{name}");
            }
        }
        assert_eq!(pool.quarantine_count(), 0, "{name}");
    }
}

#[test]
fn fry_stay_with_their_mother_and_grazers_eat_plankton() {
    let nursery = load(None, Some("nursery")).unwrap().description();
    let (mut near, mut samples) = (0, 0);
    for seed in 1..=3 {
        let mut pool = Simulation::new(&nursery, &pools::run(seed, 1)).unwrap();
        run(&mut pool, 15.0, &visitors(0, 0.0));
        for _ in 0..30 {
            run(&mut pool, 1.0, &visitors(0, 0.0));
            let world = pool.world();
            let of = |name: &str, own: Option<&str>| -> Vec<Vec3> {
                let agents = &world.agents;
                let is = |i: &usize| {
                    let species = &world.species[usize::from(agents.species[*i])];
                    species.name == name && species.individual.as_deref() == own
                };
                (0..agents.len())
                    .filter(is)
                    .map(|i| agents.bodies[i].position_m)
                    .collect()
            };
            let greta = of("salmon", Some("Greta"))[0];
            for young in of("fry", None) {
                near += usize::from(young.distance(greta) < 1.0);
                samples += 1;
            }
        }
    }
    let share = near as f32 / samples as f32;
    println!("share of the time that the fry are within 1 m of their mother: {share:.2}");
    assert!(share > 0.8, "{share}");

    let mut scene = load(None, Some("plankton")).unwrap().description();
    // Grazers that flee do not feed.
    scene.species.retain(|species| species.name != "trout");
    let mut pool = start(&scene);
    run(&mut pool, 60.0, &visitors(0, 0.0));
    println!("{} meals in a minute", pool.meals());
    assert!(pool.meals() >= 5, "{} meals", pool.meals());
    let feeding = |pool: &Simulation| {
        let feeds = |&index: &usize| pool.active_need(index) == "feed";
        (0..pool.world().agents.len()).filter(feeds).count()
    };
    let before = feeding(&pool);
    assert!(pool.start_rule("feeding time"));
    run(&mut pool, 0.1, &visitors(0, 0.0));
    let after = feeding(&pool);
    println!("{before} of 30 grazers were feeding before the rule, {after} after it");
    assert!(after >= 28 && before < 28, "{before}, {after}");
}

#[test]
fn molecules_are_no_fish_and_flee_from_a_visitor() {
    let site = load(None, Some("molecules")).unwrap();
    for species in &site.species {
        assert!(!species.file.groups.iter().any(|group| group == "fish"));
    }
    assert_eq!(site.species.iter().map(|s| s.count).sum::<u32>(), 22);
    let mut pool = start(&site.description());
    run(&mut pool, 5.0, &visitors(0, 0.0));
    // A visitor walks from left to right through the middle.
    let mut shadow = visitors(1, 0.0);
    let (mut near, mut samples) = (0, 0);
    for tick in 0..60 * 8 {
        let x = -2.0 + tick as f32 / 120.0;
        shadow.shadows[0].centroid_m = Vec2::new(x, 0.0);
        shadow.shadows[0].velocity_mps = Vec2::new(0.5, 0.0);
        pool.run_tick(&shadow);
        let world = pool.world();
        for body in &world.agents.bodies {
            let floor = world.water.surface.floor_from_world(body.position_m);
            near += usize::from(floor.distance(Vec2::new(x, 0.0)) < 0.4);
            samples += 1;
        }
    }
    let share = near as f32 / samples as f32;
    // The circle of radius 0.4 m around the visitor covers 0.5 of 12 m², so it would contain 4 % of evenly spread molecules.
    println!("share of the molecules near the visitor: {share:.3}");
    assert!(share < 0.02, "{share}");
}
