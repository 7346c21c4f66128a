//! Images of the intermediate results of vision, for technicians. They are drawn only on request and need no stored
//! data.

use glam::{DVec2, Vec2};
use image::{GrayImage, Luma, Rgb, RgbImage};
use imageproc::drawing::draw_line_segment_mut;

use super::background::Background;
use super::bit_mask::BitMask;
use super::blobs::BlobFinder;
use super::floor::FloorView;
use crate::geometry::{Visitor, polygon_edges};

/// Scale of the floor plan, in pixels per meter.
const PX_PER_M: f64 = 120.0;
/// Width of the margin that the floor plan shows around the surface, in meters.
const MARGIN_M: f64 = 1.0;
/// Largest coordinate of the end of a line, in pixels. A point beyond it is moved, because the time to draw a line grows with its
/// length. The largest image is smaller.
const FAR_PX: f64 = 10_000.0;
/// Colors for blobs and tracks, easy to distinguish and used in rotation.
const COLORS: [[u8; 3]; 6] = [
    [255, 90, 80],
    [90, 200, 90],
    [90, 140, 255],
    [240, 200, 60],
    [210, 110, 230],
    [80, 220, 220],
];
/// Color of the border of the surface.
const SURFACE_COLOR: Rgb<u8> = Rgb([90, 90, 90]);

/// Images of the intermediate results for one frame. All have the size of the frame, except for the floor plan.
#[derive(Clone, Debug)]
pub struct DebugViews {
    /// Camera image, converted to 8 bits.
    pub raw: GrayImage,
    /// Background model, multiplied by the gain of the frame.
    pub background: GrayImage,
    /// Ratio of the image to the background model: 0 is black, 1.25 and above is white.
    pub ratio: GrayImage,
    /// Foreground mask after morphology.
    pub mask: GrayImage,
    /// Observable pixels are white. Pixels that are too dark or beyond the horizon are black.
    pub validity: GrayImage,
    /// Blobs, each in its own color. Blobs that are too small or too large for a visitor are not drawn.
    pub blobs: RgbImage,
    /// Floor plan with x to the right and z down. It shows the surface and, for every track, the outline, the foot
    /// point (cross) and the predicted motion over the next half second (line).
    pub tracks: RgbImage,
}

impl DebugViews {
    /// Returns the images with their file names, in the order of the processing steps.
    pub fn named(self) -> [(&'static str, image::DynamicImage); 7] {
        [
            ("1-raw", self.raw.into()),
            ("2-background", self.background.into()),
            ("3-ratio", self.ratio.into()),
            ("4-mask", self.mask.into()),
            ("5-validity", self.validity.into()),
            ("6-blobs", self.blobs.into()),
            ("7-tracks", self.tracks.into()),
        ]
    }
}

/// Inputs of `draw`.
pub(super) struct DebugInput<'a> {
    pub(super) levels: &'a [u8],
    pub(super) background: &'a Background,
    pub(super) foreground: &'a BitMask,
    pub(super) blobs: &'a BlobFinder,
    pub(super) tracks: &'a [Visitor],
    pub(super) view: &'a FloorView,
}

/// Draws all images.
pub(super) fn draw(input: &DebugInput<'_>) -> DebugViews {
    let size = (input.foreground.width(), input.foreground.height());
    let gain = input.background.gain();
    let floor = input.background.levels();
    let lit = |i: usize| floor.get(i).map_or(0.0, |level| level * gain);
    let observed = |i: usize| f32::from(input.levels[i]);
    DebugViews {
        raw: gray(size, observed),
        background: gray(size, lit),
        ratio: gray(size, |i| 204.0 * observed(i) / lit(i).max(1.0)),
        mask: gray(size, |i| {
            let is_foreground = input
                .foreground
                .contains((i % size.0) as i32, (i / size.0) as i32);
            if is_foreground { 255.0 } else { 0.0 }
        }),
        validity: gray(size, |i| {
            if input.background.is_observable(i) {
                255.0
            } else {
                0.0
            }
        }),
        blobs: draw_blobs(input, size),
        tracks: draw_tracks(input.tracks, input.view),
    }
}

fn gray((width, height): (usize, usize), level: impl Fn(usize) -> f32) -> GrayImage {
    GrayImage::from_fn(width as u32, height as u32, |x, y| {
        Luma([level(y as usize * width + x as usize).clamp(0.0, 255.0) as u8])
    })
}

fn draw_blobs(input: &DebugInput<'_>, (width, height): (usize, usize)) -> RgbImage {
    let mut picture = RgbImage::from_fn(width as u32, height as u32, |x, y| {
        let level = input.levels[y as usize * width + x as usize] / 3;
        Rgb([level; 3])
    });
    for (number, blob) in input.blobs.blobs().iter().enumerate() {
        for (y, start, end) in input.blobs.rows(blob) {
            for x in start..end {
                picture.put_pixel(x, y, Rgb(COLORS[number % COLORS.len()]));
            }
        }
    }
    picture
}

fn draw_tracks(tracks: &[Visitor], view: &FloorView) -> RgbImage {
    let half_m = DVec2::new(
        f64::from(view.surface.width_m),
        f64::from(view.surface.height_m),
    ) / 2.0;
    let edge_m = half_m + MARGIN_M;
    let size = (2.0 * edge_m * PX_PER_M).clamp(DVec2::ONE, DVec2::splat(4096.0));
    let mut picture = RgbImage::new(size.x as u32, size.y as u32);
    let corner_m = half_m.as_vec2();
    let corners = [
        -corner_m,
        Vec2::new(corner_m.x, -corner_m.y),
        corner_m,
        Vec2::new(-corner_m.x, corner_m.y),
    ];
    let mut ring = |points: &[Vec2], color: Rgb<u8>| {
        for (from, to) in polygon_edges(points) {
            let [from, to] = [from, to].map(|point| point.as_dvec2() + edge_m);
            line(&mut picture, (from, to), color);
        }
    };
    ring(&corners, SURFACE_COLOR);
    for track in tracks {
        let color = Rgb(COLORS[track.id as usize % COLORS.len()]);
        ring(&track.outline_m, color);
        let foot = track.foot_m;
        for arm in [Vec2::new(0.08, 0.08), Vec2::new(0.08, -0.08)] {
            ring(&[foot - arm, foot + arm], color);
        }
        ring(&[foot, foot + 0.5 * track.velocity_mps], color);
    }
    picture
}

/// Draws a line between two floor points. Parts outside the image are skipped.
fn line(picture: &mut RgbImage, (from, to): (DVec2, DVec2), color: Rgb<u8>) {
    if !(from.is_finite() && to.is_finite()) {
        return;
    }
    let [start, end] = [from, to].map(|at| {
        let at = at * PX_PER_M;
        let at = at.clamp(DVec2::splat(-FAR_PX), DVec2::splat(FAR_PX));
        (at.x as f32, at.y as f32)
    });
    draw_line_segment_mut(picture, start, end, color);
}
