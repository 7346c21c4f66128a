//! Tests of the way fish fill the water: no fish stays in a corner or pocket, routes lead to every reachable point of every
//! terrace, and fish rarely touch each other.

use crate::pools::{self, action, add_action, bare, wants};
use glam::Vec3;
use shoal::behavior::ActionParams;
use shoal::behavior::actions::{Navigate, NavigateTarget, Seek, SeekTarget};
use shoal::simulation::{SceneDescription, Simulation, SpeciesDescription};
use shoal::world::{Observation, ObstacleParams, SphereParams, TerraceParams};

const HZ: u64 = 60;

/// A fish within this distance of a place is still at that place.
const PLACE_M: f32 = 0.1;

/// Longest time at one place that looks alive.
const STILL_SECS: f32 = 30.0;

/// Runs a pool and returns the longest time for which an agent stayed at one place, with the place.
fn longest_stay(pool: &mut Simulation, secs: u64) -> (f32, Vec3) {
    let mut places: Vec<(Vec3, f32)> = Vec::new();
    let mut longest = (0.0, Vec3::ZERO);
    for _ in 0..secs * HZ {
        pool.run_tick(&Observation::default());
        let bodies = &pool.world().agents.bodies;
        places.resize(bodies.len(), (Vec3::INFINITY, 0.0));
        for (body, (place, stay_secs)) in bodies.iter().zip(&mut places) {
            *stay_secs += 1.0 / HZ as f32;
            if body.position_m.distance(*place) > PLACE_M {
                (*place, *stay_secs) = (body.position_m, 0.0);
            }
            if *stay_secs > longest.0 {
                longest = (*stay_secs, *place);
            }
        }
    }
    longest
}

fn cascade() -> SceneDescription {
    shoal::site::load(None, Some("cascade"))
        .unwrap()
        .description()
}

/// The cascade without its hunter.
fn calm_cascade() -> SceneDescription {
    let mut scene = cascade();
    scene.species.retain(|species| species.name != "pike");
    scene
}

#[test]
fn no_fish_freezes_in_a_corner_of_a_cascade() {
    for seed in 1..=2 {
        let mut pool = Simulation::new(&cascade(), &pools::run(seed, 1)).unwrap();
        let (secs, place) = longest_stay(&mut pool, 150);
        println!("seed {seed}: {secs:.1} s at {place}");
        assert!(secs < STILL_SECS, "seed {seed}: {secs} s at {place}");
    }
}

/// A fish that wants to go to a point, and avoids obstacles and edges.
fn seeker(point_m: [f32; 3]) -> SpeciesDescription {
    let seek = Seek {
        target: SeekTarget::Point,
        point_m,
        weight: 3.0,
        ..Seek::default()
    };
    let mut fish = wants(bare("fish", 1), "go", &[("seek", ActionParams::Seek(seek))]);
    let avoid = action("avoid_obstacles", "");
    add_action(&mut fish, "avoid", avoid);
    fish.mind.standard.actions = vec!["avoid".into()];
    fish.motion.cruise_mps = 0.4;
    fish.motion.boost_mps = 1.0;
    fish.motion.min_speed_mps = 0.15;
    fish
}

fn terrace(outline_m: &[[f32; 2]], surface_depth_m: f32) -> TerraceParams {
    TerraceParams {
        outline_m: outline_m.to_vec(),
        surface_depth_m,
        ground_depth_m: surface_depth_m + 0.6,
    }
}

fn rock(center_m: [f32; 3], radius_m: f32) -> ObstacleParams {
    ObstacleParams::Sphere(SphereParams {
        visible: true,
        center_m,
        radius_m,
    })
}

/// Two arms of an L: x below 0, or z below 0.
const L_SHAPE: [[f32; 2]; 6] = [
    [-1.5, -1.5],
    [1.5, -1.5],
    [1.5, 0.0],
    [0.0, 0.0],
    [0.0, 1.5],
    [-1.5, 1.5],
];

#[test]
fn a_goal_behind_any_edge_holds_no_fish() {
    let square = [[-1.5, -1.2], [1.5, -1.2], [1.5, 1.2], [-1.5, 1.2]];
    let y = -0.6;
    // Name, terraces, obstacles, start and goal.
    type Case = (
        &'static str,
        Vec<TerraceParams>,
        Vec<ObstacleParams>,
        [f32; 3],
        [f32; 3],
    );
    let cases: [Case; 6] = [
        (
            "corner of a terrace",
            vec![terrace(&square, 0.3)],
            vec![],
            [0.0, y, 0.0],
            [5.0, y, 5.0],
        ),
        (
            "edge of a terrace",
            vec![terrace(&square, 0.3)],
            vec![],
            [0.0, y, 0.0],
            [0.3, y, 5.0],
        ),
        (
            "tip of a concave terrace",
            vec![terrace(&L_SHAPE, 0.3)],
            vec![],
            [-0.7, y, 1.2],
            [1.4, y, -0.2],
        ),
        (
            "end of an arm",
            vec![terrace(&L_SHAPE, 0.3)],
            vec![],
            [-0.7, y, 1.0],
            [1.4, y, 1.4],
        ),
        (
            "notch between two rocks",
            vec![],
            vec![rock([0.5, y, -0.35], 0.5), rock([0.5, y, 0.35], 0.5)],
            [-1.0, y, 0.0],
            [0.5, y, 0.0],
        ),
        (
            "pocket between a rock and the rim",
            vec![],
            vec![rock([1.9, y, 0.9], 0.6), rock([1.2, y, 1.6], 0.5)],
            [-0.5, y, 0.0],
            [3.5, y, 2.6],
        ),
    ];
    for (name, terraces, obstacles, from, goal) in cases {
        let mut scene = SceneDescription {
            species: vec![seeker(goal)],
            obstacles,
            ..SceneDescription::default()
        };
        scene.pool.terraces = terraces;
        let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
        let start = Vec3::from(from);
        assert!(pool.place(0, start, (Vec3::from(goal) - start).normalize()));
        let (secs, place) = longest_stay(&mut pool, 60);
        println!("{name}: {secs:.1} s at {place}");
        assert!(secs < STILL_SECS / 2.0, "{name}: {secs} s at {place}");
    }
}

/// Counts the arrivals of a species on the highest terrace.
fn climbs(scene: &SceneDescription, secs: u64) -> usize {
    let mut pool = Simulation::new(scene, &pools::run(1, 1)).unwrap();
    let mut before = vec![None; pool.world().agents.len()];
    let mut count = 0;
    for _ in 0..secs * HZ {
        pool.run_tick(&Observation::default());
        for (index, before) in before.iter_mut().enumerate() {
            let now = pool.terrace(index);
            if let Some(now) = now
                && before.replace(now).is_some_and(|old| old < now)
                && now == 2
            {
                count += 1;
            }
        }
    }
    count
}

/// Returns the mean share of the visible herrings in each terrace during the second half of a run, and the times that one of them
/// came from another terrace up to the highest one.
fn herrings(scene: &SceneDescription, secs: u64) -> ([f64; 3], usize) {
    let mut pool = Simulation::new(scene, &pools::run(1, 1)).unwrap();
    let names = pool.world().species.iter().map(|s| s.name.clone());
    let herring = names
        .into_iter()
        .position(|name| name == "herring")
        .unwrap();
    let count = pool.world().agents.len();
    let mut last = vec![None; count];
    let (mut in_terrace, mut seen, mut returns) = ([0.0; 3], 0.0, 0);
    for tick in 0..secs * HZ {
        pool.run_tick(&Observation::default());
        for (index, last) in last.iter_mut().enumerate() {
            if usize::from(pool.world().agents.species[index]) != herring {
                continue;
            }
            let Some(now) = pool.terrace(index).map(usize::from) else {
                continue;
            };
            let old = last.replace(now);
            returns += usize::from(now == 2 && old.is_some_and(|old| old < 2));
            if tick * 2 > secs * HZ {
                in_terrace[now] += 1.0;
                seen += 1.0;
            }
        }
    }
    (in_terrace.map(|ticks| ticks / f64::max(seen, 1.0)), returns)
}

#[test]
fn herrings_of_a_cascade_do_not_end_in_the_lowest_water() {
    let (shares, returns) = herrings(&calm_cascade(), 240);
    println!(
        "shares of the herrings, from the lowest water to the highest: {shares:.2?}; {returns} returns"
    );
    assert!(shares[0] < 0.75 && shares[2] > 0.1, "{shares:?}");
    assert!(returns >= 10, "{returns}");
}

#[test]
fn a_rock_in_the_middle_or_a_concave_outline_of_the_top_does_not_end_climbing() {
    let top = |scene: &mut SceneDescription, outline_m: Vec<[f32; 2]>| {
        scene.pool.terraces[2].outline_m = outline_m;
    };
    let mut with_rock = calm_cascade();
    with_rock.obstacles.push(rock([1.35, -0.55, 0.0], 0.25));
    let mut concave = calm_cascade();
    // The mean of these corners lies outside the outline.
    let outline = [
        [0.7, -1.4],
        [2.0, -1.4],
        [2.0, -1.0],
        [1.1, -1.0],
        [1.1, 1.4],
        [0.7, 1.4],
    ];
    top(&mut concave, outline.to_vec());
    for (name, scene) in [("rock", with_rock), ("concave", concave)] {
        let count = climbs(&scene, 60);
        println!("{name}: {count} arrivals at the top in 60 s");
        assert!(count >= 6, "{name}: {count}");
    }
}

/// Returns the cascade with one salmon that navigates to a target, and one herring that does the same.
fn navigating(navigate: &Navigate) -> SceneDescription {
    let mut scene = calm_cascade();
    for species in &mut scene.species {
        species.count = 1;
        species.mind.needs.clear();
        let travel = ActionParams::Navigate(navigate.clone());
        *species = wants(std::mem::take(species), "travel", &[("travel", travel)]);
        let roam = action("wander", "");
        *species = wants(std::mem::take(species), "rove", &[("rove", roam)]);
    }
    scene
}

#[test]
fn an_agent_navigates_to_a_point_in_another_water_or_says_that_it_cannot() {
    let scene = navigating(&Navigate {
        target: NavigateTarget::Point,
        point_m: [1.6, -0.5, 0.9],
        ..Navigate::default()
    });
    let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let names: Vec<String> = (0..2)
        .map(|index| {
            let world = pool.world();
            world.species[usize::from(world.agents.species[index])]
                .name
                .clone()
        })
        .collect();
    for index in 0..2 {
        assert!(pool.place(index, Vec3::new(-1.4, -1.3, 0.4), Vec3::X));
    }
    let mut roamed = 0;
    for _ in 0..40 * HZ {
        pool.run_tick(&Observation::default());
        let herring = names.iter().position(|name| name == "herring").unwrap();
        roamed += u64::from(pool.active_need(herring) == "rove");
    }
    for (index, name) in names.iter().enumerate() {
        let at = pool.world().agents.bodies[index].position_m;
        println!("{name} at {at}, roamed {roamed} ticks");
        if name == "salmon" {
            assert!(at.distance(Vec3::new(1.6, -0.5, 0.9)) < 0.4, "{at}");
        } else {
            assert_eq!(pool.terrace(index), Some(0));
        }
    }
    assert!(roamed > 38 * HZ, "{roamed}");
}

#[test]
fn an_agent_navigates_to_another_agent_and_to_prey_in_another_water() {
    for target in [NavigateTarget::Agent, NavigateTarget::Prey] {
        let mut scene = navigating(&Navigate {
            target,
            relations: vec!["quarry".into()],
            ..Navigate::default()
        });
        // Sills would hide the herring, which stays at the top.
        scene.obstacles.clear();
        for species in &mut scene.species {
            if species.name == "herring" {
                species.mind.needs.clear();
                species.mind.standard.actions.clear();
                species.motion.min_speed_mps = 0.0;
            } else {
                species
                    .relations
                    .insert("quarry".into(), vec!["herring".into()]);
                species
                    .relations
                    .insert("prey".into(), vec!["herring".into()]);
            }
        }
        let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
        let is_salmon = |pool: &Simulation, index: usize| {
            let world = pool.world();
            world.species[usize::from(world.agents.species[index])].name == "salmon"
        };
        let salmon = usize::from(!is_salmon(&pool, 0));
        assert!(pool.place(salmon, Vec3::new(-0.1, -0.9, -0.8), Vec3::X));
        assert!(pool.place(1 - salmon, Vec3::new(1.5, -0.45, 0.6), Vec3::X));
        let mut nearest_m = f32::INFINITY;
        for _ in 0..30 * HZ {
            pool.run_tick(&Observation::default());
            let bodies = &pool.world().agents.bodies;
            nearest_m = nearest_m.min(bodies[0].position_m.distance(bodies[1].position_m));
            if pool.catches() > 0 {
                break;
            }
        }
        println!("{target:?}: {nearest_m} m, {} catches", pool.catches());
        assert!(nearest_m < 0.4, "{target:?}: {nearest_m} m");
        assert!(target == NavigateTarget::Agent || pool.catches() > 0);
    }
}

#[test]
fn two_travelling_actions_of_one_agent_have_routes_of_their_own() {
    // `leap` tours; while it rests, the agent navigates to a point on the lowest terrace.
    let mut scene = navigating(&Navigate {
        target: NavigateTarget::Point,
        point_m: [-1.4, -1.3, -1.0],
        ..Navigate::default()
    });
    for species in &mut scene.species {
        species.mind.actions.insert(
            "tour".into(),
            action("leap", "weight = 3.0, rest_secs = 2.0"),
        );
        species.mind.needs[0].actions = vec!["tour".into(), "travel".into()];
    }
    let count = climbs(&scene, 60);
    println!("{count} arrivals at the top in 60 s");
    assert!(count >= 2, "{count}");
}

/// Returns the number of pairs that touch now and did not touch before, without hunters and their prey.
fn new_touches(pool: &Simulation, touching: &mut Vec<(usize, usize)>) -> usize {
    let world = pool.world();
    let agents = &world.agents;
    let relations = |index: usize| &world.species[usize::from(agents.species[index])].relations;
    let hunts = |index: usize, other: usize| {
        let of = relations(index);
        agents.name_bits[other] & (of.prey | of.food) != 0
    };
    let mut now = Vec::new();
    for a in 0..agents.len() {
        for b in a + 1..agents.len() {
            let distance_m = agents.bodies[a]
                .position_m
                .distance(agents.bodies[b].position_m);
            let is_hunt = hunts(a, b) || hunts(b, a);
            if distance_m < agents.radii_m[a] + agents.radii_m[b] && !is_hunt {
                now.push((a, b));
            }
        }
    }
    let new = now.iter().filter(|pair| !touching.contains(pair)).count();
    *touching = now;
    new
}

#[test]
fn in_every_shipped_scene_fish_rarely_touch_each_other() {
    const SECS: u64 = 15;
    for name in [
        "aquarium",
        "cascade",
        "koi",
        "lagoon",
        "molecules",
        "nursery",
        "plankton",
        "pool",
        "reef",
        "simple_school",
        "sky",
    ] {
        let scene = shoal::site::load(None, Some(name)).unwrap().description();
        let mut pool = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
        let (mut touching, mut touches) = (Vec::new(), 0);
        for tick in 0..(SECS + 5) * HZ {
            pool.run_tick(&Observation::default());
            // In the first seconds, fish at random positions part.
            if tick % 3 == 0 {
                let new = new_touches(&pool, &mut touching);
                touches += if tick < 5 * HZ { 0 } else { new };
            }
        }
        let agents = pool.world().agents.len() as f32;
        let rate = 2.0 * touches as f32 / agents / (SECS as f32 / 60.0);
        println!("{name}: {rate:.2} touches per agent-minute");
        assert!(rate <= 3.0, "{name}: {rate}");
    }
}

/// A fixed bug: a herring that started below the ground of the middle terrace, under its rock, stayed there for minutes. The rock was
/// in the way back into the water, and each tick moved the fish back.
#[test]
fn fish_start_in_the_water_of_their_terrace_and_find_back_into_it() {
    for seed in 1..=30 {
        let pool = Simulation::new(&cascade(), &pools::run(seed, 1)).unwrap();
        let world = pool.world();
        for (body, radius_m) in world.agents.bodies.iter().zip(&world.agents.radii_m) {
            let at = body.position_m;
            let in_water = world.water.height_in_water(at, *radius_m);
            assert!((at.y - in_water).abs() < 1e-5, "seed {seed}: {at}");
        }
    }
    let mut pool = Simulation::new(&calm_cascade(), &pools::run(1, 1)).unwrap();
    let below = Vec3::new(-0.01, -1.32, 0.29);
    assert!(pool.place(0, below, Vec3::X));
    for _ in 0..20 * HZ {
        pool.run_tick(&Observation::default());
    }
    let at = pool.world().agents.bodies[0].position_m;
    let in_water = pool.world().water.height_in_water(at, 0.0);
    assert!((at.y - in_water).abs() < 1e-3, "{at}");
}

/// A fixed bug: in the pocket between a stone and the edge of the pond, the forces away from both turned a fish round and round, and
/// left no force for its escape.
#[test]
fn no_fish_stays_between_a_stone_and_the_edge_of_the_pond() {
    let scene = shoal::site::load(None, Some("koi")).unwrap().description();
    for (name, place) in [
        ("trout", Vec3::new(-2.1, -0.42, -1.29)),
        ("trout", Vec3::new(2.0, -0.5, 1.47)),
        ("pike", Vec3::new(-2.22, -0.68, -0.88)),
        ("koi", Vec3::new(-1.83, -0.23, -1.28)),
    ] {
        let mut alone = scene.clone();
        alone.species.retain(|species| species.name == name);
        alone.species[0].count = 1;
        // Without the actions that rest.
        for need in &mut alone.species[0].mind.needs {
            need.actions.retain(|action| action != "lurk");
        }
        alone.director.clear();
        for step in 0..8u8 {
            let angle = f32::from(step) * std::f32::consts::FRAC_PI_4;
            let heading = Vec3::new(angle.cos(), 0.0, angle.sin());
            let mut pool = Simulation::new(&alone, &pools::run(u64::from(step), 1)).unwrap();
            assert!(pool.place(0, place, heading));
            let mut farthest_m = 0.0_f32;
            for _ in 0..30 * HZ {
                pool.run_tick(&Observation::default());
                let at = pool.world().agents.bodies[0].position_m;
                farthest_m = farthest_m.max(at.distance(place));
            }
            assert!(
                farthest_m > 0.4,
                "{name} at {place}, {heading}: {farthest_m} m"
            );
        }
    }
}
