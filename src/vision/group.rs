//! Group fitting: finds the positions of several visitors who share one blob.
//!
//! A visitor of height `h` at `p` hides one stripe of floor from the lamp and another one from the camera. Each stripe
//! extends from `p` to the point where the ray that passes the top of the head meets the floor. The search moves one
//! group member after the other until the stripes of all members together match the foreground as well as possible. A
//! cost keeps each member near its predicted position.
//!
//! A lit body is brighter than a shadow, and bodies differ in brightness. The more the brightness of a pixel differs
//! from the expected brightness (tone) of a stripe, the less the pixel counts as covered by that stripe. One tone of
//! shadows is learned for the whole floor. The tone of a body is learned while its visitor is alone in a blob.
//!
//! **Source**: analysis by synthesis as in Fleuret et al. 2008, with lamp and camera as the two views; the search
//! itself is new.

mod exchange;
mod height;
mod merge;
mod silhouette;
mod split;

use glam::Vec2;

use super::TrackingParams;
use super::blobs::{Blob, Bounds};
use super::foot::Origin;
use super::segmented_frame::SegmentedFrame;

pub(super) use exchange::SWAP_GAIN_M2;
pub(super) use merge::MergedFit;
use silhouette::{Pixels, Silhouette};

/// Approximate number of pixels that are sampled around a single visitor.
const PIXELS_ALONE: u32 = 450;
/// Approximate number of pixels that are sampled around a group. Fewer pixels cause more id switches where visitors
/// meet.
const PIXELS_IN_GROUP: u32 = 850;
/// Level that the camera reports without any light, including its noise.
const BLACK_LEVEL: f32 = 6.0;
/// Lower limit of a pixel's brightness as a share of the floor's brightness; darker values cannot be distinguished.
const MIN_TONE_SHARE: f32 = 0.03;
/// Distance from the border of the foreground, in pixels. Closer pixels show a mixture of body and floor, so they have
/// no tone.
const RIM_PX: i32 = 2;
/// Margin around a blob in which pixels are sampled, as a share of the image width.
const MARGIN_SHARE: f32 = 0.04;
/// Unit of the residual area in the cost, in m²: so much residual costs 1, the same as a deviation of one standard
/// deviation from the predicted position.
const RESIDUAL_UNIT_M2: f32 = 0.02;
/// Standard deviation of a member's position around its prediction, in meters.
const EXPECTED_SPREAD_M: f32 = 0.07;
/// Upper limit of the cost of a deviation from the predicted position. Visitors turn, so predictions can be far wrong.
const MAX_DISTANCE_COST: f32 = 12.0;
/// A member that alone explains less area than this, in m², is also tried at other positions in the blob.
const REDUNDANT_M2: f32 = 0.06;
/// Area in m² that a member must explain at another position in addition, before it moves there.
const RELOCATION_GAIN_M2: f32 = 0.1;
/// Smallest area that a new candidate must explain that no other member explains, in m².
pub(super) const CANDIDATE_M2: f32 = 0.2;
/// Smallest distance of a new candidate from all other members, in meters.
const CANDIDATE_APART_M: f32 = 0.35;
/// Area that a candidate must explain in addition at a position that other members already cover, in m².
const COVERED_POSITION_M2: f32 = 0.2;
/// Upper limit for the number of uncovered foreground pixels that are tried as positions of a new candidate. The same
/// limit applies to covered pixels.
const MAX_POSITIONS: usize = 40;
/// Number of height adjustments per member before the search for a new candidate.
const HEIGHT_ADJUST_ROUNDS: usize = 3;
/// If at least this share of a silhouette is on observable pixels, missing foreground there counts as evidence against
/// the silhouette.
const OBSERVABLE_SHARE: f32 = 0.7;
/// Step lengths of the position search, in meters.
const STEPS_M: [f32; 4] = [0.16, 0.08, 0.04, 0.02];

/// One visitor in a blob, as input and result of the group fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Member {
    /// Predicted foot point in floor space.
    pub(super) expected_m: Vec2,
    /// Standard deviation of the foot point around the predicted position.
    pub(super) spread_m: f32,
    /// Assumed height of the visitor, in meters.
    pub(super) height_m: f32,
    /// Logarithm of the brightness of the body relative to the floor behind it; `None` if unknown.
    pub(super) body_tone: Option<f32>,
    /// Fitted foot point in floor space.
    pub(super) position_m: Vec2,
    /// Increase of the residual area if this member is removed, in m².
    pub(super) exclusive_m2: f32,
    /// Whether the visitor stands still. The fit does not move this member.
    pub(super) is_standing: bool,
    /// Set if the fit moved this member to a position unrelated to the prediction. It explains `exclusive_m2` there.
    pub(super) relocation: Option<Relocation>,
}

/// Why a member was moved to a position unrelated to its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Relocation {
    /// Position at which the member explained almost nothing.
    pub(super) from_m: Vec2,
    /// Area that the member alone explained there, in m².
    pub(super) from_exclusive_m2: f32,
    /// Area that the member had to explain alone at its new position, in m².
    pub(super) limit_m2: f32,
    /// Index and exclusive area of the member that explained the next least.
    pub(super) runner_up: Option<(usize, f32)>,
}

impl Member {
    pub(super) fn new(expected_m: Vec2, height_m: f32) -> Self {
        Self {
            expected_m,
            spread_m: EXPECTED_SPREAD_M,
            height_m,
            body_tone: None,
            position_m: expected_m,
            exclusive_m2: 0.0,
            is_standing: false,
            relocation: None,
        }
    }

    fn silhouette(&self, origins: &[Option<Origin>; 2]) -> Silhouette {
        Silhouette::new(self.position_m, self.height_m, self.body_tone, origins)
    }

    /// Returns the cost of the deviation of a position from the predicted one.
    fn deviation_cost(&self, position_m: Vec2) -> f32 {
        let off = position_m.distance_squared(self.expected_m) / self.spread_m.powi(2);
        off / (1.0 + off / MAX_DISTANCE_COST)
    }

    /// Returns the observable area of the silhouette at the predicted position, in m².
    pub(super) fn silhouette_m2(&self, frame: &SegmentedFrame<'_>) -> f32 {
        let origins = frame.feet.lamp_and_camera();
        let silhouette = Silhouette::new(self.expected_m, self.height_m, None, &origins);
        silhouette.area_m2(|position_m| frame.is_observable(position_m))
    }

    /// Returns the area of a blob that the silhouette at the fitted position covers, in m².
    pub(super) fn overlap_m2(&self, blob: &Blob, frame: &SegmentedFrame<'_>) -> f32 {
        let silhouette = self.silhouette(&frame.feet.lamp_and_camera());
        let samples = frame.blobs.samples(blob).iter();
        let covered = samples.filter(|sample| silhouette.covers(sample.position_m));
        covered.map(|sample| sample.area_m2).sum()
    }
}

/// Fits the positions of group members. Its buffers are reused.
pub(super) struct GroupFitter {
    tallest_m: f32,
    pixels: Pixels,
    /// Logarithm of the brightness of shadows relative to lit floor; `None` before the first measurement.
    shadow_tone: Option<f32>,
    /// Unobservable floor in the sampled region, as pairs of position and area.
    unobservable: Vec<(Vec2, f32)>,
    /// Positions and heights of visitors near the group who are not part of it. The group does not have to explain the
    /// area that they cover.
    bystanders: Vec<(Vec2, f32)>,
    /// Buffer for all members except one.
    others: Vec<Member>,
}

impl GroupFitter {
    pub(super) fn new(params: &TrackingParams) -> Self {
        Self {
            tallest_m: params.tallest_m,
            pixels: Pixels::default(),
            shadow_tone: None,
            unobservable: Vec::new(),
            bystanders: Vec::new(),
            others: Vec::new(),
        }
    }

    pub(super) fn change_params(&mut self, params: &TrackingParams) {
        self.tallest_m = params.tallest_m;
    }

    /// Sets the bystanders for the next fits: positions and heights of nearby visitors who are not in the fitted blobs.
    /// The area that bystanders cover counts as explained.
    pub(super) fn set_bystanders(&mut self, bystanders: impl Iterator<Item = (Vec2, f32)>) {
        self.bystanders.clear();
        self.bystanders.extend(bystanders);
    }

    /// Moves the members to the positions that best explain the foreground around `bounds`.
    pub(super) fn fit(
        &mut self,
        members: &mut [Member],
        bounds: &Bounds,
        frame: &SegmentedFrame<'_>,
    ) {
        self.sample_pixels(bounds, PIXELS_IN_GROUP, frame);
        let origins = frame.feet.lamp_and_camera();
        for &step_m in &STEPS_M {
            for index in 0..members.len() {
                self.step(members, index, step_m, &origins);
            }
        }
        for index in 0..members.len() {
            self.adjust_height(members, index, &origins);
        }
        for index in 0..members.len() {
            members[index].exclusive_m2 = self.exclusive_m2(members, index, &origins);
        }
        let least = members.iter_mut().enumerate();
        let least = least.min_by(|a, b| a.1.exclusive_m2.total_cmp(&b.1.exclusive_m2));
        if let Some((index, member)) = least
            && member.exclusive_m2 < REDUNDANT_M2
        {
            self.relocate_redundant(members, index, &origins);
        }
    }

    /// Returns by how much the residual area decreases if the last member is a separate visitor instead of a fragment
    /// of the member at `index`. The fit uses the pixels of both blobs and around them. Returns infinity if the
    /// silhouette of the member at `index` is observable but does not touch the second blob.
    pub(super) fn second_visitor_gain_m2(
        &mut self,
        members: &mut [Member],
        index: usize,
        blobs: [&Blob; 2],
        frame: &SegmentedFrame<'_>,
    ) -> f32 {
        let bounds = blobs[0].bounds().around(&blobs[1].bounds());
        self.sample_pixels(&bounds, PIXELS_IN_GROUP, frame);
        let origins = frame.feet.lamp_and_camera();
        let second = members.len() - 1;
        let mut alone = members[index];
        self.cover_by_others(&members[..second], index, &origins);
        for step_m in STEPS_M {
            self.step_member(&mut alone, step_m, &origins);
        }
        let silhouette = alone.silhouette(&origins);
        let mut samples = frame.blobs.samples(blobs[1]).iter();
        let observable_m2 = silhouette.area_m2(|position_m| frame.is_observable(position_m));
        if observable_m2 > OBSERVABLE_SHARE * silhouette.area_m2(|_| true)
            && !samples.any(|sample| frame.feet.explains(alone.position_m, sample.position_m))
        {
            return f32::INFINITY;
        }
        let residual_m2 = self.pixels.residual_m2(Some(&silhouette));
        for step_m in STEPS_M {
            self.step(members, index, step_m, &origins);
            self.step(members, second, step_m, &origins);
        }
        let fitted = members[second];
        self.cover_by_others(members, second, &origins);
        let silhouette = fitted.silhouette(&origins);
        residual_m2 - self.pixels.residual_m2(Some(&silhouette))
    }

    /// Moves a member that explains almost no area of its own to a position at which foreground is unexplained.
    fn relocate_redundant(
        &mut self,
        members: &mut [Member],
        index: usize,
        origins: &[Option<Origin>; 2],
    ) {
        let member = members[index];
        // If the heights of the other members are adjusted, they may explain the foreground without this member.
        let mut others = std::mem::take(&mut self.others);
        others.clear();
        others.extend_from_slice(&members[..index]);
        others.extend_from_slice(&members[index + 1..]);
        for _ in 0..HEIGHT_ADJUST_ROUNDS {
            for other in 0..others.len() {
                self.adjust_height(&mut others, other, origins);
            }
        }
        let without_m2 = self.unexplained_m2(&others, origins);
        self.others = others;
        if let Some((position_m, extra_m2)) = self.find_missing(member.height_m, origins) {
            let moved = self.refine_near(position_m, member, origins);
            let silhouette = moved.silhouette(origins);
            let exclusive_m2 = without_m2 - self.pixels.residual_m2(Some(&silhouette));
            let limit_m2 = member.exclusive_m2.max(0.0) + RELOCATION_GAIN_M2 + extra_m2;
            if is_separate(&moved, index, members) && exclusive_m2 > limit_m2 {
                let others = members.iter().map(|other| other.exclusive_m2).enumerate();
                let others = others.filter(|(other, _)| *other != index);
                let relocation = Relocation {
                    from_m: member.position_m,
                    from_exclusive_m2: member.exclusive_m2,
                    limit_m2,
                    runner_up: others.min_by(|a, b| a.1.total_cmp(&b.1)),
                };
                members[index] = Member {
                    exclusive_m2,
                    relocation: Some(relocation),
                    ..moved
                };
            }
        }
    }

    /// Fits one member near a position. The cover by the other members must already be set.
    fn refine_near(
        &self,
        position_m: Vec2,
        member: Member,
        origins: &[Option<Origin>; 2],
    ) -> Member {
        let mut moved = Member {
            expected_m: position_m,
            position_m,
            is_standing: false,
            ..member
        };
        for step_m in &STEPS_M[1..] {
            self.step_member(&mut moved, *step_m, origins);
        }
        moved
    }

    /// Searches for a visitor of typical height who is not tracked yet. Returns the position that explains the most
    /// unexplained area, or `None` if no position explains enough.
    pub(super) fn find_candidate(
        &mut self,
        members: &mut Vec<Member>,
        typical: Member,
        blob: &Blob,
        frame: &SegmentedFrame<'_>,
    ) -> Option<Member> {
        let origins = frame.feet.lamp_and_camera();
        if members.len() == 1 {
            // A blob with a single member has not been sampled in this frame yet.
            self.sample_pixels(&blob.bounds(), PIXELS_ALONE, frame);
        }
        // Area on a member's stripes counts as explained, no matter how bright it is: clothes have folds and patterns,
        // and the tone of a new visitor is unknown.
        self.pixels.ignore_tones();
        if self.unexplained_m2(members, &origins) < CANDIDATE_M2 {
            return None;
        }
        if let [alone] = members.as_mut_slice() {
            self.pixels.reset_cover();
            for step_m in STEPS_M {
                self.step_member(alone, step_m, &origins);
            }
        }
        // A known member may explain the area if its height is increased.
        for _ in 0..HEIGHT_ADJUST_ROUNDS {
            for index in 0..members.len() {
                self.adjust_height(members, index, &origins);
            }
        }
        // A foot put forward may explain the area, because a low lamp casts the shadow of the leg far to the side.
        if let [alone] = members.as_slice() {
            self.pixels.ignore_stride_area(&alone.silhouette(&origins));
        }
        let without_m2 = self.unexplained_m2(members, &origins);
        if without_m2 < CANDIDATE_M2 {
            return None;
        }
        let (position_m, extra_m2) = self.find_missing(typical.height_m, &origins)?;
        let found = self.refine_near(position_m, typical, &origins);
        let silhouette = found.silhouette(&origins);
        if without_m2 - self.pixels.residual_m2(Some(&silhouette)) < CANDIDATE_M2 + extra_m2 {
            return None;
        }
        // The fit may have pulled the known members towards the new candidate, so all of them are fitted again.
        members.push(found);
        let last = members.len() - 1;
        for step_m in STEPS_M {
            for index in 0..members.len() {
                self.step(members, index, step_m, &origins);
            }
        }
        let exclusive_m2 = self.exclusive_m2(members, last, &origins);
        let found = Member {
            exclusive_m2,
            ..members.pop()?
        };
        let is_needed = exclusive_m2 > CANDIDATE_M2 * members.len() as f32;
        (is_needed && is_separate(&found, last, members)).then_some(found)
    }

    /// Returns the position at which one more member would explain the most unexplained area, and the smallest area
    /// that this member must explain there. Returns `None` if there is no such position.
    fn find_missing(&self, height_m: f32, origins: &[Option<Origin>; 2]) -> Option<(Vec2, f32)> {
        let pixels = &self.pixels;
        let position_m = |i: usize| Vec2::new(pixels.x_m[i], pixels.z_m[i]);
        let best = |is_uncovered: bool| {
            let is_candidate_pixel = |&i: &usize| {
                pixels.foreground[i] > 0.5 && (pixels.uncovered[i] > 0.5) == is_uncovered
            };
            let positions = (0..pixels.foreground.len()).filter(is_candidate_pixel);
            let count = positions.clone().count();
            positions
                .step_by(count.div_ceil(MAX_POSITIONS).max(1))
                .map(position_m)
                .map(|position_m| {
                    let silhouette = Silhouette::new(position_m, height_m, None, origins);
                    (pixels.residual_m2(Some(&silhouette)), position_m)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (residual_m2, position_m) = best(true)?;
        let covered = best(false).filter(|covered| covered.0 + COVERED_POSITION_M2 < residual_m2);
        Some(match covered {
            Some((_, position_m)) => (position_m, COVERED_POSITION_M2),
            None => (position_m, 0.0),
        })
    }

    /// Returns the residual area with the cover of all members, in m².
    fn unexplained_m2(&mut self, members: &[Member], origins: &[Option<Origin>; 2]) -> f32 {
        self.cover_by_others(members, members.len(), origins);
        self.pixels.residual_m2(None)
    }

    /// Returns the increase of the residual area if a member is removed, in m².
    fn exclusive_m2(
        &mut self,
        members: &[Member],
        index: usize,
        origins: &[Option<Origin>; 2],
    ) -> f32 {
        self.cover_by_others(members, index, origins);
        let silhouette = members[index].silhouette(origins);
        self.pixels.residual_m2(None) - self.pixels.residual_m2(Some(&silhouette))
    }

    /// Samples about `pixels` pixels within `bounds` and a margin around it.
    fn sample_pixels(&mut self, bounds: &Bounds, pixels: u32, frame: &SegmentedFrame<'_>) {
        let (mask, floor) = (frame.mask, frame.floor);
        let margin = (mask.width() as f32 * MARGIN_SHARE) as u32;
        let left = bounds.left.saturating_sub(margin);
        let top = bounds.top.saturating_sub(margin);
        let right = (bounds.right + margin).min(mask.width() as u32);
        let bottom = (bounds.bottom + margin).min(mask.height() as u32);
        let area = (right - left) * (bottom - top);
        let step = ((area as f32 / pixels as f32).sqrt().ceil() as usize).max(1);
        self.pixels.clear();
        self.unobservable.clear();
        for y in (top as usize..bottom as usize).step_by(step) {
            for x in (left as usize..right as usize).step_by(step) {
                let area_m2 = floor.areas_m2()[y * mask.width() + x] * (step * step) as f32;
                if area_m2 > 0.0 && frame.background.is_observable(y * mask.width() + x) {
                    let dark = mask.contains(x as i32, y as i32);
                    let pixel_tone = if dark { pixel_tone(x, y, frame) } else { None };
                    (self.pixels).push(
                        floor.position_m_of(x, y),
                        area_m2,
                        dark,
                        pixel_tone,
                        self.shadow_tone,
                    );
                } else if area_m2 > 0.0 {
                    self.unobservable.push((floor.position_m_of(x, y), area_m2));
                }
            }
        }
        self.pixels.pad();
        self.cover_by_bystanders(&frame.feet.lamp_and_camera());
    }

    /// Marks the area that bystanders cover as explained.
    fn cover_by_bystanders(&mut self, origins: &[Option<Origin>; 2]) {
        for &(position_m, height_m) in &self.bystanders {
            self.pixels
                .add_cover(&Silhouette::new(position_m, height_m, None, origins));
        }
        self.pixels.save_cover();
    }

    /// Moves one member by one step of length `step_m` if this lowers the cost.
    fn step(
        &mut self,
        members: &mut [Member],
        index: usize,
        step_m: f32,
        origins: &[Option<Origin>; 2],
    ) {
        if !members[index].is_standing {
            self.cover_by_others(members, index, origins);
            self.step_member(&mut members[index], step_m, origins);
        }
    }

    /// Does the same as `step`, but the cover by the other members must already be set. Returns the cost at the new
    /// position.
    fn step_member(&self, member: &mut Member, step_m: f32, origins: &[Option<Origin>; 2]) -> f32 {
        let around = member.position_m;
        let mut best = (self.cost(member, around, origins), around);
        if member.is_standing {
            return best.0;
        }
        // Tries both directions along each axis, then the sum of the better direction of each axis.
        let mut between = around;
        for axis in [Vec2::X, Vec2::Y] {
            let ways = [step_m * axis, -step_m * axis];
            let costs = ways.map(|way| self.cost(member, around + way, origins));
            let better = usize::from(costs[1] < costs[0]);
            between += ways[better];
            if costs[better] < best.0 {
                best = (costs[better], around + ways[better]);
            }
        }
        let cost = self.cost(member, between, origins);
        if cost < best.0 {
            best = (cost, between);
        }
        member.position_m = best.1;
        best.0
    }

    /// Sets the cover of the pixels to that of all members except the one at `index`.
    fn cover_by_others(&mut self, members: &[Member], index: usize, origins: &[Option<Origin>; 2]) {
        self.pixels.reset_cover();
        for (_, other) in members
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
        {
            let silhouette = other.silhouette(origins);
            self.pixels.add_cover(&silhouette);
        }
    }

    /// Returns the cost of a member at a position: residual area plus deviation from the prediction.
    fn cost(&self, member: &Member, position_m: Vec2, origins: &[Option<Origin>; 2]) -> f32 {
        let silhouette = Member {
            position_m,
            ..*member
        }
        .silhouette(origins);
        self.pixels.residual_m2(Some(&silhouette)) / RESIDUAL_UNIT_M2
            + member.deviation_cost(position_m)
    }
}

/// Returns whether a candidate is far enough from all members except the one at index `number`.
fn is_separate(candidate: &Member, number: usize, members: &[Member]) -> bool {
    let is_far =
        |member: &Member| member.position_m.distance(candidate.position_m) > CANDIDATE_APART_M;
    let mut others = members.iter().enumerate();
    others.all(|(other, member)| other == number || is_far(member))
}

/// Returns the logarithm of the brightness of a pixel relative to the floor behind it. Returns `None` near the border
/// of the foreground, where a pixel shows a mixture of body and floor.
fn pixel_tone(x: usize, y: usize, frame: &SegmentedFrame<'_>) -> Option<f32> {
    let inside = [(-RIM_PX, 0), (RIM_PX, 0), (0, -RIM_PX), (0, RIM_PX)]
        .iter()
        .all(|(dx, dy)| frame.mask.contains(x as i32 + dx, y as i32 + dy));
    inside.then(|| {
        let index = y * frame.mask.width() + x;
        let floor = frame.background.levels()[index] * frame.background.gain();
        let share = (f32::from(frame.levels[index]) - BLACK_LEVEL) / floor.max(1.0);
        share.max(MIN_TONE_SHARE).ln()
    })
}

#[cfg(test)]
mod tests;
