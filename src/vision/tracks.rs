//! Visitors followed from frame to frame: who is who, who came, who went.
//!
//! Blobs are given to visitors by their feet, all at once and optimally. A blob that nobody takes is a part of a visitor
//! whose shadow or body explains it (legs part, a joint of the floor cuts), or somebody new. A visitor without a blob of
//! their own is followed within the foreground for a while (people meet and part), then kept in mind for their return.

mod coming;
mod exchange;
mod giving;
mod leaving;
mod meetings;
mod parts;
mod placing;

use glam::{DVec2, Vec2};

use crate::geometry::Surface;

use super::TrackingParams;
use super::assign::Assignment;
use super::background::Background;
use super::bits::BitMask;
use super::blobs::{Blob, BlobFinder, Sample};
use super::foot::{FootFinder, USUAL_SHARE};
use super::group::{GroupFinder, Member};
use super::kalman::Kalman;
use super::outline::Tracer;
use super::profile::Profile;
use super::view::FloorTable;

/// Somebody who is not seen slows down within this time.
const UNSEEN_SLOWDOWN_SECS: f32 = 0.5;
/// Spread of a place found for somebody in a group.
const GROUP_SPREAD_M: f32 = 0.12;
/// Legs apart, and somebody not noticed yet, darken more than who stands alone; what seems more is believed so slowly, over
/// more than a stride.
const FULLER_SECS: f32 = 1.2;
/// Who was ever seen this far from where they appeared came by walking, and is no thing.
const WALKED_M: f32 = 0.4;
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
    /// Area of what is dark: shadow and body. Among others it is told from what it was before, for the place.
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
    /// Brightness of all pixels, 8 bit.
    pub(super) levels: &'a [u8],
    pub(super) blobs: &'a BlobFinder,
    pub(super) mask: &'a BitMask,
    pub(super) background: &'a Background,
    pub(super) floor: &'a FloorTable,
    pub(super) feet: &'a FootFinder,
    pub(super) surface: &'a Surface,
}

impl Sight<'_> {
    /// Whether a shadow at a point of the floor could be seen.
    pub(super) fn tells(&self, floor_m: Vec2) -> bool {
        let index = self.floor.index_at(floor_m);
        index.is_some_and(|index| self.background.tells(index))
    }
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
    /// Where they were and how they moved at `own_secs`.
    last_seen: Kalman,
    /// For how long the foot has been that of somebody seen earlier.
    same_secs: f32,
    /// Whether they are known to be somebody, and not a part of somebody else.
    apart: bool,
    /// For how long they have explained so much in a group that somebody must be there.
    needed_secs: f32,
    /// Share of what they darken that they alone explained lately, where others share their blob; and for how long that has
    /// been hardly anything, beside somebody who came earlier.
    alone_share: f32,
    redundant_secs: f32,
    /// Whether they were ever seen far from everybody else, and so are nobody's part; and for how long one has explained as
    /// much as they and somebody who came earlier.
    was_far: bool,
    one_secs: f32,
    /// For how long, while nobody else was in their blob, two small ones have explained clearly more than they alone; and
    /// how much more lately, as a share of what they would darken.
    pair_secs: f32,
    pair_share: f32,
    anchor_m: Vec2,
    still_since_secs: f64,
    evidence: Evidence,
    /// What they look like, as known for certain; and as seen since they were last mixed up with others.
    profile: Profile,
    fresh: Profile,
    /// How tall the body is, as last seen. Stays with the body when names are exchanged: a group is explained by who is
    /// in it, whatever they are called.
    height_m: Option<f32>,
    /// How bright the body was beside the floor when last seen alone. Clothes look brighter in one place than in another,
    /// so that is forgotten soon. Stays with the body as well.
    tone: Option<f32>,
    /// Their area while they had a blob to themselves, as a multiple of what somebody so tall darkens.
    fullness: Option<f32>,
    /// Those who may have been taken for each other since they met share a number.
    meeting: Option<u32>,
    /// Distance of the nearest other visitor.
    nearest_m: f32,
    course: leaving::Course,
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
        let known_m = self.height_m.or_else(|| self.profile.height_m());
        Member {
            tone: self.tone,
            ..Member::new(self.state.at_m, known_m.unwrap_or(usual_m))
        }
    }

    /// Each is called what the other was, and known by what the other looked like; both stay where they are.
    fn exchange_names(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.id, &mut other.id);
        std::mem::swap(&mut self.first_secs, &mut other.first_secs);
        std::mem::swap(&mut self.profile, &mut other.profile);
    }

    /// Takes a measured height in, of which so much is believed.
    fn learn_height(&mut self, seen_m: f32, believed: f32) {
        let height_m = self.height_m.get_or_insert(seen_m);
        *height_m += believed * (seen_m - *height_m);
    }

    /// Takes in how much they darken who have a blob to themselves, as a multiple of what somebody so tall does.
    fn learn_fullness(&mut self, seen: f32, dt_secs: f32) {
        let fullness = self.fullness.get_or_insert(seen);
        let believed = 1.0 - (-dt_secs / FULLER_SECS).exp();
        *fullness = seen.min(*fullness + believed * (seen - *fullness));
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
    velocity_mps: DVec2,
    walked: bool,
    lost_secs: f64,
    profile: Profile,
}

/// Somebody in a blob whom nobody knew of, how tall they are where that was seen, and whether they were looked at for long
/// enough to be told of at once.
struct Newcomer {
    blob: usize,
    at_m: Vec2,
    height_m: Option<f32>,
    is_sure: bool,
}

/// Follows visitors; keeps its memory from frame to frame.
pub(super) struct Tracker {
    params: TrackingParams,
    next_id: u32,
    time_secs: f64,
    visitors: Vec<Visitor>,
    /// Of those who went, for those who come.
    spare_outlines: Vec<Vec<DVec2>>,
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
    newcomers: Vec<Newcomer>,
    meetings: u32,
    /// How many came into the picture lately who were not expected there, each fading away.
    arrivals: f32,
    /// Who of the visitors has walked out of the picture.
    left: Vec<bool>,
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
            spare_outlines: Vec::new(),
            lost: Vec::new(),
            tracks: Vec::new(),
            told: 0,
            assignment: Assignment::default(),
            tracer: Tracer::default(),
            cold_feet: Vec::new(),
            owners: Vec::new(),
            samples: Vec::new(),
            rivals: Vec::new(),
            groups: GroupFinder::new(params),
            members: Vec::new(),
            member_of: Vec::new(),
            newcomers: Vec::new(),
            meetings: 0,
            arrivals: 0.0,
            left: Vec::new(),
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
        self.see_off(sight);
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
        self.settle();
        self.unite(sight.dt_secs);
        self.take_back_parts(sight);
        self.welcome(sight);
        self.part();
        self.put_down(sight);
        self.confirm(sight.dt_secs);
        self.tell(sight);
        self.tracks()
    }

    /// Writes down everybody who has an id, by ascending id.
    fn tell(&mut self, sight: &Sight<'_>) {
        let still_radius_m = self.params.still_radius_m;
        for visitor in &mut self.visitors {
            if visitor.own_secs >= sight.time_secs {
                visitor.last_seen = visitor.state;
            }
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

/// The outline of a blob, without corners that lie where there is no floor.
fn outline(blob: &Blob, sight: &Sight<'_>, tracer: &mut Tracer, to: &mut Vec<DVec2>) {
    to.clear();
    // Border pixels lie in the mask, so their coordinates are within the picture.
    let corners = tracer.trace(sight.mask, blob.first).iter();
    let corners = corners.map(|&(x, y)| (x.unsigned_abs() as usize, y.unsigned_abs() as usize));
    let areas_m2 = sight.floor.areas_m2();
    let on_floor = corners.filter(|&(x, y)| areas_m2[y * sight.mask.width() + x] > 0.0);
    to.extend(on_floor.map(|(x, y)| sight.floor.place_m(x, y).as_dvec2()));
}
