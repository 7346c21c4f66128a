//! Limits flashing. It observes each shown picture in coarse cells. After a large part of the picture has changed at once, each
//! following picture replaces the one before only gradually.
//!
//! In: the mean colors of the cells of each shown picture, in order of time. Out: the share (0..1) by which the next picture
//! may replace the last one. Uses neither the GPU nor a clock.
//!
//! **Source** of the limits: WCAG 2.2, success criterion 2.3.1, with its definitions of general flash and red flash. The limits
//! here are stricter, because a floor fills the field of view: no small area is exempt, and a single change already counts.

use super::color::srgb_from_linear;

/// Number of cells along the picture's width and height.
pub(super) const CELLS: [u32; 2] = [32, 18];
/// Smallest change of relative luminance that counts (WCAG: general flash).
const CHANGE: f32 = 0.10;
/// A change counts only if its darker state has less relative luminance than this (WCAG: general flash).
const DARK: f32 = 0.80;
/// A change of redness counts if it is larger than this. Redness is (R − G − B) · 320 for a saturated red, and 0 for all
/// other colors (WCAG: red flash).
const RED_CHANGE: f32 = 20.0;
/// Smallest share R / (R + G + B) of a saturated red (WCAG: red flash).
const RED_SHARE: f32 = 0.8;
/// Largest share of the picture that may change at once. WCAG allows 0.25; the limit here is lower, because the cells are
/// coarse.
const AREA: f32 = 0.20;
/// Changes of different cells within this time count as simultaneous.
const AT_ONCE_SECS: f64 = 0.10;
/// Time constant with which the reference value of a cell follows the cell; a slower change is no flash.
const REFERENCE_SECS: f64 = 0.25;
/// Time after a large change in which the picture changes slowly.
const HOLD_SECS: f64 = 2.5;
/// Time constant of the slow change. With this value, a picture that swings from black to white or to full red faster than
/// three times per second changes by less than [`CHANGE`] and [`RED_CHANGE`] (320 · 0.31 s / 2 / 2.6 s = 19).
const FOLLOW_SECS: f64 = 2.6;

/// The recent changes of one measure (luminance or redness) of one cell.
#[derive(Clone, Copy, Debug, Default)]
struct Swing {
    /// Value that each new value of the cell is compared with. It follows the cell with the time constant [`REFERENCE_SECS`].
    reference: f32,
    /// Times of the last fall and of the last rise that counted.
    changed_secs: [Option<f64>; 2],
}

impl Swing {
    /// Records a new value. `counts(reference, value)` returns whether the difference between the two is a change.
    fn record(
        &mut self,
        value: f32,
        time_secs: f64,
        since_secs: f64,
        counts: impl Fn(f32, f32) -> bool,
    ) {
        if counts(self.reference, value) {
            self.changed_secs[usize::from(value > self.reference)] = Some(time_secs);
            self.reference = value;
        } else {
            let follow = 1.0 - (-since_secs.clamp(0.0, 1.0) / REFERENCE_SECS).exp();
            self.reference += (value - self.reference) * follow as f32;
        }
    }
}

/// Observes pictures and decides how much of the next one may be shown.
#[derive(Clone, Debug, Default)]
pub struct FlashLimiter {
    /// Luminance and redness of each cell, in this order.
    cells: Vec<[Swing; 2]>,
    /// Time at which the slow change ends; `None` if the picture is not limited.
    slow_until_secs: Option<f64>,
    /// Time of the last call of [`Self::replaced_share`].
    last_secs: Option<f64>,
    /// Time of the last observed picture.
    observed_secs: f64,
    /// Number of times that a slow change began.
    limit_count: u64,
}

impl FlashLimiter {
    /// Records the picture that was just shown. `colors` has the linear red, green and blue of every cell.
    pub fn observe(&mut self, time_secs: f64, colors: &[[f32; 3]]) {
        if self.cells.len() != colors.len() {
            self.cells.clear();
            self.cells.extend(colors.iter().map(|&color| {
                let fresh = |reference| Swing {
                    reference,
                    ..Swing::default()
                };
                [fresh(luminance(color)), fresh(redness(color))]
            }));
            self.observed_secs = time_secs;
            return;
        }
        let since = time_secs - std::mem::replace(&mut self.observed_secs, time_secs);
        let mut at_once = [[0u32; 2]; 2];
        for (cell, &color) in self.cells.iter_mut().zip(colors) {
            let [general, red] = cell;
            general.record(luminance(color), time_secs, since, |a, b| {
                (a - b).abs() >= CHANGE && a.min(b) < DARK
            });
            red.record(redness(color), time_secs, since, |a, b| {
                (a - b).abs() > RED_CHANGE
            });
            for (swing, count) in cell.iter().zip(&mut at_once) {
                for (changed_secs, count) in swing.changed_secs.iter().zip(count) {
                    let is_now = changed_secs
                        .is_some_and(|t| (0.0..=AT_ONCE_SECS).contains(&(time_secs - t)));
                    *count += u32::from(is_now);
                }
            }
        }
        let most = at_once.iter().flatten().copied().max().unwrap_or(0);
        if most as f32 > AREA * colors.len() as f32 {
            if self.slow_until_secs.is_none() {
                self.limit_count += 1;
            }
            self.slow_until_secs = Some(time_secs + HOLD_SECS);
        }
    }

    /// Returns the share (0..1) by which the next picture, shown at `time_secs`, may replace the last one; 1 is full
    /// replacement.
    pub fn replaced_share(&mut self, time_secs: f64) -> f64 {
        let since = self.last_secs.map_or(0.0, |last| time_secs - last);
        self.last_secs = Some(time_secs);
        match self.slow_until_secs {
            // The slow change also ends if the clock jumps back.
            Some(until) if time_secs < until && until - time_secs <= HOLD_SECS => {
                1.0 - (-since.clamp(0.0, 0.1) / FOLLOW_SECS).exp()
            }
            _ => {
                self.slow_until_secs = None;
                1.0
            }
        }
    }

    /// Number of times that the limiter began to slow the picture down.
    pub fn limit_count(&self) -> u64 {
        self.limit_count
    }
}

/// The flash limiter of one output, with the last picture. A new renderer continues from this state.
#[derive(Clone, Debug, Default)]
pub struct FlashState {
    /// The limiter.
    pub limiter: FlashLimiter,
    /// Linear colors of the cells of the last picture, rows from the top; empty before the first picture.
    pub colors: Vec<[f32; 3]>,
}

/// Returns a picture in which each cell has a uniform color: rows from the top, 4 sRGB bytes per pixel.
pub(super) fn picture_from_cells(colors: &[[f32; 3]], size_px: [u32; 2]) -> Vec<u8> {
    let cells: Vec<[u8; 4]> = colors
        .iter()
        .map(|&[red, green, blue]| {
            [
                srgb_from_linear(red),
                srgb_from_linear(green),
                srgb_from_linear(blue),
                255,
            ]
        })
        .collect();
    let [columns, rows] = CELLS.map(u64::from);
    let [width, height] = size_px.map(u64::from);
    (0..height)
        .flat_map(|y| {
            (0..width).map(move |x| (y * rows / height * columns + x * columns / width) as usize)
        })
        .flat_map(|cell| cells.get(cell).copied().unwrap_or_default())
        .collect()
}

/// Relative luminance of a linear color.
fn luminance([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Measure of red flashes: (R − G − B) · 320 for a saturated red, 0 for all other colors.
fn redness([r, g, b]: [f32; 3]) -> f32 {
    let sum = r + g + b;
    if sum > 0.0 && r / sum >= RED_SHARE {
        ((r - g - b) * 320.0).max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = (CELLS[0] * CELLS[1]) as usize;

    /// Shows `wanted` through the limiter at 60 pictures per second. Returns two counts: the largest number of opposing changes
    /// of more than a quarter of the picture within any second (counted independently of the limiter), and the limiter's own
    /// count.
    fn shown(secs: f64, wanted: impl Fn(f64, usize) -> [f32; 3]) -> (usize, u64) {
        let mut limiter = FlashLimiter::default();
        let mut picture = vec![[0.3f32; 3]; COUNT];
        let mut history: Vec<Vec<[f32; 3]>> = Vec::new();
        for frame in 0..(secs * 60.0) as u32 {
            let time_secs = f64::from(frame) / 60.0;
            let share = limiter.replaced_share(time_secs) as f32;
            for (i, cell) in picture.iter_mut().enumerate() {
                let target = wanted(time_secs, i);
                *cell = [0, 1, 2].map(|c| cell[c] + (target[c] - cell[c]) * share);
            }
            limiter.observe(time_secs, &picture);
            history.push(picture.clone());
        }
        let changes =
            |cell: usize, from: usize, until: usize, of: fn([f32; 3]) -> f32, step: f32| {
                let mut last = of(history[from][cell]);
                let (mut direction, mut count) = (0.0f32, 0);
                for picture in &history[from..until] {
                    let value = of(picture[cell]);
                    if (value - last).abs() >= step {
                        if direction != (value - last).signum() {
                            count += 1;
                        }
                        direction = (value - last).signum();
                        last = value;
                    } else if (value - last) * direction > 0.0 {
                        last = value;
                    }
                }
                count
            };
        let mut worst = 0;
        for from in (0..history.len().saturating_sub(60)).step_by(7) {
            for (of, step) in [(luminance as fn([f32; 3]) -> f32, 0.1), (redness, 20.0)] {
                let mut counts: Vec<usize> = (0..COUNT)
                    .map(|cell| changes(cell, from, from + 60, of, step))
                    .collect();
                counts.sort_unstable();
                worst = worst.max(counts[COUNT * 3 / 4 - 1]);
            }
        }
        (worst, limiter.limit_count())
    }

    #[test]
    fn flashing_at_any_rate_is_limited_to_3_changes_per_second() {
        for hz in [2.0, 3.0, 4.0, 7.0, 12.0, 30.0] {
            let is_on = move |t: f64| ((t * hz * 2.0 + 1e-6) as u64).is_multiple_of(2);
            let (worst, limit_count) =
                shown(6.0, |t, _| if is_on(t) { [0.9; 3] } else { [0.02; 3] });
            assert!(
                worst <= 3 && limit_count > 0,
                "{hz} Hz: {worst} changes per second, limited {limit_count} times"
            );
            let (worst, _) = shown(6.0, |t, _| {
                if is_on(t) {
                    [0.8, 0.0, 0.0]
                } else {
                    [0.1, 0.1, 0.1]
                }
            });
            assert!(worst <= 3, "red at {hz} Hz: {worst} changes per second");
            // One half is bright while the other is dark, so that the mean of the picture is constant.
            let (worst, _) = shown(6.0, |t, i| {
                if is_on(t) == (i % 32 < 16) {
                    [0.7; 3]
                } else {
                    [0.1; 3]
                }
            });
            assert!(worst <= 3, "halves at {hz} Hz: {worst} changes per second");
        }
    }

    #[test]
    fn a_small_flashing_area_and_a_slow_change_are_not_limited() {
        let (_, limit_count) = shown(4.0, |t, i| {
            if i < COUNT / 8 && ((t * 10.0) as u64).is_multiple_of(2) {
                [0.9; 3]
            } else {
                [0.3; 3]
            }
        });
        assert_eq!(limit_count, 0, "an eighth of the picture flashes");
        let (_, limit_count) = shown(8.0, |t, _| [0.3 + 0.03 * t as f32; 3]);
        assert_eq!(limit_count, 0, "a slow change");
    }

    #[test]
    fn a_single_change_is_reached_within_4_s() {
        let mut limiter = FlashLimiter::default();
        let mut value = 0.2f32;
        for frame in 0..240 {
            let time_secs = f64::from(frame) / 60.0;
            let wanted = if frame > 10 { 0.7 } else { 0.2 };
            value += (wanted - value) * limiter.replaced_share(time_secs) as f32;
            limiter.observe(time_secs, &vec![[value; 3]; COUNT]);
        }
        assert!((value - 0.7).abs() < 0.02, "{value}");
        assert!(limiter.replaced_share(1e9) > 0.999, "the limit has ended");
    }
}
