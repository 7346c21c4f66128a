//! Which id a visitor gets who returns, who is continued by another track, or who passes in a stream of visitors.

use std::collections::BTreeSet;

use glam::DVec2;
use shoal::geometry::Visitor;

use crate::rooms::{SHADOW_FPS as FPS, ShadowRoom as Room};

/// A shadow with a radius of 0.2 m that is there from one time to another. It moves from left to right at a constant speed.
#[derive(Clone, Copy)]
struct Shadow {
    from_m: [f64; 2],
    speed_mps: f64,
    secs: [f64; 2],
}

impl Shadow {
    fn new(from_m: [f64; 2], secs: [f64; 2]) -> Self {
        Self {
            from_m,
            speed_mps: 0.0,
            secs,
        }
    }
}

/// Returns the id of the track nearest to each point at the end, and the number of all ids, after shadows came and went.
fn ids_after(shadows: &[Shadow], end_secs: f64, at_m: &[[f64; 2]]) -> (Vec<u32>, usize) {
    let mut room = Room::new();
    let (mut tracks, mut all) = (Vec::new(), BTreeSet::new());
    for i in 0..=(end_secs * FPS) as u32 {
        let secs = f64::from(i) / FPS;
        let there = shadows
            .iter()
            .filter(|s| (s.secs[0]..s.secs[1]).contains(&secs));
        let shown = there.map(|s| {
            let moved_m = DVec2::new(s.speed_mps * (secs - s.secs[0]), 0.0);
            (DVec2::from_array(s.from_m) + moved_m, 0.2)
        });
        tracks = room.show(&shown.collect::<Vec<_>>());
        all.extend(tracks.iter().map(|track| track.id));
    }
    let nearest = |at_m: &[f64; 2]| {
        let distance = |track: &&Visitor| {
            track
                .centroid_m
                .as_dvec2()
                .distance(DVec2::from_array(*at_m))
        };
        let nearest = tracks
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(0, |track| track.id)
    };
    (at_m.iter().map(nearest).collect(), all.len())
}

#[test]
fn a_returning_visitor_keeps_the_id_and_ids_are_never_reused() {
    let here = [0.5, 0.2];
    let away = [-1.5, 1.0];
    let shadows = [
        Shadow::new(here, [2.0, 3.0]),
        Shadow::new(here, [5.0, 6.0]),
        Shadow::new(away, [16.0, 17.0]),
    ];
    assert_eq!(ids_after(&shadows[..1], 2.9, &[here]), (vec![1], 1));
    assert_eq!(ids_after(&shadows[..2], 5.9, &[here]), (vec![1], 1));
    assert_eq!(ids_after(&shadows, 16.9, &[away]), (vec![2], 2));
}

/// At the edge of the picture, a part of a visitor that is tracked can disappear while another part starts a new track.
#[test]
fn a_track_created_just_before_another_vanished_nearby_continues_it() {
    // The first shadow leaves at 4 s, at (-0.75, 0).
    let continued = |speed_mps: f64, at_m: [f64; 2], since_secs: f64, others: &[Shadow]| {
        let first = Shadow {
            from_m: [-0.75 - 2.0 * speed_mps, 0.0],
            speed_mps,
            secs: [2.0, 4.0],
        };
        let mut shadows = vec![first, Shadow::new(at_m, [since_secs, 9.0])];
        shadows.extend_from_slice(others);
        ids_after(&shadows, 5.5, &[at_m]).0
    };
    let near_m = [0.5, 0.0];
    assert_eq!(continued(0.0, near_m, 3.5, &[]), [1]);
    // The lost track moves on for a moment without a detection, which changes nothing.
    assert_eq!(continued(-1.0, [0.72, 0.0], 3.5, &[]), [1]);
    // In these cases the second shadow is another visitor: it came too early or too far away, or visitors pass through.
    assert_eq!(continued(0.0, near_m, 2.4, &[]), [2]);
    assert_eq!(continued(0.0, [1.6, 0.0], 3.5, &[]), [2]);
    let id = continued(0.0, near_m, 3.5, &stream(2.5, 5.5));
    assert!(id[0] > 2, "{id:?}");
}

/// A visitor who was not detected for a moment is no arrival, so three other arrivals are no stream.
#[test]
fn a_gap_in_detection_is_no_arrival() {
    let at_m = [-0.5, -0.9];
    let mut shadows = stream(2.0, 60.0);
    shadows.truncate(3);
    shadows.extend([[3.0, 5.0], [5.3, 6.0]].map(|secs| Shadow::new(at_m, secs)));
    let (before, _) = ids_after(&shadows, 5.9, &[at_m]);
    let back_m = [-1.6, -0.9];
    shadows.push(Shadow::new(back_m, [6.8, 9.0]));
    assert_eq!(ids_after(&shadows, 7.5, &[back_m]).0, before);
}

/// Returns six shadows that all come at one time.
fn stream(from_secs: f64, until_secs: f64) -> Vec<Shadow> {
    let at_m = |i: u32| [-1.7 + 0.68 * f64::from(i), 1.2];
    (0..6)
        .map(|i| Shadow::new(at_m(i), [from_secs, until_secs]))
        .collect()
}

#[test]
fn in_through_traffic_an_id_is_recovered_only_at_the_predicted_position() {
    // A visitor walks to the right at 0.5 m/s and vanishes at (-0.5, -0.9).
    let walks = |from_secs: f64| Shadow {
        from_m: [-1.5, -0.9],
        speed_mps: 0.5,
        secs: [from_secs, from_secs + 2.0],
    };
    let is_same = |from_secs: f64, at_m: [f64; 2], away_secs: f64, others: Vec<Shadow>| {
        let (left_secs, mut shadows) = (from_secs + 2.0, others);
        shadows.push(walks(from_secs));
        let (before, _) = ids_after(&shadows, left_secs - 0.1, &[[-0.5, -0.9]]);
        shadows.push(Shadow::new(at_m, [left_secs + away_secs, left_secs + 9.0]));
        let (after, _) = ids_after(&shadows, left_secs + away_secs + 0.9, &[at_m]);
        before == after
    };
    let (back_m, ahead_m) = ([-1.4, -0.9], [0.5, -0.9]);
    // A single visitor returns.
    assert!(is_same(3.0, back_m, 2.0, Vec::new()));
    // Another one of a stream.
    assert!(!is_same(3.0, back_m, 2.0, stream(2.0, 60.0)));
    // Behind an obstacle.
    assert!(is_same(3.0, ahead_m, 2.0, stream(2.0, 60.0)));
    // A gap in detection.
    assert!(is_same(3.0, [-0.45, -0.9], 0.3, stream(2.0, 60.0)));
    // Visitors who are present at the start are no stream, and a stream ends.
    // A group from the start.
    assert!(is_same(3.0, back_m, 2.0, stream(0.3, 60.0)));
    // The stream has ended.
    assert!(is_same(22.0, back_m, 2.0, stream(2.0, 60.0)));
}
