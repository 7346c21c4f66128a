//! The route of one agent: its grid, search and path, and a list of its failed searches.
//!
//! In: path requests, a budget of expansions. Out: answers. **Source**: Dahlberg & Viktorsson 2002, §4.3 to §4.5 and
//! appendix 2.

mod path;
mod resume;

use glam::{UVec2, Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::footprint::Footprints;
use super::grid::{
    FloorRect, GridInput, GridSearch, LocalGrid, ObstacleFill, SearchEffort, SearchProgress,
    SearchRules,
};
use super::request::{FIXED_REPLAN_SECS, PathAnswer, PathRequest, PathStatus, WaypointKind, flat};
use crate::geometry::Solid;

/// Shares of the configured obstacle margin that a search uses, in this order. If all fail, a last search uses a margin
/// of minus half a cell. **Source**: Dahlberg & Viktorsson 2002, §4.4.1, which has four tries, the last with −0.5 m.
const MARGINS: [f32; 3] = [1.0, 0.5, 0.0];
/// If an agent comes no nearer to its waypoint for this time, it is stuck, and its path is searched again. Tuned by
/// eye, 2026-11-21.
const STUCK_SECS: f32 = 1.5;
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
    /// Duration of a tick.
    pub dt_secs: f32,
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
    fill: ObstacleFill,
    diagonal: bool,
}

/// State of a search in progress. It is enough to repeat the search up to the saved number of expansions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunningSearch {
    rules: SearchRules,
    expanded: u32,
}

/// The route of one agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    pub(super) id: u64,
    pub(super) requested_tick: u64,
    /// Tick since which the route waits for its search.
    pub(super) waiting_since_tick: u64,
    /// Index of the route's search in the planner; `None` without search memory.
    pub(super) search: Option<usize>,
    phase: Phase,
    running: RunningSearch,
    #[serde(skip)]
    request: Option<PathRequest>,
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
    least_distance_m: f32,
    stuck_secs: f32,
    grazes: bool,
    failed: [FailedPair; FAILED_PAIR_COUNT],
    status: PathStatus,
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

    /// Accepts a request and decides whether a search is needed.
    pub(super) fn update(
        &mut self,
        request: &PathRequest,
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
        self.request = Some(*request);
        self.status = PathStatus::Unchanged;
        let (at, goal) = (flat(request.at_m), request.predicted_goal());
        if self.can_pursue_directly(request, environment, scratch) {
            self.phase = Phase::Pursuing;
            return;
        }
        let moved_m = goal.distance(self.goal);
        let is_same_goal = moved_m <= request.params.tolerance_m.max(0.5 * request.radius_m);
        let is_due = self.age_secs > request.replan_secs();
        match self.phase {
            Phase::Waiting | Phase::Searching => {}
            Phase::Pursuing => self.request_search(),
            Phase::Following => {
                self.follow(request, environment.dt_secs);
                let arrived = self.next >= self.path.len();
                let is_stuck = self.stuck_secs > STUCK_SECS;
                let has_moved = !self.is_partial && !is_same_goal;
                if is_due || is_stuck || has_moved || (arrived && self.is_partial) {
                    self.request_search();
                }
            }
            Phase::GivenUp => {
                if self.is_known_failure(at, goal, request) {
                    self.status = PathStatus::Unreachable;
                } else {
                    self.margin_step = 0;
                    self.request_search();
                }
            }
        }
        if self.phase == Phase::Waiting && self.is_known_failure(at, goal, request) {
            self.phase = Phase::GivenUp;
            self.status = PathStatus::Unreachable;
        }
    }

    /// Whether the route needs expansions.
    pub(super) fn is_searching(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Searching)
    }

    /// Priority of the route's search.
    pub(super) fn priority(&self) -> u8 {
        self.request.map_or(0, |request| request.params.priority)
    }

    /// Continues the route's search and subtracts the used expansions from `budget`. Returns true if the route no
    /// longer needs the search memory.
    pub(super) fn advance(
        &mut self,
        search: &mut GridSearch,
        environment: &Environment<'_>,
        budget: &mut u32,
        scratch: &mut Scratch,
    ) -> bool {
        let Some(request) = self.request else {
            return true;
        };
        while *budget > 0 {
            if self.phase == Phase::Waiting
                && !self.prepare(&request, search, environment, budget, scratch)
            {
                return true;
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
                    self.adopt(&request, search, scratch);
                    return true;
                }
                SearchProgress::Border | SearchProgress::Exhausted => {
                    if !self.enlarge(&request) {
                        self.fail(&request);
                        return true;
                    }
                    self.phase = Phase::Waiting;
                }
            }
        }
        self.status = PathStatus::Searching;
        if self.phase == Phase::Searching && self.path.is_empty() {
            self.start_quick_path(&request, scratch);
        }
        false
    }

    /// Returns the answer to the last request.
    pub(super) fn answer(&self) -> PathAnswer {
        let Some(request) = self.request else {
            return PathAnswer::default();
        };
        let goal = request.goal.position_m;
        let mut answer = PathAnswer {
            status: self.status,
            waypoint: WaypointKind::NoPath,
            target_m: goal,
            grazes: self.grazes,
        };
        match self.phase {
            Phase::Pursuing => answer.waypoint = WaypointKind::Goal,
            Phase::GivenUp => {
                if !request.goal.is_moving {
                    answer.target_m = request.at_m;
                }
            }
            Phase::Waiting | Phase::Searching | Phase::Following => {
                let failed = self.status == PathStatus::Failed && !request.goal.is_moving;
                if let Some(&at) = self.path.get(self.next) {
                    let is_last = self.next + 1 == self.path.len()
                        && self.phase == Phase::Following
                        && !self.is_partial;
                    answer.waypoint = if is_last {
                        WaypointKind::Goal
                    } else {
                        WaypointKind::Corner
                    };
                    let y = if is_last { goal.y } else { request.at_m.y };
                    answer.target_m = Vec3::new(at.x, y, at.y);
                } else if failed {
                    answer.target_m = request.at_m;
                }
            }
        }
        answer
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
        request: &PathRequest,
        environment: &Environment<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let goal = &request.goal;
        let is_near = goal.position_m.distance(request.at_m) <= request.params.pursue_distance_m;
        if !(goal.is_moving && goal.is_seen && is_near) {
            return false;
        }
        request.footprints(environment.solids, &mut scratch.footprints);
        let (from, to) = (flat(request.at_m), flat(goal.position_m));
        scratch.footprints.is_clear(from, to, 0.0)
    }

    fn is_known_failure(&self, at: Vec2, goal: Vec2, request: &PathRequest) -> bool {
        let near_m = SAME_PLACE_CELLS * request.cell_m();
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
        request: &PathRequest,
        search: &mut GridSearch,
        environment: &Environment<'_>,
        budget: &mut u32,
        scratch: &mut Scratch,
    ) -> bool {
        let cell_m = request.cell_m();
        let margin = MARGINS.get(self.margin_step);
        let grow_m = margin.map_or(-0.5 * cell_m, |share| {
            share * request.params.margin_radii * request.radius_m
        });
        self.border_cells = self.border_cells.max(request.params.border_cells);
        self.age_secs = 0.0;
        self.searches += 1;
        self.start = flat(request.at_m);
        request.footprints(environment.solids, &mut scratch.footprints);
        let wanted_goal = request.predicted_goal();
        let reach_m = request.params.side_cells as f32 * cell_m * 0.5;
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
        let (low_y, high_y) = request.height_band();
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
                low_m: request.bounds.low_m - cell_m,
                high_m: request.bounds.high_m + cell_m,
            });
            self.grid_key = Some(key);
            self.grid_spec = GridSpec {
                area,
                cell_m,
                bounds: request.bounds,
                fill: request.params.fill,
                diagonal: request.rules().joins_diagonally(),
            };
            self.build_grid(grow_m, &scratch.footprints);
            let size = self.grid.map().size();
            *budget = budget.saturating_sub((size.x * size.y / 256).max(1));
        }
        let start = self.snap(self.start, grow_m, &scratch.footprints);
        let goal = self.snap(self.goal, grow_m, &scratch.footprints);
        let (Some(start), Some(goal)) = (start, goal) else {
            self.fail(request);
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
            if ends_here(own) || ends_here(other) || !self.enlarge(request) {
                self.fail(request);
                return false;
            }
            return self.prepare(request, search, environment, budget, scratch);
        }
        let rules = SearchRules {
            stops_at_border: !self.is_largest(request),
            ..request.rules()
        };
        search.begin(self.grid.map(), start, goal, rules);
        self.running = RunningSearch { rules, expanded: 0 };
        self.phase = Phase::Searching;
        true
    }

    fn build_grid(&mut self, grow_m: f32, obstacles: &Footprints) {
        let grid_spec = &self.grid_spec;
        let ground = GridInput {
            obstacles,
            grow_m,
            bounds: grid_spec.bounds,
            fill: grid_spec.fill,
            diagonal: grid_spec.diagonal,
        };
        self.grid.build(grid_spec.area, grid_spec.cell_m, &ground);
    }

    fn is_largest(&self, request: &PathRequest) -> bool {
        self.border_cells >= request.params.side_cells / 2
    }

    /// Doubles the margin around start and goal for the next grid. Returns false if the margin already has its largest
    /// value.
    fn enlarge(&mut self, request: &PathRequest) -> bool {
        if self.is_largest(request) {
            return false;
        }
        self.border_cells = (self.border_cells * 2).min(request.params.side_cells.div_ceil(2));
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

    fn fail(&mut self, request: &PathRequest) {
        self.border_cells = 0;
        self.path.clear();
        self.margin_step += 1;
        self.phase = Phase::Waiting;
        self.waiting_since_tick = self.requested_tick;
        self.status = PathStatus::Failed;
        if self.margin_step > MARGINS.len() {
            self.margin_step = 0;
            self.phase = Phase::GivenUp;
            self.status = PathStatus::Unreachable;
            let oldest = self
                .failed
                .iter_mut()
                .min_by(|a, b| a.left_secs.total_cmp(&b.left_secs));
            if let Some(pair) = oldest {
                *pair = FailedPair {
                    start: flat(request.at_m),
                    goal: request.predicted_goal(),
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
