//! Builds the one skeleton of a model from all skins of its file, and from the nodes that carry meshes without a skin.

use std::collections::BTreeSet;

use glam::Mat4;

use super::accessor::Source;
use super::error::{ModelProblem, at_most};
use super::left_out::LeftOut;
use super::nodes::{Tree, transform};
use super::skeleton::{Joint, JointTransform};

/// Largest number of joints of a model.
const MAX_JOINTS: usize = 64;
/// Largest difference of two transforms that count as equal. Exporters round to about this.
const SAME_TRANSFORM: f32 = 1e-5;

/// Transform and joints of the vertices of a mesh.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    /// Transform from the space of the mesh to that of the model at rest.
    pub(super) transform: Mat4,
    /// For every joint of the skin, the index of the joint in the model. A mesh without a skin has one entry; a rigid model has
    /// none.
    pub(super) joints: Vec<u8>,
    /// Whether a skin moves the mesh.
    pub(super) is_skinned: bool,
}

/// The skeleton of a model while it is built.
pub(super) struct JointList<'a> {
    source: &'a Source<'a>,
    tree: &'a Tree,
    /// For every node, whether it is a joint of a used skin.
    is_joint: Vec<bool>,
    /// Node and inverse bind matrix of every joint. A joint that never moves has no node.
    entries: Vec<(Option<usize>, Mat4)>,
    /// Placements of the skins that were read.
    skins: Vec<(usize, Placement)>,
}

impl<'a> JointList<'a> {
    /// Collects the joints of all skins that the given nodes use.
    pub(super) fn new(
        source: &'a Source<'a>,
        tree: &'a Tree,
        nodes: &[usize],
    ) -> Result<Self, ModelProblem> {
        let mut list = Self {
            source,
            tree,
            is_joint: vec![false; source.document.nodes.len()],
            entries: Vec::new(),
            skins: Vec::new(),
        };
        for &node in nodes {
            let node = source.document.nodes.get(node);
            let Some(skin) = node.and_then(|node| node.skin) else {
                continue;
            };
            if list.skins.iter().all(|(known, _)| *known != skin) {
                let placement = list.add_skin(skin)?;
                list.skins.push((skin, placement));
            }
        }
        Ok(list)
    }

    fn add_skin(&mut self, index: usize) -> Result<Placement, ModelProblem> {
        let damaged = |what: &str| ModelProblem::Damaged(format!("skin {index} {what}"));
        let skin = self.source.document.skins.get(index);
        let skin = skin.ok_or_else(|| damaged("does not exist"))?;
        if skin.joints.is_empty() {
            return Err(damaged("has no joints"));
        }
        at_most("joints", skin.joints.len(), MAX_JOINTS)?;
        let matrices = match skin.inverse_bind_matrices {
            Some(accessor) => self.source.rows::<16>(accessor)?,
            None => Vec::new(),
        };
        let inverse_bind = |i: usize| {
            let matrix = matrices.get(i);
            matrix.map_or(Mat4::IDENTITY, Mat4::from_cols_array)
        };
        // The node of a skinned mesh does not move the mesh; the skeleton does. At rest, the skeleton may rotate and scale the
        // whole mesh, for example in files whose up axis is z. This transform is moved from the skeleton to the vertices. The
        // drawn result stays the same, and size and spine can be measured in the space of the model. The transform of the joint
        // that moves most of the mesh counts, because joints that only control others can have any size.
        let heaviest = self.heaviest_joint(index, skin.joints.len())?;
        let at_rest = skin.joints.get(heaviest);
        let at_rest = at_rest.map_or(Mat4::IDENTITY, |&node| {
            self.tree.global(node) * inverse_bind(heaviest)
        });
        let inverse = at_rest.inverse();
        let is_usable = at_rest.is_finite() && inverse.is_finite();
        let shift = is_usable && !at_rest.abs_diff_eq(Mat4::IDENTITY, SAME_TRANSFORM);
        let mut joints = Vec::with_capacity(skin.joints.len());
        for (i, &node) in skin.joints.iter().enumerate() {
            let flag = self.is_joint.get_mut(node);
            *flag.ok_or_else(|| damaged("has a joint at a node that does not exist"))? = true;
            let matrix = inverse_bind(i);
            let matrix = if shift { matrix * inverse } else { matrix };
            if !matrix.is_finite() {
                return Err(damaged(&format!(
                    "has a transform of joint {i} that is not finite"
                )));
            }
            joints.push(self.add(Some(node), matrix)?);
        }
        Ok(Placement {
            transform: if shift { at_rest } else { Mat4::IDENTITY },
            joints,
            is_skinned: true,
        })
    }

    /// Returns the joint of a skin that has the largest sum of weights.
    fn heaviest_joint(&self, skin: usize, joint_count: usize) -> Result<usize, ModelProblem> {
        let document = &self.source.document;
        let mut sums = vec![0.0_f32; joint_count];
        let nodes = document.nodes.iter().filter(|node| node.skin == Some(skin));
        let meshes = nodes.filter_map(|node| document.meshes.get(node.mesh?));
        // Primitives can share the data, which is then read once.
        let data = meshes.flat_map(|mesh| &mesh.primitives).filter_map(|part| {
            let of = |name: &str| part.attributes.get(name).copied();
            Some((of("JOINTS_0")?, of("WEIGHTS_0")?))
        });
        for (joints, weights) in data.collect::<BTreeSet<_>>() {
            let joints = self.source.rows::<4>(joints)?;
            let weights = self.source.rows::<4>(weights)?;
            let pairs = joints.as_flattened().iter().zip(weights.as_flattened());
            for (&joint, &weight) in pairs.filter(|(_, weight)| weight.is_finite()) {
                if let Some(sum) = sums.get_mut(joint as usize) {
                    *sum += weight.max(0.0);
                }
            }
        }
        let heaviest = (0..joint_count)
            .rev()
            .max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        Ok(heaviest.unwrap_or(0))
    }

    /// Returns the placement of the mesh of a node; `None` if a joint of size 0 carries the mesh, so that it is not visible.
    pub(super) fn placement(
        &mut self,
        node: usize,
        left_out: &mut LeftOut,
    ) -> Result<Option<Placement>, ModelProblem> {
        let skin = self.source.document.nodes.get(node).and_then(|n| n.skin);
        if let Some((_, placement)) = self.skins.iter().find(|(index, _)| Some(*index) == skin) {
            return Ok(Some(placement.clone()));
        }
        let mut joints = Vec::new();
        if !self.entries.is_empty() {
            let is_joint = |node: &usize| self.is_joint.get(*node).copied().unwrap_or(false);
            let carrier = std::iter::once(node)
                .chain(self.tree.ancestors(node))
                .find(is_joint);
            let inverse_bind = carrier.map_or(Mat4::IDENTITY, |c| self.tree.global(c).inverse());
            if !inverse_bind.is_finite() {
                left_out.add("a mesh at a joint of size 0");
                return Ok(None);
            }
            joints.push(self.add(carrier, inverse_bind)?);
        }
        Ok(Some(Placement {
            transform: self.tree.global(node),
            joints,
            is_skinned: false,
        }))
    }

    /// Returns the index of a joint. The joint is added unless an equal joint exists.
    fn add(&mut self, node: Option<usize>, inverse_bind: Mat4) -> Result<u8, ModelProblem> {
        let is_same = |(other, matrix): &(Option<usize>, Mat4)| {
            *other == node && matrix.abs_diff_eq(inverse_bind, SAME_TRANSFORM)
        };
        let index = match self.entries.iter().position(is_same) {
            Some(index) => index,
            None => {
                at_most("joints", self.entries.len() + 1, MAX_JOINTS)?;
                self.entries.push((node, inverse_bind));
                self.entries.len() - 1
            }
        };
        Ok(index as u8)
    }

    /// Returns the finished skeleton.
    pub(super) fn finish(self) -> Result<Skeleton, ModelProblem> {
        let mut joints = Vec::with_capacity(self.entries.len());
        for &(node, inverse_bind) in &self.entries {
            let mut joint = Joint {
                parent: None,
                base: Mat4::IDENTITY,
                rest: JointTransform::IDENTITY,
                inverse_bind,
            };
            if let Some(node) = node {
                let read = self.source.document.nodes.get(node);
                joint.rest = read.map_or(JointTransform::IDENTITY, transform);
                // Nodes between a joint and its parent joint (or the scene) never move and are combined into one matrix.
                for above in self.tree.ancestors(node) {
                    joint.parent = self.entries.iter().position(|(n, _)| *n == Some(above));
                    if joint.parent.is_some() {
                        break;
                    }
                    joint.base = self.tree.local(above) * joint.base;
                }
            }
            let is_finite = joint.rest.rotation.is_finite()
                && joint.rest.translation.is_finite()
                && joint.rest.scale.is_finite();
            if !(is_finite && joint.base.is_finite()) {
                let i = joints.len();
                return Err(ModelProblem::Damaged(format!(
                    "the transform of joint {i} is not finite"
                )));
            }
            joints.push(joint);
        }
        Ok(Skeleton {
            order: parents_first(&joints)?,
            joints,
            nodes: self.entries.iter().map(|(node, _)| *node).collect(),
        })
    }
}

/// The finished skeleton.
pub(super) struct Skeleton {
    pub(super) joints: Vec<Joint>,
    /// Indices of the joints, parents before children.
    pub(super) order: Vec<usize>,
    /// Node of every joint. Several joints may have the same node.
    pub(super) nodes: Vec<Option<usize>>,
}

/// Returns the indices of the joints, parents before children.
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
