//! Visitors followed from frame to frame: who is who, who came, who went.
//!
//! Blobs are given to visitors by their feet, all at once and optimally. A blob that nobody takes is a part of a visitor
//! whose shadow or body explains it (legs part, a joint of the floor cuts), or somebody new. A visitor without a blob of
//! their own is followed within the foreground for a while (people meet and part), then kept in mind for their return.

mod coming;
mod names;

use glam::{DVec2, Mat2, Vec2};

use crate::geometry::Surface;

use super::TrackingParams;
use super::assign::{Assignment, FORBIDDEN};
use super::background::Background;
use super::bits::BitMask;
use super::blobs::{Blob, BlobFinder, Sample};
use super::foot::FootFinder;
use super::group::{GroupFinder, Member, UNKNOWN_M2};
use super::kalman::{Kalman, Measurement};
use super::outline::Tracer;
use super::profile::Profile;
use super::view::FloorTable;

/// A visitor this near to a blob may be in it.
const NEAR_BLOB_M: f32 = 0.25;
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
/// A measured place counts for so much less when the blob is shared.
const SHARED_DOUBT: f32 = 4.0;
/// Somebody who is not seen slows down within this time.
const UNSEEN_SLOWDOWN_SECS: f32 = 0.5;
/// Two whose feet are this near for so long, with nothing dark between them, are one.
const SAME_FOOT_M: f32 = 0.25;
const SAME_FOOT_SECS: f32 = 0.5;
/// The same for two who once were seen apart: one of them has gone unnoticed, and is kept in mind.
const SAME_PLACE_SECS: f32 = 1.5;
/// Who was seen this far from everybody else is a visitor of their own, however near they come later.
const APART_M: f32 = 0.7;
/// Spread of a place found for somebody in a group.
const GROUP_SPREAD_M: f32 = 0.12;
/// Where two in a group are about this near, the picture does not tell who of them is where: it counts so much less,
/// and both go on as they went, so that people who pass each other do not come back with each other's name.
const PASSING_M: f32 = 0.2;
const PASSING_SPREAD_M: f32 = 2.0;
/// Who is found about this far from where they went did not go on as they went.
const SURPRISE_M: f32 = 0.15;
/// A usual visitor's share of the tallest one's height.
const USUAL_SHARE: f32 = 0.75;
/// What somebody looks like is learned while nobody else is this near.
const ALONE_M: f32 = 0.6;
/// It is looked at every so many frames, not at everybody in the same one.
const LOOK_EVERY: u32 = 4;
/// Who was ever seen this far from where they appeared came by walking, and is no thing.
const WALKED_M: f32 = 0.4;
/// What never moved for so long does not do so within a group: it may be a thing.
const SETTLED_SECS: f64 = 3.0;
/// Who stood for so long still stands while others pass.
const STANDS_SECS: f64 = 5.0;
/// In a group, somebody is seen who alone explains this much of what is dark.
const SEEN_IN_GROUP_M2: f32 = 0.1;
/// Somebody lost may come back so much farther away each second, up to a limit.
const RETURN_SPEED_MPS: f64 = 1.0;
const RETURN_DISTANCE_M: f64 = 2.5;

/// One visitor's shadow at the time of a frame, in floor meters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Stays with a visitor; never given twice.
    pub id: u32,
    /// Middle of the shadow, weighted by its depth.
    pub centroid_m: DVec2,
    /// Where the visitor stands; the centroid where the lamp's position is unknown.
    pub foot_m: DVec2,
    /// Radius of the circle of the same area.
    pub radius_m: f64,
    /// Velocity over the floor.
    pub velocity_mps: DVec2,
    /// Area of what is dark: shadow and body.
    pub area_m2: f64,
    /// Time since it was first seen.
    pub age_secs: f64,
    /// Time since it last moved.
    pub still_secs: f64,
    /// Outline, at most [`super::MAX_CORNERS`] corners, not closed.
    pub outline_m: Vec<DVec2>,
    /// Whether the foot is on the projected surface.
    pub on_surface: bool,
}

impl Track {
    /// Takes another's values over within the memory that is there.
    fn copy_from(&mut self, other: &Self) {
        let mut outline_m = std::mem::take(&mut self.outline_m);
        outline_m.clone_from(&other.outline_m);
        *self = Self {
            outline_m,
            ..*other
        };
    }
}

/// What the tracker sees of a frame.
pub(super) struct Sight<'a> {
    pub(super) time_secs: f64,
    pub(super) dt_secs: f32,
    /// What never moved for so long is a thing.
    pub(super) scenery_secs: f32,
    /// Smaller blobs are no newcomers; they may be what is seen of somebody known.
    pub(super) newcomer_area_m2: f32,
    pub(super) blobs: &'a BlobFinder,
    pub(super) mask: &'a BitMask,
    pub(super) background: &'a Background,
    pub(super) floor: &'a FloorTable,
    pub(super) feet: &'a FootFinder,
    pub(super) surface: &'a Surface,
}

/// Somebody followed, told of or not yet.
struct Visitor {
    id: Option<u32>,
    state: Kalman,
    hits: u32,
    /// Not told of yet, and seen only as what nobody else explains of a blob.
    hidden: bool,
    /// When and where this body was first seen, and whether it ever left that place. Stays with the body when names
    /// are exchanged.
    born_secs: f64,
    born_m: Vec2,
    walked: bool,
    /// Whether the one whose name they were given back had left theirs.
    walked_before: bool,
    first_secs: f64,
    /// When there last was a blob of their own, and when there last was foreground at all.
    own_secs: f64,
    dark_secs: f64,
    /// For how long the foot has been that of somebody seen earlier.
    same_secs: f32,
    /// Whether they were ever seen apart from everybody else.
    apart: bool,
    anchor_m: Vec2,
    still_since_secs: f64,
    evidence: Evidence,
    /// What they look like, as known for certain; and as seen since they were last mixed up with others.
    profile: Profile,
    fresh: Profile,
    /// Those who may have been taken for each other since they met share a number.
    meeting: Option<u32>,
    /// Distance of the nearest other visitor.
    nearest_m: f32,
    track: Track,
}

impl Visitor {
    /// Whether they may be one of several in a blob.
    fn has_place(&self) -> bool {
        self.id.is_some() || self.hidden
    }

    /// Them as one of a group, where they are expected.
    fn member(&self, params: &TrackingParams) -> Member {
        let usual_m = USUAL_SHARE * params.tallest_m;
        Member::new(self.state.at_m, self.profile.height_m().unwrap_or(usual_m))
    }
}

/// What a visitor has in the present frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    Nothing,
    Own(usize),
    Shared(usize),
}

impl Evidence {
    fn blob(self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Own(blob) | Self::Shared(blob) => Some(blob),
        }
    }
}

/// Somebody told of who is gone.
struct Lost {
    id: u32,
    at_m: DVec2,
    first_secs: f64,
    walked: bool,
    lost_secs: f64,
    profile: Profile,
}

/// Follows visitors; keeps its memory from frame to frame.
pub(super) struct Tracker {
    params: TrackingParams,
    next_id: u32,
    time_secs: f64,
    visitors: Vec<Visitor>,
    lost: Vec<Lost>,
    tracks: Vec<Track>,
    told: usize,
    assignment: Assignment,
    tracer: Tracer,
    cold_feet: Vec<Vec2>,
    /// The visitor each blob belongs to.
    owners: Vec<Option<usize>>,
    samples: Vec<Sample>,
    rivals: Vec<Vec2>,
    groups: GroupFinder,
    members: Vec<Member>,
    member_of: Vec<usize>,
    /// Those whom nobody knew of, with the blob they are in.
    newcomers: Vec<(usize, Member)>,
    meetings: u32,
    frames: u32,
    scenery: Vec<usize>,
    first_secs: Option<f64>,
    settling: bool,
}

impl Tracker {
    pub(super) fn new(params: &TrackingParams) -> Self {
        Self {
            params: params.clone(),
            next_id: 1,
            time_secs: 0.0,
            visitors: Vec::new(),
            lost: Vec::new(),
            tracks: Vec::new(),
            told: 0,
            assignment: Assignment::default(),
            tracer: Tracer::default(),
            cold_feet: Vec::new(),
            owners: Vec::new(),
            samples: Vec::new(),
            rivals: Vec::new(),
            groups: GroupFinder::default(),
            members: Vec::new(),
            member_of: Vec::new(),
            newcomers: Vec::new(),
            meetings: 0,
            frames: 0,
            scenery: Vec::new(),
            first_secs: None,
            settling: true,
        }
    }

    /// Who was there in the last frame.
    pub(super) fn tracks(&self) -> &[Track] {
        &self.tracks[..self.told]
    }

    /// Time goes on, but nothing can be seen: everybody stays where they were.
    pub(super) fn hold(&mut self, dt_secs: f32) {
        let dt = f64::from(dt_secs);
        for visitor in &mut self.visitors {
            visitor.own_secs += dt;
            visitor.dark_secs += dt;
        }
        for track in &mut self.tracks[..self.told] {
            track.age_secs += dt;
            track.still_secs += dt;
            track.velocity_mps = DVec2::ZERO;
        }
    }

    /// Everybody is gone, and kept in mind.
    pub(super) fn lose_all(&mut self) {
        self.told = 0;
        for index in (0..self.visitors.len()).rev() {
            self.lose(index);
        }
    }

    /// Takes one frame and tells who is there.
    pub(super) fn update(&mut self, sight: &Sight<'_>) -> &[Track] {
        self.time_secs = sight.time_secs;
        self.frames = self.frames.wrapping_add(1);
        for visitor in &mut self.visitors {
            visitor
                .state
                .predict(sight.dt_secs, self.params.acceleration_mps2);
            visitor.evidence = Evidence::Nothing;
        }
        self.give_blobs(sight);
        self.share_blobs(sight);
        for index in 0..self.visitors.len() {
            if let Some(blob) = self.visitors[index].evidence.blob() {
                self.measure(index, blob, sight);
            } else {
                let visitor = &mut self.visitors[index];
                visitor.state.slow_down(sight.dt_secs, UNSEEN_SLOWDOWN_SECS);
            }
        }
        self.place_groups(sight);
        self.meet();
        self.tell_apart();
        self.unite(sight);
        self.welcome(sight);
        self.part();
        self.put_down(sight);
        self.confirm();
        self.tell(sight);
        self.tracks()
    }

    /// Gives each visitor the blob whose foot is theirs.
    fn give_blobs(&mut self, sight: &Sight<'_>) {
        let blobs = sight.blobs.blobs();
        self.cold_feet.clear();
        for blob in blobs {
            let samples = sight.blobs.samples(blob);
            let guess = sight.feet.guess(samples, blob.centroid_m);
            let all = samples.iter().copied();
            let measured = sight.feet.measure(all, blob.centroid_m, guess, &[]);
            self.cold_feet.push(measured.at_m);
        }
        let (visitors, cold_feet, gate) = (&self.visitors, &self.cold_feet, self.params.gate_m);
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
            if cost > gate {
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
    fn share_blobs(&mut self, sight: &Sight<'_>) {
        let blobs = sight.blobs.blobs();
        for visitor in &mut self.visitors {
            if visitor.evidence != Evidence::Nothing || !visitor.has_place() {
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

    /// Measures a visitor's foot, area and middle from what is theirs.
    fn measure(&mut self, index: usize, blob: usize, sight: &Sight<'_>) {
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
        let all = self.samples.iter().copied();
        let mut measured = sight.feet.measure(all, centroid_m, at, &self.rivals);
        let own = matches!(visitor.evidence, Evidence::Own(_));
        if self.rivals.is_empty() || !sight.feet.tells_feet() {
            if !self.rivals.is_empty() {
                measured.covariance_m2 *= SHARED_DOUBT;
            }
            visitor.state.update(&measured);
        }
        if self.rivals.is_empty() && visitor.id.is_some() && visitor.nearest_m > ALONE_M {
            let profile = match visitor.meeting {
                None => &mut visitor.profile,
                Some(_) => &mut visitor.fresh,
            };
            if self
                .frames
                .wrapping_add(index as u32)
                .is_multiple_of(LOOK_EVERY)
            {
                let at_m = visitor.state.at_m;
                let height_m = self.groups.height_m(at_m, &blobs[blob], sight);
                profile.measure(height_m, &self.samples, at_m, sight.feet);
            }
        }
        visitor.dark_secs = sight.time_secs;
        if own {
            visitor.own_secs = sight.time_secs;
            visitor.hits += 1;
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

    /// Finds the places of those who share a blob, all together.
    fn place_groups(&mut self, sight: &Sight<'_>) {
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
            if self.members.len() > 1 {
                self.groups.place(&mut self.members, blob, sight);
            }
            let turn = self.frames.wrapping_add(index as u32);
            if !self.members.is_empty() && turn.is_multiple_of(LOOK_EVERY) {
                let usual = Member::new(Vec2::ZERO, USUAL_SHARE * self.params.tallest_m);
                let unknown = self.groups.unknown(&mut self.members, usual, blob, sight);
                self.newcomers.extend(unknown.map(|member| (index, member)));
            }
            if self.members.len() < 2 {
                continue;
            }
            for (index, (&number, member)) in self.member_of.iter().zip(&self.members).enumerate() {
                if member.alone_m2 > SEEN_IN_GROUP_M2 {
                    self.visitors[number].own_secs = sight.time_secs;
                }
                let visitor = &mut self.visitors[number];
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
                let others = self.members.iter().enumerate().filter(|o| o.0 != index);
                let near = others
                    .map(|(_, o)| o.at_m.distance_squared(member.at_m) / (PASSING_M * PASSING_M))
                    .fold(f32::INFINITY, f32::min);
                let off = member.at_m.distance_squared(member.expected_m);
                let near = near + off / (SURPRISE_M * SURPRISE_M);
                let spread_m = GROUP_SPREAD_M + PASSING_SPREAD_M * (-near).exp();
                let measured = Measurement {
                    at_m: member.at_m,
                    covariance_m2: Mat2::from_diagonal(Vec2::splat(spread_m * spread_m)),
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

    /// Makes one of two who stand in the same place: the parts of one visitor were taken for two. The later one goes,
    /// without being kept in mind unless they once were apart.
    fn unite(&mut self, sight: &Sight<'_>) {
        for index in (0..self.visitors.len()).rev() {
            let at_m = self.visitors[index].state.at_m;
            let since_secs = self.visitors[index].first_secs;
            let others = self.visitors.iter().enumerate();
            let others = others.filter(|(other, v)| *other != index && v.id.is_some());
            let nearest_m = others
                .clone()
                .map(|(_, v)| v.state.at_m.distance(at_m))
                .fold(f32::INFINITY, f32::min);
            let doubled = others.clone().any(|(other, v)| {
                let earlier = (v.first_secs, other) < (since_secs, index);
                let dark = v.evidence != Evidence::Nothing;
                earlier && dark && v.state.at_m.distance(at_m) < SAME_FOOT_M
            });
            let visitor = &mut self.visitors[index];
            visitor.apart |= nearest_m > APART_M && matches!(visitor.evidence, Evidence::Own(_));
            if doubled {
                visitor.same_secs += sight.dt_secs;
            } else {
                visitor.same_secs = 0.0;
            }
            let limit_secs = if visitor.apart {
                SAME_PLACE_SECS
            } else {
                SAME_FOOT_SECS
            };
            if visitor.same_secs > limit_secs {
                if let Some(blob) = visitor.evidence.blob() {
                    self.owners[blob].get_or_insert(0);
                }
                if visitor.apart {
                    self.lose(index);
                } else {
                    self.visitors.remove(index);
                }
                for owner in self.owners.iter_mut().flatten() {
                    // An owner beyond those who are left only says that the blob is taken in this frame.
                    *owner = if *owner > index { *owner - 1 } else { *owner };
                }
            }
        }
    }

    /// Writes down everybody who has an id, by ascending id.
    fn tell(&mut self, sight: &Sight<'_>) {
        let still_radius_m = self.params.still_radius_m;
        for visitor in &mut self.visitors {
            if matches!(visitor.evidence, Evidence::Own(_)) {
                visitor.walked |= visitor.state.at_m.distance(visitor.born_m) > WALKED_M;
            }
            if visitor.state.at_m.distance(visitor.anchor_m) > still_radius_m {
                visitor.anchor_m = visitor.state.at_m;
                visitor.still_since_secs = sight.time_secs;
            }
        }
        self.visitors
            .sort_unstable_by_key(|v| v.id.unwrap_or(u32::MAX));
        self.told = self.visitors.iter().filter(|v| v.id.is_some()).count();
        while self.tracks.len() < self.told {
            self.tracks.push(Track::default());
        }
        let told = self.visitors.iter_mut().filter(|v| v.id.is_some());
        for (to, visitor) in self.tracks.iter_mut().zip(told) {
            let foot_m = if sight.feet.tells_feet() {
                visitor.state.at_m
            } else {
                visitor.track.centroid_m.as_vec2()
            };
            let track = &mut visitor.track;
            track.id = visitor.id.unwrap_or_default();
            track.foot_m = foot_m.as_dvec2();
            track.radius_m = (track.area_m2 / std::f64::consts::PI).sqrt();
            track.velocity_mps = visitor.state.velocity_mps.as_dvec2();
            track.age_secs = sight.time_secs - visitor.first_secs;
            track.still_secs = sight.time_secs - visitor.still_since_secs;
            track.on_surface = sight.surface.contains(foot_m);
            to.copy_from(track);
        }
    }
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

/// Distance of the sample nearest to a point.
fn nearest_m(samples: &[Sample], point_m: Vec2) -> f32 {
    samples
        .iter()
        .map(|s| s.at_m.distance_squared(point_m))
        .fold(f32::INFINITY, f32::min)
        .sqrt()
}

fn outline(blob: &Blob, sight: &Sight<'_>, tracer: &mut Tracer, to: &mut Vec<DVec2>) {
    to.clear();
    // Border pixels lie in the mask, so their coordinates are within the picture.
    to.extend(tracer.trace(sight.mask, blob.first).iter().map(|&(x, y)| {
        sight
            .floor
            .place_m(x.unsigned_abs() as usize, y.unsigned_abs() as usize)
            .as_dvec2()
    }));
}
