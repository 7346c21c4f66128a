//! Avoidance of the most threatening obstacle only, as in Reynolds 1999: a reference for comparisons with
//! `avoid_solids`.
//!
//! **Source**: Reynolds 1999, "Obstacle avoidance"; braking from Buckland 2005; Karpowicz 2011, §2.3.3 and §3.3.4. This
//! module keeps two known faults of these sources: it chooses the side again in every tick, and it avoids only the
//! first of several obstacles.

use glam::Vec3;

use super::avoidance::Corridor;
use super::motion::Motion;
use crate::geometry::Solid;

/// Braking force, as a share of the sideways force, at contact with the obstacle. **Source**: Buckland 2005.
const BRAKE_SHARE: f32 = 0.2;

/// Steers sideways away from the first solid in the corridor. Returns `None` if the corridor is clear.
pub fn avoid_most_dangerous(
    motion: &Motion,
    corridor: &Corridor,
    solids: impl Iterator<Item = Solid>,
) -> Option<Vec3> {
    let ahead = motion.forward;
    let first = solids
        .filter_map(|solid| {
            let (along, distance) =
                solid.closest_approach(motion.position_m, ahead, corridor.length_m);
            let is_ahead = (solid.center_m() - motion.position_m).dot(ahead) > 0.0;
            (is_ahead && distance < corridor.radius_m).then_some((along, solid))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (along, solid) = first?;
    let out = solid.normal(motion.position_m + ahead * along);
    let side = out - ahead * out.dot(ahead);
    let nearness = 1.0 - along / corridor.length_m.max(1e-6);
    // If the solid is exactly straight ahead, the sideways direction is zero, as in the source.
    Some(
        side.normalize_or_zero() * corridor.force_n
            - ahead * (BRAKE_SHARE * corridor.force_n * nearness),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOTION: Motion = Motion {
        position_m: Vec3::ZERO,
        velocity_mps: Vec3::X,
        forward: Vec3::X,
        up: Vec3::Y,
    };
    const CORRIDOR: Corridor = Corridor {
        length_m: 4.0,
        radius_m: 0.5,
        force_n: 2.0,
        need_force: Vec3::ZERO,
    };

    fn rock(x: f32, z: f32) -> Solid {
        Solid::Sphere {
            center_m: Vec3::new(x, 0.0, z),
            radius_m: 1.0,
        }
    }

    fn force(rocks: &[Solid]) -> Option<Vec3> {
        avoid_most_dangerous(&MOTION, &CORRIDOR, rocks.iter().copied())
    }

    #[test]
    fn only_the_first_obstacle_counts() {
        let (near, far) = (rock(2.0, 0.8), rock(3.0, -0.8));
        assert_eq!(force(&[far, near]), force(&[near]));
        assert!(force(&[near]).unwrap().z < -1.9);
        assert!(force(&[far]).unwrap().z > 1.9);
    }

    #[test]
    fn obstacles_beside_or_behind_are_ignored() {
        assert_eq!(force(&[rock(2.0, 1.6), rock(-1.2, 0.0)]), None);
    }
}
