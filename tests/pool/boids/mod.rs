//! The Boids workload of OpenSteer, computed with our neighbor grid and our flocking forces. A test compares the forces, and
//! the benchmark measures the time.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::panic,
    reason = "shared by several tests and benchmarks, each of which uses a part"
)]

use std::path::{Path, PathBuf};

use glam::Vec3;
use shoal::steering::{FlockRules, FlockSums, NeighborArrays, Neighborhood};
use shoal::world::{CellNeighbors, NeighborGrid, Random, RandomStream};

pub const QUERY_RADIUS: f32 = 9.0;
const MAX_FORCE: f32 = 27.0;
const MAX_SPEED: f32 = 9.0;
const DT: f32 = 1.0 / 60.0;

/// The rules of OpenSteer's Boids plug-in.
pub const RULES: FlockRules = FlockRules {
    always_sq_m2: 1.5 * 1.5,
    separation: part(5.0, -0.707, 12.0),
    alignment: part(7.5, 0.7, 8.0),
    cohesion: part(9.0, -0.15, 8.0),
};

const fn part(radius: f32, cos_limit: f32, weight: f32) -> Neighborhood {
    Neighborhood {
        radius_sq_m2: radius * radius,
        cos_limit,
        weight,
        full_force_length: 0.0,
    }
}

/// State of all boids, and the working memory of a simulation step.
pub struct Boids {
    pub world_radius: f32,
    pub position: Vec<Vec3>,
    pub forward: Vec<Vec3>,
    pub speed: Vec<f32>,
    pub force: Vec<Vec3>,
    grid: NeighborGrid,
    around: CellNeighbors,
}

impl Boids {
    /// Reads a file with the positions, directions and speeds of all boids.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let word = |place: usize| -> Option<[u8; 4]> {
            bytes.get(place * 4..place * 4 + 4)?.try_into().ok()
        };
        let number = |place: usize| word(place).map(f32::from_le_bytes);
        let short = || format!("{}: shorter than its header says", path.display());
        let count = u32::from_le_bytes(word(0).ok_or_else(short)?) as usize;
        let mut boids = Self::empty(number(1).ok_or_else(short)?);
        for boid in 0..count {
            let at = |field: usize| number(2 + boid * 13 + field).ok_or_else(short);
            boids.position.push(Vec3::new(at(0)?, at(1)?, at(2)?));
            boids.forward.push(Vec3::new(at(3)?, at(4)?, at(5)?));
            boids.speed.push(at(9)?);
        }
        boids.force = vec![Vec3::ZERO; count];
        Ok(boids)
    }

    /// Places `count` boids at random positions in a sphere of 0.4 times the world radius, and runs `steps` simulation steps.
    pub fn evolved(count: usize, steps: usize) -> Self {
        let mut boids = Self::empty(50.0 * (count as f32 / 200.0).cbrt());
        let chance = Random { seed: 11, tick: 0 };
        let in_ball = |boid: usize, first: u32| {
            (0..64)
                .map(|attempt| {
                    let draw = |axis| {
                        chance.signed(boid as u32, RandomStream::Place, first + attempt * 4 + axis)
                    };
                    Vec3::new(draw(0), draw(1), draw(2))
                })
                .find(|at| at.length_squared() <= 1.0 && at.length_squared() > 0.01)
                .unwrap_or(Vec3::X)
        };
        for boid in 0..count {
            boids
                .position
                .push(in_ball(boid, 0) * 0.4 * boids.world_radius);
            boids
                .forward
                .push(in_ball(boid, 1000).normalize_or(Vec3::X));
            boids.speed.push(0.3 * MAX_SPEED);
        }
        boids.force = vec![Vec3::ZERO; count];
        for _ in 0..steps {
            boids.step();
        }
        boids
    }

    fn empty(world_radius: f32) -> Self {
        Self {
            world_radius,
            position: Vec::new(),
            forward: Vec::new(),
            speed: Vec::new(),
            force: Vec::new(),
            grid: NeighborGrid::default(),
            around: CellNeighbors::default(),
        }
    }

    /// Computes the flocking force of every boid.
    pub fn find_forces(&mut self) {
        let Self {
            position,
            forward,
            force,
            grid,
            around,
            ..
        } = self;
        // The cells are slightly larger than the query radius, so that rounding does not add further cells to a query.
        grid.rebuild(
            QUERY_RADIUS * 1.001,
            position.len(),
            |boid| position[boid],
            |boid| forward[boid],
        );
        grid.for_cells(QUERY_RADIUS, around, |members, around| {
            let [x_m, y_m, z_m, forward_x, forward_y, forward_z] = around.columns();
            let others = NeighborArrays {
                x_m,
                y_m,
                z_m,
                forward_x,
                forward_y,
                forward_z,
            };
            for slot in members {
                let boid = grid.agents[slot] as usize;
                let (me, ahead) = (position[boid], forward[boid]);
                let mut sums = FlockSums::default();
                sums.add_all(&RULES, me, ahead, others);
                force[boid] = sums.forces(&RULES, ahead).sum().unwrap_or_default();
            }
        });
    }

    /// Runs one simulation step.
    pub fn step(&mut self) {
        self.find_forces();
        for boid in 0..self.position.len() {
            let force = self.force[boid].clamp_length_max(MAX_FORCE);
            let velocity =
                (self.forward[boid] * self.speed[boid] + force * DT).clamp_length_max(MAX_SPEED);
            self.speed[boid] = velocity.length();
            self.forward[boid] = velocity.normalize_or(self.forward[boid]);
            let mut at = self.position[boid] + velocity * DT;
            if at.length() > self.world_radius {
                at -= at.normalize_or_zero() * (2.0 * self.world_radius);
            }
            self.position[boid] = at;
        }
    }

    /// Returns the mean number of neighbors of a boid within the query radius.
    pub fn neighbors(&mut self) -> f64 {
        self.find_forces();
        let mut pairs = 0usize;
        for &at in &self.position {
            self.grid.for_runs(at, QUERY_RADIUS, |run| {
                pairs += run
                    .filter(|&slot| {
                        let other = Vec3::new(
                            self.grid.x_m[slot],
                            self.grid.y_m[slot],
                            self.grid.z_m[slot],
                        );
                        other.distance_squared(at) < QUERY_RADIUS * QUERY_RADIUS
                    })
                    .count();
            });
        }
        pairs as f64 / self.position.len() as f64 - 1.0
    }

    /// Returns the largest distance between one of our force vectors and the force vector of the same boid in a file.
    pub fn largest_error(&mut self, path: &Path) -> Result<f32, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if bytes.len() != self.position.len() * 12 {
            return Err(format!(
                "{}: does not contain {} forces",
                path.display(),
                self.position.len()
            ));
        }
        self.find_forces();
        let number = |bytes: &[u8]| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes);
        let errors = bytes
            .chunks_exact(12)
            .zip(&self.force)
            .map(|(bytes, force)| {
                let theirs = Vec3::new(
                    number(&bytes[..4]),
                    number(&bytes[4..8]),
                    number(&bytes[8..]),
                );
                let error = theirs.distance(*force);
                if error.is_nan() { f32::INFINITY } else { error }
            });
        Ok(errors.fold(0.0, f32::max))
    }
}

/// Returns the paths of the state file and of the force file for a number of boids.
pub fn files(count: usize) -> (PathBuf, PathBuf) {
    let folder = std::env::var_os("SHOAL_TEST_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let file = |kind| folder.join(format!("data/steering/boids-{count}.{kind}.bin"));
    (file("state"), file("force"))
}
