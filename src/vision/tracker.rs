//! Multi-object tracking: keeps one track per visitor from frame to frame.
//!
//! Blobs are assigned to tracks optimally by their foot points. A blob without a track can be a fragment of a tracked
//! visitor (for example, a floor joint cuts a shadow, or the legs are apart). Otherwise it starts a new candidate. A
//! track without its own blob continues inside a shared blob for `coast_secs`, because visitors meet and separate. Then
//! the track is lost, but its id is remembered for a visitor who returns.

mod ambiguity;
mod association;
mod duplicates;
mod event;
mod exits;
mod fragments;
mod id_swap;
mod identity;
mod lifecycle;
mod localization;
mod meetings;
mod phase;
mod rigidity;
mod schedule;
mod walk;

use glam::{DVec2, Mat2, Vec2};

use crate::geometry::Visitor;

use super::TrackingParams;
use super::agitation::Agitation;
use super::assignment::Assignment;
use super::blobs::{Blob, Sample};
use super::foot::TYPICAL_HEIGHT_SHARE;
use super::group::{GroupFitter, Member};
use super::height_profile::HeightProfile;
use super::kalman::{Kalman, Measurement};
use super::outline::Tracer;
use super::segmented_frame::SegmentedFrame;
use super::stillness::Stillness;
use event::Events;
pub use event::{Decision, TrackEvent};
use identity::Identity;
use meetings::Meetings;
use phase::Phase;
use rigidity::Rigidity;
use schedule::{Schedule, Work};
use walk::Walk;

/// Time constant with which the velocity of a track without a detection decays, in seconds.
const MISSED_SLOWDOWN_SECS: f32 = 0.5;
/// Standard deviation of a position found by the group fit, in meters.
const GROUP_POSITION_SPREAD_M: f32 = 0.12;
/// Time constant with which the area factor of a track increases, in seconds. It is longer than a stride: spread legs,
/// or a visitor who is not detected yet, enlarge a blob only for a short time.
const AREA_GROWTH_SECS: f32 = 1.2;
/// A track that was ever detected this far from its birth position, in meters, belongs to a visitor who walked in, not
/// to an object.
const WALKED_M: f32 = 0.4;
/// Speed with which the search radius around a lost track grows, in m/s.
const RETURN_SPEED_MPS: f64 = 1.0;
/// Upper limit of the search radius around a lost track, in meters.
const RETURN_DISTANCE_M: f64 = 2.5;

/// Number of a followed body within the tracker, also of a candidate. It stays with the body in an id swap, and is never
/// used again, so it can be stored where an index into the list of tracks would become wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TrackKey(u32);

/// Complete state of one track. A candidate has no id; a published track has one.
struct TrackState {
    key: TrackKey,
    identity: Identity,
    kalman: Kalman,
    /// Time of the first detection of this visitor's body. It stays with the body in an id swap.
    birth_secs: f64,
    /// Position of the first detection of this body.
    birth_m: Vec2,
    /// Whether the body was ever detected at least `WALKED_M` from its birth position.
    has_walked: bool,
    /// Time of the last detection: either an own blob, or enough exclusive area in a shared blob.
    last_detected_secs: f64,
    /// Time of the last frame with any foreground at the position of the track.
    last_foreground_secs: f64,
    /// Filter state at `last_detected_secs`.
    last_detected: Kalman,
    /// Time for which the foot point has coincided with that of an earlier track.
    duplicate_secs: f32,
    /// Whether this track is certainly a visitor and not a fragment of another one.
    is_independent: bool,
    /// Time for which this track has explained as much area of its own in a group as a new candidate must explain.
    strong_evidence_secs: f32,
    /// Share of the silhouette that only this track explains in a shared blob, averaged over a short time.
    exclusive_share: f32,
    /// Time for which `exclusive_share` has been very low while another track is close.
    redundant_secs: f32,
    /// Whether the track was ever far from all others. If so, the track is not a fragment of another one.
    was_isolated: bool,
    /// Time for which one visitor has explained the foreground as well as this track and an earlier one together.
    mergeable_secs: f32,
    /// Time for which a fit of two small visitors has explained the blob clearly better than this track. Counted only while
    /// this track is the only one in its blob.
    splittable_secs: f32,
    /// Additional area that two small visitors explain, as a share of the silhouette, averaged over time.
    split_gain_share: f32,
    stillness: Stillness,
    /// Motion of the outline.
    agitation: Agitation,
    rigidity: Rigidity,
    walk: Walk,
    detection: Detection,
    phase: Phase,
    /// Heights measured since the last possible id switch. They may belong to another visitor.
    recent_profile: HeightProfile,
    /// Last estimate of the height of the body, in meters. It stays with the body in an id swap, because the group fit
    /// depends on bodies, not on ids.
    height_m: Option<f32>,
    /// Tone of the body when it was last alone in a blob. It varies with the position on the floor and is therefore
    /// updated quickly. It stays with the body in an id swap.
    body_tone: Option<f32>,
    /// Measured area as a multiple of the predicted silhouette area, from frames with an own blob.
    area_factor: Option<f32>,
    /// Number shared by all tracks that may have exchanged ids since they met. `None` if the id of this track is
    /// certain.
    ambiguity_id: Option<u32>,
    /// Distance to the nearest other track, in meters.
    nearest_track_m: f32,
    /// Cost of the blob that was assigned in this frame, in meters.
    assignment_cost_m: Option<f32>,
    /// Fit of this track in its group, in this frame.
    group_fit: Option<GroupFit>,
    /// Number of published tracks in the blob of this track in the last frame.
    group_size: usize,
    /// Position and velocity at the last time at which the track had a blob to itself.
    course: exits::Course,
    /// Public data of this track, as it is published.
    output: Visitor,
}

impl TrackState {
    /// Creates a candidate from its first detection. `output` contains the area of the blob.
    fn new(key: TrackKey, first: &Measurement, output: Visitor, now_secs: f64) -> Self {
        let kalman = Kalman::new(first);
        Self {
            key,
            identity: Identity::candidate(now_secs),
            kalman,
            birth_secs: now_secs,
            birth_m: first.position_m,
            has_walked: false,
            last_detected_secs: now_secs,
            last_foreground_secs: now_secs,
            last_detected: kalman,
            duplicate_secs: 0.0,
            is_independent: false,
            strong_evidence_secs: 0.0,
            exclusive_share: 1.0,
            redundant_secs: 0.0,
            was_isolated: false,
            mergeable_secs: 0.0,
            splittable_secs: 0.0,
            split_gain_share: 0.0,
            stillness: Stillness::new(first.position_m, now_secs),
            agitation: Agitation::default(),
            rigidity: Rigidity::new(output.centroid_m, now_secs),
            walk: Walk::default(),
            detection: Detection::Missed,
            phase: Phase::candidate(false),
            recent_profile: HeightProfile::default(),
            height_m: None,
            body_tone: None,
            area_factor: None,
            ambiguity_id: None,
            nearest_track_m: f32::INFINITY,
            assignment_cost_m: None,
            group_fit: None,
            group_size: 0,
            course: exits::Course::new(&kalman, output.area_m2, now_secs),
            output,
        }
    }

    /// Returns whether the track can be a member of a group that shares a blob.
    fn can_share_blob(&self) -> bool {
        self.id().is_some() || self.phase.is_group_candidate()
    }

    /// Returns the track as a member for the group fit, at its predicted position.
    fn member(&self, params: &TrackingParams) -> Member {
        let typical_m = TYPICAL_HEIGHT_SHARE * params.tallest_m;
        let known_m = self.height_m.or_else(|| self.identity.heights.height_m());
        Member {
            body_tone: self.body_tone,
            ..Member::new(self.kalman.position_m, known_m.unwrap_or(typical_m))
        }
    }

    /// Moves the height of the body towards a measured height by the share `rate` of the difference.
    fn learn_height(&mut self, measured_m: f32, rate: f32) {
        let height_m = self.height_m.get_or_insert(measured_m);
        *height_m += rate * (measured_m - *height_m);
    }

    /// Updates the area factor with a measurement from a frame in which the track had its own blob.
    fn learn_area_factor(&mut self, measured: f32, dt_secs: f32) {
        let area_factor = self.area_factor.get_or_insert(measured);
        let rate = 1.0 - (-dt_secs / AREA_GROWTH_SECS).exp();
        *area_factor = measured.min(*area_factor + rate * (measured - *area_factor));
    }
}

/// Result of the detection of a track in the current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    /// No detection.
    Missed,
    /// The blob with this index is assigned to this track.
    Own(usize),
    /// The track is inside the blob with this index, which belongs to another track.
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

/// Fit of one track in its group, in one frame.
#[derive(Clone, Copy, Debug)]
struct GroupFit {
    /// Area that the track alone explains, in m².
    explained_m2: f32,
    /// Area from which the track counts as detected, in m².
    limit_m2: f32,
    /// Distance between the fitted and the predicted foot point, in meters.
    off_m: f32,
}

/// A published track that is no longer detected.
struct LostTrack {
    identity: Identity,
    position_m: DVec2,
    velocity_mps: DVec2,
    lost_secs: f64,
}

/// New candidate inside a blob that tracked visitors already occupy.
struct GroupCandidate {
    blob: usize,
    position_m: Vec2,
    /// Height in meters, or `None` if it was not measured.
    height_m: Option<f32>,
    /// Whether the evidence has lasted long enough to publish the candidate immediately.
    confirm_at_once: bool,
    /// The test that found it, with the measured value and its limit.
    found_by: (Decision, [f32; 2]),
}

/// Multi-object tracker. Its buffers are reused from frame to frame.
pub(super) struct Tracker {
    params: TrackingParams,
    next_id: u32,
    next_key: u32,
    time_secs: f64,
    tracks: Vec<TrackState>,
    /// Outline buffers of removed tracks, reused for new ones.
    spare_outlines: Vec<Vec<Vec2>>,
    lost: Vec<LostTrack>,
    published: Vec<Visitor>,
    /// Covariance of the foot point of each published track.
    covariances_m2: Vec<Mat2>,
    /// Number of valid entries of `published`.
    published_count: usize,
    assignment: Assignment,
    tracer: Tracer,
    /// Foot point of each blob, estimated without the prediction of a track.
    unassigned_feet_m: Vec<Vec2>,
    /// Track to which each blob was assigned in this frame. A blob keeps its owner if that track is removed: the blob is
    /// explained, so it does not start a candidate.
    blob_owners: Vec<Option<TrackKey>>,
    samples: Vec<Sample>,
    /// Positions of the other tracks in the blob being measured.
    rivals_m: Vec<Vec2>,
    group_fitter: GroupFitter,
    members: Vec<Member>,
    /// Track index of each entry of `members`.
    member_tracks: Vec<usize>,
    candidates: Vec<GroupCandidate>,
    /// The last ambiguity id in use.
    last_ambiguity_id: u32,
    /// Number of visitors who recently arrived unexpectedly, with exponential decay.
    recent_arrivals: f32,
    /// For each track: whether it has probably left the image.
    exited: Vec<bool>,
    schedule: Schedule,
    /// Indexes of the blobs in the last frame that are objects.
    static_blobs: Vec<usize>,
    first_frame_secs: Option<f64>,
    events: Events,
    meetings: Meetings,
}

impl Tracker {
    pub(super) fn new(params: &TrackingParams) -> Self {
        Self {
            params: params.clone(),
            next_id: 1,
            next_key: 0,
            time_secs: 0.0,
            tracks: Vec::new(),
            spare_outlines: Vec::new(),
            lost: Vec::new(),
            published: Vec::new(),
            covariances_m2: Vec::new(),
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
            schedule: Schedule::default(),
            static_blobs: Vec::new(),
            first_frame_secs: None,
            events: Events::default(),
            meetings: Meetings::default(),
        }
    }

    /// Uses other parameters from the next frame on. All tracks stay.
    pub(super) fn change_params(&mut self, params: &TrackingParams) {
        self.params.clone_from(params);
        self.group_fitter.change_params(params);
    }

    /// Returns the published tracks of the last frame, ordered by id.
    pub(super) fn published(&self) -> &[Visitor] {
        &self.published[..self.published_count]
    }

    /// Returns the covariance of the foot point of each published track, in m².
    pub(super) fn covariances_m2(&self) -> &[Mat2] {
        &self.covariances_m2[..self.published_count]
    }

    /// Returns the decisions of the last frame, in the order in which they were made.
    pub(super) fn events(&self) -> &[TrackEvent] {
        self.events.as_slice()
    }

    /// Advances the time when there is no usable frame. All tracks keep their positions.
    pub(super) fn hold(&mut self, dt_secs: f32) {
        self.events.clear();
        let dt = f64::from(dt_secs);
        for track in &mut self.tracks {
            track.last_detected_secs += dt;
            track.last_foreground_secs += dt;
        }
        for output in &mut self.published[..self.published_count] {
            output.age_secs += dt;
            output.still_secs += dt;
            output.velocity_mps = Vec2::ZERO;
        }
    }

    /// Changes all tracks to lost tracks. Their ids can be recovered.
    pub(super) fn lose_all(&mut self) {
        self.published_count = 0;
        for index in (0..self.tracks.len()).rev() {
            let secs = self.undetected_secs(index);
            self.record(index, Decision::Lost, [secs, f32::INFINITY]);
            self.lose(index);
        }
    }

    /// Updates all tracks with one frame and returns the published tracks. The steps need the results of the steps before them.
    pub(super) fn update(&mut self, frame: &SegmentedFrame<'_>) -> &[Visitor] {
        self.events.clear();
        self.time_secs = frame.time_secs;
        self.schedule.advance(frame.time_secs, frame.dt_secs);
        self.predict(frame);
        self.associate(frame);
        self.explain(frame);
        self.decide(frame);
        self.publish(frame);
        self.published()
    }

    /// Moves all tracks to the time of the frame, and finds those that have left the image.
    fn predict(&mut self, frame: &SegmentedFrame<'_>) {
        for track in &mut self.tracks {
            track
                .kalman
                .predict(frame.dt_secs, self.params.acceleration_mps2);
            track.detection = Detection::Missed;
            track.assignment_cost_m = None;
            track.group_fit = None;
        }
        self.mark_exited(frame);
    }

    /// Gives each blob an owner, and each track without a blob of its own the blob that it shares.
    fn associate(&mut self, frame: &SegmentedFrame<'_>) {
        self.assign_blobs(frame);
        self.share_blobs(frame);
    }

    /// Measures each track in its blob, and finds out which tracks may have been confused.
    fn explain(&mut self, frame: &SegmentedFrame<'_>) {
        for index in 0..self.tracks.len() {
            if let Some(blob) = self.tracks[index].detection.blob() {
                self.measure(index, blob, frame);
            } else {
                let track = &mut self.tracks[index];
                track.kalman.slow_down(frame.dt_secs, MISSED_SLOWDOWN_SECS);
            }
        }
        self.locate_groups(frame);
        self.record_meetings();
        self.observe_walks();
        self.mark_ambiguous();
        self.resolve_ambiguities();
    }

    /// Removes, merges, creates and publishes tracks.
    fn decide(&mut self, frame: &SegmentedFrame<'_>) {
        self.remove_duplicates(frame.dt_secs);
        self.merge_fragments(frame);
        self.create_candidates(frame);
        self.lose_undetected();
        self.absorb_static_objects(frame);
        self.confirm(frame.dt_secs);
        self.advance_phases();
    }

    /// Records a decision about the track at `index`, with the measured value and its limit.
    fn record(&mut self, index: usize, decision: Decision, evidence: [f32; 2]) {
        (self.events).add(decision, &self.tracks[index], None, evidence);
    }

    /// Returns the index of a track, or `None` if it was removed.
    fn index_of(&self, key: TrackKey) -> Option<usize> {
        self.tracks.iter().position(|track| track.key == key)
    }

    /// Writes all tracks with an id to `published`, ordered by id.
    fn publish(&mut self, frame: &SegmentedFrame<'_>) {
        for track in &mut self.tracks {
            if track.last_detected_secs >= frame.time_secs {
                track.last_detected = track.kalman;
            }
            if let Detection::Own(blob) = track.detection {
                track.has_walked |= track.kalman.position_m.distance(track.birth_m) > WALKED_M;
                let pixel_m = frame.blobs.blobs()[blob].pixel_m();
                let centroid_m = track.output.centroid_m;
                (track.rigidity).add(centroid_m, pixel_m, frame.time_secs, frame.dt_secs);
            }
            let (foot_m, agitation_mps) = (track.kalman.position_m, track.agitation.mps);
            (track.stillness).update(foot_m, agitation_mps, frame.time_secs, &self.params);
        }
        self.tracks
            .sort_unstable_by_key(|v| v.id().unwrap_or(u32::MAX));
        self.published_count = self.tracks.iter().filter(|v| v.id().is_some()).count();
        while self.published.len() < self.published_count {
            self.published.push(Visitor::default());
        }
        self.covariances_m2.clear();
        let confirmed = self.tracks.iter_mut().filter(|v| v.id().is_some());
        for (to, track) in self.published.iter_mut().zip(confirmed) {
            let foot_m = if frame.feet.can_locate_feet() {
                track.kalman.position_m
            } else {
                track.output.centroid_m
            };
            let (id, since_secs) = (track.id(), track.identity.since_secs());
            let output = &mut track.output;
            output.id = id.unwrap_or_default();
            output.foot_m = foot_m;
            output.radius_m = (f64::from(output.area_m2) / std::f64::consts::PI).sqrt() as f32;
            output.velocity_mps = track.kalman.velocity_mps;
            output.age_secs = frame.time_secs - since_secs;
            output.still_secs = track.stillness.secs(frame.time_secs);
            output.agitation_mps = track.agitation.mps;
            output.on_surface = frame.surface.contains(foot_m);
            to.clone_from(output);
            self.covariances_m2.push(track.kalman.covariance_m2());
        }
    }
}

/// Writes the outline of a blob to `to`. Corners without a floor position are left out.
fn outline(blob: &Blob, frame: &SegmentedFrame<'_>, tracer: &mut Tracer, to: &mut Vec<Vec2>) {
    to.clear();
    // Border pixels are in the mask, so their coordinates are not negative.
    let corners = tracer.trace(frame.mask, blob.first_pixel).iter();
    let corners = corners.map(|&(x, y)| (x.unsigned_abs() as usize, y.unsigned_abs() as usize));
    let areas_m2 = frame.floor.areas_m2();
    let on_floor = corners.filter(|&(x, y)| areas_m2[y * frame.mask.width() + x] > 0.0);
    to.extend(on_floor.map(|(x, y)| frame.floor.position_m_of(x, y)));
}
