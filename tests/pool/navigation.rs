//! Ways round what lies between, in a living pool.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may"
)]

use crate::meshes;
use crate::movingai;
use crate::pools;
use glam::Vec3;
use shoal::behavior::ActionParams;
use shoal::behavior::actions::HuntPrey;
use shoal::simulation::{SceneDescription, Simulation, SimulationParams};
use shoal::world::Observation;

const HZ: u64 = 60;

/// Index of the only one of a species.
fn only(simulation: &Simulation, species: &str) -> usize {
    let world = simulation.world();
    let kinds = &world.agents.species;
    let found = |kind: &u16| world.species[usize::from(*kind)].name == species;
    kinds.iter().position(found).unwrap()
}

/// Seconds until the hunter has the bait, and the places that it went through.
fn hunt(
    scene: &SceneDescription,
    params: &SimulationParams,
    secs: u64,
) -> (Option<f64>, Vec<Vec3>) {
    let mut simulation = Simulation::new(scene, params).unwrap();
    let (hunter, bait) = (only(&simulation, "shark"), only(&simulation, "trout"));
    let mut way = Vec::new();
    for _ in 0..secs * HZ {
        simulation.step(&Observation::default());
        let at = simulation.world().agents.bodies[hunter].position_m;
        let depth = |s: &shoal::geometry::Solid| s.signed_distance_m(at);
        assert!(simulation.world().solids.iter().map(depth).all(|d| d > 0.0));
        way.push(at);
        if simulation.catches() > 0 {
            return (Some(simulation.time_secs()), way);
        }
        let off = simulation.world().agents.bodies[bait].position_m - Vec3::new(1.15, -0.8, 0.0);
        assert!(off.length() < 0.3, "the bait left its place by {off}");
    }
    (None, way)
}

#[test]
fn a_hunter_comes_round_a_reef_and_seeking_alone_does_not() {
    for seed in 1..=3 {
        let (secs, way) = hunt(&pools::u_reef(), &pools::run(seed, 1), 40);
        let back = way.iter().map(|at| at.x).fold(0.0, f32::min);
        println!("seed {seed}: caught after {secs:?} s, went back to x = {back:.2}");
        assert!(
            secs.is_some_and(|secs| secs < 30.0),
            "seed {seed}: {secs:?}"
        );
        assert!(back < -0.5, "it swam out of the reef first");
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
    let (secs, way) = hunt(&seeking, &pools::run(1, 1), 40);
    let end = way.last().unwrap();
    assert_eq!(secs, None, "seeking alone came round the reef");
    assert!(
        end.x < 0.5 && end.z.abs() < 0.7,
        "it hangs in the reef: {end}"
    );
}

#[test]
fn a_goal_walled_in_is_given_up_and_the_need_goes_on() {
    let mut scene = pools::u_reef();
    // A fourth wall closes the reef; the prey is outside, the hunter inside.
    let mut lid = scene.obstacles[0].clone();
    if let shoal::world::ObstacleParams::Box(lid) = &mut lid {
        lid.center_m[0] = -0.5;
    }
    scene.obstacles.push(lid);
    let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let hunter = only(&simulation, "shark");
    let mut roaming = 0;
    for tick in 0..10 * HZ {
        simulation.step(&Observation::default());
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
    assert_eq!(effort.expanded, 0, "unreachable is known without a search");
    assert!(searches >= 4);
    assert!(roaming > 8 * HZ, "{roaming}");
}

#[test]
fn ways_do_not_depend_on_threads() {
    let path = |threads| hunt(&pools::u_reef(), &pools::run(4, threads), 6).1;
    assert_eq!(path(1), path(3));
}

/// Ways, searches over many ticks and flights take no memory once there is enough.
#[test]
fn ways_and_flights_take_no_memory() {
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
        let (mut begun, mut splashes) = (0, 0);
        let mut go = |secs: u64| {
            for _ in 0..secs * HZ {
                pool.step(&Observation::default());
                let planner = pool.planner();
                begun = planner.ids().map(|id| planner.effort(id).0).sum();
                splashes += pool.splashes().len();
            }
            (begun, splashes)
        };
        let before = go(40);
        let mut after = before;
        let counted = allocation_counter::measure(|| after = go(20));
        println!("budget {budget}: {counted:?}, from {before:?} to {after:?}");
        assert_eq!(counted.count_total, 0);
        assert!(
            after.0 > before.0 || after.1 > before.1,
            "nobody found a way"
        );
    }
}

fn cascade() -> SceneDescription {
    shoal::site::load(None, Some("cascade"))
        .unwrap()
        .description()
}

#[test]
fn salmon_climb_a_cascade_by_leaping_and_herrings_never_try() {
    let scene = cascade();
    let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    let count = simulation.world().agents.len();
    let name = |simulation: &Simulation, index: usize| {
        let world = simulation.world();
        world.species[usize::from(world.agents.species[index])]
            .name
            .clone()
    };
    // Everybody starts in the lowest water but two herrings, who start in the highest.
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
    let mut home = vec![None; count];
    let (mut salmon_ups, mut salmon_downs, mut herring_ups, mut herring_downs) = (0, 0, 0, 0);
    let (mut splashes, mut most) = (0, 0.0f32);
    for _ in 0..90 * HZ {
        simulation.step(&Observation::default());
        splashes += simulation
            .splashes()
            .iter()
            .filter(|s| s.age_secs == 0.0)
            .count();
        for (index, home) in home.iter_mut().enumerate() {
            let at = simulation.world().agents.bodies[index].position_m;
            for solid in &simulation.world().solids {
                let gap = solid.signed_distance_m(at);
                assert!(
                    gap > 0.0,
                    "agent {index} at {at}, in {home:?}, is in {solid:?}"
                );
            }
            let Some(terrace) = simulation.terrace(index) else {
                continue;
            };
            let water = &scene.pool.terraces[usize::from(terrace)];
            let (low, high) = water.band_m(simulation.world().agents.radii_m[index]);
            most = most.max(at.y - high).max(low - at.y);
            if let Some(before) = home.replace(terrace)
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
    assert!(most < 1e-3, "somebody was {most} m out of its water");
    assert!(salmon_ups >= 6 * 2, "{salmon_ups}");
    assert!(salmon_downs >= 2, "{salmon_downs}");
    assert_eq!(herring_ups, 0);
    assert!(herring_downs >= 4, "{herring_downs}");
    assert!(splashes >= 2 * (salmon_ups + salmon_downs + herring_downs));
}

/// Listed costs have six digits.
const LISTED: f64 = 5e-6;

#[test]
fn listed_optima_are_found_and_weighted_searches_stay_near_them() {
    use shoal::navigation::grid::{Progress, Search, SearchRules};
    for (name, every) in [("maze-400-4", 150), ("random-400-33", 15)] {
        let file = movingai::shared(&format!("grid/{name}.map"));
        if !file.exists() {
            println!("SKIPPED {name}: {} is not there", file.display());
            continue;
        }
        let map = movingai::map(&file).unwrap();
        let scen = movingai::shared(&format!("grid/{name}.map.scen"));
        let (mut search, mut path) = (Search::default(), Vec::new());
        let mut count = 0;
        for problem in movingai::problems(&scen).unwrap().iter().step_by(every) {
            for (weight, most) in [(1.0, 1.0 + LISTED), (1.6, 1.4)] {
                let rules = SearchRules {
                    weight,
                    ..SearchRules::default()
                };
                search.begin(&map, problem.start, problem.goal, rules);
                assert_eq!(search.advance(&map, &mut u32::MAX.clone()), Progress::Found);
                search.path(&map, &mut path);
                let steps = path.windows(2);
                let cost: f64 = steps
                    .map(|s| s[0].as_dvec2().distance(s[1].as_dvec2()))
                    .sum();
                assert!(
                    cost <= problem.optimum * most + 1e-9,
                    "{cost} {}",
                    problem.optimum
                );
                assert!(
                    cost >= problem.optimum * (1.0 - LISTED),
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
fn ways_on_meshes_are_hardly_longer_than_the_any_angle_optimum() {
    use shoal::navigation::mesh::{Abilities, Links, MeshPath, MeshSearch, Outcome, Place, Query};
    let file = meshes::shared("mesh/meshes_v2_arena-merged.mesh");
    if !file.exists() {
        println!("SKIPPED: {} is not there", file.display());
        return;
    }
    let mesh = meshes::mesh(&file).unwrap();
    let peer: polyanya::Mesh = polyanya::PolyanyaFile::from_bytes(&std::fs::read(&file).unwrap())
        .try_into()
        .unwrap();
    let links = Links::new(&mesh, Vec::new(), &[]);
    let (mut search, mut path) = (MeshSearch::default(), MeshPath::default());
    let mut ratios = Vec::new();
    for (start, goal) in meshes::problems(&meshes::shared("mesh/scenarios_arena.scen")).unwrap() {
        let place = |at_m| Place { terrace: 0, at_m };
        let query = Query {
            start: place(start),
            goal: place(goal),
            abilities: Abilities::default(),
            cooldown_left_secs: 0.0,
            speed_mps: 1.0,
            costs: &[],
        };
        assert_eq!(
            search.find(&mesh, &links, &query, &mut path),
            Outcome::Found
        );
        let of_peer = |at: glam::Vec2| glam_of_polyanya::Vec2::new(at.x, at.y);
        let optimum = peer.path(of_peer(start), of_peer(goal)).unwrap();
        let mut from = of_peer(start);
        let mut best = 0.0;
        for &to in &optimum.path {
            best += f64::from(from.distance(to));
            from = to;
        }
        let own = path.length_m(start);
        assert!(
            own >= best - 1e-4,
            "{own} is shorter than the optimum {best}"
        );
        if best > 0.0 {
            ratios.push(own / best);
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
