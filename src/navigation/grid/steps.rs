//! Steps between a cell and its eight neighbors: their cost, which steps are allowed, and which steps a search must try.
//! A diagonal step is allowed only if both cells beside it are free.
//!
//! Out: tables indexed by neighborhood. Must not: know a search.

use std::sync::LazyLock;

use super::map::Cell;

/// Cost of a straight step. [`DIAGONAL`] / `STRAIGHT` is √2 with an error of 1.1e-8; sums of integers are exact.
pub(super) const STRAIGHT: u32 = 5741;
/// Cost of a diagonal step, in the same unit as [`STRAIGHT`].
pub(super) const DIAGONAL: u32 = 8119;

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

/// Allowed steps: for each 3 × 3 neighborhood, one bit per allowed step, in the order of [`STEPS`].
pub(super) static ALLOWED: [u8; 512] = allowed();

const fn allowed() -> [u8; 512] {
    let mut table = [0; 512];
    let mut neighborhood = 0;
    while neighborhood < 512 {
        let mut direction = 0;
        while direction < 8 {
            let (dx, dy) = STEPS[direction];
            let target = (neighborhood >> ((dy + 1) * 3 + dx + 1)) & 1;
            let beside =
                ((neighborhood >> ((dy + 1) * 3 + 1)) & 1) & ((neighborhood >> (3 + dx + 1)) & 1);
            if target == 1 && (direction < 4 || beside == 1) {
                table[neighborhood] |= 1 << direction;
            }
            direction += 1;
        }
        neighborhood += 1;
    }
    table
}

/// Steps that a search must try, by the direction of the step that reached the cell and by the neighborhood. All other
/// steps lead to cells that the predecessor also reaches without this cell: at a lower cost, or at an equal cost on a path
/// that begins with a diagonal step. **Source**: Sturtevant & Rabin 2016.
pub(super) static PRUNED: LazyLock<[[u8; 512]; 8]> = LazyLock::new(|| {
    let mut table = [[0; 512]; 8];
    for (from, neighborhoods) in table.iter_mut().enumerate() {
        for (neighborhood, bits) in neighborhoods.iter_mut().enumerate() {
            let is_useful = |direction: &usize| {
                ALLOWED[neighborhood] >> direction & 1 == 1
                    && !is_redundant(neighborhood, from, *direction)
            };
            *bits = (0..8).filter(is_useful).fold(0, |bits, d| bits | 1 << d);
        }
    }
    table
});

/// Whether the predecessor can reach the target of a step inside the neighborhood without the center cell, at a cost
/// that is not higher.
fn is_redundant(neighborhood: usize, from: usize, to: usize) -> bool {
    let before = (-STEPS[from].0, -STEPS[from].1);
    let free = |(x, y): (i32, i32)| {
        x.abs() <= 1 && y.abs() <= 1 && neighborhood >> ((y + 1) * 3 + x + 1) & 1 == 1
    };
    let stepped = |at: (i32, i32), direction: usize| {
        let (dx, dy) = STEPS[direction];
        let next = (at.0 + dx, at.1 + dy);
        let is_allowed = direction < 4 || (free((at.0, next.1)) && free((next.0, at.1)));
        (free(next) && next != (0, 0) && is_allowed).then_some(next)
    };
    if STEPS[to] == before {
        return true;
    }
    let own = step_cost(from) + step_cost(to);
    (0..8).any(|first| {
        let Some(next) = stepped(before, first) else {
            return false;
        };
        next == STEPS[to]
            || (0..8).any(|second| {
                let sum = step_cost(first) + step_cost(second);
                let is_better = sum < own || (sum == own && first >= 4 && from < 4);
                is_better && stepped(next, second) == Some(STEPS[to])
            })
    })
}

/// Cost of a step in a direction.
#[inline]
pub(super) fn step_cost(direction: usize) -> u32 {
    if direction < 4 { STRAIGHT } else { DIAGONAL }
}

/// Returns the neighboring cell in the given direction.
#[inline]
pub(super) fn step(cell: Cell, dx: i32, dy: i32) -> Cell {
    cell.wrapping_add_signed(dx + (dy << 16))
}

/// Returns the estimated cost between two cells, which is never more than the true cost: the octile distance.
#[inline]
pub(super) fn estimate(a: Cell, b: Cell) -> u32 {
    let dx = (a & 0xffff).abs_diff(b & 0xffff);
    let dy = (a >> 16).abs_diff(b >> 16);
    dx.max(dy) * STRAIGHT + dx.min(dy) * (DIAGONAL - STRAIGHT)
}
