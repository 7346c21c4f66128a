//! Drawn floors with a visitor and a disturbance, and what vision makes of them.

use std::f32::consts::TAU;

use glam::Vec2;
use shoal::camera::{Frame, Luma};
use shoal::geometry::{FloorFromCamera, Surface};
use shoal::vision::{FloorView, Vision, VisionParams};

const WIDTH: usize = 160;
const HEIGHT: usize = 120;
/// Pixels per meter: the picture shows the whole surface of 4 × 3 m.
pub(super) const PX_PER_M: f32 = 40.0;
/// Radius of the visitor's shadow, in meters.
const VISITOR_M: f32 = 0.22;

/// What disturbs the picture. Lengths are in pixels, brightness in gray levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Disturbance {
    None,
    /// A bright strand that sways before the lens: amplitude, width, brightness.
    Strand(f32, f32, f32),
    /// Thin threads of a web that sway together.
    Web,
    /// A strand of tinsel: glints that light up along a swaying line.
    Tinsel,
    /// An insect that walks on the glass, pauses and flies away for a while.
    Insect,
    /// A cable that sways slowly, with a bright middle and dark edges.
    Cable,
    /// Bands that roll over the picture: depth, number of bands, speed in bands per second.
    Bands(f32, f32, f32),
    /// Flashes that light a part of the floor for one or two frames.
    Flashes,
    /// The beam of a headlight that sweeps over the floor again and again: width in pixels, seconds from one to the next, and the
    /// angle of its way in turns (0: from left to right, 0.25: from top to bottom).
    Headlights(f32, f32, f32),
    /// A door that opens and closes; light falls in from one side.
    Door,
    /// Sunlight through moving leaves.
    Leaves,
    /// Drifting specks: their number, and their speed in pixels per second.
    Specks(usize, f32),
}

/// One scene: a floor, a visitor or none, and a disturbance.
pub(super) struct Scene {
    pub(super) seed: u64,
    pub(super) fps: f64,
    /// Level of the floor in the middle of the picture.
    pub(super) brightness: f32,
    pub(super) has_visitor: bool,
    pub(super) disturbance: Disturbance,
    /// Time at which the disturbance ends, in seconds.
    pub(super) ends_secs: f32,
    pub(super) floor: Vec<f32>,
    pub(super) noise: Vec<f32>,
}

/// What happened in a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) frames: u32,
    /// Frames with a track that is no visitor.
    pub(super) with_false: u32,
    /// Time of the first and the last of them, in seconds.
    pub(super) false_secs: Option<(f64, f64)>,
    /// Frames in which the visitor is well inside the picture.
    pub(super) with_visitor: u32,
    /// Frames of those in which a track is on the visitor.
    pub(super) found: u32,
    /// Longest time without a track on the visitor, in seconds.
    pub(super) longest_lost_secs: f64,
    /// Number of different ids on the visitor.
    pub(super) ids: usize,
}

impl Outcome {
    pub(super) fn recall(&self) -> f64 {
        f64::from(self.found) / f64::from(self.with_visitor.max(1))
    }
}

/// Returns a random number from 0 to 1.
fn unit(seed: u64, purpose: u64, number: u64) -> f32 {
    let mut mixed = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(purpose.wrapping_mul(0xbf58_476d_1ce4_e5b9))
        .wrapping_add(number.wrapping_mul(0x94d0_49bb_1331_11eb));
    for _ in 0..2 {
        mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (mixed >> 40) as f32 / (1_u64 << 24) as f32
}

impl Scene {
    pub(super) fn new(seed: u64, disturbance: Disturbance) -> Self {
        let mut floor = Vec::with_capacity(WIDTH * HEIGHT);
        let brightness = 110.0;
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let at = Vec2::new(x as f32 - 80.0, y as f32 - 60.0);
                let lit = 0.75 + 0.4 * (-at.length_squared() / 5000.0).exp();
                let tile = unit(seed, 1, (x / 20 + 100 * (y / 20)) as u64);
                floor.push(lit * (0.9 + 0.2 * tile));
            }
        }
        let noise = (0..4 * WIDTH * HEIGHT)
            .map(|i| {
                (0..4)
                    .map(|k| unit(seed, 2 + k, i as u64) - 0.5)
                    .sum::<f32>()
                    / 0.577
                    * 2.5
            })
            .collect();
        Self {
            seed,
            fps: 30.0,
            brightness,
            has_visitor: true,
            disturbance,
            ends_secs: f32::INFINITY,
            floor,
            noise,
        }
    }

    pub(super) fn random(&self, purpose: u64, number: u64) -> f32 {
        unit(self.seed, 100 + purpose, number)
    }

    /// Returns the position of the visitor in pixels. The visitor comes in from the left after 3 s, walks about, and stands
    /// still from time to time.
    fn visitor_px(&self, secs: f32) -> Vec2 {
        let walked = secs - 0.8 * (secs * TAU / 12.0).sin() * 12.0 / TAU;
        let phase = TAU * self.random(1, 0);
        let there = Vec2::new(
            80.0 + 55.0 * (0.21 * walked + phase).sin(),
            60.0 + 38.0 * (0.33 * walked + 2.0 * phase).sin(),
        );
        let outside = Vec2::new(-30.0, 60.0);
        outside.lerp(there, ((secs - 3.0) / 3.0).clamp(0.0, 1.0))
    }

    /// Writes the levels at a time.
    fn draw(&self, number: u64, secs: f32, to: &mut Vec<u8>) {
        let visitor = self.has_visitor.then(|| self.visitor_px(secs));
        let mut light: Vec<f32> = self.floor.iter().map(|lit| lit * self.brightness).collect();
        if let Some(center) = visitor {
            shade(&mut light, center, VISITOR_M * PX_PER_M);
        }
        if secs < self.ends_secs {
            self.disturb(number, secs, visitor, &mut light);
        }
        let start = (self.random(2, number) * 3.0 * (WIDTH * HEIGHT) as f32) as usize;
        to.clear();
        let noise = &self.noise[start..];
        to.extend(
            light
                .iter()
                .zip(noise)
                .map(|(level, noise)| (level + 4.0 + noise).round().clamp(0.0, 255.0) as u8),
        );
    }

    #[expect(clippy::too_many_lines, reason = "one arm per kind of disturbance")]
    fn disturb(&self, number: u64, secs: f32, visitor: Option<Vec2>, light: &mut [f32]) {
        let sway = |amplitude: f32| {
            let slow = 0.6 + 0.4 * self.random(3, 0);
            amplitude * (TAU * slow * secs).sin() + 0.45 * amplitude * (TAU * 0.31 * secs).sin()
        };
        let home = 25.0 + 70.0 * self.random(4, 0);
        let slope = 0.6 * self.random(5, 0) - 0.3;
        match self.disturbance {
            Disturbance::None => {}
            Disturbance::Strand(amplitude, width, bright) => {
                for y in 5..90 {
                    let wave = amplitude / 3.0 * (y as f32 / 10.0 + 3.0 * secs).sin();
                    let left = home + sway(amplitude) + slope * y as f32 + wave;
                    cover(light, y, left, width, |_| bright);
                }
            }
            Disturbance::Web => {
                for thread in 0..6 {
                    let angle = TAU * self.random(6, thread);
                    let along = Vec2::from_angle(angle);
                    for step in 0..80 {
                        let out = step as f32 * 0.5 * along;
                        let moved =
                            Vec2::new(sway(4.0), sway(2.5)) * (0.4 + 0.6 * self.random(7, thread));
                        spot(
                            light,
                            Vec2::new(home + 20.0, 45.0) + out + moved,
                            1.3,
                            |l| l.max(90.0) + 70.0,
                        );
                    }
                }
            }
            Disturbance::Tinsel => {
                for glint in 0..45 {
                    let y = 5 + 2 * glint;
                    let shine = (TAU
                        * (secs * (1.0 + 2.0 * self.random(8, glint)) + self.random(9, glint)))
                    .sin();
                    let left = home + sway(6.0) + slope * y as f32;
                    if shine > 0.0 {
                        let at = Vec2::new(left, y as f32);
                        spot(light, at, 2.2, |l| l.max(60.0 + 190.0 * shine));
                    }
                }
            }
            Disturbance::Insect => {
                let phase = (secs / 9.0 + self.random(10, 0)).fract();
                if phase < 0.75 {
                    let walked = secs + 1.5 * (1.7 * secs).sin();
                    let at = Vec2::new(
                        home + 20.0 + 22.0 * (0.5 * walked).sin(),
                        50.0 + 25.0 * (0.37 * walked).cos(),
                    );
                    spot(light, at, 7.0, |l| l.max(200.0));
                    for leg in 0..4 {
                        let out = Vec2::from_angle(TAU * leg as f32 / 4.0 + secs) * 9.0;
                        spot(light, at + out, 1.5, |l| l.max(170.0));
                    }
                }
            }
            Disturbance::Cable => {
                for y in 0..HEIGHT {
                    let swing = 10.0 * (TAU * (0.25 + 0.3 * self.random(11, 0)) * secs).sin();
                    let left = home + swing * (0.3 + y as f32 / 120.0) + slope * y as f32;
                    cover(light, y, left - 2.0, 2.0, |l| 0.75 * l);
                    cover(light, y, left, 4.0, |_| 220.0);
                    cover(light, y, left + 4.0, 2.0, |l| 0.75 * l);
                }
            }
            Disturbance::Bands(depth, count, per_sec) => {
                for y in 0..HEIGHT {
                    let phase =
                        count * y as f32 / HEIGHT as f32 - per_sec * secs + self.random(12, 0);
                    let factor = 1.0 + depth * (TAU * phase).sin();
                    light[y * WIDTH..(y + 1) * WIDTH]
                        .iter_mut()
                        .for_each(|l| *l *= factor);
                }
            }
            Disturbance::Flashes => {
                let period = (1.7 * self.fps as f32) as u64;
                let (flash, since) = (number / period, number % period);
                if since < 1 + u64::from(self.random(13, flash) > 0.5) {
                    let center = Vec2::new(
                        160.0 * self.random(14, flash),
                        120.0 * self.random(15, flash),
                    );
                    let reach = 20.0 + 60.0 * self.random(16, flash);
                    let power = 1.0 + 2.5 * self.random(17, flash);
                    add_light(light, self.brightness * power, |at| {
                        (-(at - center).length_squared() / (reach * reach)).exp()
                    });
                }
            }
            Disturbance::Headlights(width, period, angle) => {
                let along = Vec2::from_angle(TAU * angle);
                let way = (secs / period).fract() * 1.5;
                let center = Vec2::new(80.0, 60.0) + along * (280.0 * way - 140.0);
                if secs > 3.0 && way < 1.0 {
                    add_light(light, 0.9 * self.brightness, |at| {
                        let off = (at - center).dot(along) / width;
                        (-off * off).exp()
                    });
                }
            }
            Disturbance::Door => {
                let phase = (secs + 6.0 * self.random(18, 0)) % 40.0;
                let open =
                    ((phase - 5.0) / 1.2).clamp(0.0, 1.0) - ((phase - 32.0) / 1.2).clamp(0.0, 1.0);
                let reach = 50.0 + 60.0 * self.random(19, 0);
                let mut sun = self.brightness * 1.1 * open;
                // The light of the door has another direction: the visitor's body keeps a part of it away.
                if let Some(center) = visitor {
                    let before: Vec<f32> = light.to_vec();
                    add_light(light, sun, |at| (-at.x / reach).exp());
                    let body = center + Vec2::new(6.0, 0.0);
                    for (i, l) in light.iter_mut().enumerate() {
                        if pixel(i).distance(body) < 5.0 {
                            *l = before[i];
                        }
                    }
                    sun = 0.0;
                }
                add_light(light, sun, |at| (-at.x / reach).exp());
            }
            Disturbance::Leaves => {
                let cloud = (0.5 + 0.8 * (TAU * secs / 23.0 + TAU * self.random(20, 0)).sin())
                    .clamp(0.0, 1.0);
                for leaf in 0..14 {
                    let rest = Vec2::new(
                        50.0 + 100.0 * self.random(21, leaf),
                        10.0 + 70.0 * self.random(22, leaf),
                    );
                    let beat = 0.3 + 0.9 * self.random(23, leaf);
                    let wind = Vec2::new(
                        (TAU * beat * secs).sin(),
                        (TAU * 0.7 * beat * secs + 1.0).cos(),
                    ) * 7.0;
                    let (center, reach) = (rest + wind, 4.0 + 5.0 * self.random(24, leaf));
                    add_light(light, 75.0 * cloud, |at| {
                        ((reach + 1.5 - at.distance(center)) / 3.0).clamp(0.0, 1.0)
                    });
                }
            }
            Disturbance::Specks(count, speed) => {
                for speck in 0..count as u64 {
                    let life = 8.0 / (0.5 + self.random(25, speck));
                    let age = secs / life + self.random(26, speck);
                    let (turn, age) = (age.floor() as u64, age.fract());
                    let from = Vec2::new(
                        160.0 * self.random(27 + turn, speck),
                        120.0 * self.random(57 + turn, speck),
                    );
                    let along = Vec2::from_angle(TAU * self.random(87 + turn, speck));
                    let at = from + along * speed * life * age;
                    let bright = 60.0 + 130.0 * self.random(120, speck);
                    spot(light, at, 1.0 + 2.0 * self.random(121, speck), |l| {
                        l + bright
                    });
                }
            }
        }
    }

    /// Tracks the scene for `secs`.
    pub(super) fn run(&self, secs: f64) -> (Outcome, Vision) {
        let surface = Surface::default();
        let view = FloorView {
            map: FloorFromCamera::whole_frame(WIDTH as u32, HEIGHT as u32, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        let mut vision = Vision::new(&VisionParams::default(), view);
        let mut levels = Vec::new();
        let (mut outcome, mut lost_secs, mut ids) = (Outcome::default(), 0.0_f64, Vec::new());
        for number in 0..(secs * self.fps) as u64 {
            let time_secs = number as f64 / self.fps;
            self.draw(number, time_secs as f32, &mut levels);
            let frame = Frame {
                width_px: WIDTH as u32,
                height_px: HEIGHT as u32,
                sequence: number,
                time_secs,
                luma: Luma::U8(levels.clone()),
            };
            let visitor_px = self.visitor_px(time_secs as f32);
            let visitor_m = (visitor_px + 0.5) / PX_PER_M - Vec2::new(2.0, 1.5);
            let tracks = vision.observe(&frame);
            let is_visitor = |at: Vec2| self.has_visitor && at.distance(visitor_m) < 0.45;
            outcome.frames += 1;
            let has_false = tracks.iter().any(|track| !is_visitor(track.centroid_m));
            outcome.with_false += u32::from(has_false);
            if has_false {
                let first = outcome.false_secs.map_or(time_secs, |(first, _)| first);
                outcome.false_secs = Some((first, time_secs));
            }
            if self.has_visitor && time_secs > 6.5 {
                let own = tracks.iter().find(|track| is_visitor(track.centroid_m));
                outcome.with_visitor += 1;
                outcome.found += u32::from(own.is_some());
                lost_secs = if own.is_some() {
                    0.0
                } else {
                    lost_secs + 1.0 / self.fps
                };
                outcome.longest_lost_secs = outcome.longest_lost_secs.max(lost_secs);
                ids.extend(own.map(|track| track.id).filter(|id| !ids.contains(id)));
            }
        }
        outcome.ids = ids.len();
        (outcome, vision)
    }
}

pub(super) fn pixel(index: usize) -> Vec2 {
    Vec2::new((index % WIDTH) as f32, (index / WIDTH) as f32)
}

/// Darkens the floor in a circle with soft edges.
fn shade(light: &mut [f32], center: Vec2, radius: f32) {
    for (i, l) in light.iter_mut().enumerate() {
        let covered = ((radius + 1.0 - pixel(i).distance(center)) / 2.0).clamp(0.0, 1.0);
        *l *= 1.0 - 0.9 * covered;
    }
}

/// Changes the pixels of a row from column `left` on.
fn cover(light: &mut [f32], y: usize, left: f32, width: f32, level: impl Fn(f32) -> f32) {
    for x in (left.round() as i32)..(left.round() as i32 + width as i32) {
        if (0..WIDTH as i32).contains(&x) {
            let at = &mut light[y * WIDTH + x as usize];
            *at = level(*at);
        }
    }
}

/// Changes the pixels in a disc.
fn spot(light: &mut [f32], center: Vec2, radius: f32, level: impl Fn(f32) -> f32) {
    let (from, to) = (center - radius, center + radius);
    for y in from.y.ceil() as i32..=to.y.floor() as i32 {
        for x in from.x.ceil() as i32..=to.x.floor() as i32 {
            let inside = (0..WIDTH as i32).contains(&x) && (0..HEIGHT as i32).contains(&y);
            if inside && Vec2::new(x as f32, y as f32).distance(center) <= radius {
                let at = &mut light[y as usize * WIDTH + x as usize];
                *at = level(*at);
            }
        }
    }
}

/// Adds light of this brightness times `share` of a place.
fn add_light(light: &mut [f32], brightness: f32, share: impl Fn(Vec2) -> f32) {
    if brightness > 0.0 {
        for (i, l) in light.iter_mut().enumerate() {
            *l += brightness * share(pixel(i));
        }
    }
}
