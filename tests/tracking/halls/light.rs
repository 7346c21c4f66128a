//! Light and faults of the picture, and what helps against them.

use std::f64::consts::TAU;

use glam::DVec2;
use shoal::vision::{Area, Polarity};

use crate::rooms::Thing;

use super::cases::{Case, Limits, NOBODY_FALSE, WORKS, add, case, v};
use super::hall::{Levels, Moment, Person, Shot};

pub(super) const CASES: &[Case] = &[
    case("foreign infrared pulses at 0.5 Hz", 40.0, |shot, m| {
        pulses(shot, m, 0.5);
    }),
    Case {
        is_small: true,
        ..case("foreign infrared pulses at 1 Hz", 40.0, |shot, m| {
            pulses(shot, m, 1.0);
        })
    },
    case("foreign infrared pulses at 3 Hz", 40.0, |shot, m| {
        pulses(shot, m, 3.0);
    }),
    Case {
        fps: 25.0,
        ..case("foreign infrared pulses at 10 Hz", 40.0, |shot, m| {
            pulses(shot, m, 10.0);
        })
    },
    Case {
        fault: Some(("rolling_bands", 20.0)),
        ..case("bands of 30 % roll", 40.0, |shot, m| {
            bands(shot, m, 0.3, 0.4);
        })
    },
    Case {
        fault: Some(("rolling_bands", 25.0)),
        ..case("bands of 30 % creep", 60.0, |shot, m| {
            bands(shot, m, 0.3, 0.06);
        })
    },
    case("the light falls to 40 % at once", 60.0, |shot, m| {
        light(shot, m, |s| if s < 20.0 { 1.0 } else { 0.4 });
    }),
    case("the light falls to 25 % at once", 60.0, |shot, m| {
        light(shot, m, |s| if s < 20.0 { 1.0 } else { 0.25 });
    }),
    case("the light rises to 250 % at once", 60.0, |shot, m| {
        light(shot, m, |s| if s < 20.0 { 0.4 } else { 1.0 });
    }),
    Case {
        is_small: true,
        ..case("the light rises to 400 % at once", 60.0, |shot, m| {
            light(shot, m, |s| if s < 20.0 { 0.25 } else { 1.0 });
        })
    },
    Case {
        fault: Some(("bright_floor", 10.0)),
        limits: NOBODY_FALSE,
        ..case("a floor that is too bright", 30.0, |shot, m| {
            light(shot, m, |_| 3.0);
        })
    },
    case("the light rises until it is too bright", 60.0, |shot, m| {
        light(shot, m, |s| if s < 20.0 { 1.0 } else { 1.7 });
    }),
    Case {
        fps: 5.0,
        ..case(
            "the light falls to 30 % within 30 minutes",
            1900.0,
            |shot, m| light(shot, m, |s| 1.0 - 0.7 * (s / 1800.0).min(1.0)),
        )
    },
    Case {
        fps: 5.0,
        ..case(
            "the light rises to 330 % within 30 minutes",
            1900.0,
            |shot, m| light(shot, m, |s| 0.3 + 0.7 * (s / 1800.0).min(1.0)),
        )
    },
    Case {
        is_small: true,
        ..case("one of two lamps fails", 60.0, |shot, m| {
            shot.adult(1, m.stroll(1));
            if m.secs < 20.0 {
                shot.light = Some(Box::new(|at| {
                    90.0 * (-(at - v(1.2, 0.3)).length_squared() / 1.6).exp()
                }));
            }
        })
    },
    case(
        "daylight on half of the floor goes within 30 s",
        80.0,
        |shot, m| {
            shot.adult(1, m.stroll(1));
            let day = 1.0 - ((m.secs - 20.0) / 30.0).clamp(0.0, 1.0);
            shot.light = Some(Box::new(move |at| {
                80.0 * day * (0.5 + 2.0 * at.x).clamp(0.0, 1.0)
            }));
        },
    ),
    Case {
        fault: Some(("strobing_light", 5.0)),
        limits: Limits {
            lost_secs: 2.0,
            ..WORKS
        },
        is_small: true,
        ..case("every second picture is dark", 25.0, |shot, m| {
            strobe(shot, m, 2);
        })
    },
    Case {
        fault: Some(("strobing_light", 5.0)),
        limits: Limits {
            lost_secs: 2.0,
            ..WORKS
        },
        ..case("every third picture is dark", 25.0, |shot, m| {
            strobe(shot, m, 3);
        })
    },
    case("headlights sweep over the floor", 60.0, |shot, m| {
        shot.adult(1, m.stroll(1));
        let along = DVec2::from_angle(TAU * m.random(3));
        let way = (m.secs / 4.5).fract() * 1.6;
        if m.secs > 5.0 && way < 1.0 {
            shot.light = Some(Box::new(move |at| {
                let off = (at.dot(along) - 6.0 * (way - 0.5)) / 0.7;
                100.0 * (-off * off).exp()
            }));
        }
    }),
    case("sun crosses the floor within a minute", 90.0, |shot, m| {
        sun(shot, m, 60.0, 90.0);
    }),
    case(
        "sun crosses the floor within ten minutes",
        700.0,
        |shot, m| sun(shot, m, 600.0, 90.0),
    ),
    case(
        "hard sun crosses the floor within ten minutes",
        700.0,
        |shot, m| sun(shot, m, 600.0, 250.0),
    ),
    Case {
        fps: 5.0,
        ..case("sun crosses the floor within an hour", 3700.0, |shot, m| {
            sun(shot, m, 3600.0, 120.0);
        })
    },
    Case {
        fault: Some(("unreliable_area", 30.0)),
        ..case("a clock in the picture", 40.0, |shot, m| {
            clock(shot, m, true);
        })
    },
    Case {
        fault: Some(("unreliable_area", 30.0)),
        ..case("a clock in the picture, and a visitor", 40.0, |shot, m| {
            clock(shot, m, false);
        })
    },
    Case {
        is_small: true,
        ..case("the first second is gray", 40.0, |shot, m| {
            start(shot, m, 12, |_| 128.0);
        })
    },
    case("the first 300 ms are green", 40.0, |shot, m| {
        start(shot, m, 4, |_| 76.0);
    }),
    case("the first two seconds show only edges", 40.0, |shot, m| {
        start(shot, m, 25, |d| 128.0 + 2.0 * d);
    }),
    case("the first pictures are black", 40.0, |shot, m| {
        start(shot, m, 6, |_| 2.0);
    }),
    case("the first pictures are white", 40.0, |shot, m| {
        start(shot, m, 6, |_| 255.0);
    }),
    Case {
        is_small: true,
        ..case("half a second of torn picture", 40.0, |shot, m| {
            torn(shot, m, 40, 0.5);
        })
    },
    case(
        "half a second of a picture that is torn everywhere",
        40.0,
        |shot, m| torn(shot, m, 0, 0.5),
    ),
    case("two seconds of torn picture", 40.0, |shot, m| {
        torn(shot, m, 40, 2.0);
    }),
    case("dust near the lens", 60.0, |shot, m| {
        shot.adult(1, m.stroll(1));
        let m = *m;
        shot.flaw = Some(Box::new(move |levels| {
            for speck in 0..4 {
                let life = 5.0 + 6.0 * m.random(200 + speck);
                let turn = (m.secs / life).floor() as u64;
                let age = (m.secs / life).fract();
                let from = v(
                    160.0 * m.random(300 + 9 * turn + speck),
                    120.0 * m.random(400 + 9 * turn + speck),
                );
                let along = DVec2::from_angle(TAU * m.random(500 + 9 * turn + speck));
                let at = from + along * 70.0 * (age - 0.5);
                brighten(
                    levels,
                    at,
                    14.0 + 10.0 * m.random(600 + speck),
                    60.0 * (TAU * age / 2.0).sin(),
                );
            }
        }));
    }),
    Case {
        ..case("dark leaves sway", 60.0, |shot, m| {
            shot.adult(1, m.stroll(1).min(v(0.9, 2.0)));
            leaves(shot, m);
        })
    },
    Case {
        is_small: true,
        prepare: |hall| {
            hall.params.ignore = vec![Area {
                floor_m: vec![[1.1, -1.6], [2.6, -1.6], [2.6, 0.8], [1.1, 0.8]],
                ..Area::default()
            }];
        },
        ..case(
            "dark leaves sway in an ignored area of the floor",
            40.0,
            |shot, m| {
                shot.adult(1, m.stroll(1).min(v(0.4, 2.0)));
                leaves(shot, m);
            },
        )
    },
    Case {
        prepare: |hall| {
            hall.params.include = vec![Area {
                floor_m: vec![[-2.6, -2.2], [1.1, -2.2], [1.1, 2.2], [-2.6, 2.2]],
                ..Area::default()
            }];
        },
        ..case(
            "dark leaves sway outside of a watched area of the floor",
            40.0,
            |shot, m| {
                shot.adult(1, m.stroll(1).min(v(0.4, 2.0)));
                leaves(shot, m);
            },
        )
    },
    Case {
        prepare: |hall| {
            hall.params.ignore = vec![Area {
                camera_px: vec![[0.0, 0.0], [76.0, 0.0], [76.0, 92.0], [0.0, 92.0]],
                ..Area::default()
            }];
        },
        ..case(
            "a clock in an ignored area of the picture",
            40.0,
            |shot, m| clock(shot, m, true),
        )
    },
    Case {
        is_small: true,
        prepare: |hall| hall.params.polarity = Polarity::Bright,
        ..case("bright visitors on a dark floor", 60.0, |shot, m| {
            shot.adult(1, m.stroll(1));
            shot.adult(
                2,
                m.way(
                    2,
                    &[
                        (0.0, v(2.8, -1.6)),
                        (6.0, v(2.6, -0.9)),
                        (10.0, v(m.between(8, -1.2, 1.2), -1.1)),
                    ],
                )
                .unwrap_or(v(2.8, -1.6)),
            );
            shot.flaw = Some(Box::new(|levels| {
                for level in levels.now.iter_mut() {
                    *level = (180.0 - 0.95 * f64::from(*level)).clamp(0.0, 255.0) as u8;
                }
            }));
        })
    },
    Case {
        prepare: |hall| hall.params.polarity = Polarity::Both,
        ..case("a dark and a bright visitor", 60.0, |shot, m| {
            shot.adult(1, m.stroll(1));
            let at = (m.secs > 12.0).then(|| {
                v(0.9 * (0.3 * m.secs).sin(), -2.4).lerp(
                    v(0.9 * (0.3 * m.secs).sin(), -0.9),
                    ((m.secs - 12.0) / 3.0).min(1.0),
                )
            });
            if let Some(at) = at {
                shot.people.push(Person {
                    number: 2,
                    foot_m: at,
                });
                shot.light = Some(Box::new(move |point| {
                    if point.distance(at) < 0.22 {
                        120.0
                    } else {
                        0.0
                    }
                }));
            }
        })
    },
    case("a door lets hard light in", 60.0, |shot, m| {
        shot.adult(1, m.stroll(1));
        let open =
            ((m.secs - 12.0) / 0.8).clamp(0.0, 1.0) - ((m.secs - 40.0) / 0.8).clamp(0.0, 1.0);
        let wide = 0.5 * open;
        shot.light = Some(Box::new(move |at| {
            let to = at - v(-2.6, 0.0);
            if to.x > 0.0 && (at.y / to.x).abs() < wide {
                130.0
            } else {
                0.0
            }
        }));
    }),
];

/// An infrared source lights a third of the picture, half of the time.
fn pulses(shot: &mut Shot, m: &Moment, hz: f64) {
    shot.adult(1, m.stroll(1));
    let is_on = (m.secs * hz + m.random(5)).fract() < 0.5;
    if m.secs > 6.0 && is_on {
        let center = v(m.between(6, -1.5, 1.5), m.between(7, -1.0, 1.0));
        shot.light = Some(Box::new(move |at| {
            90.0 * (-(at - center).length_squared() / 1.8).exp()
        }));
    }
}

fn bands(shot: &mut Shot, m: &Moment, depth: f64, per_sec: f64) {
    shot.adult(1, m.stroll(1));
    let phase = m.random(5) - per_sec * m.secs;
    shot.flaw = Some(Box::new(move |levels| {
        let (width, height) = (levels.width, levels.height());
        for (y, row) in levels.now.chunks_exact_mut(width).enumerate() {
            let factor = 1.0 + depth * (TAU * (1.7 * y as f64 / height as f64 + phase)).sin();
            row.iter_mut()
                .for_each(|level| *level = (f64::from(*level) * factor).min(255.0) as u8);
        }
    }));
}

fn light(shot: &mut Shot, m: &Moment, gain: fn(f64) -> f64) {
    shot.adult(1, m.stroll(1));
    shot.gain = Some(gain(m.secs));
}

fn strobe(shot: &mut Shot, m: &Moment, every: u64) {
    shot.adult(1, m.stroll(1));
    if m.frame % every == every - 1 {
        shot.gain = Some(0.03);
    }
}

/// A patch of sunlight from a window crosses the floor from left to right.
fn sun(shot: &mut Shot, m: &Moment, secs: f64, power: f64) {
    shot.adult(1, m.stroll(1));
    let middle = v(-3.0 + 6.0 * (m.secs - 10.0) / secs, m.between(5, -0.6, 0.6));
    shot.light = Some(Box::new(move |at| {
        let off = ((at - middle).abs() - v(0.5, 0.4)).max_element();
        power * (-off / 0.06).clamp(0.0, 1.0)
    }));
}

/// Seven segments of a digit, as (left, top, right, bottom) in a cell of 6 × 11 pixels.
const SEGMENTS: [(usize, usize, usize, usize); 7] = [
    (0, 0, 6, 2),
    (4, 0, 6, 6),
    (4, 5, 6, 11),
    (0, 9, 6, 11),
    (0, 5, 2, 11),
    (0, 0, 2, 6),
    (0, 5, 6, 6),
];

/// Segments of the digits 0 to 9.
const DIGITS: [&[usize]; 10] = [
    &[0, 1, 2, 3, 4, 5],
    &[1, 2],
    &[0, 1, 6, 4, 3],
    &[0, 1, 6, 2, 3],
    &[5, 6, 1, 2],
    &[0, 5, 6, 2, 3],
    &[0, 5, 6, 2, 3, 4],
    &[0, 1, 2],
    &[0, 1, 2, 3, 4, 5, 6],
    &[0, 1, 2, 3, 5, 6],
];

/// The camera writes the time into its picture, with a tenth of a second.
fn clock(shot: &mut Shot, m: &Moment, is_empty: bool) {
    if !is_empty {
        shot.adult(1, m.stroll(1));
    }
    let tenths = (10.0 * m.secs) as usize + 1000;
    let (top, scale) = (6 + (60.0 * m.random(5)) as usize, 2);
    shot.flaw = Some(Box::new(move |levels| {
        for (place, power) in [1000, 100, 10, 1].into_iter().enumerate() {
            for &segment in DIGITS[tenths / power % 10] {
                let (left, first, right, last) = SEGMENTS[segment];
                for y in scale * first..scale * last {
                    for x in scale * left..scale * right {
                        levels.now[(top + y) * levels.width + 8 + 16 * place + x] = 255;
                    }
                }
            }
        }
    }));
}

/// The first pictures of a stream show no light, but the difference to a picture that was not sent.
fn start(shot: &mut Shot, m: &Moment, frames: u64, level: fn(f64) -> f64) {
    add(
        shot,
        1,
        m.way(
            1,
            &[
                (8.0, v(-2.6, 0.2)),
                (11.0, v(m.between(5, -1.0, 1.0), 0.1)),
                (20.0, v(0.5, -0.5)),
            ],
        ),
    );
    if m.frame < frames {
        shot.flaw = Some(Box::new(move |levels| {
            for (now, before) in levels.now.iter_mut().zip(levels.before) {
                *now = level(f64::from(*now) - f64::from(*before)).clamp(0.0, 255.0) as u8;
            }
        }));
    }
}

/// A packet is lost: from a row on, the picture shows gray and the motion since the last good one. One visitor stands.
fn torn(shot: &mut Shot, m: &Moment, first_row: usize, secs: f64) {
    let home = v(m.between(5, -1.0, 1.0), m.between(6, 0.0, 0.8));
    add(shot, 1, m.way(1, &[(4.0, v(-2.6, 0.2)), (9.0, home)]));
    add(
        shot,
        2,
        m.way(
            2,
            &[
                (5.0, v(2.6, -0.8)),
                (12.0, v(-0.9, -0.8)),
                (19.0, v(1.4, -0.8)),
                (30.0, v(0.0, -0.6)),
            ],
        ),
    );
    if (15.0..15.0 + secs).contains(&m.secs) {
        shot.flaw = Some(Box::new(move |levels| {
            let first = first_row * levels.width;
            for (now, before) in levels.now.iter_mut().zip(levels.before).skip(first) {
                *now = (128 + i32::from(*now) - i32::from(*before)).clamp(0, 255) as u8;
            }
        }));
    }
}

fn brighten(levels: &mut Levels<'_>, at: DVec2, reach: f64, by: f64) {
    for (i, level) in levels.now.iter_mut().enumerate() {
        let off = v((i % levels.width) as f64, (i / levels.width) as f64).distance(at);
        let share = ((reach - off) / (0.4 * reach)).clamp(0.0, 1.0);
        *level = (f64::from(*level) + by * share).clamp(0.0, 255.0) as u8;
    }
}

/// The leaves of a plant at the right edge of the surface, which sway in the air of a ventilator.
fn leaves(shot: &mut Shot, m: &Moment) {
    for leaf in 0..7 {
        let rest = v(
            1.5 + 0.4 * m.random(30 + leaf),
            -1.0 + 1.2 * m.random(50 + leaf),
        );
        let beat = 0.25 + 0.5 * m.random(70 + leaf);
        let by = v(
            (TAU * beat * m.secs).sin(),
            (TAU * 0.8 * beat * m.secs + 1.0).cos(),
        );
        shot.bodies.push(Thing::Patch {
            at_m: rest + 0.12 * by,
            half_m: v(0.16, 0.05),
            turn_rad: TAU * m.random(90 + leaf) + 0.3 * by.x,
            darkness: 0.7,
        });
    }
}
