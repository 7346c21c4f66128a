//! Adds a spine to models without a skeleton: joints from nose to tail, and clips with a wave that travels along them.
//!
//! In: a rigid model. Out: if it is longer than wide, the same model with a skeleton and the clips `cruise`, `glide` and
//! `sprint`; otherwise (a jellyfish, a ball) the unchanged model.

use glam::{Mat4, Quat, Vec3};

use super::clip::{Clip, SAMPLES};
use super::data::Model;
use super::skeleton::{Joint, JointTransform};

/// Positions of the joints along the body, from the nose (0) to the tip of the tail (1): first the root, then the joints of the
/// tail.
const JOINT_POSITIONS: [f32; 6] = [0.30, 0.42, 0.54, 0.65, 0.76, 0.86];
/// Smallest ratio of length to width and height of a model that gets a spine.
const MIN_SLENDERNESS: f32 = 1.3;
/// Wavelength of the wave on the body, in body lengths.
const WAVE: f32 = 0.95;

/// Largest number of joints that move one vertex of a model with an added spine.
const SPINE_INFLUENCES: usize = 2;

/// Whether a model is rigid and slender, so that it is drawn with an added spine.
fn gets_spine(model: &Model) -> bool {
    model.joints.is_empty() && model.size.z >= MIN_SLENDERNESS * model.size.x.max(model.size.y)
}

/// Returns the largest number of joints that move one vertex of a model when it is drawn: with its spine, if it gets one.
pub(crate) fn drawn_influences(model: &Model) -> usize {
    if gets_spine(model) {
        SPINE_INFLUENCES
    } else {
        model.influences()
    }
}

/// Adds a spine to a rigid, slender model; returns every other model unchanged.
pub(crate) fn with_spine(mut model: Model) -> Model {
    if !gets_spine(&model) {
        return model;
    }
    let length = model.size.z;
    let nose = model
        .vertices
        .iter()
        .map(|vertex| vertex.position[2])
        .fold(f32::NEG_INFINITY, f32::max);
    let at = |s: f32| Vec3::new(0.0, 0.0, nose - s * length);
    for (i, &s) in JOINT_POSITIONS.iter().enumerate() {
        let from = i
            .checked_sub(1)
            .and_then(|before| JOINT_POSITIONS.get(before));
        let rest = JointTransform {
            rotation: Quat::IDENTITY,
            translation: from.map_or(at(s), |&before| at(s) - at(before)),
            scale: Vec3::ONE,
        };
        model.joints.push(Joint {
            parent: i.checked_sub(1),
            base: Mat4::IDENTITY,
            rest,
            inverse_bind: Mat4::from_translation(-at(s)),
        });
        model.order.push(i);
    }
    for vertex in &mut model.vertices {
        let s = (nose - vertex.position[2]) / length;
        // Near the border between two bones, both move the vertex.
        let next = JOINT_POSITIONS
            .partition_point(|&position| position < s)
            .clamp(1, JOINT_POSITIONS.len() - 1);
        let border = JOINT_POSITIONS[next];
        let share = ((s - border) / 0.11 + 0.5).clamp(0.0, 1.0);
        let heavier = (share * 255.0).round() as u8;
        vertex.joints = [next as u8, next as u8 - 1, 0, 0];
        vertex.weights = [heavier, 255 - heavier, 0, 0];
    }
    // The clips are sorted by name, like the clips of a file.
    for (name, reach) in [("cruise", 0.09), ("glide", 0.008), ("sprint", 0.15)] {
        model.clips.push(wave(name, reach, length, &model.joints));
    }
    model
}

/// Returns a clip with a wave whose amplitude grows towards the tail.
///
/// **Source**: Videler 1993, chapter 1; amplitudes tuned by eye.
fn wave(name: &str, reach: f32, length: f32, joints: &[Joint]) -> Clip {
    let turn = std::f32::consts::TAU;
    let mut table = Vec::with_capacity(SAMPLES * joints.len());
    for sample in 0..SAMPLES {
        let phase = sample as f32 / SAMPLES as f32;
        let sideways = |s: f32| reach * (0.05 + 0.95 * s * s) * (turn * (phase - s / WAVE)).sin();
        let mut before = 0.0;
        for (i, joint) in joints.iter().enumerate() {
            let from = JOINT_POSITIONS[i];
            let to = JOINT_POSITIONS.get(i + 1).copied().unwrap_or(1.0);
            let heading = -((sideways(to) - sideways(from)) / (to - from)).atan();
            let sway = if i == 0 {
                Vec3::X * (sideways(from) * length)
            } else {
                Vec3::ZERO
            };
            table.push((
                Quat::from_rotation_y(heading - before),
                joint.rest.translation + sway,
            ));
            before = heading;
        }
    }
    Clip {
        name: name.to_owned(),
        duration_secs: 1.0,
        table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::model::ModelVertex;

    fn stick(width: f32) -> Model {
        let corner = |x: f32, z: f32| ModelVertex {
            position: [x, 0.0, z],
            normal: [0.0, 1.0, 0.0],
            uv: [0.0; 2],
            color: [255; 4],
            joints: [0; 4],
            weights: [255, 0, 0, 0],
        };
        Model {
            vertices: (0..=20)
                .map(|i| corner(width * (i % 2) as f32, 1.0 - i as f32 / 10.0))
                .collect(),
            indices: vec![0, 1, 2],
            coarser: Default::default(),
            joints: Vec::new(),
            order: Vec::new(),
            clips: Vec::new(),
            skin: None,
            size: Vec3::new(width, 0.1, 2.0),
            notes: Vec::new(),
        }
    }

    /// A scene whose only animals were rigid models was drawn with one joint for each vertex: rays from the middle of the picture.
    #[test]
    fn the_spine_of_a_rigid_model_counts_for_the_joints_of_a_vertex() {
        for width in [0.3, 1.9] {
            let wanted = with_spine(stick(width)).influences();
            assert_eq!(drawn_influences(&stick(width)), wanted, "{width}");
        }
        assert_eq!(drawn_influences(&stick(0.3)), 2);
    }

    #[test]
    fn a_slender_rigid_model_gets_a_spine_that_moves_every_vertex() {
        let model = with_spine(stick(0.3));
        assert_eq!(model.joints.len(), JOINT_POSITIONS.len());
        assert!(
            ["cruise", "glide", "sprint"]
                .iter()
                .all(|name| model.clip(name).is_some())
        );
        for vertex in &model.vertices {
            let sum: u32 = vertex.weights.iter().map(|&w| u32::from(w)).sum();
            assert_eq!(sum, 255);
            assert!(
                vertex
                    .joints
                    .iter()
                    .all(|&j| usize::from(j) < JOINT_POSITIONS.len())
            );
        }
        // At rest, the joint matrices are the identity.
        let mut global = Mat4::IDENTITY;
        for joint in &model.joints {
            global *= Mat4::from_translation(joint.rest.translation);
            let still = global * joint.inverse_bind;
            assert!(still.abs_diff_eq(Mat4::IDENTITY, 1e-5));
        }
    }

    #[test]
    fn round_and_rigged_models_are_unchanged() {
        assert!(with_spine(stick(1.9)).joints.is_empty());
        let once = with_spine(stick(0.3));
        assert_eq!(with_spine(once.clone()).joints, once.joints);
    }
}
