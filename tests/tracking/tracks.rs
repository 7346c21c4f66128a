//! Behavior of the tracker where visitors enter, meet, hide each other and leave, from rendered frames to published tracks.

use glam::{DVec2, DVec3};
use shoal::geometry::Visitor;

use crate::rooms::{Walker, WatchedRoom};

const FPS: f64 = 12.5;
/// Velocity of a visitor from left to right, in m/s.
const RIGHTWARDS_MPS: DVec2 = DVec2::new(0.9, 0.0);
/// Velocity of a visitor from right to left, in m/s.
const LEFTWARDS_MPS: DVec2 = DVec2::new(-0.9, 0.0);
/// A room whose empty floor is learned.
struct Scene(WatchedRoom);

impl Scene {
    fn new() -> Self {
        let mut scene = Self(WatchedRoom::new(FPS, DVec3::new(0.2, 4.2, -0.3)));
        scene.run(1.2, |_| Vec::new());
        scene
    }

    /// Shows visitors for `secs`. `visitors` gets the time since the start of this run. Returns the tracks of all frames.
    fn run(&mut self, secs: f64, visitors: impl Fn(f64) -> Vec<Walker>) -> Vec<Vec<Visitor>> {
        let frames = (secs * FPS).round() as u32;
        let tracks = (0..frames).map(|number| {
            let walkers = visitors(f64::from(number) / FPS);
            self.0.show(&walkers).to_vec()
        });
        tracks.collect()
    }
}

/// The route of a visitor who walks from a point for some time and then stands.
#[derive(Clone, Copy)]
struct Route {
    from_m: DVec2,
    velocity_mps: DVec2,
    until_secs: f64,
    height_m: f64,
}

impl Route {
    const fn new(from_m: DVec2, velocity_mps: DVec2, until_secs: f64) -> Self {
        Self {
            from_m,
            velocity_mps,
            until_secs,
            height_m: 1.7,
        }
    }

    /// Returns the visitor `secs` after the start.
    fn at(&self, secs: f64) -> Walker {
        let walked_secs = secs.min(self.until_secs);
        let foot_m = self.from_m + self.velocity_mps * walked_secs;
        let phase_rad = 6.2 * walked_secs + self.height_m;
        Walker::walking(foot_m, self.height_m, self.velocity_mps, phase_rad)
    }
}

/// A visitor who comes from the left and stands at (-0.35, 0.5).
const FROM_LEFT: Route = Route {
    height_m: 1.75,
    ..Route::new(DVec2::new(-2.6, 0.5), RIGHTWARDS_MPS, 2.5)
};
/// A visitor who comes from the right and stands at (0.04, 0.4).
const FROM_RIGHT: Route = Route::new(DVec2::new(2.6, 0.4), LEFTWARDS_MPS, 2.85);
/// Time after which both stand, in seconds.
const MET_SECS: f64 = 3.6;

fn ids(tracks: &[Visitor]) -> Vec<u32> {
    tracks.iter().map(|track| track.id).collect()
}

/// Returns the id of the track nearest to a point, which must be closer than 0.3 m.
#[track_caller]
fn id_at(tracks: &[Visitor], at_m: DVec2) -> u32 {
    let distance = |track: &Visitor| track.foot_m.as_dvec2().distance(at_m);
    let nearest = tracks
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let found = nearest.filter(|track| distance(track) < 0.3);
    found
        .unwrap_or_else(|| panic!("no track at {at_m}: {tracks:?}"))
        .id
}

/// Returns the number of frames until only `count` tracks are left, in seconds.
fn secs_until(frames: &[Vec<Visitor>], count: usize) -> f64 {
    let first = frames.iter().position(|tracks| tracks.len() <= count);
    first.map_or(f64::INFINITY, |first| first as f64 / FPS)
}

#[test]
fn a_visitor_hidden_by_another_loses_the_track_and_gets_the_id_back() {
    // The earlier track does not stay because it is earlier: it may be the one without a visitor.
    for hidden in [0, 1] {
        let mut scene = Scene::new();
        let visitors = [FROM_LEFT, FROM_RIGHT];
        let met = scene.run(MET_SECS, |secs| visitors.map(|v| v.at(secs)).to_vec());
        let last = met.last().unwrap();
        let names = visitors.map(|v| id_at(last, v.at(MET_SECS).foot_m));
        let left = visitors[1 - hidden].at(MET_SECS);
        let frames = scene.run(2.4, |_| vec![left]);
        let secs = secs_until(&frames, 1);
        assert!(secs < 2.0, "hidden {hidden}: {secs} s");
        let last = frames.last().unwrap();
        assert_eq!(
            id_at(last, left.foot_m),
            names[1 - hidden],
            "hidden {hidden}"
        );
        if hidden == 1 {
            let returned = Route::new(DVec2::new(0.1, 0.4), RIGHTWARDS_MPS, 9.0);
            let frames = scene.run(1.6, |secs| vec![left, returned.at(secs)]);
            let last = frames.last().unwrap();
            assert_eq!(last.len(), 2);
            assert_eq!(id_at(last, left.foot_m), names[0]);
            assert_eq!(id_at(last, returned.at(1.52).foot_m), names[1]);
        }
    }
}

#[test]
fn one_of_three_keeps_the_track_while_hidden_for_a_moment() {
    let third = Route {
        height_m: 1.4,
        ..Route::new(DVec2::new(-0.2, 2.4), DVec2::new(0.0, -0.9), 1.75)
    };
    let second = Route {
        until_secs: 2.75,
        ..FROM_RIGHT
    };
    let all = |secs: f64| vec![FROM_LEFT.at(secs), second.at(secs), third.at(secs)];
    let mut scene = Scene::new();
    let met = scene.run(MET_SECS, all);
    let known = ids(met.last().unwrap());
    assert_eq!(known.len(), 3);
    let two = vec![FROM_LEFT.at(MET_SECS), second.at(MET_SECS)];
    let hidden = scene.run(0.8, |_| two.clone());
    assert!(hidden.iter().all(|tracks| ids(tracks) == known));
    let back = scene.run(1.0, |_| all(MET_SECS));
    assert!(back.iter().all(|tracks| ids(tracks) == known));
    assert!(secs_until(&scene.run(3.0, |_| two.clone()), 2) < 2.5);
}

/// The two visitors enter side by side as one blob, so their tracks are never far from each other.
#[test]
fn a_visitor_who_was_never_alone_is_remembered_after_some_time_with_evidence() {
    let mut scene = Scene::new();
    let there = |secs: f64| {
        let beside = |z_m| Route::new(DVec2::new(-2.6, z_m), RIGHTWARDS_MPS, 2.5).at(secs);
        [beside(0.5), beside(0.05)]
    };
    let together = scene.run(4.5, |secs| there(secs).to_vec());
    let known = ids(together.last().unwrap());
    assert_eq!(known.len(), 2);
    let left = there(9.0)[0];
    let frames = scene.run(3.0, |_| vec![left]);
    assert!(secs_until(&frames, 1) < 2.5);
    let returned = Route::new(DVec2::new(0.3, 0.0), RIGHTWARDS_MPS, 9.0);
    let frames = scene.run(1.2, |secs| vec![left, returned.at(secs)]);
    assert_eq!(ids(frames.last().unwrap()), known);
}

/// A part of the body is as bright as the floor for the first second, which divides the silhouette.
#[test]
fn fragments_of_an_entering_visitor_become_one_track_with_the_first_id() {
    for (from_m, velocity_mps) in [
        (DVec2::new(-2.6, -0.6), DVec2::new(1.0, 0.0)),
        (DVec2::new(-1.0, 1.9), DVec2::new(0.0, -0.8)),
    ] {
        let mut scene = Scene::new();
        let visitor = |secs: f64| Walker {
            gap: if secs < 1.1 { [0.15, 0.6] } else { [0.0; 2] },
            ..Route::new(from_m, velocity_mps, 9.0).at(secs)
        };
        let frames = scene.run(2.8, |secs| vec![visitor(secs)]);
        let fragmented = frames.iter().filter(|tracks| tracks.len() > 1).count();
        assert!(
            (1..=12).contains(&fragmented),
            "{from_m}: {fragmented} frames"
        );
        let last = frames.last().unwrap();
        assert_eq!(ids(last), [1], "{from_m}");
        assert_eq!(id_at(last, visitor(2.72).foot_m), 1);
    }
}

#[test]
fn visitors_who_stand_close_together_are_no_fragments() {
    let mut scene = Scene::new();
    let frames = scene.run(7.0, |secs| vec![FROM_LEFT.at(secs), FROM_RIGHT.at(secs)]);
    let known = ids(&frames[20]);
    assert_eq!(known.len(), 2);
    assert!(frames[20..].iter().all(|tracks| ids(tracks) == known));
}

/// In a shared blob, the area of a track comes from its position and from the areas that were measured before.
#[test]
fn a_visitor_who_passes_does_not_change_the_area_of_another() {
    let mut scene = Scene::new();
    let passes = Route::new(DVec2::new(3.2, 0.1), LEFTWARDS_MPS, 9.0);
    let frames = scene.run(6.0, |secs| vec![FROM_LEFT.at(secs), passes.at(secs)]);
    let areas_m2 = frames[40..].iter().map(|tracks| {
        let id = id_at(tracks, FROM_LEFT.at(MET_SECS).foot_m);
        let track = tracks.iter().find(|track| track.id == id);
        track.map_or(f32::NAN, |track| track.area_m2)
    });
    let (least, most) = areas_m2.fold((f32::INFINITY, 0.0_f32), |(least, most), area_m2| {
        (least.min(area_m2), most.max(area_m2))
    });
    assert!(least > 0.85 * most, "{least} to {most} m²");
}
