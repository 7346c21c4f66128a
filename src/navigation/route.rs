//! One swimmer's way: its grid, its search, its path, and what it has learned not to try again.
//!
//! In: its calls, expansions. Out: answers. **Source**: 5-navigation.md part B; 001 sections 4.3 to 4.5 and appendix 2.

mod path;
mod resume;

use glam::{UVec2, Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::footprint::Footprints;
use super::grid::{Area, Effort, Fill, Ground, LocalGrid, Progress, Search, SearchRules};
use super::trip::{Answer, Call, FIXED_SECS, Status, Waypoint, flat};
use crate::geometry::Solid;

/// Shares of the navigation margin, tried one after another. After them comes half a cell less than nothing.
/// **Source**: 001 section 4.4.1, four tries, the last with −0.5 m.
const MARGINS: [f32; 3] = [1.0, 0.5, 0.0];
/// Not having come nearer to the next waypoint for this long means being stuck. Tuned by eye, 2026-11-21.
const STUCK_SECS: f32 = 1.5;
/// Cells around start and goal within which a free one is looked for.
const SNAP_CELLS: i32 = 4;
/// Failed pairs that are remembered.
const FAILED_PAIRS: usize = 8;
/// Two places are the same for the memory of failures within so many cells. Tuned by eye, 2026-11-21.
const SAME_PLACE_CELLS: f32 = 6.0;

/// What obstacles are like now.
#[derive(Clone, Copy, Debug)]
pub struct Waters<'a> {
    /// The obstacles.
    pub solids: &'a [Solid],
    /// Changes whenever they do.
    pub revision: u64,
    /// Time step.
    pub dt_secs: f32,
}

/// A start and a goal between which there was no way.
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
    /// Needs a search.
    #[default]
    Waiting,
    /// Its search runs.
    Searching,
    /// Follows its path.
    Following,
    /// Steers straight at a goal in plain sight.
    Pursuing,
    /// Knows that there is no way.
    GivenUp,
}

/// What a grid was made for; it is used again for the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeFor {
    revision: u64,
    grow_m: f32,
    low_y: f32,
    high_y: f32,
    border_cells: u32,
}

/// What else a grid was drawn from: enough to draw it once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    area: Area,
    cell_m: f32,
    bounds: Area,
    fill: Fill,
    diagonal: bool,
}

/// A search under way: enough to do it once more as far as it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Running {
    rules: SearchRules,
    expanded: u32,
}

/// One swimmer's way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    pub(super) id: u64,
    pub(super) called_tick: u64,
    /// Tick in which it began to wait for its search.
    pub(super) waits_since: u64,
    /// Place of its search among the planner's.
    pub(super) search: Option<usize>,
    phase: Phase,
    running: Running,
    #[serde(skip)]
    call: Option<Call>,
    /// Where the search was made from and to, in floor meters.
    start: Vec2,
    goal: Vec2,
    /// Whether the goal is one on the way to a farther one.
    is_partial: bool,
    cells: (UVec2, UVec2),
    age_secs: f32,
    margin_step: usize,
    border_cells: u32,
    #[serde(skip)]
    grid: LocalGrid,
    made_for: Option<MadeFor>,
    drawn: Drawn,
    path: Vec<Vec2>,
    next: usize,
    nearest_m: f32,
    stuck_secs: f32,
    grazes: bool,
    failed: [FailedPair; FAILED_PAIRS],
    status: Status,
    /// What all its searches have cost.
    pub(super) effort: Effort,
    pub(super) searches: u64,
}

/// Lists that one search after another uses.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    footprints: Footprints,
    cells: Vec<UVec2>,
    points: Vec<Vec2>,
}

impl Route {
    /// Forgets everything but its memory's room, for another swimmer.
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

    /// Takes a call and judges whether a search is needed.
    pub(super) fn hear(&mut self, call: &Call, waters: &Waters<'_>, scratch: &mut Scratch) {
        let has_changed = self
            .made_for
            .is_some_and(|made| made.revision != waters.revision);
        if has_changed {
            self.failed = Default::default();
            self.margin_step = 0;
            self.made_for = None;
            self.want_search();
            // A search that runs looks at what was there before.
            self.phase = Phase::Waiting;
        }
        for pair in &mut self.failed {
            pair.left_secs -= waters.dt_secs;
        }
        self.age_secs += waters.dt_secs;
        self.call = Some(*call);
        self.status = Status::NothingNew;
        let (at, goal) = (flat(call.at_m), call.predicted());
        if self.is_in_plain_sight(call, waters, scratch) {
            self.phase = Phase::Pursuing;
            return;
        }
        let gone = goal.distance(self.goal);
        let is_same_goal = gone <= call.params.tolerance_m.max(0.5 * call.radius_m);
        let is_due = self.age_secs > call.patience_secs();
        match self.phase {
            Phase::Waiting | Phase::Searching => {}
            Phase::Pursuing => self.want_search(),
            Phase::Following => {
                self.follow(call, waters.dt_secs);
                let arrived = self.next >= self.path.len();
                let is_stuck = self.stuck_secs > STUCK_SECS;
                let has_moved = !self.is_partial && !is_same_goal;
                if is_due || is_stuck || has_moved || (arrived && self.is_partial) {
                    self.want_search();
                }
            }
            Phase::GivenUp => {
                if self.has_failed(at, goal, call) {
                    self.status = Status::NoMap;
                } else {
                    self.margin_step = 0;
                    self.want_search();
                }
            }
        }
        if self.phase == Phase::Waiting && self.has_failed(at, goal, call) {
            self.phase = Phase::GivenUp;
            self.status = Status::NoMap;
        }
    }

    /// Whether it needs expansions.
    pub(super) fn is_searching(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Searching)
    }

    /// How urgent its search is.
    pub(super) fn priority(&self) -> u8 {
        self.call.map_or(0, |call| call.params.priority)
    }

    /// Goes on with its search; what it uses is taken from the budget. Returns whether it is done with the search's memory.
    pub(super) fn work(
        &mut self,
        search: &mut Search,
        waters: &Waters<'_>,
        budget: &mut u32,
        scratch: &mut Scratch,
    ) -> bool {
        let Some(call) = self.call else {
            return true;
        };
        while *budget > 0 {
            if self.phase == Phase::Waiting && !self.prepare(&call, search, waters, budget, scratch)
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
                Progress::Working => break,
                Progress::Found => {
                    self.adopt(&call, search, scratch);
                    return true;
                }
                Progress::Border | Progress::Exhausted => {
                    if !self.enlarge(&call) {
                        self.fail(&call);
                        return true;
                    }
                    self.phase = Phase::Waiting;
                }
            }
        }
        self.status = Status::OutOfTime;
        if self.phase == Phase::Searching && self.path.is_empty() {
            self.set_out(&call, scratch);
        }
        false
    }

    /// What the swimmer is told.
    pub(super) fn answer(&self) -> Answer {
        let Some(call) = self.call else {
            return Answer::default();
        };
        let goal = call.goal.position_m;
        let mut answer = Answer {
            status: self.status,
            waypoint: Waypoint::FailedGoal,
            target_m: goal,
            grazes: self.grazes,
        };
        match self.phase {
            Phase::Pursuing => answer.waypoint = Waypoint::Last,
            Phase::GivenUp => {
                if !call.goal.is_moving {
                    answer.target_m = call.at_m;
                }
            }
            Phase::Waiting | Phase::Searching | Phase::Following => {
                let failed = self.status == Status::Failed && !call.goal.is_moving;
                if let Some(&at) = self.path.get(self.next) {
                    let is_last = self.next + 1 == self.path.len()
                        && self.phase == Phase::Following
                        && !self.is_partial;
                    answer.waypoint = if is_last {
                        Waypoint::Last
                    } else {
                        Waypoint::More
                    };
                    let y = if is_last { goal.y } else { call.at_m.y };
                    answer.target_m = Vec3::new(at.x, y, at.y);
                } else if failed {
                    answer.target_m = call.at_m;
                }
            }
        }
        answer
    }

    /// The corners of the way still to go, in floor meters.
    pub(super) fn rest(&self) -> &[Vec2] {
        self.path.get(self.next..).unwrap_or_default()
    }

    /// Its grid, where it has one.
    pub(super) fn grid(&self) -> Option<&LocalGrid> {
        self.made_for.map(|_| &self.grid)
    }

    fn want_search(&mut self) {
        if !self.is_searching() {
            self.phase = Phase::Waiting;
            self.waits_since = self.called_tick;
            self.border_cells = 0;
        }
    }

    /// Whether it may steer straight at a moving goal: near, seen, and nothing in between.
    fn is_in_plain_sight(&self, call: &Call, waters: &Waters<'_>, scratch: &mut Scratch) -> bool {
        let goal = &call.goal;
        let is_near = goal.position_m.distance(call.at_m) <= call.params.pursue_distance_m;
        if !(goal.is_moving && goal.is_seen && is_near) {
            return false;
        }
        call.footprints(waters.solids, &mut scratch.footprints);
        let (from, to) = (flat(call.at_m), flat(goal.position_m));
        scratch.footprints.is_clear(from, to, 0.0)
    }

    fn has_failed(&self, at: Vec2, goal: Vec2, call: &Call) -> bool {
        let near_m = SAME_PLACE_CELLS * call.cell_m();
        self.failed.iter().any(|pair| {
            pair.left_secs > 0.0
                && pair.start.distance(at) <= near_m
                && pair.goal.distance(goal) <= near_m
        })
    }

    /// Makes the grid and begins the search; false when it has failed already.
    fn prepare(
        &mut self,
        call: &Call,
        search: &mut Search,
        waters: &Waters<'_>,
        budget: &mut u32,
        scratch: &mut Scratch,
    ) -> bool {
        let cell_m = call.cell_m();
        let margin = MARGINS.get(self.margin_step);
        let grow_m = margin.map_or(-0.5 * cell_m, |share| {
            share * call.params.margin_radii * call.radius_m
        });
        self.border_cells = self.border_cells.max(call.params.border_cells);
        self.age_secs = 0.0;
        self.searches += 1;
        self.start = flat(call.at_m);
        call.footprints(waters.solids, &mut scratch.footprints);
        let asked = call.predicted();
        let reach_m = call.params.side_cells as f32 * cell_m * 0.5;
        self.is_partial = asked.distance(self.start) > reach_m;
        self.goal = if self.is_partial {
            on_the_way(self.start, asked, reach_m, grow_m, &scratch.footprints)
        } else {
            asked
        };
        let (low_y, high_y) = call.band();
        let made = MadeFor {
            revision: waters.revision,
            grow_m,
            low_y,
            high_y,
            border_cells: self.border_cells,
        };
        let can_reuse = self.made_for == Some(made)
            && self.grid.area().contains(self.start)
            && self.grid.area().contains(self.goal);
        if !can_reuse {
            let grow = self.border_cells as f32 * cell_m;
            let area = Area::around(self.start, self.goal, grow).common(&Area {
                low_m: call.bounds.low_m - cell_m,
                high_m: call.bounds.high_m + cell_m,
            });
            self.made_for = Some(made);
            self.drawn = Drawn {
                area,
                cell_m,
                bounds: call.bounds,
                fill: call.params.fill,
                diagonal: call.rules().joins_diagonally(),
            };
            self.draw_grid(grow_m, &scratch.footprints);
            let size = self.grid.map().size();
            *budget = budget.saturating_sub((size.x * size.y / 256).max(1));
        }
        let start = self.snap(self.start, grow_m, &scratch.footprints);
        let goal = self.snap(self.goal, grow_m, &scratch.footprints);
        let (Some(start), Some(goal)) = (start, goal) else {
            self.fail(call);
            return false;
        };
        self.cells = (start, goal);
        let parts = self.grid.parts();
        let (own, other) = (parts.of(start), parts.of(goal));
        if own != other {
            let ends_here = |part: Option<u32>| part.is_none_or(|p| !parts.touches_border(p));
            if ends_here(own) || ends_here(other) || !self.enlarge(call) {
                self.fail(call);
                return false;
            }
            return self.prepare(call, search, waters, budget, scratch);
        }
        let rules = SearchRules {
            stops_at_border: !self.is_largest(call),
            ..call.rules()
        };
        search.begin(self.grid.map(), start, goal, rules);
        self.running = Running { rules, expanded: 0 };
        self.phase = Phase::Searching;
        true
    }

    fn draw_grid(&mut self, grow_m: f32, obstacles: &Footprints) {
        let drawn = &self.drawn;
        let ground = Ground {
            obstacles,
            grow_m,
            bounds: drawn.bounds,
            fill: drawn.fill,
            diagonal: drawn.diagonal,
        };
        self.grid.build(drawn.area, drawn.cell_m, &ground);
    }

    fn is_largest(&self, call: &Call) -> bool {
        self.border_cells >= call.params.side_cells / 2
    }

    /// Doubles the border of the next grid; false where it is the largest already.
    fn enlarge(&mut self, call: &Call) -> bool {
        if self.is_largest(call) {
            return false;
        }
        self.border_cells = (self.border_cells * 2).min(call.params.side_cells.div_ceil(2));
        true
    }

    /// The nearest free cell to which the straight way is clear.
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
                let middle = self.grid.middle_m(cell);
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

    fn fail(&mut self, call: &Call) {
        self.border_cells = 0;
        self.path.clear();
        self.margin_step += 1;
        self.phase = Phase::Waiting;
        self.waits_since = self.called_tick;
        self.status = Status::Failed;
        if self.margin_step > MARGINS.len() {
            self.margin_step = 0;
            self.phase = Phase::GivenUp;
            self.status = Status::NoMap;
            let oldest = self
                .failed
                .iter_mut()
                .min_by(|a, b| a.left_secs.total_cmp(&b.left_secs));
            if let Some(pair) = oldest {
                *pair = FailedPair {
                    start: flat(call.at_m),
                    goal: call.predicted(),
                    left_secs: FIXED_SECS,
                };
            }
        }
    }
}

/// A place on the way to one too far off, outside all grown obstacles.
fn on_the_way(from: Vec2, to: Vec2, reach_m: f32, grow_m: f32, obstacles: &Footprints) -> Vec2 {
    let way = (to - from).normalize_or_zero();
    // First nearer and nearer, as far as halfway.
    let tries = (0..=8).map(|n| from + way * (reach_m * (1.0 - n as f32 / 16.0)));
    let mut free = tries.filter(|&at| obstacles.distance_m(at) > grow_m + 0.01);
    free.next().unwrap_or(from + way * reach_m)
}
