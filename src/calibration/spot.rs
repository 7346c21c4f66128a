//! Finds dark spots in a camera frame and their positions in pixels, as the input of a calibration.
//!
//! Input: the mask of pixels that are darker than the lit floor, and the object that the technician puts on the targets.
//! Output: a [`DarkSpot`] for every connected region, with its foot or the reason why the region cannot be the object. This
//! file must not know the floor, the time, or the targets.
//!
//! The foot of a disc is its center. A pole makes two dark stripes: its shadow, which points away from the lamp, and its own
//! image, which points away from the camera. Both stripes cross at the foot of the pole (see [`super::pole`]).

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::moments::Moments;
use super::pole::pole_foot;

/// Minimum number of pixels of a spot. Smaller regions are noise.
const PIXELS_MIN: usize = 12;

/// Largest share of the frame that a disc or a pole can cover.
const SHARE_MAX: f64 = 0.2;

/// Allowed ratio of a spot's area to the area of an ellipse with the same second moments. The ratio is 1 for an exact ellipse.
/// For a small ellipse, the edge of whole pixels changes the ratio slightly.
const ELLIPSE_FILL: std::ops::RangeInclusive<f64> = 0.93..=1.07;

/// Largest ratio of length to width of a disc in the frame. The ratio is larger if the camera looks along the floor at a
/// flatter angle, which is not supported.
const DISC_LENGTH_MAX: f64 = 4.0;

/// Object that the technician puts on a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetObject {
    /// Flat dark disc, with its center on the projected cross.
    #[default]
    Disc,
    /// Upright dark pole, with its foot on the projected cross.
    Pole,
}

/// Reason why a spot cannot be the object on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpotFault {
    /// The spot touches the edge of the frame.
    CutOff,
    /// The spot covers too much of the frame.
    TooLarge,
    /// The spot is not an ellipse: it is a person, or the disc together with a person.
    NotElliptic,
    /// The shadow and the image of the pole cannot be distinguished, so the foot is unknown.
    OneStripe,
}

/// Connected dark region in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DarkSpot {
    /// Foot of the object in pixels. If the spot has a fault, this is the center of the spot.
    pub foot_px: DVec2,
    /// Area, in pixels.
    pub pixels: usize,
    /// Reason why the spot cannot be the object, or `None` if it can.
    pub fault: Option<SpotFault>,
}

/// Mask of pixels that are darker than the lit floor: height × width, row-major.
#[derive(Clone, Copy, Debug)]
pub struct DarkMask<'a> {
    /// One value per pixel: true for a dark pixel.
    pub dark: &'a [bool],
    /// Number of pixels per row.
    pub width_px: usize,
}

impl DarkMask<'_> {
    /// Returns whether the pixel at a position is dark. Returns false outside the frame.
    pub fn is_dark(&self, at_px: DVec2) -> bool {
        let (x, y) = (at_px.x.round(), at_px.y.round());
        let inside = x >= 0.0 && y >= 0.0 && (x as usize) < self.width_px;
        inside
            && self
                .dark
                .get(y as usize * self.width_px + x as usize)
                .copied()
                .unwrap_or(false)
    }

    fn height_px(&self) -> usize {
        self.dark.len() / self.width_px.max(1)
    }
}

/// Finds all spots and measures each one as an object of the given kind. Returns the spots in the order of their first pixels.
pub fn find_dark_spots(mask: &DarkMask<'_>, object: TargetObject) -> Vec<DarkSpot> {
    let (width, height) = (mask.width_px, mask.height_px());
    let mut left = mask.dark.get(..width * height).unwrap_or(&[]).to_vec();
    let mut spots = Vec::new();
    for first in 0..left.len() {
        if left.get(first) == Some(&true) {
            let region = take_region(&mut left, first, width);
            if region.len() >= PIXELS_MIN {
                spots.push(spot(&region, (width, height), object));
            }
        }
    }
    spots
}

/// Removes from the mask `left` the connected region that contains the pixel `first`, and returns the pixels of the region.
/// Diagonal neighbors are connected.
///
/// `connected_components` of the crate imageproc finds the same regions, but it labels every pixel of the frame: it takes 3.1 ms
/// instead of 0.1 ms for a disc in a frame of 640x480 px, and 9.7 ms instead of 0.3 ms at 1280x720 px. It also panics for a
/// frame of one pixel.
fn take_region(left: &mut [bool], first: usize, width: usize) -> Vec<DVec2> {
    let height = left.len() / width;
    let mut region = Vec::new();
    let mut open = vec![first];
    if let Some(pixel) = left.get_mut(first) {
        *pixel = false;
    }
    while let Some(at) = open.pop() {
        let (x, y) = (at % width, at / width);
        region.push(DVec2::new(x as f64, y as f64));
        for row in y.saturating_sub(1)..(y + 2).min(height) {
            for column in x.saturating_sub(1)..(x + 2).min(width) {
                let near = row * width + column;
                if let Some(pixel) = left.get_mut(near)
                    && std::mem::take(pixel)
                {
                    open.push(near);
                }
            }
        }
    }
    region
}

/// Measures one region as an object of the given kind.
fn spot(region: &[DVec2], (width, height): (usize, usize), object: TargetObject) -> DarkSpot {
    let shape = Moments::of(region);
    let last = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
    let is_cut = region
        .iter()
        .any(|p| p.cmple(DVec2::ZERO).any() || p.cmpge(last).any());
    let is_large = region.len() as f64 > SHARE_MAX * (width * height) as f64;
    let general = if is_large {
        Some(SpotFault::TooLarge)
    } else {
        is_cut.then_some(SpotFault::CutOff)
    };
    let (foot, own) = match object {
        TargetObject::Disc => (
            Some(shape.middle),
            (!is_ellipse(&shape, region.len())).then_some(SpotFault::NotElliptic),
        ),
        TargetObject::Pole if general.is_some() => (None, None),
        TargetObject::Pole => {
            let foot = pole_foot(region);
            (foot, foot.is_none().then_some(SpotFault::OneStripe))
        }
    };
    DarkSpot {
        foot_px: foot.unwrap_or(shape.middle),
        pixels: region.len(),
        fault: general.or(own),
    }
}

/// Whether the pixels of this shape fill an ellipse that is not too long for a disc.
fn is_ellipse(shape: &Moments, pixels: usize) -> bool {
    let full = 4.0 * std::f64::consts::PI * (shape.along * shape.across).sqrt();
    let is_short = shape.along <= DISC_LENGTH_MAX * DISC_LENGTH_MAX * shape.across;
    is_short && ELLIPSE_FILL.contains(&(pixels as f64 / full))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a mask of 160 × 120 px that is dark at the points for which `is_dark` returns true.
    fn drawn(is_dark: impl Fn(DVec2) -> bool) -> Vec<bool> {
        (0..160 * 120)
            .map(|i| is_dark(DVec2::new(f64::from(i % 160), f64::from(i / 160))))
            .collect()
    }

    fn spots(dark: &[bool], object: TargetObject) -> Vec<DarkSpot> {
        let mask = DarkMask {
            dark,
            width_px: 160,
        };
        find_dark_spots(&mask, object)
    }

    fn disc(p: DVec2, at: DVec2, half: DVec2) -> bool {
        ((p - at) / half).length() < 1.0
    }

    #[test]
    fn the_foot_of_a_disc_is_its_center() {
        for at in [DVec2::new(40.3, 50.8), DVec2::new(90.0, 31.5)] {
            for half in [
                DVec2::new(6.0, 4.0),
                DVec2::new(14.0, 9.5),
                DVec2::splat(3.5),
            ] {
                let dark = drawn(|p| disc(p, at, half));
                let found = spots(&dark, TargetObject::Disc);
                let [spot] = found.as_slice() else {
                    panic!("{found:?}")
                };
                assert_eq!(spot.fault, None, "{at} {half}");
                assert!(spot.foot_px.distance(at) < 0.35, "{at} {half} {spot:?}");
            }
        }
    }

    #[test]
    fn people_and_cut_off_discs_have_a_fault() {
        let at = DVec2::new(60.0, 60.0);
        let beside = DVec2::new(72.0, 66.0);
        let with_leg =
            drawn(|p| disc(p, at, DVec2::new(8.0, 6.0)) || disc(p, beside, DVec2::new(5.0, 14.0)));
        let stripe = drawn(|p| p.x > 30.0 && p.x < 90.0 && (p.y - 40.0).abs() < 4.0);
        let cut = drawn(|p| disc(p, DVec2::new(2.0, 60.0), DVec2::splat(6.0)));
        let huge = drawn(|p| disc(p, DVec2::new(80.0, 60.0), DVec2::splat(50.0)));
        let specks = drawn(|p| p.x as i32 % 9 < 3 && p.y as i32 % 9 < 3);
        for (dark, fault) in [
            (with_leg, SpotFault::NotElliptic),
            (stripe, SpotFault::NotElliptic),
            (cut, SpotFault::CutOff),
            (huge, SpotFault::TooLarge),
        ] {
            let faults: Vec<_> = spots(&dark, TargetObject::Disc)
                .iter()
                .map(|s| s.fault)
                .collect();
            assert_eq!(faults, [Some(fault)]);
        }
        assert_eq!(spots(&specks, TargetObject::Disc), []);
    }

    #[test]
    fn two_regions_are_two_spots_and_an_empty_mask_has_none() {
        let dark = drawn(|p| {
            disc(p, DVec2::new(40.0, 40.0), DVec2::splat(6.0))
                || disc(p, DVec2::new(100.0, 80.0), DVec2::splat(6.0))
        });
        assert_eq!(spots(&dark, TargetObject::Disc).len(), 2);
        let empty = DarkMask {
            dark: &[],
            width_px: 0,
        };
        assert_eq!(find_dark_spots(&empty, TargetObject::Disc), []);
        assert!(!empty.is_dark(DVec2::ZERO));
        let mask = DarkMask {
            dark: &dark,
            width_px: 160,
        };
        assert!(mask.is_dark(DVec2::new(40.4, 39.6)));
        for beside in [DVec2::new(-1.0, 40.0), DVec2::new(160.0, 40.0), DVec2::NAN] {
            assert!(!mask.is_dark(beside), "{beside}");
        }
    }
}
