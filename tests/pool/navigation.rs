//! Tests of path planning in running pools, and of the path searches against reference solutions.

use crate::meshes;
use crate::movingai;
use crate::pools;
use glam::Vec3;
use shoal::behavior::ActionParams;
use shoal::behavior::actions::HuntPrey;
use shoal::simulation::{SceneDescription, Simulation, SimulationParams};
use shoal::world::Observation;

const HZ: u64 = 60;

/// Returns the index of the only agent of a species.
fn only(simulation: &Simulation, species: &str) -> usize {
    let world = simulation.world();
    let species_of = &world.agents.species;
    let found = |kind: &u16| world.species[usize::from(*kind)].name == species;
    species_of.iter().position(found).unwrap()
}

/// Runs a pool for at most `secs` seconds. Returns the time in seconds at which the hunter catches the bait (`None` without
/// a catch), and the hunter's position after every tick.
fn hunt(
    scene: &SceneDescription,
    params: &SimulationParams,
    secs: u64,
) -> (Option<f64>, Vec<Vec3>) {
    let mut simulation = Simulation::new(scene, params).unwrap();
    let (hunter, bait) = (only(&simulation, "shark"), only(&simulation, "trout"));
    let mut track = Vec::new();
    for _ in 0..secs * HZ {
        simulation.run_tick(&Observation::default());
        let at = simulation.world().agents.bodies[hunter].position_m;
        let depth = |s: &shoal::geometry::Solid| s.signed_distance_m(at);
        assert!(simulation.world().solids.iter().map(depth).all(|d| d > 0.0));
        track.push(at);
        if simulation.catches() > 0 {
            return (Some(simulation.time_secs()), track);
        }
        let offset = simulation.world().agents.bodies[bait].position_m - Vec3::new(1.15, -0.8, 0.0);
        assert!(offset.length() < 0.3, "the bait moved away by {offset}");
    }
    (None, track)
}

#[test]
fn a_hunter_finds_its_way_around_a_reef_where_seeking_alone_fails() {
    for seed in 1..=3 {
        let (secs, track) = hunt(&pools::u_reef(), &pools::run(seed, 1), 40);
        let least_x = track.iter().map(|at| at.x).fold(0.0, f32::min);
        println!("seed {seed}: caught after {secs:?} s, swam least_x to x = {least_x:.2}");
        assert!(
            secs.is_some_and(|secs| secs < 30.0),
            "seed {seed}: {secs:?}"
        );
        assert!(
            least_x < -0.5,
            "seed {seed}: the hunter did not swim out of the reef"
        );
    }
    let mut seeking = pools::u_reef();
    for individual in seeking.species.iter_mut().flat_map(|s| &mut s.individuals) {
        if let Some(action) = individual.mind.actions.get_mut("find_prey") {
            *action = ActionParams::HuntPrey(HuntPrey {
                weight: 3.0,
                use_boost: false,
                memory_secs: 30.0,
                ..HuntPrey::default()
            });
        }
    }
    let (secs, track) = hunt(&seeking, &pools::run(1, 1), 40);
    let end = track.last().unwrap();
    assert_eq!(secs, None, "seeking alone found its track around the reef");
    assert!(
        end.x < 0.5 && end.z.abs() < 0.7,
        "the hunter is not stuck in the reef, but at {end}"
    );
}

#[test]
fn an_enclosed_goal_is_given_up_and_the_next_need_becomes_active() {
    let mut scene = pools::u_reef();
    // A fourth wall closes the reef, with the hunter inside and the prey outside.
    let mut wall = scene.obstacles[0].clone();
    if let shoal::world::ObstacleParams::Box(wall) = &mut wall {
        wall.center_m[0] = -0.5;
    }
    scene.obstacles.push(wall);
    let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let hunter = only(&simulation, "shark");
    let mut roaming = 0;
    for tick in 0..10 * HZ {
        simulation.run_tick(&Observation::default());
        if tick > HZ {
            roaming += u64::from(simulation.active_need(hunter) == "roam");
        }
    }
    let id = u64::from(simulation.world().agents.ids[hunter]) << 8;
    let (searches, effort) = simulation.planner().effort(id);
    println!(
        "{searches} searches, {effort:?}, roaming for {roaming} of {} ticks",
        9 * HZ
    );
    // An unreachable goal must be detected without expansions.
    assert_eq!(effort.expanded, 0);
    assert!(searches >= 4);
    assert!(roaming > 8 * HZ, "{roaming}");
}

#[test]
fn paths_do_not_depend_on_the_number_of_threads() {
    let path = |threads| hunt(&pools::u_reef(), &pools::run(4, threads), 6).1;
    assert_eq!(path(1), path(3));
}

/// After the first 200 s, in which the searches and their grids reach their largest size, path searches (also those that take many ticks), paths and jumps between terraces allocate no memory.
#[test]
fn paths_and_flights_do_not_allocate() {
    for (scene, budget) in [
        (pools::u_reef(), 5000),
        (pools::u_reef(), 9),
        (cascade(), 5000),
        (cascade(), 2),
    ] {
        let params = SimulationParams {
            search_budget: budget,
            ..pools::run(1, 1)
        };
        let mut pool = Simulation::new(&scene, &params).unwrap();
        let (mut searches, mut splashes) = (0, 0);
        let mut run = |secs: u64| {
            for _ in 0..secs * HZ {
                pool.run_tick(&Observation::default());
                let planner = pool.planner();
                searches = planner.ids().map(|id| planner.effort(id).0).sum();
                splashes += pool.splashes().len();
            }
            (searches, splashes)
        };
        let before = run(200);
        let mut after = before;
        let counted = allocation_counter::measure(|| after = run(20));
        println!("budget {budget}: {counted:?}, from {before:?} to {after:?}");
        assert_eq!(counted.count_total, 0);
        assert!(
            after.0 > before.0 || after.1 > before.1,
            "no search and no flight in the measured time"
        );
    }
}

fn cascade() -> SceneDescription {
    shoal::site::load(None, Some("cascade"))
        .unwrap()
        .description()
}

#[test]
fn salmon_climb_a_cascade_and_herrings_only_drop() {
    let scene = cascade();
    let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let count = simulation.world().agents.len();
    let name = |simulation: &Simulation, index: usize| {
        let world = simulation.world();
        world.species[usize::from(world.agents.species[index])]
            .name
            .clone()
    };
    // All agents start in the lowest terrace, except two herrings, which start in the highest.
    let mut herrings = 0;
    for index in 0..count {
        let is_herring = name(&simulation, index) == "herring";
        herrings += usize::from(is_herring);
        let z = -1.1 + 2.2 * index as f32 / count as f32;
        let at = if is_herring && herrings <= 2 {
            Vec3::new(1.4, -0.5, z)
        } else {
            Vec3::new(-1.4, -1.3, z)
        };
        assert!(simulation.place(index, at, Vec3::X));
    }
    let mut terraces = vec![None; count];
    let (mut salmon_ups, mut salmon_downs, mut herring_ups, mut herring_downs) = (0, 0, 0, 0);
    let (mut splashes, mut worst_m) = (0, 0.0f32);
    for _ in 0..90 * HZ {
        simulation.run_tick(&Observation::default());
        splashes += simulation
            .splashes()
            .iter()
            .filter(|s| s.age_secs == 0.0)
            .count();
        for (index, terraces) in terraces.iter_mut().enumerate() {
            let at = simulation.world().agents.bodies[index].position_m;
            for solid in simulation.world().solids {
                let gap = solid.signed_distance_m(at);
                assert!(
                    gap > 0.0,
                    "agent {index} at {at}, on terrace {terraces:?}, is inside {solid:?}"
                );
            }
            let Some(terrace) = simulation.terrace(index) else {
                // An agent that was caught, or that left at the outlet, enters again at the spring.
                if simulation.world().agents.name_bits[index] == 0 {
                    *terraces = None;
                }
                continue;
            };
            let water = &scene.pool.terraces[usize::from(terrace)];
            let (low, high) = water.y_range_m(simulation.world().agents.radii_m[index]);
            worst_m = worst_m.max(at.y - high).max(low - at.y);
            if let Some(before) = terraces.replace(terrace)
                && before != terrace
            {
                let is_up = terrace > before;
                match (name(&simulation, index).as_str(), is_up) {
                    ("salmon", true) => salmon_ups += 1,
                    ("salmon", false) => salmon_downs += 1,
                    (_, true) => herring_ups += 1,
                    (_, false) => herring_downs += 1,
                }
            }
        }
    }
    println!(
        "90 s: salmon {salmon_ups} up, {salmon_downs} down; herrings {herring_ups} up, {herring_downs} down; {splashes} splashes"
    );
    assert!(
        worst_m < 1e-3,
        "an agent was {worst_m} m outside the water of its terrace"
    );
    assert!(salmon_ups >= 6 * 2, "{salmon_ups}");
    assert!(salmon_downs >= 2, "{salmon_downs}");
    assert_eq!(herring_ups, 0);
    assert!(herring_downs >= 4, "{herring_downs}");
    assert!(splashes >= 2 * (salmon_ups + salmon_downs + herring_downs));
}

/// Largest relative rounding error of the optimal costs in the scenario files. These costs have six digits.
const LISTED_ERROR: f64 = 5e-6;

#[test]
fn searches_find_the_listed_optima_and_weighted_searches_stay_near_them() {
    use shoal::navigation::{GridSearch, SearchProgress, SearchRules};
    for (name, every) in [("maze-400-4", 150), ("random-400-33", 15)] {
        let file = movingai::shared(&format!("grid/{name}.map"));
        if !file.exists() {
            println!("SKIPPED {name}: {} is missing", file.display());
            continue;
        }
        let map = movingai::map(&file).unwrap();
        let scen = movingai::shared(&format!("grid/{name}.map.scen"));
        let (mut search, mut path) = (GridSearch::default(), Vec::new());
        let mut count = 0;
        for problem in movingai::problems(&scen).unwrap().iter().step_by(every) {
            for (weight, worst_m) in [(1.0, 1.0 + LISTED_ERROR), (1.6, 1.4)] {
                let rules = SearchRules {
                    weight,
                    ..SearchRules::default()
                };
                search.begin(&map, problem.start, problem.goal, rules);
                assert_eq!(
                    search.advance(&map, &mut u32::MAX.clone()),
                    SearchProgress::Found
                );
                search.path(&map, &mut path);
                let steps = path.windows(2);
                let cost: f64 = steps
                    .map(|s| s[0].as_dvec2().distance(s[1].as_dvec2()))
                    .sum();
                assert!(
                    cost <= problem.optimum * worst_m + 1e-9,
                    "{cost} {}",
                    problem.optimum
                );
                assert!(
                    cost >= problem.optimum * (1.0 - LISTED_ERROR),
                    "{cost} {}",
                    problem.optimum
                );
                assert!(weight < 1.01 || search.effort().reopened == 0);
            }
            count += 1;
        }
        println!("{name}: {count} problems");
        assert!(count > 40);
    }
}

#[test]
fn paths_on_meshes_are_hardly_longer_than_the_any_angle_optimum() {
    use shoal::navigation::{
        Abilities, MeshLinks, MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch,
    };
    let file = meshes::shared("mesh/meshes_v2_arena-merged.mesh");
    if !file.exists() {
        println!("SKIPPED: {} is missing", file.display());
        return;
    }
    let mesh = meshes::mesh(&file).unwrap();
    let peer: polyanya::Mesh = polyanya::PolyanyaFile::from_bytes(&std::fs::read(&file).unwrap())
        .try_into()
        .unwrap();
    let links = MeshLinks::new(&mesh, Vec::new(), &[]);
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let mut ratios = Vec::new();
    for (start, goal) in meshes::problems(&meshes::shared("mesh/scenarios_arena.scen")).unwrap() {
        let point = |at_m| MeshPoint { terrace: 0, at_m };
        let query = MeshQuery {
            start: point(start),
            goal: point(goal),
            abilities: Abilities::default(),
            speed_mps: 1.0,
            ..MeshQuery::default()
        };
        assert_eq!(
            search.find_path(&mesh, &links, &query, &mut path),
            MeshOutcome::Found
        );
        let peer_point = |at: glam::Vec2| glam_of_polyanya::Vec2::new(at.x, at.y);
        let optimum = peer.path(peer_point(start), peer_point(goal)).unwrap();
        let mut from = peer_point(start);
        let mut optimum_m = 0.0;
        for &to in &optimum.path {
            optimum_m += f64::from(from.distance(to));
            from = to;
        }
        let own_m = path.length_m(start);
        assert!(
            own_m >= optimum_m - 1e-4,
            "{own_m} is shorter than the optimum {optimum_m}"
        );
        if optimum_m > 0.0 {
            ratios.push(own_m / optimum_m);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!(
        "{} problems, median {median:.5} of the optimum",
        ratios.len()
    );
    assert!(median <= 1.03);
}
