//! Harmonic fields: they lead to a goal from everywhere, because their potential has no local minimum.
//!
//! In: a size, a goal, a test for solid points. Out: the direction of steepest descent. Solved once, when a scene is
//! compiled.
//!
//! **Source**: Connolly, Burns & Weiss 1990; Karpowicz 2011, §2.4.4. In these sources, the potential u is 1 at
//! obstacles and 0 at the goal. In a long corridor, u is so close to 1 that rounding makes it constant. This module
//! therefore solves for v = 1 − u, which is close to 0 in such a corridor and keeps its relative accuracy. The field
//! follows the descent of −ln v.

use glam::Vec3;

use super::grid::dims;
use super::params::HarmonicParams;

/// The solver stops when no node changes by more than this relative amount in a sweep.
const CONVERGED_CHANGE: f64 = 1e-9;
/// Maximum number of solver sweeps. A maze of 128 × 128 nodes converges within some hundreds of sweeps.
const SWEEPS_MAX: usize = 20_000;
/// If the slope of −ln v per cell is below this value, the point counts as a saddle point. The direction then leads to
/// the lowest neighboring node.
const SADDLE_SLOPE: f32 = 0.01;
/// Amount by which −ln v of an obstacle node is above that of its highest neighbor. It makes the field lead away from
/// obstacles at their edge.
const WALL_HEIGHT: f32 = 0.5;

/// A solved potential in the local space of its field, centered on the origin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HarmonicPotential {
    nodes: [usize; 2],
    size_m: [f32; 2],
    goal_m: [f32; 2],
    arrive_m: f32,
    /// −ln v of each node, ordered by x first. The function `heights` defines the values of nodes that are not
    /// connected to the goal.
    heights: Vec<f32>,
    /// Whether a node is free and connected to the goal.
    connected: Vec<bool>,
}

impl HarmonicPotential {
    /// Solves the potential. `is_solid` tests a local position for obstacles. Returns `None` if the parameters describe
    /// no grid. If the goal is inside an obstacle, the field leads only to the edge of that obstacle.
    pub(super) fn solve(params: &HarmonicParams, is_solid: impl Fn(Vec3) -> bool) -> Option<Self> {
        let [width, depth] = params.size_m;
        let counts = dims([width, depth], params.cell_m)?;
        let nodes = [counts.x.max(3) as usize, counts.y.max(3) as usize];
        let [nx, nz] = nodes;
        let coordinate =
            |n: usize, count: usize, size: f32| (n as f32 / (count - 1) as f32 - 0.5) * size;
        let goal = [
            node_of(params.goal_m[0], nx, width)?.clamp(1, nx - 2),
            node_of(params.goal_m[1], nz, depth)?.clamp(1, nz - 2),
        ];
        let goal_index = goal[1] * nx + goal[0];
        let mut free = vec![false; nx * nz];
        for z in 1..nz - 1 {
            for x in 1..nx - 1 {
                let at = Vec3::new(coordinate(x, nx, width), 0.0, coordinate(z, nz, depth));
                free[z * nx + x] = !is_solid(at);
            }
        }
        free[goal_index] = true;
        let connected = connected(&free, nx, goal_index);
        let values = solve_laplace(&connected, nx, goal_index);
        Some(Self {
            nodes,
            size_m: params.size_m,
            goal_m: params.goal_m,
            arrive_m: params.arrive_m,
            heights: heights(&values, &connected, nx),
            connected,
        })
    }

    /// Returns the direction of descent at a local position. Its length is 1, but within `arrive_m` of the goal the
    /// length decreases to 0. The vector is zero outside the field and where no path leads to the goal.
    pub(super) fn direction_at(&self, local: Vec3) -> Vec3 {
        let to_goal = Vec3::new(self.goal_m[0] - local.x, 0.0, self.goal_m[1] - local.z);
        let remaining_m = to_goal.length();
        let fade = (remaining_m / self.arrive_m.max(1e-6)).min(1.0);
        let [nx, nz] = self.nodes;
        let x = (local.x / self.size_m[0] + 0.5) * (nx - 1) as f32;
        let z = (local.z / self.size_m[1] + 0.5) * (nz - 1) as f32;
        // Central difference over one cell, so that both walls of a narrow passage have equal influence.
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
        if remaining_m < 1.5 * cell_m[0].max(cell_m[1]) {
            // In the cells around the goal, the direction leads straight to the goal, because the potential has its
            // minimum at a node and not exactly at the goal.
            return to_goal.normalize_or_zero() * fade;
        }
        if (west - east).hypot(north - south) < SADDLE_SLOPE || self.is_by_wall(x, z) {
            return self.to_lower_node(local, (x, z)) * fade;
        }
        let down = Vec3::new((west - east) / cell_m[0], 0.0, (north - south) / cell_m[1]);
        down.normalize_or_zero() * fade
    }

    /// Whether a node next to this position is not connected to the goal. At such a position, the interpolated slope
    /// can lead into the corner of a narrow bend. The slope from node to node always leads to the goal.
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

    /// Returns the unit vector to the lowest neighbor of the nearest node. This neighbor is always lower than the
    /// nearest node.
    ///
    /// From a position within half a cell of one node, this direction leads to a position within half a cell of the
    /// lower node. Repeated steps therefore reach the goal.
    fn to_lower_node(&self, local: Vec3, (x, z): (f32, f32)) -> Vec3 {
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
        let at = |coordinate: usize, count: usize, size: f32| {
            (coordinate as f32 / (count - 1) as f32 - 0.5) * size
        };
        let target = Vec3::new(
            at(lowest % nx, nx, self.size_m[0]),
            0.0,
            at(lowest / nx, nz, self.size_m[1]),
        );
        (target - local).with_y(0.0).normalize_or_zero()
    }

    /// Returns the bilinear interpolation of the heights at a position, which is given in cells. Returns `None` where a
    /// height is infinite or the position is outside the field. The goal is the only minimum: a bilinear surface can
    /// have a minimum only at a node, and no other node is a minimum.
    fn height(&self, x: f32, z: f32) -> Option<f32> {
        let [nx, nz] = self.nodes;
        let (last_x, last_z) = ((nx - 1) as f32, (nz - 1) as f32);
        // A position up to half a cell outside the outline counts as a position on the outline.
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

    /// Whether the node nearest to a local position is connected to the goal.
    #[cfg(test)]
    fn has_path_from(&self, local: Vec3) -> bool {
        let [nx, nz] = self.nodes;
        let x = node_of(local.x, nx, self.size_m[0]);
        let z = node_of(local.z, nz, self.size_m[1]);
        x.zip(z).is_some_and(|(x, z)| self.connected[z * nx + x])
    }
}

/// Returns the index of the node nearest to a coordinate along one axis, or `None` outside the field.
fn node_of(at_m: f32, nodes: usize, size_m: f32) -> Option<usize> {
    let coordinate = (at_m / size_m + 0.5) * (nodes - 1) as f32;
    (coordinate >= 0.0 && coordinate <= (nodes - 1) as f32).then(|| coordinate.round() as usize)
}

/// Returns for each node whether it is free and connected to the goal through free nodes.
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

/// Returns the four neighbors of an inner node.
fn neighbors(node: usize, nx: usize) -> [usize; 4] {
    [node - 1, node + 1, node - nx, node + nx]
}

/// Returns v of every node: 1 at the goal, 0 at nodes that are not connected, elsewhere the mean of the four neighbors.
///
/// Uses Gauss–Seidel iteration that starts at 0, with four alternating sweep orders. The iteration only adds numbers
/// that are not negative, so small values have the same relative accuracy as large ones.
fn solve_laplace(connected: &[bool], nx: usize, goal: usize) -> Vec<f64> {
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
        if change < CONVERGED_CHANGE {
            break;
        }
    }
    values
}

/// Returns −ln v of every node. Nodes that are not connected, but at most two nodes away from a connected node, are
/// [`WALL_HEIGHT`] higher than their highest neighbor. All other nodes are infinite.
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
    // Fills two rings of nodes, so that interpolation is defined around every connected node.
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
    use shoal_testing::assert_near;

    /// Solves the field of a map and returns it with the positions of all cells. The map has one character per cell of
    /// 1 m: `#` is solid, `G` is the goal.
    fn solve(rows: &[&str]) -> (HarmonicPotential, Vec<Vec3>) {
        let (nz, nx) = (rows.len(), rows[0].len());
        let at = |x: usize, z: usize| {
            Vec3::new(
                x as f32 - (nx - 1) as f32 / 2.0,
                0.0,
                z as f32 - (nz - 1) as f32 / 2.0,
            )
        };
        let cell = |local: Vec3| {
            let x = (local.x + (nx - 1) as f32 / 2.0).round() as usize;
            let z = (local.z + (nz - 1) as f32 / 2.0).round() as usize;
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
        let potential = HarmonicPotential::solve(&params, |local| cell(local) == b'#').unwrap();
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
    fn descent_reaches_the_goal_from_everywhere() {
        for map in [&TRAP[..], &MAZE[..]] {
            let (potential, places) = solve(map);
            let goal = Vec3::new(potential.goal_m[0], 0.0, potential.goal_m[1]);
            let mut starts = 0;
            for coordinate in places
                .iter()
                .filter(|coordinate| potential.has_path_from(**coordinate))
            {
                for offset in [
                    Vec3::ZERO,
                    Vec3::new(0.3, 0.0, -0.4),
                    Vec3::new(-0.45, 0.0, 0.2),
                ] {
                    let mut at = *coordinate + offset;
                    if !potential.has_path_from(at) {
                        continue;
                    }
                    starts += 1;
                    let arrived = (0..20_000).any(|_| {
                        at += potential.direction_at(at) * 0.02;
                        at.distance(goal) < 0.3
                    });
                    assert!(
                        arrived,
                        "from {coordinate} + {offset} the descent is stuck at {at}"
                    );
                }
            }
            assert!(starts > 100, "{starts} starts");
        }
    }

    #[test]
    fn the_force_is_zero_where_no_path_leads_to_the_goal() {
        let (potential, _) = solve(&["#######", "#  #  #", "#  # G#", "#  #  #", "#######"]);
        assert!(!potential.has_path_from(Vec3::new(-2.0, 0.0, 0.0)));
        assert_eq!(
            potential.direction_at(Vec3::new(-1.6, 0.0, 0.1)),
            Vec3::ZERO
        );
        assert!(potential.direction_at(Vec3::new(1.4, 0.0, 0.9)).length() > 0.9);
        assert_eq!(
            potential.direction_at(Vec3::new(50.0, 0.0, 0.0)),
            Vec3::ZERO
        );
        assert_eq!(potential.direction_at(Vec3::NAN), Vec3::ZERO);
    }

    #[test]
    fn a_long_corridor_keeps_its_direction_to_the_end() {
        // A corridor of 61 cells, one cell wide: v falls by a factor of 3.7 per cell to 1e-35, where 1 − v rounds to 1.
        let wall = "#".repeat(64);
        let corridor = format!("#G{}#", " ".repeat(61));
        let (potential, _) = solve(&[&wall, &corridor, &wall]);
        let end = Vec3::new(29.9, 0.0, 0.0);
        assert_near(potential.direction_at(end), Vec3::NEG_X, 0.1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        /// On any map, no connected node except the goal is a local minimum.
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
            let cell = |local: Vec3| {
                ((local.z + 6.5).round() as usize) * 18 + (local.x + 8.5).round() as usize
            };
            let potential = HarmonicPotential::solve(&params, |local| solid[cell(local)]).unwrap();
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
