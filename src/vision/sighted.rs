//! Turns the sightings of a tracker outside of Shoal into tracks, with what such trackers do not report: a steady velocity, the time
//! since the last movement, an outline, and ids that are never used again.

use std::f32::consts::TAU;

use glam::{Mat2, Vec2};

use super::agitation::{Agitation, Shape};
use super::kalman::{Kalman, Measurement};
use super::params::TrackingParams;
use super::stillness::Stillness;
use crate::geometry::{Sighting, Surface, Visitor};

/// Largest number of visitors that are followed. Further sightings are ignored.
pub const SIGHTINGS_MAX: usize = 128;
/// Standard deviation of a reported position, in meters: most trackers see a body from above, and not where it stands.
const NOISE_M: f32 = 0.05;
/// Distance from the expected position from which a number stands for another visitor, in meters: farther than anybody gets between two
/// reports.
const JUMP_M: f32 = 1.0;
/// Radius of a body whose size is not reported, in meters.
const RADIUS_M: f32 = 0.25;
/// Smallest and largest width and depth of a body, in meters.
const SIZE_RANGE_M: (f32, f32) = (0.02, 4.0);
/// Number of corners of an outline.
const CORNERS: usize = 16;
/// Precision to which a size is reported, in meters. Smaller changes of the outline are no motion.
const PRECISION_M: f32 = 0.01;

/// The tracks that follow from sightings. Uses no clock.
pub struct SightedTracks {
    params: TrackingParams,
    surface: Surface,
    tracks: Vec<Sighted>,
    published: Vec<Visitor>,
    covariances_m2: Vec<Mat2>,
    last_id: u32,
    time_secs: f64,
}

struct Sighted {
    key: u64,
    kalman: Kalman,
    birth_secs: f64,
    stillness: Stillness,
    agitation: Agitation,
    output: Visitor,
    is_seen: bool,
}

impl SightedTracks {
    /// Returns no tracks. Ids begin with 1.
    pub fn new(params: &TrackingParams, surface: &Surface) -> Self {
        Self {
            params: params.clone(),
            surface: surface.clone(),
            tracks: Vec::new(),
            published: Vec::new(),
            covariances_m2: Vec::new(),
            last_id: 0,
            time_secs: 0.0,
        }
    }

    /// Uses other settings. Tracks and ids stay.
    pub fn change(&mut self, params: &TrackingParams, surface: &Surface) {
        self.params = params.clone();
        self.surface = surface.clone();
    }

    /// Returns the tracks, by id.
    pub fn tracks(&self) -> &[Visitor] {
        &self.published
    }

    /// Returns the covariance of the foot point of each track, in m².
    pub fn covariances_m2(&self) -> &[Mat2] {
        &self.covariances_m2
    }

    /// Updates the tracks with all sightings of a time, which is not before that of the last ones.
    pub fn observe(&mut self, sightings: &[Sighting], time_secs: f64) {
        let dt_secs = (time_secs - self.time_secs).max(0.0) as f32;
        self.time_secs = time_secs;
        for track in &mut self.tracks {
            track.is_seen = false;
            track.kalman.predict(dt_secs, self.params.acceleration_mps2);
        }
        for sighting in sightings.iter().take(SIGHTINGS_MAX) {
            self.take(sighting);
        }
        self.tracks.retain(|track| track.is_seen);
        self.publish();
    }

    fn take(&mut self, sighting: &Sighting) {
        let measured = Measurement {
            position_m: sighting.position_m,
            covariance_m2: Mat2::from_diagonal(Vec2::splat(NOISE_M * NOISE_M)),
        };
        let found = self
            .tracks
            .iter_mut()
            .find(|track| track.key == sighting.key && !track.is_seen);
        let is_near =
            |track: &&mut Sighted| track.kalman.position_m.distance(sighting.position_m) <= JUMP_M;
        let (now, params) = (self.time_secs, &self.params);
        match found.filter(is_near) {
            Some(track) => {
                track.kalman.update(&measured);
                track.follow(sighting, now, params);
            }
            None => {
                self.last_id = self.last_id.wrapping_add(1).max(1);
                let mut track = Sighted::new(sighting.key, &measured, now);
                track.output.id = self.last_id;
                track.follow(sighting, now, params);
                self.tracks.push(track);
            }
        }
    }

    fn publish(&mut self) {
        self.covariances_m2.clear();
        for track in &mut self.tracks {
            track.output.on_surface = self.surface.contains(track.output.foot_m);
            self.covariances_m2.push(track.kalman.covariance_m2());
        }
        let tracks = self.tracks.iter().map(|track| &track.output);
        Visitor::copy_all(&mut self.published, tracks);
    }
}

impl Sighted {
    fn new(key: u64, first: &Measurement, now_secs: f64) -> Self {
        Self {
            key,
            kalman: Kalman::new(first),
            birth_secs: now_secs,
            stillness: Stillness::new(first.position_m, now_secs),
            agitation: Agitation::default(),
            output: Visitor::default(),
            is_seen: true,
        }
    }

    /// Updates what follows from a sighting at the filtered position.
    fn follow(&mut self, sighting: &Sighting, now_secs: f64, params: &TrackingParams) {
        self.is_seen = true;
        let foot_m = self.kalman.position_m;
        let is_sized = sighting.size_m.min_element() > 0.0;
        let (low_m, high_m) = SIZE_RANGE_M;
        let size_m = match is_sized {
            true => sighting
                .size_m
                .clamp(Vec2::splat(low_m), Vec2::splat(high_m)),
            false => Vec2::splat(2.0 * RADIUS_M),
        };
        let output = &mut self.output;
        output.outline_m.clear();
        if is_sized {
            let along = Vec2::from_angle(sighting.angle);
            output.outline_m.extend((0..CORNERS).map(|i| {
                let corner = Vec2::from_angle(TAU * i as f32 / CORNERS as f32) * size_m / 2.0;
                foot_m + along.rotate(corner)
            }));
        }
        let shape = Shape {
            outline_m: &output.outline_m,
            pixel_m: PRECISION_M,
            sharers: 0,
        };
        self.agitation
            .update(now_secs, is_sized.then_some(&shape), |_| true);
        self.stillness
            .update(foot_m, self.agitation.mps, now_secs, params);
        output.centroid_m = foot_m;
        output.foot_m = foot_m;
        output.velocity_mps = self.kalman.velocity_mps;
        output.area_m2 = std::f32::consts::PI * size_m.x * size_m.y / 4.0;
        output.radius_m = (size_m.x * size_m.y).sqrt() / 2.0;
        output.age_secs = now_secs - self.birth_secs;
        output.still_secs = self.stillness.secs(now_secs);
        output.agitation_mps = self.agitation.mps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting(key: u64, x: f32) -> Sighting {
        Sighting {
            key,
            position_m: Vec2::new(x, 0.0),
            size_m: Vec2::new(0.5, 0.3),
            angle: 0.0,
        }
    }

    fn tracks() -> SightedTracks {
        SightedTracks::new(&TrackingParams::default(), &Surface::default())
    }

    #[test]
    fn one_who_walks_has_a_velocity_and_one_who_stands_becomes_still() {
        let mut tracks = tracks();
        for frame in 0..90 {
            let secs = f64::from(frame) / 30.0;
            let walker = sighting(4, -1.0 + 0.5 * secs as f32);
            tracks.observe(&[walker, sighting(9, 1.0)], secs);
        }
        let [walker, standing] = tracks.tracks() else {
            panic!("{:?}", tracks.tracks());
        };
        assert_eq!((walker.id, standing.id), (1, 2));
        assert!(walker.velocity_mps.distance(Vec2::new(0.5, 0.0)) < 0.05);
        assert!(walker.still_secs < 0.5 && standing.still_secs > 2.5);
        assert!(standing.agitation_mps < 0.005);
        assert!((standing.area_m2 - 0.118).abs() < 0.002);
        assert_eq!(standing.outline_m.len(), CORNERS);
        assert!(tracks.covariances_m2()[1].x_axis.x < 0.003);
    }

    #[test]
    fn a_number_that_is_used_again_elsewhere_is_another_visitor() {
        let mut tracks = tracks();
        tracks.observe(&[sighting(4, -1.0)], 0.0);
        tracks.observe(&[sighting(4, 1.0)], 0.03);
        assert_eq!(tracks.tracks()[0].id, 2);
        assert_eq!(tracks.tracks()[0].foot_m.x, 1.0, "nobody glides over");
        tracks.observe(&[], 0.06);
        assert!(tracks.tracks().is_empty());
        tracks.observe(&[sighting(4, 1.0)], 0.1);
        assert_eq!(tracks.tracks()[0].id, 3);
    }

    #[test]
    fn one_who_moves_on_the_spot_is_agitated() {
        let mut tracks = tracks();
        for frame in 0..90 {
            let secs = f64::from(frame) / 30.0;
            let width = 0.5 + 0.15 * (secs * 12.0).sin() as f32;
            let size_m = Vec2::new(width, 0.3);
            tracks.observe(
                &[Sighting {
                    size_m,
                    ..sighting(1, 0.0)
                }],
                secs,
            );
        }
        let track = &tracks.tracks()[0];
        assert!(track.agitation_mps > 0.1, "{}", track.agitation_mps);
        assert!(track.still_secs < 0.5);
    }

    #[test]
    fn what_is_doubled_or_too_much_is_bounded() {
        let mut tracks = tracks();
        let many: Vec<Sighting> = (0..400).map(|key| sighting(key, 0.0)).collect();
        tracks.observe(&many, 0.0);
        assert_eq!(tracks.tracks().len(), SIGHTINGS_MAX);
        let size_m = Vec2::new(f32::MAX, 1e-9);
        let odd = Sighting {
            size_m,
            ..sighting(1, 0.0)
        };
        tracks.observe(&[odd, odd], 0.1);
        assert_eq!(tracks.tracks().len(), 2);
        assert!(tracks.tracks().iter().all(Visitor::is_finite));
    }
}
