//! Several visitors in one blob: the places that explain together what is dark and what is not.
//!
//! Somebody of height `h` at `p` hides two stripes of floor, from lamp and camera, each from `p` to where the line over
//! their head meets the floor. The places of all members are moved, one after the other, until the stripes cover the
//! blob and nothing beside it as well as they can, each near where the member was expected.
//!
//! A lit body is brighter than a shadow, and one body than another. So a pixel also says whose stripe it may lie on: it
//! counts as covered only as far as the stripe is about as bright. How bright shadows are is learned in the room, how
//! bright somebody is while nobody is near.
//!
//! **Source**: analysis by synthesis, as Fleuret et al. 2008, "Multicamera people tracking with a probabilistic
//! occupancy map", on the two pictures that lamp and camera throw; the search is our own.

mod height;
mod merge;
mod silhouette;
mod split;

use glam::Vec2;

use super::TrackingParams;
use super::blobs::{Blob, Bounds};
use super::foot::Origin;
use super::tracker::SegmentedFrame;

pub(super) use merge::MergedFit;
use silhouette::{Pixels, Silhouette};

/// At most about so many pixels are looked at around somebody alone, and around a group. With fewer, names are mixed up more
/// often where people meet.
const PIXELS_ALONE: u32 = 450;
const PIXELS_IN_GROUP: u32 = 850;
/// What a camera shows where there is no light at all, with its noise; and brightness below this share of the floor's is
/// not told from less.
const BLACK_LEVEL: f32 = 6.0;
const MIN_TONE_SHARE: f32 = 0.03;
/// So near to the rim of what is dark, a pixel does not tell how bright a body is.
const RIM_PX: i32 = 2;
/// The neighborhood of a blob that is looked at, as a share of the picture's width.
const MARGIN_SHARE: f32 = 0.04;
/// So much badly explained floor costs as much as one spread off the expected place.
const RESIDUAL_UNIT_M2: f32 = 0.02;
const EXPECTED_SPREAD_M: f32 = 0.07;
/// However far off the expected place somebody is, that costs no more than this: people turn, and were misjudged before.
const MAX_DISTANCE_COST: f32 = 12.0;
/// Two who are tried as each other may be so far from where they were found, and are each other where that explains so much
/// more.
const SWAP_SPREAD_M: f32 = 0.3;
const SWAP_GAIN_M2: f32 = 0.08;
/// Who alone explains less than this may as well stand elsewhere in the blob, where they explain so much more.
const REDUNDANT_M2: f32 = 0.06;
const RELOCATION_GAIN_M2: f32 = 0.1;
/// Somebody not known of yet explains at least so much, this far from everybody else.
pub(super) const CANDIDATE_M2: f32 = 0.2;
const CANDIDATE_APART_M: f32 = 0.35;
/// Where somebody else darkens the floor already, it is so much more.
const COVERED_POSITION_M2: f32 = 0.2;
/// At most about so many dark pixels that nobody explains are tried as places, and as many of the others.
const MAX_POSITIONS: usize = 40;
/// So often somebody is tried taller and smaller before somebody nobody knows of is looked for.
const HEIGHT_ADJUST_ROUNDS: usize = 3;
/// Somebody is where they seem to be who could darken this share of their shape at least; the rest lies on floor that does
/// not tell.
const OBSERVABLE_SHARE: f32 = 0.7;
/// Search steps.
const STEPS_M: [f32; 4] = [0.16, 0.08, 0.04, 0.02];

/// One of those in the blob.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) expected_m: Vec2,
    /// How far from there they may well be.
    pub(super) spread_m: f32,
    pub(super) height_m: f32,
    /// How bright their body is beside the floor behind it, where that is known.
    pub(super) body_tone: Option<f32>,
    /// Where they are found.
    pub(super) position_m: Vec2,
    /// How much more would be left unexplained without them.
    pub(super) exclusive_m2: f32,
    /// Whether they have been standing there, and are taken to stand on for as long as that explains anything.
    pub(super) is_standing: bool,
    /// Whether that is not where they were expected, and they are as if seen for the first time.
    pub(super) was_relocated: bool,
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
            was_relocated: false,
        }
    }

    fn silhouette(&self, origins: &[Option<Origin>; 2]) -> Silhouette {
        Silhouette::new(self.position_m, self.height_m, self.body_tone, origins)
    }

    /// Area of floor that somebody so tall darkens who stands where they are expected, as far as it can be told.
    pub(super) fn silhouette_m2(&self, frame: &SegmentedFrame<'_>) -> f32 {
        let origins = frame.feet.lamp_and_camera();
        let silhouette = Silhouette::new(self.expected_m, self.height_m, None, &origins);
        silhouette.area_m2(|position_m| frame.is_observable(position_m))
    }

    /// Area of a blob that lies where they would darken the floor.
    pub(super) fn overlap_m2(&self, blob: &Blob, frame: &SegmentedFrame<'_>) -> f32 {
        let silhouette = self.silhouette(&frame.feet.lamp_and_camera());
        let samples = frame.blobs.samples(blob).iter();
        let covered = samples.filter(|sample| silhouette.covers(sample.position_m));
        covered.map(|sample| sample.area_m2).sum()
    }
}

/// Finds members' places; keeps its memory.
pub(super) struct GroupFitter {
    tallest_m: f32,
    pixels: Pixels,
    /// How bright shadows are in this room beside lit floor, once seen.
    shadow_tone: Option<f32>,
    /// Floor on which no shadow can be told, and its area.
    unobservable: Vec<(Vec2, f32)>,
    /// Where those are who have a blob of their own near by, and how tall: what they darken is not the group's.
    bystanders: Vec<(Vec2, f32)>,
    /// The members but one.
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

    /// Takes down who is near by but in no blob that is looked at from now on.
    pub(super) fn set_bystanders(&mut self, bystanders: impl Iterator<Item = (Vec2, f32)>) {
        self.bystanders.clear();
        self.bystanders.extend(bystanders);
    }

    /// Moves members to where they explain best what is dark within the bounds.
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

    /// Lets two members be each other, both as tall and as bright as `looks` says, where that explains clearly more than
    /// the same looks as they are. Whether it does. To be asked after [`Self::fit`], for the same members.
    pub(super) fn try_swap(
        &mut self,
        members: &mut [Member],
        pair: [usize; 2],
        looks: [(f32, Option<f32>); 2],
        origins: &[Option<Origin>; 2],
    ) -> bool {
        let placed = pair.map(|index| members[index]);
        let residual_m2 = [0, 1].map(|swapped| {
            for (number, &index) in pair.iter().enumerate() {
                let (height_m, body_tone) = looks[number ^ swapped];
                members[index] = Member {
                    expected_m: placed[number].position_m,
                    spread_m: SWAP_SPREAD_M,
                    height_m,
                    body_tone,
                    ..placed[number]
                };
            }
            // Places found for the looks that were taken to be theirs would tell for these.
            for step_m in STEPS_M.into_iter().chain(STEPS_M) {
                for index in pair {
                    self.step(members, index, step_m, origins);
                }
            }
            self.cover_by_others(members, pair[0], origins);
            let silhouette = members[pair[0]].silhouette(origins);
            self.pixels.residual_m2(Some(&silhouette))
        });
        let is_better = residual_m2[0] - residual_m2[1] > SWAP_GAIN_M2;
        for (index, placed) in pair.into_iter().zip(placed) {
            members[index] = if is_better {
                Member {
                    expected_m: members[index].position_m,
                    spread_m: EXPECTED_SPREAD_M,
                    ..members[index]
                }
            } else {
                placed
            };
        }
        is_better
    }

    /// How much more is explained when the last of the members is somebody of their own, rather than a part of the one at
    /// `index`. Looks at two blobs and what is around them. Infinite where the one at `index` has nothing to do with the
    /// second blob, and stands where that would be seen.
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
        let newcomer = members.len() - 1;
        let mut alone = members[index];
        self.cover_by_others(&members[..newcomer], index, &origins);
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
            self.step(members, newcomer, step_m, &origins);
        }
        let new = members[newcomer];
        self.cover_by_others(members, newcomer, &origins);
        let silhouette = new.silhouette(&origins);
        residual_m2 - self.pixels.residual_m2(Some(&silhouette))
    }

    /// Moves somebody who is not needed where they were thought to be to where somebody is missing.
    fn relocate_redundant(
        &mut self,
        members: &mut [Member],
        index: usize,
        origins: &[Option<Origin>; 2],
    ) {
        let member = members[index];
        // Who is taller than thought leaves nobody missing.
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
        if let Some((position_m, more_m2)) = self.find_missing(member.height_m, origins) {
            let moved = self.refine_near(position_m, member, origins);
            let silhouette = moved.silhouette(origins);
            let exclusive_m2 = without_m2 - self.pixels.residual_m2(Some(&silhouette));
            if is_separate(&moved, index, members)
                && exclusive_m2 > member.exclusive_m2.max(0.0) + RELOCATION_GAIN_M2 + more_m2
            {
                members[index] = Member {
                    exclusive_m2,
                    was_relocated: true,
                    ..moved
                };
            }
        }
    }

    /// Somebody as they best stand about a place, where the others are left out already.
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

    /// Somebody of usual height whom nobody knows of yet, with how much they explain: where that is most.
    pub(super) fn find_candidate(
        &mut self,
        members: &mut Vec<Member>,
        usual: Member,
        blob: &Blob,
        frame: &SegmentedFrame<'_>,
    ) -> Option<Member> {
        let origins = frame.feet.lamp_and_camera();
        if members.len() == 1 {
            // Nobody was placed in this blob yet.
            self.sample_pixels(&blob.bounds(), PIXELS_ALONE, frame);
        }
        // What lies on somebody's stripes is theirs, however bright: clothes have folds and stripes, and somebody seen
        // for the first time is not known yet.
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
        // Who is taller than thought is nobody new either.
        for _ in 0..HEIGHT_ADJUST_ROUNDS {
            for index in 0..members.len() {
                self.adjust_height(members, index, &origins);
            }
        }
        // Nor is a leg put forward, which a low lamp throws far to the side.
        if let [alone] = members.as_slice() {
            self.pixels.ignore_stride_area(&alone.silhouette(&origins));
        }
        let without_m2 = self.unexplained_m2(members, &origins);
        if without_m2 < CANDIDATE_M2 {
            return None;
        }
        let (position_m, more_m2) = self.find_missing(usual.height_m, &origins)?;
        let found = self.refine_near(position_m, usual, &origins);
        let silhouette = found.silhouette(&origins);
        if without_m2 - self.pixels.residual_m2(Some(&silhouette)) < CANDIDATE_M2 + more_m2 {
            return None;
        }
        // Those who were known may have been drawn towards them.
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

    /// Where one more would explain most of what nobody explains, and how much more than usual they must explain there.
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

    /// How much all members together leave unexplained.
    fn unexplained_m2(&mut self, members: &[Member], origins: &[Option<Origin>; 2]) -> f32 {
        self.cover_by_others(members, members.len(), origins);
        self.pixels.residual_m2(None)
    }

    /// How much more would be left unexplained without a member.
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

    fn cover_by_bystanders(&mut self, origins: &[Option<Origin>; 2]) {
        for &(position_m, height_m) in &self.bystanders {
            self.pixels
                .add_cover(&Silhouette::new(position_m, height_m, None, origins));
        }
        self.pixels.save_cover();
    }

    /// Moves one member while that explains more.
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

    /// The same, where the others are left out already. Tells what they cost there.
    fn step_member(&self, member: &mut Member, step_m: f32, origins: &[Option<Origin>; 2]) -> f32 {
        let around = member.position_m;
        let mut best = (self.cost(member, around, origins), around);
        if member.is_standing {
            return best.0;
        }
        // The better way along either axis, and between the two.
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

    /// Covers the pixels by all members but one.
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

    fn cost(&self, member: &Member, position_m: Vec2, origins: &[Option<Origin>; 2]) -> f32 {
        let silhouette = Member {
            position_m,
            ..*member
        }
        .silhouette(origins);
        let off = position_m.distance_squared(member.expected_m) / member.spread_m.powi(2);
        self.pixels.residual_m2(Some(&silhouette)) / RESIDUAL_UNIT_M2
            + off / (1.0 + off / MAX_DISTANCE_COST)
    }
}

/// Whether somebody is far enough from all members but the one so numbered to be a visitor of their own.
fn is_separate(candidate: &Member, number: usize, members: &[Member]) -> bool {
    let is_far =
        |member: &Member| member.position_m.distance(candidate.position_m) > CANDIDATE_APART_M;
    let mut others = members.iter().enumerate();
    others.all(|(other, member)| other == number || is_far(member))
}

/// How bright a pixel is beside the floor behind it, as a logarithm; `None` at the rim of what is dark, where a pixel shows
/// both.
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
