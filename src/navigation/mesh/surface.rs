//! The mesh itself: convex polygons, who is beside whom, and where a point lies.
//!
//! In: corners and rings. Out: polygons by place, by point. Must not: know how it was made.

use std::collections::BTreeMap;

use glam::Vec2;
use thiserror::Error;

/// No polygon.
pub const NOWHERE: u32 = u32::MAX;
/// How far outside a polygon a point may lie and still count as in it, against rounding.
const EDGE_M: f32 = 1e-4;

/// Convex polygons that touch in whole edges, on terraces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NavMesh {
    vertices: Vec<Vec2>,
    polygons: Vec<Polygon>,
    /// All polygons' corners, counterclockwise from +x towards +z.
    corners: Vec<u32>,
    /// Across the edge from each corner to the next; [`NOWHERE`] at the border.
    across: Vec<u32>,
    /// The connected area of each polygon.
    areas: Vec<u32>,
    area_count: u32,
    buckets: Buckets,
}

/// One convex polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    first: u32,
    end: u32,
    /// The terrace that it lies on.
    pub terrace: u16,
    /// Mean of its corners.
    pub middle: Vec2,
}

/// Why a mesh is none.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// A ring names a vertex that is not there, or has fewer than three corners, or is not convex.
    #[error("polygon {polygon} (counted from 0) {reason}")]
    Polygon {
        /// Its place.
        polygon: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// More than two polygons share an edge.
    #[error("the edge between the vertices {a} and {b} belongs to more than two polygons")]
    Edge {
        /// One end.
        a: u32,
        /// The other.
        b: u32,
    },
    /// The triangulation failed.
    #[error("the water cannot be triangulated: {reason}")]
    Triangulation {
        /// What it said.
        reason: String,
    },
}

/// Which polygons lie in which square of the plane.
#[derive(Clone, Debug, Default, PartialEq)]
struct Buckets {
    low: Vec2,
    per_m: f32,
    width: usize,
    height: usize,
    starts: Vec<u32>,
    polygons: Vec<u32>,
}

impl NavMesh {
    /// Puts polygons together. Each ring lists its corners, either way round, with its terrace.
    ///
    /// # Errors
    /// When a ring is broken or an edge belongs to more than two polygons.
    pub fn new(vertices: Vec<Vec2>, rings: &[(Vec<u32>, u16)]) -> Result<Self, MeshError> {
        let mut mesh = Self {
            vertices,
            ..Self::default()
        };
        for (polygon, (ring, terrace)) in rings.iter().enumerate() {
            mesh.push(ring, *terrace)
                .map_err(|reason| MeshError::Polygon { polygon, reason })?;
        }
        mesh.join()?;
        mesh.flood();
        mesh.buckets = Buckets::new(&mesh);
        Ok(mesh)
    }

    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.polygons.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.polygons.is_empty()
    }

    /// A polygon.
    #[inline]
    pub fn polygon(&self, place: u32) -> &Polygon {
        &self.polygons[place as usize]
    }

    /// Corners of a polygon.
    pub fn corners(&self, place: u32) -> impl Iterator<Item = Vec2> + '_ {
        let polygon = &self.polygons[place as usize];
        let range = polygon.first as usize..polygon.end as usize;
        self.corners[range]
            .iter()
            .map(|&vertex| self.vertices[vertex as usize])
    }

    /// Edges of a polygon, from corner to corner, with what lies across; [`NOWHERE`] at the border.
    #[inline]
    pub fn edges(&self, place: u32) -> impl Iterator<Item = (Vec2, Vec2, u32)> + '_ {
        let polygon = &self.polygons[place as usize];
        let (first, end) = (polygon.first as usize, polygon.end as usize);
        let corners = &self.corners[first..end];
        let across = &self.across[first..end];
        (0..corners.len()).map(move |n| {
            let next = if n + 1 == corners.len() { 0 } else { n + 1 };
            (
                self.vertices[corners[n] as usize],
                self.vertices[corners[next] as usize],
                across[n],
            )
        })
    }

    /// The edge of a polygon towards its neighbor, seen in passing through: left end, right end.
    pub fn portal(&self, from: u32, to: u32) -> Option<(Vec2, Vec2)> {
        // Corners run counterclockwise, so on the way out an edge goes from right to left.
        self.edges(from)
            .find(|edge| edge.2 == to)
            .map(|(a, b, _)| (b, a))
    }

    /// The connected area of a polygon: all that can be swum to without leaping or dropping.
    pub fn area(&self, place: u32) -> u32 {
        self.areas[place as usize]
    }

    /// Number of connected areas.
    pub fn area_count(&self) -> u32 {
        self.area_count
    }

    /// The polygon of a terrace in which a point lies; `None` outside.
    pub fn find(&self, terrace: u16, at: Vec2) -> Option<u32> {
        let candidates = self.buckets.at(at);
        let mut nearest = (EDGE_M, None);
        for &place in candidates {
            if self.polygon(place).terrace == terrace {
                let off = self.outside_m(place, at);
                if off <= 0.0 {
                    return Some(place);
                }
                if off < nearest.0 {
                    nearest = (off, Some(place));
                }
            }
        }
        nearest.1
    }

    /// Whether the straight way between two points of a terrace stays on the mesh.
    pub fn sees(&self, terrace: u16, from: Vec2, to: Vec2) -> bool {
        let Some(mut place) = self.find(terrace, from) else {
            return false;
        };
        // From polygon to polygon through the edge by which the way leaves. A way through a corner may try the wrong one:
        // then it counts as not seen.
        for _ in 0..self.len() + 1 {
            if self.outside_m(place, to) <= EDGE_M {
                return true;
            }
            let way = to - from;
            let leaving = self.edges(place).filter(|&(a, b, _)| {
                let (p, q) = (way.perp_dot(a - from), way.perp_dot(b - from));
                // The way leaves where it crosses an edge from inside to outside.
                p <= 0.0 && q > 0.0 && (b - a).perp_dot(to - a) < 0.0
            });
            match leaving.map(|edge| edge.2).next() {
                Some(next) if next != NOWHERE => place = next,
                _ => return false,
            }
        }
        false
    }

    /// How far a point lies outside a polygon, at most 0 inside.
    fn outside_m(&self, place: u32, at: Vec2) -> f32 {
        let off = self.edges(place).map(|(a, b, _)| {
            let along = b - a;
            -along.perp_dot(at - a) / along.length().max(f32::MIN_POSITIVE)
        });
        off.fold(f32::NEG_INFINITY, f32::max)
    }

    fn push(&mut self, ring: &[u32], terrace: u16) -> Result<(), &'static str> {
        if ring.len() < 3 {
            return Err("has fewer than three corners");
        }
        if ring.iter().any(|&v| v as usize >= self.vertices.len()) {
            return Err("names a vertex that is not there");
        }
        let at = |n: usize| self.vertices[ring[n % ring.len()] as usize];
        if !(0..ring.len()).all(|n| at(n).is_finite()) {
            return Err("has a corner that is not finite");
        }
        let twice_area: f32 = (0..ring.len()).map(|n| at(n).perp_dot(at(n + 1))).sum();
        let sign = 1f32.copysign(twice_area);
        let is_convex = (0..ring.len()).all(|n| {
            let (a, b) = (at(n + 1) - at(n), at(n + 2) - at(n + 1));
            // The next corner may lie outside the line of the edge by no more than rounding.
            sign * a.perp_dot(b) >= -EDGE_M * a.length()
        });
        if !is_convex {
            return Err("is not convex");
        }
        let middle = (0..ring.len()).map(at).sum::<Vec2>() / ring.len() as f32;
        let first = self.corners.len() as u32;
        if twice_area < 0.0 {
            self.corners.extend(ring.iter().rev());
        } else {
            self.corners.extend(ring);
        }
        self.polygons.push(Polygon {
            first,
            end: self.corners.len() as u32,
            terrace,
            middle,
        });
        Ok(())
    }

    /// Finds who is across each edge.
    fn join(&mut self) -> Result<(), MeshError> {
        self.across = vec![NOWHERE; self.corners.len()];
        // (vertices, terrace) → slot of the edge and its polygon; taken out when the second comes.
        let mut open: BTreeMap<(u32, u32, u16), (usize, u32)> = BTreeMap::new();
        let mut closed = std::collections::BTreeSet::new();
        for (place, polygon) in self.polygons.iter().enumerate() {
            let (first, end) = (polygon.first as usize, polygon.end as usize);
            for slot in first..end {
                let next = if slot + 1 == end { first } else { slot + 1 };
                let (a, b) = (self.corners[slot], self.corners[next]);
                let key = (a.min(b), a.max(b), polygon.terrace);
                if closed.contains(&key) {
                    return Err(MeshError::Edge { a, b });
                }
                if let Some((other, neighbor)) = open.remove(&key) {
                    self.across[slot] = neighbor;
                    self.across[other] = place as u32;
                    closed.insert(key);
                } else {
                    open.insert(key, (slot, place as u32));
                }
            }
        }
        Ok(())
    }

    /// Names the connected areas.
    fn flood(&mut self) {
        self.areas = vec![NOWHERE; self.len()];
        self.area_count = 0;
        let mut open = Vec::new();
        for seed in 0..self.len() as u32 {
            if self.areas[seed as usize] != NOWHERE {
                continue;
            }
            self.areas[seed as usize] = self.area_count;
            open.push(seed);
            while let Some(place) = open.pop() {
                let polygon = self.polygons[place as usize];
                for slot in polygon.first as usize..polygon.end as usize {
                    let next = self.across[slot];
                    if next != NOWHERE && self.areas[next as usize] == NOWHERE {
                        self.areas[next as usize] = self.area_count;
                        open.push(next);
                    }
                }
            }
            self.area_count += 1;
        }
    }
}

impl Buckets {
    fn new(mesh: &NavMesh) -> Self {
        let mut low = Vec2::INFINITY;
        let mut high = Vec2::NEG_INFINITY;
        for &corner in &mesh.corners {
            low = low.min(mesh.vertices[corner as usize]);
            high = high.max(mesh.vertices[corner as usize]);
        }
        if !(low.is_finite() && high.is_finite()) {
            return Self::default();
        }
        // About as many squares as polygons.
        let side = ((high - low).max_element() / (mesh.len() as f32).sqrt().max(1.0)).max(1e-3);
        let cells = ((high - low) / side).floor().as_uvec2() + 1;
        let mut buckets = Self {
            low,
            per_m: 1.0 / side,
            width: cells.x as usize,
            height: cells.y as usize,
            ..Self::default()
        };
        let mut lists = vec![Vec::new(); buckets.width * buckets.height];
        for place in 0..mesh.len() as u32 {
            let (mut from, mut to) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
            for corner in mesh.corners(place) {
                (from, to) = (from.min(corner), to.max(corner));
            }
            let (from, to) = (buckets.cell(from - EDGE_M), buckets.cell(to + EDGE_M));
            for y in from.1..=to.1 {
                for x in from.0..=to.0 {
                    lists[y * buckets.width + x].push(place);
                }
            }
        }
        for list in lists {
            buckets.starts.push(buckets.polygons.len() as u32);
            buckets.polygons.extend(list);
        }
        buckets.starts.push(buckets.polygons.len() as u32);
        buckets
    }

    fn cell(&self, at: Vec2) -> (usize, usize) {
        let cell = ((at - self.low) * self.per_m).max(Vec2::ZERO);
        let last = |n: usize| n.saturating_sub(1);
        (
            (cell.x as usize).min(last(self.width)),
            (cell.y as usize).min(last(self.height)),
        )
    }

    fn at(&self, at: Vec2) -> &[u32] {
        if self.starts.is_empty() || !at.is_finite() {
            return &[];
        }
        let (x, y) = self.cell(at);
        let place = y * self.width + x;
        let (from, to) = (self.starts[place] as usize, self.starts[place + 1] as usize);
        &self.polygons[from..to]
    }
}
