//! A camera for visible light is calibrated by Gray code: patterns are shown one after the other, and the camera's frames
//! of each are gathered until all can be decoded.
//!
//! In: frames. Out: the pattern to show, at the end measured points for [`crate::calibration::calibrate`]. Asks no clock
//! but the frames' time stamps. Must not: touch a camera or a projector.

use glam::DVec2;

use super::{Correspondence, GrayCode, GrayError, GrayPattern, points_from_gray};
use crate::calibration::points::MeasuredPoint;
use crate::calibration::texture::{FloorPicture, MeanPicture};
use crate::geometry::Homography;

/// Each pattern is shown for so long. Faster ones would flash, and the picture follows those only slowly.
const SHOWN_SECS: f64 = 3.0;
/// A pattern has come through projector and camera after so long; from then on frames are of it.
const SETTLED_SECS: f64 = 1.5;
/// Stripes along the surface's longer side: as many as have a bit in a word.
const STRIPES: u32 = 64;
/// The surface is divided into so many pixels a stripe, and into cells of so many stripes that tell a point each.
const STRIPE_PX: u32 = 8;
const CELL_STRIPES: u32 = 4;
/// A camera that sees the surface in less of its picture than this does not see it.
const SEEN_SHARE: f64 = 0.01;

/// The procedure.
#[derive(Clone, Debug)]
pub struct GrayScan {
    code: GrayCode,
    patterns: Vec<GrayPattern>,
    floor_from_picture: Homography,
    /// Size of the camera's pictures.
    camera_px: (u32, u32),
    /// Since when the pattern is asked for.
    since_secs: Option<f64>,
    /// That of the frames of the pattern that is shown.
    mean: MeanPicture,
    /// Mean frame of each pattern that was shown.
    frames: Vec<Vec<u8>>,
}

impl GrayScan {
    /// Begins with the first pattern. `None` for a surface that is none, or is so slender that a stripe is wider than it.
    pub fn new(surface_m: (f64, f64), camera_px: (u32, u32)) -> Option<Self> {
        let longer_m = surface_m.0.max(surface_m.1);
        // Whole stripes only, as they are shown.
        let side_px = |side_m: f64| {
            let stripes = (side_m / longer_m * f64::from(STRIPES)).round() as u32;
            stripes.min(STRIPES) * STRIPE_PX
        };
        let size_px = (side_px(surface_m.0), side_px(surface_m.1));
        let code = GrayCode::new(size_px, STRIPE_PX)?;
        let size = DVec2::new(f64::from(size_px.0), f64::from(size_px.1));
        // Corners of the picture, whose pixels have their centers on whole numbers.
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(u, v)| {
            let corner = DVec2::new(u, v);
            (corner * size - 0.5, (corner - 0.5) * DVec2::from(surface_m))
        });
        Some(Self {
            patterns: code.patterns(),
            code,
            floor_from_picture: Homography::from_pairs(&corners)?,
            camera_px,
            since_secs: None,
            mean: MeanPicture::default(),
            frames: Vec::new(),
        })
    }

    /// Takes a frame in: 8-bit levels. The points, once all patterns are gathered.
    ///
    /// # Errors
    /// [`GrayError`] when the camera does not see the patterns, as soon as that is known.
    pub fn observe(
        &mut self,
        time_secs: f64,
        levels: &[u8],
    ) -> Result<Option<Vec<MeasuredPoint>>, GrayError> {
        let since = *self.since_secs.get_or_insert(time_secs);
        // A clock that went back begins the pattern anew.
        if !(0.0..).contains(&(time_secs - since)) {
            self.since_secs = None;
            return Ok(None);
        }
        if time_secs - since < SETTLED_SECS {
            return Ok(None);
        }
        let width_px = self.camera_px.0 as usize;
        self.mean.add(&FloorPicture { levels, width_px });
        if time_secs - since < SHOWN_SECS || self.pattern().is_none() {
            return Ok(None);
        }
        self.mean.finish();
        self.frames.push(self.mean.picture().levels.to_vec());
        self.since_secs = None;
        if self.frames.len() == 2 {
            self.code.check_seen(&self.frames, SEEN_SHARE)?;
        }
        if self.pattern().is_some() {
            return Ok(None);
        }
        Ok(Some(points_from_gray(
            &self.correspondences()?,
            &self.floor_from_picture,
        )))
    }

    fn correspondences(&self) -> Result<Vec<Correspondence>, GrayError> {
        let cell_px = CELL_STRIPES * STRIPE_PX;
        (self.code).decode(&self.frames, self.camera_px.0 as usize, cell_px)
    }

    /// The pattern to show; none when all were shown.
    pub fn pattern(&self) -> Option<GrayPattern> {
        self.patterns.get(self.frames.len()).copied()
    }

    /// Which of its stripes are bright: the first in the lowest bit, and how many there are.
    pub fn bright_stripes(&self, pattern: GrayPattern) -> (u64, u32) {
        self.code.bright_stripes(pattern)
    }

    /// How many patterns there are.
    pub fn patterns(&self) -> usize {
        self.patterns.len()
    }

    /// How many were shown.
    pub fn shown(&self) -> usize {
        self.frames.len()
    }

    /// Size of the pictures that it is for.
    pub fn picture_px(&self) -> (u32, u32) {
        self.camera_px
    }
}
