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

mod cover;
mod height;
mod one;
mod pair;

use glam::Vec2;

use super::TrackingParams;
use super::blobs::{Blob, Bounds};
use super::foot::Origin;
use super::tracks::Sight;

use cover::{Pixels, Shape};
pub(super) use one::One;

/// At most about so many pixels are looked at around somebody alone, and around a group. With fewer, names are mixed up more
/// often where people meet.
const PIXELS_ALONE: u32 = 450;
const PIXELS_OF_GROUP: u32 = 850;
/// What a camera shows where there is no light at all, with its noise; and brightness below this share of the floor's is
/// not told from less.
const BLACK_LEVEL: f32 = 6.0;
const LEAST_SHARE: f32 = 0.03;
/// So near to the rim of what is dark, a pixel does not tell how bright a body is.
const RIM_PX: i32 = 2;
/// The neighborhood of a blob that is looked at, as a share of the picture's width.
const MARGIN_SHARE: f32 = 0.04;
/// So much badly explained floor costs as much as one spread off the expected place.
const COSTLY_AREA_M2: f32 = 0.02;
const EXPECTED_SPREAD_M: f32 = 0.07;
/// However far off the expected place somebody is, that costs no more than this: people turn, and were misjudged before.
const MOST_SURPRISE: f32 = 12.0;
/// Two who are tried as each other may be so far from where they were found, and are each other where that explains so much
/// more.
const EXCHANGED_SPREAD_M: f32 = 0.3;
const EXCHANGED_M2: f32 = 0.08;
/// Who alone explains less than this may as well stand elsewhere in the blob, where they explain so much more.
const REDUNDANT_M2: f32 = 0.06;
const BETTER_M2: f32 = 0.1;
/// Somebody not known of yet explains at least so much, this far from everybody else.
pub(super) const UNKNOWN_M2: f32 = 0.2;
const UNKNOWN_APART_M: f32 = 0.35;
/// Where somebody else darkens the floor already, it is so much more.
const COVERED_PLACE_M2: f32 = 0.2;
/// At most about so many dark pixels that nobody explains are tried as places, and as many of the others.
const PLACES: usize = 40;
/// So often somebody is tried taller and smaller before somebody nobody knows of is looked for.
const STRETCHES: usize = 3;
/// Somebody is where they seem to be who could darken this share of their shape at least; the rest lies on floor that does
/// not tell.
const TOLD_SHARE: f32 = 0.7;
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
    pub(super) tone: Option<f32>,
    /// Where they are found.
    pub(super) at_m: Vec2,
    /// How much more would be left unexplained without them.
    pub(super) alone_m2: f32,
    /// Whether they have been standing there, and are taken to stand on for as long as that explains anything.
    pub(super) stays: bool,
    /// Whether that is not where they were expected, and they are as if seen for the first time.
    pub(super) found_elsewhere: bool,
}

impl Member {
    pub(super) fn new(expected_m: Vec2, height_m: f32) -> Self {
        Self {
            expected_m,
            spread_m: EXPECTED_SPREAD_M,
            height_m,
            tone: None,
            at_m: expected_m,
            alone_m2: 0.0,
            stays: false,
            found_elsewhere: false,
        }
    }

    fn shape(&self, origins: &[Option<Origin>; 2]) -> Shape {
        Shape::new(self.at_m, self.height_m, self.tone, origins)
    }

    /// Area of floor that somebody so tall darkens who stands where they are expected, as far as it can be told.
    pub(super) fn darkens_m2(&self, sight: &Sight<'_>) -> f32 {
        let origins = sight.feet.lamp_and_camera();
        let shape = Shape::new(self.expected_m, self.height_m, None, &origins);
        shape.area_m2(|at_m| sight.tells(at_m))
    }

    /// Area of a blob that lies where they would darken the floor.
    pub(super) fn covers_m2(&self, blob: &Blob, sight: &Sight<'_>) -> f32 {
        let shape = self.shape(&sight.feet.lamp_and_camera());
        let samples = sight.blobs.samples(blob).iter();
        let covered = samples.filter(|sample| shape.covers(sample.at_m));
        covered.map(|sample| sample.area_m2).sum()
    }
}

/// Finds members' places; keeps its memory.
pub(super) struct GroupFinder {
    tallest_m: f32,
    pixels: Pixels,
    /// How bright shadows are in this room beside lit floor, once seen.
    shadow_tone: Option<f32>,
    /// Floor on which no shadow can be told, and its area.
    untold: Vec<(Vec2, f32)>,
    /// Where those are who have a blob of their own near by, and how tall: what they darken is not the group's.
    bystanders: Vec<(Vec2, f32)>,
    /// The members but one.
    others: Vec<Member>,
}

impl GroupFinder {
    pub(super) fn new(params: &TrackingParams) -> Self {
        Self {
            tallest_m: params.tallest_m,
            pixels: Pixels::default(),
            shadow_tone: None,
            untold: Vec::new(),
            bystanders: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Takes down who is near by but in no blob that is looked at from now on.
    pub(super) fn stand_by(&mut self, bystanders: impl Iterator<Item = (Vec2, f32)>) {
        self.bystanders.clear();
        self.bystanders.extend(bystanders);
    }

    /// Moves members to where they explain best what is dark within the bounds.
    pub(super) fn place(&mut self, members: &mut [Member], bounds: &Bounds, sight: &Sight<'_>) {
        self.look_at(bounds, PIXELS_OF_GROUP, sight);
        let origins = sight.feet.lamp_and_camera();
        for &step_m in &STEPS_M {
            for index in 0..members.len() {
                self.step(members, index, step_m, &origins);
            }
        }
        for index in 0..members.len() {
            self.stretch(members, index, &origins);
        }
        for index in 0..members.len() {
            members[index].alone_m2 = self.alone_m2(members, index, &origins);
        }
        let least = members.iter_mut().enumerate();
        let least = least.min_by(|a, b| a.1.alone_m2.total_cmp(&b.1.alone_m2));
        if let Some((index, member)) = least
            && member.alone_m2 < REDUNDANT_M2
        {
            self.look_elsewhere(members, index, &origins);
        }
    }

    /// Lets two members be each other, both as tall and as bright as `looks` says, where that explains clearly more than
    /// the same looks as they are. Whether it does. To be asked after [`Self::place`], for the same members.
    pub(super) fn exchange(
        &mut self,
        members: &mut [Member],
        pair: [usize; 2],
        looks: [(f32, Option<f32>); 2],
        origins: &[Option<Origin>; 2],
    ) -> bool {
        let placed = pair.map(|index| members[index]);
        let wrong_m2 = [0, 1].map(|exchanged| {
            for (number, &index) in pair.iter().enumerate() {
                let (height_m, tone) = looks[number ^ exchanged];
                members[index] = Member {
                    expected_m: placed[number].at_m,
                    spread_m: EXCHANGED_SPREAD_M,
                    height_m,
                    tone,
                    ..placed[number]
                };
            }
            // Places found for the looks that were taken to be theirs would tell for these.
            for step_m in STEPS_M.into_iter().chain(STEPS_M) {
                for index in pair {
                    self.step(members, index, step_m, origins);
                }
            }
            self.leave_out(members, pair[0], origins);
            let shape = members[pair[0]].shape(origins);
            self.pixels.wrong_m2(Some(&shape))
        });
        let is_better = wrong_m2[0] - wrong_m2[1] > EXCHANGED_M2;
        for (index, placed) in pair.into_iter().zip(placed) {
            members[index] = if is_better {
                Member {
                    expected_m: members[index].at_m,
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
    pub(super) fn newcomer_m2(
        &mut self,
        members: &mut [Member],
        index: usize,
        blobs: [&Blob; 2],
        sight: &Sight<'_>,
    ) -> f32 {
        let bounds = blobs[0].bounds().around(&blobs[1].bounds());
        self.look_at(&bounds, PIXELS_OF_GROUP, sight);
        let origins = sight.feet.lamp_and_camera();
        let newcomer = members.len() - 1;
        let mut alone = members[index];
        self.leave_out(&members[..newcomer], index, &origins);
        for step_m in STEPS_M {
            self.step_alone(&mut alone, step_m, &origins);
        }
        let shape = alone.shape(&origins);
        let mut samples = sight.blobs.samples(blobs[1]).iter();
        let told_m2 = shape.area_m2(|at_m| sight.tells(at_m));
        if told_m2 > TOLD_SHARE * shape.area_m2(|_| true)
            && !samples.any(|sample| sight.feet.explains(alone.at_m, sample.at_m))
        {
            return f32::INFINITY;
        }
        let wrong_m2 = self.pixels.wrong_m2(Some(&shape));
        for step_m in STEPS_M {
            self.step(members, index, step_m, &origins);
            self.step(members, newcomer, step_m, &origins);
        }
        let new = members[newcomer];
        self.leave_out(members, newcomer, &origins);
        let shape = new.shape(&origins);
        wrong_m2 - self.pixels.wrong_m2(Some(&shape))
    }

    /// Moves somebody who is not needed where they were thought to be to where somebody is missing.
    fn look_elsewhere(
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
        for _ in 0..STRETCHES {
            for other in 0..others.len() {
                self.stretch(&mut others, other, origins);
            }
        }
        let without_m2 = self.unexplained_m2(&others, origins);
        self.others = others;
        if let Some((at_m, more_m2)) = self.missing(member.height_m, origins) {
            let moved = self.about(at_m, member, origins);
            let shape = moved.shape(origins);
            let alone_m2 = without_m2 - self.pixels.wrong_m2(Some(&shape));
            if is_apart(&moved, index, members)
                && alone_m2 > member.alone_m2.max(0.0) + BETTER_M2 + more_m2
            {
                members[index] = Member {
                    alone_m2,
                    found_elsewhere: true,
                    ..moved
                };
            }
        }
    }

    /// Somebody as they best stand about a place, where the others are left out already.
    fn about(&self, at_m: Vec2, member: Member, origins: &[Option<Origin>; 2]) -> Member {
        let mut moved = Member {
            expected_m: at_m,
            at_m,
            stays: false,
            ..member
        };
        for step_m in &STEPS_M[1..] {
            self.step_alone(&mut moved, *step_m, origins);
        }
        moved
    }

    /// Somebody of usual height whom nobody knows of yet, with how much they explain: where that is most.
    pub(super) fn unknown(
        &mut self,
        members: &mut Vec<Member>,
        usual: Member,
        blob: &Blob,
        sight: &Sight<'_>,
    ) -> Option<Member> {
        let origins = sight.feet.lamp_and_camera();
        if members.len() == 1 {
            // Nobody was placed in this blob yet.
            self.look_at(&blob.bounds(), PIXELS_ALONE, sight);
        }
        // What lies on somebody's stripes is theirs, however bright: clothes have folds and stripes, and somebody seen
        // for the first time is not known yet.
        self.pixels.forget_tones();
        if self.unexplained_m2(members, &origins) < UNKNOWN_M2 {
            return None;
        }
        if let [alone] = members.as_mut_slice() {
            self.pixels.uncover();
            for step_m in STEPS_M {
                self.step_alone(alone, step_m, &origins);
            }
        }
        // Who is taller than thought is nobody new either.
        for _ in 0..STRETCHES {
            for index in 0..members.len() {
                self.stretch(members, index, &origins);
            }
        }
        // Nor is a leg put forward, which a low lamp throws far to the side.
        if let [alone] = members.as_slice() {
            self.pixels.look_past_legs(&alone.shape(&origins));
        }
        let without_m2 = self.unexplained_m2(members, &origins);
        if without_m2 < UNKNOWN_M2 {
            return None;
        }
        let (at_m, more_m2) = self.missing(usual.height_m, &origins)?;
        let found = self.about(at_m, usual, &origins);
        let shape = found.shape(&origins);
        if without_m2 - self.pixels.wrong_m2(Some(&shape)) < UNKNOWN_M2 + more_m2 {
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
        let alone_m2 = self.alone_m2(members, last, &origins);
        let found = Member {
            alone_m2,
            ..members.pop()?
        };
        let is_needed = alone_m2 > UNKNOWN_M2 * members.len() as f32;
        (is_needed && is_apart(&found, last, members)).then_some(found)
    }

    /// Where one more would explain most of what nobody explains, and how much more than usual they must explain there.
    fn missing(&self, height_m: f32, origins: &[Option<Origin>; 2]) -> Option<(Vec2, f32)> {
        let pixels = &self.pixels;
        let at_m = |i: usize| Vec2::new(pixels.x_m[i], pixels.z_m[i]);
        let best = |is_free: bool| {
            let is_place = |&i: &usize| pixels.dark[i] > 0.5 && (pixels.free[i] > 0.5) == is_free;
            let places = (0..pixels.dark.len()).filter(is_place);
            let count = places.clone().count();
            places
                .step_by(count.div_ceil(PLACES).max(1))
                .map(at_m)
                .map(|at_m| {
                    let shape = Shape::new(at_m, height_m, None, origins);
                    (pixels.wrong_m2(Some(&shape)), at_m)
                })
                .min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (wrong_m2, at_m) = best(true)?;
        let covered = best(false).filter(|covered| covered.0 + COVERED_PLACE_M2 < wrong_m2);
        Some(match covered {
            Some((_, at_m)) => (at_m, COVERED_PLACE_M2),
            None => (at_m, 0.0),
        })
    }

    /// How much all members together leave unexplained.
    fn unexplained_m2(&mut self, members: &[Member], origins: &[Option<Origin>; 2]) -> f32 {
        self.leave_out(members, members.len(), origins);
        self.pixels.wrong_m2(None)
    }

    /// How much more would be left unexplained without a member.
    fn alone_m2(&mut self, members: &[Member], index: usize, origins: &[Option<Origin>; 2]) -> f32 {
        self.leave_out(members, index, origins);
        let shape = members[index].shape(origins);
        self.pixels.wrong_m2(None) - self.pixels.wrong_m2(Some(&shape))
    }

    fn look_at(&mut self, bounds: &Bounds, pixels: u32, sight: &Sight<'_>) {
        let (mask, floor) = (sight.mask, sight.floor);
        let margin = (mask.width() as f32 * MARGIN_SHARE) as u32;
        let left = bounds.left.saturating_sub(margin);
        let top = bounds.top.saturating_sub(margin);
        let right = (bounds.right + margin).min(mask.width() as u32);
        let bottom = (bounds.bottom + margin).min(mask.height() as u32);
        let area = (right - left) * (bottom - top);
        let step = ((area as f32 / pixels as f32).sqrt().ceil() as usize).max(1);
        self.pixels.clear();
        self.untold.clear();
        for y in (top as usize..bottom as usize).step_by(step) {
            for x in (left as usize..right as usize).step_by(step) {
                let area_m2 = floor.areas_m2()[y * mask.width() + x] * (step * step) as f32;
                if area_m2 > 0.0 && sight.background.tells(y * mask.width() + x) {
                    let dark = mask.contains(x as i32, y as i32);
                    let tone = if dark { tone(x, y, sight) } else { None };
                    (self.pixels).push(floor.place_m(x, y), area_m2, dark, tone, self.shadow_tone);
                } else if area_m2 > 0.0 {
                    self.untold.push((floor.place_m(x, y), area_m2));
                }
            }
        }
        self.pixels.fill_up();
        self.cover_by_bystanders(&sight.feet.lamp_and_camera());
    }

    fn cover_by_bystanders(&mut self, origins: &[Option<Origin>; 2]) {
        for &(at_m, height_m) in &self.bystanders {
            self.pixels
                .cover(&Shape::new(at_m, height_m, None, origins));
        }
        self.pixels.keep_covered();
    }

    /// Moves one member while that explains more.
    fn step(
        &mut self,
        members: &mut [Member],
        index: usize,
        step_m: f32,
        origins: &[Option<Origin>; 2],
    ) {
        if !members[index].stays {
            self.leave_out(members, index, origins);
            self.step_alone(&mut members[index], step_m, origins);
        }
    }

    /// The same, where the others are left out already. Tells what they cost there.
    fn step_alone(&self, member: &mut Member, step_m: f32, origins: &[Option<Origin>; 2]) -> f32 {
        let around = member.at_m;
        let mut best = (self.cost(member, around, origins), around);
        if member.stays {
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
        member.at_m = best.1;
        best.0
    }

    /// Covers the pixels by all members but one.
    fn leave_out(&mut self, members: &[Member], index: usize, origins: &[Option<Origin>; 2]) {
        self.pixels.uncover();
        for (_, other) in members
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
        {
            let shape = other.shape(origins);
            self.pixels.cover(&shape);
        }
    }

    fn cost(&self, member: &Member, at_m: Vec2, origins: &[Option<Origin>; 2]) -> f32 {
        let shape = Member { at_m, ..*member }.shape(origins);
        let off = at_m.distance_squared(member.expected_m) / member.spread_m.powi(2);
        self.pixels.wrong_m2(Some(&shape)) / COSTLY_AREA_M2 + off / (1.0 + off / MOST_SURPRISE)
    }
}

/// Whether somebody is far enough from all members but the one so numbered to be a visitor of their own.
fn is_apart(somebody: &Member, number: usize, members: &[Member]) -> bool {
    let is_far = |member: &Member| member.at_m.distance(somebody.at_m) > UNKNOWN_APART_M;
    let mut others = members.iter().enumerate();
    others.all(|(other, member)| other == number || is_far(member))
}

/// How bright a pixel is beside the floor behind it, as a logarithm; `None` at the rim of what is dark, where a pixel shows
/// both.
fn tone(x: usize, y: usize, sight: &Sight<'_>) -> Option<f32> {
    let inside = [(-RIM_PX, 0), (RIM_PX, 0), (0, -RIM_PX), (0, RIM_PX)]
        .iter()
        .all(|(dx, dy)| sight.mask.contains(x as i32 + dx, y as i32 + dy));
    inside.then(|| {
        let index = y * sight.mask.width() + x;
        let floor = sight.background.levels()[index] * sight.background.gain();
        let share = (f32::from(sight.levels[index]) - BLACK_LEVEL) / floor.max(1.0);
        share.max(LEAST_SHARE).ln()
    })
}

#[cfg(test)]
mod tests;
