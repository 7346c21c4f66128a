//! What is known of ways to avoid, held to bounds: the findings of the source (000, chapter 4) with its methods, and that ours
//! has none of their faults.
//!
//! All of it is deterministic; the bounds leave room for another machine's rounding. Figures: `cargo bench --bench avoidance`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may")]

use crate::crowds;
use crate::crowds::{Figures, Method, Scene};

/// All runs of a scene with a method, over these seeds.
fn all(make: fn(u32) -> Scene, method: Method, seeds: u32, secs: f32) -> Figures {
    let mut sum = Figures::default();
    for seed in 1..=seeds {
        sum.add(&crowds::run(&make(seed), method, secs));
    }
    println!(
        "{:14} {:5.2} collisions, jitter {:5.1} °/s, speed ± {:4.1} %, loss {:4.1} %, penetration {:4.1} %, {}/{} arrived",
        method.name(),
        sum.collision_rate(),
        sum.jitter_dps(),
        sum.speed_deviation_percent(),
        sum.speed_loss_percent(),
        sum.worst_penetration_percent,
        sum.arrived,
        sum.agents
    );
    sum
}

#[test]
fn in_a_cluster_of_rocks_plain_reynolds_trembles_and_ours_does_not() {
    let roomy = |seed| crowds::cluster(seed, 2.5);
    let plain = all(roomy, Method::Reynolds, 24, 40.0);
    let ours = all(roomy, Method::Ours, 24, 40.0);
    assert!(plain.jitter_dps() > 70.0, "the finding");
    assert!(ours.jitter_dps() < 10.0);
    assert_eq!((ours.collisions, ours.arrived), (0, ours.agents));
}

/// Where the ways are hardly wider than the body, ours does no better: it does not find out of such a notch.
#[test]
fn in_a_tight_cluster_plain_reynolds_collides() {
    let plain = all(
        |seed| crowds::cluster(seed, 1.9),
        Method::Reynolds,
        24,
        40.0,
    );
    assert!(plain.collision_rate() > 1.0, "the finding");
}

#[test]
fn straight_at_a_rock_pure_fields_brake_and_surge_and_ours_does_not() {
    let fields = all(crowds::steep, Method::Linear, 12, 40.0);
    let ours = all(crowds::steep, Method::Ours, 12, 40.0);
    assert!(fields.speed_deviation_percent() > 15.0, "the finding");
    assert!(ours.speed_deviation_percent() < 8.0);
    assert_eq!((ours.collisions, ours.arrived), (0, ours.agents));
}

#[test]
fn a_change_of_formation_is_a_muddle_by_reynolds_and_calm_by_ours() {
    let plain = all(crowds::formation_change, Method::Reynolds, 1, 40.0);
    let ours = all(crowds::formation_change, Method::Ours, 1, 40.0);
    assert!(plain.collision_rate() > 1.0, "agents overlook one another");
    assert_eq!((ours.collisions, ours.arrived), (0, ours.agents));
    assert!(ours.jitter_dps() < 30.0 && plain.jitter_dps() > 5.0 * ours.jitter_dps());
}

#[test]
fn two_streams_in_a_hallway_pass_each_other() {
    let ours = all(crowds::hallway, Method::Ours, 1, 60.0);
    assert!(ours.collision_rate() <= 1.0);
    assert!(ours.worst_penetration_percent < 5.0);
    assert!(ours.jitter_dps() < 15.0);
    assert_eq!(ours.arrived, ours.agents);
}
