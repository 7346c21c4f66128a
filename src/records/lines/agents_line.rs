//! Converts the state of the simulation to the lines that `shoal simulate` writes.

use std::collections::BTreeMap;

use crate::control::{AgentLine, AgentsLine, VisitorLine};
use crate::simulation::Simulation;
use crate::world::{Snapshot, Species, World};

/// Returns the line for the current tick.
pub fn agents_line(simulation: &Simulation, snapshot: &Snapshot) -> AgentsLine {
    let world = simulation.world();
    let agents = snapshot.agents.iter().enumerate();
    AgentsLine {
        tick: snapshot.tick,
        time_secs: snapshot.time_secs,
        agents: agents
            .map(|(index, pose)| (index, pose, own(&world, index)))
            .map(|(index, pose, species)| AgentLine {
                id: pose.id,
                species: species.name.clone(),
                name: species.individual.clone(),
                groups: species.groups.clone(),
                position_m: pose.position_m.to_array(),
                velocity_mps: pose.velocity_mps.to_array(),
                radius_m: pose.radius_m,
                need: simulation.active_need(index).to_owned(),
                actions: simulation
                    .active_actions(index)
                    .map(str::to_owned)
                    .collect(),
                boost: pose.boost,
                has_other_mind: simulation.has_override(index),
                forces: None,
            })
            .collect(),
        shadows: snapshot.shadows.iter().map(VisitorLine::from).collect(),
    }
}

/// Returns the species of an agent, or the named individual that it is.
fn own<'a>(world: &World<'a>, index: usize) -> &'a Species {
    &world.species[usize::from(world.agents.species[index])]
}

/// Adds the steering forces of every agent to the line, under the name of the action that causes them.
pub fn add_forces(simulation: &Simulation, line: &mut AgentsLine) {
    for (index, agent) in line.agents.iter_mut().enumerate() {
        let mut forces = BTreeMap::new();
        for (name, force) in simulation.forces(index) {
            let sum: &mut [f32; 3] = forces.entry(name.to_owned()).or_default();
            *sum = (glam::Vec3::from(*sum) + force).to_array();
        }
        agent.forces = Some(forces);
    }
}
