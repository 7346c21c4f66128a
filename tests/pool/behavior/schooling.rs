//! Tests of flocking and of three corrections to the original rules. **Source**: Jockel 2005, §4.2.5.

use glam::{Vec2, Vec3};
use shoal::behavior::ActionParams;
use shoal::behavior::actions::{FlockWithRelation, Separate, SeparateNonShadow};
use shoal::simulation::{Simulation, SpeciesDescription};
use shoal::world::FlockPartChange;

use super::{at, executed, only, pool, shadow, tick};
use crate::pools::{action, add_action, bare};

/// Returns a schooling species with separation within 1 m, alignment within 1.5 m, cohesion within 2 m and default angles.
fn schooling(count: u32) -> SpeciesDescription {
    let mut fish = only(
        bare("fish", count),
        &[("flock", action("flock_with_relation", "pace_weight = 0.0"))],
    );
    fish.flock.radius_m = 1.0;
    fish.flock.soften = 0.0;
    fish
}

/// A fixed bug: the few fish that came to a visitor drew their whole school after them.
#[test]
fn a_school_does_not_follow_mates_that_visit_someone() {
    let mut guest = only(
        bare("guest", 1),
        &[(
            "shelter",
            action("shelter_under", "reach_m = 9.0, attraction = AT_ONCE"),
        )],
    );
    guest.groups = vec!["school".into()];
    let mut fish = schooling(1);
    fish.mind.actions.insert(
        "flock".into(),
        action("flock_with_relation", "relations = ['friend']"),
    );
    fish.relations
        .insert("friend".into(), vec!["school".into()]);
    let places = [(at(0.0, 0.0), Vec3::X), (at(1.2, 0.0), Vec3::X)];
    let mut pool = pool(vec![fish, guest], &places);
    let decides = |pool: &mut Simulation, still_secs: f32| {
        for _ in 0..3 {
            pool.run_tick(&shadow(Vec2::new(3.0, 0.0), 0.3, still_secs));
        }
        executed(pool, 0).len()
    };
    assert_eq!(decides(&mut pool, 0.0), 1, "they school");
    assert_eq!(decides(&mut pool, 60.0), 0, "its mate visits someone");
}

#[test]
fn repair_1_separation_never_acts_alone() {
    // The neighbor is at 120° to the side. This is within the 135° of separation, but outside the 45° of alignment and the 99°
    // of cohesion.
    let aside = Vec3::new(-0.4, 0.0, 0.4 * 3f32.sqrt());
    let mut pool = pool(
        vec![schooling(2)],
        &[(at(0.0, 0.0), Vec3::X), (at(0.0, 0.0) + aside, Vec3::Z)],
    );
    tick(&mut pool);
    let half = 0.5f32.sqrt();
    let expected = -aside.normalize() * 1.5 + Vec3::new(-half, 0.0, half);
    let force = pool.decision(0).proposal.force;
    assert!(
        force.distance(expected) < 1e-3,
        "separation and alignment in all directions: {force}, expected {expected}"
    );
}

#[test]
fn repair_2_scattered_fish_turn_back_but_the_leader_does_not() {
    let force_with_other_behind = |distance: f32| {
        let behind = at(-distance, 0.3);
        let mut pool = pool(
            vec![schooling(2)],
            &[(at(0.0, 0.0), Vec3::X), (behind, Vec3::NEG_X)],
        );
        tick(&mut pool);
        (executed(&pool, 0).len(), pool.decision(0).proposal.force)
    };
    let (count, force) = force_with_other_behind(1.2);
    assert_eq!(count, 1);
    assert!(
        force.distance(Vec3::new(-1.2, 0.0, 0.3).normalize()) < 1e-3,
        "cohesion in all directions: {force}"
    );
    // Beyond the alignment radius the fish is a leader.
    assert_eq!(force_with_other_behind(1.7).0, 0);
}

#[test]
fn repair_3_a_straggler_hurries_after_the_school() {
    let boost_with_other_at = |offset: Vec3| {
        let mut pool = pool(
            vec![schooling(2)],
            &[(at(0.0, 0.0), Vec3::X), (at(0.0, 0.0) + offset, Vec3::X)],
        );
        tick(&mut pool);
        pool.decision(0)
            .proposal
            .boost
            .map(|boost| (boost.scale, boost.hold_secs, boost.calm_secs))
    };
    assert_eq!(
        boost_with_other_at(Vec3::new(1.8, 0.0, 0.0)),
        Some((0.5, 0.0, 0.8))
    );
    // The mate is near enough.
    assert_eq!(boost_with_other_at(Vec3::new(1.2, 0.0, 0.0)), None);
    // The mate is not ahead.
    assert_eq!(boost_with_other_at(Vec3::new(-0.2, 0.0, 1.8)), None);
}

#[test]
fn flock_mates_are_the_own_species_and_related_agents() {
    let mut fish = schooling(1);
    fish.relations.insert("friend".into(), vec!["pals".into()]);
    let mut pal = bare("pal", 1);
    pal.groups = vec!["pals".into()];
    let places = [
        (at(0.0, 0.0), Vec3::X),
        (at(1.2, 0.5), Vec3::X),
        (at(1.2, -0.5), Vec3::X),
    ];
    let mut pool = pool(vec![fish, pal, bare("stranger", 1)], &places);
    tick(&mut pool);
    assert!(
        pool.decision(0).proposal.force.z > 0.1,
        "the fish does not swim to the friend: {}",
        pool.decision(0).proposal.force
    );
}

#[test]
fn an_investigated_agent_is_a_flock_mate_if_known_is_a_flock_relation() {
    let swims_with_it = |relations: &[&str]| {
        let flock = FlockWithRelation {
            relations: relations.iter().map(|&name| name.to_owned()).collect(),
            ..FlockWithRelation::default()
        };
        let actions = [
            (
                "look",
                action(
                    "investigate",
                    "reach_m = 3.0, interest_secs = 0.0, forget_secs = 1.0, distance_m = 3.0, attraction = AT_ONCE",
                ),
            ),
            ("flock", ActionParams::FlockWithRelation(flock)),
        ];
        let mut fish = only(bare("fish", 1), &actions);
        fish.flock.radius_m = 1.0;
        let mut stone = bare("stone", 1);
        stone.motion.cruise_mps = 0.0;
        let mut pool = pool(
            vec![fish, stone],
            &[(at(0.0, 0.0), Vec3::X), (at(1.2, 0.5), Vec3::X)],
        );
        tick(&mut pool);
        assert_eq!(executed(&pool, 0), ["look"]);
        tick(&mut pool);
        executed(&pool, 0) == ["flock"]
    };
    assert!(swims_with_it(&["friend", "known"]));
    // A stranger of another species is no flock mate.
    assert!(!swims_with_it(&["friend"]));
}

#[test]
fn coincident_fish_separate() {
    let mut pool = pool(vec![schooling(3)], &[(at(0.0, 0.0), Vec3::X); 3]);
    for _ in 0..120 {
        tick(&mut pool);
    }
    let bodies = &pool.world().agents.bodies;
    assert_eq!(pool.quarantine_count(), 0);
    assert!(bodies[0].position_m.distance(bodies[1].position_m) > 0.05);
    assert!(bodies[1].position_m.distance(bodies[2].position_m) > 0.05);
}

#[test]
fn very_near_mates_count_at_any_angle() {
    // The neighbor is straight behind the fish, outside the angles of separation, alignment and cohesion.
    let schools = |behind_m: f32, always_radius_m| {
        let mut fish = schooling(2);
        fish.flock.always_radius_m = always_radius_m;
        fish.flock.alignment.weight = Some(0.0);
        fish.flock.cohesion.weight = Some(0.0);
        let places = [(at(0.0, 0.0), Vec3::X), (at(-behind_m, 0.0), Vec3::X)];
        let mut pool = pool(vec![fish], &places);
        tick(&mut pool);
        pool.decision(0).proposal.force.x > 0.5
    };
    assert!(schools(0.29, None), "the default is three radii of 0.1 m");
    assert!(!schools(0.31, None));
    assert!(schools(0.31, Some(0.4)) && !schools(0.29, Some(0.2)));
}

#[test]
fn flock_ignores_relations_and_separate_non_shadow_ignores_shadows() {
    let act = |action: ActionParams| {
        let mut fish = only(bare("fish", 1), &[("act", action)]);
        fish.flock.radius_m = 1.0;
        let mut pool = pool(
            vec![fish, bare("stranger", 1)],
            &[(at(0.0, 0.0), Vec3::X), (at(1.2, 0.5), Vec3::X)],
        );
        tick(&mut pool);
        let of_stranger = pool.decision(0).actions == 1;
        pool.place(1, at(20.0, 20.0), Vec3::X);
        pool.run_tick(&shadow(Vec2::new(0.5, 0.1), 0.2, 0.0));
        (of_stranger, pool.decision(0).actions == 1)
    };
    let (radius_m, angle_deg, weight) = (1.5, 135.0, 1.0);
    assert_eq!(act(action("flock", "")), (true, false));
    let separate = Separate {
        weight,
        radius_m,
        angle_deg,
    };
    assert_eq!(act(ActionParams::Separate(separate)), (true, true));
    let without = SeparateNonShadow {
        weight,
        radius_m,
        angle_deg,
    };
    assert_eq!(act(ActionParams::SeparateNonShadow(without)), (true, false));
}

#[test]
fn an_action_can_replace_the_radii_and_angles_of_its_species() {
    let wide = FlockWithRelation {
        pace_weight: 0.0,
        separation: FlockPartChange {
            weight: Some(0.0),
            ..FlockPartChange::default()
        },
        cohesion: FlockPartChange {
            radius_m: Some(4.0),
            angle_deg: Some(180.0),
            weight: Some(3.0),
        },
        ..FlockWithRelation::default()
    };
    let mut fish = schooling(2);
    add_action(&mut fish, "wide", ActionParams::FlockWithRelation(wide));
    let force = |fish: &SpeciesDescription, other: Vec3| {
        let mut pool = pool(
            vec![fish.clone()],
            &[(at(0.0, 0.0), Vec3::X), (at(0.0, 0.0) + other, Vec3::X)],
        );
        tick(&mut pool);
        (executed(&pool, 0), pool.decision(0).proposal.force)
    };
    let behind = Vec3::new(-3.5, 0.0, 0.0);
    // Beyond the radii of the species.
    assert_eq!(force(&fish, behind).0, [""; 0]);
    fish.mind.needs[0].actions.push("wide".into());
    let (acts, pull) = force(&fish, behind);
    assert_eq!(acts, ["wide"]);
    assert!(pull.distance(Vec3::NEG_X * 3.0) < 1e-3, "{pull}");
    // The other action of the same fish still has the radii of the species.
    let (acts, _) = force(&fish, Vec3::new(0.5, 0.0, 0.5));
    assert_eq!(acts, ["flock"]);
    assert_eq!(
        fish.mind.warnings(3.9)[0].0,
        "actions.wide.cohesion.radius_m"
    );
    assert_eq!(fish.mind.warnings(4.0), vec![]);
}
