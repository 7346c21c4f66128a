//! Tests of the perception of enemies and prey, and of fleeing, hunting and hiding. **Source**: Jockel 2005, §4.2.1 and
//! §4.2.5.

use glam::{Vec2, Vec3};
use shoal::behavior::ActionParams;
use shoal::behavior::actions::{FleeEnemy, HuntPrey};
use shoal::simulation::{Simulation, SpeciesDescription};
use shoal::world::{CapsuleParams, ObstacleParams, SphereParams};
use shoal_testing::assert_near;

use super::{Y, at, only, pool, pool_with_rocks, shadow, tick};
use crate::pools::{action, bare, sphere};

fn prey_fish(action: ActionParams) -> SpeciesDescription {
    let mut fish = only(bare("fish", 1), &[("act", action)]);
    fish.relations
        .insert("enemy".into(), vec!["hunters".into()]);
    fish
}

fn hunter(count: u32) -> SpeciesDescription {
    let mut hunter = bare("hunter", count);
    hunter.groups = vec!["hunters".into()];
    hunter
}

#[test]
fn fish_flee_from_a_visible_enemy_within_the_flee_distance() {
    let flee = |flee_distance_m| {
        ActionParams::FleeEnemy(FleeEnemy {
            flee_distance_m,
            ..FleeEnemy::default()
        })
    };
    let decide = |flee_distance_m, enemy: Vec3, rocks: Vec<ObstacleParams>| {
        let fish = vec![prey_fish(flee(flee_distance_m)), hunter(1)];
        let mut pool = pool_with_rocks(fish, &[(at(0.0, 0.0), Vec3::X), (enemy, Vec3::X)], rocks);
        tick(&mut pool);
        *pool.decision(0)
    };
    let decision = decide(Some(2.5), at(0.0, 2.0), vec![]);
    assert_near(decision.proposal.force, Vec3::new(-1.0, 0.0, -3.0), 1e-4);
    let boost = decision.proposal.boost.unwrap();
    assert_eq!((boost.scale, boost.hold_secs), (1.0, 1.0));
    // Beyond the flee distance.
    assert_eq!(decide(Some(1.5), at(0.0, 2.0), vec![]).actions, 0);
    // Without a flee distance the sight radius counts.
    assert_eq!(decide(None, at(0.0, 4.9), vec![]).actions, 1);
    // The enemy is behind, outside the field of view.
    assert_eq!(decide(None, at(-2.0, 0.2), vec![]).actions, 0);
    let rock = sphere([0.0, Y, 1.0], 0.5);
    // A rock hides the enemy.
    assert_eq!(decide(None, at(0.0, 2.0), vec![rock]).actions, 0);
}

#[test]
fn larger_agents_are_seen_earlier_and_prey_is_seen_farther() {
    let sees = |change: fn(&mut SpeciesDescription)| {
        let mut fish = prey_fish(action("flee_enemy", "flee_distance_m = 50.0"));
        let mut big = hunter(1);
        big.body.radius_m = 0.3;
        change(&mut fish);
        let mut pool = pool(
            vec![fish, big],
            &[(at(0.0, 0.0), Vec3::X), (at(8.0, 0.0), Vec3::X)],
        );
        tick(&mut pool);
        pool.decision(0).actions == 1
    };
    assert!(!sees(|_| {}), "8 m away, sight radius 5 m");
    // Three times as large: 5 m * (1 + 0.5 * 2) = 10 m.
    assert!(sees(|fish| fish.perception.size_gain = 0.5));
    // The sight radius for prey does not apply to other agents.
    assert!(!sees(|fish| fish.perception.prey_sight_radius_m = 9.0));
    assert!(sees(|fish| {
        fish.perception.prey_sight_radius_m = 9.0;
        fish.relations.insert("prey".into(), vec!["hunter".into()]);
    }));
}

/// A fixed bug: trout hid from a shark that only swam by, for minutes.
#[test]
fn fish_are_less_afraid_of_an_enemy_that_does_not_hunt() {
    let decide = |prey: bool, calm_enemy_share: f32, distance_m: f32, flees: bool| {
        let reaction = if flees {
            action("flee_enemy", "flee_distance_m = 3.0")
        } else {
            action("hide_from_enemy", "flee_distance_m = 3.0")
        };
        let mut fish = prey_fish(reaction);
        fish.perception.calm_enemy_share = calm_enemy_share;
        let hunt = action("hunt_prey", "radius_m = 9.0");
        let mut hunter = only(hunter(1), &[("hunt", hunt)]);
        hunter.perception.prey_sight_radius_m = 9.0;
        if prey {
            hunter.relations.insert("prey".into(), vec!["bait".into()]);
        }
        let places = [
            (at(0.0, 0.0), Vec3::X),
            (at(distance_m, 0.0), Vec3::X),
            (at(distance_m + 4.0, 0.0), Vec3::X),
        ];
        let rock = sphere([-0.2, Y, 1.3], 0.3);
        let species = vec![fish, hunter, bare("bait", 1)];
        let mut pool = pool_with_rocks(species, &places, vec![rock]);
        tick(&mut pool);
        assert_eq!(pool.decision(1).hunts, prey);
        assert_eq!(pool.world().agents.bodies[1].intent.hunts, prey);
        pool.place(0, at(0.0, 0.0), Vec3::X);
        tick(&mut pool);
        pool.decision(0).actions == 1
    };
    for flees in [true, false] {
        assert!(decide(true, 0.5, 2.0, flees), "it hunts");
        assert!(!decide(false, 0.5, 2.0, flees), "it does not hunt");
        assert!(decide(false, 0.5, 1.3, flees), "too near in any case");
        // Every enemy is feared alike.
        assert!(decide(false, 1.0, 2.0, flees));
        assert!(!decide(false, 0.0, 0.6, flees), "it is ignored");
    }
}

/// The enemy that is feared most is not always the nearest.
#[test]
fn a_calm_enemy_nearby_does_not_distract_from_one_that_hunts() {
    let flee = action("flee_enemy", "flee_distance_m = 3.0");
    let mut fish = prey_fish(flee);
    fish.perception.calm_enemy_share = 0.3;
    let hunt = action("hunt_prey", "radius_m = 9.0");
    let mut keen = only(hunter(1), &[("hunt", hunt)]);
    keen.name = "keen".into();
    keen.relations.insert("prey".into(), vec!["fish".into()]);
    let places = [
        (at(0.0, 0.0), Vec3::X),
        (at(1.2, 0.0), Vec3::X),
        (at(0.0, 2.5), -Vec3::Z),
    ];
    let mut pool = pool(vec![fish, hunter(1), keen], &places);
    tick(&mut pool);
    pool.place(0, at(0.0, 0.0), Vec3::X);
    tick(&mut pool);
    assert_eq!(pool.decision(0).actions, 1);
    let force = pool.decision(0).proposal.force + Vec3::X;
    assert!(force.z < -1.0 && force.x.abs() < 0.5, "{force}");
}

#[test]
fn a_visitor_can_be_an_enemy_by_relation() {
    let mut fish = prey_fish(action("flee_enemy", ""));
    fish.relations
        .insert("enemy".into(), vec!["visitor".into()]);
    let mut pool = pool(vec![fish], &[(at(1.0, 0.0), Vec3::X)]);
    pool.run_tick(&shadow(Vec2::new(3.0, 0.0), 0.2, 0.0));
    assert_eq!(pool.decision(0).actions, 1);
    assert!(pool.decision(0).proposal.force.x < -1.0);
}

#[test]
fn the_mean_of_all_prey_confuses_the_hunter_in_the_ratio_3_to_2() {
    let aim = |confusion_radius_m| {
        let hunt = HuntPrey {
            confusion_radius_m,
            lead_secs: 0.0,
            radius_m: 4.0,
            ..HuntPrey::default()
        };
        let mut hunter = only(bare("hunter", 1), &[("hunt", ActionParams::HuntPrey(hunt))]);
        hunter.relations.insert("prey".into(), vec!["prey".into()]);
        let places = [
            (at(0.0, 0.0), Vec3::X),
            (at(2.0, 0.0), Vec3::X),
            (at(2.0, 1.0), Vec3::X),
            (at(2.0, 2.0), Vec3::X),
        ];
        let mut pool = pool(vec![hunter, bare("prey", 3)], &places);
        tick(&mut pool);
        // The force is the desired velocity (3 m/s towards the aim) minus the velocity of the hunter (1 m/s along x).
        (pool.decision(0).proposal.force + Vec3::X).normalize()
    };
    assert!(aim(0.0).distance(Vec3::X) < 1e-4);
    // The mean position of the two prey within 1.5 m is (2, 0.5) in x and z. The aim is (3 (2, 0.5) + 2 (2, 0)) / 5 = (2, 0.3).
    assert!(aim(1.5).distance(Vec3::new(2.0, 0.0, 0.3).normalize()) < 1e-4);
}

#[test]
fn a_hunter_follows_invisible_prey_for_two_seconds() {
    let hunt = action("hunt_prey", "radius_m = 4.0");
    let mut hunter = only(bare("hunter", 1), &[("hunt", hunt)]);
    hunter.relations.insert("prey".into(), vec!["prey".into()]);
    let mut pool = pool(
        vec![hunter, bare("prey", 1)],
        &[(at(0.0, 0.0), Vec3::X), (at(3.0, 0.0), Vec3::Z)],
    );
    tick(&mut pool);
    let mut lasts = 0;
    for _ in 0..200 {
        pool.place(1, at(25.0, 25.0), Vec3::Z);
        tick(&mut pool);
        lasts += u32::from(pool.decision(0).actions == 1);
    }
    assert!(
        (119..=121).contains(&lasts),
        "the hunter followed for {lasts} ticks"
    );
}

#[test]
fn the_hiding_place_is_behind_the_nearest_suitable_rock() {
    let run = |rocks: &[(f32, f32)]| {
        let fish = vec![
            prey_fish(action(
                "hide_from_enemy",
                "flee_distance_m = 3.0, use_boost = false",
            )),
            hunter(1),
        ];
        let places = [(at(0.0, 0.0), Vec3::X), (at(2.0, 0.0), Vec3::X)];
        let rocks = rocks.iter().map(|&(x, z)| sphere([x, Y, z], 0.3));
        let mut pool = pool_with_rocks(fish, &places, rocks.collect());
        tick(&mut pool);
        (
            pool.decision(0).actions,
            (pool.decision(0).proposal.force + Vec3::X).normalize_or_zero(),
        )
    };
    // The enemy is at (2, 0) and the rock at (-0.2, 1.3). As seen from the enemy, the hiding place is 0.4 m behind the
    // center of the rock.
    let (count, direction) = run(&[(-0.2, 1.3)]);
    let from_enemy = Vec3::new(-2.2, 0.0, 1.3);
    let place = Vec3::new(2.0, 0.0, 0.0) + from_enemy.normalize() * (from_enemy.length() + 0.4);
    assert_eq!(count, 1);
    assert!(direction.distance(place.normalize()) < 1e-3, "{direction}");
    // A rock towards the enemy and not much nearer than it is unsuitable.
    assert_eq!(run(&[(1.8, 0.9)]).0, 0);
    assert_eq!(run(&[(-2.9, 1.5)]).0, 0, "the rock is too far away");
    // The nearer rock is chosen.
    assert!(run(&[(-0.2, 1.3), (-0.2, -1.1)]).1.z < 0.0);
    assert_eq!(run(&[]).0, 0, "without a rock there is no hiding place");
}

#[test]
fn a_fish_hides_close_to_the_real_shape_of_an_obstacle() {
    let goal = |obstacle: ObstacleParams, enemy: Vec3| {
        let fish = vec![
            prey_fish(action("hide_from_enemy", "flee_distance_m = 3.0")),
            hunter(1),
        ];
        let places = [(at(0.0, 0.0), Vec3::X), (enemy, Vec3::X)];
        let mut pool = pool_with_rocks(fish, &places, vec![obstacle]);
        tick(&mut pool);
        pool.decision(0).proposal.goal_m.unwrap()
    };
    // A log of 1.2 m length across the line of sight. The radius of the fish is 0.1 m.
    let log = CapsuleParams {
        visible: true,
        from_m: [-0.6, Y, -0.5],
        to_m: [-0.6, Y, 0.5],
        radius_m: 0.1,
    };
    let behind = goal(ObstacleParams::Capsule(log), at(2.0, 0.0));
    assert!(behind.distance(at(-0.8, 0.0)) < 0.02, "{behind}");
    // An enemy above a boulder does not send the fish into the ground or into the boulder.
    let boulder = SphereParams {
        visible: true,
        center_m: [-0.6, Y - 0.1, 0.0],
        radius_m: 0.3,
    };
    let behind = goal(
        ObstacleParams::Sphere(boulder),
        at(0.6, 0.0) + Vec3::Y * 0.6,
    );
    assert_near(behind, at(-1.0, 0.0) - Vec3::Y * 0.1, 0.02);
}

#[test]
fn a_hiding_fish_predicts_the_invisible_hunter_and_moves_around_the_rock() {
    let fish = vec![
        prey_fish(action(
            "hide_from_enemy",
            "flee_distance_m = 3.0, memory_secs = 1.0, use_boost = false",
        )),
        hunter(1),
    ];
    let rock = sphere([0.0, Y, 1.0], 0.3);
    let places = [(at(0.0, 0.0), Vec3::X), (at(2.0, 0.0), Vec3::Z)];
    let mut pool = pool_with_rocks(fish, &places, vec![rock]);
    let place = |pool: &mut Simulation, hunter: Vec3| {
        pool.place(0, at(0.0, 0.0), Vec3::X);
        pool.place(1, hunter, Vec3::Z);
        tick(pool);
        let decision = pool.decision(0);
        (decision.actions == 1, decision.proposal.force + Vec3::X)
    };
    // The hunter swims at 1 m/s along z. While the hunter is out of sight, the fish predicts its position with half of this
    // speed.
    place(&mut pool, at(2.0, 0.0));
    let mut lasts = 0;
    for step in 1..100u8 {
        let (hides, wanted) = place(&mut pool, at(25.0, 25.0));
        if !hides {
            break;
        }
        lasts = step;
        let predicted = at(2.0, f32::from(step) / 60.0 * 0.5);
        let from_enemy = Vec3::new(0.0, Y, 1.0) - predicted;
        let hiding = predicted + from_enemy + from_enemy.normalize() * 0.4 - at(0.0, 0.0);
        assert!(
            wanted.normalize().distance(hiding.normalize()) < 1e-3,
            "tick {step}: the force {wanted} does not lead to {hiding}"
        );
    }
    assert!(
        (59..=60).contains(&lasts),
        "the memory lasts 1 s, measured {lasts} ticks"
    );
}

/// A fixed bug: a fish at the flee distance began and ended its flight again and again, each time with a full boost.
#[test]
fn a_flight_ends_at_a_longer_distance_than_it_begins_and_lasts_for_a_shortest_time() {
    let flee = ActionParams::FleeEnemy(FleeEnemy {
        flee_distance_m: Some(1.0),
        ..FleeEnemy::default()
    });
    let mut pool = pool(
        vec![prey_fish(flee), hunter(1)],
        &[(at(0.0, 0.0), Vec3::X), (at(5.0, 0.0), Vec3::NEG_X)],
    );
    let flees = |pool: &mut Simulation, enemy_m: f32| {
        pool.place(0, at(0.0, 0.0), Vec3::X);
        pool.place(1, at(enemy_m, 0.0), Vec3::NEG_X);
        tick(pool);
        !pool.active_need(0).is_empty()
    };
    assert!(!flees(&mut pool, 1.1), "farther than the flee distance");
    assert!(flees(&mut pool, 0.9));
    assert!(flees(&mut pool, 1.1), "until it is a quarter farther away");
    // The flight has lasted for two ticks, and the need keeps an action for half a second.
    for _ in 0..27 {
        assert!(flees(&mut pool, 3.0), "for the shortest time");
    }
    assert!(!(0..3).all(|_| flees(&mut pool, 3.0)), "not for ever");
}
