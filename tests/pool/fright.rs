//! A flight runs through a school.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may")]

use crate::pools;
use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::simulation::Simulation;
use shoal::site::load;
use shoal::world::Observation;

/// A pool with herring alone, and its time in ticks.
struct School {
    pool: Simulation,
    tick: u32,
}

impl School {
    fn new(seed: u64, count: u32) -> Self {
        let mut scene = load(None, Some("simple_school")).unwrap().description();
        for species in &mut scene.species {
            species.count = if species.name == "herring" { count } else { 0 };
        }
        scene.director.clear();
        let pool = Simulation::new(&scene, &pools::run(seed, 1)).unwrap();
        let mut school = Self { pool, tick: 0 };
        for _ in 0..20 * 60 {
            school.advance(None);
        }
        school
    }

    /// Runs a tick with a visitor at a place and with a velocity.
    fn advance(&mut self, visitor: Option<(Vec2, Vec2)>) {
        let shadow = visitor.map(|(at, velocity_mps)| Visitor {
            id: 1,
            centroid_m: at,
            foot_m: at,
            radius_m: 0.2,
            velocity_mps,
            area_m2: 0.12,
            age_secs: 1.0,
            ..Visitor::default()
        });
        self.pool.run_tick(&Observation {
            time_secs: f64::from(self.tick) / 60.0,
            shadows: shadow.into_iter().collect(),
        });
        self.tick += 1;
    }

    fn places(&self) -> Vec<Vec2> {
        let bodies = self.pool.world().agents.bodies.iter();
        bodies
            .map(|body| Vec2::new(body.position_m.x, body.position_m.z))
            .collect()
    }

    /// Returns the place of the middle fish, and the mean heading.
    fn middle(&self) -> (Vec2, Vec2) {
        let places = self.places();
        let mean = places.iter().sum::<Vec2>() / places.len() as f32;
        let near = |at: &&Vec2| at.distance(mean);
        let middle = places
            .iter()
            .min_by(|a, b| near(a).total_cmp(&near(b)))
            .unwrap();
        let bodies = self.pool.world().agents.bodies.iter();
        let heading: Vec2 = bodies.map(|b| Vec2::new(b.forward.x, b.forward.z)).sum();
        (*middle, heading / places.len() as f32)
    }
}

#[test]
fn a_flight_runs_through_a_school_faster_than_any_fish_swims_and_dies_out() {
    // Distance from the first fish that starts, and delay after it.
    let mut reactions: Vec<(f32, f32)> = Vec::new();
    let mut all: Vec<f32> = Vec::new();
    for seed in 1..=2 {
        let mut school = School::new(seed, 120);
        // Somebody steps in beside the school, so near that few fish see the danger themselves.
        let (middle, heading) = school.middle();
        let side = heading.perp().normalize();
        let out = |at: &Vec2| (*at - middle).dot(side);
        let edge_m = school.places().iter().map(out).fold(0.0, f32::max);
        let visitor = middle + side * (edge_m + 0.4);
        let mut first: Option<(u32, Vec<Vec2>, usize)> = None;
        for tick in 0..60 {
            school.advance(Some((visitor, Vec2::ZERO)));
            let bodies = &school.pool.world().agents.bodies;
            for (fish, body) in bodies.iter().enumerate() {
                if !body.start.is_new() {
                    continue;
                }
                let (began, places, starter) =
                    first.get_or_insert_with(|| (tick, school.places(), fish));
                if fish != *starter {
                    let way_m = places[fish].distance(places[*starter]);
                    reactions.push((way_m, (tick - *began) as f32 / 60.0));
                }
            }
        }
        if let Some((_, places, starter)) = first {
            all.extend(places.iter().map(|at| at.distance(places[starter])));
        }
    }
    let mut shares = Vec::new();
    for (from_m, to_m) in [(0.0, 0.3), (0.3, 0.6), (0.6, 1.0), (1.0, 2.0)] {
        let within = |m: &f32| (from_m..to_m).contains(m);
        let seen = all.iter().filter(|m| within(m)).count();
        let mut delays: Vec<f32> = (reactions.iter())
            .filter(|(m, _)| within(m))
            .map(|reaction| reaction.1)
            .collect();
        delays.sort_by(f32::total_cmp);
        let median_secs = delays.get(delays.len() / 2).copied();
        println!(
            "{from_m} to {to_m} m: {} of {seen} start, median after {median_secs:?} s",
            delays.len()
        );
        shares.push((delays.len() as f32 / seen.max(1) as f32, median_secs));
    }
    assert!(shares[0].0 > 0.6 && shares[1].0 > 0.3, "{shares:?}");
    assert!(shares[3].0 < 0.2, "it does not die out: {shares:?}");
    // A herring swims at most 1.5 m/s: it needs 0.5 s for 0.8 m.
    let farther_secs = shares[2].1.unwrap();
    assert!((0.05..0.4).contains(&farther_secs), "{farther_secs} s");
}
