//! Routes over terraces. An agent searches a path at most every 0.25 s, replaces its current path only by a clearly
//! cheaper one, and follows the path to the next take-off.
//!
//! In: state and goal of an agent, its neighbors, paths from mesh searches. Out: answers: the next position to swim to, or
//! the moment of a take-off. **Source**: Lischka 2014, §7.5.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::links::{Abilities, MeshLinks};
use super::search::{CORNER_CAPACITY, MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch};
use super::smoothing::{POINTS_PER_CORNER, round_corners};
use super::surface::NavMesh;
use crate::navigation::costs::{Blockage, CostLayer, Outlook, Prices};
use crate::navigation::progress::Progress;
use crate::navigation::request::{PathAnswer, Refusal};

/// Shortest time between two searches. **Source**: Lischka 2014, §7.5.
const REPLAN_SECS: f32 = 0.25;
/// A new path replaces the current one only if its cost is less than this share of the remaining cost of the current
/// path. Tuned by eye, 2026-11-21.
const CLEARLY_CHEAPER: f32 = 0.85;
/// Distance to the goal within which an agent has arrived. Tuned by eye, 2026-11-21.
const ARRIVED_M: f32 = 0.3;
/// A goal that moves less than this keeps its place on the mesh, so that a search for it can end.
const GOAL_TOLERANCE_M: f32 = 0.2;
/// An agent this near to a corner, in body radii, has reached it, even if it does not see the next one from there.
const THERE_RADII: f32 = 0.25;
/// Length of the run-up before a leap. Tuned by eye, 2026-11-21.
const RUN_UP_M: f32 = 0.35;
/// Time for which a refused take-off makes its link dear.
const REFUSED_SECS: f32 = 10.0;
/// Weight of the direction to a neighbor at distance 0; the direction of the path has weight 1. Tuned by eye,
/// 2026-11-21.
const NEIGHBOR_WEIGHT: f32 = 0.5;
/// Swimming distance beyond which neighbors neither attract nor repel. Tuned by eye, 2026-11-21.
pub const NEIGHBOR_RANGE_M: f32 = 0.8;

/// State and goal of an agent that needs a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traveler {
    /// Current position.
    pub at: MeshPoint,
    /// Unit vector ahead, (x, z).
    pub heading: Vec2,
    /// Current speed.
    pub speed_mps: f32,
    /// Goal of the route: a point of the mesh, see [`TerraceRoute::place_goal`].
    pub goal: MeshPoint,
    /// Height y at which the agent swims.
    pub swim_y_m: f32,
    /// Height y from which the agent takes off.
    pub top_y_m: f32,
    /// Speed at which the agent follows its path.
    pub cruise_mps: f32,
    /// Smallest speed at which the agent may take off for a leap.
    pub run_up_mps: f32,
    /// Radius of the agent.
    pub radius_m: f32,
    /// Abilities of the agent.
    pub abilities: Abilities,
    /// Remaining time until the agent can leap again.
    pub cooldown_left_secs: f32,
    /// Factor on the costs of dangerous water: above 1 for a shy agent, below 1 for a bold one.
    pub caution: f32,
}

/// A neighbor that attracts or repels the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighborPull {
    /// Position of the neighbor.
    pub at: MeshPoint,
    /// Strength of the attraction: positive for a friend, negative (repulsion) for an enemy.
    pub pull: f32,
}

/// The route of one agent over terraces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerraceRoute {
    path: MeshPath,
    /// Points of the current leg, with rounded corners.
    rounded_leg: Vec<Vec2>,
    has_path: bool,
    /// The goal as the agent last asked for it: the index of the terrace, or `None` for any terrace, and the position.
    wanted: (Option<u16>, Vec2),
    /// The point of the mesh that replaces the wanted goal; `None` if the agent can reach no part of that terrace.
    placed: Option<MeshPoint>,
    goal: MeshPoint,
    abilities: Abilities,
    cruise_mps: f32,
    next: usize,
    age_secs: f32,
    outcome: Option<MeshOutcome>,
    progress: Progress,
    /// Where the agent came no further.
    blockage: Option<Blockage>,
    /// The link of the last refused take-off, and the time until it is forgotten.
    refused: Option<(u32, f32)>,
}

/// A mesh with its links.
#[derive(Clone, Copy, Debug)]
pub struct NavGraph<'a> {
    /// The mesh.
    pub mesh: &'a NavMesh,
    /// Leaps and drops on the mesh.
    pub links: &'a MeshLinks,
}

/// Memory for the search of distances to neighbors. All agents share it.
#[derive(Clone, Debug, Default)]
pub struct NeighborScratch {
    search: MeshSearch,
    path: MeshPath,
}

impl Traveler {
    /// Whether the agent is at its goal.
    pub fn has_arrived(&self) -> bool {
        let distance_m = self.at.at_m.distance(self.goal.at_m);
        self.at.terrace == self.goal.terrace && distance_m < ARRIVED_M.max(2.0 * self.radius_m)
    }
}

impl TerraceRoute {
    /// Returns the start and the goal of the route on the mesh. The start is the point of the mesh that is nearest to
    /// the agent: a wave of neighbors may have pushed it off the mesh. The goal is the nearest point to the wanted
    /// position that the agent can reach: in the wanted terrace, or in any terrace if that is `None`. The goal stays
    /// the same while the wanted position moves less than `GOAL_TOLERANCE_M`. `None` if no goal can be reached.
    pub fn place_goal(
        &mut self,
        at: MeshPoint,
        wanted: (Option<u16>, Vec2),
        abilities: &Abilities,
        NavGraph { mesh, links }: NavGraph<'_>,
    ) -> Option<(MeshPoint, MeshPoint)> {
        let is_home = |polygon: u32| mesh.polygon(polygon).terrace == at.terrace;
        let start = match mesh.polygon_at(at.terrace, at.at_m) {
            Some(polygon) => (polygon, at.at_m),
            None => mesh.nearest_point(at.at_m, is_home)?,
        };
        let has_moved = self.wanted.0 != wanted.0
            || self.wanted.1.distance(wanted.1) > GOAL_TOLERANCE_M
            || self.outcome.is_none();
        if has_moved {
            let own = mesh.region(start.0);
            let found = mesh.nearest_point(wanted.1, |polygon| {
                wanted
                    .0
                    .is_none_or(|terrace| mesh.polygon(polygon).terrace == terrace)
                    && links.can_reach(own, mesh.region(polygon), abilities)
            });
            self.placed = found.map(|(polygon, at_m)| MeshPoint {
                terrace: mesh.polygon(polygon).terrace,
                at_m,
            });
            self.wanted = wanted;
        }
        let start = MeshPoint {
            terrace: at.terrace,
            at_m: start.1,
        };
        Some((start, self.placed?))
    }

    /// Advances the age of the path by `dt_secs`, and notices if the agent comes no further. Returns the query of the search that is
    /// needed; the caller must repeat it in every tick until it is answered.
    pub fn needed_search(
        &mut self,
        traveler: &Traveler,
        dt_secs: f32,
    ) -> Option<MeshQuery<'static>> {
        self.age_secs += dt_secs;
        self.blockage = self.blockage.and_then(|one| one.after(dt_secs));
        let refused = self
            .refused
            .map(|(link, left_secs)| (link, left_secs - dt_secs));
        self.refused = refused.filter(|&(_, left_secs)| left_secs > 0.0);
        let at = traveler.at.at_m;
        let target = self.remaining_leg().first().copied();
        // Before a flight, an agent turns, begins its run-up again or waits: it need not come nearer all the time.
        let is_at_link = |target: Vec2| {
            let link = self.path.legs.first().and_then(|leg| leg.link);
            link.is_some() && at.distance(target) < 2.0 * RUN_UP_M
        };
        if let Some(target) = target.filter(|&to| self.has_path && !is_at_link(to))
            && self
                .progress
                .is_stuck(at, target, traveler.radius_m, dt_secs)
        {
            self.blockage = Some(Blockage::ahead(at, target, traveler.radius_m));
            self.reset();
        }
        let is_due = self.outcome.is_none() || self.age_secs >= REPLAN_SECS;
        (is_due && !traveler.has_arrived()).then(|| MeshQuery {
            start: traveler.at,
            goal: traveler.goal,
            abilities: traveler.abilities,
            cooldown_left_secs: traveler.cooldown_left_secs,
            speed_mps: traveler.cruise_mps,
            outlook: self.outlook(traveler),
            refused: self.refused.map(|(link, _)| link),
            costs: <&CostLayer>::default(),
        })
    }

    fn outlook(&self, traveler: &Traveler) -> Outlook {
        Outlook {
            caution: traveler.caution,
            blockage: self.blockage,
        }
    }

    /// Discards the path because the simulation refuses its take-off, and returns the answer. The next search avoids the link, if
    /// there is another way.
    pub fn refuse(&mut self, link: u32, reason: Refusal) -> PathAnswer {
        self.refused = Some((link, REFUSED_SECS));
        self.reset();
        PathAnswer::Refused(reason)
    }

    /// Accepts a search result. Replaces the current path only if the new path is clearly cheaper than the remaining
    /// part of the current one, or if goal, speed or abilities have changed.
    /// `costs` are the current costs of the water: danger that has appeared since the current path was planned counts for both
    /// paths.
    pub fn accept(
        &mut self,
        traveler: &Traveler,
        (query, outcome): (&MeshQuery<'_>, MeshOutcome),
        found: &mut MeshPath,
        (graph, costs): (NavGraph<'_>, &CostLayer),
    ) {
        self.age_secs = 0.0;
        self.outcome = Some(outcome);
        if outcome != MeshOutcome::Found {
            // An agent that was pushed off the mesh keeps its path, so that it can return to it.
            self.has_path &= outcome == MeshOutcome::Outside;
            return;
        }
        if query.start.terrace != traveler.at.terrace {
            // While the search ran, the agent has moved to another terrace.
            self.reset();
            return;
        }
        let is_for_same = (self.goal, self.abilities, self.cruise_mps)
            == (query.goal, query.abilities, query.speed_mps);
        let prices = Prices {
            layer: costs,
            outlook: self.outlook(traveler),
        };
        let rest = self.remaining_cost(traveler, graph, &prices);
        let first = found.legs.first().map_or(0, |leg| leg.end);
        let first_leg = found.points_m.get(..first).unwrap_or_default();
        let new = course_cost(traveler, (found, first_leg), graph, &prices);
        if is_for_same && rest.is_some_and(|rest| new > CLEARLY_CHEAPER * rest) {
            return;
        }
        std::mem::swap(&mut self.path, found);
        self.has_path = true;
        self.goal = query.goal;
        self.abilities = query.abilities;
        self.cruise_mps = query.speed_mps;
        self.round_leg(traveler, graph);
    }

    /// Returns the next movement of the agent.
    pub fn guide(
        &mut self,
        traveler: &Traveler,
        around: (&[NeighborPull], &mut NeighborScratch),
        graph: NavGraph<'_>,
    ) -> PathAnswer {
        if traveler.has_arrived() {
            self.reset();
            return PathAnswer::Arrived(at_height(traveler.goal.at_m, traveler.swim_y_m));
        }
        if !self.has_path {
            // An agent that was pushed off the mesh, or that has no search result yet, does not give up.
            if self.outcome != Some(MeshOutcome::Unreachable) {
                return PathAnswer::NotYet;
            }
            // The next request starts a new search.
            self.outcome = None;
            return PathAnswer::NoPath;
        }
        self.follow(traveler, around, graph)
    }

    /// Outcome of the last search; `None` before the first search and after a reset.
    pub fn outcome(&self) -> Option<MeshOutcome> {
        self.outcome
    }

    /// Points of the current leg that the agent has not passed yet, in floor meters.
    pub fn remaining_leg(&self) -> &[Vec2] {
        self.rounded_leg.get(self.next..).unwrap_or_default()
    }

    /// Discards the path after a landing or at the goal, so that the next search begins at once.
    pub fn reset(&mut self) {
        self.has_path = false;
        self.outcome = None;
    }

    /// Returns the cost of the remaining path. Returns `None` if the agent cannot continue the path from its current
    /// position.
    fn remaining_cost(
        &self,
        traveler: &Traveler,
        graph: NavGraph<'_>,
        prices: &Prices<'_>,
    ) -> Option<f32> {
        let leg = self.path.legs.first().filter(|_| self.has_path)?;
        let target = *self.rounded_leg.get(self.next)?;
        let terrace = traveler.at.terrace;
        if leg.terrace != terrace
            || !graph
                .mesh
                .has_line_of_sight(terrace, traveler.at.at_m, target)
        {
            return None;
        }
        Some(course_cost(
            traveler,
            (&self.path, self.remaining_leg()),
            graph,
            prices,
        ))
    }

    fn round_leg(&mut self, traveler: &Traveler, graph: NavGraph<'_>) {
        self.next = 0;
        let Some(leg) = self.path.legs.first() else {
            return;
        };
        let corners = &self.path.points_m[..leg.end];
        let start_and_corners = (traveler.at.at_m, corners);
        self.rounded_leg.clear();
        self.rounded_leg
            .reserve(CORNER_CAPACITY * POINTS_PER_CORNER);
        let radius_m = 3.0 * traveler.radius_m;
        round_corners(
            graph.mesh,
            leg.terrace,
            start_and_corners,
            radius_m,
            &mut self.rounded_leg,
        );
    }

    /// Whether the numbers are consistent. They may come from a damaged file.
    pub fn is_sound(&self) -> bool {
        let mut points = self.path.points_m.iter().chain(&self.rounded_leg);
        let mut end = 0;
        let has_ordered_legs = self.path.legs.iter().all(|leg| {
            let is_ordered = leg.end >= end && leg.end <= self.path.points_m.len();
            end = leg.end;
            is_ordered && leg.link.is_none_or(|(_, landing)| landing.is_finite())
        });
        has_ordered_legs
            && points.all(|at| at.is_finite())
            && self.next <= self.rounded_leg.len()
            && self.age_secs.is_finite()
            && self.progress.is_sound()
            && self.blockage.is_none_or(|one| one.is_sound())
            && self
                .refused
                .is_none_or(|(_, left_secs)| left_secs.is_finite())
    }

    fn follow(
        &mut self,
        traveler: &Traveler,
        around: (&[NeighborPull], &mut NeighborScratch),
        graph: NavGraph<'_>,
    ) -> PathAnswer {
        let at = traveler.at.at_m;
        let terrace = traveler.at.terrace;
        let reach_m = 1.5 * traveler.radius_m;
        // The agent follows the whole course. If it swam straight to the farthest visible point, it would cut every
        // corner that the course rounds.
        while let (Some(&target), Some(&after)) = (
            self.rounded_leg.get(self.next),
            self.rounded_leg.get(self.next + 1),
        ) {
            let distance_m = at.distance(target);
            let is_behind = (at - target).dot(after - target) >= 0.0;
            let is_near = distance_m <= reach_m.min(target.distance(after));
            let sees_next = || graph.mesh.has_line_of_sight(terrace, at, after);
            if distance_m > THERE_RADII * traveler.radius_m
                && !((is_behind || is_near) && sees_next())
            {
                break;
            }
            self.next += 1;
        }
        let Some(&target) = self.rounded_leg.get(self.next) else {
            return PathAnswer::NoPath;
        };
        let swim_to = |at: Vec2| at_height(at, traveler.swim_y_m);
        let fast_to = |at: Vec2| at_height(at, traveler.top_y_m);
        let is_last = self.next + 1 == self.rounded_leg.len();
        let link = self.path.legs.first().and_then(|leg| leg.link);
        match link.and_then(|(link_index, landing)| {
            Some((link_index, landing, graph.links.get(link_index)?))
        }) {
            Some((link_index, landing, link)) if is_last => {
                let along = (at - target).dot(link.heading);
                let aside = (at - target).perp_dot(link.heading).abs();
                let is_turned = traveler.heading.dot(link.heading) >= link.heading_cos;
                let is_fast = !link.is_leap() || traveler.speed_mps >= traveler.run_up_mps;
                let has_arrived = along > -reach_m - 0.1 && aside < reach_m + 0.1;
                let wait_secs = if link.is_leap() {
                    traveler.cooldown_left_secs
                } else {
                    0.0
                };
                if has_arrived && is_turned && is_fast && wait_secs <= 0.0 {
                    return PathAnswer::TakeOff(link_index, fast_to(landing));
                }
                // An agent that comes from the side first swims to the position where the run-up begins.
                let beginning = target - link.heading * RUN_UP_M;
                if wait_secs * traveler.run_up_mps.max(traveler.cruise_mps) > RUN_UP_M {
                    let calm = graph.mesh.polygon_at(terrace, beginning).map(|_| beginning);
                    return PathAnswer::Wait(swim_to(calm.unwrap_or(at)));
                }
                let is_in_lane = along < 0.0 && aside < 0.5 * -along + reach_m;
                if is_in_lane && (is_turned || along < -0.5 * RUN_UP_M) {
                    PathAnswer::RunUp(fast_to(target + link.heading * RUN_UP_M))
                } else if graph.mesh.polygon_at(terrace, beginning).is_some() {
                    PathAnswer::Swim(swim_to(beginning))
                } else {
                    PathAnswer::RunUp(fast_to(target))
                }
            }
            link => {
                let to = swim_to(pulled_target(traveler, target, around, graph.mesh));
                if is_last && link.is_none() {
                    PathAnswer::SwimToEnd(to)
                } else {
                    PathAnswer::Swim(to)
                }
            }
        }
    }
}

/// Returns the cost of a path from the agent's position. `first_leg` replaces the points of the first leg.
fn course_cost(
    traveler: &Traveler,
    (path, first_leg): (&MeshPath, &[Vec2]),
    graph: NavGraph<'_>,
    prices: &Prices<'_>,
) -> f32 {
    let mut from = traveler.at.at_m;
    let mut cost = 0.0;
    let mut points = first_leg;
    for (index, leg) in path.legs.iter().enumerate() {
        for &to in points {
            cost += prices.of_line(from, to);
            from = to;
        }
        if let Some((link, landing)) = leg.link {
            let secs = graph.links.get(link).map_or(0.0, |link| link.flight_secs);
            let price = (prices.at(from) + prices.at(landing)) / 2.0;
            cost += secs * traveler.cruise_mps * price;
            from = landing;
        }
        let next = path.legs.get(index + 1).map_or(leg.end, |next| next.end);
        points = path.points_m.get(leg.end..next).unwrap_or_default();
    }
    cost
}

/// Returns the next position to swim to: `target`, shifted by the pull of neighbors. A neighbor's pull decreases with
/// the swimming distance to it and acts along the first part of the swimming path to it. The result is always on the
/// mesh.
fn pulled_target(
    traveler: &Traveler,
    target: Vec2,
    (neighbors, scratch): (&[NeighborPull], &mut NeighborScratch),
    mesh: &NavMesh,
) -> Vec2 {
    let at = traveler.at.at_m;
    let own = (target - at).normalize_or_zero();
    let mut direction = own;
    let NeighborScratch { search, path } = scratch;
    for other in neighbors {
        let ends = (traveler.at, other.at);
        if let Some((distance_m, first)) = search.distance_m(mesh, ends, NEIGHBOR_RANGE_M, path) {
            let fading = 1.0 / (1.0 + distance_m / traveler.radius_m.max(1e-3));
            let fading = fading * (1.0 - distance_m / NEIGHBOR_RANGE_M);
            let toward = (first - at).normalize_or_zero();
            direction += toward * (other.pull * NEIGHBOR_WEIGHT * fading);
        }
    }
    let reach_m = at.distance(target).min(0.5);
    let moved = at + direction.normalize_or(own) * reach_m;
    if neighbors.is_empty()
        || direction.dot(own) <= 0.0
        || !mesh.has_line_of_sight(traveler.at.terrace, at, moved)
    {
        return target;
    }
    moved
}

/// The position at a horizontal place and a height.
fn at_height(at: Vec2, y_m: f32) -> Vec3 {
    Vec3::new(at.x, y_m, at.y)
}

#[cfg(test)]
mod tests;
