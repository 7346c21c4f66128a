//! Steering along paths: following a tube, staying inside a tube, following a wall.
//!
//! **Source**: Reynolds 1999; OpenSteer, `steerToFollowPath` and `steerToStayOnPath`.

use glam::Vec3;

use super::motion::{Motion, seek};

/// A path of straight segments with a radius. A closed path continues from its end to its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tube<'p> {
    /// Corners, at least two.
    pub points_m: &'p [Vec3],
    /// Radius of the tube: positions within this distance of the center line are inside.
    pub radius_m: f32,
    /// Whether the last corner is connected to the first.
    pub is_closed: bool,
}

impl Tube<'_> {
    /// Length of the whole path.
    pub fn length_m(&self) -> f32 {
        self.pieces().map(|(from, to)| from.distance(to)).sum()
    }

    /// Returns the point of the center line nearest to a position, and the distance of this point from the start along
    /// the path. Returns `None` if the path has no segment.
    pub fn nearest(&self, position_m: Vec3) -> Option<(Vec3, f32)> {
        let mut length_so_far = 0.0;
        let mut nearest: Option<(Vec3, f32)> = None;
        for (from, to) in self.pieces() {
            let along = to - from;
            let share =
                (position_m - from).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
            let share = share.clamp(0.0, 1.0);
            let point = from + along * share;
            let is_nearer = nearest.is_none_or(|(p, _)| {
                point.distance_squared(position_m) < p.distance_squared(position_m)
            });
            if is_nearer {
                nearest = Some((point, length_so_far + along.length() * share));
            }
            length_so_far += along.length();
        }
        nearest
    }

    /// Returns the point at a distance from the start along the path. Beyond its length, a closed path begins again at
    /// its start; an open path stays at its end.
    pub fn point_after_m(&self, distance_m: f32) -> Option<Vec3> {
        let length = self.length_m();
        let mut remaining_m = if self.is_closed && length > 0.0 {
            distance_m.rem_euclid(length)
        } else {
            distance_m.clamp(0.0, length)
        };
        let mut last = None;
        for (from, to) in self.pieces() {
            let piece = from.distance(to);
            if remaining_m <= piece {
                return Some(
                    from + (to - from) * (remaining_m / piece.max(f32::MIN_POSITIVE)).min(1.0),
                );
            }
            remaining_m -= piece;
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

/// Follows a tube forwards (`direction` 1) or backwards (−1). Returns `None` if the position predicted for
/// `lookahead_secs` is inside the tube and farther along in this direction.
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
    let distance_ahead =
        direction * (lookahead_secs * motion.velocity_mps.length()).max(tube.radius_m);
    seek(motion, tube.point_after_m(now + distance_ahead)?, speed_mps)
}

/// Steers back to the center line of a tube. Returns `None` if the position predicted for `lookahead_secs` is inside
/// the tube.
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

/// Follows a wall: steers to a point `distance_m` in front of the wall, at the place of the wall that is nearest to the
/// position predicted for `lookahead_secs`.
///
/// `wall` returns the point of the wall nearest to a position, and its unit normal towards the free side.
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

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

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
    fn distances_are_measured_along_the_center_line() {
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
    fn inside_the_tube_and_moving_along_there_is_no_force() {
        let swimmer = motion(Vec3::new(2.0, 0.0, 0.2), Vec3::X);
        assert_eq!(follow_path(&swimmer, &tube(), 1.0, 1.0, 1.0), None);
        assert_eq!(stay_on_path(&swimmer, &tube(), 1.0, 1.0), None);
        let back = follow_path(&swimmer, &tube(), -1.0, 1.0, 1.0).unwrap();
        assert!(back.x < -1.0, "must turn back: {back}");
    }

    #[test]
    fn a_vehicle_outside_the_tube_returns() {
        let swimmer = motion(Vec3::new(2.0, 0.0, 2.0), Vec3::X);
        // In one second the vehicle is at (3, 2); the nearest point of the path is (3, 0).
        let expected = Vec3::new(1.0, 0.0, -2.0).normalize() - Vec3::X;
        assert_near(
            stay_on_path(&swimmer, &tube(), 1.0, 1.0).unwrap(),
            expected,
            1e-5,
        );
        assert_near(
            follow_path(&swimmer, &tube(), 1.0, 1.0, 1.0).unwrap(),
            expected,
            1e-5,
        );
    }

    #[test]
    fn walls_are_followed_at_a_distance() {
        let wall = |position: Vec3| Some((position.with_z(0.0), Vec3::Z));
        let follow = |z: f32| {
            follow_wall(
                &motion(Vec3::new(0.0, 0.0, z), Vec3::X),
                wall,
                1.0,
                1.0,
                1.0,
            )
        };
        assert_eq!(follow(1.0), Some(Vec3::ZERO), "already there");
        let near = follow(0.5).unwrap();
        assert!(near.z > 0.0, "off the wall: {near}");
    }
}
