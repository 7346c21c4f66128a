//! Crowd scenes, which run in the same simulation as the pool. The agents are discs of 0.3 m radius in one plane, each with
//! its own goal. Their desired speed is 1.3 m/s, their largest acceleration is 8 m/s², and a tick lasts 1/60 s. An agent
//! that arrives is removed. A run ends when all agents have arrived, or after a given time.
//!
//! The simulation does not separate agents that collide, so their bodies may overlap. The deepest overlap is one of the
//! measured figures. Obstacles stop agents.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "not every user needs all; tests may"
)]

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};
use shoal::behavior::actions::{AvoidObstacles, FollowFlowField, Seek, SeekTarget};
use shoal::behavior::{ActionParams, MindParams, NeedParams};
use shoal::geometry::{Solid, Surface};
use shoal::navigation::Falloff;
use shoal::simulation::{SceneDescription, Simulation, SimulationParams, SpeciesDescription};
use shoal::world::{
    BodyParams, BoxParams, CapsuleParams, MotionParams, Observation, ObstacleParams,
    PerceptionParams, PoolParams,
};

pub(crate) const RADIUS_M: f32 = 0.3;
pub(crate) const SPEED_MPS: f32 = 1.3;
pub(crate) const HZ: f32 = 60.0;
/// An agent has arrived if it is nearer to its goal than this.
const ARRIVED_M: f32 = 0.5;
/// A collision ends when the gap between the bodies exceeds this. Without this limit, one long contact with small
/// oscillations would count as many collisions.
const APART_M: f32 = 0.03;
/// An agent touches an obstacle if the gap between them is smaller than this. The gap does not become negative, because the
/// simulation stops agents at obstacles.
const ROCK_TOUCH_M: f32 = 1e-3;
/// Coordinate y of all agents, in meters.
pub(crate) const Y: f32 = -RADIUS_M;

/// Parameters of our method for agents with this radius and speed.
const FIELDS: FollowFlowField = FollowFlowField {
    weight: 1.0,
    falloff: Falloff::Quadratic,
    range_m: 0.3,
    strength_n: 8.0,
    swirl: 0.0,
    foresight_secs: 3.5,
    foresight_n: 4.0,
    margin_m: 0.15,
};

/// Start positions, goals and obstacles of a crowd scene.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// Start position and goal of each agent, in meters (x, z).
    pub routes: Vec<(Vec2, Vec2)>,
    pub obstacles: Vec<ObstacleParams>,
}

/// Figures measured in one or more runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// Number of collisions. A collision of two agents counts twice, a collision with an obstacle once.
    pub collisions: u32,
    pub agent_mins: f64,
    /// Deepest overlap of two agents, in percent of a diameter.
    pub worst_overlap_percent: f64,
    pub turned_deg: f64,
    pub speed_sum: f64,
    pub speed_square_sum: f64,
    pub ticks: u64,
    /// Sum of the ratios of actual to ideal travel time of all agents that arrived.
    pub time_sum: f64,
    pub arrived: u32,
    pub agents: u32,
}

impl Figures {
    /// Returns the number of collisions per agent and minute.
    pub(crate) fn collision_rate(&self) -> f64 {
        f64::from(self.collisions) / self.agent_mins
    }

    /// Returns the mean turn rate of an agent, in degrees per second. Turns towards the goal count too.
    pub(crate) fn jitter_dps(&self) -> f64 {
        self.turned_deg / (self.agent_mins * 60.0)
    }

    pub(crate) fn mean_speed_mps(&self) -> f64 {
        self.speed_sum / self.ticks as f64
    }

    pub(crate) fn speed_loss_percent(&self) -> f64 {
        (1.0 - self.mean_speed_mps() / f64::from(SPEED_MPS)) * 100.0
    }

    /// Returns the standard deviation of the speed, in percent of the desired speed.
    pub(crate) fn speed_deviation_percent(&self) -> f64 {
        let mean = self.mean_speed_mps();
        let variance = self.speed_square_sum / self.ticks as f64 - mean * mean;
        variance.max(0.0).sqrt() / f64::from(SPEED_MPS) * 100.0
    }

    pub(crate) fn time_ratio(&self) -> f64 {
        self.time_sum / f64::from(self.arrived.max(1))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.collisions += other.collisions;
        self.agent_mins += other.agent_mins;
        self.worst_overlap_percent = self.worst_overlap_percent.max(other.worst_overlap_percent);
        self.turned_deg += other.turned_deg;
        self.speed_sum += other.speed_sum;
        self.speed_square_sum += other.speed_square_sum;
        self.ticks += other.ticks;
        self.time_sum += other.time_sum;
        self.arrived += other.arrived;
        self.agents += other.agents;
    }
}

/// Returns a pseudo-random number from −0.5 to 0.5.
fn draw(seed: u32, n: u32) -> f32 {
    let mut x = (u64::from(seed) << 32 | u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((x ^ (x >> 29)) >> 40) as f32 / (1u32 << 24) as f32 - 0.5
}

fn jittered(at: Vec2, by_m: f32, seed: u32, n: u32) -> Vec2 {
    at + Vec2::new(draw(seed, 2 * n), draw(seed, 2 * n + 1)) * by_m
}

/// 40 agents on a circle of 10 m radius. The goal of each agent is the opposite point of the circle.
pub(crate) fn circle_swap(seed: u32) -> Scene {
    let route = |i: u32| {
        let at = Vec2::from_angle(i as f32 / 40.0 * std::f32::consts::TAU) * 10.0;
        (jittered(at, 0.1, seed, i), -at)
    };
    Scene {
        routes: (0..40).map(route).collect(),
        ..Scene::default()
    }
}

/// Two blocks of 30 agents whose routes cross at right angles.
pub(crate) fn t_bone(seed: u32) -> Scene {
    let route = |i: u32| {
        let index = i % 30;
        let (across, along) = ((index % 5) as f32 - 2.0, (index / 5) as f32);
        let from = jittered(Vec2::new(-6.0 - along * 1.5, across * 1.5), 0.3, seed, i);
        let to = from + Vec2::X * 24.0;
        if i < 30 {
            (from, to)
        } else {
            (from.perp(), to.perp())
        }
    };
    Scene {
        routes: (0..60).map(route).collect(),
        ..Scene::default()
    }
}

/// Two blocks of 24 agents that meet in a hallway of 6 m width.
pub(crate) fn hallway(seed: u32) -> Scene {
    let route = |i: u32| {
        let index = i % 24;
        let (across, along) = ((index % 4) as f32 - 1.5, (index / 4) as f32);
        let from = jittered(Vec2::new(-4.0 - along * 1.5, across * 1.3), 0.3, seed, i);
        let to = from + Vec2::X * 24.0;
        if i < 24 { (from, to) } else { (-from, -to) }
    };
    let wall = |z: f32| {
        ObstacleParams::Box(BoxParams {
            visible: true,
            center_m: [0.0, Y, z],
            half_extents_m: [30.0, 1.0, 0.2],
            yaw_deg: 0.0,
        })
    };
    Scene {
        routes: (0..48).map(route).collect(),
        obstacles: vec![wall(-3.2), wall(3.2)],
    }
}

fn rock(at: Vec2, radius_m: f32) -> ObstacleParams {
    // A vertical capsule. Its cross section is a disc of the same radius at the height of the agents.
    ObstacleParams::Capsule(CapsuleParams {
        visible: true,
        from_m: [at.x, Y - 9.0, at.y],
        to_m: [at.x, Y + 9.0, at.y],
        radius_m,
    })
}

/// Returns 20 rocks with gaps of at least 1.4 m between them.
fn rocks(seed: u32) -> Vec<ObstacleParams> {
    let mut found: Vec<(Vec2, f32)> = Vec::new();
    for n in 0..1000 {
        let at = Vec2::new(
            draw(seed, 900 + 3 * n) * 16.0,
            draw(seed, 901 + 3 * n) * 12.0,
        );
        let radius = 0.8 + 0.6 * draw(seed, 902 + 3 * n);
        if found
            .iter()
            .all(|(other, r)| other.distance(at) > r + radius + 1.4)
        {
            found.push((at, radius));
        }
        if found.len() == 20 {
            break;
        }
    }
    found
        .into_iter()
        .map(|(at, radius)| rock(at, radius))
        .collect()
}

/// A single agent that crosses a field of rocks.
pub(crate) fn rocks_single(seed: u32) -> Scene {
    let z = draw(seed, 1) * 8.0;
    Scene {
        routes: vec![(Vec2::new(-11.0, z), Vec2::new(11.0, z))],
        obstacles: rocks(seed / 4),
    }
}

/// A school of 20 agents that crosses a field of rocks.
pub(crate) fn rocks_school(seed: u32) -> Scene {
    let route = |i: u32| {
        let (across, along) = ((i % 5) as f32 - 2.0, (i / 5) as f32);
        let from = jittered(Vec2::new(-11.0 - along * 1.5, across * 1.5), 0.3, seed, i);
        (from, from + Vec2::X * 26.0)
    };
    Scene {
        routes: (0..20).map(route).collect(),
        obstacles: rocks(seed),
    }
}

/// A block of 20 agents that moves 10 m and mirrors its formation along both axes on the way.
pub(crate) fn formation_change(seed: u32) -> Scene {
    let slot = |i: u32| Vec2::new((i / 5) as f32 - 1.5, (i % 5) as f32 - 2.0) * 1.5;
    let route = |i: u32| {
        let from = jittered(slot(i), 0.2, seed, i);
        (from, slot(19 - i) + Vec2::X * 10.0)
    };
    Scene {
        routes: (0..20).map(route).collect(),
        ..Scene::default()
    }
}

/// A single agent whose route leads through a cluster of rocks with 0.6 m radius, from a random side. The gaps are 1.3 m wide.
pub(crate) fn cluster(seed: u32) -> Scene {
    let mut obstacles = Vec::new();
    for ring in 0..7 {
        let at = Vec2::from_angle(ring as f32 * std::f32::consts::TAU / 6.0) * 2.5;
        obstacles.push(rock(if ring == 6 { Vec2::ZERO } else { at }, 0.6));
    }
    let turn = Vec2::from_angle(draw(seed, 1) * std::f32::consts::TAU);
    let aside = draw(seed, 2) * 3.0;
    Scene {
        routes: vec![(
            turn.rotate(Vec2::new(-7.0, aside)),
            turn.rotate(Vec2::new(7.0, aside)),
        )],
        obstacles,
    }
}

/// A single agent that moves straight towards a rock of 1 m radius.
pub(crate) fn head_on(seed: u32) -> Scene {
    let aside = draw(seed, 1) * 0.8;
    Scene {
        routes: vec![(Vec2::new(-7.0, aside), Vec2::new(7.0, aside))],
        obstacles: vec![rock(Vec2::ZERO, 1.0)],
    }
}

/// Runs a scene with our method in a pool: repulsion at the predicted closest approach of agents, and avoidance of all obstacles
/// in the corridor ahead. An agent keeps the side on which it passes an obstacle. Returns the measured figures.
pub(crate) fn run(scene: &Scene, secs: f32) -> Figures {
    let description = SceneDescription {
        surface: Surface {
            width_m: 8_000.0,
            height_m: 8_000.0,
            ..Surface::default()
        },
        pool: PoolParams {
            surface_depth_m: 0.0,
            ground_depth_m: 2.0 * RADIUS_M,
            ..PoolParams::default()
        },
        obstacles: scene.obstacles.clone(),
        species: (scene.routes.iter().enumerate())
            .map(|(i, (_, goal))| species(i, *goal))
            .collect(),
        ..SceneDescription::default()
    };
    let params = SimulationParams {
        tick_hz: HZ,
        seed: 1,
        threads: 1,
        ..SimulationParams::default()
    };
    let mut simulation = Simulation::new(&description, &params).unwrap();
    for (i, (from, to)) in scene.routes.iter().enumerate() {
        let heading = (*to - *from).normalize_or_zero();
        assert!(simulation.place(i, to_world(*from), Vec3::new(heading.x, 0.0, heading.y)));
    }
    let mut meter = Meter::new(scene);
    let no_visitors = Observation::default();
    for _ in 0..(secs * HZ) as u32 {
        simulation.run_tick(&no_visitors);
        let bodies = simulation.world().agents.bodies.iter();
        let moving: Vec<Moving> = bodies
            .map(|body| Moving {
                position_m: body.position_m,
                velocity_mps: body.velocity_mps,
                forward: body.forward,
            })
            .collect();
        for i in meter.measure(&moving, simulation.time_secs() as f32) {
            // Moves the agent so far away that it disturbs no other agent and cannot return before the end of the run.
            let away = Vec3::new(1_500.0, Y, 40.0 * i as f32);
            assert!(simulation.place(i, away, Vec3::X));
        }
        if meter.is_done() {
            break;
        }
    }
    meter.figures
}

pub(crate) fn to_world(at: Vec2) -> Vec3 {
    Vec3::new(at.x, Y, at.y)
}

/// Returns the species of agent `i`. Every agent has its own species, because the goal is a parameter of the species.
fn species(i: usize, goal: Vec2) -> SpeciesDescription {
    let seek = Seek {
        weight: 2.0,
        target: SeekTarget::Point,
        point_m: to_world(goal).into(),
        ..Seek::default()
    };
    let avoid = AvoidObstacles {
        lookahead_secs: 2.0,
        clearance_m: 0.15,
        ..AvoidObstacles::default()
    };
    let actions = [
        ("avoid", ActionParams::AvoidObstacles(avoid)),
        ("fields", ActionParams::FollowFlowField(FIELDS)),
        ("go", ActionParams::Seek(seek)),
    ];
    SpeciesDescription {
        name: format!("a{i}"),
        count: 1,
        body: BodyParams {
            length_m: 2.0 * RADIUS_M,
            radius_m: RADIUS_M,
            width_m: None,
            mass_kg: 1.0,
            size_spread: 0.0,
        },
        motion: MotionParams {
            cruise_mps: SPEED_MPS,
            boost_mps: SPEED_MPS,
            min_speed_mps: 0.0,
            max_force_n: 8.0,
            response_secs: 0.0,
            max_turn_rate_dps: 100_000.0,
            max_climb_deg: 0.0,
            lean_gain: 0.0,
            level_secs: 0.0,
            ..MotionParams::default()
        },
        perception: PerceptionParams {
            sight_radius_m: 8.0,
            prey_sight_radius_m: 8.0,
            field_of_view_deg: 360.0,
            size_gain: 0.0,
            ..PerceptionParams::default()
        },
        mind: MindParams {
            actions: BTreeMap::from(actions.map(|(name, action)| (name.to_owned(), action))),
            standard: NeedParams {
                name: "keep_clear".into(),
                additive: true,
                actions: vec!["avoid".into(), "fields".into()],
                ..NeedParams::default()
            },
            needs: vec![NeedParams {
                name: "go".into(),
                actions: vec!["go".into()],
                ..NeedParams::default()
            }],
            ..MindParams::default()
        },
        ..SpeciesDescription::default()
    }
}

/// Position, velocity and heading of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moving {
    pub position_m: Vec3,
    pub velocity_mps: Vec3,
    pub forward: Vec3,
}

/// Measures the figures during a run.
pub(crate) struct Meter {
    pub goals: Vec<Vec3>,
    pub solids: Vec<Solid>,
    pub has_arrived: Vec<bool>,
    pub figures: Figures,
    ideal_secs: Vec<f32>,
    touches: Vec<bool>,
    touches_rock: Vec<bool>,
    headings: Vec<Vec3>,
}

impl Meter {
    pub(crate) fn new(scene: &Scene) -> Self {
        let count = scene.routes.len();
        let ideal = |(from, to): &(Vec2, Vec2)| (from.distance(*to) - ARRIVED_M) / SPEED_MPS;
        let solids: Vec<Solid> = (scene.obstacles.iter())
            .filter_map(ObstacleParams::solid)
            .collect();
        Self {
            goals: scene.routes.iter().map(|(_, to)| to_world(*to)).collect(),
            touches_rock: vec![false; count * solids.len()],
            solids,
            has_arrived: vec![false; count],
            figures: Figures {
                agents: count as u32,
                ..Figures::default()
            },
            ideal_secs: scene.routes.iter().map(ideal).collect(),
            touches: vec![false; count * count],
            headings: (scene.routes.iter())
                .map(|(from, to)| (to_world(*to) - to_world(*from)).normalize_or_zero())
                .collect(),
        }
    }

    /// Whether all agents have arrived.
    pub(crate) fn is_done(&self) -> bool {
        self.figures.arrived == self.figures.agents
    }

    /// Adds the figures of one tick. Returns the agents that have arrived in this tick.
    pub(crate) fn measure(&mut self, agents: &[Moving], secs: f32) -> Vec<usize> {
        let count = self.goals.len();
        let mut arrived = Vec::new();
        for (i, agent) in agents.iter().enumerate() {
            if self.has_arrived[i] {
                continue;
            }
            let speed = f64::from(agent.velocity_mps.length());
            self.figures.ticks += 1;
            self.figures.agent_mins += 1.0 / f64::from(HZ * 60.0);
            self.figures.speed_sum += speed;
            self.figures.speed_square_sum += speed * speed;
            let turned = self.headings[i].angle_between(agent.forward);
            self.figures.turned_deg += f64::from(turned.to_degrees());
            self.headings[i] = agent.forward;
            for (other, neighbor) in agents[..i].iter().enumerate() {
                if !self.has_arrived[other] {
                    let distance = agent.position_m.distance(neighbor.position_m);
                    self.update_contact(i * count + other, distance - 2.0 * RADIUS_M);
                }
            }
            for (index, solid) in self.solids.iter().enumerate() {
                let gap = solid.signed_distance_m(agent.position_m) - RADIUS_M;
                let touch = &mut self.touches_rock[i * self.solids.len() + index];
                let touches_now = gap < ROCK_TOUCH_M || (*touch && gap < APART_M);
                self.figures.collisions += u32::from(touches_now && !*touch);
                *touch = touches_now;
            }
            if agent.position_m.distance(self.goals[i]) < ARRIVED_M {
                self.has_arrived[i] = true;
                self.figures.arrived += 1;
                self.figures.time_sum += f64::from(secs / self.ideal_secs[i]);
                arrived.push(i);
            }
        }
        arrived
    }

    fn update_contact(&mut self, pair: usize, gap_m: f32) {
        let touches_now = gap_m < 0.0 || (self.touches[pair] && gap_m < APART_M);
        self.figures.collisions += 2 * u32::from(touches_now && !self.touches[pair]);
        self.touches[pair] = touches_now;
        let overlap = f64::from(-gap_m / (2.0 * RADIUS_M)) * 100.0;
        self.figures.worst_overlap_percent = self.figures.worst_overlap_percent.max(overlap);
    }
}
