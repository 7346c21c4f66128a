//! Bodies on the GPU: stones, plants, waterfalls and fish.
//!
//! In: models, static bodies, the draw list. Out: draw calls in the pass of the bodies.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, BufferUsages, Device, ShaderStages};
use wgpu::{RenderPass, RenderPipeline, TextureView};

use super::body_targets::BODIES;
use super::costs;
use super::device::Gpu;
use super::meshes::{Mesh, Meshes};
use super::pipeline::{Constant, Draws, FLAT, LAYERS, LIST, OVER, PipelineDescription, SAMPLER};
use super::pipeline::{at_once, bind_group, flag, layout, surface_constant};
use super::samplers::Samplers;
use super::textures::GrowingBuffer;
use super::vertex_layouts;
use crate::geometry::SurfaceKind;
use crate::render::draw_list::{BodyInstance, DrawList};
use crate::render::model::LEVELS;
use crate::render::pose::AffineRows;
use crate::render::static_bodies::{PLANT, StaticBodies, WATERFALL};

/// The properties of a scene for which the pipelines are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyKind {
    pub(super) surface: SurfaceKind,
    /// Samples per pixel.
    pub(super) samples: u32,
    /// Largest number of joints that move one vertex.
    pub(super) influences: usize,
    /// Whether a species has color varieties.
    pub(super) has_varieties: bool,
    /// Whether a species has markings.
    pub(super) has_markings: bool,
}

/// The pipelines of bodies.
#[derive(Clone)]
pub(super) struct BodyPipelines {
    inputs: BindGroupLayout,
    fish: RenderPipeline,
    stone: RenderPipeline,
    plant: RenderPipeline,
    waterfall: RenderPipeline,
}

impl BodyPipelines {
    pub(super) fn new(device: &Device, scene: &BindGroupLayout, kind: BodyKind) -> Self {
        let types = [FLAT, SAMPLER, LAYERS, LIST, LIST, FLAT, SAMPLER];
        let inputs = layout(device, "bodies", ShaderStages::VERTEX_FRAGMENT, &types);
        let constants: [Constant; 4] = [
            surface_constant(kind.surface),
            ("INFLUENCES", kind.influences as f64),
            ("HAS_VARIETIES", flag(kind.has_varieties)),
            ("HAS_MARKINGS", flag(kind.has_markings)),
        ];
        let compile = |vertex, fragment, blend| {
            PipelineDescription {
                shader: "bodies",
                bind_groups: &[scene, &inputs],
                vertex: (vertex, Some(vertex_layouts::MODEL.per_vertex())),
                fragment: (fragment, BODIES, blend),
                draws: Draws::Bodies {
                    samples: kind.samples,
                },
                constants: &constants,
            }
            .compile(device)
        };
        let [fish, stone, plant, waterfall] = at_once([
            &|| compile("fish_vertex", "fish_light", OVER),
            &|| compile("body_vertex", "stone_light", None),
            &|| compile("plant_vertex", "plant_light", OVER),
            &|| compile("fall_vertex", "waterfall_light", OVER),
        ]);
        Self {
            inputs,
            fish,
            stone,
            plant,
            waterfall,
        }
    }
}

/// The bodies of one scene.
pub(super) struct Bodies {
    /// The meshes of every model, [`LEVELS`] each: static models first, then the models of species.
    meshes: Meshes,
    instances: GrowingBuffer,
    joints: GrowingBuffer,
    group: BindGroup,
    textures: BodyTextures,
}

/// The textures that the shaders of bodies read.
pub(super) struct BodyTextures {
    /// The sunlight that the water focuses.
    pub(super) sunlight: TextureView,
    pub(super) skins: TextureView,
    pub(super) weathering: TextureView,
    pub(super) samplers: Samplers,
}

impl Bodies {
    /// Creates the buffers of a scene.
    pub(super) fn new(
        gpu: &Gpu,
        pipelines: &BodyPipelines,
        meshes: Meshes,
        textures: BodyTextures,
    ) -> Self {
        let device = &gpu.device;
        let grow = |label, bytes| GrowingBuffer::new(device, label, BufferUsages::STORAGE, bytes);
        let (instances, joints) = (grow("instances", 4096), grow("joints", 65536));
        Self {
            group: group(device, pipelines, &textures, [&instances, &joints]),
            meshes,
            instances,
            joints,
            textures,
        }
    }

    /// Uploads the bodies of a picture. In each buffer, static bodies come first, then fish.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        pipelines: &BodyPipelines,
        fixed: &StaticBodies,
        moving: &mut DrawList,
    ) {
        let first_joint = fixed.joints.len() as u32;
        for instance in &mut moving.instances {
            instance.first_joint += first_joint;
        }
        let instances = [&fixed.instances[..], &moving.instances];
        let mut has_grown = self.instances.write(gpu, instances);
        has_grown |= self.joints.write(gpu, [&fixed.joints, &moving.joints]);
        if has_grown {
            let buffers = [&self.instances, &self.joints];
            self.group = group(&gpu.device, pipelines, &self.textures, buffers);
        }
    }

    /// Draws static bodies, then fish, then waterfalls, which are over everything that swims.
    pub(super) fn draw(
        &self,
        pass: &mut RenderPass<'_>,
        pipelines: &BodyPipelines,
        fixed: &StaticBodies,
        moving: &DrawList,
    ) {
        pass.set_bind_group(1, &self.group, &[]);
        self.meshes.bind(pass);
        let (static_meshes, fish) = self.split(fixed);
        let mut batches = static_meshes.iter().zip(&fixed.batches);
        let mut draw_next = |pass: &mut RenderPass<'_>, pipeline, models: usize| {
            pass.set_pipeline(pipeline);
            for (mesh, batch) in batches.by_ref().take(LEVELS * models) {
                mesh.draw(pass, *batch, 0);
            }
        };
        draw_next(pass, &pipelines.stone, PLANT);
        draw_next(pass, &pipelines.plant, WATERFALL - PLANT);
        pass.set_pipeline(&pipelines.fish);
        for (mesh, batch) in fish.iter().zip(&moving.batches) {
            mesh.draw(pass, *batch, fixed.instances.len() as u32);
        }
        draw_next(pass, &pipelines.waterfall, 1);
    }

    /// Returns the meshes of static bodies, and those of fish.
    fn split(&self, fixed: &StaticBodies) -> (&[Mesh], &[Mesh]) {
        let list = &self.meshes.list;
        list.split_at(fixed.batches.len().min(list.len()))
    }

    /// Returns the number of triangles, and the bytes that the shaders read.
    pub(super) fn cost(&self, fixed: &StaticBodies, moving: &DrawList) -> (u64, u64) {
        let (static_meshes, fish) = self.split(fixed);
        let static_batches = static_meshes.iter().zip(&fixed.batches);
        let batches = static_batches.chain(fish.iter().zip(&moving.batches));
        let instances = fixed.instances.len() + moving.instances.len();
        let joints = fixed.joints.len() + moving.joints.len();
        let lists = instances * size_of::<BodyInstance>() + joints * size_of::<AffineRows>();
        let textures = &self.textures;
        let textures = [&textures.sunlight, &textures.skins, &textures.weathering];
        (
            batches.map(|(mesh, batch)| mesh.triangles(*batch)).sum(),
            lists as u64 + textures.into_iter().map(costs::bytes).sum::<u64>(),
        )
    }
}

/// Creates the bind group of bodies.
fn group(
    device: &Device,
    pipelines: &BodyPipelines,
    textures: &BodyTextures,
    [instances, joints]: [&GrowingBuffer; 2],
) -> BindGroup {
    let samplers = &textures.samplers;
    let inputs = [
        BindingResource::TextureView(&textures.sunlight),
        BindingResource::Sampler(&samplers.smooth),
        BindingResource::TextureView(&textures.skins),
        instances.buffer.as_entire_binding(),
        joints.buffer.as_entire_binding(),
        BindingResource::TextureView(&textures.weathering),
        BindingResource::Sampler(&samplers.tiling),
    ];
    bind_group(device, &pipelines.inputs, &inputs)
}
