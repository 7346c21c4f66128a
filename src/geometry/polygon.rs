//! Simple polygons in floor space: lists of corners in order, without repeating the first corner at the end.

use glam::Vec2;

/// Signed area of a polygon: positive if the corners are in the direction from +x towards +y.
pub fn signed_area(corners: &[Vec2]) -> f32 {
    polygon_edges(corners)
        .map(|(a, b)| a.perp_dot(b))
        .sum::<f32>()
        / 2.0
}

/// Whether a point is inside a polygon (even-odd rule).
pub fn polygon_contains(corners: &[Vec2], point: Vec2) -> bool {
    edges_contain(polygon_edges(corners), point)
}

/// Whether a point is inside the polygon with these edges (even-odd rule).
pub fn edges_contain(edges: impl Iterator<Item = (Vec2, Vec2)>, point: Vec2) -> bool {
    edges.fold(false, |inside, (a, b)| {
        let crosses = (a.y > point.y) != (b.y > point.y);
        inside ^ (crosses && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x))
    })
}

/// Returns the point on the edge from `a` to `b` that is nearest to `point`.
pub fn nearest_on_edge(a: Vec2, b: Vec2, point: Vec2) -> Vec2 {
    let along = b - a;
    let t = (point - a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
    a + along * t.clamp(0.0, 1.0)
}

/// Number of edges that are computed together, so that the compiler can use vector instructions.
const LANES: usize = 8;

/// Returns the point on the outline of a polygon that is nearest to `point`, or `None` if the polygon has no corners.
pub fn nearest_on_polygon(corners: &[Vec2], point: Vec2) -> Option<Vec2> {
    let first = *corners.first()?;
    let nearer = |nearest: (f32, Vec2), at: Vec2| {
        let square = at.distance_squared(point);
        if square < nearest.0 {
            (square, at)
        } else {
            nearest
        }
    };
    let edge = |from: Vec2, to: Vec2| nearest_on_edge(from, to, point);
    let second = *corners.get(1).unwrap_or(&first);
    let at = edge(first, second);
    let mut nearest = (at.distance_squared(point), at);
    let mut rest = corners;
    while let Some(ends) = rest.first_chunk::<{ LANES + 1 }>() {
        let (mut x, mut y, mut squares) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let at = edge(ends[lane], ends[lane + 1]);
            (x[lane], y[lane]) = (at.x, at.y);
            squares[lane] = at.distance_squared(point);
        }
        let least = squares.into_iter().fold(f32::INFINITY, f32::min);
        if least < nearest.0 {
            let lane = squares.iter().position(|&square| square == least);
            let lane = lane.unwrap_or_default();
            nearest = (least, Vec2::new(x[lane], y[lane]));
        }
        rest = &rest[LANES..];
    }
    for ends in rest.windows(2) {
        nearest = nearer(nearest, edge(ends[0], ends[1]));
    }
    let last = rest.last().copied().unwrap_or(first);
    Some(nearer(nearest, edge(last, first)).1)
}

/// Cuts a polygon into triangles (ear clipping). The triangles of a polygon that crosses itself are not meaningful, but the
/// function always ends.
///
/// **Source**: Meisters 1975, "Polygons have ears".
pub fn polygon_triangles(corners: &[Vec2]) -> Vec<[Vec2; 3]> {
    let mut left: Vec<Vec2> = corners.to_vec();
    if signed_area(&left) < 0.0 {
        left.reverse();
    }
    let mut found = Vec::new();
    while left.len() >= 3 {
        let count = left.len();
        let ear = (0..count).find(|&i| {
            let [a, b, c] = [
                left[(i + count - 1) % count],
                left[i],
                left[(i + 1) % count],
            ];
            let is_convex = (b - a).perp_dot(c - b) > 0.0;
            let holds = |p: &Vec2| {
                *p != a && *p != b && *p != c && {
                    let turns =
                        [(a, b), (b, c), (c, a)].map(|(p0, p1)| (p1 - p0).perp_dot(*p - p0));
                    turns.into_iter().all(|turn| turn >= 0.0)
                }
            };
            is_convex && !left.iter().any(holds)
        });
        // If the polygon has no ear (corners on one line, sides that cross), the first corner is removed, so that the loop
        // ends.
        let i = ear.unwrap_or(0);
        if ear.is_some() {
            found.push([
                left[(i + count - 1) % count],
                left[i],
                left[(i + 1) % count],
            ]);
        }
        left.remove(i);
    }
    found
}

/// Returns the edges of a polygon in order. The last one leads back to the first corner; a single corner has one edge to itself.
pub fn polygon_edges(corners: &[Vec2]) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
    let closing = corners.last().copied().zip(corners.first().copied());
    let others = corners.windows(2).map(|ends| (ends[0], ends[1]));
    others.chain(closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [Vec2; 4] = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];

    #[test]
    fn area_containment_and_nearest_point_of_the_unit_square() {
        assert_eq!(signed_area(&UNIT), 1.0);
        assert!(polygon_contains(&UNIT, Vec2::splat(0.5)));
        assert!(!polygon_contains(&UNIT, Vec2::new(1.5, 0.5)));
        assert_eq!(
            nearest_on_polygon(&UNIT, Vec2::new(0.5, -2.0)),
            Some(Vec2::new(0.5, 0.0))
        );
        assert_eq!(
            nearest_on_polygon(&UNIT, Vec2::new(0.9, 0.5)),
            Some(Vec2::new(1.0, 0.5))
        );
        assert_eq!(nearest_on_polygon(&[], Vec2::ZERO), None);
        assert_eq!(
            nearest_on_polygon(&[Vec2::ONE], Vec2::ZERO),
            Some(Vec2::ONE)
        );
    }

    #[test]
    fn triangles_cover_the_area_of_a_concave_polygon() {
        let concave = [
            Vec2::ZERO,
            Vec2::new(4.0, 0.0),
            Vec2::new(4.0, 3.0),
            Vec2::new(2.0, 1.0),
            Vec2::new(0.0, 3.0),
        ];
        let mut reversed = concave;
        reversed.reverse();
        for corners in [concave, reversed] {
            let area: f32 = polygon_triangles(&corners)
                .iter()
                .map(|t| signed_area(t).abs())
                .sum();
            assert!((area - 8.0).abs() < 1e-5, "{area}");
        }
        assert!(polygon_triangles(&[Vec2::ZERO, Vec2::ONE]).is_empty());
        assert!(polygon_triangles(&[Vec2::ZERO; 5]).is_empty());
    }
}
