//! Tests of models that other tools export. Each feature of glTF 2.0 is drawn as the specification defines, or is reported as
//! left out.

use glam::{Mat4, Quat, Vec3};
use serde_json::json;
use shoal::render::Model;
use shoal_testing::assert_message;

use crate::model_file::{CORNERS, File};

/// Returns the sum of the area vectors of all triangles. An area vector points to the front side of its triangle, and its
/// length is the area.
fn area(model: &Model) -> Vec3 {
    let corner = |i: u32| Vec3::from_array(model.vertices[i as usize].position);
    let triangles = model.indices.chunks_exact(3);
    triangles
        .map(|t| {
            let [a, b, c] = [t[0], t[1], t[2]].map(corner);
            (b - a).cross(c - a) / 2.0
        })
        .sum()
}

#[test]
fn all_meshes_of_the_scene_are_drawn_with_their_node_transforms() {
    let mut file = File::quad();
    file.json["nodes"] = json!([
        {"mesh": 0},
        {"children": [0, 2], "scale": [0.5, 0.5, 0.5], "rotation": [0, 0, 0.707_106_77, 0.707_106_77]},
        {"mesh": 0, "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 3,0,0,1]},
        {"mesh": 0, "name": "outside of the scene"},
    ]);
    file.json["scenes"] = json!([{"nodes": [1]}]);
    let model = file.model();
    assert_eq!(model.indices.len(), 12);
    assert!(
        model.size.abs_diff_eq(Vec3::new(0.0, 2.0, 1.0), 1e-5),
        "{}",
        model.size
    );
    let normal = Vec3::from_array(model.vertices[0].normal);
    assert!(normal.abs_diff_eq(Vec3::NEG_X, 1e-5), "{normal}");
}

#[test]
fn a_mirrored_node_keeps_its_front() {
    let mut file = File::quad();
    file.json["nodes"][0]["scale"] = json!([-1, 1, 1]);
    let (plain, mirrored) = (File::quad().model(), file.model());
    assert!(area(&mirrored).abs_diff_eq(area(&plain), 1e-5));
    // The two mirrors turn the quad upside down, so it faces down.
    file.json["nodes"][0]["scale"] = json!([-1, -1, 1]);
    assert!(area(&file.model()).abs_diff_eq(-area(&plain), 1e-5));
}

#[test]
fn strips_and_fans_are_the_same_triangles() {
    let plain = area(&File::quad().model());
    for (mode, indices) in [
        (5, vec![0, 1, 3, 2]),
        (6, vec![0, 1, 2, 3]),
        (5, vec![0, 1, 3, 2, 2]),
    ] {
        let mut file = File::quad();
        let at = file.indices(&indices);
        let primitive = &mut file.json["meshes"][0]["primitives"][0];
        primitive["mode"] = json!(mode);
        primitive["indices"] = json!(at);
        let model = file.model();
        assert_eq!(model.indices.len(), 6, "mode {mode}");
        assert!(area(&model).abs_diff_eq(plain, 1e-5), "mode {mode}");
    }
}

#[test]
fn what_is_not_drawn_is_named() {
    let mut file = File::quad();
    let lines = json!({"attributes": {"POSITION": 0}, "mode": 1});
    let primitives = file.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    primitives[0]["targets"] = json!([{"POSITION": 0}]);
    primitives.insert(0, lines);
    file.json["extensionsUsed"] = json!(["KHR_texture_transform", "ACME_glow"]);
    file.json["animations"] = json!([{
        "channels": [{"sampler": 0, "target": {"path": "pointer"}}, {"sampler": 0, "target": {"path": "rotation", "node": 0}}],
        "samplers": [{"input": 0, "output": 0}],
    }]);
    file.extra.push((*b"ACME", vec![1, 2, 3, 4]));
    let notes = file.model().notes.join("; ");
    for what in [
        "lines",
        "morph",
        "ACME_glow",
        "no target",
        "no joints",
        "chunk",
    ] {
        assert!(notes.contains(what), "{what} in {notes}");
    }
    assert!(!notes.contains("texture_transform"), "{notes}");
    assert!(File::quad().model().notes.is_empty());
}

#[test]
fn missing_normals_are_computed_flat() {
    let mut file = File::quad();
    // The second triangle is folded up around the edge from corner 0 to corner 2.
    let mut corners = CORNERS;
    corners[3][1] = 1.0;
    let at = file.floats("VEC3", 4, corners.as_flattened());
    file.json["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": at});
    let model = file.model();
    assert_eq!(model.vertices.len(), 6, "two vertices are doubled");
    for triangle in model.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|i| model.vertices[triangle[i] as usize]);
        let [p, q, r] = [a, b, c].map(|v| Vec3::from_array(v.position));
        let normal = (q - p).cross(r - p).normalize();
        for vertex in [a, b, c] {
            assert!(normal.abs_diff_eq(Vec3::from_array(vertex.normal), 1e-5));
        }
    }
}

#[test]
fn quantized_positions_are_decoded() {
    let mut file = File::quad();
    let bytes = CORNERS
        .as_flattened()
        .iter()
        .map(|&v| (v * 127.0) as i8 as u8);
    let bytes: Vec<u8> = bytes.collect();
    let at = file.accessor(5120, "VEC3", 4, &bytes);
    file.json["accessors"][at]["normalized"] = json!(true);
    file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(at);
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    assert_eq!(file.model().size.z, 2.0);
}

#[test]
fn sparse_accessors_and_data_in_uris_are_refused_with_a_remedy() {
    let mut file = File::quad();
    file.json["accessors"][0]["sparse"] = json!({"count": 1});
    assert!(file.refusal().contains("shape keys"), "{}", file.refusal());
    for uri in ["data:application/octet-stream;base64,AAAA", "fish.bin"] {
        let mut file = File::quad();
        file.json["buffers"][0]["uri"] = json!(uri);
        assert!(file.refusal().contains("one file"), "{}", file.refusal());
    }
}

#[test]
fn required_unknown_extensions_and_foreign_textures_are_refused_by_name() {
    let mut file = File::quad();
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization", "ACME_shape"]);
    assert!(file.refusal().contains("ACME_shape"), "{}", file.refusal());

    let mut file = File::quad();
    file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    file.json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    file.json["textures"] = json!([{"extensions": {"EXT_texture_webp": {"source": 0}}}]);
    assert_message(file.refusal(), &["EXT_texture_webp"]);
    file.json["textures"] = json!([{"source": 0}]);
    file.json["images"] = json!([{"bufferView": 0, "mimeType": "image/webp"}]);
    assert_message(file.refusal(), &["EXT_texture_webp"]);
}

/// The file has a quad with two skins and a rigid quad on a joint. In the rest pose, all have the positions that glTF defines.
#[test]
fn several_skins_and_rigid_parts_share_one_skeleton() {
    let mut file = File::quad();
    let joints = file.accessor(5121, "VEC4", 4, &[0; 16]);
    let weights = file.floats("VEC4", 4, [[1.0, 0.0, 0.0, 0.0]; 4].as_flattened());
    let inverse = Mat4::from_translation(Vec3::new(0.0, 0.0, -1.0));
    let inverse = file.floats("MAT4", 1, &inverse.to_cols_array());
    let mut skinned = file.json["meshes"][0].clone();
    skinned["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    skinned["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
    file.json["meshes"].as_array_mut().unwrap().push(skinned);
    let up = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2).to_array();
    file.json["nodes"] = json!([
        {"mesh": 1, "skin": 0},
        {"mesh": 1, "skin": 1, "translation": [50, 0, 0]},
        {"rotation": up, "children": [3, 4]},
        {"translation": [0, 0, 1]},
        {"translation": [0, 9, 0], "children": [5]},
        {"mesh": 0},
    ]);
    file.json["scenes"] = json!([{"nodes": [0, 1, 2]}]);
    file.json["skins"] = json!([
        {"joints": [3], "inverseBindMatrices": inverse},
        {"joints": [4]},
    ]);
    let model = file.model();
    assert_eq!(model.vertices.len(), 12);
    // The rigid part uses the joint of the second skin.
    assert_eq!(model.joints.len(), 2);
    // In the rest pose, no joint moves its vertices: its matrix is the identity.
    for vertex in &model.vertices {
        let mut at = Some(usize::from(vertex.joints[0]));
        let mut matrix = model.joints[at.unwrap()].inverse_bind;
        while let Some(i) = at {
            let joint = &model.joints[i];
            let rest = joint.rest;
            matrix = joint.base
                * Mat4::from_scale_rotation_translation(
                    rest.scale,
                    rest.rotation,
                    rest.translation,
                )
                * matrix;
            at = joint.parent;
        }
        assert!(matrix.abs_diff_eq(Mat4::IDENTITY, 1e-4), "{matrix}");
    }
    assert!(
        (model.size.y - 2.0).abs() < 1e-4,
        "z is up in the file: {}",
        model.size
    );
}

/// A fixed bug: a file with 500 animation channels for the same keys needed 2.7 GB of memory.
#[test]
fn a_small_file_cannot_decode_to_much_memory() {
    let mut file = File::quad();
    let keys = 200_000;
    let times: Vec<f32> = (0..keys).map(|i| i as f32).collect();
    let input = file.floats("SCALAR", keys, &times);
    let output = file.accessor(5120, "VEC4", keys, &vec![127; 4 * keys]);
    let channel = json!({"sampler": 0, "target": {"node": 1, "path": "rotation"}});
    file.json["nodes"] = json!([{"mesh": 0, "skin": 0}, {}]);
    file.json["skins"] = json!([{"joints": [1]}]);
    file.json["animations"] = json!([{
        "channels": vec![channel; 500], "samplers": [{"input": input, "output": output}],
    }]);
    assert!(file.refusal().contains("decoded"), "{}", file.refusal());

    for list in ["nodes", "meshes", "materials"] {
        let mut file = File::quad();
        file.json[list] = json!(vec![json!({}); 5000]);
        assert!(
            file.refusal().contains("at most"),
            "{list}: {}",
            file.refusal()
        );
    }
    let mut file = File::quad();
    file.json["nodes"] = json!(vec![json!({"mesh": 0}); 4096]);
    file.json["scenes"] = json!([]);
    file.json["meshes"][0]["primitives"] =
        json!(vec![file.json["meshes"][0]["primitives"][0].clone(); 3]);
    assert!(file.refusal().contains("parts"), "{}", file.refusal());
}

/// A fixed bug: such models were accepted, and their fish were invisible or infinitely large.
#[test]
fn a_model_without_extent_or_length_is_refused() {
    let mut file = File::quad();
    let point = file.floats("VEC3", 4, [[0.5, 0.0, 1.0]; 4].as_flattened());
    file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(point);
    assert!(file.refusal().contains("no extent"), "{}", file.refusal());
    let mut file = File::quad();
    file.json["accessors"][0]
        .as_object_mut()
        .unwrap()
        .remove("bufferView");
    assert!(file.refusal().contains("no extent"), "{}", file.refusal());
    for scale in [0.0, 1e-30] {
        let mut file = File::quad();
        file.json["nodes"][0]["scale"] = json!([scale, scale, scale]);
        assert!(file.refusal().contains("no extent"), "{}", file.refusal());
    }
    let mut file = File::quad();
    file.json["nodes"][0]["rotation"] = json!([-0.707_106_77, 0, 0, 0.707_106_77]);
    assert!(file.refusal().contains("no length"), "{}", file.refusal());
    file.json["nodes"][0] = json!({"mesh": 0, "scale": [0.001, 0.001, 0.001]});
    assert!((file.model().size.z - 0.002).abs() < 1e-6);
}

/// A fixed bug: normals that are zero or not finite were replaced by "up" without a warning.
#[test]
fn unusable_normals_are_computed_with_a_warning() {
    let nan = f32::NAN;
    for (bad, count) in [
        ([0.0; 3], 1),
        ([nan; 3], 1),
        ([0.0, nan, 0.0], 4),
        ([f32::INFINITY; 3], 4),
    ] {
        let mut file = File::quad();
        // The quad faces down, so that "up" is the wrong normal.
        let mut normals = [[0.0, -1.0, 0.0]; 4];
        normals[..count].fill(bad);
        let at = file.floats("VEC3", 4, normals.as_flattened());
        let indices = file.indices(&[0, 2, 1, 0, 3, 2]);
        let primitive = &mut file.json["meshes"][0]["primitives"][0];
        primitive["attributes"]["NORMAL"] = json!(at);
        primitive["indices"] = json!(indices);
        let model = file.model();
        for vertex in &model.vertices {
            assert_eq!(vertex.normal, [0.0, -1.0, 0.0], "{bad:?}");
        }
        assert!(
            model.notes.join("; ").contains("normals that are zero"),
            "{bad:?}"
        );
    }
}

/// A fixed bug: primitives with the same list of positions each copied all vertices, and such a model was refused as too large.
#[test]
fn primitives_that_share_positions_copy_only_their_own() {
    let mut file = File::quad();
    let many = 19_000;
    let mut corners = vec![[9.0, 9.0, 9.0]; many];
    corners[many - 4..].copy_from_slice(&CORNERS);
    let at = file.floats("VEC3", many, corners.as_flattened());
    let last = many as u16 - 4;
    let indices = file.indices(&[last, last + 1, last + 2, last, last + 2, last + 3]);
    let part = json!({"attributes": {"POSITION": at}, "indices": indices});
    file.json["meshes"][0]["primitives"] = json!(vec![part; 50]);
    let model = file.model();
    assert_eq!((model.vertices.len(), model.indices.len()), (200, 300));
    // An unused position has no effect.
    assert_eq!(model.size, Vec3::new(1.0, 0.0, 2.0));
}

#[test]
fn a_skin_without_joints_is_refused_and_a_mesh_at_a_joint_of_size_0_left_out() {
    let mut file = File::quad();
    file.json["nodes"] = json!([{"mesh": 0, "skin": 0}]);
    file.json["skins"] = json!([{"joints": []}]);
    assert_message(file.refusal(), &["has no joints"]);
    file.json["nodes"] = json!([
        {"mesh": 0, "skin": 0}, {"children": [2]}, {"scale": [0, 0, 0], "children": [3]}, {"mesh": 0},
    ]);
    file.json["scenes"] = json!([{"nodes": [0, 1]}]);
    file.json["skins"] = json!([{"joints": [1, 2]}]);
    let model = file.model();
    assert_eq!(model.indices.len(), 6, "the skinned mesh is drawn");
    assert_message(model.notes.join("; "), &["size 0"]);
}

#[test]
fn harmless_deviations_of_exporters_are_accepted_and_damage_is_refused() {
    let plain = File::quad().bytes();
    let mut longer = plain.clone();
    longer.extend([0; 5]);
    // Bytes after the end.
    assert!(Model::from_glb("longer", &longer).is_ok());
    assert!(Model::from_glb("cut", &plain[..plain.len() - 4]).is_err());
    let mut file = File::quad();
    file.json["nodes"][0]["children"] = json!([0]);
    assert!(file.refusal().contains("circle"), "{}", file.refusal());
    let mut file = File::quad();
    file.json["nodes"] = json!([{"mesh": 0, "children": [2]}, {"children": [2]}, {}]);
    assert!(file.refusal().contains("parents"), "{}", file.refusal());
    let mut file = File::quad();
    file.json["asset"]["version"] = json!("1.0");
    assert!(file.refusal().contains("1.0"), "{}", file.refusal());
    let mut file = File::quad();
    file.json["bufferViews"][0]["buffer"] = json!(1);
    file.json["buffers"] = json!([{"byteLength": 1}, {"byteLength": 1}]);
    assert_message(file.refusal(), &["without data"]);
    file.json["bufferViews"][0]["extensions"] = json!({"EXT_meshopt_compression": {}});
    assert!(file.refusal().contains("gltfpack"), "{}", file.refusal());
}
