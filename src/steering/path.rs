//! Following a way: along a tube, inside a tube, along a wall, with a flow.
//!
//! **Source**: Reynolds 1999; OpenSteer's `steerToFollowPath` and `steerToStayOnPath`.

use glam::Vec3;

use super::motion::{Motion, seek};

/// A way of straight pieces with a radius; closed when its end leads to its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tube<'p> {
    /// Corners, at least two.
    pub points_m: &'p [Vec3],
    /// How far from the middle is still inside.
    pub radius_m: f32,
    /// Whether the last corner leads to the first.
    pub is_closed: bool,
}

impl Tube<'_> {
    /// Length of the whole way.
    pub fn length_m(&self) -> f32 {
        self.pieces().map(|(from, to)| from.distance(to)).sum()
    }

    /// The nearest point of the middle line, with the way to it from the start; `None` without a piece.
    pub fn nearest(&self, place_m: Vec3) -> Option<(Vec3, f32)> {
        let mut walked = 0.0;
        let mut nearest: Option<(Vec3, f32)> = None;
        for (from, to) in self.pieces() {
            let along = to - from;
            let share = (place_m - from).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
            let share = share.clamp(0.0, 1.0);
            let point = from + along * share;
            let is_nearer = nearest
                .is_none_or(|(p, _)| point.distance_squared(place_m) < p.distance_squared(place_m));
            if is_nearer {
                nearest = Some((point, walked + along.length() * share));
            }
            walked += along.length();
        }
        nearest
    }

    /// The point after so much of the way; a closed way goes round, an open one ends.
    pub fn point_after_m(&self, way_m: f32) -> Option<Vec3> {
        let length = self.length_m();
        let mut left = if self.is_closed && length > 0.0 {
            way_m.rem_euclid(length)
        } else {
            way_m.clamp(0.0, length)
        };
        let mut last = None;
        for (from, to) in self.pieces() {
            let piece = from.distance(to);
            if left <= piece {
                return Some(from + (to - from) * (left / piece.max(f32::MIN_POSITIVE)).min(1.0));
            }
            left -= piece;
            last = Some(to);
        }
        last
    }

    fn pieces(&self) -> impl Iterator<Item = (Vec3, Vec3)> + '_ {
        let points = self.points_m;
        let back = self.is_closed && points.len() > 2;
        let closing = back.then(|| (points[points.len() - 1], points[0]));
        points
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .chain(closing)
    }
}

/// Corners of a smooth curve through all points (Catmull-Rom), `per_piece` for each piece, for a [`Tube`] with a spline's middle.
pub fn spline(points_m: &[Vec3], per_piece: usize, is_closed: bool) -> Vec<Vec3> {
    let count = points_m.len();
    if count < 3 {
        return points_m.to_vec();
    }
    let at = |place: isize| {
        let last = count as isize;
        let place = if is_closed {
            place.rem_euclid(last)
        } else {
            place.clamp(0, last - 1)
        };
        points_m[place as usize]
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

/// Goes along a tube in a direction (1 onwards, −1 back), looking `lookahead_secs` ahead. Not applicable while the future
/// place is inside and farther along.
pub fn follow_path(
    motion: &Motion,
    tube: &Tube<'_>,
    direction: f32,
    lookahead_secs: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let future = motion.position_m + motion.velocity_mps * lookahead_secs;
    let (_, now) = tube.nearest(motion.position_m)?;
    let (middle, then) = tube.nearest(future)?;
    let ahead = if tube.is_closed {
        let length = tube.length_m().max(f32::MIN_POSITIVE);
        (then - now + length * 0.5).rem_euclid(length) - length * 0.5
    } else {
        then - now
    };
    let is_inside = middle.distance(future) <= tube.radius_m;
    if is_inside && ahead * direction > 0.0 {
        return None;
    }
    let way = direction * (lookahead_secs * motion.velocity_mps.length()).max(tube.radius_m);
    seek(motion, tube.point_after_m(now + way)?, speed_mps)
}

/// Comes back to the middle of a tube. Not applicable while the place `lookahead_secs` ahead is inside.
pub fn stay_on_path(
    motion: &Motion,
    tube: &Tube<'_>,
    lookahead_secs: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let future = motion.position_m + motion.velocity_mps * lookahead_secs;
    let (middle, _) = tube.nearest(future)?;
    if middle.distance(future) <= tube.radius_m {
        return None;
    }
    seek(motion, middle, speed_mps)
}

/// Goes along a wall at a distance from it: seeks the point `distance_m` off the wall's nearest point to the future place.
///
/// `wall` gives, for a place, the nearest point of the wall and its unit normal towards the free side.
pub fn follow_wall(
    motion: &Motion,
    wall: impl Fn(Vec3) -> Option<(Vec3, Vec3)>,
    distance_m: f32,
    lookahead_secs: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let future = motion.position_m + motion.velocity_mps * lookahead_secs;
    let (point, normal) = wall(future)?;
    seek(motion, point + normal * distance_m, speed_mps)
}

/// Goes with a flow: `flow_mps` is what flows at a place. Not applicable where nothing flows.
pub fn follow_flow(
    motion: &Motion,
    flow_mps: impl Fn(Vec3) -> Vec3,
    lookahead_secs: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let future = motion.position_m + motion.velocity_mps * lookahead_secs;
    let direction = flow_mps(future).try_normalize()?;
    Some(direction * speed_mps - motion.velocity_mps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const L: [Vec3; 3] = [
        Vec3::ZERO,
        Vec3::new(10.0, 0.0, 0.0),
        Vec3::new(10.0, 0.0, 10.0),
    ];

    fn tube() -> Tube<'static> {
        Tube {
            points_m: &L,
            radius_m: 0.5,
            is_closed: false,
        }
    }

    fn motion(position_m: Vec3, velocity_mps: Vec3) -> Motion {
        Motion {
            position_m,
            velocity_mps,
            forward: velocity_mps.normalize_or(Vec3::X),
            up: Vec3::Y,
        }
    }

    #[test]
    fn ways_along_a_tube_are_measured_along_its_middle() {
        assert_eq!(tube().length_m(), 20.0);
        assert_eq!(
            tube().nearest(Vec3::new(4.0, 0.0, -1.0)),
            Some((Vec3::X * 4.0, 4.0))
        );
        assert_eq!(
            tube().nearest(Vec3::new(12.0, 0.0, 3.0)),
            Some((Vec3::new(10.0, 0.0, 3.0), 13.0))
        );
        assert_eq!(tube().point_after_m(13.0), Some(Vec3::new(10.0, 0.0, 3.0)));
        assert_eq!(tube().point_after_m(99.0), Some(L[2]));
        let round = Tube {
            is_closed: true,
            ..tube()
        };
        assert_eq!(
            round.point_after_m(round.length_m() + 4.0).map(Vec3::round),
            Some(Vec3::X * 4.0)
        );
        let nowhere = Tube {
            points_m: &[],
            ..tube()
        };
        assert_eq!(
            (nowhere.nearest(Vec3::ZERO), nowhere.point_after_m(1.0)),
            (None, None)
        );
    }

    #[test]
    fn on_the_way_and_inside_nothing_is_to_do() {
        let swimmer = motion(Vec3::new(2.0, 0.0, 0.2), Vec3::X);
        assert_eq!(follow_path(&swimmer, &tube(), 1.0, 1.0, 1.0), None);
        assert_eq!(stay_on_path(&swimmer, &tube(), 1.0, 1.0), None);
        let back = follow_path(&swimmer, &tube(), -1.0, 1.0, 1.0).unwrap();
        assert!(back.x < -1.0, "turns round: {back}");
    }

    #[test]
    fn one_beside_the_way_comes_back_to_it() {
        let swimmer = motion(Vec3::new(2.0, 0.0, 2.0), Vec3::X);
        // In a second at (3, 2), whose nearest point is (3, 0).
        let expected = Vec3::new(1.0, 0.0, -2.0).normalize() - Vec3::X;
        assert!(
            stay_on_path(&swimmer, &tube(), 1.0, 1.0)
                .unwrap()
                .distance(expected)
                < 1e-5
        );
        assert!(
            follow_path(&swimmer, &tube(), 1.0, 1.0, 1.0)
                .unwrap()
                .distance(expected)
                < 1e-5
        );
    }

    #[test]
    fn a_spline_goes_through_all_its_points() {
        for is_closed in [false, true] {
            let curve = spline(&L, 8, is_closed);
            for point in L {
                assert!(curve.iter().any(|p| p.distance(point) < 1e-4), "{point}");
            }
            assert_eq!(curve.len(), if is_closed { 24 } else { 17 });
        }
        // Through points in a line it stays in the line.
        let line = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::X * 3.0];
        assert!(
            spline(&line, 5, false)
                .iter()
                .all(|p| p.y.abs() + p.z.abs() < 1e-6)
        );
    }

    #[test]
    fn a_wall_is_followed_at_its_distance_and_a_flow_along_it() {
        let wall = |place: Vec3| Some((place.with_z(0.0), Vec3::Z));
        let force = follow_wall(
            &motion(Vec3::new(0.0, 0.0, 1.0), Vec3::X),
            wall,
            1.0,
            1.0,
            1.0,
        );
        assert_eq!(force, Some(Vec3::ZERO), "already there");
        let near = follow_wall(
            &motion(Vec3::new(0.0, 0.0, 0.5), Vec3::X),
            wall,
            1.0,
            1.0,
            1.0,
        )
        .unwrap();
        assert!(near.z > 0.0, "off the wall: {near}");
        let vortex = |place: Vec3| Vec3::new(-place.z, 0.0, place.x);
        let swimmer = motion(Vec3::ZERO, Vec3::X);
        assert_eq!(
            follow_flow(&swimmer, vortex, 1.0, 2.0),
            Some(Vec3::new(-1.0, 0.0, 2.0))
        );
        assert_eq!(follow_flow(&swimmer, |_| Vec3::ZERO, 1.0, 2.0), None);
    }
}
