//! Finds the foot of an upright pole: the point where its shadow and its image meet.
//!
//! Input: the dark pixels of a pole, which form two stripes that start at its foot. Output: the foot in pixels, if the two
//! stripes can be distinguished. This file must not know lamp, camera or floor.
//!
//! Both stripes are straight, and their center lines pass through the center of the foot. The shadow points away from the floor
//! point below the lamp, the image of the pole points away from the floor point below the camera.

use glam::DVec2;

use super::moments::Moments;

/// Minimum distance of a corner of the spot from the line through the other two corners, in stripe widths. If the distance is
/// smaller, the spot does not count as two stripes.
const SEPARATION_WIDTHS_MIN: f64 = 1.2;
/// Factor for the radius around the foot in which the stripes overlap and pixels are ignored. The radius is this factor times
/// the stripe width, divided by the sine of half the angle between the stripes.
const OVERLAP_WIDTHS: f64 = 0.75;
/// Minimum ratio of length to width of a stripe outside the overlap.
const SLENDER_MIN: f64 = 1.3;
/// Minimum angle between the stripes, in radians. At smaller angles, their crossing is too inaccurate.
const ANGLE_MIN_RAD: f64 = 0.17;

/// Returns the foot of the pole that covers these dark pixels, or `None` if its two stripes cannot be distinguished.
pub(super) fn pole_foot(patch: &[DVec2]) -> Option<DVec2> {
    let (a, b, c) = corners(patch)?;
    let [one, other, foot] = [[a, b, c], [b, c, a], [c, a, b]]
        .into_iter()
        .min_by(|x, y| dark_share(patch, x[0], x[1]).total_cmp(&dark_share(patch, y[0], y[1])))?;
    // Mean width of the stripes, without regard to their overlap.
    let length = foot.distance(one) + foot.distance(other);
    let width = patch.len() as f64 / length.max(1.0);
    let angle = (one - foot).angle_to(other - foot).abs();
    let separation = distance_from_line(foot, one, other).min(distance_from_line(one, foot, other));
    if separation < SEPARATION_WIDTHS_MIN * width || angle < ANGLE_MIN_RAD {
        return None;
    }
    let clear = OVERLAP_WIDTHS * width / (angle / 2.0).sin().max(0.05);
    let stripe = |tip: DVec2, rival: DVec2| -> Option<Moments> {
        let own: Vec<DVec2> = patch
            .iter()
            .copied()
            .filter(|p| {
                p.distance(foot) > clear
                    && distance_from_segment(*p, foot, tip) < distance_from_segment(*p, foot, rival)
            })
            .collect();
        let shape = Moments::of(&own);
        (own.len() >= 6 && shape.along > SLENDER_MIN * SLENDER_MIN * shape.across).then_some(shape)
    };
    let (first, second) = (stripe(one, other)?, stripe(other, one)?);
    let across = first.axis.perp_dot(second.axis);
    if across.abs() < ANGLE_MIN_RAD.sin() {
        return None;
    }
    let along = (second.middle - first.middle).perp_dot(second.axis) / across;
    let crossing = first.middle + first.axis * along;
    (crossing.distance(foot) < clear).then_some(crossing)
}

/// Returns three pixels of the spot that span approximately the largest triangle.
fn corners(patch: &[DVec2]) -> Option<(DVec2, DVec2, DVec2)> {
    let farthest = |distance: &dyn Fn(DVec2) -> f64| {
        patch
            .iter()
            .copied()
            .max_by(|p, q| distance(*p).total_cmp(&distance(*q)))
    };
    let middle = Moments::of(patch).middle;
    let a = farthest(&|p| p.distance(middle))?;
    let b = farthest(&|p| p.distance(a))?;
    let c = farthest(&|p| distance_from_line(p, a, b))?;
    Some((a, b, c))
}

/// Returns the share of the segment between two points that is on the spot.
fn dark_share(patch: &[DVec2], from: DVec2, to: DVec2) -> f64 {
    let steps = 24;
    let on_patch = (1..steps)
        .filter(|i| {
            let at = from.lerp(to, f64::from(*i) / f64::from(steps));
            patch.iter().any(|p| p.distance_squared(at) < 1.5)
        })
        .count();
    on_patch as f64 / f64::from(steps - 1)
}

fn distance_from_line(p: DVec2, a: DVec2, b: DVec2) -> f64 {
    (b - a).normalize_or_zero().perp_dot(p - a).abs()
}

fn distance_from_segment(p: DVec2, a: DVec2, b: DVec2) -> f64 {
    let along = b - a;
    let t = (p - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE);
    p.distance(a + along * t.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pixels of two stripes that start at a foot. The first stripe becomes wider towards its end, like a shadow.
    fn stripes(foot: DVec2, tips: [DVec2; 2], width: f64) -> Vec<DVec2> {
        let near = |p: DVec2, tip: DVec2, broader: f64| {
            let t = ((p - foot).dot(tip - foot) / (tip - foot).length_squared()).clamp(0.0, 1.0);
            p.distance(foot.lerp(tip, t)) < width / 2.0 * (1.0 + broader * t)
        };
        (0..200 * 160)
            .map(|i| DVec2::new(f64::from(i % 200), f64::from(i / 200)))
            .filter(|p| near(*p, tips[0], 0.4) || near(*p, tips[1], 0.1))
            .collect()
    }

    #[test]
    fn the_foot_is_at_the_crossing_of_the_stripes() {
        for (i, foot) in [DVec2::new(80.4, 70.7), DVec2::new(100.0, 90.2)]
            .into_iter()
            .enumerate()
        {
            for degrees in [30.0_f64, 60.0, 90.0, 130.0] {
                for lengths in [[40.0, 40.0], [50.0, 25.0]] {
                    let turn = DVec2::from_angle(0.7 + i as f64);
                    let first = foot + turn * lengths[0];
                    let second =
                        foot + turn.rotate(DVec2::from_angle(degrees.to_radians())) * lengths[1];
                    let found = pole_foot(&stripes(foot, [first, second], 4.0));
                    let off = found.map(|p| p.distance(foot));
                    assert!(
                        off.is_some_and(|off| off < 1.2),
                        "{foot} {degrees} {lengths:?}: {found:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn one_stripe_has_no_foot() {
        let foot = DVec2::new(60.0, 60.0);
        for (one, other) in [
            (DVec2::new(110.0, 80.0), DVec2::new(110.0, 81.0)),
            (DVec2::new(110.0, 60.0), DVec2::new(20.0, 60.0)),
        ] {
            assert_eq!(pole_foot(&stripes(foot, [one, other], 5.0)), None);
        }
        assert_eq!(pole_foot(&[]), None);
        assert_eq!(pole_foot(&[DVec2::ONE; 40]), None);
    }
}
