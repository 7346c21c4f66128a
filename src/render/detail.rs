//! What a quality of the picture stands for: steps of resolution and samples. All qualities draw the same picture with the same
//! passes.

use super::setup::PictureQuality;

/// Resolution and samples of a renderer. [`Quality`](super::governor::Quality) lowers them further while pictures are late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Detail {
    /// Samples per pixel of a body, and per texel of sunlight.
    pub(super) samples: u32,
    /// Pixels of the picture per cell of the water. Waves that are finer than 6 pixels are not visible.
    pub(super) pixels_per_cell: f32,
    /// Largest number of cells along a side of the water.
    pub(super) most_cells: u32,
    /// Finest level of detail of bodies; 0 is the full mesh.
    pub(super) finest_level: usize,
}

impl Detail {
    /// For a graphics card.
    pub(super) const HIGH: Self = Self {
        samples: 4,
        pixels_per_cell: 6.0,
        most_cells: 1024,
        finest_level: 0,
    };
    /// For a machine without a graphics card.
    pub(super) const LOW: Self = Self {
        samples: 1,
        pixels_per_cell: 6.0,
        most_cells: 128,
        finest_level: 1,
    };

    /// Returns the detail of a quality on a software adapter or on a graphics card.
    pub(super) fn of(quality: PictureQuality, is_software: bool) -> Self {
        match quality {
            PictureQuality::High => Self::HIGH,
            PictureQuality::Low => Self::LOW,
            PictureQuality::Auto if is_software => Self::LOW,
            PictureQuality::Auto => Self::HIGH,
        }
    }
}
