//! Steps from cell to cell: what they cost, which are allowed, and which are worth trying.
//!
//! In: the rules of connectivity and corners. Out: tables by neighborhood. Must not: know a search.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::map::Cell;

/// Cost of a straight and of a diagonal step. 8119 / 5741 is √2 to 1.1e-8, and whole numbers make sums exact.
pub(super) const STRAIGHT: u32 = 5741;
/// Cost of a diagonal step, see [`STRAIGHT`].
pub(super) const DIAGONAL: u32 = 8119;

/// Which cells are neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Connectivity {
    /// The four over the sides. Few cells to look at, but longer ways before they are straightened.
    Four,
    /// Those over the corners too.
    #[default]
    Eight,
}

/// When a diagonal step past a blocked cell is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Corners {
    /// Never: both cells beside the step must be free.
    #[default]
    Keep,
    /// When one of the two is free.
    CutOne,
    /// Always.
    Cut,
}

/// Steps by direction: four straight, four diagonal.
pub(super) const STEPS: [(i32, i32); 8] = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (-1, 1),
    (1, -1),
    (-1, -1),
];

/// For each 3 × 3 neighborhood one bit per allowed step.
pub(super) type Moves = [u8; 512];

static FOUR: Moves = moves(false, 0);
static KEEP: Moves = moves(true, 2);
static CUT_ONE: Moves = moves(true, 1);
static CUT: Moves = moves(true, 0);

const fn moves(is_eight: bool, least_free_sides: i32) -> Moves {
    let mut table = [0; 512];
    let mut ring = 0;
    while ring < 512 {
        let mut direction = 0;
        while direction < 8 {
            let (dx, dy) = STEPS[direction];
            let target = (ring >> ((dy + 1) * 3 + dx + 1)) & 1;
            let beside = ((ring >> ((dy + 1) * 3 + 1)) & 1) + ((ring >> (3 + dx + 1)) & 1);
            let is_straight = direction < 4;
            if target == 1 && (is_straight || (is_eight && beside as i32 >= least_free_sides)) {
                table[ring] |= 1 << direction;
            }
            direction += 1;
        }
        ring += 1;
    }
    table
}

/// For each direction that a cell was reached by, and each neighborhood, the steps worth trying: the others lead to cells
/// that can be reached from the cell before at less cost without this one, or at the same by a diagonal step first.
/// **Source**: Sturtevant and Rabin, Canonical orderings on grids, IJCAI 2016.
pub(super) type Onward = [[u8; 512]; 8];

static ONWARD: LazyLock<[Onward; 4]> = LazyLock::new(|| {
    [
        onward(false, 0),
        onward(true, 2),
        onward(true, 1),
        onward(true, 0),
    ]
});

fn onward(is_eight: bool, least_free_sides: i32) -> Onward {
    let moves = moves(is_eight, least_free_sides);
    let mut table = [[0; 512]; 8];
    for (from, rings) in table.iter_mut().enumerate() {
        for (ring, bits) in rings.iter_mut().enumerate() {
            let is_useful = |direction: &usize| {
                let is_allowed = moves[ring] >> direction & 1 == 1;
                is_allowed && !is_detour(ring, from, *direction, is_eight, least_free_sides)
            };
            *bits = (0..8).filter(is_useful).fold(0, |bits, d| bits | 1 << d);
        }
    }
    table
}

/// Whether a step after another leads where one comes from the cell before as well, within the neighborhood and without
/// its middle.
fn is_detour(ring: usize, from: usize, to: usize, is_eight: bool, least_free_sides: i32) -> bool {
    let cost = |direction: usize| if direction < 4 { STRAIGHT } else { DIAGONAL };
    let before = (-STEPS[from].0, -STEPS[from].1);
    let free =
        |(x, y): (i32, i32)| x.abs() <= 1 && y.abs() <= 1 && ring >> ((y + 1) * 3 + x + 1) & 1 == 1;
    let stepped = |at: (i32, i32), direction: usize| {
        let (dx, dy) = STEPS[direction];
        let next = (at.0 + dx, at.1 + dy);
        let sides = i32::from(free((at.0, next.1))) + i32::from(free((next.0, at.1)));
        let is_allowed = direction < 4 || (is_eight && sides >= least_free_sides);
        (free(next) && next != (0, 0) && is_allowed).then_some(next)
    };
    if STEPS[to] == before {
        return true;
    }
    let own = cost(from) + cost(to);
    (0..8).any(|first| {
        let Some(next) = stepped(before, first) else {
            return false;
        };
        next == STEPS[to]
            || (0..8).any(|second| {
                let sum = cost(first) + cost(second);
                let is_better = sum < own || (sum == own && first >= 4 && from < 4);
                is_better && stepped(next, second) == Some(STEPS[to])
            })
    })
}

/// Steps allowed from a cell, as bits in the order of [`STEPS`].
pub(super) fn allowed(connectivity: Connectivity, corners: Corners) -> &'static Moves {
    [&FOUR, &KEEP, &CUT_ONE, &CUT][place(connectivity, corners)]
}

/// Steps worth trying from a cell that was come to by a step.
pub(super) fn worth_trying(connectivity: Connectivity, corners: Corners) -> &'static Onward {
    &ONWARD[place(connectivity, corners)]
}

fn place(connectivity: Connectivity, corners: Corners) -> usize {
    match (connectivity, corners) {
        (Connectivity::Four, _) => 0,
        (Connectivity::Eight, Corners::Keep) => 1,
        (Connectivity::Eight, Corners::CutOne) => 2,
        (Connectivity::Eight, Corners::Cut) => 3,
    }
}

/// The cell one step on.
#[inline]
pub(super) fn step(cell: Cell, dx: i32, dy: i32) -> Cell {
    cell.wrapping_add_signed(dx + (dy << 16))
}

/// Estimated cost from one cell to another, never more than the true one: octile for eight neighbors, Euclidean for four
/// (Manhattan's distance would dodge to one fixed side).
pub(super) fn estimate(connectivity: Connectivity, a: Cell, b: Cell) -> u32 {
    let dx = (a & 0xffff).abs_diff(b & 0xffff);
    let dy = (a >> 16).abs_diff(b >> 16);
    match connectivity {
        Connectivity::Eight => dx.max(dy) * STRAIGHT + dx.min(dy) * (DIAGONAL - STRAIGHT),
        Connectivity::Four => {
            let square = u64::from(dx) * u64::from(dx) + u64::from(dy) * u64::from(dy);
            ((square as f64).sqrt() * f64::from(STRAIGHT)) as u32
        }
    }
}
