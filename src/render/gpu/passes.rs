//! The passes of a frame, in the order of `Renderer::draw`.

use wgpu::{LoadOp, StoreOp, TextureView};

use super::Renderer;
use super::bodies::{STRIP_INDICES, draw_batch, strip_indices};
use super::groups::group;
use super::targets::{buffer, write};
use crate::geometry::SurfaceKind;
use crate::render::draw::Instance;
use crate::render::footing::{self, Foot};
use crate::render::pose::Rows;
use crate::render::shade::ShadeCorner;
use crate::render::silhouette::STATIONS;
use crate::render::still::{FALL, PLANT};

impl Renderer {
    pub(super) fn paint_ground(&self) {
        let gpu = &self.gpu;
        gpu.queue
            .write_buffer(&self.frame_buffer, 0, bytemuck::bytes_of(&self.frame));
        let filled = |label, bytes: &[u8]| {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let made = buffer(&gpu.device, label, usage, bytes.len() as u64);
            gpu.queue.write_buffer(&made, 0, bytes);
            made
        };
        let mut feet = self.stones.feet.clone();
        // The GPU binds no empty list.
        feet.resize(feet.len().max(1), Foot::default());
        let feet = filled("feet", bytemuck::cast_slice(&feet));
        let levels = footing::levels(&self.scenery);
        let levels = filled("levels", bytemuck::cast_slice(&levels));
        let given = [feet.as_entire_binding(), levels.as_entire_binding()];
        let given = group(&gpu.device, &self.layouts.ground, &given);
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = begin(
                &mut encoder,
                "paint ground",
                &self.targets.ground,
                LoadOp::Clear(wgpu::Color::BLACK),
            );
            pass.set_pipeline(&self.pipelines.ground_paint);
            pass.set_bind_group(0, &self.groups.frame, &[]);
            pass.set_bind_group(1, &given, &[]);
            pass.draw(0..3, 0..1);
        }
        gpu.queue.submit([encoder.finish()]);
    }

    /// Writes this frame's numbers, stones first, then fish.
    pub(super) fn upload_frame(&mut self) {
        let Self {
            gpu, list, stones, ..
        } = self;
        let queue = &gpu.queue;
        queue.write_buffer(&self.frame_buffer, 0, bytemuck::bytes_of(&self.frame));
        let first_joint = stones.joints.len() as f32;
        for instance in &mut list.instances {
            instance.kind[0] += first_joint;
        }
        let still = bytemuck::cast_slice::<Instance, u8>(&stones.instances);
        let moving = bytemuck::cast_slice::<Instance, u8>(&list.instances);
        let mut grown = self
            .instances
            .fit(&gpu.device, (still.len() + moving.len()) as u64);
        queue.write_buffer(&self.instances.buffer, 0, still);
        queue.write_buffer(&self.instances.buffer, still.len() as u64, moving);
        let still = bytemuck::cast_slice::<Rows, u8>(&stones.joints);
        let moving = bytemuck::cast_slice::<Rows, u8>(&list.joints);
        grown |= self
            .joints
            .fit(&gpu.device, (still.len() + moving.len()) as u64);
        queue.write_buffer(&self.joints.buffer, 0, still);
        queue.write_buffer(&self.joints.buffer, still.len() as u64, moving);
        if grown {
            self.regroup();
        }
        let Self {
            gpu, list, stones, ..
        } = self;
        let queue = &gpu.queue;
        let still = bytemuck::cast_slice::<ShadeCorner, u8>(&stones.shade);
        let moving = bytemuck::cast_slice::<ShadeCorner, u8>(&list.shade);
        self.shade
            .fit(&gpu.device, (still.len() + moving.len()) as u64);
        queue.write_buffer(&self.shade.buffer, 0, still);
        queue.write_buffer(&self.shade.buffer, still.len() as u64, moving);
        let strips = (stones.shade.len() + list.shade.len()) / (2 * STATIONS);
        self.shade_indices
            .fit(&gpu.device, (strips * STRIP_INDICES * 4) as u64);
        if self.shade_indices.begin_write() {
            let count = self.shade_indices.buffer.size() as usize / (STRIP_INDICES * 4);
            queue.write_buffer(
                &self.shade_indices.buffer,
                0,
                bytemuck::cast_slice(&strip_indices(count)),
            );
        }
        let specks = bytemuck::cast_slice(&self.dust.specks);
        self.specks
            .fit(&self.gpu.device, std::mem::size_of_val(specks) as u64);
        self.gpu.queue.write_buffer(&self.specks.buffer, 0, specks);
    }

    /// Moves the water on by so many steps and works out what is seen of it.
    pub(super) fn move_water(&mut self, steps: u32, time_secs: f64) {
        let Self {
            gpu,
            ripples,
            caustics,
            stir,
            look,
            targets,
            ..
        } = self;
        ripples.advance(steps, &stir.presence, look.stir);
        caustics.bend(ripples, time_secs, look.swell);
        let (slopes, net) = (&caustics.slopes, &caustics.net);
        let size = self.scenery.grid.size;
        let slopes = bytemuck::cast_slice(slopes.as_flattened());
        write(&gpu.queue, &targets.slopes, (0, 0), size, slopes);
        write(
            &gpu.queue,
            &targets.caustics,
            (0, 0),
            size,
            net.as_flattened(),
        );
    }

    /// Sunlight on the ground, with the shadows that fall into it where the ground is seen.
    pub(super) fn light_ground(&self, encoder: &mut wgpu::CommandEncoder) {
        let strips = (self.stones.shade.len() + self.list.shade.len()) / (2 * STATIONS);
        let mut pass = begin(
            encoder,
            "ground light",
            &self.targets.ground_light,
            LoadOp::Clear(wgpu::Color::WHITE),
        );
        pass.set_bind_group(0, &self.groups.frame, &[]);
        pass.set_bind_group(1, &self.groups.shade, &[]);
        self.limit_to_scale(&mut pass, self.targets.ground_light_px);
        pass.set_pipeline(&self.pipelines.net);
        pass.draw(0..3, 0..1);
        if self.surface.kind == SurfaceKind::Ceiling {
            return;
        }
        pass.set_pipeline(&self.pipelines.shade);
        pass.set_vertex_buffer(0, self.shade.buffer.slice(..));
        pass.set_index_buffer(
            self.shade_indices.buffer.slice(..),
            wgpu::IndexFormat::Uint32,
        );
        pass.draw_indexed(0..(strips * STRIP_INDICES) as u32, 0, 0..1);
    }

    /// Draws onto the part of a picture that the present quality fills.
    fn limit_to_scale(&self, pass: &mut wgpu::RenderPass<'_>, size_px: [u32; 2]) {
        let [width, height] = size_px.map(|side| side as f32 * self.quality.scale);
        pass.set_viewport(0.0, 0.0, width, height, 0.0, 1.0);
    }

    /// Stones, then fish, over nothing.
    pub(super) fn draw_bodies(&self, encoder: &mut wgpu::CommandEncoder) {
        let targets = &self.targets;
        let (drawn, resolved) = match &targets.body_samples {
            Some(samples) => (samples, Some(&targets.bodies)),
            None => (&targets.bodies, None),
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("bodies"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: drawn,
                depth_slice: None,
                resolve_target: resolved,
                ops: wgpu::Operations {
                    load: LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: if resolved.is_some() {
                        StoreOp::Discard
                    } else {
                        StoreOp::Store
                    },
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: Some(wgpu::Operations {
                    load: LoadOp::Clear(1.0),
                    store: StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_bind_group(0, &self.groups.frame, &[]);
        pass.set_bind_group(1, &self.groups.below, &[]);
        self.limit_to_scale(&mut pass, self.targets.size_px);
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        let stone_count = self.stones.instances.len() as u32;
        pass.set_pipeline(&self.pipelines.stone);
        let (stones, fish) = self
            .meshes
            .split_at(self.stones.batches.len().min(self.meshes.len()));
        let drawn = || stones.iter().zip(&self.stones.batches).enumerate();
        for (place, (mesh, batch)) in drawn().take(2 * FALL) {
            if place == 2 * PLANT {
                pass.set_pipeline(&self.pipelines.plant);
            }
            draw_batch(&mut pass, mesh, batch.first, batch.count);
        }
        pass.set_pipeline(&self.pipelines.fish);
        for (mesh, batch) in fish.iter().zip(&self.list.batches) {
            draw_batch(&mut pass, mesh, stone_count + batch.first, batch.count);
        }
        if let Some((_, (mesh, batch))) = drawn().nth(2 * FALL) {
            pass.set_pipeline(&self.pipelines.fall);
            draw_batch(&mut pass, mesh, batch.first, batch.count);
        }
        if !self.quality.is_plain && !self.dust.specks.is_empty() {
            pass.set_pipeline(&self.pipelines.dust);
            pass.set_vertex_buffer(0, self.specks.buffer.slice(..));
            pass.draw(0..3, 0..self.dust.specks.len() as u32);
        }
    }
}

/// A pass over one picture without depth.
pub(super) fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    view: &TextureView,
    load: LoadOp<wgpu::Color>,
) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load,
                store: StoreOp::Store,
            },
        })],
        ..wgpu::RenderPassDescriptor::default()
    })
}
