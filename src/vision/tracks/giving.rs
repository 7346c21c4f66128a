//! Which blob is whose: blobs are given to visitors by their feet, all at once; what nobody takes is a part of somebody
//! who explains it, or is left to newcomers.

use glam::Vec2;

use crate::vision::assign::FORBIDDEN;
use crate::vision::blobs::Sample;
use crate::vision::group::Member;

use super::{Evidence, Sight, Tracker, USUAL_SHARE, Visitor};

/// A visitor this near to a blob may be in it.
const NEAR_BLOB_M: f32 = 0.25;
/// A blob's foot is told from every so many-th of its samples, before it is known whose it is.
const COLD_EVERY: usize = 2;
/// What being in a blob, rather than at its foot, costs in the assignment.
const INSIDE_COST_M: f32 = 0.3;
/// What a blob e times as large as the visitor's, or so much smaller, costs.
const UNLIKE_COST_M: f32 = 0.15;
/// What somebody not yet told of pays against those who are.
const NEWCOMER_COST_M: f32 = 0.3;
/// A blob is a part of a visitor who explains this share of it.
const EXPLAINED_SHARE: f32 = 0.5;
/// What is smaller than this and this near to a visitor is a part of them.
const COMPANION_AREA_M2: f32 = 0.1;
const COMPANION_DISTANCE_M: f32 = 1.0;
/// Somebody new explains at least so much more than those who are there, and this share of their blob.
const NEWCOMER_M2: f32 = 0.05;
const NEWCOMER_SHARE: f32 = 0.4;
/// Who has less of a blob than this share of their area also shares another in which this share of their shape is dark.
const LITTLE_SHARE: f32 = 0.7;
const JOINED_SHARE: f32 = 0.5;

impl Tracker {
    /// Gives each visitor the blob whose foot is theirs.
    pub(super) fn give_blobs(&mut self, sight: &Sight<'_>) {
        let blobs = sight.blobs.blobs();
        self.cold_feet.clear();
        for blob in blobs {
            let samples = sight.blobs.samples(blob);
            let guess = sight.feet.guess(samples, blob.centroid_m);
            let some = samples.iter().step_by(COLD_EVERY).copied();
            let measured = sight.feet.measure(some, blob.centroid_m, guess);
            self.cold_feet.push(measured.at_m);
        }
        let (visitors, cold_feet, gate) = (&self.visitors, &self.cold_feet, self.params.gate_m);
        let left = &self.left;
        let cost = |row: usize, column: usize| {
            let visitor = &visitors[row];
            let at = visitor.state.at_m;
            let to_foot = at.distance(cold_feet[column]);
            let to_blob = nearest_m(sight.blobs.samples(&blobs[column]), at) + INSIDE_COST_M;
            let newcomer = if visitor.id.is_none() {
                NEWCOMER_COST_M
            } else {
                0.0
            };
            let grown = f32::ln(blobs[column].area_m2 / (visitor.track.area_m2 as f32).max(1e-3));
            let cost = to_foot.min(to_blob) + UNLIKE_COST_M * grown.abs().min(2.0);
            if cost > gate || left[row] {
                FORBIDDEN
            } else {
                cost + newcomer
            }
        };
        self.owners.clear();
        self.owners.resize(blobs.len(), None);
        let given = self.assignment.solve(visitors.len(), blobs.len(), cost);
        for (index, blob) in given.iter().enumerate() {
            if let &Some(blob) = blob {
                self.owners[blob] = Some(index);
                self.visitors[index].evidence = Evidence::Own(blob);
            }
        }
    }

    /// Lets visitors without a blob share one they are in, and gives parts of a visitor to them.
    pub(super) fn share_blobs(&mut self, sight: &Sight<'_>) {
        let blobs = sight.blobs.blobs();
        for (visitor, &has_left) in self.visitors.iter_mut().zip(&self.left) {
            if visitor.evidence != Evidence::Nothing || !visitor.has_place() || has_left {
                continue;
            }
            let at = visitor.state.at_m;
            let nearest = (0..blobs.len())
                .map(|b| (nearest_m(sight.blobs.samples(&blobs[b]), at), b))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((distance, blob)) = nearest
                && distance < NEAR_BLOB_M
            {
                visitor.evidence = Evidence::Shared(blob);
            }
        }
        self.join(sight);
        self.give_parts(sight);
        for (index, blob) in blobs.iter().enumerate() {
            if self.owners[index].is_some() {
                continue;
            }
            let samples = sight.blobs.samples(blob);
            let wanted = (samples.len() as f32 * EXPLAINED_SHARE) as usize;
            let known = |v: &&Visitor| v.id.is_some() && matches!(v.evidence, Evidence::Own(_));
            let cold_feet = &self.cold_feet;
            let explains = |visitor: &Visitor| {
                // What the part itself says of the foot does not count: a bag put down would keep the visitor there.
                let own = visitor.evidence.blob().and_then(|own| cold_feet.get(own));
                let at = own.copied().unwrap_or(visitor.state.at_m);
                let explained = |s: &&Sample| sight.feet.explains(at, s.at_m);
                samples.iter().filter(explained).count() > wanted
            };
            let near = |visitor: &Visitor| {
                blob.area_m2 < COMPANION_AREA_M2
                    && nearest_m(samples, visitor.state.at_m) < COMPANION_DISTANCE_M
            };
            self.owners[index] = self
                .visitors
                .iter()
                .position(|v| known(&v) && (explains(v) || near(v)));
        }
    }

    /// Lets somebody whose own blob is much less than they darken share the blob in which the rest of them is: where people
    /// overlap, a leg may be a blob by itself, which says nothing of where the foot is.
    fn join(&mut self, sight: &Sight<'_>) {
        if !sight.feet.tells_feet() {
            return;
        }
        let blobs = sight.blobs.blobs();
        for index in 0..self.visitors.len() {
            let visitor = &self.visitors[index];
            let Evidence::Own(own) = visitor.evidence else {
                continue;
            };
            let usual_m2 = visitor.track.area_m2 as f32;
            if visitor.id.is_none() || blobs[own].area_m2 > LITTLE_SHARE * usual_m2 {
                continue;
            }
            let member = visitor.member(&self.params);
            let is_anothers = |owner: usize| owner != index && self.visitors[owner].id.is_some();
            let most = (0..blobs.len())
                .filter(|&other| self.owners[other].is_some_and(is_anothers))
                .map(|other| (member.covers_m2(&blobs[other], sight), other))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((covered_m2, other)) = most
                && covered_m2 > JOINED_SHARE * member.darkens_m2(sight)
            {
                self.visitors[index].evidence = Evidence::Shared(other);
            }
        }
    }

    /// Gives blobs that belong to nobody known to a visitor near by who explains them together with their own: shadow and
    /// body of one visitor may be seen apart, above all at the picture's edge.
    fn give_parts(&mut self, sight: &Sight<'_>) {
        if !sight.feet.tells_feet() {
            return;
        }
        let blobs = sight.blobs.blobs();
        for (index, blob) in blobs.iter().enumerate() {
            let owner = self.owners[index];
            if owner.is_some_and(|owner| self.visitors[owner].id.is_some()) {
                continue;
            }
            let samples = sight.blobs.samples(blob);
            let nearest = self.visitors.iter().enumerate();
            let nearest = nearest
                .filter(|(_, v)| v.id.is_some())
                .filter_map(|(number, v)| match v.evidence {
                    Evidence::Own(own) => Some((nearest_m(samples, v.state.at_m), number, own)),
                    _ => None,
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((distance_m, number, own)) = nearest else {
                continue;
            };
            let at_m = owner.map_or(self.cold_feet[index], |o| self.visitors[o].state.at_m);
            // Who went away here is expected back here.
            let is_return = self.lost.iter().any(|lost| {
                sight.time_secs - lost.lost_secs < f64::from(self.params.return_secs)
                    && lost.at_m.as_vec2().distance(at_m) < COMPANION_DISTANCE_M
            });
            if distance_m > COMPANION_DISTANCE_M || is_return {
                continue;
            }
            self.members.clear();
            let mut known = 0;
            let there = self.visitors.iter().enumerate();
            for (other, visitor) in there.filter(|(_, v)| v.id.is_some()) {
                if other == number {
                    known = self.members.len();
                }
                self.members.push(visitor.member(&self.params));
            }
            self.members
                .push(Member::new(at_m, USUAL_SHARE * self.params.tallest_m));
            self.groups.stand_by(std::iter::empty());
            let pair = [&blobs[own], blob];
            let more_m2 = self
                .groups
                .newcomer_m2(&mut self.members, known, pair, sight);
            if more_m2 < NEWCOMER_M2.max(NEWCOMER_SHARE * blob.area_m2) {
                self.owners[index] = Some(number);
                if let Some(owner) = owner {
                    self.visitors[owner].evidence = Evidence::Nothing;
                }
            }
        }
    }
}

/// Distance of the sample nearest to a point.
fn nearest_m(samples: &[Sample], point_m: Vec2) -> f32 {
    samples
        .iter()
        .map(|s| s.at_m.distance_squared(point_m))
        .fold(f32::INFINITY, f32::min)
        .sqrt()
}
