//! Clips: glTF animation channels, sampled while the model is loaded into a table with equal time steps, so that drawing only
//! looks up values.
//!
//! **Source** of the interpolations: glTF 2.0, appendix C.

use glam::{Quat, Vec3, Vec4};

use super::skeleton::JointTransform;

/// Number of samples per cycle in a clip's table.
pub(crate) const SAMPLES: usize = 32;

/// Names of the clips that are played. A model with a single clip of another name plays it as `cruise`.
pub(crate) const CLIP_NAMES: [&str; 9] = [
    "cruise",
    "glide",
    "sprint",
    "turn_left",
    "turn_right",
    "ascend",
    "descend",
    "leap",
    "eat",
];

/// An animation of the whole skeleton over one cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Name in the file, in lower case.
    pub name: String,
    /// Duration of a cycle.
    pub duration_secs: f32,
    /// [`SAMPLES`] rows with the rotation and translation of every joint.
    pub table: Vec<(Quat, Vec3)>,
}

/// The interpolation between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    Step,
    Linear,
    CubicSpline,
}

/// One channel: the keys of the rotation or translation of one joint.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) is_rotation: bool,
    pub(super) between: Between,
    /// Times of the keys, ascending.
    pub(super) times_secs: Vec<f32>,
    /// One row per key, or three (in-tangent, value, out-tangent) for cubic splines.
    pub(super) values: Vec<Vec4>,
}

impl Channel {
    /// Returns the value at a time. The value is constant before the first and after the last key.
    pub(super) fn sample(&self, time_secs: f32) -> Vec4 {
        let next = self.times_secs.partition_point(|&t| t <= time_secs);
        let last = self.times_secs.len().saturating_sub(1);
        let (i, j) = (next.saturating_sub(1), next.min(last));
        let time = |k: usize| self.times_secs.get(k).copied().unwrap_or(0.0);
        let row = |k: usize| self.values.get(k).copied().unwrap_or(Vec4::W);
        let value = |k: usize| {
            if self.between == Between::CubicSpline {
                row(3 * k + 1)
            } else {
                row(k)
            }
        };
        let step = time(j) - time(i);
        if i == j || next == 0 || step <= 0.0 {
            return self.unit(value(i));
        }
        let t = ((time_secs - time(i)) / step).clamp(0.0, 1.0);
        let (a, mut b) = (value(i), value(j));
        let mixed = match self.between {
            Between::Step => a,
            Between::Linear => {
                if self.is_rotation && a.dot(b) < 0.0 {
                    b = -b;
                }
                a.lerp(b, t)
            }
            Between::CubicSpline => {
                let (t2, t3) = (t * t, t * t * t);
                (2.0 * t3 - 3.0 * t2 + 1.0) * a
                    + step * (t3 - 2.0 * t2 + t) * row(3 * i + 2)
                    + (3.0 * t2 - 2.0 * t3) * b
                    + step * (t3 - t2) * row(3 * j)
            }
        };
        self.unit(mixed)
    }

    /// Normalizes a rotation; returns a translation unchanged.
    fn unit(&self, value: Vec4) -> Vec4 {
        if !self.is_rotation {
            return value;
        }
        value.try_normalize().unwrap_or(Vec4::W)
    }
}

/// The table of a clip while its channels are sampled. Joints without a channel stay at rest.
pub(super) struct ClipTable {
    duration_secs: f32,
    joint_count: usize,
    table: Vec<(Quat, Vec3)>,
}

impl ClipTable {
    /// Creates a table in which all joints are at rest.
    pub(super) fn at_rest(rest: &[JointTransform], duration_secs: f32) -> Self {
        let row = || rest.iter().map(|local| (local.rotation, local.translation));
        Self {
            duration_secs,
            joint_count: rest.len(),
            table: (0..SAMPLES).flat_map(|_| row()).collect(),
        }
    }

    /// Samples a channel of a joint into the table.
    pub(super) fn apply(&mut self, joint: usize, channel: &Channel) {
        for sample in 0..SAMPLES {
            let time_secs = self.duration_secs * sample as f32 / SAMPLES as f32;
            if let Some(entry) = self.table.get_mut(sample * self.joint_count + joint) {
                let value = channel.sample(time_secs);
                if channel.is_rotation {
                    entry.0 = Quat::from_vec4(value);
                } else {
                    entry.1 = value.truncate();
                }
            }
        }
    }

    /// Returns the finished clip.
    pub(super) fn into_clip(self, name: String) -> Clip {
        Clip {
            name,
            duration_secs: self.duration_secs,
            table: self.table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(between: Between, values: &[f32]) -> Channel {
        Channel {
            is_rotation: false,
            between,
            times_secs: vec![1.0, 3.0],
            values: values.iter().map(|&v| Vec4::splat(v)).collect(),
        }
    }

    #[test]
    fn channels_interpolate_as_gltf_specifies() {
        let step = channel(Between::Step, &[2.0, 6.0]);
        assert_eq!(
            [0.0, 1.0, 2.9, 3.0, 9.0].map(|t| step.sample(t).x),
            [2.0, 2.0, 2.0, 6.0, 6.0]
        );
        let line = channel(Between::Linear, &[2.0, 6.0]);
        assert_eq!([0.0, 1.5, 3.5].map(|t| line.sample(t).x), [2.0, 3.0, 6.0]);
        // The parabola t² has the values 1 and 9 and the slopes 2 and 6 at the keys; a cubic spline reproduces it exactly.
        let spline = channel(Between::CubicSpline, &[0.0, 1.0, 2.0, 6.0, 9.0, 0.0]);
        for t in [1.0f32, 1.5, 2.0, 2.75, 3.0] {
            assert!((spline.sample(t).x - t * t).abs() < 1e-5, "{t}");
        }
    }

    #[test]
    fn rotations_take_the_shorter_way_and_stay_normalized() {
        let a = Quat::from_rotation_y(0.2);
        let turn = Channel {
            is_rotation: true,
            values: vec![Vec4::from(a), -Vec4::from(Quat::from_rotation_y(0.4))],
            ..channel(Between::Linear, &[])
        };
        let middle = Quat::from_vec4(turn.sample(2.0));
        assert!(middle.angle_between(Quat::from_rotation_y(0.3)) < 1e-3);
        assert!(middle.is_normalized());
    }
}
