//! Koi of the shipped scene and a visitor in its middle who stands, stamps on the spot, walks or runs to and fro.

use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::simulation::{Simulation, SimulationParams};
use shoal::site::load;
use shoal::world::{Observation, outline_at_depth};

use crate::pools;

const HZ: f32 = 15.0;
const SEEDS: std::ops::Range<u64> = 1..6;
/// An agent within this distance of the edge of the shadow is near the visitor.
const NEAR_M: f32 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Stands,
    Stamps,
    /// Walks 1.2 m to and fro at this speed.
    Walks(f32),
}

/// Returns the visitor as `vision` reports it, who has done this for `secs`.
fn visitor(act: Act, secs: f32) -> Observation {
    let mut shadow = Visitor {
        id: 1,
        radius_m: 0.21,
        area_m2: 0.137,
        age_secs: f64::from(secs),
        ..Visitor::default()
    };
    match act {
        Act::Stands => shadow.still_secs = f64::from(secs),
        // The agitation of a stamp in infrared scenes: tests/tracking/stamping.rs.
        Act::Stamps => shadow.agitation_mps = 0.06,
        Act::Walks(speed_mps) => {
            let leg_secs = 1.2 / speed_mps;
            let (legs, along) = ((secs / leg_secs).floor(), (secs / leg_secs).fract());
            let forth = legs % 2.0 == 0.0;
            shadow.centroid_m.x = 1.2 * if forth { along } else { 1.0 - along } - 0.6;
            shadow.velocity_mps.x = if forth { speed_mps } else { -speed_mps };
            shadow.agitation_mps = 0.64 * speed_mps;
        }
    }
    shadow.foot_m = shadow.centroid_m;
    let corner = |i: u16| {
        let turn = Vec2::from_angle(f32::from(i) / 24.0 * std::f32::consts::TAU);
        shadow.centroid_m + turn * Vec2::new(0.25, 0.175)
    };
    shadow.outline_m = (0..24).map(corner).collect();
    Observation {
        time_secs: 0.0,
        shadows: vec![shadow],
    }
}

fn start(seed: u64) -> Simulation {
    let params = SimulationParams {
        tick_hz: HZ,
        ..pools::run(seed, 1)
    };
    let scene = load(None, Some("koi")).unwrap().description();
    Simulation::new(&scene, &params).unwrap()
}

/// Returns the distance of each koi from the edge of the shadow of the only visitor.
fn distances_m(simulation: &Simulation) -> Vec<(usize, f32)> {
    let world = simulation.world();
    let shadow = &world.visitors.shadows[0];
    let agents = world.agents;
    let koi = |&i: &usize| world.species[usize::from(agents.species[i])].name == "koi";
    let distance = |i: usize| {
        let at = agents.bodies[i].position_m;
        let scale = world.water.scale(at.y);
        outline_at_depth(shadow, at, agents.radii_m[i], scale).distance_m
    };
    (0..agents.len())
        .filter(koi)
        .map(|i| (i, distance(i)))
        .collect()
}

/// Returns the mean number of koi near a visitor over 30 s, after 15 s.
fn near(act: Act, seed: u64) -> f32 {
    let mut simulation = start(seed);
    let (mut sum, mut ticks) = (0, 0);
    for tick in 0..(45.0 * HZ) as u32 {
        let secs = tick as f32 / HZ;
        simulation.run_tick(&visitor(act, secs));
        if secs > 15.0 {
            sum += distances_m(&simulation)
                .iter()
                .filter(|(_, m)| *m < NEAR_M)
                .count();
            ticks += 1;
        }
    }
    sum as f32 / ticks as f32
}

#[test]
fn koi_come_to_a_standing_visitor_and_not_to_one_who_stamps_walks_or_runs() {
    let mean = |act| SEEDS.map(|seed| near(act, seed)).sum::<f32>() / SEEDS.count() as f32;
    let all = [Act::Stands, Act::Stamps, Act::Walks(0.8), Act::Walks(2.0)].map(mean);
    let [stands, stamps, walks, runs] = all;
    println!(
        "koi within {NEAR_M} m: stands {stands:.2}, stamps {stamps:.2}, walks {walks:.2}, runs {runs:.2}"
    );
    assert!(stands >= 1.0, "{stands} koi near a standing visitor");
    for (name, moving) in [("stamps", stamps), ("walks", walks), ("runs", runs)] {
        assert!(
            moving <= 0.25 * stands,
            "{moving} koi near a visitor who {name}"
        );
    }
}

/// A visitor who had stood for a minute stamps: returns for each koi that was near the edge of the shadow the time until it flees, and
/// its distance from the edge 2 s later; infinite for a koi that does not flee.
fn flights(seed: u64) -> Vec<(f32, f32)> {
    let mut simulation = start(seed);
    for tick in 0..(60.0 * HZ) as u32 {
        simulation.run_tick(&visitor(Act::Stands, tick as f32 / HZ));
    }
    let near: Vec<usize> = (distances_m(&simulation).iter())
        .filter(|(_, m)| *m < 0.3)
        .map(|(i, _)| *i)
        .collect();
    let mut delays_secs = vec![f32::INFINITY; near.len()];
    for tick in 0..(2.0 * HZ) as u32 {
        simulation.run_tick(&visitor(Act::Stamps, tick as f32 / HZ));
        for (delay_secs, &index) in delays_secs.iter_mut().zip(&near) {
            if simulation.decision(index).proposal.flees {
                *delay_secs = delay_secs.min((tick + 1) as f32 / HZ);
            }
        }
    }
    let after = distances_m(&simulation);
    let distance = |index| after.iter().find(|(i, _)| *i == index).unwrap().1;
    delays_secs
        .into_iter()
        .zip(near.iter().map(|&i| distance(i)))
        .collect()
}

#[test]
fn koi_at_a_visitor_flee_as_soon_as_a_stamp_is_felt() {
    let all: Vec<(f32, f32)> = SEEDS.flat_map(flights).collect();
    println!("delay in seconds and distance in meters after 2 s of stamping: {all:.2?}");
    assert!(all.len() >= 5, "{} koi were near", all.len());
    for (delay_secs, distance_m) in all {
        assert!(delay_secs <= 0.2, "a koi fled after {delay_secs} s");
        assert!(distance_m >= 0.2, "a koi was {distance_m} m away");
    }
}
