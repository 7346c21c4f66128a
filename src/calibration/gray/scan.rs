//! Procedure of a calibration by Gray code, for a camera that sees visible light. The procedure shows one pattern after the
//! other, computes the mean frame of each pattern, and then decodes these frames.
//!
//! Input: frames. Output: the pattern to show, and at the end measured points for [`crate::calibration::calibrate`]. The time
//! stamps of the frames are the only source of time. This file must not use a camera or a projector.

use glam::DVec2;

use super::{GrayCode, GrayPattern, NotVisible, points_from_gray};
use crate::calibration::points::MeasuredPoint;
use crate::calibration::texture::{FloorFrame, MeanFrame};
use crate::geometry::Homography;

/// Duration of each pattern, in seconds. Faster changes would count as flashes, and Shoal's limit on flashes would slow them
/// down.
const SHOWN_SECS: f64 = 3.0;
/// Time from the request of a pattern until the frames show this pattern, in seconds: the delay of projector and camera.
const SETTLED_SECS: f64 = 1.5;
/// Number of stripes along the longer side of the surface: one for each bit of a `u64`.
const STRIPES: u32 = 64;
/// Width of a stripe in pixels of the projected image.
const STRIPE_PX: u32 = 8;
/// Side of a cell in stripes. Each cell gives one measured point.
const CELL_STRIPES: u32 = 4;
/// Minimum share of the pixels of a frame at which the patterns must be visible.
const VISIBLE_SHARE_MIN: f64 = 0.01;

/// State of a running calibration by Gray code.
#[derive(Clone, Debug)]
pub struct GrayScan {
    code: GrayCode,
    patterns: Vec<GrayPattern>,
    floor_from_image: Homography,
    /// Size of the camera frames.
    frame_px: (u32, u32),
    /// Time at which the current pattern was requested.
    since_secs: Option<f64>,
    /// Mean of the frames of the current pattern.
    mean: MeanFrame,
    /// Mean frame of each completed pattern.
    frames: Vec<Vec<u8>>,
}

impl GrayScan {
    /// Starts a scan with the first pattern. Returns `None` for a surface without area, or for a surface that is narrower than
    /// a stripe.
    pub fn new(surface_m: (f64, f64), frame_px: (u32, u32)) -> Option<Self> {
        let longer_m = surface_m.0.max(surface_m.1);
        // The size is rounded to whole stripes, because the renderer divides the surface into a whole number of equal stripes.
        let side_px = |side_m: f64| {
            let stripes = (side_m / longer_m * f64::from(STRIPES)).round() as u32;
            stripes.min(STRIPES) * STRIPE_PX
        };
        let size_px = (side_px(surface_m.0), side_px(surface_m.1));
        let code = GrayCode::new(size_px, STRIPE_PX)?;
        let size = DVec2::new(f64::from(size_px.0), f64::from(size_px.1));
        // Corners of the image and their floor points. Pixel centers are at whole numbers, so the corners are at half numbers.
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(u, v)| {
            let corner = DVec2::new(u, v);
            (corner * size - 0.5, (corner - 0.5) * DVec2::from(surface_m))
        });
        Some(Self {
            patterns: code.patterns(),
            code,
            floor_from_image: Homography::from_pairs(&corners)?,
            frame_px,
            since_secs: None,
            mean: MeanFrame::default(),
            frames: Vec::new(),
        })
    }

    /// Processes a frame (8-bit levels). Returns the measured points after the last pattern, otherwise `None`.
    ///
    /// # Errors
    /// [`NotVisible`] if the camera does not see the patterns, as soon as this is known.
    pub fn observe(
        &mut self,
        time_secs: f64,
        levels: &[u8],
    ) -> Result<Option<Vec<MeasuredPoint>>, NotVisible> {
        let since = *self.since_secs.get_or_insert(time_secs);
        // If the clock went back, the current pattern starts again.
        if !(0.0..).contains(&(time_secs - since)) {
            self.since_secs = None;
            return Ok(None);
        }
        if time_secs - since < SETTLED_SECS {
            return Ok(None);
        }
        let width_px = self.frame_px.0 as usize;
        self.mean.add(&FloorFrame { levels, width_px });
        if time_secs - since < SHOWN_SECS || self.pattern().is_none() {
            return Ok(None);
        }
        self.mean.finish();
        self.frames.push(self.mean.frame().levels.to_vec());
        self.since_secs = None;
        if self.frames.len() == 2 {
            self.code.check_visible(&self.frames, VISIBLE_SHARE_MIN)?;
        }
        if self.pattern().is_some() {
            return Ok(None);
        }
        let cell_px = CELL_STRIPES * STRIPE_PX;
        let found = self.code.decode(&self.frames, width_px, cell_px)?;
        Ok(Some(points_from_gray(&found, &self.floor_from_image)))
    }

    /// Returns the pattern to show, or `None` after the last pattern.
    pub fn pattern(&self) -> Option<GrayPattern> {
        self.patterns.get(self.frames.len()).copied()
    }

    /// Returns the bright stripes of a pattern as bits (the first stripe in the lowest bit), and the number of stripes.
    pub fn bright_stripes(&self, pattern: GrayPattern) -> (u64, u32) {
        self.code.bright_stripes(pattern)
    }

    /// Returns the number of patterns.
    pub fn pattern_count(&self) -> usize {
        self.patterns.len()
    }

    /// Returns the number of completed patterns.
    pub fn shown_count(&self) -> usize {
        self.frames.len()
    }

    /// Returns the size of the camera frames, in pixels.
    pub fn frame_px(&self) -> (u32, u32) {
        self.frame_px
    }
}
