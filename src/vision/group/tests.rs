use glam::{Vec2, Vec3};
use shoal_testing::assert_near;

use super::height::HEIGHT_ADJUST_M;
use super::*;
use crate::camera::{Frame, Luma};
use crate::geometry::{FloorFromCamera, Surface};
use crate::vision::foot::FootFinder;
use crate::vision::{FloorView, TrackingParams, Vision, VisionParams};

const LAMP: Vec3 = Vec3::new(-0.5, 4.5, -1.0);
const CAMERA: Vec3 = Vec3::new(1.0, 5.0, 0.3);

const SIDE: u32 = 240;

/// Tone of a shadow.
const SHADOW: f32 = -2.6;
/// Tone of a visitor in light clothes.
const LIGHT: f32 = -1.0;
/// Tone of a visitor in dark clothes.
const DARK: f32 = -2.2;

fn origins() -> [Option<Origin>; 2] {
    FootFinder::new(Some(LAMP), Some(CAMERA), &TrackingParams::default()).lamp_and_camera()
}

fn silhouette(position_m: Vec2, height_m: f32) -> Silhouette {
    Silhouette::new(position_m, height_m, None, &origins())
}

/// Returns the silhouette of a visitor's body as the camera sees it, without the shadow.
fn body(position_m: Vec2, height_m: f32) -> Silhouette {
    let [_, camera] = origins();
    Silhouette::new(position_m, height_m, None, &[camera; 2])
}

/// Returns a fitter whose foreground shows visitors with these positions and heights.
fn floor(people: &[(Vec2, f32)]) -> GroupFitter {
    let silhouettes: Vec<_> = people
        .iter()
        .map(|&(position_m, height_m)| silhouette(position_m, height_m))
        .collect();
    let mut fitter = GroupFitter::new(&TrackingParams::default());
    for x in -60..60 {
        for z in -60..60 {
            let position_m = Vec2::new(x as f32, z as f32) * 0.05;
            let dark = silhouettes
                .iter()
                .any(|silhouette| silhouette.covers(position_m));
            fitter.pixels.push(position_m, 0.0025, dark, None, None);
        }
    }
    fitter.pixels.pad();
    fitter
}

/// Returns a fitter whose foreground shows visitors with these positions, heights and tones. Bodies are in front of all
/// shadows.
fn toned_floor(people: [(Vec2, f32, f32); 2]) -> GroupFitter {
    let seen = people.map(|(position_m, height_m, _)| {
        (silhouette(position_m, height_m), body(position_m, height_m))
    });
    let mut fitter = GroupFitter::new(&TrackingParams::default());
    for x in -60..60 {
        for z in -60..60 {
            let position_m = Vec2::new(x as f32, z as f32) * 0.05;
            let dark = seen
                .iter()
                .any(|(silhouette, _)| silhouette.covers(position_m));
            let front = seen.iter().position(|(_, body)| body.covers(position_m));
            let tone = front.map_or(SHADOW, |number| people[number].2);
            (fitter.pixels).push(position_m, 0.0025, dark, dark.then_some(tone), Some(SHADOW));
        }
    }
    fitter.pixels.pad();
    fitter
}

#[test]
fn two_close_members_are_distinguished_by_their_tones() {
    let (a_m, b_m) = (Vec2::new(0.8, 0.9), Vec2::new(0.92, 0.72));
    for tones in [[LIGHT, DARK], [DARK, LIGHT]] {
        let mut fitter = toned_floor([(a_m, 1.6, tones[0]), (b_m, 1.6, tones[1])]);
        // Both members start at the same position, so only their tones can distinguish them.
        let mut members = [LIGHT, DARK].map(|tone| Member {
            body_tone: Some(tone),
            ..Member::new((a_m + b_m) / 2.0, 1.6)
        });
        for step_m in STEPS_M {
            for index in 0..members.len() {
                fitter.step(&mut members, index, step_m, &origins());
            }
        }
        let light_m = if tones[0] > tones[1] { a_m } else { b_m };
        let [light, dark] = members.map(|m| m.position_m.distance(light_m));
        assert!(light < 0.1 && light < dark, "{tones:?}: {members:?}");
    }
}

#[test]
fn two_members_are_swapped_if_the_swap_fits_better() {
    let (a_m, b_m) = (Vec2::new(0.8, 0.9), Vec2::new(1.2, 0.4));
    let appearances = |a: (f32, f32), b: (f32, f32)| {
        let mut fitter = toned_floor([(a_m, a.0, a.1), (b_m, b.0, b.1)]);
        let known = [a, b].map(|(height_m, tone)| (height_m, Some(tone)));
        let mut is_swapped = |position_m: [Vec2; 2]| {
            let placed = position_m.map(|position_m| Member::new(position_m, 1.5));
            let mut members = placed;
            let gain_m2 = fitter.try_swap(&mut members, [0, 1], known, &origins());
            let is_swapped = gain_m2 > SWAP_GAIN_M2;
            if is_swapped {
                let appearances = [0, 1].map(|n| (members[n].height_m, members[n].body_tone));
                assert_eq!(appearances, [known[1], known[0]]);
            } else {
                assert_eq!(members, placed);
            }
            is_swapped
        };
        [is_swapped([b_m, a_m]), is_swapped([a_m, b_m])]
    };
    for (kind, a, b) in [
        ("tall and small", (1.8, DARK), (1.3, DARK)),
        ("light and dark", (1.6, LIGHT), (1.6, DARK)),
    ] {
        assert_eq!(appearances(a, b), [true, false], "{kind}");
    }
    assert_eq!(appearances((1.6, DARK), (1.6, DARK)), [false, false]);
}

#[test]
fn clothes_brighter_than_expected_create_no_candidate() {
    let people = [
        (Vec2::new(0.8, 0.9), 1.8, LIGHT),
        (Vec2::new(-0.6, 0.5), 1.6, LIGHT),
    ];
    let mut fitter = toned_floor(people);
    let members = people.map(|(position_m, height_m, _)| Member {
        body_tone: Some(DARK),
        ..Member::new(position_m, height_m)
    });
    let unexplained_before_m2 = fitter.unexplained_m2(&members, &origins());
    assert!(
        unexplained_before_m2 > CANDIDATE_M2,
        "{unexplained_before_m2}"
    );
    fitter.pixels.ignore_tones();
    let unexplained_m2 = fitter.unexplained_m2(&members, &origins());
    assert!(unexplained_m2 < CANDIDATE_M2, "{unexplained_m2}");
}

#[test]
fn a_visitor_taller_than_expected_creates_no_candidate() {
    let position_m = Vec2::new(0.9, 1.2);
    let mut fitter = floor(&[(position_m, 1.9)]);
    let mut members = [Member::new(position_m, 1.65)];
    let unexplained_before_m2 = fitter.unexplained_m2(&members, &origins());
    assert!(
        unexplained_before_m2 > CANDIDATE_M2,
        "{unexplained_before_m2}"
    );
    for _ in 0..HEIGHT_ADJUST_ROUNDS {
        fitter.adjust_height(&mut members, 0, &origins());
    }
    let unexplained_m2 = fitter.unexplained_m2(&members, &origins());
    assert!(unexplained_m2 < CANDIDATE_M2, "{unexplained_m2}");
}

#[test]
fn a_redundant_member_is_not_relocated_if_another_is_taller_than_expected() {
    let position_m = Vec2::new(0.9, 1.2);
    let mut fitter = floor(&[(position_m, 1.9)]);
    // The second member is not visible at all.
    let mut members = [Member::new(position_m, 1.65), Member::new(position_m, 1.65)];
    fitter.relocate_redundant(&mut members, 1, &origins());
    assert_eq!(members[1].relocation, None, "{members:?}");
    let second_m = Vec2::new(-0.6, 0.5);
    let mut fitter = floor(&[(position_m, 1.9), (second_m, 1.65)]);
    fitter.relocate_redundant(&mut members, 1, &origins());
    let relocation = members[1].relocation.unwrap();
    assert!(members[1].exclusive_m2 > relocation.limit_m2, "{members:?}");
    assert_eq!(relocation.from_m, position_m);
    assert_eq!(relocation.from_exclusive_m2, 0.0);
    assert_eq!(relocation.runner_up, Some((0, 0.0)));
    assert_near(members[1].position_m, second_m, 0.15);
}

#[test]
fn exchanged_positions_cost_nothing_if_prediction_and_height_do_not_distinguish_the_members() {
    let places_m = [Vec2::new(0.9, 1.2), Vec2::new(0.75, 1.2)];
    let middle_m = 0.5 * (places_m[0] + places_m[1]);
    let cost = |heights_m: [f32; 2], expected_m: [Vec2; 2]| {
        let mut fitter = floor(&[0, 1].map(|n: usize| (places_m[n], heights_m[n])));
        let mut members = [0, 1].map(|n: usize| Member {
            position_m: places_m[n],
            ..Member::new(expected_m[n], heights_m[n])
        });
        let before = members;
        let cost = fitter.exchange_cost(&mut members, [0, 1], &origins());
        assert_eq!(members, before);
        cost
    };
    assert!(cost([1.6, 1.6], [middle_m; 2]).abs() < 0.1);
    assert!(cost([1.6, 1.6], places_m) > 5.0);
    assert!(cost([1.9, 1.3], [middle_m; 2]) > 5.0);
}

#[test]
fn a_missing_member_is_found_where_another_body_hides_the_feet() {
    let near_m = Vec2::new(-0.3, 1.2);
    let behind_m = near_m + 0.5 * (near_m - Vec2::new(CAMERA.x, CAMERA.z)).normalize();
    assert!(body(near_m, 1.7).covers(behind_m));
    let mut fitter = floor(&[(near_m, 1.7), (behind_m, 1.5)]);
    fitter.cover_by_others(&[Member::new(near_m, 1.7)], 1, &origins());
    let (found_m, gain_m2) = fitter.find_missing(1.5, &origins()).unwrap();
    assert!(found_m.distance(behind_m) < 0.2, "{found_m}");
    assert_eq!(gain_m2, COVERED_POSITION_M2);
}

#[test]
fn tones_are_measured_where_no_bystander_covers_the_floor() {
    let (alone, beside) = (
        (Vec2::new(0.8, 0.9), 1.6, LIGHT),
        (Vec2::new(0.5, -0.6), 1.7, DARK),
    );
    let mut fitter = toned_floor([alone, beside]);
    fitter.set_bystanders([(beside.0, beside.1)].into_iter());
    fitter.cover_by_bystanders(&origins());
    let [shadow_tone, body_tone] = fitter.pixels.tones(&silhouette(alone.0, alone.1));
    assert_near(shadow_tone.unwrap(), SHADOW, 0.1);
    assert!((body_tone.unwrap() - LIGHT).abs() < 0.1, "{body_tone:?}");
    fitter.set_bystanders([(alone.0, alone.1)].into_iter());
    fitter.cover_by_bystanders(&origins());
    assert_eq!(
        fitter.pixels.tones(&silhouette(alone.0, alone.1)),
        [None; 2]
    );
}

#[test]
fn heights_adapt_to_the_foreground() {
    let people = [(Vec2::new(0.8, 0.9), 1.8), (Vec2::new(0.2, 0.6), 1.2)];
    let mut fitter = floor(&people);
    let mut members = people.map(|(position_m, _)| Member::new(position_m, 1.5));
    for _ in 0..6 {
        for index in 0..members.len() {
            fitter.adjust_height(&mut members, index, &origins());
        }
    }
    for (member, (_, height_m)) in members.iter().zip(people) {
        let off_m = (member.height_m - height_m).abs();
        assert!(
            off_m < HEIGHT_ADJUST_M,
            "{} for {height_m}",
            member.height_m
        );
    }
}

#[test]
fn a_correct_height_stays_and_limits_hold() {
    let position_m = Vec2::new(0.8, 0.9);
    let mut members = [Member::new(position_m, 1.6)];
    floor(&[(position_m, 1.6)]).adjust_height(&mut members, 0, &origins());
    assert_eq!(members[0].height_m, 1.6);
    let mut tallest = [Member::new(position_m, TrackingParams::default().tallest_m)];
    floor(&[(position_m, 2.4)]).adjust_height(&mut tallest, 0, &origins());
    assert_eq!(tallest[0].height_m, TrackingParams::default().tallest_m);
}

#[test]
fn foreground_covered_by_a_bystander_needs_no_member() {
    let (member, bystander) = ((Vec2::new(0.8, 0.9), 1.6), (Vec2::new(-0.4, 0.9), 1.7));
    let mut fitter = floor(&[member, bystander]);
    let members = [Member::new(member.0, member.1)];
    let measure = |fitter: &mut GroupFitter| {
        fitter.cover_by_bystanders(&origins());
        fitter.cover_by_others(&members, members.len(), &origins());
        let position_m = fitter.find_missing(1.6, &origins()).map(|place| place.0);
        (fitter.pixels.residual_m2(None), position_m)
    };
    let (unexplained_m2, position_m) = measure(&mut fitter);
    assert!(unexplained_m2 > CANDIDATE_M2, "{unexplained_m2}");
    assert!(
        position_m.is_some_and(|position_m| position_m.distance(bystander.0) < 0.4),
        "{position_m:?}"
    );
    fitter.set_bystanders([bystander].into_iter());
    let (unexplained_m2, _) = measure(&mut fitter);
    assert!(unexplained_m2 < CANDIDATE_M2, "{unexplained_m2}");
}

#[test]
fn the_silhouette_area_counts_observable_points_only() {
    for (position_m, height_m) in [
        (Vec2::new(0.8, 0.9), 1.8),
        (Vec2::new(-0.9, 0.2), 1.2),
        (Vec2::new(0.2, -0.4), 1.7),
    ] {
        let silhouette = silhouette(position_m, height_m);
        let mut fitter = floor(&[]);
        fitter.pixels.add_cover(&silhouette);
        let pixels = &fitter.pixels;
        for is_observable in [|_: Vec2| true, |position_m: Vec2| position_m.x > 0.0] {
            let counted: f32 = (0..pixels.uncovered.len())
                .filter(|&i| is_observable(Vec2::new(pixels.x_m[i], pixels.z_m[i])))
                .map(|i| pixels.area_m2[i] * (1.0 - pixels.uncovered[i]))
                .sum();
            let area_m2 = silhouette.area_m2(is_observable);
            let off_m2 = (area_m2 - counted).abs();
            assert!(off_m2 < 0.04 * counted + 0.01, "{area_m2} for {counted}");
        }
    }
}

/// Returns the foot points of the published tracks in each frame, ordered by id. The floor extends 3 m to each side;
/// one pixel covers 2.5 cm. `is_dark` returns whether a floor point is dark in a frame.
fn feet_of_each(
    [lamp, camera]: [Vec3; 2],
    frames: u32,
    mut is_dark: impl FnMut(u32, Vec2) -> bool,
) -> Vec<Vec<Vec2>> {
    let surface = Surface {
        width_m: 6.0,
        height_m: 6.0,
        ..Surface::default()
    };
    let view = FloorView {
        map: FloorFromCamera::whole_frame(SIDE, SIDE, &surface),
        lamp_m: Some(lamp.as_dvec3()),
        camera_m: Some(camera.as_dvec3()),
        surface,
    };
    let mut vision = Vision::new(&VisionParams::default(), view);
    let feet_m = |number: u32| {
        let level = |index: u32| {
            let at_px = Vec2::new((index % SIDE) as f32, (index / SIDE) as f32);
            let position_m = (at_px + 0.5) * (6.0 / SIDE as f32) - 3.0;
            if is_dark(number, position_m) { 10 } else { 120 }
        };
        let frame = Frame {
            width_px: SIDE,
            height_px: SIDE,
            sequence: number.into(),
            time_secs: f64::from(number) / 30.0,
            luma: Luma::U8((0..SIDE * SIDE).map(level).collect()),
        };
        let tracks = vision.observe(&frame).iter();
        tracks.map(|track| track.foot_m).collect()
    };
    (0..frames).map(feet_m).collect()
}

/// Returns the number of published tracks in the last frame. One visitor walks in; a second one, offset by `beside_m`,
/// follows `later` frames later.
fn published_count([first_m, second_m]: [f32; 2], beside_m: Vec2, later: u32) -> usize {
    let feet_m = feet_of_each([LAMP, CAMERA], 95, |number, point_m| {
        let walked_m = (number as f32 - 45.0).max(0.0) * 0.04;
        let position_m = Vec2::new(-0.6, 2.6 - walked_m);
        (number > 45 && silhouette(position_m, first_m).covers(point_m))
            || (number > 45 + later && silhouette(position_m + beside_m, second_m).covers(point_m))
    });
    feet_m[94].len()
}

/// Returns whether a vertical cylinder hides a floor point from an origin (lamp or camera). The cylinder extends
/// between two heights above the floor.
fn hides(
    position_m: Vec2,
    radius_m: f32,
    [from_m, to_m]: [f32; 2],
    origin: Vec3,
    point_m: Vec2,
) -> bool {
    let ray_m = Vec2::new(origin.x, origin.z) - point_m;
    let along = (position_m - point_m).dot(ray_m) / ray_m.length_squared();
    let off_m = (position_m - point_m - along * ray_m).length();
    let up_m = along * origin.y;
    off_m < radius_m && (from_m..to_m).contains(&up_m)
}

/// Returns whether a walking visitor hides a floor point. The vectors are the position, the offset of the front foot
/// (the other foot has the opposite offset), and the direction to the side.
fn walker_hides(
    [position_m, ahead_m, aside]: [Vec2; 3],
    height_m: f32,
    origins: &[Vec3; 2],
    point_m: Vec2,
) -> bool {
    let foot_m = ahead_m + 0.06 * height_m * aside;
    // Two legs, trunk and head: position in meters; half width and vertical range as shares of the height.
    [
        (position_m + foot_m, 0.045, [0.0, 0.5]),
        (position_m - foot_m, 0.045, [0.0, 0.5]),
        (position_m, 0.115, [0.45, 0.85]),
        (position_m, 0.055, [0.8, 1.0]),
    ]
    .iter()
    .any(|&(position_m, half_share, reach)| {
        let reach_m = reach.map(|share| share * height_m);
        let hides = |&origin| hides(position_m, half_share * height_m, reach_m, origin, point_m);
        origins.iter().any(hides)
    })
}

/// Returns the largest number of tracks published at the same time while one visitor walks from left to right under a
/// low lamp. `apart_m` is the largest distance between the feet, in meters.
fn max_published_count(height_m: f32, apart_m: f32, from_m: f32, velocity_mps: Vec2) -> usize {
    let origins = [Vec3::new(0.0, 3.0, -2.5), Vec3::new(0.0, 4.5, 0.1)];
    let feet_m = feet_of_each(origins, 150, |number, point_m| {
        let secs = (number as f32 - 30.0) / 30.0;
        let position_m = Vec2::new(-3.4, from_m) + velocity_mps * secs;
        // One step takes half a second.
        let ahead_m = 0.5 * apart_m * (secs * std::f32::consts::TAU).sin() * Vec2::X;
        walker_hides([position_m, ahead_m, Vec2::Y], height_m, &origins, point_m)
    });
    feet_m.iter().map(Vec::len).max().unwrap_or_default()
}

/// Returns the largest distance in meters between tracks and true positions. One visitor walks away to the side.
/// Another one approaches and turns back `aside_m` beside a position. `phases` are the walking phases of both.
fn max_error_m(phases: [f32; 2], aside_m: f32) -> f32 {
    const HEIGHTS_M: [f32; 2] = [1.58, 1.71];
    let origins = [Vec3::new(-1.5, 3.5, -1.2), Vec3::new(-0.3, 3.5, 0.4)];
    let position_m = |visitor: usize, secs: f32| {
        if visitor == 0 {
            Vec2::new(-1.45, -1.3) + (secs - 3.0) * Vec2::new(-0.42, -0.38)
        } else {
            let since_secs = secs - 2.5;
            Vec2::new(-1.37, aside_m - 0.42) + Vec2::new(1.2 * since_secs.abs(), -0.25 * since_secs)
        }
    };
    let hides = |visitor: usize, secs: f32, point_m: Vec2| {
        let velocity_mps =
            (position_m(visitor, secs + 0.05) - position_m(visitor, secs - 0.05)) / 0.1;
        let ahead = velocity_mps.normalize_or(Vec2::X);
        let most_m = 0.16 * HEIGHTS_M[visitor] * velocity_mps.length().min(1.2);
        let ahead_m = most_m * (6.2 * secs + phases[visitor]).sin() * ahead;
        let stride = [position_m(visitor, secs), ahead_m, ahead.perp()];
        walker_hides(stride, HEIGHTS_M[visitor], &origins, point_m)
    };
    let secs = |frame: u32| (frame as f32 - 15.0) / 30.0;
    let feet_m = feet_of_each(origins, 135, |frame, point_m| {
        frame > 15 && (0..2).any(|visitor| hides(visitor, secs(frame), point_m))
    });
    let published = (0..).zip(&feet_m).skip(30);
    let off_m = published.flat_map(|(frame, feet_m)| {
        let [first_m, second_m] = [0, 1].map(|visitor| position_m(visitor, secs(frame)));
        assert_eq!(feet_m.len(), 2, "frame {frame}");
        [feet_m[0].distance(first_m), feet_m[1].distance(second_m)]
    });
    off_m.fold(0.0, f32::max)
}

#[test]
fn a_separate_leg_blob_does_not_move_the_foot_point() {
    for (phases, aside_m) in [
        ([0.8, 0.78], -0.2),
        ([1.6, 0.78], -0.2),
        ([0.8, 5.46], -0.1),
        ([2.4, 5.46], -0.1),
    ] {
        let off_m = max_error_m(phases, aside_m);
        assert!(off_m < 0.28, "{phases:?} {aside_m}: {off_m} m");
    }
}

#[test]
fn spread_legs_under_a_low_lamp_are_not_a_second_visitor() {
    for (height_m, apart_m, from_m, velocity_mps) in [
        (1.8, 0.6, 0.2, Vec2::new(1.2, 0.0)),
        (1.8, 0.7, 0.7, Vec2::new(1.5, -0.15)),
        (1.9, 0.72, 1.0, Vec2::new(1.3, -0.4)),
    ] {
        let most = max_published_count(height_m, apart_m, from_m, velocity_mps);
        assert_eq!(
            most, 1,
            "{height_m} m, {apart_m} m, {from_m} m, {velocity_mps} m/s"
        );
    }
}

#[test]
fn a_child_beside_an_adult_gets_its_own_track() {
    let beside_m = Vec2::new(0.7, 0.15);
    assert_eq!(published_count([1.7, 1.05], beside_m, 20), 2);
    assert_eq!(published_count([1.2, 1.7], beside_m, 20), 2);
}

/// Returns a single member fitted near a position, with the height that explains the foreground best.
fn fit_single(fitter: &mut GroupFitter, position_m: Vec2) -> Member {
    let mut members = [Member::new(position_m, 1.5)];
    for &step_m in STEPS_M.iter().chain(&STEPS_M) {
        fitter.cover_by_others(&members, 0, &origins());
        fitter.step_member(&mut members[0], step_m, &origins());
        fitter.adjust_height(&mut members, 0, &origins());
    }
    members[0]
}

#[test]
fn two_children_side_by_side_are_split() {
    for [first_m, second_m] in [
        [Vec2::new(0.9, 1.0), Vec2::new(1.3, 0.75)],
        [Vec2::new(-1.4, 0.4), Vec2::new(-1.2, 0.85)],
    ] {
        let mut fitter = floor(&[(first_m, 1.1), (second_m, 1.15)]);
        let alone = fit_single(&mut fitter, (first_m + second_m) / 2.0);
        let pair = fitter.fit_split(&alone, &origins());
        let pair = pair.unwrap().members;
        for wanted_m in [first_m, second_m] {
            let off_m = pair.map(|member| member.position_m.distance(wanted_m));
            assert!(off_m[0].min(off_m[1]) < 0.12, "{wanted_m}: {off_m:?}");
        }
        assert!(pair.iter().all(|member| member.height_m < 1.3), "{pair:?}");
    }
    assert_eq!(published_count([1.1, 1.1], Vec2::new(0.45, 0.15), 0), 2);
    // Pairs that are closer together need more frames.
    for degrees in [0.0_f32, 30.0, 75.0, 105.0, 150.0] {
        let beside_m = 0.35 * Vec2::from_angle(degrees.to_radians());
        assert_eq!(published_count([1.1, 1.17], beside_m, 0), 2, "{degrees}°");
    }
}

#[test]
fn a_single_visitor_is_not_split() {
    for position_m in [
        Vec2::new(0.9, 1.0),
        Vec2::new(-1.4, 0.4),
        Vec2::new(1.2, -0.9),
    ] {
        for height_m in [1.2, 1.5, 1.8] {
            let mut fitter = floor(&[(position_m, height_m)]);
            let alone = fit_single(&mut fitter, position_m + Vec2::splat(0.1));
            assert_eq!(
                fitter.fit_split(&alone, &origins()),
                None,
                "{position_m} {height_m}"
            );
        }
    }
}

/// Returns the residual area that two visitors of typical height explain in addition to a single one, and the single
/// one.
fn fit_merged_and_pair(people: &[(Vec2, f32)], [a_m, b_m]: [Vec2; 2]) -> (f32, Member) {
    let pair = [a_m, b_m].map(|position_m| Member::new(position_m, 1.57));
    floor(people).fit_merged_and_pair(pair, &origins())
}

#[test]
fn one_member_explains_two_fragments_of_it() {
    let position_m = Vec2::new(0.8, 0.9);
    for height_m in [1.2, 1.6, 1.9] {
        for offset_m in [Vec2::X, Vec2::Y, Vec2::new(0.5, -0.5)].map(|m| 0.3 * m) {
            let places_m = [position_m - offset_m, position_m + offset_m];
            let (gain_m2, one) = fit_merged_and_pair(&[(position_m, height_m)], places_m);
            assert!(gain_m2 < 0.02, "{height_m} {offset_m}: {gain_m2}");
            let off_m = one.position_m.distance(position_m);
            assert!(off_m < 0.2, "{height_m} {offset_m}: {off_m}");
        }
    }
}

#[test]
fn one_member_explains_less_than_two_real_visitors() {
    let a_m = Vec2::new(0.8, 0.9);
    for heights_m in [[1.2, 1.2], [1.2, 1.8], [1.7, 1.7]] {
        for offset_m in [0.5 * Vec2::X, 0.5 * Vec2::Y, Vec2::new(0.6, -0.6)] {
            let b_m = a_m + offset_m;
            let people = [(a_m, heights_m[0]), (b_m, heights_m[1])];
            let (gain_m2, _) = fit_merged_and_pair(&people, [a_m, b_m]);
            assert!(gain_m2 > 0.05, "{heights_m:?} {offset_m}: {gain_m2}");
        }
    }
}
