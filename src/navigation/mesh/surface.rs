//! The navigation mesh: convex polygons, their neighbors, and point location.
//!
//! In: vertices and rings. Out: polygons by index and by point. Must not: depend on the construction of the mesh.

use std::collections::BTreeMap;

use glam::Vec2;
use thiserror::Error;

/// Value of a polygon index that means: no polygon.
pub(super) const NO_POLYGON: u32 = u32::MAX;
/// A point at most this far outside a polygon still counts as inside, because coordinates have rounding errors.
const EDGE_M: f32 = 1e-4;

/// Convex polygons on terraces. Neighboring polygons share whole edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NavMesh {
    vertices: Vec<Vec2>,
    polygons: Vec<Polygon>,
    /// Vertex indices of all polygons, counterclockwise from +x towards +z.
    corners: Vec<u32>,
    /// For each corner, the polygon on the other side of the edge to the next corner. `NO_POLYGON` at the border of the
    /// mesh.
    across: Vec<u32>,
    /// Connected region of each polygon.
    regions: Vec<u32>,
    region_count: u32,
    lookup: PolygonLookup,
}

/// A convex polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    first: u32,
    end: u32,
    /// Index of the terrace of the polygon.
    pub terrace: u16,
    /// Mean of the polygon's corners.
    pub center: Vec2,
}

/// Reason why a mesh cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// A ring refers to a missing vertex, has fewer than three corners, or is not convex.
    #[error("polygon {polygon} (counted from 0) {reason}")]
    Polygon {
        /// Index of the polygon.
        polygon: usize,
        /// Description of the violated rule.
        reason: &'static str,
    },
    /// More than two polygons share an edge.
    #[error("the edge between the vertices {a} and {b} belongs to more than two polygons")]
    Edge {
        /// First vertex of the edge.
        a: u32,
        /// Second vertex of the edge.
        b: u32,
    },
    /// The triangulation failed.
    #[error("the water cannot be triangulated: {reason}")]
    Triangulation {
        /// Message of the triangulation.
        reason: String,
    },
}

/// Lists of the polygons in each square cell of the plane. They speed up the search for the polygon at a point.
#[derive(Clone, Debug, Default, PartialEq)]
struct PolygonLookup {
    low: Vec2,
    per_m: f32,
    width: usize,
    height: usize,
    starts: Vec<u32>,
    polygons: Vec<u32>,
}

impl NavMesh {
    /// Builds a mesh from its vertices and polygons. Each entry of `rings` is (vertex indices of a polygon in either
    /// direction of rotation, index of the terrace).
    ///
    /// # Errors
    /// If a ring is invalid or more than two polygons share an edge.
    pub fn new(vertices: Vec<Vec2>, rings: &[(Vec<u32>, u16)]) -> Result<Self, MeshError> {
        let mut mesh = Self {
            vertices,
            ..Self::default()
        };
        for (polygon, (ring, terrace)) in rings.iter().enumerate() {
            mesh.push(ring, *terrace)
                .map_err(|reason| MeshError::Polygon { polygon, reason })?;
        }
        mesh.link_neighbors()?;
        mesh.label_regions();
        mesh.lookup = PolygonLookup::new(&mesh);
        Ok(mesh)
    }

    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.polygons.len()
    }

    /// Whether there are no polygons.
    pub fn is_empty(&self) -> bool {
        self.polygons.is_empty()
    }

    /// The polygon at an index.
    #[inline]
    pub fn polygon(&self, index: u32) -> &Polygon {
        &self.polygons[index as usize]
    }

    /// Corners of a polygon.
    pub fn corners(&self, index: u32) -> impl Iterator<Item = Vec2> + '_ {
        let polygon = &self.polygons[index as usize];
        let range = polygon.first as usize..polygon.end as usize;
        self.corners[range]
            .iter()
            .map(|&vertex| self.vertices[vertex as usize])
    }

    /// Returns the edges of a polygon as (start, end, polygon on the other side). The last value is `NO_POLYGON` at the
    /// border of the mesh.
    #[inline]
    pub fn edges(&self, index: u32) -> impl Iterator<Item = (Vec2, Vec2, u32)> + '_ {
        let polygon = &self.polygons[index as usize];
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

    /// Returns the shared edge of two polygons as (left end, right end), seen on the way from `from` to `to`. Returns
    /// `None` if the polygons share no edge.
    pub fn portal(&self, from: u32, to: u32) -> Option<(Vec2, Vec2)> {
        // Corners are counterclockwise. Seen from inside, the start of an edge is therefore its right end.
        self.edges(from)
            .find(|edge| edge.2 == to)
            .map(|(a, b, _)| (b, a))
    }

    /// Returns the index of the connected region of a polygon. A region contains all polygons that can be reached from
    /// each other without a leap or drop.
    pub fn region(&self, index: u32) -> u32 {
        self.regions[index as usize]
    }

    /// Number of connected regions.
    pub fn region_count(&self) -> u32 {
        self.region_count
    }

    /// Returns the polygon of a terrace that contains a point, or `None` if the point is outside the mesh.
    pub fn polygon_at(&self, terrace: u16, at: Vec2) -> Option<u32> {
        let candidates = self.lookup.at(at);
        let mut nearest = (EDGE_M, None);
        for &index in candidates {
            if self.polygon(index).terrace == terrace {
                let off = self.outside_m(index, at);
                if off <= 0.0 {
                    return Some(index);
                }
                if off < nearest.0 {
                    nearest = (off, Some(index));
                }
            }
        }
        nearest.1
    }

    /// Whether the straight line between two points of a terrace stays on the mesh: follows it from polygon to polygon, through the
    /// edges that it crosses. If the line passes through a corner, the wrong edge may be chosen; the result is then false.
    pub fn has_line_of_sight(&self, terrace: u16, from: Vec2, to: Vec2) -> bool {
        let Some(mut index) = self.polygon_at(terrace, from) else {
            return false;
        };
        let line = to - from;
        for _ in 0..self.len() + 1 {
            if self.outside_m(index, to) <= EDGE_M {
                return true;
            }
            let mut leaving = self.edges(index).filter(|&(a, b, _)| {
                let (p, q) = (line.perp_dot(a - from), line.perp_dot(b - from));
                // The line leaves the polygon at the edge that it crosses from inside to outside.
                p <= 0.0 && q > 0.0 && (b - a).perp_dot(to - a) < 0.0
            });
            match leaving.next() {
                Some((.., next)) if next != NO_POLYGON => index = next,
                _ => return false,
            }
        }
        false
    }

    /// Returns the point of the mesh that is nearest to `at`, with its polygon. Considers only polygons for which
    /// `is_allowed` returns true; `None` if there are none.
    pub fn nearest_point(&self, at: Vec2, is_allowed: impl Fn(u32) -> bool) -> Option<(u32, Vec2)> {
        let mut nearest: Option<(f32, u32, Vec2)> = None;
        for polygon in (0..self.len() as u32).filter(|&polygon| is_allowed(polygon)) {
            if self.outside_m(polygon, at) <= 0.0 {
                return Some((polygon, at));
            }
            for (a, b, _) in self.edges(polygon) {
                let point = crate::geometry::nearest_on_edge(a, b, at);
                let off_m = point.distance_squared(at);
                if nearest.is_none_or(|(least, ..)| off_m < least) {
                    nearest = Some((off_m, polygon, point));
                }
            }
        }
        nearest.map(|(_, polygon, point)| (polygon, point))
    }

    /// Returns the distance of a point from a polygon; 0 or negative inside.
    fn outside_m(&self, index: u32, at: Vec2) -> f32 {
        let off = self.edges(index).map(|(a, b, _)| {
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
            return Err("refers to a vertex that does not exist");
        }
        let at = |n: usize| self.vertices[ring[n % ring.len()] as usize];
        if !(0..ring.len()).all(|n| at(n).is_finite()) {
            return Err("has a corner that is not finite");
        }
        let twice_area: f32 = (0..ring.len()).map(|n| at(n).perp_dot(at(n + 1))).sum();
        let sign = 1f32.copysign(twice_area);
        let is_convex = (0..ring.len()).all(|n| {
            let (a, b) = (at(n + 1) - at(n), at(n + 2) - at(n + 1));
            // A corner may be on the outer side of the previous edge only by a rounding error.
            sign * a.perp_dot(b) >= -EDGE_M * a.length()
        });
        if !is_convex {
            return Err("is not convex");
        }
        let center = (0..ring.len()).map(at).sum::<Vec2>() / ring.len() as f32;
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
            center,
        });
        Ok(())
    }

    /// Finds the polygon on the other side of each edge.
    fn link_neighbors(&mut self) -> Result<(), MeshError> {
        self.across = vec![NO_POLYGON; self.corners.len()];
        // Map from (two vertices, terrace) to (index of the edge, its polygon). An entry is removed when the second
        // polygon of the edge is found.
        let mut open: BTreeMap<(u32, u32, u16), (usize, u32)> = BTreeMap::new();
        let mut closed = std::collections::BTreeSet::new();
        for (index, polygon) in self.polygons.iter().enumerate() {
            let (first, end) = (polygon.first as usize, polygon.end as usize);
            for edge in first..end {
                let next = if edge + 1 == end { first } else { edge + 1 };
                let (a, b) = (self.corners[edge], self.corners[next]);
                let key = (a.min(b), a.max(b), polygon.terrace);
                if closed.contains(&key) {
                    return Err(MeshError::Edge { a, b });
                }
                if let Some((other, neighbor)) = open.remove(&key) {
                    self.across[edge] = neighbor;
                    self.across[other] = index as u32;
                    closed.insert(key);
                } else {
                    open.insert(key, (edge, index as u32));
                }
            }
        }
        Ok(())
    }

    /// Finds the connected regions and gives each an index.
    fn label_regions(&mut self) {
        self.regions = vec![NO_POLYGON; self.len()];
        self.region_count = 0;
        let mut open = Vec::new();
        for seed in 0..self.len() as u32 {
            if self.regions[seed as usize] != NO_POLYGON {
                continue;
            }
            self.regions[seed as usize] = self.region_count;
            open.push(seed);
            while let Some(index) = open.pop() {
                let polygon = self.polygons[index as usize];
                for edge in polygon.first as usize..polygon.end as usize {
                    let next = self.across[edge];
                    if next != NO_POLYGON && self.regions[next as usize] == NO_POLYGON {
                        self.regions[next as usize] = self.region_count;
                        open.push(next);
                    }
                }
            }
            self.region_count += 1;
        }
    }
}

impl PolygonLookup {
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
        // With this side length, there are about as many cells as polygons.
        let side = ((high - low).max_element() / (mesh.len() as f32).sqrt().max(1.0)).max(1e-3);
        let cells = ((high - low) / side).floor().as_uvec2() + 1;
        let mut lookup = Self {
            low,
            per_m: 1.0 / side,
            width: cells.x as usize,
            height: cells.y as usize,
            ..Self::default()
        };
        let mut lists = vec![Vec::new(); lookup.width * lookup.height];
        for index in 0..mesh.len() as u32 {
            let (mut from, mut to) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
            for corner in mesh.corners(index) {
                (from, to) = (from.min(corner), to.max(corner));
            }
            let (from, to) = (lookup.cell(from - EDGE_M), lookup.cell(to + EDGE_M));
            for y in from.1..=to.1 {
                for x in from.0..=to.0 {
                    lists[y * lookup.width + x].push(index);
                }
            }
        }
        for list in lists {
            lookup.starts.push(lookup.polygons.len() as u32);
            lookup.polygons.extend(list);
        }
        lookup.starts.push(lookup.polygons.len() as u32);
        lookup
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
        let index = y * self.width + x;
        let (from, to) = (self.starts[index] as usize, self.starts[index + 1] as usize);
        &self.polygons[from..to]
    }
}
