//! Exposure of the camera: the share of the surface that is too dark or too bright for shadows, and a recommendation.

use glam::Vec2;

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

/// Factor of the exposure from which it is worth a change: the brightest floor uses less than half of the scale.
const DIM_FACTOR: f32 = 2.0;
/// Number of regions of the surface in each direction.
const REGIONS: usize = 3;
/// Number of bars of the histogram.
const BARS: usize = 32;

/// How the lit surface appears in the pictures of the camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Lighting {
    /// Dark and saturated share, and the recommended change.
    pub exposure: Exposure,
    /// What to do about it.
    pub advice: ExposureAdvice,
    /// Share of the surface in each of 32 equal ranges of levels, from black to white.
    pub histogram: [f32; BARS],
    /// Mean level of each third of the surface in x and z, as a multiple of the standard deviation of its noise; rows follow z. 0 for a
    /// region that the camera does not see.
    pub contrast: [[f32; REGIONS]; REGIONS],
    /// Contrast below which noise decides which shadows are found.
    pub needed_contrast: f32,
}

/// What to do about the exposure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExposureAdvice {
    /// Nothing.
    Good,
    /// Reduce exposure time or gain, because a part of the surface is saturated.
    Lower,
    /// Increase exposure time or gain by [`Exposure::factor`], or add infrared light.
    Raise,
    /// Light the surface more evenly: parts of it are too dark or too noisy.
    Even,
}

/// A pixel that is judged.
#[derive(Clone, Copy)]
struct Judged {
    index: u32,
    /// Row and column of its region.
    region: [u8; 2],
}

/// Judges the exposure from time to time.
pub(super) struct ExposureMeter {
    /// Pixels on the surface.
    pixels: Vec<Judged>,
    histogram: Vec<u32>,
    since_secs: f32,
    lighting: Option<Lighting>,
    is_too_dark: bool,
    is_too_bright: bool,
}

impl ExposureMeter {
    pub(super) fn new(
        floor: &FloorTable,
        surface: &Surface,
        (width, height): (usize, usize),
    ) -> Self {
        let half_m = surface.half_extent_m();
        let judged = |(x, y): (usize, usize)| {
            let at_m = floor.position_m_of(x, y);
            let is_on_surface = floor.areas_m2()[y * width + x] > 0.0 && surface.contains(at_m);
            let region = (at_m / half_m + Vec2::ONE) * (REGIONS as f32 / 2.0);
            let [column, row] = region
                .to_array()
                .map(|at| (at as u8).min(REGIONS as u8 - 1));
            is_on_surface.then_some(Judged {
                index: (y * width + x) as u32,
                region: [row, column],
            })
        };
        let rows = (0..height).step_by(STEP_PX);
        let pixels = rows.flat_map(|y| (0..width).step_by(STEP_PX).map(move |x| (x, y)));
        Self {
            pixels: pixels.filter_map(judged).collect(),
            histogram: vec![0; 256],
            since_secs: 0.0,
            lighting: None,
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
        let (levels, noise, gain) = (
            background.levels(),
            background.std_devs(),
            background.gain(),
        );
        let mut sums = [[(0.0_f32, 0.0_f32); REGIONS]; REGIONS];
        for pixel in &self.pixels {
            let index = pixel.index as usize;
            let level = (levels[index] * gain).clamp(0.0, 255.0);
            self.histogram[level as usize] += 1;
            let [row, column] = pixel.region.map(usize::from);
            let (level, std_dev) = &mut sums[row][column];
            (*level, *std_dev) = (*level + levels[index], *std_dev + noise[index]);
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
        let contrast = sums.map(|row| {
            row.map(|(level, std_dev)| if std_dev > 0.0 { level / std_dev } else { 0.0 })
        });
        let needed_contrast = params.noise_factor / (1.0 - params.shadow_ratio);
        let bars = self.histogram.chunks(self.histogram.len() / BARS);
        let mut histogram = [0.0; BARS];
        histogram
            .iter_mut()
            .zip(bars)
            .for_each(|(to, bar)| *to = share(bar));
        self.lighting = Some(Lighting {
            exposure,
            advice: advice(&exposure, contrast.as_flattened(), needed_contrast),
            histogram,
            contrast,
            needed_contrast,
        });
    }

    /// Forgets what was judged, for a new background model.
    pub(super) fn reset(&mut self) {
        self.since_secs = 0.0;
        self.lighting = None;
        (self.is_too_dark, self.is_too_bright) = (false, false);
    }

    /// Returns how the surface is lit; `None` until it is judged.
    pub(super) fn lighting(&self) -> Option<&Lighting> {
        self.lighting.as_ref()
    }

    /// Returns the exposure if too much of the surface is too dark.
    pub(super) fn too_dark(&self) -> Option<Exposure> {
        self.is_too_dark.then_some(self.lighting.as_ref()?.exposure)
    }

    /// Returns the exposure if too much of the surface is too bright.
    pub(super) fn too_bright(&self) -> Option<Exposure> {
        (self.is_too_bright).then_some(self.lighting.as_ref()?.exposure)
    }
}

fn advice(exposure: &Exposure, contrast: &[f32], needed_contrast: f32) -> ExposureAdvice {
    let is_noisy = |contrast: &f32| *contrast > 0.0 && *contrast < needed_contrast;
    if exposure.saturated_share > BRIGHTEST_SHARE {
        ExposureAdvice::Lower
    } else if exposure.factor > DIM_FACTOR {
        ExposureAdvice::Raise
    } else if exposure.dark_share > FAULTY_SHARE || contrast.iter().any(is_noisy) {
        ExposureAdvice::Even
    } else {
        ExposureAdvice::Good
    }
}

#[cfg(test)]
mod tests {
    use crate::camera::Frame;
    use crate::camera::Luma;
    use crate::geometry::{FloorFromCamera, Surface};
    use crate::vision::{ExposureAdvice, FloorView, Lighting, Vision, VisionParams};

    /// Returns the lighting after two seconds of pictures of a floor whose level depends on the column, from 0 to 1.
    fn lighting(level: impl Fn(f32) -> f32) -> Lighting {
        let (width, height, surface) = (96, 64, Surface::default());
        let view = FloorView {
            map: FloorFromCamera::whole_frame(width, height, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        let mut vision = Vision::new(&VisionParams::default(), view);
        for frame in 0..60_u32 {
            let pixel = |i: u32| {
                let noise = (i ^ frame).wrapping_mul(2_654_435_761) >> 30;
                (level((i % width) as f32 / width as f32) + noise as f32).min(255.0) as u8
            };
            vision.observe(&Frame {
                width_px: width,
                height_px: height,
                time_secs: f64::from(frame) / 30.0,
                luma: Luma::U8((0..width * height).map(pixel).collect()),
                ..Frame::default()
            });
        }
        vision.lighting().unwrap().clone()
    }

    #[test]
    fn the_advice_follows_the_brightest_and_the_darkest_part_of_the_surface() {
        assert_eq!(lighting(|_| 180.0).advice, ExposureAdvice::Good);
        assert_eq!(lighting(|_| 254.0).advice, ExposureAdvice::Lower);
        let dark = lighting(|_| 47.0);
        assert_eq!(dark.advice, ExposureAdvice::Raise);
        assert!((3.8..4.4).contains(&dark.exposure.factor), "{dark:?}");
        let uneven = lighting(|x| if x < 0.4 { 5.0 } else { 180.0 });
        assert_eq!(uneven.advice, ExposureAdvice::Even);
        assert!(
            uneven.contrast.iter().all(|row| row[0] < row[2]),
            "{uneven:?}"
        );
        let shares: f32 = uneven.histogram.iter().sum();
        assert!((shares - 1.0).abs() < 1e-3, "{shares}");
        assert!((uneven.histogram[0] - 0.4).abs() < 0.05, "{uneven:?}");
    }
}
