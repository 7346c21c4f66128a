//! Small things among the bodies, one per instance of a few vertices: floating leaves and specks.

use bytemuck::Pod;
use wgpu::{BindGroupLayout, BufferUsages, Device, RenderPass, RenderPipeline};

use super::bodies::BodyKind;
use super::body_targets::BODIES;
use super::device::Gpu;
use super::pipeline::{Draws, OVER, PipelineDescription, surface_constant};
use super::textures::GrowingBuffer;
use super::vertex_layouts::{self, VertexLayout};

/// A kind of small things.
pub(super) struct SmallKind {
    /// Name of the shader, and of the buffer.
    name: &'static str,
    /// Entry points of vertices and fragments.
    entries: [&'static str; 2],
    layout: VertexLayout,
    /// Number of vertices of one thing.
    vertices: u32,
}

/// Petals, leaves and blossoms on the water.
pub(super) const LEAVES: SmallKind = SmallKind {
    name: "floating",
    entries: ["leaf_vertex", "leaf_light"],
    layout: vertex_layouts::LEAF,
    vertices: 6,
};
/// Specks in the water.
pub(super) const SPECKS: SmallKind = SmallKind {
    name: "dust",
    entries: ["speck_vertex", "speck_light"],
    layout: vertex_layouts::SPECK,
    vertices: 3,
};

impl SmallKind {
    /// Compiles the pipeline of this kind.
    pub(super) fn compile(
        &self,
        device: &Device,
        scene: &BindGroupLayout,
        kind: BodyKind,
    ) -> RenderPipeline {
        let [vertex, fragment] = self.entries;
        PipelineDescription {
            shader: self.name,
            bind_groups: &[scene],
            vertex: (vertex, Some(self.layout.per_instance())),
            fragment: (fragment, BODIES, OVER),
            draws: Draws::Bodies {
                samples: kind.samples,
            },
            constants: &[surface_constant(kind.surface)],
        }
        .compile(device)
    }
}

/// The things of one kind in a scene.
pub(super) struct SmallBodies {
    buffer: GrowingBuffer,
    /// Number of vertices of one thing.
    vertices: u32,
    /// Number of things in the last picture.
    count: u32,
}

impl SmallBodies {
    pub(super) fn new(device: &Device, kind: &SmallKind) -> Self {
        Self {
            buffer: GrowingBuffer::new(device, kind.name, BufferUsages::VERTEX, 4096),
            vertices: kind.vertices,
            count: 0,
        }
    }

    /// Uploads the things of a picture, from two lists.
    pub(super) fn upload<T: Pod>(&mut self, gpu: &Gpu, [some, others]: [&[T]; 2]) {
        self.buffer.write(gpu, [some, others]);
        self.count = (some.len() + others.len()) as u32;
    }

    /// Draws the things.
    pub(super) fn draw(&self, pass: &mut RenderPass<'_>, pipeline: &RenderPipeline) {
        if self.count > 0 {
            pass.set_pipeline(pipeline);
            pass.set_vertex_buffer(0, self.buffer.buffer.slice(..));
            pass.draw(0..self.vertices, 0..self.count);
        }
    }

    /// Number of triangles in the last picture.
    pub(super) fn triangles(&self) -> u64 {
        u64::from(self.vertices / 3 * self.count)
    }
}
