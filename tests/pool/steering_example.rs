//! Tests of the example in `docs/steering`: each of its species shows one steering behavior, and the behavior has its effect.

use std::path::PathBuf;

use crate::pools;
use glam::Vec3;
use shoal::life::{LifeRecorder, LifeReport, RunName};
use shoal::simulation::Simulation;
use shoal::world::Observation;

/// Time at the beginning that is not measured: the agents start at random positions.
const SETTLE_SECS: f64 = 20.0;
const RUN_SECS: f64 = 60.0;

/// Runs a scene of the example, and calls `look` with the species name, position and velocity of each agent ten times per second.
fn run(scene: &str, mut look: impl FnMut(&str, Vec3, Vec3)) -> LifeReport {
    let site = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/steering/site.toml");
    let site =
        shoal::site::load(Some(&site), Some(scene)).unwrap_or_else(|problems| panic!("{problems}"));
    let own = site
        .warnings
        .iter()
        .filter(|warning| warning.file.contains("docs"));
    assert_eq!(own.count(), 0, "{:?}", site.warnings);
    let mut simulation = Simulation::new(&site.description(), &pools::run(1, 1)).unwrap();
    let name = RunName {
        scene: scene.into(),
        program: None,
        seed: 1,
        seconds: RUN_SECS,
    };
    let mut recorder = LifeRecorder::new(name, &simulation);
    while simulation.time_secs() < RUN_SECS {
        simulation.run_tick(&Observation::default());
        recorder.record(&simulation);
        if simulation.time_secs() > SETTLE_SECS && simulation.tick().is_multiple_of(6) {
            let world = simulation.world();
            for (body, species) in world.agents.bodies.iter().zip(&world.agents.species) {
                let name = &world.species[usize::from(*species)].name;
                look(name, body.position_m, body.velocity_mps);
            }
        }
    }
    recorder.finish()
}

/// Share of samples for which a condition holds.
#[derive(Default)]
struct Share {
    yes: f32,
    all: f32,
}

impl Share {
    fn add(&mut self, holds: bool) {
        self.yes += f32::from(u8::from(holds));
        self.all += 1.0;
    }

    fn value(&self) -> f32 {
        self.yes / self.all
    }
}

#[test]
fn every_species_executes_its_behavior_and_the_behavior_has_its_effect() {
    let [
        mut contained,
        mut near_course,
        mut forward,
        mut channel,
        mut rock,
        mut round,
    ] = std::array::from_fn(|_| Share::default());
    let rock_m = Vec3::new(-1.8, -0.9, 0.9);
    let report = run("steering", |name, at, velocity| match name {
        "contained" => {
            let offset = (at - Vec3::new(-1.8, -0.7, -1.0)).abs();
            contained.add(offset.cmple(Vec3::new(0.9, 0.5, 0.7)).all());
        }
        "lane_swimmer" => {
            // The course surrounds the origin clockwise, seen from above with z downwards.
            near_course.add(at.y < -0.4 && at.y > -0.8);
            let around = at.with_y(0.0).cross(velocity.with_y(0.0)).y;
            forward.add(around < 0.0);
        }
        "path_keeper" => channel.add((at.z * at.z + (at.y + 0.9).powi(2)).sqrt() < 0.4),
        "wall_follower" => rock.add(at.distance(rock_m) < 0.45 + 0.35),
        "netted" => round.add(at.distance(Vec3::new(1.8, -0.7, 0.6)) > 0.5),
        _ => {}
    });
    for species in &report.species {
        let act = species
            .actions
            .iter()
            .find(|action| action.name == "act")
            .unwrap();
        assert!(
            act.executions > 0,
            "{}: the behavior was never executed",
            species.name
        );
    }
    for (name, share, wanted) in [
        ("contained is inside its region", contained, 0.9),
        (
            "lane_swimmer is at the depth of the course",
            near_course,
            0.8,
        ),
        ("lane_swimmer swims along the course", forward, 0.75),
        ("path_keeper is in the channel", channel, 0.8),
        ("wall_follower is near the rock", rock, 0.6),
        ("netted is outside the round place", round, 0.95),
    ] {
        assert!(
            share.all > 0.0 && share.value() >= wanted,
            "{name}: {:.2} of the time",
            share.value()
        );
    }
    let chaser = report
        .species
        .iter()
        .find(|species| species.name == "chaser")
        .unwrap();
    assert!(chaser.actions[0].share.whole > 0.1);
}

#[test]
fn a_flock_stays_together_and_followers_follow() {
    let report = run("groups", |_, _, _| {});
    for name in ["flocker", "follower"] {
        let mut species = report.species.iter();
        let species = species.find(|species| species.name == name).unwrap();
        let mut actions = species.actions.iter();
        let act = actions.find(|action| action.name == "act").unwrap();
        assert!(act.share.whole > 0.8, "{name}: {:.2}", act.share.whole);
    }
}
