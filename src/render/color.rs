//! Colors: the type for colors in configuration files, and the conversion between sRGB bytes and linear light.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A color as shares of reflected light. The values are linear light, not sRGB values as in paint programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tint {
    /// Share of red light.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub red: f32,
    /// Share of green light.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub green: f32,
    /// Share of blue light.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub blue: f32,
}

impl Tint {
    /// Creates a color.
    pub const fn new(red: f32, green: f32, blue: f32) -> Self {
        Self { red, green, blue }
    }
}

impl Default for Tint {
    /// Pale, slightly warm sand.
    fn default() -> Self {
        Self {
            red: 0.60,
            green: 0.46,
            blue: 0.315,
        }
    }
}

/// Returns the linear light, 0..1, of an sRGB byte.
///
/// **Source**: IEC 61966-2-1 (sRGB).
pub(super) fn linear_from_srgb(byte: u8) -> f32 {
    let v = f32::from(byte) / 255.0;
    if v <= 0.040_45 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// Returns the sRGB byte of linear light.
///
/// **Source**: IEC 61966-2-1 (sRGB).
pub(super) fn srgb_from_linear(light: f32) -> u8 {
    let v = if light <= 0.003_130_8 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (v.clamp(0.0, 1.0) * 255.0).round() as u8
}
