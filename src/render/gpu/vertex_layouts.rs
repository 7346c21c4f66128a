//! The vertex attributes of all vertex structs. They are derived from the fields of the structs. A test compares the attributes
//! with the inputs of the shaders.

use std::mem::offset_of;

use wgpu::{VertexAttribute, VertexBufferLayout, VertexFormat, VertexStepMode};

use crate::render::dust::Speck;
use crate::render::floating::Leaf;
use crate::render::ground_shadow::GroundShadowVertex;
use crate::render::model::ModelVertex;
use crate::render::overlay::OverlayVertex;
use crate::render::warp::WarpVertex;

/// The layout of a vertex struct.
pub(super) struct VertexLayout {
    /// Size of the struct in bytes.
    pub(super) stride: u64,
    /// Names of the fields in the order of their shader locations.
    #[cfg(test)]
    pub(super) names: &'static [&'static str],
    /// One attribute per field. The index of an attribute is its shader location.
    pub(super) attributes: &'static [VertexAttribute],
}

impl VertexLayout {
    /// Returns the layout of a buffer from which the shader reads one struct per vertex.
    pub(super) fn per_vertex(&self) -> VertexBufferLayout<'static> {
        self.buffer(VertexStepMode::Vertex)
    }

    /// Returns the layout of a buffer from which the shader reads one struct per instance.
    pub(super) fn per_instance(&self) -> VertexBufferLayout<'static> {
        self.buffer(VertexStepMode::Instance)
    }

    fn buffer(&self, step_mode: VertexStepMode) -> VertexBufferLayout<'static> {
        VertexBufferLayout {
            array_stride: self.stride,
            step_mode,
            attributes: self.attributes,
        }
    }
}

/// Builds the [`VertexLayout`] of a struct from its fields: `location field: Format`.
macro_rules! vertex_layout {
    ($type:ty { $($location:literal $field:ident: $format:ident),* $(,)? }) => {
        VertexLayout {
            stride: size_of::<$type>() as u64,
            #[cfg(test)]
            names: &[$(stringify!($field)),*],
            attributes: &[$(VertexAttribute {
                format: VertexFormat::$format,
                offset: offset_of!($type, $field) as u64,
                shader_location: $location,
            }),*],
        }
    };
}

/// Layout of the vertices of models.
pub(super) const MODEL: VertexLayout = vertex_layout!(ModelVertex {
    0 position: Float32x3,
    1 normal: Float32x3,
    2 uv: Float32x2,
    3 color: Unorm8x4,
    4 joints: Uint8x4,
    5 weights: Unorm8x4,
});
/// Layout of the vertices of shadows on the ground.
pub(super) const GROUND_SHADOW: VertexLayout = vertex_layout!(GroundShadowVertex {
    0 position_m: Float32x2,
    1 uv: Float32x2,
    2 mask_layer: Float32,
    3 mask_level: Float32,
    4 strength: Float32,
});
/// Layout of specks; one speck per instance.
pub(super) const SPECK: VertexLayout = vertex_layout!(Speck {
    0 position_m: Float32x3,
    1 radius_m: Float32,
});
/// Layout of floating leaves; one leaf per instance.
pub(super) const LEAF: VertexLayout = vertex_layout!(Leaf {
    0 position_m: Float32x2,
    1 half_length_m: Float32x2,
    2 kind: Float32,
    3 tone: Float32,
});
/// Layout of the vertices of the overlay.
pub(super) const OVERLAY: VertexLayout = vertex_layout!(OverlayVertex {
    0 position: Float32x2,
    1 glyph_uv: Float32x2,
    2 color: Float32x4,
});
/// Layout of the vertices of the warp.
pub(super) const WARP: VertexLayout = vertex_layout!(WarpVertex {
    0 clip_xyw: Float32x3,
    1 picture: Float32x2,
    2 crop: Float32x2,
});
