//! Containment in a basin whose outline is a polygon, and the search for open water.
//!
//! **Source**: Reynolds 1999, "Containment". One force turns away from all edges together. If each edge had its own
//! force, the forces of the two edges of a corner would turn the vehicle to opposite sides, and it would stay there.

use glam::{Vec2, Vec3};

use super::motion::Motion;

/// Distances and strength with which a vehicle turns away from edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeGuide {
    /// Distance from an edge at which the force begins.
    pub turn_m: f32,
    /// Distance that the vehicle looks ahead.
    pub lookahead_m: f32,
    /// Force at an edge.
    pub force_n: f32,
}

/// A vehicle that moves away from the edges within an angle of this cosine needs no force. **Source**: the same value
/// as for the walls of a box.
const LEAVING_COS: f32 = 0.7;

/// Beyond this cosine of the angle between heading and edge, the vehicle approaches head-on, and turns right.
const HEAD_ON_COS: f32 = -0.98;

/// Share of the force that points straight inwards. The rest is sideways, so that the vehicle turns instead of stopping.
const INWARD_SHARE: f32 = 0.3;

/// Largest strength, as a multiple of the force at an edge.
const STRENGTH_MAX: f32 = 2.0;

/// Turns away from the edges of a basin, each given by its ends in floor meters. The vehicle must be inside the basin.
/// The basin may have any outline, also a concave one. Returns `None` if no edge needs a force.
pub fn stay_inside_outline(
    motion: &Motion,
    edges: impl Iterator<Item = (Vec2, Vec2)>,
    guide: &EdgeGuide,
) -> Option<Vec3> {
    let at = flat(motion.position_m);
    let ahead = flat(motion.position_m + motion.forward * guide.lookahead_m);
    let mut inward = Vec2::ZERO;
    let mut strongest = 0.0f32;
    let mut is_blocked = false;
    for (a, b) in edges {
        let (room_m, away) = room(at, ahead, (a, b));
        if room_m >= guide.turn_m {
            continue;
        }
        let strength = ((guide.turn_m - room_m) / guide.turn_m.max(1e-6)).min(STRENGTH_MAX);
        inward += away * strength;
        strongest = strongest.max(strength);
        is_blocked |= room_m < 0.0;
    }
    let inward = Vec3::new(inward.x, 0.0, inward.y).try_normalize()?;
    let facing = motion.forward.dot(inward);
    if facing > LEAVING_COS && !is_blocked {
        return None;
    }
    let sideways = (inward - motion.forward * facing)
        .try_normalize()
        .filter(|_| facing > HEAD_ON_COS)
        .unwrap_or_else(|| motion.side());
    Some((sideways + inward * INWARD_SHARE) * (strongest * guide.force_n))
}

/// Returns the free distance to an edge, from a position or from the point ahead, whichever is nearer, and the unit
/// vector away from the edge. The distance is negative if the edge lies between the two points.
fn room(at: Vec2, ahead: Vec2, (a, b): (Vec2, Vec2)) -> (f32, Vec2) {
    let normal = (b - a).perp().normalize_or_zero();
    let normal = normal * 1f32.copysign((at - a).dot(normal));
    if crossing(at, ahead, (a, b)).is_some() {
        return ((ahead - a).dot(normal), normal);
    }
    let from_edge = |point: Vec2| point - nearest(a, b, point);
    let (near, far) = (from_edge(at), from_edge(ahead));
    let offset = if near.length_squared() <= far.length_squared() {
        near
    } else {
        far
    };
    (offset.length(), offset.normalize_or(normal))
}

/// Returns the share of the way from `from` to `to` at which it crosses an edge; `None` if it does not.
fn crossing(from: Vec2, to: Vec2, (a, b): (Vec2, Vec2)) -> Option<f32> {
    let (way, edge) = (to - from, b - a);
    let det = way.perp_dot(edge);
    if det.abs() < 1e-12 {
        return None;
    }
    let share = (a - from).perp_dot(edge) / det;
    let along = (a - from).perp_dot(way) / det;
    ((0.0..=1.0).contains(&share) && (0.0..=1.0).contains(&along)).then_some(share)
}

/// Returns the distance from a position to the first edge in a direction, at most `reach_m`.
pub fn open_water_m(
    at: Vec2,
    direction: Vec2,
    reach_m: f32,
    edges: impl Iterator<Item = (Vec2, Vec2)>,
) -> f32 {
    let to = at + direction * reach_m;
    edges
        .filter_map(|edge| crossing(at, to, edge))
        .fold(1.0, f32::min)
        * reach_m
}

fn nearest(a: Vec2, b: Vec2, point: Vec2) -> Vec2 {
    let along = b - a;
    let t = (point - a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
    a + along * t.clamp(0.0, 1.0)
}

fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An L-shaped basin: 4 m by 4 m without its quadrant of positive x and z.
    const BASIN: [Vec2; 6] = [
        Vec2::new(-2.0, -2.0),
        Vec2::new(2.0, -2.0),
        Vec2::new(2.0, 0.0),
        Vec2::new(0.0, 0.0),
        Vec2::new(0.0, 2.0),
        Vec2::new(-2.0, 2.0),
    ];

    fn edges() -> impl Iterator<Item = (Vec2, Vec2)> {
        (0..BASIN.len()).map(|n| (BASIN[n], BASIN[(n + 1) % BASIN.len()]))
    }

    fn motion(at: Vec2, heading: Vec2) -> Motion {
        let forward = Vec3::new(heading.x, 0.0, heading.y).normalize();
        Motion {
            position_m: Vec3::new(at.x, 0.0, at.y),
            velocity_mps: forward,
            forward,
            up: Vec3::Y,
        }
    }

    const GUIDE: EdgeGuide = EdgeGuide {
        turn_m: 0.3,
        lookahead_m: 0.4,
        force_n: 1.0,
    };

    #[test]
    fn a_vehicle_turns_from_any_edge_corner_or_tip_and_keeps_turning() {
        // Straight at an edge, into a corner, along an edge into a corner, and at the tip that points into the basin.
        let starts = [
            (Vec2::new(-1.9, 0.5), Vec2::new(-1.0, 0.0)),
            (Vec2::new(-1.9, -1.9), Vec2::new(-1.0, -1.0)),
            (Vec2::new(1.8, -1.95), Vec2::new(1.0, 0.0)),
            (Vec2::new(1.8, -0.05), Vec2::new(1.0, 0.0)),
            (Vec2::new(-0.2, -0.2), Vec2::new(1.0, 1.0)),
        ];
        for (at, heading) in starts {
            let mut heading = heading.normalize();
            // The vehicle turns in place, by at most 3 degrees in a step, until nothing holds it.
            let steps = (0..130).find(|_| {
                let vehicle = motion(at, heading);
                let Some(force) = stay_inside_outline(&vehicle, edges(), &GUIDE) else {
                    return true;
                };
                let side = force.dot(vehicle.side());
                // The right side is clockwise in (x, z), seen from above.
                heading = Vec2::from_angle(0.05 * side.signum()).rotate(heading);
                false
            });
            assert!(steps.is_some(), "from {at} it never turns away");
            let open = open_water_m(at, heading, 0.4, edges());
            assert!(open > 0.1, "from {at} it turned to {heading}: {open} m");
        }
        let middle = motion(Vec2::new(-1.0, -1.0), Vec2::X);
        assert_eq!(stay_inside_outline(&middle, edges(), &GUIDE), None);
    }

    #[test]
    fn open_water_ends_at_the_first_edge() {
        let from = Vec2::new(-1.0, 1.0);
        assert_eq!(open_water_m(from, Vec2::X, 5.0, edges()), 1.0);
        assert_eq!(open_water_m(from, Vec2::NEG_Y, 5.0, edges()), 3.0);
        assert_eq!(open_water_m(from, Vec2::X, 0.5, edges()), 0.5);
    }
}
