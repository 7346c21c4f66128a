//! Containment in a basin whose outline is a polygon, and the search for open water.
//!
//! **Source**: Reynolds 1999, "Containment". The vehicle compares headings instead of adding a force for each edge: the
//! forces of the two edges of a corner would turn it to opposite sides, and it would stay there.

use glam::{Vec2, Vec3};

use super::motion::Motion;
use crate::geometry::nearest_on_edge;

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

/// Angle between two compared headings, and the number of headings to each side.
const HEADING_STEP_RAD: f32 = std::f32::consts::PI / 8.0;
const HEADINGS: u32 = 8;

/// Share of the force that pushes away from a near edge that the vehicle follows.
const INWARD_SHARE: f32 = 0.3;

/// Largest strength, as a multiple of the force at an edge.
const STRENGTH_MAX: f32 = 2.0;

/// Turns away from the edges of a basin, each given by its ends in floor meters. The vehicle must be inside the basin.
/// The basin may have any outline, also a concave one. Returns `None` if no edge needs a force.
///
/// If an edge is ahead, the vehicle turns to the side on which open water is nearest to its heading. It keeps this side while
/// it turns, because each turn brings that water nearer to its heading.
pub fn stay_inside_outline(
    motion: &Motion,
    edges: impl Iterator<Item = (Vec2, Vec2)> + Clone,
    guide: &EdgeGuide,
) -> Option<Vec3> {
    let at = flat(motion.position_m);
    let heading = flat(motion.forward).try_normalize()?;
    let turn_m = guide.turn_m.max(1e-6);
    let needed_m = guide.lookahead_m + turn_m;
    let mut force = Vec3::ZERO;
    let open_m = |direction: Vec2| open_water_m(at, direction, needed_m, edges.clone());
    let ahead_m = open_m(heading);
    if ahead_m < needed_m {
        let strength = ((needed_m - ahead_m) / turn_m).min(STRENGTH_MAX);
        let toward = direction_of_open_water(heading, needed_m, open_m);
        // The right side of a heading (x, z) is its left perpendicular, because z points down on the floor.
        let side = heading.perp() * 1f32.copysign(heading.perp().dot(toward));
        force += Vec3::new(side.x, 0.0, side.y) * strength;
    }
    let from_edge = edges.map(|(a, b)| at - nearest_on_edge(a, b, at));
    let away = from_edge.reduce(|near, other| {
        if other.length_squared() < near.length_squared() {
            other
        } else {
            near
        }
    })?;
    let gap_m = away.length();
    let inward = away.normalize_or_zero();
    if gap_m < turn_m && inward.dot(heading) < LEAVING_COS {
        let share = INWARD_SHARE * (turn_m - gap_m) / turn_m;
        force += Vec3::new(inward.x, 0.0, inward.y) * share;
    }
    (force != Vec3::ZERO).then(|| force * guide.force_n)
}

/// A vehicle that moves away from the nearest edge, within an angle of this cosine, is not pushed further.
const LEAVING_COS: f32 = 0.7;

/// Returns the direction that is nearest to a heading among those with enough open water. If there is none, returns the
/// direction with the most. At equal angles, returns the right one.
fn direction_of_open_water(heading: Vec2, needed_m: f32, open_m: impl Fn(Vec2) -> f32) -> Vec2 {
    let mut widest = (-1.0, heading);
    for step in 1..=HEADINGS {
        for sign in [1.0, -1.0] {
            let angle = HEADING_STEP_RAD * step as f32 * sign;
            let direction = Vec2::from_angle(angle).rotate(heading);
            let open = open_m(direction);
            if open >= needed_m {
                return direction;
            }
            if open > widest.0 {
                widest = (open, direction);
            }
        }
    }
    widest.1
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

    fn edges() -> impl Iterator<Item = (Vec2, Vec2)> + Clone {
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
