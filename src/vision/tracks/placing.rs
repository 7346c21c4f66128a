//! Where everybody is: those with a blob of their own by its foot, those who share one all together. Who turns out to
//! stand where somebody else does is let go of.

use glam::{Mat2, Vec2};

use crate::vision::blobs::{Blob, Sample};
use crate::vision::group::{Member, UNKNOWN_M2};
use crate::vision::kalman::{Kalman, Measurement};

use super::meetings::CLOSE_M;
use super::{Evidence, GROUP_SPREAD_M, Newcomer, Sight, Tracker, USUAL_SHARE, Visitor, outline};

/// What never moved for so long does not do so within a group: it may be a thing.
const SETTLED_SECS: f64 = 3.0;
/// A measured place counts for so much less when the blob is shared.
const SHARED_DOUBT: f32 = 4.0;
/// Two whose feet are this near for so long, with nothing dark between them, are one.
const SAME_FOOT_M: f32 = 0.25;
const SAME_FOOT_SECS: f32 = 0.5;
/// The same for two who once were seen apart: one of them has gone unnoticed, and is kept in mind.
const SAME_PLACE_SECS: f32 = 3.0;
/// Who hardly explains anything besides somebody this near in their blob, for so long, was left behind on that one's body: one
/// walked away unnoticed, or there never were two. That is less than this share of what they darken, in the mean over about
/// so long. In rendered rooms it was so in 45 of 100 frames with two on one body, and in 6 of 1000 others in groups.
const REDUNDANT_M: f32 = 0.6;
const REDUNDANT_SECS: f32 = 0.5;
const REDUNDANT_SHARE: f32 = 0.15;
/// Who came earlier is left behind only beside somebody who explains more than this share of what they darken. They, and who
/// once was seen far from everybody else, may be hidden for a moment where more than two share a blob, and are left behind
/// there only after so long.
const NEEDED_SHARE: f32 = 0.1;
const CROWDED_SECS: f32 = 1.5;
const LATELY_SECS: f32 = 0.3;
/// Who darkens less than this is taken to darken so much.
const LEAST_DARK_M2: f32 = 0.05;
/// Who was seen this far from everybody else is a visitor of their own, however near they come later; and so is who for so
/// long explained as much as somebody new must.
const APART_M: f32 = 0.7;
const APART_SECS: f32 = 1.0;
/// Who came so lately may be two small ones, once two have explained more for so long.
const PAIR_AGE_SECS: f64 = 10.0;
const PAIR_SECS: f32 = 0.3;
/// Or once what two explain more was this share of what one would darken, in the mean over about so long. In rendered rooms
/// it was in 3 of 644 who were alone, and in 3 of 17 pairs who never were clearly two for long.
const PAIR_SHARE: f32 = 0.14;
const PAIR_SHARE_SECS: f32 = 1.0;
/// What somebody looks like is learned while nobody else is this near.
const ALONE_M: f32 = 0.6;
/// It is looked at every so many frames, not at everybody in the same one.
pub(super) const LOOK_EVERY: u32 = 4;
/// Where more than these share a blob, too little of each is seen.
const MOST_MEMBERS: usize = 3;
/// So much of a height is believed that is measured alone, and of one found among others.
const BELIEVED_ALONE: f32 = 0.3;
const BELIEVED_IN_GROUP: f32 = 0.2;
/// And so much of how bright their body is.
const BELIEVED_TONE: f32 = 0.3;
/// Who stood for so long still stands while others pass.
const STANDS_SECS: f64 = 5.0;
/// In a group, who came by walking is still there while they alone explain this much of what is dark. Anybody else, and
/// whoever is to tell how tall they are, must explain more.
const THERE_IN_GROUP_M2: f32 = 0.03;
const SEEN_IN_GROUP_M2: f32 = 0.1;

impl Tracker {
    /// Measures a visitor's foot, area and middle from what is theirs.
    pub(super) fn measure(&mut self, index: usize, blob: usize, sight: &Sight<'_>) {
        let blobs = sight.blobs.blobs();
        self.rivals.clear();
        for (other, visitor) in self.visitors.iter().enumerate() {
            if other != index && visitor.has_place() && visitor.evidence.blob() == Some(blob) {
                self.rivals.push(visitor.state.at_m);
            }
        }
        let own = |b: usize| b == blob || self.owners[b] == Some(index);
        self.samples.clear();
        let (mut area, mut middle) = (0.0, Vec2::ZERO);
        for (_, part) in blobs.iter().enumerate().filter(|(b, _)| own(*b)) {
            self.samples.extend_from_slice(sight.blobs.samples(part));
            area += part.area_m2;
            middle += part.area_m2 * part.centroid_m;
        }
        let mut centroid_m = middle / area.max(f32::MIN_POSITIVE);
        let visitor = &mut self.visitors[index];
        let at = visitor.state.at_m;
        if !self.rivals.is_empty() {
            (area, centroid_m) = own_share(&self.samples, at, &self.rivals);
        }
        let own = matches!(visitor.evidence, Evidence::Own(_));
        // Feet of those who share a blob are told together.
        if self.rivals.is_empty() || !sight.feet.tells_feet() {
            let all = self.samples.iter().copied();
            let mut measured = sight.feet.measure(all, centroid_m, at);
            if !self.rivals.is_empty() {
                measured.covariance_m2 *= SHARED_DOUBT;
            }
            visitor.state.update(&measured);
        }
        if self.rivals.is_empty() {
            visitor.alone_share = 1.0;
        }
        let is_turn = is_turn(self.frames, index);
        let is_alone = self.rivals.is_empty() && visitor.nearest_m > ALONE_M;
        if is_turn && is_alone && visitor.id.is_some() {
            self.look(index, blob, sight);
        }
        let visitor = &mut self.visitors[index];
        visitor.dark_secs = sight.time_secs;
        if own {
            visitor.own_secs = sight.time_secs;
            visitor.hits += 1;
            if self.rivals.is_empty() {
                (visitor.course).take_down(&visitor.state, area, sight.time_secs);
            }
        }
        // What somebody darkens does not become less where others darken it too.
        let is_told = !self.rivals.is_empty() || is_turn;
        if sight.feet.tells_feet() && is_told {
            let darkens_m2 = visitor.member(&self.params).darkens_m2(sight);
            if !self.rivals.is_empty() {
                area = visitor.fullness.unwrap_or(1.0) * darkens_m2;
            } else if darkens_m2 > 0.0 {
                visitor.learn_fullness(area / darkens_m2, LOOK_EVERY as f32 * sight.dt_secs);
            }
        }
        visitor.track.area_m2 = f64::from(area);
        visitor.track.centroid_m = centroid_m.as_dvec2();
        outline(
            &blobs[blob],
            sight,
            &mut self.tracer,
            &mut visitor.track.outline_m,
        );
    }

    /// Learns what somebody looks like who is alone in a blob.
    fn look(&mut self, index: usize, blob: usize, sight: &Sight<'_>) {
        self.stand_by(blob);
        let visitor = &mut self.visitors[index];
        let alone = visitor.member(&self.params);
        let blob = &sight.blobs.blobs()[blob];
        let (height_m, tone) = self.groups.look(&alone, blob, sight);
        if let Some(seen) = tone {
            let tone = visitor.tone.get_or_insert(seen);
            *tone += BELIEVED_TONE * (seen - *tone);
        }
        if let Some(seen_m) = height_m {
            visitor.fresh.add(seen_m);
            visitor.learn_height(seen_m, BELIEVED_ALONE);
        }
    }

    /// Tells the group finder who is there but not in a blob.
    fn stand_by(&mut self, blob: usize) {
        let elsewhere = |v: &&Visitor| v.evidence.blob().is_some_and(|other| other != blob);
        let bystanders = self.visitors.iter().filter(elsewhere);
        self.groups.stand_by(bystanders.map(|visitor| {
            let member = visitor.member(&self.params);
            (member.at_m, member.height_m)
        }));
    }

    /// Finds the places of those who share a blob, all together.
    pub(super) fn place_groups(&mut self, sight: &Sight<'_>) {
        self.newcomers.clear();
        if !sight.feet.tells_feet() {
            return;
        }
        for (index, blob) in sight.blobs.blobs().iter().enumerate() {
            self.members.clear();
            self.member_of.clear();
            for (number, visitor) in self.visitors.iter().enumerate() {
                if visitor.has_place() && visitor.evidence.blob() == Some(index) {
                    self.member_of.push(number);
                    self.members.push(Member {
                        stays: sight.time_secs - visitor.still_since_secs > STANDS_SECS,
                        ..visitor.member(&self.params)
                    });
                }
            }
            self.stand_by(index);
            if self.members.len() > 1 {
                // A member may have parts beside it.
                let is_members = |owner: usize| self.member_of.contains(&owner);
                let parts = self.owners.iter().zip(sight.blobs.blobs());
                let bounds = parts
                    .filter(|(owner, _)| owner.is_some_and(is_members))
                    .fold(blob.bounds(), |all, (_, part)| all.around(&part.bounds()));
                self.groups.place(&mut self.members, &bounds, sight);
                self.exchange(sight);
                self.look_at_members(blob, sight);
            }
            if !self.members.is_empty() && is_turn(self.frames, index) {
                let usual = Member::new(Vec2::ZERO, USUAL_SHARE * self.params.tallest_m);
                let unknown = self.groups.unknown(&mut self.members, usual, blob, sight);
                let newcomer = unknown.map(|member| Newcomer {
                    blob: index,
                    at_m: member.at_m,
                    height_m: None,
                    is_sure: false,
                });
                let newcomer = newcomer.or_else(|| self.find_pair(index, sight));
                self.newcomers.extend(newcomer);
            }
            if self.members.len() < 2 {
                continue;
            }
            for (&number, member) in self.member_of.iter().zip(&self.members) {
                let visitor = &mut self.visitors[number];
                let is_there = visitor.walked && member.alone_m2 > THERE_IN_GROUP_M2;
                if is_there || member.alone_m2 > SEEN_IN_GROUP_M2 {
                    visitor.own_secs = sight.time_secs;
                }
                let darkens_m2 = Member::new(member.at_m, member.height_m).darkens_m2(sight);
                visitor.stand_out(member.alone_m2, darkens_m2, sight.dt_secs);
                if member.alone_m2 > SEEN_IN_GROUP_M2 {
                    let expected_m = visitor.member(&self.params).height_m;
                    visitor.height_m.get_or_insert(expected_m);
                    visitor.learn_height(member.height_m, BELIEVED_IN_GROUP);
                }
                if visitor.hidden && member.alone_m2 > UNKNOWN_M2 {
                    visitor.hits += 1;
                } else if visitor.hidden {
                    visitor.evidence = Evidence::Nothing;
                }
                if member.stays {
                    visitor.state.velocity_mps = Vec2::ZERO;
                    continue;
                }
                if !visitor.walked && sight.time_secs - visitor.born_secs > SETTLED_SECS {
                    continue;
                }
                let measured = Measurement {
                    at_m: member.at_m,
                    covariance_m2: Mat2::from_diagonal(Vec2::splat(
                        GROUP_SPREAD_M * GROUP_SPREAD_M,
                    )),
                };
                let state = &mut self.visitors[number].state;
                if member.found_elsewhere {
                    *state = Kalman::new(&measured);
                } else {
                    state.update(&measured);
                }
            }
        }
    }

    /// Makes the only one in a blob smaller, and tells of a second, once two have explained more for a while.
    fn find_pair(&mut self, blob: usize, sight: &Sight<'_>) -> Option<Newcomer> {
        let ([alone], [number]) = (self.members.as_slice(), self.member_of.as_slice()) else {
            return None;
        };
        let visitor = &mut self.visitors[*number];
        if sight.time_secs - visitor.born_secs > PAIR_AGE_SECS {
            return None;
        }
        let pair = self.groups.pair(alone, &sight.feet.lamp_and_camera());
        let dt_secs = LOOK_EVERY as f32 * sight.dt_secs;
        let share = pair.map_or(0.0, |pair| pair.share);
        visitor.pair_share +=
            (1.0 - (-dt_secs / PAIR_SHARE_SECS).exp()) * (share - visitor.pair_share);
        let is_sure = visitor.pair_share > PAIR_SHARE;
        if pair.is_some_and(|pair| pair.is_clear) {
            visitor.pair_secs += dt_secs;
        } else {
            visitor.pair_secs = 0.0;
        }
        let [first, second] = pair?.members;
        if visitor.pair_secs < PAIR_SECS && !is_sure {
            return None;
        }
        visitor.pair_secs = 0.0;
        visitor.pair_share = 0.0;
        visitor.height_m = Some(first.height_m);
        Some(Newcomer {
            blob,
            at_m: second.at_m,
            height_m: Some(second.height_m),
            is_sure,
        })
    }

    /// Learns how tall those few are who share a blob but are not close to anybody.
    fn look_at_members(&mut self, blob: &Blob, sight: &Sight<'_>) {
        if self.members.len() > MOST_MEMBERS {
            return;
        }
        for (index, &number) in self.member_of.iter().enumerate() {
            let visitor = &mut self.visitors[number];
            let member = &self.members[index];
            let is_seen = member.alone_m2 > SEEN_IN_GROUP_M2 && !member.found_elsewhere;
            let is_told = visitor.id.is_some() && visitor.nearest_m > CLOSE_M;
            if !is_seen || !is_told || !is_turn(self.frames, number) {
                continue;
            }
            let height_m = (self.groups).height_m(&self.members, index, blob, sight);
            if let Some(seen_m) = height_m {
                visitor.fresh.add(seen_m);
            }
        }
    }

    /// Makes one of two who stand in the same place, or of whom one explains nothing: the parts of one visitor were taken for
    /// two, or one of two has gone unnoticed. The later one goes, or the one who explains nothing, without being kept in mind
    /// unless they once were apart.
    pub(super) fn unite(&mut self, dt_secs: f32) {
        for index in (0..self.visitors.len()).rev() {
            let at_m = self.visitors[index].state.at_m;
            let since_secs = self.visitors[index].first_secs;
            let others = self.visitors.iter().enumerate();
            let others = others.filter(|(other, v)| *other != index && v.id.is_some());
            let nearest_m = others
                .clone()
                .map(|(_, v)| v.state.at_m.distance(at_m))
                .fold(f32::INFINITY, f32::min);
            let earlier =
                (others.clone()).filter(|(other, v)| (v.first_secs, *other) < (since_secs, index));
            let doubled = earlier.clone().any(|(_, v)| {
                let dark = v.evidence != Evidence::Nothing;
                dark && v.state.at_m.distance(at_m) < SAME_FOOT_M
            });
            let blob = self.visitors[index].evidence.blob();
            let shares = |v: &Visitor| blob.is_some() && v.evidence.blob() == blob;
            let is_beside =
                |(_, v): (usize, &Visitor)| shares(v) && v.state.at_m.distance(at_m) < REDUNDANT_M;
            let is_later = earlier.clone().any(is_beside);
            let mut needed = others.filter(|(_, v)| v.alone_share > NEEDED_SHARE);
            let has_other = is_later || needed.any(is_beside);
            let is_crowded = self.visitors.iter().filter(|v| shares(v)).count() > 2;
            let visitor = &mut self.visitors[index];
            let redundant_secs = if is_crowded && (visitor.was_far || !is_later) {
                CROWDED_SECS
            } else {
                REDUNDANT_SECS
            };
            if has_other && visitor.alone_share < REDUNDANT_SHARE {
                visitor.redundant_secs += dt_secs;
            } else {
                visitor.redundant_secs = 0.0;
            }
            visitor.apart |= nearest_m > APART_M && matches!(visitor.evidence, Evidence::Own(_));
            // What is only a part of somebody has no height.
            visitor.apart |= visitor.profile.is_known();
            if doubled {
                visitor.same_secs += dt_secs;
            } else {
                visitor.same_secs = 0.0;
            }
            let limit_secs = if visitor.apart {
                SAME_PLACE_SECS
            } else {
                SAME_FOOT_SECS
            };
            if visitor.same_secs > limit_secs || visitor.redundant_secs > redundant_secs {
                if let Some(blob) = visitor.evidence.blob() {
                    self.owners[blob].get_or_insert(0);
                }
                if visitor.apart {
                    self.lose(index);
                } else {
                    self.remove(index);
                }
                self.close_ranks(index);
            }
        }
    }

    /// Lets blobs' owners have the numbers that are left to them after one has gone.
    pub(super) fn close_ranks(&mut self, gone: usize) {
        for owner in self.owners.iter_mut().flatten() {
            // An owner beyond those who are left only says that the blob is taken in this frame.
            *owner = if *owner > gone { *owner - 1 } else { *owner };
        }
    }
}

impl Visitor {
    /// Takes in how much they alone explain of what is dark in a group, where somebody so tall darkens so much.
    fn stand_out(&mut self, alone_m2: f32, darkens_m2: f32, dt_secs: f32) {
        let share = (alone_m2 / darkens_m2.max(LEAST_DARK_M2)).clamp(0.0, 1.0);
        let believed = 1.0 - (-dt_secs / LATELY_SECS).exp();
        self.alone_share += believed * (share - self.alone_share);
        if alone_m2 > UNKNOWN_M2 {
            self.needed_secs += dt_secs;
            self.apart |= self.needed_secs > APART_SECS;
        } else {
            self.needed_secs = 0.0;
        }
    }
}

/// Whether it is the turn of the one so numbered to be looked at.
pub(super) fn is_turn(frames: u32, number: usize) -> bool {
    (frames.wrapping_add(number as u32)).is_multiple_of(LOOK_EVERY)
}

/// Area and middle of the samples that are nearer to a visitor than to any rival.
fn own_share(samples: &[Sample], at_m: Vec2, rivals_m: &[Vec2]) -> (f32, Vec2) {
    let (mut area, mut middle) = (0.0, Vec2::ZERO);
    for sample in samples {
        let own = sample.at_m.distance_squared(at_m);
        if rivals_m
            .iter()
            .all(|r| sample.at_m.distance_squared(*r) >= own)
        {
            area += sample.area_m2;
            middle += sample.area_m2 * sample.at_m;
        }
    }
    (area, if area > 0.0 { middle / area } else { at_m })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracks::meetings::tests::visitor;

    /// After how many seconds the later one of two in one place, whose height was so often measured, is no longer followed,
    /// and whether they are kept in mind then.
    fn united(measurements: u32) -> (f32, bool) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(1, 1.7, 0.0, 0), visitor(2, 0.0, 1.4, measurements)];
        let later = &mut tracker.visitors[1];
        later.profile = std::mem::take(&mut later.fresh);
        later.apart = false;
        for visitor in &mut tracker.visitors {
            visitor.state.at_m = Vec2::ZERO;
        }
        tracker.owners = vec![Some(0)];
        let mut secs = 0.0;
        while tracker.visitors.len() > 1 && secs < 60.0 {
            tracker.unite(0.1);
            secs += 0.1;
        }
        (secs, tracker.lost.iter().any(|lost| lost.id == 2))
    }

    #[test]
    fn a_part_of_somebody_goes_soon_and_who_has_a_height_is_kept_in_mind() {
        let (part_secs, is_kept) = united(0);
        assert!(part_secs < 1.0 && !is_kept, "{part_secs}");
        let (somebody_secs, is_kept) = united(3);
        assert!(
            (3.0..4.0).contains(&somebody_secs) && is_kept,
            "{somebody_secs}"
        );
    }

    /// After how many seconds somebody a step from an earlier one, in the same blob or in another, is no longer followed who
    /// alone explains so much of the square meter that they darken; none where they still are after ten.
    fn redundant_secs(blob: usize, alone_m2: &dyn Fn(u32) -> f32) -> Option<f32> {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(1, 1.7, 0.0, 0), visitor(2, 1.4, 0.0, 0)];
        for (visitor, (x_m, blob)) in (tracker.visitors.iter_mut()).zip([(0.0, 0), (0.4, blob)]) {
            visitor.state.at_m = Vec2::new(x_m, 0.0);
            visitor.evidence = Evidence::Shared(blob);
        }
        tracker.owners = vec![Some(0), Some(1)];
        let mut gone = |frame: u32| {
            tracker.visitors[0].stand_out(0.3, 1.0, 0.1);
            tracker.visitors[1].stand_out(alone_m2(frame), 1.0, 0.1);
            tracker.unite(0.1);
            tracker.visitors.len() < 2
        };
        let frame = (1..=100).find(|&frame| gone(frame));
        frame.map(|frame| 0.1 * frame as f32)
    }

    #[test]
    fn who_explains_nothing_on_anothers_body_goes_and_who_is_hidden_for_a_moment_stays() {
        let secs = redundant_secs(0, &|_| 0.05).unwrap_or(f32::INFINITY);
        assert!((0.5..2.5).contains(&secs), "{secs}");
        assert_eq!(redundant_secs(0, &|_| 0.3), None);
        let hidden_in_turn = |frame| if frame % 10 < 4 { 0.0 } else { 0.4 };
        assert_eq!(redundant_secs(0, &hidden_in_turn), None);
        // Who has a blob elsewhere is not on anybody's body.
        assert_eq!(redundant_secs(1, &|_| 0.05), None);
    }

    /// After how many seconds the one so numbered of two, or of three, in one blob is no longer followed, who explains nothing
    /// while the others explain such a share of what they darken, and was seen far from them or not; none where they still
    /// are after ten.
    fn left_behind_secs(
        visitors: u32,
        hidden: u32,
        was_far: bool,
        others_share: f32,
    ) -> Option<f32> {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = (1..=visitors).map(|id| visitor(id, 1.7, 0.0, 0)).collect();
        for (number, visitor) in tracker.visitors.iter_mut().enumerate() {
            visitor.was_far = was_far;
            visitor.state.at_m = Vec2::new(0.4 * number as f32, 0.0);
            visitor.evidence = Evidence::Shared(0);
        }
        tracker.owners = vec![Some(0)];
        let mut gone = || {
            for visitor in &mut tracker.visitors {
                let share = if visitor.id == Some(hidden) {
                    0.0
                } else {
                    others_share
                };
                visitor.stand_out(share, 1.0, 0.1);
            }
            tracker.unite(0.1);
            tracker.visitors.iter().all(|v| v.id != Some(hidden))
        };
        let frame = (1..=100).find(|_| gone());
        frame.map(|frame| 0.1 * frame as f32)
    }

    #[test]
    fn who_went_away_unnoticed_is_not_drawn_along_by_somebody_who_came_later() {
        let of_two = left_behind_secs(2, 1, false, 0.5).unwrap_or(f32::INFINITY);
        assert!((0.5..2.0).contains(&of_two), "{of_two}");
        let of_three = left_behind_secs(3, 1, false, 0.5).unwrap_or(f32::INFINITY);
        assert!((of_two + 0.3..3.0).contains(&of_three), "{of_three}");
        // The later one goes, where neither is needed.
        assert_eq!(left_behind_secs(2, 1, false, 0.05), None);
    }

    #[test]
    fn who_was_seen_far_from_the_others_may_be_hidden_among_them_for_longer() {
        let secs = |visitors: u32, was_far: bool| {
            left_behind_secs(visitors, visitors, was_far, 0.5).unwrap_or(f32::INFINITY)
        };
        assert_eq!(secs(2, true), secs(2, false));
        let (known, unknown) = (secs(3, true), secs(3, false));
        assert!((unknown + 0.7..3.0).contains(&known), "{known} {unknown}");
    }

    #[test]
    fn who_is_needed_in_a_group_for_a_while_is_somebody() {
        let is_somebody = |needed: &dyn Fn(u32) -> bool| {
            let mut visitor = visitor(1, 0.0, 0.0, 0);
            visitor.apart = false;
            for frame in 0..60 {
                let alone_m2 = if needed(frame) { 0.25 } else { 0.15 };
                visitor.stand_out(alone_m2, 1.0, 1.0 / 30.0);
            }
            visitor.apart
        };
        assert!(is_somebody(&|_| true));
        assert!(!is_somebody(&|frame| frame % 20 > 0));
        assert!(!is_somebody(&|_| false));
    }

    #[test]
    fn a_step_or_somebody_not_noticed_yet_fattens_nobody() {
        let mut visitor = visitor(1, 1.7, 0.0, 0);
        for frame in 0..60 {
            let is_stepping = frame % 15 < 10;
            visitor.learn_fullness(if is_stepping { 1.3 } else { 1.1 }, 1.0 / 30.0);
        }
        let stands = visitor.fullness.unwrap_or_default();
        assert!((1.05..1.2).contains(&stands), "{stands}");
        visitor.learn_fullness(3.0, 1.0 / 30.0);
        let met = visitor.fullness.unwrap_or_default();
        assert!(met < 1.45, "{met}");
        for _ in 0..240 {
            visitor.learn_fullness(1.4, 1.0 / 30.0);
        }
        let grown = visitor.fullness.unwrap_or_default();
        assert!((grown - 1.4).abs() < 0.01, "{grown}");
    }
}
