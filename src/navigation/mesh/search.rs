//! A* over the polygons of a mesh and its links, with costs for danger and desire.
//!
//! In: a start, a goal, what the swimmer can do. Out: a path in legs between leaps. What cannot be reached is known before
//! anything is searched. **Source**: 5-navigation.md part C; 004 sections 7.2 to 7.5.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec2;

use super::funnel::straighten;
use super::links::{Abilities, Links};
use super::surface::{NOWHERE, NavMesh};

/// No link.
const NO_LINK: u32 = u32::MAX;

/// Where somebody is on the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// The terrace.
    pub terrace: u16,
    /// (x, z).
    pub at_m: Vec2,
}

/// What is sought.
#[derive(Clone, Copy, Debug)]
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
    pub costs: &'a [f32],
}

/// A stretch of a path that is swum without leaving the water.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leg {
    /// The terrace.
    pub terrace: u16,
    /// Its last point's place in [`MeshPath::points_m`], plus one.
    pub end: usize,
    /// The link that is taken from its last point, and where that lands.
    pub link: Option<(u32, Vec2)>,
}

/// A path: corners without the start, in legs.
#[derive(Clone, Debug, Default, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A search's memory, used again by the next.
#[derive(Clone, Debug, Default)]
pub struct MeshSearch {
    nodes: Vec<Node>,
    generation: u32,
    open: BinaryHeap<Reverse<(u32, u32)>>,
    trail: Vec<u32>,
    portals: Vec<(Vec2, Vec2)>,
    corners: Vec<Vec2>,
    expanded: u64,
}

impl MeshSearch {
    /// Polygons expanded by the last search.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Finds a path.
    pub fn find(
        &mut self,
        mesh: &NavMesh,
        links: &Links,
        query: &Query<'_>,
        path: &mut MeshPath,
    ) -> Outcome {
        path.points_m.clear();
        path.legs.clear();
        self.expanded = 0;
        let start = mesh.find(query.start.terrace, query.start.at_m);
        let goal = mesh.find(query.goal.terrace, query.goal.at_m);
        let (Some(start), Some(goal)) = (start, goal) else {
            return Outcome::Outside;
        };
        if !links.can_reach(mesh.area(start), mesh.area(goal), &query.abilities) {
            return Outcome::Unreachable;
        }
        if !self.search(mesh, links, query, (start, goal)) {
            return Outcome::NotNow;
        }
        path.cost = self.nodes[goal as usize].cost
            + self.nodes[goal as usize].entry.distance(query.goal.at_m) * cost_at(query, goal);
        self.draw(mesh, links, query, (start, goal), path);
        Outcome::Found
    }

    fn search(
        &mut self,
        mesh: &NavMesh,
        links: &Links,
        query: &Query<'_>,
        (start, goal): (u32, u32),
    ) -> bool {
        self.nodes.resize(mesh.len(), Node::default());
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.nodes.fill(Node::default());
            self.generation = 1;
        }
        self.open.clear();
        let estimate = Estimate::new(links, query);
        let speed_mps = query.speed_mps.max(1e-3);
        self.nodes[start as usize] = Node {
            generation: self.generation,
            ready_m: query.cooldown_left_secs.max(0.0) * speed_mps,
            entry: query.start.at_m,
            from: NOWHERE,
            link: NO_LINK,
            ..Node::default()
        };
        self.open.push(Reverse((0, start)));
        while let Some(Reverse((_, place))) = self.open.pop() {
            let node = self.nodes[place as usize];
            if node.is_closed {
                continue;
            }
            if place == goal {
                return true;
            }
            self.nodes[place as usize].is_closed = true;
            self.expanded += 1;
            let price = cost_at(query, place);
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
                self.relax(next, new, goal, query, &estimate);
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
                self.relax(link.to, new, goal, query, &estimate);
            }
        }
        false
    }

    fn relax(&mut self, place: u32, new: Node, goal: u32, query: &Query<'_>, estimate: &Estimate) {
        let old = &mut self.nodes[place as usize];
        if old.generation == self.generation && (old.is_closed || old.cost <= new.cost) {
            return;
        }
        *old = new;
        let rest = if place == goal {
            new.entry.distance(query.goal.at_m) * cost_at(query, goal)
        } else {
            estimate.cost(new.entry)
        };
        // Bits of positive numbers are ordered as the numbers are.
        let key = (new.cost + rest).max(0.0).to_bits();
        self.open.push(Reverse((key, place)));
    }

    /// Follows the search back and straightens each leg.
    fn draw(
        &mut self,
        mesh: &NavMesh,
        links: &Links,
        query: &Query<'_>,
        (start, goal): (u32, u32),
        path: &mut MeshPath,
    ) {
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
struct Estimate {
    goal: Vec2,
    price: f32,
}

impl Estimate {
    fn new(links: &Links, query: &Query<'_>) -> Self {
        let cheapest = query.costs.iter().copied().fold(1.0, f32::min).max(0.0);
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

fn cost_at(query: &Query<'_>, place: u32) -> f32 {
    query
        .costs
        .get(place as usize)
        .copied()
        .unwrap_or(1.0)
        .max(0.0)
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
