//! Smooth curves through points.

use glam::Vec3;

/// Returns the corners of a smooth curve through all points (Catmull-Rom spline), with `per_piece` corners per segment.
/// The corners can be the center line of a tube.
pub fn spline(points_m: &[Vec3], per_piece: usize, is_closed: bool) -> Vec<Vec3> {
    let count = points_m.len();
    if count < 3 {
        return points_m.to_vec();
    }
    let at = |index: isize| {
        let last = count as isize;
        let index = if is_closed {
            index.rem_euclid(last)
        } else {
            index.clamp(0, last - 1)
        };
        points_m[index as usize]
    };
    let pieces = if is_closed { count } else { count - 1 };
    let mut curve = Vec::with_capacity(pieces * per_piece + 1);
    for piece in 0..pieces as isize {
        let [a, b, c, d] = [at(piece - 1), at(piece), at(piece + 1), at(piece + 2)];
        for step in 0..per_piece.max(1) {
            let t = step as f32 / per_piece.max(1) as f32;
            let (linear, square) = (c - a, a * 2.0 - b * 5.0 + c * 4.0 - d);
            let cube = (b - c) * 3.0 + d - a;
            curve.push(b + (linear + (square + cube * t) * t) * (t * 0.5));
        }
    }
    if !is_closed {
        curve.push(at(count as isize - 1));
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;

    const L: [Vec3; 3] = [
        Vec3::ZERO,
        Vec3::new(10.0, 0.0, 0.0),
        Vec3::new(10.0, 0.0, 10.0),
    ];

    #[test]
    fn a_spline_goes_through_all_its_points() {
        for is_closed in [false, true] {
            let curve = spline(&L, 8, is_closed);
            for point in L {
                assert!(curve.iter().any(|p| p.distance(point) < 1e-4), "{point}");
            }
            assert_eq!(curve.len(), if is_closed { 24 } else { 17 });
        }
        // A spline through collinear points stays on their line.
        let line = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::X * 3.0];
        assert!(
            spline(&line, 5, false)
                .iter()
                .all(|p| p.y.abs() + p.z.abs() < 1e-6)
        );
    }
}
