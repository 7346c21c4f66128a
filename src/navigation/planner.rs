//! All swimmers' ways: they share one budget of expansions a tick and a few searches' memory.
//!
//! In: calls, in agent order. Out: answers. The urgent go first, then who has waited longest, then agent order; a search
//! that is not done goes on in the next tick. Must not: ask a clock.

use glam::Vec2;

use super::grid::{Effort, LocalGrid, Search};
use super::route::{Route, Scratch, Waters};
use super::trip::{Answer, Call};

/// Searches that may be under way at once; each has memory for the cells of a grid.
const SEARCHES: usize = 8;
/// Ticks after which a swimmer that no longer calls is forgotten.
const FORGET_TICKS: u64 = 600;

/// All swimmers' ways.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    tick: u64,
    /// By id.
    routes: Vec<Route>,
    searches: Vec<Search>,
    vacant: Vec<usize>,
    /// Whose turn it is: priority from high to low, waiting since, place.
    turns: Vec<(std::cmp::Reverse<u8>, u64, usize)>,
    scratch: Scratch,
    spare: Vec<Route>,
}

impl Planner {
    /// Takes a swimmer's call for this tick. Call it in agent order.
    pub fn hear(&mut self, call: &Call, waters: &Waters<'_>) {
        let place = match self.routes.binary_search_by_key(&call.id, |route| route.id) {
            Ok(place) => place,
            Err(place) => {
                let mut route = self.spare.pop().unwrap_or_default();
                route.begin(call.id);
                route.waits_since = self.tick;
                self.routes.insert(place, route);
                place
            }
        };
        let route = &mut self.routes[place];
        route.called_tick = self.tick;
        route.hear(call, waters, &mut self.scratch);
        // A search that is no longer wanted gives its memory back.
        if !route.is_searching()
            && let Some(search) = route.search.take()
        {
            self.vacant.push(search);
        }
    }

    /// Advances all searches by a budget of expansions, and ends the tick's hearing.
    pub fn advance(&mut self, waters: &Waters<'_>, mut budget: u32) {
        self.forget();
        self.turns.clear();
        for (place, route) in self.routes.iter().enumerate() {
            if route.is_searching() && route.called_tick == self.tick {
                let turn = (
                    std::cmp::Reverse(route.priority()),
                    route.waits_since,
                    place,
                );
                self.turns.push(turn);
            }
        }
        self.turns.sort_unstable();
        for turn in 0..self.turns.len() {
            if budget == 0 {
                break;
            }
            let route = &mut self.routes[self.turns[turn].2];
            let Some(place) = route.search.or_else(|| self.vacant.pop()).or_else(|| {
                let has_room = self.searches.len() < SEARCHES;
                has_room.then(|| {
                    self.searches.push(Search::default());
                    self.searches.len() - 1
                })
            }) else {
                continue;
            };
            route.search = Some(place);
            let is_done = route.work(
                &mut self.searches[place],
                waters,
                &mut budget,
                &mut self.scratch,
            );
            if is_done {
                route.search = None;
                self.vacant.push(place);
            }
        }
        self.tick += 1;
    }

    /// What a swimmer is told; `None` when it never called.
    pub fn answer(&self, id: u64) -> Option<Answer> {
        self.route(id).map(Route::answer)
    }

    /// The corners of the way that a swimmer has still to go, in floor meters.
    pub fn rest(&self, id: u64) -> &[Vec2] {
        self.route(id).map_or(&[], Route::rest)
    }

    /// The grid that a swimmer's way was searched on.
    pub fn grid(&self, id: u64) -> Option<&LocalGrid> {
        self.route(id)?.grid()
    }

    /// Calls for the middle of every cell that a swimmer's running search has still to look at, in floor meters.
    pub fn for_each_open(&self, id: u64, mut see: impl FnMut(Vec2)) {
        let found = self
            .route(id)
            .and_then(|route| route.grid().zip(route.search));
        if let Some((grid, search)) = found {
            self.searches[search].for_each_open(|cell| see(grid.middle_m(cell)));
        }
    }

    /// How many searches a swimmer's calls have begun, and what they cost together.
    pub fn effort(&self, id: u64) -> (u64, Effort) {
        self.route(id)
            .map_or_else(Default::default, |route| (route.searches, route.effort))
    }

    /// Ids of all swimmers that called lately.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.routes.iter().map(|route| route.id)
    }

    fn route(&self, id: u64) -> Option<&Route> {
        let place = self
            .routes
            .binary_search_by_key(&id, |route| route.id)
            .ok()?;
        Some(&self.routes[place])
    }

    /// Forgets who has not called for long; who has not called in this tick gives its search's memory back.
    fn forget(&mut self) {
        let tick = self.tick;
        for route in &mut self.routes {
            if route.called_tick != tick
                && let Some(search) = route.search.take()
            {
                route.begin(route.id);
                self.vacant.push(search);
            }
        }
        while let Some(place) = self
            .routes
            .iter()
            .position(|route| route.called_tick + FORGET_TICKS < tick)
        {
            let route = self.routes.remove(place);
            self.spare.push(route);
        }
    }
}

#[cfg(test)]
mod tests {
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
            let way =
                (answer.target_m - call.at_m).clamp_length_max(call.speed_mps * waters.dt_secs);
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
                        half_m: Vec3::select(
                            half_m.cmplt(Vec3::splat(0.2)),
                            Vec3::splat(half),
                            half_m,
                        ),
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
}
