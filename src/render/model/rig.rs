//! A spine for models that bring none: joints from nose to tail, and a wave that travels along them.
//!
//! In: a rigid model longer than it is broad. Out: the same with a skeleton and the clips `cruise`, `glide` and `sprint`.
//! A model that is no longer than broad (a jelly, a ball) stays rigid.

use glam::{Mat4, Quat, Vec3};

use super::clip::{Clip, SAMPLES};
use super::{Joint, Local, Model};

/// Where joints begin, from the nose (0) to the tail's tip (1): the root, then the tail's.
const STATIONS: [f32; 6] = [0.30, 0.42, 0.54, 0.65, 0.76, 0.86];
/// How much longer than broad a model must be.
const SLENDER: f32 = 1.3;
/// Length of the wave on the body in body lengths.
const WAVE: f32 = 0.95;

/// Gives a rigid, slender model a spine; leaves every other as it is.
pub fn with_spine(mut model: Model) -> Model {
    let length = model.size.z;
    if !model.joints.is_empty() || length < SLENDER * model.size.x.max(model.size.y) {
        return model;
    }
    let nose = model
        .vertices
        .iter()
        .map(|vertex| vertex.position[2])
        .fold(f32::NEG_INFINITY, f32::max);
    let at = |s: f32| Vec3::new(0.0, 0.0, nose - s * length);
    for (i, &s) in STATIONS.iter().enumerate() {
        let from = i.checked_sub(1).and_then(|before| STATIONS.get(before));
        let rest = Local {
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
        // Between the middles of two bones both carry.
        let next = STATIONS
            .partition_point(|&station| station < s)
            .clamp(1, STATIONS.len() - 1);
        let border = STATIONS[next];
        let share = ((s - border) / 0.11 + 0.5).clamp(0.0, 1.0);
        let heavier = (share * 255.0).round() as u8;
        vertex.joints = [next as u8, next as u8 - 1, 0, 0];
        vertex.weights = [heavier, 255 - heavier, 0, 0];
    }
    // Sorted by name, as those of a file.
    for (name, reach) in [("cruise", 0.09), ("glide", 0.008), ("sprint", 0.15)] {
        model.clips.push(wave(name, reach, length, &model.joints));
    }
    model
}

/// A wave that grows towards the tail.
///
/// **Source**: Videler 1993, 'Fish Swimming', chapter 1; reach tuned by eye, 2026-11-21.
fn wave(name: &str, reach: f32, length: f32, joints: &[Joint]) -> Clip {
    let turn = std::f32::consts::TAU;
    let mut table = Vec::with_capacity(SAMPLES * joints.len());
    for sample in 0..SAMPLES {
        let phase = sample as f32 / SAMPLES as f32;
        let sideways = |s: f32| reach * (0.05 + 0.95 * s * s) * (turn * (phase - s / WAVE)).sin();
        let mut before = 0.0;
        for (i, joint) in joints.iter().enumerate() {
            let from = STATIONS[i];
            let to = STATIONS.get(i + 1).copied().unwrap_or(1.0);
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
    use crate::render::model::Vertex;

    fn stick(width: f32) -> Model {
        let corner = |x: f32, z: f32| Vertex {
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
            light: Vec::new(),
            joints: Vec::new(),
            order: Vec::new(),
            clips: Vec::new(),
            skin: None,
            size: Vec3::new(width, 0.1, 2.0),
        }
    }

    #[test]
    fn a_rigid_fish_gets_a_spine_that_carries_every_corner() {
        let model = with_spine(stick(0.3));
        assert_eq!(model.joints.len(), STATIONS.len());
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
                    .all(|&j| usize::from(j) < STATIONS.len())
            );
        }
        // At rest no joint moves anything: bind and rest agree.
        let mut global = Mat4::IDENTITY;
        for joint in &model.joints {
            global *= Mat4::from_translation(joint.rest.translation);
            let still = global * joint.inverse_bind;
            assert!(still.abs_diff_eq(Mat4::IDENTITY, 1e-5));
        }
    }

    #[test]
    fn a_ball_and_a_rigged_fish_stay_as_they_are() {
        assert!(with_spine(stick(1.9)).joints.is_empty());
        let once = with_spine(stick(0.3));
        assert_eq!(with_spine(once.clone()).joints, once.joints);
    }
}
