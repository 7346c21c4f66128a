//! Scenes that must come true with the shipped species, over a few seeds; over 20 in `./scripts/verify behavior`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may"
)]

use crate::pools;
use glam::{Vec2, Vec3};
use shoal::behavior::ActionParams;
use shoal::simulation::{Change, SceneDescription, Simulation};
use shoal::world::{Observation, ObstacleParams, Shadow, SphereParams};

const HZ: u64 = 60;

/// A few seeds, or the 20 of a verification.
fn seeds() -> std::ops::RangeInclusive<u64> {
    let is_verified = std::env::var_os("SHOAL_VERIFY").is_some();
    1..=if is_verified { 20 } else { 3 }
}

/// A figure beside what is wanted, for `scripts/verify`.
fn tell(name: &str, wanted: &str, got: &str, is_good: bool) {
    let verdict = if is_good { "ok" } else { "short" };
    println!("verify: {name} | {wanted} | {got} | {verdict}");
}

fn least(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::INFINITY, f32::min)
}

fn most(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

fn start(scene: &SceneDescription, seed: u64) -> Simulation {
    Simulation::new(scene, &pools::run(seed, 1)).unwrap()
}

fn nobody() -> Observation {
    Observation::default()
}

fn visitor(at: Vec2, velocity_mps: Vec2, radius_m: f32, still_secs: f32) -> Observation {
    Observation {
        time_secs: 0.0,
        shadows: vec![Shadow {
            id: 1,
            centroid_m: at,
            foot_m: at,
            radius_m,
            velocity_mps,
            area_m2: 3.1 * radius_m * radius_m,
            age_secs: still_secs + 1.0,
            still_secs,
            outline_m: vec![],
        }],
    }
}

fn live(simulation: &mut Simulation, secs: u64) {
    for _ in 0..secs * HZ {
        simulation.run_tick(&nobody());
    }
}

fn places(simulation: &Simulation, species: &str) -> Vec<Vec3> {
    let world = simulation.world();
    let agents = &world.agents;
    (0..agents.len())
        .filter(|&index| world.species[usize::from(agents.species[index])].name == species)
        .map(|index| agents.bodies[index].position_m)
        .collect()
}

/// Size of the largest group that hangs together by links no longer than `link_m`.
fn largest_group(places: &[Vec3], link_m: f32) -> usize {
    let mut group: Vec<usize> = (0..places.len()).collect();
    loop {
        let mut changed = false;
        for a in 0..places.len() {
            for b in 0..places.len() {
                if group[a] < group[b] && places[a].distance(places[b]) <= link_m {
                    group[b] = group[a];
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    (0..places.len())
        .map(|g| group.iter().filter(|&&other| other == g).count())
        .max()
        .unwrap_or(0)
}

#[test]
fn a_school_forms_and_forms_again_after_a_scare() {
    let (mut least_again, mut longest_secs) = (12, 0.0f32);
    for seed in seeds() {
        let scene = pools::pool_with(vec![pools::species("salmon", 12)]);
        let mut simulation = start(&scene, seed);
        live(&mut simulation, 20);
        let formed = largest_group(&places(&simulation, "salmon"), 0.8);
        // Somebody jumps right into the school and runs about in it.
        let school = places(&simulation, "salmon");
        let middle = school.iter().sum::<Vec3>() / school.len() as f32 / 1.2;
        for tick in 0..3 * HZ {
            let swing = Vec2::from_angle(tick as f32 * 0.1) * 0.4;
            let at = Vec2::new(middle.x, middle.z) + swing;
            simulation.run_tick(&visitor(at, swing.perp() * 6.0, 0.4, 0.0));
        }
        let scared = largest_group(&places(&simulation, "salmon"), 0.8);
        let mut secs = None;
        for tick in 0..20 * HZ {
            simulation.run_tick(&nobody());
            if secs.is_none() && largest_group(&places(&simulation, "salmon"), 0.8) == 12 {
                secs = Some(tick as f32 / HZ as f32);
            }
        }
        let again = largest_group(&places(&simulation, "salmon"), 0.8);
        println!(
            "seed {seed}: {formed} together, {scared} right after the scare, all 12 after {secs:?} s, {again} 20 s later"
        );
        longest_secs = longest_secs.max(secs.unwrap_or(20.0));
        least_again = least_again.min(again);
        assert!(formed >= 11, "seed {seed}: {formed} of 12 found together");
        assert!(
            again >= 11,
            "seed {seed}: {again} of 12 found together again"
        );
    }
    let got = format!("at least {least_again} of 12, all after at most {longest_secs:.1} s");
    tell(
        "a school of 12 re-forms after a scare",
        "within 20 s",
        &got,
        least_again >= 11,
    );
}

/// The flee distance of a species from a visitor who moves.
fn flee_distance_m(species: &str) -> f32 {
    match pools::species(species, 1).mind.actions.get("evade_shadow") {
        Some(ActionParams::EvadeShadow(evade)) => evade.flee_distance_m,
        other => panic!("{species} does not evade shadows: {other:?}"),
    }
}

/// How many fish are nearer to a shadow's edge than a share of their own flee distance, against how many there would be if
/// all were spread evenly over the picture: inside and even, summed over ticks.
fn crowd_near(simulation: &Simulation, at: Vec2, flees_m: &[f32], share: f32) -> Vec2 {
    let world = simulation.world();
    let visible = world.water.surface.half_extent_m();
    let mut sum = Vec2::ZERO;
    for (index, body) in world.agents.bodies.iter().enumerate() {
        let scale = world.water.scale(body.position_m.y);
        let offset = world.water.surface.floor_from_world(body.position_m) - at;
        // As it is seen on the surface: the flee distance shrinks with the depth, the shadow of 0.25 m does not.
        let flee_m = flees_m[usize::from(world.agents.species[index])];
        let radius = (flee_m * share + world.agents.radii_m[index]) / scale + 0.25;
        sum.x += f32::from(u8::from(offset.length() < radius));
        let side =
            |at: f32, half: f32| ((at + radius).min(half) - (at - radius).max(-half)).max(0.0);
        let area = side(at.x, visible.x) * side(at.y, visible.y) * std::f32::consts::FRAC_PI_4;
        sum.y += area / (visible.x * visible.y * 4.0);
    }
    sum
}

#[test]
fn a_visitor_walking_through_empties_a_circle() {
    let flees: Vec<f32> = pools::pool()
        .species
        .iter()
        .map(|s| flee_distance_m(&s.name))
        .collect();
    let (mut circles, mut cores, mut longests) = (Vec::new(), Vec::new(), Vec::new());
    for seed in seeds() {
        let mut simulation = start(&pools::pool(), seed);
        live(&mut simulation, 10);
        let (mut circle, mut core) = (Vec2::ZERO, Vec2::ZERO);
        let mut under_secs = vec![0.0f32; simulation.world().agents.len()];
        let mut longest = 0.0f32;
        for walk in 0..4 {
            // Through the picture from edge to edge, to and fro, at a stroll; then nobody for a while.
            let direction = if walk % 2 == 0 { 1.0 } else { -1.0 };
            for tick in 0..5 * HZ {
                let x = -2.0 + tick as f32 / HZ as f32 * 0.8;
                let at = Vec2::new(x * direction, 0.4 - 0.3 * walk as f32);
                simulation.run_tick(&visitor(at, Vec2::new(0.8 * direction, 0.0), 0.25, 0.0));
                if tick > HZ {
                    circle += crowd_near(&simulation, at, &flees, 1.0);
                    core += crowd_near(&simulation, at, &flees, 0.5);
                }
                let world = simulation.world();
                for (index, body) in world.agents.bodies.iter().enumerate() {
                    let offset = world.water.surface.floor_from_world(body.position_m) - at;
                    let is_under = offset.length() < 0.25;
                    under_secs[index] = if is_under {
                        under_secs[index] + 1.0 / HZ as f32
                    } else {
                        0.0
                    };
                    longest = longest.max(under_secs[index]);
                }
            }
            live(&mut simulation, 5);
        }
        let (circle, core) = (circle.x / circle.y, core.x / core.y);
        println!(
            "seed {seed}: within the flee distance {:.0} % of an even spread, within half of it {:.0} %; longest under {longest:.2} s",
            circle * 100.0,
            core * 100.0
        );
        circles.push(circle);
        cores.push(core);
        longests.push(longest);
    }
    let mean = circles.iter().sum::<f32>() / circles.len() as f32;
    let (core, longest) = (most(&cores), most(&longests));
    let is_good = mean < 0.25 && core < 0.1 && longest <= 1.0;
    let got = format!(
        "{:.0} % on the mean and at most {:.0} %, within half of it at most {:.0} %, {longest:.2} s under it",
        mean * 100.0,
        most(&circles) * 100.0,
        core * 100.0
    );
    tell(
        "a walker empties the circle of the flee distance (of an even spread)",
        "< 25 %, half < 10 %, <= 1 s under",
        &got,
        is_good,
    );
    assert!(is_good, "{got}");
}

/// When somebody who stands there, still or restless, first has had the company of a fish within a step for a second.
fn company_after_secs(seed: u64, is_still: bool) -> f32 {
    let mut simulation = start(&pools::pool(), seed);
    live(&mut simulation, 5);
    let at = Vec2::new(0.2, 0.0);
    let mut together = 0.0f32;
    for tick in 0..60 * HZ {
        let secs = tick as f32 / HZ as f32;
        let still_secs = if is_still { secs } else { 0.0 };
        simulation.run_tick(&visitor(at, Vec2::ZERO, 0.25, still_secs));
        let world = simulation.world();
        let is_near = |at_m: Vec3| world.water.surface.floor_from_world(at_m).distance(at) < 0.35;
        let has_company = world
            .agents
            .bodies
            .iter()
            .any(|body| is_near(body.position_m));
        together = if has_company && secs >= 10.0 {
            together + 1.0 / HZ as f32
        } else {
            0.0
        };
        if together >= 1.0 {
            return secs;
        }
    }
    f32::INFINITY
}

#[test]
fn one_who_stands_still_has_company_and_one_who_fidgets_has_none() {
    let mut latest = Vec::new();
    for seed in seeds() {
        let (still, restless) = (
            company_after_secs(seed, true),
            company_after_secs(seed, false),
        );
        println!(
            "seed {seed}: company after {still:.1} s when still, {restless:.1} s when restless"
        );
        latest.push(still);
        assert!(
            restless > 40.0,
            "seed {seed}: company after {restless} s although restless"
        );
    }
    let latest = most(&latest);
    tell(
        "one who stands still for 10 s has company",
        "within 30 s",
        &format!("after at most {latest:.1} s"),
        latest <= 30.0,
    );
    assert!(latest <= 30.0, "company after {latest} s only");
}

/// Catches a minute of a hunter that never tires, among 40 salmon that school or do not.
fn catches_per_minute(seed: u64, schools: bool, secs: u64) -> f32 {
    let mut salmon = pools::species("salmon", 40);
    if let Some(ActionParams::FlockWithRelation(flock)) = salmon.mind.actions.get_mut("flock")
        && !schools
    {
        flock.weight = 0.0;
    }
    let mut simulation = start(
        &pools::pool_with(vec![pools::species("shark", 1), salmon]),
        seed,
    );
    live(&mut simulation, 15);
    for second in 0..secs {
        // It hunts again as soon as it has caught one.
        if second % 2 == 0 {
            simulation.apply(Change::Hunting {
                species: Some("shark".into()),
                on: true,
            });
        }
        live(&mut simulation, 1);
    }
    simulation.catches() as f32 * 60.0 / secs as f32
}

#[test]
fn a_hunter_catches_fewer_when_its_prey_school() {
    let secs = if *seeds().end() > 3 { 180 } else { 60 };
    let mut differences = Vec::new();
    let (mut sum_school, mut sum_alone) = (0.0, 0.0);
    for seed in seeds() {
        let (school, alone) = (
            catches_per_minute(seed, true, secs),
            catches_per_minute(seed, false, secs),
        );
        println!(
            "seed {seed}: {school:.1} catches a minute from a school, {alone:.1} from single fish"
        );
        differences.push(alone - school);
        (sum_school, sum_alone) = (sum_school + school, sum_alone + alone);
    }
    let count = differences.len() as f32;
    let mean = differences.iter().sum::<f32>() / count;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f32>() / (count - 1.0);
    // Student's t for 95 % on both sides, with 19 degrees of freedom, or 2.
    let t = if count > 10.0 { 2.093 } else { 4.303 };
    let half = t * (variance / count).sqrt();
    let got = format!(
        "{:.1} against {:.1} a minute: {mean:.2} fewer, 95 % within {:.2} to {:.2}",
        sum_school / count,
        sum_alone / count,
        mean - half,
        mean + half
    );
    tell(
        "a hunter catches fewer from a school",
        "> 0 fewer",
        &got,
        mean - half > 0.0,
    );
    assert!(mean > 0.0, "{got}");
    assert!(count < 10.0 || mean - half > 0.0, "{got}");
}

/// Share of the time in which the rock stands between trout and shark, over 60 s from the first 10 s on.
fn hidden_share(seed: u64, hides: bool) -> f32 {
    let mut trout = pools::species("trout", 1);
    if let Some(ActionParams::HideFromEnemy(hide)) = trout.mind.actions.get_mut("hide_from_enemy")
        && !hides
    {
        hide.weight = 0.0;
    }
    let mut scene = pools::pool_with(vec![trout, pools::species("shark", 1)]);
    let rock = Vec3::new(-0.2, -0.95, 0.1);
    scene.obstacles = vec![ObstacleParams::Sphere(SphereParams {
        center_m: rock.to_array(),
        radius_m: 0.38,
    })];
    let mut simulation = start(&scene, seed);
    let (mut hidden, mut close) = (0, 0);
    for tick in 0..70 * HZ {
        // The shark circles the rock, as a hunter does.
        let angle = tick as f32 / HZ as f32 * 0.35;
        let at = rock + Vec3::new(angle.cos(), 0.0, angle.sin()) * 1.1;
        simulation.place(1, at, Vec3::new(-angle.sin(), 0.0, angle.cos()));
        if tick == 0 {
            simulation.place(0, rock + Vec3::new(-0.6, 0.0, 0.0), Vec3::X);
        }
        simulation.run_tick(&nobody());
        let world = simulation.world();
        let (trout, shark) = (&world.agents.bodies[0], &world.agents.bodies[1]);
        let distance = trout.position_m.distance(shark.position_m);
        if tick > 10 * HZ && distance < 2.5 {
            close += 1;
            let hides = |solid: &shoal::geometry::Solid| {
                solid.hides(shark.position_m, trout.position_m, world.agents.radii_m[0])
            };
            hidden += usize::from(world.solids.iter().any(hides));
        }
    }
    hidden as f32 / close.max(1) as f32
}

#[test]
fn a_trout_with_a_rock_hides_and_stays_hidden() {
    let (mut hidden, mut gains) = (Vec::new(), Vec::new());
    for seed in seeds() {
        let (with, without) = (hidden_share(seed, true), hidden_share(seed, false));
        println!(
            "seed {seed}: hidden {:.0} % of the time, {:.0} % without hiding",
            with * 100.0,
            without * 100.0
        );
        hidden.push(with);
        gains.push(with - without);
    }
    let (hidden, gain) = (least(&hidden), least(&gains));
    let got = format!(
        "at least {:.0} % of the time hidden, {:.0} points more than without hiding",
        hidden * 100.0,
        gain * 100.0
    );
    tell(
        "a trout hides and stays hidden",
        "> 80 %, > 20 points",
        &got,
        hidden > 0.8 && gain > 0.2,
    );
    assert!(hidden > 0.8 && gain > 0.2, "{got}");
}
