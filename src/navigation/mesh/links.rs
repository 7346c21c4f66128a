//! Directed links between terraces: leaps up, drops down; who can take them; and what can be reached at all.
//!
//! In: start and landing lines. Out: links of a polygon, reachability between areas. **Source**: 004 section 7.2, 7.3.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::surface::NavMesh;

/// What falls less than this is no drop.
const DROP_M: f32 = 0.02;

/// What a swimmer can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abilities {
    /// Highest rise of a leap; 0: none.
    pub leap_height_m: f32,
    /// Fastest it can be at the take-off.
    pub leap_speed_mps: f32,
    /// How long after a leap until the next.
    pub leap_cooldown_secs: f32,
    /// Radius of the largest of its kind: the room that it needs in the air.
    pub radius_m: f32,
}

/// A way through the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The polygon that it starts from.
    pub from: u32,
    /// The polygon that it lands in.
    pub to: u32,
    /// Line from which it starts.
    pub start: (Vec2, Vec2),
    /// Line on which it lands, point for point.
    pub landing: (Vec2, Vec2),
    /// Unit vector of the flight in the plane; a swimmer turns in to it beforehand.
    pub heading: Vec2,
    /// Cosine of the largest angle between the swimmer's heading and the flight's.
    pub heading_cos: f32,
    /// How much higher the landing lies; negative for a drop.
    pub rise_m: f32,
    /// Speed at the take-off, up and ahead together.
    pub take_off_mps: f32,
    /// Time in the air.
    pub flight_secs: f32,
    /// Radius of the largest body for which there is room, and over whose height it goes.
    pub radius_m: f32,
}

impl Link {
    /// Whether it takes a leap: it does not fall.
    pub fn is_leap(&self) -> bool {
        self.rise_m > -DROP_M
    }

    /// Whether a swimmer can take it, when its leap is ready. Everybody for whom there is room drops.
    pub fn is_possible(&self, abilities: &Abilities) -> bool {
        let can_leap =
            self.rise_m <= abilities.leap_height_m && self.take_off_mps <= abilities.leap_speed_mps;
        abilities.radius_m <= self.radius_m && (!self.is_leap() || can_leap)
    }

    /// Where a flight from a point of the start line lands.
    pub fn landing_of(&self, start: Vec2) -> Vec2 {
        let along = self.start.1 - self.start.0;
        let t = (start - self.start.0).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
        self.landing.0.lerp(self.landing.1, t.clamp(0.0, 1.0))
    }
}

/// All links of a mesh, by the polygon that they start from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    links: Vec<Link>,
    /// Where each polygon's links begin; one more than there are polygons, or none without links.
    starts: Vec<u32>,
    areas: u32,
    /// Area from and area to of every link.
    between: Vec<(u32, u32)>,
    /// What can be reached for each kind of swimmer that was asked for beforehand.
    reaches: Vec<(Abilities, Reach)>,
}

impl Links {
    /// Sorts links in. `swimmers` are those whose reach is worked out beforehand.
    pub fn new(mesh: &NavMesh, mut links: Vec<Link>, swimmers: &[Abilities]) -> Self {
        links.retain(|link| (link.from as usize) < mesh.len() && (link.to as usize) < mesh.len());
        links.sort_by_key(|link| link.from);
        let mut starts = Vec::new();
        if !links.is_empty() {
            starts = (0..=mesh.len() as u32)
                .map(|place| links.partition_point(|link| link.from < place) as u32)
                .collect();
        }
        let between = links
            .iter()
            .map(|link| (mesh.area(link.from), mesh.area(link.to)))
            .collect();
        let mut all = Self {
            links,
            starts,
            areas: mesh.area_count(),
            between,
            reaches: Vec::new(),
        };
        for abilities in swimmers {
            let reach = Reach::new(&all, abilities);
            all.reaches.push((*abilities, reach));
        }
        all
    }

    /// A link.
    pub fn get(&self, number: u32) -> Option<&Link> {
        self.links.get(number as usize)
    }

    /// All links.
    pub fn iter(&self) -> impl Iterator<Item = &Link> {
        self.links.iter()
    }

    /// The links that start in a polygon, with their numbers.
    pub fn from_polygon(&self, place: u32) -> impl Iterator<Item = (u32, &Link)> {
        let at = |place: usize| self.starts.get(place).copied().unwrap_or(0);
        let range = at(place as usize)..at(place as usize + 1);
        range.filter_map(|number| Some((number, self.links.get(number as usize)?)))
    }

    /// Whether a swimmer can come from an area to another at all, however long it takes. Constant time for swimmers that
    /// were named beforehand.
    pub fn can_reach(&self, from: u32, to: u32, abilities: &Abilities) -> bool {
        if from == to {
            return true;
        }
        match self.reaches.iter().find(|(known, _)| known == abilities) {
            Some((_, reach)) => reach.has(from, to),
            None => Reach::new(self, abilities).has(from, to),
        }
    }

    /// What a meter of ground costs at least where it is flown over, at most 1.
    pub(super) fn least_cost_of_a_meter(&self, speed_mps: f32) -> f32 {
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

/// Which areas can be reached from which: strongly connected components of areas, and the order between them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Reach {
    /// Component of each area.
    component: Vec<u32>,
    /// One row of bits for each component: the components that can be reached from it.
    rows: Vec<u64>,
    words: usize,
}

impl Reach {
    fn new(links: &Links, abilities: &Abilities) -> Self {
        let count = links.areas as usize;
        let mut next = vec![Vec::new(); count];
        for (link, &(from, to)) in links.links.iter().zip(&links.between) {
            if from != to && link.is_possible(abilities) {
                next[from as usize].push(to);
            }
        }
        for list in &mut next {
            list.sort_unstable();
            list.dedup();
        }
        let (component, components) = strong_components(&next);
        let words = components.div_ceil(64);
        let mut rows = vec![0u64; components * words];
        // Components are numbered so that links lead to lower numbers: what these reach is known by then.
        let mut members = vec![Vec::new(); components];
        for (area, &own) in component.iter().enumerate() {
            members[own as usize].push(area);
        }
        for own in 0..components {
            rows[own * words + own / 64] |= 1 << (own % 64);
            for &area in &members[own] {
                for &to in &next[area] {
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
        let of = |area: u32| self.component.get(area as usize).map(|&c| c as usize);
        let (Some(from), Some(to)) = (of(from), of(to)) else {
            return false;
        };
        self.rows[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }
}

/// Tarjan's strongly connected components, without recursion: component of each node, and how many. Edges between
/// components lead from higher to lower numbers.
fn strong_components(next: &[Vec<u32>]) -> (Vec<u32>, usize) {
    const NEW: u32 = u32::MAX;
    let count = next.len();
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
            while let Some(&to) = next[at].get(edge) {
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
        fn components_are_those_that_reach_each_other(
            edges in prop::collection::vec((0u32..12, 0u32..12), 0..40),
        ) {
            let mut next = vec![Vec::new(); 12];
            let mut reach = [[false; 12]; 12];
            for (n, row) in reach.iter_mut().enumerate() {
                row[n] = true;
            }
            for &(a, b) in &edges {
                next[a as usize].push(b);
                reach[a as usize][b as usize] = true;
            }
            for k in 0..12 {
                for a in 0..12 {
                    for b in 0..12 {
                        reach[a][b] |= reach[a][k] && reach[k][b];
                    }
                }
            }
            let (component, _) = strong_components(&next);
            for a in 0..12 {
                for b in 0..12 {
                    let both = reach[a][b] && reach[b][a];
                    prop_assert_eq!(component[a] == component[b], both);
                    if reach[a][b] && !both {
                        prop_assert!(component[a] > component[b]);
                    }
                }
            }
        }
    }
}
