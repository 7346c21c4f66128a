//! Compares the foot points that two cameras find for the same visitors. A camera that was moved shows up as an offset that stays.

use glam::Vec2;

use super::{Camera, pairs};

/// Time over which offsets are collected, in seconds.
const WINDOW_SECS: f64 = 60.0;
/// Time between two offsets of one pair of cameras, in seconds. Foot points of neighboring frames err alike.
const SAMPLE_SECS: f64 = 0.25;
/// Number of offsets from which their median is used: ten seconds with a visitor in both views.
const MIN_SAMPLES: usize = 40;
/// Largest number of offsets in the window.
const MAX_SAMPLES: usize = (WINDOW_SECS / SAMPLE_SECS) as usize;
/// Largest distance between two tracks of one visitor, in meters, if one of the cameras was moved.
const REACH_M: f32 = 1.2;
/// Foot points are compared only if they are farther than this from the border of both views, in meters. Closer to the border, a part of
/// the body is cut off, and the foot point is biased.
const INSIDE_M: f32 = 0.3;
/// Share of the limit below which an alarm ends.
const CALM_SHARE: f32 = 0.8;

/// How well two cameras agree on the foot points of the visitors that both see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Indexes of the two cameras.
    pub cameras: [usize; 2],
    /// Median distance between the foot points, in meters.
    pub distance_m: f32,
    /// Median offset from the foot point of the first camera to that of the second one.
    pub offset_m: Vec2,
    /// Number of compared foot points.
    pub samples: usize,
    /// Whether the offset is so large that one of the cameras was moved.
    pub is_drift: bool,
}

/// Watches one pair of cameras.
#[derive(Debug)]
pub(super) struct PairWatch {
    cameras: [usize; 2],
    drift_max_m: f32,
    /// Times and offsets, in a ring.
    samples: Vec<(f64, Vec2)>,
    next: usize,
    last_secs: f64,
    sorted: Vec<f32>,
    agreement: Option<Agreement>,
}

impl PairWatch {
    /// Returns the watches of all pairs of cameras.
    pub(super) fn all(cameras: usize, drift_max_m: f32) -> Vec<Self> {
        let pair = |cameras| Self {
            cameras,
            drift_max_m,
            samples: Vec::with_capacity(MAX_SAMPLES),
            next: 0,
            last_secs: f64::NEG_INFINITY,
            sorted: Vec::with_capacity(MAX_SAMPLES),
            agreement: None,
        };
        pairs(cameras).map(pair).collect()
    }

    pub(super) fn cameras(&self) -> [usize; 2] {
        self.cameras
    }

    pub(super) fn has(&self, camera: usize) -> bool {
        self.cameras.contains(&camera)
    }

    pub(super) fn agreement(&self) -> Option<Agreement> {
        self.agreement
    }

    /// Compares the tracks of both cameras.
    pub(super) fn observe(&mut self, [first, second]: [&Camera; 2], now_secs: f64) {
        if now_secs - self.last_secs < SAMPLE_SECS {
            return;
        }
        let mut is_changed = false;
        for index in 0..first.tracks.len() {
            let Some(offset_m) = offset_m(first, second, index, now_secs) else {
                continue;
            };
            if self.samples.len() < MAX_SAMPLES {
                self.samples.push((now_secs, offset_m));
            } else {
                self.samples[self.next] = (now_secs, offset_m);
                self.next = (self.next + 1) % MAX_SAMPLES;
            }
            is_changed = true;
        }
        if is_changed {
            self.last_secs = now_secs;
            self.update(now_secs);
        }
    }

    /// Computes the medians of the offsets in the window. A pair that sees nobody together keeps its last agreement.
    fn update(&mut self, now_secs: f64) {
        let oldest_secs = now_secs - WINDOW_SECS;
        let sorted = &mut self.sorted;
        let recent = self.samples.iter().filter(|(at, _)| *at >= oldest_secs);
        let mut median = |value: fn(&Vec2) -> f32| {
            sorted.clear();
            sorted.extend(recent.clone().map(|(_, offset_m)| value(offset_m)));
            sorted.sort_unstable_by(f32::total_cmp);
            (
                sorted.len(),
                sorted.get(sorted.len() / 2).copied().unwrap_or_default(),
            )
        };
        let (samples, x) = median(|offset_m| offset_m.x);
        if samples < MIN_SAMPLES {
            return;
        }
        let offset_m = Vec2::new(x, median(|offset_m| offset_m.y).1);
        let was_drift = self.agreement.is_some_and(|agreement| agreement.is_drift);
        let limit_m = self.drift_max_m * if was_drift { CALM_SHARE } else { 1.0 };
        self.agreement = Some(Agreement {
            cameras: self.cameras,
            distance_m: median(|offset_m| offset_m.length()).1,
            offset_m,
            samples,
            is_drift: offset_m.length() > limit_m,
        });
    }
}

/// Returns the offset from a track of the first camera to that of the second one. `None` if one of them is near the border of a
/// view, or if it is not certain that both are the same visitor.
fn offset_m(first: &Camera, second: &Camera, index: usize, now_secs: f64) -> Option<Vec2> {
    let here_m = first.estimate(index, now_secs).position_m;
    let there = |index: usize| second.estimate(index, now_secs).position_m;
    let is_near = |from: Vec2, to: Vec2| from.distance(to) < REACH_M;
    let mut others = (0..second.tracks.len()).filter(|&other| is_near(here_m, there(other)));
    let (other, None) = (others.next()?, others.next()) else {
        return None;
    };
    let there_m = there(other);
    let rivals = (0..first.tracks.len())
        .filter(|&rival| is_near(first.estimate(rival, now_secs).position_m, there_m));
    let is_inside = |place_m: Vec2| {
        first
            .watched
            .margin_m(place_m)
            .min(second.watched.margin_m(place_m))
            > INSIDE_M
    };
    let is_certain = rivals.count() == 1 && is_inside(here_m) && is_inside(there_m);
    is_certain.then_some(there_m - here_m)
}
