//! Center and extent of a set of pixels.

use glam::DVec2;

/// Center and second central moments of a set of pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// Center of the pixels.
    pub(super) middle: DVec2,
    /// Variance along the main axis, in px².
    pub(super) along: f64,
    /// Variance across the main axis, in px².
    pub(super) across: f64,
    /// Direction of the main axis, as a unit vector.
    pub(super) axis: DVec2,
}

impl Moments {
    pub(super) fn of(points: &[DVec2]) -> Self {
        let count = points.len().max(1) as f64;
        let middle = points.iter().sum::<DVec2>() / count;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for point in points {
            let d = *point - middle;
            xx += d.x * d.x / count;
            xy += d.x * d.y / count;
            yy += d.y * d.y / count;
        }
        // The variance within a square pixel (1/12 px²) is added to the variance of the pixel centers.
        (xx, yy) = (xx + 1.0 / 12.0, yy + 1.0 / 12.0);
        let (mean, apart) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
        let angle = (2.0 * xy).atan2(xx - yy) / 2.0;
        Self {
            middle,
            along: mean + apart,
            across: (mean - apart).max(1.0 / 12.0),
            axis: DVec2::from_angle(angle),
        }
    }
}
