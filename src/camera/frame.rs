//! One picture of a camera: brightness only, 8 or 16 bit, with its number and time.

use super::CameraError;

/// The longest side of a picture that is accepted.
pub const MAX_SIDE_PX: u32 = 8192;
/// The largest picture that is accepted.
pub const MAX_PIXELS: u64 = 40_000_000;

/// One picture. Reading the next one into the same `Frame` uses its memory again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Number in the source, counted from 0.
    pub sequence: u64,
    /// Time stamp on the source's own clock; never goes back within a source.
    pub time_secs: f64,
    /// Pixels in a row.
    pub width_px: u32,
    /// Rows.
    pub height_px: u32,
    /// Brightness, height × width, row-major, top row first.
    pub luma: Luma,
}

/// Brightness of all pixels of a picture, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum Luma {
    /// 0 black to 255 white.
    Eight(Vec<u8>),
    /// 0 black to 2^`bits` − 1 white.
    Sixteen {
        /// Bits that are used, 9 to 16.
        bits: u32,
        /// Brightness of each pixel.
        levels: Vec<u16>,
    },
}

impl Default for Luma {
    fn default() -> Self {
        Self::Eight(Vec::new())
    }
}

impl Luma {
    /// Takes the memory out as 8 bit with `len` pixels, to be filled and put back as [`Luma::Eight`].
    pub(super) fn take_eight(&mut self, len: usize) -> Vec<u8> {
        let mut levels = match std::mem::take(self) {
            Self::Eight(levels) => levels,
            Self::Sixteen { .. } => Vec::new(),
        };
        levels.resize(len, 0);
        levels
    }

    /// Takes the memory out as 16 bit with `len` pixels, to be filled and put back as [`Luma::Sixteen`].
    pub(super) fn take_sixteen(&mut self, len: usize) -> Vec<u16> {
        let mut levels = match std::mem::take(self) {
            Self::Sixteen { levels, .. } => levels,
            Self::Eight(_) => Vec::new(),
        };
        levels.resize(len, 0);
        levels
    }

    /// Number of pixels.
    pub fn len(&self) -> usize {
        match self {
            Self::Eight(levels) => levels.len(),
            Self::Sixteen { levels, .. } => levels.len(),
        }
    }

    /// Whether there is no pixel.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the same picture with 8 bits into `to`, the lower bits cut off.
    pub fn write_eight_bit(&self, to: &mut Vec<u8>) {
        match self {
            Self::Eight(_) => self.write_eight_of(8, to),
            Self::Sixteen { bits, .. } => self.write_eight_of(*bits, to),
        }
    }

    /// The same, if only so many bits are used.
    fn write_eight_of(&self, bits: u32, to: &mut Vec<u8>) {
        to.clear();
        match self {
            Self::Eight(levels) => to.extend_from_slice(levels),
            Self::Sixteen { levels, .. } => {
                let shift = bits.saturating_sub(8);
                to.extend(levels.iter().map(|&v| (v >> shift).min(255) as u8));
            }
        }
    }
}

/// How many bits a camera of more than 8 really uses. Many say 16 and fill the lowest 10 or 12 of them, or see a floor that
/// is dim for their scale: the upper 8 of 16 bits would be black.
///
/// It only grows, so that the same light stays the same level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedBits(u32);

/// Pixels that are looked at, about.
const BITS_PIXELS: usize = 4096;
/// One pixel in so many may be brighter: some are broken, or see a glint.
const BRIGHTER_PIXELS: usize = 500;

impl UsedBits {
    /// Takes a picture in.
    pub fn observe(&mut self, luma: &Luma) {
        let Luma::Sixteen { bits, levels } = luma else {
            return;
        };
        // A step without a common factor with usual widths looks at all columns.
        let step = (levels.len() / BITS_PIXELS).max(1) | 1;
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

    /// Writes a picture with the upper 8 of the bits that are used; what is brighter than those can say is white.
    pub fn write_eight_bit(&self, luma: &Luma, to: &mut Vec<u8>) {
        luma.write_eight_of(self.0, to);
    }
}

/// Refuses sizes that no camera has, before memory is taken for them.
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
        let luma = Luma::Sixteen {
            bits: 10,
            levels: vec![0, 3, 4, 1023, 65535],
        };
        let mut eight = Vec::new();
        luma.write_eight_bit(&mut eight);
        assert_eq!(eight, [0, 0, 1, 255, 255]);
    }

    #[test]
    fn a_dim_picture_of_many_bits_is_not_cut_off() {
        let of = |levels: Vec<u16>| Luma::Sixteen { bits: 16, levels };
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
        // One broken pixel says nothing of the others.
        dim[0] = 65535;
        assert_eq!(show(&of(dim)), (Some(255), Some(25)));
        assert_eq!(show(&of(vec![4000; 5000])), (Some(250), Some(250)));
        assert_eq!(show(&of(vec![1000; 5000])), (Some(62), Some(62)));
        assert_eq!(show(&of(Vec::new())), (None, None));
        assert_eq!(show(&Luma::Eight(vec![7])), (Some(7), Some(7)));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(check_size("x", 640, 480).is_ok());
        for (w, h) in [(0, 5), (5, 0), (999_999_999, 1), (8192, 8192)] {
            assert!(check_size("x", w, h).is_err(), "{w}x{h}");
        }
    }
}
