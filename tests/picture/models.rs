//! Tests of models. The built-in models equal the output of their generator and are complete. Invalid files are rejected and
//! never cause a panic.

use crate::generator;
use proptest::prelude::*;
use shoal::render::{Model, ModelProblem};
use shoal_testing::assert_message;

const FISH: [&str; 8] = [
    "butterfly_koi",
    "fry",
    "herring",
    "koi",
    "pike",
    "salmon",
    "shark",
    "trout",
];

fn shipped(name: &str) -> Vec<u8> {
    std::fs::read(format!("models/{name}.glb")).unwrap()
}

/// The test compares the files as models with a tolerance and not as bytes, because math libraries differ in the last bits.
#[test]
fn committed_models_equal_the_output_of_the_generator() {
    for (name, bytes) in generator::species::all() {
        let made = Model::from_glb(name, &bytes).unwrap();
        let committed = Model::from_glb(name, &shipped(name)).unwrap();
        let again = "differs from its generator; run: cargo run --example generate_models";
        assert_eq!(made.indices, committed.indices, "{name}: {again}");
        assert_eq!(
            made.vertices.len(),
            committed.vertices.len(),
            "{name}: {again}"
        );
        for (a, b) in made.vertices.iter().zip(&committed.vertices) {
            let far = |a: &[f32], b: &[f32]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-3);
            assert!(
                !far(&a.position, &b.position) && !far(&a.uv, &b.uv),
                "{name}: {again}"
            );
            assert!(!far(&a.normal, &b.normal), "{name}: {again}");
            assert_eq!(a.joints, b.joints, "{name}: {again}");
            assert!(
                a.weights
                    .iter()
                    .zip(b.weights)
                    .all(|(a, b)| a.abs_diff(b) <= 1),
                "{name}: {again}"
            );
        }
        for (a, b) in made.clips.iter().zip(&committed.clips) {
            assert_eq!(a.name, b.name, "{name}: {again}");
            let apart = a
                .table
                .iter()
                .zip(&b.table)
                .map(|(a, b)| a.0.angle_between(b.0));
            assert!(
                apart.fold(0.0, f32::max) < 1e-2,
                "{name} {}: {again}",
                a.name
            );
        }
        if let (Some(a), Some(b)) = (&made.skin, &committed.skin) {
            assert_eq!(a.dimensions(), b.dimensions());
            let apart = a
                .as_raw()
                .iter()
                .zip(b.as_raw())
                .map(|(a, b)| u64::from(a.abs_diff(*b)));
            assert!(
                apart.sum::<u64>() < a.as_raw().len() as u64 / 20,
                "{name}: {again}"
            );
        }
    }
}

#[test]
fn every_built_in_fish_has_a_mesh_a_skin_and_all_clips() {
    for name in FISH {
        let model = Model::from_glb(name, &shipped(name)).unwrap();
        let triangles = model.levels().map(|level| level.len() / 3);
        let ranges = [3000..=8000, 500..=1200, 250..=450, 40..=330];
        for (level, (count, range)) in triangles.iter().zip(ranges).enumerate() {
            assert!(
                range.contains(count),
                "{name} has {count} triangles at level {level}"
            );
        }
        assert!(
            (model.size.z - 1.0).abs() < 0.03,
            "{name} is {} long",
            model.size.z
        );
        assert!(model.skin.is_some());
        assert!(model.joints.len() >= 6);
        let names: Vec<_> = model.clips.iter().map(|clip| clip.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "ascend",
                "cruise",
                "descend",
                "eat",
                "glide",
                "leap",
                "sprint",
                "turn_left",
                "turn_right"
            ]
        );
        assert!(
            model.clips.iter().all(|clip| clip.duration_secs == 1.0),
            "{name}: every clip has a duration of 1 s"
        );
        for vertex in &model.vertices {
            assert_eq!(
                vertex.weights.iter().map(|&w| u32::from(w)).sum::<u32>(),
                255
            );
        }
    }
}

const ROCKS: [&str; 4] = ["rock_round", "rock_flat", "rock_split", "rock_sharp"];

#[test]
fn stones_fit_into_the_unit_sphere() {
    for name in ROCKS {
        let model = Model::from_glb(name, &shipped(name)).unwrap();
        assert!(model.joints.is_empty());
        let reach = |v: &shoal::render::ModelVertex| glam::Vec3::from_array(v.position).length();
        let far = model.vertices.iter().map(reach).fold(0.0, f32::max);
        assert!((0.99..=1.0001).contains(&far), "{name} reaches to {far}");
    }
}

/// Returns the built-in salmon file with an edited JSON chunk.
fn with_json(edit: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let file = shipped("salmon");
    let glb = gltf::binary::Glb::from_slice(&file).unwrap();
    let mut json = serde_json::from_slice(&glb.json).unwrap();
    edit(&mut json);
    let glb = gltf::binary::Glb {
        json: serde_json::to_vec(&json).unwrap().into(),
        ..glb
    };
    glb.to_vec().unwrap()
}

/// The renderer draws only the front side of a triangle. A double-sided triangle is therefore added twice.
#[test]
fn triangles_of_double_sided_materials_are_added_twice() {
    let one = Model::from_glb("one", &shipped("salmon")).unwrap();
    let bytes = with_json(|json| json["materials"][0]["doubleSided"] = true.into());
    let two = Model::from_glb("two", &bytes).unwrap();
    assert_eq!(two.indices.len(), 2 * one.indices.len());
    let (front, behind) = two.indices[..6].split_at(3);
    assert_eq!(
        [front[0], front[1], front[2]],
        [behind[2], behind[1], behind[0]]
    );
}

/// If all triangles of a closed mesh face outwards, the enclosed volume is positive.
#[test]
fn closed_built_in_meshes_face_outwards() {
    let others = ["log", "molecule", "copepod", "manta", "crab"];
    for name in FISH.into_iter().chain(ROCKS).chain(others) {
        let model = Model::from_glb(name, &shipped(name)).unwrap();
        for indices in model.levels() {
            let volume: f32 = indices
                .chunks_exact(3)
                .map(|corners| {
                    let [a, b, c] = [0, 1, 2].map(|i| {
                        glam::Vec3::from_array(model.vertices[corners[i] as usize].position)
                    });
                    a.dot(b.cross(c)) / 6.0
                })
                .sum();
            assert!(
                indices.is_empty() || volume > 1e-4,
                "{name} encloses a volume of {volume}"
            );
        }
    }
}

#[test]
fn errors_name_the_problem_and_its_remedy() {
    let refusal = |bytes: &[u8]| Model::from_glb("x.glb", bytes).unwrap_err().to_string();
    let draco = with_json(|json| {
        json["extensionsUsed"] = serde_json::json!(["KHR_draco_mesh_compression"]);
        json["extensionsRequired"] = serde_json::json!(["KHR_draco_mesh_compression"]);
    });
    assert_message(refusal(&draco), &["Draco compression off"]);
    let outside = with_json(|json| json["buffers"][0]["uri"] = "fish.bin".into());
    assert_message(refusal(&outside), &["one file"]);
    assert!(refusal(b"{}").contains("x.glb"));
    let empty = with_json(|json| {
        for node in json["nodes"].as_array_mut().unwrap() {
            node.as_object_mut().unwrap().remove("mesh");
            node.as_object_mut().unwrap().remove("skin");
        }
    });
    assert_eq!(
        Model::from_glb("x", &empty).unwrap_err().problem,
        ModelProblem::NoMesh
    );
    // The gltf crate accepts these values in its validation, but panics when it reads them.
    let words = [
        with_json(|json| {
            json["animations"][0]["channels"][0]["target"]["path"] = "rotatiom".into();
        }),
        with_json(|json| json["animations"][0]["samplers"][0]["interpolation"] = "LINEAT".into()),
        with_json(|json| json["meshes"][0]["primitives"][0]["mode"] = 77.into()),
        with_json(|json| {
            json["images"][0]
                .as_object_mut()
                .unwrap()
                .remove("mimeType");
        }),
        with_json(|json| {
            json["images"][0]
                .as_object_mut()
                .unwrap()
                .remove("bufferView");
        }),
    ];
    for word in words {
        assert!(refusal(&word).contains("damaged"), "{}", refusal(&word));
    }
    let cyclic = with_json(|json| {
        json["nodes"][9]["children"] = serde_json::json!([1]);
    });
    assert!(refusal(&cyclic).contains("circle"), "{}", refusal(&cyclic));
    let huge = with_json(|json| json["accessors"][0]["count"] = 4_000_000_000u32.into());
    assert!(Model::from_glb("x", &huge).is_err());
    let none = with_json(|json| json["accessors"][0]["count"] = 0.into());
    assert!(Model::from_glb("x", &none).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged files give an error or a valid model, never a panic.
    #[test]
    fn broken_bytes_never_crash(changes in prop::collection::vec((0usize..30_000, any::<u8>()), 1..6), cut in 0usize..400_000) {
        let mut bytes = shipped("herring");
        // The changes affect only the header, the JSON text and the numbers after it. The rest of the file is the image of the
        // skin.
        for (at, value) in changes {
            if let Some(byte) = bytes.get_mut(at) { *byte = value; }
        }
        bytes.truncate(cut.max(64));
        let _ = Model::from_glb("broken", &bytes);
    }

    #[test]
    fn lying_numbers_never_crash(list in prop::sample::select(vec!["accessors", "bufferViews", "nodes", "skins", "animations", "meshes"]),
        entry in 0usize..20, key in prop::sample::select(vec!["count", "byteOffset", "byteLength", "byteStride", "componentType", "type", "bufferView", "joints", "mesh", "skin", "children"]),
        value in prop::sample::select(vec![-1i64, 0, 1, 2, 3, 7, 255, 5120, 5121, 5123, 5125, 5126, 100_000, i64::MAX])) {
        let bytes = with_json(|json| {
            let entries = json[list].as_array_mut().unwrap();
            let entry = entry % entries.len();
            let value = match key { "joints" | "children" => serde_json::json!([value]), "type" => "MAT4".into(), _ => value.into() };
            entries[entry][key] = value;
        });
        let _ = Model::from_glb("lying", &bytes);
    }
}

/// Returns small files, each with one supported or unsupported feature of glTF.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir("tests/picture/corpus")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "glb"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_file_of_the_corpus_loads_or_fails_as_expected() {
    let files = corpus();
    assert!(files.len() >= 8, "{} files", files.len());
    for (name, bytes) in &files {
        let loaded = Model::from_glb(name, bytes);
        if name == "lines" {
            assert_eq!(loaded.unwrap_err().problem, ModelProblem::NoMesh);
            continue;
        }
        let model = loaded.unwrap_or_else(|error| panic!("{error}"));
        // The quads have no normals and are not flat. The two common corners of the triangles are therefore doubled, so that
        // each triangle has its own normal. Without indices, the fourth corner belongs to no triangle, so it is not copied.
        let count = if name == "no_indices" { 3 } else { 6 };
        assert_eq!(model.vertices.len(), count, "{name}");
        assert_eq!(
            model.clips.len(),
            usize::from(name.starts_with("clip_")),
            "{name}"
        );
        assert_eq!(model.skin.is_some(), name == "picture");
    }
}

/// Cuts each file at every length and changes each byte in five ways. Each damaged file must give an error or a valid model,
/// never a panic.
#[test]
fn every_small_damage_to_the_corpus_is_survived() {
    let mut survived = 0u32;
    for (name, bytes) in corpus() {
        for cut in 0..bytes.len() {
            let _ = Model::from_glb(&name, &bytes[..cut]);
        }
        let mut damaged = bytes.clone();
        for at in 0..bytes.len() {
            for value in [
                0,
                0xFF,
                bytes[at] ^ 1,
                bytes[at] ^ 0x80,
                bytes[at].wrapping_add(1),
            ] {
                damaged[at] = value;
                survived += u32::from(Model::from_glb(&name, &damaged).is_ok());
            }
            damaged[at] = bytes[at];
        }
    }
    assert!(
        survived > 1000,
        "only {survived} changed files still load; most changes are to arbitrary numbers"
    );
}
