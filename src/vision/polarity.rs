//! What a visitor looks like: darker than the floor, brighter, or either.
//!
//! The background model knows shadows. Pictures of the other polarities are turned into pictures in which visitors are dark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a visitor looks like to the camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// Visitors darken a lit floor by body and shadow.
    #[default]
    Dark,
    /// Visitors are brighter than the floor: lit from the side over a dark floor, hands on a table that is lit from behind, or
    /// the picture of a thermal or depth camera.
    Bright,
    /// Visitors are darker or brighter. Light that comes and goes is a visitor, too.
    Both,
}

/// Level of the middle of the floor in a turned picture. Half and twice the brightness are in its range.
const FLOOR_LEVEL: f32 = 110.0;
/// Level that is added to every pixel before it is turned, so that the noise of a dark floor is not amplified.
const DARK_OFFSET: f32 = 4.0;

/// Turns bright into dark: a pixel that is twice as bright becomes half as bright.
#[derive(Default)]
pub(super) struct Reciprocal {
    /// Turned level of every level; empty before the first picture.
    turned: Vec<u8>,
    /// Product of a level with its turned level.
    product: f32,
}

impl Reciprocal {
    /// Forgets the brightness of the floor.
    pub(super) fn reset(&mut self) {
        self.turned.clear();
    }

    /// Writes the turned picture to `to`. The first picture decides about the range.
    pub(super) fn write(&mut self, levels: &[u8], to: &mut Vec<u8>) {
        if self.turned.is_empty() {
            let mut histogram = [0_usize; 256];
            levels
                .iter()
                .for_each(|&level| histogram[usize::from(level)] += 1);
            let mut below = 0;
            let median = histogram.iter().position(|count| {
                below += count;
                2 * below >= levels.len()
            });
            self.product = FLOOR_LEVEL * (median.unwrap_or(0) as f32 + DARK_OFFSET);
            let turn = |level: u8| self.product / (f32::from(level) + DARK_OFFSET);
            self.turned
                .extend((0..=255).map(|level| turn(level).round().min(255.0) as u8));
        }
        to.clear();
        to.extend(levels.iter().map(|&level| self.turned[usize::from(level)]));
    }

    /// Returns the level of the camera that a turned level stands for.
    pub(super) fn level_of(&self, turned: f32) -> f32 {
        (self.product / turned.max(1.0) - DARK_OFFSET).clamp(0.0, 255.0)
    }
}

/// Writes the picture to `to` in which a pixel that is brighter than the floor is as much darker. `floor` times `gain` is the lit
/// floor.
pub(super) fn fold(levels: &[u8], floor: &[f32], gain: f32, to: &mut Vec<u8>) {
    to.clear();
    to.extend(levels.iter().zip(floor).map(|(&level, &floor)| {
        let (observed, lit) = (f32::from(level), floor * gain);
        if observed > lit {
            (lit * lit / observed) as u8
        } else {
            level
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_picture_is_dark_where_the_picture_is_bright_and_can_be_turned_back() {
        let mut reciprocal = Reciprocal::default();
        let mut turned = Vec::new();
        reciprocal.write(&[20, 20, 20, 20, 60, 10], &mut turned);
        assert!(
            turned[4] < turned[0] / 2 && turned[5] > turned[0],
            "{turned:?}"
        );
        for (level, turned) in [20.0, 60.0, 10.0]
            .into_iter()
            .zip([turned[0], turned[4], turned[5]])
        {
            assert!((reciprocal.level_of(f32::from(turned)) - level).abs() < 1.5);
        }
    }

    #[test]
    fn a_folded_picture_is_dark_where_it_differs_from_the_floor() {
        let mut folded = Vec::new();
        fold(&[100, 50, 200], &[100.0; 3], 1.0, &mut folded);
        assert_eq!(folded, [100, 50, 50]);
    }
}
