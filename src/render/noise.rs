//! Deterministic random numbers and the smooth step between two values.

/// Returns a random number in 0..1. It depends only on an id and on `purpose`, a number for the use of the random number.
pub(super) fn unit_hash(id: u32, purpose: u32) -> f32 {
    let mut h = id.wrapping_mul(0x9E37_79B1) ^ purpose.wrapping_mul(0x85EB_CA77);
    h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
    h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    ((h ^ (h >> 16)) >> 8) as f32 / (1 << 24) as f32
}

/// Cubic Hermite step: 0 up to `from`, 1 from `to` on, smooth between.
pub(super) fn smoothstep(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
