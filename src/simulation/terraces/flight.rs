//! Flights between terraces: the take-off of a swimmer, and the motion of its body through the air.
//!
//! In: a link of the mesh. Out: a flight that hits no obstacle, splashes. **Source**: Lischka 2014, §7.2.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::{TerraceTick, flat};
use crate::navigation::{Flight, FlyingBody, GRAVITY_MPS2, NavGraph, Refusal};
use crate::world::{Body, Splash};

/// Height of a flight above the higher water surface, in addition to the body's diameter. Tuned by eye, 2026-11-21.
pub(super) const CLEARANCE_M: f32 = 0.12;

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
    /// Starts a swimmer's flight over a link.
    ///
    /// # Errors
    /// The reason why the swimmer cannot fly from where it is.
    pub(super) fn take_off(
        &mut self,
        index: usize,
        number: usize,
        (link, landing): (u32, Vec3),
    ) -> Result<(), Refusal> {
        let agents = self.world.agents;
        let NavGraph { mesh, links } = self.plan.graph(agents.species[index]);
        let link = links.get(link).ok_or(Refusal::Blocked)?;
        let radius_m = agents.radii_m[index];
        let home = mesh.polygon(link.to).terrace;
        let (_, y) = self.plan.terraces[usize::from(home)].y_range_m(radius_m);
        let from = agents.bodies[index].position_m;
        let body = FlyingBody {
            radius_m,
            clearance_m: CLEARANCE_M,
        };
        // A body beside the planned line may land beside it as well. The lower flight is the better one.
        let beside = from + Vec3::new(link.flight_m().x, 0.0, link.flight_m().y);
        let is_water = mesh.polygon_at(home, flat(beside)).is_some();
        let ends = [landing, beside].map(|to| to.with_y(y));
        let possible = ends
            .iter()
            .take(1 + usize::from(is_water))
            .filter_map(|&to| {
                let flight = Flight::between((from, to), &body, true, self.world.solids)?;
                Some((to, flight))
            });
        let lowest = possible.min_by(|(_, a), (_, b)| a.secs.total_cmp(&b.secs));
        let (to, flight) = lowest.ok_or(Refusal::Blocked)?;
        let swimmer = &mut self.state.swimmers[number];
        if link.is_leap() {
            let species_index = usize::from(agents.species[index]);
            let leap = &self.world.species[species_index].motion.leap;
            swimmer.cooldown_secs = flight.secs + leap.cooldown_secs;
        }
        swimmer.air = Some(Airborne {
            from,
            to,
            flight,
            spent_secs: 0.0,
            home,
        });
        self.state.splashes.push(splash(from, flight.up_mps));
        Ok(())
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

    /// Horizontal position of the landing.
    pub(super) fn landing_m(&self) -> Vec2 {
        flat(self.to)
    }

    /// Moves a body to its current position on the flight, with its nose in the direction of the flight.
    fn carry(&self, body: &mut Body) {
        let secs = self.spent_secs.min(self.flight.secs);
        let ahead = (self.to - self.from).with_y(0.0) / self.flight.secs.max(1e-3);
        let up_mps = self.flight.up_mps - GRAVITY_MPS2 * secs;
        body.position_m = self.flight.position(self.from, self.to, secs);
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
