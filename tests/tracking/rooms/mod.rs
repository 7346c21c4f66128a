//! A small rendered room for tests. An infrared camera with a distorting wide lens sees a lit floor with texture. Discs, poles
//! and a technician are on the floor. The geometry is computed without code of the library, so that the tests also find errors
//! in that code.

mod camera;
mod shadows;
mod watched;
mod wired;

use glam::{DVec2, DVec3};
use shoal::camera::{Frame, Luma};

pub(crate) use camera::{Camera, grid};
pub(crate) use shadows::{SHADOW_FPS, ShadowRoom};
pub(crate) use watched::{Walker, WatchedRoom, calibrated_view};
pub(crate) use wired::{Wired, error};

/// A room with its camera.
pub(crate) struct Room {
    /// Frames per second.
    pub(crate) fps: f64,
    pub(crate) camera: Camera,
    pub(crate) lamp_m: DVec3,
    /// Floor point of every pixel, in meters, and gray level of the empty floor at this point.
    pub(crate) floor: Vec<(DVec2, f64)>,
    /// Objects and people on the floor.
    pub(crate) things: Vec<Thing>,
    /// Factor by which the brightness of the frame is multiplied.
    pub(crate) gain: f64,
    /// Light of other sources, as the level that it adds at a floor point. A shadow of the lamp does not take it away.
    pub(crate) other_light: Option<OtherLight>,
    /// Shift of the frame in pixels. It simulates a camera that was moved.
    pub(crate) bump_px: (i32, i32),
    frames: u64,
    random: u64,
}

/// Light of other sources than the lamp: the level that it adds at a floor point.
pub(crate) type OtherLight = Box<dyn Fn(DVec2) -> f64>;

/// Share of the light of other sources that a body before the floor does not send to the camera.
const BODY_DARKNESS: f64 = 0.7;

/// A dark object or a person.
#[derive(Clone, Copy)]
pub(crate) enum Thing {
    Disc {
        at_m: DVec2,
        radius_m: f64,
    },
    /// A disc that floats above the floor, such as an umbrella.
    Canopy {
        at_m: DVec2,
        radius_m: f64,
        height_m: f64,
    },
    /// A flat rectangle that is darker than the floor by this share: half of its sides, and the angle of its first side.
    Patch {
        at_m: DVec2,
        half_m: DVec2,
        turn_rad: f64,
        darkness: f64,
    },
    Pole {
        at_m: DVec2,
        radius_m: f64,
        height_m: f64,
    },
    Walker(Walker),
}

impl Thing {
    /// Returns a disc with a diameter of 0.3 m.
    pub(crate) fn disc(at_m: DVec2) -> Self {
        Self::Disc {
            at_m,
            radius_m: 0.15,
        }
    }

    pub(crate) fn pole(at_m: DVec2) -> Self {
        Self::Pole {
            at_m,
            radius_m: 0.035,
            height_m: 1.1,
        }
    }

    /// Returns a standing person, drawn as one thick pole.
    pub(crate) fn person(at_m: DVec2) -> Self {
        Self::Pole {
            at_m,
            radius_m: 0.2,
            height_m: 1.75,
        }
    }
}

impl Room {
    /// Creates a room with this camera.
    pub(crate) fn new(camera: Camera) -> Self {
        let mut room = Self {
            fps: 15.0,
            camera,
            lamp_m: DVec3::new(-1.3, 3.9, -0.6),
            floor: Vec::new(),
            things: Vec::new(),
            gain: 1.0,
            other_light: None,
            bump_px: (0, 0),
            frames: 0,
            random: 88_172_645_463_325_252,
        };
        room.draw_floor();
        room
    }

    /// Computes the empty floor again, for another lamp.
    pub(crate) fn draw_floor(&mut self) {
        let (width, height) = self.camera.size_px;
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        self.floor = pixels
            .map(|(x, y)| {
                let at = self
                    .camera
                    .floor_from_pixel(DVec2::new(f64::from(x), f64::from(y)));
                (at, self.level(at))
            })
            .collect();
    }

    /// Returns the gray level of the empty floor at a point. It depends on the distance to the lamp, on the brightness of the
    /// tile and on the joints between the tiles.
    fn level(&self, at_m: DVec2) -> f64 {
        let to_lamp = DVec3::new(at_m.x, 0.0, at_m.y).distance(self.lamp_m);
        let lit = (self.lamp_m.y / to_lamp).powi(3);
        let tile = (at_m / 0.43).floor();
        let random = (tile.x * 12.9898 + tile.y * 78.233).sin() * 43758.547;
        let albedo = 0.7 + 0.3 * (random - random.floor());
        let joint = (at_m / 0.43 - tile - 0.5).abs().max_element() > 0.485;
        8.0 + 170.0 * lit * albedo * if joint { 0.85 } else { 1.0 }
    }

    /// Returns the share of the light (0 to 1) that things take away at a floor point: of the lamp by shadows and bodies, and by
    /// bodies only.
    fn darkness(&self, at_m: DVec2, pixel_m: f64) -> [f64; 2] {
        let cover =
            |distance: f64, radius: f64| ((radius - distance) / pixel_m + 0.5).clamp(0.0, 1.0);
        let sources = [self.lamp_m, self.camera.eye_m];
        let mut dark = [0.0_f64; 2];
        for thing in &self.things {
            match thing {
                &Thing::Disc {
                    at_m: disc,
                    radius_m,
                } => {
                    let covered = 0.9 * cover(at_m.distance(disc), radius_m);
                    dark = dark.map(|dark| dark.max(covered));
                }
                &Thing::Patch {
                    at_m: middle,
                    half_m,
                    turn_rad,
                    darkness,
                } => {
                    let off = DVec2::from_angle(-turn_rad).rotate(at_m - middle).abs() - half_m;
                    let covered = darkness * cover(off.max_element(), 0.0);
                    dark = dark.map(|dark| dark.max(covered));
                }
                &Thing::Canopy {
                    at_m: middle,
                    radius_m,
                    height_m,
                } => {
                    for (source, dark) in sources.iter().zip(&mut dark) {
                        let below = DVec2::new(source.x, source.z);
                        let wider = source.y / (source.y - height_m);
                        let seen = below + (middle - below) * wider;
                        *dark = dark.max(0.9 * cover(at_m.distance(seen), radius_m * wider));
                    }
                }
                &Thing::Pole {
                    at_m: foot,
                    radius_m,
                    height_m,
                } => {
                    for (source, dark) in sources.iter().zip(&mut dark) {
                        let below = DVec2::new(source.x, source.z);
                        let tip = below + (foot - below) * (source.y / (source.y - height_m));
                        let along = tip - foot;
                        let t = ((at_m - foot).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                        let wider = 1.0 + t * height_m / (source.y - height_m);
                        let distance = at_m.distance(foot + along * t);
                        *dark = dark.max(0.9 * cover(distance, radius_m * wider));
                    }
                }
                Thing::Walker(walker) => {
                    for (source, dark) in sources.iter().zip(&mut dark) {
                        let inside_m = walker.inside_m(at_m, *source);
                        *dark = dark.max(0.9 * cover(-inside_m, 0.0));
                    }
                }
            }
        }
        let [shadow, body] = dark;
        [shadow.max(body), body]
    }

    /// Renders the next camera frame.
    pub(crate) fn frame(&mut self) -> Frame {
        let (width_px, height_px) = self.camera.size_px;
        let (width, height) = (width_px as i32, height_px as i32);
        let mut levels = Vec::with_capacity(self.floor.len());
        for y in 0..height {
            for x in 0..width {
                let (u, v) = (x - self.bump_px.0, y - self.bump_px.1);
                let (u, v) = (u.clamp(0, width - 1), v.clamp(0, height - 1));
                let index = (v * width + u) as usize;
                let (at_m, lit) = self.floor[index];
                let beside = if u > 0 { index - 1 } else { index + 1 };
                let pixel_m = self.floor[beside].0.distance(at_m);
                let [dark, body] = self.darkness(at_m, pixel_m);
                let noise = self.normal() * 2.0;
                let added = (self.other_light.as_ref()).map_or(0.0, |light| light(at_m));
                let level = lit * (1.0 - dark) + added * (1.0 - BODY_DARKNESS * body);
                levels.push((level * self.gain + noise).clamp(0.0, 255.0) as u8);
            }
        }
        let frame = Frame {
            sequence: self.frames,
            time_secs: self.frames as f64 / self.fps,
            width_px,
            height_px,
            luma: Luma::U8(levels),
        };
        self.frames += 1;
        frame
    }

    /// Returns an approximately normal random number, the sum of four uniform random numbers.
    fn normal(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let sum: u64 = (0..4).map(|i| self.random >> (16 * i) & 0xffff).sum();
        (sum as f64 / 65536.0 - 2.0) * 1.73
    }
}
