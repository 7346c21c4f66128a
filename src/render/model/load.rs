//! Reads a [`Model`] from the bytes of a `.glb` file. Sizes, indices, numbers and the node tree are validated.

use std::io::Cursor;

use glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use gltf::animation::{Interpolation, Property};
use image::RgbaImage;

use super::accessor::{rows, slice};
use super::clip::{self, Between, Channel, Clip};
use super::data::{Model, Vertex};
use super::error::{ModelError, ModelProblem};
use super::skeleton::{Joint, JointTransform};

/// Largest number of vertices of a model.
const MAX_VERTICES: usize = 20_000;
/// Largest number of joints of a skeleton.
const MAX_JOINTS: usize = 32;
/// Largest side of a skin.
const MAX_TEXTURE_PX: u32 = 2048;
/// Largest size of a file.
const MAX_FILE_BYTES: usize = 32 << 20;

/// Largest number of clips in a file.
const MAX_CLIPS: usize = 64;

impl Model {
    /// Reads a binary glTF file. `name` is the name of the file for the error.
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

fn read_model(bytes: &[u8]) -> Result<Model, ModelProblem> {
    at_most("bytes", bytes.len(), MAX_FILE_BYTES)?;
    let broken = |error: &dyn std::fmt::Display| ModelProblem::Broken(error.to_string());
    let glb = gltf::binary::Glb::from_slice(bytes).map_err(|error| broken(&error))?;
    let root: serde_json::Value =
        serde_json::from_slice(&glb.json).map_err(|error| broken(&error))?;
    reject_unsupported(&root)?;
    reject_unknown_values(&root)?;
    reject_missing_references(&root)?;
    let document = gltf::Gltf::from_slice(bytes)
        .map_err(|error| broken(&error))?
        .document;
    let bin = glb.bin.as_deref().unwrap_or(&[]);
    let node = document
        .nodes()
        .find(|node| node.mesh().is_some())
        .ok_or(ModelProblem::NoMesh)?;
    let mesh = node.mesh().ok_or(ModelProblem::NoMesh)?;
    let (joints, order, clips) = match node.skin() {
        Some(skin) => skeleton(&document, &skin, bin)?,
        None => (Vec::new(), Vec::new(), Vec::new()),
    };
    let mut vertices = Vec::new();
    let indices = add_mesh(&mesh, bin, joints.len(), &mut vertices)?;
    if indices.is_empty() {
        return Err(ModelProblem::NoMesh);
    }
    // A second mesh on the same skeleton, named `…_light`, is for bodies that appear small.
    let is_light = |other: &gltf::Node<'_>| {
        let same_skin =
            other.skin().map(|skin| skin.index()) == node.skin().map(|skin| skin.index());
        let named = other
            .name()
            .is_some_and(|name| name.to_lowercase().ends_with("_light"));
        other.index() != node.index() && same_skin && named
    };
    let low_detail_indices = match document.nodes().find(is_light).and_then(|node| node.mesh()) {
        Some(mesh) => add_mesh(&mesh, bin, joints.len(), &mut vertices)?,
        None => Vec::new(),
    };
    let texture = mesh.primitives().find_map(|primitive| {
        primitive
            .material()
            .pbr_metallic_roughness()
            .base_color_texture()
    });
    let skin = texture
        .map(|texture| skin_image(&texture.texture().source(), bin))
        .transpose()?;
    let points = || {
        vertices
            .iter()
            .map(|vertex: &Vertex| Vec3::from_array(vertex.position))
    };
    let size =
        points().fold(Vec3::NEG_INFINITY, Vec3::max) - points().fold(Vec3::INFINITY, Vec3::min);
    Ok(Model {
        vertices,
        indices,
        low_detail_indices,
        joints,
        order,
        clips,
        skin,
        size,
    })
}

/// Rejects references to accessors of `POSITION` and to nodes of animation channels that do not exist. The `gltf` crate would
/// panic on them.
fn reject_missing_references(root: &serde_json::Value) -> Result<(), ModelProblem> {
    let list = |value: &serde_json::Value, key: &str| {
        let list = value.get(key).and_then(|v| v.as_array());
        list.cloned().unwrap_or_default()
    };
    let count = list(root, "accessors").len() as u64;
    let primitives = list(root, "meshes")
        .into_iter()
        .flat_map(|mesh| list(&mesh, "primitives"));
    for primitive in primitives {
        let at = primitive.pointer("/attributes/POSITION");
        if at
            .and_then(serde_json::Value::as_u64)
            .is_some_and(|at| at >= count)
        {
            return Err(ModelProblem::Damaged(
                "a mesh refers to an accessor of positions that does not exist".to_owned(),
            ));
        }
    }
    let nodes = list(root, "nodes").len() as u64;
    let channels = list(root, "animations")
        .into_iter()
        .flat_map(|animation| list(&animation, "channels"));
    for channel in channels {
        let node = channel.pointer("/target/node");
        if node
            .and_then(serde_json::Value::as_u64)
            .is_none_or(|node| node >= nodes)
        {
            return Err(ModelProblem::Damaged(
                "an animation channel refers to a node that does not exist".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Rejects a count above its limit.
fn at_most(what: &'static str, count: usize, most: usize) -> Result<(), ModelProblem> {
    if count > most {
        return Err(ModelProblem::TooLarge { what, count, most });
    }
    Ok(())
}

/// Rejects unsupported features before the `gltf` crate does, to give a message with a remedy.
fn reject_unsupported(root: &serde_json::Value) -> Result<(), ModelProblem> {
    let list = |key: &str| {
        root.get(key)
            .and_then(|v| v.as_array())
            .cloned()
            .unwrap_or_default()
    };
    if let Some(extension) = list("extensionsRequired").first() {
        let feature = extension.as_str().unwrap_or_default().to_owned();
        let remedy = match feature.as_str() {
            "KHR_draco_mesh_compression" => "export with Draco compression off",
            "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
                "do not compress it with gltfpack -c"
            }
            "KHR_texture_basisu" | "EXT_texture_webp" => "export its textures as PNG or JPEG",
            _ => "export without this extension",
        };
        return Err(ModelProblem::Unsupported { feature, remedy });
    }
    let outside = |key: &str| list(key).iter().any(|entry| entry.get("uri").is_some());
    if outside("buffers") || outside("images") {
        return Err(ModelProblem::Unsupported {
            feature: "data outside of the file (uri)".to_owned(),
            remedy: "export everything into one file, 'glTF Binary (.glb)'",
        });
    }
    Ok(())
}

/// Rejects values that glTF does not define and that pass the validation of the `gltf` crate, which panics when it reads them.
fn reject_unknown_values(root: &serde_json::Value) -> Result<(), ModelProblem> {
    use serde_json::Value;
    let entries = |of: &Value, key: &str| -> Vec<Value> {
        of.get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let unknown = |what: &str, value: Option<&Value>| {
        let value = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        Err(ModelProblem::Damaged(format!("{what} is {value}")))
    };
    let is_one_of = |value: Option<&Value>, known: &[&str]| {
        value
            .and_then(Value::as_str)
            .is_some_and(|word| known.contains(&word))
    };
    for animation in entries(root, "animations") {
        for channel in entries(&animation, "channels") {
            let path = channel.get("target").and_then(|target| target.get("path"));
            if !is_one_of(path, &["translation", "rotation", "scale", "weights"]) {
                return unknown("the path of an animation's channel", path);
            }
        }
        for sampler in entries(&animation, "samplers") {
            let between = sampler.get("interpolation");
            if between.is_some() && !is_one_of(between, &["STEP", "LINEAR", "CUBICSPLINE"]) {
                return unknown("the interpolation of an animation", between);
            }
        }
    }
    for mesh in entries(root, "meshes") {
        for primitive in entries(&mesh, "primitives") {
            let mode = primitive.get("mode");
            if mode.is_some_and(|mode| mode.as_u64().is_none_or(|mode| mode > 6)) {
                return unknown("the mode of a mesh", mode);
            }
        }
    }
    for accessor in entries(root, "accessors") {
        let (kind, shape) = (accessor.get("componentType"), accessor.get("type"));
        if !kind
            .and_then(Value::as_u64)
            .is_some_and(|kind| matches!(kind, 5120..=5123 | 5125 | 5126))
        {
            return unknown("the component type of an accessor", kind);
        }
        if !is_one_of(
            shape,
            &["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"],
        ) {
            return unknown("the type of an accessor", shape);
        }
    }
    for image in entries(root, "images") {
        let (view, kind) = (image.get("bufferView"), image.get("mimeType"));
        if !view.is_some_and(Value::is_u64) || !kind.is_some_and(Value::is_string) {
            return unknown(
                "the buffer view of an image, or its mimeType,",
                view.and(kind),
            );
        }
    }
    Ok(())
}

/// Appends the vertices of a mesh and returns the indices of its triangles.
fn add_mesh(
    mesh: &gltf::Mesh<'_>,
    bin: &[u8],
    joint_count: usize,
    vertices: &mut Vec<Vertex>,
) -> Result<Vec<u32>, ModelProblem> {
    let mut indices = Vec::new();
    for primitive in mesh.primitives() {
        if primitive.mode() == gltf::mesh::Mode::Triangles {
            add_primitive(&primitive, bin, joint_count, vertices, &mut indices)?;
        }
    }
    Ok(indices)
}

fn add_primitive(
    primitive: &gltf::Primitive<'_>,
    bin: &[u8],
    joint_count: usize,
    vertices: &mut Vec<Vertex>,
    indices: &mut Vec<u32>,
) -> Result<(), ModelProblem> {
    use gltf::Semantic;
    let first = vertices.len();
    let of = |semantic: Semantic| primitive.get(&semantic);
    let positions = rows::<3>(&of(Semantic::Positions).ok_or(ModelProblem::NoMesh)?, bin)?;
    let count = positions.len();
    at_most("vertices", first + count, MAX_VERTICES)?;
    let normals = of(Semantic::Normals)
        .map(|a| rows::<3>(&a, bin))
        .transpose()?;
    let uvs = of(Semantic::TexCoords(0))
        .map(|a| rows::<2>(&a, bin))
        .transpose()?;
    let joints = of(Semantic::Joints(0))
        .map(|a| rows::<4>(&a, bin))
        .transpose()?;
    let weights = of(Semantic::Weights(0))
        .map(|a| rows::<4>(&a, bin))
        .transpose()?;
    let colors = of(Semantic::Colors(0))
        .map(|a| colors(&a, bin))
        .transpose()?;
    let tint = primitive
        .material()
        .pbr_metallic_roughness()
        .base_color_factor();
    for (i, &position) in positions.iter().enumerate() {
        let position = Vec3::from_array(position);
        if !(position.is_finite() && position.abs().max_element() < 1e6) {
            return Err(ModelProblem::Damaged(format!(
                "the position of vertex {i} is not finite"
            )));
        }
        let normal = normals
            .as_ref()
            .and_then(|n| n.get(i))
            .map_or(Vec3::Y, |&n| Vec3::from_array(n));
        let uv = uvs
            .as_ref()
            .and_then(|uv| uv.get(i))
            .copied()
            .unwrap_or_default();
        let color = colors
            .as_ref()
            .and_then(|c| c.get(i))
            .copied()
            .unwrap_or(Vec4::ONE)
            * Vec4::from_array(tint);
        let (joints, weights) = match (&joints, &weights) {
            (Some(joints), Some(weights)) if joint_count > 0 => bound(
                joints.get(i).copied().unwrap_or_default(),
                weights.get(i).copied().unwrap_or_default(),
                joint_count,
            ),
            _ => ([0; 4], [255, 0, 0, 0]),
        };
        vertices.push(Vertex {
            position: position.to_array(),
            normal: normal.normalize_or(Vec3::Y).to_array(),
            uv: Vec2::from_array(uv)
                .clamp(Vec2::splat(-8.0), Vec2::splat(8.0))
                .to_array(),
            color: color
                .to_array()
                .map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8),
            joints,
            weights,
        });
    }
    let listed = match primitive.indices() {
        Some(accessor) => {
            at_most("triangle indices", accessor.count(), 6 * MAX_VERTICES)?;
            rows::<1>(&accessor, bin)?
                .into_iter()
                .map(|[i]| i as usize)
                .collect::<Vec<_>>()
        }
        None => (0..count).collect(),
    };
    for triangle in listed.chunks_exact(3) {
        if triangle.iter().any(|&i| i >= count) {
            return Err(ModelProblem::Damaged(
                "a triangle refers to a vertex that does not exist".to_owned(),
            ));
        }
        indices.extend(triangle.iter().map(|&i| (first + i) as u32));
        // Triangles are drawn from their front only, so a double-sided one is added a second time in reverse order.
        if primitive.material().double_sided() {
            indices.extend(triangle.iter().rev().map(|&i| (first + i) as u32));
        }
    }
    at_most("triangle indices", indices.len(), 6 * MAX_VERTICES)
}

fn colors(accessor: &gltf::Accessor<'_>, bin: &[u8]) -> Result<Vec<Vec4>, ModelProblem> {
    if accessor.dimensions() == gltf::accessor::Dimensions::Vec3 {
        let rows = rows::<3>(accessor, bin)?;
        return Ok(rows
            .into_iter()
            .map(|c| Vec3::from_array(c).extend(1.0))
            .collect());
    }
    Ok(rows::<4>(accessor, bin)?
        .into_iter()
        .map(Vec4::from_array)
        .collect())
}

/// Valid joints and byte weights of a vertex for any values in the file; the sum of the weights is 255.
fn bound(joints: [f32; 4], weights: [f32; 4], joint_count: usize) -> ([u8; 4], [u8; 4]) {
    let valid =
        |i: usize| joints[i] >= 0.0 && (joints[i] as usize) < joint_count && weights[i] > 0.0;
    let kept = [0, 1, 2, 3].map(|i| {
        if valid(i) && weights[i].is_finite() {
            weights[i]
        } else {
            0.0
        }
    });
    let sum: f32 = kept.iter().sum();
    if sum <= 0.0 {
        return ([0; 4], [255, 0, 0, 0]);
    }
    let mut bytes = kept.map(|weight| (weight / sum * 255.0).floor() as u8);
    let rest = 255 - bytes.iter().map(|&b| u32::from(b)).sum::<u32>().min(255);
    let heaviest = (0..4)
        .max_by(|&a, &b| kept[a].total_cmp(&kept[b]))
        .unwrap_or(0);
    bytes[heaviest] += rest as u8;
    (
        [0, 1, 2, 3].map(|i| if kept[i] > 0.0 { joints[i] as u8 } else { 0 }),
        bytes,
    )
}

/// Decodes the image of the skin.
fn skin_image(image: &gltf::Image<'_>, bin: &[u8]) -> Result<RgbaImage, ModelProblem> {
    let gltf::image::Source::View { view, .. } = image.source() else {
        return Err(ModelProblem::Unsupported {
            feature: "an image outside of the file".to_owned(),
            remedy: "export everything into one file, 'glTF Binary (.glb)'",
        });
    };
    let damaged = |what: String| ModelProblem::Damaged(format!("its image: {what}"));
    let bytes = slice(bin, view.offset(), view.length())
        .ok_or_else(|| damaged("it reaches beyond the end of the file".to_owned()))?;
    let mut reader = image::ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| damaged(error.to_string()))?;
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MAX_TEXTURE_PX);
    limits.max_image_height = Some(MAX_TEXTURE_PX);
    limits.max_alloc = Some(64 << 20);
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| {
        damaged(format!(
            "{error} (PNG or JPEG of at most {MAX_TEXTURE_PX} × {MAX_TEXTURE_PX} pixels)"
        ))
    })?;
    Ok(picture.into_rgba8())
}

/// Joints, their order with parents first, and clips.
type Skeleton = (Vec<Joint>, Vec<usize>, Vec<Clip>);

fn skeleton(
    document: &gltf::Document,
    skin: &gltf::Skin<'_>,
    bin: &[u8],
) -> Result<Skeleton, ModelProblem> {
    let nodes: Vec<usize> = skin.joints().map(|node| node.index()).collect();
    at_most("joints", nodes.len(), MAX_JOINTS)?;
    let mut parent_of = vec![None; document.nodes().count()];
    for node in document.nodes() {
        for child in node.children() {
            if let Some(parent) = parent_of.get_mut(child.index()) {
                *parent = Some(node.index());
            }
        }
    }
    let locals: Vec<JointTransform> = document.nodes().map(|node| local(&node)).collect();
    let inverse_binds = skin
        .inverse_bind_matrices()
        .map(|a| rows::<16>(&a, bin))
        .transpose()?;
    let mut joints = Vec::with_capacity(nodes.len());
    for (i, &node) in nodes.iter().enumerate() {
        let rest = *locals.get(node).ok_or_else(|| {
            ModelProblem::Damaged("a joint refers to a node that does not exist".to_owned())
        })?;
        // Nodes between a joint and its parent joint (or the scene) never move and are combined into one matrix.
        let mut base = Mat4::IDENTITY;
        let mut above = parent_of.get(node).copied().flatten();
        let mut steps = 0;
        let parent = loop {
            let Some(ancestor) = above else { break None };
            if let Some(joint) = nodes.iter().position(|&n| n == ancestor) {
                break Some(joint);
            }
            base = matrix(&locals[ancestor]) * base;
            above = parent_of.get(ancestor).copied().flatten();
            steps += 1;
            if steps > 256 {
                return Err(ModelProblem::Damaged("its nodes form a circle".to_owned()));
            }
        };
        let inverse_bind = inverse_binds
            .as_ref()
            .and_then(|m| m.get(i))
            .map_or(Mat4::IDENTITY, Mat4::from_cols_array);
        if !(inverse_bind.is_finite() && base.is_finite() && matrix(&rest).is_finite()) {
            return Err(ModelProblem::Damaged(format!(
                "the transform of joint {i} is not finite"
            )));
        }
        joints.push(Joint {
            parent,
            base,
            rest,
            inverse_bind,
        });
    }
    let order = parents_first(&joints)?;
    let clips = animations(document, &nodes, &joints, bin)?;
    Ok((joints, order, clips))
}

/// Indices of the joints, parents before children.
fn parents_first(joints: &[Joint]) -> Result<Vec<usize>, ModelProblem> {
    let mut order: Vec<usize> = Vec::with_capacity(joints.len());
    while order.len() < joints.len() {
        let before = order.len();
        for (i, joint) in joints.iter().enumerate() {
            let carried = joint.parent.is_none_or(|parent| order.contains(&parent));
            if carried && !order.contains(&i) {
                order.push(i);
            }
        }
        if order.len() == before {
            return Err(ModelProblem::Damaged("its joints form a circle".to_owned()));
        }
    }
    Ok(order)
}

fn local(node: &gltf::Node<'_>) -> JointTransform {
    let (translation, rotation, scale) = node.transform().decomposed();
    JointTransform {
        rotation: Quat::from_vec4(
            Vec4::from_array(rotation)
                .try_normalize()
                .unwrap_or(Vec4::W),
        ),
        translation: Vec3::from_array(translation),
        scale: Vec3::from_array(scale),
    }
}

/// Matrix of a joint transform.
fn matrix(local: &JointTransform) -> Mat4 {
    Mat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation)
}

fn animations(
    document: &gltf::Document,
    nodes: &[usize],
    joints: &[Joint],
    bin: &[u8],
) -> Result<Vec<Clip>, ModelProblem> {
    at_most("clips", document.animations().count(), MAX_CLIPS)?;
    let rest: Vec<JointTransform> = joints.iter().map(|joint| joint.rest).collect();
    let mut clips = Vec::new();
    for (i, animation) in document.animations().enumerate() {
        let mut channels = Vec::new();
        for channel in animation.channels() {
            let target = channel.target();
            let joint = nodes.iter().position(|&node| node == target.node().index());
            let is_rotation = target.property() == Property::Rotation;
            let moves = is_rotation || target.property() == Property::Translation;
            let (Some(joint), true) = (joint, moves) else {
                continue;
            };
            channels.push(read_channel(&channel.sampler(), joint, is_rotation, bin)?);
        }
        let name = animation
            .name()
            .map_or_else(|| format!("clip {i}"), str::to_lowercase);
        clips.push(clip::bake(&name, &channels, &rest));
    }
    clips.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(clips)
}

fn read_channel(
    sampler: &gltf::animation::Sampler<'_>,
    joint: usize,
    is_rotation: bool,
    bin: &[u8],
) -> Result<Channel, ModelProblem> {
    let times_secs: Vec<f32> = rows::<1>(&sampler.input(), bin)?
        .into_iter()
        .map(|[t]| t)
        .collect();
    let values: Vec<Vec4> = if is_rotation {
        rows::<4>(&sampler.output(), bin)?
            .into_iter()
            .map(Vec4::from_array)
            .collect()
    } else {
        let rows = rows::<3>(&sampler.output(), bin)?;
        rows.into_iter()
            .map(|v| Vec3::from_array(v).extend(0.0))
            .collect()
    };
    let between = match sampler.interpolation() {
        Interpolation::Step => Between::Step,
        Interpolation::Linear => Between::Linear,
        Interpolation::CubicSpline => Between::CubicSpline,
    };
    let rows_a_key = if between == Between::CubicSpline {
        3
    } else {
        1
    };
    let ascending = times_secs.windows(2).all(|pair| pair[0] <= pair[1]);
    let finite = times_secs.iter().all(|t| t.is_finite()) && values.iter().all(|v| v.is_finite());
    if times_secs.is_empty()
        || values.len() < rows_a_key * times_secs.len()
        || !ascending
        || !finite
    {
        return Err(ModelProblem::Damaged(
            "the keys of an animation are out of order or incomplete".to_owned(),
        ));
    }
    Ok(Channel {
        joint,
        is_rotation,
        between,
        times_secs,
        values,
    })
}
