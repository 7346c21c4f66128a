//! From outlines and obstacles to a mesh: constrained Delaunay triangles, merged to convex polygons.
//!
//! In: each terrace's outline, its obstacles and what they are grown by. Out: a mesh that lies wholly in what is free.
//! **Source**: 004 section 7.2; the triangulation is `spade`'s.

use std::collections::BTreeMap;

use glam::{DVec2, Vec2};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

use super::surface::{MeshError, NavMesh};
use crate::navigation::footprint::{Footprint, Footprints};

/// Angle between the corners that stand for a round edge.
const ARC_RAD: f32 = std::f32::consts::FRAC_PI_4;
/// How much more than asked obstacles are grown, against rounding.
const ROUNDING_M: f32 = 1e-3;

/// What one terrace is made from.
#[derive(Clone, Copy, Debug)]
pub struct TerraceGround<'a> {
    /// Its outline, corners in order, either way round.
    pub outline_m: &'a [Vec2],
    /// What lies in it, not grown.
    pub obstacles: &'a Footprints,
    /// What obstacles are grown by.
    pub grow_m: f32,
}

/// Makes the mesh of all terraces, in their order.
///
/// # Errors
/// When a coordinate is not finite or too large for the triangulation.
pub fn build(terraces: &[TerraceGround<'_>]) -> Result<NavMesh, MeshError> {
    let mut vertices: Vec<DVec2> = Vec::new();
    let mut rings = Vec::new();
    for (number, terrace) in terraces.iter().enumerate() {
        let first = vertices.len();
        let triangles = triangulate(terrace, &mut vertices)?;
        for mut ring in merge(&triangles, &vertices[first..]) {
            ring.iter_mut().for_each(|vertex| *vertex += first as u32);
            rings.push((ring, number as u16));
        }
    }
    let vertices = vertices.iter().map(|vertex| vertex.as_vec2()).collect();
    NavMesh::new(vertices, &rings)
}

/// The free triangles, counterclockwise, with corners counted from the first vertex that this call adds.
fn triangulate(
    terrace: &TerraceGround<'_>,
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
    for ring in std::iter::once(&outline).chain(&grown) {
        let mut handles = Vec::with_capacity(ring.len());
        for at in ring {
            handles.push(mesh.insert(Point2::new(at.x, at.y)).map_err(failed)?);
        }
        for place in 0..handles.len() {
            let (a, b) = (handles[place], handles[(place + 1) % handles.len()]);
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

/// A convex polygon around a grown obstacle.
fn grown_ring(part: &Footprint<'_>, grow_m: f32) -> Vec<DVec2> {
    let radius_m = part.radius_m + grow_m;
    if radius_m <= 0.0 {
        let mut inset = Vec::new();
        part.inset(-radius_m, &mut inset);
        return inset.iter().map(|at| at.as_dvec2()).collect();
    }
    let mut ring: Vec<DVec2> = Vec::new();
    let count = part.corners.len();
    for place in 0..count {
        let at = part.corners[place];
        let before = part.corners[(place + count - 1) % count];
        let after = part.corners[(place + 1) % count];
        // Outward normals of the edges before and after the corner; a lone corner is a whole circle.
        let (from, turn) = if count == 1 {
            (0.0, std::f32::consts::TAU)
        } else {
            let normal = |a: Vec2, b: Vec2| -(b - a).perp();
            let (p, q) = (normal(before, at), normal(at, after));
            let turn = p.angle_to(q).rem_euclid(std::f32::consts::TAU);
            (p.to_angle(), turn)
        };
        // Tangents of the arc meet outside of it.
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

/// Even-odd rule.
fn contains(ring: &[DVec2], at: DVec2) -> bool {
    let mut inside = false;
    for place in 0..ring.len() {
        let (a, b) = (ring[place], ring[(place + 1) % ring.len()]);
        if (a.y > at.y) != (b.y > at.y) && at.x < a.x + (at.y - a.y) / (b.y - a.y) * (b.x - a.x) {
            inside = !inside;
        }
    }
    inside
}

/// Merges triangles to convex polygons, over the longest edges first.
fn merge(triangles: &[[u32; 3]], vertices: &[DVec2]) -> Vec<Vec<u32>> {
    let at = |vertex: u32| vertices[vertex as usize];
    let mut rings: Vec<Vec<u32>> = triangles.iter().map(|t| t.to_vec()).collect();
    let mut edges: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (place, triangle) in triangles.iter().enumerate() {
        for n in 0..3 {
            let (a, b) = (triangle[n], triangle[(n + 1) % 3]);
            edges.entry((a.min(b), a.max(b))).or_default().push(place);
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
    let find = |owner: &[usize], mut place: usize| {
        while owner[place] != place {
            place = owner[place];
        }
        place
    };
    for edge in inner {
        let sides = &edges[&edge];
        let (p, q) = (find(&owner, sides[0]), find(&owner, sides[1]));
        if p == q {
            continue;
        }
        if let Some(ring) = joined(&rings[p], &rings[q], edge, &at) {
            rings[p] = ring;
            rings[q].clear();
            owner[q] = p;
        }
    }
    rings.retain(|ring| !ring.is_empty());
    rings
}

/// Two rings as one over an edge, where that is convex and they share nothing else.
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
    // The edge runs one way in one ring and the other way in the other.
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
    use crate::navigation::mesh::{Abilities, Links, MeshPath, MeshSearch, Outcome, Place, Query};
    use proptest::prelude::*;

    const POOL: [Vec2; 4] = [
        Vec2::new(-4.0, -3.0),
        Vec2::new(4.0, -3.0),
        Vec2::new(4.0, 3.0),
        Vec2::new(-4.0, 3.0),
    ];

    fn area(mesh: &NavMesh) -> f32 {
        let one = |place: u32| {
            let corners: Vec<Vec2> = mesh.corners(place).collect();
            crate::geometry::polygon::signed_area(&corners)
        };
        (0..mesh.len() as u32).map(one).sum()
    }

    #[test]
    fn a_pool_with_a_box_and_a_ball_has_their_area_less() {
        let mut obstacles = Footprints::default();
        obstacles.push_box(Vec2::new(-2.0, 0.0), Vec2::new(0.5, 1.0), Vec2::X);
        obstacles.push(&[Vec2::new(2.0, 1.0)], 0.5);
        let mesh = build(&[TerraceGround {
            outline_m: &POOL,
            obstacles: &obstacles,
            grow_m: 0.0,
        }])
        .unwrap();
        // An octagon around a circle has 5.5 % more.
        let wanted = 48.0 - 2.0 - 8.0 * (std::f32::consts::PI / 8.0).tan() * 0.25;
        assert!((area(&mesh) - wanted).abs() < 0.02, "{}", area(&mesh));
        assert!(mesh.len() < 16, "{} polygons", mesh.len());
        assert_eq!(mesh.area_count(), 1);
        assert_eq!(mesh.find(0, Vec2::new(-2.0, 0.0)), None);
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
        fn no_path_leaves_the_free_water_and_what_is_free_is_in_the_mesh(
            obstacles in obstacles(), grow in 0.0f32..0.2,
            ax in -4.0f32..4.0, ay in -3.0f32..3.0, bx in -4.0f32..4.0, by in -3.0f32..3.0,
        ) {
            let mesh = build(&[TerraceGround { outline_m: &POOL, obstacles: &obstacles, grow_m: grow }]).unwrap();
            let (a, b) = (Vec2::new(ax, ay), Vec2::new(bx, by));
            for at in [a, b] {
                let gap = obstacles.distance_m(at);
                // Grown corners reach a bit beyond a round edge.
                if gap > (grow + 0.5) * 1.09 + 0.01 {
                    prop_assert!(mesh.find(0, at).is_some());
                }
                if mesh.find(0, at).is_some() {
                    prop_assert!(gap > grow - 1e-3);
                }
            }
            let links = Links::new(&mesh, Vec::new(), &[]);
            let place = |at_m| Place { terrace: 0, at_m };
            let query = Query {
                start: place(a), goal: place(b), abilities: Abilities::default(),
                cooldown_left_secs: 0.0, speed_mps: 1.0, costs: &[],
            };
            let mut path = MeshPath::default();
            let mut search = MeshSearch::default();
            if search.find(&mesh, &links, &query, &mut path) == Outcome::Found {
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
