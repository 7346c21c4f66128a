//! Converts the state of the simulation to the lines that `shoal simulate` writes.

use std::collections::BTreeMap;

use crate::control::{AgentLine, AgentsLine, VisitorLine};
use crate::simulation::Simulation;
use crate::world::Snapshot;

/// Returns the line for the current tick.
pub fn agents_line(simulation: &Simulation, snapshot: &Snapshot) -> AgentsLine {
    let species = &simulation.world().species;
    let agents = snapshot.agents.iter().enumerate();
    AgentsLine {
        tick: snapshot.tick,
        time_secs: snapshot.time_secs,
        agents: agents
            .map(|(index, pose)| AgentLine {
                id: pose.id,
                species: species[usize::from(pose.species)].name.clone(),
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
