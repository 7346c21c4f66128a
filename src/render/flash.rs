//! Keeps the picture from flashing: what has just been shown is watched in coarse cells, and where a large part of it
//! changed at once, the next pictures may follow only slowly.
//!
//! In: the mean colors of the cells of each picture shown, in order. Out: how much of the next picture may replace the
//! last one. Knows no GPU and asks no clock.
//!
//! **Source** of the limits: WCAG 2.2, success criterion 2.3.1 and its definition of general and red flashes; stricter
//! here, since a floor fills the field of view: no area is exempt, and a first change counts.

/// Cells along the picture's width and height.
pub const CELLS: [u32; 2] = [32, 18];
/// A change of relative luminance that counts, if its darker state is below [`DARK`].
const CHANGE: f32 = 0.10;
const DARK: f32 = 0.80;
/// A change of a saturated red that counts: of (R − G − B) · 320.
const RED_CHANGE: f32 = 20.0;
/// A state is a saturated red from this share of red on.
const RED_SHARE: f32 = 0.8;
/// Share of the picture that may change at once. The limit is a quarter; the cells are coarse.
const AREA: f32 = 0.20;
/// Changes of cells within this time are one.
const AT_ONCE_SECS: f64 = 0.10;
/// What changes more slowly than this is no flash.
const MOMENT_SECS: f64 = 0.25;
/// How long the picture follows slowly after a change.
const HOLD_SECS: f64 = 2.5;
/// How slowly: what swings more than three times a second, from black to white or to the fullest red, moves by less than
/// [`CHANGE`] and [`RED_CHANGE`] (320 · 0.31 s / 2 / 2.6 s = 19).
const FOLLOW_SECS: f64 = 2.6;

/// What a cell was last seen doing, for one measure of its color.
#[derive(Clone, Copy, Debug, Default)]
struct Swing {
    /// Where it was a moment ago.
    before: f32,
    /// When it last fell and rose by a change.
    changed: [Option<f64>; 2],
}

impl Swing {
    /// Takes a value after a while; `counts` says whether the way from one to another is a change.
    fn take(
        &mut self,
        value: f32,
        time_secs: f64,
        since_secs: f64,
        counts: impl Fn(f32, f32) -> bool,
    ) {
        if counts(self.before, value) {
            self.changed[usize::from(value > self.before)] = Some(time_secs);
            self.before = value;
        } else {
            let follow = 1.0 - (-since_secs.clamp(0.0, 1.0) / MOMENT_SECS).exp();
            self.before += (value - self.before) * follow as f32;
        }
    }
}

/// Watches pictures and says how fast the next may follow.
#[derive(Clone, Debug, Default)]
pub struct FlashLimiter {
    cells: Vec<[Swing; 2]>,
    /// Until when the picture follows slowly.
    slow_until_secs: Option<f64>,
    last_secs: Option<f64>,
    watched_secs: f64,
    dimmed: u64,
}

impl FlashLimiter {
    /// Takes the picture that has just been shown: linear red, green, blue of every cell.
    pub fn watch(&mut self, time_secs: f64, colors: &[[f32; 3]]) {
        if self.cells.len() != colors.len() {
            self.cells.clear();
            self.cells.extend(colors.iter().map(|&color| {
                let fresh = |before| Swing {
                    before,
                    ..Swing::default()
                };
                [fresh(luminance(color)), fresh(redness(color))]
            }));
            self.watched_secs = time_secs;
            return;
        }
        let since = time_secs - std::mem::replace(&mut self.watched_secs, time_secs);
        let mut at_once = [[0u32; 2]; 2];
        for (cell, &color) in self.cells.iter_mut().zip(colors) {
            let [general, red] = cell;
            general.take(luminance(color), time_secs, since, |a, b| {
                (a - b).abs() >= CHANGE && a.min(b) < DARK
            });
            red.take(redness(color), time_secs, since, |a, b| {
                (a - b).abs() > RED_CHANGE
            });
            for (swing, count) in cell.iter().zip(&mut at_once) {
                for (changed, count) in swing.changed.iter().zip(count) {
                    let is_now =
                        changed.is_some_and(|t| (0.0..=AT_ONCE_SECS).contains(&(time_secs - t)));
                    *count += u32::from(is_now);
                }
            }
        }
        let most = at_once.iter().flatten().copied().max().unwrap_or(0);
        if most as f32 > AREA * colors.len() as f32 {
            if self.slow_until_secs.is_none() {
                self.dimmed += 1;
            }
            self.slow_until_secs = Some(time_secs + HOLD_SECS);
        }
    }

    /// How much of the next picture, at this time, may replace the last one: 1 is all of it.
    pub fn share(&mut self, time_secs: f64) -> f64 {
        let since = self.last_secs.map_or(0.0, |last| time_secs - last);
        self.last_secs = Some(time_secs);
        match self.slow_until_secs {
            // A clock that jumps back ends it, too.
            Some(until) if time_secs < until && until - time_secs <= HOLD_SECS => {
                1.0 - (-since.clamp(0.0, 0.1) / FOLLOW_SECS).exp()
            }
            _ => {
                self.slow_until_secs = None;
                1.0
            }
        }
    }

    /// How often it had to slow the picture down.
    pub fn dimmed(&self) -> u64 {
        self.dimmed
    }
}

/// What was last seen of a projector's pictures, to be handed on where another renderer takes over.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Watches.
    pub limiter: FlashLimiter,
    /// Colors of the cells of the last picture, linear, rows from the top; empty before the first.
    pub colors: Vec<[f32; 3]>,
}

/// A picture of these cells: sRGB, rows from the top, 4 bytes a pixel. Cells stay squares, so that each keeps its mean.
pub(super) fn spread(colors: &[[f32; 3]], size_px: [u32; 2]) -> Vec<u8> {
    let cells: Vec<[u8; 4]> = colors
        .iter()
        .map(|&[red, green, blue]| [encoded(red), encoded(green), encoded(blue), 255])
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

/// Light of an encoded byte.
///
/// **Source**: IEC 61966-2-1 (sRGB).
pub(super) fn linear(byte: u8) -> f32 {
    let v = f32::from(byte) / 255.0;
    if v <= 0.040_45 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// Byte of a light.
///
/// **Source**: IEC 61966-2-1 (sRGB).
fn encoded(light: f32) -> u8 {
    let v = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (v.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Relative luminance of a linear color.
fn luminance([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// How strongly red a color is; 0 where it is no saturated red.
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

    /// Shows what `wanted` asks for through the limiter, 60 pictures a second; returns the most opposing changes that any
    /// second of it held over more than a quarter of the picture, by a count of its own.
    fn shown(secs: f64, wanted: impl Fn(f64, usize) -> [f32; 3]) -> (usize, u64) {
        let mut limiter = FlashLimiter::default();
        let mut picture = vec![[0.3f32; 3]; COUNT];
        let mut history: Vec<Vec<[f32; 3]>> = Vec::new();
        for frame in 0..(secs * 60.0) as u32 {
            let time_secs = f64::from(frame) / 60.0;
            let share = limiter.share(time_secs) as f32;
            for (i, cell) in picture.iter_mut().enumerate() {
                let target = wanted(time_secs, i);
                *cell = [0, 1, 2].map(|c| cell[c] + (target[c] - cell[c]) * share);
            }
            limiter.watch(time_secs, &picture);
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
        (worst, limiter.dimmed())
    }

    #[test]
    fn no_rate_of_flashing_gets_through() {
        for hz in [2.0, 3.0, 4.0, 7.0, 12.0, 30.0] {
            let is_on = move |t: f64| ((t * hz * 2.0 + 1e-6) as u64).is_multiple_of(2);
            let (worst, dimmed) = shown(6.0, |t, _| if is_on(t) { [0.9; 3] } else { [0.02; 3] });
            assert!(
                worst <= 3 && dimmed > 0,
                "{hz} Hz: {worst} changes a second"
            );
            let (worst, _) = shown(6.0, |t, _| {
                if is_on(t) {
                    [0.8, 0.0, 0.0]
                } else {
                    [0.1, 0.1, 0.1]
                }
            });
            assert!(worst <= 3, "red, {hz} Hz: {worst} changes a second");
            // Half of the picture against the other half: the mean stays.
            let (worst, _) = shown(6.0, |t, i| {
                if is_on(t) == (i % 32 < 16) {
                    [0.7; 3]
                } else {
                    [0.1; 3]
                }
            });
            assert!(worst <= 3, "halves, {hz} Hz: {worst} changes a second");
        }
    }

    #[test]
    fn a_small_light_and_a_slow_dusk_are_left_alone() {
        let (_, dimmed) = shown(4.0, |t, i| {
            if i < COUNT / 8 && ((t * 10.0) as u64).is_multiple_of(2) {
                [0.9; 3]
            } else {
                [0.3; 3]
            }
        });
        assert_eq!(dimmed, 0, "an eighth of the picture");
        let (_, dimmed) = shown(8.0, |t, _| [0.3 + 0.03 * t as f32; 3]);
        assert_eq!(dimmed, 0, "a slow change");
    }

    #[test]
    fn a_single_change_is_followed_and_reached() {
        let mut limiter = FlashLimiter::default();
        let mut value = 0.2f32;
        for frame in 0..240 {
            let time_secs = f64::from(frame) / 60.0;
            let wanted = if frame > 10 { 0.7 } else { 0.2 };
            value += (wanted - value) * limiter.share(time_secs) as f32;
            limiter.watch(time_secs, &vec![[value; 3]; COUNT]);
        }
        assert!((value - 0.7).abs() < 0.02, "{value}");
        assert!(limiter.share(1e9) > 0.999, "and it is over");
    }
}
