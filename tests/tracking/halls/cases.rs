//! What halls do to an infrared camera, case by case.

use glam::DVec2;

use crate::rooms::Thing;

use super::hall::{Hall, Moment, Shot};
use super::{bodies, light, people};

/// Limits of a case, in seconds if they are times. A limit of infinity is not judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) false_secs: f64,
    pub(super) lost_secs: f64,
    pub(super) ids: usize,
    pub(super) on_thing_secs: f64,
    /// Least area of all tracks at the end, in m².
    pub(super) area_m2: f64,
}

/// One row of the table.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) secs: f64,
    pub(super) fps: f64,
    /// Whether the normal suite runs it, with one seed.
    pub(super) is_small: bool,
    pub(super) limits: Limits,
    /// The fault that must be reported, if any, and the time by which it must be, in seconds.
    pub(super) fault: Option<(&'static str, f64)>,
    /// Changes the room before the run.
    pub(super) prepare: fn(&mut Hall),
    pub(super) draw: fn(&mut Shot, &Moment),
}

/// Everybody is found, with one id each, and nobody else.
pub(super) const WORKS: Limits = Limits {
    false_secs: 1.0,
    lost_secs: 1.0,
    ids: 1,
    on_thing_secs: 0.0,
    area_m2: 0.0,
};
/// A thing has a track until it becomes scenery.
pub(super) const THING: Limits = Limits {
    on_thing_secs: 122.0,
    ..WORKS
};
/// So many people are in one blob that they cannot be counted, but the floor that they cover stays covered.
pub(super) const CROWD: Limits = Limits {
    false_secs: f64::INFINITY,
    lost_secs: f64::INFINITY,
    ids: usize::MAX,
    area_m2: 4.0,
    ..WORKS
};
/// The fault says what may be wrong, so visitors may be lost, but nobody is invented.
pub(super) const NOBODY_FALSE: Limits = Limits {
    lost_secs: f64::INFINITY,
    ids: usize::MAX,
    ..WORKS
};

pub(super) const fn case(name: &'static str, secs: f64, draw: fn(&mut Shot, &Moment)) -> Case {
    Case {
        name,
        secs,
        fps: 12.5,
        is_small: false,
        limits: WORKS,
        fault: None,
        prepare: |_| {},
        draw,
    }
}

pub(super) const fn v(x: f64, z: f64) -> DVec2 {
    DVec2::new(x, z)
}

/// All rows, by what they are about.
pub(super) const CASES: [&[Case]; 3] = [people::CASES, light::CASES, bodies::CASES];

pub(super) fn add(shot: &mut Shot, number: u32, at: Option<DVec2>) {
    if let Some(at) = at {
        shot.adult(number, at);
    }
}

pub(super) fn pole(at_m: DVec2, radius_m: f64, height_m: f64) -> Thing {
    Thing::Pole {
        at_m,
        radius_m,
        height_m,
    }
}
