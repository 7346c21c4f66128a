//! Simple polygons in floor space, as lists of corners in order, not closed.

use glam::Vec2;

/// Signed area: positive when the corners go from +x towards +y.
pub fn signed_area(corners: &[Vec2]) -> f32 {
    edges(corners).map(|(a, b)| a.perp_dot(b)).sum::<f32>() / 2.0
}

/// Whether a point lies inside (even-odd rule).
pub fn contains(corners: &[Vec2], point: Vec2) -> bool {
    edges(corners).fold(false, |inside, (a, b)| {
        let crosses = (a.y > point.y) != (b.y > point.y);
        inside ^ (crosses && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x))
    })
}

/// The point of the outline nearest to `point`; `None` for a polygon without corners.
pub fn nearest_on_outline(corners: &[Vec2], point: Vec2) -> Option<Vec2> {
    edges(corners)
        .map(|(a, b)| {
            let along = b - a;
            let t = ((point - a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE))
                .clamp(0.0, 1.0);
            let at = a + along * t;
            (at.distance_squared(point), at)
        })
        .reduce(|nearest, other| if other.0 < nearest.0 { other } else { nearest })
        .map(|(_, at)| at)
}

/// Cuts a polygon into triangles (ear clipping). One that crosses itself gives some triangles, never an endless search.
///
/// **Source**: Meisters, 'Polygons have ears', 1975.
pub fn triangles(corners: &[Vec2]) -> Vec<[Vec2; 3]> {
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
        // Without an ear (corners on a line, crossed sides) any corner goes, so that there is an end.
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

fn edges(corners: &[Vec2]) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
    corners
        .iter()
        .copied()
        .zip(corners.iter().copied().cycle().skip(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [Vec2; 4] = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];

    #[test]
    fn unit_square() {
        assert_eq!(signed_area(&UNIT), 1.0);
        assert!(contains(&UNIT, Vec2::splat(0.5)));
        assert!(!contains(&UNIT, Vec2::new(1.5, 0.5)));
        assert_eq!(
            nearest_on_outline(&UNIT, Vec2::new(0.5, -2.0)),
            Some(Vec2::new(0.5, 0.0))
        );
        assert_eq!(
            nearest_on_outline(&UNIT, Vec2::new(0.9, 0.5)),
            Some(Vec2::new(1.0, 0.5))
        );
        assert_eq!(nearest_on_outline(&[], Vec2::ZERO), None);
        assert_eq!(
            nearest_on_outline(&[Vec2::ONE], Vec2::ZERO),
            Some(Vec2::ONE)
        );
    }

    #[test]
    fn triangles_cover_the_area_of_a_dented_polygon() {
        let dented = [
            Vec2::ZERO,
            Vec2::new(4.0, 0.0),
            Vec2::new(4.0, 3.0),
            Vec2::new(2.0, 1.0),
            Vec2::new(0.0, 3.0),
        ];
        let mut turned = dented;
        turned.reverse();
        for corners in [dented, turned] {
            let area: f32 = triangles(&corners)
                .iter()
                .map(|t| signed_area(t).abs())
                .sum();
            assert!((area - 8.0).abs() < 1e-5, "{area}");
        }
        assert!(triangles(&[Vec2::ZERO, Vec2::ONE]).is_empty());
        assert!(triangles(&[Vec2::ZERO; 5]).is_empty());
    }
}
