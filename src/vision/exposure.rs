//! Exposure of the camera: the share of the surface that is too dark or too bright for shadows, and a recommendation.

use glam::Vec2;

use super::VisionParams;
use super::background::{Background, SATURATED_LEVEL};
use super::bit_mask::BitMask;
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
    /// region that the camera does not see, or that is saturated.
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
    /// Column and row in the picture.
    at_px: [u16; 2],
    /// Row and column of its region.
    region: [u8; 2],
}

/// A picture, and where visitors cover the floor in it.
pub(super) struct JudgedPicture<'a> {
    pub(super) levels: &'a [u8],
    pub(super) occupied: &'a BitMask,
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
                at_px: [x as u16, y as u16],
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

    /// Judges the floor in a picture. Noise is that of the model, which follows slowly, so the model must be one of this picture's light.
    pub(super) fn advance(
        &mut self,
        dt_secs: f32,
        picture: &JudgedPicture<'_>,
        background: &Background,
        params: &VisionParams,
    ) {
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
        let dark = (params.dark_level * gain).clamp(0.0, 255.0) as usize;
        let mut sums = [[(0.0_f32, 0.0_f32); REGIONS]; REGIONS];
        let mut count = 0_u32;
        let (mut dark_model, mut bright_model) = (0_u32, 0_u32);
        for pixel in &self.pixels {
            let index = pixel.index as usize;
            let model = (levels[index] * gain).clamp(0.0, 255.0) as usize;
            dark_model += u32::from(model < dark);
            bright_model += u32::from(model >= usize::from(SATURATED_LEVEL));
            let [x, y] = pixel.at_px.map(i32::from);
            if picture.occupied.contains(x, y) {
                continue;
            }
            let level = picture.levels[index];
            self.histogram[usize::from(level)] += 1;
            count += 1;
            // A saturated pixel shows no noise, however bad the picture is.
            if level < SATURATED_LEVEL && model < usize::from(SATURATED_LEVEL) {
                let [row, column] = pixel.region.map(usize::from);
                let (level, std_dev) = &mut sums[row][column];
                (*level, *std_dev) = (*level + levels[index], *std_dev + noise[index]);
            }
        }
        if count == 0 {
            self.lighting = None;
            return;
        }
        let count = count as f32;
        let share = |levels: &[u32]| levels.iter().sum::<u32>() as f32 / count;
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
        // A fault is what lasts, as the model does, and is there now.
        let all = self.pixels.len() as f32;
        let is_faulty = |now: f32, model: u32, was: bool| {
            now.min(model as f32 / all) > if was { MENDED_SHARE } else { FAULTY_SHARE }
        };
        self.is_too_dark = is_faulty(exposure.dark_share, dark_model, self.is_too_dark);
        self.is_too_bright = is_faulty(exposure.saturated_share, bright_model, self.is_too_bright);
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

    /// Forgets what was judged, because the light or the background model is another one.
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

    const SIZE: (u32, u32) = (96, 64);

    fn vision() -> Vision {
        let surface = Surface::default();
        let view = FloorView {
            map: FloorFromCamera::whole_frame(SIZE.0, SIZE.1, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        Vision::new(&VisionParams::default(), view)
    }

    /// Shows the picture with this number, 30 of which are a second. The level depends on the column, from 0 to 1.
    fn observe(vision: &mut Vision, frame: u32, level: impl Fn(f32) -> f32) {
        let (width, height) = SIZE;
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

    /// Returns the lighting after two seconds of pictures of a floor.
    fn lighting(level: impl Fn(f32) -> f32) -> Lighting {
        let mut vision = vision();
        (0..60).for_each(|frame| observe(&mut vision, frame, &level));
        vision.lighting().unwrap().clone()
    }

    /// A fixed bug: "the exposure is good" stood over a white picture for ten seconds, and "overexposed" over a good one.
    #[test]
    fn the_advice_is_about_the_picture_of_now() {
        let mut vision = vision();
        let mut frame = 0;
        let mut advice = |vision: &mut Vision, secs: u32, level: f32| {
            let mut all = Vec::new();
            for _ in 0..secs * 30 {
                observe(vision, frame, |_| level);
                frame += 1;
                all.push(vision.lighting().map(|lighting| lighting.advice));
            }
            // The time between two judgments.
            all.drain(..32);
            all.dedup();
            all
        };
        let (good, lower) = (Some(ExposureAdvice::Good), Some(ExposureAdvice::Lower));
        assert_eq!(advice(&mut vision, 3, 180.0), [good]);
        assert_eq!(advice(&mut vision, 3, 255.0), [lower]);
        let contrast = vision.lighting().unwrap().contrast;
        assert_eq!(contrast, [[0.0; 3]; 3], "a white picture has none");
        assert!(!advice(&mut vision, 30, 180.0).contains(&lower));
        assert_eq!(advice(&mut vision, 3, 180.0), [good]);
        assert_eq!(advice(&mut vision, 40, 255.0), [lower]);
        let after = advice(&mut vision, 30, 180.0);
        assert!(!after.contains(&lower), "{after:?}");
        assert_eq!(after.last(), Some(&good));
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
        // Levels 5 to 8.
        let dark: f32 = uneven.histogram[..2].iter().sum();
        assert!((dark - 0.4).abs() < 0.05, "{uneven:?}");
    }
}
