//! One camera frame: gray levels of 8 or 16 bits, a number and a timestamp.

use super::CameraError;
use super::limits::{MAX_PIXELS, MAX_SIDE_PX};

/// One camera frame. Reading the next frame into the same `Frame` reuses its memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Number of the frame in its source, counted from 0.
    pub sequence: u64,
    /// Timestamp on the source's own clock, in seconds; never decreases within a source.
    pub time_secs: f64,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Gray levels, height × width, row-major, top row first.
    pub luma: Luma,
}

/// Gray levels of all pixels of a frame, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum Luma {
    /// Levels of 8 bits: 0 is black, 255 is white.
    U8(Vec<u8>),
    /// Levels of 9 to 16 bits: 0 is black, 2^`bits` − 1 is white.
    U16 {
        /// Number of bits of a level, 9 to 16.
        bits: u32,
        /// Level of each pixel.
        levels: Vec<u16>,
    },
}

impl Default for Luma {
    fn default() -> Self {
        Self::U8(Vec::new())
    }
}

impl Luma {
    /// Takes the memory out of `self` and returns it with space for `len` levels of 8 bits. The caller fills the memory and
    /// stores it again as [`Luma::U8`].
    pub(super) fn take_u8(&mut self, len: usize) -> Vec<u8> {
        let mut levels = match std::mem::take(self) {
            Self::U8(levels) => levels,
            Self::U16 { .. } => Vec::new(),
        };
        levels.resize(len, 0);
        levels
    }

    /// Takes the memory out of `self` and returns it with space for `len` levels of 16 bits. The caller fills the memory and
    /// stores it again as [`Luma::U16`].
    pub(super) fn take_u16(&mut self, len: usize) -> Vec<u16> {
        let mut levels = match std::mem::take(self) {
            Self::U16 { levels, .. } => levels,
            Self::U8(_) => Vec::new(),
        };
        levels.resize(len, 0);
        levels
    }

    /// Returns the number of pixels.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(levels) => levels.len(),
            Self::U16 { levels, .. } => levels.len(),
        }
    }

    /// Whether there is no pixel.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the levels into `to`, reduced to their upper 8 bits.
    pub fn write_eight_bit(&self, to: &mut Vec<u8>) {
        match self {
            Self::U8(_) => self.write_upper_8_of(8, to),
            Self::U16 { bits, .. } => self.write_upper_8_of(*bits, to),
        }
    }

    /// Writes the upper 8 of the lowest `bits` bits of each level. Levels that need more than `bits` bits become 255.
    fn write_upper_8_of(&self, bits: u32, to: &mut Vec<u8>) {
        to.clear();
        match self {
            Self::U8(levels) => to.extend_from_slice(levels),
            Self::U16 { levels, .. } => {
                let shift = bits.saturating_sub(8);
                to.extend(levels.iter().map(|&v| (v >> shift).min(255) as u8));
            }
        }
    }
}

/// Number of bits that a camera with more than 8 bits really uses, estimated from its frames. Many cameras declare 16 bits but
/// use only the lowest 10 or 12, or see a dim floor: then the upper 8 of 16 bits would be black.
///
/// The estimate never decreases, so that the same light keeps the same 8-bit level until a brighter frame arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedBits(u32);

/// Approximate number of pixels that are sampled in each frame; enough to measure one pixel in [`BRIGHTER_PIXELS`].
const SAMPLED_PIXELS: usize = 4096;
/// One pixel in this many may exceed the estimated number of bits, because a few pixels are defective or show a reflection.
const BRIGHTER_PIXELS: usize = 500;

impl UsedBits {
    /// Updates the estimate with a frame.
    pub fn observe(&mut self, luma: &Luma) {
        let Luma::U16 { bits, levels } = luma else {
            return;
        };
        // With an odd step, which has few common factors with usual widths, the samples cover all columns.
        let step = (levels.len() / SAMPLED_PIXELS).max(1) | 1;
        let mut lengths = [0; 17];
        for level in levels.iter().step_by(step) {
            lengths[(16 - level.leading_zeros()) as usize] += 1;
        }
        let mut brighter = 0;
        let allowed = levels.len() / step / BRIGHTER_PIXELS;
        let used = (0..=16).rev().find(|&length: &u32| {
            brighter += lengths[length as usize];
            brighter > allowed
        });
        self.0 = self.0.max(used.unwrap_or(0).min(*bits));
    }

    /// Writes the levels into `to`, reduced to the upper 8 of the bits that are used; brighter levels become 255.
    pub fn write_eight_bit(&self, luma: &Luma, to: &mut Vec<u8>) {
        luma.write_upper_8_of(self.0, to);
    }
}

/// Checks the size of a frame before memory is allocated for it.
pub(super) fn check_size(source: &str, width_px: u64, height_px: u64) -> Result<(), CameraError> {
    let side = u64::from(MAX_SIDE_PX);
    if width_px == 0
        || height_px == 0
        || width_px > side
        || height_px > side
        || width_px * height_px > MAX_PIXELS
    {
        return Err(CameraError::Size {
            source_name: source.to_owned(),
            width_px,
            height_px,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_bits_become_eight() {
        let luma = Luma::U16 {
            bits: 10,
            levels: vec![0, 3, 4, 1023, 65535],
        };
        let mut eight = Vec::new();
        luma.write_eight_bit(&mut eight);
        assert_eq!(eight, [0, 0, 1, 255, 255]);
    }

    #[test]
    fn a_dim_frame_of_16_bits_keeps_its_contrast() {
        let of = |levels: Vec<u16>| Luma::U16 { bits: 16, levels };
        let mut used = UsedBits::default();
        let mut eight = Vec::new();
        let mut show = |luma: &Luma| {
            used.observe(luma);
            used.write_eight_bit(luma, &mut eight);
            (eight.iter().copied().max(), eight.iter().copied().min())
        };
        let mut dim = vec![1000; 5000];
        dim[7] = 100;
        assert_eq!(show(&of(dim.clone())), (Some(250), Some(25)));
        // One defective pixel does not change the estimate.
        dim[0] = 65535;
        assert_eq!(show(&of(dim)), (Some(255), Some(25)));
        assert_eq!(show(&of(vec![4000; 5000])), (Some(250), Some(250)));
        assert_eq!(show(&of(vec![1000; 5000])), (Some(62), Some(62)));
        assert_eq!(show(&of(Vec::new())), (None, None));
        assert_eq!(show(&Luma::U8(vec![7])), (Some(7), Some(7)));
    }

    #[test]
    fn impossible_sizes_are_rejected() {
        assert!(check_size("x", 640, 480).is_ok());
        for (w, h) in [(0, 5), (5, 0), (999_999_999, 1), (8192, 8192)] {
            assert!(check_size("x", w, h).is_err(), "{w}x{h}");
        }
    }
}
