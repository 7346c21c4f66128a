//! Tests of the example in `docs/navigation`: each of its scenes shows what its README says.

use std::path::PathBuf;

use crate::pools;
use glam::Vec3;
use shoal::simulation::Simulation;
use shoal::world::Observation;

const HZ: u32 = 60;

/// Loads a scene of the example. It must have no problems and no warnings.
fn load(scene: &str) -> Simulation {
    let site = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/navigation/site.toml");
    let site =
        shoal::site::load(Some(&site), Some(scene)).unwrap_or_else(|problems| panic!("{problems}"));
    let own = (site.warnings.iter()).filter(|warning| warning.file.contains("docs"));
    assert_eq!(own.count(), 0, "{:?}", site.warnings);
    Simulation::new(&site.description(), &pools::run(1, 1)).unwrap()
}

/// Runs a pool. Calls `look` ten times per second with the pool.
fn run(pool: &mut Simulation, secs: u32, mut look: impl FnMut(&Simulation)) {
    for tick in 0..secs * HZ {
        pool.run_tick(&Observation::default());
        if tick.is_multiple_of(HZ / 10) {
            look(pool);
        }
    }
}

/// Positions and headings of all agents of a species.
fn all(pool: &Simulation, species: &str) -> Vec<(Vec3, Vec3)> {
    let world = pool.world();
    let each = world.agents.bodies.iter().zip(&world.agents.species);
    each.filter(|(_, kind)| {
        let kind = &world.species[usize::from(**kind)];
        world.species[usize::from(kind.base_species)].name == species
    })
    .map(|(body, _)| (body.position_m, body.forward))
    .collect()
}

/// Mean position of all agents of a species.
fn middle(pool: &Simulation, species: &str) -> Vec3 {
    let all = all(pool, species);
    all.iter().map(|(at, _)| *at).sum::<Vec3>() / all.len() as f32
}

fn level_m(a: Vec3, b: Vec3) -> f32 {
    (a - b).with_y(0.0).length()
}

#[test]
fn a_current_carries_fish_past_rocks_with_radial_fields() {
    let mut pool = load("radial");
    let (mut east, mut count, mut nearest_m) = (0, 0, [f32::INFINITY; 3]);
    run(&mut pool, 40, |pool| {
        for (at, forward) in all(pool, "drifter") {
            east += u32::from(forward.x > 0.0);
            count += 1;
            for (rock, nearest_m) in pool.world().solids.iter().zip(&mut nearest_m) {
                *nearest_m = nearest_m.min(at.distance(rock.center_m()));
            }
        }
    });
    assert!(
        f64::from(east) > 0.7 * f64::from(count),
        "{east} of {count}"
    );
    assert!(nearest_m.iter().all(|&m| m < 0.6), "{nearest_m:?}");
}

#[test]
fn two_streams_cross_and_keep_their_directions() {
    let mut pool = load("swirl");
    let (mut kept, mut count) = (0, 0);
    run(&mut pool, 40, |pool| {
        for (species, way) in [("eastward", Vec3::X), ("southward", Vec3::Z)] {
            for (_, forward) in all(pool, species) {
                kept += u32::from(forward.dot(way) > 0.7);
                count += 1;
            }
        }
    });
    assert!(
        f64::from(kept) > 0.8 * f64::from(count),
        "{kept} of {count}"
    );
}

#[test]
fn a_harmonic_field_leads_all_fish_to_its_goal() {
    let mut pool = load("harmonic");
    run(&mut pool, 40, |_| {});
    for (at, _) in all(&pool, "drifter") {
        assert!(level_m(at, Vec3::new(1.5, 0.0, 0.0)) < 1.0, "{at}");
    }
}

#[test]
fn three_fish_find_their_ways_out_of_and_into_the_dead_end() {
    let mut pool = load("navigate");
    run(&mut pool, 40, |_| {});
    let [scout, companion, guest] =
        ["to_point", "to_agent", "to_gathering"].map(|species| middle(&pool, species));
    assert!(level_m(scout, Vec3::new(1.5, 0.0, 0.6)) < 0.3, "{scout}");
    assert!(level_m(companion, scout) < 0.6, "{companion} {scout}");
    assert!(level_m(guest, Vec3::new(0.0, 0.0, 0.2)) < 0.5, "{guest}");
}

#[test]
fn equals_with_one_goal_gather_there_and_with_four_goals_split() {
    let mut pool = load("equals");
    let goals = [(0.4, -1.0), (1.6, -1.0), (1.6, 1.0), (0.4, 1.0)];
    let (mut visited, mut most_goals) = ([false; 4], 0);
    run(&mut pool, 60, |pool| {
        let fish = all(pool, "four_goals");
        let is_visited = goals.map(|(x, z)| {
            let near = |(at, _): &(Vec3, Vec3)| level_m(*at, Vec3::new(x, 0.0, z)) < 0.4;
            fish.iter().any(near)
        });
        for (visited, now) in visited.iter_mut().zip(is_visited) {
            *visited |= now;
        }
        most_goals = most_goals.max(is_visited.iter().filter(|now| **now).count());
    });
    assert_eq!(visited, [true; 4]);
    assert!(most_goals > 1, "the school never split");
    let goal = Vec3::new(-1.0, 0.0, 0.0);
    for (at, _) in all(&pool, "one_goal") {
        assert!(level_m(at, goal) < 0.8, "{at}");
    }
}

#[test]
fn a_school_follows_the_goal_or_the_position_of_its_leader() {
    let mut pool = load("leaders");
    let (mut behind, mut count) = (0, 0);
    let mut apart_m = [0.0; 2];
    run(&mut pool, 60, |pool| {
        let schools = [
            ("leader_of_goal", "same_goal"),
            ("leader_of_place", "same_place"),
        ];
        if pool.time_secs() < 15.0 {
            return;
        }
        for ((leader, school), apart_m) in schools.into_iter().zip(&mut apart_m) {
            *apart_m += level_m(middle(pool, leader), middle(pool, school));
        }
        let (leader, forward) = all(pool, "leader_of_place")[0];
        let offset = middle(pool, "same_place") - leader;
        behind += u32::from(offset.dot(forward) < 0.0);
        count += 1;
    });
    let apart_m = apart_m.map(|sum| sum / count as f32);
    assert!(apart_m.iter().all(|&m| m < 0.8), "{apart_m:?}");
    assert!(
        f64::from(behind) > 0.7 * f64::from(count),
        "{behind} of {count}"
    );
}
