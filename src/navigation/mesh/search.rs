//! A* over the polygons of a mesh and its links. The cost layer makes dangerous and crowded water dearer. A leap that is not ready
//! costs the time until it is.
//!
//! In: a start, a goal, abilities. Out: a path in legs between leaps. If the goal is unreachable, no search is needed
//! to detect this. A search can continue over several ticks; it finds the same path as an uninterrupted one.
//! **Source**: Lischka 2014, §7.2 to §7.5.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::funnel::funnel_path;
use super::links::{Abilities, MeshLinks};
use super::surface::{NO_POLYGON, NavMesh};
use crate::navigation::costs::{CostLayer, Outlook, Prices};

/// Initial capacity of a path, in corners. Only a path with more corners allocates memory again.
pub(super) const CORNER_CAPACITY: usize = 32;
/// Additional cost of a link whose last take-off was refused, in meters: another way is better, if there is one.
const REFUSED_COST_M: f32 = 5.0;
/// Link index of a node that the search did not reach through a link.
const NO_LINK: u32 = u32::MAX;

/// A position on a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshPoint {
    /// Index of the terrace.
    pub terrace: u16,
    /// Position, (x, z).
    pub at_m: Vec2,
}

/// A path query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshQuery<'a> {
    /// Start of the path.
    pub start: MeshPoint,
    /// End of the path.
    pub goal: MeshPoint,
    /// Abilities of the agent.
    pub abilities: Abilities,
    /// Remaining time until the agent can leap again.
    pub cooldown_left_secs: f32,
    /// Speed at which the agent swims.
    pub speed_mps: f32,
    /// What differs for this agent in the costs of the water.
    pub outlook: Outlook,
    /// The link at which the last take-off was refused, if that was not long ago.
    pub refused: Option<u32>,
    /// Costs of the water.
    #[serde(skip)]
    pub costs: &'a CostLayer,
}

impl<'a> MeshQuery<'a> {
    fn prices(&self) -> Prices<'a> {
        Prices {
            layer: self.costs,
            outlook: self.outlook,
        }
    }
}

/// The part of a path between two flights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathLeg {
    /// Index of the terrace.
    pub terrace: u16,
    /// Index after the last point of the leg in [`MeshPath::points_m`].
    pub end: usize,
    /// The link that the agent takes at the last point of the leg, and the landing position. `None` for the last leg.
    pub link: Option<(u32, Vec2)>,
}

/// A path: its corners without the start, divided into legs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshPath {
    /// Corners of all legs.
    pub points_m: Vec<Vec2>,
    /// Legs in order.
    pub legs: Vec<PathLeg>,
    /// Cost of the path; equal to its length in meters if all costs are 1.
    pub cost: f32,
}

impl MeshPath {
    /// Returns the length of all legs, in meters, for a path from `start`. Flights are not included.
    pub fn length_m(&self, start: Vec2) -> f64 {
        let (mut from, mut length, mut first) = (start, 0.0, 0);
        for leg in &self.legs {
            for &to in &self.points_m[first..leg.end] {
                length += from.as_dvec2().distance(to.as_dvec2());
                from = to;
            }
            if let Some((_, landing)) = leg.link {
                from = landing;
            }
            first = leg.end;
        }
        length
    }
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeshOutcome {
    /// A path was found.
    Found,
    /// No path exists.
    Unreachable,
    /// Start or goal is outside the mesh.
    Outside,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    generation: u32,
    is_closed: bool,
    cost: f32,
    /// Distance that the agent has swum and flown from the start to this node, in meters; time for which it waits counts as the
    /// distance that it swims in it. It does not depend on the costs of the water.
    distance_m: f32,
    /// Distance along the path from the start at which the agent can leap again, in meters.
    ready_m: f32,
    entry: Vec2,
    from: u32,
    link: u32,
}

/// A search and its working memory. The next search reuses this memory. The serialized fields are enough to repeat the
/// search up to the saved number of expansions, see [`MeshSearch::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshSearch {
    query: MeshQuery<'static>,
    /// Costs of the water, as they were when the search began.
    costs: CostLayer,
    expanded: u32,
    #[serde(skip)]
    ends: (u32, u32),
    #[serde(skip)]
    estimate: Estimate,
    /// Upper limit of the cost. The search ignores paths of higher cost.
    #[serde(skip)]
    cost_limit: f32,
    #[serde(skip)]
    nodes: Vec<Node>,
    #[serde(skip)]
    generation: u32,
    #[serde(skip)]
    open: BinaryHeap<Reverse<(u32, u32)>>,
    #[serde(skip)]
    trail: Vec<u32>,
    #[serde(skip)]
    portals: Vec<(Vec2, Vec2)>,
    #[serde(skip)]
    corners: Vec<Vec2>,
}

impl MeshSearch {
    /// Number of polygons that the last search has expanded.
    pub fn expanded(&self) -> u32 {
        self.expanded
    }

    /// The query of the current search, without costs.
    pub fn query(&self) -> &MeshQuery<'static> {
        &self.query
    }

    /// Finds a path without interruption.
    pub fn find_path(
        &mut self,
        mesh: &NavMesh,
        links: &MeshLinks,
        query: &MeshQuery<'_>,
        path: &mut MeshPath,
    ) -> MeshOutcome {
        let begun = self.begin(mesh, links, query);
        let outcome = begun.or_else(|| self.advance(mesh, links, &mut u32::MAX.clone()));
        self.path(mesh, links, path);
        outcome.unwrap_or(MeshOutcome::Unreachable)
    }

    /// Returns the swimming distance between two points, and the first corner of the path between them. Returns `None`
    /// if the distance is more than `max_m` or no path exists. The search stops at `max_m`.
    pub fn distance_m(
        &mut self,
        mesh: &NavMesh,
        (from, to): (MeshPoint, MeshPoint),
        max_m: f32,
        path: &mut MeshPath,
    ) -> Option<(f32, Vec2)> {
        if from.terrace != to.terrace || from.at_m.distance(to.at_m) > max_m {
            return None;
        }
        if mesh.has_line_of_sight(from.terrace, from.at_m, to.at_m) {
            return Some((from.at_m.distance(to.at_m), to.at_m));
        }
        let links = MeshLinks::default();
        let query = MeshQuery {
            start: from,
            goal: to,
            ..MeshQuery::default()
        };
        if self.begin(mesh, &links, &query).is_none() {
            self.cost_limit = max_m;
            self.advance(mesh, &links, &mut u32::MAX.clone());
        }
        self.path(mesh, &links, path);
        let length_m = path.length_m(from.at_m) as f32;
        let first = *path.points_m.first()?;
        (length_m <= max_m).then_some((length_m, first))
    }

    /// Begins a search. Returns the outcome if no expansion is needed, or `None` if [`Self::advance`] must continue the
    /// search.
    pub fn begin(
        &mut self,
        mesh: &NavMesh,
        links: &MeshLinks,
        query: &MeshQuery<'_>,
    ) -> Option<MeshOutcome> {
        self.query = MeshQuery {
            costs: <&CostLayer>::default(),
            ..*query
        };
        self.costs.copy_from(query.costs);
        self.prepare(mesh, links)
    }

    /// Restores the search after a saved state was loaded: repeats it up to the saved number of expansions.
    pub fn resume(&mut self, mesh: &NavMesh, links: &MeshLinks) {
        let mut expanded = self.expanded;
        if self.prepare(mesh, links).is_none() {
            self.advance(mesh, links, &mut expanded);
        }
    }

    fn prepare(&mut self, mesh: &NavMesh, links: &MeshLinks) -> Option<MeshOutcome> {
        self.expanded = 0;
        self.ends = (NO_POLYGON, NO_POLYGON);
        self.cost_limit = f32::INFINITY;
        self.open.clear();
        let query = self.query;
        let start = mesh.polygon_at(query.start.terrace, query.start.at_m);
        let goal = mesh.polygon_at(query.goal.terrace, query.goal.at_m);
        let (Some(start), Some(goal)) = (start, goal) else {
            return Some(MeshOutcome::Outside);
        };
        if !links.can_reach(mesh.region(start), mesh.region(goal), &query.abilities) {
            return Some(MeshOutcome::Unreachable);
        }
        self.ends = (start, goal);
        self.nodes.resize(mesh.len(), Node::default());
        // A path visits each polygon at most once, so no later step of the search allocates memory.
        self.trail.clear();
        self.trail.reserve(mesh.len());
        self.portals.clear();
        self.portals.reserve(mesh.len());
        self.corners.clear();
        self.corners.reserve(mesh.len() + 2);
        // A polygon is pushed again each time a cheaper way to it is found.
        self.open.reserve(4 * mesh.len());
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.nodes.fill(Node::default());
            self.generation = 1;
        }
        let prices = Prices {
            layer: &self.costs,
            outlook: query.outlook,
        };
        self.estimate = Estimate::new(links, &query, &prices);
        self.nodes[start as usize] = Node {
            generation: self.generation,
            ready_m: query.cooldown_left_secs.max(0.0) * query.speed_mps.max(1e-3),
            entry: query.start.at_m,
            from: NO_POLYGON,
            link: NO_LINK,
            ..Node::default()
        };
        self.open.push(Reverse((0, start)));
        None
    }

    /// Continues the search for at most `budget` expansions and subtracts the used ones from `budget`. Returns `None`
    /// if the search is unfinished. `mesh` and `links` must be the same as in [`Self::begin`].
    pub fn advance(
        &mut self,
        mesh: &NavMesh,
        links: &MeshLinks,
        budget: &mut u32,
    ) -> Option<MeshOutcome> {
        // The costs are moved out of `self`, because the loop borrows them while it changes `self`.
        let costs = std::mem::take(&mut self.costs);
        let query = MeshQuery {
            costs: &costs,
            ..self.query
        };
        let outcome = self.expand(mesh, links, &query, budget);
        self.costs = costs;
        outcome
    }

    fn expand(
        &mut self,
        mesh: &NavMesh,
        links: &MeshLinks,
        query: &MeshQuery<'_>,
        budget: &mut u32,
    ) -> Option<MeshOutcome> {
        let goal = self.ends.1;
        let speed_mps = query.speed_mps.max(1e-3);
        let prices = query.prices();
        while *budget > 0 {
            let Some(Reverse((_, polygon))) = self.open.pop() else {
                self.ends = (NO_POLYGON, NO_POLYGON);
                return Some(MeshOutcome::Unreachable);
            };
            let node = self.nodes[polygon as usize];
            if node.is_closed {
                continue;
            }
            if polygon == goal {
                return Some(MeshOutcome::Found);
            }
            self.nodes[polygon as usize].is_closed = true;
            self.expanded += 1;
            *budget -= 1;
            for (a, b, next) in mesh.edges(polygon) {
                if next == NO_POLYGON || next == node.from {
                    continue;
                }
                let entry = crossing(node.entry, query.goal.at_m, a, b);
                let distance_m = node.entry.distance(entry);
                let new = Node {
                    generation: self.generation,
                    is_closed: false,
                    cost: node.cost + prices.of_line(node.entry, entry),
                    distance_m: node.distance_m + distance_m,
                    ready_m: node.ready_m,
                    entry,
                    from: polygon,
                    link: NO_LINK,
                };
                self.relax(next, new, query);
            }
            for (index, link) in links.from_polygon(polygon) {
                if !link.is_possible(&query.abilities) {
                    continue;
                }
                let start = nearest(link.start, node.entry);
                let landing = link.landing_of(start);
                let to_start_m = node.entry.distance(start);
                let at_m = node.distance_m + to_start_m;
                let wait_m = if link.is_leap() {
                    (node.ready_m - at_m).max(0.0)
                } else {
                    0.0
                };
                let flight_m = link.flight_secs * speed_mps;
                let distance_m = at_m + wait_m + flight_m;
                // What frightens at the take-off or at the landing makes the whole flight dear.
                let flight_cost = flight_m * (prices.at(start) + prices.at(landing)) / 2.0;
                let refused_m = if query.refused == Some(index) {
                    REFUSED_COST_M
                } else {
                    0.0
                };
                let ready_m = if link.is_leap() {
                    distance_m + query.abilities.leap_cooldown_secs * speed_mps
                } else {
                    node.ready_m
                };
                let new = Node {
                    generation: self.generation,
                    is_closed: false,
                    cost: node.cost
                        + prices.of_line(node.entry, start)
                        + wait_m
                        + flight_cost
                        + refused_m,
                    distance_m,
                    ready_m,
                    entry: landing,
                    from: polygon,
                    link: index,
                };
                self.relax(link.to, new, query);
            }
        }
        None
    }

    fn relax(&mut self, polygon: u32, new: Node, query: &MeshQuery<'_>) {
        let old = &mut self.nodes[polygon as usize];
        if old.generation == self.generation && (old.is_closed || old.cost <= new.cost) {
            return;
        }
        let remaining = if polygon == self.ends.1 {
            query.prices().of_line(new.entry, query.goal.at_m)
        } else {
            self.estimate.cost(new.entry)
        };
        if new.cost + remaining > self.cost_limit {
            return;
        }
        *old = new;
        // The bit patterns of positive floats have the same order as their values.
        let key = (new.cost + remaining).max(0.0).to_bits();
        self.open.push(Reverse((key, polygon)));
    }

    /// Writes the path of a finished search to `path`. Each leg is straightened. `path` is empty if no path was found.
    pub fn path(&mut self, mesh: &NavMesh, links: &MeshLinks, path: &mut MeshPath) {
        path.points_m.clear();
        path.legs.clear();
        let (start, goal) = self.ends;
        let is_found = |node: &Node| node.generation == self.generation;
        let Some(last) = self.nodes.get(goal as usize).copied().filter(is_found) else {
            return;
        };
        path.points_m.reserve(CORNER_CAPACITY);
        path.legs.reserve(CORNER_CAPACITY);
        let query = self.query;
        let prices = Prices {
            layer: &self.costs,
            outlook: query.outlook,
        };
        path.cost = last.cost + prices.of_line(last.entry, query.goal.at_m);
        self.trail.clear();
        let mut polygon = goal;
        while polygon != start {
            self.trail.push(polygon);
            polygon = self.nodes[polygon as usize].from;
        }
        let mut from = query.start.at_m;
        let mut before = start;
        self.portals.clear();
        for step in (0..self.trail.len()).rev() {
            let polygon = self.trail[step];
            let node = self.nodes[polygon as usize];
            if node.link == NO_LINK {
                self.portals.extend(mesh.portal(before, polygon));
            } else if let Some(link) = links.get(node.link) {
                // A flight starts at that point of its start line that is nearest to the point at which the search
                // entered the polygon.
                let take_off = nearest(link.start, self.nodes[before as usize].entry);
                self.close_leg(mesh.polygon(before).terrace, from, take_off, path);
                if let Some(leg) = path.legs.last_mut() {
                    leg.link = Some((node.link, node.entry));
                }
                from = node.entry;
            }
            before = polygon;
        }
        self.close_leg(query.goal.terrace, from, query.goal.at_m, path);
    }

    fn close_leg(&mut self, terrace: u16, from: Vec2, to: Vec2, path: &mut MeshPath) {
        funnel_path(from, to, &self.portals, &mut self.corners);
        self.portals.clear();
        path.points_m.extend_from_slice(&self.corners);
        path.legs.push(PathLeg {
            terrace,
            end: path.points_m.len(),
            link: None,
        });
    }
}

/// Parameters of the lower bound of the remaining cost: the distance to the goal times the lowest cost per meter of all
/// polygons and flights.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    goal: Vec2,
    cost_per_m: f32,
}

impl Estimate {
    fn new(links: &MeshLinks, query: &MeshQuery<'_>, prices: &Prices<'_>) -> Self {
        // A flight may cost less per meter than swimming.
        let least_flight_cost = links.least_cost_per_m(query.speed_mps.max(1e-3));
        Self {
            goal: query.goal.at_m,
            cost_per_m: prices.least() * least_flight_cost,
        }
    }

    fn cost(&self, at: Vec2) -> f32 {
        at.distance(self.goal) * self.cost_per_m
    }
}

/// Returns the point of the edge from `a` to `b` at which the shortest path between two points crosses this edge.
fn crossing(from: Vec2, to: Vec2, a: Vec2, b: Vec2) -> Vec2 {
    let along = b - a;
    let square = along.length_squared().max(f32::MIN_POSITIVE);
    let (p, q) = ((from - a).dot(along), (to - a).dot(along));
    let (d, e) = (
        (from - a).perp_dot(along).abs(),
        (to - a).perp_dot(along).abs(),
    );
    let t = if d + e > 0.0 {
        p + (q - p) * d / (d + e)
    } else {
        p
    };
    a + along * (t / square).clamp(0.0, 1.0)
}

fn nearest((a, b): (Vec2, Vec2), at: Vec2) -> Vec2 {
    crate::geometry::nearest_on_edge(a, b, at)
}
