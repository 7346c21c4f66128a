//! The route of one agent: its grid, search and path, and a list of its failed searches.
//!
//! In: path queries, a budget of expansions. Out: answers. **Source**: Dahlberg & Viktorsson 2002, §4.3 to §4.5 and
//! appendix 2.

mod path;
mod resume;

use glam::{UVec2, Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::local::{FloorRect, GridInput, LocalGrid};
use super::query::{FIXED_REPLAN_SECS, GridQuery, flat};
use super::search::{GridSearch, SearchEffort, SearchProgress, SearchRules};
use crate::geometry::Solid;
use crate::navigation::costs::{Blockage, CostLayer, Outlook, Prices};
use crate::navigation::footprint::Footprints;
use crate::navigation::progress::Progress;
use crate::navigation::request::PathAnswer;

/// Shares of the configured obstacle margin that a search uses, in this order. If all fail, a last search uses a margin
/// of minus half a cell. **Source**: Dahlberg & Viktorsson 2002, §4.4.1, which has four tries, the last with −0.5 m.
const MARGINS: [f32; 3] = [1.0, 0.5, 0.0];
/// Initial margin of the grid around start and goal, in cells. It doubles when the grid is too small. **Source**: Dahlberg &
/// Viktorsson 2002, §4.3.3.
const BORDER_CELLS: u32 = 20;
/// Largest number of cells along a side of the grid. A goal outside this size is replaced by an intermediate goal.
const SIDE_CELLS: u32 = 256;
/// A path is searched again if the rest of it has become dearer than this factor times its cost when it was found.
const DEARER: f32 = 1.5;
/// Shortest time between two searches because a path has become dearer.
const DEARER_SECS: f32 = 1.0;
/// A start or goal in a blocked cell is replaced by a free cell that is at most this many cells away along x and z.
const SNAP_CELLS: i32 = 4;
/// Number of pairs of start and goal that a route stores after a failed search.
const FAILED_PAIR_COUNT: usize = 8;
/// Distance, in cells, within which a position counts as the same start or goal as that of a failed search. Tuned by
/// eye, 2026-11-21.
const SAME_PLACE_CELLS: f32 = 6.0;

/// Obstacles and time step of the current tick.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// All obstacles.
    pub solids: &'a [Solid],
    /// Number that changes whenever an obstacle changes.
    pub revision: u64,
    /// Costs of the water for each species; a species without a layer has calm water.
    pub costs: &'a [CostLayer],
    /// Duration of a tick.
    pub dt_secs: f32,
}

impl<'a> Environment<'a> {
    /// Returns the costs of the water for the agent of a query.
    fn prices(&self, query: &GridQuery, blockage: Option<Blockage>) -> Prices<'a> {
        Prices {
            layer: self
                .costs
                .get(usize::from(query.species))
                .unwrap_or_default(),
            outlook: Outlook {
                caution: query.caution,
                blockage,
            },
        }
    }
}

/// A start and a goal between which no path was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedPair {
    start: Vec2,
    goal: Vec2,
    left_secs: f32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// The route needs a search that has not begun yet.
    #[default]
    Waiting,
    /// The search is in progress.
    Searching,
    /// The agent follows a found path.
    Following,
    /// The agent steers straight at a visible goal.
    Pursuing,
    /// No path was found with any margin.
    GivenUp,
}

/// Inputs for which the grid was built. The grid is reused while these inputs stay the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GridKey {
    revision: u64,
    grow_m: f32,
    low_y: f32,
    high_y: f32,
    border_cells: u32,
}

/// Further inputs of the grid. Together with [`GridKey`], they are enough to rebuild it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GridSpec {
    area: FloorRect,
    cell_m: f32,
    bounds: FloorRect,
}

/// State of a search in progress. It is enough to repeat the search up to the saved number of expansions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunningSearch {
    rules: SearchRules,
    expanded: u32,
    /// The costs of the water when the search began.
    costs: CostLayer,
    outlook: Outlook,
}

/// The route of one agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    pub(super) id: u64,
    pub(super) requested_tick: u64,
    /// Tick since which the route waits for its search.
    pub(super) waiting_since_tick: u64,
    phase: Phase,
    running: RunningSearch,
    #[serde(skip)]
    query: Option<GridQuery>,
    /// Start of the search, in floor meters. The field `goal` is the end of the search.
    start: Vec2,
    goal: Vec2,
    /// Whether `goal` is an intermediate goal, because the requested goal is too far away.
    is_partial: bool,
    cells: (UVec2, UVec2),
    age_secs: f32,
    margin_step: usize,
    border_cells: u32,
    #[serde(skip)]
    grid: LocalGrid,
    grid_key: Option<GridKey>,
    grid_spec: GridSpec,
    path: Vec<Vec2>,
    next: usize,
    progress: Progress,
    /// Where the agent came no further.
    blockage: Option<Blockage>,
    /// Cost of a meter of the path when it was found, on average.
    path_price: f32,
    failed: [FailedPair; FAILED_PAIR_COUNT],
    /// Whether the last search found no path with its margin. The search continues with a smaller margin.
    has_failed: bool,
    /// Total effort of all searches of this route.
    pub(super) effort: SearchEffort,
    pub(super) searches: u64,
}

/// Temporary memory that all routes share, to avoid allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    footprints: Footprints,
    cells: Vec<UVec2>,
    points: Vec<Vec2>,
}

impl Route {
    /// Resets the route for another agent, but keeps the allocated memory.
    pub(super) fn begin(&mut self, id: u64) {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        *self = Self {
            id,
            path,
            grid: std::mem::take(&mut self.grid),
            ..Self::default()
        };
    }

    /// Accepts a query and decides whether a search is needed.
    pub(super) fn update(
        &mut self,
        query: &GridQuery,
        environment: &Environment<'_>,
        scratch: &mut Scratch,
    ) {
        let has_changed = self
            .grid_key
            .is_some_and(|key| key.revision != environment.revision);
        if has_changed {
            self.failed = Default::default();
            self.margin_step = 0;
            self.grid_key = None;
            self.request_search();
            // A search in progress used the old obstacles, so it must begin again.
            self.phase = Phase::Waiting;
        }
        for pair in &mut self.failed {
            pair.left_secs -= environment.dt_secs;
        }
        self.age_secs += environment.dt_secs;
        self.blockage = self.blockage.and_then(|one| one.after(environment.dt_secs));
        self.query = Some(*query);
        self.has_failed = false;
        let (at, goal) = (flat(query.at_m), query.predicted_goal());
        if self.can_pursue_directly(query, environment, scratch) {
            self.phase = Phase::Pursuing;
            return;
        }
        let moved_m = goal.distance(self.goal);
        let is_same_goal = moved_m <= query.request.params.tolerance_m.max(0.5 * query.radius_m);
        let is_due = self.age_secs > query.replan_secs();
        match self.phase {
            Phase::Waiting | Phase::Searching => {}
            Phase::Pursuing => self.request_search(),
            Phase::Following => {
                let is_stuck = self.follow(query, environment);
                let arrived = self.next >= self.path.len();
                let has_moved = !self.is_partial && !is_same_goal;
                let is_dear = || {
                    self.age_secs > DEARER_SECS
                        && self.rest_price(query, environment) > DEARER * self.path_price
                };
                if is_due || is_stuck || has_moved || (arrived && self.is_partial) || is_dear() {
                    self.request_search();
                }
            }
            Phase::GivenUp => {
                if !self.is_known_failure(at, goal, query) {
                    self.margin_step = 0;
                    self.request_search();
                }
            }
        }
        if self.phase == Phase::Waiting && self.is_known_failure(at, goal, query) {
            self.phase = Phase::GivenUp;
        }
    }

    /// Whether the route needs expansions.
    pub(super) fn is_searching(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Searching)
    }

    /// Whether the route's search is in progress.
    pub(super) fn is_running(&self) -> bool {
        self.phase == Phase::Searching
    }

    /// Continues the route's search and subtracts the used expansions from `budget`.
    pub(super) fn advance(
        &mut self,
        search: &mut GridSearch,
        environment: &Environment<'_>,
        budget: &mut u32,
        scratch: &mut Scratch,
    ) {
        let Some(query) = self.query else {
            return;
        };
        while *budget > 0 {
            if self.phase == Phase::Waiting
                && !self.prepare(&query, search, environment, budget, scratch)
            {
                return;
            }
            let before = search.effort();
            let progress = search.advance(self.grid.map(), budget);
            let after = search.effort();
            self.effort.expanded += after.expanded - before.expanded;
            self.effort.reopened += after.reopened - before.reopened;
            self.running.expanded = after.expanded as u32;
            match progress {
                SearchProgress::Working => break,
                SearchProgress::Found => {
                    self.adopt(search, scratch);
                    self.path_price = self.rest_price(&query, environment);
                    return;
                }
                SearchProgress::Border | SearchProgress::Exhausted => {
                    if !self.enlarge() {
                        self.fail(&query);
                        return;
                    }
                    self.phase = Phase::Waiting;
                }
            }
        }
        if self.phase == Phase::Searching && self.path.is_empty() {
            self.start_quick_path(scratch);
        }
    }

    /// Returns the answer to the last query. On its way, the agent keeps its height; on the last stretch it swims to the
    /// height of the goal.
    pub(super) fn answer(&self) -> PathAnswer {
        let Some(query) = self.query else {
            return PathAnswer::NotYet;
        };
        let goal = query.request.goal;
        let is_found = match self.phase {
            Phase::Pursuing => return PathAnswer::SwimToEnd(goal.position_m),
            Phase::GivenUp => return PathAnswer::NoPath,
            Phase::Waiting | Phase::Searching => false,
            Phase::Following => !self.is_partial,
        };
        match self.path.get(self.next) {
            Some(at) if is_found && self.next + 1 == self.path.len() => {
                PathAnswer::SwimToEnd(Vec3::new(at.x, goal.position_m.y, at.y))
            }
            Some(at) => PathAnswer::Swim(Vec3::new(at.x, query.at_m.y, at.y)),
            // A standing goal that could not be reached may be behind a wall, so the agent waits for the next search.
            None if self.has_failed && !goal.is_moving => PathAnswer::SwimToEnd(query.at_m),
            None => PathAnswer::SwimToEnd(goal.position_m),
        }
    }

    /// Corners of the path that the agent has not passed yet, in floor meters.
    pub(super) fn remaining_path(&self) -> &[Vec2] {
        self.path.get(self.next..).unwrap_or_default()
    }

    /// Returns the grid of the route, or `None` if it has none.
    pub(super) fn grid(&self) -> Option<&LocalGrid> {
        self.grid_key.map(|_| &self.grid)
    }

    fn request_search(&mut self) {
        if !self.is_searching() {
            self.phase = Phase::Waiting;
            self.waiting_since_tick = self.requested_tick;
            self.border_cells = 0;
        }
    }

    /// Whether the agent may steer straight at its goal: the goal moves, is near and visible, and no obstacle is
    /// between them.
    fn can_pursue_directly(
        &self,
        query: &GridQuery,
        environment: &Environment<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let goal = &query.request.goal;
        let is_near =
            goal.position_m.distance(query.at_m) <= query.request.params.pursue_distance_m;
        if !(goal.is_moving && goal.is_seen && is_near) {
            return false;
        }
        query.footprints(environment.solids, &mut scratch.footprints);
        let (from, to) = (flat(query.at_m), flat(goal.position_m));
        scratch.footprints.is_clear(from, to, 0.0)
    }

    fn is_known_failure(&self, at: Vec2, goal: Vec2, query: &GridQuery) -> bool {
        let near_m = SAME_PLACE_CELLS * query.cell_m();
        self.failed.iter().any(|pair| {
            pair.left_secs > 0.0
                && pair.start.distance(at) <= near_m
                && pair.goal.distance(goal) <= near_m
        })
    }

    /// Builds the grid and begins the search. Returns false if the grid already shows that no path exists with this
    /// margin.
    fn prepare(
        &mut self,
        query: &GridQuery,
        search: &mut GridSearch,
        environment: &Environment<'_>,
        budget: &mut u32,
        scratch: &mut Scratch,
    ) -> bool {
        let cell_m = query.cell_m();
        let margin = MARGINS.get(self.margin_step);
        let grow_m = margin.map_or(-0.5 * cell_m, |share| {
            share * query.request.params.margin_radii * query.radius_m
        });
        self.border_cells = self.border_cells.max(BORDER_CELLS);
        self.age_secs = 0.0;
        self.searches += 1;
        self.start = flat(query.at_m);
        query.footprints(environment.solids, &mut scratch.footprints);
        let wanted_goal = query.predicted_goal();
        let reach_m = SIDE_CELLS as f32 * cell_m * 0.5;
        self.is_partial = wanted_goal.distance(self.start) > reach_m;
        self.goal = if self.is_partial {
            intermediate_goal(
                self.start,
                wanted_goal,
                reach_m,
                grow_m,
                &scratch.footprints,
            )
        } else {
            wanted_goal
        };
        let (low_y, high_y) = query.height_band();
        let key = GridKey {
            revision: environment.revision,
            grow_m,
            low_y,
            high_y,
            border_cells: self.border_cells,
        };
        let can_reuse = self.grid_key == Some(key)
            && self.grid.area().contains(self.start)
            && self.grid.area().contains(self.goal);
        if !can_reuse {
            let grow = self.border_cells as f32 * cell_m;
            let area = FloorRect::around(self.start, self.goal, grow).common(&FloorRect {
                low_m: query.bounds.low_m - cell_m,
                high_m: query.bounds.high_m + cell_m,
            });
            self.grid_key = Some(key);
            self.grid_spec = GridSpec {
                area,
                cell_m,
                bounds: query.bounds,
            };
            self.build_grid(grow_m, &scratch.footprints);
            let size = self.grid.map().size();
            *budget = budget.saturating_sub((size.x * size.y / 256).max(1));
        }
        let start = self.snap(self.start, grow_m, &scratch.footprints);
        let goal = self.snap(self.goal, grow_m, &scratch.footprints);
        let (Some(start), Some(goal)) = (start, goal) else {
            self.fail(query);
            return false;
        };
        self.cells = (start, goal);
        let components = self.grid.components();
        let (own, other) = (
            components.component_of(start),
            components.component_of(goal),
        );
        if own != other {
            let ends_here = |part: Option<u32>| part.is_none_or(|p| !components.touches_border(p));
            if ends_here(own) || ends_here(other) || !self.enlarge() {
                self.fail(query);
                return false;
            }
            return self.prepare(query, search, environment, budget, scratch);
        }
        let rules = SearchRules {
            stops_at_border: !self.is_largest(),
            ..SearchRules::default()
        };
        let prices = environment.prices(query, self.blockage);
        self.running.rules = rules;
        self.running.expanded = 0;
        self.running.costs.copy_from(if prices.are_uniform() {
            Default::default()
        } else {
            prices.layer
        });
        self.running.outlook = prices.outlook;
        self.price_grid();
        search.begin(self.grid.map(), start, goal, rules);
        self.phase = Phase::Searching;
        true
    }

    fn build_grid(&mut self, grow_m: f32, obstacles: &Footprints) {
        let grid_spec = &self.grid_spec;
        let ground = GridInput {
            obstacles,
            grow_m,
            bounds: grid_spec.bounds,
        };
        self.grid.build(grid_spec.area, grid_spec.cell_m, &ground);
    }

    /// Sets the prices of the cells to the costs of the water of the running search.
    fn price_grid(&mut self) {
        let prices = Prices {
            layer: &self.running.costs,
            outlook: self.running.outlook,
        };
        self.grid.set_prices(&prices);
    }

    /// Returns the mean cost of a meter of the rest of the path now.
    fn rest_price(&self, query: &GridQuery, environment: &Environment<'_>) -> f32 {
        let prices = environment.prices(query, self.blockage);
        let (mut from, mut cost, mut length_m) = (flat(query.at_m), 0.0, 0.0);
        for &to in self.remaining_path() {
            cost += prices.of_line(from, to);
            length_m += from.distance(to);
            from = to;
        }
        cost / f32::max(length_m, 1e-3)
    }

    fn is_largest(&self) -> bool {
        self.border_cells >= SIDE_CELLS / 2
    }

    /// Doubles the margin around start and goal for the next grid. Returns false if the margin already has its largest
    /// value.
    fn enlarge(&mut self) -> bool {
        if self.is_largest() {
            return false;
        }
        self.border_cells = (self.border_cells * 2).min(SIDE_CELLS / 2);
        true
    }

    /// Returns the nearest free cell that a straight line from `at` reaches without touching an obstacle; `None` if
    /// there is none within `SNAP_CELLS`.
    fn snap(&self, at: Vec2, grow_m: f32, obstacles: &Footprints) -> Option<UVec2> {
        let map = self.grid.map();
        let low = self.grid.area().low_m;
        let own = ((at - low) / self.grid.cell_m()).floor().as_ivec2();
        let gap_m = grow_m.min(0.0);
        let mut best: Option<(f32, UVec2)> = None;
        for y in -SNAP_CELLS..=SNAP_CELLS {
            for x in -SNAP_CELLS..=SNAP_CELLS {
                let cell = own + glam::IVec2::new(x, y);
                if cell.min_element() < 0 || !map.is_free(cell.as_uvec2()) {
                    continue;
                }
                let cell = cell.as_uvec2();
                if cell.as_ivec2() == own {
                    return Some(cell);
                }
                let middle = self.grid.cell_center_m(cell);
                let off = middle.distance(at);
                if best.is_none_or(|(least, _)| off < least)
                    && obstacles.is_clear(at, middle, gap_m)
                {
                    best = Some((off, cell));
                }
            }
        }
        best.map(|(_, cell)| cell)
    }

    fn fail(&mut self, query: &GridQuery) {
        self.border_cells = 0;
        self.path.clear();
        self.margin_step += 1;
        self.phase = Phase::Waiting;
        self.waiting_since_tick = self.requested_tick;
        self.has_failed = true;
        if self.margin_step > MARGINS.len() {
            self.margin_step = 0;
            self.phase = Phase::GivenUp;
            let oldest = self
                .failed
                .iter_mut()
                .min_by(|a, b| a.left_secs.total_cmp(&b.left_secs));
            if let Some(pair) = oldest {
                *pair = FailedPair {
                    start: flat(query.at_m),
                    goal: query.predicted_goal(),
                    left_secs: FIXED_REPLAN_SECS,
                };
            }
        }
    }
}

/// Returns an intermediate goal on the straight line to a goal that is farther than `reach_m`. It is outside all grown
/// obstacles if possible.
fn intermediate_goal(
    from: Vec2,
    to: Vec2,
    reach_m: f32,
    grow_m: f32,
    obstacles: &Footprints,
) -> Vec2 {
    let direction = (to - from).normalize_or_zero();
    // The candidates are between the full reach and half of it.
    let tries = (0..=8).map(|n| from + direction * (reach_m * (1.0 - n as f32 / 16.0)));
    let mut free = tries.filter(|&at| obstacles.distance_m(at) > grow_m + 0.01);
    free.next().unwrap_or(from + direction * reach_m)
}
