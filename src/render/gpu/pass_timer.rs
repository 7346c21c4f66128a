//! The time that the graphics device takes for each group of passes, from timestamps that the device writes around them.
//!
//! The timestamps of a picture are read while later pictures are drawn, so no picture waits for them, and a picture whose
//! predecessor is still being read is not measured. The library `wgpu-profiler` allocates names for every
//! picture, so it is not used: here a picture allocates nothing, after the first ones.

use std::time::Duration;

use wgpu::{BufferUsages, ComputePassTimestampWrites, RenderPassTimestampWrites};

use super::device::Gpu;
use super::readback::Readback;
use super::textures::buffer;
use crate::render::error::RenderError;

/// A group of consecutive passes of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassGroup {
    /// A step of the height field, and the slopes of the water.
    Water,
    /// The sunlight that the water focuses, and its spread.
    Sunlight,
    /// The shadows of bodies on the ground.
    Shadows,
    /// Static bodies, fish, leaves and specks.
    Bodies,
    /// The outputs, with the means for their flash limiters.
    Outputs,
}

impl PassGroup {
    /// All groups in the order in which they are drawn.
    pub const ALL: [Self; 5] = [
        Self::Water,
        Self::Sunlight,
        Self::Shadows,
        Self::Bodies,
        Self::Outputs,
    ];

    /// Name of the group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Water => "water",
            Self::Sunlight => "sunlight",
            Self::Shadows => "shadows",
            Self::Bodies => "bodies",
            Self::Outputs => "outputs",
        }
    }
}

/// The times of one picture on the graphics device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// From the first to the last pass.
    pub picture: Duration,
    /// Time of each group, in the order of [`PassGroup::ALL`].
    pub groups: [Duration; PassGroup::ALL.len()],
}

/// Number of timestamps of a picture: before and after each group.
const TIMESTAMPS: usize = 2 * PassGroup::ALL.len();
/// Size of a timestamp in bytes.
const STAMP_BYTES: usize = wgpu::QUERY_SIZE as usize;

/// The passes of a group whose begin or end a timestamp marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The first pass of several.
    First,
    /// The last pass of several.
    Last,
    /// The only pass.
    Only,
}

/// Writes timestamps and reads them.
pub(super) struct PassTimer {
    /// The timestamps; `None` if the device has none.
    stamps: Option<Stamps>,
}

struct Stamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readback: Readback,
    /// Unit of a timestamp in nanoseconds.
    unit_ns: f64,
    /// Whether the picture that is being encoded is measured.
    is_measured: bool,
    /// The times of the last measured picture, until they are taken.
    times: Option<PassTimes>,
}

impl PassTimer {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let device = &gpu.device;
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Self { stamps: None };
        }
        let bytes = TIMESTAMPS * STAMP_BYTES;
        let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
        Self {
            stamps: Some(Stamps {
                queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: Some("times of passes"),
                    ty: wgpu::QueryType::Timestamp,
                    count: TIMESTAMPS as u32,
                }),
                resolved: buffer(device, "times of passes", usage, bytes as u64),
                readback: Readback::new(device, [bytes as u32 / 4, 1]),
                unit_ns: f64::from(gpu.queue.get_timestamp_period()),
                is_measured: false,
                times: None,
            }),
        }
    }

    /// Prepares the measurement of a picture, and takes over the times of an earlier one if they have arrived.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device failed.
    pub(super) fn begin(&mut self) -> Result<(), RenderError> {
        let Some(stamps) = &mut self.stamps else {
            return Ok(());
        };
        let (times, unit_ns) = (&mut stamps.times, stamps.unit_ns);
        stamps.readback.take(|bytes, _| {
            let mut read = [0; TIMESTAMPS];
            for (stamp, bytes) in read.iter_mut().zip(bytes.chunks_exact(STAMP_BYTES)) {
                *stamp = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            *times = times_of(&read, unit_ns).or(*times);
        })?;
        stamps.is_measured = !stamps.readback.is_requested();
        Ok(())
    }

    /// The timestamps that a render pass writes; `None` if the picture is not measured.
    pub(super) fn around(
        &self,
        group: PassGroup,
        edge: Edge,
    ) -> Option<RenderPassTimestampWrites<'_>> {
        let stamps = self.stamps.as_ref().filter(|stamps| stamps.is_measured)?;
        let before = 2 * group as u32;
        Some(RenderPassTimestampWrites {
            query_set: &stamps.queries,
            beginning_of_pass_write_index: (edge != Edge::Last).then_some(before),
            end_of_pass_write_index: (edge != Edge::First).then_some(before + 1),
        })
    }

    /// The same as [`Self::around`] for a compute pass.
    pub(super) fn around_compute(
        &self,
        group: PassGroup,
        edge: Edge,
    ) -> Option<ComputePassTimestampWrites<'_>> {
        let writes = self.around(group, edge)?;
        Some(ComputePassTimestampWrites {
            query_set: writes.query_set,
            beginning_of_pass_write_index: writes.beginning_of_pass_write_index,
            end_of_pass_write_index: writes.end_of_pass_write_index,
        })
    }

    /// Encodes the copy of the timestamps, after all passes.
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(stamps) = self.stamps.as_ref().filter(|stamps| stamps.is_measured) {
            encoder.resolve_query_set(&stamps.queries, 0..TIMESTAMPS as u32, &stamps.resolved, 0);
            stamps.readback.copy_buffer(encoder, &stamps.resolved);
        }
    }

    /// Starts to read the timestamps. Must be called after the copy was submitted.
    pub(super) fn request(&mut self) {
        if let Some(stamps) = self.stamps.as_mut().filter(|stamps| stamps.is_measured) {
            stamps.readback.request();
        }
    }

    /// Takes the times of the last measured picture; `None` if they are taken or have not arrived.
    pub(super) fn take(&mut self) -> Option<PassTimes> {
        self.stamps.as_mut()?.times.take()
    }
}

/// Returns the times between the timestamps of a picture; `None` if a timestamp is missing or they are not in their order.
fn times_of(stamps: &[u64; TIMESTAMPS], unit_ns: f64) -> Option<PassTimes> {
    if stamps[0] == 0 || !stamps.is_sorted() {
        return None;
    }
    let between = |from: u64, to: u64| Duration::from_nanos(((to - from) as f64 * unit_ns) as u64);
    Some(PassTimes {
        picture: between(stamps[0], stamps[TIMESTAMPS - 1]),
        groups: std::array::from_fn(|group| between(stamps[2 * group], stamps[2 * group + 1])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_differences_of_timestamps_in_order() {
        let stamps = [10, 20, 20, 25, 25, 26, 30, 50, 50, 90];
        let times = times_of(&stamps, 2.0).unwrap();
        assert_eq!(times.picture, Duration::from_nanos(160));
        assert_eq!(times.groups, [20, 10, 2, 40, 80].map(Duration::from_nanos));
        assert_eq!(times_of(&[0; TIMESTAMPS], 1.0), None, "nothing was written");
        let turned = [10, 20, 20, 25, 25, 26, 30, 50, 50, 9];
        assert_eq!(times_of(&turned, 1.0), None);
    }
}
