//! Weighted A* on a grid, in slices of expansions, with node memory that is used again.
//!
//! In: a map, two cells of one component, rules. Out: the cells of a path. A search in slices finds the same path as one
//! in one go: nothing but the order of expansions decides. **Source**: 001 section 4.4.1; weight 1.6 there.

use glam::UVec2;
use serde::{Deserialize, Serialize};

use super::map::{Cell, GridMap};
use super::open::{Buckets, CheapList, Heap, OpenKind, OpenList};
use super::steps::{
    Connectivity, Corners, DIAGONAL, STEPS, STRAIGHT, allowed, estimate, step, worth_trying,
};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRules {
    /// Factor on the heuristic, at least 1. At 1 the path is a shortest one; above it closed cells stay closed.
    pub weight: f32,
    /// Which cells are neighbors.
    pub connectivity: Connectivity,
    /// When corners may be cut.
    pub corners: Corners,
    /// Which open list.
    pub open: OpenKind,
    /// Whether reaching the border of the grid ends the search.
    pub stops_at_border: bool,
}

impl Default for SearchRules {
    fn default() -> Self {
        Self {
            weight: 1.6,
            connectivity: Connectivity::default(),
            corners: Corners::default(),
            open: OpenKind::default(),
            stops_at_border: false,
        }
    }
}

impl SearchRules {
    /// Whether cells hang together over their corners alone.
    pub fn joins_diagonally(&self) -> bool {
        self.connectivity == Connectivity::Eight && self.corners == Corners::Cut
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// It goes on with the next slice.
    #[default]
    Working,
    /// There is a path.
    Found,
    /// There is none on this grid.
    Exhausted,
    /// It came to the border of the grid, beyond which it knows nothing.
    Border,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    /// Cells expanded.
    pub expanded: u64,
    /// Closed cells opened again.
    pub reopened: u64,
}

/// One cell's place in the search.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    cost: u32,
    /// Generation, whether closed, and the direction that it was reached by.
    tag: u32,
}

const CLOSED: u32 = 8;
const DIRECTION: u32 = 7;
const GENERATION: u32 = 16;

/// A search with its memory, which the next search uses again.
#[derive(Clone, Debug, Default)]
pub struct Search {
    rules: SearchRules,
    /// Weight in 1024ths.
    weight: u64,
    start: Cell,
    goal: Cell,
    progress: Progress,
    effort: Effort,
    generation: u32,
    nodes: Vec<Node>,
    buckets: Buckets,
    heap: Heap,
    cheap: CheapList,
}

impl Search {
    /// Begins a search between two free cells; blocked ones have no path.
    pub fn begin(&mut self, map: &GridMap, start: UVec2, goal: UVec2, rules: SearchRules) {
        self.rules = rules;
        self.weight = (f64::from(rules.weight.clamp(1.0, 100.0)) * 1024.0) as u64;
        self.effort = Effort::default();
        if self.nodes.len() < map.places() {
            self.nodes.resize(map.places(), Node::default());
        }
        if self.generation >= u32::MAX - GENERATION {
            self.nodes.fill(Node::default());
            self.generation = 0;
        }
        self.generation += GENERATION;
        if !map.is_free(start) || !map.is_free(goal) {
            self.progress = Progress::Exhausted;
            return;
        }
        (self.start, self.goal) = (GridMap::cell(start), GridMap::cell(goal));
        self.progress = Progress::Working;
        self.nodes[map.place(self.start)] = Node {
            cost: 0,
            tag: self.generation,
        };
        let key = self.key(0, estimate(rules.connectivity, self.start, self.goal));
        match rules.open {
            OpenKind::Bucket => restart(&mut self.buckets, key, self.start),
            OpenKind::Heap => restart(&mut self.heap, key, self.start),
            OpenKind::CheapList => restart(&mut self.cheap, key, self.start),
        }
    }

    /// Goes on for at most `budget` expansions and takes what it used from it. `map` is that of [`Self::begin`].
    pub fn advance(&mut self, map: &GridMap, budget: &mut u32) -> Progress {
        if self.progress == Progress::Working {
            // The list is lent to the loop, so that the loop knows its kind.
            self.progress = match self.rules.open {
                OpenKind::Bucket => {
                    let mut list = std::mem::take(&mut self.buckets);
                    let progress = self.expand(map, &mut list, budget);
                    self.buckets = list;
                    progress
                }
                OpenKind::Heap => {
                    let mut list = std::mem::take(&mut self.heap);
                    let progress = self.expand(map, &mut list, budget);
                    self.heap = list;
                    progress
                }
                OpenKind::CheapList => {
                    let mut list = std::mem::take(&mut self.cheap);
                    let progress = self.expand(map, &mut list, budget);
                    self.cheap = list;
                    progress
                }
            };
        }
        self.progress
    }

    /// What it did since it began.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Cost of the found path; a step to the side costs 5741, one over a corner 8119.
    pub fn cost(&self, map: &GridMap) -> Option<u32> {
        (self.progress == Progress::Found).then(|| self.nodes[map.place(self.goal)].cost)
    }

    /// Fills in the cells of the found path from start to goal; none where there is none.
    pub fn path(&self, map: &GridMap, cells: &mut Vec<UVec2>) {
        cells.clear();
        if self.progress != Progress::Found {
            return;
        }
        let mut at = self.goal;
        cells.push(GridMap::at(at));
        while at != self.start {
            let (dx, dy) = STEPS[(self.nodes[map.place(at)].tag & DIRECTION) as usize];
            at = step(at, -dx, -dy);
            cells.push(GridMap::at(at));
        }
        cells.reverse();
    }

    /// Calls for every cell that waits to be expanded.
    pub fn for_each_open(&self, mut see: impl FnMut(UVec2)) {
        let mut see = |cell| see(GridMap::at(cell));
        match self.rules.open {
            OpenKind::Bucket => self.buckets.for_each(&mut see),
            OpenKind::Heap => self.heap.for_each(&mut see),
            OpenKind::CheapList => self.cheap.for_each(&mut see),
        }
    }

    #[inline]
    fn key(&self, cost: u32, estimate: u32) -> u32 {
        let key = u64::from(cost) + ((u64::from(estimate) * self.weight) >> 10);
        key.min(u64::from(u32::MAX)) as u32
    }

    fn expand<O: OpenList>(&mut self, map: &GridMap, open: &mut O, budget: &mut u32) -> Progress {
        let connectivity = self.rules.connectivity;
        let moves = allowed(connectivity, self.rules.corners);
        let onward = worth_trying(connectivity, self.rules.corners);
        let is_optimal = self.weight <= 1024;
        let goal_place = map.place(self.goal);
        let offsets = STEPS.map(|(dx, dy)| dx as isize + dy as isize * map.stride() as isize);
        let generation = self.generation;
        while *budget > 0 {
            let Some((bound, cell)) = open.pop() else {
                let is_reached = self.nodes[goal_place].tag & !15 == generation;
                return if is_reached {
                    Progress::Found
                } else {
                    Progress::Exhausted
                };
            };
            // At weight 1 the path is a shortest one as soon as nothing cheaper is open; cells within a bucket have no
            // order, so being taken out of it proves nothing.
            let goal = self.nodes[goal_place];
            if is_optimal && goal.tag & !15 == generation && bound >= goal.cost {
                return Progress::Found;
            }
            let place = map.place(cell);
            let node = self.nodes[place];
            if node.tag & CLOSED != 0 {
                continue;
            }
            if cell == self.goal && !is_optimal {
                return Progress::Found;
            }
            self.nodes[place].tag |= CLOSED;
            self.effort.expanded += 1;
            *budget -= 1;
            if self.rules.stops_at_border && map.is_border(cell) && cell != self.start {
                return Progress::Border;
            }
            let ring = map.neighborhood(place);
            let mut bits = if cell == self.start {
                moves[ring]
            } else {
                onward[(node.tag & DIRECTION) as usize][ring]
            };
            while bits != 0 {
                let direction = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let cost = node.cost + if direction < 4 { STRAIGHT } else { DIAGONAL };
                let next = place.wrapping_add_signed(offsets[direction]);
                let old = self.nodes[next];
                if old.tag & !15 == generation {
                    if old.cost <= cost || (old.tag & CLOSED != 0 && !is_optimal) {
                        continue;
                    }
                    self.effort.reopened += u64::from(old.tag & CLOSED != 0);
                }
                self.nodes[next] = Node {
                    cost,
                    tag: generation | direction as u32,
                };
                let (dx, dy) = STEPS[direction];
                let next = step(cell, dx, dy);
                open.push(
                    self.key(cost, estimate(connectivity, next, self.goal)),
                    next,
                );
            }
        }
        Progress::Working
    }
}

fn restart<O: OpenList>(open: &mut O, key: u32, start: Cell) {
    open.clear();
    open.push(key, start);
}

/// A short way towards the goal without a search, to start on while the search runs: from cell to free cell, each as near
/// to the goal as can be, at most `steps` long, ending where it would go back. **Source**: 001 section 3.5.6, 3 to 15 cells.
pub fn quick_path(
    map: &GridMap,
    (start, goal): (UVec2, UVec2),
    rules: &SearchRules,
    steps: usize,
    cells: &mut Vec<UVec2>,
) {
    cells.clear();
    if !map.is_free(start) {
        return;
    }
    cells.push(start);
    let moves = allowed(rules.connectivity, rules.corners);
    let goal = GridMap::cell(goal.min(map.size().saturating_sub(UVec2::ONE)));
    let mut at = GridMap::cell(start);
    for _ in 0..steps {
        let bits = moves[map.neighborhood(map.place(at))];
        let next = (0..8)
            .filter(|direction| bits >> direction & 1 == 1)
            .map(|direction| step(at, STEPS[direction].0, STEPS[direction].1))
            .min_by_key(|&next| (estimate(Connectivity::Eight, next, goal), next));
        let Some(next) = next else { break };
        let is_nearer =
            estimate(Connectivity::Eight, next, goal) < estimate(Connectivity::Eight, at, goal);
        if !is_nearer || at == goal {
            break;
        }
        at = next;
        cells.push(GridMap::at(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::grid::Components;
    use proptest::prelude::*;

    fn random(seed: u64, share: u64, size: u32) -> GridMap {
        let mut map = GridMap::default();
        map.reset(size, size);
        let mut state = seed | 1;
        for y in 0..size {
            for x in 0..size {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                map.fill_row(y, x, x + 1, (state >> 33) % 8 < share);
            }
        }
        map.fill_row(0, 0, 1, true);
        map.fill_row(size - 1, size - 1, size, true);
        map
    }

    fn rules() -> impl Strategy<Value = SearchRules> {
        let open = prop_oneof![
            Just(OpenKind::Bucket),
            Just(OpenKind::Heap),
            Just(OpenKind::CheapList)
        ];
        let corners = prop_oneof![
            Just(Corners::Keep),
            Just(Corners::CutOne),
            Just(Corners::Cut)
        ];
        let connectivity = prop_oneof![Just(Connectivity::Four), Just(Connectivity::Eight)];
        let weight = prop_oneof![Just(1.0f32), 1.01f32..4.0];
        (open, corners, connectivity, weight).prop_map(|(open, corners, connectivity, weight)| {
            SearchRules {
                weight,
                connectivity,
                corners,
                open,
                stops_at_border: false,
            }
        })
    }

    /// Least cost by Dijkstra's algorithm from the `pathfinding` crate.
    fn least_cost(map: &GridMap, start: UVec2, goal: UVec2, rules: &SearchRules) -> Option<u32> {
        let moves = allowed(rules.connectivity, rules.corners);
        let successors = |&cell: &Cell| {
            let bits = moves[map.neighborhood(map.place(cell))];
            (0..8usize)
                .filter(|d| bits >> d & 1 == 1)
                .map(|d| {
                    let cost = if d < 4 { STRAIGHT } else { DIAGONAL };
                    (step(cell, STEPS[d].0, STEPS[d].1), cost)
                })
                .collect::<Vec<_>>()
        };
        let goal = GridMap::cell(goal);
        let found =
            pathfinding::directed::dijkstra::dijkstra(&GridMap::cell(start), successors, |&cell| {
                cell == goal
            });
        found.map(|(_, cost)| cost)
    }

    proptest! {
        #[test]
        fn paths_are_allowed_short_enough_and_the_same_in_slices(
            seed: u64, share in 4u64..8, size in 2u32..40, rules in rules(), slice in 1u32..9,
        ) {
            let map = random(seed, share, size);
            let (start, goal) = (UVec2::ZERO, UVec2::splat(size - 1));
            let mut search = Search::default();
            search.begin(&map, start, goal, rules);
            let progress = search.advance(&map, &mut u32::MAX.clone());
            let mut path = Vec::new();
            search.path(&map, &mut path);
            let least = least_cost(&map, start, goal, &rules);
            prop_assert_eq!(progress == Progress::Found, least.is_some());
            let mut parts = Components::default();
            parts.label(&map, rules.joins_diagonally());
            prop_assert_eq!(parts.of(start) == parts.of(goal), least.is_some());
            if let (Some(least), Some(cost)) = (least, search.cost(&map)) {
                prop_assert!(rules.weight > 1.0 || cost == least);
                // A bucket's keys differ by less than a fifth of a step, which may add to each step.
                prop_assert!(f64::from(cost) <= f64::from(least) * (f64::from(rules.weight) + 0.2));
                prop_assert!(rules.weight <= 1.0 || search.effort().reopened == 0);
                let mut sum = 0;
                for pair in path.windows(2) {
                    let (dx, dy) = (pair[1].as_ivec2() - pair[0].as_ivec2()).into();
                    let direction = STEPS.iter().position(|&s| s == (dx, dy)).unwrap();
                    let ring = map.neighborhood(map.place(GridMap::cell(pair[0])));
                    prop_assert!(allowed(rules.connectivity, rules.corners)[ring] >> direction & 1 == 1);
                    sum += if direction < 4 { STRAIGHT } else { DIAGONAL };
                }
                prop_assert_eq!(sum, cost);
            }
            search.begin(&map, start, goal, rules);
            while search.advance(&map, &mut slice.clone()) == Progress::Working {}
            let mut sliced = Vec::new();
            search.path(&map, &mut sliced);
            prop_assert_eq!(path, sliced);
        }
    }

    #[test]
    fn a_search_that_reaches_the_border_says_so() {
        let mut map = GridMap::default();
        map.reset(9, 9);
        map.fill_row(4, 0, 9, false);
        let mut search = Search::default();
        let rules = SearchRules {
            stops_at_border: true,
            ..SearchRules::default()
        };
        search.begin(&map, UVec2::new(4, 2), UVec2::new(4, 7), rules);
        assert_eq!(search.advance(&map, &mut 1000), Progress::Border);
    }
}
