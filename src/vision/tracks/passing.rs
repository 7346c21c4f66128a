//! Who is who after two passed each other: each goes on as they went before.
//!
//! While two are close, their places are hardly told apart, and each may take the other's way. When they part again, both
//! ways of naming them are held against where each was going before they came close.

use glam::Vec2;

use super::{Tracker, Visitor};

/// Who is nearer than this to somebody passes them, until they are so many times as far away.
const PASSING_M: f32 = 0.24;
const PARTED_SHARE: f32 = 1.1;
/// Spread of where somebody is found who goes on as they went: at once, and more for every second.
const COURSE_SPREAD_M: f32 = 0.1;
const COURSE_SPREAD_MPS: f32 = 0.4;
/// How people went before says nothing after so long.
const LONGEST_PASS_SECS: f64 = 2.0;
/// No single deviation counts more than this.
const MOST_DEVIATION: f32 = 9.0;
/// Names change hands where that fits how people went by so much better.
const PASSED_MARGIN: f32 = 2.0;

/// Where somebody was and went when they were last seen apart from everybody else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Course {
    at_m: Vec2,
    velocity_mps: Vec2,
    secs: f64,
    /// The one they pass.
    other: Option<u32>,
}

impl Course {
    /// Square of how far a place is, in spreads, from where this course leads.
    fn deviation(&self, at_m: Vec2, secs: f64) -> f32 {
        let since_secs = (secs - self.secs) as f32;
        let expected_m = self.at_m + since_secs * self.velocity_mps;
        let spread_m = COURSE_SPREAD_M + COURSE_SPREAD_MPS * since_secs;
        (at_m.distance_squared(expected_m) / (spread_m * spread_m)).min(MOST_DEVIATION)
    }
}

impl Tracker {
    /// Notes who passes whom, and gives those who part the names that fit how they went. Only names change hands.
    pub(super) fn pass(&mut self) {
        for a in 0..self.visitors.len() {
            let (before, rest) = self.visitors.split_at_mut(a);
            let Some((visitor, after)) = rest.split_first_mut() else {
                continue;
            };
            if visitor.id.is_none() {
                continue;
            }
            let at_m = visitor.state.at_m;
            let others = || before.iter().chain(after.iter()).filter(|v| v.id.is_some());
            let passed = visitor.course.and_then(|course| course.other);
            if let Some(id) = passed {
                let other = others().find(|v| v.id == Some(id));
                let parted = |v: &Visitor| v.state.at_m.distance(at_m) > PARTED_SHARE * PASSING_M;
                if other.is_none_or(parted) {
                    self.part_after_pass(a);
                }
                continue;
            }
            let nearest = others()
                .map(|v| (v.state.at_m.distance(at_m), v.id))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            match (nearest, &mut visitor.course) {
                (Some((distance_m, id)), Some(course)) if distance_m < PASSING_M => {
                    course.other = id;
                }
                (Some((distance_m, _)), None) if distance_m < PASSING_M => {}
                (_, course) => {
                    *course = Some(Course {
                        at_m,
                        velocity_mps: visitor.state.velocity_mps,
                        secs: self.time_secs,
                        other: None,
                    });
                }
            }
        }
    }

    /// Somebody and the one they passed are apart again, or the other is gone.
    fn part_after_pass(&mut self, a: usize) {
        let secs = self.time_secs;
        let Some(of_a) = self.visitors[a].course.take() else {
            return;
        };
        let a_id = self.visitors[a].id;
        let other = self.visitors.iter().position(|v| v.id == of_a.other);
        let Some(b) = other else { return };
        let Some(of_b) = self.visitors[b].course.take_if(|c| c.other == a_id) else {
            return;
        };
        if secs - of_a.secs.min(of_b.secs) > LONGEST_PASS_SECS {
            return;
        }
        let (at_a, at_b) = (self.visitors[a].state.at_m, self.visitors[b].state.at_m);
        let kept = of_a.deviation(at_a, secs) + of_b.deviation(at_b, secs);
        let exchanged = of_a.deviation(at_b, secs) + of_b.deviation(at_a, secs);
        if exchanged + PASSED_MARGIN < kept {
            self.exchange_names(a, b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracks::names::tests::visitor;

    /// Two who go past each other within `apart_m`; from the middle on, the first takes the place of the second and the
    /// second that of the first if they are `mistaken`. The names of who goes right and who goes left in the end.
    fn walk(apart_m: f32, mistaken: bool) -> [Option<u32>; 2] {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(1, 0.0, 0.0, 0), visitor(2, 0.0, 0.0, 0)];
        let to_right = Vec2::new(1.0, 0.0);
        for frame in -30..=30 {
            let secs = frame as f32 / 30.0;
            let ways = [secs * to_right, -secs * to_right + Vec2::new(0.0, apart_m)];
            let is_mistaken = mistaken && frame > 0;
            for (index, visitor) in tracker.visitors.iter_mut().enumerate() {
                let way = if is_mistaken { 1 - index } else { index };
                visitor.state.at_m = ways[way];
                visitor.state.velocity_mps = [to_right, -to_right][way];
            }
            tracker.time_secs = f64::from(secs);
            tracker.pass();
        }
        let (first, second) = (tracker.visitors[0].id, tracker.visitors[1].id);
        if mistaken {
            [second, first]
        } else {
            [first, second]
        }
    }

    #[test]
    fn who_took_the_others_way_while_they_passed_gets_the_name_that_goes_with_it() {
        assert_eq!(walk(0.1, true), [Some(1), Some(2)]);
    }

    #[test]
    fn who_went_on_keeps_the_name() {
        assert_eq!(walk(0.1, false), [Some(1), Some(2)]);
        assert_eq!(walk(0.5, false), [Some(1), Some(2)]);
    }

    #[test]
    fn who_never_came_close_is_taken_for_nobody_else() {
        assert_eq!(walk(0.5, true), [Some(2), Some(1)]);
    }
}
