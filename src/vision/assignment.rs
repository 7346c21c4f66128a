//! Optimal assignment of rows to columns: Hungarian method with shortest augmenting paths.
//!
//! **Source**: Jonker and Volgenant 1987; potentials as in Kuhn 1955.

/// Cost that forbids a pair. The costs of allowed pairs must be far smaller, so that sums of costs keep their
/// precision.
pub(super) const FORBIDDEN: f32 = 1e4;

/// Solver of assignment problems. It reuses its buffers between calls.
#[derive(Default)]
pub(super) struct Assignment {
    row_potential: Vec<f32>,
    column_potential: Vec<f32>,
    row_of_column: Vec<usize>,
    came_from: Vec<usize>,
    slack: Vec<f32>,
    visited: Vec<bool>,
    column_of_row: Vec<Option<(usize, f32)>>,
}

impl Assignment {
    /// Returns, for each of `rows` rows, the column assigned to it and its cost, or `None`. The sum of costs is minimal. The pair of
    /// row `i` and column `j` costs `cost(i, j)`, which must be finite. Pairs that cost [`FORBIDDEN`] are never
    /// assigned.
    pub(super) fn solve(
        &mut self,
        rows: usize,
        columns: usize,
        cost: impl Fn(usize, usize) -> f32,
    ) -> &[Option<(usize, f32)>] {
        // Each row has a dummy column of its own that costs half of `FORBIDDEN`. If the dummy column is the cheapest
        // choice, the row stays unassigned.
        let all_columns = columns + rows;
        let full_cost = |row: usize, column: usize| {
            if column < columns {
                cost(row, column)
            } else if column - columns == row {
                FORBIDDEN / 2.0
            } else {
                FORBIDDEN
            }
        };
        // Row and column 0 are used by the algorithm itself; the rows and columns of the caller start at 1.
        reset(&mut self.row_potential, rows + 1, 0.0);
        reset(&mut self.column_potential, all_columns + 1, 0.0);
        reset(&mut self.row_of_column, all_columns + 1, 0);
        reset(&mut self.came_from, all_columns + 1, 0);
        for row in 1..=rows {
            self.row_of_column[0] = row;
            reset(&mut self.slack, all_columns + 1, f32::INFINITY);
            reset(&mut self.visited, all_columns + 1, false);
            let mut column = self.find_free_column(all_columns, &full_cost);
            while column != 0 {
                let before = self.came_from[column];
                self.row_of_column[column] = self.row_of_column[before];
                column = before;
            }
        }
        reset(&mut self.column_of_row, rows, None);
        for column in 1..=columns {
            let row = self.row_of_column[column];
            let Some(row) = row.checked_sub(1) else {
                continue;
            };
            let cost = cost(row, column - 1);
            if cost < FORBIDDEN / 2.0 {
                self.column_of_row[row] = Some((column - 1, cost));
            }
        }
        &self.column_of_row
    }

    /// Grows a tree of shortest paths from the row that is assigned to column 0, until the tree reaches a column
    /// without a row. Returns that column.
    fn find_free_column(&mut self, columns: usize, cost: &impl Fn(usize, usize) -> f32) -> usize {
        let mut column = 0;
        loop {
            self.visited[column] = true;
            let row = self.row_of_column[column];
            let (mut least, mut next) = (f32::INFINITY, 0);
            for other in 1..=columns {
                if self.visited[other] {
                    continue;
                }
                let reduced = cost(row - 1, other - 1)
                    - self.row_potential[row]
                    - self.column_potential[other];
                if reduced < self.slack[other] {
                    self.slack[other] = reduced;
                    self.came_from[other] = column;
                }
                if self.slack[other] < least {
                    least = self.slack[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if self.visited[other] {
                    self.row_potential[self.row_of_column[other]] += least;
                    self.column_potential[other] -= least;
                } else {
                    self.slack[other] -= least;
                }
            }
            column = next;
            if self.row_of_column[column] == 0 {
                return column;
            }
        }
    }
}

fn reset<T: Clone>(to: &mut Vec<T>, len: usize, value: T) {
    to.clear();
    to.resize(len, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(costs: &[Vec<f32>], given: &[Option<usize>]) -> f32 {
        given
            .iter()
            .enumerate()
            .map(|(row, column)| column.map_or(FORBIDDEN / 2.0, |c| costs[row][c]))
            .sum()
    }

    /// Returns the minimal total cost of row `row` and all later rows, by brute force.
    fn least(costs: &[Vec<f32>], row: usize, taken: u32) -> f32 {
        let Some(of_row) = costs.get(row) else {
            return 0.0;
        };
        let alone = FORBIDDEN / 2.0 + least(costs, row + 1, taken);
        (0..of_row.len())
            .filter(|c| taken >> c & 1 == 0 && of_row[*c] < FORBIDDEN / 2.0)
            .map(|c| of_row[c] + least(costs, row + 1, taken | 1 << c))
            .fold(alone, f32::min)
    }

    proptest! {
        #[test]
        fn matches_brute_force(
            (rows, columns) in (0usize..5, 0usize..5),
            costs in proptest::collection::vec(proptest::collection::vec(prop_oneof![0.0f32..10.0, Just(FORBIDDEN)], 5), 5),
        ) {
            let costs: Vec<Vec<f32>> = costs[..rows].iter().map(|r| r[..columns].to_vec()).collect();
            let mut solver = Assignment::default();
            let given = solver.solve(rows, columns, |r, c| costs[r][c]);
            let is_cost = |(row, given): (usize, &Option<(usize, f32)>)| given.is_none_or(|(c, cost)| cost == costs[row][c]);
            prop_assert!(given.iter().enumerate().all(is_cost));
            let given: Vec<_> = given.iter().map(|given| given.map(|(column, _)| column)).collect();
            let mut used: Vec<_> = given.iter().flatten().collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), given.iter().flatten().count());
            let (got, best) = (total(&costs, &given), least(&costs, 0, 0));
            prop_assert!((got - best).abs() < 0.02, "{} {}", got, best);
        }
    }
}
