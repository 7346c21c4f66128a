//! Plans a set-up: what a camera at a place shows of the surface, before it is bought or mounted.
//!
//! Input: the camera and the surface. Output: plain data. The lens is a pinhole without distortion; a wide lens with barrel distortion
//! shows more at the border, with coarser pixels there. The camera looks at the middle of the surface, and the horizontal axis of its
//! picture is parallel to the width of the surface.

use glam::{DVec2, DVec3};

use super::VisionParams;

/// Floor that the body of a standing visitor hides from a camera above, in m²: shoulders of 0.45 m × 0.28 m. The shadow is not included.
const BODY_M2: f64 = 0.1;
/// Width of a leg or of the arm of a child, in meters: the narrowest part of a visitor that must stay in the foreground.
const LIMB_M: f64 = 0.1;
/// Size of the pixels on the floor of the rendered test scenes, in meters. Tracking is known to be good with it.
const GOOD_PIXEL_M: f64 = 0.02;
/// Number of points in each direction at which the surface is judged.
const GRID: usize = 41;
/// Largest lens and height that are proposed, in degrees and meters.
const LARGEST: (f64, f64) = (150.0, 50.0);
/// Number of halvings of a range. The result is exact to less than 0.1 mm.
const HALVINGS: usize = 24;

/// A camera above the surface that looks at its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedCamera {
    /// Width and height of the pictures, in pixels.
    pub size_px: (u32, u32),
    /// Horizontal angle of view of the lens, in degrees.
    pub lens_deg: f64,
    /// Position, in meters from the middle of the surface; y is the height.
    pub at_m: DVec3,
}

/// What the camera shows of a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedView {
    /// Size of a pixel on the floor in the middle of the surface, in meters.
    pub middle_pixel_m: f64,
    /// Largest size of a pixel on the surface, in meters.
    pub largest_pixel_m: f64,
    /// How well the pixels resolve a visitor.
    pub resolution: Resolution,
    /// Pixels that a standing visitor covers where the pixels are largest, without the shadow.
    pub visitor_px: f64,
    /// Share of the surface outside the picture, from 0 to 1.
    pub unseen_share: f64,
    /// Share of the surface where the picture cuts off the head of a standing visitor, from 0 to 1. It includes the unseen share.
    pub headless_share: f64,
    /// Corners of the surface: position (x, z) in meters, and how the camera sees them.
    pub corners: [(DVec2, Seen); 4],
    /// Largest surface of the same shape in whose corners visitors are seen from head to foot, in meters. `None` if there is none.
    pub largest_m: Option<DVec2>,
    /// Height at which the camera sees visitors from head to foot on the whole surface, in meters. `None` if it does now, or if no height
    /// is enough.
    pub needed_height_m: Option<f64>,
    /// Angle of view of the lens with which it does, in degrees. `None` if it does now, or if no lens is enough.
    pub needed_lens_deg: Option<f64>,
    /// Width of the pictures for good pixels, in pixels.
    pub needed_width_px: f64,
}

/// How a place on the surface is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A standing visitor is in the picture from head to foot.
    Whole,
    /// The floor is in the picture, the head of a standing visitor is not.
    Headless,
    /// The floor is outside the picture.
    Not,
}

/// How well the largest pixels on the surface resolve a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// As fine as in the test scenes.
    Good,
    /// Legs and small children may be lost.
    Coarse,
    /// Legs and arms are narrower than what counts as noise.
    TooCoarse,
}

impl PlannedCamera {
    /// Returns what the camera shows of a surface of this width and height, on which visitors of the height `visitor_m` stand. `visitor_m`
    /// must be below the camera.
    pub fn view(&self, surface_m: DVec2, visitor_m: f64) -> PlannedView {
        let half_m = surface_m / 2.0;
        let step = |i: usize| 2.0 * i as f64 / (GRID - 1) as f64 - 1.0;
        let points =
            (0..GRID).flat_map(|z| (0..GRID).map(move |x| DVec2::new(step(x), step(z)) * half_m));
        let (mut largest_pixel_m, mut unseen, mut headless) = (0.0_f64, 0, 0);
        for at_m in points {
            let seen = self.seen(at_m, visitor_m);
            unseen += usize::from(seen == Seen::Not);
            headless += usize::from(seen != Seen::Whole);
            if seen != Seen::Not {
                largest_pixel_m = largest_pixel_m.max(self.pixel_m(at_m));
            }
        }
        let share = |count: usize| count as f64 / (GRID * GRID) as f64;
        let corners = corners_of(half_m).map(|at_m| (at_m, self.seen(at_m, visitor_m)));
        let sees_all = |camera: Self| camera.sees_whole(half_m, visitor_m);
        let at_height = |y: f64| Self {
            at_m: self.at_m.with_y(y),
            ..*self
        };
        let with_lens = |lens_deg: f64| Self { lens_deg, ..*self };
        let needs_more = !sees_all(*self);
        let needed = |from: f64, to: f64, is_enough: &dyn Fn(f64) -> bool| {
            (needs_more && from < to && is_enough(to)).then(|| boundary(from, to, is_enough))
        };
        let is_too_large = |scale: f64| !self.sees_whole(scale * half_m, visitor_m);
        let largest = (!is_too_large(1e-3)).then(|| boundary(1e-3, 1e3, &is_too_large));
        PlannedView {
            middle_pixel_m: self.pixel_m(DVec2::ZERO),
            largest_pixel_m,
            resolution: resolution_of(largest_pixel_m),
            visitor_px: BODY_M2 / (largest_pixel_m * largest_pixel_m),
            unseen_share: share(unseen),
            headless_share: share(headless),
            corners,
            largest_m: largest.map(|scale| scale * surface_m),
            needed_height_m: needed(self.at_m.y, LARGEST.1, &|y| sees_all(at_height(y))),
            needed_lens_deg: needed(self.lens_deg, LARGEST.0, &|deg| sees_all(with_lens(deg))),
            needed_width_px: f64::from(self.size_px.0) * largest_pixel_m / GOOD_PIXEL_M,
        }
    }

    /// Returns the floor in the middle of the picture's height from border to border, and the same for its width, in meters.
    pub fn floor_m(&self) -> DVec2 {
        let size_px = DVec2::new(self.size_px.0.into(), self.size_px.1.into());
        size_px * self.pixel_m(DVec2::ZERO)
    }

    fn seen(&self, at_m: DVec2, visitor_m: f64) -> Seen {
        let is_seen = |y: f64| {
            let size_px = DVec2::new(self.size_px.0.into(), self.size_px.1.into());
            let shown = self.pixel(DVec3::new(at_m.x, y, at_m.y));
            shown.is_some_and(|px| px.abs().cmple(size_px / 2.0).all())
        };
        match (is_seen(0.0), is_seen(visitor_m)) {
            (false, _) => Seen::Not,
            (true, false) => Seen::Headless,
            (true, true) => Seen::Whole,
        }
    }

    /// Returns whether visitors in all corners are seen from head to foot. Then they are everywhere: a picture shows a convex part of
    /// every level above the floor.
    fn sees_whole(&self, half_m: DVec2, visitor_m: f64) -> bool {
        (corners_of(half_m).into_iter()).all(|at_m| self.seen(at_m, visitor_m) == Seen::Whole)
    }

    /// Returns the pixel that shows a point, from the middle of the picture; `None` for a point that is not in front of the camera.
    fn pixel(&self, point_m: DVec3) -> Option<DVec2> {
        let ahead = (-self.at_m).normalize_or(DVec3::NEG_Y);
        let right = DVec3::X
            .reject_from_normalized(ahead)
            .normalize_or(DVec3::X);
        let down = ahead.cross(right);
        let offset_m = point_m - self.at_m;
        let depth_m = offset_m.dot(ahead);
        let focal_px = f64::from(self.size_px.0) / 2.0 / (self.lens_deg.to_radians() / 2.0).tan();
        let sideways_m = DVec2::new(offset_m.dot(right), offset_m.dot(down));
        (depth_m > 0.0).then(|| sideways_m * (focal_px / depth_m))
    }

    /// Returns the size of a pixel on the floor: the square root of its area, in meters.
    fn pixel_m(&self, at_m: DVec2) -> f64 {
        const STEP_M: f64 = 1e-3;
        let shown = |x: f64, z: f64| self.pixel(DVec3::new(at_m.x + x, 0.0, at_m.y + z));
        let moved = [shown(0.0, 0.0), shown(STEP_M, 0.0), shown(0.0, STEP_M)];
        let [Some(at), Some(across), Some(along)] = moved else {
            return f64::INFINITY;
        };
        let area_px = (across - at).perp_dot(along - at).abs();
        STEP_M / area_px.sqrt()
    }
}

fn corners_of(half_m: DVec2) -> [DVec2; 4] {
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| DVec2::new(x, z) * half_m)
}

/// Judges the size of the pixels. A part that is narrower than what the opening of the foreground removes as noise is lost.
fn resolution_of(pixel_m: f64) -> Resolution {
    let narrowest_px = 2 * VisionParams::default().open_px + 1;
    if pixel_m <= GOOD_PIXEL_M {
        Resolution::Good
    } else if pixel_m * f64::from(narrowest_px) <= LIMB_M {
        Resolution::Coarse
    } else {
        Resolution::TooCoarse
    }
}

/// Returns the smallest value from which a condition is met, within a range at whose end it is.
fn boundary(from: f64, to: f64, is_met: &dyn Fn(f64) -> bool) -> f64 {
    let (mut below, mut met) = (from, to);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(below, met);
        if is_met(middle) {
            met = middle;
        } else {
            below = middle;
        }
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURFACE_M: DVec2 = DVec2::new(4.0, 3.0);

    fn above(height_m: f64, lens_deg: f64) -> PlannedCamera {
        PlannedCamera {
            size_px: (640, 480),
            lens_deg,
            at_m: DVec3::new(0.0, height_m, 0.0),
        }
    }

    #[test]
    fn a_camera_above_the_middle_sees_what_the_rule_of_three_says() {
        // A lens of 90° shows as much to each side as the camera is high.
        let view = above(4.0, 90.0).view(SURFACE_M, 1.8);
        assert!((above(4.0, 90.0).floor_m() - DVec2::new(8.0, 6.0)).length() < 1e-3);
        assert!((view.middle_pixel_m - 8.0 / 640.0).abs() < 1e-6);
        assert!((view.largest_pixel_m - view.middle_pixel_m).abs() < 1e-6);
        assert!((view.visitor_px - 640.0).abs() < 0.1, "{}", view.visitor_px);
        assert_eq!((view.unseen_share, view.headless_share), (0.0, 0.0));
        assert_eq!((view.needed_height_m, view.needed_lens_deg), (None, None));
        // At 1.8 m it shows 2.2 m to each side.
        let largest_m = view.largest_m.unwrap();
        assert!(
            (largest_m - DVec2::new(4.4, 3.3)).length() < 1e-3,
            "{largest_m}"
        );
        assert_eq!(view.resolution, Resolution::Good);
    }

    #[test]
    fn heads_leave_the_picture_before_the_floor_does_and_the_proposals_are_enough() {
        let camera = above(3.0, 80.0);
        let view = camera.view(SURFACE_M, 1.8);
        assert!(view.corners.iter().all(|(_, seen)| *seen == Seen::Headless));
        assert_eq!(view.unseen_share, 0.0);
        assert!((0.4..0.8).contains(&view.headless_share), "{view:?}");
        let higher = above(view.needed_height_m.unwrap() + 0.01, 80.0);
        let wider = above(3.0, view.needed_lens_deg.unwrap() + 0.1);
        for proposal in [higher, wider] {
            assert_eq!(proposal.view(SURFACE_M, 1.8).headless_share, 0.0);
        }
        let smaller = camera.view(0.999 * view.largest_m.unwrap(), 1.8);
        assert_eq!(smaller.headless_share, 0.0);
    }

    #[test]
    fn a_camera_beside_the_surface_has_coarser_pixels_at_the_far_side_and_blind_corners_there_or_here()
     {
        let camera = PlannedCamera {
            at_m: DVec3::new(0.0, 3.0, 3.0),
            ..above(0.0, 60.0)
        };
        let view = camera.view(SURFACE_M, 1.8);
        assert!(view.largest_pixel_m > 1.2 * view.middle_pixel_m, "{view:?}");
        // The nearer corners have a positive z.
        let near = view.corners.iter().filter(|(at_m, _)| at_m.y > 0.0);
        assert!(near.clone().all(|(_, seen)| *seen == Seen::Not), "{view:?}");
    }

    #[test]
    fn few_pixels_are_coarse_and_fewer_are_too_coarse() {
        let with_width = |width: u32| PlannedCamera {
            size_px: (width, width * 3 / 4),
            ..above(4.0, 90.0)
        };
        let resolution = |width| with_width(width).view(SURFACE_M, 1.8).resolution;
        assert_eq!(resolution(320), Resolution::Coarse);
        assert_eq!(resolution(160), Resolution::TooCoarse);
        let needed_px = with_width(160).view(SURFACE_M, 1.8).needed_width_px;
        assert!((needed_px - 400.0).abs() < 0.1, "{needed_px}");
        assert_eq!(resolution(needed_px.ceil() as u32), Resolution::Good);
    }
}
