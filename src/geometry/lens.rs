//! The camera's lens and its view of the floor: maps pixels to meters and back.
//!
//! In: two coefficients of radial distortion, a homography, points. Out: points. Must not: estimate these parameters
//! (`calibration` does this), warp images.
//!
//! **Model** (Brown 1966, radial part): let `p` be an undistorted pixel relative to the frame's center, divided by half the
//! frame's diagonal. The lens maps it to `p · (1 + k1·r² + k2·r⁴)`, where `r = |p|`. The principal point is the frame's center,
//! `((width − 1) / 2, (height − 1) / 2)` with pixel centers at whole numbers; pixels are square. The frame's corners have r = 1
//! for any frame size, so `k1` and `k2` do not change when the frame is scaled. The focal length is not part of this model; it
//! is part of the homography that is applied after the lens.

use glam::{DMat3, DVec2, DVec3};

use super::{Homography, Surface};

/// Minimum slope of the radial distortion curve. From the radius at which the slope of the polynomial falls to this value, the
/// curve continues as a straight line with this slope. The curve can therefore be inverted everywhere.
const SLOPE_MIN: f64 = 0.05;

/// Radial distortion of a camera with square pixels and the principal point at the frame's center.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lens {
    width_px: u32,
    height_px: u32,
    k1: f64,
    k2: f64,
    /// Undistorted radius from which the distortion curve is a straight line. Infinite for most lenses.
    limit: f64,
}

impl Lens {
    /// Creates a lens for frames of this size. `k1` and `k2` apply to radii divided by half the frame's diagonal.
    ///
    /// Returns `None` if a coefficient is not finite or a side of the frame is 0.
    pub fn new(width_px: u32, height_px: u32, k1: f64, k2: f64) -> Option<Self> {
        (k1.is_finite() && k2.is_finite() && width_px > 0 && height_px > 0).then(|| Self {
            width_px,
            height_px,
            k1,
            k2,
            limit: straight_line_radius(k1, k2),
        })
    }

    /// Creates a lens without distortion. A side of 0 counts as 1.
    pub fn straight(width_px: u32, height_px: u32) -> Self {
        Self {
            width_px: width_px.max(1),
            height_px: height_px.max(1),
            k1: 0.0,
            k2: 0.0,
            limit: f64::INFINITY,
        }
    }

    /// Frame width, in pixels.
    pub fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Frame height, in pixels.
    pub fn height_px(&self) -> u32 {
        self.height_px
    }

    /// Distortion coefficient of r².
    pub fn k1(&self) -> f64 {
        self.k1
    }

    /// Distortion coefficient of r⁴.
    pub fn k2(&self) -> f64 {
        self.k2
    }

    /// The principal point: the frame's center.
    pub fn center_px(&self) -> DVec2 {
        DVec2::new(
            f64::from(self.width_px) - 1.0,
            f64::from(self.height_px) - 1.0,
        ) / 2.0
    }

    /// Half the frame's diagonal, in pixels: the unit of radii.
    pub fn half_diagonal_px(&self) -> f64 {
        f64::from(self.width_px).hypot(f64::from(self.height_px)) / 2.0
    }

    /// The distorted radius up to which the polynomial applies; beyond it the curve is a straight line. In units of half the
    /// diagonal: 1 is a corner of the frame. Infinite if the polynomial applies everywhere.
    pub fn trusted_radius(&self) -> f64 {
        self.distorted_radius(self.limit)
    }

    /// Returns the distorted position of an undistorted point.
    pub fn distort(&self, undistorted_px: DVec2) -> DVec2 {
        self.along_radius(undistorted_px, |r| self.distorted_radius(r))
    }

    /// Returns the undistorted position of a point in the frame: the inverse of [`Lens::distort`].
    pub fn undistort(&self, distorted_px: DVec2) -> DVec2 {
        self.along_radius(distorted_px, |r| self.undistorted_radius(r))
    }

    fn along_radius(&self, point_px: DVec2, radius: impl Fn(f64) -> f64) -> DVec2 {
        let unit = self.half_diagonal_px();
        let offset = point_px - self.center_px();
        let r = offset.length() / unit;
        if r < 1e-12 {
            return point_px;
        }
        self.center_px() + offset * (radius(r) / r)
    }

    fn distorted_radius(&self, r: f64) -> f64 {
        if r.is_infinite() {
            return r;
        }
        let inside = r.min(self.limit);
        let s = inside * inside;
        inside * (1.0 + s * (self.k1 + s * self.k2)) + SLOPE_MIN * (r - inside)
    }

    /// Inverts the radial curve by Newton's method within a bracket. The curve rises everywhere, so there is exactly one
    /// solution.
    fn undistorted_radius(&self, distorted: f64) -> f64 {
        let at_limit = self.distorted_radius(self.limit);
        if distorted >= at_limit {
            return self.limit + (distorted - at_limit) / SLOPE_MIN;
        }
        // At radii below the limit, the slope is at least SLOPE_MIN. The solution is therefore at most distorted / SLOPE_MIN.
        let (mut low, mut high) = (0.0, self.limit.min(distorted / SLOPE_MIN));
        let mut r = distorted.min(high);
        for _ in 0..80 {
            let error = self.distorted_radius(r) - distorted;
            if error.abs() <= 1e-14 * distorted {
                break;
            }
            if error > 0.0 {
                high = r;
            } else {
                low = r;
            }
            let s = r * r;
            let newton = r - error / (1.0 + s * (3.0 * self.k1 + s * 5.0 * self.k2));
            r = if newton > low && newton < high {
                newton
            } else {
                (low + high) / 2.0
            };
        }
        r
    }
}

/// Returns the smallest radius at which the slope `1 + 3·k1·r² + 5·k2·r⁴` falls to [`SLOPE_MIN`], or infinity if there is none.
fn straight_line_radius(k1: f64, k2: f64) -> f64 {
    // Solves a·s² + b·s + c = 0 for s = r², in a form that does not lose digits by cancellation: s = 2c / (−b ± √(b² − 4ac)).
    let (a, b, c) = (5.0 * k2, 3.0 * k1, 1.0 - SLOPE_MIN);
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    [2.0 * c / (-b + root), 2.0 * c / (-b - root)]
        .into_iter()
        .filter(|s| s.is_finite() && *s > 0.0)
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

/// The map from camera pixels to floor meters and back: first the lens, then a homography.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorFromCamera {
    lens: Lens,
    /// Matrix from undistorted pixels to floor meters. Its sign is chosen so that the third coordinate is positive for all
    /// pixels on the floor's side of the horizon.
    floor_from_straight: DMat3,
    /// Matrix from floor meters to undistorted pixels. Its sign is chosen so that the third coordinate is positive for all
    /// points in front of the camera.
    straight_from_floor: DMat3,
}

impl FloorFromCamera {
    /// Creates a map from a lens and the homography from undistorted pixels to floor meters.
    ///
    /// Returns `None` if the homography is not finite or not invertible, or if its inverse sends the surface's center to
    /// infinity.
    pub fn new(lens: Lens, floor_from_straight: Homography) -> Option<Self> {
        let forward = floor_from_straight.0;
        if !forward.is_finite() {
            return None;
        }
        let back = floor_from_straight.inverse()?.0;
        let middle = back * DVec3::Z;
        // The signs are chosen so that the surface's center is in front of the camera and its pixel is on the floor's side of
        // the horizon.
        let straight_from_floor = back * middle.z.signum();
        let seen = middle.truncate() / middle.z;
        let weight = (forward * seen.extend(1.0)).z;
        let floor_from_straight = forward * weight.signum();
        let usable = middle.z.abs()
            > 1e-12 * back.to_cols_array().iter().fold(0.0, |m, v| v.abs().max(m))
            && weight != 0.0
            && floor_from_straight.is_finite()
            && straight_from_floor.is_finite();
        usable.then_some(Self {
            lens,
            floor_from_straight,
            straight_from_floor,
        })
    }

    /// Creates the map for a camera without a calibration: the frame shows exactly the surface, and the frame's upper edge is
    /// the edge with the smallest z. A side of 0 counts as 1.
    pub fn whole_frame(width_px: u32, height_px: u32, surface: &Surface) -> Self {
        let lens = Lens::straight(width_px, height_px);
        let scale = DVec2::new(
            f64::from(surface.width_m) / f64::from(lens.width_px),
            f64::from(surface.height_m) / f64::from(lens.height_px),
        );
        let center = lens.center_px();
        Self {
            lens,
            floor_from_straight: DMat3::from_scale(scale) * DMat3::from_translation(-center),
            straight_from_floor: DMat3::from_translation(center) * DMat3::from_scale(scale.recip()),
        }
    }

    /// The lens.
    pub fn lens(&self) -> &Lens {
        &self.lens
    }

    /// The homography from undistorted pixels to floor meters.
    pub fn homography(&self) -> Homography {
        Homography(self.floor_from_straight)
    }

    /// Maps a pixel to the floor point that is visible there. Returns NaN for pixels on or beyond the horizon.
    pub fn floor_from_camera(&self, camera_px: DVec2) -> DVec2 {
        project(&self.floor_from_straight, self.lens.undistort(camera_px))
    }

    /// Maps a floor point to its pixel, which can be outside the frame. Returns NaN for points behind the camera.
    pub fn camera_from_floor(&self, floor_m: DVec2) -> DVec2 {
        self.lens
            .distort(project(&self.straight_from_floor, floor_m))
    }
}

fn project(map: &DMat3, point: DVec2) -> DVec2 {
    let p = *map * point.extend(1.0);
    if p.z > 0.0 {
        p.truncate() / p.z
    } else {
        DVec2::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    /// Coefficients (k1, k2) from strong barrel to strong pincushion distortion, with and without a turning point of the curve.
    const TERMS: [(f64, f64); 8] = [
        (0.0, 0.0),
        (-0.25, 0.07),
        (-0.45, 0.0),
        (-1.5, 0.3),
        (0.3, 0.0),
        (0.3, -0.4),
        (5.0, 5.0),
        (-1e6, 1e6),
    ];

    #[test]
    fn undistort_is_the_inverse_of_distort_everywhere() {
        for (k1, k2) in TERMS {
            let lens = Lens::new(640, 480, k1, k2).unwrap();
            for step in 0..400 {
                let p = DVec2::from_angle(f64::from(step)) * f64::from(step) * 5.0;
                let p = lens.center_px() + p;
                assert!(
                    lens.distort(lens.undistort(p)).distance(p) < 1e-6,
                    "{k1} {k2} {p}"
                );
                assert!(
                    lens.undistort(lens.distort(p)).distance(p) < 1e-6,
                    "{k1} {k2} {p}"
                );
            }
        }
    }

    #[test]
    fn the_radial_curve_rises_everywhere() {
        for (k1, k2) in TERMS {
            let lens = Lens::new(640, 480, k1, k2).unwrap();
            let radii: Vec<f64> = (0..500)
                .map(|i| lens.distorted_radius(f64::from(i) * 0.01))
                .collect();
            assert!(radii.windows(2).all(|w| w[1] > w[0]), "{k1} {k2}");
        }
    }

    #[test]
    fn distortion_equals_the_formula() {
        let lens = Lens::new(300, 400, -0.2, 0.1).unwrap();
        assert_eq!(lens.half_diagonal_px(), 250.0);
        assert_eq!(lens.center_px(), DVec2::new(149.5, 199.5));
        let seen = lens.distort(lens.center_px() + DVec2::new(125.0, 0.0));
        let expected = 125.0 * (1.0 - 0.2 * 0.25 + 0.1 * 0.0625);
        assert!((seen.x - 149.5 - expected).abs() < 1e-9 && seen.y == 199.5);
        assert_eq!(Lens::new(0, 400, 0.0, 0.0), None);
        assert_eq!(Lens::new(300, 400, f64::NAN, 0.0), None);
    }

    #[test]
    fn whole_frame_maps_edges_to_edges() {
        let surface = Surface::default();
        let map = FloorFromCamera::whole_frame(640, 480, &surface);
        let corner = map.floor_from_camera(DVec2::new(-0.5, -0.5));
        assert!(corner.distance(DVec2::new(-2.0, -1.5)) < 1e-12);
        let corner = map.floor_from_camera(DVec2::new(639.5, 479.5));
        assert!(corner.distance(DVec2::new(2.0, 1.5)) < 1e-12);
        let middle = map.camera_from_floor(DVec2::ZERO);
        assert!(middle.distance(DVec2::new(319.5, 239.5)) < 1e-9);
    }

    /// Returns the map of a tilted camera whose horizon is above the frame.
    fn tilted() -> FloorFromCamera {
        let corners = [
            (DVec2::new(150.0, 120.0), DVec2::new(-2.0, -1.5)),
            (DVec2::new(490.0, 115.0), DVec2::new(2.0, -1.5)),
            (DVec2::new(620.0, 440.0), DVec2::new(2.0, 1.5)),
            (DVec2::new(20.0, 450.0), DVec2::new(-2.0, 1.5)),
        ];
        let homography = Homography::from_pairs(&corners).unwrap();
        let lens = Lens::new(640, 480, -0.2, 0.05).unwrap();
        FloorFromCamera::new(lens, homography).unwrap()
    }

    #[test]
    fn round_trip_over_the_floor() {
        let map = tilted();
        for i in -20..=20 {
            for j in -15..=15 {
                let floor = DVec2::new(f64::from(i), f64::from(j)) * 0.1;
                let back = map.floor_from_camera(map.camera_from_floor(floor));
                assert!(back.distance(floor) < 1e-9, "{floor} {back}");
            }
        }
        let flipped =
            FloorFromCamera::new(*map.lens(), Homography(map.homography().0 * -3.0)).unwrap();
        let p = DVec2::new(100.0, 300.0);
        assert_near(
            flipped.floor_from_camera(p),
            map.floor_from_camera(p),
            1e-12,
        );
    }

    #[test]
    fn points_beyond_the_horizon_are_nan() {
        let map = tilted();
        assert!(map.floor_from_camera(DVec2::new(320.0, -50_000.0)).is_nan());
        assert!(map.camera_from_floor(DVec2::new(0.0, 1000.0)).is_nan());
    }

    #[test]
    fn unusable_homographies_are_rejected() {
        let lens = Lens::straight(640, 480);
        for broken in [
            DMat3::ZERO,
            DMat3::IDENTITY * f64::NAN,
            DMat3::from_scale(DVec2::new(1.0, 0.0)),
        ] {
            assert_eq!(FloorFromCamera::new(lens, Homography(broken)), None);
        }
    }
}
