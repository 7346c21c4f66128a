//! Grid searches of all agents. They share one budget of expansions per tick, and the memory of at most 8 searches.
//!
//! In: path requests, in the order of agent ids. Out: answers. Searches are served by priority, then by waiting time,
//! then in the order of agent ids. An unfinished search continues in the next tick. Must not: read a clock.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::grid::{GridSearch, LocalGrid, SearchEffort};
use super::request::{PathAnswer, PathRequest};
use super::route::{Environment, Route, Scratch};

/// Largest number of searches in progress at the same time. It limits memory use: each search stores one node for every
/// cell of its grid.
const SEARCHES: usize = 8;
/// Largest tick of a saved state. A pool with 60 ticks per second needs millions of years to reach it.
const TICK_MAX: u64 = 1 << 53;
/// Number of ticks without a request after which the route of an agent is removed.
const FORGET_TICKS: u64 = 600;

/// The routes and grid searches of all agents. The serialized fields are enough to continue with identical results
/// after [`GridPlanner::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridPlanner {
    tick: u64,
    /// Routes of all agents, sorted by agent id.
    routes: Vec<Route>,
    #[serde(skip)]
    searches: Vec<GridSearch>,
    /// Whether the entry of `searches` at the same index belongs to a route.
    #[serde(skip)]
    in_use: [bool; SEARCHES],
    /// Routes that need a search, in the order in which they are served. An entry is (priority, tick since which the
    /// route waits, index of the route).
    #[serde(skip)]
    queue: Vec<(std::cmp::Reverse<u8>, u64, usize)>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    spare_routes: Vec<Route>,
}

impl GridPlanner {
    /// Accepts the path request of an agent for this tick. The calls of a tick must be in the order of agent ids.
    pub fn submit(&mut self, request: &PathRequest, environment: &Environment<'_>) {
        let index = match self
            .routes
            .binary_search_by_key(&request.id, |route| route.id)
        {
            Ok(index) => index,
            Err(index) => {
                let mut route = self.spare_routes.pop().unwrap_or_default();
                route.begin(request.id);
                route.waiting_since_tick = self.tick;
                self.routes.insert(index, route);
                index
            }
        };
        let route = &mut self.routes[index];
        route.requested_tick = self.tick;
        route.update(request, environment, &mut self.scratch);
        // A route that no longer needs a search releases its search memory.
        if !route.is_searching()
            && let Some(search) = route.search.take()
        {
            self.in_use[search] = false;
        }
    }

    /// Advances all searches by at most `budget` expansions in total, and ends the tick: later requests belong to the
    /// next tick.
    pub fn advance(&mut self, environment: &Environment<'_>, mut budget: u32) {
        self.forget_inactive();
        self.queue.clear();
        for (index, route) in self.routes.iter().enumerate() {
            if route.is_searching() && route.requested_tick == self.tick {
                let entry = (
                    std::cmp::Reverse(route.priority()),
                    route.waiting_since_tick,
                    index,
                );
                self.queue.push(entry);
            }
        }
        self.queue.sort_unstable();
        for entry in 0..self.queue.len() {
            if budget == 0 {
                break;
            }
            let route = &mut self.routes[self.queue[entry].2];
            let unused = || self.in_use.iter().position(|is_taken| !is_taken);
            let Some(index) = route.search.or_else(unused) else {
                continue;
            };
            self.in_use[index] = true;
            if self.searches.len() < SEARCHES {
                self.searches.resize_with(SEARCHES, GridSearch::default);
            }
            route.search = Some(index);
            let is_done = route.advance(
                &mut self.searches[index],
                environment,
                &mut budget,
                &mut self.scratch,
            );
            if is_done {
                route.search = None;
                self.in_use[index] = false;
            }
            // All searches get as much memory as the largest one, so that a later tick with more searches at the same time
            // allocates none.
            let memory = self.searches[index].memory();
            for search in &mut self.searches {
                search.reserve(memory);
            }
        }
        self.tick += 1;
    }

    /// Returns the current answer for an agent, or `None` if the agent has no route.
    pub fn answer(&self, id: u64) -> Option<PathAnswer> {
        self.route(id).map(Route::answer)
    }

    /// Corners of the path that the agent has not passed yet, in floor meters.
    pub fn remaining_path(&self, id: u64) -> &[Vec2] {
        self.route(id).map_or(&[], Route::remaining_path)
    }

    /// Returns the grid of an agent's path search, or `None` if the agent has no grid.
    pub fn grid(&self, id: u64) -> Option<&LocalGrid> {
        self.route(id)?.grid()
    }

    /// Calls `visit` with the center of every cell in the open list of the agent's running search, in floor meters.
    pub fn for_each_open(&self, id: u64, mut visit: impl FnMut(Vec2)) {
        let found = self
            .route(id)
            .and_then(|route| route.grid().zip(route.search));
        if let Some((grid, search)) = found {
            self.searches[search].for_each_open(|cell| visit(grid.cell_center_m(cell)));
        }
    }

    /// Returns the number of searches that the agent has started, and their total effort.
    pub fn effort(&self, id: u64) -> (u64, SearchEffort) {
        self.route(id)
            .map_or_else(Default::default, |route| (route.searches, route.effort))
    }

    /// Ids of all agents that have a route.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.routes.iter().map(|route| route.id)
    }

    /// Continues from a saved state: rebuilds the grids and repeats the running searches up to the saved number of
    /// expansions.
    ///
    /// # Errors
    /// If the saved numbers are inconsistent. The error describes the inconsistency.
    pub fn resume(&mut self, environment: &Environment<'_>) -> Result<(), String> {
        let indices: Vec<usize> = self.routes.iter().filter_map(|r| r.search).collect();
        let is_ordered = self.routes.windows(2).all(|pair| pair[0].id < pair[1].id);
        let is_shared = (1..indices.len()).any(|n| indices[..n].contains(&indices[n]));
        if !is_ordered || is_shared || indices.iter().any(|&index| index >= SEARCHES) {
            return Err("the ids of the routes are not in ascending order, two routes use the same search, or a search does not exist".into());
        }
        if self.tick > TICK_MAX {
            return Err(format!("the path searches are at tick {}", self.tick));
        }
        if let Some(bad) = self.routes.iter().find(|r| !r.is_sound(self.tick)) {
            return Err(format!(
                "the route of agent {} has invalid numbers",
                bad.id >> 8
            ));
        }
        self.searches.resize_with(SEARCHES, GridSearch::default);
        indices.iter().for_each(|&index| self.in_use[index] = true);
        for route in &mut self.routes {
            let search = route.search.map(|index| &mut self.searches[index]);
            route.resume(search, environment, &mut self.scratch);
        }
        Ok(())
    }

    fn route(&self, id: u64) -> Option<&Route> {
        let index = self
            .routes
            .binary_search_by_key(&id, |route| route.id)
            .ok()?;
        Some(&self.routes[index])
    }

    /// Removes each route that had no request for [`FORGET_TICKS`]. A route without a request in this tick releases its
    /// search memory.
    fn forget_inactive(&mut self) {
        let tick = self.tick;
        for route in &mut self.routes {
            if route.requested_tick != tick
                && let Some(search) = route.search.take()
            {
                route.begin(route.id);
                self.in_use[search] = false;
            }
        }
        while let Some(index) = self
            .routes
            .iter()
            .position(|route| route.requested_tick + FORGET_TICKS < tick)
        {
            let route = self.routes.remove(index);
            self.spare_routes.push(route);
        }
    }
}

#[cfg(test)]
mod tests;
