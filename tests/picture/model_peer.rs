//! The crate `gltf` reads the same triangles, joints and clips from a file as [`Model`] does.

use std::path::{Path, PathBuf};

use glam::{Mat4, Quat, Vec3};
use gltf::Gltf;
use gltf::animation::Interpolation;
use gltf::animation::util::ReadOutputs;
use gltf::mesh::Mode;
use shoal::render::Model;

/// File of the test data that the crate refuses although it is valid.
const REFUSED_BY_PEER: &str = "no-target-node";
/// Largest difference of two positions, in units of the file.
const TOLERANCE: f32 = 1e-3;

/// Name and duration of a clip, and the rotations of joints at its start. A joint that the clip does not rotate has none.
type ClipStart = (String, f32, Vec<Option<Quat>>);

/// The content of a file that both readers must agree on.
struct Content {
    /// Three corners for each triangle, at rest.
    corners: Vec<Vec3>,
    joints: usize,
    clips: Vec<ClipStart>,
}

impl Content {
    fn of_model(model: &Model) -> Self {
        let matrices = rest_matrices(model);
        let position = |i: &u32| {
            let vertex = &model.vertices[*i as usize];
            let position = Vec3::from_array(vertex.position);
            if matrices.is_empty() {
                return position;
            }
            let moved = vertex
                .joints
                .iter()
                .zip(vertex.weights)
                .map(|(joint, weight)| {
                    let matrix = matrices[usize::from(*joint)];
                    f32::from(weight) / 255.0 * matrix.transform_point3(position)
                });
            moved.sum()
        };
        let clips = model.clips.iter().map(|clip| {
            let start = clip.table[..model.joints.len()].iter();
            let rotations = start.map(|(rotation, _)| Some(*rotation));
            (clip.name.clone(), clip.duration_secs, rotations.collect())
        });
        Self {
            corners: model.levels().concat().iter().map(position).collect(),
            joints: model.joints.len(),
            clips: clips.collect(),
        }
    }

    fn of_peer(gltf: &Gltf) -> Self {
        let scene = gltf
            .default_scene()
            .or_else(|| gltf.scenes().next())
            .unwrap();
        let mut placed = Vec::new();
        for node in scene.nodes() {
            place(node, Mat4::IDENTITY, &mut placed);
        }
        let mut corners = Vec::new();
        for (node, _) in &placed {
            add_corners(gltf, node, &placed, &mut corners);
        }
        let skin = gltf.skins().next();
        let joints: Vec<usize> = skin
            .iter()
            .flat_map(gltf::Skin::joints)
            .map(|j| j.index())
            .collect();
        let mut clips = Vec::new();
        if !joints.is_empty() {
            clips.extend(gltf.animations().map(|clip| start(gltf, &clip, &joints)));
            clips.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Self {
            corners,
            joints: joints.len(),
            clips,
        }
    }

    fn area(&self) -> f32 {
        let triangles = self.corners.chunks_exact(3);
        let area = |t: &[Vec3]| (t[1] - t[0]).cross(t[2] - t[0]).length() / 2.0;
        triangles.map(area).sum()
    }

    fn extent(&self) -> (Vec3, Vec3) {
        let corners = || self.corners.iter().copied();
        (
            corners().fold(Vec3::INFINITY, Vec3::min),
            corners().fold(Vec3::NEG_INFINITY, Vec3::max),
        )
    }
}

/// Returns the transform of each joint at rest, from the space of the vertices.
fn rest_matrices(model: &Model) -> Vec<Mat4> {
    let mut globals = vec![Mat4::IDENTITY; model.joints.len()];
    for &i in &model.order {
        let joint = &model.joints[i];
        let above = joint
            .parent
            .map_or(Mat4::IDENTITY, |parent| globals[parent]);
        let rest = &joint.rest;
        let local =
            Mat4::from_scale_rotation_translation(rest.scale, rest.rotation, rest.translation);
        globals[i] = above * joint.base * local;
    }
    let joints = globals.iter().zip(&model.joints);
    joints
        .map(|(global, joint)| *global * joint.inverse_bind)
        .collect()
}

/// Adds a node and the nodes below it with their transforms to the scene.
fn place<'a>(node: gltf::Node<'a>, parent: Mat4, to: &mut Vec<(gltf::Node<'a>, Mat4)>) {
    let global = parent * Mat4::from_cols_array_2d(&node.transform().matrix());
    let children = node.children();
    to.push((node, global));
    for child in children {
        place(child, global, to);
    }
}

/// Adds the corners of the triangles of a node, moved by its skin or its transform.
fn add_corners(
    gltf: &Gltf,
    node: &gltf::Node<'_>,
    placed: &[(gltf::Node<'_>, Mat4)],
    to: &mut Vec<Vec3>,
) {
    let global = |index: usize| {
        let found = placed.iter().find(|(node, _)| node.index() == index);
        found.map_or(Mat4::IDENTITY, |(_, global)| *global)
    };
    let bytes = |_: gltf::Buffer<'_>| gltf.blob.as_deref();
    let skin: Option<Vec<Mat4>> = node.skin().map(|skin| {
        let inverse = skin.reader(bytes).read_inverse_bind_matrices();
        let inverse: Vec<_> = inverse.into_iter().flatten().collect();
        let matrix = |(i, joint): (usize, gltf::Node<'_>)| {
            let bind = inverse
                .get(i)
                .map_or(Mat4::IDENTITY, Mat4::from_cols_array_2d);
            global(joint.index()) * bind
        };
        skin.joints().enumerate().map(matrix).collect()
    });
    for primitive in node.mesh().iter().flat_map(gltf::Mesh::primitives) {
        let reader = primitive.reader(bytes);
        let mut positions: Vec<Vec3> = reader
            .read_positions()
            .unwrap()
            .map(Vec3::from_array)
            .collect();
        match &skin {
            Some(matrices) => {
                let joints = reader.read_joints(0).unwrap().into_u16();
                let weights = reader.read_weights(0).unwrap().into_f32();
                for ((position, joints), weights) in positions.iter_mut().zip(joints).zip(weights) {
                    let moved = joints.iter().zip(weights).map(|(joint, weight)| {
                        weight * matrices[usize::from(*joint)].transform_point3(*position)
                    });
                    *position = moved.sum();
                }
            }
            None => {
                let global = global(node.index());
                for position in &mut positions {
                    *position = global.transform_point3(*position);
                }
            }
        }
        let indices: Vec<u32> = match reader.read_indices() {
            Some(indices) => indices.into_u32().collect(),
            None => (0..positions.len() as u32).collect(),
        };
        let triangles: Vec<[u32; 3]> = match primitive.mode() {
            Mode::Triangles => indices
                .chunks_exact(3)
                .map(|c| [c[0], c[1], c[2]])
                .collect(),
            Mode::TriangleStrip => indices.windows(3).map(|c| [c[0], c[1], c[2]]).collect(),
            Mode::TriangleFan => indices[1..]
                .windows(2)
                .map(|c| [indices[0], c[0], c[1]])
                .collect(),
            Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => Vec::new(),
        };
        // A double-sided triangle is drawn twice.
        let sides = 1 + usize::from(primitive.material().double_sided());
        for triangle in triangles.iter().flat_map(|t| std::iter::repeat_n(t, sides)) {
            // Strips contain triangles without area, which join their parts.
            let [a, b, c] = *triangle;
            if a != b && b != c && c != a {
                to.extend(triangle.map(|i| positions[i as usize]));
            }
        }
    }
}

/// Returns the start of a clip for the joints at these nodes.
fn start(gltf: &Gltf, clip: &gltf::Animation<'_>, joints: &[usize]) -> ClipStart {
    let mut rotations = vec![None; joints.len()];
    let mut duration_secs = 0.0_f32;
    for channel in clip.channels() {
        let reader = channel.reader(|_| gltf.blob.as_deref());
        let end = reader.read_inputs().unwrap().last().unwrap();
        duration_secs = duration_secs.max(end);
        let joint = joints
            .iter()
            .position(|j| *j == channel.target().node().index());
        if let (Some(joint), Some(ReadOutputs::Rotations(keys))) = (joint, reader.read_outputs()) {
            let is_spline = channel.sampler().interpolation() == Interpolation::CubicSpline;
            // A key of a spline has a tangent before its value.
            let first = keys.into_f32().nth(usize::from(is_spline)).unwrap();
            rotations[joint] = Some(Quat::from_array(first).normalize());
        }
    }
    let name = clip.name().unwrap().to_lowercase();
    (name, duration_secs, rotations)
}

fn assert_same(name: &str, ours: &Content, peer: &Content) {
    assert_eq!(ours.corners.len(), peer.corners.len(), "{name}: triangles");
    assert_eq!(ours.joints, peer.joints, "{name}: joints");
    let (area, expected) = (ours.area(), peer.area());
    assert!(
        (area - expected).abs() <= TOLERANCE * expected,
        "{name}: the area is {area}, expected {expected}"
    );
    let ((low, high), (expected_low, expected_high)) = (ours.extent(), peer.extent());
    assert!(
        low.abs_diff_eq(expected_low, TOLERANCE) && high.abs_diff_eq(expected_high, TOLERANCE),
        "{name}: {low} to {high}, expected {expected_low} to {expected_high}"
    );
    assert_eq!(ours.clips.len(), peer.clips.len(), "{name}: clips");
    for (clip, expected) in ours.clips.iter().zip(&peer.clips) {
        assert_eq!((&clip.0, clip.1), (&expected.0, expected.1), "{name}");
        for (rotation, expected) in clip.2.iter().zip(&expected.2) {
            let Some((rotation, expected)) = rotation.zip(*expected) else {
                continue;
            };
            // Two quaternions with opposite signs are the same rotation.
            let difference = 1.0 - rotation.dot(expected).abs();
            assert!(difference < 1e-6, "{name} {}: {difference}", clip.0);
        }
    }
}

fn models_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("SKIPPED: {} is missing", folder.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut models: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "glb"))
        .collect();
    models.sort();
    models
}

#[test]
fn the_gltf_crate_reads_the_same() {
    let data = std::env::var("SHOAL_TEST_DATA").unwrap_or_else(|_| "../shared".to_owned());
    let data = Path::new(&data).join("findings/gltf");
    let folders = [
        Path::new("models"),
        Path::new("tests/picture/corpus"),
        &data,
    ];
    let (mut compared, mut refused) = (0, Vec::new());
    for path in folders.iter().flat_map(|folder| models_in(folder)) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        // The crate requires the extent of all positions, which files of some exporters lack. It then checks nothing else.
        let Ok(gltf) = Gltf::from_slice_without_validation(&bytes) else {
            refused.push(name);
            continue;
        };
        let peer = Content::of_peer(&gltf);
        match Model::from_glb(&name, &bytes) {
            Ok(model) => assert_same(&name, &Content::of_model(&model), &peer),
            Err(error) => assert!(peer.corners.is_empty(), "{error}"),
        }
        compared += 1;
    }
    assert!(compared >= 28, "only {compared} files");
    refused.retain(|name| name != REFUSED_BY_PEER);
    assert!(refused.is_empty(), "{refused:?}");
}
