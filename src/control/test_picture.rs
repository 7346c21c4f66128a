//! Pictures for adjusting the projectors, as commands and status name them.
//!
//! Plain data that can be read from JSON. Must not: know a window or a surface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A picture for adjusting the projectors. It is shown instead of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestPicture {
    /// The pattern.
    pub pattern: TestPattern,
    /// A corner that the pattern marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corner: Option<MarkedCorner>,
}

/// A pattern for adjusting the projectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestPattern {
    /// The border of the surface, and crosses at its corners.
    Corners,
    /// Lines at every tenth of the surface.
    Grid,
    /// Numbered crosses.
    Targets,
    /// The part of each output in a color of its own.
    Blend,
    /// Rulers in meters along two edges.
    Rulers,
    /// The number and the border of each output.
    Outputs,
}

impl TestPattern {
    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Corners => "corners",
            Self::Grid => "grid",
            Self::Targets => "targets",
            Self::Blend => "blend",
            Self::Rulers => "rulers",
            Self::Outputs => "outputs",
        }
    }
}

/// A corner of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkedCorner {
    /// Index of the output in the site, counted from 0.
    pub output: usize,
    /// The corner.
    pub corner: CornerName,
}

/// Name of a corner, as in `[outputs.corners]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CornerName {
    /// Top left.
    TopLeft,
    /// Top right.
    TopRight,
    /// Bottom right.
    BottomRight,
    /// Bottom left.
    BottomLeft,
}

impl CornerName {
    /// Whether it is one of the right corners.
    pub fn is_right(self) -> bool {
        matches!(self, Self::TopRight | Self::BottomRight)
    }

    /// Whether it is one of the lower corners.
    pub fn is_lower(self) -> bool {
        matches!(self, Self::BottomRight | Self::BottomLeft)
    }
}
