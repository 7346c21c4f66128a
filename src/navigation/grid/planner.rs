//! Grid searches of all agents. They run one after another and share one budget of expansions per tick.
//!
//! In: path queries, in the order of their ids. Out: answers. The running search is continued first, then the searches begin
//! in the order in which they wait. An unfinished search continues in the next tick. Must not: read a clock.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::local::LocalGrid;
use super::query::GridQuery;
use super::route::{Environment, Route, Scratch};
use super::search::{GridSearch, SearchEffort};
use crate::navigation::request::PathAnswer;

/// Largest tick of a saved state. A pool with 60 ticks per second needs millions of years to reach it.
const TICK_MAX: u64 = 1 << 53;
/// Number of ticks without a query after which a route is removed.
const FORGET_TICKS: u64 = 600;

/// The routes of all agents and their grid search. The serialized fields are enough to continue with identical results
/// after [`GridPlanner::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridPlanner {
    tick: u64,
    /// Routes, sorted by id. At most one of them has a running search.
    routes: Vec<Route>,
    #[serde(skip)]
    search: GridSearch,
    /// Routes that need a search, in the order in which they are served. An entry is (whether the search has not begun yet,
    /// tick since which the route waits, index of the route).
    #[serde(skip)]
    queue: Vec<(bool, u64, usize)>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    spare_routes: Vec<Route>,
}

impl GridPlanner {
    /// Accepts the query of a path for this tick. The calls of a tick must be in the order of ids.
    pub fn submit(&mut self, query: &GridQuery, environment: &Environment<'_>) {
        let index = match self
            .routes
            .binary_search_by_key(&query.id, |route| route.id)
        {
            Ok(index) => index,
            Err(index) => {
                let mut route = self.spare_routes.pop().unwrap_or_default();
                route.begin(query.id);
                route.waiting_since_tick = self.tick;
                self.routes.insert(index, route);
                index
            }
        };
        let route = &mut self.routes[index];
        route.requested_tick = self.tick;
        route.update(query, environment, &mut self.scratch);
    }

    /// Advances the searches by at most `budget` expansions in total, and ends the tick: later queries belong to the next
    /// tick.
    pub fn advance(&mut self, environment: &Environment<'_>, mut budget: u32) {
        self.forget_inactive();
        self.queue.clear();
        for (index, route) in self.routes.iter().enumerate() {
            if route.is_searching() && route.requested_tick == self.tick {
                self.queue
                    .push((!route.is_running(), route.waiting_since_tick, index));
            }
        }
        self.queue.sort_unstable();
        for &(_, _, index) in &self.queue {
            if budget == 0 {
                break;
            }
            self.routes[index].advance(
                &mut self.search,
                environment,
                &mut budget,
                &mut self.scratch,
            );
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
        let running = self.route(id).filter(|route| route.is_running());
        if let Some(grid) = running.and_then(Route::grid) {
            self.search
                .for_each_open(|cell| visit(grid.cell_center_m(cell)));
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

    /// Continues from a saved state: rebuilds the grids and repeats the running search up to the saved number of
    /// expansions.
    ///
    /// # Errors
    /// If the saved numbers are inconsistent. The error describes the inconsistency.
    pub fn resume(&mut self, environment: &Environment<'_>) -> Result<(), String> {
        let is_ordered = self.routes.windows(2).all(|pair| pair[0].id < pair[1].id);
        let running = self.routes.iter().filter(|route| route.is_running());
        if !is_ordered || running.count() > 1 {
            return Err(
                "the ids of the routes are not in ascending order, or two searches run at a time"
                    .into(),
            );
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
        for route in &mut self.routes {
            route.resume(&mut self.search, environment, &mut self.scratch);
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

    /// Removes each route that had no query for [`FORGET_TICKS`]. A search without a query in this tick ends.
    fn forget_inactive(&mut self) {
        let tick = self.tick;
        for route in &mut self.routes {
            if route.requested_tick != tick && route.is_running() {
                route.begin(route.id);
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
