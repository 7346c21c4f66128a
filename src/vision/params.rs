//! Parameters of the `[vision]` table of a site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::areas::{self, Area};
use super::polarity::Polarity;

/// Parameters of foreground detection and tracking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VisionParams {
    /// What a visitor looks like: `dark` (body and shadow on a lit floor), `bright` (lit visitors on a dark floor, tables that are
    /// lit from behind, thermal and depth cameras) or `both`.
    pub polarity: Polarity,
    /// Areas in which nobody is detected, such as a plant that sways, a mirror or a text that the camera writes into its picture.
    #[schemars(length(max = 32))]
    pub ignore: Vec<Area>,
    /// If there are any, nobody is detected outside of these areas.
    #[schemars(length(max = 32))]
    pub include: Vec<Area>,
    /// A pixel is foreground if it is darker than the level of the background model times this value. A higher value
    /// finds fainter shadows, but also more noise.
    #[schemars(range(min = 0.2, max = 0.95))]
    pub shadow_ratio: f32,
    /// A pixel is foreground only if it is darker than the background model by at least this many standard deviations
    /// of the noise of that pixel.
    #[schemars(range(min = 1.0, max = 20.0))]
    pub noise_factor: f32,
    /// Pixels whose background level (0 to 255) is below this value are ignored, because a shadow cannot be detected on
    /// them. Pixels below three times this value are averaged over 3 × 3 pixels to reduce their noise.
    #[schemars(range(min = 1.0, max = 200.0))]
    pub dark_level: f32,
    /// Duration of the learning phase after the start, in seconds. During this phase, the background model quickly
    /// accepts floor that becomes visible when a visitor moves away.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub learn_secs: f32,
    /// Time constant, in seconds, with which the background model follows small brightness changes of floor without
    /// visitors.
    #[schemars(range(min = 0.1, max = 600.0))]
    pub follow_secs: f32,
    /// Time, in seconds, for which floor must keep a much higher brightness until the background model accepts it. A long
    /// value delays detection where an object was removed. Light that comes and goes faster than this changes nothing.
    #[schemars(range(min = 1.0, max = 3600.0))]
    pub brighten_secs: f32,
    /// Width of the margin around the foreground, in pixels, in which the background model does not learn.
    #[schemars(range(min = 1, max = 20))]
    pub grow_px: u32,
    /// Radius of the morphological opening, in pixels: foreground narrower than about twice this value is removed as
    /// noise.
    #[schemars(range(min = 0, max = 5))]
    pub open_px: u32,
    /// Radius of the morphological closing, in pixels: gaps narrower than about twice this value are filled.
    #[schemars(range(min = 0, max = 10))]
    pub close_px: u32,
    /// Smallest area of a blob that can start a new track, in m².
    #[schemars(range(min = 0.0001, max = 10.0))]
    pub min_area_m2: f32,
    /// Largest area of a blob that can belong to a visitor, in m².
    #[schemars(range(min = 0.01, max = 10000.0))]
    pub max_area_m2: f32,
    /// If more than this share of the floor becomes foreground in one frame, Shoal assumes that the lighting has
    /// changed, and freezes all tracks.
    #[schemars(range(min = 0.05, max = 1.0))]
    pub light_change_share: f32,
    /// If a lighting change lasts longer than this, in seconds, Shoal learns the background again.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub relearn_secs: f32,
    /// A blob that does not move from the point where it first appeared for this long, in seconds, is treated as an
    /// object and becomes part of the background model. A visitor who walked in never becomes background, no matter how
    /// long they stand still.
    #[schemars(range(min = 1.0, max = 86400.0))]
    pub scenery_secs: f32,
    /// Parameters of the tracker.
    pub tracking: TrackingParams,
}

impl Default for VisionParams {
    fn default() -> Self {
        Self {
            polarity: Polarity::default(),
            ignore: Vec::new(),
            include: Vec::new(),
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

/// Parameters that control how visitors are tracked from frame to frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrackingParams {
    /// Number of frames in which Shoal must detect a shadow before its track is published. At most 30 frames per second
    /// count, because frames of a faster camera show nearly the same image.
    #[schemars(range(min = 1, max = 100))]
    pub birth_frames: u32,
    /// If the shadow of a visitor merges with another shadow, Shoal keeps the track for this long, in seconds, without
    /// separate evidence for that visitor.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub coast_secs: f32,
    /// If the shadow of a visitor disappears, Shoal keeps the track for this long, in seconds. Without this time, one
    /// or two frames without a detection would end the track.
    #[schemars(range(min = 0.0, max = 5.0))]
    pub linger_secs: f32,
    /// If a visitor returns within this time, in seconds, close to the point where the track was lost, the visitor gets
    /// the same id again.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub return_secs: f32,
    /// Largest distance in meters between the predicted foot point of a track and the blob assigned to it.
    #[schemars(range(min = 0.05, max = 10.0))]
    pub gate_m: f32,
    /// Acceleration assumed for a walking visitor, in m/s². A larger value follows faster and smooths less.
    #[schemars(range(min = 0.1, max = 50.0))]
    pub acceleration_mps2: f32,
    /// Standard deviation of a measured foot point, in meters. It includes the swing of the feet while walking.
    #[schemars(range(min = 0.001, max = 2.0))]
    pub foot_spread_m: f32,
    /// Distance in meters between the end of the shadow that is nearest to the lamp and the midpoint between both feet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub foot_inset_m: f32,
    /// Height of the tallest expected visitor, in meters. It limits how long a shadow can be.
    #[schemars(range(min = 0.2, max = 3.0))]
    pub tallest_m: f32,
    /// A visitor who stays within this radius, in meters, counts as standing still.
    #[schemars(range(min = 0.005, max = 2.0))]
    pub still_radius_m: f32,
    /// Agitation (mean speed of the outline) above which a visitor moves on the spot, for example stamps or waves, and does not count as
    /// standing still. A visitor who sways stays below 0.02. Higher: only wild stamping counts as motion. Lower: also a visitor who sways
    /// is restless.
    #[schemars(range(min = 0.005, max = 5.0))]
    pub still_agitation_mps: f32,
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
            still_agitation_mps: 0.03,
        }
    }
}

impl VisionParams {
    /// Returns every combination of parameters that is invalid, as pairs of a dotted parameter path and a message.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.max_area_m2 <= self.min_area_m2 {
            problems.push((
                "max_area_m2".to_owned(),
                format!(
                    "{} is not above min_area_m2 = {}, so no shadow would ever be detected; raise it",
                    self.max_area_m2, self.min_area_m2
                ),
            ));
        }
        areas::add_problems("ignore", &self.ignore, &mut problems);
        areas::add_problems("include", &self.include, &mut problems);
        problems
    }
}
