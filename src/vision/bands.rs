//! Bands of flickering lamps: a camera with a rolling shutter exposes its rows one after another, so the ripple of lamps on
//! mains power becomes bright and dark bands that roll over the picture.
//!
//! The input is the mean ratio of each part of each sampled row to the background model. A row of a rolling shutter is exposed
//! at one time, so a band is as bright or dark in all parts of its rows. Other light, such as the beam of a headlight, is not. If
//! bands are present, every row of the frame is divided by its own gain before the foreground is detected.

use super::background::ROW_PARTS;

/// Rows that differ from the median row by at least this share belong to a band. Weaker bands change no result: the background
/// model follows changes of twice this size.
const BAND_SHARE: f32 = 0.05;
/// Bands are present if at least this share of the rows is brighter, and as many are darker. A shadow makes rows darker only,
/// added light makes rows brighter only.
const ROWS_SHARE: f32 = 0.15;
/// Time for which rows are still corrected after the last frame with bands, in seconds. Bands whose beat is slow are weak at
/// times.
const HOLD_SECS: f64 = 2.0;
/// Time in which a row must be both brighter and darker for rolling bands, in seconds. Bands that do not roll are light from
/// one side.
const ROLL_SECS: f64 = 20.0;
/// Bands roll if at least this share of the rows has been both brighter and darker.
const ROLLING_SHARE: f32 = 0.2;
/// Bands are a fault if more than this share of the frames shows them. Flashes change rows too, but seldom.
const PRESENT_SHARE: f32 = 0.5;
/// Time constant of this share, in seconds.
const PRESENT_SECS: f64 = 2.0;
/// Time without bands after which the fault ends, in seconds.
const QUIET_SECS: f64 = 10.0;
/// Smallest number of rows that can show both sides of a band.
const MIN_ROWS: usize = 8;
/// Largest correction of a row. A row beyond it shows something else.
const MAX_ROW_GAIN: f32 = 4.0;

/// Detects rolling bands and corrects frames. Its buffers are reused.
pub(super) struct RollingBands {
    /// Gain of each row relative to the whole frame.
    row_gains: Vec<f32>,
    /// Ratio of each sampled row to the median row, as far as all of its parts agree; 0 if unknown.
    agreed: Vec<f32>,
    /// Ratios of sampled rows, sorted.
    sorted: Vec<f32>,
    /// For each sampled row: the last time at which it was brighter, and at which it was darker.
    last_secs: Vec<[f64; 2]>,
    /// Time of the last frame with bands.
    seen_secs: f64,
    /// Share of the recent frames with bands.
    present: f32,
    last_frame_secs: f64,
    /// Time of the last frame with bands that roll.
    rolling_secs: f64,
    /// Depth of the bands in the last corrected frame: half the range of the rows, as a share.
    depth: f32,
}

impl RollingBands {
    pub(super) fn new(height: usize) -> Self {
        Self {
            row_gains: vec![1.0; height],
            agreed: Vec::with_capacity(height),
            sorted: Vec::with_capacity(height),
            last_secs: vec![[f64::NEG_INFINITY; 2]; height],
            seen_secs: f64::NEG_INFINITY,
            present: 0.0,
            last_frame_secs: f64::NEG_INFINITY,
            rolling_secs: f64::NEG_INFINITY,
            depth: 0.0,
        }
    }

    /// Returns the depth of rolling bands as a share of the brightness, or `None` without bands.
    pub(super) fn depth(&self, time_secs: f64) -> Option<f32> {
        (time_secs - self.rolling_secs <= QUIET_SECS).then_some(self.depth)
    }

    /// Returns whether the rows of the frame must be corrected. `ratios` are the ratios of the parts of the sampled rows to the
    /// background model; 0 if unknown.
    pub(super) fn observe(&mut self, ratios: &[[f32; ROW_PARTS]], time_secs: f64) -> bool {
        self.compare_parts(ratios);
        self.sorted.clear();
        self.sorted
            .extend(self.agreed.iter().filter(|&&ratio| ratio > 0.0));
        let count = self.sorted.len();
        if count < MIN_ROWS {
            return false;
        }
        self.sorted.sort_unstable_by(f32::total_cmp);
        let edge = (ROWS_SHARE * count as f32) as usize;
        let (low, high) = (self.sorted[edge], self.sorted[count - 1 - edge]);
        let has_bands = low <= 1.0 - BAND_SHARE && high >= 1.0 + BAND_SHARE;
        let dt_secs = (time_secs - self.last_frame_secs).clamp(0.0, PRESENT_SECS);
        self.last_frame_secs = time_secs;
        self.present += (1.0 - (-dt_secs / PRESENT_SECS).exp()) as f32
            * (f32::from(u8::from(has_bands)) - self.present);
        if has_bands {
            self.seen_secs = time_secs;
            self.note_rows(time_secs);
        }
        time_secs - self.seen_secs <= HOLD_SECS
    }

    /// Divides each part of each row by the median of this part over all rows. `agreed` gets the ratio of the part that differs
    /// least from 1, or 1 if one part is brighter and another darker.
    fn compare_parts(&mut self, ratios: &[[f32; ROW_PARTS]]) {
        let mut medians = [0.0; ROW_PARTS];
        for (part, median) in medians.iter_mut().enumerate() {
            self.sorted.clear();
            let known = ratios.iter().map(|row| row[part]).filter(|&r| r > 0.0);
            self.sorted.extend(known);
            if self.sorted.len() >= MIN_ROWS {
                let middle = self.sorted.len() / 2;
                *median = *(self.sorted)
                    .select_nth_unstable_by(middle, f32::total_cmp)
                    .1;
            }
        }
        self.agreed.clear();
        self.agreed.extend(ratios.iter().map(|row| {
            let known = row
                .iter()
                .zip(medians)
                .filter(|(r, m)| **r > 0.0 && *m > 0.0);
            let (low, high) = known.fold((f32::MAX, 0.0_f32), |(low, high), (ratio, median)| {
                let ratio = ratio / median;
                (low.min(ratio), high.max(ratio))
            });
            // Without a known part, `high` is 0.
            if high < 1.0 { high } else { low.max(1.0) }
        }));
    }

    /// Remembers which rows are brighter or darker, and decides whether the bands roll.
    fn note_rows(&mut self, time_secs: f64) {
        let mut both = 0;
        for (last_secs, ratio) in self.last_secs.iter_mut().zip(&self.agreed) {
            if *ratio >= 1.0 + BAND_SHARE {
                last_secs[0] = time_secs;
            } else if *ratio > 0.0 && *ratio <= 1.0 - BAND_SHARE {
                last_secs[1] = time_secs;
            }
            both += u32::from(
                last_secs
                    .iter()
                    .all(|last_secs| time_secs - last_secs <= ROLL_SECS),
            );
        }
        let is_rolling = both as f32 >= ROLLING_SHARE * self.sorted.len() as f32;
        if is_rolling && self.present > PRESENT_SHARE {
            self.rolling_secs = time_secs;
        }
    }

    /// Buffer for the gain of each row relative to the whole frame.
    pub(super) fn row_gains_mut(&mut self) -> &mut [f32] {
        &mut self.row_gains
    }

    /// Writes the frame to `even`, with each row divided by its gain.
    pub(super) fn correct(&mut self, levels: &[u8], even: &mut Vec<u8>) {
        even.clear();
        let gains = self.row_gains.iter();
        let (low, high) = gains.fold((f32::MAX, f32::MIN), |(low, high), &gain| {
            (low.min(gain), high.max(gain))
        });
        self.depth = ((high - low) / (high + low).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let width = levels.len() / self.row_gains.len().max(1);
        for (row, gain) in levels.chunks_exact(width.max(1)).zip(&self.row_gains) {
            let factor = 1.0 / gain.clamp(1.0 / MAX_ROW_GAIN, MAX_ROW_GAIN);
            even.extend(
                row.iter()
                    .map(|&level| (f32::from(level) * factor + 0.5) as u8),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(y: usize, phase: f32) -> f32 {
        1.0 + 0.2 * (std::f32::consts::TAU * (2.0 * y as f32 / 40.0 + phase)).sin()
    }

    #[test]
    fn rolling_bands_are_reported_and_shadows_and_light_from_one_side_are_not() {
        let run = |ratio: &dyn Fn(usize, usize, f32) -> f32| {
            let mut bands = RollingBands::new(40);
            let mut corrected = 0;
            for frame in 0..100 {
                let time_secs = f64::from(frame) / 10.0;
                let ratio = |y| std::array::from_fn(|part| ratio(y, part, time_secs as f32));
                let ratios: Vec<[f32; ROW_PARTS]> = (0..40).map(ratio).collect();
                corrected += u32::from(bands.observe(&ratios, time_secs));
            }
            (corrected, bands.depth(9.9).is_some())
        };
        assert_eq!(run(&|_, _, _| 1.0), (0, false));
        assert_eq!(run(&|y, _, secs| row(y, 0.4 * secs)), (100, true));
        let in_two_parts = |y, part, secs: f32| if part == 2 { 1.0 } else { row(y, 0.4 * secs) };
        assert_eq!(run(&in_two_parts), (0, false));
        let shadow = |y: usize, _, secs: f32| {
            if (y as f32 - 4.0 * secs).abs() < 8.0 {
                0.7
            } else {
                1.0
            }
        };
        assert_eq!(run(&shadow), (0, false));
        let from_one_side = |y: usize, _, _| 1.0 + y as f32 / 40.0;
        assert!(!run(&from_one_side).1, "light from one side does not roll");
    }

    #[test]
    fn a_corrected_frame_has_even_rows() {
        let mut bands = RollingBands::new(40);
        let levels: Vec<u8> = (0..400).map(|i| (100.0 * row(i / 10, 0.3)) as u8).collect();
        for (y, gain) in bands.row_gains_mut().iter_mut().enumerate() {
            *gain = row(y, 0.3);
        }
        let mut even = Vec::new();
        bands.correct(&levels, &mut even);
        assert_eq!(bands.depth(0.0), None, "one frame is no fault");
        assert!((bands.depth - 0.2).abs() < 0.01, "{}", bands.depth);
        assert!(
            even.iter().all(|level| (98..=101).contains(level)),
            "{even:?}"
        );
    }
}
