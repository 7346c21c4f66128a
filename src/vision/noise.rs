//! The noise model of tracking: what the tracker assumes about bodies and about its measurements, and the unit in which it
//! compares hypotheses.
//!
//! A hypothesis says which visitors are in a region of the floor: one, two, or only a thing. The group fit gives its
//! log-likelihood in nats. A hypothesis with 1 nat more is e times as likely. The model has three parts:
//!
//! - **Silhouettes**: a body differs from its silhouette in patches, such as an arm, a bag or a gap between the legs. Patches of
//!   [`PATCH_M2`] are independent of each other. Each one that differs costs 1 nat.
//! - **Positions**: the error of a predicted foot point is normally distributed, so a deviation of one standard deviation costs
//!   half a nat. The cost has an upper limit, because visitors turn.
//! - **Bodies**: a body has a size and a stride. Foot points that are nearer to each other than bodies can be may belong to one
//!   body, and frames of one stride show the same errors, so they are one piece of evidence.
//!
//! A decision about another visitor needs evidence of one of three levels. A wrong visitor on the floor is worse than one who is
//! noticed a second later, so a track begins at a higher level than it ends.

/// Area of a patch in which a silhouette is wrong, in m²: an area of 0.2 × 0.2 m, about that of an arm. A larger patch makes all
/// evidence from areas weaker.
const PATCH_M2: f32 = 0.04;

/// Evidence for a visitor without a track from which a track begins, in nats: a visitor is 150 times as likely as none. It is the
/// area of a child's shadow, 0.2 m².
pub(super) const CERTAIN: f32 = 5.0;
/// Evidence that decides between tracks that exist, in nats: that a track is visible in a group, that it belongs to another
/// place, or that two tracks exchanged their ids.
pub(super) const LIKELY: f32 = CERTAIN / 2.0;
/// Evidence below which a hypothesis explains nothing of its own, in nats: it is about the noise of one patch.
pub(super) const FAINT: f32 = CERTAIN / 4.0;

/// Foot points nearer to each other than this, in meters, can be the two feet of one body.
pub(super) const FEET_M: f32 = 0.25;
/// Bodies whose foot points are nearer to each other than this, in meters, touch: the width of the shoulders of an adult.
pub(super) const BODY_M: f32 = 0.4;
/// Bodies whose foot points are farther from each other than this, in meters, are apart, also with their arms.
pub(super) const APART_M: f32 = 0.6;
/// Farthest distance between the foot point of a body and another part of its shadow or body that is seen separately, in meters.
pub(super) const REACH_M: f32 = 1.0;

/// Duration of a step, in seconds. Evidence must last so long, because the legs show the same errors during a step.
pub(super) const STEP_SECS: f32 = 0.5;
/// Time in which visitors change their course or their neighbors, in seconds: what was seen longer ago says little.
pub(super) const COURSE_SECS: f32 = 1.0;

/// Time after which the way of a body is known, in seconds: it walks, it stays, or it is a thing.
pub(super) const SURE_SECS: f32 = 3.0;
/// A hypothesis explains a region if it explains at least this share of it.
pub(super) const MOST_SHARE: f32 = 0.5;

/// Returns the evidence in nats of an explained area in m².
pub(super) fn nats(area_m2: f32) -> f32 {
    area_m2 / PATCH_M2
}
