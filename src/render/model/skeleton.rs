//! The joints of a model.

use glam::{Mat4, Quat, Vec3};

/// Rotation, translation and scale of a joint relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointTransform {
    /// Rotation.
    pub rotation: Quat,
    /// Translation.
    pub translation: Vec3,
    /// Scale.
    pub scale: Vec3,
}

impl JointTransform {
    /// No rotation, translation or scaling.
    pub(super) const IDENTITY: Self = Self {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
        scale: Vec3::ONE,
    };
}

/// One joint of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Index of the parent joint; `None` for a root. Parents come before their children in `Model::order`.
    pub parent: Option<usize>,
    /// Combined transform of the nodes that lie between this joint and its parent joint (or the model) and are not joints.
    pub base: Mat4,
    /// Transform at rest.
    pub rest: JointTransform,
    /// Transform from model space to the space of the joint at rest.
    pub inverse_bind: Mat4,
}
