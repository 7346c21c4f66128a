//! Patterns for adjusting outputs: numbers, corners, blend zones, rulers.

use glam::Vec2;

use super::super::view::View;
use super::{CORNER_COLOR, OUTPUT_COLORS, OutputCorner, Overlay};

impl Overlay {
    /// Returns the upper left and the lower right corner of the part of the surface that an output shows.
    fn crop_of(&self, view: &View) -> [Vec2; 2] {
        let half = self.surface.half_extent_m();
        let crop = view.warp.crop_in_picture();
        crop.map(|p| (p.as_vec2() * 2.0 - 1.0) * half)
    }

    /// Adds the number and the border of each output, and an arrow to its upper edge.
    pub(super) fn output_numbers<'a>(&mut self, views: impl Iterator<Item = (usize, &'a View)>) {
        for (index, view) in views {
            let [low, high] = self.crop_of(view);
            let (size, middle) = (high - low, (low + high) / 2.0);
            let [r, g, b] = OUTPUT_COLORS[index % OUTPUT_COLORS.len()];
            self.area(low, high, [r, g, b, 0.35]);
            self.line_m = 0.012 * size.x;
            self.border(low, high, [r, g, b, 1.0]);
            let height = 0.4 * size.y;
            // All digits have the same width.
            let digit = self.lettering.width("0");
            let width = height * digit * if index < 9 { 1.0 } else { 2.0 };
            let at = middle + Vec2::new(-width / 2.0, -0.15 * size.y);
            self.number(at, height, index as u32 + 1, [1.0; 4]);
            let tip = Vec2::new(middle.x, low.y + 0.06 * size.y);
            self.arrow(
                Vec2::new(middle.x, low.y + 0.28 * size.y),
                tip,
                [0.9, 0.9, 0.9, 1.0],
            );
        }
    }

    /// Marks a corner of an output: an arrow to it, and rings around it.
    pub(super) fn mark_corner(&mut self, view: &View, corner: OutputCorner) {
        let [low, high] = self.crop_of(view);
        let size = high - low;
        let end = |is_far: bool, low: f32, high: f32| if is_far { high } else { low };
        let at = Vec2::new(
            end(corner.is_right, low.x, high.x),
            end(corner.is_lower, low.y, high.y),
        );
        self.line_m = 0.01 * size.x;
        self.arrow(
            at + ((low + high) / 2.0 - at) * 0.6,
            at + ((low + high) / 2.0 - at) * 0.08,
            CORNER_COLOR,
        );
        for radius in [0.06, 0.12] {
            self.circle(at, radius * size.min_element(), CORNER_COLOR);
        }
    }

    pub(super) fn border(&mut self, low: Vec2, high: Vec2, color: [f32; 4]) {
        let corners = [
            low,
            Vec2::new(high.x, low.y),
            high,
            Vec2::new(low.x, high.y),
        ];
        for i in 0..4 {
            self.line(corners[i], corners[(i + 1) % 4], color);
        }
    }

    /// Adds numbered crosses, row by row from the upper left.
    pub(super) fn targets(&mut self, columns: u32, rows: u32) {
        let half = self.surface.half_extent_m();
        let arm_m = 0.025 * self.surface.width_m;
        for row in 0..rows.min(16) {
            for column in 0..columns.min(16) {
                let share = |i: u32, n: u32| (i as f32 + 0.5) / n.max(1) as f32 * 2.0 - 1.0;
                let at = half * Vec2::new(share(column, columns), share(row, rows));
                self.cross(at, arm_m, [0.9, 0.9, 0.9, 1.0]);
                let number = row * columns + column + 1;
                self.number(
                    at + Vec2::splat(0.3 * arm_m),
                    1.2 * arm_m,
                    number,
                    [1.0, 0.8, 0.2, 1.0],
                );
            }
        }
    }

    /// Adds the crop of every output in its own color. Where two crops overlap, their colors mix.
    pub(super) fn blend_zones<'a>(&mut self, views: impl Iterator<Item = (usize, &'a View)>) {
        let half = self.surface.half_extent_m();
        for (index, view) in views {
            let [low, high] = self.crop_of(view);
            let [r, g, b] = OUTPUT_COLORS[index % OUTPUT_COLORS.len()];
            self.area(low, high, [r, g, b, 0.5]);
            self.number(
                low + Vec2::splat(0.04 * half.x),
                0.12 * half.y,
                index as u32 + 1,
                [1.0; 4],
            );
        }
    }

    /// Adds rulers along two edges: a short tick every 0.1 m, and a long tick with a number every 0.5 m.
    pub(super) fn rulers(&mut self) {
        let half = self.surface.half_extent_m();
        let white = [0.9, 0.9, 0.9, 1.0];
        self.border(-half, half, white);
        let small = 0.012 * self.surface.width_m;
        for (edge, along, inside) in [
            (Vec2::new(-half.x, -half.y), Vec2::X, Vec2::Y),
            (Vec2::new(-half.x, -half.y), Vec2::Y, Vec2::X),
        ] {
            let length = 2.0 * half.dot(along);
            for tenth in 0..=(length * 10.0).min(1000.0) as u32 {
                let at = edge + along * (tenth as f32 / 10.0);
                let is_long = tenth % 5 == 0;
                self.line(
                    at,
                    at + inside * if is_long { 3.0 * small } else { small },
                    white,
                );
                if is_long {
                    let (whole, rest) = (tenth / 10, tenth % 10);
                    let text = [
                        b'0' + (whole / 10 % 10) as u8,
                        b'0' + (whole % 10) as u8,
                        b'.',
                        b'0' + rest as u8,
                    ];
                    let shown = if whole < 10 { &text[1..] } else { &text[..] };
                    let text = std::str::from_utf8(shown).unwrap_or_default();
                    self.text_line(
                        at + inside * 3.5 * small + along * 0.3 * small,
                        2.5 * small,
                        text,
                        white,
                    );
                }
            }
        }
    }
}
