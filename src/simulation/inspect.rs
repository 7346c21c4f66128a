//! Read access to a running pool: snapshots, decisions, counters.

use super::Simulation;
use crate::behavior::{Decision, Drives, Mind};
use crate::navigation::GridPlanner;
use crate::world::{AgentPose, Snapshot, World};

impl Simulation {
    /// Number of ticks since the pool was created.
    pub fn tick(&self) -> u64 {
        self.state.world.random.tick
    }

    /// Simulated time: [`Self::tick`] times the fixed time step.
    pub fn time_secs(&self) -> f64 {
        self.tick() as f64 / f64::from(self.tick_hz)
    }

    /// The fixed duration of one tick, in seconds.
    pub fn dt_secs(&self) -> f64 {
        f64::from(self.workspace.input.dt_secs)
    }

    /// Number of plan changes since the pool was created.
    pub fn revision(&self) -> u64 {
        self.state.revision
    }

    /// Read access to the world in its current state.
    pub fn world(&self) -> World<'_> {
        World::new(&self.plan.world, &self.state.world, &self.workspace.input)
    }

    /// Decision of the agent at this index in the last tick.
    pub fn decision(&self, index: usize) -> &Decision {
        &self.workspace.decisions[index]
    }

    /// Hunger, fear and libido of the agent at this index.
    pub fn drives(&self, index: usize) -> &Drives {
        self.state.minds[index].drives()
    }

    /// Number of meals since the pool was created. A meal is food that an agent eats without a hunt.
    pub fn meals(&self) -> u64 {
        self.state.meals
    }

    /// Number of prey caught since the pool was created.
    pub fn catches(&self) -> u64 {
        self.state.catches
    }

    /// Number of times that the new body of an agent had a value that is not finite and was discarded, for all agents
    /// together.
    pub fn quarantine_count(&self) -> u64 {
        let bodies = self.state.world.agents.bodies.iter();
        bodies.map(|body| u64::from(body.quarantine_count)).sum()
    }

    /// Name of the need that was active for the agent at this index in the last tick; empty if only the standard need was
    /// active.
    pub fn active_need(&self, index: usize) -> &str {
        let mind = self.workspace.minds(&self.plan).get(index);
        self.workspace.decisions[index]
            .need
            .map_or("", |need| mind.need_name(need))
    }

    /// Names of the actions that the agent at this index executed in the last tick.
    pub fn active_actions(&self, index: usize) -> impl Iterator<Item = &str> {
        let mind = self.workspace.minds(&self.plan).get(index);
        mind.action_names(self.workspace.decisions[index].actions)
    }

    /// Mind of a species or named individual; `species_index` is an index into [`World::species`].
    pub fn species_mind(&self, species_index: usize) -> &Mind {
        &self.plan.minds[species_index]
    }

    /// Whether the agent at this index currently has another mind than its species.
    pub fn has_override(&self, index: usize) -> bool {
        let id = self.state.world.agents.ids[index];
        self.state.overrides.iter().any(|o| o.id == id)
    }

    /// The paths on grids that agents search and follow.
    pub fn planner(&self) -> &GridPlanner {
        &self.state.planner
    }

    /// Writes the current state of the pool into `snapshot` and reuses its memory.
    pub fn snapshot(&self, snapshot: &mut Snapshot) {
        snapshot.tick = self.tick();
        snapshot.time_secs = self.time_secs();
        snapshot.revision = self.state.revision;
        let world = self.world();
        snapshot.agents.clear();
        let indices = 0..world.agents.len();
        snapshot
            .agents
            .extend(indices.map(|index| pose(&world, index)));
        for (index, share) in self.swallowed_shares() {
            snapshot.agents[index].swallowed = share;
        }
        snapshot.splashes.clone_from(&self.state.terraces.splashes);
        // As much memory as all catches at a time need, so that the first catch allocates none.
        snapshot.catches.clear();
        snapshot.catches.reserve(self.state.swallowed.capacity());
        snapshot.catches.extend_from_slice(&self.state.swallowed);
        snapshot.shadows.clone_from(&world.visitors.shadows);
        snapshot.light = world.director.light.shares();
        snapshot.season = world.director.season.shares();
        snapshot.sounds.clear();
        snapshot.sounds.extend(self.begun_sounds().cloned());
    }
}

fn pose(world: &World<'_>, index: usize) -> AgentPose {
    let agents = world.agents;
    let body = &agents.bodies[index];
    let species = &world.species[usize::from(agents.species[index])];
    let motion = &species.motion;
    let range = (motion.boost_mps - motion.cruise_mps).max(1e-6);
    let boost = (body.boost.allowed_mps - motion.cruise_mps) / range;
    AgentPose {
        id: agents.ids[index],
        species: species.look,
        position_m: body.position_m,
        forward: body.forward,
        up: body.up,
        velocity_mps: body.velocity_mps,
        turn_rate_rps: body.turn_rate_rps,
        acceleration_mps2: body.acceleration_mps2,
        boost: boost.clamp(0.0, 1.0),
        start_phase: body.start.phase,
        start_bend_rad: body.start.bend_rad,
        radius_m: agents.radii_m[index],
        teleported: body.teleported,
        swallowed: 0.0,
    }
}
