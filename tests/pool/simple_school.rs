//! Tests of the simple school (action `flock_simple`) in a running pool, against values computed by hand and with the
//! shipped scene.

use shoal_testing::assert_near;
use std::collections::BTreeMap;

use glam::Vec3;
use shoal::behavior::actions::{FlockSimple, Leader};
use shoal::behavior::{ActionParams, MindParams, NeedParams};
use shoal::geometry::Surface;
use shoal::simulation::{SceneDescription, Simulation, SimulationParams, SpeciesDescription};
use shoal::site::load;
use shoal::world::{BodyParams, MotionParams, Observation, PerceptionParams, PoolParams};

const HZ: f32 = 60.0;
const SPEED_MPS: f32 = 0.5;

fn params() -> SimulationParams {
    SimulationParams {
        tick_hz: HZ,
        seed: 3,
        threads: 1,
        ..SimulationParams::default()
    }
}

/// Returns a species whose only action is `action`.
fn species(name: &str, count: u32, action: FlockSimple) -> SpeciesDescription {
    SpeciesDescription {
        name: name.into(),
        count,
        body: BodyParams {
            radius_m: 0.03,
            size_spread: 0.0,
            ..BodyParams::default()
        },
        motion: MotionParams {
            cruise_mps: SPEED_MPS,
            boost_mps: SPEED_MPS,
            min_speed_mps: 0.0,
            max_force_n: 50.0,
            response_secs: 0.0,
            max_turn_rate_dps: 90.0,
            level_secs: 0.0,
            ..MotionParams::default()
        },
        perception: PerceptionParams {
            sight_radius_m: 20.0,
            prey_sight_radius_m: 20.0,
            field_of_view_deg: 360.0,
            size_gain: 0.0,
            ..PerceptionParams::default()
        },
        relations: BTreeMap::from([("leader".into(), vec!["chief".into()])]),
        mind: MindParams {
            actions: BTreeMap::from([("school".into(), ActionParams::FlockSimple(action))]),
            needs: vec![NeedParams {
                name: "school".into(),
                actions: vec!["school".into()],
                ..NeedParams::default()
            }],
            ..MindParams::default()
        },
        ..SpeciesDescription::default()
    }
}

fn pool(species: Vec<SpeciesDescription>) -> Simulation {
    let scene = SceneDescription {
        surface: Surface {
            width_m: 60.0,
            height_m: 60.0,
            ..Surface::default()
        },
        pool: PoolParams {
            surface_depth_m: 0.0,
            ground_depth_m: 4.0,
            ..PoolParams::default()
        },
        species,
        ..SceneDescription::default()
    };
    Simulation::new(&scene, &params()).unwrap()
}

fn run_for(simulation: &mut Simulation, secs: f32) {
    for _ in 0..(secs * HZ) as u32 {
        simulation.run_tick(&Observation::default());
    }
}

fn place(simulation: &Simulation, index: usize) -> Vec3 {
    simulation.world().agents.bodies[index].position_m
}

const GOAL: Vec3 = Vec3::new(4.0, -2.0, 0.0);

fn to_goal() -> FlockSimple {
    FlockSimple {
        weight: 20.0,
        goals_m: vec![GOAL.into()],
        ..FlockSimple::default()
    }
}

#[test]
fn a_single_fish_swims_straight_to_its_goal_and_stops() {
    let mut simulation = pool(vec![species("fish", 1, to_goal())]);
    assert!(simulation.place(0, Vec3::new(0.0, -2.0, 0.0), Vec3::X));
    // At 0.5 m/s the fish swims 3.9 m in 7.8 s. It stops within 0.055 m of the goal, which is 4 m away.
    run_for(&mut simulation, 7.8);
    assert_near(place(&simulation, 0).x, 3.9, 0.02);
    run_for(&mut simulation, 3.0);
    let body = simulation.world().agents.bodies[0];
    assert!(body.velocity_mps.length() < 1e-3, "{}", body.velocity_mps);
    let left = body.position_m.distance(GOAL);
    assert!(
        left < 0.055 && left > 0.0,
        "the fish stops {left} m from its goal"
    );
}

#[test]
fn a_fish_turns_at_its_turn_rate_until_the_cosine_rule_is_met() {
    let mut simulation = pool(vec![species("fish", 1, to_goal())]);
    // The goal is 20 m away at the side of the fish, so the direction to the goal hardly changes while the fish turns a
    // quarter circle at 90°/s.
    assert!(simulation.place(0, Vec3::new(4.0, -2.0, -20.0), Vec3::X));
    let mut before = 0.0f32;
    for tick in 0..120 {
        run_for(&mut simulation, 1.01 / HZ);
        let forward = simulation.world().agents.bodies[0].forward;
        let turned = Vec3::X.angle_between(forward).to_degrees();
        assert!(turned - before < 1.6, "tick {tick}: {before} to {turned}");
        before = turned;
    }
    // The direction to the goal is 90° from the first direction of the fish. After a turn by `aligned` degrees, the cosine
    // of the remaining angle is 0.95, and the fish may swim straight on.
    let aligned = 90.0 - 0.95f32.acos().to_degrees();
    assert!(
        before > aligned - 2.0 && before < 91.0,
        "{before}, from {aligned} it may stop turning"
    );
}

#[test]
fn two_fish_too_close_separate_to_the_separation_distance() {
    let both = FlockSimple {
        goals_m: vec![],
        cohesion_m: 100.0,
        centroid_radius_m: 200.0,
        ..to_goal()
    };
    let mut simulation = pool(vec![species("fish", 2, both)]);
    assert!(simulation.place(0, Vec3::new(0.0, -2.0, 0.1), Vec3::X));
    assert!(simulation.place(1, Vec3::new(0.0, -2.0, -0.1), Vec3::X));
    let apart = |s: &Simulation| place(s, 0).distance(place(s, 1));
    run_for(&mut simulation, 5.0);
    assert!(apart(&simulation) > 0.447, "{}", apart(&simulation));
}

/// Runs a pool for 3 s with a leader and a follower, and returns the pool. The leader's goal is straight ahead, and the
/// follower starts 3 m beside the leader.
fn led(leader: Leader) -> Simulation {
    let follower = FlockSimple {
        leader,
        goals_m: vec![],
        weight: 20.0,
        separation_m: 0.0,
        alignment_radius_m: 0.0,
        cohesion_m: 100.0,
        centroid_radius_m: 200.0,
        aligned_cos: 0.999_9,
        ..FlockSimple::default()
    };
    let chief = FlockSimple {
        separation_m: 0.0,
        alignment_radius_m: 0.0,
        cohesion_m: 100.0,
        centroid_radius_m: 200.0,
        ..to_goal()
    };
    let mut simulation = pool(vec![
        species("chief", 1, chief),
        species("fish", 1, follower),
    ]);
    assert!(simulation.place(0, Vec3::new(0.0, -2.0, 0.0), Vec3::X));
    assert!(simulation.place(1, Vec3::new(0.0, -2.0, 3.0), Vec3::X));
    run_for(&mut simulation, 3.0);
    simulation
}

#[test]
fn followers_swim_to_the_goal_or_the_position_of_their_leader() {
    for leader in [Leader::Goal, Leader::Position] {
        let simulation = led(leader);
        let bodies = &simulation.world().agents.bodies;
        let (chief, fish) = (&bodies[0], &bodies[1]);
        let to_goal = (GOAL - fish.position_m).normalize();
        let to_chief = (chief.position_m - fish.position_m).normalize();
        // The two directions must differ for this test.
        assert!(to_goal.angle_between(to_chief) > 0.2);
        let (wanted, other) = match leader {
            Leader::Goal => (to_goal, to_chief),
            _ => (to_chief, to_goal),
        };
        assert!(
            fish.intent.heading.angle_between(wanted) < 0.05,
            "{leader:?}"
        );
        assert!(fish.forward.angle_between(other) > 0.1, "{leader:?}");
    }
}

/// A fixed bug: all members of a school of equals began with the same goal, so that the school never split.
#[test]
fn a_school_of_equals_splits_between_its_goals() {
    let goals = [
        Vec3::new(9.0, -2.0, 0.0),
        Vec3::new(-6.0, -2.0, 7.0),
        Vec3::new(-6.0, -2.0, -7.0),
    ];
    let equals = FlockSimple {
        goals_m: goals.map(Into::into).to_vec(),
        ..to_goal()
    };
    let mut simulation = pool(vec![species("fish", 24, equals)]);
    for index in 0..24u8 {
        let at = Vec3::new(f32::from(index % 5) * 0.5, -2.0, f32::from(index / 5) * 0.5);
        assert!(simulation.place(index.into(), at, Vec3::X));
    }
    run_for(&mut simulation, 12.0);
    let bodies = &simulation.world().agents.bodies;
    let members = goals.map(|goal| {
        let own = bodies
            .iter()
            .filter(|body| body.intent.goal_m == Some(goal));
        own.map(|body| body.position_m).collect::<Vec<_>>()
    });
    let counts = members.each_ref().map(Vec::len);
    assert!(
        counts.iter().all(|&count| count >= 4),
        "members with each goal: {counts:?}"
    );
    // Each part of the school is on its way to its own goal.
    for (number, own) in members.iter().enumerate() {
        let middle = own.iter().sum::<Vec3>() / own.len() as f32;
        let ways_m = goals.map(|goal| middle.distance(goal));
        let nearest_m = ways_m.into_iter().fold(f32::INFINITY, f32::min);
        assert_eq!(ways_m[number], nearest_m, "part {number}: {ways_m:?}");
        assert!(
            ways_m[number] < 8.5,
            "part {number} of the school stays: {ways_m:?}"
        );
    }
}

#[test]
fn the_shipped_school_follows_its_leader_and_stays_together() {
    let site = load(None, Some("simple_school")).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(site.warnings, []);
    for seed in [1, 2, 3] {
        let run = SimulationParams { seed, ..params() };
        let mut simulation = Simulation::new(&site.description(), &run).unwrap();
        let of = |simulation: &Simulation, name: &str| -> Vec<Vec3> {
            let world = simulation.world();
            let agents = &world.agents;
            let is_named = |i: &usize| world.species[usize::from(agents.species[*i])].name == name;
            let found = (0..agents.len()).filter(is_named);
            found.map(|i| agents.bodies[i].position_m).collect()
        };
        run_for(&mut simulation, 15.0);
        let mut quarters = [false; 4];
        let (mut widest, mut farthest) = (0.0f32, 0.0f32);
        for _ in 0..60 {
            run_for(&mut simulation, 1.0);
            let fish = of(&simulation, "simple_fish");
            let leader = of(&simulation, "simple_leader")[0];
            quarters[usize::from(leader.x > 0.0) + 2 * usize::from(leader.z > 0.0)] = true;
            let middle = fish.iter().sum::<Vec3>() / fish.len() as f32;
            let mean = fish.iter().map(|p| p.distance(middle)).sum::<f32>() / fish.len() as f32;
            widest = widest.max(mean);
            farthest = farthest.max(middle.distance(leader));
        }
        assert_eq!(
            quarters, [true; 4],
            "seed {seed}: the leader must visit all quarters"
        );
        assert!(
            widest < 0.9,
            "seed {seed}: the mean distance from the center is {widest} m"
        );
        assert!(
            farthest < 2.0,
            "seed {seed}: the center is {farthest} m from the leader"
        );
    }
}
