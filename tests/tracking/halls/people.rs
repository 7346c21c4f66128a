//! Visitors at the start, crowds, and things that visitors move.

use std::f64::consts::TAU;

use glam::DVec2;

use crate::rooms::Thing;

use super::cases::{CROWD, Case, Limits, THING, WORKS, add, case, pole, v};
use super::hall::{Hall, Moment, Shot};

pub(super) const CASES: &[Case] = &[
    Case {
        is_small: true,
        prepare: |hall| hall.judged_secs = 3.2,
        ..case(
            "there at the start, moves aside and stands still",
            60.0,
            |shot, m| {
                let z = m.between(1, -0.8, 0.8);
                let stops = [(0.0, v(0.4, z)), (2.0, v(0.4, z)), (3.0, v(0.05, z))];
                add(shot, 1, m.way(1, &stops));
            },
        )
    },
    case(
        "comes in at the start and stands still from second 6 on",
        200.0,
        |shot, m| {
            let stops = [(1.0, v(-2.4, 0.0)), (6.0, v(m.between(1, -0.5, 1.0), 0.3))];
            add(shot, 1, m.way(1, &stops));
        },
    ),
    case(
        "comes in at the edge and stands still there",
        200.0,
        |shot, m| {
            let z = m.between(1, -1.2, 0.8);
            let stops = [(4.0, v(-2.3, z)), (6.0, v(-1.75, z))];
            add(shot, 1, m.way(1, &stops));
        },
    ),
    Case {
        prepare: |hall| hall.judged_secs = 6.5,
        ..case(
            "three at the start, move a little and stand still",
            60.0,
            |shot, m| {
                for number in 0..3 {
                    let at = v(
                        -1.2 + 1.2 * f64::from(number),
                        m.between(number.into(), -0.7, 0.7),
                    );
                    let to = at + DVec2::from_angle(TAU * m.random(10 + u64::from(number))) * 0.3;
                    let go = 1.0 + 2.0 * f64::from(number);
                    let stops = [(0.0, at), (go, at), (go + 1.0, to)];
                    add(shot, number, m.way(number, &stops));
                }
            },
        )
    },
    case("walks about from the start", 60.0, |shot, m| {
        shot.adult(1, m.about(1));
    }),
    case("comes in and walks about", 60.0, |shot, m| {
        shot.adult(1, m.stroll(1));
    }),
    Case {
        is_small: true,
        limits: CROWD,
        prepare: Hall::zoom,
        ..case("a class of 20 sits down one by one", 60.0, |shot, m| {
            class(shot, m, 20, 1.0);
        })
    },
    Case {
        limits: CROWD,
        prepare: Hall::zoom,
        ..case(
            "a class of 20 sits down in eight seconds",
            60.0,
            |shot, m| class(shot, m, 20, 0.4),
        )
    },
    Case {
        limits: CROWD,
        prepare: Hall::zoom,
        ..case("a crowd of 14 adults comes in", 60.0, crowd)
    },
    Case {
        limits: Limits {
            area_m2: 0.0,
            ..CROWD
        },
        prepare: Hall::zoom,
        ..case("the lamp fails over a class", 60.0, |shot, m| {
            class(shot, m, 16, 1.0);
            if (35.0..36.0).contains(&m.secs) {
                shot.gain = Some(0.02);
            }
        })
    },
    Case {
        limits: THING,
        ..case("a visitor carries a mat in and goes", 190.0, |shot, m| {
            carried(shot, m, &|at| vec![mat(at, v(0.5, 0.3), 0.2)]);
        })
    },
    Case {
        limits: THING,
        ..case("a visitor brings a chair and goes", 190.0, |shot, m| {
            carried(shot, m, &|at| vec![pole(at, 0.25, 0.85)]);
        })
    },
    Case {
        limits: THING,
        ..case("a visitor leaves a pram and goes", 190.0, pram)
    },
    Case {
        is_small: true,
        limits: Limits {
            on_thing_secs: 14.0,
            ..WORKS
        },
        prepare: |hall| hall.params.scenery_secs = 12.0,
        ..case("a pram that a visitor leaves is soon scenery", 40.0, pram)
    },
    Case {
        limits: THING,
        ..case("a visitor drops a bag and goes", 190.0, |shot, m| {
            carried(shot, m, &|at| vec![pole(at, 0.16, 0.35)]);
        })
    },
    Case {
        limits: THING,
        ..case(
            "a visitor takes a chair away that was there",
            60.0,
            |shot, m| {
                let (chair, out) = (v(0.5, m.between(1, -0.5, 0.5)), v(2.6, 0.0));
                let stops = [
                    (12.0, v(-2.5, 0.0)),
                    (16.0, chair + v(-0.3, 0.2)),
                    (20.0, chair + v(-0.3, 0.2)),
                    (24.0, out),
                ];
                let at = m.way(1, &stops);
                add(shot, 1, at.filter(|_| m.secs < 24.0));
                let chair = if m.secs < 20.0 {
                    chair
                } else {
                    at.unwrap_or(out) + v(0.3, -0.2)
                };
                shot.bodies.push(pole(chair, 0.25, 0.85));
            },
        )
    },
    Case {
        limits: THING,
        ..case("a sheet of paper slides over the floor", 60.0, |shot, m| {
            let at = m.stroll(1);
            shot.adult(1, at);
            // It falls to the floor, lies there, and slides by 1.6 m in a draught.
            let slid = ((m.secs - 20.0) / 3.0).clamp(0.0, 1.0);
            let paper = v(-0.6, 0.5).lerp(v(0.7, -0.4), slid);
            if m.secs > 12.0 {
                shot.bodies.push(Thing::Patch {
                    at_m: paper,
                    half_m: v(0.15, 0.21),
                    turn_rad: 2.0 * slid,
                    darkness: 0.45,
                });
                shot.things_m.push(paper);
            }
        })
    },
    Case {
        limits: THING,
        ..case("a visitor pushes a chair by a meter", 200.0, |shot, m| {
            let chair = v(0.0, m.between(1, -0.4, 0.4));
            let by = v(-0.45, 0.0);
            let stops = [
                (12.0, v(-2.5, 0.0)),
                (16.0, chair + by),
                (20.0, chair + by),
                (22.0, chair + by + v(1.0, 0.0)),
                (24.0, chair + by + v(1.0, 0.0)),
                (30.0, v(-2.6, 0.4)),
            ];
            let at = m.way(1, &stops);
            add(shot, 1, at.filter(|_| m.secs < 30.0));
            let pushed = ((m.secs - 20.0) / 2.0).clamp(0.0, 1.0);
            shot.bodies.push(pole(chair + v(pushed, 0.0), 0.25, 0.85));
            shot.things_m.push(chair + v(pushed, 0.0));
            shot.things_m.push(chair);
        })
    },
];

fn mat(at_m: DVec2, half_m: DVec2, turn_rad: f64) -> Thing {
    Thing::Patch {
        at_m,
        half_m,
        turn_rad,
        darkness: 0.75,
    }
}

fn pram(shot: &mut Shot, m: &Moment) {
    carried(shot, m, &|at| {
        vec![pole(at, 0.3, 1.0), pole(at + v(0.3, 0.1), 0.25, 0.6)]
    });
}

/// A class of children comes in one after another; each sits down in a seat of its own.
fn class(shot: &mut Shot, m: &Moment, count: u32, gap_secs: f64) {
    for number in 0..count {
        let mut seat = (number * 7) % 20;
        if seat >= count {
            seat = number;
        }
        let (column, row) = (f64::from(seat % 5), f64::from(seat / 5));
        let seat = v(0.75 * (column - 2.0), 0.72 * (row - 1.5));
        let seat = seat
            + 0.1
                * v(
                    m.random(u64::from(number)),
                    m.random(50 + u64::from(number)),
                );
        let come = 4.0 + gap_secs * f64::from(number);
        let stops = [(come, v(-2.6, seat.y)), (come + 3.0, seat)];
        let Some(at) = m.way(number, &stops) else {
            continue;
        };
        if m.secs < come + 3.0 {
            shot.person(number, at, 0.13, 1.2);
        } else {
            shot.person(number, at, 0.33, 0.75);
        }
    }
}

fn crowd(shot: &mut Shot, m: &Moment) {
    for number in 0..14 {
        let (column, row) = (f64::from(number % 5), f64::from(number / 5));
        let goal = v(0.75 * (column - 2.0), 0.9 * (row - 1.0));
        let come = 4.0 + 0.7 * f64::from(number);
        let stops = [(come, v(2.6, goal.y)), (come + 3.0, goal)];
        add(shot, number, m.way(number, &stops));
    }
}

/// A visitor carries a thing in, puts it down at second 16 and goes away without it.
fn carried(shot: &mut Shot, m: &Moment, thing: &dyn Fn(DVec2) -> Vec<Thing>) {
    let goal = v(m.between(1, -0.3, 0.7), m.between(2, -0.4, 0.6));
    let out = v(-2.8, m.between(3, -1.0, 1.0));
    let stops = [(9.0, v(-2.6, 0.3)), (14.0, goal), (17.0, goal), (23.0, out)];
    let at = m.way(1, &stops).filter(|_| m.secs < 23.0);
    add(shot, 1, at);
    let place = goal + v(0.45, 0.0);
    if m.secs >= 16.0 {
        shot.bodies.extend(thing(place));
        shot.things_m.push(place);
    }
}
