//! Construction of navigation meshes: first a constrained Delaunay triangulation, then a merge of the triangles into
//! convex polygons.
//!
//! In: the outline of each terrace, the obstacles in it, and the distance by which the obstacles are grown. Out: a mesh
//! that covers only free water. **Source**: Lischka 2014, §7.2; the triangulation is by the crate `spade`.

use std::collections::BTreeMap;

use glam::{DVec2, Vec2};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use super::surface::{MeshError, NavMesh};
use crate::navigation::footprint::{Footprint, Footprints};

/// Largest angle, in radians, between two neighboring corners of the polygon that replaces a round edge.
const ARC_RAD: f32 = std::f32::consts::FRAC_PI_4;
/// Additional distance by which obstacles are grown, so that rounding errors cannot make the mesh touch an obstacle.
const ROUNDING_M: f32 = 1e-3;

/// Vertices nearer than this are one vertex. It is far above the rounding error of a coordinate, and far below a body.
const WELD_M: f64 = 2e-5;

/// Smallest distance of an inner vertex from the border, in pieces, so that no polygon is a sliver.
const NEAR_BORDER: f64 = 0.3;

/// Inputs for one terrace.
#[derive(Clone, Copy, Debug)]
pub struct TerraceInput<'a> {
    /// Outline of the terrace. The corners may be in either direction of rotation.
    pub outline_m: &'a [Vec2],
    /// Obstacles in the terrace, not grown.
    pub obstacles: &'a Footprints,
    /// Distance by which obstacles are grown.
    pub grow_m: f32,
    /// Largest side of a polygon, about. In a basin of small polygons, a way can lead around dangerous water; with infinity, polygons
    /// are as large as they can be.
    pub piece_m: f32,
}

/// Builds one mesh that contains all terraces. The index of a terrace is its index in `terraces`.
///
/// # Errors
/// If a coordinate is not finite or too large for the triangulation.
pub fn build_mesh(terraces: &[TerraceInput<'_>]) -> Result<NavMesh, MeshError> {
    let mut vertices: Vec<DVec2> = Vec::new();
    let mut rings = Vec::new();
    for (number, terrace) in terraces.iter().enumerate() {
        let first = vertices.len();
        let mut triangles = triangulate(terrace, &mut vertices)?;
        weld(&vertices[first..], &mut triangles);
        let largest_m = f64::from(terrace.piece_m) * std::f64::consts::SQRT_2;
        for mut ring in merge(&triangles, &vertices[first..], largest_m) {
            ring.iter_mut().for_each(|vertex| *vertex += first as u32);
            rings.push((ring, number as u16));
        }
    }
    let vertices = vertices.iter().map(|vertex| vertex.as_vec2()).collect();
    NavMesh::new(vertices, &rings)
}

/// Appends the vertices of a terrace and returns its free triangles, counterclockwise. The corners of the triangles are
/// vertex indices that are counted from the first appended vertex.
fn triangulate(
    terrace: &TerraceInput<'_>,
    vertices: &mut Vec<DVec2>,
) -> Result<Vec<[u32; 3]>, MeshError> {
    let failed = |error: spade::InsertionError| MeshError::Triangulation {
        reason: error.to_string(),
    };
    let outline: Vec<DVec2> = terrace.outline_m.iter().map(|at| at.as_dvec2()).collect();
    let grown: Vec<Vec<DVec2>> = terrace
        .obstacles
        .iter()
        .map(|part| grown_ring(&part, terrace.grow_m + ROUNDING_M))
        .filter(|ring| ring.len() > 2)
        .collect();
    let mut mesh = ConstrainedDelaunayTriangulation::<Point2<f64>>::new();
    let rings = || std::iter::once(&outline).chain(&grown);
    let piece_m = f64::from(terrace.piece_m);
    for at in inner_points(&outline, piece_m) {
        let is_far = |ring: &Vec<DVec2>| distance_m(ring, at) > NEAR_BORDER * piece_m;
        if rings().all(is_far) && !grown.iter().any(|ring| contains(ring, at)) {
            mesh.insert(Point2::new(at.x, at.y)).map_err(failed)?;
        }
    }
    for ring in rings() {
        let ring = in_pieces(ring, piece_m);
        let mut handles = Vec::with_capacity(ring.len());
        for at in &ring {
            handles.push(mesh.insert(Point2::new(at.x, at.y)).map_err(failed)?);
        }
        for index in 0..handles.len() {
            let (a, b) = (handles[index], handles[(index + 1) % handles.len()]);
            if a != b {
                mesh.add_constraint_and_split(a, b, |at| at);
            }
        }
    }
    let first = vertices.len();
    vertices.extend(mesh.vertices().map(|v| {
        let at = v.position();
        DVec2::new(at.x, at.y)
    }));
    let own = &vertices[first..];
    let mut free = Vec::new();
    for face in mesh.inner_faces() {
        let corners = face.vertices().map(|v| v.index() as u32);
        let middle = corners.iter().map(|&c| own[c as usize]).sum::<DVec2>() / 3.0;
        if contains(&outline, middle) && !grown.iter().any(|ring| contains(ring, middle)) {
            free.push(corners);
        }
    }
    Ok(free)
}

/// Returns the points of a grid within an outline.
fn inner_points(outline: &[DVec2], piece_m: f64) -> Vec<DVec2> {
    if !piece_m.is_finite() || outline.is_empty() {
        return Vec::new();
    }
    let low = outline.iter().copied().fold(outline[0], DVec2::min);
    let high = outline.iter().copied().fold(outline[0], DVec2::max);
    let counts = ((high - low) / piece_m).ceil().max(DVec2::ONE);
    let step = (high - low) / counts;
    let rows = 1..counts.y as u32;
    let points =
        rows.flat_map(|y| (1..counts.x as u32).map(move |x| DVec2::new(x.into(), y.into())));
    let points = points.map(|cell| low + cell * step);
    points.filter(|&at| contains(outline, at)).collect()
}

/// Returns a ring with additional corners, so that no edge is longer than a piece.
fn in_pieces(ring: &[DVec2], piece_m: f64) -> Vec<DVec2> {
    let edge = |index: usize| (ring[index], ring[(index + 1) % ring.len()]);
    let corners = (0..ring.len()).flat_map(|index| {
        let (a, b) = edge(index);
        let count = (a.distance(b) / piece_m).ceil().max(1.0);
        (0..count as u32).map(move |n| a.lerp(b, f64::from(n) / count))
    });
    corners.collect()
}

/// Returns the distance of a point from the edges of a ring.
fn distance_m(ring: &[DVec2], at: DVec2) -> f64 {
    let edges = (0..ring.len()).map(|index| {
        let (a, b) = (ring[index], ring[(index + 1) % ring.len()]);
        let along = b - a;
        let share = (at - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
        at.distance(a + along * share.clamp(0.0, 1.0))
    });
    edges.fold(f64::INFINITY, f64::min)
}

/// Replaces all vertices that are nearer than `WELD_M` to an earlier vertex by that vertex, and removes triangles that then have
/// no area. Edges of obstacles that nearly coincide are split into pieces so short that their direction is a rounding error.
fn weld(vertices: &[DVec2], triangles: &mut Vec<[u32; 3]>) {
    let mut same: Vec<u32> = (0..vertices.len() as u32).collect();
    for index in 0..vertices.len() {
        let is_near = |&earlier: &u32| {
            let earlier = earlier as usize;
            same[earlier] as usize == earlier
                && vertices[earlier].distance_squared(vertices[index]) < WELD_M * WELD_M
        };
        if let Some(earlier) = (0..index as u32).find(is_near) {
            same[index] = earlier;
        }
    }
    triangles
        .iter_mut()
        .flatten()
        .for_each(|vertex| *vertex = same[*vertex as usize]);
    triangles.retain(|[a, b, c]| a != b && b != c && c != a);
}

/// Returns a convex polygon that contains the grown obstacle.
fn grown_ring(part: &Footprint<'_>, grow_m: f32) -> Vec<DVec2> {
    let radius_m = part.radius_m + grow_m;
    if radius_m <= 0.0 {
        let mut inset = Vec::new();
        part.inset(-radius_m, &mut inset);
        return inset.iter().map(|at| at.as_dvec2()).collect();
    }
    let mut ring: Vec<DVec2> = Vec::new();
    let count = part.corners.len();
    for index in 0..count {
        let at = part.corners[index];
        let before = part.corners[(index + count - 1) % count];
        let after = part.corners[(index + 1) % count];
        // Direction of the first outward normal at the corner, and the angle to the last one. The arc of a single
        // corner is a full circle.
        let (from, turn) = if count == 1 {
            (0.0, std::f32::consts::TAU)
        } else {
            let normal = |a: Vec2, b: Vec2| -(b - a).perp();
            let (p, q) = (normal(before, at), normal(at, after));
            let turn = p.angle_to(q).rem_euclid(std::f32::consts::TAU);
            (p.to_angle(), turn)
        };
        // The corners of the polygon are outside the arc, where neighboring tangents meet.
        let pieces = (turn / ARC_RAD).ceil().max(1.0);
        let half = f64::from(turn / pieces) / 2.0;
        let reach = f64::from(radius_m) / half.cos();
        for piece in 0..pieces as u32 {
            let angle = f64::from(from) + half * f64::from(2 * piece + 1);
            ring.push(at.as_dvec2() + DVec2::from_angle(angle) * reach);
        }
    }
    ring
}

/// Whether a point is inside a polygon, by the even-odd rule.
fn contains(ring: &[DVec2], at: DVec2) -> bool {
    let mut inside = false;
    for index in 0..ring.len() {
        let (a, b) = (ring[index], ring[(index + 1) % ring.len()]);
        if (a.y > at.y) != (b.y > at.y) && at.x < a.x + (at.y - a.y) / (b.y - a.y) * (b.x - a.x) {
            inside = !inside;
        }
    }
    inside
}

/// Merges triangles into convex polygons of at most this size. Removes the longest shared edges first.
fn merge(triangles: &[[u32; 3]], vertices: &[DVec2], largest_m: f64) -> Vec<Vec<u32>> {
    let at = |vertex: u32| vertices[vertex as usize];
    let mut rings: Vec<Vec<u32>> = triangles.iter().map(|t| t.to_vec()).collect();
    let mut edges: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (index, triangle) in triangles.iter().enumerate() {
        for n in 0..3 {
            let (a, b) = (triangle[n], triangle[(n + 1) % 3]);
            edges.entry((a.min(b), a.max(b))).or_default().push(index);
        }
    }
    let mut inner: Vec<(u32, u32)> = edges
        .iter()
        .filter(|(_, sides)| sides.len() == 2)
        .map(|(&edge, _)| edge)
        .collect();
    let length = |&(a, b): &(u32, u32)| at(a).distance_squared(at(b));
    inner.sort_by(|x, y| length(y).total_cmp(&length(x)).then(x.cmp(y)));
    let mut owner: Vec<usize> = (0..rings.len()).collect();
    let find = |owner: &[usize], mut index: usize| {
        while owner[index] != index {
            index = owner[index];
        }
        index
    };
    for edge in inner {
        let sides = &edges[&edge];
        let (p, q) = (find(&owner, sides[0]), find(&owner, sides[1]));
        if p == q {
            continue;
        }
        let is_small = |ring: &Vec<u32>| {
            let corners = || ring.iter().map(|&vertex| at(vertex));
            let (low, high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
            let sides_m = corners().fold(high, DVec2::max) - corners().fold(low, DVec2::min);
            sides_m.length() <= largest_m
        };
        if let Some(ring) = joined(&rings[p], &rings[q], edge, &at).filter(is_small) {
            rings[p] = ring;
            rings[q].clear();
            owner[q] = p;
        }
    }
    rings.retain(|ring| !ring.is_empty());
    rings
}

/// Returns the union of two rings that share an edge. Returns `None` if the union is not convex or the rings share
/// another vertex.
fn joined(
    p: &[u32],
    q: &[u32],
    (a, b): (u32, u32),
    at: &impl Fn(u32) -> DVec2,
) -> Option<Vec<u32>> {
    if p.iter().filter(|vertex| q.contains(vertex)).count() != 2 {
        return None;
    }
    let start_of = |ring: &[u32], from: u32, to: u32| {
        (0..ring.len()).find(|&n| ring[n] == from && ring[(n + 1) % ring.len()] == to)
    };
    // The two rings contain the edge in opposite directions.
    let (from, to) = if start_of(p, a, b).is_some() {
        (a, b)
    } else {
        (b, a)
    };
    let (in_p, in_q) = (start_of(p, from, to)?, start_of(q, to, from)?);
    let mut ring = Vec::with_capacity(p.len() + q.len() - 2);
    ring.extend((1..p.len()).map(|n| p[(in_p + n) % p.len()]));
    ring.extend((1..q.len()).map(|n| q[(in_q + n) % q.len()]));
    let count = ring.len();
    let is_convex = (0..count).all(|n| {
        let (x, y, z) = (
            at(ring[n]),
            at(ring[(n + 1) % count]),
            at(ring[(n + 2) % count]),
        );
        (y - x).perp_dot(z - y) >= -1e-9
    });
    is_convex.then_some(ring)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::mesh::{
        Abilities, MeshLinks, MeshOutcome, MeshPath, MeshPoint, MeshQuery, MeshSearch,
    };
    use proptest::prelude::*;

    const POOL: [Vec2; 4] = [
        Vec2::new(-4.0, -3.0),
        Vec2::new(4.0, -3.0),
        Vec2::new(4.0, 3.0),
        Vec2::new(-4.0, 3.0),
    ];

    fn area(mesh: &NavMesh) -> f32 {
        let one = |polygon: u32| {
            let corners: Vec<Vec2> = mesh.corners(polygon).collect();
            crate::geometry::signed_area(&corners)
        };
        (0..mesh.len() as u32).map(one).sum()
    }

    #[test]
    fn obstacles_reduce_the_area_of_the_mesh() {
        let mut obstacles = Footprints::default();
        obstacles.push_box(Vec2::new(-2.0, 0.0), Vec2::new(0.5, 1.0), Vec2::X);
        obstacles.push(&[Vec2::new(2.0, 1.0)], 0.5);
        let mesh = build_mesh(&[TerraceInput {
            outline_m: &POOL,
            obstacles: &obstacles,
            grow_m: 0.0,
            piece_m: f32::INFINITY,
        }])
        .unwrap();
        // An octagon around a circle has 5.5 % more area.
        let wanted = 48.0 - 2.0 - 8.0 * (std::f32::consts::PI / 8.0).tan() * 0.25;
        assert!((area(&mesh) - wanted).abs() < 0.02, "{}", area(&mesh));
        assert!(mesh.len() < 16, "{} polygons", mesh.len());
        assert_eq!(mesh.region_count(), 1);
        assert_eq!(mesh.polygon_at(0, Vec2::new(-2.0, 0.0)), None);
    }

    fn obstacles() -> impl Strategy<Value = Footprints> {
        let one = (
            -4.0f32..4.0,
            -3.0f32..3.0,
            0.05f32..1.0,
            0.05f32..0.5,
            0.0f32..6.3,
            0..3u8,
        );
        prop::collection::vec(one, 0..10).prop_map(|list| {
            let mut all = Footprints::default();
            for (x, y, a, b, turn, kind) in list {
                let (at, axis) = (Vec2::new(x, y), Vec2::from_angle(turn));
                match kind {
                    0 => all.push(&[at], b),
                    1 => all.push_box(at, Vec2::new(a, b), axis),
                    _ => all.push(&[at, at + axis * a], b * 0.3),
                }
            }
            all
        })
    }

    proptest! {
        #[test]
        fn paths_stay_in_free_water_and_the_mesh_covers_it(
            obstacles in obstacles(), grow in 0.0f32..0.2,
            ax in -4.0f32..4.0, ay in -3.0f32..3.0, bx in -4.0f32..4.0, by in -3.0f32..3.0,
        ) {
            let mesh = build_mesh(&[TerraceInput { outline_m: &POOL, obstacles: &obstacles, grow_m: grow, piece_m: f32::INFINITY }]).unwrap();
            let (a, b) = (Vec2::new(ax, ay), Vec2::new(bx, by));
            for at in [a, b] {
                let gap = obstacles.distance_m(at);
                // The corners of the polygon around an obstacle are slightly outside its round edge.
                if gap > (grow + 0.5) * 1.09 + 0.01 {
                    prop_assert!(mesh.polygon_at(0, at).is_some());
                }
                if mesh.polygon_at(0, at).is_some() {
                    prop_assert!(gap > grow - 1e-3);
                }
            }
            let links = MeshLinks::new(&mesh, Vec::new(), &[]);
            let index = |at_m| MeshPoint { terrace: 0, at_m };
            let query = MeshQuery {
                start: index(a), goal: index(b), abilities: Abilities::default(),
                speed_mps: 1.0, ..MeshQuery::default()
            };
            let mut path = MeshPath::default();
            let mut search = MeshSearch::default();
            if search.find_path(&mesh, &links, &query, &mut path) == MeshOutcome::Found {
                let mut from = a;
                for &to in &path.points_m {
                    prop_assert!(obstacles.is_clear(from, to, grow - 1e-3), "{from} {to}");
                    prop_assert!(to.abs().cmple(Vec2::new(4.001, 3.001)).all());
                    from = to;
                }
                prop_assert_eq!(from, b);
                prop_assert!(path.length_m(a) >= f64::from(a.distance(b)) - 1e-4);
            }
        }
    }
}
