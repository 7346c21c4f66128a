//! Patterns that the camera calibration shows on the surface: a numbered cross over the pool, or stripes instead of it.

use glam::Vec2;

/// A pattern that is shown while the camera is calibrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CalibrationPattern {
    /// A touch target, drawn over the pool.
    Target(FloorTarget),
    /// Gray-code stripes, drawn instead of the pool.
    Stripes(FloorStripes),
}

/// A numbered cross on the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorTarget {
    /// Number of the target, counted from 1.
    pub number: usize,
    /// Center of the cross, floor space.
    pub at_m: Vec2,
}

/// A text in large letters at an edge of the surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloorNotice {
    /// The text.
    pub text: String,
    /// A place on the floor, such as the shown target. The text is at the edge that is farther from it.
    pub free_of_m: Option<Vec2>,
    /// A QR code in the middle of the surface.
    pub code: Option<QrModules>,
}

/// The modules (dots) of a QR code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QrModules {
    /// Number of modules along each side.
    pub width: usize,
    /// Whether each module is dark, row by row from the top.
    pub dark: Vec<bool>,
}

/// Bright and dark stripes that cover the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloorStripes {
    /// Direction in which the stripes are counted.
    pub axis: StripeAxis,
    /// Number of stripes, up to 64.
    pub count: u32,
    /// One bit per stripe, 1 for bright; the first stripe is the lowest bit.
    pub bright: u64,
}

/// Direction in which stripes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StripeAxis {
    /// From the left edge, along x.
    Columns,
    /// From the upper edge, along z.
    Rows,
}
