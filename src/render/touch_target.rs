//! The cross of a touch target with its number, as strokes. The strokes are drawn over the finished picture, so that the water
//! does not refract them.
//!
//! In: the target. Out: strokes in floor space. Below each bright stroke there is a dark stroke, so that the target is visible
//! on both light and dark water. This module does not depend on the calibration procedure.

use glam::Vec2;

use super::calibration_pattern::FloorTarget;
use crate::geometry::Surface;

/// A straight stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    /// First end, in floor space.
    pub from: Vec2,
    /// Second end, in floor space.
    pub to: Vec2,
    /// Width.
    pub width_m: f32,
    /// Linear red, green, blue, opacity.
    pub color: [f32; 4],
}

/// Half length of the cross, as a share of the surface's smaller side. Tuned by eye: on a surface of 4 × 3 m, the ends stay
/// visible when a disc with a diameter of 0.3 m lies on the center of the cross.
const ARM_SHARE: f32 = 0.09;
/// Width of the bright lines, as a share of the surface's smaller side. Tuned by eye.
const LINE_SHARE: f32 = 0.006;
/// Width of the dark lines below the bright ones, as a share of the surface's smaller side. Tuned by eye.
const RIM_SHARE: f32 = 0.018;
/// Height of the digits, as a share of the surface's smaller side. Tuned by eye.
const DIGIT_SHARE: f32 = 0.08;
/// Color of the dark lines.
const DARK: [f32; 4] = [0.0, 0.0, 0.0, 0.75];
/// Color of the bright lines.
const BRIGHT: [f32; 4] = [1.0, 1.0, 1.0, 1.0];

/// Points that the strokes of a digit connect, in digit heights: three rows of two points, starting at the upper left.
const CORNERS: [Vec2; 6] = [
    Vec2::new(0.0, 0.0),
    Vec2::new(0.5, 0.0),
    Vec2::new(0.0, 0.5),
    Vec2::new(0.5, 0.5),
    Vec2::new(0.0, 1.0),
    Vec2::new(0.5, 1.0),
];
/// The strokes of a seven-segment digit, as indices into [`CORNERS`].
const SEGMENTS: [(usize, usize); 7] = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5)];
/// For each digit, the segments that are drawn.
const DIGITS: [[bool; 7]; 10] = {
    const O: bool = false;
    const I: bool = true;
    [
        [I, I, I, O, I, I, I],
        [O, O, I, O, O, I, O],
        [I, O, I, I, I, O, I],
        [I, O, I, I, O, I, I],
        [O, I, I, I, O, I, O],
        [I, I, O, I, O, I, I],
        [I, I, O, I, I, I, I],
        [I, O, I, O, O, I, O],
        [I, I, I, I, I, I, I],
        [I, I, I, I, O, I, I],
    ]
};

/// Returns the strokes of a target, in drawing order.
pub(super) fn strokes(target: &FloorTarget, surface: &Surface) -> impl Iterator<Item = Stroke> {
    let side_m = surface.width_m.min(surface.height_m);
    let at = target.at_m;
    let arms = [Vec2::X, Vec2::Y].map(|arm| {
        let arm = arm * ARM_SHARE * side_m;
        (at - arm, at + arm)
    });
    // The number is placed towards the middle of the surface, where there is room.
    let inward = Vec2::new(
        if at.x > 0.0 { -1.0 } else { 1.0 },
        if at.y > 0.0 { -1.0 } else { 1.0 },
    );
    let digit_m = DIGIT_SHARE * side_m;
    let (tens, ones) = (target.number / 10 % 10, target.number % 10);
    let digits = [(tens > 0).then_some(tens), Some(ones)];
    let step_m = if tens > 0 { 0.9 * digit_m } else { 0.0 };
    // The number keeps clear of both arms of the cross.
    let half = Vec2::new(if tens > 0 { 0.7 } else { 0.25 }, 0.5) * digit_m;
    let corner = at + inward * (half + Vec2::splat(0.5 * ARM_SHARE * side_m)) - half;
    let numbers = digits
        .into_iter()
        .enumerate()
        .flat_map(move |(place, digit)| {
            let left = corner + Vec2::new(place as f32 * step_m, 0.0);
            let drawn = digit
                .and_then(|d| DIGITS.get(d))
                .copied()
                .unwrap_or([false; 7]);
            SEGMENTS
                .into_iter()
                .zip(drawn)
                .filter(|(_, is_drawn)| *is_drawn)
                .map(move |((a, b), _)| (left + CORNERS[a] * digit_m, left + CORNERS[b] * digit_m))
        });
    let lines = arms.into_iter().chain(numbers);
    let with = move |width: f32, color| {
        move |(from, to)| Stroke {
            from,
            to,
            width_m: width * side_m,
            color,
        }
    };
    lines
        .clone()
        .map(with(RIM_SHARE, DARK))
        .chain(lines.map(with(LINE_SHARE, BRIGHT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cross_is_centered_on_the_target_and_the_number_is_on_the_surface() {
        let surface = Surface::default();
        for (number, at_m) in [
            (1, Vec2::new(-1.8, -1.35)),
            (4, Vec2::new(1.8, -1.35)),
            (25, Vec2::new(1.8, 1.35)),
            (13, Vec2::ZERO),
        ] {
            let drawn: Vec<Stroke> = strokes(&FloorTarget { number, at_m }, &surface).collect();
            let arms = &drawn[drawn.len() / 2..drawn.len() / 2 + 2];
            for arm in arms {
                assert!(arm.from.midpoint(arm.to).distance(at_m) < 1e-6);
                assert_eq!(arm.color, BRIGHT);
            }
            for stroke in &drawn {
                let edge = surface.half_extent_m() + Vec2::splat(1e-3);
                for end in [stroke.from, stroke.to] {
                    let is_arm = end.distance(at_m) <= ARM_SHARE * 3.0 + 1e-3;
                    assert!(
                        end.abs().cmple(edge).all() || is_arm,
                        "{number}: {stroke:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_number_looks_different() {
        let surface = Surface::default();
        let drawn = |number| -> Vec<_> {
            strokes(
                &FloorTarget {
                    number,
                    at_m: Vec2::ZERO,
                },
                &surface,
            )
            .map(|s| {
                (
                    s.from.to_array().map(f32::to_bits),
                    s.to.to_array().map(f32::to_bits),
                )
            })
            .collect()
        };
        for a in 1..=25 {
            for b in a + 1..=25 {
                assert_ne!(drawn(a), drawn(b), "{a} {b}");
            }
        }
    }
}
