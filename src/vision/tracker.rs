//! Visitors followed from frame to frame: who is who, who came, who went.
//!
//! Blobs are given to visitors by their feet, all at once and optimally. A blob that nobody takes is a part of a visitor
//! whose shadow or body explains it (legs part, a joint of the floor cuts), or somebody new. A visitor without a blob of
//! their own is followed within the foreground for a while (people meet and part), then kept in mind for their return.

mod ambiguity;
mod association;
mod exits;
mod fragments;
mod id_swap;
mod lifecycle;
mod localization;

use glam::{DVec2, Vec2};

use crate::geometry::Surface;

use super::TrackingParams;
use super::assignment::Assignment;
use super::background::Background;
use super::bit_mask::BitMask;
use super::blobs::{Blob, BlobFinder, Sample};
use super::floor::FloorTable;
use super::foot::{FootFinder, TYPICAL_HEIGHT_SHARE};
use super::group::{GroupFitter, Member};
use super::height_profile::HeightProfile;
use super::kalman::Kalman;
use super::outline::Tracer;

/// Somebody who is not seen slows down within this time.
const MISSED_SLOWDOWN_SECS: f32 = 0.5;
/// Spread of a place found for somebody in a group.
const GROUP_POSITION_SPREAD_M: f32 = 0.12;
/// Legs apart, and somebody not noticed yet, darken more than who stands alone; what seems more is believed so slowly, over
/// more than a stride.
const AREA_GROWTH_SECS: f32 = 1.2;
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
pub(super) struct SegmentedFrame<'a> {
    pub(super) time_secs: f64,
    pub(super) dt_secs: f32,
    /// What never moved for so long is a thing.
    pub(super) scenery_secs: f32,
    /// Smaller blobs are no newcomers; they may be what is seen of somebody known.
    pub(super) min_candidate_area_m2: f32,
    /// Brightness of all pixels, 8 bit.
    pub(super) levels: &'a [u8],
    pub(super) blobs: &'a BlobFinder,
    pub(super) mask: &'a BitMask,
    pub(super) background: &'a Background,
    pub(super) floor: &'a FloorTable,
    pub(super) feet: &'a FootFinder,
    pub(super) surface: &'a Surface,
}

impl SegmentedFrame<'_> {
    /// Whether a shadow at a point of the floor could be seen.
    pub(super) fn is_observable(&self, floor_m: Vec2) -> bool {
        let index = self.floor.pixel_index_at(floor_m);
        index.is_some_and(|index| self.background.is_observable(index))
    }
}

/// Somebody followed, told of or not yet.
struct TrackState {
    id: Option<u32>,
    kalman: Kalman,
    hits: u32,
    /// Not told of yet, and seen only as what nobody else explains of a blob.
    is_group_candidate: bool,
    /// When and where this body was first seen, and whether it ever left that place. Stays with the body when names
    /// are exchanged.
    birth_secs: f64,
    birth_m: Vec2,
    has_walked: bool,
    /// Whether the one whose name they were given back had left theirs.
    had_walked_before_loss: bool,
    id_birth_secs: f64,
    /// When there last was a blob of their own, and when there last was foreground at all.
    last_detected_secs: f64,
    last_foreground_secs: f64,
    /// Where they were and how they moved at `last_detected_secs`.
    last_detected: Kalman,
    /// For how long the foot has been that of somebody seen earlier.
    duplicate_secs: f32,
    /// Whether they are known to be somebody, and not a part of somebody else.
    is_independent: bool,
    /// For how long they have explained so much in a group that somebody must be there.
    strong_evidence_secs: f32,
    /// Share of what they darken that they alone explained lately, where others share their blob; and for how long that has
    /// been hardly anything, beside somebody who came earlier.
    exclusive_share: f32,
    redundant_secs: f32,
    /// Whether they were ever seen far from everybody else, and so are nobody's part; and for how long one has explained as
    /// much as they and somebody who came earlier.
    was_isolated: bool,
    mergeable_secs: f32,
    /// For how long, while nobody else was in their blob, two small ones have explained clearly more than they alone; and
    /// how much more lately, as a share of what they would darken.
    splittable_secs: f32,
    split_gain_share: f32,
    still_anchor_m: Vec2,
    still_since_secs: f64,
    detection: Detection,
    /// What they look like, as known for certain; and as seen since they were last mixed up with others.
    height_profile: HeightProfile,
    recent_profile: HeightProfile,
    /// How tall the body is, as last seen. Stays with the body when names are exchanged: a group is explained by who is
    /// in it, whatever they are called.
    height_m: Option<f32>,
    /// How bright the body was beside the floor when last seen alone. Clothes look brighter in one place than in another,
    /// so that is forgotten soon. Stays with the body as well.
    body_tone: Option<f32>,
    /// Their area while they had a blob to themselves, as a multiple of what somebody so tall darkens.
    area_factor: Option<f32>,
    /// Those who may have been taken for each other since they met share a number.
    ambiguity_id: Option<u32>,
    /// Distance of the nearest other visitor.
    nearest_track_m: f32,
    course: leaving::Course,
    output: Track,
}

impl TrackState {
    /// Whether they may be one of several in a blob.
    fn can_share_blob(&self) -> bool {
        self.id.is_some() || self.is_group_candidate
    }

    /// Them as one of a group, where they are expected.
    fn member(&self, params: &TrackingParams) -> Member {
        let usual_m = TYPICAL_HEIGHT_SHARE * params.tallest_m;
        let known_m = self.height_m.or_else(|| self.height_profile.height_m());
        Member {
            body_tone: self.body_tone,
            ..Member::new(self.kalman.position_m, known_m.unwrap_or(usual_m))
        }
    }

    /// Each is called what the other was, and known by what the other looked like; both stay where they are.
    fn swap_ids_with(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.id, &mut other.id);
        std::mem::swap(&mut self.first_frame_secs, &mut other.id_birth_secs);
        std::mem::swap(&mut self.height_profile, &mut other.height_profile);
    }

    /// Takes a measured height in, of which so much is believed.
    fn learn_height(&mut self, measured_m: f32, believed: f32) {
        let height_m = self.height_m.get_or_insert(measured_m);
        *height_m += believed * (measured_m - *height_m);
    }

    /// Takes in how much they darken who have a blob to themselves, as a multiple of what somebody so tall does.
    fn learn_area_factor(&mut self, seen: f32, dt_secs: f32) {
        let area_factor = self.area_factor.get_or_insert(seen);
        let believed = 1.0 - (-dt_secs / AREA_GROWTH_SECS).exp();
        *area_factor = seen.min(*area_factor + believed * (seen - *area_factor));
    }
}

/// What a visitor has in the present frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    Missed,
    Own(usize),
    Shared(usize),
}

impl Detection {
    fn blob(self) -> Option<usize> {
        match self {
            Self::Missed => None,
            Self::Own(blob) | Self::Shared(blob) => Some(blob),
        }
    }
}

/// Somebody told of who is gone.
struct LostTrack {
    id: u32,
    position_m: DVec2,
    id_birth_secs: f64,
    velocity_mps: DVec2,
    has_walked: bool,
    lost_secs: f64,
    height_profile: HeightProfile,
}

/// Somebody in a blob whom nobody knew of, how tall they are where that was seen, and whether they were looked at for long
/// enough to be told of at once.
struct GroupCandidate {
    blob: usize,
    position_m: Vec2,
    height_m: Option<f32>,
    confirm_at_once: bool,
}

/// Follows visitors; keeps its memory from frame to frame.
pub(super) struct Tracker {
    params: TrackingParams,
    next_id: u32,
    time_secs: f64,
    tracks: Vec<TrackState>,
    /// Of those who went, for those who come.
    spare_outlines: Vec<Vec<DVec2>>,
    lost: Vec<LostTrack>,
    published: Vec<Track>,
    published_count: usize,
    assignment: Assignment,
    tracer: Tracer,
    unassigned_feet_m: Vec<Vec2>,
    /// The visitor each blob belongs to.
    blob_owners: Vec<Option<usize>>,
    samples: Vec<Sample>,
    rivals_m: Vec<Vec2>,
    group_fitter: GroupFitter,
    members: Vec<Member>,
    member_tracks: Vec<usize>,
    candidates: Vec<GroupCandidate>,
    last_ambiguity_id: u32,
    /// How many came into the picture lately who were not expected there, each fading away.
    recent_arrivals: f32,
    /// Who of the visitors has walked out of the picture.
    exited: Vec<bool>,
    frame_count: u32,
    static_blobs: Vec<usize>,
    first_frame_secs: Option<f64>,
    is_settling: bool,
}

impl Tracker {
    pub(super) fn new(params: &TrackingParams) -> Self {
        Self {
            params: params.clone(),
            next_id: 1,
            time_secs: 0.0,
            tracks: Vec::new(),
            spare_outlines: Vec::new(),
            lost: Vec::new(),
            published: Vec::new(),
            published_count: 0,
            assignment: Assignment::default(),
            tracer: Tracer::default(),
            unassigned_feet_m: Vec::new(),
            blob_owners: Vec::new(),
            samples: Vec::new(),
            rivals_m: Vec::new(),
            group_fitter: GroupFitter::new(params),
            members: Vec::new(),
            member_tracks: Vec::new(),
            candidates: Vec::new(),
            last_ambiguity_id: 0,
            recent_arrivals: 0.0,
            exited: Vec::new(),
            frame_count: 0,
            static_blobs: Vec::new(),
            first_frame_secs: None,
            is_settling: true,
        }
    }

    /// Who was there in the last frame.
    pub(super) fn published(&self) -> &[Track] {
        &self.published[..self.published_count]
    }

    /// Time goes on, but nothing can be seen: everybody stays where they were.
    pub(super) fn hold(&mut self, dt_secs: f32) {
        let dt = f64::from(dt_secs);
        for track in &mut self.tracks {
            track.last_detected_secs += dt;
            track.last_foreground_secs += dt;
        }
        for output in &mut self.published[..self.published_count] {
            output.age_secs += dt;
            output.still_secs += dt;
            output.velocity_mps = DVec2::ZERO;
        }
    }

    /// Everybody is gone, and kept in mind.
    pub(super) fn lose_all(&mut self) {
        self.published_count = 0;
        for index in (0..self.tracks.len()).rev() {
            self.lose(index);
        }
    }

    /// Takes one frame and tells who is there.
    pub(super) fn update(&mut self, frame: &SegmentedFrame<'_>) -> &[Track] {
        self.time_secs = frame.time_secs;
        self.frame_count = self.frame_count.wrapping_add(1);
        for track in &mut self.tracks {
            track
                .kalman
                .predict(frame.dt_secs, self.params.acceleration_mps2);
            track.detection = Detection::Missed;
        }
        self.mark_exited(frame);
        self.assign_blobs(frame);
        self.share_blobs(frame);
        for index in 0..self.tracks.len() {
            if let Some(blob) = self.tracks[index].detection.blob() {
                self.measure(index, blob, frame);
            } else {
                let track = &mut self.tracks[index];
                track.kalman.slow_down(frame.dt_secs, MISSED_SLOWDOWN_SECS);
            }
        }
        self.locate_groups(frame);
        self.mark_ambiguous();
        self.resolve_ambiguities();
        self.remove_duplicates(frame.dt_secs);
        self.merge_fragments(frame);
        self.create_candidates(frame);
        self.lose_undetected();
        self.absorb_static_objects(frame);
        self.confirm(frame.dt_secs);
        self.publish(frame);
        self.published()
    }

    /// Writes down everybody who has an id, by ascending id.
    fn publish(&mut self, frame: &SegmentedFrame<'_>) {
        let still_radius_m = self.params.still_radius_m;
        for track in &mut self.tracks {
            if track.last_detected_secs >= frame.time_secs {
                track.last_detected = track.kalman;
            }
            if matches!(track.detection, Detection::Own(_)) {
                track.has_walked |= track.kalman.position_m.distance(track.birth_m) > WALKED_M;
            }
            if track.kalman.position_m.distance(track.still_anchor_m) > still_radius_m {
                track.still_anchor_m = track.kalman.position_m;
                track.still_since_secs = frame.time_secs;
            }
        }
        self.tracks
            .sort_unstable_by_key(|v| v.id.unwrap_or(u32::MAX));
        self.published_count = self.tracks.iter().filter(|v| v.id.is_some()).count();
        while self.published.len() < self.published_count {
            self.published.push(Track::default());
        }
        let confirmed = self.tracks.iter_mut().filter(|v| v.id.is_some());
        for (to, track) in self.published.iter_mut().zip(confirmed) {
            let foot_m = if frame.feet.can_locate_feet() {
                track.kalman.position_m
            } else {
                track.output.centroid_m.as_vec2()
            };
            let output = &mut track.output;
            output.id = track.id.unwrap_or_default();
            output.foot_m = foot_m.as_dvec2();
            output.radius_m = (output.area_m2 / std::f64::consts::PI).sqrt();
            output.velocity_mps = track.kalman.velocity_mps.as_dvec2();
            output.age_secs = frame.time_secs - track.id_birth_secs;
            output.still_secs = frame.time_secs - track.still_since_secs;
            output.on_surface = frame.surface.contains(foot_m);
            to.copy_from(output);
        }
    }
}

/// The outline of a blob, without corners that lie where there is no floor.
fn outline(blob: &Blob, frame: &SegmentedFrame<'_>, tracer: &mut Tracer, to: &mut Vec<DVec2>) {
    to.clear();
    // Border pixels lie in the mask, so their coordinates are within the picture.
    let corners = tracer.trace(frame.mask, blob.first_pixel).iter();
    let corners = corners.map(|&(x, y)| (x.unsigned_abs() as usize, y.unsigned_abs() as usize));
    let areas_m2 = frame.floor.areas_m2();
    let on_floor = corners.filter(|&(x, y)| areas_m2[y * frame.mask.width() + x] > 0.0);
    to.extend(on_floor.map(|(x, y)| frame.floor.position_m_of(x, y).as_dvec2()));
}
