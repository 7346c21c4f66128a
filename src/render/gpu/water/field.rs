//! The height field of the water, its slopes and its sunlight on the GPU: their state and their passes.
//!
//! In: the plain data of `render/water/`. Out: a texture of slopes and a texture of sunlight, which the other passes read.

use wgpu::{BindGroup, BufferUsages, Device, Queue, TextureFormat, TextureUsages, TextureView};

use super::pipelines::{STEP, WaterPipelines};
use crate::render::gpu::costs::{self, PassCost};
use crate::render::gpu::device::WATER;
use crate::render::gpu::pass::{cleared, fill};
use crate::render::gpu::pass_timer::{Edge, PassGroup, PassTimer};
use crate::render::gpu::pipeline::bind_group;
use crate::render::gpu::textures::{buffer, texture_2d, view, write};
use crate::render::water::{FieldSize, FieldUniforms};

/// The height field of one scene.
pub(super) struct Field {
    pub(super) size: FieldSize,
    pub(super) uniforms: FieldUniforms,
    /// Slopes of the visible region.
    pub(super) slopes: TextureView,
    /// Sunlight on the ground of the visible region.
    pub(super) sunlight: TextureView,
    /// Samples of the sunlight, which are averaged into `sunlight`; `None` with one sample per texel.
    samples: Option<TextureView>,
    /// Sunlight that is blurred along x only.
    half_spread: TextureView,
    uniform_buffer: wgpu::Buffer,
    pub(super) water: wgpu::Buffer,
    pushes: wgpu::Texture,
    push_size: [u32; 2],
    uniform_group: BindGroup,
    field_group: BindGroup,
    surface_group: BindGroup,
    sunlight_group: BindGroup,
    /// The inputs of the blur along x and along z.
    spread_groups: [BindGroup; 2],
}

/// Constant data of a scene from which [`Field`] is created.
pub(super) struct FieldInputs<'a> {
    pub(super) size: FieldSize,
    pub(super) depth_m: f32,
    pub(super) calm_per_s: &'a [f32],
    /// Columns and rows of the pushes.
    pub(super) push_size: [u32; 2],
}

impl Field {
    /// Creates calm water.
    pub(super) fn new(
        device: &Device,
        queue: &Queue,
        pipelines: &WaterPipelines,
        inputs: &FieldInputs<'_>,
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
        let slopes = view(&texture_2d(device, "slopes", size.region, WATER, drawn, 1));
        let lit_px = size.sunlight_px();
        let sunlight = view(&texture_2d(device, "sunlight", lit_px, WATER, drawn, 1));
        let half_spread = view(&texture_2d(device, "half spread", lit_px, WATER, drawn, 1));
        let samples = (pipelines.samples > 1).then(|| {
            let (label, usage) = ("sunlight samples", TextureUsages::RENDER_ATTACHMENT);
            let count = pipelines.samples;
            view(&texture_2d(device, label, lit_px, WATER, usage, count))
        });
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
            samples,
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
        pipelines: &WaterPipelines,
        timer: &PassTimer,
    ) {
        let is_stepped = self.uniforms.step_secs > 0.0;
        if is_stepped {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("water step"),
                timestamp_writes: timer.around_compute(PassGroup::Water, Edge::First),
            });
            pass.set_bind_group(0, &self.uniform_group, &[]);
            pass.set_bind_group(1, &self.field_group, &[]);
            for step in &pipelines.step {
                pass.set_pipeline(step);
                pass.dispatch_workgroups(self.size.cells, 1, 1);
            }
        }
        let uniforms = &self.uniform_group;
        let edge = if is_stepped { Edge::Last } else { Edge::Only };
        let stamps = timer.around(PassGroup::Water, edge);
        let slopes = ("water slopes", &self.slopes, stamps);
        let groups = [uniforms, &self.surface_group];
        fill(encoder, slopes, &pipelines.slopes, groups);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("sunlight"),
            color_attachments: &[Some(cleared(&self.sunlight, self.samples.as_ref()))],
            timestamp_writes: timer.around(PassGroup::Sunlight, Edge::First),
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_pipeline(&pipelines.rays);
        pass.set_bind_group(0, &self.uniform_group, &[]);
        pass.set_bind_group(1, &self.sunlight_group, &[]);
        let [columns, rows] = self
            .size
            .region
            .map(|side| (side - 1).div_ceil(self.uniforms.mesh_step));
        pass.draw(0..2 * (columns + 1), 0..rows);
        drop(pass);
        let last = timer.around(PassGroup::Sunlight, Edge::Last);
        let targets = [(&self.half_spread, None), (&self.sunlight, last)];
        let passes = pipelines.spread.iter().zip(&self.spread_groups);
        for ((target, stamps), (pipeline, group)) in targets.into_iter().zip(passes) {
            let target = ("spread of the sunlight", target, stamps);
            fill(encoder, target, pipeline, [uniforms, group]);
        }
    }
}

impl Field {
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
        rays.written_bytes += self.samples.as_ref().map_or(0, costs::bytes);
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
