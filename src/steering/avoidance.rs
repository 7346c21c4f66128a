//! Avoidance of solids and of the pool's walls.
//!
//! All solids in the corridor exert a force. The vehicle keeps the side on which it passes the nearest solid until this
//! solid has left the corridor. In a head-on approach, the force of the active need decides the side; without such a
//! force, the vehicle passes on the right. **Source**: Reynolds 1999, "Obstacle avoidance" (corridor); Buckland 2005
//! (braking); Tu 1996 (decision by the active need).

use glam::{Vec2, Vec3};

use super::motion::Motion;
use crate::geometry::{Hull, Solid};

/// The corridor ahead of a vehicle. The vehicle avoids all solids in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corridor {
    /// Length of the corridor.
    pub length_m: f32,
    /// The cross section of the corridor: the hull of the vehicle with the distance that it keeps.
    pub hull: Hull,
    /// Largest force of a single solid.
    pub force_n: f32,
    /// Sum of the other forces on the vehicle: the force of the active need, and the force away from the edges of the
    /// pool. Zero if there are none.
    pub need_force: Vec3,
}

/// The solid that a vehicle is passing, and the side on which it passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PassingSide {
    /// Index of the solid plus one. 0 if the vehicle passes no solid.
    pub solid: u32,
    /// Unit vector from the solid towards this side.
    pub side: Vec3,
}

/// Share of the steering force that brakes when an obstacle is directly in front of the vehicle. Tuned by eye,
/// 2026-11-20.
const BRAKE_SHARE: f32 = 0.4;

/// A passing side leads into the solid if the cosine of its angle with the direction into the solid is greater than this.
const INTO_COS: f32 = 0.7;

/// Allowance for rounding, as a share of a distance.
const ROUNDING: f32 = 1e-4;

/// Steers around the solids in the corridor. If the corridor is clear, resets `passing` and returns `None`.
pub fn avoid_solids<'a>(
    motion: &Motion,
    corridor: &Corridor,
    solids: impl Iterator<Item = (usize, &'a Solid)> + Clone,
    passing: &mut PassingSide,
) -> Option<Vec3> {
    let ahead = motion.forward;
    let Hull { radius_m, .. } = corridor.hull;
    let widest_m = corridor.hull.widest_m();
    let hits = solids.filter_map(|(index, solid)| {
        let to_center = solid.center_m() - motion.position_m;
        let nearest = ahead * to_center.dot(ahead).clamp(0.0, corridor.length_m);
        let near_m = widest_m + solid.bounding_radius_m();
        if to_center.distance(nearest) > near_m * (1.0 + ROUNDING) {
            return None;
        }
        let (along, distance) =
            (corridor.hull).closest_approach(solid, motion.position_m, ahead, corridor.length_m);
        // Ignores a solid if the vehicle is already moving away from it.
        (distance < radius_m && (along > 0.0 || solid.normal(motion.position_m).dot(ahead) < 0.0))
            .then_some((index, solid, along, distance))
    });
    let depth_of = |distance: f32| ((radius_m - distance) / radius_m.max(1e-6)).clamp(0.0, 1.0);
    // The solid that the vehicle is passing has priority while it is in the corridor, because the nearest of several
    // rocks changes often.
    let (mut passed, mut nearest) = (None, None);
    for hit in hits.clone() {
        if passing.solid == hit.0 as u32 + 1 {
            passed = Some(hit);
            break;
        }
        let is_nearer = |other: (usize, &Solid, f32, f32)| {
            hit.2.total_cmp(&other.2).then(hit.0.cmp(&other.0)).is_lt()
        };
        if nearest.is_none_or(is_nearer) {
            nearest = Some(hit);
        }
    }
    let Some((anchor, solid, along, distance)) = passed.or(nearest) else {
        *passing = PassingSide::default();
        return None;
    };
    let nearer_side = side_of(motion, solid, along);
    let passing_side = if passed.is_some() {
        let kept_side = perpendicular_part(passing.side, ahead).normalize_or_zero();
        // A vehicle beside the solid does not pass it on a side that leads into it.
        let leads_into = kept_side.dot(solid.normal(motion.position_m)) < -INTO_COS;
        match nearer_side {
            Some(side) if leads_into || side.dot(kept_side) >= 0.0 => side,
            _ => kept_side,
        }
    } else {
        nearer_side
            .or_else(|| perpendicular_part(corridor.need_force, ahead).try_normalize())
            .unwrap_or_else(|| motion.side())
    };
    let passing_side = passing_side.normalize_or(motion.side());
    *passing = PassingSide {
        solid: anchor as u32 + 1,
        side: passing_side,
    };
    let mut force = Vec3::ZERO;
    for (index, solid, along, distance) in hits {
        let depth = depth_of(distance);
        let nearness = 1.0 - along / corridor.length_m.max(1e-6);
        // The force is zero at the edge of the corridor. Otherwise a vehicle that passes along the edge would
        // oscillate.
        let strength = corridor.force_n * (3.0 * depth).min(1.0) * (0.3 + 0.7 * nearness);
        let mut side = passing_side;
        if index != anchor {
            // Other solids may push the vehicle further to the chosen side, but never back from it.
            side = side_of(motion, solid, along).unwrap_or_default();
            side -= passing_side * side.dot(passing_side).min(0.0);
        }
        // The speed limits the brake, so that a vehicle that stands still does not brake.
        let brake = (strength * BRAKE_SHARE * nearness * depth)
            .min(motion.velocity_mps.dot(ahead).max(0.0) * corridor.force_n);
        force += side * strength - ahead * brake;
    }
    let ramp = (3.0 * depth_of(distance)).min(1.0);
    force += deflect_from_surface(motion, corridor, solid, passing_side) * ramp;
    Some(force)
}

/// Turns a part of the active need's force towards the passing side: the part that points into the solid. Without this
/// turn, a vehicle whose target is behind a rock would press against the rock indefinitely.
fn deflect_from_surface(motion: &Motion, corridor: &Corridor, solid: &Solid, side: Vec3) -> Vec3 {
    let normal = solid.normal(motion.position_m);
    let into = (-corridor.need_force.dot(normal)).max(0.0);
    let gap = corridor.hull.gap_m(motion.position_m, solid);
    let nearness = (1.0 - gap / (2.0 * corridor.hull.radius_m).max(1e-6)).clamp(0.0, 1.0);
    (normal + side) * (into * nearness)
}

/// Turns away from the walls of a box that is centered on the origin. The force begins at a distance of `turn_m` from a
/// wall.
///
/// The force is mostly sideways, so that the vehicle turns instead of stopping at the wall. Returns `None` if no wall
/// needs a force.
pub fn stay_inside_walls(
    motion: &Motion,
    half_m: Vec3,
    turn_m: f32,
    lookahead_m: f32,
    force_n: f32,
) -> Option<Vec3> {
    let ahead = motion.position_m + motion.forward * lookahead_m;
    let mut force = Vec3::ZERO;
    for axis in [Vec3::X, Vec3::Z] {
        let half = half_m.dot(axis);
        for inward in [axis, -axis] {
            let room = half + motion.position_m.dot(inward).min(ahead.dot(inward));
            if room >= turn_m {
                continue;
            }
            let strength = ((turn_m - room) / turn_m.max(1e-6)).min(2.0);
            let facing = motion.forward.dot(inward);
            if facing > 0.7 && half + motion.position_m.dot(inward) > 0.0 {
                continue;
            }
            let side = turn_towards(motion, inward);
            force += (side + inward * 0.3) * (strength * force_n);
        }
    }
    (force != Vec3::ZERO).then_some(force)
}

/// Returns the direction in which a vehicle turns to face `wanted`, perpendicular to its heading. One that moves straight away from it
/// turns to the side of the pool's center, or to the right if the center is straight behind.
fn turn_towards(motion: &Motion, wanted: Vec3) -> Vec3 {
    let sideways = perpendicular_part(wanted, motion.forward)
        .try_normalize()
        .filter(|_| motion.forward.dot(wanted) > -0.98);
    sideways.unwrap_or_else(|| {
        let to_middle = perpendicular_part(-motion.position_m, motion.forward);
        let side = motion.side();
        if to_middle.dot(side) < 0.0 {
            -side
        } else {
            side
        }
    })
}

/// How a vehicle leaves the picture, a rectangle that is centered on the origin, and comes back.
#[derive(Clone, Copy, Debug)]
pub struct EdgeCrossing {
    /// Half of the width and height of the picture; infinite for edges that it does not cross.
    pub half_m: Vec2,
    /// Distance beyond the edge from which on it turns back.
    pub turn_m: f32,
    /// Whether it leaves the picture to stay outside.
    pub leaves: bool,
}

/// Lets a vehicle cross the edges of the picture, and not swim along them half visible: beyond an edge it turns outwards if it swims
/// outwards, and inwards otherwise. At `turn_m` it turns back. Returns `None` if no force is needed.
pub fn cross_edges(motion: &Motion, crossing: &EdgeCrossing, force_n: f32) -> Option<Vec3> {
    let mut force = Vec3::ZERO;
    for (axis, half_m) in [(Vec3::X, crossing.half_m.x), (Vec3::Z, crossing.half_m.y)] {
        let along_m = motion.position_m.dot(axis);
        let beyond_m = along_m.abs() - half_m;
        let is_far = beyond_m >= crossing.turn_m;
        if beyond_m <= 0.0 || (is_far && crossing.leaves) {
            continue;
        }
        let outward = axis * along_m.signum();
        let goes_out = motion.forward.dot(outward) > 0.0 && !is_far;
        let wanted = if crossing.leaves || goes_out {
            outward
        } else {
            -outward
        };
        if motion.forward.dot(wanted) <= 0.7 {
            force += (turn_towards(motion, wanted) + wanted * 0.3) * force_n;
        }
    }
    (force != Vec3::ZERO).then_some(force)
}

/// Steers up or down to stay in the band of heights `band_m`. The force begins at 20 % of the band's height before its
/// edges. Returns `None` if no force is needed.
pub fn stay_in_depth_band(
    motion: &Motion,
    band_m: (f32, f32),
    lookahead_m: f32,
    force_n: f32,
) -> Option<Vec3> {
    let (low, high) = band_m;
    let turn = ((high - low) * 0.2).max(1e-3);
    let ahead = motion.position_m.y + motion.forward.y * lookahead_m;
    let below = ((low + turn - ahead.min(motion.position_m.y)) / turn).clamp(0.0, 2.0);
    let above = ((ahead.max(motion.position_m.y) - (high - turn)) / turn).clamp(0.0, 2.0);
    (below != above).then(|| Vec3::Y * ((below - above) * force_n))
}

/// Returns the unit vector from the nearest part of a solid to the path ahead. Horizontal directions are preferred.
/// Returns `None` in a head-on approach.
fn side_of(motion: &Motion, solid: &Solid, along: f32) -> Option<Vec3> {
    let out = solid.outward(motion.position_m + motion.forward * along)?;
    let side = perpendicular_part(out, motion.forward) * Vec3::new(1.0, 0.5, 1.0);
    (side.length_squared() > 1e-4).then(|| side.normalize_or_zero())
}

fn perpendicular_part(vector: Vec3, forward: Vec3) -> Vec3 {
    vector - forward * vector.dot(forward)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    fn motion(z: f32) -> Motion {
        Motion {
            position_m: Vec3::new(-3.0, 0.0, z),
            velocity_mps: Vec3::X,
            forward: Vec3::X,
            up: Vec3::Y,
        }
    }

    fn corridor(need_force: Vec3) -> Corridor {
        Corridor {
            length_m: 4.0,
            hull: Hull::from(0.5),
            force_n: 2.0,
            need_force,
        }
    }

    const ROCK: Solid = Solid::Sphere {
        center_m: Vec3::ZERO,
        radius_m: 1.0,
    };

    fn avoid(
        z: f32,
        need_force: Vec3,
        passing: &mut PassingSide,
        solids: &[Solid],
    ) -> Option<Vec3> {
        avoid_solids(
            &motion(z),
            &corridor(need_force),
            solids.iter().enumerate(),
            passing,
        )
    }

    #[test]
    fn a_clear_corridor_gives_no_force() {
        let mut passing = PassingSide {
            solid: 1,
            side: Vec3::Z,
        };
        assert_eq!(avoid(1.6, Vec3::ZERO, &mut passing, &[ROCK]), None);
        assert_eq!(passing, PassingSide::default());
    }

    #[test]
    fn a_rock_ahead_is_passed_on_the_nearer_side_with_braking() {
        let force = avoid(0.3, Vec3::ZERO, &mut PassingSide::default(), &[ROCK]).unwrap();
        assert!(force.z > 0.0 && force.x < 0.0, "{force}");
        let force = avoid(-0.3, Vec3::ZERO, &mut PassingSide::default(), &[ROCK]).unwrap();
        assert!(force.z < 0.0, "{force}");
    }

    #[test]
    fn head_on_the_need_decides_the_side_or_it_is_the_right() {
        let force = avoid(0.0, Vec3::ZERO, &mut PassingSide::default(), &[ROCK]).unwrap();
        assert!(force.z > 0.1, "to the right: {force}");
        let force = avoid(
            0.0,
            Vec3::new(3.0, 0.0, -0.1),
            &mut PassingSide::default(),
            &[ROCK],
        )
        .unwrap();
        assert!(force.z < -0.1, "to the side of the need: {force}");
    }

    #[test]
    fn a_passing_side_that_leads_into_a_wall_beside_the_vehicle_is_given_up() {
        let wall = Solid::Box {
            center_m: Vec3::new(0.0, 0.0, 2.1),
            half_m: Vec3::new(9.0, 1.0, 1.0),
            axis: Vec2::X,
        };
        let heading = Vec3::new(0.95, 0.0, 0.3).normalize();
        let beside = Motion {
            position_m: Vec3::new(0.0, 0.0, 0.9),
            velocity_mps: Vec3::ZERO,
            forward: heading,
            up: Vec3::Y,
        };
        let mut passing = PassingSide {
            solid: 1,
            side: Vec3::Z,
        };
        let force = avoid_solids(
            &beside,
            &corridor(Vec3::ZERO),
            [wall].iter().enumerate(),
            &mut passing,
        );
        assert!(force.unwrap().z < -0.5, "away from the wall: {force:?}");
    }

    #[test]
    fn the_passing_side_is_kept_until_the_corridor_is_clear() {
        let mut passing = PassingSide::default();
        assert!(avoid(0.05, Vec3::ZERO, &mut passing, &[ROCK]).unwrap().z > 0.0);
        assert!(
            avoid(-0.05, Vec3::ZERO, &mut passing, &[ROCK]).unwrap().z > 0.0,
            "the side is kept"
        );
        assert_eq!(avoid(2.0, Vec3::ZERO, &mut passing, &[ROCK]), None);
        assert!(
            avoid(-0.05, Vec3::ZERO, &mut passing, &[ROCK]).unwrap().z < 0.0,
            "the side is forgotten"
        );
    }

    #[test]
    fn a_need_force_into_a_near_rock_is_turned_around_it() {
        let at_rock = Motion {
            position_m: Vec3::new(-1.5, 0.0, 0.1),
            ..motion(0.0)
        };
        let need_force = Vec3::X * 6.0;
        let solids = [ROCK];
        let force = avoid_solids(
            &at_rock,
            &corridor(need_force),
            solids.iter().enumerate(),
            &mut PassingSide::default(),
        );
        let sum = force.unwrap() + need_force;
        assert!(sum.z > 3.0 && sum.x < 1.0, "{sum}");
    }

    #[test]
    fn forces_of_two_symmetric_rocks_do_not_cancel() {
        let left = Solid::Sphere {
            center_m: Vec3::new(0.0, 0.0, -1.2),
            radius_m: 1.0,
        };
        let right = Solid::Sphere {
            center_m: Vec3::new(0.0, 0.0, 1.2),
            radius_m: 1.0,
        };
        let force = avoid(0.0, Vec3::ZERO, &mut PassingSide::default(), &[left, right]).unwrap();
        assert!(force.z.abs() > 0.3, "{force}");
    }

    #[test]
    fn walls_turn_a_vehicle_back() {
        let half = Vec3::new(2.0, 1.0, 1.5);
        let at = |x: f32, forward: Vec3| Motion {
            position_m: Vec3::new(x, 0.0, 0.2),
            forward,
            ..motion(0.0)
        };
        assert_eq!(
            stay_inside_walls(&at(0.0, Vec3::X), half, 0.5, 0.3, 1.0),
            None
        );
        let force = stay_inside_walls(&at(1.8, Vec3::X), half, 0.5, 0.3, 1.0).unwrap();
        assert!(
            force.x < 0.0 && force.z.abs() > 0.5,
            "turns to a side: {force}"
        );
        assert_eq!(
            stay_inside_walls(&at(1.8, Vec3::NEG_X), half, 0.5, 0.3, 1.0),
            None,
            "already moving away from the wall"
        );
    }

    #[test]
    fn ground_and_surface_repel() {
        let at = |y: f32| Motion {
            position_m: Vec3::new(0.0, y, 0.0),
            ..motion(0.0)
        };
        assert_eq!(stay_in_depth_band(&at(-0.5), (-1.0, 0.0), 0.3, 1.0), None);
        assert!(
            stay_in_depth_band(&at(-0.95), (-1.0, 0.0), 0.3, 1.0)
                .unwrap()
                .y
                > 0.0
        );
        assert!(
            stay_in_depth_band(&at(-0.05), (-1.0, 0.0), 0.3, 1.0)
                .unwrap()
                .y
                < 0.0
        );
    }
}
