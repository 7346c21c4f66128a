//! All swimmers' ways: they share one budget of expansions a tick and a few searches' memory.
//!
//! In: calls, in agent order. Out: answers. The urgent go first, then who has waited longest, then agent order; a search
//! that is not done goes on in the next tick. Must not: ask a clock.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::grid::{Effort, LocalGrid, Search};
use super::route::{Route, Scratch, Waters};
use super::trip::{Answer, Call};

/// Searches that may be under way at once; each has memory for the cells of a grid.
const SEARCHES: usize = 8;
/// Ticks after which a swimmer that no longer calls is forgotten.
const FORGET_TICKS: u64 = 600;

/// All swimmers' ways. What is written of it is enough to go on bit for bit, after [`Planner::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planner {
    tick: u64,
    /// By id.
    routes: Vec<Route>,
    #[serde(skip)]
    searches: Vec<Search>,
    /// Which of the searches somebody has.
    #[serde(skip)]
    taken: [bool; SEARCHES],
    /// Whose turn it is: priority from high to low, waiting since, place.
    #[serde(skip)]
    turns: Vec<(std::cmp::Reverse<u8>, u64, usize)>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
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
            self.taken[search] = false;
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
            let vacant = || self.taken.iter().position(|is_taken| !is_taken);
            let Some(place) = route.search.or_else(vacant) else {
                continue;
            };
            self.taken[place] = true;
            if self.searches.len() <= place {
                self.searches.resize_with(place + 1, Search::default);
            }
            route.search = Some(place);
            let is_done = route.work(
                &mut self.searches[place],
                waters,
                &mut budget,
                &mut self.scratch,
            );
            if is_done {
                route.search = None;
                self.taken[place] = false;
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

    /// Goes on with what was saved: draws the grids and does the searches once more as far as they had come.
    ///
    /// # Errors
    /// What is wrong with it, when its numbers cannot be what was saved.
    pub fn resume(&mut self, waters: &Waters<'_>) -> Result<(), String> {
        let places: Vec<usize> = self.routes.iter().filter_map(|r| r.search).collect();
        let is_ordered = self.routes.windows(2).all(|pair| pair[0].id < pair[1].id);
        let is_shared = (1..places.len()).any(|n| places[..n].contains(&places[n]));
        if !is_ordered || is_shared || places.iter().any(|&place| place >= SEARCHES) {
            return Err("the ways have ids out of order, or share a search".into());
        }
        if let Some(bad) = self.routes.iter().find(|r| !r.is_sound(self.tick)) {
            return Err(format!("the way of agent {} cannot be", bad.id >> 8));
        }
        self.searches.resize_with(SEARCHES, Search::default);
        places.iter().for_each(|&place| self.taken[place] = true);
        for route in &mut self.routes {
            let search = route.search.map(|place| &mut self.searches[place]);
            route.resume(search, waters, &mut self.scratch);
        }
        Ok(())
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
                self.taken[search] = false;
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
mod tests;
