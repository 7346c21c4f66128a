//! Gain of a frame: the ratio of its brightness to the background model. It follows the exposure of the camera.
//!
//! An exposure change multiplies all pixels by the same factor. Added light (a door that opens, sunlight, a flash) makes
//! some pixels brighter and leaves others unchanged. If the gain followed it, the unchanged floor would look like a shadow.

use crate::vision::VisionParams;
use crate::vision::bit_mask::BitMask;

/// The camera may clip levels of this value or higher, so pixels with such levels are not used to measure the gain, and
/// they are never foreground.
pub(in crate::vision) const SATURATED_LEVEL: u8 = 250;
/// Approximate number of pixels used to measure the gain.
const GAIN_PIXELS: f32 = 2048.0;
/// Capacity for the sampled rows of usual frames.
const MAX_GAIN_ROWS: usize = 256;
/// Number of bins of the gain histogram. All bins together cover gains from 0 to 4.
const GAIN_BINS: usize = 512;
/// Factors by which ratios are divided for the histogram. The second one is for a light that becomes much stronger at once.
const SCALES: [f32; 2] = [1.0, 4.0];
/// Width of a bin of the gain histogram.
const GAIN_BIN_WIDTH: f32 = 1.0 / 128.0;
/// Smallest number of pixels from which the gain can be measured reliably. With fewer pixels, the previous gain is
/// kept.
const MIN_GAIN_SAMPLES: u32 = 100;
/// Smallest number of free pixels as a multiple of the occupied ones. If visitors cover nearly all of the floor, what is left
/// lies in the soft edges of their shadows.
const MIN_FREE_RATIO: f32 = 0.2;
/// A gain that differs by less than this share from the gain of the previous frame is followed without a check. Noise and
/// lamp ripple are smaller.
const FOLLOWED_CHANGE: f32 = 0.05;
/// Pixels within this share of a gain match it. It is three standard deviations of the noise of a well-lit floor.
const MATCH_SHARE: f32 = 0.1;
/// If at least this share of the pixels still matches the previous gain, the exposure has not changed.
const UNCHANGED_SHARE: f32 = 0.25;
/// If fewer than this share of the pixels match the new gain, different parts of the floor changed differently.
const UNIFORM_SHARE: f32 = 0.5;

/// Pixels of one frame, from which the gain is measured.
pub(super) struct GainInput<'a> {
    pub(super) levels: &'a [u8],
    /// Levels of the background model.
    pub(super) floor: &'a [f32],
    pub(super) width: usize,
    /// Pixels with a known floor area.
    pub(super) usable: &'a BitMask,
    pub(super) occupied: &'a BitMask,
}

impl GainInput<'_> {
    #[inline(always)]
    fn row(&self, y: usize) -> Row<'_> {
        let pixels = y * self.width..(y + 1) * self.width;
        Row {
            levels: &self.levels[pixels.clone()],
            floor: &self.floor[pixels],
            usable: self.usable.row(y),
            occupied: self.occupied.row(y),
        }
    }
}

/// One row of [`GainInput`].
struct Row<'a> {
    levels: &'a [u8],
    floor: &'a [f32],
    usable: &'a [u64],
    occupied: &'a [u64],
}

impl Row<'_> {
    /// Returns whether a pixel is occupied.
    #[inline(always)]
    fn is_occupied(&self, x: usize) -> bool {
        self.occupied[x / 64] >> (x % 64) & 1 == 1
    }

    /// Returns the ratio of a pixel to the background model, or `None` if the pixel is occupied, too dark or saturated.
    #[inline(always)]
    fn ratio(&self, x: usize, params: &VisionParams) -> Option<f32> {
        let free = self.usable[x / 64] & !self.occupied[x / 64];
        let (level, floor) = (self.levels[x], self.floor[x]);
        let is_measurable = free >> (x % 64) & 1 == 1
            && floor >= 2.0 * params.dark_level
            && floor <= f32::from(SATURATED_LEVEL)
            && level < SATURATED_LEVEL;
        is_measurable.then(|| f32::from(level) / floor)
    }
}

/// Measures the gain of each frame.
pub(super) struct GainMeter {
    histogram: Vec<u32>,
    gain: f32,
    /// Whether nearly all of the floor has this gain.
    is_uniform: bool,
    /// Mean ratio of each part of each sampled row to the background model; 0 for a part without measurable pixels.
    row_ratios: Vec<[f32; ROW_PARTS]>,
    /// Buffer for the ratios of one row.
    ratios: Vec<f32>,
}

impl GainMeter {
    pub(super) fn new() -> Self {
        Self {
            histogram: vec![0; GAIN_BINS],
            gain: 1.0,
            is_uniform: true,
            row_ratios: Vec::with_capacity(MAX_GAIN_ROWS),
            ratios: Vec::with_capacity(2 * ROW_SAMPLES),
        }
    }

    pub(super) fn reset(&mut self) {
        (self.gain, self.is_uniform) = (1.0, true);
        self.row_ratios.clear();
    }

    pub(super) fn gain(&self) -> f32 {
        self.gain
    }

    /// Returns whether the last frame was about equally brighter or darker everywhere.
    pub(super) fn is_uniform(&self) -> bool {
        self.is_uniform
    }

    /// Returns the mean ratios of the left, middle and right part of each sampled row of the last frame to the background
    /// model, from top to bottom; 0 for a part without measurable pixels.
    pub(super) fn row_ratios(&self) -> &[[f32; ROW_PARTS]] {
        &self.row_ratios
    }

    /// Measures the median ratio of the frame to the model over unoccupied pixels. Thresholds are multiplied by the gain,
    /// so an exposure change creates no foreground.
    pub(super) fn measure(&mut self, input: &GainInput<'_>, params: &VisionParams) {
        for scale in SCALES {
            let samples = self.count(input, params, scale);
            if samples == 0 {
                return;
            }
            let median = median_of_bins(&self.histogram, 0);
            self.is_uniform = self.matching(median, samples).2 >= UNIFORM_SHARE;
            if median < GAIN_BIN_WIDTH * (GAIN_BINS - 1) as f32 {
                self.gain = scale * self.checked(median, self.gain / scale, samples);
                return;
            }
        }
        self.gain = SCALES[1] * GAIN_BIN_WIDTH * GAIN_BINS as f32;
    }

    /// Fills the histogram with the ratios divided by `scale`, and measures the rows. Returns the number of ratios, or 0 if there
    /// are too few.
    fn count(&mut self, input: &GainInput<'_>, params: &VisionParams, scale: f32) -> u32 {
        self.histogram.fill(0);
        self.row_ratios.clear();
        let (mut samples, mut all_covered) = (0, 0);
        let step = ((input.levels.len() as f32 / GAIN_PIXELS).sqrt() as usize).max(1);
        let height = input.levels.len() / input.width.max(1);
        let part_ends: [usize; ROW_PARTS] =
            std::array::from_fn(|part| ((part + 1) * input.width).div_ceil(ROW_PARTS));
        for y in (0..height).step_by(step) {
            let row = input.row(y);
            let mut parts = [(0.0_f32, 0_u32); ROW_PARTS];
            let mut covered = [0_u32; ROW_PARTS];
            // A few very bright or dark pixels must not change the mean of a row much.
            let (lowest, highest) = ((1.0 - ROW_LIMIT) * self.gain, (1.0 + ROW_LIMIT) * self.gain);
            let mut part = 0;
            for x in (y / step % step..input.width).step_by(step) {
                while x >= part_ends[part] {
                    part += 1;
                }
                let Some(ratio) = row.ratio(x, params) else {
                    covered[part] += u32::from(row.is_occupied(x));
                    continue;
                };
                self.histogram[((ratio / (scale * GAIN_BIN_WIDTH)) as usize).min(GAIN_BINS - 1)] +=
                    1;
                let (sum, count) = &mut parts[part];
                *sum += ratio.clamp(lowest, highest);
                *count += 1;
            }
            all_covered += covered.iter().sum::<u32>();
            samples += parts.iter().map(|(_, count)| count).sum::<u32>();
            // The soft edges of shadows between many visitors are no band.
            let mut ratios = parts.map(|(sum, count)| sum / count.max(1) as f32);
            for (ratio, ((_, count), covered)) in ratios.iter_mut().zip(parts.iter().zip(covered)) {
                if covered > *count {
                    *ratio = 0.0;
                }
            }
            self.row_ratios.push(ratios);
        }
        let is_enough =
            samples >= MIN_GAIN_SAMPLES && samples as f32 >= MIN_FREE_RATIO * all_covered as f32;
        if is_enough { samples } else { 0 }
    }

    /// Returns the bins that match a gain, the index of the first one, and the share of the pixels in them.
    fn matching(&self, gain: f32, samples: u32) -> (usize, &[u32], f32) {
        let bin = |gain: f32| ((gain / GAIN_BIN_WIDTH) as usize).min(GAIN_BINS);
        let first = bin(gain * (1.0 - MATCH_SHARE));
        let bins = &self.histogram[first..bin(gain * (1.0 + MATCH_SHARE))];
        let share = bins.iter().sum::<u32>() as f32 / samples as f32;
        (first, bins, share)
    }

    /// Returns the gain for a frame with this median ratio, after a frame with the gain `before`. If only a part of the floor changed,
    /// the median is no gain: then the result comes from the pixels that match the previous gain, or is at most the previous gain.
    fn checked(&self, median: f32, before: f32, samples: u32) -> f32 {
        if (median - before).abs() <= FOLLOWED_CHANGE * before {
            return median;
        }
        let (first, bins, share) = self.matching(before, samples);
        if share >= UNCHANGED_SHARE {
            return median_of_bins(bins, first);
        }
        if self.is_uniform {
            return median;
        }
        median.min(before)
    }

    /// Writes the gain of every row of the frame, relative to the whole frame, to `to`. The gain of a row is the median over
    /// its pixels; a row with too few measurable pixels gets the gain of the row above.
    pub(super) fn measure_rows(
        &mut self,
        input: &GainInput<'_>,
        params: &VisionParams,
        to: &mut [f32],
    ) {
        let step = (input.width / ROW_SAMPLES).max(1);
        let mut last = 1.0;
        for (y, to) in to.iter_mut().enumerate() {
            let columns = (y % step..input.width).step_by(step);
            self.ratios.clear();
            let row = input.row(y);
            (self.ratios).extend(columns.filter_map(|x| row.ratio(x, params)));
            if self.ratios.len() >= ROW_SAMPLES / 8 {
                let middle = self.ratios.len() / 2;
                let (_, median, _) = self.ratios.select_nth_unstable_by(middle, f32::total_cmp);
                last = *median / self.gain.max(GAIN_BIN_WIDTH);
            }
            *to = last;
        }
    }
}

/// Ratios that differ from the gain of the previous frame by more than this share count as this share in the mean of a row.
const ROW_LIMIT: f32 = 0.15;
/// Number of parts of equal width into which a row is divided. Bands of a rolling shutter are the same in all parts of a row, other
/// light is not.
pub(in crate::vision) const ROW_PARTS: usize = 3;
/// Number of pixels of a row from which its gain is measured. The error of the median is below 1 % for noise of 5 %.
const ROW_SAMPLES: usize = 80;

/// Returns the median of a part of the histogram that begins with bin `first` and is not empty.
fn median_of_bins(bins: &[u32], first: usize) -> f32 {
    let samples: u32 = bins.iter().sum();
    let mut below = 0;
    for (bin, &count) in bins.iter().enumerate() {
        if 2 * (below + count) >= samples && count > 0 {
            let within = (samples as f32 / 2.0 - below as f32) / count as f32;
            return (((first + bin) as f32 + within) * GAIN_BIN_WIDTH).max(GAIN_BIN_WIDTH);
        }
        below += count;
    }
    1.0
}
