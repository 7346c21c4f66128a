//! The node tree of a glTF file: parents, transforms, and the nodes of the scene that have a mesh.

use glam::{Mat4, Quat, Vec3, Vec4};

use super::document::{Document, Node};
use super::error::ModelProblem;
use super::skeleton::JointTransform;

/// Largest depth of the node tree.
const MAX_DEPTH: usize = 256;

/// The node tree.
pub(super) struct Tree {
    parents: Vec<Option<usize>>,
    locals: Vec<Mat4>,
}

impl Tree {
    /// Reads the tree.
    ///
    /// # Errors
    /// If a node has several parents, the nodes form a cycle, or a transform is not finite.
    pub(super) fn new(nodes: &[Node]) -> Result<Self, ModelProblem> {
        let damaged = |what: String| ModelProblem::Damaged(what);
        let mut parents = vec![None; nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            for &child in &node.children {
                let parent = parents
                    .get_mut(child)
                    .ok_or_else(|| damaged(format!("node {i} has a child that does not exist")))?;
                if parent.is_some_and(|parent| parent != i) {
                    return Err(damaged(format!("node {child} has several parents")));
                }
                *parent = Some(i);
            }
        }
        let locals: Vec<Mat4> = nodes.iter().map(matrix).collect();
        if let Some(i) = locals.iter().position(|local| !local.is_finite()) {
            return Err(damaged(format!("the transform of node {i} is not finite")));
        }
        let tree = Self { parents, locals };
        if (0..nodes.len()).any(|node| tree.ancestors(node).nth(MAX_DEPTH).is_some()) {
            return Err(damaged(format!(
                "its nodes form a circle, or are nested deeper than {MAX_DEPTH}"
            )));
        }
        Ok(tree)
    }

    /// Returns the ancestors of a node, starting with its parent.
    pub(super) fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        let parent = |&node: &usize| self.parents.get(node).copied().flatten();
        std::iter::successors(parent(&node), parent)
    }

    /// Transform from the space of a node to that of its parent.
    pub(super) fn local(&self, node: usize) -> Mat4 {
        self.locals.get(node).copied().unwrap_or(Mat4::IDENTITY)
    }

    /// Transform from the space of a node at rest to that of the scene.
    pub(super) fn global(&self, node: usize) -> Mat4 {
        self.ancestors(node)
            .fold(self.local(node), |global, above| self.local(above) * global)
    }

    /// Returns the nodes of the shown scene that have a mesh, parents before children. In a file without scenes, all nodes are
    /// shown.
    ///
    /// # Errors
    /// If the scene refers to a node that does not exist.
    pub(super) fn nodes_with_mesh(&self, document: &Document) -> Result<Vec<usize>, ModelProblem> {
        let is_root = |&node: &usize| self.parents.get(node).is_some_and(Option::is_none);
        let mut ahead: Vec<usize> = match document.scenes.get(document.scene.unwrap_or(0)) {
            Some(scene) => scene.nodes.clone(),
            None => (0..document.nodes.len()).filter(is_root).collect(),
        };
        ahead.reverse();
        let (mut seen, mut found) = (vec![false; document.nodes.len()], Vec::new());
        while let Some(i) = ahead.pop() {
            let (Some(node), Some(seen)) = (document.nodes.get(i), seen.get_mut(i)) else {
                return Err(ModelProblem::Damaged(format!(
                    "its scene refers to node {i}, which does not exist"
                )));
            };
            if std::mem::replace(seen, true) {
                continue;
            }
            if node.mesh.is_some() {
                found.push(i);
            }
            ahead.extend(node.children.iter().rev());
        }
        Ok(found)
    }
}

/// Returns the matrix of a node.
fn matrix(node: &Node) -> Mat4 {
    match &node.matrix {
        Some(matrix) => Mat4::from_cols_array(matrix),
        None => {
            let local = transform(node);
            Mat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation)
        }
    }
}

/// Returns the rotation, translation and scale of a node. A matrix is decomposed into them.
pub(super) fn transform(node: &Node) -> JointTransform {
    let (scale, rotation, translation) = match &node.matrix {
        Some(matrix) => Mat4::from_cols_array(matrix).to_scale_rotation_translation(),
        None => (
            node.scale.map_or(Vec3::ONE, Vec3::from_array),
            node.rotation.map_or(Quat::IDENTITY, Quat::from_array),
            node.translation.map_or(Vec3::ZERO, Vec3::from_array),
        ),
    };
    JointTransform {
        rotation: Quat::from_vec4(Vec4::from(rotation).try_normalize().unwrap_or(Vec4::W)),
        translation,
        scale,
    }
}
