//! Reads the animations of a glTF file: rotations and translations of the joints. Channels are decoded one at a time.

use std::collections::BTreeMap;

use glam::{Vec3, Vec4};

use super::accessor::Source;
use super::clip::{Between, Channel, Clip, ClipTable};
use super::document::{Animation, AnimationSampler, Interpolation};
use super::error::{ModelProblem, at_most};
use super::joints::Skeleton;
use super::left_out::LeftOut;
use super::skeleton::JointTransform;

/// Largest number of clips in a file.
const MAX_CLIPS: usize = 64;

/// A channel that moves a joint.
struct JointChannel<'a> {
    sampler: &'a AnimationSampler,
    node: usize,
    is_rotation: bool,
}

/// Reads all clips. Returns them sorted by name.
pub(super) fn clips(
    source: &Source<'_>,
    skeleton: &Skeleton,
    left_out: &mut LeftOut,
) -> Result<Vec<Clip>, ModelProblem> {
    let animations = &source.document.animations;
    if skeleton.joints.is_empty() {
        for animation in animations {
            joint_channels(source, animation, skeleton, left_out)?;
        }
        return Ok(Vec::new());
    }
    at_most("clips", animations.len(), MAX_CLIPS)?;
    let rest: Vec<JointTransform> = skeleton.joints.iter().map(|joint| joint.rest).collect();
    // Times of the keys, by the index of their accessor. Most channels share an accessor, so each accessor is read only once.
    let mut times: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
    let mut clips = Vec::new();
    for (i, animation) in animations.iter().enumerate() {
        let channels = joint_channels(source, animation, skeleton, left_out)?;
        for channel in &channels {
            let input = channel.sampler.input;
            if let std::collections::btree_map::Entry::Vacant(entry) = times.entry(input) {
                let rows = source.rows::<1>(input)?;
                entry.insert(rows.into_iter().map(|[time]| time).collect());
            }
        }
        let times_of = |channel: &JointChannel<'_>| times.get(&channel.sampler.input);
        let ends = channels.iter().filter_map(|c| times_of(c)?.last().copied());
        let mut table = ClipTable::at_rest(&rest, ends.fold(0.0f32, f32::max));
        for channel in &channels {
            let times = times_of(channel).map_or(&[][..], Vec::as_slice);
            let keys = read_channel(source, channel, times)?;
            for (joint, node) in skeleton.nodes.iter().enumerate() {
                if *node == Some(channel.node) {
                    table.apply(joint, &keys);
                }
            }
        }
        let name = animation.name.as_ref();
        clips.push(table.into_clip(name.map_or_else(|| format!("clip {i}"), |n| n.to_lowercase())));
    }
    clips.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(clips)
}

/// Returns the channels of an animation that move joints.
fn joint_channels<'a>(
    source: &Source<'_>,
    animation: &'a Animation,
    skeleton: &Skeleton,
    left_out: &mut LeftOut,
) -> Result<Vec<JointChannel<'a>>, ModelProblem> {
    let damaged = |what: String| ModelProblem::Damaged(what);
    let mut channels = Vec::new();
    for channel in &animation.channels {
        // If a channel has no node, an extension defines its target; glTF requires readers to ignore such a channel.
        let Some(node) = channel.target.node else {
            left_out.add("animation channels that have no target node");
            continue;
        };
        if node >= source.document.nodes.len() {
            return Err(damaged(format!(
                "an animation channel refers to node {node}, which does not exist"
            )));
        }
        let is_rotation = match channel.target.path.as_str() {
            "rotation" => true,
            "translation" => false,
            "scale" => {
                left_out.add("animation of scale");
                continue;
            }
            "weights" => {
                left_out.add("morph targets and their animation");
                continue;
            }
            path => {
                return Err(damaged(format!(
                    "the path of an animation's channel is \"{path}\""
                )));
            }
        };
        if !skeleton.nodes.contains(&Some(node)) {
            left_out.add("animation of nodes that are no joints of a skin");
            continue;
        }
        let sampler = animation.samplers.get(channel.sampler);
        channels.push(JointChannel {
            sampler: sampler.ok_or_else(|| {
                damaged("an animation channel has a sampler that does not exist".to_owned())
            })?,
            node,
            is_rotation,
        });
    }
    Ok(channels)
}

fn read_channel(
    source: &Source<'_>,
    channel: &JointChannel<'_>,
    times_secs: &[f32],
) -> Result<Channel, ModelProblem> {
    let output = channel.sampler.output;
    let values: Vec<Vec4> = if channel.is_rotation {
        let rows = source.rows::<4>(output)?;
        rows.into_iter().map(Vec4::from_array).collect()
    } else {
        let rows = source.rows::<3>(output)?;
        rows.into_iter()
            .map(|v| Vec3::from_array(v).extend(0.0))
            .collect()
    };
    let (between, rows_per_key) = match channel.sampler.interpolation {
        Interpolation::Step => (Between::Step, 1),
        Interpolation::Linear => (Between::Linear, 1),
        Interpolation::CubicSpline => (Between::CubicSpline, 3),
    };
    let ascending = times_secs.windows(2).all(|pair| pair[0] <= pair[1]);
    let finite = times_secs.iter().all(|t| t.is_finite()) && values.iter().all(|v| v.is_finite());
    if times_secs.is_empty()
        || values.len() < rows_per_key * times_secs.len()
        || !ascending
        || !finite
    {
        return Err(ModelProblem::Damaged(
            "the keys of an animation are out of order or incomplete".to_owned(),
        ));
    }
    Ok(Channel {
        is_rotation: channel.is_rotation,
        between,
        times_secs: times_secs.to_vec(),
        values,
    })
}
