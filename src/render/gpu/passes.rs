//! The passes of a picture as a list, those that are drawn once for all outputs, and the upload of their data.

use glam::Vec2;
use wgpu::{LoadOp, StoreOp, TextureView};

use super::bind_groups::bind_group;
use super::costs::PassCost;
use super::meshes::{STRIP_INDICES, draw_batch, strip_indices};
use super::renderer::Renderer;
use super::targets::buffer;
use super::water::WaterChange;
use crate::geometry::SurfaceKind;
use crate::render::draw_list::BodyInstance;
use crate::render::ground_contact::{self, GroundContact, TerraceGround};
use crate::render::ground_shadow::GroundShadowVertex;
use crate::render::model::LEVELS;
use crate::render::pose::AffineRows;
use crate::render::shadow_mask::SPINE_STATIONS;
use crate::render::static_bodies::{PLANT, WATERFALL};

/// A pass of a picture, or several passes of one kind.
pub(super) struct Pass {
    /// Records the pass.
    pub encode: fn(&Renderer, &mut wgpu::CommandEncoder),
    /// Returns the work of the pass in the last picture.
    pub costs: fn(&Renderer) -> Vec<PassCost>,
}

/// All passes of a picture, in the order in which they are drawn.
pub(super) const PASSES: [Pass; 4] = [
    Pass {
        encode: |renderer, encoder| renderer.water.encode(encoder),
        costs: |renderer| renderer.water.pass_costs(),
    },
    Pass {
        encode: Renderer::draw_ground_shadows,
        costs: |renderer| vec![renderer.ground_shadow_cost()],
    },
    Pass {
        encode: Renderer::draw_bodies,
        costs: |renderer| vec![renderer.bodies_cost()],
    },
    Pass {
        encode: Renderer::draw_outputs,
        costs: Renderer::output_costs,
    },
];

impl Renderer {
    /// Paints the ground texture. Called once per scene.
    pub(super) fn paint_ground(&self) {
        let gpu = &self.gpu;
        gpu.queue
            .write_buffer(&self.uniform_buffer, 0, bytemuck::bytes_of(&self.uniforms));
        let filled = |label, bytes: &[u8]| {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let made = buffer(&gpu.device, label, usage, bytes.len() as u64);
            gpu.queue.write_buffer(&made, 0, bytes);
            made
        };
        let mut contacts = self.static_bodies.contacts.clone();
        let (mut terraces, mut corners) = ground_contact::terrace_grounds(&self.scenery);
        // A buffer that is bound must not be empty, so each list gets at least one entry. The shader ignores default entries.
        contacts.resize(contacts.len().max(1), GroundContact::default());
        terraces.resize(terraces.len().max(1), TerraceGround::default());
        corners.resize(corners.len().max(1), Vec2::ZERO);
        let contacts = filled("ground contacts", bytemuck::cast_slice(&contacts));
        let terraces = filled("terraces", bytemuck::cast_slice(&terraces));
        let corners = filled("terrace corners", bytemuck::cast_slice(&corners));
        let inputs = [&contacts, &terraces, &corners].map(wgpu::Buffer::as_entire_binding);
        let inputs = bind_group(&gpu.device, &self.layouts.ground, &inputs);
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
            pass.set_bind_group(0, &self.bind_groups.scene, &[]);
            pass.set_bind_group(1, &inputs, &[]);
            pass.draw(0..3, 0..1);
        }
        gpu.queue.submit([encoder.finish()]);
    }

    /// Uploads the draw data of this picture. In each buffer, static bodies come first, then fish.
    pub(super) fn upload_draw_data(&mut self) {
        let Self {
            gpu,
            draw_list,
            static_bodies,
            ..
        } = self;
        let queue = &gpu.queue;
        queue.write_buffer(&self.uniform_buffer, 0, bytemuck::bytes_of(&self.uniforms));
        let first_joint = static_bodies.joints.len() as u32;
        for instance in &mut draw_list.instances {
            instance.first_joint += first_joint;
        }
        let fixed = bytemuck::cast_slice::<BodyInstance, u8>(&static_bodies.instances);
        let moving = bytemuck::cast_slice::<BodyInstance, u8>(&draw_list.instances);
        let mut has_grown = self
            .instance_buffer
            .fit(&gpu.device, (fixed.len() + moving.len()) as u64);
        queue.write_buffer(&self.instance_buffer.buffer, 0, fixed);
        queue.write_buffer(&self.instance_buffer.buffer, fixed.len() as u64, moving);
        let fixed = bytemuck::cast_slice::<AffineRows, u8>(&static_bodies.joints);
        let moving = bytemuck::cast_slice::<AffineRows, u8>(&draw_list.joints);
        has_grown |= self
            .joint_buffer
            .fit(&gpu.device, (fixed.len() + moving.len()) as u64);
        queue.write_buffer(&self.joint_buffer.buffer, 0, fixed);
        queue.write_buffer(&self.joint_buffer.buffer, fixed.len() as u64, moving);
        if has_grown {
            self.rebind();
        }
        let Self {
            gpu,
            draw_list,
            static_bodies,
            ..
        } = self;
        let queue = &gpu.queue;
        let fixed = bytemuck::cast_slice::<GroundShadowVertex, u8>(&static_bodies.ground_shadows);
        let moving = bytemuck::cast_slice::<GroundShadowVertex, u8>(&draw_list.ground_shadows);
        self.ground_shadow_vertices
            .fit(&gpu.device, (fixed.len() + moving.len()) as u64);
        queue.write_buffer(&self.ground_shadow_vertices.buffer, 0, fixed);
        queue.write_buffer(
            &self.ground_shadow_vertices.buffer,
            fixed.len() as u64,
            moving,
        );
        let strips = (static_bodies.ground_shadows.len() + draw_list.ground_shadows.len())
            / (2 * SPINE_STATIONS);
        self.ground_shadow_indices
            .fit(&gpu.device, (strips * STRIP_INDICES * 4) as u64);
        if self.ground_shadow_indices.begin_write() {
            let count = self.ground_shadow_indices.buffer.size() as usize / (STRIP_INDICES * 4);
            queue.write_buffer(
                &self.ground_shadow_indices.buffer,
                0,
                bytemuck::cast_slice(&strip_indices(count)),
            );
        }
        let specks = bytemuck::cast_slice(&self.dust.specks);
        self.speck_buffer
            .fit(&self.gpu.device, std::mem::size_of_val(specks) as u64);
        self.gpu
            .queue
            .write_buffer(&self.speck_buffer.buffer, 0, specks);
        let leaves = bytemuck::cast_slice(&self.floating.leaves);
        self.leaf_buffer
            .fit(&self.gpu.device, std::mem::size_of_val(leaves) as u64);
        self.gpu
            .queue
            .write_buffer(&self.leaf_buffer.buffer, 0, leaves);
    }

    /// Advances the water to the time of this picture.
    pub(super) fn update_water(&mut self, since_secs: f32, time_secs: f64) {
        let change = WaterChange {
            pressure: &self.pressure.pressure,
            agents: self.draw_list.agents(),
            since_secs,
            time_secs,
            quality: self.quality,
        };
        self.water.update(&self.gpu.queue, &self.look, &change);
    }

    /// Draws the shadows of bodies on the ground. A ceiling shows no ground.
    fn draw_ground_shadows(&self, encoder: &mut wgpu::CommandEncoder) {
        let strips = (self.static_bodies.ground_shadows.len()
            + self.draw_list.ground_shadows.len())
            / (2 * SPINE_STATIONS);
        let mut pass = begin(
            encoder,
            "ground shadows",
            &self.targets.ground_shadow,
            LoadOp::Clear(wgpu::Color::WHITE),
        );
        if self.surface.kind == SurfaceKind::Ceiling {
            return;
        }
        pass.set_bind_group(0, &self.bind_groups.scene, &[]);
        pass.set_bind_group(1, &self.bind_groups.ground_shadow, &[]);
        self.limit_to_scale(&mut pass, self.targets.ground_shadow_px);
        pass.set_pipeline(&self.pipelines.ground_shadow);
        pass.set_vertex_buffer(0, self.ground_shadow_vertices.buffer.slice(..));
        pass.set_index_buffer(
            self.ground_shadow_indices.buffer.slice(..),
            wgpu::IndexFormat::Uint32,
        );
        pass.draw_indexed(0..(strips * STRIP_INDICES) as u32, 0, 0..1);
    }

    /// Restricts a pass to the part of its target that is drawn at the current quality.
    fn limit_to_scale(&self, pass: &mut wgpu::RenderPass<'_>, size_px: [u32; 2]) {
        let [width, height] = size_px.map(|side| side as f32 * self.quality.scale);
        pass.set_viewport(0.0, 0.0, width, height, 0.0, 1.0);
    }

    /// Draws static bodies, fish, waterfalls, floating leaves and specks over a transparent background.
    fn draw_bodies(&self, encoder: &mut wgpu::CommandEncoder) {
        let targets = &self.targets;
        let (light, depth) = (&targets.bodies, &targets.body_depth);
        let attachments = match &targets.samples {
            Some([lights, depths]) => [cleared(lights, Some(light)), cleared(depths, Some(depth))],
            None => [cleared(light, None), cleared(depth, None)],
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("bodies"),
            color_attachments: &attachments.map(Some),
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
        pass.set_bind_group(0, &self.bind_groups.scene, &[]);
        pass.set_bind_group(1, &self.bind_groups.bodies, &[]);
        self.limit_to_scale(&mut pass, self.targets.size_px);
        pass.set_vertex_buffer(0, self.vertex_buffer.slice(..));
        pass.set_index_buffer(self.index_buffer.slice(..), wgpu::IndexFormat::Uint32);
        let stone_count = self.static_bodies.instances.len() as u32;
        pass.set_pipeline(&self.pipelines.stone);
        let (static_meshes, fish) = self
            .meshes
            .split_at(self.static_bodies.batches.len().min(self.meshes.len()));
        let drawn = || {
            static_meshes
                .iter()
                .zip(&self.static_bodies.batches)
                .enumerate()
        };
        for (index, (mesh, batch)) in drawn().take(LEVELS * WATERFALL) {
            if index == LEVELS * PLANT {
                pass.set_pipeline(&self.pipelines.plant);
            }
            draw_batch(&mut pass, mesh, batch.first, batch.count);
        }
        pass.set_pipeline(&self.pipelines.fish);
        for (mesh, batch) in fish.iter().zip(&self.draw_list.batches) {
            draw_batch(&mut pass, mesh, stone_count + batch.first, batch.count);
        }
        if let Some((_, (mesh, batch))) = drawn().nth(LEVELS * WATERFALL) {
            pass.set_pipeline(&self.pipelines.waterfall);
            draw_batch(&mut pass, mesh, batch.first, batch.count);
        }
        if !self.floating.leaves.is_empty() {
            pass.set_pipeline(&self.pipelines.floating);
            pass.set_vertex_buffer(0, self.leaf_buffer.buffer.slice(..));
            pass.draw(0..6, 0..self.floating.leaves.len() as u32);
        }
        if !self.quality.is_reduced && !self.dust.specks.is_empty() {
            pass.set_pipeline(&self.pipelines.dust);
            pass.set_vertex_buffer(0, self.speck_buffer.buffer.slice(..));
            pass.draw(0..3, 0..self.dust.specks.len() as u32);
        }
    }

    /// Draws the picture of each output.
    fn draw_outputs(&self, encoder: &mut wgpu::CommandEncoder) {
        for output in &self.outputs {
            output.encode(encoder, &self.pipelines, &self.bind_groups);
        }
    }
}

/// Returns the attachment of a cleared texture. With `resolved`, its samples are averaged into that texture.
fn cleared<'a>(
    view: &'a TextureView,
    resolved: Option<&'a TextureView>,
) -> wgpu::RenderPassColorAttachment<'a> {
    let store = match resolved {
        Some(_) => StoreOp::Discard,
        None => StoreOp::Store,
    };
    wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: resolved,
        ops: wgpu::Operations {
            load: LoadOp::Clear(wgpu::Color::TRANSPARENT),
            store,
        },
    }
}

/// Begins a pass that draws to one texture, without a depth buffer.
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
