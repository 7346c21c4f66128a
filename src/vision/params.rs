//! The `[vision]` table of a site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How shadows are told from floor, and visitors followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VisionParams {
    /// A pixel is shadow below this share of its floor's brightness. Higher finds fainter shadows and more noise.
    #[schemars(range(min = 0.2, max = 0.95))]
    pub shadow_ratio: f32,
    /// A shadow is darker than the floor by at least so many times the pixel's own noise.
    #[schemars(range(min = 1.0, max = 20.0))]
    pub noise_factor: f32,
    /// Floor darker than this (of 255) is too dark to tell a shadow on it, and is left out. Floor up to three times as bright
    /// is seen through its noise by averaging 3 × 3 pixels.
    #[schemars(range(min = 1.0, max = 200.0))]
    pub dark_level: f32,
    /// Learning phase at the start, in which floor that people uncover is taken over fast.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub learn_secs: f32,
    /// Time constant with which small changes of the free floor are followed.
    #[schemars(range(min = 0.1, max = 600.0))]
    pub follow_secs: f32,
    /// Time constant with which a part of the floor that became brighter is taken over. Short values leave ghosts when
    /// a patch of sunlight goes; long ones are blind for a while where something was taken away.
    #[schemars(range(min = 1.0, max = 3600.0))]
    pub brighten_secs: f32,
    /// So far around shadows nothing is learned.
    #[schemars(range(min = 1, max = 20))]
    pub grow_px: u32,
    /// Specks narrower than twice this are removed.
    #[schemars(range(min = 0, max = 5))]
    pub open_px: u32,
    /// Gaps narrower than twice this are closed.
    #[schemars(range(min = 0, max = 10))]
    pub close_px: u32,
    /// Smaller shadows are nobody.
    #[schemars(range(min = 0.0001, max = 10.0))]
    pub min_area_m2: f32,
    /// Larger shadows are nobody.
    #[schemars(range(min = 0.01, max = 10000.0))]
    pub max_area_m2: f32,
    /// More of the floor than this changing at once is a change of light, not visitors: tracks are held.
    #[schemars(range(min = 0.05, max = 1.0))]
    pub light_change_share: f32,
    /// A change of light that lasts so long is learned anew.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub relearn_secs: f32,
    /// What appeared in its place and never left it for so long is a thing that was put down, and is no shadow any more.
    /// Who came by walking is never taken for a thing, however long they stand.
    #[schemars(range(min = 1.0, max = 86400.0))]
    pub scenery_secs: f32,
    /// Following visitors.
    pub tracking: TrackingParams,
}

impl Default for VisionParams {
    fn default() -> Self {
        Self {
            shadow_ratio: 0.7,
            noise_factor: 4.0,
            dark_level: 12.0,
            learn_secs: 3.0,
            follow_secs: 5.0,
            brighten_secs: 20.0,
            grow_px: 4,
            open_px: 1,
            close_px: 2,
            min_area_m2: 0.02,
            max_area_m2: 30.0,
            light_change_share: 0.6,
            relearn_secs: 1.5,
            scenery_secs: 120.0,
            tracking: TrackingParams::default(),
        }
    }
}

/// How visitors are followed from frame to frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrackingParams {
    /// A shadow is told after it was seen in so many frames.
    #[schemars(range(min = 1, max = 100))]
    pub birth_frames: u32,
    /// A visitor whose shadow flows into another's is followed so long without evidence of their own.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub coast_secs: f32,
    /// A visitor whose shadow is gone is told so much longer. Bridges a lost frame or two.
    #[schemars(range(min = 0.0, max = 5.0))]
    pub linger_secs: f32,
    /// Somebody who comes back near where they were lost within this time keeps the id.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub return_secs: f32,
    /// No visitor's foot is this far from where it was expected.
    #[schemars(range(min = 0.05, max = 10.0))]
    pub gate_m: f32,
    /// How suddenly people start, stop and turn. Larger follows faster and smooths less.
    #[schemars(range(min = 0.1, max = 50.0))]
    pub acceleration_mps2: f32,
    /// Spread of a foot's measured place; feet swing as people walk.
    #[schemars(range(min = 0.001, max = 2.0))]
    pub foot_spread_m: f32,
    /// From the lampward end of a shadow to the middle between both feet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub foot_inset_m: f32,
    /// The tallest visitor, to know how far a shadow may reach.
    #[schemars(range(min = 0.2, max = 3.0))]
    pub tallest_m: f32,
    /// A visitor who stays within this radius is still.
    #[schemars(range(min = 0.005, max = 2.0))]
    pub still_radius_m: f32,
}

impl Default for TrackingParams {
    fn default() -> Self {
        Self {
            birth_frames: 3,
            coast_secs: 1.0,
            linger_secs: 0.1,
            return_secs: 8.0,
            gate_m: 0.8,
            acceleration_mps2: 2.5,
            foot_spread_m: 0.08,
            foot_inset_m: 0.1,
            tallest_m: 2.1,
            still_radius_m: 0.1,
        }
    }
}

impl VisionParams {
    /// What does not fit together, as dotted path and sentence.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.max_area_m2 <= self.min_area_m2 {
            problems.push((
                "max_area_m2".to_owned(),
                format!(
                    "{} is not above min_area_m2 = {}, so no shadow would ever be seen; raise it",
                    self.max_area_m2, self.min_area_m2
                ),
            ));
        }
        problems
    }
}
