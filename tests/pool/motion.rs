//! How the shipped fish move, in the figures with which paths of real fish are described: glides, turns, bursts, schools.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may")]

use crate::pools;
use glam::{Vec2, Vec3};
use shoal::simulation::Simulation;
use shoal::site::load;
use shoal::world::Observation;

/// Samples per second.
const RATE: usize = 15;

/// Positions on the floor of each agent of a species, [`RATE`] times a second, after 15 s without visitors.
struct Paths {
    at_m: Vec<Vec<Vec2>>,
    body_m: f32,
}

fn swim(scene: &str, species: &str, secs: usize) -> Paths {
    let scene = load(None, Some(scene)).unwrap().description();
    let mut pool = Simulation::new(&scene, &pools::run(3, 1)).unwrap();
    let kind = pool
        .world()
        .species
        .iter()
        .position(|s| s.name == species)
        .unwrap();
    let body_m = pool.world().species[kind].body.length_m;
    let seen = Observation {
        time_secs: 0.0,
        shadows: Vec::new(),
    };
    let mut at_m: Vec<Vec<Vec2>> = Vec::new();
    for tick in 0..(15 + secs) * 60 {
        pool.run_tick(&seen);
        if tick < 15 * 60 || tick % (60 / RATE) != 0 {
            continue;
        }
        let world = pool.world();
        let bodies = world.agents.bodies.iter().zip(&world.agents.species);
        let own = bodies.filter(|(_, own)| usize::from(**own) == kind);
        for (fish, (body, _)) in own.enumerate() {
            if at_m.len() == fish {
                at_m.push(Vec::new());
            }
            let Vec3 { x, z, .. } = body.position_m;
            at_m[fish].push(Vec2::new(x, z));
        }
    }
    Paths { at_m, body_m }
}

impl Paths {
    /// Velocities of one fish over a quarter of a second, in body lengths per second.
    fn velocities(&self, fish: usize) -> Vec<Vec2> {
        let scale = RATE as f32 / 4.0 / self.body_m;
        let path = &self.at_m[fish];
        (4..path.len())
            .map(|i| (path[i] - path[i - 4]) * scale)
            .collect()
    }

    fn fish(&self) -> std::ops::Range<usize> {
        0..self.at_m.len()
    }

    /// Share of the windows of 2 s in which a moving fish swims nearly straight on.
    fn straight_share(&self) -> f32 {
        let (mut straight, mut all) = (0.0, 0.0);
        for path in &self.at_m {
            for window in path.windows(2 * RATE).step_by(3) {
                let gross_m: f32 = window.windows(2).map(|two| two[0].distance(two[1])).sum();
                if gross_m > 0.3 * self.body_m {
                    let net_m = window[0].distance(window[window.len() - 1]);
                    straight += f32::from(u8::from(net_m > 0.95 * gross_m));
                    all += 1.0;
                }
            }
        }
        straight / all
    }

    /// 90th percentile of the turn rate of a moving fish, in degrees per second.
    fn fast_turn_dps(&self) -> f32 {
        let mut turns: Vec<f32> = Vec::new();
        for fish in self.fish() {
            for two in self.velocities(fish).windows(2) {
                if two[0].length() > 0.15 && two[1].length() > 0.15 {
                    turns.push(two[0].angle_to(two[1]).abs().to_degrees() * RATE as f32);
                }
            }
        }
        turns.sort_by(f32::total_cmp);
        turns[turns.len() * 9 / 10]
    }

    /// Bursts per fish and second, and the share of the time in which the fish slow down.
    fn bursts(&self) -> (f32, f32) {
        let (mut bursts, mut slower, mut all) = (0.0, 0.0, 0.0);
        for fish in self.fish() {
            let speeds: Vec<f32> = self.velocities(fish).iter().map(|v| v.length()).collect();
            let (mut low, mut high, mut rises) = (speeds[0], speeds[0], true);
            for two in speeds.windows(2) {
                all += 1.0;
                slower += f32::from(u8::from(two[1] < two[0]));
                (low, high) = (low.min(two[1]), high.max(two[1]));
                if rises && two[1] < high * 0.85 {
                    (rises, low) = (false, two[1]);
                } else if !rises && two[1] > low * 1.2 + 0.02 {
                    (rises, high) = (true, two[1]);
                    bursts += 1.0;
                }
            }
        }
        (bursts * RATE as f32 / all, slower / all)
    }

    /// Median length of the mean of all headings: 1 if all fish swim the same way.
    fn polarization(&self) -> f32 {
        let headings: Vec<Vec<Vec2>> = (self.fish())
            .map(|fish| {
                self.velocities(fish)
                    .iter()
                    .map(|v| v.normalize_or_zero())
                    .collect()
            })
            .collect();
        let count = headings.len() as f32;
        let mut each: Vec<f32> = (0..headings[0].len())
            .map(|i| (headings.iter().map(|own| own[i]).sum::<Vec2>() / count).length())
            .collect();
        each.sort_by(f32::total_cmp);
        each[each.len() / 2]
    }
}

#[test]
fn large_fish_glide_straight_on_and_turn_slowly() {
    for (scene, species) in [("koi", "koi"), ("aquarium", "shark")] {
        let paths = swim(scene, species, 120);
        let (straight, turn_dps) = (paths.straight_share(), paths.fast_turn_dps());
        println!(
            "{species}: straight {straight:.2} of the time, 90 % of the turns below {turn_dps:.0} degrees/s"
        );
        // Before bodies had a gait of their own for cruising: koi 0.27 and 139.
        assert!(
            straight >= 0.5 && turn_dps <= 70.0,
            "{species}: {straight} {turn_dps}"
        );
    }
}

#[test]
fn small_fish_swim_in_bursts_and_glides() {
    for (scene, species) in [("simple_school", "herring"), ("nursery", "fry")] {
        let (bursts, slower) = swim(scene, species, 30).bursts();
        println!(
            "{species}: {bursts:.2} bursts a second, slower and slower for {slower:.2} of the time"
        );
        // Zebrafish: 0.9 to 1.7 bursts a second, 0.57 to 0.60 of the time.
        assert!(
            (0.8..1.5).contains(&bursts) && slower >= 0.54,
            "{species}: {bursts} {slower}"
        );
    }
}

#[test]
fn herring_and_simple_fish_school() {
    for species in ["herring", "simple_fish"] {
        let polarization = swim("simple_school", species, 40).polarization();
        println!("{species}: polarization {polarization:.2}");
        assert!(polarization >= 0.8, "{species}: {polarization}");
    }
}

/// A fixed bug: a herring changed between hiding, fleeing and schooling 22 times a minute, and 40 % of these episodes were shorter than
/// a quarter of a second.
#[test]
fn herrings_do_not_tremble_between_schooling_and_flight() {
    let scene = load(None, Some("pool")).unwrap().description();
    let mut pool = Simulation::new(&scene, &pools::run(3, 1)).unwrap();
    let count = pool.world().agents.len();
    let mut flights = vec![0; count];
    let mut ticks = Vec::new();
    for _ in 0..90 * 60 {
        pool.run_tick(&Observation::default());
        for (index, since) in flights.iter_mut().enumerate() {
            let world = pool.world();
            let is_herring =
                world.species[usize::from(world.agents.species[index])].name == "herring";
            if is_herring && pool.decision(index).proposal.flees {
                *since += 1;
            } else if *since > 0 {
                ticks.push(std::mem::take(since));
            }
        }
    }
    let short = ticks.iter().filter(|&&ticks| ticks < 18).count();
    println!(
        "{} flights of herrings, {short} of them shorter than 0.3 s",
        ticks.len()
    );
    assert!(ticks.len() >= 20, "{}", ticks.len());
    assert!(20 * short <= ticks.len(), "{short} of {}", ticks.len());
}
