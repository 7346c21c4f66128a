//! Exposure of the camera: the share of the surface that is too dark or too bright for shadows, and a recommendation.

use super::VisionParams;
use super::background::{Background, SATURATED_LEVEL};
use super::fault::Exposure;
use super::floor::FloorTable;
use crate::geometry::Surface;

/// Rows and columns of which every one is judged.
const STEP_PX: usize = 4;
/// Time between two judgments, in seconds.
const JUDGED_SECS: f32 = 1.0;
/// Share of the surface from which the exposure is a fault.
const FAULTY_SHARE: f32 = 0.25;
/// Share at which such a fault ends.
const MENDED_SHARE: f32 = 0.2;
/// Share of the pixels that may be brighter than the recommended exposure makes them.
const BRIGHTEST_SHARE: f32 = 0.02;
/// Level of these pixels at the recommended exposure: bright, with a reserve before the maximum.
const WANTED_LEVEL: f32 = 200.0;

/// Judges the exposure from time to time.
pub(super) struct ExposureMeter {
    /// Indexes of the pixels that are judged: pixels on the surface.
    pixels: Vec<u32>,
    histogram: Vec<u32>,
    since_secs: f32,
    exposure: Option<Exposure>,
    is_too_dark: bool,
    is_too_bright: bool,
}

impl ExposureMeter {
    pub(super) fn new(
        floor: &FloorTable,
        surface: &Surface,
        (width, height): (usize, usize),
    ) -> Self {
        let on_surface = |x: usize, y: usize| {
            floor.areas_m2()[y * width + x] > 0.0 && surface.contains(floor.position_m_of(x, y))
        };
        let rows = (0..height).step_by(STEP_PX);
        let pixels = rows.flat_map(|y| (0..width).step_by(STEP_PX).map(move |x| (x, y)));
        let pixels = pixels.filter(|&(x, y)| on_surface(x, y));
        Self {
            pixels: pixels.map(|(x, y)| (y * width + x) as u32).collect(),
            histogram: vec![0; 256],
            since_secs: 0.0,
            exposure: None,
            is_too_dark: false,
            is_too_bright: false,
        }
    }

    /// Judges the model of the floor as the camera shows it.
    pub(super) fn advance(&mut self, dt_secs: f32, background: &Background, params: &VisionParams) {
        self.since_secs += dt_secs;
        if self.since_secs < JUDGED_SECS || self.pixels.is_empty() {
            return;
        }
        self.since_secs = 0.0;
        self.histogram.fill(0);
        let (levels, gain) = (background.levels(), background.gain());
        for &index in &self.pixels {
            let level = (levels[index as usize] * gain).clamp(0.0, 255.0);
            self.histogram[level as usize] += 1;
        }
        let count = self.pixels.len() as f32;
        let share = |levels: &[u32]| levels.iter().sum::<u32>() as f32 / count;
        let dark = (params.dark_level * gain).clamp(0.0, 255.0) as usize;
        let mut above = 0;
        let brightest = (self.histogram.iter().enumerate().rev())
            .find(|(_, pixels)| {
                above += **pixels;
                above as f32 > BRIGHTEST_SHARE * count
            })
            .map_or(1.0, |(level, _)| (level as f32).max(1.0));
        let exposure = Exposure {
            dark_share: share(&self.histogram[..dark]),
            saturated_share: share(&self.histogram[SATURATED_LEVEL as usize..]),
            factor: WANTED_LEVEL / brightest,
        };
        let is_faulty =
            |share: f32, was: bool| share > if was { MENDED_SHARE } else { FAULTY_SHARE };
        self.is_too_dark = is_faulty(exposure.dark_share, self.is_too_dark);
        self.is_too_bright = is_faulty(exposure.saturated_share, self.is_too_bright);
        self.exposure = Some(exposure);
    }

    /// Forgets what was judged, for a new background model.
    pub(super) fn reset(&mut self) {
        self.since_secs = 0.0;
        self.exposure = None;
        (self.is_too_dark, self.is_too_bright) = (false, false);
    }

    /// Returns the exposure if too much of the surface is too dark.
    pub(super) fn too_dark(&self) -> Option<Exposure> {
        self.exposure.filter(|_| self.is_too_dark)
    }

    /// Returns the exposure if too much of the surface is too bright.
    pub(super) fn too_bright(&self) -> Option<Exposure> {
        self.exposure.filter(|_| self.is_too_bright)
    }
}
