//! One swimmer's way over terraces: planned at most every quarter of a second, changed only for a clearly cheaper one,
//! followed to the next take-off.
//!
//! In: where it is, where it wants to be, who is near, the ways that were found for it. Out: where to head, and when to take
//! off. **Source**: 004 section 7.5.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::links::{Abilities, Links};
use super::rounding::{ROUNDED, round_corners};
use super::search::{CORNERS, MeshPath, MeshSearch, Outcome, Place, Query};
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
/// Others farther off than this, as it would have to be swum, neither pull nor push. Tuned by eye, 2026-11-21.
pub const NEAR_M: f32 = 0.8;

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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Climber {
    path: MeshPath,
    /// The rounded course of the leg that it swims.
    course: Vec<Vec2>,
    has_path: bool,
    goal: Place,
    abilities: Abilities,
    cruise_mps: f32,
    next: usize,
    age_secs: f32,
    outcome: Option<Outcome>,
}

/// What a climber goes by.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// The mesh.
    pub mesh: &'a NavMesh,
    /// Its links.
    pub links: &'a Links,
}

/// Memory for looking at who is near, used again by all.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    search: MeshSearch,
    path: MeshPath,
}

impl Climb {
    /// What has to be found for it.
    pub fn query(&self) -> Query<'static> {
        Query {
            start: self.at,
            goal: self.goal,
            abilities: self.abilities,
            cooldown_left_secs: self.cooldown_left_secs,
            speed_mps: self.cruise_mps,
            costs: &[],
        }
    }

    fn is_there(&self) -> bool {
        let off_m = self.at.at_m.distance(self.goal.at_m);
        self.at.terrace == self.goal.terrace && off_m < ARRIVED_M.max(2.0 * self.radius_m)
    }
}

impl Climber {
    /// Goes a step on in time; whether it asks for a way now, and goes on asking until it is told one.
    pub fn wants_way(&mut self, climb: &Climb, dt_secs: f32) -> bool {
        self.age_secs += dt_secs;
        !climb.is_there() && (self.outcome.is_none() || self.age_secs >= REPLAN_SECS)
    }

    /// Takes what was found for it; the path only where it is clearly cheaper than the rest of its own, or its own was for
    /// another goal, speed or other abilities.
    pub fn hear(
        &mut self,
        climb: &Climb,
        (query, outcome): (&Query<'_>, Outcome),
        found: &mut MeshPath,
        grounds: Grounds<'_>,
    ) {
        self.age_secs = 0.0;
        self.outcome = Some(outcome);
        if outcome != Outcome::Found {
            // Somebody pushed off the mesh keeps its way back to it.
            self.has_path &= outcome == Outcome::Outside;
            return;
        }
        if query.start.terrace != climb.at.terrace {
            // It has come to other water while the search ran.
            self.landed();
            return;
        }
        let is_for_same = (self.goal, self.abilities, self.cruise_mps)
            == (query.goal, query.abilities, query.speed_mps);
        let rest = self.rest_cost(climb, grounds);
        if is_for_same && rest.is_some_and(|rest| found.cost > CLEARLY_CHEAPER * rest) {
            return;
        }
        std::mem::swap(&mut self.path, found);
        self.has_path = true;
        self.goal = query.goal;
        self.abilities = query.abilities;
        self.cruise_mps = query.speed_mps;
        self.draw_course(climb, grounds);
    }

    /// What the swimmer does next.
    pub fn step(
        &mut self,
        climb: &Climb,
        around: (&[Near], &mut Surroundings),
        grounds: Grounds<'_>,
    ) -> Step {
        if climb.is_there() {
            self.landed();
            return Step::There;
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
        self.follow(climb, around, grounds)
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

    /// What the rest of the present way costs from here at a meter for a meter; `None` where it cannot be gone on with.
    fn rest_cost(&self, climb: &Climb, grounds: Grounds<'_>) -> Option<f32> {
        let leg = self.path.legs.first().filter(|_| self.has_path)?;
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
        let mut first = leg.end;
        for leg in &self.path.legs {
            // Of the first leg its course was counted.
            for &to in self.path.points_m.get(first..leg.end).unwrap_or_default() {
                cost += from.distance(to);
                from = to;
            }
            first = leg.end;
            if let Some((number, landing)) = leg.link {
                let link = grounds.links.get(number)?;
                cost += link.flight_secs * climb.cruise_mps;
                from = landing;
            }
        }
        Some(cost)
    }

    fn draw_course(&mut self, climb: &Climb, grounds: Grounds<'_>) {
        self.next = 0;
        let Some(leg) = self.path.legs.first() else {
            return;
        };
        let corners = &self.path.points_m[..leg.end];
        let way = (climb.at.at_m, corners);
        self.course.clear();
        self.course.reserve(CORNERS * ROUNDED);
        let radius_m = 3.0 * climb.radius_m;
        round_corners(grounds.mesh, leg.terrace, way, radius_m, &mut self.course);
    }

    /// Whether it can be what was saved, on this mesh; its numbers may have been damaged.
    pub fn is_sound(&self) -> bool {
        let mut points = self.path.points_m.iter().chain(&self.course);
        let mut end = 0;
        let has_ordered_legs = self.path.legs.iter().all(|leg| {
            let is_ordered = leg.end >= end && leg.end <= self.path.points_m.len();
            end = leg.end;
            is_ordered && leg.link.is_none_or(|(_, landing)| landing.is_finite())
        });
        has_ordered_legs
            && points.all(|at| at.is_finite())
            && self.next <= self.course.len()
            && self.age_secs.is_finite()
    }

    fn follow(
        &mut self,
        climb: &Climb,
        around: (&[Near], &mut Surroundings),
        grounds: Grounds<'_>,
    ) -> Step {
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
        let link = self.path.legs.first().and_then(|leg| leg.link);
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
            _ => Step::Swim(drawn(climb, target, around, grounds.mesh)),
        }
    }
}

/// The next place to head for, moved by neighbors: what pulls or pushes fades with the distance to be swum, along the way to
/// be swum, and it is always inside the mesh.
fn drawn(
    climb: &Climb,
    target: Vec2,
    (near, surroundings): (&[Near], &mut Surroundings),
    mesh: &NavMesh,
) -> Vec2 {
    let at = climb.at.at_m;
    let own = (target - at).normalize_or_zero();
    let mut wish = own;
    let Surroundings { search, path } = surroundings;
    for other in near {
        let ends = (climb.at, other.at);
        if let Some((distance_m, first)) = search.distance_m(mesh, ends, NEAR_M, path) {
            let fading = 1.0 / (1.0 + distance_m / climb.radius_m.max(1e-3));
            let fading = fading * (1.0 - distance_m / NEAR_M);
            let toward = (first - at).normalize_or_zero();
            wish += toward * (other.pull * NEIGHBOR_WEIGHT * fading);
        }
    }
    let reach_m = at.distance(target).min(0.5);
    let moved = at + wish.normalize_or(own) * reach_m;
    if near.is_empty() || wish.dot(own) <= 0.0 || !mesh.sees(climb.at.terrace, at, moved) {
        return target;
    }
    moved
}

#[cfg(test)]
mod tests;
