//! Continuous collision detection: a body never passes through a solid within one tick, at any speed.
//!
//! Each solid is convex, and its distance to any point is known exactly. A step along the path is as long as the distance to
//! the nearest solid, so the path never enters a solid. **Sources**: method: Hart 1996, "Sphere tracing"; bodies that pass
//! through solids at high speed: Jockel 2005, §6.1.

use glam::Vec3;

use crate::geometry::{Hull, Solid};
use crate::world::{CollisionResponse, MotionParams};

/// Position and velocity at the end of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MotionEnd {
    pub position_m: Vec3,
    pub velocity_mps: Vec3,
}

/// Maximum gap between a body and a solid that counts as contact. Without this limit, sphere tracing would take ever smaller
/// steps.
const TOUCH_M: f32 = 1e-4;

/// What a body meets and how it answers to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover<'a> {
    pub solids: &'a [Solid],
    pub hull: Hull,
    pub motion: &'a MotionParams,
    /// The ground that the body walks on; `None` if it swims.
    pub ground: Option<Ground>,
    pub dt_secs: f32,
}

/// The ground of a walking body, and the solids that the body climbs: those whose top is not higher than `climb_to_m`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    /// Unit vector away from the ground.
    pub up: Vec3,
    /// Largest coordinate along `up` of the top of a solid that the body climbs.
    pub climb_to_m: f32,
}

impl Ground {
    /// Whether the body climbs over a solid.
    fn is_climbed(&self, solid: &Solid) -> bool {
        solid.top_m(self.up) <= self.climb_to_m
    }

    /// Returns a way up along the surface of a solid that is as long as the part of `left_m` that points into the solid. It lets a
    /// body climb as fast as it walks.
    fn way_up(&self, left_m: Vec3, normal: Vec3) -> Vec3 {
        let along_m = left_m - normal * left_m.dot(normal);
        let lost_m = left_m.length() - along_m.length();
        let upwards = self.up - normal * self.up.dot(normal);
        upwards.normalize_or_zero() * lost_m
    }
}

/// Moves a body by `velocity_mps · dt_secs` and returns its position and velocity at the end. `motion.collision` sets the
/// response to a contact with a solid. A walking body climbs over low solids, and goes round the others.
///
/// A body that starts outside all solids ends outside all solids. A body that starts inside one swims out by the shortest path.
pub(super) fn move_body(mover: &Mover<'_>, from_m: Vec3, velocity_mps: Vec3) -> MotionEnd {
    let Mover {
        solids,
        hull,
        motion,
        ground,
        dt_secs,
    } = *mover;
    if is_inside(solids, from_m) {
        let speed = velocity_mps.length().max(motion.cruise_mps);
        let velocity_mps = exit_direction(solids, from_m) * speed;
        return MotionEnd {
            position_m: from_m + velocity_mps * dt_secs,
            velocity_mps,
        };
    }
    let mut at = from_m;
    let mut velocity = velocity_mps;
    let mut left = velocity_mps * dt_secs;
    // Each iteration ends at a contact or at the end of the motion. A body that touches three solids that form a corner cannot
    // move further. Three contacts and one final free motion make four iterations.
    for _ in 0..4 {
        let length = left.length();
        if length < 1e-7 {
            break;
        }
        let direction = left / length;
        let mut free = length;
        let mut touched = None;
        for solid in solids {
            if let Some(reached) = first_contact(solid, at, direction, free, &hull) {
                free = reached;
                touched = Some(solid);
            }
        }
        at += direction * free;
        left -= direction * free;
        let Some(solid) = touched else {
            break;
        };
        let mut normal = solid.normal(hull.nearest_to(at, solid));
        if let Some(ground) = ground {
            if ground.is_climbed(solid) {
                let up_m = ground.way_up(left, normal);
                left += up_m - normal * left.dot(normal).min(0.0);
                continue;
            }
            let level = normal - ground.up * normal.dot(ground.up);
            normal = level.normalize_or(normal);
        }
        let into = velocity.dot(normal).min(0.0);
        let along = velocity - normal * into;
        let kept = 1.0 - (motion.friction * -into / along.length().max(1e-6)).min(1.0);
        match motion.collision {
            CollisionResponse::Slide => {
                velocity = along * kept;
                left -= normal * left.dot(normal).min(0.0);
            }
            CollisionResponse::Bounce => {
                velocity = along * kept - normal * (into * motion.restitution);
                left -= normal * (left.dot(normal).min(0.0) * (1.0 + motion.restitution));
            }
            CollisionResponse::PushOut => {
                velocity = along * kept;
                left = Vec3::ZERO;
            }
        }
    }
    // The tips of a wide body sweep sideways in a turn.
    let sweep_mps = hull.arm_m.length() * motion.max_turn_rate_dps.to_radians();
    let ease_mps = motion.cruise_mps * 0.5;
    at = ease_off(solids, at, &hull, ease_mps * dt_secs + sweep_mps * dt_secs);
    // Rounding errors may have moved the body into a solid.
    if is_inside(solids, at) {
        at = from_m;
        velocity = Vec3::ZERO;
    }
    MotionEnd {
        position_m: at,
        velocity_mps: velocity,
    }
}

/// Lets a body sink straight down by at most `most_m`, until it touches a solid. Returns its position and, if it touches one, the
/// normal there.
pub(super) fn sink(
    solids: &[Solid],
    at: Vec3,
    down: Vec3,
    most_m: f32,
    radius_m: f32,
) -> (Vec3, Option<Vec3>) {
    let hull = Hull::from(radius_m);
    let (mut free_m, mut normal) = (most_m, None);
    for solid in solids {
        if let Some(reached_m) = first_contact(solid, at, down, free_m, &hull) {
            free_m = reached_m;
            normal = Some(solid.normal(at + down * reached_m));
        }
    }
    (at + down * free_m, normal)
}

/// Whether a point lies in any solid.
pub(super) fn is_inside(solids: &[Solid], point: Vec3) -> bool {
    solids
        .iter()
        .any(|solid| solid.signed_distance_m(point) < 0.0)
}

/// Returns the distance along `direction` after which a body touches the solid; `None` if it does not touch the solid within
/// `free_m`.
fn first_contact(
    solid: &Solid,
    at: Vec3,
    direction: Vec3,
    free_m: f32,
    hull: &Hull,
) -> Option<f32> {
    let distance_m = |at: Vec3| solid.signed_distance_m(hull.nearest_to(at, solid));
    let mut now = solid.signed_distance_m(at);
    if !hull.is_sphere() {
        // Most solids are too far away for any part of the hull.
        if now - hull.widest_m() > free_m {
            return None;
        }
        now = distance_m(at);
    }
    // If the hull of the body already overlaps the solid (for example, after the scene was edited), the body may not come
    // closer to the solid.
    let keep = hull.radius_m.min(now);
    if now - keep > free_m {
        return None;
    }
    let mut way = 0.0;
    for _ in 0..32 {
        let point = at + direction * way;
        let gap = distance_m(point) - keep;
        if gap <= TOUCH_M {
            // On a straight line, once the distance to a convex solid rises, it never falls again.
            let approaches = solid.normal(hull.nearest_to(point, solid)).dot(direction) < -1e-4;
            return approaches.then_some(way);
        }
        way += gap;
        if way >= free_m {
            return None;
        }
    }
    // The body passes almost parallel to the surface. Stopping here is always safe.
    Some(way)
}

/// Returns the position of a body after it was moved out of the solids that its hull overlaps, by at most `most_m` per solid.
/// Returns `at` if the new position would lie inside a solid.
fn ease_off(solids: &[Solid], at: Vec3, hull: &Hull, most_m: f32) -> Vec3 {
    let mut eased = at;
    for solid in solids {
        let nearest = hull.nearest_to(eased, solid);
        let gap = hull.radius_m - solid.signed_distance_m(nearest);
        if gap > 0.0 {
            eased += solid.normal(nearest) * gap.min(most_m);
        }
    }
    if eased != at && is_inside(solids, eased) {
        at
    } else {
        eased
    }
}

/// Returns the direction in which a straight path out of all solids is shortest. The candidates are the normals of the solids
/// around the point and eight horizontal directions.
fn exit_direction(solids: &[Solid], from_m: Vec3) -> Vec3 {
    let outward = solids
        .iter()
        .filter(|solid| solid.signed_distance_m(from_m) < 0.0)
        .map(|solid| solid.normal(from_m));
    let around = (0..8).map(|step| {
        let (sin, cos) = (step as f32 * std::f32::consts::FRAC_PI_4).sin_cos();
        Vec3::new(cos, 0.0, sin)
    });
    let length = |direction: Vec3| {
        let mut way = 0.0;
        for _ in 0..64 {
            let point = from_m + direction * way;
            let depth = solids
                .iter()
                .map(|solid| -solid.signed_distance_m(point))
                .fold(f32::MIN, f32::max);
            if depth < 0.0 {
                break;
            }
            way += depth.max(0.01);
        }
        way
    };
    outward
        .chain(around)
        .min_by(|&a, &b| length(a).total_cmp(&length(b)))
        .unwrap_or(Vec3::Y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    const ROCK: [Solid; 1] = [Solid::Sphere {
        center_m: Vec3::ZERO,
        radius_m: 1.0,
    }];

    fn params(collision: CollisionResponse) -> MotionParams {
        MotionParams {
            collision,
            restitution: 0.5,
            friction: 0.0,
            ..MotionParams::default()
        }
    }

    fn mover<'a>(solids: &'a [Solid], motion: &'a MotionParams, dt_secs: f32) -> Mover<'a> {
        Mover {
            solids,
            hull: Hull::from(0.1),
            motion,
            ground: None,
            dt_secs,
        }
    }

    #[test]
    fn the_wing_of_a_wide_body_stops_at_a_stone_beside_its_way() {
        let motion = params(CollisionResponse::PushOut);
        let wide = Mover {
            hull: Hull::across(0.1, Vec3::X, 1.5),
            ..mover(&ROCK, &motion, 1.0)
        };
        let end = move_body(&wide, Vec3::new(2.0, 0.0, -5.0), Vec3::Z * 10.0);
        // The tip of the wing is at x = 0.5; the stone begins there at z = -0.87.
        assert!((-1.1..=-0.9).contains(&end.position_m.z), "{end:?}");
    }

    #[test]
    fn a_walking_body_climbs_a_low_stone_and_goes_round_a_high_one() {
        let motion = params(CollisionResponse::Slide);
        let walker = |climb_to_m: f32| Mover {
            ground: Some(Ground {
                up: Vec3::Y,
                climb_to_m,
            }),
            ..mover(&ROCK, &motion, 1.0 / 60.0)
        };
        let go = |climb_to_m: f32| {
            // Only the top of the stone stands out of the ground, so its side is no wall.
            let mut at = Vec3::new(-2.0, 0.8, 0.05);
            let mut highest_m = at.y;
            for _ in 0..600 {
                at = move_body(&walker(climb_to_m), at, Vec3::X * 0.5).position_m;
                at = sink(&ROCK, at, Vec3::NEG_Y, 0.4 / 60.0, 0.1).0;
                at.y = at.y.max(0.8);
                highest_m = highest_m.max(at.y);
            }
            (at, highest_m)
        };
        let (over, highest_m) = go(1.0);
        assert!(over.x > 1.0 && highest_m > 1.05, "{over} {highest_m}");
        let (round, highest_m) = go(0.9);
        assert!(round.x > 1.0 && highest_m < 0.81, "{round} {highest_m}");
    }

    fn go(from: Vec3, velocity: Vec3, collision: CollisionResponse) -> MotionEnd {
        move_body(&mover(&ROCK, &params(collision), 1.0), from, velocity)
    }

    #[test]
    fn a_very_fast_body_stops_at_the_surface() {
        let end = go(
            Vec3::new(-5.0, 0.0, 0.0),
            Vec3::X * 1000.0,
            CollisionResponse::Slide,
        );
        assert!((end.position_m.x + 1.1).abs() < 1e-3, "{end:?}");
        assert!(end.velocity_mps.length() < 1e-3);
    }

    #[test]
    fn slide_continues_along_the_wall_bounce_returns_and_push_out_stops() {
        let wall = [Solid::Box {
            center_m: Vec3::new(1.0, 0.0, 0.0),
            half_m: Vec3::new(0.5, 5.0, 5.0),
            axis: glam::Vec2::X,
        }];
        let end = |collision| {
            let velocity = Vec3::new(1.0, 0.0, 1.0);
            move_body(&mover(&wall, &params(collision), 1.0), Vec3::ZERO, velocity)
        };
        let slide = end(CollisionResponse::Slide);
        assert_near(slide.position_m, Vec3::new(0.4, 0.0, 1.0), 1e-3);
        assert!(slide.velocity_mps.distance(Vec3::Z) < 1e-5);
        let bounce = end(CollisionResponse::Bounce);
        assert_near(bounce.position_m, Vec3::new(0.1, 0.0, 1.0), 1e-3);
        assert!(bounce.velocity_mps.distance(Vec3::new(-0.5, 0.0, 1.0)) < 1e-5);
        let stopped = end(CollisionResponse::PushOut);
        assert_near(stopped.position_m, Vec3::new(0.4, 0.0, 0.4), 1e-3);
        assert!(stopped.velocity_mps.distance(Vec3::Z) < 1e-5);
    }

    #[test]
    fn a_body_inside_two_overlapping_solids_swims_out() {
        let rocks = [
            Solid::Sphere {
                center_m: Vec3::new(-0.5, 0.0, 0.0),
                radius_m: 1.0,
            },
            Solid::Sphere {
                center_m: Vec3::new(0.5, 0.0, 0.0),
                radius_m: 1.0,
            },
        ];
        let mut at = Vec3::new(0.01, 0.0, 0.02);
        let mut velocity = Vec3::X * 0.3;
        for _ in 0..600 {
            let slide = params(CollisionResponse::Slide);
            let end = move_body(&mover(&rocks, &slide, 1.0 / 60.0), at, velocity);
            (at, velocity) = (end.position_m, end.velocity_mps);
            if !is_inside(&rocks, at) {
                return;
            }
        }
        panic!("still inside at {at}");
    }

    #[test]
    fn a_body_that_presses_against_a_solid_for_minutes_never_enters_it() {
        let mut at = Vec3::new(-1.2, 0.0, 0.01);
        for _ in 0..20_000 {
            let slide = params(CollisionResponse::Slide);
            let velocity = Vec3::new(0.7, 0.0, 0.001);
            at = move_body(&mover(&ROCK, &slide, 1.0 / 60.0), at, velocity).position_m;
            assert!(!is_inside(&ROCK, at), "{at}");
            if at.x > 1.0 {
                break;
            }
        }
    }
}
