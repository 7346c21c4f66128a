//! Steps between cells: their cost, which steps are allowed, and which steps a search must try.
//!
//! In: rules of connectivity and corners. Out: tables indexed by neighborhood. Must not: know a search.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::map::Cell;

/// Cost of a straight step. [`DIAGONAL`] / `STRAIGHT` is √2 with an error of 1.1e-8; sums of integers are exact.
pub(super) const STRAIGHT: u32 = 5741;
/// Cost of a diagonal step, in the same unit as [`STRAIGHT`].
pub(super) const DIAGONAL: u32 = 8119;

/// Which cells count as neighbors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Connectivity {
    /// The four cells that share a side with the cell. The search needs fewer expansions, but its paths are longer
    /// before they are straightened.
    Four,
    /// All eight cells around the cell: those that share a side or only a corner.
    #[default]
    Eight,
}

/// When a diagonal step past a blocked cell is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CornerRule {
    /// Never allowed: both cells beside the step must be free.
    #[default]
    Keep,
    /// Allowed if at least one of the two cells beside the step is free.
    CutOne,
    /// Always allowed.
    Cut,
}

/// Offsets of the eight directions: four straight, four diagonal.
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

/// Table of allowed steps: for each 3 × 3 neighborhood, one bit per allowed step.
pub(super) type Moves = [u8; 512];

static FOUR: Moves = moves(false, 0);
static KEEP: Moves = moves(true, 2);
static CUT_ONE: Moves = moves(true, 1);
static CUT: Moves = moves(true, 0);

const fn moves(is_eight: bool, least_free_sides: i32) -> Moves {
    let mut table = [0; 512];
    let mut neighborhood = 0;
    while neighborhood < 512 {
        let mut direction = 0;
        while direction < 8 {
            let (dx, dy) = STEPS[direction];
            let target = (neighborhood >> ((dy + 1) * 3 + dx + 1)) & 1;
            let beside =
                ((neighborhood >> ((dy + 1) * 3 + 1)) & 1) + ((neighborhood >> (3 + dx + 1)) & 1);
            let is_straight = direction < 4;
            if target == 1 && (is_straight || (is_eight && beside as i32 >= least_free_sides)) {
                table[neighborhood] |= 1 << direction;
            }
            direction += 1;
        }
        neighborhood += 1;
    }
    table
}

/// Table of the steps that a search must try, for each direction from which a cell was reached and each neighborhood.
/// All other steps lead to cells that the predecessor also reaches without this cell: at a lower cost, or at an equal
/// cost on a path that begins with a diagonal step. **Source**: Sturtevant & Rabin 2016.
pub(super) type PrunedMoves = [[u8; 512]; 8];

static PRUNED: LazyLock<[PrunedMoves; 4]> = LazyLock::new(|| {
    [
        pruned(false, 0),
        pruned(true, 2),
        pruned(true, 1),
        pruned(true, 0),
    ]
});

fn pruned(is_eight: bool, least_free_sides: i32) -> PrunedMoves {
    let moves = moves(is_eight, least_free_sides);
    let mut table = [[0; 512]; 8];
    for (from, neighborhoods) in table.iter_mut().enumerate() {
        for (neighborhood, bits) in neighborhoods.iter_mut().enumerate() {
            let is_useful = |direction: &usize| {
                let is_allowed = moves[neighborhood] >> direction & 1 == 1;
                is_allowed
                    && !is_redundant(neighborhood, from, *direction, is_eight, least_free_sides)
            };
            *bits = (0..8).filter(is_useful).fold(0, |bits, d| bits | 1 << d);
        }
    }
    table
}

/// Whether the predecessor can reach the target of a step inside the neighborhood without the center cell, at a cost
/// that is not higher.
fn is_redundant(
    neighborhood: usize,
    from: usize,
    to: usize,
    is_eight: bool,
    least_free_sides: i32,
) -> bool {
    let cost = |direction: usize| if direction < 4 { STRAIGHT } else { DIAGONAL };
    let before = (-STEPS[from].0, -STEPS[from].1);
    let free = |(x, y): (i32, i32)| {
        x.abs() <= 1 && y.abs() <= 1 && neighborhood >> ((y + 1) * 3 + x + 1) & 1 == 1
    };
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

/// Returns the table of allowed steps for each neighborhood. The bits are in the order of [`STEPS`].
pub(super) fn allowed_moves(connectivity: Connectivity, corners: CornerRule) -> &'static Moves {
    [&FOUR, &KEEP, &CUT_ONE, &CUT][rule_index(connectivity, corners)]
}

/// Returns the table of the steps that a search must try from a cell, by the direction of the step that reached the
/// cell.
pub(super) fn pruned_moves(
    connectivity: Connectivity,
    corners: CornerRule,
) -> &'static PrunedMoves {
    &PRUNED[rule_index(connectivity, corners)]
}

fn rule_index(connectivity: Connectivity, corners: CornerRule) -> usize {
    match (connectivity, corners) {
        (Connectivity::Four, _) => 0,
        (Connectivity::Eight, CornerRule::Keep) => 1,
        (Connectivity::Eight, CornerRule::CutOne) => 2,
        (Connectivity::Eight, CornerRule::Cut) => 3,
    }
}

/// Returns the neighboring cell in the given direction.
#[inline]
pub(super) fn step(cell: Cell, dx: i32, dy: i32) -> Cell {
    cell.wrapping_add_signed(dx + (dy << 16))
}

/// Returns the estimated cost between two cells, which is never more than the true cost: octile distance for eight
/// neighbors, Euclidean distance for four. Manhattan distance would make all paths bend to the same side.
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
