//! Tests of the methods for collision avoidance. The methods of Karpowicz 2011 must show the faults that his chapter 4
//! reports, and our method must not show them.
//!
//! All runs are deterministic. The limits in the tests have a margin for different rounding on other machines. The benchmark
//! `cargo bench --bench avoidance` prints all figures.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may")]

use crate::crowds;
use crate::crowds::{Figures, Method, Scene};

/// Runs a scene with a method once for each seed, prints the summed figures and returns them.
fn total(make: fn(u32) -> Scene, method: Method, seeds: u32, secs: f32) -> Figures {
    let mut sum = Figures::default();
    for seed in 1..=seeds {
        sum.add(&crowds::run(&make(seed), method, secs));
    }
    println!(
        "{:14} {:5.2} collisions, jitter {:5.1} °/s, speed ± {:4.1} %, loss {:4.1} %, overlap {:4.1} %, {}/{} arrived",
        method.name(),
        sum.collision_rate(),
        sum.jitter_dps(),
        sum.speed_deviation_percent(),
        sum.speed_loss_percent(),
        sum.worst_overlap_percent,
        sum.arrived,
        sum.agents
    );
    sum
}

#[test]
fn in_a_cluster_of_rocks_plain_reynolds_oscillates_and_ours_does_not() {
    let roomy = |seed| crowds::cluster(seed, 2.5);
    let plain = total(roomy, Method::Reynolds, 24, 40.0);
    let ours = total(roomy, Method::Ours, 24, 40.0);
    assert!(plain.jitter_dps() > 70.0, "the finding of Karpowicz 2011");
    assert!(ours.jitter_dps() < 10.0);
    assert_eq!((ours.collisions, ours.arrived), (0, ours.agents));
}

/// There is no check of our method here, because it also fails in passages hardly wider than the body: an agent does not
/// find the way out of a narrow dead end.
#[test]
fn in_a_tight_cluster_plain_reynolds_collides() {
    let plain = total(
        |seed| crowds::cluster(seed, 1.9),
        Method::Reynolds,
        24,
        40.0,
    );
    assert!(
        plain.collision_rate() > 1.0,
        "the finding of Karpowicz 2011"
    );
}

#[test]
fn straight_at_a_rock_the_speed_varies_with_pure_fields_and_hardly_with_ours() {
    let fields = total(crowds::head_on, Method::Linear, 12, 40.0);
    let ours = total(crowds::head_on, Method::Ours, 12, 40.0);
    assert!(
        fields.speed_deviation_percent() > 15.0,
        "the finding of Karpowicz 2011"
    );
    assert!(ours.speed_deviation_percent() < 8.0);
    assert_eq!((ours.collisions, ours.arrived), (0, ours.agents));
}

#[test]
fn a_formation_change_has_many_collisions_with_reynolds_and_none_with_ours() {
    let plain = total(crowds::formation_change, Method::Reynolds, 1, 40.0);
    let ours = total(crowds::formation_change, Method::Ours, 1, 40.0);
    assert!(
        plain.collision_rate() > 1.0,
        "Reynolds ignores all but one neighbor"
    );
    assert_eq!((ours.collisions, ours.arrived), (0, ours.agents));
    assert!(ours.jitter_dps() < 30.0 && plain.jitter_dps() > 5.0 * ours.jitter_dps());
}

#[test]
fn two_streams_pass_each_other_in_a_hallway() {
    let ours = total(crowds::hallway, Method::Ours, 1, 60.0);
    assert!(ours.collision_rate() <= 1.0);
    assert!(ours.worst_overlap_percent < 5.0);
    assert!(ours.jitter_dps() < 15.0);
    assert_eq!(ours.arrived, ours.agents);
}
