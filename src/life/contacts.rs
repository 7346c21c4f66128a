//! Counts the touches between agents: moments at which the bodies of two agents begin to overlap.

use glam::Vec3;

use crate::geometry::Hull;
use crate::simulation::Simulation;

/// A touch ends when the gap between the bodies exceeds this. Otherwise one long contact with small oscillations would count as
/// many touches.
const APART_M: f32 = 0.02;

/// The current contacts. Reuses memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Contacts {
    /// Pairs of ids in contact at the last sample, sorted.
    pairs: Vec<(u32, u32)>,
    next: Vec<(u32, u32)>,
    /// Agents sorted by x: (x minus radius, index).
    order: Vec<(f32, u32)>,
}

impl Contacts {
    /// Finds all contacts, and calls `touched` with the indices of both agents for each contact that began since the last
    /// call. A hunter and its prey do not count.
    pub(super) fn update(
        &mut self,
        simulation: &Simulation,
        mut touched: impl FnMut(usize, usize),
    ) {
        let world = simulation.world();
        let agents = world.agents;
        self.order.clear();
        self.order.extend(
            (0..agents.len())
                // A caught agent has no names.
                .filter(|&i| agents.name_bits[i] != 0)
                .map(|i| {
                    (
                        agents.bodies[i].position_m.x - agents.half_widths_m[i],
                        i as u32,
                    )
                }),
        );
        self.order.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.next.clear();
        for (place, &(_, a)) in self.order.iter().enumerate() {
            let a = a as usize;
            let (at, hull) = (agents.bodies[a].position_m, agents.hull(a));
            let reach = at.x + hull.widest_m() + APART_M;
            let behind = self.order[place + 1..].iter();
            for &(_, b) in behind.take_while(|(low, _)| *low <= reach) {
                let b = b as usize;
                let gap_m = gap(&hull, at, &agents.hull(b), agents.bodies[b].position_m);
                if gap_m > APART_M || hunts(&world, a, b) || hunts(&world, b, a) {
                    continue;
                }
                let pair = ordered(agents.ids[a], agents.ids[b]);
                let was_in_contact = self.pairs.binary_search(&pair).is_ok();
                if gap_m < 0.0 && !was_in_contact {
                    touched(a, b);
                }
                if gap_m < 0.0 || was_in_contact {
                    self.next.push(pair);
                }
            }
        }
        self.next.sort_unstable();
        std::mem::swap(&mut self.pairs, &mut self.next);
    }
}

fn gap(a: &Hull, at_a: Vec3, b: &Hull, at_b: Vec3) -> f32 {
    a.between(at_a, b, at_b).length() - a.radius_m - b.radius_m
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

fn hunts(world: &crate::world::World<'_>, hunter: usize, prey: usize) -> bool {
    let species = &world.species[usize::from(world.agents.species[hunter])];
    species.relations.prey & world.agents.name_bits[prey] != 0
}
