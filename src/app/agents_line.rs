//! Converts the state of the simulation to the lines that `shoal simulate` writes.

use std::collections::BTreeMap;

use crate::control::{AgentLine, AgentsLine, ShadowLine};
use crate::simulation::Simulation;
use crate::world::{Shadow, Snapshot};

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
                forces: None,
            })
            .collect(),
        shadows: snapshot.shadows.iter().map(shadow_line).collect(),
    }
}

/// Adds the steering forces of every agent to the line, under the name of the action that causes them.
pub(super) fn add_forces(simulation: &Simulation, line: &mut AgentsLine) {
    for (index, agent) in line.agents.iter_mut().enumerate() {
        let mut forces = BTreeMap::new();
        for (name, force) in simulation.forces(index) {
            let sum: &mut [f32; 3] = forces.entry(name.to_owned()).or_default();
            *sum = (glam::Vec3::from(*sum) + force).to_array();
        }
        agent.forces = Some(forces);
    }
}

/// Converts a shadow to a line, with values rounded to 0.1 mm and 0.1 ms.
fn shadow_line(shadow: &Shadow) -> ShadowLine {
    let round = |value: f32| (f64::from(value) * 1e4).round() / 1e4;
    let pair = |p: glam::Vec2| [round(p.x), round(p.y)];
    ShadowLine {
        id: shadow.id,
        x_m: round(shadow.centroid_m.x),
        z_m: round(shadow.centroid_m.y),
        foot_m: pair(shadow.foot_m),
        radius_m: round(shadow.radius_m),
        vx_mps: round(shadow.velocity_mps.x),
        vz_mps: round(shadow.velocity_mps.y),
        area_m2: round(shadow.area_m2),
        age_secs: round(shadow.age_secs),
        still_secs: round(shadow.still_secs),
        contour_m: shadow.outline_m.iter().copied().map(pair).collect(),
        on_surface: true,
    }
}
