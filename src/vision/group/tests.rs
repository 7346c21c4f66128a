use glam::{Vec2, Vec3};

use super::height::HEIGHT_ADJUST_M;
use super::*;
use crate::camera::{Frame, Luma};
use crate::geometry::{FloorFromCamera, Surface};
use crate::vision::foot::FootFinder;
use crate::vision::{FloorView, TrackingParams, Vision, VisionParams};

const LAMP: Vec3 = Vec3::new(-0.5, 4.5, -1.0);
const CAMERA: Vec3 = Vec3::new(1.0, 5.0, 0.3);

const SIDE: u32 = 240;

/// How bright a shadow is, somebody in light clothes and somebody in dark ones.
const SHADOW: f32 = -2.6;
const LIGHT: f32 = -1.0;
const DARK: f32 = -2.2;

fn origins() -> [Option<Origin>; 2] {
    FootFinder::new(Some(LAMP), Some(CAMERA), &TrackingParams::default()).lamp_and_camera()
}

fn silhouette(position_m: Vec2, height_m: f32) -> Silhouette {
    Silhouette::new(position_m, height_m, None, &origins())
}

/// The same from the camera only.
fn body(position_m: Vec2, height_m: f32) -> Silhouette {
    let [_, camera] = origins();
    Silhouette::new(position_m, height_m, None, &[camera; 2])
}

/// A floor on which those of these places and heights are dark.
fn floor(people: &[(Vec2, f32)]) -> GroupFitter {
    let silhouettes: Vec<_> = people
        .iter()
        .map(|&(position_m, height_m)| silhouette(position_m, height_m))
        .collect();
    let mut groups = GroupFitter::new(&TrackingParams::default());
    for x in -60..60 {
        for z in -60..60 {
            let position_m = Vec2::new(x as f32, z as f32) * 0.05;
            let dark = silhouettes
                .iter()
                .any(|silhouette| silhouette.covers(position_m));
            groups.pixels.push(position_m, 0.0025, dark, None, None);
        }
    }
    groups.pixels.pad();
    groups
}

/// The same with bodies of these tones, seen in front of all shadows.
fn toned_floor(people: [(Vec2, f32, f32); 2]) -> GroupFitter {
    let seen = people.map(|(position_m, height_m, _)| {
        (silhouette(position_m, height_m), body(position_m, height_m))
    });
    let mut groups = GroupFitter::new(&TrackingParams::default());
    for x in -60..60 {
        for z in -60..60 {
            let position_m = Vec2::new(x as f32, z as f32) * 0.05;
            let dark = seen
                .iter()
                .any(|(silhouette, _)| silhouette.covers(position_m));
            let front = seen.iter().position(|(_, body)| body.covers(position_m));
            let tone = front.map_or(SHADOW, |number| people[number].2);
            (groups.pixels).push(position_m, 0.0025, dark, dark.then_some(tone), Some(SHADOW));
        }
    }
    groups.pixels.pad();
    groups
}

#[test]
fn two_who_are_close_are_told_apart_by_how_bright_they_are() {
    let (a_m, b_m) = (Vec2::new(0.8, 0.9), Vec2::new(0.92, 0.72));
    for tones in [[LIGHT, DARK], [DARK, LIGHT]] {
        let mut groups = toned_floor([(a_m, 1.6, tones[0]), (b_m, 1.6, tones[1])]);
        // Only their brightness says who of them is where.
        let mut members = [LIGHT, DARK].map(|tone| Member {
            body_tone: Some(tone),
            ..Member::new((a_m + b_m) / 2.0, 1.6)
        });
        for step_m in STEPS_M {
            for index in 0..members.len() {
                groups.step(&mut members, index, step_m, &origins());
            }
        }
        let light_m = if tones[0] > tones[1] { a_m } else { b_m };
        let [light, dark] = members.map(|m| m.position_m.distance(light_m));
        assert!(light < 0.1 && light < dark, "{tones:?}: {members:?}");
    }
}

#[test]
fn two_are_each_other_where_that_explains_more() {
    let (a_m, b_m) = (Vec2::new(0.8, 0.9), Vec2::new(1.2, 0.4));
    let looks = |a: (f32, f32), b: (f32, f32)| {
        let mut groups = toned_floor([(a_m, a.0, a.1), (b_m, b.0, b.1)]);
        let known = [a, b].map(|(height_m, tone)| (height_m, Some(tone)));
        let mut is_swapped = |position_m: [Vec2; 2]| {
            let placed = position_m.map(|position_m| Member::new(position_m, 1.5));
            let mut members = placed;
            let is_swapped = groups.try_swap(&mut members, [0, 1], known, &origins());
            if is_swapped {
                let looks = [0, 1].map(|n| (members[n].height_m, members[n].body_tone));
                assert_eq!(looks, [known[1], known[0]]);
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
        assert_eq!(looks(a, b), [true, false], "{kind}");
    }
    assert_eq!(looks((1.6, DARK), (1.6, DARK)), [false, false]);
}

#[test]
fn clothes_that_are_brighter_than_thought_are_nobody_new() {
    let people = [
        (Vec2::new(0.8, 0.9), 1.8, LIGHT),
        (Vec2::new(-0.6, 0.5), 1.6, LIGHT),
    ];
    let mut groups = toned_floor(people);
    let members = people.map(|(position_m, height_m, _)| Member {
        body_tone: Some(DARK),
        ..Member::new(position_m, height_m)
    });
    let unlike_m2 = groups.unexplained_m2(&members, &origins());
    assert!(unlike_m2 > CANDIDATE_M2, "{unlike_m2}");
    groups.pixels.ignore_tones();
    let unexplained_m2 = groups.unexplained_m2(&members, &origins());
    assert!(unexplained_m2 < CANDIDATE_M2, "{unexplained_m2}");
}

#[test]
fn who_is_taller_than_thought_is_nobody_new() {
    let position_m = Vec2::new(0.9, 1.2);
    let mut groups = floor(&[(position_m, 1.9)]);
    let mut members = [Member::new(position_m, 1.65)];
    let unlike_m2 = groups.unexplained_m2(&members, &origins());
    assert!(unlike_m2 > CANDIDATE_M2, "{unlike_m2}");
    for _ in 0..HEIGHT_ADJUST_ROUNDS {
        groups.adjust_height(&mut members, 0, &origins());
    }
    let unexplained_m2 = groups.unexplained_m2(&members, &origins());
    assert!(unexplained_m2 < CANDIDATE_M2, "{unexplained_m2}");
}

#[test]
fn nobody_is_missing_where_somebody_is_taller_than_thought() {
    let position_m = Vec2::new(0.9, 1.2);
    let mut groups = floor(&[(position_m, 1.9)]);
    // One of the two is not seen at all.
    let mut members = [Member::new(position_m, 1.65), Member::new(position_m, 1.65)];
    groups.relocate_redundant(&mut members, 1, &origins());
    assert!(!members[1].was_relocated, "{members:?}");
    let second_m = Vec2::new(-0.6, 0.5);
    let mut groups = floor(&[(position_m, 1.9), (second_m, 1.65)]);
    groups.relocate_redundant(&mut members, 1, &origins());
    assert!(members[1].was_relocated, "{members:?}");
    assert!(
        members[1].position_m.distance(second_m) < 0.15,
        "{members:?}"
    );
}

#[test]
fn somebody_is_missing_also_where_anothers_body_hides_their_feet() {
    let near_m = Vec2::new(-0.3, 1.2);
    let behind_m = near_m + 0.5 * (near_m - Vec2::new(CAMERA.x, CAMERA.z)).normalize();
    assert!(body(near_m, 1.7).covers(behind_m));
    let mut groups = floor(&[(near_m, 1.7), (behind_m, 1.5)]);
    groups.cover_by_others(&[Member::new(near_m, 1.7)], 1, &origins());
    let (found_m, more_m2) = groups
        .find_missing(1.5, &origins())
        .expect("candidate is find_missing");
    assert!(found_m.distance(behind_m) < 0.2, "{found_m}");
    assert_eq!(more_m2, COVERED_POSITION_M2);
}

#[test]
fn how_bright_shadow_and_body_are_is_told_where_nobody_else_is() {
    let (alone, beside) = (
        (Vec2::new(0.8, 0.9), 1.6, LIGHT),
        (Vec2::new(0.5, -0.6), 1.7, DARK),
    );
    let mut groups = toned_floor([alone, beside]);
    groups.set_bystanders([(beside.0, beside.1)].into_iter());
    groups.cover_by_bystanders(&origins());
    let [seen_shadow, seen_body] = groups.pixels.tones(&silhouette(alone.0, alone.1));
    assert!(
        (seen_shadow.unwrap() - SHADOW).abs() < 0.1,
        "{seen_shadow:?}"
    );
    assert!((seen_body.unwrap() - LIGHT).abs() < 0.1, "{seen_body:?}");
    groups.set_bystanders([(alone.0, alone.1)].into_iter());
    groups.cover_by_bystanders(&origins());
    assert_eq!(
        groups.pixels.tones(&silhouette(alone.0, alone.1)),
        [None; 2]
    );
}

#[test]
fn who_is_taller_than_thought_is_found_to_be() {
    let people = [(Vec2::new(0.8, 0.9), 1.8), (Vec2::new(0.2, 0.6), 1.2)];
    let mut groups = floor(&people);
    let mut members = people.map(|(position_m, _)| Member::new(position_m, 1.5));
    for _ in 0..6 {
        for index in 0..members.len() {
            groups.adjust_height(&mut members, index, &origins());
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
fn a_height_that_explains_all_stays_and_so_do_its_bounds() {
    let position_m = Vec2::new(0.8, 0.9);
    let mut members = [Member::new(position_m, 1.6)];
    floor(&[(position_m, 1.6)]).adjust_height(&mut members, 0, &origins());
    assert_eq!(members[0].height_m, 1.6);
    let mut tallest = [Member::new(position_m, TrackingParams::default().tallest_m)];
    floor(&[(position_m, 2.4)]).adjust_height(&mut tallest, 0, &origins());
    assert_eq!(tallest[0].height_m, TrackingParams::default().tallest_m);
}

#[test]
fn what_a_bystander_darkens_is_not_the_groups() {
    let (member, bystander) = ((Vec2::new(0.8, 0.9), 1.6), (Vec2::new(-0.4, 0.9), 1.7));
    let mut groups = floor(&[member, bystander]);
    let members = [Member::new(member.0, member.1)];
    let find_missing = |groups: &mut GroupFitter| {
        groups.cover_by_bystanders(&origins());
        groups.cover_by_others(&members, members.len(), &origins());
        let position_m = groups.find_missing(1.6, &origins()).map(|place| place.0);
        (groups.pixels.residual_m2(None), position_m)
    };
    let (unexplained_m2, position_m) = find_missing(&mut groups);
    assert!(unexplained_m2 > CANDIDATE_M2, "{unexplained_m2}");
    assert!(
        position_m.is_some_and(|position_m| position_m.distance(bystander.0) < 0.4),
        "{position_m:?}"
    );
    groups.set_bystanders([bystander].into_iter());
    let (unexplained_m2, _) = find_missing(&mut groups);
    assert!(unexplained_m2 < CANDIDATE_M2, "{unexplained_m2}");
}

#[test]
fn a_covered_area_is_that_of_all_points_and_only_of_those_that_tell() {
    for (position_m, height_m) in [
        (Vec2::new(0.8, 0.9), 1.8),
        (Vec2::new(-0.9, 0.2), 1.2),
        (Vec2::new(0.2, -0.4), 1.7),
    ] {
        let silhouette = silhouette(position_m, height_m);
        let mut groups = floor(&[]);
        groups.pixels.add_cover(&silhouette);
        let pixels = &groups.pixels;
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

/// Where those who are told of stand in each frame, by ascending id, on a floor of 3 m to either side of which a pixel sees
/// 2.5 cm, by what is dark in it.
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
        map: FloorFromCamera::whole_picture(SIDE, SIDE, &surface),
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
            luma: Luma::Eight((0..SIDE * SIDE).map(level).collect()),
        };
        let tracks = vision.observe(&frame).iter();
        tracks.map(|track| track.foot_m.as_vec2()).collect()
    };
    (0..frames).map(feet_m).collect()
}

/// How many are told of at last, when one walks in and a second, so far beside, so many frames later.
fn told_of([first_m, second_m]: [f32; 2], beside_m: Vec2, later: u32) -> usize {
    let feet_m = feet_of_each([LAMP, CAMERA], 95, |number, point_m| {
        let walked_m = (number as f32 - 45.0).max(0.0) * 0.04;
        let position_m = Vec2::new(-0.6, 2.6 - walked_m);
        (number > 45 && silhouette(position_m, first_m).covers(point_m))
            || (number > 45 + later && silhouette(position_m + beside_m, second_m).covers(point_m))
    });
    feet_m[94].len()
}

/// Whether an upright cylinder from one height to another hides a point of the floor from where somebody looks, or a lamp
/// shines.
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

/// Whether somebody so tall who walks on two legs hides a point of the floor: where they stand, how far one foot is ahead
/// from there (the other is as far behind), and the direction to their side.
fn walker_hides(
    [position_m, ahead_m, aside]: [Vec2; 3],
    height_m: f32,
    origins: &[Vec3; 2],
    point_m: Vec2,
) -> bool {
    let foot_m = ahead_m + 0.06 * height_m * aside;
    // Legs, trunk and head: half as wide as they are, and where they begin and end.
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

/// The most who are told of while one walks from left to right under a low lamp: so tall, legs so far apart at most, from a
/// place at the left with a velocity.
fn most_told_of(height_m: f32, apart_m: f32, from_m: f32, velocity_mps: Vec2) -> usize {
    let origins = [Vec3::new(0.0, 3.0, -2.5), Vec3::new(0.0, 4.5, 0.1)];
    let feet_m = feet_of_each(origins, 150, |number, point_m| {
        let secs = (number as f32 - 30.0) / 30.0;
        let position_m = Vec2::new(-3.4, from_m) + velocity_mps * secs;
        // A step takes half a second.
        let ahead_m = 0.5 * apart_m * (secs * std::f32::consts::TAU).sin() * Vec2::X;
        walker_hides([position_m, ahead_m, Vec2::Y], height_m, &origins, point_m)
    });
    feet_m.iter().map(Vec::len).max().unwrap_or_default()
}

/// How far two are found from where they stand at most, in meters: one goes aside from another, who comes near and turns
/// round so far beside a place, on legs that begin their steps with such phases.
fn most_off_m(phases: [f32; 2], aside_m: f32) -> f32 {
    const HEIGHTS_M: [f32; 2] = [1.58, 1.71];
    let origins = [Vec3::new(-1.5, 3.5, -1.2), Vec3::new(-0.3, 3.5, 0.4)];
    let position_m = |who: usize, secs: f32| {
        if who == 0 {
            Vec2::new(-1.45, -1.3) + (secs - 3.0) * Vec2::new(-0.42, -0.38)
        } else {
            let since_secs = secs - 2.5;
            Vec2::new(-1.37, aside_m - 0.42) + Vec2::new(1.2 * since_secs.abs(), -0.25 * since_secs)
        }
    };
    let hides = |who: usize, secs: f32, point_m: Vec2| {
        let velocity_mps = (position_m(who, secs + 0.05) - position_m(who, secs - 0.05)) / 0.1;
        let ahead = velocity_mps.normalize_or(Vec2::X);
        let most_m = 0.16 * HEIGHTS_M[who] * velocity_mps.length().min(1.2);
        let ahead_m = most_m * (6.2 * secs + phases[who]).sin() * ahead;
        let stride = [position_m(who, secs), ahead_m, ahead.perp()];
        walker_hides(stride, HEIGHTS_M[who], &origins, point_m)
    };
    let secs = |frame: u32| (frame as f32 - 15.0) / 30.0;
    let feet_m = feet_of_each(origins, 135, |frame, point_m| {
        frame > 15 && (0..2).any(|who| hides(who, secs(frame), point_m))
    });
    let told = (0..).zip(&feet_m).skip(30);
    let off_m = told.flat_map(|(frame, feet_m)| {
        let [first_m, second_m] = [0, 1].map(|who| position_m(who, secs(frame)));
        assert_eq!(feet_m.len(), 2, "frame {frame}");
        [feet_m[0].distance(first_m), feet_m[1].distance(second_m)]
    });
    off_m.fold(0.0, f32::max)
}

#[test]
fn whose_leg_is_a_blob_by_itself_beside_somebody_stays_where_they_are() {
    for (phases, aside_m) in [
        ([0.8, 0.78], -0.2),
        ([1.6, 0.78], -0.2),
        ([0.8, 5.46], -0.1),
        ([2.4, 5.46], -0.1),
    ] {
        let off_m = most_off_m(phases, aside_m);
        assert!(off_m < 0.28, "{phases:?} {aside_m}: {off_m} m");
    }
}

#[test]
fn a_walkers_legs_apart_under_a_low_lamp_are_no_second_visitor() {
    for (height_m, apart_m, from_m, velocity_mps) in [
        (1.8, 0.6, 0.2, Vec2::new(1.2, 0.0)),
        (1.8, 0.7, 0.7, Vec2::new(1.5, -0.15)),
        (1.9, 0.72, 1.0, Vec2::new(1.3, -0.4)),
    ] {
        let most = most_told_of(height_m, apart_m, from_m, velocity_mps);
        assert_eq!(
            most, 1,
            "{height_m} m, {apart_m} m, {from_m} m, {velocity_mps} m/s"
        );
    }
}

#[test]
fn a_child_beside_somebody_is_no_part_of_them() {
    let beside_m = Vec2::new(0.7, 0.15);
    assert_eq!(told_of([1.7, 1.05], beside_m, 20), 2);
    assert_eq!(told_of([1.2, 1.7], beside_m, 20), 2);
}

/// Who is taken to be the only one on a floor, where and as tall as they explain it best.
fn only_one(groups: &mut GroupFitter, position_m: Vec2) -> Member {
    let mut members = [Member::new(position_m, 1.5)];
    for &step_m in STEPS_M.iter().chain(&STEPS_M) {
        groups.cover_by_others(&members, 0, &origins());
        groups.step_member(&mut members[0], step_m, &origins());
        groups.adjust_height(&mut members, 0, &origins());
    }
    members[0]
}

#[test]
fn two_children_side_by_side_are_no_taller_one() {
    for [first_m, second_m] in [
        [Vec2::new(0.9, 1.0), Vec2::new(1.3, 0.75)],
        [Vec2::new(-1.4, 0.4), Vec2::new(-1.2, 0.85)],
    ] {
        let mut groups = floor(&[(first_m, 1.1), (second_m, 1.15)]);
        let alone = only_one(&mut groups, (first_m + second_m) / 2.0);
        let pair = groups.fit_split(&alone, &origins());
        let pair = pair.expect("two explain more").members;
        for wanted_m in [first_m, second_m] {
            let off_m = pair.map(|member| member.position_m.distance(wanted_m));
            assert!(off_m[0].min(off_m[1]) < 0.12, "{wanted_m}: {off_m:?}");
        }
        assert!(pair.iter().all(|member| member.height_m < 1.3), "{pair:?}");
    }
    assert_eq!(told_of([1.1, 1.1], Vec2::new(0.45, 0.15), 0), 2);
    // Nearer to each other they must be looked at for longer.
    for degrees in [0.0_f32, 30.0, 75.0, 105.0, 150.0] {
        let beside_m = 0.35 * Vec2::from_angle(degrees.to_radians());
        assert_eq!(told_of([1.1, 1.17], beside_m, 0), 2, "{degrees}°");
    }
}

#[test]
fn one_alone_is_no_pair_of_children() {
    for position_m in [
        Vec2::new(0.9, 1.0),
        Vec2::new(-1.4, 0.4),
        Vec2::new(1.2, -0.9),
    ] {
        for height_m in [1.2, 1.5, 1.8] {
            let mut groups = floor(&[(position_m, height_m)]);
            let alone = only_one(&mut groups, position_m + Vec2::splat(0.1));
            assert_eq!(
                groups.fit_split(&alone, &origins()),
                None,
                "{position_m} {height_m}"
            );
        }
    }
}

/// Of two of usual height in these places: how much more they explain than one, who is returned as well.
fn fit_merged_and_pair(people: &[(Vec2, f32)], [a_m, b_m]: [Vec2; 2]) -> (f32, Member) {
    let pair = [a_m, b_m].map(|position_m| Member::new(position_m, 1.57));
    floor(people).fit_merged_and_pair(pair, &origins())
}

#[test]
fn one_explains_as_much_as_two_parts_of_them() {
    let position_m = Vec2::new(0.8, 0.9);
    for height_m in [1.2, 1.6, 1.9] {
        for offset_m in [Vec2::X, Vec2::Y, Vec2::new(0.5, -0.5)].map(|m| 0.3 * m) {
            let places_m = [position_m - offset_m, position_m + offset_m];
            let (more_m2, one) = fit_merged_and_pair(&[(position_m, height_m)], places_m);
            assert!(more_m2 < 0.02, "{height_m} {offset_m}: {more_m2}");
            let off_m = one.position_m.distance(position_m);
            assert!(off_m < 0.2, "{height_m} {offset_m}: {off_m}");
        }
    }
}

#[test]
fn one_explains_less_than_two_who_are_two() {
    let a_m = Vec2::new(0.8, 0.9);
    for heights_m in [[1.2, 1.2], [1.2, 1.8], [1.7, 1.7]] {
        for offset_m in [0.5 * Vec2::X, 0.5 * Vec2::Y, Vec2::new(0.6, -0.6)] {
            let b_m = a_m + offset_m;
            let people = [(a_m, heights_m[0]), (b_m, heights_m[1])];
            let (more_m2, _) = fit_merged_and_pair(&people, [a_m, b_m]);
            assert!(more_m2 > 0.05, "{heights_m:?} {offset_m}: {more_m2}");
        }
    }
}
