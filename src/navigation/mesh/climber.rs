//! One swimmer's way over terraces: planned at most every quarter of a second, changed only for a clearly cheaper one,
//! followed to the next take-off.
//!
//! In: where it is, where it wants to be, who is near. Out: where to head, and when to take off. **Source**: 004 section 7.5.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::links::{Abilities, Links};
use super::rounding::round_corners;
use super::search::{MeshPath, MeshSearch, Outcome, Place, Query};
use super::surface::NavMesh;

/// A way is searched anew no sooner. **Source**: 004 section 7.5.
const REPLAN_SECS: f32 = 0.25;
/// A new way must cost less than this share of the old one's rest. Tuned by eye, 2026-11-21.
const CLEARLY_CHEAPER: f32 = 0.85;
/// Within this of its goal it is there. Tuned by eye, 2026-11-21.
const ARRIVED_M: f32 = 0.3;
/// Length of the run-up before a leap. Tuned by eye, 2026-11-21.
const RUN_UP_M: f32 = 0.35;
/// Weight of one neighbor that is touched, against the way's own direction. Tuned by eye, 2026-11-21.
const NEIGHBOR_WEIGHT: f32 = 0.5;

/// What a swimmer asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Climb {
    /// Where it is.
    pub at: Place,
    /// Unit vector ahead, in the plane.
    pub heading: Vec2,
    /// Speed ahead.
    pub speed_mps: f32,
    /// Where it wants to be.
    pub goal: Place,
    /// Speed at which it swims its way.
    pub cruise_mps: f32,
    /// Speed that it needs for a leap.
    pub run_up_mps: f32,
    /// Its radius.
    pub radius_m: f32,
    /// What it can do.
    pub abilities: Abilities,
    /// How long until it can leap again.
    pub cooldown_left_secs: f32,
}

/// Another swimmer that pulls or pushes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Where it is.
    pub at: Place,
    /// Positive pulls (a friend), negative pushes (an enemy).
    pub pull: f32,
}

/// What a swimmer is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// There is no way.
    #[default]
    NoWay,
    /// There is none yet: the leap is not ready, it is off the mesh, or the next search is not due.
    NotNow,
    /// Head for a place.
    Swim(Vec2),
    /// Head for a place, fast: a leap is near.
    RunUp(Vec2),
    /// Take off now by this link and land there.
    TakeOff(u32, Vec2),
    /// It is there.
    There,
}

/// One swimmer's way over terraces.
#[derive(Clone, Debug, Default)]
pub struct Climber {
    path: MeshPath,
    tried: MeshPath,
    /// The rounded course of the leg that it swims.
    course: Vec<Vec2>,
    has_path: bool,
    start: Vec2,
    goal: Place,
    abilities: Abilities,
    leg: usize,
    next: usize,
    age_secs: f32,
    outcome: Option<Outcome>,
}

/// What a climber plans on.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// The mesh.
    pub mesh: &'a NavMesh,
    /// Its links.
    pub links: &'a Links,
    /// For every polygon what a meter in it costs; empty: 1.
    pub costs: &'a [f32],
    /// Time step.
    pub dt_secs: f32,
}

impl Climber {
    /// What the swimmer does next.
    pub fn step(
        &mut self,
        climb: &Climb,
        near: &[Near],
        grounds: &Grounds<'_>,
        search: &mut MeshSearch,
    ) -> Step {
        self.age_secs += grounds.dt_secs;
        let off_m = climb.at.at_m.distance(climb.goal.at_m);
        if climb.at.terrace == climb.goal.terrace && off_m < ARRIVED_M.max(2.0 * climb.radius_m) {
            self.landed();
            return Step::There;
        }
        if self.outcome.is_none() || self.age_secs >= REPLAN_SECS {
            self.plan(climb, grounds, search);
        }
        if !self.has_path {
            // Pushed off the mesh for a moment, or not planned yet, is no reason to give up.
            if self.outcome != Some(Outcome::Unreachable) {
                return Step::NotNow;
            }
            // Whatever it asks for next is another way.
            self.outcome = None;
            return Step::NoWay;
        }
        self.follow(climb, near, grounds)
    }

    /// How the last search ended.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Corners of the present leg that are still to go, in floor meters.
    pub fn rest(&self) -> &[Vec2] {
        self.course.get(self.next..).unwrap_or_default()
    }

    /// After a landing, or at the goal, the next way is searched from there at once.
    pub fn landed(&mut self) {
        self.has_path = false;
        self.outcome = None;
    }

    fn plan(&mut self, climb: &Climb, grounds: &Grounds<'_>, search: &mut MeshSearch) {
        self.age_secs = 0.0;
        let query = Query {
            start: climb.at,
            goal: climb.goal,
            abilities: climb.abilities,
            cooldown_left_secs: climb.cooldown_left_secs,
            speed_mps: climb.cruise_mps,
            costs: grounds.costs,
        };
        let outcome = search.find(grounds.mesh, grounds.links, &query, &mut self.tried);
        self.outcome = Some(outcome);
        if outcome != Outcome::Found {
            // Somebody pushed off the mesh keeps its way back to it.
            self.has_path &= outcome == Outcome::Outside;
            return;
        }
        let same_goal = self.goal == climb.goal && self.abilities == climb.abilities;
        let rest = self.rest_cost(climb, grounds);
        if same_goal && rest.is_some_and(|rest| self.tried.cost > CLEARLY_CHEAPER * rest) {
            return;
        }
        std::mem::swap(&mut self.path, &mut self.tried);
        self.has_path = true;
        self.goal = climb.goal;
        self.abilities = climb.abilities;
        self.start = climb.at.at_m;
        self.leg = 0;
        self.draw_course(climb, grounds);
    }

    /// What the rest of the present way costs from here at a meter for a meter; `None` where it cannot be gone on with.
    fn rest_cost(&self, climb: &Climb, grounds: &Grounds<'_>) -> Option<f32> {
        let leg = self.path.legs.get(self.leg).filter(|_| self.has_path)?;
        let target = *self.course.get(self.next)?;
        let terrace = climb.at.terrace;
        if leg.terrace != terrace || !grounds.mesh.sees(terrace, climb.at.at_m, target) {
            return None;
        }
        let mut from = climb.at.at_m;
        let mut cost = 0.0;
        for &to in self.rest() {
            cost += from.distance(to);
            from = to;
        }
        for (place, leg) in self.path.legs.iter().enumerate().skip(self.leg) {
            if place > self.leg {
                let first = self.path.legs[place - 1].end;
                for &to in &self.path.points_m[first..leg.end] {
                    cost += from.distance(to);
                    from = to;
                }
            }
            if let Some((number, landing)) = leg.link {
                let link = grounds.links.get(number)?;
                cost += link.flight_secs * climb.cruise_mps;
                from = landing;
            }
        }
        Some(cost)
    }

    fn draw_course(&mut self, climb: &Climb, grounds: &Grounds<'_>) {
        self.next = 0;
        let Some(leg) = self.path.legs.get(self.leg) else {
            return;
        };
        let first = match self.leg {
            0 => 0,
            place => self.path.legs[place - 1].end,
        };
        let corners = &self.path.points_m[first..leg.end];
        let way = (climb.at.at_m, corners);
        let radius_m = 3.0 * climb.radius_m;
        round_corners(grounds.mesh, leg.terrace, way, radius_m, &mut self.course);
    }

    fn follow(&mut self, climb: &Climb, near: &[Near], grounds: &Grounds<'_>) -> Step {
        let at = climb.at.at_m;
        let terrace = climb.at.terrace;
        let reach_m = 1.5 * climb.radius_m;
        while let Some(&target) = self.course.get(self.next) {
            let is_last = self.next + 1 == self.course.len();
            let sees_next = self
                .course
                .get(self.next + 1)
                .is_some_and(|&after| grounds.mesh.sees(terrace, at, after));
            if is_last || !(sees_next || at.distance(target) <= reach_m) {
                break;
            }
            self.next += 1;
        }
        let Some(&target) = self.course.get(self.next) else {
            return Step::NoWay;
        };
        let is_last = self.next + 1 == self.course.len();
        let link = self.path.legs.get(self.leg).and_then(|leg| leg.link);
        match link.and_then(|(number, landing)| Some((number, landing, grounds.links.get(number)?)))
        {
            Some((number, landing, link)) if is_last => {
                let along = (at - target).dot(link.heading);
                let aside = (at - target).perp_dot(link.heading).abs();
                let is_turned = climb.heading.dot(link.heading) >= link.heading_cos;
                let is_fast = !link.is_leap() || climb.speed_mps >= climb.run_up_mps;
                let is_ready = !link.is_leap() || climb.cooldown_left_secs <= 0.0;
                let is_there = along > -reach_m - 0.1 && aside < reach_m + 0.1;
                if is_there && is_turned && is_fast && is_ready {
                    return Step::TakeOff(number, landing);
                }
                // It turns in beforehand: from aside it goes to the beginning of the run-up first.
                let beginning = target - link.heading * RUN_UP_M;
                let is_in_lane = along < 0.0 && aside < 0.5 * -along + reach_m;
                if is_in_lane && (is_turned || along < -0.5 * RUN_UP_M) {
                    Step::RunUp(target + link.heading * RUN_UP_M)
                } else if grounds.mesh.find(terrace, beginning).is_some() {
                    Step::Swim(beginning)
                } else {
                    Step::RunUp(target)
                }
            }
            _ => Step::Swim(self.drawn(climb, target, near, grounds)),
        }
    }

    /// The next place to head for, moved by neighbors: what pulls or pushes fades with the distance to be swum, and it is
    /// always inside the mesh.
    fn drawn(&self, climb: &Climb, target: Vec2, near: &[Near], grounds: &Grounds<'_>) -> Vec2 {
        let at = climb.at.at_m;
        let own = (target - at).normalize_or_zero();
        let mut wish = own;
        for other in near {
            let to = other.at.at_m - at;
            let is_open = other.at.terrace == climb.at.terrace
                && grounds.mesh.sees(climb.at.terrace, at, other.at.at_m);
            // Where it is not in sight the way there is longer; around a corner at least twice as long counts for nothing.
            if is_open {
                let fading = 1.0 / (1.0 + to.length() / climb.radius_m.max(1e-3));
                wish += to.normalize_or_zero() * (other.pull * NEIGHBOR_WEIGHT * fading);
            }
        }
        let reach_m = at.distance(target).min(0.5);
        let moved = at + wish.normalize_or(own) * reach_m;
        if near.is_empty()
            || wish.dot(own) <= 0.0
            || !grounds.mesh.sees(climb.at.terrace, at, moved)
        {
            return target;
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation::Footprints;
    use crate::navigation::mesh::{LeapGround, TerraceGround, build, find_links};

    const SALMON: Abilities = Abilities {
        leap_height_m: 0.5,
        leap_speed_mps: 5.0,
        leap_cooldown_secs: 2.0,
    };

    fn cascade(abilities: &[Abilities]) -> (NavMesh, Links) {
        let square = |low: f32, high: f32| {
            [
                Vec2::new(low, -1.0),
                Vec2::new(high, -1.0),
                Vec2::new(high, 1.0),
                Vec2::new(low, 1.0),
            ]
        };
        let none = Footprints::default();
        let outlines = [square(0.0, 2.0), square(2.1, 4.1)];
        let terraces = outlines.each_ref().map(|outline| TerraceGround {
            outline_m: outline,
            obstacles: &none,
            grow_m: 0.0,
        });
        let mesh = build(&terraces).unwrap();
        let ground = LeapGround {
            heights_m: &[-1.0, -0.6],
            solids: &[],
            radius_m: 0.05,
            clearance_m: 0.1,
            reach_m: 1.0,
            heading_rad: 0.6,
        };
        let links = find_links(&mesh, &ground, abilities);
        (mesh, links)
    }

    fn climb(at: Vec2, goal: Place) -> Climb {
        Climb {
            at: Place {
                terrace: 0,
                at_m: at,
            },
            heading: Vec2::NEG_X,
            speed_mps: 1.0,
            goal,
            cruise_mps: 0.5,
            run_up_mps: 0.8,
            radius_m: 0.05,
            abilities: SALMON,
            cooldown_left_secs: 0.0,
        }
    }

    #[test]
    fn a_swimmer_turns_in_before_it_leaps_and_goes_on_above() {
        let (mesh, links) = cascade(&[SALMON]);
        let grounds = Grounds {
            mesh: &mesh,
            links: &links,
            costs: &[],
            dt_secs: 1.0 / 60.0,
        };
        let goal = Place {
            terrace: 1,
            at_m: Vec2::new(3.5, 0.5),
        };
        let (mut climber, mut search) = (Climber::default(), MeshSearch::default());
        let mut swimmer = climb(Vec2::new(1.6, -0.9), goal);
        let mut leaps = 0;
        for tick in 0..1200 {
            match climber.step(&swimmer, &[], &grounds, &mut search) {
                Step::Swim(to) | Step::RunUp(to) => {
                    let way = (to - swimmer.at.at_m).normalize_or_zero();
                    // It turns by 4 degrees a tick at most.
                    let angle = swimmer.heading.angle_to(way).clamp(-0.07, 0.07);
                    swimmer.heading = Vec2::from_angle(angle).rotate(swimmer.heading);
                    let to = swimmer.at.at_m + swimmer.heading * (0.6 / 60.0);
                    if mesh.find(swimmer.at.terrace, to).is_some() {
                        swimmer.at.at_m = to;
                    }
                }
                Step::TakeOff(number, landing) => {
                    let link = links.get(number).unwrap();
                    assert!(swimmer.heading.dot(link.heading) >= link.heading_cos);
                    swimmer.at = Place {
                        terrace: 1,
                        at_m: landing,
                    };
                    climber.landed();
                    leaps += 1;
                }
                Step::There => {
                    assert_eq!(leaps, 1);
                    return;
                }
                other => panic!("{other:?} at tick {tick}"),
            }
        }
        panic!("it never came there; it is at {:?}", swimmer.at);
    }

    #[test]
    fn a_friend_pulls_and_an_enemy_pushes_but_neither_out_of_the_mesh() {
        let (mesh, links) = cascade(&[SALMON]);
        let grounds = Grounds {
            mesh: &mesh,
            links: &links,
            costs: &[],
            dt_secs: 1.0 / 60.0,
        };
        let place = |x, y| Place {
            terrace: 0,
            at_m: Vec2::new(x, y),
        };
        let swimmer = climb(Vec2::new(0.3, 0.0), place(1.7, 0.0));
        let heads = |near: &[Near]| {
            let mut climber = Climber::default();
            match climber.step(&swimmer, near, &grounds, &mut MeshSearch::default()) {
                Step::Swim(to) => to,
                other => panic!("{other:?}"),
            }
        };
        let near = |y: f32, pull: f32| Near {
            at: place(0.35, y),
            pull,
        };
        assert_eq!(heads(&[]).y, 0.0);
        let (close, far) = (heads(&[near(0.05, 1.0)]), heads(&[near(0.6, 1.0)]));
        assert!(close.y > far.y && far.y > 0.0, "{close} {far}");
        assert!(heads(&[near(0.05, -1.0)]).y < 0.0);
        let elsewhere = Near {
            at: Place {
                terrace: 1,
                at_m: Vec2::new(2.2, 0.9),
            },
            pull: 5.0,
        };
        assert_eq!(heads(&[elsewhere]).y, 0.0);
    }
}
