//! Tests of the height field on the GPU.

use wgpu::BufferUsages;

use super::field::{Field, FieldInputs};
use super::pipelines::WaterPipelines;
use crate::render::detail::Detail;
use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::gpu::pass_timer::PassTimer;
use crate::render::gpu::textures::buffer;
use crate::render::water::{FieldSize, WaterGrid};

const CELLS: u32 = 64;

/// Water without calm places on a field of [`CELLS`] cells of 2 cm.
struct Pond {
    gpu: Gpu,
    pipelines: WaterPipelines,
    water: Field,
    timer: PassTimer,
    readback: wgpu::Buffer,
}

impl Pond {
    /// Returns `None` on a machine without a graphics adapter.
    fn new() -> Option<Self> {
        let gpu = match Gpu::headless() {
            Ok(gpu) => gpu,
            Err(RenderError::NoAdapter(_)) => return None,
            Err(error) => panic!("{error}"),
        };
        let device = &gpu.device;
        let half_m = glam::Vec2::splat(0.01 * CELLS as f32);
        let grid = WaterGrid {
            size: [16, 16],
            cell_m: 0.08,
            half_m,
        };
        let size = FieldSize::new(&grid, 1.0, Detail::HIGH);
        assert_eq!(size.cells, CELLS);
        let inputs = FieldInputs {
            size,
            depth_m: 0.9,
            calm_per_s: &vec![0.0; size.count()],
            push_size: grid.size,
        };
        let pipelines = WaterPipelines::new(&gpu, 4);
        let water = Field::new(device, &gpu.queue, &pipelines, &inputs);
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let readback = buffer(device, "readback", usage, size.count() as u64 * 8);
        Some(Self {
            timer: PassTimer::new(&gpu),
            gpu,
            pipelines,
            water,
            readback,
        })
    }

    fn fill(&self, cells: &[[f32; 2]]) {
        let bytes = bytemuck::cast_slice(cells);
        self.gpu.queue.write_buffer(&self.water.water, 0, bytes);
    }

    fn step(&mut self, step_secs: f32) {
        self.water.uniforms.step_secs = step_secs;
        self.water.upload(&self.gpu.queue, &[0.0; 256]);
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.water
            .encode(&mut encoder, &self.pipelines, &self.timer);
        self.gpu.queue.submit([encoder.finish()]);
    }

    fn cells(&self) -> Vec<[f32; 2]> {
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let bytes = self.readback.size();
        encoder.copy_buffer_to_buffer(&self.water.water, 0, &self.readback, 0, bytes);
        self.gpu.queue.submit([encoder.finish()]);
        let slice = self.readback.slice(..);
        slice.map_async(wgpu::MapMode::Read, |outcome| outcome.unwrap());
        self.gpu.wait().unwrap();
        let cells = bytemuck::cast_slice(&slice.get_mapped_range().unwrap()).to_vec();
        self.readback.unmap();
        cells
    }
}

/// A standing wave of `waves` waves along x swings with the frequency of deep water with surface tension.
#[test]
fn every_wave_swings_at_its_own_rate() {
    let Some(mut pond) = Pond::new() else { return };
    for waves in [1.0f32, 4.0, 13.0] {
        let k = std::f32::consts::TAU * waves / (0.02 * CELLS as f32);
        let frequency = (9.81 * k + 7.3e-5 * k * k * k).sqrt();
        let place = |i: usize| ((i as u32 % CELLS) as f32 - 31.5) * 0.02;
        let still: Vec<_> = (0..(CELLS * CELLS) as usize)
            .map(|i| [0.01 * (k * place(i)).cos(), 0.0])
            .collect();
        pond.fill(&still);
        let times = [0.004f32, 0.021, 0.1, 0.016, 0.033];
        times.iter().for_each(|&secs| pond.step(secs));
        let secs: f32 = times.iter().sum();
        let keeps = (-(0.32 + 1.6e-4 * k * k) * secs).exp();
        let swung = (frequency * secs).cos() * keeps;
        for (before, after) in still.iter().zip(pond.cells()) {
            let wanted = before[0] * swung;
            assert!(
                (after[0] - wanted).abs() < 2e-5,
                "{waves} waves: {} m, expected {wanted} m",
                after[0]
            );
        }
    }
}

/// Energy of the field, relative to the one of a wave of a fixed height.
fn roughness(cells: &[[f32; 2]]) -> f32 {
    cells.iter().map(|c| c[0] * c[0] + c[1] * c[1]).sum()
}

#[test]
fn water_comes_to_rest_after_any_state_and_with_any_steps() {
    let Some(mut pond) = Pond::new() else { return };
    let random = |i: u32, j| 0.16 * (crate::render::noise::unit_hash(i, j) - 0.5);
    let mut cells: Vec<_> = (0..CELLS * CELLS)
        .map(|i| [random(i, 1), random(i, 2)])
        .collect();
    // Values that only a fault of the device writes.
    cells[5] = [f32::NAN, 0.0];
    cells[99] = [0.0, f32::INFINITY];
    pond.fill(&cells);
    let mut last = f32::INFINITY;
    for round in 0..8u32 {
        (0..60).for_each(|i| pond.step(0.0005 + 0.1 * crate::render::noise::unit_hash(i, round)));
        let now = roughness(&pond.cells());
        assert!(now < last, "round {round}: {now} after {last}");
        last = now;
    }
    assert!(last < 1e-6, "still {last}");
}
