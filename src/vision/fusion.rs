//! Fuses the tracks of several cameras that see one floor into one list of visitors.
//!
//! In: the tracks of one camera after the other, each with the covariance of its foot point. Out: the visitors, each once, with
//! an id that stays when the visitor walks from the view of one camera into that of another one. A track of a camera is *linked* to a
//! visitor. Links change slowly: a track that contradicts the other cameras keeps its visitor for `SPLIT_SECS`, and two visitors
//! become one only after `MERGE_SECS`. A single camera is not fused: its tracks are the visitors.

mod agreement;
mod links;
#[cfg(test)]
mod tests;
mod watched_floor;

use glam::{Mat2, Vec2};

use super::assignment::Assignment;
use crate::geometry::{Surface, Visitor};
use agreement::PairWatch;

pub use agreement::Agreement;
pub use watched_floor::WatchedFloor;

/// Largest number of cameras of a site.
pub const MAX_CAMERAS: usize = 8;
/// Time without tracks of a camera after which it counts as lost, in seconds. The tracks of a live camera are as old as its frame.
const LOST_SECS: f64 = 1.0;
/// Standard deviation of the difference between the foot points of a visitor in two cameras that their filters cannot know, in meters:
/// errors of both calibrations, and a foot point that depends on the side from which the camera sees the body.
const BIAS_M: f32 = 0.1;
/// Distance from the border of what a camera watches below which the foot points become less certain, in meters: about the
/// length of a step, because a foot beyond the border is not seen.
const BORDER_M: f32 = 0.6;
/// Additional standard deviation of a foot point at the border, in meters: half the length of a body on the floor.
const BORDER_SPREAD_M: f32 = 0.4;
/// Standard deviation by which a visitor changes the velocity until the next frame of another camera, in m/s.
const CHANGE_MPS: f32 = 0.7;
/// Longest time for which a track is extrapolated with its velocity, in seconds. After that it waits there for the next frame.
const AHEAD_SECS: f64 = 0.1;
/// Share of the variance of the shown camera below which another camera's silhouette is shown instead.
const BETTER_SHARE: f32 = 0.5;

/// The tracks of one camera at the time of one frame.
#[derive(Clone, Copy, Debug)]
pub struct CameraTracks<'a> {
    /// Index of the camera.
    pub camera: usize,
    /// Time of the frame, on a clock that all cameras share.
    pub time_secs: f64,
    /// The published tracks.
    pub tracks: &'a [Visitor],
    /// Covariance of the foot point of each track, in m².
    pub covariances_m2: &'a [Mat2],
}

/// Position and velocity with their certainty.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    position_m: Vec2,
    velocity_mps: Vec2,
    covariance_m2: Mat2,
}

impl Estimate {
    /// Returns the estimate at a time `secs` later.
    fn later(&self, secs: f64) -> Self {
        let spread_m = CHANGE_MPS * secs as f32;
        Self {
            position_m: self.position_m + self.velocity_mps * secs.min(AHEAD_SECS) as f32,
            covariance_m2: self.covariance_m2 + variance(spread_m),
            ..*self
        }
    }

    /// Returns the square of the Mahalanobis distance between two positions.
    fn distance2(&self, other: &Self) -> f32 {
        let offset_m = other.position_m - self.position_m;
        offset_m.dot((self.covariance_m2 + other.covariance_m2).inverse() * offset_m)
    }

    /// Returns the trace of the covariance: the mean square of the error.
    fn variance_m2(&self) -> f32 {
        self.covariance_m2.x_axis.x + self.covariance_m2.y_axis.y
    }
}

fn variance(spread_m: f32) -> Mat2 {
    Mat2::from_diagonal(Vec2::splat(spread_m * spread_m))
}

/// What is known of one camera.
#[derive(Debug, Default)]
struct Camera {
    watched: WatchedFloor,
    /// Time of the last frame; `None` while the camera is lost.
    time_secs: Option<f64>,
    /// The tracks of the last frame.
    tracks: Vec<Visitor>,
    covariances_m2: Vec<Mat2>,
    /// All tracks that were seen within the last time, also those that are gone.
    links: Vec<Link>,
}

impl Camera {
    /// Returns the estimate of a track at a later time.
    fn estimate(&self, index: usize, now_secs: f64) -> Estimate {
        let track = &self.tracks[index];
        let border = 1.0 - self.watched.margin_m(track.foot_m) / BORDER_M;
        let spread_m = BORDER_SPREAD_M * border.clamp(0.0, 2.0);
        let at_frame = Estimate {
            position_m: track.foot_m,
            velocity_mps: track.velocity_mps,
            covariance_m2: self.covariances_m2[index] + variance(BIAS_M) + variance(spread_m),
        };
        at_frame.later(now_secs - self.time_secs.unwrap_or(now_secs))
    }

    /// Forgets the tracks until the next frame. Their links stay, because the camera can find the same visitors again.
    fn lose(&mut self) {
        self.time_secs = None;
        self.tracks.clear();
        for link in &mut self.links {
            link.index = None;
        }
    }
}

/// A track of one camera, and its visitor.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Id of the track in its camera.
    track: u32,
    /// Index of the track in the last frame; `None` if it is gone.
    index: Option<usize>,
    /// Id of the visitor; `None` while the track waits for one.
    visitor: Option<u32>,
    /// Time of the first frame, or of the last release. Since then, the track waits, or has waited, for a visitor.
    since_secs: f64,
    /// Time of the last frame with this track.
    seen_secs: f64,
    /// Whether the last frame is the first one after a time without this track.
    is_back: bool,
    /// Time since which the track contradicts the other tracks of its visitor; `None` if it agrees.
    apart_since_secs: Option<f64>,
}

impl Link {
    /// Lets the track wait for a visitor.
    fn release(&mut self, now_secs: f64) {
        (self.visitor, self.apart_since_secs, self.since_secs) = (None, None, now_secs);
    }
}

/// A visitor, as several cameras see it.
#[derive(Debug)]
struct Fused {
    id: u32,
    estimate: Estimate,
    /// Time of `estimate`.
    seen_secs: f64,
    /// Time of the first frame.
    since_secs: f64,
    /// Camera whose silhouette is shown.
    shown: usize,
    still_secs: f64,
    /// Older visitor who is at the same place, and the time since which it is.
    same_as: Option<(u32, f64)>,
}

/// Fuses the tracks of several cameras. All buffers are reused: after they have grown, a frame allocates no memory.
pub struct Fusion {
    surface: Surface,
    cameras: Vec<Camera>,
    /// Visitors by ascending id, also those that no camera sees at the moment.
    fused: Vec<Fused>,
    next_id: u32,
    visitors: Vec<Visitor>,
    assignment: Assignment,
    /// Indexes of the links without a visitor, and of the visitors without a track of the same camera.
    waiting: Vec<usize>,
    free: Vec<usize>,
    pairs: Vec<PairWatch>,
}

impl Fusion {
    /// Creates the fusion of `cameras` cameras, at most [`MAX_CAMERAS`]. A difference between two cameras above `drift_max_m` is an
    /// alarm.
    pub fn new(surface: &Surface, cameras: usize, drift_max_m: f32) -> Self {
        Self {
            surface: surface.clone(),
            cameras: (0..cameras.min(MAX_CAMERAS))
                .map(|_| Camera::default())
                .collect(),
            fused: Vec::new(),
            next_id: 1,
            visitors: Vec::new(),
            assignment: Assignment::default(),
            waiting: Vec::new(),
            free: Vec::new(),
            pairs: PairWatch::all(cameras.min(MAX_CAMERAS), drift_max_m),
        }
    }

    /// Uses another surface.
    pub fn set_surface(&mut self, surface: &Surface) {
        self.surface.clone_from(surface);
    }

    /// Returns the visitor to whom a track of a camera belongs; `None` if the track waits for one.
    pub fn visitor_of(&self, camera: usize, track: u32) -> Option<u32> {
        let links = &self.cameras.get(camera)?.links;
        links.iter().find(|link| link.track == track)?.visitor
    }

    /// Forgets the tracks of a camera whose tracker starts again, and with it the ids of the tracks.
    pub fn restart(&mut self, camera: usize) {
        if let Some(camera) = self.cameras.get_mut(camera) {
            camera.lose();
            camera.links.clear();
        }
    }

    /// Sets the floor that a camera watches.
    pub fn set_watched(&mut self, camera: usize, watched: WatchedFloor) {
        if let Some(camera) = self.cameras.get_mut(camera) {
            camera.watched = watched;
        }
    }

    /// Returns the visitors after the last frame, by ascending id.
    pub fn visitors(&self) -> &[Visitor] {
        &self.visitors
    }

    /// Returns how well the cameras agree, for each pair of cameras that saw the same visitors within the last minute.
    pub fn agreements(&self) -> impl Iterator<Item = Agreement> + '_ {
        self.pairs.iter().filter_map(PairWatch::agreement)
    }

    /// Removes the tracks of a camera that sends no frames or that cannot be trusted. The visitors that another camera sees stay.
    pub fn lose(&mut self, camera: usize, now_secs: f64) {
        if let Some(camera) = self.cameras.get_mut(camera) {
            camera.lose();
        }
        self.update(now_secs);
    }

    /// Adds the tracks of one frame, and returns the visitors at its time.
    pub fn observe(&mut self, seen: &CameraTracks<'_>) -> &[Visitor] {
        let now_secs = seen.time_secs;
        let is_alone = self.cameras.len() == 1;
        let Some(camera) = self.cameras.get_mut(seen.camera) else {
            return &self.visitors;
        };
        if is_alone {
            camera.time_secs = Some(now_secs);
            Visitor::copy_all(&mut self.visitors, seen.tracks);
            return &self.visitors;
        }
        camera.see(seen);
        self.link(seen.camera, now_secs);
        self.update(now_secs);
        self.compare(seen.camera, now_secs);
        &self.visitors
    }

    /// Estimates all visitors at a time, and publishes them.
    fn update(&mut self, now_secs: f64) {
        if self.cameras.len() == 1 {
            if self.cameras[0].time_secs.is_none() {
                self.visitors.clear();
            }
            return;
        }
        for camera in &mut self.cameras {
            let is_lost = |time_secs: f64| now_secs - time_secs > LOST_SECS;
            if camera.time_secs.is_some_and(is_lost) {
                camera.lose();
            }
        }
        self.find_contradictions(now_secs);
        self.merge(now_secs);
        self.publish(now_secs);
    }

    /// Writes the visitors that a camera sees.
    fn publish(&mut self, now_secs: f64) {
        let mut count = 0;
        for fused in &mut self.fused {
            let Some(estimate) = fused_estimate(&self.cameras, fused.id, now_secs) else {
                continue;
            };
            let passed_secs = (now_secs - fused.seen_secs).max(0.0);
            (fused.estimate, fused.seen_secs) = (estimate, now_secs);
            let Some((index, ahead_secs)) = fused.choose_shown(&self.cameras, now_secs) else {
                continue;
            };
            fused.still_secs =
                still_secs(&self.cameras, fused.id).unwrap_or(fused.still_secs + passed_secs);
            if self.visitors.len() == count {
                self.visitors.push(Visitor::default());
            }
            let to = &mut self.visitors[count];
            to.clone_from(&self.cameras[fused.shown].tracks[index]);
            let moved_m = to.velocity_mps * ahead_secs;
            to.centroid_m += moved_m;
            for corner_m in &mut to.outline_m {
                *corner_m += moved_m;
            }
            to.id = fused.id;
            to.foot_m = estimate.position_m;
            to.velocity_mps = estimate.velocity_mps;
            to.age_secs = now_secs - fused.since_secs;
            to.still_secs = fused.still_secs;
            to.on_surface = self.surface.contains(to.foot_m);
            count += 1;
        }
        self.visitors.truncate(count);
    }

    /// Compares the tracks of a camera with those of all others.
    fn compare(&mut self, camera: usize, now_secs: f64) {
        for pair in self.pairs.iter_mut().filter(|pair| pair.has(camera)) {
            let [first, second] = pair.cameras().map(|index| &self.cameras[index]);
            pair.observe([first, second], now_secs);
        }
    }
}

impl Fused {
    /// Chooses the camera whose silhouette is shown. Returns the index of its track there, and the time since its frame.
    fn choose_shown(&mut self, cameras: &[Camera], now_secs: f64) -> Option<(usize, f32)> {
        let mut indexes = [None; MAX_CAMERAS];
        let mut variances_m2 = [f32::INFINITY; MAX_CAMERAS];
        for (camera, link, index) in tracks_of(cameras, self.id) {
            if link.apart_since_secs.is_none() {
                indexes[camera] = Some(index);
                variances_m2[camera] = cameras[camera].estimate(index, now_secs).variance_m2();
            }
        }
        let best = (0..cameras.len())
            .min_by(|&a, &b| variances_m2[a].total_cmp(&variances_m2[b]))
            .unwrap_or_default();
        if variances_m2[best] < BETTER_SHARE * variances_m2[self.shown] {
            self.shown = best;
        }
        let time_secs = cameras[self.shown].time_secs.unwrap_or(now_secs);
        let ahead_secs = (now_secs - time_secs).min(AHEAD_SECS) as f32;
        indexes[self.shown].map(|index| (index, ahead_secs))
    }
}

/// Returns the tracks of a visitor that are visible: camera, link, and index of the track.
fn tracks_of(cameras: &[Camera], visitor: u32) -> impl Iterator<Item = (usize, &Link, usize)> {
    let of_visitor = move |link: &&Link| link.visitor == Some(visitor);
    let each = cameras.iter().enumerate();
    each.flat_map(move |(number, camera)| {
        let links = camera.links.iter().filter(of_visitor);
        links.filter_map(move |link| Some((number, link, link.index?)))
    })
}

/// Returns the mean of the tracks of a visitor, weighted by their certainty. Tracks that contradict the others are left out, and, if
/// another camera sees the foot, those whose foot is outside of what their camera watches. A visitor with one track has exactly its
/// position.
fn fused_estimate(cameras: &[Camera], visitor: u32, now_secs: f64) -> Option<Estimate> {
    mean_of(cameras, visitor, (now_secs, true))
        .or_else(|| mean_of(cameras, visitor, (now_secs, false)))
}

/// Returns the mean of the tracks of a visitor; with `is_foot_seen` only of those whose foot is watched.
fn mean_of(
    cameras: &[Camera],
    visitor: u32,
    (now_secs, is_foot_seen): (f64, bool),
) -> Option<Estimate> {
    let mut sum: Option<Estimate> = None;
    for (camera, link, index) in tracks_of(cameras, visitor) {
        let camera = &cameras[camera];
        let is_seen = camera.watched.margin_m(camera.tracks[index].foot_m) > 0.0;
        if link.apart_since_secs.is_some() || (is_foot_seen && !is_seen) {
            continue;
        }
        let other = camera.estimate(index, now_secs);
        sum = Some(match sum {
            None => other,
            Some(one) => mean(&one, &other),
        });
    }
    sum
}

/// Returns the mean of two estimates, weighted by the inverse of their covariances.
fn mean(one: &Estimate, other: &Estimate) -> Estimate {
    let weight = one.covariance_m2 * (one.covariance_m2 + other.covariance_m2).inverse();
    let from_both = |a: Vec2, b: Vec2| a + weight * (b - a);
    Estimate {
        position_m: from_both(one.position_m, other.position_m),
        velocity_mps: from_both(one.velocity_mps, other.velocity_mps),
        covariance_m2: one.covariance_m2 - weight * one.covariance_m2,
    }
}

/// Returns the time since the visitor last moved; `None` if no camera has seen it move. A track that has not moved since its first
/// frame does not tell whether the visitor moved before.
fn still_secs(cameras: &[Camera], visitor: u32) -> Option<f64> {
    let moved = tracks_of(cameras, visitor).filter_map(|(camera, _, index)| {
        let track = &cameras[camera].tracks[index];
        (track.still_secs < track.age_secs).then_some(track.still_secs)
    });
    moved.min_by(f64::total_cmp)
}

/// Returns all pairs of different indexes below `count`.
fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| [a, b]))
}
