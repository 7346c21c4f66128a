//! Ways of swimmers that do as they are told.

use super::*;
use crate::geometry::Solid;
use crate::navigation::grid::Area;
use crate::navigation::trip::{Goal, SearchParams, Status, Waypoint};
use glam::Vec3;
use proptest::prelude::*;

const RADIUS_M: f32 = 0.1;

fn waters(solids: &[Solid]) -> Waters<'_> {
    Waters {
        solids,
        revision: 1,
        dt_secs: 1.0 / 60.0,
    }
}

fn call(id: u64, at: Vec2, goal: Vec2) -> Call {
    Call {
        id,
        at_m: Vec3::new(at.x, -1.0, at.y),
        speed_mps: 1.0,
        radius_m: RADIUS_M,
        goal: Goal {
            position_m: Vec3::new(goal.x, -1.0, goal.y),
            ..Goal::default()
        },
        bounds: Area::around(Vec2::ZERO, Vec2::ZERO, 8.0),
        params: SearchParams::default(),
    }
}

fn wall(center: Vec2, half: Vec2) -> Solid {
    Solid::Box {
        center_m: Vec3::new(center.x, -1.0, center.y),
        half_m: Vec3::new(half.x, 0.5, half.y),
        axis: Vec2::X,
    }
}

/// Open towards −x.
fn u_reef() -> Vec<Solid> {
    vec![
        wall(Vec2::new(1.0, 0.0), Vec2::new(0.1, 1.1)),
        wall(Vec2::new(0.0, 1.0), Vec2::new(1.0, 0.1)),
        wall(Vec2::new(0.0, -1.0), Vec2::new(1.0, 0.1)),
    ]
}

fn cell_around(at: Vec2, half: f32) -> Vec<Solid> {
    let (long, thin) = (half + 0.1, 0.1);
    vec![
        wall(at + Vec2::X * half, Vec2::new(thin, long)),
        wall(at - Vec2::X * half, Vec2::new(thin, long)),
        wall(at + Vec2::Y * half, Vec2::new(long, thin)),
        wall(at - Vec2::Y * half, Vec2::new(long, thin)),
    ]
}

/// Swims along what it is told for a time; where it comes to.
fn swim(
    planner: &mut Planner,
    mut call: Call,
    waters: &Waters<'_>,
    budget: u32,
    secs: f32,
) -> Vec2 {
    for _ in 0..(secs / waters.dt_secs) as usize {
        planner.hear(&call, waters);
        planner.advance(waters, budget);
        let answer = planner.answer(call.id).unwrap();
        let way = (answer.target_m - call.at_m).clamp_length_max(call.speed_mps * waters.dt_secs);
        call.at_m += way;
    }
    Vec2::new(call.at_m.x, call.at_m.z)
}

#[test]
fn it_comes_out_of_a_reef_and_round_it() {
    let (solids, goal) = (u_reef(), Vec2::new(2.5, 0.0));
    for budget in [3, 20, 100_000] {
        let mut planner = Planner::default();
        let start = call(7, Vec2::new(0.0, 0.0), goal);
        let end = swim(&mut planner, start, &waters(&solids), budget, 12.0);
        assert!(end.distance(goal) < 0.2, "budget {budget}: ended at {end}");
        assert!(
            planner.effort(7).0 < 6,
            "searched {} times",
            planner.effort(7).0
        );
    }
}

#[test]
fn a_walled_in_goal_costs_no_expansion_and_is_given_up() {
    let goal = Vec2::new(4.0, 1.0);
    let solids = cell_around(goal, 0.8);
    let waters = waters(&solids);
    let mut planner = Planner::default();
    let call = call(1, Vec2::new(-4.0, -1.0), goal);
    let mut told = Vec::new();
    for _ in 0..8 {
        planner.hear(&call, &waters);
        planner.advance(&waters, 10_000);
        let answer = planner.answer(1).unwrap();
        assert_eq!(answer.waypoint, Waypoint::FailedGoal);
        assert_eq!(answer.target_m, call.at_m, "it stops");
        told.push(answer.status);
    }
    use Status::{Failed, NoMap};
    assert_eq!(
        told,
        [Failed, Failed, Failed, NoMap, NoMap, NoMap, NoMap, NoMap]
    );
    assert_eq!(planner.effort(1).1.expanded, 0);
    assert_eq!(planner.effort(1).0, 4);
    // It does not matter how large the water is in which the goal is walled in.
    let mut far = call;
    far.bounds = Area::around(Vec2::ZERO, Vec2::ZERO, 500.0);
    far.id = 2;
    for _ in 0..8 {
        planner.hear(&far, &waters);
        planner.advance(&waters, 10_000);
    }
    assert_eq!(planner.answer(2).unwrap().status, NoMap);
    assert_eq!(planner.effort(2).1.expanded, 0);
}

#[test]
fn what_failed_is_tried_again_when_an_obstacle_moves() {
    let goal = Vec2::new(4.0, 1.0);
    let solids = cell_around(goal, 0.8);
    let mut planner = Planner::default();
    let call = call(1, Vec2::new(-4.0, -1.0), goal);
    for _ in 0..6 {
        planner.hear(&call, &waters(&solids));
        planner.advance(&waters(&solids), 10_000);
    }
    let opened = Waters {
        revision: 2,
        ..waters(&solids[1..])
    };
    planner.hear(&call, &opened);
    planner.advance(&opened, 10_000);
    let answer = planner.answer(1).unwrap();
    assert_eq!(answer.status, Status::Found);
    assert!(!answer.grazes);
}

#[test]
fn margins_shrink_where_a_gap_is_narrow() {
    // The gap is 0.24 m: wide enough for the body of 0.2 m, not for its whole margin.
    let solids = [
        wall(Vec2::new(0.0, -4.12), Vec2::new(0.1, 4.0)),
        wall(Vec2::new(0.0, 4.12), Vec2::new(0.1, 4.0)),
    ];
    let waters = waters(&solids);
    let mut planner = Planner::default();
    let call = call(1, Vec2::new(-1.0, 0.5), Vec2::new(1.0, -0.5));
    let mut told = Vec::new();
    while told.last() != Some(&Status::Found) && told.len() < 9 {
        planner.hear(&call, &waters);
        planner.advance(&waters, 10_000);
        told.push(planner.answer(1).unwrap().status);
    }
    assert!(told.len() > 1 && told.len() < 5, "{told:?}");
    let end = swim(&mut planner, call, &waters, 1000, 6.0);
    assert!(end.distance(Vec2::new(1.0, -0.5)) < 0.2, "{end}");
}

#[test]
fn no_margin_leads_through_a_thin_wall() {
    for half in [0.01, 0.03] {
        let solids: Vec<Solid> = cell_around(Vec2::new(1.0, 0.3), 0.8)
            .iter()
            .map(|solid| match *solid {
                Solid::Box {
                    center_m,
                    half_m,
                    axis,
                } => Solid::Box {
                    center_m,
                    half_m: Vec3::select(half_m.cmplt(Vec3::splat(0.2)), Vec3::splat(half), half_m),
                    axis,
                },
                other => other,
            })
            .collect();
        let waters = waters(&solids);
        let mut planner = Planner::default();
        let call = call(1, Vec2::new(1.0, 0.3), Vec2::new(3.0, 0.0));
        for _ in 0..6 {
            planner.hear(&call, &waters);
            planner.advance(&waters, 10_000);
        }
        assert_eq!(planner.answer(1).unwrap().status, Status::NoMap, "{half}");
        assert_eq!(planner.effort(1).1.expanded, 0);
    }
}

#[test]
fn the_urgent_go_first_then_who_has_waited() {
    let solids = u_reef();
    let waters = waters(&solids);
    let mut planner = Planner::default();
    let mut found = Vec::new();
    for _ in 0..400 {
        for id in 0..3 {
            let mut call = call(id, Vec2::ZERO, Vec2::new(2.5, 0.0));
            call.params.priority = u8::from(id == 2);
            planner.hear(&call, &waters);
        }
        planner.advance(&waters, 5);
        for id in 0..3 {
            if planner.answer(id).unwrap().status == Status::Found && !found.contains(&id) {
                found.push(id);
            }
        }
    }
    assert_eq!(found, [2, 0, 1]);
}

fn worlds() -> impl Strategy<Value = Vec<Solid>> {
    let one = (
        -3.0f32..3.0,
        -3.0f32..3.0,
        0.05f32..1.2,
        0.05f32..0.6,
        0.0f32..6.3,
        0..3u8,
    );
    prop::collection::vec(one, 0..14).prop_map(|list| {
        let solid = |(x, z, a, b, turn, kind): (f32, f32, f32, f32, f32, u8)| {
            let center_m = Vec3::new(x, -1.0, z);
            let axis = Vec2::from_angle(turn);
            match kind {
                0 => Solid::Sphere {
                    center_m,
                    radius_m: b,
                },
                1 => Solid::Box {
                    center_m,
                    half_m: Vec3::new(a, 0.4, b * 0.3),
                    axis,
                },
                _ => Solid::Capsule {
                    from_m: center_m,
                    to_m: center_m + Vec3::new(axis.x, 0.1, axis.y) * a,
                    radius_m: b * 0.3,
                },
            }
        };
        list.into_iter().map(solid).collect()
    })
}

proptest! {
    #[test]
    fn no_path_goes_into_an_obstacle_and_slices_find_the_same(
        solids in worlds(), ax in -4.0f32..4.0, ay in -4.0f32..4.0, bx in -4.0f32..4.0, by in -4.0f32..4.0,
        slice in 1u32..60,
    ) {
        let waters = waters(&solids);
        let mut prints = crate::navigation::Footprints::default();
        prints.push_solids(&solids, -1.0 - RADIUS_M, -1.0 + RADIUS_M);
        let (start, goal) = (Vec2::new(ax, ay), Vec2::new(bx, by));
        // A swimmer is never inside an obstacle; a goal may be.
        prop_assume!(prints.distance_m(start) > 0.0);
        let way = |budget: u32| {
            let mut planner = Planner::default();
            let call = call(1, start, goal);
            for _ in 0..20_000 {
                planner.hear(&call, &waters);
                planner.advance(&waters, budget);
                let answer = planner.answer(1).unwrap();
                if matches!(answer.status, Status::Found | Status::NoMap) {
                    return (planner.rest(1).to_vec(), answer);
                }
            }
            (vec![Vec2::NAN], Answer::default())
        };
        let (path, answer) = way(u32::MAX);
        if answer.status == Status::Found {
            let gap = if answer.grazes { -0.5 * RADIUS_M } else { 0.0 };
            let mut from = start;
            for &to in &path {
                prop_assert!(prints.is_clear(from, to, gap - 1e-4), "{from} {to}");
                from = to;
            }
            prop_assert_eq!(from, goal);
        } else {
            prop_assert!(path.is_empty());
        }
        let (sliced, other) = way(slice);
        prop_assert_eq!(path, sliced);
        prop_assert_eq!(answer.status, other.status);
    }
}

#[test]
fn an_obstacle_that_moves_while_a_search_runs_is_gone_round() {
    let goal = Vec2::new(2.5, 0.0);
    let mut planner = Planner::default();
    let call = call(1, Vec2::ZERO, goal);
    // Slowly enough that the search is under way when the reef is there of a sudden.
    let before = waters(&[]);
    planner.hear(&call, &before);
    planner.advance(&before, 30);
    assert_eq!(planner.answer(1).unwrap().status, Status::OutOfTime);
    let solids = u_reef();
    let after = Waters {
        revision: 2,
        ..waters(&solids)
    };
    for _ in 0..50 {
        planner.hear(&call, &after);
        planner.advance(&after, 1000);
    }
    let mut prints = crate::navigation::Footprints::default();
    prints.push_solids(&solids, -1.0 - RADIUS_M, -1.0 + RADIUS_M);
    let mut from = Vec2::ZERO;
    for &to in planner.rest(1) {
        assert!(prints.is_clear(from, to, 0.0), "{from} {to}");
        from = to;
    }
    assert_eq!(from, goal);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ways_that_were_saved_go_on_as_they_would_have(
        solids in worlds(), starts in prop::collection::vec((-4.0f32..4.0, -4.0f32..4.0), 1..12),
        budget in 1u32..200, saved_at in 0usize..30, goal in (-4.0f32..4.0, -4.0f32..4.0), moves: bool,
    ) {
        let all = waters(&solids);
        let told = |saved_at: Option<usize>| {
            let mut planner = Planner::default();
            let mut told = Vec::new();
            for tick in 0..60 {
                if saved_at == Some(tick) {
                    let text = serde_json::to_string(&planner).unwrap();
                    planner = serde_json::from_str(&text).unwrap();
                    planner.resume(&all).unwrap();
                    assert_eq!(serde_json::to_string(&planner).unwrap(), text);
                }
                // Whoever does not call in every tick gives its search back.
                let callers = || (0..starts.len()).filter(|id| (tick + id) % 17 < 15);
                for id in callers() {
                    let at = Vec2::from(starts[id]) * (1.0 - tick as f32 / 90.0);
                    let mut call = call(id as u64, at, Vec2::from(goal));
                    call.goal.is_moving = moves;
                    call.goal.is_seen = id % 2 == 0;
                    call.goal.position_m.x += tick as f32 * if moves { 0.03 } else { 0.0 };
                    planner.hear(&call, &all);
                }
                planner.advance(&all, budget);
                told.extend(callers().map(|id| {
                    let id = id as u64;
                    (tick, planner.answer(id), planner.rest(id).to_vec(), planner.effort(id))
                }));
            }
            told
        };
        for (whole, halves) in told(None).iter().zip(told(Some(saved_at))) {
            prop_assert_eq!(whole, &halves);
        }
    }
}
