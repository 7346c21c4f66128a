//! The last picture of an old scene, which fades into the pictures of the new one.
//!
//! In: a finished picture. Out: the same picture over new ones, with a weight. Must not: draw the old scene again.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, BlendFactor, Color, Device, RenderPass};
use wgpu::{RenderPipeline, ShaderStages, TextureView};

use super::finished::FINISHED;
use super::pipeline::{Draws, FLAT, PipelineDescription, bind_group, blend, layout};

/// The pipeline that draws an old picture.
#[derive(Clone)]
pub(super) struct OldPicturePipeline {
    input: BindGroupLayout,
    blended: RenderPipeline,
}

impl OldPicturePipeline {
    pub(super) fn new(device: &Device, scene: &BindGroupLayout) -> Self {
        let input = layout(device, "old picture", ShaderStages::FRAGMENT, &[FLAT]);
        let weighted = blend(BlendFactor::Constant, BlendFactor::OneMinusConstant);
        let blended = PipelineDescription {
            shader: "old_picture",
            bind_groups: &[scene, &input],
            vertex: ("full_target", None),
            fragment: ("old_color", FINISHED, Some(weighted)),
            draws: Draws::Triangles,
            constants: &[],
        };
        Self {
            blended: blended.compile(device),
            input,
        }
    }
}

/// The last picture of an old scene. It keeps the texture, but nothing else of that scene.
pub(super) struct OldPicture {
    group: BindGroup,
}

impl OldPicture {
    /// Keeps a finished picture.
    pub(super) fn new(
        device: &Device,
        pipeline: &OldPicturePipeline,
        finished: &TextureView,
    ) -> Self {
        let inputs = [BindingResource::TextureView(finished)];
        Self {
            group: bind_group(device, &pipeline.input, &inputs),
        }
    }

    /// Draws the old picture over the new one with a weight from 0 to 1. The bind group of the scene must be set.
    pub(super) fn draw(
        &self,
        pass: &mut RenderPass<'_>,
        pipeline: &OldPicturePipeline,
        weight: f64,
    ) {
        pass.set_pipeline(&pipeline.blended);
        pass.set_bind_group(1, &self.group, &[]);
        pass.set_blend_constant(gray(weight));
        pass.draw(0..3, 0..1);
    }
}

/// Weights of the new picture and of the old one, each drawn over what was there before, so that the sum is a picture with `old_share`
/// of the old picture, of which `replaced_share` replaces the last picture.
pub(super) fn weights(replaced_share: f64, old_share: f64) -> [f64; 2] {
    let old = replaced_share * old_share;
    let new = replaced_share - old;
    // What the old picture leaves of the new one.
    [if old < 1.0 { new / (1.0 - old) } else { 0.0 }, old]
}

/// Returns a blend constant.
pub(super) fn gray(weight: f64) -> Color {
    Color {
        r: weight,
        g: weight,
        b: weight,
        a: weight,
    }
}

#[cfg(test)]
mod tests {
    use super::weights;

    #[test]
    fn the_weights_mix_the_last_picture_the_new_one_and_the_old_one() {
        for replaced in [0.0, 0.1, 0.5, 1.0] {
            for share in [0.0, 0.3, 0.9, 1.0] {
                let [new, old] = weights(replaced, share);
                let mix = |last: f64, now: f64, before: f64| {
                    let drawn = last * (1.0 - new) + now * new;
                    drawn * (1.0 - old) + before * old
                };
                let parts = [mix(1.0, 0.0, 0.0), mix(0.0, 1.0, 0.0), mix(0.0, 0.0, 1.0)];
                let wanted = [1.0 - replaced, replaced * (1.0 - share), replaced * share];
                for (part, wanted) in parts.iter().zip(wanted) {
                    assert!(
                        (part - wanted).abs() < 1e-9,
                        "{replaced} {share}: {parts:?}"
                    );
                }
            }
        }
    }
}
