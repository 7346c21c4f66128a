//! HOTA of the tracks in a few small scenes with known visitors. The scenes cover what visitors do most: walk, stand, leave,
//! return, meet, pass and turn back. `verify_vision` measures the same figure over many larger scenes.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use shoal::geometry::Visitor;

use crate::rooms::{Walker, WatchedRoom};

const FPS: f64 = 12.5;
/// Time after the start of a scene in which vision learns the empty floor, in seconds.
const LEARN_SECS: f64 = 1.5;
/// Distance at which a track no longer belongs to a visitor, in meters. The similarity decreases linearly up to it.
const REACH_M: f64 = 1.0;
/// Only visitors who are at least this far inside the surface must be tracked, in meters.
const MARGIN_M: f64 = 0.15;
/// A track this near to a visitor outside this area, in meters, and to no visitor inside it, is not scored.
const OUTSIDE_REACH_M: f64 = 0.6;

/// The route of one visitor: height in meters, and the places on the way as time in seconds and foot point in meters.
struct Route {
    height_m: f64,
    way: &'static [(f64, [f64; 2])],
}

impl Route {
    /// Returns the visitor at a time, or `None` before the first and after the last place of the way.
    fn at(&self, secs: f64) -> Option<Walker> {
        let place_m = |secs: f64| {
            // The mean over a short time rounds the corners of the way.
            let times = (-4..=4).map(|i| secs + 0.08 * f64::from(i));
            times.map(|t| self.on_way(t)).sum::<DVec2>() / 9.0
        };
        let [(first, _), .., (last, _)] = self.way else {
            return None;
        };
        (*first..*last).contains(&secs).then(|| {
            let velocity_mps = (place_m(secs + 0.1) - place_m(secs)) / 0.1;
            let phase_rad = 6.2 * secs + self.height_m;
            Walker::walking(place_m(secs), self.height_m, velocity_mps, phase_rad)
        })
    }

    /// Returns the place on the way without rounded corners.
    fn on_way(&self, secs: f64) -> DVec2 {
        let next = self.way.partition_point(|(time, _)| *time <= secs);
        let next = next.clamp(1, self.way.len() - 1);
        let [(from, a), (to, b)] = [self.way[next - 1], self.way[next]];
        let share = ((secs - from) / (to - from)).clamp(0.0, 1.0);
        DVec2::from_array(a).lerp(DVec2::from_array(b), share)
    }
}

/// Visitors and tracks that are scored in one frame, as pairs of id and foot point.
#[derive(Clone, Debug, Default)]
struct Scored {
    visitors: Vec<(u32, DVec2)>,
    tracks: Vec<(u32, DVec2)>,
}

impl Scored {
    fn new(walkers: &[(u32, Walker)], tracks: &[Visitor]) -> Self {
        let inside_m = DVec2::new(2.0, 1.5) - MARGIN_M;
        let feet = walkers.iter().map(|(id, walker)| (*id, walker.foot_m));
        let (visitors, outside): (Vec<_>, Vec<_>) =
            feet.partition(|(_, foot_m)| foot_m.abs().cmple(inside_m).all());
        let is_near = |track: &Visitor, others: &[(u32, DVec2)], reach_m: f64| {
            let mut distances = others
                .iter()
                .map(|(_, foot_m)| foot_m.distance(track.foot_m.as_dvec2()));
            distances.any(|distance_m| distance_m < reach_m)
        };
        let is_scored = |track: &&Visitor| {
            is_near(track, &visitors, REACH_M) || !is_near(track, &outside, OUTSIDE_REACH_M)
        };
        let tracks = tracks.iter().filter(is_scored);
        let tracks = tracks
            .map(|track| (track.id, track.foot_m.as_dvec2()))
            .collect();
        Self { visitors, tracks }
    }

    fn similarity(&self, visitor: usize, track: usize) -> f64 {
        let distance_m = self.visitors[visitor].1.distance(self.tracks[track].1);
        (1.0 - distance_m / REACH_M).max(0.0)
    }
}

/// Returns the pairs of row and column with the largest sum of positive weights. Tries all assignments of a few rows.
fn best_pairs(
    rows: usize,
    columns: usize,
    weight: &dyn Fn(usize, usize) -> f64,
) -> (f64, Vec<(usize, usize)>) {
    fn best(
        row: usize,
        rows: usize,
        free: &mut Vec<usize>,
        weight: &dyn Fn(usize, usize) -> f64,
    ) -> (f64, Vec<(usize, usize)>) {
        if row == rows {
            return (0.0, Vec::new());
        }
        let mut most = best(row + 1, rows, free, weight);
        for place in 0..free.len() {
            let column = free.swap_remove(place);
            let own = weight(row, column);
            let (rest, mut pairs) = best(row + 1, rows, free, weight);
            if own + rest > most.0 && own > 0.0 {
                pairs.push((row, column));
                most = (own + rest, pairs);
            }
            free.push(column);
            let last = free.len() - 1;
            free.swap(place, last);
        }
        most
    }
    best(0, rows, &mut (0..columns).collect(), weight)
}

/// Returns the HOTA of a scene (Luiten et al. 2021), with the similarity 1 - d / 1 m of the foot points.
fn hota(frames: &[Scored]) -> f64 {
    let (mut visitor_frames, mut track_frames) = (BTreeMap::new(), BTreeMap::new());
    let mut potential: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for frame in frames {
        for (id, _) in &frame.visitors {
            *visitor_frames.entry(*id).or_insert(0.0) += 1.0;
        }
        for (id, _) in &frame.tracks {
            *track_frames.entry(*id).or_insert(0.0) += 1.0;
        }
        let sum = |pairs: &mut dyn Iterator<Item = (usize, usize)>| -> f64 {
            pairs
                .map(|(visitor, track)| frame.similarity(visitor, track))
                .sum()
        };
        let (visitors, tracks) = (frame.visitors.len(), frame.tracks.len());
        for (v, (visitor, _)) in frame.visitors.iter().enumerate() {
            for (t, (track, _)) in frame.tracks.iter().enumerate() {
                let own = frame.similarity(v, t);
                let of_either =
                    sum(&mut (0..tracks).map(|t| (v, t))) + sum(&mut (0..visitors).map(|v| (v, t)));
                *potential.entry((*visitor, *track)).or_default() +=
                    own / (of_either - own).max(1e-9);
            }
        }
    }
    let alignment = |ids: (u32, u32)| {
        let shared = potential[&ids];
        shared / (visitor_frames[&ids.0] + track_frames[&ids.1] - shared).max(1e-9)
    };
    let matched: Vec<(&Scored, Vec<(usize, usize)>)> = frames
        .iter()
        .map(|frame| {
            let weight = |v: usize, t: usize| {
                alignment((frame.visitors[v].0, frame.tracks[t].0)) * frame.similarity(v, t)
            };
            let pairs = best_pairs(frame.visitors.len(), frame.tracks.len(), &weight);
            (frame, pairs.1)
        })
        .collect();
    let all: f64 = visitor_frames.values().chain(track_frames.values()).sum();
    let at_least = |limit: f64| {
        let mut found: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (frame, pairs) in &matched {
            for &(v, t) in pairs
                .iter()
                .filter(|(v, t)| frame.similarity(*v, *t) >= limit)
            {
                *found
                    .entry((frame.visitors[v].0, frame.tracks[t].0))
                    .or_default() += 1.0;
            }
        }
        let count: f64 = found.values().sum();
        let association: f64 = found
            .iter()
            .map(|(ids, both)| both * both / (visitor_frames[&ids.0] + track_frames[&ids.1] - both))
            .sum();
        let detection = count / (all - count).max(1.0);
        (association / count.max(1.0) * detection).sqrt()
    };
    (1..=19)
        .map(|i| at_least(0.05 * f64::from(i) - 1e-9))
        .sum::<f64>()
        / 19.0
}

/// Tracks the visitors of a scene for `secs`, and returns the HOTA.
fn hota_of(visitors: &[Route], secs: f64) -> f64 {
    let mut room = WatchedRoom::new(FPS, DVec3::new(0.2, 4.2, -0.3));
    let mut frames = Vec::new();
    while room.now_secs() < secs {
        let now_secs = room.now_secs();
        let there = (1..)
            .zip(visitors)
            .filter_map(|(id, visitor)| Some((id, visitor.at(now_secs)?)));
        let walkers: Vec<(u32, Walker)> = there.collect();
        let shown: Vec<Walker> = walkers.iter().map(|(_, walker)| *walker).collect();
        let tracks = room.show(&shown);
        if now_secs > LEARN_SECS {
            frames.push(Scored::new(&walkers, tracks));
        }
    }
    hota(&frames)
}

/// Checks the HOTA of a scene. Each limit is 0.03 below the figure measured when the scene was made (0.942 to 0.952). Other
/// phases of the expensive measurements alone change the figure by about 0.001.
#[track_caller]
fn assert_hota(measured: f64, limit: f64) {
    println!("HOTA {measured:.3}, limit {limit}");
    assert!(measured >= limit, "HOTA {measured:.3}, limit {limit}");
}

#[test]
fn one_visitor_who_walks_stands_leaves_and_returns() {
    let visitors = [Route {
        height_m: 1.7,
        way: &[
            (1.5, [-3.2, 0.4]),
            (4.0, [-0.2, 0.2]),
            (5.5, [-0.2, 0.2]),
            (8.0, [2.8, -0.5]),
            (9.0, [2.8, -0.5]),
            (12.0, [-0.8, -0.6]),
        ],
    }];
    assert_hota(hota_of(&visitors, 12.0), 0.92);
}

#[test]
fn two_visitors_who_meet_and_pass() {
    let visitors = [
        Route {
            height_m: 1.75,
            way: &[(1.5, [-3.0, 0.3]), (6.5, [2.8, 0.0])],
        },
        Route {
            height_m: 1.35,
            way: &[(1.8, [3.0, -0.2]), (6.8, [-2.8, 0.3])],
        },
    ];
    assert_hota(hota_of(&visitors, 6.8), 0.91);
}

#[test]
fn two_visitors_who_meet_and_turn_back() {
    let visitors = [
        Route {
            height_m: 1.8,
            way: &[
                (1.5, [-3.0, 0.2]),
                (4.5, [-0.3, 0.1]),
                (5.5, [-0.3, 0.1]),
                (8.5, [-1.5, 0.9]),
            ],
        },
        Route {
            height_m: 1.4,
            way: &[
                (1.5, [3.0, -0.1]),
                (4.5, [0.25, 0.0]),
                (5.5, [0.25, 0.0]),
                (8.5, [1.5, -0.8]),
            ],
        },
    ];
    assert_hota(hota_of(&visitors, 8.5), 0.91);
}

#[test]
fn three_visitors_who_wander() {
    let visitors = [
        Route {
            height_m: 1.75,
            way: &[
                (1.5, [-3.0, -0.6]),
                (4.5, [0.8, -0.4]),
                (6.0, [0.8, -0.4]),
                (9.0, [-1.2, 0.8]),
                (11.0, [-1.5, -0.6]),
            ],
        },
        Route {
            height_m: 1.6,
            way: &[
                (2.0, [3.0, 0.7]),
                (4.5, [0.9, 0.9]),
                (7.0, [-0.4, -0.7]),
                (11.0, [1.5, 0.5]),
            ],
        },
        Route {
            height_m: 1.2,
            way: &[
                (2.5, [0.2, 2.4]),
                (5.0, [-0.9, 0.6]),
                (6.5, [-0.9, 0.6]),
                (8.5, [0.7, 0.9]),
                (11.0, [0.2, -0.8]),
            ],
        },
    ];
    assert_hota(hota_of(&visitors, 11.0), 0.91);
}

#[test]
fn hota_matches_its_closed_form() {
    let frames = |track_of: &dyn Fn(u32) -> Vec<(u32, DVec2)>| -> Vec<Scored> {
        let frame = |number| Scored {
            visitors: vec![(1, DVec2::ZERO)],
            tracks: track_of(number),
        };
        (0..100).map(frame).collect()
    };
    let close = |frames: Vec<Scored>, wanted: f64| {
        let got = hota(&frames);
        assert!((got - wanted).abs() < 1e-9, "{got}, wanted {wanted}");
    };
    close(frames(&|_| vec![(7, DVec2::ZERO)]), 1.0);
    close(frames(&|_| Vec::new()), 0.0);
    // Half of the visitor's frames have another id, so the association is 0.5.
    close(
        frames(&|number| vec![(number / 50, DVec2::ZERO)]),
        0.5_f64.sqrt(),
    );
    // A second track that belongs to no visitor halves the detection.
    let false_m = DVec2::new(5.0, 0.0);
    close(
        frames(&|_| vec![(1, DVec2::ZERO), (2, false_m)]),
        0.5_f64.sqrt(),
    );
    // An error of 0.52 m is found at the first 9 of 19 limits.
    close(frames(&|_| vec![(1, DVec2::new(0.52, 0.0))]), 9.0 / 19.0);
}
