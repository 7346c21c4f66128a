//! Dark spots in the camera's picture, and where each stands, in pixels: what a calibration can know before there is one.
//!
//! In: which pixels are darker than the lit floor, and what the technician puts on the targets. Out: a [`Spot`] for every
//! connected patch, with its foot, or with what is wrong about it. Must not: know the floor, time, or targets.
//!
//! A disc on the floor has its foot in its middle. A pole darkens two stripes: its shadow runs away from the lamp, its own
//! picture away from the camera; they meet where it stands, see [`super::pole`].

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pole::pole_foot;

/// Patches of fewer pixels are specks.
const PIXELS_MIN: usize = 12;

/// A patch over more than this share of the picture is nobody's disc or pole.
const SHARE_MAX: f64 = 0.2;

/// An ellipse fills exactly what its second moments say; the ragged edge of a small one a little less.
const ELLIPSE_FILL: std::ops::RangeInclusive<f64> = 0.93..=1.07;

/// A round disc is seen at most this much longer than wide: a camera that looks along the floor sees no floor.
const DISC_LENGTH_MAX: f64 = 4.0;

/// What the technician puts on a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A flat dark disc, its middle on the cross.
    #[default]
    Disc,
    /// An upright dark pole, its foot on the cross.
    Pole,
}

/// What keeps a patch from being the mark that was put on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpotFault {
    /// The picture's edge cuts it off.
    CutOff,
    /// It covers too much of the picture.
    TooLarge,
    /// It is no ellipse: a person, or the disc and a person in one.
    NoDisc,
    /// Its shadow and its picture cannot be told apart, so nothing says which end is the foot.
    OneStripe,
}

/// One connected dark patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Where it stands; its middle where there is a fault.
    pub foot_px: DVec2,
    /// Its area.
    pub pixels: usize,
    /// Why it is not the mark.
    pub fault: Option<SpotFault>,
}

/// Which pixels are darker than the lit floor: height × width, row-major.
#[derive(Clone, Copy, Debug)]
pub struct DarkPicture<'a> {
    /// One value a pixel.
    pub dark: &'a [bool],
    /// Pixels in a row.
    pub width_px: usize,
}

impl DarkPicture<'_> {
    /// Whether the pixel at a place is dark; false beside the picture.
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

/// All patches but specks, in the order of their first pixels, as what a mark of this kind makes of them.
pub fn find_spots(picture: &DarkPicture<'_>, mark: Mark) -> Vec<Spot> {
    let (width, height) = (picture.width_px, picture.height_px());
    let mut left = picture.dark.get(..width * height).unwrap_or(&[]).to_vec();
    let mut spots = Vec::new();
    for first in 0..left.len() {
        if left.get(first) == Some(&true) {
            let patch = take_patch(&mut left, first, width);
            if patch.len() >= PIXELS_MIN {
                spots.push(spot(&patch, (width, height), mark));
            }
        }
    }
    spots
}

/// Takes the patch around a pixel out of the picture, with its corners joined.
fn take_patch(left: &mut [bool], first: usize, width: usize) -> Vec<DVec2> {
    let height = left.len() / width;
    let mut patch = Vec::new();
    let mut open = vec![first];
    if let Some(pixel) = left.get_mut(first) {
        *pixel = false;
    }
    while let Some(at) = open.pop() {
        let (x, y) = (at % width, at / width);
        patch.push(DVec2::new(x as f64, y as f64));
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
    patch
}

fn spot(patch: &[DVec2], (width, height): (usize, usize), mark: Mark) -> Spot {
    let shape = Moments::of(patch);
    let last = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
    let is_cut = patch
        .iter()
        .any(|p| p.cmple(DVec2::ZERO).any() || p.cmpge(last).any());
    let is_large = patch.len() as f64 > SHARE_MAX * (width * height) as f64;
    let general = if is_large {
        Some(SpotFault::TooLarge)
    } else {
        is_cut.then_some(SpotFault::CutOff)
    };
    let (foot, own) = match mark {
        Mark::Disc => (
            Some(shape.middle),
            (!shape.is_ellipse(patch.len())).then_some(SpotFault::NoDisc),
        ),
        Mark::Pole if general.is_some() => (None, None),
        Mark::Pole => {
            let foot = pole_foot(patch);
            (foot, foot.is_none().then_some(SpotFault::OneStripe))
        }
    };
    Spot {
        foot_px: foot.unwrap_or(shape.middle),
        pixels: patch.len(),
        fault: general.or(own),
    }
}

/// Middle and second moments of a cloud of pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) middle: DVec2,
    /// Variances along and across.
    pub(super) along: f64,
    pub(super) across: f64,
    /// Unit vector along.
    pub(super) axis: DVec2,
}

impl Moments {
    pub(super) fn of(points: &[DVec2]) -> Self {
        let count = points.len().max(1) as f64;
        let middle = points.iter().sum::<DVec2>() / count;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for point in points {
            let d = *point - middle;
            xx += d.x * d.x / count;
            xy += d.x * d.y / count;
            yy += d.y * d.y / count;
        }
        // A pixel is a square, not a point.
        (xx, yy) = (xx + 1.0 / 12.0, yy + 1.0 / 12.0);
        let (mean, apart) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
        let angle = (2.0 * xy).atan2(xx - yy) / 2.0;
        Self {
            middle,
            along: mean + apart,
            across: (mean - apart).max(1.0 / 12.0),
            axis: DVec2::from_angle(angle),
        }
    }

    fn is_ellipse(&self, pixels: usize) -> bool {
        let full = 4.0 * std::f64::consts::PI * (self.along * self.across).sqrt();
        let is_short = self.along <= DISC_LENGTH_MAX * DISC_LENGTH_MAX * self.across;
        is_short && ELLIPSE_FILL.contains(&(pixels as f64 / full))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of 160 × 120 in which a rule says what is dark.
    fn drawn(is_dark: impl Fn(DVec2) -> bool) -> Vec<bool> {
        (0..160 * 120)
            .map(|i| is_dark(DVec2::new(f64::from(i % 160), f64::from(i / 160))))
            .collect()
    }

    fn spots(dark: &[bool], mark: Mark) -> Vec<Spot> {
        let picture = DarkPicture {
            dark,
            width_px: 160,
        };
        find_spots(&picture, mark)
    }

    fn disc(p: DVec2, at: DVec2, half: DVec2) -> bool {
        ((p - at) / half).length() < 1.0
    }

    #[test]
    fn a_disc_is_found_in_its_middle() {
        for at in [DVec2::new(40.3, 50.8), DVec2::new(90.0, 31.5)] {
            for half in [
                DVec2::new(6.0, 4.0),
                DVec2::new(14.0, 9.5),
                DVec2::splat(3.5),
            ] {
                let dark = drawn(|p| disc(p, at, half));
                let found = spots(&dark, Mark::Disc);
                let [spot] = found.as_slice() else {
                    panic!("{found:?}")
                };
                assert_eq!(spot.fault, None, "{at} {half}");
                assert!(spot.foot_px.distance(at) < 0.35, "{at} {half} {spot:?}");
            }
        }
    }

    #[test]
    fn people_and_edges_are_no_disc() {
        let at = DVec2::new(60.0, 60.0);
        let beside = DVec2::new(72.0, 66.0);
        let with_leg =
            drawn(|p| disc(p, at, DVec2::new(8.0, 6.0)) || disc(p, beside, DVec2::new(5.0, 14.0)));
        let stripe = drawn(|p| p.x > 30.0 && p.x < 90.0 && (p.y - 40.0).abs() < 4.0);
        let cut = drawn(|p| disc(p, DVec2::new(2.0, 60.0), DVec2::splat(6.0)));
        let huge = drawn(|p| disc(p, DVec2::new(80.0, 60.0), DVec2::splat(50.0)));
        let specks = drawn(|p| p.x as i32 % 9 < 3 && p.y as i32 % 9 < 3);
        for (dark, fault) in [
            (with_leg, SpotFault::NoDisc),
            (stripe, SpotFault::NoDisc),
            (cut, SpotFault::CutOff),
            (huge, SpotFault::TooLarge),
        ] {
            let faults: Vec<_> = spots(&dark, Mark::Disc).iter().map(|s| s.fault).collect();
            assert_eq!(faults, [Some(fault)]);
        }
        assert_eq!(spots(&specks, Mark::Disc), []);
    }

    #[test]
    fn two_patches_are_two_spots_and_odd_pictures_none() {
        let dark = drawn(|p| {
            disc(p, DVec2::new(40.0, 40.0), DVec2::splat(6.0))
                || disc(p, DVec2::new(100.0, 80.0), DVec2::splat(6.0))
        });
        assert_eq!(spots(&dark, Mark::Disc).len(), 2);
        let empty = DarkPicture {
            dark: &[],
            width_px: 0,
        };
        assert_eq!(find_spots(&empty, Mark::Disc), []);
        assert!(!empty.is_dark(DVec2::ZERO));
        let picture = DarkPicture {
            dark: &dark,
            width_px: 160,
        };
        assert!(picture.is_dark(DVec2::new(40.4, 39.6)));
        for beside in [DVec2::new(-1.0, 40.0), DVec2::new(160.0, 40.0), DVec2::NAN] {
            assert!(!picture.is_dark(beside), "{beside}");
        }
    }
}
