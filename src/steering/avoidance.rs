//! Keeping clear of solids and of the pool's walls.
//!
//! All solids in the corridor count; the side on which the nearest is passed is held until the corridor is clear of it;
//! head on, the wish of the active need decides, and the right side where there is none.
//! **Source**: Reynolds 1999 (corridor); Buckland 2005 (braking); Tu 1996 (the wish breaks the tie); 2-behavior.md 3.

use glam::Vec3;

use super::motion::Motion;
use crate::geometry::Solid;

/// The way ahead that is to be clear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corridor {
    /// How far it reaches.
    pub length_m: f32,
    /// Half of its width.
    pub radius_m: f32,
    /// Largest force of one solid.
    pub force_n: f32,
    /// Where the active need steers to; zero where it does not care.
    pub wish: Vec3,
}

/// On which side a solid is passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HeldSide {
    /// Place of the solid in the list, plus one; 0 for none.
    pub solid: u32,
    /// Unit vector to that side.
    pub side: Vec3,
}

/// Share of the steering force that brakes, straight before an obstacle. Tuned by eye, 2026-11-20.
const BRAKE_SHARE: f32 = 0.4;

/// Steers round the solids in the corridor. Not applicable where it is clear; then the held side is given up.
pub fn avoid_solids<'a>(
    motion: &Motion,
    corridor: &Corridor,
    solids: impl Iterator<Item = (usize, &'a Solid)> + Clone,
    held: &mut HeldSide,
) -> Option<Vec3> {
    let ahead = motion.forward;
    let hits = solids.filter_map(|(index, solid)| {
        let reach = corridor.length_m + corridor.radius_m;
        if motion.position_m.distance(solid.center_m()) > reach + solid.bounding_radius_m() {
            return None;
        }
        let (along, distance) = solid.closest_approach(motion.position_m, ahead, corridor.length_m);
        // What is already being left behind is no obstacle.
        (distance < corridor.radius_m
            && (along > 0.0 || solid.normal(motion.position_m).dot(ahead) < 0.0))
            .then_some((index, solid, along, distance))
    });
    let depth_of = |distance: f32| {
        ((corridor.radius_m - distance) / corridor.radius_m.max(1e-6)).clamp(0.0, 1.0)
    };
    // Whom it is passing already, as long as that is ahead: among several rocks the nearest changes all the time.
    let passed = hits.clone().find(|hit| held.solid == hit.0 as u32 + 1);
    let nearest = || {
        let each = hits.clone();
        each.min_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)))
    };
    let Some((anchor, solid, along, distance)) = passed.or_else(nearest) else {
        *held = HeldSide::default();
        return None;
    };
    let natural = side_of(motion, solid, along);
    let chosen = if passed.is_some() {
        let kept = across(held.side, ahead);
        match natural {
            Some(side) if side.dot(kept) >= 0.0 => side,
            _ => kept,
        }
    } else {
        natural
            .or_else(|| across(corridor.wish, ahead).try_normalize())
            .unwrap_or_else(|| motion.side())
    };
    let chosen = chosen.normalize_or(motion.side());
    *held = HeldSide {
        solid: anchor as u32 + 1,
        side: chosen,
    };
    let mut force = Vec3::ZERO;
    for (index, solid, along, distance) in hits {
        let depth = depth_of(distance);
        let nearness = 1.0 - along / corridor.length_m.max(1e-6);
        // Nothing at the corridor's edge, or one that slips along it would tremble between in and out.
        let strength = corridor.force_n * (3.0 * depth).min(1.0) * (0.3 + 0.7 * nearness);
        let mut side = chosen;
        if index != anchor {
            // Another solid may add to the side that was chosen, but never push back from it.
            side = side_of(motion, solid, along).unwrap_or_default();
            side -= chosen * side.dot(chosen).min(0.0);
        }
        // One that hardly moves has nothing to brake.
        let brake = (strength * BRAKE_SHARE * nearness * depth)
            .min(motion.velocity_mps.dot(ahead).max(0.0) * corridor.force_n);
        force += side * strength - ahead * brake;
    }
    let ramp = (3.0 * depth_of(distance)).min(1.0);
    force += round_instead_of_into(motion, corridor, solid, chosen) * ramp;
    Some(force)
}

/// What of the active need's wish leads into a near solid is turned to the side on which it is passed; otherwise one that
/// wants to get behind a rock would press against it for ever.
fn round_instead_of_into(motion: &Motion, corridor: &Corridor, solid: &Solid, side: Vec3) -> Vec3 {
    let normal = solid.normal(motion.position_m);
    let into = (-corridor.wish.dot(normal)).max(0.0);
    let gap = solid.signed_distance_m(motion.position_m) - corridor.radius_m;
    let nearness = (1.0 - gap / (2.0 * corridor.radius_m).max(1e-6)).clamp(0.0, 1.0);
    (normal + side) * (into * nearness)
}

/// Turns away from the walls of a box around the origin, seen from inside; `turn_m` before a wall it begins to.
///
/// The force is sideways, so that a fish turns instead of stopping before the wall. Not applicable far from all walls.
pub fn stay_inside(
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
            let sideways = across(inward, motion.forward)
                .try_normalize()
                .filter(|_| facing > -0.98);
            let side = sideways.unwrap_or_else(|| {
                // Straight at the wall: to the side on which the pool's middle lies, else to the right.
                let to_middle = across(-motion.position_m, motion.forward);
                let side = motion.side();
                if to_middle.dot(side) < 0.0 {
                    -side
                } else {
                    side
                }
            });
            force += (side + inward * 0.3) * (strength * force_n);
        }
    }
    (force != Vec3::ZERO).then_some(force)
}

/// Away from ground and surface when the way ahead leads beyond them. Not applicable between them.
pub fn stay_between(
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

/// The level-preferring unit vector from a solid's nearest part to the way ahead; `None` head on.
fn side_of(motion: &Motion, solid: &Solid, along: f32) -> Option<Vec3> {
    let out = solid.outward(motion.position_m + motion.forward * along)?;
    let side = across(out, motion.forward) * Vec3::new(1.0, 0.5, 1.0);
    (side.length_squared() > 1e-4).then(|| side.normalize_or_zero())
}

fn across(vector: Vec3, forward: Vec3) -> Vec3 {
    vector - forward * vector.dot(forward)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(z: f32) -> Motion {
        Motion {
            position_m: Vec3::new(-3.0, 0.0, z),
            velocity_mps: Vec3::X,
            forward: Vec3::X,
            up: Vec3::Y,
        }
    }

    fn corridor(wish: Vec3) -> Corridor {
        Corridor {
            length_m: 4.0,
            radius_m: 0.5,
            force_n: 2.0,
            wish,
        }
    }

    const ROCK: Solid = Solid::Sphere {
        center_m: Vec3::ZERO,
        radius_m: 1.0,
    };

    fn avoid(z: f32, wish: Vec3, held: &mut HeldSide, solids: &[Solid]) -> Option<Vec3> {
        avoid_solids(&motion(z), &corridor(wish), solids.iter().enumerate(), held)
    }

    #[test]
    fn a_clear_corridor_needs_no_force() {
        let mut held = HeldSide {
            solid: 1,
            side: Vec3::Z,
        };
        assert_eq!(avoid(1.6, Vec3::ZERO, &mut held, &[ROCK]), None);
        assert_eq!(held, HeldSide::default());
    }

    #[test]
    fn a_rock_ahead_is_passed_on_the_nearer_side_and_braked_before() {
        let force = avoid(0.3, Vec3::ZERO, &mut HeldSide::default(), &[ROCK]).unwrap();
        assert!(force.z > 0.0 && force.x < 0.0, "{force}");
        let force = avoid(-0.3, Vec3::ZERO, &mut HeldSide::default(), &[ROCK]).unwrap();
        assert!(force.z < 0.0, "{force}");
    }

    #[test]
    fn dead_center_goes_to_a_fixed_side_or_where_the_need_steers() {
        let force = avoid(0.0, Vec3::ZERO, &mut HeldSide::default(), &[ROCK]).unwrap();
        assert!(force.z > 0.1, "to the right: {force}");
        let force = avoid(
            0.0,
            Vec3::new(3.0, 0.0, -0.1),
            &mut HeldSide::default(),
            &[ROCK],
        )
        .unwrap();
        assert!(force.z < -0.1, "where the need steers: {force}");
    }

    #[test]
    fn the_side_is_held_until_clear() {
        let mut held = HeldSide::default();
        assert!(avoid(0.05, Vec3::ZERO, &mut held, &[ROCK]).unwrap().z > 0.0);
        assert!(
            avoid(-0.05, Vec3::ZERO, &mut held, &[ROCK]).unwrap().z > 0.0,
            "held"
        );
        assert_eq!(avoid(2.0, Vec3::ZERO, &mut held, &[ROCK]), None);
        assert!(
            avoid(-0.05, Vec3::ZERO, &mut held, &[ROCK]).unwrap().z < 0.0,
            "given up"
        );
    }

    #[test]
    fn a_wish_into_a_near_rock_becomes_a_way_round_it() {
        let at_rock = Motion {
            position_m: Vec3::new(-1.5, 0.0, 0.1),
            ..motion(0.0)
        };
        let wish = Vec3::X * 6.0;
        let solids = [ROCK];
        let force = avoid_solids(
            &at_rock,
            &corridor(wish),
            solids.iter().enumerate(),
            &mut HeldSide::default(),
        );
        let sum = force.unwrap() + wish;
        assert!(sum.z > 3.0 && sum.x < 1.0, "{sum}");
    }

    #[test]
    fn two_rocks_like_a_wall_do_not_cancel_out() {
        let left = Solid::Sphere {
            center_m: Vec3::new(0.0, 0.0, -1.2),
            radius_m: 1.0,
        };
        let right = Solid::Sphere {
            center_m: Vec3::new(0.0, 0.0, 1.2),
            radius_m: 1.0,
        };
        let force = avoid(0.0, Vec3::ZERO, &mut HeldSide::default(), &[left, right]).unwrap();
        assert!(force.z.abs() > 0.3, "{force}");
    }

    #[test]
    fn walls_turn_a_fish_back() {
        let half = Vec3::new(2.0, 1.0, 1.5);
        let at = |x: f32, forward: Vec3| Motion {
            position_m: Vec3::new(x, 0.0, 0.2),
            forward,
            ..motion(0.0)
        };
        assert_eq!(stay_inside(&at(0.0, Vec3::X), half, 0.5, 0.3, 1.0), None);
        let force = stay_inside(&at(1.8, Vec3::X), half, 0.5, 0.3, 1.0).unwrap();
        assert!(
            force.x < 0.0 && force.z.abs() > 0.5,
            "turns to a side: {force}"
        );
        assert_eq!(
            stay_inside(&at(1.8, Vec3::NEG_X), half, 0.5, 0.3, 1.0),
            None,
            "already going back"
        );
    }

    #[test]
    fn ground_and_surface_push_back() {
        let at = |y: f32| Motion {
            position_m: Vec3::new(0.0, y, 0.0),
            ..motion(0.0)
        };
        assert_eq!(stay_between(&at(-0.5), (-1.0, 0.0), 0.3, 1.0), None);
        assert!(stay_between(&at(-0.95), (-1.0, 0.0), 0.3, 1.0).unwrap().y > 0.0);
        assert!(stay_between(&at(-0.05), (-1.0, 0.0), 0.3, 1.0).unwrap().y < 0.0);
    }
}
