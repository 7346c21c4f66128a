//! Sizes of frames that Shoal accepts.

/// Largest width or height of a frame, in pixels. Protects against damaged headers; no usual camera delivers larger frames.
pub(super) const MAX_SIDE_PX: u32 = 8192;
/// Largest number of pixels of a frame. Limits the memory that a damaged header can claim.
pub(super) const MAX_PIXELS: u64 = 40_000_000;
