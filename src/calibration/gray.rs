//! Gray code: stripes that tell a camera for visible light which place of the projected picture each of its pixels sees.
//!
//! In: how finely the picture is divided; later the frames that the camera took of the patterns. Out: which parts of the
//! picture are bright in each pattern; points of the surface with where the camera sees them, for [`super::calibrate`].
//! Must not: touch a camera or a projector.
//!
//! Every pattern is followed by its inverse, so that no brightness has to be known: a pixel is bright or dark by which of
//! the two was brighter, and does not count where both were about the same. Neighboring stripes differ in one bit, so an
//! edge between two is at most off by one stripe.
//!
//! **Source**: Inokuchi et al. 1984 (Gray code); Scharstein & Szeliski 2003, section 3.1 (inverse patterns).

use glam::DVec2;

use super::points::{MeasuredPoint, POINTS_MAX, PointOrigin};
use crate::geometry::Homography;

mod scan;

pub use scan::GrayScan;

/// The finest stripes: no projector has more pixels.
const BITS_MAX: u32 = 13;
/// A pixel counts where the lit picture is this much brighter than the dark one, in levels of 255,
const CONTRAST_MIN: i32 = 12;
/// and where every pattern differs from its inverse by this part of that.
const SURE_SHARE: f64 = 0.2;
/// Pixels of a cell that must count before it tells a point.
const CELL_PIXELS_MIN: usize = 12;
/// A cell's pixels whose place is farther from what the others say than this many times the usual are left out.
const OUTLIER_TIMES: f64 = 4.0;

/// What one pattern shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrayPattern {
    /// The whole picture bright.
    Bright,
    /// The whole picture dark.
    Dark,
    /// Stripes.
    Stripes {
        /// Which way places are counted.
        axis: GrayAxis,
        /// Which bit of the place's Gray code is bright, the coarsest highest.
        bit: u32,
        /// Bright and dark changed over.
        is_inverse: bool,
    },
}

/// Which way stripes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrayAxis {
    /// Columns from the left.
    Column,
    /// Rows from the top.
    Row,
}

/// The patterns for one projected picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrayCode {
    /// Width and height of the projected picture.
    size_px: (u32, u32),
    /// Width of the finest stripes.
    stripe_px: u32,
}

/// A place of the projected picture, in its pixels, and where the camera sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correspondence {
    /// In the projected picture; pixel centers are whole numbers.
    pub picture_px: DVec2,
    /// In the camera's picture.
    pub camera_px: DVec2,
    /// Camera pixels that say so.
    pub pixels: usize,
}

/// Frames that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrayError {
    /// There are too many or too few frames.
    #[error("{given} frames were given, the patterns are {wanted}: one frame each, in their order")]
    Count {
        /// Frames given.
        given: usize,
        /// Patterns.
        wanted: usize,
    },
    /// A frame has another size than the first.
    #[error("frame {number} has {given} pixels, the first has {wanted}: all must be of one camera")]
    Size {
        /// Its number, from 1.
        number: usize,
        /// Pixels given.
        given: usize,
        /// Pixels wanted.
        wanted: usize,
    },
    /// The camera does not see the patterns.
    #[error(
        "the camera sees the patterns in {seen} of {all} pixels only: it must see visible light (take the infrared filter off, \
         or use touch targets), and the room must be dark"
    )]
    Unseen {
        /// Pixels that see them.
        seen: usize,
        /// All pixels.
        all: usize,
    },
}

impl GrayCode {
    /// Patterns for a projected picture; `None` for a picture without pixels, or of more than a projector has, or stripes
    /// that are wider than it.
    pub fn new(size_px: (u32, u32), stripe_px: u32) -> Option<Self> {
        let (width, height) = size_px;
        let is_possible = (1..=1 << BITS_MAX).contains(&width)
            && (1..=1 << BITS_MAX).contains(&height)
            && (1..=width.min(height)).contains(&stripe_px);
        is_possible.then_some(Self { size_px, stripe_px })
    }

    /// The patterns in the order of showing.
    pub fn patterns(&self) -> Vec<GrayPattern> {
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

    /// Whether a pixel of the projected picture is bright in a pattern.
    pub fn is_bright(&self, pattern: GrayPattern, x: u32, y: u32) -> bool {
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

    /// Which stripes of a pattern are bright, the first 64: the first in the lowest bit; and how many there are.
    pub fn bright_stripes(&self, pattern: GrayPattern) -> (u64, u32) {
        let axis = match pattern {
            GrayPattern::Stripes { axis, .. } => axis,
            _ => GrayAxis::Column,
        };
        let count = self.stripes(axis);
        let bright = (0..count.min(u64::BITS)).filter(|stripe| {
            // Along the other axis all are alike.
            let place = stripe * self.stripe_px;
            self.is_bright(pattern, place, place)
        });
        (bright.fold(0, |bits, stripe| bits | 1 << stripe), count)
    }

    /// Whether a camera sees patterns at all, told by its frames of [`GrayPattern::Bright`] and [`GrayPattern::Dark`].
    ///
    /// # Errors
    /// [`GrayError::Unseen`], when less than this share of its pixels does.
    pub fn check_seen(&self, frames: &[Vec<u8>], share: f64) -> Result<(), GrayError> {
        let all = frames.first().map_or(0, Vec::len);
        let seen =
            (0..all).filter(|pixel| contrast(frames, *pixel).is_some_and(|c| c >= CONTRAST_MIN));
        let seen = seen.count();
        if (seen as f64) < share * all as f64 {
            return Err(GrayError::Unseen { seen, all });
        }
        Ok(())
    }

    /// A pattern as a picture: 255 bright, 0 dark, height × width, row-major.
    pub fn picture(&self, pattern: GrayPattern) -> Vec<u8> {
        let (width, height) = self.size_px;
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| {
                if self.is_bright(pattern, x, y) {
                    255
                } else {
                    0
                }
            })
            .collect()
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

    /// Decodes one frame a pattern, 8-bit levels of a camera whose rows have `width_px` pixels. The picture is divided into
    /// cells of `cell_px`; each that enough camera pixels see well tells one correspondence, for its middle.
    ///
    /// # Errors
    /// [`GrayError`]: frames that are missing or of different sizes, or a camera that does not see the patterns.
    pub fn decode(
        &self,
        frames: &[Vec<u8>],
        width_px: usize,
        cell_px: u32,
    ) -> Result<Vec<Correspondence>, GrayError> {
        let patterns = self.patterns();
        if frames.len() != patterns.len() {
            return Err(GrayError::Count {
                given: frames.len(),
                wanted: patterns.len(),
            });
        }
        let wanted = frames.first().map_or(0, Vec::len);
        if let Some((i, other)) = frames.iter().enumerate().find(|(_, f)| f.len() != wanted) {
            return Err(GrayError::Size {
                number: i + 1,
                given: other.len(),
                wanted,
            });
        }
        let cell_px = cell_px.max(self.stripe_px);
        let columns = self.size_px.0.div_ceil(cell_px) as usize;
        let rows = self.size_px.1.div_ceil(cell_px) as usize;
        let mut cells: Vec<Vec<(DVec2, DVec2)>> = vec![Vec::new(); columns * rows];
        let mut seen = 0;
        for pixel in 0..wanted {
            let Some((column, row)) = self.place(frames, pixel) else {
                continue;
            };
            seen += 1;
            // The middle of its stripe's pixels.
            let middle = |stripe: u32| {
                f64::from(stripe * self.stripe_px) + f64::from(self.stripe_px - 1) / 2.0
            };
            let at_picture = DVec2::new(middle(column), middle(row));
            let at_camera = DVec2::new(
                (pixel % width_px.max(1)) as f64,
                (pixel / width_px.max(1)) as f64,
            );
            let cell = (row * self.stripe_px / cell_px) as usize * columns
                + (column * self.stripe_px / cell_px) as usize;
            if let Some(cell) = cells.get_mut(cell) {
                cell.push((at_picture, at_camera));
            }
        }
        if seen < 4 * CELL_PIXELS_MIN {
            return Err(GrayError::Unseen { seen, all: wanted });
        }
        let found = cells.iter().filter_map(|cell| correspondence(cell));
        Ok(found.collect())
    }

    /// Column and row of stripes that a camera pixel sees; `None` where it cannot tell.
    fn place(&self, frames: &[Vec<u8>], pixel: usize) -> Option<(u32, u32)> {
        let level = |frame: usize| frames.get(frame)?.get(pixel).copied().map(i32::from);
        let contrast = contrast(frames, pixel)?;
        if contrast < CONTRAST_MIN {
            return None;
        }
        let sure = (SURE_SHARE * f64::from(contrast)) as i32;
        let mut frame = 2;
        let mut stripe = |axis: GrayAxis| -> Option<u32> {
            let mut code = 0;
            for bit in (0..self.bits(axis)).rev() {
                let difference = level(frame)? - level(frame + 1)?;
                frame += 2;
                if difference.abs() < sure {
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

/// How much brighter a pixel is in the first frame, of the bright pattern, than in the second.
fn contrast(frames: &[Vec<u8>], pixel: usize) -> Option<i32> {
    let level = |frame: usize| frames.get(frame)?.get(pixel).copied().map(i32::from);
    Some(level(0)? - level(1)?)
}

/// What the pixels of one cell say of its middle: the affine map that fits them best, without those that it does not fit.
fn correspondence(cell: &[(DVec2, DVec2)]) -> Option<Correspondence> {
    let mut pixels = cell.to_vec();
    for _ in 0..3 {
        if pixels.len() < CELL_PIXELS_MIN {
            return None;
        }
        let map = Affine::fit(&pixels)?;
        let off = |p: &(DVec2, DVec2)| map.apply(p.1).distance(p.0);
        let mut sorted: Vec<f64> = pixels.iter().map(off).collect();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted.get(sorted.len() / 2).copied()?.max(0.3);
        let before = pixels.len();
        pixels.retain(|p| off(p) <= OUTLIER_TIMES * usual);
        if pixels.len() == before {
            let count = pixels.len() as f64;
            // At the middle of the pixels themselves the map says most.
            let camera_px = pixels.iter().map(|p| p.1).sum::<DVec2>() / count;
            return Some(Correspondence {
                picture_px: map.apply(camera_px),
                camera_px,
                pixels: pixels.len(),
            });
        }
    }
    None
}

/// From camera pixels to picture pixels over one cell.
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
        for (picture, camera) in pixels {
            let (d, p) = (*camera - from, *picture - to);
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

/// Correspondences as measured points: `floor_from_picture` leads from picture pixels to the floor. Of more than can be
/// fitted, those are taken that most pixels say.
pub fn points_from_gray(
    found: &[Correspondence],
    floor_from_picture: &Homography,
) -> Vec<MeasuredPoint> {
    let mut best = found.to_vec();
    best.sort_by_key(|c| std::cmp::Reverse(c.pixels));
    best.truncate(POINTS_MAX);
    best.iter()
        .zip(1..)
        .map(|(c, number)| MeasuredPoint {
            camera_px: c.camera_px,
            floor_m: floor_from_picture.apply(c.picture_px),
            origin: PointOrigin::Marker(number),
        })
        .collect()
}

#[cfg(test)]
mod tests;
