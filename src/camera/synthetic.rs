//! Synthetic visitors: an endless scene of shadows that walk on a lit, uneven, noisy floor. For the demo and for tests.
//!
//! The camera looks straight down. A lamp near the center casts the shadow of each visitor. Visitors enter at the left or
//! right side, walk, pause and leave. The same seed, size and frame rate give the same bytes.

use glam::Vec2;

use super::frame::{Frame, Luma};

/// Height of the visible floor, in meters. Its width follows from the aspect ratio of the frame.
const VIEW_HEIGHT_M: f32 = 3.6;
/// Height of the lamp above the floor, in meters.
const LAMP_HEIGHT_M: f32 = 4.0;
/// Number of visitors in the scene.
const VISITORS: u64 = 3;
/// Number of precomputed noise values; each row of a frame starts at a random one of them.
const NOISE_LEN: usize = 4096;
/// Standard deviation of the noise, in gray levels.
const NOISE_STD_DEV: f32 = 2.0;
/// Purpose of the random numbers of the noise, see [`unit`]. Purposes 0 to 2 are for the visitors, 100 to 103 for the noise.
const PURPOSE_NOISE: u64 = 100;
/// Purpose of the random brightness of the floor tiles, see [`unit`].
const PURPOSE_TEXTURE: u64 = 200;

/// The scene and the state of its visitors.
pub(super) struct Synthetic {
    seed: u64,
    width_px: u32,
    height_px: u32,
    floor: Vec<u8>,
    noise: Vec<i8>,
    visitors: Vec<Visitor>,
}

/// A visitor and its current leg. A leg is a walk from one point to the next, followed by a pause (outside the frame if the
/// visitor has left).
struct Visitor {
    index: u64,
    leg: u64,
    stature: f32,
    from_m: Vec2,
    to_m: Vec2,
    start_secs: f64,
    arrival_secs: f64,
    end_secs: f64,
}

impl Synthetic {
    /// Prepares the scene.
    pub(super) fn new(seed: u64, width_px: u32, height_px: u32) -> Self {
        let (width, height) = (width_px as usize, height_px as usize);
        let mut scene = Self {
            seed,
            width_px,
            height_px,
            floor: Vec::with_capacity(width * height),
            noise: Vec::with_capacity(NOISE_LEN + width),
            visitors: Vec::new(),
        };
        for y in 0..height_px {
            for x in 0..width_px {
                let floor_m = scene.floor_from_pixel(Vec2::new(x as f32, y as f32));
                scene.floor.push(floor_level(seed, floor_m));
            }
        }
        scene.noise.extend((0..NOISE_LEN + width).map(|i| {
            let sum: f64 = (0..4)
                .map(|k| unit(seed, PURPOSE_NOISE + k, i as u64))
                .sum();
            // The sum of four uniform numbers has a standard deviation of 0.577.
            ((sum - 2.0) as f32 / 0.577 * NOISE_STD_DEV).round() as i8
        }));
        let half_m = scene.half_extent_m();
        scene.visitors = (0..VISITORS)
            .map(|index| Visitor::new(seed, index, half_m))
            .collect();
        scene
    }

    /// Draws the scene at `time_secs` into `frame`. The time must not decrease from call to call.
    pub(super) fn draw(&mut self, sequence: u64, time_secs: f64, frame: &mut Frame) {
        let width = self.width_px as usize;
        let mut levels = frame.luma.take_u8(self.floor.len());
        levels.copy_from_slice(&self.floor);
        let half_m = self.half_extent_m();
        for index in 0..self.visitors.len() {
            let visitor = &mut self.visitors[index];
            visitor.advance(self.seed, half_m, time_secs);
            let (foot_m, stature) = (visitor.position_m(time_secs), visitor.stature);
            self.cast_shadow(&mut levels, foot_m, stature);
        }
        for (y, row) in levels.chunks_exact_mut(width).enumerate() {
            let start = (mix(self.seed, sequence, y as u64) % NOISE_LEN as u64) as usize;
            for (level, noise) in row.iter_mut().zip(&self.noise[start..start + width]) {
                *level = level.saturating_add_signed(*noise);
            }
        }
        frame.luma = Luma::U8(levels);
        frame.width_px = self.width_px;
        frame.height_px = self.height_px;
    }

    /// Draws the shadow of a visitor: a strip with round ends, from the foot point to the shadow of the head.
    fn cast_shadow(&self, levels: &mut [u8], foot_m: Vec2, stature: f32) {
        let lamp_m = Vec2::new(0.15, -0.2);
        let tip_m = lamp_m + (foot_m - lamp_m) * LAMP_HEIGHT_M / (LAMP_HEIGHT_M - 1.7 * stature);
        let scale = self.height_px as f32 / VIEW_HEIGHT_M;
        let (foot, tip) = (self.pixel_from_floor(foot_m), self.pixel_from_floor(tip_m));
        let (narrow, wide) = (0.13 * stature * scale, 0.24 * stature * scale);
        let soft = 0.03 * scale;
        let low = foot.min(tip) - wide - soft;
        let high = foot.max(tip) + wide + soft;
        let (x0, x1) = clamped(low.x, high.x, self.width_px);
        let (y0, y1) = clamped(low.y, high.y, self.height_px);
        let axis = tip - foot;
        let inverse_square = 1.0 / axis.length_squared().max(1e-6);
        for y in y0..y1 {
            let row = y * self.width_px as usize;
            for x in x0..x1 {
                let offset = Vec2::new(x as f32, y as f32) - foot;
                let along = (offset.dot(axis) * inverse_square).clamp(0.0, 1.0);
                let radius = narrow + (wide - narrow) * along;
                let inside = (radius - (offset - axis * along).length()) / soft;
                let light = 1.0 - 0.85 * (0.5 + 0.5 * inside).clamp(0.0, 1.0);
                let level = &mut levels[row + x];
                *level = (f32::from(*level) * light) as u8;
            }
        }
    }

    fn half_extent_m(&self) -> Vec2 {
        let aspect = self.width_px as f32 / self.height_px as f32;
        Vec2::new(aspect, 1.0) * VIEW_HEIGHT_M / 2.0
    }

    fn floor_from_pixel(&self, pixel: Vec2) -> Vec2 {
        let size = Vec2::new(self.width_px as f32, self.height_px as f32);
        ((pixel + 0.5) / size - 0.5) * 2.0 * self.half_extent_m()
    }

    fn pixel_from_floor(&self, floor_m: Vec2) -> Vec2 {
        let size = Vec2::new(self.width_px as f32, self.height_px as f32);
        (floor_m / (2.0 * self.half_extent_m()) + 0.5) * size - 0.5
    }
}

impl Visitor {
    fn new(seed: u64, index: u64, half_m: Vec2) -> Self {
        let outside_m = point_outside(seed, index, 0, half_m);
        // The first visitor enters after 0.3 s, and each further visitor 4 s after the previous one.
        let wait_secs = 0.3 + index as f64 * 4.0;
        Self {
            index,
            leg: 0,
            stature: (0.6 + 0.45 * unit(seed, index, 1)) as f32,
            from_m: outside_m,
            to_m: outside_m,
            start_secs: 0.0,
            arrival_secs: 0.0,
            end_secs: wait_secs,
        }
    }

    /// Advances to the leg that contains `time_secs`.
    fn advance(&mut self, seed: u64, half_m: Vec2, time_secs: f64) {
        while time_secs >= self.end_secs {
            self.leg += 1;
            let draw = |what: u64| unit(seed, self.index, self.leg * 16 + what);
            // A visit has five legs, and the last one leads out of the frame. After a pause the next visit starts.
            let leaves = self.leg.is_multiple_of(5);
            self.from_m = self.to_m;
            self.to_m = if leaves {
                point_outside(seed, self.index, self.leg, half_m)
            } else {
                Vec2::new(draw(2) as f32 - 0.5, draw(3) as f32 - 0.5) * 1.7 * half_m
            };
            let speed_mps = 0.5 + 0.9 * draw(4);
            self.start_secs = self.end_secs;
            self.arrival_secs =
                self.start_secs + f64::from(self.from_m.distance(self.to_m)) / speed_mps;
            let rest_secs = match (leaves, draw(5) < 0.45) {
                (true, _) => 1.0 + 5.0 * draw(6),
                (false, true) => 1.0 + 7.0 * draw(6),
                (false, false) => 0.0,
            };
            self.end_secs = self.arrival_secs + rest_secs + 0.1;
        }
    }

    fn position_m(&self, time_secs: f64) -> Vec2 {
        let walk_secs = (self.arrival_secs - self.start_secs).max(1e-6);
        let t = ((time_secs - self.start_secs) / walk_secs).clamp(0.0, 1.0) as f32;
        self.from_m.lerp(self.to_m, t * t * (3.0 - 2.0 * t))
    }
}

/// Returns a point at the left or right side, far enough outside that no part of the visitor or the shadow is visible.
fn point_outside(seed: u64, index: u64, leg: u64, half_m: Vec2) -> Vec2 {
    let side = if unit(seed, index, leg * 16 + 7) < 0.5 {
        -1.0
    } else {
        1.0
    };
    let along = (unit(seed, index, leg * 16 + 8) * 2.0 - 1.0) as f32;
    Vec2::new(side * (half_m.x + 0.6), along * half_m.y * 0.8)
}

/// Returns the gray level of the empty floor: a spot of light that fades outward, on tiles of different brightness with dark
/// joints.
fn floor_level(seed: u64, floor_m: Vec2) -> u8 {
    let spot = (-floor_m.length_squared() / (2.0 * 2.4 * 2.4)).exp();
    let tile = (floor_m / 0.6).floor();
    let within = (floor_m / 0.6 - tile - 0.5).abs().max_element();
    let number = (tile.x as i64 as u64) ^ (tile.y as i64 as u64).rotate_left(32);
    let albedo = 0.75 + 0.25 * unit(seed, PURPOSE_TEXTURE, number) as f32;
    let joint = if within > 0.485 { 0.85 } else { 1.0 };
    (15.0 + 185.0 * spot * albedo * joint) as u8
}

/// Returns the range of whole pixels from `low` to `high`, clamped to 0 to `end`.
fn clamped(low: f32, high: f32, end: u32) -> (usize, usize) {
    let end = end as f32;
    let (low, high) = (low.floor().clamp(0.0, end), high.ceil().clamp(0.0, end));
    (low as usize, high.max(low) as usize)
}

/// Returns a random number in 0..1, a pure function of the seed, a purpose and a count.
fn unit(seed: u64, purpose: u64, count: u64) -> f64 {
    (mix(seed, purpose, count) >> 11) as f64 / (1u64 << 53) as f64
}

/// Mixes three numbers into 64 random bits.
///
/// **Source** of the finalizer: Steele, Lea, Flood 2014 (`SplitMix64`).
fn mix(seed: u64, purpose: u64, count: u64) -> u64 {
    let scramble = |value: u64| {
        let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    };
    scramble(scramble(scramble(seed) ^ purpose) ^ count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(seed: u64, count: u64) -> Vec<Vec<u8>> {
        let mut scene = Synthetic::new(seed, 160, 120);
        let mut frame = Frame::default();
        (0..count)
            .map(|i| {
                scene.draw(i, i as f64 / 10.0, &mut frame);
                let mut levels = Vec::new();
                frame.luma.write_eight_bit(&mut levels);
                levels
            })
            .collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_frames() {
        assert_eq!(frames_of(5, 30), frames_of(5, 30));
        assert_ne!(frames_of(5, 3), frames_of(6, 3));
    }

    #[test]
    fn visitors_come_and_go() {
        let frames = frames_of(3, 600);
        let dark = |levels: &Vec<u8>| levels.iter().filter(|&&v| v < 28).count();
        let counts: Vec<usize> = frames.iter().map(dark).collect();
        let empty = counts[0];
        assert!(counts.iter().any(|&c| c > empty + 400), "no visitor enters");
        assert!(
            counts[300..].iter().any(|&c| c < empty + 2000),
            "the visitors never leave"
        );
    }
}
