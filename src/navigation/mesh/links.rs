//! Links: directed leaps and drops between terraces, the conditions under which an agent can take a link, and the
//! reachability of regions.
//!
//! In: start lines and landing lines. Out: the links of each polygon, reachability between regions. **Source**: Lischka
//! 2014, §7.2 and §7.3.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::surface::NavMesh;

/// A link that leads down by less than this distance counts as a leap instead of a drop.
pub(super) const DROP_M: f32 = 0.02;

/// The abilities of an agent that decide which links it can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abilities {
    /// Largest rise of a leap; 0 if the agent cannot leap.
    pub leap_height_m: f32,
    /// Largest speed at take-off.
    pub leap_speed_mps: f32,
    /// Shortest time from the landing of a leap to the next take-off.
    pub leap_cooldown_secs: f32,
    /// Body radius of the largest individual of the species. A flight needs this free distance around its trajectory.
    pub radius_m: f32,
}

/// A directed connection between two polygons. An agent takes it through the air, as a leap or a drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshLink {
    /// Index of the start polygon.
    pub from: u32,
    /// Index of the landing polygon.
    pub to: u32,
    /// Ends of the start line.
    pub start: (Vec2, Vec2),
    /// Ends of the landing line. A flight from a point at a fraction of the start line lands at the same fraction of
    /// this line.
    pub landing: (Vec2, Vec2),
    /// Horizontal unit vector of the flight. The agent turns to it before take-off.
    pub heading: Vec2,
    /// Cosine of the largest angle between the heading of an agent and the heading of the flight at take-off.
    pub heading_cos: f32,
    /// Height of the landing line above the start line; negative for a drop.
    pub rise_m: f32,
    /// Speed at take-off, horizontal and vertical combined.
    pub take_off_mps: f32,
    /// Duration of the flight.
    pub flight_secs: f32,
    /// Largest body radius for which the trajectory is free of obstacles. The trajectory was computed for this radius.
    pub radius_m: f32,
}

impl MeshLink {
    /// Whether the link is a leap (and not a drop).
    pub fn is_leap(&self) -> bool {
        self.rise_m > -DROP_M
    }

    /// Horizontal way of a flight over the link.
    pub fn flight_m(&self) -> Vec2 {
        self.landing.0 - self.start.0
    }

    /// Whether an agent can take the link after the cooldown of its last leap. Every agent that is small enough can
    /// take a drop.
    pub fn is_possible(&self, abilities: &Abilities) -> bool {
        let can_leap =
            self.rise_m <= abilities.leap_height_m && self.take_off_mps <= abilities.leap_speed_mps;
        abilities.radius_m <= self.radius_m && (!self.is_leap() || can_leap)
    }

    /// Returns the landing position of a flight that starts at a point of the start line.
    pub fn landing_of(&self, start: Vec2) -> Vec2 {
        let along = self.start.1 - self.start.0;
        let t = (start - self.start.0).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
        self.landing.0.lerp(self.landing.1, t.clamp(0.0, 1.0))
    }
}

/// All links of a mesh, sorted by start polygon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshLinks {
    links: Vec<MeshLink>,
    /// Index of the first link of each polygon; the last entry is the number of links. Empty if there are no links.
    starts: Vec<u32>,
    regions: u32,
    /// Start and landing region of every link.
    link_regions: Vec<(u32, u32)>,
    /// Reachability for each set of abilities that was given to [`MeshLinks::new`].
    reachabilities: Vec<(Abilities, Reachability)>,
}

impl MeshLinks {
    /// Sorts the links and removes those that refer to a missing polygon. Computes the reachability in advance for each
    /// set of abilities in `swimmers`.
    pub fn new(mesh: &NavMesh, mut links: Vec<MeshLink>, swimmers: &[Abilities]) -> Self {
        links.retain(|link| (link.from as usize) < mesh.len() && (link.to as usize) < mesh.len());
        links.sort_by_key(|link| link.from);
        let mut starts = Vec::new();
        if !links.is_empty() {
            starts = (0..=mesh.len() as u32)
                .map(|polygon| links.partition_point(|link| link.from < polygon) as u32)
                .collect();
        }
        let link_regions = links
            .iter()
            .map(|link| (mesh.region(link.from), mesh.region(link.to)))
            .collect();
        let mut all = Self {
            links,
            starts,
            regions: mesh.region_count(),
            link_regions,
            reachabilities: Vec::new(),
        };
        for abilities in swimmers {
            let reachability = Reachability::new(&all, abilities);
            all.reachabilities.push((*abilities, reachability));
        }
        all
    }

    /// Returns the link at an index, or `None` if there is no such link.
    pub fn get(&self, index: u32) -> Option<&MeshLink> {
        self.links.get(index as usize)
    }

    /// All links.
    pub fn iter(&self) -> impl Iterator<Item = &MeshLink> {
        self.links.iter()
    }

    /// Returns the links that start in a polygon, each with its index.
    pub fn from_polygon(&self, polygon: u32) -> impl Iterator<Item = (u32, &MeshLink)> {
        let at = |polygon: usize| self.starts.get(polygon).copied().unwrap_or(0);
        let range = at(polygon as usize)..at(polygon as usize + 1);
        range.filter_map(|index| Some((index, self.links.get(index as usize)?)))
    }

    /// Whether an agent with these abilities can get from one region to another, regardless of cooldowns. Takes
    /// constant time for abilities that were given to [`MeshLinks::new`].
    pub fn can_reach(&self, from: u32, to: u32, abilities: &Abilities) -> bool {
        if from == to {
            return true;
        }
        match self
            .reachabilities
            .iter()
            .find(|(known, _)| known == abilities)
        {
            Some((_, reachability)) => reachability.has(from, to),
            None => Reachability::new(self, abilities).has(from, to),
        }
    }

    /// Returns the smallest cost per horizontal meter of all flights, at most 1.
    pub(super) fn least_cost_per_m(&self, speed_mps: f32) -> f32 {
        let each = self.links.iter().map(|link| {
            let ground_m = link
                .start
                .0
                .distance(link.landing.0)
                .max(link.start.1.distance(link.landing.1));
            link.flight_secs * speed_mps / ground_m.max(1e-6)
        });
        each.fold(1.0, f32::min)
    }
}

/// Reachability between regions: the strongly connected components of the regions, and for each component the
/// components that can be reached from it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Reachability {
    /// Component of each region.
    component: Vec<u32>,
    /// One row of bits for each component: the components that can be reached from it.
    rows: Vec<u64>,
    words: usize,
}

impl Reachability {
    fn new(links: &MeshLinks, abilities: &Abilities) -> Self {
        let count = links.regions as usize;
        let mut successors = vec![Vec::new(); count];
        for (link, &(from, to)) in links.links.iter().zip(&links.link_regions) {
            if from != to && link.is_possible(abilities) {
                successors[from as usize].push(to);
            }
        }
        for list in &mut successors {
            list.sort_unstable();
            list.dedup();
        }
        let (component, components) = strong_components(&successors);
        let words = components.div_ceil(64);
        let mut rows = vec![0u64; components * words];
        let mut members = vec![Vec::new(); components];
        for (region, &own) in component.iter().enumerate() {
            members[own as usize].push(region);
        }
        // Links lead from higher to lower component numbers, so the rows of all lower components are already complete.
        for own in 0..components {
            rows[own * words + own / 64] |= 1 << (own % 64);
            for &region in &members[own] {
                for &to in &successors[region] {
                    let other = component[to as usize] as usize;
                    for word in 0..words {
                        let bits = rows[other * words + word];
                        rows[own * words + word] |= bits;
                    }
                }
            }
        }
        Self {
            component,
            rows,
            words,
        }
    }

    fn has(&self, from: u32, to: u32) -> bool {
        let of = |region: u32| self.component.get(region as usize).map(|&c| c as usize);
        let (Some(from), Some(to)) = (of(from), of(to)) else {
            return false;
        };
        self.rows[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }
}

/// Strongly connected components by Tarjan's algorithm, without recursion. Returns the component of each node, and the
/// number of components. Edges between components lead from higher to lower numbers.
fn strong_components(successors: &[Vec<u32>]) -> (Vec<u32>, usize) {
    const NEW: u32 = u32::MAX;
    let count = successors.len();
    let (mut order, mut low) = (vec![NEW; count], vec![0u32; count]);
    let mut component = vec![NEW; count];
    let (mut stack, mut calls): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let (mut clock, mut components) = (0, 0u32);
    for root in 0..count as u32 {
        if order[root as usize] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, edge)) = calls.pop() {
            let at = node as usize;
            if edge == 0 {
                (order[at], low[at]) = (clock, clock);
                clock += 1;
                stack.push(node);
            }
            let mut edge = edge;
            let mut goes_deeper = false;
            while let Some(&to) = successors[at].get(edge) {
                edge += 1;
                if order[to as usize] == NEW {
                    calls.push((node, edge));
                    calls.push((to, 0));
                    goes_deeper = true;
                    break;
                }
                if component[to as usize] == NEW {
                    low[at] = low[at].min(order[to as usize]);
                }
            }
            if goes_deeper {
                continue;
            }
            if low[at] == order[at] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
        }
    }
    (component, components as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nodes_of_a_component_reach_each_other(
            edges in prop::collection::vec((0u32..12, 0u32..12), 0..40),
        ) {
            let mut successors = vec![Vec::new(); 12];
            let mut reachability = [[false; 12]; 12];
            for (n, row) in reachability.iter_mut().enumerate() {
                row[n] = true;
            }
            for &(a, b) in &edges {
                successors[a as usize].push(b);
                reachability[a as usize][b as usize] = true;
            }
            for k in 0..12 {
                for a in 0..12 {
                    for b in 0..12 {
                        reachability[a][b] |= reachability[a][k] && reachability[k][b];
                    }
                }
            }
            let (component, _) = strong_components(&successors);
            for a in 0..12 {
                for b in 0..12 {
                    let both = reachability[a][b] && reachability[b][a];
                    prop_assert_eq!(component[a] == component[b], both);
                    if reachability[a][b] && !both {
                        prop_assert!(component[a] > component[b]);
                    }
                }
            }
        }
    }
}
