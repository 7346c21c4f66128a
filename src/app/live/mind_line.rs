//! Converts the mind of one agent to the line that explains it to people.

use crate::behavior::{ActionInsight, LimitOf, LimitSide, NeedInsight, SeenAgent, Standing};
use crate::control::{
    ActionLine, DriveLine, LimitLine, MemoryLine, MindLine, NeedLine, NeedStanding, NeighborLine,
};
use crate::simulation::Simulation;
use crate::world::{VISITOR_SPECIES, World, agent_key, shadow_key};

/// Largest number of neighbors in a line.
const NEIGHBORS_MAX: usize = 12;
/// Names of the parts of the flocking rules.
const FLOCK_PARTS: [&str; 3] = ["separation", "alignment", "cohesion"];

/// Returns why the agent with this id did what it did in the last tick.
pub(super) fn mind_line(simulation: &Simulation, id: u32) -> MindLine {
    let world = simulation.world();
    let Some(index) = world.agents.index_of(id) else {
        return MindLine {
            id,
            ..MindLine::default()
        };
    };
    let species = &world.species[usize::from(world.agents.species[index])];
    let perceived = simulation.perceived(index);
    let neighbors = perceived.iter().take(NEIGHBORS_MAX);
    let neighbor = |(other, counts): &(crate::behavior::Neighbor, [bool; 3])| {
        let (id, species) = name_of(&world, other.agent)?;
        let counting = FLOCK_PARTS
            .iter()
            .zip(counts)
            .filter(|(_, counts)| **counts);
        Some(NeighborLine {
            id,
            species,
            distance_m: other.distance_m,
            is_in_view: other.in_view,
            counts: counting.map(|(part, _)| (*part).to_owned()).collect(),
        })
    };
    let standard = simulation.standard_insights(index);
    MindLine {
        id,
        is_present: true,
        species: species.name.clone(),
        individual: species.individual.clone(),
        active_secs: simulation.mind_state(index).active_secs(),
        needs: simulation
            .need_insights(index)
            .iter()
            .map(need_line)
            .collect(),
        standard: standard.iter().map(action_line).collect(),
        drives: drives(simulation, index),
        memory: memory(simulation, &world, index),
        neighbors: neighbors.filter_map(neighbor).collect(),
        neighbor_count: perceived.len(),
        other_mind_secs: simulation.other_mind_secs(index),
        max_force_n: species.motion.max_force_n,
    }
}

fn need_line(need: &NeedInsight<'_>) -> NeedLine {
    let limit = need.limit.map(|(value, limit)| LimitLine {
        of: match limit.of {
            LimitOf::Own => "own",
            LimitOf::Hunger => "hunger",
            LimitOf::Fear => "fear",
            LimitOf::Libido => "libido",
        }
        .to_owned(),
        value,
        limit: limit.value,
        is_lower: limit.side == LimitSide::Lower,
    });
    NeedLine {
        name: need.name.to_owned(),
        standing: match need.standing {
            Standing::Active => NeedStanding::Active,
            Standing::Kept => NeedStanding::Kept,
            Standing::Satisfied => NeedStanding::Satisfied,
            Standing::Waiting => NeedStanding::Waiting,
        },
        limit,
        keep_secs: need.keep_secs,
        actions: need.actions.iter().map(action_line).collect(),
    }
}

fn action_line(action: &ActionInsight<'_>) -> ActionLine {
    ActionLine {
        name: action.name.to_owned(),
        is_possible: action.is_possible,
        acts: action.acts,
        force_n: action.force.length(),
    }
}

/// Returns the drives that are switched on.
fn drives(simulation: &Simulation, index: usize) -> Vec<DriveLine> {
    let (params, drives) = (simulation.drives_params(index), simulation.drives(index));
    [
        ("hunger", params.hungry_after_secs, drives.hunger),
        ("fear", params.fear_distance_m, drives.fear),
        ("libido", params.courts_after_secs, drives.libido),
    ]
    .into_iter()
    .filter(|(_, is_on, _)| *is_on > 0.0)
    .map(|(name, _, value)| DriveLine {
        name: name.to_owned(),
        value,
    })
    .collect()
}

/// Returns what an agent sees or remembers of others, the newest first.
fn memory(simulation: &Simulation, world: &World<'_>, index: usize) -> Vec<MemoryLine> {
    let remembered = simulation.mind_state(index).remembered();
    let at = world.agents.bodies[index].position_m;
    let seen = |(relation, seen): (&str, &SeenAgent)| {
        // The index of a fish may be that of another one after a while.
        let other = seen.agent.filter(|_| seen.age_secs == 0.0);
        let (id, species) = match (seen.agent, other) {
            (None, _) => (None, VISITOR_SPECIES.to_owned()),
            (Some(_), Some(other)) => {
                name_of(world, other).map_or((None, String::new()), |(id, name)| (Some(id), name))
            }
            (Some(_), None) => (None, String::new()),
        };
        MemoryLine {
            relation: relation.to_owned(),
            species,
            id,
            distance_m: Some(seen.position_m.distance(at)),
            secs: seen.age_secs,
        }
    };
    let of_relations = [
        ("enemy", &remembered.enemy),
        ("prey", &remembered.prey),
        ("food", &remembered.food),
    ];
    let mut lines: Vec<_> = of_relations
        .into_iter()
        .filter(|(_, seen)| seen.was_seen())
        .map(seen)
        .collect();
    lines.sort_by(|a, b| a.secs.total_cmp(&b.secs));
    for known in remembered
        .known
        .iter()
        .filter(|known| known.left_secs > 0.0)
    {
        let agents = world.agents.ids.iter().enumerate();
        let fish = agents.filter(|(_, id)| agent_key(**id) == known.key);
        let fish = fish.filter_map(|(index, _)| name_of(world, index as u32));
        let shadows = world.visitors.shadows.iter();
        let shadow = shadows.filter(|shadow| shadow_key(shadow.id) == known.key);
        let shadow = shadow.map(|shadow| (shadow.id, VISITOR_SPECIES.to_owned()));
        let (id, species) = fish.chain(shadow).next().unzip();
        lines.push(MemoryLine {
            relation: "known".to_owned(),
            species: species.unwrap_or_default(),
            id,
            distance_m: None,
            secs: known.left_secs,
        });
    }
    lines
}

/// Returns id and species of the agent at this index; `None` if there is none.
fn name_of(world: &World<'_>, agent: u32) -> Option<(u32, String)> {
    let index = agent as usize;
    let species = world.agents.species.get(index)?;
    let species = world.species.get(usize::from(*species))?;
    Some((*world.agents.ids.get(index)?, species.name.clone()))
}
