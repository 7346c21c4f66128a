//! Tests of decisions: the effect of needs, actions and random choices. **Source**: Jockel 2005, §3.3.

use glam::Vec3;
use shoal::behavior::actions::{Seek, SeekTarget};
use shoal::behavior::{ActionParams, Combine, LimitParams, LimitSide, NeedKind, NeedParams};
use shoal::simulation::{SceneDescription, Simulation};
use shoal_testing::assert_near;

use super::{at, executed, only, pool, seek_point, tick};
use crate::pools::{self, action, add_action, bare};

#[test]
fn the_standard_need_and_the_first_unsatisfied_need_act() {
    let mut fish = only(
        bare("fish", 1),
        &[
            ("left", seek_point(0.0, -9.0, 2.0)),
            ("right", seek_point(0.0, 9.0, 1.0)),
        ],
    );
    fish.mind.needs[0].actions = vec!["left".into()];
    let second = NeedParams {
        name: "second".into(),
        actions: vec!["right".into()],
        ..NeedParams::default()
    };
    fish.mind.needs.push(second);
    add_action(&mut fish, "ahead", seek_point(9.0, 0.0, 0.5));
    fish.mind.standard.actions = vec!["ahead".into()];
    let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::X)]);
    tick(&mut pool);
    assert_eq!(pool.active_need(0), "only");
    assert_eq!(executed(&pool, 0), ["ahead", "left"]);
    // The force of the action that seeks left is the desired velocity (1 m/s to the left) minus the own velocity (1 m/s ahead),
    // times the weight 2. The action that seeks ahead adds no force, because the fish already swims at cruise speed.
    assert_near(
        pool.decision(0).proposal.force,
        Vec3::new(-2.0, 0.0, -2.0),
        1e-4,
    );
}

#[test]
fn exclusive_needs_take_the_first_action_and_additive_needs_combine_all() {
    let actions = [
        ("a", seek_point(0.0, -9.0, 0.0)),
        ("b", seek_point(0.0, 9.0, 1.0)),
        ("c", seek_point(9.0, 0.0, 3.0)),
    ];
    let run = |change: fn(&mut NeedParams)| {
        let mut fish = only(bare("fish", 1), &actions);
        change(&mut fish.mind.needs[0]);
        let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::Z)]);
        tick(&mut pool);
        (executed(&pool, 0), pool.decision(0).proposal.force)
    };
    assert_eq!(run(|_| {}).0, ["b"]);
    let (all, force) = run(|need| need.additive = true);
    assert_eq!(all, ["b", "c"]);
    assert!(force.distance(Vec3::new(3.0, 0.0, -3.0)) < 1e-4, "{force}");
    let first = |need: &mut NeedParams| {
        need.additive = true;
        need.combine = Combine::First;
        need.actions = vec!["c".into(), "b".into()];
    };
    assert_eq!(run(first).0, ["c"]);
    let (_, force) = run(|need| {
        need.additive = true;
        need.combine = Combine::Budget;
        need.actions = vec!["c".into(), "b".into()];
    });
    // The force of the first action is 3 * sqrt(2) N, which is more than the largest force of 4 N.
    assert!((force.length() - 4.0).abs() < 1e-4, "{force}");
}

#[test]
fn a_random_choice_is_kept_for_its_minimum_time_and_uses_every_action() {
    let actions = [
        ("a", seek_point(0.0, -9.0, 1.0)),
        ("b", seek_point(0.0, 9.0, 1.0)),
    ];
    let mut fish = only(bare("fish", 1), &actions);
    let need = &mut fish.mind.needs[0];
    (need.minimum_secs, need.stochastic) = (0.5, true);
    let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::X)]);
    let (mut changes, mut kept, mut counts) = (0, 0, [0, 0]);
    let mut last = Vec::new();
    for _ in 0..3600 {
        tick(&mut pool);
        let now = executed(&pool, 0);
        for (index, name) in ["a", "b"].into_iter().enumerate() {
            counts[index] += usize::from(now == [name]);
        }
        if now == last || last.is_empty() {
            kept += 1;
        } else {
            changes += 1;
            assert!(
                last.is_empty() || kept >= 29,
                "the choice was kept for only {kept} ticks"
            );
            kept = 1;
        }
        last = now;
    }
    assert!(
        changes > 10 && counts.iter().all(|&count| count > 600),
        "{changes} changes, {counts:?}"
    );
}

#[test]
fn a_limit_makes_a_need_active_and_a_catch_resets_it() {
    let hunt = action("hunt_prey", "");
    let mut hunter = only(bare("hunter", 1), &[("hunt", hunt)]);
    hunter.relations.insert("prey".into(), vec!["prey".into()]);
    hunter.mind.needs[0].kind = NeedKind::LimitBased;
    hunter.mind.needs[0].limit = Some(LimitParams {
        rate_per_sec: 1.0,
        ..LimitParams::default()
    });
    let mut pool = pool(
        vec![hunter, bare("prey", 1)],
        &[(at(0.0, 0.0), Vec3::X), (at(1.9, 0.0), Vec3::Z)],
    );
    let mut active_at = None;
    for step in 0..600 {
        pool.place(
            1,
            at(1.9, 0.0) + pool.world().agents.bodies[0].position_m.with_y(0.0),
            Vec3::Z,
        );
        tick(&mut pool);
        if pool.active_need(0) == "only" {
            active_at = Some(step);
            break;
        }
    }
    // The variable grows by 1 per second and the limit is 1.
    assert_eq!(active_at, Some(60));
    let near = pool.world().agents.bodies[0].position_m + Vec3::X * 0.15;
    pool.place(1, near, Vec3::X);
    tick(&mut pool);
    assert_eq!(pool.catches(), 1);
    tick(&mut pool);
    assert_eq!(pool.active_need(0), "", "the catch has satisfied the need");
    assert!(pool.set_need("hunter", "only", 2.0));
    tick(&mut pool);
    // The director has set the variable beyond the limit.
    assert_eq!(pool.active_need(0), "only");
}

#[test]
fn non_finite_state_is_reset_and_counted() {
    let far = ActionParams::Seek(Seek {
        target: SeekTarget::Point,
        point_m: [f32::NAN; 3],
        ..Seek::default()
    });
    let broken = |weight| match far.clone() {
        ActionParams::Seek(seek) => ActionParams::Seek(Seek { weight, ..seek }),
        other => other,
    };
    let mut pool = pool(
        vec![
            only(bare("broken", 1), &[("seek", broken(f32::INFINITY))]),
            only(bare("sound", 1), &[]),
        ],
        &[(at(0.0, 0.0), Vec3::X), (at(1.0, 0.0), Vec3::X)],
    );
    for _ in 0..10 {
        tick(&mut pool);
    }
    assert_eq!(pool.quarantine_count(), 10);
    assert_eq!(pool.world().agents.bodies[0].position_m, at(0.0, 0.0));
    assert!(pool.world().agents.bodies[1].is_finite());
}

#[test]
fn pauses_begin_at_their_rate_at_any_tick_rate() {
    for tick_hz in [30.0, 120.0] {
        let scene = SceneDescription {
            species: vec![only(
                bare("fish", 20),
                &[(
                    "wander",
                    action("wander", "idle_per_sec = 0.5, idle_secs = 0.5"),
                )],
            )],
            ..SceneDescription::default()
        };
        let params = shoal::simulation::SimulationParams {
            tick_hz,
            ..pools::run(1, 1)
        };
        let mut simulation = Simulation::new(&scene, &params).unwrap();
        let mut idle = 0;
        let ticks = (tick_hz * 30.0) as usize;
        for _ in 0..ticks {
            tick(&mut simulation);
            idle += (0..20)
                .filter(|&index| simulation.decision(index).proposal.force == Vec3::ZERO)
                .count();
        }
        // On average, a pause of 0.5 s follows 2 s of swimming, so pauses are a fifth of the time.
        let share = idle as f32 / (20 * ticks) as f32;
        assert!(
            (0.15..0.25).contains(&share),
            "share of pauses at {tick_hz} Hz: {share}"
        );
    }
}

#[test]
fn an_action_of_two_needs_is_evaluated_once_per_tick_and_has_one_memory() {
    let look = action(
        "investigate",
        "interest_secs = 1.0, reach_m = 3.0, distance_m = 3.0, attraction = AT_ONCE",
    );
    let mut fish = only(bare("fish", 1), &[("look", look)]);
    let second = NeedParams {
        name: "second".into(),
        ..fish.mind.needs[0].clone()
    };
    fish.mind.needs.push(second);
    let mut stone = bare("stone", 1);
    stone.motion.cruise_mps = 0.0;
    let mut pool = pool(
        vec![fish, stone],
        &[(at(0.0, 0.0), Vec3::X), (at(1.5, 0.0), Vec3::X)],
    );
    let looking_ticks = (0..120)
        .filter(|_| {
            pool.place(0, at(0.0, 0.0), Vec3::X);
            tick(&mut pool);
            pool.active_need(0) == "only"
        })
        .count();
    assert!(
        (60..=61).contains(&looking_ticks),
        "interest lasts 1 s, measured {looking_ticks} ticks"
    );
}

#[test]
fn a_lower_limit_works_and_a_default_need_is_never_satisfied() {
    let mut fish = only(bare("fish", 1), &[("go", seek_point(9.0, 0.0, 1.0))]);
    fish.mind.needs[0].kind = NeedKind::LimitBased;
    fish.mind.needs[0].limit = Some(LimitParams {
        side: LimitSide::Lower,
        value: -0.5,
        rate_per_sec: -1.0,
        ..LimitParams::default()
    });
    let last = NeedParams {
        name: "last".into(),
        kind: NeedKind::Default,
        ..fish.mind.needs[0].clone()
    };
    fish.mind.needs.push(NeedParams {
        limit: None,
        ..last
    });
    // An action that cannot be executed does not satisfy the need.
    add_action(&mut fish, "go", seek_point(9.0, 0.0, 0.0));
    let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::X)]);
    let mut needs = Vec::new();
    for _ in 0..40 {
        tick(&mut pool);
        needs.push(pool.active_need(0).to_owned());
    }
    assert!(needs[..29].iter().all(|need| need == "last"), "{needs:?}");
    assert!(needs[31..].iter().all(|need| need == "only"), "{needs:?}");
}

/// A fixed bug: under `combine = "budget"`, what an action learned was lost if other actions took the whole force.
#[test]
fn an_agent_learns_although_no_force_is_left() {
    let look = action(
        "investigate",
        "interest_secs = 1.0, reach_m = 3.0, distance_m = 3.0, attraction = AT_ONCE",
    );
    let mut fish = only(
        bare("fish", 1),
        &[("push", seek_point(-99.0, 0.0, 50.0)), ("look", look)],
    );
    let need = &mut fish.mind.needs[0];
    (need.additive, need.combine) = (true, Combine::Budget);
    fish.mind.needs[0].actions = vec!["push".into(), "look".into()];
    let known = action("seek", "target = 'agent', relations = ['known']");
    let mut fish = crate::pools::wants(fish, "later", &[("known", known)]);
    fish.mind.needs.swap(0, 1);
    let mut stone = bare("stone", 1);
    stone.motion.cruise_mps = 0.0;
    let mut pool = pool(
        vec![fish, stone],
        &[(at(0.0, 0.0), Vec3::X), (at(1.5, 0.0), Vec3::X)],
    );
    let knows_at = (0..90).find(|_| {
        pool.place(0, at(0.0, 0.0), Vec3::X);
        tick(&mut pool);
        executed(&pool, 0) == ["known"]
    });
    let is_in_time = knows_at.is_some_and(|step| (60..=62).contains(&step));
    assert!(
        is_in_time,
        "interest lasts 1 s, the fish knows the stone in tick {knows_at:?}"
    );
}
