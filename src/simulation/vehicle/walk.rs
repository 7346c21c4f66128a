//! Walking: an animal of the ground moves along it. Its heading stays level while it decides; afterwards it stands on the ground or
//! on the stone below it.

use glam::Vec3;

use super::Properties;
use crate::behavior::Decision;
use crate::simulation::collision::{Ground, sink};
use crate::world::{Body, Water, World};

/// Returns the ground that the body walks on; `None` if it swims.
pub(super) fn ground(water: &Water, at: Vec3, own: &Properties<'_>) -> Option<Ground> {
    let walk = &own.species.motion.walk;
    if walk.sink_mps <= 0.0 {
        return None;
    }
    let up = water.world_from_level(Vec3::Y);
    let above_m = water.above_ground_m(at, own.radius_m, own.species.margin_m);
    Some(Ground {
        up,
        climb_to_m: at.dot(up) - above_m - own.radius_m + walk.climb_m,
    })
}

/// Returns a body with a level heading and velocity, at its speed. The vehicle model then moves it along the ground, whatever its
/// slope is.
pub(super) fn level(water: &Water, before: &Body) -> Body {
    let flat = |v: Vec3| water.world_from_level(water.level_from_world(v).with_y(0.0));
    Body {
        forward: flat(before.forward).normalize_or(before.forward),
        velocity_mps: flat(before.velocity_mps).normalize_or_zero() * before.velocity_mps.length(),
        up: water.world_from_level(Vec3::Y),
        ..*before
    }
}

/// Returns a decision whose force acts along the ground.
pub(super) fn level_decision(water: &Water, decision: &Decision) -> Decision {
    let mut decision = *decision;
    let force = water.level_from_world(decision.proposal.force);
    decision.proposal.force = water.world_from_level(force.with_y(0.0));
    decision
}

/// Lets a body that has moved sink until it stands, and tilts it as the stone below it is tilted. `up` is the dorsal direction of
/// the body before the tick; the heading of the moved body is level.
pub(super) fn stand(
    world: &World<'_>,
    (before, after): (&Body, &mut Body),
    own: &Properties<'_>,
    dt_secs: f32,
) {
    let water = &world.water;
    let up = water.world_from_level(Vec3::Y);
    let above_m = water.above_ground_m(after.position_m, own.radius_m, own.species.margin_m);
    let most_m = (own.species.motion.walk.sink_mps * dt_secs).min(above_m.max(0.0));
    let (at, normal) = sink(world.solids, after.position_m, -up, most_m, own.radius_m);
    after.position_m = at;
    // A stone that is steeper than this is climbed with the belly towards it.
    let normal = normal.filter(|normal| normal.dot(up) > 0.0).unwrap_or(up);
    let leaning = before.up.lerp(normal, own.rates.banking);
    after.up = leaning.normalize_or(up);
    // The heading keeps its direction seen from above. A projection onto the slope would turn it away from the stone, tick by tick.
    let along = after.forward * after.up.dot(up) - up * after.forward.dot(after.up);
    if let Some(along) = along.try_normalize() {
        after.forward = along;
    } else {
        after.up = up;
    }
}
