//! Visitors of other shapes and clothes.

use glam::{DVec2, DVec3};

use crate::rooms::{Thing, Walker};

use super::cases::{Case, NOBODY_FALSE, case, pole, v};
use super::hall::Moment;

pub(super) const CASES: &[Case] = &[
    case("a mirror beside the floor", 60.0, |shot, m| {
        let at = m.stroll(1);
        shot.adult(1, at);
        // The mirror stands on the line z = 1.55.
        let bodies = [pole(v(at.x, 3.1 - at.y), 0.17, 1.7)];
        shot.bodies.extend(bodies);
    }),
    case(
        "a mirror behind acrylic beside the floor",
        60.0,
        |shot, m| {
            let at = m.stroll(1);
            shot.adult(1, at);
            // It reflects a part of the light that the body takes away, so the reflection is paler than the visitor.
            shot.bodies.push(Thing::Patch {
                at_m: v(at.x, 3.1 - at.y),
                half_m: v(0.2, 0.35),
                turn_rad: 0.0,
                darkness: 0.35,
            });
        },
    ),
    case("a child of 0.9 m", 60.0, |shot, m| {
        shot.person(1, m.stroll(1), 0.11, 0.9);
    }),
    case("a crawling child", 60.0, |shot, m| {
        let slow = Moment {
            secs: 4.0 + 0.4 * (m.secs - 4.0),
            ..*m
        };
        let at = slow.stroll(1);
        let ahead = (Moment {
            secs: slow.secs + 0.1,
            ..*m
        }
        .stroll(1)
            - at)
            .normalize_or(DVec2::X);
        shot.person(1, at, 0.12, 0.4);
        shot.bodies.push(pole(at + 0.25 * ahead, 0.09, 0.35));
        shot.bodies.push(pole(at - 0.2 * ahead, 0.1, 0.25));
    }),
    case("a child hand in hand with an adult", 60.0, |shot, m| {
        let at = m.stroll(1);
        let ahead = (Moment {
            secs: m.secs + 0.1,
            ..*m
        }
        .stroll(1)
            - at)
            .normalize_or(DVec2::X);
        shot.walker(1, at, Walker::walking(at, 1.75, ahead, 6.2 * m.secs));
        let child = at + 0.45 * ahead.perp();
        shot.walker(2, child, Walker::walking(child, 0.95, ahead, 8.1 * m.secs));
    }),
    Case {
        prepare: |hall| {
            hall.room
                .floor
                .iter_mut()
                .for_each(|(_, level)| *level *= 0.3);
        },
        ..case("black clothes on a dark carpet", 60.0, |shot, m| {
            shot.adult(1, m.stroll(1));
        })
    },
    Case {
        fault: Some(("dark_floor", 10.0)),
        limits: NOBODY_FALSE,
        prepare: |hall| {
            hall.room
                .floor
                .iter_mut()
                .for_each(|(_, level)| *level *= 0.08);
        },
        ..case("a carpet that is black in infrared", 30.0, |shot, m| {
            shot.adult(1, m.stroll(1));
        })
    },
    case("a wheelchair", 60.0, |shot, m| {
        let at = m.stroll(1);
        shot.person(1, at, 0.33, 1.25);
        shot.bodies.push(pole(at + v(0.2, 0.2), 0.2, 0.5));
    }),
    case("a pram", 60.0, |shot, m| {
        let at = m.stroll(1);
        let ahead = (Moment {
            secs: m.secs + 0.1,
            ..*m
        }
        .stroll(1)
            - at)
            .normalize_or(DVec2::X);
        shot.adult(1, at);
        shot.bodies.push(pole(at + 0.75 * ahead, 0.3, 0.95));
    }),
    case("an umbrella", 60.0, |shot, m| {
        let at = m.stroll(1);
        shot.adult(1, at);
        shot.bodies.push(Thing::Canopy {
            at_m: at,
            radius_m: 0.5,
            height_m: 2.0,
        });
    }),
    case("a step of 0.15 m", 60.0, |shot, m| {
        let at = m.stroll(1);
        // On the step, a body stands 0.15 m above the plane of the floor, so camera and lamp see it farther away.
        let up = if at.x > 0.0 { 0.15 } else { 0.0 };
        let seen = |source: DVec3| {
            let below = v(source.x, source.z);
            below + (at - below) * (source.y / (source.y - up))
        };
        let place = 0.5 * (seen(DVec3::new(0.4, 4.2, 0.6)) + seen(DVec3::new(-1.3, 3.9, -0.6)));
        shot.adult(1, place);
        shot.people[0].foot_m = at;
    }),
];
