//! The size of a block of samples, which all parts of the synthesis share.

/// Frames of a block: 1.3 ms at 48 kHz. Longer: events begin later, and the pitch of a bubble rises in larger steps. Shorter: more computing
/// time.
pub(super) const BLOCK_FRAMES: usize = 64;
