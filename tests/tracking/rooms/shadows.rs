//! A floor with round shadows whose true positions are known.

use glam::DVec2;
use shoal::camera::{Frame, Luma};
use shoal::geometry::{FloorFromCamera, Surface, Visitor};
use shoal::vision::{FloorView, Vision, VisionParams};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;
/// Frames per second of the camera.
pub(crate) const SHADOW_FPS: f64 = 10.0;

/// A synthetic floor of 4 × 3 m with round shadows. The camera sees it from straight above.
pub(crate) struct ShadowRoom {
    pub(crate) vision: Vision,
    pub(crate) frame: Frame,
    /// Factor of the brightness of the lamp.
    pub(crate) light: f32,
}

impl ShadowRoom {
    pub(crate) fn new() -> Self {
        Self::with(&VisionParams::default())
    }

    pub(crate) fn with(params: &VisionParams) -> Self {
        let surface = Surface::default();
        let view = FloorView {
            map: FloorFromCamera::whole_frame(WIDTH, HEIGHT, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        Self {
            vision: Vision::new(params, view),
            frame: Frame {
                width_px: WIDTH,
                height_px: HEIGHT,
                luma: Luma::U8(vec![0; (WIDTH * HEIGHT) as usize]),
                ..Frame::default()
            },
            light: 1.0,
        }
    }

    /// Draws the next frame with shadows of these centers and radii (in meters). Returns the tracks that vision finds in it.
    pub(crate) fn show(&mut self, shadows: &[(DVec2, f64)]) -> Vec<Visitor> {
        self.draw(shadows);
        let tracks = self.vision.observe(&self.frame).to_vec();
        self.frame.sequence += 1;
        self.frame.time_secs = self.frame.sequence as f64 / SHADOW_FPS;
        tracks
    }

    pub(crate) fn draw(&mut self, shadows: &[(DVec2, f64)]) {
        let (light, sequence) = (self.light, self.frame.sequence);
        let Luma::U8(levels) = &mut self.frame.luma else {
            panic!("draw writes 8-bit levels");
        };
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let at = DVec2::new(
                    (f64::from(x) + 0.5) / f64::from(WIDTH) * 4.0 - 2.0,
                    (f64::from(y) + 0.5) / f64::from(HEIGHT) * 3.0 - 1.5,
                );
                let floor = 150.0 - 15.0 * at.length_squared() as f32;
                let dark = shadows
                    .iter()
                    .any(|(center, radius)| at.distance(*center) < *radius);
                let lit = if dark { 0.1 * floor } else { floor } * light;
                levels[(y * WIDTH + x) as usize] =
                    (lit + noise(sequence, x, y)).clamp(0.0, 255.0) as u8;
            }
        }
    }
}

/// Returns approximately normal noise with a standard deviation of 2 gray levels.
fn noise(sequence: u64, x: u32, y: u32) -> f32 {
    let mut mixed = sequence << 40 ^ u64::from(x) << 20 ^ u64::from(y);
    let mut sum = 0.0;
    for _ in 0..3 {
        mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1;
        sum += (mixed >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
    }
    sum * 4.0
}
