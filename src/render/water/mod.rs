//! The CPU's share of the water: the pressure of shadows and splashes, what it and the fish do to the water, the waves of the swell,
//! and the size and values of the height field. The GPU computes the field, its slopes and its light (`gpu/water/`).
//!
//! In: scenery, static shapes, shadows, splashes, agents, a time. Out: plain data for the GPU. A picture allocates no memory.

mod field;
mod pressure;
mod pushes;
mod swell;

pub(super) use field::{FieldSize, FieldUniforms, calm_places, step_secs};
pub(super) use pressure::WaterGrid;
pub use pressure::WaterPressure;
pub(super) use pushes::Pushes;
#[cfg(test)]
pub(super) use swell::SWELL_WAVES;
pub(super) use swell::Swell;
