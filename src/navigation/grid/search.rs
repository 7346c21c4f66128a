//! Weighted A* on a grid. A search can be divided into slices: each slice has a limited number of expansions. The
//! memory of the nodes is reused by the next search.
//!
//! In: a grid, two cells of one component, rules. Out: the cells of a path. A sliced search finds the same path as an
//! uninterrupted one, because both expand the same cells in the same order. **Source**: Dahlberg & Viktorsson 2002,
//! §4.4.1, who use weight 1.6.

use glam::UVec2;
use serde::{Deserialize, Serialize};

use super::map::{CALM, Cell, GridMap};
use super::open::OpenList;
use super::steps::{ALLOWED, PRUNED, STEPS, estimate, step, step_cost};

/// Rules of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRules {
    /// Factor by which the estimated remaining cost is multiplied, at least 1. At 1, the search finds a shortest path.
    /// Above 1, closed cells are never opened again.
    pub weight: f32,
    /// Whether the search ends when it reaches the border of the grid.
    pub stops_at_border: bool,
}

impl Default for SearchRules {
    fn default() -> Self {
        Self {
            weight: 1.6,
            stops_at_border: false,
        }
    }
}

/// State of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchProgress {
    /// The search is unfinished and continues with the next slice.
    #[default]
    Working,
    /// A path was found.
    Found,
    /// There is no path on this grid.
    Exhausted,
    /// The search reached the border of the grid; a path may lead outside.
    Border,
}

/// Work that a search has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchEffort {
    /// Number of expanded cells.
    pub expanded: u64,
    /// Number of closed cells that were opened again.
    pub reopened: u64,
}

/// State of one cell in the search.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    cost: u32,
    /// Number of the search that wrote this node, a flag for closed cells, and the direction of the step that reached
    /// the cell.
    tag: u32,
}

const CLOSED: u32 = 8;
const DIRECTION: u32 = 7;
const GENERATION: u32 = 16;

/// A search and its memory, which the next search reuses.
#[derive(Clone, Debug, Default)]
pub struct GridSearch {
    rules: SearchRules,
    /// Weight of [`SearchRules`], in units of 1/1024.
    weight: u64,
    start: Cell,
    goal: Cell,
    progress: SearchProgress,
    effort: SearchEffort,
    generation: u32,
    nodes: Vec<Node>,
    open: OpenList,
}

impl GridSearch {
    /// Begins a search between two cells. If one of them is blocked, the search ends as [`SearchProgress::Exhausted`].
    pub fn begin(&mut self, map: &GridMap, start: UVec2, goal: UVec2, rules: SearchRules) {
        self.rules = rules;
        self.weight = (f64::from(rules.weight.clamp(1.0, 100.0)) * 1024.0) as u64;
        self.effort = SearchEffort::default();
        if self.nodes.len() < map.index_count() {
            self.nodes.resize(map.index_count(), Node::default());
        }
        if self.generation >= u32::MAX - GENERATION {
            self.nodes.fill(Node::default());
            self.generation = 0;
        }
        self.generation += GENERATION;
        if !map.is_free(start) || !map.is_free(goal) {
            self.progress = SearchProgress::Exhausted;
            return;
        }
        (self.start, self.goal) = (GridMap::cell(start), GridMap::cell(goal));
        self.progress = SearchProgress::Working;
        self.nodes[map.index_of(self.start)] = Node {
            cost: 0,
            tag: self.generation,
        };
        let key = self.key(0, estimate(self.start, self.goal));
        self.open.clear();
        self.open.push(key, self.start);
    }

    /// Continues the search for at most `budget` expansions and subtracts the used ones from `budget`. `map` must be
    /// the same as in [`Self::begin`].
    pub fn advance(&mut self, map: &GridMap, budget: &mut u32) -> SearchProgress {
        if self.progress == SearchProgress::Working {
            self.progress = self.expand(map, budget);
        }
        self.progress
    }

    /// Work done since the search began.
    pub fn effort(&self) -> SearchEffort {
        self.effort
    }

    /// Returns the cost of the found path, or `None` if no path was found. A straight step costs 5741, a diagonal step
    /// 8119.
    pub fn cost(&self, map: &GridMap) -> Option<u32> {
        (self.progress == SearchProgress::Found).then(|| self.nodes[map.index_of(self.goal)].cost)
    }

    /// Writes the cells of the found path, from start to goal, to `cells`. `cells` is empty if no path was found.
    pub fn path(&self, map: &GridMap, cells: &mut Vec<UVec2>) {
        cells.clear();
        if self.progress != SearchProgress::Found {
            return;
        }
        let mut at = self.goal;
        cells.push(GridMap::at(at));
        while at != self.start {
            let (dx, dy) = STEPS[(self.nodes[map.index_of(at)].tag & DIRECTION) as usize];
            at = step(at, -dx, -dy);
            cells.push(GridMap::at(at));
        }
        cells.reverse();
    }

    /// Calls `visit` for every cell in the open list.
    pub fn for_each_open(&self, mut visit: impl FnMut(UVec2)) {
        self.open.for_each(|cell| visit(GridMap::at(cell)));
    }

    #[inline]
    fn key(&self, cost: u32, estimate: u32) -> u32 {
        let key = u64::from(cost) + ((u64::from(estimate) * self.weight) >> 10);
        key.min(u64::from(u32::MAX)) as u32
    }

    fn expand(&mut self, map: &GridMap, budget: &mut u32) -> SearchProgress {
        let pruned = &*PRUNED;
        // Pruned steps lead to cells that another way reaches at the same cost: that holds only if all cells cost the same.
        let has_prices = map.has_prices();
        let is_optimal = self.weight <= 1024;
        let goal_index = map.index_of(self.goal);
        let offsets = STEPS.map(|(dx, dy)| dx as isize + dy as isize * map.stride() as isize);
        let generation = self.generation;
        while *budget > 0 {
            let Some((bound, cell)) = self.open.pop() else {
                let is_reached = self.nodes[goal_index].tag & !15 == generation;
                return if is_reached {
                    SearchProgress::Found
                } else {
                    SearchProgress::Exhausted
                };
            };
            // At weight 1, the path is a shortest path as soon as no open cell has a lower key than the goal. The
            // removal of the goal from the open list is not enough, because cells within a bucket are not sorted.
            let goal = self.nodes[goal_index];
            if is_optimal && goal.tag & !15 == generation && bound >= goal.cost {
                return SearchProgress::Found;
            }
            let index = map.index_of(cell);
            let node = self.nodes[index];
            if node.tag & CLOSED != 0 {
                continue;
            }
            if cell == self.goal && !is_optimal {
                return SearchProgress::Found;
            }
            self.nodes[index].tag |= CLOSED;
            self.effort.expanded += 1;
            *budget -= 1;
            if self.rules.stops_at_border && map.is_border(cell) && cell != self.start {
                return SearchProgress::Border;
            }
            let neighborhood = map.neighborhood(index);
            let mut bits = if cell == self.start || has_prices {
                ALLOWED[neighborhood]
            } else {
                pruned[(node.tag & DIRECTION) as usize][neighborhood]
            };
            while bits != 0 {
                let direction = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let next = index.wrapping_add_signed(offsets[direction]);
                let step_cost = if has_prices {
                    step_cost(direction) * map.price(next) / CALM
                } else {
                    step_cost(direction)
                };
                let cost = node.cost + step_cost;
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
                let key = self.key(cost, estimate(next, self.goal));
                self.open.push(key, next);
            }
        }
        SearchProgress::Working
    }
}

/// Finds a short path towards the goal without a search; an agent follows it while its search runs. Each step goes to
/// the free neighbor that is nearest to the goal. The path has at most `steps` steps and ends where the next step would
/// lead away from the goal. **Source**: Dahlberg & Viktorsson 2002, §3.5.3, who use 3 to 15 cells.
pub(crate) fn quick_path(
    map: &GridMap,
    (start, goal): (UVec2, UVec2),
    steps: usize,
    cells: &mut Vec<UVec2>,
) {
    cells.clear();
    if !map.is_free(start) {
        return;
    }
    cells.push(start);
    let goal = GridMap::cell(goal.min(map.size().saturating_sub(UVec2::ONE)));
    let mut at = GridMap::cell(start);
    for _ in 0..steps {
        let bits = ALLOWED[map.neighborhood(map.index_of(at))];
        let next = (0..8)
            .filter(|direction| bits >> direction & 1 == 1)
            .map(|direction| step(at, STEPS[direction].0, STEPS[direction].1))
            .min_by_key(|&next| (estimate(next, goal), next));
        let Some(next) = next else { break };
        if estimate(next, goal) >= estimate(at, goal) || at == goal {
            break;
        }
        at = next;
        cells.push(GridMap::at(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::grid::GridComponents;
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
        let weight = prop_oneof![Just(1.0f32), 1.01f32..4.0];
        weight.prop_map(|weight| SearchRules {
            weight,
            ..SearchRules::default()
        })
    }

    /// Returns the cost of a shortest path, computed with Dijkstra's algorithm of the `pathfinding` crate.
    fn least_cost(map: &GridMap, start: UVec2, goal: UVec2) -> Option<u32> {
        let successors = |&cell: &Cell| {
            let bits = ALLOWED[map.neighborhood(map.index_of(cell))];
            (0..8usize)
                .filter(|d| bits >> d & 1 == 1)
                .map(|d| (step(cell, STEPS[d].0, STEPS[d].1), step_cost(d)))
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
        fn paths_are_valid_short_enough_and_independent_of_slices(
            seed: u64, share in 4u64..8, size in 2u32..40, rules in rules(), slice in 1u32..9,
        ) {
            let map = random(seed, share, size);
            let (start, goal) = (UVec2::ZERO, UVec2::splat(size - 1));
            let mut search = GridSearch::default();
            search.begin(&map, start, goal, rules);
            let progress = search.advance(&map, &mut u32::MAX.clone());
            let mut path = Vec::new();
            search.path(&map, &mut path);
            let least = least_cost(&map, start, goal);
            prop_assert_eq!(progress == SearchProgress::Found, least.is_some());
            let mut components = GridComponents::default();
            components.label(&map);
            prop_assert_eq!(components.component_of(start) == components.component_of(goal), least.is_some());
            if let (Some(least), Some(cost)) = (least, search.cost(&map)) {
                prop_assert!(rules.weight > 1.0 || cost == least);
                // Keys within a bucket differ by less than a fifth of a step, which may add to the cost of each step.
                prop_assert!(f64::from(cost) <= f64::from(least) * (f64::from(rules.weight) + 0.2));
                prop_assert!(rules.weight <= 1.0 || search.effort().reopened == 0);
                let mut sum = 0;
                for pair in path.windows(2) {
                    let (dx, dy) = (pair[1].as_ivec2() - pair[0].as_ivec2()).into();
                    let direction = STEPS.iter().position(|&s| s == (dx, dy)).unwrap();
                    let neighborhood = map.neighborhood(map.index_of(GridMap::cell(pair[0])));
                    prop_assert!(ALLOWED[neighborhood] >> direction & 1 == 1);
                    sum += step_cost(direction);
                }
                prop_assert_eq!(sum, cost);
            }
            search.begin(&map, start, goal, rules);
            while search.advance(&map, &mut slice.clone()) == SearchProgress::Working {}
            let mut sliced = Vec::new();
            search.path(&map, &mut sliced);
            prop_assert_eq!(path, sliced);
        }
    }

    #[test]
    fn a_search_reports_that_it_reached_the_border() {
        let mut map = GridMap::default();
        map.reset(9, 9);
        map.fill_row(4, 0, 9, false);
        let mut search = GridSearch::default();
        let rules = SearchRules {
            stops_at_border: true,
            ..SearchRules::default()
        };
        search.begin(&map, UVec2::new(4, 2), UVec2::new(4, 7), rules);
        assert_eq!(search.advance(&map, &mut 1000), SearchProgress::Border);
    }
}
