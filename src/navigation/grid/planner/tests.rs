//! Tests with agents that swim straight to the target of each answer.

use super::*;
use crate::geometry::Solid;
use crate::navigation::grid::FloorRect;
use crate::navigation::request::{PathGoal, PathRequest, SearchParams};
use glam::Vec3;
use proptest::prelude::*;

const RADIUS_M: f32 = 0.1;

fn environment(solids: &[Solid]) -> Environment<'_> {
    Environment {
        solids,
        revision: 1,
        costs: &[],
        dt_secs: 1.0 / 60.0,
    }
}

fn query(id: u64, at: Vec2, goal: Vec2) -> GridQuery {
    GridQuery {
        id,
        species: 0,
        caution: 1.0,
        at_m: Vec3::new(at.x, -1.0, at.y),
        radius_m: RADIUS_M,
        bounds: FloorRect::around(Vec2::ZERO, Vec2::ZERO, 8.0),
        request: PathRequest {
            goal: PathGoal {
                position_m: Vec3::new(goal.x, -1.0, goal.y),
                ..PathGoal::default()
            },
            speed_mps: 1.0,
            params: SearchParams::default(),
        },
    }
}

/// Whether the planner has found the whole path to a goal.
fn has_path(planner: &GridPlanner, id: u64, goal: Vec2) -> bool {
    planner.remaining_path(id).last() == Some(&goal)
}

/// Position that the agent steers to.
fn target(answer: PathAnswer) -> Option<Vec3> {
    match answer {
        PathAnswer::Swim(to) | PathAnswer::SwimToEnd(to) => Some(to),
        _ => None,
    }
}

fn wall(center: Vec2, half: Vec2) -> Solid {
    Solid::Box {
        center_m: Vec3::new(center.x, -1.0, center.y),
        half_m: Vec3::new(half.x, 0.5, half.y),
        axis: Vec2::X,
    }
}

/// Returns a U-shaped reef that is open towards −x.
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

/// Simulates an agent that swims to the target of each answer, and returns its last position.
fn swim(
    planner: &mut GridPlanner,
    mut query: GridQuery,
    environment: &Environment<'_>,
    budget: u32,
    secs: f32,
) -> Vec2 {
    for _ in 0..(secs / environment.dt_secs) as usize {
        planner.submit(&query, environment);
        planner.advance(environment, budget);
        let to = target(planner.answer(query.id).unwrap()).unwrap();
        query.at_m += (to - query.at_m).clamp_length_max(environment.dt_secs);
    }
    Vec2::new(query.at_m.x, query.at_m.z)
}

#[test]
fn an_agent_leaves_a_reef_and_swims_around_it() {
    let (solids, goal) = (u_reef(), Vec2::new(2.5, 0.0));
    for budget in [3, 20, 100_000] {
        let mut planner = GridPlanner::default();
        let start = query(7, Vec2::new(0.0, 0.0), goal);
        let end = swim(&mut planner, start, &environment(&solids), budget, 12.0);
        assert!(end.distance(goal) < 0.2, "budget {budget}: ended at {end}");
        assert!(
            planner.effort(7).0 < 6,
            "searched {} times",
            planner.effort(7).0
        );
    }
}

#[test]
fn an_enclosed_goal_is_given_up_without_expansions() {
    let goal = Vec2::new(4.0, 1.0);
    let solids = cell_around(goal, 0.8);
    let environment = environment(&solids);
    let mut planner = GridPlanner::default();
    let query = query(1, Vec2::new(-4.0, -1.0), goal);
    for number in 0..8 {
        planner.submit(&query, &environment);
        planner.advance(&environment, 10_000);
        let answer = planner.answer(1).unwrap();
        if number < 3 {
            // A search with one of the margins has failed: the agent stops until the next one.
            assert_eq!(answer, PathAnswer::SwimToEnd(query.at_m));
        } else {
            assert_eq!(answer, PathAnswer::NoPath);
        }
    }
    assert_eq!(planner.effort(1).1.expanded, 0);
    assert_eq!(planner.effort(1).0, 4);
    // The result does not depend on the size of the water around the enclosed goal.
    let mut far = query;
    far.bounds = FloorRect::around(Vec2::ZERO, Vec2::ZERO, 500.0);
    far.id = 2;
    for _ in 0..8 {
        planner.submit(&far, &environment);
        planner.advance(&environment, 10_000);
    }
    assert_eq!(planner.answer(2), Some(PathAnswer::NoPath));
    assert_eq!(planner.effort(2).1.expanded, 0);
}

#[test]
fn a_failed_search_is_repeated_when_an_obstacle_moves() {
    let goal = Vec2::new(4.0, 1.0);
    let solids = cell_around(goal, 0.8);
    let mut planner = GridPlanner::default();
    let query = query(1, Vec2::new(-4.0, -1.0), goal);
    for _ in 0..6 {
        planner.submit(&query, &environment(&solids));
        planner.advance(&environment(&solids), 10_000);
    }
    let opened = Environment {
        revision: 2,
        ..environment(&solids[1..])
    };
    let searches = planner.effort(1).0;
    planner.submit(&query, &opened);
    planner.advance(&opened, 10_000);
    assert!(has_path(&planner, 1, goal));
    assert_eq!(planner.effort(1).0, searches + 1, "with the whole margin");
}

#[test]
fn margins_shrink_for_a_narrow_gap() {
    // The gap is 0.24 m: wide enough for a body of 0.2 m diameter, but not for this body and its full margin.
    let solids = [
        wall(Vec2::new(0.0, -4.12), Vec2::new(0.1, 4.0)),
        wall(Vec2::new(0.0, 4.12), Vec2::new(0.1, 4.0)),
    ];
    let environment = environment(&solids);
    let mut planner = GridPlanner::default();
    let goal = Vec2::new(1.0, -0.5);
    let query = query(1, Vec2::new(-1.0, 0.5), goal);
    let mut ticks = 0;
    while !has_path(&planner, 1, goal) && ticks < 9 {
        planner.submit(&query, &environment);
        planner.advance(&environment, 10_000);
        ticks += 1;
    }
    assert!(ticks > 1 && ticks < 5, "{ticks}");
    let end = swim(&mut planner, query, &environment, 1000, 6.0);
    assert!(end.distance(goal) < 0.2, "{end}");
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
        let environment = environment(&solids);
        let mut planner = GridPlanner::default();
        let query = query(1, Vec2::new(1.0, 0.3), Vec2::new(3.0, 0.0));
        for _ in 0..6 {
            planner.submit(&query, &environment);
            planner.advance(&environment, 10_000);
        }
        assert_eq!(planner.answer(1), Some(PathAnswer::NoPath), "{half}");
        assert_eq!(planner.effort(1).1.expanded, 0);
    }
}

#[test]
fn searches_run_by_waiting_time() {
    let solids = u_reef();
    let environment = environment(&solids);
    let goal = Vec2::new(2.5, 0.0);
    let mut planner = GridPlanner::default();
    let mut found = Vec::new();
    for tick in 0..400 {
        // The first agent asks later than the others.
        for id in u64::from(tick == 0)..3 {
            planner.submit(&query(id, Vec2::ZERO, goal), &environment);
        }
        planner.advance(&environment, 5);
        for id in 0..3 {
            if has_path(&planner, id, goal) && !found.contains(&id) {
                found.push(id);
            }
        }
    }
    assert_eq!(found, [1, 2, 0]);
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
    fn paths_touch_no_obstacle_and_do_not_depend_on_slices(
        solids in worlds(), ax in -4.0f32..4.0, ay in -4.0f32..4.0, bx in -4.0f32..4.0, by in -4.0f32..4.0,
        slice in 1u32..60,
    ) {
        let environment = environment(&solids);
        let mut prints = crate::navigation::Footprints::default();
        prints.push_solids(&solids, -1.0 - RADIUS_M, -1.0 + RADIUS_M);
        let (start, goal) = (Vec2::new(ax, ay), Vec2::new(bx, by));
        // The start is never inside an obstacle; the goal may be.
        prop_assume!(prints.distance_m(start) > 0.0);
        let search = |budget: u32| {
            let mut planner = GridPlanner::default();
            let query = query(1, start, goal);
            for _ in 0..20_000 {
                planner.submit(&query, &environment);
                planner.advance(&environment, budget);
                let is_found = has_path(&planner, 1, goal);
                if is_found || planner.answer(1) == Some(PathAnswer::NoPath) {
                    let path = planner.remaining_path(1).to_vec();
                    return (is_found, path, planner.effort(1).0);
                }
            }
            (false, vec![Vec2::NAN], 0)
        };
        let (is_found, path, searches) = search(u32::MAX);
        if is_found {
            // Only the last of four margins lets a path enter obstacles, up to a depth of half a cell.
            let gap = if searches > 3 { -0.5 * RADIUS_M } else { 0.0 };
            let mut from = start;
            for &to in &path {
                prop_assert!(prints.is_clear(from, to, gap - 1e-4), "{from} {to}");
                from = to;
            }
            prop_assert_eq!(from, goal);
        } else {
            prop_assert!(path.is_empty());
        }
        let (is_found_by_slices, sliced, _) = search(slice);
        prop_assert_eq!(path, sliced);
        prop_assert_eq!(is_found, is_found_by_slices);
    }
}

#[test]
fn a_path_avoids_an_obstacle_that_moved_during_the_search() {
    let goal = Vec2::new(2.5, 0.0);
    let mut planner = GridPlanner::default();
    let query = query(1, Vec2::ZERO, goal);
    // The budget is so small that the search is still in progress when the reef appears.
    let before = environment(&[]);
    planner.submit(&query, &before);
    planner.advance(&before, 30);
    assert!(!has_path(&planner, 1, goal));
    let solids = u_reef();
    let after = Environment {
        revision: 2,
        ..environment(&solids)
    };
    for _ in 0..50 {
        planner.submit(&query, &after);
        planner.advance(&after, 1000);
    }
    let mut prints = crate::navigation::Footprints::default();
    prints.push_solids(&solids, -1.0 - RADIUS_M, -1.0 + RADIUS_M);
    let mut from = Vec2::ZERO;
    for &to in planner.remaining_path(1) {
        assert!(prints.is_clear(from, to, 0.0), "{from} {to}");
        from = to;
    }
    assert_eq!(from, goal);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn saved_routes_continue_identically(
        solids in worlds(), starts in prop::collection::vec((-4.0f32..4.0, -4.0f32..4.0), 1..12),
        budget in 1u32..200, saved_at in 0usize..30, goal in (-4.0f32..4.0, -4.0f32..4.0), moves: bool,
    ) {
        let all = environment(&solids);
        let statuses = |saved_at: Option<usize>| {
            let mut planner = GridPlanner::default();
            let mut statuses = Vec::new();
            for tick in 0..60 {
                if saved_at == Some(tick) {
                    let text = serde_json::to_string(&planner).unwrap();
                    planner = serde_json::from_str(&text).unwrap();
                    planner.resume(&all).unwrap();
                    assert_eq!(serde_json::to_string(&planner).unwrap(), text);
                }
                // The search of an agent that sends no query in a tick ends.
                let callers = || (0..starts.len()).filter(|id| (tick + id) % 17 < 15);
                for id in callers() {
                    let at = Vec2::from(starts[id]) * (1.0 - tick as f32 / 90.0);
                    let mut query = query(id as u64, at, Vec2::from(goal));
                    let asked = &mut query.request.goal;
                    asked.is_moving = moves;
                    asked.is_seen = id % 2 == 0;
                    asked.position_m.x += tick as f32 * if moves { 0.03 } else { 0.0 };
                    planner.submit(&query, &all);
                }
                planner.advance(&all, budget);
                statuses.extend(callers().map(|id| {
                    let id = id as u64;
                    (tick, planner.answer(id), planner.remaining_path(id).to_vec(), planner.effort(id))
                }));
            }
            statuses
        };
        for (whole, halves) in statuses(None).iter().zip(statuses(Some(saved_at))) {
            prop_assert_eq!(whole, &halves);
        }
    }
}
