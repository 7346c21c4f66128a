//! Methods of other authors, for comparison: Reynolds' obstacle avoidance as written, repulsion by radial fields, both
//! together, and ORCA. They run without a pool, with the limits of the agents of a crowd scene.
//!
//! The vehicles of all force-based methods turn to the direction of their velocity, like those of a pool. The discs of ORCA take
//! their new velocity at once in any direction, as in its reference implementation.

use std::borrow::Cow;

use dodgy_2d::{Agent, AvoidanceOptions, Obstacle};
use glam::{Vec2, Vec3};
use shoal::geometry::Solid;
use shoal::navigation::{Falloff, Repulsion};
use shoal::steering::{Corridor, Motion, seek};

use crate::crowds::{Figures, HZ, Meter, Moving, RADIUS_M, SPEED_MPS, Scene, to_world};

/// Largest force on a vehicle of 1 kg.
const FORCE_N: f32 = 8.0;
/// Distance at which an agent perceives others.
const SIGHT_M: f32 = 8.0;
/// Weight of the force towards the goal.
const SEEK_WEIGHT: f32 = 2.0;
/// Time that a vehicle looks ahead for obstacles.
const LOOKAHEAD_SECS: f32 = 2.0;
/// Distance to keep between the body and an obstacle ahead.
const CLEARANCE_M: f32 = 0.15;
/// Braking force at contact with an obstacle, as a share of the sideways force. **Source**: Buckland 2005.
const BRAKE_SHARE: f32 = 0.2;
/// Distance from the body at which a field ends.
const FIELD_M: f32 = 1.4;
/// Force of a field at the body.
const FIELD_N: f32 = 4.0;
/// Time within which ORCA excludes velocities that lead to a collision.
const HORIZON_SECS: f32 = 2.0;

/// A method of another author.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reference {
    /// Avoidance of the most threatening agent or obstacle.
    Reynolds,
    /// Linear repulsion from agents and obstacles.
    Fields,
    /// The same with a sideways share, for the T-bone situation of Karpowicz 2011.
    Swirl,
    /// Linear repulsion from agents and avoidance of the most threatening obstacle, as Karpowicz 2011 proposes.
    Hybrid,
    /// Optimal reciprocal collision avoidance.
    Orca,
}

impl Reference {
    pub(crate) const ALL: [Self; 5] = [
        Self::Reynolds,
        Self::Fields,
        Self::Swirl,
        Self::Hybrid,
        Self::Orca,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reynolds => "reynolds",
            Self::Fields => "flow, linear",
            Self::Swirl => "flow, swirl",
            Self::Hybrid => "hybrid, plain",
            Self::Orca => "orca",
        }
    }
}

/// Runs a scene with a reference method. Returns the measured figures.
pub(crate) fn run(scene: &Scene, method: Reference, secs: f32) -> Figures {
    let mut meter = Meter::new(scene);
    let mut agents: Vec<Moving> = (scene.routes.iter())
        .map(|&(from, to)| {
            let forward = (to_world(to) - to_world(from)).normalize_or(Vec3::X);
            Moving {
                position_m: to_world(from),
                velocity_mps: forward * SPEED_MPS,
                forward,
            }
        })
        .collect();
    let polygons: Vec<Obstacle> = meter.solids.iter().filter_map(polygon).collect();
    for tick in 1..=(secs * HZ) as u32 {
        let before = agents.clone();
        for (i, agent) in agents.iter_mut().enumerate() {
            if meter.has_arrived[i] {
                continue;
            }
            let others = || {
                let others = before.iter().enumerate();
                let active = others.filter(|&(other, _)| other != i && !meter.has_arrived[other]);
                let near = active
                    .filter(|(_, other)| other.position_m.distance(before[i].position_m) < SIGHT_M);
                near.map(|(_, other)| *other)
            };
            let (own, goal_m) = (&before[i], meter.goals[i]);
            let wanted = if method == Reference::Orca {
                orca(own, goal_m, others(), (&meter.solids, &polygons))
            } else {
                let force = force(method, own, goal_m, others(), &meter.solids);
                own.velocity_mps + force.clamp_length_max(FORCE_N) / HZ
            };
            advance(agent, wanted.clamp_length_max(SPEED_MPS), &meter.solids);
        }
        meter.measure(&agents, tick as f32 / HZ);
        if meter.is_done() {
            break;
        }
    }
    meter.figures
}

/// Moves an agent for one tick. Obstacles stop it.
fn advance(agent: &mut Moving, velocity_mps: Vec3, solids: &[Solid]) {
    agent.velocity_mps = velocity_mps;
    agent.forward = velocity_mps.normalize_or(agent.forward);
    agent.position_m += velocity_mps / HZ;
    for solid in solids {
        let gap_m = solid.signed_distance_m(agent.position_m) - RADIUS_M;
        if gap_m < 0.0 {
            let out = solid.normal(agent.position_m).with_y(0.0);
            let out = out.normalize_or_zero();
            agent.position_m -= out * gap_m;
            agent.velocity_mps -= out * agent.velocity_mps.dot(out).min(0.0);
        }
    }
}

/// Returns the sum of the force towards the goal and the forces of a method.
fn force(
    method: Reference,
    own: &Moving,
    goal_m: Vec3,
    others: impl Iterator<Item = Moving> + Clone,
    solids: &[Solid],
) -> Vec3 {
    let motion = Motion {
        position_m: own.position_m,
        velocity_mps: own.velocity_mps,
        forward: own.forward,
        up: Vec3::Y,
    };
    let to_goal = seek(&motion, goal_m, SPEED_MPS).unwrap_or_default() * SEEK_WEIGHT;
    let speed_mps = own.velocity_mps.length().max(0.5 * SPEED_MPS);
    let lookahead_m = speed_mps * LOOKAHEAD_SECS + RADIUS_M;
    let corridor = Corridor {
        length_m: lookahead_m.min(own.position_m.distance(goal_m)),
        hull: (RADIUS_M + CLEARANCE_M).into(),
        force_n: FORCE_N,
        need_force: to_goal,
    };
    let bodies = others.clone().map(|other| Solid::Sphere {
        center_m: other.position_m,
        radius_m: RADIUS_M,
    });
    let rocks = || solids.iter().copied();
    let avoided = |obstacles: &mut dyn Iterator<Item = Solid>| {
        most_dangerous(&motion, &corridor, obstacles).unwrap_or_default()
    };
    let swirl = if method == Reference::Swirl { 1.0 } else { 0.0 };
    let around_agents = || -> Vec3 {
        let field = Repulsion {
            falloff: Falloff::Linear,
            range_m: 2.0 * RADIUS_M + FIELD_M,
            inner_radius_m: 2.0 * RADIUS_M,
            swirl,
        };
        let offsets = others.map(|other| own.position_m - other.position_m);
        offsets.map(|offset| field.force_at(offset) * FIELD_N).sum()
    };
    let around_rocks = || -> Vec3 {
        let each = solids.iter().map(|solid| {
            let gap_m = solid.signed_distance_m(own.position_m) - RADIUS_M;
            let share = Falloff::Linear.share(gap_m, FIELD_M, 0.0);
            solid.normal(own.position_m) * (share * FIELD_N)
        });
        each.sum()
    };
    let away = match method {
        Reference::Reynolds => avoided(&mut rocks().chain(bodies)),
        Reference::Fields | Reference::Swirl => around_agents() + around_rocks(),
        Reference::Hybrid => avoided(&mut rocks()) + around_agents(),
        Reference::Orca => Vec3::ZERO,
    };
    (to_goal + away).with_y(0.0)
}

/// Steers sideways away from the first solid in the corridor. Returns `None` if the corridor is clear.
///
/// It has the two known faults of its sources: it chooses the side again in every tick, and it avoids only the first of several
/// obstacles. **Source**: Reynolds 1999, "Obstacle avoidance"; braking from Buckland 2005; Karpowicz 2011, §2.3.3 and §3.3.4.
fn most_dangerous(
    motion: &Motion,
    corridor: &Corridor,
    solids: impl Iterator<Item = Solid>,
) -> Option<Vec3> {
    let ahead = motion.forward;
    let first = solids
        .filter_map(|solid| {
            let (along, distance) =
                solid.closest_approach(motion.position_m, ahead, corridor.length_m);
            let is_ahead = (solid.center_m() - motion.position_m).dot(ahead) > 0.0;
            (is_ahead && distance < corridor.hull.radius_m).then_some((along, solid))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (along, solid) = first?;
    let out = solid.normal(motion.position_m + ahead * along);
    let side = out - ahead * out.dot(ahead);
    let nearness = 1.0 - along / corridor.length_m.max(1e-6);
    // If the solid is exactly straight ahead, the sideways direction is zero, as in the source.
    Some(
        side.normalize_or_zero() * corridor.force_n
            - ahead * (BRAKE_SHARE * corridor.force_n * nearness),
    )
}

/// Returns the velocity that optimal reciprocal collision avoidance allows. Rocks are discs that do not give way, walls are
/// polygons. **Source**: van den Berg, Guy, Lin & Manocha 2011, with the crate `dodgy_2d`.
fn orca(
    own: &Moving,
    goal_m: Vec3,
    others: impl Iterator<Item = Moving>,
    (solids, polygons): (&[Solid], &[Obstacle]),
) -> Vec3 {
    let disc = |position, velocity, radius, avoidance_responsibility| Agent {
        position,
        velocity,
        radius,
        avoidance_responsibility,
    };
    let agent = |moving: &Moving| {
        let (at, velocity) = (moving.position_m, moving.velocity_mps);
        disc(flat(at), flat(velocity), RADIUS_M, 1.0)
    };
    // Of two discs with the same position and velocity, the crate moves one in a random direction.
    let beside = others.filter(|other| other.position_m != own.position_m);
    let mut near: Vec<Cow<'_, Agent>> = beside.map(|other| Cow::Owned(agent(&other))).collect();
    near.extend(solids.iter().filter_map(|solid| match *solid {
        Solid::Capsule {
            from_m, radius_m, ..
        } => Some(Cow::Owned(disc(
            flat(from_m),
            dodgy_2d::Vec2::ZERO,
            radius_m,
            0.0,
        ))),
        _ => None,
    }));
    let walls: Vec<Cow<'_, Obstacle>> = polygons.iter().map(Cow::Borrowed).collect();
    let options = AvoidanceOptions {
        obstacle_margin: RADIUS_M,
        time_horizon: HORIZON_SECS,
        obstacle_time_horizon: HORIZON_SECS,
    };
    let to_goal = (goal_m - own.position_m).normalize_or_zero() * SPEED_MPS;
    let found = agent(own).compute_avoiding_velocity(
        &near,
        &walls,
        flat(to_goal),
        SPEED_MPS,
        1.0 / HZ,
        &options,
    );
    let allowed = Vec3::new(found.x, 0.0, found.y);
    if allowed.is_finite() {
        allowed
    } else {
        to_goal
    }
}

/// Returns the outline of a wall. `None` for rocks.
fn polygon(solid: &Solid) -> Option<Obstacle> {
    let Solid::Box {
        center_m,
        half_m,
        axis,
    } = *solid
    else {
        return None;
    };
    let corner = |a: f32, b: f32| {
        let at = Vec2::new(center_m.x, center_m.z)
            + axis * (half_m.x * a)
            + axis.perp() * (half_m.z * b);
        dodgy_2d::Vec2::new(at.x, at.y)
    };
    Some(Obstacle::Closed {
        vertices: vec![
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
        ],
    })
}

fn flat(at: Vec3) -> dodgy_2d::Vec2 {
    dodgy_2d::Vec2::new(at.x, at.z)
}
