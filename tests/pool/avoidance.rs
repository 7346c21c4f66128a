//! Tests of collision avoidance in crowds and among rocks. All runs are deterministic. The limits in the tests have a margin for
//! different rounding on other machines. The benchmark `cargo bench --bench avoidance` prints all figures, beside those of other
//! methods.

use crate::crowds;
use crate::crowds::{Figures, Scene};

/// Runs a scene once for each seed, prints the summed figures and returns them.
fn total(make: fn(u32) -> Scene, seeds: u32, secs: f32) -> Figures {
    let mut sum = Figures::default();
    for seed in 1..=seeds {
        sum.add(&crowds::run(&make(seed), secs));
    }
    println!(
        "{:5.2} collisions, jitter {:5.1} °/s, speed ± {:4.1} %, loss {:4.1} %, overlap {:4.1} %, {}/{} arrived",
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
fn in_a_cluster_of_rocks_an_agent_does_not_oscillate() {
    let figures = total(crowds::cluster, 24, 40.0);
    assert!(figures.jitter_dps() < 10.0);
    assert_eq!((figures.collisions, figures.arrived), (0, figures.agents));
}

#[test]
fn straight_at_a_rock_the_speed_hardly_varies() {
    let figures = total(crowds::head_on, 12, 40.0);
    assert!(figures.speed_deviation_percent() < 8.0);
    assert_eq!((figures.collisions, figures.arrived), (0, figures.agents));
}

#[test]
fn a_formation_change_has_no_collisions() {
    let figures = total(crowds::formation_change, 1, 40.0);
    assert!(figures.jitter_dps() < 30.0);
    assert_eq!((figures.collisions, figures.arrived), (0, figures.agents));
}

#[test]
fn two_streams_pass_each_other_in_a_hallway() {
    let figures = total(crowds::hallway, 1, 60.0);
    assert!(figures.collision_rate() <= 1.0);
    assert!(figures.worst_overlap_percent < 5.0);
    assert!(figures.jitter_dps() < 15.0);
    assert_eq!(figures.arrived, figures.agents);
}
