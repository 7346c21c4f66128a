//! Reads a [`Model`] from the bytes of a `.glb` file. Sizes, indices, numbers and the node tree are validated.

use glam::Vec3;

use super::accessor::Source;
use super::advice;
use super::animation;
use super::container;
use super::data::{COARSER, LEVELS, Model, ModelVertex};
use super::document::{Document, Primitive};
use super::error::{ModelError, ModelProblem, at_most};
use super::joints::JointList;
use super::left_out::LeftOut;
use super::mesh::{MeshReader, is_drawn};
use super::nodes::Tree;
use super::skin::{SkinAtlas, material};

/// Largest size of a file.
const MAX_FILE_BYTES: usize = 32 << 20;
/// Largest number of parts of a model. A part is a primitive of a mesh; it counts once for every node that shows the mesh.
const MAX_PARTS: usize = 4096;
/// Smallest extent of a model, in units of its file. A smaller one is an error of a scale or of missing positions.
const MIN_EXTENT: f32 = 1e-6;
/// Smallest ratio of the length of a model to its largest extent. A model is scaled to the length of its fish, so a model
/// without length would become infinitely large.
const MIN_LENGTH_SHARE: f32 = 1e-3;
/// The extensions that are supported. A file may require them.
const SUPPORTED_EXTENSIONS: [&str; 2] = ["KHR_mesh_quantization", "KHR_texture_transform"];
/// Extensions that add a smaller or better copy of data to a file. The original data is drawn instead, and the copy is not
/// reported as left out.
const EXTENSIONS_WITH_FALLBACK: [&str; 6] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_texture_basisu",
    "EXT_texture_webp",
    "EXT_texture_avif",
];

impl Model {
    /// Reads a binary glTF file. `name` is the name of the file in the error.
    ///
    /// # Errors
    /// [`ModelError`] if the bytes are no valid glTF 2.0 file, need an unsupported feature, or exceed a limit.
    pub fn from_glb(name: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        read_model(bytes).map_err(|problem| ModelError {
            file: name.to_owned(),
            problem,
        })
    }
}

/// A primitive that is drawn.
struct Part<'a> {
    node: usize,
    primitive: &'a Primitive,
    level: usize,
}

fn read_model(bytes: &[u8]) -> Result<Model, ModelProblem> {
    at_most("bytes", bytes.len(), MAX_FILE_BYTES)?;
    let mut left_out = LeftOut::default();
    let chunks = container::split(bytes, &mut left_out)?;
    let document = Document::parse(chunks.json)?;
    check_version(&document)?;
    check_extensions(&document, &mut left_out)?;
    let source = Source::new(&document, chunks.bin);
    let tree = Tree::new(&document.nodes)?;
    let nodes = tree.nodes_with_mesh(&document)?;
    let parts = parts(&document, &nodes, &mut left_out)?;
    let materials: Vec<_> = parts.iter().map(|part| part.primitive.material).collect();
    for &index in &materials {
        note_materials(&source, index, &mut left_out)?;
    }
    let skin = SkinAtlas::new(&source, &materials, &mut left_out)?;
    let mut joints = JointList::new(&source, &tree, &nodes)?;
    let mut reader = MeshReader {
        source: &source,
        skin: &skin,
        vertices: Vec::new(),
    };
    let mut levels: [Vec<u32>; LEVELS] = Default::default();
    for part in &parts {
        let placement = joints.placement(part.node, &mut left_out)?;
        if let (Some(list), Some(placement)) = (levels.get_mut(part.level), placement) {
            reader.add(part.primitive, &placement, list, &mut left_out)?;
        }
    }
    let [indices, coarser @ ..] = levels;
    if indices.is_empty() {
        return Err(ModelProblem::NoMesh);
    }
    let vertices = reader.vertices;
    let skeleton = joints.finish()?;
    let clips = animation::clips(&source, &skeleton, &mut left_out)?;
    let size = size(&vertices)?;
    let mut notes = left_out.into_notes();
    notes.extend(advice::shape(&vertices, &indices, size));
    notes.extend(advice::clips(&clips, skeleton.joints.len()));
    Ok(Model {
        vertices,
        indices,
        coarser,
        joints: skeleton.joints,
        order: skeleton.order,
        clips,
        skin: skin.image,
        size,
        notes,
    })
}

/// Returns the extent of a model along x, y and z.
fn size(vertices: &[ModelVertex]) -> Result<Vec3, ModelProblem> {
    let points = || (vertices.iter()).map(|vertex| Vec3::from_array(vertex.position));
    let size =
        points().fold(Vec3::NEG_INFINITY, Vec3::max) - points().fold(Vec3::INFINITY, Vec3::min);
    let largest = size.max_element();
    if largest < MIN_EXTENT {
        return Err(ModelProblem::NoExtent);
    }
    if size.z < MIN_EXTENT.max(MIN_LENGTH_SHARE * largest) {
        return Err(ModelProblem::NoLength);
    }
    Ok(size)
}

/// Returns the primitives with triangles, in the order of their levels of detail.
fn parts<'a>(
    document: &'a Document,
    nodes: &[usize],
    left_out: &mut LeftOut,
) -> Result<Vec<Part<'a>>, ModelProblem> {
    // The ends of the names of nodes select the level, unless there is no full mesh.
    let level = |node: usize| {
        let name = document.nodes.get(node).and_then(|node| node.name.as_ref());
        let name = name.map(|name| name.to_lowercase()).unwrap_or_default();
        let suffix = COARSER.iter().position(|suffix| name.ends_with(suffix));
        suffix.map_or(0, |i| i + 1)
    };
    let has_full = nodes.iter().any(|&node| level(node) == 0);
    let mut parts = Vec::new();
    for &node in nodes {
        let index = document.nodes.get(node).and_then(|node| node.mesh);
        let mesh = index.and_then(|index| document.meshes.get(index));
        let mesh = mesh.ok_or_else(|| {
            ModelProblem::Damaged(format!("node {node} shows a mesh that does not exist"))
        })?;
        at_most("parts", parts.len() + mesh.primitives.len(), MAX_PARTS)?;
        for primitive in &mesh.primitives {
            if is_drawn(primitive, left_out)? {
                parts.push(Part {
                    node,
                    primitive,
                    level: if has_full { level(node) } else { 0 },
                });
            }
        }
    }
    parts.sort_by_key(|part| part.level);
    Ok(parts)
}

/// Records the properties of materials that are not drawn.
fn note_materials(
    source: &Source<'_>,
    index: Option<usize>,
    left_out: &mut LeftOut,
) -> Result<(), ModelProblem> {
    if let Some(material) = material(source, index)? {
        if material.normal_texture.is_some() {
            left_out.add("normal maps");
        }
        if material.emissive_texture.is_some() {
            left_out.add("emissive maps");
        } else if material
            .emissive_factor
            .is_some_and(|factor| factor != [0.0; 3])
        {
            left_out.add("emissive colors");
        }
    }
    Ok(())
}

/// Rejects versions of glTF other than 2.
fn check_version(document: &Document) -> Result<(), ModelProblem> {
    let asset = &document.asset;
    let needed = asset.min_version.as_ref().unwrap_or(&asset.version);
    let is_readable = match &asset.min_version {
        Some(version) => version == "2.0",
        None => asset.version.starts_with("2."),
    };
    if is_readable {
        return Ok(());
    }
    Err(ModelProblem::Broken(format!("it needs glTF {needed}")))
}

/// Rejects a file that requires an unsupported extension. Records unsupported extensions that the file uses but does not
/// require.
fn check_extensions(document: &Document, left_out: &mut LeftOut) -> Result<(), ModelProblem> {
    let is_supported = |name: &str| SUPPORTED_EXTENSIONS.contains(&name);
    let mut required = document.extensions_required.iter();
    if let Some(name) = required.find(|name| !is_supported(name)) {
        return Err(ModelProblem::unsupported_extension(name));
    }
    for name in &document.extensions_used {
        if !is_supported(name) && !EXTENSIONS_WITH_FALLBACK.contains(&name.as_str()) {
            left_out.add(&format!("the extension {name}"));
        }
    }
    Ok(())
}
