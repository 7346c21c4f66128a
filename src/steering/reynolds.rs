//! Avoiding the one most dangerous thing ahead, as Reynolds does: what `avoid_solids` improves on, and the measure of that.
//!
//! **Source**: Reynolds 1999; braking Buckland 2005; Karpowicz 2011, 2.3.3 and 3.3.4. With the faults they have: the side is
//! chosen anew in every step, and of several things only the first to be met counts.

use glam::Vec3;

use super::avoidance::Corridor;
use super::motion::Motion;
use crate::geometry::Solid;

/// Braking, as a share of the sideways force where the obstacle is touched. **Source**: Buckland 2005.
const BRAKE_SHARE: f32 = 0.2;

/// Steers sideways from whatever solid is met first in the corridor. Not applicable where it is clear.
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
    // Straight ahead there is no side to steer to, as in the source.
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
        wish: Vec3::ZERO,
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
    fn only_the_first_counts_whatever_else_is_there() {
        let (near, far) = (rock(2.0, 0.8), rock(3.0, -0.8));
        assert_eq!(force(&[far, near]), force(&[near]));
        assert!(force(&[near]).unwrap().z < -1.9);
        assert!(force(&[far]).unwrap().z > 1.9);
    }

    #[test]
    fn what_is_aside_or_behind_is_overlooked() {
        assert_eq!(force(&[rock(2.0, 1.6), rock(-1.2, 0.0)]), None);
    }
}
