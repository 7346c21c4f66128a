//! Pictures of what every stage of vision makes of a frame, for the technician. Made on demand: nothing is kept for them.

use glam::DVec2;
use image::{GrayImage, Luma, Rgb, RgbImage};

use super::background::Background;
use super::bit_mask::BitMask;
use super::blobs::BlobFinder;
use super::floor::FloorView;
use super::tracker::Track;

/// Side of the floor's picture that one meter takes.
const PX_PER_M: f64 = 120.0;
/// Floor shown beside the surface.
const MARGIN_M: f64 = 1.0;
/// Tellable colors, one after the other.
const COLORS: [[u8; 3]; 6] = [
    [255, 90, 80],
    [90, 200, 90],
    [90, 140, 255],
    [240, 200, 60],
    [210, 110, 230],
    [80, 220, 220],
];
const SURFACE_COLOR: Rgb<u8> = Rgb([90, 90, 90]);

/// What every stage made of the last frame. Pictures are as large as the frame, but for the floor's.
#[derive(Clone, Debug)]
pub struct DebugViews {
    /// Brightness as it came, 8 bit.
    pub raw: GrayImage,
    /// The empty floor as it is known, at the frame's gain.
    pub background: GrayImage,
    /// Brightness as a share of the floor's: black 0, white 1.25 and above.
    pub ratio: GrayImage,
    /// Shadow after cleaning.
    pub mask: GrayImage,
    /// Where shadows can be told: white; floor too dark, or beyond the horizon, is black.
    pub validity: GrayImage,
    /// Connected shadows, a color each; those too small or too large for a visitor are not among them.
    pub blobs: RgbImage,
    /// The floor from above, x to the right and z down: the surface, every visitor's outline, foot (cross) and way of
    /// the next half second.
    pub tracks: RgbImage,
}

impl DebugViews {
    /// The pictures with their names, in the order of the stages.
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

/// What the pictures are made from.
pub(super) struct DebugInput<'a> {
    pub(super) levels: &'a [u8],
    pub(super) background: &'a Background,
    pub(super) foreground: &'a BitMask,
    pub(super) blobs: &'a BlobFinder,
    pub(super) tracks: &'a [Track],
    pub(super) view: &'a FloorView,
}

/// Draws all stages.
pub(super) fn draw(input: &DebugInput<'_>) -> DebugViews {
    let size = (input.foreground.width(), input.foreground.height());
    let gain = input.background.gain();
    let floor = input.background.levels();
    let lit = |i: usize| floor.get(i).map_or(0.0, |level| level * gain);
    let seen = |i: usize| f32::from(input.levels[i]);
    DebugViews {
        raw: gray(size, seen),
        background: gray(size, lit),
        ratio: gray(size, |i| 204.0 * seen(i) / lit(i).max(1.0)),
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

fn draw_tracks(tracks: &[Track], view: &FloorView) -> RgbImage {
    let half_m = DVec2::new(
        f64::from(view.surface.width_m),
        f64::from(view.surface.height_m),
    ) / 2.0;
    let edge_m = half_m + MARGIN_M;
    let size = (2.0 * edge_m * PX_PER_M).clamp(DVec2::ONE, DVec2::splat(4096.0));
    let mut picture = RgbImage::new(size.x as u32, size.y as u32);
    let corners = [
        DVec2::new(-half_m.x, -half_m.y),
        DVec2::new(half_m.x, -half_m.y),
        half_m,
        DVec2::new(-half_m.x, half_m.y),
    ];
    let mut ring = |points: &[DVec2], color: Rgb<u8>| {
        let next = points.iter().cycle().skip(1);
        for (from, to) in points.iter().zip(next) {
            line(&mut picture, (*from + edge_m, *to + edge_m), color);
        }
    };
    ring(&corners, SURFACE_COLOR);
    for track in tracks {
        let color = Rgb(COLORS[track.id as usize % COLORS.len()]);
        ring(&track.outline_m, color);
        let foot = track.foot_m;
        for arm in [DVec2::new(0.08, 0.08), DVec2::new(0.08, -0.08)] {
            ring(&[foot - arm, foot + arm], color);
        }
        ring(&[foot, foot + 0.5 * track.velocity_mps], color);
    }
    picture
}

/// A line between two points of the floor; what lies beyond the picture is left out.
fn line(picture: &mut RgbImage, (from, to): (DVec2, DVec2), color: Rgb<u8>) {
    let (from, to) = (from * PX_PER_M, to * PX_PER_M);
    // Farther than any picture is wide nothing is seen.
    let steps = from.distance(to).clamp(1.0, 10_000.0).ceil();
    if !steps.is_finite() {
        return;
    }
    for step in 0..=steps as u32 {
        let at = from.lerp(to, f64::from(step) / steps);
        let inside = at.cmpge(DVec2::ZERO).all()
            && at.x < f64::from(picture.width())
            && at.y < f64::from(picture.height());
        if inside {
            picture.put_pixel(at.x as u32, at.y as u32, color);
        }
    }
}
