//! Plans of ways: around visitors, drawn areas and fish that rest in the way, and leaps that are not ready, refused or interrupted
//! by an edit. The scenes and the wanted values follow Lischka 2014 and Dahlberg & Viktorsson 2002.

use glam::{Vec2, Vec3};
use shoal::behavior::actions::{Navigate, NavigateTarget};
use shoal::behavior::{ActionParams, MindParams};
use shoal::geometry::Visitor;
use shoal::simulation::{Change, PlanChange, PoolPlan, SceneDescription, Simulation};
use shoal::world::{AreaParams, BoxParams, Observation, ObstacleParams};

use crate::pools::{self, action, add_action, bare, wants};

const HZ: u64 = 60;

/// The shipped cascade, on the built-in surface of 4 m by 3 m.
fn cascade() -> SceneDescription {
    let site = shoal::site::load(None, Some("cascade"));
    site.unwrap().description()
}

/// The shipped cascade, fitted to a surface of another width, and whether `check` says that it is too narrow.
fn cascade_of_width(width_m: f32) -> (SceneDescription, bool) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("plans-{width_m}"));
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "scene = \"cascade\"\n[surface]\nwidth_m = {width_m:.2}\nheight_m = {:.2}\n[camera]\nsource = \"synthetic:1\"\n[[outputs]]\nwidth_px = 640\nheight_px = 480\n",
        0.75 * width_m
    );
    let site = folder.join("site.toml");
    std::fs::write(&site, text).unwrap();
    let loaded = shoal::site::load(Some(&site), None);
    let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}"));
    let mut warnings = loaded.warnings.iter().map(ToString::to_string);
    let is_narrow = warnings.any(|warning| warning.contains("too narrow for a salmon"));
    (loaded.description(), is_narrow)
}

fn is_salmon(pool: &Simulation, index: usize) -> bool {
    let world = pool.world();
    world.species[usize::from(world.agents.species[index])].name == "salmon"
}

/// Ascents of salmon from the lowest terrace, all flights, and changes between climbing and fleeing.
#[derive(Debug, Default)]
struct Climbing {
    ascents: u32,
    flights: u32,
    flips: u32,
}

/// Runs a pool in which these visitors are from the first tick on. The first 20 s are not counted.
fn climb(
    scene: &SceneDescription,
    seed: u64,
    secs: u64,
    visitors: impl Fn(f32) -> Vec<Visitor>,
) -> Climbing {
    let mut pool = Simulation::new(scene, &pools::run(seed, 1)).unwrap();
    let count = pool.world().agents.len();
    let (mut terraces, mut flew, mut needs) =
        (vec![None; count], vec![false; count], vec![false; count]);
    let mut climbing = Climbing::default();
    for tick in 0..(secs + 20) * HZ {
        let time_secs = tick as f32 / HZ as f32;
        pool.run_tick(&Observation {
            time_secs: f64::from(time_secs),
            shadows: visitors(time_secs),
        });
        for index in (0..count).filter(|&index| is_salmon(&pool, index)) {
            let now = pool.terrace(index);
            let flies = pool.is_flying(index);
            let climbs = pool.active_need(index) == "climb";
            if tick >= 20 * HZ {
                climbing.ascents += u32::from(terraces[index] == Some(0) && now == Some(1));
                climbing.flights += u32::from(flies && !flew[index]);
                climbing.flips += u32::from(climbs != needs[index]);
            }
            if now.is_some() {
                terraces[index] = now;
            }
            (flew[index], needs[index]) = (flies, climbs);
        }
    }
    climbing
}

/// Visitors at these places along the lowest sill of the cascade. They never stand quite still.
fn restless<'a>(places: &'a [f32]) -> impl Fn(f32) -> Vec<Visitor> + 'a {
    move |time_secs| {
        let each = places.iter().zip(1..);
        each.map(|(&z, id)| {
            let at = Vec2::new(-0.95 + 0.03 * (3.0 * time_secs + id as f32).sin(), z);
            let corner = |k: u16| Vec2::from_angle(f32::from(k) * std::f32::consts::PI / 8.0);
            Visitor {
                id,
                centroid_m: at,
                foot_m: at,
                radius_m: 0.25,
                velocity_mps: Vec2::new(0.2, 0.0),
                area_m2: 0.2,
                age_secs: f64::from(time_secs + 1.0),
                outline_m: (0..16).map(|k| at + 0.25 * corner(k)).collect(),
                ..Visitor::default()
            }
        })
        .collect()
    }
}

#[test]
fn two_restless_visitors_at_a_third_of_the_lowest_sill_leave_a_way_up() {
    let none = climb(&cascade(), 1, 120, restless(&[]));
    let two = climb(&cascade(), 1, 120, restless(&[-1.0, -0.5]));
    println!("without visitors {none:?}; with two {two:?}");
    assert!(none.ascents >= 10, "{none:?}");
    assert!(3 * two.ascents >= none.ascents, "{two:?}");
}

#[test]
fn a_long_pause_between_leaps_makes_ascents_rare_but_never_impossible() {
    for cooldown_secs in [5.0, 8.0] {
        let mut scene = cascade();
        for species in &mut scene.species {
            species.motion.leap.cooldown_secs = cooldown_secs;
        }
        let climbing = climb(&scene, 1, 90, restless(&[]));
        println!("cooldown of {cooldown_secs} s: {climbing:?}");
        assert!(climbing.ascents >= 6, "{cooldown_secs} s: {climbing:?}");
    }
}

#[test]
fn salmon_climb_a_cascade_of_every_width_for_which_check_has_no_warning() {
    assert!(cascade_of_width(2.0).1);
    for width_m in [2.4, 2.8, 12.0] {
        let (scene, is_narrow) = cascade_of_width(width_m);
        let climbing = climb(&scene, 1, 90, restless(&[]));
        println!("{width_m} m: {climbing:?}");
        assert!(
            climbing.ascents >= 4 && !is_narrow,
            "{width_m} m: {climbing:?}"
        );
    }
}

/// A fish that navigates to a point, in a pool with a wall from -z to +z in its way. The wall has two gaps: one before the fish, and
/// one 2.2 m aside.
fn two_gaps(point_m: [f32; 3]) -> SceneDescription {
    let travel = ActionParams::Navigate(Navigate {
        weight: 3.0,
        target: NavigateTarget::Point,
        point_m,
        ..Navigate::default()
    });
    let mut fish = wants(bare("fish", 1), "travel", &[("travel", travel)]);
    add_action(&mut fish, "avoid", action("avoid_obstacles", ""));
    add_action(&mut fish, "apart", action("follow_flow_field", ""));
    fish.mind.standard.actions = vec!["avoid".into(), "apart".into()];
    fish.motion.cruise_mps = 0.4;
    fish.motion.boost_mps = 0.8;
    let mut stopper = bare("stopper", 1);
    stopper.mind = MindParams::default();
    stopper.motion.cruise_mps = 0.0;
    let wall = |z: f32, half: f32| {
        ObstacleParams::Box(BoxParams {
            center_m: [0.0, -0.75, z],
            half_extents_m: [0.05, 0.6, half],
            ..BoxParams::default()
        })
    };
    let mut scene = pools::pool_with(vec![fish, stopper]);
    (scene.surface.width_m, scene.surface.height_m) = (6.0, 6.0);
    // Gaps of 0.5 m at z = 0 and z = 2.2 m.
    scene.obstacles = vec![wall(-2.25, 2.0), wall(1.1, 0.85), wall(3.45, 1.0)];
    scene
}

/// Lets the fish travel for at most a minute. Returns the time of its arrival, and where it crossed the line of the wall.
fn travel(scene: &SceneDescription, seed: u64, stopper_m: Vec3) -> (Option<f32>, f32) {
    let mut pool = Simulation::new(scene, &pools::run(seed, 1)).unwrap();
    assert!(pool.place(0, Vec3::new(-1.5, -0.7, 0.1), Vec3::X));
    let mut crossed_z = f32::NAN;
    for tick in 0..60 * HZ {
        assert!(pool.place(1, stopper_m, Vec3::X));
        let before_m = pool.world().agents.bodies[0].position_m;
        pool.run_tick(&Observation::default());
        let at_m = pool.world().agents.bodies[0].position_m;
        if before_m.x < 0.0 && at_m.x >= 0.0 {
            crossed_z = at_m.z;
        }
        if at_m.distance(Vec3::new(1.5, -0.7, 0.0)) < 0.25 {
            return (Some(tick as f32 / HZ as f32), crossed_z);
        }
    }
    (None, crossed_z)
}

#[test]
fn a_fish_that_rests_in_a_passage_is_a_reason_for_another_way() {
    let scene = two_gaps([1.5, -0.7, 0.0]);
    let far = Vec3::new(-2.0, -0.7, -2.0);
    let (free_secs, free_z) = travel(&scene, 1, far);
    assert!(
        free_secs.is_some() && free_z.abs() < 0.3,
        "{free_secs:?} {free_z}"
    );
    for seed in 1..=3 {
        let (secs, z) = travel(&scene, seed, Vec3::new(0.0, -0.7, 0.0));
        println!("seed {seed}: free {free_secs:?} s, blocked {secs:?} s through z = {z:.2}");
        assert!(
            secs.is_some_and(|secs| secs < 40.0),
            "seed {seed}: {secs:?}"
        );
    }
}

#[test]
fn a_way_leads_around_an_area_that_a_designer_drew_unless_it_is_attractive() {
    let mut scene = two_gaps([1.5, -0.7, 0.0]);
    let far = Vec3::new(-2.0, -0.7, -2.0);
    for (cost, gap_z) in [(0.0, 0.0), (14.0, 2.2), (-0.4, 0.0)] {
        scene.pool.areas = vec![AreaParams {
            outline_m: vec![[-0.6, -0.6], [0.6, -0.6], [0.6, 0.6], [-0.6, 0.6]],
            cost,
            ..AreaParams::default()
        }];
        let (secs, z) = travel(&scene, 1, far);
        println!("cost {cost}: {secs:?} s through z = {z:.2}");
        assert!(
            secs.is_some() && (z - gap_z).abs() < 0.4,
            "cost {cost}: {secs:?} {z}"
        );
    }
}

#[test]
fn an_edit_during_a_flight_does_not_start_it_again() {
    let scene = cascade();
    let mut edited = scene.clone();
    edited.obstacles.push(pools::sphere([1.6, -0.6, -1.0], 0.1));
    let plans = [&edited, &scene].map(|scene| PoolPlan::compile(scene).unwrap());
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let count = pool.world().agents.len();
    let mut air_ticks = vec![0u64; count];
    let (mut longest, mut edits) = (0, 0);
    for _ in 0..60 * HZ {
        pool.run_tick(&Observation::default());
        for (index, ticks) in air_ticks.iter_mut().enumerate() {
            *ticks = if pool.is_flying(index) { *ticks + 1 } else { 0 };
            longest = longest.max(*ticks);
        }
        if air_ticks.contains(&10) {
            edits += 1;
            let plan = plans[edits % 2].clone();
            let (added, removed_ids) = (Vec::new(), Vec::new());
            pool.apply(Change::Pool(Box::new(PlanChange {
                plan,
                added,
                removed_ids,
            })));
        }
    }
    println!("{edits} edits; the longest flight has {longest} ticks");
    assert!(edits >= 5);
    // The highest leap rises 0.68 m: 41 ticks.
    assert!(longest <= 48, "{longest} ticks in the air");
}

#[test]
fn no_salmon_leaps_over_a_rock_that_it_can_swim_over() {
    let mut scene = cascade();
    scene.species.retain(|species| species.name == "salmon");
    // The rock of the middle water ends 0.35 m below the surface.
    scene.obstacles[2] = pools::sphere([0.0, -1.25, 0.2], 0.25);
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let count = pool.world().agents.len();
    let (mut before, mut same, mut flights, mut over) = (vec![None; count], 0, 0, 0);
    let mut starts = vec![None; count];
    for _ in 0..90 * HZ {
        pool.run_tick(&Observation::default());
        for index in 0..count {
            let at_m = pool.world().agents.bodies[index].position_m;
            let now = pool.terrace(index);
            if now.is_none() && before[index].is_some() {
                starts[index] = before[index];
                flights += 1;
            } else if now.is_some() && before[index].is_none() {
                same += u32::from(starts[index] == now);
            }
            let is_over = Vec2::new(at_m.x, at_m.z - 0.2).length() < 0.2;
            over += u32::from(now == Some(1) && is_over);
            before[index] = now;
        }
    }
    println!("{flights} flights, {same} within one water; {over} ticks over the rock");
    assert!(flights >= 10);
    assert_eq!(same, 0);
}

#[test]
fn a_drop_of_the_cascade_rises_only_as_far_as_its_sill_needs() {
    let mut pool = Simulation::new(&cascade(), &pools::run(1, 1)).unwrap();
    let depths_m: Vec<f32> = cascade()
        .pool
        .terraces
        .iter()
        .map(|t| t.surface_depth_m)
        .collect();
    let count = pool.world().agents.len();
    let (mut from, mut tops) = (vec![None; count], vec![f32::NEG_INFINITY; count]);
    let mut highest = Vec::new();
    for _ in 0..90 * HZ {
        pool.run_tick(&Observation::default());
        for index in 0..count {
            let y = pool.world().agents.bodies[index].position_m.y;
            match pool.terrace(index) {
                Some(now) => {
                    let start = from[index].replace(now);
                    if start.is_some_and(|start| start > now) && tops[index].is_finite() {
                        highest.push(tops[index] + depths_m[usize::from(start.unwrap_or(0))]);
                    }
                    tops[index] = f32::NEG_INFINITY;
                }
                None => tops[index] = tops[index].max(y),
            }
        }
    }
    let most_m = highest.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    println!(
        "{} drops, the highest rises {most_m:.3} m above the surface",
        highest.len()
    );
    assert!(highest.len() >= 10);
    // A leap rises 0.2 m above the higher surface.
    assert!(most_m < 0.11, "{most_m}");
}
