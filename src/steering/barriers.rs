//! Avoidance of a single barrier of any shape, which can block from outside, from inside or from both sides.
//! Containment in a region.
//!
//! The rocks of the pool are convex solids; `avoid_solids` handles all of them at once. This module is for a single
//! barrier that may block from only one side: the wall of a tank, a window. **Source**: Reynolds 1999;
//! OpenSteer, obstacles and `seenFrom`; braking from Buckland 2005, chapter 3.

use glam::Vec3;

use super::motion::Motion;

/// The shape of a barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Barrier {
    /// A sphere.
    Sphere {
        /// Center.
        center_m: Vec3,
        /// Radius.
        radius_m: f32,
    },
    /// An axis-aligned cuboid.
    Box {
        /// Center.
        center_m: Vec3,
        /// Half of the extents along x, y, z.
        half_m: Vec3,
    },
    /// An infinite plane. Its normal points to the outside.
    Plane {
        /// Any point on the plane.
        point_m: Vec3,
        /// Unit normal.
        normal: Vec3,
    },
    /// A rectangle perpendicular to `normal`.
    Rectangle {
        /// Center.
        center_m: Vec3,
        /// Unit normal.
        normal: Vec3,
        /// Unit vector along the width, perpendicular to the normal.
        right: Vec3,
        /// Half of the width and of the height.
        half_m: [f32; 2],
    },
    /// A cylinder with hemispherical ends.
    Capsule {
        /// One end of the axis.
        from_m: Vec3,
        /// The other end of the axis.
        to_m: Vec3,
        /// Radius.
        radius_m: f32,
    },
}

/// Sides from which a barrier blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenFrom {
    /// Only from outside, like a rock.
    Outside,
    /// Only from inside, like the wall of a tank.
    Inside,
    /// From both sides, like a wall.
    Both,
}

/// The point where the path ahead meets a barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hit {
    /// Distance along the path.
    distance_m: f32,
    /// Unit normal of the barrier at that point, facing the vehicle.
    normal: Vec3,
    /// Whether the vehicle is outside the barrier.
    from_outside: bool,
}

/// Turning share of the force when the barrier is at the largest distance. The share grows to 1 as the barrier comes
/// nearer.
const TURN_SHARE_LEAST: f32 = 0.3;

/// Share of the force that brakes when the barrier is directly in front of the vehicle. **Source**: Buckland 2005, who
/// uses 0.2.
const BRAKE_SHARE: f32 = 0.2;

/// Turns away from a barrier within `lookahead_m` ahead. The braking force is stronger for a nearer barrier. In an
/// exact head-on approach, the vehicle turns right. Returns `None` if the path is free.
pub fn avoid_barrier(
    motion: &Motion,
    barrier: &Barrier,
    seen_from: SeenFrom,
    radius_m: f32,
    lookahead_m: f32,
    force_n: f32,
) -> Option<Vec3> {
    let hit = first_hit(motion, barrier, seen_from, radius_m, lookahead_m)?;
    let perpendicular_part = hit.normal - motion.forward * hit.normal.dot(motion.forward);
    let side = if perpendicular_part.length_squared() > 1e-6 {
        perpendicular_part.normalize_or_zero()
    } else {
        motion.side()
    };
    let nearness = 1.0 - (hit.distance_m / lookahead_m.max(1e-6)).clamp(0.0, 1.0);
    let turn = force_n * (TURN_SHARE_LEAST + (1.0 - TURN_SHARE_LEAST) * nearness);
    Some(side * turn - motion.forward * (force_n * BRAKE_SHARE * nearness))
}

/// Returns the first contact of the vehicle's sphere with the barrier if the vehicle moves straight ahead. Returns
/// `None` if there is no contact within `reach_m`, or if the barrier does not block from the vehicle's side (see
/// `seen_from`).
fn first_hit(
    motion: &Motion,
    barrier: &Barrier,
    seen_from: SeenFrom,
    radius_m: f32,
    reach_m: f32,
) -> Option<Hit> {
    let (at, ahead) = (motion.position_m, motion.forward);
    let counts = |hit: &Hit| {
        let side = match seen_from {
            SeenFrom::Outside => hit.from_outside,
            SeenFrom::Inside => !hit.from_outside,
            SeenFrom::Both => true,
        };
        side && hit.distance_m <= reach_m && hit.normal.dot(ahead) < 0.0
    };
    match *barrier {
        Barrier::Plane { point_m, normal } => {
            plane_hit(at, ahead, point_m, normal, radius_m).filter(counts)
        }
        Barrier::Rectangle {
            center_m,
            normal,
            right,
            half_m,
        } => {
            let hit = plane_hit(at, ahead, center_m, normal, radius_m).filter(counts)?;
            let offset = at + ahead * hit.distance_m - center_m;
            let up = right.cross(normal);
            let is_on = offset.dot(right).abs() <= half_m[0] + radius_m
                && offset.dot(up).abs() <= half_m[1] + radius_m;
            is_on.then_some(hit)
        }
        _ => march(at, ahead, barrier, radius_m, reach_m).filter(counts),
    }
}

/// Keeps the vehicle in a region: steers inwards if the position predicted for `lookahead_secs` is outside. For a
/// position outside, `outside` returns the vector from the nearest point of the region to this position; for a position
/// inside, it returns `None`.
pub fn contain(
    motion: &Motion,
    outside: impl Fn(Vec3) -> Option<Vec3>,
    lookahead_secs: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let future = motion.position_m + motion.velocity_mps * lookahead_secs;
    let inward = -outside(future)?.normalize_or(motion.forward);
    // **Source**: Reynolds 1999, "Containment". The force is mostly sideways, so that the vehicle turns instead of
    // stopping.
    let perpendicular_part = inward - motion.forward * inward.dot(motion.forward);
    let direction = if perpendicular_part.length_squared() > 1e-6 {
        perpendicular_part.normalize_or_zero() + inward * 0.5
    } else if inward.dot(motion.forward) < 0.0 {
        motion.side() + inward * 0.5
    } else {
        inward
    };
    Some(direction.normalize_or(motion.forward) * speed_mps - motion.velocity_mps)
}

fn plane_hit(at: Vec3, ahead: Vec3, point: Vec3, normal: Vec3, radius: f32) -> Option<Hit> {
    let height = (at - point).dot(normal);
    let from_outside = height >= 0.0;
    let facing = if from_outside { normal } else { -normal };
    let closing = -ahead.dot(facing);
    (closing > 1e-6).then(|| Hit {
        distance_m: ((height.abs() - radius) / closing).max(0.0),
        normal: facing,
        from_outside,
    })
}

/// Finds the first contact by sphere tracing: each step along the path is as long as the distance to the surface, so no
/// step can pass through the surface.
fn march(at: Vec3, ahead: Vec3, barrier: &Barrier, radius: f32, reach: f32) -> Option<Hit> {
    let from_outside = distance_m(barrier, at) >= 0.0;
    let sign = if from_outside { 1.0 } else { -1.0 };
    let mut distance = 0.0;
    for _ in 0..64 {
        let point = at + ahead * distance;
        let gap = distance_m(barrier, point) * sign - radius;
        if gap < 1e-3 {
            let normal = gradient(barrier, point) * sign;
            return Some(Hit {
                distance_m: distance,
                normal,
                from_outside,
            });
        }
        distance += gap;
        if distance > reach {
            return None;
        }
    }
    None
}

fn distance_m(barrier: &Barrier, point: Vec3) -> f32 {
    match *barrier {
        Barrier::Sphere { center_m, radius_m } => point.distance(center_m) - radius_m,
        Barrier::Box { center_m, half_m } => {
            let q = (point - center_m).abs() - half_m;
            q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
        }
        Barrier::Capsule {
            from_m,
            to_m,
            radius_m,
        } => {
            let nearest = crate::geometry::nearest_on_segment(from_m, to_m, point);
            point.distance(nearest) - radius_m
        }
        Barrier::Plane { .. } | Barrier::Rectangle { .. } => f32::MAX,
    }
}

/// Returns the unit vector that points out of the barrier: the gradient of the barrier's distance function.
fn gradient(barrier: &Barrier, point: Vec3) -> Vec3 {
    let step = 1e-3;
    let along = |axis: Vec3| {
        distance_m(barrier, point + axis * step) - distance_m(barrier, point - axis * step)
    };
    Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or(Vec3::Y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(position_m: Vec3) -> Motion {
        Motion {
            position_m,
            velocity_mps: Vec3::X,
            forward: Vec3::X,
            up: Vec3::Y,
        }
    }

    fn barriers() -> [(&'static str, Barrier); 5] {
        let center_m = Vec3::new(6.0, 0.0, 0.0);
        [
            (
                "sphere",
                Barrier::Sphere {
                    center_m,
                    radius_m: 1.0,
                },
            ),
            (
                "box",
                Barrier::Box {
                    center_m,
                    half_m: Vec3::ONE,
                },
            ),
            (
                "plane",
                Barrier::Plane {
                    point_m: Vec3::X * 5.0,
                    normal: Vec3::NEG_X,
                },
            ),
            (
                "rectangle",
                Barrier::Rectangle {
                    center_m: Vec3::X * 5.0,
                    normal: Vec3::NEG_X,
                    right: Vec3::Z,
                    half_m: [1.0, 1.0],
                },
            ),
            (
                "capsule",
                Barrier::Capsule {
                    from_m: center_m - Vec3::Y,
                    to_m: center_m + Vec3::Y,
                    radius_m: 1.0,
                },
            ),
        ]
    }

    #[test]
    fn every_shape_is_hit_at_its_surface_and_missed_beside_it() {
        for (name, barrier) in barriers() {
            let hit = |z: f32, reach| {
                first_hit(
                    &motion(Vec3::new(0.0, 0.0, z)),
                    &barrier,
                    SeenFrom::Both,
                    0.25,
                    reach,
                )
            };
            let found = hit(0.01, 20.0).unwrap();
            assert!((found.distance_m - 4.75).abs() < 5e-3, "{name}: {found:?}");
            assert!(
                found.normal.distance(Vec3::NEG_X) < 0.05,
                "{name}: {found:?}"
            );
            assert!(hit(0.01, 4.0).is_none(), "{name}: beyond the lookahead");
            if name != "plane" {
                assert!(hit(2.5, 20.0).is_none(), "{name}: beside it");
            }
        }
    }

    #[test]
    fn a_one_sided_barrier_does_not_block_from_the_other_side() {
        let at = motion(Vec3::ZERO);
        for (name, barrier) in barriers() {
            let is_hit = |seen_from| first_hit(&at, &barrier, seen_from, 0.1, 20.0).is_some();
            assert!(is_hit(SeenFrom::Both), "{name}");
            assert_ne!(
                is_hit(SeenFrom::Outside),
                is_hit(SeenFrom::Inside),
                "{name}"
            );
        }
        let tank = Barrier::Sphere {
            center_m: Vec3::ZERO,
            radius_m: 3.0,
        };
        let hit = first_hit(&motion(Vec3::X), &tank, SeenFrom::Inside, 0.5, 9.0).unwrap();
        assert!(
            (hit.distance_m - 1.5).abs() < 5e-3 && !hit.from_outside,
            "{hit:?}"
        );
        assert!(first_hit(&motion(Vec3::X), &tank, SeenFrom::Outside, 0.5, 9.0).is_none());
    }

    #[test]
    fn head_on_it_turns_right_and_brakes_more_when_near() {
        let ball = Barrier::Sphere {
            center_m: Vec3::X * 6.0,
            radius_m: 1.0,
        };
        let force = |x: f32, z: f32| {
            avoid_barrier(
                &motion(Vec3::new(x, 0.0, z)),
                &ball,
                SeenFrom::Outside,
                0.25,
                6.0,
                2.0,
            )
            .unwrap()
        };
        let (far, near) = (force(0.0, 0.0), force(4.0, 0.0));
        assert!(far.z > 0.3, "to the right: {far}");
        assert!(
            near.x < far.x && near.x >= -0.4,
            "brakes: {near} after {far}"
        );
        // To the nearer side.
        assert!(force(0.0, -0.3).z < 0.0 && force(0.0, 0.3).z > 0.0);
    }

    #[test]
    fn a_vehicle_about_to_leave_its_region_turns_back() {
        let inside = |place: Vec3| {
            let out = place - place.clamp(Vec3::splat(-2.0), Vec3::splat(2.0));
            (out != Vec3::ZERO).then_some(out)
        };
        assert_eq!(contain(&motion(Vec3::ZERO), inside, 1.0, 1.0), None);
        let turned = contain(&motion(Vec3::X * 1.5), inside, 1.0, 1.0).unwrap() + Vec3::X;
        assert!(turned.x < 0.0 && turned.z > 0.5, "{turned}");
    }
}
