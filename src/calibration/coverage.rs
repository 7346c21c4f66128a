//! Share of the surface that points enclose, and the grid of points at which a fit is tested.
//!
//! Input: floor points and the size of the surface. Output: a share, or a grid. This file must not know any limits.

use glam::DVec2;

/// Returns a grid of 17 × 13 floor points over the surface, including corners and edges.
pub(super) fn surface_grid(surface_m: (f64, f64)) -> Vec<DVec2> {
    let (columns, rows) = (17, 13);
    let at = |i: i32, n: i32| f64::from(i) / f64::from(n - 1) - 0.5;
    (0..columns * rows)
        .map(|i| {
            DVec2::new(
                at(i % columns, columns) * surface_m.0,
                at(i / columns, rows) * surface_m.1,
            )
        })
        .collect()
}

/// Returns the share of the surface's area that is inside the convex hull of the points.
pub(super) fn coverage(points: Vec<DVec2>, surface_m: (f64, f64)) -> f64 {
    let half = DVec2::new(surface_m.0, surface_m.1) / 2.0;
    let mut corners = hull(points);
    // The hull is clipped at the four edges of the surface (Sutherland & Hodgman 1974).
    for (inward, limit) in [
        (DVec2::X, half.x),
        (DVec2::NEG_X, half.x),
        (DVec2::Y, half.y),
        (DVec2::NEG_Y, half.y),
    ] {
        let depth = |p: DVec2| p.dot(inward) + limit;
        let next = corners.iter().copied().cycle().skip(1);
        corners = corners
            .iter()
            .copied()
            .zip(next)
            .flat_map(|(a, b)| {
                let crossing = ((depth(a) >= 0.0) != (depth(b) >= 0.0))
                    .then(|| a.lerp(b, depth(a) / (depth(a) - depth(b))));
                [(depth(a) >= 0.0).then_some(a), crossing]
            })
            .flatten()
            .collect();
    }
    let next = corners.iter().cycle().skip(1);
    let doubled: f64 = corners.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum();
    (doubled.abs() / 2.0 / (4.0 * half.x * half.y)).clamp(0.0, 1.0)
}

/// Returns the corners of the convex hull of points. **Source**: Andrew 1979 (monotone chain).
fn hull(mut points: Vec<DVec2>) -> Vec<DVec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let chain = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for p in points {
            while let [.., a, b] = chain.as_slice()
                && (*b - *a).perp_dot(p - *b) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut corners = chain(&mut points.iter().copied());
    corners.extend(chain(&mut points.iter().rev().copied()));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_surface() {
        let corners = |x: f64, z: f64| {
            [(-x, -z), (x, -z), (x, z), (-x, z)]
                .map(|(x, z)| DVec2::new(x, z))
                .to_vec()
        };
        let close =
            |points: Vec<DVec2>, share: f64| (coverage(points, (4.0, 3.0)) - share).abs() < 1e-12;
        assert!(close(corners(2.0, 1.5), 1.0));
        assert!(close(corners(1.0, 0.75), 0.25));
        // Points outside the surface cover nothing.
        assert!(close(corners(5.0, 5.0), 1.0));
        assert!(close(corners(5.0, 0.75), 0.5));
        assert!(close(
            vec![DVec2::ZERO, DVec2::new(2.0, 0.0), DVec2::new(0.0, 1.5)],
            0.125
        ));
        assert!(close(vec![DVec2::ZERO, DVec2::X, 2.0 * DVec2::X], 0.0));
        assert!(close(Vec::new(), 0.0));
        let mut inside = corners(1.0, 0.75);
        inside.extend(corners(0.5, 0.5));
        assert!(close(inside, 0.25));
    }

    #[test]
    fn the_grid_reaches_the_corners() {
        let grid = surface_grid((4.0, 3.0));
        assert_eq!(grid.first(), Some(&DVec2::new(-2.0, -1.5)));
        assert_eq!(grid.last(), Some(&DVec2::new(2.0, 1.5)));
    }
}
