//! Plane-to-plane projective maps, estimated from point pairs (normalized DLT; Hartley & Zisserman 2004, algorithm 4.2).

use glam::{DMat3, DVec2, DVec3};
use nalgebra::{DMatrix, SymmetricEigen};

/// A projective map of the plane, `p' ~ H p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Homography(pub DMat3);

impl Homography {
    /// The identity map.
    pub const IDENTITY: Self = Self(DMat3::IDENTITY);

    /// Estimates the map from the first to the second point of each pair. It minimizes the algebraic error of the normalized
    /// points.
    ///
    /// Returns `None` for fewer than four pairs, for points that are not finite, and for points that do not determine a map
    /// (for example four points of which three are on a line).
    pub fn from_pairs(pairs: &[(DVec2, DVec2)]) -> Option<Self> {
        if pairs.len() < 4 || pairs.iter().any(|(a, b)| !a.is_finite() || !b.is_finite()) {
            return None;
        }
        let from = normalization(pairs.iter().map(|p| p.0))?;
        let to = normalization(pairs.iter().map(|p| p.1))?;
        let mut normal = DMatrix::<f64>::zeros(9, 9);
        for &(a, b) in pairs {
            let a = from * a.extend(1.0);
            let b = to * b.extend(1.0);
            let rows = [
                [a.x, a.y, 1.0, 0.0, 0.0, 0.0, -b.x * a.x, -b.x * a.y, -b.x],
                [0.0, 0.0, 0.0, a.x, a.y, 1.0, -b.y * a.x, -b.y * a.y, -b.y],
            ];
            for row in rows {
                for i in 0..9 {
                    for j in 0..9 {
                        normal[(i, j)] += row[i] * row[j];
                    }
                }
            }
        }
        let eigen = SymmetricEigen::new(normal);
        let mut order: Vec<usize> = (0..9).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        // If a second eigenvalue is zero, many maps fit equally well: the points are degenerate.
        if eigen.eigenvalues[order[1]] < 1e-9 * eigen.eigenvalues[order[8]] {
            return None;
        }
        let h = eigen.eigenvectors.column(order[0]);
        let normalized = DMat3::from_cols(
            DVec3::new(h[0], h[3], h[6]),
            DVec3::new(h[1], h[4], h[7]),
            DVec3::new(h[2], h[5], h[8]),
        );
        Self(to.inverse() * normalized * from).scaled()
    }

    /// Maps a point. The result is not finite if the map sends the point to infinity.
    pub fn apply(&self, point: DVec2) -> DVec2 {
        let p = self.0 * point.extend(1.0);
        DVec2::new(p.x / p.z, p.y / p.z)
    }

    /// Returns the inverse map, or `None` if this map is not invertible.
    pub fn inverse(&self) -> Option<Self> {
        let determinant = self.0.determinant();
        (determinant.is_finite() && determinant.abs() > 1e-300).then(|| Self(self.0.inverse()))
    }

    /// Returns the same map, scaled so that the last entry of its matrix is 1. If this entry is zero, the matrix is scaled to a
    /// norm of 1 instead. Returns `None` if the result is not finite.
    fn scaled(self) -> Option<Self> {
        let last = self.0.z_axis.z;
        let norm = self
            .0
            .to_cols_array()
            .iter()
            .map(|v| v * v)
            .sum::<f64>()
            .sqrt();
        let by = if last.abs() > 1e-12 * norm {
            last
        } else {
            norm
        };
        let scaled = self.0 * (1.0 / by);
        scaled.is_finite().then_some(Self(scaled))
    }
}

/// Returns the similarity transform that moves the centroid of the points to the origin and makes their mean distance from the
/// origin √2.
fn normalization(points: impl Iterator<Item = DVec2> + Clone) -> Option<DMat3> {
    let count = points.clone().count() as f64;
    let middle = points.clone().sum::<DVec2>() / count;
    let spread = points.map(|p| p.distance(middle)).sum::<f64>() / count;
    if !(spread.is_finite() && spread > 0.0) {
        return None;
    }
    let scale = std::f64::consts::SQRT_2 / spread;
    Some(DMat3::from_scale(DVec2::splat(scale)) * DMat3::from_translation(-middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [DVec2; 4] = [
        DVec2::new(0.0, 0.0),
        DVec2::new(1.0, 0.0),
        DVec2::new(1.0, 1.0),
        DVec2::new(0.0, 1.0),
    ];

    #[test]
    fn four_corners_are_mapped_exactly() {
        let to = [
            DVec2::new(10.0, 5.0),
            DVec2::new(600.0, 20.0),
            DVec2::new(560.0, 470.0),
            DVec2::new(40.0, 400.0),
        ];
        let pairs: Vec<_> = SQUARE.into_iter().zip(to).collect();
        let map = Homography::from_pairs(&pairs).unwrap();
        let back = map.inverse().unwrap();
        for (a, b) in pairs {
            assert!(map.apply(a).distance(b) < 1e-8);
            assert!(back.apply(b).distance(a) < 1e-10);
        }
    }

    #[test]
    fn degenerate_points_determine_no_map() {
        let on_a_line = SQUARE.map(|p| (p, DVec2::new(p.x, 2.0 * p.x)));
        assert_eq!(Homography::from_pairs(&on_a_line), None);
        let three_on_a_line = [DVec2::ZERO, DVec2::X, 2.0 * DVec2::X, DVec2::Y].map(|p| (p, p));
        assert_eq!(Homography::from_pairs(&three_on_a_line), None);
        assert_eq!(
            Homography::from_pairs(&[(DVec2::NAN, DVec2::ZERO); 4]),
            None
        );
        assert_eq!(
            Homography::from_pairs(&[(DVec2::ZERO, DVec2::ZERO); 3]),
            None
        );
    }
}
