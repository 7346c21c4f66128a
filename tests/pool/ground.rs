//! Tests of a body that is wider than long and of an animal of the ground: the scene `reef_floor` of `docs/steering`.

use std::path::PathBuf;

use glam::{Vec2, Vec3};
use shoal::geometry::Visitor;
use shoal::simulation::Simulation;
use shoal::world::Observation;

use crate::pools;

const RUN_SECS: f64 = 100.0;
/// Time at the beginning that is not measured: an animal may start above a stone.
const SETTLE_SECS: f64 = 20.0;
/// Radius of a crab, with its largest size.
const CRAB_M: f32 = 0.035 * 1.1;

fn pool(seed: u64) -> Simulation {
    let site = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/steering/site.toml");
    let site = shoal::site::load(Some(&site), Some("reef_floor"))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let own = site.warnings.iter().filter(|w| w.file.contains("docs"));
    assert_eq!(own.count(), 0, "{:?}", site.warnings);
    Simulation::new(&site.description(), &pools::run(seed, 1)).unwrap()
}

fn of(simulation: &Simulation, name: &str) -> Vec<usize> {
    let world = simulation.world();
    let species = world.agents.species.iter().enumerate();
    let is_meant =
        |&(_, &species): &(usize, &u16)| world.species[usize::from(species)].name == name;
    species.filter(is_meant).map(|(agent, _)| agent).collect()
}

#[test]
fn a_manta_keeps_its_whole_width_clear_and_banks_in_turns() {
    let (mut least_solid_m, mut least_other_m) = (f32::MAX, f32::MAX);
    let (mut overlaps, mut samples, mut largest_bank_deg) = (0, 0, 0.0_f32);
    for seed in 1..3 {
        let mut simulation = pool(seed);
        while simulation.time_secs() < RUN_SECS {
            simulation.run_tick(&Observation::default());
            if simulation.time_secs() < SETTLE_SECS {
                continue;
            }
            let world = simulation.world();
            let agents = world.agents;
            for &manta in &of(&simulation, "manta") {
                let (hull, body) = (agents.hull(manta), &agents.bodies[manta]);
                assert!(hull.widest_m() > 0.7, "{hull:?}");
                for solid in world.solids {
                    least_solid_m = least_solid_m.min(hull.gap_m(body.position_m, solid));
                }
                largest_bank_deg = largest_bank_deg.max(body.side().y.asin().abs().to_degrees());
                for &other in &of(&simulation, "manta") {
                    if other != manta {
                        let (theirs, at) = (agents.hull(other), agents.bodies[other].position_m);
                        let between = hull.between(body.position_m, &theirs, at).length();
                        let gap_m = between - hull.radius_m - theirs.radius_m;
                        least_other_m = least_other_m.min(gap_m);
                        overlaps += u32::from(gap_m < 0.0);
                        samples += 1;
                    }
                }
            }
        }
    }
    println!(
        "gap to solids {least_solid_m:.3} m, to the other manta {least_other_m:.3} m ({overlaps} of {samples} ticks overlap), bank \
         {largest_bank_deg:.0}°"
    );
    assert!(least_solid_m > -0.03, "{least_solid_m}");
    assert!(overlaps * 200 < samples, "{overlaps} of {samples}");
    assert!(largest_bank_deg > 8.0, "{largest_bank_deg}");
}

#[test]
fn a_crab_walks_on_the_ground_climbs_low_stones_goes_round_high_ones_and_rests() {
    let low_m = -1.4;
    let (mut highest_m, mut resting, mut climbing, mut samples) = (f32::MIN, 0, 0, 0);
    for seed in 1..3 {
        let mut simulation = pool(seed);
        while simulation.time_secs() < RUN_SECS {
            simulation.run_tick(&Observation::default());
            if simulation.time_secs() < SETTLE_SECS {
                continue;
            }
            let world = simulation.world();
            for &crab in &of(&simulation, "crab") {
                let body = &world.agents.bodies[crab];
                let above_m = body.position_m.y - low_m;
                highest_m = highest_m.max(above_m);
                samples += 1;
                resting += u32::from(body.velocity_mps.length() < 0.01);
                climbing += u32::from(above_m > 2.0 * CRAB_M);
                let is_free = world
                    .solids
                    .iter()
                    .all(|s| s.signed_distance_m(body.position_m) > 0.0);
                assert!(is_free, "a crab is inside a stone at {}", body.position_m);
                assert!((body.forward.dot(body.up)).abs() < 1e-3);
            }
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(samples);
    println!(
        "highest {highest_m:.2} m above the ground; rests {:.2}, climbs {:.3} of the time",
        share(resting),
        share(climbing)
    );
    // The highest low stone reaches 0.2 m above the ground.
    assert!(highest_m < 0.25 + 2.0 * CRAB_M, "{highest_m}");
    assert!(share(climbing) > 0.003, "{}", share(climbing));
    assert!((0.15..0.9).contains(&share(resting)), "{}", share(resting));
}

#[test]
fn a_crab_flees_from_a_shadow_with_a_burst_and_stays_on_the_ground() {
    let mut simulation = pool(1);
    for _ in 0..600 {
        simulation.run_tick(&Observation::default());
    }
    let crab = of(&simulation, "crab")[0];
    let water = simulation.world().water.clone();
    let mut fastest_mps = 0.0_f32;
    for tick in 0..120 {
        let at = simulation.world().agents.bodies[crab].position_m;
        let foot = Vec2::new(at.x, at.z) / water.scale(at.y);
        let shadow = Visitor {
            id: 1,
            centroid_m: foot + Vec2::X * (0.6 - 0.004 * tick as f32),
            velocity_mps: Vec2::X * -0.5,
            radius_m: 0.25,
            area_m2: 0.2,
            age_secs: 2.0,
            ..Visitor::default()
        };
        simulation.run_tick(&Observation {
            time_secs: 0.0,
            shadows: vec![shadow],
        });
        let body = &simulation.world().agents.bodies[crab];
        fastest_mps = fastest_mps.max(body.velocity_mps.with_y(0.0).length());
        assert!(body.position_m.y < -1.4 + 0.25 + 2.0 * CRAB_M);
        assert!(body.velocity_mps.dot(Vec3::Y).abs() < 0.05);
    }
    println!("fastest {fastest_mps:.2} m/s");
    assert!(fastest_mps > 0.4, "{fastest_mps}");
}
