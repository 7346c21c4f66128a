//! Parts of one visitor that were taken for two: shadow and body, or two pieces of either, may be seen apart, above all at
//! the picture's edge.

use crate::vision::group::One;

use super::placing::{LOOK_EVERY, is_turn};
use super::{Evidence, Sight, Tracker, Visitor};

/// Two are one where they explain hardly more than one does: less than this share of what the lesser of them darkens. In
/// rendered rooms it was so in 70 of 100 looks at two who were one, and in 4 of 100 at two who were two, where the one was
/// looked for more thoroughly than here and the two less.
const MORE_SHARE: f32 = 0.03;
/// For so long, and this near each other.
const ONE_SECS: f32 = 0.4;
const PART_M: f32 = 1.0;
/// Who was seen this far from everybody else is nobody's part, nor is who has been there for so long; and what never left
/// the place where it appeared may be a thing.
const FAR_M: f32 = 0.95;
const PART_AGE_SECS: f64 = 2.0;
const MOVED_M: f32 = 0.1;
/// Looked for between the frames in which most else is.
const TURN: usize = 2;

impl Tracker {
    /// Makes one of two, of whom one came lately, when one has explained as much as both for a while. The earlier name stays,
    /// with whoever is nearer to where the one is.
    pub(super) fn take_back_parts(&mut self, sight: &Sight<'_>) {
        if !sight.feet.tells_feet() {
            return;
        }
        for visitor in &mut self.visitors {
            let has_own = visitor.id.is_some() && matches!(visitor.evidence, Evidence::Own(_));
            visitor.was_far |= has_own && visitor.nearest_m > FAR_M;
        }
        let part = (0..self.visitors.len()).find_map(|part| {
            let (whole, one) = self.whole(part, sight)?;
            Some((part, whole, one))
        });
        if let Some((part, whole, one)) = part {
            self.make_one(part, whole, &one);
        }
    }

    /// The earlier one whose part a visitor has been for long enough, and the one who is both.
    fn whole(&mut self, part: usize, sight: &Sight<'_>) -> Option<(usize, One)> {
        let may_be_part = self.visitors[part].may_be_part(sight.time_secs);
        if !may_be_part || !is_turn(self.frames, part + TURN) {
            return None;
        }
        let found = (0..self.visitors.len()).find_map(|whole| {
            let one = self.one(part, whole, sight)?;
            (one.more_share < MORE_SHARE).then_some((whole, one))
        });
        let visitor = &mut self.visitors[part];
        if found.is_some() {
            visitor.one_secs += LOOK_EVERY as f32 * sight.dt_secs;
        } else {
            visitor.one_secs = 0.0;
        }
        found.filter(|_| self.visitors[part].one_secs > ONE_SECS)
    }

    /// The one in the place of two near each other, of whom both are told of and the first came later.
    fn one(&mut self, part: usize, whole: usize, sight: &Sight<'_>) -> Option<One> {
        let pair = [part, whole];
        let [later, earlier] = pair.map(|number| &self.visitors[number]);
        let blobs = [later.evidence.blob()?, earlier.evidence.blob()?];
        let is_later = (later.first_secs, part) > (earlier.first_secs, whole);
        let is_near = later.state.at_m.distance(earlier.state.at_m) < PART_M;
        if earlier.id.is_none() || !is_later || !is_near {
            return None;
        }
        let is_theirs = |(index, owner): (usize, &Option<usize>)| {
            blobs.contains(&index) || owner.is_some_and(|owner| pair.contains(&owner))
        };
        let all = sight.blobs.blobs();
        let owned = self.owners.iter().enumerate().zip(all);
        let theirs = owned.filter(|(blob, _)| is_theirs(*blob));
        let bounds = theirs.fold(all[blobs[0]].bounds(), |bounds, (_, blob)| {
            bounds.around(&blob.bounds())
        });
        let members = pair.map(|number| self.visitors[number].member(&self.params));
        let others = self
            .visitors
            .iter()
            .enumerate()
            .filter(|(number, visitor)| {
                !pair.contains(number)
                    && visitor.id.is_some()
                    && visitor.evidence != Evidence::Nothing
            });
        self.groups.stand_by(others.map(|(_, visitor)| {
            let member = visitor.member(&self.params);
            (member.at_m, member.height_m)
        }));
        Some(self.groups.one(members, &bounds, sight))
    }

    fn make_one(&mut self, part: usize, whole: usize, one: &One) {
        let mut gone = part;
        if let Ok([part, earlier]) = self.visitors.get_disjoint_mut([part, whole]) {
            let off_m = [&*part, &*earlier].map(|v| v.state.at_m.distance(one.member.at_m));
            if off_m[0] < off_m[1] {
                part.exchange_names(earlier);
                gone = whole;
            }
        }
        let stays = part + whole - gone;
        self.visitors[stays].height_m = Some(one.member.height_m);
        self.visitors[stays].one_secs = 0.0;
        if let Some(blob) = self.visitors[gone].evidence.blob() {
            self.owners[blob].get_or_insert(stays);
        }
        self.remove(gone);
        self.close_ranks(gone);
    }
}

impl Visitor {
    /// Whether they are told of and may well be what somebody else is seen by. A part has no height.
    fn may_be_part(&self, now_secs: f64) -> bool {
        let is_new = now_secs - self.born_secs < PART_AGE_SECS;
        let has_moved = self.state.at_m.distance(self.born_m) > MOVED_M;
        self.id.is_some() && is_new && has_moved && !self.was_far && !self.profile.is_known()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::group::Member;
    use crate::vision::tracks::meetings::tests::visitor;
    use glam::Vec2;

    #[test]
    fn who_came_lately_beside_somebody_and_has_moved_may_be_a_part() {
        let may_be_part = |change: &dyn Fn(&mut Visitor)| {
            let mut newcomer = visitor(2, 0.0, 0.0, 0);
            newcomer.profile = std::mem::take(&mut newcomer.fresh);
            newcomer.was_far = false;
            newcomer.state.at_m += 2.0 * MOVED_M * Vec2::X;
            change(&mut newcomer);
            newcomer.may_be_part(1.0)
        };
        assert!(may_be_part(&|_| ()));
        assert!(!may_be_part(&|v| v.id = None), "nobody was told of them");
        assert!(
            !may_be_part(&|v| v.born_secs = -PART_AGE_SECS),
            "there for long"
        );
        assert!(!may_be_part(&|v| v.state.at_m = v.born_m), "may be a thing");
        assert!(!may_be_part(&|v| v.was_far = true), "was seen alone");
        let is_tall = |v: &mut Visitor| (0..20).for_each(|_| v.profile.add(1.7));
        assert!(!may_be_part(&is_tall), "has a height");
    }

    /// The id and place of who is left of an earlier one at 1 m and a later one at 2 m, when they are one.
    fn left_of(one_m: Vec2) -> (Option<u32>, f32) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(1, 1.7, 0.0, 0), visitor(2, 1.7, 0.0, 0)];
        tracker.visitors[1].evidence = Evidence::Own(1);
        tracker.owners = vec![Some(0), Some(1)];
        let one = One {
            member: Member::new(one_m, 1.4),
            more_share: 0.0,
        };
        tracker.make_one(1, 0, &one);
        let [left] = tracker.visitors.as_slice() else {
            unreachable!("one of two is left");
        };
        assert_eq!(left.height_m, Some(1.4));
        assert!(tracker.lost.is_empty(), "nobody has gone");
        assert!(
            tracker.owners.iter().all(Option::is_some),
            "no blob is free"
        );
        (left.id, left.state.at_m.x)
    }

    #[test]
    fn the_earlier_name_stays_with_whoever_is_where_the_one_is() {
        assert_eq!(left_of(Vec2::new(1.2, 0.0)), (Some(1), 1.0));
        assert_eq!(left_of(Vec2::new(1.8, 0.0)), (Some(1), 2.0));
    }
}
