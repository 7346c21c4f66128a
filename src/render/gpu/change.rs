//! Changes of the scene and the outputs while pictures are drawn, on the same graphics device.
//!
//! In: another render setup. Out: a renderer that draws it. Moving things keep their state: rings, specks, the phase of every body,
//! and the flash limiters. Must not: read a snapshot.

use super::renderer::{Renderer, picture_px};
use crate::render::error::RenderError;
use crate::render::output_params::OutputParams;
use crate::render::setup::RenderSetup;

/// Largest ratio of the wanted size of the picture to its size at which an output is changed without a new picture. Above it, an
/// output would visibly enlarge its part of the picture.
const ENLARGED_MAX: f64 = 1.05;
/// Smallest ratio at which the picture is kept. Below it, too many pixels would be drawn for nothing.
const REDUCED_MIN: f64 = 0.7;

impl Renderer {
    /// Draws another scene from the next picture on. If it has another name and a time to fade, the last picture of the old scene stays
    /// over it until [`Self::set_old_share`] removes it.
    ///
    /// # Errors
    /// As [`Self::new`]. Then this renderer still draws the old scene.
    pub fn change_scene(&mut self, setup: RenderSetup) -> Result<(), RenderError> {
        let pattern = self.calibration_pattern;
        let quality = self.quality;
        let mut next = self.next(setup)?;
        next.calibration_pattern = pattern;
        next.notice = self.notice.take();
        next.data.continue_from(&mut self.data);
        next.set_quality(quality);
        next.water.continue_from(&self.gpu, &self.water);
        let states: Vec<_> = self.flash_states().cloned().collect();
        if self.outputs.len() == next.outputs.len() {
            next.resume_flash_states(&states);
            // A pattern for the camera or the projectors is not part of the scene.
            let is_pool = pattern.is_none() && self.overlay_options.pattern.is_none();
            let is_new_scene = is_pool && next.fades && next.scene_name != self.scene_name;
            for (output, last) in next.outputs.iter_mut().zip(&mut self.outputs) {
                output.keep_old_picture(&self.gpu, &next.pipelines, last, is_new_scene);
            }
        }
        *self = next;
        Ok(())
    }

    /// Sets the weight of the last picture of the old scene in the next pictures, from 1 to 0. At 0 the old picture is gone.
    pub fn set_old_share(&mut self, share: f32) {
        for output in &mut self.outputs {
            output.set_old_share(share);
        }
    }

    /// Draws with other parameters of the outputs from the next picture on. This is fast enough for every movement of a mouse
    /// that drags a corner.
    ///
    /// # Errors
    /// If an output's parameters describe no valid warp. Then all outputs are unchanged.
    pub fn change_outputs(&mut self, outputs: &[OutputParams]) -> Result<bool, RenderError> {
        if outputs.len() != self.outputs.len() {
            return Ok(false);
        }
        let layouts = &self.pipelines.outputs;
        let mut changed = Vec::new();
        for (pass, params) in self.outputs.iter().zip(outputs) {
            match pass.changed(&self.gpu, layouts, &self.data.surface, params)? {
                Some(parts) => changed.push(parts),
                None => return Ok(false),
            }
        }
        let views = changed.iter().map(|parts| &parts.view);
        let wanted = picture_px(&self.gpu, views);
        let is_kept = wanted
            .iter()
            .zip(self.body_targets.size_px)
            .all(|(wanted, now)| {
                let ratio = f64::from(*wanted) / f64::from(now.max(1));
                (REDUCED_MIN..=ENLARGED_MAX).contains(&ratio)
            });
        if is_kept {
            for (pass, parts) in self.outputs.iter_mut().zip(changed) {
                pass.apply(parts);
            }
        }
        self.gpu.check()?;
        Ok(is_kept)
    }
}
