//! Harmonic field: leads to a goal from everywhere, because its potential has no local minimum.
//!
//! In: a size, a goal, what is solid. Out: the direction down the potential. Solved once, when a scene is taken over.
//!
//! **Source**: Connolly, Burns & Weiss 1990, 'Path planning using Laplace's equation'; Karpowicz 2011, 2.4.4. Theirs is 1 at
//! obstacles and 0 at the goal, and flat beyond what numbers can tell in a long corridor. Ours solves for v = 1 − u, which
//! falls towards 0 there but keeps its relative accuracy, and descends −ln v.

use glam::Vec3;

use super::generate::dims;
use super::params::HarmonicParams;

/// Largest relative change of a node in a sweep that ends the solving.
const SETTLED: f64 = 1e-9;
/// Most sweeps. A maze of 128 × 128 nodes settles within some hundreds.
const SWEEPS_MAX: usize = 20_000;
/// Fall of −ln v over a cell below which a place counts as a saddle: no minimum, but level.
const SADDLE: f32 = 0.01;
/// How much higher than its highest neighbor an obstacle stands, in −ln v: leads away from it at its very edge.
const WALL_HEIGHT: f32 = 0.5;

/// A solved potential around the origin of its own space.
#[derive(Clone, Debug, PartialEq)]
pub struct Potential {
    nodes: [usize; 2],
    size_m: [f32; 2],
    goal_m: [f32; 2],
    arrive_m: f32,
    /// −ln v, row by row along x; infinite where no way leads to the goal.
    heights: Vec<f32>,
    /// Whether a node is free and has a way to the goal.
    connected: Vec<bool>,
}

impl Potential {
    /// Solves for obstacles given by whether a place of the field's own space is solid; `None` where the numbers give no grid.
    /// A goal inside an obstacle pulls through it only to its edge.
    pub fn solve(params: &HarmonicParams, is_solid: impl Fn(Vec3) -> bool) -> Option<Self> {
        let [width, depth] = params.size_m;
        let counts = dims([width, 0.0, depth], params.cell_m)?;
        let nodes = [counts.x.max(3) as usize, counts.z.max(3) as usize];
        let [nx, nz] = nodes;
        let place =
            |n: usize, count: usize, size: f32| (n as f32 / (count - 1) as f32 - 0.5) * size;
        let goal = [
            node_of(params.goal_m[0], nx, width)?.clamp(1, nx - 2),
            node_of(params.goal_m[1], nz, depth)?.clamp(1, nz - 2),
        ];
        let goal_index = goal[1] * nx + goal[0];
        let mut free = vec![false; nx * nz];
        for z in 1..nz - 1 {
            for x in 1..nx - 1 {
                let at = Vec3::new(place(x, nx, width), 0.0, place(z, nz, depth));
                free[z * nx + x] = !is_solid(at);
            }
        }
        free[goal_index] = true;
        let connected = connected(&free, nx, goal_index);
        let values = relax(&connected, nx, goal_index);
        Some(Self {
            nodes,
            size_m: params.size_m,
            goal_m: params.goal_m,
            arrive_m: params.arrive_m,
            heights: heights(&values, &connected, nx),
            connected,
        })
    }

    /// Unit vector down the potential at a place of the field's own space, fading within `arrive_m` of the goal; zero beyond the
    /// field and where no way leads to the goal.
    pub fn at(&self, own: Vec3) -> Vec3 {
        let to_goal = Vec3::new(self.goal_m[0] - own.x, 0.0, self.goal_m[1] - own.z);
        let left = to_goal.length();
        let fade = (left / self.arrive_m.max(1e-6)).min(1.0);
        let [nx, nz] = self.nodes;
        let x = (own.x / self.size_m[0] + 0.5) * (nx - 1) as f32;
        let z = (own.z / self.size_m[1] + 0.5) * (nz - 1) as f32;
        // Across a cell, half to each side: in a narrow way both walls count alike.
        let sides = [
            self.height(x - 0.5, z),
            self.height(x + 0.5, z),
            self.height(x, z - 0.5),
            self.height(x, z + 0.5),
        ];
        let [Some(west), Some(east), Some(north), Some(south)] = sides else {
            return Vec3::ZERO;
        };
        let cell_m = [
            self.size_m[0] / (nx - 1) as f32,
            self.size_m[1] / (nz - 1) as f32,
        ];
        if left < 1.5 * cell_m[0].max(cell_m[1]) {
            // In the cells around the goal straight at it: the potential's tip lies at a node.
            return to_goal.normalize_or_zero() * fade;
        }
        if (west - east).hypot(north - south) < SADDLE || self.is_by_wall(x, z) {
            return self.to_lower_node(own, (x, z)) * fade;
        }
        let down = Vec3::new((west - east) / cell_m[0], 0.0, (north - south) / cell_m[1]);
        down.normalize_or_zero() * fade
    }

    /// Whether a node around the four of a place's cell is no way to the goal. The slope from node to node always leads on; the
    /// smooth one may lead into the corner of a narrow bend.
    fn is_by_wall(&self, x: f32, z: f32) -> bool {
        let [nx, nz] = self.nodes;
        let columns = (x - 0.5).max(0.0) as usize..=((x + 1.5).max(0.0) as usize).min(nx - 1);
        let mut rows = (z - 0.5).max(0.0) as usize..=((z + 1.5).max(0.0) as usize).min(nz - 1);
        rows.any(|row| {
            columns
                .clone()
                .any(|column| !self.connected[row * nx + column])
        })
    }

    /// Unit vector to the lowest neighbor of the nearest node, which is lower than that.
    ///
    /// Whoever goes there from within half a cell of one node comes within half a cell of the lower one, so this alone arrives.
    fn to_lower_node(&self, own: Vec3, (x, z): (f32, f32)) -> Vec3 {
        let [nx, nz] = self.nodes;
        let column = (x.round() as usize).clamp(1, nx - 2);
        let row = (z.round() as usize).clamp(1, nz - 2);
        let lowest = neighbors(row * nx + column, nx)
            .into_iter()
            .filter(|&node| self.connected[node])
            .min_by(|&a, &b| self.heights[a].total_cmp(&self.heights[b]));
        let Some(lowest) = lowest else {
            return Vec3::ZERO;
        };
        let at = |place: usize, count: usize, size: f32| {
            (place as f32 / (count - 1) as f32 - 0.5) * size
        };
        let target = Vec3::new(
            at(lowest % nx, nx, self.size_m[0]),
            0.0,
            at(lowest / nx, nz, self.size_m[1]),
        );
        (target - own).with_y(0.0).normalize_or_zero()
    }

    /// Bilinear height at a place in cells; `None` where there is none. Such a surface has no minimum but at a node, and no
    /// node is one.
    fn height(&self, x: f32, z: f32) -> Option<f32> {
        let [nx, nz] = self.nodes;
        let (last_x, last_z) = ((nx - 1) as f32, (nz - 1) as f32);
        // Half a cell beyond the outline counts as on it.
        if !(x >= -0.5 && z >= -0.5 && x <= last_x + 0.5 && z <= last_z + 0.5) {
            return None;
        }
        let (x, z) = (x.clamp(0.0, last_x), z.clamp(0.0, last_z));
        let (column, row) = ((x as usize).min(nx - 2), (z as usize).min(nz - 2));
        let (sx, sz) = (x - column as f32, z - row as f32);
        let node = |dx: usize, dz: usize| self.heights[(row + dz) * nx + column + dx];
        let height = (node(0, 0) * (1.0 - sx) + node(1, 0) * sx) * (1.0 - sz)
            + (node(0, 1) * (1.0 - sx) + node(1, 1) * sx) * sz;
        height.is_finite().then_some(height)
    }

    /// Whether the node nearest to a place of the field's own space has a way to the goal.
    pub fn leads_from(&self, own: Vec3) -> bool {
        let [nx, nz] = self.nodes;
        let x = node_of(own.x, nx, self.size_m[0]);
        let z = node_of(own.z, nz, self.size_m[1]);
        x.zip(z).is_some_and(|(x, z)| self.connected[z * nx + x])
    }
}

/// The node nearest to a coordinate; `None` beyond the field.
fn node_of(at_m: f32, nodes: usize, size_m: f32) -> Option<usize> {
    let place = (at_m / size_m + 0.5) * (nodes - 1) as f32;
    (place >= 0.0 && place <= (nodes - 1) as f32).then(|| place.round() as usize)
}

/// The free nodes from which a way of free nodes leads to the goal.
fn connected(free: &[bool], nx: usize, goal: usize) -> Vec<bool> {
    let mut reached = vec![false; free.len()];
    let mut open = vec![goal];
    reached[goal] = true;
    while let Some(node) = open.pop() {
        for next in neighbors(node, nx) {
            if free[next] && !reached[next] {
                reached[next] = true;
                open.push(next);
            }
        }
    }
    reached
}

/// The four neighbors of an inner node.
fn neighbors(node: usize, nx: usize) -> [usize; 4] {
    [node - 1, node + 1, node - nx, node + nx]
}

/// v of every node: 1 at the goal, 0 outside the connected ones, everywhere else the mean of its four neighbors.
///
/// Gauss–Seidel from below, in four orders by turns: only sums of what is not negative, so small values are as accurate, for
/// their size, as large ones.
fn relax(connected: &[bool], nx: usize, goal: usize) -> Vec<f64> {
    let mut values = vec![0.0; connected.len()];
    values[goal] = 1.0;
    let inner: Vec<usize> = (0..connected.len())
        .filter(|&node| connected[node] && node != goal)
        .collect();
    let mut by_column = inner.clone();
    by_column.sort_by_key(|&node| (node % nx, node / nx));
    for sweep in 0..SWEEPS_MAX {
        let mut change = 0.0f64;
        let mut visit = |&node: &usize| {
            let sum: f64 = neighbors(node, nx).iter().map(|&n| values[n]).sum();
            let new = sum / 4.0;
            if new > 0.0 {
                change = change.max((new - values[node]).abs() / new);
            } else {
                change = 1.0;
            }
            values[node] = new;
        };
        match sweep % 4 {
            0 => inner.iter().for_each(&mut visit),
            1 => inner.iter().rev().for_each(&mut visit),
            2 => by_column.iter().for_each(&mut visit),
            _ => by_column.iter().rev().for_each(&mut visit),
        }
        if change < SETTLED {
            break;
        }
    }
    values
}

/// −ln v, obstacles a little higher than the highest node beside or across them.
fn heights(values: &[f64], connected: &[bool], nx: usize) -> Vec<f32> {
    let mut heights: Vec<f32> = values
        .iter()
        .zip(connected)
        .map(|(v, is_connected)| {
            if *is_connected && *v > 0.0 {
                -v.ln() as f32
            } else {
                f32::INFINITY
            }
        })
        .collect();
    let rows = values.len() / nx;
    // Two rings, so that every place that a free node's cell reaches has a height.
    for _ in 0..2 {
        let before = heights.clone();
        for node in (0..heights.len()).filter(|&node| !before[node].is_finite()) {
            let (x, z) = (node % nx, node / nx);
            let mut highest = f32::NEG_INFINITY;
            for near_z in z.saturating_sub(1)..(z + 2).min(rows) {
                for near_x in x.saturating_sub(1)..(x + 2).min(nx) {
                    let near = before[near_z * nx + near_x];
                    if near.is_finite() {
                        highest = highest.max(near);
                    }
                }
            }
            if highest.is_finite() {
                heights[node] = highest + WALL_HEIGHT;
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A map of rows of one letter a cell, `#` solid, `G` the goal; cells of 1 m.
    fn solve(rows: &[&str]) -> (Potential, Vec<Vec3>) {
        let (nz, nx) = (rows.len(), rows[0].len());
        let at = |x: usize, z: usize| {
            Vec3::new(
                x as f32 - (nx - 1) as f32 / 2.0,
                0.0,
                z as f32 - (nz - 1) as f32 / 2.0,
            )
        };
        let cell = |own: Vec3| {
            let x = (own.x + (nx - 1) as f32 / 2.0).round() as usize;
            let z = (own.z + (nz - 1) as f32 / 2.0).round() as usize;
            rows[z].as_bytes()[x]
        };
        let places: Vec<Vec3> = (0..nz)
            .flat_map(|z| (0..nx).map(move |x| at(x, z)))
            .collect();
        let goal = *places.iter().find(|p| cell(**p) == b'G').unwrap();
        let params = HarmonicParams {
            size_m: [(nx - 1) as f32, (nz - 1) as f32],
            cell_m: 1.0,
            goal_m: [goal.x, goal.z],
            arrive_m: 0.1,
            clearance_m: 0.0,
        };
        let potential = Potential::solve(&params, |own| cell(own) == b'#').unwrap();
        (potential, places)
    }

    const TRAP: [&str; 11] = [
        "###################",
        "#                 #",
        "#   #########     #",
        "#           #     #",
        "#           #     #",
        "#           #   G #",
        "#           #     #",
        "#           #     #",
        "#   #########     #",
        "#                 #",
        "###################",
    ];

    const MAZE: [&str; 13] = [
        "#####################",
        "#   #     #     #   #",
        "# # # ### # ### # # #",
        "# #   #   # #   # # #",
        "# ##### ### # ### # #",
        "# #     #   #     # #",
        "# # ##### ######### #",
        "# #   #   #     #   #",
        "# ### # ### # # # ###",
        "#   # #   # # # #   #",
        "### # ### # # # ### #",
        "#     #     #G#     #",
        "#####################",
    ];

    #[test]
    fn descent_from_anywhere_arrives() {
        for map in [&TRAP[..], &MAZE[..]] {
            let (potential, places) = solve(map);
            let goal = Vec3::new(potential.goal_m[0], 0.0, potential.goal_m[1]);
            let mut starts = 0;
            for place in places.iter().filter(|place| potential.leads_from(**place)) {
                for offset in [
                    Vec3::ZERO,
                    Vec3::new(0.3, 0.0, -0.4),
                    Vec3::new(-0.45, 0.0, 0.2),
                ] {
                    let mut at = *place + offset;
                    if !potential.leads_from(at) {
                        continue;
                    }
                    starts += 1;
                    let arrived = (0..20_000).any(|_| {
                        at += potential.at(at) * 0.02;
                        at.distance(goal) < 0.3
                    });
                    assert!(arrived, "from {place} + {offset} it hangs at {at}");
                }
            }
            assert!(starts > 100, "{starts} starts");
        }
    }

    #[test]
    fn where_no_way_leads_there_is_no_force() {
        let (potential, _) = solve(&["#######", "#  #  #", "#  # G#", "#  #  #", "#######"]);
        assert!(!potential.leads_from(Vec3::new(-2.0, 0.0, 0.0)));
        assert_eq!(potential.at(Vec3::new(-1.6, 0.0, 0.1)), Vec3::ZERO);
        assert!(potential.at(Vec3::new(1.4, 0.0, 0.9)).length() > 0.9);
        assert_eq!(potential.at(Vec3::new(50.0, 0.0, 0.0)), Vec3::ZERO);
        assert_eq!(potential.at(Vec3::NAN), Vec3::ZERO);
    }

    #[test]
    fn a_long_corridor_keeps_its_direction_to_the_end() {
        // 61 cells of a corridor one cell wide: v falls by 3.7 a cell, to 1e-35, where 1 − v is 1 for any number.
        let wall = "#".repeat(64);
        let corridor = format!("#G{}#", " ".repeat(61));
        let (potential, _) = solve(&[&wall, &corridor, &wall]);
        let end = Vec3::new(29.9, 0.0, 0.0);
        assert!(
            potential.at(end).distance(Vec3::NEG_X) < 0.1,
            "{}",
            potential.at(end)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        /// The theorem itself, on any map: no connected node but the goal is a minimum.
        #[test]
        fn no_node_is_a_local_minimum(
            solid in proptest::collection::vec(proptest::bool::weighted(0.3), 18 * 14),
            goal_x in 1usize..17,
            goal_z in 1usize..13,
        ) {
            let params = HarmonicParams {
                size_m: [17.0, 13.0],
                cell_m: 1.0,
                goal_m: [goal_x as f32 - 8.5, goal_z as f32 - 6.5],
                arrive_m: 0.0,
                clearance_m: 0.0,
            };
            let cell = |own: Vec3| {
                ((own.z + 6.5).round() as usize) * 18 + (own.x + 8.5).round() as usize
            };
            let potential = Potential::solve(&params, |own| solid[cell(own)]).unwrap();
            let goal = goal_z * 18 + goal_x;
            for node in (0..potential.connected.len()).filter(|n| potential.connected[*n] && *n != goal) {
                let lowest = neighbors(node, 18)
                    .into_iter()
                    .filter(|n| potential.connected[*n])
                    .map(|n| potential.heights[n])
                    .fold(f32::INFINITY, f32::min);
                prop_assert!(lowest < potential.heights[node], "node {node}");
            }
        }
    }
}
