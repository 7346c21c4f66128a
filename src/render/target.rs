//! The cross of a touch target with its number, as strokes over the finished picture: the water does not bend them.
//!
//! In: the target. Out: strokes in floor space, dark ones below bright ones, so that they are seen over light and dark
//! water. Must not: know why a target is shown.

use glam::Vec2;

use crate::geometry::Surface;
use crate::world::FloorTarget;

/// A straight stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// One end, floor space.
    pub from: Vec2,
    /// The other.
    pub to: Vec2,
    /// How broad.
    pub width_m: f32,
    /// Linear red, green, blue, opacity.
    pub color: [f32; 4],
}

/// Half of the cross, and its lines, as parts of the surface's smaller side; a disc of 0.3 m on 4 × 3 m leaves the ends
/// of the cross to be seen. **Source**: tuned by eye, 2026-11-21.
const ARM_SHARE: f32 = 0.09;
const LINE_SHARE: f32 = 0.006;
/// The dark rim around bright lines.
const RIM_SHARE: f32 = 0.018;
/// Height of the digits.
const DIGIT_SHARE: f32 = 0.08;
const DARK: [f32; 4] = [0.0, 0.0, 0.0, 0.75];
const BRIGHT: [f32; 4] = [1.0, 1.0, 1.0, 1.0];

/// Corners of a digit's box: three rows of two, from the left upper one on.
const CORNERS: [Vec2; 6] = [
    Vec2::new(0.0, 0.0),
    Vec2::new(0.5, 0.0),
    Vec2::new(0.0, 0.5),
    Vec2::new(0.5, 0.5),
    Vec2::new(0.0, 1.0),
    Vec2::new(0.5, 1.0),
];
/// The seven strokes that digits are made of, between corners.
const SEGMENTS: [(usize, usize); 7] = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5)];
/// Which strokes each digit has.
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

/// The strokes of a target, in the order of drawing.
pub fn strokes(target: &FloorTarget, surface: &Surface) -> impl Iterator<Item = Stroke> {
    let side_m = surface.width_m.min(surface.height_m);
    let at = target.at_m;
    let arms = [Vec2::X, Vec2::Y].map(|arm| {
        let arm = arm * ARM_SHARE * side_m;
        (at - arm, at + arm)
    });
    // The number stands towards the surface's middle, where there is room.
    let inward = Vec2::new(
        if at.x > 0.0 { -1.0 } else { 1.0 },
        if at.y > 0.0 { -1.0 } else { 1.0 },
    );
    let digit_m = DIGIT_SHARE * side_m;
    let (tens, ones) = (target.number / 10 % 10, target.number % 10);
    let digits = [(tens > 0).then_some(tens), Some(ones)];
    let step_m = if tens > 0 { 0.9 * digit_m } else { 0.0 };
    // Clear of both arms.
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
    fn the_cross_lies_on_its_target_and_all_on_the_surface() {
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
