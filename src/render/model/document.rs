//! The JSON part of a glTF file, with only the properties that this module reads. Unknown properties are ignored. The length of
//! every list is limited, so that a small text cannot take much memory.
//!
//! **Source**: Khronos glTF 2.0, section 5 "Properties reference".

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::error::ModelProblem;

/// Largest size of the JSON text.
const MAX_JSON_BYTES: usize = 8 << 20;

/// The document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: Asset,
    #[serde(default, deserialize_with = "list::<_, _, 256>")]
    pub(super) extensions_used: Vec<String>,
    #[serde(default, deserialize_with = "list::<_, _, 256>")]
    pub(super) extensions_required: Vec<String>,
    pub(super) scene: Option<usize>,
    #[serde(default, deserialize_with = "list::<_, _, 256>")]
    pub(super) scenes: Vec<Scene>,
    #[serde(default, deserialize_with = "list::<_, _, 4096>")]
    pub(super) nodes: Vec<Node>,
    #[serde(default, deserialize_with = "list::<_, _, 4096>")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, deserialize_with = "list::<_, _, 256>")]
    pub(super) skins: Vec<Skin>,
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) animations: Vec<Animation>,
    #[serde(default, deserialize_with = "list::<_, _, 65536>")]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default, deserialize_with = "list::<_, _, 65536>")]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) buffers: Vec<Buffer>,
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) materials: Vec<Material>,
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) textures: Vec<Texture>,
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) images: Vec<Image>,
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) samplers: Vec<TextureSampler>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) version: String,
    pub(super) min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default, deserialize_with = "list::<_, _, 4096>")]
    pub(super) nodes: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    pub(super) mesh: Option<usize>,
    pub(super) skin: Option<usize>,
    #[serde(default, deserialize_with = "list::<_, _, 4096>")]
    pub(super) children: Vec<usize>,
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) scale: Option<[f32; 3]>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    #[serde(default, deserialize_with = "list::<_, _, 4096>")]
    pub(super) primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    /// Accessors by name, such as `POSITION` or `TEXCOORD_0`.
    pub(super) attributes: BTreeMap<String, usize>,
    pub(super) indices: Option<usize>,
    pub(super) material: Option<usize>,
    pub(super) mode: Option<u64>,
    /// Morph targets; their content is not read.
    pub(super) targets: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub(super) draco: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    #[serde(default, deserialize_with = "list::<_, _, 1024>")]
    pub(super) joints: Vec<usize>,
    pub(super) inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "list::<_, _, 8192>")]
    pub(super) channels: Vec<AnimationChannel>,
    #[serde(default, deserialize_with = "list::<_, _, 8192>")]
    pub(super) samplers: Vec<AnimationSampler>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AnimationChannel {
    pub(super) sampler: usize,
    pub(super) target: AnimationTarget,
}

#[derive(Debug, Deserialize)]
pub(super) struct AnimationTarget {
    pub(super) node: Option<usize>,
    pub(super) path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct AnimationSampler {
    pub(super) input: usize,
    pub(super) output: usize,
    #[serde(default)]
    pub(super) interpolation: Interpolation,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Interpolation {
    Step,
    #[default]
    Linear,
    CubicSpline,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<usize>,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) component_type: u64,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) shape: Shape,
    /// Rows that replace others; their content is not read.
    pub(super) sparse: Option<IgnoredAny>,
}

/// The shape of one row of an accessor.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Shape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    pub(super) byte_stride: Option<usize>,
    #[serde(default)]
    pub(super) extensions: BufferViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct BufferViewExtensions {
    #[serde(rename = "EXT_meshopt_compression", alias = "KHR_meshopt_compression")]
    pub(super) meshopt: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    #[serde(default)]
    pub(super) pbr_metallic_roughness: PbrMetallicRoughness,
    #[serde(default)]
    pub(super) double_sided: bool,
    #[serde(default)]
    pub(super) alpha_mode: AlphaMode,
    pub(super) alpha_cutoff: Option<f32>,
    pub(super) normal_texture: Option<IgnoredAny>,
    pub(super) emissive_texture: Option<IgnoredAny>,
    pub(super) emissive_factor: Option<[f32; 3]>,
}

/// The meaning of the alpha of a base color.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Points with an alpha below the cutoff are not drawn.
    Mask,
    /// Alpha is opacity.
    Blend,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PbrMetallicRoughness {
    pub(super) base_color_factor: Option<[f32; 4]>,
    pub(super) base_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub(super) index: usize,
    #[serde(default)]
    pub(super) tex_coord: u32,
    #[serde(default)]
    pub(super) extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(super) transform: Option<TextureTransform>,
}

/// `KHR_texture_transform`: a transform of texture coordinates.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureTransform {
    #[serde(default)]
    pub(super) offset: [f32; 2],
    /// Counter-clockwise rotation, in radians.
    #[serde(default)]
    pub(super) rotation: f32,
    pub(super) scale: Option<[f32; 2]>,
    pub(super) tex_coord: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Texture {
    pub(super) source: Option<usize>,
    pub(super) sampler: Option<usize>,
    #[serde(default)]
    pub(super) extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub(super) webp: Option<IgnoredAny>,
    #[serde(rename = "KHR_texture_basisu")]
    pub(super) basisu: Option<IgnoredAny>,
}

/// The continuation of a texture beyond its edges; by default, the texture repeats.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureSampler {
    pub(super) wrap_s: Option<u64>,
    pub(super) wrap_t: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) uri: Option<String>,
    pub(super) buffer_view: Option<usize>,
    pub(super) mime_type: Option<String>,
}

impl Document {
    /// Parses the JSON chunk. Skips a byte order mark before the text and zeros after it; some exporters write these.
    ///
    /// # Errors
    /// If the text is too long, is not JSON, or has values that glTF does not allow.
    pub(super) fn parse(json: &[u8]) -> Result<Self, ModelProblem> {
        if json.len() > MAX_JSON_BYTES {
            return Err(ModelProblem::TooLarge {
                what: "bytes of JSON",
                count: json.len(),
                most: MAX_JSON_BYTES,
            });
        }
        let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
        let end = json
            .iter()
            .rposition(|&byte| byte != 0)
            .map_or(0, |i| i + 1);
        serde_json::from_slice(json.get(..end).unwrap_or(&[])).map_err(|error| {
            if error.is_data() {
                ModelProblem::Damaged(error.to_string())
            } else {
                ModelProblem::Broken(error.to_string())
            }
        })
    }
}

/// Reads a list and rejects it at the first entry beyond `MOST`.
fn list<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Entries<T, const MOST: usize>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Entries<T, MOST> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MOST} entries")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<T>, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = seq.next_element()? {
                if entries.len() == MOST {
                    return Err(A::Error::invalid_length(MOST + 1, &self));
                }
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_seq(Entries::<T, MOST>(PhantomData))
}
