//! A* over the polygons of a mesh and its links, with costs for danger and desire.
//!
//! In: a start, a goal, what the swimmer can do. Out: a path in legs between leaps. What cannot be reached is known before
//! anything is searched. A search in slices finds the same path as one in one go.
//! **Source**: 5-navigation.md part C; 004 sections 7.2 to 7.5.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::funnel::straighten;
use super::links::{Abilities, Links};
use super::surface::{NOWHERE, NavMesh};

/// A path has room for so many corners from the beginning; only longer ones take memory later.
pub(super) const CORNERS: usize = 32;
/// No link.
const NO_LINK: u32 = u32::MAX;

/// Where somebody is on the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The terrace.
    pub terrace: u16,
    /// (x, z).
    pub at_m: Vec2,
}

/// What is sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query<'a> {
    /// From where.
    pub start: Place,
    /// To where.
    pub goal: Place,
    /// What the swimmer can do.
    pub abilities: Abilities,
    /// How long until it can leap again.
    pub cooldown_left_secs: f32,
    /// How fast it swims.
    pub speed_mps: f32,
    /// For every polygon what a meter in it costs: above 1 where it is dangerous, below where it is desired. Empty: 1.
    #[serde(skip)]
    pub costs: &'a [f32],
}

/// A stretch of a path that is swum without leaving the water.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leg {
    /// The terrace.
    pub terrace: u16,
    /// Its last point's place in [`MeshPath::points_m`], plus one.
    pub end: usize,
    /// The link that is taken from its last point, and where that lands.
    pub link: Option<(u32, Vec2)>,
}

/// A path: corners without the start, in legs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshPath {
    /// All legs' corners.
    pub points_m: Vec<Vec2>,
    /// The legs.
    pub legs: Vec<Leg>,
    /// What it costs; its length in meters where all costs are 1.
    pub cost: f32,
}

impl MeshPath {
    /// Length of what is swum from a start.
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

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is a path.
    Found,
    /// There is none, known without a search.
    Unreachable,
    /// There is none as long as the leap is not ready.
    NotNow,
    /// Start or goal lie outside the mesh.
    Outside,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    generation: u32,
    is_closed: bool,
    cost: f32,
    /// Meters swum and flown so far, without danger or desire.
    way_m: f32,
    /// The leap is ready when so many meters are behind.
    ready_m: f32,
    entry: Vec2,
    from: u32,
    link: u32,
}

/// A search with its memory, which the next search uses again. What is written of it is enough to do it once more as far as
/// it has come, see [`MeshSearch::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshSearch {
    query: Query<'static>,
    /// What polygons cost, as it was when the search began.
    costs: Vec<f32>,
    expanded: u32,
    #[serde(skip)]
    ends: (u32, u32),
    #[serde(skip)]
    estimate: Estimate,
    /// What costs more is not looked at.
    #[serde(skip)]
    limit: f32,
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
    /// Polygons expanded by the last search.
    pub fn expanded(&self) -> u32 {
        self.expanded
    }

    /// What the search was begun with, costs aside.
    pub fn query(&self) -> &Query<'static> {
        &self.query
    }

    /// Finds a path in one go.
    pub fn find(
        &mut self,
        mesh: &NavMesh,
        links: &Links,
        query: &Query<'_>,
        path: &mut MeshPath,
    ) -> Outcome {
        let begun = self.begin(mesh, links, query);
        let outcome = begun.or_else(|| self.advance(mesh, links, &mut u32::MAX.clone()));
        self.path(mesh, links, path);
        outcome.unwrap_or(Outcome::NotNow)
    }

    /// How far it is to swim from one place to another, and where the way goes first; `None` when it is farther than `most_m`
    /// or cannot be swum to. Nothing beyond `most_m` is looked at.
    pub fn distance_m(
        &mut self,
        mesh: &NavMesh,
        (from, to): (Place, Place),
        most_m: f32,
        path: &mut MeshPath,
    ) -> Option<(f32, Vec2)> {
        if from.terrace != to.terrace || from.at_m.distance(to.at_m) > most_m {
            return None;
        }
        if mesh.sees(from.terrace, from.at_m, to.at_m) {
            return Some((from.at_m.distance(to.at_m), to.at_m));
        }
        let links = Links::default();
        let query = Query {
            start: from,
            goal: to,
            ..Query::default()
        };
        if self.begin(mesh, &links, &query).is_none() {
            self.limit = most_m;
            self.advance(mesh, &links, &mut u32::MAX.clone());
        }
        self.path(mesh, &links, path);
        let length_m = path.length_m(from.at_m) as f32;
        let first = *path.points_m.first()?;
        (length_m <= most_m).then_some((length_m, first))
    }

    /// Begins a search; `None` when it has to be gone on with.
    pub fn begin(&mut self, mesh: &NavMesh, links: &Links, query: &Query<'_>) -> Option<Outcome> {
        self.query = Query {
            costs: &[],
            ..*query
        };
        self.costs.clear();
        self.costs.extend_from_slice(query.costs);
        self.prepare(mesh, links)
    }

    /// Brings a search that was saved to where it was.
    pub fn resume(&mut self, mesh: &NavMesh, links: &Links) {
        let mut expanded = self.expanded;
        if self.prepare(mesh, links).is_none() {
            self.advance(mesh, links, &mut expanded);
        }
    }

    fn prepare(&mut self, mesh: &NavMesh, links: &Links) -> Option<Outcome> {
        self.expanded = 0;
        self.ends = (NOWHERE, NOWHERE);
        self.limit = f32::INFINITY;
        self.open.clear();
        let query = self.query;
        let start = mesh.find(query.start.terrace, query.start.at_m);
        let goal = mesh.find(query.goal.terrace, query.goal.at_m);
        let (Some(start), Some(goal)) = (start, goal) else {
            return Some(Outcome::Outside);
        };
        if !links.can_reach(mesh.area(start), mesh.area(goal), &query.abilities) {
            return Some(Outcome::Unreachable);
        }
        self.ends = (start, goal);
        self.nodes.resize(mesh.len(), Node::default());
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.nodes.fill(Node::default());
            self.generation = 1;
        }
        self.estimate = Estimate::new(links, &query, &self.costs);
        self.nodes[start as usize] = Node {
            generation: self.generation,
            ready_m: query.cooldown_left_secs.max(0.0) * query.speed_mps.max(1e-3),
            entry: query.start.at_m,
            from: NOWHERE,
            link: NO_LINK,
            ..Node::default()
        };
        self.open.push(Reverse((0, start)));
        None
    }

    /// Goes on for at most `budget` expansions and takes what it used from it; `None` when it has to be gone on with. Mesh
    /// and links are those that it was begun with.
    pub fn advance(&mut self, mesh: &NavMesh, links: &Links, budget: &mut u32) -> Option<Outcome> {
        // The costs are lent to the loop.
        let costs = std::mem::take(&mut self.costs);
        let query = Query {
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
        links: &Links,
        query: &Query<'_>,
        budget: &mut u32,
    ) -> Option<Outcome> {
        let goal = self.ends.1;
        let speed_mps = query.speed_mps.max(1e-3);
        while *budget > 0 {
            let Some(Reverse((_, place))) = self.open.pop() else {
                self.ends = (NOWHERE, NOWHERE);
                return Some(Outcome::NotNow);
            };
            let node = self.nodes[place as usize];
            if node.is_closed {
                continue;
            }
            if place == goal {
                return Some(Outcome::Found);
            }
            self.nodes[place as usize].is_closed = true;
            self.expanded += 1;
            *budget -= 1;
            let price = cost_at(query.costs, place);
            for (a, b, next) in mesh.edges(place) {
                if next == NOWHERE || next == node.from {
                    continue;
                }
                let entry = crossing(node.entry, query.goal.at_m, a, b);
                let way_m = node.entry.distance(entry);
                let new = Node {
                    generation: self.generation,
                    is_closed: false,
                    cost: node.cost + way_m * price,
                    way_m: node.way_m + way_m,
                    ready_m: node.ready_m,
                    entry,
                    from: place,
                    link: NO_LINK,
                };
                self.relax(next, new, query);
            }
            for (number, link) in links.from_polygon(place) {
                let to_start_m = node.entry.distance(nearest(link.start, node.entry));
                let at_m = node.way_m + to_start_m;
                if !link.is_possible(&query.abilities) || (link.is_leap() && at_m < node.ready_m) {
                    continue;
                }
                let flight_m = link.flight_secs * speed_mps;
                let way_m = at_m + flight_m;
                let ready_m = if link.is_leap() {
                    way_m + query.abilities.leap_cooldown_secs * speed_mps
                } else {
                    node.ready_m
                };
                let new = Node {
                    generation: self.generation,
                    is_closed: false,
                    cost: node.cost + to_start_m * price + flight_m,
                    way_m,
                    ready_m,
                    entry: link.landing_of(nearest(link.start, node.entry)),
                    from: place,
                    link: number,
                };
                self.relax(link.to, new, query);
            }
        }
        None
    }

    fn relax(&mut self, place: u32, new: Node, query: &Query<'_>) {
        let old = &mut self.nodes[place as usize];
        if old.generation == self.generation && (old.is_closed || old.cost <= new.cost) {
            return;
        }
        let rest = if place == self.ends.1 {
            new.entry.distance(query.goal.at_m) * cost_at(query.costs, place)
        } else {
            self.estimate.cost(new.entry)
        };
        if new.cost + rest > self.limit {
            return;
        }
        *old = new;
        // Bits of positive numbers are ordered as the numbers are.
        let key = (new.cost + rest).max(0.0).to_bits();
        self.open.push(Reverse((key, place)));
    }

    /// Fills in the path that was found, straightened leg by leg; empty where there is none. Call it when the search has ended.
    pub fn path(&mut self, mesh: &NavMesh, links: &Links, path: &mut MeshPath) {
        path.points_m.clear();
        path.legs.clear();
        let (start, goal) = self.ends;
        let is_found = |node: &Node| node.generation == self.generation;
        let Some(last) = self.nodes.get(goal as usize).copied().filter(is_found) else {
            return;
        };
        path.points_m.reserve(CORNERS);
        path.legs.reserve(CORNERS);
        let query = self.query;
        path.cost = last.cost + last.entry.distance(query.goal.at_m) * cost_at(&self.costs, goal);
        self.trail.clear();
        let mut place = goal;
        while place != start {
            self.trail.push(place);
            place = self.nodes[place as usize].from;
        }
        let mut from = query.start.at_m;
        let mut before = start;
        self.portals.clear();
        for step in (0..self.trail.len()).rev() {
            let place = self.trail[step];
            let node = self.nodes[place as usize];
            if node.link == NO_LINK {
                self.portals.extend(mesh.portal(before, place));
            } else if let Some(link) = links.get(node.link) {
                // The start of a leap lies where the search came from, its landing where it went on.
                let leaving = nearest(link.start, self.nodes[before as usize].entry);
                self.close_leg(mesh.polygon(before).terrace, from, leaving, path);
                if let Some(leg) = path.legs.last_mut() {
                    leg.link = Some((node.link, node.entry));
                }
                from = node.entry;
            }
            before = place;
        }
        self.close_leg(query.goal.terrace, from, query.goal.at_m, path);
    }

    fn close_leg(&mut self, terrace: u16, from: Vec2, to: Vec2, path: &mut MeshPath) {
        straighten(from, to, &self.portals, &mut self.corners);
        self.portals.clear();
        path.points_m.extend_from_slice(&self.corners);
        path.legs.push(Leg {
            terrace,
            end: path.points_m.len(),
            link: None,
        });
    }
}

/// A lower bound of the cost that is left: the distance at the lowest price of all, less what a link may save.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    goal: Vec2,
    price: f32,
}

impl Estimate {
    fn new(links: &Links, query: &Query<'_>, costs: &[f32]) -> Self {
        let cheapest = costs.iter().copied().fold(1.0, f32::min).max(0.0);
        // A flight may cover more ground than it costs.
        let flown = links.least_cost_of_a_meter(query.speed_mps.max(1e-3));
        Self {
            goal: query.goal.at_m,
            price: cheapest.min(flown),
        }
    }

    fn cost(&self, at: Vec2) -> f32 {
        at.distance(self.goal) * self.price
    }
}

fn cost_at(costs: &[f32], place: u32) -> f32 {
    costs.get(place as usize).copied().unwrap_or(1.0).max(0.0)
}

/// Where the way from one point to another should cross an edge: the point of the edge over which it is shortest.
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
    crate::navigation::footprint::nearest_on(a, b, at)
}
