//! A hall: a rendered room with people whose places are known, things, other light, and faults of the picture.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};
use shoal::camera::{Frame, Luma};
use shoal::geometry::Visitor;
use shoal::vision::{FloorView, Vision, VisionFault, VisionParams};

use crate::rooms::{Camera, OtherLight, Room, Thing, Walker, calibrated_view};

/// Largest distance of a track from the foot of the visitor whom it follows, in meters. A shadow reaches farther away from the
/// foot than that, so a track on the shadow alone does not count.
const NEAR_M: f64 = 0.6;
/// Half of the surface, less a margin in which a visitor may already be lost.
const COUNTED_M: DVec2 = DVec2::new(1.85, 1.35);

/// One person in a picture.
pub(super) struct Person {
    pub(super) number: u32,
    pub(super) foot_m: DVec2,
}

/// What a hall shows at a moment, and the truth about it.
#[derive(Default)]
pub(super) struct Shot {
    pub(super) people: Vec<Person>,
    /// Everything that darkens the floor, the bodies of the people included.
    pub(super) bodies: Vec<Thing>,
    /// Places of things that may have a track for a while.
    pub(super) things_m: Vec<DVec2>,
    /// Light of the lamp, as a factor; none for 1.
    pub(super) gain: Option<f64>,
    /// Light of other sources.
    pub(super) light: Option<OtherLight>,
    /// Changes the levels of the picture.
    pub(super) flaw: Option<Flaw>,
}

/// Changes the levels of a picture.
pub(super) type Flaw = Box<dyn Fn(&mut Levels<'_>)>;

/// Levels of a picture, row by row.
pub(super) struct Levels<'a> {
    pub(super) now: &'a mut [u8],
    /// The last picture without a flaw.
    pub(super) before: &'a [u8],
    pub(super) width: usize,
}

impl Levels<'_> {
    pub(super) fn height(&self) -> usize {
        self.now.len() / self.width
    }
}

impl Shot {
    /// Adds a person with this body.
    pub(super) fn person(&mut self, number: u32, foot_m: DVec2, radius_m: f64, height_m: f64) {
        self.people.push(Person { number, foot_m });
        self.bodies.push(Thing::Pole {
            at_m: foot_m,
            radius_m,
            height_m,
        });
    }

    pub(super) fn adult(&mut self, number: u32, foot_m: DVec2) {
        self.person(number, foot_m, 0.17, 1.7);
    }

    /// Adds a person with legs, whose steps are seen.
    pub(super) fn walker(&mut self, number: u32, foot_m: DVec2, walker: Walker) {
        self.people.push(Person { number, foot_m });
        self.bodies.push(Thing::Walker(walker));
    }
}

/// Time in a run of a case.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) secs: f64,
    pub(super) frame: u64,
    pub(super) seed: u64,
}

impl Moment {
    /// Returns a random number from 0 to 1 that depends on the seed of the run and on `purpose`.
    pub(super) fn random(&self, purpose: u64) -> f64 {
        let mut mixed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ purpose << 7;
        for _ in 0..3 {
            mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        }
        (mixed >> 40) as f64 / (1_u64 << 24) as f64
    }

    /// Returns a random number from `low` to `high`.
    pub(super) fn between(&self, purpose: u64, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random(purpose)
    }

    /// Returns how far a standing person with this number sways, in meters.
    pub(super) fn sway(&self, number: u32) -> DVec2 {
        let phase = TAU * self.random(900 + u64::from(number));
        let part = |hz: f64, shift: f64| (TAU * hz * self.secs + phase + shift).sin();
        DVec2::new(
            0.012 * part(0.31, 0.0) + 0.006 * part(0.83, 1.0),
            0.010 * part(0.23, 2.0) + 0.006 * part(0.71, 3.0),
        )
    }

    /// Returns the place of a person who walks from place to place (in meters, with the time of arrival in seconds) and sways
    /// at the last one. `None` before the first time.
    pub(super) fn way(&self, number: u32, stops: &[(f64, DVec2)]) -> Option<DVec2> {
        let next = stops.iter().position(|(secs, _)| *secs > self.secs);
        let at = match next {
            Some(0) => return None,
            Some(next) => {
                let [(from, a), (to, b)] = [stops[next - 1], stops[next]];
                a.lerp(b, (self.secs - from) / (to - from))
            }
            None => stops.last()?.1,
        };
        Some(at + self.sway(number))
    }

    /// Returns the place of a person who comes in from outside within the first seconds and walks about on the surface.
    pub(super) fn stroll(&self, number: u32) -> DVec2 {
        let come = ((self.secs - 1.5) / 2.5).clamp(0.0, 1.0);
        DVec2::new(-3.0, 0.3).lerp(self.about(number), come)
    }

    /// Returns the place of a person who walks about on the surface from the start.
    pub(super) fn about(&self, number: u32) -> DVec2 {
        let number = u64::from(number);
        let phase = TAU * self.random(40 + number);
        let secs = self.secs + 40.0 * self.random(60 + number);
        DVec2::new(
            1.5 * (0.27 * secs + phase).sin() + 0.2 * (0.9 * secs).sin(),
            1.0 * (0.39 * secs + 2.3 * phase).cos(),
        )
    }
}

/// What happened in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Longest time with a track on the surface where nobody is, in seconds, and the time of all such frames together.
    pub(super) longest_false_secs: f64,
    pub(super) false_secs: f64,
    /// Longest time without a track on a person on the surface, in seconds.
    pub(super) longest_lost_secs: f64,
    /// Share of the time with a track, over all people.
    pub(super) found: f64,
    /// Largest number of ids of one person.
    pub(super) ids: usize,
    /// Time with a track on a thing, in seconds.
    pub(super) on_thing_secs: f64,
    /// Time with a track on a thing that has the id of a person who is still there, in seconds.
    pub(super) thing_has_id_secs: f64,
    /// Names of the faults, and the time at which each was reported first, in seconds.
    pub(super) faults: Vec<(&'static str, f64)>,
    /// Faults that are present at the end.
    pub(super) last: Vec<VisionFault>,
    /// Area of all tracks in the last picture, in m².
    pub(super) area_m2: f64,
    /// Root mean square of the distance between tracks and feet, in meters.
    pub(super) foot_m: f64,
}

/// Sums over a run.
#[derive(Default)]
struct Sums {
    false_run_secs: f64,
    on_person: Vec<PersonSums>,
    squares_m2: f64,
    pairs: f64,
}

#[derive(Default)]
struct PersonSums {
    number: u32,
    lost_secs: f64,
    frames: f64,
    found: f64,
    ids: Vec<u32>,
}

/// One run of a hall.
pub(super) struct Hall {
    pub(super) room: Room,
    pub(super) params: VisionParams,
    /// Time from which tracks are judged, in seconds.
    pub(super) judged_secs: f64,
}

impl Hall {
    /// Creates a hall of 4 × 3 m.
    pub(super) fn new(fps: f64) -> Self {
        let camera = Camera::wide((160, 120), DVec3::new(0.4, 4.2, 0.6), 84.0);
        let mut room = Room::new(camera);
        room.fps = fps;
        Self {
            room,
            params: VisionParams::default(),
            judged_secs: 0.0,
        }
    }

    /// Lets the camera see little more than the surface.
    pub(super) fn zoom(&mut self) {
        self.room.camera = Camera::wide((160, 120), DVec3::new(0.1, 4.2, 0.1), 56.0);
        self.room.draw_floor();
    }

    fn view(&self) -> FloorView {
        calibrated_view(&self.room)
    }

    /// Runs the hall for `secs`. `draw` composes each picture.
    pub(super) fn run(
        mut self,
        seed: u64,
        secs: f64,
        draw: impl Fn(&mut Shot, &Moment),
    ) -> Outcome {
        let mut vision = Vision::new(&self.params, self.view());
        let (mut outcome, mut sums) = (Outcome::default(), Sums::default());
        let mut before = Vec::new();
        for frame in 0..(secs * self.room.fps) as u64 {
            let moment = Moment {
                secs: frame as f64 / self.room.fps,
                frame,
                seed,
            };
            let mut shot = Shot::default();
            draw(&mut shot, &moment);
            let picture = self.picture(&mut shot, &mut before);
            let tracks = vision.observe(&picture);
            if moment.secs >= self.judged_secs {
                outcome.judge(&shot, tracks, 1.0 / self.room.fps, &mut sums);
            }
            for fault in vision.faults() {
                if outcome.faults.iter().all(|(name, _)| *name != fault.name()) {
                    outcome.faults.push((fault.name(), moment.secs));
                }
            }
        }
        let people = &sums.on_person;
        let frames: f64 = people.iter().map(|p| p.frames).sum();
        outcome.found = people.iter().map(|p| p.found).sum::<f64>() / frames.max(1.0);
        outcome.ids = people.iter().map(|p| p.ids.len()).max().unwrap_or(0);
        outcome.foot_m = (sums.squares_m2 / sums.pairs.max(1.0)).sqrt();
        let areas_m2 = vision.tracks().iter().map(|track| track.area_m2);
        outcome.area_m2 = f64::from(areas_m2.sum::<f32>());
        outcome.last = vision.faults().collect();
        outcome
    }

    fn picture(&mut self, shot: &mut Shot, before: &mut Vec<u8>) -> Frame {
        self.room.things = std::mem::take(&mut shot.bodies);
        self.room.gain = shot.gain.unwrap_or(1.0);
        self.room.other_light = shot.light.take();
        let mut picture = self.room.frame();
        let Luma::U8(levels) = &mut picture.luma else {
            panic!("a room has 8-bit levels");
        };
        if let Some(flaw) = &shot.flaw {
            if before.is_empty() {
                before.clone_from(levels);
            }
            flaw(&mut Levels {
                now: levels,
                before,
                width: picture.width_px as usize,
            });
        } else {
            before.clone_from(levels);
        }
        picture
    }
}

impl Outcome {
    /// Compares the tracks of one picture with the truth.
    fn judge(&mut self, shot: &Shot, tracks: &[Visitor], dt_secs: f64, sums: &mut Sums) {
        let off_m = |track: &Visitor, place_m: DVec2| track.foot_m.as_dvec2().distance(place_m);
        // Pairs of tracks and people, the nearest first.
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for (t, track) in tracks.iter().enumerate() {
            for (p, person) in shot.people.iter().enumerate() {
                pairs.push((off_m(track, person.foot_m), t, p));
            }
        }
        pairs.retain(|pair| pair.0 < NEAR_M);
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut track_of = vec![None; shot.people.len()];
        let mut is_used = vec![false; tracks.len()];
        for (off_m, t, p) in pairs {
            if track_of[p].is_none() && !is_used[t] {
                track_of[p] = Some(t);
                is_used[t] = true;
                sums.squares_m2 += off_m * off_m;
                sums.pairs += 1.0;
            }
        }
        let (mut has_false, mut is_on_thing, mut has_taken_id) = (false, false, false);
        for (track, _) in (tracks.iter().zip(&is_used)).filter(|(_, is_used)| !**is_used) {
            let is_thing = (shot.things_m.iter()).any(|&thing_m| {
                off_m(track, thing_m).min(track.centroid_m.as_dvec2().distance(thing_m)) < NEAR_M
            });
            is_on_thing |= is_thing;
            has_false |= !is_thing && track.on_surface;
            let had_person = |sums: &PersonSums| sums.ids.contains(&track.id);
            let is_there = |sums: &&PersonSums| {
                let mut present = shot.people.iter().map(|person| person.number);
                present.any(|number| number == sums.number)
            };
            has_taken_id |= is_thing && (sums.on_person.iter().filter(is_there)).any(had_person);
        }
        self.on_thing_secs += f64::from(u8::from(is_on_thing)) * dt_secs;
        self.thing_has_id_secs += f64::from(u8::from(has_taken_id)) * dt_secs;
        self.false_secs += f64::from(u8::from(has_false)) * dt_secs;
        sums.false_run_secs = if has_false {
            sums.false_run_secs + dt_secs
        } else {
            0.0
        };
        self.longest_false_secs = self.longest_false_secs.max(sums.false_run_secs);
        for (person, track) in shot.people.iter().zip(track_of) {
            let known = (sums.on_person.iter()).position(|known| known.number == person.number);
            let index = known.unwrap_or_else(|| {
                sums.on_person.push(PersonSums {
                    number: person.number,
                    ..PersonSums::default()
                });
                sums.on_person.len() - 1
            });
            let known = &mut sums.on_person[index];
            if let Some(track) = track
                && !known.ids.contains(&tracks[track].id)
            {
                known.ids.push(tracks[track].id);
            }
            if person.foot_m.abs().cmple(COUNTED_M).all() {
                known.frames += 1.0;
                known.found += f64::from(u8::from(track.is_some()));
                known.lost_secs = match track {
                    Some(_) => 0.0,
                    None => known.lost_secs + dt_secs,
                };
                self.longest_lost_secs = self.longest_lost_secs.max(known.lost_secs);
            } else {
                known.lost_secs = 0.0;
            }
        }
    }
}
