//! Writes meshes, skeleton, clips and skin as a binary glTF 2.0 file.
//!
//! **Source**: glTF 2.0, sections 3 and 4 (alignment, accessors, skins, binary container).

use glam::{Mat4, Vec3};
use serde_json::{Value, json};

use super::clips::Clip;
use super::mesh::Mesh;
use super::skeleton::Joint;

/// The color of a mesh.
pub(super) enum Paint<'a> {
    /// One linear color.
    Plain([f64; 3]),
    /// A skin, as the content of a PNG file.
    Skin(&'a [u8]),
}

/// White, for models whose color is computed by the shader.
pub(super) const WHITE: Paint<'static> = Paint::Plain([1.0; 3]);

/// The binary part of the file, with the buffer views and accessors that describe it.
#[derive(Default)]
struct Binary {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Binary {
    fn view(&mut self, bytes: &[u8]) -> usize {
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.views
            .push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        self.views.len() - 1
    }

    fn accessor(&mut self, bytes: &[u8], of: Value) -> usize {
        let view = self.view(bytes);
        let mut accessor = of;
        accessor["bufferView"] = json!(view);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32], with_range: bool) -> usize {
        let values: Vec<f32> = values.iter().copied().map(steady).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let mut of = json!({"componentType": 5126, "count": values.len() / width, "type": kind});
        if with_range {
            let column = |i: usize| values.iter().skip(i).step_by(width).copied();
            of["min"] = json!(
                (0..width)
                    .map(|i| column(i).fold(f32::INFINITY, f32::min))
                    .collect::<Vec<_>>()
            );
            of["max"] = json!(
                (0..width)
                    .map(|i| column(i).fold(f32::NEG_INFINITY, f32::max))
                    .collect::<Vec<_>>()
            );
        }
        self.accessor(&bytes, of)
    }
}

/// Returns the value rounded to a multiple of 1/65536, because math libraries give different last bits.
fn steady(value: f32) -> f32 {
    let rounded = (value * 65536.0).round() / 65536.0;
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// Writes the vertices and triangles of a mesh, and returns the glTF primitive that refers to them.
fn primitive(binary: &mut Binary, mesh: &Mesh, has_skin: bool) -> Value {
    let vertices = &mesh.vertices;
    let flat =
        |f: &dyn Fn(usize) -> Vec<f32>| (0..vertices.len()).flat_map(f).collect::<Vec<f32>>();
    let mut attributes = json!({
        "POSITION": binary.floats("VEC3", 3, &flat(&|i| vertices[i].position.to_array().to_vec()), true),
        "NORMAL": binary.floats("VEC3", 3, &flat(&|i| vertices[i].normal.to_array().to_vec()), false),
        "TEXCOORD_0": binary.floats("VEC2", 2, &flat(&|i| vertices[i].uv.to_array().to_vec()), false),
    });
    if has_skin {
        let bytes: Vec<u8> = vertices
            .iter()
            .flat_map(|v| [v.joints[0], v.joints[1], 0, 0])
            .collect();
        let of = |normalized: bool| json!({"componentType": 5121, "normalized": normalized, "count": vertices.len(), "type": "VEC4"});
        attributes["JOINTS_0"] = json!(binary.accessor(&bytes, of(false)));
        let bytes: Vec<u8> = vertices
            .iter()
            .flat_map(|v| [v.weight, 255 - v.weight, 0, 0])
            .collect();
        attributes["WEIGHTS_0"] = json!(binary.accessor(&bytes, of(true)));
    }
    let bytes: Vec<u8> = mesh
        .indices
        .iter()
        .flat_map(|&i| (i as u16).to_le_bytes())
        .collect();
    let indices = binary.accessor(
        &bytes,
        json!({"componentType": 5123, "count": mesh.indices.len(), "type": "SCALAR"}),
    );
    json!({"attributes": attributes, "indices": indices, "material": 0})
}

/// Returns the bytes of the file. `meshes` are the levels of detail, the finest first. Without joints, the meshes are rigid.
pub(super) fn write(
    name: &str,
    meshes: &[&Mesh],
    joints: &[Joint],
    clips: &[Clip],
    paint: &Paint<'_>,
) -> Vec<u8> {
    let mut binary = Binary::default();
    let suffixes: &[&str] = if meshes.len() > 2 {
        &["", "_medium", "_small", "_light"]
    } else {
        &["", "_light"]
    };
    let names: Vec<String> = suffixes
        .iter()
        .map(|suffix| format!("{name}{suffix}"))
        .collect();
    let written: Vec<Value> = meshes
        .iter()
        .zip(&names)
        .map(|(mesh, name)| json!({"name": name, "primitives": [primitive(&mut binary, mesh, !joints.is_empty())]}))
        .collect();
    let mut material = json!({"name": name, "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.5}});
    let mut root = json!({
        "asset": {"version": "2.0", "generator": "shoal generate_models"},
        "scene": 0,
        "meshes": written,
    });
    if let Paint::Plain([red, green, blue]) = paint {
        material["pbrMetallicRoughness"]["baseColorFactor"] = json!([red, green, blue, 1.0]);
    }
    if let Paint::Skin(png) = paint {
        let view = binary.view(png);
        material["pbrMetallicRoughness"]["baseColorTexture"] = json!({"index": 0});
        // The alpha of a skin is the opacity of the fins.
        material["alphaMode"] = json!("BLEND");
        root["images"] = json!([{"bufferView": view, "mimeType": "image/png"}]);
        root["samplers"] =
            json!([{"magFilter": 9729, "minFilter": 9987, "wrapS": 33071, "wrapT": 33071}]);
        root["textures"] = json!([{"source": 0, "sampler": 0}]);
    }
    root["materials"] = json!([material]);
    let mut nodes = nodes(name, joints);
    let mut roots = if joints.is_empty() {
        vec![0]
    } else {
        vec![0, 1]
    };
    for (i, name) in names.iter().enumerate().take(meshes.len()).skip(1) {
        roots.push(nodes.len());
        let mut node = json!({"name": name, "mesh": i});
        if !joints.is_empty() {
            node["skin"] = json!(0);
        }
        nodes.push(node);
    }
    root["scenes"] = json!([{"nodes": roots}]);
    root["nodes"] = json!(nodes);
    if !joints.is_empty() {
        let inverse: Vec<f32> = joints
            .iter()
            .flat_map(|joint| Mat4::from_translation(-joint.place).to_cols_array())
            .collect();
        let inverse = binary.floats("MAT4", 16, &inverse, false);
        root["skins"] = json!([{"inverseBindMatrices": inverse, "skeleton": 1, "joints": (1..=joints.len()).collect::<Vec<_>>()}]);
        root["animations"] = json!(animations(&mut binary, clips));
    }
    root["buffers"] = json!([{"byteLength": binary.bytes.len()}]);
    root["bufferViews"] = json!(binary.views);
    root["accessors"] = json!(binary.accessors);
    container(&root, binary.bytes)
}

/// Returns the nodes of the file: first the mesh, then the joints.
fn nodes(name: &str, joints: &[Joint]) -> Vec<Value> {
    let mut nodes = vec![json!({"name": name, "mesh": 0})];
    if !joints.is_empty() {
        nodes[0]["skin"] = json!(0);
    }
    for (i, joint) in joints.iter().enumerate() {
        let from = joint
            .parent
            .map_or(Vec3::ZERO, |parent| joints[parent].place);
        let offset = (joint.place - from).to_array().map(steady);
        let mut node = json!({"name": joint.name(), "translation": offset});
        let children: Vec<usize> = (0..joints.len())
            .filter(|&j| joints[j].parent == Some(i))
            .map(|j| j + 1)
            .collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        nodes.push(node);
    }
    nodes
}

/// Returns one animation per clip, with the rotations of all joints and the translation of the root.
fn animations(binary: &mut Binary, clips: &[Clip]) -> Vec<Value> {
    let keys = clips.first().map_or(0, |clip| clip.keys.len());
    let times: Vec<f32> = (0..keys)
        .map(|key| key as f32 / (keys - 1) as f32)
        .collect();
    let times = binary.floats("SCALAR", 1, &times, true);
    clips
        .iter()
        .map(|clip| {
            let mut samplers = Vec::new();
            let mut channels = Vec::new();
            let mut add = |joint: usize, path: &str, output: usize| {
                channels.push(
                    json!({"sampler": samplers.len(), "target": {"node": joint + 1, "path": path}}),
                );
                samplers.push(json!({"input": times, "output": output, "interpolation": "LINEAR"}));
            };
            let joints = clip.keys.first().map_or(0, |key| key.0.len());
            for joint in 0..joints {
                let turns: Vec<f32> = clip
                    .keys
                    .iter()
                    .flat_map(|key| key.0[joint].to_array())
                    .collect();
                add(joint, "rotation", binary.floats("VEC4", 4, &turns, false));
            }
            let root = Vec3::new(0.0, 0.0, 0.5 - super::fish::ROOT_S);
            let moves: Vec<f32> = clip
                .keys
                .iter()
                .flat_map(|key| (key.1 + root).to_array())
                .collect();
            add(0, "translation", binary.floats("VEC3", 3, &moves, false));
            json!({"name": clip.name, "channels": channels, "samplers": samplers})
        })
        .collect()
}

/// Returns the binary container that consists of the JSON text and the binary chunk.
fn container(root: &Value, mut bin: Vec<u8>) -> Vec<u8> {
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut file = Vec::new();
    file.extend(b"glTF");
    file.extend(2u32.to_le_bytes());
    file.extend(((12 + 8 + text.len() + 8 + bin.len()) as u32).to_le_bytes());
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(text);
    file.extend((bin.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(bin);
    file
}
