//! Tests of the behavior of the shipped species in typical situations, with 3 seeds. `./scripts/verify behavior` runs them
//! with 20 seeds.

use crate::pools;
use crate::pools::sphere;
use glam::{Vec2, Vec3};
use shoal::behavior::ActionParams;
use shoal::geometry::Visitor;
use shoal::simulation::{Change, SceneDescription, Simulation};
use shoal::world::{Effect, HuntingEffect, Observation};

const HZ: u64 = 60;

/// Returns the seeds of the runs: 1 to 3, or 1 to 20 if the environment variable `SHOAL_VERIFY` is set.
fn seeds() -> std::ops::RangeInclusive<u64> {
    let is_verified = std::env::var_os("SHOAL_VERIFY").is_some();
    1..=if is_verified { 20 } else { 3 }
}

/// Prints a measured value next to the required value, in the format that `scripts/verify` reads.
fn report(name: &str, wanted: &str, got: &str, is_good: bool) {
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

fn no_visitors() -> Observation {
    Observation::default()
}

fn visitor(at: Vec2, velocity_mps: Vec2, radius_m: f32, still_secs: f32) -> Observation {
    Observation {
        time_secs: 0.0,
        shadows: vec![Visitor {
            id: 1,
            centroid_m: at,
            foot_m: at,
            radius_m,
            velocity_mps,
            area_m2: 3.1 * radius_m * radius_m,
            age_secs: f64::from(still_secs + 1.0),
            still_secs: f64::from(still_secs),
            ..Visitor::default()
        }],
    }
}

fn run(simulation: &mut Simulation, secs: u64) {
    for _ in 0..secs * HZ {
        simulation.run_tick(&no_visitors());
    }
}

fn positions(simulation: &Simulation, species: &str) -> Vec<Vec3> {
    let world = simulation.world();
    let agents = &world.agents;
    (0..agents.len())
        .filter(|&index| world.species[usize::from(agents.species[index])].name == species)
        .map(|index| agents.bodies[index].position_m)
        .collect()
}

/// Returns the size of the largest group of agents. Two agents at a distance of at most `link_m` are in the same group.
fn largest_group(positions: &[Vec3], link_m: f32) -> usize {
    let mut group: Vec<usize> = (0..positions.len()).collect();
    loop {
        let mut changed = false;
        for a in 0..positions.len() {
            for b in 0..positions.len() {
                if group[a] < group[b] && positions[a].distance(positions[b]) <= link_m {
                    group[b] = group[a];
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    (0..positions.len())
        .map(|g| group.iter().filter(|&&other| other == g).count())
        .max()
        .unwrap_or(0)
}

#[test]
fn a_school_forms_again_after_a_scare() {
    let (mut least_again, mut longest_secs) = (12, 0.0f32);
    for seed in seeds() {
        let scene = pools::pool_with(vec![pools::species("salmon", 12)]);
        let mut simulation = start(&scene, seed);
        run(&mut simulation, 20);
        let formed = largest_group(&positions(&simulation, "salmon"), 0.8);
        // A visitor jumps into the school and runs in circles.
        let school = positions(&simulation, "salmon");
        let middle = school.iter().sum::<Vec3>() / school.len() as f32 / 1.2;
        for tick in 0..3 * HZ {
            let swing = Vec2::from_angle(tick as f32 * 0.1) * 0.4;
            let at = Vec2::new(middle.x, middle.z) + swing;
            simulation.run_tick(&visitor(at, swing.perp() * 6.0, 0.4, 0.0));
        }
        let scared = largest_group(&positions(&simulation, "salmon"), 0.8);
        let mut secs = None;
        for tick in 0..20 * HZ {
            simulation.run_tick(&no_visitors());
            if secs.is_none() && largest_group(&positions(&simulation, "salmon"), 0.8) == 12 {
                secs = Some(tick as f32 / HZ as f32);
            }
        }
        let again = largest_group(&positions(&simulation, "salmon"), 0.8);
        println!(
            "seed {seed}: largest group {formed} before the scare, {scared} right after it, {again} 20 s later; all 12 after {secs:?} s"
        );
        longest_secs = longest_secs.max(secs.unwrap_or(20.0));
        least_again = least_again.min(again);
        assert!(
            formed >= 11,
            "seed {seed}: only {formed} of 12 formed a school"
        );
        assert!(
            again >= 11,
            "seed {seed}: only {again} of 12 formed a school after the scare"
        );
    }
    let got = format!("at least {least_again} of 12, all after at most {longest_secs:.1} s");
    report(
        "a school of 12 re-forms after a scare",
        "within 20 s",
        &got,
        least_again >= 11,
    );
}

/// Returns the distance in meters at which a species flees from a moving visitor.
fn flee_distance_m(species: &str) -> f32 {
    match pools::species(species, 1).mind.actions.get("evade_shadow") {
        Some(ActionParams::EvadeShadow(evade)) => evade.flee_distance_m,
        other => panic!("{species} does not evade shadows: {other:?}"),
    }
}

/// Counts the fish whose distance from a shadow's edge is less than `share` times their flee distance. Returns this number
/// in `x`, and in `y` the number for fish that are spread evenly over the projected area.
fn crowd_near(simulation: &Simulation, at: Vec2, flees_m: &[f32], share: f32) -> Vec2 {
    let world = simulation.world();
    let visible = world.water.surface.half_extent_m();
    let mut sum = Vec2::ZERO;
    for (index, body) in world.agents.bodies.iter().enumerate() {
        let scale = world.water.scale(body.position_m.y);
        let offset = world.water.surface.floor_from_world(body.position_m) - at;
        // All distances are projected to the surface. The flee distance of a deeper fish becomes shorter there, but the
        // shadow's radius of 0.25 m does not change.
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
fn fish_leave_the_flee_distance_around_a_walking_visitor() {
    let flees: Vec<f32> = pools::pool()
        .species
        .iter()
        .map(|s| flee_distance_m(&s.name))
        .collect();
    let (mut circles, mut cores, mut longests) = (Vec::new(), Vec::new(), Vec::new());
    for seed in seeds() {
        let mut simulation = start(&pools::pool(), seed);
        run(&mut simulation, 10);
        let (mut circle, mut core) = (Vec2::ZERO, Vec2::ZERO);
        let mut under_secs = vec![0.0f32; simulation.world().agents.len()];
        let mut longest = 0.0f32;
        for walk in 0..4 {
            // The visitor walks across the projected area from edge to edge at 0.8 m/s, then stays away for 5 s.
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
            run(&mut simulation, 5);
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
        "{:.0} % on average and at most {:.0} %, within half the flee distance at most {:.0} %, {longest:.2} s under the shadow",
        mean * 100.0,
        most(&circles) * 100.0,
        core * 100.0
    );
    report(
        "fish within the flee distance of a walking visitor (share of an even spread)",
        "< 25 %, within half < 10 %, <= 1 s under the shadow",
        &got,
        is_good,
    );
    assert!(is_good, "{got}");
}

/// Returns the time in seconds until a fish has been within 0.35 m of a standing visitor for 1 s without a gap. The first 10 s
/// do not count. Returns infinity if this does not happen within 60 s. If `is_still` is false, the visitor stays at the same
/// point but is never reported as still.
fn company_after_secs(seed: u64, is_still: bool) -> f32 {
    let mut simulation = start(&pools::pool(), seed);
    run(&mut simulation, 5);
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
fn fish_come_to_a_still_visitor_but_not_to_a_restless_one() {
    let mut latest = Vec::new();
    for seed in seeds() {
        let (still, restless) = (
            company_after_secs(seed, true),
            company_after_secs(seed, false),
        );
        println!(
            "seed {seed}: fish came to the still visitor after {still:.1} s, to the restless one after {restless:.1} s"
        );
        latest.push(still);
        assert!(
            restless > 40.0,
            "seed {seed}: fish came to the restless visitor after {restless} s"
        );
    }
    let latest = most(&latest);
    report(
        "fish come to a visitor who stands still for 10 s",
        "within 30 s",
        &format!("after at most {latest:.1} s"),
        latest <= 30.0,
    );
    assert!(latest <= 30.0, "fish came only after {latest} s");
}

/// Returns the catches per minute of a shark that never stops hunting, among 40 salmon. The salmon form a school only if
/// `schools` is true.
fn catches_per_minute(seed: u64, schools: bool, secs: u64) -> f32 {
    let mut salmon = pools::species("salmon", 40);
    if let Some(ActionParams::FlockWithRelation(flock)) = salmon.mind.actions.get_mut("flock")
        && !schools
    {
        flock.weight = 0.0;
    }
    // That mates warn each other is a benefit of the school.
    if let Some(ActionParams::Startle(startle)) = salmon.mind.actions.get_mut("startle")
        && !schools
    {
        startle.weight = 0.0;
    }
    let mut simulation = start(
        &pools::pool_with(vec![pools::species("shark", 1), salmon]),
        seed,
    );
    run(&mut simulation, 15);
    for second in 0..secs {
        // A catch switches hunting off, so it is switched on again every 2 s.
        if second % 2 == 0 {
            simulation.apply(Change::Effect(Effect::Hunting(HuntingEffect {
                species: vec!["shark".into()],
                on: true,
            })));
        }
        run(&mut simulation, 1);
    }
    simulation.catches() as f32 * 60.0 / secs as f32
}

#[test]
fn a_hunter_catches_less_prey_from_a_school() {
    let secs = 180;
    let mut differences = Vec::new();
    let (mut sum_school, mut sum_alone) = (0.0, 0.0);
    for seed in seeds() {
        let (school, alone) = (
            catches_per_minute(seed, true, secs),
            catches_per_minute(seed, false, secs),
        );
        println!(
            "seed {seed}: {school:.1} catches per minute from a school, {alone:.1} from single fish"
        );
        differences.push(alone - school);
        (sum_school, sum_alone) = (sum_school + school, sum_alone + alone);
    }
    let count = differences.len() as f32;
    let mean = differences.iter().sum::<f32>() / count;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f32>() / (count - 1.0);
    // The two-sided 95 % quantile of Student's t distribution with 19 degrees of freedom (20 seeds) or 2 (3 seeds).
    let t = if count > 10.0 { 2.093 } else { 4.303 };
    let half = t * (variance / count).sqrt();
    let got = format!(
        "{:.1} instead of {:.1} per minute: {mean:.2} fewer, 95 % interval {:.2} to {:.2}",
        sum_school / count,
        sum_alone / count,
        mean - half,
        mean + half
    );
    report(
        "a hunter catches less prey from a school",
        "> 0 fewer",
        &got,
        mean - half > 0.0,
    );
    // Three seeds cannot show the difference: their interval is several times as wide as it. They only show a school that is a
    // disadvantage.
    let is_shown = if count > 10.0 {
        mean - half > 0.0
    } else {
        mean + half > 0.0
    };
    assert!(is_shown, "{got}");
}

/// Returns the share of the time (0 to 1) in which the rock hides the trout from the shark. Counts the 60 s after the first
/// 10 s, and only ticks with less than 2.5 m between the two.
fn hidden_share(seed: u64, hides: bool) -> f32 {
    let mut trout = pools::species("trout", 1);
    if let Some(ActionParams::HideFromEnemy(hide)) = trout.mind.actions.get_mut("hide_from_enemy")
        && !hides
    {
        hide.weight = 0.0;
    }
    // The shark of this scene only circles. To this trout that is as frightening as a hunt.
    trout.perception.calm_enemy_share = 1.0;
    let mut scene = pools::pool_with(vec![trout, pools::species("shark", 1)]);
    let rock = Vec3::new(-0.2, -0.95, 0.1);
    scene.obstacles = vec![sphere(rock.to_array(), 0.38)];
    let mut simulation = start(&scene, seed);
    let (mut hidden, mut close) = (0, 0);
    for tick in 0..70 * HZ {
        // The shark circles the rock.
        let angle = tick as f32 / HZ as f32 * 0.35;
        let at = rock + Vec3::new(angle.cos(), 0.0, angle.sin()) * 1.1;
        simulation.place(1, at, Vec3::new(-angle.sin(), 0.0, angle.cos()));
        if tick == 0 {
            simulation.place(0, rock + Vec3::new(-0.6, 0.0, 0.0), Vec3::X);
        }
        simulation.run_tick(&no_visitors());
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
fn a_trout_hides_behind_a_rock_and_stays_hidden() {
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
    report(
        "a trout hides and stays hidden",
        "> 80 %, > 20 points",
        &got,
        hidden > 0.8 && gain > 0.2,
    );
    assert!(hidden > 0.8 && gain > 0.2, "{got}");
}
