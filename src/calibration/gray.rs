//! Gray code: projected stripe patterns from which each pixel of a camera for visible light finds its position in the
//! projected image.
//!
//! Input: the width of the finest stripes, later the frames of the patterns. Output: the bright stripes of each pattern, later
//! measured points for [`super::calibrate`]. This file must not use a camera or a projector.
//!
//! Every pattern is followed by its inverse, so no brightness threshold is needed: a pixel is bright or dark depending on which
//! of the two frames is brighter, and is ignored if both are about equal. The codes of neighboring stripes differ in one bit.
//! An error at the edge between two stripes is therefore at most one stripe.
//!
//! **Source**: Inokuchi et al. 1984 (Gray code); Scharstein & Szeliski 2003, section 3.1 (inverse patterns).

use glam::DVec2;

use super::points::{MeasuredPoint, POINTS_MAX, PointOrigin};
use crate::geometry::Homography;

mod scan;

pub use scan::GrayScan;

/// Maximum number of bits of a position: 8192 pixels, more than any projector has per side.
const BITS_MAX: u32 = 13;
/// Minimum difference between the bright and the dark frame for a pixel to be used, in levels of 255.
const CONTRAST_MIN: i32 = 12;
/// Minimum difference between a pattern and its inverse for a pixel to be used, as a share of the pixel's contrast (see
/// `contrast`).
const DIFFERENCE_SHARE_MIN: f64 = 0.2;
/// Minimum number of usable camera pixels in a cell that gives a correspondence.
const CELL_PIXELS_MIN: usize = 12;
/// A pixel of a cell is an outlier if its residual exceeds this multiple of the cell's median residual.
const OUTLIER_FACTOR: f64 = 4.0;

/// One pattern to project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrayPattern {
    /// The whole image is bright.
    Bright,
    /// The whole image is dark.
    Dark,
    /// The image consists of bright and dark stripes.
    Stripes {
        /// Direction in which the stripes are counted.
        axis: GrayAxis,
        /// Bit of the Gray code: a stripe is bright if this bit of the code of its position is set. The highest bit has the
        /// widest stripes.
        bit: u32,
        /// Whether bright and dark stripes are swapped.
        is_inverse: bool,
    },
}

/// Direction in which stripes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrayAxis {
    /// Stripes are columns, counted from the left.
    Column,
    /// Stripes are rows, counted from the top.
    Row,
}

/// Set of patterns for one projected image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GrayCode {
    /// Width and height of the projected image, in pixels.
    size_px: (u32, u32),
    /// Width of the finest stripes, in pixels.
    stripe_px: u32,
}

/// Point of the projected image, and the position in the camera frame at which it is visible.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Correspondence {
    /// Position in the projected image; pixel centers are at whole numbers.
    image_px: DVec2,
    /// Position in the camera frame.
    camera_px: DVec2,
    /// Number of camera pixels from which the correspondence was computed.
    pixels: usize,
}

/// The camera does not see the patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the camera sees the patterns in only {seen} of {all} pixels; it must see visible light (remove the infrared filter, \
     or use touch targets), and the room must be dark"
)]
pub struct NotVisible {
    /// Number of pixels that see the patterns.
    pub seen: usize,
    /// Number of all pixels.
    pub all: usize,
}

impl GrayCode {
    /// Creates the patterns for a projected image. Returns `None` if a side of the image is 0 or larger than 8192 pixels, or if
    /// the stripes are wider than the image.
    fn new(size_px: (u32, u32), stripe_px: u32) -> Option<Self> {
        let (width, height) = size_px;
        let is_possible = (1..=1 << BITS_MAX).contains(&width)
            && (1..=1 << BITS_MAX).contains(&height)
            && (1..=width.min(height)).contains(&stripe_px);
        is_possible.then_some(Self { size_px, stripe_px })
    }

    /// Returns the patterns in the order in which they are shown.
    fn patterns(&self) -> Vec<GrayPattern> {
        let mut patterns = vec![GrayPattern::Bright, GrayPattern::Dark];
        for axis in [GrayAxis::Column, GrayAxis::Row] {
            for bit in (0..self.bits(axis)).rev() {
                patterns.extend([false, true].map(|is_inverse| GrayPattern::Stripes {
                    axis,
                    bit,
                    is_inverse,
                }));
            }
        }
        patterns
    }

    /// Returns whether a pixel of the projected image is bright in a pattern.
    fn is_bright(&self, pattern: GrayPattern, x: u32, y: u32) -> bool {
        match pattern {
            GrayPattern::Bright => true,
            GrayPattern::Dark => false,
            GrayPattern::Stripes {
                axis,
                bit,
                is_inverse,
            } => {
                let place = match axis {
                    GrayAxis::Column => x,
                    GrayAxis::Row => y,
                } / self.stripe_px;
                let code = place ^ (place >> 1);
                (code >> bit & 1 == 1) != is_inverse
            }
        }
    }

    /// Returns the bright stripes of a pattern as bits (at most 64, the first stripe in the lowest bit), and the number of
    /// stripes.
    fn bright_stripes(&self, pattern: GrayPattern) -> (u64, u32) {
        let axis = match pattern {
            GrayPattern::Stripes { axis, .. } => axis,
            _ => GrayAxis::Column,
        };
        let count = self.stripes(axis);
        let bright = (0..count.min(u64::BITS)).filter(|stripe| {
            // The same value is used for both axes, because a pattern is constant along the other axis.
            let place = stripe * self.stripe_px;
            self.is_bright(pattern, place, place)
        });
        (bright.fold(0, |bits, stripe| bits | 1 << stripe), count)
    }

    /// Checks whether the camera sees the patterns, from the frames that show [`GrayPattern::Bright`] and
    /// [`GrayPattern::Dark`].
    ///
    /// # Errors
    /// [`NotVisible`] if less than `share` of the camera's pixels see the patterns.
    fn check_visible(&self, frames: &[Vec<u8>], share: f64) -> Result<(), NotVisible> {
        let all = frames.first().map_or(0, Vec::len);
        let seen =
            (0..all).filter(|pixel| contrast(frames, *pixel).is_some_and(|c| c >= CONTRAST_MIN));
        let seen = seen.count();
        if (seen as f64) < share * all as f64 {
            return Err(NotVisible { seen, all });
        }
        Ok(())
    }

    fn stripes(&self, axis: GrayAxis) -> u32 {
        let length = match axis {
            GrayAxis::Column => self.size_px.0,
            GrayAxis::Row => self.size_px.1,
        };
        length.div_ceil(self.stripe_px)
    }

    fn bits(&self, axis: GrayAxis) -> u32 {
        self.stripes(axis).next_power_of_two().trailing_zeros()
    }

    /// Decodes one frame per pattern, in the order of the patterns, given as 8-bit levels with `width_px` pixels per row. The
    /// projected image is divided into square cells with sides of `cell_px` pixels. Each cell with enough usable camera pixels
    /// gives one correspondence. A missing frame makes all pixels unusable.
    ///
    /// # Errors
    /// [`NotVisible`] if almost no pixel is usable.
    fn decode(
        &self,
        frames: &[Vec<u8>],
        width_px: usize,
        cell_px: u32,
    ) -> Result<Vec<Correspondence>, NotVisible> {
        let all = frames.first().map_or(0, Vec::len);
        let cell_px = cell_px.max(self.stripe_px);
        let columns = self.size_px.0.div_ceil(cell_px) as usize;
        let rows = self.size_px.1.div_ceil(cell_px) as usize;
        let mut cells: Vec<Vec<(DVec2, DVec2)>> = vec![Vec::new(); columns * rows];
        let mut seen = 0;
        for pixel in 0..all {
            let Some((column, row)) = self.stripes_at(frames, pixel) else {
                continue;
            };
            seen += 1;
            // Position of the center of a stripe in the projected image.
            let middle = |stripe: u32| {
                f64::from(stripe * self.stripe_px) + f64::from(self.stripe_px - 1) / 2.0
            };
            let in_image = DVec2::new(middle(column), middle(row));
            let in_frame = DVec2::new(
                (pixel % width_px.max(1)) as f64,
                (pixel / width_px.max(1)) as f64,
            );
            let cell = (row * self.stripe_px / cell_px) as usize * columns
                + (column * self.stripe_px / cell_px) as usize;
            if let Some(cell) = cells.get_mut(cell) {
                cell.push((in_image, in_frame));
            }
        }
        if seen < 4 * CELL_PIXELS_MIN {
            return Err(NotVisible { seen, all });
        }
        let found = cells.iter().filter_map(|cell| correspondence(cell));
        Ok(found.collect())
    }

    /// Returns the column stripe and the row stripe that a camera pixel sees, or `None` if the pixel is not usable.
    fn stripes_at(&self, frames: &[Vec<u8>], pixel: usize) -> Option<(u32, u32)> {
        let level = |frame: usize| frames.get(frame)?.get(pixel).copied().map(i32::from);
        let contrast = contrast(frames, pixel)?;
        if contrast < CONTRAST_MIN {
            return None;
        }
        let least = (DIFFERENCE_SHARE_MIN * f64::from(contrast)) as i32;
        let mut frame = 2;
        let mut stripe = |axis: GrayAxis| -> Option<u32> {
            let mut code = 0;
            for bit in (0..self.bits(axis)).rev() {
                let difference = level(frame)? - level(frame + 1)?;
                frame += 2;
                if difference.abs() < least {
                    return None;
                }
                code |= u32::from(difference > 0) << bit;
            }
            let place = (0..BITS_MAX).fold(0, |place, shift| place ^ (code >> shift));
            (place < self.stripes(axis)).then_some(place)
        };
        Some((stripe(GrayAxis::Column)?, stripe(GrayAxis::Row)?))
    }
}

/// Returns the contrast of a pixel: its level in the frame of the bright pattern minus that of the dark pattern.
fn contrast(frames: &[Vec<u8>], pixel: usize) -> Option<i32> {
    let level = |frame: usize| frames.get(frame)?.get(pixel).copied().map(i32::from);
    Some(level(0)? - level(1)?)
}

/// Returns the correspondence of one cell, computed from the affine map that fits the pixels of the cell best. Outliers are
/// removed. Returns `None` if too few pixels remain.
fn correspondence(cell: &[(DVec2, DVec2)]) -> Option<Correspondence> {
    let mut pixels = cell.to_vec();
    for _ in 0..3 {
        if pixels.len() < CELL_PIXELS_MIN {
            return None;
        }
        let map = Affine::fit(&pixels)?;
        let residual = |p: &(DVec2, DVec2)| map.apply(p.1).distance(p.0);
        let mut sorted: Vec<f64> = pixels.iter().map(residual).collect();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied()?.max(0.3);
        let before = pixels.len();
        pixels.retain(|p| residual(p) <= OUTLIER_FACTOR * median);
        if pixels.len() == before {
            let count = pixels.len() as f64;
            // The map is most accurate at the centroid of the pixels.
            let camera_px = pixels.iter().map(|p| p.1).sum::<DVec2>() / count;
            return Some(Correspondence {
                image_px: map.apply(camera_px),
                camera_px,
                pixels: pixels.len(),
            });
        }
    }
    None
}

/// Affine map from camera pixels to image pixels over one cell.
struct Affine {
    x: DVec2,
    y: DVec2,
    shift: DVec2,
}

impl Affine {
    fn fit(pixels: &[(DVec2, DVec2)]) -> Option<Self> {
        let count = pixels.len() as f64;
        let to = pixels.iter().map(|p| p.0).sum::<DVec2>() / count;
        let from = pixels.iter().map(|p| p.1).sum::<DVec2>() / count;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        let (mut along, mut across) = (DVec2::ZERO, DVec2::ZERO);
        for (image, camera) in pixels {
            let (d, p) = (*camera - from, *image - to);
            xx += d.x * d.x;
            xy += d.x * d.y;
            yy += d.y * d.y;
            along += p * d.x;
            across += p * d.y;
        }
        let determinant = xx * yy - xy * xy;
        if determinant < 1e-3 * (xx + yy).powi(2) {
            return None;
        }
        let x = (along * yy - across * xy) / determinant;
        let y = (across * xx - along * xy) / determinant;
        Some(Self {
            x,
            y,
            shift: to - x * from.x - y * from.y,
        })
    }

    fn apply(&self, p: DVec2) -> DVec2 {
        self.x * p.x + self.y * p.y + self.shift
    }
}

/// Converts correspondences to measured points; `floor_from_image` maps image pixels to the floor. If there are too many
/// correspondences for a fit, only those with the most camera pixels are converted.
fn points_from_gray(found: &[Correspondence], floor_from_image: &Homography) -> Vec<MeasuredPoint> {
    let mut best = found.to_vec();
    best.sort_by_key(|c| std::cmp::Reverse(c.pixels));
    best.truncate(POINTS_MAX);
    best.iter()
        .zip(1..)
        .map(|(c, number)| MeasuredPoint {
            camera_px: c.camera_px,
            floor_m: floor_from_image.apply(c.image_px),
            origin: PointOrigin::Cell(number),
        })
        .collect()
}

#[cfg(test)]
mod tests;
