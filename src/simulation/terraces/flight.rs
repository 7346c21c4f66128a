//! Flights between terraces: the take-off of a swimmer, and the motion of its body through the air.
//!
//! In: a link of the mesh. Out: a flight that hits no obstacle, splashes. **Source**: Lischka 2014, §7.2.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::TerraceTick;
use crate::navigation::{Flight, GRAVITY_MPS2, NavGraph};
use crate::world::{Body, Splash};

/// Height of a flight above the higher water surface, in addition to the body's diameter. Tuned by eye, 2026-11-21.
pub(super) const CLEARANCE_M: f32 = 0.12;
/// Number of intervals at whose ends a flight is checked against obstacles before take-off.
const FLIGHT_CHECKS: usize = 64;
/// Minimum distance of a flight from obstacles at each of the `FLIGHT_CHECKS` + 1 checked points.
const FLIGHT_GAP_M: f32 = 0.02;

/// A flight from one terrace to another.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Airborne {
    from: Vec3,
    to: Vec3,
    flight: Flight,
    /// Time since take-off.
    spent_secs: f32,
    /// Index of the terrace of the landing.
    pub(super) home: u16,
}

impl TerraceTick<'_> {
    /// Starts a swimmer's flight over a link. Does nothing if an obstacle is in the way of the flight.
    pub(super) fn take_off(&mut self, index: usize, number: usize, (link, landing): (u32, Vec3)) {
        let agents = self.world.agents;
        let NavGraph { mesh, links } = self.plan.graph(agents.species[index]);
        let Some(link) = links.get(link) else {
            return;
        };
        let radius_m = agents.radii_m[index];
        let home = mesh.polygon(link.to).terrace;
        let (_, y) = self.plan.terraces[usize::from(home)].y_range_m(radius_m);
        let to = landing.with_y(y);
        let from = agents.bodies[index].position_m;
        let air = Airborne {
            from,
            to,
            flight: Flight::over(to.y - from.y, CLEARANCE_M + 2.0 * radius_m),
            spent_secs: 0.0,
            home,
        };
        let is_free = |at: Vec3| {
            let mut solids = self.world.solids.iter();
            solids.all(|solid| solid.signed_distance_m(at) > FLIGHT_GAP_M)
        };
        let share = |n: usize| n as f32 / FLIGHT_CHECKS as f32;
        if (0..=FLIGHT_CHECKS).all(|n| is_free(air.at(air.flight.secs * share(n)))) {
            let swimmer = &mut self.state.swimmers[number];
            if link.is_leap() {
                let species_index = usize::from(agents.species[index]);
                let leap = &self.world.species[species_index].motion.leap;
                swimmer.cooldown_secs = air.flight.secs + leap.cooldown_secs;
            }
            swimmer.air = Some(air);
            self.state.splashes.push(splash(from, air.flight.up_mps));
        }
    }
}

impl Airborne {
    /// Whether the numbers are valid. They may come from a damaged file.
    pub(super) fn is_sound(&self) -> bool {
        let ends = self.from.is_finite() && self.to.is_finite();
        ends && self.flight.is_sound() && self.spent_secs.is_finite()
    }

    /// Whether the flight began in the last tick.
    pub(super) fn is_new(&self, dt_secs: f32) -> bool {
        self.spent_secs <= dt_secs
    }

    /// Continues the flight and moves the body. Returns the splash of the landing at the end of the flight.
    pub(super) fn advance(&mut self, body: &mut Body, dt_secs: f32) -> Option<Splash> {
        self.spent_secs += dt_secs;
        self.carry(body);
        let has_landed = self.spent_secs >= self.flight.secs;
        has_landed.then(|| splash(self.to, self.flight.up_mps))
    }

    /// Position after `secs` of flight.
    fn at(&self, secs: f32) -> Vec3 {
        let share = (secs / self.flight.secs.max(1e-3)).clamp(0.0, 1.0);
        let mut at = self.from.lerp(self.to, share);
        at.y = self.from.y + self.flight.height_m(secs.min(self.flight.secs));
        at
    }

    /// Moves a body to its current position on the flight, with its nose in the direction of the flight.
    fn carry(&self, body: &mut Body) {
        let secs = self.spent_secs.min(self.flight.secs);
        let ahead = (self.to - self.from).with_y(0.0) / self.flight.secs.max(1e-3);
        let up_mps = self.flight.up_mps - GRAVITY_MPS2 * secs;
        body.position_m = self.at(secs);
        body.velocity_mps = ahead + Vec3::Y * up_mps;
        body.forward = body.velocity_mps.normalize_or(body.forward);
        let side = body.forward.cross(Vec3::Y).normalize_or(Vec3::X);
        body.up = side.cross(body.forward);
    }
}

fn splash(at: Vec3, speed_mps: f32) -> Splash {
    Splash {
        at_m: at,
        speed_mps,
        age_secs: 0.0,
    }
}
