//! The water of the quality `high` on the GPU: its state, its pipelines and its passes.
//!
//! In: the plain data of `render/fine_water.rs`. Out: a texture of slopes and a texture of sunlight, which the other passes read.

use wgpu::{
    BindGroup, BindGroupLayout, BindingType, BufferUsages, Device, Queue, ShaderStages,
    TextureFormat, TextureUsages, TextureView,
};

use super::bind_groups::bind_group;
use super::costs::{self, PassCost};
use super::pipelines::module;
use super::targets::{buffer, texture_2d, view, write};
use crate::render::fine_water::{FieldSize, FieldUniforms};

/// Format of the slopes, and of the sunlight.
pub(super) const FINE: TextureFormat = TextureFormat::Rgba16Float;
/// Samples per texel of sunlight. They keep triangles that are thinner than a texel.
const SAMPLES: u32 = 4;

/// The passes of a step of the height field, in order: names of the entry points in `shaders/water_field.wgsl`.
const STEP: [&str; 4] = [
    "rows_forward",
    "columns_forward",
    "columns_back",
    "rows_back",
];

/// Pipelines of the water. They do not depend on the size of the field.
#[derive(Clone)]
pub(super) struct FineWaterPipelines {
    uniforms: BindGroupLayout,
    field: BindGroupLayout,
    surface: BindGroupLayout,
    sunlight: BindGroupLayout,
    blur: BindGroupLayout,
    step: [wgpu::ComputePipeline; 4],
    slopes: wgpu::RenderPipeline,
    rays: wgpu::RenderPipeline,
    /// The blur of the sunlight along x and along z.
    spread: [wgpu::RenderPipeline; 2],
}

/// Returns the binding type of a buffer.
const fn list(ty: wgpu::BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

const READ: BindingType = list(wgpu::BufferBindingType::Storage { read_only: true });
const CHANGED: BindingType = list(wgpu::BufferBindingType::Storage { read_only: false });
/// A texture that is read without filtering.
const LOADED: BindingType = BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: false },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

impl FineWaterPipelines {
    /// Compiles the pipelines.
    pub(super) fn new(device: &Device) -> Self {
        let layout = |label, visibility, types: &[BindingType]| {
            let entries: Vec<_> = (types.iter().enumerate())
                .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
                    binding: binding as u32,
                    visibility,
                    ty,
                    count: None,
                })
                .collect();
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
        };
        let everywhere = ShaderStages::COMPUTE | ShaderStages::VERTEX_FRAGMENT;
        let uniform = list(wgpu::BufferBindingType::Uniform);
        let uniforms = layout("water uniforms", everywhere, &[uniform]);
        let field = layout(
            "height field",
            ShaderStages::COMPUTE,
            &[CHANGED, CHANGED, READ, READ, LOADED],
        );
        let surface = layout("water surface", ShaderStages::FRAGMENT, &[READ]);
        let sunlight = layout("sunlight", ShaderStages::VERTEX, &[LOADED]);
        let blur = layout("blur of the sunlight", ShaderStages::FRAGMENT, &[LOADED]);
        let pipeline_layout = |group: &BindGroupLayout| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&uniforms), Some(group)],
                immediate_size: 0,
            })
        };
        let steps = module(device, "water_field");
        let compute = |entry: &str| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&pipeline_layout(&field)),
                module: &steps,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        Self {
            step: STEP.map(compute),
            slopes: drawn_water(
                device,
                &pipeline_layout(&surface),
                &WaterPass {
                    shader: "water_surface",
                    entries: ["full_target", "water_slopes"],
                    topology: wgpu::PrimitiveTopology::TriangleList,
                    samples: 1,
                    blend: None,
                },
            ),
            rays: drawn_water(
                device,
                &pipeline_layout(&sunlight),
                &WaterPass {
                    shader: "caustics",
                    entries: ["ray", "ray_light"],
                    topology: wgpu::PrimitiveTopology::TriangleStrip,
                    samples: SAMPLES,
                    blend: Some(wgpu::BlendState {
                        color: SUM,
                        alpha: SUM,
                    }),
                },
            ),
            spread: ["spread_along", "spread_across"].map(|entry| {
                drawn_water(
                    device,
                    &pipeline_layout(&blur),
                    &WaterPass {
                        shader: "caustics",
                        entries: ["full_target", entry],
                        topology: wgpu::PrimitiveTopology::TriangleList,
                        samples: 1,
                        blend: None,
                    },
                )
            }),
            uniforms,
            field,
            surface,
            sunlight,
            blur,
        }
    }
}

/// Adds what is drawn to what is there.
const SUM: wgpu::BlendComponent = wgpu::BlendComponent {
    src_factor: wgpu::BlendFactor::One,
    dst_factor: wgpu::BlendFactor::One,
    operation: wgpu::BlendOperation::Add,
};

/// A pass that draws a texture of the water.
struct WaterPass {
    shader: &'static str,
    /// Entry points of vertices and fragments.
    entries: [&'static str; 2],
    topology: wgpu::PrimitiveTopology,
    samples: u32,
    blend: Option<wgpu::BlendState>,
}

/// Compiles the pipeline of a pass.
fn drawn_water(
    device: &Device,
    layout: &wgpu::PipelineLayout,
    pass: &WaterPass,
) -> wgpu::RenderPipeline {
    let module = module(device, pass.shader);
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(pass.entries[1]),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(pass.entries[0]),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            topology: pass.topology,
            ..wgpu::PrimitiveState::default()
        },
        depth_stencil: None,
        multisample: wgpu::MultisampleState {
            count: pass.samples,
            ..wgpu::MultisampleState::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(pass.entries[1]),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format: FINE,
                blend: pass.blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// The water of one scene.
pub(super) struct FineWater {
    pub(super) size: FieldSize,
    pub(super) uniforms: FieldUniforms,
    /// Slopes of the visible region.
    pub(super) slopes: TextureView,
    /// Sunlight on the ground of the visible region.
    pub(super) sunlight: TextureView,
    samples: TextureView,
    /// Sunlight that is blurred along x only.
    half_spread: TextureView,
    uniform_buffer: wgpu::Buffer,
    water: wgpu::Buffer,
    pushes: wgpu::Texture,
    push_size: [u32; 2],
    uniform_group: BindGroup,
    field_group: BindGroup,
    surface_group: BindGroup,
    sunlight_group: BindGroup,
    /// The inputs of the blur along x and along z.
    spread_groups: [BindGroup; 2],
}

/// Constant data of a scene from which [`FineWater`] is created.
pub(super) struct FineWaterInputs<'a> {
    pub(super) size: FieldSize,
    pub(super) depth_m: f32,
    pub(super) calm_per_s: &'a [f32],
    /// Columns and rows of the pushes.
    pub(super) push_size: [u32; 2],
}

impl FineWater {
    /// Creates calm water.
    pub(super) fn new(
        device: &Device,
        queue: &Queue,
        pipelines: &FineWaterPipelines,
        inputs: &FineWaterInputs<'_>,
    ) -> Self {
        let size = inputs.size;
        let filled = |label, bytes: &[u8]| {
            let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
            let made = buffer(device, label, usage, bytes.len() as u64);
            queue.write_buffer(&made, 0, bytes);
            made
        };
        let field_bytes = size.count() as u64 * 8;
        let state = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let water = buffer(device, "water", state, field_bytes);
        let turned = buffer(device, "turned water", BufferUsages::STORAGE, field_bytes);
        let calm = filled("calm places", bytemuck::cast_slice(inputs.calm_per_s));
        let root = |j: u32| {
            let (sin, cos) =
                (f64::from(j) * -std::f64::consts::TAU / f64::from(size.cells)).sin_cos();
            [cos as f32, sin as f32]
        };
        let roots: Vec<_> = (0..size.cells).map(root).collect();
        let roots = filled("roots of unity", bytemuck::cast_slice(&roots));
        let written = TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING;
        let drawn = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let push_size = inputs.push_size;
        let height = TextureFormat::R32Float;
        let pushes = texture_2d(device, "pushes", push_size, height, written, 1);
        let slopes = view(&texture_2d(device, "slopes", size.region, FINE, drawn, 1));
        let lit_px = size.sunlight_px();
        let sunlight = view(&texture_2d(device, "sunlight", lit_px, FINE, drawn, 1));
        let half_spread = view(&texture_2d(device, "half spread", lit_px, FINE, drawn, 1));
        let only_drawn = TextureUsages::RENDER_ATTACHMENT;
        let samples = texture_2d(
            device,
            "sunlight samples",
            lit_px,
            FINE,
            only_drawn,
            SAMPLES,
        );
        let bytes = size_of::<FieldUniforms>() as u64;
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let uniform_buffer = buffer(device, "water uniforms", usage, bytes);
        let group = |layout, resources: &[_]| bind_group(device, layout, resources);
        Self {
            uniform_group: group(&pipelines.uniforms, &[uniform_buffer.as_entire_binding()]),
            field_group: group(
                &pipelines.field,
                &[
                    water.as_entire_binding(),
                    turned.as_entire_binding(),
                    calm.as_entire_binding(),
                    roots.as_entire_binding(),
                    wgpu::BindingResource::TextureView(&view(&pushes)),
                ],
            ),
            surface_group: group(&pipelines.surface, &[water.as_entire_binding()]),
            sunlight_group: group(
                &pipelines.sunlight,
                &[wgpu::BindingResource::TextureView(&slopes)],
            ),
            spread_groups: [&sunlight, &half_spread]
                .map(|lit| group(&pipelines.blur, &[wgpu::BindingResource::TextureView(lit)])),
            uniforms: FieldUniforms::new(&size, inputs.depth_m),
            samples: view(&samples),
            half_spread,
            size,
            slopes,
            sunlight,
            uniform_buffer,
            water,
            pushes,
            push_size,
        }
    }

    /// Continues from the waves of other water of the same size.
    pub(super) fn continue_from(&self, device: &Device, queue: &Queue, old: &Self) {
        if self.size != old.size {
            return;
        }
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&old.water, 0, &self.water, 0, self.water.size());
        queue.submit([encoder.finish()]);
    }

    /// Uploads the values of a picture.
    pub(super) fn upload(&self, queue: &Queue, raised_m: &[f32]) {
        queue.write_buffer(&self.uniform_buffer, 0, bytemuck::bytes_of(&self.uniforms));
        let pushes = bytemuck::cast_slice(raised_m);
        write(queue, &self.pushes, (0, 0), self.push_size, pushes);
    }

    /// Encodes the passes of a picture: one step of the height field, the slopes, the sunlight and its blur.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &FineWaterPipelines,
    ) {
        if self.uniforms.step_secs > 0.0 {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("water step"),
                timestamp_writes: None,
            });
            pass.set_bind_group(0, &self.uniform_group, &[]);
            pass.set_bind_group(1, &self.field_group, &[]);
            for step in &pipelines.step {
                pass.set_pipeline(step);
                pass.dispatch_workgroups(self.size.cells, 1, 1);
            }
        }
        let begin = |encoder: &mut wgpu::CommandEncoder, label, view, resolve_target| {
            encoder
                .begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some(label),
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view,
                        depth_slice: None,
                        resolve_target,
                        ops: wgpu::Operations {
                            load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                            store: match resolve_target {
                                Some(_) => wgpu::StoreOp::Discard,
                                None => wgpu::StoreOp::Store,
                            },
                        },
                    })],
                    ..wgpu::RenderPassDescriptor::default()
                })
                .forget_lifetime()
        };
        let mut pass = begin(encoder, "water slopes", &self.slopes, None);
        pass.set_pipeline(&pipelines.slopes);
        pass.set_bind_group(0, &self.uniform_group, &[]);
        pass.set_bind_group(1, &self.surface_group, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        let mut pass = begin(encoder, "sunlight", &self.samples, Some(&self.sunlight));
        pass.set_pipeline(&pipelines.rays);
        pass.set_bind_group(0, &self.uniform_group, &[]);
        pass.set_bind_group(1, &self.sunlight_group, &[]);
        let [columns, rows] = self
            .size
            .region
            .map(|side| (side - 1).div_ceil(self.uniforms.mesh_step));
        pass.draw(0..2 * (columns + 1), 0..rows);
        drop(pass);
        let targets = [&self.half_spread, &self.sunlight];
        for (i, target) in targets.into_iter().enumerate() {
            let mut pass = begin(encoder, "spread of the sunlight", target, None);
            pass.set_pipeline(&pipelines.spread[i]);
            pass.set_bind_group(0, &self.uniform_group, &[]);
            pass.set_bind_group(1, &self.spread_groups[i], &[]);
            pass.draw(0..3, 0..1);
        }
    }
}

impl FineWater {
    /// Returns the work of the passes of a picture.
    pub(super) fn pass_costs(&self) -> Vec<PassCost> {
        let cells = self.size.count() as u64;
        let [columns, rows] = self
            .size
            .region
            .map(|side| u64::from((side - 1).div_ceil(self.uniforms.mesh_step)));
        let one = |name, triangles, from: &TextureView, to: &TextureView| PassCost {
            name,
            pixels: costs::pixels(to),
            triangles,
            read_bytes: costs::bytes(from),
            written_bytes: costs::bytes(to),
        };
        let mut rays = one("sunlight", 2 * columns * rows, &self.slopes, &self.sunlight);
        rays.written_bytes += costs::bytes(&self.samples);
        let mut slopes = one("slopes of the water", 1, &self.slopes, &self.slopes);
        slopes.read_bytes = self.water.size();
        vec![
            PassCost {
                name: "step of the water (4 passes)",
                pixels: STEP.len() as u64 * cells,
                read_bytes: STEP.len() as u64 * self.water.size(),
                written_bytes: STEP.len() as u64 * self.water.size(),
                ..PassCost::default()
            },
            slopes,
            rays,
            one(
                "spread of the sunlight along x",
                1,
                &self.sunlight,
                &self.half_spread,
            ),
            one(
                "spread of the sunlight along z",
                1,
                &self.half_spread,
                &self.sunlight,
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::error::RenderError;
    use crate::render::gpu::Gpu;
    use crate::render::water::WaterGrid;

    const CELLS: u32 = 64;

    /// Water without calm places on a field of [`CELLS`] cells of 2 cm.
    struct Pond {
        gpu: Gpu,
        pipelines: FineWaterPipelines,
        water: FineWater,
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
            let size = FieldSize::new(&grid, 1.0);
            assert_eq!(size.cells, CELLS);
            let inputs = FineWaterInputs {
                size,
                depth_m: 0.9,
                calm_per_s: &vec![0.0; size.count()],
                push_size: grid.size,
            };
            let pipelines = FineWaterPipelines::new(device);
            let water = FineWater::new(device, &gpu.queue, &pipelines, &inputs);
            let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
            let readback = buffer(device, "readback", usage, size.count() as u64 * 8);
            Some(Self {
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
            self.water.encode(&mut encoder, &self.pipelines);
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
            (0..60)
                .for_each(|i| pond.step(0.0005 + 0.1 * crate::render::noise::unit_hash(i, round)));
            let now = roughness(&pond.cells());
            assert!(now < last, "round {round}: {now} after {last}");
            last = now;
        }
        assert!(last < 1e-6, "still {last}");
    }
}
