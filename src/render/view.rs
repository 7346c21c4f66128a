//! The mapping from the world through the surface to the picture, and through the warp to an output's pixels.
//!
//! The eye (the assumed position of the viewer) is on the y axis above the center of the surface, and the surface exactly fills
//! the picture. The shaders compute the same mapping on the GPU; tests/picture compares both.

use glam::{DVec2, Vec2, Vec3};

use super::error::RenderError;
use super::output_params::OutputParams;
use super::warp::Warp;
use crate::geometry::Surface;

/// The mapping from the world to the pixels of one output.
#[derive(Clone, Debug)]
pub struct View {
    /// The surface that fills the picture.
    pub surface: Surface,
    /// The mapping from the surface's picture to the output's picture.
    pub warp: Warp,
    /// Width and height of the output, in pixels.
    pub size_px: [u32; 2],
}

impl View {
    /// Creates the mapping of an output.
    ///
    /// # Errors
    /// [`RenderError::Output`] if the output's parameters describe no valid warp.
    pub fn new(surface: &Surface, output: &OutputParams) -> Result<Self, RenderError> {
        let size_px = [output.width_px, output.height_px];
        Ok(Self {
            surface: surface.clone(),
            warp: Warp::new(surface, output, size_px)?,
            size_px,
        })
    }

    /// Position of a floor point in the picture, as shares of its width and height.
    pub fn picture_from_floor(&self, floor: Vec2) -> Vec2 {
        floor / (2.0 * self.surface.half_extent_m()) + 0.5
    }

    /// Position of a floor point on the output, in pixels; pixel (i, j) covers i..i+1 × j..j+1.
    pub fn pixel_from_floor(&self, floor: Vec2) -> Vec2 {
        let picture = self.picture_from_floor(floor).as_dvec2();
        let output = self.warp.output_from_picture(picture);
        (output * DVec2::new(f64::from(self.size_px[0]), f64::from(self.size_px[1]))).as_vec2()
    }

    /// Position of a world point on the output, in pixels.
    pub fn pixel_from_world(&self, world: Vec3) -> Vec2 {
        self.pixel_from_floor(self.surface.floor_from_world(world))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::output_params::{Corner, Corners};

    #[test]
    fn points_of_the_surface_map_to_their_pixels() {
        let surface = Surface::default();
        let output = OutputParams {
            width_px: 640,
            height_px: 480,
            ..OutputParams::default()
        };
        let view = View::new(&surface, &output).unwrap();
        for (x, z) in [(0.0, 0.0), (-2.0, -1.5), (2.0, 1.5), (0.7, -0.3)] {
            let expected = Vec2::new((x / 4.0 + 0.5) * 640.0, (z / 3.0 + 0.5) * 480.0);
            let pixel = view.pixel_from_world(Vec3::new(x, 0.0, z));
            assert!(pixel.distance(expected) < 0.01, "{pixel} {expected}");
        }
        // Points below the surface move towards the center, by eye height / (eye height + depth).
        let below = view.pixel_from_world(Vec3::new(1.0, -1.0, 0.0));
        assert!((below.x - (0.25 / 1.25 + 0.5) * 640.0).abs() < 0.01);
    }

    #[test]
    fn corners_of_the_surface_map_to_the_keystone_corners() {
        let corner = |x, y| Corner { x, y };
        let output = OutputParams {
            width_px: 1000,
            height_px: 500,
            corners: Corners {
                top_left: corner(0.1, 0.05),
                top_right: corner(0.93, 0.0),
                bottom_right: corner(1.0, 0.96),
                bottom_left: corner(0.02, 1.0),
            },
            ..OutputParams::default()
        };
        let view = View::new(&Surface::default(), &output).unwrap();
        let at = |x: f32, z: f32| view.pixel_from_world(Vec3::new(x, 0.0, z));
        assert!(at(-2.0, -1.5).distance(Vec2::new(100.0, 25.0)) < 0.01);
        assert!(at(2.0, 1.5).distance(Vec2::new(1000.0, 480.0)) < 0.01);
        assert!(at(-2.0, 1.5).distance(Vec2::new(20.0, 500.0)) < 0.01);
        let crossed = OutputParams {
            corners: Corners {
                top_left: corner(1.0, 1.0),
                ..Corners::default()
            },
            ..output
        };
        assert!(matches!(
            View::new(&Surface::default(), &crossed),
            Err(RenderError::Output(_))
        ));
    }
}
