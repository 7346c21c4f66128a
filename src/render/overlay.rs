//! The overlay: lines, arrows and text over the finished picture, for tuning and calibration.
//!
//! In: shadows, annotations, patterns. Out: triangles in floor space. Each output maps them through its own warp, so that they
//! appear at their floor positions. Buffers are reused.

mod items;
mod output_patterns;

use bytemuck::{Pod, Zeroable};
use glam::Vec2;

use super::calibration_pattern::{FloorNotice, FloorStripes, FloorTarget, QrModules, StripeAxis};
use super::labels::LabelLayout;
use super::lettering::{Lettering, Line};
use super::noise::unit_hash;
use super::touch_target;
use super::view::View;
use crate::geometry::{Surface, Visitor, polygon_edges};

/// Longest piece of a line, as a share of the surface's width. Lines are drawn in pieces, so that they follow a curved warp.
const PIECE_SHARE: f32 = 0.05;
/// Height of the letters of a notice, as a share of the surface's smaller side. On a floor of 4 × 3 m this is 15 cm, which can be
/// read while standing.
const NOTICE_SHARE: f32 = 0.05;
/// Distance of a notice from the edges of the surface, as a share of the half extent.
const NOTICE_MARGIN: f32 = 0.04;
/// Largest number of lines of a notice.
const NOTICE_LINES: usize = 5;
/// Width of a QR code with its bright margin, as a share of the surface's smaller side. A phone reads it from anywhere on the
/// floor, and the text at the edge stays free.
const QR_SHARE: f32 = 0.5;
/// Width of the bright margin of a QR code in modules, as its standard demands.
const QR_MARGIN: usize = 4;
/// Glyph position that marks a triangle without a glyph.
pub(super) const PLAIN: [f32; 2] = [-1.0, -1.0];

/// A vertex of the overlay; same layout as `OverlayVertex` in `shaders/overlay.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct OverlayVertex {
    /// Position in floor meters, or in clip space after [`Overlay::clip_vertices`].
    pub(super) position: [f32; 2],
    /// Position in the glyph atlas; [`PLAIN`] for a triangle without a glyph.
    pub(super) glyph_uv: [f32; 2],
    /// Linear red, green, blue, and opacity.
    pub(super) color: [f32; 4],
}

/// The parts of the overlay that adjust projectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverlayOptions {
    /// A pattern for adjusting projectors. If set, nothing else is drawn, except while the camera is calibrated.
    pub pattern: Option<Pattern>,
    /// The corner of an output that the pattern marks.
    pub corner: Option<OutputCorner>,
}

/// A corner of the picture of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputCorner {
    /// Index of the output in the site.
    pub output: usize,
    /// Whether it is one of the right corners.
    pub is_right: bool,
    /// Whether it is one of the lower corners.
    pub is_lower: bool,
}

/// Patterns for adjusting projectors, on a dark background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A cross in every corner and in the center of the surface.
    Corners,
    /// Lines at every tenth of the width and height.
    Grid,
    /// Numbered crosses for the touch calibration.
    Targets {
        /// Number of crosses along the width.
        columns: u32,
        /// Number of crosses along the height.
        rows: u32,
    },
    /// The crop of every output in its own color, so that overlaps are visible.
    Blend,
    /// Rulers along two edges of the surface, in meters.
    Rulers,
    /// The number and the border of every output, and an arrow to its upper edge.
    Outputs,
}

/// Colors of the outputs in patterns, repeated if there are more outputs.
const OUTPUT_COLORS: [[f32; 3]; 4] = [
    [0.8, 0.1, 0.1],
    [0.1, 0.3, 0.9],
    [0.1, 0.7, 0.2],
    [0.7, 0.6, 0.1],
];
/// Color of a marked corner.
const CORNER_COLOR: [f32; 4] = [1.0, 0.5, 0.05, 1.0];

/// The triangles of the overlay of one picture.
#[derive(Debug, Default)]
pub struct Overlay {
    /// Three vertices per triangle, in floor space.
    pub(super) vertices: Vec<OverlayVertex>,
    surface: Surface,
    /// Width of lines.
    line_m: f32,
    /// Positions of the labels.
    labels: LabelLayout,
    /// Shaped texts and their glyphs.
    pub(super) lettering: Lettering,
}

impl Overlay {
    /// Starts a new picture of `surface`: removes all triangles, including those of the labels, and resets the line width.
    pub fn clear(&mut self, surface: &Surface) {
        self.vertices.clear();
        self.lettering.begin();
        if self.surface != *surface {
            self.surface = surface.clone();
        }
        self.line_m = 0.004 * surface.width_m;
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: Vec2, to: Vec2, color: [f32; 4]) {
        if !(from.is_finite() && to.is_finite()) {
            return;
        }
        let piece = (PIECE_SHARE * self.surface.width_m).max(1e-3);
        let pieces = (from.distance(to) / piece).ceil().clamp(1.0, 64.0);
        let along = (to - from) / pieces;
        let aside = along.normalize_or(Vec2::X).perp() * (self.line_m / 2.0);
        for i in 0..pieces as u32 {
            let (a, b) = (from + along * i as f32, from + along * (i + 1) as f32);
            self.quad([a - aside, b - aside, b + aside, a + aside], color);
        }
    }

    fn quad(&mut self, corners: [Vec2; 4], color: [f32; 4]) {
        quad(&mut self.vertices, corners, color);
    }

    /// Adds a filled rectangle.
    pub fn area(&mut self, low: Vec2, high: Vec2, color: [f32; 4]) {
        // The rectangle is drawn in 8 × 8 pieces, so that it follows a curved warp.
        let at = |i: f32, j: f32| low + (high - low) * Vec2::new(i, j) / 8.0;
        for i in 0..8u8 {
            for j in 0..8u8 {
                let (x, y) = (f32::from(i), f32::from(j));
                self.quad(
                    [
                        at(x, y),
                        at(x + 1.0, y),
                        at(x + 1.0, y + 1.0),
                        at(x, y + 1.0),
                    ],
                    color,
                );
            }
        }
    }

    /// Adds an arrow.
    pub fn arrow(&mut self, from: Vec2, to: Vec2, color: [f32; 4]) {
        self.line(from, to, color);
        let barb = (from - to).clamp_length_max(6.0 * self.line_m);
        for turn in [0.5, -0.5] {
            self.line(to, to + Vec2::from_angle(turn).rotate(barb), color);
        }
    }

    /// Adds a cross with arms of this length.
    pub fn cross(&mut self, at: Vec2, arm_m: f32, color: [f32; 4]) {
        for arm in [Vec2::X, Vec2::Y] {
            self.line(at - arm * arm_m, at + arm * arm_m, color);
        }
    }

    /// Adds a circle.
    pub fn circle(&mut self, at: Vec2, radius_m: f32, color: [f32; 4]) {
        let on =
            |i: u8| at + radius_m * Vec2::from_angle(f32::from(i) * std::f32::consts::TAU / 32.0);
        for i in 0..32 {
            self.line(on(i), on(i + 1), color);
        }
    }

    /// Adds a line of text with its upper left corner at `at`, on a dark background.
    pub fn text_line(&mut self, at: Vec2, height_m: f32, text: &str, color: [f32; 4]) {
        let line = self.lettering.lines(text, f32::INFINITY).first();
        if let Some(line) = line {
            draw_line(&mut self.vertices, line, (at, height_m), color);
        }
    }

    /// Adds outlines, foot points and numbers of visitors' shadows.
    pub fn shadows(&mut self, shadows: &[Visitor]) {
        for shadow in shadows {
            let tone = 0.9 - 0.25 * unit_hash(shadow.id, 9);
            let color = [tone, tone * 0.82, tone * 0.25, 0.9];
            if shadow.outline_m.len() >= 3 {
                for (from, to) in polygon_edges(&shadow.outline_m) {
                    self.line(from, to, color);
                }
            } else {
                self.circle(shadow.centroid_m, shadow.radius_m, color);
            }
            self.cross(shadow.foot_m, 0.05, color);
            self.number(
                shadow.foot_m + Vec2::new(0.08, -0.045),
                0.09,
                shadow.id,
                color,
            );
        }
    }

    /// Adds a touch target's cross and number.
    pub fn target(&mut self, target: &FloorTarget) {
        let (line_m, surface) = (self.line_m, self.surface.clone());
        for stroke in touch_target::strokes(target, &surface) {
            self.line_m = stroke.width_m;
            self.line(stroke.from, stroke.to, stroke.color);
        }
        self.line_m = line_m;
    }

    /// Adds a text in large letters at the upper or the lower edge of the surface, whichever is farther from the place that has to
    /// stay free.
    pub fn notice(&mut self, notice: &FloorNotice) {
        let half_m = self.surface.half_extent_m();
        let height_m = NOTICE_SHARE * 2.0 * half_m.min_element();
        let margin_m = half_m * NOTICE_MARGIN;
        let width_m = 2.0 * (half_m.x - margin_m.x);
        let lines = self
            .lettering
            .lines(&notice.text, width_m / height_m.max(1e-6));
        let lines = lines.get(..NOTICE_LINES).unwrap_or(lines);
        let step_m = 1.4 * height_m;
        let is_above = notice.free_of_m.is_some_and(|place| place.y > 0.0);
        let top_m = if is_above {
            -half_m.y + margin_m.y
        } else {
            half_m.y - margin_m.y - lines.len() as f32 * step_m
        };
        for (number, line) in lines.iter().enumerate() {
            let at = Vec2::new(-half_m.x + margin_m.x, top_m + number as f32 * step_m);
            draw_line(
                &mut self.vertices,
                line,
                (at, height_m),
                [1.0, 0.95, 0.7, 1.0],
            );
        }
        if let Some(code) = &notice.code {
            self.qr_code(code);
        }
    }

    /// Adds a QR code in the middle of the surface: dark modules on a bright square.
    fn qr_code(&mut self, code: &QrModules) {
        const DARK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
        let side_m = QR_SHARE * 2.0 * self.surface.half_extent_m().min_element();
        let module_m = side_m / (code.width + 2 * QR_MARGIN).max(1) as f32;
        let half_m = Vec2::splat(side_m / 2.0);
        self.area(-half_m, half_m, [1.0; 4]);
        let at = |column: usize, row: usize| {
            let place = Vec2::new((column + QR_MARGIN) as f32, (row + QR_MARGIN) as f32);
            place * module_m - half_m
        };
        for (row, modules) in code.dark.chunks(code.width.max(1)).enumerate() {
            let mut first = 0;
            for run in modules.chunk_by(|a, b| a == b) {
                let end = first + run.len();
                if run.first() == Some(&true) {
                    let corners = [
                        at(first, row),
                        at(end, row),
                        at(end, row + 1),
                        at(first, row + 1),
                    ];
                    self.quad(corners, DARK);
                }
                first = end;
            }
        }
    }

    /// Covers the surface with dark and bright stripes.
    pub fn stripes(&mut self, stripes: &FloorStripes) {
        const DARK: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
        const BRIGHT: [f32; 4] = [1.0; 4];
        let half_m = self.surface.half_extent_m();
        self.area(-half_m, half_m, DARK);
        let count = stripes.count.clamp(1, u64::BITS);
        let is_bright = |stripe: u32| stripe < count && stripes.bright >> stripe & 1 == 1;
        let mut first = 0;
        while first < count {
            // Adjacent stripes of the same brightness are one area, without a seam.
            let end = (first..count)
                .find(|i| is_bright(*i) != is_bright(first))
                .unwrap_or(count);
            if is_bright(first) {
                let [from, to] = [first, end].map(|edge| edge as f32 / count as f32);
                let (low, high) = match stripes.axis {
                    StripeAxis::Columns => (Vec2::new(from, 0.0), Vec2::new(to, 1.0)),
                    StripeAxis::Rows => (Vec2::new(0.0, from), Vec2::new(1.0, to)),
                };
                let place = |share: Vec2| (2.0 * share - 1.0) * half_m;
                self.area(place(low), place(high), BRIGHT);
            }
            first = end;
        }
    }

    /// Adds an integer without allocating a string.
    fn number(&mut self, at: Vec2, height_m: f32, number: u32, color: [f32; 4]) {
        let mut digits = [b'0'; 10];
        let (mut rest, mut first) = (number, digits.len());
        loop {
            first -= 1;
            if let Some(digit) = digits.get_mut(first) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 || first == 0 {
                break;
            }
        }
        let text = digits
            .get(first..)
            .and_then(|d| std::str::from_utf8(d).ok());
        self.text_line(at, height_m, text.unwrap_or_default(), color);
    }

    /// Adds a pattern over a dark picture. `views` are the drawn outputs, each with its index in the site.
    pub fn pattern<'a>(
        &mut self,
        pattern: Pattern,
        corner: Option<OutputCorner>,
        views: impl Iterator<Item = (usize, &'a View)> + Clone,
    ) {
        let half = self.surface.half_extent_m();
        let white = [0.9, 0.9, 0.9, 1.0];
        // The dark area is 2 % larger than the surface, for control meshes that extend beyond the edge of the surface.
        self.area(-half * 1.02, half * 1.02, [0.01, 0.01, 0.012, 1.0]);
        match pattern {
            Pattern::Corners => {
                let arm_m = 0.06 * self.surface.width_m;
                for corner in [
                    (-1.0, -1.0),
                    (1.0, -1.0),
                    (1.0, 1.0),
                    (-1.0, 1.0),
                    (0.0, 0.0),
                ] {
                    let at = half * Vec2::from(corner);
                    self.cross(at, arm_m, white);
                    self.circle(at, arm_m / 2.0, white);
                }
                self.border(-half, half, white);
            }
            Pattern::Grid => {
                for i in -5i8..=5 {
                    let share = f32::from(i) / 5.0;
                    let (x, y) = (half.x * share, half.y * share);
                    self.line(Vec2::new(x, -half.y), Vec2::new(x, half.y), white);
                    self.line(Vec2::new(-half.x, y), Vec2::new(half.x, y), white);
                }
                self.circle(Vec2::ZERO, half.min_element() * 0.8, [0.2, 0.9, 0.3, 1.0]);
            }
            Pattern::Targets { columns, rows } => self.targets(columns, rows),
            Pattern::Blend => self.blend_zones(views.clone()),
            Pattern::Rulers => self.rulers(),
            Pattern::Outputs => self.output_numbers(views.clone()),
        }
        for (index, view) in views {
            if let Some(corner) = corner.filter(|corner| corner.output == index) {
                self.mark_corner(view, corner);
            }
        }
    }

    /// Writes the vertices to `out`, with positions in the clip space of an output.
    pub fn clip_vertices(&self, view: &View, out: &mut Vec<OverlayVertex>) {
        out.clear();
        let size =
            glam::DVec2::new(f64::from(view.size_px[0]), f64::from(view.size_px[1])).as_vec2();
        out.extend(self.vertices.iter().map(|vertex| {
            let at = view.pixel_from_floor(Vec2::from(vertex.position)) / size;
            OverlayVertex {
                position: [2.0 * at.x - 1.0, 1.0 - 2.0 * at.y],
                ..*vertex
            }
        }));
    }
}

fn quad(vertices: &mut Vec<OverlayVertex>, [a, b, c, d]: [Vec2; 4], color: [f32; 4]) {
    vertices.extend([a, b, c, c, d, a].map(|p| OverlayVertex {
        position: p.to_array(),
        glyph_uv: PLAIN,
        color,
    }));
}

/// Draws a line of text with its upper left corner at a position and of this height, on a dark background.
fn draw_line(
    vertices: &mut Vec<OverlayVertex>,
    line: &Line,
    (at, height_m): (Vec2, f32),
    color: [f32; 4],
) {
    if !at.is_finite() {
        return;
    }
    let pad = Vec2::splat(0.15 * height_m);
    let size = Vec2::new(line.width * height_m, height_m);
    let ground = [
        at - pad,
        at + Vec2::new(size.x + pad.x, -pad.y),
        at + size + pad,
        at + Vec2::new(-pad.x, size.y + pad.y),
    ];
    quad(vertices, ground, [0.0, 0.0, 0.0, 0.72 * color[3]]);
    for glyph in &line.glyphs {
        let [low, high] = [glyph.low, glyph.high].map(|corner| at + corner * height_m);
        let [from, to] = glyph.uv;
        let corner = |position: Vec2, glyph_uv: Vec2| OverlayVertex {
            position: position.to_array(),
            glyph_uv: glyph_uv.to_array(),
            color,
        };
        let [a, b, c, d] = [
            corner(low, from),
            corner(Vec2::new(high.x, low.y), Vec2::new(to.x, from.y)),
            corner(high, to),
            corner(Vec2::new(low.x, high.y), Vec2::new(from.x, to.y)),
        ];
        vertices.extend([a, b, c, c, d, a]);
    }
}

#[cfg(test)]
mod tests;
